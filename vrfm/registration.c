// SPDX-License-Identifier: GPL-2.0
/*
 * Registration of the memory. On each RDMA device that links use, the memory is
 * registered once, with one key for all peers of these links.
 *
 * All connections of a vrfm device belong to one domain, which has one PD on
 * each RDMA device. The first link that advertises the memory to its peer
 * registers the memory. When the last of these links goes down, the memory is
 * unregistered.
 *
 * krdma calls closing() and lost() when the queue pair of the connection is
 * destroyed. So when a link is DOWN, its peer cannot write any more, although
 * the key stays valid for the peers of other links.
 */
#include <linux/list.h>
#include <linux/slab.h>

#include <krdma.h>

#include "priv.h"

/**
 * struct vrfm_shared - the memory, registered on an RDMA device
 * @entry: place in vrfm_shares.list
 * @region: region of the domain
 * @users: number of links that use @region
 */
struct vrfm_shared {
	struct list_head entry;
	struct krdma_region *region;
	u32 users;
};

static struct vrfm_shared *vrfm_share_register(struct vrfm_dev *vdev,
					       struct krdma_cb *cb)
{
	struct vrfm_shared *shared = kzalloc(sizeof(*shared), GFP_KERNEL);
	struct krdma_region *region;

	lockdep_assert_held(&vdev->shares.lock);
	if (!shared)
		return ERR_PTR(-ENOMEM);
	region = krdma_region_from_pages(cb, vdev->mem.pages, vdev->mem.npages,
					 0, vdev->params.size,
					 KRDMA_REMOTE_WRITE | KRDMA_NO_SOURCE |
						 KRDMA_COHERENT | KRDMA_DOMAIN);
	if (IS_ERR(region)) {
		kfree(shared);
		return ERR_CAST(region);
	}
	shared->region = region;
	list_add(&shared->entry, &vdev->shares.list);
	return shared;
}

/**
 * vrfm_share_get - get the region of the memory on a connection's RDMA device
 * @vdev: device
 * @cb: established connection of a link of @vdev
 *
 * If no other link has registered the memory on that RDMA device, register it.
 *
 * Context: may sleep; the link's vrfm_direct.setup is held.
 * Return: region for vrfm_share_put(), or an ERR_PTR of
 * krdma_region_from_pages().
 */
struct krdma_region *vrfm_share_get(struct vrfm_dev *vdev, struct krdma_cb *cb)
{
	struct krdma_region *region;
	struct vrfm_shared *shared;

	mutex_lock(&vdev->shares.lock);
	list_for_each_entry(shared, &vdev->shares.list, entry)
		if (krdma_region_is_valid_on(shared->region, cb))
			goto found;
	shared = vrfm_share_register(vdev, cb);
	if (IS_ERR(shared)) {
		region = ERR_CAST(shared);
		goto out;
	}
found:
	shared->users++;
	region = shared->region;
out:
	mutex_unlock(&vdev->shares.lock);
	return region;
}

/**
 * vrfm_share_put - release a region from vrfm_share_get()
 * @vdev: device
 * @region: region that the link's peer cannot use: it was not advertised to the
 *	peer, or the connection is closed
 *
 * When the last link releases the region, the memory is unregistered.
 *
 * Context: may sleep; the link's vrfm_direct.setup is held.
 */
void vrfm_share_put(struct vrfm_dev *vdev, struct krdma_region *region)
{
	struct vrfm_shared *shared;

	mutex_lock(&vdev->shares.lock);
	list_for_each_entry(shared, &vdev->shares.list, entry)
		if (shared->region == region)
			break;
	if (!--shared->users) {
		list_del(&shared->entry);
		krdma_region_put(region);
		kfree(shared);
	}
	mutex_unlock(&vdev->shares.lock);
}

/**
 * vrfm_share_init - prepare the domain of the connections of a device
 * @vdev: device without links
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM; the caller must call vrfm_share_free() in both cases.
 */
int vrfm_share_init(struct vrfm_dev *vdev)
{
	struct krdma_domain *domain = krdma_domain_create(dev_name(&vdev->dev));

	if (IS_ERR(domain))
		return PTR_ERR(domain);
	vdev->shares.domain = domain;
	return 0;
}

/**
 * vrfm_share_free - undo vrfm_share_init()
 * @vdev: device without links; vrfm_share_init() may have failed, or may not
 *	have been called
 *
 * Context: may sleep.
 */
void vrfm_share_free(struct vrfm_dev *vdev)
{
	krdma_domain_put(vdev->shares.domain);
	mutex_destroy(&vdev->shares.lock);
}
