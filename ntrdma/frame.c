// SPDX-License-Identifier: GPL-2.0
/*
 * The header of a frame: encode, decode, check.
 *
 * The peer may change the window at any time, so ntrdma_frame_decode() gets a
 * copy of the header, and the caller uses only its result. A frame that cannot be
 * parsed ends the session, because the place of the next frame is unknown then.
 * The responder and the requester check whether a well-formed frame fits its QP.
 */
#include <linux/kernel.h>

#include "frame.h"

/* Fields that a kind of frame may use; all others must be 0. */
#define NTRDMA_F_QPS	BIT(0) /* dest_qp, src_qp */
#define NTRDMA_F_MSN	BIT(1)
#define NTRDMA_F_OFFSET	BIT(2)
#define NTRDMA_F_TOTAL	BIT(3)
#define NTRDMA_F_ADDR	BIT(4)
#define NTRDMA_F_RKEY	BIT(5)
#define NTRDMA_F_IMM	BIT(6)

#define NTRDMA_F_REQ	(NTRDMA_F_QPS | NTRDMA_F_MSN)
#define NTRDMA_F_PIECE	(NTRDMA_F_REQ | NTRDMA_F_OFFSET | NTRDMA_F_TOTAL)
#define NTRDMA_F_REMOTE	(NTRDMA_F_ADDR | NTRDMA_F_RKEY)

/**
 * struct ntrdma_kind_rule - form of a kind of frame
 * @fields: NTRDMA_F_*
 * @flags: flags that the kind may have
 * @min: minimum payload in bytes
 * @max: maximum payload in bytes; except in UD frames, the chunk of the session
 *	also limits the payload
 */
struct ntrdma_kind_rule {
	u8 fields;
	u8 flags;
	u32 min;
	u32 max;
};

static const struct ntrdma_kind_rule ntrdma_kind_rules[NTRDMA_KINDS] = {
	[NTRDMA_PAD] = {},
	[NTRDMA_SEND] = {
		.fields = NTRDMA_F_PIECE | NTRDMA_F_IMM,
		.flags = NTRDMA_FIRST | NTRDMA_LAST | NTRDMA_ACK_REQ |
			 NTRDMA_SOLICITED | NTRDMA_IMM | NTRDMA_INV,
		.max = NTRDMA_CHUNK_MAX,
	},
	[NTRDMA_WRITE] = {
		.fields = NTRDMA_F_PIECE | NTRDMA_F_REMOTE | NTRDMA_F_IMM,
		.flags = NTRDMA_FIRST | NTRDMA_LAST | NTRDMA_ACK_REQ |
			 NTRDMA_SOLICITED | NTRDMA_IMM,
		.max = NTRDMA_CHUNK_MAX,
	},
	[NTRDMA_READ] = {
		.fields = NTRDMA_F_REQ | NTRDMA_F_TOTAL | NTRDMA_F_REMOTE,
		.flags = NTRDMA_ACK_REQ,
	},
	[NTRDMA_DATA] = {
		.fields = NTRDMA_F_PIECE,
		.flags = NTRDMA_FIRST | NTRDMA_LAST,
		.max = NTRDMA_CHUNK_MAX,
	},
	[NTRDMA_ATOMIC] = {
		.fields = NTRDMA_F_REQ | NTRDMA_F_REMOTE,
		.flags = NTRDMA_ACK_REQ | NTRDMA_CAS,
		.min = 16,
		.max = 16,
	},
	[NTRDMA_RESULT] = {
		.fields = NTRDMA_F_REQ,
		.min = 8,
		.max = 8,
	},
	[NTRDMA_ACK] = {
		.fields = NTRDMA_F_REQ,
		.flags = NTRDMA_READY,
	},
	[NTRDMA_NAK] = {
		.fields = NTRDMA_F_REQ | NTRDMA_F_IMM,
	},
	[NTRDMA_UD] = {
		.fields = NTRDMA_F_QPS | NTRDMA_F_OFFSET | NTRDMA_F_RKEY |
			  NTRDMA_F_IMM,
		.flags = NTRDMA_SOLICITED | NTRDMA_IMM,
		.min = NTRDMA_UD_GIDS,
		.max = NTRDMA_UD_GIDS + NTRDMA_UD_MAX,
	},
	[NTRDMA_ETH] = {
		.min = NTRDMA_ETH_HDR + ETH_HLEN,
		.max = NTRDMA_CHUNK_MAX,
	},
};

