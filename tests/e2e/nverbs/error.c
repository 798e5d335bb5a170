// SPDX-License-Identifier: GPL-2.0
/* Requests that fail: status of both sides, and events. */
#include <linux/delay.h>

#include "priv.h"

/* Status or event that is not checked. */
#define NV_ANY		(~0U)
#define NV_TRIES_MS	(3 * MSEC_PER_SEC)

static const char * const nv_statuses[] = {
	[IB_WC_SUCCESS] = "SUCCESS",
	[IB_WC_LOC_LEN_ERR] = "LOC_LEN_ERR",
	[IB_WC_LOC_QP_OP_ERR] = "LOC_QP_OP_ERR",
	[IB_WC_LOC_PROT_ERR] = "LOC_PROT_ERR",
	[IB_WC_WR_FLUSH_ERR] = "WR_FLUSH_ERR",
	[IB_WC_MW_BIND_ERR] = "MW_BIND_ERR",
	[IB_WC_REM_INV_REQ_ERR] = "REM_INV_REQ_ERR",
	[IB_WC_REM_ACCESS_ERR] = "REM_ACCESS_ERR",
	[IB_WC_REM_OP_ERR] = "REM_OP_ERR",
	[IB_WC_RETRY_EXC_ERR] = "RETRY_EXC_ERR",
	[IB_WC_RNR_RETRY_EXC_ERR] = "RNR_RETRY_EXC_ERR",
};

const char *nv_status(u32 status)
{
	if (status < ARRAY_SIZE(nv_statuses) && nv_statuses[status])
		return nv_statuses[status];
	return "another status";
}

/**
 * struct nv_row - a request that fails
 * @name: subject and condition
 * @op: opcode
 * @len: length; 0: 64
 * @key: key of the peer that the request names
 * @at: address, from the start of the region
 * @from_end: @at is from the end of the region
 * @lkey: 0, NV_BAD_LKEY, or 1: the key of an own region without rights
 * @recv: length of the receive of the peer; 0: it has none
 * @recv_lkey: 0 or NV_BAD_LKEY: key of the receive
 * @access: rights of the peer's QP; 0: those of the CM
 * @spec: properties of the connection, or NULL
 * @before: called before the request is posted, or NULL
 * @copies: number of requests that are posted as one list; 0: 1
 * @status: expected status
 * @theirs: expected status of the peer's receive; 0: no receive succeeds
 * @event: expected event of the peer
 */
struct nv_row {
	const char *name;
	enum ib_wr_opcode op;
	u32 len;
	enum nv_key key;
	s64 at;
	bool from_end;
	u32 lkey;
	u32 recv;
	u32 recv_lkey;
	u32 access;
	const struct nv_spec *spec;
	int (*before)(struct nv_test *t);
	int copies;
	u32 status;
	u32 theirs;
	u32 event;
};

static const struct nv_spec nv_no_rnr = {
	.rd = 8, .dest = 8, .retry = 7, .rnr_retry = 0,
};

static const struct nv_spec nv_hasty = {
	.rd = 8, .dest = 8, .retry = 1, .rnr_retry = 7, .timeout = 14,
};

static int nv_destroy_theirs(struct nv_test *t)
{
	return nv_peer(t, .op = NV_DESTROY);
}

static int nv_fail_theirs(struct nv_test *t)
{
	return nv_peer(t, .op = NV_STATE, .arg = IB_QPS_ERR);
}

/*
 * Let this side have more READs in flight than the peer agreed to. No message
 * was sent, so this QP can be reset alone.
 */
static int nv_too_many(struct nv_test *t, u8 agreed)
{
	struct nv_conn *c = t->side.conn[0];

	c->spec.rd = 8;
	return nv_peer(t, .op = NV_DEST, .arg = agreed) ?:
	       nv_again(c, IB_QPS_RTS);
}

static int nv_more_than_one(struct nv_test *t)
{
	return nv_too_many(t, 1);
}

static int nv_more_than_none(struct nv_test *t)
{
	return nv_too_many(t, 0);
}

