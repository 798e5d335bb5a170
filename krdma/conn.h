/* SPDX-License-Identifier: GPL-2.0 */
/* The connection as an object, with its counters and limits. */
#ifndef KRDMA_CONN_H
#define KRDMA_CONN_H

#include "priv.h"

/**
 * krdma_conn_get - take a reference
 * @conn: connection that is not freed during this call
 *
 * Context: any.
 */
static inline void krdma_conn_get(struct krdma_conn *conn)
{
	kref_get(&conn->ref);
}

/**
 * krdma_conn_put - drop a reference; the last put frees the connection
 * @conn: connection
 *
 * Context: process; any if this cannot be the last reference. A completion
 * handler never drops the last reference, because the connection is drained
 * before the creator's reference is put.
 */
static inline void krdma_conn_put(struct krdma_conn *conn)
{
	kref_put(&conn->ref, conn->free);
}

/**
 * krdma_deadline - convert a duration to a time limit for krdma_conn_wait()
 * @ms: time limit in ms from now; 0 or KRDMA_NEVER mean no limit
 *
 * Return: time limit in jiffies; 0 means no limit.
 */
static inline unsigned long krdma_deadline(u32 ms)
{
	if (!ms || ms == KRDMA_NEVER)
		return 0;
	return (jiffies + msecs_to_jiffies(ms)) ?: 1;
}

/* conn.c */
void krdma_conn_put_anywhere(struct krdma_conn *conn);
void krdma_conn_abort_locked(struct krdma_conn *conn, int error);
bool krdma_conn_move(struct krdma_conn *conn, enum krdma_state to);
void krdma_conn_abort(struct krdma_conn *conn, int error);
void krdma_conn_hung_up(struct krdma_conn *conn);
bool krdma_conn_close_in(struct krdma_conn *conn, long delay);
void krdma_conn_abort_for(struct krdma_conn *conn, int error,
			  enum krdma_cause cause, u32 arg);
void krdma_conn_log_end(struct krdma_conn *conn);
void krdma_conn_begin_step(struct krdma_conn *conn);
void krdma_conn_end_step(struct krdma_conn *conn);
void krdma_conn_hand_over(struct krdma_conn *conn);
bool krdma_conn_is_open(const struct krdma_conn *conn);
struct module *krdma_owner_hold(struct module *owner);
void krdma_conn_flushed(struct krdma_conn *conn);
void krdma_conn_start_timer(struct krdma_conn *conn, u32 ms);
void krdma_conn_in_time(struct krdma_conn *conn);
void krdma_conn_stop_timer(struct krdma_conn *conn);
int krdma_conn_wait(struct krdma_conn *conn,
		    bool (*ready)(struct krdma_conn *conn, const void *arg),
		    const void *arg, unsigned long until);
int krdma_conn_wait_op(struct krdma_conn *conn,
		       bool (*ready)(struct krdma_conn *conn, const void *arg),
		       const void *arg, unsigned long until);
int krdma_conn_wait_late(struct krdma_conn *conn,
			 bool (*ready)(struct krdma_conn *conn,
				       const void *arg),
			 const void *arg, unsigned long until);
int krdma_conn_wait_ever(struct krdma_conn *conn,
			 bool (*ready)(struct krdma_conn *conn,
				       const void *arg),
			 const void *arg, unsigned long until);
int krdma_conn_wait_closed(struct krdma_conn *conn, unsigned long until);
int krdma_pause(u32 ms);
bool krdma_conn_may_notify(struct krdma_conn *conn);
bool krdma_conn_set_owner_locked(struct krdma_conn *conn, enum krdma_owner to);
void krdma_conn_timer_work(struct work_struct *work);
int krdma_conn_fatal_errno(const struct krdma_conn *conn);
int krdma_conn_check_msg(struct krdma_conn *conn);
int krdma_conn_check_open(struct krdma_conn *conn);

/* budget.c */
struct krdma_budget *krdma_budget_alloc(const struct krdma_params *p);
int krdma_budget_add_conn(struct krdma_conn *listener, struct krdma_conn *conn);
int krdma_budget_add_unproved(struct krdma_conn *listener,
			      struct krdma_conn *conn);
void krdma_budget_proved(struct krdma_conn *conn);
void krdma_budget_del_conn(struct krdma_conn *conn);
int krdma_budget_charge(struct krdma_conn *conn, u32 len);
void krdma_budget_uncharge(struct krdma_conn *conn);

/* path.c */
const char *krdma_gid_name(u8 type);
void krdma_path_hello(const struct krdma_conn *conn, struct krdma_hello *hello);
void krdma_path_limit(struct krdma_conn *conn);
int krdma_path_keep(struct krdma_conn *conn, const struct rdma_cm_id *id);

#endif /* KRDMA_CONN_H */
