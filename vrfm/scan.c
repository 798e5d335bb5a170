// SPDX-License-Identifier: GPL-2.0
/*
 * Stores through mappings: the scanner finds them by comparing pages, and sends
 * them like stores of calls.
 *
 * A page is mapped read-only until a program stores into it. Then it gets a
 * twin, a copy of its content, and becomes writable. The device's scanner
 * compares the page with its twin every flush_us. A difference is a local
 * write: it goes into the twin and to the peers. If no difference was found for
 * quiet_us, the page is write-protected and compared once more, and the twin is
 * freed. So a page that is stored into all the time costs one fault. In a range
 * that a program has claimed, a page stays writable.
 *
 * All other stores into a page with a twin, by calls or by peers, go into the
 * twin as well (vrfm_mem_store()), and are no difference.
 *
 * A page that has a difference is compared and sent under vrfm_dev.write_lock,
 * one page at a time, with room on all links. When the scanner ends a twin, it
 * takes vrfm_dev.write_lock while it holds the lock of the struct page, which
 * the fault handler takes as well. So no task takes the lock of a struct page,
 * write-protects a page, or waits for free memory under vrfm_dev.write_lock.
 * Under the lock of the struct page, the fault handler takes only spinlocks.
 *
 * Lock order: the lock of the struct page, vrfm_dev.waiter_lock,
 * vrfm_dev.write_lock, then the page's spinlock or vrfm_dev.twins_lock.
 */
#include <linux/bitmap.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/sched/rt.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "compat.h"
#include "direct_path.h"
#include "link.h"
#include "mapper.h"
#include "ring.h"
#include "trace.h"
#include "twin.h"
#include "write.h"

/* Bytes of messages for a page in the worst case: every second word differs. */
#define VRFM_FLUSH_ROOM (VRFM_PAGE_WORDS / 2 * 16)
/*
 * Limit of writable pages outside of claimed ranges: an eighth of the memory,
 * and at least 4 MiB.
 */
#define VRFM_TWINS_SHARE 8
#define VRFM_TWINS_MIN (SZ_4M / PAGE_SIZE)
/*
 * Longest wait of a fault for the scanner, in ms. After that, the program
 * repeats the store.
 */
#define VRFM_TWIN_WAIT_MS 1
/*
 * A page that stays writable without stores rests: it is compared less often.
 * The interval is an eighth of the time since its last store, and a millisecond
 * at most.
 */
#define VRFM_REST_SHARE 8
#define VRFM_REST_MAX_NS NSEC_PER_MSEC
/*
 * Longest interval between two attempts to write-protect a page that another
 * user holds (vrfm_page_protect()). The interval doubles with each attempt.
 */
#define VRFM_HELD_MAX_NS (100 * NSEC_PER_MSEC)

static struct kmem_cache *vrfm_twin_cache;

/**
 * vrfm_twins_init - create the cache of twins
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int vrfm_twins_init(void)
{
	vrfm_twin_cache = KMEM_CACHE(vrfm_twin, SLAB_ACCOUNT);
	return vrfm_twin_cache ? 0 : -ENOMEM;
}

/**
 * vrfm_twins_exit - destroy the cache of twins
 *
 * Context: may sleep; no device is left.
 */
void vrfm_twins_exit(void)
{
	kmem_cache_destroy(vrfm_twin_cache);
}

static void *vrfm_page_mem(const struct vrfm_dev *vdev, unsigned long index)
{
	return vdev->mem.vaddr + (index << PAGE_SHIFT);
}

static u32 vrfm_page_range(unsigned long index)
{
	return vrfm_range(index << PAGE_SHIFT);
}

/* ---- faults ---- */

/* Allocate a twin and its page, charged to the program that stores. */
static struct vrfm_twin *vrfm_twin_alloc(unsigned long index)
{
	struct vrfm_twin *twin = kmem_cache_zalloc(vrfm_twin_cache, GFP_KERNEL);

	if (!twin)
		return NULL;
	twin->words = (void *)__get_free_page(GFP_KERNEL_ACCOUNT);
	if (!twin->words) {
		kmem_cache_free(vrfm_twin_cache, twin);
		return NULL;
	}
	twin->index = index;
	twin->changed = ktime_get_ns();
	return twin;
}

