// SPDX-License-Identifier: GPL-2.0
/*
 * Subscriptions: put records about events and peers into rings, and wake the
 * readers. range.c puts in those about writes, and tap.c those of taps.
 *
 * The list vrfm_dev.rings is read under RCU. A record is written, and then
 * published, under the lock of its ring, which is the innermost lock. If a ring
 * is full, its device and the peers do not wait:
 *
 * - a copied event, or a record of a tap, is dropped and counted;
 * - a taken event stays in the queue of the device;
 * - of a peer's states, only the newest is kept;
 * - notices of writes merge.
 *
 * A record that waits for a slot comes before newer records. Therefore an event
 * follows the notices of all writes that its sender made before it.
 *
 * The program can write the page vrfm_ring_ctx.user at any time. Each word of
 * this page is read once where it is used, and is checked or limited.
 */
#include <linux/bitmap.h>
#include <linux/ktime.h>
#include <linux/poll.h>
#include <linux/rculist.h>

#include "ring.h"

/**
 * vrfm_ring_time - return the time on the clock of a ring
 * @ring: ring
 *
 * Context: any.
 * Return: time in ns.
 */
u64 vrfm_ring_time(const struct vrfm_ring_ctx *ring)
{
	switch (ring->clock) {
	case CLOCK_REALTIME:
		return ktime_get_real_ns();
	case CLOCK_TAI:
		return ktime_get_clocktai_ns();
	case CLOCK_BOOTTIME:
		return ktime_get_boottime_ns();
	default:
		return ktime_get_ns();
	}
}

/* Read the head of the program, which may release records. */
static void vrfm_ring_read_head_locked(struct vrfm_ring_ctx *ring)
{
	u32 before = vrfm_ringbuf_unread(&ring->buf);

	lockdep_assert_held(&ring->lock);
	vrfm_ringbuf_release(&ring->buf, READ_ONCE(ring->user->head));
	if (vrfm_ringbuf_unread(&ring->buf) != before)
		ring->since = ktime_get();
}

/**
 * vrfm_ring_record_locked - add a record with a payload
 * @ring: ring, with its lock held
 * @type: VRFM_REC_...
 * @len: number of bytes of the payload, at most &vrfm_ring_ctx.snap
 * @cookie: value of the program
 *
 * The head of the program is read only if the ring looks full, so that the cache
 * line of the head rarely moves between processors.
 *
 * Context: any but hard interrupts.
 * Return: the record, without content; NULL if the ring is full.
 */
struct vrfm_record *vrfm_ring_record_locked(struct vrfm_ring_ctx *ring,
					    u16 type, u32 len, u64 cookie)
{
	u64 time_ns = vrfm_ring_time(ring);
	struct vrfm_record *record;

	lockdep_assert_held(&ring->lock);
	record = vrfm_ringbuf_add(&ring->buf, len, time_ns);
	if (!record) {
		vrfm_ring_read_head_locked(ring);
		record = vrfm_ringbuf_add(&ring->buf, len, time_ns);
	}
	if (!record)
		return NULL;
	record->type = type;
	record->cookie = cookie;
	return record;
}

/**
 * vrfm_ring_add_bytes_locked - add a record with a payload for a subscription
 * @sub: subscription; the lock of its ring is held
 * @type: VRFM_REC_...
 * @len: number of bytes of the payload, at most &vrfm_ring_ctx.snap
 *
 * Context: any but hard interrupts.
 * Return: the record, without content; NULL if the ring is full.
 */
struct vrfm_record *vrfm_ring_add_bytes_locked(struct vrfm_sub *sub, u16 type,
					       u32 len)
{
	lockdep_assert_held(&sub->ring->lock);
	return vrfm_ring_record_locked(sub->ring, type, len, sub->cookie);
}

/**
 * vrfm_ring_add_locked - add a record without payload for a subscription
 * @sub: subscription; the lock of its ring is held
 * @type: VRFM_REC_...
 *
 * Context: any but hard interrupts.
 * Return: the record, without content; NULL if the ring is full.
 */
struct vrfm_record *vrfm_ring_add_locked(struct vrfm_sub *sub, u16 type)
{
	lockdep_assert_held(&sub->ring->lock);
	return vrfm_ring_add_bytes_locked(sub, type, 0);
}

/**
 * vrfm_ring_drop_locked - count a record that does not fit
 * @ring: ring, with its lock held
 *
 * Context: any but hard interrupts.
 */
void vrfm_ring_drop_locked(struct vrfm_ring_ctx *ring)
{
	lockdep_assert_held(&ring->lock);
	ring->buf.lost++;
	WRITE_ONCE(ring->kernel->lost, ++ring->lost);
}

