// SPDX-License-Identifier: GPL-2.0
/*
 * The sending side of an RC QP: requests, and answers to requests of the peer.
 *
 * Only the transmitter of the QP's lane calls ntrdma_qp_turn(). It copies
 * payload without a lock. While ntrdma_sq.sending is set, the poll flushes no
 * request, so the memory of a request stays valid while it is copied. A request
 * that is not sent completely is never completed.
 *
 * The transmitter writes down that a frame is sent before the frame becomes
 * visible to the peer, because the peer may answer at once.
 *
 * Answers have their own order: an ACK or a NAK follows the answers to all
 * earlier READs and atomics, so the requester learns of messages in their order.
 */
#include "verbs.h"
#include "win.h"

/* Payload in bytes, and number of frames, after which the turn of a QP ends. */
#define NTRDMA_TURN_BYTES	SZ_128K
#define NTRDMA_TURN_FRAMES	32

/* Results of an attempt to send one frame. */
enum ntrdma_sent {
	NTRDMA_SENT_FRAME,	/* a frame is sent, or a local request is done */
	NTRDMA_SENT_NOTHING,	/* there is nothing to send */
	NTRDMA_SENT_NO_ROOM,	/* the ring has no room */
};

static struct ntrdma_frame ntrdma_frame_of(const struct ntrdma_qp *qp, u8 kind,
					   u32 msn)
{
	return (struct ntrdma_frame){
		.kind = kind,
		.dest_qp = qp->attr.dest_qp_num,
		.src_qp = qp->number,
		.msn = msn,
	};
}

static enum ntrdma_sent ntrdma_send_frame(struct ntrdma_qp *qp,
					  struct ntrdma_peer *peer,
					  struct ntrdma_frame *frame,
					  const void *data)
{
	struct ntrdma_slot slot;

	if (!ntrdma_slot_reserve(&slot, peer, qp->lane->number, frame->bytes))
		return NTRDMA_SENT_NO_ROOM;
	ntrdma_slot_commit(&slot, frame, data);
	return NTRDMA_SENT_FRAME;
}

/*
 * End a QP. The poll raises the event, because a task that posts to any QP may
 * be the transmitter, and may hold locks that the handler takes.
 */
static void ntrdma_answer_failed(struct ntrdma_qp *qp)
{
	unsigned long flags;

	spin_lock_irqsave(&qp->lock, flags);
	qp->resp.fatal = true;
	if (ntrdma_qp_set_error(qp, IB_WC_WR_FLUSH_ERR)) {
		qp->has_event = true;
		qp->event = IB_EVENT_QP_ACCESS_ERR;
	}
	spin_unlock_irqrestore(&qp->lock, flags);
	ntrdma_lane_finish(qp);
}

/* Send the oldest answer, or its next piece. */
static enum ntrdma_sent ntrdma_send_data(struct ntrdma_qp *qp,
					 struct ntrdma_peer *peer,
					 struct ntrdma_answer *a)
{
	struct ntrdma_frame frame = ntrdma_frame_of(qp, NTRDMA_DATA, a->msn);
	struct ntrdma_slot slot;
	u8 bytes[NTRDMA_SHORT];
	void *to = bytes;

	frame.offset = a->sent;
	frame.total = a->total;
	frame.bytes = min(peer->chunk, a->total - a->sent);
	frame.flags = (a->sent ? 0 : NTRDMA_FIRST) |
		      (a->sent + frame.bytes == a->total ? NTRDMA_LAST : 0);
	if (!ntrdma_slot_reserve(&slot, peer, qp->lane->number, frame.bytes))
		return NTRDMA_SENT_NO_ROOM;
	if (frame.bytes > NTRDMA_SHORT)
		to = slot.buf;
	if (frame.bytes &&
	    ntrdma_mem_remote(qp->dev, qp->ib.pd, a->rkey, a->addr + a->sent, to,
			      frame.bytes, IB_ACCESS_REMOTE_READ,
			      NTRDMA_COPY_OUT)) {
		/* The region was invalidated after the READ had arrived. */
		frame = ntrdma_frame_of(qp, NTRDMA_NAK, a->msn);
		frame.imm = NTRDMA_NAK_ACCESS;
		ntrdma_count(qp->dev, NTRDMA_STAT_REMOTE_ACCESS);
		if (!ntrdma_slot_reserve(&slot, peer, qp->lane->number, 0))
			return NTRDMA_SENT_NO_ROOM;
		ntrdma_slot_commit(&slot, &frame, NULL);
		ntrdma_answer_failed(qp);
		return NTRDMA_SENT_NOTHING;
	}
	a->sent += frame.bytes;
	qp->sq.turn_bytes += frame.bytes;
	ntrdma_slot_commit(&slot, &frame, bytes);
	return NTRDMA_SENT_FRAME;
}

