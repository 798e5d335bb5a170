// SPDX-License-Identifier: GPL-2.0
/*
 * Details of objects for "rdma -dd resource show". The core holds a reference to
 * the object, which may be destroyed before the reference is given back. So
 * these functions use only members that stay until the memory of the object is
 * freed.
 */
#include <rdma/restrack.h>
#include <uapi/rdma/rdma_netlink.h>

#include "verbs.h"

/* Message numbers of a QP at one moment. */
struct ntrdma_res_qp {
	u32 lane;
	u32 peer;
	bool has_peer;
	bool up;
	u32 waiting;
	u32 in_flight;
	u32 send_msn;
	u32 acked;
	u32 expected;
};

static void ntrdma_res_read_qp(struct ntrdma_qp *qp, struct ntrdma_res_qp *res)
{
	const struct ntrdma_sq *sq = &qp->sq;
	struct ntrdma_peer *peer;
	unsigned long flags;

	rcu_read_lock();
	spin_lock_irqsave(&qp->lock, flags);
	*res = (struct ntrdma_res_qp){
		.waiting = sq->head - sq->next,
		.in_flight = sq->next - sq->tail,
		.send_msn = sq->send_msn,
		.acked = sq->acked,
		.expected = READ_ONCE(qp->resp.msn),
	};
	peer = rcu_dereference(qp->peer);
	if (peer) {
		res->has_peer = true;
		res->peer = peer->member;
		res->up = READ_ONCE(peer->open);
		res->lane = READ_ONCE(qp->lane)->number;
	}
	spin_unlock_irqrestore(&qp->lock, flags);
	rcu_read_unlock();
}

static bool ntrdma_res_put_peer(struct sk_buff *msg,
				const struct ntrdma_res_qp *res)
{
	return !rdma_nl_put_driver_u32(msg, "peer", res->peer) &&
	       !rdma_nl_put_driver_string(msg, "link",
					  res->up ? "up" : "down") &&
	       !rdma_nl_put_driver_u32(msg, "lane", res->lane);
}

static bool ntrdma_res_put_qp(struct sk_buff *msg,
			      const struct ntrdma_res_qp *res)
{
	return (!res->has_peer || ntrdma_res_put_peer(msg, res)) &&
	       !rdma_nl_put_driver_u32(msg, "sq_waiting", res->waiting) &&
	       !rdma_nl_put_driver_u32(msg, "sq_in_flight", res->in_flight) &&
	       !rdma_nl_put_driver_u32(msg, "send_msn", res->send_msn) &&
	       !rdma_nl_put_driver_u32(msg, "acked_msn", res->acked) &&
	       !rdma_nl_put_driver_u32(msg, "expected_msn", res->expected);
}

static int ntrdma_res_end(struct sk_buff *msg, struct nlattr *table, bool fits)
{
	if (!fits) {
		nla_nest_cancel(msg, table);
		return -EMSGSIZE;
	}
	nla_nest_end(msg, table);
	return 0;
}

/**
 * ntrdma_fill_res_qp - add the state of a QP to an answer
 * @msg: answer
 * @ib: QP
 *
 * Context: may sleep.
 * Return: 0 or -EMSGSIZE.
 */
int ntrdma_fill_res_qp(struct sk_buff *msg, struct ib_qp *ib)
{
	struct ntrdma_res_qp res;
	struct nlattr *table;

	ntrdma_res_read_qp(to_ntrdma_qp(ib), &res);
	table = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
	if (!table)
		return -EMSGSIZE;
	return ntrdma_res_end(msg, table, ntrdma_res_put_qp(msg, &res));
}

/**
 * ntrdma_fill_res_cq - add the number of completions in a CQ to an answer
 * @msg: answer
 * @ib: CQ
 *
 * Context: may sleep.
 * Return: 0 or -EMSGSIZE.
 */
int ntrdma_fill_res_cq(struct sk_buff *msg, struct ib_cq *ib)
{
	struct ntrdma_cq *cq = to_ntrdma_cq(ib);
	struct nlattr *table;
	unsigned long flags;
	u32 used;

	spin_lock_irqsave(&cq->lock, flags);
	used = cq->user ? ntrdma_uqueue_added(cq->user) : cq->head - cq->tail;
	spin_unlock_irqrestore(&cq->lock, flags);
	table = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
	if (!table)
		return -EMSGSIZE;
	return ntrdma_res_end(msg, table,
			      !rdma_nl_put_driver_u32(msg, "used", used));
}

/**
 * ntrdma_fill_res_mr - tell in an answer whether the keys of a region are valid
 * @msg: answer
 * @ib: region
 *
 * Context: may sleep.
 * Return: 0 or -EMSGSIZE.
 */
int ntrdma_fill_res_mr(struct sk_buff *msg, struct ib_mr *ib)
{
	const char *state = READ_ONCE(to_ntrdma_mr(ib)->valid) ?
			    "valid" : "invalid";
	struct nlattr *table = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);

	if (!table)
		return -EMSGSIZE;
	return ntrdma_res_end(msg, table,
			      !rdma_nl_put_driver_string(msg, "state", state));
}
