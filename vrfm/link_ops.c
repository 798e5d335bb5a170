// SPDX-License-Identifier: GPL-2.0
/*
 * Send the operations of a batch to a peer: writes and events, in their order,
 * and all messages together.
 *
 * The batch is one write. If its bytes need several messages, only the one with
 * the last bytes, and later ones, have the number of the batch. Those before it
 * have the number of the previous write. From the first bytes on, they also have
 * the flag DIRECT: the receiver has a part of a later write.
 */
#include "link.h"

/**
 * struct vrfm_batch_span - messages of a link that have bytes of a batch
 * @first: sequence of the first one; 0: none
 * @last: sequence of the last one
 */
struct vrfm_batch_span {
	u64 first;
	u64 last;
};

/* Append a write, and extend the span by the messages that have its bytes. */
static void vrfm_link_append_op_locked(struct vrfm_link *link,
				       const struct vrfm_op *op,
				       const void *bytes,
				       struct vrfm_batch_span *span)
{
	const u64 newest = link->window.opened;
	const u32 filled = vrfm_slot(link, newest)->pack.len;

	lockdep_assert_held(&link->lock);
	vrfm_link_append_locked(link, VRFM_WIRE_UPDATE, op->offset, bytes,
				op->length);
	span->last = link->window.opened;
	/* If there was room, the first bytes are in the newest message. */
	if (!span->first)
		span->first = vrfm_slot(link, newest)->pack.len != filled ?
			      newest : newest + 1;
}

/* Set the numbers of the messages before the one with the last bytes. */
static void vrfm_link_number_locked(struct vrfm_link *link, u64 opened,
				    const struct vrfm_batch_span *span)
{
	u64 sequence = min(opened + 1, span->first);
	struct vrfm_slot *slot;

	lockdep_assert_held(&link->lock);
	for (; sequence < span->last; sequence++) {
		slot = vrfm_slot(link, sequence);
		slot->serial = link->vdev->serial - 1;
		if (sequence >= span->first)
			slot->flags |= VRFM_WIRE_DIRECT;
	}
}

/**
 * vrfm_link_ops - send a batch to the peer, or record its words as missed
 * @link: link, which must have room if it is READY
 * @ops: valid operations with their bytes. The first event has the number
 *	&vrfm_dev.event_number + 1
 * @answer: let the peer acknowledge the last message at once
 *
 * Context: vrfm_dev.write_lock is held.
 */
void vrfm_link_ops(struct vrfm_link *link, const struct vrfm_ops *ops,
		   bool answer)
{
	struct vrfm_wired_event event = { .number = link->vdev->event_number };
	const bool ready = link->state == VRFM_READY;
	const struct vrfm_op *op = ops->op, *end = op + ops->count;
	struct vrfm_batch_span span = { };
	const void *bytes = ops->data;
	u64 opened;

	lockdep_assert_held(&link->vdev->write_lock);
	spin_lock_bh(&link->lock);
	opened = link->window.opened;
	for (; op < end; op++) {
		if (op->op == VRFM_OP_EVENT) {
			event.event = op->event;
			event.data = vrfm_op_event_data(op);
			event.number++;
			if (op->node == VRFM_OP_ALL_NODES ||
			    op->node == link->peer.node)
				vrfm_link_event_locked(link, &event);
			continue;
		}
		if (ready)
			vrfm_link_append_op_locked(link, op, bytes, &span);
		else
			vrfm_link_miss(link, op->offset, op->length);
		bytes += ALIGN(op->length, VRFM_WIRE_ALIGN);
	}
	if (span.first)
		vrfm_link_number_locked(link, opened, &span);
	if (answer && link->window.opened > link->window.posted)
		vrfm_slot(link, link->window.opened)->flags |= VRFM_WIRE_ANSWER;
	vrfm_link_push_locked(link);
	spin_unlock_bh(&link->lock);
	if (!ready && ops->bytes)
		vrfm_link_missed(link);
}
