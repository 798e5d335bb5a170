// SPDX-License-Identifier: GPL-2.0
/*
 * One connection of a run: connect or accept, test, disconnect.
 *
 * krdma establishes and releases the connection (in its raw mode). krping posts
 * the work requests itself. krping_session_finish() stops completion handlers
 * from posting, disconnects and drains, frees MRs and memory, and releases the
 * connection.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kernel.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <rdma/rdma_cm.h>

#include "priv.h"

/* Maximum total size in bytes of the receives for a stream of messages. */
#define KRPING_WINDOW_BYTES (32 << 20)
/* Maximum number of receives for a stream of messages. */
#define KRPING_WINDOW_MAX 1024
/*
 * Number of READs and atomics in flight that the rbw and atomic tests request
 * for a connection. All other tests request one.
 */
#define KRPING_READS 16

static u32 krping_recv_len(const struct krping_opts *opts)
{
	if (opts->test != KRPING_TEST_SBW && opts->test != KRPING_TEST_SLAT)
		return sizeof(struct krping_wire);
	return max_t(u32, opts->size, sizeof(struct krping_wire));
}

/*
 * Return the number of receives in addition to the window, for messages that
 * are not part of a stream.
 */
static u32 krping_recvs(const struct krping_opts *opts)
{
	return opts->test == KRPING_TEST_SBW || opts->imm ? 2 * KRPING_RECVS :
							    KRPING_RECVS;
}

static u32 krping_window(const struct krping_opts *opts)
{
	u32 most = KRPING_WINDOW_BYTES / krping_recv_len(opts);

	/* Each message, or WRITE with immediate data, consumes a receive. */
	if (opts->role != KRPING_ROLE_SERVER ||
	    (opts->test != KRPING_TEST_SBW &&
	     !(opts->test == KRPING_TEST_BW && opts->imm)))
		return 0;
	most = min_t(u32, most, KRPING_WINDOW_MAX);
	if (opts->srq)
		most = min(most, krping_pool_share(opts) - krping_recvs(opts));
	return min(2 * opts->txdepth + 2, most);
}

/**
 * krping_session_alloc - allocate a session
 * @run: run that the session will belong to
 *
 * Return: a session without a connection, or NULL.
 */
struct krping_session *krping_session_alloc(struct krping_run *run)
{
	const struct krping_opts *opts = &run->opts;
	struct krping_session *s = kzalloc(sizeof(*s), GFP_KERNEL);

	if (!s)
		return NULL;
	s->progress.parts =
		kvcalloc(run->nparts, sizeof(*s->progress.parts), GFP_KERNEL);
	if (!s->progress.parts) {
		kfree(s);
		return NULL;
	}
	s->progress.part = s->progress.parts;
	s->run = run;
	s->id = run->id;
	s->opts = opts;
	s->plan.size = opts->test == KRPING_TEST_ATOMIC ? sizeof(u64) :
							  opts->size;
	s->progress.len = s->plan.size;
	s->plan.count = opts->count;
	s->plan.duration_s = opts->duration_s;
	s->plan.warmup = opts->warmup;
	/* The task of wlat polls memory, and can also poll for completions. */
	s->conn.direct = opts->poll || opts->test == KRPING_TEST_WLAT;
	s->plan.window = krping_window(opts);
	s->recv.n = s->plan.window + krping_recvs(opts);
	s->recv.len = krping_recv_len(opts);
	spin_lock_init(&s->lock);
	init_waitqueue_head(&s->wait);
	krping_idle_init(s);
	return s;
}

/**
 * krping_session_free - undo krping_session_alloc()
 * @s: session without a connection, on no list
 */
void krping_session_free(struct krping_session *s)
{
	kvfree(s->progress.parts);
	kfree(s);
}

/**
 * krping_session_set_cb - set or clear the connection of a session
 * @s: session
 * @cb: connection, or NULL
 *
 * Return: 0, or the error with which the run is being stopped. In this case
 * krping_run_stop() has already run, and does not disconnect @cb.
 */
int krping_session_set_cb(struct krping_session *s, struct krdma_cb *cb)
{
	int ret;

	mutex_lock(&s->run->lock);
	s->conn.cb = cb;
	ret = s->run->stop;
	mutex_unlock(&s->run->lock);
	return ret;
}

/*
 * Check whether a device can run the command. Return the capability that it
 * lacks, or NULL.
 */
static const char *krping_device_lacks(const struct krping_opts *opts,
				       const struct ib_device *ibdev, u32 port)
{
	bool iwarp = rdma_protocol_iwarp(ibdev, port);

	if (!(ibdev->attrs.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS))
		return "register memory with work requests";
	/*
	 * Only iWARP has READ with invalidate, although rxe and other drivers
	 * claim this capability.
	 */
	if (opts->read_inv && !iwarp)
		return "invalidate by a READ, which read_inv requires";
	if (opts->imm && iwarp)
		return "send immediate data, which imm requires";
	if (opts->test == KRPING_TEST_ATOMIC &&
	    ibdev->attrs.atomic_cap == IB_ATOMIC_NONE)
		return "do atomics, which atomic requires";
	return NULL;
}

