// SPDX-License-Identifier: GPL-2.0
/*
 * Life of a device.
 *
 * A device is created by its back end. It ends when the core calls
 * ntrdma_dealloc_driver(), after all consumers have released it. The core does
 * so when the back end destroys the device, and for "rdma link del". So a device
 * can end at any time after it is registered.
 *
 * Access to the device during ntrdma_dealloc_driver(), and how each ends:
 *
 * - Consumers: the core has removed them, so there are no QPs.
 * - Work item of ntrdma_enable_driver(): ntrdma_dev_stop() cancels it.
 * - Link work and beat timer: ntrdma_links_stop().
 * - Doorbells, events of the interface, and peers that come and go: stop() of
 *   the back end.
 * - Polls and timers of the lanes: ntrdma_lanes_stop().
 * - Readers of debugfs and sysfs: ntrdma_debugfs_remove() and
 *   ntrdma_files_remove() wait for them.
 * - Suspend and reboot: they find the device on the list, with all links off.
 *
 * The list holds a reference to the memory of each device. A work item removes
 * the device from the list after ntrdma_dealloc_driver() has returned, because
 * the module must not be unloaded before that. ib_unregister_device() waits
 * until another task has finished with the same device.
 *
 * Order of locks: ntrdma_devs_mutex > ntrdma_dev.mutex, and ntrdma_files.mutex >
 * ntrdma_dev.mutex. None of them is held while the core registers or
 * unregisters a device, which takes rtnl.
 */
#include <linux/cpumask.h>
#include <linux/etherdevice.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <net/addrconf.h>

#include <compat.h>

#include "verbs.h"
#include "win.h"

/* Lanes of a device, unless a parameter says more or fewer. */
#define NTRDMA_DEFAULT_LANES	4
/* Maximum ring of the link to the device itself. */
#define NTRDMA_OWN_RING		SZ_256K

static struct lock_class_key ntrdma_ahs_key;
static DEFINE_MUTEX(ntrdma_devs_mutex);
static LIST_HEAD(ntrdma_devs);
/* The machine is suspended, or reboots; ntrdma_devs_mutex. */
static bool ntrdma_devs_suspended;

static void ntrdma_devs_add(struct ntrdma_dev *dev)
{
	get_device(&dev->ib.dev);
	mutex_lock(&ntrdma_devs_mutex);
	list_add_tail(&dev->entry, &ntrdma_devs);
	if (ntrdma_devs_suspended)
		ntrdma_links_suspend(dev, true);
	mutex_unlock(&ntrdma_devs_mutex);
}

static void ntrdma_devs_del(struct ntrdma_dev *dev)
{
	bool found;

	mutex_lock(&ntrdma_devs_mutex);
	found = !list_empty(&dev->entry);
	list_del_init(&dev->entry);
	mutex_unlock(&ntrdma_devs_mutex);
	if (found)
		put_device(&dev->ib.dev);
}

/* Return a device with a reference to its memory, or NULL. */
static struct ntrdma_dev *ntrdma_devs_get(bool only_dead)
{
	struct ntrdma_dev *dev, *found = NULL;

	mutex_lock(&ntrdma_devs_mutex);
	list_for_each_entry(dev, &ntrdma_devs, entry) {
		if (only_dead && !READ_ONCE(dev->dead))
			continue;
		get_device(&dev->ib.dev);
		found = dev;
		break;
	}
	mutex_unlock(&ntrdma_devs_mutex);
	return found;
}

/* Remove devices from the list whose end has been, or is to be, awaited. */
static void ntrdma_devs_reap(bool only_dead)
{
	struct ntrdma_dev *dev;

	while ((dev = ntrdma_devs_get(only_dead))) {
		ib_unregister_device(&dev->ib);
		ntrdma_devs_del(dev);
		put_device(&dev->ib.dev);
	}
}

static void ntrdma_reap(struct work_struct *work)
{
	ntrdma_devs_reap(true);
}

static DECLARE_WORK(ntrdma_reap_work, ntrdma_reap);

