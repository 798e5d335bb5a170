// SPDX-License-Identifier: GPL-2.0
/*
 * Back end "local": the devices of one kernel.
 *
 * "rdma link add NAME type ntr netdev DEV" creates a device. All these devices
 * are members of one group, whatever network namespaces their interfaces are
 * in. A window is kernel memory. When a device joins, windows are made for all
 * pairs with other members. Both members of a pair hold a reference, so the
 * windows stay until neither of them uses them.
 *
 * Order of locks: ntrdma_group_mutex > ntrdma_dev.mutex. The device calls
 * start(), stop() and release() without its mutex. ntrdma_group_mutex is not
 * held while a device is registered or unregistered, which takes rtnl.
 *
 * Events of interfaces come under rtnl. They take no mutex, and only queue
 * work. They find a member by RCU, as doorbells do. A member is visible from its
 * reservation on, and has a device (ntrdma_local.dev) from the end of start()
 * on. stop() hides the member, and waits for a grace period, before the device
 * is freed. These races are possible:
 *
 * - An interface is unregistered while its device is being created. The event
 *   sets ntrdma_local.gone, then checks for a registered device. The creator
 *   registers the device, then checks gone. At least one of them unregisters
 *   the device.
 * - Two members leave, or one joins while another leaves: the group mutex
 *   orders them. A member in the group has not finished stop(), so its device
 *   exists. The device may refuse new peers with -ESHUTDOWN.
 * - The transmitter of a peer rings while a member leaves: stop() waits for the
 *   read-side section of the transmitter.
 *
 * The device also ends when rxe is unloaded, see uverbs.c. The task that unloads
 * rxe unregisters the device, and later calls the module notifier, which the
 * task of "rdma link del" does not. Then the device is made again.
 */
#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <linux/kref.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include <rdma/rdma_netlink.h>

#include "dev.h"
#include "emulate.h"
#include "win.h"

/*
 * Default size of a ring, in KiB: between the first members, and to others.
 * Large rings are twice as fast (curve/ntr-ring-sizes of tools/bench), but 16
 * members have 240 rings for each lane.
 */
#define NTRDMA_LOCAL_RING_KB	512
#define NTRDMA_LOCAL_RING_MANY	128
/* Number of the first members. */
#define NTRDMA_LOCAL_FEW	4

/**
 * struct ntrdma_local_window - memory that one member writes and another reads
 * @users: members that hold a reference; ntrdma_group_mutex
 * @size: bytes of @mem
 * @mem: memory
 */
struct ntrdma_local_window {
	unsigned int users;
	size_t size;
	void *mem;
};

/**
 * struct ntrdma_local - member of the group
 * @ref: references of the creator and of the device
 * @rcu: frees the member
 * @netdev: interface; valid as long as the device exists
 * @member: number of the member
 * @gone: the interface was unregistered
 * @dev: device, from the end of start() on
 * @work: follows the interface
 * @dma_device: device for the DMA API, or NULL
 * @in: windows that other members write; ntrdma_group_mutex
 * @out: windows that this member writes; ntrdma_group_mutex
 */
struct ntrdma_local {
	struct kref ref;
	struct rcu_head rcu;
	struct net_device *netdev;
	u8 member;
	bool gone;
	struct ntrdma_dev *dev;
	struct work_struct work;
	struct device *dma_device;
	struct ntrdma_local_window *in[NTRDMA_MEMBERS];
	struct ntrdma_local_window *out[NTRDMA_MEMBERS];
};

/* Time after the end of rxe until devices are made again, in ms. */
#define NTRDMA_LOCAL_AGAIN_MS	500

/**
 * struct ntrdma_local_ended - a device that has ended
 * @pid: task that has unregistered it; 0: none
 * @started: time at which the task was started, because numbers are reused
 * @net: number of the network namespace of the interface
 * @ifindex: number of the interface
 * @again: the device is to be made again
 * @name: name of the device
 */
