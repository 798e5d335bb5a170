// SPDX-License-Identifier: GPL-2.0
/*
 * Measurements: latency and bandwidth of WRITEs, READs, messages and atomics.
 *
 *	client					server
 *	SEND buffer's address	------------->
 *				<-------------	SEND buffer's address
 *	wlat: WRITE		------------->	polls byte 0 of its buffer
 *	polls byte 0		<-------------	WRITE
 *	rlat: READ		<=============
 *	bw: WRITE, WRITE, …	=============>
 *	slat: SEND		------------->
 *				<-------------	SEND
 *	sbw: SEND, SEND, …	------------->
 *				<-------------	at intervals: grant more
 *	rbw, atomic: as rlat
 *	disconnect
 *
 * Old peers (see wire.h) have no end message: a side that has done its part
 * disconnects. A server that posts no operations of its own waits for the
 * client's disconnect. With duplex, where both sides WRITE, either side may end
 * the test by disconnecting.
 *
 * New peers exchange end messages, the client first. After that, both sides
 * know that all operations have completed. With verify, the end message of a
 * side has the checksum of the data that the peer got from this side, by WRITEs
 * of this side or by READs of the peer. The side that got data compares the
 * checksum of its memory with the one in the end message.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/printk.h>
#include <linux/sched/signal.h>

#include "priv.h"

/*
 * Number of times that the polled byte is read before all other conditions are
 * checked once.
 */
#define KRPING_SPINS 16

static const char krping_start_adv[] = "wait for the peer's buffer";
static const char krping_writes[] = "wait for RDMA_WRITE_COMPLETE";
static const char krping_reads[] = "wait for RDMA_READ_COMPLETE";
static const char krping_peers_write[] = "wait for the peer's WRITE";
static const char krping_peers_send[] = "wait for the peer's SEND";
static const char krping_sends[] = "wait for SEND_COMPLETE";
static const char krping_atomics[] = "wait for ATOMIC_COMPLETE";
static const char krping_end_msg[] = "wait for the client's end";
static const char krping_disconnect[] = "wait for DISCONNECTED";

/* Check for a test that moves data from the server's memory to the client's. */
static bool krping_bench_is_read(const struct krping_session *s)
{
	return s->opts->test == KRPING_TEST_RLAT ||
	       s->opts->test == KRPING_TEST_RBW;
}

/*
 * Fill and map the buffers s->start and s->sink, and register s->sink. Both
 * stay mapped and registered for the whole run.
 */
static int krping_bench_map(struct krping_session *s)
{
	int ret;

	/*
	 * The data that the peer will get. In wlat, byte 0 of s->start must
	 * stay 0, because the first WRITE of the peer changes it to 1.
	 */
	if (s->opts->test != KRPING_TEST_ATOMIC)
		krping_payload_fill(s->sink.addr, s->plan.size, s->opts->role);
	if (krping_bench_is_read(s))
		krping_payload_fill(s->start.addr, s->plan.size, s->opts->role);
	ret = krping_buf_map(&s->start, DMA_BIDIRECTIONAL) ?:
	      krping_buf_map(&s->sink, DMA_BIDIRECTIONAL);
	if (ret)
		return ret;
	/* iWARP requires remote write access to the sink of a READ. */
	return krping_register(s, &s->sink, IB_ACCESS_LOCAL_WRITE |
					    IB_ACCESS_REMOTE_WRITE);
}

static int krping_bench_show(struct krping_session *s)
{
	const struct krping_adv adv = {
		.addr = s->start.mr->iova,
		.rkey = s->start.mr->rkey,
		.size = s->start.size,
	};

	int access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ |
		     IB_ACCESS_REMOTE_WRITE;

	if (s->opts->test == KRPING_TEST_ATOMIC)
		access |= IB_ACCESS_REMOTE_ATOMIC;
	return krping_say(s, &adv, NULL, &s->start, access);
}

