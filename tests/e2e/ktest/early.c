// SPDX-License-Identifier: GPL-2.0
/*
 * Send on a connection while another task still connects or accepts it.
 *
 * Until the connection is ready, sending must fail with -ENOTCONN, because the
 * message must not precede krdma's own first message. Afterwards sending must
 * succeed.
 */
#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "priv.h"

#define KTEST_EARLY_LEN 64
#define KTEST_EARLY_MS 10000

/**
 * struct ktest_early - a task that sends as early as it can
 * @cb: connection
 * @posts: send by krdma_post(), not by krdma_send_timeout()
 * @req: the request, if @posts is true
 * @done: completed when @req completes
 * @status: result of @req
 * @refused: number of calls that returned -ENOTCONN
 * @unready: number of calls that returned -ENOTCONN although
 *	krdma_is_established() had returned true before
 * @ret: result of the first call that did not return -ENOTCONN
 * @ended: completed when @ret is valid
 * @buf: message
 */
struct ktest_early {
	struct krdma_cb *cb;
	bool posts;
	struct krdma_req req;
	struct completion done;
	int status;
	u32 refused;
	u32 unready;
	int ret;
	struct completion ended;
	u8 buf[KTEST_EARLY_LEN];
};

static void ktest_early_done(struct krdma_req *req, int status)
{
	struct ktest_early *early = container_of(req, struct ktest_early, req);

	early->status = status;
	complete(&early->done);
}

static int ktest_early_post(struct ktest_early *early)
{
	int ret;

	early->req = (struct krdma_req){
		.opcode = KRDMA_SEND,
		.local = {
			.mem = KRDMA_MEM_VIRT,
			.virt = early->buf,
			.len = sizeof(early->buf),
		},
		.done = ktest_early_done,
	};
	ret = krdma_post(early->cb, &early->req);
	if (ret)
		return ret;
	/* No timeout is needed, because every posted request completes. */
	wait_for_completion(&early->done);
	return early->status;
}

static int ktest_early_send(struct ktest_early *early)
{
	bool ready = krdma_is_established(early->cb);
	int ret;

	ret = early->posts ? ktest_early_post(early) :
	      krdma_send_timeout(early->cb, early->buf, sizeof(early->buf),
				 KTEST_EARLY_MS);
	if (ret != -ENOTCONN)
		return ret;
	early->refused++;
	early->unready += ready;
	return ret;
}

/*
 * Send repeatedly until krdma does not return -ENOTCONN. This loop ends at the
 * latest when connecting times out. The timeout closes the connection, and
 * krdma then returns another error.
 */
static int ktest_early_thread(void *data)
{
	struct ktest_early *early = data;

	do {
		early->ret = ktest_early_send(early);
		cond_resched();
	} while (early->ret == -ENOTCONN);
	complete(&early->ended);
	return 0;
}

/*
 * Connect to @address, or accept the request early->cb if @address is NULL. At
 * the same time, another task sends on the connection.
 */
static int ktest_early_run(struct ktest_early *early,
			   const struct sockaddr *address, u32 *refused)
{
	struct task_struct *task;
	u8 *buf = early->buf;
	int ret;

	init_completion(&early->done);
	init_completion(&early->ended);
	ktest_fill(buf, KTEST_EARLY_LEN);
	task = kthread_run(ktest_early_thread, early, "ktest_early");
	if (IS_ERR(task))
		return PTR_ERR(task);
	ret = address ? krdma_connect_cb(early->cb, address) :
	      krdma_accept_request(early->cb, NULL, 0);
	wait_for_completion(&early->ended);
	ret = ret ?: early->ret;
	if (!ret && early->unready)
		ret = -EPROTO;
	*refused += early->refused;
	return ret;
}

/* Receive the message that the early task of the other side has sent. */
static int ktest_early_receive(struct krdma_cb *cb, u8 *buf)
{
	int ret = krdma_receive_len(cb, buf, KTEST_EARLY_LEN, KTEST_EARLY_MS);

	if (ret < 0)
		return ret;
	return ret == KTEST_EARLY_LEN ? ktest_check(buf, ret) : -EBADMSG;
}

