// SPDX-License-Identifier: GPL-2.0
/*
 * The send queue: completing, and waiting for operations.
 *
 * An entry (struct krdma_wr) stands for all work requests of a request; see
 * req.c. A posted entry is on krdma_conn.sq.posted, in the order of the send
 * queue. A completion or the drain takes it off this list. The context that
 * takes an entry off calls the request's done(), so done() is called exactly
 * once.
 *
 * Requests that krdma itself posts are in an operation (struct krdma_op). A
 * blocking call posts an operation by krdma_op_post(), and waits for its end.
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
 * krdma_op_alloc - allocate an operation
 * @conn: connection with a QP
 * @n: maximum number of its requests, see krdma_op_add()
 * @len: number of bytes of krdma_op.data. The bytes are not initialized
 *
 * If @len is not 0, or @n is small, the memory is linear, so the adapter can
 * read the header of a message in it.
 *
 * Return: operation with one reference, which the caller holds, or NULL.
 */
struct krdma_op *krdma_op_alloc(struct krdma_conn *conn, u32 n, u32 len)
{
	struct krdma_op *op;
	size_t size = struct_size(op, calls, n);

	krdma_noio_check(conn);
	op = len ? kmalloc_node(size + len, GFP_KERNEL, conn->hw.node) :
		   kvmalloc_node(size, GFP_KERNEL, conn->hw.node);
	if (!op)
		return NULL;
	memset(op, 0, size);
	refcount_set(&op->ref, 1);
	op->is_read_on = krdma_has_quirk(conn, KRDMA_QUIRK_READS_FREED);
	op->data = (void *)op + size;
	return op;
}

/**
 * krdma_op_add - add a request to an operation
 * @conn: connection on which the operation will be posted
 * @op: operation that is not posted yet
 * @kind: &enum krdma_opcode or &enum krdma_wr_kind
 *
 * Return: the request, without the members that @kind needs.
 */
struct krdma_call *krdma_op_add(struct krdma_conn *conn, struct krdma_op *op,
				u8 kind)
{
	struct krdma_call *call = &op->calls[op->n];

	if (op->n++)
		call[-1].req.next = &call->req;
	call->req.opcode = kind == KRDMA_WR_CONTROL ? KRDMA_SEND : kind;
	krdma_wr_init(&call->req.wr, conn, op, kind);
	return call;
}

/**
 * krdma_op_message - allocate an operation that sends a message, or a part of
 * one
 * @conn: connection with a QP
 * @kind: KRDMA_SEND or KRDMA_WR_CONTROL
 * @hdr: header; the credits and the message id are filled in on posting
 * @len: number of bytes behind the header, which the caller copies to
 *	krdma_op.data
 *
 * Return: operation as of krdma_op_alloc(), or NULL.
 */
struct krdma_op *krdma_op_message(struct krdma_conn *conn, u8 kind,
				  const struct krdma_hdr *hdr, u32 len)
{
	struct krdma_op *op = krdma_op_alloc(conn, 1, len);
	struct krdma_req *req;

	if (!op)
		return NULL;
	req = &krdma_op_add(conn, op, kind)->req;
	if (len)
		req->local = (struct krdma_data){
			.mem = KRDMA_MEM_VIRT,
			.len = len,
			.virt = op->data,
		};
	req->wr.len = len;
	req->wr.late = !hdr->offset;
	req->wr.follows = hdr->offset;
	krdma_hdr_encode(krdma_req_hdr(req), hdr);
	return op;
}

/**
 * krdma_op_put - drop a reference
 * @op: object to put, or NULL
 *
 * Context: any.
 */
void krdma_op_put(struct krdma_op *op)
{
	if (!op || !refcount_dec_and_test(&op->ref))
		return;
	if (op->is_read_on)
		kvfree_rcu(op, rcu);
	else
		kvfree(op);
}

/**
 * krdma_op_is_done - check whether all requests of an operation have ended
 * @conn: connection of the operation
 * @arg: the operation; for krdma_conn_wait()
 *
 * Context: any.
 * Return: true if krdma_op.error is final.
 */
bool krdma_op_is_done(struct krdma_conn *conn, const void *arg)
{
	const struct krdma_op *op = arg;

	/*
	 * Pairs with krdma_op_finish_locked(): if pending is 0, error can be
	 * read.
	 */
	return !smp_load_acquire(&op->pending);
}

static bool krdma_op_is_posted(struct krdma_conn *conn, const void *arg)
{
	const struct krdma_op *op = arg;

	/* Pairs with krdma_req_leave_locked(): if queued is 0, read error. */
	return !smp_load_acquire(&op->queued);
}

/* Condition for waits that end only with the connection or the time limit. */
static bool krdma_never(struct krdma_conn *conn, const void *arg)
{
	return false;
}

