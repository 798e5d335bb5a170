/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of krdma share.
 *
 * Lock order: krdma_conn.setup > krdma_devs_lock > krdma_dev.lock, and
 * krdma_conn.setup > the CM's handler mutex (taken inside rdma_*() calls).
 * krdma_stats_lock and krdma_watch_lock nest inside all of these, and
 * krdma_again.lock inside krdma_watch_lock, and inside krdma_agains_lock, which
 * is for debugfs. krdma_conn.lock nests inside everything and takes nothing. CM
 * callbacks run under the handler mutex and therefore never take
 * krdma_conn.setup: what needs it is done by the task that connects or accepts,
 * or by close_work.
 */
#ifndef KRDMA_PRIV_H
#define KRDMA_PRIV_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/sched/mm.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <rdma/ib_cm.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include <krdma.h>

#include "path.h"
#include "spin.h"
#include "stats.h"
#include "wire.h"

struct krdma_batch;
struct krdma_siw_read;
struct krdma_msg;

/* Flags of listeners, which their connections do not have. */
#define KRDMA_LISTEN_FLAGS (KRDMA_LISTEN_WAIT | KRDMA_LISTEN_V6ONLY)

/* How long after a flush its reason may come, see krdma_conn_flushed(). */
#define KRDMA_QP_REASON_MS 1000

/*
 * Work requests that are posted in one go, with interrupts off. They are enough
 * to keep an adapter busy until the first doorbell of them completes, which
 * continues.
 */
#define KRDMA_KICK_MAX 64

/*
 * main.c: krdma_wq tears down, and has timers, keep-alive and the steps of accepting.
 * Its work waits neither for a peer nor for an owner. On krdma_peer_wq is work that
 * may wait for a peer: registrations behind READs in flight. On krdma_connect_wq are
 * the steps of clients, which on siw wait for TCP, minutes for a host that drops SYNs.
 */
extern struct workqueue_struct *krdma_wq;
extern struct workqueue_struct *krdma_peer_wq;
extern struct workqueue_struct *krdma_connect_wq;
struct workqueue_struct *krdma_owner_queue(const struct krdma_params *p);

/**
 * struct krdma_dev - an RDMA device, from add to remove of our ib_client
 * @link: in krdma_devs
 * @ibdev: the device
 * @ref: krdma_devs holds one, each attached connection and each region of a domain
 *	holds one
 * @lock: protects the rest; of regions of domains their krdma_region.link, and their
 *	MRs and DMA mappings once they are in krdma_pd.regions
 * @conns: attached connections, by krdma_conn.dev_link
 * @pds: krdma_pd: one of each domain in use, one of each connection without a
 *	domain
 * @cqs: krdma_cq that several connections may use
 * @next_vector: counts queues whose vector krdma chooses
 * @nfreed: krdma_cq that no connection uses and that are not freed yet
 * @gone: remove has begun: attach nothing any more
 * @inline_try: index of the first entry of krdma_inline_tries that the device
 *	may take; written without @lock, any value is valid
 * @idle: woken when @conns becomes empty, or @nfreed 0
 */
struct krdma_dev {
	struct list_head link;
	struct ib_device *ibdev;
	struct kref ref;
	struct mutex lock; /* protects what follows */
	struct list_head conns;
	struct list_head pds;
	struct list_head cqs;
	u32 next_vector;
	unsigned int nfreed;
	bool gone;
	unsigned int inline_try;
	wait_queue_head_t idle;
};

/**
 * struct krdma_pd - a protection domain of a device
 * @link: in krdma_dev.pds
 * @domain: domain of its connections; the PD holds a reference. NULL: it belongs
 *	to one connection
 * @pd: the PD
 * @users: number of connections and regions of the domain that use it;
 *	krdma_dev.lock
 * @regions: regions of the domain, by krdma_region.link; krdma_dev.lock. The
 *	owner takes a region off with krdma_region_put(), or the removal of the
 *	device does when no connection is attached
 */
