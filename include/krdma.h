/* SPDX-License-Identifier: GPL-2.0 */
/*
 * krdma - RDMA connections for kernel modules
 *
 * One object, struct krdma_cb, is a connection or a listener. It lives in one
 * of two modes:
 *
 * message mode (the default)
 *	krdma owns the QP: framed messages with credits, and one-sided reads
 *	and writes of a buffer which the two ends show each other.
 * raw mode (KRDMA_RAW)
 *	krdma makes the connection and takes it down; the owner posts its own
 *	work requests to cb->qp and speaks whatever protocol it likes. krdma
 *	then sends no private data and no messages of its own. On iWARP the
 *	side that connects must send first (RFC 5044 7.1.2): what the other
 *	sends before may end the connection.
 *
 * The calls of snake0/krdma are in krdma_simple.h.
 *
 * Every symbol is EXPORT_SYMBOL_NS_GPL in the namespace KRDMA: a module which
 * uses them says MODULE_IMPORT_NS(KRDMA_NS).
 *
 * Unless a function says otherwise it may sleep and must be called from
 * process context without a spinlock, and every wait in it ends
 *  - with -ETIMEDOUT after its time limit,
 *  - with -EINTR when the task is being killed, or when it is a kernel thread
 *    that kthread_stop() was called for,
 *  - with -ESHUTDOWN when another task calls krdma_disconnect() or
 *    krdma_release_cb() on the same object,
 *  - with the reason when the connection ends: -ECONNRESET closed by the peer,
 *    -ENODEV the RDMA device was removed, -EPROTO the peer broke the protocol,
 *    -ETIMEDOUT it does not answer, -EACCES it does not allow what we did to
 *    its memory, -ENOBUFS it had no receive posted, -EIO anything else that
 *    makes a work request fail.
 */
#ifndef KRDMA_H
#define KRDMA_H

#include <linux/bits.h>
#include <linux/socket.h>
#include <linux/types.h>
#include <rdma/ib_verbs.h>

#include "compat.h"

struct bio_vec;
struct iov_iter;
struct krdma_again;
struct krdma_conn;
struct krdma_domain;
struct krdma_loan;
struct module;
struct krdma_op;
struct krdma_region;
struct krdma_remote;
struct net;
struct page;
struct rdma_cm_id;
struct scatterlist;

/* Most private data in a REQ of the RDMA CM over InfiniBand and RoCE. */
#define KRDMA_RAW_PRIVATE_DATA_MAX 56
/* Default of &krdma_params.max_msg. */
#define KRDMA_MAX_MSG_DEFAULT (4096 * 1024)
/* What krdma's own hello leaves of it to the user in message mode. */
#define KRDMA_PRIVATE_DATA_MAX 32

/* For a member of krdma_params where 0 means "default": really zero. */
#define KRDMA_ZERO 0xff
/*
 * For &krdma_params.keepalive_ms, pull_min and mr_pool: not at all. For the
 * timeout_ms of a call: no time limit.
 */
#define KRDMA_NEVER U32_MAX

/**
 * enum krdma_role - what a krdma_cb is
 * @KRDMA_CLIENT_CONN: connection that this side opened
 * @KRDMA_LISTEN_CONN: listener
 * @KRDMA_ACCEPT_CONN: connection that a listener received
 */
enum krdma_role {
	KRDMA_CLIENT_CONN = 0,
	KRDMA_LISTEN_CONN = 1,
	KRDMA_ACCEPT_CONN = 2,
};

/**
 * enum krdma_state - where in its life a krdma_cb is
 * @KRDMA_NEW: exists, nothing started
 * @KRDMA_RESOLVING_ADDR: looking for the RDMA device and the neighbour
 * @KRDMA_RESOLVING_ROUTE: looking for the path
 * @KRDMA_ROUTED: address and route known, no QP yet
 * @KRDMA_REQUESTED: a peer's connect request waits to be accepted, no QP yet
 * @KRDMA_READY: QP exists, receives can be posted
 * @KRDMA_CONNECTING: REQ or REP sent, the answer is awaited
 * @KRDMA_ESTABLISHED: connected. In message mode the two sides then exchange
 *	krdma's first messages; krdma_is_established() says when data can be sent
 * @KRDMA_LISTENING: listener only: taking connect requests, or waiting until
 *	there is a device for its address
 * @KRDMA_CLOSING: no new work, what is in flight is being flushed
 * @KRDMA_CLOSED: no QP, no cm_id, nothing can happen any more
 */
enum krdma_state {
	KRDMA_NEW = 0,
	KRDMA_RESOLVING_ADDR,
	KRDMA_RESOLVING_ROUTE,
	KRDMA_ROUTED,
	KRDMA_REQUESTED,
	KRDMA_READY,
	KRDMA_CONNECTING,
	KRDMA_ESTABLISHED,
	KRDMA_LISTENING,
	KRDMA_CLOSING,
	KRDMA_CLOSED,
};

/* How many there are. */
#define KRDMA_STATES (KRDMA_CLOSED + 1)

/**
 * struct krdma_cb - a connection or a listener
 * @role: see &enum krdma_role; constant
 * @state: see &enum krdma_state; a snapshot unless the caller knows better,
 *	read it with krdma_get_state()
 * @read_write: made by krdma_rw_init_client() or krdma_rw_init_server()
 * @cm_id: from the first call that uses the network until closed; a listener
 *	has another one each time its device comes back, and none in between
 * @qp: from the moment the qp_ready callback runs until closed
 * @pd: like @qp; shared with the connections of its domain on this device, if
 *	&krdma_params.domain names one
 * @context: the user's, from &struct krdma_params
 *
 * All members but @context are read-only for users. The object is reference
 * counted: the maker holds one reference, which krdma_release_cb() puts.
 */
