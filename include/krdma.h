/* SPDX-License-Identifier: GPL-2.0 */
/*
 * krdma - RDMA connections for kernel modules
 *
 * One object, struct krdma_cb, is a connection or a listener. It is in one of
 * two modes:
 *
 * message mode (the default)
 *	krdma owns the QP. It sends framed messages with credits. Each end may
 *	export one buffer, the exported buffer, which its peer reads and writes.
 * raw mode (KRDMA_RAW)
 *	krdma sets up the connection and tears it down. The owner posts its own
 *	work requests to cb->qp and chooses the protocol. krdma sends no private
 *	data and no messages of its own. On iWARP the connecting side must send
 *	first (RFC 5044 7.1.2). If the accepting side sends first, the
 *	connection may end.
 *
 * krdma_simple.h declares functions that are source compatible with
 * snake0/krdma.
 *
 * Every symbol is EXPORT_SYMBOL_NS_GPL in the namespace KRDMA. A module that
 * uses them needs MODULE_IMPORT_NS(KRDMA_NS).
 *
 * Unless its description says otherwise, a function may sleep and must be
 * called from process context without a spinlock. Every wait in a function ends
 *  - with -ETIMEDOUT after its time limit,
 *  - with -EINTR when the task is killed, or when it is a kernel thread and
 *    kthread_stop() is called for it,
 *  - with -ESHUTDOWN when another task calls krdma_disconnect() or
 *    krdma_release_cb() on the same object,
 *  - with the reason when the connection ends:
 *    -ECONNRESET: the peer closed the connection;
 *    -ENODEV: the RDMA device was removed;
 *    -EPROTO: the peer violated the protocol;
 *    -EKEYREJECTED: the peer has another key, or the handshake was changed;
 *    -EBADMSG: a sealed message was changed, injected or repeated, or one is
 *    missing;
 *    -ETIMEDOUT: the peer does not answer;
 *    -EACCES: the peer does not allow this access to its memory;
 *    -ENOBUFS: the peer had no receive posted;
 *    -EIO: a work request failed for another reason.
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
struct krdma_keys;
struct krdma_reconnect;
struct krdma_conn;
struct krdma_domain;
struct krdma_rx_msg;
struct module;
struct krdma_op;
struct krdma_region;
struct krdma_remote;
struct net;
struct page;
struct rdma_cm_id;
struct scatterlist;

/*
 * Maximum number of bytes of private data that the user can send in raw mode. A
 * REQ of the RDMA CM over InfiniBand and RoCE has room for 56 bytes.
 */
#define KRDMA_RAW_PRIVATE_DATA_MAX 56
/*
 * Maximum number of bytes of private data with which the user can accept a
 * connection in raw mode. A REP has room for 196 bytes.
 */
#define KRDMA_RAW_REPLY_DATA_MAX 196
/* Default of &krdma_params.max_msg. */
#define KRDMA_MAX_MSG_DEFAULT (4096 * 1024)
/*
 * Maximum number of bytes of private data that the user can send in message
 * mode. The other bytes of a REQ's private data hold the hello of krdma.
 */
#define KRDMA_PRIVATE_DATA_MAX 32
/* The same for connections with a level of &enum krdma_security. */
#define KRDMA_SECURE_PRIVATE_DATA_MAX 24

/* Number of bytes of a shared key, and maximum number of keys in krdma_keys. */
#define KRDMA_KEY_SIZE 32
#define KRDMA_KEYS_MAX 4

/*
 * Value that means zero in &krdma_params.responder_resources, initiator_depth,
 * ack_timeout, retry_count, rnr_retry_count and min_rnr_timer, because 0 in
 * these members means the default.
 */
#define KRDMA_ZERO 0xff
/*
 * Value whose meaning depends on its use. In &krdma_params.keepalive_ms,
 * pull_min and mr_pool, it disables the feature. In &krdma_params.numa_node, it
 * means any node. In an argument timeout_ms, it means no time limit.
 */
#define KRDMA_NEVER U32_MAX

/**
 * enum krdma_role - role of a krdma_cb
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
 * enum krdma_state - state of a krdma_cb
 * @KRDMA_NEW: allocated, nothing started
 * @KRDMA_RESOLVING_ADDR: resolving the address to an RDMA device and a
 *	neighbour
 * @KRDMA_RESOLVING_ROUTE: resolving the path to the peer
 * @KRDMA_ROUTED: address and route known, no QP yet
 * @KRDMA_REQUESTED: a peer's connect request waits to be accepted, no QP yet
 * @KRDMA_READY: QP exists, receives can be posted
 * @KRDMA_CONNECTING: REQ or REP sent, waiting for the answer
 * @KRDMA_ESTABLISHED: connected. In message mode both sides then exchange
 *	START messages of krdma; data can be sent once krdma_is_established()
 *	returns true
 * @KRDMA_LISTENING: listener only: receiving connect requests, or waiting for a
 *	device with its address
 * @KRDMA_CLOSING: no new work; requests in flight are being flushed
 * @KRDMA_CLOSED: no QP and no cm_id, the final state
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

/* Number of states. */
#define KRDMA_STATES (KRDMA_CLOSED + 1)

