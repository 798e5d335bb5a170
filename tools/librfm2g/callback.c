// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Callbacks: a thread for each, which waits for its event and calls.
 *
 * A callback is in its handle's table from RFM2gEnableEventCallback() until its
 * thread takes it out, the last thing that it does with the handle. Who ends it
 * waits for that. No thread waits while it uses the handle in the sense of
 * use.c, so a callback may close it.
 */
#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

#include "priv.h"

/* Longest pause while another thread or process waits for a callback's event. */
#define RFM2G_CALLBACK_PAUSE_MS 16

/**
 * struct rfm2g_callback - a callback
 * @h: its handle
 * @type: its event
 * @function: the program's
 * @thread: runs it
 * @stop: it shall end
 * @waits: its thread is in a wait, or about to begin one
 * @refs: its thread, who enables it, who disables it
 * @decided: @verdict is there
 * @verdict: what RFM2gEnableEventCallback() returns
 */
struct rfm2g_callback {
	struct rfm2g_handle *h;
	RFM2GEVENTTYPE type;
	RFM2G_EVENT_FUNCPTR function;
	pthread_t thread;
	atomic_bool stop;
	atomic_bool waits;
	atomic_int refs;
	sem_t decided;
	RFM2G_STATUS verdict;
};

static void rfm2g_callback_put(struct rfm2g_callback *cb)
{
	if (atomic_fetch_sub(&cb->refs, 1) > 1)
		return;
	sem_destroy(&cb->decided);
	free(cb);
}

/* 0, an errno, or EIDRM if it is to end. */
static int rfm2g_callback_wait(struct rfm2g_callback *cb, RFM2GEVENTINFO *info,
			       RFM2G_UINT32 timeout)
{
	struct rfm2g_handle *h;
	int ret = EIDRM;

	*info = (RFM2GEVENTINFO){ .Event = cb->type, .Timeout = timeout };
	if (rfm2g_enter(&cb->h->pub, &h))
		return EIDRM;
	/* Who sets stop looks at waits then, and cancels. */
	atomic_store(&cb->waits, true);
	if (!atomic_load(&cb->stop))
		ret = rfm2g_wait(h, info);
	atomic_store(&cb->waits, false);
	rfm2g_leave();
	/* What has been taken is handed over; who stops it waits for that. */
	return ret && atomic_load(&cb->stop) ? EIDRM : ret;
}

static RFM2G_STATUS rfm2g_callback_verdict(int error)
{
	switch (error) {
	case 0:
	case ETIMEDOUT:
		return RFM2G_SUCCESS;
	case ENOSYS:
		return RFM2G_NOT_ENABLED;
	case EALREADY:
		return RFM2G_EVENT_IN_USE;
	default:
		return RFM2G_OS_ERROR;
	}
}

static void rfm2g_pause_ms(int ms)
{
	const struct timespec pause = { .tv_nsec = ms * 1000000L };

	nanosleep(&pause, NULL);
}

/*
 * All signals are blocked here: what interrupts is a debugger, or SIGSTOP. While
 * the program's function ran another thread or process may have begun to wait for
 * the event (EALREADY): it takes one event, or its time is up, and then it is this
 * one's turn again.
 */
static void rfm2g_callback_loop(struct rfm2g_callback *cb)
{
	RFM2GEVENTINFO info;
	int error, ms = 1;

	do {
		error = rfm2g_callback_wait(cb, &info, RFM2G_INFINITE_TIMEOUT);
		if (error == EALREADY) {
			rfm2g_pause_ms(ms);
			ms = ms < RFM2G_CALLBACK_PAUSE_MS ? 2 * ms : ms;
			continue;
		}
		ms = 1;
		if (!error)
			cb->function(&cb->h->pub, &info);
	} while (!error || error == EINTR || error == EALREADY);
}

/* For ps, top and chrt. */
static void rfm2g_callback_name(const struct rfm2g_callback *cb)
{
	char name[16];

	snprintf(name, sizeof(name), "rfm2g%u:%u", cb->h->config.Unit % 1000,
		 cb->type);
	prctl(PR_SET_NAME, name);
}

