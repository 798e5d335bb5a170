// SPDX-License-Identifier: GPL-2.0
/*
 * Back-off: the time to the next attempt doubles with each failure. The time
 * has a random part, so that hosts that lost the same peer at the same time do
 * not all connect at the same time.
 */
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "backoff.h"

/**
 * krdma_backoff_base - calculate the wait before jitter
 * @min_ms: wait after the first failure, in ms, not 0
 * @max_ms: limit in ms, not less than @min_ms
 * @failures: number of consecutive attempts that failed; 0 counts as 1
 *
 * Return: wait in ms, from @min_ms to @max_ms.
 */
u32 krdma_backoff_base(u32 min_ms, u32 max_ms, unsigned int failures)
{
	u32 ms = min_ms;

	/* The loop ends after at most 32 rounds, whatever @failures is. */
	while (failures > 1 && ms < max_ms) {
		ms = ms > max_ms / 2 ? max_ms : ms * 2;
		failures--;
	}
	return min(ms, max_ms);
}

/**
 * krdma_backoff_jitter - add a random part to a wait
 * @ms: wait in ms; if it is more than 3.4e9 the result may wrap
 * @random: uniform random number
 *
 * Return: wait in ms, uniformly distributed from @ms - @ms / 4 to @ms + @ms /
 * 4.
 */
u32 krdma_backoff_jitter(u32 ms, u32 random)
{
	u32 quarter = ms / 4;

	return ms - quarter +
	       (u32)(mul_u32_u32(random, 2 * quarter + 1) >> 32);
}