static int krping_check_device(struct krping_session *s,
			       const struct ib_device *ibdev, u32 port)
{
	const struct krping_opts *opts = s->opts;
	const char *lacks = krping_device_lacks(opts, ibdev, port);

	if (lacks) {
		pr_err_ratelimited("%u: %s cannot %s\n", s->id,
				   dev_name(&ibdev->dev), lacks);
		s->step = NULL;
		return -EOPNOTSUPP;
	}
	if (!*opts->dev || !strcmp(opts->dev, dev_name(&ibdev->dev)))
		return 0;
	pr_err_ratelimited("%u: dev=%s, but the route uses %s\n", s->id,
			   opts->dev, dev_name(&ibdev->dev));
	s->step = NULL;
	return -ENODEV;
}

static int krping_qp_ready(struct krdma_cb *cb)
{
	struct krping_session *s = cb->context;
	struct ib_device *ibdev = cb->qp->device;
	int ret;

	ret = krping_check_device(s, ibdev, cb->cm_id->port_num);
	if (ret)
		return ret;
	s->conn.ibdev = ibdev;
	ret = krping_io_init(s);
	if (ret)
		return ret;
	mutex_lock(&s->run->lock);
	strscpy(s->run->devname, dev_name(&ibdev->dev),
		sizeof(s->run->devname));
	mutex_unlock(&s->run->lock);
	s->conn.live = true;
	return 0;
}

/*
 * Wake the session's task, which closes the connection. This callback of krdma
 * must not wait.
 */
static void krping_closing(struct krdma_cb *cb, int reason)
{
	krping_fail(cb->context, reason);
}

static const struct krdma_ops krping_raw_ops = {
	.qp_ready = krping_qp_ready,
	.closing = krping_closing,
	.get_srq = krping_pool_get_srq,
	.put_srq = krping_pool_put_srq,
};

static u8 krping_reads_in_flight(const struct krping_opts *opts)
{
	return opts->test == KRPING_TEST_RBW ||
	       opts->test == KRPING_TEST_ATOMIC ? KRPING_READS : 1;
}

/**
 * krping_session_params - fill in the parameters of the connections of a run
 * @run: run
 * @params: result, without the context
 *
 * All old peers offer and request one READ in flight in each direction. krping
 * does the same, unless the test is unknown to old peers. Any signal ends a
 * wait, see krping_wait_until(). retry_count keeps krdma's default of 6: with
 * 7, rxe would retry without end, and never detect a dead peer.
 */
void krping_session_params(const struct krping_run *run,
			   struct krdma_params *params)
{
	const struct krping_opts *opts = &run->opts;
	u32 nrecvs = krping_window(opts) + krping_recvs(opts);

	if (krping_is_message(opts)) {
		krping_message_params(run, params);
		return;
	}
	*params = (struct krdma_params){
		.size = sizeof(*params),
		.flags = KRDMA_RAW | KRDMA_INTERRUPTIBLE,
		.net = run->net,
		.domain = run->domain,
		.ops = &krping_raw_ops,
		.tos = opts->tos,
		.connect_timeout_ms = opts->conn_timeout_ms ?:
				      KRPING_CONN_TIMEOUT_MAX,
		.send_depth = opts->txdepth + KRPING_EXTRA_SENDS,
		.recv_depth = nrecvs,
		.srq_depth = opts->srq ? nrecvs * krping_pool_conns(opts) : 0,
		.max_inline = opts->inline_len,
		.poll = opts->poll || opts->test == KRPING_TEST_WLAT ?
				KRDMA_POLL_DIRECT : KRDMA_POLL_SOFTIRQ,
		.comp_vector = opts->vector,
		.responder_resources = krping_reads_in_flight(opts),
		.initiator_depth = krping_reads_in_flight(opts),
	};
}

/**
 * krping_session_parse - parse an address of a command
 * @run: run
 * @text: text of the address; empty means any address
 * @port: port in host order
 * @addr: result
 *
 * Return: 0, or -EINVAL after a line in the log.
 */
int krping_session_parse(const struct krping_run *run, const char *text,
			 u32 port, struct sockaddr_storage *addr)
{
	const struct krping_opts *opts = &run->opts;
	char number[sizeof("65535")];
	const char *name = "addr";
	int ret;

	snprintf(number, sizeof(number), "%u", port);
	ret = krdma_parse_addr(run->net, text, number, addr);
	if (!opts->family || (!ret && addr->ss_family == opts->family))
		return ret;
	if (text == opts->src)
		name = "src";
	else if (opts->family == AF_INET6)
		name = "addr6";
	pr_err_ratelimited("%u: invalid address in %s=%*pE\n", run->id, name,
			   (int)strlen(text), text);
	return -EINVAL;
}

/*
 * Set the source address to src=, or without src= to an address of the device
 * dev=. If the command has neither option, or no address of the device is
 * known, routing chooses the source address.
 */
static int krping_session_src(struct krping_session *s,
			      const struct sockaddr_storage *dst,
			      struct sockaddr_storage *src,
			      struct krdma_params *params)
{
	int ret;