/* Check whether something waits for free slots. */
static bool vrfm_ring_is_full_locked(const struct vrfm_ring_ctx *ring)
{
	lockdep_assert_held(&ring->lock);
	return ring->held || ring->pending || ring->buf.lost;
}

/* Return the time at which the timer must wake readers; KTIME_MAX: never. */
static ktime_t vrfm_ring_due_locked(const struct vrfm_ring_ctx *ring)
{
	u32 us = min_t(u32, READ_ONCE(ring->user->wake_us),
		       VRFM_RING_WAKE_US_MAX);

	lockdep_assert_held(&ring->lock);
	if (!us || !vrfm_ringbuf_unread(&ring->buf))
		return KTIME_MAX;
	return ktime_add_us(ring->since, us);
}

static void vrfm_ring_arm_locked(struct vrfm_ring_ctx *ring)
{
	ktime_t due = vrfm_ring_due_locked(ring);

	lockdep_assert_held(&ring->lock);
	if (due == KTIME_MAX || (hrtimer_is_queued(&ring->timer) &&
				 hrtimer_get_expires(&ring->timer) == due))
		return;
	hrtimer_start(&ring->timer, due, HRTIMER_MODE_ABS_SOFT);
}

/**
 * vrfm_ring_timer - wake the readers of a ring, which then check the time
 * @timer: timer of the ring
 *
 * Return: HRTIMER_NORESTART.
 */
enum hrtimer_restart vrfm_ring_timer(struct hrtimer *timer)
{
	struct vrfm_ring_ctx *ring = container_of(timer, struct vrfm_ring_ctx,
						  timer);

	wake_up_all(&ring->wait);
	wake_up_poll(&ring->pollers, EPOLLIN | EPOLLRDNORM);
	return HRTIMER_NORESTART;
}

/*
 * Wake the readers that wait for no more than what is unread. For the others,
 * start the timer.
 */
static void vrfm_ring_wake_locked(struct vrfm_ring_ctx *ring)
{
	bool polled, full = vrfm_ring_is_full_locked(ring);

	lockdep_assert_held(&ring->lock);
	if (vrfm_ringbuf_unread(&ring->buf) >= ring->need || full) {
		ring->need = U32_MAX;
		wake_up_all(&ring->wait);
	}
	/*
	 * Without readers in the queues, do not read the page of the program. A
	 * reader that joins a queue later takes the lock, and then checks.
	 */
	polled = waitqueue_active(&ring->pollers);
	if (polled && (full ||
		       vrfm_ringbuf_passed(&ring->buf,
					   READ_ONCE(ring->user->wake))))
		wake_up_poll(&ring->pollers, EPOLLIN | EPOLLRDNORM);
	/* The same applies to this queue. */
	if (polled || waitqueue_active(&ring->wait))
		vrfm_ring_arm_locked(ring);
}

/**
 * vrfm_ring_publish_locked - show all new records, the flags and the counters to
 * the program, and wake readers if there are new records
 * @ring: ring, with its lock held
 *
 * Context: any but hard interrupts.
 */
void vrfm_ring_publish_locked(struct vrfm_ring_ctx *ring)
{
	struct vrfm_ringbuf *buf = &ring->buf;
	bool first = !vrfm_ringbuf_unread(buf), news = buf->next != buf->tail;
	u32 flags = 0;

	lockdep_assert_held(&ring->lock);
	if (ring->held || ring->pending)
		flags |= VRFM_RING_MORE;
	if (buf->lost)
		flags |= VRFM_RING_LOST;
	if (vrfm_ring_is_over_locked(ring))
		flags |= VRFM_RING_GONE;
	WRITE_ONCE(ring->kernel->flags, flags);
	WRITE_ONCE(ring->kernel->merged, ring->merged);
	if (first && news)
		ring->since = ktime_get();
	vrfm_ringbuf_publish(buf);
	if (news || flags)
		vrfm_ring_wake_locked(ring);
}

/* ---- records that wait for free slots ---- */

static void vrfm_sub_flush_cancelled_locked(struct vrfm_sub *sub)
{
	struct vrfm_record *record;
	u32 type;

	lockdep_assert_held(&sub->ring->lock);
	for (type = 0; type < RFM2G_EVENTS && sub->cancelled; type++) {
		if (!(sub->cancelled & BIT(type)))
			continue;
		record = vrfm_ring_add_locked(sub, VRFM_REC_EVENT);
		if (!record)
			return;
		record->flags = VRFM_REC_CANCELLED;
		record->event.event = type;
		sub->cancelled &= ~BIT(type);
	}
}

