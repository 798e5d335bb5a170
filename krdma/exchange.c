// SPDX-License-Identifier: GPL-2.0
/*
 * The beginning of a connection in message mode: the hello in the CM's private
 * data, and START, the first message of each side. This file also has
 * krdma_msg_mode, the functions of message mode that lower layers call.
 */
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "auth.h"
#include "cm.h"
#include "msg.h"
#include "quirks.h"
#include "registration.h"

/**
 * krdma_msg_hello - fill in the hello for the peer
 * @conn: connection in message mode
 * @hello: result, without the user's private data
 */
static void krdma_msg_hello(struct krdma_conn *conn, struct krdma_hello *hello)
{
	*hello = (struct krdma_hello){
		.mode = krdma_conn_is_rw(conn) ? KRDMA_WIRE_MODE_RW :
						 KRDMA_WIRE_MODE_MSG,
		.level = conn->p.security,
		.buf_size = conn->p.buf_size,
		.max_msg = conn->p.max_msg,
		.recv_depth = conn->limits.recv_depth,
		.features = KRDMA_WIRE_FEATURES,
		.session = conn->p.session ?: get_random_u32(),
	};
	if (!krdma_pull_can(conn) || !conn->p.initiator_depth)
		hello->features &= ~KRDMA_WIRE_FEATURE_PULL;
	if (!krdma_deliver_is_wanted(conn))
		hello->features &= ~KRDMA_WIRE_FEATURE_WRITTEN;
	if (krdma_conn_is_sealed(conn))
		hello->features &= ~KRDMA_WIRE_FEATURES_ONE_SIDED;
}

/**
 * krdma_msg_peer_hello - apply the sizes and credits of the peer's hello
 * @conn: connection whose hello is set
 *
 * Context: any, before any message is sent.
 */
void krdma_msg_peer_hello(struct krdma_conn *conn)
{
	u32 extra = sizeof(struct krdma_wire_hdr);
	unsigned long flags;

	if (krdma_conn_is_sealed(conn)) {
		extra = KRDMA_SEAL_EXTRA;
		conn->hello.features &= ~KRDMA_WIRE_FEATURES_ONE_SIDED;
	}
	spin_lock_irqsave(&conn->lock, flags);
	conn->limits.part_max = min(conn->p.buf_size, conn->hello.buf_size) -
				extra;
	krdma_credit_start(&conn->sq.credit, conn->hello.recv_depth);
	spin_unlock_irqrestore(&conn->lock, flags);
}

static bool krdma_msg_has_start(struct krdma_conn *conn, const void *arg)
{
	/* Pairs with krdma_msg_on_start_locked(). */
	return smp_load_acquire(&conn->msg->got_start);
}

/* Send a message of krdma itself that takes a credit. */
static int krdma_msg_send(struct krdma_conn *conn, const struct krdma_hdr *hdr,
			  const void *data, u32 len, unsigned long until)
{
	struct krdma_op *op;
	int ret;

	op = krdma_op_message(conn, KRDMA_WR_CONTROL, hdr, len);
	if (!op)
		return -ENOMEM;
	memcpy(op->data, data, len);
	ret = krdma_op_post(conn, op);
	if (!ret)
		ret = krdma_op_wait_posted(conn, op, until);
	krdma_op_put(op);
	return ret;
}

/* Send AUTH, or the sealed START, see krdma_auth_write(). */
static int krdma_msg_send_tagged(struct krdma_conn *conn, const void *exported,
				 u32 len, unsigned long until)
{
	const struct krdma_hdr hdr = {
		.type = conn->cb.role == KRDMA_CLIENT_CONN ? KRDMA_WIRE_AUTH :
							     KRDMA_WIRE_START,
		.tagged = true,
	};
	const u32 extra = krdma_auth_extra(conn);
	struct krdma_wire_hdr *msg;
	int ret;

	if (len + extra > conn->limits.part_max)
		return -EMSGSIZE;
	msg = kvmalloc(sizeof(*msg) + extra + len, GFP_KERNEL);
	if (!msg)
		return -ENOMEM;
	krdma_hdr_encode(msg, &hdr);
	ret = krdma_auth_write(conn, msg, exported, len);
	if (!ret)
		ret = krdma_msg_send(conn, &hdr, msg + 1, extra + len, until);
	kvfree(msg);
	return ret;
}

/**
 * krdma_msg_send_start - send START, the first message
 * @conn: established connection. A server has received START or AUTH of its
 *	client, because iWARP requires that the connecting side sends first.
 *	With a level, a client sends AUTH instead
 * @exported: description of the exported buffer
 * @len: length of @exported in bytes; 0 if there is none
 * @until: time limit in jiffies, from krdma_deadline()
 *
 * Return: 0; -EMSGSIZE: the peer's buffers are too small for the description;
 * an errno of krdma_auth_write(); or as krdma_send_timeout().
 */
