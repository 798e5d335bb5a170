// SPDX-License-Identifier: GPL-2.0
/* Defaults and ranges of the parameters of a connection. No locks, no verbs. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/numa.h>
#include <linux/printk.h>
#include <linux/ratelimit.h>
#include <linux/sizes.h>
#include <linux/stddef.h>
#include <linux/string.h>

#include "credit.h"
#include "priv.h"

#define KRDMA_FLAGS \
	(KRDMA_RAW | KRDMA_RW | KRDMA_INTERRUPTIBLE | KRDMA_LISTEN_FLAGS | \
	 KRDMA_SHARED_CQ | KRDMA_NOIO)

/*
 * Maximum depth of a queue. No present adapter gains from a larger one,
 * although rxe accepts 2^20.
 */
#define KRDMA_DEPTH_MAX 65536
/*
 * Maximum of each timeout: one hour. No useful wait is longer, and the time in
 * jiffies cannot wrap.
 */
#define KRDMA_TIMEOUT_MAX_MS (3600 * 1000)
/*
 * Maximum of krdma_params.mr_pool. On siw, where an MR has 1 MiB, the longest
 * message (1 GiB) needs this number of MRs.
 */
#define KRDMA_MR_POOL_MAX 1024
/*
 * Maximum of krdma_params.spin_us, because a task that polls keeps its
 * processor from other tasks.
 */
#define KRDMA_SPIN_MAX_US 1000
#define KRDMA_KEEPALIVE_MS 5000
/*
 * Default of krdma_params.ack_timeout on RoCE: 4.096 us * 2^17, which is 0.5 s.
 */
#define KRDMA_ACK_TIMEOUT_ROCE 17
/*
 * Default of krdma_params.max_conns. With default sizes, the receive buffers of
 * 1024 connections take up some 290 MB.
 */
#define KRDMA_CONNS_DEFAULT 1024
#define KRDMA_MSG_MEMORY_DEFAULT SZ_256M
/*
 * Assumed minimum rate of READs and WRITEs in each direction, in bytes per ms;
 * see krdma_params_bulk_max(). KRDMA_BULK_MIN, the smallest limit, is the
 * number of bytes that a link of 400 Gbit/s transfers in 20 us.
 */
#define KRDMA_BULK_PER_MS 4096
#define KRDMA_BULK_MIN SZ_1M

/*
 * Smallest valid krdma_params.size: the size of the struct in the first version
 * of krdma that allowed the struct to grow.
 */
#define KRDMA_PARAMS_SIZE_MIN offsetofend(struct krdma_params, path_mtu)

/*
 * Limit of the size member of a struct that a caller passes. A larger value
 * shows that the caller did not set the member.
 */
#define KRDMA_STRUCT_MAX 4096

/**
 * krdma_struct_in - copy a struct of a caller that may be older or newer
 * @to: result; members that the caller's version lacks are set to 0
 * @size: size of @to
 * @min: size of the struct in the first version of krdma that had it
 * @from: the caller's struct; its first member is its size
 *
 * Context: any.
 * Return: 0; -EINVAL if the size is not set or is less than @min; -E2BIG if the
 * caller has a member that this version does not know, and its value is not 0.
 */
int krdma_struct_in(void *to, size_t size, size_t min, const void *from)
{
	size_t theirs = *(const size_t *)from;

	if (theirs < min || theirs > KRDMA_STRUCT_MAX)
		return -EINVAL;
	if (theirs > size && memchr_inv(from + size, 0, theirs - size))
		return -E2BIG;
	memset(to, 0, size);
	memcpy(to, from, min(size, theirs));
	*(size_t *)to = size;
	return 0;
}

/**
 * krdma_struct_out - copy a struct to a caller that may be older or newer
 * @to: the caller's struct; its first member is its size. Members that this
 *	version does not know are set to 0
 * @min: size of the struct in the first version of krdma that had it
 * @from: struct to copy; its first member is its size
 *
 * Context: any.
 * Return: 0, or -EINVAL if the size of @to is not set or is less than @min.
 */
int krdma_struct_out(void *to, size_t min, const void *from)
{
	size_t theirs = *(size_t *)to, size = *(const size_t *)from;

	if (theirs < min || theirs > KRDMA_STRUCT_MAX)
		return -EINVAL;
	memset(to, 0, theirs);
	memcpy(to, from, min(size, theirs));
	*(size_t *)to = theirs;
	return 0;
}

static void krdma_default_u32(u32 *value, u32 def)
{
	if (!*value)
		*value = def;
}

static void krdma_default_u8(u8 *value, u8 def)
{
	if (!*value)
		*value = def;
	else if (*value == KRDMA_ZERO)
		*value = 0;
}