struct krdma_cb {
	enum krdma_role role;
	enum krdma_state state;
	bool read_write;
	struct rdma_cm_id *cm_id;
	struct ib_qp *qp;
	struct ib_pd *pd;
	void *context;
};

/**
 * struct krdma_loan - a message that krdma lends to its receiver
 * @data: the message; read only
 * @len: bytes; 0 is a message, too
 * @written: this is no message, but tells of a KRDMA_WRITE_IMM of the peer's,
 *	whose data is there; @data is NULL and @len 0
 * @imm: what that said: &krdma_req.imm
 * @invalidated: own region whose key the peer gave up with this message, by
 *	KRDMA_SEND_INV, or NULL; krdma_region_put() is left to do with it. NULL,
 *	too, if that has been done meanwhile
 *
 * Each message that is not given back takes a receive and a credit from the
 * peer. The peer can send as long as the owner keeps at most
 * &krdma_params.recv_depth - 3 of them; with more it may have to wait until one
 * is given back.
 */
struct krdma_loan {
	const void *data;
	u32 len;
	bool written;
	u32 imm;
	struct krdma_region *invalidated;
	/* private: */
	bool is_whole;
	struct krdma_conn *conn;
};

/**
 * struct krdma_ops - callbacks of a connection's or listener's owner
 * @owner: THIS_MODULE: the module cannot be removed while one of its callbacks in
 *	process context (@request, @connected, @closing) runs. NULL: the owner
 *	sees to that itself. Removal that has begun before is not held up: the
 *	exit function of the module waits for callbacks by krdma_release_cb()
 * @request: Listener: a peer wants to connect; @cb is in KRDMA_REQUESTED and
 *	belongs to the owner, who looks who it is (krdma_peer_addr(),
 *	krdma_peer_private_data()), answers by krdma_accept_async() or
 *	krdma_reject_request(), now or within &krdma_params.connect_timeout_ms,
 *	and in the end releases it. A listener with this callback cannot be
 *	waited on. Context: process, krdma's workqueue, one at a time for each
 *	listener; may sleep.
 * @connected: What krdma_connect_async() or krdma_accept_async() began is done:
 *	@error is 0 or why it did not work, and then the owner releases @cb,
 *	here or later (in raw mode after it has drained and freed what qp_ready
 *	made). Context: as @closing, and never while @closing runs.
 * @receive: Message mode: a message has arrived and is lent to the owner, who
 *	gives it back with krdma_loan_return(), here or later, from any context.
 *	Messages come in order and one at a time; the first one after connected()
 *	has returned 0, or while krdma_connect_cb(), krdma_accept_request() or
 *	krdma_accept() returns; the last one before closing(). Not after
 *	krdma_release_cb(). Nobody can wait for messages of such a connection.
 *	Context: that of completions, see &krdma_params.poll, or process context;
 *	must not sleep; may post; must not release the connection
 * @write_space: Message mode: what krdma_post() has refused with -EAGAIN may be
 *	tried again. Called once when there is room after such a refusal, one at
 *	a time; what is refused then is told again. If several posts were refused
 *	there may be room for one of them only. Not when the connection ends, and
 *	not after krdma_release_cb(). Context: that of completions, see
 *	&krdma_params.poll, or process context; must not sleep; may post; must
 *	not release the connection
 * @qp_ready: Raw mode. The QP exists and is in INIT. Post receives here: the peer may
 *	send as soon as it is connected. Context: process, inside the call that
 *	connects or accepts; may sleep; must not call back into this cb except
 *	for krdma_disconnect(). Return: 0, or an errno, which ends the attempt;
 *	the owner has then freed what it made here, and before that waited for
 *	receives that it had posted (ib_drain_rq()).
 * @get_srq: Raw mode, with &krdma_params.srq_depth: return the shared receive
 *	queue of this connection. cb->pd is set, cb->qp is not. The SRQ belongs
 *	to the owner, is of cb->pd, and may serve other connections of the same
 *	&krdma_params.domain. Context: process, inside the call that connects or
 *	accepts; may sleep; must not call back into this cb. Return: the SRQ or
 *	an ERR_PTR, which ends the attempt
 * @put_srq: Raw mode: the QP and its completion queue are destroyed: none of
 *	this connection's receives completes any more. The PD and the device are
 *	still valid. Follows each @get_srq that succeeded. Context: process,
 *	inside the call that connects, accepts or releases; may sleep; must not
 *	call back into this cb. Set both or none
 * @closing: An established connection is over, but not because the owner
 *	released it; in both modes. @reason is -ECONNRESET (the peer closed, see
 *	krdma_peer_reason()), -ENODEV (device removed), -ESHUTDOWN
 *	(krdma_disconnect(), krdma_close()), … The peer is told. In raw mode
 *	what is in flight begins to flush, and krdma_drain() waits for the rest;
 *	completions are the owner's there, who tells krdma of those that failed
 *	(krdma_wc_failed()), or this may never be called.
 *	In message mode the connection is in KRDMA_CLOSED: done() of every
 *	request has been called, and nobody needs to drain. Called at most once,
 *	and only if krdma_connect_cb() or krdma_accept_request() returned 0, or
 *	connected() was told 0: when they fail, their caller knows. Context:
 *	process, krdma's workqueue; may sleep.
 *	The owner sees to it, here or in a task that it wakes but not in both,
 *	that it posts no more, drains (krdma_drain()), frees its MRs or regions
 *	and calls krdma_release_cb(). All of these may be called from here for
 *	@cb, not for other connections; and waiting here for another task to
 *	release @cb would be a deadlock: krdma_release_cb() waits for a closing
 *	callback that runs in another task. Removal of the RDMA device waits
 *	until the connection is released.
 */
