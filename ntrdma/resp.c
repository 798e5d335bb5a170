// SPDX-License-Identifier: GPL-2.0
/*
 * The responder of an RC QP: it executes requests of the peer.
 *
 * The poll of the QP's lane is the only caller, so members of struct ntrdma_resp
 * that only the poll uses need no lock. Frames of a QP arrive in the order in
 * which they were sent, and none is lost. So a message is executed when its
 * frames arrive, and at most once. After a NAK that lets the requester repeat,
 * the responder drops frames until the first frame of that message arrives
 * again.
 *
 * Keys are checked for each frame, because a region may be invalidated between
 * two frames of a message.
 */
#include "verbs.h"

/* Faults of a request, and their effect on the two QPs. */
enum ntrdma_fault {
	NTRDMA_FAULT_NONE,
	NTRDMA_FAULT_RNR,	/* no receive is posted */
	NTRDMA_FAULT_SEQUENCE,	/* a message is missing */
	NTRDMA_FAULT_ACCESS,	/* key, range or rights are invalid */
	NTRDMA_FAULT_REQUEST,	/* the request is invalid */
	NTRDMA_FAULT_LENGTH,	/* the message is longer than its receive */
	NTRDMA_FAULT_MEMORY,	/* the memory of the receive is invalid */
};

/**
 * struct ntrdma_fault_rule - effect of a fault
 * @nak: &enum ntrdma_nak
 * @event: event of this QP; 0: the QP goes on
 * @status: status of the receive of the message, if it has one
 * @stat: counter
 */
struct ntrdma_fault_rule {
	u8 nak;
	enum ib_event_type event;
	enum ib_wc_status status;
	enum ntrdma_stat stat;
};

static const struct ntrdma_fault_rule ntrdma_fault_rules[] = {
	[NTRDMA_FAULT_RNR] = {
		.nak = NTRDMA_NAK_RNR,
		.stat = NTRDMA_STAT_RNR_SENT,
	},
	[NTRDMA_FAULT_SEQUENCE] = {
		.nak = NTRDMA_NAK_SEQUENCE,
		.event = IB_EVENT_QP_REQ_ERR,
		.status = IB_WC_WR_FLUSH_ERR,
		.stat = NTRDMA_STAT_INVALID_REQUEST,
	},
	[NTRDMA_FAULT_ACCESS] = {
		.nak = NTRDMA_NAK_ACCESS,
		.event = IB_EVENT_QP_ACCESS_ERR,
		.status = IB_WC_WR_FLUSH_ERR,
		.stat = NTRDMA_STAT_REMOTE_ACCESS,
	},
	[NTRDMA_FAULT_REQUEST] = {
		.nak = NTRDMA_NAK_REQUEST,
		.event = IB_EVENT_QP_REQ_ERR,
		.status = IB_WC_WR_FLUSH_ERR,
		.stat = NTRDMA_STAT_INVALID_REQUEST,
	},
	[NTRDMA_FAULT_LENGTH] = {
		.nak = NTRDMA_NAK_REQUEST,
		.event = IB_EVENT_QP_REQ_ERR,
		.status = IB_WC_LOC_LEN_ERR,
		.stat = NTRDMA_STAT_INVALID_REQUEST,
	},
	[NTRDMA_FAULT_MEMORY] = {
		.nak = NTRDMA_NAK_OPERATION,
		.event = IB_EVENT_QP_REQ_ERR,
		.status = IB_WC_LOC_PROT_ERR,
		.stat = NTRDMA_STAT_INVALID_REQUEST,
	},
};

/*
 * Let the next post of a receive notify the requester. A receive may have been
 * posted since none was found.
 */
static void ntrdma_starve(struct ntrdma_qp *qp)
{
	struct ntrdma_rq *rq = qp->srq ? &qp->srq->rq : &qp->rq;
	struct ntrdma_resp *resp = &qp->resp;

	lockdep_assert_held(&qp->lock);
	spin_lock(&rq->lock);
	resp->ready = !ntrdma_rq_is_empty(rq);
	resp->starved = !resp->ready;
	if (resp->starved && qp->srq && list_empty(&qp->srq_entry))
		list_add_tail(&qp->srq_entry, &qp->srq->starved);
	spin_unlock(&rq->lock);
	resp->ack |= resp->ready;
}

