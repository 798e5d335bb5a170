// SPDX-License-Identifier: GPL-2.0
/* Test krping's histogram: buckets, percentiles, merging. */
#include "../../krping/hist.c"

#include <kunit/test.h>
#include <linux/module.h>

static struct krping_hist *new_hist(struct kunit *test)
{
	struct krping_hist *hist = kunit_kzalloc(test, sizeof(*hist),
						 GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, hist);
	return hist;
}

static void krping_hist_buckets_are_contiguous(struct kunit *test)
{
	u32 bucket;
	u64 end;

	for (bucket = 0; bucket < KRPING_HIST_BUCKETS - 1; bucket++) {
		end = krping_hist_bucket_end(bucket);
		KUNIT_EXPECT_EQ(test, krping_hist_bucket(end), bucket);
		KUNIT_EXPECT_EQ(test, krping_hist_bucket(end + 1), bucket + 1);
	}
}

static void krping_hist_max_time_has_a_bucket(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, krping_hist_bucket(U64_MAX),
			(u32)KRPING_HIST_BUCKETS - 1);
	KUNIT_EXPECT_EQ(test, krping_hist_bucket(1ULL << KRPING_HIST_MAX_BITS),
			(u32)KRPING_HIST_BUCKETS - 1);
}

static void krping_hist_buckets_are_narrow(struct kunit *test)
{
	u64 ns;
	u64 end;

	for (ns = 1; ns < 1ULL << 40; ns += 1 + ns / 7) {
		end = krping_hist_bucket_end(krping_hist_bucket(ns));
		KUNIT_EXPECT_GE(test, end, ns);
		KUNIT_EXPECT_LE(test, end - ns, ns / KRPING_HIST_SUB);
	}
}

static void krping_hist_empty_is_zero(struct kunit *test)
{
	struct krping_hist *hist = new_hist(test);

	KUNIT_EXPECT_EQ(test, krping_hist_mean(hist), 0ULL);
	KUNIT_EXPECT_EQ(test, krping_hist_jitter(hist), 0ULL);
	KUNIT_EXPECT_EQ(test, krping_hist_percentile(hist, 5000), 0ULL);
	KUNIT_EXPECT_EQ(test, krping_hist_log2(hist, 0), 0ULL);
}

static void krping_hist_one_value_is_all_percentiles(struct kunit *test)
{
	struct krping_hist *hist = new_hist(test);

	krping_hist_add(hist, 12345);
	KUNIT_EXPECT_EQ(test, hist->min, 12345ULL);
	KUNIT_EXPECT_EQ(test, hist->max, 12345ULL);
	KUNIT_EXPECT_EQ(test, krping_hist_mean(hist), 12345ULL);
	KUNIT_EXPECT_EQ(test, krping_hist_jitter(hist), 0ULL);
	KUNIT_EXPECT_EQ(test, krping_hist_percentile(hist, 1), 12345ULL);
	KUNIT_EXPECT_EQ(test, krping_hist_percentile(hist, 10000), 12345ULL);
}

static void krping_hist_small_percentiles_are_exact(struct kunit *test)
{
	struct krping_hist *hist = new_hist(test);
	u64 i;

	/* Each duration from 1 to 32 ns has a bucket of its own. */
	for (i = 20; i; i--)
		krping_hist_add(hist, i);
	KUNIT_EXPECT_EQ(test, krping_hist_percentile(hist, 0), 1ULL);
	KUNIT_EXPECT_EQ(test, krping_hist_percentile(hist, 500), 1ULL);
	KUNIT_EXPECT_EQ(test, krping_hist_percentile(hist, 501), 2ULL);
	KUNIT_EXPECT_EQ(test, krping_hist_percentile(hist, 5000), 10ULL);
	KUNIT_EXPECT_EQ(test, krping_hist_percentile(hist, 9900), 20ULL);
	KUNIT_EXPECT_EQ(test, krping_hist_percentile(hist, 10000), 20ULL);
}

static void krping_hist_percentile_of_many_does_not_overflow(struct kunit *test)
{
	struct krping_hist *hist = new_hist(test);

	hist->n = 1ULL << 60;
	hist->min = 3;
	hist->max = 5;
	hist->buckets[3] = hist->n / 2;
	hist->buckets[5] = hist->n / 2;
	KUNIT_EXPECT_EQ(test, krping_hist_percentile(hist, 4999), 3ULL);
	KUNIT_EXPECT_EQ(test, krping_hist_percentile(hist, 5001), 5ULL);
}

static void krping_hist_percentile_stays_within_bucket(struct kunit *test)
{
	struct krping_hist *hist = new_hist(test);
	u64 i;

	/*
	 * Add all times from 10000 to 10999 ns, which fill two buckets of 256
	 * ns completely, and other buckets partly.
	 */
	for (i = 10000; i < 11000; i++)
		krping_hist_add(hist, i);
	KUNIT_EXPECT_EQ(test, krping_hist_percentile(hist, 2500), 10249ULL);
	KUNIT_EXPECT_EQ(test, krping_hist_percentile(hist, 5000), 10499ULL);
	KUNIT_EXPECT_EQ(test, krping_hist_percentile(hist, 10000), 10999ULL);
}

