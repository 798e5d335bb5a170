// SPDX-License-Identifier: GPL-2.0
/* Each opcode with each size, numbers of SGEs, and flags. */
#include <linux/slab.h>

#include "priv.h"

/* Properties of an opcode. */
#define NV_TAKES	BIT(0)	/* takes a receive */
#define NV_REMOTE	BIT(1)	/* names memory of the peer */
#define NV_GETS		BIT(2)	/* data comes from the peer */
#define NV_IMM		BIT(3)	/* has immediate data */
#define NV_INV		BIT(4)	/* invalidates a key of the peer */

/* A signalled request of the same connection follows. */
#define NV_UNSIGNALED	BIT(30)

struct nv_opcode {
	const char *name;
	enum ib_wr_opcode op;
	enum ib_wc_opcode wc;
	int is;
};

static const struct nv_opcode nv_opcodes[] = {
	{ "SEND", IB_WR_SEND, IB_WC_SEND, NV_TAKES },
	{ "SEND_WITH_IMM", IB_WR_SEND_WITH_IMM, IB_WC_SEND, NV_TAKES | NV_IMM },
	{ "SEND_WITH_INV", IB_WR_SEND_WITH_INV, IB_WC_SEND, NV_TAKES | NV_INV },
	{ "RDMA_WRITE", IB_WR_RDMA_WRITE, IB_WC_RDMA_WRITE, NV_REMOTE },
	{ "RDMA_WRITE_WITH_IMM", IB_WR_RDMA_WRITE_WITH_IMM, IB_WC_RDMA_WRITE,
	  NV_REMOTE | NV_TAKES | NV_IMM },
	{ "RDMA_READ", IB_WR_RDMA_READ, IB_WC_RDMA_READ, NV_REMOTE | NV_GETS },
};

static const u32 nv_sizes[] = {
	0, 1, 8, 15, 16, 17, 63, 64, 65, SZ_4K - 1, SZ_4K, SZ_4K + 1,
	SZ_64K - 1, SZ_64K, SZ_64K + 1, SZ_1M,
};

static const int nv_flags[] = {
	IB_SEND_SIGNALED,
	NV_UNSIGNALED,
	IB_SEND_SIGNALED | IB_SEND_SOLICITED,
	IB_SEND_SIGNALED | IB_SEND_FENCE,
	IB_SEND_SIGNALED | IB_SEND_INLINE,
};

const struct nv_spec nv_usual = {
	.rd = 8, .dest = 8, .retry = 7, .rnr_retry = 7,
};

/**
 * struct nv_message - a message
 * @op: opcode
 * @flags: flags
 * @mine: place of the data on this side
 * @theirs: place at the peer
 * @seed: contents
 */
struct nv_message {
	const struct nv_opcode *op;
	int flags;
	struct nv_lay mine;
	struct nv_lay theirs;
	u32 seed;
};

static u64 nv_addr(const struct nv_test *t, const struct nv_lay *lay)
{
	return t->addr[0] + lay->off - NV_REGION;
}

/* A WRITE_WITH_IMM takes a receive without memory. */
static struct nv_lay nv_recv_lay(const struct nv_message *m)
{
	if (m->op->is & NV_REMOTE)
		return (struct nv_lay){ .off = SZ_4K };
	return m->theirs;
}

static int nv_prepare(struct nv_test *t, const struct nv_message *m)
{
	bool gets = m->op->is & NV_GETS;
	int ret;

	ret = nv_me(t, .op = NV_FILL, .lay = m->mine, .arg = gets ? 0 : m->seed) ?:
	      nv_peer(t, .op = NV_FILL, .lay = m->theirs,
		      .arg = gets ? m->seed : 0);
	if (!ret && m->op->is & NV_TAKES)
		ret = nv_peer(t, .op = NV_RECV, .lay = nv_recv_lay(m), .n = 1);
	return ret;
}

