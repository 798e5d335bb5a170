// SPDX-License-Identifier: GPL-2.0
/*
 * Events: interrupts that other nodes send, and faults that this node's links
 * raise.
 *
 * All state belongs to the device, not to a file. Each type has one enable
 * flag, one queue, one count and one waiter. vrfm_dev.lock protects them. The
 * waiter is a task, or a ring that takes the events.
 */
#include <linux/ktime.h>
#include <linux/nospec.h>
#include <linux/sched.h>

#include "ring.h"
#include "trace.h"

/**
 * vrfm_events_init - initialize events to the state of a card that has started:
 * only faults are enabled
 * @vdev: device
 */
void vrfm_events_init(struct vrfm_dev *vdev)
{
	struct vrfm_event *event;
	bool deep;
	u32 type;

	for (type = 0; type < RFM2G_EVENTS; type++) {
		deep = type >= RFM2G_EVENT_INTR1 && type <= RFM2G_EVENT_INTR4;
		event = &vdev->events[type];
		vrfm_queue_init(&event->queue,
				deep ? VRFM_QUEUE_DEPTH : 1,
				VRFM_FAULT_EVENTS & BIT(type),
				type == RFM2G_EVENT_BAD_DATA ||
				type == RFM2G_EVENT_SYNC_LOSS);
		init_waitqueue_head(&event->wait);
	}
}

/* Hand events that have become ready to the waiter, and wake tasks that poll. */
static void vrfm_event_ready_locked(struct vrfm_dev *vdev, u32 type)
{
	struct vrfm_event *event = &vdev->events[type];

	lockdep_assert_held(&vdev->lock);
	if (event->taker)
		vrfm_sub_take_locked(event->taker, type, &event->queue);
	if (event->queue.ready)
		wake_up_all(&event->wait);
}

/**
 * vrfm_event_enable_locked - enable or disable a type of event, with the lock
 * held
 * @vdev: device
 * @type: type of event, below %RFM2G_EVENTS
 * @enable: true: enable the type; false: disable it
 *
 * Events that arrived while the type was disabled become ready when it is
 * enabled. Disabling does not end a wait.
 */
void vrfm_event_enable_locked(struct vrfm_dev *vdev, u32 type, bool enable)
{
	struct vrfm_event *event = &vdev->events[type];

	lockdep_assert_held(&vdev->lock);
	if (!enable)
		vrfm_queue_disable(&event->queue);
	else if (!event->queue.enabled && vrfm_queue_enable(&event->queue))
		vrfm_event_ready_locked(vdev, type);
	vrfm_regs_publish_locked(vdev);
}

static int vrfm_event_switch(struct vrfm_dev *vdev, u32 type, bool enable)
{
	if (type >= RFM2G_EVENTS)
		return -EINVAL;
	type = array_index_nospec(type, RFM2G_EVENTS);
	spin_lock_bh(&vdev->lock);
	vrfm_event_enable_locked(vdev, type, enable);
	spin_unlock_bh(&vdev->lock);
	return 0;
}

/**
 * vrfm_event_enable - enable a type of event
 * @vdev: device
 * @type: enum rfm2g_event
 *
 * Return: 0, also if the type was already enabled; -EINVAL if there is no such
 * type.
 */
int vrfm_event_enable(struct vrfm_dev *vdev, u32 type)
{
	return vrfm_event_switch(vdev, type, true);
}

/**
 * vrfm_event_disable - disable a type of event, so that later events are queued
 * until it is enabled
 * @vdev: device
 * @type: enum rfm2g_event
 *
 * Return: 0, also if the type was already disabled; -EINVAL if there is no such
 * type.
 */
int vrfm_event_disable(struct vrfm_dev *vdev, u32 type)
{
	return vrfm_event_switch(vdev, type, false);
}

