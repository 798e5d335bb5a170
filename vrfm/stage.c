// SPDX-License-Identifier: GPL-2.0
/*
 * Staging: peers must not write directly into staged ranges, because programs
 * of this node store there through mappings. The scanner would take a direct
 * write of a peer for a store of a program, and send it to all peers.
 *
 * A page gets a twin, and becomes writable for programs, only after its range
 * is staged. This means that all peers have been notified by a STAGE message,
 * and have answered that none of their direct writes to the range is in flight.
 * A STAGE has a number and the map of all staged ranges, so only the newest
 * STAGE counts. One round of answers is pending at a time. A user of a staged
 * range pins it. When a range was not pinned for unstage_ms, peers are notified
 * that it is no longer staged.
 *
 * Peers that cannot write directly need not be notified. If no peer can write
 * directly, a range is staged at once.
 */
#include <linux/bitmap.h>
#include <linux/hrtimer.h>
#include <linux/jiffies.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "direct_path.h"
#include "link.h"
#include "trace.h"

/* Interval of checks for answers of peers, in ms. */
#define VRFM_LOOK_MS 100
/*
 * Longest wait of a fault, in ms. A fault holds mmap_lock, which all threads of
 * the program need.
 */
#define VRFM_FAULT_MS 1
/* Longest wait of a claim in ms, unless twice stage_ms is longer. */
#define VRFM_CLAIM_MS 10000

static void vrfm_stage_work(struct work_struct *work);

/**
 * vrfm_stage_init - initialize the state that needs no allocated memory
 * @vdev: device
 */
void vrfm_stage_init(struct vrfm_dev *vdev)
{
	struct vrfm_stage *stage = &vdev->stage;

	spin_lock_init(&stage->lock);
	init_waitqueue_head(&stage->wait);
	INIT_DELAYED_WORK(&stage->work, vrfm_stage_work);
	stage->number = 1;
}

/**
 * vrfm_stage_alloc - allocate the maps; no range is staged
 * @vdev: device, with its size
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM; vrfm_stage_free() may be called in both cases.
 */
int vrfm_stage_alloc(struct vrfm_dev *vdev)
{
	struct vrfm_stage *stage = &vdev->stage;
	u64 size = vdev->params.size;

	stage->nranges = vrfm_ranges(size);
	stage->wanted = vrfm_ranges_alloc(size);
	stage->told = vrfm_ranges_alloc(size);
	stage->ready = vrfm_ranges_alloc(size);
	stage->pins = kvcalloc(stage->nranges, sizeof(u32), GFP_KERNEL);
	stage->claims = kvcalloc(stage->nranges, sizeof(u32), GFP_KERNEL);
	stage->used = kvcalloc(stage->nranges, sizeof(u32), GFP_KERNEL);
	if (stage->wanted && stage->told && stage->ready && stage->pins &&
	    stage->claims && stage->used)
		return 0;
	return -ENOMEM;
}

/**
 * vrfm_stage_exit - cancel the work
 * @vdev: device that has no peers any more
 *
 * Context: may sleep.
 */
void vrfm_stage_exit(struct vrfm_dev *vdev)
{
	cancel_delayed_work_sync(&vdev->stage.work);
}

/**
 * vrfm_stage_free - free the maps
 * @vdev: device where no range is pinned
 *
 * Context: may sleep.
 */
void vrfm_stage_free(struct vrfm_dev *vdev)
{
	struct vrfm_stage *stage = &vdev->stage;

	kvfree(stage->wanted);
	kvfree(stage->told);
	kvfree(stage->ready);
	kvfree(stage->pins);
	kvfree(stage->claims);
	kvfree(stage->used);
}

/* ---- pins ---- */

/**
 * vrfm_stage_try - pin a range if it is staged, or begin to stage it
 * @vdev: device
 * @range: number of the range
 *
 * Context: any but hard interrupts.
 * Return: true if the range is pinned. No peer writes there directly until
 * vrfm_stage_unpin().
 */
bool vrfm_stage_try(struct vrfm_dev *vdev, u32 range)
{
	struct vrfm_stage *stage = &vdev->stage;
	bool ready;

	spin_lock_bh(&stage->lock);
	if (!stage->nshown) {
		/* No peer can write directly, so the range is staged. */
		__set_bit(range, stage->told);
		__set_bit(range, stage->ready);
	}
	ready = test_bit(range, stage->ready);
	if (ready) {
		stage->pins[range]++;
	} else {
		__set_bit(range, stage->wanted);
		/*
		 * The work may be queued here. nshown is not 0, so there still
		 * are peers, and vrfm_stage_exit(), which cancels the work, is
		 * called only after all peers are removed.
		 */
		mod_delayed_work(vrfm_wq, &stage->work, 0);
	}
	spin_unlock_bh(&stage->lock);
	return ready;
}

