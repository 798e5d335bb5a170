// SPDX-License-Identifier: GPL-2.0
/*
 * Connecting and accepting with callbacks, without a waiting task.
 *
 * step_work makes one step each time it runs. A step is what the calling task
 * does between two waits in krdma_connect_cb() or krdma_accept_request().
 * step_work is queued when the CM has changed the state, and when the peer's
 * START has arrived. After the last step, or if the connection ends before,
 * call_work calls the owner's connected(), once.
 *
 * For a listener, call_work passes new requests to the owner.
 *
 * krdma_accept_timeout() uses the same steps. In that case the listener is
 * notified instead of the owner, and krdma_accept_timeout() returns the
 * connection.
 *
 * connected() and closing() of one connection never run at the same time,
 * because only call_work calls them. call_work runs on a queue for callbacks of
 * owners. The steps of a client may wait for TCP on siw. So they have a queue
 * of their own, krdma_connect_wq, where only other connect steps wait behind
 * them.
 */
#include <linux/export.h>
#include <linux/module.h>

#include "cm.h"
#include "quirks.h"

/**
 * krdma_call_queue - queue a notification of the owner
 * @conn: connection or listener with ops
 *
 * Context: any.
 */
void krdma_call_queue(struct krdma_conn *conn)
{
	/* call_work or krdma_conn_stop() puts this reference. */
	krdma_conn_get(conn);
	if (!queue_work(krdma_owner_queue(&conn->p), &conn->work.call))
		krdma_conn_put_anywhere(conn);
}

/**
 * krdma_call_settled_locked - queue the closing() callback after the last
 * message
 * @conn: connection in message mode
 *
 * Called when no message is being delivered or read any more. closing() must be
 * called after the last message is delivered. If call_work has run too early,
 * because a message was pending, this queues call_work again.
 *
 * Context: any, @conn->lock held.
 */
void krdma_call_settled_locked(struct krdma_conn *conn)
{
	lockdep_assert_held(&conn->lock);
	if (conn->life.call_closing && !krdma_conn_is_released_locked(conn))
		krdma_call_queue(conn);
}

/**
 * krdma_step_queue_in - queue the next step after a time
 * @conn: connection
 * @ms: time in ms
 *
 * Context: any.
 */
void krdma_step_queue_in(struct krdma_conn *conn, u32 ms)
{
	struct workqueue_struct *wq = krdma_wq;

	if (conn->cb.role == KRDMA_CLIENT_CONN)
		wq = krdma_connect_wq;
	/* step_work or krdma_step_cancel() puts this reference. */
	krdma_conn_get(conn);
	if (!queue_delayed_work(wq, &conn->work.step, msecs_to_jiffies(ms)))
		krdma_conn_put_anywhere(conn);
}

/**
 * krdma_step_queue - queue the next step of connecting after an event
 * @conn: connection or listener; no effect if it is not asynchronous
 *
 * Context: any.
 */
void krdma_step_queue(struct krdma_conn *conn)
{
	if (!READ_ONCE(conn->life.async))
		return;
	if (conn->cb.role == KRDMA_LISTEN_CONN)
		krdma_call_queue(conn);
	else
		krdma_step_queue_in(conn, 0);
}

/**
 * krdma_step_cancel - cancel further steps of connecting
 * @conn: connection or listener
 *
 * Waits for a running step.
 *
 * Context: process.
 */
void krdma_step_cancel(struct krdma_conn *conn)
{
	if (cancel_delayed_work_sync(&conn->work.step))
		krdma_conn_put(conn);
}

/*
 * Check whether the result of connecting must be reported. Return: true only
 * once: for the last step, or for the end of the connection if that comes
 * first.
 */
static bool krdma_step_may_tell(struct krdma_conn *conn, enum krdma_report how)
{
	unsigned long flags;
	bool may;

	spin_lock_irqsave(&conn->lock, flags);
	may = conn->life.async && !conn->life.report &&
	      !krdma_conn_is_released_locked(conn);
	if (may)
		WRITE_ONCE(conn->life.report, how);
	spin_unlock_irqrestore(&conn->lock, flags);
	return may;
}

static void krdma_step_tell(struct krdma_conn *conn, int error)
{
	struct module *owner;

	if (conn->acc.acceptor) {
		krdma_cm_accepted(conn, error);
		return;
	}
	owner = krdma_owner_hold(conn->ops->owner);
	krdma_cm_count(conn, error);
	conn->ops->connected(&conn->cb, error);
	module_put(owner);
}

/**
 * krdma_step_failed - notify the owner that connecting has failed
 * @conn: connection in KRDMA_CLOSING or later
 *
 * No effect if the connection is not asynchronous or the owner was notified
 * before.
 *
 * Context: process, no locks; no step runs.
 */
