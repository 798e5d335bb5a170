/* SPDX-License-Identifier: GPL-2.0 */
/* Connecting, listening, and the life of a connection. */
#ifndef KRDMA_CM_H
#define KRDMA_CM_H

#include "device.h"

/* life.c */
void krdma_life_set_message_mode(const struct krdma_mode *mode);
struct krdma_conn *krdma_conn_alloc(enum krdma_role role,
				    const struct krdma_params *params);
struct krdma_conn *krdma_conn_alloc_child(struct krdma_conn *listener,
					  struct krdma_auth *auth);
void krdma_conn_close(struct krdma_conn *conn);
void krdma_conn_call_closing(struct krdma_conn *conn);

/* cm.c */
void krdma_cm_count(struct krdma_conn *conn, int ret);
bool krdma_cm_family_ok(const struct sockaddr *addr);
void krdma_cm_keep_addrs(struct krdma_conn *conn, const struct rdma_cm_id *id);
int krdma_cm_new_id(struct krdma_conn *conn);
int krdma_cm_start(struct krdma_conn *conn, const struct sockaddr *dst);
int krdma_cm_dial(struct krdma_conn *conn);
int krdma_cm_answer(struct krdma_conn *conn);
int krdma_cm_set_answer(struct krdma_conn *conn, const void *private_data,
			u8 private_data_len);
struct krdma_conn *krdma_cm_next_request(struct krdma_conn *listener);
void krdma_cm_accepted(struct krdma_conn *conn, int error);
void krdma_cm_disconnect(struct krdma_conn *conn);
long krdma_cm_hang_up_left(const struct krdma_conn *conn);
void krdma_cm_wait_hung_up(struct krdma_conn *conn);
void krdma_cm_drop_requests(struct krdma_conn *listener);
void krdma_cm_reject_unanswered(struct krdma_conn *conn);

/* listen.c */
void krdma_listen_lost(struct krdma_conn *conn);
void krdma_listen_work(struct work_struct *work);
void krdma_listen_end(struct krdma_conn *conn);

/* handshake.c */
void krdma_call_queue(struct krdma_conn *conn);
void krdma_call_settled_locked(struct krdma_conn *conn);
void krdma_call_work(struct work_struct *work);
void krdma_step_queue(struct krdma_conn *conn);
void krdma_step_queue_in(struct krdma_conn *conn, u32 ms);
void krdma_step_cancel(struct krdma_conn *conn);
void krdma_step_failed(struct krdma_conn *conn);
int krdma_step_accept(struct krdma_conn *conn);
void krdma_step_work(struct work_struct *work);
void krdma_offer_work(struct work_struct *work);

#endif /* KRDMA_CM_H */
