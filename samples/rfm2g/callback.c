// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Call a function for each event, while the program does something else.
 *
 *   callback DEVICE SECONDS
 *
 * A callback runs in a thread of its own: data that it shares with the rest of
 * the program must be atomic or protected by a lock. Do not hold that lock
 * while you disable the callback or close the handle: both wait until the
 * callback has returned. A callback may call the library, also for its own
 * handle.
 */
#include <err.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <rfm2g_api.h>

static atomic_uint events;
static atomic_uint last;

static void check(RFM2G_STATUS status, const char *what)
{
	if (status != RFM2G_SUCCESS)
		errx(1, "%s: %s", what, RFM2gErrorMsg(status));
}

/*
 * Handle an event. Return soon, because the next event of this type waits until
 * this function returns.
 */
static void came(RFM2GHANDLE h, RFM2GEVENTINFO *event)
{
	RFM2G_UINT32 value;

	/* The data that the sender wrote before the event have arrived. */
	if (!RFM2gPeek32(h, 0, &value))
		last = value;
	events++;
	(void)event;
}

static void sleep_for(double seconds)
{
	struct timespec t = { (time_t)seconds, (long)(seconds * 1e9) % 1000000000 };

	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &t, &t))
		;
}

int main(int argc, char **argv)
{
	RFM2GHANDLE h = NULL;

	if (argc != 3)
		errx(2, "usage: callback DEVICE SECONDS");
	check(RFM2gOpen(argv[1], &h), argv[1]);
	/*
	 * Set the callback before enabling the event, because enabling delivers
	 * the events that are in the queue.
	 */
	check(RFM2gEnableEventCallback(h, RFM2GEVENT_INTR1, came), "callback");
	check(RFM2gEnableEvent(h, RFM2GEVENT_INTR1), "enable");
	sleep_for(atof(argv[2]));
	check(RFM2gDisableEvent(h, RFM2GEVENT_INTR1), "disable");
	check(RFM2gDisableEventCallback(h, RFM2GEVENT_INTR1), "no callback");
	printf("%u events, the word at 0 was %u at the last\n", events, last);
	check(RFM2gClose(&h), "close");
	return 0;
}