static void krdma_params_defaults(struct krdma_params *p)
{
	krdma_default_u32(&p->addr_timeout_ms, 2000);
	krdma_default_u32(&p->route_timeout_ms, 2000);
	krdma_default_u32(&p->connect_timeout_ms, 10000);
	krdma_default_u32(&p->op_timeout_ms, 30000);
	krdma_default_u32(&p->keepalive_ms, KRDMA_KEEPALIVE_MS);
	krdma_default_u32(&p->backlog, 64);
	krdma_default_u32(&p->send_depth, 64);
	krdma_default_u32(&p->recv_depth, 64);
	krdma_default_u32(&p->max_send_sge, p->flags & KRDMA_RAW ? 1 : 6);
	krdma_default_u32(&p->max_recv_sge, 1);
	krdma_default_u32(&p->buf_size, 4096);
	krdma_default_u32(&p->max_msg, KRDMA_MAX_MSG_DEFAULT);
	krdma_default_u32(&p->pull_min, 65536);
	krdma_default_u32(&p->max_conns, KRDMA_CONNS_DEFAULT);
	if (!p->msg_memory)
		p->msg_memory = max_t(u64, KRDMA_MSG_MEMORY_DEFAULT,
				      4ULL * p->max_msg);
	krdma_default_u8(&p->responder_resources, 16);
	krdma_default_u8(&p->initiator_depth, 16);
	krdma_default_u8(&p->retry_count, 6);
	krdma_default_u8(&p->rnr_retry_count, p->flags & KRDMA_RAW ? 7 : 6);
	krdma_default_u8(&p->min_rnr_timer, 12);
}

static bool krdma_params_times_ok(const struct krdma_params *p)
{
	return p->addr_timeout_ms <= KRDMA_TIMEOUT_MAX_MS &&
	       p->route_timeout_ms <= KRDMA_TIMEOUT_MAX_MS &&
	       p->connect_timeout_ms <= KRDMA_TIMEOUT_MAX_MS &&
	       p->op_timeout_ms <= KRDMA_TIMEOUT_MAX_MS &&
	       (p->keepalive_ms <= KRDMA_TIMEOUT_MAX_MS ||
		p->keepalive_ms == KRDMA_NEVER) &&
	       (p->ack_timeout <= 31 || p->ack_timeout == KRDMA_ZERO) &&
	       p->retry_count <= 7 &&
	       p->rnr_retry_count <= 7 && p->min_rnr_timer <= 31 &&
	       p->spin_us <= KRDMA_SPIN_MAX_US;
}

static bool krdma_params_sizes_ok(const struct krdma_params *p)
{
	return p->backlog <= KRDMA_DEPTH_MAX && p->max_conns <= INT_MAX &&
	       p->send_depth <= KRDMA_DEPTH_MAX &&
	       p->recv_depth <= KRDMA_DEPTH_MAX &&
	       p->max_send_sge <= 256 && p->max_recv_sge <= 256 &&
	       p->max_inline <= 4096 && p->poll <= KRDMA_POLL_DIRECT &&
	       p->srq_depth <= KRDMA_DEPTH_MAX &&
	       (!p->path_mtu ||
		(is_power_of_2(p->path_mtu) && p->path_mtu >= 256 &&
		 p->path_mtu <= 4096)) &&
	       (p->numa_node <= MAX_NUMNODES || p->numa_node == KRDMA_NEVER);
}

static bool krdma_params_raw_ok(const struct krdma_params *p)
{
	/* Raw mode has neither messages nor an exported buffer. */
	if (p->flags & KRDMA_RW || (p->ops && p->ops->receive))
		return false;
	/* The owner has both functions of an SRQ, or neither. */
	if (p->ops && !p->ops->get_srq != !p->ops->put_srq)
		return false;
	/*
	 * The connection may not share its CQ if the owner polls the CQ itself,
	 * or with an SRQ. A receive of an SRQ may complete as long as the CQ
	 * exists. If other connections kept the CQ, the receive could complete
	 * after the owner has freed its memory.
	 */
	if (p->flags & KRDMA_SHARED_CQ &&
	    (p->poll == KRDMA_POLL_DIRECT || p->srq_depth))
		return false;
	return p->private_data_len <= KRDMA_RAW_PRIVATE_DATA_MAX;
}

static bool krdma_params_msg_ok(const struct krdma_params *p)
{
	return !(p->ops && (p->ops->qp_ready || p->ops->get_srq ||
			    p->ops->put_srq)) && p->poll != KRDMA_POLL_DIRECT &&
	       p->private_data_len <= KRDMA_PRIVATE_DATA_MAX &&
	       p->max_send_sge >= 2 && !p->max_inline && !p->srq_depth &&
	       p->recv_depth >= KRDMA_CREDIT_MIN_DEPTH &&
	       p->recv_depth <= KRDMA_WIRE_DEPTH_MAX &&
	       p->buf_size >= KRDMA_WIRE_BUF_MIN &&
	       p->buf_size <= KRDMA_WIRE_BUF_MAX &&
	       p->max_msg <= KRDMA_WIRE_MSG_MAX &&
	       p->max_msg <= p->msg_memory &&
	       (p->mr_pool <= KRDMA_MR_POOL_MAX || p->mr_pool == KRDMA_NEVER);
}

