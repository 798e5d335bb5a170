// SPDX-License-Identifier: GPL-2.0
/* Datagrams. */
#include "priv.h"

#define NV_GRH_BYTES	sizeof(struct ib_grh)

static const struct nv_spec nv_ud = { .ud = true };

static const u32 nv_ud_sizes[] = {
	0, 1, 8, 15, 16, 17, 63, 64, 65, 1023, 1024, 1025, SZ_4K - 1, SZ_4K,
};

static struct nv_lay nv_ud_lay(u32 len)
{
	return (struct nv_lay){ .off = SZ_8K, .len = len, .n = len ? 1 : 0 };
}

static int nv_ud_recv(struct nv_test *t, u32 len)
{
	struct nv_lay lay = {
		.off = SZ_8K - NV_GRH_BYTES,
		.len = len + NV_GRH_BYTES,
		.n = 1,
	};

	return nv_peer(t, .op = NV_RECV, .lay = lay, .n = 1);
}

/* Send a datagram. @qkey is added to the right Q_Key. */
static bool nv_ud_send(struct nv_test *t, u32 len, enum ib_wr_opcode op,
		       u32 qkey)
{
	struct nv_conn *c = t->side.conn[0];
	struct nv_queue *q = &c->queue[NV_SENDS];
	u32 done = q->done;
	struct nv_req req = {
		.op = op,
		.flags = IB_SEND_SIGNALED,
		.lay = nv_ud_lay(len),
		.rkey = qkey,
		.imm = ++t->seed,
	};
	int ret;

	ret = nv_me(t, .op = NV_FILL, .lay = req.lay, .arg = t->seed) ?:
	      nv_post(c, &req, 1);
	if (ret)
		return nv_bad(t, "the post returns %d", ret);
	if (!nv_wait(c, NV_SENDS, done + 1, NV_WAIT_MS))
		return nv_bad(t, "no completion");
	ret = q->log[done % NV_LOGS].status;
	return !ret || nv_bad(t, "%s", nv_status(ret));
}

/* Check the IPv4 header in the last 20 bytes of the GRH. */
static bool nv_grh(struct nv_test *t)
{
	struct rdma_addr *addr = &t->side.conn[0]->id->route.addr;
	__be32 ip[2] = {
		((struct sockaddr_in *)&addr->src_addr)->sin_addr.s_addr,
		t->dst.sin_addr.s_addr,
	};

	nv_peer(t, .op = NV_GRH, .lay.off = SZ_8K - NV_GRH_BYTES);
	if (t->reply.value != 4)
		return nv_bad(t, "header version %llu", t->reply.value);
	nv_peer(t, .op = NV_PEEK, .lay.off = SZ_8K - sizeof(ip));
	return !memcmp(&t->reply.value, ip, sizeof(ip)) ||
	       nv_bad(t, "addresses %llx", t->reply.value);
}

/* Check the last datagram that the peer has received, its completion @done. */
static bool nv_ud_received(struct nv_test *t, u32 done, u32 len, bool imm)
{
	struct nv_log *log = &t->reply.log[done % NV_LOGS];
	int ret = nv_peer(t, .op = NV_WAIT, .arg = NV_RECVS, .n = done + 1,
			  .ms = 5000);

	if (ret)
		return nv_bad(t, "nothing arrives");
	if (log->status || log->opcode != IB_WC_RECV ||
	    log->len != len + NV_GRH_BYTES ||
	    log->src_qp != t->side.conn[0]->id->qp->qp_num)
		return nv_bad(t, "%s, opcode %u, %u bytes, source %u",
			      nv_status(log->status), log->opcode, log->len,
			      log->src_qp);
	if (!(log->flags & IB_WC_GRH) || !!(log->flags & IB_WC_WITH_IMM) != imm ||
	    (imm && log->ex != t->seed))
		return nv_bad(t, "flags %x, value %x", log->flags, log->ex);
	ret = nv_peer(t, .op = NV_CHECK, .lay = nv_ud_lay(len), .arg = t->seed,
		      .n = NV_GRH_BYTES);
	if (ret)
		return nv_bad(t, "memory of the peer: %d", ret);
	return nv_grh(t);
}

static u32 nv_ud_done(struct nv_test *t)
{
	nv_peer(t, .op = NV_WAIT, .arg = NV_RECVS);
	return t->reply.done[NV_RECVS];
}

static bool nv_ud_one(struct nv_test *t, u32 len, enum ib_wr_opcode op)
{
	u32 done = nv_ud_done(t);

	return !nv_ud_recv(t, len) && nv_ud_send(t, len, op, 0) &&
	       nv_ud_received(t, done, len, op == IB_WR_SEND_WITH_IMM);
}

/* A datagram with a wrong Q_Key takes no receive. */
static bool nv_ud_qkey(struct nv_test *t)
{
	u32 done = nv_ud_done(t);
	int ret;

	if (nv_ud_recv(t, 64) || !nv_ud_send(t, 64, IB_WR_SEND, 1))
		return false;
	ret = nv_peer(t, .op = NV_WAIT, .arg = NV_RECVS, .n = done + 1,
		      .ms = 300);
	if (!ret)
		return nv_bad(t, "the datagram arrives");
	return nv_ud_send(t, 64, IB_WR_SEND, 0) &&
	       nv_ud_received(t, done, 64, false);
}

static bool nv_ud_no_recv(struct nv_test *t)
{
	u32 done = nv_ud_done(t);

	if (!nv_ud_send(t, 64, IB_WR_SEND, 0))
		return false;
	nv_peer(t, .op = NV_WAIT, .arg = NV_RECVS, .n = done + 1, .ms = 300);
	return !nv_ud_recv(t, 64) && nv_ud_send(t, 64, IB_WR_SEND, 0) &&
	       nv_ud_received(t, done, 64, false);
}

void nv_datagrams(struct nv_test *t)
{
	bool good = nv_open(t, 0, &nv_ud);
	int i;

	nv_case(t, good, "the address of a UD QP is resolved");
	for (i = 0; good && i < ARRAY_SIZE(nv_ud_sizes); i++) {
		nv_case(t, nv_ud_one(t, nv_ud_sizes[i], IB_WR_SEND),
			"datagram of %u bytes arrives complete, with its GRH",
			nv_ud_sizes[i]);
	}
	if (good) {
		nv_case(t, nv_ud_one(t, 64, IB_WR_SEND_WITH_IMM),
			"datagram with immediate data arrives complete");
		nv_case(t, nv_ud_qkey(t),
			"datagram with a wrong Q_Key is dropped");
		nv_case(t, nv_ud_no_recv(t),
			"datagram without a receive is dropped");
	}
	nv_close(t, 0);
}