static void vrfm_event_tap(struct vrfm_dev *vdev, u32 type, u16 node, u32 data)
{
	const struct vrfm_record record = {
		.type = VRFM_REC_RAISED,
		.node = type == RFM2G_EVENT_RESET ? VRFM_REC_NO_NODE : node,
		.event = { .event = type, .data = data },
	};

	vrfm_tap(vdev, &record, NULL, 0);
}

/**
 * vrfm_event_raise - queue an event, copy it to rings, and wake its waiter
 * @vdev: device
 * @type: type of event, below %RFM2G_EVENTS
 * @node: id of the sender; for a fault: id of the peer that the fault concerns
 * @data: data of the sender
 *
 * For a reset, @node and @data are ignored and stored as 0.
 *
 * Context: any but hard interrupts.
 */
void vrfm_event_raise(struct vrfm_dev *vdev, u32 type, u16 node, u32 data)
{
	struct vrfm_event *event = &vdev->events[type];

	if (type == RFM2G_EVENT_RESET) {
		node = 0;
		data = 0;
	}
	trace_vrfm_event_raised(vdev->unit, node, type, data);
	spin_lock_bh(&vdev->lock);
	vrfm_rings_event_locked(vdev, type, node, data);
	if (vrfm_is_tapped(vdev, VRFM_TAP_KIND(VRFM_REC_RAISED)))
		vrfm_event_tap(vdev, type, node, data);
	if (vrfm_queue_push(&event->queue, node, data))
		vrfm_event_ready_locked(vdev, type);
	vrfm_regs_publish_locked(vdev);
	spin_unlock_bh(&vdev->lock);
}

static bool vrfm_event_over(const struct vrfm_event *event,
			    const struct vrfm_waiter *waiter)
{
	return READ_ONCE(waiter->cancelled) || READ_ONCE(event->queue.ready);
}

/*
 * Begin a wait. If LOOK is set, return -ETIMEDOUT instead of becoming the
 * waiter, so that other tasks can wait.
 *
 * Return: 0: @entry is set to an event; -EINPROGRESS: @waiter is the waiter of
 * the type now; or another error: the wait ends at once.
 */
static int vrfm_event_wait_begin(struct vrfm_dev *vdev, u32 type, bool look,
				 struct vrfm_waiter *waiter,
				 struct vrfm_entry *entry)
{
	struct vrfm_event *event = &vdev->events[type];
	int ret = -EINPROGRESS;

	spin_lock_bh(&vdev->lock);
	if (event->waiter || event->taker)
		ret = -EALREADY;
	else if (vrfm_queue_take(&event->queue, entry))
		ret = 0;
	else if (vdev->gone)
		ret = -EIDRM;
	else if (look)
		ret = -ETIMEDOUT;
	else
		event->waiter = waiter;
	if (!ret)
		vrfm_regs_publish_locked(vdev);
	spin_unlock_bh(&vdev->lock);
	return ret;
}

/*
 * Decide whether a wait ends; @woken is the result of vrfm_event_sleep().
 *
 * Return: 0: @entry is set to an event; -EINPROGRESS: the wait continues,
 * because the queue was cleared before @waiter took the event; or another
 * error: the wait has ended without an event.
 */
static int vrfm_event_wait_end(struct vrfm_dev *vdev, u32 type,
			       struct vrfm_waiter *waiter,
			       struct vrfm_entry *entry, int woken)
{
	struct vrfm_event *event = &vdev->events[type];
	int ret = -EINPROGRESS;

	spin_lock_bh(&vdev->lock);
	if (vrfm_queue_take(&event->queue, entry))
		ret = 0;
	else if (waiter->cancelled)
		ret = -EIDRM;
	else if (woken < 0)
		ret = -ERESTARTNOHAND;
	else if (!woken)
		ret = -ETIMEDOUT;
	if (!ret)
		vrfm_regs_publish_locked(vdev);
	if (ret != -EINPROGRESS)
		event->waiter = NULL;
	spin_unlock_bh(&vdev->lock);
	return ret;
}