struct krdma_pd {
	struct list_head link;
	struct krdma_domain *domain;
	struct ib_pd *pd;
	unsigned int users;
	struct list_head regions;
};

/**
 * struct krdma_cq - a completion queue of one connection or of several
 * @link: in krdma_dev.cqs, or empty: of one connection
 * @dev: device; with a reference while the CQ is being freed
 * @cq: the CQ
 * @size: entries that it was made for; it may have more
 * @used: what connections have taken of these; krdma_dev.lock
 * @free_work: frees it after a grace period
 */
struct krdma_cq {
	struct list_head link;
	struct krdma_dev *dev;
	struct ib_cq *cq;
	u32 size;
	u32 used;
	struct rcu_work free_work;
};

/**
 * struct krdma_watch - somebody who wants to know of new RDMA devices
 * @link: in krdma_watches of device.c, under krdma_watch_lock
 * @added: there is one. Context: krdma_watch_lock held; must not sleep; takes
 *	no other lock but krdma_conn.lock or krdma_again.lock
 */
struct krdma_watch {
	struct list_head link;
	void (*added)(struct krdma_watch *watch);
};

/**
 * struct krdma_budget - limits that a listener and its connections share
 * @ref: each of them holds one
 * @max_conns: of &krdma_params; constant
 * @max_bytes: &krdma_params.msg_memory; constant
 * @conns: number of connections
 * @bytes: memory for messages that no owner has yet
 */
struct krdma_budget {
	struct kref ref;
	u32 max_conns;
	u64 max_bytes;
	atomic_t conns;
	atomic64_t bytes;
};

