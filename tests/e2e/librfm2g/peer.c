// SPDX-License-Identifier: GPL-2.0
/*
 * Test librfm2g with a peer. This program runs on two nodes at the same time.
 * Each node waits for the other one by a word of the shared memory.
 *
 *   peer DEVICE NODE OTHER ROUND [alone]
 *
 * ROUND is a different number for each run. With "alone" the peer is down.
 *
 * Print a line for each case: "0 CASE" if it succeeds, "1 CASE" if it fails.
 */
#define _GNU_SOURCE
#include <err.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <rfm2g_extras.h>

#include "meet.h"
#include "wrap.h"

#define PAGE 4096
#define BIG 0x1122334455667788ULL

/* Offset of the part of the memory that node OF writes. */
#define PART(of) (0x20000U * (of))
#define BLOCK 0x1000
#define MAPPED 0x4000
#define CLAIMED 0x8000
#define DARK 0xC000

static RFM2G_UINT32 count(RFM2GEVENTTYPE type)
{
	RFM2G_UINT32 n = 0;

	RFM2gGetEventCount(h, type, &n);
	return n;
}

/*
 * Wait until WANTED events of TYPE have arrived. Return whether exactly WANTED
 * events have arrived in time.
 */
static bool comes_to(RFM2GEVENTTYPE type, RFM2G_UINT32 wanted)
{
	for (int i = 0; i < PATIENCE_MS / 10 && count(type) < wanted; i++)
		usleep(10000);
	return count(type) == wanted;
}

static RFM2G_STATUS take(RFM2GEVENTTYPE type, RFM2G_UINT32 timeout, RFM2GEVENTINFO *event)
{
	*event = (RFM2GEVENTINFO){ .Event = type, .Timeout = timeout, .NodeId = 999 };
	return RFM2gWaitForEvent(h, event);
}

static bool is_event(const RFM2GEVENTINFO *event, RFM2G_UINT32 data)
{
	return event->NodeId == other && event->ExtendedInfo == data;
}

static void fresh(RFM2GEVENTTYPE type)
{
	RFM2gDisableEvent(h, type);
	RFM2gClearEvent(h, type);
	RFM2gClearEventCount(h, type);
}

static void states(bool active)
{
	RFM2GXPEER peer = { .Node = 999 };
	RFM2GXIMAGE image = { };
	RFM2G_UINT32 n = 0;

	if (!active)
		return;
	is(!RFM2gxPeers(h, &peer, sizeof(peer), 1, &n, &image) && n == 1 && peer.Node == other,
	   "RFM2gxPeers() returns one peer");
	is(peer.State == RFM2GX_READY && peer.Flags & RFM2GX_SYNCED && !(peer.Flags & RFM2GX_MISSES_ALL),
	   "the peer is ready: state %u, flags %u", peer.State, peer.Flags);
	is(peer.Links >= 1 && peer.Messages && peer.Received && peer.BytesSent && peer.BytesReceived,
	   "the peer has counts of sent and received data");
	is(peer.Family && peer.Port == 5565 && peer.Address[3] == other && !peer.Error && !peer.Refusal,
	   "the peer has its address and no error");
	is(image.Size && image.Lineage && !image.Loading, "the image is complete");
}

static void data_written(RFM2G_UINT8 *block)
{
	volatile void *map = NULL;

	GIVES(SUCCESS, RFM2gWrite(h, PART(node) + BLOCK + 3, block, 5000));
	GIVES(SUCCESS, RFM2gPoke64(h, PART(node), BIG + step));
	GIVES(SUCCESS, RFM2gUserMemory(h, &map, PART(node) + MAPPED, 2));
	((volatile RFM2G_UINT32 *)map)[PAGE / 4] = step;
	GIVES(SUCCESS, RFM2gxFlush(h));
	GIVES(SUCCESS, RFM2gUnMapUserMemory(h, &map, 2));
}