/* Post a message, and wait for its completion. */
static bool nv_send(struct nv_test *t, const struct nv_message *m)
{
	struct nv_conn *c = t->side.conn[0];
	struct nv_queue *q = &c->queue[NV_SENDS];
	struct nv_req req[2] = {
		{
			.op = m->op->op,
			.flags = m->flags & ~NV_UNSIGNALED,
			.lay = m->mine,
			.addr = nv_addr(t, &m->theirs),
			.rkey = t->rkey[0][m->op->is & NV_INV ? NV_TARGET :
					   m->op->is & NV_GETS ? NV_READABLE :
					   NV_WRITABLE],
			.imm = m->seed,
		},
		{
			.op = IB_WR_RDMA_WRITE,
			.flags = IB_SEND_SIGNALED,
			.addr = t->addr[0],
			.rkey = t->rkey[0][NV_WRITABLE],
		},
	};
	bool two = m->flags & NV_UNSIGNALED;
	u32 done = q->done, id = q->posted + two;
	const struct nv_log *log = &q->log[done % NV_LOGS];
	int ret = nv_post(c, req, 1 + two);

	if (ret)
		return nv_bad(t, "the post returns %d", ret);
	if (!nv_wait(c, NV_SENDS, done + 1, NV_WAIT_MS))
		return nv_bad(t, "no completion");
	if (log->status || q->done != done + 1 || log->id != id)
		return nv_bad(t, "%u completions, the first is %u, %s",
			      q->done - done, log->id - id,
			      nv_status(log->status));
	if (log->opcode != (two ? IB_WC_RDMA_WRITE : m->op->wc))
		return nv_bad(t, "opcode %u", log->opcode);
	return true;
}

/* Check the completion of the receive of a message. */
static bool nv_received(struct nv_test *t, const struct nv_message *m, u32 done)
{
	struct nv_log *log = &t->reply.log[done % NV_LOGS];
	u32 flags = m->op->is & NV_IMM ? IB_WC_WITH_IMM :
		    m->op->is & NV_INV ? IB_WC_WITH_INVALIDATE : 0;
	u32 ex = m->op->is & NV_IMM ? m->seed :
		 m->op->is & NV_INV ? t->rkey[0][NV_TARGET] : 0;
	int ret;

	ret = nv_peer(t, .op = NV_WAIT, .arg = NV_RECVS, .n = done + 1);
	if (ret)
		return nv_bad(t, "no completion at the peer: %d", ret);
	if (log->status || log->len != m->mine.len)
		return nv_bad(t, "receive of %u bytes: %s", log->len,
			      nv_status(log->status));
	if (log->opcode != (m->op->is & NV_REMOTE ? IB_WC_RECV_RDMA_WITH_IMM :
						    IB_WC_RECV))
		return nv_bad(t, "opcode %u of the receive", log->opcode);
	if ((log->flags & (IB_WC_WITH_IMM | IB_WC_WITH_INVALIDATE)) != flags ||
	    log->ex != ex)
		return nv_bad(t, "flags %x of the receive, value %x instead of %x",
			      log->flags, log->ex, ex);
	return true;
}

/* Register the region again whose key the message has invalidated. */
static bool nv_revalidate(struct nv_test *t)
{
	int ret = nv_peer(t, .op = NV_REG, .arg = NV_TARGET);

	t->rkey[0][NV_TARGET] = t->reply.rkey[NV_TARGET];
	return !ret || nv_bad(t, "registering again returns %d", ret);
}

static bool nv_transfer(struct nv_test *t, const struct nv_message *m)
{
	u32 done;
	int ret = nv_prepare(t, m);

	if (ret)
		return nv_bad(t, "preparing returns %d", ret);
	ret = nv_peer(t, .op = NV_WAIT, .arg = NV_RECVS);
	done = t->reply.done[NV_RECVS];
	if (!nv_send(t, m))
		return false;
	if (m->op->is & NV_TAKES && !nv_received(t, m, done))
		return false;
	ret = nv_me(t, .op = NV_CHECK, .lay = m->mine, .arg = m->seed);
	if (ret)
		return nv_bad(t, "memory here: %d", ret);
	ret = nv_peer(t, .op = NV_CHECK, .lay = m->theirs, .arg = m->seed);
	if (ret)
		return nv_bad(t, "memory of the peer: %d", ret);
	return !(m->op->is & NV_INV) || nv_revalidate(t);
}

/* Reopen a connection after a failure, because its QP may be unusable. */
static bool nv_reopen(struct nv_test *t)
{
	nv_close(t, 0);
	return nv_open(t, 0, &nv_usual);
}

static struct nv_lay nv_lay(u32 off, u32 len, u32 sges)
{
	return (struct nv_lay){
		.off = off,
		.len = len,
		.n = min(sges, len),
	};
}

