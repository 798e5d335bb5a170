// SPDX-License-Identifier: GPL-2.0
/*
 * Post many requests at a time by krdma_post(), with all kinds of memory. Each
 * request must complete exactly once, and in the order of posting.
 */
#include <linux/bvec.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/scatterlist.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "priv.h"

#define KTEST_ASYNC_MAX 8192
#define KTEST_ASYNC_PAGES 32

/*
 * A request, its result, and its memory as bio_vecs or scatterlist. Only
 * requests with memory of these kinds use bvec or sg.
 */
struct ktest_async {
	struct krdma_req req;
	struct ktest_asyncs *all;
	void *buf;
	struct bio_vec bvec[KTEST_ASYNC_PAGES];
	struct scatterlist sg[KTEST_ASYNC_PAGES];
	unsigned int times;
	unsigned int place;
	int status;
};

struct ktest_asyncs {
	struct krdma_cb *cb;
	enum krdma_opcode opcode;
	enum krdma_mem mem;
	u32 n;
	u32 total;
	u32 len;
	u64 offset;
	void *memory;
	struct krdma_region *region;
	const struct krdma_remote *remote;
	struct ktest_async *list;
	/* The lock protects n, done, and the results in list. */
	spinlock_t lock;
	unsigned int done;
	unsigned int posted;
	u32 chain;
	u32 spaces;
	bool refill;
	struct completion over;
};

static const char * const ktest_ops[KRDMA_OPCODES] = {
	[KRDMA_SEND]		= "send",
	[KRDMA_WRITE]		= "write",
	[KRDMA_READ]		= "read",
	[KRDMA_FETCH_ADD]	= "fetch_add",
	[KRDMA_CMP_SWAP]	= "cmp_swap",
	[KRDMA_WRITE_IMM]	= "write_imm",
};

static const char * const ktest_mems[] = {
	[KRDMA_MEM_NONE]	= "none",
	[KRDMA_MEM_VIRT]	= "virt",
	[KRDMA_MEM_PAGES]	= "pages",
	[KRDMA_MEM_SG]		= "sg",
	[KRDMA_MEM_REGION]	= "region",
};

static bool ktest_async_is_atomic(const struct ktest_asyncs *all)
{
	return all->opcode == KRDMA_FETCH_ADD || all->opcode == KRDMA_CMP_SWAP;
}

/*
 * Return whether the requests of @all store data of the peer into local memory.
 */
static bool ktest_async_is_answered(const struct ktest_asyncs *all)
{
	return all->opcode == KRDMA_READ || ktest_async_is_atomic(all);
}

/*
 * Record the result of a request. Overwrite the memory of sent data at once, so
 * that the peer receives wrong data if the adapter reads the memory later.
 */
static void ktest_async_done(struct krdma_req *req, int status)
{
	struct ktest_async *a = container_of(req, struct ktest_async, req);
	struct ktest_asyncs *all = a->all;
	unsigned long flags;

	if (!ktest_async_is_answered(all))
		memset(a->buf, 0xff, all->len);
	spin_lock_irqsave(&all->lock, flags);
	a->times++;
	a->place = all->done++;
	a->status = status;
	if (all->done == all->n)
		complete(&all->over);
	spin_unlock_irqrestore(&all->lock, flags);
}

/*
 * Describe the vmalloc() memory of a request by both bio_vecs and scatterlist.
 * Each entry has at most a page. Return the number of entries.
 */
static u32 ktest_async_entries(struct ktest_async *a, u32 len)
{
	void *at = a->buf;
	u32 n = 0, part;

	sg_init_table(a->sg, KTEST_ASYNC_PAGES);
	for (; len && n < KTEST_ASYNC_PAGES; n++) {
		part = min_t(u32, len, PAGE_SIZE - offset_in_page(at));
		a->bvec[n].bv_page = vmalloc_to_page(at);
		a->bvec[n].bv_offset = offset_in_page(at);
		a->bvec[n].bv_len = part;
		sg_set_page(&a->sg[n], vmalloc_to_page(at), part,
			    offset_in_page(at));
		at += part;
		len -= part;
	}
	return n;
}

