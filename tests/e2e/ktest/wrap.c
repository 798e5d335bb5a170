// SPDX-License-Identifier: GPL-2.0
/*
 * Let the counters of a connection wrap around soon.
 *
 * They count for months before they do that by themselves. This file knows the
 * inside of krdma, as nothing else in this module does.
 */
#include "../../../krdma/msg.h"
#include "priv.h"

static bool ktest_wrap_is_idle_locked(const struct krdma_conn *conn)
{
	lockdep_assert_held(&conn->lock);
	return conn->cb.state == KRDMA_ESTABLISHED && conn->msg &&
	       list_empty(&conn->posted) && list_empty(&conn->pending) &&
	       !conn->msg->next_offset && list_empty(&conn->msg->ready);
}

static void ktest_wrap_locked(struct krdma_conn *conn, u32 start)
{
	lockdep_assert_held(&conn->lock);
	/* The peer's must be the same. */
	conn->msg->send_id = start;
	conn->msg->next_id = start;
	conn->nleft = start;
	conn->reads_left = start;
	conn->reads_over = start;
	/* For those that come after it. */
	conn->stats.id = start;
}

/*
 * wrap NAME START: the ids of messages, of both sides if this is said to both,
 * the counters of requests, and the number of the connection continue from START.
 * -EBUSY if the connection is not idle
 */
int ktest_do_wrap(const struct ktest_args *args, struct krdma_cb *cb)
{
	struct krdma_conn *conn = container_of(cb, struct krdma_conn, cb);
	unsigned long flags;
	int ret = -EBUSY;

	spin_lock_irqsave(&conn->lock, flags);
	if (ktest_wrap_is_idle_locked(conn)) {
		ktest_wrap_locked(conn, ktest_number(args, 2, 0));
		ret = 0;
	}
	spin_unlock_irqrestore(&conn->lock, flags);
	return ret;
}
