/* SPDX-License-Identifier: GPL-2.0 */
/*
 * krdma_bench - compare krdma with hand-written verbs code
 *
 * A test measures the same operation with several variants. Some variants use
 * verbs in different ways, without krdma (raw.c). One variant uses krdma
 * (ours.c). In each round every variant has a turn, so that other load of the
 * machine affects all of them. This module only measures. tools/bench computes
 * the results.
 *
 * A command is a line that is written to /proc/krdma_bench. The output is read
 * from the same file descriptor. These are the commands:
 *
 *	serve PORT
 *		be the peer of all tests, on KBENCH_PORTS ports from PORT on
 *	stop
 *		end "serve"
 *	TEST VARIANT[,VARIANT]... HOST PORT [NAME=NUMBER]...
 *		measure; tests, variants and names are in measure.c
 *
 * Commands run one after the other in the task that writes them, and end when
 * that task is killed.
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

/* Maximum number of WRs in flight in each direction: the default of krdma. */
#define KBENCH_DEPTH 64
/* Size of the receive buffers of the raw variants: the default of krdma. */
#define KBENCH_BUF_SIZE 4096
/* Maximum size of a message, so that KBENCH_BUF_SIZE has room for a header. */
#define KBENCH_MSG_MAX 4000
/* Size of the memory for WRITEs, which fits into a single MR, even on siw. */
#define KBENCH_SPAN SZ_1M
/* Time limit for a step, such as a connect or an echo, in ms. */
#define KBENCH_TIMEOUT_MS 10000

/* Listeners. The value is added to the port of "serve". */
enum kbench_port {
	KBENCH_PORT_RAW_IDLE,	/* raw.c: keeps connections idle */
	KBENCH_PORT_RAW,	/* raw.c: advertises memory, echoes messages */
	KBENCH_PORT_OURS_IDLE,	/* krdma: keeps connections idle */
	KBENCH_PORT_OURS,	/* krdma: advertises memory, echoes messages */
	KBENCH_PORT_AUTH_IDLE,	/* krdma, level auth: keeps connections idle */
	KBENCH_PORT_SEALED,	/* krdma, level encrypt: echoes messages */
	KBENCH_PORT_STALL,	/* never answers a request */
	KBENCH_PORTS,
};

/* Keys of the levels of security: those of the peer, and others. */
enum kbench_keys {
	KBENCH_NO_KEYS,
	KBENCH_KEYS,
	KBENCH_OTHER_KEYS,
	KBENCH_KEYS_MAX,
};

struct kbench_conn;
struct kbench_job;
struct krdma_params;
struct kbench_variant;

/**
 * struct kbench_calls - operations of a variant
 * @connect: create a connection. Unless it is idle, it has resources for
 *	messages and WRITEs, and the key of memory of the peer. Return the
 *	connection or an ERR_PTR
 * @close: release a connection
 * @write: WRITE @size bytes of memory that is not registered, and wait for the
 *	completion
 * @echo: send @size bytes and wait for the echo
 * @post: post a chain of WRITEs. When the chain has completed, its handler
 *	calls kbench_stream_done().
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
 * struct kbench_variant - a way to use RDMA
 * @name: name in commands
 * @calls: operations
 * @poll: context of completion handlers, only for raw.c
 * @bracket: true if bottom halves are disabled during a post, see
 *	krdma_req_enqueue(); only for raw.c
 * @read: true if a stream has READs instead of WRITEs; only for raw.c
 * @sums: number of times that a stream computes the CRC32C of each WRITE, before
 *	it posts the WRITE; only for raw.c
 * @keys: keys that the variant has; KBENCH_NO_KEYS without a level of security;
 *	only for ours.c
 * @refused: result of @calls->connect in the test "refused"
 * @encrypt: true if the data of a message are encrypted; in ours.c the level is
 *	encrypt instead of auth
 */
struct kbench_variant {
	const char *name;
	const struct kbench_calls *calls;
	enum ib_poll_context poll;
	bool bracket;
	bool read;
	u8 sums;
	enum kbench_keys keys;
	int refused;
	bool encrypt;
};

/**
 * struct kbench_stream - state of the test "stream", which posts WRITE chains
 * @lock: protects the other members
 * @until: end of the turn, in jiffies; until then, completed chains are posted
 *	again
 * @flying: number of chains in flight
 * @chains: number of completed chains
 * @status: errno of the first chain that failed, or 0
 * @over: completed at the end of the turn, when no chain is in flight
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
 * @calls: operations of the variant
 * @job: test that uses the connection; NULL if "serve" has accepted it
 * @stream: state of the test "stream"
 * @took_ns: time that counts for the last call of @calls->echo, in ns; 0: the
 *	whole call counts
 */
struct kbench_conn {
	const struct kbench_calls *calls;
	const struct kbench_job *job;
	u64 took_ns;
	struct kbench_stream stream;
};

/**
 * struct kbench_job - a test to run
 * @net: network namespace of the task that writes the command
 * @dst: address of the peer, with the port of "serve" on the peer
 * @size: size of an operation, in bytes
 * @depth: number of operations in flight
 * @chain: number of operations that are posted at a time, a divisor of @depth
 * @n: number of connections
 * @rounds: number of turns of each variant, without the warm-up
 * @ms: duration of a turn, in ms
 * @spin_us: value for &krdma_params.spin_us, in us; only for ours.c
 * @buf: @size bytes of unregistered memory
 * @samples: array for times of operations, in ns
 * @closes: array for times of releasing connections, in ns
 * @text: output of the command
 * @len: length of @text, in bytes
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

/* Return the offset of WRITE @i of the chain @slot in the memory for WRITEs. */
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

/* curve.c */
extern const struct kbench_calls kbench_curve_calls;

/* seal.c */
extern const struct kbench_calls kbench_seal_calls;
extern const struct kbench_calls kbench_among_calls;

/* raw.c */
extern const struct kbench_calls kbench_raw_calls;
int kbench_raw_serve(struct net *net, u16 port);
void kbench_raw_serve_end(void);

/* ours.c */
extern const struct kbench_calls kbench_ours_calls;
int kbench_ours_stall(const struct kbench_job *job);
int kbench_keys_init(void);
void kbench_keys_exit(void);
void kbench_keys_set(struct krdma_params *p, enum kbench_keys keys,
		     bool encrypt);

/* serve.c */
int kbench_serve(struct net *net, u16 port);
void kbench_serve_end(void);

#endif /* KRDMA_BENCH_PRIV_H */
