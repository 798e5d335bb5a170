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
#include "priv.h"
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
	if (link->conn.cb)
		krdma_disconnect(link->conn.cb);
}

/* Latch a fault in the status register, then raise its event. */
static void vrfm_fault(struct vrfm_dev *vdev, u32 bit, u32 type, u32 node)
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
	link->window.opened = 0;
	link->window.posted = 0;
	link->window.completed = 0;
	link->window.acked = 0;
	link->window.granted = false;
	link->receipt.sequence = 0;
	link->receipt.acked = 0;
	link->conn.probed = 0;
	link->ack.again = false;
	link->receipt.serial = 0;
	link->report.info.kind = 0;
	link->request.load = 0;
	link->pull.swept = 0;
	link->pull.arrived = 0;
	link->pull.pending = false;
	link->pull.not_serving = false;
	link->window.wants_room = false;
	link->request.pulled.count = 0;
	link->rx.sequence = 0;
	link->rx.synced = false;
	link->rx.bad = false;
	link->receipt.direct = false;
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

static u32 vrfm_link_message_room(struct krdma_cb *cb, bool *reads_on,
				  struct vrfm_mtu *mtu)
{
	struct krdma_caps caps = { .size = sizeof(caps) };

	if (krdma_query(cb, &caps))
		return 0;
	*reads_on = caps.virt_dma && krdma_may_read_on();
	*mtu = (struct vrfm_mtu){
		.path = caps.path_mtu,
		.local = caps.local_mtu,
		.peer = caps.peer_mtu,
	};
	return min_t(u32, caps.max_part, VRFM_SLOT_SIZE);
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
	struct vrfm_mtu mtu = {};
	bool reads_on = false;
	u32 room = vrfm_link_message_room(cb, &reads_on, &mtu);

