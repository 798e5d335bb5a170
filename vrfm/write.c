// SPDX-License-Identifier: GPL-2.0
/*
 * Local writes: stores and events by calls of this node's programs.
 *
 * The bytes of a call are first copied from the program. The copying may sleep,
 * and the source may even be a mapping of this memory. Then the caller takes
 * vrfm_dev.write_lock, with room on every link that is READY. This lock gives
 * all local writes one order. Its holder accepts the write in one step, into
 * the memory and into a message of each link, and never waits.
 *
 * Writers wait for room one after the other (vrfm_dev.waiter_lock), so that
 * small writes cannot starve a large one. A peer whose link has no room at the
 * deadline is left behind (vrfm_link_overloaded()). It is also left behind if
 * non-blocking writers are refused until the deadline. An event to one peer
 * waits for the link of that peer only.
 *
 * Each call first sends the earlier stores of the program into mappings.
 */
#include <linux/ktime.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "compat.h"
#include "link.h"
#include "ring.h"
#include "trace.h"
#include "write.h"

/*
 * Largest number of bytes that are accepted in one step. This limit bounds the
 * time that other tasks wait for vrfm_dev.write_lock.
 *
 * The limit is higher for direct writes, because adapters acknowledge each
 * WRITE, so larger WRITEs are less work (row vrfm/write-1M-bw of tools/bench).
 * In messages, 128 KiB would take more than half of a window.
 */
#define VRFM_STEP SZ_64K
#define VRFM_STEP_DIRECT SZ_128K
/*
 * Number of bytes of a call that share one time limit for slow peers, see
 * vrfm_write().
 */
#define VRFM_WAIT_BYTES SZ_1M
/* Longest write that is copied to the stack, in bytes. */
#define VRFM_SMALL 64
/*
 * Time without an attempt, in us, after which a refused caller is considered to
 * have given up.
 */
#define VRFM_REFUSED_US 100000

/*
 * Tasks are about to be frozen, or are frozen. Readers of this flag take no
 * lock.
 */
static bool vrfm_suspending;

/**
 * vrfm_writers_suspend - end or allow the waits of writers for slow peers
 * @suspending: the machine is being suspended
 *
 * While the kernel freezes tasks, a writer must not wait for slow peers. A
 * waiting writer holds a lock and cannot be frozen, so the kernel would give up
 * the suspend after 20 s.
 *
 * Context: any. The caller wakes writers that already wait.
 */
void vrfm_writers_suspend(bool suspending)
{
	WRITE_ONCE(vrfm_suspending, suspending);
}

static bool vrfm_is_needed(const struct vrfm_need *need,
			   const struct vrfm_link *link)
{
	return need->node == RFM2G_NODE_ALL || need->node == link->peer.node;
}

/**
 * struct vrfm_pause - wait of one step of a call
 * @began: time when the wait began
 * @waited_ns: time that earlier steps of the call have waited, in ns
 */
struct vrfm_pause {
	ktime_t began;
	u64 waited_ns;
};

static struct vrfm_pause vrfm_pause_begin(const struct vrfm_wait *wait)
{
	return (struct vrfm_pause){
		.began = ktime_get(),
		.waited_ns = wait->waited_ns,
	};
}

/*
 * Return the time when a waiting step leaves the peer behind: overload_us after
 * the wait began, minus the waits of earlier steps. If the link ran out of room
 * only during the wait, overload_us is counted from that time, and the step
 * waits for at most twice overload_us.
 */
static ktime_t vrfm_link_deadline(const struct vrfm_link *link,
				  const struct vrfm_pause *pause)
{
	ktime_t from = max(link->overload.full_since, pause->began);
	u32 us = READ_ONCE(link->peer.overload_us);

	if (us == VRFM_OVERLOAD_DEVICE)
		us = READ_ONCE(link->vdev->params.overload_us);
	/*
	 * A waiting writer holds a lock, so it cannot be frozen: end its wait.
	 */
	if (READ_ONCE(vrfm_suspending))
		us = 0;
	from = min(from, ktime_add_us(pause->began, us));
	return ktime_sub_ns(ktime_add_us(from, us), pause->waited_ns);
}

/*
 * Check for room, and leave peers behind whose links lack room and whose
 * deadlines have passed.
 *
 * Return: true if there is room; otherwise *UNTIL is set to the next deadline
 * of the peers whose links lack room and that were not left behind.
 */
