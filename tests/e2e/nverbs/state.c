// SPDX-License-Identifier: GPL-2.0
/* States of a QP, flushes, shared receive queues, and properties of devices. */
#include <net/ipv6.h>
#include <rdma/ib_cache.h>

#include "priv.h"

/* Messages that find no receive, one after the other. */
#define NV_RNRS		6

static struct nv_req nv_small(const struct nv_test *t, enum ib_wr_opcode op)
{
	return (struct nv_req){
		.op = op,
		.flags = IB_SEND_SIGNALED,
		.lay = { .off = SZ_8K, .len = 64, .n = 1 },
		.addr = t->addr[0] + SZ_4K,
		.rkey = t->rkey[0][NV_ALL],
	};
}

static const struct nv_lay nv_place_64 = { .off = SZ_8K, .len = 64, .n = 1 };

static int nv_post_recvs(struct nv_test *t, u32 n)
{
	return nv_me(t, .op = NV_RECV, .lay = nv_place_64, .n = n);
}

/* All completions from @from on are flushes, in the order of the posts. */
static bool nv_flushed(struct nv_test *t, enum nv_dir dir, u32 from, u32 n)
{
	struct nv_conn *c = t->side.conn[0];
	struct nv_queue *q = &c->queue[dir];
	u32 i;

	if (!nv_wait(c, dir, from + n, NV_WAIT_MS / 4) || q->done > from + n)
		return nv_bad(t, "%u completions instead of %u", q->done - from,
			      n);
	for (i = from; i < from + n; i++) {
		const struct nv_log *log = &q->log[i % NV_LOGS];

		if (log->status != IB_WC_WR_FLUSH_ERR ||
		    log->id != q->posted - n + i - from)
			return nv_bad(t, "completion %u of id %u: %s", i - from,
				      log->id, nv_status(log->status));
	}
	return true;
}

/* Register memory and write, as one list, while the answer of the peer is late. */
static bool nv_late(struct nv_test *t)
{
	struct nv_conn *c = t->side.conn[0];
	struct nv_req req[] = {
		{ .op = IB_WR_REG_MR, .mr = c->mr[NV_INVALID],
		  .access = IB_ACCESS_LOCAL_WRITE },
		nv_small(t, IB_WR_RDMA_WRITE),
	};
	u32 done = c->queue[NV_SENDS].done;
	int ret = nv_wait_go() ?: nv_post(c, req, ARRAY_SIZE(req));

	if (ret)
		return nv_bad(t, "the post returns %d", ret);
	if (!nv_wait(c, NV_SENDS, done + 1, NV_WAIT_MS))
		return nv_bad(t, "no completion");
	ret = c->queue[NV_SENDS].log[done % NV_LOGS].status;
	return !ret || nv_bad(t, "%s", nv_status(ret));
}

/* The script stops the link when the connection was idle for long enough. */
void nv_idle(struct nv_test *t)
{
	static const struct nv_spec spec = {
		.rd = 8, .dest = 8, .retry = 1, .timeout = 14,
	};
	bool good = nv_open(t, 0, &spec) && nv_works(t, 0);

	if (good)
		good = nv_late(t);
	nv_case(t, good,
		"RDMA_WRITE behind REG_MR waits for its answer after a long idle time");
	nv_close(t, 0);
}

static const struct {
	const char *name;
	enum ib_qp_state state;
	int send;
	int recv;
} nv_state_rows[] = {
	{ "RESET", IB_QPS_RESET, -EINVAL, -EINVAL },
	{ "INIT", IB_QPS_INIT, -EINVAL, 0 },
	{ "RTR", IB_QPS_RTR, -EINVAL, 0 },
	{ "RTS", IB_QPS_RTS, 0, 0 },
	{ "ERR", IB_QPS_ERR, 0, 0 },
};

