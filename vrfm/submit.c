// SPDX-License-Identifier: GPL-2.0
/*
 * Submissions: execute the batches that a program has put into the entries of a
 * ring, and wait for their acknowledgments.
 *
 * Each entry is copied once, and the copy is checked and executed like the
 * operations of VRFM_BATCH. The memory for the copies exists since the ring was
 * created, so taking entries allocates nothing, except the marks of batches with
 * VRFM_OP_ACKED, which are kept and used again.
 *
 * A batch with VRFM_OP_ACKED is tracked until each peer that was READY has
 * applied it, or is not READY any more. While batches are tracked, the ring is
 * in vrfm_dev.room, the wait queue of those who wait for peers, and a change
 * there starts a work. Peers acknowledge messages in their order, so the work
 * checks the oldest batch only, and the next one if that has ended.
 */
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "link.h"
#include "ops.h"
#include "ring.h"
#include "submits.h"
#include "write.h"

/* Longest wait for the acknowledgments of a batch, in ms. */
#define VRFM_DONE_MS 10000
/* Flags that the last operation of a submitted batch may have. */
#define VRFM_SUBMIT_FLAGS (VRFM_OP_DONE | VRFM_OP_ACKED | VRFM_OP_NOFLUSH)
/* Largest number of bytes of a batch, with the padding of each operation. */
#define VRFM_SUBMIT_ROOM (VRFM_BATCH_BYTES + VRFM_BATCH_OPS * VRFM_WIRE_ALIGN)

/**
 * struct vrfm_submit - submissions of a ring
 * @ring: the ring
 * @lock: held while entries are taken; protects the next three members
 * @entries: the entries of the program
 * @op: copy of the operations of a batch
 * @data: room for the bytes of a batch
 * @checking: held while tracked batches are checked
 * @room: entry in vrfm_dev.room while batches are tracked; under @checking
 * @work: checks tracked batches
 * @dones: completions, one for each entry
 */
struct vrfm_submit {
	struct vrfm_ring_ctx *ring;
	struct mutex lock; /* see @lock */
	struct vrfm_submits entries;
	struct vrfm_op op[VRFM_BATCH_OPS];
	void *data;
	struct mutex checking; /* see @checking */
	struct wait_queue_entry room;
	struct delayed_work work;
	struct vrfm_done dones[];
};

/* ---- tracked batches ---- */

static struct vrfm_done *vrfm_done_oldest(struct vrfm_ring_ctx *ring)
{
	struct vrfm_done *done;

	spin_lock_bh(&ring->lock);
	done = list_first_entry_or_null(&ring->dones.tracked, struct vrfm_done,
					entry);
	spin_unlock_bh(&ring->lock);
	return done;
}

/* Check whether a tracked batch has ended, and set its result. */
static bool vrfm_done_is_over(struct vrfm_done *done)
{
	struct vrfm_flush flush = { .absent = done->absent };

	done->first = vrfm_marks_count(done->marks, done->nmarks, &flush);
	if (!flush.behind)
		done->result = 0;
	else if (!ktime_before(ktime_get(), done->deadline))
		done->result = -ETIMEDOUT;
	else
		return false;
	done->reached = flush.reached;
	done->behind = flush.behind;
	done->absent = flush.absent;
	return true;
}

/* Report the tracked batches that have ended. */
static void vrfm_submit_check(struct vrfm_submit *submit)
{
	struct vrfm_ring_ctx *ring = submit->ring;
	struct vrfm_done *done;
	s64 left_us;

	lockdep_assert_held(&submit->checking);
	for (;;) {
		done = vrfm_done_oldest(ring);
		if (!done) {
			remove_wait_queue(&ring->vdev->room, &submit->room);
			return;
		}
		if (!vrfm_done_is_over(done))
			break;
		vrfm_marks_put(done->marks, done->nmarks);
		spin_lock_bh(&ring->lock);
		list_del(&done->entry);
		vrfm_done_complete_locked(ring, done);
		spin_unlock_bh(&ring->lock);
		/* After the removal of the device, no reader waits for more. */
		if (READ_ONCE(ring->gone))
			wake_up_all(&ring->wait);
	}
	left_us = max_t(s64, ktime_us_delta(done->deadline, ktime_get()), 0);
	queue_delayed_work(vrfm_wq, &submit->work,
			   usecs_to_jiffies(left_us) + 1);
}

