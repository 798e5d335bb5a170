// SPDX-License-Identifier: GPL-2.0
/*
 * Encoding and decoding of the messages of krping_blk. The functions that
 * decode accept only valid messages: a peer may be broken or hostile.
 */
#include <linux/crc32.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/string.h>

#include <compat.h>

#include "blk_wire.h"

/**
 * struct krping_blk_head - first bytes of each message
 * @magic: KRPING_BLK_MAGIC
 * @type: see &enum krping_blk_type
 * @version: KRPING_BLK_VERSION
 * @zero: 0
 */
struct krping_blk_head {
	__be32 magic;
	u8 type;
	u8 version;
	__be16 zero;
} __packed;

struct krping_blk_hello_wire {
	struct krping_blk_head head;
	__be32 depth;
	__be32 slot;
	__be64 capacity;
	__be64 seq;
	u8 id[KRPING_BLK_ID_LEN];
} __packed;
static_assert(sizeof(struct krping_blk_hello_wire) == KRPING_BLK_HELLO_LEN);

struct krping_blk_grant_wire {
	struct krping_blk_head head;
	__be32 status;
	__be32 zero;
} __packed;
static_assert(sizeof(struct krping_blk_grant_wire) == KRPING_BLK_GRANT_LEN);

struct krping_blk_request_wire {
	struct krping_blk_head head;
	__be64 seq;
	__be64 offset;
	__be32 bytes;
	__be32 crc;
	__be32 tgid;
	u8 op;
	u8 zero;
	__be16 flags;
} __packed;
static_assert(sizeof(struct krping_blk_request_wire) == KRPING_BLK_REQUEST_LEN);

struct krping_blk_ack_wire {
	struct krping_blk_head head;
	__be64 seq;
	__be32 status;
	__be32 zero;
} __packed;
static_assert(sizeof(struct krping_blk_ack_wire) == KRPING_BLK_ACK_LEN);

/* Largest errno of a status, as MAX_ERRNO of <linux/err.h>. */
#define KRPING_BLK_ERRNO_MAX 4095

static void krping_blk_head_encode(struct krping_blk_head *head,
				   enum krping_blk_type type)
{
	head->magic = cpu_to_be32(KRPING_BLK_MAGIC);
	head->type = type;
	head->version = KRPING_BLK_VERSION;
	head->zero = 0;
}

static bool krping_blk_head_is(const struct krping_blk_head *head,
			       enum krping_blk_type type)
{
	return be32_to_cpu(head->magic) == KRPING_BLK_MAGIC &&
	       head->type == type && head->version == KRPING_BLK_VERSION;
}

static bool krping_blk_status_is_valid(int status)
{
	return status <= 0 && status >= -KRPING_BLK_ERRNO_MAX;
}

/**
 * krping_blk_crc - compute the checksum of the data of a write
 * @data: data
 * @len: number of bytes
 *
 * Return: the CRC32C, as iSCSI defines it.
 */
u32 krping_blk_crc(const void *data, size_t len)
{
	return ~krdma_crc32c(~0U, data, len);
}

/**
 * krping_blk_hello_encode - write a hello
 * @buf: KRPING_BLK_HELLO_LEN bytes
 * @hello: content
 */
void krping_blk_hello_encode(void *buf, const struct krping_blk_hello *hello)
{
	struct krping_blk_hello_wire *wire = buf;

	krping_blk_head_encode(&wire->head, KRPING_BLK_HELLO);
	wire->depth = cpu_to_be32(hello->depth);
	wire->slot = cpu_to_be32(hello->slot);
	wire->capacity = cpu_to_be64(hello->capacity);
	wire->seq = cpu_to_be64(hello->seq);
	memcpy(wire->id, hello->id, sizeof(wire->id));
}

static bool krping_blk_hello_is_valid(const struct krping_blk_hello *hello)
{
	return hello->depth && hello->depth <= KRPING_BLK_DEPTH_MAX &&
	       hello->slot >= KRPING_BLK_SLOT_MIN &&
	       hello->slot <= KRPING_BLK_SLOT_MAX && !(hello->slot % 4096) &&
	       (u64)hello->depth * hello->slot <= KRPING_BLK_RING_MAX &&
	       hello->capacity && hello->capacity <= KRPING_BLK_CAPACITY_MAX &&
	       !(hello->capacity % 512);
}

/**
 * krping_blk_hello_decode - read and check a hello
 * @hello: result; invalid after an error
 * @buf: message
 * @len: length of the message in bytes
 *
 * Return: 0 or -EPROTO.
 */
int krping_blk_hello_decode(struct krping_blk_hello *hello, const void *buf,
			    size_t len)
{
	const struct krping_blk_hello_wire *wire = buf;

	if (len != sizeof(*wire) ||
	    !krping_blk_head_is(&wire->head, KRPING_BLK_HELLO))
		return -EPROTO;
	hello->depth = be32_to_cpu(wire->depth);
	hello->slot = be32_to_cpu(wire->slot);
	hello->capacity = be64_to_cpu(wire->capacity);
	hello->seq = be64_to_cpu(wire->seq);
	memcpy(hello->id, wire->id, sizeof(hello->id));
	return krping_blk_hello_is_valid(hello) ? 0 : -EPROTO;
}

