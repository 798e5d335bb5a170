// SPDX-License-Identifier: GPL-2.0
/*
 * Rates per second, without a timer. An addition ends the current interval if
 * the interval is a second old. Reading returns the rate of the current
 * interval if it is a second old; if not, the rate of the interval before. The
 * caller provides the clock and the lock.
 */
#include <linux/jiffies.h>
#include <linux/math64.h>

#include "rate.h"

/*
 * Return the rate of an interval; 0 if the interval is two seconds old. An
 * addition in the last second would have ended such an interval, so nothing was
 * added in that second.
 */
static u64 vrfm_rate_average(const struct vrfm_rate *rate,
			     unsigned long elapsed)
{
	return elapsed < 2 * HZ ? div64_ul(rate->amount * HZ, elapsed) : 0;
}

/**
 * vrfm_rate_add - add to a rate
 * @rate: rate, which the caller must zero before the first addition
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
 * Return: the average over one to two seconds; 0 if nothing was added for two
 * seconds.
 */
u64 vrfm_rate_read(const struct vrfm_rate *rate, unsigned long now)
{
	unsigned long elapsed = now - rate->since;

	return elapsed < HZ ? rate->last : vrfm_rate_average(rate, elapsed);
}
