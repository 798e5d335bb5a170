// SPDX-License-Identifier: GPL-2.0
/*
 * Find a source address on the device that dev= names, so that a host with
 * several devices uses this one. The GIDs of a RoCE device contain its
 * addresses. For iWARP devices, routing chooses the device, and the session
 * only checks whether it is the named one.
 */
#include <linux/in6.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <net/ipv6.h>
#include <rdma/ib_cache.h>

#include "priv.h"

/**
 * struct krping_device - an RDMA device
 * @link: in krping_devices
 * @ibdev: the device
 */
struct krping_device {
	struct list_head link;
	struct ib_device *ibdev;
};

static LIST_HEAD(krping_devices);
/* Protects krping_devices. No device is removed while this lock is held. */
static DEFINE_MUTEX(krping_devices_lock);

static struct ib_client krping_ib_client;

/*
 * Check whether a GID is an address of the same kind as @dst: IPv4, link-local,
 * or other IPv6.
 */
static bool krping_gid_fits(const union ib_gid *gid,
			    const struct sockaddr_storage *dst)
{
	const struct in6_addr *addr = (const struct in6_addr *)gid->raw;
	const struct sockaddr_in6 *dst6 = (const struct sockaddr_in6 *)dst;
	bool local = ipv6_addr_type(addr) & IPV6_ADDR_LINKLOCAL;
	bool is_v4 = dst->ss_family == AF_INET;

	if (ipv6_addr_any(addr) || ipv6_addr_v4mapped(addr) != is_v4)
		return false;
	if (is_v4)
		return true;
	return local == !!(ipv6_addr_type(&dst6->sin6_addr) &
			   IPV6_ADDR_LINKLOCAL);
}

/* Check whether the GID belongs to an interface of this network namespace. */
static bool krping_gid_is_of_net(struct ib_device *ibdev, u32 port, int index,
				 const struct net *net)
{
	const struct ib_gid_attr *attr = rdma_get_gid_attr(ibdev, port, index);
	struct net_device *ndev;
	bool is;

	if (IS_ERR(attr))
		return false;
	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(attr);
	is = !IS_ERR(ndev) && net_eq(dev_net(ndev), net);
	rcu_read_unlock();
	rdma_put_gid_attr(attr);
	return is;
}

/**
 * struct krping_choice - best address so far
 * @net: network namespace that the address must belong to
 * @dst: destination
 * @in6: destination, with IPv4 mapped to IPv6
 * @bits: number of leading bits common to @gid and @in6; -1 before the first
 *	@gid
 * @gid: best address so far
 */
struct krping_choice {
	const struct net *net;
	const struct sockaddr_storage *dst;
	struct in6_addr in6;
	int bits;
	union ib_gid gid;
};

/*
 * Keep the address that has the most leading bits in common with the
 * destination. An address in the same subnet has the most.
 */
static void krping_choose(struct krping_choice *choice, struct ib_device *ibdev,
			  u32 port, int index)
{
	union ib_gid gid;
	int bits;

	if (rdma_query_gid(ibdev, port, index, &gid) ||
	    !krping_gid_fits(&gid, choice->dst) ||
	    !krping_gid_is_of_net(ibdev, port, index, choice->net))
		return;
	bits = ipv6_addr_diff((const struct in6_addr *)gid.raw, &choice->in6);
	if (bits <= choice->bits)
		return;
	choice->bits = bits;
	choice->gid = gid;
}

static int krping_device_addr_of(struct ib_device *ibdev, const struct net *net,
				 const struct sockaddr_storage *dst,
				 struct sockaddr_storage *src)
{
	struct krping_choice choice = { .net = net, .dst = dst, .bits = -1 };
	const struct sockaddr_in *dst4 = (const struct sockaddr_in *)dst;
	const struct sockaddr_in6 *dst6 = (const struct sockaddr_in6 *)dst;
	struct sockaddr_in *in = (struct sockaddr_in *)src;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)src;
	u32 port;
	int i;

	if (dst->ss_family == AF_INET)
		ipv6_addr_set_v4mapped(dst4->sin_addr.s_addr, &choice.in6);
	else
		choice.in6 = dst6->sin6_addr;
	rdma_for_each_port(ibdev, port) {
		if (!rdma_protocol_roce(ibdev, port))
			continue;
		for (i = 0; i < ibdev->port_data[port].immutable.gid_tbl_len; i++)
			krping_choose(&choice, ibdev, port, i);
	}
	if (choice.bits < 0)
		return -ENOENT;
	*src = (struct sockaddr_storage){ .ss_family = dst->ss_family };
	if (dst->ss_family == AF_INET) {
		memcpy(&in->sin_addr, choice.gid.raw + 12,
		       sizeof(in->sin_addr));
		return 0;
	}
	memcpy(&in6->sin6_addr, choice.gid.raw, sizeof(in6->sin6_addr));
	in6->sin6_scope_id = dst6->sin6_scope_id;
	return 0;
}

/**
 * krping_device_addr - find a source address for dev=
 * @name: name of the device
 * @net: network namespace of the address
 * @dst: destination
 * @src: result
 *
 * Return: 0, or -ENOENT if no address is known. The caller then lets routing
 * choose the device.
 */
int krping_device_addr(const char *name, const struct net *net,
		       const struct sockaddr_storage *dst,
		       struct sockaddr_storage *src)
{
	struct krping_device *dev;
	int ret = -ENOENT;

	mutex_lock(&krping_devices_lock);
	list_for_each_entry(dev, &krping_devices, link) {
		if (strcmp(dev_name(&dev->ibdev->dev), name))
			continue;
		ret = krping_device_addr_of(dev->ibdev, net, dst, src);
		break;
	}
	mutex_unlock(&krping_devices_lock);
	return ret;
}

static int krping_device_add(struct ib_device *ibdev)
{
	struct krping_device *dev = kmalloc(sizeof(*dev), GFP_KERNEL);

	if (!dev)
		return -ENOMEM;
	dev->ibdev = ibdev;
	mutex_lock(&krping_devices_lock);
	list_add_tail(&dev->link, &krping_devices);
	mutex_unlock(&krping_devices_lock);
	ib_set_client_data(ibdev, &krping_ib_client, dev);
	return 0;
}

static void krping_device_remove(struct ib_device *ibdev, void *data)
{
	struct krping_device *dev = data;

	mutex_lock(&krping_devices_lock);
	list_del(&dev->link);
	mutex_unlock(&krping_devices_lock);
	kfree(dev);
}

static struct ib_client krping_ib_client = {
	.name = KBUILD_MODNAME,
	.add = krping_device_add,
	.remove = krping_device_remove,
};

/**
 * krping_device_init - start to keep a list of the RDMA devices
 *
 * Return: 0 or -errno.
 */
int krping_device_init(void)
{
	return ib_register_client(&krping_ib_client);
}

/**
 * krping_device_exit - undo krping_device_init()
 */
void krping_device_exit(void)
{
	ib_unregister_client(&krping_ib_client);
}
