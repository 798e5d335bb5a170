// SPDX-License-Identifier: GPL-2.0
/*
 * Donated threads: a thread of a program executes the batches that its other
 * threads put into the entries of a ring (%VRFM_ENTER_LOOP).
 *
 * The thread looks for entries again and again, and sleeps when there was none
 * for some time. Before it sleeps, it sets %VRFM_SUBMIT_SLEEPS, and then looks
 * once more. A program first stores the index of its entries, and then reads
 * that flag. Both have a full barrier in between, so the thread sees the
 * entries, or the program sees the flag and wakes the thread.
 *
 * vrfm_ring_ctx.lock protects the members of vrfm_ring_ctx.loop. The thread
 * reads &vrfm_loop.verdict without it, and submitters &vrfm_loop.busy.
 */
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/sched/signal.h>
#include <linux/wait.h>

#include "ring.h"

static void vrfm_loop_show(struct vrfm_ring_ctx *ring, u32 flags)
{
	WRITE_ONCE(ring->kernel->submit_flags, flags);
}

static int vrfm_loop_begin(struct vrfm_ring_ctx *ring, fl_owner_t owner)
{
	struct vrfm_loop *loop = &ring->loop;
	int ret = -EBUSY;

	spin_lock_bh(&ring->lock);
	if (!loop->busy) {
		loop->owner = owner;
		loop->verdict = 0;
		/* vrfm_submit_batches() reads this without the lock. */
		WRITE_ONCE(loop->busy, true);
		vrfm_loop_show(ring, VRFM_SUBMIT_LOOP);
		ret = 0;
	}
	spin_unlock_bh(&ring->lock);
	return ret;
}

static void vrfm_loop_end(struct vrfm_ring_ctx *ring)
{
	spin_lock_bh(&ring->lock);
	WRITE_ONCE(ring->loop.busy, false);
	vrfm_loop_show(ring, 0);
	spin_unlock_bh(&ring->lock);
}

/* Return 0 to go on, 1 to end with success, or the errno to end with. */
static int vrfm_loop_judge(const struct vrfm_ring_ctx *ring)
{
	if (READ_ONCE(ring->vdev->gone))
		return -ENODEV;
	if (signal_pending(current))
		return -EINTR;
	return READ_ONCE(ring->loop.verdict);
}

/*
 * Sleep until there are entries, or the loop must end. If @full is set, the
 * program must read records first, which makes no call: look again after a
 * tick.
 */
static void vrfm_loop_sleep(struct vrfm_ring_ctx *ring, bool full)
{
	vrfm_loop_show(ring, VRFM_SUBMIT_LOOP | VRFM_SUBMIT_SLEEPS);
	/* Pairs with the barrier of the program, see above. */
	smp_mb();
	if (full)
		wait_event_interruptible_timeout(ring->submits_wait,
						 vrfm_loop_judge(ring), 1);
	else
		wait_event_interruptible(ring->submits_wait,
					 vrfm_submit_has_ready(ring) ||
					 vrfm_loop_judge(ring));
	vrfm_loop_show(ring, VRFM_SUBMIT_LOOP);
}

/* Execute batches until the loop must end. */
static int vrfm_loop_run(struct vrfm_ring_ctx *ring, u32 spin_us, bool nowait)
{
	ktime_t since = ktime_get();
	u32 taken;
	int ret;

	for (;;) {
		ret = vrfm_submit_execute_ready(ring, nowait, &taken);
		if (ret && ret != -EAGAIN)
			return ret;
		if (taken)
			since = ktime_get();
		if (ret || ktime_us_delta(ktime_get(), since) >= spin_us)
			vrfm_loop_sleep(ring, ret);
		ret = vrfm_loop_judge(ring);
		if (ret)
			return min(ret, 0);
		cpu_relax();
		cond_resched();
	}
}

/**
 * vrfm_loop - execute the batches of a ring until the program ends this
 * @ring: ring with submission entries
 * @owner: owner of the file in the process, as in flush()
 * @spin_us: time to look for entries before the task sleeps, in us
 * @nowait: do not wait for peers, but try again
 *
 * Context: may sleep.
 * Return: 0: vrfm_loop_stop(); -EBUSY: another task does this; -EINTR: a signal;
 * -EIDRM: a task of the process has closed the ring; -ENODEV: the device was
 * removed; -EBADR: invalid index of the program.
 */
int vrfm_loop(struct vrfm_ring_ctx *ring, fl_owner_t owner, u32 spin_us,
	      bool nowait)
{
	int ret = vrfm_loop_begin(ring, owner);

	if (ret)
		return ret;
	ret = vrfm_loop_run(ring, spin_us, nowait);
	vrfm_loop_end(ring);
	return ret;
}

/**
 * vrfm_loop_kick - wake the task that executes batches
 * @ring: ring
 *
 * Context: any but hard interrupts.
 */
void vrfm_loop_kick(struct vrfm_ring_ctx *ring)
{
	wake_up_all(&ring->submits_wait);
}

static void vrfm_loop_tell(struct vrfm_ring_ctx *ring, int verdict)
{
	WRITE_ONCE(ring->loop.verdict, verdict);
	vrfm_loop_kick(ring);
}

/**
 * vrfm_loop_stop - end the loop of a ring with success
 * @ring: ring; no effect if no task executes its batches
 *
 * Context: any but hard interrupts.
 */
void vrfm_loop_stop(struct vrfm_ring_ctx *ring)
{
	spin_lock_bh(&ring->lock);
	if (!ring->loop.verdict)
		vrfm_loop_tell(ring, 1);
	spin_unlock_bh(&ring->lock);
}

/**
 * vrfm_loop_close - end the loop of a task whose process has closed the ring
 * @ring: ring
 * @owner: owner of the file in the process, as in flush()
 *
 * The task holds the file, so the last reference ends only after the loop.
 *
 * Context: any but hard interrupts.
 */
void vrfm_loop_close(struct vrfm_ring_ctx *ring, fl_owner_t owner)
{
	spin_lock_bh(&ring->lock);
	if (ring->loop.busy && ring->loop.owner == owner)
		vrfm_loop_tell(ring, -EIDRM);
	spin_unlock_bh(&ring->lock);
}
