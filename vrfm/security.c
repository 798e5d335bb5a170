// SPDX-License-Identifier: GPL-2.0
/*
 * Security: the level and the keys of a device, and keys that it shares with
 * one peer only.
 *
 * krdma authenticates the peers. This file chooses the keys: those of the peer,
 * or those of the device if the peer has none of its own. A change of keys
 * reaches the listener and krdma_reconnect, and ends the links that were made
 * with a key that has become invalid.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/minmax.h>
#include <linux/rculist.h>

#include "link.h"

static_assert(KRDMA_SECURITY_ENCRYPT + 1 == VRFM_SECURITY_LEVELS);

/**
 * vrfm_security_judge - check the level of a device before it is created
 * @unit: number of the device
 * @params: parameters of the device
 *
 * Return: 0; -EINVAL: direct writes are on, which the level forbids.
 */
int vrfm_security_judge(unsigned int unit, const struct vrfm_params *params)
{
	if (params->security > KRDMA_SECURITY_AUTH &&
	    params->direct == VRFM_DIRECT_ON) {
		pr_warn("%s%u: security %s: direct must not be on\n", VRFM_NAME,
			unit, vrfm_security_name(params->security));
		return -EINVAL;
	}
	if (params->security == KRDMA_SECURITY_AUTH)
		pr_notice("%s%u: security auth: peers are authenticated, their data are neither secret nor protected\n",
			  VRFM_NAME, unit);
	return 0;
}

/**
 * vrfm_keys_get - get the keys for a peer
 * @vdev: device
 * @peer: configuration of the peer, or of its link; NULL: those of the device
 *
 * Context: any but hard interrupts.
 * Return: keys with a reference; NULL: there are none.
 */
struct krdma_keys *vrfm_keys_get(struct vrfm_dev *vdev,
				 const struct vrfm_peer *peer)
{
	struct krdma_keys *keys;

	spin_lock_bh(&vdev->lock);
	keys = peer && peer->keys ? peer->keys : vdev->params.keys;
	krdma_keys_get(keys);
	spin_unlock_bh(&vdev->lock);
	return keys;
}

/**
 * vrfm_keys_choose - return the keys for a connect request
 * @vdev: device whose listener has received the request
 * @data: private data of the request, whose sender is not authenticated
 * @len: number of bytes
 *
 * Context: process, in the handler of the CM, so without vrfm_dev.write_lock.
 * Return: keys with a reference: those of the peer that the request names, or
 * those of the device; NULL: there are none.
 */
struct krdma_keys *vrfm_keys_choose(struct vrfm_dev *vdev, const void *data,
				    size_t len)
{
	struct vrfm_hello own = { }, hello = { .node = VRFM_NODES };
	struct krdma_keys *keys = NULL;
	struct vrfm_link *link;

	/* Only the node id matters here, and the decoder sets it first. */
	vrfm_hello_decode(data, len, &own, &hello);
	rcu_read_lock();
	list_for_each_entry_rcu(link, &vdev->links, entry)
		if (link->peer.node == hello.node)
			keys = vrfm_keys_get(vdev, &link->peer);
	rcu_read_unlock();
	return keys ?: vrfm_keys_get(vdev, NULL);
}

/**
 * vrfm_keys_check - end the connections of a link whose key is invalid
 * @link: link
 *
 * Called after each change of keys, and after each connection. So a connection
 * that was being made while the keys changed ends as well.
 *
 * Context: may sleep.
 */
void vrfm_keys_check(struct vrfm_link *link)
{
	struct krdma_keys *keys = vrfm_keys_get(link->vdev, &link->peer);
	struct krdma_cb *cb;
	bool ended = false;

	spin_lock_bh(&link->lock);
	/* A link that is up has one connection, maybe in both members. */
	cb = link->conn.cb ?: link->conn.incoming;
	if (cb && !krdma_keys_have(keys, cb)) {
		krdma_disconnect(cb);
		ended = true;
	}
	spin_unlock_bh(&link->lock);
	krdma_keys_put(keys);
	if (ended)
		pr_info_ratelimited("%s: node %u: its key is not valid any more, disconnecting\n",
				    dev_name(&link->vdev->dev),
				    link->peer.node);
}

/* Let the next connections of a link use the present keys. */
static void vrfm_keys_apply(struct vrfm_link *link)
{
	struct krdma_keys *keys = vrfm_keys_get(link->vdev, &link->peer);

	if (link->reconn)
		krdma_reconnect_set_keys(link->reconn, keys);
	krdma_keys_put(keys);
	vrfm_keys_check(link);
}

/* Replace *PLACE, and drop its reference. */
static void vrfm_keys_replace(struct vrfm_dev *vdev, struct krdma_keys **place,
			      struct krdma_keys *keys)
{
	krdma_keys_get(keys);
	spin_lock_bh(&vdev->lock);
	swap(*place, keys);
	spin_unlock_bh(&vdev->lock);
	krdma_keys_put(keys);
}

/**
 * vrfm_dev_set_keys - replace the keys of a device
 * @vdev: device
 * @keys: keys; the device takes its own reference. NULL: none
 *
 * Context: may sleep; not concurrently for one device.
 * Return: 0; -ENOKEY: a peer would have no key.
 */
int vrfm_dev_set_keys(struct vrfm_dev *vdev, struct krdma_keys *keys)
{
	struct vrfm_link *link;

	/* Only the caller adds and removes links, so it needs no lock. */
	list_for_each_entry(link, &vdev->links, entry)
		if (vdev->params.security && !keys && !link->peer.keys)
			return -ENOKEY;
	vrfm_keys_replace(vdev, &vdev->params.keys, keys);
	if (vdev->listener)
		krdma_set_keys(vdev->listener, keys);
	list_for_each_entry(link, &vdev->links, entry)
		vrfm_keys_apply(link);
	return 0;
}

/**
 * vrfm_peer_set_keys - replace the keys that a device shares with one peer only
 * @link: link of the peer
 * @keys: keys; the link takes its own reference. NULL: use those of the device
 *
 * Context: may sleep; not concurrently for one device.
 * Return: 0; -ENOKEY: the peer would have no key.
 */
int vrfm_peer_set_keys(struct vrfm_link *link, struct krdma_keys *keys)
{
	struct vrfm_dev *vdev = link->vdev;

	if (vdev->params.security && !keys && !vdev->params.keys)
		return -ENOKEY;
	vrfm_keys_replace(vdev, &link->peer.keys, keys);
	vrfm_keys_apply(link);
	return 0;
}
