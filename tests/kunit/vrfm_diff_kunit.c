// SPDX-License-Identifier: GPL-2.0
/* Test the search for differences between a page and its twin. */
#include <kunit/test.h>
#include <linux/kthread.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "../../vrfm/diff.c"

struct fixture {
	u32 page[VRFM_PAGE_WORDS];
	u32 twin[VRFM_PAGE_WORDS];
	u32 before[VRFM_PAGE_WORDS];
	struct vrfm_diff diff;
};

static struct fixture *fixture(struct kunit *test)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	get_random_bytes(f->page, sizeof(f->page));
	memcpy(f->twin, f->page, sizeof(f->twin));
	memcpy(f->before, f->page, sizeof(f->before));
	return f;
}

/*
 * Apply the found runs to the previous content of the page. The result must be
 * the page, and the runs must have @changed words.
 */
static void expect_page(struct kunit *test, struct fixture *f, u32 changed)
{
	u32 first, n, found = 0;

	for (first = vrfm_diff_next(&f->diff, 0, &n); first < VRFM_PAGE_WORDS;
	     first = vrfm_diff_next(&f->diff, first + n, &n)) {
		KUNIT_ASSERT_GT(test, n, 0U);
		memcpy(f->before + first, f->diff.words + first,
		       n * VRFM_WORD);
		found += n;
	}
	KUNIT_EXPECT_EQ(test, found, changed);
	KUNIT_EXPECT_EQ(test, f->diff.n, changed);
	KUNIT_EXPECT_EQ(test, memcmp(f->before, f->page, PAGE_SIZE), 0);
	KUNIT_EXPECT_EQ(test, memcmp(f->twin, f->page, PAGE_SIZE), 0);
}

static void diff_of_equal_pages_is_empty(struct kunit *test)
{
	struct fixture *f = fixture(test);

	vrfm_diff_take(&f->diff, f->page, f->twin);
	expect_page(test, f, 0);
}

static void diff_finds_each_changed_byte(struct kunit *test)
{
	struct fixture *f = fixture(test);
	u32 at;

	for (at = 0; at < PAGE_SIZE; at++) {
		((u8 *)f->page)[at] ^= 1 + at % 255;
		vrfm_diff_take(&f->diff, f->page, f->twin);
		KUNIT_EXPECT_TRUE(test, test_bit(at / VRFM_WORD,
						 f->diff.changed));
		expect_page(test, f, 1);
	}
}

static void diff_finds_random_words(struct kunit *test)
{
	struct fixture *f = fixture(test);
	u32 round, i, n;

	for (round = 0; round < 100; round++) {
		for (i = 0, n = 0; i < VRFM_PAGE_WORDS; i++)
			if (get_random_u32() % (round + 1) == 0) {
				f->page[i]++;
				n++;
			}
		vrfm_diff_take(&f->diff, f->page, f->twin);
		expect_page(test, f, n);
	}
}

static void diff_finds_a_change_once(struct kunit *test)
{
	struct fixture *f = fixture(test);

	f->page[VRFM_PAGE_WORDS - 1]++;
	vrfm_diff_take(&f->diff, f->page, f->twin);
	expect_page(test, f, 1);
	vrfm_diff_take(&f->diff, f->page, f->twin);
	expect_page(test, f, 0);
}

/*
 * Words are compared in pairs. A change of one word of a pair must give a run
 * of this word only.
 */
static void diff_of_half_a_pair_is_one_word(struct kunit *test)
{
	struct fixture *f = fixture(test);
	u32 half;

	for (half = 0; half < 2; half++) {
		f->page[10 + half]++;
		vrfm_diff_take(&f->diff, f->page, f->twin);
		KUNIT_EXPECT_TRUE(test, test_bit(10 + half, f->diff.changed));
		expect_page(test, f, 1);
	}
}

/*
 * Store 64-bit values with equal halves until the test ends. The test detects
 * errors only if this task runs at the same time, on a processor of its own.
 */
static int store_doubles(void *at)
{
	u64 n = 0;

	while (!kthread_should_stop()) {
		n++;
		WRITE_ONCE(*(u64 *)at, n << 32 | n);
		if (n % 1024 == 0)
			cond_resched();
	}
	return 0;
}

static void diff_does_not_tear_doubles(struct kunit *test)
{
	struct fixture *f = fixture(test);
	struct task_struct *task;
	u32 round, torn = 0;

	f->page[0] = 0;
	f->page[1] = 0;
	task = kthread_run(store_doubles, f->page, "vrfm_diff_kunit");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	for (round = 0; round < 100000; round++) {
		vrfm_diff_take(&f->diff, f->page, f->twin);
		torn += f->twin[0] != f->twin[1];
		if (round % 64 == 0)
			cond_resched();
	}
	kthread_stop(task);
	KUNIT_EXPECT_EQ(test, torn, 0U);
}

static void first_changed_byte_is_found(struct kunit *test)
{
	struct fixture *f = fixture(test);
	u8 *mem = (u8 *)f->page;
	const u8 *seen = (u8 *)f->before;
	u32 at, len;

	for (at = 0; at < 300; at++) {
		mem[at] ^= 1 + at % 255;
		mem[at + 7] ^= 0x80;
		for (len = at + 1; len < at + 150; len++)
			KUNIT_ASSERT_EQ(test,
					vrfm_first_difference(mem, seen, len),
					at);
		memcpy(mem, seen, PAGE_SIZE);
	}
}

static void first_changed_byte_of_equal_memory_is_none(struct kunit *test)
{
	struct fixture *f = fixture(test);
	const u8 *mem = (u8 *)f->page, *seen = (u8 *)f->before;
	u32 from, len;

	/* A change behind the range has no effect. */
	((u8 *)f->page)[200] ^= 1;
	for (from = 0; from < 8; from++)
		for (len = 0; from + len <= 200; len++)
			KUNIT_ASSERT_EQ(test,
					vrfm_first_difference(mem + from,
							      seen + from,
							      len),
					len);
}

static struct kunit_case vrfm_diff_cases[] = {
	KUNIT_CASE(diff_of_equal_pages_is_empty),
	KUNIT_CASE(diff_finds_each_changed_byte),
	KUNIT_CASE(diff_finds_random_words),
	KUNIT_CASE(diff_finds_a_change_once),
	KUNIT_CASE(diff_of_half_a_pair_is_one_word),
	KUNIT_CASE(diff_does_not_tear_doubles),
	KUNIT_CASE(first_changed_byte_is_found),
	KUNIT_CASE(first_changed_byte_of_equal_memory_is_none),
	{ }
};

static struct kunit_suite vrfm_diff_suite = {
	.name = "vrfm_diff",
	.test_cases = vrfm_diff_cases,
};

kunit_test_suite(vrfm_diff_suite);

MODULE_AUTHOR("The krdma developers <krdma@example.org>");
MODULE_DESCRIPTION("KUnit tests of vrfm/diff.c");
MODULE_LICENSE("GPL");
