// SPDX-License-Identifier: GPL-2.0
/*
 * The window of a link: number the messages to the peer, post them, and keep
 * each message until the peer acknowledges it. Also acknowledge the messages of
 * the peer.
 *
 * Messages are numbered from 1 on each connection. Slot n % VRFM_SLOTS holds
 * message n until the peer acknowledges that it has applied the message. The
 * numbers in &struct vrfm_window always have this order:
 *
 *	acked <= completed <= posted <= opened <= acked + VRFM_SLOTS
 *
 * The newest message is open: updates are appended until it is full, or until
 * the message before it has completed. So a single word leaves at once if
 * nothing is in flight; otherwise words leave together.
 *
 * Messages are opened only under vrfm_dev.write_lock. So slots that are free
 * under that lock stay free until it is released, and need not be reserved.
 */
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "link.h"
#include "ring.h"

/* ---- sending ---- */

/*
 * Return the flags GRANT and DIRECT for the next message. This node omits GRANT
 * while it loads an image. So all peers stay SYNCING, and send their own words.
 */
static u8 vrfm_link_flags(const struct vrfm_link *link)
{
	return (vrfm_is_loading(link->vdev) ? 0 : VRFM_WIRE_GRANT) |
	       (link->direct.open ? VRFM_WIRE_DIRECT : 0);
}

/**
 * vrfm_link_tap - let taps record a message
 * @link: link of the message
 * @type: %VRFM_REC_SENT or %VRFM_REC_RECEIVED
 * @head: header of the message
 * @body: bytes that follow the header
 *
 * A STAGE has keys, which give access to the memory. So its body is not recorded.
 *
 * Context: any but hard interrupts.
 */
void vrfm_link_tap(struct vrfm_link *link, u16 type, const struct vrfm_head *head,
		   const void *body)
{
	bool secret = head->type == VRFM_WIRE_STAGE;
	struct vrfm_record record = {
		.type = type,
		.flags = secret ? VRFM_REC_CUT : 0,
		.node = type == VRFM_REC_SENT ? link->vdev->params.node :
						link->peer.node,
		.length = head->len,
		.serial = head->serial,
		.message = {
			.type = head->type,
			.flags = head->flags,
			.count = head->count,
			.peer = link->peer.node,
			.sequence = head->sequence,
			.applied = head->applied,
		},
	};

	vrfm_tap(link->vdev, &record, body, secret ? 0 : head->len);
}

static void vrfm_link_tap_sent(struct vrfm_link *link,
			       const struct vrfm_pack *pack,
			       const struct vrfm_head *head)
{
	struct vrfm_head sent = *head;

	sent.count = pack->count;
	sent.len = pack->len - sizeof(struct vrfm_wire_head);
	vrfm_link_tap(link, VRFM_REC_SENT, &sent,
		      pack->msg + sizeof(struct vrfm_wire_head));
}

static void vrfm_link_post_locked(struct vrfm_link *link, struct krdma_req *req,
				  struct vrfm_pack *pack,
				  const struct vrfm_head *head)
{
	lockdep_assert_held(&link->lock);
	link->receipt.acked = head->applied;
	req->opcode = KRDMA_SEND;
	req->local = (struct krdma_data){
		.mem = KRDMA_MEM_VIRT,
		.virt = pack->msg,
		.len = vrfm_pack_end(pack, head),
	};
	link->counts.bytes_sent += req->local.len;
	vrfm_rate_add(&link->meter.tx, jiffies, req->local.len);
	if (vrfm_is_tapped(link->vdev, VRFM_TAP_KIND(VRFM_REC_SENT)))
		vrfm_link_tap_sent(link, pack, head);
}