static void vrfm_submit_work(struct work_struct *work)
{
	struct vrfm_submit *submit = container_of(to_delayed_work(work),
						  struct vrfm_submit, work);

	mutex_lock(&submit->checking);
	if (vrfm_done_oldest(submit->ring))
		vrfm_submit_check(submit);
	mutex_unlock(&submit->checking);
}

/* A peer has acknowledged messages, or its state has changed. */
static int vrfm_submit_room(struct wait_queue_entry *room, unsigned int mode,
			    int flags, void *key)
{
	struct vrfm_submit *submit = container_of(room, struct vrfm_submit,
						  room);

	mod_delayed_work(vrfm_wq, &submit->work, 0);
	return 0;
}

/* Track a batch that was executed, until the peers have applied it. */
static void vrfm_submit_track(struct vrfm_submit *submit,
			      struct vrfm_done *done)
{
	struct vrfm_ring_ctx *ring = submit->ring;

	done->deadline = ktime_add_ms(ktime_get(), VRFM_DONE_MS);
	mutex_lock(&submit->checking);
	if (!vrfm_done_oldest(ring))
		add_wait_queue(&ring->vdev->room, &submit->room);
	spin_lock_bh(&ring->lock);
	list_add_tail(&done->entry, &ring->dones.tracked);
	spin_unlock_bh(&ring->lock);
	/*
	 * Be in the queue before the peers are checked. Pairs with the barrier
	 * of wq_has_sleeper() in vrfm_wake_writers().
	 */
	smp_mb();
	vrfm_submit_check(submit);
	mutex_unlock(&submit->checking);
}

/* ---- entries ---- */

/* Check and execute a batch. @done gets what its record shows. */
static int vrfm_submit_execute(struct vrfm_submit *submit, u32 n, u8 flags,
			       struct vrfm_done *done, bool nowait)
{
	struct vrfm_dev *vdev = submit->ring->vdev;
	struct vrfm_ops ops = {
		.op = submit->op,
		.count = min_t(u32, n, VRFM_BATCH_OPS),
		.data = submit->data,
	};
	struct vrfm_execution execution = { .flags = flags, .nowait = nowait };
	int ret;

	done->failed = ops.count - 1;
	if (n > VRFM_BATCH_OPS)
		return -E2BIG;
	if (flags & ~VRFM_SUBMIT_FLAGS)
		return -EINVAL;
	ret = vrfm_batch_check(vdev, &ops, &done->failed) ?:
	      vrfm_batch_copy(&ops, &done->failed);
	if (ret)
		return ret;
	if (flags & VRFM_OP_ACKED) {
		done->marks = done->marks ?: vrfm_marks_alloc();
		if (!done->marks)
			return -ENOMEM;
		execution.marks = done->marks;
	}
	ret = vrfm_batch_execute(vdev, &ops, &execution);
	done->nmarks = execution.nmarks;
	done->absent = execution.absent;
	done->serial = execution.serial;
	return ret;
}

/* Finish a batch that was executed or is invalid. */
static void vrfm_submit_end(struct vrfm_submit *submit, u8 flags,
			    struct vrfm_done *done)
{
	struct vrfm_ring_ctx *ring = submit->ring;

	if (!done->result && flags & VRFM_OP_ACKED) {
		vrfm_submit_track(submit, done);
	} else if (done->result || flags & VRFM_OP_DONE) {
		spin_lock_bh(&ring->lock);
		vrfm_done_complete_locked(ring, done);
		spin_unlock_bh(&ring->lock);
	} else {
		vrfm_done_put(ring, done);
	}
}

