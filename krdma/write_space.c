// SPDX-License-Identifier: GPL-2.0
/*
 * Write space: notify the owner when a refused post may be tried again.
 *
 * If there is no room, krdma_post() refuses with -EAGAIN and stores the room
 * that the post needs in krdma_sendq.space, without releasing krdma_conn.lock
 * after the check. Every event that makes room (a completion, credits, the end
 * of a blocking sender) checks krdma_sendq.space under the same lock, so no
 * refusal is missed.
 *
 * Only one context at a time calls write_space(); this context has set
 * krdma_space.telling. If an event makes room during the callback, this context
 * checks again after the callback has returned, and perhaps calls it once more.
 * Without such an event it does not call again. krdma_msg_stop() waits for the
 * callback.
 */
#include "sq.h"

/*
 * If the pending queue was full, notify the owner when half of the queue is
 * free, not after each request.
 */
#define KRDMA_SPACE_PENDING (KRDMA_PENDING_MAX / 2)

/**
 * krdma_space_refused_locked - store the room that a refused post needs
 * @conn: connection in message mode
 * @need: room that would have been enough
 *
 * After several refusals the smallest number of each resource counts: the owner
 * is notified when one of the posts may succeed. The other posts may be refused
 * again. If one of the posts has KRDMA_NOWAIT, the owner is notified only after
 * the pending queue has become empty.
 *
 * Context: any, @conn->lock held.
 */
void krdma_space_refused_locked(struct krdma_conn *conn,
				const struct krdma_need *need)
{
	struct krdma_space *space = &conn->sq.space;

	lockdep_assert_held(&conn->lock);
	if (!conn->ops || !conn->ops->write_space)
		return;
	if (!space->wanted) {
		space->need = *need;
		space->wanted = true;
		return;
	}
	space->need.nowait |= need->nowait;
	space->need.bulk &= need->bulk;
	space->need.slots = min(space->need.slots, need->slots);
	space->need.sends = min(space->need.sends, need->sends);
	space->need.requests = min(space->need.requests, need->requests);
}

/**
 * krdma_space_begin_locked - check whether the caller must call write_space
 * @conn: connection in message mode, where room may have appeared
 *
 * Context: any, @conn->lock held.
 * Return: true if the caller must call krdma_space_tell() after it has released
 * the lock.
 */
bool krdma_space_begin_locked(struct krdma_conn *conn)
{
	struct krdma_space *space = &conn->sq.space;
	const struct krdma_need *need;
	unsigned int requests;
	bool there;

	lockdep_assert_held(&conn->lock);
	if (!space->wanted || krdma_conn_is_released_locked(conn) ||
	    conn->cb.state != KRDMA_ESTABLISHED)
		return false;
	if (space->telling) {
		space->missed = true;
		return false;
	}
	need = &space->need;
	requests = max_t(unsigned int, need->requests, KRDMA_SPACE_PENDING);
	if (need->nowait)
		there = krdma_req_have_need_locked(conn, need);
	else
		there = conn->sq.npending + requests <= KRDMA_PENDING_MAX;
	if (!there)
		return false;
	space->wanted = false;
	space->telling = true;
	return true;
}

/*
 * End a call of write_space. Return: true if the caller must call it once more.
 */
static bool krdma_space_end(struct krdma_conn *conn)
{
	struct krdma_space *space = &conn->sq.space;
	unsigned long flags;
	bool again = false;

	spin_lock_irqsave(&conn->lock, flags);
	WRITE_ONCE(space->telling, false);
	if (space->missed) {
		space->missed = false;
		again = krdma_space_begin_locked(conn);
	}
	/* Wake krdma_msg_stop(), which waits for the end of the callback. */
	if (!again)
		krdma_conn_wake(conn);
	spin_unlock_irqrestore(&conn->lock, flags);
	return again;
}

/**
 * krdma_space_tell - call write_space of the owner
 * @conn: connection for which krdma_space_begin_locked() returned true
 *
 * Context: that of completion handlers, or process.
 */
void krdma_space_tell(struct krdma_conn *conn)
{
	do {
		conn->ops->write_space(&conn->cb);
	} while (krdma_space_end(conn));
}
