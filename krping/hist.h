/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Histogram of the times of operations. The width of a bucket grows with the
 * time, so that each percentile is accurate to 1/32. The functions are pure: no
 * verbs, no sleeping, no globals.
 */
#ifndef KRPING_HIST_H
#define KRPING_HIST_H

#include <linux/types.h>

/* Each power of two has 2^5 buckets. */
#define KRPING_HIST_SUB_BITS 5
#define KRPING_HIST_SUB 32
/* Times of 2^41 ns (36 minutes) or more share the last bucket. */
#define KRPING_HIST_MAX_BITS 41
#define KRPING_HIST_BUCKETS \
	((KRPING_HIST_MAX_BITS - KRPING_HIST_SUB_BITS + 1) * KRPING_HIST_SUB)

/**
 * struct krping_hist - times of operations, in ns
 * @n: number of operations
 * @sum: sum of all times
 * @min: shortest time
 * @max: longest time
 * @last: time of the last operation
 * @jitter: sum of the differences between successive times
 * @buckets: number of operations in each bucket
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
