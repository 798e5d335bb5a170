// SPDX-License-Identifier: GPL-2.0
/*
 * Work requests of programs.
 *
 * A program writes requests to a queue that it shares, and then posts an empty
 * list. Requests are copied from there to the send queue of the kernel, and are
 * handled like those of the kernel from then on. The program may use the entry of
 * a request again when the request has ended. So a program that follows the
 * rules never finds the send queue of the kernel full. The requests of another
 * program stay in its own queue until the next post.
 *
 * A program must not use requests that change the keys of regions, because the
 * kernel, not the program, registers its memory.
 */
#include "verbs.h"

/* Number of requests that are copied before the lock is released. */
#define NTRDMA_UPOST_BATCH	64U

/* uqueue.h has limits of its own, because it is pure. */
static_assert(NTRDMA_MAX_SGE <= NTRDMA_UWR_SGES);
static_assert(NTRDMA_MAX_INLINE <= NTRDMA_UWR_DATA);

/**
 * struct ntrdma_uwr_kernel - a request of a program, as a request of the kernel
 * @wr: request
 * @rdma: WRITE or READ
 * @atomic: atomic operation
 * @ud: datagram
 * @data: inline data
 * @ah: copy of the address handle of a datagram
 */
struct ntrdma_uwr_kernel {
	union {
		struct ib_send_wr wr;
		struct ib_rdma_wr rdma;
		struct ib_atomic_wr atomic;
		struct ib_ud_wr ud;
	};
	struct ib_sge data;
	struct ntrdma_ah ah;
};

static void ntrdma_upost_memory(struct ntrdma_uwr_kernel *to,
				struct ntrdma_uwr *uwr)
{
	if (uwr->wr.send_flags & IB_SEND_INLINE) {
		to->data.addr = (uintptr_t)uwr->data;
		to->data.length = uwr->bytes;
		to->wr.sg_list = &to->data;
		to->wr.num_sge = 1;
	} else {
		to->wr.sg_list = uwr->sge;
		to->wr.num_sge = uwr->num_sge;
	}
}

/* Return false if the program has no such address handle. */
static bool ntrdma_upost_ud(struct ntrdma_qp *qp, struct ntrdma_uwr_kernel *to,
			    const struct ntrdma_uwr *uwr)
{
	to->ud.remote_qpn = uwr->wr.wr.ud.remote_qpn;
	to->ud.remote_qkey = uwr->wr.wr.ud.remote_qkey;
	to->ud.ah = &to->ah.ib;
	return ntrdma_ah_get(qp->ib.pd, uwr->wr.wr.ud.ah_num, &to->ah);
}

/* Return false if the request is not for programs, or not for this QP. */
static bool ntrdma_upost_convert(struct ntrdma_qp *qp,
				 struct ntrdma_uwr_kernel *to,
				 struct ntrdma_uwr *uwr)
{
	u32 op = ntrdma_op_flags(qp->ib.qp_type, uwr->wr.opcode);
	u32 answered = op & (NTRDMA_OP_READ | NTRDMA_OP_ATOMIC);

	if (!op || op & NTRDMA_OP_KERNEL ||
	    (answered && uwr->wr.send_flags & IB_SEND_INLINE))
		return false;
	to->wr.wr_id = uwr->wr.wr_id;
	to->wr.opcode = uwr->wr.opcode;
	to->wr.send_flags = uwr->wr.send_flags;
	to->wr.ex.invalidate_rkey = uwr->wr.ex.invalidate_rkey;
	ntrdma_upost_memory(to, uwr);
	if (qp->ib.qp_type != IB_QPT_RC)
		return ntrdma_upost_ud(qp, to, uwr);
	if (op & NTRDMA_OP_ATOMIC) {
		to->atomic.remote_addr = uwr->wr.wr.atomic.remote_addr;
		to->atomic.rkey = uwr->wr.wr.atomic.rkey;
		to->atomic.compare_add = uwr->wr.wr.atomic.compare_add;
		to->atomic.swap = uwr->wr.wr.atomic.swap;
	} else if (op & (NTRDMA_OP_READ | NTRDMA_OP_WRITE)) {
		to->rdma.remote_addr = uwr->wr.wr.rdma.remote_addr;
		to->rdma.rkey = uwr->wr.wr.rdma.rkey;
	}
	return true;
}

/*
 * Add the next request of the program to the send queue. A request that the
 * device does not accept fails when it is the oldest one. Return false if there
 * is none.
 */
