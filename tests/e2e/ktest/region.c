// SPDX-License-Identifier: GPL-2.0
/*
 * Create regions of this side, describe them to the peer, and withdraw them;
 * and access regions that the peer has described. In commands, I is an index in
 * ktest_regions.own for a region of this side, and an index in
 * ktest_regions.learnt for a described region of the peer.
 */
#include <linux/completion.h>
#include <linux/mm.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/vmalloc.h>
#include <asm/byteorder.h>

#include "priv.h"

#define KTEST_REGIONS 16
#define KTEST_KEYS_MAX 1024
/*
 * Offset of the first key in the description of a region. The description
 * begins with a header of 16 bytes and an address of 8 bytes.
 */
#define KTEST_KEY_AT (16 + 8)
#define KTEST_DESC_MAX 4096

/*
 * A region of this side. memory is the memory that this module has allocated
 * for the region, or NULL if krdma_region_alloc() has allocated it.
 */
struct ktest_own {
	struct krdma_region *region;
	void *memory;
	u8 *data;
	u32 len;
};

/*
 * All pointers are read and written by xchg(), so only one task has a region or
 * a description at a time. A task that gets a pointer puts the region, frees
 * the description, or stores the pointer again.
 */
static struct {
	struct ktest_own *own[KTEST_REGIONS];
	struct krdma_remote *learnt[KTEST_REGIONS];
} ktest_regions;

static void ktest_own_put(struct ktest_own *own)
{
	if (!own)
		return;
	krdma_region_put(own->region);
	kvfree(own->memory);
	kfree(own);
}

void ktest_regions_end(void)
{
	u32 i;

	for (i = 0; i < KTEST_REGIONS; i++) {
		ktest_own_put(xchg(&ktest_regions.own[i], NULL));
		krdma_remote_free(xchg(&ktest_regions.learnt[i], NULL));
	}
}

/*
 * Create a region from a scatterlist with one entry for each page. With @gap
 * the first entry ends one byte before the end of its page.
 */
static struct krdma_region *ktest_region_of_sg(struct krdma_cb *cb,
					       const struct ktest_own *own,
					       u32 access, u32 gap)
{
	u32 n = DIV_ROUND_UP(offset_in_page(own->data) + own->len, PAGE_SIZE);
	struct scatterlist *sgl = kvcalloc(n, sizeof(*sgl), GFP_KERNEL);
	u32 i, part, left = own->len;
	struct krdma_region *region;
	u8 *at = own->data;

	if (!sgl)
		return ERR_PTR(-ENOMEM);
	sg_init_table(sgl, n);
	for (i = 0; i < n; i++) {
		part = min_t(u32, left, PAGE_SIZE - offset_in_page(at));
		sg_set_page(&sgl[i], vmalloc_to_page(at), part - gap,
			    offset_in_page(at));
		gap = 0;
		at += part;
		left -= part;
	}
	region = krdma_region_from_sg(cb, sgl, n, access);
	kvfree(sgl);
	return region;
}

static int ktest_cmp_pages(const void *a, const void *b)
{
	unsigned long one = page_to_pfn(*(struct page *const *)a);
	unsigned long other = page_to_pfn(*(struct page *const *)b);

	return one < other ? 1 : -1;
}

static void ktest_free_pages(struct page **pages, u32 n)
{
	while (n)
		__free_page(pages[--n]);
	kvfree(pages);
}

/*
 * Return virtually contiguous memory, as vmalloc() does, for kvfree(). No two
 * neighbouring pages of this memory are physically contiguous.
 */
static void *ktest_scattered(u32 len)
{
	u32 i, n = DIV_ROUND_UP(len, PAGE_SIZE);
	struct page **pages = kvcalloc(n, sizeof(*pages), GFP_KERNEL);
	void *memory;

	if (!pages)
		return NULL;
	for (i = 0; i < n; i++) {
		pages[i] = alloc_page(GFP_KERNEL | __GFP_ZERO);
		if (!pages[i]) {
			ktest_free_pages(pages, i);
			return NULL;
		}
	}
	sort(pages, n, sizeof(*pages), ktest_cmp_pages, NULL);
	memory = vmap(pages, n, VM_MAP | VM_MAP_PUT_PAGES, PAGE_KERNEL);
	if (!memory)
		ktest_free_pages(pages, n);
	return memory;
}

static struct krdma_region *ktest_region_of(const struct ktest_args *args,
					    struct krdma_cb *cb,
					    struct ktest_own *own, u32 access)
{
	const char *of = ktest_text_option(args, "of") ?: "alloc";
	u32 skip = ktest_option(args, "skip", 0);
	struct krdma_region *region;

