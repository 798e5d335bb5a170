// SPDX-License-Identifier: GPL-2.0
/*
 * Test rings and batches of librfm2g with a peer. This program runs on two
 * nodes at the same time. One of them sends, and the other one has a ring.
 *
 *   rings DEVICE NODE OTHER
 *
 * Print a line for each case: "0 CASE" if it succeeds, "1 CASE" if it fails.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <rfm2g_extras.h>

#include "meet.h"
#include "wrap.h"

/* Range that the other node writes, and one that this node writes. */
#define THEIRS 0x8000
#define OURS 0x18000
/* A range for each node. */
#define MANUAL 0x40000
#define BIT(n) (1U << (n))
#define EVENTS (BIT(RFM2GEVENT_INTR1) | BIT(RFM2GEVENT_INTR2))
#define BURST 100

static RFM2GXRING ring;

/* Return the next record; wait for it. An empty record shows a timeout. */
static const RFM2GXRECORD *next(void)
{
	static const RFM2GXRECORD none;
	const RFM2GXRECORD *record = NULL;

	RFM2gxRingNext(ring, &record);
	if (record)
		return record;
	RFM2gxRingWait(ring, 1, 0, PATIENCE_MS);
	RFM2gxRingNext(ring, &record);
	return record ? record : &none;
}

static bool is_empty(void)
{
	const RFM2GXRECORD *record = NULL;

	return !RFM2gxRingNext(ring, &record) && !record;
}

static RFM2G_STATUS events(RFM2G_UINT32 flags, RFM2G_UINT64 cookie)
{
	return RFM2gxRingSubscribe(ring, &(RFM2GXSUBSCRIPTION){
		.What = RFM2GX_SUB_EVENTS, .Flags = flags, .Events = EVENTS, .Cookie = cookie });
}

static RFM2G_STATUS range(RFM2G_UINT32 offset, RFM2G_UINT32 length, RFM2G_UINT32 flags)
{
	return RFM2gxRingSubscribe(ring, &(RFM2GXSUBSCRIPTION){
		.What = RFM2GX_SUB_RANGE, .Flags = flags, .Offset = offset, .Length = length, .Cookie = 3 });
}

static void opening(void)
{
	RFM2GXRING no = NULL;
	int fd = -1;

	GIVES(NULL_DESCRIPTOR, RFM2gxRingOpen(NULL, 64, CLOCK_MONOTONIC, &no));
	GIVES(BAD_PARAMETER_2, RFM2gxRingOpen(h, 63, CLOCK_MONOTONIC, &no));
	GIVES(BAD_PARAMETER_2, RFM2gxRingOpen(h, 65, CLOCK_MONOTONIC, &no));
	GIVES(BAD_PARAMETER_2, RFM2gxRingOpen(h, 2097152, CLOCK_MONOTONIC, &no));
	GIVES(BAD_PARAMETER_3, RFM2gxRingOpen(h, 64, CLOCK_PROCESS_CPUTIME_ID, &no));
	GIVES(BAD_PARAMETER_4, RFM2gxRingOpen(h, 64, CLOCK_MONOTONIC, NULL));
	wrap_no_mmap(true);
	GIVES(LOW_MEMORY, RFM2gxRingOpen(h, 64, CLOCK_MONOTONIC, &no));
	wrap_no_mmap(false);
	is(!no, "no ring after a failure");
	GIVES(SUCCESS, RFM2gxRingOpen(h, 64, CLOCK_MONOTONIC, &ring));
	GIVES(NULL_DESCRIPTOR, RFM2gxRingFd(NULL, &fd));
	GIVES(BAD_PARAMETER_2, RFM2gxRingFd(ring, NULL));
	GIVES(SUCCESS, RFM2gxRingFd(ring, &fd));
	is(fd >= 0, "the ring has a descriptor");
	GIVES(NULL_DESCRIPTOR, RFM2gxRingSubscribe(NULL, NULL));
	GIVES(BAD_PARAMETER_2, RFM2gxRingSubscribe(ring, NULL));
	GIVES(BAD_PARAMETER_2, RFM2gxRingSubscribe(ring, &(RFM2GXSUBSCRIPTION){ .What = 99 }));
	GIVES(BAD_PARAMETER_2, events(1, 0));
	GIVES(BAD_PARAMETER_2, range(0xFFFFFFFF, 4, 0));
	GIVES(NULL_DESCRIPTOR, RFM2gxRingUnsubscribe(NULL, 0));
	GIVES(NOT_ENABLED, RFM2gxRingUnsubscribe(ring, 77));
	GIVES(NULL_DESCRIPTOR, RFM2gxRingNext(NULL, NULL));
	GIVES(BAD_PARAMETER_2, RFM2gxRingNext(ring, NULL));
	GIVES(NULL_DESCRIPTOR, RFM2gxRingRelease(NULL));
	GIVES(NULL_DESCRIPTOR, RFM2gxRingWait(NULL, 0, 0, 0));
	GIVES(BAD_PARAMETER_2, RFM2gxRingWait(ring, 65, 0, 0));
	GIVES(TIMED_OUT, RFM2gxRingWait(ring, 1, 0, 20));
	GIVES(SUCCESS, RFM2gxRingWait(ring, 0, 0, 0));
	is(is_empty(), "a new ring is empty");
	GIVES(NULL_DESCRIPTOR, RFM2gxRingClose(&no));
	GIVES(BAD_PARAMETER_1, RFM2gxRingClose(NULL));
}