static int krdma_op_result(struct krdma_conn *conn, const struct krdma_op *op)
{
	int error = READ_ONCE(op->error);

	if (error != -ECONNRESET)
		return error;
	/*
	 * A flush does not give the reason for which the connection ends, so
	 * wait until the connection has the reason.
	 */
	krdma_conn_wait(conn, krdma_never, NULL,
			krdma_deadline(KRDMA_QP_REASON_MS));
	return krdma_last_error(&conn->cb) ?: error;
}

/* End an operation whose wait has failed with @error. */
static int krdma_op_give_up(struct krdma_conn *conn, struct krdma_op *op,
			    int error)
{
	if (krdma_op_cancel(conn, op, error))
		return krdma_op_result(conn, op);
	krdma_conn_abort(conn, error);
	return error;
}

/**
 * krdma_op_wait - wait until all requests of an operation have ended
 * @conn: connection in message mode
 * @op: operation from krdma_op_post(); the caller keeps its reference
 * @until: time limit in jiffies, from krdma_deadline()
 *
 * If the wait times out, or the task is killed, requests that are not posted
 * yet are cancelled. If a request is posted, the connection ends.
 *
 * The CM may report the end of the connection before the completion of a
 * successful work request is handled. In this case the function waits until the
 * drain has handled the completion.
 *
 * Context: process, may sleep. The caller must not hold @conn->setup, which the
 * drain needs.
 * Return: 0 if all requests succeeded; otherwise an errno.
 */
int krdma_op_wait(struct krdma_conn *conn, struct krdma_op *op,
		  unsigned long until)
{
	int ret = krdma_conn_wait_op(conn, krdma_op_is_done, op, until);

	if (ret)
		return krdma_op_give_up(conn, op, ret);
	return krdma_op_result(conn, op);
}

/**
 * krdma_op_wait_posted - wait until all requests of an operation are posted
 * @conn: connection in message mode
 * @op: operation from krdma_op_post(); the caller keeps its reference
 * @until: time limit in jiffies, from krdma_deadline()
 *
 * Works like krdma_op_wait(), but does not wait for completions.
 *
 * Context: process, may sleep.
 * Return: as krdma_op_wait().
 */
int krdma_op_wait_posted(struct krdma_conn *conn, struct krdma_op *op,
			 unsigned long until)
{
	int ret = krdma_conn_wait(conn, krdma_op_is_posted, op, until);

	if (ret)
		return krdma_op_give_up(conn, op, ret);
	return krdma_op_result(conn, op);
}

/**
 * krdma_op_settle - wait for an operation, even if the task is killed
 * @conn: connection; this ends it if posted work requests do not complete in
 *	time
 * @op: operation from krdma_op_post(); the caller keeps its reference
 * @until: time limit. After it, or after a kill, this waits KRDMA_OP_SETTLE_MS
 *	longer for posted work requests, because they cannot be cancelled
 *
 * Does not wait for the drain, so the caller may hold a lock that the drain
 * needs.
 *
 * Return: 0 if all requests succeeded; otherwise an errno. After an errno the
 * connection has ended, or no request is posted any more.
 */