/* Let this side have no READ in flight. No message was sent before. */
static int nv_no_reads(struct nv_test *t)
{
	struct nv_conn *c = t->side.conn[0];

	c->spec.rd = 0;
	return nv_again(c, IB_QPS_RTS);
}

#define NV_ACCESS_ROW(text, ...) {					\
	.name = text, .status = IB_WC_REM_ACCESS_ERR,			\
	.theirs = NV_ANY, .event = BIT(IB_EVENT_QP_ACCESS_ERR),		\
	.recv = 64, __VA_ARGS__ }

/* Faults of remote accesses, which are tried with each of nv_accesses. */
static const struct nv_row nv_access_rows[] = {
	NV_ACCESS_ROW("an unused key", .key = NV_UNKNOWN),
	NV_ACCESS_ROW("an old key of the region", .key = NV_OLD),
	NV_ACCESS_ROW("an invalidated key", .key = NV_INVALID),
	NV_ACCESS_ROW("a key of another PD", .key = NV_FOREIGN),
	NV_ACCESS_ROW("a region without rights", .key = NV_PLAIN),
	NV_ACCESS_ROW("a region without remote rights", .key = NV_LOCAL),
	NV_ACCESS_ROW("an address before the region", .at = -8),
	NV_ACCESS_ROW("an end behind the region", .at = -8, .len = 16,
		      .from_end = true),
	NV_ACCESS_ROW("an address behind the region", .from_end = true),
	NV_ACCESS_ROW("an address at the end of all memory", .at = S64_MAX),
	NV_ACCESS_ROW("a QP without rights", .access = IB_ACCESS_LOCAL_WRITE),
};

static const struct {
	const char *name;
	enum ib_wr_opcode op;
} nv_accesses[] = {
	{ "RDMA_WRITE", IB_WR_RDMA_WRITE },
	{ "RDMA_WRITE_WITH_IMM", IB_WR_RDMA_WRITE_WITH_IMM },
	{ "RDMA_READ", IB_WR_RDMA_READ },
	{ "FETCH_AND_ADD", IB_WR_ATOMIC_FETCH_AND_ADD },
};

#define NV_ROW(text, opcode, expected, ...) {				\
	.name = text, .op = opcode, .status = expected, __VA_ARGS__ }

