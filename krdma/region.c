// SPDX-License-Identifier: GPL-2.0
/*
 * Use of registered regions: as local memory of requests, described to the
 * peer, and synced by the owner. registration.c registers regions.
 */
#include <linux/dma-mapping.h>
#include <linux/export.h>
#include <linux/wait_bit.h>

#include "region.h"

/**
 * krdma_region_is_of - check whether a request may use a region
 * @region: region
 * @conn: connection of the request
 *
 * Return: true if the region is live, and belongs to @conn or, on the device of
 * @conn, to the domain of @conn.
 */
bool krdma_region_is_of(const struct krdma_region *region,
			const struct krdma_conn *conn)
{
	/* Pairs with krdma_region_open() and krdma_share_open(). */
	if (!smp_load_acquire(&region->usable))
		return false;
	if (krdma_region_is_shared(region))
		return region->share.kpd == READ_ONCE(conn->hw.kpd);
	return region->conn == conn;
}

/**
 * krdma_region_is_valid_on - check that a region's keys work on a connection
 * @region: the region
 * @cb: connection in message mode
 *
 * An owner that has a region of the domain on each RDMA device can find out
 * which region to use on a connection.
 *
 * Context: any.
 * Return: true if the region is live, and belongs to @cb or, on the device of
 * @cb, to the domain of @cb; false if @cb is closed.
 */
bool krdma_region_is_valid_on(const struct krdma_region *region,
			      const struct krdma_cb *cb)
{
	return krdma_region_is_of(region, krdma_conn(cb));
}
EXPORT_SYMBOL_NS_GPL(krdma_region_is_valid_on, KRDMA_NS);

/**
 * krdma_region_may_move - check that a request may move data in one direction
 * @region: region
 * @dir: direction of the request
 *
 * Return: true; or false if the region is mapped only for the other direction.
 */
bool krdma_region_may_move(const struct krdma_region *region,
			   enum dma_data_direction dir)
{
	return region->dir == DMA_BIDIRECTIONAL || region->dir == dir;
}

/* Find the MR that contains the byte at @offset. */
static const struct krdma_region_mr *
krdma_region_find(const struct krdma_region *region, u64 offset)
{
	u32 low = 0, high = region->nmrs - 1, middle;

	while (low < high) {
		middle = (low + high + 1) / 2;
		if (region->mrs[middle].offset <= offset)
			low = middle;
		else
			high = middle - 1;
	}
	return &region->mrs[low];
}

/* Return the chunk of an offset in a region, and the offset in that chunk. */
static const struct krdma_chunk *
krdma_region_chunk(const struct krdma_region *region, u64 offset, u32 *in)
{
	const struct krdma_chunk *chunk = region->chunks;

	chunk += div_u64_rem(region->first + offset, region->chunk_size, in);
	/*
	 * Offsets in the first chunk count from the region's first byte, which
	 * may be within a page.
	 */
	if (chunk == region->chunks)
		*in -= region->first;
	return chunk;
}

/**
 * krdma_region_pieces - count the pieces of a range of a region, one for each
 * MR
 * @region: region
 * @offset: offset in the region
 * @len: length in bytes, not 0; within the region
 *
 * Return: number of pieces.
 */
u32 krdma_region_pieces(const struct krdma_region *region, u64 offset, u64 len)
{
	return krdma_region_find(region, offset + len - 1) -
	       krdma_region_find(region, offset) + 1;
}

/**
 * krdma_region_sges - describe a range of a region for the local adapter
 * @region: region
 * @offset: offset in the region
 * @len: length in bytes; within the region
 * @sges: result, krdma_region_pieces() elements
 *
 * Return: number of pieces in @sges.
 */
u32 krdma_region_sges(const struct krdma_region *region, u64 offset, u32 len,
		      struct ib_sge *sges)
{
	const struct krdma_region_mr *mr = krdma_region_find(region, offset);
	u64 in = offset - mr->offset;
	u32 n = 0, part;