static void data_read(const RFM2G_UINT8 *block)
{
	static RFM2G_UINT8 back[5000];
	volatile void *map = NULL;
	RFM2G_UINT64 word = 0;
	RFM2G_UINT32 stored = 0;

	is(!RFM2gRead(h, PART(other) + BLOCK + 3, back, 5000) && !memcmp(block, back, 5000),
	   "RFM2gRead() returns the block of the peer");
	is(!RFM2gPeek64(h, PART(other), &word) && word == BIG + step - 1, "a peek returns the word of the peer");
	is(!RFM2gPeek32(h, PART(other) + MAPPED + PAGE, &stored) && stored == step - 1,
	   "a peek returns the stored word of the peer");
	GIVES(SUCCESS, RFM2gUserMemory(h, &map, PART(other), 8));
	is(!memcmp((char *)map + BLOCK + 3, block, 5000) &&
	   ((volatile RFM2G_UINT32 *)map)[(MAPPED + PAGE) / 4] == step - 1,
	   "a mapping has the block and the stored word of the peer");
	GIVES(SUCCESS, RFM2gUnMapUserMemory(h, &map, 8));
}

static void data(bool active)
{
	static RFM2G_UINT8 block[5000];

	for (int i = 0; i < 5000; i++)
		block[i] = i * 7 + i / 256 + step;
	if (active)
		data_written(block);
	meet();
	if (!active)
		data_read(block);
}

static void claims(bool active)
{
	volatile void *map = NULL;
	RFM2G_UINT32 stored = 0;

	if (active) {
		GIVES(SUCCESS, RFM2gxClaim(h, PART(node) + CLAIMED, PAGE));
		GIVES(SUCCESS, RFM2gUserMemory(h, &map, PART(node) + CLAIMED, 1));
		*(volatile RFM2G_UINT32 *)map = step;
		GIVES(SUCCESS, RFM2gxFlush(h));
		GIVES(SUCCESS, RFM2gxUnclaim(h, PART(node) + CLAIMED, PAGE));
		GIVES(SUCCESS, RFM2gUnMapUserMemory(h, &map, 1));
	}
	meet();
	if (!active)
		is(!RFM2gPeek32(h, PART(other) + CLAIMED, &stored) && stored == step - 1,
		   "a peek returns the word stored into the claimed range of the peer");
}

static void flushing(bool active)
{
	RFM2GXFLUSHED flushed = { 9, 9, 9 };

	if (!active)
		return;
	GIVES(SUCCESS, RFM2gxFlushTimeout(h, PATIENCE_MS, &flushed));
	is(flushed.Reached == 1 && !flushed.Behind && !flushed.Absent, "RFM2gxFlushTimeout() reaches one peer");
}

static void dark(bool active)
{
	RFM2G_UINT32 hidden = 0, shown = 0;
	RFM2G_BOOL on = 9;

	if (active) {
		GIVES(SUCCESS, RFM2gPoke32(h, PART(node) + DARK, 1));
		GIVES(SUCCESS, RFM2gSetTransmit(h, RFM2G_FALSE));
		is(!RFM2gGetTransmit(h, &on) && !on, "RFM2gSetTransmit() disables the transmitter");
		GIVES(SUCCESS, RFM2gPoke32(h, PART(node) + DARK, step));
		GIVES(SUCCESS, RFM2gSetTransmit(h, RFM2G_TRUE));
		GIVES(SUCCESS, RFM2gPoke32(h, PART(node) + DARK + 4, step));
	}
	meet();
	if (active)
		return;
	RFM2gPeek32(h, PART(other) + DARK, &hidden);
	RFM2gPeek32(h, PART(other) + DARK + 4, &shown);
	is(hidden == 1, "a word written with the transmitter off does not arrive: %u", hidden);
	is(shown == step - 1, "a word written with the transmitter on arrives: %u", shown);
}