/**
 * ntrdma_devs_exit - destroy all devices
 *
 * Context: may sleep; no new device can be created.
 */
void ntrdma_devs_exit(void)
{
	ntrdma_devs_reap(false);
}

static void ntrdma_devs_set_suspended(bool suspended)
{
	struct ntrdma_dev *dev;

	mutex_lock(&ntrdma_devs_mutex);
	ntrdma_devs_suspended = suspended;
	list_for_each_entry(dev, &ntrdma_devs, entry)
		ntrdma_links_suspend(dev, suspended);
	mutex_unlock(&ntrdma_devs_mutex);
}

/**
 * ntrdma_devs_suspend - end all sessions of all devices
 *
 * Context: may sleep.
 */
void ntrdma_devs_suspend(void)
{
	ntrdma_devs_set_suspended(true);
}

/**
 * ntrdma_devs_resume - begin sessions again after ntrdma_devs_suspend()
 *
 * Context: may sleep.
 */
void ntrdma_devs_resume(void)
{
	ntrdma_devs_set_suspended(false);
}

/*
 * Peers.
 */

static struct ntrdma_peer *ntrdma_peer_alloc(struct ntrdma_dev *dev, u8 member,
					     const struct ntrdma_window *window)
{
	struct ntrdma_peer *peer = kzalloc(sizeof(*peer), GFP_KERNEL);
	unsigned int i;

	if (!peer)
		return NULL;
	peer->dev = dev;
	peer->member = member;
	peer->window = *window;
	ntrdma_session_init(&peer->session);
	spin_lock_init(&peer->eth_lock);
	for (i = 0; i < NTRDMA_RINGS; i++)
		INIT_LIST_HEAD(&peer->ring[i].waiting);
	return peer;
}

static int ntrdma_peer_insert(struct ntrdma_dev *dev, struct ntrdma_peer *peer)
{
	lockdep_assert_held(&dev->mutex);
	if (dev->stopping)
		return -ESHUTDOWN;
	if (rcu_access_pointer(dev->peers[peer->member]))
		return -EEXIST;
	rcu_assign_pointer(dev->peers[peer->member], peer);
	ntrdma_link_start(peer);
	return 0;
}

/**
 * ntrdma_peer_add - add a peer, and begin sessions with it
 * @dev: device
 * @member: number of the peer
 * @window: windows, which stay until ntrdma_peer_remove() returns
 *
 * Context: may sleep.
 * Return: 0, -EINVAL if the windows are too small, -EEXIST, -ENOMEM, or
 * -ESHUTDOWN if the device ends.
 */
int ntrdma_peer_add(struct ntrdma_dev *dev, u8 member,
		    const struct ntrdma_window *window)
{
	bool eth = dev->config.eth && member != dev->config.member;
	struct ntrdma_peer *peer;
	u32 ring_bytes, chunk;
	int ret;

	if (member >= NTRDMA_MEMBERS ||
	    !ntrdma_sizes_fit(window->size, dev->lanes, eth,
			      ntrdma_ring_limit(dev), &ring_bytes, &chunk))
		return -EINVAL;
	peer = ntrdma_peer_alloc(dev, member, window);
	if (!peer)
		return -ENOMEM;
	mutex_lock(&dev->mutex);
	ret = ntrdma_peer_insert(dev, peer);
	mutex_unlock(&dev->mutex);
	if (ret)
		kfree(peer);
	else
		ntrdma_files_update(dev);
	return ret;
}
EXPORT_SYMBOL_NS_GPL(ntrdma_peer_add, NTRDMA_NS);

/**
 * ntrdma_peer_drop - end the session with a peer, and forget the peer
 * @dev: device
 * @member: number of the peer; it need not exist
 * @reason: reason, for logs
 *
 * Afterwards nothing of the device uses the windows.
 *
 * Context: may sleep.
 */
void ntrdma_peer_drop(struct ntrdma_dev *dev, u8 member,
		      enum ntrdma_reason reason)
{
	struct ntrdma_peer *peer;