/*
 * Receive and ignore messages, until the peer disconnects or none arrives for
 * @ms.
 */
static void ktest_early_linger(struct krdma_cb *cb, u8 *buf, u32 ms)
{
	while (krdma_receive_len(cb, buf, KTEST_EARLY_LEN, ms) >= 0)
		cond_resched();
}

/*
 * Receive the peer's early message, and end the connection. Destroying the
 * client's QP may drop an ACK that the server still waits for. So the server
 * sends a second message, and the client disconnects only after it has received
 * this message. By this time the server has got the ACK of its early message.
 * The ACK of the second message may be dropped, so the server ignores the
 * result of sending it.
 */
static int ktest_early_end(struct krdma_cb *cb, bool accepts, u8 *buf)
{
	int ret = ktest_early_receive(cb, buf);

	if (ret)
		return ret;
	if (!accepts)
		return ktest_early_receive(cb, buf);
	krdma_send_timeout(cb, buf, KTEST_EARLY_LEN, KTEST_EARLY_MS);
	ktest_early_linger(cb, buf, KTEST_EARLY_MS);
	return 0;
}

static int ktest_early_round(struct krdma_cb *cb, const struct sockaddr *address,
			     bool posts, u32 *refused)
{
	struct ktest_early *early = kzalloc(sizeof(*early), GFP_KERNEL);
	int ret = -ENOMEM;

	if (early) {
		early->cb = cb;
		early->posts = posts;
		ret = ktest_early_run(early, address, refused) ?:
		      ktest_early_end(cb, !address, early->buf);
	}
	krdma_release_cb(cb);
	kfree(early);
	return ret;
}

static int ktest_early_connect(struct ktest_ctx *ctx,
			       const struct ktest_args *args, u32 i, u32 *refused)
{
	struct ktest_slot dummy = {};
	struct sockaddr_storage dst, src;
	struct krdma_params p;
	struct krdma_cb *cb;
	int ret;

	ret = krdma_parse_addr(ctx->net, ktest_arg(args, 2), ktest_arg(args, 3),
			       &dst) ?:
	      ktest_fill_params(ctx, args, &dummy, &p, &src);
	if (ret)
		return ret;
	cb = krdma_create(&p);
	if (IS_ERR(cb))
		return PTR_ERR(cb);
	return ktest_early_round(cb, (struct sockaddr *)&dst, i % 2, refused);
}

static int ktest_early_accept(struct ktest_ctx *ctx,
			      const struct ktest_args *args, u32 i, u32 *refused)
{
	struct ktest_slot *slot = ktest_slot_find(ctx, ktest_arg(args, 2));
	struct krdma_cb *listen_cb, *cb;
	int ret = -ENOTCONN;

	if (IS_ERR(slot))
		return PTR_ERR(slot);
	listen_cb = ktest_slot_get_cb(slot);
	ktest_slot_put(slot);
	if (!listen_cb)
		return ret;
	ret = krdma_wait_request(listen_cb, 2 * KTEST_EARLY_MS, &cb);
	krdma_put(listen_cb);
	return ret ?: ktest_early_round(cb, NULL, i % 2, refused);
}

/*
 * early accept LISTENER N, early connect HOST PORT N [option=value]...:
 * establish N connections. On each of them both sides try to send before the
 * connection is ready.
 */
int ktest_cmd_early(struct ktest_ctx *ctx, struct ktest_args *args)
{
	bool accept = !strcmp(ktest_arg(args, 1), "accept");
	u32 n = ktest_number(args, accept ? 3 : 4, 1), i, refused = 0;
	int ret = 0;

	for (i = 0; i < n && !ret && !fatal_signal_pending(current); i++)
		ret = accept ? ktest_early_accept(ctx, args, i, &refused) :
			       ktest_early_connect(ctx, args, i, &refused);
	snprintf(ctx->text, sizeof(ctx->text), "rounds=%u refused=%u", i,
		 refused);
	return ret;
}
