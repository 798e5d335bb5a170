// SPDX-License-Identifier: GPL-2.0
/*
 * Links: the window of messages to a peer, and what comes from it.
 *
 * Messages are numbered from 1 with each connection, and slot n % VRFM_SLOTS
 * holds message n until the peer says that it has applied it:
 *
 *	acked <= completed <= posted <= opened <= acked + VRFM_SLOTS
 *
 * The newest is open: what is written is appended to it until it is full, or
 * until the adapter has done with the one before it. So single words leave at
 * once while nothing is under way, and together while something is.
 *
 * Only who holds the device's order opens messages. So who has found room
 * there has it until he lets go of the order, and nobody needs to reserve any.
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
#include "twin.h"

#define VRFM_PENALTY_MIN_MS 1000
#define VRFM_PENALTY_MAX_MS 30000
/* Pages that the set of missed words of an absent peer may have in any case. */
#define VRFM_MISSED_MIN 64

struct workqueue_struct *vrfm_wq;

/**
 * vrfm_link_init - what all links need
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
 * vrfm_link_exit - there is no link left
 */
void vrfm_link_exit(void)
{
	destroy_workqueue(vrfm_wq);
	/* Blocks that are not freed yet. */
	rcu_barrier();
}

/**
 * vrfm_link_state_name - for who looks
 * @state: state
 *
 * Return: its name.
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
			link->missed.set);
	if (link->state != state)
		link->since = ktime_get();
	WRITE_ONCE(link->state, state);
	vrfm_status_update_locked(link);
}

static struct vrfm_slot *vrfm_slot(struct vrfm_link *link, u64 sequence)
{
	return &link->slots[sequence % VRFM_SLOTS];
}

/* ---- sending ---- */

/* Nothing goes on here; why is known, or the connection tells. */
static void vrfm_link_break_locked(struct vrfm_link *link)
{
	if (link->cb)
		krdma_disconnect(link->cb);
}

/* Who loads an image wants everybody to be SYNCING, and send what he has. */
static u8 vrfm_link_flags(const struct vrfm_link *link)
{
	return (READ_ONCE(link->vdev->live) ? 0 : VRFM_WIRE_GRANT) |
	       (link->direct.open ? VRFM_WIRE_DIRECT : 0);
}

static void vrfm_link_post_locked(struct vrfm_link *link, struct krdma_req *req,
				  struct vrfm_pack *pack,
				  const struct vrfm_head *head)
{
	link->rx_told = head->applied;
	req->opcode = KRDMA_SEND;
	req->local = (struct krdma_data){
		.mem = KRDMA_MEM_VIRT,
		.virt = pack->msg,
		.len = vrfm_pack_end(pack, head),
	};
	link->counts.bytes_sent += req->local.len;
	vrfm_rate_add(&link->tx_rate, jiffies, req->local.len);
}

/*
 * An acknowledgment that nothing takes along comes a tick later. Until then the
 * next block could not be written directly.
 */
static u8 vrfm_slot_answer_locked(struct vrfm_link *link,
				  const struct vrfm_slot *slot)
{
	if (slot->type != VRFM_WIRE_UPDATE || !link->direct.answers)
		return 0;
	link->direct.answers--;
	return VRFM_WIRE_ANSWER;
}

static void vrfm_slot_post_locked(struct vrfm_link *link)
{
	struct vrfm_slot *slot = vrfm_slot(link, link->posted + 1);
	const struct vrfm_head head = {
		.type = slot->type,
		.flags = slot->flags | vrfm_link_flags(link) |
			 vrfm_slot_answer_locked(link, slot),
		.sequence = link->posted + 1,
		.applied = link->rx_sequence,
		.serial = slot->serial,
		.staged = link->direct.seen,
	};

	vrfm_link_post_locked(link, &slot->req, &slot->pack, &head);
	slot->closed = true;
	/* Before: the peer may answer before krdma_post() returns. */
	WRITE_ONCE(link->posted, link->posted + 1);
	link->counts.messages++;
	if (krdma_post(link->cb, &slot->req)) {
		/* It is not on its way, and is missed when the end comes. */
		link->completed++;
		vrfm_link_break_locked(link);
	}
}

/**
 * vrfm_link_push_locked - send what should not wait any longer
 * @link: link, with its lock held
 */
void vrfm_link_push_locked(struct vrfm_link *link)
{
	const struct vrfm_slot *open = vrfm_slot(link, link->opened);

	lockdep_assert_held(&link->lock);
	while (link->cb && link->posted < link->opened) {
		if (link->posted + 1 == link->opened && !open->closed &&
		    (link->filling == open->type ||
		     link->posted != link->completed))
			break;
		vrfm_slot_post_locked(link);
	}
}

/**
 * vrfm_link_woken - there may be room, or something is over
 * @link: link
 *
 * Context: any but hard interrupts.
 */