/* Check for a server that neither READs nor WRITEs the client's buffer. */
static bool krping_bench_is_idle(const struct krping_session *s)
{
	return s->opts->role == KRPING_ROLE_SERVER &&
	       s->opts->test != KRPING_TEST_WLAT &&
	       !(s->opts->test == KRPING_TEST_BW && s->opts->duplex);
}

static int krping_bench_learn(struct krping_session *s)
{
	s->remote = s->peer.adv;
	if (s->remote.size >= s->plan.size || krping_bench_is_idle(s))
		return 0;
	pr_err("%u: size=%u is more than the peer's %u\n", s->id, s->plan.size,
	       s->remote.size);
	s->step = NULL;
	return -EMSGSIZE;
}

/*
 * In the slat and sbw tests, let the completion handler treat messages as data
 * of the test from now on, see krping_is_stream().
 */
static void krping_bench_stream_begins(struct krping_session *s)
{
	unsigned long flags;

	spin_lock_irqsave(&s->lock, flags);
	s->flow.streaming = true;
	spin_unlock_irqrestore(&s->lock, flags);
}

/* ---- tests in which the client posts one operation at a time ---- */

static int krping_one_by_one(struct krping_session *s, const char *step,
			     int (*check)(struct krping_session *s))
{
	int ret = 0;

	while (!ret && krping_more(s)) {
		ret = krping_stream_one(s, step);
		if (!ret && check)
			ret = check(s);
	}
	return ret;
}

/*
 * Check the result of an atomic. It returns the old value, which is the number
 * of atomics before it.
 */
static int krping_atomic_check(struct krping_session *s)
{
	krping_buf_for_cpu(&s->sink);
	if (READ_ONCE(*(u64 *)s->sink.addr) == s->progress.ops - 1)
		return 0;
	pr_err("%u: data mismatch!\n", s->id);
	s->step = NULL;
	return -EBADMSG;
}

/* ---- tests with many operations in flight ---- */

/*
 * Check for operations of the peer's stream. Set *ret to 1 if the wanted number
 * has arrived, to -ENOMSG if a message has arrived instead, or to the session's
 * error.
 */
static bool krping_has_arrived(struct krping_session *s, const void *arg,
			       int *ret)
{
	const u64 *wanted = arg;
	unsigned long flags;

	spin_lock_irqsave(&s->lock, flags);
	s->flow.wanted = *wanted;
	if (s->flow.arrived >= *wanted)
		*ret = 1;
	else
		*ret = s->error;
	if (!*ret && s->events & KRPING_EV_RECEIVED)
		*ret = -ENOMSG;
	spin_unlock_irqrestore(&s->lock, flags);
	return *ret;
}

/*
 * Wait for @wanted operations of the peer's stream. Return 1 if they have
 * arrived, -ENOMSG if a message has arrived instead, or an error.
 */
static int krping_wait_arrived(struct krping_session *s, u64 wanted)
{
	s->step = krping_peers_send;
	return krping_wait_ready(s, krping_has_arrived, &wanted);
}

/*
 * Serve a client whose operations consume receives of this server. Each time a
 * quarter of s->plan.window operations has arrived, grant more to the client.
 */
static int krping_feed(struct krping_session *s)
{
	/*
	 * With a quarter of the window for each grant, at most four grants are
	 * in flight. The client has posted a receive for each of them.
	 */
	u32 quarter = DIV_ROUND_UP(s->plan.window, 4);
	struct krping_ctl grant = { .type = KRPING_CTL_CREDIT };
	u64 next = quarter;
	int ret;

	for (;;) {
		/*
		 * The client sends at its own pace. After a timeout, continue
		 * to wait if the client's adapter answers a probe.
		 */
		ret = krping_wait_arrived(s, next);
		if (ret == -ETIMEDOUT) {
			ret = krping_probe(s);
			if (!ret)
				continue;
		}
		if (ret != 1)
			break;
		grant.value = next + s->plan.window;
		ret = krping_say_ctl(s, &grant, NULL) ?:
		      krping_wait(s, KRPING_EV_SENT, krping_sends);
		if (ret)
			break;
		next += quarter;
	}
	s->progress.ops = READ_ONCE(s->flow.arrived);
	return ret == -ENOMSG ? 0 : ret;
}