static enum ntrdma_sent ntrdma_send_result(struct ntrdma_qp *qp,
					   struct ntrdma_peer *peer,
					   struct ntrdma_answer *a)
{
	struct ntrdma_frame frame = ntrdma_frame_of(qp, NTRDMA_RESULT, a->msn);
	__le64 result = cpu_to_le64(a->result);

	frame.bytes = sizeof(result);
	return ntrdma_send_frame(qp, peer, &frame, &result);
}

/* An answer is removed from the ring only after its last frame is sent. */
static enum ntrdma_sent ntrdma_send_answer(struct ntrdma_qp *qp,
					   struct ntrdma_peer *peer)
{
	struct ntrdma_resp *resp = &qp->resp;
	struct ntrdma_answer *a;
	enum ntrdma_sent sent;
	unsigned long flags;

	a = &resp->answer[resp->answer_tail % NTRDMA_MAX_READS];
	sent = a->is_atomic ? ntrdma_send_result(qp, peer, a) :
			      ntrdma_send_data(qp, peer, a);
	if (sent != NTRDMA_SENT_FRAME)
		return sent;
	if (!a->is_atomic && a->sent < a->total)
		return sent;
	spin_lock_irqsave(&qp->lock, flags);
	resp->answer_tail++;
	spin_unlock_irqrestore(&qp->lock, flags);
	return sent;
}

/*
 * Send the NAK or the ACK that is due. The bits are cleared before the frame is
 * sent, and set again if there was no room.
 */
static enum ntrdma_sent ntrdma_send_ack(struct ntrdma_qp *qp,
					struct ntrdma_peer *peer)
{
	struct ntrdma_resp *resp = &qp->resp;
	struct ntrdma_frame frame = {};
	struct ntrdma_slot slot;
	unsigned long flags;

	if (!ntrdma_slot_reserve(&slot, peer, qp->lane->number, 0))
		return NTRDMA_SENT_NO_ROOM;
	spin_lock_irqsave(&qp->lock, flags);
	if (resp->nak) {
		frame = ntrdma_frame_of(qp, NTRDMA_NAK, resp->nak_msn);
		frame.imm = resp->nak;
		resp->nak = 0;
	} else if (resp->ack) {
		frame = ntrdma_frame_of(qp, NTRDMA_ACK, resp->done);
		frame.flags = resp->ready ? NTRDMA_READY : 0;
		resp->ack = false;
		resp->ready = false;
	}
	spin_unlock_irqrestore(&qp->lock, flags);
	if (!frame.kind)
		return NTRDMA_SENT_NOTHING;
	ntrdma_slot_commit(&slot, &frame, NULL);
	ntrdma_count(qp->dev, NTRDMA_STAT_ACKS);
	return NTRDMA_SENT_FRAME;
}

/*
 * Execute a request that sends nothing. A key that cannot be invalidated or
 * registered is an error of the request.
 */
static void ntrdma_do_local(struct ntrdma_qp *qp, struct ntrdma_wqe *wqe)
{
	if (wqe->opcode == IB_WR_REG_MR)
		wqe->status = ntrdma_mr_register(wqe->mr, qp->ib.pd, wqe->key,
						 wqe->access);
	else if (!ntrdma_mr_invalidate(qp->dev, qp->ib.pd, wqe->imm, false))
		wqe->status = IB_WC_LOC_PROT_ERR;
}

static enum ntrdma_sent ntrdma_send_local(struct ntrdma_qp *qp,
					  struct ntrdma_wqe *wqe, u32 rewinds)
{
	struct ntrdma_sq *sq = &qp->sq;
	unsigned long flags;

