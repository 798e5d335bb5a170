/* SPDX-License-Identifier: GPL-2.0 */
/* Requests, and the send queue of a connection in message mode. */
#ifndef KRDMA_SQ_H
#define KRDMA_SQ_H

#include "device.h"

/*
 * Maximum number of requests that wait for a slot or a credit. Without a limit
 * a peer that never receives would let the queue grow without end.
 */
#define KRDMA_PENDING_MAX 4096

/* sq.c */
struct krdma_op *krdma_op_alloc(void);
struct krdma_op *krdma_op_alloc_wrs(u32 n);
void krdma_op_put(struct krdma_op *op);
int krdma_op_wait(struct krdma_conn *conn, struct krdma_op *op,
		  unsigned long until);
int krdma_op_wait_in_step(struct krdma_conn *conn, struct krdma_op *op,
			  unsigned long until);
int krdma_op_settle(struct krdma_conn *conn, struct krdma_op *op,
		    unsigned long until);
void krdma_wr_init(struct krdma_wr *kwr, struct krdma_conn *conn,
		   struct krdma_op *op, u8 kind,
		   void (*done)(struct krdma_wr *kwr, int status));
bool krdma_reads_fit_locked(struct krdma_conn *conn,
			    const struct krdma_wr *kwr);
void krdma_reads_posted_locked(struct krdma_conn *conn,
			       const struct krdma_wr *kwr);
struct ib_cqe *krdma_wr_cqe_locked(struct krdma_conn *conn,
				   struct krdma_wr *kwr,
				   enum ib_wr_opcode opcode);
int krdma_qp_post_locked(struct krdma_conn *conn, struct krdma_wr *kwr,
			 struct ib_send_wr *wr);
int krdma_qp_post(struct krdma_conn *conn, struct krdma_wr *kwr,
		  struct ib_send_wr *wr, unsigned long until);
void krdma_qp_failed(struct krdma_conn *conn, enum ib_wc_status status);
void krdma_wr_part_done(struct ib_cq *cq, struct ib_wc *wc);
void krdma_wr_fail_all(struct list_head *wrs, int error);

/* req.c */
int krdma_req_begin(struct krdma_conn *conn);
void krdma_req_free(struct krdma_conn *conn);
void krdma_req_stop(struct krdma_conn *conn);
void krdma_req_end(struct krdma_conn *conn);
void krdma_req_kick_locked(struct krdma_conn *conn);
int krdma_req_wait_turn(struct krdma_conn *conn, unsigned long until);
bool krdma_req_have_need_locked(struct krdma_conn *conn,
				const struct krdma_need *need);

/* write_space.c */
void krdma_space_refused_locked(struct krdma_conn *conn,
				const struct krdma_need *need);
bool krdma_space_begin_locked(struct krdma_conn *conn);
void krdma_space_tell(struct krdma_conn *conn);

#endif /* KRDMA_SQ_H */
