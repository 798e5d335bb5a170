/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the nodes of a network say to each other: bytes on the wire and nothing
 * else. All of it is little endian. Documentation/vrfm.rst says when what is
 * sent.
 */
#ifndef VRFM_PROTO_H
#define VRFM_PROTO_H

#include <linux/build_bug.h>
#include <linux/types.h>

/* "VRFM" */
#define VRFM_WIRE_MAGIC 0x4D465256
#define VRFM_WIRE_VERSION 1

/* The longest message: a header and 64 KiB of runs. */
#define VRFM_WIRE_BODY_MAX (64 * 1024)
#define VRFM_WIRE_MAX (sizeof(struct vrfm_wire_head) + VRFM_WIRE_BODY_MAX)
/* Where a run begins, and its bytes, is a multiple of this. */
#define VRFM_WIRE_ALIGN 8

/**
 * struct vrfm_wire_hello - private data of the request and of the answer
 * @magic: %VRFM_WIRE_MAGIC
 * @version: %VRFM_WIRE_VERSION
 * @node: the sender's id
 * @reserved: 0
 * @network: the sender's network
 * @npages: its memory in units of 4 KiB
 * @epoch: random, of this life of the sender's device
 */
struct vrfm_wire_hello {
	__le32 magic;
	__le16 version;
	__u8 node;
	__u8 reserved;
	__le32 network;
	__le32 npages;
	__le64 epoch;
} __packed;
static_assert(sizeof(struct vrfm_wire_hello) == 24);

/**
 * enum vrfm_wire_type - what a message is
 * @VRFM_WIRE_ACK: nothing but its header
 * @VRFM_WIRE_UPDATE: runs to be applied, in their order
 * @VRFM_WIRE_EVENT: one &struct vrfm_wire_event
 * @VRFM_WIRE_PROBE: to be answered by ECHO when all before it is applied
 * @VRFM_WIRE_ECHO: the answer
 * @VRFM_WIRE_TYPES: how many there are, 0 is none
 */
enum vrfm_wire_type {
	VRFM_WIRE_ACK = 1,
	VRFM_WIRE_UPDATE,
	VRFM_WIRE_EVENT,
	VRFM_WIRE_PROBE,
	VRFM_WIRE_ECHO,
	VRFM_WIRE_TYPES,
};

/**
 * struct vrfm_wire_head - how every message begins
 * @type: enum vrfm_wire_type
 * @reserved: 0
 * @count: runs in an UPDATE, else 0
 * @len: bytes that follow
 * @sequence: of the message on this link, from 1, each one higher by one
 * @applied: the highest sequence of the receiver's that is applied here
 */
struct vrfm_wire_head {
	__u8 type;
	__u8 reserved;
	__le16 count;
	__le32 len;
	__le64 sequence;
	__le64 applied;
} __packed;
static_assert(sizeof(struct vrfm_wire_head) == 24);

/**
 * struct vrfm_wire_run - bytes that follow each other in the memory
 * @offset: of the first
 * @len: how many, not 0
 *
 * The bytes follow, and zeroes up to a multiple of %VRFM_WIRE_ALIGN.
 */
struct vrfm_wire_run {
	__le32 offset;
	__le32 len;
} __packed;
static_assert(sizeof(struct vrfm_wire_run) == 8);

/**
 * struct vrfm_wire_event - an event for the receiver
 * @event: up to %RFM2G_EVENT_INTR4
 * @data: the sender's
 */
struct vrfm_wire_event {
	__le32 event;
	__le32 data;
} __packed;
static_assert(sizeof(struct vrfm_wire_event) == 8);

/**
 * struct vrfm_hello - the same for the CPU
 * @node: id
 * @network: number
 * @size: bytes of memory
 * @epoch: of the device
 */
struct vrfm_hello {
	u32 node;
	u32 network;
	u64 size;
	u64 epoch;
};

/**
 * enum vrfm_reject - why somebody does not become a peer
 * @VRFM_REJECT_NONE: he does
 * @VRFM_REJECT_MAGIC: does not speak this protocol
 * @VRFM_REJECT_VERSION: speaks another version
 * @VRFM_REJECT_NETWORK: belongs to another network
 * @VRFM_REJECT_SIZE: has another size of memory
 * @VRFM_REJECT_NODE: has the id of this node
 */
enum vrfm_reject {
	VRFM_REJECT_NONE,
	VRFM_REJECT_MAGIC,
	VRFM_REJECT_VERSION,
	VRFM_REJECT_NETWORK,
	VRFM_REJECT_SIZE,
	VRFM_REJECT_NODE,
};

/**
 * struct vrfm_head - the header for the CPU
 * @type: enum vrfm_wire_type
 * @count: runs
 * @len: bytes that follow
 * @sequence: of this message
 * @applied: see &struct vrfm_wire_head
 */
struct vrfm_head {
	u8 type;
	u16 count;
	u32 len;
	u64 sequence;
	u64 applied;
};

/**
 * struct vrfm_run - a run for the CPU
 * @offset: in the memory
 * @len: bytes
 * @bytes: where they are, in the message
 */
struct vrfm_run {
	u32 offset;
	u32 len;
	const void *bytes;
};

/**
 * struct vrfm_seen - what is known of a link, to judge a message by
 * @sequence: of the last message
 * @sent: the highest sequence of this side's
 * @applied: the highest that the peer has applied, as it said
 * @size: of the memory
 */
struct vrfm_seen {
	u64 sequence;
	u64 sent;
	u64 applied;
	u64 size;
};

/**
 * struct vrfm_pack - a message that grows
 * @msg: room of %VRFM_WIRE_MAX bytes at most, aligned to 8
 * @room: bytes of room
 * @len: bytes used, header and all
 * @count: runs
 */
struct vrfm_pack {
	void *msg;
	u32 room;
	u32 len;
	u16 count;
};

void vrfm_hello_encode(struct vrfm_wire_hello *wire,
		       const struct vrfm_hello *hello);
enum vrfm_reject vrfm_hello_decode(const void *data, size_t len,
				   const struct vrfm_hello *own,
				   struct vrfm_hello *peer);
const char *vrfm_reject_text(enum vrfm_reject why);

int vrfm_proto_check(const void *msg, size_t len, const struct vrfm_seen *seen,
		     struct vrfm_head *head);
const void *vrfm_proto_next_run(const void *at, struct vrfm_run *run);
void vrfm_proto_event(const void *msg, u32 *event, u32 *data);

void vrfm_pack_begin(struct vrfm_pack *pack, void *msg, u32 room);
u32 vrfm_pack_room(const struct vrfm_pack *pack);
u32 vrfm_pack_run(struct vrfm_pack *pack, u32 offset, const void *bytes,
		  u32 len);
void vrfm_pack_event(struct vrfm_pack *pack, u32 event, u32 data);
u32 vrfm_pack_end(struct vrfm_pack *pack, u8 type, u64 sequence, u64 applied);

#endif /* VRFM_PROTO_H */