static bool nv_in_state(struct nv_test *t, int i)
{
	struct nv_req req = nv_small(t, IB_WR_RDMA_WRITE);
	struct nv_conn *c = t->side.conn[0];
	u32 sends, recvs;
	int ret;

	ret = nv_me(t, .op = NV_STATE, .arg = nv_state_rows[i].state);
	if (ret)
		return nv_bad(t, "the state cannot be set: %d", ret);
	/* Receives of the state before are flushed first. */
	nv_wait(c, NV_RECVS, c->queue[NV_RECVS].done + 1, 200);
	sends = c->queue[NV_SENDS].done;
	recvs = c->queue[NV_RECVS].done;
	c->locked = true;
	ret = nv_post(c, &req, 1);
	c->locked = false;
	if (ret != nv_state_rows[i].send)
		return nv_bad(t, "ib_post_send() returns %d", ret);
	ret = nv_post_recvs(t, 1);
	if (ret != nv_state_rows[i].recv)
		return nv_bad(t, "ib_post_recv() returns %d", ret);
	if (nv_state_rows[i].state == IB_QPS_ERR) {
		if (!nv_flushed(t, NV_SENDS, sends, 1) ||
		    !nv_flushed(t, NV_RECVS, recvs, 1))
			return false;
	} else if (!nv_state_rows[i].send &&
		   !nv_wait(c, NV_SENDS, sends + 1, NV_WAIT_MS)) {
		return nv_bad(t, "no completion");
	}
	return !c->nested ||
	       nv_bad(t, "a handler is called within ib_post_send()");
}

static void nv_posts(struct nv_test *t)
{
	bool open = nv_open(t, 0, &nv_usual);
	int i;

	for (i = 0; i < ARRAY_SIZE(nv_state_rows); i++)
		nv_case(t, open && nv_in_state(t, i),
			"posts in %s return %d and %d", nv_state_rows[i].name,
			nv_state_rows[i].send, nv_state_rows[i].recv);
}

/* Post SENDs that find no receive, and receives. */
static int nv_fill_queues(struct nv_test *t, u32 n)
{
	struct nv_req req = nv_small(t, IB_WR_SEND);
	int ret = nv_post_recvs(t, n);
	u32 i;

	for (i = 0; i < n && !ret; i++) {
		req.flags = i & 1 ? 0 : IB_SEND_SIGNALED;
		ret = nv_post(t->side.conn[0], &req, 1);
	}
	return ret;
}

static bool nv_flush(struct nv_test *t)
{
	struct nv_queue *q = t->side.conn[0]->queue;
	u32 sends = q[NV_SENDS].done, recvs = q[NV_RECVS].done;
	int ret = nv_fill_queues(t, 8) ?:
		  nv_me(t, .op = NV_STATE, .arg = IB_QPS_ERR);

	if (ret)
		return nv_bad(t, "preparing returns %d", ret);
	return nv_flushed(t, NV_SENDS, sends, 8) &&
	       nv_flushed(t, NV_RECVS, recvs, 8);
}

static bool nv_drain(struct nv_test *t)
{
	struct nv_conn *c = t->side.conn[0];
	int i, ret = nv_fill_queues(t, 8);

	if (ret)
		return nv_bad(t, "preparing returns %d", ret);
	for (i = 0; i < 2; i++) {
		ib_drain_qp(c->id->qp);
		if (c->queue[NV_SENDS].done != c->queue[NV_SENDS].posted ||
		    c->queue[NV_RECVS].done != c->queue[NV_RECVS].posted)
			return nv_bad(t, "%u sends and %u receives completed",
				      c->queue[NV_SENDS].done,
				      c->queue[NV_RECVS].done);
	}
	return true;
}

