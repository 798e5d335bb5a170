// SPDX-License-Identifier: GPL-2.0
/* Call functions of krdma on a connection or listener in any state. */
#include <linux/in.h>
#include <linux/string.h>

#include "priv.h"

static int ktest_wrong_connect(struct krdma_cb *cb, struct sockaddr *dst)
{
	return krdma_connect_cb(cb, dst);
}

static int ktest_wrong_connect_async(struct krdma_cb *cb, struct sockaddr *dst)
{
	return krdma_connect_async(cb, dst);
}

static int ktest_wrong_accept(struct krdma_cb *cb, struct sockaddr *dst)
{
	return krdma_accept_request(cb, NULL, 0);
}

static int ktest_wrong_accept_async(struct krdma_cb *cb, struct sockaddr *dst)
{
	return krdma_accept_async(cb, NULL, 0);
}

static int ktest_wrong_reject(struct krdma_cb *cb, struct sockaddr *dst)
{
	return krdma_reject_request(cb, NULL, 0);
}

static int ktest_wrong_params(struct krdma_cb *cb, struct sockaddr *dst)
{
	const struct krdma_params p = { .size = sizeof(p) };

	return krdma_set_request_params(cb, &p);
}

/* Call krdma_drain(). Scenarios do not call this on raw connections. */
static int ktest_wrong_drain(struct krdma_cb *cb, struct sockaddr *dst)
{
	return krdma_drain(cb);
}

static int ktest_wrong_size(struct krdma_cb *cb, struct sockaddr *dst)
{
	const struct krdma_params p = {};
	struct krdma_cb *made = krdma_create(&p);

	if (IS_ERR(made))
		return PTR_ERR(made);
	return krdma_release_cb(made);
}

static int ktest_wrong_wait(struct krdma_cb *cb, struct sockaddr *dst)
{
	struct krdma_cb *got;
	int ret = krdma_wait_request(cb, 1000, &got);

	if (!ret)
		krdma_release_cb(got);
	return ret;
}

static void ktest_wrong_done(struct krdma_req *req, int status)
{
	WARN_ON_ONCE(1);
}

/*
 * Post a request, which krdma must refuse; so the request may be on the stack.
 */
static int ktest_wrong_post(struct krdma_cb *cb, struct sockaddr *dst)
{
	struct krdma_req req = {
		.opcode = KRDMA_SEND,
		.done = ktest_wrong_done,
	};

	return krdma_post(cb, &req);
}

static int ktest_wrong_region(struct krdma_cb *cb, struct sockaddr *dst)
{
	struct krdma_region *region;

	region = krdma_region_alloc(cb, 4096, KRDMA_REMOTE_READ);
	if (IS_ERR(region))
		return PTR_ERR(region);
	krdma_region_put(region);
	return 0;
}

static const struct {
	const char *name;
	int (*call)(struct krdma_cb *cb, struct sockaddr *dst);
} ktest_wrong_calls[] = {
	{ "accept", ktest_wrong_accept },
	{ "accept_async", ktest_wrong_accept_async },
	{ "connect", ktest_wrong_connect },
	{ "connect_async", ktest_wrong_connect_async },
	{ "drain", ktest_wrong_drain },
	{ "params", ktest_wrong_params },
	{ "post", ktest_wrong_post },
	{ "region", ktest_wrong_region },
	{ "reject", ktest_wrong_reject },
	{ "size", ktest_wrong_size },
	{ "wait", ktest_wrong_wait },
};

int ktest_do_wrong(const struct ktest_args *args, struct krdma_cb *cb)
{
	struct sockaddr_in dst = {
		.sin_family = AF_INET,
		.sin_port = htons(1),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(ktest_wrong_calls); i++)
		if (!strcmp(ktest_arg(args, 2), ktest_wrong_calls[i].name))
			return ktest_wrong_calls[i].call(cb, (struct sockaddr *)&dst);
	return -ENOENT;
}
