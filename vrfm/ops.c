// SPDX-License-Identifier: GPL-2.0
/*
 * Checks of the operations of a batch, before it has any effect. Pure: no locks,
 * no device.
 *
 * A message to a peer has the bytes of writes, and at most one event after them.
 * So an event between two writes separates their messages.
 */
#include <linux/align.h>
#include <linux/errno.h>
#include <linux/string.h>
#include <uapi/rfm2g.h>

#include "ops.h"
#include "proto.h"

static bool vrfm_is_zero(const void *bytes, size_t len)
{
	return !memchr_inv(bytes, 0, len);
}

static bool vrfm_op_is_inside(const struct vrfm_op *op, u64 size, u32 max)
{
	return op->length && op->length <= max && op->offset <= size &&
	       op->length <= size - op->offset && !op->node && !op->event;
}

static bool vrfm_op_is_event(const struct vrfm_op *op, u32 node)
{
	return op->event <= RFM2G_EVENT_INTR4 && op->node != node &&
	       (op->node <= RFM2G_NODE_MAX || op->node == VRFM_OP_ALL_NODES) &&
	       !op->offset && !op->length && !op->source &&
	       vrfm_is_zero(op->data + sizeof(u32),
			    sizeof(op->data) - sizeof(u32));
}

static bool vrfm_op_is_valid(const struct vrfm_op *op,
			     const struct vrfm_ops_limits *limits)
{
	switch (op->op) {
	case VRFM_OP_WRITE:
		return vrfm_op_is_inside(op, limits->size, VRFM_BATCH_BYTES) &&
		       vrfm_is_zero(op->data, sizeof(op->data));
	case VRFM_OP_INLINE:
		return vrfm_op_is_inside(op, limits->size, VRFM_OP_BYTES) &&
		       !op->source &&
		       vrfm_is_zero(op->data + op->length,
				    sizeof(op->data) - op->length);
	case VRFM_OP_PUBLISH:
		return vrfm_op_is_inside(op, limits->size, VRFM_BATCH_BYTES) &&
		       !op->source && vrfm_is_zero(op->data, sizeof(op->data));
	case VRFM_OP_EVENT:
		return vrfm_op_is_event(op, limits->node);
	default:
		return false;
	}
}

/**
 * vrfm_op_event_data - return the data of an event
 * @op: operation %VRFM_OP_EVENT
 *
 * Return: the data.
 */
u32 vrfm_op_event_data(const struct vrfm_op *op)
{
	u32 data;

	memcpy(&data, op->data, sizeof(data));
	return data;
}

/* Return the number of bytes of a run in a message. */
static u32 vrfm_op_run(const struct vrfm_op *op)
{
	return sizeof(struct vrfm_wire_run) +
	       ALIGN(op->length, VRFM_WIRE_ALIGN);
}

/**
 * vrfm_ops_messages - return the number of messages to a peer that a batch may
 * need
 * @ops: valid operations
 * @message: number of bytes of the longest message
 *
 * Room in a message that is open does not count, because that message may be
 * posted before. All events count, because a peer may be the receiver of all of
 * them.
 *
 * Return: number of messages, at least 1.
 */
u32 vrfm_ops_messages(const struct vrfm_ops *ops, u32 message)
{
	const struct vrfm_op *op = ops->op;
	u32 i, messages = 0, room = 0;
	bool last;

	for (i = 0; i < ops->count; i++, op++) {
		last = i + 1 == ops->count;
		if (op->op == VRFM_OP_EVENT)
			room += sizeof(struct vrfm_wire_event);
		else
			room += vrfm_op_run(op);
		if (op->op != VRFM_OP_EVENT && !last)
			continue;
		messages += 1 + room / (message - VRFM_OPS_WASTE);
		room = 0;
	}
	return messages;
}

/**
 * vrfm_ops_check - check all operations of a batch
 * @ops: operations and their number, at least 1; the function sets the members
 *	from bytes to messages
 * @limits: limits of the device
 * @failed: set to the index of the invalid operation; 0: there is none
 *
 * Return: 0; -EINVAL: an operation is invalid; -E2BIG: too many bytes or events.
 */
int vrfm_ops_check(struct vrfm_ops *ops, const struct vrfm_ops_limits *limits,
		   u32 *failed)
{
	const struct vrfm_op *op = ops->op;
	u32 i, more;

	ops->bytes = 0;
	ops->room = 0;
	ops->events = 0;
	for (i = 0; i < ops->count; i++, op++) {
		*failed = i;
		more = i + 1 < ops->count ? VRFM_OP_MORE : 0;
		if (op->flags != more || !vrfm_op_is_valid(op, limits))
			return -EINVAL;
		if (op->op == VRFM_OP_EVENT)
			ops->events++;
		ops->bytes += op->length;
		ops->room += ALIGN(op->length, VRFM_WIRE_ALIGN);
		if (ops->events > VRFM_BATCH_EVENTS ||
		    ops->bytes > VRFM_BATCH_BYTES)
			return -E2BIG;
	}
	*failed = 0;
	ops->messages = vrfm_ops_messages(ops, limits->message);
	return 0;
}
