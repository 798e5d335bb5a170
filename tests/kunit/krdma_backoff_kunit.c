// SPDX-License-Identifier: GPL-2.0
/* Test the time to wait before the next attempt to connect. */
#include <kunit/test.h>

#include "../../krdma/backoff.c"

#define MIN_MS 100
#define MAX_MS 10000

static void backoff_first_wait_is_min(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, krdma_backoff_base(MIN_MS, MAX_MS, 0), 100U);
	KUNIT_EXPECT_EQ(test, krdma_backoff_base(MIN_MS, MAX_MS, 1), 100U);
}

static void backoff_doubles_per_failure(struct kunit *test)
{
	static const u32 wanted[] = { 100, 200, 400, 800, 1600, 3200, 6400 };
	int i;

	for (i = 0; i < ARRAY_SIZE(wanted); i++)
		KUNIT_EXPECT_EQ(test, krdma_backoff_base(MIN_MS, MAX_MS, i + 1),
				wanted[i]);
}

static void backoff_is_limited_by_max(struct kunit *test)
{
	unsigned int failures;

	for (failures = 8; failures < 100; failures++)
		KUNIT_EXPECT_EQ(test,
				krdma_backoff_base(MIN_MS, MAX_MS, failures),
				10000U);
	KUNIT_EXPECT_EQ(test, krdma_backoff_base(MIN_MS, MAX_MS, UINT_MAX),
			10000U);
}

static void backoff_equal_limits_is_constant(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, krdma_backoff_base(7, 7, 1), 7U);
	KUNIT_EXPECT_EQ(test, krdma_backoff_base(7, 7, 50), 7U);
}

static void backoff_max_does_not_overflow(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, krdma_backoff_base(1, U32_MAX, 32), 1U << 31);
	KUNIT_EXPECT_EQ(test, krdma_backoff_base(1, U32_MAX, 33), U32_MAX);
	KUNIT_EXPECT_EQ(test, krdma_backoff_base(3, U32_MAX, UINT_MAX),
			U32_MAX);
}

static void backoff_jitter_is_within_a_quarter(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, krdma_backoff_jitter(1000, 0), 750U);
	KUNIT_EXPECT_EQ(test, krdma_backoff_jitter(1000, U32_MAX), 1250U);
	KUNIT_EXPECT_EQ(test, krdma_backoff_jitter(1000, U32_MAX / 2), 1000U);
}

static void backoff_jitter_reaches_every_value(struct kunit *test)
{
	unsigned int seen[11] = {};
	u32 i, ms;

	for (i = 0; i < 11000; i++) {
		ms = krdma_backoff_jitter(20, i * (U32_MAX / 11000));
		KUNIT_ASSERT_GE(test, ms, 15U);
		KUNIT_ASSERT_LE(test, ms, 25U);
		seen[ms - 15]++;
	}
	for (i = 0; i < ARRAY_SIZE(seen); i++) {
		KUNIT_EXPECT_GT(test, seen[i], 900U);
		KUNIT_EXPECT_LT(test, seen[i], 1100U);
	}
}

static void backoff_short_wait_has_no_jitter(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, krdma_backoff_jitter(3, 0), 3U);
	KUNIT_EXPECT_EQ(test, krdma_backoff_jitter(3, U32_MAX), 3U);
}

static struct kunit_case krdma_backoff_cases[] = {
	KUNIT_CASE(backoff_first_wait_is_min),
	KUNIT_CASE(backoff_doubles_per_failure),
	KUNIT_CASE(backoff_is_limited_by_max),
	KUNIT_CASE(backoff_equal_limits_is_constant),
	KUNIT_CASE(backoff_max_does_not_overflow),
	KUNIT_CASE(backoff_jitter_is_within_a_quarter),
	KUNIT_CASE(backoff_jitter_reaches_every_value),
	KUNIT_CASE(backoff_short_wait_has_no_jitter),
	{}
};

static struct kunit_suite krdma_backoff_suite = {
	.name = "krdma_backoff",
	.test_cases = krdma_backoff_cases,
};

kunit_test_suite(krdma_backoff_suite);

MODULE_AUTHOR("The krdma developers");
MODULE_DESCRIPTION("KUnit tests of krdma's back-off");
MODULE_LICENSE("GPL");
