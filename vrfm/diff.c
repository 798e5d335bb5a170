// SPDX-License-Identifier: GPL-2.0
/*
 * The difference between a page and its twin, word by word; and between bytes
 * of the memory and what they were. Pure: no locks, nothing of the device.
 */
#include <linux/compiler.h>
#include <linux/string.h>

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

/* Compared at once, as long as nothing differs. */
#define VRFM_COMPARE 64

/**
 * vrfm_first_difference - have these bytes changed?
 * @mem: in the memory, where others store meanwhile
 * @seen: what they were
 * @len: how many
 *
 * What is stored while it looks may be found or not.
 *
 * Return: index of the first that differs, @len: none does.
 */
u32 vrfm_first_difference(const void *mem, const void *seen, u32 len)
{
	const u8 *a = mem, *b = seen;
	u32 i = 0;

	while (len - i >= VRFM_COMPARE && !memcmp(a + i, b + i, VRFM_COMPARE))
		i += VRFM_COMPARE;
	while (i < len && READ_ONCE(a[i]) == b[i])
		i++;
	return i;
}
