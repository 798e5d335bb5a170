// SPDX-License-Identifier: GPL-2.0
/*
 * Completions of a QP: answers of the peer to its requests, and the flush of a
 * QP that has failed.
 *
 * All functions run in the poll of the QP's lane. Requests complete in the order
 * in which they were posted. Completions are added to the CQ under
 * ntrdma_qp.lock, and the consumer is notified after this lock is released,
 * because its handler may poll the CQ and post.
 */
#include "verbs.h"

/* Number of requests that are flushed before the lock is released. */
#define NTRDMA_FLUSH_BATCH	64

static void ntrdma_wc_add(struct ntrdma_cq *cq, const struct ib_wc *wc,
			  bool solicited, bool *notify,
			  struct ntrdma_note *note)
{
	if (!ntrdma_cq_add(cq, wc, solicited, notify))
		note->full = cq;
}

/**
 * ntrdma_wc_send - complete a request
 * @qp: QP
 * @wqe: request
 * @status: status
 * @note: result: consumers to notify
 *
 * It is the request at ntrdma_sq.tail, which moves to the next one. A request
 * that succeeds and is not signalled has no completion. A program that sees the
 * completion may post again, so its queue has room before.
 *
 * Context: ntrdma_qp.lock is held.
 */
void ntrdma_wc_send(struct ntrdma_qp *qp, const struct ntrdma_wqe *wqe,
		    enum ib_wc_status status, struct ntrdma_note *note)
{
	struct ib_wc wc = {
		.wr_id = wqe->wr_id,
		.status = status,
		.opcode = ntrdma_op_wc(wqe->opcode),
		.qp = &qp->ib,
		.byte_len = wqe->total,
	};
	bool signalled = status || wqe->send_flags & IB_SEND_SIGNALED;

	lockdep_assert_held(&qp->lock);
	qp->sq.tail++;
	if (signalled)
		qp->sq.kept = qp->sq.tail;
	ntrdma_sq_release(&qp->sq);
	if (!signalled)
		return;
	ntrdma_wc_add(to_ntrdma_cq(qp->ib.send_cq), &wc, false, &note->send_cq,
		      note);
}

/**
 * ntrdma_wc_recv - complete the receive of the current message
 * @qp: QP whose responder has a receive
 * @wc: completion without the members that depend on the QP and the receive
 * @solicited: it is a solicited event
 * @note: result: consumers to notify
 *
 * Context: ntrdma_qp.lock is held.
 */
void ntrdma_wc_recv(struct ntrdma_qp *qp, struct ib_wc *wc, bool solicited,
		    struct ntrdma_note *note)
{
	lockdep_assert_held(&qp->lock);
	wc->wr_id = qp->resp.recv.wr_id;
	wc->qp = &qp->ib;
	wc->port_num = 1;
	if (qp->ib.qp_type == IB_QPT_RC)
		wc->src_qp = qp->attr.dest_qp_num;
	qp->resp.has_recv = false;
	ntrdma_wc_add(to_ntrdma_cq(qp->ib.recv_cq), wc, solicited,
		      &note->recv_cq, note);
}

/* A CQ without room has lost a completion, so the QP is unusable. */
static void ntrdma_cq_overrun(struct ntrdma_qp *qp, struct ntrdma_cq *cq)
{
	struct ib_event event = {
		.device = &qp->dev->ib,
		.element.cq = &cq->ib,
		.event = IB_EVENT_CQ_ERR,
	};

	if (cq->ib.event_handler && !xchg(&cq->reported, true))
		cq->ib.event_handler(&event, cq->ib.cq_context);
	ntrdma_qp_fail(qp, IB_WC_WR_FLUSH_ERR, IB_EVENT_QP_FATAL);
}

/**
 * ntrdma_notify - notify consumers of completions
 * @qp: QP
 * @note: consumers
 *
 * Context: bottom halves are disabled; no lock is held.
 */
void ntrdma_notify(struct ntrdma_qp *qp, const struct ntrdma_note *note)
{
	if (note->send_cq)
		ntrdma_cq_notify(to_ntrdma_cq(qp->ib.send_cq));
	if (note->recv_cq)
		ntrdma_cq_notify(to_ntrdma_cq(qp->ib.recv_cq));
	if (note->full)
		ntrdma_cq_overrun(qp, note->full);
}

