// SPDX-License-Identifier: GPL-2.0
/*
 * Set the counters of a connection to high values, so that they wrap around
 * soon. Counters that begin at 0 would take months to wrap around.
 *
 * Only this file of the module uses krdma's internal structures.
 */
#include "../../../krdma/auth.h"
#include "../../../krdma/msg.h"
#include "priv.h"

static bool ktest_wrap_is_idle_locked(const struct krdma_conn *conn)
{
	lockdep_assert_held(&conn->lock);
	return conn->cb.state == KRDMA_ESTABLISHED && conn->msg &&
	       list_empty(&conn->sq.posted) && list_empty(&conn->sq.pending) &&
	       !conn->msg->next_offset && list_empty(&conn->msg->ready);
}

static void ktest_wrap_locked(struct krdma_conn *conn, u32 start)
{
	lockdep_assert_held(&conn->lock);
	/*
	 * The peer's command "wrap" must set these counters to the same value.
	 */
	conn->sq.send_id = start;
	conn->msg->next_id = start;
	/* A key is replaced when its number of messages is a multiple of 65536. */
	if (conn->sq.tx) {
		conn->auth->seal->tx.messages = start;
		conn->auth->seal->rx.messages = start;
	}
	/*
	 * This is the number of the connection in its statistics. krdma
	 * compares the numbers of two connections to find out which one is
	 * older.
	 */
	conn->stats.id = start;
}

/*
 * wrap NAME START: let the ids of messages, the numbers of sealed messages, and
 * the number of the connection continue from START. Both sides must run this
 * command. Return -EBUSY if the connection is not idle.
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