struct krdma_ops {
	struct module *owner;
	void (*request)(struct krdma_cb *listen_cb, struct krdma_cb *cb);
	void (*connected)(struct krdma_cb *cb, int error);
	void (*receive)(struct krdma_cb *cb, struct krdma_loan *loan);
	void (*write_space)(struct krdma_cb *cb);
	int (*qp_ready)(struct krdma_cb *cb);
	struct ib_srq *(*get_srq)(struct krdma_cb *cb);
	void (*put_srq)(struct krdma_cb *cb, struct ib_srq *srq);
	void (*closing)(struct krdma_cb *cb, int reason);
};

/* Flags of krdma_params. */
#define KRDMA_RAW	 BIT(0) /* raw mode: the owner posts the work requests */
#define KRDMA_RW	 BIT(1) /* message mode with a shown buffer (krdma_read) */
#define KRDMA_INTERRUPTIBLE BIT(2) /* any signal ends a wait, not only a kill */
#define KRDMA_LISTEN_WAIT BIT(3) /* listener: its device may come later */
#define KRDMA_SHARED_CQ	 BIT(4) /* one completion queue for several connections */
#define KRDMA_NOIO	 BIT(5) /* below a block device: no allocation begins I/O */
#define KRDMA_LISTEN_V6ONLY BIT(6) /* listener on an IPv6 address: no IPv4 */

/**
 * enum krdma_poll - who runs completion handlers
 * @KRDMA_POLL_SOFTIRQ: softirq context, the default
 * @KRDMA_POLL_WORKQUEUE: a workqueue of the RDMA core
 * @KRDMA_POLL_DIRECT: nobody; raw mode only: the owner calls
 *	ib_process_cq_direct(). Draining such a QP takes 0.2 s (HZ/10 for
 *	each queue, see __ib_drain_sq() in drivers/infiniband/core/verbs.c).
 */
enum krdma_poll {
	KRDMA_POLL_SOFTIRQ = 0,
	KRDMA_POLL_WORKQUEUE,
	KRDMA_POLL_DIRECT,
};

