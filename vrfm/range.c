// SPDX-License-Identifier: GPL-2.0
/*
 * Ranges: notify rings of writes into parts of the memory.
 *
 * A store by a call, a message of a peer with updates, and a page with stores
 * through mappings each cause one notice for each subscription that they
 * match. The notice has the hull of the bytes that were written inside the
 * range of the subscription. If the ring is full, notices of a subscription
 * merge, so that each write is covered by a notice.
 *
 * While an image is loaded, words change that no node writes at that time. No
 * notice covers these words. So each subscription gets a record when a load
 * begins, and another one when it has ended.
 *
 * Without such subscriptions, a write pays for one static branch.
 */
#include <linux/rculist.h>

#include "ring.h"

DEFINE_STATIC_KEY_DEFERRED_FALSE(vrfm_ranges_key, HZ);

/* ---- records ---- */

static bool vrfm_sub_add_written_locked(struct vrfm_sub *sub,
					const struct vrfm_notice *notice)
{
	struct vrfm_record *record;

	lockdep_assert_held(&sub->ring->lock);
	record = vrfm_ring_add_locked(sub, VRFM_REC_WRITTEN);
	if (!record)
		return false;
	if (notice->node == sub->ring->vdev->params.node)
		record->flags |= VRFM_REC_OWN;
	if (notice->messages > 1)
		record->flags |= VRFM_REC_MERGED;
	record->node = notice->node;
	record->offset = notice->first;
	record->length = notice->end - notice->first;
	record->serial = notice->serial;
	record->written.bytes = notice->bytes;
	record->written.messages = notice->messages;
	return true;
}

static bool vrfm_sub_add_image_locked(struct vrfm_sub *sub)
{
	struct vrfm_record *record;

	lockdep_assert_held(&sub->ring->lock);
	record = vrfm_ring_add_locked(sub, VRFM_REC_IMAGE);
	if (!record)
		return false;
	if (sub->image_merged)
		record->flags |= VRFM_REC_MERGED;
	record->image.state = sub->image;
	return true;
}

/**
 * vrfm_sub_flush_range_locked - put notices that wait for free slots into a ring
 * @sub: any subscription; the lock of its ring is held
 *
 * Context: any but hard interrupts.
 * Return: true if none waits any more.
 */
bool vrfm_sub_flush_range_locked(struct vrfm_sub *sub)
{
	struct vrfm_notice *notice = &sub->range;

	lockdep_assert_held(&sub->ring->lock);
	if (notice->bytes) {
		if (!vrfm_sub_add_written_locked(sub, notice))
			return false;
		notice->bytes = 0;
	}
	if (sub->image_pending) {
		if (!vrfm_sub_add_image_locked(sub))
			return false;
		sub->image_pending = false;
		sub->image_merged = false;
	}
	return true;
}

/* ---- writes ---- */

static bool vrfm_sub_wants_writer(const struct vrfm_sub *sub, u16 node)
{
	if (node == sub->ring->vdev->params.node)
		return sub->own;
	return vrfm_sub_wants(sub, node);
}

/*
 * Add a notice, or keep it until there is a slot. @all is the hull of the whole
 * message. Return false if the subscription does not want it.
 */
static bool vrfm_sub_note_locked(struct vrfm_sub *sub,
				 const struct vrfm_written *written,
				 const struct vrfm_notice *all)
{
	struct vrfm_ring_ctx *ring = sub->ring;
	struct vrfm_notice notice = {
		.from = sub->range.from,
		.to = sub->range.to,
		.messages = 1,
		.node = written->node,
		.serial = written->serial,
	};

	lockdep_assert_held(&ring->lock);
	if (all->first >= notice.to || all->end <= notice.from ||
	    !vrfm_sub_wants_writer(sub, written->node))
		return false;
	written->each(written, &notice);
	if (!notice.bytes)
		return false;
	if (vrfm_ring_settle_locked(ring) &&
	    vrfm_sub_add_written_locked(sub, &notice))
		return true;
	if (sub->range.bytes)
		ring->merged++;
	vrfm_notice_merge(&sub->range, &notice);
	ring->pending = true;
	return true;
}

/**
 * vrfm_rings_written - notify rings of bytes that a node has written
 * @vdev: device; the bytes are in its memory
 * @written: the bytes
 *
 * The caller has checked vrfm_ranges_are_wanted(), and reports the writes of
 * each node in their order.
 *
 * Context: any but hard interrupts. No spinlock of the device is held.
 */
