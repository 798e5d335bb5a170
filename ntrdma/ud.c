// SPDX-License-Identifier: GPL-2.0
/*
 * Datagrams: UD QPs, and QP 1, which the connection manager uses.
 *
 * A datagram that finds no link, no QP or no receive is dropped, as on any
 * network. Its sender repeats it, if it needs to.
 */
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <rdma/ib_pack.h>

#include "verbs.h"
#include "win.h"

/* Hop limit and next header of the GRH; see the RoCE v2 annex, A17.3.1. */
#define NTRDMA_HOP_LIMIT	64
#define NTRDMA_NEXT_HDR		0x1b

static void ntrdma_ud_done(struct ntrdma_qp *qp, struct ntrdma_wqe *wqe,
			   enum ib_wc_status status)
{
	unsigned long flags;

	spin_lock_irqsave(&qp->lock, flags);
	wqe->done = true;
	wqe->status = status;
	if (status)
		qp->sq.stuck = true;
	else
		qp->sq.next++;
	spin_unlock_irqrestore(&qp->lock, flags);
	ntrdma_lane_finish(qp);
}

static struct ntrdma_frame ntrdma_ud_frame(const struct ntrdma_qp *qp,
					   const struct ntrdma_wqe *wqe)
{
	struct ntrdma_frame frame = {
		.kind = NTRDMA_UD,
		.dest_qp = wqe->remote_qpn,
		.src_qp = qp->number,
		.bytes = NTRDMA_UD_GIDS + wqe->total,
		.offset = wqe->ah.vlan,
		.rkey = wqe->qkey,
	};

	if (wqe->send_flags & IB_SEND_SOLICITED)
		frame.flags |= NTRDMA_SOLICITED;
	if (wqe->op & NTRDMA_OP_IMM) {
		frame.flags |= NTRDMA_IMM;
		frame.imm = wqe->imm;
	}
	return frame;
}

/* Copy GIDs and datagram to the window. */
static int ntrdma_ud_copy(struct ntrdma_qp *qp, const struct ntrdma_wqe *wqe,
			  void *to)
{
	memcpy(to, &wqe->ah.sgid, sizeof(wqe->ah.sgid));
	memcpy(to + sizeof(wqe->ah.sgid), &wqe->ah.dgid, sizeof(wqe->ah.dgid));
	to += NTRDMA_UD_GIDS;
	if (wqe->is_inline) {
		memcpy(to, wqe->data, wqe->total);
		return 0;
	}
	if (!wqe->total)
		return 0;
	return ntrdma_mem_sges(qp->dev, qp->ib.pd, wqe->sge, wqe->num_sge, 0,
			       to, wqe->total, NTRDMA_COPY_OUT);
}

/* Return false if the ring of @peer has no room now. */
static bool ntrdma_ud_send(struct ntrdma_qp *qp, struct ntrdma_wqe *wqe,
			   struct ntrdma_peer *peer)
{
	struct ntrdma_frame frame = ntrdma_ud_frame(qp, wqe);
	struct ntrdma_slot slot;

	if (!peer) {
		ntrdma_count(qp->dev, NTRDMA_STAT_UD_DROPPED);
		ntrdma_ud_done(qp, wqe, IB_WC_SUCCESS);
		return true;
	}
	if (!ntrdma_slot_reserve(&slot, peer, qp->lane->number, frame.bytes)) {
		if (!ntrdma_ring_is_stuck(peer, qp->lane->number))
			return false;
		/*
		 * Do not let this peer hold up datagrams to the others, or
		 * consumers that wait for the end of their datagrams.
		 */
		ntrdma_count(qp->dev, NTRDMA_STAT_UD_DROPPED);
		ntrdma_ud_done(qp, wqe, IB_WC_SUCCESS);
		return true;
	}
	if (ntrdma_ud_copy(qp, wqe, slot.buf)) {
		ntrdma_ud_done(qp, wqe, IB_WC_LOC_PROT_ERR);
		return true;
	}
	ntrdma_slot_commit(&slot, &frame, NULL);
	ntrdma_ud_done(qp, wqe, IB_WC_SUCCESS);
	return true;
}

/* Return the next datagram to send, or NULL; the poll does not flush it then. */
static struct ntrdma_wqe *ntrdma_ud_next(struct ntrdma_qp *qp)
{
	struct ntrdma_sq *sq = &qp->sq;
	struct ntrdma_wqe *wqe = NULL;
	unsigned long flags;

	spin_lock_irqsave(&qp->lock, flags);
	sq->sending = qp->state == IB_QPS_RTS && !sq->stuck &&
		      sq->next != sq->head;
	if (sq->sending)
		wqe = &sq->wqe[sq->next & (sq->size - 1)];
	spin_unlock_irqrestore(&qp->lock, flags);
	return wqe;
}

/**
 * ntrdma_ud_turn - send a datagram
 * @qp: QP, which the caller holds
 * @peer: result: peer whose ring has no room
 *
 * Context: the transmitter of the QP's lane; bottom halves are disabled, in an
 * RCU read-side section.
 * Return: whether the QP has more to send.
 */
enum ntrdma_turn ntrdma_ud_turn(struct ntrdma_qp *qp, struct ntrdma_peer **peer)
{
	struct ntrdma_wqe *wqe = ntrdma_ud_next(qp);
	bool room;

