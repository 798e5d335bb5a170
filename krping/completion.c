// SPDX-License-Identifier: GPL-2.0
/*
 * Messages from the peer, and waiting for completions. Work requests are posted
 * in wr.c.
 *
 * The task that runs a session posts sends and waits for their completions. The
 * completion handlers run in softirq context, or in the task itself if it
 * polls. A handler sets a bit of krping_session.events, and leaves the state of
 * the protocol to the task. The handler of a receive posts the receive again
 * before the task acts on the message.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/jiffies.h>
#include <linux/printk.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <rdma/rdma_cm.h>

#include "priv.h"

/*
 * Number and interval of nudges: WRITEs of no bytes to an iWARP peer that has
 * not sent its first message, see krping_wait_first().
 */
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
 * krping_fail - end a session with an error
 * @s: session
 * @error: result of the session's waits, unless an earlier error is set
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

/**
 * krping_failed - handle the completion of a failed work request
 * @s: session
 * @wc: completion, of which only status and wr_cqe are valid
 * @name: name of the work request in the log
 *
 * Context: completion handler.
 */
void krping_failed(struct krping_session *s, const struct ib_wc *wc,
		   const char *name)
{
	int error = -EIO;

	/*
	 * A work request is flushed because the connection ends. krdma knows
	 * the reason, so log nothing here.
	 */
	if (wc->status == IB_WC_WR_FLUSH_ERR) {
		krdma_wc_failed(s->conn.cb, wc->status);
		return;
	}
	pr_err_ratelimited("%u: cq completion failed with status %d (%s) of %s\n",
			   s->id, wc->status, ib_wc_status_msg(wc->status),
			   name);
	/*
	 * siw (siw_qp_sq_process(), 6.1 to 7.3) reports IB_WC_LOC_QP_OP_ERR for
	 * every failure to send by TCP, including a connection that the peer
	 * has closed.
	 */
	if (wc->status == IB_WC_RETRY_EXC_ERR)
		error = -ETIMEDOUT;
	else if (wc->status == IB_WC_LOC_QP_OP_ERR &&
		 s->conn.cb->cm_id->device->ops.driver_id == RDMA_DRIVER_SIW)
		error = -ECONNRESET;
	krping_fail(s, error);
}

/**
 * krping_count_locked - add to the statistics
 * @s: session
 * @counter: counter
 * @msgs: number of operations
 * @bytes: length of each operation
 *
 * Context: any, @s->lock held.
 */
void krping_count_locked(struct krping_session *s, enum krping_counter counter,
			 u64 msgs, u32 bytes)
{
	lockdep_assert_held(&s->lock);
	s->counts[counter].bytes += msgs * bytes;
	s->counts[counter].msgs += msgs;
}

