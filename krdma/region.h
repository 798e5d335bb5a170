/* SPDX-License-Identifier: GPL-2.0 */
/* Regions and the peer's memory, as requests need them. */
#ifndef KRDMA_REGION_H
#define KRDMA_REGION_H

#include "priv.h"

struct krdma_seg;
struct krdma_wire_seg;

/**
 * struct krdma_frwr - an MR
 * @link: in krdma_conn.frwrs while it is kept; krdma_conn.setup
 * @mr: the MR
 * @room: pages that it takes
 * @nkeys: keys that it has had
 */
struct krdma_frwr {
	struct list_head link;
	struct ib_mr *mr;
	u32 room;
	u32 nkeys;
};

/* frwr.c */
u32 krdma_frwr_max(const struct krdma_conn *conn);
struct krdma_frwr *krdma_frwr_get(struct krdma_conn *conn, u32 npages);
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
bool krdma_region_invalidated_locked(struct krdma_region *region);
bool krdma_region_is_of(const struct krdma_region *region,
			const struct krdma_conn *conn);
u32 krdma_region_pieces(const struct krdma_region *region, u64 offset, u32 len);
void krdma_region_sync(struct krdma_region *region, bool for_cpu);
u32 krdma_region_sges(const struct krdma_region *region, u64 offset, u32 len,
		      struct ib_sge *sges);

/* remote.c */
const struct krdma_seg *krdma_remote_segs(const struct krdma_remote *remote);
u32 krdma_remote_nsegs(const struct krdma_remote *remote);
bool krdma_remote_is_aligned(const struct krdma_remote *remote, u64 offset);

#endif /* KRDMA_REGION_H */