static bool vrfm_stage_may_be_ready(const struct vrfm_stage *stage, u32 range)
{
	return test_bit(range, stage->ready) || !READ_ONCE(stage->nshown);
}

/**
 * vrfm_stage_fault - pin a range, and wait for a millisecond at most
 * @vdev: device
 * @range: number of the range
 *
 * Context: may sleep.
 * Return: true if the range is pinned; false if the caller must try again.
 */
bool vrfm_stage_fault(struct vrfm_dev *vdev, u32 range)
{
	struct vrfm_stage *stage = &vdev->stage;

	if (vrfm_stage_try(vdev, range))
		return true;
	wait_event_hrtimeout(stage->wait, vrfm_stage_may_be_ready(stage, range),
			     ms_to_ktime(VRFM_FAULT_MS));
	return vrfm_stage_try(vdev, range);
}

static unsigned long vrfm_unstage_jiffies(const struct vrfm_dev *vdev)
{
	return msecs_to_jiffies(READ_ONCE(vdev->params.unstage_ms));
}

/**
 * vrfm_stage_unpin - unpin ranges
 * @vdev: device
 * @first: first range
 * @last: last range
 *
 * Context: any but hard interrupts.
 */
void vrfm_stage_unpin(struct vrfm_dev *vdev, u32 first, u32 last)
{
	struct vrfm_stage *stage = &vdev->stage;

	spin_lock_bh(&stage->lock);
	for (; first <= last; first++) {
		WARN_ON_ONCE(!stage->pins[first]);
		stage->used[first] = jiffies;
		if (!--stage->pins[first] && stage->nshown)
			queue_delayed_work(vrfm_wq, &stage->work,
					   vrfm_unstage_jiffies(vdev));
	}
	spin_unlock_bh(&stage->lock);
}

/* Pin a range, and wait until it is staged. */
static int vrfm_stage_pin(struct vrfm_dev *vdev, u32 range)
{
	u32 ms = max_t(u32, VRFM_CLAIM_MS, 2 * READ_ONCE(vdev->params.stage_ms));
	unsigned long end = jiffies + msecs_to_jiffies(ms);
	struct vrfm_stage *stage = &vdev->stage;
	long left;

	while (!vrfm_stage_try(vdev, range)) {
		left = max_t(long, end - jiffies, 0);
		left = wait_event_killable_timeout(stage->wait,
						   vrfm_stage_may_be_ready(stage, range),
						   left);
		if (left <= 0)
			return left ? -EINTR : -ETIMEDOUT;
	}
	return 0;
}

/*
 * Request all ranges before waiting for the first of them. So one STAGE adds all
 * of them.
 */
static void vrfm_stage_request(struct vrfm_dev *vdev, u32 first, u32 last)
{
	struct vrfm_stage *stage = &vdev->stage;

	spin_lock_bh(&stage->lock);
	if (stage->nshown) {
		bitmap_set(stage->wanted, first, last - first + 1);
		mod_delayed_work(vrfm_wq, &stage->work, 0);
	}
	spin_unlock_bh(&stage->lock);
}

/**
 * vrfm_stage_pin_part - pin all ranges of a part of the memory, and wait until
 * they are staged
 * @vdev: device
 * @offset: offset of the first byte; the caller has checked vrfm_inside()
 * @len: number of bytes, not 0
 *
 * Context: may sleep.
 * Return: 0; -EINTR: killed; -ETIMEDOUT: a range is not staged yet. After an
 * error, no range is pinned.
 */
int vrfm_stage_pin_part(struct vrfm_dev *vdev, u32 offset, u32 len)
{
	u32 first = vrfm_range(offset), last = vrfm_range(offset + len - 1);
	u32 range;
	int ret;

	vrfm_stage_request(vdev, first, last);
	for (range = first; range <= last; range++) {
		ret = vrfm_stage_pin(vdev, range);
		if (!ret)
			continue;
		if (range > first)
			vrfm_stage_unpin(vdev, first, range - 1);
		return ret;
	}
	return 0;
}

/* Wake tasks that wait for staged ranges. */
static void vrfm_stage_wake_writers(struct vrfm_dev *vdev)
{
	wake_up_all(&vdev->stage.wait);
	vrfm_watchers_staged(vdev);
}

/* ---- notifying peers ---- */

/**
 * vrfm_stage_kick - check at once whether all peers have answered a STAGE
 * @vdev: device that has not been through vrfm_stage_exit()
 *
 * Context: any.
 */
void vrfm_stage_kick(struct vrfm_dev *vdev)
{
	mod_delayed_work(vrfm_wq, &vdev->stage.work, 0);
}

/**
 * vrfm_stage_pack - fill a STAGE
 * @vdev: device
 * @pack: message without content
 * @desc_len: length of the description of the memory, in bytes; 0: none. A peer
 *	that receives a description may write directly from then on
 * @number: set to the number of the STAGE
 *
 * Context: any but hard interrupts, with the lock of a link held.
 * Return: address where the caller must store the description.
 */
