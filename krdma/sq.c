// SPDX-License-Identifier: GPL-2.0
/*
 * The send queue: posting, completing, waiting.
 *
 * An entry (struct krdma_wr) is one work request, or the several of a request;
 * see req.c. From the post on it is on krdma_conn.posted, in the order of the
 * send queue, until a completion takes it off. Who takes it off calls its done,
 * so that comes exactly once.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/mm.h>
#include <linux/slab.h>

#include "msg.h"
#include "trace.h"

/* What needs nobody but the own adapter takes much less. */
#define KRDMA_OP_SETTLE_MS 500

/**
 * krdma_op_alloc_wrs - something to wait for, with work requests
 * @n: how many, in krdma_op.wrs
 *
 * Return: with the waiting task's reference, or NULL.
 */
struct krdma_op *krdma_op_alloc_wrs(u32 n)
{
	struct krdma_op *op = kvzalloc(struct_size(op, wrs, n), GFP_KERNEL);

	if (op)
		refcount_set(&op->ref, 1);
	return op;
}

/**
 * krdma_op_alloc - something to wait for
 *
 * Return: with the waiting task's reference, or NULL.
 */
struct krdma_op *krdma_op_alloc(void)
{
	return krdma_op_alloc_wrs(0);
}

/**
 * krdma_op_put - drop a reference
 * @op: may be NULL
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

	/* Pairs with krdma_op_finish_locked(): then error can be read. */
	return !smp_load_acquire(&op->pending);
}

/* For waits that only the end of the connection ends. */
static bool krdma_never(struct krdma_conn *conn, const void *arg)
{
	return false;
}

/**
 * krdma_op_wait - wait until all work requests of an operation have completed
 * @conn: connection
 * @op: operation; the caller keeps its reference
 * @until: time limit
 *
 * Return: 0 all succeeded; else an errno, and if work requests may still be in
 * flight it is the caller's business to abort the connection.
 */
int krdma_op_wait(struct krdma_conn *conn, struct krdma_op *op,
		  unsigned long until)
{
	int ret = krdma_conn_wait_op(conn, krdma_op_is_done, op, until);

	if (ret || !op->error)
		return ret;
	/* A flushed request says nothing; why the connection ended does. */
	krdma_conn_wait(conn, krdma_never, NULL,
			krdma_deadline(KRDMA_QP_REASON_MS));
	return krdma_last_error(&conn->cb) ?: -ECONNRESET;
}

/**
 * krdma_op_settle - let what has been posted come to its end, killed or not
 * @conn: connection; ends if that takes longer
 * @op: operation; the caller keeps its reference
 * @until: time limit; a moment more is tolerated, as it is of who is killed,
 *	for what is posted cannot be called back
 *
 * Return: 0 all succeeded; or an errno, and the connection is over, or about to.
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

/* What ends a connection. A flush does not: something else did. */
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
 * krdma_qp_failed - a work request completed with an error
 * @conn: connection; ends, unless it is closing already
 * @status: of the completion
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
	pr_info_ratelimited("%pISpc: work request failed: %s\n", &conn->peer,
			    ib_wc_status_msg(status));
	if (status == IB_WC_LOC_QP_OP_ERR)
		krdma_conn_abort(conn, krdma_qp_fatal_errno(conn));
	else
		krdma_conn_abort(conn, krdma_wc_errno(status));
}

/**
 * krdma_wc_failed - tell krdma that a work request of raw mode failed
 * @cb: raw-mode connection
 * @status: of the completion
 *
 * An owner who does nothing but wait for his completions would wait for ever
 * if the queue pair failed and nothing said so: an rxe that cannot give a
 * packet to its interface flushes what is posted, without an event or a
 * completion that tells why (seen on 6.12 and 7.3). With this the connection
 * ends: at once, with -ETIMEDOUT if the peer did not answer, -ENOBUFS if it had
 * no receive, -EACCES if it refused the access, or -EIO (on iWARP -ECONNRESET
 * where that is how a closed TCP connection shows). For IB_WC_WR_FLUSH_ERR a
 * second later, and only if nothing else has ended it by then. The closing
 * callback follows. A connection that is over already stays as it is.
 *
 * Context: any; the completion handler is where it belongs.
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

/* Undo krdma_reads_posted_locked(). */
static void krdma_reads_over_locked(struct krdma_conn *conn,
				    const struct krdma_wr *kwr)
{
	lockdep_assert_held(&conn->lock);
	if (kwr->kind != KRDMA_READ)
		return;
	WRITE_ONCE(conn->reads, conn->reads - kwr->slots);
	if (!kwr->op)
		WRITE_ONCE(conn->reads_over, conn->reads_over + 1);
}

