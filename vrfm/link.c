// SPDX-License-Identifier: GPL-2.0
/*
 * Links: allocate the link of each peer, begin and end its connections, and
 * change its state.
 *
 * A link that is DOWN becomes SYNCING when a connection begins, and READY when
 * the peer has no missed words any more. If the peer is too slow, the link
 * becomes SYNCING again. When the connection ends, unacknowledged messages are
 * recorded as missed.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "compat.h"
#include "link.h"
#include "trace.h"

#define VRFM_PENALTY_MIN_MS 1000
#define VRFM_PENALTY_MAX_MS 30000

struct workqueue_struct *vrfm_wq;

/**
 * vrfm_link_init - create the workqueue of all links
 *
 * Return: 0 or -ENOMEM.
 */
int vrfm_link_init(void)
{
	vrfm_wq = alloc_workqueue(KBUILD_MODNAME,
				  WQ_UNBOUND | WQ_HIGHPRI | WQ_SYSFS, 0);
	return vrfm_wq ? 0 : -ENOMEM;
}

/**
 * vrfm_link_exit - destroy the workqueue of all links
 *
 * Context: may sleep; no link is left.
 */
void vrfm_link_exit(void)
{
	destroy_workqueue(vrfm_wq);
	/* Wait until RCU has freed all blocks, see vrfm_block_put(). */
	rcu_barrier();
}

/**
 * vrfm_link_state_name - return the name of a state, for statistics
 * @state: state of a link
 *
 * Return: name of the state.
 */
const char *vrfm_link_state_name(enum vrfm_link_state state)
{
	static const char * const names[] = {
		[VRFM_DOWN] = "down",
		[VRFM_SYNCING] = "syncing",
		[VRFM_READY] = "ready",
	};

	return names[state];
}

static void vrfm_link_become_locked(struct vrfm_link *link,
				    enum vrfm_link_state state)
{
	lockdep_assert_held(&link->lock);
	trace_vrfm_link(link->vdev->unit, link->peer.node, link->state, state,
			link->missed.map.set);
	if (link->state != state)
		link->since = ktime_get();
	WRITE_ONCE(link->state, state);
	vrfm_status_update_locked(link);
}

/**
 * vrfm_link_break_locked - disconnect after this node has found an error
 * @link: link, with its lock held
 *
 * The error: krdma_post() has failed, or the peer has broken the protocol.
 *
 * Context: any but hard interrupts.
 */
void vrfm_link_break_locked(struct vrfm_link *link)
{
	lockdep_assert_held(&link->lock);
	if (link->conn.cb)
		krdma_disconnect(link->conn.cb);
}

/**
 * vrfm_fault - set a fault's bit in the status register, then raise its event
 * @vdev: device
 * @bit: bit of the fault: VRFM_LCSR_...
 * @type: type of the event, up from %RFM2G_EVENT_BAD_DATA
 * @node: id of the peer that the fault concerns
 *
 * Context: any but hard interrupts.
 */
void vrfm_fault(struct vrfm_dev *vdev, u32 bit, u32 type, u32 node)
{
	vrfm_lcsr_update(vdev, bit, true);
	vrfm_event_raise(vdev, type, node, 0);
}

/**
 * vrfm_link_fall_back - make a link SYNCING
 * @link: link that is not DOWN
 *
 * Context: vrfm_dev.write_lock is held.
 */
void vrfm_link_fall_back(struct vrfm_link *link)
{
	lockdep_assert_held(&link->vdev->write_lock);
	spin_lock_bh(&link->lock);
	vrfm_link_become_locked(link, VRFM_SYNCING);
	/*
	 * Close the open message. It may have the flag SYNCED, which states
	 * that the peer gets all earlier writes. For an update that is appended
	 * later, this would be false.
	 */
	vrfm_slot(link, link->window.opened)->closed = true;
	vrfm_link_push_locked(link);
	spin_unlock_bh(&link->lock);
	/* Wake tasks that wait for this peer, which is not READY any more. */
	vrfm_link_wake_writers(link);
}

/**
 * vrfm_link_overloaded - leave a peer behind that is too slow
 * @link: link that is READY
 *
 * Context: vrfm_dev.write_lock is held.
 */
