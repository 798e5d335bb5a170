/* SPDX-License-Identifier: GPL-2.0 */
#ifndef VRFM_TWIN_H
#define VRFM_TWIN_H

#include <linux/bitmap.h>
#include <linux/list.h>
#include <linux/types.h>

#include "map.h"

#define VRFM_PAGE_WORDS (PAGE_SIZE / VRFM_WORD)

struct vrfm_family;

/**
 * struct vrfm_twin - content of a page before a program stored into a mapping
 * @entry: place in vrfm_dev.pages; under vrfm_dev.twins_lock, as are the next
 *	three
 * @kin: place in @family's list, the least recently compared first
 * @family: processes that can store into the page without a fault
 * @compared: number of the last comparison, see vrfm_dev.compared; 0: none yet
 * @index: index of the page
 * @counted: the twin counts for vrfm_dev.twins_max; written by the fault, then
 *	by the scanner alone, as are the next three
 * @changed: time when a difference was last found, or the page became
 *	writable, in ns; under vrfm_dev.write_lock
 * @look_at: time before which the scanner does not compare, in ns
 * @end_at: time before which the scanner does not write-protect, in ns
 * @held_ns: time between two attempts to write-protect a held page, in ns
 * @words: the copy, a page of its own; under the page's lock
 */
struct vrfm_twin {
	struct list_head entry;
	struct list_head kin;
	struct vrfm_family *family;
	u64 compared;
	unsigned long index;
	bool counted;
	u64 changed;
	u64 look_at;
	u64 end_at;
	u64 held_ns;
	u32 *words;
};

/**
 * struct vrfm_diff - words of a page that programs have stored
 * @words: values of those that changed
 * @changed: a bit for each word, set if it changed
 * @n: number of words that changed
 */
struct vrfm_diff {
	u32 words[VRFM_PAGE_WORDS];
	DECLARE_BITMAP(changed, VRFM_PAGE_WORDS);
	u32 n;
};

bool vrfm_diff_any(const void *page, const u32 *twin);
void vrfm_diff_take(struct vrfm_diff *diff, const void *page, u32 *twin);
u32 vrfm_diff_next(const struct vrfm_diff *diff, u32 from, u32 *n);
u32 vrfm_first_difference(const void *mem, const void *seen, u32 len);

#endif /* VRFM_TWIN_H */