/**
 * struct krdma_cb - a connection or a listener
 * @role: see &enum krdma_role; constant
 * @state: see &enum krdma_state. It may change at any time; read it with
 *	krdma_get_state()
 * @read_write: KRDMA_RW is set in &krdma_params.flags
 * @cm_id: set from the first call that uses the network until the connection is
 *	closed. A listener gets a new one each time its device comes back, and
 *	has none while the device is absent
 * @qp: set from the start of the qp_ready callback until the connection is
 *	closed
 * @pd: protection domain; set from before the qp_ready callback until the
 *	connection is closed. If &krdma_params.domain is set, all connections of
 *	that domain on this device share the PD
 * @context: the user's pointer, from &struct krdma_params
 *
 * Users may write only @context. The object is reference counted. Its creator
 * holds one reference, which krdma_release_cb() puts.
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
 * struct krdma_rx_msg - a received message that its owner has not released
 * @data: the message; read only
 * @len: number of bytes; may be 0
 * @written: true: this is not a message. The peer completed a KRDMA_WRITE_IMM,
 *	whose data is in memory. @data is NULL and @len is 0
 * @imm: if @written, the value that the peer has set in &krdma_req.imm
 * @invalidated: local region that the peer invalidated with this message by
 *	KRDMA_SEND_INV; the owner still calls krdma_region_put(). NULL: the peer
 *	invalidated no region, or the owner has already put the region
 *
 * Each message that the owner keeps occupies a receive, so the peer has one
 * credit less. The peer can send as long as the owner keeps at most
 * &krdma_params.recv_depth - 3 messages: three receives are needed to return
 * credits. If the owner keeps more, the peer may have to wait until the owner
 * releases one.
 */
