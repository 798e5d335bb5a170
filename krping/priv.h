/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Declarations that the files of krping share.
 *
 * Lock order, outer lock first: krping_file.lock > krping_runs_lock >
 * krping_run.lock > krping_session.lock, and
 * krping_run.pools_lock > krping_pool.lock > krping_session.lock.
 *
 * krdma may hold its own locks when it calls krping's callbacks. These
 * callbacks take krping_run.lock, krping_run.pools_lock and the locks that
 * follow them above. A function of krdma may wait for such a callback. So
 * krping holds none of its locks while it calls a function of krdma that may
 * wait.
 */
#ifndef KRPING_PRIV_H
#define KRPING_PRIV_H

#include <linux/bits.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

#include <krdma.h>

#include "hist.h"
#include "opts.h"
#include "wire.h"

struct dentry;
struct semaphore;
struct seq_file;

/*
 * Number of receives that are always posted. At most one message is in flight
 * in each direction, but the next receive must be posted before a message is
 * handled, because the peer may then send its next message. An old peer sets
 * rnr_retry_count to 0, so a single RNR NAK would end the connection.
 */
#define KRPING_RECVS 4

/**
 * enum krping_counter - statistics, in the order of their columns in /proc
 * @KRPING_SEND: messages sent
 * @KRPING_RECV: messages received
 * @KRPING_WRITE: RDMA WRITEs completed
 * @KRPING_READ: RDMA READs completed
 * @KRPING_COUNTERS: number of counters
 *
 * Each counter has two columns: bytes and operations.
 */
enum krping_counter {
	KRPING_SEND,
	KRPING_RECV,
	KRPING_WRITE,
	KRPING_READ,
	KRPING_COUNTERS,
};

struct krping_count {
	u64 bytes;
	u64 msgs;
};

/*
 * Bits of krping_session.events. Each bit stands for a completion:
 *  - KRPING_EV_SENT: the peer's adapter has acknowledged the SEND
 *  - KRPING_EV_RECEIVED: a message from the peer is in krping_session.inbox
 *  - KRPING_EV_MOVED: the READ or WRITE is complete
 *  - KRPING_EV_INVALIDATED: the LOCAL_INV is complete
 *  - KRPING_EV_PROBED: the peer's adapter has answered a probe
 */
#define KRPING_EV_SENT		BIT(0)
#define KRPING_EV_RECEIVED	BIT(1)
#define KRPING_EV_MOVED		BIT(2)
#define KRPING_EV_INVALIDATED	BIT(3)
#define KRPING_EV_PROBED	BIT(4)

/* Number of send queue slots for pings and probes, in addition to txdepth. */
#define KRPING_EXTRA_SENDS 8

/**
 * struct krping_op - a kind of work request that is posted one at a time
 * @cqe: completion handler
 * @session: session that posts the work request
 * @name: name of the work request in the log
 * @event: KRPING_EV_* to set when the work request completes; 0 sets none
 * @counter: statistics to add to when it completes; KRPING_COUNTERS adds to
 *	none
 * @bytes: number of bytes to add to @counter
 */
struct krping_op {
	struct ib_cqe cqe;
	struct krping_session *session;
	const char *name;
	u32 event;
	enum krping_counter counter;
	u32 bytes;
};

struct krping_message;
struct krping_pool;

/**
 * struct krping_msg - memory for one message
 * @cqe: completion handler of a receive
 * @session: session that owns this receive; NULL for a SEND, or if @pool is set
 * @pool: pool that owns this receive, if several connections share it; or NULL
 * @wire: message, or data of a stream; allocated on its own because the adapter
 *	writes to this memory
 * @dma: DMA address of @wire, mapped while @wire exists
 */
struct krping_msg {
	struct ib_cqe cqe;
	struct krping_session *session;
	struct krping_pool *pool;
	struct krping_wire *wire;
	u64 dma;
};

/**
 * struct krping_pool - receives that connections of a run share, see pool.c
 * @link: entry in krping_run.pools; krping_run.pools_lock protects all members
 *	except @sessions
 * @pd: protection domain of @srq and of the connections
 * @srq: shared receive queue
 * @len: length of a receive in bytes
 * @users: number of connections that use @srq, from get_srq to put_srq
 * @nsessions: number of entries of @sessions
 * @lock: protects @sessions. Taken in any context, before krping_session.lock
 * @sessions: list of the sessions that take messages from @srq, linked by
 *	krping_recv.link
 * @n: number of receives in @msgs; each of them is posted or being handled
 * @max: maximum number of receives in @srq
 * @msgs: receives
 */