static void vrfm_sub_flush_links_locked(struct vrfm_sub *sub)
{
	struct vrfm_sub_links *links = sub->links;
	struct vrfm_record *record;
	u32 node;

	lockdep_assert_held(&sub->ring->lock);
	for_each_set_bit(node, links->pending, VRFM_NODES) {
		record = vrfm_ring_add_locked(sub, VRFM_REC_LINK);
		if (!record)
			return;
		record->node = node;
		record->link.state = links->now[node].state;
		record->link.flags = links->now[node].flags;
		record->link.error = links->now[node].error;
		if (__test_and_clear_bit(node, links->merged))
			record->flags = VRFM_REC_MERGED;
		__clear_bit(node, links->pending);
	}
}

/* Put notices of writes that wait into the ring. Return true if none is left. */
static bool vrfm_ring_fill_ranges_locked(struct vrfm_ring_ctx *ring)
{
	struct vrfm_sub *sub;
	bool none = true;

	lockdep_assert_held(&ring->lock);
	list_for_each_entry(sub, &ring->subs, entry)
		if (!vrfm_sub_flush_range_locked(sub))
			none = false;
	return none;
}

/*
 * Put what waits for free slots into the ring, as far as there are some. Notices
 * of writes come first: a peer that is in sync, or a batch that has ended, has no
 * earlier write without a notice.
 */
static void vrfm_ring_fill_locked(struct vrfm_ring_ctx *ring)
{
	struct vrfm_sub *sub;

	lockdep_assert_held(&ring->lock);
	ring->pending = !vrfm_ring_fill_ranges_locked(ring);
	if (!vrfm_dones_fill_locked(ring))
		ring->pending = true;
	list_for_each_entry(sub, &ring->subs, entry) {
		vrfm_sub_flush_cancelled_locked(sub);
		if (sub->links)
			vrfm_sub_flush_links_locked(sub);
		if (sub->cancelled || (sub->links &&
				       !bitmap_empty(sub->links->pending,
						     VRFM_NODES)))
			ring->pending = true;
	}
}

/**
 * vrfm_ring_settle_locked - put what waits for free slots into a ring, before a
 * newer record is added
 * @ring: ring, with its lock held
 *
 * Context: any but hard interrupts.
 * Return: true if nothing waits any more; false if the ring is full.
 */
bool vrfm_ring_settle_locked(struct vrfm_ring_ctx *ring)
{
	lockdep_assert_held(&ring->lock);
	if (ring->pending)
		vrfm_ring_fill_locked(ring);
	return !ring->pending;
}

/**
 * vrfm_ring_flush_locked - put what waits for free slots into a ring, and show
 * the ring to the program
 * @ring: ring, with its lock held
 *
 * Context: any but hard interrupts.
 */
void vrfm_ring_flush_locked(struct vrfm_ring_ctx *ring)
{
	lockdep_assert_held(&ring->lock);
	vrfm_ring_fill_locked(ring);
	vrfm_ringbuf_report(&ring->buf, vrfm_ring_time(ring));
	vrfm_ring_publish_locked(ring);
}

/* ---- events ---- */

/**
 * vrfm_sub_wants - check whether a subscription wants records about a node
 * @sub: subscription
 * @node: id of the node
 *
 * Context: any.
 * Return: true if so.
 */
bool vrfm_sub_wants(const struct vrfm_sub *sub, u32 node)
{
	return vrfm_nodes_have(sub->nodes, node);
}

static void vrfm_record_event(struct vrfm_record *record, u32 type, u16 node,
			      u32 data)
{
	if (type != RFM2G_EVENT_RESET)
		record->node = node;
	record->event.event = type;
	record->event.data = data;
}

/* Copy or drop an event. Return false if the subscription does not want it. */
static bool vrfm_sub_copy_locked(struct vrfm_sub *sub, u32 type, u16 node,
				 u32 data)
{
	struct vrfm_ring_ctx *ring = sub->ring;
	struct vrfm_record *record = NULL;

	lockdep_assert_held(&ring->lock);
	if (!(sub->copies & BIT(type)))
		return false;
	if (type != RFM2G_EVENT_RESET && !vrfm_sub_wants(sub, node))
		return false;
	if (vrfm_ring_settle_locked(ring))
		record = vrfm_ring_add_locked(sub, VRFM_REC_EVENT);
	if (record)
		vrfm_record_event(record, type, node, data);
	else
		vrfm_ring_drop_locked(ring);
	return true;
}

