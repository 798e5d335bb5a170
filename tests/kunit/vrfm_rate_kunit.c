// SPDX-License-Identifier: GPL-2.0
/* Test the calculation of an amount per second. */
#include <kunit/test.h>

#include "../../vrfm/rate.c"

/* Time at the start of a test. Jiffies overflow during the test. */
#define START (-(unsigned long)HZ)

static void rate_of_nothing_is_zero(struct kunit *test)
{
	struct vrfm_rate rate = { };

	KUNIT_EXPECT_EQ(test, vrfm_rate_read(&rate, START), 0ULL);
}

static void rate_of_constant_stream_is_exact(struct kunit *test)
{
	struct vrfm_rate rate = { };
	unsigned long i;

	for (i = 0; i < 3 * HZ; i++)
		vrfm_rate_add(&rate, START + i, 100);
	KUNIT_EXPECT_EQ(test, vrfm_rate_read(&rate, START + i - 1), 100ULL * HZ);
}

static void rate_before_first_second_is_zero(struct kunit *test)
{
	struct vrfm_rate rate = { };

	vrfm_rate_add(&rate, START, 5000);
	KUNIT_EXPECT_EQ(test, vrfm_rate_read(&rate, START + HZ - 1), 0ULL);
	KUNIT_EXPECT_EQ(test, vrfm_rate_read(&rate, START + HZ), 5000ULL);
}

static void rate_read_after_silence_is_zero(struct kunit *test)
{
	struct vrfm_rate rate = { };

	vrfm_rate_add(&rate, START, 6000);
	KUNIT_EXPECT_EQ(test, vrfm_rate_read(&rate, START + HZ + HZ / 2),
			4000ULL);
	KUNIT_EXPECT_EQ(test, vrfm_rate_read(&rate, START + 2 * HZ), 0ULL);
	KUNIT_EXPECT_EQ(test, vrfm_rate_read(&rate, START + 60000UL * HZ), 0ULL);
}

static void rate_restarts_after_silence(struct kunit *test)
{
	struct vrfm_rate rate = { };

	vrfm_rate_add(&rate, START, 6000);
	vrfm_rate_add(&rate, START + 3 * HZ, 8000);
	KUNIT_EXPECT_EQ(test, vrfm_rate_read(&rate, START + 3 * HZ), 0ULL);
	KUNIT_EXPECT_EQ(test, vrfm_rate_read(&rate, START + 4 * HZ), 8000ULL);
}

static void rate_of_large_counts_does_not_overflow(struct kunit *test)
{
	const u64 terabyte = 1ULL << 40;
	struct vrfm_rate rate = { .since = START, .amount = terabyte };

	KUNIT_EXPECT_EQ(test, vrfm_rate_read(&rate, START + HZ), terabyte);
}

static struct kunit_case vrfm_rate_cases[] = {
	KUNIT_CASE(rate_of_nothing_is_zero),
	KUNIT_CASE(rate_of_constant_stream_is_exact),
	KUNIT_CASE(rate_before_first_second_is_zero),
	KUNIT_CASE(rate_read_after_silence_is_zero),
	KUNIT_CASE(rate_restarts_after_silence),
	KUNIT_CASE(rate_of_large_counts_does_not_overflow),
	{ }
};

static struct kunit_suite vrfm_rate_suite = {
	.name = "vrfm_rate",
	.test_cases = vrfm_rate_cases,
};

kunit_test_suite(vrfm_rate_suite);

MODULE_AUTHOR("The krdma developers <krdma@example.org>");
MODULE_DESCRIPTION("KUnit tests of vrfm/rate.c");
MODULE_LICENSE("GPL");
