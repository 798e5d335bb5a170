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

#include "compat.h"

struct ib_pd;
struct ib_qp;
struct krdma_domain;
struct net;
struct rdma_cm_id;

/* Most private data in a REQ of the RDMA CM over InfiniBand and RoCE. */
#define KRDMA_RAW_PRIVATE_DATA_MAX 56
/* What krdma's own hello leaves of it to the user in message mode. */
#define KRDMA_PRIVATE_DATA_MAX 32

/* For a member of krdma_params where 0 means "default": really zero. */
#define KRDMA_ZERO 0xff
/* For &krdma_params.keepalive_ms: do not ask. */
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
 * @KRDMA_ESTABLISHED: data flows
 * @KRDMA_LISTENING: listener only: taking connect requests
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
 * @cm_id: from the first call that uses the network until closed
 * @qp: from the moment the qp_ready callback runs until closed
 * @pd: like @qp; of the connection's domain and device
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
 * struct krdma_raw_ops - callbacks of a raw-mode connection's owner
 * @qp_ready: The QP exists and is in INIT. Post receives here: the peer may
 *	send as soon as it is connected. Context: process, inside the call that
 *	connects or accepts; may sleep; must not call back into this cb except
 *	for krdma_disconnect(). Return: 0, or an errno, which ends the attempt;
 *	the owner has then freed what it made here, and before that waited for
 *	receives that it had posted (ib_drain_rq()).
 * @closing: An established connection is over, but not because the owner
 *	released it: @reason is -ECONNRESET (the peer closed), -ENODEV (device
 *	removed), -ESHUTDOWN (krdma_disconnect()), … The peer is told; what is
 *	in flight begins to flush, and krdma_drain() waits for the rest. Called
 *	at most once, and only if krdma_connect_cb() or krdma_accept_request()
 *	returned 0: when they fail, their caller knows. Context: process,
 *	krdma's workqueue; may sleep.
 *	The owner sees to it, here or in a task that it wakes but not in both,
 *	that it posts no more, drains (krdma_drain()), frees its MRs and calls
 *	krdma_release_cb(). All of these may be called from here for @cb, not
 *	for other connections; and waiting here for another task to release @cb
 *	would be a deadlock: krdma_release_cb() waits for a closing callback that
 *	runs in another task. Removal of the RDMA device waits until the
 *	connection is released.
 */
struct krdma_raw_ops {
	int (*qp_ready)(struct krdma_cb *cb);
	void (*closing)(struct krdma_cb *cb, int reason);
};

/* Flags of krdma_params. */
#define KRDMA_RAW	 BIT(0) /* raw mode: the owner posts the work requests */
#define KRDMA_RW	 BIT(1) /* message mode with a shown buffer (krdma_read) */
#define KRDMA_INTERRUPTIBLE BIT(2) /* any signal ends a wait, not only a kill */

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
 * @size: sizeof(struct krdma_params); lets the struct grow
 * @flags: KRDMA_RAW, KRDMA_RW, KRDMA_INTERRUPTIBLE
 * @net: network namespace, NULL: the caller's (init_net for kernel threads).
 *	krdma takes its own reference
 * @domain: PDs come from here, NULL: a domain of krdma's own
 * @context: goes to &krdma_cb.context, for connections of a listener too
 * @ops: raw mode: the owner's callbacks
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
 *	more is dead: -ETIMEDOUT. KRDMA_NEVER: it is not asked
 * @backlog: listener: requests that may wait for krdma_accept(), default 64.
 *	Those beyond it are rejected
 * @send_depth: send work requests, default 64
 * @recv_depth: receive work requests, default 64; at least 4 in message mode
 * @max_send_sge: raw mode: scatter/gather entries of a send, default 1
 * @max_recv_sge: raw mode: scatter/gather entries of a receive, default 1
 * @max_inline: bytes that may be posted inline, default 0
 * @poll: see &enum krdma_poll
 * @responder_resources: RDMA READs and atomics the peer may have in flight
 *	here, default 16, never more than the device can. For a connection that
 *	is accepted: never more than the peer asked for
 * @initiator_depth: the same in the other direction
 * @ack_timeout: local ack timeout exponent (4.096 µs * 2^n), default 17, that
 *	is 0.5 s. Ignored on iWARP
 * @retry_count: transport retries, default 6. 7 is "for ever" on rxe
 * @rnr_retry_count: how often the peer repeats a send that finds no receive
 *	posted here, default 7 (for ever) in raw mode and 6 in message mode;
 *	KRDMA_ZERO: never
 * @min_rnr_timer: encoded delay before such a repeat, default 12 (0.64 ms),
 *	IB spec vol. 1 table 45; the CM's own default stands for 655 ms
 * @buf_size: message mode: size of each receive buffer with its header,
 *	default 4096, 256 … 65536. The smaller one of both ends counts
 * @max_msg: message mode: longest message that krdma takes from the peer,
 *	default: as set by krdma_config(); up to 1 GiB
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
	const struct krdma_raw_ops *ops;
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
void krdma_get(struct krdma_cb *cb);
void krdma_put(struct krdma_cb *cb);
void krdma_disconnect(struct krdma_cb *cb);
void krdma_drain(struct krdma_cb *cb);
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

/* Messages */
int krdma_send_timeout(struct krdma_cb *cb, const void *buffer, size_t length,
		       u32 timeout_ms);
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

/* The eleven calls of snake0/krdma, source compatible */
void krdma_config(size_t max_buf_size);
int krdma_connect(const char *host, const char *port, struct krdma_cb **conn_cb);
int krdma_listen(const char *host, const char *port, struct krdma_cb **listen_cb);
int krdma_accept(struct krdma_cb *listen_cb, struct krdma_cb **accept_cb);
int krdma_send(struct krdma_cb *cb, const char *buffer, size_t length);
int krdma_receive(struct krdma_cb *cb, char *buffer);
int krdma_rw_init_client(const char *host, const char *port,
			 struct krdma_cb **cbp);
int krdma_rw_init_server(const char *host, const char *port,
			 struct krdma_cb **cbp);
int krdma_read(struct krdma_cb *cb, char *buffer, size_t length);
int krdma_write(struct krdma_cb *cb, const char *buffer, size_t length);
int krdma_release_cb(struct krdma_cb *cb);

#endif /* KRDMA_H */