	/* After a repetition, the request may have been executed already. */
	if (!wqe->done)
		ntrdma_do_local(qp, wqe);
	spin_lock_irqsave(&qp->lock, flags);
	wqe->done = true;
	/* After a rewind, the request is reached again. */
	if (sq->rewinds == rewinds) {
		if (wqe->status)
			sq->stuck = true;
		else
			sq->next++;
	}
	spin_unlock_irqrestore(&qp->lock, flags);
	ntrdma_lane_finish(qp);
	return NTRDMA_SENT_FRAME;
}

static u8 ntrdma_wqe_kind(const struct ntrdma_wqe *wqe)
{
	if (wqe->op & NTRDMA_OP_READ)
		return NTRDMA_READ;
	if (wqe->op & NTRDMA_OP_ATOMIC)
		return NTRDMA_ATOMIC;
	return wqe->op & NTRDMA_OP_WRITE ? NTRDMA_WRITE : NTRDMA_SEND;
}

/*
 * Each message asks for an ACK, because a later request may complete locally, or
 * fail, and wait for it. The responder sends one ACK for all messages of a poll.
 */
static u8 ntrdma_wqe_flags(const struct ntrdma_wqe *wqe,
			   const struct ntrdma_frame *frame)
{
	u8 flags = frame->offset ? 0 : NTRDMA_FIRST;

	if (frame->offset + frame->bytes != wqe->total)
		return flags;
	flags |= NTRDMA_LAST | NTRDMA_ACK_REQ;
	if (wqe->op & NTRDMA_OP_IMM)
		flags |= NTRDMA_IMM;
	if (wqe->op & NTRDMA_OP_INV)
		flags |= NTRDMA_INV;
	if (wqe->op & NTRDMA_OP_SEND && wqe->send_flags & IB_SEND_SOLICITED)
		flags |= NTRDMA_SOLICITED;
	return flags;
}

/* Describe the next frame of a request; ntrdma_sq.sent bytes are sent. */
static struct ntrdma_frame ntrdma_wqe_frame(const struct ntrdma_qp *qp,
					    const struct ntrdma_wqe *wqe,
					    const struct ntrdma_peer *peer)
{
	const struct ntrdma_sq *sq = &qp->sq;
	struct ntrdma_frame frame;

	frame = ntrdma_frame_of(qp, ntrdma_wqe_kind(wqe), wqe->msn);
	if (!(wqe->op & NTRDMA_OP_SEND) || wqe->op & NTRDMA_OP_WRITE) {
		frame.addr = wqe->remote_addr;
		frame.rkey = wqe->rkey;
	}
	if (frame.kind == NTRDMA_ATOMIC) {
		frame.bytes = sizeof(wqe->operand);
		if (wqe->opcode == IB_WR_ATOMIC_CMP_AND_SWP)
			frame.flags = NTRDMA_CAS;
		return frame;
	}
	frame.total = wqe->total;
	if (frame.kind == NTRDMA_READ)
		return frame;
	frame.offset = sq->sent;
	frame.bytes = min(peer->chunk, wqe->total - sq->sent);
	frame.flags = ntrdma_wqe_flags(wqe, &frame);
	if (frame.flags & (NTRDMA_IMM | NTRDMA_INV))
		frame.imm = wqe->imm;
	return frame;
}

/* Copy the payload of a frame to the window, or to a short buffer. */
static int ntrdma_wqe_copy(struct ntrdma_qp *qp, const struct ntrdma_wqe *wqe,
			   const struct ntrdma_frame *frame,
			   const struct ntrdma_slot *slot, __le64 *buf)
{
	void *to = frame->bytes > NTRDMA_SHORT ? slot->buf : buf;

	if (frame->kind == NTRDMA_ATOMIC) {
		buf[0] = cpu_to_le64(wqe->operand[0]);
		buf[1] = cpu_to_le64(wqe->operand[1]);
		return 0;
	}
	if (wqe->is_inline) {
		memcpy(to, wqe->data + frame->offset, frame->bytes);
		return 0;
	}
	if (!frame->bytes)
		return 0;
	return ntrdma_mem_sges(qp->dev, qp->ib.pd, wqe->sge, wqe->num_sge,
			       frame->offset, to, frame->bytes,
			       NTRDMA_COPY_OUT);
}