/* Let the transmitter send a NAK for the current message. */
static void ntrdma_nak(struct ntrdma_qp *qp, u8 code)
{
	struct ntrdma_resp *resp = &qp->resp;
	unsigned long flags;

	spin_lock_irqsave(&qp->lock, flags);
	resp->nak = code;
	resp->nak_msn = resp->msn;
	if (code == NTRDMA_NAK_RNR) {
		resp->nak |= qp->attr.min_rnr_timer << 8;
		ntrdma_starve(qp);
	} else {
		resp->fatal = true;
	}
	spin_unlock_irqrestore(&qp->lock, flags);
	ntrdma_lane_kick(qp);
}

/* Complete the receive of the current message with an error. */
static void ntrdma_fail_recv(struct ntrdma_qp *qp, enum ib_wc_status status)
{
	struct ib_wc wc = { .status = status };
	struct ntrdma_note note = {};
	unsigned long flags;

	spin_lock_irqsave(&qp->lock, flags);
	if (qp->resp.has_recv)
		ntrdma_wc_recv(qp, &wc, true, &note);
	spin_unlock_irqrestore(&qp->lock, flags);
	ntrdma_notify(qp, &note);
}

static void ntrdma_fault(struct ntrdma_qp *qp, enum ntrdma_fault fault)
{
	const struct ntrdma_fault_rule *rule = &ntrdma_fault_rules[fault];

	ntrdma_count(qp->dev, rule->stat);
	qp->resp.dropping = true;
	qp->resp.offset = 0;
	ntrdma_nak(qp, rule->nak);
	if (!rule->event)
		return;
	ntrdma_fail_recv(qp, rule->status);
	ntrdma_qp_fail(qp, IB_WC_WR_FLUSH_ERR, rule->event);
}

/**
 * ntrdma_get_recv - take a receive for the current message, unless it has one
 * @qp: QP
 *
 * Context: poll of the QP's lane; no lock is held.
 * Return: false if no receive is posted.
 */
bool ntrdma_get_recv(struct ntrdma_qp *qp)
{
	struct ntrdma_resp *resp = &qp->resp;

	if (resp->has_recv)
		return true;
	if (qp->srq)
		resp->has_recv = ntrdma_srq_take(qp->srq, &resp->recv,
						 resp->sge);
	else
		resp->has_recv = ntrdma_rq_take(&qp->rq, &resp->recv,
						resp->sge);
	return resp->has_recv;
}

static enum ntrdma_fault ntrdma_do_send(struct ntrdma_qp *qp,
					const struct ntrdma_frame *frame,
					const void *data)
{
	struct ntrdma_resp *resp = &qp->resp;

	if (!ntrdma_get_recv(qp))
		return NTRDMA_FAULT_RNR;
	if (frame->total > resp->recv.bytes)
		return NTRDMA_FAULT_LENGTH;
	if (frame->bytes &&
	    ntrdma_mem_sges(qp->dev, ntrdma_recv_pd(qp), resp->recv.sge,
			    resp->recv.num_sge, frame->offset, (void *)data,
			    frame->bytes, NTRDMA_COPY_IN))
		return NTRDMA_FAULT_MEMORY;
	if (frame->flags & NTRDMA_INV &&
	    !ntrdma_mr_invalidate(qp->dev, qp->ib.pd, frame->imm, true))
		return NTRDMA_FAULT_ACCESS;
	return NTRDMA_FAULT_NONE;
}

static enum ntrdma_fault ntrdma_do_write(struct ntrdma_qp *qp,
					 const struct ntrdma_frame *frame,
					 const void *data)
{
	u64 addr;

	if (!(qp->attr.qp_access_flags & IB_ACCESS_REMOTE_WRITE))
		return NTRDMA_FAULT_ACCESS;
	if (frame->bytes &&
	    (check_add_overflow(frame->addr, (u64)frame->offset, &addr) ||
	     ntrdma_mem_remote(qp->dev, qp->ib.pd, frame->rkey, addr,
			       (void *)data, frame->bytes,
			       IB_ACCESS_REMOTE_WRITE, NTRDMA_COPY_IN)))
		return NTRDMA_FAULT_ACCESS;
	if (frame->flags & NTRDMA_IMM && !ntrdma_get_recv(qp))
		return NTRDMA_FAULT_RNR;
	return NTRDMA_FAULT_NONE;
}

