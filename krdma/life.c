// SPDX-License-Identifier: GPL-2.0
/*
 * Life of a connection or listener: creation, teardown, release.
 *
 * Closing has two halves. krdma_conn_abort() is the first half: from any
 * context it moves the state to CLOSING, which stops new work and ends all
 * waits. krdma_conn_teardown() is the second half: it disconnects, drains and
 * destroys. It needs process context and has an effect only once.
 *
 * close_work runs the teardown, unless the owner of a raw connection has work
 * requests and MRs of its own. In that case close_work only makes the QP flush,
 * and krdma_release_cb() does the teardown. After close_work, call_work
 * notifies the owner, on a queue that no teardown waits for.
 *
 * The following may still use a connection or listener during its teardown. The
 * text after each colon describes why this is safe:
 *  - CM callbacks: rdma_destroy_id() waits for them
 *  - completion handlers: ib_drain_qp() waits for them
 *  - tasks in krdma_conn_wait(): CLOSING wakes them, and each caller holds a
 *    reference
 *  - timer, alive, step_work, deliver_work, pull_work, pull_limit, close_work,
 *    call_work and krdma_tx.work: each holds a reference
 *  - a task that seals a message: krdma_tx_wait() waits for it
 *  - messages that the owner keeps: each holds a reference, and uses only the
 *    memory of the connection
 *  - the function that closes the connections of a removed RDMA device:
 *    krdma_device_detach() takes the connection off the device's list
 *  - the function that notifies listeners of a new RDMA device:
 *    krdma_listen_end() takes the listener off the list of listeners to notify
 *  - a listener with the connection on one of its lists: the listener holds a
 *    reference
 */
#include <linux/export.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <net/net_namespace.h>

#include "auth.h"
#include "cm.h"
#include "quirks.h"

static void krdma_conn_free(struct kref *ref)
{
	struct krdma_conn *conn = container_of(ref, struct krdma_conn, ref);

	WARN_ON_ONCE(conn->cb.cm_id || conn->cb.qp || conn->hw.dev);
	krdma_stats_del_conn(conn);
	if (conn->acc.acceptor)
		krdma_conn_put(conn->acc.acceptor);
	krdma_budget_del_conn(conn);
	if (conn->mode->free)
		conn->mode->free(conn);
	krdma_auth_free(conn->auth);
	xa_destroy(&conn->mr.invalidatable);
	krdma_domain_put(conn->domain);
	put_net(conn->net);
	mutex_destroy(&conn->setup);
	kfree(conn);
	module_put(THIS_MODULE);
}

static void krdma_conn_free_work(struct work_struct *work)
{
	struct krdma_conn *conn =
		container_of(work, struct krdma_conn, work.free);
	struct krdma_noio noio = krdma_noio_enter_work();

	conn->free(&conn->ref);
	krdma_noio_leave(noio);
}

/* Notify all peers of the end. Only the first call has an effect. */
static void krdma_conn_hang_up(struct krdma_conn *conn)
{
	lockdep_assert_held(&conn->setup);
	krdma_cm_drop_requests(conn);
	krdma_cm_reject_unanswered(conn);
	krdma_cm_disconnect(conn);
}

/*
 * Disconnect, drain, and destroy all objects of a connection. Only the first
 * call has an effect.
 */
static void krdma_conn_teardown(struct krdma_conn *conn)
{
	lockdep_assert_held(&conn->setup);
	if (krdma_get_state(&conn->cb) == KRDMA_CLOSED)
		return;
	krdma_conn_hang_up(conn);
	krdma_cm_wait_hung_up(conn);
	krdma_qp_drain(conn);
	if (conn->mode->stop)
		conn->mode->stop(conn);
	krdma_qp_destroy(conn);
	if (conn->cb.cm_id) {
		/*
		 * rdma_addr_cancel() is called first, because it waits until
		 * addr_handler() has returned. rdma_destroy_id() (Linux 6.1 to
		 * 7.3 at least) only takes the mutex that addr_handler() holds,
		 * and then frees this mutex with the cm_id. At that time
		 * mutex_unlock() in addr_handler() may still access the mutex.
		 */
		rdma_addr_cancel(&conn->cb.cm_id->route.addr.dev_addr);
		rdma_destroy_id(conn->cb.cm_id);
		conn->cb.cm_id = NULL;
	}
	krdma_listen_end(conn);
	/*
	 * Stop the timer after rdma_destroy_id() has returned, because a CM
	 * callback may start the timer before.
	 */
	krdma_conn_stop_timer(conn);
	if (conn->mode->ended)
		conn->mode->ended(conn);
	krdma_device_detach(conn);
	krdma_conn_move(conn, KRDMA_CLOSED);
}

