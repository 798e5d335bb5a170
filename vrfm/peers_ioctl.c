// SPDX-License-Identifier: GPL-2.0
/* State of the peers for programs (VRFM_PEERS). */
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "device.h"
#include "link.h"

static void vrfm_state_address(const struct vrfm_peer *peer,
			       struct vrfm_peer_state *state)
{
	const struct sockaddr_in *in = (const struct sockaddr_in *)&peer->addr;
	const struct sockaddr_in6 *in6 =
		(const struct sockaddr_in6 *)&peer->addr;

	if (peer->any)
		return;
	state->family = peer->addr.ss_family;
	state->port = ntohs(in->sin_port);
	if (state->family == AF_INET) {
		memcpy(state->address, &in->sin_addr, sizeof(in->sin_addr));
	} else {
		memcpy(state->address, &in6->sin6_addr, sizeof(in6->sin6_addr));
		state->scope = in6->sin6_scope_id;
	}
}

/*
 * Check whether the peer has the same image as this node, and this node has
 * nothing to load from the peer.
 */
static bool vrfm_state_same_image(const struct vrfm_link *link)
{
	u64 lineage = link->vdev->resync.lineage;

	return link->lineage.sent.kind && link->report.info.kind &&
	       link->lineage.sent.id == lineage &&
	       link->report.info.id == lineage &&
	       link->report.info.flags & VRFM_INFO_COMPLETE &&
	       (link->lineage.filled ||
		!(link->report.info.flags & VRFM_INFO_MERGED));
}

static u32 vrfm_state_flags(const struct vrfm_link *link)
{
	u32 flags = READ_ONCE(link->missed.lost) ? VRFM_PEER_MISSES_ALL : 0;

	if (link->state == VRFM_DOWN)
		return flags;
	if (link->rx.synced)
		flags |= VRFM_PEER_SYNCED;
	if (vrfm_state_same_image(link))
		flags |= VRFM_PEER_SAME_IMAGE;
	return flags;
}

static void vrfm_state_why_locked(const struct vrfm_link *link,
				  struct vrfm_peer_state *state)
{
	lockdep_assert_held(&link->lock);
	BUILD_BUG_ON((int)VRFM_REFUSAL_SIZE != (int)VRFM_REJECT_SIZE);
	BUILD_BUG_ON((int)VRFM_REFUSAL_BUSY != (int)VRFM_REJECT_BUSY);
	BUILD_BUG_ON((int)VRFM_REFUSAL_BUSY + 1 != (int)VRFM_REJECTS);
	if (link->state != VRFM_DOWN)
		return;
	state->error = -(READ_ONCE(link->failure.dial_error) ?:
			 link->failure.down_error);
	state->refusal = link->failure.rejected;
}

static void vrfm_state_take(struct vrfm_link *link,
			    struct vrfm_peer_state *state)
{
	BUILD_BUG_ON((int)VRFM_PEER_READY != (int)VRFM_READY);
	BUILD_BUG_ON((int)VRFM_PEER_SYNCING != (int)VRFM_SYNCING);
	spin_lock_bh(&link->lock);
	*state = (struct vrfm_peer_state){
		.node = link->peer.node,
		.state = link->state,
		.flags = vrfm_state_flags(link),
		.lag = link->window.opened - link->window.acked,
		.missed = (u64)READ_ONCE(link->missed.map.set) * VRFM_WORD,
		.since_ms = ktime_ms_delta(ktime_get(), link->since),
		.links = link->counts.ups,
		.messages = link->counts.messages,
		.received = link->counts.received,
		.bytes_sent = link->counts.bytes_sent +
			      link->counts.bytes_direct,
		.bytes_received = link->counts.bytes_received,
		.overloads = link->counts.overloads,
		.protocol_errors = link->counts.protocol,
		.events_dropped = link->counts.events_dropped,
		.late_ms = vrfm_link_late_ms_locked(link),
		.path_mtu = link->conn.mtu.path,
		.local_mtu = link->conn.mtu.local,
		.peer_mtu = link->conn.mtu.peer,
	};
	vrfm_state_why_locked(link, state);
	spin_unlock_bh(&link->lock);
	vrfm_state_address(&link->peer, state);
}

/*
 * Store the state of peers while there is room, and count all. Programs may
 * call this in a loop, so it does not take vrfm_dev.write_lock: the image and
 * the peers may be of different moments.
 */
static void vrfm_states_take(struct vrfm_dev *vdev, struct vrfm_peers *peers,
			     struct vrfm_peer_state *states, u32 room)
{
	struct vrfm_link *link;

	peers->count = 0;
	peers->size = vdev->params.size;
	peers->image = vrfm_is_loading(vdev) ? VRFM_IMAGE_LOADING : 0;
	peers->loaded = peers->image && READ_ONCE(vdev->resync.donor) ?
			(u64)READ_ONCE(vdev->resync.page) * VRFM_WIRE_PAGE : 0;
	peers->lineage = READ_ONCE(vdev->resync.lineage);
	rcu_read_lock();
	list_for_each_entry_rcu(link, &vdev->links, entry)
		if (peers->count++ < room)
			vrfm_state_take(link, &states[peers->count - 1]);
	rcu_read_unlock();
}

/*
 * Copy the members that the program knows. Set members that only the program
 * knows to zero.
 */
static int vrfm_states_give(const struct vrfm_peers *peers,
			    const struct vrfm_peer_state *states, u32 n)
{
	u32 known = min_t(u32, peers->peer_size, sizeof(*states));
	u8 __user *to = u64_to_user_ptr(peers->peers);
	u32 i;

	for (i = 0; i < n; i++, to += peers->peer_size)
		if (copy_to_user(to, &states[i], known) ||
		    clear_user(to + known, peers->peer_size - known))
			return -EFAULT;
	return 0;
}

/**
 * vrfm_states - copy the state of the peers to a program
 * @vdev: device
 * @peers: valid request; the function sets its members count, size, image,
 *	loaded and lineage
 *
 * Context: may sleep.
 * Return: 0; -EFAULT; -ENOMEM.
 */
int vrfm_states(struct vrfm_dev *vdev, struct vrfm_peers *peers)
{
	u32 room = min_t(u32, peers->count, RFM2G_NODE_MAX);
	struct vrfm_peer_state *states;
	int ret;

	BUILD_BUG_ON(offsetofend(struct vrfm_peer_state, address) !=
		     VRFM_PEER_SIZE);
	states = kvcalloc(room ?: 1, sizeof(*states), GFP_KERNEL_ACCOUNT);
	if (!states)
		return -ENOMEM;
	vrfm_states_take(vdev, peers, states, room);
	ret = vrfm_states_give(peers, states, min(room, peers->count));
	kvfree(states);
	return ret;
}
