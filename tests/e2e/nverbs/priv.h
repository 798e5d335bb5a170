/* SPDX-License-Identifier: GPL-2.0 */
/*
 * nverbs - an ordinary consumer of verbs, which tests an RDMA device
 *
 * A command is one line written to /proc/nverbs. It runs in the writing task.
 * read() on the same descriptor returns a line for each case: "0 CASE" if the
 * case passes, or "1 CASE | REASON" if it fails.
 *
 *	serve PORT
 *		serve one client, until it is done
 *	run HOST PORT GROUP
 *		run the cases of a group with the server at HOST; main.c lists
 *		the groups
 *	go
 *		let the group idle go on
 *
 * The client controls the server by calls over TCP (ctl.c), so the control does
 * not depend on the device. Connections are made by rdma_cm, on the next port.
 * Each side can execute the same calls (nv_exec()), which prepare memory, post,
 * and report completions and events. All cases are written from the side of the
 * client: nv_me() makes a call here, and nv_peer() makes a call at the server.
 *
 * No case depends on the driver of the device.
 */
#ifndef NVERBS_PRIV_H
#define NVERBS_PRIV_H

#include <linux/mutex.h>
#include <linux/net.h>
#include <linux/scatterlist.h>
#include <linux/sizes.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

/* Buffer of a connection. Keys give access to the region, not to the rest. */
#define NV_BUF		(SZ_1M + SZ_128K)
#define NV_REGION	SZ_4K
#define NV_REGION_LEN	(SZ_1M + SZ_64K)
/* Unused bytes around each piece of a message, which must not change. */
#define NV_GAP		128
#define NV_PATTERN	(SZ_1M + SZ_8K)
#define NV_SGES		32
#define NV_DEPTH	64
#define NV_TAGS		256
#define NV_LOGS		16
#define NV_CONNS	2
#define NV_CHUNKS	64
#define NV_WAIT_MS	(10 * MSEC_PER_SEC)

#define NV_BAD_LKEY	0xdeadbe00
#define NV_ALL_RIGHTS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ | \
			 IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC)

enum nv_dir { NV_SENDS, NV_RECVS, NV_DIRS };

/*
 * Keys of the region of a connection: with all rights, the right to read, to
 * write, no right, without remote rights, all rights for SEND_WITH_INV, all
 * rights and invalidated. Those after NV_MRS are no regions: a changed low byte,
 * an unused index, the region of the other connection, no key.
 */
enum nv_key {
	NV_ALL, NV_READABLE, NV_WRITABLE, NV_PLAIN, NV_LOCAL, NV_TARGET,
	NV_INVALID, NV_MRS,
	NV_OLD = NV_MRS, NV_UNKNOWN, NV_FOREIGN, NV_NONE,
};

/**
 * struct nv_spec - properties of a connection, the same for both sides
 * @rd: READs and atomics that the client may have in flight
 * @dest: those that the server answers
 * @rnr_retry: number of repetitions because of RNR
 * @retry: number of repetitions because the peer does not answer
 * @timeout: time-out as in &ib_qp_attr.timeout; 0: that of the CM
 * @cqe: entries of the CQ for sends; 0: enough
 * @srq: the server has an SRQ
 * @ud: datagrams
 */
struct nv_spec {
	u8 rd;
	u8 dest;
	u8 rnr_retry;
	u8 retry;
	u8 timeout;
	u8 cqe;
	bool srq;
	bool ud;
};

/**
 * struct nv_lay - place of a message in the buffer
 * @off: offset of the first piece
 * @len: length of the message
 * @n: number of pieces, with NV_GAP bytes between them
 */
struct nv_lay {
	u32 off;
	u32 len;
	u32 n;
};

/**
 * struct nv_log - a completion
 * @id: number of the request in its queue
 * @status: status; if it is not success, the members below are 0
 * @opcode: opcode
 * @flags: flags
 * @len: length
 * @ex: immediate data, or invalidated key
 * @src_qp: source QP
 */
struct nv_log {
	u32 id;
	u32 status;
	u32 opcode;
	u32 flags;
	u32 len;
	u32 ex;
	u32 src_qp;
};

