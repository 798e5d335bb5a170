/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Format of message mode on the wire. All numbers are little endian. The
 * decoders get bytes from a peer, so they check length, magic, version and
 * every range before they fill in the result.
 *
 *   client                                   server
 *     REQ  (hello + user's private data) ->
 *                                        <-  REP (hello + user's private data)
 *                                            or REJ (krdma_wire_rej)
 *                                            with a level: see door.h
 *     START [exported buffer]               ->  on iWARP the connecting side
 *     (with a level AUTH instead)              must send first (RFC 5044 7.1.2)
 *                                        <-  START [exported buffer]
 *     DATA, CREDIT, PING, PONG           <-> DATA, CREDIT, PING, PONG
 *     WRITE with immediate data; iWARP:  <-> the same
 *     WRITE, then WRITTEN
 *     CHUNK                              ->  READs the described memory
 *                                        <-  PULLED
 *     BYE                                <-> ends the connection
 */
#ifndef KRDMA_WIRE_H
#define KRDMA_WIRE_H

#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/types.h>

#define KRDMA_WIRE_MAGIC	0x616d646b /* "kdma" */
#define KRDMA_WIRE_VERSION	1	   /* newest supported version */
#define KRDMA_WIRE_MIN_VERSION	1	   /* oldest supported version */
/*
 * Version of the hello of a connection with a level of security, and of its
 * messages that have a tag. The upper half of the hello's mode is the level.
 */
#define KRDMA_WIRE_VERSION_LEVEL 2

#define KRDMA_WIRE_BUF_MIN	256
#define KRDMA_WIRE_BUF_MAX	65536
#define KRDMA_WIRE_DEPTH_MAX	4096
#define KRDMA_WIRE_MSG_MAX	BIT(30)
#define KRDMA_WIRE_SEGS_MAX	1024
#define KRDMA_WIRE_USER_MAX	32
#define KRDMA_WIRE_LEVEL_USER_MAX 24 /* KRDMA_WIRE_USER_MAX with a level */
#define KRDMA_WIRE_LEVEL_SHIFT	4
#define KRDMA_WIRE_LEVEL_MAX	3 /* levels are enum krdma_security */

/* Mode of a connection; both ends must use the same mode. */
enum krdma_wire_mode {
	KRDMA_WIRE_MODE_MSG = 0,
	KRDMA_WIRE_MODE_RW  = 1,
};

/*
 * Optional capabilities of an end: bits of the hello.
 * PING: the end answers PING. It has KRDMA_WIRE_CONTROL_RECVS further receives
 * for internal messages, and grants no credits for them.
 * BYE: the end understands BYE, which uses one of these receives.
 * PULL: the end reads the memory that a CHUNK describes, and answers PULLED. It
 * has one more receive, for the peer's PULLED.
 * WRITTEN: the user of the end wants notifications of writes, by WRITTEN or by
 * immediate data.
 * INV: a DATA message may invalidate a key of the end, if the key was created
 * for remote invalidation.
 */
#define KRDMA_WIRE_FEATURE_PING	  BIT(0)
#define KRDMA_WIRE_FEATURE_BYE	  BIT(1)
#define KRDMA_WIRE_FEATURE_PULL	  BIT(2)
#define KRDMA_WIRE_FEATURE_WRITTEN BIT(3)
#define KRDMA_WIRE_FEATURE_INV	  BIT(4)
#define KRDMA_WIRE_FEATURES	  (KRDMA_WIRE_FEATURE_PING | \
				   KRDMA_WIRE_FEATURE_BYE | \
				   KRDMA_WIRE_FEATURE_PULL | \
				   KRDMA_WIRE_FEATURE_WRITTEN | \
				   KRDMA_WIRE_FEATURE_INV)
#define KRDMA_WIRE_FEATURES_ONE_SIDED (KRDMA_WIRE_FEATURE_PULL | \
				       KRDMA_WIRE_FEATURE_WRITTEN | \
				       KRDMA_WIRE_FEATURE_INV)
#define KRDMA_WIRE_CONTROL_RECVS  4
#define KRDMA_WIRE_PULLED_RECVS	  1

/*
 * The upper bits of the features describe the sender's interface. An end that
 * does not know these bits ignores them. GID: 1 + enum ib_gid_type. MTU: the
 * largest path MTU, as enum ib_mtu. A value of 0 means not known.
 */
#define KRDMA_WIRE_FEATURE_BITS	  0x07ff
#define KRDMA_WIRE_GID_SHIFT	  11
#define KRDMA_WIRE_GID_MAX	  3
#define KRDMA_WIRE_MTU_SHIFT	  13
#define KRDMA_WIRE_MTU_MAX	  5 /* 4096 bytes */