static void vrfm_slot_post_locked(struct vrfm_link *link)
{
	struct vrfm_slot *slot = vrfm_slot(link, link->window.posted + 1);
	struct vrfm_head head = {
		.type = slot->type,
		.flags = slot->flags | vrfm_link_flags(link),
		.sequence = link->window.posted + 1,
		.applied = link->receipt.sequence,
		.serial = slot->serial,
		.staged = link->direct.seen,
	};

	lockdep_assert_held(&link->lock);
	/*
	 * Let the peer acknowledge the message at once. Without the flag
	 * ANSWER, the acknowledgment may come a tick later, and this node
	 * cannot write the next block directly before it has arrived.
	 */
	if (vrfm_slot_has_updates(slot) && link->direct.answers) {
		link->direct.answers--;
		head.flags |= VRFM_WIRE_ANSWER;
	}
	vrfm_link_post_locked(link, &slot->req, &slot->pack, &head);
	slot->closed = true;
	/*
	 * Count the message before krdma_post(): the peer may answer before
	 * krdma_post() returns.
	 */
	WRITE_ONCE(link->window.posted, link->window.posted + 1);
	link->counts.messages++;
	if (krdma_post(link->conn.cb, &slot->req)) {
		/*
		 * The message is not in flight, so count it as completed. Its
		 * words are recorded as missed when the link goes down.
		 */
		link->window.completed++;
		vrfm_link_break_locked(link);
	}
}

/**
 * vrfm_link_push_locked - post all messages that must not wait
 * @link: link, with its lock held
 *
 * The open message waits for more runs while an earlier message is in flight,
 * or while the link's work fills messages of this type (&vrfm_window.filling).
 */
void vrfm_link_push_locked(struct vrfm_link *link)
{
	const struct vrfm_slot *open = vrfm_slot(link, link->window.opened);

	lockdep_assert_held(&link->lock);
	while (link->conn.cb && link->window.posted < link->window.opened) {
		if (link->window.posted + 1 == link->window.opened &&
		    !open->closed &&
		    (link->window.filling == open->type ||
		     link->window.posted != link->window.completed))
			break;
		vrfm_slot_post_locked(link);
	}
}

/**
 * vrfm_wake_writers - wake tasks that wait for room or for acknowledgments
 * @vdev: device where the condition that these tasks wait for may have changed
 *
 * Context: any but hard interrupts.
 */
void vrfm_wake_writers(struct vrfm_dev *vdev)
{
	/*
	 * Make the change of the condition visible before that of room_changes.
	 * Pairs with the acquire in vrfm_write_queue().
	 */
	smp_mb__before_atomic();
	atomic_inc(&vdev->room_changes);
	if (wq_has_sleeper(&vdev->room))
		wake_up_all(&vdev->room);
}

/**
 * vrfm_link_wake_writers - wake tasks that wait for room or for acknowledgments
 * @link: link where messages were acknowledged or completed, or whose state has
 *	changed
 *
 * Context: any but hard interrupts.
 */
void vrfm_link_wake_writers(struct vrfm_link *link)
{
	vrfm_wake_writers(link->vdev);
	if (READ_ONCE(link->state) == VRFM_SYNCING ||
	    READ_ONCE(link->window.wants_room) || READ_ONCE(link->backlog.n))
		vrfm_catchup_kick(link);
}

static void vrfm_slot_done(struct krdma_req *req, int status)
{
	struct vrfm_slot *slot = container_of(req, struct vrfm_slot, req);
	struct vrfm_link *link = slot->link;

	spin_lock_bh(&link->lock);
	WRITE_ONCE(link->window.completed, link->window.completed + 1);
	if (!status)
		vrfm_link_push_locked(link);
	spin_unlock_bh(&link->lock);
	vrfm_link_wake_writers(link);
}

/**
 * vrfm_link_ack_locked - acknowledge all received messages at once
 * @link: link, with its lock held
 *
 * If the previous acknowledgment is in flight, this one is sent when that one
 * completes.
 *
 * Context: any but hard interrupts.
 */
