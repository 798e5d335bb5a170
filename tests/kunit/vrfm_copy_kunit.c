// SPDX-License-Identifier: GPL-2.0
/* Test that copies do not tear words. */
#include <kunit/test.h>

#include "../../vrfm/copy.c"

#define ROOM 96

static void fill(u8 *bytes, u8 first)
{
	int i;

	for (i = 0; i < ROOM; i++)
		bytes[i] = first + i;
}

static void copy_in_of_any_length_and_alignment_is_equal(struct kunit *test)
{
	u8 from[ROOM] __aligned(8), to[ROOM] __aligned(8);
	int start, source, len, i, wrong = 0;

	fill(from, 1);
	for (start = 8; start < 16; start++)
		for (source = 8; source < 16; source++)
			for (len = 0; len <= 64; len++) {
				memset(to, 0, sizeof(to));
				vrfm_copy(to + start, from + source, len);
				for (i = 0; i < len; i++)
					wrong += to[start + i] != from[source + i];
			}
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

static void copy_leaves_neighbouring_bytes(struct kunit *test)
{
	u8 from[ROOM] __aligned(8), to[ROOM] __aligned(8);
	int start, len, i, wrong = 0;

	fill(from, 1);
	for (start = 8; start < 16; start++)
		for (len = 0; len <= 64; len++) {
			memset(to, 0xEE, sizeof(to));
			vrfm_copy(to + start, from, len);
			for (i = 0; i < ROOM; i++)
				wrong += (i < start || i >= start + len) &&
					 to[i] != 0xEE;
		}
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

/* Each store is aligned to its width. */
static void copy_stores_are_aligned_and_fit(struct kunit *test)
{
	u8 to[ROOM] __aligned(8);
	size_t start, len, width;

	for (start = 0; start < 16; start++)
		for (len = 1; len <= 16; len++) {
			width = vrfm_copy_width(to + start, len);
			KUNIT_EXPECT_TRUE(test, is_power_of_2(width));
			KUNIT_EXPECT_LE(test, width, min_t(size_t, len, 8));
			KUNIT_EXPECT_EQ(test, start % width, 0UL);
			/*
			 * No store is narrower than necessary: either it has 8
			 * bytes, or alignment or length forbid twice its width.
			 */
			KUNIT_EXPECT_TRUE(test, width == 8 ||
					  start % (2 * width) || 2 * width > len);
		}
}

static void copy_of_aligned_word_is_one_store(struct kunit *test)
{
	u8 to[ROOM] __aligned(8);
	size_t width;

	for (width = 1; width <= 8; width *= 2)
		KUNIT_EXPECT_EQ(test, vrfm_copy_width(to + 8, width), width);
}

static void copy_out_of_any_length_and_alignment_is_equal(struct kunit *test)
{
	u8 from[ROOM] __aligned(8), to[ROOM] __aligned(8);
	int start, source, len, i, wrong = 0;

	fill(from, 1);
	for (start = 8; start < 16; start++)
		for (source = 8; source < 16; source++)
			for (len = 0; len <= 64; len++) {
				memset(to, 0xEE, sizeof(to));
				vrfm_copy_out(to + start, from + source, len);
				for (i = 0; i < ROOM; i++)
					wrong += to[i] !=
						 (i < start || i >= start + len ? 0xEE :
						  from[source + i - start]);
			}
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

static void copy_words_copies_whole_words_only(struct kunit *test)
{
	u32 from[8] __aligned(8), to[8], i, n;

	for (n = 0; n <= 8; n++) {
		for (i = 0; i < 8; i++) {
			from[i] = 0x01020304 * (i + 1);
			to[i] = 0;
		}
		vrfm_copy_words(to, from, n);
		for (i = 0; i < 8; i++)
			KUNIT_EXPECT_EQ(test, to[i], i < n ? from[i] : 0);
	}
}

static struct kunit_case vrfm_copy_cases[] = {
	KUNIT_CASE(copy_in_of_any_length_and_alignment_is_equal),
	KUNIT_CASE(copy_leaves_neighbouring_bytes),
	KUNIT_CASE(copy_stores_are_aligned_and_fit),
	KUNIT_CASE(copy_of_aligned_word_is_one_store),
	KUNIT_CASE(copy_out_of_any_length_and_alignment_is_equal),
	KUNIT_CASE(copy_words_copies_whole_words_only),
	{ }
};

static struct kunit_suite vrfm_copy_suite = {
	.name = "vrfm_copy",
	.test_cases = vrfm_copy_cases,
};

kunit_test_suite(vrfm_copy_suite);

MODULE_AUTHOR("The krdma developers <krdma@example.org>");
MODULE_DESCRIPTION("KUnit tests of vrfm/copy.c");
MODULE_LICENSE("GPL");