/*
 * Take and execute the next batch, if it has at most @max entries. Return the
 * number of entries that were taken, or an error: the entries stay.
 */
static int vrfm_submit_next(struct vrfm_submit *submit, u32 ready, u32 max,
			    bool nowait)
{
	u32 n = vrfm_submits_copy(&submit->entries, ready, submit->op);
	struct vrfm_op *last = &submit->op[min_t(u32, n, VRFM_BATCH_OPS) - 1];
	const u8 flags = last->flags;
	struct vrfm_done *done;
	int ret;

	if (n > max)
		return 0;
	done = vrfm_done_get(submit->ring);
	if (!done)
		return -EAGAIN;
	*done = (struct vrfm_done){
		.marks = done->marks,
		.cookie = last->cookie,
		.first = VRFM_REC_NO_NODE,
		.ops = n,
	};
	last->flags = 0;
	ret = vrfm_submit_execute(submit, n, flags, done, nowait);
	if (ret == -EAGAIN || ret == -EINTR) {
		vrfm_done_put(submit->ring, done);
		return ret;
	}
	vrfm_submits_advance(&submit->entries, n);
	done->result = ret;
	vrfm_submit_end(submit, flags, done);
	return n;
}

static int vrfm_submit_take(struct vrfm_submit *submit, u32 max, bool nowait,
			    u32 *taken)
{
	u32 ready, tail;
	int ret;

	lockdep_assert_held(&submit->lock);
	/* The program has written the entries before the tail. */
	tail = smp_load_acquire(&submit->ring->user->submit_tail);
	ret = vrfm_submits_ready(&submit->entries, tail, &ready);
	if (ret)
		return ret;
	while (*taken < min(ready, max)) {
		if (READ_ONCE(submit->ring->vdev->gone))
			return -ENODEV;
		if (signal_pending(current))
			return -EINTR;
		ret = vrfm_submit_next(submit, ready - *taken, max - *taken,
				       nowait);
		if (ret <= 0)
			return ret;
		*taken += ret;
		cond_resched();
	}
	return 0;
}

/* Take at most @max entries, and wake tasks that wait for free ones. */
static int vrfm_submit_some(struct vrfm_ring_ctx *ring, u32 max, bool nowait,
			    u32 *taken)
{
	struct vrfm_submit *submit = ring->submit;
	int ret;

	*taken = 0;
	if (nowait && !mutex_trylock(&submit->lock))
		return -EAGAIN;
	if (!nowait && mutex_lock_interruptible(&submit->lock))
		return -EINTR;
	ret = vrfm_submit_take(submit, max, nowait, taken);
	mutex_unlock(&submit->lock);
	if (*taken && wq_has_sleeper(&ring->pollers))
		wake_up_poll(&ring->pollers, EPOLLOUT | EPOLLWRNORM);
	return ret;
}

/**
 * vrfm_submit_execute_ready - execute all batches that are ready
 * @ring: ring with submission entries
 * @nowait: fail instead of waiting for a peer or for another task
 * @taken: set to the number of entries that were taken
 *
 * Context: may sleep.
 * Return: as for vrfm_submit_batches().
 */
int vrfm_submit_execute_ready(struct vrfm_ring_ctx *ring, bool nowait,
			      u32 *taken)
{
	return vrfm_submit_some(ring, U32_MAX, nowait, taken);
}

/**
 * vrfm_submit_has_ready - check whether the program has entries to take
 * @ring: ring with submission entries
 *
 * Context: any.
 * Return: true if so, also if the index of the program is invalid.
 */
bool vrfm_submit_has_ready(const struct vrfm_ring_ctx *ring)
{
	return READ_ONCE(ring->user->submit_tail) !=
	       READ_ONCE(ring->submit->entries.head);
}