struct krdma_rx_msg {
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
 * @owner: THIS_MODULE or NULL. With THIS_MODULE, a removal of the module cannot
 *	begin while @request, @connected or @closing runs. With NULL, the owner
 *	must ensure this itself. If the removal has already begun, the exit
 *	function of the module calls krdma_release_cb(), which waits for running
 *	callbacks
 * @request: Listener: called when a peer wants to connect. @cb is in
 *	KRDMA_REQUESTED and belongs to the owner. The owner identifies the peer
 *	(krdma_peer_addr(), krdma_peer_private_data()) and calls
 *	krdma_accept_async() or krdma_reject_request(), here or within
 *	&krdma_params.connect_timeout_ms. Finally the owner releases @cb. Tasks
 *	cannot wait on a listener with this callback. Context: process, krdma's
 *	workqueue, one at a time for each listener; may sleep
 * @keys: Listener with a level: return the keys for a request from @addr, whose
 *	@len bytes of private data are @data, with a reference that krdma puts.
 *	The request is not proved: its sender may have recorded it, or may lie.
 *	NULL: use the keys of the listener. A request without keys is refused. Context:
 *	process, in the handler of the CM; must not sleep
 * @refused: Listener in message mode: called when krdma refuses a request from
 *	@addr before @request. @why is the errno: -EKEYREJECTED: the client has
 *	another key; -EPERM: it has another level; others: no memory, too many
 *	connections, or an invalid request. @data is NULL and @len 0 if the
 *	request has no valid hello. Context: as for @keys
 * @connected: called when krdma_connect_async() or krdma_accept_async() has
 *	finished. @error is 0 or an errno. After an error the owner releases
 *	@cb, here or later; in raw mode it first drains and frees what qp_ready
 *	created. Context: as for @closing, and never while @closing runs
 * @receive: Message mode: called for each message that has arrived. The owner
 *	releases the message with krdma_rx_msg_release(), here or later, from
 *	any context. Messages come in order and one at a time. The first one
 *	comes after connected() has returned from a call with @error 0, or while
 *	krdma_connect_cb(), krdma_accept_request() or krdma_accept() returns.
 *	The last one comes before closing(), and none after krdma_release_cb().
 *	Tasks cannot wait for messages of such a connection. Context: that of
 *	completions, see &krdma_params.poll, or process context; must not sleep;
 *	may post; must not release the connection
 * @write_space: Message mode: called when the owner may repeat posts that
 *	krdma_post() refused with -EAGAIN. Called once when there is room after
 *	such a refusal. Calls do not overlap. A post that is refused in this
 *	callback leads to another call. If several posts were refused there may
 *	be room for only one. Not called when the connection ends, nor after
 *	krdma_release_cb(). Context: that of completions, see
 *	&krdma_params.poll, or process context; must not sleep; may post; must
 *	not release the connection
 * @qp_ready: Raw mode: called when the QP exists and is in INIT. Post receives
 *	here, because the peer may send as soon as it is connected. Context:
 *	process, inside the call that connects or accepts; may sleep; may call
 *	only krdma_disconnect() for this cb. Return: 0, or an errno, which ends
 *	the attempt. Before it returns an errno, the owner waits for the
 *	receives that it posted (ib_drain_rq()), then frees what it created here
 * @get_srq: Raw mode, with &krdma_params.srq_depth: return the shared receive
 *	queue of this connection. cb->pd is set, cb->qp is not. The SRQ belongs
 *	to the owner and to cb->pd, and may serve other connections of the same
 *	&krdma_params.domain. Context: process, inside the call that connects or
 *	accepts; may sleep; must not call back into this cb. Return: the SRQ or
 *	an ERR_PTR, which ends the attempt
 * @put_srq: Raw mode: called when the QP and its completion queue are
 *	destroyed, so no receive of this connection completes any more. The PD
 *	and the device are still valid. Follows each @get_srq that succeeded.
 *	Context: process, inside the call that connects, accepts or releases;
 *	may sleep; must not call back into this cb. Set both @get_srq and
 *	@put_srq or none
 * @closing: called when an established connection has ended, unless the owner
 *	released it. @reason is -ECONNRESET (the peer closed, see
 *	krdma_peer_reason()), -ENODEV (device removed), -ESHUTDOWN
 *	(krdma_disconnect(), krdma_close()), or another errno of the list at the
 *	top of this file. krdma notifies the peer.
 *	Raw mode: requests in flight begin to flush, and krdma_drain() waits for
 *	the rest. The owner handles the completions, and must report failed ones
 *	to krdma (krdma_wc_failed()), or this callback may never come.
 *	Message mode: the connection is in KRDMA_CLOSED, done() of every request
 *	has been called, and draining is unnecessary.
 *	Called at most once, and only if krdma_connect_cb() or
 *	krdma_accept_request() returned 0 or connected() got @error 0; otherwise
 *	the caller already knows of the failure. Context: process, krdma's
 *	workqueue; may sleep.
 *	The owner stops posting, drains (krdma_drain()), frees its MRs or
 *	regions and calls krdma_release_cb(), either here or in a task that it
 *	wakes, not in both. All of these may be called from here for @cb, not
 *	for other connections. Do not wait here for another task to release @cb:
 *	that is a deadlock, because krdma_release_cb() waits for a closing
 *	callback that runs in another task. Removal of the RDMA device waits
 *	until the connection is released
 */
struct krdma_ops {
	struct module *owner;
	void (*request)(struct krdma_cb *listen_cb, struct krdma_cb *cb);
	struct krdma_keys *(*keys)(struct krdma_cb *listen_cb,
				   const struct sockaddr *addr,
				   const void *data, u8 len);
	void (*refused)(struct krdma_cb *listen_cb, const struct sockaddr *addr,
			const void *data, u8 len, int why);
	void (*connected)(struct krdma_cb *cb, int error);
	void (*receive)(struct krdma_cb *cb, struct krdma_rx_msg *rx_msg);
	void (*write_space)(struct krdma_cb *cb);
	int (*qp_ready)(struct krdma_cb *cb);
	struct ib_srq *(*get_srq)(struct krdma_cb *cb);
	void (*put_srq)(struct krdma_cb *cb, struct ib_srq *srq);
	void (*closing)(struct krdma_cb *cb, int reason);
};

/*
 * Flags of krdma_params:
 *  - KRDMA_RAW: raw mode: the owner posts the work requests
 *  - KRDMA_RW: message mode with an exported buffer, see krdma_read()
 *  - KRDMA_INTERRUPTIBLE: any signal ends a wait, not only a fatal one
 *  - KRDMA_LISTEN_WAIT: the RDMA device of a listener may appear after the call
 *  - KRDMA_SHARED_CQ: several connections share one completion queue
 *  - KRDMA_NOIO: the owner serves a block device: allocate with GFP_NOIO
 *  - KRDMA_LISTEN_V6ONLY: a listener on an IPv6 address accepts no IPv4
 */
#define KRDMA_RAW	 BIT(0)
#define KRDMA_RW	 BIT(1)
#define KRDMA_INTERRUPTIBLE BIT(2)
#define KRDMA_LISTEN_WAIT BIT(3)
#define KRDMA_SHARED_CQ	 BIT(4)
#define KRDMA_NOIO	 BIT(5)
#define KRDMA_LISTEN_V6ONLY BIT(6)

/**
 * enum krdma_poll - context of completion handlers
 * @KRDMA_POLL_SOFTIRQ: softirq context, the default
 * @KRDMA_POLL_WORKQUEUE: a workqueue of the RDMA core
 * @KRDMA_POLL_DIRECT: raw mode only: the owner calls ib_process_cq_direct().
 *	Draining a QP with this value takes 0.2 s (HZ/10 for each queue, see
 *	__ib_drain_sq() in drivers/infiniband/core/verbs.c)
 */
enum krdma_poll {
	KRDMA_POLL_SOFTIRQ = 0,
	KRDMA_POLL_WORKQUEUE,
	KRDMA_POLL_DIRECT,
};

/**
 * enum krdma_security - level of security of a connection
 * @KRDMA_SECURITY_NONE: a peer is what it says itself
 * @KRDMA_SECURITY_AUTH: both ends prove that they have the same key, before
 *	anything that the peer claims has an effect. Later messages, READs and
 *	WRITEs are as without a level: neither secret nor protected
 * @KRDMA_SECURITY_INTEGRITY: in addition, each message has a tag. A message that
 *	was changed, injected or repeated on the way ends the connection with
 *	-EBADMSG, and is not delivered. So does the next message behind one that
 *	was removed. There are no READs, WRITEs and atomics, and no regions that
 *	the peer may access (-EOPNOTSUPP)
 * @KRDMA_SECURITY_ENCRYPT: in addition, the content of messages is secret
 */
enum krdma_security {
	KRDMA_SECURITY_NONE = 0,
	KRDMA_SECURITY_AUTH,
	KRDMA_SECURITY_INTEGRITY,
	KRDMA_SECURITY_ENCRYPT,
};

/**
 * struct krdma_params - parameters of a connection or a listener
 * @size: sizeof(struct krdma_params). The struct may grow. Members that the
 *	caller's version lacks count as 0. Members that this version of krdma
 *	lacks must be 0, or the call fails with -E2BIG. If @size is 0 the call
 *	fails with -EINVAL and logs a line
 * @flags: KRDMA_RAW, KRDMA_RW, KRDMA_INTERRUPTIBLE, KRDMA_SHARED_CQ,
 *	KRDMA_NOIO; for a listener also KRDMA_LISTEN_WAIT and
 *	KRDMA_LISTEN_V6ONLY. Without KRDMA_LISTEN_V6ONLY the sysctl
 *	net.ipv6.bindv6only decides whether a listener on :: also accepts IPv4.
 *	KRDMA_NOIO: krdma allocates memory for the connection with GFP_NOIO, in
 *	its own work and in the owner's calls. The work of krdma and the owner's
 *	callbacks run on queues with WQ_MEM_RECLAIM, so a callback must not wait
 *	for work on a queue without that flag.
 *	KRDMA_SHARED_CQ: about 16 connections share a completion queue if they
 *	have this flag, the same device, @poll and completion vector. That saves
 *	interrupts and queues, but one processor handles the completions of all.
 *	Not with KRDMA_POLL_DIRECT or @srq_depth. An owner in raw mode must have
 *	at most @send_depth sends and @recv_depth receives in flight, or the
 *	completion queue may overflow. Its handlers must not wait for another
 *	connection, whose completions may be in the same queue
 * @net: network namespace; NULL: that of the caller (init_net for kernel
 *	threads). krdma takes its own reference
 * @domain: domain of the connection. All connections of a domain share a PD on
 *	each device, so a key of one connection is valid on all. NULL: the
 *	connection has a PD of its own
 * @context: initial &krdma_cb.context, also for connections of a listener
 * @ops: the owner's callbacks, also for connections of a listener; NULL: none
 * @src: client: source address; NULL: routing chooses it
 * @private_data: client: data to send in the REQ; copied by the call. At most
 *	KRDMA_RAW_PRIVATE_DATA_MAX bytes in raw mode, and KRDMA_PRIVATE_DATA_MAX
 *	bytes in message mode
 * @private_data_len: bytes of @private_data
 * @tos: type of service of the RoCE or iWARP packets, 0: not set
 * @addr_timeout_ms: time limit of address resolution, in ms, default 2000
 * @route_timeout_ms: time limit of route resolution, in ms, default 2000
 * @connect_timeout_ms: time limits of connecting, in ms, default 10000. Client:
 *	from the call until the connection is established. Server: from the
 *	peer's request until the owner accepts it, and the same time again for
 *	the rest of the handshake
 * @op_timeout_ms: time limit of krdma_send(), krdma_read() and krdma_write(),
 *	in ms, default 30000
 * @keepalive_ms: message mode: silence in ms after which the peer is probed,
 *	default 5000. If the peer stays silent for three more times this long,
 *	the connection ends with -ETIMEDOUT. KRDMA_NEVER: do not probe. To let
 *	the answer to a probe arrive in time, krdma_post() limits the bytes of
 *	READs and WRITEs in flight: 4 KiB for each ms, at least 1 MiB, at most
 *	20 MB, plus one request
 * @backlog: listener: number of requests that may wait for krdma_accept(),
 *	default 64. With a level of security, also the number of connections
 *	whose client has not proved that it has the key. Further requests are
 *	rejected
 * @send_depth: maximum number of send work requests in flight, default 64;
 *	fewer if the device has fewer, see &krdma_caps.send_depth
 * @recv_depth: number of receive work requests, default 64; at least 4 in
 *	message mode; fewer if the device has fewer, see &krdma_caps.recv_depth
 * @max_send_sge: maximum number of scatter/gather entries of a send. Raw mode:
 *	default 1. Message mode: default 6, at least 2, because one entry holds
 *	a message's header
 * @max_recv_sge: raw mode: maximum number of scatter/gather entries of a
 *	receive, default 1
 * @max_inline: raw mode: maximum number of bytes that may be posted inline,
 *	default 0. In message mode krdma chooses this value
 * @poll: see &enum krdma_poll
 * @responder_resources: number of RDMA READs and atomics that the peer may have
 *	in flight here, default 16, limited by the device. For an accepted
 *	connection also limited by the peer's request. KRDMA_ZERO: none; in that
 *	case the peer also reads no message from this side's memory, see
 *	@pull_min
 * @initiator_depth: number of RDMA READs and atomics that this side may have in
 *	flight at the peer; default and limits as for @responder_resources. A
 *	READ or atomic does not succeed if the peer serves none: on siw the
 *	connection ends, usually with -EOPNOTSUPP; elsewhere the request waits
 *	until its time limit
 * @ack_timeout: local ack timeout exponent (4.096 µs * 2^n). Default on RoCE:
 *	17, that is 0.5 s; on InfiniBand: the subnet manager's value for the
 *	path. KRDMA_ZERO: 0, which means no timeout. Ignored on iWARP
 * @retry_count: number of transport retries, default 6. 7 is unlimited on rxe
 * @rnr_retry_count: number of times that the peer repeats a send that finds no
 *	receive posted here, default 7 (unlimited) in raw mode and 6 in message
 *	mode; KRDMA_ZERO: none
 * @min_rnr_timer: delay before the peer repeats a send that found no receive
 *	here, encoded as in IB spec vol. 1 table 45. Default 12, which is 0.64
 *	ms; the CM's own default is 655 ms
 * @buf_size: message mode: bytes of each receive buffer with its header, 256 to
 *	65536, default 4096. Both ends use the smaller one
 * @max_msg: message mode: bytes of the longest message that krdma accepts from
 *	the peer, up to 1 GiB, default 4 MiB
 * @pull_min: message mode: minimum length in bytes of messages that the peer
 *	reads from the sender's memory, instead of receiving them in buffers;
 *	default 65536. KRDMA_NEVER: none
 * @mr_pool: message mode: number of memory registrations (MRs) that are kept
 *	for later regions, up to 1024; see krdma_region_revoke(). KRDMA_NEVER:
 *	none. Default 16, or none if &krdma_caps.virt_dma is set. With virt_dma
 *	a pool saves no time. On rxe it could also be unsafe: rxe may still copy
 *	a packet after the key has become invalid, and waits for this copy only
 *	when the MR is destroyed
 * @session: client, message mode: number that identifies this client to the
 *	peer. If the peer still has a connection from the same address to the
 *	same port with the same number, the peer ends this old connection. It
 *	accepts the new one when the old one is drained and destroyed. 0: a
 *	random number, so no other connection is ended. krdma_reconnect_start()
 *	keeps one number
 * @comp_vector: number of the completion vector, from 1, modulo
 *	&krdma_caps.comp_vectors. The vector selects the processor that is
 *	interrupted. 0: krdma spreads the connections over the vectors
 * @srq_depth: raw mode: number of receives in the shared receive queue that the
 *	connection uses; 0: none. Without &krdma_ops.get_srq krdma creates an
 *	SRQ for this connection alone and destroys it with the QP. The owner
 *	posts receives with ib_post_srq_recv() to cb->qp->srq, and never more
 *	than @srq_depth at a time, because all of them may complete in the
 *	completion queue of one connection. Draining does not flush unused
 *	receives. A receive that a message used may complete as late as in
 *	krdma_release_cb(), with any status. Its &struct ib_cqe must exist until
 *	that call returns. -EINVAL with KRDMA_SHARED_CQ, because there a receive
 *	could complete even later
 * @max_conns: listener: number of its connections that may exist at a time,
 *	from the request until the owner has released them; default 1024.
 *	Further requests are rejected (the peer gets -EBUSY)
 * @msg_memory: message mode: bytes of memory for messages that are incomplete
 *	or not yet received by a task, of all connections of a listener
 *	together; at least @max_msg; default 256 MiB, or four times @max_msg if
 *	that is more. A message that does not fit ends its connection with
 *	-EDQUOT. Messages that fit into one receive buffer are not counted
 * @spin_us: maximum time in µs, up to 1000, that a task polls for its request
 *	or message before it sleeps; shortened where polling rarely succeeds.
 *	Default 0: the task sleeps at once
 * @path_mtu: client: limit of the path MTU in bytes, a power of two from 256 to
 *	4096; 0: that of the interface. A krdma_reconnect automatically sets
 *	this limit to the path MTU of the peer. Ignored on iWARP
 * @numa_node: NUMA node of the connection's memory, from 1; 0: the node of the
 *	device; KRDMA_NEVER: any. A node that is not online counts as any. With
 *	@comp_vector 0 completions go to processors of the device's node, unless
 *	another node is set here
 *
 * @security: message mode: level of security, the same at both ends; otherwise
 *	there is no connection (-EPERM). -EOPNOTSUPP: KRDMA_RW with a level above
 *	KRDMA_SECURITY_AUTH. -EINVAL with KRDMA_RAW. With a level, a user has at most
 *	KRDMA_SECURE_PRIVATE_DATA_MAX bytes of private data, or the call fails
 *	with -EINVAL
 * @keys: keys that this host shares with the peers; krdma takes its own
 *	reference. A client uses the first key, and a listener accepts all of
 *	them. -ENOKEY: NULL with a level, except for a listener with
 *	&krdma_ops.keys. -EINVAL: keys without a level
 *
 * A zeroed struct with @size set is valid and means the defaults. Out-of-range
 * values give -EINVAL. Values are reduced only where the device offers less.
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
	enum krdma_security security;
	struct krdma_keys *keys;
};

/* Domains */
struct krdma_domain *krdma_domain_create(const char *name);
void krdma_domain_put(struct krdma_domain *domain);

/* Shared keys */
struct krdma_keys *krdma_keys_find(const char *description);
struct krdma_keys *krdma_keys_make(const void *keys, unsigned int n);
struct krdma_keys *krdma_keys_get(struct krdma_keys *keys);
void krdma_keys_put(struct krdma_keys *keys);
unsigned int krdma_keys_ids(const struct krdma_keys *keys, u32 *ids);
bool krdma_keys_have(const struct krdma_keys *keys, const struct krdma_cb *cb);
void krdma_set_keys(struct krdma_cb *listen_cb, struct krdma_keys *keys);

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

/* Identity of the peer */
int krdma_peer_private_data(const struct krdma_cb *cb, void *buf, u8 size);
int krdma_local_addr(const struct krdma_cb *cb, struct sockaddr_storage *addr);
int krdma_peer_addr(const struct krdma_cb *cb, struct sockaddr_storage *addr);

/**
 * struct krdma_reject - reject that the peer sent in answer to a connect
 * request
 * @reason: reject reason of the CM: enum ib_cm_rej_reason on InfiniBand and
 *	RoCE, a negative errno on iWARP. 28 (consumer defined) comes from krdma
 *	or from the peer's user
 * @private_data_len: bytes in @private_data
 * @private_data: bytes that the peer's user passed to krdma_reject_request()
 */
struct krdma_reject {
	int reason;
	u8 private_data_len;
	u8 private_data[148];
};

bool krdma_get_reject(const struct krdma_cb *cb, struct krdma_reject *rej);

/**
 * enum krdma_transport - transport of a connection
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
 * struct krdma_caps - capabilities of a connection with this device and peer
 * @size: sizeof(struct krdma_caps), set by the caller. Members that this
 *	version of krdma lacks are set to 0
 * @transport: see &enum krdma_transport
 * @device: name of the RDMA device
 * @max_part: maximum number of bytes of a KRDMA_SEND_INV, and of each part into
 *	which krdma splits a longer KRDMA_SEND. Like all members that depend on
 *	the peer, 0 in raw mode and until the peer's hello is known
 * @max_send: bytes of the longest message that the peer accepts
 * @max_receive: bytes of the longest message that is accepted from the peer
 * @max_inline: maximum number of bytes of a work request that may be posted
 *	inline, including the 16 bytes of a message's header; 0: none
 * @max_send_sge: maximum number of pieces of a WRITE, or of a message including
 *	one piece for its header
 * @max_read_sge: maximum number of pieces of a READ
 * @send_depth: maximum number of work requests in flight, not counting krdma's
 *	internal messages
 * @recv_depth: number of receives, not counting those for internal messages
 * @mr_pages: maximum number of pages of one fast registration; 0: the device
 *	has no fast registration
 * @mr_bytes: maximum number of bytes of one fast registration. A region needs
 *	(offset in its first page + size) / @mr_bytes MRs, rounded up. If
 *	@coherent is false it needs up to two more, see Documentation/krdma.rst,
 *	Syncing a region
 * @atomics: KRDMA_FETCH_ADD and KRDMA_CMP_SWAP work
 * @atomics_global: KRDMA_FETCH_ADD and KRDMA_CMP_SWAP are also atomic with
 *	respect to CPUs and other adapters
 * @write_imm: the device can WRITE with immediate data; if not, KRDMA_WRITE_IMM
 *	sends an additional message
 * @send_inv: the device can SEND with invalidate
 * @read_inv: READ with invalidate works
 * @read_needs_region: READs go only to regions with KRDMA_READ_SINK
 * @virt_dma: the driver takes kernel addresses, so krdma maps nothing for DMA.
 *	Such drivers are rxe, siw, hfi1 and qib
 * @coherent: a page that krdma mapped as a test needs no sync: it needs neither
 *	bounce buffers nor cache flushes. Use KRDMA_COHERENT to check other
 *	memory
 * @relaxed_ordering: writes of the adapter may become visible out of order
 *	until their completion is seen
 * @keepalive: a silent peer is probed, see &krdma_params.keepalive_ms
 * @initiator_depth: negotiated number of READs and atomics that this side may
 *	have in flight; 0 before the connection is established
 * @responder_resources: number of READs and atomics that the peer may have in
 *	flight
 * @peer_version: version of the protocol that both ends use
 * @peer_features: feature bits of the peer's hello
 * @peer_takes_imm: KRDMA_WRITE_IMM works: the peer has a receive callback
 * @peer_takes_inv: KRDMA_SEND_INV works: device and peer support it
 * @comp_vectors: number of completion vectors of the device
 * @path_mtu: path MTU of the connection in bytes; 0: not known, or iWARP
 * @local_mtu: largest path MTU of the local interface in bytes; 0: not known.
 *	Known on RoCE only
 * @peer_mtu: largest path MTU of the peer's interface in bytes, as the peer
 *	reports it; 0: not known. If it differs from @local_mtu, the two
 *	interfaces have different MTUs. If it is smaller than @path_mtu, long
 *	packets of the peer are lost
 * @gid_type: type of this side's GID, see &enum krdma_gid_type
 * @peer_gid_type: type of the peer's GID
 * @traffic_class: traffic class of both directions, chosen by the client
 * @numa_node: NUMA node of the connection's memory, -1: any
 * @comp_vector: completion vector in use, from 1 as in
 *	&krdma_params.comp_vector
 * @security: level of security, see &enum krdma_security
 * @key_id: id of the key with which the connection is made, see
 *	krdma_keys_ids(); 0 without a level
 * @one_sided: the level allows READs, WRITEs and atomics, and regions that the
 *	peer may access
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
	enum krdma_security security;
	u32 key_id;
	bool one_sided;
};

int krdma_query(struct krdma_cb *cb, struct krdma_caps *caps);
u32 krdma_mr_page_size(const struct ib_device *ibdev);

/* Messages */
int krdma_send_timeout(struct krdma_cb *cb, const void *buffer, size_t length,
		       u32 timeout_ms);
int krdma_send_iter(struct krdma_cb *cb, struct iov_iter *iter, u32 timeout_ms);
void krdma_rx_msg_release(struct krdma_rx_msg *rx_msg);
int krdma_receive_len(struct krdma_cb *cb, void *buffer, size_t size,
		      u32 timeout_ms);
ssize_t krdma_receive_peek(struct krdma_cb *cb, u32 timeout_ms);

/*
 * Exported buffers of KRDMA_RW connections. krdma_read_at() and
 * krdma_write_at() access the buffer of the peer, krdma_export_read() and
 * krdma_export_write() the buffer of this side.
 */
int krdma_read_at(struct krdma_cb *cb, void *buffer, size_t length, u64 offset,
		  u32 timeout_ms);
int krdma_write_at(struct krdma_cb *cb, const void *buffer, size_t length,
		   u64 offset, u32 timeout_ms);
int krdma_export_read(struct krdma_cb *cb, void *buffer, size_t length,
		      u64 offset);
int krdma_export_write(struct krdma_cb *cb, const void *buffer, size_t length,
		       u64 offset);
u64 krdma_export_size(const struct krdma_cb *cb);
u64 krdma_peer_export_size(const struct krdma_cb *cb);

/* Regions: local memory that the adapter or the peer may access */

/* Bits of an argument access: rights and other properties of a region. */
#define KRDMA_REMOTE_READ	BIT(0)
#define KRDMA_REMOTE_WRITE	BIT(1)
#define KRDMA_REMOTE_ATOMIC	BIT(2)
/*
 * The region is the target of READs that this side posts. On iWARP the peer can
 * also write to such a region.
 */
#define KRDMA_READ_SINK		BIT(3)
/*
 * The peer may invalidate the region's key by KRDMA_SEND_INV. The region must
 * have only one MR.
 */
#define KRDMA_REMOTE_INVALIDATE	BIT(4)
/* No local request sends data from this region. */
#define KRDMA_NO_SOURCE		BIT(5)
/* If the memory needs a sync, creating the region fails with -EOPNOTSUPP. */
#define KRDMA_COHERENT		BIT(6)
/* The region's keys are valid on all connections of &krdma_params.domain. */
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

/*
 * Remote memory: memory of the peer that READs and WRITEs access. The peer
 * describes it by krdma_region_export(), or exports a buffer.
 */
struct krdma_remote *krdma_remote_import(const void *desc, size_t len);
void krdma_remote_free(struct krdma_remote *remote);
u64 krdma_remote_size(const struct krdma_remote *remote);
const struct krdma_remote *krdma_peer_export(const struct krdma_cb *cb);

/* Requests */

/**
 * enum krdma_opcode - operation of a request
 * @KRDMA_SEND: send a message, of up to &krdma_caps.max_send bytes. A message
 *	that is longer than &krdma_caps.max_part is sent in parts, which needs
 *	memory while it is in flight
 * @KRDMA_WRITE: write into the peer's memory
 * @KRDMA_READ: read from the peer's memory
 * @KRDMA_FETCH_ADD: add to 8 bytes of the peer's memory, and get the old value
 * @KRDMA_CMP_SWAP: replace 8 bytes of the peer's memory if they have the
 *	expected value, and get the old value
 * @KRDMA_WRITE_IMM: write into the peer's memory and notify the peer. The
 *	peer's receive callback gets &krdma_req.imm when the data is in memory,
 *	in order with the messages. Uses one credit, like a message. Works only
 *	if the peer has a receive callback, see &krdma_caps.peer_takes_imm
 * @KRDMA_SEND_INV: send a message of up to &krdma_caps.max_part bytes like
 *	KRDMA_SEND, and invalidate the key of &krdma_req.remote at the peer. The
 *	remote memory must have one segment, which the peer created with
 *	KRDMA_REMOTE_INVALIDATE. Works only if &krdma_caps.peer_takes_inv is set
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

/* Number of opcodes. */
#define KRDMA_OPCODES (KRDMA_SEND_INV + 1)

/**
 * enum krdma_mem - kind of the local memory of a request
 * @KRDMA_MEM_NONE: no local memory
 * @KRDMA_MEM_VIRT: kernel memory of kmalloc(), vmalloc() or the page allocator,
 *	not a stack or static data of a module. The target of a READ or an
 *	atomic shares no cache line with other data
 * @KRDMA_MEM_PAGES: pages, each with offset and length
 * @KRDMA_MEM_SG: a scatterlist that is not mapped
 * @KRDMA_MEM_REGION: a part of a region. The cheapest kind, because nothing is
 *	mapped. The owner must sync the region, see
 *	krdma_region_sync_for_device(). With a level that seals messages, the
 *	processor reads the region, see krdma_region_sync_for_cpu()
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
 * @mem: selects the member of the union
 * @nents: KRDMA_MEM_PAGES and KRDMA_MEM_SG: number of entries
 * @len: number of bytes; for KRDMA_MEM_PAGES and KRDMA_MEM_SG the sum of all
 *	entries
 * @offset: KRDMA_MEM_REGION: offset in the region, in bytes
 * @virt: KRDMA_MEM_VIRT: address of the first byte
 * @pages: KRDMA_MEM_PAGES: array of @nents entries. The array must exist until
 *	&krdma_req.done
 * @sg: KRDMA_MEM_SG: first entry of the list, which must exist until
 *	&krdma_req.done
 * @region: KRDMA_MEM_REGION: region of the same connection or of its domain
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
 * struct krdma_wr - common part of all entries of a send queue; internal
 * @cqe: completion of the last work request of the entry
 * @link: link in the list of posted or of pending entries
 * @conn: connection of the entry
 * @op: object that the posting task waits on, or NULL
 * @posted_ns: time at which krdma took the entry, in ns; 0: not measured
 * @len: number of bytes that the entry moves
 * @slots: number of send queue slots that the entry uses
 * @kind: kind for the statistics, see stats.h
 * @reserved: the entry uses a slot that is reserved for it
 * @signalled: the entry reports a completion also on success
 * @over: the entry has completed
 * @late: the turn of the entry has not come yet. If krdma_close() begins, krdma
 *	refuses the entry with -ESHUTDOWN
 * @bulk: the entry is not a message, and its bytes count in the limit of bytes
 *	in flight
 * @urgent: the entry is posted before entries that are not urgent
 * @follows: the entry is a part of the message that is open, but not the first
 *	part
 * @status: 0 or an errno, valid if the entry has ended
 * @tx: buffer of a message that is being sealed, or is sealed and posted; NULL
 *	otherwise
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
	bool urgent;
	bool follows;
	int status;
	struct krdma_tx_buf *tx;
};

/*
 * Maximum number of local pieces of a request that krdma_post() keeps in the
 * request itself, without an allocation.
 */
#define KRDMA_REQ_SGES 4

/*
 * Flags of a request:
 *  - KRDMA_NOWAIT: krdma_post() returns -EAGAIN instead of queueing the request
 *  - KRDMA_FENCE: the request starts after all earlier READs and atomics have
 *    completed
 */
#define KRDMA_NOWAIT	BIT(0)
#define KRDMA_FENCE	BIT(1)

/**
 * struct krdma_req - a request to the adapter
 * @opcode: operation
 * @flags: KRDMA_NOWAIT: only that of the first request of a chain counts.
 *	KRDMA_FENCE applies to each request by itself: the adapter starts this
 *	request only after all READs and atomics that krdma_post() took earlier
 *	have completed
 * @local: local memory; 8 bytes for KRDMA_FETCH_ADD and KRDMA_CMP_SWAP
 * @remote: the peer's memory, unused for KRDMA_SEND. The object must exist
 *	until @done
 * @remote_offset: offset in @remote, in bytes; ignored for KRDMA_SEND_INV
 * @imm: KRDMA_WRITE_IMM: value for the peer's owner
 * @compare: KRDMA_CMP_SWAP: expected value, in the CPU's byte order
 * @operand: KRDMA_FETCH_ADD: summand; KRDMA_CMP_SWAP: new value
 * @done: called when the request has ended, with @status 0 or an errno. Called
 *	exactly once for each request that krdma_post() took, in the order of
 *	posting. Context: see &krdma_params.poll; process context when the
 *	connection closes. Must not sleep; may post; must not release the
 *	connection. May free @req and the local memory. On rxe before Linux 6.10
 *	it must free them by kfree_rcu() unless the request was a READ, see
 *	krdma_may_read_on() in compat.h
 * @next: next request of a chain, or NULL
 *
 * The caller allocates the request with kmalloc(), not on a stack or with
 * vmalloc(), because the adapter reads a message's header in it. From
 * krdma_post() to @done the caller must not touch the request and its local
 * memory. The other members are private.
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
	struct krdma_parts *parts;
	struct ib_sge *sges;
	u16 nsges;
	bool is_inline;
	u64 hdr_dma;
	u8 hdr[16];
	struct ib_sge few[KRDMA_REQ_SGES];
};

int krdma_post(struct krdma_cb *cb, struct krdma_req *req);

/* Persistent connections: krdma connects again whenever the connection ends */

/**
 * enum krdma_reconnect_state - state of a krdma_reconnect
 * @KRDMA_RECONNECT_WAITING: not connected, waiting to make the next attempt
 * @KRDMA_RECONNECT_CONNECTING: attempt in progress
 * @KRDMA_RECONNECT_CONNECTED: from connected() until lost() has returned
 * @KRDMA_RECONNECT_STOPPED: krdma_reconnect_stop() is running
 */
enum krdma_reconnect_state {
	KRDMA_RECONNECT_WAITING = 0,
	KRDMA_RECONNECT_CONNECTING,
	KRDMA_RECONNECT_CONNECTED,
	KRDMA_RECONNECT_STOPPED,
};

/**
 * struct krdma_reconnect_ops - callbacks of the owner
 * @owner: THIS_MODULE or NULL, as &krdma_ops.owner, for @connected, @lost and
 *	@failed
 * @connected: called when a connection is established. @epoch is its number,
 *	from 1. The owner may use @cb until lost() returns, or longer with
 *	krdma_get(). It may call krdma_disconnect(), but must not release @cb.
 *	The context of @cb belongs to krdma
 * @lost: called when the connection has ended. @reason as for
 *	&krdma_ops.closing; -ESHUTDOWN also for krdma_reconnect_stop(). done()
 *	of every request has been called. The owner puts its regions and remotes
 *	of @cb before this callback returns. krdma then releases @cb, and only
 *	then begins the next attempt. Removal of the RDMA device waits for this
 *	callback
 *
 * @receive: called for each message, as &krdma_ops.receive, between @connected
 *	and @lost. Therefore @connected can post requests, but must not wait for
 *	an answer. NULL: tasks wait for messages with krdma_receive_len()
 *
 * @write_space: called as &krdma_ops.write_space, between @connected and @lost.
 *	NULL: no notification
 *
 * @failed: called when an attempt to connect has failed with @error.
 *	krdma_get_reject() works on the @cb of this callback. This @cb belongs
 *	to krdma and is released on return. Called between two connections,
 *	never while another callback runs. NULL: no notification
 *
 * @connected and @lost are required. They alternate, beginning with @connected,
 * and never run at the same time for one krdma_reconnect. When
 * krdma_reconnect_stop() returns, each has been called the same number of
 * times.
 *
 * Context of @connected, @lost and @failed: process, krdma's workqueue. These
 * callbacks may sleep. They must not wait for krdma_reconnect_stop() or
 * krdma_release_cb() of another task.
 */
struct krdma_reconnect_ops {
	struct module *owner;
	void (*connected)(struct krdma_reconnect *reconn, struct krdma_cb *cb,
			  u64 epoch);
	void (*lost)(struct krdma_reconnect *reconn, struct krdma_cb *cb,
		     int reason);
	void (*receive)(struct krdma_reconnect *reconn, struct krdma_cb *cb,
			struct krdma_rx_msg *rx_msg);
	void (*write_space)(struct krdma_reconnect *reconn,
			    struct krdma_cb *cb);
	void (*failed)(struct krdma_reconnect *reconn, struct krdma_cb *cb,
		       int error);
};

/**
 * struct krdma_reconnect_params - callbacks and retry times of a
 * krdma_reconnect
 * @size: sizeof(struct krdma_reconnect_params), as &krdma_params.size
 * @ops: the owner's callbacks
 * @context: the owner's pointer, for krdma_reconnect_context()
 * @min_ms: wait after the first failure, in ms, default 100
 * @max_ms: limit of the wait in ms, default 10000, at most an hour. Each
 *	further failure doubles the wait. A random part makes every wait up to a
 *	quarter shorter or longer
 */
struct krdma_reconnect_params {
	size_t size;
	const struct krdma_reconnect_ops *ops;
	void *context;
	u32 min_ms;
	u32 max_ms;
};

/**
 * struct krdma_reconnect_info - status of a krdma_reconnect
 * @size: sizeof(struct krdma_reconnect_info), set by the caller, as
 *	&krdma_caps.size
 * @state: see &enum krdma_reconnect_state; a snapshot
 * @epoch: number of connections so far, including the present one
 * @failures: number of consecutive attempts that failed, or that led to a
 *	connection that ended within &krdma_reconnect_params.max_ms
 * @error: errno of the last failed attempt or ended connection; 0: none
 */
struct krdma_reconnect_info {
	size_t size;
	enum krdma_reconnect_state state;
	u64 epoch;
	unsigned int failures;
	int error;
};

struct krdma_reconnect *
krdma_reconnect_start(const struct sockaddr *dst,
		      const struct krdma_params *params,
		      const struct krdma_reconnect_params *owner);
void krdma_reconnect_stop(struct krdma_reconnect *reconn);
void krdma_reconnect_set_keys(struct krdma_reconnect *reconn,
			      struct krdma_keys *keys);
void krdma_reconnect_kick(struct krdma_reconnect *reconn);
struct krdma_cb *krdma_reconnect_get_cb(struct krdma_reconnect *reconn);
void *krdma_reconnect_context(const struct krdma_reconnect *reconn);
u64 krdma_reconnect_epoch(struct krdma_reconnect *reconn);
int krdma_reconnect_query(struct krdma_reconnect *reconn,
			  struct krdma_reconnect_info *info);

#endif /* KRDMA_H */