	for (; len; len -= part, mr++) {
		part = min_t(u64, len, mr->len - in);
		sges[n++] = (struct ib_sge){
			.addr = mr->iova + in,
			.length = part,
			.lkey = mr->lkey,
		};
		in = 0;
	}
	return n;
}

/**
 * krdma_region_read - copy bytes out of a region
 * @region: region
 * @offset: offset in the region
 * @to: result
 * @len: length in bytes; within the region
 *
 * Context: any.
 */
void krdma_region_read(const struct krdma_region *region, u64 offset, void *to,
		       u32 len)
{
	const struct krdma_chunk *chunk;
	u32 in, part;

	if (region->vaddr) {
		memcpy(to, region->vaddr + offset, len);
		return;
	}
	chunk = krdma_region_chunk(region, offset, &in);
	for (; len; len -= part, chunk++) {
		part = min(len, chunk->len - in);
		sg_pcopy_to_buffer(chunk->sgt.sgl, chunk->sgt.orig_nents, to,
				   part, in);
		to += part;
		in = 0;
	}
}

/**
 * krdma_region_run - return the number of bytes up to the end of the MR
 * @region: region
 * @offset: offset in the region
 *
 * Return: number of bytes from @offset on that are in one MR.
 */
u32 krdma_region_run(const struct krdma_region *region, u64 offset)
{
	const struct krdma_region_mr *mr = krdma_region_find(region, offset);

	return mr->offset + mr->len - offset;
}

/**
 * krdma_region_describe - write the segments of a part of a region for the peer
 * @region: region that is not revoked
 * @offset: offset in the region
 * @len: length in bytes; within the region
 * @wire: result, krdma_region_pieces() elements
 */
void krdma_region_describe(const struct krdma_region *region, u64 offset,
			   u64 len, struct krdma_wire_seg *wire)
{
	const struct krdma_region_mr *mr = krdma_region_find(region, offset);
	u64 in = offset - mr->offset;
	struct krdma_seg seg;

	for (; len; len -= seg.len, mr++) {
		seg = (struct krdma_seg){
			.addr = mr->iova + in,
			.rkey = mr->rkey,
			.len = min_t(u64, len, mr->len - in),
		};
		krdma_seg_encode(wire++, &seg);
		in = 0;
	}
}

/**
 * krdma_region_export - describe a part of a region for the peer
 * @region: region that is not revoked
 * @offset: offset in the region
 * @len: length in bytes
 * @buf: result, to be sent to the peer, which passes it to
 *	krdma_remote_import()
 * @size: size of @buf in bytes; 0, with @buf NULL, to get the length only
 *
 * A description has 16 bytes, and 16 more for each MR of the part. An MR covers
 * up to 2 MiB on rxe, and 1 MiB on siw.
 *
 * Context: any.
 * Return: length of the description in bytes; nothing is written if it exceeds
 * @size; -EINVAL: the part is not within the region, or has more MRs than a
 * description can hold; -ENOTCONN: the region is revoked, or the connection has
 * ended.
 */
ssize_t krdma_region_export(const struct krdma_region *region, u64 offset,
			    u64 len, void *buf, size_t size)
{
	u32 nsegs;

	if (!len || !krdma_range_ok(region->size, offset, len))
		return -EINVAL;
	if (!READ_ONCE(region->usable))
		return -ENOTCONN;
	nsegs = krdma_region_pieces(region, offset, len);
	if (nsegs > KRDMA_WIRE_SEGS_MAX)
		return -EINVAL;
	if (krdma_export_wire_size(nsegs) > size)
		return krdma_export_wire_size(nsegs);
	krdma_export_encode(buf, len, nsegs);
	krdma_region_describe(region, offset, len,
			      buf + sizeof(struct krdma_wire_export));
	return krdma_export_wire_size(nsegs);
}
EXPORT_SYMBOL_NS_GPL(krdma_region_export, KRDMA_NS);