struct ntrdma_local_ended {
	pid_t pid;
	u64 started;
	u64 net;
	int ifindex;
	bool again;
	char name[IB_DEVICE_NAME_MAX];
};

static DEFINE_MUTEX(ntrdma_group_mutex);
/* By number of the member; ntrdma_group_mutex. */
static struct ntrdma_local_ended ntrdma_local_ended[NTRDMA_MEMBERS];
static struct ntrdma_local __rcu *ntrdma_group[NTRDMA_MEMBERS];

static struct ntrdma_local *ntrdma_group_member(unsigned int member)
{
	return rcu_dereference_check(ntrdma_group[member],
				     lockdep_is_held(&ntrdma_group_mutex));
}

static void ntrdma_local_free(struct kref *ref)
{
	struct ntrdma_local *local = container_of(ref, struct ntrdma_local,
						  ref);

	ntrdma_dma_device_put(local->dma_device);
	kfree_rcu(local, rcu);
}

static void ntrdma_local_put(struct ntrdma_local *local)
{
	kref_put(&local->ref, ntrdma_local_free);
}

/*
 * Windows.
 */

static struct ntrdma_local_window *ntrdma_local_window_alloc(size_t size)
{
	struct ntrdma_local_window *window = kzalloc(sizeof(*window),
						     GFP_KERNEL);

	if (!window)
		return NULL;
	window->size = size;
	window->mem = kvzalloc(size, GFP_KERNEL);
	if (!window->mem) {
		kfree(window);
		return NULL;
	}
	return window;
}

static void ntrdma_local_window_free(struct ntrdma_local_window *window)
{
	if (!window)
		return;
	kvfree(window->mem);
	kfree(window);
}

static void ntrdma_local_window_put(struct ntrdma_local_window **slot)
{
	struct ntrdma_local_window *window = *slot;

	lockdep_assert_held(&ntrdma_group_mutex);
	*slot = NULL;
	if (window && !--window->users)
		ntrdma_local_window_free(window);
}

static void ntrdma_local_forget(struct ntrdma_local *local, unsigned int member)
{
	ntrdma_local_window_put(&local->in[member]);
	ntrdma_local_window_put(&local->out[member]);
}

static int ntrdma_local_add(struct ntrdma_local *local, struct ntrdma_dev *dev,
			    unsigned int member, struct ntrdma_local_window *in,
			    struct ntrdma_local_window *out)
{
	struct ntrdma_window window = {
		.in = in->mem,
		.out = ntrdma_win_out(out->mem),
		.size = in->size,
	};
	int ret = ntrdma_peer_add(dev, member, &window);

	if (ret)
		return ret;
	in->users++;
	out->users++;
	local->in[member] = in;
	local->out[member] = out;
	return 0;
}

static int ntrdma_local_pair_with(struct ntrdma_local *local,
				  struct ntrdma_dev *dev,
				  struct ntrdma_local *other,
				  struct ntrdma_local_window *to,
				  struct ntrdma_local_window *from)
{
	int ret;

	ret = ntrdma_local_add(other, other->dev, local->member, to, from);
	if (ret)
		return ret;
	ret = ntrdma_local_add(local, dev, other->member, from, to);
	if (!ret)
		return 0;
	ntrdma_peer_remove(other->dev, local->member);
	/* The caller frees the windows, so they must not be freed here. */
	other->in[local->member] = NULL;
	other->out[local->member] = NULL;
	return ret;
}

static size_t ntrdma_local_size(const struct ntrdma_dev *a,
				const struct ntrdma_dev *b)
{
	u32 ring = ntrdma_ring_limit(a);

	if (!ntrdma_ring_kb &&
	    max(a->config.member, b->config.member) >= NTRDMA_LOCAL_FEW)
		ring = NTRDMA_LOCAL_RING_MANY * SZ_1K;
	return max_t(size_t, NTRDMA_INBOX_MIN,
		     ntrdma_inbox_bytes(max(a->lanes, b->lanes), false, ring));
}

