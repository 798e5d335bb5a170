/* SPDX-License-Identifier: GPL-2.0 */
/* Devices, and the queues of a connection on them. */
#ifndef KRDMA_DEVICE_H
#define KRDMA_DEVICE_H

#include "conn.h"

/* device.c */
int krdma_device_init(void);
void krdma_device_exit(void);
int krdma_device_join(struct krdma_conn *conn);
int krdma_device_attach(struct krdma_conn *conn);
void krdma_device_detach(struct krdma_conn *conn);
void krdma_device_cq_freed(struct krdma_dev *dev);
int krdma_device_end_older(struct krdma_conn *conn);
int krdma_device_replace_older(struct krdma_conn *conn);
void krdma_domain_get(struct krdma_domain *domain);
void krdma_dev_get(struct krdma_dev *dev);
void krdma_dev_put(struct krdma_dev *dev);
void krdma_pd_put_locked(struct krdma_dev *dev, struct krdma_pd *kpd);
void krdma_device_watch(struct krdma_watch *watch,
			void (*added)(struct krdma_watch *watch));
void krdma_device_unwatch(struct krdma_watch *watch);

/* cq.c */
u32 krdma_cq_vectors(const struct ib_device *ibdev);
int krdma_cq_get(struct krdma_conn *conn, u32 ncqes);
void krdma_cq_put(struct krdma_conn *conn);

/* qp.c */
int krdma_qp_create(struct krdma_conn *conn);
void krdma_qp_drain(struct krdma_conn *conn);
void krdma_qp_destroy(struct krdma_conn *conn);
u32 krdma_qp_reads(const struct krdma_conn *conn);

#endif /* KRDMA_DEVICE_H */
