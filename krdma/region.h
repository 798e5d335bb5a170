/* SPDX-License-Identifier: GPL-2.0 */
/* Internal declarations of regions (local memory) and of the peer's memory. */
#ifndef KRDMA_REGION_H
#define KRDMA_REGION_H

#include <linux/dma-direction.h>
#include <linux/refcount.h>
#include <linux/scatterlist.h>

#include "device.h"

struct krdma_seg;
struct krdma_wire_seg;

/**
 * struct krdma_frwr - an MR for fast registration
 * @link: link in krdma_conn.mr.frwrs while the MR is unused; krdma_conn.setup
 * @mr: the MR
 * @room: maximum number of page entries of @mr
 * @nkeys: number of keys that @mr has had so far
 */
struct krdma_frwr {
	struct list_head link;
	struct ib_mr *mr;
	u32 room;
	u32 nkeys;
};

/**
 * struct krdma_chunk - a part of a region that is DMA mapped as a whole
 * @sgt: pages of the chunk
 * @len: number of bytes of the region in the chunk
 * @pad: number of bytes behind these @len bytes that are mapped but not
 *	registered
 * @mapped: @sgt is DMA mapped
 */
struct krdma_chunk {
	struct sg_table sgt;
	u32 len;
	u32 pad;
	bool mapped;
};

/**
 * struct krdma_region_mr - one MR of a region
 * @frwr: the MR. krdma_conn.setup protects this pointer, and teardown clears
 *	it. For a region of a domain, krdma_dev.lock protects it, and the removal
 *	of the device clears it
 * @invalid: the MR was registered and is known to be invalid again
 * @mr: copy of the pointer in @frwr that may be read without the lock. After
 *	teardown the copy is stale. It is only used for a post, which fails in
 *	that case
 * @rkey: key for the peer; may be stale like @mr
 * @lkey: key for the local adapter; may be stale like @mr
 * @iova: address of the MR's first byte, for the adapter and the peer
 * @offset: offset of the MR's first byte in the region
 * @len: number of bytes of the MR
 */
struct krdma_region_mr {
	struct krdma_frwr *frwr;
	bool invalid;
	struct ib_mr *mr;
	u32 rkey;
	u32 lkey;
	u64 iova;
	u64 offset;
	u32 len;
};

/**
 * struct krdma_share - the domain of a region
 * @dev: device, with a reference. NULL: the region belongs to a connection
 * @kpd: PD of the domain on @dev. The region is one of its users while
 *	krdma_region.link is not empty. Afterwards the PD may be freed, and the
 *	pointer is only compared
 * @domain: domain, with a reference
 * @op_timeout_ms: &krdma_params.op_timeout_ms of the connection that created
 *	the region
 * @flags: KRDMA_NOIO of that connection, or 0
 * @refused: an adapter has failed a work request of the region
 */
struct krdma_share {
	struct krdma_dev *dev;
	struct krdma_pd *kpd;
	struct krdma_domain *domain;
	u32 op_timeout_ms;
	u32 flags;
	bool refused;
};

/**
 * struct krdma_region - memory that an adapter may use
 * @conn: connection of the region. A region of the user holds a reference and
 *	is put before the connection is freed. Internal regions are freed with
 *	the connection. NULL: the region belongs to a domain
 * @share: domain of the region
 * @link: link in krdma_conn.mr.regions; krdma_conn.setup. For a region of a
 *	domain: link in krdma_pd.regions, empty after the removal of the device;
 *	krdma_dev.lock
 * @vaddr: the memory if it is linear, otherwise NULL
 * @owned: krdma allocated the memory at @vaddr
 * @size: bytes of the region
 * @first: offset of the first byte in its page
 * @access: IB_ACCESS_* for the peer and the local adapter
 * @dir: direction in which the adapter moves data
 * @attrs: DMA_ATTR_* of the mapping
 * @ibdev: device; valid while the region is mapped
 * @is_soft: the device is implemented in software
 * @page_size: number of bytes of each page entry of the MRs
 * @chunk_size: number of bytes of each chunk. The first chunk is counted from
 *	the beginning of its first page
 * @coherent: the memory needs no sync; constant after mapping
 * @syncs: 1 while the region is mapped, plus 1 for each running sync. Unmapping
 *	waits for running syncs
 * @usable: the region is registered, and is neither revoked nor invalidated
 * @invalidatable: the peer may invalidate the key. The region is in
 *	krdma_conn.mr.invalidatable until it is put
 * @given_up: the peer has invalidated the key; krdma_conn.lock
 * @told: message that invalidated the key, or NULL. Its member invalidated
 *	points to the region until the region is put; krdma_conn.lock
 * @stats: data for debugfs
 * @nmrs: number of MRs
 * @room: number of elements that @mrs has room for
 * @mrs: MRs in the order of addresses
 * @nchunks: number of chunks
 * @chunks: chunks in the order of addresses
 */
