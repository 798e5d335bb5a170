/* SPDX-License-Identifier: GPL-2.0 */
#ifndef VRFM_QUEUE_H
#define VRFM_QUEUE_H

#include <linux/types.h>

/* As deep as the cards' FIFO of a network event. */
#define VRFM_QUEUE_DEPTH 127

/**
 * struct vrfm_entry - an event in a queue
 * @data: data of the sender
 * @node: id of the sender
 */
struct vrfm_entry {
	u32 data;
	u16 node;
};

/**
 * struct vrfm_queue - events of one type
 * @entries: ring of @depth entries
 * @depth: number of entries; 1: a later event replaces the earlier one
 * @head: index of the oldest event
 * @fill: number of events
 * @ready: number of the oldest events that may be taken: they came while the
 *	type was enabled, or it was enabled later
 * @peak: highest value of @ready
 * @count: number of events that became ready since the count was cleared
 * @dropped: number of events lost since the device was created
 * @overflowed: an event was lost since the queue was cleared
 * @enabled: events become ready at once
 * @once: an event that becomes ready disables the type
 */
struct vrfm_queue {
	struct vrfm_entry entries[VRFM_QUEUE_DEPTH];
	u16 depth;
	u16 head;
	u16 fill;
	u16 ready;
	u16 peak;
	u32 count;
	u32 dropped;
	bool overflowed;
	bool enabled;
	bool once;
};

void vrfm_queue_init(struct vrfm_queue *q, u16 depth, bool enabled, bool once);
bool vrfm_queue_push(struct vrfm_queue *q, u16 node, u32 data);
bool vrfm_queue_take(struct vrfm_queue *q, struct vrfm_entry *entry);
bool vrfm_queue_enable(struct vrfm_queue *q);
void vrfm_queue_disable(struct vrfm_queue *q);
void vrfm_queue_clear(struct vrfm_queue *q);
void vrfm_queue_clear_count(struct vrfm_queue *q);

#endif /* VRFM_QUEUE_H */