/* The active node sends an event. The other node waits for it. */
static void event(bool active)
{
	RFM2GEVENTINFO came;
	RFM2GQINFO stats = { .Event = RFM2GEVENT_INTR1 };

	if (!active) {
		fresh(RFM2GEVENT_INTR1);
		GIVES(SUCCESS, RFM2gEnableEvent(h, RFM2GEVENT_INTR1));
	}
	meet();
	if (active) {
		GIVES(SUCCESS, RFM2gSendEvent(h, other, RFM2GEVENT_INTR1, 0xABCD0001));
		return;
	}
	GIVES(SUCCESS, take(RFM2GEVENT_INTR1, PATIENCE_MS, &came));
	is(is_event(&came, 0xABCD0001),
	   "the event has its sender and data: node %u, 0x%x", came.NodeId, came.ExtendedInfo);
	is(count(RFM2GEVENT_INTR1) == 1, "the event is counted");
	is(!RFM2gGetEventStats(h, &stats) && stats.EventCount == 1 && !stats.EventsQueued && !stats.Overflowed,
	   "the statistics have the event");
}

/*
 * The active node sends events. The other node clears them in each possible
 * way.
 */
static void queued(bool active)
{
	RFM2GQINFO stats = { .Event = RFM2GEVENT_INTR2 };
	RFM2GEVENTINFO came;

	if (!active) {
		fresh(RFM2GEVENT_INTR2);
		RFM2gEnableEvent(h, RFM2GEVENT_INTR2);
	}
	meet();
	for (RFM2G_UINT32 i = 1; active && i <= 3; i++)
		GIVES(SUCCESS, RFM2gSendEvent(h, RFM2G_NODE_ALL, RFM2GEVENT_INTR2, i));
	if (!active) {
		is(comes_to(RFM2GEVENT_INTR2, 3), "three events arrive");
		is(!RFM2gGetEventStats(h, &stats) && stats.EventsQueued == 3 && stats.QueuePeak >= 3,
		   "three events are queued");
		is(!take(RFM2GEVENT_INTR2, 0, &came) && is_event(&came, 1), "the first of three events is taken first");
		GIVES(SUCCESS, RFM2gFlushEventQueue(h, RFM2GEVENT_INTR2));
		GIVES(TIMED_OUT, take(RFM2GEVENT_INTR2, 0, &came));
		is(count(RFM2GEVENT_INTR2) == 3, "flushed events stay counted");
		GIVES(SUCCESS, RFM2gClearEventCount(h, RFM2GEVENT_INTR2));
		is(!count(RFM2GEVENT_INTR2), "RFM2gClearEventCount() clears the count");
	}
	meet();
	if (active)
		GIVES(SUCCESS, RFM2gSendEvent(h, other, RFM2GEVENT_INTR2, 4));
	if (!active) {
		is(comes_to(RFM2GEVENT_INTR2, 1), "an event arrives after the count was cleared");
		GIVES(SUCCESS, RFM2gClearEvent(h, RFM2GEVENT_INTR2));
		GIVES(TIMED_OUT, take(RFM2GEVENT_INTR2, 0, &came));
		GIVES(SUCCESS, RFM2gClearEventStats(h, RFM2GEVENT_INTR2));
		stats.Event = RFM2GEVENT_INTR2;
		is(!RFM2gGetEventStats(h, &stats) && !stats.EventCount && stats.QueuePeak <= 1,
		   "RFM2gClearEventStats() clears the statistics");
	}
}

/* Check that an event is queued while its type is disabled. */
static void disabled(bool active)
{
	RFM2GEVENTINFO came;

	if (!active) {
		fresh(RFM2GEVENT_INTR4);
		RFM2gEnableEvent(h, RFM2GEVENT_INTR4);
		GIVES(SUCCESS, RFM2gDisableEvent(h, RFM2GEVENT_INTR4));
	}
	meet();
	if (active)
		GIVES(SUCCESS, RFM2gSendEvent(h, other, RFM2GEVENT_INTR4, 44));
	meet();
	if (active)
		return;
	GIVES(TIMED_OUT, take(RFM2GEVENT_INTR4, 100, &came));
	GIVES(SUCCESS, RFM2gEnableEvent(h, RFM2GEVENT_INTR4));
	is(!take(RFM2GEVENT_INTR4, PATIENCE_MS, &came) && is_event(&came, 44),
	   "an event sent while its type was disabled is taken after enabling it");
}

