// SPDX-License-Identifier: GPL-2.0
/* Encoding and decoding of the structures of wire.h. */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/string.h>

#include "credit.h"
#include "wire.h"

/**
 * krdma_hello_encode - encode a hello
 * @wire: result, 24 bytes
 * @hello: contents, except the version: krdma always sends its own, and with a
 *	level KRDMA_WIRE_VERSION_LEVEL
 */
void krdma_hello_encode(struct krdma_wire_hello *wire,
			const struct krdma_hello *hello)
{
	const u8 version = hello->level ? KRDMA_WIRE_VERSION_LEVEL :
					  KRDMA_WIRE_VERSION;

	*wire = (struct krdma_wire_hello){
		.magic = cpu_to_le32(KRDMA_WIRE_MAGIC),
		.version = version,
		.min_version = hello->level ? version : KRDMA_WIRE_MIN_VERSION,
		.mode = hello->mode | hello->level << KRDMA_WIRE_LEVEL_SHIFT,
		.user_len = hello->user_len,
		.buf_size = cpu_to_le32(hello->buf_size),
		.max_msg = cpu_to_le32(hello->max_msg),
		.recv_depth = cpu_to_le16(hello->recv_depth),
		.features = cpu_to_le16(hello->features |
					hello->gid << KRDMA_WIRE_GID_SHIFT |
					hello->mtu << KRDMA_WIRE_MTU_SHIFT),
		.session = cpu_to_le32(hello->session),
	};
}

/*
 * Decode a code (GID type or MTU) in the features of a hello. The result is 0,
 * which means not known, for a code that only a newer version knows.
 */
static u8 krdma_hello_code(u16 features, unsigned int shift, u8 max)
{
	u8 mask = roundup_pow_of_two(max) - 1, code = features >> shift & mask;

	return code <= max ? code : 0;
}

/* Decode the level in the mode of a hello of version 2. */
static bool krdma_hello_take_level(struct krdma_hello *hello)
{
	hello->version = KRDMA_WIRE_VERSION_LEVEL;
	hello->level = hello->mode >> KRDMA_WIRE_LEVEL_SHIFT;
	hello->mode &= BIT(KRDMA_WIRE_LEVEL_SHIFT) - 1;
	return hello->level && hello->level <= KRDMA_WIRE_LEVEL_MAX &&
	       hello->user_len <= KRDMA_WIRE_LEVEL_USER_MAX;
}

/**
 * krdma_hello_decode - decode a peer's hello
 * @hello: result; its version is the newest that both ends support
 * @data: private data of REQ or REP
 * @len: length of @data in bytes; InfiniBand pads, so this may exceed the
 *	length of the peer's data
 *
 * Return: 0; -EPROTO: not a hello, or a value is out of range;
 * -EPROTONOSUPPORT: the ends have no common version.
 */
int krdma_hello_decode(struct krdma_hello *hello, const void *data, size_t len)
{
	const struct krdma_wire_hello *wire = data;
	struct krdma_hello h;
	u16 features;

	if (!data || len < sizeof(*wire) ||
	    le32_to_cpu(wire->magic) != KRDMA_WIRE_MAGIC ||
	    wire->min_version > wire->version)
		return -EPROTO;
	if (wire->version < KRDMA_WIRE_MIN_VERSION ||
	    wire->min_version > KRDMA_WIRE_VERSION_LEVEL)
		return -EPROTONOSUPPORT;

	features = le16_to_cpu(wire->features);
	h = (struct krdma_hello){
		.version = min_t(u8, wire->version, KRDMA_WIRE_VERSION),
		.mode = wire->mode,
		.user_len = wire->user_len,
		.buf_size = le32_to_cpu(wire->buf_size),
		.max_msg = le32_to_cpu(wire->max_msg),
		.recv_depth = le16_to_cpu(wire->recv_depth),
		.features = features & KRDMA_WIRE_FEATURE_BITS,
		.gid = krdma_hello_code(features, KRDMA_WIRE_GID_SHIFT,
					KRDMA_WIRE_GID_MAX),
		.mtu = krdma_hello_code(features, KRDMA_WIRE_MTU_SHIFT,
					KRDMA_WIRE_MTU_MAX),
		.session = le32_to_cpu(wire->session),
	};
	/* Only a peer that does not accept version 1 wants a level. */
	if (wire->min_version == KRDMA_WIRE_VERSION_LEVEL &&
	    !krdma_hello_take_level(&h))
		return -EPROTO;
	if (h.mode > KRDMA_WIRE_MODE_RW || h.user_len > KRDMA_WIRE_USER_MAX ||
	    h.user_len > len - sizeof(*wire) ||
	    h.buf_size < KRDMA_WIRE_BUF_MIN ||
	    h.buf_size > KRDMA_WIRE_BUF_MAX || h.max_msg > KRDMA_WIRE_MSG_MAX ||
	    h.recv_depth < KRDMA_CREDIT_MIN_DEPTH ||
	    h.recv_depth > KRDMA_WIRE_DEPTH_MAX)
		return -EPROTO;
	*hello = h;
	return 0;
}

