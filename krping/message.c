// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of krdma's message mode: mlat and mbw. krdma posts all work requests, and
 * protects the messages as the level of security says.
 *
 *	client					server
 *	mlat: message		------------->
 *				<-------------	the same message
 *	mbw: message, message …	------------->
 *	end			------------->
 *				<-------------	end
 *	disconnect
 *
 * The hellos are in the private data of the request and of the answer. The
 * client decides how many messages of which sizes it sends. The server counts
 * them until the end message arrives, and sends those of mlat back. The end
 * messages say how many messages each side has counted.
 *
 * krping_session.lock protects krping_message.done and the error of the session.
 * The task of the session uses all other members.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/crc32.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <compat.h>

#include "priv.h"

/* Maximum number of messages of mbw in flight. */
#define KRPING_MESSAGE_DEPTH_MAX 1024

static const char krping_message_sends[] = "wait for SEND_COMPLETE";
static const char krping_message_peers[] = "wait for the peer's message";
static const char krping_message_ends[] = "wait for the peer's end";

/**
 * struct krping_message_slot - message of mbw that may be in flight
 * @req: request to send it
 * @session: session of the message
 */
struct krping_message_slot {
	struct krdma_req req;
	struct krping_session *session;
};

/**
 * struct krping_message - memory of a test of messages
 * @data: message to send; constant while messages are in flight
 * @back: received message
 * @room: length of @data and of @back in bytes
 * @slots: mbw, client: messages that may be in flight; otherwise NULL
 * @depth: number of entries of @slots
 * @posted: number of messages that krdma_post() took
 * @done: number of messages whose request has ended
 */
struct krping_message {
	void *data;
	void *back;
	u32 room;
	struct krping_message_slot **slots;
	u32 depth;
	u64 posted;
	u64 done;
};

/**
 * krping_message_params - fill in the parameters of the connections of a run
 * @run: run with mlat or mbw
 * @params: result, without the context
 */
void krping_message_params(const struct krping_run *run,
			   struct krdma_params *params)
{
	const struct krping_opts *opts = &run->opts;

	*params = (struct krdma_params){
		.size = sizeof(*params),
		.flags = KRDMA_INTERRUPTIBLE,
		.net = run->net,
		.tos = opts->tos,
		.connect_timeout_ms = opts->conn_timeout_ms ?:
				      KRPING_CONN_TIMEOUT_MAX,
		.max_msg = KRPING_SIZE_MAX,
		.comp_vector = opts->vector,
		.security = opts->security,
		.keys = run->keys,
	};
}

/* ---- memory ---- */

/*
 * rxe before Linux 6.10 may still read requests and data that have been sent, so
 * they are freed after a grace period.
 */
static void krping_message_free(struct krping_session *s)
{
	struct krping_message *m = s->message;
	u32 i;

	if (krdma_may_read_on())
		synchronize_rcu();
	for (i = 0; m->slots && i < m->depth; i++)
		kfree(m->slots[i]);
	kvfree(m->slots);
	kvfree(m->back);
	kvfree(m->data);
	kfree(m);
	s->message = NULL;
}

static int krping_message_alloc_slots(struct krping_session *s,
				      struct krping_message *m)
{
	u32 i;

	m->depth = min_t(u32, s->opts->txdepth, KRPING_MESSAGE_DEPTH_MAX);
	m->slots = kvcalloc(m->depth, sizeof(*m->slots), GFP_KERNEL);
	if (!m->slots)
		return -ENOMEM;
	for (i = 0; i < m->depth; i++) {
		m->slots[i] = kzalloc(sizeof(*m->slots[i]), GFP_KERNEL);
		if (!m->slots[i])
			return -ENOMEM;
		m->slots[i]->session = s;
	}
	return 0;
}

static int krping_message_alloc(struct krping_session *s)
{
	bool is_client = s->opts->role == KRPING_ROLE_CLIENT;
	struct krping_message *m = kzalloc(sizeof(*m), GFP_KERNEL);
	int ret = -ENOMEM;

	if (!m)
		return -ENOMEM;
	s->message = m;
	m->room = max_t(u32, s->plan.size, sizeof(struct krping_wire_msg_end));
	m->data = kvzalloc(m->room, GFP_KERNEL);
	m->back = kvzalloc(m->room, GFP_KERNEL);
	if (m->data && m->back)
		ret = is_client && s->opts->test == KRPING_TEST_MBW ?
			      krping_message_alloc_slots(s, m) : 0;
	if (ret)
		krping_message_free(s);
	return ret;
}

/* ---- one message ---- */

/* Return the time limit of a call in ms. */
static u32 krping_message_limit(const struct krping_session *s)
{
	return s->opts->idle_timeout_ms ?: KRDMA_NEVER;
}

static void krping_message_count(struct krping_session *s,
				 enum krping_counter counter, u32 bytes)
{
	unsigned long flags;

	spin_lock_irqsave(&s->lock, flags);
	krping_count_locked(s, counter, 1, bytes);
	spin_unlock_irqrestore(&s->lock, flags);
}