void vrfm_link_woken(struct vrfm_link *link)
{
	struct vrfm_dev *vdev = link->vdev;

	/*
	 * The room is seen with the change. Pairs with the acquire in
	 * vrfm_order_wait().
	 */
	smp_mb__before_atomic();
	atomic_inc(&vdev->room_changes);
	if (wq_has_sleeper(&vdev->room))
		wake_up_all(&vdev->room);
	if (READ_ONCE(link->state) == VRFM_SYNCING ||
	    READ_ONCE(link->wants_room) || READ_ONCE(link->nlater))
		vrfm_sync_kick(link);
}

/* A fault is latched in the status register before its event comes. */
static void vrfm_fault(struct vrfm_dev *vdev, u32 bit, u32 type, u32 node)
{
	vrfm_lcsr_update(vdev, bit, true);
	vrfm_event_raise(vdev, type, node, 0);
}

static void vrfm_slot_done(struct krdma_req *req, int status)
{
	struct vrfm_slot *slot = container_of(req, struct vrfm_slot, req);
	struct vrfm_link *link = slot->link;

	spin_lock_bh(&link->lock);
	WRITE_ONCE(link->completed, link->completed + 1);
	if (!status)
		vrfm_link_push_locked(link);
	spin_unlock_bh(&link->lock);
	vrfm_link_woken(link);
}

static void vrfm_link_ack_locked(struct vrfm_link *link)
{
	const struct vrfm_head head = {
		.type = VRFM_WIRE_ACK,
		.flags = vrfm_link_flags(link),
		.sequence = link->posted,
		.applied = link->rx_sequence,
		.staged = link->direct.seen,
	};

	link->ack_again = link->ack_busy;
	if (link->ack_busy || !link->cb)
		return;
	vrfm_pack_begin(&link->ack_msg, &link->ack_head,
			sizeof(link->ack_head));
	vrfm_link_post_locked(link, &link->ack_req, &link->ack_msg, &head);
	link->ack_busy = !krdma_post(link->cb, &link->ack_req);
	if (!link->ack_busy)
		vrfm_link_break_locked(link);
}

static void vrfm_ack_done(struct krdma_req *req, int status)
{
	struct vrfm_link *link = container_of(req, struct vrfm_link, ack_req);

	spin_lock_bh(&link->lock);
	link->ack_busy = false;
	if (link->ack_again && !status)
		vrfm_link_ack_locked(link);
	spin_unlock_bh(&link->lock);
}

/* Some messages came, and nothing has gone back since. */
static void vrfm_ack_work(struct work_struct *work)
{
	struct vrfm_link *link =
		container_of(work, struct vrfm_link, ack.work);

	spin_lock_bh(&link->lock);
	if (link->rx_told != link->rx_sequence)
		vrfm_link_ack_locked(link);
	spin_unlock_bh(&link->lock);
}

/* ---- the window ---- */

/**
 * vrfm_link_free_locked - messages that can be opened
 * @link: link; by who holds the device's order, what others do makes it more
 *
 * Return: how many.
 */
u32 vrfm_link_free_locked(const struct vrfm_link *link)
{
	u64 over = min(READ_ONCE(link->acked), READ_ONCE(link->completed));
	u64 used = link->opened - over;

	return WARN_ON_ONCE(used > VRFM_SLOTS) ? 0 : VRFM_SLOTS - used;
}

/**
 * vrfm_link_late_ms_locked - how long nothing was acknowledged that should be
 * @link: link, with its lock held
 *
 * Return: age of the oldest message that was not, in milliseconds; 0: there is
 * none.
 */
u32 vrfm_link_late_ms_locked(struct vrfm_link *link)
{
	if (!link->cb || link->acked == link->opened)
		return 0;
	return jiffies_to_msecs(jiffies -
				vrfm_slot(link, link->acked + 1)->opened);
}

/* Bytes of one run that fit into a message of its own, wherever it begins. */
static u32 vrfm_link_payload(const struct vrfm_link *link)
{
	return ALIGN_DOWN(link->room - sizeof(struct vrfm_wire_head) -
			  sizeof(struct vrfm_wire_run), VRFM_WIRE_ALIGN) -
	       VRFM_WIRE_ALIGN;
}

/**
 * vrfm_link_open_locked - begin a message
 * @link: link with a free one, with its lock held; by who holds the device's order
 * @type: enum vrfm_wire_type
 *
 * Return: the message, which is sent when it is closed and pushed.
 */
struct vrfm_slot *vrfm_link_open_locked(struct vrfm_link *link, u8 type)
{
	struct vrfm_slot *slot;

	if (link->opened)
		vrfm_slot(link, link->opened)->closed = true;
	WRITE_ONCE(link->opened, link->opened + 1);
	vrfm_status_lag_locked(link);
	slot = vrfm_slot(link, link->opened);
	vrfm_pack_begin(&slot->pack, slot->pack.msg, link->room);
	slot->type = type;
	slot->flags = link->state == VRFM_READY ? VRFM_WIRE_SYNCED : 0;
	slot->serial = link->vdev->serial;
	slot->opened = jiffies;
	slot->opened_ns = vrfm_latency_begin();
	slot->closed = false;
	return slot;
}

