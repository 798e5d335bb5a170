// SPDX-License-Identifier: GPL-2.0
/* Split a request into work requests, see span.h. No locks, no verbs. */
#include <linux/bvec.h>
#include <linux/minmax.h>
#include <linux/scatterlist.h>

#include "span.h"

/**
 * krdma_span_next - split off one work request
 * @span: position. Before the call it gives the remote segment and offset of
 *	the work request
 * @sges: result: pieces of the work request; NULL to advance @span only
 * @max: maximum number of pieces
 *
 * Return: number of pieces.
 */
u32 krdma_span_next(struct krdma_span *span, struct ib_sge *sges, u32 max)
{
	u32 room = span->seg ? span->seg->len - span->seg_off : span->left;
	u32 n = 0, len;

	while (n < max && span->left && room) {
		len = min3(span->sge->length - span->sge_off, span->left, room);
		if (sges)
			sges[n] = (struct ib_sge){
				.addr = span->sge->addr + span->sge_off,
				.length = len,
				.lkey = span->sge->lkey,
			};
		n++;
		room -= len;
		span->seg_off += len;
		span->left -= len;
		span->sge_off += len;
		if (span->sge_off == span->sge->length) {
			span->sge++;
			span->sge_off = 0;
		}
	}
	if (span->seg && !room) {
		span->seg++;
		span->seg_off = 0;
	}
	return n;
}

/**
 * krdma_data_skip - leave out the first bytes of local memory
 * @data: memory. @data->offset counts from the first byte of the region
 *	(KRDMA_MEM_REGION), or of the first entry (KRDMA_MEM_PAGES,
 *	KRDMA_MEM_SG). Afterwards the first entry contains the first byte, or
 *	there is no entry
 * @len: number of bytes to leave out
 *
 * The time is that of the entries that are left out, so a caller that sends
 * memory in parts visits each entry once.
 *
 * Context: any.
 */
void krdma_data_skip(struct krdma_data *data, u32 len)
{
	bool pages = data->mem == KRDMA_MEM_PAGES;
	u32 first;

	data->len -= len;
	if (data->mem == KRDMA_MEM_VIRT) {
		data->virt += len;
		return;
	}
	data->offset += len;
	if (data->mem == KRDMA_MEM_REGION)
		return;
	while (data->nents) {
		first = pages ? data->pages->bv_len : data->sg->length;
		if (data->offset < first)
			return;
		data->offset -= first;
		data->nents--;
		if (pages)
			data->pages++;
		else
			data->sg = sg_next(data->sg);
	}
}

/**
 * krdma_span_count - count the work requests of a request
 * @sges: as for krdma_span_begin()
 * @segs: as for krdma_span_begin()
 * @offset: as for krdma_span_begin()
 * @len: as for krdma_span_begin(); a request of 0 bytes has one work request
 * @max: maximum number of pieces of a work request
 *
 * Return: number of work requests.
 */
u32 krdma_span_count(const struct ib_sge *sges, const struct krdma_seg *segs,
		     u64 offset, u32 len, u32 max)
{
	struct krdma_span span;
	u32 n = 0;

	krdma_span_begin(&span, sges, segs, offset, len);
	do {
		krdma_span_next(&span, NULL, max);
		n++;
	} while (span.left);
	return n;
}