static sem_t called;
static RFM2GEVENTINFO called_with;
static RFM2GHANDLE called_handle;

static void came(RFM2GHANDLE rh, RFM2GEVENTINFO *event)
{
	called_handle = rh;
	called_with = *event;
	sem_post(&called);
}

static bool is_called(unsigned int ms)
{
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += ms / 1000;
	end.tv_nsec += ms % 1000 * 1000000;
	end.tv_sec += end.tv_nsec / 1000000000;
	end.tv_nsec %= 1000000000;
	return !sem_timedwait(&called, &end);
}

static void callback(bool active)
{
	if (!active) {
		fresh(RFM2GEVENT_INTR3);
		GIVES(SUCCESS, RFM2gEnableEventCallback(h, RFM2GEVENT_INTR3, came));
		GIVES(SUCCESS, RFM2gEnableEvent(h, RFM2GEVENT_INTR3));
	}
	meet();
	for (RFM2G_UINT32 i = 1; i <= 2; i++) {
		if (active)
			GIVES(SUCCESS, RFM2gSendEvent(h, other, RFM2GEVENT_INTR3, 300 + i));
		else
			is(is_called(PATIENCE_MS) && called_handle == h && is_event(&called_with, 300 + i),
			   "the callback is called with event %u", 300 + i);
		meet();
	}
	if (!active)
		GIVES(SUCCESS, RFM2gDisableEventCallback(h, RFM2GEVENT_INTR3));
	meet();
	if (active)
		GIVES(SUCCESS, RFM2gSendEvent(h, other, RFM2GEVENT_INTR3, 303));
	meet();
	if (!active)
		is(!is_called(100) && comes_to(RFM2GEVENT_INTR3, 3), "a disabled callback is not called");
}

/*
 * Check the functions that only vrfm has, not the cards, while the peer is
 * down.
 */
static void absent(void)
{
	RFM2GXFLUSHED flushed = { 9, 9, 9 };
	RFM2GXPEER peer = { .Node = 999 };
	RFM2G_UINT32 n = 0;

	GIVES(SUCCESS, RFM2gxFlushTimeout(h, 1000, &flushed));
	is(!flushed.Reached && !flushed.Behind && flushed.Absent == 1, "RFM2gxFlushTimeout() counts one absent peer");
	GIVES(SUCCESS, RFM2gxPeers(h, &peer, sizeof(peer), 1, &n, NULL));
	is(n == 1 && peer.Node == other && peer.State == RFM2GX_DOWN && (peer.Error || peer.Refusal),
	   "the absent peer is down: error %u, refusal %u", peer.Error, peer.Refusal);
	GIVES(SUCCESS, RFM2gxClaim(h, PART(node), PAGE));
	GIVES(SUCCESS, RFM2gxUnclaim(h, PART(node), PAGE));
	GIVES(SUCCESS, RFM2gSendEvent(h, other, RFM2GEVENT_INTR1, 1));
	GIVES(SUCCESS, RFM2gPoke32(h, PART(node), 1));
}

/* Run each step twice. Each node is active in one of the two runs. */
static void both(void)
{
	static void (*const steps[])(bool active) = {
		states, data, claims, flushing, dark, event, queued, disabled, callback,
	};

	for (unsigned int i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		meet();
		steps[i](node < other);
		meet();
		steps[i](node > other);
	}
	meet();
}

int main(int argc, char **argv)
{
	if (argc != 5 && argc != 6)
		errx(2, "peer DEVICE NODE OTHER ROUND [alone]");
	node = strtoul(argv[2], NULL, 0);
	other = strtoul(argv[3], NULL, 0);
	step = strtoul(argv[4], NULL, 0) * 1000;
	sem_init(&called, 0, 0);
	if (RFM2gOpen(argv[1], &h))
		errx(2, "%s cannot be opened", argv[1]);
	if (argc == 6)
		absent();
	else
		both();
	gives(RFM2G_SUCCESS, RFM2gClose(&h), "closed");
	return 0;
}
