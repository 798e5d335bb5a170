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
 * struct vrfm_twin - copy of a page's content from before programs stored into
 * the page through a mapping
 * @entry: place in vrfm_dev.pages; under vrfm_dev.twins_lock, like the next
 *	three members
 * @kin: place in @family's list of twins; the least recently compared twin is
 *	first
 * @family: processes that can store into the page without a fault
 * @compared: number of the last comparison of this twin, see vrfm_dev.compared;
 *	0: not compared yet
 * @index: index of the page
 * @counted: this twin counts for the limit vrfm_dev.twins_max; written by the
 *	fault, and later only by the scanner
 * @changed: time when a difference was last found or the page became writable,
 *	in ns; under vrfm_dev.write_lock
 * @look_at: time until which the scanner does not compare the page, in ns; used
 *	only by the scanner, like the next two members
 * @end_at: time until which the scanner does not write-protect the page, in ns
 * @held_ns: delay before the next attempt to write-protect a page that another
 *	user holds, in ns; 0: the page was not held
 * @words: the copy, in a page of its own; under the page's lock
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
 * struct vrfm_diff - differences between a page and its twin
 * @words: present values of the words that differ; the other entries are not
 *	valid
 * @changed: a bit for each word of the page: the word differs
 * @n: number of words that differ
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