/* Send one message with these SGEs and flags. */
static bool nv_variant(struct nv_test *t, const struct nv_opcode *op, u32 len,
		       u32 sges, int flags)
{
	u32 seed = ++t->seed;
	struct nv_message m = {
		.op = op,
		.flags = flags,
		.mine = nv_lay(SZ_8K + seed % 64, len, sges),
		.theirs = nv_lay(SZ_8K + seed * 5 % 64, len,
				 op->is & NV_REMOTE ? 1 : sges),
		.seed = seed,
	};
	char why[sizeof(t->why)];

	if (nv_transfer(t, &m))
		return true;
	strscpy(why, t->why, sizeof(why));
	return nv_bad(t, "%u SGEs, flags %x: %s", sges, flags, why);
}

static bool nv_variants(struct nv_test *t, const struct nv_opcode *op, u32 len)
{
	const struct nv_conn *c = t->side.conn[0];
	u32 most = min_t(u32, c->cap.max_send_sge, NV_SGES);
	int i;

	if (op->is & NV_GETS)
		most = min_t(u32, most, c->pd->device->attrs.max_sge_rd);
	else if (op->is & NV_TAKES)
		most = min(most, c->cap.max_recv_sge);
	for (i = 0; i < ARRAY_SIZE(nv_flags); i++) {
		if (nv_flags[i] & IB_SEND_INLINE &&
		    (op->is & NV_GETS || len > c->cap.max_inline_data))
			continue;
		if (!nv_variant(t, op, len, 1, nv_flags[i]))
			return false;
	}
	return nv_variant(t, op, len, min(most, 3U), IB_SEND_SIGNALED) &&
	       nv_variant(t, op, len, most, IB_SEND_SIGNALED);
}

/* A small message arrives on a connection. */
bool nv_works(struct nv_test *t, u32 conn)
{
	struct nv_conn *c = t->side.conn[conn];
	struct nv_lay lay = nv_lay(SZ_8K, 100, 1);
	struct nv_req req = {
		.op = IB_WR_RDMA_WRITE,
		.flags = IB_SEND_SIGNALED,
		.lay = lay,
		.addr = t->addr[conn] + lay.off - NV_REGION,
		.rkey = t->rkey[conn][NV_WRITABLE],
	};
	u32 seed = ++t->seed;
	u32 done = c->queue[NV_SENDS].done;
	int ret;

	ret = nv_me(t, .op = NV_FILL, .conn = conn, .lay = lay, .arg = seed) ?:
	      nv_peer(t, .op = NV_FILL, .conn = conn, .lay = lay) ?:
	      nv_post(c, &req, 1);
	if (ret)
		return nv_bad(t, "the post returns %d", ret);
	if (!nv_wait(c, NV_SENDS, done + 1, NV_WAIT_MS))
		return nv_bad(t, "no completion");
	ret = c->queue[NV_SENDS].log[done % NV_LOGS].status;
	if (ret)
		return nv_bad(t, "%s", nv_status(ret));
	ret = nv_peer(t, .op = NV_CHECK, .conn = conn, .lay = lay, .arg = seed);
	return !ret || nv_bad(t, "memory of the peer: %d", ret);
}

/* An atomic operation returns the old value, and stores the new one. */
static bool nv_atomic(struct nv_test *t, enum ib_wr_opcode op, bool equal)
{
	struct nv_conn *c = t->side.conn[0];
	struct nv_queue *q = &c->queue[NV_SENDS];
	struct nv_lay lay = nv_lay(SZ_8K, sizeof(u64), 1);
	struct nv_req req = {
		.op = op,
		.flags = IB_SEND_SIGNALED,
		.lay = lay,
		.addr = nv_addr(t, &lay),
		.rkey = t->rkey[0][NV_ALL],
		.swap = 0x0123456789abcdefULL,
	};
	u32 seed = ++t->seed;
	u32 done = q->done;
	u64 old, want;
	int ret;

	memcpy(&old, nv_pattern + seed % SZ_4K, sizeof(old));
	req.compare = equal ? old : old + 7;
	want = op == IB_WR_ATOMIC_FETCH_AND_ADD ? old + req.compare :
	       equal ? req.swap : old;
	ret = nv_peer(t, .op = NV_FILL, .lay = lay, .arg = seed) ?:
	      nv_me(t, .op = NV_FILL, .lay = lay) ?:
	      nv_post(c, &req, 1);
	if (ret)
		return nv_bad(t, "the post returns %d", ret);
	if (!nv_wait(c, NV_SENDS, done + 1, NV_WAIT_MS))
		return nv_bad(t, "no completion");
	if (q->log[done % NV_LOGS].status)
		return nv_bad(t, "%s",
			      nv_status(q->log[done % NV_LOGS].status));
	ret = nv_me(t, .op = NV_CHECK, .lay = lay, .arg = seed);
	if (ret)
		return nv_bad(t, "the old value is wrong");
	nv_peer(t, .op = NV_PEEK, .lay = lay);
	return t->reply.value == want ||
	       nv_bad(t, "the new value is %llx instead of %llx",
		      t->reply.value, want);
}

