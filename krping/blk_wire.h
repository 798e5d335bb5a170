/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Messages between a disk of krping_blk, the client, and its server. All
 * numbers are in big endian. The functions are pure: no verbs, no sleeping, no
 * globals.
 */
#ifndef KRPING_BLK_WIRE_H
#define KRPING_BLK_WIRE_H

#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/types.h>

/* The text "KRPB", which begins each message. */
#define KRPING_BLK_MAGIC 0x4b525042
#define KRPING_BLK_VERSION 1

/* Length of the number that identifies a disk, in bytes. */
#define KRPING_BLK_ID_LEN 16

/* Limits of a client's ring: slots, bytes of a slot, and bytes of the ring. */
#define KRPING_BLK_DEPTH_MAX 1024
#define KRPING_BLK_SLOT_MIN 4096
#define KRPING_BLK_SLOT_MAX (1024 * 1024)
#define KRPING_BLK_RING_MAX (64 * 1024 * 1024)

/* Capacity limit of a disk, in bytes. */
#define KRPING_BLK_CAPACITY_MAX BIT_ULL(50)

/**
 * enum krping_blk_type - type of a message
 * @KRPING_BLK_HELLO: first message of a client
 * @KRPING_BLK_GRANT: answer of the server, followed by the description of the
 *	ring
 * @KRPING_BLK_REQUEST: request of the client
 * @KRPING_BLK_ACK: answer of the server to a request
 */
enum krping_blk_type {
	KRPING_BLK_HELLO = 1,
	KRPING_BLK_GRANT,
	KRPING_BLK_REQUEST,
	KRPING_BLK_ACK,
};

/**
 * enum krping_blk_op - operation of a request
 * @KRPING_BLK_READ: notification of a read; carries no data
 * @KRPING_BLK_WRITE: write the data in the slot of the request
 * @KRPING_BLK_DISCARD: the content of the range is no longer needed
 * @KRPING_BLK_FLUSH: write all data of earlier requests to the medium
 * @KRPING_BLK_ZEROES: write zeroes
 */
enum krping_blk_op {
	KRPING_BLK_READ = 0,
	KRPING_BLK_WRITE,
	KRPING_BLK_DISCARD,
	KRPING_BLK_FLUSH,
	KRPING_BLK_ZEROES,
};

/* Number of operations. */
#define KRPING_BLK_OPS (KRPING_BLK_ZEROES + 1)

/*
 * Flags of a request:
 *  - KRPING_BLK_FUA: acknowledge the request when its data are on the medium
 *  - KRPING_BLK_PREFLUSH: write the data of earlier requests to the medium first
 *  - KRPING_BLK_NO_CRC: the data have no checksum
 */
#define KRPING_BLK_FUA		BIT(0)
#define KRPING_BLK_PREFLUSH	BIT(1)
#define KRPING_BLK_NO_CRC	BIT(2)
#define KRPING_BLK_FLAGS	GENMASK(2, 0)

/**
 * struct krping_blk_hello - hello of a client
 * @depth: number of slots of the ring
 * @slot: number of bytes of a slot
 * @capacity: capacity of the disk in bytes
 * @seq: sequence number of the first request on this connection
 * @id: random number that identifies the disk
 */
struct krping_blk_hello {
	u32 depth;
	u32 slot;
	u64 capacity;
	u64 seq;
	u8 id[KRPING_BLK_ID_LEN];
};

/**
 * struct krping_blk_request - request of a client
 * @op: operation, see &enum krping_blk_op
 * @flags: KRPING_BLK_FUA, KRPING_BLK_PREFLUSH, KRPING_BLK_NO_CRC
 * @bytes: length of the range in bytes; KRPING_BLK_WRITE: length of the data
 * @seq: sequence number; modulo the depth, it is the number of the slot
 * @offset: first byte of the range on the disk
 * @crc: KRPING_BLK_WRITE without KRPING_BLK_NO_CRC: CRC32C of the data;
 *	otherwise 0
 * @tgid: thread group that submitted the request, or 0
 */
struct krping_blk_request {
	u8 op;
	u16 flags;
	u32 bytes;
	u64 seq;
	u64 offset;
	u32 crc;
	u32 tgid;
};

/**
 * struct krping_blk_ack - answer of a server to a request
 * @seq: sequence number of the request
 * @status: 0 if the request is done, or a negative errno
 */
struct krping_blk_ack {
	u64 seq;
	int status;
};

/* Lengths of the messages in bytes. The description of the ring follows GRANT. */
#define KRPING_BLK_HELLO_LEN	48
#define KRPING_BLK_GRANT_LEN	16
#define KRPING_BLK_REQUEST_LEN	40
#define KRPING_BLK_ACK_LEN	24

u32 krping_blk_crc(const void *data, size_t len);
void krping_blk_hello_encode(void *buf, const struct krping_blk_hello *hello);
int krping_blk_hello_decode(struct krping_blk_hello *hello, const void *buf,
			    size_t len);
void krping_blk_grant_encode(void *buf, int status);
int krping_blk_grant_decode(int *status, const void *buf, size_t len);
void krping_blk_request_encode(void *buf,
			       const struct krping_blk_request *req);
int krping_blk_request_decode(struct krping_blk_request *req, const void *buf,
			      size_t len);
bool krping_blk_request_fits(const struct krping_blk_request *req, u32 slot,
			     u64 capacity);
void krping_blk_ack_encode(void *buf, const struct krping_blk_ack *ack);
int krping_blk_ack_decode(struct krping_blk_ack *ack, const void *buf,
			  size_t len);

#endif /* KRPING_BLK_WIRE_H */
