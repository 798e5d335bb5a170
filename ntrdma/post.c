// SPDX-License-Identifier: GPL-2.0
/*
 * Work requests that consumers post.
 *
 * A request is copied into the queue, so that the caller's list is not used
 * after the post. A request that must not be sent is also accepted: it completes
 * with its error when it is the oldest one, as the verbs demand. After the
 * post, the lane sends at once if it can. No completion is delivered within a
 * post.
 */
#include <linux/etherdevice.h>

#include "emulate.h"
#include "verbs.h"

static int ntrdma_wqe_inline(struct ntrdma_sq *sq, struct ntrdma_wqe *wqe,
			     const struct ib_send_wr *wr)
{
	u32 at = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++) {
		const struct ib_sge *sge = &wr->sg_list[i];

		if (sge->length > sq->max_inline - at)
			return -EINVAL;
		memcpy(wqe->data + at, (void *)(uintptr_t)sge->addr,
		       sge->length);
		at += sge->length;
	}
	wqe->is_inline = true;
	wqe->total = at;
	return 0;
}

/* Copy the list of SGEs, or the data of an inline request. */
static int ntrdma_wqe_sges(struct ntrdma_sq *sq, struct ntrdma_wqe *wqe,
			   const struct ib_send_wr *wr)
{
	u64 total = 0;
	int i;

	if (wqe->op & NTRDMA_OP_LOCAL)
		return 0;
	if (wr->num_sge < 0 || wr->num_sge > sq->max_sge)
		return -EINVAL;
	if (wr->send_flags & IB_SEND_INLINE &&
	    !(wqe->op & (NTRDMA_OP_READ | NTRDMA_OP_ATOMIC)))
		return ntrdma_wqe_inline(sq, wqe, wr);
	for (i = 0; i < wr->num_sge; i++) {
		wqe->sge[i] = wr->sg_list[i];
		total += wr->sg_list[i].length;
	}
	if (total > NTRDMA_MESSAGE_MAX)
		return -EINVAL;
	wqe->num_sge = wr->num_sge;
	wqe->total = total;
	return 0;
}

static void ntrdma_wqe_atomic(struct ntrdma_wqe *wqe,
			      const struct ib_send_wr *wr)
{
	const struct ib_atomic_wr *atomic = atomic_wr(wr);

	wqe->remote_addr = atomic->remote_addr;
	wqe->rkey = atomic->rkey;
	wqe->operand[0] = atomic->compare_add;
	wqe->operand[1] = atomic->swap;
	/* A frame with such an address would end the session. */
	if (!IS_ALIGNED(wqe->remote_addr, sizeof(u64)))
		wqe->status = IB_WC_REM_INV_REQ_ERR;
	else if (wqe->total < sizeof(u64))
		wqe->status = IB_WC_LOC_LEN_ERR;
}

static void ntrdma_wqe_ud(struct ntrdma_qp *qp, struct ntrdma_wqe *wqe,
			  const struct ib_send_wr *wr)
{
	const struct ib_ud_wr *ud = ud_wr(wr);
	const struct ntrdma_ah *ah = to_ntrdma_ah(ud->ah);

	wqe->remote_qpn = ud->remote_qpn & NTRDMA_NUMBER_MASK;
	/* The highest bit stands for the Q_Key of the QP. */
	wqe->qkey = ud->remote_qkey & BIT(31) ? qp->attr.qkey :
						ud->remote_qkey;
	ether_addr_copy(wqe->ah.mac, ah->mac);
	wqe->ah.vlan = ah->vlan;
	wqe->ah.sgid = ah->sgid;
	wqe->ah.dgid = ah->dgid;
}

/* Copy what depends on the opcode. */
static void ntrdma_wqe_fields(struct ntrdma_qp *qp, struct ntrdma_wqe *wqe,
			      const struct ib_send_wr *wr)
{
	if (wr->opcode == IB_WR_REG_MR) {
		wqe->mr = to_ntrdma_mr(reg_wr(wr)->mr);
		wqe->key = reg_wr(wr)->key;
		wqe->access = reg_wr(wr)->access;
		return;
	}
	if (qp->ib.qp_type != IB_QPT_RC) {
		ntrdma_wqe_ud(qp, wqe, wr);
	} else if (wqe->op & NTRDMA_OP_ATOMIC) {
		ntrdma_wqe_atomic(wqe, wr);
	} else if (wqe->op & (NTRDMA_OP_READ | NTRDMA_OP_WRITE)) {
		wqe->remote_addr = rdma_wr(wr)->remote_addr;
		wqe->rkey = rdma_wr(wr)->rkey;
	}
	/* Without a READ in flight, such a request would wait endlessly. */
	if (wqe->op & (NTRDMA_OP_READ | NTRDMA_OP_ATOMIC) &&
	    !qp->attr.max_rd_atomic && !wqe->status)
		wqe->status = IB_WC_LOC_QP_OP_ERR;
	/* The bytes of immediate data are those of the consumer. */
	if (wqe->op & NTRDMA_OP_IMM)
		wqe->imm = le32_to_cpu((__force __le32)wr->ex.imm_data);
	else if (wqe->op & NTRDMA_OP_INV || wr->opcode == IB_WR_LOCAL_INV)
		wqe->imm = wr->ex.invalidate_rkey;
}

