/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Internal declarations of krdma.
 *
 * Lock order: krdma_conn.setup > krdma_devs_lock > krdma_dev.lock, and
 * krdma_conn.setup > the CM's handler mutex (taken inside rdma_*() calls).
 * krdma_stats_lock and krdma_watch_lock nest inside all of these.
 * krdma_reconnect.lock nests inside krdma_watch_lock, and inside
 * krdma_reconnects_lock, which is for debugfs. krdma_tx.lock nests inside all of
 * these, and inside locks of users. krdma_conn.lock nests inside
 * everything, and no other lock of krdma is taken under it. CM callbacks run
 * under the handler mutex and therefore never take krdma_conn.setup. Everything
 * that needs krdma_conn.setup is done by the task that connects or accepts, by
 * step_work, or by close_work.
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

#include "credit.h"
#include "path.h"
#include "spin.h"
#include "state.h"
#include "stats.h"
#include "wire.h"

struct krdma_auth;
struct krdma_batch;
struct krdma_op;
struct krdma_quirk_read;
struct krdma_msg;

/* Flags of listeners that their connections do not inherit. */
#define KRDMA_LISTEN_FLAGS (KRDMA_LISTEN_WAIT | KRDMA_LISTEN_V6ONLY)

/*
 * Time in ms to wait, after a work request was flushed, until the reason for
 * the flush is known: see krdma_conn_flushed().
 */
#define KRDMA_QP_REASON_MS 1000

/*
 * Maximum number of work requests that are posted in one go. Interrupts are off
 * while they are posted, so the number is limited. It is large enough to keep
 * an adapter busy until the first of their doorbells completes. The handler of
 * that completion posts the next requests.
 */
#define KRDMA_KICK_MAX 64

/*
 * workqueue.c: krdma_wq runs teardown, timers, keep-alive and the steps of
 * accepting. Work on krdma_wq waits neither for a peer nor for an owner.
 * krdma_peer_wq runs work that may wait for a peer: a registration waits in the
 * send queue while earlier READs are in flight. krdma_connect_wq runs the
 * connect steps of clients. On siw a connect step waits for TCP, for minutes if
 * a host drops SYNs.
 */
extern struct workqueue_struct *krdma_wq;
extern struct workqueue_struct *krdma_peer_wq;
extern struct workqueue_struct *krdma_connect_wq;
struct workqueue_struct *krdma_owner_queue(const struct krdma_params *p);
int krdma_workqueues_create(void);
void krdma_workqueues_destroy(void);

/**
 * struct krdma_dev - RDMA device, from add to remove of krdma's ib_client
 * @link: link in krdma_devs
 * @ibdev: the device
 * @ref: references of krdma_devs, of each attached connection and of each
 *	region of a domain
 * @lock: protects the following members. Also protects regions of domains while
 *	they are in krdma_pd.regions: their krdma_region.link, MRs and DMA
 *	mappings
 * @conns: list of attached connections, linked by krdma_conn.hw.link
 * @pds: list of krdma_pd: one for each domain in use, one for each connection
 *	without a domain
 * @cqs: list of krdma_cq that several connections may use
 * @next_vector: number of completion queues so far for which krdma chose the
 *	completion vector
 * @nfreed: number of krdma_cq that no connection uses and that are not freed
 *	yet
 * @gone: removal of the device has begun, so no connection may attach any more
 * @inline_try: index of the first entry of krdma_inline_tries that the device
 *	may accept. Written without @lock, because a stale value is harmless
 * @idle: woken when @conns becomes empty or @nfreed becomes 0
 */