void vrfm_link_ack_locked(struct vrfm_link *link)
{
	const struct vrfm_head head = {
		.type = VRFM_WIRE_ACK,
		.flags = vrfm_link_flags(link),
		.sequence = link->window.posted,
		.applied = link->receipt.sequence,
		.staged = link->direct.seen,
	};

	lockdep_assert_held(&link->lock);
	link->ack.again = link->ack.busy;
	if (link->ack.busy || !link->conn.cb)
		return;
	vrfm_pack_begin(&link->ack.msg, &link->ack.head,
			sizeof(link->ack.head));
	vrfm_link_post_locked(link, &link->ack.req, &link->ack.msg, &head);
	link->ack.busy = !krdma_post(link->conn.cb, &link->ack.req);
	if (!link->ack.busy)
		vrfm_link_break_locked(link);
}

static void vrfm_ack_done(struct krdma_req *req, int status)
{
	struct vrfm_link *link = container_of(req, struct vrfm_link, ack.req);

	spin_lock_bh(&link->lock);
	link->ack.busy = false;
	if (link->ack.again && !status)
		vrfm_link_ack_locked(link);
	spin_unlock_bh(&link->lock);
}

/* Acknowledge received messages, unless a message to the peer has done so. */
static void vrfm_ack_work(struct work_struct *work)
{
	struct vrfm_link *link =
		container_of(work, struct vrfm_link, ack.work.work);

	spin_lock_bh(&link->lock);
	if (link->receipt.acked != link->receipt.sequence)
		vrfm_link_ack_locked(link);
	spin_unlock_bh(&link->lock);
}

/**
 * vrfm_window_init - allocate the messages of a window, and prepare
 * acknowledgments
 * @link: link that is being allocated, filled with zeros
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM. The caller calls vrfm_window_free() also after an
 * error.
 */
int vrfm_window_init(struct vrfm_link *link)
{
	struct vrfm_slot *slot;
	u32 i;

	link->ack.req.done = vrfm_ack_done;
	INIT_DELAYED_WORK(&link->ack.work, vrfm_ack_work);
	for (i = 0; i < VRFM_SLOTS; i++) {
		slot = &link->window.slots[i];
		slot->link = link;
		slot->req.done = vrfm_slot_done;
		slot->pack.msg = kvmalloc(VRFM_SLOT_SIZE, GFP_KERNEL);
		if (!slot->pack.msg)
			return -ENOMEM;
	}
	return 0;
}

/**
 * vrfm_window_free - free what vrfm_window_init() allocated
 * @link: link that is DOWN
 */
void vrfm_window_free(struct vrfm_link *link)
{
	u32 i;

	for (i = 0; i < VRFM_SLOTS; i++)
		kvfree(link->window.slots[i].pack.msg);
}

/* ---- the window ---- */

/**
 * vrfm_link_free_locked - return the number of messages that can be opened
 * @link: link, with its lock held; or vrfm_dev.write_lock is held, so the
 *	number can only increase
 *
 * Return: number of messages.
 */
u32 vrfm_link_free_locked(const struct vrfm_link *link)
{
	u64 over = min(READ_ONCE(link->window.acked),
		       READ_ONCE(link->window.completed));
	u64 used = link->window.opened - over;

	lockdep_assert(lockdep_is_held(&link->lock) ||
		       lockdep_is_held(&link->vdev->write_lock));
	return WARN_ON_ONCE(used > VRFM_SLOTS) ? 0 : VRFM_SLOTS - used;
}

/**
 * vrfm_link_late_ms_locked - return the age of the oldest unacknowledged
 * message
 * @link: link, with its lock held
 *
 * Return: age in ms; 0 if all messages are acknowledged, or if there is no
 * connection.
 */
u32 vrfm_link_late_ms_locked(struct vrfm_link *link)
{
	u64 oldest = link->window.acked + 1;

	lockdep_assert_held(&link->lock);
	if (!link->conn.cb || link->window.acked == link->window.opened)
		return 0;
	return jiffies_to_msecs(jiffies - vrfm_slot(link, oldest)->opened);
}

/**
 * vrfm_link_open_locked - open a message
 * @link: link that has a free message; its lock and vrfm_dev.write_lock are
 *	held
 * @type: enum vrfm_wire_type
 *
 * Return: the message, which vrfm_link_push_locked() posts later.
 */
