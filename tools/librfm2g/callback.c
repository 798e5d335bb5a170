// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Callbacks. Each callback has a thread, which waits for the event and calls
 * the program's function.
 *
 * RFM2gEnableEventCallback() enters a callback into the table of its handle.
 * The thread of the callback removes the entry, as its last access to the
 * handle. A caller that stops a callback waits for this removal. During this
 * wait, the caller has no record that it uses the handle (see use.c). With such
 * a record, a callback that closes its own handle would wait for the caller,
 * which waits for the callback.
 */
#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

#include "priv.h"

/*
 * Maximum pause of a callback's thread, in ms, before it tries again to wait
 * for an event for which another thread or process is waiting.
 */
#define RFM2G_CALLBACK_PAUSE_MS 16

/**
 * struct rfm2g_callback - a callback
 * @h: handle
 * @type: event
 * @function: function of the program
 * @thread: thread that runs it
 * @stop: true if a caller is stopping the callback
 * @waits: true if @thread is in a wait, or about to begin one
 * @refs: number of references, held by @thread, and by callers that enable,
 *	disable or close
 * @decided: semaphore that is posted when @verdict is valid
 * @verdict: result of RFM2gEnableEventCallback()
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

/*
 * Wait for the event of a callback. Return 0 if it was received, EIDRM if the
 * callback is being stopped, or another errno.
 */
static int rfm2g_callback_wait(struct rfm2g_callback *cb, RFM2GEVENTINFO *info,
			       RFM2G_UINT32 timeout)
{
	struct rfm2g_handle *h;
	int ret = EIDRM;

	*info = (RFM2GEVENTINFO){ .Event = cb->type, .Timeout = timeout };
	if (rfm2g_enter(&cb->h->pub, &h))
		return EIDRM;
	/*
	 * Set waits before reading stop. A caller that stops the callback sets
	 * stop before reading waits. So this thread sees stop, or the caller
	 * sees waits.
	 */
	atomic_store(&cb->waits, true);
	if (!atomic_load(&cb->stop))
		ret = rfm2g_wait(h, info);
	atomic_store(&cb->waits, false);
	rfm2g_leave();
	/*
	 * Return 0 for a received event even if stop is set. The caller that
	 * stops the callback waits until the event is delivered.
	 */
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
 * Deliver events until the callback is stopped. After EINTR or EALREADY, the
 * thread waits again. EINTR means that a debugger or SIGSTOP interrupted the
 * wait. The thread blocks all other signals. EALREADY means that another thread
 * or process began to wait for the event while the program's function ran. The
 * thread then pauses before it waits again.
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

/* Give the thread a name that the user can find with ps and top. */
static void rfm2g_callback_name(const struct rfm2g_callback *cb)
{
	char name[16];

	snprintf(name, sizeof(name), "rfm2g%u:%u", cb->h->config.Unit % 1000,
		 cb->type);
	prctl(PR_SET_NAME, name);
}

/*
 * Remove a callback at the end of its thread. This is a cleanup handler,
 * because the program's function may call pthread_exit().
 */
static void rfm2g_callback_over(void *arg)
{
	struct rfm2g_callback *cb = arg;
	struct rfm2g_handle *h = cb->h;

	pthread_mutex_lock(&h->lock);
	if (h->callbacks[cb->type] == cb)
		h->callbacks[cb->type] = NULL;
	pthread_mutex_unlock(&h->lock);
	/*
	 * If enabling failed, wake RFM2gEnableEventCallback() only after the
	 * removal, so that the program can enable a callback again at once.
	 */
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
	/* Deliver a queued event before the callback counts as enabled. */
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

/*
 * Start the thread of a callback. The thread blocks all signals, so that the
 * program's own threads receive them.
 */
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

/* Start a callback. On success, the caller has a reference to *cb. */
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

/* Cancel the wait of a callback's thread, if the thread is in a wait. */
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
 * Stop a callback. Cancel the wait of its thread repeatedly, until the thread
 * has removed the callback, because a cancellation between two waits has no
 * effect. If the callback itself calls this function, do not wait. The thread
 * then ends when the callback returns.
 *
 * This function polls instead of waiting for a condition variable with a
 * timeout. In glibc before 2.30 and in musl, such a timeout uses the monotonic
 * clock only if pthread_condattr_setclock() has selected it. Handles are zeroed
 * memory, so nothing initializes a condition variable in them.
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

/*
 * Take a reference to the callback of an event type. Return the callback, or
 * NULL if there is none.
 */
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

/*
 * Remove a callback from the table of its handle, unless its thread has already
 * done so. If a callback closes its own handle, its thread has not done so.
 */
static void rfm2g_callback_detach(struct rfm2g_handle *h,
				  const struct rfm2g_callback *cb)
{
	pthread_mutex_lock(&h->lock);
	if (h->callbacks[cb->type] == cb)
		h->callbacks[cb->type] = NULL;
	pthread_mutex_unlock(&h->lock);
}

/**
 * rfm2g_callbacks_stop - stop the callbacks of a handle that is being closed
 * @h: handle that no thread uses
 *
 * If a callback called RFM2gClose(), this function does not wait for that
 * callback, which continues until it returns.
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
 * rfm2g_callbacks_forget - drop the callbacks of a handle after fork()
 * @h: open handle
 *
 * This is called in the child, which has only the thread that called fork(). If
 * a callback called fork(), this thread ends when the callback returns.
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