/**
 * struct krdma_conn - what is behind a krdma_cb
 * @cb: what the user sees; first, so that both have one address
 * @ref: the maker holds one (krdma_release_cb()), a listener one for each
 *	connection on its lists (krdma_cm_take_request() or its close), a queued
 *	@close_work, @call_work, @loan_work or @pull_work and a pending @timer, @alive,
 *	@step_work or @pull_limit one each (put when they have run or were
 *	cancelled), each message that is lent one. Work requests in flight need
 *	none: krdma_qp_drain() waits for their completions. Nor does the CM:
 *	rdma_destroy_id() waits for its callbacks
 * @p: parameters after defaults; pointers of the user's are not kept
 * @net: reference
 * @domain: reference; NULL: the PD is not shared
 * @ops: the owner's callbacks, or NULL
 * @budget: reference
 * @is_counted: @budget counts it
 *
 * @lock: protects cb.state, from @error to @batch, @requests and
 *	@nrequests with the lists that it counts, and all of @msg that says so. Taken
 *	in any context
 * @wait: woken when anything changes that somebody may wait for
 * @error: why the connection ends, set once, with the move to CLOSING
 * @leaving: krdma_close() was called
 * @said_bye: and has posted BYE
 * @left: and the peer has ended the connection because of that
 * @stopped: the owner itself takes it down: no closing callback
 * @in_step: somebody in a step of connecting will see to close_work
 * @handed: raw mode: connect or accept has succeeded: the owner is to be told
 *	of the end
 * @notified: the closing callback has been called
 * @told: asynchronous: connected() was called, will be by @call_work, or will not
 *	be
 * @call_connected: @call_work is to call connected(), with 0
 * @call_closing: @call_work is to tell of the end, after the last message
 * @sq_avail: send queue slots that are free, message mode
 * @bulk: bytes of requests on the send queue that move them without the peer's
 *	processor, see krdma_params_bulk_max()
 * @posted: krdma_wr on the send queue, in that order; a completion ends all up
 *	to its own, but on siw
 * @pending: krdma_wr of requests that wait for a slot or a credit, or until
 *	@bulk is less
 * @npending: how many
 * @nleft: how many have left @pending for the send queue so far
 * @reads: work requests on the send queue that READ
 * @max_reads: siw: as many go at a time, 0: not known yet
 * @reads_left: requests that READ which have left @pending
 * @reads_over: and how many of these are over
 * @batch: where their work requests are put together
 * @siw_next: which of @siw_reads comes next
 * @posters: calls of krdma_post() that are running, and 1 until krdma_req_stop()
 * @was_established: state has been KRDMA_ESTABLISHED
 * @hung_up: the CM has said that the connection is closed
 * @exchanged: message mode: both sides have sent START; see krdma_conn_is_open()
 * @deaf: listener: there is no cm_id, or one whose device goes; see listen.c
 *
 * @setup: protects making and breaking: cb.cm_id, cb.qp, cb.pd, @cq, @srq, @dev,
 *	@ncqes, @kpd, @regions, @frwrs, @nfrwrs, @answered, @drained, @may_post,
 *	@raw_live
 * @dev: reference from krdma_device_join() to krdma_device_detach()
 * @node: NUMA node of what is allocated from then on, NUMA_NO_NODE: any
 * @dev_link: in krdma_dev.conns, under krdma_dev.lock
 * @kpd: PD in use
 * @regions: krdma_region.link
 * @invalidatable: regions whose keys the peer may take back, by the adapter's part
 *	of the key; what is found there stays as long as @lock is held
 * @frwrs: MRs that are kept, the first one longest, see frwr.c; krdma_frwr.link
 * @nfrwrs: how many
 * @cq: completion queue of both directions
 * @srq: shared receive queue, or NULL
 * @ncqes: what it has taken of that
 * @answered: passive: accepted or rejected
 * @dialled: rdma_connect() or rdma_accept() was called: there is somebody to
 *	disconnect from
 * @drained: nothing completes any more
 * @may_post: krdma_req_stop() is still to come
 * @raw_live: raw mode, and qp_ready, if there is one, has succeeded: the owner may
 *	have work requests and MRs. Not while there is an @acceptor
 * @async: nobody waits; constant since the first step
 * @is_siw: since the QP exists: see krdma_msg_wait_start(), krdma_sends_pages()
 * @is_iwarp: since the QP exists: see krdma_region_sink()
 * @max_inline: bytes that may be posted inline; constant since the QP exists,
 *	as are the next seven
 * @send_depth: send queue slots that are not krdma's own
 * @recv_depth: receives, likewise
 * @max_send_sge: pieces of a SEND or WRITE
 * @max_read_sge: pieces of a READ
 * @max_map: bytes that can be mapped in one piece
 * @max_frwrs: how many of @frwrs there may be
 * @max_bulk: when @bulk is that much, no more is posted
 * @siw_reads: see krdma_siw_begin()
 * @part_cqe: of work requests that are not the last of their request
 * @modify_failed: the QP could not be moved, for lack of memory; see
 *	krdma_qp_enable_rxe()
 * @flushed: a work request was flushed while connecting or established, and the
 *	timer is for that: see krdma_conn_flushed()
 * @local_failure: passive: it was not the peer's fault that it failed
 * @listen_error: listener: why it is deaf, as far as the log says, 0: it is not
 *
 * @timer: ends what does not become established in time; of a listener: makes
 *	it listen again
 * @alive: message mode: looks now and then whether the peer was heard
 * @step_work: asynchronous connections: see async.c
 * @close_work: does what closing needs in process context
 * @call_work: tells the owner: of a new connection, or of the end; of a listener:
 *	of requests
 * @loan_work: lends messages, see loan.c
 * @pull_work: reads long messages, see pull.c
 * @pull_limit: their time limit
 * @free_work: frees what an atomic context gave up last
 *
 * @acceptor: passive: reference to the listener that hands it out when the handshake
 *	is over, NULL: none; see krdma_accept_timeout()
 * @accept_error: what the handshake ended with; @acceptor's lock
 * @request_link: passive: in one of @acceptor's or its listener's next three lists
 * @watch: listener: tells it of new devices
 * @requests: listener: connections in KRDMA_REQUESTED
 * @accepting: listener: connections whose handshake goes on
 * @accepted: listener: connections whose handshake is over, to be handed out
 * @nrequests: listener: number of connections in these three lists
 *
 * @hello: the peer's, in message mode
 * @path: path, in bytes and names; krdma_conn.lock
 * @path_strict: end the connection if its path MTU is too long; constant
 * @resources: passive: RDMA READs that the peer asked to have served here
 * @depth: passive: RDMA READs that the peer serves
 * @src: where a client wants to come from, family 0: anywhere; where a listener
 *	listens, under @setup
 * @local: address of this side, family 0: not known yet
 * @peer: address of the other side, likewise
 * @user_data: private data to send (client) or received
 * @user_data_len: bytes
 * @peer_data: private data of the peer's user, from REQ or REP
 * @peer_data_len: bytes
 * @rej: the peer's reject
 * @rejected: @rej is valid
 * @msg: message mode
 * @spin_op: looking for requests that are over
 * @spin_receive: looking for messages
 * @stats: what is counted
 */