/**
 * krdma_conn_call_closing - notify the owner of the end of its connection
 * @conn: connection whose close_work has run and whose messages have been
 *	delivered
 *
 * Context: process, in call_work.
 */
void krdma_conn_call_closing(struct krdma_conn *conn)
{
	struct module *owner;

	/*
	 * Call krdma_conn_may_notify() before using ops, because ops may be
	 * freed after the owner has released @conn.
	 */
	if (!krdma_conn_may_notify(conn) || !conn->ops->closing)
		return;
	owner = krdma_owner_hold(conn->ops->owner);
	conn->ops->closing(&conn->cb, conn->error);
	module_put(owner);
}

/**
 * krdma_conn_close - do the part of closing that needs process context
 * @conn: connection or listener in KRDMA_CLOSING or later
 *
 * Context: process; the caller may hold the setup lock of the connection's
 * listener.
 */
void krdma_conn_close(struct krdma_conn *conn)
{
	krdma_step_cancel(conn);
	mutex_lock(&conn->setup);
	if (conn->hw.raw_live)
		krdma_cm_disconnect(conn);
	else
		krdma_conn_teardown(conn);
	mutex_unlock(&conn->setup);
}

static void krdma_conn_close_work(struct work_struct *work)
{
	struct krdma_conn *conn =
		container_of(work, struct krdma_conn, work.close.work);
	struct krdma_noio noio = krdma_noio_enter_work();
	unsigned long flags;
	long left;

	krdma_conn_log_end(conn);
	krdma_step_cancel(conn);
	/* Notify the peer. */
	mutex_lock(&conn->setup);
	/* The owner of a raw connection drains it, perhaps in closing(). */
	if (conn->hw.raw_live)
		krdma_cm_disconnect(conn);
	else
		krdma_conn_hang_up(conn);
	left = krdma_cm_hang_up_left(conn);
	mutex_unlock(&conn->setup);
	/*
	 * Let this work run again if the peer must close first. A worker that
	 * waited for the peer would hold up the work of other connections.
	 */
	if (left && krdma_conn_close_in(conn, left))
		goto out;
	krdma_conn_close(conn);
	/*
	 * Report the end. If krdma_accept_timeout() accepts the connection,
	 * notify that function at once. call_work notifies the owner.
	 */
	if (READ_ONCE(conn->acc.acceptor))
		krdma_step_failed(conn);
	if (conn->ops) {
		spin_lock_irqsave(&conn->lock, flags);
		conn->life.call_closing = true;
		if (!krdma_conn_is_released_locked(conn))
			krdma_call_queue(conn);
		spin_unlock_irqrestore(&conn->lock, flags);
	}
out:
	krdma_conn_put(conn);
	krdma_noio_leave(noio);
}

static const struct krdma_mode *krdma_message_mode;

/**
 * krdma_life_set_message_mode - set what message mode adds to connections
 * @mode: functions and sizes of message mode; constant
 *
 * A higher layer supplies @mode, so that this layer does not depend on
 * messages.
 *
 * Context: module init, before there is a connection.
 */
void krdma_life_set_message_mode(const struct krdma_mode *mode)
{
	krdma_message_mode = mode;
}

/* In raw mode the owner creates its objects, for example MRs, in qp_ready. */
static int krdma_raw_begin(struct krdma_conn *conn)
{
	int ret = 0;

	lockdep_assert_held(&conn->setup);
	if (conn->ops && conn->ops->qp_ready)
		ret = conn->ops->qp_ready(&conn->cb);
	/*
	 * A connection for krdma_accept_timeout() has no owner yet, see
	 * krdma_cm_hand_out().
	 */
	conn->hw.raw_live = !ret && !conn->acc.acceptor;
	return ret;
}