void *vrfm_stage_pack(struct vrfm_dev *vdev, struct vrfm_pack *pack,
		      u32 desc_len, u64 *number)
{
	struct vrfm_stage *stage = &vdev->stage;
	void *at;

	spin_lock_bh(&stage->lock);
	*number = stage->number;
	at = vrfm_pack_stage(pack, stage->number, stage->told,
			     vdev->params.size, desc_len);
	if (desc_len) {
		WRITE_ONCE(stage->nshown, stage->nshown + 1);
		/*
		 * Run the work later to unstage unused ranges, because it did
		 * not run while no peer could write directly.
		 */
		queue_delayed_work(vrfm_wq, &stage->work,
				   vrfm_unstage_jiffies(vdev));
	}
	spin_unlock_bh(&stage->lock);
	return at;
}

/**
 * vrfm_stage_hide - stop counting a peer that cannot write directly any more
 * @vdev: device
 *
 * Context: any but hard interrupts.
 */
void vrfm_stage_hide(struct vrfm_dev *vdev)
{
	struct vrfm_stage *stage = &vdev->stage;

	spin_lock_bh(&stage->lock);
	WRITE_ONCE(stage->nshown, stage->nshown - 1);
	spin_unlock_bh(&stage->lock);
	vrfm_stage_wake_writers(vdev);
	vrfm_stage_kick(vdev);
}

static void vrfm_stage_trace(const struct vrfm_stage *stage, u32 unit,
			     bool answered)
{
	if (trace_vrfm_stage_enabled())
		trace_vrfm_stage(unit, stage->number,
				 bitmap_weight(stage->told, stage->nranges),
				 answered);
}

/*
 * Unstage ranges that are not used, and stage the wanted ranges. If there are
 * any, notify the peers.
 */
static void vrfm_stage_begin(struct vrfm_dev *vdev)
{
	unsigned long unstage = vrfm_unstage_jiffies(vdev);
	u32 range, ms = READ_ONCE(vdev->params.stage_ms);
	struct vrfm_stage *stage = &vdev->stage;
	bool dropped = false, added = false;
	struct vrfm_link *link;

	spin_lock_bh(&stage->lock);
	for_each_set_bit(range, stage->told, stage->nranges) {
		if (stage->pins[range] || test_bit(range, stage->wanted) ||
		    (u32)jiffies - stage->used[range] < unstage)
			continue;
		__clear_bit(range, stage->told);
		__clear_bit(range, stage->ready);
		dropped = true;
	}
	for_each_set_bit(range, stage->wanted, stage->nranges) {
		if (__test_and_set_bit(range, stage->told))
			continue;
		stage->used[range] = jiffies;
		added = true;
	}
	bitmap_zero(stage->wanted, stage->nranges);
	stage->number += dropped || added;
	spin_unlock_bh(&stage->lock);
	stage->pending = added;
	stage->deadline = jiffies + msecs_to_jiffies(ms);
	if (!dropped && !added)
		return;
	vrfm_stage_trace(stage, vdev->unit, false);
	list_for_each_entry(link, &vdev->links, entry) {
		if (link->direct.shown != VRFM_SHOWN)
			continue;
		link->catchup.todo |= VRFM_TODO_STAGE;
		vrfm_direct_notify(link);
	}
}

/*
 * If all peers have answered the last STAGE, its ranges are staged. A peer that
 * is being removed is not in the list any more, but may write directly until
 * its connection has ended. @nshown counts this peer until then.
 */
static void vrfm_stage_end(struct vrfm_dev *vdev)
{
	struct vrfm_stage *stage = &vdev->stage;
	struct vrfm_link *link;
	u32 answered = 0;

	list_for_each_entry(link, &vdev->links, entry) {
		if (link->direct.shown != VRFM_SHOWN)
			continue;
		if (READ_ONCE(link->direct.answered) >= stage->number) {
			answered++;
			continue;
		}
		/*
		 * Send a STAGE that found no room before. Perhaps no other task
		 * would send it.
		 */
		if (link->catchup.todo & VRFM_TODO_STAGE)
			vrfm_direct_notify(link);
		if (!time_after(jiffies, stage->deadline))
			continue;
		spin_lock_bh(&link->lock);
		vrfm_link_break_locked(link);
		spin_unlock_bh(&link->lock);
		vrfm_link_say(link, VRFM_SAY_UNANSWERED);
	}
	if (answered != READ_ONCE(stage->nshown))
		return;
	stage->pending = false;
	vrfm_stage_trace(stage, vdev->unit, true);
	spin_lock_bh(&stage->lock);
	bitmap_copy(stage->ready, stage->told, stage->nranges);
	spin_unlock_bh(&stage->lock);
	vrfm_stage_wake_writers(vdev);
}

