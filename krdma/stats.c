// SPDX-License-Identifier: GPL-2.0
/*
 * Counters, and the files in debugfs that show them.
 *
 * The module's counters are per CPU; a reader adds them up. The counters of a
 * connection are plain numbers under krdma_conn.lock, which a context that
 * counts usually holds anyway. So counting costs an addition or two. The clock
 * costs more, and is read only while the parameter "latency" is set.
 *
 * All connections are on one list, and all regions on another one. A connection
 * or region is taken off its list under krdma_stats_lock before it is freed. A
 * reader of a file holds that lock, and so needs no references.
 */
#include <linux/debugfs.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "conn.h"
#include "stats.h"
#include "trace.h"

static DEFINE_PER_CPU(u64 [KRDMA_COUNTERS], krdma_counts);
/* krdma_stats_lock protects the 3 variables after it. */
static DEFINE_MUTEX(krdma_stats_lock);
static LIST_HEAD(krdma_conns);
static LIST_HEAD(krdma_regions);
static u32 krdma_last_id;

static struct dentry *krdma_debugfs;

static bool krdma_latency;
module_param_named(latency, krdma_latency, bool, 0644);
MODULE_PARM_DESC(latency, "Measure the latency of requests, see debugfs krdma/latency");

static const char * const krdma_kind_names[KRDMA_WR_KINDS] = {
	[KRDMA_SEND]		= "send",
	[KRDMA_WRITE]		= "write",
	[KRDMA_READ]		= "read",
	[KRDMA_FETCH_ADD]	= "fetch_add",
	[KRDMA_CMP_SWAP]	= "cmp_swap",
	[KRDMA_WRITE_IMM]	= "write_imm",
	[KRDMA_SEND_INV]	= "send_inv",
	[KRDMA_WR_CONTROL]	= "control",
	[KRDMA_WR_REGISTER]	= "register",
	[KRDMA_WR_INVALIDATE]	= "invalidate",
};

static const char * const krdma_why_names[KRDMA_WHYS] = {
	[KRDMA_WHY_CANCELLED]	= "cancelled",
	[KRDMA_WHY_TIMEOUT]	= "timeout",
	[KRDMA_WHY_REFUSED]	= "refused",
	[KRDMA_WHY_UNREACHABLE]	= "unreachable",
	[KRDMA_WHY_RESET]	= "reset",
	[KRDMA_WHY_DEVICE]	= "device",
	[KRDMA_WHY_PROTOCOL]	= "protocol",
	[KRDMA_WHY_MEMORY]	= "memory",
	[KRDMA_WHY_ACCESS]	= "access",
	[KRDMA_WHY_OTHER]	= "other",
};

static const char * const krdma_breach_names[KRDMA_BREACHES] = {
	[KRDMA_BREACH_HELLO]	= "hello",
	[KRDMA_BREACH_OPCODE]	= "opcode",
	[KRDMA_BREACH_HEADER]	= "header",
	[KRDMA_BREACH_CREDIT]	= "credit",
	[KRDMA_BREACH_START]	= "start",
	[KRDMA_BREACH_SEQUENCE]	= "sequence",
	[KRDMA_BREACH_KEY]	= "key",
	[KRDMA_BREACH_SEAL]	= "seal",
};

