/* SPDX-License-Identifier: GPL-2.0 */
#ifndef VRFM_RATE_H
#define VRFM_RATE_H

#include <linux/types.h>

/**
 * struct vrfm_rate - amount per second, averaged over an interval of a second
 * or two
 * @since: jiffies when the current interval began
 * @amount: amount added in the current interval
 * @last: rate of the interval before the current one, per second
 */
struct vrfm_rate {
	unsigned long since;
	u64 amount;
	u64 last;
};

void vrfm_rate_add(struct vrfm_rate *rate, unsigned long now, u32 n);
u64 vrfm_rate_read(const struct vrfm_rate *rate, unsigned long now);

#endif /* VRFM_RATE_H */
