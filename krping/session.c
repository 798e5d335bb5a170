// SPDX-License-Identifier: GPL-2.0
/*
 * One run of one command: connect or accept, test, disconnect.
 *
 * krdma makes the connection and takes it down (its raw mode); the work
 * requests are ours. Teardown, in krping_session_close(): no more posting from
 * completions, disconnect and drain, free MRs and memory, release.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/nsproxy.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "priv.h"

/**
 * krping_session_alloc - make a session
 *
 * Return: a session without options, or NULL.
 */
struct krping_session *krping_session_alloc(void)
{
	struct krping_session *s = kzalloc(sizeof(*s), GFP_KERNEL);

	if (!s)
		return NULL;
	spin_lock_init(&s->lock);
	init_waitqueue_head(&s->wait);
	return s;
}

/**
 * krping_session_free - undo krping_session_alloc()
 * @s: session that does not run and is on no list
 */
void krping_session_free(struct krping_session *s)
{
	kfree(s);
}

static void krping_set_devname(struct krping_session *s, const char *name)
{
	unsigned long flags;

	spin_lock_irqsave(&s->lock, flags);
	strscpy(s->devname, name, sizeof(s->devname));
	spin_unlock_irqrestore(&s->lock, flags);
}

static int krping_qp_ready(struct krdma_cb *cb)
{
	struct krping_session *s = cb->context;
	struct ib_device *ibdev = cb->qp->device;
	int ret;

	if (!(ibdev->attrs.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS)) {
		pr_err("%u: %s cannot register memory with work requests\n",
		       s->id, dev_name(&ibdev->dev));
		return -EOPNOTSUPP;
	}
	s->ibdev = ibdev;
	ret = krping_io_init(s);
	if (ret)
		return ret;
	krping_set_devname(s, dev_name(&ibdev->dev));
	s->live = true;
	return 0;
}

/* Only wakes the task that runs the session: it closes, and nobody waits here. */
static void krping_closing(struct krdma_cb *cb, int reason)
{
	krping_fail(cb->context, reason);
}

static const struct krdma_ops krping_raw_ops = {
	.qp_ready = krping_qp_ready,
	.closing = krping_closing,
};

/*
 * No private data: that is how peers know that we speak the old protocol. One
 * READ at a time in either direction, as all peers offer and ask for. Any
 * signal ends a wait, see krping_wait().
 */
static void krping_fill_params(struct krping_session *s,
			       struct krdma_params *params)
{
	*params = (struct krdma_params){
		.size = sizeof(*params),
		.flags = KRDMA_RAW | KRDMA_INTERRUPTIBLE,
		.net = s->net,
		.context = s,
		.ops = &krping_raw_ops,
		.recv_depth = KRPING_RECVS,
		.responder_resources = 1,
		.initiator_depth = 1,
	};
}

static int krping_session_addr(struct krping_session *s,
			       struct sockaddr_storage *addr)
{
	const struct krping_opts *opts = &s->opts;
	char port[sizeof("65535")];
	int ret;

	snprintf(port, sizeof(port), "%u", opts->port);
	ret = krdma_parse_addr(s->net, opts->addr, port, addr);
	if (!opts->family || (!ret && addr->ss_family == opts->family))
		return ret;
	pr_err("%u: invalid address in %s=%*pE\n", s->id,
	       opts->family == AF_INET6 ? "addr6" : "addr",
	       (int)strlen(opts->addr), opts->addr);
	return -EINVAL;
}

static int krping_session_dial(struct krping_session *s,
			       const struct sockaddr_storage *addr)
{
	struct krdma_params params;
	struct krdma_reject rej;
	struct krdma_cb *cb;
	int ret;

	krping_fill_params(s, &params);
	cb = krdma_create(&params);
	if (IS_ERR(cb))
		return PTR_ERR(cb);
	s->cb = cb;
	s->step = "wait for CONNECTED";
	ret = krdma_connect_cb(cb, (const struct sockaddr *)addr);
	if (ret && krdma_get_reject(cb, &rej)) {
		pr_err("%u: %pISpc rejects, reason %d\n", s->id, addr,
		       rej.reason);
		s->step = NULL;
	}
	return ret;
}

static void krping_log_port(struct krping_session *s, struct krdma_cb *listener)
{
	struct sockaddr_storage addr;

	/* Nobody else can know which one it has become. */
	if (!s->opts.port && !krdma_local_addr(listener, &addr))
		pr_info("%u: listening on %pISpc\n", s->id, &addr);
}

static int krping_session_answer(struct krping_session *s,
				 const struct sockaddr_storage *addr)
{
	struct krdma_params params;
	struct krdma_cb *listener;
	int ret;

	krping_fill_params(s, &params);
	s->step = "bind";
	ret = krdma_listen_params((const struct sockaddr *)addr, &params,
				  &listener);
	if (ret)
		return ret;
	krping_log_port(s, listener);
	s->step = "wait for CONNECT_REQUEST";
	ret = krdma_wait_request(listener, 0, &s->cb);
	/* One client a command: others shall be told that nobody listens. */
	krdma_release_cb(listener);
	if (ret)
		return ret;
	s->step = "wait for CONNECTED";
	return krdma_accept_request(s->cb, NULL, 0);
}

static void krping_session_close(struct krping_session *s)
{
	if (s->live) {
		krping_fail(s, -ESHUTDOWN);
		krdma_drain(s->cb);
		krping_io_exit(s);
		s->live = false;
	}
	if (s->cb)
		krdma_release_cb(s->cb);
	s->cb = NULL;
}

static int krping_session_test(struct krping_session *s)
{
	struct sockaddr_storage addr;
	int ret;

	s->net = current->nsproxy->net_ns;
	ret = krping_session_addr(s, &addr);
	if (ret)
		return ret;
	if (s->opts.role == KRPING_ROLE_CLIENT)
		return krping_session_dial(s, &addr) ?:
		       krping_pingpong_client(s);
	return krping_session_answer(s, &addr) ?: krping_pingpong_server(s);
}

/**
 * krping_session_run - do what the command says
 * @s: session with its options
 *
 * Blocks until the test is over or the calling task gets a signal. Says in the
 * log what went wrong.
 *
 * Return: 0 or -errno.
 */
int krping_session_run(struct krping_session *s)
{
	int ret = krping_session_test(s);

	krping_session_close(s);
	/* Without a step there is a line already; a signal is no failure. */
	if (ret && ret != -EINTR && s->step)
		pr_err("%u: %s: error %d\n", s->id, s->step, ret);
	return ret;
}

static u64 krping_rtt_avg(const struct krping_rtt *rtt)
{
	return rtt->pings ? div64_u64(rtt->sum, rtt->pings) : 0;
}

/**
 * krping_session_result - what became of a run, for programs
 * @s: session that has run
 * @error: what krping_session_run() returned
 * @buf: result: one line of key=value
 * @size: of @buf
 */
void krping_session_result(const struct krping_session *s, int error,
			   char *buf, size_t size)
{
	const struct krping_rtt *rtt = &s->rtt;

	if (s->opts.role == KRPING_ROLE_SERVER)
		scnprintf(buf, size, "run=%u role=server error=%d size=%u\n",
			  s->id, error, s->opts.size);
	else
		scnprintf(buf, size,
			  "run=%u role=client error=%d size=%u count=%u pings=%llu rtt_min_ns=%llu rtt_avg_ns=%llu rtt_max_ns=%llu\n",
			  s->id, error, s->opts.size, s->opts.count,
			  rtt->pings, rtt->min, krping_rtt_avg(rtt), rtt->max);
}
