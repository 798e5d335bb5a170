/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Calculation of the wait before the next attempt to connect. The functions are
 * pure: they read no clock, and the caller supplies random numbers.
 */
#ifndef KRDMA_BACKOFF_H
#define KRDMA_BACKOFF_H

#include <linux/types.h>

u32 krdma_backoff_base(u32 min_ms, u32 max_ms, unsigned int failures);
u32 krdma_backoff_jitter(u32 ms, u32 random);

#endif /* KRDMA_BACKOFF_H */
