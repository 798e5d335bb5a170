// SPDX-License-Identifier: GPL-2.0
/*
 * RDMA devices and the PDs on them.
 *
 * A krdma_dev is in use from the add callback to the remove callback of krdma's
 * ib_client. Connections attach to it before they create a QP, and detach after
 * the QP is destroyed. The remove callback ends all connections and waits until
 * the last one is detached, because the device's memory may be freed
 * afterwards.
 *
 * An rkey is valid on every QP of its PD. So each connection has a PD of its
 * own, and its peer cannot use the rkeys of other connections. If the owner
 * names a domain, the connections and the regions of this domain share a PD on
 * each device instead, see domain_region.c.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/export.h>
#include <linux/module.h>
#include <linux/nodemask.h>
#include <linux/slab.h>

#include "auth.h"
#include "device.h"

/*
 * A domain of trust: connections whose peers may use each other's keys. The PDs
 * of a domain refer to it by the address of this object.
 */
struct krdma_domain {
	struct kref ref;
	char name[32];
};

static struct ib_client krdma_ib_client;
static LIST_HEAD(krdma_devs);
static DEFINE_MUTEX(krdma_devs_lock); /* protects krdma_devs */
static LIST_HEAD(krdma_watches);
static DEFINE_SPINLOCK(krdma_watch_lock); /* protects krdma_watches */

/**
 * krdma_domain_create - create a domain of trust
 * @name: name for logs; copied, and truncated to 31 bytes
 *
 * Connections of one domain share a PD on each device, so a key that one of
 * them gives to its peer also works on the others.
 *
 * Return: the domain, for krdma_domain_put(), or ERR_PTR(-ENOMEM).
 */
struct krdma_domain *krdma_domain_create(const char *name)
{
	struct krdma_domain *domain = kzalloc(sizeof(*domain), GFP_KERNEL);

	if (!domain)
		return ERR_PTR(-ENOMEM);
	kref_init(&domain->ref);
	strscpy(domain->name, name, sizeof(domain->name));
	__module_get(THIS_MODULE);
	return domain;
}
EXPORT_SYMBOL_NS_GPL(krdma_domain_create, KRDMA_NS);

static void krdma_domain_free(struct kref *ref)
{
	kfree(container_of(ref, struct krdma_domain, ref));
	module_put(THIS_MODULE);
}

/**
 * krdma_domain_get - take a reference to a domain
 * @domain: domain, or NULL
 *
 * Context: any.
 */
void krdma_domain_get(struct krdma_domain *domain)
{
	if (domain)
		kref_get(&domain->ref);
}

/**
 * krdma_domain_put - drop a reference to a domain
 * @domain: from krdma_domain_create(), or NULL
 *
 * A PD of the domain exists until the last connection with this PD is closed
 * and the last region in it is put.
 *
 * Context: any.
 */
void krdma_domain_put(struct krdma_domain *domain)
{
	if (domain)
		kref_put(&domain->ref, krdma_domain_free);
}
EXPORT_SYMBOL_NS_GPL(krdma_domain_put, KRDMA_NS);

static void krdma_dev_free(struct kref *ref)
{
	struct krdma_dev *dev = container_of(ref, struct krdma_dev, ref);

	WARN_ON_ONCE(!list_empty(&dev->pds) || !list_empty(&dev->cqs));
	mutex_destroy(&dev->lock);
	kfree(dev);
}

/**
 * krdma_dev_get - take a reference to a device
 * @dev: device, or NULL
 *
 * Context: any.
 */
void krdma_dev_get(struct krdma_dev *dev)
{
	if (dev)
		kref_get(&dev->ref);
}

/**
 * krdma_dev_put - drop a reference to a device
 * @dev: device, or NULL
 *
 * Context: process.
 */
void krdma_dev_put(struct krdma_dev *dev)
{
	if (dev)
		kref_put(&dev->ref, krdma_dev_free);
}

/*
 * Return the krdma_dev of @ibdev, or NULL. The caller puts the reference to it
 * with krdma_dev_put().
 */
static struct krdma_dev *krdma_dev_find_get(struct ib_device *ibdev)
{
	struct krdma_dev *dev;