/**
 * struct krdma_wire_hello - hello: first part of the private data in REQ and
 * REP
 * @magic: KRDMA_WIRE_MAGIC
 * @version: newest version that the sender supports
 * @min_version: oldest version that the sender supports
 * @mode: &enum krdma_wire_mode; version 2: also the level, from
 *	KRDMA_WIRE_LEVEL_SHIFT on
 * @user_len: number of bytes of the user's private data behind the hello
 * @buf_size: number of bytes of each receive buffer of the sender, including
 *	the bytes for the header of a message
 * @max_msg: number of bytes of the longest message that the sender accepts
 * @recv_depth: number of receives that the sender has posted, which is also the
 *	initial number of credits of its peer
 * @features: KRDMA_WIRE_FEATURE_*; unknown bits are ignored
 * @session: &krdma_params.session of the sender, or a random number
 */
struct krdma_wire_hello {
	__le32 magic;
	u8 version;
	u8 min_version;
	u8 mode;
	u8 user_len;
	__le32 buf_size;
	__le32 max_msg;
	__le16 recv_depth;
	__le16 features;
	__le32 session;
} __packed;
static_assert(sizeof(struct krdma_wire_hello) == 24);

/**
 * enum krdma_wire_reason - reason in a REJ for which a connect request was
 * rejected
 * @KRDMA_WIRE_REJ_USER: the user called krdma_reject_request()
 * @KRDMA_WIRE_REJ_PROTO: the hello in the request is invalid
 * @KRDMA_WIRE_REJ_VERSION: the two ends have no common version
 * @KRDMA_WIRE_REJ_MODE: only one end uses KRDMA_RW
 * @KRDMA_WIRE_REJ_BUSY: the listener has too many pending requests or
 *	connections
 * @KRDMA_WIRE_REJ_NOMEM: memory or QPs are lacking
 * @KRDMA_WIRE_REJ_TIMEOUT: the request was not accepted in time
 * @KRDMA_WIRE_REJ_CLOSING: the listener is being closed
 * @KRDMA_WIRE_REJ_SECURITY: the two ends have different levels of security
 * @KRDMA_WIRE_REJ_KEY: the request was tagged with a key that the listener does
 *	not have, or for other addresses
 */
enum krdma_wire_reason {
	KRDMA_WIRE_REJ_USER = 1,
	KRDMA_WIRE_REJ_PROTO = 2,
	KRDMA_WIRE_REJ_VERSION = 3,
	KRDMA_WIRE_REJ_MODE = 4,
	KRDMA_WIRE_REJ_BUSY = 5,
	KRDMA_WIRE_REJ_NOMEM = 6,
	KRDMA_WIRE_REJ_TIMEOUT = 7,
	KRDMA_WIRE_REJ_CLOSING = 8,
	KRDMA_WIRE_REJ_SECURITY = 9,
	KRDMA_WIRE_REJ_KEY = 10,
};

/**
 * struct krdma_wire_rej - first part of the private data in REJ
 * @magic: KRDMA_WIRE_MAGIC
 * @version: newest version that the sender supports
 * @reason: &enum krdma_wire_reason
 * @user_len: number of bytes of the user's private data behind this struct
 * @reserved: 0
 */
struct krdma_wire_rej {
	__le32 magic;
	u8 version;
	u8 reason;
	u8 user_len;
	u8 reserved;
} __packed;
static_assert(sizeof(struct krdma_wire_rej) == 8);

/**
 * enum krdma_wire_type - type of a message
 * @KRDMA_WIRE_START: first message of each end; may describe an exported buffer
 * @KRDMA_WIRE_DATA: message of the user, or a part of one
 * @KRDMA_WIRE_CREDIT: only returns credits
 * @KRDMA_WIRE_PING: requests a PONG; takes no credit
 * @KRDMA_WIRE_PONG: answers a PING; takes no credit
 * @KRDMA_WIRE_BYE: announces that the sender closes; takes no credit
 * @KRDMA_WIRE_CHUNK: describes memory with a part of a message of the user. The
 *	receiver must read the part by RDMA READs
 * @KRDMA_WIRE_PULLED: reports that the sender has read the part that a CHUNK
 *	describes; takes no credit
 * @KRDMA_WIRE_WRITTEN: reports that the sender has written to the receiver's
 *	memory
 * @KRDMA_WIRE_AUTH: with a level: first message of a client. Its body is the
 *	second message of the handshake, which contains the body of START
 */
enum krdma_wire_type {
	KRDMA_WIRE_START  = 1,
	KRDMA_WIRE_DATA   = 2,
	KRDMA_WIRE_CREDIT = 3,
	KRDMA_WIRE_PING	  = 4,
	KRDMA_WIRE_PONG	  = 5,
	KRDMA_WIRE_BYE	  = 6,
	KRDMA_WIRE_CHUNK  = 7,
	KRDMA_WIRE_PULLED = 8,
	KRDMA_WIRE_WRITTEN = 9,
	KRDMA_WIRE_AUTH = 10,
};

/*
 * Check whether a message of this type contains or describes a part of the
 * user's message.
 */
static inline bool krdma_wire_is_part(u8 type)
{
	return type == KRDMA_WIRE_DATA || type == KRDMA_WIRE_CHUNK;
}

/* Check whether a message of this type takes no credit. */
static inline bool krdma_wire_is_free(u8 type)
{
	return type == KRDMA_WIRE_PING || type == KRDMA_WIRE_PONG ||
	       type == KRDMA_WIRE_BYE || type == KRDMA_WIRE_PULLED;
}

