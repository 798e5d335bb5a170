// SPDX-License-Identifier: GPL-2.0
/*
 * Peers: connect to other nodes, and accept or reject their connections.
 *
 * Of two nodes, the one with the lower id connects, and tries until it succeeds
 * (krdma_reconnect). The other node listens. Each node identifies itself in the
 * private data of the connection. A node accepts only peers that its admin has
 * configured.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/in.h>
#include <linux/in6.h>
#include <linux/jiffies.h>
#include <net/ipv6.h>

#include "link.h"

/* Timeout of a peer's answer to a probe, in ms. */
#define VRFM_ALIVE_MS 1000
#define VRFM_CONNECT_MS 5000
/*
 * Time limit of a peer that has not proved yet that it has the key. Until then
 * it prevents other connections of the same id, see vrfm_peer_doubt_locked().
 */
#define VRFM_PROVE_MS 2000

static void vrfm_own_hello(const struct vrfm_dev *vdev, u32 to,
			   struct vrfm_hello *hello)
{
	*hello = (struct vrfm_hello){
		.node = vdev->params.node,
		.to = to,
		.network = vdev->params.network,
		.size = vdev->params.size,
		.epoch = vdev->epoch,
	};
}

static void vrfm_peer_params(const struct vrfm_dev *vdev,
			     struct krdma_params *params)
{
	*params = (struct krdma_params){
		.size = sizeof(*params),
		.buf_size = VRFM_SLOT_SIZE,
		.max_msg = VRFM_SLOT_SIZE,
		.pull_min = KRDMA_NEVER,
		.recv_depth = VRFM_RECVS,
		.keepalive_ms = vdev->params.keepalive_ms,
		.connect_timeout_ms = VRFM_CONNECT_MS,
		.domain = vdev->shares.domain,
		.security = vdev->params.security,
	};
}

/* Log a rejection once, until its reason changes or the peer is linked. */
static void vrfm_peer_log(struct vrfm_link *link, enum vrfm_reject why,
			  const char *who)
{
	bool news;

	spin_lock_bh(&link->lock);
	news = why != link->failure.rejected && why != VRFM_REJECT_BUSY;
	if (news)
		link->failure.rejected = why;
	spin_unlock_bh(&link->lock);
	if (news)
		pr_warn_ratelimited("%s: node %u: %s: %s\n",
				    dev_name(&link->vdev->dev),
				    link->peer.node, who,
				    vrfm_reject_text(why));
}

/* Check whether the hello on a connection comes from the expected peer. */
static enum vrfm_reject vrfm_peer_check(struct vrfm_link *link,
					struct krdma_cb *cb,
					struct vrfm_hello *hello)
{
	struct vrfm_hello own;
	enum vrfm_reject why;
	u8 data[KRDMA_PRIVATE_DATA_MAX];
	int len = krdma_peer_private_data(cb, data, sizeof(data));

	vrfm_own_hello(link->vdev, link->peer.node, &own);
	if (len < 0)
		len = 0;
	why = vrfm_hello_decode(data, min_t(size_t, len, sizeof(data)), &own,
				hello);
	if (!why && hello->node != link->peer.node)
		why = VRFM_REJECT_UNKNOWN;
	return why;
}

/* ---- this side connects ---- */

static void vrfm_reconnect_connected(struct krdma_reconnect *reconn,
				     struct krdma_cb *cb, u64 epoch)
{
	struct vrfm_link *link = krdma_reconnect_context(reconn);
	struct vrfm_hello hello;
	enum vrfm_reject why = vrfm_peer_check(link, cb, &hello);

	if (why) {
		vrfm_peer_log(link, why, "not taken");
		krdma_disconnect(cb);
		return;
	}
	vrfm_link_up(link, cb, hello.epoch);
}

static void vrfm_reconnect_lost(struct krdma_reconnect *reconn,
				struct krdma_cb *cb, int reason)
{
	vrfm_link_down(krdma_reconnect_context(reconn), reason);
}

static void vrfm_reconnect_receive(struct krdma_reconnect *reconn,
				   struct krdma_cb *cb,
				   struct krdma_rx_msg *rx_msg)
{
	vrfm_link_receive(krdma_reconnect_context(reconn), rx_msg);
}

/* Return the reason for which krdma has refused a connection. */
static enum vrfm_reject vrfm_peer_refusal(int error)
{
	switch (error) {
	case -EKEYREJECTED:
		return VRFM_REJECT_KEY;
	case -EPERM:
		return VRFM_REJECT_SECURITY;
	case -EPROTONOSUPPORT:
		return VRFM_REJECT_VERSION;
	default:
		return VRFM_REJECT_NONE;
	}
}