struct vrfm_slot *vrfm_link_open_locked(struct vrfm_link *link, u8 type)
{
	struct vrfm_slot *slot;

	lockdep_assert_held(&link->vdev->write_lock);
	lockdep_assert_held(&link->lock);
	if (link->window.opened)
		vrfm_slot(link, link->window.opened)->closed = true;
	WRITE_ONCE(link->window.opened, link->window.opened + 1);
	vrfm_status_lag_locked(link);
	slot = vrfm_slot(link, link->window.opened);
	vrfm_pack_begin(&slot->pack, slot->pack.msg, link->conn.max_msg);
	slot->type = type;
	slot->flags = link->state == VRFM_READY ? VRFM_WIRE_SYNCED : 0;
	slot->serial = link->vdev->serial;
	slot->opened = jiffies;
	slot->opened_ns = vrfm_latency_begin();
	slot->closed = false;
	return slot;
}

/**
 * vrfm_link_need - return the number of messages that a run may need
 * @link: link that is up
 * @len: number of bytes of the run; 0 for an event or a probe
 *
 * Room in the open message does not count, because that message may be posted
 * before the run is appended.
 *
 * Return: number of messages.
 */
u32 vrfm_link_need(const struct vrfm_link *link, u32 len)
{
	/*
	 * Length of the longest run that always fits into an empty message,
	 * whatever its offset in the memory is.
	 */
	u32 payload = ALIGN_DOWN(link->conn.max_msg -
				 sizeof(struct vrfm_wire_head) -
				 sizeof(struct vrfm_wire_run),
				 VRFM_WIRE_ALIGN) - VRFM_WIRE_ALIGN;

	return max_t(u32, 1, DIV_ROUND_UP(len, payload));
}

/**
 * vrfm_link_has_room - check whether a run can be sent at once
 * @link: link; the caller holds vrfm_dev.write_lock
 * @len: number of bytes of the run, at most 128 KiB; 0 for an event or a probe
 *
 * Return: true if it can, or if the link is not READY and needs no room.
 */
bool vrfm_link_has_room(struct vrfm_link *link, u32 len)
{
	lockdep_assert_held(&link->vdev->write_lock);
	return link->state != VRFM_READY ||
	       (!link->backlog.n &&
		vrfm_link_free_locked(link) >= vrfm_link_need(link, len) &&
		vrfm_direct_has_room(link, len));
}

/**
 * vrfm_link_has_free - check whether some messages can be sent at once
 * @link: link; the caller holds vrfm_dev.write_lock
 * @n: number of messages
 *
 * Return: true if they can, or if the link is not READY and needs no room.
 */
bool vrfm_link_has_free(struct vrfm_link *link, u32 n)
{
	lockdep_assert_held(&link->vdev->write_lock);
	return link->state != VRFM_READY || vrfm_link_free_locked(link) >= n;
}

/**
 * vrfm_link_append_locked - append a run, and open messages as needed
 * @link: link with room for the run, with its lock held
 * @type: %VRFM_WIRE_UPDATE or %VRFM_WIRE_IMAGE
 * @offset: offset in the memory
 * @bytes: bytes of the run
 * @len: number of bytes
 */
void vrfm_link_append_locked(struct vrfm_link *link, u8 type, u32 offset,
			     const void *bytes, u32 len)
{
	u64 serial = link->vdev->serial;
	struct vrfm_slot *slot;
	u32 n;

	lockdep_assert_held(&link->lock);
	for (; len; offset += n, bytes += n, len -= n) {
		/* Open a message if the newest one cannot take the run. */
		slot = vrfm_slot(link, link->window.opened);
		if (!link->window.opened || slot->closed ||
		    slot->type != type || !vrfm_pack_room(&slot->pack)) {
			/*
			 * If the newest message contains only a part of the
			 * present write, it gets the serial of the previous
			 * write, and the flag DIRECT, which notifies the
			 * receiver that the message also contains bytes of a
			 * later write.
			 */
			if (link->window.opened && slot->type == type &&
			    slot->serial == serial &&
			    type == VRFM_WIRE_UPDATE &&
			    link->state == VRFM_READY) {
				slot->serial--;
				slot->flags |= VRFM_WIRE_DIRECT;
			}
			slot = vrfm_link_open_locked(link, type);
		}
		slot->serial = serial;
		if (type == VRFM_WIRE_UPDATE)
			link->direct.update = link->window.opened;
		n = vrfm_pack_run(&slot->pack, offset, bytes, len);
	}
}