/* The other node sends events: copies, a burst, and events that are taken. */
static void events_received(void)
{
	RFM2GEVENTINFO info = { .Event = RFM2GEVENT_INTR1, .Timeout = 0 };
	const RFM2GXRECORD *record;
	struct pollfd fd = { .events = POLLIN };
	volatile RFM2G_UINT32 *indices;
	RFM2G_UINT64 lost = 0, got = 0;
	unsigned int i;

	GIVES(SUCCESS, events(0, 5));
	RFM2gxRingFd(ring, &fd.fd);
	meet();
	is(poll(&fd, 1, PATIENCE_MS) == 1, "poll() on the descriptor of a ring returns when an event arrives");
	for (i = 0; i < 3; i++) {
		record = next();
		is(record->Type == RFM2GX_EVENT && record->Node == other && record->Cookie == 5 &&
		   record->u.Event.Event == RFM2GEVENT_INTR1 && record->u.Event.ExtendedInfo == 100 + i,
		   "event %u: type %u from node %u with %u", i, record->Type, record->Node,
		   record->u.Event.ExtendedInfo);
	}
	GIVES(SUCCESS, RFM2gxRingRelease(ring));
	/* The first two words are the indices head and wake. */
	indices = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd.fd, 0);
	is(indices != MAP_FAILED && indices[0] == 3 && indices[1] == 3,
	   "a release moves both indices, so poll() reports the next record");
	munmap((void *)indices, 4096);
	meet();
	/* The ring has 64 slots, and the other node sends more events. */
	meet();
	while (lost + got < BURST) {
		record = next();
		if (record->Type == RFM2GX_EVENT)
			got++;
		else if (record->Type == RFM2GX_LOST)
			lost += record->u.Lost.Count;
		else
			break;
	}
	is(lost + got == BURST && lost, "%llu of %d events are in the ring, and %llu are reported as lost",
	   (unsigned long long)got, BURST, (unsigned long long)lost);
	GIVES(SUCCESS, RFM2gxRingUnsubscribe(ring, 5));
	GIVES(NOT_ENABLED, RFM2gxRingUnsubscribe(ring, 5));
	RFM2gFlushEventQueue(h, RFM2GEVENT_INTR1);
	RFM2gEnableEvent(h, RFM2GEVENT_INTR1);
	RFM2gEnableEvent(h, RFM2GEVENT_INTR2);
	GIVES(SUCCESS, events(RFM2GX_SUB_TAKE, 6));
	GIVES(EVENT_IN_USE, events(RFM2GX_SUB_TAKE, 7));
	GIVES(EVENT_IN_USE, RFM2gWaitForEvent(h, &info));
	meet();
	record = next();
	is(record->Type == RFM2GX_EVENT && record->Cookie == 6 && record->u.Event.ExtendedInfo == 200,
	   "an event is taken from the queue");
	GIVES(SUCCESS, RFM2gCancelWaitForEvent(h, RFM2GEVENT_INTR1));
	record = next();
	is(record->Type == RFM2GX_EVENT && record->Flags & RFM2GX_CANCELLED, "a record reports the cancellation");
	GIVES(SUCCESS, RFM2gxRingUnsubscribe(ring, 6));
}

