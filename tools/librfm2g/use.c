// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Record which thread uses which handle, so that RFM2gClose() does not release
 * a handle while another thread is inside of a call.
 *
 * Each thread that has called the library has a record of the handles that it
 * uses now. Only the thread itself writes its record. RFM2gClose() reads the
 * records of all threads. A counter in the handle would be simpler, but threads
 * that peek through the same handle would contend for its cache line.
 */
#include <linux/membarrier.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "priv.h"

/*
 * Records of all threads that have called the library. A record is freed when
 * its thread exits.
 */
static pthread_mutex_t rfm2g_threads_lock = PTHREAD_MUTEX_INITIALIZER;
static struct rfm2g_thread *rfm2g_threads;

static pthread_once_t rfm2g_once = PTHREAD_ONCE_INIT;
static pthread_key_t rfm2g_key;
static bool rfm2g_ready;

_Thread_local struct rfm2g_thread *rfm2g_self;

/*
 * True if membarrier() is not available. Each use of a handle then executes a
 * barrier of its own.
 */
bool rfm2g_fence;

static bool rfm2g_membarrier(int command)
{
	return !syscall(SYS_membarrier, command, 0, 0);
}

static void rfm2g_thread_remove(void *record)
{
	struct rfm2g_thread **at = &rfm2g_threads;

	rfm2g_self = NULL;
	pthread_mutex_lock(&rfm2g_threads_lock);
	while (*at != record)
		at = &(*at)->next;
	*at = (*at)->next;
	pthread_mutex_unlock(&rfm2g_threads_lock);
	free(record);
}

static void rfm2g_fork_prepare(void)
{
	pthread_mutex_lock(&rfm2g_threads_lock);
}

static void rfm2g_fork_parent(void)
{
	pthread_mutex_unlock(&rfm2g_threads_lock);
}

/*
 * Called in the child after fork(). The child has all handles, but only the
 * thread that called fork(). Drop the records and callbacks of other threads.
 */
static void rfm2g_fork_child(void)
{
	struct rfm2g_thread *thread;
	unsigned int i;

	while (rfm2g_threads) {
		thread = rfm2g_threads;
		rfm2g_threads = thread->next;
		if (thread != rfm2g_self)
			free(thread);
	}
	rfm2g_threads = rfm2g_self;
	if (rfm2g_self)
		rfm2g_self->next = NULL;
	pthread_mutex_unlock(&rfm2g_threads_lock);
	for (i = 0; i < RFM2G_HANDLES; i++)
		if (rfm2g_handles[i].state == RFM2G_STATE_OPEN)
			rfm2g_callbacks_forget(&rfm2g_handles[i]);
	if (!rfm2g_fence)
		rfm2g_fence = !rfm2g_membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
}

static void rfm2g_uses_init_once(void)
{
	rfm2g_fence = !rfm2g_membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
	rfm2g_ready = !pthread_key_create(&rfm2g_key, rfm2g_thread_remove) &&
		      !pthread_atfork(rfm2g_fork_prepare, rfm2g_fork_parent,
				      rfm2g_fork_child);
}

/**
 * rfm2g_uses_init - initialize the records, before the first handle is opened
 *
 * Return: true, or false if the system lacks memory or another resource.
 */
bool rfm2g_uses_init(void)
{
	pthread_once(&rfm2g_once, rfm2g_uses_init_once);
	return rfm2g_ready;
}

/**
 * rfm2g_thread_add - create the record of the calling thread
 *
 * Return: the record, or NULL if it cannot be created.
 */
struct rfm2g_thread *rfm2g_thread_add(void)
{
	struct rfm2g_thread *self;

	if (!rfm2g_uses_init())
		return NULL;
	self = calloc(1, sizeof(*self));
	if (!self)
		return NULL;
	if (pthread_setspecific(rfm2g_key, self)) {
		free(self);
		return NULL;
	}
	pthread_mutex_lock(&rfm2g_threads_lock);
	self->next = rfm2g_threads;
	rfm2g_threads = self;
	pthread_mutex_unlock(&rfm2g_threads_lock);
	rfm2g_self = self;
	return self;
}

/**
 * rfm2g_uses_see - make all uses of a handle visible to the caller
 *
 * The caller has changed the state of the handle. This function makes every
 * thread execute a barrier. A thread records the handle before it checks the
 * state. So if a thread checked the state before its barrier, rfm2g_is_used()
 * finds the record.
 */
void rfm2g_uses_see(void)
{
	const struct timespec moment = { .tv_nsec = 10000000 };

	if (!rfm2g_fence &&
	    !rfm2g_membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED)) {
		/*
		 * The program has since installed a filter of system calls,
		 * which refuses membarrier(). From now on, each use executes a
		 * barrier. A thread that is beginning a use without a barrier
		 * makes its record visible long before this sleep ends.
		 */
		rfm2g_fence = true;
		nanosleep(&moment, NULL);
	}
	atomic_thread_fence(memory_order_seq_cst);
}

static bool rfm2g_thread_uses(struct rfm2g_thread *thread,
			      const struct rfm2g_handle *h)
{
	unsigned int i;

	for (i = 0; i < RFM2G_NEST; i++)
		if (atomic_load_explicit(&thread->uses[i],
					 memory_order_acquire) == h)
			return true;
	return false;
}

/**
 * rfm2g_is_used - check whether another thread uses a handle
 * @h: handle that is no longer open, so that no use can begin
 *
 * Return: true if a thread other than the caller uses the handle.
 */
bool rfm2g_is_used(const struct rfm2g_handle *h)
{
	struct rfm2g_thread *thread;
	bool used = false;

	pthread_mutex_lock(&rfm2g_threads_lock);
	for (thread = rfm2g_threads; thread && !used; thread = thread->next)
		used = thread != rfm2g_self && rfm2g_thread_uses(thread, h);
	pthread_mutex_unlock(&rfm2g_threads_lock);
	return used;
}
