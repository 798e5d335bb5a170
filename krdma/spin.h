/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Calculation of the time that a task polls before it sleeps. Pure: no clock.
 */
#ifndef KRDMA_SPIN_H
#define KRDMA_SPIN_H

#include <linux/types.h>

/*
 * Number of waits that sleep at once after the time to poll has fallen below a
 * microsecond.
 */
#define KRDMA_SPIN_REST 64

/**
 * struct krdma_spin - success of polling so far
 * @budget_us: time to poll, in microseconds; 0 means the limit of the
 *	connection
 * @rest: number of further waits that sleep at once, before polling resumes
 *
 * Initially zero. Tasks that wait at the same time may overwrite each other's
 * result. This affects only timing.
 */
struct krdma_spin {
	u32 budget_us;
	u32 rest;
};

u32 krdma_spin_begin(struct krdma_spin *spin, u32 max_us);
void krdma_spin_end(struct krdma_spin *spin, u32 max_us, u32 budget_us,
		    bool paid);

#endif /* KRDMA_SPIN_H */
