// SPDX-License-Identifier: GPL-2.0
/*
 * Internal messages:
 *  - CREDIT returns credits
 *  - PING probes the peer, and PONG answers a PING
 *  - PULLED answers a CHUNK, a message that only describes memory of its
 *    sender. PULLED reports that this memory has been read
 *  - BYE announces that its sender closes the connection
 *
 * Each kind has a buffer and a reserved send queue slot, both created with the
 * QP. So sending an internal message needs no memory and never waits. At most
 * one message of each kind is in flight.
 *
 * Only CREDIT takes a credit. The other kinds take none, because two ends that
 * have filled each other's receive queues must still be able to probe. Instead,
 * each end posts a few receives more than it advertises. They are enough: an
 * end sends the next PING only after the PONG for the last one, or one interval
 * later. It sends the next PULLED only after it has read another CHUNK, and it
 * reads one CHUNK at a time. It sends one BYE. Receives of internal messages
 * are posted again at once.
 *
 * A connection on which nothing has arrived for one interval
 * (krdma_params.keepalive_ms) is probed. If the peer stays silent for
 * KRDMA_ALIVE_MISSES more intervals, the connection ends with -ETIMEDOUT.
 * Everything that arrives counts as a sign of life, also the answer to a READ.
 * Without probes, this side might never notice the loss of a peer from which it
 * expects nothing, because the last DREQ of the peer may be lost.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "msg.h"
#include "seal.h"

/* Number of unanswered probes after which a peer counts as dead. */
#define KRDMA_ALIVE_MISSES 3

static const u8 krdma_control_types[KRDMA_CONTROLS] = {
	[KRDMA_CONTROL_CREDIT]	= KRDMA_WIRE_CREDIT,
	[KRDMA_CONTROL_PING]	= KRDMA_WIRE_PING,
	[KRDMA_CONTROL_PONG]	= KRDMA_WIRE_PONG,
	[KRDMA_CONTROL_BYE]	= KRDMA_WIRE_BYE,
	[KRDMA_CONTROL_PULLED]	= KRDMA_WIRE_PULLED,
};

static const enum krdma_counter krdma_control_counters[KRDMA_CONTROLS] = {
	[KRDMA_CONTROL_CREDIT]	= KRDMA_COUNT_CREDIT_MSGS,
	[KRDMA_CONTROL_PING]	= KRDMA_COUNT_PINGS,
	[KRDMA_CONTROL_PONG]	= KRDMA_COUNT_PONGS,
	[KRDMA_CONTROL_BYE]	= KRDMA_COUNT_BYES,
	[KRDMA_CONTROL_PULLED]	= KRDMA_COUNT_PULLED,
};

/**
 * krdma_control_send_locked - send an internal message
 * @conn: connection in message mode
 * @kind: kind of the message
 *
 * Context: any, @conn->lock held.
 * Return: 0; -EBUSY: the last message of this kind is in flight, or START is
 * not sent yet; -EAGAIN: there is no credit for CREDIT; or the reason for which
 * the connection ended.
 */
int krdma_control_send_locked(struct krdma_conn *conn, enum krdma_control kind)
{
	struct krdma_hdr hdr = { .type = krdma_control_types[kind] };
	struct krdma_msg *msg = conn->msg;
	struct krdma_req *req;

	lockdep_assert_held(&conn->lock);
	/* From KRDMA_CLOSING on, the buffers may be freed with the QP. */
	if (conn->cb.state >= KRDMA_CLOSING)
		return conn->error ?: -ENOTCONN;
	/* The peer accepts no message of this side before START. */
	if (!conn->sq.greeted || msg->control_busy & BIT(kind))
		return -EBUSY;
	/* CREDIT may use the last credit, which is reserved for it. */
	if (kind == KRDMA_CONTROL_CREDIT &&
	    !krdma_credit_may_send(&conn->sq.credit, true))
		return -EAGAIN;
	if (kind == KRDMA_CONTROL_BYE) {
		hdr.msg_id = msg->bye_reason;
	} else if (kind == KRDMA_CONTROL_PULLED) {
		hdr.msg_id = msg->pulled_id;
		hdr.offset = msg->pulled_end;
	}
	req = &msg->control->calls[kind].req;
	krdma_hdr_encode(krdma_req_hdr(req), &hdr);
	msg->control_busy |= BIT(kind);
	krdma_count_locked(conn, krdma_control_counters[kind], 1);
	return krdma_req_post_reserved_locked(conn, req);
}

