/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The command line of one test. Pure: no verbs, no sleeping, no globals.
 *
 * A command is a list of tokens between commas, each "name" or "name=value".
 * Names and defaults are those that krping has had since 2006: scripts depend
 * on them.
 */
#ifndef KRPING_OPTS_H
#define KRPING_OPTS_H

#include <linux/socket.h>
#include <linux/types.h>

#define KRPING_SIZE_MAX 131072
#define KRPING_SIZE_DEFAULT 64
#define KRPING_TXDEPTH_MAX 16384
#define KRPING_TXDEPTH_DEFAULT 64
/* An IPv6 address with the name of an interface behind it, and more. */
#define KRPING_ADDR_MAX 128
#define KRPING_DEV_MAX 64
/* As of krdma: an hour. */
#define KRPING_CONN_TIMEOUT_MAX 3600000
#define KRPING_DAY_MS 86400000
#define KRPING_CONNS_MAX 256
#define KRPING_QPS_MAX 64
#define KRPING_INLINE_MAX 4096
/* Times of single operations that a run keeps, 8 bytes each. */
#define KRPING_SAMPLES_MAX 1000000

enum krping_role {
	KRPING_ROLE_NONE = 0,
	KRPING_ROLE_CLIENT,
	KRPING_ROLE_SERVER,
};

/**
 * enum krping_test - what is done when connected
 * @KRPING_TEST_PING: READ and WRITE back, with messages in between
 * @KRPING_TEST_FR: register and invalidate, nothing on the wire
 * @KRPING_TEST_WLAT: WRITEs back and forth, each side waits for the other's
 * @KRPING_TEST_RLAT: READs, one after the other
 * @KRPING_TEST_BW: WRITEs, many in flight
 * @KRPING_TEST_SLAT: messages back and forth
 * @KRPING_TEST_SBW: messages, many in flight
 * @KRPING_TEST_RBW: READs, many in flight
 * @KRPING_TEST_ATOMIC: atomics, one after the other
 * @KRPING_TESTS: how many there are
 */
enum krping_test {
	KRPING_TEST_PING = 0,
	KRPING_TEST_FR,
	KRPING_TEST_WLAT,
	KRPING_TEST_RLAT,
	KRPING_TEST_BW,
	KRPING_TEST_SLAT,
	KRPING_TEST_SBW,
	KRPING_TEST_RBW,
	KRPING_TEST_ATOMIC,
	KRPING_TESTS,
};

/**
 * enum krping_mem_mode - how often memory is registered
 * @KRPING_MEM_REG: anew for each use, by a work request
 * @KRPING_MEM_DMA: not at all, once; there is no such thing any more, and it is
 *	done like KRPING_MEM_REG
 * @KRPING_MEM_ONCE: once for all of the run
 */
enum krping_mem_mode {
	KRPING_MEM_REG = 0,
	KRPING_MEM_DMA,
	KRPING_MEM_ONCE,
};

/**
 * enum krping_control - commands that are not a test
 * @KRPING_CONTROL_NONE: it is a test
 * @KRPING_CONTROL_STOP: end a run, or all
 * @KRPING_CONTROL_LIST: show all runs
 */
enum krping_control {
	KRPING_CONTROL_NONE = 0,
	KRPING_CONTROL_STOP,
	KRPING_CONTROL_LIST,
};

/**
 * enum krping_atomic - which atomic
 * @KRPING_ATOMIC_CAS: compare and swap
 * @KRPING_ATOMIC_FADD: fetch and add
 */
enum krping_atomic {
	KRPING_ATOMIC_CAS = 0,
	KRPING_ATOMIC_FADD,
};

/**
 * enum krping_fault - what a side does wrong on purpose
 * @KRPING_FAULT_NONE: nothing
 * @KRPING_FAULT_DROP: it says nothing any more after so many operations
 * @KRPING_FAULT_DELAY: it waits so many ms before each operation
 * @KRPING_FAULT_KILL: it is gone after so many operations
 */
enum krping_fault {
	KRPING_FAULT_NONE = 0,
	KRPING_FAULT_DROP,
	KRPING_FAULT_DELAY,
	KRPING_FAULT_KILL,
};

