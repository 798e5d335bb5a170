// SPDX-License-Identifier: GPL-2.0
/*
 * The difference between a page and its twin, word by word. Pure: no locks,
 * nothing of the device.
 */
#include <linux/compiler.h>

#include "twin.h"

/**
 * vrfm_diff_take - find what changed, and change the twin in the same way
 * @diff: result
 * @page: page that programs may be storing into meanwhile
 * @twin: its twin
 *
 * Each word is loaded once: what is found is what the twin becomes. A store
 * that comes after that load is found next time.
 */
void vrfm_diff_take(struct vrfm_diff *diff, const void *page, u32 *twin)
{
	const u32 *words = page;
	u32 i, word;

	bitmap_zero(diff->changed, VRFM_PAGE_WORDS);
	diff->n = 0;
	for (i = 0; i < VRFM_PAGE_WORDS; i++) {
		word = READ_ONCE(words[i]);
		if (likely(word == twin[i]))
			continue;
		twin[i] = word;
		diff->words[i] = word;
		__set_bit(i, diff->changed);
		diff->n++;
	}
}

/**
 * vrfm_diff_next - changed words that follow each other
 * @diff: difference
 * @from: not before this one
 * @n: gets how many they are
 *
 * Return: the first of them; %VRFM_PAGE_WORDS: there is none.
 */
u32 vrfm_diff_next(const struct vrfm_diff *diff, u32 from, u32 *n)
{
	u32 first = find_next_bit(diff->changed, VRFM_PAGE_WORDS, from);

	*n = find_next_zero_bit(diff->changed, VRFM_PAGE_WORDS, first) - first;
	return first;
}