/**
 * ntrdma_frame_cells - return the number of cells of a frame
 * @bytes: bytes of payload
 *
 * Return: number of cells, including that of the header.
 */
u32 ntrdma_frame_cells(u32 bytes)
{
	return bytes <= NTRDMA_SHORT ? 1 : 1 + DIV_ROUND_UP(bytes, NTRDMA_CELL);
}

/**
 * ntrdma_frame_encode - write the header of a frame
 * @hdr: result; its member data is not written
 * @frame: the frame
 * @index: index of its first cell
 * @session: number of the receiver's session
 */
void ntrdma_frame_encode(struct ntrdma_wire_hdr *hdr,
			 const struct ntrdma_frame *frame, u32 index,
			 u32 session)
{
	hdr->seal = cpu_to_le32(index ^ session);
	hdr->kind = frame->kind;
	hdr->flags = frame->flags;
	hdr->cells = cpu_to_le16(frame->cells);
	hdr->bytes = cpu_to_le32(frame->bytes);
	hdr->dest_qp = cpu_to_le32(frame->dest_qp);
	hdr->src_qp = cpu_to_le32(frame->src_qp);
	hdr->msn = cpu_to_le32(frame->msn);
	hdr->offset = cpu_to_le32(frame->offset);
	hdr->total = cpu_to_le32(frame->total);
	hdr->addr = cpu_to_le64(frame->addr);
	hdr->rkey = cpu_to_le32(frame->rkey);
	hdr->imm = cpu_to_le32(frame->imm);
}

/* Check that all unused fields are 0, and that numbers have at most 24 bits. */
static bool ntrdma_frame_fields_ok(const struct ntrdma_frame *frame, u8 fields)
{
	if ((frame->dest_qp | frame->src_qp | frame->msn) & ~NTRDMA_NUMBER_MASK)
		return false;
	if (!(fields & NTRDMA_F_QPS) && (frame->dest_qp || frame->src_qp))
		return false;
	if (!(fields & NTRDMA_F_MSN) && frame->msn)
		return false;
	if (!(fields & NTRDMA_F_OFFSET) && frame->offset)
		return false;
	if (!(fields & NTRDMA_F_TOTAL) && frame->total)
		return false;
	if (!(fields & NTRDMA_F_ADDR) && frame->addr)
		return false;
	if (!(fields & NTRDMA_F_RKEY) && frame->rkey)
		return false;
	return fields & NTRDMA_F_IMM || !frame->imm;
}

/*
 * Check that the payload lies inside its message, and that FIRST and LAST are
 * set exactly at its ends. Only a message of 0 bytes has a frame of 0 bytes, so
 * each frame of a longer message makes progress.
 */
static bool ntrdma_frame_piece_ok(const struct ntrdma_frame *frame)
{
	bool first = frame->flags & NTRDMA_FIRST;
	bool last = frame->flags & NTRDMA_LAST;

	if (frame->total > NTRDMA_MESSAGE_MAX ||
	    frame->offset > frame->total ||
	    frame->bytes > frame->total - frame->offset)
		return false;
	if (!frame->bytes && frame->total)
		return false;
	return first == !frame->offset &&
	       last == (frame->offset + frame->bytes == frame->total);
}

/* Only the last frame of a message has immediate data, a key or SOLICITED. */
static bool ntrdma_frame_end_ok(const struct ntrdma_frame *frame)
{
	u8 end = frame->flags & (NTRDMA_SOLICITED | NTRDMA_IMM | NTRDMA_INV);

	if (end && !(frame->flags & NTRDMA_LAST))
		return false;
	if (end & NTRDMA_IMM && end & NTRDMA_INV)
		return false;
	return end & (NTRDMA_IMM | NTRDMA_INV) || !frame->imm;
}