void krdma_step_failed(struct krdma_conn *conn)
{
	int error = krdma_last_error(&conn->cb);

	if (krdma_step_may_tell(conn, KRDMA_REPORT_DONE))
		krdma_step_tell(conn, error);
}

static void krdma_step_finish(struct krdma_conn *conn)
{
	bool accepts = conn->acc.acceptor;
	enum krdma_report how;
	unsigned long flags;

	how = accepts ? KRDMA_REPORT_DONE : KRDMA_REPORT_DUE;
	if (!krdma_step_may_tell(conn, how))
		return;
	krdma_conn_in_time(conn);
	if (conn->mode->established)
		conn->mode->established(conn);
	if (accepts) {
		krdma_cm_accepted(conn, 0);
		return;
	}
	spin_lock_irqsave(&conn->lock, flags);
	if (!krdma_conn_is_released_locked(conn))
		krdma_call_queue(conn);
	spin_unlock_irqrestore(&conn->lock, flags);
}

/**
 * krdma_call_work - notify the owner that a connection is established, or has
 * ended
 * @work: krdma_conn.work.call of a connection
 */
void krdma_call_work(struct work_struct *work)
{
	struct krdma_conn *conn =
		container_of(work, struct krdma_conn, work.call);
	struct krdma_noio noio = krdma_noio_enter(&conn->p);
	unsigned long flags;
	bool due;

	/* Call connected() with 0 at most once. */
	spin_lock_irqsave(&conn->lock, flags);
	due = conn->life.report == KRDMA_REPORT_DUE &&
	      !krdma_conn_is_released_locked(conn);
	if (due)
		WRITE_ONCE(conn->life.report, KRDMA_REPORT_DONE);
	spin_unlock_irqrestore(&conn->lock, flags);
	if (due) {
		krdma_step_tell(conn, 0);
		/* From here on closing() notifies the owner of the end. */
		krdma_conn_hand_over(conn);
	}
	/* Call closing() at most once, after the last message. */
	spin_lock_irqsave(&conn->lock, flags);
	due = conn->life.call_closing && !krdma_conn_is_released_locked(conn) &&
	      !(conn->mode->is_busy_locked && conn->mode->is_busy_locked(conn));
	if (due)
		conn->life.call_closing = false;
	spin_unlock_irqrestore(&conn->lock, flags);
	if (due) {
		krdma_step_failed(conn);
		krdma_conn_call_closing(conn);
	}
	krdma_conn_put(conn);
	krdma_noio_leave(noio);
}

/**
 * krdma_offer_work - pass new requests to the owner of a listener
 * @work: krdma_conn.work.call of a listener
 *
 * The owner gets the reference that the list of requests holds to each request.
 * Connections have another work function, krdma_call_work(), so that lockdep
 * distinguishes listeners from connections. In the request callback the owner
 * may release the request, which waits for call_work of the request. With a
 * single work function, lockdep would report that call_work waits for itself.
 */
void krdma_offer_work(struct work_struct *work)
{
	struct krdma_conn *listener =
		container_of(work, struct krdma_conn, work.call);
	struct krdma_noio noio = krdma_noio_enter(&listener->p);
	struct krdma_conn *conn;

	struct module *owner = krdma_owner_hold(listener->ops->owner);

	while (krdma_get_state(&listener->cb) == KRDMA_LISTENING &&
	       (conn = krdma_cm_next_request(listener)))
		listener->ops->request(&listener->cb, &conn->cb);
	module_put(owner);
	krdma_conn_put(listener);
	krdma_noio_leave(noio);
}

/**
 * krdma_step_work - make the next step of connecting
 * @work: krdma_conn.work.step of a connection
 */
void krdma_step_work(struct work_struct *work)
{
	struct krdma_conn *conn =
		container_of(work, struct krdma_conn, work.step.work);
	struct krdma_noio noio = krdma_noio_enter_work();
	enum krdma_state state = krdma_get_state(&conn->cb);
	unsigned long until;
	int ret = 0;

	if (state == KRDMA_ROUTED) {
		ret = krdma_cm_dial(conn);
	} else if (state == KRDMA_ESTABLISHED &&
		   !READ_ONCE(conn->life.report) &&
		   READ_ONCE(conn->life.reach) != KRDMA_REACH_OPEN) {
		/*
		 * Exchange the first messages. This must happen only once,
		 * because it uses up the receive buffer of the peer's START.
		 * However, this work may run again after the exchange, because
		 * the peer's START or krdma_msg_step() has queued it.
		 *
		 * The exchange waits only for the local adapter, and only until
		 * the connection ends. The connect timer ends a connection that
		 * is not established in time.
		 */
		until = krdma_deadline(conn->p.connect_timeout_ms);
		ret = conn->mode->step ? conn->mode->step(conn, until) : 1;
		if (ret > 0)
			krdma_step_finish(conn);
		ret = min(ret, 0);
	}
	if (ret)
		krdma_conn_abort(conn, ret);
	krdma_conn_put(conn);
	krdma_noio_leave(noio);
}