static const struct krdma_mode krdma_raw_mode = {
	.begin = krdma_raw_begin,
};

static void krdma_conn_init_once(struct krdma_conn *conn, enum krdma_role role)
{
	/*
	 * The setup locks of listeners have a lock class of their own. The
	 * reason is that closing a listener takes the setup locks of its
	 * requests while it holds its own setup lock.
	 */
	static struct lock_class_key listener_setup;

	conn->cb.role = role;
	kref_init(&conn->ref);
	conn->free = krdma_conn_free;
	conn->mode = krdma_conn_is_raw(conn) ? &krdma_raw_mode :
					       krdma_message_mode;
	spin_lock_init(&conn->lock);
	mutex_init(&conn->setup);
	if (role == KRDMA_LISTEN_CONN)
		lockdep_set_class(&conn->setup, &listener_setup);
	init_waitqueue_head(&conn->wait);
	INIT_LIST_HEAD(&conn->sq.posted);
	INIT_LIST_HEAD(&conn->sq.urgent);
	INIT_LIST_HEAD(&conn->sq.pending);
	INIT_LIST_HEAD(&conn->mr.regions);
	xa_init_flags(&conn->mr.invalidatable, XA_FLAGS_LOCK_IRQ);
	INIT_LIST_HEAD(&conn->mr.frwrs);
	INIT_LIST_HEAD(&conn->hw.link);
	INIT_LIST_HEAD(&conn->acc.link);
	INIT_LIST_HEAD(&conn->listen.requests);
	INIT_LIST_HEAD(&conn->listen.accepting);
	INIT_LIST_HEAD(&conn->listen.accepted);
	INIT_LIST_HEAD(&conn->listen.watch.link);
	/*
	 * Each use of INIT_WORK() gives its work a lock class of its own. So
	 * the branches repeat the same line for close_work: lockdep must
	 * distinguish listeners from connections. call_work of a listener may
	 * release a request, which waits for close_work of the request.
	 */
	if (role == KRDMA_LISTEN_CONN) {
		INIT_DELAYED_WORK(&conn->work.timer, krdma_listen_work);
		INIT_DELAYED_WORK(&conn->work.close, krdma_conn_close_work);
		INIT_WORK(&conn->work.call, krdma_offer_work);
	} else {
		INIT_DELAYED_WORK(&conn->work.timer, krdma_conn_timer_work);
		INIT_DELAYED_WORK(&conn->work.close, krdma_conn_close_work);
		INIT_WORK(&conn->work.call, krdma_call_work);
	}
	INIT_DELAYED_WORK(&conn->work.step, krdma_step_work);
	INIT_WORK(&conn->work.free, krdma_conn_free_work);
	if (conn->mode->init)
		conn->mode->init(conn);
	krdma_stats_add_conn(conn);
	krdma_domain_get(conn->domain);
	get_net(conn->net);
	__module_get(THIS_MODULE);
}

/**
 * krdma_conn_alloc - allocate a connection or listener in KRDMA_NEW
 * @role: connection or listener
 * @params: parameters of the user, or NULL for defaults
 *
 * Return: the object with one reference, ERR_PTR(-EINVAL), ERR_PTR(-ENOMEM).
 */
