// SPDX-License-Identifier: GPL-2.0
/*
 * Test librfm2g with several threads and processes: handles that one thread
 * closes while others use them, waits for events, and callbacks.
 *
 *   threads DEVICE ROUNDS LEAST
 *
 * Reads of 4 bytes must reach a rate of LEAST millions per second.
 *
 * Print a line for each case: "0 CASE" if it succeeds, "1 CASE" if it fails.
 * wrap.c simulates events, because a device without peers gets no events.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <rfm2g_extras.h>

#include "wrap.h"

#define MAGIC 0x12345678
#define PLACE 256
#define THREADS 4

static char *path;
static int rounds, least;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static RFM2GHANDLE opened(void)
{
	RFM2GHANDLE h;
	RFM2G_STATUS ret = RFM2gOpen(path, &h);

	if (ret)
		errx(2, "%s: %s", path, RFM2gErrorMsg(ret));
	return h;
}

static pthread_t started(void *(*function)(void *), void *arg)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, function, arg))
		errx(2, "no thread");
	return thread;
}

/*
 * Wait at most 20 s until CONDITION is true. The value of the macro is the last
 * value of CONDITION.
 */
#define eventually(condition) \
	({ \
		double end_ = now() + 20; \
		bool so_; \
		while (!(so_ = (condition)) && now() < end_) \
			usleep(100); \
		so_; \
	})

/* A thread that uses a handle until another thread closes the handle. */
struct user {
	pthread_t thread;
	RFM2GHANDLE h;
	int kind;
	atomic_bool begun;
	long calls;
	RFM2G_STATUS end;
	long damaged;
};

static RFM2G_STATUS use(struct user *user)
{
	RFM2G_UINT32 block[64] = { MAGIC };
	volatile void *map;
	RFM2G_STATUS ret;

	switch (user->kind) {
	case 0:
		ret = RFM2gPeek32(user->h, PLACE, block);
		break;
	case 1:
		ret = RFM2gRead(user->h, PLACE, block, sizeof(block));
		break;
	case 2:
		return RFM2gPoke32(user->h, PLACE, MAGIC);
	default:
		ret = RFM2gUserMemory(user->h, &map, 0, 1);
		if (ret)
			return ret;
		block[0] = ((volatile RFM2G_UINT32 *)map)[PLACE / 4];
		/*
		 * Unmap by munmap(), because RFM2gUnMapUserMemory() fails after
		 * another thread has closed the handle.
		 */
		user->calls += munmap((void *)map, 4096) == 0;
	}
	user->damaged += !ret && block[0] != MAGIC;
	return ret;
}

static void *use_on(void *arg)
{
	struct user *user = arg;

	do {
		user->end = use(user);
		user->calls++;
		user->begun = true;
	} while (!user->end);
	return NULL;
}

/* Close a handle that four threads are using in four ways. */
static void close_while_used(void)
{
	long damaged = 0, calls = 0, wrong = 0;
	double longest = 0, begin;

	for (int round = 0; round < rounds; round++) {
		RFM2GHANDLE h = opened();
		struct user users[THREADS] = { };

		RFM2gPoke32(h, PLACE, MAGIC);
		for (int i = 0; i < THREADS; i++) {
			users[i].h = h;
			users[i].kind = i;
			users[i].thread = started(use_on, &users[i]);
		}
		for (int i = 0; i < THREADS; i++)
			while (!users[i].begun)
				sched_yield();
		usleep(round % 50 * 20);
		begin = now();
		wrong += RFM2gClose(&h) != RFM2G_SUCCESS;
		longest = now() - begin > longest ? now() - begin : longest;
		for (int i = 0; i < THREADS; i++) {
			pthread_join(users[i].thread, NULL);
			wrong += users[i].end != RFM2G_BAD_PARAMETER_1;
			damaged += users[i].damaged;
			calls += users[i].calls;
		}
	}
	is(!wrong, "%d handles are closed while four threads use them: all threads get an error", rounds);
	is(!damaged, "threads read no wrong data while their handles are closed, in %ld calls", calls);
	is(longest < 10, "closing a handle in use takes %.0f ms at most", longest * 1e3);
}

static void *close_it(void *arg)
{
	RFM2GHANDLE h = arg;

	return (void *)(intptr_t)RFM2gClose(&h);
}

