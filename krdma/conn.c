// SPDX-License-Identifier: GPL-2.0
/*
 * The connection or listener as an object: references, state, owner, waits.
 *
 * Closing has two halves. krdma_conn_abort() is the first half: from any
 * context it moves the state to CLOSING, which stops new work and ends all
 * waits. krdma_conn_teardown() in life.c is the second half.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/export.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/sched/signal.h>

#include "conn.h"
#include "trace.h"

static void krdma_conn_free_later(struct kref *ref)
{
	struct krdma_conn *conn = container_of(ref, struct krdma_conn, ref);

	queue_work(krdma_wq, &conn->work.free);
}

/**
 * krdma_conn_put_anywhere - drop a reference; the last put queues work that
 * frees the connection
 * @conn: connection
 *
 * Context: any.
 */
void krdma_conn_put_anywhere(struct krdma_conn *conn)
{
	kref_put(&conn->ref, krdma_conn_free_later);
}

/*
 * Change the state. After the connection was allocated, no other function
 * writes the state. @error: reason if @to is CLOSING, otherwise 0.
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
	moved = krdma_conn_change_locked(conn, to, 0);
	spin_unlock_irqrestore(&conn->lock, flags);
	return moved;
}

/**
 * krdma_conn_set_owner_locked - change the ownership of a connection
 * @conn: connection
 * @to: wanted value
 *
 * No other function writes krdma_life.owner.
 *
 * Context: any, @conn->lock held.
 * Return: true if the change was allowed and made.
 */
bool krdma_conn_set_owner_locked(struct krdma_conn *conn, enum krdma_owner to)
{
	lockdep_assert_held(&conn->lock);
	if (!krdma_owner_may_move(conn->life.owner, to))
		return false;
	WRITE_ONCE(conn->life.owner, to);
	return true;
}

/*
 * Queue close_work, with a reference that close_work or krdma_conn_stop() puts.
 * Do not queue it if the owner is releasing the connection, because
 * krdma_release_cb() does the teardown. Also, krdma_conn_stop() might be
 * cancelling the work, and then mod_delayed_work() does not tell whether it has
 * queued the work.
 */
static void krdma_conn_queue_close_locked(struct krdma_conn *conn, long delay)
{
	lockdep_assert_held(&conn->lock);
	if (krdma_conn_is_released_locked(conn))
		return;
	krdma_conn_get(conn);
	if (mod_delayed_work(krdma_wq, &conn->work.close, delay))
		krdma_conn_put(conn);
}

/*
 * Queue close_work if the connection has ended. Do not queue it if a connect
 * step is running (in_step), because close_work would block on
 * krdma_conn.setup, which the step holds: for minutes if siw waits for a TCP
 * connect. krdma_conn_end_step() calls this function again.
 */
static void krdma_conn_need_close_locked(struct krdma_conn *conn)
{
	lockdep_assert_held(&conn->lock);
	if (conn->cb.state >= KRDMA_CLOSING && !conn->life.in_step)
		krdma_conn_queue_close_locked(conn, 0);
}

/**
 * krdma_conn_close_in - queue close_work again if the peer has not closed yet
 * @conn: connection in KRDMA_CLOSING; its close_work is the caller
 * @delay: time in jiffies; krdma_conn_hung_up() ends it earlier
 *
 * If the owner is releasing the connection, close_work is not queued, because
 * the release does the teardown.
 *
 * Context: process.
 * Return: true if the caller must not tear down now; false if the peer has
 * closed.
 */
bool krdma_conn_close_in(struct krdma_conn *conn, long delay)
{
	unsigned long flags;
	bool waits;

	spin_lock_irqsave(&conn->lock, flags);
	waits = !conn->life.hung_up;
	if (waits)
		krdma_conn_queue_close_locked(conn, delay);
	spin_unlock_irqrestore(&conn->lock, flags);
	return waits;
}

/*
 * Count the end of a connection that connect or accept has given to its owner.
 * Other ends are not counted here: krdma_cm_count() counts them as failures to
 * connect.
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
 * If the connection ends before this call, an error of connect or accept
 * notifies the owner. If the connection ends later, the closing callback
 * notifies the owner. The owner must not be notified in both ways, because it
 * would release the connection twice. An owner that is already releasing the
 * connection is not notified.
 *
 * Context: any.
 */