static bool vrfm_make_room_locked(struct vrfm_dev *vdev,
				  const struct vrfm_need *need,
				  const struct vrfm_pause *pause,
				  ktime_t *until)
{
	struct vrfm_overload *overload;
	struct vrfm_link *link;
	ktime_t deadline, now;

	lockdep_assert_held(&vdev->write_lock);
	/* Read the transmitter's state once: the whole step uses this value. */
	vdev->dark = vrfm_is_dark(vdev) && !need->even_dark;
	if (vdev->dark)
		return true;
	now = ktime_get();
	*until = KTIME_MAX;
	list_for_each_entry(link, &vdev->links, entry) {
		if (!vrfm_is_needed(need, link))
			continue;
		overload = &link->overload;
		overload->awaited = !vrfm_link_has_room(link, need->len) ||
				    !vrfm_link_has_free(link, need->messages);
		/*
		 * Record the time when the link first lacked room. Room for a
		 * shorter run does not clear the record, because a longer run
		 * may still find no room.
		 */
		if (overload->awaited) {
			if (!overload->full_since)
				overload->full_since = now;
			overload->full_len = max(overload->full_len, need->len);
		} else {
			if (need->len >= overload->full_len) {
				overload->full_since = 0;
				overload->full_len = 0;
			}
			continue;
		}
		deadline = vrfm_link_deadline(link, pause);
		if (ktime_before(now, deadline)) {
			*until = min(*until, deadline);
		} else {
			vrfm_link_overloaded(link);
			overload->awaited = false;
		}
	}
	if (*until != KTIME_MAX)
		return false;
	/*
	 * A write that was refused may be longer than this one, and still find
	 * no room. In this case the record of refusals stays.
	 */
	if (need->len >= vdev->refused_len)
		vdev->refusing = false;
	return true;
}

/* Take vrfm_dev.write_lock if there is room. Return true if it is held. */
static bool vrfm_write_trylock(struct vrfm_dev *vdev,
			       const struct vrfm_need *need,
			       const struct vrfm_pause *pause, ktime_t *until)
{
	rt_mutex_lock(&vdev->write_lock);
	if (vrfm_make_room_locked(vdev, need, pause, until))
		return true;
	rt_mutex_unlock(&vdev->write_lock);
	return false;
}

/*
 * Check whether non-blocking writes are being refused repeatedly. Two attempts
 * may be up to US apart. After a longer pause, the next refusal counts as the
 * first one.
 */
static bool vrfm_refusing_locked(const struct vrfm_dev *vdev, ktime_t now)
{
	u32 us = max_t(u32, READ_ONCE(vdev->params.overload_us),
		       VRFM_REFUSED_US);

	lockdep_assert_held(&vdev->write_lock);
	return vdev->refusing &&
	       !ktime_after(now, ktime_add_us(vdev->refused_last, us));
}

/*
 * Take vrfm_dev.write_lock for a non-blocking caller, or refuse the caller.
 * Writers that wait for their turn go first. So while another writer waits,
 * non-blocking callers are refused, until they have been refused for
 * overload_us.
 */
static int vrfm_write_lock_at_once(struct vrfm_dev *vdev,
				   const struct vrfm_need *need)
{
	bool first = !atomic_read(&vdev->waiting) || vrfm_is_dark(vdev);
	u32 us = READ_ONCE(vdev->params.overload_us);
	struct vrfm_pause pause = { .waited_ns = 0 };
	ktime_t until, now;
	bool refusing;

	rt_mutex_lock(&vdev->write_lock);
	now = ktime_get();
	refusing = vrfm_refusing_locked(vdev, now);
	pause.began = refusing ? vdev->refused_at : now;
	if ((first || !ktime_before(now, ktime_add_us(pause.began, us))) &&
	    vrfm_make_room_locked(vdev, need, &pause, &until))
		return 0;
	if (!refusing) {
		vdev->refused_at = now;
		vdev->refused_len = 0;
	}
	vdev->refusing = true;
	vdev->refused_last = now;
	vdev->refused_len = max(vdev->refused_len, need->len);
	rt_mutex_unlock(&vdev->write_lock);
	return -EAGAIN;
}

/*
 * Wait for the turn of the caller among waiting writers, then for room, and
 * take vrfm_dev.write_lock. For the reason of the high-resolution timer see
 * vrfm_event_sleep().
 */
static int vrfm_write_queue(struct vrfm_dev *vdev, const struct vrfm_need *need,
			    struct vrfm_wait *wait)
{
	struct vrfm_pause pause = vrfm_pause_begin(wait);
	ktime_t until;
	int seen, ret;