struct krping_pool {
	struct list_head link;
	struct ib_pd *pd;
	struct ib_srq *srq;
	u32 len;
	unsigned int users;
	u32 nsessions;
	spinlock_t lock; /* protects krping_pool.sessions */
	struct list_head sessions;
	u32 n;
	u32 max;
	struct krping_msg msgs[];
};

/**
 * struct krping_mail - received message
 * @adv: content
 * @has_inv: the message has invalidated a key of this side
 * @inv_rkey: the invalidated key, if @has_inv
 */
struct krping_mail {
	struct krping_adv adv;
	bool has_inv;
	u32 inv_rkey;
};

/**
 * struct krping_buf - memory for the data of a test
 * @addr: address of the data, in whole pages; see buf.c for when the CPU may
 *	access them
 * @size: length in bytes
 * @sgl: the pages
 * @npages: number of pages
 * @ibdev: device
 * @mr: memory region, with a new key each time the buffer is mapped
 * @dma: address for the adapter while the buffer is mapped
 * @nents: number of mapped entries of @sgl; 0 if the buffer is mapped in one
 *	piece, without @mr
 * @dir: direction of the mapping
 * @mapped: the buffer is mapped for the adapter: set by krping_buf_map() and
 *	krping_buf_map_local(), cleared by krping_buf_unmap()
 * @valid: the key of @mr is valid: a REG_MR was posted, and the key was not
 *	invalidated since
 * @dying: a LOCAL_INV was posted, and the task has not waited for its
 *	completion yet
 */
struct krping_buf {
	void *addr;
	u32 size;
	struct scatterlist *sgl;
	unsigned int npages;
	struct ib_device *ibdev;
	struct ib_mr *mr;
	u64 dma;
	int nents;
	enum dma_data_direction dir;
	bool mapped;
	bool valid;
	bool dying;
};

/**
 * struct krping_stream - work requests of one kind, many of them in flight
 * @cqe: completion handler of all these work requests
 * @session: session that posts the work requests
 * @opcode: operation
 * @counter: statistics to add to; KRPING_COUNTERS adds to none
 * @len: length of an operation in bytes
 * @depth: maximum number of work requests in flight
 * @mod: one of every @mod work requests is signaled
 * @total: number of work requests to post; 0 if the number is unknown
 * @posted: number of posted work requests; only the session's task accesses it
 * @done: number of completed work requests; written under krping_session.lock
 * @wanted: value of @done that the task waits for; protected by
 *	krping_session.lock
 */
struct krping_stream {
	struct ib_cqe cqe;
	struct krping_session *session;
	enum ib_wr_opcode opcode;
	enum krping_counter counter;
	u32 len;
	u32 depth;
	u32 mod;
	u64 total;
	u64 posted;
	u64 done;
	u64 wanted;
};

/**
 * struct krping_part - results for one size
 * @size: length of an operation in bytes; 0 if this size was not tested
 * @ops: number of operations
 * @elapsed: duration of all operations together, in ns
 * @hist: times of single operations; empty if the test does not measure them.
 *	The time of a ping includes registering and invalidating
 */
struct krping_part {
	u32 size;
	u64 ops;
	u64 elapsed;
	struct krping_hist hist;
};

/**
 * struct krping_run - execution of a command
 * @ref: reference count. References are held by the list krping_runs, each
 *	session, each krping_file.run, the thread or @work until it returns, and
 *	each other caller of krping_run_get()
 * @link: entry in the list krping_runs of run.c
 * @id: number of the run
 * @opts: options of the command; constant, as are @id and @turns
 * @net: network namespace, with a reference until the run ends
 * @turns: opts.threads semaphores, one for each team of sessions (see
 *	thread.c). A session holds the semaphore of its team while it works.
 *	NULL: no teams
 * @domain: krdma's domain of connections that share receives, or NULL
 * @keys: keys of a test of messages with a level of security, or NULL
 * @pools_lock: protects @pools. Callbacks take this mutex while krdma holds its
 *	own locks, so its holder must not call krdma
 * @pools: list of shared receives, linked by krping_pool.link
 * @work: work item of a run in the background
 * @task: thread of a run whose writer waits for it, with a reference; or NULL
 * @timer: stops the run after opts.timeout_ms
 * @wait: wait queue that is woken when @nsessions or @over changes
 * @dir: directory of the run in debugfs
 *
 * @lock: protects the members below, and krping_conn.cb of the sessions
 * @sessions: list of the active connections, linked by krping_session.link
 * @nsessions: number of entries of @sessions
 * @listener: server: listening connection, or NULL
 * @stop: error that ends the run, set once; 0 until the run is stopped
 * @over: the run has ended
 * @error: result of the run: 0 or -errno
 * @clients: number of connections so far
 * @failed: number of connections that failed
 * @devname: RDMA device of the last connection, "" before the first
 * @counts: statistics of closed connections
 * @parts: results of closed connections, one for each size
 * @nparts: number of sizes
 * @begin_ns: start time in ns
 * @samples: times of single operations, opts.samples entries, or NULL; see
 *	krping_run_sample()
 * @nsamples: index of the next free entry of @samples; may exceed opts.samples
 *	if several sessions take the last entry at once
 * @listen: server: address that it listens on; AF_UNSPEC if it does not listen
 *	yet
 */