static void vrfm_twin_free(struct vrfm_twin *twin)
{
	free_page((unsigned long)twin->words);
	kmem_cache_free(vrfm_twin_cache, twin);
}

/*
 * Copy a page into its twin before the program's first store, and add the twin
 * to the list.
 */
static void vrfm_twin_begin(struct vrfm_dev *vdev, struct vrfm_twin *twin,
			    struct vrfm_family *family)
{
	spinlock_t *lock = vrfm_page_lock(vdev, twin->index << PAGE_SHIFT);

	trace_vrfm_twin(vdev->unit, twin->index << PAGE_SHIFT, true);
	spin_lock_bh(lock);
	memcpy(twin->words, vrfm_page_mem(vdev, twin->index), PAGE_SIZE);
	vdev->twins[twin->index] = twin;
	spin_unlock_bh(lock);
	twin->counted = !vrfm_stage_is_claimed(vdev, vrfm_page_range(twin->index));
	if (twin->counted)
		atomic_inc(&vdev->ncounted);
	spin_lock(&vdev->twins_lock);
	list_add_tail(&twin->entry, &vdev->pages);
	vrfm_mapper_join_locked(vdev, twin, family);
	vdev->faults++;
	spin_unlock(&vdev->twins_lock);
	/*
	 * atomic_inc_return() is a full barrier. This function increments
	 * faults before it reads resting, and the scanner sets resting before
	 * it reads faults. So the scanner notices the fault, or this function
	 * wakes the scanner.
	 */
	if (atomic_inc_return(&vdev->ntwins) == 1 || READ_ONCE(vdev->resting))
		wake_up_process(vdev->scanner);
}

static bool vrfm_twins_are_full(const struct vrfm_dev *vdev)
{
	return atomic_read(&vdev->ncounted) >= vdev->twins_max;
}

/**
 * vrfm_twin_wait - wait until one more page may become writable
 * @vdev: device
 * @index: index of the page
 *
 * A page with a twin, or in a claimed range, may always become writable.
 *
 * Context: may sleep, for a millisecond at most.
 * Return: true if it may become writable; false if the fault must be repeated.
 */
bool vrfm_twin_wait(struct vrfm_dev *vdev, unsigned long index)
{
	if (!vrfm_twins_are_full(vdev) || READ_ONCE(vdev->twins[index]) ||
	    vrfm_stage_is_claimed(vdev, vrfm_page_range(index)))
		return true;
	spin_lock(&vdev->twins_lock);
	vdev->twin_waits++;
	spin_unlock(&vdev->twins_lock);
	wake_up_process(vdev->scanner);
	wait_event_hrtimeout(vdev->twin_wait, !vrfm_twins_are_full(vdev),
			     ms_to_ktime(VRFM_TWIN_WAIT_MS));
	return !vrfm_twins_are_full(vdev);
}

/*
 * Let a family share the twin of page @index, if there is one.
 *
 * Return: true if no new twin is needed: the family has joined, or the device
 * is being destroyed.
 */
static bool vrfm_twin_join(struct vrfm_dev *vdev, struct vrfm_family *family,
			   unsigned long index)
{
	/* Twins are freed only under the lock of the struct page. */
	struct vrfm_twin *twin = vdev->twins[index];

	if (!twin)
		return READ_ONCE(vdev->gone);
	spin_lock(&vdev->twins_lock);
	vrfm_mapper_join_locked(vdev, twin, family);
	spin_unlock(&vdev->twins_lock);
	return true;
}

/**
 * vrfm_twin_make - make a page writable for a family
 * @vdev: device
 * @family: processes that will be able to store into the page
 * @page: struct page, which is locked on success. The caller unlocks it after
 *	the page table entry is writable. Until then the scanner cannot protect
 *	the page
 * @index: index of the page. The caller has pinned its range; this function
 *	passes the pin to a new twin, or releases it
 *
 * A new twin is allocated while @page is unlocked, because allocating takes
 * long if it reclaims memory of the caller's cgroup. The lock of a struct page
 * has no priority inheritance, so a real-time task that waits for it could not
 * speed up the caller.
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int vrfm_twin_make(struct vrfm_dev *vdev, struct vrfm_family *family,
		   struct page *page, unsigned long index)
{
	struct vrfm_twin *spare = NULL;
	u32 range = vrfm_page_range(index);

	lock_page(page);
	while (!vrfm_twin_join(vdev, family, index)) {
		if (spare) {
			vrfm_twin_begin(vdev, spare, family);
			return 0;
		}
		unlock_page(page);
		spare = vrfm_twin_alloc(index);
		if (!spare) {
			vrfm_stage_unpin(vdev, range, range);
			return -ENOMEM;
		}
		lock_page(page);
	}
	if (spare)
		vrfm_twin_free(spare);
	vrfm_stage_unpin(vdev, range, range);
	return 0;
}

/* ---- comparing ---- */