int krdma_msg_send_start(struct krdma_conn *conn, const void *exported, u32 len,
			 unsigned long until)
{
	const struct krdma_hdr hdr = { .type = KRDMA_WIRE_START };

	if (conn->auth)
		return krdma_msg_send_tagged(conn, exported, len, until);
	if (len > conn->limits.part_max)
		return -EMSGSIZE;
	return krdma_msg_send(conn, &hdr, exported, len, until);
}

/**
 * krdma_msg_nudge - send an empty message
 * @conn: client that has sent START
 *
 * The message makes a siw peer check again for data that it has missed, see
 * KRDMA_QUIRK_MISSED_START. Without a credit nothing is sent.
 *
 * Return: 0 or -errno.
 */
static int krdma_msg_nudge(struct krdma_conn *conn)
{
	unsigned long flags;
	int ret = 0;

	spin_lock_irqsave(&conn->lock, flags);
	if (krdma_credit_may_send(&conn->sq.credit, false))
		ret = krdma_control_send_locked(conn, KRDMA_CONTROL_CREDIT);
	spin_unlock_irqrestore(&conn->lock, flags);
	/* The last one is in flight. */
	return ret == -EBUSY ? 0 : ret;
}

/**
 * krdma_msg_wait_start - wait for the peer's START
 * @conn: established connection; a client has sent its own START
 * @until: time limit in jiffies, from krdma_deadline()
 *
 * With KRDMA_QUIRK_MISSED_START a client sends further messages until START
 * arrives.
 *
 * Return: 0 or -errno.
 */
static int krdma_msg_wait_start(struct krdma_conn *conn, unsigned long until)
{
	bool may_be_missed = krdma_has_quirk(conn, KRDMA_QUIRK_MISSED_START) &&
			     conn->cb.role == KRDMA_CLIENT_CONN;
	unsigned long soon;
	int ret;

	do {
		soon = krdma_deadline(KRDMA_MSG_NUDGE_MS);
		ret = krdma_conn_wait(conn, krdma_msg_has_start, NULL,
				      may_be_missed ? soon : until);
		if (ret != -ETIMEDOUT || krdma_conn_is_over(conn))
			return ret;
		ret = may_be_missed ? krdma_msg_nudge(conn) : 0;
	} while (!ret && time_before(jiffies, until));
	return ret ?: -ETIMEDOUT;
}

/**
 * krdma_msg_greet - send START
 * @conn: established connection
 * @until: time limit in jiffies, from krdma_deadline()
 *
 * Return: 0 or -errno.
 */
static int krdma_msg_greet(struct krdma_conn *conn, unsigned long until)
{
	if (krdma_conn_is_rw(conn))
		return krdma_rw_greet(conn, until);
	return krdma_msg_send_start(conn, "", 0, until);
}

/*
 * Check AUTH of a client, which proves that the client has the key. Then accept
 * other messages. No effect after the first call, and without a level.
 */
static int krdma_msg_prove(struct krdma_conn *conn)
{
	struct krdma_recv *recv = conn->msg->start;
	unsigned long flags;
	int ret;

	if (!conn->msg->unproved)
		return 0;
	ret = krdma_auth_read(conn, recv->buf + sizeof(struct krdma_wire_hdr),
			      &recv->len);
	if (ret) {
		krdma_conn_abort_for(conn, ret, KRDMA_CAUSE_AUTH, 0);
		return ret;
	}
	krdma_budget_proved(conn);
	spin_lock_irqsave(&conn->lock, flags);
	if (!krdma_conn_is_rw(conn)) {
		conn->msg->start = NULL;
		ret = recv->len ? krdma_msg_breach_locked(conn,
							  KRDMA_BREACH_START) :
				  krdma_msg_repost_locked(conn, recv);
	}
	spin_unlock_irqrestore(&conn->lock, flags);
	return ret ?: krdma_msg_take_early(conn);
}

/* Interval in ms at which a server checks whether an older connection is closed. */
#define KRDMA_MSG_OLDER_MS 10

static bool krdma_msg_never(struct krdma_conn *conn, const void *arg)
{
	return false;
}

/*
 * Let a server with a level check AUTH, and end the older connections of the
 * client. Return: 0; -EAGAIN: call again in KRDMA_MSG_OLDER_MS; or -errno.
 */
static int krdma_msg_replace_older(struct krdma_conn *conn)
{
	if (!conn->auth || conn->cb.role != KRDMA_ACCEPT_CONN)
		return 0;
	return krdma_msg_prove(conn) ?: krdma_device_replace_older(conn);
}

/* Call krdma_msg_replace_older() until it has ended. */
static int krdma_msg_replace_older_wait(struct krdma_conn *conn,
					unsigned long until)
{
	int ret;

	while ((ret = krdma_msg_replace_older(conn)) == -EAGAIN) {
		ret = krdma_conn_wait(conn, krdma_msg_never, NULL,
				      krdma_deadline(KRDMA_MSG_OLDER_MS));
		if (ret != -ETIMEDOUT || krdma_conn_is_over(conn))
			return ret;
		if (until && time_after(jiffies, until))
			return ret;
	}
	return ret;
}