/*
 * Handle the result of the first step. If the step failed, either the returned
 * errno or connected() reports the failure, but not both. So return 0 if
 * connected() was called or will be called.
 */
static int krdma_step_begun(struct krdma_conn *conn, int ret)
{
	unsigned long flags;
	bool told;

	if (!ret)
		return 0;
	spin_lock_irqsave(&conn->lock, flags);
	told = conn->life.report;
	if (!told)
		WRITE_ONCE(conn->life.report, KRDMA_REPORT_DONE);
	spin_unlock_irqrestore(&conn->lock, flags);
	krdma_conn_abort(conn, ret);
	if (told)
		return 0;
	ret = krdma_last_error(&conn->cb);
	krdma_cm_count(conn, ret);
	return ret;
}

/**
 * krdma_step_accept - begin to accept for krdma_accept_timeout()
 * @conn: request with an acceptor; the caller holds a reference
 *
 * Context: process.
 * Return: 0: krdma_cm_accepted() will be called, once; or the errno of the
 * first step.
 */
int krdma_step_accept(struct krdma_conn *conn)
{
	WRITE_ONCE(conn->life.async, true);
	return krdma_step_begun(conn, krdma_cm_answer(conn));
}

/**
 * krdma_connect_async - connect without waiting
 * @cb: connection from krdma_create(), in KRDMA_NEW; its ops have a connected
 *	callback
 * @dst: IPv4 or IPv6 address and port of a listener
 *
 * If this returns 0, connected() is called once, with 0 or an errno, within
 * &krdma_params.connect_timeout_ms. Exception: on siw, connected() is called
 * only after the TCP connect has ended, as for krdma_connect_cb(). connected()
 * is not called if @cb is released before.
 *
 * Return: 0; -EINVAL; -EISCONN; or an errno of krdma_connect_cb() that is known
 * at once. On error connected() is not called, and the caller releases @cb.
 */
int krdma_connect_async(struct krdma_cb *cb, const struct sockaddr *dst)
{
	struct krdma_conn *conn = krdma_conn(cb);
	struct krdma_noio noio;
	int ret;

	if (cb->role != KRDMA_CLIENT_CONN || !conn->ops ||
	    !conn->ops->connected || !krdma_cm_family_ok(dst))
		return -EINVAL;
	/*
	 * Once async is set, the owner may release @cb in connected(), so take
	 * a reference.
	 */
	krdma_conn_get(conn);
	noio = krdma_noio_enter(&conn->p);
	if (krdma_conn_move(conn, KRDMA_RESOLVING_ADDR)) {
		WRITE_ONCE(conn->life.async, true);
		ret = krdma_step_begun(conn, krdma_cm_start(conn, dst));
	} else {
		ret = krdma_last_error(cb) ?: -EISCONN;
	}
	krdma_noio_leave(noio);
	krdma_conn_put(conn);
	return ret;
}
EXPORT_SYMBOL_NS_GPL(krdma_connect_async, KRDMA_NS);

/**
 * krdma_accept_async - accept without waiting
 * @cb: request from a request callback or krdma_wait_request(); its ops have a
 *	connected callback
 * @private_data: data for the peer, in the REP; NULL if none
 * @private_data_len: number of bytes, as for krdma_accept_request()
 *
 * If this returns 0, connected() is called once, possibly before this returns.
 *
 * Return: 0; -EINVAL; -EISCONN; or an errno of krdma_accept_request() that is
 * known at once. On error connected() is not called, and the caller releases
 * @cb.
 */
int krdma_accept_async(struct krdma_cb *cb, const void *private_data,
		       u8 private_data_len)
{
	struct krdma_conn *conn = krdma_conn(cb);
	struct krdma_noio noio;
	int ret;

	if (!conn->ops || !conn->ops->connected)
		return -EINVAL;
	ret = krdma_cm_set_answer(conn, private_data, private_data_len);
	if (ret)
		return ret;
	if (krdma_get_state(cb) != KRDMA_REQUESTED)
		return krdma_last_error(cb) ?: -EISCONN;
	/*
	 * Once async is set, the owner may release @cb in connected(), so take
	 * a reference.
	 */
	krdma_conn_get(conn);
	WRITE_ONCE(conn->life.async, true);
	noio = krdma_noio_enter(&conn->p);
	ret = krdma_step_begun(conn, krdma_cm_answer(conn));
	krdma_noio_leave(noio);
	krdma_conn_put(conn);
	return ret;
}
EXPORT_SYMBOL_NS_GPL(krdma_accept_async, KRDMA_NS);
