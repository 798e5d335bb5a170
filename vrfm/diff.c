// SPDX-License-Identifier: GPL-2.0
/*
 * Find differences between a page and its twin, word by word, and between bytes
 * of the memory and their former values. Pure: no locks, no device.
 */
#include <linux/compiler.h>
#include <linux/string.h>

#include "twin.h"

/* A pair of words that is loaded by one access. */
union vrfm_pair {
	u64 both;
	u32 words[2];
};

/**
 * vrfm_diff_any - check whether a page differs from its twin
 * @page: page that programs may be storing into
 * @twin: twin of the page, aligned to 8 bytes
 *
 * Return: true if at least one word differs.
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

/*
 * Record WORD, which is word I of the page, if it differs from word I of the
 * twin. The caller has found a difference in a pair of words, perhaps only in
 * one of the two.
 */
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
 * vrfm_diff_take - record the words of a page that changed, and update its twin
 * @diff: result
 * @page: page that programs may be storing into
 * @twin: twin of the page, aligned to 8 bytes
 *
 * Each pair of words is loaded once, so a double that a program stored by one
 * access is never torn. The twin gets the loaded words. Stores that come later
 * are found by the next call.
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
 * vrfm_diff_next - find the next run of changed words
 * @diff: differences of a page
 * @from: word where the search begins
 * @n: set to the number of words in the run
 *
 * Return: the first word of the run; %VRFM_PAGE_WORDS if no run is left.
 */
u32 vrfm_diff_next(const struct vrfm_diff *diff, u32 from, u32 *n)
{
	u32 first = find_next_bit(diff->changed, VRFM_PAGE_WORDS, from);

	*n = find_next_zero_bit(diff->changed, VRFM_PAGE_WORDS, first) - first;
	return first;
}

/*
 * Number of bytes that one memcmp() compares. If they differ, the first
 * difference is found byte by byte.
 */
#define VRFM_COMPARE 64

/**
 * vrfm_first_difference - find the first byte that has changed
 * @mem: bytes in the memory, which other tasks may be storing into
 * @seen: former values of these bytes
 * @len: number of bytes
 *
 * The function may miss a store that is concurrent with it.
 *
 * Return: index of the first byte that differs; @len if no byte differs.
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