/*
 * Give a comparison the next number. By this number vrfm_barrier_step() finds
 * pages that it has not compared yet.
 */
static void vrfm_compared_locked(struct vrfm_dev *vdev, struct vrfm_twin *twin)
{
	lockdep_assert_held(&vdev->write_lock);
	vdev->scan_counts.compared++;
	spin_lock(&vdev->twins_lock);
	twin->compared = ++vdev->compared;
	list_move_tail(&twin->kin, &twin->family->twins);
	spin_unlock(&vdev->twins_lock);
}

static void vrfm_written_diff(const struct vrfm_written *written,
			      struct vrfm_notice *notice)
{
	const struct vrfm_diff *diff = written->source;
	u32 first, n;

	for (first = vrfm_diff_next(diff, 0, &n); first < VRFM_PAGE_WORDS;
	     first = vrfm_diff_next(diff, first + n, &n))
		vrfm_notice_add(notice, written->offset + first * VRFM_WORD,
				n * VRFM_WORD);
}

/* Notify rings of the stores in vrfm_dev.diff. */
static void vrfm_report_diff(struct vrfm_dev *vdev, u32 offset)
{
	const struct vrfm_written written = {
		.node = vdev->params.node,
		.serial = vdev->serial,
		.each = vrfm_written_diff,
		.source = vdev->diff,
		.offset = offset,
	};

	vrfm_rings_written(vdev, &written);
}

/* Let taps record the stores in vrfm_dev.diff. */
static void vrfm_tap_diff(struct vrfm_dev *vdev, u32 offset)
{
	const struct vrfm_diff *diff = vdev->diff;
	u32 first, n;

	for (first = vrfm_diff_next(diff, 0, &n); first < VRFM_PAGE_WORDS;
	     first = vrfm_diff_next(diff, first + n, &n))
		vrfm_tap_own(vdev, VRFM_REC_FOUND, offset + first * VRFM_WORD,
			     &diff->words[first], n * VRFM_WORD);
}

/*
 * Compare a page, and send the difference. The caller holds
 * vrfm_dev.write_lock, with room on all links.
 */
static void vrfm_compare_locked(struct vrfm_dev *vdev, struct vrfm_twin *twin)
{
	/*
	 * Use the state of the transmitter that vrfm_write_lock() saw. If the
	 * transmitter was off at that time, the links may have no room, even if
	 * it is on by now.
	 */
	bool dark = vdev->dark;
	spinlock_t *lock = vrfm_page_lock(vdev, twin->index << PAGE_SHIFT);
	unsigned long *own = vdev->own + BIT_WORD(twin->index * VRFM_PAGE_WORDS);
	struct vrfm_diff *diff = vdev->diff;
	struct vrfm_link *link;

	lockdep_assert_held(&vdev->write_lock);
	/*
	 * Record the words that have changed. They become own words, unless the
	 * transmitter is off.
	 */
	spin_lock_bh(lock);
	vrfm_diff_take(diff, vrfm_page_mem(vdev, twin->index), twin->words);
	if (diff->n && !dark)
		bitmap_or(own, own, diff->changed, VRFM_PAGE_WORDS);
	if (diff->n)
		vrfm_touched(vdev, twin->index << PAGE_SHIFT, PAGE_SIZE);
	spin_unlock_bh(lock);
	vrfm_compared_locked(vdev, twin);
	if (!diff->n)
		return;
	WRITE_ONCE(twin->changed, ktime_get_ns());
	vdev->scan_counts.changed++;
	vdev->scan_counts.words += diff->n;
	trace_vrfm_scan(vdev->unit, twin->index << PAGE_SHIFT, diff->n, dark);
	vdev->serial += !dark;
	if (vrfm_ranges_are_wanted())
		vrfm_report_diff(vdev, twin->index << PAGE_SHIFT);
	if (vrfm_is_tapped(vdev, VRFM_TAP_KIND(VRFM_REC_FOUND)))
		vrfm_tap_diff(vdev, twin->index << PAGE_SHIFT);
	if (dark)
		return;
	list_for_each_entry(link, &vdev->links, entry)
		vrfm_link_diff(link, twin->index << PAGE_SHIFT, diff);
}

