// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Uses of handles, which let RFM2gClose() release a handle safely while other
 * threads may be inside of a call.
 *
 * Each thread that has called the library has a record of the handles that it
 * uses now. Only the thread writes its record, and RFM2gClose() reads all
 * records. A counter in the handle would be simpler, but threads that peek
 * through the same handle would then contend for its cache line.
 */
#include <linux/membarrier.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "priv.h"

/* Threads that have called; a record is freed when its thread exits. */
static pthread_mutex_t rfm2g_threads_lock = PTHREAD_MUTEX_INITIALIZER;
static struct rfm2g_thread *rfm2g_threads;

static pthread_once_t rfm2g_once = PTHREAD_ONCE_INIT;
static pthread_key_t rfm2g_key;
static bool rfm2g_ready;

_Thread_local struct rfm2g_thread *rfm2g_self;

/* membarrier() is not available: each use has a barrier of its own. */
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

/* The child has all handles, and only the thread that called fork(). */
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
 * Return: true, or false: no memory.
 */
bool rfm2g_uses_init(void)
{
	pthread_once(&rfm2g_once, rfm2g_uses_init_once);
	return rfm2g_ready;
}

/**
 * rfm2g_thread_add - create the record of the calling thread
 *
 * Return: the record, NULL: no memory.
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
 * rfm2g_uses_see - make all uses of a handle visible
 *
 * Called after the state of the handle was changed. Every thread executes a
 * barrier now. If a thread has checked the state before it, then it has also
 * filled its record before it, and rfm2g_is_used() finds the use.
 */
void rfm2g_uses_see(void)
{
	const struct timespec moment = { .tv_nsec = 10000000 };

	if (!rfm2g_fence &&
	    !rfm2g_membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED)) {
		/*
		 * The program has installed a filter of system calls since.
		 * From now on each use has a barrier. A thread that is
		 * beginning a use without one has made its record visible long
		 * before this sleep ends.
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
 * @h: handle that is not open, so that no use can begin
 *
 * Return: true if so.
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
