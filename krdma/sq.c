// SPDX-License-Identifier: GPL-2.0
/*
 * The send queue: posting, completing, waiting.
 *
 * An entry (struct krdma_wr) is one work request, or stands for all work
 * requests of a request; see req.c. A posted entry is on krdma_conn.sq.posted,
 * in the order of the send queue. A completion or the drain takes it off this
 * list. The context that takes an entry off calls the entry's done(), so done()
 * is called exactly once.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include "quirks.h"
#include "sq.h"
#include "trace.h"

/*
 * Time in ms that krdma_op_settle() waits for the local adapter, which normally
 * needs much less.
 */
#define KRDMA_OP_SETTLE_MS 500

/**
 * krdma_op_alloc_wrs - allocate an object to wait on, with work requests
 * @n: number of elements of krdma_op.wrs
 *
 * Return: object with one reference, which the waiting task holds, or NULL.
 */
struct krdma_op *krdma_op_alloc_wrs(u32 n)
{
	struct krdma_op *op = kvzalloc(struct_size(op, wrs, n), GFP_KERNEL);

	if (op)
		refcount_set(&op->ref, 1);
	return op;
}

/**
 * krdma_op_alloc - allocate an object to wait on
 *
 * Return: object with one reference, which the waiting task holds, or NULL.
 */
struct krdma_op *krdma_op_alloc(void)
{
	return krdma_op_alloc_wrs(0);
}

/**
 * krdma_op_put - drop a reference
 * @op: object to put, or NULL
 *
 * Context: any.
 */
void krdma_op_put(struct krdma_op *op)
{
	if (op && refcount_dec_and_test(&op->ref))
		kvfree(op);
}

static bool krdma_op_is_done(struct krdma_conn *conn, const void *arg)
{
	const struct krdma_op *op = arg;

	/*
	 * Pairs with krdma_op_finish_locked(): if pending is 0, error can be
	 * read.
	 */
	return !smp_load_acquire(&op->pending);
}

/* Condition for waits that end only with the connection or the time limit. */
static bool krdma_never(struct krdma_conn *conn, const void *arg)
{
	return false;
}

static int krdma_op_result(struct krdma_conn *conn, const struct krdma_op *op)
{
	if (!op->error)
		return 0;
	/*
	 * A flush does not give the reason for which the connection ends, so
	 * wait until the connection has the reason.
	 */
	krdma_conn_wait(conn, krdma_never, NULL,
			krdma_deadline(KRDMA_QP_REASON_MS));
	return krdma_last_error(&conn->cb) ?: -ECONNRESET;
}

/**
 * krdma_op_wait - wait until all work requests of an operation have completed
 * @conn: connection in message mode
 * @op: operation; the caller keeps its reference
 * @until: time limit in jiffies, from krdma_deadline()
 *
 * The CM may report the end of the connection before the completion of a
 * successful work request is handled. In this case the function waits until the
 * drain has handled the completion.
 *
 * Context: process, may sleep. The caller must not hold @conn->setup, which the
 * drain needs.
 * Return: 0 if all work requests succeeded; otherwise an errno. After an errno
 * work requests may still be in flight, so the caller must abort the connection
 * or call krdma_op_settle().
 */
int krdma_op_wait(struct krdma_conn *conn, struct krdma_op *op,
		  unsigned long until)
{
	return krdma_conn_wait_op(conn, krdma_op_is_done, op, until) ?:
	       krdma_op_result(conn, op);
}

/**
 * krdma_op_wait_in_step - wait for an operation or the end of the connection
 * @conn: connection
 * @op: operation; the caller keeps its reference
 * @until: time limit in jiffies, from krdma_deadline()
 *
 * Works like krdma_op_wait(), but does not wait for the drain, so the caller
 * may hold a lock that the drain needs.
 *
 * Context: process, may sleep.
 * Return: as krdma_op_wait().
 */
int krdma_op_wait_in_step(struct krdma_conn *conn, struct krdma_op *op,
			  unsigned long until)
{
	return krdma_conn_wait(conn, krdma_op_is_done, op, until) ?:
	       krdma_op_result(conn, op);
}

/**
 * krdma_op_settle - wait for posted work requests, even if the task is killed
 * @conn: connection; this ends it if the work requests do not complete in time
 * @op: operation; the caller keeps its reference
 * @until: time limit. After it, or after a kill, this waits KRDMA_OP_SETTLE_MS
 *	longer, because posted work requests cannot be cancelled
 *
 * Return: 0 if all work requests succeeded; otherwise an errno, and the
 * connection has ended or will soon end.
 */