/* Make a new member and one that has joined peers of each other. */
static int ntrdma_local_pair(struct ntrdma_local *local, struct ntrdma_dev *dev,
			     struct ntrdma_local *other)
{
	size_t size = ntrdma_local_size(dev, other->dev);
	struct ntrdma_local_window *from = ntrdma_local_window_alloc(size);
	struct ntrdma_local_window *to = ntrdma_local_window_alloc(size);
	int ret = -ENOMEM;

	lockdep_assert_held(&ntrdma_group_mutex);
	if (from && to)
		ret = ntrdma_local_pair_with(local, dev, other, to, from);
	if (ret) {
		ntrdma_local_window_free(from);
		ntrdma_local_window_free(to);
	}
	/* A member that leaves is no peer any more. */
	return ret == -ESHUTDOWN ? 0 : ret;
}

/* Remove a member from all others. It keeps its own references. */
static void ntrdma_local_unpair(struct ntrdma_local *local)
{
	struct ntrdma_local *other;
	unsigned int i;

	lockdep_assert_held(&ntrdma_group_mutex);
	for (i = 0; i < NTRDMA_MEMBERS; i++) {
		other = ntrdma_group_member(i);
		if (!other || !other->in[local->member])
			continue;
		ntrdma_peer_remove(other->dev, local->member);
		ntrdma_local_forget(other, local->member);
	}
}

static void ntrdma_local_forget_all(struct ntrdma_local *local)
{
	unsigned int i;

	for (i = 0; i < NTRDMA_MEMBERS; i++)
		ntrdma_local_forget(local, i);
}

/* Undo all pairs of a member that cannot join. */
static void ntrdma_local_unjoin(struct ntrdma_local *local,
				struct ntrdma_dev *dev)
{
	unsigned int i;

	ntrdma_local_unpair(local);
	for (i = 0; i < NTRDMA_MEMBERS; i++)
		if (local->in[i])
			ntrdma_peer_remove(dev, i);
	ntrdma_local_forget_all(local);
}

/*
 * Functions of the back end.
 */

static unsigned int ntrdma_local_lanes(struct ntrdma_dev *dev)
{
	return NTRDMA_LANES;
}

static int ntrdma_local_join(struct ntrdma_local *local, struct ntrdma_dev *dev)
{
	struct ntrdma_local *other;
	unsigned int i;
	int ret;

	for (i = 0; i < NTRDMA_MEMBERS; i++) {
		other = ntrdma_group_member(i);
		if (!other || !other->dev)
			continue;
		ret = ntrdma_local_pair(local, dev, other);
		if (ret)
			return ret;
	}
	/* Events and doorbells find the device from now on. */
	smp_store_release(&local->dev, dev);
	return 0;
}

static int ntrdma_local_start(struct ntrdma_dev *dev)
{
	struct ntrdma_local *local = ntrdma_dev_priv(dev);
	int ret;

	mutex_lock(&ntrdma_group_mutex);
	ret = ntrdma_local_join(local, dev);
	if (ret)
		ntrdma_local_unjoin(local, dev);
	else
		kref_get(&local->ref);
	mutex_unlock(&ntrdma_group_mutex);
	return ret;
}

/* Free the number of a member, if it still has it. */
static void ntrdma_local_hide(struct ntrdma_local *local)
{
	lockdep_assert_held(&ntrdma_group_mutex);
	if (ntrdma_group_member(local->member) == local)
		RCU_INIT_POINTER(ntrdma_group[local->member], NULL);
}

static void ntrdma_local_stop(struct ntrdma_dev *dev)
{
	struct ntrdma_local *local = ntrdma_dev_priv(dev);

	mutex_lock(&ntrdma_group_mutex);
	ntrdma_local_unpair(local);
	ntrdma_local_hide(local);
	mutex_unlock(&ntrdma_group_mutex);
	synchronize_rcu();
	cancel_work_sync(&local->work);
}

