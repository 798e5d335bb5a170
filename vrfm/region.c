// SPDX-License-Identifier: GPL-2.0
/*
 * The memory: this node's copy of what all nodes of the network share.
 *
 * It is made of normal pages, which programs map one by one, and is also mapped
 * in one piece for the kernel. Reading takes no lock at all. A store, of
 * whichever node, holds the lock of its page.
 */
#include <linux/bitmap.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "copy.h"
#include "map.h"
#include "priv.h"
#include "twin.h"

/* Bytes that are copied out of the memory at once, on the stack. */
#define VRFM_BOUNCE 512

static void vrfm_region_free_pages(struct vrfm_region *region)
{
	struct page *page;

	while (region->npages) {
		page = region->pages[--region->npages];
		/* Whoever still holds it may read ->mapping under this lock. */
		lock_page(page);
		page_folio(page)->mapping = NULL;
		unlock_page(page);
		put_page(page);
		cond_resched();
	}
	kvfree(region->pages);
}

/*
 * A size that the machine cannot hold is refused before the first page is
 * taken: to take and to zero all free memory takes long, and pushes out what
 * others need. A sixteenth is for maps of words and of pages.
 */
static bool vrfm_region_fits(unsigned long npages)
{
	return npages + npages / 16 <= (unsigned long)si_mem_available();
}

static int vrfm_region_alloc_pages(struct vrfm_region *region,
				   unsigned long npages)
{
	/* Too large a size is the admin's mistake, no reason to kill others. */
	const gfp_t gfp = GFP_HIGHUSER | __GFP_ZERO | __GFP_NOWARN |
			  __GFP_RETRY_MAYFAIL;
	struct page *page;

	region->npages = 0;
	region->pages = NULL;
	if (!vrfm_region_fits(npages))
		return -ENOMEM;
	region->pages = kvmalloc_array(npages, sizeof(*region->pages),
				       GFP_KERNEL);
	if (!region->pages)
		return -ENOMEM;
	while (region->npages < npages) {
		page = fatal_signal_pending(current) ? NULL : alloc_page(gfp);
		if (!page) {
			vrfm_region_free_pages(region);
			return -ENOMEM;
		}
		region->pages[region->npages++] = page;
		cond_resched();
	}
	return 0;
}

/**
 * vrfm_region_alloc - memory of zeroes
 * @region: to fill
 * @size: bytes, a multiple of the page size
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int vrfm_region_alloc(struct vrfm_region *region, u64 size)
{
	int ret;

	ret = vrfm_region_alloc_pages(region, size >> PAGE_SHIFT);
	if (ret)
		return ret;
	region->mem = vmap(region->pages, region->npages, VM_MAP, PAGE_KERNEL);
	if (!region->mem) {
		vrfm_region_free_pages(region);
		return -ENOMEM;
	}
	return 0;
}

/**
 * vrfm_region_name - give the pages a place in a file
 * @region: that is allocated
 * @mapping: of the device's inode; must stay until vrfm_region_free()
 *
 * A futex of several processes is known by the file and the index of its page.
 * The pages are not in the page cache: @mapping does not find them.
 *
 * Context: may sleep.
 */
void vrfm_region_name(struct vrfm_region *region, struct address_space *mapping)
{
	unsigned long i;

	for (i = 0; i < region->npages; i++) {
		page_folio(region->pages[i])->mapping = mapping;
		page_folio(region->pages[i])->index = i;
		cond_resched();
	}
}

/**
 * vrfm_region_free - give the memory back
 * @region: nobody reads or maps it any more; may be one of zeroes, which was
 *          never filled
 *
 * Context: may sleep.
 */
void vrfm_region_free(struct vrfm_region *region)
{
	if (!region->mem)
		return;
	vunmap(region->mem);
	vrfm_region_free_pages(region);
}

static void vrfm_own(struct vrfm_dev *vdev, u32 offset, u32 len,
		     enum vrfm_own own)
{
	u32 first = vrfm_word_first(offset), n = vrfm_word_count(offset, len);

	if (own == VRFM_OWN_SET)
		bitmap_set(vdev->own, first, n);
	if (own != VRFM_OWN_CLEAR)
		return;
	bitmap_clear(vdev->own, first, n);
	if (vdev->live)
		bitmap_set(vdev->live, first, n);
}