struct krping_run {
	struct kref ref;
	struct list_head link;
	unsigned int id;
	struct krping_opts opts;
	struct net *net;
	struct semaphore *turns;
	struct krdma_domain *domain;
	struct krdma_keys *keys;
	struct mutex pools_lock; /* protects krping_run.pools */
	struct list_head pools;
	struct work_struct work;
	struct task_struct *task;
	struct delayed_work timer;
	wait_queue_head_t wait;
	struct dentry *dir;

	struct mutex lock; /* see @lock above */
	struct list_head sessions;
	unsigned int nsessions;
	struct krdma_cb *listener;
	int stop;
	bool over;
	int error;
	u64 clients;
	u64 failed;
	char devname[IB_DEVICE_NAME_MAX];
	struct krping_count counts[KRPING_COUNTERS];
	struct krping_part *parts;
	unsigned int nparts;
	u64 begin_ns;
	u64 *samples;
	atomic_t nsamples;
	struct sockaddr_storage listen;
};

/**
 * struct krping_conn - connection of a session and its properties
 * @cb: connection. Only the session's task writes this pointer, under
 *	krping_run.lock. The task itself reads it without the lock
 * @ibdev: device of @cb, valid while @live is set
 * @ext: extended mode, see wire.h: both peers are new and have exchanged hellos
 * @crc: the sides exchange checksums
 * @idle_client: server: the client tests fr, and so never sends a message
 * @live: krping_io_init() has succeeded, and krping_io_exit() was not called
 *	yet
 * @depth: maximum number of READs or WRITEs in flight
 * @direct: the session's task polls for completions itself
 *
 * Owner: the session's task. Other tasks access @cb under krping_run.lock.
 */
struct krping_conn {
	struct krdma_cb *cb;
	struct ib_device *ibdev;
	bool ext;
	bool crc;
	bool idle_client;
	bool live;
	u32 depth;
	bool direct;
};

/**
 * struct krping_recv - receives of a session
 * @pool: shared receives of the connection, set from get_srq to put_srq; or
 *	NULL
 * @link: entry in krping_pool.sessions
 * @qp: QP by which @pool finds the session; NULL unless the session is in @pool
 * @msgs: memory for receives; NULL if @pool has the receives
 * @n: number of receives, in @msgs or contributed to @pool
 * @len: length of a receive in bytes
 *
 * Owner: the session's task. It changes @link and @qp under krping_pool.lock,
 * because completion handlers find the session by them.
 */
struct krping_recv {
	struct krping_pool *pool;
	struct list_head link;
	struct ib_qp *qp;
	struct krping_msg *msgs;
	u32 n;
	u32 len;
};

/**
 * struct krping_idle - time limit of the current wait of a session
 * @work: delayed work that checks whether the current wait has timed out
 * @deadline: time at which the wait of krping_wait_ready() times out, in
 *	jiffies
 * @late: @deadline has passed
 *
 * Lock: krping_session.lock, except for @work.
 */
struct krping_idle {
	struct delayed_work work;
	unsigned long deadline;
	bool late;
};

/**
 * struct krping_flow - operations of streams in both directions
 * @streaming: received messages are data of the test, except messages of size 0
 * @arrived: number of operations of the peer's stream that have been received
 * @wanted: value of @arrived that the task waits for
 * @credit: total number of operations of this side's stream that the peer has
 *	granted
 *
 * Lock: krping_session.lock.
 */
struct krping_flow {
	bool streaming;
	u64 arrived;
	u64 wanted;
	u64 credit;
};

