/* SPDX-License-Identifier: GPL-2.0 */
/* How long to look before sleeping. Pure: no clock. */
#ifndef KRDMA_SPIN_H
#define KRDMA_SPIN_H

#include <linux/types.h>

/* Waits that sleep at once after the last look that did not pay. */
#define KRDMA_SPIN_REST 64

/**
 * struct krdma_spin - what looking has been good for so far
 * @budget_us: how long to look, 0: as long as is allowed
 * @rest: waits that sleep at once before the next look
 *
 * All zero at first. Tasks that wait at a time may overwrite each other's
 * result: nothing but time depends on it.
 */
struct krdma_spin {
	u32 budget_us;
	u32 rest;
};

u32 krdma_spin_begin(struct krdma_spin *spin, u32 max_us);
void krdma_spin_end(struct krdma_spin *spin, u32 max_us, u32 budget_us,
		    bool paid);

#endif /* KRDMA_SPIN_H */