static void vrfm_reconnect_failed(struct krdma_reconnect *reconn,
				  struct krdma_cb *cb, int error)
{
	struct vrfm_link *link = krdma_reconnect_context(reconn);
	enum vrfm_reject why = VRFM_REJECT_NONE;
	struct krdma_reject rejected;

	WRITE_ONCE(link->failure.dial_error, error);
	why = vrfm_peer_refusal(error);
	if (why) {
		vrfm_peer_log(link, why, "not linked");
		return;
	}
	if (krdma_get_reject(cb, &rejected))
		why = vrfm_reject_decode(rejected.private_data,
					 rejected.private_data_len);
	if (why) {
		vrfm_peer_log(link, why, "refused us");
		return;
	}
	/* Forget the last rejection, so that the next one is logged. */
	spin_lock_bh(&link->lock);
	link->failure.rejected = VRFM_REJECT_NONE;
	spin_unlock_bh(&link->lock);
}

static const struct krdma_reconnect_ops vrfm_reconnect_ops = {
	.connected = vrfm_reconnect_connected,
	.lost = vrfm_reconnect_lost,
	.receive = vrfm_reconnect_receive,
	.failed = vrfm_reconnect_failed,
};

static int vrfm_peer_dial(struct vrfm_link *link)
{
	struct vrfm_dev *vdev = link->vdev;
	struct sockaddr_storage src = vdev->params.listen;
	const struct krdma_reconnect_params owner = {
		.size = sizeof(owner),
		.ops = &vrfm_reconnect_ops,
		.context = link,
	};
	struct vrfm_wire_hello wire;
	struct krdma_params params;
	struct krdma_reconnect *reconn;
	struct vrfm_hello hello;

	vrfm_own_hello(vdev, link->peer.node, &hello);
	vrfm_hello_encode(&wire, &hello);
	vrfm_peer_params(vdev, &params);
	params.private_data = &wire;
	params.private_data_len = sizeof(wire);
	if (params.security)
		params.keys = vrfm_keys_get(vdev, &link->peer);
	/* The peer knows this node by its address; the port does not matter. */
	((struct sockaddr_in *)&src)->sin_port = 0;
	if (src.ss_family == link->peer.addr.ss_family)
		params.src = (struct sockaddr *)&src;
	reconn = krdma_reconnect_start((struct sockaddr *)&link->peer.addr,
				       &params, &owner);
	krdma_keys_put(params.keys);
	if (IS_ERR(reconn))
		return PTR_ERR(reconn);
	link->reconn = reconn;
	return 0;
}

/* ---- this side listens ---- */

/* Compare addresses, without their ports and scopes. */
static bool vrfm_same_host(const struct sockaddr_storage *a,
			   const struct sockaddr_storage *b)
{
	if (a->ss_family != b->ss_family)
		return false;
	if (a->ss_family == AF_INET)
		return ((struct sockaddr_in *)a)->sin_addr.s_addr ==
		       ((struct sockaddr_in *)b)->sin_addr.s_addr;
	return ipv6_addr_equal(&((struct sockaddr_in6 *)a)->sin6_addr,
			       &((struct sockaddr_in6 *)b)->sin6_addr);
}

/*
 * Find the link of NODE, and take a reference. Return NULL if there is no such
 * peer that connects, or if CB comes from another address than the peer's.
 */
static struct vrfm_link *vrfm_peer_find(struct vrfm_dev *vdev, u32 node,
					const struct krdma_cb *cb)
{
	struct vrfm_link *link, *found = NULL;
	struct sockaddr_storage addr;

	if (node >= vdev->params.node || krdma_peer_addr(cb, &addr))
		return NULL;
	rt_mutex_lock(&vdev->write_lock);
	list_for_each_entry(link, &vdev->links, entry) {
		if (link->peer.node != node)
			continue;
		if (link->peer.any || vrfm_same_host(&link->peer.addr, &addr)) {
			refcount_inc(&link->refs);
			found = link;
		}
		break;
	}
	rt_mutex_unlock(&vdev->write_lock);
	return found;
}