/*
 * Note that a frame is sent. A NAK may have set the requester back since the
 * frame was described; then the peer drops the frame, and it does not count.
 */
static void ntrdma_wqe_advance(struct ntrdma_qp *qp, struct ntrdma_wqe *wqe,
			       const struct ntrdma_frame *frame, u32 rewinds)
{
	struct ntrdma_sq *sq = &qp->sq;
	unsigned long flags;

	spin_lock_irqsave(&qp->lock, flags);
	if (sq->rewinds == rewinds) {
		sq->sent += frame->bytes;
		if (wqe->op & (NTRDMA_OP_READ | NTRDMA_OP_ATOMIC) ||
		    sq->sent == wqe->total) {
			if (sq->send_msn == sq->acked)
				sq->heard = jiffies;
			sq->next++;
			sq->sent = 0;
			sq->send_msn = ntrdma_msn_add(wqe->msn, 1);
			if (wqe->op & (NTRDMA_OP_READ | NTRDMA_OP_ATOMIC))
				sq->reads++;
		}
	}
	spin_unlock_irqrestore(&qp->lock, flags);
}

static void ntrdma_wqe_refuse(struct ntrdma_qp *qp, struct ntrdma_wqe *wqe,
			      enum ib_wc_status status, u32 rewinds)
{
	unsigned long flags;

	spin_lock_irqsave(&qp->lock, flags);
	wqe->status = status;
	if (qp->sq.rewinds == rewinds)
		qp->sq.stuck = true;
	spin_unlock_irqrestore(&qp->lock, flags);
	ntrdma_lane_finish(qp);
}

static enum ntrdma_sent ntrdma_send_message(struct ntrdma_qp *qp,
					    struct ntrdma_peer *peer,
					    struct ntrdma_wqe *wqe,
					    struct ntrdma_frame *frame,
					    u32 rewinds)
{
	__le64 buf[NTRDMA_SHORT / sizeof(__le64)];
	struct ntrdma_slot slot;

	if (!ntrdma_slot_reserve(&slot, peer, qp->lane->number, frame->bytes))
		return NTRDMA_SENT_NO_ROOM;
	if (ntrdma_wqe_copy(qp, wqe, frame, &slot, buf)) {
		ntrdma_wqe_refuse(qp, wqe, IB_WC_LOC_PROT_ERR, rewinds);
		return NTRDMA_SENT_NOTHING;
	}
	ntrdma_wqe_advance(qp, wqe, frame, rewinds);
	qp->sq.turn_bytes += frame->bytes;
	ntrdma_slot_commit(&slot, frame, buf);
	return NTRDMA_SENT_FRAME;
}

/* Return the request to send next, or NULL. */
static struct ntrdma_wqe *ntrdma_sq_next(struct ntrdma_qp *qp)
{
	struct ntrdma_sq *sq = &qp->sq;
	struct ntrdma_wqe *wqe = &sq->wqe[sq->next & (sq->size - 1)];

	lockdep_assert_held(&qp->lock);
	if (qp->state != IB_QPS_RTS || sq->waiting || sq->stuck ||
	    sq->next == sq->head)
		return NULL;
	if (wqe->send_flags & IB_SEND_FENCE && sq->reads)
		return NULL;
	if (wqe->op & (NTRDMA_OP_READ | NTRDMA_OP_ATOMIC) && !wqe->status &&
	    sq->reads >= qp->attr.max_rd_atomic)
		return NULL;
	return wqe;
}

/* Send the next frame of the oldest request that is not sent. */
static enum ntrdma_sent ntrdma_send_request(struct ntrdma_qp *qp,
					    struct ntrdma_peer *peer)
{
	struct ntrdma_frame frame = {};
	struct ntrdma_wqe *wqe;
	unsigned long flags;
	u32 rewinds;

