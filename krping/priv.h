/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of krping share.
 *
 * Lock order: krping_runs_lock > krping_run.lock > krping_session.lock, and
 * krping_run.pools_lock > krping_pool.lock > krping_session.lock. Callbacks
 * of krdma run under locks of krdma's and take the last two: so neither is held
 * where krdma may wait.
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
 * Receives that are always posted. The protocol has one message in flight for
 * each direction; but an old peer makes us answer "not ready" not even once,
 * so there must be one before the last is taken care of.
 */
#define KRPING_RECVS 4

/**
 * enum krping_counter - columns of the statistics, two each, in their order
 * @KRPING_SEND: messages sent
 * @KRPING_RECV: messages received
 * @KRPING_WRITE: RDMA WRITEs done
 * @KRPING_READ: RDMA READs done
 * @KRPING_COUNTERS: how many there are
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

/* What a session waits for: each bit is one completion. */
#define KRPING_EV_SENT		BIT(0) /* the message is with the peer */
#define KRPING_EV_RECEIVED	BIT(1) /* a message is in the inbox */
#define KRPING_EV_MOVED		BIT(2) /* the READ or WRITE is done */
#define KRPING_EV_INVALIDATED	BIT(3) /* the peer's key is dead */
#define KRPING_EV_PROBED	BIT(4) /* the peer's adapter is alive */

/* Send queue slots besides those of txdepth: what a ping and a probe need. */
#define KRPING_EXTRA_SENDS 8

/**
 * struct krping_op - a work request in flight; one of its kind at a time
 * @cqe: its completion
 * @session: whose it is
 * @name: for the log
 * @event: what its completion means, 0: nothing, it only can fail
 * @counter: statistics to add to, KRPING_COUNTERS: none
 * @bytes: to add
 */
struct krping_op {
	struct ib_cqe cqe;
	struct krping_session *session;
	const char *name;
	u32 event;
	enum krping_counter counter;
	u32 bytes;
};

struct krping_pool;

/**
 * struct krping_msg - memory for one message
 * @cqe: receives only
 * @session: owner, unless @pool is
 * @pool: owner of a receive that several connections share, or NULL
 * @wire: the message, or data; in memory of its own: the adapter writes there
 * @dma: its address, mapped as long as @wire exists
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
 * @link: in krping_run.pools; krping_run.pools_lock protects all but @sessions
 * @pd: protection domain of @srq and of the connections
 * @srq: shared receive queue
 * @len: bytes of a receive
 * @users: connections between get_srq and put_srq
 * @nsessions: number of @sessions
 * @lock: protects @sessions. Taken in any context, before krping_session.lock
 * @sessions: sessions that take messages, by krping_session.pool_link
 * @n: number of receives in @msgs; all of them are posted or being handled
 * @max: number that @srq holds
 * @msgs: receives
 */
struct krping_pool {
	struct list_head link;
	struct ib_pd *pd;
	struct ib_srq *srq;
	u32 len;
	unsigned int users;
	u32 nsessions;
	spinlock_t lock; /* sessions */
	struct list_head sessions;
	u32 n;
	u32 max;
	struct krping_msg msgs[];
};

/**
 * struct krping_mail - a message that has come
 * @adv: what it says
 * @has_inv: it has made a key of ours invalid
 * @inv_rkey: that
 */
struct krping_mail {
	struct krping_adv adv;
	bool has_inv;
	u32 inv_rkey;
};

/**
 * struct krping_buf - memory for the data of a test
 * @addr: whole pages; for the CPU only while it is not mapped
 * @size: bytes
 * @sgl: the pages
 * @npages: how many
 * @ibdev: device
 * @mr: its registration, with a new key for each time that it is mapped
 * @dma: where the adapter finds it while it is mapped
 * @nents: mapped entries of @sgl, 0: mapped as a whole, without @mr
 * @dir: as it is mapped
 * @mapped: for the adapter, between krping_buf_map() and krping_buf_unmap()
 * @valid: a REG_MR was posted, and no LOCAL_INV
 * @dying: a LOCAL_INV was posted, and not waited for
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
 * struct krping_stream - work requests of one kind, of which many may be in flight
 * @cqe: completion of each of them
 * @session: whose they are
 * @opcode: what they do
 * @counter: statistics to add to
 * @len: bytes of each
 * @depth: most in flight
 * @mod: so many have one completion
 * @total: how many there are to be, 0: nobody knows
 * @posted: so many were posted; the task's
 * @done: so many are complete; krping_session.lock
 * @wanted: the task waits for so many; krping_session.lock
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

/* Sizes of a sweep: each twice the one before, and the last one. */
#define KRPING_PARTS_MAX 18