/**
 * struct krdma_params - how a connection or a listener behaves
 * @size: sizeof(struct krdma_params). The struct may grow: members that the
 *	caller's version does not have mean 0, and members that this version of
 *	krdma does not have must be 0, or the call fails with -E2BIG. A size that
 *	is not set is -EINVAL, with a line in the log
 * @flags: KRDMA_RAW, KRDMA_RW, KRDMA_INTERRUPTIBLE, KRDMA_SHARED_CQ, KRDMA_NOIO; of
 *	a listener also KRDMA_LISTEN_WAIT and KRDMA_LISTEN_V6ONLY. Without the latter
 *	the sysctl net.ipv6.bindv6only decides whether a listener on :: takes IPv4
 *	as well. KRDMA_NOIO: memory that krdma allocates for the
 *	connection, in its own work and in the owner's calls, is GFP_NOIO, and its work
 *	and the owner's callbacks run on queues with WQ_MEM_RECLAIM: a callback may not
 *	wait for work on a queue without it. KRDMA_SHARED_CQ: connections of the same
 *	device, @poll and completion vector that have it share completion queues,
 *	each of them one with some fifteen others: fewer interrupts and fewer
 *	queues, but one processor for the completions of all. Not with
 *	KRDMA_POLL_DIRECT or @srq_depth; a raw owner has no more than @send_depth and
 *	@recv_depth work requests in flight, and its handlers wait for no other
 *	connection
 * @net: network namespace, NULL: the caller's (init_net for kernel threads).
 *	krdma takes its own reference
 * @domain: its connections share a PD on each device, so a key of one is valid
 *	on all of them. NULL: each connection has a PD of its own
 * @context: goes to &krdma_cb.context, for connections of a listener too
 * @ops: the owner's callbacks, for connections of a listener too; NULL: none
 * @src: client: source address, NULL: chosen by routing
 * @private_data: sent in the REQ (client); copied at once. At most
 *	KRDMA_RAW_PRIVATE_DATA_MAX or KRDMA_PRIVATE_DATA_MAX bytes
 * @private_data_len: bytes
 * @tos: type of service of the RoCE or iWARP packets, 0: not set
 * @addr_timeout_ms: address resolution, default 2000
 * @route_timeout_ms: route resolution, default 2000
 * @connect_timeout_ms: client: everything until established, default 10000.
 *	Server: from the peer's request until established, default 10000: so
 *	long a request may wait for krdma_accept(), and so long may the rest of
 *	the handshake take
 * @op_timeout_ms: krdma_send(), krdma_read(), krdma_write(), default 30000
 * @keepalive_ms: message mode: a peer that was not heard for so long is asked
 *	whether it is there, default 5000; one that stays silent three times
 *	more is dead: -ETIMEDOUT. KRDMA_NEVER: it is not asked. So that the
 *	answer comes in time, krdma_post() has no more than 4 KiB of READs and
 *	WRITEs under way for each ms of it, at most 20 MB and at least 1 MiB,
 *	and one request
 * @backlog: listener: requests that may wait for krdma_accept(), default 64.
 *	Those beyond it are rejected
 * @send_depth: send work requests, default 64; fewer if the device has fewer,
 *	see &krdma_caps.send_depth
 * @recv_depth: receive work requests, default 64; at least 4 in message mode;
 *	fewer if the device has fewer, see &krdma_caps.recv_depth
 * @max_send_sge: scatter/gather entries of a send. Raw mode: default 1. Message
 *	mode: default 6, of which a message's header takes one; at least 2
 * @max_recv_sge: raw mode: scatter/gather entries of a receive, default 1
 * @max_inline: raw mode: bytes that may be posted inline, default 0. In
 *	message mode krdma sees to it
 * @poll: see &enum krdma_poll
 * @responder_resources: RDMA READs and atomics the peer may have in flight
 *	here, default 16, never more than the device can. For a connection that
 *	is accepted: never more than the peer asked for. KRDMA_ZERO: none; then
 *	no message is read from this side's memory either, see @pull_min
 * @initiator_depth: the same in the other direction. A READ or atomic where the
 *	peer serves none does not get through: on siw the connection ends, mostly
 *	with -EOPNOTSUPP, elsewhere it waits until its time limit
 * @ack_timeout: local ack timeout exponent (4.096 µs * 2^n). Default on RoCE: 17,
 *	that is 0.5 s; on InfiniBand: what the subnet manager gives to the path.
 *	KRDMA_ZERO: 0, which means no timeout. Ignored on iWARP
 * @retry_count: transport retries, default 6. 7 is "for ever" on rxe
 * @rnr_retry_count: how often the peer repeats a send that finds no receive
 *	posted here, default 7 (for ever) in raw mode and 6 in message mode;
 *	KRDMA_ZERO: never
 * @min_rnr_timer: encoded delay before such a repeat, default 12 (0.64 ms),
 *	IB spec vol. 1 table 45; the CM's own default stands for 655 ms
 * @buf_size: message mode: size of each receive buffer with its header,
 *	default 4096, 256 … 65536. The smaller one of both ends counts
 * @max_msg: message mode: longest message that krdma takes from the peer,
 *	default 4 MiB; up to 1 GiB
 * @pull_min: message mode: messages that long or longer are not sent through
 *	the peer's receive buffers, the peer reads them from the sender's memory;
 *	default 65536. KRDMA_NEVER: none
 * @mr_pool: message mode: memory registrations (MRs) that are kept for later
 *	regions, up to 1024; see krdma_region_revoke(). KRDMA_NEVER: none. Default
 *	16, with &krdma_caps.virt_dma none: such a device gains nothing by it, and
 *	only destroying an MR waits for a packet that is being copied
 * @session: client, message mode: who connects, for the peer: before it accepts,
 *	it ends a connection from the same address, to the same port, with the same
 *	number, and waits until that is drained and destroyed. 0: a random one, so
 *	every connection is for itself; krdma_again_start() keeps one
 * @comp_vector: completion vector, and so the processor that is interrupted,
 *	from 1; taken modulo &krdma_caps.comp_vectors. 0: they are spread over all
 * @srq_depth: raw mode: number of receives in the shared receive queue that the
 *	connection uses; 0: none. Without &krdma_ops.get_srq krdma creates an SRQ
 *	for this connection alone and destroys it with the QP. The owner posts
 *	receives with ib_post_srq_recv() to cb->qp->srq, never more than this
 *	number: all of them may complete in one connection's completion queue.
 *	Draining does not flush receives that no message took, and one that a
 *	message took may complete as late as in krdma_release_cb(), with any
 *	status: until then its &struct ib_cqe must exist. Not with
 *	KRDMA_SHARED_CQ, where that could be later still: -EINVAL
 * @max_conns: listener: connections that it may have at a time, from the request
 *	until the owner has released them; default 1024. Requests beyond that are
 *	rejected (the peer gets -EBUSY)
 * @msg_memory: message mode: bytes of memory for messages that are not complete, or
 *	that no task has received yet, of all connections of a listener together;
 *	default 256 MiB, or four times @max_msg if that is more; at least @max_msg. A
 *	message that does not fit ends its connection with -EDQUOT. Messages that fit
 *	into one receive buffer do not count
 * @spin_us: a task that waits for its request or for a message looks for it so
 *	many microseconds at most before it sleeps, less where that does not pay;
 *	default 0: it sleeps at once. At most 1000
 * @path_mtu: client: limit of the path MTU in bytes, a power of two from 256 to
 *	4096; 0: that of the interface. A krdma_again sets it to the peer's by
 *	itself. Ignored on iWARP
 * @numa_node: NUMA node of the connection's memory, from 1; 0: the node of the
 *	device; KRDMA_NEVER: any. A node that is not online counts as any. With
 *	@comp_vector 0 completions go to processors of the device's node, unless
 *	another node is set here
 *
 * A zeroed struct with @size set is valid and means the defaults.
 * Out-of-range values give -EINVAL, nothing is clipped in silence except where
 * the device offers less.
 */
struct krdma_params {
	size_t size;
	u32 flags;
	struct net *net;
	struct krdma_domain *domain;
	void *context;
	const struct krdma_ops *ops;
	const struct sockaddr *src;
	const void *private_data;
	u8 private_data_len;
	u8 tos;
	u32 addr_timeout_ms;
	u32 route_timeout_ms;
	u32 connect_timeout_ms;
	u32 op_timeout_ms;
	u32 keepalive_ms;
	u32 backlog;
	u32 send_depth;
	u32 recv_depth;
	u32 max_send_sge;
	u32 max_recv_sge;
	u32 max_inline;
	enum krdma_poll poll;
	u8 responder_resources;
	u8 initiator_depth;
	u8 ack_timeout;
	u8 retry_count;
	u8 rnr_retry_count;
	u8 min_rnr_timer;
	u32 buf_size;
	u32 max_msg;
	u32 pull_min;
	u32 mr_pool;
	u32 session;
	u32 comp_vector;
	u32 spin_us;
	u32 srq_depth;
	u32 path_mtu;
	u32 max_conns;
	u64 msg_memory;
	u32 numa_node;
};

/* Domains */
struct krdma_domain *krdma_domain_create(const char *name);
void krdma_domain_put(struct krdma_domain *domain);

/* Addresses */
int krdma_parse_addr(struct net *net, const char *host, const char *port,
		     struct sockaddr_storage *addr);

/* Life of a connection */
struct krdma_cb *krdma_create(const struct krdma_params *params);
int krdma_connect_cb(struct krdma_cb *cb, const struct sockaddr *dst);
int krdma_connect_params(const struct sockaddr *dst,
			 const struct krdma_params *params,
			 struct krdma_cb **cb);