/* The message that runs are appended to, NULL: a new one must be opened. */
static struct vrfm_slot *vrfm_link_growing_locked(struct vrfm_link *link,
						  u8 type)
{
	struct vrfm_slot *slot = vrfm_slot(link, link->opened);

	if (!link->opened || slot->closed || slot->type != type ||
	    !vrfm_pack_room(&slot->pack))
		return NULL;
	return slot;
}

/**
 * vrfm_link_need - how many messages so many bytes may take
 * @link: link that is up
 * @len: bytes of one run; 0: an event or a probe
 *
 * What the open message has room for does not count: it may be sent before
 * anything is appended.
 *
 * Return: messages.
 */
u32 vrfm_link_need(const struct vrfm_link *link, u32 len)
{
	return max_t(u32, 1, DIV_ROUND_UP(len, vrfm_link_payload(link)));
}

/**
 * vrfm_link_has_room - can so many bytes be sent at once?
 * @link: link; by who holds the device's order
 * @len: bytes of one run, at most 128 KiB; 0: an event or a probe
 *
 * Return: true, also for a link that is not READY.
 */
bool vrfm_link_has_room(struct vrfm_link *link, u32 len)
{
	return link->state != VRFM_READY ||
	       (!link->nlater && vrfm_link_free_locked(link) >= vrfm_link_need(link, len) &&
		vrfm_direct_has_room(link, len));
}

/*
 * The open message is full. Who gets that one only has a part of this write, if
 * something of it is in there: he must not say that he has it, nor that he has
 * just what was before it, as somebody may who did not get that message.
 */
static struct vrfm_slot *vrfm_link_next_locked(struct vrfm_link *link, u8 type)
{
	struct vrfm_slot *full = vrfm_slot(link, link->opened);

	if (link->opened && link->state == VRFM_READY &&
	    type == VRFM_WIRE_UPDATE && full->type == type &&
	    full->serial == link->vdev->serial) {
		full->serial--;
		full->flags |= VRFM_WIRE_DIRECT;
	}
	return vrfm_link_open_locked(link, type);
}

/**
 * vrfm_link_append_locked - put a run into the open message, and into others
 * @link: link with room for it, with its lock held
 * @type: an UPDATE or an IMAGE
 * @offset: in the memory
 * @bytes: what is there
 * @len: how many
 */
void vrfm_link_append_locked(struct vrfm_link *link, u8 type, u32 offset,
			     const void *bytes, u32 len)
{
	struct vrfm_slot *slot;
	u32 n;

	lockdep_assert_held(&link->lock);
	for (; len; offset += n, bytes += n, len -= n) {
		slot = vrfm_link_growing_locked(link, type) ?:
		       vrfm_link_next_locked(link, type);
		slot->serial = link->vdev->serial;
		if (type == VRFM_WIRE_UPDATE)
			link->direct.update = link->opened;
		n = vrfm_pack_run(&slot->pack, offset, bytes, len);
	}
}

/**
 * vrfm_link_miss_own - the peer may not have anything that this node wrote
 * @link: link
 *
 * Context: the device's order is held.
 */
void vrfm_link_miss_own(struct vrfm_link *link)
{
	WRITE_ONCE(link->lost, true);
	link->lost_at = 0;
}

/*
 * An absent peer may stay away for long: its set takes a quarter of the memory
 * that it might, then the map of own words serves.
 */
static bool vrfm_link_misses_much(const struct vrfm_link *link)
{
	return link->state == VRFM_DOWN && link->missed.used > VRFM_MISSED_MIN &&
	       link->missed.used > link->missed.nchunks / 4;
}

/**
 * vrfm_link_miss - the peer may not have these bytes
 * @link: link
 * @offset: of the first
 * @len: how many
 *
 * Own words that catching up takes anyway are not recorded.
 *
 * Context: the device's order is held.
 */
void vrfm_link_miss(struct vrfm_link *link, u32 offset, u32 len)
{
	const gfp_t gfp = GFP_NOWAIT | __GFP_NOWARN;
	u32 first = vrfm_word_first(offset), n = vrfm_word_count(offset, len);

	if (link->lost && first >= link->lost_at)
		return;
	if (link->lost)
		n = min(n, link->lost_at - first);
	if (vrfm_map_set(&link->missed, first, n, gfp) ||
	    vrfm_link_misses_much(link))
		vrfm_link_miss_own(link);
}

/* Who was left behind rests first: when that is over he is kicked. */
static void vrfm_link_missed(struct vrfm_link *link)
{
	vrfm_status_lost(link);
	if (link->state == VRFM_SYNCING &&
	    !time_before(jiffies, link->hold_until))
		vrfm_sync_kick(link);
}

/**
 * vrfm_link_update - this node has written
 * @link: link, has room
 * @offset: where
 * @bytes: what
 * @len: how many
 * @block: the same bytes, where an adapter may read them later; NULL: they stay
 *	only until this returns
 *
 * Context: the device's order is held.
 */
