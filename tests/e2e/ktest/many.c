// SPDX-License-Identifier: GPL-2.0
/*
 * A server that accepts and releases connections in callbacks, without a
 * thread; and a task that establishes many connections at once.
 */
#include <linux/delay.h>
#include <linux/slab.h>

#include "priv.h"

#define KTEST_SERVER_MAX 512
#define KTEST_CLIENT_LEN 4096

static struct {
	struct mutex lock; /* protects listener */
	struct krdma_cb *listener;
	spinlock_t cbs_lock; /* protects cbs */
	struct krdma_cb *cbs[KTEST_SERVER_MAX];
	atomic_t accepted;
	atomic_t rejected;
	atomic_t failed;
	atomic_t closed;
	atomic_t io;
	u32 linger_ms;
} ktest_server = {
	.lock = __MUTEX_INITIALIZER(ktest_server.lock),
	.cbs_lock = __SPIN_LOCK_UNLOCKED(ktest_server.cbs_lock),
};

/* Count calls of callbacks in which memory allocations may start I/O. */
static void ktest_server_note_io(void)
{
	if (!(current->flags & PF_MEMALLOC_NOIO))
		atomic_inc(&ktest_server.io);
}

static bool ktest_server_replace(struct krdma_cb *old, struct krdma_cb *new)
{
	bool found = false;
	int i;

	spin_lock(&ktest_server.cbs_lock);
	for (i = 0; i < KTEST_SERVER_MAX && !found; i++) {
		if (ktest_server.cbs[i] != old)
			continue;
		ktest_server.cbs[i] = new;
		found = true;
	}
	spin_unlock(&ktest_server.cbs_lock);
	return found;
}

/*
 * Remove @cb from the table, and release it. Return false if another task has
 * removed @cb, because that task releases it.
 */
static bool ktest_server_release(struct krdma_cb *cb)
{
	bool found = ktest_server_replace(cb, NULL);

	if (found)
		krdma_release_cb(cb);
	return found;
}

/*
 * Accept the request @cb. Add it to the table first, because the command
 * "server end" must find it.
 */
static int ktest_server_accept(struct krdma_cb *cb)
{
	int ret;

	if (!ktest_server_replace(NULL, cb)) {
		krdma_release_cb(cb);
		return -ENOSPC;
	}
	ret = krdma_accept_async(cb, "welcome", 7);
	if (ret)
		ktest_server_release(cb);
	return ret;
}

/*
 * Handle a connect request: reject it if its private data are "no", or accept
 * it otherwise.
 */
static void ktest_server_request(struct krdma_cb *listen_cb, struct krdma_cb *cb)
{
	char data[KRDMA_PRIVATE_DATA_MAX + 1] = "";
	struct sockaddr_storage addr;
	int ret;

	ktest_server_note_io();
	krdma_peer_private_data(cb, data, KRDMA_PRIVATE_DATA_MAX);
	ret = krdma_peer_addr(cb, &addr);
	if (!ret && !strcmp(data, "no")) {
		krdma_reject_request(cb, "sorry", 5);
		atomic_inc(&ktest_server.rejected);
		krdma_release_cb(cb);
		return;
	}
	if (ret)
		krdma_release_cb(cb);
	else
		ret = ktest_server_accept(cb);
	if (ret)
		atomic_inc(&ktest_server.failed);
}

static void ktest_server_connected(struct krdma_cb *cb, int error)
{
	ktest_server_note_io();
	if (!error) {
		atomic_inc(&ktest_server.accepted);
		if (ktest_server.linger_ms)
			msleep(ktest_server.linger_ms);
		return;
	}
	atomic_inc(&ktest_server.failed);
	ktest_server_release(cb);
}

static void ktest_server_closing(struct krdma_cb *cb, int reason)
{
	ktest_server_note_io();
	if (ktest_server_release(cb))
		atomic_inc(&ktest_server.closed);
}

static const struct krdma_ops ktest_server_ops = {
	.owner = THIS_MODULE,
	.request = ktest_server_request,
	.connected = ktest_server_connected,
	.closing = ktest_server_closing,
};

static const struct krdma_ops ktest_rxcb_ops = {
	.owner = THIS_MODULE,
	.request = ktest_server_request,
	.connected = ktest_server_connected,
	.receive = ktest_rxcb_receive,
	.closing = ktest_server_closing,
};

static void ktest_server_end_locked(void)
{
	struct krdma_cb *cb;
	int i;

	lockdep_assert_held(&ktest_server.lock);
	if (ktest_server.listener)
		krdma_release_cb(ktest_server.listener);
	ktest_server.listener = NULL;
	for (i = 0; i < KTEST_SERVER_MAX; i++) {
		cb = READ_ONCE(ktest_server.cbs[i]);
		if (cb)
			ktest_server_release(cb);
	}
}

void ktest_server_end(void)
{
	mutex_lock(&ktest_server.lock);
	ktest_server_end_locked();
	mutex_unlock(&ktest_server.lock);
}

static int ktest_server_start_locked(struct ktest_ctx *ctx,
				     const struct ktest_args *args)
{
	struct ktest_slot dummy = {};
	struct sockaddr_storage addr, src;
	struct krdma_params p;
	int ret;

	lockdep_assert_held(&ktest_server.lock);
	ret = krdma_parse_addr(ctx->net, ktest_arg(args, 1), ktest_arg(args, 2),
			       &addr);
	ret = ret ?: ktest_fill_params(ctx, args, &dummy, &p, &src);
	if (ret)
		return ret;
	p.context = NULL;
	p.ops = ktest_option(args, "rxcb", 0) ? &ktest_rxcb_ops :
						&ktest_server_ops;
	atomic_set(&ktest_server.accepted, 0);
	atomic_set(&ktest_server.rejected, 0);
	atomic_set(&ktest_server.failed, 0);
	atomic_set(&ktest_server.closed, 0);
	atomic_set(&ktest_server.io, 0);
	ktest_server.linger_ms = ktest_option(args, "linger", 0);
	return krdma_listen_params((struct sockaddr *)&addr, &p,
				   &ktest_server.listener);
}