static bool nv_reset(struct nv_test *t)
{
	struct nv_queue *q = t->side.conn[0]->queue;
	u32 sends = q[NV_SENDS].done, recvs = q[NV_RECVS].done;
	int ret;

	ret = nv_fill_queues(t, 8) ?:
	      nv_me(t, .op = NV_STATE, .arg = IB_QPS_RESET);
	if (ret)
		return nv_bad(t, "preparing returns %d", ret);
	if (nv_wait(t->side.conn[0], NV_RECVS, recvs + 1, 200) ||
	    q[NV_SENDS].done != sends)
		return nv_bad(t, "RESET completes requests");
	ret = nv_peer(t, .op = NV_STATE, .arg = IB_QPS_RTS) ?:
	      nv_me(t, .op = NV_STATE, .arg = IB_QPS_RTS) ?:
	      nv_peer(t, .op = NV_ACCESS, .arg = NV_ALL_RIGHTS);
	if (ret)
		return nv_bad(t, "the QPs cannot be set up: %d", ret);
	return nv_works(t, 0);
}

static bool nv_full(struct nv_test *t)
{
	struct nv_req req = nv_small(t, IB_WR_SEND);
	int n, ret = 0;

	for (n = 0; n < NV_TAGS && !ret; n++)
		ret = nv_post(t->side.conn[0], &req, 1);
	return (ret == -ENOMEM && n > NV_DEPTH) ||
	       nv_bad(t, "post %d returns %d", n, ret);
}

static bool nv_too_long(struct nv_test *t)
{
	struct nv_conn *c = t->side.conn[0];
	struct nv_req req = nv_small(t, IB_WR_SEND);
	int ret;

	req.flags |= IB_SEND_INLINE;
	req.lay.len = c->cap.max_inline_data + 1;
	ret = nv_post(c, &req, 1);
	if (ret != -EINVAL)
		return nv_bad(t, "inline data: %d", ret);
	if (c->cap.max_send_sge > NV_SGES)
		return true;
	req.flags = IB_SEND_SIGNALED;
	req.lay.n = c->cap.max_send_sge + 1;
	req.lay.len = req.lay.n * 8;
	ret = nv_post(c, &req, 1);
	return ret == -EINVAL || nv_bad(t, "SGEs: %d", ret);
}

/* SEND_WITH_INV is effective before its receive completes. */
static bool nv_revokes(struct nv_test *t)
{
	struct nv_conn *c = t->side.conn[0];
	struct nv_queue *q = &c->queue[NV_SENDS];
	struct nv_req req[2];
	u32 done = q->done;
	int ret;

	req[0] = nv_small(t, IB_WR_SEND_WITH_INV);
	req[1] = nv_small(t, IB_WR_RDMA_WRITE);
	req[0].rkey = t->rkey[0][NV_TARGET];
	req[1].rkey = t->rkey[0][NV_TARGET];
	ret = nv_peer(t, .op = NV_RECV, .lay = nv_place_64, .n = 1) ?:
	      nv_post(c, req, 2);
	if (ret)
		return nv_bad(t, "the post returns %d", ret);
	if (!nv_wait(c, NV_SENDS, done + 2, NV_WAIT_MS / 4))
		return nv_bad(t, "no completion");
	if (q->log[done % NV_LOGS].status)
		return nv_bad(t, "SEND_WITH_INV: %s",
			      nv_status(q->log[done % NV_LOGS].status));
	ret = q->log[(done + 1) % NV_LOGS].status;
	return ret == IB_WC_REM_ACCESS_ERR || nv_bad(t, "%s", nv_status(ret));
}

/* A local request completes behind a request that has no completion. */
static bool nv_behind_unsignalled(struct nv_test *t)
{
	struct nv_conn *c = t->side.conn[0];
	struct nv_queue *q = &c->queue[NV_SENDS];
	struct nv_req req[2];
	u32 done = q->done;
	int ret;

	req[0] = nv_small(t, IB_WR_RDMA_WRITE);
	req[0].flags = 0;
	req[0].rkey = t->rkey[0][NV_ALL];
	req[1] = (struct nv_req){
		.op = IB_WR_LOCAL_INV,
		.flags = IB_SEND_SIGNALED,
		.rkey = c->mr[NV_TARGET]->rkey,
	};
	ret = nv_post(c, req, 2);
	if (ret)
		return nv_bad(t, "the post returns %d", ret);
	if (!nv_wait(c, NV_SENDS, done + 1, NV_WAIT_MS / 4))
		return nv_bad(t, "no completion");
	ret = q->log[done % NV_LOGS].status;
	return !ret || nv_bad(t, "LOCAL_INV: %s", nv_status(ret));
}

