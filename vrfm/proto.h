/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the nodes of a network say to each other: bytes on the wire and nothing
 * else. All of it is little endian. Documentation/vrfm.rst says when what is
 * sent.
 */
#ifndef VRFM_PROTO_H
#define VRFM_PROTO_H

#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/types.h>

/* "VRFM" */
#define VRFM_WIRE_MAGIC 0x4D465256
#define VRFM_WIRE_VERSION 3

/* The longest message: a header and 64 KiB of runs. */
#define VRFM_WIRE_BODY_MAX (64 * 1024)
#define VRFM_WIRE_MAX (sizeof(struct vrfm_wire_head) + VRFM_WIRE_BODY_MAX)
/* What memories are counted and compared in. */
#define VRFM_WIRE_PAGE 4096
/* Most pages that a PULL asks for. */
#define VRFM_PULL_MAX 256
/* Where a run begins, and its bytes, is a multiple of this. */
#define VRFM_WIRE_ALIGN 8
/* What a bit of a STAGE stands for. */
#define VRFM_RANGE (64 * 1024)
/* The longest description of a memory: of 1 GiB in MRs of 1 MiB. */
#define VRFM_DESC_MAX (16 + 16 * 1024)

/**
 * struct vrfm_wire_hello - private data of the request and of the answer
 * @magic: %VRFM_WIRE_MAGIC
 * @version: %VRFM_WIRE_VERSION
 * @node: the sender's id
 * @to: the id of the node that is meant
 * @network: the sender's network
 * @npages: its memory in units of 4 KiB
 * @epoch: of this life of the sender's device, see vrfm_dev_epoch()
 */
struct vrfm_wire_hello {
	__le32 magic;
	__le16 version;
	__u8 node;
	__u8 to;
	__le32 network;
	__le32 npages;
	__le64 epoch;
} __packed;
static_assert(sizeof(struct vrfm_wire_hello) == 24);

/**
 * enum vrfm_wire_type - what a message is
 * @VRFM_WIRE_ACK: nothing but its header, and not counted: it bears the
 *	sequence of the message before it
 * @VRFM_WIRE_UPDATE: runs to be applied, in their order
 * @VRFM_WIRE_EVENT: one &struct vrfm_wire_event
 * @VRFM_WIRE_PROBE: nothing but its header, and counted
 * @VRFM_WIRE_NOTE: one &struct vrfm_wire_note
 * @VRFM_WIRE_PULL: one &struct vrfm_wire_pull
 * @VRFM_WIRE_IMAGE: runs of whole words, to be merged: the sender did not write
 *	them
 * @VRFM_WIRE_STAGE: one &struct vrfm_wire_stage
 * @VRFM_WIRE_TYPES: how many there are, 0 is none
 */
enum vrfm_wire_type {
	VRFM_WIRE_ACK = 1,
	VRFM_WIRE_UPDATE,
	VRFM_WIRE_EVENT,
	VRFM_WIRE_PROBE,
	VRFM_WIRE_NOTE,
	VRFM_WIRE_PULL,
	VRFM_WIRE_IMAGE,
	VRFM_WIRE_STAGE,
	VRFM_WIRE_TYPES,
};

/* Flags of a message. */
/* The sender is not behind: what it wrote before is in this or before it. */
#define VRFM_WIRE_SYNCED BIT(0)
/* The sender wants the receiver to be so: without it, it stays behind. */
#define VRFM_WIRE_GRANT BIT(1)
/* To be acknowledged at once. */
#define VRFM_WIRE_ANSWER BIT(2)
/*
 * Before the next message the sender may have written into the memory directly;
 * or this one has a part of a write whose end is in a later one.
 */
#define VRFM_WIRE_DIRECT BIT(3)
#define VRFM_WIRE_FLAGS (VRFM_WIRE_SYNCED | VRFM_WIRE_GRANT | \
			 VRFM_WIRE_ANSWER | VRFM_WIRE_DIRECT)

/**
 * struct vrfm_wire_head - how every message begins
 * @type: enum vrfm_wire_type
 * @flags: VRFM_WIRE_...
 * @count: runs in an UPDATE, else 0
 * @len: bytes that follow
 * @sequence: of the message on this link, from 1, each one higher by one
 * @applied: the highest sequence of the receiver's that is applied here
 * @serial: of the sender's last write that is in this message or before it
 * @staged: number of the receiver's last STAGE behind which all is that the
 *	sender has written directly since
 */
