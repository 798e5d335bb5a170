// SPDX-License-Identifier: GPL-2.0
/*
 * Mapped stores: found by comparing, and sent as if they had been calls.
 *
 * A page is mapped read-only until a program stores into it. Then it gets a
 * twin and becomes writable, and the device's flusher compares the two again and
 * again, flush_us after each other. What it finds is a local write: it goes into
 * the twin and to the peers. When nothing was found for a millisecond the page
 * is write-protected, compared once more, and its twin goes. So a page that is
 * stored into all the time costs one fault, and no page costs anything for long.
 *
 * Whatever else is stored into a page with a twin, by calls or by peers, is
 * stored into the twin, too (vrfm_region_put()), and is no difference.
 *
 * Lock order: vrfm_dev.flush, then vrfm_dev.turn and vrfm_dev.order, then the
 * lock of the struct page, which keeps faults away, then the page's spinlock.
 * The fault handler holds the struct page's lock and takes only spinlocks.
 */
#include <linux/bitmap.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "compat.h"
#include "link.h"
#include "priv.h"
#include "trace.h"
#include "twin.h"
#include "way.h"

/* A page is protected when nothing was stored into it for so long. */
#define VRFM_QUIET_NS NSEC_PER_MSEC
/* Every second word of a page, the most that a page can need: 16 bytes each. */
#define VRFM_FLUSH_ROOM (VRFM_PAGE_WORDS / 2 * 16)
/* Who would not wait looks so often whether the other one has compared. */
#define VRFM_FLUSH_LOOK_US 10

static void *vrfm_page_mem(const struct vrfm_dev *vdev, unsigned long index)
{
	return vdev->region.mem + (index << PAGE_SHIFT);
}

/* ---- faults ---- */

/* The page's first store: what was there before it, and nothing else. */
static void vrfm_twin_begin(struct vrfm_dev *vdev, struct vrfm_twin *twin)
{
	spinlock_t *lock = vrfm_page_lock(vdev, twin->index << PAGE_SHIFT);

	trace_vrfm_twin(vdev->unit, twin->index << PAGE_SHIFT, true);
	spin_lock_bh(lock);
	memcpy(twin->words, vrfm_page_mem(vdev, twin->index), PAGE_SIZE);
	vdev->twins[twin->index] = twin;
	spin_unlock_bh(lock);
	spin_lock(&vdev->fresh_lock);
	list_add_tail(&twin->entry, &vdev->fresh);
	vdev->faults++;
	spin_unlock(&vdev->fresh_lock);
	atomic_inc(&vdev->ntwins);
	wake_up_process(vdev->flusher);
}

static u32 vrfm_page_range(unsigned long index)
{
	return vrfm_range(index << PAGE_SHIFT);
}

static int vrfm_twin_new(struct vrfm_dev *vdev, unsigned long index)
{
	struct vrfm_twin *twin;

	twin = kmalloc(sizeof(*twin), GFP_KERNEL);
	if (!twin)
		return -ENOMEM;
	twin->index = index;
	twin->changed = ktime_get_ns();
	vrfm_twin_begin(vdev, twin);
	return 0;
}

/**
 * vrfm_twin_make - a page becomes writable
 * @vdev: device
 * @index: of the page, whose struct page is locked, and whose range is pinned:
 *	that is the twin's affair from now on
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int vrfm_twin_make(struct vrfm_dev *vdev, unsigned long index)
{
	u32 range = vrfm_page_range(index);
	int ret = 0;

	/* It goes only under the lock of the struct page. */
	if (vdev->twins[index] || READ_ONCE(vdev->gone))
		vrfm_stage_put(vdev, range, range);
	else
		ret = vrfm_twin_new(vdev, index);
	if (ret)
		vrfm_stage_put(vdev, range, range);
	return ret;
}

/* ---- comparing ---- */

static void vrfm_diff_own(struct vrfm_dev *vdev, unsigned long index,
			  const struct vrfm_diff *diff)
{
	unsigned long *own = vdev->own + BIT_WORD(index * VRFM_PAGE_WORDS);

	bitmap_or(own, own, diff->changed, VRFM_PAGE_WORDS);
}

/* The values are those of one moment, and this node's from now on. */
static void vrfm_compare_page(struct vrfm_dev *vdev, struct vrfm_twin *twin,
			      bool dark)
{
	spinlock_t *lock = vrfm_page_lock(vdev, twin->index << PAGE_SHIFT);
	struct vrfm_diff *diff = vdev->diff;

	spin_lock_bh(lock);
	vrfm_diff_take(diff, vrfm_page_mem(vdev, twin->index), twin->words);
	if (diff->n && !dark)
		vrfm_diff_own(vdev, twin->index, diff);
	if (diff->n)
		vrfm_touched(vdev, twin->index << PAGE_SHIFT, PAGE_SIZE);
	spin_unlock_bh(lock);
	if (diff->n)
		twin->changed = ktime_get_ns();
}