/**
 * krping_blk_grant_encode - write the first bytes of a grant
 * @buf: KRPING_BLK_GRANT_LEN bytes
 * @status: 0, or the negative errno with which the server refuses the client
 */
void krping_blk_grant_encode(void *buf, int status)
{
	struct krping_blk_grant_wire *wire = buf;

	krping_blk_head_encode(&wire->head, KRPING_BLK_GRANT);
	wire->status = cpu_to_be32(status);
	wire->zero = 0;
}

/**
 * krping_blk_grant_decode - read and check the first bytes of a grant
 * @status: result: 0 or a negative errno
 * @buf: message
 * @len: length of the message in bytes
 *
 * Return: 0 or -EPROTO.
 */
int krping_blk_grant_decode(int *status, const void *buf, size_t len)
{
	const struct krping_blk_grant_wire *wire = buf;

	if (len < sizeof(*wire) ||
	    !krping_blk_head_is(&wire->head, KRPING_BLK_GRANT))
		return -EPROTO;
	*status = be32_to_cpu(wire->status);
	return krping_blk_status_is_valid(*status) ? 0 : -EPROTO;
}

/**
 * krping_blk_request_encode - write a request
 * @buf: KRPING_BLK_REQUEST_LEN bytes
 * @req: content
 */
void krping_blk_request_encode(void *buf, const struct krping_blk_request *req)
{
	struct krping_blk_request_wire *wire = buf;

	krping_blk_head_encode(&wire->head, KRPING_BLK_REQUEST);
	wire->seq = cpu_to_be64(req->seq);
	wire->offset = cpu_to_be64(req->offset);
	wire->bytes = cpu_to_be32(req->bytes);
	wire->crc = cpu_to_be32(req->crc);
	wire->tgid = cpu_to_be32(req->tgid);
	wire->op = req->op;
	wire->zero = 0;
	wire->flags = cpu_to_be16(req->flags);
}

/**
 * krping_blk_request_decode - read and check a request
 * @req: result; invalid after an error. The range is not checked, see
 *	krping_blk_request_fits()
 * @buf: message
 * @len: length of the message in bytes
 *
 * Return: 0 or -EPROTO.
 */
int krping_blk_request_decode(struct krping_blk_request *req, const void *buf,
			      size_t len)
{
	const struct krping_blk_request_wire *wire = buf;

	if (len != sizeof(*wire) ||
	    !krping_blk_head_is(&wire->head, KRPING_BLK_REQUEST))
		return -EPROTO;
	req->op = wire->op;
	req->flags = be16_to_cpu(wire->flags);
	req->bytes = be32_to_cpu(wire->bytes);
	req->seq = be64_to_cpu(wire->seq);
	req->offset = be64_to_cpu(wire->offset);
	req->crc = be32_to_cpu(wire->crc);
	req->tgid = be32_to_cpu(wire->tgid);
	if (req->op >= KRPING_BLK_OPS || req->flags & ~KRPING_BLK_FLAGS)
		return -EPROTO;
	return 0;
}

/**
 * krping_blk_request_fits - check the range of a request
 * @req: request that krping_blk_request_decode() has accepted
 * @slot: number of bytes of a slot
 * @capacity: capacity of the disk in bytes
 *
 * Return: true if the range is within the disk and consists of whole sectors,
 * and if the data of a write fit into a slot.
 */
bool krping_blk_request_fits(const struct krping_blk_request *req, u32 slot,
			     u64 capacity)
{
	if (req->op == KRPING_BLK_FLUSH)
		return !req->bytes && !req->offset;
	if (!req->bytes || req->bytes % 512 || req->offset % 512)
		return false;
	if (req->op == KRPING_BLK_WRITE && req->bytes > slot)
		return false;
	return req->offset <= capacity && req->bytes <= capacity - req->offset;
}

/**
 * krping_blk_ack_encode - write an acknowledgment
 * @buf: KRPING_BLK_ACK_LEN bytes
 * @ack: content
 */
void krping_blk_ack_encode(void *buf, const struct krping_blk_ack *ack)
{
	struct krping_blk_ack_wire *wire = buf;

	krping_blk_head_encode(&wire->head, KRPING_BLK_ACK);
	wire->seq = cpu_to_be64(ack->seq);
	wire->status = cpu_to_be32(ack->status);
	wire->zero = 0;
}

/**
 * krping_blk_ack_decode - read and check an acknowledgment
 * @ack: result; invalid after an error
 * @buf: message
 * @len: length of the message in bytes
 *
 * Return: 0 or -EPROTO.
 */
int krping_blk_ack_decode(struct krping_blk_ack *ack, const void *buf,
			  size_t len)
{
	const struct krping_blk_ack_wire *wire = buf;

	if (len != sizeof(*wire) ||
	    !krping_blk_head_is(&wire->head, KRPING_BLK_ACK))
		return -EPROTO;
	ack->seq = be64_to_cpu(wire->seq);
	ack->status = be32_to_cpu(wire->status);
	return krping_blk_status_is_valid(ack->status) ? 0 : -EPROTO;
}