	spin_lock_irqsave(&qp->lock, flags);
	wqe = ntrdma_sq_next(qp);
	if (wqe && !(wqe->op & NTRDMA_OP_LOCAL))
		frame = ntrdma_wqe_frame(qp, wqe, peer);
	rewinds = qp->sq.rewinds;
	spin_unlock_irqrestore(&qp->lock, flags);
	if (!wqe)
		return NTRDMA_SENT_NOTHING;
	if (wqe->op & NTRDMA_OP_LOCAL)
		return ntrdma_send_local(qp, wqe, rewinds);
	if (wqe->status) {
		ntrdma_wqe_refuse(qp, wqe, wqe->status, rewinds);
		return NTRDMA_SENT_NOTHING;
	}
	return ntrdma_send_message(qp, peer, wqe, &frame, rewinds);
}

/* Send one frame. Answers and requests alternate if there are both. */
static enum ntrdma_sent ntrdma_send_one(struct ntrdma_qp *qp,
					struct ntrdma_peer *peer)
{
	struct ntrdma_resp *resp = &qp->resp;
	enum ntrdma_sent sent = NTRDMA_SENT_NOTHING;
	/* ntrdma_answer() */
	bool answers = smp_load_acquire(&resp->answer_head) !=
		       resp->answer_tail;

	if (!answers && (READ_ONCE(resp->nak) || READ_ONCE(resp->ack)))
		return ntrdma_send_ack(qp, peer);
	resp->turn = !resp->turn;
	if (answers && resp->turn)
		return ntrdma_send_answer(qp, peer);
	sent = ntrdma_send_request(qp, peer);
	if (sent == NTRDMA_SENT_NOTHING && answers)
		return ntrdma_send_answer(qp, peer);
	return sent;
}

/* Let the poll wait with a flush until the transmitter has left the QP. */
static bool ntrdma_turn_begin(struct ntrdma_qp *qp)
{
	unsigned long flags;
	bool may;

	spin_lock_irqsave(&qp->lock, flags);
	may = qp->state == IB_QPS_RTS || qp->state == IB_QPS_RTR ||
	      (qp->state == IB_QPS_ERR && qp->resp.nak);
	qp->sq.sending = may;
	spin_unlock_irqrestore(&qp->lock, flags);
	return may;
}

/**
 * ntrdma_turn_end - let the poll flush a QP again
 * @qp: QP whose ntrdma_sq.sending is set
 *
 * Context: the transmitter of the QP's lane; no lock is held.
 */
void ntrdma_turn_end(struct ntrdma_qp *qp)
{
	unsigned long flags;
	bool flushing;

	spin_lock_irqsave(&qp->lock, flags);
	qp->sq.sending = false;
	flushing = qp->flushing;
	spin_unlock_irqrestore(&qp->lock, flags);
	if (flushing)
		ntrdma_lane_finish(qp);
}

static enum ntrdma_turn ntrdma_turn_frames(struct ntrdma_qp *qp,
					   struct ntrdma_peer *peer)
{
	enum ntrdma_sent sent;
	u32 n = 0;

	qp->sq.turn_bytes = 0;
	do {
		sent = ntrdma_send_one(qp, peer);
		if (sent == NTRDMA_SENT_NO_ROOM)
			return NTRDMA_TURN_NO_ROOM;
		if (sent == NTRDMA_SENT_NOTHING)
			return NTRDMA_TURN_IDLE;
		n++;
	} while (n < NTRDMA_TURN_FRAMES &&
		 qp->sq.turn_bytes < NTRDMA_TURN_BYTES);
	return NTRDMA_TURN_MORE;
}

/**
 * ntrdma_qp_turn - send frames of a QP
 * @qp: QP, which the caller holds
 * @peer: result: peer whose ring has no room
 *
 * Context: the transmitter of the QP's lane; bottom halves are disabled, in an
 * RCU read-side section.
 * Return: whether the QP has more to send.
 */
enum ntrdma_turn ntrdma_qp_turn(struct ntrdma_qp *qp, struct ntrdma_peer **peer)
{
	enum ntrdma_turn turn = NTRDMA_TURN_IDLE;

	if (qp->ib.qp_type != IB_QPT_RC)
		return ntrdma_ud_turn(qp, peer);
	if (!ntrdma_turn_begin(qp))
		return NTRDMA_TURN_IDLE;
	*peer = rcu_dereference(qp->peer);
	if (*peer && smp_load_acquire(&(*peer)->open)) /* ntrdma_lane_open() */
		turn = ntrdma_turn_frames(qp, *peer);
	ntrdma_turn_end(qp);
	return turn;
}