/**
 * struct krping_part - what was measured with one size
 * @size: bytes of an operation
 * @ops: how many were done
 * @elapsed: ns for all of them
 * @hist: how long each took, if that was measured; of pings with registering
 *	and invalidating
 */
struct krping_part {
	u32 size;
	u64 ops;
	u64 elapsed;
	struct krping_hist hist;
};

/**
 * struct krping_run - what became of a command
 * @ref: the list holds one, each open file whose last command it is holds one,
 *	each session, a task in the middle of something, and @work while it is
 *	queued
 * @link: in krping_runs of run.c
 * @id: its number
 * @opts: the command; constant, as are @id, @net and @turns
 * @net: network namespace, a reference
 * @turns: of each of opts.threads whether it works, see thread.c; or NULL
 * @domain: of krdma, for connections that share receives, or NULL
 * @pools_lock: protects @pools; krdma's own locks may be held where it is taken,
 *	so krdma is not called under it
 * @pools: shared receives, by krping_pool.link
 * @work: a run in the background
 * @task: thread of a run that its writer waits for, a reference; or NULL
 * @timer: ends it when its time is over
 * @wait: woken when @nsessions or @over change
 * @dir: in debugfs
 *
 * @lock: protects the rest, and krping_session.cb of its sessions
 * @sessions: connections, by krping_session.link
 * @nsessions: how many
 * @listener: server: where clients come in
 * @stop: why it is to end, set once; 0: it is not
 * @over: it has ended
 * @error: the result: 0 or why
 * @clients: connections that there were
 * @failed: those that did not end well
 * @devname: RDMA device of the last connection, "" before the first
 * @counts: statistics of connections that are over
 * @parts: what these have measured
 * @nparts: how many there are to be
 * @begin_ns: when it began
 * @samples: times of single operations, of opts.samples; see krping_run_sample()
 * @nsamples: number of operations that were to be noted there, which may be more
 * @listen: server: address that it listens on, sa_family AF_UNSPEC: not yet
 */