/* Entries that are over, taken off @conn->posted. */
static void krdma_wr_retire_locked(struct krdma_conn *conn,
				   struct list_head *over)
{
	struct krdma_wr *kwr;

	lockdep_assert_held(&conn->lock);
	list_for_each_entry(kwr, over, link) {
		krdma_stats_done_locked(conn, kwr, kwr->status);
		if (!kwr->status)
			krdma_alive_heard_locked(conn, kwr);
		krdma_reads_over_locked(conn, kwr);
		if (!kwr->reserved)
			conn->sq_avail += kwr->slots;
		if (kwr->bulk)
			conn->bulk -= kwr->len;
		if (kwr->op)
			krdma_op_finish_locked(kwr->op, kwr->status);
	}
}

/* Without a lock, in order. */
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
 * krdma_wr_fail_all - end entries that nothing will complete any more
 * @wrs: of a connection that is drained; nobody else can reach them
 * @error: what they end with, if nothing else is known
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
 * Why the connection ends is what a request ends with, too: this failure if it
 * was the first. A flush says nothing about the cause, which may come later.
 */
static int krdma_wr_errno(struct krdma_conn *conn, enum ib_wc_status status)
{
	if (status == IB_WC_SUCCESS)
		return 0;
	krdma_qp_failed(conn, status);
	return krdma_last_error(&conn->cb) ?: -ECONNRESET;
}

/*
 * siw, 6.1 to 7.3 at least, completes a READ when its answer is there, and what
 * was posted after it as soon as it is sent (siw_qp_sq_process()): a PONG would
 * end the READs before it. So there each entry ends itself, in its turn. It is
 * signalled, or fails; a READ that siw forgets ends in krdma_req_end().
 */
static void krdma_wr_cut_siw_locked(struct krdma_conn *conn,
				    struct list_head *over)
{
	struct krdma_wr *kwr, *next;

	lockdep_assert_held(&conn->lock);
	list_for_each_entry_safe(kwr, next, &conn->posted, link) {
		if (!kwr->over)
			return;
		list_move_tail(&kwr->link, over);
	}
}

/*
 * Work requests complete in order, and of those before a signalled one that
 * succeeded nothing more is heard: so a completion ends all entries up to its
 * own. What is flushed or fails has a completion in any case.
 */
static void krdma_wr_cut_locked(struct krdma_conn *conn, struct krdma_wr *kwr,
				int status, struct list_head *over)
{
	lockdep_assert_held(&conn->lock);
	kwr->status = status;
	kwr->over = true;
	if (conn->is_siw)
		krdma_wr_cut_siw_locked(conn, over);
	else
		list_cut_position(over, &conn->posted, &kwr->link);
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
	krdma_pull_kick_locked(conn);
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
 * struct krdma_siw_read - where the completion of a READ goes on siw
 * @cqe: its completion
 * @kwr: its entry, NULL: it had its completion
 *
 * siw, 6.1 to 7.3 at least, flushes a READ twice that is about to be sent: it
 * is on the queue of READs that wait for their answer, and also the one to be
 * transmitted (siw_activate_tx_from_sq(), siw_sq_flush()). By the second time
 * the entry is its owner's again, who may have freed it. So what siw is given is
 * this, which goes with the connection.
 */
struct krdma_siw_read {
	struct ib_cqe cqe;
	struct krdma_wr *kwr;
};

static void krdma_siw_read_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct krdma_siw_read *read =
		container_of(wc->wr_cqe, struct krdma_siw_read, cqe);
	struct krdma_wr *kwr = xchg(&read->kwr, NULL);

	if (kwr)
		krdma_wr_complete(kwr, wc->status);
}

/*
 * The second completion follows the first at once. In between others may post
 * at most as many READs as fit into the send queue: twice that many are enough
 * for none to be used again so soon.
 */
static u32 krdma_siw_reads(const struct krdma_conn *conn)
{
	return 2 * conn->send_depth;
}

/**
 * krdma_siw_begin - make what READs need on siw
 * @conn: connection in message mode with a new QP
 *
 * Context: process, @conn->setup held.
 * Return: 0 or -ENOMEM; freed with the connection.
 */
int krdma_siw_begin(struct krdma_conn *conn)
{
	u32 i;

	lockdep_assert_held(&conn->setup);
	if (!conn->is_siw)
		return 0;
	conn->siw_reads = kvcalloc(krdma_siw_reads(conn),
				   sizeof(*conn->siw_reads), GFP_KERNEL);
	if (!conn->siw_reads)
		return -ENOMEM;
	for (i = 0; i < krdma_siw_reads(conn); i++)
		conn->siw_reads[i].cqe.done = krdma_siw_read_done;
	return 0;
}