	mutex_lock(&dev->mutex);
	peer = rcu_dereference_protected(dev->peers[member],
					 lockdep_is_held(&dev->mutex));
	if (peer) {
		ntrdma_link_end(peer, reason);
		RCU_INIT_POINTER(dev->peers[member], NULL);
	}
	mutex_unlock(&dev->mutex);
	if (!peer)
		return;
	ntrdma_files_update(dev);
	synchronize_rcu();
	kfree(peer);
}

/**
 * ntrdma_peer_remove - drop a peer because one of the two devices is removed
 * @dev: device
 * @member: number of the peer; it need not exist
 *
 * Context: may sleep.
 */
void ntrdma_peer_remove(struct ntrdma_dev *dev, u8 member)
{
	ntrdma_peer_drop(dev, member, NTRDMA_REASON_REMOVED);
}

/* Both windows of the link to the device itself are the same memory. */
static int ntrdma_peer_add_own(struct ntrdma_dev *dev)
{
	u32 ring = min_t(u32, ntrdma_ring_limit(dev), NTRDMA_OWN_RING);
	struct ntrdma_window window = {
		.size = max_t(size_t, NTRDMA_INBOX_MIN,
			      ntrdma_inbox_bytes(dev->lanes, false, ring)),
	};

	dev->own = kvzalloc(window.size, GFP_KERNEL);
	if (!dev->own)
		return -ENOMEM;
	window.in = dev->own;
	window.out = ntrdma_win_out(dev->own);
	return ntrdma_peer_add(dev, dev->config.member, &window);
}

/*
 * State of the interface.
 */

/**
 * ntrdma_port_update - notify consumers if the state of the port has changed
 * @dev: device
 *
 * The port is active while the interface is up and has carrier. The core's work
 * item for the event uses the device. The reference ensures that the core waits
 * for this work item before it frees the device.
 *
 * Context: may sleep.
 */
void ntrdma_port_update(struct ntrdma_dev *dev)
{
	struct ib_event event = {
		.device = &dev->ib,
		.element.port_num = 1,
	};
	bool active, changed;

	if (!ib_device_try_get(&dev->ib))
		return;
	mutex_lock(&dev->mutex);
	active = netif_running(dev->config.netdev) &&
		 netif_carrier_ok(dev->config.netdev);
	changed = active != dev->port_active;
	WRITE_ONCE(dev->port_active, active);
	mutex_unlock(&dev->mutex);
	if (changed) {
		event.event = active ? IB_EVENT_PORT_ACTIVE : IB_EVENT_PORT_ERR;
		ib_dispatch_event(&event);
	}
	ib_device_put(&dev->ib);
}

/*
 * Another address is another session. The address of the interface may change
 * while it is copied, but then another event follows.
 */
static void ntrdma_dev_set_mac(struct ntrdma_dev *dev)
{
	u8 mac[ETH_ALEN];

	ether_addr_copy(mac, dev->config.netdev->dev_addr);
	if (ether_addr_equal(mac, dev->mac))
		return;
	ntrdma_links_up(dev, false);
	mutex_lock(&dev->mutex);
	ether_addr_copy(dev->mac, mac);
	mutex_unlock(&dev->mutex);
}

/**
 * ntrdma_netdev_update - follow the state and the address of the interface
 * @dev: device that is registered
 *
 * ib_device_try_get() ensures that the device does not end before this function
 * returns. So the device keeps its reference to the interface.
 *
 * Context: may sleep; rtnl is not held.
 */
void ntrdma_netdev_update(struct ntrdma_dev *dev)
{
	if (!ib_device_try_get(&dev->ib))
		return;
	ntrdma_dev_set_mac(dev);
	ntrdma_links_up(dev, netif_running(dev->config.netdev));
	ntrdma_port_update(dev);
	ib_device_put(&dev->ib);
}

static void ntrdma_enable_work(struct work_struct *work)
{
	struct ntrdma_dev *dev = container_of(work, struct ntrdma_dev,
					      enable_work);

	ntrdma_files_update(dev);
	ntrdma_netdev_update(dev);
}