/*
 * A message that finds no receive is repeated, although a request behind it has
 * failed on this side.
 */
static bool nv_before_failed(struct nv_test *t)
{
	struct nv_conn *c = t->side.conn[0];
	struct nv_queue *q = &c->queue[NV_SENDS];
	struct nv_req req[2];
	u32 done = q->done;
	int ret;

	req[0] = nv_small(t, IB_WR_SEND);
	req[1] = nv_small(t, IB_WR_RDMA_WRITE);
	req[1].rkey = t->rkey[0][NV_ALL];
	req[1].lkey = NV_BAD_LKEY;
	ret = nv_post(c, req, 2);
	if (ret)
		return nv_bad(t, "the post returns %d", ret);
	msleep(50);
	ret = nv_peer(t, .op = NV_RECV, .lay = nv_place_64, .n = 1);
	if (ret || !nv_wait(c, NV_SENDS, done + 2, NV_WAIT_MS / 4))
		return nv_bad(t, "%u completions, %d", q->done - done, ret);
	ret = q->log[done % NV_LOGS].status;
	if (ret)
		return nv_bad(t, "SEND: %s", nv_status(ret));
	ret = q->log[(done + 1) % NV_LOGS].status;
	return ret == IB_WC_LOC_PROT_ERR || nv_bad(t, "%s", nv_status(ret));
}

/* A local request behind a message that is repeated is executed once. */
static bool nv_local_behind_repeated(struct nv_test *t)
{
	struct nv_conn *c = t->side.conn[0];
	struct nv_queue *q = &c->queue[NV_SENDS];
	struct nv_req req[2];
	u32 done = q->done;
	int i, ret;

	req[0] = nv_small(t, IB_WR_SEND);
	req[1] = (struct nv_req){
		.op = IB_WR_REG_MR,
		.flags = IB_SEND_SIGNALED,
		.mr = c->mr[NV_INVALID],
		.access = IB_ACCESS_LOCAL_WRITE,
	};
	ret = nv_post(c, req, 2);
	if (ret)
		return nv_bad(t, "the post returns %d", ret);
	msleep(50);
	ret = nv_peer(t, .op = NV_RECV, .lay = nv_place_64, .n = 1);
	if (ret || !nv_wait(c, NV_SENDS, done + 2, NV_WAIT_MS / 4))
		return nv_bad(t, "%u completions, %d", q->done - done, ret);
	for (i = 0; i < 2; i++) {
		ret = q->log[(done + i) % NV_LOGS].status;
		if (ret)
			return nv_bad(t, "request %d: %s", i, nv_status(ret));
	}
	return true;
}

/*
 * Messages that find no receive are repeated when receives are posted. The CM has
 * set the longest RNR timer, 655 ms.
 */
static bool nv_ends_rnr(struct nv_test *t)
{
	struct nv_req req = nv_small(t, IB_WR_SEND);
	struct nv_conn *c = t->side.conn[0];
	struct nv_queue *q = &c->queue[NV_SENDS];
	unsigned long begin = jiffies;
	u32 i, done, ms;
	int ret;

	for (i = 0; i < NV_RNRS; i++) {
		done = q->done;
		ret = nv_post(c, &req, 1);
		if (ret)
			return nv_bad(t, "the post returns %d", ret);
		msleep(50);
		ret = nv_peer(t, .op = NV_RECV, .lay = nv_place_64, .n = 1);
		if (ret || !nv_wait(c, NV_SENDS, done + 1, NV_WAIT_MS))
			return nv_bad(t, "no completion, %d", ret);
	}
	ms = jiffies_to_msecs(jiffies - begin);
	return ms < NV_RNRS * 655 / 2 ||
	       nv_bad(t, "%u messages take %u ms", NV_RNRS, ms);
}