static const char * const krdma_wc_names[KRDMA_WC_STATUSES] = {
	[IB_WC_SUCCESS]			= "success",
	[IB_WC_LOC_LEN_ERR]		= "loc_len_err",
	[IB_WC_LOC_QP_OP_ERR]		= "loc_qp_op_err",
	[IB_WC_LOC_EEC_OP_ERR]		= "loc_eec_op_err",
	[IB_WC_LOC_PROT_ERR]		= "loc_prot_err",
	[IB_WC_WR_FLUSH_ERR]		= "wr_flush_err",
	[IB_WC_MW_BIND_ERR]		= "mw_bind_err",
	[IB_WC_BAD_RESP_ERR]		= "bad_resp_err",
	[IB_WC_LOC_ACCESS_ERR]		= "loc_access_err",
	[IB_WC_REM_INV_REQ_ERR]		= "rem_inv_req_err",
	[IB_WC_REM_ACCESS_ERR]		= "rem_access_err",
	[IB_WC_REM_OP_ERR]		= "rem_op_err",
	[IB_WC_RETRY_EXC_ERR]		= "retry_exc_err",
	[IB_WC_RNR_RETRY_EXC_ERR]	= "rnr_retry_exc_err",
	[IB_WC_LOC_RDD_VIOL_ERR]	= "loc_rdd_viol_err",
	[IB_WC_REM_INV_RD_REQ_ERR]	= "rem_inv_rd_req_err",
	[IB_WC_REM_ABORT_ERR]		= "rem_abort_err",
	[IB_WC_INV_EECN_ERR]		= "inv_eecn_err",
	[IB_WC_INV_EEC_STATE_ERR]	= "inv_eec_state_err",
	[IB_WC_FATAL_ERR]		= "fatal_err",
	[IB_WC_RESP_TIMEOUT_ERR]	= "resp_timeout_err",
	[IB_WC_GENERAL_ERR]		= "general_err",
};

static const char * const krdma_refused_names[] = { "key", "security" };
static const char * const krdma_seal_names[] = { "messages", "bytes" };
static const char * const krdma_spin_names[] = { "paid", "vain" };

/*
 * Counters in the order of the files in debugfs. A family with @members has one
 * counter for each member.
 */
static const struct krdma_family {
	const char *name;
	enum krdma_counter first;
	unsigned int n;
	const char * const *members;
} krdma_families[] = {
	{ "connected", KRDMA_COUNT_CONNECTED, 1 },
	{ "accepted", KRDMA_COUNT_ACCEPTED, 1 },
	{ "requests_refused", KRDMA_COUNT_REQUESTS_REFUSED, 1 },
	{ "refused", KRDMA_COUNT_REFUSED_KEY, 2, krdma_refused_names },
	{ "auth_failed", KRDMA_COUNT_AUTH_FAILED, 1 },
	{ "max_conns_reached", KRDMA_COUNT_CONNS_OVER, 1 },
	{ "msg_memory_reached", KRDMA_COUNT_MEMORY_OVER, 1 },
	{ "connect_failed", KRDMA_COUNT_FAILED, KRDMA_WHYS, krdma_why_names },
	{ "ended", KRDMA_COUNT_ENDED, KRDMA_WHYS, krdma_why_names },
	{ "posted", KRDMA_COUNT_POSTED, KRDMA_WR_KINDS, krdma_kind_names },
	{ "completed", KRDMA_COUNT_WR_DONE, KRDMA_WR_KINDS, krdma_kind_names },
	{ "failed", KRDMA_COUNT_WR_FAILED, KRDMA_WR_KINDS, krdma_kind_names },
	{ "bytes", KRDMA_COUNT_BYTES, KRDMA_WR_KINDS, krdma_kind_names },
	{ "messages_sent", KRDMA_COUNT_MSGS_SENT, 1 },
	{ "messages_received", KRDMA_COUNT_MSGS_RECEIVED, 1 },
	{ "bytes_received", KRDMA_COUNT_BYTES_RECEIVED, 1 },
	{ "credit_stalls", KRDMA_COUNT_CREDIT_STALLS, 1 },
	{ "post_pauses", KRDMA_COUNT_POST_PAUSES, 1 },
	{ "credit_messages", KRDMA_COUNT_CREDIT_MSGS, 1 },
	{ "pings", KRDMA_COUNT_PINGS, 1 },
	{ "pongs", KRDMA_COUNT_PONGS, 1 },
	{ "byes", KRDMA_COUNT_BYES, 1 },
	{ "chunks_pulled", KRDMA_COUNT_PULLED, 1 },
	{ "writes_told", KRDMA_COUNT_WRITTEN, 1 },
	{ "alive_misses", KRDMA_COUNT_ALIVE_MISSES, 1 },
	{ "sealed", KRDMA_COUNT_SEALED, 2, krdma_seal_names },
	{ "opened", KRDMA_COUNT_OPENED, 2, krdma_seal_names },
	{ "rekeys", KRDMA_COUNT_REKEYS, 1 },
	{ "spins", KRDMA_COUNT_SPINS, 2, krdma_spin_names },
	{ "wc", KRDMA_COUNT_WC, KRDMA_WC_STATUSES, krdma_wc_names },
	{ "protocol_error", KRDMA_COUNT_BREACH, KRDMA_BREACHES,
	  krdma_breach_names },
	{ "regions_registered", KRDMA_COUNT_REGISTERED, 1 },
	{ "regions_revoked", KRDMA_COUNT_REVOKED, 1 },
	{ "regions_invalidated", KRDMA_COUNT_INVALIDATED, 1 },
	{ "mrs_allocated", KRDMA_COUNT_MRS_ALLOCATED, 1 },
	{ "mrs_reused", KRDMA_COUNT_MRS_REUSED, 1 },
	{ "device_removals", KRDMA_COUNT_DEVICE_REMOVALS, 1 },
};