static void close_twice(void)
{
	int one = 0;

	for (int round = 0; round < rounds; round++) {
		RFM2GHANDLE h = opened();
		pthread_t a = started(close_it, h), b = started(close_it, h);
		void *x, *y;

		pthread_join(a, &x);
		pthread_join(b, &y);
		one += (long)x + (long)y == RFM2G_BAD_PARAMETER_1;
	}
	is(one == rounds, "of two threads that close a handle one succeeds: %d of %d times", one, rounds);
}

/* A thread that waits in RFM2gWaitForEvent(). */
struct waiter {
	pthread_t thread;
	RFM2GHANDLE h;
	RFM2GEVENTTYPE type;
	atomic_bool over;
	RFM2G_STATUS ret;
};

static void *wait_for(void *arg)
{
	struct waiter *w = arg;
	RFM2GEVENTINFO info = { .Event = w->type, .Timeout = RFM2G_INFINITE_TIMEOUT };

	w->ret = RFM2gWaitForEvent(w->h, &info);
	w->over = true;
	return NULL;
}

static RFM2G_STATUS looked(RFM2GHANDLE h, RFM2GEVENTTYPE type)
{
	RFM2GEVENTINFO info = { .Event = type };

	return RFM2gWaitForEvent(h, &info);
}

static void waiting_for(struct waiter *w, RFM2GHANDLE h, RFM2GEVENTTYPE type)
{
	*w = (struct waiter){ .h = h, .type = type };
	w->thread = started(wait_for, w);
	if (!eventually(looked(h, type) == RFM2G_EVENT_IN_USE))
		errx(2, "no thread waits for event %d", type);
}

static RFM2G_STATUS ended(struct waiter *w)
{
	if (!eventually(w->over))
		return -1;
	pthread_join(w->thread, NULL);
	return w->ret;
}

static void ignore(int number)
{
	(void)number;
}

static void unexpected(RFM2GHANDLE h, RFM2GEVENTINFO *info)
{
	is(false, "a refused callback is not called: %p %p", (void *)h, (void *)info);
}

static void waits(void)
{
	RFM2GHANDLE h = opened(), other = opened();
	struct waiter w, second;
	RFM2GEVENTINFO info = { .Event = RFM2GEVENT_INTR1, .Timeout = 200 };
	double begin = now();

	signal(SIGUSR1, ignore);
	gives(RFM2G_TIMED_OUT, RFM2gWaitForEvent(h, &info), "waiting 200 ms for an event");
	is(now() - begin > 0.19, "waiting 200 ms for an event takes that time: %.0f ms", (now() - begin) * 1e3);
	waiting_for(&w, h, RFM2GEVENT_INTR1);
	gives(RFM2G_EVENT_IN_USE, looked(other, RFM2GEVENT_INTR1),
	      "a second wait for an event, through another handle");
	gives(RFM2G_SUCCESS, RFM2gCancelWaitForEvent(other, RFM2GEVENT_INTR1),
	      "cancelling a wait through another handle");
	gives(RFM2G_WAIT_EVENT_CANCELED, ended(&w), "a wait that is cancelled through another handle");
	waiting_for(&w, h, RFM2GEVENT_INTR2);
	pthread_kill(w.thread, SIGUSR1);
	gives(RFM2G_SIGNALED, ended(&w), "a signal ends a wait");
	waiting_for(&w, h, RFM2GEVENT_INTR3);
	waiting_for(&second, other, RFM2GEVENT_INTR4);
	gives(RFM2G_SUCCESS, RFM2gClose(&h), "a handle is closed while a thread waits");
	gives(RFM2G_WAIT_EVENT_CANCELED, ended(&w), "a wait whose handle is closed");
	usleep(50000);
	is(!second.over, "closing a handle does not end the wait of another handle");
	gives(RFM2G_EVENT_IN_USE, RFM2gEnableEventCallback(other, RFM2GEVENT_INTR4, unexpected),
	      "enabling a callback for an event that a thread waits for");
	RFM2gClose(&other);
	gives(RFM2G_WAIT_EVENT_CANCELED, ended(&second), "a wait whose handle is closed after another one");
}

/* A thread that waits in RFM2gxWatch() without a timeout, at its own offset. */
struct watcher {
	pthread_t thread;
	RFM2GHANDLE h;
	RFM2G_UINT32 at, seen, changed;
	atomic_bool over;
	RFM2G_STATUS ret;
};