/**
 * ntrdma_complete - complete the oldest requests, if they are done
 * @qp: QP
 * @note: result: consumers to notify
 *
 * If the oldest request has failed, the QP fails. Then ntrdma_qp_finish()
 * completes this request and the others.
 *
 * Context: ntrdma_qp.lock is held.
 */
void ntrdma_complete(struct ntrdma_qp *qp, struct ntrdma_note *note)
{
	struct ntrdma_sq *sq = &qp->sq;

	lockdep_assert_held(&qp->lock);
	while (sq->tail != sq->head) {
		struct ntrdma_wqe *wqe = &sq->wqe[sq->tail & (sq->size - 1)];

		if (wqe->status && (wqe->done || sq->stuck) &&
		    ntrdma_qp_set_error(qp, wqe->status)) {
			ntrdma_lane_finish(qp);
			break;
		}
		if (sq->tail == sq->next || !wqe->done || wqe->status)
			break;
		ntrdma_wc_send(qp, wqe, IB_WC_SUCCESS, note);
	}
}

/* All requests before message @msn, except READs and atomics, are executed. */
static void ntrdma_ack_before(struct ntrdma_qp *qp, u32 msn)
{
	struct ntrdma_sq *sq = &qp->sq;
	u32 i = sq->by_msn[sq->acked & (sq->size - 1)];

	lockdep_assert_held(&qp->lock);
	if (ntrdma_msn_diff(msn, sq->acked) <= 0)
		return;
	for (; i != sq->next; i++) {
		struct ntrdma_wqe *wqe = &sq->wqe[i & (sq->size - 1)];

		if (wqe->op & NTRDMA_OP_LOCAL)
			continue;
		if (ntrdma_msn_diff(wqe->msn, msn) >= 0)
			break;
		if (!(wqe->op & (NTRDMA_OP_READ | NTRDMA_OP_ATOMIC)))
			wqe->done = true;
	}
	sq->acked = msn;
	sq->rnr_left = qp->attr.rnr_retry;
	sq->retry_left = qp->attr.retry_cnt;
}

/* Return the oldest READ or atomic in flight, or NULL. */
static struct ntrdma_wqe *ntrdma_oldest_read(struct ntrdma_sq *sq)
{
	if ((s32)(sq->read - sq->tail) < 0)
		sq->read = sq->tail;
	for (; sq->read != sq->next; sq->read++) {
		struct ntrdma_wqe *wqe = &sq->wqe[sq->read & (sq->size - 1)];

		if (wqe->op & (NTRDMA_OP_READ | NTRDMA_OP_ATOMIC) &&
		    !wqe->done)
			return wqe;
	}
	return NULL;
}

static void ntrdma_take_ack(struct ntrdma_qp *qp,
			    const struct ntrdma_frame *frame)
{
	struct ntrdma_sq *sq = &qp->sq;
	struct ntrdma_wqe *read = ntrdma_oldest_read(sq);
	u32 after = ntrdma_msn_add(frame->msn, 1);

	lockdep_assert_held(&qp->lock);
	if (ntrdma_msn_diff(after, sq->acked) < 0 ||
	    ntrdma_msn_diff(after, sq->send_msn) > 0 ||
	    (read && ntrdma_msn_diff(after, read->msn) > 0)) {
		ntrdma_count(qp->dev, NTRDMA_STAT_DROPPED);
		return;
	}
	ntrdma_ack_before(qp, after);
	if (frame->flags & NTRDMA_READY && sq->rnr_wait &&
	    hrtimer_try_to_cancel(&qp->timer) >= 0) {
		sq->rnr_wait = false;
		sq->waiting = false;
	}
}

static void ntrdma_read_done(struct ntrdma_qp *qp, struct ntrdma_wqe *wqe)
{
	struct ntrdma_sq *sq = &qp->sq;

	lockdep_assert_held(&qp->lock);
	wqe->done = true;
	sq->reads--;
	sq->data_offset = 0;
	ntrdma_ack_before(qp, ntrdma_msn_add(wqe->msn, 1));
}

