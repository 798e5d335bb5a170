/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Format of the messages between the nodes of a network. All numbers are little
 * endian. Documentation/protocol.rst describes when each message is sent.
 */
#ifndef VRFM_PROTO_H
#define VRFM_PROTO_H

#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/types.h>

/* "VRFM" */
#define VRFM_WIRE_MAGIC 0x4D465256
#define VRFM_WIRE_VERSION 4

/* Maximum number of bytes in a message: a header and 64 KiB of runs. */
#define VRFM_WIRE_BODY_MAX (64 * 1024)
#define VRFM_WIRE_MAX (sizeof(struct vrfm_wire_head) + VRFM_WIRE_BODY_MAX)
/*
 * Number of bytes in a page: the unit of memory sizes, and of comparing images.
 */
#define VRFM_WIRE_PAGE 4096
/* Maximum number of pages in a PULL. */
#define VRFM_PULL_MAX 256
/* Alignment of runs in a message, and of the bytes of each run, in bytes. */
#define VRFM_WIRE_ALIGN 8
/* Number of bytes in a range: the part of the memory for one bit of a STAGE. */
#define VRFM_RANGE (64 * 1024)
/*
 * Maximum number of bytes in the description of a memory. This suffices for 1
 * GiB in MRs of 1 MiB.
 */
#define VRFM_DESC_MAX (16 + 16 * 1024)

/**
 * struct vrfm_wire_hello - private data of a connect request and of its reply
 * @magic: %VRFM_WIRE_MAGIC
 * @version: %VRFM_WIRE_VERSION
 * @node: id of the sender
 * @to: id of the intended receiver
 * @network: network of the sender
 * @npages: size of the sender's memory, in units of 4 KiB
 * @epoch: id of the present life of the sender's device, see vrfm_dev_epoch()
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
 * enum vrfm_wire_type - type of a message
 * @VRFM_WIRE_ACK: acknowledgment: only a header. It is not counted: its
 *	sequence is that of the message before it
 * @VRFM_WIRE_UPDATE: runs that the sender has written, to be applied in their
 *	order
 * @VRFM_WIRE_EVENT: runs as in an UPDATE, or none, and then one
 *	&struct vrfm_wire_event. An event needs no message of its own then
 * @VRFM_WIRE_PROBE: only a header, which is counted like any message except ACK
 * @VRFM_WIRE_NOTE: one &struct vrfm_wire_note
 * @VRFM_WIRE_PULL: one &struct vrfm_wire_pull
 * @VRFM_WIRE_IMAGE: runs of whole words of the sender's image, to be merged;
 *	other nodes may have written these words
 * @VRFM_WIRE_STAGE: one &struct vrfm_wire_stage
 * @VRFM_WIRE_TYPES: highest type plus 1; 0 is not a type
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

/*
 * Flag of a message: the sender has sent all its earlier writes before the
 * message.
 */
#define VRFM_WIRE_SYNCED BIT(0)
/*
 * Flag of a message: the sender is not loading an image, so the receiver's link
 * to it may be READY.
 */
#define VRFM_WIRE_GRANT BIT(1)
/* Flag of a message: the receiver shall acknowledge the message at once. */
#define VRFM_WIRE_ANSWER BIT(2)
/*
 * Flag of a message. Either direct writes into the memory may follow before the
 * sender's next message, or the message contains a part of a write that a later
 * message completes.
 */
#define VRFM_WIRE_DIRECT BIT(3)
#define VRFM_WIRE_FLAGS (VRFM_WIRE_SYNCED | VRFM_WIRE_GRANT | \
			 VRFM_WIRE_ANSWER | VRFM_WIRE_DIRECT)

/**
 * struct vrfm_wire_head - header of a message
 * @type: enum vrfm_wire_type
 * @flags: VRFM_WIRE_...
 * @count: number of runs in an UPDATE, IMAGE or EVENT; 0 in other messages
 * @len: number of bytes after the header
 * @sequence: number of the message on this connection; begins at 1, without
 *	gaps
 * @applied: acknowledgment: highest sequence among the receiver's messages that
 *	the sender has applied
 * @serial: number of the sender's last write that ends in this message or
 *	before it; 0 in an ACK
 * @staged: number of the receiver's last STAGE that the sender obeys. Direct
 *	writes that the sender posted before it obeyed that STAGE arrive before
 *	this message
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
 * struct vrfm_wire_reject - private data of a rejected connect request
 * @magic: %VRFM_WIRE_MAGIC
 * @why: enum vrfm_reject
 */