struct krdma_conn *krdma_conn_alloc(enum krdma_role role,
				    const struct krdma_params *params)
{
	struct krdma_conn *conn = kzalloc(sizeof(*conn), GFP_KERNEL);
	struct krdma_params *p;
	int ret;

	if (!conn)
		return ERR_PTR(-ENOMEM);
	p = &conn->p;
	ret = krdma_params_set(p, params);
	if (!ret && ((p->src && !rdma_addr_size((struct sockaddr *)p->src)) ||
		     (role != KRDMA_LISTEN_CONN &&
		      p->flags & KRDMA_LISTEN_FLAGS)))
		ret = -EINVAL;
	if (!ret) {
		conn->budget = krdma_budget_alloc(p);
		ret = conn->budget ? 0 : -ENOMEM;
	}
	if (!ret && p->security && !p->keys && role != KRDMA_LISTEN_CONN)
		ret = -ENOKEY;
	if (!ret && p->security) {
		conn->auth = krdma_auth_alloc(p->keys);
		ret = conn->auth ? 0 : -ENOMEM;
	}
	if (ret) {
		krdma_budget_del_conn(conn);
		kfree(conn);
		return ERR_PTR(ret);
	}
	conn->cb.context = p->context;
	conn->ops = p->ops;
	conn->cb.read_write = krdma_conn_is_rw(conn);
	conn->cm.user_data_len = p->private_data_len;
	memcpy(conn->cm.user_data, p->private_data, p->private_data_len);
	if (p->src)
		memcpy(&conn->cm.src, p->src,
		       rdma_addr_size((struct sockaddr *)p->src));
	/*
	 * The adapter would let a peer use keys of all connections with the same
	 * PD. So a connection that seals its messages shares no PD.
	 */
	if (!krdma_conn_is_sealed(conn))
		conn->domain = p->domain;
	conn->net = p->net ?: krdma_callers_net();
	krdma_params_forget(p);
	krdma_conn_init_once(conn, role);
	return conn;
}

/**
 * krdma_conn_alloc_child - allocate the connection for a connect request
 * @listener: listener that received the request; its parameters are copied
 * @auth: keys of the request; NULL without a level. The connection takes it over
 *
 * Return: the connection in KRDMA_REQUESTED with one reference;
 * ERR_PTR(-ENOMEM); ERR_PTR(-EUSERS): the listener has its maximum number of
 * connections; or ERR_PTR(-EBUSY): too many clients have not proved that they
 * have the key.
 */
struct krdma_conn *krdma_conn_alloc_child(struct krdma_conn *listener,
					  struct krdma_auth *auth)
{
	struct krdma_conn *conn = kzalloc(sizeof(*conn), GFP_KERNEL);
	int ret;

	if (!conn)
		return ERR_PTR(-ENOMEM);
	ret = krdma_budget_add_conn(listener, conn);
	if (!ret && auth)
		ret = krdma_budget_add_unproved(listener, conn);
	if (ret) {
		krdma_budget_del_conn(conn);
		kfree(conn);
		return ERR_PTR(ret);
	}
	conn->auth = auth;
	conn->p = listener->p;
	conn->p.flags &= ~KRDMA_LISTEN_FLAGS;
	conn->cb.context = listener->cb.context;
	conn->cb.read_write = listener->cb.read_write;
	conn->ops = listener->ops;
	conn->domain = listener->domain;
	conn->net = listener->net;
	conn->cb.state = KRDMA_REQUESTED;
	krdma_conn_init_once(conn, KRDMA_ACCEPT_CONN);
	return conn;
}

/**
 * krdma_create - create a connection object without connecting it
 * @params: parameters, or NULL for defaults
 *
 * Because the object exists before krdma_connect_cb(), another task can call
 * krdma_disconnect() while krdma_connect_cb() waits.
 *
 * Return: an object in KRDMA_NEW that krdma_release_cb() releases,
 * ERR_PTR(-EINVAL) for invalid parameters, ERR_PTR(-ENOMEM).
 */
struct krdma_cb *krdma_create(const struct krdma_params *params)
{
	const struct krdma_params none = {};
	struct krdma_noio noio = krdma_noio_enter(params ?: &none);
	struct krdma_conn *conn = krdma_conn_alloc(KRDMA_CLIENT_CONN, params);

	krdma_noio_leave(noio);
	return IS_ERR(conn) ? ERR_CAST(conn) : &conn->cb;
}
EXPORT_SYMBOL_NS_GPL(krdma_create, KRDMA_NS);

/*
 * Begin to release a connection. When this returns, no closing callback starts
 * any more, and one that ran in another task has returned. krdma_life.owner and
 * the state change under the same lock. So if a step of an asynchronous
 * connection sees that the owner releases the connection, it also sees CLOSING.
 */
