// SPDX-License-Identifier: GPL-2.0
/* Test the choice between messages and direct writes. */
#include <kunit/test.h>
#include <linux/sizes.h>

#include "../../vrfm/proto.c"
#include "../../vrfm/direct_path.c"

/*
 * Ranges that must not be written directly: the second range of a memory of 4
 * MiB, and its last range.
 */
static unsigned long ranges[64 / BITS_PER_LONG];

static int ranges_init(struct kunit *test)
{
	bitmap_zero(ranges, 64);
	__set_bit(1, ranges);
	__set_bit(63, ranges);
	return 0;
}

static void range_of_byte_is_exact(struct kunit *test)
{
	static const struct { u32 offset, len; bool any; } cases[] = {
		{ 0, 1, false }, { 0, SZ_64K, false }, { 0, SZ_64K + 1, true },
		{ SZ_64K - 1, 1, false }, { SZ_64K - 1, 2, true },
		{ SZ_64K, 1, true }, { 2 * SZ_64K - 1, 1, true },
		{ 2 * SZ_64K, 61 * SZ_64K, false },
		{ 2 * SZ_64K, 61 * SZ_64K + 1, true },
		{ SZ_4M - 1, 1, true }, { 0, SZ_4M, true },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		KUNIT_EXPECT_EQ_MSG(test,
				    vrfm_ranges_any(ranges, cases[i].offset,
						    cases[i].len),
				    cases[i].any, "case %u", i);
}

static void range_count_covers_memory(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, vrfm_ranges(SZ_4K), 1U);
	KUNIT_EXPECT_EQ(test, vrfm_ranges(SZ_64K), 1U);
	KUNIT_EXPECT_EQ(test, vrfm_ranges(SZ_64K + SZ_4K), 2U);
	KUNIT_EXPECT_EQ(test, vrfm_ranges(SZ_2G), 32768U);
	KUNIT_EXPECT_EQ(test, vrfm_range(SZ_2G - 1), 32767U);
}

static void direct_needs_all_updates_applied(struct kunit *test)
{
	struct vrfm_direct_path way = { .min = 16384, .staged = ranges };

	/* No update was sent yet. */
	KUNIT_EXPECT_TRUE(test, vrfm_direct_path_is_wanted(&way, 0, 16384));
	way.update = 5;
	for (way.acked = 0; way.acked < 5; way.acked++)
		KUNIT_EXPECT_FALSE(test,
				   vrfm_direct_path_is_wanted(&way, 0, 16384));
	KUNIT_EXPECT_TRUE(test, vrfm_direct_path_is_wanted(&way, 0, 16384));
	way.acked = 6;
	KUNIT_EXPECT_TRUE(test, vrfm_direct_path_is_wanted(&way, 0, 16384));
}

static void small_block_is_sent(struct kunit *test)
{
	struct vrfm_direct_path way = { .min = 16384, .staged = ranges };

	KUNIT_EXPECT_FALSE(test, vrfm_direct_path_is_wanted(&way, 0, 1));
	KUNIT_EXPECT_FALSE(test, vrfm_direct_path_is_wanted(&way, 0, 16383));
	way.min = 1;
	KUNIT_EXPECT_TRUE(test, vrfm_direct_path_is_wanted(&way, 0, 1));
}

static void block_in_staged_range_is_sent(struct kunit *test)
{
	struct vrfm_direct_path way = { .min = 1, .staged = ranges };

	KUNIT_EXPECT_FALSE(test, vrfm_direct_path_is_wanted(&way, SZ_64K, 4));
	KUNIT_EXPECT_FALSE(test,
			   vrfm_direct_path_is_wanted(&way, 0, SZ_64K + 4));
	KUNIT_EXPECT_TRUE(test,
			  vrfm_direct_path_is_wanted(&way, 2 * SZ_64K, SZ_64K));
}

static void new_map_is_empty_and_in_words_of_64_bits(struct kunit *test)
{
	unsigned long *map = vrfm_ranges_alloc(SZ_4K);

	KUNIT_ASSERT_NOT_NULL(test, map);
	KUNIT_EXPECT_FALSE(test, vrfm_ranges_any(map, 0, SZ_4M));
	kvfree(map);
}

static struct kunit_case vrfm_direct_path_cases[] = {
	KUNIT_CASE(range_of_byte_is_exact),
	KUNIT_CASE(range_count_covers_memory),
	KUNIT_CASE(direct_needs_all_updates_applied),
	KUNIT_CASE(small_block_is_sent),
	KUNIT_CASE(block_in_staged_range_is_sent),
	KUNIT_CASE(new_map_is_empty_and_in_words_of_64_bits),
	{ }
};

static struct kunit_suite vrfm_direct_path_suite = {
	.name = "vrfm_direct_path",
	.init = ranges_init,
	.test_cases = vrfm_direct_path_cases,
};

kunit_test_suite(vrfm_direct_path_suite);

MODULE_AUTHOR("The krdma developers <krdma@example.org>");
MODULE_DESCRIPTION("KUnit tests of vrfm/direct_path.c");
MODULE_LICENSE("GPL");
