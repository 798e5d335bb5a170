// SPDX-License-Identifier: GPL-2.0
/*
 * Frames that have arrived: find the QP to which a frame belongs.
 *
 * A frame is for an RC QP only if it comes from the peer and the QP to which
 * this QP is connected, on the lane of the two. All other frames are dropped. To
 * a request for a QP that does not exist or does not receive yet, a NAK is sent,
 * so the requester repeats it, as it would repeat a packet that was lost.
 */
#include "verbs.h"

static bool ntrdma_is_request(const struct ntrdma_frame *frame)
{
	return frame->kind == NTRDMA_SEND || frame->kind == NTRDMA_WRITE ||
	       frame->kind == NTRDMA_READ || frame->kind == NTRDMA_ATOMIC;
}

/*
 * Remember a NAK. If the list is full, the NAK is dropped, and the requester
 * ends by ntrdma_qps_tick().
 */
static void ntrdma_refuse(struct ntrdma_lane *lane, struct ntrdma_peer *peer,
			  const struct ntrdma_frame *frame)
{
	struct ntrdma_link_ring *ring = &peer->ring[lane->number];

	u32 i;

	ntrdma_count(lane->dev, NTRDMA_STAT_NOT_THERE);
	/* One NAK for a pair of QPs suffices, and the first one counts. */
	for (i = 0; i < ring->num_naks; i++)
		if (ring->nak[i].src_qp == frame->dest_qp &&
		    ring->nak[i].dest_qp == frame->src_qp)
			return;
	if (ring->num_naks == ARRAY_SIZE(ring->nak))
		return;
	ring->nak[ring->num_naks++] = (struct ntrdma_frame){
		.kind = NTRDMA_NAK,
		.dest_qp = frame->src_qp,
		.src_qp = frame->dest_qp,
		.msn = frame->msn,
		.imm = NTRDMA_NAK_NO_QP,
	};
	lane->naks = true;
}

/**
 * ntrdma_send_naks - send the NAKs for QPs that do not exist
 * @lane: lane
 * @peer: peer whose session is open
 *
 * NAKs for which the ring has no room wait for the next call.
 *
 * Context: poll of @lane, which is also its transmitter.
 * Return: true if no NAK is left.
 */
bool ntrdma_send_naks(struct ntrdma_lane *lane, struct ntrdma_peer *peer)
{
	struct ntrdma_link_ring *ring = &peer->ring[lane->number];
	struct ntrdma_slot slot;
	u32 n = 0;

	while (n < ring->num_naks &&
	       ntrdma_slot_reserve(&slot, peer, lane->number, 0))
		ntrdma_slot_commit(&slot, &ring->nak[n++], NULL);
	ring->num_naks -= n;
	memmove(ring->nak, ring->nak + n, ring->num_naks * sizeof(*ring->nak));
	return !ring->num_naks;
}

static bool ntrdma_is_for(const struct ntrdma_qp *qp,
			  const struct ntrdma_peer *peer,
			  const struct ntrdma_frame *frame)
{
	return rcu_access_pointer(qp->peer) == peer &&
	       qp->attr.dest_qp_num == frame->src_qp;
}

/*
 * A QP in the error state refuses requests of its peer, too, but only after the
 * NAK that it has to send. After a NAK that ends the QP it sends no other.
 */
static void ntrdma_refuse_in_order(struct ntrdma_qp *qp)
{
	struct ntrdma_resp *resp = &qp->resp;
	unsigned long flags;
	bool refuse;

	ntrdma_count(qp->dev, NTRDMA_STAT_NOT_THERE);
	spin_lock_irqsave(&qp->lock, flags);
	refuse = !resp->fatal && !resp->nak;
	if (refuse) {
		resp->nak = NTRDMA_NAK_NO_QP;
		resp->nak_msn = resp->msn;
	}
	spin_unlock_irqrestore(&qp->lock, flags);
	if (refuse)
		ntrdma_lane_kick(qp);
}

static void ntrdma_take_refused(struct ntrdma_lane *lane,
				struct ntrdma_peer *peer, struct ntrdma_qp *qp,
				enum ib_qp_state state,
				const struct ntrdma_frame *frame)
{
	if (!ntrdma_is_request(frame))
		return;
	if (state == IB_QPS_ERR && ntrdma_is_for(qp, peer, frame))
		ntrdma_refuse_in_order(qp);
	else
		ntrdma_refuse(lane, peer, frame);
}

static void ntrdma_take_rc(struct ntrdma_lane *lane, struct ntrdma_peer *peer,
			   struct ntrdma_qp *qp,
			   const struct ntrdma_frame *frame, const void *data)
{
	/* ntrdma_qp_set_state() */
	enum ib_qp_state state = smp_load_acquire(&qp->state);

	if (state != IB_QPS_RTR && state != IB_QPS_RTS) {
		ntrdma_take_refused(lane, peer, qp, state, frame);
		return;
	}
	if (!ntrdma_is_for(qp, peer, frame) || qp->lane != lane) {
		ntrdma_count(lane->dev, NTRDMA_STAT_WRONG_QP);
		return;
	}
	if (ntrdma_is_request(frame))
		ntrdma_resp_take(qp, frame, data);
	else if (state == IB_QPS_RTS)
		ntrdma_comp_take(qp, frame, data);
	else
		ntrdma_count(lane->dev, NTRDMA_STAT_DROPPED);
}

/**
 * ntrdma_take - execute a frame
 * @lane: lane on which it has arrived
 * @peer: peer that has sent it
 * @frame: header, which ntrdma_frame_decode() has checked
 * @data: payload. The peer may change it at any time, unless it has at most
 *	%NTRDMA_SHORT bytes
 *
 * Context: poll of @lane; bottom halves are disabled, in an RCU read-side
 * section.
 */
void ntrdma_take(struct ntrdma_lane *lane, struct ntrdma_peer *peer,
		 const struct ntrdma_frame *frame, const void *data)
{
	struct ntrdma_qp *qp = ntrdma_qp_get(lane->dev, frame->dest_qp);
	bool is_ud = frame->kind == NTRDMA_UD;
	bool is_rc;

	if (!qp) {
		if (is_ud)
			ntrdma_count(lane->dev, NTRDMA_STAT_UD_DROPPED);
		else if (ntrdma_is_request(frame))
			ntrdma_refuse(lane, peer, frame);
		return;
	}
	is_rc = qp->ib.qp_type == IB_QPT_RC;
	/* Only the poll of its lane may use a QP. */
	if (is_ud == is_rc || (is_ud && qp->lane != lane))
		ntrdma_count(lane->dev, NTRDMA_STAT_WRONG_QP);
	else if (is_ud)
		ntrdma_ud_take(qp, frame, data);
	else
		ntrdma_take_rc(lane, peer, qp, frame, data);
	ntrdma_qp_put(qp);
}