static int krdma_params_check_security(const struct krdma_params *p)
{
	if (p->security == KRDMA_SECURITY_NONE)
		return p->keys ? -EINVAL : 0;
	if (p->security > KRDMA_SECURITY_ENCRYPT || p->flags & KRDMA_RAW ||
	    p->private_data_len > KRDMA_SECURE_PRIVATE_DATA_MAX)
		return -EINVAL;
	/* The peer's adapter would read and write memory without a tag. */
	if (p->security > KRDMA_SECURITY_AUTH && p->flags & KRDMA_RW)
		return -EOPNOTSUPP;
	/* The owner of a listener may choose the keys of each request. */
	return p->keys || (p->ops && p->ops->keys) ? 0 : -ENOKEY;
}

/**
 * krdma_params_take - copy a user's parameters
 * @p: result, undefined on error
 * @user: the user's parameters; NULL means all defaults
 *
 * Return: 0, or an errno of krdma_struct_in().
 */
int krdma_params_take(struct krdma_params *p, const struct krdma_params *user)
{
	*p = (struct krdma_params){ .size = sizeof(*p) };
	if (!user)
		return 0;
	if (!user->size)
		pr_warn_ratelimited("krdma_params.size is not set, parameters refused\n");
	return krdma_struct_in(p, sizeof(*p), KRDMA_PARAMS_SIZE_MIN, user);
}

/**
 * krdma_params_set - copy a user's parameters, fill in defaults, and check them
 * @p: result, undefined on error
 * @user: the user's parameters; NULL means all defaults
 *
 * Return: 0; -EINVAL if a value is out of range, a flag is unknown or the size
 * is not set; -E2BIG if a member that this version does not know is not 0;
 * -EOPNOTSUPP or -ENOKEY as for &krdma_params.security.
 */
int krdma_params_set(struct krdma_params *p, const struct krdma_params *user)
{
	int ret = krdma_params_take(p, user);

	if (ret)
		return ret;
	if (p->flags & ~(u32)KRDMA_FLAGS)
		return -EINVAL;
	if (p->private_data_len && !p->private_data)
		return -EINVAL;
	krdma_params_defaults(p);
	if (!krdma_params_times_ok(p) || !krdma_params_sizes_ok(p))
		return -EINVAL;
	if (p->flags & KRDMA_RAW ? !krdma_params_raw_ok(p) :
				   !krdma_params_msg_ok(p))
		return -EINVAL;
	return krdma_params_check_security(p);
}

/**
 * krdma_params_ack_timeout - return the local ack timeout of a QP
 * @p: parameters
 * @roce: the transport is RoCE
 * @timeout: result: the exponent; unchanged if the CM's own value is to be used
 *
 * On InfiniBand the CM computes the timeout from the packet life time that the
 * subnet manager assigns to the path. Only an explicit parameter replaces that
 * timeout. On RoCE, which has no subnet manager, krdma's default replaces the
 * CM's default, which is 2 s in Linux 6.1.
 *
 * Context: any.
 * Return: true if @timeout was set.
 */
bool krdma_params_ack_timeout(const struct krdma_params *p, bool roce,
			      u8 *timeout)
{
	if (!p->ack_timeout && !roce)
		return false;
	*timeout = p->ack_timeout;
	krdma_default_u8(timeout, KRDMA_ACK_TIMEOUT_ROCE);
	return true;
}

/**
 * krdma_params_bulk_max - return the limit of READs and WRITEs in flight
 * @keepalive_ms: &krdma_params.keepalive_ms
 *
 * The peer's processor does not notice READs and WRITEs, so the peer sends
 * probes (PING) while only these are in flight. This side's answer (PONG) goes
 * to the end of its send queue. The answer must arrive before the third probe
 * times out, which is three intervals of the peer after the first probe.
 *
 * At the assumed rate, a full queue is empty after one interval. The probe may
 * wait one interval behind a full queue of the peer, and the answer may wait
 * one interval here. So one of the three intervals is left. The peer's interval
 * is not known here. So the shorter one of @keepalive_ms and the default is
 * used.
 *
 * Return: limit in bytes; one further request may exceed it.
 */
u32 krdma_params_bulk_max(u32 keepalive_ms)
{
	u32 ms = min_t(u32, keepalive_ms, KRDMA_KEEPALIVE_MS);

	return max_t(u32, ms * KRDMA_BULK_PER_MS, KRDMA_BULK_MIN);
}

/**
 * krdma_params_forget - drop pointers to memory of the caller
 * @p: parameters whose pointers have been used, or are not needed
 *
 * The pointer to the callbacks stays, because the owner keeps the callbacks as
 * long as the connection exists.
 *
 * Context: any.
 */
void krdma_params_forget(struct krdma_params *p)
{
	p->net = NULL;
	p->domain = NULL;
	p->keys = NULL;
	p->src = NULL;
	p->private_data = NULL;
	p->private_data_len = 0;
}