/*
 * Sleep until the wait may end. The timeout is a high-resolution timer, because
 * a timeout in jiffies may end too early: a virtual CPU may miss ticks, and
 * jiffies then advances by all missed ticks at once.
 *
 * Return: 1 if the wait may end; 0 after the timeout; an error after a signal.
 */
static int vrfm_event_sleep(struct vrfm_event *event,
			    const struct vrfm_waiter *waiter, ktime_t end)
{
	ktime_t left = KTIME_MAX;
	int ret;

	if (end != KTIME_MAX)
		left = max_t(ktime_t, ktime_sub(end, ktime_get()), 0);
	ret = wait_event_interruptible_hrtimeout(event->wait,
						 vrfm_event_over(event, waiter),
						 left);
	if (!ret)
		return 1;
	return ret == -ETIME ? 0 : ret;
}

/**
 * vrfm_event_wait - wait for an event
 * @vdev: device
 * @file: file that the task waits through; a close() of the file ends the wait
 * @type: enum rfm2g_event
 * @timeout_ms: time limit in ms; %RFM2G_INFINITE_TIMEOUT means no limit, 0
 *	means do not wait
 * @entry: set to the event if this returns 0
 *
 * A caller may wait for a type that is disabled. The wait ends with -ETIMEDOUT
 * unless the type is enabled in time.
 *
 * Context: may sleep.
 * Return: 0; -EINVAL if there is no such type; -EALREADY if another task waits
 * for this type, or a ring takes it; -ETIMEDOUT; -EIDRM if the wait was cancelled or the device was
 * destroyed; -ERESTARTNOHAND if the task got a signal, or was frozen, stopped
 * or traced. If a signal handler ran, the system call returns -EINTR. Otherwise
 * the kernel restarts it, with its whole timeout.
 */
int vrfm_event_wait(struct vrfm_dev *vdev, struct file *file, u32 type,
		    u32 timeout_ms, struct vrfm_entry *entry)
{
	struct vrfm_waiter waiter = { .file = file, .owner = current->files };
	ktime_t end = timeout_ms == RFM2G_INFINITE_TIMEOUT ?
		      KTIME_MAX : ktime_add_ms(ktime_get(), timeout_ms);
	struct vrfm_event *event;
	int ret, woken;

	if (type >= RFM2G_EVENTS)
		return -EINVAL;
	type = array_index_nospec(type, RFM2G_EVENTS);
	event = &vdev->events[type];
	ret = vrfm_event_wait_begin(vdev, type, !timeout_ms, &waiter, entry);
	while (ret == -EINPROGRESS) {
		woken = vrfm_event_sleep(event, &waiter, end);
		ret = vrfm_event_wait_end(vdev, type, &waiter, entry, woken);
	}
	return ret;
}

static bool vrfm_event_cancel_locked(struct vrfm_dev *vdev, u32 type)
{
	struct vrfm_event *event = &vdev->events[type];

	lockdep_assert_held(&vdev->lock);
	if (event->taker) {
		vrfm_sub_cancel_locked(event->taker, type);
		event->taker = NULL;
		return true;
	}
	if (!event->waiter)
		return false;
	WRITE_ONCE(event->waiter->cancelled, true);
	wake_up_all(&event->wait);
	return true;
}

/**
 * vrfm_event_cancel - cancel the wait for a type of event, by a task or a ring
 * @vdev: device
 * @type: enum rfm2g_event
 *
 * Return: 0; -EINVAL if there is no such type; -ENOSYS if neither a task nor
 * a ring waits.
 */
int vrfm_event_cancel(struct vrfm_dev *vdev, u32 type)
{
	bool waited;

	if (type >= RFM2G_EVENTS)
		return -EINVAL;
	type = array_index_nospec(type, RFM2G_EVENTS);
	spin_lock_bh(&vdev->lock);
	waited = vrfm_event_cancel_locked(vdev, type);
	spin_unlock_bh(&vdev->lock);
	return waited ? 0 : -ENOSYS;
}