int krdma_op_settle(struct krdma_conn *conn, struct krdma_op *op,
		    unsigned long until)
{
	int ret = krdma_conn_wait(conn, krdma_op_is_done, op, until);

	if (!ret)
		return op->error;
	if (wait_event_timeout(conn->wait, krdma_op_is_done(conn, op) ||
			       krdma_conn_is_over(conn),
			       msecs_to_jiffies(KRDMA_OP_SETTLE_MS)) &&
	    krdma_op_is_done(conn, op))
		return op->error;
	krdma_conn_abort(conn, ret);
	return ret;
}

/*
 * Return the errno with which a failed work request ends the connection. A
 * flush only follows another failure, which has the reason.
 */
static int krdma_wc_errno(enum ib_wc_status status)
{
	switch (status) {
	case IB_WC_SUCCESS:
		return 0;
	case IB_WC_RETRY_EXC_ERR:
		return -ETIMEDOUT;
	case IB_WC_RNR_RETRY_EXC_ERR:
		return -ENOBUFS;
	case IB_WC_REM_ACCESS_ERR:
		return -EACCES;
	case IB_WC_WR_FLUSH_ERR:
		return -ECONNABORTED;
	default:
		return -EIO;
	}
}

/**
 * krdma_qp_failed - handle a work request that completed with an error
 * @conn: connection, which ends unless it is closing already
 * @status: status of the completion
 *
 * Context: any.
 */
void krdma_qp_failed(struct krdma_conn *conn, enum ib_wc_status status)
{
	trace_krdma_wc_failed(conn->stats.id, status);
	if (status < KRDMA_WC_STATUSES)
		krdma_count(conn, KRDMA_COUNT_WC + status);
	if (krdma_conn_is_over(conn))
		return;
	if (status == IB_WC_WR_FLUSH_ERR) {
		krdma_conn_flushed(conn);
		return;
	}
	krdma_conn_abort_for(conn,
			     status == IB_WC_LOC_QP_OP_ERR ?
				     krdma_conn_fatal_errno(conn) :
				     krdma_wc_errno(status),
			     KRDMA_CAUSE_WR, status);
}

/**
 * krdma_wc_failed - report a failed work request in raw mode
 * @cb: raw-mode connection
 * @status: status of the completion
 *
 * Without this call, an owner that only waits for its completions might wait
 * forever when the queue pair has failed. An rxe that cannot pass a packet to
 * its interface flushes all work requests without an event (seen on 6.12 and
 * 7.3). No completion shows the reason either.
 *
 * With this call the connection ends at once. The reason is -ETIMEDOUT if the
 * peer did not answer, -ENOBUFS if it had no receive, and -EACCES if it refused
 * the access. Otherwise the reason is -EIO, or -ECONNRESET on iWARP for
 * IB_WC_LOC_QP_OP_ERR, which a closed TCP connection causes there. After
 * IB_WC_WR_FLUSH_ERR the connection ends a second later, if it has not ended by
 * then. The closing callback follows. A connection that has already ended is
 * not changed.
 *
 * Context: any; normally the completion handler.
 */
void krdma_wc_failed(struct krdma_cb *cb, enum ib_wc_status status)
{
	krdma_qp_failed(krdma_conn(cb), status);
}
EXPORT_SYMBOL_NS_GPL(krdma_wc_failed, KRDMA_NS);

static void krdma_op_finish_locked(struct krdma_op *op, int error)
{
	if (error && !op->error)
		op->error = error;
	/* Pairs with krdma_op_is_done(). */
	smp_store_release(&op->pending, op->pending - 1);
}

/* Undo krdma_reads_posted_locked() for an entry that has ended. */
static void krdma_reads_over_locked(struct krdma_conn *conn,
				    const struct krdma_wr *kwr)
{
	lockdep_assert_held(&conn->lock);
	if (kwr->kind != KRDMA_READ)
		return;
	WRITE_ONCE(conn->sq.reads, conn->sq.reads - kwr->slots);
	if (!kwr->op)
		WRITE_ONCE(conn->sq.reads_over, conn->sq.reads_over + 1);
}

/*
 * Note that an answer of the peer's adapter has arrived: the peer is alive, and
 * a PONG may have to wait behind the answer.
 */
static void krdma_wr_heard_locked(struct krdma_conn *conn,
				  const struct krdma_wr *kwr)
{
	lockdep_assert_held(&conn->lock);
	if (kwr->kind == KRDMA_READ || kwr->kind == KRDMA_FETCH_ADD ||
	    kwr->kind == KRDMA_CMP_SWAP)
		conn->sq.heard = true;
}