	mutex_lock(&krdma_devs_lock);
	list_for_each_entry(dev, &krdma_devs, link) {
		if (dev->ibdev == ibdev) {
			kref_get(&dev->ref);
			mutex_unlock(&krdma_devs_lock);
			return dev;
		}
	}
	mutex_unlock(&krdma_devs_lock);
	return NULL;
}

/*
 * Return the PD of a domain. If there is none, or @domain is NULL, create a PD.
 * krdma_pd_put_locked() undoes this call.
 */
static struct krdma_pd *krdma_pd_get_locked(struct krdma_dev *dev,
					    struct krdma_domain *domain)
{
	struct krdma_pd *kpd;
	struct ib_pd *pd;

	lockdep_assert_held(&dev->lock);
	list_for_each_entry(kpd, &dev->pds, link) {
		if (domain && kpd->domain == domain) {
			kpd->users++;
			return kpd;
		}
	}
	kpd = kzalloc(sizeof(*kpd), GFP_KERNEL);
	if (!kpd)
		return ERR_PTR(-ENOMEM);
	/* Set no flags: on rxe IB_PD_UNSAFE_GLOBAL_RKEY exposes all RAM. */
	pd = ib_alloc_pd(dev->ibdev, 0);
	if (IS_ERR(pd)) {
		kfree(kpd);
		return ERR_CAST(pd);
	}
	kpd->pd = pd;
	kpd->domain = domain;
	kpd->users = 1;
	INIT_LIST_HEAD(&kpd->regions);
	krdma_domain_get(domain);
	list_add(&kpd->link, &dev->pds);
	return kpd;
}

/**
 * krdma_pd_put_locked - stop using a PD, and free it after its last user
 * @dev: device of the PD
 * @kpd: the PD
 *
 * Context: process, @dev->lock held.
 */
void krdma_pd_put_locked(struct krdma_dev *dev, struct krdma_pd *kpd)
{
	lockdep_assert_held(&dev->lock);
	if (--kpd->users)
		return;
	list_del(&kpd->link);
	krdma_domain_put(kpd->domain);
	ib_dealloc_pd(kpd->pd);
	kfree(kpd);
}

/**
 * krdma_device_join - add a connection to the list of its device
 * @conn: connection whose cm_id is bound to a device
 *
 * When a device is removed, the IB core calls its clients in the reverse order
 * of their registration: krdma before rdma_cm. krdma_device_remove() waits
 * until the cm_ids of all connections that have joined are destroyed. So
 * rdma_cm finds none of these cm_ids.
 *
 * Context: process, with @conn->setup held; or a CM callback, because
 * krdma_conn_teardown() waits for the callback before it uses @conn->hw.dev.
 * Return: 0, -ENODEV if the device is being removed.
 */
int krdma_device_join(struct krdma_conn *conn)
{
	struct krdma_dev *dev = krdma_dev_find_get(conn->cb.cm_id->device);
	unsigned long flags;
	int node;
	bool gone;

	if (!dev)
		return -ENODEV;
	mutex_lock(&dev->lock);
	gone = dev->gone;
	if (!gone)
		list_add_tail(&conn->hw.link, &dev->conns);
	mutex_unlock(&dev->lock);
	if (gone) {
		krdma_dev_put(dev);
		return -ENODEV;
	}
	/* Allocate on the node that the owner chose, or on the adapter's. */
	node = ibdev_to_node(dev->ibdev);
	if (conn->p.numa_node)
		node = (int)conn->p.numa_node - 1;
	if (conn->p.numa_node == KRDMA_NEVER || node < 0 ||
	    node >= MAX_NUMNODES || !node_online(node))
		node = NUMA_NO_NODE;
	conn->hw.node = node;
	conn->hw.dev = dev;
	/*
	 * Copy the name of the device for debugfs, because the connection may
	 * outlive the device.
	 */
	spin_lock_irqsave(&conn->lock, flags);
	strscpy(conn->stats.device, dev_name(&dev->ibdev->dev),
		sizeof(conn->stats.device));
	spin_unlock_irqrestore(&conn->lock, flags);
	return 0;
}

