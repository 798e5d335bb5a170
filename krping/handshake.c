// SPDX-License-Identifier: GPL-2.0
/*
 * Extended mode: two new peers (see wire.h) detect each other by their hellos,
 * check that they run the same test, and end the test together.
 *
 * A connection is extended only if the server answers the client's hello with
 * its own hello. So an old peer never receives a message that it does not know.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/crc32.h>
#include <linux/kernel.h>
#include <linux/printk.h>
#include <rdma/ib_cm.h>

#include "priv.h"

static const char krping_end[] = "wait for the peer's end";

static void krping_hello_of(const struct krping_opts *opts,
			    struct krping_hello *hello)
{
	*hello = (struct krping_hello){
		.test = opts->test,
		.size = opts->size,
		.count = opts->count,
		.from = opts->from,
		.duration_s = opts->duration_s,
		.warmup = opts->warmup,
	};
	if (opts->duplex)
		hello->flags |= KRPING_HELLO_DUPLEX;
	if (opts->server_inv)
		hello->flags |= KRPING_HELLO_SERVER_INV;
	if (opts->imm)
		hello->flags |= KRPING_HELLO_IMM;
	if (opts->verify == KRPING_VERIFY_CRC)
		hello->flags |= KRPING_HELLO_CRC;
}

/* Encode a hello, and return its length in bytes. */
static u8 krping_hello_write(const struct krping_opts *opts,
			     union krping_wire_any_hello *wire,
			     const struct krping_hello *hello)
{
	if (krping_is_message(opts)) {
		krping_msg_hello_encode(&wire->msg, hello);
		return sizeof(wire->msg);
	}
	krping_hello_encode(&wire->raw, hello);
	return sizeof(wire->raw);
}

static int krping_hello_read(const struct krping_opts *opts,
			     struct krping_hello *hello, const void *data,
			     u32 len)
{
	return krping_is_message(opts) ?
		       krping_msg_hello_decode(hello, data, len) :
		       krping_hello_decode(hello, data, len);
}

/**
 * krping_hello_fill - fill in a client's hello
 * @s: session
 * @wire: result
 *
 * Return: length of the hello in bytes.
 */
u8 krping_hello_fill(const struct krping_session *s,
		     union krping_wire_any_hello *wire)
{
	struct krping_hello hello;

	krping_hello_of(s->opts, &hello);
	return krping_hello_write(s->opts, wire, &hello);
}

static int krping_hello_peer(const struct krping_session *s,
			     struct krping_hello *hello)
{
	u8 data[IB_CM_REP_PRIVATE_DATA_SIZE];
	int len = krdma_peer_private_data(s->conn.cb, data, sizeof(data));

	return krping_hello_read(s->opts, hello, data,
				 min_t(u32, len, sizeof(data)));
}

/* Return the name of an option that an old peer does not support, or NULL. */
static const char *krping_needs_new(const struct krping_opts *opts)
{
	if (opts->imm)
		return "imm";
	if (opts->test >= KRPING_TEST_SLAT)
		return krping_test_name(opts->test);
	if (opts->test == KRPING_TEST_WLAT && opts->duration_s)
		return "duration of wlat";
	if (opts->test == KRPING_TEST_WLAT && opts->warmup)
		return "warmup of wlat";
	if (opts->verify && opts->test != KRPING_TEST_PING)
		return "verify, except for pings";
	return NULL;
}

static int krping_hello_old(struct krping_session *s, const char *what)
{
	pr_err("%u: an old server does not support %s\n", s->id, what);
	s->step = NULL;
	return -EPROTONOSUPPORT;
}

/**
 * krping_hello_take - evaluate the server's answer to a client's hello
 * @s: connected session
 *
 * Return: 0, or -EPROTONOSUPPORT if the server is old and the test needs a new
 * one.
 */
int krping_hello_take(struct krping_session *s)
{
	struct krping_hello hello;
	const char *what;

	s->conn.ext = !s->opts->compat && !krping_hello_peer(s, &hello);
	if (s->conn.ext) {
		s->conn.crc = hello.flags & KRPING_HELLO_CRC &&
			      s->opts->verify == KRPING_VERIFY_CRC;
		s->plan.window = hello.window;
		s->flow.credit = hello.window;
		if (krping_is_lockstep(s->opts) &&
		    hello.warmup != s->opts->warmup)
			return krping_hello_old(s, "warmup");
		return 0;
	}
	what = krping_needs_new(s->opts);
	return what ? krping_hello_old(s, what) : 0;
}

/*
 * Handle a client without a hello. A server of pings and of some other tests
 * serves it if it needs no checksums.
 */
static int krping_hello_answer_old(struct krping_session *s,
				   union krping_wire_any_hello *wire, u8 *len)
{
	bool is_message = krping_is_message(s->opts);
	struct krping_hello server;

	*len = 0;
	if (!s->opts->verify && !is_message)
		return 0;
	krping_hello_of(s->opts, &server);
	server.refused = is_message ? KRPING_DIFFERENT_TEST :
				      KRPING_DIFFERENT_VERIFY;
	*len = krping_hello_write(s->opts, wire, &server);
	pr_err_ratelimited("%u: rejects a client: it %s\n", s->id,
			   is_message ? "has no hello of mlat or mbw" :
					"is old and exchanges no checksums");
	return -EPROTOTYPE;
}