void vrfm_link_overloaded(struct vrfm_link *link)
{
	const unsigned long good = msecs_to_jiffies(VRFM_PENALTY_MAX_MS);

	lockdep_assert_held(&link->vdev->write_lock);
	if (!link->overload.penalty_ms ||
	    time_after(jiffies, link->overload.ready_since + good))
		link->overload.penalty_ms = VRFM_PENALTY_MIN_MS;
	link->overload.hold_until =
		jiffies + msecs_to_jiffies(link->overload.penalty_ms);
	link->overload.penalty_ms =
		min_t(u32, 2 * link->overload.penalty_ms, VRFM_PENALTY_MAX_MS);
	link->counts.overloads++;
	/*
	 * Set this bit before vrfm_link_fall_back(), which runs the link's
	 * work. The work then sends the message that notifies the peer.
	 */
	link->catchup.todo |= VRFM_TODO_BEHIND;
	vrfm_link_fall_back(link);
	vrfm_fault(link->vdev, VRFM_LCSR_RX_AFULL, RFM2G_EVENT_RXFIFO_AFULL,
		   link->peer.node);
	vrfm_link_say(link, VRFM_SAY_BEHIND);
}

/**
 * vrfm_link_ready - make a link READY
 * @link: link that is SYNCING, with a free message and no missed words
 *
 * Context: vrfm_dev.write_lock is held.
 */
void vrfm_link_ready(struct vrfm_link *link)
{
	lockdep_assert_held(&link->vdev->write_lock);
	link->overload.ready_since = jiffies;
	spin_lock_bh(&link->lock);
	vrfm_link_become_locked(link, VRFM_READY);
	vrfm_link_probe_locked(link);
	spin_unlock_bh(&link->lock);
	vrfm_link_events(link);
}

/* ---- up and down ---- */

static void vrfm_link_reset_locked(struct vrfm_link *link)
{
	lockdep_assert_held(&link->lock);
	link->window.opened = 0;
	link->window.posted = 0;
	link->window.completed = 0;
	link->window.acked = 0;
	link->window.granted = false;
	link->window.wants_room = false;
	link->receipt = (struct vrfm_receipt){ };
	link->conn.probed = 0;
	link->ack.again = false;
	link->report.info.kind = 0;
	link->request.load = 0;
	link->pull = (struct vrfm_pull){ };
	link->request.pulled.count = 0;
	link->rx.sequence = 0;
	link->rx.synced = false;
	link->rx.bad = false;
	vrfm_direct_reset_locked(link);
	vrfm_status_lag_locked(link);
}

/*
 * If the peer's device has begun another life, reset the state that belongs to
 * the earlier life. In its new life the device has received no words and no
 * events.
 */
static void vrfm_link_set_epoch(struct vrfm_link *link, u64 epoch)
{
	if (link->conn.peer_epoch == epoch)
		return;
	vrfm_link_miss_own(link);
	link->backlog.n = 0;
	link->lineage.filled = 0;
	link->rx.event = 0;
	link->rx.nheld = 0;
	link->conn.peer_epoch = epoch;
}

/**
 * vrfm_link_up - begin a connection
 * @link: link that is DOWN
 * @cb: established connection; belongs to the link until vrfm_link_down()
 * @epoch: id of this life of the peer's device
 *
 * Context: may sleep.
 */
void vrfm_link_up(struct vrfm_link *link, struct krdma_cb *cb, u64 epoch)
{
	struct krdma_caps caps = { .size = sizeof(caps) };

	if (krdma_query(cb, &caps) || caps.max_part < VRFM_MESSAGE_MIN) {
		krdma_disconnect(cb);
		return;
	}
	/*
	 * The link's work must not serve requests of the last connection.
	 * Nothing starts the work again while the link is DOWN.
	 */
	cancel_delayed_work_sync(&link->catchup.work);
	rt_mutex_lock(&link->vdev->write_lock);
	spin_lock_bh(&link->lock);
	vrfm_link_reset_locked(link);
	vrfm_link_set_epoch(link, epoch);
	link->conn.max_msg = min_t(u32, caps.max_part, VRFM_SLOT_SIZE);
	link->conn.reads_on = caps.virt_dma && krdma_may_read_on();
	link->conn.mtu = (struct vrfm_mtu){
		.path = caps.path_mtu,
		.local = caps.local_mtu,
		.peer = caps.peer_mtu,
	};
	link->conn.key_id = caps.key_id;
	link->conn.cb = cb;
	link->conn.heard = jiffies;
	link->counts.ups++;
	link->failure.rejected = VRFM_REJECT_NONE;
	link->failure.dial_error = 0;
	link->overload.hold_until = jiffies;
	vrfm_link_become_locked(link, VRFM_SYNCING);
	/*
	 * Send waiting events before later ones: the peer ignores an event if
	 * its number is lower than that of an event that the peer already has.
	 */
	vrfm_link_events_locked(link);
	/*
	 * Send an ACK for its flag GRANT, which it lacks only while this node
	 * loads an image.
	 */
	vrfm_link_ack_locked(link);
	spin_unlock_bh(&link->lock);
	vrfm_resync_link_up(link);
	rt_mutex_unlock(&link->vdev->write_lock);
	vrfm_regs_peers(link->vdev, 0, 1);
	pr_info_ratelimited("%s: node %u is linked\n",
			    dev_name(&link->vdev->dev), link->peer.node);
	vrfm_catchup_kick(link);
	vrfm_keys_check(link);
}