static void *watch_for(void *arg)
{
	struct watcher *w = arg;

	w->ret = RFM2gxWatch(w->h, w->at, 4, &w->seen, RFM2GX_FOREVER, &w->changed);
	w->over = true;
	return NULL;
}

static void watching_for(struct watcher *w, RFM2GHANDLE h, RFM2G_UINT32 at)
{
	*w = (struct watcher){ .h = h, .at = at };
	RFM2gPoke32(h, at, 0);
	w->thread = started(watch_for, w);
	usleep(50000);
}

static RFM2G_STATUS watched(struct watcher *w)
{
	if (!eventually(w->over))
		return -1;
	pthread_join(w->thread, NULL);
	return w->ret;
}

static void watches(void)
{
	RFM2GHANDLE h = opened(), other = opened();
	struct watcher one, two, third;

	watching_for(&one, h, 512);
	watching_for(&two, h, 516);
	watching_for(&third, other, 512);
	RFM2gPoke16(other, 518, 1);
	gives(RFM2G_SUCCESS, watched(&two), "watching a word that changes");
	is(two.changed == 518 && !one.over && !third.over, "a change ends no watch of other words: %u", two.changed);
	gives(RFM2G_SUCCESS, RFM2gxUnwatch(h), "ending the watches of a handle");
	gives(RFM2G_WAIT_EVENT_CANCELED, watched(&one), "a watch that is ended through its handle");
	usleep(50000);
	is(!third.over, "ending the watches of a handle does not end those of another handle");
	watching_for(&one, h, 520);
	RFM2gPoke32(h, 512, 1);
	gives(RFM2G_SUCCESS, watched(&third), "a watch of another handle when its word changes");
	pthread_kill(one.thread, SIGUSR1);
	gives(RFM2G_SIGNALED, watched(&one), "a signal ends a watch");
	watching_for(&one, h, 524);
	gives(RFM2G_SUCCESS, RFM2gClose(&h), "closing a handle while a thread watches");
	gives(RFM2G_WAIT_EVENT_CANCELED, watched(&one), "a watch whose handle is closed");
	RFM2gClose(&other);
}

/* Wait for events repeatedly, until another thread has closed the handle. */
static void *wait_on(void *arg)
{
	struct user *user = arg;
	RFM2GEVENTINFO info = { .Event = RFM2GEVENT_INTR1, .Timeout = RFM2G_INFINITE_TIMEOUT };

	do {
		user->begun = true;
		user->end = RFM2gWaitForEvent(user->h, &info);
		user->calls++;
	} while (user->end != RFM2G_BAD_PARAMETER_1);
	return NULL;
}

static void close_while_waiting(void)
{
	double begin, longest = 0;

	for (int round = 0; round < rounds; round++) {
		struct user user = { .h = opened() };
		RFM2GHANDLE h = user.h;

		user.thread = started(wait_on, &user);
		while (!user.begun)
			sched_yield();
		for (int i = 0; i < round % 40; i++)
			RFM2gCancelWaitForEvent(h, RFM2GEVENT_INTR1);
		begin = now();
		RFM2gClose(&h);
		longest = now() - begin > longest ? now() - begin : longest;
		pthread_join(user.thread, NULL);
	}
	is(longest < 10, "%d handles are closed at random times of a wait, in %.0f ms at most", rounds, longest * 1e3);
}

/* Results that the functions of callbacks record. */
static struct {
	atomic_int calls, wrong;
	atomic_bool inside, go;
	RFM2G_UINT32 last;
	RFM2GHANDLE expected;
	RFM2G_STATUS status;
} seen;

static void reset(RFM2GHANDLE h)
{
	memset((void *)&seen, 0, sizeof(seen));
	seen.expected = h;
	wrap_events(true);
}

static void count(RFM2GHANDLE h, RFM2GEVENTINFO *info)
{
	seen.wrong += h != seen.expected || info->Event != RFM2GEVENT_INTR2 || info->NodeId != 7 ||
		      info->ExtendedInfo != seen.last + 1;
	seen.last = info->ExtendedInfo;
	seen.calls++;
}

static void linger(RFM2GHANDLE h, RFM2GEVENTINFO *info)
{
	(void)h;
	(void)info;
	seen.inside = true;
	while (!seen.go)
		usleep(100);
	usleep(20000);
	seen.calls++;
	seen.inside = false;
}

