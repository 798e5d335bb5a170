// SPDX-License-Identifier: GPL-2.0
/*
 * Differences between a page and its twin, word by word, and between bytes of
 * the memory and their former values. Pure: no locks, no device.
 */
#include <linux/compiler.h>
#include <linux/string.h>

#include "twin.h"

/* Two words that are loaded and stored by one access. */
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

/* Record word I if it differs: a pair may differ in one word only. */
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
 * vrfm_diff_take - record the words that changed, and store them into the twin
 * @diff: result
 * @page: page that programs may be storing into
 * @twin: twin of the page, aligned to 8 bytes
 *
 * Each pair of words is loaded once, so a double that was stored by one access
 * is found whole. The twin gets the loaded value. The next call finds later
 * stores.
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
 * @diff: difference
 * @from: word to begin with
 * @n: set to the number of words in the run
 *
 * Return: the first word of the run; %VRFM_PAGE_WORDS: there is none.
 */
u32 vrfm_diff_next(const struct vrfm_diff *diff, u32 from, u32 *n)
{
	u32 first = find_next_bit(diff->changed, VRFM_PAGE_WORDS, from);

	*n = find_next_zero_bit(diff->changed, VRFM_PAGE_WORDS, first) - first;
	return first;
}

/* Bytes that are compared at once, while there is no difference. */
#define VRFM_COMPARE 64

/**
 * vrfm_first_difference - find the first byte that has changed
 * @mem: bytes in the memory, which others may be storing into
 * @seen: former values of these bytes
 * @len: number of bytes
 *
 * A store that is concurrent with this call may be found or not.
 *
 * Return: index of the first byte that differs; @len: none does.
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