struct krdma_dev {
	struct list_head link;
	struct ib_device *ibdev;
	struct kref ref;
	struct mutex lock; /* this lock protects the members below */
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
 * @link: link in krdma_dev.pds
 * @domain: domain of its connections; the PD holds a reference. NULL: the PD
 *	belongs to one connection
 * @pd: PD of the RDMA core
 * @users: number of connections, and of regions of the domain, that use the PD;
 *	krdma_dev.lock
 * @regions: list of the regions of the domain, linked by krdma_region.link;
 *	krdma_dev.lock. krdma_region_put() takes a region off the list. After
 *	the last connection is detached, the removal of the device takes off
 *	the remaining regions
 * @end_regions_locked: unregisters all @regions when the device is removed;
 *	krdma_dev.lock is held. NULL before the first region
 */
struct krdma_pd {
	struct list_head link;
	struct krdma_domain *domain;
	struct ib_pd *pd;
	unsigned int users;
	struct list_head regions;
	void (*end_regions_locked)(struct krdma_pd *kpd);
};

/**
 * struct krdma_cq - a completion queue of one connection or of several
 * @link: link in krdma_dev.cqs; empty if the CQ belongs to one connection
 * @dev: device. The CQ holds a reference to the device while the CQ is being
 *	freed
 * @cq: CQ of the RDMA core
 * @size: number of entries requested at creation; the CQ may have more
 * @used: number of entries that connections have reserved; krdma_dev.lock
 * @free_work: frees the CQ after a grace period
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
 * struct krdma_watch - notification of new RDMA devices
 * @link: link in krdma_watches of device.c; krdma_watch_lock
 * @added: called for a new device. Context: krdma_watch_lock held; must not
 *	sleep; may take only krdma_conn.lock or krdma_reconnect.lock
 */
struct krdma_watch {
	struct list_head link;
	void (*added)(struct krdma_watch *watch);
};

/**
 * struct krdma_budget - limits that a listener and its connections share
 * @ref: references of the listener and of each connection
 * @max_conns: &krdma_params.max_conns; constant
 * @max_bytes: &krdma_params.msg_memory; constant
 * @max_unproved: &krdma_params.backlog; constant
 * @conns: number of connections
 * @bytes: number of bytes of memory for messages that no owner has received yet
 * @unproved: number of connections with a level whose client has not proved that
 *	it has the key
 */
struct krdma_budget {
	struct kref ref;
	u32 max_conns;
	u64 max_bytes;
	u32 max_unproved;
	atomic_t conns;
	atomic64_t bytes;
	atomic_t unproved;
};

/**
 * enum krdma_reach - progress of connecting; a value is never followed by a
 * smaller one
 * @KRDMA_REACH_NONE: the state has never been KRDMA_ESTABLISHED
 * @KRDMA_REACH_ESTABLISHED: the state has been KRDMA_ESTABLISHED
 * @KRDMA_REACH_OPEN: message mode: both sides have sent START
 */
enum krdma_reach {
	KRDMA_REACH_NONE = 0,
	KRDMA_REACH_ESTABLISHED,
	KRDMA_REACH_OPEN,
};

/**
 * enum krdma_report - progress of the connected() callback of an asynchronous
 * connection
 * @KRDMA_REPORT_OPEN: the result of connecting is not known
 * @KRDMA_REPORT_DUE: krdma_works.call must call connected(0)
 * @KRDMA_REPORT_DONE: connected() was called, or will never be called
 */
enum krdma_report {
	KRDMA_REPORT_OPEN = 0,
	KRDMA_REPORT_DUE,
	KRDMA_REPORT_DONE,
};

/**
 * enum krdma_bye - progress of krdma_close()
 * @KRDMA_BYE_NONE: krdma_close() was not called
 * @KRDMA_BYE_LEAVING: new posts and sends are refused
 * @KRDMA_BYE_SAID: the BYE message is posted
 * @KRDMA_BYE_ANSWERED: the peer has ended the connection in answer to BYE
 */
enum krdma_bye {
	KRDMA_BYE_NONE = 0,
	KRDMA_BYE_LEAVING,
	KRDMA_BYE_SAID,
	KRDMA_BYE_ANSWERED,
};

/**
 * enum krdma_cause - cause of an end that the log reports
 * @KRDMA_CAUSE_NONE: nothing to report
 * @KRDMA_CAUSE_WR: a work request failed; krdma_life.cause_arg is its &enum
 *	ib_wc_status
 * @KRDMA_CAUSE_MESSAGE: the peer sent a bad message; krdma_life.cause_arg is
 *	the length of the message in bytes
 * @KRDMA_CAUSE_AUTH: the handshake of a connection with a level failed
 * @KRDMA_CAUSE_SEAL: a sealed message was not the next one of the peer;
 *	krdma_life.cause_arg is its number of bytes
 * @KRDMA_CAUSE_UNKNOWN: the queue pair failed, and nothing reported the reason
 */
enum krdma_cause {
	KRDMA_CAUSE_NONE = 0,
	KRDMA_CAUSE_WR,
	KRDMA_CAUSE_MESSAGE,
	KRDMA_CAUSE_AUTH,
	KRDMA_CAUSE_SEAL,
	KRDMA_CAUSE_UNKNOWN,
};

/**
 * struct krdma_life - life cycle of a connection, and notifications of its
 * owner
 * @owner: ownership of the connection; only krdma_conn_set_owner_locked()
 *	writes it
 * @reach: progress of connecting, see krdma_conn_is_open()
 * @report: progress of connected(), if @async
 * @bye: progress of krdma_close()
 * @cause: cause of the end, until it is logged
 * @cause_arg: status or length that belongs to @cause, see &enum krdma_cause
 * @call_closing: krdma_works.call must call closing() after the last message
 * @in_step: a connect step is running. If the connection has ended, the end of
 *	the step queues krdma_works.close
 * @hung_up: the CM has reported that the connection is closed; written under
 *	the lock, read without it
 * @flushed: a work request was flushed while connecting or established, and
 *	krdma_works.timer waits for the reason: see krdma_conn_flushed()
 * @async: no task waits in connect or accept; constant since the first step
 *
 * Lock: krdma_conn.lock, except for @async, and for the change of @reach to
 * KRDMA_REACH_OPEN. Each of these two has only one writer.
 */
struct krdma_life {
	enum krdma_owner owner;
	enum krdma_reach reach;
	enum krdma_report report;
	enum krdma_bye bye;
	enum krdma_cause cause;
	u32 cause_arg;
	bool call_closing;
	bool in_step;
	bool hung_up;
	bool flushed;
	bool async;
};

/**
 * enum krdma_busy - activities that only one task at a time may do
 * @KRDMA_BUSY_RECV: take parts of messages off krdma_msg.ready
 * @KRDMA_BUSY_RW: use krdma_msg.copy_buf
 * @KRDMA_BUSY_PUSH: register memory for a long message, and send the message
 *
 * The values are bits of krdma_sendq.busy.
 */
enum krdma_busy {
	KRDMA_BUSY_RECV = BIT(0),
	KRDMA_BUSY_RW = BIT(1),
	KRDMA_BUSY_PUSH = BIT(2),
};

/**
 * struct krdma_need - resources that the requests of one krdma_post() need
 * @nowait: KRDMA_NOWAIT is set: the requests must fit on the send queue.
 *	Without the flag the requests may go to krdma_sendq.pending
 * @bulk: the first request is not a message, and counts in krdma_sendq.bulk
 * @slots: number of send queue slots
 * @sends: number of credits
 * @requests: number of requests
 */
struct krdma_need {
	bool nowait;
	bool bulk;
	unsigned int slots;
	unsigned int sends;
	unsigned int requests;
};

/**
 * struct krdma_space - state of refused posts, see write_space.c
 * @wanted: krdma_post() has refused a post since the last callback
 * @need: smallest need of the refused posts
 * @telling: the write_space callback is running
 * @missed: room may have appeared since the running callback began
 */
struct krdma_space {
	bool wanted;
	struct krdma_need need;
	bool telling;
	bool missed;
};

/**
 * struct krdma_sendq - send queue of a connection in message mode
 * @avail: number of free slots
 * @bulk: number of bytes of the requests on the send queue that are not
 *	messages; see krdma_params_bulk_max()
 * @max_bulk: limit of @bulk: once @bulk has reached the limit, only messages
 *	leave @pending
 * @posted: list of posted krdma_wr, oldest first. A completion also retires all
 *	older entries, except with KRDMA_QUIRK_LATE_READS
 * @urgent: list of krdma_wr that wait for a slot, and are posted before those
 *	in @pending: registrations, invalidations, and READs of long messages
 * @pending: list of krdma_wr that wait for a slot or a credit, or until @bulk
 *	is below its limit
 * @npending: number of entries in @pending
 * @open: a part of a message has been posted, and the rest has not. No other
 *	message is posted
 * @open_posted: this message is one of krdma_post(), so later requests wait
 *	until its last part is posted
 * @chunk: operation of the CHUNK that the peer must answer with PULLED, or NULL
 * @reads: number of READ work requests on the send queue
 * @max_reads: limit of @reads, with KRDMA_QUIRK_BLOCKED_READS; 0: not known
 *	yet
 * @fetches: number of READs and atomics of krdma_post() on the send queue
 * @batch: buffer for the work requests that are posted next
 * @quirk_next: index of the entry of @quirk_reads that is used next
 * @quirk_reads: completions of READs, or NULL; see krdma_quirk_reads_alloc()
 * @part_cqe: completion of work requests that are not the last of their request
 * @credit: credits of both directions
 * @greeted: START or AUTH of this side has been posted, so other messages may follow
 * @send_id: id of the next message, or of the message that is open
 * @busy: &enum krdma_busy
 * @space: refused posts
 * @heard: a message or an answer of the peer has arrived since the last check
 *	of krdma_alive_work()
 * @posters: number of contexts that map memory of requests or unmap it, plus 1
 *	until krdma_req_stop() is called
 * @may_post: krdma_req_stop() has not been called yet; krdma_conn.setup
 * @tx: state of sealing, see tx.c. NULL: the level does not seal messages
 *
 * Lock: krdma_conn.lock, except for @posters and @may_post. @max_bulk,
 * @quirk_reads, @part_cqe and @tx are constant since the QP exists.
 */
struct krdma_sendq {
	unsigned int avail;
	u64 bulk;
	u32 max_bulk;
	struct list_head posted;
	struct list_head urgent;
	struct list_head pending;
	unsigned int npending;
	bool open;
	bool open_posted;
	struct krdma_op *chunk;
	u32 reads;
	u32 max_reads;
	u32 fetches;
	struct krdma_batch *batch;
	u32 quirk_next;
	struct krdma_quirk_read *quirk_reads;
	struct ib_cqe part_cqe;
	struct krdma_credit credit;
	bool greeted;
	u32 send_id;
	unsigned int busy;
	struct krdma_space space;
	bool heard;
	atomic_t posters;
	bool may_post;
	struct krdma_tx *tx;
};

/**
 * struct krdma_hw - objects of a connection on its device
 * @dev: device, with a reference from krdma_device_join() to
 *	krdma_device_detach()
 * @node: NUMA node for allocations after krdma_device_join(); NUMA_NO_NODE: any
 * @link: link in krdma_dev.conns; krdma_dev.lock
 * @kpd: PD of the connection; written under both krdma_conn.setup and
 *	krdma_dev.lock
 * @cq: completion queue of both directions
 * @srq: shared receive queue, or NULL
 * @ncqes: number of entries of @cq that this connection has reserved
 * @drained: the queues are drained, so no work request completes any more
 * @raw_live: raw mode: the owner may have work requests and MRs, because
 *	qp_ready has succeeded or is not set. If krdma_accept_timeout() accepts
 *	the connection: false until that call gives it to the owner
 * @quirks: faults of the driver, &enum krdma_quirk; set when the QP is created
 * @is_iwarp: device is iWARP; set when the QP is created. See
 *	krdma_region_sink()
 * @modify_failed: a state change of the QP failed for lack of memory; see
 *	krdma_quirk_enable_receive()
 *
 * Lock: krdma_conn.setup.
 */
struct krdma_hw {
	struct krdma_dev *dev;
	int node;
	struct list_head link;
	struct krdma_pd *kpd;
	struct krdma_cq *cq;
	struct ib_srq *srq;
	u32 ncqes;
	bool drained;
	bool raw_live;
	u32 quirks;
	bool is_iwarp;
	bool modify_failed;
};

/**
 * struct krdma_limits - limits of a connection. All except @part_max are
 * constant since the QP exists
 * @max_inline: maximum number of bytes that may be posted inline
 * @send_depth: number of send queue slots, not counting those for internal
 *	messages
 * @recv_depth: number of receives, not counting those for internal messages
 * @max_send_sge: maximum number of pieces of a SEND or WRITE
 * @max_read_sge: maximum number of pieces of a READ
 * @max_map: maximum number of bytes that can be mapped in one piece
 * @max_frwrs: maximum number of entries in krdma_mrs.frwrs
 * @part_max: maximum number of payload bytes in one part of a message; set
 *	when the peer's hello is known
 */
struct krdma_limits {
	u32 max_inline;
	u32 send_depth;
	u32 recv_depth;
	u32 max_send_sge;
	u32 max_read_sge;
	u32 max_map;
	u32 max_frwrs;
	u32 part_max;
};

/**
 * struct krdma_mrs - memory regions of a connection
 * @regions: list of regions, linked by krdma_region.link; krdma_conn.setup
 * @invalidatable: regions that the peer may invalidate, indexed by the upper 24
 *	bits of the key, which the adapter chose. A region that is found here
 *	under krdma_conn.lock exists until that lock is released
 * @frwrs: pool of unused MRs, oldest first, linked by krdma_frwr.link; see
 *	frwr.c; krdma_conn.setup
 * @nfrwrs: number of entries in @frwrs; krdma_conn.setup
 */
struct krdma_mrs {
	struct list_head regions;
	struct xarray invalidatable;
	struct list_head frwrs;
	unsigned int nfrwrs;
};

/**
 * struct krdma_cm - data that a connection exchanges with the CM
 * @answered: passive side: the request was accepted or rejected;
 *	krdma_conn.setup
 * @connect_called: rdma_connect() or rdma_accept() was called, so
 *	rdma_disconnect() is needed; krdma_conn.setup
 * @hang_up_until: time limit for the peer's close, from krdma_deadline(); 0: no
 *	need to wait; krdma_conn.setup
 * @local_failure: passive side: the handshake failed for a local reason
 * @path: path of the connection; krdma_conn.lock
 * @path_strict: end the connection if the path MTU exceeds the MTU of an
 *	interface; constant
 * @resources: passive side: number of RDMA READs of this side's memory that the
 *	peer wants to have in flight
 * @depth: passive side: number of RDMA READs of the peer's memory that this
 *	side may have in flight
 * @src: client: source address; family 0: any. Listener: address to listen on;
 *	krdma_conn.setup
 * @local: address of this side; family 0: not known yet
 * @peer: address of the peer; family 0: not known yet
 * @user_data: private data of this side's user, to send in REQ or REP
 * @user_data_len: number of bytes in @user_data
 * @peer_data: private data of the peer's user, from REQ or REP
 * @peer_data_len: number of bytes in @peer_data
 * @rej: reject that the peer sent
 * @rejected: @rej is valid
 */
struct krdma_cm {
	bool answered;
	bool connect_called;
	unsigned long hang_up_until;
	bool local_failure;
	struct krdma_path path;
	bool path_strict;
	u8 resources;
	u8 depth;
	struct sockaddr_storage src;
	struct sockaddr_storage local;
	struct sockaddr_storage peer;
	u8 user_data[KRDMA_RAW_REPLY_DATA_MAX];
	u8 user_data_len;
	u8 peer_data[IB_CM_REP_PRIVATE_DATA_SIZE];
	u8 peer_data_len;
	struct krdma_reject rej;
	bool rejected;
};

/**
 * struct krdma_acc - place of an accepted connection in the lists of its
 * listener
 * @acceptor: listener from which krdma_accept_timeout() returns the connection
 *	after the handshake; with a reference. NULL: none
 * @error: result of the handshake; lock of @acceptor
 * @link: link in krdma_listener.requests, .accepting or .accepted; lock of the
 *	listener
 */
struct krdma_acc {
	struct krdma_conn *acceptor;
	int error;
	struct list_head link;
};

/**
 * struct krdma_listener - data of a listener, and its connections that the
 * owner has not received yet
 * @watch: notification of new devices
 * @requests: connections in KRDMA_REQUESTED
 * @accepting: connections whose handshake is in progress
 * @accepted: connections whose handshake is complete, to be returned
 * @nrequests: number of connections in these three lists
 * @unbound: there is no cm_id, or its device is being removed; see listen.c
 * @error: errno that made the listener @unbound, as last logged; 0: none
 *
 * Lock: krdma_conn.lock of the listener.
 */
struct krdma_listener {
	struct krdma_watch watch;
	struct list_head requests;
	struct list_head accepting;
	struct list_head accepted;
	unsigned int nrequests;
	bool unbound;
	int error;
};

/**
 * struct krdma_works - work of a connection, each with a reference while queued
 * @timer: ends a connection that is not established in time; listener: tries
 *	again to listen
 * @alive: message mode: checks periodically whether a message of the peer
 *	arrived
 * @step: makes the next step of an asynchronous connection, see handshake.c
 * @close: does the part of closing that needs process context
 * @call: notifies the owner of a new connection or of its end. Listener: passes
 *	requests to the owner
 * @deliver: delivers messages, see deliver.c
 * @pull: reads long messages, see rendezvous.c
 * @pull_limit: ends the READs of @pull after their time limit
 * @free: frees the connection after the last put in atomic context
 */
struct krdma_works {
	struct delayed_work timer;
	struct delayed_work alive;
	struct delayed_work step;
	struct delayed_work close;
	struct work_struct call;
	struct work_struct deliver;
	struct work_struct pull;
	struct delayed_work pull_limit;
	struct work_struct free;
};

/**
 * struct krdma_mode - functions and sizes that a mode adds to a connection
 * @extra_sends: number of send queue slots for internal messages
 * @extra_recvs: number of receives for internal messages
 * @init: initialize work of the mode; no context can reach @conn yet
 * @begin: allocate memory and post receives after the QP was created, with
 *	krdma_conn.setup held. Return: 0 or -errno; @stop and @free undo it
 * @hello: fill in the hello for the peer, without the user's private data
 * @peer_hello: apply the sizes and credits of the peer's hello
 * @exchange: exchange the first messages. Return: 0 or -errno
 * @step: make one step of that exchange without waiting for the peer. Return: 1
 *	if the exchange is complete, 0 if the peer's message is missing, or
 *	-errno
 * @established: start what runs while the connection is established
 * @handed_over_locked: the owner has the connection from now on
 * @is_busy_locked: check whether the owner still gets messages, so that closing
 *	must wait
 * @released: the owner releases the connection: wait for the mode's callbacks
 * @drained: no work request completes any more, with krdma_conn.setup held
 * @stop: stop to use the device after @drained, with krdma_conn.setup held
 * @ended: stop what @established has started
 * @free: free the memory of the mode
 *
 * In raw mode the owner posts by itself, and all members except @begin are NULL
 * or 0.
 */
struct krdma_mode {
	u32 extra_sends;
	u32 extra_recvs;
	void (*init)(struct krdma_conn *conn);
	int (*begin)(struct krdma_conn *conn);
	void (*hello)(struct krdma_conn *conn, struct krdma_hello *hello);
	void (*peer_hello)(struct krdma_conn *conn);
	int (*exchange)(struct krdma_conn *conn, unsigned long until);
	int (*step)(struct krdma_conn *conn, unsigned long until);
	void (*established)(struct krdma_conn *conn);
	void (*handed_over_locked)(struct krdma_conn *conn);
	bool (*is_busy_locked)(const struct krdma_conn *conn);
	void (*released)(struct krdma_conn *conn);
	void (*drained)(struct krdma_conn *conn);
	void (*stop)(struct krdma_conn *conn);
	void (*ended)(struct krdma_conn *conn);
	void (*free)(struct krdma_conn *conn);
};

/**
 * struct krdma_conn - a connection or a listener, internal part of a krdma_cb
 * @cb: public part; first, so that both have the same address
 * @ref: one reference of the creator, which krdma_release_cb() puts; one of the
 *	listener for each connection on its lists; one of each work and timer in
 *	@work that is queued, put when it has run or was cancelled; one of each
 *	message that the owner keeps; one of each region of the owner; and those
 *	of krdma_get() and of running calls. Work requests in flight need none,
 *	because krdma_qp_drain() waits for their completions. The CM needs none,
 *	because rdma_destroy_id() waits for its callbacks
 * @free: frees the connection after the last put; constant
 * @mode: raw mode or message mode; constant
 * @p: parameters with defaults filled in; the user's pointers are not kept
 * @net: network namespace, with a reference
 * @domain: domain, with a reference; NULL: the PD is not shared
 * @ops: the owner's callbacks, or NULL
 * @budget: limits that the listener and its connections share, with a reference
 * @is_counted: this connection is counted in krdma_budget.conns
 * @is_unproved: this connection is counted in krdma_budget.unproved
 * @charged: number of bytes of a message that are counted in
 *	krdma_budget.bytes; see krdma_budget_charge()
 * @lock: protects cb.state, @error, and the members of the structs below that
 *	name it. Taken in any context
 * @wait: woken when anything changes that a task may wait for
 * @error: reason for which the connection ends; set once, when the state moves
 *	to CLOSING
 * @life: life cycle, and notifications of it
 * @sq: send queue
 * @setup: serializes setup and teardown; protects cb.cm_id, cb.qp, cb.pd, and
 *	the members of the structs below that name it
 * @hw: objects on the device
 * @limits: limits of the device and of the parameters
 * @mr: memory regions
 * @work: work items and timers
 * @acc: passive side: its listener
 * @listen: listener: its connections
 * @hello: the peer's hello, in message mode
 * @cm: addresses and private data
 * @auth: keys and handshake; NULL without a level; constant
 * @msg: state of message mode
 * @spin_op: state of polling for completed requests
 * @spin_receive: state of polling for messages
 * @stats: counters of the connection
 */
struct krdma_conn {
	struct krdma_cb cb;
	struct kref ref;
	void (*free)(struct kref *ref);
	const struct krdma_mode *mode;
	struct krdma_params p;
	struct net *net;
	struct krdma_domain *domain;
	const struct krdma_ops *ops;
	struct krdma_budget *budget;
	bool is_counted;
	bool is_unproved;
	u32 charged;