	atomic_inc(&vdev->waiting);
	ret = rt_mutex_lock_killable(&vdev->waiter_lock);
	if (ret)
		goto out;
	for (;;) {
		seen = atomic_read_acquire(&vdev->room_changes);
		if (vrfm_write_trylock(vdev, need, &pause, &until))
			break;
		ret = wait_event_killable_hrtimeout(vdev->room,
						    atomic_read(&vdev->room_changes) != seen,
						    ktime_sub(until, ktime_get()));
		if (ret && ret != -ETIME) {
			ret = -EINTR;
			break;
		}
		ret = 0;
	}
	rt_mutex_unlock(&vdev->waiter_lock);
out:
	atomic_dec(&vdev->waiting);
	wait->waited_ns += ktime_to_ns(ktime_sub(ktime_get(), pause.began));
	return ret;
}

/**
 * vrfm_write_lock_for - take vrfm_dev.write_lock, with the room that a step
 * needs
 * @vdev: device
 * @need: room that the step needs
 * @wait: wait of the call for slow peers; this function adds the time that it
 *	waits
 *
 * While the transmitter is off, &vrfm_dev.dark is true and no room is needed,
 * unless &vrfm_need.even_dark is set.
 *
 * Context: may sleep.
 * Return: 0 if vrfm_dev.write_lock is held, and each link that is READY and
 * needed has room; -EAGAIN: the call would wait; -EINTR: killed.
 */
int vrfm_write_lock_for(struct vrfm_dev *vdev, const struct vrfm_need *need,
			struct vrfm_wait *wait)
{
	bool busy = atomic_read(&vdev->waiting), awaited = false;
	struct vrfm_pause pause;
	struct vrfm_link *link;
	ktime_t until;

	if (wait->nowait)
		return vrfm_write_lock_at_once(vdev, need);
	/*
	 * A step for all peers queues behind waiting writers. With the
	 * transmitter off the step needs no room, and does not queue.
	 */
	if (busy && need->node == RFM2G_NODE_ALL && !vrfm_is_dark(vdev))
		return vrfm_write_queue(vdev, need, wait);
	rt_mutex_lock(&vdev->write_lock);
	pause = vrfm_pause_begin(wait);
	/*
	 * A step for one peer overtakes writers that wait for other peers. It
	 * queues if a writer waits for the same peer.
	 */
	if (busy)
		list_for_each_entry(link, &vdev->links, entry)
			if (link->peer.node == need->node)
				awaited = link->overload.awaited;
	if (!awaited && vrfm_make_room_locked(vdev, need, &pause, &until))
		return 0;
	rt_mutex_unlock(&vdev->write_lock);
	return vrfm_write_queue(vdev, need, wait);
}

/**
 * vrfm_write_lock - take vrfm_dev.write_lock for a store, with room on all
 * links
 * @vdev: device
 * @len: number of bytes of a run, or of several full messages
 * @wait: wait of the call for slow peers; this function adds the time that it
 *	waits
 *
 * While the transmitter is off no room is needed, and &vrfm_dev.dark is true.
 *
 * Context: may sleep.
 * Return: 0 if vrfm_dev.write_lock is held, and each link that is READY has
 * room; -EAGAIN: the call would wait; -EINTR: killed.
 */
int vrfm_write_lock(struct vrfm_dev *vdev, u32 len, struct vrfm_wait *wait)
{
	const struct vrfm_need need = { .len = len, .node = RFM2G_NODE_ALL };

	return vrfm_write_lock_for(vdev, &need, wait);
}

/**
 * vrfm_switching - send stores into mappings before the transmitter is switched
 * on or off
 * @vdev: device
 *
 * The old state of the transmitter decides whether earlier stores are sent.
 *
 * Context: may sleep.
 * Return: 0; -EINTR: killed.
 */
int vrfm_switching(struct vrfm_dev *vdev)
{
	struct vrfm_wait wait = vrfm_wait_begin(false);

	return vrfm_scan_all(vdev, &wait);
}

/*
 * Accept a write: store the bytes, and send them to all peers. With the
 * transmitter off, only the memory changes.
 */
static void vrfm_accept_locked(struct vrfm_dev *vdev, u32 offset,
			       const void *buf, u32 len,
			       struct vrfm_block *block)
{
	bool dark = vdev->dark;
	struct vrfm_link *link;