static void disable_itself(RFM2GHANDLE h, RFM2GEVENTINFO *info)
{
	seen.status = RFM2gDisableEventCallback(h, info->Event);
	seen.calls++;
}

static void close_itself(RFM2GHANDLE h, RFM2GEVENTINFO *info)
{
	(void)info;
	seen.status = RFM2gClose(&h);
	seen.calls++;
}

static void end_thread(RFM2GHANDLE h, RFM2GEVENTINFO *info)
{
	(void)h;
	(void)info;
	seen.calls++;
	pthread_exit(NULL);
}

static void callbacks(void)
{
	RFM2GHANDLE h = opened();

	reset(h);
	wrap_event(RFM2GEVENT_INTR2, 7, 1);
	gives(RFM2G_SUCCESS, RFM2gEnableEventCallback(h, RFM2GEVENT_INTR2, count), "enabling a callback");
	is(seen.calls == 1, "a callback gets the queued event before its enabling returns");
	gives(RFM2G_EVENT_IN_USE, RFM2gEnableEventCallback(h, RFM2GEVENT_INTR2, count),
	      "enabling a second callback for an event");
	for (int i = 2; i <= 50; i++)
		wrap_event(RFM2GEVENT_INTR2, 7, i);
	is(eventually(seen.calls == 50) && !seen.wrong, "a callback gets 50 events in order, with sender and data");
	gives(RFM2G_SUCCESS, RFM2gDisableEventCallback(h, RFM2GEVENT_INTR2), "disabling a callback");
	wrap_event(RFM2GEVENT_INTR2, 7, 51);
	usleep(20000);
	is(seen.calls == 50, "a disabled callback gets no event");
	gives(RFM2G_NOT_ENABLED, RFM2gDisableEventCallback(h, RFM2GEVENT_INTR2), "disabling a disabled callback");
	RFM2gEnableEventCallback(h, RFM2GEVENT_INTR2, count);
	is(seen.calls == 51 && !seen.wrong, "a callback gets the event that was queued while it was disabled");
	wrap_event(RFM2GEVENT_INTR3, 1, 1);
	usleep(20000);
	is(seen.calls == 51, "a callback gets no events of another type");
	gives(RFM2G_SUCCESS, RFM2gCancelWaitForEvent(h, RFM2GEVENT_INTR2), "cancelling the wait of a callback");
	is(eventually(RFM2gDisableEventCallback(h, RFM2GEVENT_INTR2) == RFM2G_NOT_ENABLED),
	   "cancelling the wait of a callback disables the callback");
	RFM2gEnableEventCallback(h, RFM2GEVENT_INTR2, count);
	/*
	 * Wait until the callback's thread waits for an event. Cancelling a
	 * wait that has not begun has no effect.
	 */
	eventually(wrap_waits(RFM2GEVENT_INTR2));
	wrap_event_at_cancel();
	gives(RFM2G_SUCCESS, RFM2gDisableEventCallback(h, RFM2GEVENT_INTR2),
	      "disabling a callback while an event arrives");
	is(seen.calls == 52 && !seen.wrong, "an event that arrives while a callback is disabled is not lost");
	RFM2gClose(&h);
}

/* Disable a callback with a driver that does not know VRFM_UNWAIT. */
static void older(void)
{
	RFM2GHANDLE h = opened();

	reset(h);
	wrap_fail(WRAP_UNWAIT, ENOTTY);
	RFM2gEnableEventCallback(h, RFM2GEVENT_INTR2, count);
	eventually(wrap_waits(RFM2GEVENT_INTR2));
	gives(RFM2G_SUCCESS, RFM2gDisableEventCallback(h, RFM2GEVENT_INTR2),
	      "a driver without VRFM_UNWAIT: a callback is disabled");
	RFM2gEnableEventCallback(h, RFM2GEVENT_INTR2, count);
	gives(RFM2G_SUCCESS, RFM2gClose(&h), "a driver without VRFM_UNWAIT: a handle with a callback is closed");
	wrap_fail(0, 0);
}

/*
 * While the function of a callback runs, another thread waits for the same type
 * of event, and gets the next event. Check that the callback gets later events.
 */