/* Probe the peer, unless a probe is pending. */
static void vrfm_peer_ask(struct vrfm_link *link)
{
	bool ask;

	rt_mutex_lock(&link->vdev->write_lock);
	spin_lock_bh(&link->lock);
	ask = !link->conn.probed ||
	      !time_before(link->conn.heard, link->conn.probed);
	if (ask)
		link->conn.probed = jiffies ?: 1;
	spin_unlock_bh(&link->lock);
	if (ask)
		vrfm_link_probe(link);
	rt_mutex_unlock(&link->vdev->write_lock);
}

/*
 * Return the reason for rejecting a connect request while an earlier connection
 * of the same id exists. If the request comes from the same life of the peer's
 * device, the peer has lost the earlier connection, so end that connection. If
 * the lives differ, the peer has restarted, or two nodes have the same id. The
 * caller then probes the earlier connection, which is ended only if the probe
 * times out.
 *
 * With a level, the request is not proved: its sender may have recorded it. So
 * the request ends nothing by what it says. A connection that is not
 * established yet keeps its place until VRFM_PROVE_MS are over, and a link is
 * probed.
 */
static enum vrfm_reject vrfm_peer_doubt_locked(struct vrfm_link *link,
					       const struct vrfm_hello *hello)
{
	bool same = !link->conn.cb || hello->epoch == link->conn.peer_epoch;
	bool proved = !link->vdev->params.security;
	unsigned long probed = link->conn.probed;
	bool silent = time_before(link->conn.heard, probed);
	bool late = time_after(jiffies,
			       probed + msecs_to_jiffies(VRFM_ALIVE_MS));

	lockdep_assert_held(&link->lock);
	if (!same && probed && !silent)
		return VRFM_REJECT_TWICE;
	if ((same && proved) ||
	    (link->conn.cb && probed && silent && late))
		krdma_disconnect(link->conn.incoming);
	return VRFM_REJECT_BUSY;
}

/*
 * Release an accepted connection, which does not use @link any more. The caller
 * holds a reference to @cb, because vrfm_peer_hang_up() may use @cb until
 * link->conn.incoming is NULL.
 */
static void vrfm_peer_over(struct vrfm_link *link, struct krdma_cb *cb)
{
	krdma_release_cb(cb);
	spin_lock_bh(&link->lock);
	link->conn.incoming = NULL;
	wake_up_all(&link->conn.wait);
	spin_unlock_bh(&link->lock);
}

static void vrfm_peer_refuse(struct krdma_cb *cb, enum vrfm_reject why)
{
	struct vrfm_wire_reject wire;

	vrfm_reject_encode(&wire, why);
	krdma_reject_request(cb, &wire, sizeof(wire));
	krdma_release_cb(cb);
}

/*
 * Forget the refusals of an address that has connected, so that later refusals
 * are logged.
 */
static void vrfm_stranger_forget(struct vrfm_dev *vdev,
				 const struct krdma_cb *cb)
{
	struct sockaddr_storage addr = { };
	u32 i;

	krdma_peer_addr(cb, &addr);
	spin_lock_bh(&vdev->lock);
	for (i = 0; i < VRFM_STRANGERS; i++)
		if (vrfm_same_host(&vdev->strangers[i].addr, &addr))
			vdev->strangers[i].why = VRFM_REJECT_NONE;
	spin_unlock_bh(&vdev->lock);
}

/* Count a refusal. Log the first refusal of an address for a reason. */
static void vrfm_stranger_note(struct vrfm_dev *vdev,
			       const struct sockaddr_storage *addr,
			       enum vrfm_reject why)
{
	struct vrfm_stranger *stranger = vdev->strangers;
	const struct vrfm_stranger *end = stranger + VRFM_STRANGERS;
	bool news;

	spin_lock_bh(&vdev->lock);
	vdev->refused++;
	while (stranger < end && (stranger->why != why ||
				  !vrfm_same_host(&stranger->addr, addr)))
		stranger++;
	news = stranger == end;
	if (news) {
		stranger = &vdev->strangers[vdev->nstrangers++ % VRFM_STRANGERS];
		stranger->addr = *addr;
		stranger->why = why;
	}
	spin_unlock_bh(&vdev->lock);
	if (news)
		pr_warn_ratelimited("%s: %pISpc: refused: %s\n",
				    dev_name(&vdev->dev), addr,
				    vrfm_reject_text(why));
}

static void vrfm_refuse_stranger(struct vrfm_dev *vdev, struct krdma_cb *cb,
				 enum vrfm_reject why)
{
	struct sockaddr_storage addr = { };

	krdma_peer_addr(cb, &addr);
	vrfm_stranger_note(vdev, &addr, why);
	vrfm_peer_refuse(cb, why);
}

