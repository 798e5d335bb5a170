// SPDX-License-Identifier: GPL-2.0
/* Latencies of updates, which debugfs shows. */
#include <linux/ktime.h>
#include <linux/log2.h>
#include <linux/moduleparam.h>

#include "link.h"

static bool vrfm_latency;
module_param_named(latency, vrfm_latency, bool, 0644);
MODULE_PARM_DESC(latency, "Measure the time until peers have applied updates, see debugfs vrfm/rfm2gN/latency (N)");

/**
 * vrfm_latency_begin - return the present time, to measure the latency of a
 * message
 *
 * Return: time in ns; 0 if latencies are not measured, because reading the
 * clock costs time.
 */
u64 vrfm_latency_begin(void)
{
	return READ_ONCE(vrfm_latency) ? ktime_get_ns() : 0;
}

/**
 * vrfm_latency_end_locked - count the latencies of messages that the peer
 * acknowledges
 * @link: link, with its lock held; @link->window.acked has not been updated yet
 * @applied: sequence of the last message that the peer has applied
 *
 * Context: any but hard interrupts.
 */
void vrfm_latency_end_locked(struct vrfm_link *link, u64 applied)
{
	const struct vrfm_slot *slot;
	unsigned int bucket;
	u64 sequence;

	lockdep_assert_held(&link->lock);
	for (sequence = link->window.acked + 1; sequence <= applied;
	     sequence++) {
		slot = vrfm_slot(link, sequence);
		if (!slot->opened_ns || !vrfm_slot_has_updates(slot))
			continue;
		bucket = ilog2((ktime_get_ns() - slot->opened_ns) | 1);
		link->meter.latency[min(bucket, VRFM_LATENCIES - 1U)]++;
	}
}