/* All but one of the READs wait. */
static bool nv_reads_in_turn(struct nv_test *t)
{
	struct nv_conn *c = t->side.conn[0];
	struct nv_queue *q = &c->queue[NV_SENDS];
	struct nv_req req[NV_LOGS];
	u32 done = q->done;
	int i, ret;

	for (i = 0; i < ARRAY_SIZE(req); i++) {
		req[i] = nv_small(t, IB_WR_RDMA_READ);
		req[i].lay.len = SZ_64K;
	}
	ret = nv_post(c, req, ARRAY_SIZE(req));
	if (ret)
		return nv_bad(t, "the post returns %d", ret);
	if (!nv_wait(c, NV_SENDS, done + ARRAY_SIZE(req), NV_WAIT_MS))
		return nv_bad(t, "%u completions", q->done - done);
	for (i = 0; i < ARRAY_SIZE(req); i++) {
		ret = q->log[(done + i) % NV_LOGS].status;
		if (ret)
			return nv_bad(t, "READ %d: %s", i, nv_status(ret));
	}
	return true;
}

/* Send a message, and return the number of notifications of the peer. */
static u32 nv_notified(struct nv_test *t, int flags)
{
	struct nv_req req = nv_small(t, IB_WR_SEND);
	u32 done, notified;
	int ret;

	nv_peer(t, .op = NV_WAIT, .arg = NV_RECVS);
	done = t->reply.done[NV_RECVS];
	notified = t->reply.notified[NV_RECVS];
	req.flags |= flags;
	ret = nv_peer(t, .op = NV_RECV, .lay = nv_place_64, .n = 1) ?:
	      nv_post(t->side.conn[0], &req, 1) ?:
	      nv_peer(t, .op = NV_WAIT, .arg = NV_RECVS, .n = done + 1);
	return ret ? ~0U : t->reply.notified[NV_RECVS] - notified;
}

/* A CQ that is armed for solicited events notifies of these only. */
static bool nv_solicited(struct nv_test *t)
{
	u32 first, second, third;

	/* The CQ is armed for any event until the first message. */
	nv_peer(t, .op = NV_HOLD);
	first = nv_notified(t, 0);
	nv_peer(t, .op = NV_HOLD, .arg = IB_CQ_SOLICITED);
	second = nv_notified(t, 0);
	third = nv_notified(t, IB_SEND_SOLICITED);
	return (first == 1 && second == 0 && third == 1) ||
	       nv_bad(t, "%u, %u and %u notifications", first, second, third);
}

static const struct nv_spec nv_one_read = {
	.rd = 1, .dest = 1, .retry = 7, .rnr_retry = 7,
};

static const struct {
	const char *name;
	bool (*run)(struct nv_test *t);
	const struct nv_spec *spec;
} nv_state_cases[] = {
	{ "error state flushes both queues in the order of the posts",
	  nv_flush },
	{ "ib_drain_qp() returns after all completions, also in ERR",
	  nv_drain },
	{ "RESET drops all requests without completions, and the QP works again",
	  nv_reset },
	{ "post to a full send queue returns -ENOMEM", nv_full },
	{ "post with too many SGEs or inline bytes returns -EINVAL",
	  nv_too_long },
	{ "RDMA_WRITE behind SEND_WITH_INV of its key ends with REM_ACCESS_ERR",
	  nv_revokes },
	{ "LOCAL_INV behind an unsignalled RDMA_WRITE completes",
	  nv_behind_unsignalled },
	{ "SEND that finds no receive is repeated before a request that fails",
	  nv_before_failed },
	{ "REG_MR behind a SEND that is repeated is executed once",
	  nv_local_behind_repeated },
	{ "SENDs that find no receive are repeated when receives are posted",
	  nv_ends_rnr },
	{ "RDMA_READs wait for earlier ones on a QP that may have one in flight",
	  nv_reads_in_turn, &nv_one_read },
	{ "CQ that waits for solicited events ignores other messages",
	  nv_solicited },
};