/**
 * krdma_rej_encode - encode the reason of a reject
 * @wire: result, 8 bytes
 * @reason: see &enum krdma_wire_reason
 * @user_len: length of the user's data behind @wire, in bytes
 */
void krdma_rej_encode(struct krdma_wire_rej *wire, u8 reason, u8 user_len)
{
	*wire = (struct krdma_wire_rej){
		.magic = cpu_to_le32(KRDMA_WIRE_MAGIC),
		.version = KRDMA_WIRE_VERSION,
		.reason = reason,
		.user_len = user_len,
	};
}

/**
 * krdma_rej_decode - decode the reason of the peer's reject
 * @reason: result: any number, because a newer peer may use new reasons
 * @user_len: result: length of the user's data behind the struct, in bytes
 * @data: private data of REJ
 * @len: length of @data in bytes
 *
 * Return: 0, or -EPROTO if the data does not come from krdma.
 */
int krdma_rej_decode(u8 *reason, u8 *user_len, const void *data, size_t len)
{
	const struct krdma_wire_rej *wire = data;

	if (!data || len < sizeof(*wire) ||
	    le32_to_cpu(wire->magic) != KRDMA_WIRE_MAGIC ||
	    wire->user_len > len - sizeof(*wire))
		return -EPROTO;
	*reason = wire->reason;
	*user_len = wire->user_len;
	return 0;
}

/**
 * krdma_rej_errno - return the errno of a rejected connect
 * @reason: reason from krdma_rej_decode()
 *
 * Return: an errno; -ECONNREFUSED for a reason without an errno of its own.
 */
int krdma_rej_errno(u8 reason)
{
	switch (reason) {
	case KRDMA_WIRE_REJ_PROTO:
	case KRDMA_WIRE_REJ_MODE:
		return -EPROTO;
	case KRDMA_WIRE_REJ_VERSION:
		return -EPROTONOSUPPORT;
	case KRDMA_WIRE_REJ_BUSY:
		return -EBUSY;
	case KRDMA_WIRE_REJ_NOMEM:
		return -EREMOTEIO;
	case KRDMA_WIRE_REJ_TIMEOUT:
		return -ETIMEDOUT;
	case KRDMA_WIRE_REJ_SECURITY:
		return -EPERM;
	case KRDMA_WIRE_REJ_KEY:
		return -EKEYREJECTED;
	default:
		return -ECONNREFUSED;
	}
}

/**
 * krdma_hdr_encode - encode a message header
 * @wire: result, 16 bytes
 * @hdr: contents
 */
void krdma_hdr_encode(struct krdma_wire_hdr *wire, const struct krdma_hdr *hdr)
{
	*wire = (struct krdma_wire_hdr){
		.version = hdr->tagged ? KRDMA_WIRE_VERSION_LEVEL :
					 KRDMA_WIRE_VERSION,
		.type = hdr->type,
		.credits = cpu_to_le16(hdr->credits),
		.msg_len = cpu_to_le32(hdr->msg_len),
		.msg_id = cpu_to_le32(hdr->msg_id),
		.offset = cpu_to_le32(hdr->offset),
	};
}

/**
 * krdma_chunk_len - return the number of bytes that a CHUNK describes
 * @data: segments behind the header of the CHUNK
 * @len: length of @data in bytes
 * @max: number of bytes of the message from the CHUNK on
 *
 * Return: length in bytes; 0 if @data is not a list of segments, or the
 * segments describe more than @max bytes.
 */