/* ---- counting ---- */

/**
 * krdma_stats_why - return the class of an errno
 * @error: reason for which connecting failed or a connection ended
 *
 * Return: class of the errno.
 */
enum krdma_why krdma_stats_why(int error)
{
	switch (error) {
	case -ESHUTDOWN:
	case -EINTR:
		return KRDMA_WHY_CANCELLED;
	case -ETIMEDOUT:
		return KRDMA_WHY_TIMEOUT;
	case -ECONNREFUSED:
	case -EBUSY:
	case -EREMOTEIO:
	case -EPERM:
	case -EKEYREJECTED:
		return KRDMA_WHY_REFUSED;
	case -EHOSTUNREACH:
	case -ENETUNREACH:
	case -EADDRNOTAVAIL:
		return KRDMA_WHY_UNREACHABLE;
	case -ECONNRESET:
	case -ECONNABORTED:
		return KRDMA_WHY_RESET;
	case -ENODEV:
		return KRDMA_WHY_DEVICE;
	case -EPROTO:
	case -EBADMSG:
	case -EPROTONOSUPPORT:
	case -EPROTOTYPE:
		return KRDMA_WHY_PROTOCOL;
	case -ENOMEM:
	case -EDQUOT:
		return KRDMA_WHY_MEMORY;
	case -EACCES:
		return KRDMA_WHY_ACCESS;
	default:
		return KRDMA_WHY_OTHER;
	}
}

/**
 * krdma_count_module - count an event that belongs to no connection
 * @counter: counter
 *
 * Context: any.
 */
void krdma_count_module(enum krdma_counter counter)
{
	this_cpu_inc(krdma_counts[counter]);
}

/**
 * krdma_count_locked - add to a counter of a connection and of the module
 * @conn: connection or listener
 * @counter: counter
 * @n: number to add
 *
 * Context: any, @conn->lock held.
 */
void krdma_count_locked(struct krdma_conn *conn, enum krdma_counter counter,
			u64 n)
{
	lockdep_assert_held(&conn->lock);
	this_cpu_add(krdma_counts[counter], n);
	conn->stats.counts[counter] += n;
}

/**
 * krdma_count - count a rare event of a connection
 * @conn: connection or listener
 * @counter: counter
 *
 * Context: any; takes @conn->lock.
 */
void krdma_count(struct krdma_conn *conn, enum krdma_counter counter)
{
	unsigned long flags;

	spin_lock_irqsave(&conn->lock, flags);
	krdma_count_locked(conn, counter, 1);
	spin_unlock_irqrestore(&conn->lock, flags);
}

/**
 * krdma_stats_posted_locked - count an entry that was posted or queued
 * @conn: connection
 * @kwr: entry
 *
 * Context: any, @conn->lock held.
 */
void krdma_stats_posted_locked(struct krdma_conn *conn, struct krdma_wr *kwr)
{
	krdma_count_locked(conn, KRDMA_COUNT_POSTED + kwr->kind, 1);
	trace_krdma_post(conn->stats.id, kwr, 0);
	kwr->posted_ns = READ_ONCE(krdma_latency) ? ktime_get_ns() : 0;
}

/**
 * krdma_stats_done_locked - count an entry of the send queue that has ended
 * @conn: connection
 * @kwr: entry
 * @status: 0 or errno of the failure
 *
 * Context: any, @conn->lock held.
 */