/*
 * Check whether a page differs from its twin, and change nothing. So the caller
 * needs neither vrfm_dev.write_lock nor room for messages to the peers.
 */
static bool vrfm_twin_differs(struct vrfm_dev *vdev,
			      const struct vrfm_twin *twin)
{
	spinlock_t *lock = vrfm_page_lock(vdev, twin->index << PAGE_SHIFT);
	bool differs;

	spin_lock_bh(lock);
	differs = vrfm_diff_any(vrfm_page_mem(vdev, twin->index), twin->words);
	spin_unlock_bh(lock);
	return differs;
}

/* ---- barriers ---- */

static struct vrfm_twin *vrfm_barrier_twin(struct vrfm_dev *vdev,
					   const struct mm_struct *mm,
					   u64 before)
{
	struct vrfm_twin *twin;

	spin_lock(&vdev->twins_lock);
	twin = vrfm_mapper_twin_locked(vdev, mm, before);
	spin_unlock(&vdev->twins_lock);
	return twin;
}

/*
 * Compare one page for a call that must first send earlier stores into
 * mappings. Most pages have no difference, so first compare without waiting for
 * room. If this comparison finds a difference, wait for room and compare again.
 *
 * Return: 1 if more pages may have to be compared; 0 if not; or an error.
 */
static int vrfm_barrier_step(struct vrfm_dev *vdev, const struct mm_struct *mm,
			     u64 before, struct vrfm_wait *wait)
{
	struct vrfm_twin *twin;
	bool differs;
	int ret;

	rt_mutex_lock(&vdev->write_lock);
	twin = vrfm_barrier_twin(vdev, mm, before);
	differs = twin && vrfm_twin_differs(vdev, twin);
	if (twin && !differs)
		vrfm_compared_locked(vdev, twin);
	rt_mutex_unlock(&vdev->write_lock);
	if (!differs)
		return !!twin;
	ret = vrfm_write_lock(vdev, VRFM_FLUSH_ROOM, wait);
	if (ret)
		return ret;
	/*
	 * Find the twin again, because it may have been freed while
	 * vrfm_dev.write_lock was not held.
	 */
	twin = vrfm_barrier_twin(vdev, mm, before);
	if (twin)
		vrfm_compare_locked(vdev, twin);
	rt_mutex_unlock(&vdev->write_lock);
	return !!twin;
}

static int vrfm_barrier(struct vrfm_dev *vdev, const struct mm_struct *mm,
			struct vrfm_wait *wait)
{
	u64 before;
	int ret;

	if (!atomic_read(&vdev->ntwins))
		return 0;
	/* Return early: most callers have no page that must be compared. */
	if (!vrfm_barrier_twin(vdev, mm, U64_MAX))
		return 0;
	/* Later comparisons have higher numbers. */
	rt_mutex_lock(&vdev->write_lock);
	before = vdev->compared;
	rt_mutex_unlock(&vdev->write_lock);
	do {
		ret = vrfm_barrier_step(vdev, mm, before, wait);
		cond_resched();
	} while (ret > 0);
	return ret;
}

/**
 * vrfm_scan_own - send what the caller has stored into mappings
 * @vdev: device
 * @wait: wait of the call for slow peers; all pages add to it
 *
 * The function sends the stores of the caller, and of three kinds of other
 * processes: relatives of the caller by fork() that share the mapping,
 * processes that store into the same pages, and processes that have ended. In a
 * kernel thread, the function sends the stores of all processes.
 *
 * Context: may sleep; vrfm_dev.write_lock is not held.
 * Return: 0; -EAGAIN: the call would wait; -EINTR: killed.
 */
int vrfm_scan_own(struct vrfm_dev *vdev, struct vrfm_wait *wait)
{
	return vrfm_barrier(vdev, current->mm, wait);
}

