// SPDX-License-Identifier: GPL-2.0
/*
 * Work requests and their completions.
 *
 * The task that runs a session posts sends and waits for what completes. The
 * completion handlers run in softirq context; they set a bit for what they
 * stand for, and nothing else is shared: no state that two sides could
 * overwrite. Receives are posted again by their handler, before the message is
 * acted on.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bottom_half.h>
#include <linux/jiffies.h>
#include <linux/printk.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <rdma/rdma_cm.h>

#include "priv.h"

/* A peer that says nothing for so long is dead. */
#define KRPING_IDLE_TIMEOUT_MS 30000

/* How often to nudge an iWARP peer that is silent from the start, and when. */
#define KRPING_NUDGES 3
#define KRPING_NUDGE_MS 100

static void krping_fail_locked(struct krping_session *s, int error)
{
	lockdep_assert_held(&s->lock);
	if (!s->error)
		s->error = error;
	wake_up(&s->wait);
}

/**
 * krping_fail - end the run
 * @s: session
 * @error: what who waits gets; the first one counts
 *
 * Context: any.
 */
void krping_fail(struct krping_session *s, int error)
{
	unsigned long flags;

	spin_lock_irqsave(&s->lock, flags);
	krping_fail_locked(s, error);
	spin_unlock_irqrestore(&s->lock, flags);
}

/* Only status and wr_cqe of a failed completion are valid. */
static void krping_wc_failed(struct krping_session *s, const struct ib_wc *wc,
			     const char *name)
{
	/* The QP is being closed: krdma tells why, or has told. */
	if (wc->status == IB_WC_WR_FLUSH_ERR)
		return;
	pr_err_ratelimited("%u: cq completion failed with status %d (%s) of %s\n",
			   s->id, wc->status, ib_wc_status_msg(wc->status),
			   name);
	krping_fail(s, wc->status == IB_WC_RETRY_EXC_ERR ? -ETIMEDOUT : -EIO);
}

static void krping_count_locked(struct krping_session *s,
				enum krping_counter counter, u32 bytes)
{
	lockdep_assert_held(&s->lock);
	s->counts[counter].bytes += bytes;
	s->counts[counter].msgs++;
}

static void krping_op_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct krping_op *op = container_of(wc->wr_cqe, struct krping_op, cqe);
	struct krping_session *s = op->session;
	unsigned long flags;

	if (wc->status != IB_WC_SUCCESS) {
		krping_wc_failed(s, wc, op->name);
		return;
	}
	spin_lock_irqsave(&s->lock, flags);
	if (op->counter < KRPING_COUNTERS)
		krping_count_locked(s, op->counter, op->bytes);
	s->events |= op->event;
	wake_up(&s->wait);
	spin_unlock_irqrestore(&s->lock, flags);
}

static int krping_post_recv(struct krping_session *s, struct krping_msg *msg)
{
	struct ib_sge sge = {
		.addr = msg->dma,
		.length = sizeof(*msg->wire),
		.lkey = s->cb->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = {
		.wr_cqe = &msg->cqe,
		.sg_list = &sge,
		.num_sge = 1,
	};

	return ib_post_recv(s->cb->qp, &wr, NULL);
}

static void krping_received_locked(struct krping_session *s,
				   struct krping_msg *msg,
				   const struct krping_adv *adv)
{
	int ret;

	lockdep_assert_held(&s->lock);
	krping_count_locked(s, KRPING_RECV, sizeof(*msg->wire));
	/* Once error is set somebody may be draining: then nothing is posted. */
	if (s->error)
		return;
	ret = krping_post_recv(s, msg);
	/* Nobody may speak twice before the other has answered. */
	if (!ret && s->events & KRPING_EV_RECEIVED)
		ret = -EPROTO;
	if (ret) {
		krping_fail_locked(s, ret);
		return;
	}
	s->inbox = *adv;
	s->events |= KRPING_EV_RECEIVED;
	wake_up(&s->wait);
}

static void krping_recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct krping_msg *msg =
		container_of(wc->wr_cqe, struct krping_msg, cqe);
	struct krping_session *s = msg->session;
	struct krping_adv adv;
	unsigned long flags;
	int ret;

	if (wc->status != IB_WC_SUCCESS) {
		krping_wc_failed(s, wc, "RECV");
		return;
	}
	ib_dma_sync_single_for_cpu(s->ibdev, msg->dma, sizeof(*msg->wire),
				   DMA_FROM_DEVICE);
	ret = krping_wire_decode(&adv, msg->wire, wc->byte_len);
	ib_dma_sync_single_for_device(s->ibdev, msg->dma, sizeof(*msg->wire),
				      DMA_FROM_DEVICE);
	if (ret) {
		pr_err_ratelimited("%u: Received bogus data, size %u\n", s->id,
				   wc->byte_len);
		krping_fail(s, ret);
		return;
	}
	spin_lock_irqsave(&s->lock, flags);
	krping_received_locked(s, msg, &adv);
	spin_unlock_irqrestore(&s->lock, flags);
}

