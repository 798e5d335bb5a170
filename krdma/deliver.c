// SPDX-License-Identifier: GPL-2.0
/*
 * Delivery of messages by the owner's receive() callback. A message that came
 * in one part is delivered in the memory that it arrived in. When the owner
 * releases the message, that memory is posted as a receive again, and the peer
 * gets its credit back. So if the owner keeps all messages, the peer must stop
 * sending.
 *
 * At most one context at a time delivers the messages of a connection, so that
 * they stay in order. This context sets krdma_msg.delivering, and continues
 * until the ready list is empty, even if more messages arrive. Normally it is
 * the completion handler. When a message in several parts is next, deliver_work
 * takes over, because it may allocate memory to assemble the parts.
 *
 * A CHUNK is a part whose data must be read from the memory of the peer, see
 * rendezvous.c. krdma_msg.delivering stays set during these READs, but no
 * worker waits for them: when they end, krdma_deliver_go_on_locked() queues
 * deliver_work again.
 *
 * Delivery begins when the owner has been notified of the connection
 * (krdma_msg.open) and ends with krdma_release_cb(). closing() is called after
 * all messages that have arrived were delivered. call_work, which calls
 * closing(), does not wait for the delivery: the end of the delivery queues
 * call_work again.
 */
#include <linux/export.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "cm.h"
#include "msg.h"

/**
 * struct krdma_whole - a message that came in parts
 * @rx_msg: the message as the owner sees it
 * @work: frees the message, because not every context may call vfree()
 * @data: bytes of the message, from kvmalloc()
 */
struct krdma_whole {
	struct krdma_rx_msg rx_msg;
	struct work_struct work;
	void *data;
};

/**
 * krdma_deliver_is_wanted - check whether messages go to a callback
 * @conn: connection
 *
 * Return: true if messages go to the receive callback. In that case tasks
 * cannot wait for messages.
 */
bool krdma_deliver_is_wanted(const struct krdma_conn *conn)
{
	return conn->ops && conn->ops->receive;
}

/**
 * krdma_deliver_begin_locked - begin to deliver, unless another context
 * delivers
 * @conn: connection in message mode
 *
 * Context: any, @conn->lock held.
 * Return: true if there are ready messages, and the caller must call
 * krdma_deliver_all() or queue deliver_work.
 */
bool krdma_deliver_begin_locked(struct krdma_conn *conn)
{
	struct krdma_msg *msg = conn->msg;

	lockdep_assert_held(&conn->lock);
	if (!msg->open || msg->delivering ||
	    krdma_conn_is_released_locked(conn) || list_empty(&msg->ready))
		return false;
	msg->delivering = true;
	return true;
}

/**
 * krdma_deliver_is_busy_locked - check whether a message may still be delivered
 * @conn: connection whose QP is drained, or that is not in message mode
 *
 * Context: any, @conn->lock held.
 * Return: true if a message may still be delivered. krdma_call_settled_locked()
 * is called when that has changed.
 */
bool krdma_deliver_is_busy_locked(const struct krdma_conn *conn)
{
	lockdep_assert_held(&conn->lock);
	return conn->msg && (conn->msg->delivering || conn->msg->pulling);
}

static void krdma_deliver_end_locked(struct krdma_conn *conn)
{
	lockdep_assert_held(&conn->lock);
	conn->msg->delivering = false;
	krdma_call_settled_locked(conn);
}

/*
 * End the delivery after a failure. If a message was lost, no later message may
 * be delivered.
 */
static void krdma_deliver_fail_locked(struct krdma_conn *conn, int error)
{
	lockdep_assert_held(&conn->lock);
	conn->msg->open = false;
	krdma_conn_abort_locked(conn, error);
	krdma_deliver_end_locked(conn);
}

static void krdma_deliver_queue_locked(struct krdma_conn *conn)
{
	lockdep_assert_held(&conn->lock);
	/* deliver_work or krdma_deliver_stop() puts this reference. */
	krdma_conn_get(conn);
	if (!queue_work(krdma_owner_queue(&conn->p), &conn->work.deliver))
		krdma_conn_put(conn);
}