/**
 * vrfm_events_cancel - cancel the waits of a process through a file
 * @vdev: device
 * @file: open file of the process; NULL: cancel the waits of all processes,
 *	because the device is being destroyed
 * @owner: owner of the file in the process, as in flush()
 * @types: a bit for each type of event to cancel
 */
void vrfm_events_cancel(struct vrfm_dev *vdev, struct file *file,
			fl_owner_t owner, u32 types)
{
	struct vrfm_event *event;
	u32 type;

	spin_lock_bh(&vdev->lock);
	for (type = 0; type < RFM2G_EVENTS; type++) {
		if (!(types & BIT(type)))
			continue;
		event = &vdev->events[type];
		if (!file || (event->waiter && event->waiter->file == file &&
			      event->waiter->owner == owner))
			vrfm_event_cancel_locked(vdev, type);
		/*
		 * The device is being destroyed: wake tasks that poll, so that
		 * they notice it.
		 */
		if (!file)
			wake_up_all(&event->wait);
	}
	spin_unlock_bh(&vdev->lock);
}

/*
 * Clear the bit of a fault in the status register when the events of the fault
 * are cleared.
 */
static void vrfm_event_unlatch_locked(struct vrfm_dev *vdev, u32 type)
{
	static const u32 bits[RFM2G_EVENTS] = {
		[RFM2G_EVENT_BAD_DATA] = VRFM_LCSR_BAD_DATA,
		[RFM2G_EVENT_RXFIFO_FULL] = VRFM_LCSR_RX_FULL,
		[RFM2G_EVENT_RXFIFO_AFULL] = VRFM_LCSR_RX_AFULL,
		[RFM2G_EVENT_SYNC_LOSS] = VRFM_LCSR_SYNC_LOSS,
	};

	lockdep_assert_held(&vdev->lock);
	vdev->regs.lcsr &= ~bits[type];
}

/**
 * vrfm_event_clear - remove all events of a type
 * @vdev: device
 * @type: enum rfm2g_event
 *
 * Events that wait until the type is enabled are removed as well. The count of
 * events stays. A wait does not end.
 *
 * Return: 0; -EINVAL if there is no such type.
 */
int vrfm_event_clear(struct vrfm_dev *vdev, u32 type)
{
	if (type >= RFM2G_EVENTS)
		return -EINVAL;
	type = array_index_nospec(type, RFM2G_EVENTS);
	spin_lock_bh(&vdev->lock);
	vrfm_queue_clear(&vdev->events[type].queue);
	vrfm_event_unlatch_locked(vdev, type);
	vrfm_regs_publish_locked(vdev);
	spin_unlock_bh(&vdev->lock);
	return 0;
}

/**
 * vrfm_event_clear_count - reset the count of events of a type to 0
 * @vdev: device
 * @type: enum rfm2g_event
 *
 * Return: 0; -EINVAL if there is no such type.
 */
int vrfm_event_clear_count(struct vrfm_dev *vdev, u32 type)
{
	if (type >= RFM2G_EVENTS)
		return -EINVAL;
	type = array_index_nospec(type, RFM2G_EVENTS);
	spin_lock_bh(&vdev->lock);
	vrfm_queue_clear_count(&vdev->events[type].queue);
	spin_unlock_bh(&vdev->lock);
	return 0;
}

/**
 * vrfm_event_info - return statistics of a type of event
 * @vdev: device
 * @info: @info->event gives the type; the function sets all other members
 *
 * Return: 0; -EINVAL if there is no such type.
 */
int vrfm_event_info(struct vrfm_dev *vdev, struct rfm2g_queue_info *info)
{
	const struct vrfm_queue *q;

	if (info->event >= RFM2G_EVENTS)
		return -EINVAL;
	q = &vdev->events[array_index_nospec(info->event, RFM2G_EVENTS)].queue;
	spin_lock_bh(&vdev->lock);
	*info = (struct rfm2g_queue_info){
		.event = info->event,
		.overflowed = q->overflowed,
		.queue_peak = q->peak,
		.event_count = q->count,
		.events_queued = q->ready,
		.queue_size = q->depth,
		.max_queue_size = q->depth,
	};
	spin_unlock_bh(&vdev->lock);
	return 0;
}