/* A request with a fence sends what a READ before it has fetched. */
static bool nv_fence(struct nv_test *t, u32 len)
{
	struct nv_conn *c = t->side.conn[0];
	struct nv_lay from = nv_lay(SZ_8K, len, 1);
	struct nv_lay to = nv_lay(SZ_8K + SZ_512K, len, 1);
	u32 seed = ++t->seed;
	u32 done = c->queue[NV_SENDS].done;
	struct nv_req req[2] = {
		{
			.op = IB_WR_RDMA_READ,
			.lay = from,
			.addr = nv_addr(t, &from),
			.rkey = t->rkey[0][NV_READABLE],
		},
		{
			.op = IB_WR_RDMA_WRITE,
			.flags = IB_SEND_FENCE | IB_SEND_SIGNALED,
			.lay = from,
			.addr = nv_addr(t, &to),
			.rkey = t->rkey[0][NV_WRITABLE],
		},
	};
	int ret;

	ret = nv_peer(t, .op = NV_FILL, .lay = from, .arg = seed) ?:
	      nv_peer(t, .op = NV_FILL, .lay = to) ?:
	      nv_me(t, .op = NV_FILL, .lay = from) ?:
	      nv_post(c, req, 2);
	if (ret)
		return nv_bad(t, "the post returns %d", ret);
	if (!nv_wait(c, NV_SENDS, done + 1, NV_WAIT_MS))
		return nv_bad(t, "no completion");
	ret = nv_peer(t, .op = NV_CHECK, .lay = to, .arg = seed);
	return !ret || nv_bad(t, "memory of the peer: %d", ret);
}

/* Requests of all kinds complete in the order in which they are posted. */
static bool nv_order(struct nv_test *t)
{
	static const enum ib_wr_opcode ops[] = {
		IB_WR_RDMA_READ, IB_WR_RDMA_WRITE, IB_WR_RDMA_READ,
		IB_WR_RDMA_READ, IB_WR_RDMA_WRITE, IB_WR_RDMA_WRITE,
		IB_WR_RDMA_READ, IB_WR_RDMA_WRITE,
	};
	struct nv_req req[ARRAY_SIZE(ops)] = {};
	struct nv_conn *c = t->side.conn[0];
	struct nv_queue *q = &c->queue[NV_SENDS];
	u32 done = q->done, id = q->posted;
	int i, ret;

	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		req[i].op = ops[i];
		req[i].flags = IB_SEND_SIGNALED;
		req[i].lay = nv_lay(SZ_8K, i % 3 ? 64 : SZ_512K, 1);
		req[i].addr = t->addr[0] + SZ_8K;
		req[i].rkey = t->rkey[0][NV_ALL];
	}
	ret = nv_post(c, req, ARRAY_SIZE(ops));
	if (ret)
		return nv_bad(t, "the post returns %d", ret);
	if (!nv_wait(c, NV_SENDS, done + ARRAY_SIZE(ops), NV_WAIT_MS))
		return nv_bad(t, "%u completions", q->done - done);
	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		const struct nv_log *log = &q->log[(done + i) % NV_LOGS];

		if (log->id != id + i || log->status)
			return nv_bad(t, "completion %d is that of %u, %s", i,
				      log->id - id, nv_status(log->status));
	}
	return true;
}

