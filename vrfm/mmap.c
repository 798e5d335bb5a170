// SPDX-License-Identifier: GPL-2.0
/*
 * Mappings of the memory, of the registers, of the status page, and of buffers
 * that programs use for DMA.
 */
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/sched/signal.h>

#include "compat.h"
#include "device.h"
#include "direct_path.h"
#include "link.h"
#include "write.h"

/*
 * Page offset of mappings of registers and of DMA buffers, behind the largest
 * possible memory.
 */
#define VRFM_SPECIAL_PGOFF (1UL << (BITS_PER_LONG - PAGE_SHIFT - 2))
/* Page offset of manual mappings of the first page of the memory. */
#define VRFM_MANUAL_PGOFF (VRFM_MMAP_MANUAL >> PAGE_SHIFT)

/* Number of pages that mmap() inserts between two checks for signals. */
#define VRFM_INSERT_PAGES 512

static struct vrfm_dev *vrfm_vma_dev(const struct vm_area_struct *vma)
{
	const struct vrfm_file *vf = vma->vm_file->private_data;

	return vf->vdev;
}

static vm_fault_t vrfm_page_fault(struct vm_fault *vmf)
{
	const struct vrfm_mem *mem = &vrfm_vma_dev(vmf->vma)->mem;

	if (vmf->pgoff >= mem->npages)
		return VM_FAULT_SIGBUS;
	vmf->page = mem->pages[vmf->pgoff];
	get_page(vmf->page);
	return 0;
}

/*
 * Handle the first store into a page. The store must wait if too many pages are
 * writable, or if peers may still write directly into the range of the page.
 * Each of the two waits lasts for a millisecond at most, because mmap_lock is
 * held here. After that, let the program repeat the store. The kernel repeats
 * its own stores (copy_to_user(), for example) without checking for signals. So
 * a killed task gets an error.
 */
static vm_fault_t vrfm_page_mkwrite(struct vm_fault *vmf)
{
	struct vrfm_dev *vdev = vrfm_vma_dev(vmf->vma);

	if (!vrfm_twin_wait(vdev, vmf->pgoff) ||
	    !vrfm_stage_fault(vdev, vrfm_range(vmf->pgoff << PAGE_SHIFT)))
		return fatal_signal_pending(current) ? VM_FAULT_SIGBUS :
						       VM_FAULT_NOPAGE;
	return vrfm_twin_make(vdev, vmf->vma->vm_private_data, vmf->page,
			      vmf->pgoff) ? VM_FAULT_OOM : VM_FAULT_LOCKED;
}

static void vrfm_vma_open(struct vm_area_struct *vma)
{
	vrfm_mapper_open(vrfm_vma_dev(vma), vma);
}

static void vrfm_vma_close(struct vm_area_struct *vma)
{
	vrfm_mapper_close(vrfm_vma_dev(vma), vma);
}

static const struct vm_operations_struct vrfm_vm_ops = {
	.open = vrfm_vma_open,
	.close = vrfm_vma_close,
	.fault = vrfm_page_fault,
	.page_mkwrite = vrfm_page_mkwrite,
};

/* Check whether a mapping is inside the memory. @first: its first page there. */
static bool vrfm_vma_is_inside(struct vm_area_struct *vma,
			       const struct vrfm_mem *mem, unsigned long first)
{
	return first < mem->npages && vma_pages(vma) <= mem->npages - first;
}

/*
 * Insert all pages of a mapping now, with the protection vma->vm_page_prot, so
 * that loads of a real-time loop never fault.
 */
static int vrfm_insert_memory(struct vm_area_struct *vma, struct page **pages)
{
	unsigned long at, step, left;
	int ret = 0;

	for (at = vma->vm_start; at < vma->vm_end && !ret;
	     at += step << PAGE_SHIFT, pages += step) {
		step = min_t(unsigned long, (vma->vm_end - at) >> PAGE_SHIFT,
			     VRFM_INSERT_PAGES);
		left = step;
		if (fatal_signal_pending(current))
			ret = -EINTR;
		else
			ret = vm_insert_pages(vma, at, pages, &left);
		cond_resched();
	}
	return ret;
}

static int vrfm_mmap_memory(struct vrfm_dev *vdev, struct vm_area_struct *vma)
{
	int ret;

	if (!vrfm_vma_is_inside(vma, &vdev->mem, vma->vm_pgoff))
		return -EAGAIN;
	ret = vrfm_mapper_add(vdev, vma);
	if (ret)
		return ret;
	vma->vm_ops = &vrfm_vm_ops;
	/*
	 * Insert the pages with read-only entries. mmap() sets this protection
	 * itself because of page_mkwrite, but only after this function.
	 */
	vma->vm_page_prot = vm_get_page_prot(vma->vm_flags & ~VM_SHARED);
	ret = vrfm_insert_memory(vma, vdev->mem.pages + vma->vm_pgoff);
	/* If mmap() fails, the kernel does not call vrfm_vma_close(). */
	if (ret)
		vrfm_mapper_close(vdev, vma);
	return ret;
}

/* ---- manual mappings ---- */