void krdma_conn_hand_over(struct krdma_conn *conn)
{
	unsigned long flags;

	spin_lock_irqsave(&conn->lock, flags);
	if (conn->life.owner == KRDMA_OWNER_DROPS)
		krdma_conn_set_owner_locked(conn, KRDMA_OWNER_RELEASES);
	else
		krdma_conn_set_owner_locked(conn, KRDMA_OWNER_HAS);
	/* If the connection has ended already, count the end now. */
	krdma_conn_count_end_locked(conn);
	if (conn->mode->handed_over_locked)
		conn->mode->handed_over_locked(conn);
	krdma_conn_need_close_locked(conn);
	spin_unlock_irqrestore(&conn->lock, flags);
}

/**
 * krdma_conn_may_notify - check whether the closing callback must be called
 * @conn: connection
 *
 * Context: any.
 * Return: true for the first call, if the owner has received the connection and
 * has not begun to release it; otherwise false.
 */
bool krdma_conn_may_notify(struct krdma_conn *conn)
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

/**
 * krdma_conn_hung_up - handle the close of a connection by the peer
 * @conn: connection
 *
 * Ends the connection if it has not ended yet. If close_work has called
 * krdma_conn_close_in(), it runs again now.
 *
 * Context: any.
 */
void krdma_conn_hung_up(struct krdma_conn *conn)
{
	unsigned long flags;

	spin_lock_irqsave(&conn->lock, flags);
	WRITE_ONCE(conn->life.hung_up, true);
	krdma_conn_abort_locked(conn, -ECONNRESET);
	/* Without a pending close_work, none waits for the peer's close. */
	if (delayed_work_pending(&conn->work.close))
		krdma_conn_need_close_locked(conn);
	wake_up_all(&conn->wait);
	spin_unlock_irqrestore(&conn->lock, flags);
}

static void krdma_conn_abort_for_locked(struct krdma_conn *conn, int error,
					enum krdma_cause cause, u32 arg)
{
	lockdep_assert_held(&conn->lock);
	if (conn->cb.state < KRDMA_CLOSING) {
		conn->life.cause = cause;
		conn->life.cause_arg = arg;
	}
	krdma_conn_abort_locked(conn, error);
}

/**
 * krdma_conn_abort_for - begin to close a connection, and log the cause later
 * @conn: connection
 * @error: reason, as for krdma_conn_abort()
 * @cause: cause for the log; ignored if the connection has already ended
 * @arg: number that belongs to @cause
 *
 * A completion handler must not print. It may interrupt a program at any point,
 * for example a control loop that holds a lock, and a slow console would delay
 * that program. So close_work or the release of the connection logs the cause.
 *
 * Context: any.
 */
void krdma_conn_abort_for(struct krdma_conn *conn, int error,
			  enum krdma_cause cause, u32 arg)
{
	unsigned long flags;

	spin_lock_irqsave(&conn->lock, flags);
	krdma_conn_abort_for_locked(conn, error, cause, arg);
	spin_unlock_irqrestore(&conn->lock, flags);
}

/**
 * krdma_conn_log_end - log the cause of the end of a connection, once
 * @conn: connection; no effect if there is nothing to log
 *
 * Context: process.
 */
void krdma_conn_log_end(struct krdma_conn *conn)
{
	enum krdma_cause cause;
	unsigned long flags;
	u32 arg;

	spin_lock_irqsave(&conn->lock, flags);
	cause = conn->life.cause;
	arg = conn->life.cause_arg;
	conn->life.cause = KRDMA_CAUSE_NONE;
	spin_unlock_irqrestore(&conn->lock, flags);
	switch (cause) {
	case KRDMA_CAUSE_NONE:
		break;
	case KRDMA_CAUSE_WR:
		pr_info_ratelimited("%pISpc: work request failed: %s\n",
				    &conn->cm.peer, ib_wc_status_msg(arg));
		break;
	case KRDMA_CAUSE_MESSAGE:
		pr_info_ratelimited("%pISpc: bad message of %u bytes, closing\n",
				    &conn->cm.peer, arg);
		break;
	case KRDMA_CAUSE_AUTH:
		pr_info_ratelimited("%pISpc: handshake failed: other key or changed message, closing\n",
				    &conn->cm.peer);
		break;
	case KRDMA_CAUSE_SEAL:
		pr_info_ratelimited("%pISpc: message of %u bytes was changed, repeated or injected, or one is missing, closing\n",
				    &conn->cm.peer, arg);
		break;
	case KRDMA_CAUSE_UNKNOWN:
		pr_info_ratelimited("%pISpc: the queue pair failed, for no known reason\n",
				    &conn->cm.peer);
		break;
	}
}

/**
 * krdma_conn_fatal_errno - return the errno for a fatal error of the QP
 * @conn: connection that has had a QP, in any state
 *
 * On iWARP a lost TCP connection causes a fatal error of the QP before the CM
 * reports that the peer has closed (siw: siw_qp_cm_drop()). This uses
 * krdma_hw.is_iwarp and not the cm_id, because krdma_conn_timer_work() may run
 * after teardown has destroyed the cm_id.
 *
 * Return: -ECONNRESET on iWARP, -EIO elsewhere.
 */
