/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Bytes in a shared memory window. See Documentation/ntrdma-protocol.rst.
 *
 * A window is the inbox of one member. Only its peer writes to it. It begins
 * with a page of words about the link. The rings follow, one for each lane of
 * the session, and one for Ethernet packets. A ring consists of cells. A frame is a header and
 * up to a chunk of payload, in consecutive cells.
 */
#ifndef NTRDMA_WIRE_H
#define NTRDMA_WIRE_H

#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/if_ether.h>
#include <linux/sizes.h>
#include <linux/types.h>

#define NTRDMA_WIRE_MAGIC	0x3152544e /* "NTR1" */
#define NTRDMA_WIRE_VERSION	1

#define NTRDMA_MEMBERS		16
#define NTRDMA_LANES		8
/* The rings of an inbox: one for each lane, and one for Ethernet. */
#define NTRDMA_RINGS		(NTRDMA_LANES + 1)
/*
 * Number of the ring for Ethernet. Its words are always the last ones. Its
 * memory follows that of the lanes of the session.
 */
#define NTRDMA_ETH_RING		NTRDMA_LANES

#define NTRDMA_PAGE_BYTES	4096
#define NTRDMA_CELL		64
#define NTRDMA_RING_MIN		SZ_16K
#define NTRDMA_RING_MAX		SZ_16M
#define NTRDMA_CHUNK_MIN	SZ_4K
#define NTRDMA_CHUNK_MAX	SZ_64K
#define NTRDMA_INBOX_MIN	SZ_64K
#define NTRDMA_INBOX_MAX	SZ_256M

/* Maximum length of a message. */
#define NTRDMA_MESSAGE_MAX	BIT(30)
/* Numbers of QPs and of messages have 24 bits. */
#define NTRDMA_NUMBER_MASK	(BIT(24) - 1)

/* State of the writer of a page. */
enum ntrdma_wire_state {
	NTRDMA_WIRE_OFF		= 0,
	NTRDMA_WIRE_HELLO	= 1,
	NTRDMA_WIRE_UP		= 2,
	NTRDMA_WIRE_LEAVING	= 3,
};

/**
 * struct ntrdma_wire_words - words about one ring, in a cache line of their own
 * @prod: number of cells that the writer has filled, in the ring of this inbox
 * @cons: number of cells that the writer has consumed, in the ring with the
 *	same number in its own inbox
 * @bell: index at which the writer sleeps: the peer rings the writer's doorbell
 *	when its own @prod passes this index
 * @room: 1: the writer waits for room: the peer rings the writer's doorbell
 *	when its own @cons changes
 * @pad: 0
 */
struct ntrdma_wire_words {
	__le32 prod;
	__le32 cons;
	__le32 bell;
	__le32 room;
	u8 pad[48];
} __packed;

static_assert(sizeof(struct ntrdma_wire_words) == NTRDMA_CELL);

/**
 * struct ntrdma_wire_hello - the part of a page that is constant in a session
 * @magic: %NTRDMA_WIRE_MAGIC
 * @version: %NTRDMA_WIRE_VERSION
 * @member: number of the writer in the fabric
 * @lanes: number of lanes that the writer offers
 * @ring_bytes: bytes of a ring, offered by the writer; a power of 2
 * @chunk: maximum bytes of payload in a frame, offered by the writer
 * @mac: MAC address of the writer
 * @bells: number of doorbells that the writer takes; 0: it polls
 * @guid: node GUID of the writer
 * @name: host name of the writer, for people; may lack a final 0
 * @dead_ms: time without a sign of life after which the writer ends a session,
 *	in ms
 * @reserved: 0
 * @my: number of the writer's session; 0: none
 */
struct ntrdma_wire_hello {
	__le32 magic;
	__le16 version;
	u8 member;
	u8 lanes;
	__le32 ring_bytes;
	__le32 chunk;
	u8 mac[ETH_ALEN];
	__le16 bells;
	__le64 guid;
	u8 name[16];
	__le32 dead_ms;
	__le32 reserved[2];
	__le32 my;
} __packed;

static_assert(sizeof(struct ntrdma_wire_hello) == 64);

/**
 * struct ntrdma_wire_page - the first page of an inbox
 * @hello: see &struct ntrdma_wire_hello
 * @yours: number of the reader's session that the writer has accepted, or 0
 * @state: &enum ntrdma_wire_state of the writer
 * @beat: counts up while the writer is alive
 * @reason: &enum ntrdma_reason for which the writer leaves
 * @pad: 0
 * @rings: words about each ring
 * @rest: 0
 */
struct ntrdma_wire_page {
	struct ntrdma_wire_hello hello;
	__le32 yours;
	__le32 state;
	__le32 beat;
	__le32 reason;
	u8 pad[176];
	struct ntrdma_wire_words rings[NTRDMA_RINGS];
	u8 rest[NTRDMA_PAGE_BYTES - 256 - NTRDMA_RINGS * NTRDMA_CELL];
} __packed;

static_assert(offsetof(struct ntrdma_wire_page, rings) == 256);
static_assert(sizeof(struct ntrdma_wire_page) == NTRDMA_PAGE_BYTES);

/* Kinds of frames. */
enum ntrdma_kind {
	NTRDMA_PAD	= 1,
	NTRDMA_SEND	= 2,
	NTRDMA_WRITE	= 3,
	NTRDMA_READ	= 4,
	NTRDMA_DATA	= 5,
	NTRDMA_ATOMIC	= 6,
	NTRDMA_RESULT	= 7,
	NTRDMA_ACK	= 8,
	NTRDMA_NAK	= 9,
	NTRDMA_UD	= 10,
	NTRDMA_ETH	= 11,
	NTRDMA_KINDS,	/* first number that is no kind */
};