/* Calls; conn.c describes them. */
enum nv_op {
	NV_BYE, NV_OPEN, NV_READY, NV_CLOSE, NV_FILL, NV_CHECK, NV_PEEK,
	NV_RECV, NV_WAIT, NV_STATE, NV_ACCESS, NV_REG, NV_HOLD, NV_GRH,
	NV_LIMIT, NV_BIG, NV_DESTROY, NV_DEST, NV_SRQ,
};

/**
 * struct nv_call - a call
 * @op: operation
 * @conn: index of the connection
 * @lay: place in the buffer
 * @arg: argument
 * @n: second argument
 * @events: NV_WAIT: bits of events of which one is expected
 * @ms: NV_WAIT: maximum time for the completions; 0: NV_WAIT_MS
 * @spec: NV_OPEN: properties of the connection
 */
struct nv_call {
	enum nv_op op;
	u32 conn;
	struct nv_lay lay;
	u32 arg;
	u32 n;
	u32 events;
	u32 ms;
	struct nv_spec spec;
};

/**
 * struct nv_reply - result of a call
 * @ret: 0 or an error
 * @value: result
 * @state: state of the QP
 * @qpn: number of the QP
 * @events: bits of the events since the last call of NV_WAIT
 * @done: number of completions of each queue
 * @notified: number of notifications of each queue
 * @log: last completions of the queue
 * @addr: NV_READY: address of the region. NV_BIG: addresses
 * @rkey: keys
 */
struct nv_reply {
	s32 ret;
	u64 value;
	u32 state;
	u32 qpn;
	u32 events;
	u32 done[NV_DIRS];
	u32 notified[NV_DIRS];
	struct nv_log log[NV_LOGS];
	u64 addr[NV_CHUNKS];
	u32 rkey[NV_CHUNKS];
};

/**
 * struct nv_tag - identity of a request
 * @cqe: completion
 * @queue: queue
 * @id: number of the request in @queue
 */
struct nv_tag {
	struct ib_cqe cqe;
	struct nv_queue *queue;
	u32 id;
};

/**
 * struct nv_queue - one of the two queues of a connection, with its CQ
 * @conn: connection
 * @cq: CQ
 * @held: the handler does not poll the CQ
 * @posted: number of requests
 * @work: polls the CQ
 * @lock: serializes polls, which change the members below
 * @done: number of completions
 * @notified: number of calls of the handler
 * @log: last completions, by their number modulo NV_LOGS
 * @tag: identities of requests, by their number modulo NV_TAGS
 */
struct nv_queue {
	struct nv_conn *conn;
	struct ib_cq *cq;
	bool held;
	u32 posted;
	struct work_struct work;
	struct mutex lock; /* see @lock above */
	u32 done;
	u32 notified;
	struct nv_log log[NV_LOGS];
	struct nv_tag tag[NV_TAGS];
};

/**
 * struct nv_conn - one end of a connection
 * @spec: properties
 * @id: CM id, or NULL
 * @pd: protection domain
 * @srq: shared receive queue, or NULL
 * @cap: capacities of the QP
 * @buf: buffer
 * @dma: address of @buf for the device
 * @sg: the region
 * @mr: MRs of the region, by &enum nv_key
 * @queue: queues
 * @wait: woken when anything below or in @queue changes
 * @up: result of the connection: 1 established, 0 pending, or an error
 * @events: bits of events
 * @locked: posts of requests are made as under a lock of the consumer
 * @poster: task that is inside of such a post, or NULL
 * @nested: number of calls of a CQ's handler within such a post
 * @ud: UD: address of the peer
 * @ah: UD: address handle of the peer
 * @chunk: buffers of 1 MiB of NV_BIG
 * @chunk_dma: addresses of @chunk for the device
 * @chunk_mr: MRs of @chunk
 */
struct nv_conn {
	struct nv_spec spec;
	struct rdma_cm_id *id;
	struct ib_pd *pd;
	struct ib_srq *srq;
	struct ib_qp_cap cap;
	void *buf;
	u64 dma;
	struct scatterlist sg;
	struct ib_mr *mr[NV_MRS];
	struct nv_queue queue[NV_DIRS];
	wait_queue_head_t wait;
	int up;
	unsigned long events;
	bool locked;
	struct task_struct *poster;
	u32 nested;
	struct rdma_ud_param ud;
	struct ib_ah *ah;
	void *chunk[NV_CHUNKS];
	u64 chunk_dma[NV_CHUNKS];
	struct ib_mr *chunk_mr[NV_CHUNKS];
};