/**
 * vrfm_rings_event_locked - copy an event to the rings that want it
 * @vdev: device, with its lock held
 * @type: type of event, below %RFM2G_EVENTS
 * @node: id of the sender, or of the peer that a fault concerns
 * @data: data of the sender
 *
 * Context: any but hard interrupts.
 */
void vrfm_rings_event_locked(struct vrfm_dev *vdev, u32 type, u16 node,
			     u32 data)
{
	struct vrfm_ring_ctx *ring;
	struct vrfm_sub *sub;
	bool wanted;

	lockdep_assert_held(&vdev->lock);
	rcu_read_lock();
	list_for_each_entry_rcu(ring, &vdev->rings, entry) {
		wanted = false;
		spin_lock(&ring->lock);
		list_for_each_entry(sub, &ring->subs, entry)
			wanted |= vrfm_sub_copy_locked(sub, type, node, data);
		if (wanted)
			vrfm_ring_publish_locked(ring);
		spin_unlock(&ring->lock);
	}
	rcu_read_unlock();
}

/**
 * vrfm_sub_take_locked - move events that are ready from their queue to a ring
 * @sub: subscription that takes the type
 * @type: type of the events
 * @queue: queue of the type in the device
 *
 * Context: any but hard interrupts; vrfm_dev.lock is held.
 */
void vrfm_sub_take_locked(struct vrfm_sub *sub, u32 type,
			  struct vrfm_queue *queue)
{
	struct vrfm_ring_ctx *ring = sub->ring;
	struct vrfm_record *record;
	struct vrfm_entry entry;

	lockdep_assert_held(&ring->vdev->lock);
	spin_lock(&ring->lock);
	/*
	 * The notices that wait may be about earlier writes. Other records that
	 * wait come after these events.
	 */
	while (queue->ready &&
	       (!ring->pending || vrfm_ring_fill_ranges_locked(ring))) {
		record = vrfm_ring_add_locked(sub, VRFM_REC_EVENT);
		if (!record)
			break;
		vrfm_queue_take(queue, &entry);
		vrfm_record_event(record, type, entry.node, entry.data);
	}
	if (queue->ready)
		ring->held |= BIT(type);
	else
		ring->held &= ~BIT(type);
	vrfm_ring_publish_locked(ring);
	spin_unlock(&ring->lock);
}

/* ---- peers ---- */

/* Keep a state of a peer until there is a slot for its record. */
static void vrfm_sub_note_link_locked(struct vrfm_sub *sub, u32 node,
				      const struct vrfm_peer_shown *now)
{
	struct vrfm_sub_links *links = sub->links;
	const struct vrfm_peer_shown *last = &links->now[node];

	lockdep_assert_held(&sub->ring->lock);
	if (!vrfm_sub_wants(sub, node))
		return;
	if (test_bit(node, links->known) && last->state == now->state &&
	    last->flags == now->flags && last->error == now->error)
		return;
	if (test_bit(node, links->pending)) {
		__set_bit(node, links->merged);
		sub->ring->merged++;
	}
	links->now[node] = *now;
	__set_bit(node, links->known);
	__set_bit(node, links->pending);
}

/* ---- rings ---- */

/**
 * vrfm_sub_cancel_locked - end the taking of a type of event
 * @sub: subscription that takes the type
 * @type: type of event
 *
 * Context: any but hard interrupts; vrfm_dev.lock is held.
 */
void vrfm_sub_cancel_locked(struct vrfm_sub *sub, u32 type)
{
	struct vrfm_ring_ctx *ring = sub->ring;

	lockdep_assert_held(&ring->vdev->lock);
	spin_lock(&ring->lock);
	sub->cancelled |= BIT(type);
	ring->held &= ~BIT(type);
	vrfm_ring_flush_locked(ring);
	spin_unlock(&ring->lock);
}

/**
 * vrfm_sub_link - note the present state of a peer for a new subscription
 * @sub: subscription about peers, in the list of its ring
 * @node: id of the peer
 * @now: state of the peer
 *
 * Context: any but hard interrupts; the lock of the link is held.
 */
void vrfm_sub_link(struct vrfm_sub *sub, u32 node,
		   const struct vrfm_peer_shown *now)
{
	struct vrfm_ring_ctx *ring = sub->ring;

	spin_lock_bh(&ring->lock);
	vrfm_sub_note_link_locked(sub, node, now);
	vrfm_ring_flush_locked(ring);
	spin_unlock_bh(&ring->lock);
}

/**
 * vrfm_rings_link - notify the rings of a state of a peer
 * @vdev: device
 * @node: id of the peer
 * @now: state of the peer
 *
 * Context: any but hard interrupts; the lock of the link is held, so that the
 * states of a peer come in order.
 */