/**
 * struct krping_plan - number and size of the operations of a test
 * @count: number of operations of each size. A server takes @count,
 *	@duration_s, @warmup and @size from the client's hello, or else from its
 *	own options
 * @duration_s: duration of each size in seconds; 0 if @count is the limit
 * @warmup: number of operations of each size before the measured ones
 * @size: length of the largest operation in bytes
 * @window: maximum number of messages of a stream in flight to the server
 *
 * Owner: the session's task.
 */
struct krping_plan {
	u32 count;
	u32 duration_s;
	u32 warmup;
	u32 size;
	u32 window;
};

/**
 * struct krping_progress - operations and results of a session so far
 * @parts: results, one for each size
 * @part: result for the current size
 * @ops: number of completed operations of all sizes
 * @goal: value of @ops at which the current size ends
 * @until: time at which the current size ends if krping_plan.duration_s is set,
 *	in jiffies
 * @warming: the current operations are those of krping_plan.warmup
 * @len: length of the current operations in bytes
 * @posted: number of work requests that completed streams have posted
 *
 * Owner: the session's task.
 */
struct krping_progress {
	struct krping_part *parts;
	struct krping_part *part;
	u64 ops;
	u64 goal;
	unsigned long until;
	bool warming;
	u32 len;
	u64 posted;
};

/**
 * struct krping_wr - work requests of a session that are posted one at a time
 * @send: memory for the message to the peer; one is in flight at a time
 * @sent: work request that SENDs a message
 * @moved: work request that READs or WRITEs
 * @invalidated: LOCAL_INV work request
 * @registered: REG_MR work request
 * @nudged: WRITE of no bytes that krping_wait_first() posts
 * @probed: WRITE of no bytes that krping_probe() posts
 *
 * Owner: the session's task. Completion handlers only read the members.
 */
struct krping_wr {
	struct krping_msg send;
	struct krping_op sent;
	struct krping_op moved;
	struct krping_op invalidated;
	struct krping_op registered;
	struct krping_op nudged;
	struct krping_op probed;
};

/**
 * struct krping_session - one connection of a run
 * @run: run that the session belongs to
 * @link: entry in krping_run.sessions
 * @work: work item that runs the session; unused if the run's own task runs it
 * @number: number of connections that the run had before this one
 * @turn: semaphore of the session's team in krping_run.turns, or NULL
 * @has_turn: the session holds @turn
 * @id: number of the run, for the log
 * @opts: options of the run
 * @conn: connection and its properties
 * @recv: receives
 * @step: name of the current wait, for the log; NULL before the first wait, and
 *	after the failure was logged
 * @idle: time limit of the current wait
 *
 * @lock: protects the members from here to @counts, and the members of other
 *	structs that name it. Taken in any context
 * @wait: woken when the condition that the task waits for may have changed
 * @error: error that ends the session, set once. Completion handlers post no
 *	work request after it is set
 * @events: KRPING_EV_* of completions that the task has not waited for yet
 * @inbox: received message, if KRPING_EV_RECEIVED is set in @events
 * @flow: operations of streams in both directions
 * @counts: statistics
 *
 * @peer: last message of the peer that the task has waited for
 * @remote: peer's buffer, for the READs and WRITEs of a stream
 * @plan: number and size of the operations of the test
 * @progress: operations and results so far
 * @wr: work requests that are posted one at a time
 * @stream: work requests of tests that post more than one of a kind
 * @start: buffer that the peer READs from or WRITEs to
 * @sink: ping client: target of the server's WRITE; ping server: data between
 *	its READ and its WRITE; other tests: source or target of the operations
 *	that this side posts
 * @message: memory of a test of messages, see message.c; or NULL
 *
 * The session belongs to the task that runs it. The task frees the session
 * after the connection is drained and released, when neither a completion
 * handler nor the closing callback can run. Other tasks find the session in the
 * run's list, under the run's lock. They only read statistics and make the
 * session fail.
 */
struct krping_session {
	struct krping_run *run;
	struct list_head link;
	struct work_struct work;
	u64 number;
	struct semaphore *turn;
	bool has_turn;
	unsigned int id;
	const struct krping_opts *opts;
	struct krping_conn conn;
	struct krping_recv recv;
	const char *step;
	struct krping_idle idle;

	spinlock_t lock; /* protects krping_session.wait to .counts */
	wait_queue_head_t wait;
	int error;
	u32 events;
	struct krping_mail inbox;
	struct krping_flow flow;
	struct krping_count counts[KRPING_COUNTERS];