int krdma_connect_async(struct krdma_cb *cb, const struct sockaddr *dst);
struct krdma_cb *krdma_get(struct krdma_cb *cb);
void krdma_put(struct krdma_cb *cb);
int krdma_close(struct krdma_cb *cb, u32 reason, u32 timeout_ms);
bool krdma_peer_reason(const struct krdma_cb *cb, u32 *reason);
void krdma_disconnect(struct krdma_cb *cb);
void krdma_wc_failed(struct krdma_cb *cb, enum ib_wc_status status);
int krdma_release_cb(struct krdma_cb *cb);
int krdma_drain(struct krdma_cb *cb);
enum krdma_state krdma_get_state(const struct krdma_cb *cb);
bool krdma_is_established(const struct krdma_cb *cb);
int krdma_last_error(const struct krdma_cb *cb);
const char *krdma_state_name(enum krdma_state state);

/* The passive side */
int krdma_listen_params(const struct sockaddr *src,
			const struct krdma_params *params,
			struct krdma_cb **listen_cb);
int krdma_wait_request(struct krdma_cb *listen_cb, u32 timeout_ms,
		       struct krdma_cb **cb);
int krdma_accept_request(struct krdma_cb *cb, const void *private_data,
			 u8 private_data_len);
int krdma_accept_async(struct krdma_cb *cb, const void *private_data,
		       u8 private_data_len);
int krdma_reject_request(struct krdma_cb *cb, const void *private_data,
			 u8 private_data_len);
int krdma_set_request_params(struct krdma_cb *cb,
			     const struct krdma_params *params);
int krdma_accept_timeout(struct krdma_cb *listen_cb, u32 timeout_ms,
			 struct krdma_cb **cb);

/* What the peer said and who it is */
int krdma_peer_private_data(const struct krdma_cb *cb, void *buf, u8 size);
int krdma_local_addr(const struct krdma_cb *cb, struct sockaddr_storage *addr);
int krdma_peer_addr(const struct krdma_cb *cb, struct sockaddr_storage *addr);

/**
 * struct krdma_reject - why a connect was rejected
 * @reason: reject reason of the CM: enum ib_cm_rej_reason on InfiniBand and
 *	RoCE, a negative errno on iWARP. 28 (consumer defined) is krdma's own or
 *	the peer's user's
 * @private_data_len: bytes in @private_data
 * @private_data: what the peer's user gave to krdma_reject_request()
 */
struct krdma_reject {
	int reason;
	u8 private_data_len;
	u8 private_data[148];
};

bool krdma_get_reject(const struct krdma_cb *cb, struct krdma_reject *rej);

/**
 * enum krdma_transport - what carries a connection
 * @KRDMA_TRANSPORT_IB: InfiniBand
 * @KRDMA_TRANSPORT_ROCE: RoCE
 * @KRDMA_TRANSPORT_IWARP: iWARP
 */
enum krdma_transport {
	KRDMA_TRANSPORT_IB = 0,
	KRDMA_TRANSPORT_ROCE,
	KRDMA_TRANSPORT_IWARP,
};

/**
 * enum krdma_gid_type - type of the GID at an end of a connection
 * @KRDMA_GID_UNKNOWN: not known, or iWARP
 * @KRDMA_GID_IB: InfiniBand
 * @KRDMA_GID_ROCE_V1: RoCE v1, Ethernet frames
 * @KRDMA_GID_ROCE_V2: RoCE v2, UDP
 */
enum krdma_gid_type {
	KRDMA_GID_UNKNOWN = 0,
	KRDMA_GID_IB,
	KRDMA_GID_ROCE_V1,
	KRDMA_GID_ROCE_V2,
};

/**
 * struct krdma_caps - what a connection can do, on this device, with this peer
 * @size: sizeof(struct krdma_caps), set by the caller. Members that this version
 *	of krdma does not have are set to 0
 * @transport: see &enum krdma_transport
 * @device: name of the RDMA device
 * @max_part: bytes of a message that go out as one part: the longest KRDMA_SEND.
 *	Zero in raw mode and while the peer's hello is not known, as are the
 *	other members that speak of the peer
 * @max_send: longest message that the peer takes
 * @max_receive: longest message that is taken from the peer
 * @max_inline: bytes of a work request that may go inline, 0: none. A message's
 *	header, 16 bytes, is among them
 * @max_send_sge: pieces of a WRITE or, with one for the header, of a message
 * @max_read_sge: pieces of a READ
 * @send_depth: work requests in flight; messages of krdma's own come on top
 * @recv_depth: receives; some of krdma's own come on top
 * @mr_pages: pages of one fast registration, 0: there is none
 * @mr_bytes: the same in bytes. A region of so many bytes has one MR or, if it
 *	does not begin with its first page, two: so many that offset in the
 *	page + size, divided by this and rounded up. If @coherent is false up to
 *	two more, see Documentation/krdma.rst, Syncing a region
 * @atomics: KRDMA_FETCH_ADD and KRDMA_CMP_SWAP work
 * @atomics_global: they are atomic for CPUs and other adapters, too
 * @write_imm: the device can WRITE with immediate data; where it cannot,
 *	KRDMA_WRITE_IMM takes a message besides
 * @send_inv: the device can SEND with invalidate
 * @read_inv: READ with invalidate works
 * @read_needs_region: READs go to regions only, with KRDMA_READ_SINK
 * @virt_dma: the driver takes kernel addresses and krdma maps nothing for DMA: rxe
 *	and siw, and adapters whose driver copies (hfi1, qib)
 * @coherent: a page that krdma has tried needs no sync: neither is memory copied for
 *	this device nor are caches flushed. Of other memory KRDMA_COHERENT makes sure
 * @relaxed_ordering: what the adapter writes may become visible out of order
 *	until a completion says that it is there
 * @keepalive: a silent peer is asked whether it is there, see
 *	&krdma_params.keepalive_ms
 * @initiator_depth: READs and atomics that may be in flight, as negotiated;
 *	0 before the connection is established
 * @responder_resources: the same of the peer's
 * @peer_version: version of the protocol that both speak
 * @peer_features: feature bits of the peer's hello
 * @peer_takes_imm: KRDMA_WRITE_IMM works: the peer has a receive callback
 * @peer_takes_inv: KRDMA_SEND_INV works: device and peer can do it
 * @comp_vectors: completion vectors of the device
 * @path_mtu: path MTU of the connection in bytes; 0: not known, or iWARP
 * @local_mtu: largest path MTU of the local interface in bytes; 0: not known.
 *	Known on RoCE only
 * @peer_mtu: the same of the peer's interface, as the peer says. If it differs
 *	from @local_mtu, the two interfaces have different MTUs, and if it is
 *	smaller than @path_mtu, long packets of the peer are lost
 * @gid_type: see &enum krdma_gid_type
 * @peer_gid_type: the same at the peer
 * @traffic_class: traffic class of both directions, chosen by the client
 * @numa_node: NUMA node of the connection's memory, -1: any
 * @comp_vector: completion vector in use, from 1 as in &krdma_params.comp_vector
 */
