/* SPDX-License-Identifier: GPL-2.0 */
/* Regions and the peer's memory, as requests need them. */
#ifndef KRDMA_REGION_H
#define KRDMA_REGION_H

#include <linux/dma-direction.h>
#include <linux/scatterlist.h>

#include "priv.h"

struct krdma_seg;
struct krdma_wire_seg;

/**
 * struct krdma_frwr - an MR
 * @link: in krdma_conn.frwrs while it is kept; krdma_conn.setup
 * @mr: the MR
 * @room: page entries that it takes
 * @nkeys: keys that it has had
 */
struct krdma_frwr {
	struct list_head link;
	struct ib_mr *mr;
	u32 room;
	u32 nkeys;
};

/**
 * struct krdma_chunk - a part of a region that is DMA mapped as a whole
 * @sgt: its pages
 * @len: bytes of the region
 * @pad: bytes after these that are mapped and not registered
 * @mapped: @sgt is DMA mapped
 */
struct krdma_chunk {
	struct sg_table sgt;
	u32 len;
	u32 pad;
	bool mapped;
};

/* dma.c */
bool krdma_dma_page_ok(const struct page *page);
bool krdma_dma_virt_ok(const void *addr, size_t len);
u32 krdma_dma_max(const struct ib_device *ibdev);
u32 krdma_dma_page_size(const struct ib_device *ibdev);
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
struct scatterlist *krdma_chunk_last(struct krdma_chunk *chunk);
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

/* mr.c */
u32 krdma_region_mr_pages(const struct ib_device *ibdev);
struct krdma_region *krdma_region_create(struct krdma_conn *conn, size_t size,
					 u32 access, unsigned long until);
struct krdma_region *krdma_region_from_memory(struct krdma_conn *conn,
					      void *addr, size_t len, u32 access,
					      unsigned long until);
struct krdma_region *krdma_region_copy(struct krdma_conn *conn,
				       const void *from, size_t size,
				       u32 access, unsigned long until);
struct krdma_region *krdma_region_sink(struct krdma_conn *conn, size_t size,
				       unsigned long until);
void krdma_region_recycle(struct krdma_region *region, unsigned long until);
void *krdma_region_detach(struct krdma_region *region);
void krdma_region_describe(const struct krdma_region *region, u64 offset,
			   u64 len, struct krdma_wire_seg *wire);
u32 krdma_region_run(const struct krdma_region *region, u64 offset);
struct krdma_region *krdma_region_find_rkey_locked(struct krdma_conn *conn,
						   u32 rkey);
bool krdma_region_invalidated_locked(struct krdma_region *region,
				     struct krdma_loan *loan);
bool krdma_region_is_of(const struct krdma_region *region,
			const struct krdma_conn *conn);
u32 krdma_region_pieces(const struct krdma_region *region, u64 offset, u64 len);
bool krdma_region_may_move(const struct krdma_region *region,
			   enum dma_data_direction dir);
u32 krdma_region_sges(const struct krdma_region *region, u64 offset, u32 len,
		      struct ib_sge *sges);

/* remote.c */
const struct krdma_seg *krdma_remote_segs(const struct krdma_remote *remote);
u32 krdma_remote_nsegs(const struct krdma_remote *remote);
bool krdma_remote_is_aligned(const struct krdma_remote *remote, u64 offset);

#endif /* KRDMA_REGION_H */