	struct krping_mail peer;
	struct krping_adv remote;
	struct krping_plan plan;
	struct krping_progress progress;
	struct krping_wr wr;
	struct krping_stream stream;
	struct krping_buf start;
	struct krping_buf sink;
	struct krping_message *message;
};

/* main.c */
extern struct workqueue_struct *krping_run_wq;

/* run.c */
struct krping_run *krping_run_create(const struct krping_opts *opts, int *error);
void krping_run_get(struct krping_run *run);
void krping_run_put(struct krping_run *run);
int krping_run_start(struct krping_run *run);
void krping_run_stop(struct krping_run *run, int error);
int krping_run_wait(struct krping_run *run);
void krping_run_finish(struct krping_run *run, int error);
void krping_run_reap(struct krping_run *run);
struct krping_run *krping_runs_get(u32 id);
void krping_run_sample(struct krping_run *run, u32 size, u64 ns);
void krping_runs_show(struct seq_file *m,
		      void (*show)(struct seq_file *m, struct krping_run *run));
void krping_runs_exit(void);
bool krping_run_add(struct krping_run *run, struct krping_session *s);
void krping_run_wait_sessions(struct krping_run *run);
void krping_run_session_over(struct krping_session *s, int error);

/* client.c */
int krping_client_begin(struct krping_run *run);
void krping_client_go(struct krping_run *run);

/* server.c */
int krping_server_begin(struct krping_run *run);
int krping_server_go(struct krping_run *run);

/* thread.c */
int krping_threads_init(void);
void krping_threads_exit(void);
int krping_threads_alloc(struct krping_run *run);
void krping_threads_free(struct krping_run *run);
void krping_thread_join(struct krping_session *s);
void krping_thread_start(struct krping_session *s, work_func_t work);
int krping_turn_take(struct krping_session *s);
void krping_turn_give(struct krping_session *s);
int krping_turn_pass(struct krping_session *s);

/* report.c */
void krping_report_counts(struct seq_file *m, struct krping_run *run);
void krping_report_line(struct seq_file *m, struct krping_run *run);
int krping_report_judge(struct krping_run *run);
void krping_report_publish(struct krping_run *run);
void krping_report_withdraw(struct krping_run *run);
void krping_report_init(void);
void krping_report_exit(void);

/* session.c */
struct krping_session *krping_session_alloc(struct krping_run *run);
void krping_session_free(struct krping_session *s);
int krping_session_set_cb(struct krping_session *s, struct krdma_cb *cb);
void krping_session_params(const struct krping_run *run,
			   struct krdma_params *params);
int krping_session_parse(const struct krping_run *run, const char *text,
			 u32 port, struct sockaddr_storage *addr);
int krping_session_dial(struct krping_session *s);
int krping_session_accept(struct krping_session *s);
int krping_session_finish(struct krping_session *s, int ret);
int krping_session_test(struct krping_session *s);

/* device.c */
int krping_device_addr(const char *name, const struct net *net,
		       const struct sockaddr_storage *dst,
		       struct sockaddr_storage *src);
int krping_device_init(void);
void krping_device_exit(void);

/* sizes.c */
unsigned int krping_sizes_count(u32 from, u32 size);
bool krping_more(const struct krping_session *s);
bool krping_is_timed(const struct krping_session *s);
void krping_measured(struct krping_session *s, u64 ns);
int krping_each_size(struct krping_session *s,
		     int (*test)(struct krping_session *s));

/* completion.c */
int krping_io_init(struct krping_session *s);
void krping_io_exit(struct krping_session *s);
bool krping_recv_take(struct krping_session *s, struct krping_msg *msg,
		      const struct ib_wc *wc);
int krping_msg_alloc(struct krping_msg *msg, struct ib_device *ibdev, u32 len,
		     enum dma_data_direction dir);
void krping_msg_free(struct krping_msg *msg, struct ib_device *ibdev, u32 len,
		     enum dma_data_direction dir);
void krping_fail(struct krping_session *s, int error);
void krping_failed(struct krping_session *s, const struct ib_wc *wc,
		   const char *name);
void krping_count_locked(struct krping_session *s, enum krping_counter counter,
			 u64 msgs, u32 bytes);
int krping_wait_until(struct krping_session *s,
		      bool (*ready)(struct krping_session *s, const void *arg,
				    int *ret),
		      const void *arg, u32 ms);