static int krping_msg_alloc(struct krping_session *s, struct krping_msg *msg,
			    enum dma_data_direction dir)
{
	msg->wire = kzalloc(sizeof(*msg->wire), GFP_KERNEL);
	if (!msg->wire)
		return -ENOMEM;
	msg->dma = ib_dma_map_single(s->ibdev, msg->wire, sizeof(*msg->wire),
				     dir);
	if (ib_dma_mapping_error(s->ibdev, msg->dma)) {
		kfree(msg->wire);
		msg->wire = NULL;
		return -EIO;
	}
	msg->session = s;
	msg->cqe.done = krping_recv_done;
	return 0;
}

static void krping_msg_free(struct krping_session *s, struct krping_msg *msg,
			    enum dma_data_direction dir)
{
	if (!msg->wire)
		return;
	ib_dma_unmap_single(s->ibdev, msg->dma, sizeof(*msg->wire), dir);
	kfree(msg->wire);
	msg->wire = NULL;
}

static void krping_ops_init(struct krping_session *s)
{
	s->sent = (struct krping_op){
		.name = "SEND",
		.event = KRPING_EV_SENT,
		.counter = KRPING_SEND,
		.bytes = sizeof(struct krping_wire),
	};
	s->moved = (struct krping_op){
		.event = KRPING_EV_MOVED,
	};
	s->invalidated = (struct krping_op){
		.name = "LOCAL_INV",
		.event = KRPING_EV_INVALIDATED,
		.counter = KRPING_COUNTERS,
	};
	s->registered = (struct krping_op){
		.name = "REG_MR",
		.counter = KRPING_COUNTERS,
	};
	s->nudged = (struct krping_op){
		.name = "nudge",
		.counter = KRPING_COUNTERS,
	};
	s->sent.session = s;
	s->moved.session = s;
	s->invalidated.session = s;
	s->registered.session = s;
	s->nudged.session = s;
	s->sent.cqe.done = krping_op_done;
	s->moved.cqe.done = krping_op_done;
	s->invalidated.cqe.done = krping_op_done;
	s->registered.cqe.done = krping_op_done;
	s->nudged.cqe.done = krping_op_done;
}

static int krping_msgs_alloc(struct krping_session *s)
{
	int i, ret;

	ret = krping_msg_alloc(s, &s->send, DMA_TO_DEVICE);
	for (i = 0; !ret && i < KRPING_RECVS; i++)
		ret = krping_msg_alloc(s, &s->recvs[i], DMA_FROM_DEVICE);
	return ret;
}

static int krping_bufs_alloc(struct krping_session *s)
{
	int ret = krping_buf_alloc(&s->sink, s->cb->pd, s->opts.size);

	if (ret || s->opts.role == KRPING_ROLE_SERVER)
		return ret;
	return krping_buf_alloc(&s->start, s->cb->pd, s->opts.size);
}

static int krping_post_recvs(struct krping_session *s)
{
	int i, ret = 0;

	for (i = 0; !ret && i < KRPING_RECVS; i++)
		ret = krping_post_recv(s, &s->recvs[i]);
	/* Those that are posted must not outlive their memory. */
	if (ret)
		ib_drain_rq(s->cb->qp);
	return ret;
}

/**
 * krping_io_init - make what a connection needs to carry messages and data
 * @s: session whose connection has a QP and is not connected
 *
 * Receives are posted afterwards.
 *
 * Return: 0 or -errno; then nothing is left behind.
 */
int krping_io_init(struct krping_session *s)
{
	int ret;

	krping_ops_init(s);
	ret = krping_msgs_alloc(s) ?: krping_bufs_alloc(s) ?:
				      krping_post_recvs(s);
	if (ret)
		krping_io_exit(s);
	return ret;
}