/* Account for entries that have ended and are off @conn->sq.posted. */
static void krdma_wr_retire_locked(struct krdma_conn *conn,
				   struct list_head *over)
{
	struct krdma_wr *kwr;

	lockdep_assert_held(&conn->lock);
	list_for_each_entry(kwr, over, link) {
		krdma_stats_done_locked(conn, kwr, kwr->status);
		if (!kwr->status)
			krdma_wr_heard_locked(conn, kwr);
		krdma_reads_over_locked(conn, kwr);
		if (!kwr->reserved)
			WRITE_ONCE(conn->sq.avail,
				   conn->sq.avail + kwr->slots);
		if (kwr->bulk)
			conn->sq.bulk -= kwr->len;
		if (kwr->op)
			krdma_op_finish_locked(kwr->op, kwr->status);
	}
}

/* Call done() of each entry, in order, without a lock. */
static void krdma_wr_finish(struct list_head *over)
{
	struct krdma_wr *kwr, *next;
	struct krdma_op *op;

	list_for_each_entry_safe(kwr, next, over, link) {
		op = kwr->op;
		kwr->done(kwr, kwr->status);
		krdma_op_put(op);
	}
}

/**
 * krdma_wr_fail_all - end entries that will not complete any more
 * @wrs: entries of a drained connection, which no other context can reach
 * @error: status of the entries that have not completed
 *
 * Context: process.
 */
void krdma_wr_fail_all(struct list_head *wrs, int error)
{
	struct krdma_wr *kwr, *next;
	struct krdma_op *op;

	list_for_each_entry_safe(kwr, next, wrs, link) {
		op = kwr->op;
		kwr->done(kwr, kwr->over ? kwr->status : error);
		krdma_op_put(op);
	}
}

/*
 * Return the status of an entry that has completed. A failure ends the
 * connection, and the entry gets the reason for which the connection ends: this
 * failure, if it was the first one. If a flush comes before the reason is
 * known, the entry gets -ECONNRESET.
 */
static int krdma_wr_errno(struct krdma_conn *conn, enum ib_wc_status status)
{
	if (status == IB_WC_SUCCESS)
		return 0;
	krdma_qp_failed(conn, status);
	return krdma_last_error(&conn->cb) ?: -ECONNRESET;
}

/*
 * With KRDMA_QUIRK_LATE_READS, move the completed entries at the head of the
 * posted list to @over, because an entry is ended only by its own completion. A
 * READ without a completion ends in krdma_req_end().
 */
static void krdma_wr_cut_each_locked(struct krdma_conn *conn,
				     struct list_head *over)
{
	struct krdma_wr *kwr, *next;

	lockdep_assert_held(&conn->lock);
	list_for_each_entry_safe(kwr, next, &conn->sq.posted, link) {
		if (!kwr->over)
			return;
		list_move_tail(&kwr->link, over);
	}
}

/*
 * Move the entries that a completion ends to @over. Work requests complete in
 * order. Unsignalled ones have no completion if they succeed, so a completion
 * ends all entries up to its own. A work request that fails or is flushed has a
 * completion in any case.
 */
static void krdma_wr_cut_locked(struct krdma_conn *conn, struct krdma_wr *kwr,
				int status, struct list_head *over)
{
	lockdep_assert_held(&conn->lock);
	kwr->status = status;
	kwr->over = true;
	if (krdma_has_quirk(conn, KRDMA_QUIRK_LATE_READS))
		krdma_wr_cut_each_locked(conn, over);
	else
		list_cut_position(over, &conn->sq.posted, &kwr->link);
}

static void krdma_wr_complete(struct krdma_wr *kwr, enum ib_wc_status wc_status)
{
	struct krdma_conn *conn = kwr->conn;
	int status = krdma_wr_errno(conn, wc_status);
	unsigned long flags;
	LIST_HEAD(over);
	bool space;

	spin_lock_irqsave(&conn->lock, flags);
	if (kwr->op && status && wc_status != IB_WC_WR_FLUSH_ERR)
		kwr->op->refused = true;
	krdma_wr_cut_locked(conn, kwr, status, &over);
	krdma_wr_retire_locked(conn, &over);
	conn->mode->kick_locked(conn);
	krdma_req_kick_locked(conn);
	space = krdma_space_begin_locked(conn);
	krdma_conn_wake(conn);
	spin_unlock_irqrestore(&conn->lock, flags);
	krdma_wr_finish(&over);
	if (space)
		krdma_space_tell(conn);
}

static void krdma_wr_done(struct ib_cq *cq, struct ib_wc *wc)
{
	krdma_wr_complete(container_of(wc->wr_cqe, struct krdma_wr, cqe),
			  wc->status);
}