static void outlasts(void)
{
	struct waiter w = { .type = RFM2GEVENT_INTR2 };
	RFM2GHANDLE h = opened();

	reset(h);
	w.h = opened();
	RFM2gEnableEventCallback(h, RFM2GEVENT_INTR2, linger);
	wrap_event(RFM2GEVENT_INTR2, 7, 1);
	is(eventually(seen.inside), "a callback's function runs");
	w.thread = started(wait_for, &w);
	is(eventually(wrap_waits(RFM2GEVENT_INTR2)), "another thread waits for the event of a callback that runs");
	seen.go = true;
	eventually(seen.calls == 1);
	usleep(50000);
	wrap_event(RFM2GEVENT_INTR2, 7, 2);
	pthread_join(w.thread, NULL);
	is(!w.ret && seen.calls == 1, "the other thread takes the event: %d, %d", w.ret, seen.calls);
	eventually(wrap_waits(RFM2GEVENT_INTR2));
	wrap_event(RFM2GEVENT_INTR2, 7, 3);
	is(eventually(seen.calls == 2), "a callback outlasts a wait of another thread for its event");
	gives(RFM2G_SUCCESS, RFM2gDisableEventCallback(h, RFM2GEVENT_INTR2),
	      "a callback that outlasted a wait is disabled");
	RFM2gClose(&w.h);
	RFM2gClose(&h);
}

/*
 * Check the name of a callback's thread, by which ps and chrt find the thread.
 */
static void named(void)
{
	RFM2GHANDLE h = opened();
	char wanted[32], command[64];

	reset(h);
	RFM2gEnableEventCallback(h, RFM2GEVENT_INTR3, count);
	snprintf(wanted, sizeof(wanted), "rfm2g%u:3", h->Config.Unit);
	snprintf(command, sizeof(command), "grep -qx %s /proc/%d/task/*/comm", wanted, getpid());
	is(!system(command), "the thread of a callback is called %s", wanted);
	RFM2gClose(&h);
}

/* Return the number of bytes that this process has allocated by malloc(). */
static size_t in_use(void)
{
	return mallinfo2().uordblks;
}

static void *open_and_peek(void *arg)
{
	RFM2GHANDLE h = opened();
	RFM2G_UINT32 value;
	size_t before = in_use();
	RFM2G_STATUS ret = RFM2gPeek32(h, PLACE, &value);

	(void)arg;
	is(!ret && in_use() == before,
	   "a thread that has opened a device allocates nothing in its first peek: %zd bytes", in_use() - before);
	RFM2gClose(&h);
	return NULL;
}

/*
 * Check that the first read of a thread allocates no memory, because a signal
 * handler may make this read.
 */
static void registered(void)
{
	pthread_join(started(open_and_peek, NULL), NULL);
}

/*
 * Disable a callback, and close a handle with a callback, while the function of
 * the callback runs. Check that both calls wait until the function returns.
 */
static void joined(void)
{
	RFM2GHANDLE h = opened();
	pthread_t thread;
	double begin;

	reset(h);
	RFM2gEnableEventCallback(h, RFM2GEVENT_INTR1, linger);
	wrap_event(RFM2GEVENT_INTR1, 1, 1);
	eventually(seen.inside);
	seen.go = true;
	RFM2gDisableEventCallback(h, RFM2GEVENT_INTR1);
	is(seen.calls == 1 && !seen.inside, "disabling a callback waits until its function returns");
	reset(h);
	RFM2gEnableEventCallback(h, RFM2GEVENT_INTR1, linger);
	wrap_event(RFM2GEVENT_INTR1, 1, 1);
	eventually(seen.inside);
	thread = started(close_it, h);
	is(eventually(RFM2gPeek8(h, 0, (RFM2G_UINT8 *)&begin) == RFM2G_BAD_PARAMETER_1) && seen.inside,
	   "closing waits for the function of a callback, with an invalid handle");
	seen.go = true;
	pthread_join(thread, NULL);
	is(seen.calls == 1 && !seen.inside, "closing returns when the function of a callback returns");
	h = opened();
	begin = now();
	for (int type = 0; type < RFM2GEVENT_LAST; type++)
		RFM2gEnableEventCallback(h, type, count);
	RFM2gClose(&h);
	is(now() - begin < 10, "a handle with a callback for each event is closed: %.0f ms", (now() - begin) * 1e3);
}

