// SPDX-License-Identifier: GPL-2.0
/*
 * The queue of one type of event. Pure: who calls holds the lock, and wakes
 * those who wait.
 *
 * A card keeps what comes while the type is disabled in a FIFO of its own and
 * hands it over once it is enabled. Here it is one ring whose older part is
 * handed over, "ready", and whose younger part waits for that.
 */
#include <linux/minmax.h>

#include "queue.h"

/**
 * vrfm_queue_init - an empty queue
 * @q: queue
 * @depth: 1..%VRFM_QUEUE_DEPTH
 * @enabled: at the beginning
 * @once: it disables itself when an event comes ready: a fault that goes on
 *        happening would be a flood
 */
void vrfm_queue_init(struct vrfm_queue *q, u16 depth, bool enabled, bool once)
{
	*q = (struct vrfm_queue){ .depth = depth, .enabled = enabled, .once = once };
}

/* Hands over all that wait. Returns true if there were any. */
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

/* There is no room. Returns true if there is now. */
static bool vrfm_queue_overflow(struct vrfm_queue *q)
{
	q->overflowed = true;
	q->dropped++;
	if (q->depth > 1)
		return false;
	q->fill = 0;
	/* Else nobody would hand it over, and who was told could take nothing. */
	if (q->enabled)
		q->ready = 0;
	return true;
}

/**
 * vrfm_queue_put - an event happened
 * @q: queue
 * @node: where it comes from
 * @data: that came with it
 *
 * In a full queue of one it replaces its predecessor, in others it is lost;
 * both count as an overflow. What replaces one that could be taken can be taken,
 * also in a queue that is disabled; there it counts as the same one.
 *
 * Return: true if somebody who waits can take it.
 */
bool vrfm_queue_put(struct vrfm_queue *q, u16 node, u32 data)
{
	if (q->fill == q->depth && !vrfm_queue_overflow(q))
		return false;
	q->entries[(q->head + q->fill++) % q->depth] =
		(struct vrfm_entry){ .data = data, .node = node };
	return q->enabled && vrfm_queue_release(q);
}

/**
 * vrfm_queue_take - the oldest event that is ready
 * @q: queue
 * @entry: gets it
 *
 * It may be taken while the type is disabled: it came before that.
 *
 * Return: false if there is none.
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
 * vrfm_queue_enable - what came meanwhile is ready, and what comes
 * @q: queue
 *
 * Return: true if somebody who waits can take something now.
 */
bool vrfm_queue_enable(struct vrfm_queue *q)
{
	q->enabled = true;
	return vrfm_queue_release(q);
}

/**
 * vrfm_queue_disable - what comes has to wait
 * @q: queue
 */
void vrfm_queue_disable(struct vrfm_queue *q)
{
	q->enabled = false;
}

/**
 * vrfm_queue_clear - forget what came; the count stays
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
 * vrfm_queue_clear_count - count from 0; what is queued stays
 * @q: queue
 */
void vrfm_queue_clear_count(struct vrfm_queue *q)
{
	q->count = 0;
	q->peak = q->ready;
}