static void events_sent(void)
{
	unsigned int i;

	meet();
	for (i = 0; i < 3; i++)
		RFM2gSendEvent(h, other, RFM2GEVENT_INTR1, 100 + i);
	meet();
	for (i = 0; i < BURST; i++)
		RFM2gSendEvent(h, other, RFM2GEVENT_INTR1, i);
	meet();
	meet();
	RFM2gSendEvent(h, other, RFM2GEVENT_INTR1, 200);
}

/* Notices of writes of both nodes, and the wake-up by number and by time. */
static void writes_received(void)
{
	const RFM2GXRECORD *record;
	RFM2G_UINT8 bytes[10] = { 0 };

	GIVES(SUCCESS, range(THEIRS, 4096, 0));
	GIVES(SUCCESS, range(OURS, 4096, RFM2GX_SUB_OWN));
	meet();
	record = next();
	RFM2gRead(h, THEIRS + 100, bytes, sizeof(bytes));
	is(record->Type == RFM2GX_WRITTEN && record->Node == other && record->Offset == THEIRS + 100 &&
	   record->Length == 10 && record->u.Written.Bytes == 10 && !(record->Flags & RFM2GX_OWN),
	   "a notice names the writer and the range: node %u, offset %u, length %u", record->Node, record->Offset,
	   record->Length);
	is(!memcmp(bytes, "0123456789", 10), "the memory has the bytes of a notice");
	RFM2gPoke32(h, OURS + 8, step);
	record = next();
	is(record->Type == RFM2GX_WRITTEN && record->Node == node && record->Offset == OURS + 8 &&
	   record->Flags & RFM2GX_OWN,
	   "a notice about a write of this node");
	GIVES(TIMED_OUT, RFM2gxRingWait(ring, 2, 0, 20));
	RFM2gPoke32(h, OURS + 8, 0);
	GIVES(TIMED_OUT, RFM2gxRingWait(ring, 2, 0, 20));
	GIVES(SUCCESS, RFM2gxRingWait(ring, 2, 1000, PATIENCE_MS));
	is(next()->Type == RFM2GX_WRITTEN && is_empty(), "a wait with a time of wake-up ends with one record");
	GIVES(SUCCESS, RFM2gxRingUnsubscribe(ring, 3));
}

static void writes_sent(void)
{
	meet();
	RFM2gWrite(h, THEIRS + 100, "0123456789", 10);
}

static void links(void)
{
	const RFM2GXRECORD *record;

	GIVES(SUCCESS, RFM2gxRingSubscribe(ring, &(RFM2GXSUBSCRIPTION){ .What = RFM2GX_SUB_LINKS, .Cookie = 9 }));
	record = next();
	is(record->Type == RFM2GX_LINK && record->Node == other && record->u.Link.State == RFM2GX_READY &&
	   record->u.Link.Flags & RFM2GX_PRESENT, "the first record of a peer has its state: %u", record->u.Link.State);
	GIVES(SUCCESS, RFM2gxRingUnsubscribe(ring, 9));
}

/* The other node sends batches, each with two blocks and an event. */
static void batches_received(void)
{
	const RFM2GXRECORD *record;
	RFM2G_UINT32 a, b, wrong = 0;
	unsigned int i;

	GIVES(SUCCESS, events(0, 5));
	meet();
	for (i = 1; i <= 20; i++) {
		record = next();
		RFM2gPeek32(h, THEIRS, &a);
		RFM2gPeek32(h, THEIRS + 2048, &b);
		wrong += record->Type != RFM2GX_EVENT || record->u.Event.ExtendedInfo != i || a < i || b < i;
	}
	is(!wrong, "each event of a batch follows both blocks: %u wrong", wrong);
	GIVES(SUCCESS, RFM2gxRingUnsubscribe(ring, 5));
}