/**
 * vrfm_scan_all - send what any process has stored into mappings
 * @vdev: device
 * @wait: wait of the call for slow peers; all pages add to it
 *
 * Context: may sleep; vrfm_dev.write_lock is not held.
 * Return: 0; -EAGAIN: the call would wait; -EINTR: killed.
 */
int vrfm_scan_all(struct vrfm_dev *vdev, struct vrfm_wait *wait)
{
	return vrfm_barrier(vdev, NULL, wait);
}

/* ---- the end of a twin ---- */

/*
 * Write-protect a page, and check whether it is held: it has more references
 * than one of the device and one for each page table that maps it. For example,
 * O_DIRECT holds pages while it reads a file into the mapping, and stores
 * without the page tables.
 *
 * fork(), mmap() and munmap() change the reference count and the number of page
 * tables. The count changes first when a page is mapped, and last when it is
 * unmapped. So the number of page tables is read before and after the count. If
 * the number has changed, the page counts as held until the next pass.
 *
 * fork() and mmap() change the reference count and the number of page tables
 * under the lock of a page table, without a barrier between the two changes.
 * vrfm_wrprotect() takes the lock of each page table. So a reference count that
 * is read after vrfm_wrprotect() includes all page tables that were counted
 * before it, also on weakly ordered processors. If the number of page tables
 * changes during vrfm_wrprotect(), the page counts as held. If vrfm_wrprotect()
 * has removed the page from the page tables, they are counted only after it.
 *
 * Return: true if the page is held.
 */
static bool vrfm_page_protect(struct vrfm_dev *vdev, unsigned long index)
{
	struct page *page = vdev->mem.pages[index];
	int count, tables = krdma_page_mapcount(page);

	if (!vrfm_wrprotect(vdev, index))
		tables = krdma_page_mapcount(page);
	else if (tables != krdma_page_mapcount(page))
		return true;
	smp_rmb(); /* read the count after the number of page tables */
	count = page_count(page);
	smp_rmb(); /* read the number of page tables again after the count */
	return count > 1 + tables || tables != krdma_page_mapcount(page);
}

/*
 * Set whether a twin counts for the limit of writable pages. A page that cannot
 * be protected must not count, or faults might wait without end.
 */
static void vrfm_twin_count(struct vrfm_dev *vdev, struct vrfm_twin *twin,
			    bool counted)
{
	if (counted == twin->counted)
		return;
	twin->counted = counted;
	if (counted) {
		atomic_inc(&vdev->ncounted);
	} else {
		atomic_dec(&vdev->ncounted);
		wake_up(&vdev->twin_wait);
	}
}

static void vrfm_twin_drop(struct vrfm_dev *vdev, struct vrfm_twin *twin)
{
	u32 range = vrfm_page_range(twin->index);

	trace_vrfm_twin(vdev->unit, twin->index << PAGE_SHIFT, false);
	atomic_dec(&vdev->ntwins);
	vrfm_twin_count(vdev, twin, false);
	vrfm_twin_free(twin);
	vrfm_stage_unpin(vdev, range, range);
}

static void vrfm_twin_back_off(struct vrfm_dev *vdev, struct vrfm_twin *twin)
{
	twin->held_ns = clamp_t(u64, 2 * twin->held_ns, NSEC_PER_MSEC,
				VRFM_HELD_MAX_NS);
	twin->end_at = ktime_get_ns() + twin->held_ns;
	vrfm_twin_count(vdev, twin, false);
}

/*
 * Write-protect a page, and remove its twin, unless the page differs or is
 * held.
 */