/* ---- tests in which both sides post operations alternately ---- */

/*
 * WRITE the number of the round to the peer. Byte 0 counts the rounds from 1,
 * because the memory of both sides is zero at first. An old peer polls only
 * byte 0. The first packet of a long WRITE may arrive before the last one, so
 * new peers also count and poll in the last byte.
 */
static int krping_wlat_write(struct krping_session *s, u64 round)
{
	u8 *data = s->sink.addr;

	if (s->conn.ext)
		data[s->progress.len - 1] = round;
	data[0] = round;
	krping_buf_for_device(&s->sink);
	return krping_stream_post(s);
}

/* Poll for the peer's WRITE, and at intervals check all other conditions. */
static bool krping_wlat_seen(struct krping_session *s, const void *arg,
			     int *ret)
{
	u8 round = *(const u64 *)arg;
	int i;

	for (i = 0; i < KRPING_SPINS; i++) {
		*ret = 0;
		if (krping_buf_peek(&s->start, 0) == round &&
		    (!s->conn.ext ||
		     krping_buf_peek(&s->start, s->progress.len - 1) == round))
			return true;
		cpu_relax();
	}
	*ret = READ_ONCE(s->error);
	if (!*ret && READ_ONCE(s->events) & KRPING_EV_RECEIVED)
		*ret = -ENOMSG;
	return *ret;
}

static int krping_wlat_look(struct krping_session *s, u64 round)
{
	s->step = krping_peers_write;
	return krping_wait_ready(s, krping_wlat_seen, &round);
}

static int krping_wlat_client(struct krping_session *s)
{
	u64 round = s->progress.ops + 1;
	int ret = krping_wlat_write(s, round) ?: krping_wlat_look(s, round);

	return ret ?: krping_stream_wait(s, s->stream.posted, krping_writes);
}

static int krping_wlat_server(struct krping_session *s)
{
	u64 round = s->progress.ops + 1;
	int ret = krping_wlat_look(s, round) ?: krping_wlat_write(s, round);

	if (!ret)
		ret = krping_stream_wait(s, s->stream.posted, krping_writes);
	/*
	 * An old client may disconnect before it acknowledges the last WRITE.
	 */
	if (ret == -ECONNRESET && !s->conn.ext &&
	    s->stream.posted == s->plan.count)
		ret = 0;
	return ret;
}

static int krping_slat_client(struct krping_session *s)
{
	int ret = krping_stream_post(s);

	if (ret)
		return ret;
	ret = krping_wait_arrived(s, s->progress.ops + 1);
	if (ret != 1)
		return ret == -ENOMSG ? -EPROTO : ret;
	return krping_stream_wait(s, s->stream.posted, krping_sends);
}

static int krping_slat_server(struct krping_session *s)
{
	int ret = krping_wait_arrived(s, s->progress.ops + 1);

	if (ret != 1)
		return ret;
	return krping_stream_post(s) ?:
	       krping_stream_wait(s, s->stream.posted, krping_sends);
}

/*
 * Run rounds. With a duration, only the client knows the end, and sends its end
 * message.
 */
static int krping_rounds(struct krping_session *s,
			 int (*round)(struct krping_session *s))
{
	bool endless = s->opts->role == KRPING_ROLE_SERVER &&
		       s->plan.duration_s;
	u64 begin;
	int ret = 0;

	while (!ret && (endless || krping_more(s))) {
		begin = ktime_get_ns();
		ret = krping_fault(s) ?: round(s);
		if (ret)
			break;
		krping_measured(s, ktime_get_ns() - begin);
		s->progress.ops++;
		if (signal_pending(current))
			ret = -EINTR;
	}
	if (ret == -ENOMSG)
		return s->plan.duration_s ? 0 : -EPROTO;
	return ret;
}