/* What a program did not store is no difference. */
static void vrfm_twin_put(struct vrfm_dev *vdev, u32 offset, const void *buf,
			  u32 len)
{
	struct vrfm_twin *twin = vdev->twins[offset >> PAGE_SHIFT];

	if (twin)
		memcpy((void *)twin->words + offset_in_page(offset), buf, len);
}

/* Inside one page. */
static void vrfm_page_put(struct vrfm_dev *vdev, u32 offset, const void *buf,
			  u32 len, enum vrfm_own own)
{
	spinlock_t *lock = vrfm_page_lock(vdev, offset);

	spin_lock_bh(lock);
	vrfm_copy(vdev->region.mem + offset, buf, len);
	vrfm_twin_put(vdev, offset, buf, len);
	vrfm_own(vdev, offset, len, own);
	vrfm_touched(vdev, offset, len);
	spin_unlock_bh(lock);
}

/**
 * vrfm_region_put - store into the memory
 * @vdev: device
 * @offset: where; inside
 * @buf: what
 * @len: bytes
 * @own: what becomes of the words in the map of this node's own
 *
 * Context: any but hard interrupts.
 */
void vrfm_region_put(struct vrfm_dev *vdev, u32 offset, const void *buf,
		     u32 len, enum vrfm_own own)
{
	u32 part;

	/* A reader that sees these bytes sees what was stored before. */
	smp_wmb();
	for (; len; offset += part, buf += part, len -= part) {
		part = min_t(u32, len, PAGE_SIZE - offset_in_page(offset));
		vrfm_page_put(vdev, offset, buf, part, own);
	}
}

/**
 * vrfm_load - load on behalf of a program
 * @vdev: device
 * @offset: where; vrfm_inside() was asked
 * @buf: gets it, aligned to @width
 * @width: 1, 2, 4 or 8
 *
 * Aligned, it is one access.
 *
 * Context: any.
 */
void vrfm_load(struct vrfm_dev *vdev, u32 offset, void *buf, u32 width)
{
	const void *from = vdev->region.mem + offset;

	if (!IS_ALIGNED(offset, width))
		memcpy(buf, from, width);
	else if (width == 8)
		*(u64 *)buf = READ_ONCE(*(const u64 *)from);
	else if (width == 4)
		*(u32 *)buf = READ_ONCE(*(const u32 *)from);
	else if (width == 2)
		*(u16 *)buf = READ_ONCE(*(const u16 *)from);
	else
		*(u8 *)buf = READ_ONCE(*(const u8 *)from);
	/* What is read next is not older: pairs with vrfm_region_put(). */
	smp_rmb();
}

/*
 * Reads through a bounce buffer: copy_to_user() may move bytes one by one, and
 * tear words that are stored meanwhile. Each step ends at an aligned word.
 */
static int vrfm_read_block(struct vrfm_dev *vdev, u32 offset, void __user *buf,
			   size_t len)
{
	u64 bounce[VRFM_BOUNCE / sizeof(u64)];
	size_t step;

	for (; len; offset += step, buf += step, len -= step) {
		step = min_t(size_t, len, VRFM_BOUNCE - offset % sizeof(u64));
		if (fatal_signal_pending(current))
			return -EINTR;
		vrfm_copy_out(bounce, vdev->region.mem + offset, step);
		if (copy_to_user(buf, bounce, step))
			return -EFAULT;
		cond_resched();
	}
	return 0;
}

/**
 * vrfm_read - copy to a program
 * @vdev: device
 * @offset: where; vrfm_inside() was asked
 * @buf: the program's
 * @len: bytes
 *
 * Aligned words of 2, 4 and 8 bytes are not torn, wherever @buf and @offset
 * are.
 *
 * Context: may sleep.
 * Return: 0; -EFAULT; -EINTR: killed.
 */
int vrfm_read(struct vrfm_dev *vdev, u32 offset, void __user *buf, size_t len)
{
	u64 word;

	if (len > sizeof(word) || !is_power_of_2(len) || !IS_ALIGNED(offset, len))
		return vrfm_read_block(vdev, offset, buf, len);
	vrfm_load(vdev, offset, &word, len);
	return copy_to_user(buf, &word, len) ? -EFAULT : 0;
}