/**
 * krdma_device_attach - assign a PD to a connection
 * @conn: connection whose cm_id is bound to a device; it joins the device if it
 *	has not joined yet
 *
 * Context: process, @conn->setup held.
 * Return: 0, -ENODEV if the device is being removed, -ENOMEM.
 */
int krdma_device_attach(struct krdma_conn *conn)
{
	struct krdma_pd *kpd;
	int ret = conn->hw.dev ? 0 : krdma_device_join(conn);

	lockdep_assert_held(&conn->setup);
	if (ret)
		return ret;
	mutex_lock(&conn->hw.dev->lock);
	if (conn->hw.dev->gone)
		kpd = ERR_PTR(-ENODEV);
	else
		kpd = krdma_pd_get_locked(conn->hw.dev, conn->domain);
	if (!IS_ERR(kpd)) {
		WRITE_ONCE(conn->hw.kpd, kpd);
		conn->cb.pd = kpd->pd;
	}
	mutex_unlock(&conn->hw.dev->lock);
	return PTR_ERR_OR_ZERO(kpd);
}

/**
 * krdma_device_detach - undo krdma_device_join() and krdma_device_attach()
 * @conn: connection without QP and cm_id. It may have neither joined nor
 *	attached
 *
 * Context: process, @conn->setup held.
 */
void krdma_device_detach(struct krdma_conn *conn)
{
	struct krdma_dev *dev = conn->hw.dev;

	lockdep_assert_held(&conn->setup);
	if (!dev)
		return;
	mutex_lock(&dev->lock);
	if (conn->hw.kpd)
		krdma_pd_put_locked(dev, conn->hw.kpd);
	WRITE_ONCE(conn->hw.kpd, NULL);
	list_del_init(&conn->hw.link);
	if (list_empty(&dev->conns))
		wake_up_all(&dev->idle);
	mutex_unlock(&dev->lock);
	conn->cb.pd = NULL;
	conn->hw.dev = NULL;
	krdma_dev_put(dev);
}

/**
 * krdma_device_cq_freed - count a completion queue that has been freed
 * @dev: device of the CQ, with a reference, which this function puts
 *
 * Context: process.
 */
void krdma_device_cq_freed(struct krdma_dev *dev)
{
	mutex_lock(&dev->lock);
	if (!--dev->nfreed)
		wake_up_all(&dev->idle);
	mutex_unlock(&dev->lock);
	krdma_dev_put(dev);
}

/*
 * Check whether connection @other comes from the same client as @conn (same
 * session number, same host), and goes to the same port.
 */
static bool krdma_dev_is_same_client(const struct krdma_conn *other,
				     const struct krdma_conn *conn)
{
	return other->cb.role == KRDMA_ACCEPT_CONN &&
	       !krdma_conn_is_raw(other) && conn->hello.session &&
	       other->hello.session == conn->hello.session &&
	       other->domain == conn->domain &&
	       krdma_addr_same_host(&other->cm.peer, &conn->cm.peer) &&
	       krdma_addr_port(&other->cm.local) ==
		       krdma_addr_port(&conn->cm.local);
}

/*
 * Check whether connection @old is an older one of the same client. A newer
 * connection must not be ended: @conn may be a request that the client gave up
 * before it connected again.
 */
static bool krdma_dev_is_older(const struct krdma_conn *old,
			       const struct krdma_conn *conn)
{
	return (s32)(old->stats.id - conn->stats.id) < 0 &&
	       krdma_dev_is_same_client(old, conn);
}

/*
 * Check whether @conn is an older connection of a client that has proved, on
 * connection @newer, that it has the key.
 */
static bool krdma_dev_is_outdated_by(const struct krdma_conn *newer,
				     const struct krdma_conn *conn)
{
	return krdma_dev_is_older(conn, newer) && newer->auth &&
	       newer->auth->proved;
}

static struct krdma_conn *krdma_dev_find_older(struct krdma_dev *dev,
					       const struct krdma_conn *conn)
{
	struct krdma_conn *old, *found = NULL;

	mutex_lock(&dev->lock);
	list_for_each_entry(old, &dev->conns, hw.link) {
		if (krdma_dev_is_older(old, conn)) {
			/*
			 * A connection on this list is not freed while
			 * dev->lock is held, so take a reference now.
			 */
			krdma_conn_get(old);
			found = old;
			break;
		}
	}
	mutex_unlock(&dev->lock);
	return found;
}