void nv_states(struct nv_test *t)
{
	bool good;
	int i;

	nv_posts(t);
	nv_close(t, 0);
	for (i = 0; i < ARRAY_SIZE(nv_state_cases); i++) {
		good = nv_open(t, 0, nv_state_cases[i].spec ?: &nv_usual) &&
		       nv_state_cases[i].run(t);
		nv_case(t, good, "%s", nv_state_cases[i].name);
		nv_close(t, 0);
	}
}

/* --- shared receive queues --- */

static const struct nv_spec nv_shared = {
	.rd = 8, .dest = 8, .retry = 7, .rnr_retry = 7, .srq = true,
};

/* Send messages, and return the events of the peer. */
static u32 nv_send_some(struct nv_test *t, u32 n)
{
	struct nv_req req = nv_small(t, IB_WR_SEND);
	u32 i, done;

	nv_peer(t, .op = NV_WAIT, .arg = NV_RECVS);
	done = t->reply.done[NV_RECVS];
	for (i = 0; i < n; i++)
		nv_post(t->side.conn[0], &req, 1);
	nv_peer(t, .op = NV_WAIT, .arg = NV_RECVS, .n = done + n, .ms = 5000,
		.events = BIT(IB_EVENT_SRQ_LIMIT_REACHED));
	return t->reply.events & ~BIT(IB_EVENT_COMM_EST);
}

static bool nv_limit_event(struct nv_test *t)
{
	u32 wanted = BIT(IB_EVENT_SRQ_LIMIT_REACHED);
	u32 events;
	int ret;

	ret = nv_peer(t, .op = NV_RECV, .lay = nv_place_64, .n = 10) ?:
	      nv_peer(t, .op = NV_LIMIT, .arg = 5);
	if (ret)
		return nv_bad(t, "preparing returns %d", ret);
	events = nv_send_some(t, 5);
	if (events)
		return nv_bad(t, "event bits %x at the limit", events);
	events = nv_send_some(t, 1);
	if (events != wanted)
		return nv_bad(t, "event bits %x below the limit", events);
	events = nv_send_some(t, 1);
	return !events || nv_bad(t, "event bits %x later", events);
}

static bool nv_last_wqe(struct nv_test *t)
{
	u32 wanted = BIT(IB_EVENT_QP_LAST_WQE_REACHED);
	int ret = nv_peer(t, .op = NV_STATE, .arg = IB_QPS_ERR) ?:
		  nv_peer(t, .op = NV_WAIT, .events = wanted);

	if (ret)
		return nv_bad(t, "setting the state returns %d", ret);
	return t->reply.events & wanted ||
	       nv_bad(t, "event bits %x", t->reply.events);
}

static bool nv_query_srq(struct nv_test *t)
{
	int ret = nv_peer(t, .op = NV_LIMIT, .arg = 7) ?:
		  nv_peer(t, .op = NV_SRQ);

	return (!ret && t->reply.value == 7 && t->reply.addr[0] >= NV_DEPTH) ||
	       nv_bad(t, "%d, limit %llu, %llu receives", ret, t->reply.value,
		      t->reply.addr[0]);
}

void nv_srq(struct nv_test *t)
{
	bool good = nv_open(t, 0, &nv_shared);

	nv_case(t, good, "a connection with an SRQ is set up");
	nv_case(t, good && nv_limit_event(t),
		"SRQ below its limit raises SRQ_LIMIT_REACHED once");
	nv_case(t, good && nv_query_srq(t),
		"ib_query_srq() returns the limit and the size");
	nv_case(t, good && nv_last_wqe(t),
		"QP with an SRQ raises LAST_WQE_REACHED in the error state");
	nv_close(t, 0);
}

/* --- properties --- */