/* Return the READ or atomic that a frame answers, or NULL. */
static struct ntrdma_wqe *ntrdma_answered(struct ntrdma_qp *qp,
					  const struct ntrdma_frame *frame)
{
	struct ntrdma_wqe *wqe = ntrdma_oldest_read(&qp->sq);
	bool is_data = frame->kind == NTRDMA_DATA;

	lockdep_assert_held(&qp->lock);
	if (!wqe || wqe->msn != frame->msn ||
	    is_data != !!(wqe->op & NTRDMA_OP_READ))
		return NULL;
	if (is_data && (frame->offset != qp->sq.data_offset ||
			frame->total != wqe->total))
		return NULL;
	return wqe;
}

static int ntrdma_copy_answer(struct ntrdma_qp *qp, struct ntrdma_wqe *wqe,
			      const struct ntrdma_frame *frame,
			      const void *data)
{
	__le64 wire;
	u64 result;

	if (!frame->bytes)
		return 0;
	if (frame->kind == NTRDMA_RESULT) {
		memcpy(&wire, data, sizeof(wire));
		result = le64_to_cpu(wire);
		data = &result;
	}
	return ntrdma_mem_sges(qp->dev, qp->ib.pd, wqe->sge, wqe->num_sge,
			       frame->offset, (void *)data, frame->bytes,
			       NTRDMA_COPY_IN);
}

/*
 * Store the data of a READ or the result of an atomic. Only the poll completes
 * and flushes requests, so the request stays while its memory is written.
 */
static void ntrdma_take_answer(struct ntrdma_qp *qp,
			       const struct ntrdma_frame *frame,
			       const void *data)
{
	struct ntrdma_wqe *wqe;
	unsigned long flags;
	u32 rewinds;
	int err;

	spin_lock_irqsave(&qp->lock, flags);
	wqe = ntrdma_answered(qp, frame);
	rewinds = qp->sq.rewinds;
	spin_unlock_irqrestore(&qp->lock, flags);
	if (!wqe) {
		ntrdma_count(qp->dev, NTRDMA_STAT_DROPPED);
		return;
	}
	err = ntrdma_copy_answer(qp, wqe, frame, data);
	spin_lock_irqsave(&qp->lock, flags);
	if (err) {
		wqe->status = IB_WC_LOC_PROT_ERR;
		ntrdma_read_done(qp, wqe);
	} else if (frame->kind == NTRDMA_RESULT || frame->flags & NTRDMA_LAST) {
		ntrdma_read_done(qp, wqe);
	} else if (rewinds == qp->sq.rewinds) {
		qp->sq.data_offset += frame->bytes;
	}
	spin_unlock_irqrestore(&qp->lock, flags);
}

/*
 * Continue with message @msn later. READs and atomics behind it are sent again,
 * because the peer has dropped them.
 */
static void ntrdma_rewind(struct ntrdma_qp *qp, u32 msn)
{
	struct ntrdma_sq *sq = &qp->sq;
	u32 index = sq->by_msn[msn & (sq->size - 1)];
	u32 i;

	lockdep_assert_held(&qp->lock);
	ntrdma_oldest_read(sq);
	for (i = index; i != sq->next; i++) {
		const struct ntrdma_wqe *wqe = &sq->wqe[i & (sq->size - 1)];

		if (wqe->op & (NTRDMA_OP_READ | NTRDMA_OP_ATOMIC))
			sq->reads--;
	}
	if ((s32)(sq->read - index) >= 0) {
		sq->read = index;
		sq->data_offset = 0;
	}
	sq->next = index;
	sq->send_msn = msn;
	sq->sent = 0;
	/* A request behind it that has failed sets stuck again. */
	sq->stuck = false;
	sq->rewinds++;
}

static void ntrdma_wait(struct ntrdma_qp *qp, u64 ns, bool rnr)
{
	lockdep_assert_held(&qp->lock);
	if (qp->closed)
		return;
	qp->sq.waiting = true;
	qp->sq.rnr_wait = rnr;
	hrtimer_start(&qp->timer, ns_to_ktime(ns), HRTIMER_MODE_REL_SOFT);
}

