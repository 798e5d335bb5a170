// SPDX-License-Identifier: GPL-2.0
/* Add subscriptions to rings, and remove them (VRFM_RING_SUBSCRIBE). */
#include <linux/rculist.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "direct_path.h"
#include "link.h"
#include "ring.h"

static bool vrfm_subscribe_names_nodes(const struct vrfm_subscribe *args)
{
	return args->nodes[0] | args->nodes[1] | args->nodes[2] |
	       args->nodes[3];
}

static int vrfm_subscribe_check_tap(const struct vrfm_dev *vdev,
				    const struct vrfm_subscribe *args)
{
	if (args->flags & ~VRFM_SUB_ALL || args->events || !args->kinds ||
	    args->kinds & ~VRFM_TAP_KINDS)
		return -EINVAL;
	if (!args->length)
		return args->offset ? -EINVAL : 0;
	return vrfm_inside(vdev, args->offset, args->length) ? 0 : -EINVAL;
}

static int vrfm_subscribe_check(const struct vrfm_dev *vdev,
				const struct vrfm_subscribe *args)
{
	const bool take = args->flags & VRFM_SUB_TAKE;
	const bool ranged = args->what == VRFM_SUB_RANGE;

	if (args->what == VRFM_SUB_TAP)
		return vrfm_subscribe_check_tap(vdev, args);
	if (args->kinds || (!ranged && (args->offset || args->length)))
		return -EINVAL;
	if (args->flags == VRFM_SUB_REMOVE)
		return args->what || args->events ||
		       vrfm_subscribe_names_nodes(args) ? -EINVAL : 0;
	if (args->flags & ~(ranged ? VRFM_SUB_OWN : VRFM_SUB_TAKE))
		return -EINVAL;
	switch (args->what) {
	case VRFM_SUB_EVENTS:
		if (!args->events || args->events & ~VRFM_ALL_EVENTS)
			return -EINVAL;
		/* The queue of the device has one order for all senders. */
		return take && vrfm_subscribe_names_nodes(args) ? -EINVAL : 0;
	case VRFM_SUB_RANGE:
		return args->events || !args->length ||
		       !vrfm_inside(vdev, args->offset, args->length) ?
		       -EINVAL : 0;
	case VRFM_SUB_LINKS:
		return take || args->events ? -EINVAL : 0;
	default:
		return -EINVAL;
	}
}

static void vrfm_sub_alloc_tap(struct vrfm_sub *sub,
			       const struct vrfm_subscribe *args)
{
	u32 size = sub->ring->vdev->params.size;

	sub->tap = (struct vrfm_filter){
		.kinds = args->kinds,
		.from = args->offset,
		.to = args->length ? args->offset + args->length : size,
		.all = args->flags & VRFM_SUB_ALL,
	};
	memcpy(sub->tap.nodes, args->nodes, sizeof(sub->tap.nodes));
}

static struct vrfm_sub *vrfm_sub_alloc(struct vrfm_ring_ctx *ring,
				       const struct vrfm_subscribe *args)
{
	struct vrfm_sub *sub = kzalloc(sizeof(*sub), GFP_KERNEL_ACCOUNT);

	BUILD_BUG_ON(sizeof(sub->nodes) != sizeof(args->nodes));
	if (!sub)
		return NULL;
	INIT_LIST_HEAD(&sub->entry);
	sub->ring = ring;
	sub->cookie = args->cookie;
	memcpy(sub->nodes, args->nodes, sizeof(sub->nodes));
	if (args->what == VRFM_SUB_LINKS) {
		sub->links = kzalloc(sizeof(*sub->links), GFP_KERNEL_ACCOUNT);
		if (!sub->links) {
			kfree(sub);
			return NULL;
		}
	} else if (args->what == VRFM_SUB_RANGE) {
		sub->range.from = args->offset;
		sub->range.to = args->offset + args->length;
		sub->own = args->flags & VRFM_SUB_OWN;
	} else if (args->what == VRFM_SUB_TAP) {
		vrfm_sub_alloc_tap(sub, args);
	} else if (!(args->flags & VRFM_SUB_TAKE)) {
		sub->copies = args->events;
	}
	return sub;
}

/* Free a subscription that is in no list, and takes no events. */
static void vrfm_sub_free(struct vrfm_sub *sub)
{
	kfree(sub->links);
	kfree(sub);
}