static bool ntrdma_upost_one(struct ntrdma_qp *qp)
{
	struct ntrdma_sq *sq = &qp->sq;
	struct ntrdma_uwr *uwr = sq->copy;
	struct ntrdma_uwr_kernel wr = {};
	const void *elem;

	lockdep_assert_held(&qp->lock);
	if (ntrdma_sq_is_full(sq))
		return false;
	elem = ntrdma_uqueue_next(sq->user);
	if (!elem)
		return false;
	if (ntrdma_uwr_read(uwr, elem, sq->max_sge, sq->max_inline) ||
	    !ntrdma_upost_convert(qp, &wr, uwr) || ntrdma_wqe_add(qp, &wr.wr))
		ntrdma_wqe_refused(qp, uwr->wr.wr_id);
	ntrdma_uqueue_take(sq->user);
	return true;
}

/*
 * Add at most @left requests to the send queue. Return how many more are to be
 * added.
 */
static u32 ntrdma_upost_batch(struct ntrdma_qp *qp, u32 left)
{
	u32 n = min(left, NTRDMA_UPOST_BATCH);

	for (; n; n--, left--)
		if (!ntrdma_upost_one(qp))
			return 0;
	return left;
}

/*
 * Post a batch of at most @left requests. Return how many more are to be posted,
 * or -EINVAL.
 */
static int ntrdma_upost_some(struct ntrdma_qp *qp, u32 left)
{
	enum ib_qp_state state;
	unsigned long flags;
	int ret = -EINVAL;

	spin_lock_irqsave(&qp->lock, flags);
	state = qp->state;
	if (state == IB_QPS_RTS || state == IB_QPS_ERR) {
		ret = ntrdma_upost_batch(qp, left);
		qp->flushing |= state == IB_QPS_ERR;
	} else {
		ntrdma_uqueue_drop(qp->sq.user);
	}
	spin_unlock_irqrestore(&qp->lock, flags);
	if (state == IB_QPS_ERR)
		ntrdma_lane_finish(qp);
	else if (state == IB_QPS_RTS)
		ntrdma_lane_kick(qp);
	return ret;
}

/**
 * ntrdma_upost - post the requests in the queue of a program
 * @qp: QP
 *
 * In a state in which no request may be posted, the requests are dropped,
 * because the program learns that the post has failed. The program may add
 * requests all the time; only those that are there at the beginning are posted.
 * Another thread may reset the QP, so the post holds it.
 *
 * Context: process; no lock is held.
 * Return: 0; -EINVAL: the QP is not in RTS or in the error state.
 */
int ntrdma_upost(struct ntrdma_qp *qp)
{
	int left;

	if (!ntrdma_qp_hold(qp))
		return -EINVAL;
	left = ntrdma_uqueue_count(qp->sq.user);
	do {
		left = ntrdma_upost_some(qp, left);
		cond_resched();
	} while (left > 0);
	ntrdma_qp_put(qp);
	return left;
}

/**
 * ntrdma_sq_release - let a program use the entries of requests that have ended
 * @sq: send queue
 *
 * Context: ntrdma_qp.lock is held.
 */
void ntrdma_sq_release(struct ntrdma_sq *sq)
{
	if (sq->user)
		ntrdma_uqueue_release(sq->user, ntrdma_sq_used(sq));
}

/**
 * ntrdma_upost_tick - look at the queues of a program
 * @qp: QP that the caller holds
 *
 * A program posts receives without a call. A peer that waits for one repeats its
 * message after the time of the NAK. The connection manager of programs leaves
 * this time at 655 ms, so tell the peer earlier. Receives that are posted to a QP
 * in the error state are flushed here.
 *
 * Context: bottom halves are disabled; no lock is held.
 */
void ntrdma_upost_tick(struct ntrdma_qp *qp)
{
	struct ntrdma_rq *rq = &qp->rq;
	bool flush = false;
	unsigned long flags;
	bool found;

	if (qp->srq)
		ntrdma_srq_tick(qp->srq);
	if (!rq->user)
		return;
	spin_lock_irqsave(&qp->lock, flags);
	spin_lock(&rq->lock);
	found = !ntrdma_rq_is_empty(rq);
	spin_unlock(&rq->lock);
	if (found && qp->state == IB_QPS_ERR) {
		qp->flushing = true;
		flush = true;
	}
	spin_unlock_irqrestore(&qp->lock, flags);
	if (flush)
		ntrdma_lane_finish(qp);
	else if (found)
		ntrdma_qp_end_rnr(qp);
}
