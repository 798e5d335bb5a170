// SPDX-License-Identifier: GPL-2.0
/*
 * Life of a connection or listener: creation, state changes, closing, release.
 *
 * Closing has two halves. krdma_conn_abort() is the first half: from any
 * context it moves the state to CLOSING, which stops new work and ends all
 * waits. krdma_conn_teardown() is the second half: it needs process context and
 * runs exactly once, to disconnect, drain and destroy. close_work runs the
 * teardown, unless the owner of a raw connection has work requests and MRs of
 * its own. In that case close_work only makes the QP flush, and
 * krdma_release_cb() does the teardown. After close_work, call_work notifies
 * the owner, on a queue that no teardown waits for.
 *
 * The following can still reach a connection during its teardown:
 *  - CM callbacks: rdma_destroy_id() waits for them
 *  - completion handlers: ib_drain_qp() waits for them
 *  - tasks in krdma_conn_wait(): CLOSING wakes them, and each caller holds a
 *    reference
 *  - timer, alive, step_work, deliver_work, pull_work, pull_limit, close_work
 *    and call_work: each holds a reference
 *  - messages that the owner keeps: each holds a reference, and uses only its
 *    memory
 *  - removal of the device: no longer after krdma_device_detach()
 *  - notification of a listener of new devices: no longer after
 *    krdma_listen_end()
 *  - a listener with the connection on one of its lists: holds a reference
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/export.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <net/net_namespace.h>

#include "priv.h"
#include "quirks.h"
#include "state.h"
#include "trace.h"

/**
 * krdma_conn_get - take a reference
 * @conn: connection that the caller can reach
 *
 * Context: any.
 */
void krdma_conn_get(struct krdma_conn *conn)
{
	kref_get(&conn->ref);
}

static void krdma_conn_free(struct kref *ref)
{
	struct krdma_conn *conn = container_of(ref, struct krdma_conn, ref);

	WARN_ON_ONCE(conn->cb.cm_id || conn->cb.qp || conn->hw.dev);
	krdma_stats_del_conn(conn);
	if (conn->acc.acceptor)
		krdma_conn_put(conn->acc.acceptor);
	krdma_budget_del_conn(conn);
	krdma_msg_free(conn);
	krdma_regions_free(conn);
	xa_destroy(&conn->mr.invalidatable);
	kfree(conn->sq.batch);
	krdma_quirk_reads_free(conn);
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

	krdma_conn_free(&conn->ref);
	krdma_noio_leave(noio);
}

static void krdma_conn_free_later(struct kref *ref)
{
	struct krdma_conn *conn = container_of(ref, struct krdma_conn, ref);

	queue_work(krdma_wq, &conn->work.free);
}

/**
 * krdma_conn_put_anywhere - drop a reference
 * @conn: connection
 *
 * Context: any.
 */
void krdma_conn_put_anywhere(struct krdma_conn *conn)
{
	kref_put(&conn->ref, krdma_conn_free_later);
}

/**
 * krdma_conn_put - drop a reference
 * @conn: connection
 *
 * Context: process. A completion never drops the last reference, because a
 * connection is drained before its creator's reference is put.
 */
void krdma_conn_put(struct krdma_conn *conn)
{
	kref_put(&conn->ref, krdma_conn_free);
}

/*
 * Change the state. No other function writes the state. @error: reason if @to
 * is CLOSING, otherwise 0.
 */
static bool krdma_conn_change_locked(struct krdma_conn *conn,
				     enum krdma_state to, int error)
{
	lockdep_assert_held(&conn->lock);
	if (!krdma_state_may_move(conn->cb.role, conn->cb.state, to))
		return false;
	trace_krdma_state(conn->stats.id, conn->cb.role, conn->cb.state, to,
			  error);
	if (error)
		WRITE_ONCE(conn->error, error);
	if (to == KRDMA_ESTABLISHED)
		WRITE_ONCE(conn->life.reach, KRDMA_REACH_ESTABLISHED);
	WRITE_ONCE(conn->cb.state, to);
	wake_up_all(&conn->wait);
	return true;
}

/**
 * krdma_conn_move_locked - change the state
 * @conn: connection or listener
 * @to: wanted state, not KRDMA_CLOSING
 *
 * Context: any, @conn->lock held.
 * Return: true if the change was allowed and made.
 */
bool krdma_conn_move_locked(struct krdma_conn *conn, enum krdma_state to)
{
	return krdma_conn_change_locked(conn, to, 0);
}