struct krdma_conn {
	struct krdma_cb cb;
	struct kref ref;
	struct krdma_params p;
	struct net *net;
	struct krdma_domain *domain;
	const struct krdma_ops *ops;
	struct krdma_budget *budget;
	bool is_counted;

	spinlock_t lock; /* see @lock above */
	wait_queue_head_t wait;
	int error;
	bool leaving;
	bool said_bye;
	bool left;
	bool stopped;
	bool in_step;
	bool handed;
	bool notified;
	bool was_established;
	bool hung_up;
	bool exchanged;
	bool told;
	bool call_connected;
	bool call_closing;
	unsigned int sq_avail;
	u64 bulk;
	struct list_head posted;
	struct list_head pending;
	unsigned int npending;
	u32 nleft;
	u32 reads;
	u32 max_reads;
	u32 reads_left;
	u32 reads_over;
	bool deaf;
	struct krdma_batch *batch;
	u32 siw_next;
	atomic_t posters;

	struct mutex setup; /* see @setup above */
	struct krdma_dev *dev;
	int node;
	struct list_head dev_link;
	struct krdma_pd *kpd;
	struct krdma_cq *cq;
	struct ib_srq *srq;
	u32 ncqes;
	struct list_head regions;
	struct xarray invalidatable;
	struct list_head frwrs;
	unsigned int nfrwrs;
	bool answered;
	bool dialled;
	bool drained;
	bool may_post;
	bool raw_live;
	bool async;
	bool is_siw;
	bool is_iwarp;
	u32 max_inline;
	u32 send_depth;
	u32 recv_depth;
	u32 max_send_sge;
	u32 max_read_sge;
	u32 max_map;
	u32 max_frwrs;
	u32 max_bulk;
	struct krdma_siw_read *siw_reads;
	struct ib_cqe part_cqe;
	bool modify_failed;
	bool flushed;
	bool local_failure;
	int listen_error;

	struct delayed_work timer;
	struct delayed_work alive;
	struct delayed_work step_work;
	struct work_struct close_work;
	struct work_struct call_work;
	struct work_struct loan_work;
	struct work_struct pull_work;
	struct delayed_work pull_limit;
	struct work_struct free_work;

	struct krdma_watch watch;
	struct krdma_conn *acceptor;
	int accept_error;
	struct list_head request_link;
	struct list_head requests;
	struct list_head accepting;
	struct list_head accepted;
	unsigned int nrequests;

	struct krdma_hello hello;
	struct krdma_path path;
	bool path_strict;
	u8 resources;
	u8 depth;
	struct sockaddr_storage src;
	struct sockaddr_storage local;
	struct sockaddr_storage peer;
	u8 user_data[KRDMA_RAW_PRIVATE_DATA_MAX];
	u8 user_data_len;
	u8 peer_data[IB_CM_REP_PRIVATE_DATA_SIZE];
	u8 peer_data_len;
	struct krdma_reject rej;
	bool rejected;