static int krping_post_recv(struct krping_session *s, struct krping_msg *msg)
{
	struct ib_sge sge = {
		.addr = msg->dma,
		.length = s->recv.len,
		.lkey = s->conn.cb->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = {
		.wr_cqe = &msg->cqe,
		.sg_list = &sge,
		.num_sge = 1,
	};

	if (msg->pool)
		return krping_pool_post(msg);
	return ib_post_recv(s->conn.cb->qp, &wr, NULL);
}

static void krping_deliver_locked(struct krping_session *s,
				  const struct krping_mail *mail)
{
	struct krping_ctl ctl;

	lockdep_assert_held(&s->lock);
	krping_ctl_decode(&ctl, &mail->adv);
	if (s->conn.ext && ctl.type == KRPING_CTL_CREDIT) {
		/*
		 * Set the credit of this side's stream to the granted total.
		 * The total in the message has 32 bits and may have wrapped.
		 */
		s->flow.credit += ctl.value - (u32)s->flow.credit;
	} else if (s->events & KRPING_EV_RECEIVED) {
		/*
		 * A peer must not send until its previous message is answered.
		 */
		krping_fail_locked(s, -EPROTO);
	} else {
		s->inbox = *mail;
		s->events |= KRPING_EV_RECEIVED;
	}
	wake_up(&s->wait);
}

static bool krping_is_stream(const struct krping_session *s,
			     const struct ib_wc *wc,
			     const struct krping_adv *adv, int error)
{
	struct krping_ctl ctl;

	if (wc->opcode == IB_WC_RECV_RDMA_WITH_IMM)
		return s->opts->imm;
	if (s->opts->test != KRPING_TEST_SLAT &&
	    s->opts->test != KRPING_TEST_SBW)
		return false;
	/*
	 * Data of a stream have a value other than 0 where a message has its
	 * size, so krping_ctl_decode() finds no type in them. The peer's first
	 * message has no type either, and arrives before streaming is set.
	 */
	if (error)
		return true;
	krping_ctl_decode(&ctl, adv);
	return !ctl.type && s->flow.streaming;
}

static void krping_received_locked(struct krping_session *s,
				   struct krping_msg *msg,
				   const struct ib_wc *wc)
{
	struct krping_mail mail = {
		.has_inv = wc->wc_flags & IB_WC_WITH_INVALIDATE,
		.inv_rkey = wc->ex.invalidate_rkey,
	};
	int ret, error;

	lockdep_assert_held(&s->lock);
	krping_count_locked(s, KRPING_RECV, 1, wc->byte_len);
	ib_dma_sync_single_for_cpu(s->conn.ibdev, msg->dma, sizeof(*msg->wire),
				   DMA_FROM_DEVICE);
	error = krping_wire_decode(&mail.adv, msg->wire, wc->byte_len);
	ib_dma_sync_single_for_device(s->conn.ibdev, msg->dma,
				      sizeof(*msg->wire), DMA_FROM_DEVICE);
	ret = krping_post_recv(s, msg);
	if (ret) {
		krping_fail_locked(s, ret);
	} else if (krping_is_stream(s, wc, &mail.adv, error)) {
		/* Count one operation of the peer's stream. */
		if (++s->flow.arrived >= s->flow.wanted)
			wake_up(&s->wait);
	} else if (error) {
		pr_err_ratelimited("%u: Received bogus data, size %u\n",
				   s->id, wc->byte_len);
		krping_fail_locked(s, error);
	} else {
		krping_deliver_locked(s, &mail);
	}
}

/**
 * krping_recv_take - handle the completion of a receive
 * @s: session whose connection received the message; the connection is not
 *	released
 * @msg: receive
 * @wc: completion of @msg
 *
 * Once the session has an error, nothing is posted: its task may be draining.
 *
 * Context: completion handler.
 * Return: true if @msg was posted again, or if @s failed because posting
 * failed. false if the caller still owns @msg.
 */
bool krping_recv_take(struct krping_session *s, struct krping_msg *msg,
		      const struct ib_wc *wc)
{
	unsigned long flags;
	bool taken;

	if (wc->status != IB_WC_SUCCESS) {
		krping_failed(s, wc, "RECV");
		return false;
	}
	spin_lock_irqsave(&s->lock, flags);
	taken = !s->error;
	if (taken)
		krping_received_locked(s, msg, wc);
	spin_unlock_irqrestore(&s->lock, flags);
	return taken;
}

static void krping_recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct krping_msg *msg =
		container_of(wc->wr_cqe, struct krping_msg, cqe);

	krping_recv_take(msg->session, msg, wc);
}

/**
 * krping_msg_alloc - allocate and map memory for a message
 * @msg: result, without an owner
 * @ibdev: device
 * @len: length in bytes
 * @dir: direction of the mapping
 *
 * Each message has its cache lines for itself, because the adapter writes them
 * while the processor uses other messages.
 *
 * Return: 0, -ENOMEM or -EIO.
 */
int krping_msg_alloc(struct krping_msg *msg, struct ib_device *ibdev, u32 len,
		     enum dma_data_direction dir)
{
	struct krping_wire *wire;
	u64 dma;

	wire = kzalloc(max_t(u32, len, L1_CACHE_BYTES),
		       GFP_KERNEL | __GFP_NOWARN);
	if (!wire)
		return -ENOMEM;
	dma = ib_dma_map_single(ibdev, wire, len, dir);
	if (ib_dma_mapping_error(ibdev, dma)) {
		kfree(wire);
		return -EIO;
	}
	*msg = (struct krping_msg){ .wire = wire, .dma = dma };
	return 0;
}

/**
 * krping_msg_free - undo krping_msg_alloc()
 * @msg: message that no adapter uses, or zeroes
 * @ibdev: as for krping_msg_alloc()
 * @len: as for krping_msg_alloc()
 * @dir: as for krping_msg_alloc()
 */
void krping_msg_free(struct krping_msg *msg, struct ib_device *ibdev, u32 len,
		     enum dma_data_direction dir)
{
	if (!msg->wire)
		return;
	ib_dma_unmap_single(ibdev, msg->dma, len, dir);
	kfree(msg->wire);
	msg->wire = NULL;
}

