// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Who uses which handle: what lets RFM2gClose() take a handle apart although
 * other threads may be in the middle of a call.
 *
 * Each thread that ever called has a record that names the handles it uses now;
 * only the thread itself writes it, and RFM2gClose() reads all of them. A
 * counter in the handle would be simpler, but several threads that peek through
 * one handle would wait for each other.
 */
#include <linux/membarrier.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "priv.h"

/* Those that have called; a record goes with its thread. */
static pthread_mutex_t rfm2g_threads_lock = PTHREAD_MUTEX_INITIALIZER;
static struct rfm2g_thread *rfm2g_threads;

static pthread_once_t rfm2g_once = PTHREAD_ONCE_INIT;
static pthread_key_t rfm2g_key;
static bool rfm2g_ready;

_Thread_local struct rfm2g_thread *rfm2g_self;

/* The kernel cannot do it for us: each use has a barrier of its own. */
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

/* The child has the handles, but of the threads only the one that forked. */
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
 * rfm2g_uses_init - before the first handle is opened
 *
 * Return: false: no memory.
 */
bool rfm2g_uses_init(void)
{
	pthread_once(&rfm2g_once, rfm2g_uses_init_once);
	return rfm2g_ready;
}

/**
 * rfm2g_thread_add - the calling thread's first call
 *
 * Return: its record, NULL: no memory.
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
 * rfm2g_uses_see - after a handle was marked: who found it open is seen
 *
 * Each thread has a barrier now, wherever it is. If its look at the mark came
 * before, then so did the name in its record, and rfm2g_is_used() finds it.
 */
void rfm2g_uses_see(void)
{
	const struct timespec moment = { .tv_nsec = 10000000 };

	if (!rfm2g_fence &&
	    !rfm2g_membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED)) {
		/*
		 * A filter of system calls that the program has set since. From
		 * now on each use has a barrier; a thread that begins one without
		 * it has stored the name for all to see long before this is over.
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
 * rfm2g_is_used - does another thread use this handle?
 * @h: a handle that nobody can begin to use
 *
 * Return: true if one does.
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
