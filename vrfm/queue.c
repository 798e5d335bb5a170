// SPDX-License-Identifier: GPL-2.0
/*
 * The queue of one type of event. The caller of these functions holds the lock
 * that protects the queue, and wakes waiting tasks.
 *
 * A card stores events of a disabled type in a separate FIFO, and hands them
 * over when the type is enabled. Here there is one ring. Its older part is
 * "ready" to be taken. Its younger part waits until the type is enabled.
 */
#include <linux/minmax.h>

#include "queue.h"

/**
 * vrfm_queue_init - initialize an empty queue
 * @q: queue
 * @depth: number of entries, 1 to %VRFM_QUEUE_DEPTH
 * @enabled: whether the queue is enabled at first
 * @once: disable the queue when an event becomes ready, because a repeated
 *	fault would cause a flood of events
 */
void vrfm_queue_init(struct vrfm_queue *q, u16 depth, bool enabled, bool once)
{
	*q = (struct vrfm_queue){ .depth = depth, .enabled = enabled, .once = once };
}

/* Make all waiting events ready. Return: true if there were any. */
static bool vrfm_queue_release(struct vrfm_queue *q)
{
	u16 released = q->fill - q->ready;

	if (!released)
		return false;
	q->count += released;
	q->ready = q->fill;
	q->peak = max(q->peak, q->ready);
	if (q->once)
		q->enabled = false;
	return true;
}

/**
 * vrfm_queue_push - add an event
 * @q: queue
 * @node: id of the sender
 * @data: data of the event
 *
 * In a full queue with one entry, the event replaces the old one. In a full
 * queue with more entries, the event is lost. Both cases count as an overflow.
 * In a disabled queue, an event that replaces a ready event is ready as well,
 * but is not counted again.
 *
 * Return: true if a waiting task can take the event.
 */
bool vrfm_queue_push(struct vrfm_queue *q, u16 node, u32 data)
{
	if (q->fill == q->depth) {
		q->overflowed = true;
		q->dropped++;
		if (q->depth > 1)
			return false;
		q->fill = 0;
		/*
		 * In an enabled queue, set ready to 0, so that
		 * vrfm_queue_release() counts the new event.
		 */
		if (q->enabled)
			q->ready = 0;
	}
	q->entries[(q->head + q->fill++) % q->depth] =
		(struct vrfm_entry){ .data = data, .node = node };
	return q->enabled && vrfm_queue_release(q);
}

/**
 * vrfm_queue_take - take the oldest event that is ready
 * @q: queue
 * @entry: set to the event
 *
 * An event that is ready may be taken even while the type is disabled.
 *
 * Return: true if an event was taken; false if no event is ready.
 */
bool vrfm_queue_take(struct vrfm_queue *q, struct vrfm_entry *entry)
{
	if (!q->ready)
		return false;
	*entry = q->entries[q->head];
	q->head = (q->head + 1) % q->depth;
	q->fill--;
	q->ready--;
	return true;
}

/**
 * vrfm_queue_enable - make waiting and later events ready
 * @q: queue
 *
 * Return: true if a waiting task can take an event now.
 */
bool vrfm_queue_enable(struct vrfm_queue *q)
{
	q->enabled = true;
	return vrfm_queue_release(q);
}

/**
 * vrfm_queue_disable - let later events wait
 * @q: queue
 */
void vrfm_queue_disable(struct vrfm_queue *q)
{
	q->enabled = false;
}

/**
 * vrfm_queue_clear - remove all events; the count stays
 * @q: queue
 */
void vrfm_queue_clear(struct vrfm_queue *q)
{
	q->fill = 0;
	q->ready = 0;
	q->peak = 0;
	q->overflowed = false;
}

/**
 * vrfm_queue_clear_count - reset the count; queued events stay
 * @q: queue
 */
void vrfm_queue_clear_count(struct vrfm_queue *q)
{
	q->count = 0;
	q->peak = q->ready;
}