/* Add an answer, which the transmitter sends. */
static enum ntrdma_fault ntrdma_answer(struct ntrdma_qp *qp,
				       const struct ntrdma_answer *answer)
{
	struct ntrdma_resp *resp = &qp->resp;
	unsigned long flags;
	bool room;

	spin_lock_irqsave(&qp->lock, flags);
	room = resp->answer_head - resp->answer_tail < resp->max_answers;
	if (room) {
		resp->answer[resp->answer_head % NTRDMA_MAX_READS] = *answer;
		/* ntrdma_send_one() reads the index without the lock. */
		smp_store_release(&resp->answer_head, resp->answer_head + 1);
	}
	spin_unlock_irqrestore(&qp->lock, flags);
	if (!room)
		return NTRDMA_FAULT_REQUEST;
	ntrdma_lane_kick(qp);
	return NTRDMA_FAULT_NONE;
}

static enum ntrdma_fault ntrdma_do_read(struct ntrdma_qp *qp,
					const struct ntrdma_frame *frame)
{
	struct ntrdma_answer answer = {
		.msn = frame->msn,
		.total = frame->total,
		.addr = frame->addr,
		.rkey = frame->rkey,
	};

	if (!(qp->attr.qp_access_flags & IB_ACCESS_REMOTE_READ))
		return NTRDMA_FAULT_ACCESS;
	if (frame->total &&
	    ntrdma_mem_check(qp->dev, qp->ib.pd, frame->rkey, frame->addr,
			     frame->total, IB_ACCESS_REMOTE_READ))
		return NTRDMA_FAULT_ACCESS;
	return ntrdma_answer(qp, &answer);
}

static bool ntrdma_may_answer(struct ntrdma_qp *qp)
{
	struct ntrdma_resp *resp = &qp->resp;

	/* Only the poll adds answers, so the room cannot shrink after this. */
	return resp->answer_head - READ_ONCE(resp->answer_tail) <
	       resp->max_answers;
}

static enum ntrdma_fault ntrdma_do_atomic(struct ntrdma_qp *qp,
					  const struct ntrdma_frame *frame,
					  const void *data)
{
	struct ntrdma_answer answer = {
		.msn = frame->msn,
		.is_atomic = true,
	};
	__le64 wire[2];
	u64 operand[2];

	if (!(qp->attr.qp_access_flags & IB_ACCESS_REMOTE_ATOMIC))
		return NTRDMA_FAULT_ACCESS;
	/* An operation that cannot be answered must not be executed. */
	if (!ntrdma_may_answer(qp))
		return NTRDMA_FAULT_REQUEST;
	memcpy(wire, data, sizeof(wire));
	operand[0] = le64_to_cpu(wire[0]);
	operand[1] = le64_to_cpu(wire[1]);
	if (ntrdma_mem_atomic(qp->dev, qp->ib.pd, frame->rkey, frame->addr,
			      frame->flags & NTRDMA_CAS, operand,
			      &answer.result))
		return NTRDMA_FAULT_ACCESS;
	return ntrdma_answer(qp, &answer);
}

static enum ntrdma_fault ntrdma_do(struct ntrdma_qp *qp,
				   const struct ntrdma_frame *frame,
				   const void *data)
{
	switch (frame->kind) {
	case NTRDMA_SEND:
		return ntrdma_do_send(qp, frame, data);
	case NTRDMA_WRITE:
		return ntrdma_do_write(qp, frame, data);
	case NTRDMA_READ:
		return ntrdma_do_read(qp, frame);
	default:
		return ntrdma_do_atomic(qp, frame, data);
	}
}

static bool ntrdma_is_last(const struct ntrdma_frame *frame)
{
	return frame->kind == NTRDMA_READ || frame->kind == NTRDMA_ATOMIC ||
	       frame->flags & NTRDMA_LAST;
}

/* Describe the completion of the receive of a message. */
static struct ib_wc ntrdma_recv_wc(const struct ntrdma_frame *frame)
{
	struct ib_wc wc = {
		.status = IB_WC_SUCCESS,
		.opcode = frame->kind == NTRDMA_SEND ?
			  IB_WC_RECV : IB_WC_RECV_RDMA_WITH_IMM,
		.byte_len = frame->total,
	};

