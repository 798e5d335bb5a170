/* SPDX-License-Identifier: GPL-2.0 */
/* The indices and records of a ring, which ringbuf.c keeps. */
#ifndef VRFM_RINGBUF_H
#define VRFM_RINGBUF_H

#include <linux/types.h>
#include <uapi/vrfm.h>

/* Bytes of a slot. */
#define VRFM_SLOT sizeof(struct vrfm_record)

/**
 * struct vrfm_ringbuf - stream of records for a program
 * @records: the slots, which the program maps for reading
 * @shown: tail that the program sees; never read
 * @slots: number of slots, a power of two
 * @head: last valid index that the program has released the records up to
 * @tail: index behind the last published record
 * @next: index behind the last record, which may not be published yet
 * @lost: number of records that were dropped, and that no record reports yet
 */
struct vrfm_ringbuf {
	struct vrfm_record *records;
	u32 *shown;
	u32 slots;
	u32 head;
	u32 tail;
	u32 next;
	u64 lost;
};

/**
 * vrfm_ringbuf_unread - return the number of unread slots
 * @rb: ring
 *
 * Return: number of slots with published records that are not released.
 */
static inline u32 vrfm_ringbuf_unread(const struct vrfm_ringbuf *rb)
{
	return rb->tail - rb->head;
}

/**
 * vrfm_ringbuf_slot - return a slot
 * @rb: ring
 * @index: any index
 *
 * Return: slot of the index.
 */
static inline struct vrfm_record *vrfm_ringbuf_slot(const struct vrfm_ringbuf *rb,
						    u32 index)
{
	return &rb->records[index & (rb->slots - 1)];
}

void vrfm_ringbuf_init(struct vrfm_ringbuf *rb, struct vrfm_record *records,
		       u32 *shown, u32 slots);
bool vrfm_ringbuf_release(struct vrfm_ringbuf *rb, u32 head);
struct vrfm_record *vrfm_ringbuf_add(struct vrfm_ringbuf *rb, u32 payload,
				     u64 time_ns);
bool vrfm_ringbuf_report(struct vrfm_ringbuf *rb, u64 time_ns);
void vrfm_ringbuf_publish(struct vrfm_ringbuf *rb);
u32 vrfm_ringbuf_length(const struct vrfm_ringbuf *rb, u32 index);
bool vrfm_ringbuf_passed(const struct vrfm_ringbuf *rb, u32 wake);

#endif /* VRFM_RINGBUF_H */