/* ---- all tests ---- */

/**
 * struct krping_bench - a test
 * @opcode: operation
 * @other: operation with the option imm, or with atomic=fadd
 * @step: name of the wait for an operation, for the log
 * @many: many operations are in flight
 * @client: function that does a round of the client; NULL: the test has no
 *	rounds
 * @server: function that does a round of the server
 * @check: function that checks the result of an operation, or NULL
 */
struct krping_bench {
	enum ib_wr_opcode opcode;
	enum ib_wr_opcode other;
	const char *step;
	bool many;
	int (*client)(struct krping_session *s);
	int (*server)(struct krping_session *s);
	int (*check)(struct krping_session *s);
};

static const struct krping_bench krping_benches[KRPING_TESTS] = {
	[KRPING_TEST_WLAT] = { IB_WR_RDMA_WRITE, .client = krping_wlat_client,
			       .server = krping_wlat_server },
	[KRPING_TEST_RLAT] = { IB_WR_RDMA_READ, .step = krping_reads },
	[KRPING_TEST_BW] = { IB_WR_RDMA_WRITE, IB_WR_RDMA_WRITE_WITH_IMM,
			     krping_writes, .many = true },
	[KRPING_TEST_SLAT] = { IB_WR_SEND, IB_WR_SEND_WITH_IMM,
			       .client = krping_slat_client,
			       .server = krping_slat_server },
	[KRPING_TEST_SBW] = { IB_WR_SEND, IB_WR_SEND_WITH_IMM, krping_sends,
			      .many = true },
	[KRPING_TEST_RBW] = { IB_WR_RDMA_READ, .step = krping_reads,
			      .many = true },
	[KRPING_TEST_ATOMIC] = { IB_WR_ATOMIC_CMP_AND_SWP,
				 IB_WR_ATOMIC_FETCH_AND_ADD, krping_atomics,
				 .check = krping_atomic_check },
};

/* Test one size. */
static int krping_bench_size(struct krping_session *s)
{
	const struct krping_bench *bench = &krping_benches[s->opts->test];
	bool is_client = s->opts->role == KRPING_ROLE_CLIENT;
	enum ib_wr_opcode opcode = bench->opcode;

	if (s->opts->imm || s->opts->atomic == KRPING_ATOMIC_FADD)
		opcode = bench->other;
	if (bench->many) {
		krping_stream_init(s, opcode, s->conn.depth, s->opts->cq_mod);
		return krping_stream_run(s, bench->step);
	}
	krping_stream_init(s, opcode, 1, 1);
	if (bench->client)
		return krping_rounds(s, is_client ? bench->client :
						    bench->server);
	return krping_one_by_one(s, bench->step, bench->check);
}

/**
 * krping_bench_log - log the results of all sizes
 * @s: session that has done all sizes
 *
 * Scripts parse these lines: the second word must be "delta", and the numbers
 * must stay in these places. Therefore the lines do not begin with the number
 * of the run.
 */
void krping_bench_log(const struct krping_session *s)
{
	const struct krping_part *part;
	u32 nsec;
	u64 sec;

	for (part = s->progress.parts; part <= s->progress.part; part++) {
		sec = div_u64_rem(part->elapsed, NSEC_PER_SEC, &nsec);
		if (s->opts->nsec)
			pr_info("delta nsec %llu iter %llu size %u\n",
				part->elapsed, part->ops, part->size);
		else
			pr_info("delta sec %llu delta usec %u iter %llu size %u\n",
				sec, nsec / (u32)NSEC_PER_USEC, part->ops,
				part->size);
	}
}

static int krping_bench_measure(struct krping_session *s)
{
	int ret = krping_each_size(s, krping_bench_size);

	if (!ret)
		krping_bench_log(s);
	return ret;
}

/*
 * Return the checksum of the data that the peer gets, by its READs or by WRITEs
 * of this side.
 */
