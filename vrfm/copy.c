// SPDX-License-Identifier: GPL-2.0
/*
 * Copying into memory that others look at. Pure: no locks, nothing of the
 * device.
 *
 * memcpy() may move bytes one by one, and somebody who reads an aligned word at
 * that moment gets half of the old and half of the new. Here every aligned word
 * of the destination is written by one store.
 */
#include <linux/compiler.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "copy.h"

/* One store of LEN bytes, a power of two up to 8, to which TO is aligned. */
static void vrfm_copy_word(void *to, const void *from, size_t len)
{
	u64 eight;
	u32 four;
	u16 two;

	switch (len) {
	case 8:
		memcpy(&eight, from, sizeof(eight));
		WRITE_ONCE(*(u64 *)to, eight);
		break;
	case 4:
		memcpy(&four, from, sizeof(four));
		WRITE_ONCE(*(u32 *)to, four);
		break;
	case 2:
		memcpy(&two, from, sizeof(two));
		WRITE_ONCE(*(u16 *)to, two);
		break;
	default:
		WRITE_ONCE(*(u8 *)to, *(const u8 *)from);
	}
}

/* The widest that fits at TO: limited by its alignment and by what is left. */
static size_t vrfm_copy_width(const void *to, size_t len)
{
	size_t align = (unsigned long)to & -(unsigned long)to;

	return rounddown_pow_of_two(min3(align ?: 8, len, (size_t)8));
}

/**
 * vrfm_copy - copy so that no aligned word is torn
 * @to: in memory that is read meanwhile; normal, cached
 * @from: nobody writes there meanwhile; any alignment
 * @len: bytes, 0 is right
 *
 * Aligned pieces of 2, 4 and 8 bytes of @to are written by one store each. The
 * order of the stores is not promised; who needs one puts a barrier behind.
 *
 * Context: any.
 */
void vrfm_copy(void *to, const void *from, size_t len)
{
	size_t width;

	for (; len; to += width, from += width, len -= width) {
		width = vrfm_copy_width(to, len);
		vrfm_copy_word(to, from, width);
		for (; width == 8 && len >= 16; to += 8, from += 8, len -= 8)
			vrfm_copy_word(to + 8, from + 8, 8);
	}
}

/**
 * vrfm_copy_words - copy words that others write meanwhile
 * @to: this caller's own
 * @from: aligned words
 * @n: how many
 *
 * Each word is read by one load, so none is torn.
 *
 * Context: any.
 */
void vrfm_copy_words(u32 *to, const void *from, u32 n)
{
	const u32 *words = from;
	u32 i;

	for (i = 0; i < n; i++)
		to[i] = READ_ONCE(words[i]);
}