static const struct nv_row nv_rows[] = {
	NV_ROW("RDMA_WRITE to a region for reading", IB_WR_RDMA_WRITE,
	       IB_WC_REM_ACCESS_ERR, .key = NV_READABLE,
	       .event = BIT(IB_EVENT_QP_ACCESS_ERR)),
	NV_ROW("RDMA_READ from a region for writing", IB_WR_RDMA_READ,
	       IB_WC_REM_ACCESS_ERR, .key = NV_WRITABLE,
	       .event = BIT(IB_EVENT_QP_ACCESS_ERR)),
	NV_ROW("SEND longer than the receive", IB_WR_SEND,
	       IB_WC_REM_INV_REQ_ERR, .recv = 63, .theirs = IB_WC_LOC_LEN_ERR,
	       .event = BIT(IB_EVENT_QP_REQ_ERR)),
	NV_ROW("SEND of 65537 bytes to a receive of 4096", IB_WR_SEND,
	       IB_WC_REM_INV_REQ_ERR, .len = SZ_64K + 1, .recv = SZ_4K,
	       .theirs = IB_WC_LOC_LEN_ERR, .event = BIT(IB_EVENT_QP_REQ_ERR)),
	NV_ROW("RDMA_READ to a peer that agreed to none", IB_WR_RDMA_READ,
	       IB_WC_REM_INV_REQ_ERR, .before = nv_more_than_none,
	       .event = BIT(IB_EVENT_QP_REQ_ERR)),
	NV_ROW("list of RDMA_READs to a peer that agreed to one", IB_WR_RDMA_READ,
	       IB_WC_REM_INV_REQ_ERR, .len = SZ_1M, .copies = 8,
	       .before = nv_more_than_one, .event = BIT(IB_EVENT_QP_REQ_ERR)),
	NV_ROW("CMP_AND_SWP of an unaligned address", IB_WR_ATOMIC_CMP_AND_SWP,
	       IB_WC_REM_INV_REQ_ERR, .len = 8, .at = 4,
	       .event = BIT(IB_EVENT_QP_REQ_ERR)),
	NV_ROW("SEND to a receive with an invalid key", IB_WR_SEND,
	       IB_WC_REM_OP_ERR, .recv = 64, .recv_lkey = NV_BAD_LKEY,
	       .theirs = IB_WC_LOC_PROT_ERR, .event = NV_ANY),
	NV_ROW("SEND from memory with an invalid key", IB_WR_SEND,
	       IB_WC_LOC_PROT_ERR, .recv = 64, .lkey = NV_BAD_LKEY,
	       .theirs = NV_ANY, .event = NV_ANY),
	NV_ROW("RDMA_WRITE from memory with an invalid key", IB_WR_RDMA_WRITE,
	       IB_WC_LOC_PROT_ERR, .lkey = NV_BAD_LKEY, .event = NV_ANY),
	NV_ROW("RDMA_READ to memory with an invalid key", IB_WR_RDMA_READ,
	       IB_WC_LOC_PROT_ERR, .lkey = NV_BAD_LKEY, .event = NV_ANY),
	NV_ROW("RDMA_READ to a region without the right to write",
	       IB_WR_RDMA_READ, IB_WC_LOC_PROT_ERR, .lkey = 1, .event = NV_ANY),
	NV_ROW("SEND without a receive and without retries", IB_WR_SEND,
	       IB_WC_RNR_RETRY_EXC_ERR, .spec = &nv_no_rnr),
	NV_ROW("RDMA_WRITE_WITH_IMM without a receive and without retries",
	       IB_WR_RDMA_WRITE_WITH_IMM, IB_WC_RNR_RETRY_EXC_ERR,
	       .spec = &nv_no_rnr),
	NV_ROW("SEND to a QP that is destroyed", IB_WR_SEND,
	       IB_WC_RETRY_EXC_ERR, .spec = &nv_hasty, .event = NV_ANY,
	       .before = nv_destroy_theirs),
	NV_ROW("RDMA_WRITE to a QP in the error state", IB_WR_RDMA_WRITE,
	       IB_WC_RETRY_EXC_ERR, .spec = &nv_hasty, .event = NV_ANY,
	       .before = nv_fail_theirs),
	NV_ROW("SEND_WITH_INV of an unused key", IB_WR_SEND_WITH_INV,
	       IB_WC_REM_ACCESS_ERR, .recv = 64, .key = NV_UNKNOWN,
	       .theirs = NV_ANY, .event = NV_ANY),
	NV_ROW("SEND_WITH_INV of a key of another PD", IB_WR_SEND_WITH_INV,
	       IB_WC_REM_ACCESS_ERR, .recv = 64, .key = NV_FOREIGN,
	       .theirs = NV_ANY, .event = NV_ANY),
	NV_ROW("SEND_WITH_INV of a region without remote rights",
	       IB_WR_SEND_WITH_INV, IB_WC_REM_ACCESS_ERR, .recv = 64,
	       .key = NV_LOCAL, .theirs = NV_ANY, .event = NV_ANY),
	NV_ROW("RDMA_READ on a QP that may have none in flight", IB_WR_RDMA_READ,
	       IB_WC_LOC_QP_OP_ERR, .before = nv_no_reads, .event = NV_ANY),
};

static struct nv_req nv_row_req(const struct nv_test *t,
				const struct nv_row *row)
{
	const struct nv_conn *c = t->side.conn[0];
	/* The region of another PD is that of the second connection. */
	u64 addr = t->addr[row->key == NV_FOREIGN] + row->at +
		   (row->from_end ? NV_REGION_LEN : 0);

	if (row->at == S64_MAX)
		addr = -8ULL;
	return (struct nv_req){
		.op = row->op,
		.flags = IB_SEND_SIGNALED,
		.lay = { .off = SZ_8K, .len = row->len ?: 64, .n = 1 },
		.lkey = row->lkey == 1 ? c->mr[NV_PLAIN]->lkey : row->lkey,
		.addr = addr,
		.rkey = nv_rkey(t, row->key),
	};
}