static void vrfm_twin_end(struct vrfm_dev *vdev, struct vrfm_twin *twin)
{
	spinlock_t *lock = vrfm_page_lock(vdev, twin->index << PAGE_SHIFT);
	struct page *page = vdev->mem.pages[twin->index];
	bool held, over;

	/*
	 * If a fault holds the lock, a store into the page will follow, so keep
	 * the twin. While this function holds the lock, a store causes a fault,
	 * which waits for the lock.
	 */
	if (!trylock_page(page))
		return;
	/*
	 * First check whether the page is held, and then compare the page. So
	 * if a holder has just released the page, the comparison finds its
	 * stores.
	 */
	held = vrfm_page_protect(vdev, twin->index);
	smp_rmb(); /* read the page after its reference count */
	vdev->scan_counts.protected++;
	vdev->scan_counts.held += held;
	/*
	 * Remove the twin under vrfm_dev.write_lock. All stores into the page
	 * were sent before. So a call that does not find the twin has nothing
	 * to send.
	 */
	rt_mutex_lock(&vdev->write_lock);
	over = !vrfm_twin_differs(vdev, twin) && !held;
	if (over) {
		spin_lock_bh(lock);
		vdev->twins[twin->index] = NULL;
		spin_unlock_bh(lock);
		spin_lock(&vdev->twins_lock);
		list_del(&twin->entry);
		list_del(&twin->kin);
		spin_unlock(&vdev->twins_lock);
	}
	rt_mutex_unlock(&vdev->write_lock);
	unlock_page(page);
	vdev->progress |= over;
	if (over)
		vrfm_twin_drop(vdev, twin);
	else if (held)
		vrfm_twin_back_off(vdev, twin);
	else
		twin->held_ns = 0;
}

/* ---- the scanner ---- */

/*
 * Check whether a page is claimed, and update whether its twin counts for the
 * limit of writable pages. Claims may begin and end while the page is writable.
 */
static bool vrfm_twin_is_claimed(struct vrfm_dev *vdev, struct vrfm_twin *twin)
{
	u32 range = vrfm_page_range(twin->index);
	bool claimed = vrfm_stage_is_claimed(vdev, range);

	vrfm_twin_count(vdev, twin, !claimed && !twin->held_ns);
	return claimed;
}

/*
 * Handle a page without a difference. If the page must stay writable, compare
 * it less often from now on. If not, end its twin after quiet_us, or at once if
 * too many pages are writable.
 */
static void vrfm_scanner_rest(struct vrfm_dev *vdev, struct vrfm_twin *twin)
{
	u64 now = ktime_get_ns(), quiet = now - READ_ONCE(twin->changed);
	bool stays = vrfm_twin_is_claimed(vdev, twin) || now < twin->end_at;

	if (stays) {
		twin->look_at = now + min_t(u64, quiet / VRFM_REST_SHARE,
					    VRFM_REST_MAX_NS);
		vdev->due = min(vdev->due, twin->look_at);
		return;
	}
	vdev->due = 0;
	if (quiet > READ_ONCE(vdev->params.quiet_us) * NSEC_PER_USEC ||
	    vrfm_twins_are_full(vdev))
		vrfm_twin_end(vdev, twin);
}

/* Compare the next page. Return false if no page has a twin. */
static bool vrfm_scanner_step(struct vrfm_dev *vdev)
{
	struct vrfm_twin *twin;
	struct vrfm_wait wait;

	/* Only the scanner frees twins, so it needs no lock to use the twin. */
	spin_lock(&vdev->twins_lock);
	twin = list_first_entry_or_null(&vdev->pages, struct vrfm_twin, entry);
	if (twin)
		list_move_tail(&twin->entry, &vdev->pages);
	spin_unlock(&vdev->twins_lock);
	if (!twin)
		return false;
	if (ktime_get_ns() < twin->look_at) {
		vdev->due = min(vdev->due, twin->look_at);
		return true;
	}
	if (!vrfm_twin_differs(vdev, twin)) {
		vrfm_scanner_rest(vdev, twin);
		return true;
	}
	vdev->due = 0;
	wait = vrfm_wait_begin(false);
	if (vrfm_write_lock(vdev, VRFM_FLUSH_ROOM, &wait))
		return true;
	vrfm_compare_locked(vdev, twin);
	rt_mutex_unlock(&vdev->write_lock);
	vdev->progress = true;
	/*
	 * If too many pages are writable, end the twin of this page, although
	 * the page differed. Otherwise a page that differs in each pass would
	 * always keep its twin, while faults on other pages wait.
	 */
	if (vrfm_twins_are_full(vdev) && !vrfm_twin_is_claimed(vdev, twin) &&
	    ktime_get_ns() >= twin->end_at)
		vrfm_twin_end(vdev, twin);
	return true;
}

/*
 * Check whether the scanner must begin its next pass at once. This is so if too
 * many pages are writable and the next pass may free a twin, if a twin was
 * created while all pages rested, or if the scanner must stop.
 */