static void krdma_conn_stop(struct krdma_conn *conn)
{
	unsigned long flags;
	bool cancelled;

	spin_lock_irqsave(&conn->lock, flags);
	if (!krdma_conn_set_owner_locked(conn, KRDMA_OWNER_RELEASES))
		krdma_conn_set_owner_locked(conn, KRDMA_OWNER_DROPS);
	krdma_conn_abort_locked(conn, -ESHUTDOWN);
	spin_unlock_irqrestore(&conn->lock, flags);
	/*
	 * Cancel the works, and wait for those that run. It is safe to wait for
	 * close_work and step_work, because neither waits for a callback of the
	 * owner.
	 */
	if (cancel_delayed_work_sync(&conn->work.close))
		krdma_conn_put(conn);
	krdma_step_cancel(conn);
	/*
	 * If the owner releases the connection in a callback, the caller is
	 * call_work itself. It cannot wait for its own end.
	 */
	if (current_work() == &conn->work.call)
		cancelled = cancel_work(&conn->work.call);
	else
		cancelled = cancel_work_sync(&conn->work.call);
	if (cancelled)
		krdma_conn_put(conn);
	krdma_conn_log_end(conn);
	if (conn->mode->released)
		conn->mode->released(conn);
}

/**
 * krdma_drain - wait until all work requests of a raw connection have completed
 * @cb: raw-mode connection; the caller posts no more work requests
 *
 * Disconnects first if that has not happened yet. When this returns, every work
 * request has completed, most of them with IB_WC_WR_FLUSH_ERR, and no
 * completion handler runs. The owner may then free buffers and MRs, and calls
 * krdma_release_cb().
 *
 * In message mode krdma_release_cb() drains.
 *
 * Context: process, may sleep; also in the closing callback.
 * Return: 0; -EINVAL, without any effect, if @cb is a listener or not in raw
 * mode.
 */
int krdma_drain(struct krdma_cb *cb)
{
	struct krdma_conn *conn = krdma_conn(cb);
	struct krdma_noio noio;

	might_sleep();
	if (!krdma_conn_is_raw(conn) || cb->role == KRDMA_LISTEN_CONN)
		return -EINVAL;
	noio = krdma_noio_enter(&conn->p);
	krdma_conn_stop(conn);
	mutex_lock(&conn->setup);
	krdma_cm_disconnect(conn);
	krdma_cm_wait_hung_up(conn);
	krdma_qp_drain(conn);
	mutex_unlock(&conn->setup);
	krdma_noio_leave(noio);
	return 0;
}
EXPORT_SYMBOL_NS_GPL(krdma_drain, KRDMA_NS);

/**
 * krdma_release_cb - close a connection or listener, and put the creator's
 * reference
 * @cb: connection or listener, in any state; NULL is allowed
 *
 * When this returns, no callback runs, and the QP and the cm_id are freed. The
 * PD is freed unless its domain still uses it. The CQ may be freed later, after
 * an RCU grace period. The memory of @cb stays until the last krdma_put().
 * Tasks that wait on @cb get -ESHUTDOWN. The owner of a raw connection must
 * have freed its MRs, see krdma_drain().
 *
 * Context: process, may sleep. These callbacks may release @cb: its closing
 * callback, its connected callback, and for a request the request callback of
 * the listener. Other callbacks must not. A callback of one connection must not
 * release another connection whose callback waits for the first callback.
 * Return: 0, or -EINVAL for NULL.
 */
int krdma_release_cb(struct krdma_cb *cb)
{
	struct krdma_conn *conn;
	struct krdma_noio noio;

	might_sleep();
	if (!cb)
		return -EINVAL;
	conn = krdma_conn(cb);
	noio = krdma_noio_enter(&conn->p);
	krdma_conn_stop(conn);
	mutex_lock(&conn->setup);
	conn->hw.raw_live = false;
	krdma_conn_teardown(conn);
	mutex_unlock(&conn->setup);
	krdma_conn_put(conn);
	krdma_noio_leave(noio);
	return 0;
}
EXPORT_SYMBOL_NS_GPL(krdma_release_cb, KRDMA_NS);
