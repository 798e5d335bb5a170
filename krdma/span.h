/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Splitting of a request into work requests. Pure: no locks, no verbs. The only
 * type of the RDMA core is struct ib_sge.
 *
 * The local memory is a list of pieces, and the remote memory is a list of
 * segments. Pieces and segments may have different lengths. A work request has
 * a limited number of pieces. It stays within one segment, because it names one
 * rkey.
 *
 * Memory that is sealed is not mapped, so it has no such pieces. It is split by
 * krdma_data_skip().
 */
#ifndef KRDMA_SPAN_H
#define KRDMA_SPAN_H

#include <rdma/ib_verbs.h>

#include <krdma.h>

#include "wire.h"

/**
 * struct krdma_span - position in a request that is being split
 * @sge: present local piece
 * @sge_off: bytes of @sge already used
 * @seg: present remote segment; NULL: the request uses no remote memory
 * @seg_off: bytes of @seg already used
 * @left: number of bytes of the request that are left
 */
struct krdma_span {
	const struct ib_sge *sge;
	u32 sge_off;
	const struct krdma_seg *seg;
	u32 seg_off;
	u32 left;
};

/**
 * krdma_span_begin - begin to split a request
 * @span: result
 * @sges: local pieces, @len bytes in all, none of them empty
 * @segs: remote segments; NULL if there are none
 * @offset: offset in @segs; the segments contain all bytes up to @offset + @len
 * @len: length of the request in bytes
 */
static inline void krdma_span_begin(struct krdma_span *span,
				    const struct ib_sge *sges,
				    const struct krdma_seg *segs, u64 offset,
				    u32 len)
{
	while (segs && len && offset >= segs->len)
		offset -= segs++->len;
	*span = (struct krdma_span){
		.sge = sges,
		.seg = segs,
		.seg_off = offset,
		.left = len,
	};
}

void krdma_data_skip(struct krdma_data *data, u32 len);
u32 krdma_span_next(struct krdma_span *span, struct ib_sge *sges, u32 max);
u32 krdma_span_count(const struct ib_sge *sges, const struct krdma_seg *segs,
		     u64 offset, u32 len, u32 max);

#endif /* KRDMA_SPAN_H */