int krdma_op_settle(struct krdma_conn *conn, struct krdma_op *op,
		    unsigned long until)
{
	int ret = krdma_conn_wait(conn, krdma_op_is_done, op, until);

	if (!ret)
		return krdma_op_result(conn, op);
	if (krdma_op_cancel(conn, op, ret))
		return krdma_op_result(conn, op);
	wait_event_timeout(conn->wait, krdma_op_is_done(conn, op) ||
			   krdma_conn_is_over(conn),
			   msecs_to_jiffies(KRDMA_OP_SETTLE_MS));
	if (!krdma_op_is_done(conn, op))
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

/**
 * krdma_op_finish_locked - end one of the events that an operation waits for
 * @op: operation
 * @error: 0 or errno
 *
 * Context: any, krdma_conn.lock held.
 */
void krdma_op_finish_locked(struct krdma_op *op, int error)
{
	if (error && !op->error)
		WRITE_ONCE(op->error, error);
	/* Pairs with krdma_op_is_done(). */
	smp_store_release(&op->pending, op->pending - 1);
}

/**
 * krdma_wr_end_locked - account for an entry that has ended
 * @conn: connection
 * @kwr: entry with its status, on no list of the connection
 *
 * The caller calls krdma_wr_finish() after it has released the lock.
 *
 * Context: any, @conn->lock held.
 */
void krdma_wr_end_locked(struct krdma_conn *conn, struct krdma_wr *kwr)
{
	lockdep_assert_held(&conn->lock);
	krdma_stats_done_locked(conn, kwr, kwr->status);
	if (kwr->op)
		krdma_op_finish_locked(kwr->op, kwr->status);
}

/* Account for posted entries that have ended. */
static void krdma_wr_retire_locked(struct krdma_conn *conn,
				   struct list_head *over)
{
	struct krdma_wr *kwr;

	lockdep_assert_held(&conn->lock);
	list_for_each_entry(kwr, over, link) {
		krdma_wr_end_locked(conn, kwr);
		/*
		 * An answer of the peer's adapter has arrived: the peer is
		 * alive, and a PONG may have to wait behind the answer.
		 */
		if (!kwr->status &&
		    (kwr->kind == KRDMA_READ || kwr->kind == KRDMA_FETCH_ADD ||
		     kwr->kind == KRDMA_CMP_SWAP))
			conn->sq.heard = true;
		if (kwr->kind == KRDMA_READ) {
			conn->sq.reads -= kwr->slots;
			conn->sq.user_reads -= !kwr->op;
		}
		if (!kwr->reserved)
			WRITE_ONCE(conn->sq.avail,
				   conn->sq.avail + kwr->slots);
		if (kwr->bulk)
			conn->sq.bulk -= kwr->len;
	}
}

/**
 * krdma_wr_finish - call done() of entries that have ended, in order
 * @over: entries after krdma_wr_end_locked()
 *
 * Context: any, no lock held.
 */
void krdma_wr_finish(struct list_head *over)
{
	struct krdma_wr *kwr, *next;

	list_for_each_entry_safe(kwr, next, over, link)
		krdma_req_done(krdma_req(kwr));
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
 * Move the entries that a completion ends to @over. Work requests complete in
 * order. Unsignalled ones have no completion if they succeed, so a completion
 * ends all entries up to its own. A work request that fails or is flushed has a
 * completion in any case.
 *
 * With KRDMA_QUIRK_LATE_READS an entry is ended only by its own completion, so
 * move only completed entries at the head of the posted list. A READ without a
 * completion ends in krdma_req_end().
 */
static void krdma_wr_cut_locked(struct krdma_conn *conn, struct krdma_wr *kwr,
				struct list_head *over)
{
	struct krdma_wr *next;

	lockdep_assert_held(&conn->lock);
	if (!krdma_has_quirk(conn, KRDMA_QUIRK_LATE_READS)) {
		list_cut_position(over, &conn->sq.posted, &kwr->link);
		return;
	}
	list_for_each_entry_safe(kwr, next, &conn->sq.posted, link) {
		if (!kwr->over)
			return;
		list_move_tail(&kwr->link, over);
	}
}

static void krdma_wr_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct krdma_wr *kwr = container_of(wc->wr_cqe, struct krdma_wr, cqe);
	struct krdma_conn *conn = kwr->conn;
	int status = krdma_wr_errno(conn, wc->status);
	unsigned long flags;
	LIST_HEAD(over);
	bool space;

	spin_lock_irqsave(&conn->lock, flags);
	if (kwr->op && status && wc->status != IB_WC_WR_FLUSH_ERR)
		kwr->op->refused = true;
	kwr->status = status;
	kwr->over = true;
	krdma_wr_cut_locked(conn, kwr, &over);
	krdma_wr_retire_locked(conn, &over);
	krdma_req_kick_locked(conn);
	space = krdma_space_begin_locked(conn);
	krdma_conn_wake(conn);
	spin_unlock_irqrestore(&conn->lock, flags);
	krdma_wr_finish(&over);
	if (space)
		krdma_space_tell(conn);
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
 * @kwr: entry in a request
 * @conn: connection on which it will be posted
 * @op: operation to which the entry belongs; NULL: request of krdma_post(), or
 *	internal message
 * @kind: &enum krdma_opcode or &enum krdma_wr_kind, for the counters
 */
void krdma_wr_init(struct krdma_wr *kwr, struct krdma_conn *conn,
		   struct krdma_op *op, u8 kind)
{
	*kwr = (struct krdma_wr){
		.cqe.done = krdma_wr_done,
		.conn = conn,
		.op = op,
		.slots = 1,
		.kind = kind,
	};
}

/**
 * krdma_reads_fit_locked - check whether an entry with READs may be posted
 * @conn: established connection in message mode
 * @kwr: the entry
 *
 * With KRDMA_QUIRK_BLOCKED_READS the number of READs in flight is limited here,
 * and requests that must not overtake READs wait, see
 * krdma_req_is_fenced_locked().
 *
 * A blocking call and a long message may use the last READ slot, so that a
 * steady stream of READs of krdma_post() cannot starve them. An entry that
 * needs more slots than exist is posted when no other READ is in flight.
 *
 * Context: any, @conn->lock held.
 * Return: true if the entry may be posted; false if it must wait.
 */
bool krdma_reads_fit_locked(struct krdma_conn *conn, const struct krdma_wr *kwr)
{
	u32 max;

	lockdep_assert_held(&conn->lock);
	if (!krdma_has_quirk(conn, KRDMA_QUIRK_BLOCKED_READS) ||
	    !conn->sq.reads)
		return true;
	if (!conn->sq.max_reads)
		conn->sq.max_reads = krdma_qp_reads(conn);
	max = conn->sq.max_reads;
	if (!kwr->op && max > 1)
		max--;
	return conn->sq.reads + kwr->slots <= max;
}
