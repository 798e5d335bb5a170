// SPDX-License-Identifier: GPL-2.0
/*
 * Back-off: the time to the next attempt doubles with each one that fails, and
 * is never quite the same, so that hosts which lost one peer at one moment do
 * not all call it at one moment.
 */
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "backoff.h"

/**
 * krdma_backoff_base - how long to wait, before jitter
 * @min_ms: after the first failure, not 0
 * @max_ms: at most, not less than @min_ms
 * @failures: attempts that failed in a row, 0 counts as 1
 *
 * Return: milliseconds, @min_ms … @max_ms.
 */
u32 krdma_backoff_base(u32 min_ms, u32 max_ms, unsigned int failures)
{
	u32 ms = min_ms;

	/* At most 32 rounds, whatever @failures is. */
	while (failures > 1 && ms < max_ms) {
		ms = ms > max_ms / 2 ? max_ms : ms * 2;
		failures--;
	}
	return min(ms, max_ms);
}

/**
 * krdma_backoff_jitter - a time near another one
 * @ms: which; beyond 3.4e9 the result may wrap
 * @random: any number, each as likely as the others
 *
 * Return: milliseconds, @ms less a quarter to @ms and a quarter, each as likely.
 */
u32 krdma_backoff_jitter(u32 ms, u32 random)
{
	u32 quarter = ms / 4;

	return ms - quarter +
	       (u32)(mul_u32_u32(random, 2 * quarter + 1) >> 32);
}
