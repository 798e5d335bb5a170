/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counters. The module has a set of all counters on each CPU. In addition, each
 * connection and each listener has a set of its own.
 */
#ifndef KRDMA_STATS_H
#define KRDMA_STATS_H

#include <linux/list.h>
#include <linux/types.h>

#include <krdma.h>

struct krdma_conn;
struct seq_file;

/**
 * enum krdma_wr_kind - internal kinds of send queue entries
 * @KRDMA_WR_CONTROL: message of krdma itself, such as START, CREDIT or PING
 * @KRDMA_WR_REGISTER: registration of an MR
 * @KRDMA_WR_INVALIDATE: invalidation of an MR
 * @KRDMA_WR_KINDS: number of kinds
 *
 * The kind of an entry is one of these values, or a value of &enum
 * krdma_opcode.
 */
enum krdma_wr_kind {
	KRDMA_WR_CONTROL = KRDMA_OPCODES,
	KRDMA_WR_REGISTER,
	KRDMA_WR_INVALIDATE,
	KRDMA_WR_KINDS,
};

/*
 * Class of the reason for which connecting failed, or for which a connection
 * ended.
 */
enum krdma_why {
	KRDMA_WHY_CANCELLED = 0, /* this side cancelled or disconnected */
	KRDMA_WHY_TIMEOUT,
	KRDMA_WHY_REFUSED,
	KRDMA_WHY_UNREACHABLE,
	KRDMA_WHY_RESET,
	KRDMA_WHY_DEVICE,
	KRDMA_WHY_PROTOCOL,
	KRDMA_WHY_MEMORY,
	KRDMA_WHY_ACCESS,
	KRDMA_WHY_OTHER,
	KRDMA_WHYS, /* number of classes */
};

/**
 * enum krdma_breach - kinds of protocol violations by the peer
 * @KRDMA_BREACH_HELLO: the hello is invalid, or one of its values is out of
 *	range
 * @KRDMA_BREACH_OPCODE: a message or write has unexpected immediate data, or a
 *	WRITTEN was not expected
 * @KRDMA_BREACH_HEADER: the header of a message has an unknown type, or an
 *	invalid length or version
 * @KRDMA_BREACH_CREDIT: the peer sent without a credit, or granted too many
 *	credits
 * @KRDMA_BREACH_START: START or AUTH is missing or invalid, or was sent twice
 * @KRDMA_BREACH_SEQUENCE: a part of a message, a WRITTEN or a PULLED is out of
 *	sequence
 * @KRDMA_BREACH_KEY: a message invalidated an invalid key, a key that was
 *	invalidated before, or any key without being a whole message of the user
 * @KRDMA_BREACH_SEAL: a sealed message was changed, repeated or injected, or one
 *	before it is missing
 * @KRDMA_BREACHES: number of kinds
 */
enum krdma_breach {
	KRDMA_BREACH_HELLO = 0,
	KRDMA_BREACH_OPCODE,
	KRDMA_BREACH_HEADER,
	KRDMA_BREACH_CREDIT,
	KRDMA_BREACH_START,
	KRDMA_BREACH_SEQUENCE,
	KRDMA_BREACH_KEY,
	KRDMA_BREACH_SEAL,
	KRDMA_BREACHES,
};

/**
 * enum krdma_auth_step - steps of the handshake of a connection with a level
 * @KRDMA_AUTH_REQ: check of the tag of a request
 * @KRDMA_AUTH_REP: check of the reply
 * @KRDMA_AUTH_AUTH: AUTH was written, or checked
 * @KRDMA_AUTH_START: check of the sealed START
 */
enum krdma_auth_step {
	KRDMA_AUTH_REQ = 0,
	KRDMA_AUTH_REP,
	KRDMA_AUTH_AUTH,
	KRDMA_AUTH_START,
};

#define KRDMA_WC_STATUSES (IB_WC_GENERAL_ERR + 1)

/*
 * Indices of counters. If a comment names an enum, there is one counter for
 * each value of that enum, and the constant is the index of the first such
 * counter. The three constants after KRDMA_COUNT_POSTED are also followed by a
 * counter for each kind, and KRDMA_COUNT_BREACH by one for each enum
 * krdma_breach.
 */