	if (!wqe)
		return NTRDMA_TURN_IDLE;
	if (wqe->status) {
		ntrdma_ud_done(qp, wqe, wqe->status);
		room = true;
	} else {
		*peer = ntrdma_peer_by_mac(qp->dev, wqe->ah.mac);
		room = ntrdma_ud_send(qp, wqe, *peer);
	}
	ntrdma_turn_end(qp);
	return room ? NTRDMA_TURN_MORE : NTRDMA_TURN_NO_ROOM;
}

/*
 * The 40 bytes before a datagram. With IPv4 addresses, they are 20 unused bytes
 * and an IPv4 header. The core checks its checksum to tell it from an IPv6
 * header.
 */
static enum rdma_network_type
ntrdma_grh(union rdma_network_hdr *grh, const union ib_gid *sgid,
	   const union ib_gid *dgid, u32 bytes)
{
	struct iphdr *ip = &grh->roce4grh;

	memset(grh, 0, sizeof(*grh));
	if (!ipv6_addr_v4mapped((const struct in6_addr *)sgid) ||
	    !ipv6_addr_v4mapped((const struct in6_addr *)dgid)) {
		grh->ibgrh.version_tclass_flow = cpu_to_be32(6 << 28);
		grh->ibgrh.paylen = cpu_to_be16(bytes);
		grh->ibgrh.next_hdr = NTRDMA_NEXT_HDR;
		grh->ibgrh.hop_limit = NTRDMA_HOP_LIMIT;
		grh->ibgrh.sgid = *sgid;
		grh->ibgrh.dgid = *dgid;
		return RDMA_NETWORK_IPV6;
	}
	ip->version = 4;
	ip->ihl = sizeof(*ip) / 4;
	ip->ttl = NTRDMA_HOP_LIMIT;
	ip->protocol = IPPROTO_UDP;
	ip->tot_len = cpu_to_be16(sizeof(*ip) + bytes);
	memcpy(&ip->saddr, sgid->raw + 12, sizeof(ip->saddr));
	memcpy(&ip->daddr, dgid->raw + 12, sizeof(ip->daddr));
	ip_send_check(ip);
	return RDMA_NETWORK_IPV4;
}

static struct ib_wc ntrdma_ud_wc(const struct ntrdma_frame *frame)
{
	struct ib_wc wc = {
		.status = IB_WC_SUCCESS,
		.opcode = IB_WC_RECV,
		.byte_len = sizeof(struct ib_grh) + frame->bytes -
			    NTRDMA_UD_GIDS,
		.src_qp = frame->src_qp,
		.wc_flags = IB_WC_GRH | IB_WC_WITH_NETWORK_HDR_TYPE,
	};

	if (frame->offset != NTRDMA_NO_VLAN) {
		wc.wc_flags |= IB_WC_WITH_VLAN;
		wc.vlan_id = frame->offset & VLAN_VID_MASK;
	}
	if (frame->flags & NTRDMA_IMM) {
		wc.wc_flags |= IB_WC_WITH_IMM;
		wc.ex.imm_data = (__force __be32)cpu_to_le32(frame->imm);
	}
	return wc;
}

/*
 * Copy GRH and datagram to the receive. GIDs are read from the window once.
 *
 * A datagram that is longer than the receive is dropped before, and the receive
 * is kept: the MAD layer does not post a receive again that has failed, so a
 * peer could end QP 1.
 */
static enum ib_wc_status ntrdma_ud_store(struct ntrdma_qp *qp,
					 const struct ntrdma_frame *frame,
					 const void *data, struct ib_wc *wc)
{
	const struct ntrdma_recv *recv = &qp->resp.recv;
	u32 bytes = frame->bytes - NTRDMA_UD_GIDS;
	struct ib_pd *pd = ntrdma_recv_pd(qp);
	union rdma_network_hdr grh;
	union ib_gid gid[2];

	memcpy(gid, data, sizeof(gid));
	wc->network_hdr_type = ntrdma_grh(&grh, &gid[0], &gid[1], bytes);
	if (ntrdma_mem_sges(qp->dev, pd, recv->sge, recv->num_sge, 0, &grh,
			    sizeof(grh), NTRDMA_COPY_IN))
		return IB_WC_LOC_PROT_ERR;
	if (bytes &&
	    ntrdma_mem_sges(qp->dev, pd, recv->sge, recv->num_sge, sizeof(grh),
			    (void *)data + NTRDMA_UD_GIDS, bytes,
			    NTRDMA_COPY_IN))
		return IB_WC_LOC_PROT_ERR;
	return IB_WC_SUCCESS;
}

/**
 * ntrdma_ud_take - receive a datagram
 * @qp: QP that the caller holds
 * @frame: header
 * @data: payload
 *
 * Context: poll of lane 0.
 */
void ntrdma_ud_take(struct ntrdma_qp *qp, const struct ntrdma_frame *frame,
		    const void *data)
{
	enum ib_qp_state state = READ_ONCE(qp->state);
	struct ib_wc wc = ntrdma_ud_wc(frame);
	struct ntrdma_note note = {};
	unsigned long flags;

	if ((state != IB_QPS_RTR && state != IB_QPS_RTS) ||
	    frame->rkey != qp->attr.qkey || !ntrdma_get_recv(qp) ||
	    wc.byte_len > qp->resp.recv.bytes) {
		ntrdma_count(qp->dev, NTRDMA_STAT_UD_DROPPED);
		return;
	}
	wc.status = ntrdma_ud_store(qp, frame, data, &wc);
	spin_lock_irqsave(&qp->lock, flags);
	ntrdma_wc_recv(qp, &wc, frame->flags & NTRDMA_SOLICITED, &note);
	spin_unlock_irqrestore(&qp->lock, flags);
	ntrdma_notify(qp, &note);
}