void krdma_stats_done_locked(struct krdma_conn *conn,
			     const struct krdma_wr *kwr, int status)
{
	unsigned int bucket;

	trace_krdma_complete(conn->stats.id, kwr, status);
	if (status) {
		krdma_count_locked(conn, KRDMA_COUNT_WR_FAILED + kwr->kind, 1);
		return;
	}
	krdma_count_locked(conn, KRDMA_COUNT_WR_DONE + kwr->kind, 1);
	krdma_count_locked(conn, KRDMA_COUNT_BYTES + kwr->kind, kwr->len);
	if (kwr->posted_ns && kwr->kind < KRDMA_OPCODES) {
		bucket = ilog2((ktime_get_ns() - kwr->posted_ns) | 1);
		conn->stats.latency[min(bucket, KRDMA_LATENCIES - 1U)]++;
	}
}

/* ---- lists ---- */

/**
 * krdma_stats_add_conn - add a connection to the files in debugfs
 * @conn: new connection or listener
 *
 * Context: process.
 */
void krdma_stats_add_conn(struct krdma_conn *conn)
{
	conn->stats.born = jiffies;
	mutex_lock(&krdma_stats_lock);
	/* Skip 0, which is not used as the number of a connection. */
	krdma_last_id = krdma_last_id + 1 ?: 1;
	conn->stats.id = krdma_last_id;
	list_add_tail(&conn->stats.link, &krdma_conns);
	mutex_unlock(&krdma_stats_lock);
}

/**
 * krdma_stats_del_conn - remove a connection from debugfs, and wait for readers
 * @conn: connection or listener that is about to be freed
 *
 * Context: process.
 */
void krdma_stats_del_conn(struct krdma_conn *conn)
{
	mutex_lock(&krdma_stats_lock);
	list_del(&conn->stats.link);
	mutex_unlock(&krdma_stats_lock);
}

/**
 * krdma_stats_add_region - add a region to the files in debugfs
 * @region: statistics of the region, filled in
 *
 * Context: process.
 */
void krdma_stats_add_region(struct krdma_region_stats *region)
{
	mutex_lock(&krdma_stats_lock);
	list_add_tail(&region->link, &krdma_regions);
	mutex_unlock(&krdma_stats_lock);
}

/**
 * krdma_stats_del_region - remove a region from debugfs, and wait for readers
 * @region: statistics of the region, which may never have been added
 *
 * Context: process.
 */
void krdma_stats_del_region(struct krdma_region_stats *region)
{
	mutex_lock(&krdma_stats_lock);
	list_del_init(&region->link);
	mutex_unlock(&krdma_stats_lock);
}

/* ---- files ---- */

static const char * const krdma_role_names[] = {
	[KRDMA_CLIENT_CONN]	= "client",
	[KRDMA_LISTEN_CONN]	= "listener",
	[KRDMA_ACCEPT_CONN]	= "server",
};

static void krdma_seq_addr(struct seq_file *seq,
			   const struct sockaddr_storage *addr)
{
	if (addr->ss_family)
		seq_printf(seq, " %pISpc", addr);
	else
		seq_puts(seq, " -");
}

static const char * const krdma_security_names[] = {
	[KRDMA_SECURITY_NONE]	   = "none",
	[KRDMA_SECURITY_AUTH]	   = "auth",
	[KRDMA_SECURITY_INTEGRITY] = "integrity",
	[KRDMA_SECURITY_ENCRYPT]   = "encrypt",
};

static void krdma_seq_conn_locked(struct seq_file *seq,
				  const struct krdma_conn *conn)
{
	const struct krdma_credit none = {}, *credit = &none;
	const struct list_head *link;
	unsigned int in_flight = 0;

	lockdep_assert_held(&conn->lock);
	list_for_each(link, &conn->sq.posted)
		in_flight++;
	/*
	 * Before the connection was established, krdma_conn.msg may be
	 * incomplete.
	 */
	if (krdma_conn_was_established(conn) && conn->msg)
		credit = &conn->sq.credit;
	seq_printf(seq, " %s %s %u %d %u/%u %u %u",
		   *conn->stats.device ? conn->stats.device : "-",
		   krdma_state_name(conn->cb.state),
		   jiffies_to_msecs(jiffies - conn->stats.born), conn->error,
		   credit->avail, credit->unadvertised,
		   in_flight, conn->sq.npending);
	seq_printf(seq, " %s ", krdma_security_names[conn->p.security]);
	if (conn->auth)
		seq_printf(seq, "%08x\n", krdma_auth_key_id(conn->auth));
	else
		seq_puts(seq, "-\n");
}