/**
 * krdma_control_credits_locked - return credits if enough are owed
 * @conn: connection in message mode
 *
 * Context: any, @conn->lock held.
 */
void krdma_control_credits_locked(struct krdma_conn *conn)
{
	lockdep_assert_held(&conn->lock);
	/*
	 * CREDIT itself needs a credit. If this side has none, the peer owes
	 * credits, and the next message of the peer leads to another attempt.
	 */
	if (krdma_credit_should_return(&conn->sq.credit))
		krdma_control_send_locked(conn, KRDMA_CONTROL_CREDIT);
}

static void krdma_control_done(struct krdma_req *req, int status)
{
	struct krdma_conn *conn = req->wr.conn;
	struct krdma_msg *msg = conn->msg;
	unsigned long flags;

	spin_lock_irqsave(&conn->lock, flags);
	msg->control_busy &= ~BIT(container_of(req, struct krdma_call, req) -
				  msg->control->calls);
	/* More credits may be owed by now. */
	krdma_control_credits_locked(conn);
	if (msg->pulled_due && !(msg->control_busy & BIT(KRDMA_CONTROL_PULLED))) {
		msg->pulled_due = false;
		krdma_control_send_locked(conn, KRDMA_CONTROL_PULLED);
	}
	spin_unlock_irqrestore(&conn->lock, flags);
}

/**
 * krdma_control_alloc - allocate and prepare internal messages
 * @conn: connection with a new QP
 *
 * Context: process, @conn->setup held.
 * Return: 0 or -ENOMEM; krdma_control_free() undoes it.
 */
int krdma_control_alloc(struct krdma_conn *conn)
{
	const u32 tag = krdma_conn_is_sealed(conn) ? KRDMA_SEAL_TAG : 0;
	struct krdma_op *op = krdma_op_alloc(conn, KRDMA_CONTROLS,
					     KRDMA_CONTROLS * tag);
	struct krdma_req *req;
	int ret = 0;

	lockdep_assert_held(&conn->setup);
	if (!op)
		return -ENOMEM;
	conn->msg->control = op;
	while (op->n < KRDMA_CONTROLS && !ret) {
		req = &krdma_op_add(conn, op, KRDMA_WR_CONTROL)->req;
		if (tag)
			req->local = (struct krdma_data){
				.mem = KRDMA_MEM_VIRT,
				.len = tag,
				.virt = op->data + (op->n - 1) * tag,
			};
		req->done = krdma_control_done;
		req->wr.op = NULL;
		req->wr.reserved = true;
		ret = krdma_req_prepare(conn, req);
	}
	if (ret)
		op->n--;
	return ret;
}

/**
 * krdma_control_free - undo krdma_control_alloc()
 * @conn: connection whose QP is drained. Some messages may not be prepared, if
 *	krdma_control_alloc() has failed
 *
 * Context: process, @conn->setup held.
 */
void krdma_control_free(struct krdma_conn *conn)
{
	struct krdma_op *op = conn->msg->control;

	lockdep_assert_held(&conn->setup);
	conn->msg->control = NULL;
	while (op && op->n)
		krdma_req_unmap(conn, &op->calls[--op->n].req);
	krdma_op_put(op);
}

/*
 * Queue the next check of the peer, unless the connection is closing. The state
 * changes to KRDMA_CLOSING under the same lock. So krdma_alive_stop(), which
 * runs later, finds every check that is queued.
 */
