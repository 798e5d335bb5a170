/* SPDX-License-Identifier: GPL-2.0 */
/* Registration of regions, by work requests. */
#ifndef KRDMA_REGISTRATION_H
#define KRDMA_REGISTRATION_H

#include "region.h"
#include "sq.h"

/* registration.c */
void krdma_regions_unregister(struct krdma_conn *conn);
void krdma_regions_free(struct krdma_conn *conn);
u32 krdma_region_mr_pages(const struct ib_device *ibdev);
struct krdma_region *krdma_region_create(struct krdma_conn *conn, size_t size,
					 u32 access, unsigned long until);
struct krdma_region *krdma_region_from_memory(struct krdma_conn *conn,
					      void *addr, size_t len,
					      u32 access, unsigned long until);
struct krdma_region *krdma_region_copy(struct krdma_conn *conn,
				       const void *from, size_t size,
				       u32 access, unsigned long until);
struct krdma_region *krdma_region_sink(struct krdma_conn *conn, size_t size,
				       unsigned long until);
void krdma_region_recycle(struct krdma_region *region, unsigned long until);
void *krdma_region_detach(struct krdma_region *region);
struct krdma_region *krdma_region_find_rkey_locked(struct krdma_conn *conn,
						   u32 rkey);
bool krdma_region_invalidated_locked(struct krdma_region *region,
				     struct krdma_rx_msg *rx_msg);
int krdma_region_execute(struct krdma_conn *conn, struct krdma_region *region,
			 u8 kind, u32 n, unsigned long until);
void krdma_region_unregister(struct krdma_conn *conn,
			     struct krdma_region *region);
void krdma_region_free_mrs(struct krdma_conn *conn,
			   struct krdma_region *region);
void krdma_region_free(struct krdma_region *region);

/* domain_region.c */
struct krdma_dev *krdma_share_get_dev(struct krdma_conn *conn);
struct krdma_conn *krdma_share_next_conn(struct krdma_dev *dev,
					 struct krdma_conn *failed, int error,
					 unsigned long until);
void krdma_share_begin(struct krdma_conn *conn, struct krdma_region *region);
void krdma_share_open(struct krdma_conn *conn, struct krdma_region *region);
void krdma_share_failed(struct krdma_conn *conn, struct krdma_region *region);
void krdma_share_revoke(struct krdma_region *region, u32 timeout_ms);
void krdma_share_put(struct krdma_region *region);

#endif /* KRDMA_REGISTRATION_H */
