/* SPDX-License-Identifier: GPL-2.0 */
/* The operations of a batch. */
#ifndef VRFM_OPS_H
#define VRFM_OPS_H

#include <linux/types.h>
#include <uapi/vrfm.h>

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
 * @message: number of bytes of the longest message to a peer
 * @messages: largest number of messages to a peer
 */
struct vrfm_ops_limits {
	u64 size;
	u32 node;
	u32 message;
	u32 messages;
};

int vrfm_ops_check(struct vrfm_ops *ops, const struct vrfm_ops_limits *limits,
		   u32 *failed);
u32 vrfm_ops_messages(const struct vrfm_ops *ops, u32 message);
u32 vrfm_op_event_data(const struct vrfm_op *op);

#endif /* VRFM_OPS_H */