/* Map a page again that the program has discarded. */
static vm_fault_t vrfm_manual_fault(struct vm_fault *vmf)
{
	const struct vrfm_mem *mem = &vrfm_vma_dev(vmf->vma)->mem;
	unsigned long index = vmf->pgoff - VRFM_MANUAL_PGOFF;

	if (index >= mem->npages)
		return VM_FAULT_SIGBUS;
	vmf->page = mem->pages[index];
	get_page(vmf->page);
	return 0;
}

static const struct vm_operations_struct vrfm_manual_vm_ops = {
	.fault = vrfm_manual_fault,
};

/*
 * Map the memory for a program that publishes its stores itself. Without
 * page_mkwrite, the pages are writable at once, and have no twins. The offset of
 * the mapping is behind the memory, so vrfm_wrprotect() never finds its pages.
 */
static int vrfm_mmap_manual(struct file *file, struct vrfm_dev *vdev,
			    struct vm_area_struct *vma)
{
	unsigned long first = vma->vm_pgoff - VRFM_MANUAL_PGOFF;

	if (!(file->f_mode & FMODE_WRITE))
		return -EACCES;
	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	if (!vrfm_vma_is_inside(vma, &vdev->mem, first))
		return -EAGAIN;
	vma->vm_ops = &vrfm_manual_vm_ops;
	return vrfm_insert_memory(vma, vdev->mem.pages + first);
}

/* ---- other mappings ---- */

static struct page *vrfm_dma_page(void)
{
	return alloc_page(GFP_HIGHUSER | __GFP_ZERO | __GFP_ACCOUNT |
			  __GFP_NOWARN | __GFP_RETRY_MAYFAIL);
}

/*
 * Allocate a page again. An access faults only if the program itself has
 * discarded the page.
 */
static vm_fault_t vrfm_dma_fault(struct vm_fault *vmf)
{
	vmf->page = vrfm_dma_page();
	return vmf->page ? 0 : VM_FAULT_OOM;
}

static const struct vm_operations_struct vrfm_dma_vm_ops = {
	.fault = vrfm_dma_fault,
};

/*
 * Map a new buffer for DMA. The cards' driver maps any physical address. Here
 * the mapping gets ordinary memory, which only this mapping holds, and which is
 * charged to the program. vrfm_read() and vrfm_write() copy to or from this
 * memory instead of DMA.
 */
static int vrfm_mmap_dma(struct vm_area_struct *vma)
{
	unsigned long address;
	struct page *page;
	int ret = 0;

	vma->vm_ops = &vrfm_dma_vm_ops;
	for (address = vma->vm_start; address < vma->vm_end && !ret;
	     address += PAGE_SIZE) {
		if (fatal_signal_pending(current))
			return -EINTR;
		page = vrfm_dma_page();
		if (!page)
			return -ENOMEM;
		ret = vm_insert_page(vma, address, page);
		/* From now on only the mapping holds the page. */
		put_page(page);
		cond_resched();
	}
	return ret;
}

/**
 * vrfm_mmap - map the memory, the status page, registers or a DMA buffer
 * @file: open device
 * @vma: mapping
 *
 * If RFM2G_SET_SPECIAL_MMAP has chosen an object, map that object, and forget
 * the choice even after an error. Otherwise map the status page at
 * %VRFM_STATUS_OFFSET, or the memory at other offsets: from %VRFM_MMAP_MANUAL
 * on for a program that publishes its stores itself.
 *
 * Return: 0; -ENODEV if the device was destroyed; -EAGAIN if the range is not
 * inside the memory, or the DMA buffer is at address 0; -EINVAL if the mapping
 * is private, and writable or manual, because its stores would never leave the
 * process; -EACCES if a manual mapping is made of a file that is not open for
 * writing; -ENOMEM; -EINTR if the task was killed; or an error of vrfm_status_mmap().
 */
int vrfm_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct vrfm_file *vf = file->private_data;
	struct vrfm_dev *vdev = vf->vdev;
	int special = xchg(&vf->special, VRFM_SPECIAL_NONE);
	struct page *page;

	if (READ_ONCE(vdev->gone))
		return -ENODEV;
	if (special == VRFM_SPECIAL_DMA_NULL)
		return -EAGAIN;
	if (!(vma->vm_flags & VM_SHARED)) {
		if (vma->vm_flags & VM_WRITE)
			return -EINVAL;
		vm_flags_clear(vma, VM_MAYWRITE);
	}
	if (special == VRFM_SPECIAL_NONE &&
	    vma->vm_pgoff == VRFM_STATUS_OFFSET >> PAGE_SHIFT)
		return vrfm_status_mmap(vdev, vma);
	if (special == VRFM_SPECIAL_NONE && vma->vm_pgoff >= VRFM_MANUAL_PGOFF)
		return vrfm_mmap_manual(file, vdev, vma);
	if (special == VRFM_SPECIAL_NONE)
		return vrfm_mmap_memory(vdev, vma);
	/*
	 * Use an offset that vrfm_wrprotect() never touches, because it finds
	 * mappings by offset.
	 */
	vma->vm_pgoff = VRFM_SPECIAL_PGOFF;
	if (special == VRFM_SPECIAL_DMA)
		return vrfm_mmap_dma(vma);
	/*
	 * Map the page with the registers, whatever the length of the mapping.
	 * Accesses behind the page fail.
	 */
	page = vrfm_regs_map(vf, special == VRFM_SPECIAL_BAR2);
	return page ? vm_insert_page(vma, vma->vm_start, page) : -ENOMEM;
}