static void by_itself(void)
{
	RFM2GHANDLE h = opened();

	reset(h);
	RFM2gEnableEventCallback(h, RFM2GEVENT_INTR1, disable_itself);
	wrap_event(RFM2GEVENT_INTR1, 1, 1);
	is(eventually(seen.calls == 1) && seen.status == RFM2G_SUCCESS, "a callback disables itself");
	wrap_event(RFM2GEVENT_INTR1, 1, 2);
	usleep(20000);
	is(seen.calls == 1, "a callback that disables itself is not called again");
	is(eventually(RFM2gEnableEventCallback(h, RFM2GEVENT_INTR1, disable_itself) == RFM2G_SUCCESS) &&
	   seen.calls == 2, "a callback that disables itself is called when it is enabled again");
	eventually(RFM2gEnableEventCallback(h, RFM2GEVENT_INTR1, end_thread) == RFM2G_SUCCESS);
	wrap_event(RFM2GEVENT_INTR1, 1, 3);
	is(eventually(seen.calls == 3) &&
	   eventually(RFM2gDisableEventCallback(h, RFM2GEVENT_INTR1) == RFM2G_NOT_ENABLED),
	   "a callback ends its thread");
	eventually(RFM2gEnableEventCallback(h, RFM2GEVENT_INTR1, close_itself) == RFM2G_SUCCESS);
	RFM2gEnableEventCallback(h, RFM2GEVENT_INTR2, count);
	wrap_event(RFM2GEVENT_INTR1, 1, 4);
	is(eventually(seen.calls == 4) && seen.status == RFM2G_SUCCESS, "a callback closes its handle");
	gives(RFM2G_BAD_PARAMETER_1, RFM2gDisableEventCallback(h, RFM2GEVENT_INTR1),
	      "a handle that a callback has closed");
}

static void *send_on(void *arg)
{
	atomic_bool *over = arg;

	while (!*over)
		wrap_event(RFM2GEVENT_INTR1, 1, 0);
	return NULL;
}

static void add(RFM2GHANDLE h, RFM2GEVENTINFO *info)
{
	(void)info;
	seen.calls++;
	seen.wrong += h != seen.expected;
}

/*
 * Disable a callback at many different times while events arrive. Check that
 * the function is never called after disabling has returned.
 */
static void enable_and_disable(void)
{
	RFM2GHANDLE h = opened();
	atomic_bool over = false;
	int late = 0, calls;
	pthread_t thread;

	reset(h);
	thread = started(send_on, &over);
	for (int round = 0; round < rounds; round++) {
		seen.wrong += RFM2gEnableEventCallback(h, RFM2GEVENT_INTR1, add) != RFM2G_SUCCESS;
		usleep(round % 20 * 10);
		seen.wrong += RFM2gDisableEventCallback(h, RFM2GEVENT_INTR1) != RFM2G_SUCCESS;
		calls = seen.calls;
		sched_yield();
		late += seen.calls != calls;
	}
	over = true;
	pthread_join(thread, NULL);
	is(!seen.wrong && !late,
	   "a callback is enabled and disabled %d times under events: %d of %d calls are late", rounds, late,
	   seen.calls);
	RFM2gClose(&h);
}

/* Enable and disable callbacks on the real device, which gets no events. */
static void real_callbacks(void)
{
	RFM2GHANDLE h = opened();
	double begin = now();
	int wrong = 0;

	wrap_events(false);
	for (int round = 0; round < 20; round++)
		for (int type = 0; type < RFM2GEVENT_LAST; type++) {
			wrong += RFM2gEnableEventCallback(h, type, count) != RFM2G_SUCCESS;
			if (round % 2) {
				wrong += RFM2gDisableEventCallback(h, type) != RFM2G_SUCCESS;
			} else if (type == RFM2GEVENT_LAST - 1) {
				wrong += RFM2gClose(&h) != RFM2G_SUCCESS;
				h = opened();
			}
		}
	is(!wrong, "callbacks for all events of the device end by disabling or closing");
	is(now() - begin < 60, "callbacks for all events of the device end in time: %.0f ms", (now() - begin) * 1e3);
	RFM2gClose(&h);
}

static int child(RFM2GHANDLE h)
{
	RFM2G_UINT32 value;

	if (RFM2gPeek32(h, PLACE, &value) || value != MAGIC || RFM2gPoke32(h, PLACE + 4, 99))
		return 1;
	if (RFM2gDisableEventCallback(h, RFM2GEVENT_INTR2) != RFM2G_NOT_ENABLED)
		return 2;
	return RFM2gClose(&h) ? 3 : 0;
}