/**
 * krping_io_exit - undo krping_io_init()
 * @s: session whose connection is drained; whatever part of it exists
 */
void krping_io_exit(struct krping_session *s)
{
	int i;

	krping_buf_free(&s->start);
	krping_buf_free(&s->sink);
	krping_msg_free(s, &s->send, DMA_TO_DEVICE);
	for (i = 0; i < KRPING_RECVS; i++)
		krping_msg_free(s, &s->recvs[i], DMA_FROM_DEVICE);
}

/* All that was waited for, or the end: takes it and says true. */
static bool krping_take(struct krping_session *s, u32 events, int *ret)
{
	unsigned long flags;
	bool taken = true;

	spin_lock_irqsave(&s->lock, flags);
	if ((s->events & events) == events) {
		s->events &= ~events;
		s->peer = s->inbox;
		*ret = 0;
	} else if (s->error) {
		*ret = s->error;
	} else {
		taken = false;
	}
	spin_unlock_irqrestore(&s->lock, flags);
	return taken;
}

static int krping_wait_ms(struct krping_session *s, u32 events, u32 ms)
{
	long left;
	int ret = 0;

	left = wait_event_interruptible_timeout(s->wait,
						krping_take(s, events, &ret),
						msecs_to_jiffies(ms));
	if (left > 0)
		return ret;
	return left ? -EINTR : -ETIMEDOUT;
}

/**
 * krping_wait - wait for completions
 * @s: session
 * @events: all of these KRPING_EV_*; they are taken, so that the next wait is
 *	for new ones. KRPING_EV_RECEIVED: the message is in @s->peer
 * @step: what is waited for, for the log
 *
 * Any signal ends it, not only a deadly one: shells that run echo themselves
 * catch the interrupt key's, and it is how a run has always been stopped.
 *
 * Return: 0, -EINTR, -ETIMEDOUT, or why the run ends.
 */
int krping_wait(struct krping_session *s, u32 events, const char *step)
{
	s->step = step;
	return krping_wait_ms(s, events, KRPING_IDLE_TIMEOUT_MS);
}

/*
 * rxe up to 6.x sends from a tasklet, which runs at once when the last bottom
 * half is enabled here, and is left to ksoftirqd otherwise.
 */
static int krping_post(struct krping_session *s, const struct ib_send_wr *wr)
{
	int ret;

	local_bh_disable();
	ret = ib_post_send(s->cb->qp, wr, NULL);
	local_bh_enable();
	return ret;
}

/*
 * A WRITE or a READ of no bytes: it needs no key and changes nothing.
 *
 * The accepting side of siw (6.1 to 7.3) ignores what arrives between its MPA
 * reply and the end of siw_accept(), see siw_cm_llp_data_ready(), and looks
 * at it again only when more arrives. So a first message that comes fast would
 * lie there for ever. A client sends some more: MPA itself knows such a WRITE
 * as its ready-to-receive frame. A server could only READ, and siw answers a
 * READ of no bytes with what it sent before; so clients that do not do this,
 * like rping, may hang with siw.
 */
static void krping_nudge(struct krping_session *s)
{
	struct ib_rdma_wr wr = {
		.wr = {
			.wr_cqe = &s->nudged.cqe,
			.opcode = IB_WR_RDMA_WRITE,
			.send_flags = IB_SEND_SIGNALED,
		},
	};

	if (s->opts.role == KRPING_ROLE_CLIENT)
		krping_post(s, &wr.wr);
}

/**
 * krping_wait_first - wait for the first message of the peer
 * @s: session
 * @events: as for krping_wait()
 * @step: as for krping_wait()
 *
 * Return: as krping_wait().
 */
int krping_wait_first(struct krping_session *s, u32 events, const char *step)
{
	int i, ret;

	s->step = step;
	if (!rdma_protocol_iwarp(s->ibdev, s->cb->cm_id->port_num))
		return krping_wait(s, events, step);
	for (i = 0; i < KRPING_NUDGES; i++) {
		ret = krping_wait_ms(s, events, KRPING_NUDGE_MS);
		if (ret != -ETIMEDOUT)
			return ret;
		krping_nudge(s);
	}
	return krping_wait(s, events, step);
}