/**
 * krping_hello_answer - check a client's hello and fill in the server's answer
 * @s: session whose connection is requested, and not accepted
 * @wire: result: private data of the answer or of the reject
 * @len: result: length of @wire in bytes; 0 if the client is old and accepted
 *
 * Return: 0, or -EPROTOTYPE if the client runs another test, or lacks what the
 * server's options require.
 */
int krping_hello_answer(struct krping_session *s,
			union krping_wire_any_hello *wire, u8 *len)
{
	struct krping_hello client, server;

	if (s->opts->compat || krping_hello_peer(s, &client))
		return krping_hello_answer_old(s, wire, len);
	krping_hello_of(s->opts, &server);
	server.refused = krping_hello_check(&server, &client);
	server.window = s->plan.window;
	server.warmup = client.warmup;
	/* If the client requests checksums, the server sends them as well. */
	server.flags = client.flags & (server.flags | KRPING_HELLO_CRC);
	*len = krping_hello_write(s->opts, wire, &server);
	if (server.refused) {
		pr_err_ratelimited("%u: rejects a client: %s differs\n",
				   s->id, krping_mismatch_name(server.refused));
		return -EPROTOTYPE;
	}
	s->conn.ext = true;
	s->plan.size = client.size;
	s->progress.len = client.size;
	s->plan.count = client.count;
	s->plan.duration_s = client.duration_s;
	s->plan.warmup = client.warmup;
	s->conn.crc = server.flags & KRPING_HELLO_CRC;
	s->conn.idle_client = client.test == KRPING_TEST_FR;
	return 0;
}

/**
 * krping_hello_refused - log the server's reason for a reject
 * @s: client's session
 * @data: private data of the reject
 * @len: length of @data in bytes
 *
 * Return: true if the reason is logged, false if the server has not sent one.
 */
bool krping_hello_refused(struct krping_session *s, const void *data, u32 len)
{
	struct krping_hello hello;

	if (krping_hello_read(s->opts, &hello, data, len) || !hello.refused)
		return false;
	pr_err("%u: the server rejects the connection: %s differs\n", s->id,
	       krping_mismatch_name(hello.refused));
	return true;
}

/**
 * krping_say_ctl - send a control message
 * @s: extended session without a message in flight
 * @ctl: content
 * @old: buffer to invalidate first, or NULL; see krping_say()
 *
 * Return: 0 or -errno.
 */
int krping_say_ctl(struct krping_session *s, const struct krping_ctl *ctl,
		   struct krping_buf *old)
{
	struct krping_adv adv;

	krping_ctl_encode(&adv, ctl);
	return krping_say(s, &adv, old, NULL, 0);
}

/* Send an end message. */
static int krping_say_end(struct krping_session *s, int error, u32 crc)
{
	const struct krping_ctl ctl = {
		.type = KRPING_CTL_END,
		.status = -error,
		.value = crc,
	};

	return krping_say_ctl(s, &ctl, NULL) ?:
	       krping_wait(s, KRPING_EV_SENT, krping_end);
}

/**
 * krping_take_end - read the peer's end message
 * @s: extended session; @s->peer is the message
 * @crc: result: checksum in the message
 *
 * Return: 0; -EREMOTEIO if the test has failed on the peer; -EPROTO if the
 * message is not an end message.
 */
int krping_take_end(struct krping_session *s, u32 *crc)
{
	struct krping_ctl ctl;

	krping_ctl_decode(&ctl, &s->peer.adv);
	if (ctl.type != KRPING_CTL_END)
		return -EPROTO;
	*crc = ctl.value;
	if (!ctl.status)
		return 0;
	pr_err("%u: the test has failed on the peer: error %u\n", s->id,
	       ctl.status);
	s->step = NULL;
	return -EREMOTEIO;
}

/**
 * krping_end_client - exchange end messages with the server
 * @s: extended session
 * @error: 0 or the error of the client's side
 * @crc: checksum of the client's data
 * @peer_crc: result: checksum of the server's data
 *
 * Return: as krping_wait() or krping_take_end().
 */
int krping_end_client(struct krping_session *s, int error, u32 crc,
		      u32 *peer_crc)
{
	int ret = krping_say_end(s, error, crc) ?:
		  krping_wait_peer(s, krping_end);

	return ret ?: krping_take_end(s, peer_crc);
}

/**
 * krping_end_server - answer the client's end message and await its disconnect
 * @s: extended session whose client has sent its end message
 * @error: 0 or the error of the server's side
 * @crc: checksum of the server's data
 *
 * Return: 0, or as krping_wait(). The client may disconnect before its adapter
 * has acknowledged the answer; that is no error.
 */
int krping_end_server(struct krping_session *s, int error, u32 crc)
{
	int ret = krping_say_end(s, error, crc) ?:
		  krping_wait_over(s, krping_end);

	return ret == -ECONNRESET ? 0 : ret;
}

/**
 * krping_crc - compute the checksum of data
 * @buf: buffer that belongs to the CPU
 * @len: number of bytes
 *
 * Return: CRC32C.
 */
u32 krping_crc(const struct krping_buf *buf, u32 len)
{
	return krdma_crc32c(~0U, buf->addr, len);
}
