// SPDX-License-Identifier: GPL-2.0
/*
 * The backlog of a link: send events to the peer, and keep those that wait for
 * free messages.
 *
 * Events leave in the order of their numbers. If an event waits, later events
 * wait behind it. When a connection ends, the events that the peer has not
 * acknowledged come first in the backlog of the next connection.
 */
#include <linux/minmax.h>
#include <linux/string.h>

#include "link.h"

/*
 * Check whether the newest message can take an event behind its runs. A message
 * that was opened in another state of the link has another flag SYNCED than the
 * event needs.
 */
static bool vrfm_link_takes_event_locked(struct vrfm_link *link)
{
	const struct vrfm_slot *slot = vrfm_slot(link, link->window.opened);
	const bool ready = link->state == VRFM_READY;

	lockdep_assert_held(&link->lock);
	return link->window.opened && !slot->closed &&
	       slot->type == VRFM_WIRE_UPDATE &&
	       ready == !!(slot->flags & VRFM_WIRE_SYNCED) &&
	       vrfm_pack_has_room_for_event(&slot->pack);
}

/* Append an event to the newest message, or open one. The caller pushes it. */
static void vrfm_link_pack_event_locked(struct vrfm_link *link,
					const struct vrfm_wired_event *event)
{
	struct vrfm_slot *slot = vrfm_slot(link, link->window.opened);

	lockdep_assert_held(&link->lock);
	if (!vrfm_link_takes_event_locked(link))
		slot = vrfm_link_open_locked(link, VRFM_WIRE_EVENT);
	slot->type = VRFM_WIRE_EVENT;
	slot->serial = link->vdev->serial;
	slot->event = *event;
	vrfm_pack_event(&slot->pack, event);
	slot->closed = true;
}

/**
 * vrfm_link_events_locked - send as many of the waiting events as there are
 * free messages
 * @link: link that is not DOWN; its lock and vrfm_dev.write_lock are held
 *
 * Context: any but hard interrupts.
 */
void vrfm_link_events_locked(struct vrfm_link *link)
{
	u32 i, n = min(link->backlog.n, vrfm_link_free_locked(link));

	lockdep_assert_held(&link->vdev->write_lock);
	lockdep_assert_held(&link->lock);
	for (i = 0; i < n; i++)
		vrfm_link_pack_event_locked(link, &link->backlog.events[i]);
	vrfm_link_push_locked(link);
	WRITE_ONCE(link->backlog.n, link->backlog.n - n);
	memmove(link->backlog.events, link->backlog.events + n,
		link->backlog.n * sizeof(*link->backlog.events));
}

/**
 * vrfm_link_events - send events that wait for room
 * @link: link that is READY; writers wait until these events are sent
 *
 * If some events find no room, the link's work sends them later.
 *
 * Context: vrfm_dev.write_lock is held.
 */
void vrfm_link_events(struct vrfm_link *link)
{
	lockdep_assert_held(&link->vdev->write_lock);
	if (!link->backlog.n)
		return;
	spin_lock_bh(&link->lock);
	vrfm_link_events_locked(link);
	spin_unlock_bh(&link->lock);
	if (!link->backlog.n)
		vrfm_link_wake_writers(link);
}

/**
 * vrfm_link_event_locked - append an event to a message, or let the event wait
 * @link: link, which must have room if it is READY; its lock and
 *	vrfm_dev.write_lock are held. The caller pushes the message
 * @event: event
 *
 * An absent peer does not get the event. If the peer is behind, up to
 * %VRFM_QUEUE_DEPTH events wait for room, in order, and others are dropped. The
 * caller does not wait. Only a peer that has not caught up lacks room. Such a
 * peer would hold the event until it has caught up, so it loses nothing by the
 * delay.
 *
 * Context: any but hard interrupts.
 */
void vrfm_link_event_locked(struct vrfm_link *link,
			    const struct vrfm_wired_event *event)
{
	lockdep_assert_held(&link->vdev->write_lock);
	lockdep_assert_held(&link->lock);
	if (link->conn.cb && !link->backlog.n && vrfm_link_free_locked(link))
		vrfm_link_pack_event_locked(link, event);
	else if (link->conn.cb && link->backlog.n < VRFM_QUEUE_DEPTH)
		link->backlog.events[link->backlog.n++] = *event;
	else if (link->conn.cb)
		link->counts.events_dropped++;
}

/**
 * vrfm_link_event - send an event to the peer
 * @link: link, which must have room if it is READY
 * @event: enum rfm2g_event
 * @data: data of the event
 *
 * The event has the number &vrfm_dev.event_number. If it cannot be sent at once,
 * see vrfm_link_event_locked().
 *
 * Context: vrfm_dev.write_lock is held.
 */
void vrfm_link_event(struct vrfm_link *link, u32 event, u32 data)
{
	const struct vrfm_wired_event wired = {
		.event = event, .data = data,
		.number = link->vdev->event_number,
	};

	lockdep_assert_held(&link->vdev->write_lock);
	spin_lock_bh(&link->lock);
	vrfm_link_event_locked(link, &wired);
	vrfm_link_push_locked(link);
	spin_unlock_bh(&link->lock);
}

/**
 * vrfm_link_events_again - put unacknowledged events back in front of the
 * waiting events
 * @link: link that is DOWN
 *
 * Context: vrfm_dev.write_lock is held.
 */
void vrfm_link_events_again(struct vrfm_link *link)
{
	struct vrfm_wired_event *events = link->backlog.events;
	const struct vrfm_slot *slot;
	u64 sequence;

	lockdep_assert_held(&link->vdev->write_lock);
	/* Waiting events are newer, so begin with the newest message. */
	for (sequence = link->window.opened; sequence > link->window.acked;
	     sequence--) {
		slot = vrfm_slot(link, sequence);
		if (slot->type != VRFM_WIRE_EVENT)
			continue;
		memmove(events + 1, events, link->backlog.n * sizeof(*events));
		events[0] = slot->event;
		link->backlog.n++;
	}
}