	struct krdma_msg *msg;
	struct krdma_spin spin_op;
	struct krdma_spin spin_receive;
	struct krdma_stats stats;
};

static inline struct krdma_conn *krdma_conn(const struct krdma_cb *cb)
{
	return container_of(cb, struct krdma_conn, cb);
}

static inline bool krdma_conn_is_raw(const struct krdma_conn *conn)
{
	return conn->p.flags & KRDMA_RAW;
}

static inline bool krdma_conn_is_rw(const struct krdma_conn *conn)
{
	return conn->p.flags & KRDMA_RW;
}

static inline bool krdma_conn_is_over(const struct krdma_conn *conn)
{
	return krdma_get_state(&conn->cb) >= KRDMA_CLOSING;
}

/**
 * krdma_sends_pages - does TCP have memory by reference that is the owner's again
 * @conn: connection with a QP
 *
 * siw, 6.1 to 7.3 at least, does not copy what it sends when that is a page or
 * more and nobody asked for its completion: the answer to a READ, and what is not
 * signalled (siw_qp_prepare_tx()). TCP has references to the pages until the last
 * byte is acknowledged, whatever becomes of the work request, the MR and the QP.
 */
static inline bool krdma_sends_pages(const struct krdma_conn *conn)
{
	return conn->is_siw;
}

/* Nothing completes any more. */
static inline bool krdma_conn_is_silent(const struct krdma_conn *conn)
{
	return krdma_get_state(&conn->cb) == KRDMA_CLOSED ||
	       (krdma_conn_is_over(conn) && READ_ONCE(conn->drained));
}

/* For what happens with every message: a lock less if nobody waits. */
static inline void krdma_conn_wake(struct krdma_conn *conn)
{
	if (wq_has_sleeper(&conn->wait))
		wake_up_all(&conn->wait);
}

/**
 * struct krdma_noio - what krdma_noio_enter() has changed
 * @on: whether it has
 * @flags: for memalloc_noio_restore()
 */
struct krdma_noio {
	bool on;
	unsigned int flags;
};

/* All that this task allocates from here on is GFP_NOIO, if @p wants that. */
static inline struct krdma_noio krdma_noio_enter(const struct krdma_params *p)
{
	struct krdma_noio noio = { .on = p->flags & KRDMA_NOIO };

	if (noio.on)
		noio.flags = memalloc_noio_save();
	return noio;
}

/*
 * The same in work of krdma_wq, krdma_peer_wq and krdma_connect_wq, of all
 * connections: when memory is short the one rescuer of a queue has to do that
 * before the work of a connection with KRDMA_NOIO.
 */
static inline struct krdma_noio krdma_noio_enter_work(void)
{
	return (struct krdma_noio){ .on = true, .flags = memalloc_noio_save() };
}

static inline void krdma_noio_leave(struct krdma_noio noio)
{
	if (noio.on)
		memalloc_noio_restore(noio.flags);
}

/* Is the caller work of @conn on a queue that connections share? */
static inline bool krdma_noio_is_work(const struct krdma_conn *conn)
{
	const struct work_struct *work = current_work();

	return work && (work == &conn->close_work || work == &conn->pull_work ||
			work == &conn->step_work.work ||
			work == &conn->timer.work);
}

/*
 * Where memory is allocated: every way to here goes through krdma_noio_enter() or
 * krdma_noio_enter_work().
 */
static inline void krdma_noio_check(const struct krdma_conn *conn)
{
	if (!in_task() || current->flags & PF_MEMALLOC_NOIO)
		return;
	WARN_ON_ONCE(conn->p.flags & KRDMA_NOIO || krdma_noio_is_work(conn));
}

/* addr.c */
struct net *krdma_callers_net(void);
bool krdma_addr_same_host(const struct sockaddr_storage *a,
			  const struct sockaddr_storage *b);
__be16 krdma_addr_port(const struct sockaddr_storage *addr);

