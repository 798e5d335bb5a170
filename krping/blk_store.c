// SPDX-License-Identifier: GPL-2.0
/*
 * Sparse memory: the storage of a disk with bio_dev=ram, and the image of a
 * server with bio_target=mem. Bytes that were never written are zero. The
 * owner checks ranges.
 *
 * Readers and writers hold krping_blk_store.sem for reading, so that they
 * exclude only a task that frees pages.
 */
#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/highmem.h>
#include <linux/rwsem.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#include "blk.h"

/**
 * struct krping_blk_store - sparse memory
 * @sem: held for writing while pages are freed
 * @pages: pages by number
 */
struct krping_blk_store {
	struct rw_semaphore sem;
	struct xarray pages;
};

/**
 * krping_blk_store_create - create an empty storage
 *
 * Return: storage for krping_blk_store_destroy(), or ERR_PTR(-ENOMEM).
 */
struct krping_blk_store *krping_blk_store_create(void)
{
	struct krping_blk_store *store = kzalloc(sizeof(*store), GFP_KERNEL);

	if (!store)
		return ERR_PTR(-ENOMEM);
	init_rwsem(&store->sem);
	xa_init(&store->pages);
	return store;
}

/**
 * krping_blk_store_destroy - free a storage
 * @store: storage that no task uses, or NULL
 */
void krping_blk_store_destroy(struct krping_blk_store *store)
{
	struct page *page;
	unsigned long index;

	if (!store)
		return;
	xa_for_each(&store->pages, index, page) {
		__free_page(page);
		cond_resched();
	}
	xa_destroy(&store->pages);
	kfree(store);
}

/* Find or create a page. Two tasks may create the same page: one of them wins. */
static struct page *krping_blk_store_page(struct krping_blk_store *store,
					  unsigned long index)
{
	struct page *page = xa_load(&store->pages, index), *old;

	if (page)
		return page;
	page = alloc_page(GFP_NOIO | __GFP_ZERO | __GFP_HIGHMEM);
	if (!page)
		return NULL;
	old = xa_cmpxchg(&store->pages, index, NULL, page, GFP_NOIO);
	if (!old)
		return page;
	__free_page(page);
	return xa_is_err(old) ? NULL : old;
}

/**
 * krping_blk_store_write - write bytes
 * @store: storage
 * @offset: first byte
 * @data: content
 * @len: number of bytes
 *
 * Context: process, may sleep; allocates with GFP_NOIO.
 * Return: 0, or -ENOMEM if a part is not written.
 */
int krping_blk_store_write(struct krping_blk_store *store, u64 offset,
			   const void *data, size_t len)
{
	int ret = 0;

	down_read(&store->sem);
	while (len) {
		size_t in = offset_in_page(offset);
		size_t part = min_t(size_t, len, PAGE_SIZE - in);
		struct page *page;

		page = krping_blk_store_page(store, offset >> PAGE_SHIFT);
		if (!page) {
			ret = -ENOMEM;
			break;
		}
		memcpy_to_page(page, in, data, part);
		offset += part;
		data += part;
		len -= part;
	}
	up_read(&store->sem);
	return ret;
}

/**
 * krping_blk_store_read - read bytes
 * @store: storage
 * @offset: first byte
 * @data: result
 * @len: number of bytes
 *
 * Context: process, may sleep.
 */
void krping_blk_store_read(struct krping_blk_store *store, u64 offset,
			   void *data, size_t len)
{
	down_read(&store->sem);
	while (len) {
		size_t in = offset_in_page(offset);
		size_t part = min_t(size_t, len, PAGE_SIZE - in);
		struct page *page;

		page = xa_load(&store->pages, offset >> PAGE_SHIFT);
		if (page)
			memcpy_from_page(data, page, in, part);
		else
			memset(data, 0, part);
		offset += part;
		data += part;
		len -= part;
	}
	up_read(&store->sem);
}

static void krping_blk_store_zero_part(struct krping_blk_store *store,
				       u64 offset, size_t len)
{
	struct page *page = xa_load(&store->pages, offset >> PAGE_SHIFT);

	if (page && len)
		memzero_page(page, offset_in_page(offset), len);
}

/**
 * krping_blk_store_zero - let bytes be zero, and free their pages
 * @store: storage
 * @offset: first byte
 * @len: number of bytes, at least 1
 *
 * Context: process, may sleep.
 */
void krping_blk_store_zero(struct krping_blk_store *store, u64 offset, u64 len)
{
	u64 end = offset + len;
	u64 first = round_up(offset, PAGE_SIZE);
	u64 last = round_down(end, PAGE_SIZE);
	unsigned long index;
	struct page *page;

	down_write(&store->sem);
	if (first > last) {
		krping_blk_store_zero_part(store, offset, len);
		goto out;
	}
	krping_blk_store_zero_part(store, offset, first - offset);
	krping_blk_store_zero_part(store, last, end - last);
	if (first == last)
		goto out;
	xa_for_each_range(&store->pages, index, page, first >> PAGE_SHIFT,
			  (last >> PAGE_SHIFT) - 1) {
		xa_erase(&store->pages, index);
		__free_page(page);
		cond_resched();
	}
out:
	up_write(&store->sem);
}