static void vrfm_stage_work(struct work_struct *work)
{
	struct vrfm_dev *vdev = container_of(work, struct vrfm_dev,
					     stage.work.work);
	unsigned long delay = vrfm_unstage_jiffies(vdev);
	struct vrfm_stage *stage = &vdev->stage;

	rt_mutex_lock(&vdev->write_lock);
	if (stage->pending)
		vrfm_stage_end(vdev);
	if (!stage->pending)
		vrfm_stage_begin(vdev);
	if (stage->pending)
		vrfm_stage_end(vdev);
	/*
	 * Run again soon, because only this work checks the deadline of
	 * answers.
	 */
	if (stage->pending)
		delay = msecs_to_jiffies(min_t(u32, VRFM_LOOK_MS,
					       READ_ONCE(vdev->params.stage_ms)));
	spin_lock_bh(&stage->lock);
	if (stage->nshown && !bitmap_empty(stage->told, stage->nranges))
		queue_delayed_work(vrfm_wq, &stage->work, delay);
	spin_unlock_bh(&stage->lock);
	rt_mutex_unlock(&vdev->write_lock);
}

/* ---- claims ---- */

/**
 * vrfm_stage_is_claimed - check whether a program has claimed a range
 * @vdev: device
 * @range: number of the range
 *
 * Context: any.
 * Return: true if a program has claimed it, so that its pages stay writable.
 */
bool vrfm_stage_is_claimed(const struct vrfm_dev *vdev, u32 range)
{
	return READ_ONCE(vdev->stage.claims[range]);
}

static void vrfm_stage_claim(struct vrfm_dev *vdev, u32 range, int change)
{
	struct vrfm_stage *stage = &vdev->stage;

	spin_lock_bh(&stage->lock);
	WRITE_ONCE(stage->claims[range], stage->claims[range] + change);
	spin_unlock_bh(&stage->lock);
}

/**
 * vrfm_claim - claim ranges where a program will store through a mapping
 * @vf: open file
 * @offset: offset of the first byte; the caller has checked vrfm_inside()
 * @len: number of bytes, not 0
 *
 * Context: may sleep.
 * Return: 0; -ENOMEM; -EINTR: killed; -ETIMEDOUT: a range is not staged yet.
 */
int vrfm_claim(struct vrfm_file *vf, u32 offset, u32 len)
{
	u32 range = vrfm_range(offset), last = vrfm_range(offset + len - 1);
	struct vrfm_dev *vdev = vf->vdev;
	int ret = mutex_lock_killable(&vf->claims);

	if (ret)
		return ret;
	if (!vf->claimed)
		vf->claimed = vrfm_ranges_alloc(vdev->params.size);
	if (!vf->claimed) {
		ret = -ENOMEM;
		goto out;
	}
	vrfm_stage_request(vdev, range, last);
	for (; range <= last; range++) {
		if (test_bit(range, vf->claimed))
			continue;
		ret = vrfm_stage_pin(vdev, range);
		if (ret)
			goto out;
		__set_bit(range, vf->claimed);
		vrfm_stage_claim(vdev, range, 1);
	}
out:
	mutex_unlock(&vf->claims);
	return ret;
}

static void vrfm_unclaim_locked(struct vrfm_file *vf, u32 first, u32 last)
{
	u32 range;

	lockdep_assert_held(&vf->claims);
	for (range = first; vf->claimed && range <= last; range++)
		if (__test_and_clear_bit(range, vf->claimed)) {
			vrfm_stage_claim(vf->vdev, range, -1);
			vrfm_stage_unpin(vf->vdev, range, range);
		}
}

/**
 * vrfm_unclaim - end the claim of ranges
 * @vf: open file
 * @offset: offset of the first byte; the caller has checked vrfm_inside()
 * @len: number of bytes, not 0
 *
 * If a claim through the same file is pending, wait for its end.
 *
 * Context: may sleep.
 * Return: 0; -EINTR: killed.
 */
int vrfm_unclaim(struct vrfm_file *vf, u32 offset, u32 len)
{
	int ret = mutex_lock_killable(&vf->claims);

	if (ret)
		return ret;
	vrfm_unclaim_locked(vf, vrfm_range(offset),
			    vrfm_range(offset + len - 1));
	mutex_unlock(&vf->claims);
	return 0;
}

/**
 * vrfm_claims_free - end all claims of a file
 * @vf: file that is being closed
 *
 * Context: may sleep.
 */
void vrfm_claims_free(struct vrfm_file *vf)
{
	mutex_lock(&vf->claims);
	vrfm_unclaim_locked(vf, 0, vf->vdev->stage.nranges - 1);
	mutex_unlock(&vf->claims);
	kvfree(vf->claimed);
}