static void ntrdma_local_note_end(const struct ntrdma_local *local,
				  const struct ntrdma_dev *dev)
{
	struct ntrdma_local_ended *ended = &ntrdma_local_ended[local->member];

	lockdep_assert_held(&ntrdma_group_mutex);
	*ended = (struct ntrdma_local_ended){
		.pid = current->pid,
		.started = current->start_boottime,
		.net = dev_net(local->netdev)->net_cookie,
		.ifindex = local->netdev->ifindex,
	};
	/* A device that could not be registered may have no name. */
	strscpy(ended->name, dev->ib.name, sizeof(ended->name));
}

static void ntrdma_local_release(struct ntrdma_dev *dev)
{
	struct ntrdma_local *local = ntrdma_dev_priv(dev);

	mutex_lock(&ntrdma_group_mutex);
	ntrdma_local_note_end(local, dev);
	ntrdma_local_forget_all(local);
	mutex_unlock(&ntrdma_group_mutex);
	ntrdma_local_put(local);
}

static void ntrdma_local_ring(struct ntrdma_dev *dev, u8 member, u8 lane)
{
	struct ntrdma_local *other;
	struct ntrdma_dev *peer;

	rcu_read_lock();
	other = ntrdma_group_member(member);
	peer = other ? smp_load_acquire(&other->dev) : NULL; /* join */
	if (peer)
		ntrdma_bell(peer, lane);
	rcu_read_unlock();
}

static const struct ntrdma_backend_ops ntrdma_local_ops = {
	.name = "local",
	.flags = NTRDMA_COHERENT | NTRDMA_BELLS,
	.lanes = ntrdma_local_lanes,
	.start = ntrdma_local_start,
	.stop = ntrdma_local_stop,
	.release = ntrdma_local_release,
	.ring = ntrdma_local_ring,
};

/*
 * Events of interfaces.
 */

static void ntrdma_local_work(struct work_struct *work)
{
	struct ntrdma_local *local = container_of(work, struct ntrdma_local,
						  work);

	ntrdma_netdev_update(local->dev);
}

/* Unregister a device, if it is registered. It ends in a work item. */
static void ntrdma_local_remove(struct ntrdma_dev *dev)
{
	if (!ib_device_try_get(&dev->ib))
		return;
	ib_unregister_device_queued(&dev->ib);
	ib_device_put(&dev->ib);
}

static void ntrdma_local_event(struct ntrdma_local *local, unsigned long event)
{
	struct ntrdma_dev *dev;

	if (event == NETDEV_UNREGISTER) {
		WRITE_ONCE(local->gone, true);
		smp_mb(); /* Pairs with ntrdma_local_check_gone(). */
	}
	dev = smp_load_acquire(&local->dev); /* ntrdma_local_join() */
	if (!dev)
		return;
	if (event == NETDEV_UNREGISTER)
		ntrdma_local_remove(dev);
	else
		queue_work(ntrdma_wq, &local->work);
}

static int ntrdma_local_netdev_event(struct notifier_block *nb,
				     unsigned long event, void *data)
{
	struct net_device *netdev = netdev_notifier_info_to_dev(data);
	struct ntrdma_local *local;
	unsigned int i;

	if (event != NETDEV_UP && event != NETDEV_DOWN &&
	    event != NETDEV_CHANGE && event != NETDEV_CHANGEADDR &&
	    event != NETDEV_UNREGISTER)
		return NOTIFY_DONE;
	rcu_read_lock();
	for (i = 0; i < NTRDMA_MEMBERS; i++) {
		local = ntrdma_group_member(i);
		if (local && local->netdev == netdev)
			ntrdma_local_event(local, event);
	}
	rcu_read_unlock();
	return NOTIFY_DONE;
}

static struct notifier_block ntrdma_local_notifier = {
	.notifier_call = ntrdma_local_netdev_event,
};

/*
 * Creation.
 */

