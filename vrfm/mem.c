// SPDX-License-Identifier: GPL-2.0
/*
 * The memory, which all nodes of the network share: each node has a copy, and
 * this file manages the copy of this node.
 *
 * The copy consists of order-0 pages. Programs map the pages one by one, and
 * the kernel maps all of them in one piece. Reading takes no lock. A store by a
 * call or from a peer holds the lock of its page.
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

/* Size of the buffer on the stack that reads copy through, in bytes. */
#define VRFM_BOUNCE 512

static void vrfm_mem_free_pages(struct vrfm_mem *mem)
{
	struct page *page;

	while (mem->npages) {
		page = mem->pages[--mem->npages];
		/*
		 * Take the lock of the page, because a task that still holds
		 * the page may read ->mapping under this lock.
		 */
		lock_page(page);
		page_folio(page)->mapping = NULL;
		unlock_page(page);
		put_page(page);
		cond_resched();
	}
	kvfree(mem->pages);
}

/**
 * vrfm_mem_alloc - allocate a memory that contains zeroes
 * @mem: set to the pages and their mapping
 * @size: size of the memory in bytes, a multiple of the page size
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int vrfm_mem_alloc(struct vrfm_mem *mem, u64 size)
{
	/*
	 * Fail instead of killing tasks, because the size may be a mistake of
	 * the admin.
	 */
	const gfp_t gfp = GFP_HIGHUSER | __GFP_ZERO | __GFP_NOWARN |
			  __GFP_RETRY_MAYFAIL;
	unsigned long npages = size >> PAGE_SHIFT;
	struct page *page;

	mem->npages = 0;
	mem->pages = NULL;
	/*
	 * Check whether the machine can hold the memory, before the first page
	 * is allocated. Without this check, a size that is too large would take
	 * all free memory before it fails. That takes long, and evicts memory
	 * of other users. A sixteenth of the size is for bitmaps and tables.
	 */
	if (npages + npages / 16 > (unsigned long)si_mem_available())
		return -ENOMEM;
	mem->pages = kvmalloc_array(npages, sizeof(*mem->pages), GFP_KERNEL);
	if (!mem->pages)
		return -ENOMEM;
	while (mem->npages < npages) {
		page = fatal_signal_pending(current) ? NULL : alloc_page(gfp);
		if (!page)
			goto free;
		mem->pages[mem->npages++] = page;
		cond_resched();
	}
	mem->vaddr = vmap(mem->pages, mem->npages, VM_MAP, PAGE_KERNEL);
	if (mem->vaddr)
		return 0;
free:
	vrfm_mem_free_pages(mem);
	return -ENOMEM;
}

/**
 * vrfm_mem_name - give each page an address space and an index
 * @mem: memory that is allocated
 * @mapping: address space of the device's inode; must exist until
 *	vrfm_mem_free()
 *
 * To identify a futex that processes share, the kernel needs the address space
 * and the index of its page. The pages are not in the page cache: @mapping does
 * not contain them.
 *
 * Context: may sleep.
 */
void vrfm_mem_name(struct vrfm_mem *mem, struct address_space *mapping)
{
	unsigned long i;

	for (i = 0; i < mem->npages; i++) {
		page_folio(mem->pages[i])->mapping = mapping;
		page_folio(mem->pages[i])->index = i;
		cond_resched();
	}
}

/**
 * vrfm_mem_free - free a memory
 * @mem: memory that no task reads or maps any more; it may be zeroed, if it was
 *	never allocated
 *
 * Context: may sleep.
 */
void vrfm_mem_free(struct vrfm_mem *mem)
{
	if (!mem->vaddr)
		return;
	vunmap(mem->vaddr);
	vrfm_mem_free_pages(mem);
}

/*
 * Account for @part bytes that a write of this node or of a peer has stored, all
 * in one page. Store them into the twin of the page as well, so that the scanner
 * does not take them for a store through a mapping. The page's lock is held.
 */
static void vrfm_mem_written(struct vrfm_dev *vdev, u32 offset, const void *buf,
			     u32 part, enum vrfm_own own)
{
	struct vrfm_twin *twin = vdev->twins[offset >> PAGE_SHIFT];
	u32 first = vrfm_word_first(offset);
	u32 n = vrfm_word_count(offset, part);
	unsigned long *live;

	if (twin)
		memcpy((void *)twin->words + offset_in_page(offset), buf, part);
	if (own == VRFM_OWN_SET) {
		bitmap_set(vdev->own, first, n);
	} else if (own == VRFM_OWN_CLEAR) {
		bitmap_clear(vdev->own, first, n);
		live = READ_ONCE(vdev->live);
		if (live)
			bitmap_set(live, first, n);
	}
	vrfm_touched(vdev, offset, part);
}