/**
 * krdma_conn_move - change the state
 * @conn: connection or listener
 * @to: wanted state
 *
 * Context: any.
 * Return: true if the change was allowed and made.
 */
bool krdma_conn_move(struct krdma_conn *conn, enum krdma_state to)
{
	unsigned long flags;
	bool moved;

	spin_lock_irqsave(&conn->lock, flags);
	moved = krdma_conn_move_locked(conn, to);
	spin_unlock_irqrestore(&conn->lock, flags);
	return moved;
}

/*
 * Change krdma_life.owner. No other function writes it. Return: true if the
 * change was allowed and made.
 */
static bool krdma_conn_set_owner_locked(struct krdma_conn *conn,
					enum krdma_owner to)
{
	lockdep_assert_held(&conn->lock);
	if (!krdma_owner_may_move(conn->life.owner, to))
		return false;
	WRITE_ONCE(conn->life.owner, to);
	return true;
}

static void krdma_conn_queue_close(struct krdma_conn *conn)
{
	/* close_work or krdma_conn_stop() puts this reference. */
	krdma_conn_get(conn);
	if (!queue_work(krdma_wq, &conn->work.close))
		krdma_conn_put(conn);
}

/*
 * Queue close_work if the connection has ended. Do not queue it if the owner is
 * releasing the connection, or if a connect step is running (in_step). The work
 * would only block on krdma_conn.setup, for minutes if siw waits for a TCP
 * connect. The end of the step calls this function again.
 */
static void krdma_conn_need_close_locked(struct krdma_conn *conn)
{
	lockdep_assert_held(&conn->lock);
	if (conn->cb.state >= KRDMA_CLOSING && !conn->life.in_step &&
	    !krdma_conn_is_released_locked(conn))
		krdma_conn_queue_close(conn);
}

/*
 * Count the end of a connection that its owner has received. A connection that
 * its owner has not received counts as failed to connect.
 */
static void krdma_conn_count_end_locked(struct krdma_conn *conn)
{
	lockdep_assert_held(&conn->lock);
	if (conn->error && conn->life.owner != KRDMA_OWNER_WAITS &&
	    conn->life.owner != KRDMA_OWNER_DROPS)
		krdma_count_locked(conn, KRDMA_COUNT_ENDED +
				   krdma_stats_why(conn->error), 1);
}

/**
 * krdma_conn_abort_locked - begin to close a connection, with the lock held
 * @conn: connection or listener
 * @error: reason
 *
 * Context: any, @conn->lock held.
 */
void krdma_conn_abort_locked(struct krdma_conn *conn, int error)
{
	/*
	 * After this side has sent BYE, -ECONNRESET means that the peer has
	 * closed in answer to BYE.
	 */
	bool left = conn->life.bye == KRDMA_BYE_SAID && error == -ECONNRESET;

	lockdep_assert_held(&conn->lock);
	if (!krdma_conn_change_locked(conn, KRDMA_CLOSING,
				      left ? -ESHUTDOWN : error))
		return;
	if (left)
		WRITE_ONCE(conn->life.bye, KRDMA_BYE_ANSWERED);
	krdma_conn_count_end_locked(conn);
	krdma_conn_need_close_locked(conn);
}

/**
 * krdma_conn_begin_step - begin a step that creates objects which teardown
 * destroys
 * @conn: connection
 *
 * Context: process; takes @conn->setup until krdma_conn_end_step().
 */
void krdma_conn_begin_step(struct krdma_conn *conn)
{
	unsigned long flags;

	mutex_lock(&conn->setup);
	spin_lock_irqsave(&conn->lock, flags);
	conn->life.in_step = true;
	spin_unlock_irqrestore(&conn->lock, flags);
}

/**
 * krdma_conn_end_step - undo krdma_conn_begin_step()
 * @conn: connection
 */
void krdma_conn_end_step(struct krdma_conn *conn)
{
	unsigned long flags;

	spin_lock_irqsave(&conn->lock, flags);
	conn->life.in_step = false;
	krdma_conn_need_close_locked(conn);
	spin_unlock_irqrestore(&conn->lock, flags);
	mutex_unlock(&conn->setup);
}

/**
 * krdma_conn_hand_over - mark connect or accept as successful
 * @conn: connection
 *
 * Before this call, the failure of connect or accept notifies the owner of the
 * end. After this call, the closing callback notifies the owner. An owner must
 * never be notified by both, because it would release the connection twice.
 *
 * Context: any.
 */