struct vrfm_wire_reject {
	__le32 magic;
	__le32 why;
} __packed;
static_assert(sizeof(struct vrfm_wire_reject) == 8);

/**
 * struct vrfm_wire_run - consecutive bytes of the memory
 * @offset: offset of the first byte
 * @len: number of bytes, not 0
 *
 * The bytes follow the structure. Zeroes pad them to a multiple of
 * %VRFM_WIRE_ALIGN.
 */
struct vrfm_wire_run {
	__le32 offset;
	__le32 len;
} __packed;
static_assert(sizeof(struct vrfm_wire_run) == 8);

/**
 * struct vrfm_wire_event - an event for the receiver
 * @event: type of event, up to %RFM2G_EVENT_INTR4
 * @data: data of the sender
 * @number: number of the event; begins at 1 in each life of the sender's
 *	device. It shows the receiver that an event was sent again
 */
struct vrfm_wire_event {
	__le32 event;
	__le32 data;
	__le64 number;
} __packed;
static_assert(sizeof(struct vrfm_wire_event) == 16);

/**
 * enum vrfm_note_kind - kind of a note, and the meaning of its members
 * @VRFM_NOTE_INFO: the sender describes its image: @id is the lineage, @value
 *	is the age in ms, @number is the number of the sender's last load, and
 *	@flags are VRFM_INFO_...
 * @VRFM_NOTE_LOAD: the sender has begun its load @number of an image, and
 *	requests all own words of the receiver
 * @VRFM_NOTE_SWEPT: answer to LOAD @number: before this note, the sender has
 *	sent all its own words
 * @VRFM_NOTE_PULLED: answer to a PULL that begins with page @number: before
 *	this note, the sender has sent all pages that differ
 * @VRFM_NOTE_GONE: the sender describes what its memory contains of the writes
 *	of @node, a departed node, which may even be the receiver or the sender.
 *	@id is an ended life of @node; 0: no life is known. @value is the number
 *	of the last write of that life. @number is &vrfm_life.tie_breaker, and
 *	@flags are VRFM_GONE_... The newest life comes first, with
 *	%VRFM_GONE_NEWEST; earlier lives follow
 * @VRFM_NOTES: highest kind plus 1; 0 is not a kind
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
/* The sender is not loading an image. */
#define VRFM_INFO_COMPLETE BIT(0)
/*
 * The sender gave up another image. Words of that image may be missing in the
 * sender's present image.
 */
#define VRFM_INFO_MERGED BIT(1)
/* Flags of a GONE. */
/* All writes up to the number in @value are in the sender's memory. */
#define VRFM_GONE_SYNCED BIT(0)
/*
 * Some bytes of writes after the number in @value may be in the sender's memory
 * (&vrfm_life.direct).
 */
#define VRFM_GONE_DIRECT BIT(1)
/* The note replaces all earlier reports of the sender about the same node. */
#define VRFM_GONE_NEWEST BIT(2)

/**
 * struct vrfm_wire_note - a note; &enum vrfm_note_kind describes the members
 * @kind: enum vrfm_note_kind
 * @node: id of a node, in a GONE; otherwise 0
 * @flags: flags of an INFO or a GONE; otherwise 0
 * @number: see &enum vrfm_note_kind; 0 if the kind has no number
 * @id: see &enum vrfm_note_kind; 0 if the kind has no id
 * @value: see &enum vrfm_note_kind; 0 if the kind has no value
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
 * struct vrfm_wire_pull - request for pages: the receiver sends those that
 * differ from the sender's pages
 * @first: first page, in units of %VRFM_WIRE_PAGE
 * @count: number of pages
 * @digests: vrfm_digest() of each of these pages in the sender's memory
 */
struct vrfm_wire_pull {
	__le32 first;
	__le32 count;
	__le64 digests[];
} __packed;
static_assert(sizeof(struct vrfm_wire_pull) == 8);

/**
 * struct vrfm_wire_stage - map of the ranges where the receiver must not write
 * directly
 * @number: number of this STAGE: 1 or more, and higher than that of the STAGE
 *	before
 * @map_len: length of the map, in bytes. The map has a bit for each %VRFM_RANGE
 *	bytes of the memory, in words of 64 bits. If the bit is 1, the range is
 *	staged: the receiver sends its updates to the range as messages
 * @desc_len: length of the description of the sender's memory, in bytes; 0
 *	except in the first STAGE. The description lets the receiver write
 *	directly into ranges that are not staged
 *
 * The map follows the structure, and the description follows the map.
 */
struct vrfm_wire_stage {
	__le64 number;
	__le32 map_len;
	__le32 desc_len;
} __packed;
static_assert(sizeof(struct vrfm_wire_stage) == 16);