static void batches_sent(void)
{
	RFM2G_UINT32 i, wrong = 0;
	RFM2GXBATCHED batched = { 0 };
	RFM2GXOP ops[3] = {
		{ .Op = RFM2GX_OP_WRITE, .Offset = THEIRS, .Length = sizeof(i), .Source = &i },
		{ .Op = RFM2GX_OP_WRITE, .Offset = THEIRS + 2048, .Length = sizeof(i), .Source = &i },
		{ .Op = RFM2GX_OP_EVENT, .Event = RFM2GEVENT_INTR2, .ToNode = other },
	};

	meet();
	for (i = 1; i <= 20; i++) {
		ops[2].ExtendedInfo = i;
		wrong += RFM2gxBatch(h, ops, 3, RFM2GX_BATCH_ACKED, PATIENCE_MS, &batched) || batched.Reached != 1 ||
			 batched.Behind || batched.Absent || !batched.Serial;
	}
	is(!wrong, "batches that the peer has applied: %u wrong", wrong);
	GIVES(SUCCESS, RFM2gxBatch(h, ops, 2, 0, 0, NULL));
	GIVES(NULL_DESCRIPTOR, RFM2gxBatch(NULL, ops, 2, 0, 0, NULL));
	GIVES(BAD_PARAMETER_2, RFM2gxBatch(h, NULL, 1, 0, 0, NULL));
	GIVES(BAD_PARAMETER_3, RFM2gxBatch(h, ops, 0, 0, 0, NULL));
	GIVES(BAD_PARAMETER_3, RFM2gxBatch(h, ops, RFM2GX_BATCH_OPS + 1, 0, 0, NULL));
	GIVES(BAD_PARAMETER_4, RFM2gxBatch(h, ops, 1, 1, 0, NULL));
	ops[1].Length = 0;
	GIVES(BAD_PARAMETER_2, RFM2gxBatch(h, ops, 3, 0, 0, &batched));
	is(batched.Failed == 1, "the index of an invalid operation is returned: %u", batched.Failed);
	ops[1].Length = 0xFFFFFFFF;
	GIVES(OUT_OF_RANGE, RFM2gxBatch(h, ops, 3, 0, 0, &batched));
	is(batched.Failed == 1, "the index of an operation beyond the memory is returned: %u", batched.Failed);
	ops[1].Length = 4;
	ops[1].Source = (void *)8;
	GIVES(OS_ERROR, RFM2gxBatch(h, ops, 3, 0, 0, NULL));
	ops[0].Op = 1000;
	GIVES(BAD_PARAMETER_2, RFM2gxBatch(h, ops, 1, 0, 0, NULL));
}

/* Each node publishes a range of its own, which is longer than a batch, and waits for that of the other one. */
static void published_memory(void)
{
	const RFM2G_UINT32 mine = MANUAL + (node > other) * 2 * RFM2GX_BATCH_BYTES;
	const RFM2G_UINT32 last = 2 * RFM2GX_BATCH_BYTES - 4;
	const RFM2G_UINT32 theirs = MANUAL + (node < other) * 2 * RFM2GX_BATCH_BYTES;
	volatile void *mem = NULL;
	RFM2G_UINT32 value = 0, i;

	GIVES(NULL_DESCRIPTOR, RFM2gxManualMemory(NULL, &mem, 0, 1));
	GIVES(BAD_PARAMETER_2, RFM2gxManualMemory(h, NULL, 0, 1));
	GIVES(BAD_PARAMETER_3, RFM2gxManualMemory(h, &mem, 1, 1));
	GIVES(BAD_PARAMETER_4, RFM2gxManualMemory(h, &mem, 0, 0));
	GIVES(OUT_OF_RANGE, RFM2gxManualMemory(h, &mem, 0, 0xFFFFFFFF));
	GIVES(OUT_OF_RANGE, RFM2gxManualMemory(h, &mem, 1ULL << 40, 1));
	GIVES(NULL_DESCRIPTOR, RFM2gxPublish(NULL, 0, 4));
	GIVES(BAD_PARAMETER_3, RFM2gxPublish(h, 0, 0));
	GIVES(OUT_OF_RANGE, RFM2gxPublish(h, 0xFFFFFFFF, 4));
	GIVES(SUCCESS, RFM2gxManualMemory(h, &mem, mine, 2 * RFM2GX_BATCH_BYTES / 4096));
	((volatile RFM2G_UINT32 *)mem)[last / 4] = 77;
	GIVES(SUCCESS, RFM2gxPublish(h, mine, 2 * RFM2GX_BATCH_BYTES));
	for (i = 0; i < PATIENCE_MS && value != 77; i++) {
		RFM2gPeek32(h, theirs + last, &value);
		usleep(1000);
	}
	is(value == 77, "the last word that the other node has published arrives: %u", value);
	GIVES(SUCCESS, RFM2gUnMapUserMemory(h, &mem, 2 * RFM2GX_BATCH_BYTES / 4096));
	is(!mem, "the manual mapping is removed");
}

