// SPDX-License-Identifier: GPL-2.0
/*
 * Time that a task polls before it sleeps.
 *
 * Polling that succeeds doubles the time for the next wait, up to the owner's
 * limit. Polling that fails halves it. When the time falls below a microsecond,
 * the next 64 waits sleep at once, and the wait after them polls for the whole
 * limit again. So polling resumes when a slow event becomes fast. Where polling
 * never succeeds, as with a single processor, the times to poll add up to at
 * most twice the limit (1 + 1/2 + 1/4 ...) in more than 64 waits. So each wait
 * polls for at most 1/30 of the limit on average.
 */
#include <linux/compiler.h>
#include <linux/minmax.h>

#include "spin.h"

/**
 * krdma_spin_begin - return the time that a wait may poll
 * @spin: state of waits of this kind
 * @max_us: limit in us; 0 means do not poll
 *
 * Return: time to poll in us, for krdma_spin_end(); 0 means sleep at once.
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
 * krdma_spin_end - record the result of polling
 * @spin: state of waits of this kind
 * @max_us: as for krdma_spin_begin()
 * @budget_us: time that krdma_spin_begin() returned, not 0
 * @paid: the event came while the task polled
 */
void krdma_spin_end(struct krdma_spin *spin, u32 max_us, u32 budget_us,
		    bool paid)
{
	WRITE_ONCE(spin->budget_us,
		   paid ? min(budget_us * 2, max_us) : budget_us / 2);
	if (!paid && budget_us == 1)
		WRITE_ONCE(spin->rest, KRDMA_SPIN_REST);
}
