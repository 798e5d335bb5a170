/* SPDX-License-Identifier: GPL-2.0 */
#ifndef VRFM_RATE_H
#define VRFM_RATE_H

#include <linux/types.h>

/**
 * struct vrfm_rate - how much there was a second, lately
 * @since: jiffies when the present interval began
 * @amount: what there was in it until now
 * @last: of the interval before, a second
 */
struct vrfm_rate {
	unsigned long since;
	u64 amount;
	u64 last;
};

void vrfm_rate_add(struct vrfm_rate *rate, unsigned long now, u32 n);
u64 vrfm_rate_read(const struct vrfm_rate *rate, unsigned long now);

#endif /* VRFM_RATE_H */