struct krdma_caps {
	size_t size;
	enum krdma_transport transport;
	char device[64];
	u32 max_part;
	u32 max_send;
	u32 max_receive;
	u32 max_inline;
	u32 max_send_sge;
	u32 max_read_sge;
	u32 send_depth;
	u32 recv_depth;
	u32 mr_pages;
	u64 mr_bytes;
	bool atomics;
	bool atomics_global;
	bool write_imm;
	bool send_inv;
	bool read_inv;
	bool read_needs_region;
	bool virt_dma;
	bool coherent;
	bool relaxed_ordering;
	bool keepalive;
	u8 initiator_depth;
	u8 responder_resources;
	u8 peer_version;
	u16 peer_features;
	bool peer_takes_imm;
	bool peer_takes_inv;
	u32 comp_vectors;
	u32 path_mtu;
	u32 local_mtu;
	u32 peer_mtu;
	enum krdma_gid_type gid_type;
	enum krdma_gid_type peer_gid_type;
	u8 traffic_class;
	int numa_node;
	u32 comp_vector;
};

int krdma_query(struct krdma_cb *cb, struct krdma_caps *caps);

/* Messages */
int krdma_send_timeout(struct krdma_cb *cb, const void *buffer, size_t length,
		       u32 timeout_ms);
int krdma_send_iter(struct krdma_cb *cb, struct iov_iter *iter, u32 timeout_ms);
void krdma_loan_return(struct krdma_loan *loan);
int krdma_receive_len(struct krdma_cb *cb, void *buffer, size_t size,
		      u32 timeout_ms);
ssize_t krdma_receive_peek(struct krdma_cb *cb, u32 timeout_ms);

/* The shown buffer of KRDMA_RW connections */
int krdma_read_at(struct krdma_cb *cb, void *buffer, size_t length, u64 offset,
		  u32 timeout_ms);
int krdma_write_at(struct krdma_cb *cb, const void *buffer, size_t length,
		   u64 offset, u32 timeout_ms);
int krdma_shown_get(struct krdma_cb *cb, void *buffer, size_t length,
		    u64 offset);
int krdma_shown_set(struct krdma_cb *cb, const void *buffer, size_t length,
		    u64 offset);
u64 krdma_shown_size(const struct krdma_cb *cb);
u64 krdma_peer_shown_size(const struct krdma_cb *cb);

/* Regions: memory of this side that the adapter, or the peer, may use */

/* What the peer may do with a region. */
#define KRDMA_REMOTE_READ	BIT(0)
#define KRDMA_REMOTE_WRITE	BIT(1)
#define KRDMA_REMOTE_ATOMIC	BIT(2)
/* Own READs put their data here. On iWARP that lets the peer write, too. */
#define KRDMA_READ_SINK		BIT(3)
/* It may take the key back by KRDMA_SEND_INV; for regions of one MR only. */
#define KRDMA_REMOTE_INVALIDATE	BIT(4)
/* No request of this side takes its data from here. */
#define KRDMA_NO_SOURCE		BIT(5)
/* Refuse memory that needs a sync, and leave it as it is: -EOPNOTSUPP. */
#define KRDMA_COHERENT		BIT(6)
/* The region belongs to &krdma_params.domain: its keys are valid on all connections. */
#define KRDMA_DOMAIN		BIT(7)

struct krdma_region *krdma_region_alloc(struct krdma_cb *cb, size_t size,
					u32 access);
struct krdma_region *krdma_region_from_pages(struct krdma_cb *cb,
					     struct page **pages, u32 npages,
					     u32 offset, size_t len,
					     u32 access);
struct krdma_region *krdma_region_from_vmalloc(struct krdma_cb *cb, void *addr,
					       size_t len, u32 access);
struct krdma_region *krdma_region_from_sg(struct krdma_cb *cb,
					  struct scatterlist *sgl, u32 nents,
					  u32 access);
int krdma_region_revoke(struct krdma_region *region, u32 timeout_ms);
void krdma_region_put(struct krdma_region *region);
void *krdma_region_vaddr(const struct krdma_region *region);
u64 krdma_region_size(const struct krdma_region *region);
bool krdma_region_is_live(const struct krdma_region *region);
bool krdma_region_is_valid_on(const struct krdma_region *region,
			      const struct krdma_cb *cb);
bool krdma_region_is_coherent(const struct krdma_region *region);
void krdma_region_sync_for_cpu(struct krdma_region *region, u64 offset, u64 len);
void krdma_region_sync_for_device(struct krdma_region *region, u64 offset,
				  u64 len);
ssize_t krdma_region_export(const struct krdma_region *region, u64 offset,
			    u64 len, void *buf, size_t size);