/**
 * vrfm_events_ready - return the types that have an event to take
 * @vdev: device
 *
 * Return: a bit for each type.
 */
u32 vrfm_events_ready(struct vrfm_dev *vdev)
{
	u32 type, ready = 0;

	for (type = 0; type < RFM2G_EVENTS; type++)
		if (READ_ONCE(vdev->events[type].queue.ready))
			ready |= BIT(type);
	return ready;
}

/**
 * vrfm_events_wake - wake tasks that poll, so that they check again
 * @vdev: device
 */
void vrfm_events_wake(struct vrfm_dev *vdev)
{
	u32 type;

	for (type = 0; type < RFM2G_EVENTS; type++)
		wake_up_all(&vdev->events[type].wait);
}

/* Check whether no task and no ring waits for any of some types. */
static bool vrfm_events_are_free_locked(struct vrfm_dev *vdev, u32 types)
{
	u32 type;

	lockdep_assert_held(&vdev->lock);
	for (type = 0; type < RFM2G_EVENTS; type++)
		if (types & BIT(type) && (vdev->events[type].waiter ||
					  vdev->events[type].taker))
			return false;
	return true;
}

/**
 * vrfm_events_take - make a ring the waiter of some types of events
 * @sub: subscription of the ring
 * @types: a bit for each type
 *
 * Events that are ready move to the ring at once.
 *
 * Context: any but hard interrupts.
 * Return: 0; -EALREADY: one of the types has a waiter, so that the ring takes
 * none; -ENODEV: the device was removed.
 */
int vrfm_events_take(struct vrfm_sub *sub, u32 types)
{
	struct vrfm_dev *vdev = sub->ring->vdev;
	int ret = 0;
	u32 type;

	spin_lock_bh(&vdev->lock);
	if (vdev->gone)
		ret = -ENODEV;
	else if (!vrfm_events_are_free_locked(vdev, types))
		ret = -EALREADY;
	for (type = 0; type < RFM2G_EVENTS && !ret; type++) {
		if (!(types & BIT(type)))
			continue;
		vdev->events[type].taker = sub;
		vrfm_sub_take_locked(sub, type, &vdev->events[type].queue);
	}
	vrfm_regs_publish_locked(vdev);
	spin_unlock_bh(&vdev->lock);
	return ret;
}

/**
 * vrfm_events_untake - end what vrfm_events_take() has begun
 * @sub: any subscription
 *
 * Events that are still in the queues stay there.
 *
 * Context: any but hard interrupts.
 */
void vrfm_events_untake(struct vrfm_sub *sub)
{
	struct vrfm_dev *vdev = sub->ring->vdev;
	u32 type;

	spin_lock_bh(&vdev->lock);
	for (type = 0; type < RFM2G_EVENTS; type++) {
		if (vdev->events[type].taker != sub)
			continue;
		vrfm_sub_cancel_locked(sub, type);
		vdev->events[type].taker = NULL;
	}
	spin_unlock_bh(&vdev->lock);
}

/**
 * vrfm_events_feed - move events that did not fit to a ring that has room now
 * @ring: ring
 *
 * Context: any but hard interrupts.
 */
void vrfm_events_feed(struct vrfm_ring_ctx *ring)
{
	struct vrfm_dev *vdev = ring->vdev;
	struct vrfm_event *event;
	u32 type;

	spin_lock_bh(&vdev->lock);
	for (type = 0; type < RFM2G_EVENTS; type++) {
		event = &vdev->events[type];
		if (event->taker && event->taker->ring == ring)
			vrfm_sub_take_locked(event->taker, type, &event->queue);
	}
	vrfm_regs_publish_locked(vdev);
	spin_unlock_bh(&vdev->lock);
}