/**
 * struct vrfm_stage_msg - content of a STAGE, in the byte order of the CPU
 * @number: see &struct vrfm_wire_stage
 * @map: the map; points into the message
 * @map_len: length of the map, in bytes
 * @desc: the description; points into the message
 * @desc_len: length of the description, in bytes; 0: there is none
 */
struct vrfm_stage_msg {
	u64 number;
	const void *map;
	u32 map_len;
	const void *desc;
	u32 desc_len;
};

/**
 * struct vrfm_note - a note in the byte order of the CPU
 * @kind: enum vrfm_note_kind
 * @node: see &struct vrfm_wire_note
 * @flags: see &struct vrfm_wire_note
 * @number: see &struct vrfm_wire_note
 * @id: see &struct vrfm_wire_note
 * @value: see &struct vrfm_wire_note
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
 * struct vrfm_hello - a hello in the byte order of the CPU
 * @node: id of the sender
 * @to: id of the intended receiver
 * @network: network of the sender
 * @size: size of the sender's memory, in bytes
 * @epoch: id of the present life of the sender's device
 */
struct vrfm_hello {
	u32 node;
	u32 to;
	u32 network;
	u64 size;
	u64 epoch;
};

/**
 * enum vrfm_reject - reason why a node is rejected as a peer
 * @VRFM_REJECT_NONE: the node is accepted
 * @VRFM_REJECT_MAGIC: the node does not speak this protocol
 * @VRFM_REJECT_VERSION: the node speaks another version of this protocol
 * @VRFM_REJECT_NETWORK: the node belongs to another network
 * @VRFM_REJECT_SIZE: the node has a memory of another size
 * @VRFM_REJECT_NODE: the node has the same id as this node
 * @VRFM_REJECT_UNKNOWN: no peer with that id and address is configured, or the
 *	node wants to connect to another node than this one
 * @VRFM_REJECT_TWICE: a peer with the same id is connected, and has answered a
 *	probe
 * @VRFM_REJECT_BUSY: the former connection of the peer has not ended yet, so
 *	the peer must try again later
 * @VRFM_REJECT_KEY: the node has another key. krdma rejects the node, so no node
 *	sends this reason, nor the next one
 * @VRFM_REJECT_SECURITY: the node has another level of security
 * @VRFM_REJECTS: number of reasons
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
	VRFM_REJECT_KEY,
	VRFM_REJECT_SECURITY,
	VRFM_REJECTS,
};

/**
 * struct vrfm_head - a header in the byte order of the CPU
 * @type: enum vrfm_wire_type
 * @flags: VRFM_WIRE_...
 * @count: number of runs
 * @len: number of bytes after the header
 * @sequence: see &struct vrfm_wire_head
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
 * struct vrfm_wired_event - an event in the byte order of the CPU
 * @event: enum rfm2g_event
 * @data: data of the sender
 * @number: see &struct vrfm_wire_event
 */
struct vrfm_wired_event {
	u32 event;
	u32 data;
	u64 number;
};

/**
 * struct vrfm_run - a run in the byte order of the CPU
 * @offset: offset in the memory
 * @len: number of bytes
 * @bytes: the bytes; points into the message
 */
struct vrfm_run {
	u32 offset;
	u32 len;
	const void *bytes;
};

/**
 * struct vrfm_seen - state of a link that vrfm_proto_check() needs
 * @sequence: sequence of the last message from the peer
 * @sent: sequence of the last message that this node sent
 * @applied: sequence of the last message that the peer has acknowledged
 * @staged: number of the peer's last STAGE; 0: the peer has sent none
 * @told: number of the last STAGE that this node sent
 * @answered: number of the last STAGE of this node that the peer has answered
 * @size: size of the memory, in bytes
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
 * struct vrfm_pack - a message that is being filled
 * @msg: buffer for the message, aligned to 8 bytes
 * @room: size of the buffer, in bytes; at most %VRFM_WIRE_MAX
 * @len: number of bytes that are filled, including the header
 * @count: number of runs in the message
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
void vrfm_proto_event(const void *at, struct vrfm_wired_event *event);
void vrfm_proto_note(const void *msg, struct vrfm_note *note);
u64 vrfm_digest(const void *page);

void vrfm_pack_begin(struct vrfm_pack *pack, void *msg, u32 room);
u32 vrfm_pack_room(const struct vrfm_pack *pack);
u32 vrfm_pack_run(struct vrfm_pack *pack, u32 offset, const void *bytes,
		  u32 len);
bool vrfm_pack_has_room_for_event(const struct vrfm_pack *pack);
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