	spinlock_t lock; /* see @lock above */
	wait_queue_head_t wait;
	int error;
	struct krdma_life life;
	struct krdma_sendq sq;

	struct mutex setup; /* see @setup above */
	struct krdma_hw hw;
	struct krdma_limits limits;
	struct krdma_mrs mr;

	struct krdma_works work;
	struct krdma_acc acc;
	struct krdma_listener listen;
	struct krdma_hello hello;
	struct krdma_cm cm;

	struct krdma_auth *auth;
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

/*
 * Check whether the level seals all messages. Then the connection has no READs,
 * WRITEs and atomics, because nothing can verify what an adapter places in
 * memory before it is there.
 */
static inline bool krdma_conn_is_sealed(const struct krdma_conn *conn)
{
	return conn->p.security > KRDMA_SECURITY_AUTH;
}

/* Check whether the state has been KRDMA_ESTABLISHED. */
static inline bool krdma_conn_was_established(const struct krdma_conn *conn)
{
	return READ_ONCE(conn->life.reach) != KRDMA_REACH_NONE;
}

/*
 * Check whether the owner releases the connection. In this case no work item
 * takes the connection down, and no callback is called.
 */
static inline bool krdma_conn_is_released_locked(const struct krdma_conn *conn)
{
	lockdep_assert_held(&conn->lock);
	return conn->life.owner == KRDMA_OWNER_RELEASES ||
	       conn->life.owner == KRDMA_OWNER_DROPS;
}

static inline bool krdma_conn_is_over(const struct krdma_conn *conn)
{
	return krdma_get_state(&conn->cb) >= KRDMA_CLOSING;
}

/* Check whether no work request of the connection completes any more. */
static inline bool krdma_conn_is_silent(const struct krdma_conn *conn)
{
	return krdma_get_state(&conn->cb) == KRDMA_CLOSED ||
	       (krdma_conn_is_over(conn) && READ_ONCE(conn->hw.drained));
}

/*
 * Wake waiting tasks. Called for every message, so take the wait queue's lock
 * only if a task waits.
 */
static inline void krdma_conn_wake(struct krdma_conn *conn)
{
	if (wq_has_sleeper(&conn->wait))
		wake_up_all(&conn->wait);
}

/**
 * struct krdma_noio - state saved by krdma_noio_enter()
 * @on: krdma_noio_enter() has changed the flags of the task
 * @flags: argument of memalloc_noio_restore()
 */
struct krdma_noio {
	bool on;
	unsigned int flags;
};

/* Make allocations GFP_NOIO until krdma_noio_leave() if @p has KRDMA_NOIO. */
static inline struct krdma_noio krdma_noio_enter(const struct krdma_params *p)
{
	struct krdma_noio noio = { .on = p->flags & KRDMA_NOIO };

	if (noio.on)
		noio.flags = memalloc_noio_save();
	return noio;
}

/*
 * Make allocations GFP_NOIO in work on krdma_wq, krdma_peer_wq and
 * krdma_connect_wq, for all connections. When memory is short, a queue has a
 * single worker, its rescuer. Work of a connection with KRDMA_NOIO may be
 * queued behind this work, so the rescuer must not wait for I/O here.
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

/*
 * Check whether the caller is a work item of @conn on a queue that connections
 * share.
 */
static inline bool krdma_noio_is_work(const struct krdma_conn *conn)
{
	const struct work_struct *work = current_work();

	return work && (work == &conn->work.close.work ||
			work == &conn->work.pull ||
			work == &conn->work.step.work ||
			work == &conn->work.timer.work);
}

/*
 * Warn if an allocation by the caller could start I/O although the caller must
 * not. It should have called krdma_noio_enter() or krdma_noio_enter_work().
 */
static inline void krdma_noio_check(const struct krdma_conn *conn)
{
	if (!in_task() || current->flags & PF_MEMALLOC_NOIO)
		return;
	WARN_ON_ONCE(conn->p.flags & KRDMA_NOIO || krdma_noio_is_work(conn));
}

/* Check whether the peer accepts KRDMA_WRITE_IMM, as its hello advertises. */
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

/* auth.c */
u32 krdma_auth_key_id(const struct krdma_auth *auth);

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

#endif /* KRDMA_PRIV_H */