/* Return the number of bytes in the range of a subscription. */
static u32 vrfm_sub_ranged(const struct vrfm_sub *sub)
{
	return sub->range.to - sub->range.from;
}

static int vrfm_sub_enlist(struct vrfm_sub *sub)
{
	struct vrfm_ring_ctx *ring = sub->ring;
	u32 ranged = vrfm_sub_ranged(sub);
	int ret = 0;

	spin_lock_bh(&ring->lock);
	if (ring->nsubs == VRFM_RING_SUBS_MAX) {
		ret = -ENOSPC;
	} else if (ranged > VRFM_RING_RANGE_MAX - ring->ranged) {
		ret = -E2BIG;
	} else {
		ring->nsubs++;
		WRITE_ONCE(ring->ranged, ring->ranged + ranged);
		WRITE_ONCE(ring->kinds, ring->kinds | sub->tap.kinds);
		list_add_tail(&sub->entry, &ring->subs);
	}
	spin_unlock_bh(&ring->lock);
	return ret;
}

static void vrfm_sub_unlist_locked(struct vrfm_sub *sub)
{
	struct vrfm_ring_ctx *ring = sub->ring;
	u32 kinds = 0;

	lockdep_assert_held(&ring->lock);
	ring->nsubs--;
	WRITE_ONCE(ring->ranged, ring->ranged - vrfm_sub_ranged(sub));
	list_del(&sub->entry);
	list_for_each_entry(sub, &ring->subs, entry)
		kinds |= sub->tap.kinds;
	WRITE_ONCE(ring->kinds, kinds);
}

static void vrfm_sub_unlist(struct vrfm_sub *sub)
{
	spin_lock_bh(&sub->ring->lock);
	vrfm_sub_unlist_locked(sub);
	spin_unlock_bh(&sub->ring->lock);
	vrfm_taps_update(sub->ring->vdev);
}

/* Report the present state of all peers. Later changes follow in order. */
static void vrfm_sub_report_links(struct vrfm_sub *sub)
{
	struct vrfm_link *link;

	rcu_read_lock();
	list_for_each_entry_rcu(link, &sub->ring->vdev->links, entry)
		vrfm_status_report(link, sub);
	rcu_read_unlock();
}

/*
 * Report the writes into the range of a subscription from now on. Wait until
 * peers do not write there directly, because this node does not notice direct
 * writes.
 */
static int vrfm_sub_begin_range(struct vrfm_sub *sub)
{
	struct vrfm_dev *vdev = sub->ring->vdev;
	int ret;

	vrfm_ranges_begin();
	ret = vrfm_stage_pin_part(vdev, sub->range.from, vrfm_sub_ranged(sub));
	if (ret) {
		vrfm_ranges_end();
		return ret;
	}
	rt_mutex_lock(&vdev->write_lock);
	vrfm_sub_image(sub, vrfm_is_loading(vdev));
	rt_mutex_unlock(&vdev->write_lock);
	return 0;
}

/* Undo vrfm_sub_begin_range(). The subscription is in no list any more. */
static void vrfm_sub_end_range(struct vrfm_sub *sub)
{
	vrfm_stage_unpin(sub->ring->vdev, vrfm_range(sub->range.from),
			 vrfm_range(sub->range.to - 1));
	vrfm_ranges_end();
}

/* Report the peers that may write directly. Later changes follow in order. */
static void vrfm_sub_report_holes(struct vrfm_sub *sub)
{
	struct vrfm_link *link;

	rcu_read_lock();
	list_for_each_entry_rcu(link, &sub->ring->vdev->links, entry)
		vrfm_direct_report(link, sub);
	rcu_read_unlock();
}

/*
 * Let hooks check for taps. If the tap wants all writes, wait until peers do not
 * write directly into its part.
 */
static int vrfm_sub_begin_tap(struct vrfm_sub *sub)
{
	const struct vrfm_filter *tap = &sub->tap;
	int ret = 0;

	vrfm_taps_begin(sub->ring->vdev);
	if (tap->all)
		ret = vrfm_stage_pin_part(sub->ring->vdev, tap->from,
					  tap->to - tap->from);
	else
		vrfm_sub_report_holes(sub);
	if (ret)
		vrfm_taps_end(sub->ring->vdev);
	return ret;
}

