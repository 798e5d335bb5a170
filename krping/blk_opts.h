/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Commands of /proc/krping_blk, and the filter that selects the requests of a
 * disk that go to its server. The functions are pure: no verbs, no sleeping, no
 * globals.
 */
#ifndef KRPING_BLK_OPTS_H
#define KRPING_BLK_OPTS_H

#include <linux/types.h>

#include "blk_wire.h"

#define KRPING_BLK_ADDR_MAX 64
#define KRPING_BLK_PORT_MAX 8
#define KRPING_BLK_PATH_MAX 128
#define KRPING_BLK_NAME_MAX 16
/* Length of a task's name with its NUL, as TASK_COMM_LEN. */
#define KRPING_BLK_COMM_MAX 16

/**
 * enum krping_blk_role - first word of a command
 * @KRPING_BLK_NO_ROLE: the command has no such word
 * @KRPING_BLK_CLIENT: create a disk
 * @KRPING_BLK_SERVER: start a server
 * @KRPING_BLK_STOP: remove a disk or a server
 */
enum krping_blk_role {
	KRPING_BLK_NO_ROLE = 0,
	KRPING_BLK_CLIENT,
	KRPING_BLK_SERVER,
	KRPING_BLK_STOP,
};

/**
 * enum krping_blk_backing - local storage of a disk
 * @KRPING_BLK_RAM: memory
 * @KRPING_BLK_STACK: another block device
 */
enum krping_blk_backing {
	KRPING_BLK_RAM = 0,
	KRPING_BLK_STACK,
};

/**
 * enum krping_blk_mode - completion of a request that goes to the server
 * @KRPING_BLK_SYNC: the request completes when the server has acknowledged it
 * @KRPING_BLK_ASYNC: the request completes when it is sent; a flush, and a
 *	request with FUA, complete as with KRPING_BLK_SYNC
 * @KRPING_BLK_TAP: the request never waits for the server, and never fails
 *	because of it
 */
enum krping_blk_mode {
	KRPING_BLK_SYNC = 0,
	KRPING_BLK_ASYNC,
	KRPING_BLK_TAP,
};

/**
 * enum krping_blk_policy - requests while there is no connection
 * @KRPING_BLK_FAIL: they fail
 * @KRPING_BLK_BLOCK: they wait, and are sent on the next connection
 * @KRPING_BLK_DEGRADE: the local storage does them, and the server gets the
 *	chunks that have changed on the next connection
 */
enum krping_blk_policy {
	KRPING_BLK_FAIL = 0,
	KRPING_BLK_BLOCK,
	KRPING_BLK_DEGRADE,
};

/**
 * enum krping_blk_target - storage of a server
 * @KRPING_BLK_MEM: memory, an image for each disk
 * @KRPING_BLK_NULL: none
 * @KRPING_BLK_BDEV: block device
 */
enum krping_blk_target {
	KRPING_BLK_MEM = 0,
	KRPING_BLK_NULL,
	KRPING_BLK_BDEV,
};

/**
 * struct krping_blk_filter - requests that go to the server
 * @ops: bits 1 << &enum krping_blk_op
 * @min: minimum length in bytes of a request with a range
 * @tgid: thread group, in the initial PID namespace; 0: all
 * @from: first byte of the range that a request must touch
 * @to: end of this range; 0: the end of the disk
 * @cgroup: ID of a control group; 0: all
 * @comm: name of the submitting task; "": all
 */
struct krping_blk_filter {
	u32 ops;
	u32 min;
	u32 tgid;
	u64 from;
	u64 to;
	u64 cgroup;
	char comm[KRPING_BLK_COMM_MAX];
};

/**
 * struct krping_blk_subject - request that a filter checks
 * @op: operation
 * @bytes: length of the range; 0 for KRPING_BLK_FLUSH
 * @offset: first byte of the range
 * @tgid: thread group of the submitting task
 * @in_cgroup: the request is of @cgroup of the filter, or of a group below it;
 *	ignored if @cgroup is 0
 * @comm: name of the submitting task
 */
struct krping_blk_subject {
	enum krping_blk_op op;
	u32 bytes;
	u64 offset;
	u32 tgid;
	bool in_cgroup;
	const char *comm;
};

/**
 * struct krping_blk_opts - a command
 * @role: action of the command
 * @addr: client: address of the server; server: address to listen on
 * @src: client: source address, or ""
 * @port: port of the server
 * @stop: KRPING_BLK_STOP: number of the disk or server; 0: all
 * @force: KRPING_BLK_STOP: also remove a disk that is open
 * @bio: the word "bio", which changes nothing
 * @backing: client: local storage
 * @ram: KRPING_BLK_RAM: capacity in bytes
 * @path: path of the device for KRPING_BLK_STACK or KRPING_BLK_BDEV
 * @raw: client: the peer is no server of krping_blk, see blk_raw.c
 * @raddr: @raw: address in the memory of the peer
 * @rkey: @raw: key of this memory
 * @linear: @raw: data at offset N of the disk go to @raddr + N; false: all data
 *	go to @raddr
 * @verify: @raw: read the data back, and compare
 * @probe_ms: @raw: time without a request after which the peer is probed; 0:
 *	never
 * @name: client: name of the disk; "": krpblk and the first free number
 * @mode: client: see &enum krping_blk_mode
 * @policy: client: see &enum krping_blk_policy
 * @block_ms: client: KRPING_BLK_BLOCK: time limit without a connection
 * @drop: client: KRPING_BLK_ASYNC: do not send a request if no slot is free
 * @depth: client: number of requests that may wait for their acknowledgment
 * @slot: client: maximum number of bytes of a request
 * @timeout_ms: client: time limit for an acknowledgment
 * @no_crc: client: the data have no checksum
 * @bad_crc: client: number of the write that is sent with a wrong checksum, or
 *	that is compared with other data if @raw is set, for tests; 0: none
 * @bad_ack: server: number of the acknowledgment that is sent with the sequence
 *	number of another request, for tests: the next request if @bad_ack is
 *	odd, the previous one if it is even; 0: none
 * @filter: client: requests that go to the server
 * @target: server: see &enum krping_blk_target
 * @cap: KRPING_BLK_MEM: maximum capacity of all images together, in bytes;
 *	@raw: bytes of the peer's memory from @raddr on
 */
struct krping_blk_opts {
	u32 role;
	char addr[KRPING_BLK_ADDR_MAX];
	char src[KRPING_BLK_ADDR_MAX];
	char port[KRPING_BLK_PORT_MAX];
	u32 stop;
	bool force;
	bool bio;
	u32 backing;
	u64 ram;
	char path[KRPING_BLK_PATH_MAX];
	bool raw;
	u64 raddr;
	u32 rkey;
	bool linear;
	bool verify;
	u32 probe_ms;
	char name[KRPING_BLK_NAME_MAX];
	u32 mode;
	u32 policy;
	u32 block_ms;
	bool drop;
	u32 depth;
	u32 slot;
	u32 timeout_ms;
	bool no_crc;
	u32 bad_crc;
	u32 bad_ack;
	struct krping_blk_filter filter;
	u32 target;
	u64 cap;
};

int krping_blk_opts_parse(char *text, struct krping_blk_opts *opts);
u64 krping_blk_raw_address(const struct krping_blk_opts *opts, u64 offset);
bool krping_blk_filter_matches(const struct krping_blk_filter *filter,
			       const struct krping_blk_subject *subject);

#endif /* KRPING_BLK_OPTS_H */
