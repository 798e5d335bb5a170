// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Rings and batches of vrfm, see include/uapi/vrfm.h.
 *
 * A ring does not depend on its handle: its descriptor holds the open device.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "rfm2g_extras.h"

#include "priv.h"

#include "../../include/uapi/vrfm.h"

#define SAME(member, their) \
	_Static_assert(offsetof(RFM2GXRECORD, member) == \
		       offsetof(struct vrfm_record, their), #member)

_Static_assert(sizeof(RFM2GXRECORD) == sizeof(struct vrfm_record), "record");
SAME(Node, node);
SAME(Offset, offset);
SAME(Serial, serial);
SAME(TimeNs, time_ns);
SAME(u.Lost.Count, lost.count);
SAME(u.Event.ExtendedInfo, event.data);
SAME(u.Written.Messages, written.messages);
SAME(u.Link.Error, link.error);
SAME(u.Image.Loading, image.state);
SAME(u.Done.First, done.first);
SAME(u.Done.Failed, done.failed);
_Static_assert(RFM2GX_LOST == VRFM_REC_LOST, "lost");
_Static_assert(RFM2GX_EVENT == VRFM_REC_EVENT, "event");
_Static_assert(RFM2GX_WRITTEN == VRFM_REC_WRITTEN, "written");
_Static_assert(RFM2GX_LINK == VRFM_REC_LINK, "link");
_Static_assert(RFM2GX_IMAGE == VRFM_REC_IMAGE, "image");
_Static_assert(RFM2GX_DONE == VRFM_REC_DONE, "done");
_Static_assert(RFM2GX_BATCH_DONE == VRFM_OP_DONE, "report");
_Static_assert(RFM2GX_MERGED == VRFM_REC_MERGED, "merged");
_Static_assert(RFM2GX_OWN == VRFM_REC_OWN, "own");
_Static_assert(RFM2GX_CANCELLED == VRFM_REC_CANCELLED, "cancelled");
_Static_assert(RFM2GX_NO_NODE == VRFM_REC_NO_NODE, "no node");
_Static_assert(RFM2GX_PRESENT == VRFM_STATUS_PRESENT, "present");
_Static_assert(RFM2GX_SUB_EVENTS == VRFM_SUB_EVENTS, "events");
_Static_assert(RFM2GX_SUB_RANGE == VRFM_SUB_RANGE, "range");
_Static_assert(RFM2GX_SUB_LINKS == VRFM_SUB_LINKS, "links");
_Static_assert(RFM2GX_SUB_TAKE == VRFM_SUB_TAKE, "take");
_Static_assert(RFM2GX_SUB_OWN == VRFM_SUB_OWN, "own writes");
_Static_assert(RFM2GX_OP_WRITE == VRFM_OP_WRITE, "write");
_Static_assert(RFM2GX_OP_PUBLISH == VRFM_OP_PUBLISH, "publish");
_Static_assert(RFM2GX_OP_EVENT == VRFM_OP_EVENT, "send");
_Static_assert(RFM2GX_BATCH_OPS == VRFM_BATCH_OPS, "operations");
_Static_assert(RFM2GX_BATCH_BYTES == VRFM_BATCH_BYTES, "bytes");
_Static_assert(RFM2GX_BATCH_EVENTS == VRFM_BATCH_EVENTS, "events");
_Static_assert(RFM2GX_BATCH_ACKED == VRFM_OP_ACKED, "acked");
_Static_assert(RFM2GX_BATCH_NOFLUSH == VRFM_OP_NOFLUSH, "no flush");

/**
 * struct rfm2gxRing - a ring
 * @fd: descriptor of the ring
 * @ring: sizes of the two areas and number of slots
 * @user: area that the library writes
 * @kernel: area that the driver writes
 * @next: index of the record that RFM2gxRingNext() returns next
 */
struct rfm2gxRing {
	int fd;
	struct vrfm_ring ring;
	struct vrfm_ring_user *user;
	const struct vrfm_ring_kernel *kernel;
	uint32_t next;
};

static const struct rfm2g_meaning rfm2g_open_meanings[] = {
	{ ENOTTY, RFM2G_NOT_SUPPORTED },
	{ ENOMEM, RFM2G_LOW_MEMORY },
	{ ENOSPC, RFM2G_LOW_MEMORY },
	{ EMFILE, RFM2G_LOW_MEMORY },
	{ ENFILE, RFM2G_LOW_MEMORY },
	{ 0, RFM2G_OS_ERROR },
};

static const struct rfm2g_meaning rfm2g_subscribe_meanings[] = {
	{ EALREADY, RFM2G_EVENT_IN_USE },
	{ EINVAL, RFM2G_BAD_PARAMETER_2 },
	{ E2BIG, RFM2G_BAD_PARAMETER_2 },
	{ ENOENT, RFM2G_NOT_ENABLED },
	{ ENOMEM, RFM2G_LOW_MEMORY },
	{ ENOSPC, RFM2G_LOW_MEMORY },
	{ ETIMEDOUT, RFM2G_TIMED_OUT },
	{ EINTR, RFM2G_SIGNALED },
	{ ENODEV, RFM2G_WAIT_EVENT_CANCELED },
	{ 0, RFM2G_OS_ERROR },
};

static const struct rfm2g_meaning rfm2g_enter_meanings[] = {
	{ EINVAL, RFM2G_BAD_PARAMETER_2 },
	{ EAGAIN, RFM2G_LOW_MEMORY },
	{ ETIMEDOUT, RFM2G_TIMED_OUT },
	{ EINTR, RFM2G_SIGNALED },
	{ ENODEV, RFM2G_WAIT_EVENT_CANCELED },
	{ 0, RFM2G_OS_ERROR },
};

static const struct rfm2g_meaning rfm2g_loop_meanings[] = {
	{ EBUSY, RFM2G_ALREADY_ENABLED },
	{ EINVAL, RFM2G_NOT_SUPPORTED },
	{ EINTR, RFM2G_SIGNALED },
	{ EIDRM, RFM2G_WAIT_EVENT_CANCELED },
	{ ENODEV, RFM2G_WAIT_EVENT_CANCELED },
	{ 0, RFM2G_OS_ERROR },
};

static const struct rfm2g_meaning rfm2g_batch_meanings[] = {
	{ ENOTTY, RFM2G_NOT_SUPPORTED },
	{ EINVAL, RFM2G_BAD_PARAMETER_2 },
	{ E2BIG, RFM2G_BAD_PARAMETER_3 },
	{ ETIMEDOUT, RFM2G_TIMED_OUT },
	{ EINTR, RFM2G_SIGNALED },
	{ ENOMEM, RFM2G_LOW_MEMORY },
	{ 0, RFM2G_OS_ERROR },
};

static void rfm2g_ring_free(struct rfm2gxRing *ring)
{
	if (ring->user)
		munmap(ring->user, ring->ring.user_len);
	if (ring->kernel)
		munmap((void *)ring->kernel, ring->ring.kernel_len);
	if (ring->fd >= 0)
		close(ring->fd);
	free(ring);
}

static void *rfm2g_ring_area(const struct rfm2gxRing *ring, size_t len,
			     int prot, off_t offset)
{
	void *area = mmap(NULL, len, prot, MAP_SHARED, ring->fd, offset);

	return area == MAP_FAILED ? NULL : area;
}

static RFM2G_STATUS rfm2g_ring_make(const struct rfm2g_handle *h,
				    struct rfm2gxRing *ring)
{
	ring->fd = ioctl(h->fd, VRFM_RING, &ring->ring);
	if (ring->fd < 0)
		return rfm2g_status(rfm2g_open_meanings);
	ring->user = rfm2g_ring_area(ring, ring->ring.user_len,
				     PROT_READ | PROT_WRITE, 0);
	ring->kernel = rfm2g_ring_area(ring, ring->ring.kernel_len, PROT_READ,
				       ring->ring.kernel_at);
	return ring->user && ring->kernel ? RFM2G_SUCCESS : RFM2G_LOW_MEMORY;
}

static RFM2G_STATUS rfm2g_ring_new(const struct rfm2g_handle *h,
				   RFM2G_UINT32 slots, RFM2G_UINT32 submits,
				   int clock, RFM2GXRING *result)
{
	struct rfm2gxRing *ring = calloc(1, sizeof(*ring));
	RFM2G_STATUS ret;

	if (!ring)
		return RFM2G_LOW_MEMORY;
	ring->ring.size = sizeof(ring->ring);
	ring->ring.slots = slots;
	ring->ring.submits = submits;
	ring->ring.clock = clock;
	ret = rfm2g_ring_make(h, ring);
	if (ret)
		rfm2g_ring_free(ring);
	else
		*result = ring;
	return ret;
}

static bool rfm2g_is_clock(int clock)
{
	return clock == CLOCK_MONOTONIC || clock == CLOCK_REALTIME ||
	       clock == CLOCK_TAI || clock == CLOCK_BOOTTIME;
}

static bool rfm2g_is_power(RFM2G_UINT32 n, RFM2G_UINT32 min, RFM2G_UINT32 max)
{
	return n >= min && n <= max && !(n & (n - 1));
}

static RFM2G_STATUS rfm2g_ring_open(const struct rfm2g_handle *h,
				    RFM2G_UINT32 slots, RFM2G_UINT32 submits,
				    int clock, RFM2GXRING *ring)
{
	RFM2G_STATUS ret;
	int cancel;

	*ring = NULL;
	/* A cancelled thread would not free the ring. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	ret = rfm2g_ring_new(h, slots, submits, clock, ring);
	pthread_setcancelstate(cancel, NULL);
	return ret;
}

STDRFM2GCALL RFM2gxRingOpen(RFM2GHANDLE rh, RFM2G_UINT32 Slots, int Clock,
			    RFM2GXRING *Ring)
{
	struct rfm2g_handle *h;
	RFM2G_STATUS ret = rfm2g_enter(rh, &h);

	if (ret)
		return ret;
	if (!rfm2g_is_power(Slots, VRFM_RING_SLOTS_MIN, VRFM_RING_SLOTS_MAX))
		ret = RFM2G_BAD_PARAMETER_2;
	else if (!rfm2g_is_clock(Clock))
		ret = RFM2G_BAD_PARAMETER_3;
	else if (!Ring)
		ret = RFM2G_BAD_PARAMETER_4;
	else
		ret = rfm2g_ring_open(h, Slots, 0, Clock, Ring);
	rfm2g_leave();
	return ret;
}

STDRFM2GCALL RFM2gxRingOpenSubmit(RFM2GHANDLE rh, RFM2G_UINT32 Slots,
				  RFM2G_UINT32 Entries, int Clock,
				  RFM2GXRING *Ring)
{
	struct rfm2g_handle *h;
	RFM2G_STATUS ret = rfm2g_enter(rh, &h);

	if (ret)
		return ret;
	if (!rfm2g_is_power(Slots, VRFM_RING_SLOTS_MIN, VRFM_RING_SLOTS_MAX))
		ret = RFM2G_BAD_PARAMETER_2;
	else if (!rfm2g_is_power(Entries, VRFM_RING_SUBMITS_MIN,
				 VRFM_RING_SUBMITS_MAX))
		ret = RFM2G_BAD_PARAMETER_3;
	else if (!rfm2g_is_clock(Clock))
		ret = RFM2G_BAD_PARAMETER_4;
	else if (!Ring)
		ret = RFM2G_BAD_PARAMETER_5;
	else
		ret = rfm2g_ring_open(h, Slots, Entries, Clock, Ring);
	rfm2g_leave();
	return ret;
}

STDRFM2GCALL RFM2gxRingClose(RFM2GXRING *Ring)
{
	int cancel;

	if (!Ring)
		return RFM2G_BAD_PARAMETER_1;
	if (!*Ring)
		return RFM2G_NULL_DESCRIPTOR;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	rfm2g_ring_free(*Ring);
	pthread_setcancelstate(cancel, NULL);
	*Ring = NULL;
	return RFM2G_SUCCESS;
}

STDRFM2GCALL RFM2gxRingFd(RFM2GXRING Ring, int *Fd)
{
	if (!Ring)
		return RFM2G_NULL_DESCRIPTOR;
	if (!Fd)
		return RFM2G_BAD_PARAMETER_2;
	*Fd = Ring->fd;
	return RFM2G_SUCCESS;
}

STDRFM2GCALL RFM2gxRingSubscribe(RFM2GXRING Ring,
				 const RFM2GXSUBSCRIPTION *Subscription)
{
	struct vrfm_subscribe sub;

	if (!Ring)
		return RFM2G_NULL_DESCRIPTOR;
	if (!Subscription || Subscription->Reserved ||
	    Subscription->Flags & VRFM_SUB_REMOVE)
		return RFM2G_BAD_PARAMETER_2;
	sub = (struct vrfm_subscribe){
		.what = Subscription->What,
		.flags = Subscription->Flags,
		.offset = Subscription->Offset,
		.length = Subscription->Length,
		.cookie = Subscription->Cookie,
		.events = Subscription->Events,
	};
	memcpy(sub.nodes, Subscription->Nodes, sizeof(sub.nodes));
	if (ioctl(Ring->fd, VRFM_RING_SUBSCRIBE, &sub))
		return rfm2g_status(rfm2g_subscribe_meanings);
	return RFM2G_SUCCESS;
}

STDRFM2GCALL RFM2gxRingUnsubscribe(RFM2GXRING Ring, RFM2G_UINT64 Cookie)
{
	struct vrfm_subscribe sub = {
		.flags = VRFM_SUB_REMOVE,
		.cookie = Cookie,
	};

	if (!Ring)
		return RFM2G_NULL_DESCRIPTOR;
	if (ioctl(Ring->fd, VRFM_RING_SUBSCRIBE, &sub))
		return rfm2g_status(rfm2g_subscribe_meanings);
	return RFM2G_SUCCESS;
}

STDRFM2GCALL RFM2gxRingNext(RFM2GXRING Ring, const RFM2GXRECORD **Record)
{
	const RFM2GXRECORD *records, *record;
	uint32_t tail;

	if (!Ring)
		return RFM2G_NULL_DESCRIPTOR;
	if (!Record)
		return RFM2G_BAD_PARAMETER_2;
	*Record = NULL;
	records = (const void *)Ring->kernel + Ring->kernel->records_at;
	/* Acquire order: the records are read after the tail. */
	tail = __atomic_load_n(&Ring->kernel->tail, __ATOMIC_ACQUIRE);
	while (Ring->next != tail && !*Record) {
		record = &records[Ring->next & (Ring->ring.slots - 1)];
		Ring->next += record->Slots;
		if (record->Type != VRFM_REC_PAD)
			*Record = record;
	}
	return RFM2G_SUCCESS;
}

STDRFM2GCALL RFM2gxRingRelease(RFM2GXRING Ring)
{
	if (!Ring)
		return RFM2G_NULL_DESCRIPTOR;
	/*
	 * poll() reports the ring as readable when an index behind this one is
	 * reached. A constant index would be ahead again after 2^31 slots.
	 */
	__atomic_store_n(&Ring->user->wake, Ring->next, __ATOMIC_RELAXED);
	/* Release order: the program has read the records before. */
	__atomic_store_n(&Ring->user->head, Ring->next, __ATOMIC_RELEASE);
	return RFM2G_SUCCESS;
}

/* Return the number of entries that the driver has not taken. */
static uint32_t rfm2g_ring_submitted(const struct rfm2gxRing *ring)
{
	return ring->user->submit_tail -
	       __atomic_load_n(&ring->kernel->submit_head, __ATOMIC_ACQUIRE);
}

static uint32_t rfm2g_ring_submit_flags(const struct rfm2gxRing *ring)
{
	return __atomic_load_n(&ring->kernel->submit_flags, __ATOMIC_RELAXED);
}

STDRFM2GCALL RFM2gxRingWait(RFM2GXRING Ring, RFM2G_UINT32 Slots,
			    RFM2G_UINT32 LimitUs, RFM2G_UINT32 TimeoutMs)
{
	struct vrfm_enter enter = {
		.records = Slots,
		.timeout_ns = TimeoutMs == RFM2GX_FOREVER ?
			      VRFM_ENTER_FOREVER : TimeoutMs * 1000000ULL,
	};
	RFM2G_STATUS ret = RFM2gxRingRelease(Ring);

	if (ret)
		return ret;
	__atomic_store_n(&Ring->user->wake_us, LimitUs, __ATOMIC_RELAXED);
	/* A thread in RFM2gxRingLoop() takes the entries. */
	if (rfm2g_ring_submitted(Ring) &&
	    !(rfm2g_ring_submit_flags(Ring) & VRFM_SUBMIT_LOOP))
		enter.submit = UINT32_MAX;
	while (ioctl(Ring->fd, VRFM_RING_ENTER, &enter)) {
		/* RFM2gxRingLoop() has just begun. */
		if (errno != EBUSY)
			return rfm2g_status(rfm2g_enter_meanings);
		enter.submit = 0;
	}
	return RFM2G_SUCCESS;
}

/* ---- batches ---- */

static bool rfm2g_op_has_range(const RFM2GXOP *op)
{
	return op->Op == RFM2GX_OP_WRITE || op->Op == RFM2GX_OP_PUBLISH;
}

static bool rfm2g_op_fits(const struct rfm2g_handle *h, const RFM2GXOP *op)
{
	return !rfm2g_op_has_range(op) ||
	       (op->Length <= h->size && op->Offset <= h->size - op->Length);
}

/* Convert an operation. An unknown one stays unknown to the driver. */
static void rfm2g_op_convert(const RFM2GXOP *from, bool last,
			     struct vrfm_op *op)
{
	*op = (struct vrfm_op){
		.op = from->Op > UINT8_MAX ? UINT8_MAX : from->Op,
		.flags = last ? 0 : VRFM_OP_MORE,
	};
	if (rfm2g_op_has_range(from)) {
		op->offset = from->Offset;
		op->length = from->Length;
		if (from->Op == RFM2GX_OP_WRITE)
			op->source = (uintptr_t)from->Source;
	} else if (from->Op == RFM2GX_OP_EVENT) {
		op->node = from->ToNode;
		op->event = from->Event;
		memcpy(op->data, &from->ExtendedInfo,
		       sizeof(from->ExtendedInfo));
	}
}

static RFM2G_STATUS rfm2g_batch(const struct rfm2g_handle *h,
				const RFM2GXOP *from, struct vrfm_batch *batch)
{
	struct vrfm_op ops[RFM2GX_BATCH_OPS];
	RFM2G_UINT32 i;

	for (i = 0; i < batch->count; i++) {
		if (!rfm2g_op_fits(h, &from[i])) {
			batch->failed = i;
			return RFM2G_OUT_OF_RANGE;
		}
		rfm2g_op_convert(&from[i], i + 1 == batch->count, &ops[i]);
	}
	batch->ops = (uintptr_t)ops;
	return rfm2g_command(h, VRFM_BATCH, (unsigned long)batch,
			     rfm2g_batch_meanings);
}

STDRFM2GCALL RFM2gxBatch(RFM2GHANDLE rh, const RFM2GXOP *Ops,
			 RFM2G_UINT32 Count, RFM2G_UINT32 Flags,
			 RFM2G_UINT32 TimeoutMs, RFM2GXBATCHED *Batched)
{
	struct vrfm_batch batch = {
		.count = Count,
		.flags = Flags,
		.timeout_ms = Flags & RFM2GX_BATCH_ACKED ? TimeoutMs : 0,
	};
	struct rfm2g_handle *h;
	RFM2G_STATUS ret = rfm2g_enter(rh, &h);

	if (ret)
		return ret;
	if (!Ops)
		ret = RFM2G_BAD_PARAMETER_2;
	else if (!Count || Count > RFM2GX_BATCH_OPS)
		ret = RFM2G_BAD_PARAMETER_3;
	else if (Flags & ~(RFM2GX_BATCH_ACKED | RFM2GX_BATCH_NOFLUSH))
		ret = RFM2G_BAD_PARAMETER_4;
	else
		ret = rfm2g_batch(h, Ops, &batch);
	rfm2g_leave();
	if (Batched)
		*Batched = (RFM2GXBATCHED){
			.Serial = batch.serial,
			.Failed = batch.failed,
			.Reached = batch.reached,
			.Behind = batch.behind,
			.Absent = batch.absent,
		};
	return ret;
}

/* Publish a range in parts of at most RFM2GX_BATCH_BYTES. */
static RFM2G_STATUS rfm2g_publish(const struct rfm2g_handle *h, uint32_t offset,
				  uint32_t length)
{
	RFM2GXOP op = { .Op = RFM2GX_OP_PUBLISH, .Offset = offset };
	struct vrfm_batch batch = { .count = 1 };
	RFM2G_STATUS ret = RFM2G_SUCCESS;

	for (; length && !ret; length -= op.Length) {
		op.Length = length < RFM2GX_BATCH_BYTES ? length :
							  RFM2GX_BATCH_BYTES;
		ret = rfm2g_batch(h, &op, &batch);
		op.Offset += op.Length;
	}
	return ret;
}

STDRFM2GCALL RFM2gxPublish(RFM2GHANDLE rh, RFM2G_UINT32 Offset,
			   RFM2G_UINT32 Length)
{
	struct rfm2g_handle *h;
	RFM2G_STATUS ret = rfm2g_enter(rh, &h);

	if (ret)
		return ret;
	if (!Length)
		ret = RFM2G_BAD_PARAMETER_3;
	else if (Length > h->size || Offset > h->size - Length)
		ret = RFM2G_OUT_OF_RANGE;
	else
		ret = rfm2g_publish(h, Offset, Length);
	rfm2g_leave();
	return ret;
}

/* ---- submissions ---- */

static RFM2G_STATUS rfm2g_ring_order(const struct rfm2gxRing *ring,
				     uint32_t flags)
{
	struct vrfm_enter enter = { .flags = flags };

	if (ioctl(ring->fd, VRFM_RING_ENTER, &enter))
		return rfm2g_status(rfm2g_loop_meanings);
	return RFM2G_SUCCESS;
}

STDRFM2GCALL RFM2gxSubmit(RFM2GXRING Ring, const RFM2GXOP *Ops,
			  RFM2G_UINT32 Count, RFM2G_UINT32 Flags,
			  RFM2G_UINT64 Cookie)
{
	struct vrfm_op *entries, *last;
	uint32_t i, mask, tail;

	if (!Ring)
		return RFM2G_NULL_DESCRIPTOR;
	if (!Ops)
		return RFM2G_BAD_PARAMETER_2;
	if (!Ring->ring.submits)
		return RFM2G_NOT_SUPPORTED;
	if (!Count || Count > RFM2GX_BATCH_OPS || Count > Ring->ring.submits)
		return RFM2G_BAD_PARAMETER_3;
	if (Flags & ~(RFM2GX_BATCH_DONE | RFM2GX_BATCH_ACKED |
		      RFM2GX_BATCH_NOFLUSH))
		return RFM2G_BAD_PARAMETER_4;
	if (Count > Ring->ring.submits - rfm2g_ring_submitted(Ring))
		return RFM2G_LOW_MEMORY;
	entries = (void *)Ring->user + VRFM_RING_ENTRIES_AT;
	mask = Ring->ring.submits - 1;
	tail = Ring->user->submit_tail;
	for (i = 0; i < Count; i++)
		rfm2g_op_convert(&Ops[i], false, &entries[(tail + i) & mask]);
	last = &entries[(tail + Count - 1) & mask];
	last->flags = Flags;
	last->cookie = Cookie;
	/* Release order: the driver reads the entries after the tail. */
	__atomic_store_n(&Ring->user->submit_tail, tail + Count,
			 __ATOMIC_RELEASE);
	/* The driver sets the flag, and then reads the tail once more. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (rfm2g_ring_submit_flags(Ring) & VRFM_SUBMIT_SLEEPS)
		return rfm2g_ring_order(Ring, VRFM_ENTER_KICK);
	return RFM2G_SUCCESS;
}

STDRFM2GCALL RFM2gxRingLoop(RFM2GXRING Ring, RFM2G_UINT32 SpinUs)
{
	struct vrfm_enter enter = {
		.flags = VRFM_ENTER_LOOP,
		.spin_us = SpinUs,
	};

	if (!Ring)
		return RFM2G_NULL_DESCRIPTOR;
	if (SpinUs > VRFM_ENTER_SPIN_US_MAX)
		return RFM2G_BAD_PARAMETER_2;
	if (ioctl(Ring->fd, VRFM_RING_ENTER, &enter))
		return rfm2g_status(rfm2g_loop_meanings);
	return RFM2G_SUCCESS;
}

STDRFM2GCALL RFM2gxRingStop(RFM2GXRING Ring)
{
	return Ring ? rfm2g_ring_order(Ring, VRFM_ENTER_STOP) :
		      RFM2G_NULL_DESCRIPTOR;
}