/**
 * krdma_wr_cqe_locked - which completion a work request gets
 * @conn: connection
 * @kwr: entry that it is the last one of
 * @opcode: what it does
 *
 * Context: any, @conn->lock held.
 * Return: for its wr_cqe.
 */
struct ib_cqe *krdma_wr_cqe_locked(struct krdma_conn *conn, struct krdma_wr *kwr,
				   enum ib_wr_opcode opcode)
{
	struct krdma_siw_read *read;

	lockdep_assert_held(&conn->lock);
	if (opcode != IB_WR_RDMA_READ || !conn->siw_reads)
		return &kwr->cqe;
	read = &conn->siw_reads[conn->siw_next];
	conn->siw_next = (conn->siw_next + 1) % krdma_siw_reads(conn);
	read->kwr = kwr;
	return &read->cqe;
}

/**
 * krdma_wr_part_done - completion of work requests that end no entry
 * @cq: completion queue
 * @wc: completion; only failures have one
 */
void krdma_wr_part_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct krdma_conn *conn =
		container_of(wc->wr_cqe, struct krdma_conn, part_cqe);

	if (wc->status != IB_WC_SUCCESS)
		krdma_qp_failed(conn, wc->status);
}

/**
 * krdma_wr_init - prepare an entry of the send queue
 * @kwr: inside of what the caller allocated
 * @conn: where it will be posted
 * @op: who waits, NULL: nobody
 * @kind: &enum krdma_opcode or &enum krdma_wr_kind, for the counters
 * @done: frees what @kwr is in, after completion; any context
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

/* Later the QP may be gone, and nothing is posted any more. */
static u32 krdma_reads_max_locked(struct krdma_conn *conn)
{
	lockdep_assert_held(&conn->lock);
	if (conn->cb.state != KRDMA_ESTABLISHED)
		return 1;
	if (!conn->max_reads)
		conn->max_reads = krdma_query_reads(conn);
	return conn->max_reads;
}

/**
 * krdma_reads_fit_locked - may an entry that READs be posted
 * @conn: connection in message mode
 * @kwr: the entry
 *
 * siw, 6.1 to 7.3 at least, has one place for what it sends next. What has to
 * wait for the answer to a READ waits there: because of a fence, or because it
 * is a READ and there are too many in flight. Answers to the peer's READs have
 * to go through there, too (siw_activate_tx_from_sq(), siw_init_rresp()), so two
 * ends that wait there for each other do it for ever. So READs wait here, and
 * what must not overtake them does, see krdma_req_is_fenced_locked().
 *
 * Who waits himself may have the last one, or requests that never end would keep
 * him from his turn. What was cut into more than there are goes alone.
 *
 * Context: any, @conn->lock held.
 * Return: false if it has to wait.
 */
bool krdma_reads_fit_locked(struct krdma_conn *conn, const struct krdma_wr *kwr)
{
	u32 max;

	lockdep_assert_held(&conn->lock);
	if (!conn->is_siw || !conn->reads)
		return true;
	max = krdma_reads_max_locked(conn);
	if (!kwr->op && max > 1)
		max--;
	return conn->reads + kwr->slots <= max;
}

/**
 * krdma_reads_posted_locked - count an entry if it READs
 * @conn: connection in message mode
 * @kwr: on the send queue
 *
 * Context: any, @conn->lock held.
 */
void krdma_reads_posted_locked(struct krdma_conn *conn,
			       const struct krdma_wr *kwr)
{
	lockdep_assert_held(&conn->lock);
	if (kwr->kind != KRDMA_READ)
		return;
	WRITE_ONCE(conn->reads, conn->reads + kwr->slots);
	if (!kwr->op)
		WRITE_ONCE(conn->reads_left, conn->reads_left + 1);
}

static bool krdma_qp_has_room_locked(struct krdma_conn *conn,
				     const struct krdma_wr *kwr)
{
	lockdep_assert_held(&conn->lock);
	return conn->sq_avail &&
	       (kwr->kind != KRDMA_READ || krdma_reads_fit_locked(conn, kwr));
}

