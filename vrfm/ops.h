/* SPDX-License-Identifier: GPL-2.0 */
/* The operations of a batch. */
#ifndef VRFM_OPS_H
#define VRFM_OPS_H

#include <linux/types.h>
#include <uapi/vrfm.h>

#include "proto.h"

/*
 * Largest number of bytes in a full message that are not bytes of the runs in
 * it: its header, the header and padding of a run that another message began,
 * and the room at the end. That room is too small for a run, or for an event.
 */
#define VRFM_OPS_WASTE (sizeof(struct vrfm_wire_head) + \
			sizeof(struct vrfm_wire_run) + 2 * VRFM_WIRE_ALIGN)

/*
 * Largest number of messages of @message bytes that a valid batch needs. Each
 * event ends a message, and each operation takes at most 15 bytes more than it
 * writes.
 */
#define VRFM_OPS_MESSAGES(message) (VRFM_BATCH_EVENTS + 1 +		\
	(VRFM_BATCH_BYTES + VRFM_BATCH_OPS *				\
	 sizeof(struct vrfm_wire_event)) / ((message) - VRFM_OPS_WASTE))

/**
 * struct vrfm_ops - operations of a batch, which vrfm_ops_check() has checked
 * @op: the operations
 * @count: number of operations
 * @bytes: number of bytes of all writes
 * @room: size of the buffer that @data needs, in bytes
 * @events: number of events
 * @messages: largest number of messages to a peer
 * @data: copy of the bytes of all writes, each aligned to %VRFM_WIRE_ALIGN; the
 *	caller of vrfm_ops_check() sets it
 */
struct vrfm_ops {
	const struct vrfm_op *op;
	u32 count;
	u32 bytes;
	u32 room;
	u32 events;
	u32 messages;
	void *data;
};

/**
 * struct vrfm_ops_limits - properties of a device that limit operations
 * @size: size of the memory, in bytes
 * @node: id of this node
 * @message: number of bytes of the longest message that every peer takes
 */
struct vrfm_ops_limits {
	u64 size;
	u32 node;
	u32 message;
};

int vrfm_ops_check(struct vrfm_ops *ops, const struct vrfm_ops_limits *limits,
		   u32 *failed);
u32 vrfm_ops_messages(const struct vrfm_ops *ops, u32 message);
u32 vrfm_op_event_data(const struct vrfm_op *op);

#endif /* VRFM_OPS_H */