static bool nv_query_device(struct nv_test *t, struct ib_device *dev)
{
	const struct ib_device_attr *a = &dev->attrs;

	return (a->max_qp > 0 && a->max_cq > 0 && a->max_mr > 0 &&
		a->max_pd > 0 && a->max_qp_wr >= NV_DEPTH &&
		a->max_cqe >= NV_TAGS && a->max_send_sge > 0 &&
		a->max_recv_sge > 0 && a->max_sge_rd > 0 &&
		a->max_fast_reg_page_list_len > 0 && a->max_qp_rd_atom >= 8 &&
		a->device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS) ||
	       nv_bad(t, "a limit is too small");
}

static bool nv_query_port(struct nv_test *t, struct ib_device *dev)
{
	struct ib_port_attr attr;
	u16 pkey = 0;
	int ret;

	ret = ib_query_port(dev, 1, &attr);
	if (!ret && attr.pkey_tbl_len)
		ret = ib_query_pkey(dev, 1, 0, &pkey);
	return (!ret && attr.state == IB_PORT_ACTIVE &&
		attr.phys_state == IB_PORT_PHYS_STATE_LINK_UP &&
		attr.active_mtu >= IB_MTU_256 &&
		attr.active_mtu <= attr.max_mtu && attr.gid_tbl_len > 0 &&
		attr.max_msg_sz >= SZ_1M &&
		(!attr.pkey_tbl_len || pkey == 0xffff)) ||
	       nv_bad(t, "%d, state %d/%d, MTU %d, key %x", ret, attr.state,
		      attr.phys_state, attr.active_mtu, pkey);
}

static bool nv_query_gids(struct nv_test *t, struct ib_device *dev)
{
	struct rdma_addr *addr = &t->side.conn[0]->id->route.addr;
	struct sockaddr_in *own = (struct sockaddr_in *)&addr->src_addr;
	struct in6_addr wanted;
	union ib_gid gid;
	int i;

	ipv6_addr_set_v4mapped(own->sin_addr.s_addr, &wanted);
	for (i = 0; i < dev->port_data[1].immutable.gid_tbl_len; i++)
		if (!rdma_query_gid(dev, 1, i, &gid) &&
		    !memcmp(&gid, &wanted, sizeof(gid)))
			return true;
	return nv_bad(t, "no GID is %pI6c", &wanted);
}

static bool nv_query_qp(struct nv_test *t)
{
	struct nv_conn *c = t->side.conn[0];
	struct ib_qp_init_attr init = {};
	struct ib_qp_attr attr = {};
	int ret;

	nv_peer(t, .op = NV_WAIT);
	ret = ib_query_qp(c->id->qp, &attr,
			  IB_QP_STATE | IB_QP_CAP | IB_QP_DEST_QPN, &init);
	return (!ret && attr.qp_state == IB_QPS_RTS &&
		attr.dest_qp_num == t->reply.qpn &&
		attr.cap.max_send_wr >= NV_DEPTH && attr.max_rd_atomic == 8 &&
		attr.max_dest_rd_atomic == 8 &&
		init.send_cq == c->queue[NV_SENDS].cq) ||
	       nv_bad(t, "%d, state %d, peer %u, %u requests, %u and %u READs",
		      ret, attr.qp_state, attr.dest_qp_num,
		      attr.cap.max_send_wr, attr.max_rd_atomic,
		      attr.max_dest_rd_atomic);
}

void nv_query(struct nv_test *t)
{
	bool good = nv_open(t, 0, &nv_usual);
	struct ib_device *dev;

	nv_case(t, good, "a connection for queries is set up");
	if (good) {
		dev = t->side.conn[0]->id->device;
		nv_case(t, nv_query_device(t, dev),
			"the device has the limits of ordinary consumers");
		nv_case(t, nv_query_port(t, dev), "the port is active");
		nv_case(t, nv_query_gids(t, dev),
			"a GID of the port is the address of the interface");
		nv_case(t, nv_query_qp(t),
			"ib_query_qp() returns state, peer and limits");
	}
	nv_close(t, 0);
}