/* Allocate and post the receives that belong to the session alone. */
static int krping_recvs_init(struct krping_session *s)
{
	struct krping_msg *msg;
	int ret = 0;
	u32 i;

	s->recv.msgs = kvcalloc(s->recv.n, sizeof(*s->recv.msgs), GFP_KERNEL);
	if (!s->recv.msgs)
		return -ENOMEM;
	for (i = 0; !ret && i < s->recv.n; i++) {
		msg = &s->recv.msgs[i];
		ret = krping_msg_alloc(msg, s->conn.ibdev, s->recv.len,
				       DMA_FROM_DEVICE);
		msg->session = s;
		msg->cqe.done = krping_recv_done;
	}
	if (ret)
		return ret;
	for (i = 0; !ret && i < s->recv.n; i++)
		ret = krping_post_recv(s, &s->recv.msgs[i]);
	/*
	 * Wait for the receives that were posted, because the caller frees
	 * their memory.
	 */
	if (ret)
		ib_drain_rq(s->conn.cb->qp);
	return ret;
}

/**
 * krping_io_init - allocate memory and post the receives of a connection
 * @s: session whose connection has a QP and is not connected
 *
 * Return: 0; or -errno, with nothing left allocated.
 */
int krping_io_init(struct krping_session *s)
{
	const struct krping_opts *opts = s->opts;
	bool pings = opts->test == KRPING_TEST_PING &&
		     opts->role == KRPING_ROLE_SERVER;
	int ret;

	krping_ops_init(s);
	ret = krping_msg_alloc(&s->wr.send, s->conn.ibdev,
			       sizeof(*s->wr.send.wire), DMA_TO_DEVICE);
	if (!ret && opts->test != KRPING_TEST_FR)
		ret = krping_buf_alloc(&s->sink, s->conn.cb->pd, opts->size);
	if (!ret && opts->test != KRPING_TEST_FR && !pings)
		ret = krping_buf_alloc(&s->start, s->conn.cb->pd, opts->size);
	/* Post receives last: a handler may use all other memory. */
	if (!ret)
		ret = s->recv.pool ? krping_pool_join(s) : krping_recvs_init(s);
	if (ret)
		krping_io_exit(s);
	return ret;
}

/**
 * krping_io_exit - undo krping_io_init()
 * @s: session whose connection is drained; may be only partly initialized
 */
void krping_io_exit(struct krping_session *s)
{
	u32 i;

	krping_pool_leave(s);
	krping_buf_free(&s->start);
	krping_buf_free(&s->sink);
	krping_msg_free(&s->wr.send, s->conn.ibdev, sizeof(*s->wr.send.wire),
			DMA_TO_DEVICE);
	for (i = 0; s->recv.msgs && i < s->recv.n; i++)
		krping_msg_free(&s->recv.msgs[i], s->conn.ibdev, s->recv.len,
				DMA_FROM_DEVICE);
	kvfree(s->recv.msgs);
	s->recv.msgs = NULL;
}

/*
 * If all events in @arg are set, clear them and set *ret to 0. If not all of
 * them are set and the session has an error, set *ret to this error. Return
 * false if neither is true, so that the wait continues.
 */
