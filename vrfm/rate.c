// SPDX-License-Identifier: GPL-2.0
/*
 * Rates per second, without a timer. Adding ends an interval that is a second
 * old. Reading returns the rate of the last interval that ended, or that of the
 * current interval if nothing was added for a second. Pure: the caller provides
 * the clock and the lock.
 */
#include <linux/jiffies.h>
#include <linux/math64.h>

#include "rate.h"

/*
 * Rate of an interval. An addition ends an interval that is a second old. So if
 * an interval is two seconds old, nothing was added in the last of them.
 */
static u64 vrfm_rate_average(const struct vrfm_rate *rate,
			     unsigned long elapsed)
{
	return elapsed < 2 * HZ ? div64_ul(rate->amount * HZ, elapsed) : 0;
}

/**
 * vrfm_rate_add - add to a rate
 * @rate: rate; zeroed: nothing was added yet
 * @now: jiffies
 * @n: amount to add
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
 * vrfm_rate_read - return a rate per second
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
