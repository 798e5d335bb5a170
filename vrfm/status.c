// SPDX-License-Identifier: GPL-2.0
/*
 * The status page: a page with the state of the peers. A control loop maps this
 * page, and reads it without a system call.
 *
 * The page belongs to the device. An entry is written only under the lock of
 * its link, so it has one writer at a time. @lag and @heard_ns change alone,
 * each by one store. The other members change together, between two changes of
 * @seq.
 *
 * Rings get a record for each change of the state, the flags or the error.
 */
#include <linux/build_bug.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/stddef.h>
#include <linux/vmalloc.h>

#include "compat.h"
#include "link.h"
#include "ring.h"

/**
 * vrfm_status_alloc - allocate the status page of a device
 * @vdev: device, with its parameters
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int vrfm_status_alloc(struct vrfm_dev *vdev)
{
	BUILD_BUG_ON(sizeof(struct vrfm_status_peer) != 64);
	BUILD_BUG_ON(offsetof(struct vrfm_status, peers) != 64);
	BUILD_BUG_ON((int)VRFM_STATUS_NODES != (int)VRFM_NODES);
	vdev->status = vmalloc_user(sizeof(*vdev->status));
	if (!vdev->status)
		return -ENOMEM;
	vdev->status->version = VRFM_STATUS_VERSION;
	vdev->status->size = sizeof(*vdev->status);
	vdev->status->first = offsetof(struct vrfm_status, peers);
	vdev->status->peer_size = sizeof(struct vrfm_status_peer);
	vdev->status->nodes = VRFM_STATUS_NODES;
	vdev->status->node = vdev->params.node;
	return 0;
}

/**
 * vrfm_status_free - free the status page
 * @vdev: device that nothing maps any more
 *
 * Context: may sleep.
 */
void vrfm_status_free(struct vrfm_dev *vdev)
{
	vfree(vdev->status);
}

/**
 * vrfm_status_mmap - map the status page, read-only
 * @vdev: device
 * @vma: mapping
 *
 * Return: 0; -EACCES: @vma would be writable; -EINVAL: @vma is longer than the
 * status page.
 */
int vrfm_status_mmap(struct vrfm_dev *vdev, struct vm_area_struct *vma)
{
	if (vma->vm_flags & VM_WRITE)
		return -EACCES;
	vm_flags_clear(vma, VM_MAYWRITE);
	return remap_vmalloc_range(vma, vdev->status, 0);
}

static struct vrfm_status_peer *vrfm_status_of(const struct vrfm_link *link)
{
	return &link->vdev->status->peers[link->peer.node];
}

static void vrfm_status_shown_locked(const struct vrfm_link *link,
				     struct vrfm_peer_shown *shown)
{
	lockdep_assert_held(&link->lock);
	*shown = (struct vrfm_peer_shown){
		.state = link->state,
		.flags = vrfm_status_of(link)->flags,
	};
	if (link->state == VRFM_DOWN)
		shown->error = -link->failure.down_error;
}

/**
 * vrfm_status_report - report the present state of a link to a subscription
 * @link: link
 * @sub: subscription about peers
 *
 * Context: any but hard interrupts.
 */
void vrfm_status_report(struct vrfm_link *link, struct vrfm_sub *sub)
{
	struct vrfm_peer_shown shown;

	spin_lock_bh(&link->lock);
	vrfm_status_shown_locked(link, &shown);
	/* The peer may have been removed since the caller found the link. */
	if (shown.flags & VRFM_STATUS_PRESENT)
		vrfm_sub_link(sub, link->peer.node, &shown);
	spin_unlock_bh(&link->lock);
}

static void vrfm_status_write_locked(struct vrfm_link *link, u32 flags)
{
	struct vrfm_status_peer *peer = vrfm_status_of(link);
	struct vrfm_peer_shown shown;

	lockdep_assert_held(&link->lock);
	WRITE_ONCE(peer->seq, peer->seq + 1);
	smp_wmb(); /* make the odd seq visible before the new members */
	WRITE_ONCE(peer->state, link->state);
	WRITE_ONCE(peer->flags, flags);
	WRITE_ONCE(peer->since_ns, ktime_to_ns(link->since));
	WRITE_ONCE(peer->overloads, link->counts.overloads);
	WRITE_ONCE(peer->left, link->counts.left);
	smp_wmb(); /* make the new members visible before the even seq */
	WRITE_ONCE(peer->seq, peer->seq + 1);
	vrfm_status_shown_locked(link, &shown);
	vrfm_rings_link(link->vdev, link->peer.node, &shown);
}

/**
 * vrfm_status_update_locked - write the state of a link into the status page
 * @link: link, with its lock held
 *
 * Context: any.
 */
void vrfm_status_update_locked(struct vrfm_link *link)
{
	u32 flags = VRFM_STATUS_PRESENT;

	lockdep_assert_held(&link->lock);
	if (READ_ONCE(link->missed.lost))
		flags |= VRFM_PEER_MISSES_ALL;
	if (link->state != VRFM_DOWN && link->rx.synced)
		flags |= VRFM_PEER_SYNCED;
	vrfm_status_write_locked(link, flags);
}

/**
 * vrfm_status_lost - show whether a peer may lack all own words of this node
 * @link: link in the status page; its lock is not held
 *
 * Context: any but hard interrupts; vrfm_dev.write_lock is held, which protects
 * @link->missed.lost.
 */
void vrfm_status_lost(struct vrfm_link *link)
{
	u32 flags = READ_ONCE(vrfm_status_of(link)->flags);

	lockdep_assert_held(&link->vdev->write_lock);
	if (!(flags & VRFM_PEER_MISSES_ALL) == !link->missed.lost)
		return;
	spin_lock_bh(&link->lock);
	vrfm_status_update_locked(link);
	spin_unlock_bh(&link->lock);
}

/**
 * vrfm_status_lag_locked - show the number of unacknowledged messages
 * @link: link, with its lock held
 *
 * Context: any.
 */
void vrfm_status_lag_locked(struct vrfm_link *link)
{
	lockdep_assert_held(&link->lock);
	WRITE_ONCE(vrfm_status_of(link)->lag,
		   link->window.opened - link->window.acked);
}

/**
 * vrfm_status_heard_locked - show the time of the peer's last message
 * @link: link, with its lock held
 *
 * Context: any.
 */
void vrfm_status_heard_locked(struct vrfm_link *link)
{
	lockdep_assert_held(&link->lock);
	WRITE_ONCE(vrfm_status_of(link)->heard_ns, ktime_get_ns());
	vrfm_status_lag_locked(link);
}

/**
 * vrfm_status_add - add a peer to the status page
 * @link: link that has no connection yet
 *
 * Context: any.
 */
void vrfm_status_add(struct vrfm_link *link)
{
	spin_lock_bh(&link->lock);
	WRITE_ONCE(vrfm_status_of(link)->heard_ns, 0);
	WRITE_ONCE(vrfm_status_of(link)->lag, 0);
	vrfm_status_update_locked(link);
	spin_unlock_bh(&link->lock);
}

/**
 * vrfm_status_remove - remove a peer from the status page
 * @link: link that has no connection any more
 *
 * Context: any.
 */
void vrfm_status_remove(struct vrfm_link *link)
{
	spin_lock_bh(&link->lock);
	WRITE_ONCE(vrfm_status_of(link)->lag, 0);
	vrfm_status_write_locked(link, 0);
	spin_unlock_bh(&link->lock);
}