void vrfm_rings_written(struct vrfm_dev *vdev,
			const struct vrfm_written *written)
{
	struct vrfm_notice all = { .to = U32_MAX };
	struct vrfm_ring_ctx *ring;
	struct vrfm_sub *sub;
	bool noted;

	written->each(written, &all);
	if (!all.bytes)
		return;
	rcu_read_lock();
	list_for_each_entry_rcu(ring, &vdev->rings, entry) {
		if (!READ_ONCE(ring->ranged))
			continue;
		noted = false;
		spin_lock_bh(&ring->lock);
		list_for_each_entry(sub, &ring->subs, entry)
			noted |= vrfm_sub_note_locked(sub, written, &all);
		if (noted)
			vrfm_ring_publish_locked(ring);
		spin_unlock_bh(&ring->lock);
	}
	rcu_read_unlock();
}

static void vrfm_written_run(const struct vrfm_written *written,
			     struct vrfm_notice *notice)
{
	vrfm_notice_add(notice, written->offset, written->n);
}

/**
 * vrfm_rings_stored - notify rings of a run that a call of this node has stored
 * @vdev: device; vrfm_dev.write_lock is held
 * @offset: offset of the first byte
 * @len: number of bytes
 *
 * Context: process context.
 */
void vrfm_rings_stored(struct vrfm_dev *vdev, u32 offset, u32 len)
{
	const struct vrfm_written written = {
		.node = vdev->params.node,
		.serial = vdev->serial,
		.each = vrfm_written_run,
		.offset = offset,
		.n = len,
	};

	lockdep_assert_held(&vdev->write_lock);
	vrfm_rings_written(vdev, &written);
}

/* ---- images ---- */

static void vrfm_sub_note_image_locked(struct vrfm_sub *sub, bool loading)
{
	lockdep_assert_held(&sub->ring->lock);
	if (!sub->range.to || sub->image == loading)
		return;
	sub->image = loading;
	sub->image_merged = sub->image_pending;
	sub->ring->merged += sub->image_pending;
	sub->image_pending = true;
}

/**
 * vrfm_sub_image - note for a new subscription whether an image is being loaded
 * @sub: subscription of a range, in the list of its ring
 * @loading: an image is being loaded
 *
 * Context: process context; vrfm_dev.write_lock is held.
 */
void vrfm_sub_image(struct vrfm_sub *sub, bool loading)
{
	struct vrfm_ring_ctx *ring = sub->ring;

	lockdep_assert_held(&ring->vdev->write_lock);
	spin_lock_bh(&ring->lock);
	vrfm_sub_note_image_locked(sub, loading);
	vrfm_ring_flush_locked(ring);
	spin_unlock_bh(&ring->lock);
}

/**
 * vrfm_rings_image - notify rings of the beginning or end of the load of an
 * image
 * @vdev: device; vrfm_dev.write_lock is held
 * @loading: true: a load begins; false: it has ended
 *
 * Context: process context.
 */
void vrfm_rings_image(struct vrfm_dev *vdev, bool loading)
{
	struct vrfm_ring_ctx *ring;
	struct vrfm_sub *sub;

	lockdep_assert_held(&vdev->write_lock);
	rcu_read_lock();
	list_for_each_entry_rcu(ring, &vdev->rings, entry) {
		if (!READ_ONCE(ring->ranged))
			continue;
		spin_lock_bh(&ring->lock);
		list_for_each_entry(sub, &ring->subs, entry)
			vrfm_sub_note_image_locked(sub, loading);
		vrfm_ring_flush_locked(ring);
		spin_unlock_bh(&ring->lock);
	}
	rcu_read_unlock();
}

/* ---- life ---- */

/**
 * vrfm_ranges_begin - let writes be reported to rings
 *
 * Context: may sleep.
 */
void vrfm_ranges_begin(void)
{
	static_branch_deferred_inc(&vrfm_ranges_key);
}

/**
 * vrfm_ranges_end - undo vrfm_ranges_begin()
 *
 * The static branch changes a second later. So a program that subscribes
 * repeatedly does not change code of the kernel each time.
 *
 * Context: may sleep.
 */
void vrfm_ranges_end(void)
{
	static_branch_slow_dec_deferred(&vrfm_ranges_key);
}

/**
 * vrfm_ranges_exit - wait for the end of delayed changes
 *
 * Context: may sleep; no ring is left.
 */
void vrfm_ranges_exit(void)
{
	static_key_deferred_flush(&vrfm_ranges_key);
}