static void krdma_alive_again_locked(struct krdma_conn *conn)
{
	lockdep_assert_held(&conn->lock);
	if (conn->cb.state != KRDMA_ESTABLISHED)
		return;
	/*
	 * krdma_alive_work() or krdma_alive_stop() puts the reference. The
	 * reference may be taken after queueing, because krdma_alive_work()
	 * first takes the lock.
	 */
	if (queue_delayed_work(krdma_wq, &conn->work.alive,
			       msecs_to_jiffies(conn->p.keepalive_ms)))
		krdma_conn_get(conn);
}

/*
 * Check whether the peer was heard, and probe a silent peer.
 * Return: true if the peer counts as dead, because too many probes were not
 * answered.
 */
static bool krdma_alive_ask_locked(struct krdma_conn *conn)
{
	struct krdma_msg *msg = conn->msg;

	lockdep_assert_held(&conn->lock);
	if (conn->sq.heard) {
		conn->sq.heard = false;
		msg->misses = 0;
		return false;
	}
	/*
	 * sq.chunk is set while the peer reads the memory that a CHUNK of this
	 * side describes. The PONG waits behind the data of these READs, so
	 * this silence is no miss. The task that sends the CHUNK has a time
	 * limit of its own. Also, on adapters that retransmit, the PING fails
	 * if the peer has failed.
	 */
	if (conn->sq.chunk) {
		msg->misses = 0;
		krdma_control_send_locked(conn, KRDMA_CONTROL_PING);
		return false;
	}
	/* The first interval of silence leads to a probe, and is no miss. */
	if (msg->misses)
		krdma_count_locked(conn, KRDMA_COUNT_ALIVE_MISSES, 1);
	if (msg->misses++ == KRDMA_ALIVE_MISSES)
		return true;
	/*
	 * If the post fails, the peer is not probed and stays silent, so the
	 * next interval counts as another miss.
	 */
	krdma_control_send_locked(conn, KRDMA_CONTROL_PING);
	return false;
}

/**
 * krdma_alive_work - check whether the peer was heard, and close if it is dead
 * @work: krdma_conn.work.alive
 */
void krdma_alive_work(struct work_struct *work)
{
	struct krdma_conn *conn =
		container_of(work, struct krdma_conn, work.alive.work);
	unsigned long flags;
	bool dead;

	/* See krdma_req_enqueue() for the reason to disable bottom halves. */
	local_bh_disable();
	spin_lock_irqsave(&conn->lock, flags);
	dead = conn->cb.state == KRDMA_ESTABLISHED &&
	       krdma_alive_ask_locked(conn);
	if (!dead)
		krdma_alive_again_locked(conn);
	spin_unlock_irqrestore(&conn->lock, flags);
	local_bh_enable();
	if (dead) {
		pr_info_ratelimited("%pISpc: does not answer, closing\n",
				    &conn->cm.peer);
		krdma_conn_abort(conn, -ETIMEDOUT);
	}
	krdma_conn_put(conn);
}

/**
 * krdma_alive_is_wanted - check whether krdma probes the peer
 * @conn: connection in message mode whose hello is set
 *
 * Return: true if the user has not disabled probes, and the peer supports them.
 */
bool krdma_alive_is_wanted(const struct krdma_conn *conn)
{
	return conn->p.keepalive_ms != KRDMA_NEVER &&
	       conn->hello.features & KRDMA_WIRE_FEATURE_PING;
}

/**
 * krdma_alive_start - start to check the peer, and to probe it when it is
 * silent
 * @conn: established connection in message mode
 *
 * No effect if the user has disabled probes, or the peer does not support them.
 *
 * Context: process.
 */
void krdma_alive_start(struct krdma_conn *conn)
{
	unsigned long flags;

	if (!krdma_alive_is_wanted(conn))
		return;
	spin_lock_irqsave(&conn->lock, flags);
	krdma_alive_again_locked(conn);
	spin_unlock_irqrestore(&conn->lock, flags);
}

/**
 * krdma_alive_stop - stop to check and probe the peer
 * @conn: connection in KRDMA_CLOSING
 *
 * The work may run once more, without effect.
 *
 * Context: process.
 */
void krdma_alive_stop(struct krdma_conn *conn)
{
	if (cancel_delayed_work(&conn->work.alive))
		krdma_conn_put(conn);
}