/* Memory of the peer, as it described it */
struct krdma_remote *krdma_remote_import(const void *desc, size_t len);
void krdma_remote_free(struct krdma_remote *remote);
u64 krdma_remote_size(const struct krdma_remote *remote);
const struct krdma_remote *krdma_peer_shown(const struct krdma_cb *cb);

/* Requests */

/**
 * enum krdma_opcode - what a request does
 * @KRDMA_SEND: send a message that fits into one receive buffer of the peer's
 * @KRDMA_WRITE: write into the peer's memory
 * @KRDMA_READ: read from the peer's memory
 * @KRDMA_FETCH_ADD: add to 8 bytes of the peer's, get what was there before
 * @KRDMA_CMP_SWAP: replace 8 bytes of the peer's if they are as expected, get
 *	what was there before
 * @KRDMA_WRITE_IMM: write into the peer's memory and tell it: its receive
 *	callback gets &krdma_req.imm in its turn among the messages, when the data
 *	is there. Takes a credit, as a message does. Not if the peer has no such
 *	callback: &krdma_caps.peer_takes_imm
 * @KRDMA_SEND_INV: like KRDMA_SEND, and makes the key of @remote invalid, which
 *	must be one segment that the peer made with KRDMA_REMOTE_INVALIDATE: it
 *	need not do that itself. See &krdma_caps.peer_takes_inv
 */
enum krdma_opcode {
	KRDMA_SEND = 0,
	KRDMA_WRITE,
	KRDMA_READ,
	KRDMA_FETCH_ADD,
	KRDMA_CMP_SWAP,
	KRDMA_WRITE_IMM,
	KRDMA_SEND_INV,
};

/* How many there are. */
#define KRDMA_OPCODES (KRDMA_SEND_INV + 1)

/**
 * enum krdma_mem - where the local bytes of a request are
 * @KRDMA_MEM_NONE: there are none
 * @KRDMA_MEM_VIRT: kernel memory of kmalloc(), vmalloc() or the page
 *	allocator; not on a stack and no static data of a module. What a READ or
 *	an atomic puts there shares no cache line with anything else
 * @KRDMA_MEM_PAGES: pages, each with offset and length
 * @KRDMA_MEM_SG: a scatterlist that is not mapped
 * @KRDMA_MEM_REGION: a part of a region; nothing is mapped: the cheapest. The
 *	owner syncs it, see krdma_region_sync_for_device()
 */
enum krdma_mem {
	KRDMA_MEM_NONE = 0,
	KRDMA_MEM_VIRT,
	KRDMA_MEM_PAGES,
	KRDMA_MEM_SG,
	KRDMA_MEM_REGION,
};

/**
 * struct krdma_data - the local bytes of a request
 * @mem: which member of the union
 * @nents: KRDMA_MEM_PAGES and KRDMA_MEM_SG: entries
 * @len: bytes; for KRDMA_MEM_PAGES and KRDMA_MEM_SG the sum of all entries
 * @offset: KRDMA_MEM_REGION: where in the region
 * @virt: KRDMA_MEM_VIRT
 * @pages: KRDMA_MEM_PAGES
 * @sg: KRDMA_MEM_SG
 * @region: KRDMA_MEM_REGION: of the same connection, or of its domain
 */
struct krdma_data {
	enum krdma_mem mem;
	u32 nents;
	u32 len;
	u64 offset;
	union {
		void *virt;
		const struct bio_vec *pages;
		struct scatterlist *sg;
		struct krdma_region *region;
	};
};

/**
 * struct krdma_wr - what every entry of a send queue has; krdma's own
 * @cqe: completion of the last of its work requests
 * @link: posted, or waiting for room
 * @conn: where
 * @op: a task that waits, or NULL
 * @posted_ns: when krdma took it, 0: nobody asks
 * @len: bytes it moves
 * @slots: send queue slots that it takes
 * @kind: what it is counted as
 * @reserved: has a slot of its own
 * @signalled: its success has a completion
 * @over: it had its completion
 * @late: krdma_close() does not wait until it is posted: refused from then on
 * @bulk: the peer's processor does not see it
 * @status: 0 or an errno, of that
 * @done: it is over; @status is 0 or an errno
 */
struct krdma_wr {
	struct ib_cqe cqe;
	struct list_head link;
	struct krdma_conn *conn;
	struct krdma_op *op;
	u64 posted_ns;
	u32 len;
	u16 slots;
	u8 kind;
	bool reserved;
	bool signalled;
	bool over;
	bool late;
	bool bulk;
	int status;
	void (*done)(struct krdma_wr *kwr, int status);
};

/* Local memory in so many pieces needs no allocation on posting. */
#define KRDMA_REQ_SGES 4

/* Flags of a request. */
#define KRDMA_NOWAIT	BIT(0) /* -EAGAIN if there is no room, do not queue */
#define KRDMA_FENCE	BIT(1) /* start after all earlier READs and atomics */

/**
 * struct krdma_req - a request to the adapter
 * @opcode: what to do
 * @flags: KRDMA_NOWAIT: the one of the first request of a chain counts.
 *	KRDMA_FENCE, for each request by itself: the adapter starts this request
 *	only after the READs and atomics that krdma_post() took before have
 *	completed, so the peer sees its effect after their data has been taken
 * @local: local bytes; 8 for KRDMA_FETCH_ADD and KRDMA_CMP_SWAP
 * @remote: the peer's memory; for all but KRDMA_SEND. Must live until @done
 * @remote_offset: where in @remote; of no meaning for KRDMA_SEND_INV
 * @imm: KRDMA_WRITE_IMM: what the peer's owner is told
 * @compare: KRDMA_CMP_SWAP: what must be there, in the CPU's byte order
 * @operand: KRDMA_FETCH_ADD: what to add; KRDMA_CMP_SWAP: what to store
 * @done: it is over: @status is 0, or why not. Exactly once for each request
 *	that krdma_post() took, in the order of posting. Context: see
 *	&krdma_params.poll; process context when the connection closes. Must not
 *	sleep; may post; may free @req and the local bytes, on rxe before Linux
 *	6.10 by kfree_rcu() unless it was a READ; must not release the connection
 * @next: the next of a chain, or NULL
 *
 * The caller's memory, of kmalloc() and not of vmalloc() or on a stack: the
 * adapter reads a message's header in it. The caller must not touch it from
 * krdma_post() to @done; that goes for the local bytes, too. The other members are krdma's own.
 */