static u32 krdma_chunk_len(const void *data, size_t len, u32 max)
{
	const struct krdma_wire_seg *wire = data;
	struct krdma_seg seg;
	u64 total = 0;

	if (len % sizeof(*wire))
		return 0;
	for (; len; len -= sizeof(*wire)) {
		krdma_seg_decode(&seg, wire++);
		if (!seg.len || seg.addr + seg.len < seg.addr)
			return 0;
		total += seg.len;
	}
	return total <= max ? total : 0;
}

static bool krdma_hdr_fields_ok(struct krdma_hdr *h, const void *body,
				size_t len, u32 max_msg)
{
	bool bare = !len && !h->msg_len;

	switch (h->type) {
	case KRDMA_WIRE_DATA:
		h->part_len = len;
		/* Only an empty message has an empty part. */
		return h->msg_len <= max_msg && h->offset <= h->msg_len &&
		       len <= h->msg_len - h->offset && (len || !h->msg_len);
	case KRDMA_WIRE_CHUNK:
		if (h->msg_len > max_msg || h->offset > h->msg_len)
			return false;
		h->part_len = krdma_chunk_len(body, len,
					      h->msg_len - h->offset);
		return h->part_len;
	case KRDMA_WIRE_CREDIT:
		return bare && !h->msg_id && !h->offset;
	case KRDMA_WIRE_PING:
	case KRDMA_WIRE_PONG:
		return bare && !h->msg_id && !h->offset && !h->credits;
	case KRDMA_WIRE_WRITTEN:
		return bare && !h->offset;
	case KRDMA_WIRE_BYE:
		return bare && !h->offset && !h->credits;
	case KRDMA_WIRE_PULLED:
		return bare && !h->credits;
	case KRDMA_WIRE_START:
		h->part_len = len;
		return !h->msg_len && !h->msg_id && !h->offset;
	default:
		return false;
	}
}

static int krdma_hdr_decode_as(struct krdma_hdr *hdr, const void *data,
			       size_t len, u32 max_msg, u8 version)
{
	const struct krdma_wire_hdr *wire = data;
	struct krdma_hdr h;

	if (len < sizeof(*wire) || wire->version != version)
		return -EPROTO;
	h = (struct krdma_hdr){
		.type = wire->type,
		.credits = le16_to_cpu(wire->credits),
		.msg_len = le32_to_cpu(wire->msg_len),
		.msg_id = le32_to_cpu(wire->msg_id),
		.offset = le32_to_cpu(wire->offset),
	};
	len -= sizeof(*wire);
	if (!krdma_hdr_fields_ok(&h, wire + 1, len, max_msg))
		return -EPROTO;
	*hdr = h;
	return 0;
}

/**
 * krdma_hdr_decode - decode the header of a received message
 * @hdr: result
 * @data: received bytes
 * @len: number of received bytes
 * @max_msg: length in bytes of the longest message that this side accepts
 *
 * Makes all checks that need only this message. The receiver checks that parts
 * follow each other without a gap.
 *
 * Return: 0, or -EPROTO if the message is invalid.
 */
int krdma_hdr_decode(struct krdma_hdr *hdr, const void *data, size_t len,
		     u32 max_msg)
{
	return krdma_hdr_decode_as(hdr, data, len, max_msg, KRDMA_WIRE_VERSION);
}

/**
 * krdma_hdr_decode_sealed - decode the header of a sealed message
 * @hdr: result
 * @data: bytes of the message after krdma_seal_open()
 * @len: number of bytes of @data
 * @max_msg: length in bytes of the longest message that this side accepts
 *
 * As krdma_hdr_decode().
 *
 * Return: 0, or -EPROTO if the message is invalid.
 */
int krdma_hdr_decode_sealed(struct krdma_hdr *hdr, const void *data, size_t len,
			    u32 max_msg)
{
	return krdma_hdr_decode_as(hdr, data, len, max_msg,
				   KRDMA_WIRE_VERSION_LEVEL);
}