void krdma_conn_hand_over(struct krdma_conn *conn)
{
	unsigned long flags;

	spin_lock_irqsave(&conn->lock, flags);
	krdma_conn_set_owner_locked(conn, KRDMA_OWNER_HAS);
	/* If the peer has ended the connection already, count the end now. */
	krdma_conn_count_end_locked(conn);
	krdma_deliver_open_locked(conn);
	krdma_conn_need_close_locked(conn);
	spin_unlock_irqrestore(&conn->lock, flags);
}

/*
 * Check whether the closing callback must be called. Return: true once, unless
 * the owner has begun to release the connection.
 */
static bool krdma_conn_may_notify(struct krdma_conn *conn)
{
	unsigned long flags;
	bool may;

	spin_lock_irqsave(&conn->lock, flags);
	may = krdma_conn_set_owner_locked(conn, KRDMA_OWNER_NOTIFIED);
	spin_unlock_irqrestore(&conn->lock, flags);
	return may;
}

/**
 * krdma_conn_abort - begin to close a connection or listener
 * @conn: connection or listener, in any state
 * @error: reason: errno for present and later waits. Only the first reason
 *	counts
 *
 * Context: any; the caller holds a reference, or a lock under which @conn is
 * not freed.
 */
void krdma_conn_abort(struct krdma_conn *conn, int error)
{
	unsigned long flags;

	spin_lock_irqsave(&conn->lock, flags);
	krdma_conn_abort_locked(conn, error);
	spin_unlock_irqrestore(&conn->lock, flags);
}

static void krdma_conn_unexplained_locked(struct krdma_conn *conn)
{
	lockdep_assert_held(&conn->lock);
	if (conn->cb.state >= KRDMA_CLOSING)
		return;
	pr_info_ratelimited(
		"%pISpc: the queue pair failed, for no known reason\n",
		&conn->cm.peer);
	krdma_conn_abort_locked(conn, krdma_qp_fatal_errno(conn));
}

static void krdma_conn_timer_work(struct work_struct *work)
{
	struct krdma_conn *conn =
		container_of(work, struct krdma_conn, work.timer.work);
	unsigned long flags;

	spin_lock_irqsave(&conn->lock, flags);
	if (conn->life.flushed)
		krdma_conn_unexplained_locked(conn);
	else if (conn->cb.state < KRDMA_ESTABLISHED ||
		 (conn->life.async && !conn->life.report))
		krdma_conn_abort_locked(conn, -ETIMEDOUT);
	spin_unlock_irqrestore(&conn->lock, flags);
	krdma_conn_put(conn);
}

/**
 * krdma_conn_flushed - start a timer for the reason of a flushed work request
 * @conn: connection
 *
 * A CM event or a QP event reports the reason, possibly after the flush: siw
 * flushes before the CM event has passed its workqueue. rxe of 6.1 has no event
 * for an access that it refuses (7.3 has one): the QP just moves to ERROR.
 * Without this timer an owner that only receives would then wait until the
 * keep-alive fails. The timer is also started in KRDMA_CONNECTING, because a
 * message of the peer may arrive before the CM event that reports the
 * connection.
 *
 * Context: any.
 */
void krdma_conn_flushed(struct krdma_conn *conn)
{
	unsigned long flags;

	spin_lock_irqsave(&conn->lock, flags);
	if ((conn->cb.state == KRDMA_CONNECTING ||
	     conn->cb.state == KRDMA_ESTABLISHED) &&
	    !conn->life.flushed) {
		conn->life.flushed = true;
		/* timer_work or krdma_conn_stop_timer() puts this reference. */
		krdma_conn_get(conn);
		if (mod_delayed_work(krdma_wq, &conn->work.timer,
				     msecs_to_jiffies(KRDMA_QP_REASON_MS)))
			krdma_conn_put_anywhere(conn);
	}
	spin_unlock_irqrestore(&conn->lock, flags);
}

/**
 * krdma_conn_start_timer - limit the time until the connection is established
 * @conn: connection
 * @ms: time limit in ms
 *
 * Context: any.
 */
void krdma_conn_start_timer(struct krdma_conn *conn, u32 ms)
{
	/* timer_work or krdma_conn_stop_timer() puts this reference. */
	krdma_conn_get(conn);
	if (!queue_delayed_work(krdma_wq, &conn->work.timer,
				msecs_to_jiffies(ms)))
		krdma_conn_put(conn);
}

/**
 * krdma_conn_in_time - cancel the time limit of connecting
 * @conn: established connection
 *
 * If a work request was flushed, the timer is kept, because it ends the
 * connection.
 *
 * Context: any. The timer may still run when this returns, without effect on an
 * established connection.
 */
