// SPDX-License-Identifier: GPL-2.0
/*
 * Receiving from a peer: check each message, process its header and its body,
 * and acknowledge it.
 *
 * krdma calls vrfm_link_receive() for one message of a link at a time. So
 * &struct vrfm_rx needs no lock.
 */
#include <linux/jiffies.h>
#include <linux/ktime.h>

#include "link.h"
#include "ring.h"
#include "trace.h"

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

/*
 * Raise an event, or hold it until this node has caught up with the sender.
 * While it catches up, it may lack writes that the sender made before the
 * event.
 */
static void vrfm_rx_event(struct vrfm_link *link, const void *at)
{
	struct vrfm_rx *rx = &link->rx;
	struct vrfm_wired_event event;

	vrfm_proto_event(at, &event);
	if (event.number <= rx->event)
		return;
	rx->event = event.number;
	if (rx->synced) {
		vrfm_event_raise(link->vdev, event.event, link->peer.node,
				 event.data);
	} else if (rx->nheld < ARRAY_SIZE(rx->held)) {
		rx->held[rx->nheld++] = event;
	} else {
		/* Events that are dropped before they are sent also count. */
		spin_lock_bh(&link->lock);
		link->counts.events_dropped++;
		spin_unlock_bh(&link->lock);
	}
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
	bool loading = vrfm_is_loading(vdev);

	if (!link->rx.synced)
		return;
	vrfm_rx_become(link, false, !loading);
	if (loading)
		return;
	vrfm_fault(vdev, VRFM_LCSR_RX_FULL, RFM2G_EVENT_RXFIFO_FULL,
		   link->peer.node);
	vrfm_link_say(link, VRFM_SAY_LEFT);
}

