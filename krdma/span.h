/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Cutting a request into work requests. Pure; of RDMA it knows struct ib_sge.
 *
 * The local bytes are a list of pieces, the remote ones a list of segments, and
 * their borders need not meet. A work request has at most so many pieces, and
 * stays within one segment, for it names one rkey.
 */
#ifndef KRDMA_SPAN_H
#define KRDMA_SPAN_H

#include <rdma/ib_verbs.h>

#include "wire.h"

/**
 * struct krdma_span - how far the cutting has come
 * @sge: local piece
 * @sge_off: bytes of it that are done
 * @seg: remote segment, NULL: nothing remote
 * @seg_off: bytes of it that are done
 * @left: bytes still to do
 */
struct krdma_span {
	const struct ib_sge *sge;
	u32 sge_off;
	const struct krdma_seg *seg;
	u32 seg_off;
	u32 left;
};

void krdma_span_begin(struct krdma_span *span, const struct ib_sge *sges,
		      const struct krdma_seg *segs, u64 offset, u32 len);
u32 krdma_span_next(struct krdma_span *span, struct ib_sge *sges, u32 max);
u32 krdma_span_count(const struct ib_sge *sges, const struct krdma_seg *segs,
		     u64 offset, u32 len, u32 max);

#endif /* KRDMA_SPAN_H */