/* Return the checksum that the last bytes of a data message contain. */
static __be32 krping_message_crc(const u8 *data, u32 len)
{
	return cpu_to_be32(krdma_crc32c(~0U, data, len - sizeof(__be32)));
}

/* Create the data message for the current size. */
static void krping_message_fill(struct krping_session *s)
{
	struct krping_message *m = s->message;
	u32 len = s->progress.len;
	u8 *data = m->data;
	__be32 crc;

	krping_payload_fill(data, len, s->opts->role);
	data[0] = KRPING_MSG_DATA;
	if (!s->conn.crc)
		return;
	crc = krping_message_crc(data, len);
	memcpy(data + len - sizeof(crc), &crc, sizeof(crc));
}

/* Check a data message. With checksums, compare that of the data. */
static int krping_message_check(struct krping_session *s, const u8 *data,
				u32 len)
{
	__be32 crc;

	if (!len || data[0] != KRPING_MSG_DATA)
		return -EPROTO;
	if (!s->conn.crc)
		return 0;
	if (len < KRPING_MSG_CRC_MIN)
		return -EPROTO;
	crc = krping_message_crc(data, len);
	if (!memcmp(data + len - sizeof(crc), &crc, sizeof(crc)))
		return 0;
	pr_err_ratelimited("%u: data mismatch!\n", s->id);
	s->step = NULL;
	return -EBADMSG;
}

static int krping_message_send(struct krping_session *s, const void *data,
			       u32 len)
{
	int ret;

	s->step = krping_message_sends;
	ret = krdma_send_timeout(s->conn.cb, data, len, krping_message_limit(s));
	if (!ret)
		krping_message_count(s, KRPING_SEND, len);
	return ret;
}

/* Receive a message into s->message->back. Return its length or an errno. */
static int krping_message_receive(struct krping_session *s)
{
	struct krping_message *m = s->message;
	int len = krdma_receive_len(s->conn.cb, m->back, m->room,
				    krping_message_limit(s));

	if (len >= 0)
		krping_message_count(s, KRPING_RECV, len);
	return len;
}

/*
 * Receive a message of a client, which sends at its own pace. krdma ends the
 * connection if the client does not answer keep-alive messages.
 */
static int krping_message_await(struct krping_session *s)
{
	int len;

	s->step = krping_message_peers;
	do {
		len = krping_message_receive(s);
	} while (len == -ETIMEDOUT && krdma_is_established(s->conn.cb));
	return len;
}

/* ---- end ---- */

static int krping_message_say_end(struct krping_session *s, int error)
{
	krping_msg_end_encode(s->message->data, -error, s->progress.ops);
	return krping_message_send(s, s->message->data,
				   sizeof(struct krping_wire_msg_end));
}

/* Check an end message in s->message->back. */
static int krping_message_take_end(struct krping_session *s, int len)
{
	u32 status;
	u64 count;
	int ret = krping_msg_end_decode(&status, &count, s->message->back, len);

	if (ret)
		return ret;
	if (status) {
		pr_err("%u: the test has failed on the peer: error %u\n", s->id,
		       status);
		s->step = NULL;
		return -EREMOTEIO;
	}
	return count == s->progress.ops ? 0 : -EPROTO;
}

/* ---- client ---- */

/* Send a message, and wait until it comes back. */
static int krping_message_round(struct krping_session *s)
{
	struct krping_message *m = s->message;
	u32 want = s->progress.len;
	int len, ret = krping_message_send(s, m->data, want);

	if (ret)
		return ret;
	s->step = krping_message_peers;
	len = krping_message_receive(s);
	if (len < 0)
		return len;
	return len == want ? krping_message_check(s, m->back, len) : -EPROTO;
}

static int krping_message_rounds(struct krping_session *s)
{
	u64 begin;
	int ret = 0;

	krping_message_fill(s);
	while (!ret && krping_more(s)) {
		begin = ktime_get_ns();
		ret = krping_message_round(s);
		if (ret)
			break;
		krping_measured(s, ktime_get_ns() - begin);
		s->progress.ops++;
		if (signal_pending(current))
			ret = -EINTR;
	}
	return ret;
}

static void krping_message_done(struct krdma_req *req, int status)
{
	struct krping_message_slot *slot =
		container_of(req, struct krping_message_slot, req);
	struct krping_session *s = slot->session;
	unsigned long flags;

	spin_lock_irqsave(&s->lock, flags);
	if (status)
		s->error = s->error ?: status;
	else
		krping_count_locked(s, KRPING_SEND, 1, req->local.len);
	s->message->done++;
	wake_up(&s->wait);
	spin_unlock_irqrestore(&s->lock, flags);
}

/* Check whether at most @left messages are in flight. */
static bool krping_message_is_down_to(struct krping_session *s, u64 left)
{
	return s->message->posted - READ_ONCE(s->message->done) <= left;
}