static void ktest_async_fill_data(struct ktest_asyncs *all,
				  struct ktest_async *a, u32 i)
{
	struct krdma_data *local = &a->req.local;

	local->mem = all->mem;
	local->len = all->len;
	if (all->mem == KRDMA_MEM_VIRT)
		local->virt = a->buf;
	if (all->mem == KRDMA_MEM_PAGES || all->mem == KRDMA_MEM_SG)
		local->nents = ktest_async_entries(a, all->len);
	if (all->mem == KRDMA_MEM_PAGES)
		local->pages = a->bvec;
	if (all->mem == KRDMA_MEM_SG)
		local->sg = a->sg;
	if (all->mem == KRDMA_MEM_REGION) {
		local->region = all->region;
		local->offset = (u64)i * all->len;
	}
}

static void ktest_async_fill(struct ktest_asyncs *all, u32 i, u32 flags)
{
	struct ktest_async *a = &all->list[i];

	a->all = all;
	a->buf = all->memory + (size_t)i * all->len;
	a->req.opcode = all->opcode;
	a->req.flags = flags;
	a->req.done = ktest_async_done;
	a->req.compare = i;
	a->req.operand = all->opcode == KRDMA_FETCH_ADD ? 1 : i + 1;
	a->req.remote = all->remote;
	a->req.remote_offset = all->offset;
	if (!ktest_async_is_atomic(all))
		a->req.remote_offset += (u64)i * all->len;
	ktest_async_fill_data(all, a, i);
	if (all->opcode == KRDMA_WRITE_IMM)
		ktest_tell_fill(&a->req, i, all->len);
	if (ktest_async_is_answered(all))
		memset(a->buf, 0xee, all->len);
	else
		ktest_fill(a->buf, all->len);
	if (all->region)
		krdma_region_sync_for_device(all->region, (u64)i * all->len,
					     all->len);
}

/*
 * Post all requests. Each call of krdma_post() posts a chain: requests that are
 * linked by their member next. Stop when krdma refuses a chain, and return the
 * errno of this call; otherwise return 0.
 */
static int ktest_async_post(struct ktest_asyncs *all)
{
	u32 i, k, n;
	int ret;

	for (i = all->posted; i < all->n; i += n) {
		n = min(all->chain, all->n - i);
		for (k = 0; k < n; k++)
			all->list[i + k].req.next =
				k + 1 < n ? &all->list[i + k + 1].req : NULL;
		ret = krdma_post(all->cb, &all->list[i].req);
		if (ret)
			return ret;
		all->posted += n;
	}
	return 0;
}

/*
 * Post the refused requests of the slot again. krdma calls this function once
 * after a refusal, and a task stops posting when krdma refuses a request. So
 * only one task posts at a time.
 */
static void ktest_async_space(struct krdma_cb *cb)
{
	struct ktest_slot *slot = cb->context;
	struct ktest_asyncs *all;
	unsigned long flags;

	spin_lock_irqsave(&slot->lock, flags);
	all = slot->asyncs;
	slot->in_space++;
	spin_unlock_irqrestore(&slot->lock, flags);
	if (all) {
		all->spaces++;
		ktest_async_post(all);
	}
	spin_lock_irqsave(&slot->lock, flags);
	slot->in_space--;
	spin_unlock_irqrestore(&slot->lock, flags);
}

const struct krdma_ops ktest_space_ops = {
	.write_space = ktest_async_space,
};

static void ktest_async_set(struct krdma_cb *cb, struct ktest_asyncs *all)
{
	struct ktest_slot *slot = cb->context;
	unsigned long flags;
	bool busy;

	do {
		spin_lock_irqsave(&slot->lock, flags);
		slot->asyncs = all;
		busy = slot->in_space;
		spin_unlock_irqrestore(&slot->lock, flags);
		if (busy)
			fsleep(1000);
	} while (busy);
}

/*
 * Wait at most @seconds for all requests. Return true if all have completed.
 * Sleep for one second at a time, because the hung task detector warns about
 * long sleeps.
 */
