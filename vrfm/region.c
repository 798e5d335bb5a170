// SPDX-License-Identifier: GPL-2.0
/*
 * The memory: this node's copy of what all nodes of the network share.
 *
 * It is made of normal pages, which programs map one by one, and is also mapped
 * in one piece for the kernel. Reading takes no lock at all. Stores of this
 * node go through vrfm_region_store_locked(), one after the other in one order; what
 * a program hands over is copied out of its memory before, because that may
 * sleep, and may even be a mapping of this memory.
 */
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "copy.h"
#include "priv.h"

/* What is handed over at once; bounds how long others wait for the order. */
#define VRFM_STEP SZ_64K
/* Up to here it is copied to the stack. */
#define VRFM_SMALL 64

static void vrfm_region_free_pages(struct vrfm_region *region)
{
	while (region->npages)
		put_page(region->pages[--region->npages]);
	kvfree(region->pages);
}

static int vrfm_region_alloc_pages(struct vrfm_region *region,
				   unsigned long npages)
{
	/* Too large a size is the admin's mistake, no reason to kill others. */
	const gfp_t gfp = GFP_HIGHUSER | __GFP_ZERO | __GFP_NOWARN |
			  __GFP_RETRY_MAYFAIL;
	struct page *page;

	region->npages = 0;
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

/* The one place where this node's calls store. */
static void vrfm_region_store_locked(struct vrfm_dev *vdev, u32 offset,
				     const void *buf, u32 len)
{
	/* A reader that sees these bytes sees what was stored before. */
	smp_wmb();
	vrfm_copy(vdev->region.mem + offset, buf, len);
}

/* Nobody else is there: what was stored has come round the ring at once. */
static void vrfm_region_stored(struct vrfm_dev *vdev)
{
	const u32 done = VRFM_LCSR_TX_OFF | VRFM_LCSR_OWN_DATA;

	if (!(READ_ONCE(vdev->regs.lcsr) & done))
		vrfm_lcsr_update(vdev, VRFM_LCSR_OWN_DATA, true);
}

/**
 * vrfm_store - store on behalf of a program
 * @vdev: device
 * @offset: where; vrfm_inside() was asked
 * @buf: in the kernel's memory
 * @width: bytes
 *
 * Aligned, it is one access up to 8 bytes.
 *
 * Context: may sleep.
 */
void vrfm_store(struct vrfm_dev *vdev, u32 offset, const void *buf, u32 width)
{
	rt_mutex_lock(&vdev->order);
	vrfm_region_store_locked(vdev, offset, buf, width);
	rt_mutex_unlock(&vdev->order);
	vrfm_region_stored(vdev);
}

/**
 * vrfm_store_bits - change bits of the memory in one step
 * @vdev: device
 * @offset: where; vrfm_inside() was asked
 * @width: 1, 2 or 4
 * @clear: bits that become 0
 * @set: bits that become 1, wins
 *
 * In one step with regard to this node's other calls. Stores through mappings
 * and by other nodes may come between.
 *
 * Context: may sleep.
 */
void vrfm_store_bits(struct vrfm_dev *vdev, u32 offset, u32 width, u32 clear,
		     u32 set)
{
	u32 value = 0;

	rt_mutex_lock(&vdev->order);
	vrfm_load(vdev, offset, &value, width);
	value = (value & ~clear) | set;
	vrfm_region_store_locked(vdev, offset, &value, width);
	rt_mutex_unlock(&vdev->order);
	vrfm_region_stored(vdev);
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
	/* What is read next is not older: pairs with vrfm_region_store_locked(). */
	smp_rmb();
}

/* In steps: usercopy takes 2 GiB at once, all of the largest memory, for a bug. */
static int vrfm_read_block(struct vrfm_dev *vdev, u32 offset, void __user *buf,
			   size_t len)
{
	size_t step;

	for (; len; offset += step, buf += step, len -= step) {
		step = min_t(size_t, len, VRFM_STEP);
		if (fatal_signal_pending(current))
			return -EINTR;
		if (copy_to_user(buf, vdev->region.mem + offset, step))
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

static int vrfm_write_small(struct vrfm_dev *vdev, u32 offset,
			    const void __user *buf, size_t len)
{
	u8 bounce[VRFM_SMALL] __aligned(8);

	if (copy_from_user(bounce, buf, len))
		return -EFAULT;
	vrfm_store(vdev, offset, bounce, len);
	return 0;
}

/**
 * vrfm_write - copy from a program, a local write
 * @vdev: device
 * @offset: where; vrfm_inside() was asked
 * @buf: the program's, is read once
 * @len: bytes
 *
 * Readers on this node see it when this returns. After an error nothing was
 * stored behind the byte that could not be read; what could be read before it
 * may have been, in steps of 64 KiB.
 *
 * Context: may sleep.
 * Return: 0, -EFAULT, -ENOMEM, -EINTR: killed.
 */
int vrfm_write(struct vrfm_dev *vdev, u32 offset, const void __user *buf,
	       size_t len)
{
	size_t step = min_t(size_t, len, VRFM_STEP);
	void *bounce;
	int ret = 0;

	if (len <= VRFM_SMALL)
		return vrfm_write_small(vdev, offset, buf, len);
	bounce = kvmalloc(step, GFP_KERNEL);
	if (!bounce)
		return -ENOMEM;
	for (; len && !ret; offset += step, buf += step, len -= step) {
		step = min_t(size_t, len, VRFM_STEP);
		if (fatal_signal_pending(current))
			ret = -EINTR;
		else if (copy_from_user(bounce, buf, step))
			ret = -EFAULT;
		else
			vrfm_store(vdev, offset, bounce, step);
	}
	kvfree(bounce);
	return ret;
}