static int krdma_connections_show(struct seq_file *seq, void *unused)
{
	struct krdma_conn *conn;
	unsigned long flags;

	seq_puts(seq, "id role local peer device state age_ms error credits in_flight pending security key\n");
	mutex_lock(&krdma_stats_lock);
	list_for_each_entry(conn, &krdma_conns, stats.link) {
		seq_printf(seq, "%u %s", conn->stats.id,
			   krdma_role_names[conn->cb.role]);
		krdma_seq_addr(seq, &conn->cm.local);
		krdma_seq_addr(seq, &conn->cm.peer);
		spin_lock_irqsave(&conn->lock, flags);
		krdma_seq_conn_locked(seq, conn);
		spin_unlock_irqrestore(&conn->lock, flags);
	}
	mutex_unlock(&krdma_stats_lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(krdma_connections);

static int krdma_paths_show(struct seq_file *seq, void *unused)
{
	struct krdma_conn *conn;
	struct krdma_path path;
	unsigned long flags;

	seq_puts(seq, "id role peer path_mtu local_mtu peer_mtu gid_type peer_gid_type traffic_class\n");
	mutex_lock(&krdma_stats_lock);
	list_for_each_entry(conn, &krdma_conns, stats.link) {
		if (conn->cb.role == KRDMA_LISTEN_CONN)
			continue;
		spin_lock_irqsave(&conn->lock, flags);
		path = conn->cm.path;
		spin_unlock_irqrestore(&conn->lock, flags);
		seq_printf(seq, "%u %s", conn->stats.id,
			   krdma_role_names[conn->cb.role]);
		krdma_seq_addr(seq, &conn->cm.peer);
		seq_printf(seq, " %u %u %u %s %s %u\n", path.mtu,
			   path.local_mtu, path.peer_mtu,
			   krdma_gid_name(path.gid_type),
			   krdma_gid_name(path.peer_gid_type), path.tclass);
	}
	mutex_unlock(&krdma_stats_lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(krdma_paths);

/*
 * Print all counters if @id is 0. If @id is not 0, print only the counters that
 * are not 0, each after the number @id.
 */
static void krdma_seq_counts(struct seq_file *seq, const u64 *counts, u32 id)
{
	const struct krdma_family *family = krdma_families;
	unsigned int i;

	for (; family < krdma_families + ARRAY_SIZE(krdma_families); family++) {
		for (i = 0; i < family->n; i++) {
			if (id && !counts[family->first + i])
				continue;
			if (id)
				seq_printf(seq, "%u ", id);
			seq_printf(seq, "%s%s%s %llu\n", family->name,
				   family->members ? "." : "",
				   family->members ? family->members[i] : "",
				   counts[family->first + i]);
		}
	}
}

static int krdma_counters_show(struct seq_file *seq, void *unused)
{
	u64 *sum = kcalloc(KRDMA_COUNTERS, sizeof(*sum), GFP_KERNEL);
	unsigned int cpu, i;

	if (!sum)
		return -ENOMEM;
	for_each_possible_cpu(cpu)
		for (i = 0; i < KRDMA_COUNTERS; i++)
			sum[i] += READ_ONCE(per_cpu(krdma_counts, cpu)[i]);
	krdma_seq_counts(seq, sum, 0);
	kfree(sum);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(krdma_counters);

static int krdma_conn_counters_show(struct seq_file *seq, void *unused)
{
	u64 *counts = kcalloc(KRDMA_COUNTERS, sizeof(*counts), GFP_KERNEL);
	struct krdma_conn *conn;
	unsigned long flags;

	if (!counts)
		return -ENOMEM;
	mutex_lock(&krdma_stats_lock);
	list_for_each_entry(conn, &krdma_conns, stats.link) {
		spin_lock_irqsave(&conn->lock, flags);
		memcpy(counts, conn->stats.counts, sizeof(conn->stats.counts));
		spin_unlock_irqrestore(&conn->lock, flags);
		krdma_seq_counts(seq, counts, conn->stats.id);
	}
	mutex_unlock(&krdma_stats_lock);
	kfree(counts);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(krdma_conn_counters);

static void krdma_seq_latency_locked(struct seq_file *seq,
				     const struct krdma_conn *conn)
{
	unsigned int i;

	lockdep_assert_held(&conn->lock);
	seq_printf(seq, "%u", conn->stats.id);
	for (i = 0; i < KRDMA_LATENCIES; i++)
		if (conn->stats.latency[i])
			seq_printf(seq, " %llu:%llu", 1ULL << i,
				   conn->stats.latency[i]);
	seq_putc(seq, '\n');
}

static int krdma_latency_show(struct seq_file *seq, void *unused)
{
	struct krdma_conn *conn;
	unsigned long flags;

	mutex_lock(&krdma_stats_lock);
	list_for_each_entry(conn, &krdma_conns, stats.link) {
		if (conn->cb.role == KRDMA_LISTEN_CONN)
			continue;
		spin_lock_irqsave(&conn->lock, flags);
		krdma_seq_latency_locked(seq, conn);
		spin_unlock_irqrestore(&conn->lock, flags);
	}
	mutex_unlock(&krdma_stats_lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(krdma_latency);

static int krdma_listeners_show(struct seq_file *seq, void *unused)
{
	const struct krdma_conn *conn;

	seq_puts(seq, "id local conns max_conns msg_bytes msg_memory unproved backlog\n");
	mutex_lock(&krdma_stats_lock);
	list_for_each_entry(conn, &krdma_conns, stats.link) {
		if (conn->cb.role != KRDMA_LISTEN_CONN)
			continue;
		seq_printf(seq, "%u", conn->stats.id);
		krdma_seq_addr(seq, &conn->cm.local);
		seq_printf(seq, " %d %u %lld %llu %d %u\n",
			   atomic_read(&conn->budget->conns),
			   conn->budget->max_conns,
			   atomic64_read(&conn->budget->bytes),
			   conn->budget->max_bytes,
			   atomic_read(&conn->budget->unproved),
			   conn->budget->max_unproved);
	}
	mutex_unlock(&krdma_stats_lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(krdma_listeners);

static int krdma_regions_show(struct seq_file *seq, void *unused)
{
	const struct krdma_region_stats *region;

	seq_puts(seq, "conn size mrs access rkey state\n");
	mutex_lock(&krdma_stats_lock);
	list_for_each_entry(region, &krdma_regions, link)
		seq_printf(seq, "%u %llu %u %#x %#x %s\n", region->conn_id,
			   region->size, region->nmrs, region->access,
			   region->rkey,
			   READ_ONCE(region->live) ? "live" : "dead");
	mutex_unlock(&krdma_stats_lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(krdma_regions);

DEFINE_SHOW_ATTRIBUTE(krdma_reconnect);

/**
 * krdma_stats_init - create the files in debugfs
 *
 * krdma also works without these files, so errors are ignored.
 */
void krdma_stats_init(void)
{
	struct dentry *dir = debugfs_create_dir(KBUILD_MODNAME, NULL);

	debugfs_create_file("connections", 0400, dir, NULL,
			    &krdma_connections_fops);
	debugfs_create_file("listeners", 0400, dir, NULL,
			    &krdma_listeners_fops);
	debugfs_create_file("counters", 0400, dir, NULL, &krdma_counters_fops);
	debugfs_create_file("conn_counters", 0400, dir, NULL,
			    &krdma_conn_counters_fops);
	debugfs_create_file("latency", 0400, dir, NULL, &krdma_latency_fops);
	debugfs_create_file("regions", 0400, dir, NULL, &krdma_regions_fops);
	debugfs_create_file("paths", 0400, dir, NULL, &krdma_paths_fops);
	debugfs_create_file("kept", 0400, dir, NULL, &krdma_reconnect_fops);
	krdma_debugfs = dir;
}

/**
 * krdma_stats_exit - undo krdma_stats_init()
 *
 * Waits for readers of the files.
 */
void krdma_stats_exit(void)
{
	debugfs_remove(krdma_debugfs);
}
