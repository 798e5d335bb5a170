/* SPDX-License-Identifier: GPL-2.0 */
#ifndef VRFM_QUEUE_H
#define VRFM_QUEUE_H

#include <linux/types.h>

/*
 * Maximum number of entries: as many as the cards' FIFO of a network event has.
 */
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
 * struct vrfm_queue - queue of events of one type
 * @entries: ring of @depth entries
 * @depth: number of entries; 1: a later event replaces an earlier one
 * @head: index of the oldest event
 * @fill: number of events in the queue
 * @ready: number of events that can be taken, which are the oldest ones: the
 *	type was enabled when they arrived, or later
 * @peak: highest value of @ready since the queue or @count was last cleared
 * @count: number of events that became ready since the count was last cleared
 * @dropped: number of events that were lost since the device was created
 * @overflowed: an event was lost since the queue was last cleared
 * @enabled: a new event is ready at once
 * @once: when an event becomes ready, the type is disabled
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