	lockdep_assert_held(&vdev->write_lock);
	vrfm_mem_store(vdev, offset, buf, len,
		       dark ? VRFM_OWN_KEEP : VRFM_OWN_SET);
	trace_vrfm_write(vdev->unit, offset, len, dark);
	vdev->serial += !dark;
	/* Notify rings first: the answer of a peer is a later write. */
	if (vrfm_ranges_are_wanted())
		vrfm_rings_stored(vdev, offset, len);
	if (vrfm_is_tapped(vdev, VRFM_TAP_KIND(VRFM_REC_STORED)))
		vrfm_tap_own(vdev, VRFM_REC_STORED, offset, buf, len);
	if (dark)
		return;
	list_for_each_entry(link, &vdev->links, entry)
		vrfm_link_update(link, offset, buf, len, block);
}

/**
 * vrfm_accepted - set the "own data" bit, as if a write had come back around the
 * ring
 * @vdev: device
 *
 * Context: process context; vrfm_dev.write_lock is not held.
 */
void vrfm_accepted(struct vrfm_dev *vdev)
{
	const u32 done = VRFM_LCSR_TX_OFF | VRFM_LCSR_OWN_DATA;

	if (!(READ_ONCE(vdev->regs.lcsr) & done))
		vrfm_lcsr_update(vdev, VRFM_LCSR_OWN_DATA, true);
}

static int vrfm_store_block(struct vrfm_dev *vdev, u32 offset, const void *buf,
			    u32 len, struct vrfm_block *block,
			    struct vrfm_wait *wait)
{
	const struct vrfm_need need = { .len = len, .node = RFM2G_NODE_ALL };
	int ret = vrfm_scan_own(vdev, wait) ?:
		  vrfm_write_lock_for(vdev, &need, wait);

	if (ret)
		return ret;
	vrfm_accept_locked(vdev, offset, buf, len, block);
	rt_mutex_unlock(&vdev->write_lock);
	vrfm_accepted(vdev);
	return 0;
}

/**
 * vrfm_store - store bytes for a program
 * @vdev: device
 * @offset: offset of the first byte; the caller has checked vrfm_inside()
 * @buf: the bytes, in the kernel's memory
 * @width: number of bytes, at most 64 KiB
 * @nowait: fail instead of waiting for a peer
 *
 * Up to 8 bytes that are aligned are stored by one access.
 *
 * Context: may sleep.
 * Return: 0; -EAGAIN: the call would wait; -EINTR: killed.
 */
int vrfm_store(struct vrfm_dev *vdev, u32 offset, const void *buf, u32 width,
	       bool nowait)
{
	struct vrfm_wait wait = vrfm_wait_begin(nowait);

	return vrfm_store_block(vdev, offset, buf, width, NULL, &wait);
}

/**
 * vrfm_store_bits - change bits of the memory in one step
 * @vdev: device
 * @offset: offset of the first byte; the caller has checked vrfm_inside()
 * @width: number of bytes: 1, 2 or 4
 * @clear: bits that become 0
 * @set: bits that become 1, also if they are in @clear
 *
 * No other call of this node changes the bits between the read and the store.
 * Stores through mappings and by other nodes may do so.
 *
 * Context: may sleep.
 * Return: 0; -EINTR: killed.
 */
int vrfm_store_bits(struct vrfm_dev *vdev, u32 offset, u32 width, u32 clear,
		    u32 set)
{
	struct vrfm_wait wait = vrfm_wait_begin(false);
	int ret = vrfm_scan_own(vdev, &wait) ?:
			  vrfm_write_lock(vdev, width, &wait);
	u32 value = 0;

	if (ret)
		return ret;
	vrfm_mem_load(vdev, offset, &value, width);
	value = (value & ~clear) | set;
	vrfm_accept_locked(vdev, offset, &value, width, NULL);
	rt_mutex_unlock(&vdev->write_lock);
	vrfm_accepted(vdev);
	return 0;
}

static size_t vrfm_step(struct vrfm_dev *vdev, size_t len)
{
	struct vrfm_link *link;
	bool direct = true;

	if (len <= VRFM_STEP)
		return VRFM_STEP;
	rt_mutex_lock(&vdev->write_lock);
	list_for_each_entry(link, &vdev->links, entry)
		direct = direct && vrfm_direct_takes_all(link);
	rt_mutex_unlock(&vdev->write_lock);
	return direct ? VRFM_STEP_DIRECT : VRFM_STEP;
}

