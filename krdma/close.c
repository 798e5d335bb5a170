// SPDX-License-Identifier: GPL-2.0
/*
 * Orderly closing by krdma_close(): wait until the posted requests have
 * completed, send the reason to the peer, and only then end the connection.
 * krdma_disconnect() ends the connection at once.
 *
 * The message BYE carries the reason. The peer disconnects when it receives
 * BYE. Only this disconnect proves that BYE, and each message before BYE, has
 * arrived. On iWARP a completion is no proof: it only means that TCP on this
 * host has accepted the message. So on iWARP a release without krdma_close()
 * may lose messages that krdma_send() has reported as sent.
 */
#include <linux/bottom_half.h>
#include <linux/export.h>

#include "msg.h"

/* Begin to close. From here on, new posts and sends are refused. */
static int krdma_close_begin(struct krdma_conn *conn, u32 reason)
{
	unsigned long flags;
	int ret = 0;

	spin_lock_irqsave(&conn->lock, flags);
	if (conn->cb.state != KRDMA_ESTABLISHED) {
		ret = conn->error ?: -ENOTCONN;
	} else if (conn->life.bye) {
		ret = -EALREADY;
	} else {
		WRITE_ONCE(conn->life.bye, KRDMA_BYE_LEAVING);
		conn->msg->bye_reason = reason;
	}
	spin_unlock_irqrestore(&conn->lock, flags);
	if (!ret)
		krdma_op_cancel(conn, NULL, -ESHUTDOWN);
	return ret;
}

static bool krdma_close_is_idle(struct krdma_conn *conn)
{
	const struct krdma_wr *kwr;
	unsigned long flags;
	bool idle;

	spin_lock_irqsave(&conn->lock, flags);
	idle = list_empty(&conn->sq.pending) && !conn->sq.open &&
	       !(conn->sq.busy & KRDMA_BUSY_RW);
	/* Do not wait for internal messages: they have reserved slots. */
	list_for_each_entry(kwr, &conn->sq.posted, link)
		idle &= kwr->reserved;
	spin_unlock_irqrestore(&conn->lock, flags);
	return idle;
}

/*
 * Condition for krdma_conn_wait(): all slots of the send queue are free, and no
 * request waits for a slot. Without the lock, a request that moves from one to
 * the other may be missed.
 */
static bool krdma_close_may_be_idle(struct krdma_conn *conn, const void *arg)
{
	return !READ_ONCE(conn->sq.npending) &&
	       READ_ONCE(conn->sq.avail) == conn->limits.send_depth &&
	       !READ_ONCE(conn->sq.open) &&
	       !(READ_ONCE(conn->sq.busy) & KRDMA_BUSY_RW);
}

static bool krdma_close_is_over(struct krdma_conn *conn, const void *arg)
{
	return krdma_conn_is_over(conn);
}

static int krdma_close_tell(struct krdma_conn *conn, unsigned long until)
{
	unsigned long flags;
	int ret;

	if (!(conn->hello.features & KRDMA_WIRE_FEATURE_BYE))
		return 0;
	/* See krdma_req_enqueue() for the reason to disable bottom halves. */
	local_bh_disable();
	spin_lock_irqsave(&conn->lock, flags);
	ret = krdma_control_send_locked(conn, KRDMA_CONTROL_BYE);
	if (!ret)
		WRITE_ONCE(conn->life.bye, KRDMA_BYE_SAID);
	spin_unlock_irqrestore(&conn->lock, flags);
	local_bh_enable();
	ret = ret ?: krdma_conn_wait(conn, krdma_close_is_over, NULL, until);
	if (ret)
		return ret;
	/*
	 * krdma_last_error() takes krdma_conn.lock. The state and
	 * krdma_life.bye change together under this lock, so krdma_life.bye is
	 * final when it is read below.
	 */
	ret = krdma_last_error(&conn->cb);
	return conn->life.bye == KRDMA_BYE_ANSWERED ? 0 : ret;
}

/**
 * krdma_close - end a connection when all posted requests have completed
 * @cb: established connection in message mode
 * @reason: number defined by the user, which the peer gets from
 *	krdma_peer_reason()
 * @timeout_ms: time limit in ms; 0 means &krdma_params.op_timeout_ms
 *
 * From this call on, this side refuses new posts and sends with -ESHUTDOWN. The
 * call waits until the requests and messages that were posted before have
 * completed. It then sends the reason, and waits until the peer has ended the
 * connection. The peer does so as soon as it receives the reason. Until then,
 * messages of the peer still arrive. Requests that the peer has in flight at
 * the end fail.
 *
 * After -EINVAL or -ENOTCONN the connection is unchanged. Otherwise it ends as
 * by krdma_disconnect(); after -EALREADY the other task ends it. In all cases
 * the owner must still release the connection.
 *
 * Return: 0: all requests and messages have completed, and the peer has the
 * reason if its krdma supports BYE; -ETIMEDOUT; -EINTR; -EALREADY: another task
 * has called krdma_close(); -ENOTCONN: not established yet; -EINVAL: not
 * message mode; or the reason for which the connection ended before.
 */
int krdma_close(struct krdma_cb *cb, u32 reason, u32 timeout_ms)
{
	struct krdma_conn *conn = krdma_conn(cb);
	unsigned long until;
	int ret;

	ret = krdma_conn_check_open(conn) ?: krdma_close_begin(conn, reason);
	if (ret)
		return ret;
	until = krdma_deadline(timeout_ms ?: conn->p.op_timeout_ms);
	krdma_conn_get(conn);
	do {
		ret = krdma_conn_wait(conn, krdma_close_may_be_idle, NULL,
				      until);
	} while (!ret && !krdma_close_is_idle(conn));
	ret = ret ?: krdma_close_tell(conn, until);
	krdma_disconnect(cb);
	krdma_conn_put(conn);
	return ret;
}
EXPORT_SYMBOL_NS_GPL(krdma_close, KRDMA_NS);

/**
 * krdma_close_told_locked - handle a BYE of the peer
 * @conn: connection in message mode
 * @reason: reason in the BYE
 *
 * Context: any, @conn->lock held.
 */
void krdma_close_told_locked(struct krdma_conn *conn, u32 reason)
{
	lockdep_assert_held(&conn->lock);
	conn->msg->peer_reason = reason;
	conn->msg->peer_said_bye = true;
	krdma_conn_abort_locked(conn, -ECONNRESET);
}

/**
 * krdma_peer_reason - return the reason for which the peer has closed
 * @cb: connection in message mode
 * @reason: result: number that the peer passed to krdma_close()
 *
 * Context: any.
 * Return: true if the peer sent a reason; otherwise false, and @reason is
 * unchanged.
 */
bool krdma_peer_reason(const struct krdma_cb *cb, u32 *reason)
{
	struct krdma_conn *conn = krdma_conn(cb);
	unsigned long flags;
	bool said;

	spin_lock_irqsave(&conn->lock, flags);
	said = conn->msg && conn->msg->peer_said_bye;
	if (said)
		*reason = conn->msg->peer_reason;
	spin_unlock_irqrestore(&conn->lock, flags);
	return said;
}
EXPORT_SYMBOL_NS_GPL(krdma_peer_reason, KRDMA_NS);
