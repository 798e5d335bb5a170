// SPDX-License-Identifier: GPL-2.0
/*
 * Rates: how much there was a second, of late, without a timer. Who counts ends
 * an interval when it is a second old; who reads takes the last one that ended,
 * or the present one if nobody has counted for so long. Pure: the clock is the
 * caller's, and so is the lock.
 */
#include <linux/jiffies.h>
#include <linux/math64.h>

#include "rate.h"

/*
 * Whatever comes ends an interval that is a second old. So one of two seconds
 * has had nothing for the second of them.
 */
static u64 vrfm_rate_average(const struct vrfm_rate *rate,
			     unsigned long elapsed)
{
	return elapsed < 2 * HZ ? div64_ul(rate->amount * HZ, elapsed) : 0;
}

/**
 * vrfm_rate_add - there was something
 * @rate: rate; zeroes: nothing until now
 * @now: jiffies
 * @n: how much
 */
void vrfm_rate_add(struct vrfm_rate *rate, unsigned long now, u32 n)
{
	unsigned long elapsed = now - rate->since;

	if (elapsed >= HZ) {
		rate->last = vrfm_rate_average(rate, elapsed);
		rate->since = now;
		rate->amount = 0;
	}
	rate->amount += n;
}

/**
 * vrfm_rate_read - how much is it a second?
 * @rate: rate
 * @now: jiffies
 *
 * Return: the average of a second or two; 0 after a second without anything.
 */
u64 vrfm_rate_read(const struct vrfm_rate *rate, unsigned long now)
{
	unsigned long elapsed = now - rate->since;

	return elapsed < HZ ? rate->last : vrfm_rate_average(rate, elapsed);
}