/**
 * enum krping_verify - how data are checked
 * @KRPING_VERIFY_NONE: not at all
 * @KRPING_VERIFY_MEMCMP: the client compares what comes back from a ping; other
 *	tests do KRPING_VERIFY_CRC instead
 * @KRPING_VERIFY_CRC: both sides compare checksums
 */
enum krping_verify {
	KRPING_VERIFY_NONE = 0,
	KRPING_VERIFY_MEMCMP,
	KRPING_VERIFY_CRC,
};

/**
 * struct krping_opts - what a command says
 * @role: who dials
 * @test: what to do
 * @ntests: how many tests were named
 * @mem_mode: how memory is registered
 * @family: AF_INET or AF_INET6 as @addr was given, AF_UNSPEC: not given
 * @addr: as text; client: the server's, server: where to listen
 * @port: in host order; server: 0 lets the kernel choose
 * @count: pings that a client does, 0: until it is stopped; of other tests, on
 *	both sides, operations
 * @size: bytes of a ping; server: most that a client may use
 * @from: client: pings begin with that size, and double it up to @size; 0: no
 * @txdepth: work requests in flight
 * @tos: type of service, 0: not set
 * @verify: see &enum krping_verify
 * @verbose: log the payload
 * @server_inv: the server invalidates the client's keys by its messages
 * @read_inv: server: READs invalidate the key of their own sink
 * @local_dma_lkey: server: WRITEs come from memory that is not registered
 * @duplex: bw: both sides write
 * @poll: completions are looked for, not waited for
 * @srq: receives go through a shared receive queue
 * @compat: do as if this were an old krping
 * @control: not a test at all
 * @stop_id: run to stop, 0: all
 * @bg: write() returns at once
 * @timeout_ms: of the whole run, 0: none
 * @conn_timeout_ms: of connecting, 0: none
 * @idle_timeout_ms: how long a peer may be silent, 0: for ever
 * @accept: server: how many clients, 0: without end
 * @max_conns: server: how many at a time
 * @src: client: source address, "": chosen by routing
 * @dev: RDMA device, "": any
 * @netns: fd or pid + 1 of a network namespace, 0: the writer's
 * @vector: completion vector + 1, 0: any
 * @qps: client: connections at a time
 * @threads: tasks that share the work of all connections, 0: each has its own
 * @cpu: processor + 1 of the first of these tasks, 0: any
 * @warmup: client: operations of each size before those that are measured
 * @samples: client: number of operations whose times are kept one by one
 * @duration_s: how long instead of how many, 0: @count
 * @atomic: which atomic
 * @imm: with immediate data
 * @inline_len: bytes that are posted inline
 * @cq_mod: one completion for so many
 * @min_bw: client: Mbit/s that are enough
 * @max_lat_us: client: mean time of an operation that is good enough, in µs
 * @max_p99_us: the same for the 99th percentile
 * @fault: what is done wrong on purpose
 * @fault_n: when, or how long
 * @nsec: a result line in the log has nanoseconds
 */
struct krping_opts {
	enum krping_role role;
	enum krping_test test;
	u32 ntests;
	u32 mem_mode;
	sa_family_t family;
	char addr[KRPING_ADDR_MAX];
	u32 port;
	u32 count;
	u32 size;
	u32 from;
	u32 txdepth;
	u32 tos;
	u32 verify;
	bool verbose;
	bool server_inv;
	bool read_inv;
	bool local_dma_lkey;
	bool duplex;
	bool poll;
	bool srq;
	bool compat;
	u32 control;
	u32 stop_id;
	bool bg;
	u32 timeout_ms;
	u32 conn_timeout_ms;
	u32 idle_timeout_ms;
	u32 accept;
	u32 max_conns;
	char src[KRPING_ADDR_MAX];
	char dev[KRPING_DEV_MAX];
	u32 netns;
	u32 vector;
	u32 qps;
	u32 threads;
	u32 cpu;
	u32 warmup;
	u32 samples;
	u32 duration_s;
	u32 atomic;
	bool imm;
	u32 inline_len;
	u32 cq_mod;
	u32 min_bw;
	u32 max_lat_us;
	u32 max_p99_us;
	u32 fault;
	u32 fault_n;
	u32 nsec;
};

char *krping_opts_next_command(char **text);
int krping_opts_parse(char *command, struct krping_opts *opts);
const char *krping_test_name(u32 test);
bool krping_is_lockstep(const struct krping_opts *opts);

#endif /* KRPING_OPTS_H */