static bool krping_take(struct krping_session *s, const void *arg, int *ret)
{
	const u32 *events = arg;
	unsigned long flags;
	bool taken = true;

	spin_lock_irqsave(&s->lock, flags);
	if ((s->events & *events) == *events) {
		s->events &= ~*events;
		if (*events & KRPING_EV_RECEIVED)
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

static long krping_jiffies(u32 ms)
{
	return ms ? msecs_to_jiffies(ms) : MAX_SCHEDULE_TIMEOUT;
}

/*
 * Poll the CQ until @ready is true. No other task polls this CQ.
 */
static int krping_look_until(struct krping_session *s,
			     bool (*ready)(struct krping_session *s,
					   const void *arg, int *ret),
			     const void *arg, u32 ms)
{
	unsigned long until = jiffies + msecs_to_jiffies(ms);
	int ret = 0;

	while (!ret) {
		ib_process_cq_direct(s->conn.cb->qp->send_cq, -1);
		if (ready(s, arg, &ret))
			return ret;
		if (ms && time_after(jiffies, until))
			return -ETIMEDOUT;
		/*
		 * Yield the processor. If there is only one, the other tasks of
		 * the connection need schedule() to run.
		 */
		if (num_online_cpus() == 1)
			schedule();
		ret = krping_turn_pass(s);
	}
	return ret;
}

/**
 * krping_wait_until - wait for a condition that a completion handler makes true
 * @s: session
 * @ready: checks the condition; if the condition is true, *ret is the result of
 *	the wait
 * @arg: argument of @ready
 * @ms: timeout in ms, 0 means no limit
 *
 * Any signal ends the wait, not only a fatal one. Ctrl-C has always stopped a
 * run, and a shell with a builtin echo catches SIGINT, so that this signal is
 * not fatal.
 *
 * Return: the result that @ready has set, -EINTR after a signal, or -ETIMEDOUT.
 */
int krping_wait_until(struct krping_session *s,
		      bool (*ready)(struct krping_session *s, const void *arg,
				    int *ret),
		      const void *arg, u32 ms)
{
	long left;
	int ret = 0;

	if (s->conn.direct)
		return krping_look_until(s, ready, arg, ms);
	krping_turn_give(s);
	left = wait_event_interruptible_timeout(s->wait, ready(s, arg, &ret),
						krping_jiffies(ms));
	if (krping_turn_take(s))
		return -EINTR;
	if (left > 0)
		return ret;
	return left ? -EINTR : -ETIMEDOUT;
}

static void krping_idle_work(struct work_struct *work)
{
	struct krping_session *s =
		container_of(work, struct krping_session, idle.work.work);
	unsigned long flags;
	long left;

	spin_lock_irqsave(&s->lock, flags);
	left = s->idle.deadline - jiffies;
	if (left <= 0) {
		s->idle.late = true;
		wake_up(&s->wait);
		left = krping_jiffies(s->opts->idle_timeout_ms);
	}
	spin_unlock_irqrestore(&s->lock, flags);
	schedule_delayed_work(&s->idle.work, left);
}

static void krping_wait_begin(struct krping_session *s)
{
	unsigned long flags;

	spin_lock_irqsave(&s->lock, flags);
	s->idle.late = false;
	s->idle.deadline = jiffies + msecs_to_jiffies(s->opts->idle_timeout_ms);
	spin_unlock_irqrestore(&s->lock, flags);
}

/**
 * krping_idle_init - prepare a session for krping_idle_start()
 * @s: new session
 */
void krping_idle_init(struct krping_session *s)
{
	INIT_DELAYED_WORK(&s->idle.work, krping_idle_work);
}

/**
 * krping_idle_start - start to check for waits that take too long
 * @s: session
 *
 * One check runs about once per idle_timeout. Waits set no timer of their own,
 * because setting a timer takes a considerable part of a round trip and would
 * be measured with the operation.
 */
void krping_idle_start(struct krping_session *s)
{
	u32 ms = s->opts->idle_timeout_ms;

	krping_wait_begin(s);
	if (ms)
		schedule_delayed_work(&s->idle.work, msecs_to_jiffies(ms));
}

/**
 * krping_idle_stop - undo krping_idle_start()
 * @s: session that is not waiting
 */
void krping_idle_stop(struct krping_session *s)
{
	cancel_delayed_work_sync(&s->idle.work);
}

static bool krping_is_ready(struct krping_session *s,
			    bool (*ready)(struct krping_session *s,
					  const void *arg, int *ret),
			    const void *arg, int *ret)
{
	if (ready(s, arg, ret))
		return true;
	if (!READ_ONCE(s->idle.late))
		return false;
	*ret = -ETIMEDOUT;
	return true;
}

/**
 * krping_wait_ready - wait for a condition, up to idle_timeout
 * @s: session, between krping_idle_start() and krping_idle_stop()
 * @ready: as for krping_wait_until()
 * @arg: as for krping_wait_until()
 *
 * Return: as krping_wait_until().
 */
int krping_wait_ready(struct krping_session *s,
		      bool (*ready)(struct krping_session *s, const void *arg,
				    int *ret),
		      const void *arg)
{
	int ret = 0, interrupted;

	if (s->conn.direct)
		return krping_look_until(s, ready, arg,
					 s->opts->idle_timeout_ms);
	krping_wait_begin(s);
	krping_turn_give(s);
	interrupted = wait_event_interruptible(s->wait,
					       krping_is_ready(s, ready, arg,
							       &ret));
	if (krping_turn_take(s) || interrupted)
		return -EINTR;
	return ret;
}

static bool krping_is_over(struct krping_session *s, const void *arg, int *ret)
{
	*ret = READ_ONCE(s->error);
	return *ret;
}

/**
 * krping_pause - wait for some time
 * @s: session
 * @ms: time in ms
 *
 * Return: 0, -EINTR, or the error that ends the session.
 */
int krping_pause(struct krping_session *s, u32 ms)
{
	int ret = ms ? krping_wait_until(s, krping_is_over, NULL, ms) : 0;

	return ret == -ETIMEDOUT ? 0 : ret;
}

/**
 * krping_pause_until_over - wait until the session has an error
 * @s: session
 *
 * Return: the error, or -EINTR.
 */
int krping_pause_until_over(struct krping_session *s)
{
	return krping_wait_until(s, krping_is_over, NULL, 0);
}

/**
 * krping_wait - wait for completions
 * @s: session
 * @events: KRPING_EV_* that must all be set. They are cleared. With
 *	KRPING_EV_RECEIVED, @s->peer is the message
 * @step: name of the wait, for the log
 *
 * Return: 0, or as krping_wait_until(), or the error that ends the session.
 */
int krping_wait(struct krping_session *s, u32 events, const char *step)
{
	s->step = step;
	return krping_wait_ready(s, krping_take, &events);
}

/**
 * krping_wait_first - wait for the first message of the peer
 * @s: session
 * @events: as for krping_wait()
 * @step: as for krping_wait()
 *
 * The server's side of siw (6.1 to 7.3) ignores data that arrive between its
 * MPA reply and the end of siw_accept(), see siw_cm_llp_data_ready(). siw
 * checks for these data only when more data arrive, so an early first message
 * would never be received. A client therefore sends a few WRITEs of no bytes
 * (nudges). MPA itself uses such a WRITE as its ready-to-receive frame.
 *
 * Clients that send no nudges, such as rping, may hang with siw. A server
 * cannot help them. It could make the client's adapter send data only by a
 * READ, and siw answers a READ of no bytes with stale data that were sent
 * before.
 *
 * Return: as krping_wait().
 */
int krping_wait_first(struct krping_session *s, u32 events, const char *step)
{
	int i, ret;

	s->step = step;
	if (!rdma_protocol_iwarp(s->conn.ibdev, s->conn.cb->cm_id->port_num))
		return krping_wait(s, events, step);
	for (i = 0; i < KRPING_NUDGES; i++) {
		ret = krping_wait_until(s, krping_take, &events,
					KRPING_NUDGE_MS);
		if (ret != -ETIMEDOUT)
			return ret;
		if (s->opts->role == KRPING_ROLE_CLIENT)
			krping_touch(s, &s->wr.nudged);
	}
	return krping_wait(s, events, step);
}

/**
 * krping_probe - check whether the peer's adapter is alive
 * @s: session
 *
 * Return: 0 if the peer's adapter has answered; -EINTR; -ETIMEDOUT if it has
 * not answered; or the error that ends the session.
 */
int krping_probe(struct krping_session *s)
{
	const u32 probed = KRPING_EV_PROBED;
	int ret = krping_touch(s, &s->wr.probed);

	return ret ?: krping_wait_ready(s, krping_take, &probed);
}

/**
 * krping_wait_peer - wait for a message of a peer that may be busy for long
 * @s: session
 * @step: as for krping_wait()
 *
 * To detect a dead peer, its adapter is probed after each idle_timeout.
 *
 * Return: 0 if a message is in @s->peer; -EINTR; -ETIMEDOUT if the peer's
 * adapter does not answer; or another error that ends the session.
 */
int krping_wait_peer(struct krping_session *s, const char *step)
{
	const u32 received = KRPING_EV_RECEIVED;
	int ret;

	s->step = step;
	do {
		ret = krping_wait_ready(s, krping_take, &received);
		if (ret == -ETIMEDOUT)
			ret = krping_probe(s) ?: -EAGAIN;
	} while (ret == -EAGAIN);
	return ret;
}

/**
 * krping_wait_over - wait until the peer disconnects
 * @s: session whose peer does all the work and sends no message
 * @step: as for krping_wait()
 *
 * Return: 0 if the peer has disconnected; -EPROTO if it has sent a message;
 * -EINTR; -ETIMEDOUT; or another error that ends the session.
 */
int krping_wait_over(struct krping_session *s, const char *step)
{
	int ret = krping_wait_peer(s, step);

	if (ret == -ECONNRESET)
		return 0;
	return ret ?: -EPROTO;
}
