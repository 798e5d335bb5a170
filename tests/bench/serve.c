// SPDX-License-Identifier: GPL-2.0
/*
 * The peer of all tests. This file has the connections of krdma, and raw.c has
 * the connections of verbs.
 *
 * Work items accept connections and echo messages. They check regularly whether
 * they must end.
 */
#include <linux/err.h>
#include <linux/list.h>
#include <linux/net.h>
#include <linux/slab.h>

#include <krdma.h>

#include "priv.h"

/* Interval at which work items check whether they must end. */
#define KBENCH_LOOK_MS 100
/* Number of accepted connections after which closed ones are released. */
#define KBENCH_PRUNE 64

/**
 * struct kbench_listener - a listener of krdma
 * @cb: listener of krdma, or NULL
 * @echoes: true if messages are echoed; false if connections are kept idle
 * @work: work item that accepts connections
 * @held: list of idle connections by kbench_held.link
 * @taken: number of idle connections since the last kbench_prune()
 */
struct kbench_listener {
	struct krdma_cb *cb;
	bool echoes;
	struct work_struct work;
	struct list_head held;
	unsigned int taken;
};

/* An accepted connection. */
struct kbench_held {
	struct krdma_cb *cb;
	struct list_head link;
	struct work_struct work;
};

static struct kbench_listener kbench_listeners[4];
static bool kbench_ending;
static bool kbench_serving; /* kbench_mutex of main.c protects it */

static void kbench_held_free(struct kbench_held *held)
{
	krdma_release_cb(held->cb);
	kfree(held);
}

static int kbench_echo_one(struct krdma_cb *cb, void *buf)
{
	int ret = krdma_receive_len(cb, buf, KBENCH_MSG_MAX, KBENCH_LOOK_MS);

	if (ret >= 0)
		return krdma_send_timeout(cb, buf, ret, KBENCH_TIMEOUT_MS);
	/* A timeout is no error. It only means that no message has arrived. */
	return ret == -ETIMEDOUT && krdma_is_established(cb) ? 0 : ret;
}

static void kbench_echo_work(struct work_struct *work)
{
	struct kbench_held *held = container_of(work, struct kbench_held, work);
	void *buf = kmalloc(KBENCH_MSG_MAX, GFP_KERNEL);

	while (buf && !READ_ONCE(kbench_ending))
		if (kbench_echo_one(held->cb, buf))
			break;
	kfree(buf);
	kbench_held_free(held);
}

/*
 * Release the idle connections of a listener that are no longer established. If
 * @all is true, release the established ones as well.
 */
static void kbench_prune(struct kbench_listener *listener, bool all)
{
	struct kbench_held *held, *next;

	listener->taken = 0;
	list_for_each_entry_safe(held, next, &listener->held, link) {
		if (!all && krdma_is_established(held->cb))
			continue;
		list_del(&held->link);
		kbench_held_free(held);
	}
}

static void kbench_take(struct kbench_listener *listener, struct krdma_cb *cb)
{
	struct kbench_held *held = kzalloc(sizeof(*held), GFP_KERNEL);

	if (!held) {
		krdma_release_cb(cb);
		return;
	}
	held->cb = cb;
	INIT_WORK(&held->work, kbench_echo_work);
	if (listener->echoes) {
		queue_work(kbench_wq, &held->work);
		return;
	}
	list_add_tail(&held->link, &listener->held);
	listener->taken++;
}

static void kbench_accept_work(struct work_struct *work)
{
	struct kbench_listener *listener =
		container_of(work, struct kbench_listener, work);
	struct krdma_cb *cb;
	int ret;

	while (!READ_ONCE(kbench_ending)) {
		ret = krdma_accept_timeout(listener->cb, KBENCH_LOOK_MS, &cb);
		if (!ret)
			kbench_take(listener, cb);
		/*
		 * Prune while no client is connecting, and before closed
		 * connections reach the limit of the listener.
		 */
		if (ret == -ETIMEDOUT || listener->taken >= KBENCH_PRUNE)
			kbench_prune(listener, false);
		else if (krdma_get_state(listener->cb) != KRDMA_LISTENING)
			break;
	}
	kbench_prune(listener, true);
}

static int kbench_listen(struct kbench_listener *listener, struct net *net,
			 u16 port, enum kbench_port which)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_port = htons(port + which),
	};
	struct krdma_params p = { .size = sizeof(p), .net = net };
	bool sealed = which == KBENCH_PORT_SEALED;
	int ret;

	if (sealed || which == KBENCH_PORT_AUTH_IDLE)
		kbench_keys_set(&p, KBENCH_KEYS, sealed);
	if (which == KBENCH_PORT_OURS) {
		p.flags = KRDMA_RW;
		p.max_msg = KBENCH_SPAN;
	}
	ret = krdma_listen_params((struct sockaddr *)&addr, &p, &listener->cb);
	if (ret) {
		listener->cb = NULL;
		return ret;
	}
	listener->echoes = sealed || which == KBENCH_PORT_OURS;
	INIT_LIST_HEAD(&listener->held);
	INIT_WORK(&listener->work, kbench_accept_work);
	queue_work(kbench_wq, &listener->work);
	return 0;
}

/**
 * kbench_serve - start to serve all tests
 * @net: network namespace
 * @port: the first of KBENCH_PORTS ports
 *
 * Return: 0; -EBUSY if "serve" is running already; or another errno.
 */
int kbench_serve(struct net *net, u16 port)
{
	int i, ret;

	if (kbench_serving)
		return -EBUSY;
	kbench_serving = true;
	ret = kbench_raw_serve(net, port);
	for (i = 0; i < ARRAY_SIZE(kbench_listeners) && !ret; i++)
		ret = kbench_listen(&kbench_listeners[i], net, port,
				    KBENCH_PORT_OURS_IDLE + i);
	if (ret)
		kbench_serve_end();
	return ret;
}

/**
 * kbench_serve_end - undo kbench_serve(), and release all connections
 */
void kbench_serve_end(void)
{
	int i;

	if (!kbench_serving)
		return;
	WRITE_ONCE(kbench_ending, true);
	kbench_raw_serve_end();
	/*
	 * Drain the workqueue, because flushing is not enough: work items that
	 * accept connections queue further ones, which echo messages.
	 */
	drain_workqueue(kbench_wq);
	for (i = 0; i < ARRAY_SIZE(kbench_listeners); i++) {
		if (kbench_listeners[i].cb)
			krdma_release_cb(kbench_listeners[i].cb);
		kbench_listeners[i].cb = NULL;
	}
	WRITE_ONCE(kbench_ending, false);
	kbench_serving = false;
}