static struct ib_send_wr *krping_reg_wr(struct krping_session *s,
					struct ib_reg_wr *reg,
					struct krping_buf *buf, int access,
					struct ib_send_wr *next)
{
	*reg = (struct ib_reg_wr){
		.wr = {
			.next = next,
			.wr_cqe = &s->registered.cqe,
			.opcode = IB_WR_REG_MR,
		},
		.mr = buf->mr,
		.key = buf->mr->rkey,
		.access = access,
	};
	return &reg->wr;
}

static struct ib_send_wr *krping_inv_wr(struct krping_session *s,
					struct ib_send_wr *inv,
					struct krping_buf *buf,
					struct ib_send_wr *next)
{
	*inv = (struct ib_send_wr){
		.next = next,
		.wr_cqe = &s->invalidated.cqe,
		.opcode = IB_WR_LOCAL_INV,
		.send_flags = IB_SEND_SIGNALED,
		.ex.invalidate_rkey = buf->mr->rkey,
	};
	return inv;
}

static void krping_fill_send(struct krping_session *s,
			     const struct krping_adv *adv)
{
	ib_dma_sync_single_for_cpu(s->ibdev, s->send.dma,
				   sizeof(*s->send.wire), DMA_TO_DEVICE);
	krping_wire_encode(s->send.wire, adv);
	ib_dma_sync_single_for_device(s->ibdev, s->send.dma,
				      sizeof(*s->send.wire), DMA_TO_DEVICE);
}

/**
 * krping_say - send a message
 * @s: session with no message on its way
 * @adv: the message
 * @old: buffer to invalidate first, or NULL
 * @new: buffer to register first, mapped, or NULL
 * @access: of @new
 *
 * One doorbell for all of it. KRPING_EV_SENT follows, and for @old
 * KRPING_EV_INVALIDATED; krping_buf_unmap() is up to the caller then.
 *
 * Return: 0 or -errno.
 */
int krping_say(struct krping_session *s, const struct krping_adv *adv,
	       struct krping_buf *old, struct krping_buf *new, int access)
{
	struct ib_sge sge = {
		.addr = s->send.dma,
		.length = sizeof(*s->send.wire),
		.lkey = s->cb->pd->local_dma_lkey,
	};
	struct ib_send_wr send = {
		.wr_cqe = &s->sent.cqe,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED,
	};
	struct ib_send_wr *first = &send, inv;
	struct ib_reg_wr reg;

	krping_fill_send(s, adv);
	if (new)
		first = krping_reg_wr(s, &reg, new, access, first);
	if (old)
		first = krping_inv_wr(s, &inv, old, first);
	return krping_post(s, first);
}

/**
 * krping_move - READ from or WRITE to the buffer that the peer has shown
 * @s: session with nothing else of this on its way; @s->peer is the peer's
 *	message
 * @opcode: IB_WR_RDMA_READ or IB_WR_RDMA_WRITE
 * @buf: this side's buffer, mapped
 * @access: to register it with
 * @len: bytes, at most @buf->size
 *
 * KRPING_EV_MOVED follows.
 *
 * Return: 0 or -errno.
 */
int krping_move(struct krping_session *s, enum ib_wr_opcode opcode,
		struct krping_buf *buf, int access, u32 len)
{
	bool is_read = opcode == IB_WR_RDMA_READ;
	struct ib_sge sge = {
		.addr = buf->mr->iova,
		.length = len,
		.lkey = buf->mr->lkey,
	};
	struct ib_rdma_wr rdma = {
		.wr = {
			.wr_cqe = &s->moved.cqe,
			.sg_list = &sge,
			.num_sge = 1,
			.opcode = opcode,
			.send_flags = IB_SEND_SIGNALED,
		},
		.remote_addr = s->peer.addr,
		.rkey = s->peer.rkey,
	};
	struct ib_reg_wr reg;

	s->moved.name = is_read ? "RDMA_READ" : "RDMA_WRITE";
	s->moved.counter = is_read ? KRPING_READ : KRPING_WRITE;
	s->moved.bytes = len;
	return krping_post(s, krping_reg_wr(s, &reg, buf, access, &rdma.wr));
}

/**
 * krping_invalidate - make a buffer's key useless
 * @s: session with no LOCAL_INV on its way
 * @buf: registered buffer
 *
 * KRPING_EV_INVALIDATED follows; krping_buf_unmap() is up to the caller then.
 *
 * Return: 0 or -errno.
 */
int krping_invalidate(struct krping_session *s, struct krping_buf *buf)
{
	struct ib_send_wr inv;

	return krping_post(s, krping_inv_wr(s, &inv, buf, NULL));
}
