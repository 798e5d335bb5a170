/* SPDX-License-Identifier: GPL-2.0 */
/* Faults of drivers that krdma works around. Each is described in quirks.c. */
#ifndef KRDMA_QUIRKS_H
#define KRDMA_QUIRKS_H

#include <linux/bits.h>

#include "device.h"

enum krdma_quirk {
	KRDMA_QUIRK_LATE_READS	   = BIT(0),
	KRDMA_QUIRK_BLOCKED_READS  = BIT(1),
	KRDMA_QUIRK_DOUBLE_FLUSH   = BIT(2),
	KRDMA_QUIRK_LOST_READS	   = BIT(3),
	KRDMA_QUIRK_ONE_MR	   = BIT(4),
	KRDMA_QUIRK_MISSED_START   = BIT(5),
	KRDMA_QUIRK_SWAPPED_DEPTHS = BIT(6),
	KRDMA_QUIRK_SENDS_FREED	   = BIT(7),
	KRDMA_QUIRK_LATE_ANSWERS   = BIT(8),
	KRDMA_QUIRK_DEAD_RECEIVE   = BIT(9),
	KRDMA_QUIRK_READS_FREED	   = BIT(10),
	KRDMA_QUIRK_FENCED_READS   = BIT(11),
};

u32 krdma_quirks_of(const struct ib_device *ibdev);
int krdma_quirk_connect(struct krdma_conn *conn, struct rdma_conn_param *param);
int krdma_quirk_connect_errno(const struct rdma_cm_id *id, int status);
const void *krdma_quirk_reject_data(struct rdma_cm_id *id,
				    struct rdma_cm_event *event, u8 *len);
int krdma_quirk_backlog(u32 backlog);
int krdma_quirk_post_errno(int ret);
int krdma_quirk_kept_errno(int ret);
void krdma_quirk_swap_depths(const struct krdma_conn *conn,
			     struct ib_qp_attr *attr);
void krdma_quirk_enable_receive(struct krdma_conn *conn);
void krdma_quirk_flush_all(struct krdma_conn *conn);
int krdma_quirk_reads_alloc(struct krdma_conn *conn);
void krdma_quirk_reads_free(struct krdma_conn *conn);
struct ib_cqe *krdma_quirk_read_cqe_locked(struct krdma_conn *conn,
					   struct krdma_wr *kwr);

/* Check whether the driver of a connection with a QP has a fault. */
static inline bool krdma_has_quirk(const struct krdma_conn *conn,
				   enum krdma_quirk quirk)
{
	return conn->hw.quirks & quirk;
}

#endif /* KRDMA_QUIRKS_H */