static RFM2G_STATUS wait_for_done(RFM2GXRING submits, RFM2G_UINT64 cookie, int result, unsigned int reached)
{
	const RFM2GXRECORD *record = NULL;
	RFM2G_STATUS ret = RFM2gxRingWait(submits, 1, 0, PATIENCE_MS);

	if (ret)
		return ret;
	RFM2gxRingNext(submits, &record);
	return record && record->Type == RFM2GX_DONE && record->Cookie == cookie && record->u.Done.Result == result &&
	       record->u.Done.Reached == reached ? RFM2G_SUCCESS : RFM2G_DRIVER_ERROR;
}

static void batches_submitted(void)
{
	RFM2G_UINT32 value = 5, i;
	RFM2GXOP ops[2] = {
		{ .Op = RFM2GX_OP_WRITE, .Offset = OURS + node * 8, .Length = sizeof(value), .Source = &value },
		{ .Op = RFM2GX_OP_WRITE, .Offset = OURS + node * 8 + 4, .Length = sizeof(value), .Source = &value },
	};
	RFM2GXRING submits = NULL;

	GIVES(NULL_DESCRIPTOR, RFM2gxRingOpenSubmit(NULL, 64, 8, CLOCK_MONOTONIC, &submits));
	GIVES(BAD_PARAMETER_2, RFM2gxRingOpenSubmit(h, 32, 8, CLOCK_MONOTONIC, &submits));
	GIVES(BAD_PARAMETER_3, RFM2gxRingOpenSubmit(h, 64, 4, CLOCK_MONOTONIC, &submits));
	GIVES(BAD_PARAMETER_4, RFM2gxRingOpenSubmit(h, 64, 8, CLOCK_PROCESS_CPUTIME_ID, &submits));
	GIVES(BAD_PARAMETER_5, RFM2gxRingOpenSubmit(h, 64, 8, CLOCK_MONOTONIC, NULL));
	GIVES(NOT_SUPPORTED, RFM2gxSubmit(ring, ops, 1, 0, 0));
	GIVES(SUCCESS, RFM2gxRingOpenSubmit(h, 64, 8, CLOCK_MONOTONIC, &submits));
	GIVES(NULL_DESCRIPTOR, RFM2gxSubmit(NULL, ops, 1, 0, 0));
	GIVES(BAD_PARAMETER_2, RFM2gxSubmit(submits, NULL, 1, 0, 0));
	GIVES(BAD_PARAMETER_3, RFM2gxSubmit(submits, ops, 0, 0, 0));
	GIVES(BAD_PARAMETER_3, RFM2gxSubmit(submits, ops, 9, 0, 0));
	GIVES(BAD_PARAMETER_4, RFM2gxSubmit(submits, ops, 1, 1, 0));
	GIVES(SUCCESS, RFM2gxSubmit(submits, ops, 2, RFM2GX_BATCH_ACKED, 9));
	GIVES(SUCCESS, wait_for_done(submits, 9, 0, 1));
	RFM2gPeek32(h, OURS + node * 8 + 4, &value);
	is(value == 5, "a submitted batch is stored: %u", value);
	ops[1].Length = 0;
	GIVES(SUCCESS, RFM2gxSubmit(submits, ops, 2, 0, 10));
	GIVES(SUCCESS, wait_for_done(submits, 10, -EINVAL, 0));
	for (i = 0; i < 8; i++)
		RFM2gxSubmit(submits, ops, 1, 0, 11);
	GIVES(LOW_MEMORY, RFM2gxSubmit(submits, ops, 1, 0, 11));
	GIVES(SUCCESS, RFM2gxRingWait(submits, 0, 0, 0));
	GIVES(SUCCESS, RFM2gxSubmit(submits, ops, 1, RFM2GX_BATCH_DONE, 12));
	GIVES(SUCCESS, wait_for_done(submits, 12, 0, 0));
	GIVES(SUCCESS, RFM2gxRingClose(&submits));
}