static void ntrdma_wqe_number(struct ntrdma_sq *sq, struct ntrdma_wqe *wqe)
{
	if (wqe->op & NTRDMA_OP_LOCAL)
		return;
	wqe->msn = sq->post_msn;
	sq->by_msn[wqe->msn & (sq->size - 1)] = sq->head;
	sq->post_msn = ntrdma_msn_add(sq->post_msn, 1);
}

/**
 * ntrdma_sq_used - return how many entries of a send queue are occupied
 * @sq: queue
 *
 * With late_us=, a request that is not signalled occupies its entry until a
 * later request has a completion, as on adapters.
 *
 * Context: ntrdma_qp.lock is held.
 * Return: number of entries.
 */
u32 ntrdma_sq_used(const struct ntrdma_sq *sq)
{
	return sq->head - (ntrdma_late_us ? sq->kept : sq->tail);
}

/**
 * ntrdma_sq_is_full - check whether a send queue has no room for a request
 * @sq: queue
 *
 * Context: ntrdma_qp.lock is held.
 * Return: true if the queue has no room.
 */
bool ntrdma_sq_is_full(const struct ntrdma_sq *sq)
{
	return ntrdma_sq_used(sq) >= sq->max_wr;
}

/**
 * ntrdma_wqe_add - add a request to the send queue
 * @qp: QP in RTS or in the error state
 * @wr: request; its successor in the list is ignored
 *
 * Context: ntrdma_qp.lock is held.
 * Return: 0; -EINVAL: the request is invalid; -ENOMEM: the queue is full.
 */
int ntrdma_wqe_add(struct ntrdma_qp *qp, const struct ib_send_wr *wr)
{
	struct ntrdma_sq *sq = &qp->sq;
	struct ntrdma_wqe *wqe = &sq->wqe[sq->head & (sq->size - 1)];
	struct ib_sge *sge = wqe->sge;
	u32 op = ntrdma_op_flags(qp->ib.qp_type, wr->opcode);
	int err;

	lockdep_assert_held(&qp->lock);
	/* ib_drain_qp() posts a WRITE to any QP in the error state. */
	if (!op && qp->state != IB_QPS_ERR)
		return -EINVAL;
	if (ntrdma_sq_is_full(sq))
		return -ENOMEM;
	*wqe = (struct ntrdma_wqe){
		.wr_id = wr->wr_id,
		.opcode = wr->opcode,
		.op = op,
		.send_flags = wr->send_flags |
			      (sq->sig_all ? IB_SEND_SIGNALED : 0),
		.sge = sge,
		.data = (u8 *)sge,
	};
	if (qp->state == IB_QPS_ERR) {
		sq->head++;
		return 0;
	}
	err = ntrdma_wqe_sges(sq, wqe, wr);
	if (err)
		return err;
	if (qp->ib.qp_type != IB_QPT_RC && wqe->total > NTRDMA_UD_MAX)
		return -EINVAL;
	ntrdma_wqe_fields(qp, wqe, wr);
	ntrdma_wqe_number(sq, wqe);
	sq->head++;
	return 0;
}

/**
 * ntrdma_wqe_refused - add a request that fails when it is the oldest one
 * @qp: QP in RTS or in the error state
 * @wr_id: number of the request
 *
 * Context: ntrdma_qp.lock is held.
 * Return: 0; -ENOMEM: the queue is full.
 */