static bool ktest_async_all_over(struct ktest_asyncs *all, unsigned int seconds)
{
	while (seconds--)
		if (wait_for_completion_timeout(&all->over, HZ))
			return true;
	return false;
}

/*
 * Wait for all posted requests. After a timeout, disconnect, because the end of
 * a connection completes all of its requests.
 */
static int ktest_async_wait(struct ktest_asyncs *all)
{
	unsigned long flags;
	int ret = 0;

	spin_lock_irqsave(&all->lock, flags);
	if (!all->refill)
		all->n = all->posted;
	if (all->done == all->n)
		complete(&all->over);
	spin_unlock_irqrestore(&all->lock, flags);
	if (!ktest_async_all_over(all, 60)) {
		krdma_disconnect(all->cb);
		ret = -ETIMEDOUT;
		/*
		 * When ktest_async_set() returns, the write_space callback
		 * posts no more requests.
		 */
		if (all->refill)
			ktest_async_set(all->cb, NULL);
		spin_lock_irqsave(&all->lock, flags);
		all->n = all->posted;
		if (all->done == all->n)
			complete(&all->over);
		spin_unlock_irqrestore(&all->lock, flags);
		wait_for_completion(&all->over);
	}
	/*
	 * The caller frees @all, so wait until the last callback has released
	 * the lock.
	 */
	spin_lock_irqsave(&all->lock, flags);
	spin_unlock_irqrestore(&all->lock, flags);
	return ret;
}

static int ktest_async_check_data(const struct ktest_asyncs *all,
				  const struct ktest_async *a, u32 i)
{
	if (all->region)
		krdma_region_sync_for_cpu(all->region, (u64)i * all->len,
					  all->len);
	if (all->opcode == KRDMA_READ)
		return ktest_check(a->buf, all->len);
	if (ktest_async_is_atomic(all))
		return *(u64 *)a->buf == i ? 0 : -EBADMSG;
	return 0;
}

/* Check that each request completed once, in order, and with valid data. */
static int ktest_async_judge(const struct ktest_asyncs *all, u32 *good)
{
	int ret = 0;
	u32 i;

	*good = 0;
	for (i = 0; i < all->n; i++) {
		const struct ktest_async *a = &all->list[i];

		if (a->times != 1 || a->place != i)
			return -EPROTO;
		ret = ret ?: a->status;
		if (!a->status)
			ret = ret ?: ktest_async_check_data(all, a, i);
		*good += !a->status;
	}
	for (; i < all->total; i++)
		if (all->list[i].times)
			return -EPROTO;
	return ret;
}

/*
 * Allocate a list of @n requests. It must not be in vmalloc() memory, because
 * the adapter reads message headers in the list. kvzalloc() falls back to
 * vmalloc() memory if kmalloc() fails, which happens to short lists only with
 * failslab. So allocate short lists by kzalloc(), which returns NULL in this
 * case.
 */
static struct ktest_async *ktest_async_list(u32 n)
{
	size_t size = array_size(n, sizeof(struct ktest_async));

	return size <= SZ_64K ? kzalloc(size, GFP_KERNEL) :
	       kvzalloc(size, GFP_KERNEL);
}

static int ktest_async_memory(struct ktest_asyncs *all)
{
	size_t size = (size_t)all->n * all->len ?: 1;

	all->total = all->n;
	all->list = ktest_async_list(all->n);
	if (all->mem == KRDMA_MEM_REGION) {
		all->region = krdma_region_alloc(all->cb, size,
						 all->opcode == KRDMA_SEND ?
						 0 : KRDMA_READ_SINK);
		if (IS_ERR(all->region))
			return PTR_ERR(all->region);
		all->memory = krdma_region_vaddr(all->region);
	} else if (all->mem == KRDMA_MEM_VIRT && size <= KMALLOC_MAX_SIZE) {
		all->memory = kmalloc(size, GFP_KERNEL);
	} else {
		all->memory = vmalloc(size);
	}
	return all->list && all->memory ? 0 : -ENOMEM;
}