/**
 * vrfm_write - write bytes of a program into the memory
 * @vdev: device
 * @offset: offset of the first byte; the caller has checked vrfm_inside()
 * @buf: memory of the program, which is read once
 * @len: number of bytes
 * @nowait: fail instead of waiting for a peer
 * @done: set to the number of bytes that were stored
 *
 * Readers on this node see the bytes when this function returns. The bytes are
 * stored in steps of 64 or 128 KiB. Each step except the last ends at an
 * aligned word. After an error, the earlier steps have been stored. All steps
 * of a MiB together wait for a slow peer for overload_us at most. With one
 * limit for the whole call, a peer would be left behind only because the call
 * is large.
 *
 * Context: may sleep.
 * Return: 0; -EFAULT; -ENOMEM; -EAGAIN: the call would wait; -EINTR: killed.
 */
int vrfm_write(struct vrfm_dev *vdev, u32 offset, const void __user *buf,
	       size_t len, bool nowait, size_t *done)
{
	struct vrfm_wait wait = vrfm_wait_begin(nowait);
	const u32 lead = offset % VRFM_WIRE_ALIGN;
	u8 bounce[VRFM_SMALL] __aligned(8);
	struct vrfm_block *block = NULL;
	size_t step, most;
	int ret = 0;

	*done = 0;
	if (len <= VRFM_SMALL) {
		if (copy_from_user(bounce, buf, len))
			return -EFAULT;
		ret = vrfm_store_block(vdev, offset, bounce, len, NULL, &wait);
		*done = ret ? 0 : len;
		return ret;
	}
	most = vrfm_step(vdev, len);
	while (*done < len && !ret) {
		if ((lead + *done) % VRFM_WAIT_BYTES == 0)
			wait = vrfm_wait_begin(nowait);
		step = len - *done;
		/* Let each step except the last end at an aligned word. */
		if (len > most)
			step = min(step, most - (lead + *done) % most);
		/* Adapters may still read the block of an earlier step. */
		if (!block || refcount_read(&block->refs) != 1) {
			vrfm_block_put(block);
			block = vrfm_block_alloc(min(most, len));
			if (!block)
				return -ENOMEM;
		}
		if (fatal_signal_pending(current))
			ret = -EINTR;
		else if (copy_from_user(block->bytes, buf + *done, step))
			ret = -EFAULT;
		else
			ret = vrfm_store_block(vdev, offset + *done,
					       block->bytes, step, block,
					       &wait);
		*done += ret ? 0 : step;
	}
	vrfm_block_put(block);
	return ret;
}

/**
 * vrfm_event_send - send an event to one node or to all others
 * @vdev: device
 * @node: id of the receiver, 0 to 255; %RFM2G_NODE_ALL means all other nodes
 * @type: type of event, up to %RFM2G_EVENT_INTR4
 * @data: data of the event
 *
 * Each receiver gets the event after all earlier writes of this node. With the
 * transmitter off, no peer gets the event. The call waits only for room on the
 * links of receivers.
 *
 * Context: may sleep.
 * Return: 0, also if no such node is connected, as with the cards; -EINVAL if
 * @node is this node or above 255, or if @type cannot be sent; -EINTR: killed.
 */
int vrfm_event_send(struct vrfm_dev *vdev, u32 node, u32 type, u32 data)
{
	struct vrfm_wait wait = vrfm_wait_begin(false);
	const struct vrfm_need need = { .node = node };
	struct vrfm_link *link;
	int ret;

	if (type > RFM2G_EVENT_INTR4 || node == vdev->params.node ||
	    (node > RFM2G_NODE_MAX && node != RFM2G_NODE_ALL))
		return -EINVAL;
	ret = vrfm_scan_own(vdev, &wait) ?:
		      vrfm_write_lock_for(vdev, &need, &wait);
	if (ret)
		return ret;
	vdev->event_number++;
	trace_vrfm_event_sent(vdev->unit, node, type, data);
	if (!vdev->dark &&
	    vrfm_is_tapped(vdev, VRFM_TAP_KIND(VRFM_REC_TOLD)))
		vrfm_tap_told(vdev, node, type, data, vdev->event_number);
	list_for_each_entry(link, &vdev->links, entry)
		if (!vdev->dark && vrfm_is_needed(&need, link))
			vrfm_link_event(link, type, data);
	rt_mutex_unlock(&vdev->write_lock);
	return 0;
}
