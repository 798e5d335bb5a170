/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the files of librfm2g share.
 *
 * Locks, none taken inside another: rfm2g_handle.lock of each handle;
 * rfm2g_threads_lock in use.c.
 */
#ifndef RFM2G_PRIV_H
#define RFM2G_PRIV_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "rfm2g_api.h"
#include "rfm2g_version.h"

/* Not for programs: to reach it takes no table. */
#pragma GCC visibility push(hidden)

/* Text of RFM2gDllVersion(); programs read R and two numbers at its beginning. */
#define RFM2G_LIBRARY_VERSION RFM2G_PRODUCT_VERSION " krdma"
_Static_assert(sizeof(RFM2G_LIBRARY_VERSION) <= 16, "room that programs have");

#define RFM2G_PAGE 4096

/* At once, of a process. */
#define RFM2G_HANDLES 1024

/* Calls of a thread at once: one, and those of signal handlers on top of it. */
#define RFM2G_NEST 8

struct rfm2g_callback;

/**
 * enum rfm2g_state - what a handle is
 * @RFM2G_STATE_FREE: nobody's
 * @RFM2G_STATE_BUSY: about to become open, or free
 * @RFM2G_STATE_OPEN: a program's
 */
enum rfm2g_state {
	RFM2G_STATE_FREE,
	RFM2G_STATE_BUSY,
	RFM2G_STATE_OPEN,
};

/**
 * struct rfm2g_handle - an open device
 * @pub: what the program sees; first, its address is the handle
 * @state: enum rfm2g_state
 * @fd: of the device
 * @mem: all of the memory, for reading; NULL: could not be mapped
 * @size: bytes of it
 * @config: as the device was when it was opened
 * @lock: protects @callbacks, and that what was asked for is what gets mapped
 * @unsettled: the driver may still wait for a special mapping
 * @callbacks: by event, NULL: none
 * @waits: by event, how many threads of this process are in a wait for it
 * @watches: how many are in RFM2gxWatch()
 *
 * All there can be lie in one table, for ever: whatever a program hands in can
 * be looked at without a fault, and locks, whose zeroes are as good as new ones,
 * are there for threads that come late. While a thread's use (use.c) names a handle that
 * it found open, all but @pub, @callbacks, @waits and @watches stays as it is.
 */
struct rfm2g_handle {
	_Alignas(1024) struct rfm2ghandle_s pub;
	_Alignas(64) _Atomic int state;
	int fd;
	const volatile uint8_t *mem;
	uint32_t size;
	RFM2GCONFIG config;
	_Alignas(64) pthread_mutex_t lock; /* callbacks, special mappings */
	bool unsettled;
	struct rfm2g_callback *callbacks[RFM2GEVENT_LAST];
	_Atomic unsigned int waits[RFM2GEVENT_LAST];
	_Atomic unsigned int watches;
};

/**
 * struct rfm2g_thread - which handles a thread is using
 * @next: in the list of all threads that ever called
 * @depth: how many of @uses there are
 * @uses: the handles
 */
struct rfm2g_thread {
	struct rfm2g_thread *next;
	_Atomic unsigned int depth;
	struct rfm2g_handle *_Atomic uses[RFM2G_NEST];
};

/**
 * struct rfm2g_meaning - what an errno of a command is to the program
 * @error: errno; 0: all others, the last of a table
 * @status: what the function returns
 */
struct rfm2g_meaning {
	int error;
	RFM2G_STATUS status;
};

/* call.c */
extern const struct rfm2g_meaning rfm2g_os_error[];
extern const struct rfm2g_meaning rfm2g_driver_error[];
RFM2G_STATUS rfm2g_status(const struct rfm2g_meaning *meanings);
RFM2G_STATUS rfm2g_command(const struct rfm2g_handle *h, unsigned long cmd,
			   unsigned long arg,
			   const struct rfm2g_meaning *meanings);
RFM2G_STATUS rfm2g_call(RFM2GHANDLE rh, unsigned long cmd, unsigned long arg,
			const struct rfm2g_meaning *meanings);
RFM2G_STATUS rfm2g_call_get(RFM2GHANDLE rh, unsigned long cmd, void *to);

