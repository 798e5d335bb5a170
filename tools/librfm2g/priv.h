/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Declarations that the files of librfm2g share.
 *
 * Locks: rfm2g_handle.lock of each handle, and rfm2g_threads_lock in use.c. A
 * thread holds only one of them at a time.
 */
#ifndef RFM2G_PRIV_H
#define RFM2G_PRIV_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "rfm2g_api.h"
#include "rfm2g_version.h"

/* The library takes the first bytes of a word as its low bytes. */
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "librfm2g needs a little-endian machine"
#endif

/*
 * Hide these names from programs, so that the library can access them without
 * the indirection that exported names need.
 */
#pragma GCC visibility push(hidden)

/*
 * Text that RFM2gDllVersion() returns. Programs parse the first characters: the
 * letter R and two numbers.
 */
#define RFM2G_LIBRARY_VERSION RFM2G_PRODUCT_VERSION " krdma"
_Static_assert(sizeof(RFM2G_LIBRARY_VERSION) <= 16, "room that programs have");

#define RFM2G_PAGE 4096

/* Maximum number of open handles of a process. */
#define RFM2G_HANDLES 1024

/*
 * Maximum number of nested calls of a thread: its own, and those of its signal
 * handlers.
 */
#define RFM2G_NEST 8

struct rfm2g_callback;

/**
 * enum rfm2g_state - state of a handle
 * @RFM2G_STATE_FREE: unused
 * @RFM2G_STATE_BUSY: being opened or closed
 * @RFM2G_STATE_OPEN: open
 */
enum rfm2g_state {
	RFM2G_STATE_FREE,
	RFM2G_STATE_BUSY,
	RFM2G_STATE_OPEN,
};

/**
 * struct rfm2g_handle - an open device
 * @pub: part that the program sees. It must be the first member, because its
 *	address is the handle of the program
 * @state: enum rfm2g_state
 * @fd: file descriptor of the device
 * @mem: mapping of the whole memory for reading; NULL if it could not be mapped
 * @size: size of the memory in bytes
 * @config: configuration of the device when it was opened
 * @lock: protects @callbacks, and is held during the two calls of a special
 *	mapping, see map.c
 * @unsettled: true if the driver may take the next mapping for a special one
 * @callbacks: callback of each event type, or NULL
 * @waits: number of threads of this process that wait for each event
 * @watches: number of threads in RFM2gxWatch()
 *
 * All handles are in one table, which is never freed. So the library can check
 * any pointer from a program without a fault. A thread that accesses a closed
 * handle finds a valid lock, because zeroed memory is an unlocked lock.
 *
 * While the record of a thread (see use.c) contains an open handle, only @pub,
 * @callbacks, @waits and @watches of that handle may change.
 */
struct rfm2g_handle {
	_Alignas(1024) struct rfm2ghandle_s pub;
	_Alignas(64) _Atomic int state;
	int fd;
	const volatile uint8_t *mem;
	uint32_t size;
	RFM2GCONFIG config;
	_Alignas(64) pthread_mutex_t lock; /* for @callbacks, see @lock above */
	bool unsettled;
	struct rfm2g_callback *callbacks[RFM2GEVENT_LAST];
	_Atomic unsigned int waits[RFM2GEVENT_LAST];
	_Atomic unsigned int watches;
};

/**
 * struct rfm2g_thread - record of the handles that a thread uses
 * @next: next record in the list of all threads that have called the library
 * @depth: number of entries of @uses that are taken
 * @uses: handles that the thread uses now, one for each nested call
 */
struct rfm2g_thread {
	struct rfm2g_thread *next;
	_Atomic unsigned int depth;
	struct rfm2g_handle *_Atomic uses[RFM2G_NEST];
};

/**
 * struct rfm2g_meaning - entry of a table that converts errnos to statuses
 * @error: errno of a command; 0 stands for all other errnos, and ends the table
 * @status: status to return for this errno
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
 * rfm2g_handle_of - convert a pointer from a program to a handle
 * @rh: any pointer
 *
 * Return: the handle, which may be closed; NULL if the pointer is not a handle.
 */
static inline struct rfm2g_handle *rfm2g_handle_of(RFM2GHANDLE rh)
{
	uintptr_t at = (uintptr_t)rh - (uintptr_t)rfm2g_handles;

	if (at >= sizeof(rfm2g_handles) || at % sizeof(*rfm2g_handles))
		return NULL;
	return (struct rfm2g_handle *)rh;
}

/**
 * rfm2g_leave - end the use that the last rfm2g_enter() began
 *
 * This function and rfm2g_enter() are inline, because a peek does little else.
 */
static inline void rfm2g_leave(void)
{
	struct rfm2g_thread *self = rfm2g_self;
	unsigned int last;

	last = atomic_load_explicit(&self->depth, memory_order_relaxed) - 1;
	/* Release order completes the earlier loads from the memory first. */
	atomic_store_explicit(&self->uses[last], NULL, memory_order_release);
	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(&self->depth, last, memory_order_relaxed);
}

/**
 * rfm2g_enter - begin to use a handle
 * @rh: pointer from the program
 * @h: result: the handle
 *
 * An open handle stays valid until rfm2g_leave(), because RFM2gClose() waits
 * until then. This function first records the handle and then checks the state
 * of the handle. RFM2gClose() first changes the state, then makes all threads
 * execute a barrier (see rfm2g_uses_see()), and then reads the records. So this
 * function sees the changed state, or RFM2gClose() sees the record. This
 * function usually needs no barrier, which would slow down every peek.
 *
 * Return: RFM2G_SUCCESS, after which the caller must call rfm2g_leave(); or an
 * error.
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
	/*
	 * Take the entry before filling it. A signal handler that calls the
	 * library in between then takes the next entry.
	 */
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