static int ntrdma_local_check(const struct net_device *netdev)
{
	if (netdev->type == ARPHRD_ETHER && !(netdev->flags & IFF_LOOPBACK) &&
	    netdev->addr_len == ETH_ALEN &&
	    is_valid_ether_addr(netdev->dev_addr))
		return 0;
	netdev_info(netdev,
		    "ntrdma needs an Ethernet interface with a MAC address\n");
	return -EINVAL;
}

/* Give a member a number, unless its interface already has a device. */
static int ntrdma_local_find_number(struct ntrdma_local *local)
{
	struct ntrdma_local *other;
	int found = -ENOSPC;
	unsigned int i;

	lockdep_assert_held(&ntrdma_group_mutex);
	for (i = 0; i < NTRDMA_MEMBERS; i++) {
		other = ntrdma_group_member(i);
		if (other && other->netdev == local->netdev)
			return -EEXIST;
		if (!other && found < 0)
			found = i;
	}
	return found;
}

static int ntrdma_local_reserve(struct ntrdma_local *local)
{
	int number;

	mutex_lock(&ntrdma_group_mutex);
	number = ntrdma_local_find_number(local);
	if (number >= 0) {
		local->member = number;
		rcu_assign_pointer(ntrdma_group[number], local);
	}
	mutex_unlock(&ntrdma_group_mutex);
	if (number == -EEXIST)
		netdev_info(local->netdev,
			    "the interface already has an ntrdma device\n");
	if (number == -ENOSPC)
		netdev_info(local->netdev,
			    "ntrdma has the maximum of %d devices\n",
			    NTRDMA_MEMBERS);
	return min(number, 0);
}

static struct ntrdma_local *ntrdma_local_alloc(struct net_device *netdev)
{
	struct ntrdma_local *local = kzalloc(sizeof(*local), GFP_KERNEL);

	int ret;

	if (!local)
		return ERR_PTR(-ENOMEM);
	kref_init(&local->ref);
	local->netdev = netdev;
	INIT_WORK(&local->work, ntrdma_local_work);
	local->dma_device = ntrdma_dma_device_get();
	if (IS_ERR(local->dma_device)) {
		ret = PTR_ERR(local->dma_device);
		netdev_info(netdev, "no device for the DMA API: %d\n", ret);
		kfree(local);
		return ERR_PTR(ret);
	}
	return local;
}

/* Remove a device if its interface was unregistered before it existed. */
static void ntrdma_local_check_gone(struct ntrdma_local *local,
				    struct ntrdma_dev *dev)
{
	smp_mb(); /* Pairs with ntrdma_local_event(). */
	if (READ_ONCE(local->gone))
		ntrdma_local_remove(dev);
}

static int ntrdma_local_create(struct ntrdma_local *local, const char *name)
{
	struct ntrdma_config config = {
		.ops = &ntrdma_local_ops,
		.priv = local,
		.name = name,
		.member = local->member,
		.members = NTRDMA_MEMBERS,
		.bells = 1,
		.ring_kb = ntrdma_ring_kb ?: NTRDMA_LOCAL_RING_KB,
		.netdev = local->netdev,
		.dma_device = local->dma_device,
	};
	struct ntrdma_dev *dev = ntrdma_dev_create(&config);

	if (IS_ERR(dev)) {
		mutex_lock(&ntrdma_group_mutex);
		ntrdma_local_hide(local);
		mutex_unlock(&ntrdma_group_mutex);
		return PTR_ERR(dev);
	}
	ntrdma_local_check_gone(local, dev);
	/* The device lives until the core unregisters it. */
	put_device(&dev->ib.dev);
	return 0;
}

/* The caller holds a reference to the interface, and not rtnl. */
static int ntrdma_local_newlink(const char *name, struct net_device *netdev)
{
	struct ntrdma_local *local;
	int ret = ntrdma_local_check(netdev);

	if (ret)
		return ret;
	local = ntrdma_local_alloc(netdev);
	if (IS_ERR(local))
		return PTR_ERR(local);
	ret = ntrdma_local_reserve(local);
	if (!ret)
		ret = ntrdma_local_create(local, name);
	ntrdma_local_put(local);
	return ret;
}