/* callback.c */
void rfm2g_callbacks_stop(struct rfm2g_handle *h);
void rfm2g_callbacks_forget(struct rfm2g_handle *h);

/* event.c */
int rfm2g_wait(struct rfm2g_handle *h, RFM2GEVENTINFO *info);
void rfm2g_wait_cancel(struct rfm2g_handle *h, RFM2GEVENTTYPE type);
void rfm2g_waits_cancel(struct rfm2g_handle *h);

/* handle.c */
extern struct rfm2g_handle rfm2g_handles[RFM2G_HANDLES];

/* use.c */
extern _Thread_local struct rfm2g_thread *rfm2g_self;
extern bool rfm2g_fence;
bool rfm2g_uses_init(void);
struct rfm2g_thread *rfm2g_thread_add(void);
bool rfm2g_is_used(const struct rfm2g_handle *h);
void rfm2g_uses_see(void);

/* vrfm.c */
void rfm2g_watches_cancel(struct rfm2g_handle *h);

/**
 * rfm2g_handle_of - is this a handle at all?
 * @rh: whatever a program handed in
 *
 * Return: that handle, which may be open or not; NULL: it cannot be one.
 */
static inline struct rfm2g_handle *rfm2g_handle_of(RFM2GHANDLE rh)
{
	uintptr_t at = (uintptr_t)rh - (uintptr_t)rfm2g_handles;

	if (at >= sizeof(rfm2g_handles) || at % sizeof(*rfm2g_handles))
		return NULL;
	return (struct rfm2g_handle *)rh;
}

/**
 * rfm2g_leave - the thread no longer uses the handle of its last rfm2g_enter()
 *
 * Inline, as rfm2g_enter(): a peek is little more than these.
 */
static inline void rfm2g_leave(void)
{
	struct rfm2g_thread *self = rfm2g_self;
	unsigned int last;

	last = atomic_load_explicit(&self->depth, memory_order_relaxed) - 1;
	/* What was read from the memory was read before. */
	atomic_store_explicit(&self->uses[last], NULL, memory_order_release);
	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(&self->depth, last, memory_order_relaxed);
}

/**
 * rfm2g_enter - use a handle
 * @rh: whatever a program handed in
 * @h: gets the handle
 *
 * RFM2gClose() waits for rfm2g_leave(), so between them nothing of an open
 * handle goes away. The handle is named first and looked at then; RFM2gClose()
 * does it the other way round, with a barrier for all threads between, see
 * rfm2g_uses_see(). So at least one of both sees the other, and this side, which
 * is in every peek, need not pay for a barrier.
 *
 * Return: RFM2G_SUCCESS, and rfm2g_leave() must follow; or why not.
 */
static inline RFM2G_STATUS rfm2g_enter(RFM2GHANDLE rh, struct rfm2g_handle **h)
{
	struct rfm2g_thread *self = rfm2g_self;
	unsigned int depth;

	if (!rh)
		return RFM2G_NULL_DESCRIPTOR;
	*h = rfm2g_handle_of(rh);
	if (!*h)
		return RFM2G_BAD_PARAMETER_1;
	if (__builtin_expect(!self, 0)) {
		self = rfm2g_thread_add();
		if (!self)
			return RFM2G_LOW_MEMORY;
	}
	depth = atomic_load_explicit(&self->depth, memory_order_relaxed);
	if (depth == RFM2G_NEST)
		return RFM2G_OS_ERROR;
	/* Taken before it is filled: a signal handler takes the next one. */
	atomic_store_explicit(&self->depth, depth + 1, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(&self->uses[depth], *h, memory_order_relaxed);
	if (__builtin_expect(rfm2g_fence, 0))
		atomic_thread_fence(memory_order_seq_cst);
	else
		atomic_signal_fence(memory_order_seq_cst);
	if (atomic_load_explicit(&(*h)->state, memory_order_acquire) ==
	    RFM2G_STATE_OPEN)
		return RFM2G_SUCCESS;
	rfm2g_leave();
	return RFM2G_BAD_PARAMETER_1;
}

#pragma GCC visibility pop

#endif /* RFM2G_PRIV_H */