/**
 * struct krdma_wire_hdr - header: first bytes of every message
 * @version: KRDMA_WIRE_VERSION; KRDMA_WIRE_VERSION_LEVEL in a message with a
 *	tag
 * @type: &enum krdma_wire_type
 * @credits: number of credits that the message returns to its receiver
 * @msg_len: DATA and CHUNK: number of bytes of the user's whole message
 * @msg_id: DATA, CHUNK and PULLED: number of the user's message, counted from
 *	0; may wrap. BYE: reason for closing. WRITTEN: the user's immediate data
 * @offset: DATA and CHUNK: offset of the part in the user's message. PULLED:
 *	offset of the end of the part that the CHUNK describes
 */
struct krdma_wire_hdr {
	u8 version;
	u8 type;
	__le16 credits;
	__le32 msg_len;
	__le32 msg_id;
	__le32 offset;
} __packed;
static_assert(sizeof(struct krdma_wire_hdr) == 16);

/*
 * Description of the exported buffer. It follows the header of START in
 * KRDMA_RW connections.
 */
struct krdma_wire_export {
	__le64 len;
	__le32 nsegs;
	__le32 reserved;
} __packed;
static_assert(sizeof(struct krdma_wire_export) == 16);

/*
 * Description of one MR, which is a part of an exported buffer or of the memory
 * that a CHUNK describes.
 */
struct krdma_wire_seg {
	__le64 addr;
	__le32 rkey;
	__le32 len;
} __packed;
static_assert(sizeof(struct krdma_wire_seg) == 16);

/**
 * struct krdma_hello - decoded hello, in the byte order of the CPU
 * @version: after decoding: newest version that both ends support
 * @mode: &enum krdma_wire_mode
 * @level: level of security, 0 to KRDMA_WIRE_LEVEL_MAX
 * @user_len: see &struct krdma_wire_hello
 * @buf_size: see &struct krdma_wire_hello
 * @max_msg: see &struct krdma_wire_hello
 * @recv_depth: see &struct krdma_wire_hello
 * @features: KRDMA_WIRE_FEATURE_* without the GID type and the MTU
 * @gid: GID type of the sender, see KRDMA_WIRE_GID_SHIFT
 * @mtu: largest path MTU of the sender, see KRDMA_WIRE_MTU_SHIFT
 * @session: see &struct krdma_wire_hello
 */
struct krdma_hello {
	u8 version;
	u8 mode;
	u8 level;
	u8 user_len;
	u32 buf_size;
	u32 max_msg;
	u16 recv_depth;
	u16 features;
	u8 gid;
	u8 mtu;
	u32 session;
};

/**
 * struct krdma_hdr - decoded header, in the byte order of the CPU
 * @type: see &struct krdma_wire_hdr
 * @credits: see &struct krdma_wire_hdr
 * @msg_len: see &struct krdma_wire_hdr
 * @msg_id: see &struct krdma_wire_hdr
 * @offset: see &struct krdma_wire_hdr
 * @part_len: after decoding: number of bytes of the part of the user's message
 *	that a DATA message contains or a CHUNK describes. START: number of
 *	bytes behind the header
 * @tagged: the message has a tag, which covers the header. So the header does
 *	not change any more, and returns no credits
 */
struct krdma_hdr {
	u8 type;
	u16 credits;
	u32 msg_len;
	u32 msg_id;
	u32 offset;
	u32 part_len;
	bool tagged;
};

struct krdma_seg {
	u64 addr;
	u32 rkey;
	u32 len;
};

void krdma_hello_encode(struct krdma_wire_hello *wire,
			const struct krdma_hello *hello);
int krdma_hello_decode(struct krdma_hello *hello, const void *data, size_t len);
void krdma_rej_encode(struct krdma_wire_rej *wire, u8 reason, u8 user_len);
int krdma_rej_decode(u8 *reason, u8 *user_len, const void *data, size_t len);
int krdma_rej_errno(u8 reason);
void krdma_hdr_encode(struct krdma_wire_hdr *wire, const struct krdma_hdr *hdr);
int krdma_hdr_decode(struct krdma_hdr *hdr, const void *data, size_t len,
		     u32 max_msg);
int krdma_hdr_decode_sealed(struct krdma_hdr *hdr, const void *data, size_t len,
			    u32 max_msg);
int krdma_hdr_decode_tagged(struct krdma_hdr *hdr, const void *data, size_t len,
			    u8 type);
void krdma_seg_encode(struct krdma_wire_seg *wire, const struct krdma_seg *seg);
void krdma_seg_decode(struct krdma_seg *seg, const struct krdma_wire_seg *wire);
size_t krdma_export_wire_size(u32 nsegs);
void krdma_export_encode(struct krdma_wire_export *exported, u64 len,
			 u32 nsegs);
int krdma_export_count(const void *data, size_t len);
int krdma_export_decode(struct krdma_seg *segs, u32 nsegs, const void *data,
			size_t len);

#endif /* KRDMA_WIRE_H */