void vrfm_link_update(struct vrfm_link *link, u32 offset, const void *bytes,
		      u32 len, struct vrfm_block *block)
{
	if (link->state != VRFM_READY) {
		vrfm_link_miss(link, offset, len);
		vrfm_link_missed(link);
		return;
	}
	spin_lock_bh(&link->lock);
	if (!block || !vrfm_direct_update_locked(link, offset, len, block)) {
		vrfm_link_append_locked(link, VRFM_WIRE_UPDATE, offset, bytes,
					len);
		vrfm_link_push_locked(link);
	}
	spin_unlock_bh(&link->lock);
}

/**
 * vrfm_link_diff - programs of this node have stored
 * @link: link, has room for a page
 * @offset: of the page
 * @diff: what
 *
 * All runs without letting go of the lock: a message that was sent in between
 * would take another one for each run.
 *
 * Context: the device's order is held.
 */
void vrfm_link_diff(struct vrfm_link *link, u32 offset,
		    const struct vrfm_diff *diff)
{
	bool ready = link->state == VRFM_READY;
	u32 first, n;

	spin_lock_bh(&link->lock);
	for (first = vrfm_diff_next(diff, 0, &n); first < VRFM_PAGE_WORDS;
	     first = vrfm_diff_next(diff, first + n, &n)) {
		if (ready)
			vrfm_link_append_locked(link, VRFM_WIRE_UPDATE,
						offset + first * VRFM_WORD,
						&diff->words[first],
						n * VRFM_WORD);
		else
			vrfm_link_miss(link, offset + first * VRFM_WORD,
				       n * VRFM_WORD);
	}
	vrfm_link_push_locked(link);
	spin_unlock_bh(&link->lock);
	vrfm_link_missed(link);
}

static void vrfm_link_event_locked(struct vrfm_link *link,
				   const struct vrfm_wired_event *event)
{
	struct vrfm_slot *slot;

	slot = vrfm_link_open_locked(link, VRFM_WIRE_EVENT);
	slot->event = *event;
	vrfm_pack_event(&slot->pack, event);
	slot->closed = true;
	vrfm_link_push_locked(link);
}

/* As many of those that wait as there is room for. */
static void vrfm_link_events_locked(struct vrfm_link *link)
{
	u32 i, n = min(link->nlater, vrfm_link_free_locked(link));

	for (i = 0; i < n; i++)
		vrfm_link_event_locked(link, &link->later[i]);
	WRITE_ONCE(link->nlater, link->nlater - n);
	memmove(link->later, link->later + n,
		link->nlater * sizeof(*link->later));
}

/**
 * vrfm_link_events - events that came when there was no room
 * @link: link that is READY: whoever writes waits until these have gone
 *
 * It is kicked again when there is room.
 *
 * Context: the device's order is held.
 */
void vrfm_link_events(struct vrfm_link *link)
{
	if (!link->nlater)
		return;
	spin_lock_bh(&link->lock);
	vrfm_link_events_locked(link);
	spin_unlock_bh(&link->lock);
	if (!link->nlater)
		vrfm_link_woken(link);
}

/* It waits until the peer is not behind; it would be held there, too. */
static void vrfm_link_event_later_locked(struct vrfm_link *link,
					 const struct vrfm_wired_event *event)
{
	if (link->nlater < VRFM_QUEUE_DEPTH)
		link->later[link->nlater++] = *event;
	else
		link->counts.events_dropped++;
}

/**
 * vrfm_link_event - this node sends an event to the peer
 * @link: link; one that is READY has room
 * @event: enum rfm2g_event
 * @data: goes with it
 *
 * One that is not there is not told. Nobody waits for one that is behind: as
 * many as the peer's queue holds wait for room, in order.
 *
 * Context: the device's order is held.
 */
void vrfm_link_event(struct vrfm_link *link, u32 event, u32 data)
{
	const struct vrfm_wired_event wired = {
		.event = event, .data = data,
		.number = link->vdev->event_number,
	};

	spin_lock_bh(&link->lock);
	if (link->cb && !link->nlater && vrfm_link_free_locked(link))
		vrfm_link_event_locked(link, &wired);
	else if (link->cb)
		vrfm_link_event_later_locked(link, &wired);
	spin_unlock_bh(&link->lock);
}

static void vrfm_link_probe_locked(struct vrfm_link *link)
{
	struct vrfm_slot *slot = vrfm_link_open_locked(link, VRFM_WIRE_PROBE);

	slot->flags |= VRFM_WIRE_ANSWER;
	slot->closed = true;
	vrfm_link_push_locked(link);
}

/**
 * vrfm_link_probe - ask the peer to acknowledge all that came before
 * @link: link; one that is READY has room
 *
 * Context: the device's order is held.
 * Return: what &vrfm_link.acked will be then; 0: nobody is there, or no room.
 */
