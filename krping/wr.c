// SPDX-License-Identifier: GPL-2.0
/*
 * Work requests that are posted one at a time: messages, a READ or WRITE,
 * registering and invalidating. stream.c posts work requests of which many are
 * in flight.
 */
#include <linux/bottom_half.h>

#include "priv.h"

static void krping_op_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct krping_op *op = container_of(wc->wr_cqe, struct krping_op, cqe);
	struct krping_session *s = op->session;
	unsigned long flags;

	if (wc->status != IB_WC_SUCCESS) {
		krping_failed(s, wc, op->name);
		return;
	}
	spin_lock_irqsave(&s->lock, flags);
	if (op->counter < KRPING_COUNTERS)
		krping_count_locked(s, op->counter, 1, op->bytes);
	s->events |= op->event;
	wake_up(&s->wait);
	spin_unlock_irqrestore(&s->lock, flags);
}

static void krping_op_init(struct krping_op *op, struct krping_session *s,
			   const char *name, u32 event)
{
	*op = (struct krping_op){
		.cqe.done = krping_op_done,
		.session = s,
		.name = name,
		.event = event,
		.counter = KRPING_COUNTERS,
	};
}

/**
 * krping_ops_init - initialize the completion handlers of a session
 * @s: session without work requests
 */
void krping_ops_init(struct krping_session *s)
{
	krping_op_init(&s->wr.sent, s, "SEND", KRPING_EV_SENT);
	s->wr.sent.counter = KRPING_SEND;
	s->wr.sent.bytes = sizeof(struct krping_wire);
	krping_op_init(&s->wr.moved, s, "RDMA", KRPING_EV_MOVED);
	krping_op_init(&s->wr.invalidated, s, "LOCAL_INV",
		       KRPING_EV_INVALIDATED);
	krping_op_init(&s->wr.registered, s, "REG_MR", 0);
	krping_op_init(&s->wr.nudged, s, "nudge", 0);
	krping_op_init(&s->wr.probed, s, "probe", KRPING_EV_PROBED);
}

/**
 * krping_post - post work requests
 * @s: session
 * @wr: first work request of the list
 *
 * Before Linux 6.4 rxe sends from a tasklet. local_bh_enable() runs a scheduled
 * tasklet at once, instead of leaving it to ksoftirqd.
 *
 * Return: 0 or -errno.
 */
int krping_post(struct krping_session *s, const struct ib_send_wr *wr)
{
	int ret;

	local_bh_disable();
	ret = ib_post_send(s->conn.cb->qp, wr, NULL);
	local_bh_enable();
	return ret;
}

/**
 * krping_touch - make the peer's adapter acknowledge a WRITE of no bytes
 * @s: session
 * @op: nudge or probe; its completion shows that the peer's adapter has
 *	acknowledged
 *
 * A WRITE of no bytes needs no key and changes no memory.
 *
 * Return: 0 or -errno.
 */
int krping_touch(struct krping_session *s, struct krping_op *op)
{
	struct ib_rdma_wr wr = {
		.wr = {
			.wr_cqe = &op->cqe,
			.opcode = IB_WR_RDMA_WRITE,
			.send_flags = IB_SEND_SIGNALED,
		},
	};

	return krping_post(s, &wr.wr);
}

/*
 * Put a REG_MR in front of @next, unless the buffer is registered. Return the
 * first work request.
 */
static const struct ib_send_wr *krping_reg_wr(struct krping_session *s,
					      struct ib_reg_wr *reg,
					      struct krping_buf *buf,
					      int access,
					      struct ib_send_wr *next)
{
	if (buf->valid)
		return next;
	*reg = (struct ib_reg_wr){
		.wr = {
			.next = next,
			.wr_cqe = &s->wr.registered.cqe,
			.opcode = IB_WR_REG_MR,
		},
		.mr = buf->mr,
		.key = buf->mr->rkey,
		.access = access,
	};
	buf->valid = true;
	return &reg->wr;
}

static const struct ib_send_wr *krping_inv_wr(struct krping_session *s,
					      struct ib_send_wr *inv,
					      struct krping_buf *buf,
					      const struct ib_send_wr *next)
{
	*inv = (struct ib_send_wr){
		.next = (struct ib_send_wr *)next,
		.wr_cqe = &s->wr.invalidated.cqe,
		.opcode = IB_WR_LOCAL_INV,
		.send_flags = IB_SEND_SIGNALED,
		.ex.invalidate_rkey = buf->mr->rkey,
	};
	buf->valid = false;
	buf->dying = true;
	return inv;
}

/**
 * krping_dying - return the event to wait for before a buffer can be unmapped
 * @buf: buffer, or NULL
 *
 * Return: KRPING_EV_INVALIDATED if its LOCAL_INV was posted, otherwise 0.
 */
u32 krping_dying(const struct krping_buf *buf)
{
	return buf && buf->dying ? KRPING_EV_INVALIDATED : 0;
}

/*
 * Check whether the next SEND must invalidate a key of the peer. With
 * server_inv, each answer of a server invalidates the key in the message that
 * it answers. The client's end message has size 0 and no key, so its answer
 * invalidates no key.
 */