/**
 * struct nv_side - client or server
 * @net: network namespace
 * @listen: listeners for RC and UD; server
 * @opening: connection that the next request of the client opens; server
 * @conn: connections
 */
struct nv_side {
	struct net *net;
	struct rdma_cm_id *listen[2];
	struct nv_conn *opening;
	struct nv_conn *conn[NV_CONNS];
};

/**
 * struct nv_test - a client
 * @side: this side
 * @sock: control connection
 * @dst: address of the server
 * @reply: reply to the last call
 * @addr: address of the server's region, by connection
 * @rkey: keys of the server, by connection
 * @seed: number of the last message
 * @why: reason of the failure of the current case
 * @text: results
 * @size: size of @text
 * @len: length of @text
 */
struct nv_test {
	struct nv_side side;
	struct socket *sock;
	struct sockaddr_in dst;
	struct nv_reply reply;
	u64 addr[NV_CONNS];
	u32 rkey[NV_CONNS][NV_MRS];
	u32 seed;
	char why[160];
	char *text;
	size_t size;
	size_t len;
};

/**
 * struct nv_req - a request to post
 * @op: opcode
 * @flags: &enum ib_send_flags
 * @lay: place of the data
 * @at: address of the data, instead of the place @lay in the buffer, or 0
 * @lkey: key of the data; 0: that of the PD
 * @addr: remote address
 * @rkey: remote key, or key to invalidate
 * @imm: immediate data
 * @compare: compare or add
 * @swap: swap
 * @mr: REG_MR: region
 * @access: REG_MR: rights
 */
struct nv_req {
	enum ib_wr_opcode op;
	int flags;
	struct nv_lay lay;
	u64 at;
	u32 lkey;
	u64 addr;
	u32 rkey;
	u32 imm;
	u64 compare;
	u64 swap;
	struct ib_mr *mr;
	int access;
};

/* main.c */
extern u8 *nv_pattern;
int nv_wait_go(void);
void nv_case(struct nv_test *t, bool good, const char *fmt, ...)
	__printf(3, 4);
bool nv_bad(struct nv_test *t, const char *fmt, ...) __printf(2, 3);

/* conn.c */
void nv_exec(struct nv_side *side, const struct nv_call *call,
	     struct nv_reply *reply);
int nv_post(struct nv_conn *c, const struct nv_req *req, int n);
int nv_dial(struct nv_side *side, u32 conn, const struct nv_spec *spec,
	    const struct sockaddr_in *dst);
bool nv_wait(struct nv_conn *c, enum nv_dir dir, u32 done, u32 ms);
int nv_again(struct nv_conn *c, enum ib_qp_state last);
int nv_listen(struct nv_side *side, u16 port);
void nv_side_end(struct nv_side *side);

/* ctl.c */
#define nv_me(t, ...) nv_call_me(t, &(struct nv_call){ __VA_ARGS__ })
#define nv_peer(t, ...) nv_call_peer(t, &(struct nv_call){ __VA_ARGS__ })
int nv_call_me(struct nv_test *t, const struct nv_call *call);
int nv_call_peer(struct nv_test *t, const struct nv_call *call);
bool nv_open(struct nv_test *t, u32 conn, const struct nv_spec *spec);
void nv_close(struct nv_test *t, u32 conn);
u32 nv_rkey(const struct nv_test *t, enum nv_key key);
int nv_serve(u16 port);
int nv_hello(struct nv_test *t);

/* data.c */
extern const struct nv_spec nv_usual;
bool nv_works(struct nv_test *t, u32 conn);
void nv_data(struct nv_test *t);
void nv_big(struct nv_test *t);

/* error.c */
const char *nv_status(u32 status);
void nv_errors(struct nv_test *t);

/* state.c */
void nv_states(struct nv_test *t);
void nv_srq(struct nv_test *t);
void nv_idle(struct nv_test *t);
void nv_query(struct nv_test *t);

/* ud.c */
void nv_datagrams(struct nv_test *t);

#endif /* NVERBS_PRIV_H */