/* Flags of frames. */
enum ntrdma_frame_flags {
	NTRDMA_FIRST	 = BIT(0), /* begin of a message */
	NTRDMA_LAST	 = BIT(1), /* end of a message */
	NTRDMA_ACK_REQ	 = BIT(2), /* the sender wants an ACK */
	NTRDMA_SOLICITED = BIT(3), /* solicited event */
	NTRDMA_IMM	 = BIT(4), /* the frame has immediate data */
	NTRDMA_INV	 = BIT(5), /* the frame has a key to invalidate */
	NTRDMA_CAS	 = BIT(6), /* ATOMIC: compare and swap, otherwise add */
	NTRDMA_READY	 = BIT(7), /* ACK: there are receives again */
};

/*
 * Codes of a NAK frame, in the lowest byte of imm. The next byte is the RNR
 * timer.
 */
enum ntrdma_nak {
	NTRDMA_NAK_RNR		= 1, /* no receive is posted */
	NTRDMA_NAK_NO_QP	= 2, /* no such QP, or it is not in RTR yet */
	NTRDMA_NAK_SEQUENCE	= 3, /* a message is missing */
	NTRDMA_NAK_ACCESS	= 4, /* key, range or rights are invalid */
	NTRDMA_NAK_REQUEST	= 5, /* the request is invalid */
	NTRDMA_NAK_OPERATION	= 6, /* the responder failed */
	NTRDMA_NAKS,		     /* first number that is no code */
};

/* Payload of up to this number of bytes is in the cell of the header. */
#define NTRDMA_SHORT 16

/**
 * struct ntrdma_wire_hdr - the first cell of a frame
 * @seal: index of this cell, XOR the session number of the receiver
 * @kind: &enum ntrdma_kind
 * @flags: &enum ntrdma_frame_flags
 * @cells: number of cells of the frame
 * @bytes: bytes of payload
 * @dest_qp: number of the receiving QP
 * @src_qp: number of the sending QP
 * @msn: number of the message
 * @offset: position of the payload in its message. UD: VLAN tag, or 0xffff
 * @total: bytes of the message
 * @addr: remote address
 * @rkey: remote key. UD: Q_Key
 * @imm: immediate data in the user's byte order, or a key to invalidate. NAK:
 *	code and timer
 * @data: payload of up to 16 bytes; longer payload begins in the next cell
 */
struct ntrdma_wire_hdr {
	__le32 seal;
	u8 kind;
	u8 flags;
	__le16 cells;
	__le32 bytes;
	__le32 dest_qp;
	__le32 src_qp;
	__le32 msn;
	__le32 offset;
	__le32 total;
	__le64 addr;
	__le32 rkey;
	__le32 imm;
	u8 data[NTRDMA_SHORT];
} __packed;

static_assert(sizeof(struct ntrdma_wire_hdr) == NTRDMA_CELL);

/* Payload of a UD frame: two GIDs (32 bytes), then the datagram. */
#define NTRDMA_UD_GIDS	32
#define NTRDMA_UD_MAX	4096
/* Payload of an ETH frame: struct virtio_net_hdr, padding, then the packet. */
#define NTRDMA_ETH_HDR	16
#define NTRDMA_NO_VLAN	0xffff

/* Directory of a memory that several machines share: its first 4 KiB. */
#define NTRDMA_DIR_MAGIC	0x313052494452544eULL /* "NTRDIR01" */
#define NTRDMA_DIR_VERSION	1
/*
 * Upper half of the word magic while a member formats the directory. The lower
 * half is random.
 */
#define NTRDMA_DIR_BUSY		0x59535542ULL /* "BUSY" */

/**
 * struct ntrdma_wire_slot - a member in the directory
 * @owner: random number of the member that has the slot, or 0
 * @beat: counts up while the owner is alive
 * @bell: number of the owner for doorbells, plus 1; 0: it has no doorbells
 * @pad: 0
 */
struct ntrdma_wire_slot {
	__le64 owner;
	__le32 beat;
	__le32 bell;
	u8 pad[48];
} __packed;

static_assert(sizeof(struct ntrdma_wire_slot) == 64);

/**
 * struct ntrdma_wire_dir_head - the constant part of a directory
 * @magic: %NTRDMA_DIR_MAGIC, written last; 0: memory that nobody has used yet
 * @version: %NTRDMA_DIR_VERSION
 * @members: number of slots, 2 to %NTRDMA_MEMBERS
 * @inbox: bytes of an inbox, a multiple of %NTRDMA_PAGE_BYTES
 * @fabric: random number of the group of members
 * @pad: 0
 */
struct ntrdma_wire_dir_head {
	__le64 magic;
	__le32 version;
	__le32 members;
	__le64 inbox;
	__le64 fabric;
	u8 pad[32];
} __packed;

static_assert(sizeof(struct ntrdma_wire_dir_head) == 64);

/**
 * struct ntrdma_wire_dir - directory of the members
 * @head: constant part
 * @slots: members by number
 * @rest: 0
 *
 * The inboxes follow the directory: those of member 0, from its peers in the
 * order of their numbers, then those of member 1, and so on.
 */
struct ntrdma_wire_dir {
	struct ntrdma_wire_dir_head head;
	struct ntrdma_wire_slot slots[NTRDMA_MEMBERS];
	u8 rest[NTRDMA_PAGE_BYTES - 64 - NTRDMA_MEMBERS * 64];
} __packed;

static_assert(offsetof(struct ntrdma_wire_dir, slots) == 64);
static_assert(sizeof(struct ntrdma_wire_dir) == NTRDMA_PAGE_BYTES);

#endif /* NTRDMA_WIRE_H */
