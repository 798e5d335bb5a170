// SPDX-License-Identifier: GPL-2.0
/* Test sets of words by comparing them with a plain bitmap. */
#include <kunit/test.h>
#include <linux/prandom.h>
#include <linux/random.h>

#include "../../vrfm/map.c"

/* The map has three full pages and a part of a fourth page. */
#define WORDS (3 * VRFM_MAP_CHUNK + 1024)
#define MEMORY ((u64)WORDS * VRFM_WORD)

struct fixture {
	struct vrfm_map map;
	unsigned long *bits;
};

static int map_init(struct kunit *test)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	f->bits = kunit_kzalloc(test, WORDS / BITS_PER_BYTE, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, f->bits);
	test->priv = f;
	KUNIT_ASSERT_EQ(test, vrfm_map_init(&f->map, MEMORY), 0);
	return 0;
}

static void map_exit(struct kunit *test)
{
	struct fixture *f = test->priv;

	vrfm_map_free(&f->map);
}

/* Check that the map and the bitmap have the same runs. */
static void same(struct kunit *test, u32 max)
{
	struct fixture *f = test->priv;
	u32 first, n, expected, at = 0;

	KUNIT_ASSERT_EQ(test, f->map.set, (u32)bitmap_weight(f->bits, WORDS));
	for (;;) {
		first = vrfm_map_next(&f->map, at, max, &n);
		expected = find_next_bit(f->bits, WORDS, at);
		KUNIT_ASSERT_EQ(test, first, expected);
		if (first == WORDS)
			return;
		KUNIT_ASSERT_GT(test, n, 0U);
		KUNIT_ASSERT_LE(test, n, max);
		KUNIT_ASSERT_GE(test, (u32)find_next_zero_bit(f->bits, WORDS,
							      first), first + n);
		at = first + n;
	}
}

static void map_words_of_byte_range_are_whole_words(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, vrfm_word_first(7), 1U);
	KUNIT_EXPECT_EQ(test, vrfm_word_count(4, 4), 1U);
	KUNIT_EXPECT_EQ(test, vrfm_word_count(4, 5), 2U);
	KUNIT_EXPECT_EQ(test, vrfm_word_count(7, 2), 2U);
	KUNIT_EXPECT_EQ(test, vrfm_word_count(0, 1), 1U);
	KUNIT_EXPECT_EQ(test, vrfm_word_count(0x7ffffff0, 16), 4U);
}

static void map_equals_bitmap_after_random_changes(struct kunit *test)
{
	struct fixture *f = test->priv;
	u32 i, first, n;

	for (i = 0; i < 400; i++) {
		first = get_random_u32() % WORDS;
		n = 1 + get_random_u32() % (i % 3 ? 40 : 50000);
		n = min_t(u32, n, WORDS - first);
		if (get_random_u32() % 3) {
			KUNIT_ASSERT_EQ(test, vrfm_map_set(&f->map, first, n,
							   GFP_KERNEL), 0);
			bitmap_set(f->bits, first, n);
		} else {
			vrfm_map_clear(&f->map, first, n);
			bitmap_clear(f->bits, first, n);
		}
		if (i % 40 == 39)
			same(test, 1 + get_random_u32() % 3000);
	}
	vrfm_map_clear(&f->map, 0, WORDS);
	while (vrfm_map_trim(&f->map, 3))
		;
	for (i = 0; i < f->map.nchunks; i++)
		KUNIT_EXPECT_NULL(test, f->map.chunks[i]);
	bitmap_zero(f->bits, WORDS);
	same(test, 10);
}

static void map_add_bits_equals_bitmap(struct kunit *test)
{
	struct fixture *f = test->priv;
	unsigned long more[BITS_TO_LONGS(1024)];
	u32 i, first;

	for (i = 0; i < 200; i++) {
		first = get_random_u32() % (WORDS / 1024) * 1024;
		get_random_bytes(more, sizeof(more));
		KUNIT_ASSERT_EQ(test, vrfm_map_add(&f->map, first, more, 1024,
						   GFP_KERNEL), 0);
		bitmap_or(f->bits + BIT_WORD(first), f->bits + BIT_WORD(first),
			  more, 1024);
	}
	same(test, 1000);
}

/* Freeing all pages of a large map in one step would take milliseconds. */
static void map_trim_is_limited(struct kunit *test)
{
	struct fixture *f = test->priv;

	KUNIT_ASSERT_EQ(test, vrfm_map_set(&f->map, 0, WORDS, GFP_KERNEL), 0);
	vrfm_map_clear(&f->map, 0, WORDS);
	KUNIT_ASSERT_GT(test, f->map.nchunks, 2U);
	KUNIT_ASSERT_EQ(test, f->map.used, f->map.nchunks);
	KUNIT_EXPECT_TRUE(test, vrfm_map_trim(&f->map, 2));
	KUNIT_EXPECT_EQ(test, f->map.used, f->map.nchunks - 2);
}

static void map_without_words_uses_no_page(struct kunit *test)
{
	struct fixture *f = test->priv;
	unsigned long none[BITS_TO_LONGS(1024)] = { };
	u32 i;

	KUNIT_EXPECT_EQ(test, vrfm_map_add(&f->map, 0, none, 1024, GFP_KERNEL),
			0);
	vrfm_map_clear(&f->map, 0, WORDS);
	for (i = 0; i < f->map.nchunks; i++)
		KUNIT_EXPECT_NULL(test, f->map.chunks[i]);
	same(test, 1);
}

static struct kunit_case vrfm_map_cases[] = {
	KUNIT_CASE(map_words_of_byte_range_are_whole_words),
	KUNIT_CASE(map_equals_bitmap_after_random_changes),
	KUNIT_CASE(map_add_bits_equals_bitmap),
	KUNIT_CASE(map_without_words_uses_no_page),
	KUNIT_CASE(map_trim_is_limited),
	{ }
};

static struct kunit_suite vrfm_map_suite = {
	.name = "vrfm_map",
	.init = map_init,
	.exit = map_exit,
	.test_cases = vrfm_map_cases,
};

kunit_test_suite(vrfm_map_suite);

MODULE_AUTHOR("The krdma developers <krdma@example.org>");
MODULE_DESCRIPTION("KUnit tests of vrfm/map.c");
MODULE_LICENSE("GPL");