/*
 * Return the credits of messages that came before START of this side. A START
 * with a tag returns none.
 */
static void krdma_msg_return_credits(struct krdma_conn *conn)
{
	unsigned long flags;

	spin_lock_irqsave(&conn->lock, flags);
	krdma_control_credits_locked(conn);
	spin_unlock_irqrestore(&conn->lock, flags);
}

/**
 * krdma_msg_exchange_rest - open the connection after the peer's START
 * @conn: connection on which the peer's START has arrived; a client has sent
 *	its own START or AUTH. A server with a level has checked AUTH
 * @until: time limit in jiffies, from krdma_deadline()
 *
 * Return: 0 or -errno.
 */
static int krdma_msg_exchange_rest(struct krdma_conn *conn, unsigned long until)
{
	int ret = krdma_conn_is_rw(conn) ? krdma_rw_learn(conn) : 0;

	if (!ret && conn->cb.role == KRDMA_ACCEPT_CONN) {
		ret = krdma_msg_greet(conn, until);
		krdma_msg_return_credits(conn);
	}
	if (!ret && krdma_conn_is_rw(conn))
		krdma_rw_open(conn);
	if (ret)
		return ret;
	krdma_auth_finish(conn);
	/* Pairs with krdma_conn_is_open(). */
	smp_store_release(&conn->life.reach, KRDMA_REACH_OPEN);
	return 0;
}

/**
 * krdma_msg_start - exchange the first messages of a new connection
 * @conn: established connection
 * @until: time limit in jiffies, from krdma_deadline()
 *
 * The connecting side sends first, as iWARP requires. After both STARTs each
 * side knows that the other can receive, on all transports.
 *
 * Return: 0 or -errno.
 */
static int krdma_msg_start(struct krdma_conn *conn, unsigned long until)
{
	int ret = 0;

	if (conn->cb.role == KRDMA_CLIENT_CONN)
		ret = krdma_msg_greet(conn, until);
	if (!ret)
		ret = krdma_msg_wait_start(conn, until);
	if (!ret)
		ret = krdma_msg_replace_older_wait(conn, until);
	if (!ret)
		ret = krdma_msg_exchange_rest(conn, until);
	if (!ret)
		krdma_alive_start(conn);
	return ret;
}

/* See krdma_mode.step. */
static int krdma_msg_step(struct krdma_conn *conn, unsigned long until)
{
	bool client = conn->cb.role == KRDMA_CLIENT_CONN;
	int ret = 0;

	if (client && !READ_ONCE(conn->sq.greeted))
		ret = krdma_msg_greet(conn, until);
	if (ret)
		return ret;
	if (krdma_msg_has_start(conn, NULL)) {
		ret = krdma_msg_replace_older(conn);
		if (ret == -EAGAIN) {
			krdma_step_queue_in(conn, KRDMA_MSG_OLDER_MS);
			return 0;
		}
		return ret ?: krdma_msg_exchange_rest(conn, until) ?: 1;
	}
	/*
	 * Send another message if the peer may have missed START of this side.
	 * Then queue the next step, which checks again.
	 */
	if (!client || !krdma_has_quirk(conn, KRDMA_QUIRK_MISSED_START))
		return 0;
	ret = krdma_msg_nudge(conn);
	if (!ret)
		krdma_step_queue_in(conn, KRDMA_MSG_NUDGE_MS);
	return ret;
}

static void krdma_msg_init(struct krdma_conn *conn)
{
	INIT_DELAYED_WORK(&conn->work.alive, krdma_alive_work);
	INIT_WORK(&conn->work.deliver, krdma_deliver_work);
	INIT_WORK(&conn->work.pull, krdma_pull_work);
	INIT_DELAYED_WORK(&conn->work.pull_limit, krdma_pull_limit_work);
}

static void krdma_msg_end(struct krdma_conn *conn)
{
	krdma_msg_stop(conn);
	krdma_regions_unregister(conn);
}

static void krdma_msg_release(struct krdma_conn *conn)
{
	krdma_msg_free(conn);
	krdma_regions_free(conn);
	krdma_req_free(conn);
}

/* Functions and sizes that message mode supplies to lower layers. */
const struct krdma_mode krdma_msg_mode = {
	.extra_sends = KRDMA_CONTROLS,
	.extra_recvs = KRDMA_WIRE_CONTROL_RECVS + KRDMA_WIRE_PULLED_RECVS,
	.init = krdma_msg_init,
	.begin = krdma_msg_post_all,
	.hello = krdma_msg_hello,
	.peer_hello = krdma_msg_peer_hello,
	.exchange = krdma_msg_start,
	.step = krdma_msg_step,
	.established = krdma_alive_start,
	.handed_over_locked = krdma_deliver_open_locked,
	.is_busy_locked = krdma_deliver_is_busy_locked,
	.released = krdma_deliver_stop,
	.drained = krdma_req_end,
	.stop = krdma_msg_end,
	.ended = krdma_alive_stop,
	.free = krdma_msg_release,
};