static void vrfm_peer_accept(struct vrfm_link *link, struct krdma_cb *cb,
			     const struct vrfm_hello *hello)
{
	enum vrfm_reject why = VRFM_REJECT_NONE;
	struct vrfm_wire_hello wire;
	struct vrfm_hello own;

	spin_lock_bh(&link->lock);
	if (link->conn.incoming)
		why = vrfm_peer_doubt_locked(link, hello);
	else if (link->removed)
		why = VRFM_REJECT_UNKNOWN;
	else
		link->conn.incoming = cb;
	spin_unlock_bh(&link->lock);
	if (why) {
		if (why != VRFM_REJECT_UNKNOWN)
			vrfm_peer_ask(link);
		spin_lock_bh(&link->vdev->lock);
		link->vdev->refused++;
		spin_unlock_bh(&link->vdev->lock);
		vrfm_peer_log(link, why, "refused");
		vrfm_peer_refuse(cb, why);
		return;
	}
	vrfm_own_hello(link->vdev, link->peer.node, &own);
	vrfm_hello_encode(&wire, &own);
	cb->context = link;
	/* Another task may release @cb before krdma_accept_async() returns. */
	krdma_get(cb);
	if (krdma_accept_async(cb, &wire, sizeof(wire)))
		vrfm_peer_over(link, cb);
	krdma_put(cb);
}

static void vrfm_listen_request(struct krdma_cb *listen_cb, struct krdma_cb *cb)
{
	/*
	 * If there is no valid hello, use the highest id, because the node with
	 * that id never connects.
	 */
	struct vrfm_hello own, hello = { .node = RFM2G_NODE_MAX };
	struct vrfm_dev *vdev = listen_cb->context;
	u8 data[KRDMA_PRIVATE_DATA_MAX];
	struct vrfm_link *link;
	enum vrfm_reject why;
	int len;

	len = krdma_peer_private_data(cb, data, sizeof(data));
	vrfm_own_hello(vdev, 0, &own);
	why = vrfm_hello_decode(data, clamp_t(int, len, 0, sizeof(data)), &own,
				&hello);
	link = vrfm_peer_find(vdev, hello.node, cb);
	if (!why && link) {
		vrfm_peer_accept(link, cb, &hello);
	} else {
		if (link) {
			/* Record for the statistics why it was refused. */
			spin_lock_bh(&link->lock);
			if (!link->conn.cb)
				link->failure.rejected = why;
			spin_unlock_bh(&link->lock);
		}
		vrfm_refuse_stranger(vdev, cb, why ?: VRFM_REJECT_UNKNOWN);
	}
	if (link)
		vrfm_link_put(link);
}

static struct krdma_keys *vrfm_listen_keys(struct krdma_cb *listen_cb,
					   const struct sockaddr *addr,
					   const void *data, u8 len)
{
	return vrfm_keys_choose(listen_cb->context, data, len);
}

/* Count and log a request that krdma has refused because of its key or level. */
static void vrfm_listen_refused(struct krdma_cb *listen_cb,
				const struct sockaddr *addr, const void *data,
				u8 len, int error)
{
	enum vrfm_reject why = vrfm_peer_refusal(error);
	struct vrfm_hello own = { }, hello = { .node = VRFM_NODES };
	struct vrfm_dev *vdev = listen_cb->context;
	struct sockaddr_storage from = { };
	struct vrfm_link *link;

	if (!why)
		return;
	memcpy(&from, addr, addr->sa_family == AF_INET ?
	       sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6));
	vrfm_stranger_note(vdev, &from, why);
	vrfm_hello_decode(data, len, &own, &hello);
	/* Record for the statistics why it was refused. */
	rcu_read_lock();
	list_for_each_entry_rcu(link, &vdev->links, entry) {
		if (link->peer.node != hello.node ||
		    !(link->peer.any || vrfm_same_host(&link->peer.addr, &from)))
			continue;
		spin_lock_bh(&link->lock);
		if (!link->conn.cb)
			link->failure.rejected = why;
		spin_unlock_bh(&link->lock);
	}
	rcu_read_unlock();
}

static void vrfm_listen_connected(struct krdma_cb *cb, int error)
{
	struct vrfm_link *link = cb->context;
	struct vrfm_hello hello;

	if (error) {
		vrfm_peer_over(link, cb);
	} else if (vrfm_peer_check(link, cb, &hello)) {
		krdma_disconnect(cb);
	} else {
		vrfm_stranger_forget(link->vdev, cb);
		vrfm_link_up(link, cb, hello.epoch);
	}
}