/* Also when the program's function calls pthread_exit(). */
static void rfm2g_callback_over(void *arg)
{
	struct rfm2g_callback *cb = arg;
	struct rfm2g_handle *h = cb->h;

	pthread_mutex_lock(&h->lock);
	if (h->callbacks[cb->type] == cb)
		h->callbacks[cb->type] = NULL;
	pthread_mutex_unlock(&h->lock);
	/* Whoever is told that it was refused finds it gone. */
	sem_post(&cb->decided);
	rfm2g_callback_put(cb);
}

static void *rfm2g_callback_thread(void *arg)
{
	struct rfm2g_callback *cb = arg;
	RFM2GEVENTINFO info;
	int error;

	pthread_cleanup_push(rfm2g_callback_over, cb);
	rfm2g_callback_name(cb);
	error = rfm2g_callback_wait(cb, &info, RFM2G_NO_WAIT);
	/* What is there already comes before its being enabled is told. */
	if (!error)
		cb->function(&cb->h->pub, &info);
	cb->verdict = rfm2g_callback_verdict(error);
	if (!cb->verdict) {
		sem_post(&cb->decided);
		rfm2g_callback_loop(cb);
	}
	pthread_cleanup_pop(1);
	return NULL;
}

/* Signals are for the program's own threads. */
static int rfm2g_callback_start(struct rfm2g_callback *cb)
{
	pthread_attr_t attr;
	sigset_t all, before;
	int ret = pthread_attr_init(&attr);

	if (ret)
		return ret;
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	ret = pthread_create(&cb->thread, &attr, rfm2g_callback_thread, cb);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return ret;
}

static struct rfm2g_callback *rfm2g_callback_alloc(struct rfm2g_handle *h,
						   RFM2GEVENTTYPE type,
						   RFM2G_EVENT_FUNCPTR function)
{
	struct rfm2g_callback *cb = calloc(1, sizeof(*cb));

	if (!cb)
		return NULL;
	cb->h = h;
	cb->type = type;
	cb->function = function;
	cb->refs = 2;
	sem_init(&cb->decided, 0, 0);
	return cb;
}

/* With a callback that runs, the caller has a reference. */
static RFM2G_STATUS rfm2g_callback_add_locked(struct rfm2g_handle *h,
					      RFM2GEVENTTYPE type,
					      RFM2G_EVENT_FUNCPTR function,
					      struct rfm2g_callback **cb)
{
	if (h->callbacks[type])
		return RFM2G_EVENT_IN_USE;
	*cb = rfm2g_callback_alloc(h, type, function);
	if (!*cb)
		return RFM2G_LOW_MEMORY;
	h->callbacks[type] = *cb;
	if (!rfm2g_callback_start(*cb))
		return RFM2G_SUCCESS;
	h->callbacks[type] = NULL;
	(*cb)->refs = 1;
	rfm2g_callback_put(*cb);
	return RFM2G_OS_ERROR;
}

static RFM2G_STATUS rfm2g_callback_add(RFM2GHANDLE rh, RFM2GEVENTTYPE type,
				       RFM2G_EVENT_FUNCPTR function,
				       struct rfm2g_callback **cb)
{
	struct rfm2g_handle *h;
	RFM2G_STATUS ret = rfm2g_enter(rh, &h);

	if (ret)
		return ret;
	if ((unsigned int)type >= RFM2GEVENT_LAST) {
		ret = RFM2G_BAD_PARAMETER_2;
	} else if (!function) {
		ret = RFM2G_BAD_PARAMETER_3;
	} else {
		pthread_mutex_lock(&h->lock);
		ret = rfm2g_callback_add_locked(h, type, function, cb);
		pthread_mutex_unlock(&h->lock);
	}
	rfm2g_leave();
	return ret;
}

STDRFM2GCALL RFM2gEnableEventCallback(RFM2GHANDLE rh, RFM2GEVENTTYPE EventType,
				      RFM2G_EVENT_FUNCPTR pEventFunc)
{
	struct rfm2g_callback *cb;
	RFM2G_STATUS ret;
	int cancel;

	ret = rfm2g_callback_add(rh, EventType, pEventFunc, &cb);
	if (ret)
		return ret;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	while (sem_wait(&cb->decided))
		;
	pthread_setcancelstate(cancel, NULL);
	ret = cb->verdict;
	rfm2g_callback_put(cb);
	return ret;
}

/* End the wait of a callback, if its thread is in one. */
static void rfm2g_callback_cancel(struct rfm2g_callback *cb)
{
	struct rfm2g_handle *h;

	if (rfm2g_enter(&cb->h->pub, &h))
		return;
	if (atomic_load(&cb->waits))
		rfm2g_wait_cancel(h, cb->type);
	rfm2g_leave();
}