/* Undo vrfm_sub_begin_tap(). The subscription is in no list any more. */
static void vrfm_sub_end_tap(struct vrfm_sub *sub)
{
	if (sub->tap.all)
		vrfm_stage_unpin(sub->ring->vdev, vrfm_range(sub->tap.from),
				 vrfm_range(sub->tap.to - 1));
	vrfm_taps_end(sub->ring->vdev);
}

static int vrfm_sub_add(struct vrfm_ring_ctx *ring,
			const struct vrfm_subscribe *args)
{
	struct vrfm_sub *sub = vrfm_sub_alloc(ring, args);
	int ret;

	if (!sub)
		return -ENOMEM;
	ret = vrfm_sub_enlist(sub);
	if (ret)
		goto err_free;
	if (args->what == VRFM_SUB_RANGE)
		ret = vrfm_sub_begin_range(sub);
	else if (args->what == VRFM_SUB_TAP)
		ret = vrfm_sub_begin_tap(sub);
	else if (args->flags & VRFM_SUB_TAKE)
		ret = vrfm_events_take(sub, args->events);
	if (ret)
		goto err_unlist;
	if (sub->links)
		vrfm_sub_report_links(sub);
	return 0;

err_unlist:
	vrfm_sub_unlist(sub);
err_free:
	vrfm_sub_free(sub);
	return ret;
}

/* Take the first subscription that has a cookie off the list of its ring. */
static struct vrfm_sub *vrfm_sub_pop(struct vrfm_ring_ctx *ring,
				     const u64 *cookie)
{
	struct vrfm_sub *sub;

	spin_lock_bh(&ring->lock);
	list_for_each_entry(sub, &ring->subs, entry)
		if (!cookie || sub->cookie == *cookie) {
			vrfm_sub_unlist_locked(sub);
			spin_unlock_bh(&ring->lock);
			return sub;
		}
	spin_unlock_bh(&ring->lock);
	return NULL;
}

/*
 * Free all subscriptions of a ring, or all that have @cookie. Return -ENOENT if
 * there is none.
 */
static int vrfm_subs_remove(struct vrfm_ring_ctx *ring, const u64 *cookie)
{
	struct vrfm_sub *sub;
	int ret = -ENOENT;

	while ((sub = vrfm_sub_pop(ring, cookie))) {
		vrfm_events_untake(sub);
		if (sub->range.to)
			vrfm_sub_end_range(sub);
		if (sub->tap.kinds)
			vrfm_sub_end_tap(sub);
		vrfm_sub_free(sub);
		ret = 0;
	}
	return ret;
}

/**
 * vrfm_ring_subscribe - add a subscription to a ring, or remove some
 * @ring: ring
 * @args: arguments of the program
 *
 * Context: may sleep.
 * Return: 0; -EINVAL: invalid arguments; -EALREADY: a type of event has a
 * waiter; -ENODEV: the device was removed; -ENOENT: no subscription has the
 * cookie; -ENOSPC: too many subscriptions; -E2BIG: too many bytes in ranges;
 * -ETIMEDOUT: a peer may still write into the range directly; -EINTR: killed;
 * -EPERM: the caller must not tap; -ENOMEM.
 */
int vrfm_ring_subscribe(struct vrfm_ring_ctx *ring,
			const struct vrfm_subscribe *args)
{
	int ret = vrfm_subscribe_check(ring->vdev, args);

	if (ret)
		return ret;
	if (args->what == VRFM_SUB_TAP && !vrfm_may_tap())
		return -EPERM;
	if (READ_ONCE(ring->vdev->gone))
		return -ENODEV;
	ret = mutex_lock_killable(&ring->control);
	if (ret)
		return ret;
	if (args->flags == VRFM_SUB_REMOVE)
		ret = vrfm_subs_remove(ring, &args->cookie);
	else
		ret = vrfm_sub_add(ring, args);
	/* A removed subscription may have waited for free slots. */
	vrfm_ring_flush(ring);
	mutex_unlock(&ring->control);
	return ret;
}

/**
 * vrfm_subs_free - free all subscriptions of a ring that is being closed
 * @ring: ring
 *
 * Context: may sleep.
 */
void vrfm_subs_free(struct vrfm_ring_ctx *ring)
{
	vrfm_subs_remove(ring, NULL);
}
