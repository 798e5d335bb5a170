// SPDX-License-Identifier: GPL-2.0
/*
 * How long a task looks for what it waits for before it sleeps.
 *
 * A look that pays doubles the time of the next one, up to what the owner allows;
 * one that does not halves it. When less than a microsecond is left the next 64
 * waits sleep at once, and then one looks for the whole time again: so what was
 * slow for a while is found to be fast, and where looking is of no use, as on the
 * only processor, it costs each wait a thirtieth of that time at most.
 */
#include <linux/compiler.h>
#include <linux/minmax.h>

#include "spin.h"

/**
 * krdma_spin_begin - how long may this wait look
 * @spin: of waits of this kind
 * @max_us: at most, 0: never
 *
 * Return: microseconds, for krdma_spin_end(); 0: sleep.
 */
u32 krdma_spin_begin(struct krdma_spin *spin, u32 max_us)
{
	u32 rest = READ_ONCE(spin->rest);

	if (rest) {
		WRITE_ONCE(spin->rest, rest - 1);
		return 0;
	}
	return min(READ_ONCE(spin->budget_us) ?: max_us, max_us);
}

/**
 * krdma_spin_end - learn from a look
 * @spin: of waits of this kind
 * @max_us: as before
 * @budget_us: from krdma_spin_begin(), not 0
 * @paid: what was waited for came in that time
 */
void krdma_spin_end(struct krdma_spin *spin, u32 max_us, u32 budget_us,
		    bool paid)
{
	WRITE_ONCE(spin->budget_us,
		   paid ? min(budget_us * 2, max_us) : budget_us / 2);
	if (!paid && budget_us == 1)
		WRITE_ONCE(spin->rest, KRDMA_SPIN_REST);
}