int ntrdma_wqe_refused(struct ntrdma_qp *qp, u64 wr_id)
{
	struct ntrdma_sq *sq = &qp->sq;
	struct ntrdma_wqe *wqe = &sq->wqe[sq->head & (sq->size - 1)];
	struct ib_sge *sge = wqe->sge;

	lockdep_assert_held(&qp->lock);
	if (ntrdma_sq_is_full(sq))
		return -ENOMEM;
	*wqe = (struct ntrdma_wqe){
		.wr_id = wr_id,
		.opcode = IB_WR_SEND,
		.op = NTRDMA_OP_SEND,
		.status = IB_WC_LOC_QP_OP_ERR,
		.sge = sge,
		.data = (u8 *)sge,
	};
	if (qp->state != IB_QPS_ERR)
		ntrdma_wqe_number(sq, wqe);
	sq->head++;
	return 0;
}

/**
 * ntrdma_post_send - post a list of requests
 * @ib: the core's QP
 * @wr: list
 * @bad: result: first request that was not posted
 *
 * Context: any, with or without interrupts. For the QP of a program: process.
 * Return: 0; -EINVAL: the QP is not in RTS or in the error state, or the request
 * is invalid, or not in the queue of the program; -ENOMEM: the queue is full.
 */
int ntrdma_post_send(struct ib_qp *ib, const struct ib_send_wr *wr,
		     const struct ib_send_wr **bad)
{
	struct ntrdma_qp *qp = to_ntrdma_qp(ib);
	enum ib_qp_state state;
	unsigned long flags;
	int err = 0;

	if (qp->sq.user) {
		*bad = wr;
		return wr ? -EINVAL : ntrdma_upost(qp);
	}
	spin_lock_irqsave(&qp->lock, flags);
	state = qp->state;
	if (state != IB_QPS_RTS && state != IB_QPS_ERR)
		err = -EINVAL;
	for (; wr && !err; wr = wr->next) {
		err = ntrdma_wqe_add(qp, wr);
		if (err)
			break;
	}
	if (state == IB_QPS_ERR)
		qp->flushing = true;
	spin_unlock_irqrestore(&qp->lock, flags);
	if (err)
		*bad = wr;
	if (state == IB_QPS_ERR)
		ntrdma_lane_finish(qp);
	else if (state == IB_QPS_RTS)
		ntrdma_lane_kick(qp);
	return err;
}

/*
 * After a NAK with RNR, notify the peer of new receives: the RNR timer of the
 * connection manager is 655 ms.
 *
 * Return true if the QP must be kicked.
 */
static bool ntrdma_end_rnr(struct ntrdma_qp *qp)
{
	lockdep_assert_held(&qp->lock);
	if (!qp->resp.starved)
		return false;
	qp->resp.starved = false;
	qp->resp.ready = true;
	qp->resp.ack = true;
	return true;
}

/**
 * ntrdma_qp_end_rnr - notify the requester of a new receive of an SRQ
 * @qp: QP that the caller holds
 *
 * Context: any; no lock is held.
 */
void ntrdma_qp_end_rnr(struct ntrdma_qp *qp)
{
	unsigned long flags;
	bool kick;

	spin_lock_irqsave(&qp->lock, flags);
	kick = ntrdma_end_rnr(qp);
	spin_unlock_irqrestore(&qp->lock, flags);
	if (kick)
		ntrdma_lane_kick(qp);
}

/**
 * ntrdma_post_recv - post a list of receives
 * @ib: the core's QP
 * @wr: list
 * @bad: result: first receive that was not posted
 *
 * Context: any, with or without interrupts.
 * Return: 0; -EINVAL: the QP is in RESET or has an SRQ, or the receive is
 * invalid; -ENOMEM: the queue is full.
 */
int ntrdma_post_recv(struct ib_qp *ib, const struct ib_recv_wr *wr,
		     const struct ib_recv_wr **bad)
{
	struct ntrdma_qp *qp = to_ntrdma_qp(ib);
	bool flush = false;
	bool kick = false;
	unsigned long flags;
	int err = 0;

	spin_lock_irqsave(&qp->lock, flags);
	if (qp->state == IB_QPS_RESET || qp->srq)
		err = -EINVAL;
	for (; wr && !err; wr = wr->next) {
		err = ntrdma_rq_post(&qp->rq, wr);
		if (err)
			break;
	}
	if (qp->state == IB_QPS_ERR) {
		qp->flushing = true;
		flush = true;
	} else {
		kick = ntrdma_end_rnr(qp);
	}
	spin_unlock_irqrestore(&qp->lock, flags);
	if (err)
		*bad = wr;
	if (flush)
		ntrdma_lane_finish(qp);
	else if (kick)
		ntrdma_lane_kick(qp);
	return err;
}