static bool vrfm_scanner_must_wake(const struct vrfm_dev *vdev)
{
	bool made = READ_ONCE(vdev->faults) != vdev->faults_seen;

	return ((made || vdev->progress) && vrfm_twins_are_full(vdev)) ||
	       (made && vdev->resting) || kthread_should_stop();
}

/*
 * Sleep for flush_us, or until the first page is due if all pages rest. A fault
 * wakes the scanner if the fault waits for a free twin, or has created a twin
 * while pages rest.
 */
static void vrfm_scanner_sleep(struct vrfm_dev *vdev)
{
	/*
	 * A real-time scanner sleeps for 1 us at least, because yield() would
	 * let only tasks of its own class run.
	 */
	u64 us = max_t(u64, READ_ONCE(vdev->params.flush_us), rt_task(current));
	ktime_t until = ktime_add_us(ktime_get(), us);
	bool rests = vdev->due != U64_MAX && vdev->due > ktime_to_ns(until);

	/*
	 * With flush_us 0 the scanner compares all the time. yield() lets
	 * programs that store or receive use this processor at once;
	 * cond_resched() would do so only after a whole time slice.
	 */
	if (!us && !rests) {
		yield();
		return;
	}
	if (rests)
		until = ns_to_ktime(vdev->due);
	WRITE_ONCE(vdev->resting, rests);
	do {
		set_current_state(TASK_IDLE);
		if (vrfm_scanner_must_wake(vdev))
			break;
	} while (schedule_hrtimeout_range(&until, us / 4 * NSEC_PER_USEC,
					  HRTIMER_MODE_ABS));
	__set_current_state(TASK_RUNNING);
	WRITE_ONCE(vdev->resting, false);
}

static int vrfm_scanner(void *arg)
{
	struct vrfm_dev *vdev = arg;
	int left;

	while (!kthread_should_stop()) {
		set_current_state(TASK_INTERRUPTIBLE);
		if (!atomic_read(&vdev->ntwins) && !kthread_should_stop())
			schedule();
		__set_current_state(TASK_RUNNING);
		if (!atomic_read(&vdev->ntwins))
			continue;
		vrfm_scanner_sleep(vdev);
		/* Begin a pass. Only the scanner writes these members. */
		vdev->scan_counts.passes++;
		vdev->due = U64_MAX;
		vdev->progress = false;
		vdev->faults_seen = READ_ONCE(vdev->faults);
		left = atomic_read(&vdev->ntwins);
		while (left-- && vrfm_scanner_step(vdev))
			cond_resched();
	}
	return 0;
}

/**
 * vrfm_scan_init - prepare a device for stores into mappings
 * @vdev: device, with its memory
 *
 * Context: may sleep.
 * Return: 0 or an error; vrfm_scan_free() may be called after an error.
 */
int vrfm_scan_init(struct vrfm_dev *vdev)
{
	struct task_struct *task;

	vrfm_mappers_init(vdev);
	init_waitqueue_head(&vdev->twin_wait);
	vdev->twins_max = max_t(u32, vdev->mem.npages / VRFM_TWINS_SHARE,
				VRFM_TWINS_MIN);
	vdev->twins =
		kvcalloc(vdev->mem.npages, sizeof(*vdev->twins), GFP_KERNEL);
	vdev->diff = kvmalloc(sizeof(*vdev->diff), GFP_KERNEL);
	if (!vdev->twins || !vdev->diff)
		return -ENOMEM;
	task = kthread_run(vrfm_scanner, vdev, "%s", dev_name(&vdev->dev));
	if (IS_ERR(task))
		return PTR_ERR(task);
	vdev->scanner = task;
	return 0;
}

/**
 * vrfm_scan_free - undo vrfm_scan_init()
 * @vdev: device that nothing maps any more
 *
 * Context: may sleep.
 */
void vrfm_scan_free(struct vrfm_dev *vdev)
{
	struct vrfm_twin *twin, *next;

	if (vdev->scanner) {
		kthread_stop(vdev->scanner);
		list_for_each_entry_safe(twin, next, &vdev->pages, entry)
			vrfm_twin_drop(vdev, twin);
	}
	kvfree(vdev->diff);
	kvfree(vdev->twins);
}