/**
 * vrfm_link_down - end a connection
 * @link: link; if vrfm_link_up() was called, no request is in flight any more
 * @reason: errno of krdma
 *
 * Context: may sleep.
 */
void vrfm_link_down(struct vrfm_link *link, int reason)
{
	struct vrfm_dev *vdev = link->vdev;
	struct krdma_region *region;
	bool was;

	mutex_lock(&link->direct.setup);
	rt_mutex_lock(&vdev->write_lock);
	spin_lock_bh(&link->lock);
	was = link->conn.cb;
	if (was) {
		/* After a malformed message, -EPROTO is the reason. */
		link->failure.down_error = link->rx.bad ? -EPROTO : reason;
		/*
		 * Forget the last rejection: it may concern another node, which
		 * tried to connect during this connection.
		 */
		link->failure.rejected = VRFM_REJECT_NONE;
		link->failure.down_at = ktime_get();
	}
	link->conn.cb = NULL;
	vrfm_link_become_locked(link, VRFM_DOWN);
	spin_unlock_bh(&link->lock);
	if (was) {
		vrfm_link_events_again(link);
		vrfm_resync_link_down(link);
	}
	region = vrfm_direct_down(link);
	link->rx.bad = true;
	if (was)
		vrfm_link_miss_slots(link);
	vrfm_status_lost(link);
	rt_mutex_unlock(&vdev->write_lock);
	/* The QP is destroyed, so the peer cannot use the rkey any more. */
	if (region)
		vrfm_share_put(vdev, region);
	mutex_unlock(&link->direct.setup);
	if (!was)
		return;
	vrfm_link_wake_writers(link);
	vrfm_regs_peers(vdev, 0, -1);
	vrfm_fault(vdev, VRFM_LCSR_SYNC_LOSS, RFM2G_EVENT_SYNC_LOSS,
		   link->peer.node);
	/* A message was changed, injected or lost on the network. */
	if (reason == -EBADMSG)
		vrfm_fault(vdev, VRFM_LCSR_BAD_DATA, RFM2G_EVENT_BAD_DATA,
			   link->peer.node);
	pr_info_ratelimited("%s: node %u is not linked any more\n",
			    dev_name(&vdev->dev), link->peer.node);
}

/* ---- life ---- */

static void vrfm_link_free(struct vrfm_link *link)
{
	vrfm_window_free(link);
	kfree(link->catchup.scratch);
	kvfree(link->report.history);
	vrfm_direct_free(link);
	vrfm_map_free(&link->missed.map);
	krdma_keys_put(link->peer.keys);
	kfree(link);
}

/**
 * vrfm_link_put - drop a reference
 * @link: link
 *
 * Context: may sleep.
 */
void vrfm_link_put(struct vrfm_link *link)
{
	if (refcount_dec_and_test(&link->refs))
		vrfm_link_free(link);
}

/**
 * vrfm_link_alloc - allocate a link that is DOWN
 * @vdev: device
 * @peer: configuration of the peer
 *
 * Context: may sleep.
 * Return: the link, with a reference for the caller; NULL if there is no
 * memory.
 */
struct vrfm_link *vrfm_link_alloc(struct vrfm_dev *vdev,
				  const struct vrfm_peer *peer)
{
	/*
	 * Do not use kvzalloc(), because it may return memory of vmalloc(). The
	 * link contains requests, and krdma maps the header in each request for
	 * DMA with ib_dma_map_single().
	 */
	struct vrfm_link *link = kzalloc(sizeof(*link), GFP_KERNEL);

	if (!link)
		return NULL;
	link->vdev = vdev;
	link->peer = *peer;
	krdma_keys_get(link->peer.keys);
	link->rx.bad = true;
	refcount_set(&link->refs, 1);
	INIT_LIST_HEAD(&link->entry);
	INIT_DELAYED_WORK(&link->catchup.work, vrfm_catchup_work);
	vrfm_say_init(link);
	link->since = ktime_get();
	spin_lock_init(&link->lock);
	init_waitqueue_head(&link->conn.wait);
	if (vrfm_direct_init(link) ||
	    vrfm_map_init(&link->missed.map, vdev->params.size))
		goto free;
	link->catchup.scratch = kmalloc(PAGE_SIZE, GFP_KERNEL);
	link->report.history =
		kvcalloc(VRFM_NODES, sizeof(*link->report.history), GFP_KERNEL);
	if (link->catchup.scratch && link->report.history &&
	    !vrfm_window_init(link))
		return link;
free:
	vrfm_link_free(link);
	return NULL;
}
