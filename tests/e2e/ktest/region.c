// SPDX-License-Identifier: GPL-2.0
/*
 * Regions that come and go, and what a peer can do with one that it was told of.
 * A region of ours, or one of the peer's that was learnt, has a number.
 */
#include <linux/completion.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <asm/byteorder.h>

#include "priv.h"

#define KTEST_REGIONS 16
#define KTEST_KEYS_MAX 1024
/* Where in a description the first key is: behind its head and an address. */
#define KTEST_KEY_AT (16 + 8)
#define KTEST_DESC_MAX 4096

/* By xchg(): whoever takes one out puts it. */
static struct {
	struct krdma_region *own[KTEST_REGIONS];
	struct krdma_remote *learnt[KTEST_REGIONS];
} ktest_regions;

void ktest_regions_end(void)
{
	u32 i;

	for (i = 0; i < KTEST_REGIONS; i++) {
		krdma_region_put(xchg(&ktest_regions.own[i], NULL));
		krdma_remote_free(xchg(&ktest_regions.learnt[i], NULL));
	}
}

/* expose NAME I LEN: a region with a pattern, and a message that describes it */
int ktest_do_expose(struct ktest_ctx *ctx, const struct ktest_args *args,
		    struct krdma_cb *cb, u8 *buf)
{
	u32 i = ktest_number(args, 2, 0), len = ktest_number(args, 3, 4096);
	struct krdma_region *region;
	ssize_t size;

	if (i >= KTEST_REGIONS)
		return -EINVAL;
	region = krdma_region_alloc(cb, len, KRDMA_REMOTE_READ);
	if (IS_ERR(region))
		return PTR_ERR(region);
	ktest_fill(krdma_region_vaddr(region), len);
	krdma_region_sync_for_device(region);
	krdma_region_put(xchg(&ktest_regions.own[i], region));
	size = krdma_region_export(region, 0, len, buf, KTEST_DESC_MAX);
	if (size < 0)
		return size;
	snprintf(ctx->text, sizeof(ctx->text), "key=%#x",
		 le32_to_cpup((__le32 *)(buf + KTEST_KEY_AT)));
	return krdma_send_timeout(cb, buf, size, 10000);
}

/* withdraw I [revoke=0]: give it up */
int ktest_cmd_withdraw(struct ktest_ctx *ctx, struct ktest_args *args)
{
	u32 i = ktest_number(args, 1, 0);
	struct krdma_region *region;
	int ret = 0;

	region = i < KTEST_REGIONS ? xchg(&ktest_regions.own[i], NULL) : NULL;
	if (!region)
		return -ENOENT;
	if (ktest_option(args, "revoke", 1))
		ret = krdma_region_revoke(region, 0);
	krdma_region_put(region);
	return ret;
}

/* learn NAME I: take in what "expose" sends */
int ktest_do_learn(const struct ktest_args *args, struct krdma_cb *cb, u8 *buf)
{
	struct krdma_remote *remote;
	u32 i = ktest_number(args, 2, 0);
	int ret;

	if (i >= KTEST_REGIONS)
		return -EINVAL;
	ret = krdma_receive_len(cb, buf, KTEST_DESC_MAX, 20000);
	if (ret < 0)
		return ret;
	remote = krdma_remote_import(buf, ret);
	if (IS_ERR(remote))
		return PTR_ERR(remote);
	krdma_remote_free(xchg(&ktest_regions.learnt[i], remote));
	return 0;
}

/* forget I: what was learnt */
int ktest_cmd_forget(struct ktest_ctx *ctx, struct ktest_args *args)
{
	u32 i = ktest_number(args, 1, 0);

	if (i >= KTEST_REGIONS)
		return -EINVAL;
	krdma_remote_free(xchg(&ktest_regions.learnt[i], NULL));
	return 0;
}

struct ktest_fetch {
	struct krdma_req req;
	struct completion over;
	int status;
};

static void ktest_fetch_done(struct krdma_req *req, int status)
{
	struct ktest_fetch *fetch = container_of(req, struct ktest_fetch, req);

	fetch->status = status;
	complete(&fetch->over);
}