int krping_wait_ready(struct krping_session *s,
		      bool (*ready)(struct krping_session *s, const void *arg,
				    int *ret),
		      const void *arg);
void krping_idle_init(struct krping_session *s);
void krping_idle_start(struct krping_session *s);
void krping_idle_stop(struct krping_session *s);
int krping_pause(struct krping_session *s, u32 ms);
int krping_pause_until_over(struct krping_session *s);
int krping_wait(struct krping_session *s, u32 events, const char *step);
int krping_wait_first(struct krping_session *s, u32 events, const char *step);
int krping_probe(struct krping_session *s);
int krping_wait_peer(struct krping_session *s, const char *step);
int krping_wait_over(struct krping_session *s, const char *step);

/* pool.c */
u32 krping_pool_conns(const struct krping_opts *opts);
u32 krping_pool_share(const struct krping_opts *opts);
struct ib_srq *krping_pool_get_srq(struct krdma_cb *cb);
void krping_pool_put_srq(struct krdma_cb *cb, struct ib_srq *srq);
int krping_pool_post(struct krping_msg *msg);
int krping_pool_join(struct krping_session *s);
void krping_pool_leave(struct krping_session *s);

/* handshake.c */
u8 krping_hello_fill(const struct krping_session *s,
		     union krping_wire_any_hello *wire);
int krping_hello_take(struct krping_session *s);
int krping_hello_answer(struct krping_session *s,
			union krping_wire_any_hello *wire, u8 *len);
bool krping_hello_refused(struct krping_session *s, const void *data, u32 len);
int krping_say_ctl(struct krping_session *s, const struct krping_ctl *ctl,
		   struct krping_buf *old);
int krping_end_client(struct krping_session *s, int error, u32 crc,
		      u32 *peer_crc);
int krping_end_server(struct krping_session *s, int error, u32 crc);
int krping_take_end(struct krping_session *s, u32 *crc);
u32 krping_crc(const struct krping_buf *buf, u32 len);

/* wr.c */
void krping_ops_init(struct krping_session *s);
int krping_post(struct krping_session *s, const struct ib_send_wr *wr);
int krping_say(struct krping_session *s, const struct krping_adv *adv,
	       struct krping_buf *old, struct krping_buf *new, int access);
int krping_move(struct krping_session *s, enum ib_wr_opcode opcode,
		struct krping_buf *buf, int access, u32 len);
int krping_invalidate(struct krping_session *s, struct krping_buf *buf);
int krping_register(struct krping_session *s, struct krping_buf *buf,
		    int access);
int krping_touch(struct krping_session *s, struct krping_op *op);
u32 krping_dying(const struct krping_buf *buf);

/* buf.c */
u32 krping_buf_entries(const struct krping_buf *buf, const struct ib_pd *pd);
int krping_buf_alloc(struct krping_buf *buf, struct ib_pd *pd, u32 size);
void krping_buf_free(struct krping_buf *buf);
int krping_buf_map(struct krping_buf *buf, enum dma_data_direction dir);
int krping_buf_map_local(struct krping_buf *buf, enum dma_data_direction dir);
void krping_buf_unmap(struct krping_buf *buf);
void krping_buf_for_cpu(struct krping_buf *buf);
void krping_buf_for_device(struct krping_buf *buf);
u8 krping_buf_peek(struct krping_buf *buf, u32 offset);

/* stream.c */
void krping_stream_init(struct krping_session *s, enum ib_wr_opcode opcode,
			u32 depth, u32 mod);
int krping_stream_make_room(struct krping_session *s, const char *step);
int krping_stream_post(struct krping_session *s);
int krping_stream_wait(struct krping_session *s, u64 done, const char *step);
int krping_stream_run(struct krping_session *s, const char *step);
int krping_stream_one(struct krping_session *s, const char *step);

/* inject.c */
int krping_fault(struct krping_session *s);

/* pingpong.c */
int krping_pingpong_client(struct krping_session *s);
int krping_pingpong_server(struct krping_session *s);

/* bench.c */
int krping_bench_client(struct krping_session *s);
int krping_bench_server(struct krping_session *s);
void krping_bench_log(const struct krping_session *s);

/* message.c */
void krping_message_params(const struct krping_run *run,
			   struct krdma_params *params);
int krping_message_test(struct krping_session *s, const struct krdma_caps *caps);

/* fastreg.c */
int krping_fr(struct krping_session *s);

#endif /* KRPING_PRIV_H */