static void ktest_async_free(struct ktest_asyncs *all)
{
	if (all->mem != KRDMA_MEM_REGION)
		kvfree(all->memory);
	else if (!IS_ERR(all->region))
		krdma_region_put(all->region);
	kvfree(all->list);
}

static int ktest_async_run(struct ktest_asyncs *all, u32 flags, u32 *good)
{
	int posted, ret;
	u32 i;

	ret = ktest_async_memory(all);
	for (i = 0; i < all->n && !ret; i++)
		ktest_async_fill(all, i, flags);
	if (!ret) {
		if (all->refill)
			ktest_async_set(all->cb, all);
		posted = ktest_async_post(all);
		if (all->refill && posted == -EAGAIN)
			posted = 0;
		ret = ktest_async_wait(all);
		if (all->refill)
			ktest_async_set(all->cb, NULL);
		ret = ret ?: ktest_async_judge(all, good) ?: posted;
	}
	ktest_async_free(all);
	return ret;
}

static int ktest_name(const char * const *names, int n, const char *name)
{
	int i;

	for (i = 0; i < n; i++)
		if (names[i] && !strcmp(names[i], name))
			return i;
	return -EINVAL;
}

/*
 * Run requests that need memory of the peer. This memory is the peer's exported
 * buffer. For KRDMA_WRITE_IMM without exported buffers, it is the memory that
 * the server in tell.c describes.
 */
static int ktest_async_remote(struct ktest_asyncs *all, u32 flags, u32 *good)
{
	struct krdma_remote *remote;
	int ret;

	if (all->opcode != KRDMA_WRITE_IMM || all->cb->read_write) {
		all->remote = krdma_peer_export(all->cb);
		return ktest_async_run(all, flags, good);
	}
	remote = ktest_tell_import(all->cb);
	if (IS_ERR(remote))
		return PTR_ERR(remote);
	all->remote = remote;
	ret = ktest_async_run(all, flags, good);
	krdma_remote_free(remote);
	return ret;
}

/*
 * async NAME OP MEM N LEN [chain=C] [offset=O] [nowait=1] [fence=1] [refill=1]:
 * post N requests of LEN bytes each, C requests by each call of krdma_post().
 * Print the number of requests that succeed. The result is the first error, or
 * -EPROTO if a request did not complete exactly once and in order. With
 * refill=1, which needs a slot with space=1, the write_space callback posts
 * refused requests again.
 */
int ktest_do_async(struct ktest_ctx *ctx, const struct ktest_args *args,
		   struct krdma_cb *cb)
{
	int op = ktest_name(ktest_ops, KRDMA_OPCODES, ktest_arg(args, 2));
	int mem = ktest_name(ktest_mems, ARRAY_SIZE(ktest_mems),
			     ktest_arg(args, 3));
	struct ktest_asyncs all = {
		.cb = cb,
		.opcode = op,
		.mem = mem,
		.n = ktest_number(args, 4, 1),
		.len = ktest_number(args, 5, 0),
		.offset = ktest_option(args, "offset", 0),
		.chain = ktest_option(args, "chain", 1) ?: 1,
		.refill = ktest_option(args, "refill", 0),
	};
	u32 good = 0, flags = 0;
	int ret;

	if (ktest_option(args, "nowait", 0))
		flags |= KRDMA_NOWAIT;
	if (ktest_option(args, "fence", 0))
		flags |= KRDMA_FENCE;
	if (op < 0 || mem < 0 || all.n > KTEST_ASYNC_MAX || !all.n ||
	    (mem != KRDMA_MEM_REGION &&
	     all.len > (KTEST_ASYNC_PAGES - 1) * PAGE_SIZE))
		return -EINVAL;
	spin_lock_init(&all.lock);
	init_completion(&all.over);
	ret = ktest_async_remote(&all, flags, &good);
	if (all.refill)
		snprintf(ctx->text, sizeof(ctx->text),
			 "posted=%u good=%u spaces=%u", all.posted, good,
			 all.spaces);
	else
		snprintf(ctx->text, sizeof(ctx->text), "posted=%u good=%u",
			 all.posted, good);
	return ret;
}