	if (room < SZ_4K) {
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
	link->conn.max_msg = room;
	link->conn.reads_on = reads_on;
	link->conn.mtu = mtu;
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
}

/*
 * Record for statistics why and when the connection ended. After a malformed
 * message the reason is -EPROTO, and not the disconnect that followed.
 */
static void vrfm_link_ended_locked(struct vrfm_link *link, int reason)
{
	lockdep_assert_held(&link->lock);
	link->failure.down_error = link->rx.bad ? -EPROTO : reason;
	/*
	 * Forget the last rejection: it may concern another node, which tried
	 * to connect during this connection.
	 */
	link->failure.rejected = VRFM_REJECT_NONE;
	link->failure.down_at = ktime_get();
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
	if (was)
		vrfm_link_ended_locked(link, reason);
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
	pr_info_ratelimited("%s: node %u is not linked any more\n",
			    dev_name(&vdev->dev), link->peer.node);
}

/* ---- receiving ---- */

/**
 * vrfm_link_protocol_error - disconnect a peer that has broken the protocol
 * @link: link
 *
 * Context: any but hard interrupts.
 */
void vrfm_link_protocol_error(struct vrfm_link *link)
{
	spin_lock_bh(&link->lock);
	link->counts.protocol++;
	vrfm_link_break_locked(link);
	spin_unlock_bh(&link->lock);
	vrfm_fault(link->vdev, VRFM_LCSR_BAD_DATA, RFM2G_EVENT_BAD_DATA,
		   link->peer.node);
	vrfm_link_say(link, VRFM_SAY_BAD);
}

/* Disconnect the peer, and ignore all later messages of this connection. */
static void vrfm_rx_protocol_error(struct vrfm_link *link)
{
	link->rx.bad = true;
	vrfm_link_protocol_error(link);
}

static void vrfm_rx_update(struct vrfm_link *link, const void *msg, u16 count)
{
	const void *at = msg + sizeof(struct vrfm_wire_head);
	struct vrfm_run run;

	while (count--) {
		at = vrfm_proto_next_run(at, &run);
		trace_vrfm_apply(link->vdev->unit, link->peer.node, run.offset,
				 run.len);
		vrfm_mem_store(link->vdev, run.offset, run.bytes, run.len,
			       VRFM_OWN_CLEAR);
	}
}

/*
 * Count a received event as dropped. The same counter counts events that this
 * node drops before it sends them.
 */
static void vrfm_rx_event_dropped(struct vrfm_link *link)
{
	spin_lock_bh(&link->lock);
	link->counts.events_dropped++;
	spin_unlock_bh(&link->lock);
}

/*
 * Raise an event, or hold it until this node has caught up with the sender.
 * While it catches up, it may lack writes that the sender made before the
 * event.
 */
static void vrfm_rx_event(struct vrfm_link *link, const void *msg)
{
	struct vrfm_rx *rx = &link->rx;
	struct vrfm_wired_event event;

	vrfm_proto_event(msg, &event);
	if (event.number <= rx->event)
		return;
	rx->event = event.number;
	if (rx->synced)
		vrfm_event_raise(link->vdev, event.event, link->peer.node,
				 event.data);
	else if (rx->nheld < ARRAY_SIZE(rx->held))
		rx->held[rx->nheld++] = event;
	else
		vrfm_rx_event_dropped(link);
}

/*
 * Record whether this node has all writes of the peer. If @left is set, also
 * count that the peer has left this node behind.
 */
static void vrfm_rx_become(struct vrfm_link *link, bool synced, bool left)
{
	spin_lock_bh(&link->lock);
	link->rx.synced = synced;
	link->counts.left += left;
	vrfm_status_update_locked(link);
	spin_unlock_bh(&link->lock);
}

/*
 * Handle a message without the flag SYNCED: the peer does not send all writes
 * in order any more. While this node loads an image, its own LOAD has caused
 * this. At other times the peer has left this node behind, so raise a fault.
 */
static void vrfm_rx_left_behind(struct vrfm_link *link)
{
	struct vrfm_dev *vdev = link->vdev;
	bool asked = READ_ONCE(vdev->live);

	if (!link->rx.synced)
		return;
	vrfm_rx_become(link, false, !asked);
	if (asked)
		return;
	vrfm_fault(vdev, VRFM_LCSR_RX_FULL, RFM2G_EVENT_RXFIFO_FULL,
		   link->peer.node);
	vrfm_link_say(link, VRFM_SAY_LEFT);
}

static void vrfm_rx_synced(struct vrfm_link *link)
{
	struct vrfm_rx *rx = &link->rx;
	u32 i;

	if (!rx->synced)
		vrfm_rx_become(link, true, false);
	for (i = 0; i < rx->nheld; i++)
		vrfm_event_raise(link->vdev, rx->held[i].event, link->peer.node,
				 rx->held[i].data);
	rx->nheld = 0;
}

/* Process a header: acknowledgments, GRANT, and the answer to a STAGE. */
static void vrfm_rx_head(struct vrfm_link *link, const struct vrfm_head *head,
			 u32 len)
{
	bool news, answered, granted = head->flags & VRFM_WIRE_GRANT;

	spin_lock_bh(&link->lock);
	link->counts.bytes_received += len;
	vrfm_rate_add(&link->meter.rx, jiffies, len);
	vrfm_latency_end_locked(link, head->applied);
	news = link->window.acked != head->applied ||
	       link->window.granted != granted;
	WRITE_ONCE(link->window.acked, head->applied);
	link->window.granted = granted;
	link->conn.heard = jiffies;
	vrfm_status_heard_locked(link);
	answered = link->direct.answered != head->staged;
	WRITE_ONCE(link->direct.answered, head->staged);
	spin_unlock_bh(&link->lock);
	if (news)
		vrfm_link_wake_writers(link);
	if (answered)
		vrfm_stage_kick(link->vdev);
}

static void vrfm_rx_image(struct vrfm_link *link, const void *msg, u16 count)
{
	const void *at = msg + sizeof(struct vrfm_wire_head);
	struct vrfm_run run;

	while (count--) {
		at = vrfm_proto_next_run(at, &run);
		trace_vrfm_image(link->vdev->unit, link->peer.node, run.offset,
				 run.len);
		vrfm_resync_merge(link, &run);
	}
}

static void vrfm_rx_gone_locked(struct vrfm_link *link,
				const struct vrfm_note *note)
{
	struct vrfm_history *said = &link->report.history[note->node];
	const struct vrfm_life life = {
		.epoch = note->id,
		.serial = note->value,
		.tie_breaker = note->number,
		.synced = note->flags & VRFM_GONE_SYNCED,
		.direct = note->flags & VRFM_GONE_DIRECT,
	};

	if (note->flags & VRFM_GONE_NEWEST)
		*said = (struct vrfm_history){ };
	vrfm_history_add(said, &life);
	__set_bit(note->node, link->report.known);
}

static void vrfm_rx_note_locked(struct vrfm_link *link,
				const struct vrfm_note *note)
{
	if (note->kind == VRFM_NOTE_INFO) {
		link->report.info = *note;
		link->report.info_at = ktime_get();
		if (note->number != link->request.begun)
			link->request.load = note->number;
	} else if (note->kind == VRFM_NOTE_LOAD) {
		link->request.load = note->number;
		link->report.info.flags &= ~VRFM_INFO_COMPLETE;
	} else if (note->kind == VRFM_NOTE_SWEPT) {
		link->pull.swept = note->number;
	} else if (note->kind == VRFM_NOTE_PULLED) {
		link->pull.arrived = note->number + 1;
		WRITE_ONCE(link->pull.pending, false);
		WRITE_ONCE(link->pull.not_serving, false);
	} else {
		vrfm_rx_gone_locked(link, note);
	}
}

static void vrfm_rx_note(struct vrfm_link *link, const void *msg)
{
	struct vrfm_note note;

	vrfm_proto_note(msg, &note);
	spin_lock_bh(&link->lock);
	vrfm_rx_note_locked(link, &note);
	spin_unlock_bh(&link->lock);
	vrfm_catchup_kick(link);
	vrfm_resync_kick(link->vdev);
}

/*
 * Store a request of the peer for pages (PULL). Ignore the request if an
 * earlier one is not answered yet.
 */
static void vrfm_rx_pull(struct vrfm_link *link, const void *msg)
{
	struct vrfm_pulled *pulled = &link->request.pulled;
	const __le64 *digests;
	u32 i, first, count;
	__le64 digest;

	/*
	 * Pairs with the release in vrfm_serve_end(), which follows the last
	 * use of the earlier request.
	 */
	if (smp_load_acquire(&pulled->count))
		return;
	digests = vrfm_proto_pull(msg, &first, &count);
	pulled->first = first;
	for (i = 0; i < count; i++) {
		memcpy(&digest, &digests[i], sizeof(digest));
		pulled->digests[i] = le64_to_cpu(digest);
	}
	/* Pairs with the acquire in vrfm_serve(), which reads the request. */
	smp_store_release(&pulled->count, count);
	vrfm_catchup_kick(link);
}

/*
 * Process the body of a message. If the message lacks the flag SYNCED, this
 * node lacks writes of the sender, and records this before it uses the body. If
 * the flag is set, this node has all writes of the sender after it has used the
 * body. It then raises the events that it has held, before an event in this
 * message.
 */
static void vrfm_rx_body(struct vrfm_link *link, const void *msg,
			 const struct vrfm_head *head)
{
	bool synced = head->flags & VRFM_WIRE_SYNCED;

	if (!synced)
		vrfm_rx_left_behind(link);
	if (head->type == VRFM_WIRE_UPDATE)
		vrfm_rx_update(link, msg, head->count);
	else if (head->type == VRFM_WIRE_IMAGE)
		vrfm_rx_image(link, msg, head->count);
	else if (head->type == VRFM_WIRE_NOTE)
		vrfm_rx_note(link, msg);
	else if (head->type == VRFM_WIRE_PULL)
		vrfm_rx_pull(link, msg);
	else if (head->type == VRFM_WIRE_STAGE)
		vrfm_direct_rx_stage(link, msg);
	if (synced)
		vrfm_rx_synced(link);
	if (head->type == VRFM_WIRE_EVENT)
		vrfm_rx_event(link, msg);
}

/* Record that a message is applied. Acknowledge it at once or after a tick. */
static void vrfm_rx_over(struct vrfm_link *link, const struct vrfm_head *head)
{
	bool later = false;

	spin_lock_bh(&link->lock);
	link->receipt.sequence = head->sequence;
	link->receipt.serial = head->serial;
	link->receipt.direct = head->flags & VRFM_WIRE_DIRECT;
	link->counts.received++;
	if (head->flags & VRFM_WIRE_ANSWER ||
	    link->receipt.sequence - link->receipt.acked >= VRFM_ACK_EVERY)
		vrfm_link_ack_locked(link);
	else
		later = link->receipt.acked != link->receipt.sequence;
	spin_unlock_bh(&link->lock);
	if (later)
		queue_delayed_work(vrfm_wq, &link->ack.work, 1);
}

static void vrfm_rx_message(struct vrfm_link *link, const void *msg, u32 len)
{
	const struct vrfm_seen seen = {
		.sequence = link->rx.sequence,
		.sent = READ_ONCE(link->window.posted),
		.applied = link->window.acked,
		.staged = link->direct.seen,
		.told = READ_ONCE(link->direct.told),
		.answered = link->direct.answered,
		.size = link->vdev->params.size,
	};
	struct vrfm_head head;

	if (vrfm_proto_check(msg, len, &seen, &head)) {
		vrfm_rx_protocol_error(link);
		return;
	}
	vrfm_rx_head(link, &head, len);
	if (head.type == VRFM_WIRE_ACK)
		return;
	vrfm_rx_body(link, msg, &head);
	link->rx.sequence = head.sequence;
	vrfm_rx_over(link, &head);
}

/**
 * vrfm_link_receive - process a message of the peer
 * @link: link that is up
 * @rx_msg: message
 *
 * This function never waits, so nodes that write to each other at the same time
 * cannot block each other.
 *
 * Context: softirq or process; not concurrently for one link.
 */
void vrfm_link_receive(struct vrfm_link *link, struct krdma_rx_msg *rx_msg)
{
	if (!link->rx.bad && rx_msg->written)
		vrfm_rx_protocol_error(link);
	else if (!link->rx.bad)
		vrfm_rx_message(link, rx_msg->data, rx_msg->len);
	krdma_rx_msg_release(rx_msg);
}

/* ---- life ---- */

static void vrfm_link_free(struct vrfm_link *link)
{
	vrfm_window_free(link);
	kfree(link->catchup.scratch);
	kvfree(link->report.history);
	vrfm_direct_free(link);
	vrfm_map_free(&link->missed.map);
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

static int vrfm_link_fill(struct vrfm_link *link)
{
	if (vrfm_direct_init(link) ||
	    vrfm_map_init(&link->missed.map, link->vdev->params.size))
		return -ENOMEM;
	link->catchup.scratch = kmalloc(PAGE_SIZE, GFP_KERNEL);
	link->report.history =
		kvcalloc(VRFM_NODES, sizeof(*link->report.history), GFP_KERNEL);
	if (!link->catchup.scratch || !link->report.history)
		return -ENOMEM;
	return vrfm_window_init(link);
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
	link->rx.bad = true;
	refcount_set(&link->refs, 1);
	INIT_LIST_HEAD(&link->entry);
	INIT_DELAYED_WORK(&link->catchup.work, vrfm_catchup_work);
	vrfm_say_init(link);
	link->since = ktime_get();
	spin_lock_init(&link->lock);
	init_waitqueue_head(&link->conn.wait);
	if (!vrfm_link_fill(link))
		return link;
	vrfm_link_free(link);
	return NULL;
}