static void vrfm_listen_receive(struct krdma_cb *cb,
				struct krdma_rx_msg *rx_msg)
{
	vrfm_link_receive(cb->context, rx_msg);
}

static void vrfm_listen_closing(struct krdma_cb *cb, int reason)
{
	struct vrfm_link *link = cb->context;

	vrfm_link_down(link, reason);
	vrfm_peer_over(link, cb);
}

static const struct krdma_ops vrfm_listen_ops = {
	.request = vrfm_listen_request,
	.keys = vrfm_listen_keys,
	.refused = vrfm_listen_refused,
	.connected = vrfm_listen_connected,
	.receive = vrfm_listen_receive,
	.closing = vrfm_listen_closing,
};

/*
 * Create the listener for the first peer that connects; later peers share it.
 */
static int vrfm_peer_listen(struct vrfm_dev *vdev)
{
	struct sockaddr_storage src = vdev->params.listen;
	struct krdma_params params;
	int ret;

	if (vdev->listener)
		return 0;
	if (!src.ss_family)
		src.ss_family = AF_INET;
	((struct sockaddr_in *)&src)->sin_port = htons(vdev->params.port);
	vrfm_peer_params(vdev, &params);
	params.flags = KRDMA_LISTEN_WAIT;
	/* All peers of the largest network may connect at the same time. */
	params.backlog = RFM2G_NODE_MAX + 1;
	params.ops = &vrfm_listen_ops;
	params.context = vdev;
	if (params.security) {
		params.connect_timeout_ms = VRFM_PROVE_MS;
		params.keys = vrfm_keys_get(vdev, NULL);
	}
	ret = krdma_listen_params((struct sockaddr *)&src, &params,
				  &vdev->listener);
	krdma_keys_put(params.keys);
	return ret;
}

/* ---- life ---- */

static int vrfm_peer_enlist(struct vrfm_link *link)
{
	struct vrfm_dev *vdev = link->vdev;
	struct vrfm_link *other;
	int ret = 0;

	rt_mutex_lock(&vdev->write_lock);
	list_for_each_entry(other, &vdev->links, entry)
		if (other->peer.node == link->peer.node)
			ret = -EINVAL;
	if (!ret) {
		/* The peer lacks all words that this node has written. */
		vrfm_link_miss_own(link);
		list_add_tail_rcu(&link->entry, &vdev->links);
		vrfm_status_add(link);
	}
	rt_mutex_unlock(&vdev->write_lock);
	if (ret) {
		pr_warn("%s: peer %u: there is one of that id\n",
			dev_name(&vdev->dev), link->peer.node);
		return ret;
	}
	vrfm_regs_peers(vdev, 1, 0);
	/*
	 * Other peers may have more writes of the new peer than this node has:
	 * check whether an image must be loaded.
	 */
	vrfm_resync_kick(vdev);
	return 0;
}

static void vrfm_peer_unlist(struct vrfm_link *link)
{
	rt_mutex_lock(&link->vdev->write_lock);
	spin_lock_bh(&link->lock);
	list_del_rcu(&link->entry);
	link->removed = true;
	vrfm_resync_drop_donor(link);
	/*
	 * Clear resync.from: another link may be allocated at the same address,
	 * and must not count as the peer that caused the load.
	 */
	if (link->vdev->resync.from == link)
		link->vdev->resync.from = NULL;
	spin_unlock_bh(&link->lock);
	rt_mutex_unlock(&link->vdev->write_lock);
	vrfm_regs_peers(link->vdev, -1, 0);
}

/*
 * Begin to disconnect the accepted connection, if there is one. The link has
 * been removed from vrfm_dev.links.
 */
static void vrfm_peer_disconnect(struct vrfm_link *link)
{
	spin_lock_bh(&link->lock);
	if (link->conn.incoming)
		krdma_disconnect(link->conn.incoming);
	spin_unlock_bh(&link->lock);
}

/*
 * End an accepted connection, and wait until it is released. The link accepts
 * no other connection, because &vrfm_link.removed is set.
 */
static void vrfm_peer_hang_up(struct vrfm_link *link)
{
	vrfm_peer_disconnect(link);
	/* krdma now calls vrfm_listen_closing(), which ends this wait. */
	wait_event(link->conn.wait, !READ_ONCE(link->conn.incoming));
	/*
	 * Wait until vrfm_peer_over() has released the lock, because the caller
	 * may free the link.
	 */
	spin_lock_bh(&link->lock);
	spin_unlock_bh(&link->lock);
}