/**
 * vrfm_submit_batches - take submission entries, and execute their batches
 * @ring: ring
 * @max: maximum number of entries
 * @nowait: fail instead of waiting for a peer or for another task
 * @taken: set to the number of entries that were taken
 *
 * Context: may sleep.
 * Return: 0, or an error, after which further entries stay: -EINVAL: the ring
 * has no entries; -EBUSY: another task executes the batches, see loop.c; -EBADR:
 * invalid index of the program; -EAGAIN: the call would wait, or all completions
 * are in use; -EINTR: a signal; -ENODEV: the device was removed.
 */
int vrfm_submit_batches(struct vrfm_ring_ctx *ring, u32 max, bool nowait,
			u32 *taken)
{
	*taken = 0;
	if (!ring->submit)
		return -EINVAL;
	if (READ_ONCE(ring->loop.busy))
		return -EBUSY;
	return vrfm_submit_some(ring, max, nowait, taken);
}

/**
 * vrfm_submit_polled - return whether a submission entry of a ring is free
 * @ring: ring
 *
 * Context: any.
 * Return: EPOLL..., or 0.
 */
__poll_t vrfm_submit_polled(const struct vrfm_ring_ctx *ring)
{
	const struct vrfm_submit *submit = ring->submit;
	u32 used;

	if (!submit)
		return 0;
	used = READ_ONCE(ring->user->submit_tail) -
	       READ_ONCE(submit->entries.head);
	return used < submit->entries.slots ? EPOLLOUT | EPOLLWRNORM : 0;
}

/* ---- life ---- */

/**
 * vrfm_submit_alloc - give a ring its submissions
 * @ring: ring with its areas, without submissions
 * @slots: number of entries, a power of two; 0: none
 * @entries: the entries, in the area of the program
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int vrfm_submit_alloc(struct vrfm_ring_ctx *ring, u32 slots,
		      const struct vrfm_op *entries)
{
	struct vrfm_submit *submit;
	u32 i;

	if (!slots)
		return 0;
	submit = kvzalloc(struct_size(submit, dones, slots),
			  GFP_KERNEL_ACCOUNT);
	if (!submit)
		return -ENOMEM;
	submit->data = kvmalloc(VRFM_SUBMIT_ROOM, GFP_KERNEL_ACCOUNT);
	if (!submit->data) {
		kvfree(submit);
		return -ENOMEM;
	}
	submit->ring = ring;
	submit->entries = (struct vrfm_submits){
		.entries = entries,
		.shown = &ring->kernel->submit_head,
		.slots = slots,
	};
	mutex_init(&submit->lock);
	mutex_init(&submit->checking);
	init_waitqueue_func_entry(&submit->room, vrfm_submit_room);
	INIT_DELAYED_WORK(&submit->work, vrfm_submit_work);
	for (i = 0; i < slots; i++)
		list_add_tail(&submit->dones[i].entry, &ring->dones.idle);
	ring->kernel->submits = slots;
	ring->submit = submit;
	return 0;
}

/**
 * vrfm_submit_free - undo vrfm_submit_alloc()
 * @ring: ring that no program and no producer uses any more; batches that wait
 *	for acknowledgments are forgotten
 *
 * Context: may sleep.
 */
void vrfm_submit_free(struct vrfm_ring_ctx *ring)
{
	struct vrfm_submit *submit = ring->submit;
	struct vrfm_done *done;
	u32 i;

	if (!submit)
		return;
	mutex_lock(&submit->checking);
	if (!list_empty(&ring->dones.tracked))
		remove_wait_queue(&ring->vdev->room, &submit->room);
	list_for_each_entry(done, &ring->dones.tracked, entry)
		vrfm_marks_put(done->marks, done->nmarks);
	INIT_LIST_HEAD(&ring->dones.tracked);
	mutex_unlock(&submit->checking);
	cancel_delayed_work_sync(&submit->work);
	for (i = 0; i < submit->entries.slots; i++)
		vrfm_marks_free(submit->dones[i].marks, 0);
	kvfree(submit->data);
	kvfree(submit);
}