/* Prepare the peer; its whole buffer must stay unchanged outside the receive. */
static bool nv_row_prepare(struct nv_test *t, const struct nv_row *row)
{
	struct nv_lay recv = { .off = SZ_8K, .len = row->recv, .n = 1 };
	int ret = 0;

	if (!nv_open(t, 0, row->spec ?: &nv_usual))
		return false;
	if (row->recv)
		ret = nv_peer(t, .op = NV_RECV, .lay = recv, .n = 1,
			      .arg = row->recv_lkey);
	if (!ret && row->access)
		ret = nv_peer(t, .op = NV_ACCESS, .arg = row->access);
	if (!ret && row->before)
		ret = row->before(t);
	return !ret || nv_bad(t, "preparing returns %d", ret);
}

/* Post the request, and one more that must be flushed. */
static bool nv_row_post(struct nv_test *t, const struct nv_row *row)
{
	struct nv_conn *c = t->side.conn[0];
	struct nv_queue *q = &c->queue[NV_SENDS];
	int i, n = (row->copies ?: 1) + 1;
	u32 done = q->done, id = q->posted;
	struct nv_req req[9];
	int ret, failed;

	for (i = 0; i < n; i++)
		req[i] = nv_row_req(t, row);
	req[n - 1] = (struct nv_req){
		.op = IB_WR_RDMA_WRITE,
		.flags = IB_SEND_SIGNALED,
		.addr = t->addr[0],
		.rkey = t->rkey[0][NV_ALL],
	};
	ret = nv_post(c, req, n);
	if (ret)
		return nv_bad(t, "the post returns %d", ret);
	if (!nv_wait(c, NV_SENDS, done + n, NV_WAIT_MS / 2))
		return nv_bad(t, "%u of %d completions", q->done - done, n);
	for (failed = 0; failed < n - 1; failed++)
		if (q->log[(done + failed) % NV_LOGS].status)
			break;
	for (i = failed; i < n; i++) {
		u32 wanted = i == failed ? row->status : IB_WC_WR_FLUSH_ERR;
		const struct nv_log *log = &q->log[(done + i) % NV_LOGS];

		if (log->status != wanted || log->id != id + i)
			return nv_bad(t, "completion %d is that of %u, %s", i,
				      log->id - id, nv_status(log->status));
	}
	return true;
}

/* Check the peer's receive; nv_peer_report() was called. */
static bool nv_row_theirs(struct nv_test *t, const struct nv_row *row)
{
	const struct nv_reply *reply = &t->reply;

	if (!row->theirs)
		return !reply->done[NV_RECVS] || reply->log[0].status ||
		       nv_bad(t, "a receive succeeds");
	if (!reply->done[NV_RECVS])
		return nv_bad(t, "the receive does not complete");
	return reply->log[0].status == row->theirs ||
	       nv_bad(t, "%s", nv_status(reply->log[0].status));
}

/* Run a row: a case for each side, and one for the event. */
static void nv_row(struct nv_test *t, const struct nv_row *row,
		   const char *name)
{
	u32 event = row->event == NV_ANY ? 0 : row->event;
	bool good = nv_row_prepare(t, row) && nv_row_post(t, row);
	bool has_recv = row->theirs && row->theirs != NV_ANY;

	nv_case(t, good, "%s ends with %s", name, nv_status(row->status));
	nv_peer(t, .op = NV_WAIT, .arg = NV_RECVS, .n = has_recv, .ms = 2000,
		.events = event);
	if (row->theirs != NV_ANY) {
		good = nv_row_theirs(t, row);
		nv_case(t, good, "%s: the peer's receive %s%s", name,
			has_recv ? "ends with " : "does not succeed",
			has_recv ? nv_status(row->theirs) : "");
	}
	if (row->event != NV_ANY) {
		u32 events = t->reply.events & ~BIT(IB_EVENT_COMM_EST);

		good = events == event || nv_bad(t, "event bits %x", events);
		nv_case(t, good, "%s raises %s at the peer", name,
			!event ? "no event" :
			event == BIT(IB_EVENT_QP_REQ_ERR) ? "QP_REQ_ERR" :
							    "QP_ACCESS_ERR");
	}
	nv_close(t, 0);
}