static struct rdma_link_ops ntrdma_local_link_ops = {
	.type = "ntr",
	.newlink = ntrdma_local_newlink,
};

/*
 * Devices that end because rxe is unloaded.
 */

static struct net_device *ntrdma_local_find(const struct ntrdma_local_ended *ended)
{
	struct net_device *netdev = NULL;
	struct net *net;

	down_read(&net_rwsem);
	for_each_net(net)
		if (net->net_cookie == ended->net)
			netdev = dev_get_by_index(net, ended->ifindex);
	up_read(&net_rwsem);
	return netdev;
}

static void ntrdma_local_make(const struct ntrdma_local_ended *ended)
{
	struct net_device *netdev = ntrdma_local_find(ended);
	int ret;

	if (!netdev)
		return;
	ret = ntrdma_local_newlink(ended->name, netdev);
	netdev_info(netdev,
		    "ntrdma: another driver has unregistered %s, made again: %d\n",
		    ended->name, ret);
	dev_put(netdev);
}

static bool ntrdma_local_take_ended(unsigned int i,
				    struct ntrdma_local_ended *ended)
{
	mutex_lock(&ntrdma_group_mutex);
	*ended = ntrdma_local_ended[i];
	ntrdma_local_ended[i].again = false;
	mutex_unlock(&ntrdma_group_mutex);
	return ended->again;
}

static void ntrdma_local_again(struct work_struct *work)
{
	struct ntrdma_local_ended ended;
	unsigned int i;

	for (i = 0; i < NTRDMA_MEMBERS; i++)
		if (ntrdma_local_take_ended(i, &ended))
			ntrdma_local_make(&ended);
}

static DECLARE_DELAYED_WORK(ntrdma_local_again_work, ntrdma_local_again);

static int ntrdma_local_module_event(struct notifier_block *nb,
				     unsigned long event, void *data)
{
	const struct module *module = data;
	struct ntrdma_local_ended *ended;
	unsigned int i;

	if (event != MODULE_STATE_GOING || strcmp(module->name, "rdma_rxe"))
		return NOTIFY_DONE;
	mutex_lock(&ntrdma_group_mutex);
	for (i = 0; i < NTRDMA_MEMBERS; i++) {
		ended = &ntrdma_local_ended[i];
		ended->again = ended->pid == current->pid &&
			       ended->started == current->start_boottime;
	}
	mutex_unlock(&ntrdma_group_mutex);
	queue_delayed_work(ntrdma_wq, &ntrdma_local_again_work,
			   msecs_to_jiffies(NTRDMA_LOCAL_AGAIN_MS));
	return NOTIFY_DONE;
}

static struct notifier_block ntrdma_local_module_notifier = {
	.notifier_call = ntrdma_local_module_event,
};

/**
 * ntrdma_local_init - offer "rdma link add ... type ntr"
 *
 * Return: 0 or an error code.
 */
int ntrdma_local_init(void)
{
	int ret = register_netdevice_notifier(&ntrdma_local_notifier);

	if (ret)
		return ret;
	ret = register_module_notifier(&ntrdma_local_module_notifier);
	if (ret) {
		unregister_netdevice_notifier(&ntrdma_local_notifier);
		return ret;
	}
	rdma_link_register(&ntrdma_local_link_ops);
	return 0;
}

/**
 * ntrdma_local_close - let no more devices be created
 *
 * Context: may sleep, until the creation of a device has ended.
 */
void ntrdma_local_close(void)
{
	rdma_link_unregister(&ntrdma_local_link_ops);
	unregister_module_notifier(&ntrdma_local_module_notifier);
	cancel_delayed_work_sync(&ntrdma_local_again_work);
}

/**
 * ntrdma_local_exit - end the back end when all devices are destroyed
 */
void ntrdma_local_exit(void)
{
	unregister_netdevice_notifier(&ntrdma_local_notifier);
}

MODULE_ALIAS_RDMA_LINK("ntr");
