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

static void vrfm_state_take(struct vrfm_link *link,
			    struct vrfm_peer_state *state)
{
	const struct vrfm_peer *peer = &link->peer;
	const struct sockaddr_in *in = (const struct sockaddr_in *)&peer->addr;
	const struct sockaddr_in6 *in6 =
		(const struct sockaddr_in6 *)&peer->addr;

	BUILD_BUG_ON((int)VRFM_PEER_READY != (int)VRFM_READY);
	BUILD_BUG_ON((int)VRFM_PEER_SYNCING != (int)VRFM_SYNCING);
	BUILD_BUG_ON((int)VRFM_REFUSAL_SIZE != (int)VRFM_REJECT_SIZE);
	BUILD_BUG_ON((int)VRFM_REFUSAL_BUSY != (int)VRFM_REJECT_BUSY);
	BUILD_BUG_ON((int)VRFM_REFUSAL_SECURITY != (int)VRFM_REJECT_SECURITY);
	BUILD_BUG_ON((int)VRFM_REFUSAL_SECURITY + 1 != (int)VRFM_REJECTS);
	BUILD_BUG_ON((int)VRFM_SECURITY_ENCRYPT != (int)KRDMA_SECURITY_ENCRYPT);
	spin_lock_bh(&link->lock);
	*state = (struct vrfm_peer_state){
		.node = peer->node,
		.state = link->state,
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
		.security = link->vdev->params.security,
	};
	if (READ_ONCE(link->missed.lost))
		state->flags |= VRFM_PEER_MISSES_ALL;
	if (link->state == VRFM_DOWN) {
		state->error = -(READ_ONCE(link->failure.dial_error) ?:
				 link->failure.down_error);
		state->refusal = link->failure.rejected;
	} else {
		state->key_id = link->conn.key_id;
		if (link->rx.synced)
			state->flags |= VRFM_PEER_SYNCED;
		if (vrfm_state_same_image(link))
			state->flags |= VRFM_PEER_SAME_IMAGE;
	}
	spin_unlock_bh(&link->lock);
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
	peers->image = vrfm_is_incomplete(vdev) ? VRFM_IMAGE_LOADING : 0;
	peers->loaded = peers->image && READ_ONCE(vdev->resync.donor) ?
			(u64)READ_ONCE(vdev->resync.page) * VRFM_WIRE_PAGE : 0;
	peers->lineage = READ_ONCE(vdev->resync.lineage);
	rcu_read_lock();
	list_for_each_entry_rcu(link, &vdev->links, entry)
		if (peers->count++ < room)
			vrfm_state_take(link, &states[peers->count - 1]);
	rcu_read_unlock();
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
	u8 __user *to = u64_to_user_ptr(peers->peers);
	u32 i, known = min_t(u32, peers->peer_size,
			     sizeof(struct vrfm_peer_state));
	struct vrfm_peer_state *states;
	int ret = 0;

	BUILD_BUG_ON(offsetofend(struct vrfm_peer_state, address) !=
		     VRFM_PEER_SIZE);
	states = kvcalloc(room ?: 1, sizeof(*states), GFP_KERNEL_ACCOUNT);
	if (!states)
		return -ENOMEM;
	vrfm_states_take(vdev, peers, states, room);
	/*
	 * Copy the members that the program knows. Set members that only the
	 * program knows to zero.
	 */
	for (i = 0; i < min(room, peers->count) && !ret; i++) {
		if (copy_to_user(to, &states[i], known) ||
		    clear_user(to + known, peers->peer_size - known))
			ret = -EFAULT;
		to += peers->peer_size;
	}
	kvfree(states);
	return ret;
}