/**
 * krdma_wr_cqe_locked - return the completion for a work request
 * @conn: connection
 * @kwr: entry to which the work request belongs, as its last one
 * @opcode: opcode of the work request
 *
 * Context: any, @conn->lock held.
 * Return: value for wr_cqe of the work request.
 */
struct ib_cqe *krdma_wr_cqe_locked(struct krdma_conn *conn, struct krdma_wr *kwr,
				   enum ib_wr_opcode opcode)
{
	lockdep_assert_held(&conn->lock);
	return opcode == IB_WR_RDMA_READ && conn->sq.quirk_reads ?
	       krdma_quirk_read_cqe_locked(conn, kwr) : &kwr->cqe;
}

/**
 * krdma_wr_part_done - complete a work request that is not the last of its
 * entry
 * @cq: completion queue
 * @wc: completion; only failures have one
 */
void krdma_wr_part_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct krdma_conn *conn =
		container_of(wc->wr_cqe, struct krdma_conn, sq.part_cqe);

	if (wc->status != IB_WC_SUCCESS)
		krdma_qp_failed(conn, wc->status);
}

/**
 * krdma_wr_init - prepare an entry of the send queue
 * @kwr: entry in memory of the caller
 * @conn: connection on which it will be posted
 * @op: object that the task waits on; NULL if no task waits
 * @kind: &enum krdma_opcode or &enum krdma_wr_kind, for the counters
 * @done: function that frees the memory of @kwr after completion, in any
 *	context
 */
void krdma_wr_init(struct krdma_wr *kwr, struct krdma_conn *conn,
		   struct krdma_op *op, u8 kind,
		   void (*done)(struct krdma_wr *kwr, int status))
{
	*kwr = (struct krdma_wr){
		.cqe.done = krdma_wr_done,
		.conn = conn,
		.op = op,
		.slots = 1,
		.kind = kind,
		.done = done,
	};
}

/*
 * Query the maximum number of READs in flight, unless it is known. In
 * KRDMA_CLOSING no READ is posted any more, and the QP may be freed, so do not
 * query it.
 */
static void krdma_reads_find_max_locked(struct krdma_conn *conn)
{
	lockdep_assert_held(&conn->lock);
	if (conn->cb.state == KRDMA_ESTABLISHED && !conn->sq.max_reads)
		WRITE_ONCE(conn->sq.max_reads, krdma_qp_reads(conn));
}

/*
 * Check whether an entry with READs may be posted. Without @conn->lock the
 * result may be out of date.
 */
static bool krdma_reads_may_fit(const struct krdma_conn *conn,
				const struct krdma_wr *kwr)
{
	u32 reads = READ_ONCE(conn->sq.reads);
	u32 max = READ_ONCE(conn->sq.max_reads) ?: 1;

	if (!krdma_has_quirk(conn, KRDMA_QUIRK_BLOCKED_READS) || !reads)
		return true;
	if (!kwr->op && max > 1)
		max--;
	return reads + kwr->slots <= max;
}

/**
 * krdma_reads_fit_locked - check whether an entry with READs may be posted
 * @conn: connection in message mode
 * @kwr: the entry
 *
 * With KRDMA_QUIRK_BLOCKED_READS the number of READs in flight is limited here,
 * and requests that must not overtake READs wait, see
 * krdma_req_is_fenced_locked().
 *
 * A synchronous caller may use the last READ slot, so that a steady stream of
 * asynchronous READs cannot starve it. An entry that needs more slots than
 * exist is posted when no other READ is in flight.
 *
 * Context: any, @conn->lock held.
 * Return: true if the entry may be posted; false if it must wait.
 */
bool krdma_reads_fit_locked(struct krdma_conn *conn, const struct krdma_wr *kwr)
{
	lockdep_assert_held(&conn->lock);
	if (krdma_has_quirk(conn, KRDMA_QUIRK_BLOCKED_READS) && conn->sq.reads)
		krdma_reads_find_max_locked(conn);
	return krdma_reads_may_fit(conn, kwr);
}

/**
 * krdma_reads_posted_locked - count an entry if it is a READ
 * @conn: connection in message mode
 * @kwr: entry on the send queue
 *
 * Context: any, @conn->lock held.
 */
void krdma_reads_posted_locked(struct krdma_conn *conn,
			       const struct krdma_wr *kwr)
{
	lockdep_assert_held(&conn->lock);
	if (kwr->kind != KRDMA_READ)
		return;
	WRITE_ONCE(conn->sq.reads, conn->sq.reads + kwr->slots);
	if (!kwr->op)
		WRITE_ONCE(conn->sq.reads_left, conn->sq.reads_left + 1);
}