static void vrfm_rx_note(struct vrfm_link *link, const void *msg)
{
	struct vrfm_history *reported;
	struct vrfm_note note;

	vrfm_proto_note(msg, &note);
	spin_lock_bh(&link->lock);
	switch (note.kind) {
	case VRFM_NOTE_INFO:
		link->report.info = note;
		link->report.info_at = ktime_get();
		if (note.number != link->request.begun)
			link->request.load = note.number;
		break;
	case VRFM_NOTE_LOAD:
		link->request.load = note.number;
		link->report.info.flags &= ~VRFM_INFO_COMPLETE;
		break;
	case VRFM_NOTE_SWEPT:
		link->pull.swept = note.number;
		break;
	case VRFM_NOTE_PULLED:
		link->pull.arrived = note.number + 1;
		WRITE_ONCE(link->pull.pending, false);
		WRITE_ONCE(link->pull.not_serving, false);
		break;
	default:
		/* VRFM_NOTE_GONE: a life in the history of a node. */
		reported = &link->report.history[note.node];
		if (note.flags & VRFM_GONE_NEWEST)
			*reported = (struct vrfm_history){ };
		vrfm_history_add(reported, &(struct vrfm_life){
			.epoch = note.id,
			.serial = note.value,
			.tie_breaker = note.number,
			.synced = note.flags & VRFM_GONE_SYNCED,
			.direct = note.flags & VRFM_GONE_DIRECT,
		});
		__set_bit(note.node, link->report.known);
	}
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
	 * Pairs with the release in vrfm_serve(), which follows the last use of
	 * the earlier request.
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

static void vrfm_written_runs(const struct vrfm_written *written,
			      struct vrfm_notice *notice)
{
	const void *at = written->source;
	struct vrfm_run run;
	u32 i;

	for (i = 0; i < written->n; i++) {
		at = vrfm_proto_next_run(at, &run);
		vrfm_notice_add(notice, run.offset, run.len);
	}
}

/* Notify rings of the runs in a message that was applied. */
static void vrfm_rx_report(struct vrfm_link *link, const void *runs,
			   const struct vrfm_head *head)
{
	const struct vrfm_written written = {
		.node = link->peer.node,
		.serial = head->serial,
		.each = vrfm_written_runs,
		.source = runs,
		.n = head->count,
	};

	vrfm_rings_written(link->vdev, &written);
}

/* Let taps record a run of a message that was applied. */
static void vrfm_rx_tap_run(struct vrfm_link *link, const struct vrfm_run *run,
			    u64 serial)
{
	struct vrfm_record record = {
		.type = VRFM_REC_APPLIED,
		.node = link->peer.node,
		.serial = serial,
	};

	vrfm_tap_run(link->vdev, &record, run->offset, run->bytes, run->len);
}

/*
 * Apply the runs of an UPDATE or EVENT.
 *
 * Return: address behind the runs.
 */
static const void *vrfm_rx_update(struct vrfm_link *link, const void *runs,
				  const struct vrfm_head *head)
{
	struct vrfm_dev *vdev = link->vdev;
	const void *at = runs;
	struct vrfm_run run;
	u32 i;

	for (i = 0; i < head->count; i++) {
		at = vrfm_proto_next_run(at, &run);
		trace_vrfm_apply(vdev->unit, link->peer.node, run.offset,
				 run.len);
		vrfm_mem_store(vdev, run.offset, run.bytes, run.len,
			       VRFM_OWN_CLEAR);
		if (vrfm_is_tapped(vdev, VRFM_TAP_KIND(VRFM_REC_APPLIED)))
			vrfm_rx_tap_run(link, &run, head->serial);
	}
	if (head->count && vrfm_ranges_are_wanted())
		vrfm_rx_report(link, runs, head);
	return at;
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
	const void *at = msg + sizeof(struct vrfm_wire_head);
	struct vrfm_dev *vdev = link->vdev;
	u32 i, node = link->peer.node;
	struct vrfm_rx *rx = &link->rx;
	struct vrfm_run run;

	if (!(head->flags & VRFM_WIRE_SYNCED))
		vrfm_rx_left_behind(link);
	switch (head->type) {
	case VRFM_WIRE_UPDATE:
	case VRFM_WIRE_EVENT:
		at = vrfm_rx_update(link, at, head);
		break;
	case VRFM_WIRE_IMAGE:
		for (i = 0; i < head->count; i++) {
			at = vrfm_proto_next_run(at, &run);
			trace_vrfm_image(vdev->unit, node, run.offset, run.len);
			vrfm_resync_merge(link, &run);
		}
		break;
	case VRFM_WIRE_NOTE:
		vrfm_rx_note(link, msg);
		break;
	case VRFM_WIRE_PULL:
		vrfm_rx_pull(link, msg);
		break;
	case VRFM_WIRE_STAGE:
		vrfm_direct_rx_stage(link, msg);
	}
	if (head->flags & VRFM_WIRE_SYNCED) {
		if (!rx->synced)
			vrfm_rx_become(link, true, false);
		for (i = 0; i < rx->nheld; i++)
			vrfm_event_raise(vdev, rx->held[i].event, node,
					 rx->held[i].data);
		rx->nheld = 0;
	}
	if (head->type == VRFM_WIRE_EVENT)
		vrfm_rx_event(link, at);
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
	bool granted, news, answered, later = false;
	struct vrfm_head head;

	if (vrfm_proto_check(msg, len, &seen, &head)) {
		vrfm_rx_protocol_error(link);
		return;
	}
	if (vrfm_is_tapped(link->vdev, VRFM_TAP_KIND(VRFM_REC_RECEIVED)))
		vrfm_link_tap(link, VRFM_REC_RECEIVED, &head,
			      msg + sizeof(struct vrfm_wire_head));
	/* Process acknowledgments, GRANT, and the answer to a STAGE. */
	granted = head.flags & VRFM_WIRE_GRANT;
	spin_lock_bh(&link->lock);
	link->counts.bytes_received += len;
	vrfm_rate_add(&link->meter.rx, jiffies, len);
	vrfm_latency_end_locked(link, head.applied);
	news = link->window.acked != head.applied ||
	       link->window.granted != granted;
	WRITE_ONCE(link->window.acked, head.applied);
	link->window.granted = granted;
	link->conn.heard = jiffies;
	vrfm_status_heard_locked(link);
	answered = link->direct.answered != head.staged;
	WRITE_ONCE(link->direct.answered, head.staged);
	spin_unlock_bh(&link->lock);
	if (news)
		vrfm_link_wake_writers(link);
	if (answered)
		vrfm_stage_kick(link->vdev);
	if (head.type == VRFM_WIRE_ACK)
		return;

	vrfm_rx_body(link, msg, &head);

	/* The message is applied: acknowledge it at once or after a tick. */
	link->rx.sequence = head.sequence;
	spin_lock_bh(&link->lock);
	link->receipt.sequence = head.sequence;
	link->receipt.serial = head.serial;
	link->receipt.direct = head.flags & VRFM_WIRE_DIRECT;
	link->counts.received++;
	if (head.flags & VRFM_WIRE_ANSWER ||
	    link->receipt.sequence - link->receipt.acked >= VRFM_ACK_EVERY)
		vrfm_link_ack_locked(link);
	else
		later = link->receipt.acked != link->receipt.sequence;
	spin_unlock_bh(&link->lock);
	if (later)
		queue_delayed_work(vrfm_wq, &link->ack.work, 1);
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