static void vrfm_send_diff_locked(struct vrfm_dev *vdev, unsigned long index)
{
	struct vrfm_link *link;

	vdev->serial++;
	list_for_each_entry(link, &vdev->links, entry)
		vrfm_link_diff(link, index << PAGE_SHIFT, vdev->diff);
}

/* The order is held and has room. */
static void vrfm_compare_locked(struct vrfm_dev *vdev, struct vrfm_twin *twin)
{
	bool dark = vrfm_is_dark(vdev);

	vrfm_compare_page(vdev, twin, dark);
	vdev->flush_counts.compared++;
	vdev->flush_counts.changed += !!vdev->diff->n;
	vdev->flush_counts.words += vdev->diff->n;
	if (vdev->diff->n)
		trace_vrfm_flush(vdev->unit, twin->index << PAGE_SHIFT,
				 vdev->diff->n, dark);
	if (vdev->diff->n && !dark)
		vrfm_send_diff_locked(vdev, twin->index);
}

/*
 * A page is held if it has references besides the device's and those of page
 * tables: O_DIRECT reading a file into the mapping, for example, stores without
 * the page tables.
 *
 * fork(), mmap() and munmap() change both numbers, the count first when a page
 * is mapped and last when it is unmapped. So the count is compared only with a
 * number of page tables that is the same before and after it was read. If that
 * number moves, the page counts as held until the next pass.
 */
static bool vrfm_page_is_held(struct page *page)
{
	int tables = krdma_page_mapcount(page), count;

	smp_rmb(); /* the count is not older than the tables */
	count = page_count(page);
	smp_rmb(); /* and not newer than the tables below */
	return count > 1 + tables || tables != krdma_page_mapcount(page);
}

/* Nothing can be stored any more; what has been is found; then the twin goes. */
static bool vrfm_twin_end_locked(struct vrfm_dev *vdev, struct vrfm_twin *twin)
{
	spinlock_t *lock = vrfm_page_lock(vdev, twin->index << PAGE_SHIFT);
	struct page *page = vdev->region.pages[twin->index];
	bool over;

	lock_page(page);
	vrfm_wrprotect(vdev, twin->index);
	/* First: who lets go of it now has stored before. Nobody new gets it. */
	over = !vrfm_page_is_held(page);
	smp_rmb(); /* what he stored is seen */
	vrfm_compare_locked(vdev, twin);
	vdev->flush_counts.protected++;
	vdev->flush_counts.held += !over;
	if (over) {
		spin_lock_bh(lock);
		vdev->twins[twin->index] = NULL;
		spin_unlock_bh(lock);
	}
	unlock_page(page);
	return over;
}

static void vrfm_twin_drop(struct vrfm_dev *vdev, struct vrfm_twin *twin)
{
	u32 range = vrfm_page_range(twin->index);

	trace_vrfm_twin(vdev->unit, twin->index << PAGE_SHIFT, false);
	list_del(&twin->entry);
	atomic_dec(&vdev->ntwins);
	kfree(twin);
	vrfm_stage_put(vdev, range, range);
}

/* One page, in a step of the order of its own: waits until there is room. */
static int vrfm_flush_twin(struct vrfm_dev *vdev, struct vrfm_twin *twin,
			   bool protect, const struct vrfm_wait *wait)
{
	bool over = false;
	int ret;

	ret = vrfm_order_lock(vdev, VRFM_FLUSH_ROOM, wait);
	if (ret)
		return ret;
	vrfm_compare_locked(vdev, twin);
	/* The room is for one difference: only who found none looks again. */
	if (protect && !vdev->diff->n &&
	    ktime_get_ns() - twin->changed > VRFM_QUIET_NS)
		over = vrfm_twin_end_locked(vdev, twin);
	rt_mutex_unlock(&vdev->order);
	if (over)
		vrfm_twin_drop(vdev, twin);
	return 0;
}

static void vrfm_take_fresh(struct vrfm_dev *vdev)
{
	spin_lock(&vdev->fresh_lock);
	list_splice_tail_init(&vdev->fresh, &vdev->active);
	spin_unlock(&vdev->fresh_lock);
}

static int vrfm_flush_locked(struct vrfm_dev *vdev,
			     const struct vrfm_wait *wait)
{
	struct vrfm_twin *twin, *next;
	int ret = 0;

	vrfm_take_fresh(vdev);
	list_for_each_entry_safe(twin, next, &vdev->active, entry) {
		ret = vrfm_flush_twin(vdev, twin, false, wait);
		if (ret)
			break;
		cond_resched();
	}
	return ret;
}

/*
 * To compare takes little, and that is waited for. But who has the mutex may
 * begin to wait for a peer at any time: then who would not wait goes.
 */