	if (!strcmp(of, "alloc")) {
		region = krdma_region_alloc(cb, own->len, access);
		own->data = IS_ERR(region) ? NULL : krdma_region_vaddr(region);
		return region;
	}
	own->memory = strcmp(of, "kmalloc") ?
		      ktest_scattered(skip + own->len + 1) :
		      kzalloc(skip + own->len, GFP_KERNEL);
	if (!own->memory)
		return ERR_PTR(-ENOMEM);
	own->data = own->memory + skip;
	if (!strncmp(of, "sg", 2))
		return ktest_region_of_sg(cb, own, access, !strcmp(of, "sg-gap"));
	return krdma_region_from_vmalloc(cb, own->data, own->len, access);
}

static struct ktest_own *ktest_own_make(const struct ktest_args *args,
					struct krdma_cb *cb, u32 len,
					u32 access)
{
	struct ktest_own *own = kzalloc(sizeof(*own), GFP_KERNEL);
	struct krdma_region *region;

	if (!own)
		return ERR_PTR(-ENOMEM);
	own->len = len;
	region = ktest_region_of(args, cb, own, access);
	if (IS_ERR(region)) {
		ktest_own_put(own);
		return ERR_CAST(region);
	}
	own->region = region;
	ktest_fill(own->data, len);
	krdma_region_sync_for_device(region, 0, len);
	return own;
}

/*
 * expose NAME I LEN [access=KRDMA_REMOTE_*] [of=alloc|vmalloc|kmalloc|sg|sg-gap]
 * [skip=BYTES]: create region I, fill it with a pattern, and send its
 * description to the peer
 */
int ktest_do_expose(struct ktest_ctx *ctx, const struct ktest_args *args,
		    struct krdma_cb *cb, u8 *buf)
{
	u32 i = ktest_number(args, 2, 0), len = ktest_number(args, 3, 4096);
	struct ktest_own *own;
	ssize_t size;

	if (i >= KTEST_REGIONS)
		return -EINVAL;
	own = ktest_own_make(args, cb, len,
			     ktest_option(args, "access", KRDMA_REMOTE_READ));
	if (IS_ERR(own))
		return PTR_ERR(own);
	size = krdma_region_export(own->region, 0, len, buf, KTEST_DESC_MAX);
	ktest_own_put(xchg(&ktest_regions.own[i], own));
	if (size < 0)
		return size;
	snprintf(ctx->text, sizeof(ctx->text), "key=%#x",
		 le32_to_cpup((__le32 *)(buf + KTEST_KEY_AT)));
	return krdma_send_timeout(cb, buf, size, KTEST_WAIT_MS);
}

/*
 * withdraw I [revoke=0] [keep=1]: revoke the keys of region I unless revoke=0,
 * and put the region unless keep=1
 */
int ktest_cmd_withdraw(struct ktest_ctx *ctx, struct ktest_args *args)
{
	u32 i = ktest_number(args, 1, 0);
	struct ktest_own *own;
	int ret = 0;

	own = i < KTEST_REGIONS ? xchg(&ktest_regions.own[i], NULL) : NULL;
	if (!own)
		return -ENOENT;
	if (ktest_option(args, "revoke", 1))
		ret = krdma_region_revoke(own->region, 0);
	if (ktest_option(args, "keep", 0))
		own = xchg(&ktest_regions.own[i], own);
	ktest_own_put(own);
	return ret;
}

int ktest_cmd_holds(struct ktest_ctx *ctx, struct ktest_args *args)
{
	u32 i = ktest_number(args, 1, 0);
	struct ktest_own *own;
	int ret;

	own = i < KTEST_REGIONS ? xchg(&ktest_regions.own[i], NULL) : NULL;
	if (!own)
		return -ENOENT;
	krdma_region_sync_for_cpu(own->region, 0, own->len);
	ret = ktest_check_seed(own->data, own->len, ktest_number(args, 2, 0));
	ktest_own_put(xchg(&ktest_regions.own[i], own));
	return ret;
}

int ktest_do_learn(const struct ktest_args *args, struct krdma_cb *cb, u8 *buf)
{
	struct krdma_remote *remote;
	u32 i = ktest_number(args, 2, 0);
	int ret;

	if (i >= KTEST_REGIONS)
		return -EINVAL;
	ret = krdma_receive_len(cb, buf, KTEST_DESC_MAX, KTEST_WAIT_MS);
	if (ret < 0)
		return ret;
	remote = krdma_remote_import(buf, ret);
	if (IS_ERR(remote))
		return PTR_ERR(remote);
	krdma_remote_free(xchg(&ktest_regions.learnt[i], remote));
	return 0;
}