/* params.c */
int krdma_struct_in(void *to, size_t size, size_t min, const void *from);
int krdma_struct_out(void *to, size_t min, const void *from);
int krdma_params_take(struct krdma_params *p, const struct krdma_params *user);
void krdma_params_forget(struct krdma_params *p);
int krdma_params_set(struct krdma_params *p, const struct krdma_params *user);
u32 krdma_params_bulk_max(u32 keepalive_ms);
bool krdma_params_ack_timeout(const struct krdma_params *p, bool roce,
			      u8 *timeout);

/* budget.c */
struct krdma_budget *krdma_budget_alloc(const struct krdma_params *p);
void krdma_budget_put(struct krdma_budget *budget);
int krdma_budget_add_conn(struct krdma_conn *listener, struct krdma_conn *conn);
void krdma_budget_del_conn(struct krdma_conn *conn);
int krdma_budget_charge(struct krdma_conn *conn, u32 len);
void krdma_budget_uncharge(struct krdma_conn *conn);

/* device.c */
int krdma_device_init(void);
void krdma_device_exit(void);
int krdma_device_join(struct krdma_conn *conn);
int krdma_device_attach(struct krdma_conn *conn);
void krdma_device_detach(struct krdma_conn *conn);
void krdma_device_cq_freed(struct krdma_dev *dev);
int krdma_device_end_older(struct krdma_conn *conn);
void krdma_domain_get(struct krdma_domain *domain);
void krdma_dev_get(struct krdma_dev *dev);
void krdma_dev_put(struct krdma_dev *dev);
void krdma_pd_put_locked(struct krdma_dev *dev, struct krdma_pd *kpd);
void krdma_device_watch(struct krdma_watch *watch,
			void (*added)(struct krdma_watch *watch));
void krdma_device_unwatch(struct krdma_watch *watch);

/* cq.c */
u32 krdma_cq_vectors(const struct ib_device *ibdev);
int krdma_cq_get(struct krdma_conn *conn, u32 ncqes);
void krdma_cq_put(struct krdma_conn *conn);

/* conn.c */
struct krdma_conn *krdma_conn_alloc(enum krdma_role role,
				    const struct krdma_params *params);
struct krdma_conn *krdma_conn_alloc_child(struct krdma_conn *listener);
void krdma_conn_get(struct krdma_conn *conn);
void krdma_conn_put(struct krdma_conn *conn);
void krdma_conn_put_anywhere(struct krdma_conn *conn);
void krdma_conn_abort_locked(struct krdma_conn *conn, int error);
bool krdma_conn_move_locked(struct krdma_conn *conn, enum krdma_state to);
bool krdma_conn_move(struct krdma_conn *conn, enum krdma_state to);
void krdma_conn_abort(struct krdma_conn *conn, int error);
void krdma_conn_close(struct krdma_conn *conn);
void krdma_conn_begin_step(struct krdma_conn *conn);
void krdma_conn_end_step(struct krdma_conn *conn);
void krdma_conn_hand_over(struct krdma_conn *conn);
bool krdma_conn_is_open(const struct krdma_conn *conn);
struct module *krdma_owner_hold(struct module *owner);
void krdma_conn_flushed(struct krdma_conn *conn);
void krdma_conn_call_closing(struct krdma_conn *conn);
void krdma_conn_start_timer(struct krdma_conn *conn, u32 ms);
void krdma_conn_in_time(struct krdma_conn *conn);
void krdma_conn_stop_timer(struct krdma_conn *conn);
int krdma_conn_wait(struct krdma_conn *conn,
		    bool (*ready)(struct krdma_conn *conn, const void *arg),
		    const void *arg, unsigned long until);
int krdma_conn_wait_op(struct krdma_conn *conn,
		       bool (*ready)(struct krdma_conn *conn, const void *arg),
		       const void *arg, unsigned long until);
int krdma_conn_wait_late(struct krdma_conn *conn,
			 bool (*ready)(struct krdma_conn *conn, const void *arg),
			 const void *arg, unsigned long until);