/**
 * vrfm_mem_store - store into the memory
 * @vdev: device
 * @offset: offset of the first byte, inside the memory
 * @buf: the bytes to store
 * @len: number of bytes
 * @own: effect on the map of own words
 *
 * Context: any but hard interrupts.
 */
void vrfm_mem_store(struct vrfm_dev *vdev, u32 offset, const void *buf, u32 len,
		    enum vrfm_own own)
{
	u32 part;

	/*
	 * Order these bytes after earlier stores: a reader that sees these
	 * bytes sees the earlier stores as well.
	 */
	smp_wmb();
	/* Store the bytes page by page. */
	for (; len; offset += part, buf += part, len -= part) {
		spinlock_t *lock = vrfm_page_lock(vdev, offset);

		part = min_t(u32, len, PAGE_SIZE - offset_in_page(offset));
		spin_lock_bh(lock);
		vrfm_copy(vdev->mem.vaddr + offset, buf, part);
		vrfm_mem_written(vdev, offset, buf, part, own);
		spin_unlock_bh(lock);
	}
}

/**
 * vrfm_mem_publish - make bytes that a program has stored a write of this node
 * @vdev: device
 * @offset: offset of the first byte, inside the memory
 * @buf: set to the bytes, which are read once
 * @len: number of bytes
 * @own: effect on the map of own words
 *
 * A page is read under its lock. So a write of a peer is either in @buf, or
 * comes after this write. No aligned word is torn.
 *
 * Context: any but hard interrupts.
 */
void vrfm_mem_publish(struct vrfm_dev *vdev, u32 offset, void *buf, u32 len,
		      enum vrfm_own own)
{
	u32 part;

	for (; len; offset += part, buf += part, len -= part) {
		spinlock_t *lock = vrfm_page_lock(vdev, offset);

		part = min_t(u32, len, PAGE_SIZE - offset_in_page(offset));
		spin_lock_bh(lock);
		vrfm_copy_out(buf, vdev->mem.vaddr + offset, part);
		vrfm_mem_written(vdev, offset, buf, part, own);
		spin_unlock_bh(lock);
	}
}

/**
 * vrfm_mem_load - load a value from the memory for a program
 * @vdev: device
 * @offset: offset of the first byte; the caller has checked vrfm_inside()
 * @buf: set to the value; aligned to @width
 * @width: number of bytes: 1, 2, 4 or 8
 *
 * If @offset is a multiple of @width, the value is loaded by one access.
 *
 * Context: any.
 */
void vrfm_mem_load(struct vrfm_dev *vdev, u32 offset, void *buf, u32 width)
{
	const void *from = vdev->mem.vaddr + offset;

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
	/*
	 * Order later reads after this one. Pairs with the barrier in
	 * vrfm_mem_store().
	 */
	smp_rmb();
}

/**
 * vrfm_read - copy bytes from the memory to a program
 * @vdev: device
 * @offset: offset of the first byte; the caller has checked vrfm_inside()
 * @buf: memory of the program
 * @len: number of bytes
 *
 * Aligned words of 2, 4 and 8 bytes in the memory are never torn, even if @buf
 * or @offset is not aligned.
 *
 * Context: may sleep.
 * Return: 0; -EFAULT; -EINTR if the task was killed.
 */
int vrfm_read(struct vrfm_dev *vdev, u32 offset, void __user *buf, size_t len)
{
	u64 bounce[VRFM_BOUNCE / sizeof(u64)];
	size_t step;

	if (len <= sizeof(u64) && is_power_of_2(len) &&
	    IS_ALIGNED(offset, len)) {
		vrfm_mem_load(vdev, offset, bounce, len);
		return copy_to_user(buf, bounce, len) ? -EFAULT : 0;
	}
	/*
	 * Copy the bytes through a buffer on the stack. copy_to_user() may copy
	 * bytes one by one, and would tear words that are being stored. Each
	 * step except the last ends at an offset that is a multiple of 8.
	 */
	for (; len; offset += step, buf += step, len -= step) {
		step = min_t(size_t, len, VRFM_BOUNCE - offset % sizeof(u64));
		if (fatal_signal_pending(current))
			return -EINTR;
		vrfm_copy_out(bounce, vdev->mem.vaddr + offset, step);
		if (copy_to_user(buf, bounce, step))
			return -EFAULT;
		cond_resched();
	}
	return 0;
}