	if (frame->flags & NTRDMA_IMM) {
		wc.wc_flags = IB_WC_WITH_IMM;
		wc.ex.imm_data = (__force __be32)cpu_to_le32(frame->imm);
	} else if (frame->flags & NTRDMA_INV) {
		wc.wc_flags = IB_WC_WITH_INVALIDATE;
		wc.ex.invalidate_rkey = frame->imm;
	}
	return wc;
}

/* Acknowledge a message that is executed, and complete its receive. */
static void ntrdma_done(struct ntrdma_qp *qp, const struct ntrdma_frame *frame)
{
	struct ib_wc wc = ntrdma_recv_wc(frame);
	struct ntrdma_resp *resp = &qp->resp;
	struct ntrdma_note note = {};
	unsigned long flags;
	bool ack;

	resp->msn = ntrdma_msn_add(resp->msn, 1);
	resp->offset = 0;
	spin_lock_irqsave(&qp->lock, flags);
	resp->done = frame->msn;
	ack = frame->flags & NTRDMA_ACK_REQ;
	if (ack)
		resp->ack = true;
	if (resp->has_recv)
		ntrdma_wc_recv(qp, &wc, frame->flags & NTRDMA_SOLICITED, &note);
	spin_unlock_irqrestore(&qp->lock, flags);
	if (ack)
		ntrdma_lane_kick(qp);
	ntrdma_notify(qp, &note);
}

/*
 * Check whether a frame is the next one. Its header is well-formed, but the
 * peer may send anything.
 */
static enum ntrdma_fault ntrdma_in_order(struct ntrdma_qp *qp,
					 const struct ntrdma_frame *frame)
{
	struct ntrdma_resp *resp = &qp->resp;

	if (ntrdma_msn_diff(frame->msn, resp->msn) > 0)
		return NTRDMA_FAULT_SEQUENCE;
	if (frame->offset != resp->offset)
		return NTRDMA_FAULT_REQUEST;
	if (!resp->offset) {
		resp->kind = frame->kind;
		resp->total = frame->total;
	}
	if (frame->kind != resp->kind || frame->total != resp->total)
		return NTRDMA_FAULT_REQUEST;
	return NTRDMA_FAULT_NONE;
}

/*
 * A message that was executed is not executed again. But its requester may have
 * repeated it after a late NAK, and waits for an ACK.
 */
static void ntrdma_ack_again(struct ntrdma_qp *qp,
			     const struct ntrdma_frame *frame)
{
	unsigned long flags;

	if (!(frame->flags & NTRDMA_ACK_REQ))
		return;
	spin_lock_irqsave(&qp->lock, flags);
	qp->resp.ack = true;
	spin_unlock_irqrestore(&qp->lock, flags);
	ntrdma_lane_kick(qp);
}

static bool ntrdma_is_dropped(struct ntrdma_qp *qp,
			      const struct ntrdma_frame *frame)
{
	struct ntrdma_resp *resp = &qp->resp;
	s32 diff = ntrdma_msn_diff(frame->msn, resp->msn);

	if (diff < 0) {
		ntrdma_ack_again(qp, frame);
		return true;
	}
	if (!resp->dropping)
		return false;
	resp->dropping = diff || frame->offset;
	return resp->dropping;
}

/* A connection manager completes the connection when the first request comes. */
static void ntrdma_established(struct ntrdma_qp *qp)
{
	if (qp->resp.comm_est || READ_ONCE(qp->state) != IB_QPS_RTR)
		return;
	qp->resp.comm_est = true;
	ntrdma_qp_event(qp, IB_EVENT_COMM_EST);
}

/**
 * ntrdma_resp_take - execute a frame of a request
 * @qp: QP that the caller holds
 * @frame: header
 * @data: payload
 *
 * Context: poll of the QP's lane.
 */
void ntrdma_resp_take(struct ntrdma_qp *qp, const struct ntrdma_frame *frame,
		      const void *data)
{
	enum ntrdma_fault fault;

	ntrdma_established(qp);
	if (ntrdma_is_dropped(qp, frame)) {
		ntrdma_count(qp->dev, NTRDMA_STAT_DROPPED);
		return;
	}
	fault = ntrdma_in_order(qp, frame);
	if (!fault)
		fault = ntrdma_do(qp, frame, data);
	if (fault)
		ntrdma_fault(qp, fault);
	else if (ntrdma_is_last(frame))
		ntrdma_done(qp, frame);
	else
		qp->resp.offset += frame->bytes;
}