	if (*s->opts->src) {
		ret = krping_session_parse(s->run, s->opts->src, 0, src);
		if (ret)
			return ret;
	} else if (!*s->opts->dev ||
		   krping_device_addr(s->opts->dev, s->run->net, dst,
				      src)) {
		return 0;
	}
	params->src = (const struct sockaddr *)src;
	return 0;
}

/**
 * krping_session_dial - connect a client's session to the server
 * @s: client's session on its run's list
 *
 * Return: 0 or -errno. The caller calls krping_session_finish() in both cases.
 */
int krping_session_dial(struct krping_session *s)
{
	union krping_wire_any_hello hello;
	struct sockaddr_storage addr, src;
	struct krdma_params params;
	struct krdma_reject rej;
	struct krdma_cb *cb;
	int ret;

	krping_session_params(s->run, &params);
	ret = krping_session_parse(s->run, s->opts->addr, s->opts->port,
				   &addr) ?:
	      krping_session_src(s, &addr, &src, &params);
	if (ret)
		return ret;
	params.context = s;
	if (!s->opts->compat) {
		params.private_data = &hello;
		params.private_data_len = krping_hello_fill(s, &hello);
	}
	cb = krdma_create(&params);
	if (IS_ERR(cb))
		return PTR_ERR(cb);
	s->step = "wait for CONNECTED";
	ret = krping_session_set_cb(s, cb) ?:
	      krdma_connect_cb(cb, (const struct sockaddr *)&addr);
	if (!ret)
		return krping_hello_take(s);
	/* If the server has rejected the connection, log its reason. */
	if (!krdma_get_reject(cb, &rej))
		return ret;
	s->step = NULL;
	if (krping_hello_refused(s, rej.private_data, rej.private_data_len))
		return -EPROTOTYPE;
	pr_err_ratelimited("%u: %pISpc rejects, reason %d\n", s->id, &addr,
			   rej.reason);
	return ret;
}

/**
 * krping_session_accept - accept a connection request
 * @s: server's session on its run's list, with the requested connection
 *
 * Return: 0 or -errno. The caller calls krping_session_finish() in both cases.
 */
int krping_session_accept(struct krping_session *s)
{
	union krping_wire_any_hello hello;
	struct krdma_params params;
	u8 len;
	int ret = krping_hello_answer(s, &hello, &len);

	if (ret) {
		krdma_reject_request(s->conn.cb, &hello, len);
		s->step = NULL;
		return ret;
	}
	krping_session_params(s->run, &params);
	params.context = s;
	s->step = "wait for CONNECTED";
	ret = krdma_set_request_params(s->conn.cb, &params);
	return ret ?:
	       krdma_accept_request(s->conn.cb, len ? &hello : NULL, len);
}

/**
 * krping_session_test - run the test
 * @s: connected session
 *
 * Return: 0 or -errno.
 */
int krping_session_test(struct krping_session *s)
{
	bool is_client = s->opts->role == KRPING_ROLE_CLIENT;
	struct krdma_caps caps = { .size = sizeof(caps) };
	int ret = krdma_query(s->conn.cb, &caps);

	if (ret)
		return ret;
	if (krping_is_message(s->opts))
		return krping_message_test(s, &caps);
	/* The device may provide fewer send queue slots than requested. */
	if (caps.send_depth <= KRPING_EXTRA_SENDS)
		return -EOPNOTSUPP;
	s->conn.depth =
		min(s->opts->txdepth, caps.send_depth - KRPING_EXTRA_SENDS);
	ret = krping_turn_take(s);
	if (ret)
		return ret;
	krping_idle_start(s);
	if (s->opts->test == KRPING_TEST_PING)
		ret = is_client ? krping_pingpong_client(s) :
				  krping_pingpong_server(s);
	else if (s->opts->test == KRPING_TEST_FR)
		ret = krping_fr(s);
	else
		ret = is_client ? krping_bench_client(s) :
				  krping_bench_server(s);
	krping_idle_stop(s);
	krping_turn_give(s);
	return ret;
}

/**
 * krping_session_finish - close the connection of a session
 * @s: session, connected or not
 * @ret: 0, or the error with which the session failed to connect or to complete
 *	the test
 *
 * This function logs a failure that is not logged yet.
 *
 * Return: 0 if @ret is 0. Otherwise the error that has stopped the run, or @ret
 * if the run was not stopped.
 */
int krping_session_finish(struct krping_session *s, int ret)
{
	struct krdma_cb *cb = s->conn.cb;

	if (s->conn.live) {
		krping_fail(s, -ESHUTDOWN);
		krdma_drain(cb);
		krping_io_exit(s);
		s->conn.live = false;
	}
	krping_session_set_cb(s, NULL);
	if (cb)
		krdma_release_cb(cb);
	if (ret)
		ret = READ_ONCE(s->run->stop) ?: ret;
	/*
	 * If step is NULL, the failure is already logged. A session that a
	 * signal or a stop command has ended did not fail.
	 */
	if (ret && ret != -EINTR && ret != -ECANCELED && s->step)
		pr_err_ratelimited("%u: %s: error %d\n", s->id, s->step, ret);
	return ret;
}