enum krdma_counter {
	KRDMA_COUNT_CONNECTED = 0,
	KRDMA_COUNT_ACCEPTED,
	KRDMA_COUNT_REQUESTS_REFUSED,
	KRDMA_COUNT_REFUSED_KEY, /* requests refused because of their tag */
	KRDMA_COUNT_REFUSED_SECURITY, /* requests of another level */
	KRDMA_COUNT_AUTH_FAILED, /* handshakes that failed */
	KRDMA_COUNT_CONNS_OVER, /* requests refused because of max_conns */
	KRDMA_COUNT_MEMORY_OVER, /* connections ended because of msg_memory */
	KRDMA_COUNT_FAILED, /* enum krdma_why */
	KRDMA_COUNT_ENDED = KRDMA_COUNT_FAILED + KRDMA_WHYS, /* krdma_why */
	KRDMA_COUNT_POSTED = KRDMA_COUNT_ENDED + KRDMA_WHYS, /* krdma_wr_kind */
	KRDMA_COUNT_WR_DONE = KRDMA_COUNT_POSTED + KRDMA_WR_KINDS,
	KRDMA_COUNT_WR_FAILED = KRDMA_COUNT_WR_DONE + KRDMA_WR_KINDS,
	KRDMA_COUNT_BYTES = KRDMA_COUNT_WR_FAILED + KRDMA_WR_KINDS,
	KRDMA_COUNT_MSGS_SENT = KRDMA_COUNT_BYTES + KRDMA_WR_KINDS,
	KRDMA_COUNT_MSGS_RECEIVED,
	KRDMA_COUNT_BYTES_RECEIVED,
	KRDMA_COUNT_CREDIT_STALLS,
	KRDMA_COUNT_POST_PAUSES,
	KRDMA_COUNT_CREDIT_MSGS,
	KRDMA_COUNT_PINGS,
	KRDMA_COUNT_PONGS,
	KRDMA_COUNT_BYES,
	KRDMA_COUNT_PULLED,
	KRDMA_COUNT_WRITTEN,
	KRDMA_COUNT_ALIVE_MISSES,
	KRDMA_COUNT_SEALED, /* two counters: messages, and bytes behind headers */
	KRDMA_COUNT_OPENED = KRDMA_COUNT_SEALED + 2, /* as KRDMA_COUNT_SEALED */
	KRDMA_COUNT_REKEYS = KRDMA_COUNT_OPENED + 2, /* new keys, both directions */
	KRDMA_COUNT_SPINS, /* two counters: successful and failed polling */
	KRDMA_COUNT_WC = KRDMA_COUNT_SPINS + 2, /* enum ib_wc_status */
	KRDMA_COUNT_BREACH = KRDMA_COUNT_WC + KRDMA_WC_STATUSES,
	KRDMA_COUNT_REGISTERED = KRDMA_COUNT_BREACH + KRDMA_BREACHES,
	KRDMA_COUNT_REVOKED,
	KRDMA_COUNT_INVALIDATED,
	KRDMA_COUNT_MRS_ALLOCATED,
	KRDMA_COUNT_MRS_REUSED,
	KRDMA_COUNT_DEVICE_REMOVALS,
	KRDMA_COUNTERS, /* number of counters */
};

/*
 * Number of latency classes. Class n counts requests that took at least 2^n ns
 * and less than 2^(n+1) ns; the last class counts all that took 2 s or more.
 */
#define KRDMA_LATENCIES 32

/**
 * struct krdma_stats - counters of one connection
 * @link: link in krdma_conns; krdma_stats_lock
 * @id: number of the connection, from 1, unique while the module is loaded
 * @born: time at which the connection was created, in jiffies
 * @device: name of the RDMA device, or "" before the connection has one;
 *	krdma_conn.lock
 * @counts: by &enum krdma_counter; krdma_conn.lock
 * @latency: number of requests in each latency class, see KRDMA_LATENCIES;
 *	krdma_conn.lock
 */
struct krdma_stats {
	struct list_head link;
	u32 id;
	unsigned long born;
	char device[64];
	u64 counts[KRDMA_COUNTERS];
	u64 latency[KRDMA_LATENCIES];
};

/**
 * struct krdma_region_stats - data of a region for debugfs
 * @link: link in krdma_regions; krdma_stats_lock
 * @conn_id: &krdma_stats.id of the region's connection; 0: the region belongs
 *	to a domain
 * @size: bytes of the region
 * @nmrs: number of MRs
 * @access: IB_ACCESS_*
 * @rkey: rkey of the first MR
 * @live: the region is registered and not revoked, and its connection has not
 *	ended
 */
struct krdma_region_stats {
	struct list_head link;
	u32 conn_id;
	u64 size;
	u32 nmrs;
	int access;
	u32 rkey;
	bool live;
};

void krdma_stats_init(void);
void krdma_stats_exit(void);
void krdma_stats_add_conn(struct krdma_conn *conn);
void krdma_stats_del_conn(struct krdma_conn *conn);
void krdma_stats_add_region(struct krdma_region_stats *region);
void krdma_stats_del_region(struct krdma_region_stats *region);
enum krdma_why krdma_stats_why(int error);
void krdma_count_module(enum krdma_counter counter);
void krdma_count(struct krdma_conn *conn, enum krdma_counter counter);
void krdma_count_locked(struct krdma_conn *conn, enum krdma_counter counter,
			u64 n);
void krdma_stats_posted_locked(struct krdma_conn *conn, struct krdma_wr *kwr);
void krdma_stats_done_locked(struct krdma_conn *conn,
			     const struct krdma_wr *kwr, int status);

/* reconnect.c */
int krdma_reconnect_show(struct seq_file *seq, void *unused);

#endif /* KRDMA_STATS_H */