static int ktest_fetch(struct krdma_cb *cb, struct krdma_region *sink,
		       const struct krdma_remote *remote, u32 len)
{
	struct ktest_fetch fetch = {
		.req = {
			.opcode = KRDMA_READ,
			.local = {
				.mem = KRDMA_MEM_REGION,
				.region = sink,
				.len = len,
			},
			.remote = remote,
			.done = ktest_fetch_done,
		},
	};
	int ret;

	init_completion(&fetch.over);
	ret = krdma_post(cb, &fetch.req);
	if (ret)
		return ret;
	if (!wait_for_completion_timeout(&fetch.over, 30 * HZ)) {
		krdma_disconnect(cb);
		wait_for_completion(&fetch.over);
	}
	return fetch.status;
}

/* fetch NAME I LEN: read what was learnt; the pattern must be there */
int ktest_do_fetch(const struct ktest_args *args, struct krdma_cb *cb)
{
	u32 i = ktest_number(args, 2, 0), len = ktest_number(args, 3, 4096);
	struct krdma_remote *remote;
	struct krdma_region *sink;
	int ret;

	if (i >= KTEST_REGIONS)
		return -EINVAL;
	sink = krdma_region_alloc(cb, len, KRDMA_READ_SINK);
	if (IS_ERR(sink))
		return PTR_ERR(sink);
	remote = xchg(&ktest_regions.learnt[i], NULL);
	ret = remote ? ktest_fetch(cb, sink, remote, len) : -ENOENT;
	xchg(&ktest_regions.learnt[i], remote);
	krdma_region_sync_for_cpu(sink);
	if (!ret)
		ret = ktest_check(krdma_region_vaddr(sink), len);
	krdma_region_put(sink);
	return ret;
}

/* One of those that live at a time. */
static int ktest_regions_make(struct krdma_cb *cb, u32 len,
			      struct krdma_region **region, u32 *key)
{
	u8 desc[KTEST_KEY_AT + 8];
	ssize_t size;

	*region = krdma_region_alloc(cb, len, KRDMA_REMOTE_READ);
	if (IS_ERR(*region)) {
		size = PTR_ERR(*region);
		*region = NULL;
		return size;
	}
	/* The first byte is enough, and one segment. */
	size = krdma_region_export(*region, 0, 1, desc, sizeof(desc));
	*key = le32_to_cpup((__le32 *)(desc + KTEST_KEY_AT));
	return min_t(ssize_t, size, 0);
}

static int ktest_regions_end_one(struct krdma_region *region, bool revoke)
{
	int ret = revoke && region ? krdma_region_revoke(region, 0) : 0;

	krdma_region_put(region);
	return ret;
}

/* @live of them at a time, and then all of these go. */
static int ktest_regions_some(struct krdma_cb *cb, u32 live, u32 len,
			      bool revoke, u32 *keys)
{
	struct krdma_region *regions[KTEST_REGIONS] = {};
	int ret = 0, gone;
	u32 i;

	for (i = 0; i < live && !ret; i++)
		ret = ktest_regions_make(cb, len, &regions[i], &keys[i]);
	for (i = 0; i < live; i++) {
		gone = ktest_regions_end_one(regions[i], revoke);
		ret = ret ?: gone;
	}
	return ret;
}

static u32 ktest_same_keys(const u32 *keys, u32 n)
{
	u32 same = 0, i, k;

	for (i = 0; i < n; i++)
		for (k = 0; k < i; k++)
			same += keys[i] == keys[k];
	return same;
}

/*
 * regions NAME N LEN [live=L] [revoke=0]: N regions of LEN bytes, L at a time.
 * Says how many pairs of them had the same first key.
 */
int ktest_do_regions(struct ktest_ctx *ctx, const struct ktest_args *args,
		     struct krdma_cb *cb)
{
	u32 n = ktest_number(args, 2, 1), len = ktest_number(args, 3, 4096);
	u32 live = ktest_option(args, "live", 1), i;
	bool revoke = ktest_option(args, "revoke", 1);
	int ret = 0;
	u32 *keys;

	if (n > KTEST_KEYS_MAX || !live || live > KTEST_REGIONS || n % live)
		return -EINVAL;
	keys = kvcalloc(n, sizeof(*keys), GFP_KERNEL);
	if (!keys)
		return -ENOMEM;
	for (i = 0; i < n && !ret; i += live)
		ret = ktest_regions_some(cb, live, len, revoke, keys + i);
	snprintf(ctx->text, sizeof(ctx->text), "regions=%u same=%u", i,
		 ktest_same_keys(keys, n));
	kvfree(keys);
	return ret;
}