/* Wait until at most @left messages are in flight. */
static int krping_message_wait(struct krping_session *s, u64 left)
{
	u32 ms = s->opts->idle_timeout_ms;
	long limit = ms ? msecs_to_jiffies(ms) : MAX_SCHEDULE_TIMEOUT;
	long ret;

	s->step = krping_message_sends;
	ret = wait_event_interruptible_timeout(s->wait,
					       krping_message_is_down_to(s, left) ||
					       READ_ONCE(s->error), limit);
	if (ret < 0)
		return -EINTR;
	return READ_ONCE(s->error) ?: ret ? 0 : -ETIMEDOUT;
}

static int krping_message_post(struct krping_session *s)
{
	struct krping_message *m = s->message;
	struct krping_message_slot *slot;
	u32 number;
	int ret;

	div_u64_rem(m->posted, m->depth, &number);
	slot = m->slots[number];
	slot->req = (struct krdma_req){
		.opcode = KRDMA_SEND,
		.local.mem = KRDMA_MEM_VIRT,
		.local.virt = m->data,
		.local.len = s->progress.len,
		.done = krping_message_done,
	};
	ret = krdma_post(s->conn.cb, &slot->req);
	if (ret)
		return ret;
	m->posted++;
	s->progress.ops++;
	return 0;
}

static int krping_message_stream(struct krping_session *s)
{
	struct krping_message *m = s->message;
	int ret = 0;
	u64 left;

	krping_message_fill(s);
	while (!ret && krping_more(s)) {
		ret = krping_message_wait(s, m->depth - 1) ?:
		      krping_message_post(s);
		left = m->posted - READ_ONCE(m->done);
		/* krdma queues a limited number of requests. */
		if (ret == -EAGAIN)
			ret = krping_message_wait(s, left / 2);
		cond_resched();
	}
	ret = ret ?: krping_message_wait(s, 0);
	if (ret) {
		/* All requests end with the connection. */
		krdma_disconnect(s->conn.cb);
		wait_event(s->wait, krping_message_is_down_to(s, 0));
	}
	return ret;
}

static int krping_message_client(struct krping_session *s)
{
	bool is_lat = s->opts->test == KRPING_TEST_MLAT;
	int len, ret;

	ret = krping_each_size(s, is_lat ? krping_message_rounds :
					   krping_message_stream);
	if (ret)
		return ret;
	krping_bench_log(s);
	ret = krping_message_say_end(s, 0);
	if (ret)
		return ret;
	s->step = krping_message_ends;
	len = krping_message_receive(s);
	return len < 0 ? len : krping_message_take_end(s, len);
}

/* ---- server ---- */

static bool krping_message_is_end(const struct krping_session *s, int len)
{
	return len > 0 && *(const u8 *)s->message->back == KRPING_MSG_END;
}

/*
 * Handle messages until the end message. A message with a wrong checksum is the
 * result of the test, which goes on.
 */
static int krping_message_serve(struct krping_session *s, int *error)
{
	struct krping_message *m = s->message;
	int len, ret;

	for (;;) {
		len = krping_message_await(s);
		if (len < 0)
			return len;
		if (krping_message_is_end(s, len))
			return krping_message_take_end(s, len);
		ret = krping_message_check(s, m->back, len);
		if (ret == -EPROTO)
			return ret;
		*error = *error ?: ret;
		s->progress.ops++;
		if (s->opts->test == KRPING_TEST_MLAT)
			ret = krping_message_send(s, m->back, len);
		else
			ret = 0;
		if (ret)
			return ret;
		if (signal_pending(current))
			return -EINTR;
	}
}

static int krping_message_server(struct krping_session *s)
{
	u64 begin = ktime_get_ns();
	int ret, error = 0;

	ret = krping_message_serve(s, &error);
	s->progress.part->size = s->plan.size;
	s->progress.part->ops = s->progress.ops;
	s->progress.part->elapsed = ktime_get_ns() - begin;
	if (ret)
		return ret;
	ret = krping_message_say_end(s, error);
	/* The client disconnects. */
	if (!ret)
		ret = krping_message_await(s);
	if (error)
		s->step = NULL;
	if (ret >= 0)
		ret = -EPROTO;
	return error ?: ret == -ECONNRESET ? 0 : ret;
}

/**
 * krping_message_test - run mlat or mbw
 * @s: connected session
 * @caps: properties of the connection
 *
 * Return: 0 or -errno.
 */
int krping_message_test(struct krping_session *s, const struct krdma_caps *caps)
{
	int ret;

	if (*s->opts->dev && strcmp(s->opts->dev, caps->device)) {
		pr_err_ratelimited("%u: dev=%s, but the route uses %s\n", s->id,
				   s->opts->dev, caps->device);
		s->step = NULL;
		return -ENODEV;
	}
	mutex_lock(&s->run->lock);
	strscpy(s->run->devname, caps->device, sizeof(s->run->devname));
	mutex_unlock(&s->run->lock);
	ret = krping_message_alloc(s);
	if (ret)
		return ret;
	ret = s->opts->role == KRPING_ROLE_CLIENT ? krping_message_client(s) :
						    krping_message_server(s);
	krping_message_free(s);
	return ret;
}