u64 vrfm_link_probe(struct vrfm_link *link)
{
	u64 sequence = 0;

	spin_lock_bh(&link->lock);
	if (link->cb && vrfm_link_free_locked(link)) {
		vrfm_link_probe_locked(link);
		sequence = link->opened;
	}
	spin_unlock_bh(&link->lock);
	return sequence;
}

/**
 * vrfm_link_note - tell the peer something
 * @link: link
 * @note: what
 *
 * Context: the device's order is held.
 * Return: false: there is no room, the link is kicked when there is.
 */
bool vrfm_link_note(struct vrfm_link *link, const struct vrfm_note *note)
{
	struct vrfm_slot *slot;
	bool has;

	spin_lock_bh(&link->lock);
	has = link->cb && vrfm_link_free_locked(link);
	link->wants_room = link->cb && !has;
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
 * vrfm_link_ask - ask the peer for pages
 * @link: link
 * @first: the first
 * @digests: of what is here
 * @count: how many, at most %VRFM_PULL_MAX
 *
 * Context: the device's order is held.
 * Return: false: there is no room.
 */
bool vrfm_link_ask(struct vrfm_link *link, u32 first, const u64 *digests,
		   u32 count)
{
	struct vrfm_slot *slot;
	bool has;
	u32 i;

	spin_lock_bh(&link->lock);
	has = link->cb && vrfm_link_free_locked(link);
	if (has) {
		link->arrived = 0;
		link->pulling = true;
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

/**
 * vrfm_link_fall_back - the peer gets what it lacks by catching up
 * @link: link that is not DOWN
 *
 * Context: the device's order is held.
 */
void vrfm_link_fall_back(struct vrfm_link *link)
{
	spin_lock_bh(&link->lock);
	vrfm_link_become_locked(link, VRFM_SYNCING);
	/* What follows does not have what is missed now. */
	vrfm_slot(link, link->opened)->closed = true;
	vrfm_link_push_locked(link);
	spin_unlock_bh(&link->lock);
	/* Who waits until it has all need not wait any longer. */
	vrfm_link_woken(link);
}

/**
 * vrfm_link_behind - the peer is too slow: writers do not wait for it
 * @link: link that is READY
 *
 * Context: the device's order is held.
 */
void vrfm_link_behind(struct vrfm_link *link)
{
	const unsigned long good = msecs_to_jiffies(VRFM_PENALTY_MAX_MS);

	if (!link->penalty_ms || time_after(jiffies, link->ready_since + good))
		link->penalty_ms = VRFM_PENALTY_MIN_MS;
	link->hold_until = jiffies + msecs_to_jiffies(link->penalty_ms);
	link->penalty_ms = min_t(u32, 2 * link->penalty_ms, VRFM_PENALTY_MAX_MS);
	link->counts.overloads++;
	/* Before the work of the link runs, which vrfm_link_fall_back() kicks. */
	link->todo |= VRFM_TODO_BEHIND;
	vrfm_link_fall_back(link);
	vrfm_fault(link->vdev, VRFM_LCSR_RX_AFULL, RFM2G_EVENT_RXFIFO_AFULL,
		   link->peer.node);
	vrfm_link_say(link, VRFM_SAY_BEHIND);
}

/**
 * vrfm_link_ready - the peer has, or will have, all that this node wrote
 * @link: link that is SYNCING and misses nothing; has a free message
 *
 * Context: the device's order is held.
 */
void vrfm_link_ready(struct vrfm_link *link)
{
	link->ready_since = jiffies;
	spin_lock_bh(&link->lock);
	vrfm_link_become_locked(link, VRFM_READY);
	vrfm_link_probe_locked(link);
	spin_unlock_bh(&link->lock);
	vrfm_link_events(link);
}

/* ---- up and down ---- */

static void vrfm_link_reset_locked(struct vrfm_link *link)
{
	link->opened = 0;
	link->posted = 0;
	link->completed = 0;
	link->acked = 0;
	link->granted = false;
	link->rx_sequence = 0;
	link->rx_told = 0;
	link->asked = 0;
	link->ack_again = false;
	link->rx_serial = 0;
	link->info.kind = 0;
	link->load = 0;
	link->swept = 0;
	link->arrived = 0;
	link->pulling = false;
	link->mute = false;
	link->wants_room = false;
	link->pulled.count = 0;
	link->rx.sequence = 0;
	link->rx.synced = false;
	link->rx.bad = false;
	link->rx_direct = false;
	vrfm_direct_reset_locked(link);
	vrfm_status_lag_locked(link);
}

/* Another life of the peer's device: it has nothing, and knows of nothing. */
static void vrfm_link_meet(struct vrfm_link *link, u64 epoch)
{
	if (link->peer_epoch == epoch)
		return;
	vrfm_link_miss_own(link);
	link->nlater = 0;
	link->filled = 0;
	link->rx.event = 0;
	link->rx.nheld = 0;
	link->peer_epoch = epoch;
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
 * vrfm_link_up - there is a connection
 * @link: link that is DOWN
 * @cb: established; belongs to the link until vrfm_link_down()
 * @epoch: which life of the peer's device
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
	 * What the last connection asked for is not served to this one. While
	 * there is none nobody kicks it.
	 */
	cancel_delayed_work_sync(&link->sync);
	rt_mutex_lock(&link->vdev->order);
	spin_lock_bh(&link->lock);
	vrfm_link_reset_locked(link);
	vrfm_link_meet(link, epoch);
	link->room = room;
	link->reads_on = reads_on;
	link->mtu = mtu;
	link->cb = cb;
	link->rx_heard = jiffies;
	link->counts.ups++;
	link->rejected = VRFM_REJECT_NONE;
	link->dial_error = 0;
	link->hold_until = jiffies;
	vrfm_link_become_locked(link, VRFM_SYNCING);
	/* Before anything else, so that the numbers of events only grow. */
	vrfm_link_events_locked(link);
	/* Says that it may be READY as far as this node is concerned. */
	vrfm_link_ack_locked(link);
	spin_unlock_bh(&link->lock);
	vrfm_load_link_up(link);
	rt_mutex_unlock(&link->vdev->order);
	vrfm_regs_peers(link->vdev, 0, 1);
	pr_info_ratelimited("%s: node %u is linked\n",
			    dev_name(&link->vdev->dev), link->peer.node);
	vrfm_sync_kick(link);
}

static void vrfm_link_miss_slot(struct vrfm_link *link,
				const struct vrfm_slot *slot)
{
	const void *at = slot->pack.msg + sizeof(struct vrfm_wire_head);
	struct vrfm_run run;
	u16 i;

	if (slot->type != VRFM_WIRE_UPDATE)
		return;
	for (i = 0; i < slot->pack.count; i++) {
		at = vrfm_proto_next_run(at, &run);
		vrfm_link_miss(link, run.offset, run.len);
	}
}

/* They are older than those that wait already: the last one goes first. */
static void vrfm_link_event_again(struct vrfm_link *link,
				  const struct vrfm_slot *slot)
{
	if (slot->type != VRFM_WIRE_EVENT)
		return;
	memmove(link->later + 1, link->later,
		link->nlater * sizeof(*link->later));
	link->later[0] = slot->event;
	link->nlater++;
}

static void vrfm_link_events_again(struct vrfm_link *link)
{
	u64 sequence;

	for (sequence = link->opened; sequence > link->acked; sequence--)
		vrfm_link_event_again(link, vrfm_slot(link, sequence));
}

/*
 * Notes what the peer has not acknowledged. A message may have a thousand runs, so
 * writers get the order after each one. Nobody else touches the slots: writers
 * leave them alone while the link is down, and vrfm_link_up() is not called before
 * vrfm_link_down() has returned.
 */
static void vrfm_link_miss_slots(struct vrfm_link *link)
{
	u64 sequence;

	for (sequence = link->acked + 1; sequence <= link->opened; sequence++) {
		vrfm_link_miss_slot(link, vrfm_slot(link, sequence));
		rt_mutex_unlock(&link->vdev->order);
		rt_mutex_lock(&link->vdev->order);
	}
}

/* For who looks. That a peer broke the rules is why this side hung up. */
static void vrfm_link_ended_locked(struct vrfm_link *link, int reason)
{
	lockdep_assert_held(&link->lock);
	link->down_error = link->rx.bad ? -EPROTO : reason;
	/* Of somebody else who came meanwhile. */
	link->rejected = VRFM_REJECT_NONE;
	link->down_at = ktime_get();
}

/**
 * vrfm_link_down - the connection is over
 * @link: link; if vrfm_link_up() was called for it, nothing is under way
 * @reason: errno of krdma's
 *
 * Context: may sleep.
 */
void vrfm_link_down(struct vrfm_link *link, int reason)
{
	struct vrfm_dev *vdev = link->vdev;
	struct krdma_region *region;
	bool was;

	mutex_lock(&link->direct.setup);
	rt_mutex_lock(&vdev->order);
	spin_lock_bh(&link->lock);
	was = link->cb;
	if (was)
		vrfm_link_ended_locked(link, reason);
	link->cb = NULL;
	vrfm_link_become_locked(link, VRFM_DOWN);
	spin_unlock_bh(&link->lock);
	if (was) {
		vrfm_link_events_again(link);
		vrfm_load_link_down(link);
	}
	region = vrfm_direct_down(link);
	link->rx.bad = true;
	if (was)
		vrfm_link_miss_slots(link);
	vrfm_status_lost(link);
	rt_mutex_unlock(&vdev->order);
	/* The queue pair is destroyed: the peer has no use of the key any more. */
	if (region)
		vrfm_share_put(vdev, region);
	mutex_unlock(&link->direct.setup);
	if (!was)
		return;
	vrfm_link_woken(link);
	vrfm_regs_peers(vdev, 0, -1);
	vrfm_fault(vdev, VRFM_LCSR_SYNC_LOSS, RFM2G_EVENT_SYNC_LOSS,
		   link->peer.node);
	pr_info_ratelimited("%s: node %u is not linked any more\n",
			    dev_name(&vdev->dev), link->peer.node);
}

/* ---- receiving ---- */

/**
 * vrfm_link_bad - what the peer said makes no sense: the connection ends
 * @link: link
 *
 * Context: any but hard interrupts.
 */
void vrfm_link_bad(struct vrfm_link *link)
{
	spin_lock_bh(&link->lock);
	link->counts.protocol++;
	vrfm_link_break_locked(link);
	spin_unlock_bh(&link->lock);
	vrfm_fault(link->vdev, VRFM_LCSR_BAD_DATA, RFM2G_EVENT_BAD_DATA,
		   link->peer.node);
	vrfm_link_say(link, VRFM_SAY_BAD);
}

/* Nothing more is heard of it. */
static void vrfm_rx_bad(struct vrfm_link *link)
{
	link->rx.bad = true;
	vrfm_link_bad(link);
}

static void vrfm_rx_update(struct vrfm_link *link, const void *msg, u16 count)
{
	const void *at = msg + sizeof(struct vrfm_wire_head);
	struct vrfm_run run;

	while (count--) {
		at = vrfm_proto_next_run(at, &run);
		trace_vrfm_apply(link->vdev->unit, link->peer.node, run.offset,
				 run.len);
		vrfm_region_put(link->vdev, run.offset, run.bytes, run.len,
				VRFM_OWN_CLEAR);
	}
}

/* Who sends counts here, too. */
static void vrfm_rx_event_dropped(struct vrfm_link *link)
{
	spin_lock_bh(&link->lock);
	link->counts.events_dropped++;
	spin_unlock_bh(&link->lock);
}

/*
 * Who is behind may have written, before the event, what is not here yet: it is
 * heard of when that is.
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

/* LEFT: by the peer, which did not wait for this node. */
static void vrfm_rx_become(struct vrfm_link *link, bool synced, bool left)
{
	spin_lock_bh(&link->lock);
	link->rx.synced = synced;
	link->counts.left += left;
	vrfm_status_update_locked(link);
	spin_unlock_bh(&link->lock);
}

/*
 * The peer sends in order no more, and what it writes comes later. While this
 * node loads an image that is its own request, and no fault.
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

/* What the peer says of messages to it. */
static void vrfm_rx_head(struct vrfm_link *link, const struct vrfm_head *head,
			 u32 len)
{
	bool news, answered, granted = head->flags & VRFM_WIRE_GRANT;

	spin_lock_bh(&link->lock);
	link->counts.bytes_received += len;
	vrfm_rate_add(&link->rx_rate, jiffies, len);
	vrfm_latency_end_locked(link, head->applied);
	news = link->acked != head->applied || link->granted != granted;
	WRITE_ONCE(link->acked, head->applied);
	link->granted = granted;
	link->rx_heard = jiffies;
	vrfm_status_heard_locked(link);
	answered = link->direct.answered != head->staged;
	WRITE_ONCE(link->direct.answered, head->staged);
	spin_unlock_bh(&link->lock);
	if (news)
		vrfm_link_woken(link);
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
		vrfm_load_merge(link, &run);
	}
}

static void vrfm_rx_gone_locked(struct vrfm_link *link,
				const struct vrfm_note *note)
{
	struct vrfm_past *said = &link->said[note->node];
	const struct vrfm_life life = {
		.epoch = note->id,
		.serial = note->value,
		.whose = note->number,
		.synced = note->flags & VRFM_GONE_SYNCED,
		.direct = note->flags & VRFM_GONE_DIRECT,
	};

	if (note->flags & VRFM_GONE_NEWEST)
		*said = (struct vrfm_past){ };
	vrfm_past_add(said, &life);
	__set_bit(note->node, link->heard);
}

static void vrfm_rx_note_locked(struct vrfm_link *link,
				const struct vrfm_note *note)
{
	if (note->kind == VRFM_NOTE_INFO) {
		link->info = *note;
		link->info_at = ktime_get();
		if (note->number != link->peer_loads)
			link->load = note->number;
	} else if (note->kind == VRFM_NOTE_LOAD) {
		link->load = note->number;
		link->info.flags &= ~VRFM_INFO_COMPLETE;
	} else if (note->kind == VRFM_NOTE_SWEPT) {
		link->swept = note->number;
	} else if (note->kind == VRFM_NOTE_PULLED) {
		link->arrived = note->number + 1;
		WRITE_ONCE(link->pulling, false);
		WRITE_ONCE(link->mute, false);
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
	vrfm_sync_kick(link);
	vrfm_load_kick(link->vdev);
}

/* One at a time: who asks again before he is answered is not heard. */
static void vrfm_rx_pull(struct vrfm_link *link, const void *msg)
{
	struct vrfm_pulled *pulled = &link->pulled;
	const __le64 *digests;
	u32 i, first, count;
	__le64 digest;

	/* Pairs with vrfm_serve(): it has done with the last ones. */
	if (smp_load_acquire(&pulled->count))
		return;
	digests = vrfm_proto_pull(msg, &first, &count);
	pulled->first = first;
	for (i = 0; i < count; i++) {
		memcpy(&digest, &digests[i], sizeof(digest));
		pulled->digests[i] = le64_to_cpu(digest);
	}
	/* From here on they are vrfm_serve()'s. */
	smp_store_release(&pulled->count, count);
	vrfm_sync_kick(link);
}

/*
 * Who is behind says so before what he sends is heard of, and who is not any
 * more behind it: then events that were held come first.
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

/* It is applied: say so, now or some time. */
static void vrfm_rx_over(struct vrfm_link *link, const struct vrfm_head *head)
{
	bool later = false;

	spin_lock_bh(&link->lock);
	link->rx_sequence = head->sequence;
	link->rx_serial = head->serial;
	link->rx_direct = head->flags & VRFM_WIRE_DIRECT;
	link->counts.received++;
	if (head->flags & VRFM_WIRE_ANSWER ||
	    link->rx_sequence - link->rx_told >= VRFM_ACK_EVERY)
		vrfm_link_ack_locked(link);
	else
		later = link->rx_told != link->rx_sequence;
	spin_unlock_bh(&link->lock);
	if (later)
		queue_delayed_work(vrfm_wq, &link->ack, 1);
}

static void vrfm_rx_message(struct vrfm_link *link, const void *msg, u32 len)
{
	const struct vrfm_seen seen = {
		.sequence = link->rx.sequence,
		.sent = READ_ONCE(link->posted),
		.applied = link->acked,
		.staged = link->direct.seen,
		.told = READ_ONCE(link->direct.told),
		.answered = link->direct.answered,
		.size = link->vdev->params.size,
	};
	struct vrfm_head head;

	if (vrfm_proto_check(msg, len, &seen, &head)) {
		vrfm_rx_bad(link);
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
 * vrfm_link_receive - the peer sent something
 * @link: link that is up
 * @loan: message
 *
 * Waits for nothing: that is why nodes that all write at once go on.
 *
 * Context: softirq or process; one at a time for each link.
 */
void vrfm_link_receive(struct vrfm_link *link, struct krdma_loan *loan)
{
	if (!link->rx.bad && loan->written)
		vrfm_rx_bad(link);
	else if (!link->rx.bad)
		vrfm_rx_message(link, loan->data, loan->len);
	krdma_loan_return(loan);
}

/* ---- life ---- */

static void vrfm_link_free(struct vrfm_link *link)
{
	u32 i;

	for (i = 0; i < VRFM_SLOTS; i++)
		kvfree(link->slots[i].pack.msg);
	kfree(link->scratch);
	kvfree(link->said);
	vrfm_direct_free(link);
	vrfm_map_free(&link->missed);
	kfree(link);
}

/**
 * vrfm_link_put - give back a reference
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
	struct vrfm_slot *slot;
	u32 i;

	if (vrfm_direct_init(link) ||
	    vrfm_map_init(&link->missed, link->vdev->params.size))
		return -ENOMEM;
	link->scratch = kmalloc(PAGE_SIZE, GFP_KERNEL);
	link->said = kvcalloc(VRFM_NODES, sizeof(*link->said), GFP_KERNEL);
	if (!link->scratch || !link->said)
		return -ENOMEM;
	for (i = 0; i < VRFM_SLOTS; i++) {
		slot = &link->slots[i];
		slot->link = link;
		slot->req.done = vrfm_slot_done;
		slot->pack.msg = kvmalloc(VRFM_SLOT_SIZE, GFP_KERNEL);
		if (!slot->pack.msg)
			return -ENOMEM;
	}
	return 0;
}

/**
 * vrfm_link_alloc - a link that is DOWN
 * @vdev: device
 * @peer: other node
 *
 * Context: may sleep.
 * Return: a reference, NULL: no memory.
 */
struct vrfm_link *vrfm_link_alloc(struct vrfm_dev *vdev,
				  const struct vrfm_peer *peer)
{
	/* Not by vmalloc(): the adapter reads the headers of its requests. */
	struct vrfm_link *link = kzalloc(sizeof(*link), GFP_KERNEL);

	if (!link)
		return NULL;
	link->vdev = vdev;
	link->peer = *peer;
	link->ack_req.done = vrfm_ack_done;
	link->rx.bad = true;
	refcount_set(&link->refs, 1);
	INIT_LIST_HEAD(&link->entry);
	INIT_DELAYED_WORK(&link->sync, vrfm_sync_work);
	INIT_DELAYED_WORK(&link->ack, vrfm_ack_work);
	vrfm_say_init(link);
	link->since = ktime_get();
	spin_lock_init(&link->lock);
	init_waitqueue_head(&link->wait);
	if (!vrfm_link_fill(link))
		return link;
	vrfm_link_free(link);
	return NULL;
}