struct vrfm_wire_head {
	__u8 type;
	__u8 flags;
	__le16 count;
	__le32 len;
	__le64 sequence;
	__le64 applied;
	__le64 serial;
	__le64 staged;
} __packed;
static_assert(sizeof(struct vrfm_wire_head) == 40);

/**
 * struct vrfm_wire_reject - private data of a rejection
 * @magic: %VRFM_WIRE_MAGIC
 * @why: enum vrfm_reject
 */
struct vrfm_wire_reject {
	__le32 magic;
	__le32 why;
} __packed;
static_assert(sizeof(struct vrfm_wire_reject) == 8);

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
 * @number: of the events of this life of the sender's device, from 1: one that
 *	comes again after a drop is known by it
 */
struct vrfm_wire_event {
	__le32 event;
	__le32 data;
	__le64 number;
} __packed;
static_assert(sizeof(struct vrfm_wire_event) == 16);

/**
 * enum vrfm_note_kind - what a note says
 * @VRFM_NOTE_INFO: the image of the sender: @id its lineage, @value its age in
 *	ms, @number of its last LOAD, @flags VRFM_INFO_...
 * @VRFM_NOTE_LOAD: the sender loads an image, @number tells this time from
 *	others: it wants all own words of the receiver
 * @VRFM_NOTE_SWEPT: the answer to @number: they are on their way before this
 * @VRFM_NOTE_PULLED: all pages that differ from what a PULL said of those from
 *	@number on are on their way before this
 * @VRFM_NOTE_GONE: the sender has seen writes of @node, which may be the receiver
 *	or the sender, in its life @id, that is over, up to @value. @flags: it was
 *	SYNCED; it may have written directly after that; @number tells whose memory
 *	the sender has of it, if that is not sure. The newest life comes first,
 *	with %VRFM_GONE_NEWEST, and then those before. @id 0: none was seen
 * @VRFM_NOTES: how many there are, 0 is none
 */
enum vrfm_note_kind {
	VRFM_NOTE_INFO = 1,
	VRFM_NOTE_LOAD,
	VRFM_NOTE_SWEPT,
	VRFM_NOTE_PULLED,
	VRFM_NOTE_GONE,
	VRFM_NOTES,
};

/* Flags of an INFO. */
/* The sender is not loading. */
#define VRFM_INFO_COMPLETE BIT(0)
/* It had another image before, from which this one may lack words. */
#define VRFM_INFO_MERGED BIT(1)
/* Of a GONE: it was SYNCED. */
#define VRFM_GONE_SYNCED BIT(0)
/* It may have written directly. */
#define VRFM_GONE_DIRECT BIT(1)
/* Nothing of what was said of that node before is right any more. */
#define VRFM_GONE_NEWEST BIT(2)

/**
 * struct vrfm_wire_note - see &enum vrfm_note_kind
 * @kind: which
 * @node: see there, else 0
 * @flags: see there, else 0
 * @number: see there, else 0
 * @id: see there, else 0
 * @value: see there, else 0
 */
struct vrfm_wire_note {
	__u8 kind;
	__u8 node;
	__le16 flags;
	__le32 number;
	__le64 id;
	__le64 value;
} __packed;
static_assert(sizeof(struct vrfm_wire_note) == 24);

/**
 * struct vrfm_wire_pull - pages that the sender wants if they differ
 * @first: the first, in units of %VRFM_WIRE_PAGE
 * @count: how many
 * @digests: of what it has, vrfm_digest() of each
 */
struct vrfm_wire_pull {
	__le32 first;
	__le32 count;
	__le64 digests[];
} __packed;
static_assert(sizeof(struct vrfm_wire_pull) == 8);

/**
 * struct vrfm_wire_stage - where the receiver must not write directly
 * @number: of this one, from 1; each one is higher
 * @map_len: bytes of the map, a bit for each %VRFM_RANGE of the memory in words
 *	of 64 bits: 1: staged, what the receiver writes there it sends
 * @desc_len: bytes of a description of the sender's memory, in the first one;
 *	with it the receiver may write into the rest directly
 *
 * The map follows, and then the description.
 */
struct vrfm_wire_stage {
	__le64 number;
	__le32 map_len;
	__le32 desc_len;
} __packed;
static_assert(sizeof(struct vrfm_wire_stage) == 16);

/**
 * struct vrfm_stage_msg - the same for the CPU
 * @number: see there
 * @map: where the map is, in the message
 * @map_len: its bytes
 * @desc: where the description is
 * @desc_len: its bytes, 0: there is none
 */
struct vrfm_stage_msg {
	u64 number;
	const void *map;
	u32 map_len;
	const void *desc;
	u32 desc_len;
};

