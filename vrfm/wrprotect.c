// SPDX-License-Identifier: GPL-2.0
/* Write-protecting pages of the memory in the mappings of all processes. */
#include <linux/bitmap.h>
#include <linux/mm.h>

#include "compat.h"
#include "priv.h"

#ifdef CONFIG_MAPPING_DIRTY_HELPERS
/*
 * Number of attempts to write-protect a page before it is removed from the page
 * tables.
 */
#define VRFM_WRPROTECT_TRIES 3

/*
 * Write-protect a page in all page tables, and then clean its entries.
 * mprotect() makes a dirty entry writable without calling page_mkwrite(): it
 * assumes that a dirty entry was not write-protected since page_mkwrite().
 * Before the entries are clean, mprotect() may make one of them writable again.
 * So repeat both steps until cleaning finds no dirty entry.
 */
static bool vrfm_wrprotect_entries(struct address_space *mapping,
				   unsigned long index)
{
	DECLARE_BITMAP(dirty, 1) = { };
	pgoff_t start = 0, end = 0;
	unsigned int i;

	for (i = 0; i < VRFM_WRPROTECT_TRIES; i++) {
		wp_shared_mapping_range(mapping, index, 1);
		if (!clean_record_shared_mapping_range(mapping, index, 1, index,
						       dirty, &start, &end))
			return true;
	}
	return false;
}
#else
/* This kernel has no function that write-protects mappings. */
static bool vrfm_wrprotect_entries(struct address_space *mapping,
				   unsigned long index)
{
	return false;
}
#endif

/**
 * vrfm_wrprotect - write-protect a page in all mappings, so that a later store
 * faults
 * @vdev: device
 * @index: index of the page
 *
 * Takes the lock of each page table that maps the page.
 *
 * Context: may sleep.
 * Return: true; false if the page was removed from the page tables instead.
 */
bool vrfm_wrprotect(struct vrfm_dev *vdev, unsigned long index)
{
	struct address_space *mapping = vdev->inode->i_mapping;

	if (krdma_mapping_wrprotect(mapping, index, vdev->mem.pages[index]) ||
	    vrfm_wrprotect_entries(mapping, index))
		return true;
	unmap_mapping_range(mapping, (loff_t)index << PAGE_SHIFT, PAGE_SIZE, 0);
	return false;
}