static int vrfm_flush_lock(struct vrfm_dev *vdev, const struct vrfm_wait *wait)
{
	if (!wait->nowait)
		return mutex_lock_killable(&vdev->flush);
	while (!mutex_trylock(&vdev->flush)) {
		if (atomic_read(&vdev->waiting))
			return -EAGAIN;
		if (fatal_signal_pending(current))
			return -EINTR;
		usleep_range(VRFM_FLUSH_LOOK_US, 2 * VRFM_FLUSH_LOOK_US);
	}
	return 0;
}

/**
 * vrfm_flush_stores - a barrier: what was stored into mappings comes before what follows
 * @vdev: device
 * @wait: how long it waits for a peer, all pages together
 *
 * Context: may sleep; without the device's order.
 * Return: 0; -EAGAIN; -EINTR: killed.
 */
int vrfm_flush_stores(struct vrfm_dev *vdev, const struct vrfm_wait *wait)
{
	int ret;

	if (!atomic_read(&vdev->ntwins))
		return 0;
	ret = vrfm_flush_lock(vdev, wait);
	if (ret)
		return ret;
	ret = vrfm_flush_locked(vdev, wait);
	mutex_unlock(&vdev->flush);
	return ret;
}

/* ---- the flusher ---- */

static void vrfm_flusher_sleep(const struct vrfm_dev *vdev)
{
	u64 us = READ_ONCE(vdev->params.flush_us);

	/*
	 * With 0 it looks all the time, and waits for nobody: but who stores,
	 * and who receives, may need this very processor. cond_resched() would
	 * leave it to them a whole slice later.
	 */
	if (us)
		usleep_range(us, us + us / 4 + 1);
	else
		yield();
}

/* Return: was there one? */
static bool vrfm_flusher_step(struct vrfm_dev *vdev)
{
	const struct vrfm_wait wait = vrfm_wait_begin(vdev, false);
	struct vrfm_twin *twin;

	mutex_lock(&vdev->flush);
	vrfm_take_fresh(vdev);
	twin = list_first_entry_or_null(&vdev->active, struct vrfm_twin, entry);
	if (twin) {
		list_move_tail(&twin->entry, &vdev->active);
		vrfm_flush_twin(vdev, twin, true, &wait);
	}
	mutex_unlock(&vdev->flush);
	cond_resched();
	return twin;
}

/*
 * Page by page, and each may wait for a peer: a call that comes meanwhile waits
 * for one of them at most.
 */
static void vrfm_flusher_pass(struct vrfm_dev *vdev)
{
	int left = atomic_read(&vdev->ntwins);

	/* The flusher alone writes it. */
	vdev->flush_counts.passes++;
	while (left-- && vrfm_flusher_step(vdev))
		;
}

static int vrfm_flusher(void *arg)
{
	struct vrfm_dev *vdev = arg;

	while (!kthread_should_stop()) {
		set_current_state(TASK_INTERRUPTIBLE);
		if (!atomic_read(&vdev->ntwins) && !kthread_should_stop())
			schedule();
		__set_current_state(TASK_RUNNING);
		if (!atomic_read(&vdev->ntwins))
			continue;
		vrfm_flusher_sleep(vdev);
		vrfm_flusher_pass(vdev);
	}
	return 0;
}

/**
 * vrfm_flush_init - make a device ready for mapped stores
 * @vdev: device, with its memory
 *
 * Context: may sleep.
 * Return: 0 or an error; then vrfm_flush_free() is right, too.
 */
int vrfm_flush_init(struct vrfm_dev *vdev)
{
	struct task_struct *task;

	mutex_init(&vdev->flush);
	spin_lock_init(&vdev->fresh_lock);
	INIT_LIST_HEAD(&vdev->fresh);
	INIT_LIST_HEAD(&vdev->active);
	vdev->twins = kvcalloc(vdev->region.npages, sizeof(*vdev->twins),
			       GFP_KERNEL);
	vdev->diff = kvmalloc(sizeof(*vdev->diff), GFP_KERNEL);
	if (!vdev->twins || !vdev->diff)
		return -ENOMEM;
	task = kthread_run(vrfm_flusher, vdev, "%s", dev_name(&vdev->dev));
	if (IS_ERR(task))
		return PTR_ERR(task);
	vdev->flusher = task;
	return 0;
}

/**
 * vrfm_flush_free - end of it
 * @vdev: device that nothing maps any more
 *
 * Context: may sleep.
 */
void vrfm_flush_free(struct vrfm_dev *vdev)
{
	struct vrfm_twin *twin, *next;

	if (vdev->flusher) {
		kthread_stop(vdev->flusher);
		vrfm_take_fresh(vdev);
		list_for_each_entry_safe(twin, next, &vdev->active, entry)
			vrfm_twin_drop(vdev, twin);
	}
	kvfree(vdev->diff);
	kvfree(vdev->twins);
}