/*
 * Use a handle in a child after fork(). The child has none of the parent's
 * threads, and must not affect the parent.
 */
static void forking(void)
{
	RFM2GHANDLE h = opened();
	RFM2G_UINT32 value;
	struct waiter w;
	int status = -1;
	pid_t pid;

	reset(h);
	RFM2gPoke32(h, PLACE, MAGIC);
	RFM2gEnableEventCallback(h, RFM2GEVENT_INTR2, count);
	w = (struct waiter){ .h = h, .type = RFM2GEVENT_INTR4 };
	w.thread = started(wait_for, &w);
	eventually(looked(h, RFM2GEVENT_INTR4) == RFM2G_EVENT_IN_USE);
	pid = fork();
	if (!pid) {
		alarm(20);
		_exit(child(h));
	}
	waitpid(pid, &status, 0);
	is(!status, "a child uses the handle and closes it: 0x%x", status);
	is(!RFM2gPeek32(h, PLACE + 4, &value) && value == 99, "the parent reads the word that the child wrote");
	wrap_event(RFM2GEVENT_INTR2, 7, 1);
	is(eventually(seen.calls == 1), "the callback of the parent is called after the child has closed the handle");
	is(!w.over, "a wait of the parent continues after the child has closed the handle");
	RFM2gClose(&h);
	gives(RFM2G_WAIT_EVENT_CANCELED, ended(&w), "a wait of the parent when the parent closes the handle");
}

/*
 * Wait for an event for two seconds. A child calls this function. Return the
 * status of the wait.
 */
static int wait_elsewhere(void)
{
	RFM2GEVENTINFO info = { .Event = RFM2GEVENT_INTR4, .Timeout = 2000 };
	RFM2GHANDLE h = opened();

	return RFM2gWaitForEvent(h, &info);
}

static pid_t waiting_elsewhere(RFM2GHANDLE h)
{
	pid_t pid = fork();

	if (!pid) {
		alarm(20);
		_exit(wait_elsewhere());
	}
	eventually(looked(h, RFM2GEVENT_INTR4) == RFM2G_EVENT_IN_USE);
	return pid;
}

/*
 * Let another process wait for a type of event, so that a wait of this process
 * for the same type is refused. Close the handle while a thread of this process
 * is still in its refused call. Check that the wait of the other process ends
 * with status WANTED.
 */
static void beside(int unwait_error, RFM2G_STATUS wanted, const char *what)
{
	RFM2GHANDLE h = opened(), watch = opened();
	pid_t pid = waiting_elsewhere(watch);
	struct waiter w = { .h = h, .type = RFM2GEVENT_INTR4 };
	int status = -1;

	wrap_fail(WRAP_UNWAIT, unwait_error);
	wrap_late(300);
	w.thread = started(wait_for, &w);
	usleep(100000);
	RFM2gClose(&h);
	gives(RFM2G_EVENT_IN_USE, ended(&w), "a thread is refused an event for which another process waits");
	wrap_late(0);
	wrap_fail(0, 0);
	waitpid(pid, &status, 0);
	gives(wanted, WEXITSTATUS(status), what);
	RFM2gClose(&watch);
}

static void other_processes(void)
{
	beside(0, RFM2G_TIMED_OUT, "closing a handle ends no wait of another process");
	beside(ENOTTY, RFM2G_WAIT_EVENT_CANCELED, "a driver without VRFM_UNWAIT ends the wait of another process");
}

/*
 * Map memory or registers repeatedly. Several threads do this with the same
 * handle: half of them map memory, half of them map registers.
 */
static void *map_on(void *arg)
{
	struct user *user = arg;
	volatile void *p;

	for (int i = 0; i < 20 * rounds; i++) {
		if (user->kind) {
			user->damaged += RFM2gUserMemory(user->h, &p, RFM2G_BAR2_MMAP_OFFSET, 1) != 0;
			user->damaged += ((volatile RFM2G_UINT8 *)p)[RFM2G_BID] != 0x65;
		} else {
			user->damaged += RFM2gUserMemory(user->h, &p, 0, 1) != 0;
			user->damaged += ((volatile RFM2G_UINT32 *)p)[PLACE / 4] != MAGIC;
		}
		user->damaged += RFM2gUnMapUserMemory(user->h, &p, 1) != 0;
	}
	return NULL;
}

