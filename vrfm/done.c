// SPDX-License-Identifier: GPL-2.0
/*
 * Completions: put a record into a ring when a submitted batch has ended.
 *
 * A ring has a completion for each submission entry. A batch needs one before it
 * is executed. So a program that does not read its records stops its own
 * submissions, and no record of a batch is lost. The completion of a batch that
 * waits for acknowledgments is in the list "tracked", see submit.c. The list
 * "ready" has those that wait for a free slot. vrfm_ring_ctx.lock protects the
 * lists.
 */
#include <linux/list.h>

#include "ring.h"

/**
 * vrfm_done_get - get a completion for a batch
 * @ring: ring with submission entries
 *
 * Context: any but hard interrupts.
 * Return: completion for vrfm_done_put(), vrfm_done_complete() or the list of
 * tracked batches; NULL: none is free.
 */
struct vrfm_done *vrfm_done_get(struct vrfm_ring_ctx *ring)
{
	struct vrfm_done *done;

	spin_lock_bh(&ring->lock);
	done = list_first_entry_or_null(&ring->dones.idle, struct vrfm_done,
					entry);
	if (done)
		list_del(&done->entry);
	spin_unlock_bh(&ring->lock);
	return done;
}

/**
 * vrfm_done_put - return a completion without adding a record
 * @ring: ring
 * @done: completion from vrfm_done_get()
 *
 * Context: any but hard interrupts.
 */
void vrfm_done_put(struct vrfm_ring_ctx *ring, struct vrfm_done *done)
{
	spin_lock_bh(&ring->lock);
	list_add(&done->entry, &ring->dones.idle);
	spin_unlock_bh(&ring->lock);
}

/**
 * vrfm_done_complete_locked - report a batch that has ended
 * @ring: ring, with its lock held
 * @done: completion with its result, in no list
 *
 * Context: any but hard interrupts.
 */
void vrfm_done_complete_locked(struct vrfm_ring_ctx *ring,
			       struct vrfm_done *done)
{
	lockdep_assert_held(&ring->lock);
	list_add_tail(&done->entry, &ring->dones.ready);
	vrfm_ring_flush_locked(ring);
}

static void vrfm_record_done(struct vrfm_record *record,
			     const struct vrfm_done *done)
{
	record->serial = done->serial;
	record->done.result = done->result;
	record->done.reached = done->reached;
	record->done.behind = done->behind;
	record->done.absent = done->absent;
	record->done.first = done->first;
	record->done.ops = done->ops;
	record->done.failed = done->failed;
}

/**
 * vrfm_dones_fill_locked - put completions that wait for free slots into a ring
 * @ring: ring, with its lock held
 *
 * Context: any but hard interrupts.
 * Return: true if none waits any more.
 */
bool vrfm_dones_fill_locked(struct vrfm_ring_ctx *ring)
{
	struct vrfm_done *done, *next;
	struct vrfm_record *record;

	lockdep_assert_held(&ring->lock);
	list_for_each_entry_safe(done, next, &ring->dones.ready, entry) {
		record = vrfm_ring_record_locked(ring, VRFM_REC_DONE, 0,
						 done->cookie);
		if (!record)
			return false;
		vrfm_record_done(record, done);
		list_move(&done->entry, &ring->dones.idle);
	}
	return true;
}