int krdma_conn_wait_ever(struct krdma_conn *conn,
			 bool (*ready)(struct krdma_conn *conn, const void *arg),
			 const void *arg, unsigned long until);
int krdma_conn_wait_closed(struct krdma_conn *conn, unsigned long until);
unsigned long krdma_deadline(u32 ms);
bool krdma_should_stop(void);
int krdma_pause(u32 ms);

/* async.c */
void krdma_call_queue(struct krdma_conn *conn);
void krdma_call_settled_locked(struct krdma_conn *conn);
void krdma_call_work(struct work_struct *work);
void krdma_step_queue(struct krdma_conn *conn);
void krdma_step_cancel(struct krdma_conn *conn);
void krdma_step_failed(struct krdma_conn *conn);
int krdma_step_accept(struct krdma_conn *conn);
void krdma_step_work(struct work_struct *work);
void krdma_offer_work(struct work_struct *work);

/* cm.c */
void krdma_cm_count(struct krdma_conn *conn, int ret);
bool krdma_cm_family_ok(const struct sockaddr *addr);
void krdma_cm_keep_addrs(struct krdma_conn *conn, const struct rdma_cm_id *id);
int krdma_cm_new_id(struct krdma_conn *conn);
int krdma_cm_start(struct krdma_conn *conn, const struct sockaddr *dst);
int krdma_cm_dial(struct krdma_conn *conn);
int krdma_cm_answer(struct krdma_conn *conn);
int krdma_cm_set_answer(struct krdma_conn *conn, const void *private_data,
			u8 private_data_len);
struct krdma_conn *krdma_cm_next_request(struct krdma_conn *listener);
void krdma_cm_accepted(struct krdma_conn *conn, int error);
void krdma_cm_disconnect(struct krdma_conn *conn);
void krdma_cm_drop_requests(struct krdma_conn *listener);
void krdma_cm_reject_unanswered(struct krdma_conn *conn);

/* listen.c */
void krdma_listen_lost(struct krdma_conn *conn);
void krdma_listen_work(struct work_struct *work);
void krdma_listen_end(struct krdma_conn *conn);

/**
 * struct krdma_op - what a task waits for: one or more work requests
 * @ref: the waiting task's and one for each work request in flight
 * @pending: work requests in flight; krdma_conn.lock
 * @error: of the first one that failed; krdma_conn.lock
 * @refused: one completed with an error of its own, not with a flush;
 *	krdma_conn.lock
 * @wrs: work requests of who has no other memory for them
 *
 * Apart from the task's stack, because the task may be killed and leave while
 * work requests are in flight. And who waits is woken before their completions
 * are through, which holds for @wrs.
 */
struct krdma_op {
	refcount_t ref;
	unsigned int pending;
	int error;
	bool refused;
	struct krdma_wr wrs[];
};

/* qp.c */
int krdma_qp_create(struct krdma_conn *conn);
void krdma_qp_drain(struct krdma_conn *conn);
void krdma_qp_destroy(struct krdma_conn *conn);
int krdma_qp_fatal_errno(const struct krdma_conn *conn);

/* sq.c */
struct krdma_op *krdma_op_alloc(void);
struct krdma_op *krdma_op_alloc_wrs(u32 n);
void krdma_op_put(struct krdma_op *op);
int krdma_op_wait(struct krdma_conn *conn, struct krdma_op *op,
		  unsigned long until);
int krdma_op_settle(struct krdma_conn *conn, struct krdma_op *op,
		    unsigned long until);
void krdma_wr_init(struct krdma_wr *kwr, struct krdma_conn *conn,
		   struct krdma_op *op, u8 kind,
		   void (*done)(struct krdma_wr *kwr, int status));
bool krdma_reads_fit_locked(struct krdma_conn *conn,
			    const struct krdma_wr *kwr);
void krdma_reads_posted_locked(struct krdma_conn *conn,
			       const struct krdma_wr *kwr);
int krdma_siw_begin(struct krdma_conn *conn);
struct ib_cqe *krdma_wr_cqe_locked(struct krdma_conn *conn, struct krdma_wr *kwr,
				   enum ib_wr_opcode opcode);
