// SPDX-License-Identifier: GPL-2.0
/*
 * Attributes of a device in sysfs. A file has one value, or a line for each
 * peer. Peers are added and removed at any time, so they have no files of their
 * own. A file has at most one page, and there may be 255 peers. So a line must
 * not be longer than 16 bytes.
 */
#include <linux/device.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/rculist.h>
#include <linux/sysfs.h>

#include "device.h"
#include "link.h"

static struct vrfm_dev *vrfm_dev_of(struct device *dev)
{
	return container_of(dev, struct vrfm_dev, dev);
}

static ssize_t node_id_show(struct device *dev, struct device_attribute *attr,
			    char *buf)
{
	return sysfs_emit(buf, "%u\n", vrfm_dev_of(dev)->params.node);
}
static DEVICE_ATTR_RO(node_id);

static ssize_t network_show(struct device *dev, struct device_attribute *attr,
			    char *buf)
{
	return sysfs_emit(buf, "%u\n", vrfm_dev_of(dev)->params.network);
}
static DEVICE_ATTR_RO(network);

static ssize_t size_show(struct device *dev, struct device_attribute *attr,
			 char *buf)
{
	return sysfs_emit(buf, "%llu\n", vrfm_dev_of(dev)->params.size);
}
static DEVICE_ATTR_RO(size);

static ssize_t security_show(struct device *dev, struct device_attribute *attr,
			     char *buf)
{
	u32 level = vrfm_dev_of(dev)->params.security;

	return sysfs_emit(buf, "%s\n", vrfm_security_name(level));
}
static DEVICE_ATTR_RO(security);

static ssize_t state_show(struct device *dev, struct device_attribute *attr,
			  char *buf)
{
	struct vrfm_dev *vdev = vrfm_dev_of(dev);
	const struct vrfm_link *link;
	const char *state = "ready";

	/*
	 * RCU protects the list of links. vrfm_dev.write_lock is not taken,
	 * because writers wait for it.
	 */
	rcu_read_lock();
	list_for_each_entry_rcu(link, &vdev->links, entry)
		if (READ_ONCE(link->state) != VRFM_READY || !link->rx.synced)
			state = "waiting";
	if (list_empty(&vdev->links))
		state = "alone";
	else if (vrfm_is_incomplete(vdev))
		state = "loading";
	rcu_read_unlock();
	return sysfs_emit(buf, "%s\n", state);
}
static DEVICE_ATTR_RO(state);

static ssize_t peers_show(struct device *dev, struct device_attribute *attr,
			  char *buf)
{
	struct vrfm_dev *vdev = vrfm_dev_of(dev);
	struct vrfm_link *link;
	int len = 0;

	rcu_read_lock();
	list_for_each_entry_rcu(link, &vdev->links, entry)
		len += sysfs_emit_at(buf, len, "%u %s\n", link->peer.node,
				     vrfm_link_state_name(READ_ONCE(link->state)));
	rcu_read_unlock();
	return len;
}
static DEVICE_ATTR_RO(peers);

/* Print a line for each peer, with the number that TAKE returns. */
static ssize_t vrfm_peers_emit(struct device *dev, char *buf,
			       u64 (*take)(const struct vrfm_link *link))
{
	struct vrfm_dev *vdev = vrfm_dev_of(dev);
	struct vrfm_link *link;
	int len = 0;
	u32 value;

	rcu_read_lock();
	list_for_each_entry_rcu(link, &vdev->links, entry) {
		spin_lock_bh(&link->lock);
		value = min_t(u64, take(link), U32_MAX);
		spin_unlock_bh(&link->lock);
		len += sysfs_emit_at(buf, len, "%u %u\n", link->peer.node,
				     value);
	}
	rcu_read_unlock();
	return len;
}

static u64 vrfm_peer_lag(const struct vrfm_link *link)
{
	return link->window.opened - link->window.acked;
}

static ssize_t peers_lag_show(struct device *dev, struct device_attribute *attr,
			      char *buf)
{
	return vrfm_peers_emit(dev, buf, vrfm_peer_lag);
}
static DEVICE_ATTR_RO(peers_lag);

static u64 vrfm_peer_missed(const struct vrfm_link *link)
{
	return link->missed.map.set;
}

static ssize_t peers_missed_show(struct device *dev,
				 struct device_attribute *attr, char *buf)
{
	return vrfm_peers_emit(dev, buf, vrfm_peer_missed);
}
static DEVICE_ATTR_RO(peers_missed);

static u64 vrfm_peer_sending(const struct vrfm_link *link)
{
	return vrfm_rate_read(&link->meter.tx, jiffies) / SZ_1K;
}

static ssize_t peers_sent_kib_s_show(struct device *dev,
				     struct device_attribute *attr, char *buf)
{
	return vrfm_peers_emit(dev, buf, vrfm_peer_sending);
}
static DEVICE_ATTR_RO(peers_sent_kib_s);

static u64 vrfm_peer_receiving(const struct vrfm_link *link)
{
	return vrfm_rate_read(&link->meter.rx, jiffies) / SZ_1K;
}

static ssize_t peers_received_kib_s_show(struct device *dev,
					 struct device_attribute *attr,
					 char *buf)
{
	return vrfm_peers_emit(dev, buf, vrfm_peer_receiving);
}
static DEVICE_ATTR_RO(peers_received_kib_s);

static struct attribute *vrfm_dev_attrs[] = {
	&dev_attr_node_id.attr,
	&dev_attr_network.attr,
	&dev_attr_size.attr,
	&dev_attr_security.attr,
	&dev_attr_state.attr,
	&dev_attr_peers.attr,
	&dev_attr_peers_lag.attr,
	&dev_attr_peers_missed.attr,
	&dev_attr_peers_sent_kib_s.attr,
	&dev_attr_peers_received_kib_s.attr,
	NULL,
};

static const struct attribute_group vrfm_dev_group = {
	.attrs = vrfm_dev_attrs,
};

/* Attributes of every device of the class. */
const struct attribute_group *vrfm_dev_groups[] = {
	&vrfm_dev_group,
	NULL,
};