static RFM2GXRING donated_to;

static void *donated(void *arg)
{
	(void)arg;
	return (void *)(intptr_t)RFM2gxRingLoop(donated_to, 0);
}

/* A thread executes what this one submits. */
static void batches_executed_by_thread(void)
{
	RFM2G_UINT32 value = 77, i, missing = 0;
	RFM2GXOP op = { .Op = RFM2GX_OP_WRITE, .Offset = OURS + node * 8, .Length = sizeof(value), .Source = &value };
	pthread_t thread;
	void *ret;

	GIVES(NULL_DESCRIPTOR, RFM2gxRingLoop(NULL, 0));
	GIVES(NULL_DESCRIPTOR, RFM2gxRingStop(NULL));
	GIVES(NOT_SUPPORTED, RFM2gxRingLoop(ring, 0));
	GIVES(NOT_SUPPORTED, RFM2gxRingStop(ring));
	RFM2gxRingOpenSubmit(h, 64, 8, CLOCK_MONOTONIC, &donated_to);
	GIVES(BAD_PARAMETER_2, RFM2gxRingLoop(donated_to, 1000001));
	pthread_create(&thread, NULL, donated, NULL);
	for (i = 0; i < 100; i++) {
		while (RFM2gxSubmit(donated_to, &op, 1, RFM2GX_BATCH_DONE, i) == RFM2G_LOW_MEMORY)
			usleep(1000);
		missing += !!wait_for_done(donated_to, i, 0, 0);
	}
	is(!missing, "batches that a thread executes: %u of 100 are missing", missing);
	/* The thread may begin late, so repeat this. */
	do {
		usleep(1000);
		RFM2gxRingStop(donated_to);
	} while (pthread_tryjoin_np(thread, &ret));
	GIVES(SUCCESS, (RFM2G_STATUS)(intptr_t)ret);
	GIVES(SUCCESS, RFM2gxRingClose(&donated_to));
}

/* Leave no events to the programs that run afterwards. */
static void forget_events(void)
{
	RFM2GEVENTTYPE type;

	for (type = RFM2GEVENT_INTR1; type <= RFM2GEVENT_INTR2; type++) {
		RFM2gDisableEvent(h, type);
		RFM2gClearEvent(h, type);
		RFM2gClearEventCount(h, type);
	}
}

int main(int argc, char **argv)
{
	int round;

	if (argc != 4)
		errx(2, "rings DEVICE NODE OTHER");
	node = strtoul(argv[2], NULL, 0);
	other = strtoul(argv[3], NULL, 0);
	step = 100000;
	if (RFM2gOpen(argv[1], &h))
		errx(2, "%s cannot be opened", argv[1]);
	opening();
	for (round = 0; round < 2; round++) {
		bool receives = (node < other) == !round;

		meet();
		(receives ? events_received : events_sent)();
		meet();
		(receives ? writes_received : writes_sent)();
		meet();
		(receives ? batches_received : batches_sent)();
	}
	published_memory();
	meet();
	batches_submitted();
	batches_executed_by_thread();
	meet();
	links();
	meet();
	GIVES(SUCCESS, RFM2gxRingClose(&ring));
	is(!ring, "RFM2gxRingClose() sets the ring to NULL");
	forget_events();
	gives(RFM2G_SUCCESS, RFM2gClose(&h), "closed");
	return 0;
}