int krdma_conn_fatal_errno(const struct krdma_conn *conn)
{
	return conn->hw.is_iwarp ? -ECONNRESET : -EIO;
}

/**
 * krdma_conn_timer_work - end a connection that is not established in time, or
 * for which no event has reported the reason of a flush
 * @work: krdma_works.timer of a connection
 */
void krdma_conn_timer_work(struct work_struct *work)
{
	struct krdma_conn *conn =
		container_of(work, struct krdma_conn, work.timer.work);
	unsigned long flags;

	spin_lock_irqsave(&conn->lock, flags);
	if (conn->life.flushed)
		krdma_conn_abort_for_locked(conn, krdma_conn_fatal_errno(conn),
					    KRDMA_CAUSE_UNKNOWN, 0);
	else if (conn->cb.state < KRDMA_ESTABLISHED ||
		 (conn->life.async && !conn->life.report))
		krdma_conn_abort_locked(conn, -ETIMEDOUT);
	spin_unlock_irqrestore(&conn->lock, flags);
	krdma_conn_put(conn);
}

/**
 * krdma_conn_flushed - limit the wait for the reason of a flushed work request
 * @conn: connection
 *
 * A CM event or a QP event reports the reason, possibly after the flush. For
 * example, siw flushes while its CM event is still in a workqueue. But rxe of
 * Linux 6.1 reports nothing when it refuses an access of the peer: the QP just
 * moves to ERROR. (rxe of 7.3 has an event for this.) So this starts the timer,
 * which ends the connection. Otherwise an owner that only receives would wait
 * until the keep-alive fails.
 *
 * The timer is also started in KRDMA_CONNECTING, because a message of the peer
 * may arrive before the CM event that reports the connection.
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
 * If a work request was flushed, the timer continues, because it then limits
 * the wait for the reason: see krdma_conn_flushed().
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
 * krdma_conn_stop_timer - cancel the timer of a connection
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

/**
 * krdma_owner_hold - keep the module of an owner while a callback runs
 * @owner: module in the owner's ops, or NULL
 *
 * A callback may release its connection. After that it still runs code of the
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

/* Check whether kthread_stop() was called for this task. */
static bool krdma_should_stop(void)
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

static long krdma_deadline_left(unsigned long until)
{
	if (!until)
		return MAX_SCHEDULE_TIMEOUT;
	return time_after(until, jiffies) ? until - jiffies : 0;
}

/**
 * struct krdma_wait - conditions that end a wait
 * @ready: condition to wait for. The waking context evaluates it too, perhaps
 *	with krdma_conn.lock held, so it must not take a lock, and must not sleep
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

/**
 * struct krdma_waiter - a task that sleeps in krdma_conn_sleep()
 * @entry: link in krdma_conn.wait
 * @conn: connection or listener
 * @wait: conditions that end the wait
 */
struct krdma_waiter {
	struct wait_queue_entry entry;
	struct krdma_conn *conn;
	const struct krdma_wait *wait;
};

static bool krdma_conn_wait_ends(struct krdma_conn *conn,
				 const struct krdma_wait *wait)
{
	return wait->ready(conn, wait->arg) || wait->over(conn);
}

static bool krdma_conn_must_run(struct krdma_conn *conn,
				const struct krdma_wait *wait)
{
	return krdma_conn_wait_ends(conn, wait) || krdma_should_stop();
}

/*
 * Poll for the condition for some time before sleeping, because sleeping and
 * waking often takes longer than the wait itself. Also, a completion handler
 * that need not wake a task is cheaper.
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
	/*
	 * Stop if another task must run. On a single processor, the task that
	 * makes krdma_wait.ready true may be that other task.
	 */
	while (!krdma_conn_must_run(conn, wait) && !need_resched() &&
	       !signal_pending(current) && krdma_deadline_left(until) &&
	       ktime_get_ns() < end)
		cpu_relax();
	paid = wait->ready(conn, wait->arg);
	krdma_spin_end(wait->spin, conn->p.spin_us, us, paid);
	krdma_count(conn, KRDMA_COUNT_SPINS + !paid);
}

/*
 * Wake a task only if its wait has ended. Each completion wakes the queue
 * krdma_conn.wait, and many tasks may wait there, most of them for other
 * completions.
 */