/* Check the configuration of a peer for mistakes of the admin. */
static int vrfm_peer_judge(const struct vrfm_dev *vdev,
			   const struct vrfm_peer *peer)
{
	if (peer->node == vdev->params.node) {
		pr_warn("%s: peer %u: that is this node\n",
			dev_name(&vdev->dev), peer->node);
		return -EINVAL;
	}
	if (peer->any && peer->node > vdev->params.node) {
		pr_warn("%s: peer %u: it is this node that connects: not any\n",
			dev_name(&vdev->dev), peer->node);
		return -EDESTADDRREQ;
	}
	if (vdev->params.security && !peer->keys && !vdev->params.keys) {
		pr_warn("%s: peer %u: there is no key for it\n",
			dev_name(&vdev->dev), peer->node);
		return -ENOKEY;
	}
	return 0;
}

/**
 * vrfm_peer_add - add a peer and begin to connect or listen
 * @vdev: device
 * @peer: configuration of the peer
 *
 * Context: may sleep; not concurrently for one device.
 * Return: link for vrfm_peer_remove(), or an ERR_PTR: -EINVAL: the id is in use
 * (not -EEXIST, which modprobe takes for success), or is that of this node;
 * -EDESTADDRREQ: this node must connect, but the peer has no address; -ENOKEY:
 * the device has a level of security, but there is no key for the peer; -ENOMEM;
 * or an error of beginning to connect or listen.
 */
struct vrfm_link *vrfm_peer_add(struct vrfm_dev *vdev,
				const struct vrfm_peer *peer)
{
	int ret = vrfm_peer_judge(vdev, peer);
	struct vrfm_link *link;

	if (ret)
		return ERR_PTR(ret);
	link = vrfm_link_alloc(vdev, peer);
	if (!link)
		return ERR_PTR(-ENOMEM);
	ret = vrfm_peer_enlist(link);
	if (ret)
		goto put;
	if (peer->node < vdev->params.node)
		ret = vrfm_peer_listen(vdev);
	else
		ret = vrfm_peer_dial(link);
	if (!ret)
		return link;
	pr_warn("%s: peer %u: error %d\n", dev_name(&vdev->dev), peer->node,
		ret);
	vrfm_peer_unlist(link);
	vrfm_peer_hang_up(link);
	vrfm_status_remove(link);
	/* Wait for readers of statistics, which may be using the link. */
	synchronize_rcu();
put:
	vrfm_link_put(link);
	return ERR_PTR(ret);
}

/*
 * Disconnect a link that was removed from vrfm_dev.links, and stop its works.
 * After this only readers under RCU use the link: statistics, and rxe before
 * Linux 6.10, which may still read messages that were sent.
 */
static void vrfm_peer_stop(struct vrfm_link *link)
{
	krdma_reconnect_stop(link->reconn);
	vrfm_peer_hang_up(link);
	cancel_delayed_work_sync(&link->catchup.work);
	cancel_delayed_work_sync(&link->ack.work);
	cancel_work_sync(&link->log.work);
	vrfm_status_remove(link);
}

/**
 * vrfm_peer_remove - disconnect and remove a peer
 * @link: link from vrfm_peer_add()
 *
 * Context: may sleep; not concurrently for one device.
 */
void vrfm_peer_remove(struct vrfm_link *link)
{
	vrfm_peer_unlist(link);
	vrfm_peer_stop(link);
	synchronize_rcu();
	vrfm_link_put(link);
}

/**
 * vrfm_peers_remove - remove all peers, and stop listening
 * @vdev: device
 *
 * All links wait for the same grace period of RCU, because a grace period for
 * each of them would take seconds if there are many.
 *
 * Context: may sleep.
 */
void vrfm_peers_remove(struct vrfm_dev *vdev)
{
	struct vrfm_link *link, *next;
	LIST_HEAD(removed);

	if (vdev->listener)
		krdma_release_cb(vdev->listener);
	vdev->listener = NULL;
	list_for_each_entry_safe(link, next, &vdev->links, entry) {
		vrfm_peer_unlist(link);
		vrfm_peer_disconnect(link);
		list_add_tail(&link->removal, &removed);
	}
	if (list_empty(&removed))
		return;
	list_for_each_entry(link, &removed, removal)
		vrfm_peer_stop(link);
	synchronize_rcu();
	list_for_each_entry_safe(link, next, &removed, removal)
		vrfm_link_put(link);
}