/* Use one of the repetitions; 7 means without a limit for RNR. */
static bool ntrdma_repeat(struct ntrdma_qp *qp,
			  const struct ntrdma_frame *frame, u32 msn)
{
	struct ntrdma_sq *sq = &qp->sq;
	bool rnr = ntrdma_frame_nak(frame) == NTRDMA_NAK_RNR;
	u8 *left = rnr ? &sq->rnr_left : &sq->retry_left;
	u64 ns;

	lockdep_assert_held(&qp->lock);
	if (!*left)
		return false;
	if (!rnr || *left < 7)
		--*left;
	ns = rnr ? (u64)ntrdma_rnr_us(ntrdma_frame_nak_timer(frame)) *
		   NSEC_PER_USEC :
		   max_t(u64, ntrdma_timeout_ns(qp->attr.timeout),
			 NSEC_PER_MSEC);
	ntrdma_rewind(qp, msn);
	ntrdma_wait(qp, ns, rnr);
	return true;
}

static enum ib_wc_status ntrdma_nak_status(const struct ntrdma_frame *frame)
{
	switch (ntrdma_frame_nak(frame)) {
	case NTRDMA_NAK_RNR:
		return IB_WC_RNR_RETRY_EXC_ERR;
	case NTRDMA_NAK_NO_QP:
		return IB_WC_RETRY_EXC_ERR;
	case NTRDMA_NAK_ACCESS:
		return IB_WC_REM_ACCESS_ERR;
	case NTRDMA_NAK_OPERATION:
		return IB_WC_REM_OP_ERR;
	default:
		return IB_WC_REM_INV_REQ_ERR;
	}
}

/* A NAK is valid for a message of which at least one frame is sent. */
static bool ntrdma_nak_fits(const struct ntrdma_sq *sq, u32 msn)
{
	if (ntrdma_msn_diff(msn, sq->acked) < 0 || sq->waiting)
		return false;
	return ntrdma_msn_diff(msn, sq->send_msn) < (sq->sent ? 1 : 0);
}

static bool ntrdma_may_repeat(const struct ntrdma_frame *frame)
{
	return ntrdma_frame_nak(frame) == NTRDMA_NAK_RNR ||
	       ntrdma_frame_nak(frame) == NTRDMA_NAK_NO_QP;
}

/*
 * A NAK confirms the messages before it, except one with NO_QP: it may have been
 * sent before a NAK for an earlier message. The peer executes nothing after it,
 * so the oldest message is repeated.
 */
static void ntrdma_take_nak(struct ntrdma_qp *qp,
			    const struct ntrdma_frame *frame)
{
	struct ntrdma_sq *sq = &qp->sq;
	struct ntrdma_wqe *wqe;
	u32 msn = ntrdma_frame_nak(frame) == NTRDMA_NAK_NO_QP ? sq->acked :
								frame->msn;

	lockdep_assert_held(&qp->lock);
	if (!ntrdma_nak_fits(sq, frame->msn)) {
		ntrdma_count(qp->dev, NTRDMA_STAT_DROPPED);
		return;
	}
	if (ntrdma_frame_nak(frame) == NTRDMA_NAK_RNR)
		ntrdma_count(qp->dev, NTRDMA_STAT_RNR_SEEN);
	ntrdma_ack_before(qp, msn);
	if (ntrdma_may_repeat(frame) && ntrdma_repeat(qp, frame, msn))
		return;
	wqe = &sq->wqe[sq->by_msn[msn & (sq->size - 1)] & (sq->size - 1)];
	wqe->status = ntrdma_nak_status(frame);
	wqe->done = true;
	sq->stuck = true;
}

/**
 * ntrdma_comp_take - handle an answer of the peer
 * @qp: QP that the caller holds
 * @frame: header
 * @data: payload
 *
 * Context: poll of the QP's lane.
 */
void ntrdma_comp_take(struct ntrdma_qp *qp, const struct ntrdma_frame *frame,
		      const void *data)
{
	struct ntrdma_note note = {};
	unsigned long flags;
	bool more;

	if (frame->kind == NTRDMA_DATA || frame->kind == NTRDMA_RESULT)
		ntrdma_take_answer(qp, frame, data);
	spin_lock_irqsave(&qp->lock, flags);
	qp->sq.heard = jiffies;
	if (frame->kind == NTRDMA_ACK)
		ntrdma_take_ack(qp, frame);
	else if (frame->kind == NTRDMA_NAK)
		ntrdma_take_nak(qp, frame);
	ntrdma_complete(qp, &note);
	more = qp->sq.next != qp->sq.head;
	spin_unlock_irqrestore(&qp->lock, flags);
	if (more)
		ntrdma_lane_kick(qp);
	ntrdma_notify(qp, &note);
}