static bool krping_says_inv(const struct krping_session *s)
{
	return s->opts->server_inv && s->opts->role == KRPING_ROLE_SERVER &&
	       s->opts->test == KRPING_TEST_PING && s->peer.adv.size;
}

/**
 * krping_say - send a message
 * @s: session without a message in flight
 * @adv: content
 * @old: buffer to invalidate first, if its key is valid; or NULL
 * @new: mapped buffer to register first, unless it is registered; or NULL
 * @access: access flags of @new
 *
 * One doorbell posts all work requests. The caller waits for KRPING_EV_SENT
 * and, with @old, for the event that krping_dying() returns for @old. After
 * this wait the caller calls krping_buf_unmap() for @old.
 *
 * Return: 0 or -errno.
 */
int krping_say(struct krping_session *s, const struct krping_adv *adv,
	       struct krping_buf *old, struct krping_buf *new, int access)
{
	struct ib_sge sge = {
		.addr = s->wr.send.dma,
		.length = sizeof(*s->wr.send.wire),
		.lkey = s->conn.cb->pd->local_dma_lkey,
	};
	struct ib_send_wr send = {
		.wr_cqe = &s->wr.sent.cqe,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED,
	};
	const struct ib_send_wr *first = &send;
	struct ib_send_wr inv;
	struct ib_reg_wr reg;

	if (krping_says_inv(s)) {
		send.opcode = IB_WR_SEND_WITH_INV;
		send.ex.invalidate_rkey = s->peer.adv.rkey;
	}
	ib_dma_sync_single_for_cpu(s->conn.ibdev, s->wr.send.dma, sge.length,
				   DMA_TO_DEVICE);
	krping_wire_encode(s->wr.send.wire, adv);
	ib_dma_sync_single_for_device(s->conn.ibdev, s->wr.send.dma, sge.length,
				      DMA_TO_DEVICE);
	if (new)
		first = krping_reg_wr(s, &reg, new, access, &send);
	if (old && old->valid)
		first = krping_inv_wr(s, &inv, old, first);
	return krping_post(s, first);
}

/**
 * krping_move - post a READ from, or a WRITE to, the peer's buffer
 * @s: session without a READ or WRITE in flight; @s->peer must hold a message
 *	of the peer, which has the address and key of its buffer
 * @opcode: IB_WR_RDMA_READ, IB_WR_RDMA_READ_WITH_INV or IB_WR_RDMA_WRITE
 * @buf: mapped buffer of this side
 * @access: access flags of @buf, if it must be registered first
 * @len: number of bytes, at most @buf->size
 *
 * The completion sets KRPING_EV_MOVED.
 *
 * Return: 0 or -errno.
 */
int krping_move(struct krping_session *s, enum ib_wr_opcode opcode,
		struct krping_buf *buf, int access, u32 len)
{
	bool is_write = opcode == IB_WR_RDMA_WRITE;
	struct ib_sge sge = {
		.addr = buf->dma,
		.length = len,
		.lkey = buf->nents ? buf->mr->lkey :
				     s->conn.cb->pd->local_dma_lkey,
	};
	struct ib_rdma_wr rdma = {
		.wr = {
			.wr_cqe = &s->wr.moved.cqe,
			.sg_list = &sge,
			.num_sge = 1,
			.opcode = opcode,
			.send_flags = IB_SEND_SIGNALED,
		},
		.remote_addr = s->peer.adv.addr,
		.rkey = s->peer.adv.rkey,
	};
	const struct ib_send_wr *first = &rdma.wr;
	struct ib_reg_wr reg;

	s->wr.moved.name = is_write ? "RDMA_WRITE" : "RDMA_READ";
	s->wr.moved.counter = is_write ? KRPING_WRITE : KRPING_READ;
	s->wr.moved.bytes = len;
	if (buf->nents)
		first = krping_reg_wr(s, &reg, buf, access, &rdma.wr);
	if (opcode == IB_WR_RDMA_READ_WITH_INV) {
		rdma.wr.ex.invalidate_rkey = buf->mr->lkey;
		buf->valid = false;
	}
	return krping_post(s, first);
}

/**
 * krping_invalidate - invalidate a buffer's key
 * @s: session without a LOCAL_INV in flight
 * @buf: registered buffer
 *
 * The completion sets KRPING_EV_INVALIDATED. The caller waits for this event
 * and then calls krping_buf_unmap().
 *
 * Return: 0 or -errno.
 */
int krping_invalidate(struct krping_session *s, struct krping_buf *buf)
{
	struct ib_send_wr inv;

	return krping_post(s, krping_inv_wr(s, &inv, buf, NULL));
}

/**
 * krping_register - register a buffer for the rest of the run
 * @s: session
 * @buf: mapped buffer that is not registered
 * @access: access flags
 *
 * Return: 0 or -errno.
 */
int krping_register(struct krping_session *s, struct krping_buf *buf,
		    int access)
{
	struct ib_reg_wr reg;

	return krping_post(s, krping_reg_wr(s, &reg, buf, access, NULL));
}