/**
 * krdma_device_end_older - end the older connections that a new one replaces
 * @conn: request that is about to be accepted, not attached yet
 *
 * A peer that connects again may have lost its end of the old connection
 * without notifying this side. Until the old connection is drained here, late
 * READ answers or WRITEs may still arrive on it and overwrite data of the new
 * connection.
 *
 * Context: process, @conn->setup held.
 * Return: 0: there is no older connection any more: each was drained and
 * destroyed; -ENODEV; -EINTR; -ETIMEDOUT.
 */
int krdma_device_end_older(struct krdma_conn *conn)
{
	unsigned long until = krdma_deadline(conn->p.connect_timeout_ms);
	struct krdma_dev *dev = krdma_dev_find_get(conn->cb.cm_id->device);
	struct krdma_conn *old;
	int ret = 0;

	lockdep_assert_held(&conn->setup);
	if (!dev)
		return -ENODEV;
	while (!ret && (old = krdma_dev_find_older(dev, conn))) {
		pr_info_ratelimited("%pISpc: connects again, its old connection ends\n",
				    &conn->cm.peer);
		krdma_conn_abort(old, -ECONNRESET);
		ret = krdma_conn_wait_closed(old, until);
		krdma_conn_put(old);
	}
	krdma_dev_put(dev);
	return ret;
}

/* Set krdma_auth.proved. Return: 0, or -ECONNRESET: there is a newer one. */
static int krdma_dev_prove(struct krdma_dev *dev, struct krdma_conn *conn)
{
	struct krdma_conn *newer;
	int ret = 0;

	mutex_lock(&dev->lock);
	list_for_each_entry(newer, &dev->conns, hw.link)
		if (krdma_dev_is_outdated_by(newer, conn))
			ret = -ECONNRESET;
	conn->auth->proved = !ret;
	mutex_unlock(&dev->lock);
	return ret;
}

/**
 * krdma_device_replace_older - end the older connections of a client that is
 * proved
 * @conn: server with a level whose AUTH was valid
 *
 * Does what krdma_device_end_older() does without a level, but does not wait. @conn
 * must not be used if the client has already proved a newer connection: a host
 * on the path can delay AUTH, and the client has given up @conn.
 *
 * Context: process.
 * Return: 0: no older connection exists any more; -EAGAIN: an older connection
 * is being closed, so call again later; -ECONNRESET: @conn is outdated; or the
 * reason for which @conn has ended.
 */
int krdma_device_replace_older(struct krdma_conn *conn)
{
	struct krdma_conn *old = NULL;
	int ret;

	mutex_lock(&conn->setup);
	if (conn->hw.dev) {
		ret = krdma_dev_prove(conn->hw.dev, conn);
		if (!ret)
			old = krdma_dev_find_older(conn->hw.dev, conn);
	} else {
		ret = krdma_last_error(&conn->cb) ?: -ENOTCONN;
	}
	mutex_unlock(&conn->setup);
	if (!old)
		return ret;
	if (!krdma_conn_is_over(old))
		pr_info_ratelimited("%pISpc: connects again, its old connection ends\n",
				    &conn->cm.peer);
	krdma_conn_abort(old, -ECONNRESET);
	krdma_conn_put(old);
	return -EAGAIN;
}

/**
 * krdma_device_watch - start notifications of new RDMA devices
 * @watch: object in memory of the caller; not in use yet
 * @added: see &struct krdma_watch
 *
 * Context: process.
 */
void krdma_device_watch(struct krdma_watch *watch,
			void (*added)(struct krdma_watch *watch))
{
	watch->added = added;
	spin_lock(&krdma_watch_lock);
	list_add_tail(&watch->link, &krdma_watches);
	spin_unlock(&krdma_watch_lock);
}

/**
 * krdma_device_unwatch - stop notifications of new RDMA devices
 * @watch: object whose link is initialized; may be unused
 *
 * When this returns, the callback does not run, and will not be called again.
 *
 * Context: process.
 */