static int krdma_waiter_wake(struct wait_queue_entry *entry, unsigned int mode,
			     int sync, void *key)
{
	struct krdma_waiter *waiter =
		container_of(entry, struct krdma_waiter, entry);

	if (!krdma_conn_wait_ends(waiter->conn, waiter->wait))
		return 0;
	return autoremove_wake_function(entry, mode, sync, key);
}

/*
 * Sleep until the wait ends. Return: jiffies left; 0: timed out; negative: a
 * signal arrived.
 */
static long krdma_conn_sleep(struct krdma_conn *conn,
			     const struct krdma_wait *wait, long left)
{
	int state = conn->p.flags & KRDMA_INTERRUPTIBLE ? TASK_INTERRUPTIBLE :
							  TASK_KILLABLE;
	struct krdma_waiter waiter = {
		.entry.private = current,
		.entry.func = krdma_waiter_wake,
		.entry.entry = LIST_HEAD_INIT(waiter.entry.entry),
		.conn = conn,
		.wait = wait,
	};
	long ret;

	/* Most waits have ended already. These take no lock. */
	if (krdma_conn_must_run(conn, wait))
		return left ?: 1;
	for (;;) {
		ret = prepare_to_wait_event(&conn->wait, &waiter.entry, state);
		if (krdma_conn_must_run(conn, wait)) {
			ret = left ?: 1;
			break;
		}
		if (ret || !left)
			break;
		left = schedule_timeout(left);
		/*
		 * The waker has removed the entry, so finish_wait() takes no
		 * lock if the wait has ended.
		 */
		if (krdma_conn_must_run(conn, wait)) {
			ret = left ?: 1;
			break;
		}
	}
	finish_wait(&conn->wait, &waiter.entry);
	return ret;
}

static int krdma_conn_wait_for(struct krdma_conn *conn,
			       const struct krdma_wait *wait,
			       unsigned long until)
{
	bool over;
	long left;

	might_sleep();
	if (wait->spin && conn->p.spin_us && !krdma_conn_must_run(conn, wait))
		krdma_conn_spin(conn, wait, until);
	do {
		left = krdma_conn_sleep(conn, wait, krdma_deadline_left(until));
		over = wait->over(conn);
		/* See also what has become ready just before the end. */
		smp_rmb();
		if (wait->ready(conn, wait->arg))
			return 0;
		if (over)
			return krdma_last_error(&conn->cb);
		if (left < 0 || krdma_should_stop())
			return -EINTR;
		/*
		 * If time is left, ready() was true when this task was woken,
		 * but another task has made it false since.
		 */
	} while (left);
	return -ETIMEDOUT;
}

/**
 * krdma_conn_wait - wait for a condition of a connection
 * @conn: connection or listener; the caller holds a reference
 * @ready: condition to wait for, as in &struct krdma_wait
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
 * A result of true stays true, even after the connection has ended.
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
 * Every wait on @cb, in any task, ends with -ESHUTDOWN. Every later call also
 * fails with -ESHUTDOWN, except a call that receives a message that has already
 * arrived. A send, read or write that has completed before this call still
 * succeeds. The peer is notified. The object remains until krdma_release_cb().
 *
 * Context: any; does not wait.
 */
void krdma_disconnect(struct krdma_cb *cb)
{
	krdma_conn_abort(krdma_conn(cb), -ESHUTDOWN);
}
EXPORT_SYMBOL_NS_GPL(krdma_disconnect, KRDMA_NS);

/**
 * krdma_conn_check_msg - check that a connection is in message mode and has
 * been established
 * @conn: connection
 *
 * Return: 0; -EINVAL: raw mode or a listener; -ENOTCONN: not connected yet; or
 * the reason for which connecting failed.
 */
int krdma_conn_check_msg(struct krdma_conn *conn)
{
	if (krdma_conn_is_raw(conn) || conn->cb.role == KRDMA_LISTEN_CONN)
		return -EINVAL;
	if (!krdma_conn_was_established(conn))
		return krdma_last_error(&conn->cb) ?: -ENOTCONN;
	return 0;
}

/**
 * krdma_conn_check_open - check whether the user may send, post or receive
 * @conn: connection
 *
 * Context: any.
 * Return: as krdma_conn_check_msg(). If both sides have not exchanged START,
 * also -ENOTCONN, or the reason for which the connection ended.
 */
int krdma_conn_check_open(struct krdma_conn *conn)
{
	if (krdma_conn_is_raw(conn) || conn->cb.role == KRDMA_LISTEN_CONN)
		return -EINVAL;
	/* Pairs with krdma_msg_exchange_rest(). */
	if (smp_load_acquire(&conn->life.reach) == KRDMA_REACH_OPEN)
		return 0;
	return krdma_last_error(&conn->cb) ?: -ENOTCONN;
}