struct krdma_req {
	enum krdma_opcode opcode;
	u32 flags;
	struct krdma_data local;
	const struct krdma_remote *remote;
	u64 remote_offset;
	u32 imm;
	u64 compare;
	u64 operand;
	void (*done)(struct krdma_req *req, int status);
	struct krdma_req *next;
	/* private: */
	struct krdma_wr wr;
	struct ib_sge *sges;
	u16 nsges;
	bool is_inline;
	u64 hdr_dma;
	u8 hdr[16];
	struct ib_sge few[KRDMA_REQ_SGES];
};

int krdma_post(struct krdma_cb *cb, struct krdma_req *req);

/* A connection that is kept: made, and made again whenever it is over */

/**
 * enum krdma_again_state - where in its circle a krdma_again is
 * @KRDMA_AGAIN_WAITING: not connected, the next attempt comes in its time
 * @KRDMA_AGAIN_CONNECTING: an attempt is under way
 * @KRDMA_AGAIN_CONNECTED: from connected() until lost() has returned
 * @KRDMA_AGAIN_STOPPED: inside krdma_again_stop()
 */
enum krdma_again_state {
	KRDMA_AGAIN_WAITING = 0,
	KRDMA_AGAIN_CONNECTING,
	KRDMA_AGAIN_CONNECTED,
	KRDMA_AGAIN_STOPPED,
};

/**
 * struct krdma_again_ops - callbacks of the owner
 * @owner: THIS_MODULE or NULL, as &krdma_ops.owner, for @connected, @lost and
 *	@failed
 * @connected: there is a connection, the one of number @epoch, from 1. The
 *	owner may use @cb until lost() returns, and keep it longer with
 *	krdma_get(). It may krdma_disconnect() it, but not release it; and
 *	@cb's context is krdma's
 * @lost: it is over: @reason as for &krdma_ops.closing, -ESHUTDOWN also for
 *	krdma_again_stop(). done() of every request has been called. What the
 *	owner has of @cb (regions, remotes) ends here: when this returns @cb is
 *	released, and only then the next attempt begins. Removal of the RDMA
 *	device waits for it
 *
 * @receive: a message, as for &krdma_ops.receive, between @connected and @lost,
 *	so @connected can post but not wait for an answer. NULL: messages are
 *	waited for with krdma_receive_len()
 *
 * @write_space: as for &krdma_ops.write_space, between @connected and @lost.
 *	NULL: it is not told
 *
 * @failed: an attempt did not lead to a connection: why, and @cb is what it was
 *	made with, for krdma_get_reject(); krdma's, and released when this
 *	returns. Between two connections, never at the same time as the others.
 *	NULL: it is not told
 *
 * @connected and @lost are needed, and come in turns, beginning with @connected;
 * never at the same time for one krdma_again, and the same number of each when
 * krdma_again_stop() returns.
 *
 * Context of these and of @failed: process, krdma's workqueue; may sleep, but not
 * until krdma_again_stop() or krdma_release_cb() of another task is done.
 */
struct krdma_again_ops {
	struct module *owner;
	void (*connected)(struct krdma_again *again, struct krdma_cb *cb,
			  u64 epoch);
	void (*lost)(struct krdma_again *again, struct krdma_cb *cb, int reason);
	void (*receive)(struct krdma_again *again, struct krdma_cb *cb,
			struct krdma_loan *loan);
	void (*write_space)(struct krdma_again *again, struct krdma_cb *cb);
	void (*failed)(struct krdma_again *again, struct krdma_cb *cb,
		       int error);
};

/**
 * struct krdma_again_params - whom to tell, and how often to try
 * @size: sizeof(struct krdma_again_params), as &krdma_params.size
 * @ops: the owner's callbacks
 * @context: for krdma_again_context()
 * @min_ms: wait after the first failure, default 100
 * @max_ms: each further failure doubles the wait, up to this; default 10000, at
 *	most an hour. Every wait is up to a quarter shorter or longer than that
 */
struct krdma_again_params {
	size_t size;
	const struct krdma_again_ops *ops;
	void *context;
	u32 min_ms;
	u32 max_ms;
};

/**
 * struct krdma_again_info - how it goes
 * @size: sizeof(struct krdma_again_info), set by the caller, as &krdma_caps.size
 * @state: see &enum krdma_again_state; a snapshot
 * @epoch: connections so far, the present one among them
 * @failures: attempts in a row that led to no connection, or to one that ended
 *	before &krdma_again_params.max_ms had passed
 * @error: why the last attempt failed or connection ended; 0: none has
 */
struct krdma_again_info {
	size_t size;
	enum krdma_again_state state;
	u64 epoch;
	unsigned int failures;
	int error;
};

struct krdma_again *krdma_again_start(const struct sockaddr *dst,
				      const struct krdma_params *params,
				      const struct krdma_again_params *owner);
void krdma_again_stop(struct krdma_again *again);
void krdma_again_kick(struct krdma_again *again);
struct krdma_cb *krdma_again_get_cb(struct krdma_again *again);
void *krdma_again_context(const struct krdma_again *again);
u64 krdma_again_epoch(struct krdma_again *again);
int krdma_again_query(struct krdma_again *again, struct krdma_again_info *info);

#endif /* KRDMA_H */