/* Each size of one opcode. An opcode that cannot be posted fails once a size. */
static void nv_opcode(struct nv_test *t, const struct nv_opcode *op)
{
	bool good;
	int i;

	for (i = 0; i < ARRAY_SIZE(nv_sizes); i++) {
		good = nv_variants(t, op, nv_sizes[i]);
		nv_case(t, good, "%s of %u bytes arrives complete", op->name,
			nv_sizes[i]);
		if (!good && !nv_reopen(t))
			return;
	}
}

static void nv_last(struct nv_test *t, bool good, const char *name)
{
	nv_case(t, good, "%s", name);
	if (!good)
		nv_reopen(t);
}

void nv_data(struct nv_test *t)
{
	bool good = nv_open(t, 0, &nv_usual);
	int i;

	nv_case(t, good, "a connection is set up, and regions are registered");
	if (!good)
		return;
	for (i = 0; i < ARRAY_SIZE(nv_opcodes); i++)
		nv_opcode(t, &nv_opcodes[i]);
	nv_last(t, nv_fence(t, 8) && nv_fence(t, SZ_256K),
		"RDMA_WRITE with a fence sends what the READ before it fetched");
	nv_last(t, nv_order(t), "requests complete in the order of their posts");
	nv_last(t, nv_atomic(t, IB_WR_ATOMIC_CMP_AND_SWP, true),
		"CMP_AND_SWP of an equal value stores the new one");
	nv_last(t, nv_atomic(t, IB_WR_ATOMIC_CMP_AND_SWP, false),
		"CMP_AND_SWP of another value stores nothing");
	nv_last(t, nv_atomic(t, IB_WR_ATOMIC_FETCH_AND_ADD, true),
		"FETCH_AND_ADD adds, and returns the old value");
	nv_close(t, 0);
}

/* Post a request for each chunk of 1 MiB, in both directions. */
static bool nv_chunk_requests(struct nv_test *t, enum ib_wr_opcode op)
{
	struct nv_conn *c = t->side.conn[0];
	struct nv_req *req = kcalloc(NV_CHUNKS, sizeof(*req), GFP_KERNEL);
	u32 done = c->queue[NV_SENDS].done;
	int i, ret = -ENOMEM;

	for (i = 0; req && i < NV_CHUNKS; i++) {
		req[i].op = op;
		req[i].flags = i == NV_CHUNKS - 1 ? IB_SEND_SIGNALED : 0;
		req[i].lay.len = SZ_1M;
		req[i].lay.n = 1;
		req[i].lkey = c->chunk_mr[i]->lkey;
		req[i].at = c->chunk_mr[i]->iova;
		req[i].addr = t->reply.addr[i];
		req[i].rkey = t->reply.rkey[i];
	}
	if (req)
		ret = nv_post(c, req, NV_CHUNKS);
	kfree(req);
	if (ret)
		return nv_bad(t, "the post returns %d", ret);
	if (!nv_wait(c, NV_SENDS, done + 1, 4 * NV_WAIT_MS))
		return nv_bad(t, "no completion");
	ret = c->queue[NV_SENDS].log[done % NV_LOGS].status;
	return !ret || nv_bad(t, "%s", nv_status(ret));
}

static bool nv_big_one(struct nv_test *t, enum ib_wr_opcode op)
{
	bool gets = op == IB_WR_RDMA_READ;
	int ret;

	if (!nv_open(t, 0, &nv_usual))
		return false;
	ret = nv_me(t, .op = NV_BIG, .arg = gets ? 0 : 3) ?:
	      nv_peer(t, .op = NV_BIG, .arg = gets ? 3 : 0);
	if (ret)
		return nv_bad(t, "preparing returns %d", ret);
	if (!nv_chunk_requests(t, op))
		return false;
	ret = nv_me(t, .op = NV_BIG, .arg = 3, .n = 1) ?:
	      nv_peer(t, .op = NV_BIG, .arg = 3, .n = 1);
	return !ret || nv_bad(t, "contents: %d", ret);
}

void nv_big(struct nv_test *t)
{
	nv_case(t, nv_big_one(t, IB_WR_RDMA_WRITE),
		"RDMA_WRITEs of 64 MiB in a list arrive complete");
	nv_close(t, 0);
	nv_case(t, nv_big_one(t, IB_WR_RDMA_READ),
		"RDMA_READs of 64 MiB in a list arrive complete");
	nv_close(t, 0);
}
