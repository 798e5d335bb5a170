/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The header of a frame, decoded. All functions are pure: they use only their
 * arguments.
 */
#ifndef NTRDMA_FRAME_H
#define NTRDMA_FRAME_H

#include "wire.h"

/**
 * struct ntrdma_frame - a frame without its payload
 * @kind: &enum ntrdma_kind
 * @flags: &enum ntrdma_frame_flags
 * @cells: number of cells
 * @bytes: bytes of payload
 * @dest_qp: number of the receiving QP
 * @src_qp: number of the sending QP
 * @msn: number of the message
 * @offset: position of the payload in its message. UD: VLAN tag, or
 *	%NTRDMA_NO_VLAN
 * @total: bytes of the message
 * @addr: remote address
 * @rkey: remote key. UD: Q_Key
 * @imm: immediate data in the user's byte order, or a key to invalidate. NAK:
 *	code and timer
 */
struct ntrdma_frame {
	u8 kind;
	u8 flags;
	u16 cells;
	u32 bytes;
	u32 dest_qp;
	u32 src_qp;
	u32 msn;
	u32 offset;
	u32 total;
	u64 addr;
	u32 rkey;
	u32 imm;
};

/**
 * struct ntrdma_frame_place - place of a frame, as the consumer knows it
 * @index: index of the frame's first cell
 * @session: number of the consumer's session
 * @filled: number of cells from @index to prod
 * @to_end: number of cells from @index to the end of the ring's memory
 * @chunk: maximum payload in bytes of all kinds except UD
 * @is_eth: the ring is the one for Ethernet
 */
struct ntrdma_frame_place {
	u32 index;
	u32 session;
	u32 filled;
	u32 to_end;
	u32 chunk;
	bool is_eth;
};

/* Results of ntrdma_frame_decode(). */
enum ntrdma_frame_fault {
	NTRDMA_FRAME_GOOD = 0,
	NTRDMA_FRAME_BAD_SEAL,
	NTRDMA_FRAME_BAD,
};

u32 ntrdma_frame_cells(u32 bytes);
void ntrdma_frame_encode(struct ntrdma_wire_hdr *hdr,
			 const struct ntrdma_frame *frame, u32 index,
			 u32 session);
enum ntrdma_frame_fault ntrdma_frame_decode(struct ntrdma_frame *frame,
					    const struct ntrdma_wire_hdr *hdr,
					    const struct ntrdma_frame_place *at);

static inline u8 ntrdma_frame_nak(const struct ntrdma_frame *frame)
{
	return frame->imm;
}

static inline u8 ntrdma_frame_nak_timer(const struct ntrdma_frame *frame)
{
	return frame->imm >> 8;
}

#endif /* NTRDMA_FRAME_H */