void krdma_conn_in_time(struct krdma_conn *conn)
{
	unsigned long flags;
	bool cancelled;

	spin_lock_irqsave(&conn->lock, flags);
	cancelled = !conn->life.flushed &&
		    cancel_delayed_work(&conn->work.timer);
	spin_unlock_irqrestore(&conn->lock, flags);
	if (cancelled)
		krdma_conn_put_anywhere(conn);
}

/**
 * krdma_conn_stop_timer - cancel the timer of a closing connection
 * @conn: connection that is closing or gets another time limit
 *
 * Context: process. The timer may still run when this returns, without effect
 * on a closing connection.
 */
void krdma_conn_stop_timer(struct krdma_conn *conn)
{
	if (cancel_delayed_work(&conn->work.timer))
		krdma_conn_put(conn);
}

/*
 * Destroy the cm_id. rdma_destroy_id() of 6.1 to 7.3 at least does not wait
 * until addr_handler() has released the mutex of the cm_id:
 * cma_cancel_operation() only takes the mutex. mutex_unlock() in addr_handler()
 * may access the mutex after another task has taken it, and that task may have
 * freed the cm_id. Therefore call rdma_addr_cancel() first, which waits for
 * addr_handler().
 */
static void krdma_conn_destroy_id(struct krdma_conn *conn)
{
	lockdep_assert_held(&conn->setup);
	if (!conn->cb.cm_id)
		return;
	rdma_addr_cancel(&conn->cb.cm_id->route.addr.dev_addr);
	rdma_destroy_id(conn->cb.cm_id);
	conn->cb.cm_id = NULL;
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
	krdma_cm_drop_requests(conn);
	krdma_cm_reject_unanswered(conn);
	krdma_cm_disconnect(conn);
	krdma_qp_drain(conn);
	krdma_msg_stop(conn);
	krdma_regions_unregister(conn);
	krdma_qp_destroy(conn);
	krdma_conn_destroy_id(conn);
	krdma_listen_end(conn);
	/*
	 * Stop the timer only after rdma_destroy_id(), because until then a CM
	 * callback may start it.
	 */
	krdma_conn_stop_timer(conn);
	krdma_alive_stop(conn);
	krdma_device_detach(conn);
	krdma_conn_move(conn, KRDMA_CLOSED);
}

/**
 * krdma_owner_hold - keep the module of an owner while a callback runs
 * @owner: module in the owner's ops, or NULL
 *
 * After a callback has released its connection, it still runs code of the
 * owner's module until it returns.
 *
 * Context: any.
 * Return: argument for module_put(): @owner, or NULL if the removal of the
 * module has begun. In that case the exit function of the module waits for the
 * callback.
 */
struct module *krdma_owner_hold(struct module *owner)
{
	return owner && try_module_get(owner) ? owner : NULL;
}

/*
 * Report the end of a connection: at once to krdma_accept_timeout() if that
 * accepts the connection, and by call_work to the owner.
 */
static void krdma_conn_tell_end(struct krdma_conn *conn)
{
	unsigned long flags;

	if (READ_ONCE(conn->acc.acceptor))
		krdma_step_failed(conn);
	if (!conn->ops)
		return;
	spin_lock_irqsave(&conn->lock, flags);
	conn->life.call_closing = true;
	if (!krdma_conn_is_released_locked(conn))
		krdma_call_queue(conn);
	spin_unlock_irqrestore(&conn->lock, flags);
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
	 * Check this first, because ops may be freed after the owner has
	 * released @conn.
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
		container_of(work, struct krdma_conn, work.close);
	struct krdma_noio noio = krdma_noio_enter_work();

	krdma_conn_close(conn);
	krdma_conn_tell_end(conn);
	krdma_conn_put(conn);
	krdma_noio_leave(noio);
}

static int krdma_conn_init(struct krdma_conn *conn,
			   const struct krdma_params *user)
{
	int ret = krdma_params_set(&conn->p, user);

	if (ret)
		return ret;
	if (conn->p.src && !rdma_addr_size((struct sockaddr *)conn->p.src))
		return -EINVAL;
	conn->cb.context = conn->p.context;
	conn->ops = conn->p.ops;
	conn->cb.read_write = krdma_conn_is_rw(conn);
	conn->cm.user_data_len = conn->p.private_data_len;
	memcpy(conn->cm.user_data, conn->p.private_data,
	       conn->cm.user_data_len);
	if (conn->p.src)
		memcpy(&conn->cm.src, conn->p.src,
		       rdma_addr_size((struct sockaddr *)conn->p.src));
	conn->domain = conn->p.domain;
	conn->net = conn->p.net ?: krdma_callers_net();
	krdma_params_forget(&conn->p);
	return 0;
}

