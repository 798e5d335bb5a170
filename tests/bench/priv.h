/* SPDX-License-Identifier: GPL-2.0 */
/*
 * krdma_bench - krdma beside verbs written by hand
 *
 * A test does the same thing by several variants: a few ways of using verbs
 * (raw.c, which knows nothing of krdma) and krdma itself (ours.c). It goes in
 * rounds, and in each round every variant has its turn, so that whatever else
 * the machine does meets all of them. This module only measures: what becomes
 * of the numbers is up to tools/bench.
 *
 * A command is a line written to /proc/krdma_bench; what it says is read from
 * the same descriptor:
 *
 *	serve PORT
 *		be the peer of all tests, on KBENCH_PORTS ports from PORT on
 *	stop
 *		end that
 *	TEST VARIANT[,VARIANT]... HOST PORT [NAME=NUMBER]...
 *		measure; tests, variants and names are in measure.c
 *
 * Commands run one after the other, in the writing task: killing it ends them.
 */
#ifndef KRDMA_BENCH_PRIV_H
#define KRDMA_BENCH_PRIV_H

#include <linux/completion.h>
#include <linux/jiffies.h>
#include <linux/sizes.h>
#include <linux/socket.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

/* Work requests in flight, in each direction: krdma's default, too. */
#define KBENCH_DEPTH 64
/* Receive buffers of the raw variants: krdma's default, too. */
#define KBENCH_BUF_SIZE 4096
/* Longest message; krdma's header must fit into the buffer besides. */
#define KBENCH_MSG_MAX 4000
/* Memory that WRITEs go to, and that they come from. One MR, on siw as well. */
#define KBENCH_SPAN SZ_1M
/* No step takes so long, unless it is broken. */
#define KBENCH_TIMEOUT_MS 10000

/* What listens on which port, counted from that of "serve". */
enum kbench_port {
	KBENCH_PORT_RAW_IDLE,	/* raw.c, does nothing with connections */
	KBENCH_PORT_RAW,	/* raw.c, shows memory and echoes messages */
	KBENCH_PORT_OURS_IDLE,	/* krdma, does nothing with connections */
	KBENCH_PORT_OURS,	/* krdma, shows memory and echoes messages */
	KBENCH_PORT_STALL,	/* never answers a request */
	KBENCH_PORTS,
};

struct kbench_conn;
struct kbench_job;
struct kbench_variant;

/**
 * struct kbench_calls - what a variant can do
 * @connect: make a connection; with shown memory and all that WRITEs and
 *	messages need, or an idle one. Returns it or an ERR_PTR
 * @close: take it down
 * @write: WRITE so many bytes of memory that no adapter knows, and sleep until
 *	that is done
 * @echo: send so many bytes and sleep until they are back
 * @post: post a chain of WRITEs, whose end kbench_stream_done() is told.
 *	Context: process or softirq
 */
struct kbench_calls {
	struct kbench_conn *(*connect)(const struct kbench_job *job,
				       const struct kbench_variant *variant,
				       bool idle);
	void (*close)(struct kbench_conn *conn);
	int (*write)(struct kbench_conn *conn, u32 size);
	int (*echo)(struct kbench_conn *conn, u32 size);
	int (*post)(struct kbench_conn *conn, u32 slot);
};

/**
 * struct kbench_variant - a way to do it
 * @name: as commands call it
 * @calls: what does it
 * @poll: raw.c: who runs completion handlers
 * @bracket: raw.c: bottom halves are off around a post, see krdma_qp_post()
 */
struct kbench_variant {
	const char *name;
	const struct kbench_calls *calls;
	enum ib_poll_context poll;
	bool bracket;
};

/**
 * struct kbench_stream - WRITEs without a pause, chain by chain
 * @lock: protects the rest
 * @until: in jiffies; what is over before is posted again
 * @flying: chains that are not over
 * @chains: how many were over
 * @status: of the first that failed
 * @over: nothing flies any more
 */
struct kbench_stream {
	spinlock_t lock; /* see @lock above */
	unsigned long until;
	u32 flying;
	u64 chains;
	int status;
	struct completion over;
};

/**
 * struct kbench_conn - a connection of any variant
 * @calls: of the variant
 * @job: what it is for; constant; NULL for those that "serve" accepts
 * @stream: of the test "stream"
 */
struct kbench_conn {
	const struct kbench_calls *calls;
	const struct kbench_job *job;
	struct kbench_stream stream;
};

/**
 * struct kbench_job - a test to do
 * @net: network namespace of the writer
 * @dst: the peer's address, with the port of its "serve"
 * @size: bytes of an operation
 * @depth: operations in flight
 * @chain: how many of them are posted at a time; divides @depth
 * @n: connections
 * @rounds: how often each variant has its turn, apart from the warm-up
 * @ms: how long such a turn takes
 * @spin_us: ours.c: &krdma_params.spin_us
 * @buf: @size bytes that no adapter knows
 * @samples: room for times, in nanoseconds
 * @closes: likewise
 * @text: result, for the writer
 * @len: bytes of @text
 */
struct kbench_job {
	struct net *net;
	struct sockaddr_storage dst;
	u32 size;
	u32 depth;
	u32 chain;
	u32 n;
	u32 rounds;
	u32 ms;
	u32 spin_us;
	u8 *buf;
	u64 *samples;
	u64 *closes;
	char *text;
	size_t len;
};

/* Where in its memory an operation of a stream works. */
static inline u32 kbench_offset(const struct kbench_job *job, u32 slot, u32 i)
{
	return (slot * job->chain + i) % (KBENCH_SPAN / job->size) * job->size;
}

/* main.c */
extern struct workqueue_struct *kbench_wq;

/* measure.c */
#define KBENCH_TEXT_MAX SZ_128K
void kbench_conn_init(struct kbench_conn *conn,
		      const struct kbench_calls *calls,
		      const struct kbench_job *job);
int kbench_measure(struct kbench_job *job, char **words, int n);
void kbench_stream_done(struct kbench_conn *conn, u32 slot, int status);
struct sockaddr_storage kbench_peer(const struct kbench_job *job,
				    enum kbench_port port);

/* raw.c */
extern const struct kbench_calls kbench_raw_calls;
int kbench_raw_serve(struct net *net, u16 port);
void kbench_raw_serve_end(void);

/* ours.c */
extern const struct kbench_calls kbench_ours_calls;
int kbench_ours_stall(const struct kbench_job *job);

/* serve.c */
int kbench_serve(struct net *net, u16 port);
void kbench_serve_end(void);

#endif /* KRDMA_BENCH_PRIV_H */
