// SPDX-License-Identifier: GPL-2.0
/*
 * Back-off: the wait before the next attempt to connect doubles with each
 * failure. The wait has a random part. Otherwise hosts that lost the same peer
 * at the same time would all connect again at the same time.
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

	/* ms doubles in each round, so there are at most 32 rounds. */
	while (failures > 1 && ms < max_ms) {
		ms = ms > max_ms / 2 ? max_ms : ms * 2;
		failures--;
	}
	return min(ms, max_ms);
}

/**
 * krdma_backoff_jitter - add a random part to a wait
 * @ms: wait in ms; above 3.4e9 (2^32 / 1.25) the result may wrap
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