/**
 * struct vrfm_note - a note for the CPU
 * @kind: enum vrfm_note_kind
 * @node: see there
 * @flags: see there
 * @number: see there
 * @id: see there
 * @value: see there
 */
struct vrfm_note {
	u8 kind;
	u8 node;
	u16 flags;
	u32 number;
	u64 id;
	u64 value;
};

/**
 * struct vrfm_hello - the same for the CPU
 * @node: id
 * @to: id of the node that is meant
 * @network: number
 * @size: bytes of memory
 * @epoch: of the device
 */
struct vrfm_hello {
	u32 node;
	u32 to;
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
 * @VRFM_REJECT_UNKNOWN: no peer of that id, or not from that address, or it
 *	takes this node for another one
 * @VRFM_REJECT_TWICE: there is a connection with that id, and it lives
 * @VRFM_REJECT_BUSY: the last connection is about to end, try again
 * @VRFM_REJECTS: how many there are
 */
enum vrfm_reject {
	VRFM_REJECT_NONE,
	VRFM_REJECT_MAGIC,
	VRFM_REJECT_VERSION,
	VRFM_REJECT_NETWORK,
	VRFM_REJECT_SIZE,
	VRFM_REJECT_NODE,
	VRFM_REJECT_UNKNOWN,
	VRFM_REJECT_TWICE,
	VRFM_REJECT_BUSY,
	VRFM_REJECTS,
};

/**
 * struct vrfm_head - the header for the CPU
 * @type: enum vrfm_wire_type
 * @flags: VRFM_WIRE_...
 * @count: runs
 * @len: bytes that follow
 * @sequence: of this message
 * @applied: see &struct vrfm_wire_head
 * @serial: see &struct vrfm_wire_head
 * @staged: see &struct vrfm_wire_head
 */
struct vrfm_head {
	u8 type;
	u8 flags;
	u16 count;
	u32 len;
	u64 sequence;
	u64 applied;
	u64 serial;
	u64 staged;
};

/**
 * struct vrfm_wired_event - an event for the CPU
 * @event: enum rfm2g_event
 * @data: the sender's
 * @number: see &struct vrfm_wire_event
 */
struct vrfm_wired_event {
	u32 event;
	u32 data;
	u64 number;
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
 * @staged: number of the peer's last STAGE, 0: there was none
 * @told: the highest of this side's
 * @answered: the highest of them that the peer has answered
 * @size: of the memory
 */
struct vrfm_seen {
	u64 sequence;
	u64 sent;
	u64 applied;
	u64 staged;
	u64 told;
	u64 answered;
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
void vrfm_reject_encode(struct vrfm_wire_reject *wire, enum vrfm_reject why);
enum vrfm_reject vrfm_reject_decode(const void *data, size_t len);
const char *vrfm_reject_text(enum vrfm_reject why);

int vrfm_proto_check(const void *msg, size_t len, const struct vrfm_seen *seen,
		     struct vrfm_head *head);
const void *vrfm_proto_next_run(const void *at, struct vrfm_run *run);
void vrfm_proto_event(const void *msg, struct vrfm_wired_event *event);
void vrfm_proto_note(const void *msg, struct vrfm_note *note);
u64 vrfm_digest(const void *page);

void vrfm_pack_begin(struct vrfm_pack *pack, void *msg, u32 room);
u32 vrfm_pack_room(const struct vrfm_pack *pack);
u32 vrfm_pack_run(struct vrfm_pack *pack, u32 offset, const void *bytes,
		  u32 len);
void vrfm_pack_event(struct vrfm_pack *pack,
		     const struct vrfm_wired_event *event);
void vrfm_pack_note(struct vrfm_pack *pack, const struct vrfm_note *note);
const __le64 *vrfm_proto_pull(const void *msg, u32 *first, u32 *count);
void vrfm_pack_pull(struct vrfm_pack *pack, u32 first, u32 count);
void vrfm_pack_digest(struct vrfm_pack *pack, u64 digest);
u32 vrfm_stage_map_len(u64 size);
void vrfm_stage_map(const struct vrfm_stage_msg *stage, unsigned long *map);
void vrfm_proto_stage(const void *msg, struct vrfm_stage_msg *stage);
void *vrfm_pack_stage(struct vrfm_pack *pack, u64 number,
		      const unsigned long *map, u64 size, u32 desc_len);
u32 vrfm_pack_end(struct vrfm_pack *pack, const struct vrfm_head *head);

#endif /* VRFM_PROTO_H */