void vrfm_rings_link(struct vrfm_dev *vdev, u32 node,
		     const struct vrfm_peer_shown *now)
{
	struct vrfm_ring_ctx *ring;
	struct vrfm_sub *sub;

	rcu_read_lock();
	list_for_each_entry_rcu(ring, &vdev->rings, entry) {
		spin_lock_bh(&ring->lock);
		list_for_each_entry(sub, &ring->subs, entry)
			if (sub->links)
				vrfm_sub_note_link_locked(sub, node, now);
		vrfm_ring_flush_locked(ring);
		spin_unlock_bh(&ring->lock);
	}
	rcu_read_unlock();
}

/**
 * vrfm_rings_gone - show to the readers of all rings that the device was removed
 * @vdev: device with vrfm_dev.gone set
 *
 * Context: any but hard interrupts.
 */
void vrfm_rings_gone(struct vrfm_dev *vdev)
{
	struct vrfm_ring_ctx *ring;

	rcu_read_lock();
	list_for_each_entry_rcu(ring, &vdev->rings, entry) {
		spin_lock_bh(&ring->lock);
		ring->gone = true;
		vrfm_ring_publish_locked(ring);
		wake_up_all(&ring->wait);
		wake_up_all(&ring->submits_wait);
		wake_up_poll(&ring->pollers, EPOLLIN | EPOLLERR | EPOLLHUP);
		spin_unlock_bh(&ring->lock);
	}
	rcu_read_unlock();
}

/**
 * vrfm_ring_sync - read the head of the program
 * @ring: ring
 *
 * Context: any but hard interrupts.
 * Return: true if something waits for free slots: the caller calls
 * vrfm_events_feed() and vrfm_ring_flush().
 */
bool vrfm_ring_sync(struct vrfm_ring_ctx *ring)
{
	bool full;

	spin_lock_bh(&ring->lock);
	vrfm_ring_read_head_locked(ring);
	full = vrfm_ring_is_full_locked(ring);
	spin_unlock_bh(&ring->lock);
	return full;
}

/**
 * vrfm_ring_flush - put what waits for free slots into a ring
 * @ring: ring
 *
 * Context: any but hard interrupts.
 */
void vrfm_ring_flush(struct vrfm_ring_ctx *ring)
{
	spin_lock_bh(&ring->lock);
	vrfm_ring_flush_locked(ring);
	spin_unlock_bh(&ring->lock);
}

static bool vrfm_ring_is_due_locked(const struct vrfm_ring_ctx *ring)
{
	lockdep_assert_held(&ring->lock);
	return ktime_compare(vrfm_ring_due_locked(ring), ktime_get()) <= 0;
}

/**
 * vrfm_ring_ready - check whether a wait for records ends
 * @ring: ring
 * @need: number of unread slots to wait for
 *
 * If the wait does not end, the caller is woken when it may end.
 *
 * Context: any but hard interrupts.
 * Return: true if it ends.
 */
bool vrfm_ring_ready(struct vrfm_ring_ctx *ring, u32 need)
{
	bool ready;
	u32 unread;

	spin_lock_bh(&ring->lock);
	unread = vrfm_ringbuf_unread(&ring->buf);
	ready = unread >= need || vrfm_ring_is_over_locked(ring) ||
		(unread && (vrfm_ring_is_full_locked(ring) ||
			    vrfm_ring_is_due_locked(ring)));
	if (!ready) {
		ring->need = min(ring->need, need);
		vrfm_ring_arm_locked(ring);
	}
	spin_unlock_bh(&ring->lock);
	return ready;
}

/**
 * vrfm_ring_polled - return the events of a ring for poll()
 * @ring: ring; the caller is in its wait queue for polling
 *
 * Context: any but hard interrupts.
 * Return: EPOLL...
 */
__poll_t vrfm_ring_polled(struct vrfm_ring_ctx *ring)
{
	const struct vrfm_ringbuf *buf = &ring->buf;
	__poll_t mask = 0;

	spin_lock_bh(&ring->lock);
	if (ring->gone)
		mask |= EPOLLERR | EPOLLHUP;
	if (!vrfm_ringbuf_unread(buf))
		goto unlock;
	if (vrfm_ringbuf_passed(buf, READ_ONCE(ring->user->wake)) ||
	    vrfm_ring_is_full_locked(ring) || vrfm_ring_is_due_locked(ring) ||
	    ring->gone)
		mask |= EPOLLIN | EPOLLRDNORM;
	else
		vrfm_ring_arm_locked(ring);
unlock:
	spin_unlock_bh(&ring->lock);
	return mask;
}