struct krdma_region {
	struct krdma_conn *conn;
	struct krdma_share share;
	struct list_head link;
	void *vaddr;
	bool owned;
	u64 size;
	u32 first;
	int access;
	enum dma_data_direction dir;
	unsigned long attrs;
	struct ib_device *ibdev;
	bool is_soft;
	u32 page_size;
	u32 chunk_size;
	bool coherent;
	refcount_t syncs;
	bool usable;
	bool invalidatable;
	bool given_up;
	struct krdma_rx_msg *told;
	struct krdma_region_stats stats;
	u32 nmrs;
	u32 room;
	struct krdma_region_mr *mrs;
	u32 nchunks;
	struct krdma_chunk chunks[];
};

/* dma.c */
bool krdma_dma_page_ok(const struct page *page);
bool krdma_dma_virt_ok(const void *addr, size_t len);
u32 krdma_dma_max(const struct ib_device *ibdev);
u32 krdma_dma_mr_entries(const struct ib_device *ibdev);
bool krdma_dma_is_coherent(struct ib_device *ibdev);
enum dma_data_direction krdma_dma_region_dir(u32 access);
int krdma_chunk_fill(struct krdma_chunk *chunk, struct page **pages, u32 first,
		     u32 len, u32 pad);
void krdma_chunk_free(struct krdma_chunk *chunk);
int krdma_chunk_map(struct ib_device *ibdev, struct krdma_chunk *chunk,
		    enum dma_data_direction dir, unsigned long attrs);
void krdma_chunk_unmap(struct ib_device *ibdev, struct krdma_chunk *chunk,
		       enum dma_data_direction dir, unsigned long attrs);
bool krdma_chunk_is_coherent(struct ib_device *ibdev,
			     const struct krdma_chunk *chunk);
void krdma_chunk_sync(struct ib_device *ibdev, const struct krdma_chunk *chunk,
		      u32 offset, u32 len, enum dma_data_direction dir,
		      bool for_cpu);
u32 krdma_dma_entries(struct scatterlist *sg, u32 nents, u32 page_size);
u32 krdma_dma_runs(const struct krdma_chunk *chunk, u32 page_size);

/* frwr.c */
u32 krdma_frwr_max(const struct krdma_conn *conn);
struct krdma_frwr *krdma_frwr_get(struct krdma_conn *conn, u32 entries);
void krdma_frwr_put(struct krdma_conn *conn, struct krdma_frwr *frwr,
		    bool invalid);
void krdma_frwrs_free(struct krdma_conn *conn);

/* region.c */
void krdma_region_describe(const struct krdma_region *region, u64 offset,
			   u64 len, struct krdma_wire_seg *wire);
void krdma_region_read(const struct krdma_region *region, u64 offset, void *to,
		       u32 len);
u32 krdma_region_run(const struct krdma_region *region, u64 offset);
bool krdma_region_is_of(const struct krdma_region *region,
			const struct krdma_conn *conn);
u32 krdma_region_pieces(const struct krdma_region *region, u64 offset, u64 len);
bool krdma_region_may_move(const struct krdma_region *region,
			   enum dma_data_direction dir);
u32 krdma_region_sges(const struct krdma_region *region, u64 offset, u32 len,
		      struct ib_sge *sges);

/* Check whether a range is within @size bytes. */
static inline bool krdma_range_ok(u64 size, u64 offset, u64 len)
{
	return offset <= size && len <= size - offset;
}

static inline bool krdma_region_is_shared(const struct krdma_region *region)
{
	return region->share.dev;
}

/* remote.c */
const struct krdma_seg *krdma_remote_segs(const struct krdma_remote *remote);
u32 krdma_remote_nsegs(const struct krdma_remote *remote);
bool krdma_remote_is_aligned(const struct krdma_remote *remote, u64 offset);

#endif /* KRDMA_REGION_H */