/* Is there room on the send queue? For krdma_conn_wait(). */
static bool krdma_qp_has_room(struct krdma_conn *conn, const void *arg)
{
	const struct krdma_wr *kwr = arg;
	unsigned long flags;
	bool has;

	if (!conn->is_siw || kwr->kind != KRDMA_READ)
		return READ_ONCE(conn->sq_avail);
	spin_lock_irqsave(&conn->lock, flags);
	has = krdma_qp_has_room_locked(conn, kwr);
	spin_unlock_irqrestore(&conn->lock, flags);
	return has;
}

/**
 * krdma_qp_post_errno - what a failed post means
 * @ret: of ib_post_send() or ib_post_recv()
 *
 * Return: errno.
 */
int krdma_qp_post_errno(int ret)
{
	/* siw: the peer has closed, and the CM's event is on its way. */
	return ret == -ENOTCONN ? -ECONNRESET : ret;
}

/**
 * krdma_qp_kept_errno - what the failed post of what was taken means
 * @ret: of an ib_post_send() that named no bad work request
 *
 * siw, 6.1 to 7.3 at least, puts a work request on the send queue and only then
 * looks whether it can be sent: not a READ to a peer that serves none
 * (siw_activate_tx_from_sq()). It stays there, and holds up all behind it, until
 * the QP is flushed. Its completion comes with that: it is not ours before.
 *
 * Return: errno, for the end of the connection.
 */
int krdma_qp_kept_errno(int ret)
{
	return ret == -EINVAL ? -EOPNOTSUPP : krdma_qp_post_errno(ret);
}

/**
 * krdma_qp_post_locked - post a work request
 * @conn: connection
 * @kwr: its completion, from krdma_wr_init()
 * @wr: the request; wr_cqe and the signal flag are set here
 *
 * The state is checked under the same lock with which it moves to CLOSING:
 * nothing is posted once the drain may have begun.
 *
 * What siw keeps though it cannot send it counts as posted, and the connection
 * ends: see krdma_qp_kept_errno().
 *
 * Context: any, @conn->lock held.
 * Return: 0; -EAGAIN no room; the reason why the connection is over;
 * -ESHUTDOWN it is being closed, and @kwr is late; -ENOTCONN; or what the driver
 * said. On error @kwr was not posted.
 */
int krdma_qp_post_locked(struct krdma_conn *conn, struct krdma_wr *kwr,
			 struct ib_send_wr *wr)
{
	const struct ib_send_wr *bad = NULL;
	int ret;

	lockdep_assert_held(&conn->lock);
	if (conn->cb.state != KRDMA_ESTABLISHED)
		return conn->error ?: -ENOTCONN;
	if (kwr->late && conn->leaving)
		return -ESHUTDOWN;
	if (!kwr->reserved && !krdma_qp_has_room_locked(conn, kwr))
		return -EAGAIN;
	wr->wr_cqe = krdma_wr_cqe_locked(conn, kwr, wr->opcode);
	wr->send_flags |= IB_SEND_SIGNALED;
	kwr->signalled = true;
	kwr->over = false;
	list_add_tail(&kwr->link, &conn->posted);
	ret = ib_post_send(conn->cb.qp, wr, &bad);
	if (ret && !bad && conn->is_siw) {
		krdma_conn_abort_locked(conn, krdma_qp_kept_errno(ret));
	} else if (ret) {
		list_del(&kwr->link);
		return krdma_qp_post_errno(ret);
	}
	krdma_stats_posted_locked(conn, kwr);
	krdma_reads_posted_locked(conn, kwr);
	if (!kwr->reserved)
		conn->sq_avail--;
	if (kwr->op) {
		kwr->op->pending++;
		refcount_inc(&kwr->op->ref);
	}
	return 0;
}

/**
 * krdma_qp_post - wait for room and post a work request
 * @conn: connection
 * @kwr: its completion
 * @wr: the request
 * @until: time limit
 *
 * Bottom halves are off around the post: rxe up to 6.x then runs its tasklet
 * at once when they are enabled again, instead of waking ksoftirqd, which
 * takes the best part of 100 µs away.
 *
 * Context: process.
 * Return: 0 or -errno; on error @kwr was not posted.
 */
int krdma_qp_post(struct krdma_conn *conn, struct krdma_wr *kwr,
		  struct ib_send_wr *wr, unsigned long until)
{
	unsigned long flags;
	int ret;

	do {
		ret = krdma_conn_wait(conn, krdma_qp_has_room, kwr, until);
		if (ret)
			return ret;
		local_bh_disable();
		spin_lock_irqsave(&conn->lock, flags);
		ret = krdma_qp_post_locked(conn, kwr, wr);
		spin_unlock_irqrestore(&conn->lock, flags);
		local_bh_enable();
	} while (ret == -EAGAIN);
	return ret;
}
