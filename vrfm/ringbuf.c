// SPDX-License-Identifier: GPL-2.0
/*
 * The stream of records of a ring. The kernel adds records, and a program that
 * has mapped the slots reads and releases them. The caller of these functions
 * holds the lock of the ring.
 *
 * Indices count slots, and wrap at 2^32. The number of slots is a power of two,
 * so differences of indices are exact across the wrap, and no slot must stay
 * empty. The program can write only its index "head". An invalid head is
 * ignored, so it can at most make the ring look full. The kernel keeps its own
 * indices, and never reads back the tail that it has shown.
 *
 * A record is contiguous. If a record does not fit before the end of the area,
 * a record of type PAD fills the rest.
 */
#include <linux/build_bug.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "ringbuf.h"

/**
 * vrfm_ringbuf_init - initialize an empty ring
 * @rb: ring
 * @records: @slots slots
 * @shown: tail that the program sees
 * @slots: number of slots, a power of two
 */
void vrfm_ringbuf_init(struct vrfm_ringbuf *rb, struct vrfm_record *records,
		       u32 *shown, u32 slots)
{
	BUILD_BUG_ON(VRFM_SLOT != 64);
	*rb = (struct vrfm_ringbuf){
		.records = records,
		.shown = shown,
		.slots = slots,
	};
}

/**
 * vrfm_ringbuf_release - release records
 * @rb: ring
 * @head: any value: index that the program wants to release the records up to
 *
 * Return: true if @head is valid: between the last valid head and the tail.
 */
bool vrfm_ringbuf_release(struct vrfm_ringbuf *rb, u32 head)
{
	if (head - rb->head > rb->tail - rb->head)
		return false;
	rb->head = head;
	return true;
}

static struct vrfm_record *vrfm_ringbuf_put(struct vrfm_ringbuf *rb, u16 type,
					    u32 slots, u64 time_ns)
{
	struct vrfm_record *record = vrfm_ringbuf_slot(rb, rb->next);

	*record = (struct vrfm_record){
		.type = type,
		.slots = slots,
		.node = VRFM_REC_NO_NODE,
		.time_ns = time_ns,
	};
	rb->next += slots;
	return record;
}

static void vrfm_ringbuf_put_lost(struct vrfm_ringbuf *rb, u64 time_ns)
{
	vrfm_ringbuf_put(rb, VRFM_REC_LOST, 1, time_ns)->lost.count = rb->lost;
	rb->lost = 0;
}

/**
 * vrfm_ringbuf_add - add a record
 * @rb: ring
 * @payload: bytes that follow the first slot of the record
 * @time_ns: time of the record
 *
 * If records were dropped, a record that reports them is added first. The
 * program sees both after vrfm_ringbuf_publish().
 *
 * Return: the record, in which type, node, cookie and content are not set yet;
 * NULL if there is no room.
 */
struct vrfm_record *vrfm_ringbuf_add(struct vrfm_ringbuf *rb, u32 payload,
				     u64 time_ns)
{
	u32 slots = 1 + DIV_ROUND_UP(payload, VRFM_SLOT);
	u32 lost = rb->lost ? 1 : 0;
	u32 rest = rb->slots - ((rb->next + lost) & (rb->slots - 1));
	u32 pad = rest < slots ? rest : 0;

	if (lost + pad + slots > rb->slots - (rb->next - rb->head))
		return NULL;
	if (lost)
		vrfm_ringbuf_put_lost(rb, time_ns);
	if (pad)
		vrfm_ringbuf_put(rb, VRFM_REC_PAD, pad, time_ns);
	return vrfm_ringbuf_put(rb, VRFM_REC_PAD, slots, time_ns);
}

/**
 * vrfm_ringbuf_report - add the record that reports dropped records, if any
 * @rb: ring
 * @time_ns: time of the record
 *
 * Return: true if all dropped records are reported; false if there is no room.
 */
bool vrfm_ringbuf_report(struct vrfm_ringbuf *rb, u64 time_ns)
{
	if (!rb->lost)
		return true;
	if (rb->next - rb->head == rb->slots)
		return false;
	vrfm_ringbuf_put_lost(rb, time_ns);
	return true;
}

/**
 * vrfm_ringbuf_publish - show all records to the program
 * @rb: ring
 */
void vrfm_ringbuf_publish(struct vrfm_ringbuf *rb)
{
	rb->tail = rb->next;
	/*
	 * The program loads the tail with acquire semantics, and then reads the
	 * records.
	 */
	smp_store_release(rb->shown, rb->tail);
}

/**
 * vrfm_ringbuf_length - return the number of slots of a record
 * @rb: ring
 * @index: index of an unread slot. Because the program chooses where it begins
 *	to read, the slot may be in the middle of a record
 *
 * Return: number of slots, at least 1, which are contiguous and unread.
 */
u32 vrfm_ringbuf_length(const struct vrfm_ringbuf *rb, u32 index)
{
	u32 slots = READ_ONCE(vrfm_ringbuf_slot(rb, index)->slots);
	u32 rest = rb->slots - (index & (rb->slots - 1));

	return clamp(slots, 1U, min(rest, rb->tail - index));
}

/**
 * vrfm_ringbuf_passed - check whether the tail has passed an index
 * @rb: ring
 * @wake: any value. An index behind the head counts as the head, and an index
 *	that no tail can pass counts as the last one that a tail can pass
 *
 * Return: true if so.
 */
bool vrfm_ringbuf_passed(const struct vrfm_ringbuf *rb, u32 wake)
{
	u32 ahead = wake - rb->head;

	if ((s32)ahead < 0)
		ahead = 0;
	return vrfm_ringbuf_unread(rb) > min(ahead, rb->slots - 1);
}