/**
 * ntrdma_enable_driver - follow what was missed while a device was disabled
 * @ib: the core's device, which is registered again
 *
 * When "rdma dev set netns" moves a device, ib_device_try_get() fails for a
 * moment, after the clients have released the device. Events of the interface
 * and new peers are not followed then. The core also calls this function when it
 * registers the device.
 *
 * Context: may sleep; the core holds its list of devices, so that a work item
 * does the work.
 * Return: 0.
 */
int ntrdma_enable_driver(struct ib_device *ib)
{
	queue_work(ntrdma_wq, &to_ntrdma_dev(ib)->enable_work);
	return 0;
}

/*
 * Creation and end.
 */

static u8 ntrdma_choose_lanes(struct ntrdma_dev *dev)
{
	unsigned int lanes = ntrdma_lanes;

	if (!lanes)
		lanes = min_t(unsigned int, num_online_cpus(),
			      NTRDMA_DEFAULT_LANES);
	if (dev->config.ops->lanes)
		lanes = min(lanes, dev->config.ops->lanes(dev));
	return clamp_t(unsigned int, lanes, 1, NTRDMA_LANES);
}

static struct ntrdma_dev *ntrdma_dev_alloc(const struct ntrdma_config *config)
{
	struct ntrdma_dev *dev = ib_alloc_device(ntrdma_dev, ib);
	__be64 guid;

	if (!dev)
		return NULL;
	dev->config = *config;
	dev_hold(config->netdev);
	ether_addr_copy(dev->mac, config->netdev->dev_addr);
	addrconf_addr_eui48((u8 *)&guid, dev->mac);
	dev->guid = be64_to_cpu(guid);
	dev->lanes = ntrdma_choose_lanes(dev);
	mutex_init(&dev->files.mutex);
	INIT_WORK(&dev->enable_work, ntrdma_enable_work);
	INIT_LIST_HEAD(&dev->entry);
	xa_init_flags(&dev->qps, XA_FLAGS_ALLOC | XA_FLAGS_LOCK_BH);
	xa_init_flags(&dev->mrs, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_BH);
	xa_init_flags(&dev->ahs, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_IRQ);
	/* xa_init_flags() gives the locks of this function one class. */
	lockdep_set_class(&dev->ahs.xa_lock, &ntrdma_ahs_key);
	dev->next_qp = get_random_u32() & NTRDMA_NUMBER_MASK;
	return dev;
}

static int ntrdma_dev_start(struct ntrdma_dev *dev)
{
	int ret = ntrdma_links_init(dev);

	if (ret)
		return ret;
	dev->stats = alloc_percpu(struct ntrdma_stats);
	if (!dev->stats)
		return -ENOMEM;
	ret = ntrdma_lanes_init(dev);
	if (ret)
		return ret;
	ret = ntrdma_peer_add_own(dev);
	if (ret)
		return ret;
	ret = dev->config.ops->start(dev);
	dev->started = !ret;
	return ret;
}

/* Undo ntrdma_dev_alloc() and as much as there is of ntrdma_dev_start(). */
static void ntrdma_dev_stop(struct ntrdma_dev *dev)
{
	const struct ntrdma_backend_ops *ops = dev->config.ops;
	u8 i;

	cancel_work_sync(&dev->enable_work);
	ntrdma_links_stop(dev);
	ntrdma_debugfs_remove(dev);
	ntrdma_files_remove(dev);
	if (dev->started)
		ops->stop(dev);
	ntrdma_lanes_stop(dev);
	for (i = 0; i < NTRDMA_MEMBERS; i++)
		ntrdma_peer_remove(dev, i);
	/* Until it is reaped, the device is on the list of those that suspend. */
	mutex_lock(&dev->mutex);
	dev->config.lease = NULL;
	mutex_unlock(&dev->mutex);
	if (dev->started && ops->release)
		ops->release(dev);
	ntrdma_lanes_free(dev);
	xa_destroy(&dev->qps);
	xa_destroy(&dev->mrs);
	xa_destroy(&dev->ahs);
	kvfree(dev->own);
	free_percpu(dev->stats);
	dev_put(dev->config.netdev);
}