/**
 * krdma_region_is_coherent - check whether a region never needs a sync
 * @region: region
 *
 * A region needs a sync if it has bounce buffers (swiotlb, encrypted guests) or
 * if caches must be flushed. In these cases the CPU sees the peer's writes only
 * after krdma_region_sync_for_cpu(). To find out before memory is mapped, see
 * &krdma_caps.coherent and KRDMA_COHERENT.
 *
 * Context: any.
 * Return: true if the connection is open and no sync is needed, otherwise
 * false.
 */
bool krdma_region_is_coherent(const struct krdma_region *region)
{
	return region->coherent && refcount_read(&region->syncs);
}
EXPORT_SYMBOL_NS_GPL(krdma_region_is_coherent, KRDMA_NS);

/* Sync a range of a region, chunk by chunk. */
static void krdma_region_sync(struct krdma_region *region, u64 offset, u64 len,
			      bool for_cpu)
{
	const struct krdma_chunk *chunk;
	u32 in, part;

	if (region->coherent || !krdma_range_ok(region->size, offset, len))
		return;
	/* If syncs is 0, teardown has unmapped the region. */
	if (!refcount_inc_not_zero(&region->syncs))
		return;
	chunk = krdma_region_chunk(region, offset, &in);
	for (; len; len -= part, chunk++) {
		part = min_t(u64, len, chunk->len - in);
		krdma_chunk_sync(region->ibdev, chunk, in, part, region->dir,
				 for_cpu);
		in = 0;
	}
	if (refcount_dec_and_test(&region->syncs))
		wake_up_var(&region->syncs);
}

/**
 * krdma_region_sync_for_cpu - let the CPU see writes of an adapter
 * @region: region
 * @offset: offset in the region
 * @len: length in bytes
 *
 * Call this before the CPU reads bytes that the peer, or a local READ or
 * atomic, has written to a region. Bytes outside of the range are unchanged.
 * Exception: where caches are flushed, bytes in the same cache lines may change
 * (dma_get_cache_alignment()). See Documentation/krdma.rst, Regions.
 *
 * This has no effect if the region is coherent, the range is not within the
 * region, or the connection is closed. After a connection is closed, only the
 * CPU uses the memory.
 *
 * Context: any, also &krdma_req.done and &krdma_ops.receive. Takes time for
 * each page of the range unless the region is coherent.
 */
void krdma_region_sync_for_cpu(struct krdma_region *region, u64 offset, u64 len)
{
	krdma_region_sync(region, offset, len, true);
}
EXPORT_SYMBOL_NS_GPL(krdma_region_sync_for_cpu, KRDMA_NS);

/**
 * krdma_region_sync_for_device - let an adapter see writes of the CPU
 * @region: region
 * @offset: offset in the region
 * @len: length in bytes
 *
 * Call this after the CPU wrote to a region and before an adapter reads or
 * writes the same bytes, for the peer or for a local request. The range should
 * contain only bytes that the CPU wrote, because afterwards the adapter sees
 * the CPU's version of all bytes in the range. Bytes that the peer has written
 * to the range since the last krdma_region_sync_for_cpu() are lost.
 *
 * This has no effect in the cases of krdma_region_sync_for_cpu().
 *
 * Context: as krdma_region_sync_for_cpu().
 */
void krdma_region_sync_for_device(struct krdma_region *region, u64 offset,
				  u64 len)
{
	krdma_region_sync(region, offset, len, false);
}
EXPORT_SYMBOL_NS_GPL(krdma_region_sync_for_device, KRDMA_NS);

/**
 * krdma_region_size - return the size of a region
 * @region: the region
 *
 * Context: any.
 * Return: size in bytes.
 */
u64 krdma_region_size(const struct krdma_region *region)
{
	return region->size;
}
EXPORT_SYMBOL_NS_GPL(krdma_region_size, KRDMA_NS);