/*
 * Initialize the works. The two branches look alike, so that lockdep
 * distinguishes the works of listeners and of connections: call_work of a
 * listener may release a request, which waits for close_work of the request.
 */
static void krdma_conn_init_works(struct krdma_conn *conn)
{
	if (conn->cb.role == KRDMA_LISTEN_CONN) {
		INIT_DELAYED_WORK(&conn->work.timer, krdma_listen_work);
		INIT_WORK(&conn->work.close, krdma_conn_close_work);
		INIT_WORK(&conn->work.call, krdma_offer_work);
	} else {
		INIT_DELAYED_WORK(&conn->work.timer, krdma_conn_timer_work);
		INIT_WORK(&conn->work.close, krdma_conn_close_work);
		INIT_WORK(&conn->work.call, krdma_call_work);
	}
	INIT_DELAYED_WORK(&conn->work.step, krdma_step_work);
	INIT_DELAYED_WORK(&conn->work.alive, krdma_alive_work);
	INIT_WORK(&conn->work.deliver, krdma_deliver_work);
	INIT_WORK(&conn->work.pull, krdma_pull_work);
	INIT_DELAYED_WORK(&conn->work.pull_limit, krdma_pull_limit_work);
	INIT_WORK(&conn->work.free, krdma_conn_free_work);
}

static void krdma_conn_init_once(struct krdma_conn *conn, enum krdma_role role)
{
	/*
	 * Lock class of listeners. Closing a listener takes the setup locks of
	 * its requests while it holds its own.
	 */
	static struct lock_class_key listener_setup;

	conn->cb.role = role;
	kref_init(&conn->ref);
	spin_lock_init(&conn->lock);
	mutex_init(&conn->setup);
	if (role == KRDMA_LISTEN_CONN)
		lockdep_set_class(&conn->setup, &listener_setup);
	init_waitqueue_head(&conn->wait);
	INIT_LIST_HEAD(&conn->sq.posted);
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
	krdma_conn_init_works(conn);
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
	int ret;

	if (!conn)
		return ERR_PTR(-ENOMEM);
	ret = krdma_conn_init(conn, params);
	if (!ret && role != KRDMA_LISTEN_CONN &&
	    conn->p.flags & KRDMA_LISTEN_FLAGS)
		ret = -EINVAL;
	if (!ret) {
		conn->budget = krdma_budget_alloc(&conn->p);
		ret = conn->budget ? 0 : -ENOMEM;
	}
	if (ret) {
		kfree(conn);
		return ERR_PTR(ret);
	}
	krdma_conn_init_once(conn, role);
	return conn;
}

/**
 * krdma_conn_alloc_child - allocate the connection for a connect request
 * @listener: listener that received the request; its parameters are copied
 *
 * Return: the connection in KRDMA_REQUESTED with one reference;
 * ERR_PTR(-ENOMEM); or ERR_PTR(-EUSERS): the listener has its maximum number of
 * connections.
 */
struct krdma_conn *krdma_conn_alloc_child(struct krdma_conn *listener)
{
	struct krdma_conn *conn = kzalloc(sizeof(*conn), GFP_KERNEL);
	int ret;