static u32 krping_bench_crc(struct krping_session *s)
{
	if (!s->conn.crc)
		return 0;
	return krping_crc(krping_bench_is_read(s) ? &s->start : &s->sink,
			  s->plan.size);
}

/*
 * Compare the checksum of the data from the peer with the peer's @crc, if the
 * test moves data into a buffer of this session or of the peer. Messages go
 * into receives, and atomics are checked one by one.
 */
static int krping_bench_check(struct krping_session *s, u32 crc)
{
	bool is_read = krping_bench_is_read(s);
	struct krping_buf *buf = is_read ? &s->sink : &s->start;

	if (!s->conn.crc || !(s->plan.count || s->plan.duration_s) ||
	    (!is_read && s->opts->test != KRPING_TEST_WLAT &&
	     s->opts->test != KRPING_TEST_BW))
		return 0;
	krping_buf_for_cpu(buf);
	if (krping_crc(buf, s->plan.size) == crc)
		return 0;
	pr_err("%u: data mismatch!\n", s->id);
	s->step = NULL;
	return -EBADMSG;
}

/**
 * krping_bench_client - run a measurement
 * @s: connected session
 *
 * Return: 0, or -errno if the measurement was not completed.
 */
int krping_bench_client(struct krping_session *s)
{
	u32 crc;
	int ret;

	ret = krping_bench_map(s) ?: krping_bench_show(s);
	if (ret)
		return ret;
	ret = krping_wait_first(s, KRPING_EV_SENT | KRPING_EV_RECEIVED,
				krping_start_adv);
	krping_bench_stream_begins(s);
	if (!ret)
		ret = krping_bench_learn(s);
	if (!ret)
		ret = krping_bench_measure(s);
	/*
	 * An old server disconnects when it has done its part, without waiting
	 * for the client.
	 */
	if (!s->conn.ext && ret == -ECONNRESET && s->opts->duplex &&
	    s->progress.ops)
		return 0;
	if (ret || !s->conn.ext)
		return ret;
	ret = krping_end_client(s, 0, krping_bench_crc(s), &crc);
	/* In bw, the client receives data from the server only with duplex. */
	if (ret || (s->opts->test == KRPING_TEST_BW && !s->opts->duplex))
		return ret;
	return krping_bench_check(s, crc);
}

/**
 * krping_bench_server - serve a measurement
 * @s: connected session
 *
 * Return: 0 if the client has sent its end message, or if an old client has
 * disconnected; otherwise -errno.
 */
int krping_bench_server(struct krping_session *s)
{
	int ret, error = 0;
	u32 crc;

	ret = krping_bench_map(s) ?:
	      krping_wait_first(s, KRPING_EV_RECEIVED, krping_start_adv);
	if (ret)
		return ret;
	/*
	 * Expect data before the server sends its answer, because the answer
	 * allows the client to send data.
	 */
	krping_bench_stream_begins(s);
	ret = krping_bench_learn(s) ?: krping_bench_show(s);
	if (!ret)
		ret = krping_wait(s, KRPING_EV_SENT, krping_start_adv);
	if (ret)
		return ret;
	/* Run the operations that the server itself posts, counts or grants. */
	if (krping_benches[s->opts->test].server || !krping_bench_is_idle(s))
		ret = krping_bench_measure(s);
	else if (s->opts->imm || s->opts->test == KRPING_TEST_SBW)
		ret = krping_feed(s);
	/* An old client may disconnect before it has acknowledged any WRITE. */
	if (!s->conn.ext && ret == -ECONNRESET && s->opts->duplex)
		return 0;
	if (ret)
		return ret;
	if (!s->conn.ext)
		return krping_wait_over(s, krping_disconnect);
	ret = krping_wait_peer(s, krping_end_msg) ?: krping_take_end(s, &crc);
	if (ret)
		return ret;
	if (!krping_bench_is_read(s))
		error = krping_bench_check(s, crc);
	return krping_end_server(s, error, krping_bench_crc(s)) ?: error;
}
