// SPDX-License-Identifier: GPL-2.0
/*
 * Copy functions for memory that other tasks read and write concurrently. Pure:
 * no locks, no device.
 *
 * memcpy() may move bytes one by one. A concurrent reader then sees an aligned
 * word that is half old and half new. These functions access each aligned word
 * of the shared memory by one store, or by one load.
 */
#include <linux/compiler.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "copy.h"

/*
 * Copy LEN bytes to TO by one store: 1, 2, 4 or 8 bytes; TO is aligned to LEN.
 */
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

/*
 * Return the width of the next access at SHARED: the widest that its alignment
 * and LEN allow, at most 8 bytes.
 */
static size_t vrfm_copy_width(const void *shared, size_t len)
{
	size_t align = (unsigned long)shared & -(unsigned long)shared;

	return rounddown_pow_of_two(min3(align ?: 8, len, (size_t)8));
}

/**
 * vrfm_copy - copy without tearing an aligned word of the destination
 * @to: normal, cached memory that is read concurrently
 * @from: memory that is not written concurrently; any alignment
 * @len: number of bytes, may be 0
 *
 * Each aligned piece of 2, 4 or 8 bytes of @to is written by one store. These
 * stores may become visible in any order. A caller that needs an order adds a
 * barrier.
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

/*
 * Copy LEN bytes from FROM by one load: 1, 2, 4 or 8 bytes; FROM is aligned to
 * LEN.
 */
static void vrfm_copy_load(void *to, const void *from, size_t len)
{
	u64 eight;
	u32 four;
	u16 two;

	switch (len) {
	case 8:
		eight = READ_ONCE(*(const u64 *)from);
		memcpy(to, &eight, sizeof(eight));
		break;
	case 4:
		four = READ_ONCE(*(const u32 *)from);
		memcpy(to, &four, sizeof(four));
		break;
	case 2:
		two = READ_ONCE(*(const u16 *)from);
		memcpy(to, &two, sizeof(two));
		break;
	default:
		*(u8 *)to = READ_ONCE(*(const u8 *)from);
	}
}

/**
 * vrfm_copy_out - copy without tearing an aligned word of the source
 * @to: memory of the caller; any alignment
 * @from: normal, cached memory that is written concurrently
 * @len: number of bytes, may be 0
 *
 * Each aligned piece of 2, 4 or 8 bytes of @from is read by one load. These
 * loads may be executed in any order.
 *
 * Context: any.
 */
void vrfm_copy_out(void *to, const void *from, size_t len)
{
	size_t width;

	for (; len; to += width, from += width, len -= width) {
		width = vrfm_copy_width(from, len);
		vrfm_copy_load(to, from, width);
		for (; width == 8 && len >= 16; to += 8, from += 8, len -= 8)
			vrfm_copy_load(to + 8, from + 8, 8);
	}
}

/**
 * vrfm_copy_words - copy words that are written concurrently
 * @to: memory of the caller
 * @from: aligned words
 * @n: number of words
 *
 * Two words that fill 8 aligned bytes are read by one load, so an aligned
 * double is never torn.
 *
 * Context: any.
 */
void vrfm_copy_words(u32 *to, const void *from, u32 n)
{
	vrfm_copy_out(to, from, n * sizeof(*to));
}