static void nv_access_row(struct nv_test *t, const struct nv_row *row, int i)
{
	struct nv_row full = *row;
	char name[96];

	full.op = nv_accesses[i].op;
	if (full.op == IB_WR_ATOMIC_FETCH_AND_ADD) {
		/* An aligned atomic operation has no such end. */
		if (full.len)
			return;
		full.len = 8;
	}
	snprintf(name, sizeof(name), "%s with %s", nv_accesses[i].name,
		 row->name);
	nv_row(t, &full, name);
}

/* A SEND waits for a receive that is posted later. */
static bool nv_late_receive(struct nv_test *t)
{
	struct nv_lay lay = { .off = SZ_8K, .len = SZ_64K + 1, .n = 1 };
	struct nv_req req = {
		.op = IB_WR_SEND,
		.flags = IB_SEND_SIGNALED,
		.lay = lay,
	};
	struct nv_conn *c;
	int ret;

	if (!nv_open(t, 0, &nv_usual))
		return false;
	c = t->side.conn[0];
	ret = nv_me(t, .op = NV_FILL, .lay = lay, .arg = 9) ?:
	      nv_post(c, &req, 1);
	if (ret)
		return nv_bad(t, "the post returns %d", ret);
	msleep(100);
	ret = nv_peer(t, .op = NV_RECV, .lay = lay, .n = 1) ?:
	      nv_peer(t, .op = NV_WAIT, .arg = NV_RECVS, .n = 1) ?:
	      nv_peer(t, .op = NV_CHECK, .lay = lay, .arg = 9);
	return !ret || nv_bad(t, "the peer's receive: %d", ret);
}

/* The CQ for sends is not polled, and gets more completions than it can hold. */
static bool nv_overrun(struct nv_test *t)
{
	static const struct nv_spec spec = {
		.rd = 8, .dest = 8, .retry = 7, .rnr_retry = 7, .cqe = 4,
	};
	struct nv_req req = {
		.op = IB_WR_RDMA_WRITE,
		.flags = IB_SEND_SIGNALED,
	};
	struct nv_conn *c;
	int i, ret = 0;

	if (!nv_open(t, 0, &spec))
		return false;
	c = t->side.conn[0];
	c->queue[NV_SENDS].held = true;
	req.addr = t->addr[0];
	req.rkey = t->rkey[0][NV_ALL];
	for (i = 0; i < c->queue[NV_SENDS].cq->cqe + 4 && i < NV_DEPTH; i++)
		ret = ret ?: nv_post(c, &req, 1);
	if (ret && ret != -EINVAL)
		return nv_bad(t, "the post returns %d", ret);
	wait_event_timeout(c->wait, test_bit(IB_EVENT_CQ_ERR, &c->events),
			   msecs_to_jiffies(NV_TRIES_MS));
	if (!test_bit(IB_EVENT_CQ_ERR, &c->events))
		return nv_bad(t, "event bits %lx, %d entries", c->events,
			      c->queue[NV_SENDS].cq->cqe);
	nv_me(t, .op = NV_WAIT, .arg = NV_RECVS);
	return t->reply.state == IB_QPS_ERR ||
	       nv_bad(t, "state %u of the QP", t->reply.state);
}

void nv_errors(struct nv_test *t)
{
	bool good = nv_open(t, 1, &nv_usual);
	int i, j;

	nv_case(t, good, "a second connection is set up");
	for (i = 0; i < ARRAY_SIZE(nv_accesses); i++)
		for (j = 0; j < ARRAY_SIZE(nv_access_rows); j++)
			nv_access_row(t, &nv_access_rows[j], i);
	for (i = 0; i < ARRAY_SIZE(nv_rows); i++)
		nv_row(t, &nv_rows[i], nv_rows[i].name);
	nv_case(t, nv_late_receive(t),
		"SEND to a receive that is posted later arrives complete");
	nv_close(t, 0);
	nv_case(t, nv_overrun(t),
		"CQ without room raises CQ_ERR, and ends the QP");
	nv_close(t, 0);
	nv_case(t, good && nv_works(t, 1),
		"second connection works after all errors of the first");
	nv_close(t, 1);
}
