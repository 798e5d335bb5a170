// SPDX-License-Identifier: GPL-2.0
/*
 * Watching: a program sleeps until a part of the memory changes.
 *
 * A store by a call, or by a message of a peer, calls vrfm_touched() with the
 * page's lock held. The scanner does so when it finds stores into mappings.
 * vrfm_touched() wakes the watchers of the changed bytes, which then compare
 * without a lock. Without watchers, vrfm_touched() only reads a counter.
 *
 * This node does not notice direct writes of peers. So a watcher pins the
 * ranges of its part, and peers send messages instead. A watcher is also woken
 * when its ranges become staged, and compares once more.
 */
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "device.h"
#include "twin.h"
#include "watch.h"

/*
 * Add a watcher to the list. A task that stores checks for watchers while it
 * holds the lock of the page. So take the lock of each watched page once. After
 * that, the task sees the watcher, or the watcher sees the store.
 */
static void vrfm_watch_begin(struct vrfm_dev *vdev,
			     struct vrfm_watcher *watcher)
{
	u32 page, last = (watcher->end - 1) >> PAGE_SHIFT;

	spin_lock_bh(&vdev->watch_lock);
	list_add_tail(&watcher->entry, &vdev->watchers);
	WRITE_ONCE(vdev->nwatchers, vdev->nwatchers + 1);
	watcher->cancelled = READ_ONCE(vdev->gone);
	spin_unlock_bh(&vdev->watch_lock);
	for (page = watcher->first >> PAGE_SHIFT; page <= last; page++) {
		spin_lock_bh(vrfm_page_lock(vdev, page << PAGE_SHIFT));
		spin_unlock_bh(vrfm_page_lock(vdev, page << PAGE_SHIFT));
	}
}

/*
 * Pin the ranges that are staged by now. Return true if all ranges have become
 * staged, so that the watcher must compare once more.
 */
static bool vrfm_watch_stage(struct vrfm_dev *vdev,
			     struct vrfm_watcher *watcher)
{
	u32 first = vrfm_range(watcher->first);
	u32 i, n = vrfm_range(watcher->end - 1) - first + 1;
	bool all = true;

	if (watcher->staged)
		return false;
	for (i = 0; i < n; i++) {
		if (!watcher->pinned[i])
			watcher->pinned[i] = vrfm_stage_try(vdev, first + i);
		all = all && watcher->pinned[i];
	}
	spin_lock_bh(&vdev->watch_lock);
	watcher->staged = all;
	spin_unlock_bh(&vdev->watch_lock);
	return all;
}

/*
 * Wait until the part changes. A watcher that is woken before it sleeps loops
 * without sleeping, so check the timeout and signals in the loop. For the
 * reason of the high-resolution timer see vrfm_event_sleep().
 */
static int vrfm_watch_wait(struct vrfm_dev *vdev, struct vrfm_watcher *watcher,
			   const void *seen, u32 *at)
{
	const void *mem = vdev->mem.vaddr + watcher->first;
	u32 len = watcher->end - watcher->first;
	ktime_t left = KTIME_MAX;

	for (;;) {
		/*
		 * Clear @touched before comparing, so that a later store, or
		 * staging, sets @touched again.
		 */
		spin_lock_bh(&vdev->watch_lock);
		watcher->touched = false;
		spin_unlock_bh(&vdev->watch_lock);
		*at = vrfm_first_difference(mem, seen, len);
		if (*at < len)
			return 0;
		if (watcher->until != KTIME_MAX)
			left = max_t(ktime_t, 0,
				     ktime_sub(watcher->until, ktime_get()));
		if (READ_ONCE(watcher->cancelled))
			return -EIDRM;
		if (signal_pending(current))
			return -ERESTARTNOHAND;
		if (!left)
			return -ETIMEDOUT;
		if (vrfm_watch_stage(vdev, watcher))
			continue;
		wait_event_interruptible_hrtimeout(watcher->wait,
						   READ_ONCE(watcher->touched) ||
						   READ_ONCE(watcher->cancelled),
						   left);
		cond_resched();
	}
}

/**
 * vrfm_watch - wait until a part of the memory changes
 * @vdev: device
 * @file: file that the task waits through; closing it ends the wait
 * @watch: valid request, inside the memory; its member changed is set to the
 *	offset of the first change
 *
 * Context: may sleep.
 * Return: 0; -EFAULT; -ENOMEM; -ETIMEDOUT; -EIDRM: cancelled; -ERESTARTNOHAND
 * as from vrfm_event_wait(). If &vrfm_watch.old is 0, -EINTR is returned
 * instead: a restarted call would not know the old content.
 */
int vrfm_watch(struct vrfm_dev *vdev, struct file *file,
	       struct vrfm_watch *watch)
{
	struct vrfm_watcher watcher = {
		.first = watch->offset,
		.end = watch->offset + watch->length,
		.until = watch->timeout_ms == VRFM_FOREVER ? KTIME_MAX :
			 ktime_add_ms(ktime_get(), watch->timeout_ms),
		.file = file,
		.owner = current->files,
	};
	u32 i, at = 0, range = vrfm_range(watch->offset);
	void *seen;
	int ret = 0;

	seen = kvmalloc(watch->length, GFP_KERNEL_ACCOUNT);
	if (!seen)
		return -ENOMEM;
	init_waitqueue_head(&watcher.wait);
	vrfm_watch_begin(vdev, &watcher);
	/* If the program does not give the old content, get the present one. */
	if (!watch->old)
		memcpy(seen, vdev->mem.vaddr + watch->offset, watch->length);
	else if (copy_from_user(seen, u64_to_user_ptr(watch->old),
				watch->length))
		ret = -EFAULT;
	if (!ret)
		ret = vrfm_watch_wait(vdev, &watcher, seen, &at);
	spin_lock_bh(&vdev->watch_lock);
	WRITE_ONCE(vdev->nwatchers, vdev->nwatchers - 1);
	list_del(&watcher.entry);
	spin_unlock_bh(&vdev->watch_lock);
	for (i = 0; i < VRFM_WATCH_RANGES; i++)
		if (watcher.pinned[i])
			vrfm_stage_unpin(vdev, range + i, range + i);
	kvfree(seen);
	if (ret == -ERESTARTNOHAND && !watch->old)
		ret = -EINTR;
	watch->changed = ret ? 0 : watch->offset + at;
	return ret;
}

/**
 * vrfm_watches_cancel - end watches of a process through a file
 * @vdev: device
 * @file: file of these watches; NULL ends all watches of all files
 * @owner: owner, as in flush()
 */
void vrfm_watches_cancel(struct vrfm_dev *vdev, const struct file *file,
			 fl_owner_t owner)
{
	struct vrfm_watcher *watcher;

	spin_lock_bh(&vdev->watch_lock);
	list_for_each_entry(watcher, &vdev->watchers, entry) {
		if (file && (watcher->file != file || watcher->owner != owner))
			continue;
		WRITE_ONCE(watcher->cancelled, true);
		wake_up(&watcher->wait);
	}
	spin_unlock_bh(&vdev->watch_lock);
}