/**
 * vrfm_link_probe_locked - send a PROBE, which the peer acknowledges at once
 * @link: link that has a free message; its lock and vrfm_dev.write_lock are
 *	held
 *
 * Context: any but hard interrupts.
 */
void vrfm_link_probe_locked(struct vrfm_link *link)
{
	struct vrfm_slot *slot = vrfm_link_open_locked(link, VRFM_WIRE_PROBE);

	lockdep_assert_held(&link->vdev->write_lock);
	lockdep_assert_held(&link->lock);
	slot->flags |= VRFM_WIRE_ANSWER;
	slot->closed = true;
	vrfm_link_push_locked(link);
}

/**
 * vrfm_link_probe - request an acknowledgment of all earlier messages
 * @link: link, which must have room if it is READY
 *
 * Context: vrfm_dev.write_lock is held.
 * Return: value of &vrfm_window.acked after that acknowledgment; 0 if there is
 * no connection or no room.
 */
u64 vrfm_link_probe(struct vrfm_link *link)
{
	u64 sequence = 0;

	lockdep_assert_held(&link->vdev->write_lock);
	spin_lock_bh(&link->lock);
	if (link->conn.cb && vrfm_link_free_locked(link)) {
		vrfm_link_probe_locked(link);
		sequence = link->window.opened;
	}
	spin_unlock_bh(&link->lock);
	return sequence;
}

/**
 * vrfm_link_note - send a message of type NOTE to the peer
 * @link: link
 * @note: content of the message
 *
 * Context: vrfm_dev.write_lock is held.
 * Return: true if the note was sent; false if there is no connection or no
 * room. The link's work runs again when there is room.
 */
bool vrfm_link_note(struct vrfm_link *link, const struct vrfm_note *note)
{
	struct vrfm_slot *slot;
	bool has;

	lockdep_assert_held(&link->vdev->write_lock);
	spin_lock_bh(&link->lock);
	has = link->conn.cb && vrfm_link_free_locked(link);
	link->window.wants_room = link->conn.cb && !has;
	if (has) {
		slot = vrfm_link_open_locked(link, VRFM_WIRE_NOTE);
		vrfm_pack_note(&slot->pack, note);
		slot->closed = true;
		vrfm_link_push_locked(link);
	}
	spin_unlock_bh(&link->lock);
	return has;
}

/**
 * vrfm_link_pull - request pages from the peer
 * @link: link
 * @first: first page
 * @digests: digests of this node's pages
 * @count: number of pages, at most %VRFM_PULL_MAX
 *
 * Context: vrfm_dev.write_lock is held.
 * Return: true if the request was sent; false if there is no connection or no
 * room.
 */
bool vrfm_link_pull(struct vrfm_link *link, u32 first, const u64 *digests,
		    u32 count)
{
	struct vrfm_slot *slot;
	bool has;
	u32 i;

	lockdep_assert_held(&link->vdev->write_lock);
	spin_lock_bh(&link->lock);
	has = link->conn.cb && vrfm_link_free_locked(link);
	if (has) {
		link->pull.arrived = 0;
		link->pull.pending = true;
		slot = vrfm_link_open_locked(link, VRFM_WIRE_PULL);
		vrfm_pack_pull(&slot->pack, first, count);
		for (i = 0; i < count; i++)
			vrfm_pack_digest(&slot->pack, digests[i]);
		slot->closed = true;
		vrfm_link_push_locked(link);
	}
	spin_unlock_bh(&link->lock);
	return has;
}