static bool krdma_qp_has_room_locked(struct krdma_conn *conn,
				     const struct krdma_wr *kwr)
{
	lockdep_assert_held(&conn->lock);
	/* Check READs first: this finds the limit for krdma_reads_may_fit(). */
	return (kwr->kind != KRDMA_READ || krdma_reads_fit_locked(conn, kwr)) &&
	       conn->sq.avail;
}

/*
 * Condition for krdma_conn_wait(): the send queue seems to have room for the
 * entry @arg. krdma_qp_post_locked() decides.
 */
static bool krdma_qp_may_have_room(struct krdma_conn *conn, const void *arg)
{
	const struct krdma_wr *kwr = arg;

	return READ_ONCE(conn->sq.avail) &&
	       (kwr->kind != KRDMA_READ || krdma_reads_may_fit(conn, kwr));
}

/**
 * krdma_qp_post_locked - post a work request
 * @conn: connection
 * @kwr: entry of @wr, from krdma_wr_init()
 * @wr: the work request; wr_cqe and the signal flag are set here
 *
 * The state moves to CLOSING only under @conn->lock. It is checked here under
 * the same lock, so nothing is posted once the drain may have begun.
 *
 * A work request that the driver keeps and cannot send counts as posted,
 * and the connection ends: see krdma_quirk_kept_errno().
 *
 * Context: any, @conn->lock held.
 * Return: 0; -EAGAIN: there is no room; -ESHUTDOWN: krdma_close() has begun,
 * and @kwr->late is set; -ENOTCONN: the connection is not established; an errno
 * of the driver; or, if the connection has ended, the reason. On error @kwr was
 * not posted.
 */
int krdma_qp_post_locked(struct krdma_conn *conn, struct krdma_wr *kwr,
			 struct ib_send_wr *wr)
{
	const struct ib_send_wr *bad = NULL;
	int ret;

	lockdep_assert_held(&conn->lock);
	if (conn->cb.state != KRDMA_ESTABLISHED)
		return conn->error ?: -ENOTCONN;
	if (kwr->late && conn->life.bye)
		return -ESHUTDOWN;
	if (!kwr->reserved && !krdma_qp_has_room_locked(conn, kwr))
		return -EAGAIN;
	wr->wr_cqe = krdma_wr_cqe_locked(conn, kwr, wr->opcode);
	wr->send_flags |= IB_SEND_SIGNALED;
	kwr->signalled = true;
	kwr->over = false;
	list_add_tail(&kwr->link, &conn->sq.posted);
	ret = ib_post_send(conn->cb.qp, wr, &bad);
	if (ret && !bad && krdma_has_quirk(conn, KRDMA_QUIRK_KEPT_WR)) {
		krdma_conn_abort_locked(conn, krdma_quirk_kept_errno(ret));
	} else if (ret) {
		list_del(&kwr->link);
		return krdma_quirk_post_errno(ret);
	}
	krdma_stats_posted_locked(conn, kwr);
	krdma_reads_posted_locked(conn, kwr);
	if (!kwr->reserved)
		WRITE_ONCE(conn->sq.avail, conn->sq.avail - 1);
	if (kwr->op) {
		kwr->op->pending++;
		refcount_inc(&kwr->op->ref);
	}
	return 0;
}

static int krdma_qp_try_post(struct krdma_conn *conn, struct krdma_wr *kwr,
			     struct ib_send_wr *wr)
{
	unsigned long flags;
	int ret;

	local_bh_disable();
	spin_lock_irqsave(&conn->lock, flags);
	ret = krdma_qp_post_locked(conn, kwr, wr);
	spin_unlock_irqrestore(&conn->lock, flags);
	local_bh_enable();
	return ret;
}

/**
 * krdma_qp_post - wait for room and post a work request
 * @conn: connection
 * @kwr: entry of @wr
 * @wr: the work request
 * @until: time limit in jiffies, from krdma_deadline()
 *
 * Bottom halves are off around the post. When they are enabled again, rxe up to
 * 6.x runs its tasklet at once, instead of waking ksoftirqd. That saves nearly
 * 100 us.
 *
 * Context: process.
 * Return: 0 or -errno; on error @kwr was not posted.
 */
int krdma_qp_post(struct krdma_conn *conn, struct krdma_wr *kwr,
		  struct ib_send_wr *wr, unsigned long until)
{
	int ret = krdma_qp_try_post(conn, kwr, wr);

	while (ret == -EAGAIN)
		ret = krdma_conn_wait(conn, krdma_qp_may_have_room, kwr,
				      until) ?:
		      krdma_qp_try_post(conn, kwr, wr);
	return ret;
}
