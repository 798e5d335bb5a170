/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parser for the command line of one test. The functions are pure: no verbs, no
 * sleeping, no globals.
 *
 * A command is a list of tokens between commas, each "name" or "name=value".
 * The names and defaults of the first krping (2006) are unchanged, because
 * scripts depend on them.
 */
#ifndef KRPING_OPTS_H
#define KRPING_OPTS_H

#include <linux/socket.h>
#include <linux/types.h>

#define KRPING_SIZE_MAX 131072
#define KRPING_SIZE_DEFAULT 64
#define KRPING_TXDEPTH_MAX 16384
#define KRPING_TXDEPTH_DEFAULT 64
/*
 * Size of the text of an address in bytes. An IPv6 address with %interface
 * needs less.
 */
#define KRPING_ADDR_MAX 128
#define KRPING_DEV_MAX 64
#define KRPING_KEY_MAX 128
/* Maximum timeout of connecting: one hour in ms, as in krdma. */
#define KRPING_CONN_TIMEOUT_MAX 3600000
#define KRPING_DAY_MS 86400000
#define KRPING_CONNS_MAX 256
#define KRPING_QPS_MAX 64
#define KRPING_INLINE_MAX 4096
/* Minimum size of a message of mlat or mbw with a checksum, in bytes. */
#define KRPING_MSG_CRC_MIN 5
/*
 * Maximum number of samples of a run. A sample is the size and the time of one
 * operation, and takes 8 bytes.
 */
#define KRPING_SAMPLES_MAX 1000000

enum krping_role {
	KRPING_ROLE_NONE = 0,
	KRPING_ROLE_CLIENT,
	KRPING_ROLE_SERVER,
};

/**
 * enum krping_test - test to run on a connection
 * @KRPING_TEST_PING: the server READs data and WRITEs them back, with messages
 *	in between
 * @KRPING_TEST_FR: fast registration: register and invalidate memory, and send
 *	nothing to the peer
 * @KRPING_TEST_WLAT: WRITEs back and forth; each side waits for the other
 * @KRPING_TEST_RLAT: READs, one after the other
 * @KRPING_TEST_BW: WRITEs, many in flight
 * @KRPING_TEST_SLAT: messages back and forth
 * @KRPING_TEST_SBW: messages, many in flight
 * @KRPING_TEST_RBW: READs, many in flight
 * @KRPING_TEST_ATOMIC: atomics, one after the other
 * @KRPING_TEST_MLAT: messages of krdma back and forth
 * @KRPING_TEST_MBW: messages of krdma, many in flight
 * @KRPING_TESTS: number of tests
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
	KRPING_TEST_MLAT,
	KRPING_TEST_MBW,
	KRPING_TESTS,
};

/**
 * enum krping_mem_mode - lifetime of a registration of memory
 * @KRPING_MEM_REG: register memory for one use and invalidate it afterwards, by
 *	work requests
 * @KRPING_MEM_DMA: treated as KRPING_MEM_REG. In old versions, one key covered
 *	all memory, but kernels no longer have such a key
 * @KRPING_MEM_ONCE: register memory for the whole run
 */
enum krping_mem_mode {
	KRPING_MEM_REG = 0,
	KRPING_MEM_DMA,
	KRPING_MEM_ONCE,
};

/**
 * enum krping_control - commands that are not tests
 * @KRPING_CONTROL_NONE: the command is a test
 * @KRPING_CONTROL_STOP: stop one run, or all runs
 * @KRPING_CONTROL_LIST: show all runs
 */
enum krping_control {
	KRPING_CONTROL_NONE = 0,
	KRPING_CONTROL_STOP,
	KRPING_CONTROL_LIST,
};

/**
 * enum krping_atomic - type of atomic operation
 * @KRPING_ATOMIC_CAS: compare and swap
 * @KRPING_ATOMIC_FADD: fetch and add
 */
enum krping_atomic {
	KRPING_ATOMIC_CAS = 0,
	KRPING_ATOMIC_FADD,
};

/**
 * enum krping_fault - fault that a side injects
 * @KRPING_FAULT_NONE: no fault
 * @KRPING_FAULT_DROP: stop sending after a number of operations
 * @KRPING_FAULT_DELAY: wait for a number of ms before each operation
 * @KRPING_FAULT_KILL: disconnect after a number of operations
 */