/**
 * krdma_deliver_open_locked - begin delivery, after the owner was notified of
 * the connection
 * @conn: connection
 *
 * Context: any, @conn->lock held.
 */
void krdma_deliver_open_locked(struct krdma_conn *conn)
{
	lockdep_assert_held(&conn->lock);
	/*
	 * Do not use the owner's ops while the owner releases @conn, because
	 * the owner may free them.
	 */
	if (krdma_conn_is_released_locked(conn) || !conn->msg ||
	    !krdma_deliver_is_wanted(conn))
		return;
	conn->msg->open = true;
	if (krdma_deliver_begin_locked(conn))
		krdma_deliver_queue_locked(conn);
}

/*
 * Get the next message of the ready list. A message in one part is taken off
 * the list. A part of a longer message stays on the list, and only deliver_work
 * (@worker) gets it. For other callers this queues deliver_work.
 * Return: the message or part; NULL: the caller must stop delivering.
 */
static struct krdma_recv *krdma_deliver_next(struct krdma_conn *conn,
					     bool worker)
{
	struct krdma_msg *msg = conn->msg;
	struct krdma_recv *recv;
	unsigned long flags;

	spin_lock_irqsave(&conn->lock, flags);
	recv = list_first_entry_or_null(&msg->ready, struct krdma_recv, link);
	if (!recv || krdma_conn_is_released_locked(conn)) {
		recv = NULL;
		krdma_deliver_end_locked(conn);
	} else if (krdma_recv_is_whole(recv)) {
		list_del_init(&recv->link);
		krdma_credit_hold(&conn->sq.credit);
		/*
		 * More credits must be returned at once if the owner holds more
		 * receives, because the peer may be unable to send without
		 * them.
		 */
		krdma_control_credits_locked(conn);
	} else if (!worker) {
		recv = NULL;
		krdma_deliver_queue_locked(conn);
	}
	spin_unlock_irqrestore(&conn->lock, flags);
	return recv;
}

static void krdma_deliver(struct krdma_conn *conn, struct krdma_rx_msg *rx_msg)
{
	rx_msg->conn = conn;
	/* krdma_rx_msg_release() puts this reference. */
	krdma_conn_get(conn);
	conn->ops->receive(&conn->cb, rx_msg);
}

static void krdma_deliver_recv(struct krdma_conn *conn, struct krdma_recv *recv)
{
	if (krdma_recv_is_written(recv))
		recv->rx_msg.data = NULL;
	else
		recv->rx_msg.data = recv->buf + sizeof(struct krdma_wire_hdr);
	recv->rx_msg.len = recv->len;
	recv->rx_msg.written = krdma_recv_is_written(recv);
	recv->rx_msg.imm = recv->rx_msg.written ? recv->hdr.msg_id : 0;
	recv->rx_msg.is_whole = false;
	krdma_deliver(conn, &recv->rx_msg);
}

/**
 * krdma_deliver_all - deliver all ready messages
 * @conn: connection for which krdma_deliver_begin_locked() returned true
 *
 * Context: that of completions.
 */
void krdma_deliver_all(struct krdma_conn *conn)
{
	struct krdma_recv *recv;

	while ((recv = krdma_deliver_next(conn, false)))
		krdma_deliver_recv(conn, recv);
}

static void krdma_whole_free_work(struct work_struct *work)
{
	struct krdma_whole *whole = container_of(work, struct krdma_whole, work);
	struct krdma_conn *conn = whole->rx_msg.conn;

	kvfree(whole->data);
	kfree(whole);
	krdma_conn_put(conn);
}

/*
 * Deliver krdma_msg.whole if the message is complete. The delivered message
 * takes over the buffer.
 */