void krdma_device_unwatch(struct krdma_watch *watch)
{
	spin_lock(&krdma_watch_lock);
	list_del_init(&watch->link);
	spin_unlock(&krdma_watch_lock);
}

static int krdma_device_add(struct ib_device *ibdev)
{
	struct krdma_dev *dev = kzalloc(sizeof(*dev), GFP_KERNEL);
	struct krdma_watch *watch;

	if (!dev)
		return -ENOMEM;
	kref_init(&dev->ref);
	mutex_init(&dev->lock);
	INIT_LIST_HEAD(&dev->conns);
	INIT_LIST_HEAD(&dev->pds);
	INIT_LIST_HEAD(&dev->cqs);
	init_waitqueue_head(&dev->idle);
	dev->ibdev = ibdev;

	mutex_lock(&krdma_devs_lock);
	list_add_tail(&dev->link, &krdma_devs);
	mutex_unlock(&krdma_devs_lock);
	ib_set_client_data(ibdev, &krdma_ib_client, dev);
	/*
	 * Notify all watches. The CM already knows the device, because the CM
	 * registered as ib_client before krdma.
	 */
	spin_lock(&krdma_watch_lock);
	list_for_each_entry(watch, &krdma_watches, link)
		watch->added(watch);
	spin_unlock(&krdma_watch_lock);
	return 0;
}

static void krdma_device_remove(struct ib_device *ibdev, void *client_data)
{
	struct krdma_dev *dev = client_data;
	struct krdma_pd *kpd, *next;
	struct krdma_conn *conn;

	if (!dev)
		return;
	krdma_count_module(KRDMA_COUNT_DEVICE_REMOVALS);
	mutex_lock(&krdma_devs_lock);
	list_del(&dev->link);
	mutex_unlock(&krdma_devs_lock);

	mutex_lock(&dev->lock);
	dev->gone = true;
	/* Connections on this list are not freed while dev->lock is held. */
	list_for_each_entry(conn, &dev->conns, hw.link)
		krdma_conn_abort(conn, -ENODEV);
	mutex_unlock(&dev->lock);
	/*
	 * close_work tears a connection down, except a raw connection that its
	 * owner has received: that owner gets the closing callback, and must
	 * release the connection. Wait for all connections, because otherwise
	 * MRs of an owner would outlive the device. Also wait until all CQs are
	 * freed. A CQ is counted in nfreed before its last connection is
	 * detached, so no CQ is missed between the two checks.
	 */
	while (!wait_event_timeout(dev->idle,
				   list_empty_careful(&dev->conns) &&
				   !READ_ONCE(dev->nfreed), 10 * HZ))
		pr_warn("%s: removal waits for connections whose owners have not released them\n",
			dev_name(&ibdev->dev));
	/*
	 * krdma_device_detach() or krdma_device_cq_freed(), which has woken
	 * this task, may still hold dev->lock. Taking dev->lock waits for that
	 * function. Then unregister the regions of domains. The last of these
	 * regions may be the last user of its PD, and the head of the list of
	 * regions is in the PD, so hold the PD.
	 */
	mutex_lock(&dev->lock);
	list_for_each_entry_safe(kpd, next, &dev->pds, link) {
		if (!kpd->end_regions_locked)
			continue;
		kpd->users++;
		kpd->end_regions_locked(kpd);
		krdma_pd_put_locked(dev, kpd);
	}
	mutex_unlock(&dev->lock);
	krdma_dev_put(dev);
}

static struct ib_client krdma_ib_client = {
	.name = KBUILD_MODNAME,
	.add = krdma_device_add,
	.remove = krdma_device_remove,
};

/**
 * krdma_device_init - start to track RDMA devices
 *
 * Return: 0 or -errno of ib_register_client().
 */
int krdma_device_init(void)
{
	return ib_register_client(&krdma_ib_client);
}

/**
 * krdma_device_exit - stop to track RDMA devices
 *
 * The module's reference count ensures that there are no connections.
 */
void krdma_device_exit(void)
{
	ib_unregister_client(&krdma_ib_client);
}
