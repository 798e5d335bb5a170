/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How long operations took: a histogram with buckets that grow with the time, so
 * that each percentile is right to one thirty-second. Pure.
 */
#ifndef KRPING_HIST_H
#define KRPING_HIST_H

#include <linux/types.h>

/* Buckets for each power of two, 2^5 of them. */
#define KRPING_HIST_SUB_BITS 5
#define KRPING_HIST_SUB 32
/* Longest time that has a bucket of its own: 2^41 ns are 36 minutes. */
#define KRPING_HIST_MAX_BITS 41
#define KRPING_HIST_BUCKETS \
	((KRPING_HIST_MAX_BITS - KRPING_HIST_SUB_BITS + 1) * KRPING_HIST_SUB)

/**
 * struct krping_hist - times of operations, in ns
 * @n: how many
 * @sum: of all of them
 * @min: the shortest
 * @max: the longest
 * @last: the last one
 * @jitter: sum of the differences between each and the one before
 * @buckets: how many of each length
 */
struct krping_hist {
	u64 n;
	u64 sum;
	u64 min;
	u64 max;
	u64 last;
	u64 jitter;
	u64 buckets[KRPING_HIST_BUCKETS];
};

void krping_hist_add(struct krping_hist *hist, u64 ns);
void krping_hist_merge(struct krping_hist *to, const struct krping_hist *from);
u64 krping_hist_mean(const struct krping_hist *hist);
u64 krping_hist_jitter(const struct krping_hist *hist);
u64 krping_hist_percentile(const struct krping_hist *hist, u32 per_10000);
u64 krping_hist_log2(const struct krping_hist *hist, u32 bits);

#endif /* KRPING_HIST_H */