/*
 * Flush requests. The oldest one that is not done has the error that ended the
 * QP.
 */
static bool ntrdma_flush_sends(struct ntrdma_qp *qp, struct ntrdma_note *note)
{
	struct ntrdma_sq *sq = &qp->sq;
	enum ib_wc_status status;
	int n;

	lockdep_assert_held(&qp->lock);
	for (n = 0; sq->tail != sq->head; n++) {
		struct ntrdma_wqe *wqe = &sq->wqe[sq->tail & (sq->size - 1)];

		if (n == NTRDMA_FLUSH_BATCH)
			return false;
		if (!sq->failed && wqe->done && !wqe->status &&
		    sq->tail != sq->next) {
			status = IB_WC_SUCCESS;
		} else {
			status = sq->failed ? IB_WC_WR_FLUSH_ERR :
					      qp->first_error;
			sq->failed = true;
		}
		ntrdma_wc_send(qp, wqe, status, note);
	}
	sq->next = sq->head;
	sq->reads = 0;
	sq->failed = true;
	return true;
}

/*
 * A program that posts while its receives are flushed must not keep the poll
 * busy. ntrdma_upost_tick() flushes later receives.
 */
static bool ntrdma_flush_is_enough(struct ntrdma_qp *qp)
{
	return qp->rq.user && qp->flushed++ > qp->rq.user->mask;
}

static bool ntrdma_flush_recvs(struct ntrdma_qp *qp, struct ntrdma_note *note)
{
	struct ib_wc wc;
	int n;

	lockdep_assert_held(&qp->lock);
	for (n = 0; n < NTRDMA_FLUSH_BATCH; n++) {
		if (ntrdma_flush_is_enough(qp))
			return true;
		if (!qp->resp.has_recv &&
		    (qp->srq || !ntrdma_rq_take(&qp->rq, &qp->resp.recv,
						qp->resp.sge)))
			return true;
		wc = (struct ib_wc){
			.status = IB_WC_WR_FLUSH_ERR,
			.opcode = IB_WC_RECV,
		};
		ntrdma_wc_recv(qp, &wc, true, note);
	}
	return false;
}

/* Return true if the event LAST_WQE_REACHED is due. */
static bool ntrdma_flush(struct ntrdma_qp *qp, struct ntrdma_note *note,
			 bool *again)
{
	bool last;

	lockdep_assert_held(&qp->lock);
	if (qp->state != IB_QPS_ERR || !qp->flushing || qp->sq.sending)
		return false;
	if (!ntrdma_flush_sends(qp, note) || !ntrdma_flush_recvs(qp, note)) {
		*again = true;
		return false;
	}
	qp->flushing = false;
	qp->flushed = 0;
	last = qp->srq && !qp->last_wqe;
	qp->last_wqe = true;
	return last;
}

/**
 * ntrdma_qp_finish - deliver completions of a QP
 * @qp: QP that the caller holds
 *
 * Context: poll of the QP's lane.
 */
void ntrdma_qp_finish(struct ntrdma_qp *qp)
{
	enum ib_event_type event;
	struct ntrdma_note note = {};
	bool again = false;
	unsigned long flags;
	bool has_event, last;

	spin_lock_irqsave(&qp->lock, flags);
	if (qp->state != IB_QPS_ERR)
		ntrdma_complete(qp, &note);
	last = ntrdma_flush(qp, &note, &again);
	has_event = qp->has_event;
	event = qp->event;
	qp->has_event = false;
	spin_unlock_irqrestore(&qp->lock, flags);
	ntrdma_notify(qp, &note);
	if (has_event)
		ntrdma_qp_event(qp, event);
	if (last) {
		ntrdma_cq_show_late(to_ntrdma_cq(qp->ib.recv_cq));
		ntrdma_qp_event(qp, IB_EVENT_QP_LAST_WQE_REACHED);
	}
	if (again)
		ntrdma_lane_finish(qp);
}