/**
 * ntrdma_dealloc_driver - end a device that the core has unregistered
 * @ib: the core's device
 *
 * The core also calls it for a device that it could not register.
 *
 * Context: may sleep; rtnl is not held.
 */
void ntrdma_dealloc_driver(struct ib_device *ib)
{
	struct ntrdma_dev *dev = to_ntrdma_dev(ib);

	ntrdma_dev_stop(dev);
	WRITE_ONCE(dev->dead, true);
	queue_work(ntrdma_wq, &ntrdma_reap_work);
}

/* The core knows ntrdma_dealloc_driver() only after ntrdma_ib_register(). */
static void ntrdma_dev_abort(struct ntrdma_dev *dev)
{
	if (!dev->ib.ops.dealloc_driver)
		ntrdma_dev_stop(dev);
	ib_dealloc_device(&dev->ib);
}

/* The device may end while this runs, so check for that under the mutex. */
static void ntrdma_dev_add_files(struct ntrdma_dev *dev)
{
	mutex_lock(&dev->mutex);
	if (!dev->stopping)
		ntrdma_debugfs_add(dev);
	mutex_unlock(&dev->mutex);
	ntrdma_files_update(dev);
}

/**
 * ntrdma_dev_create - create and register a device
 * @config: properties; they are copied, except the memory of the name, which is
 *	not used after this function returns
 *
 * Context: may sleep; rtnl is not held.
 * Return: device with a reference to its memory, which ntrdma_dev_destroy()
 * puts, or an error pointer.
 */
struct ntrdma_dev *ntrdma_dev_create(const struct ntrdma_config *config)
{
	struct ntrdma_dev *dev = ntrdma_dev_alloc(config);
	int ret;

	if (!dev)
		return ERR_PTR(-ENOMEM);
	ret = ntrdma_dev_start(dev);
	if (ret)
		goto abort;
	get_device(&dev->ib.dev);
	ntrdma_devs_add(dev);
	ret = ntrdma_ib_register(dev);
	if (ret)
		goto unlist;
	ibdev_info(&dev->ib,
		   "back end %s, member %u, %u lanes, rings up to %u KiB\n",
		   config->ops->name, config->member, dev->lanes,
		   ntrdma_ring_limit(dev) / (u32)SZ_1K);
	ntrdma_dev_add_files(dev);
	ntrdma_netdev_update(dev);
	return dev;

unlist:
	ntrdma_devs_del(dev);
	put_device(&dev->ib.dev);
abort:
	ntrdma_dev_abort(dev);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL_NS_GPL(ntrdma_dev_create, NTRDMA_NS);

/**
 * ntrdma_dev_destroy - destroy a device
 * @dev: device of ntrdma_dev_create(); it may have ended already
 * @name: where to store its last name; the administrator may have changed it
 *
 * Context: may sleep; rtnl is not held.
 */
void ntrdma_dev_destroy(struct ntrdma_dev *dev, char name[IB_DEVICE_NAME_MAX])
{
	ib_unregister_device(&dev->ib);
	strscpy(name, dev->ib.name, IB_DEVICE_NAME_MAX);
	put_device(&dev->ib.dev);
}
EXPORT_SYMBOL_NS_GPL(ntrdma_dev_destroy, NTRDMA_NS);

/**
 * ntrdma_dev_has_ended - check whether the core has unregistered a device
 * @dev: device of ntrdma_dev_create()
 *
 * A device whose back end does not allow "rdma link del" only ends this way if
 * another driver does it, see uverbs.c.
 *
 * Return: true if only the memory of the device is left.
 */
bool ntrdma_dev_has_ended(const struct ntrdma_dev *dev)
{
	return READ_ONCE(dev->dead);
}

/**
 * ntrdma_dev_priv - return the data of the back end
 * @dev: device
 *
 * Return: ntrdma_config.priv.
 */
void *ntrdma_dev_priv(const struct ntrdma_dev *dev)
{
	return dev->config.priv;
}