struct krping_run {
	struct kref ref;
	struct list_head link;
	unsigned int id;
	struct krping_opts opts;
	struct net *net;
	struct semaphore *turns;
	struct krdma_domain *domain;
	struct mutex pools_lock; /* pools */
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
 * struct krping_session - one connection of a run
 * @run: whose it is
 * @link: in its list
 * @work: runs it, unless the task that runs the command does
 * @number: how many the run had before
 * @turn: one of the run's, or NULL
 * @has_turn: it is this session that works
 * @id: number of the run, for the log
 * @opts: of the run
 * @cb: connection; krping_run.lock, but its own task may look without
 * @ibdev: its device, valid while @live
 * @ext: both sides are new, and have said hello
 * @crc: checksums are exchanged
 * @idle_client: the client will never say anything
 * @live: the members from @recvs on exist
 * @depth: most READs or WRITEs in flight
 * @direct: nobody but the task looks for completions
 * @pool: receives that it shares with others, between get_srq and put_srq, or NULL
 * @pool_link: in krping_pool.sessions
 * @qp: QP by which @pool finds it, while it is in the pool, or NULL
 * @step: what it is about, for the log; NULL: nothing yet, or the log has it
 * @idle: looks now and then whether a wait has taken too long
 *
 * @lock: protects from here to @counts. Taken in any context
 * @wait: woken when something changes that the task waits for
 * @error: why the session ends, set once. No work request is posted from a
 *	completion afterwards
 * @events: what has completed and was not waited for yet
 * @inbox: the message, if KRPING_EV_RECEIVED
 * @streaming: what comes now is data, unless it is a message of size 0
 * @arrived: messages and WRITEs of the peer's stream that have come
 * @arrived_wanted: the task waits for so many
 * @credit: so many of our own the peer takes
 * @deadline: when the wait of krping_wait_ready() takes too long, in jiffies
 * @late: it does
 * @counts: statistics
 *
 * @peer: the message that was last waited for
 * @remote: where READs and WRITEs of a stream go
 * @parts: what it measures, one for each size
 * @part: the present one
 * @ops: operations, all that were done
 * @goal: stop when @ops is that
 * @until: or, with a duration, then; in jiffies
 * @count: how many of each size there are to be; server: as far as it knows
 * @duration_s: likewise
 * @warmup: operations of each size before those that are measured; likewise
 * @warming: the present operations are those
 * @size: bytes of the largest ones; likewise
 * @len: bytes of the present ones
 * @window: messages of a stream that may be on their way to the server
 * @recvs: memory for receives, unless @pool has them
 * @nrecvs: number of receives, own ones or those that it brings to @pool
 * @recv_len: bytes of each
 * @send: memory for the one message on its way to the peer
 * @sent: the SEND
 * @moved: the READ or WRITE
 * @invalidated: the LOCAL_INV
 * @registered: the REG_MR
 * @nudged: see krping_wait_first()
 * @probed: see krping_wait_peer()
 * @stream: those of tests that do more of them
 * @stream_posted: those of streams that are over
 * @start: what the peer READs, or WRITEs to
 * @sink: ping client: where data come back; server: where they are in between;
 *	other tests: where they come from or go to
 *
 * It belongs to the task that runs it, which frees it after the connection is
 * drained and released: then neither completions nor the closing callback can
 * run any more. Others find it in the run's list, under the run's lock: they read
 * statistics and make it fail.
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
	struct krdma_cb *cb;
	struct ib_device *ibdev;
	bool ext;
	bool crc;
	bool idle_client;
	bool live;
	u32 depth;
	bool direct;
	struct krping_pool *pool;
	struct list_head pool_link;
	struct ib_qp *qp;
	const char *step;
	struct delayed_work idle;

	spinlock_t lock; /* what follows, up to counts */
	wait_queue_head_t wait;
	int error;
	u32 events;
	struct krping_mail inbox;
	bool streaming;
	u64 arrived;
	u64 arrived_wanted;
	u64 credit;
	unsigned long deadline;
	bool late;
	struct krping_count counts[KRPING_COUNTERS];

	struct krping_mail peer;
	struct krping_adv remote;
	struct krping_part *parts;
	struct krping_part *part;
	u64 ops;
	u64 goal;
	unsigned long until;
	u32 count;
	u32 duration_s;
	u32 warmup;
	bool warming;
	u32 size;
	u32 len;
	u32 window;
	struct krping_msg *recvs;
	u32 nrecvs;
	u32 recv_len;
	struct krping_msg send;
	struct krping_op sent;
	struct krping_op moved;
	struct krping_op invalidated;
	struct krping_op registered;
	struct krping_op nudged;
	struct krping_op probed;
	struct krping_stream stream;
	u64 stream_posted;
	struct krping_buf start;
	struct krping_buf sink;
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

/* io.c */
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

/* hello.c */
void krping_hello_fill(const struct krping_session *s,
		       struct krping_wire_hello *wire);
int krping_hello_take(struct krping_session *s);
int krping_hello_answer(struct krping_session *s,
			struct krping_wire_hello *wire);
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

/* fault.c */
int krping_fault(struct krping_session *s);

/* pingpong.c */
int krping_pingpong_client(struct krping_session *s);
int krping_pingpong_server(struct krping_session *s);

/* bench.c */
int krping_bench_client(struct krping_session *s);
int krping_bench_server(struct krping_session *s);

/* fr.c */
int krping_fr(struct krping_session *s);

#endif /* KRPING_PRIV_H */
