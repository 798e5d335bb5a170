// SPDX-License-Identifier: GPL-2.0
/*
 * The difference between a page and its twin, word by word; and between bytes
 * of the memory and what they were. Pure: no locks, nothing of the device.
 */
#include <linux/compiler.h>
#include <linux/string.h>

#include "twin.h"

/* Two words, which are loaded and stored as one. */
union vrfm_pair {
	u64 both;
	u32 words[2];
};

/**
 * vrfm_diff_any - check whether a page differs from its twin
 * @page: page that programs may be storing into
 * @twin: its twin, aligned to 8 bytes
 *
 * Return: true if a word differs.
 */
bool vrfm_diff_any(const void *page, const u32 *twin)
{
	const u64 *now = page, *then = (const u64 *)twin;
	u32 i;

	for (i = 0; i < VRFM_PAGE_WORDS / 2; i++)
		if (READ_ONCE(now[i]) != then[i])
			return true;
	return false;
}

/* A word of a pair differs: mark it, if it is that one. */
static void vrfm_diff_word(struct vrfm_diff *diff, u32 *twin, u32 i, u32 word)
{
	if (word == twin[i])
		return;
	twin[i] = word;
	diff->words[i] = word;
	__set_bit(i, diff->changed);
	diff->n++;
}

/**
 * vrfm_diff_take - find what changed, and change the twin in the same way
 * @diff: result
 * @page: page that programs may be storing into meanwhile
 * @twin: its twin, aligned to 8 bytes
 *
 * Each pair of words is loaded once, so a double that was stored by one store
 * is found whole. The value that is found is the value that the twin gets. A
 * store after that load is found by the next call.
 */
void vrfm_diff_take(struct vrfm_diff *diff, const void *page, u32 *twin)
{
	const u64 *now = page, *then = (const u64 *)twin;
	union vrfm_pair pair;
	u32 i;

	bitmap_zero(diff->changed, VRFM_PAGE_WORDS);
	diff->n = 0;
	for (i = 0; i < VRFM_PAGE_WORDS; i += 2) {
		pair.both = READ_ONCE(now[i / 2]);
		if (likely(pair.both == then[i / 2]))
			continue;
		vrfm_diff_word(diff, twin, i, pair.words[0]);
		vrfm_diff_word(diff, twin, i + 1, pair.words[1]);
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