static void krping_hist_percentile_of_few_is_in_range(struct kunit *test)
{
	struct krping_hist *hist = new_hist(test);

	/* All three times are in the bucket of 1024 to 1055 ns. */
	krping_hist_add(hist, 1024);
	krping_hist_add(hist, 1024);
	krping_hist_add(hist, 1055);
	KUNIT_EXPECT_EQ(test, krping_hist_percentile(hist, 5000), 1039ULL);
}

static void krping_hist_jitter_is_mean_of_differences(struct kunit *test)
{
	struct krping_hist *hist = new_hist(test);

	krping_hist_add(hist, 10);
	krping_hist_add(hist, 30);
	krping_hist_add(hist, 20);
	KUNIT_EXPECT_EQ(test, krping_hist_jitter(hist), 15ULL);
	KUNIT_EXPECT_EQ(test, krping_hist_mean(hist), 20ULL);
}

static void krping_hist_log2_counts_powers_of_two(struct kunit *test)
{
	struct krping_hist *hist = new_hist(test);
	u64 n = 0;
	u32 bits;

	krping_hist_add(hist, 0);
	krping_hist_add(hist, 1);
	krping_hist_add(hist, 63);
	krping_hist_add(hist, 64);
	krping_hist_add(hist, 127);
	krping_hist_add(hist, U64_MAX);
	KUNIT_EXPECT_EQ(test, krping_hist_log2(hist, 0), 2ULL);
	KUNIT_EXPECT_EQ(test, krping_hist_log2(hist, 5), 1ULL);
	KUNIT_EXPECT_EQ(test, krping_hist_log2(hist, 6), 2ULL);
	KUNIT_EXPECT_EQ(test, krping_hist_log2(hist, 40), 1ULL);
	for (bits = 0; bits < KRPING_HIST_MAX_BITS; bits++)
		n += krping_hist_log2(hist, bits);
	KUNIT_EXPECT_EQ(test, n, hist->n);
}

static void krping_hist_merge_adds_counts(struct kunit *test)
{
	struct krping_hist *a = new_hist(test), *b = new_hist(test);

	krping_hist_add(a, 100);
	krping_hist_add(b, 10);
	krping_hist_add(b, 1000);
	krping_hist_merge(a, b);
	KUNIT_EXPECT_EQ(test, a->n, 3ULL);
	KUNIT_EXPECT_EQ(test, a->sum, 1110ULL);
	KUNIT_EXPECT_EQ(test, a->min, 10ULL);
	KUNIT_EXPECT_EQ(test, a->max, 1000ULL);
	KUNIT_EXPECT_EQ(test, krping_hist_log2(a, 6), 1ULL);
	KUNIT_EXPECT_EQ(test, krping_hist_log2(a, 9), 1ULL);
}

static void krping_hist_merge_with_empty_is_unchanged(struct kunit *test)
{
	struct krping_hist *a = new_hist(test), *b = new_hist(test);

	krping_hist_add(a, 100);
	krping_hist_merge(a, b);
	KUNIT_EXPECT_EQ(test, a->min, 100ULL);
	krping_hist_merge(b, a);
	KUNIT_EXPECT_EQ(test, b->min, 100ULL);
	KUNIT_EXPECT_EQ(test, b->n, 1ULL);
}

static struct kunit_case krping_hist_cases[] = {
	KUNIT_CASE(krping_hist_buckets_are_contiguous),
	KUNIT_CASE(krping_hist_max_time_has_a_bucket),
	KUNIT_CASE(krping_hist_buckets_are_narrow),
	KUNIT_CASE(krping_hist_empty_is_zero),
	KUNIT_CASE(krping_hist_one_value_is_all_percentiles),
	KUNIT_CASE(krping_hist_small_percentiles_are_exact),
	KUNIT_CASE(krping_hist_percentile_of_many_does_not_overflow),
	KUNIT_CASE(krping_hist_percentile_stays_within_bucket),
	KUNIT_CASE(krping_hist_percentile_of_few_is_in_range),
	KUNIT_CASE(krping_hist_jitter_is_mean_of_differences),
	KUNIT_CASE(krping_hist_log2_counts_powers_of_two),
	KUNIT_CASE(krping_hist_merge_adds_counts),
	KUNIT_CASE(krping_hist_merge_with_empty_is_unchanged),
	{}
};

static struct kunit_suite krping_hist_suite = {
	.name = "krping_hist",
	.test_cases = krping_hist_cases,
};

kunit_test_suite(krping_hist_suite);

MODULE_AUTHOR("The krdma developers");
MODULE_DESCRIPTION("Tests of krping's histogram");
MODULE_LICENSE("GPL");