static void maps(void)
{
	RFM2GHANDLE h = opened();
	struct user users[THREADS] = { };
	long wrong = 0;

	RFM2gPoke32(h, PLACE, MAGIC);
	for (int i = 0; i < THREADS; i++) {
		users[i].h = h;
		users[i].kind = i & 1;
		users[i].thread = started(map_on, &users[i]);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(users[i].thread, NULL);
		wrong += users[i].damaged;
	}
	is(!wrong, "threads that map memory and registers through one handle get the right mappings");
	RFM2gClose(&h);
}

static RFM2GHANDLE handler_handle;
static atomic_int handled, refused;

static void peek_in_handler(int number)
{
	RFM2G_UINT32 value;

	(void)number;
	if (!RFM2gPeek32(handler_handle, PLACE, &value) && value == MAGIC)
		handled++;
	else
		refused++;
}

static void handlers(void)
{
	struct itimerval often = { { 0, 500 }, { 0, 500 } }, never = { };
	RFM2G_UINT32 value, wrong = 0;
	double end = now() + 0.3, latest = end + 20;

	handler_handle = opened();
	RFM2gPoke32(handler_handle, PLACE, MAGIC);
	signal(SIGALRM, peek_in_handler);
	setitimer(ITIMER_REAL, &often, NULL);
	/* A busy machine delivers fewer signals, so wait for ten of them. */
	while (now() < end || (handled < 10 && now() < latest))
		wrong += RFM2gPeek32(handler_handle, PLACE, &value) || value != MAGIC;
	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_IGN);
	is(!wrong && !refused && handled >= 10,
	   "%d signal handlers read while their thread reads, %d are refused, %u read wrong data", handled, refused,
	   wrong);
	gives(RFM2G_SUCCESS, RFM2gClose(&handler_handle), "closing a handle after signal handlers have read");
}

static double rate(RFM2GHANDLE h, const volatile RFM2G_UINT32 *map)
{
	/*
	 * Measure few calls at a time, so that the thread is not preempted
	 * during them.
	 */
	long calls = 50000, sum = 0;
	RFM2G_UINT32 value = 0;
	double begin = now();

	for (long i = 0; i < calls; i++) {
		if (map)
			value = map[PLACE / 4];
		else
			RFM2gRead(h, PLACE, &value, 4);
		sum += value;
	}
	if (sum != calls * MAGIC)
		return 0;
	return calls / (now() - begin) / 1e6;
}

/*
 * Check that reads of 4 bytes reach a rate of LEAST millions per second. If
 * plain loads do not reach 100 millions per second, the processor is emulated,
 * and reads need not reach LEAST.
 */
static void speed(void)
{
	RFM2GHANDLE h = opened();
	volatile void *map;
	double loop = 0, read = 0, once, end;

	RFM2gPoke32(h, PLACE, MAGIC);
	RFM2gUserMemory(h, &map, 0, 1);
	/*
	 * Take the best of many results, because other programs use the
	 * machine.
	 */
	for (end = now() + 3; now() < end;) {
		once = rate(h, map);
		loop = once > loop ? once : loop;
		once = rate(h, NULL);
		read = once > read ? once : read;
	}
	is(read >= least || loop < 100, "reads of 4 bytes are fast enough: %.1f M/s, plain loads %.0f M/s", read, loop);
	RFM2gUnMapUserMemory(h, &map, 1);
	RFM2gClose(&h);
}

/*
 * Simulate a filter of system calls that a program installs after RFM2gOpen().
 * If membarrier() fails, the first close waits for threads that use the handle.
 */
static void filtered(void)
{
	RFM2GHANDLE h = opened();
	double begin;

	wrap_no_membarrier();
	begin = now();
	RFM2gClose(&h);
	is(now() - begin >= .01, "closing without membarrier() waits for threads: %.1f ms", (now() - begin) * 1e3);
	close_while_used();
}

int main(int argc, char **argv)
{
	static void (*const steps[])(void) = {
		close_while_used, close_twice, waits, watches, close_while_waiting, callbacks, older, outlasts, named,
		registered, joined, by_itself, enable_and_disable, real_callbacks, forking, other_processes, maps,
		handlers, speed, filtered,
	};

	if (argc != 4)
		errx(2, "threads DEVICE ROUNDS LEAST");
	path = argv[1];
	rounds = atoi(argv[2]);
	least = atoi(argv[3]);
	for (unsigned int i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		wrap_events(false);
		steps[i]();
	}
	return 0;
}