/*
 * server HOST PORT [rxcb=1] [linger=MS] [option=value]...: start a server that
 * accepts all clients. With rxcb=1, the server answers messages, see rxcb.c.
 * With linger=MS, its callback connected() takes MS. server: print the numbers
 * of accepted, rejected, failed and closed connections. server end: end the
 * server, and print the same numbers.
 */
int ktest_cmd_server(struct ktest_ctx *ctx, struct ktest_args *args)
{
	int ret = 0;

	mutex_lock(&ktest_server.lock);
	if (args->n > 2)
		ret = ktest_server.listener ? -EBUSY :
		      ktest_server_start_locked(ctx, args);
	else if (args->n == 2)
		ktest_server_end_locked();
	snprintf(ctx->text, sizeof(ctx->text),
		 "io=%d accepted=%d rejected=%d failed=%d closed=%d",
		 atomic_read(&ktest_server.io),
		 atomic_read(&ktest_server.accepted),
		 atomic_read(&ktest_server.rejected),
		 atomic_read(&ktest_server.failed),
		 atomic_read(&ktest_server.closed));
	mutex_unlock(&ktest_server.lock);
	return ret;
}

struct ktest_client {
	struct krdma_cb *cb;
	struct completion connected;
	unsigned int times;
	int error;
};

static void ktest_client_connected(struct krdma_cb *cb, int error)
{
	struct ktest_client *client = cb->context;

	client->times++;
	client->error = error;
	complete(&client->connected);
}

static const struct krdma_ops ktest_client_ops = {
	.owner = THIS_MODULE,
	.connected = ktest_client_connected,
};

static int ktest_client_begin(struct ktest_client *client,
			      struct krdma_params *p,
			      const struct sockaddr *dst)
{
	int ret;

	init_completion(&client->connected);
	p->context = client;
	client->cb = krdma_create(p);
	if (IS_ERR(client->cb)) {
		ret = PTR_ERR(client->cb);
		client->cb = NULL;
		return ret;
	}
	return krdma_connect_async(client->cb, dst);
}

/*
 * Wait until the client is connected or has failed, and transfer data. No
 * timeout is needed, because krdma ends every attempt to connect.
 */
static int ktest_client_wait(struct ktest_client *client, u8 *buf)
{
	int ret;

	wait_for_completion(&client->connected);
	if (client->times != 1)
		return -EPROTO;
	if (client->error || !client->cb->read_write)
		return client->error;
	ktest_fill(buf, KTEST_CLIENT_LEN);
	ret = krdma_write_at(client->cb, buf, KTEST_CLIENT_LEN, 0,
			     KTEST_WAIT_MS);
	memset(buf, 0, KTEST_CLIENT_LEN);
	ret = ret ?: krdma_read_at(client->cb, buf, KTEST_CLIENT_LEN, 0,
				   KTEST_WAIT_MS);
	return ret ?: ktest_check(buf, KTEST_CLIENT_LEN);
}

/*
 * Connect @n clients at once, wait for all of them, and release them. If
 * @after_ms is not 0, do not wait: release the clients after this time, in any
 * state.
 */
static int ktest_clients(struct ktest_client *clients, u32 n, u32 after_ms,
			 struct krdma_params *p, const struct sockaddr *dst,
			 u8 *buf)
{
	u32 i, begun;
	int ret = 0;

	for (begun = 0; begun < n && !ret; begun++)
		ret = ktest_client_begin(&clients[begun], p, dst);
	if (ret)
		begun--;
	if (after_ms)
		fsleep(after_ms * 1000);
	for (i = 0; i < begun && !after_ms; i++)
		ret = ktest_client_wait(&clients[i], buf) ?: ret;
	for (i = 0; i < n; i++)
		krdma_release_cb(clients[i].cb);
	for (i = 0; i < n; i++)
		if (clients[i].times > 1)
			ret = -EPROTO;
	return ret;
}

/*
 * clients HOST PORT N [after=MS] [option=value]...: connect N clients at once,
 * transfer data if rw=1, and release all clients. The result is the last error.
 */
int ktest_cmd_clients(struct ktest_ctx *ctx, struct ktest_args *args)
{
	u32 n = min_t(u32, ktest_number(args, 3, 1), KTEST_SERVER_MAX);
	struct ktest_client *clients = kvcalloc(n, sizeof(*clients), GFP_KERNEL);
	u8 *buf = kmalloc(KTEST_CLIENT_LEN, GFP_KERNEL);
	struct ktest_slot dummy = {};
	struct sockaddr_storage dst, src;
	struct krdma_params p;
	int ret = -ENOMEM;

	if (clients && buf)
		ret = krdma_parse_addr(ctx->net, ktest_arg(args, 1),
				       ktest_arg(args, 2), &dst) ?:
		      ktest_fill_params(ctx, args, &dummy, &p, &src);
	if (!ret) {
		p.ops = &ktest_client_ops;
		ret = ktest_clients(clients, n, ktest_option(args, "after", 0),
				    &p, (struct sockaddr *)&dst, buf);
	}
	kvfree(clients);
	kfree(buf);
	return ret;
}