int ktest_cmd_forget(struct ktest_ctx *ctx, struct ktest_args *args)
{
	u32 i = ktest_number(args, 1, 0);

	if (i >= KTEST_REGIONS)
		return -EINVAL;
	krdma_remote_free(xchg(&ktest_regions.learnt[i], NULL));
	return 0;
}

struct ktest_move {
	struct krdma_req req;
	struct completion over;
	int status;
};

static void ktest_move_done(struct krdma_req *req, int status)
{
	struct ktest_move *move = container_of(req, struct ktest_move, req);

	move->status = status;
	complete(&move->over);
}

static int ktest_move(struct krdma_cb *cb, enum krdma_opcode opcode,
		      struct krdma_region *local,
		      const struct krdma_remote *remote)
{
	struct ktest_move move = {
		.req = {
			.opcode = opcode,
			.local = {
				.mem = KRDMA_MEM_REGION,
				.region = local,
				.len = krdma_region_size(local),
			},
			.remote = remote,
			.done = ktest_move_done,
		},
	};
	int ret;

	init_completion(&move.over);
	ret = krdma_post(cb, &move.req);
	if (ret)
		return ret;
	if (!wait_for_completion_timeout(&move.over, 30 * HZ)) {
		krdma_disconnect(cb);
		wait_for_completion(&move.over);
	}
	return move.status;
}

/*
 * Read or write (@opcode) the described region @i of the peer from or to
 * @local.
 */
static int ktest_move_learnt(struct krdma_cb *cb, enum krdma_opcode opcode,
			     struct krdma_region *local, u32 i)
{
	struct krdma_remote *remote = xchg(&ktest_regions.learnt[i], NULL);
	int ret = remote ? ktest_move(cb, opcode, local, remote) : -ENOENT;

	krdma_remote_free(xchg(&ktest_regions.learnt[i], remote));
	return ret;
}

/*
 * fetch NAME I LEN [SEED] [dry=1]: read the described region I, and check its
 * pattern. With dry=1, check that a failing READ has returned no data.
 */
int ktest_do_fetch(const struct ktest_args *args, struct krdma_cb *cb)
{
	u32 i = ktest_number(args, 2, 0), len = ktest_number(args, 3, 4096);
	struct krdma_region *sink;
	int ret;

	if (i >= KTEST_REGIONS)
		return -EINVAL;
	sink = krdma_region_alloc(cb, len, KRDMA_READ_SINK);
	if (IS_ERR(sink))
		return PTR_ERR(sink);
	ret = ktest_move_learnt(cb, KRDMA_READ, sink, i);
	krdma_region_sync_for_cpu(sink, 0, len);
	if (!ret)
		ret = ktest_check_seed(krdma_region_vaddr(sink), len,
				       ktest_number(args, 4, 0));
	else if (ktest_option(args, "dry", 0) &&
		 memchr_inv(krdma_region_vaddr(sink), 0, len))
		ret = -EBADMSG;
	krdma_region_put(sink);
	return ret;
}

/*
 * store NAME I LEN [SEED] [of=...] [skip=BYTES]: write a pattern to the
 * described region I. The data are in a local region, which the options of
 * "expose" describe.
 */
int ktest_do_store(const struct ktest_args *args, struct krdma_cb *cb)
{
	u32 i = ktest_number(args, 2, 0), len = ktest_number(args, 3, 4096);
	struct ktest_own *source;
	int ret;

	if (i >= KTEST_REGIONS)
		return -EINVAL;
	source = ktest_own_make(args, cb, len, 0);
	if (IS_ERR(source))
		return PTR_ERR(source);
	ktest_fill_seed(source->data, len, ktest_number(args, 4, 0));
	krdma_region_sync_for_device(source->region, 0, source->len);
	ret = ktest_move_learnt(cb, KRDMA_WRITE, source->region, i);
	ktest_own_put(source);
	return ret;
}

/* Create one region, and return its first key. */
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
	/* A description of the first byte has the first key. */
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

/*
 * Create @live regions, and put all of them. Store the first key of each region
 * in @keys.
 */
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
 * regions NAME N LEN [live=L] [revoke=0]: create and put N regions of LEN
 * bytes, of which L exist at a time. Print the number of pairs of regions with
 * the same first key.
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