static bool rfm2g_callback_is_gone(struct rfm2g_handle *h,
				   const struct rfm2g_callback *cb)
{
	bool gone;

	pthread_mutex_lock(&h->lock);
	gone = h->callbacks[cb->type] != cb;
	pthread_mutex_unlock(&h->lock);
	return gone;
}

/*
 * Cancelled until it is gone: a single cancellation between two of its waits
 * would be lost. A callback that ends itself does so when it has returned. Not by
 * a condition variable: those of glibc before 2.30 and of musl have no monotonic
 * clock without pthread_condattr_setclock(), which zeroed memory cannot have.
 */
static void rfm2g_callback_stop(struct rfm2g_callback *cb)
{
	int cancel;

	atomic_store(&cb->stop, true);
	if (pthread_equal(cb->thread, pthread_self()))
		return;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	rfm2g_callback_cancel(cb);
	while (!rfm2g_callback_is_gone(cb->h, cb)) {
		rfm2g_pause_ms(1);
		rfm2g_callback_cancel(cb);
	}
	pthread_setcancelstate(cancel, NULL);
}

/* The callback for an event, with a reference. */
static struct rfm2g_callback *rfm2g_callback_get(struct rfm2g_handle *h,
						 RFM2GEVENTTYPE type)
{
	struct rfm2g_callback *cb;

	pthread_mutex_lock(&h->lock);
	cb = h->callbacks[type];
	if (cb)
		atomic_fetch_add(&cb->refs, 1);
	pthread_mutex_unlock(&h->lock);
	return cb;
}

STDRFM2GCALL RFM2gDisableEventCallback(RFM2GHANDLE rh, RFM2GEVENTTYPE EventType)
{
	struct rfm2g_callback *cb = NULL;
	struct rfm2g_handle *h;
	RFM2G_STATUS ret = rfm2g_enter(rh, &h);

	if (ret)
		return ret;
	if ((unsigned int)EventType >= RFM2GEVENT_LAST)
		ret = RFM2G_BAD_PARAMETER_2;
	else
		cb = rfm2g_callback_get(h, EventType);
	rfm2g_leave();
	if (ret)
		return ret;
	if (!cb)
		return RFM2G_NOT_ENABLED;
	rfm2g_callback_stop(cb);
	rfm2g_callback_put(cb);
	return RFM2G_SUCCESS;
}

/* From now on the handle does not know it: a callback that closes its handle. */
static void rfm2g_callback_detach(struct rfm2g_handle *h,
				  const struct rfm2g_callback *cb)
{
	pthread_mutex_lock(&h->lock);
	if (h->callbacks[cb->type] == cb)
		h->callbacks[cb->type] = NULL;
	pthread_mutex_unlock(&h->lock);
}

/**
 * rfm2g_callbacks_stop - end the callbacks of a handle that is being closed
 * @h: handle that nobody uses any more
 *
 * The one that closes it, if it is one, goes on until it returns.
 */
void rfm2g_callbacks_stop(struct rfm2g_handle *h)
{
	struct rfm2g_callback *cb;
	unsigned int type;

	for (type = 0; type < RFM2GEVENT_LAST; type++) {
		cb = rfm2g_callback_get(h, type);
		if (!cb)
			continue;
		rfm2g_callback_stop(cb);
		rfm2g_callback_detach(h, cb);
		rfm2g_callback_put(cb);
	}
}

/**
 * rfm2g_callbacks_forget - a child has the handle, but not its callbacks' threads
 * @h: open handle
 *
 * Except that of the callback that forked, which ends when it returns.
 */
void rfm2g_callbacks_forget(struct rfm2g_handle *h)
{
	struct rfm2g_callback *cb;
	unsigned int type;

	pthread_mutex_init(&h->lock, NULL);
	atomic_store(&h->watches, 0);
	for (type = 0; type < RFM2GEVENT_LAST; type++) {
		atomic_store(&h->waits[type], 0);
		cb = h->callbacks[type];
		h->callbacks[type] = NULL;
		if (cb && pthread_equal(cb->thread, pthread_self()))
			atomic_store(&cb->stop, true);
		else if (cb)
			rfm2g_callback_put(cb);
	}
}