	if (!conn)
		return ERR_PTR(-ENOMEM);
	ret = krdma_budget_add_conn(listener, conn);
	if (ret) {
		kfree(conn);
		return ERR_PTR(ret);
	}
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
 * krdma_should_stop - check whether kthread_stop() was called for this task
 *
 * Return: true in a kernel thread that should end.
 */
bool krdma_should_stop(void)
{
	return current->flags & PF_KTHREAD && kthread_should_stop();
}

/**
 * krdma_pause - sleep unless the task must end
 * @ms: time in ms
 *
 * Return: 0 after @ms; -EINTR: the task is killed or, if it is a kernel thread,
 * should stop.
 */
int krdma_pause(u32 ms)
{
	DECLARE_WAIT_QUEUE_HEAD_ONSTACK(wait);
	long left;

	left = wait_event_killable_timeout(wait, krdma_should_stop(),
					   msecs_to_jiffies(ms));
	return left ? -EINTR : 0;
}

/**
 * krdma_deadline - convert a duration to a time limit for krdma_conn_wait()
 * @ms: time limit in ms from now; 0 or KRDMA_NEVER mean no limit
 *
 * Return: time limit in jiffies; 0 means no limit.
 */
unsigned long krdma_deadline(u32 ms)
{
	return ms && ms != KRDMA_NEVER ? (jiffies + msecs_to_jiffies(ms)) ?: 1 : 0;
}

static long krdma_deadline_left(unsigned long until)
{
	if (!until)
		return MAX_SCHEDULE_TIMEOUT;
	return time_after(until, jiffies) ? until - jiffies : 0;
}

/**
 * struct krdma_wait - conditions that end a wait
 * @ready: condition to wait for; called without locks; must not sleep
 * @arg: argument of @ready
 * @over: condition that ends the wait with the connection's error
 * @spin: state of polling before sleeping, see spin.c; NULL: do not poll
 */
struct krdma_wait {
	bool (*ready)(struct krdma_conn *conn, const void *arg);
	const void *arg;
	bool (*over)(const struct krdma_conn *conn);
	struct krdma_spin *spin;
};

static bool krdma_conn_wait_ends(struct krdma_conn *conn,
				 const struct krdma_wait *wait)
{
	return wait->ready(conn, wait->arg) || wait->over(conn) ||
	       krdma_should_stop();
}

/*
 * Check whether the task may continue to poll. Stop polling if another task
 * must run: on a single processor that task may be the one that makes @ready
 * true.
 */
static bool krdma_conn_may_spin(unsigned long until)
{
	return !need_resched() && !signal_pending(current) &&
	       krdma_deadline_left(until);
}

/*
 * Poll for the condition for some time before sleeping, because sleeping and
 * waking often takes longer than the wait itself. Also, a completion is cheaper
 * if no task sleeps.
 */
static void krdma_conn_spin(struct krdma_conn *conn,
			    const struct krdma_wait *wait, unsigned long until)
{
	u32 us = krdma_spin_begin(wait->spin, conn->p.spin_us);
	bool paid;
	u64 end;

	if (!us)
		return;
	end = ktime_get_ns() + us * NSEC_PER_USEC;
	while (!krdma_conn_wait_ends(conn, wait) && krdma_conn_may_spin(until) &&
	       ktime_get_ns() < end)
		cpu_relax();
	paid = wait->ready(conn, wait->arg);
	krdma_spin_end(wait->spin, conn->p.spin_us, us, paid);
	krdma_count(conn, KRDMA_COUNT_SPINS + !paid);
}

/*
 * Sleep until the wait ends. Return: jiffies left; 0: timed out; negative: a
 * signal arrived.
 */
static long krdma_conn_sleep(struct krdma_conn *conn,
			     const struct krdma_wait *wait, long left)
{
	if (conn->p.flags & KRDMA_INTERRUPTIBLE)
		return wait_event_interruptible_timeout(conn->wait,
							krdma_conn_wait_ends(conn, wait),
							left);
	return wait_event_killable_timeout(conn->wait,
					   krdma_conn_wait_ends(conn, wait),
					   left);
}

static int krdma_conn_wait_for(struct krdma_conn *conn,
			       const struct krdma_wait *wait,
			       unsigned long until)
{
	long left;

	might_sleep();
	if (wait->spin && conn->p.spin_us && !krdma_conn_wait_ends(conn, wait))
		krdma_conn_spin(conn, wait, until);
	do {
		left = krdma_conn_sleep(conn, wait, krdma_deadline_left(until));
		if (wait->ready(conn, wait->arg))
			return 0;
		if (wait->over(conn))
			return krdma_last_error(&conn->cb);
		if (left < 0 || krdma_should_stop())
			return -EINTR;
		/*
		 * If time is left, @ready was true, but another task was
		 * faster.
		 */
	} while (left);
	return -ETIMEDOUT;
}

/**
 * krdma_conn_wait - wait for a condition of a connection
 * @conn: connection or listener; the caller holds a reference
 * @ready: condition to wait for; called without locks; must not sleep
 * @arg: argument of @ready
 * @until: time limit from krdma_deadline()
 *
 * Return: 0: @ready is true; -EINTR: the task is killed or, if it is a kernel
 * thread, should stop; -ETIMEDOUT; or the reason for which the connection
 * ended.
 */
int krdma_conn_wait(struct krdma_conn *conn,
		    bool (*ready)(struct krdma_conn *conn, const void *arg),
		    const void *arg, unsigned long until)
{
	const struct krdma_wait wait = { ready, arg, krdma_conn_is_over };

	return krdma_conn_wait_for(conn, &wait, until);
}

/**
 * krdma_conn_wait_op - wait for posted requests, at most until the connection
 * is drained
 * @conn: connection in message mode
 * @ready: as for krdma_conn_wait()
 * @arg: for @ready
 * @until: time limit from krdma_deadline()
 *
 * Return: as krdma_conn_wait().
 */
int krdma_conn_wait_op(struct krdma_conn *conn,
		       bool (*ready)(struct krdma_conn *conn, const void *arg),
		       const void *arg, unsigned long until)
{
	const struct krdma_wait wait = {
		ready, arg, krdma_conn_is_silent, &conn->spin_op,
	};

	return krdma_conn_wait_for(conn, &wait, until);
}

/**
 * krdma_conn_wait_late - wait for a message, at most until the connection is
 * drained
 * @conn: connection in message mode
 * @ready: as for krdma_conn_wait()
 * @arg: for @ready
 * @until: time limit from krdma_deadline()
 *
 * The CM may report the end of the connection before the completions of the
 * peer's last messages are handled. This waits until the drain has handled
 * them.
 *
 * Return: as krdma_conn_wait().
 */
int krdma_conn_wait_late(struct krdma_conn *conn,
			 bool (*ready)(struct krdma_conn *conn, const void *arg),
			 const void *arg, unsigned long until)
{
	const struct krdma_wait wait = {
		ready, arg, krdma_conn_is_silent, &conn->spin_receive,
	};

	return krdma_conn_wait_for(conn, &wait, until);
}

static bool krdma_conn_is_never_over(const struct krdma_conn *conn)
{
	return false;
}

/**
 * krdma_conn_wait_ever - wait for a condition, also after the end of the
 * connection
 * @conn: connection
 * @ready: as for krdma_conn_wait()
 * @arg: for @ready
 * @until: time limit from krdma_deadline()
 *
 * Return: 0: @ready is true; -EINTR; -ETIMEDOUT.
 */
int krdma_conn_wait_ever(struct krdma_conn *conn,
			 bool (*ready)(struct krdma_conn *conn, const void *arg),
			 const void *arg, unsigned long until)
{
	const struct krdma_wait wait = { ready, arg, krdma_conn_is_never_over };

	return krdma_conn_wait_for(conn, &wait, until);
}

static bool krdma_conn_is_closed(struct krdma_conn *conn, const void *arg)
{
	return krdma_get_state(&conn->cb) == KRDMA_CLOSED;
}

/**
 * krdma_conn_wait_closed - wait until a connection is torn down
 * @conn: connection in message mode, in KRDMA_CLOSING or later
 * @until: time limit from krdma_deadline()
 *
 * Return: 0: the connection is drained, and its QP is destroyed; -EINTR;
 * -ETIMEDOUT.
 */
int krdma_conn_wait_closed(struct krdma_conn *conn, unsigned long until)
{
	return krdma_conn_wait_ever(conn, krdma_conn_is_closed, NULL, until);
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

/**
 * krdma_get - take a reference
 * @cb: connection or listener
 *
 * A task needs a reference if it may still use @cb after another task has
 * released @cb. After the release @cb is closed.
 *
 * Context: any.
 * Return: @cb.
 */
struct krdma_cb *krdma_get(struct krdma_cb *cb)
{
	krdma_conn_get(krdma_conn(cb));
	return cb;
}
EXPORT_SYMBOL_NS_GPL(krdma_get, KRDMA_NS);

/**
 * krdma_put - drop a reference that krdma_get() took
 * @cb: connection or listener
 *
 * Context: any.
 */
void krdma_put(struct krdma_cb *cb)
{
	krdma_conn_put_anywhere(krdma_conn(cb));
}
EXPORT_SYMBOL_NS_GPL(krdma_put, KRDMA_NS);

/**
 * krdma_get_state - return the present state
 * @cb: connection or listener
 *
 * Context: any.
 * Return: the state, which may change at any time.
 */
enum krdma_state krdma_get_state(const struct krdma_cb *cb)
{
	return READ_ONCE(cb->state);
}
EXPORT_SYMBOL_NS_GPL(krdma_get_state, KRDMA_NS);

/**
 * krdma_conn_is_open - check whether the user may send or post
 * @conn: connection
 *
 * The result stays true after the connection has ended.
 *
 * Context: any.
 * Return: true in raw mode from KRDMA_ESTABLISHED on; in message mode once both
 * sides have sent START and, with KRDMA_RW, the exported buffers are known.
 */
bool krdma_conn_is_open(const struct krdma_conn *conn)
{
	if (krdma_conn_is_raw(conn))
		return krdma_conn_was_established(conn);
	/* Pairs with krdma_msg_exchange_rest(). */
	return smp_load_acquire(&conn->life.reach) == KRDMA_REACH_OPEN;
}

/**
 * krdma_is_established - check whether data can be sent
 * @cb: connection
 *
 * In message mode the state becomes KRDMA_ESTABLISHED before data can be sent,
 * because both sides must first exchange START.
 *
 * Context: any.
 * Return: true if the connection is established and, in message mode, ready for
 * messages and requests of any task.
 */
bool krdma_is_established(const struct krdma_cb *cb)
{
	return krdma_get_state(cb) == KRDMA_ESTABLISHED &&
	       krdma_conn_is_open(krdma_conn(cb));
}
EXPORT_SYMBOL_NS_GPL(krdma_is_established, KRDMA_NS);

/**
 * krdma_last_error - return the reason for which the connection ended
 * @cb: connection or listener
 *
 * Context: any.
 * Return: 0 before the end; afterwards the first reason: -ECONNRESET,
 * -ESHUTDOWN, -ENODEV, -ETIMEDOUT, -ECONNREFUSED, -EPROTO, …
 */
int krdma_last_error(const struct krdma_cb *cb)
{
	struct krdma_conn *conn = krdma_conn(cb);
	unsigned long flags;
	int error;

	spin_lock_irqsave(&conn->lock, flags);
	error = conn->error;
	spin_unlock_irqrestore(&conn->lock, flags);
	return error;
}
EXPORT_SYMBOL_NS_GPL(krdma_last_error, KRDMA_NS);

/**
 * krdma_disconnect - end a connection or stop listening
 * @cb: connection or listener, in any state
 *
 * Every wait on @cb, in any task, ends with -ESHUTDOWN, and so does every later
 * call. A send, read or write that has completed before this call still
 * succeeds. The peer is notified. Messages that have arrived can still be
 * received.
 * The object remains until krdma_release_cb().
 *
 * Context: any; does not wait.
 */
void krdma_disconnect(struct krdma_cb *cb)
{
	krdma_conn_abort(krdma_conn(cb), -ESHUTDOWN);
}
EXPORT_SYMBOL_NS_GPL(krdma_disconnect, KRDMA_NS);

/*
 * Cancel the works, and wait for those that run. It is safe to wait for
 * close_work and step_work, because neither waits for a callback.
 */
static void krdma_conn_cancel_works(struct krdma_conn *conn)
{
	if (cancel_work_sync(&conn->work.close))
		krdma_conn_put(conn);
	krdma_step_cancel(conn);
	/*
	 * If a callback calls this function, call_work is the caller and cannot
	 * be waited for.
	 */
	if (current_work() == &conn->work.call ?
		    cancel_work(&conn->work.call) :
		    cancel_work_sync(&conn->work.call))
		krdma_conn_put(conn);
}

/*
 * Begin to release a connection. When this returns, no closing callback starts
 * any more, and one that ran in another task has returned. krdma_life.owner and
 * the state change under one lock, so that a step of an asynchronous connection
 * that sees the release also sees CLOSING.
 */
static void krdma_conn_stop(struct krdma_conn *conn)
{
	unsigned long flags;

	spin_lock_irqsave(&conn->lock, flags);
	if (!krdma_conn_set_owner_locked(conn, KRDMA_OWNER_RELEASES))
		krdma_conn_set_owner_locked(conn, KRDMA_OWNER_DROPS);
	krdma_conn_abort_locked(conn, -ESHUTDOWN);
	spin_unlock_irqrestore(&conn->lock, flags);
	krdma_conn_cancel_works(conn);
	krdma_deliver_stop(conn);
}

/**
 * krdma_drain - wait until all work requests of a raw connection have completed
 * @cb: raw-mode connection; the caller posts no more work requests
 *
 * Disconnects first if that has not happened yet. Afterwards every work request
 * has completed, most of them with IB_WC_WR_FLUSH_ERR, no completion handler
 * runs, and the owner may free buffers and MRs. It then calls
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
 * When this returns, no network object is left: QP, PD and cm_id are freed and
 * no callback runs. The CQ is freed after an RCU grace period. The memory of
 * @cb stays until the last krdma_put(). Tasks that wait on @cb get -ESHUTDOWN.
 * The owner of a raw connection must have freed its MRs, see krdma_drain().
 *
 * Context: process, may sleep. These callbacks may release @cb: its closing
 * callback, its connected callback, and for a request the request callback of
 * the listener. Other callbacks must not. A callback must not release another
 * connection whose callback waits for this one.
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
