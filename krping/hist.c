// SPDX-License-Identifier: GPL-2.0
/* Histogram of times, see hist.h. */
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/math64.h>

#include "hist.h"

/*
 * Return the bucket of a time. Each time below KRPING_HIST_SUB has its own
 * bucket. Each power of two from KRPING_HIST_SUB on has KRPING_HIST_SUB
 * buckets.
 */
static u32 krping_hist_bucket(u64 ns)
{
	u32 shift;

	if (ns < KRPING_HIST_SUB)
		return ns;
	ns = min(ns, BIT_ULL(KRPING_HIST_MAX_BITS) - 1);
	shift = fls64(ns) - 1 - KRPING_HIST_SUB_BITS;
	return shift * KRPING_HIST_SUB + (ns >> shift);
}

/* Return the longest time of a bucket, in ns. */
static u64 krping_hist_bucket_end(u32 bucket)
{
	u32 shift;

	if (bucket < KRPING_HIST_SUB)
		return bucket;
	shift = bucket / KRPING_HIST_SUB - 1;
	return ((u64)(bucket % KRPING_HIST_SUB + KRPING_HIST_SUB + 1)
		<< shift) - 1;
}

/**
 * krping_hist_add - add the time of an operation
 * @hist: histogram
 * @ns: time in ns
 *
 * Context: any; the caller serializes calls.
 */
void krping_hist_add(struct krping_hist *hist, u64 ns)
{
	if (hist->n)
		hist->jitter += max(ns, hist->last) - min(ns, hist->last);
	hist->min = hist->n ? min(hist->min, ns) : ns;
	hist->max = max(hist->max, ns);
	hist->sum += ns;
	hist->last = ns;
	hist->n++;
	hist->buckets[krping_hist_bucket(ns)]++;
}

/**
 * krping_hist_merge - add a histogram to another one
 * @to: histogram that is changed
 * @from: histogram to add
 *
 * Context: any; the caller serializes calls.
 */
void krping_hist_merge(struct krping_hist *to, const struct krping_hist *from)
{
	u32 i;

	if (!from->n)
		return;
	to->min = to->n ? min(to->min, from->min) : from->min;
	to->max = max(to->max, from->max);
	to->sum += from->sum;
	to->last = from->last;
	to->jitter += from->jitter;
	to->n += from->n;
	for (i = 0; i < KRPING_HIST_BUCKETS; i++)
		to->buckets[i] += from->buckets[i];
}

/**
 * krping_hist_mean - compute the arithmetic mean
 * @hist: histogram
 *
 * Return: mean in ns, 0 if the histogram is empty.
 */
u64 krping_hist_mean(const struct krping_hist *hist)
{
	return hist->n ? div64_u64(hist->sum, hist->n) : 0;
}

/**
 * krping_hist_jitter - compute the mean difference between successive times
 * @hist: histogram
 *
 * Return: mean in ns, 0 if there are fewer than two times.
 */
u64 krping_hist_jitter(const struct krping_hist *hist)
{
	return hist->n > 1 ? div64_u64(hist->jitter, hist->n - 1) : 0;
}

/*
 * Estimate the time of the operation with rank @rank (from 1) in a bucket. Only
 * the bounds of the bucket are known, so assume that its operations are evenly
 * distributed between them.
 */
static u64 krping_hist_of_bucket(const struct krping_hist *hist, u32 bucket,
				 u64 rank)
{
	u64 begin = bucket ? krping_hist_bucket_end(bucket - 1) + 1 : 0;
	u64 width = krping_hist_bucket_end(bucket) - begin;
	u64 ns = begin + mul_u64_u64_div_u64(width, 2 * rank - 1,
					     2 * hist->buckets[bucket]);

	return clamp(ns, hist->min, hist->max);
}

/**
 * krping_hist_percentile - compute a percentile
 * @hist: histogram
 * @per_10000: the percentile times 100: 5000 is the median, 9900 the 99th
 *	percentile
 *
 * Return: time in ns, accurate to 1/32; 0 if the histogram is empty.
 */
u64 krping_hist_percentile(const struct krping_hist *hist, u32 per_10000)
{
	u64 seen = 0, wanted;
	u32 i;

	/* Rank of the operation whose time is the percentile, rounded up. */
	wanted = div_u64(hist->n, 10000) * per_10000 +
		 DIV_ROUND_UP((u32)(hist->n % 10000) * per_10000, 10000);
	wanted = max(wanted, 1ULL);
	for (i = 0; i < KRPING_HIST_BUCKETS; i++) {
		if (hist->buckets[i] >= wanted - seen)
			return krping_hist_of_bucket(hist, i, wanted - seen);
		seen += hist->buckets[i];
	}
	return hist->max;
}

/**
 * krping_hist_log2 - count operations of 2^bits to 2^(bits+1) - 1 ns
 * @hist: histogram
 * @bits: at most KRPING_HIST_MAX_BITS - 1; this maximum also counts all longer
 *	times
 *
 * Return: number of operations. If @bits is 0, times of 0 ns are included.
 */
u64 krping_hist_log2(const struct krping_hist *hist, u32 bits)
{
	u64 low = bits ? BIT_ULL(bits) : 0;
	u32 i, end = krping_hist_bucket(BIT_ULL(bits + 1) - 1);
	u64 n = 0;

	for (i = krping_hist_bucket(low); i <= end; i++)
		n += hist->buckets[i];
	return n;
}