enum krping_fault {
	KRPING_FAULT_NONE = 0,
	KRPING_FAULT_DROP,
	KRPING_FAULT_DELAY,
	KRPING_FAULT_KILL,
};

/**
 * enum krping_verify - method of checking data
 * @KRPING_VERIFY_NONE: no check
 * @KRPING_VERIFY_MEMCMP: the client compares the data that it sent in a ping
 *	with those that the server WRITEs back; other tests use
 *	KRPING_VERIFY_CRC instead
 * @KRPING_VERIFY_CRC: both sides compare checksums
 */
enum krping_verify {
	KRPING_VERIFY_NONE = 0,
	KRPING_VERIFY_MEMCMP,
	KRPING_VERIFY_CRC,
};

/**
 * struct krping_opts - options of a command
 * @role: client or server
 * @test: test to run
 * @ntests: number of tests that the command names
 * @mem_mode: see &enum krping_mem_mode
 * @family: address family of @addr; AF_UNSPEC if the command has no address
 * @addr: text of the server's address; server: address to listen on
 * @port: port in host order; server: 0 lets the kernel choose
 * @count: ping test: number of pings of a client, 0 means no limit; other
 *	tests: number of operations of each side
 * @size: length of an operation in bytes; server: maximum for a client
 * @from: length of the first operations in bytes. It is then doubled until it
 *	reaches @size; 0: only operations of @size bytes
 * @txdepth: maximum number of work requests in flight
 * @tos: type of service, 0: not set
 * @verify: see &enum krping_verify
 * @verbose: log the data
 * @server_inv: the server's messages invalidate the client's keys
 * @read_inv: server: a READ invalidates the key of the buffer that it fills
 * @local_dma_lkey: server: WRITE from memory that is not registered
 * @duplex: both sides WRITE in the bw test
 * @poll: poll for completions instead of waiting for them
 * @srq: receive through a shared receive queue
 * @compat: behave like an old krping, without extended mode
 * @control: see &enum krping_control
 * @stop_id: number of the run to stop; 0 stops all runs
 * @bg: run in the background: write() returns at once
 * @timeout_ms: timeout of the whole run in ms, 0 means no limit
 * @conn_timeout_ms: timeout of connecting in ms, 0 means
 *	KRPING_CONN_TIMEOUT_MAX
 * @idle_timeout_ms: timeout of a wait for a silent peer in ms, 0 means no limit
 * @accept: server: number of clients to serve, 0 means no limit
 * @max_conns: server: maximum number of clients at a time
 * @src: client: source address; if empty, routing chooses the address
 * @dev: name of the RDMA device; if empty, any device
 * @netns: file descriptor or process ID of a network namespace, plus 1; 0 means
 *	the namespace of the writer
 * @vector: completion vector plus 1; 0 means any vector
 * @qps: client: number of connections at a time
 * @threads: number of teams into which the connections are divided, 0 means no
 *	teams; see thread.c
 * @cpu: processor of the first team or connection, plus 1; 0 means any
 *	processor
 * @warmup: client: number of operations of each size before the measured ones
 * @samples: client: number of operations whose times are kept one by one
 * @duration_s: duration of each size in seconds; 0 if @count is the limit
 * @atomic: see &enum krping_atomic
 * @imm: send with immediate data
 * @inline_len: maximum length of inline data in bytes
 * @cq_mod: one of every @cq_mod work requests is signaled
 * @min_bw: client: required bandwidth in Mbit/s
 * @max_lat_us: client: maximum mean time of an operation in µs
 * @max_p99_us: client: maximum 99th percentile of the times in µs
 * @fault: see &enum krping_fault
 * @fault_n: number of operations before @fault, or its delay in ms
 * @nsec: log result lines in nanoseconds
 * @security: level of &enum krdma_security
 * @key: description of the key for @security, or ""
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
	u32 security;
	char key[KRPING_KEY_MAX];
};

char *krping_opts_next_command(char **text);
int krping_opts_parse(char *command, struct krping_opts *opts);
const char *krping_test_name(u32 test);
const char *krping_security_name(u32 security);
bool krping_is_lockstep(const struct krping_opts *opts);
bool krping_is_message(const struct krping_opts *opts);

#endif /* KRPING_OPTS_H */