static bool ntrdma_frame_kind_ok(const struct ntrdma_frame *frame)
{
	switch (frame->kind) {
	case NTRDMA_SEND:
	case NTRDMA_WRITE:
		return ntrdma_frame_piece_ok(frame) && ntrdma_frame_end_ok(frame);
	case NTRDMA_DATA:
		return ntrdma_frame_piece_ok(frame);
	case NTRDMA_READ:
		return frame->total <= NTRDMA_MESSAGE_MAX;
	case NTRDMA_ATOMIC:
		return IS_ALIGNED(frame->addr, sizeof(u64));
	case NTRDMA_NAK:
		return ntrdma_frame_nak(frame) &&
		       ntrdma_frame_nak(frame) < NTRDMA_NAKS &&
		       ntrdma_frame_nak_timer(frame) < 32 &&
		       frame->imm <= U16_MAX;
	case NTRDMA_UD:
		return frame->offset <= U16_MAX &&
		       (frame->flags & NTRDMA_IMM || !frame->imm);
	default:
		return true;
	}
}

/*
 * A PAD frame fills the ring up to the end of its memory. A UD frame has the
 * GIDs and a whole datagram, which together may be longer than a chunk, so the
 * chunk does not limit them.
 */
static bool ntrdma_frame_size_ok(const struct ntrdma_frame *frame,
				 const struct ntrdma_frame_place *at)
{
	if (!frame->cells || frame->cells > at->filled ||
	    frame->cells > at->to_end)
		return false;
	if (frame->bytes > at->chunk && frame->kind != NTRDMA_UD)
		return false;
	if (frame->kind == NTRDMA_PAD)
		return frame->cells == at->to_end;
	return frame->cells == ntrdma_frame_cells(frame->bytes);
}

static bool ntrdma_frame_ok(const struct ntrdma_frame *frame,
			    const struct ntrdma_frame_place *at)
{
	bool is_eth = frame->kind == NTRDMA_ETH;
	const struct ntrdma_kind_rule *rule;

	if (!frame->kind || frame->kind >= NTRDMA_KINDS)
		return false;
	/*
	 * The ring for Ethernet has only ETH and PAD frames. No other ring has
	 * ETH frames.
	 */
	if (frame->kind != NTRDMA_PAD && is_eth != at->is_eth)
		return false;
	rule = &ntrdma_kind_rules[frame->kind];
	return !(frame->flags & ~rule->flags) &&
	       ntrdma_frame_size_ok(frame, at) &&
	       frame->bytes >= rule->min && frame->bytes <= rule->max &&
	       ntrdma_frame_fields_ok(frame, rule->fields) &&
	       ntrdma_frame_kind_ok(frame);
}

/**
 * ntrdma_frame_decode - decode and check the header of a frame
 * @frame: result; only valid if the frame is good
 * @hdr: copy of the header
 * @at: place of the frame in the ring
 *
 * Return: %NTRDMA_FRAME_GOOD, or the reason for which the session must end.
 */
enum ntrdma_frame_fault ntrdma_frame_decode(struct ntrdma_frame *frame,
					    const struct ntrdma_wire_hdr *hdr,
					    const struct ntrdma_frame_place *at)
{
	if (le32_to_cpu(hdr->seal) != (at->index ^ at->session))
		return NTRDMA_FRAME_BAD_SEAL;
	*frame = (struct ntrdma_frame){
		.kind = hdr->kind,
		.flags = hdr->flags,
		.cells = le16_to_cpu(hdr->cells),
		.bytes = le32_to_cpu(hdr->bytes),
		.dest_qp = le32_to_cpu(hdr->dest_qp),
		.src_qp = le32_to_cpu(hdr->src_qp),
		.msn = le32_to_cpu(hdr->msn),
		.offset = le32_to_cpu(hdr->offset),
		.total = le32_to_cpu(hdr->total),
		.addr = le64_to_cpu(hdr->addr),
		.rkey = le32_to_cpu(hdr->rkey),
		.imm = le32_to_cpu(hdr->imm),
	};
	return ntrdma_frame_ok(frame, at) ? NTRDMA_FRAME_GOOD : NTRDMA_FRAME_BAD;
}