/**
 * krdma_hdr_decode_tagged - decode the header of a first message with a tag
 * @hdr: result
 * @data: received bytes
 * @len: number of received bytes
 * @type: type of the only message that the peer may send now, AUTH or START
 *
 * The caller then checks the tag. Only the type and the version are used before.
 *
 * Return: 0, or -EPROTO if the message is another one.
 */
int krdma_hdr_decode_tagged(struct krdma_hdr *hdr, const void *data, size_t len,
			    u8 type)
{
	const struct krdma_hdr expected = { .type = type, .tagged = true };
	struct krdma_wire_hdr wire;

	krdma_hdr_encode(&wire, &expected);
	if (len < sizeof(wire) || memcmp(data, &wire, sizeof(wire)))
		return -EPROTO;
	*hdr = expected;
	hdr->part_len = len - sizeof(wire);
	return 0;
}

/**
 * krdma_seg_encode - encode a segment: the description of one MR
 * @wire: result
 * @seg: the segment
 */
void krdma_seg_encode(struct krdma_wire_seg *wire, const struct krdma_seg *seg)
{
	*wire = (struct krdma_wire_seg){
		.addr = cpu_to_le64(seg->addr),
		.rkey = cpu_to_le32(seg->rkey),
		.len = cpu_to_le32(seg->len),
	};
}

/**
 * krdma_seg_decode - decode a segment: the description of one MR
 * @seg: result, not checked
 * @wire: description from the peer
 */
void krdma_seg_decode(struct krdma_seg *seg, const struct krdma_wire_seg *wire)
{
	*seg = (struct krdma_seg){
		.addr = le64_to_cpu(wire->addr),
		.rkey = le32_to_cpu(wire->rkey),
		.len = le32_to_cpu(wire->len),
	};
}

/**
 * krdma_export_wire_size - return the size of a description of an exported
 * buffer
 * @nsegs: number of its segments
 *
 * Return: size in bytes.
 */
size_t krdma_export_wire_size(u32 nsegs)
{
	return sizeof(struct krdma_wire_export) +
	       nsegs * sizeof(struct krdma_wire_seg);
}

/**
 * krdma_export_encode - encode the head of an exported buffer's description
 * @exported: result; the caller stores the encoded segments behind it
 * @len: length of all segments in bytes
 * @nsegs: number of segments
 */
void krdma_export_encode(struct krdma_wire_export *exported, u64 len, u32 nsegs)
{
	*exported = (struct krdma_wire_export){
		.len = cpu_to_le64(len),
		.nsegs = cpu_to_le32(nsegs),
	};
}

/**
 * krdma_export_count - return the number of segments in the description of an
 * exported buffer
 * @data: description from the peer
 * @len: length of @data in bytes
 *
 * Return: number of segments, at least 1, or -EPROTO.
 */
int krdma_export_count(const void *data, size_t len)
{
	const struct krdma_wire_export *exported = data;
	u32 nsegs;

	if (len < sizeof(*exported))
		return -EPROTO;
	nsegs = le32_to_cpu(exported->nsegs);
	if (!nsegs || nsegs > KRDMA_WIRE_SEGS_MAX ||
	    len != krdma_export_wire_size(nsegs))
		return -EPROTO;
	return nsegs;
}

/**
 * krdma_export_decode - decode the description of an exported buffer
 * @segs: result, @nsegs elements
 * @nsegs: return value of krdma_export_count()
 * @data: description from the peer
 * @len: length of @data in bytes
 *
 * Return: 0, or -EPROTO: a segment is empty or wraps, or the lengths do not
 * match.
 */
int krdma_export_decode(struct krdma_seg *segs, u32 nsegs, const void *data,
			size_t len)
{
	const struct krdma_wire_export *exported = data;
	const struct krdma_wire_seg *wire = (const void *)(exported + 1);
	u64 total = 0;
	u32 i;

	if (krdma_export_count(data, len) != nsegs)
		return -EPROTO;
	for (i = 0; i < nsegs; i++) {
		krdma_seg_decode(&segs[i], &wire[i]);
		if (!segs[i].len || segs[i].addr + segs[i].len < segs[i].addr)
			return -EPROTO;
		total += segs[i].len;
	}
	return total == le64_to_cpu(exported->len) ? 0 : -EPROTO;
}
