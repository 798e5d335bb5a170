/* SPDX-License-Identifier: GPL-2.0 */
#ifndef VRFM_TWIN_H
#define VRFM_TWIN_H

#include <linux/bitmap.h>
#include <linux/list.h>
#include <linux/types.h>

#include "map.h"

#define VRFM_PAGE_WORDS (PAGE_SIZE / VRFM_WORD)

/**
 * struct vrfm_twin - what a page was before a program stored into a mapping
 * @entry: in the device's list, under its flush mutex; new ones under its lock
 * @index: of the page
 * @changed: jiffies when a difference was last seen, or the page made writable
 * @words: the copy, under the page's lock
 */
struct vrfm_twin {
	struct list_head entry;
	unsigned long index;
	u64 changed;
	u32 words[VRFM_PAGE_WORDS];
};

/**
 * struct vrfm_diff - what programs have stored into a page
 * @words: values of those that changed
 * @changed: which
 * @n: how many
 */
struct vrfm_diff {
	u32 words[VRFM_PAGE_WORDS];
	DECLARE_BITMAP(changed, VRFM_PAGE_WORDS);
	u32 n;
};

void vrfm_diff_take(struct vrfm_diff *diff, const void *page, u32 *twin);
u32 vrfm_diff_next(const struct vrfm_diff *diff, u32 from, u32 *n);
u32 vrfm_first_difference(const void *mem, const void *seen, u32 len);

#endif /* VRFM_TWIN_H */