int krdma_qp_post_locked(struct krdma_conn *conn, struct krdma_wr *kwr,
			 struct ib_send_wr *wr);
int krdma_qp_post(struct krdma_conn *conn, struct krdma_wr *kwr,
		  struct ib_send_wr *wr, unsigned long until);
void krdma_qp_failed(struct krdma_conn *conn, enum ib_wc_status status);
int krdma_qp_post_errno(int ret);
int krdma_qp_kept_errno(int ret);
void krdma_wr_part_done(struct ib_cq *cq, struct ib_wc *wc);
void krdma_wr_fail_all(struct list_head *wrs, int error);

/* path.c */
const char *krdma_gid_name(u8 type);
void krdma_path_hello(const struct krdma_conn *conn, struct krdma_hello *hello);
void krdma_path_limit(struct krdma_conn *conn);
int krdma_path_keep(struct krdma_conn *conn, const struct rdma_cm_id *id);

/* query.c */
u32 krdma_query_reads(const struct krdma_conn *conn);

/* req.c */
int krdma_req_begin(struct krdma_conn *conn);
void krdma_req_stop(struct krdma_conn *conn);
void krdma_req_end(struct krdma_conn *conn);
void krdma_req_kick_locked(struct krdma_conn *conn);
int krdma_req_wait_turn(struct krdma_conn *conn, unsigned long until);

/* mr.c */
void krdma_regions_unregister(struct krdma_conn *conn);
void krdma_regions_free(struct krdma_conn *conn);

/* share.c */
void krdma_share_remove_all(struct krdma_dev *dev);

/* msg.c */
int krdma_msg_check(struct krdma_conn *conn);
int krdma_msg_check_open(struct krdma_conn *conn);
unsigned int krdma_msg_extra_sends(const struct krdma_conn *conn);
unsigned int krdma_msg_extra_recvs(const struct krdma_conn *conn);
void krdma_msg_stop(struct krdma_conn *conn);
void krdma_msg_free(struct krdma_conn *conn);
int krdma_msg_post_all(struct krdma_conn *conn);
void krdma_msg_hello(struct krdma_conn *conn, struct krdma_hello *hello);
void krdma_msg_peer_hello(struct krdma_conn *conn);
int krdma_msg_start(struct krdma_conn *conn, unsigned long until);

/* What the peer said it takes. */
static inline bool krdma_peer_takes_imm(const struct krdma_conn *conn)
{
	return conn->hello.features & KRDMA_WIRE_FEATURE_WRITTEN;
}

static inline bool krdma_peer_takes_inv(const struct krdma_conn *conn)
{
	return conn->hello.features & KRDMA_WIRE_FEATURE_INV &&
	       conn->cb.pd->device->attrs.device_cap_flags &
		       IB_DEVICE_MEM_MGT_EXTENSIONS;
}

/* loan.c */
bool krdma_loan_is_busy_locked(const struct krdma_conn *conn);
void krdma_loan_open_locked(struct krdma_conn *conn);
void krdma_loan_work(struct work_struct *work);
void krdma_loan_stop(struct krdma_conn *conn);

/* pull.c */
void krdma_pull_work(struct work_struct *work);
void krdma_pull_limit_work(struct work_struct *work);
void krdma_pull_kick_locked(struct krdma_conn *conn);
void krdma_pull_drained(struct krdma_conn *conn);

/* control.c */
void krdma_alive_heard_locked(struct krdma_conn *conn,
			      const struct krdma_wr *kwr);
void krdma_alive_work(struct work_struct *work);
void krdma_alive_stop(struct krdma_conn *conn);

/* rw.c */
int krdma_rw_greet(struct krdma_conn *conn, unsigned long until);
int krdma_rw_learn(struct krdma_conn *conn);
void krdma_rw_open(struct krdma_conn *conn);

#endif /* KRDMA_PRIV_H */