static int krdma_deliver_complete(struct krdma_conn *conn)
{
	struct krdma_msg *msg = conn->msg;
	struct krdma_whole *whole;

	if (!msg->whole || msg->whole_have < msg->whole_len)
		return 0;
	whole = kzalloc(sizeof(*whole), GFP_KERNEL);
	krdma_noio_check(conn);
	if (!whole)
		return -ENOMEM;
	INIT_WORK(&whole->work, krdma_whole_free_work);
	whole->data = msg->whole;
	whole->rx_msg.data = whole->data;
	whole->rx_msg.len = msg->whole_len;
	whole->rx_msg.is_whole = true;
	msg->whole = NULL;
	krdma_budget_uncharge(conn);
	krdma_deliver(conn, &whole->rx_msg);
	return 0;
}

/**
 * krdma_deliver_go_on_locked - continue to deliver after the READs of a CHUNK
 * @conn: connection for which krdma_pull_deliver_locked() returned 0
 * @error: 0 if the READs have succeeded, or an errno
 *
 * Context: any, @conn->lock held.
 */
void krdma_deliver_go_on_locked(struct krdma_conn *conn, int error)
{
	lockdep_assert_held(&conn->lock);
	if (error)
		krdma_deliver_fail_locked(conn, error);
	else if (!krdma_conn_is_released_locked(conn))
		krdma_deliver_queue_locked(conn);
}

/**
 * krdma_deliver_work - deliver ready messages, and assemble messages from their
 * parts
 * @work: krdma_conn.work.deliver
 */
void krdma_deliver_work(struct work_struct *work)
{
	struct krdma_conn *conn =
		container_of(work, struct krdma_conn, work.deliver);
	struct krdma_noio noio = krdma_noio_enter(&conn->p);
	struct krdma_recv *recv;
	unsigned long flags;
	bool pulling = false;
	int ret;

	/*
	 * The READs of the last CHUNK of a message may have ended since the
	 * last run. In that case the message is complete.
	 */
	ret = krdma_deliver_complete(conn);
	while (!ret && !pulling && (recv = krdma_deliver_next(conn, true))) {
		if (krdma_recv_is_whole(recv)) {
			krdma_deliver_recv(conn, recv);
		} else if (recv->hdr.type == KRDMA_WIRE_CHUNK) {
			/*
			 * Begin the READs of the data.
			 * krdma_deliver_go_on_locked() queues this work again.
			 */
			pulling = true;
			spin_lock_irqsave(&conn->lock, flags);
			ret = krdma_pull_deliver_locked(conn);
			spin_unlock_irqrestore(&conn->lock, flags);
		} else {
			ret = krdma_msg_take_part(conn, recv) ?:
			      krdma_deliver_complete(conn);
		}
	}
	if (ret) {
		spin_lock_irqsave(&conn->lock, flags);
		krdma_deliver_fail_locked(conn, ret);
		spin_unlock_irqrestore(&conn->lock, flags);
	}
	krdma_conn_put(conn);
	krdma_noio_leave(noio);
}

/**
 * krdma_deliver_stop - stop to deliver messages
 * @conn: connection that its owner is releasing
 *
 * Context: process, no locks.
 */
void krdma_deliver_stop(struct krdma_conn *conn)
{
	if (cancel_work_sync(&conn->work.deliver))
		krdma_conn_put(conn);
}

/**
 * krdma_rx_msg_release - release a delivered message
 * @rx_msg: argument of the receive callback; must not be used afterwards
 *
 * If the message came in one part, its memory is posted as a receive again, and
 * the peer gets its credit back. Otherwise the memory is freed. The connection
 * may have ended, and may even have been released.
 *
 * Context: any.
 */
void krdma_rx_msg_release(struct krdma_rx_msg *rx_msg)
{
	struct krdma_conn *conn = rx_msg->conn;
	struct krdma_whole *whole;

	if (rx_msg->is_whole) {
		whole = container_of(rx_msg, struct krdma_whole, rx_msg);
		queue_work(krdma_wq, &whole->work);
		return;
	}
	krdma_msg_repost(conn, container_of(rx_msg, struct krdma_recv, rx_msg),
			 true);
	krdma_conn_put_anywhere(conn);
}
EXPORT_SYMBOL_NS_GPL(krdma_rx_msg_release, KRDMA_NS);
