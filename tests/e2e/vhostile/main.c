// SPDX-License-Identifier: GPL-2.0
/*
 * vrfm_hostile - a peer of vrfm that breaks the rules
 *
 * insmod vrfm_hostile.ko host=10.56.0.1 port=5565 node=1 to=9 pages=256 rounds=500 seed=7
 *
 * The module connects with a valid HELLO, may send valid messages, and then
 * sends an invalid message. The victim must end the connection. The module does
 * this "rounds" times. insmod fails if the victim does not end one of the
 * connections.
 *
 * With mute_ms=60000 the module sends only valid messages. It announces an
 * image that is older than the victim's, and never sends this image. insmod
 * fails if the victim waits for the image for more than 60000 ms.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include <net/net_namespace.h>

#include <krdma.h>

#include "priv.h"

static char *host = "10.56.0.1";
module_param(host, charp, 0444);
static char *port = "5565";
module_param(port, charp, 0444);
static uint node = 1;
module_param(node, uint, 0444);
static uint to = 2;
module_param(to, uint, 0444);
static uint network = 1;
module_param(network, uint, 0444);
static uint pages = 256;
module_param(pages, uint, 0444);
static uint rounds = 500;
module_param(rounds, uint, 0444);
static ulong seed;
module_param(seed, ulong, 0444);
static uint mute_ms;
module_param(mute_ms, uint, 0444);
static uint buf_size = VHOSTILE_MESSAGE;
module_param(buf_size, uint, 0444);

static int vhostile_connect(struct krdma_cb **cb)
{
	const struct vrfm_wire_hello hello = {
		.magic = cpu_to_le32(VRFM_WIRE_MAGIC),
		.version = cpu_to_le16(VRFM_WIRE_VERSION),
		.node = node,
		.to = to,
		.network = cpu_to_le32(network),
		.npages = cpu_to_le32(pages),
		.epoch = cpu_to_le64(1),
	};
	const struct krdma_params params = {
		.size = sizeof(params),
		.buf_size = buf_size,
		.max_msg = VHOSTILE_MESSAGE,
		.pull_min = KRDMA_NEVER,
		.recv_depth = 24,
		.private_data = &hello,
		.private_data_len = sizeof(hello),
	};
	unsigned long end = jiffies + msecs_to_jiffies(VHOSTILE_TIMEOUT_MS);
	struct sockaddr_storage addr;
	int ret;

	ret = krdma_parse_addr(&init_net, host, port, &addr);
	/*
	 * Repeat a refused connect: the victim may not have released the
	 * previous connection yet.
	 */
	while (!ret) {
		ret = krdma_connect_params((struct sockaddr *)&addr, &params,
					   cb);
		if (!ret || ret == -EINTR || time_after(jiffies, end))
			break;
		msleep(20);
		ret = 0;
	}
	return ret;
}

/* Receive and ignore messages of the victim until the victim disconnects. */
static int vhostile_await_end(struct krdma_cb *cb, void *buf)
{
	unsigned long end = jiffies + msecs_to_jiffies(VHOSTILE_TIMEOUT_MS);
	int ret;

	do {
		ret = krdma_receive_len(cb, buf, VHOSTILE_MESSAGE,
					VHOSTILE_TIMEOUT_MS);
		if (ret == -EINTR || ret == -ETIMEDOUT)
			return ret;
		if (ret < 0)
			return 0;
	} while (time_before(jiffies, end));
	return -ETIMEDOUT;
}

/*
 * Send the invalid message, and wait until the victim disconnects. The send may
 * fail, because the victim may disconnect before the message is acknowledged.
 */
static int vhostile_break(struct krdma_cb *cb, const struct vhostile *vh,
			  void *buf)
{
	int ret = krdma_send_timeout(cb, vh->msg, vh->len, VHOSTILE_TIMEOUT_MS);

	if (ret == -EINTR || ret == -ETIMEDOUT)
		return ret;
	return ret ? 0 : vhostile_await_end(cb, buf);
}

int vhostile_send(struct krdma_cb *cb, const struct vhostile *vh)
{
	return krdma_send_timeout(cb, vh->msg, vh->len, VHOSTILE_TIMEOUT_MS);
}

static int vhostile_round(struct vhostile *vh, void *buf, u32 round)
{
	struct krdma_cb *cb = NULL;
	const char *what = "connect";
	int ret = vhostile_connect(&cb);

	vh->sequence = 1;
	for (; !ret && vhostile_below(vh, 2); vh->sequence++) {
		what = "a probe";
		vhostile_probe(vh);
		ret = vhostile_send(cb, vh);
	}
	if (!ret) {
		what = vhostile_spoil(vh, round);
		ret = vhostile_break(cb, vh, buf);
	}
	if (cb)
		krdma_release_cb(cb);
	if (ret)
		pr_err("round %u: %s: error %d\n", round, what, ret);
	return ret;
}

static int vhostile_rounds(struct vhostile *vh, void *buf)
{
	int ret = 0;
	u32 i;

	prandom_seed_state(&vh->random, seed);
	vh->size = pages * VRFM_WIRE_PAGE;
	for (i = 0; i < rounds && !ret; i++)
		ret = vhostile_round(vh, buf, i);
	return ret;
}

static int vhostile_silence(struct vhostile *vh, void *buf)
{
	struct krdma_cb *cb = NULL;
	int ret = vhostile_connect(&cb);

	vh->sequence = 1;
	if (!ret)
		ret = vhostile_mute(cb, vh, buf, mute_ms);
	if (cb)
		krdma_release_cb(cb);
	return ret;
}

/* Connect with buffers that are too small, and wait until the victim ends it. */
static int vhostile_small(void *buf)
{
	struct krdma_cb *cb = NULL;
	int ret = vhostile_connect(&cb);

	if (!ret)
		ret = vhostile_await_end(cb, buf);
	if (cb)
		krdma_release_cb(cb);
	return ret;
}

static int __init vhostile_init(void)
{
	struct vhostile *vh = kzalloc(sizeof(*vh), GFP_KERNEL);
	void *buf = kmalloc(VHOSTILE_MESSAGE, GFP_KERNEL);
	int ret = -ENOMEM;

	if (vh && buf && buf_size != VHOSTILE_MESSAGE)
		ret = vhostile_small(buf);
	else if (vh && buf)
		ret = mute_ms ? vhostile_silence(vh, buf) :
				vhostile_rounds(vh, buf);
	kfree(buf);
	kfree(vh);
	return ret;
}

static void __exit vhostile_exit(void)
{
}

module_init(vhostile_init);
module_exit(vhostile_exit);

MODULE_AUTHOR("The krdma developers <krdma@example.org>");
MODULE_DESCRIPTION("A peer of vrfm that breaks the rules");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS(KRDMA_NS);
