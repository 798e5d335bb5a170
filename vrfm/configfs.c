// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/kernel/config/vrfm: an admin creates a directory rfm2gN, writes the
 * parameters of the device, and then writes 1 to enable. While the device is
 * enabled, only the parameters that tune it can change (vrfm_item_tune()).
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/configfs.h>
#include <linux/kstrtox.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "device.h"
#include "link.h"

/*
 * Size of a buffer for the text of an address, in bytes. This suffices for an
 * IPv6 address with the name of an interface.
 */
#define VRFM_ADDR_TEXT 80

/* Value of a node id that the admin has not written yet. */
#define VRFM_NODE_UNSET U32_MAX

/**
 * struct vrfm_item - a device as the admin has configured it
 * @group: directory of the device
 * @peers_group: directory of its peers
 * @lock: protects the members below, and the items of peers
 * @unit: number N of rfm2gN
 * @params: parameters of the device
 * @listen: address of this node, as the admin wrote it; "": none
 * @vdev: the device; NULL: the device is not enabled
 * @peers: list of the items of peers
 */
struct vrfm_item {
	struct config_group group;
	struct config_group peers_group;
	struct mutex lock; /* protects params, listen, vdev, peers */
	unsigned int unit;
	struct vrfm_params params;
	char listen[VRFM_ADDR_TEXT];
	struct vrfm_dev *vdev;
	struct list_head peers;
};

/**
 * struct vrfm_peer_item - a peer as the admin has configured it
 * @item: directory of the peer
 * @vi: item of the device, with the lock that protects the members below; the
 *	peer's item holds a reference to it
 * @entry: place in @vi->peers
 * @node: node id
 * @addr: address, as the admin wrote it; "": none yet
 * @port: port of the peer; 0: use the port of the device
 * @overload_us: see &vrfm_peer.overload_us
 * @keys: see &vrfm_peer.keys
 * @link: the link; NULL: the device is not enabled, or there is no address
 */
struct vrfm_peer_item {
	struct config_item item;
	struct vrfm_item *vi;
	struct list_head entry;
	u32 node;
	char addr[VRFM_ADDR_TEXT];
	u16 port;
	u32 overload_us;
	struct krdma_keys *keys;
	struct vrfm_link *link;
};

/*
 * Admins may create items. This flag is set only when loading the module can no
 * longer fail, because items hold the module.
 */
static bool vrfm_configfs_allowed;

static struct vrfm_item *to_vrfm_item(struct config_item *item)
{
	return container_of(to_config_group(item), struct vrfm_item, group);
}

/*
 * Lock an item if its device is not enabled. Return: 0 with the lock held;
 * -EBUSY if the device is enabled.
 */
static int vrfm_item_lock_disabled(struct vrfm_item *vi)
{
	mutex_lock(&vi->lock);
	if (!vi->vdev)
		return 0;
	mutex_unlock(&vi->lock);
	return -EBUSY;
}

/*
 * Log why the value in PAGE for NAME is invalid, if ERROR is not 0. Return
 * ERROR.
 */
static int vrfm_item_bad(const struct vrfm_item *vi, const char *name,
			 const char *page, int error)
{
	if (error)
		pr_warn_ratelimited("%s%u: %s %.*s: %s\n", VRFM_NAME, vi->unit,
				    name, (int)min_t(size_t, strcspn(page, "\n"), 32),
				    page, error == -ERANGE ? "out of range" :
							     "not understood");
	return error;
}

static int vrfm_item_parse(const char *page, u32 min, u32 max, u32 *value)
{
	int ret = vrfm_is_octal(page) ? -EINVAL : kstrtou32(page, 0, value);

	if (ret)
		return ret;
	return *value < min || *value > max ? -ERANGE : 0;
}

/*
 * Store a number from MIN to MAX, unless the device is enabled. Return: LEN or
 * an error.
 */
static ssize_t vrfm_item_set(struct config_item *item, const char *name,
			     const char *page, u32 *to, u32 min, u32 max,
			     size_t len)
{
	struct vrfm_item *vi = to_vrfm_item(item);
	u32 value;
	int ret = vrfm_item_parse(page, min, max, &value);

	ret = vrfm_item_bad(vi, name, page, ret) ?:
	      vrfm_item_lock_disabled(vi);
	if (ret)
		return ret;
	*to = value;
	mutex_unlock(&vi->lock);
	return len;
}

/*
 * Set the parameter at OFFSET in struct vrfm_params. The device may be enabled.
 */
static ssize_t vrfm_item_tune(struct config_item *item, const char *name,
			      const char *page, size_t offset, u32 min, u32 max,
			      u32 unit, size_t len)
{
	struct vrfm_item *vi = to_vrfm_item(item);
	u32 value;
	int ret = vrfm_item_parse(page, min, max, &value);

	ret = vrfm_item_bad(vi, name, page, ret);
	if (ret)
		return ret;
	value *= unit;
	mutex_lock(&vi->lock);
	*(u32 *)((void *)&vi->params + offset) = value;
	/* Pairs with READ_ONCE() of readers, which take no lock. */
	if (vi->vdev)
		WRITE_ONCE(*(u32 *)((void *)&vi->vdev->params + offset), value);
	mutex_unlock(&vi->lock);
	return len;
}

/* Show a parameter as a number. */
#define VRFM_ITEM_SHOW(name) \
static ssize_t vrfm_item_##name##_show(struct config_item *item, char *page) \
{ \
	return sysfs_emit(page, "%u\n", \
			  READ_ONCE(to_vrfm_item(item)->params.name)); \
}

/* Define a parameter from MIN to MAX that is fixed while the device exists. */
#define VRFM_ITEM_NUMBER(name, min, max) \
VRFM_ITEM_SHOW(name) \
static ssize_t vrfm_item_##name##_store(struct config_item *item, \
					const char *page, size_t len) \
{ \
	return vrfm_item_set(item, #name, page, \
			     &to_vrfm_item(item)->params.name, min, max, \
			     len); \
} \
CONFIGFS_ATTR(vrfm_item_, name)

/* Define a parameter from MIN to MAX that tunes an existing device as well. */
#define VRFM_ITEM_TUNABLE(name, min, max) \
VRFM_ITEM_SHOW(name) \
static ssize_t vrfm_item_##name##_store(struct config_item *item, \
					const char *page, size_t len) \
{ \
	return vrfm_item_tune(item, #name, page, \
			      offsetof(struct vrfm_params, name), min, max, 1, \
			      len); \
} \
CONFIGFS_ATTR(vrfm_item_, name)

VRFM_ITEM_NUMBER(network, 0, U32_MAX);
VRFM_ITEM_NUMBER(keepalive_ms, 1, VRFM_KEEPALIVE_MS_MAX);
VRFM_ITEM_TUNABLE(overload_us, 0, VRFM_OVERLOAD_US_MAX);
VRFM_ITEM_TUNABLE(flush_us, 0, VRFM_FLUSH_US_MAX);
VRFM_ITEM_TUNABLE(stage_ms, 1, VRFM_STAGE_MS_MAX);
VRFM_ITEM_TUNABLE(unstage_ms, 1, VRFM_STAGE_MS_MAX);
VRFM_ITEM_TUNABLE(quiet_us, 0, VRFM_QUIET_US_MAX);
VRFM_ITEM_TUNABLE(direct_min, 1, VRFM_DIRECT_MIN_MAX);

static ssize_t vrfm_item_node_id_show(struct config_item *item, char *page)
{
	u32 node = READ_ONCE(to_vrfm_item(item)->params.node);

	return node == VRFM_NODE_UNSET ? sysfs_emit(page, "\n") :
		sysfs_emit(page, "%u\n", node);
}

static ssize_t vrfm_item_node_id_store(struct config_item *item,
				       const char *page, size_t len)
{
	return vrfm_item_set(item, "node_id", page,
			     &to_vrfm_item(item)->params.node, 0,
			     RFM2G_NODE_MAX, len);
}
CONFIGFS_ATTR(vrfm_item_, node_id);

static ssize_t vrfm_item_size_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%llu\n", to_vrfm_item(item)->params.size);
}

static ssize_t vrfm_item_size_store(struct config_item *item, const char *page,
				    size_t len)
{
	struct vrfm_item *vi = to_vrfm_item(item);
	u64 size;
	int ret = vrfm_parse_size(page, &size);

	ret = vrfm_item_bad(vi, "size", page, ret) ?:
	      vrfm_item_lock_disabled(vi);
	if (ret)
		return ret;
	vi->params.size = size;
	mutex_unlock(&vi->lock);
	return len;
}
CONFIGFS_ATTR(vrfm_item_, size);

/* Show overload_us in milliseconds, rounded up. */
static ssize_t vrfm_item_overload_ms_show(struct config_item *item, char *page)
{
	u32 us = READ_ONCE(to_vrfm_item(item)->params.overload_us);

	return sysfs_emit(page, "%u\n", DIV_ROUND_UP(us, (u32)USEC_PER_MSEC));
}

static ssize_t vrfm_item_overload_ms_store(struct config_item *item,
					   const char *page, size_t len)
{
	return vrfm_item_tune(item, "overload_ms", page,
			      offsetof(struct vrfm_params, overload_us), 1,
			      VRFM_OVERLOAD_US_MAX / USEC_PER_MSEC,
			      USEC_PER_MSEC, len);
}
CONFIGFS_ATTR(vrfm_item_, overload_ms);

/*
 * Store a value that has a name. It can be changed only while the device is
 * disabled.
 */
static ssize_t vrfm_item_choose(struct config_item *item, const char *name,
				const char *page, size_t offset, size_t len,
				int (*parse)(const char *text, u32 *value))
{
	struct vrfm_item *vi = to_vrfm_item(item);
	u32 value;
	int ret = parse(page, &value);

	ret = vrfm_item_bad(vi, name, page, ret) ?:
	      vrfm_item_lock_disabled(vi);
	if (ret)
		return ret;
	WRITE_ONCE(*(u32 *)((void *)&vi->params + offset), value);
	mutex_unlock(&vi->lock);
	return len;
}

static ssize_t vrfm_item_direct_show(struct config_item *item, char *page)
{
	u32 mode = READ_ONCE(to_vrfm_item(item)->params.direct);

	return sysfs_emit(page, "%s\n", vrfm_direct_mode_name(mode));
}

static ssize_t vrfm_item_direct_store(struct config_item *item,
				      const char *page, size_t len)
{
	return vrfm_item_choose(item, "direct", page,
				offsetof(struct vrfm_params, direct), len,
				vrfm_parse_direct);
}
CONFIGFS_ATTR(vrfm_item_, direct);

static ssize_t vrfm_item_security_show(struct config_item *item, char *page)
{
	u32 level = READ_ONCE(to_vrfm_item(item)->params.security);

	return sysfs_emit(page, "%s\n", vrfm_security_name(level));
}

static ssize_t vrfm_item_security_store(struct config_item *item,
					const char *page, size_t len)
{
	return vrfm_item_choose(item, "security", page,
				offsetof(struct vrfm_params, security), len,
				vrfm_parse_security);
}
CONFIGFS_ATTR(vrfm_item_, security);

/* Print the ids of keys, or "none". */
static ssize_t vrfm_keys_emit(struct vrfm_item *vi,
			      struct krdma_keys *const *place, char *page)
{
	u32 ids[KRDMA_KEYS_MAX];
	unsigned int i, n = 0;
	ssize_t len = 0;

	mutex_lock(&vi->lock);
	if (*place)
		n = krdma_keys_ids(*place, ids);
	mutex_unlock(&vi->lock);
	for (i = 0; i < n; i++)
		len += sysfs_emit_at(page, len, "%08x%c", ids[i],
				     i + 1 < n ? ' ' : '\n');
	return len ?: sysfs_emit(page, "none\n");
}

/*
 * Find the keys of a description in the keyrings of this task. "none" sets
 * *KEYS to NULL.
 */
static int vrfm_keys_take(const struct vrfm_item *vi, const char *page,
			  struct krdma_keys **keys)
{
	char *copy, *description;
	int ret = 0;

	*keys = NULL;
	copy = kstrdup(page, GFP_KERNEL);
	if (!copy)
		return -ENOMEM;
	description = strim(copy);
	if (!*description) {
		ret = -EINVAL;
	} else if (strcmp(description, "none")) {
		*keys = krdma_keys_find(description);
		ret = PTR_ERR_OR_ZERO(*keys);
		if (ret)
			pr_warn_ratelimited("%s%u: key %.*s: error %d\n",
					    VRFM_NAME, vi->unit, 64, description,
					    ret);
	}
	kfree(copy);
	return ret;
}

static ssize_t vrfm_item_key_show(struct config_item *item, char *page)
{
	struct vrfm_item *vi = to_vrfm_item(item);

	return vrfm_keys_emit(vi, &vi->params.keys, page);
}

static ssize_t vrfm_item_key_store(struct config_item *item, const char *page,
				   size_t len)
{
	struct vrfm_item *vi = to_vrfm_item(item);
	struct krdma_keys *keys;
	int ret = vrfm_keys_take(vi, page, &keys);

	if (ret)
		return ret;
	mutex_lock(&vi->lock);
	if (vi->vdev)
		ret = vrfm_dev_set_keys(vi->vdev, keys);
	if (!ret)
		swap(vi->params.keys, keys);
	mutex_unlock(&vi->lock);
	krdma_keys_put(keys);
	return ret ?: len;
}

/* The mode is 0600 instead of 0644, because the value belongs to the admin. */
static struct configfs_attribute vrfm_item_attr_key = {
	.ca_name = "key",
	.ca_mode = 0600,
	.ca_owner = THIS_MODULE,
	.show = vrfm_item_key_show,
	.store = vrfm_item_key_store,
};

static int vrfm_parse_port(const char *page, u16 *port)
{
	int ret = vrfm_is_octal(page) ? -EINVAL : kstrtou16(page, 0, port);

	if (ret)
		return ret;
	return *port ? 0 : -ERANGE;
}

VRFM_ITEM_SHOW(port)

static ssize_t vrfm_item_port_store(struct config_item *item, const char *page,
				    size_t len)
{
	struct vrfm_item *vi = to_vrfm_item(item);
	u16 port;
	int ret = vrfm_parse_port(page, &port);

	ret = vrfm_item_bad(vi, "port", page, ret) ?:
	      vrfm_item_lock_disabled(vi);
	if (ret)
		return ret;
	vi->params.port = port;
	mutex_unlock(&vi->lock);
	return len;
}
CONFIGFS_ATTR(vrfm_item_, port);

/*
 * Copy the text without blanks around it. Return: 0; -EINVAL: it is empty or
 * too long.
 */
static int vrfm_addr_text(const char *page, char *text)
{
	char copy[VRFM_ADDR_TEXT];
	char *word;

	if (strscpy(copy, page, sizeof(copy)) < 0)
		return -EINVAL;
	word = strim(copy);
	strscpy(text, word, VRFM_ADDR_TEXT);
	return *word ? 0 : -EINVAL;
}

static ssize_t vrfm_item_listen_show(struct config_item *item, char *page)
{
	struct vrfm_item *vi = to_vrfm_item(item);
	ssize_t ret;

	mutex_lock(&vi->lock);
	ret = sysfs_emit(page, "%s\n", vi->listen);
	mutex_unlock(&vi->lock);
	return ret;
}

static ssize_t vrfm_item_listen_store(struct config_item *item,
				      const char *page, size_t len)
{
	struct vrfm_item *vi = to_vrfm_item(item);
	struct sockaddr_storage addr;
	char text[VRFM_ADDR_TEXT];
	int ret;

	if (vrfm_addr_text(page, text))
		return -EINVAL;
	if (krdma_parse_addr(NULL, text, NULL, &addr)) {
		pr_warn("%s%u: listen %s: not an address\n", VRFM_NAME,
			vi->unit, text);
		return -EINVAL;
	}
	ret = vrfm_item_lock_disabled(vi);
	if (ret)
		return ret;
	vi->params.listen = addr;
	strscpy(vi->listen, text, sizeof(vi->listen));
	mutex_unlock(&vi->lock);
	return len;
}

/* The mode is 0600 instead of 0644, to hide addresses from other users. */
static struct configfs_attribute vrfm_item_attr_listen = {
	.ca_name = "listen",
	.ca_mode = 0600,
	.ca_owner = THIS_MODULE,
	.show = vrfm_item_listen_show,
	.store = vrfm_item_listen_store,
};

/*
 * Create the link of a peer, if the device is enabled and the peer has an
 * address. Return: 0, also if there is nothing to do; or an error.
 */
static int vrfm_peer_item_start_locked(struct vrfm_peer_item *pi)
{
	struct vrfm_peer peer = {
		.node = pi->node,
		.any = !strcmp(pi->addr, "any"),
		.overload_us = pi->overload_us,
		.keys = pi->keys,
	};
	struct vrfm_link *link;
	char port[8];
	int ret;

	lockdep_assert_held(&pi->vi->lock);
	if (!pi->vi->vdev || !*pi->addr || pi->link)
		return 0;
	if (!peer.any) {
		snprintf(port, sizeof(port), "%u",
			 pi->port ?: pi->vi->params.port);
		ret = krdma_parse_addr(NULL, pi->addr, port, &peer.addr);
		if (ret)
			return ret;
	}
	link = vrfm_peer_add(pi->vi->vdev, &peer);
	if (IS_ERR(link))
		return PTR_ERR(link);
	pi->link = link;
	return 0;
}

/* Forget the device and its links, which vrfm_dev_destroy() has released. */
static void vrfm_item_forget_locked(struct vrfm_item *vi)
{
	struct vrfm_peer_item *pi;

	lockdep_assert_held(&vi->lock);
	list_for_each_entry(pi, &vi->peers, entry)
		pi->link = NULL;
	vi->vdev = NULL;
}

static int vrfm_item_enable_locked(struct vrfm_item *vi)
{
	struct vrfm_peer_item *pi;
	struct vrfm_dev *vdev;
	int ret = 0;

	lockdep_assert_held(&vi->lock);
	if (vi->vdev)
		return 0;
	if (vi->params.node == VRFM_NODE_UNSET) {
		pr_warn("%s%u: it has no node_id\n", VRFM_NAME, vi->unit);
		return -EINVAL;
	}
	vdev = vrfm_dev_create(vi->unit, &vi->params);
	if (IS_ERR(vdev))
		return PTR_ERR(vdev);
	vi->vdev = vdev;
	list_for_each_entry(pi, &vi->peers, entry)
		ret = ret ?: vrfm_peer_item_start_locked(pi);
	if (!ret)
		ret = vrfm_dev_publish(vdev);
	if (ret) {
		vrfm_dev_destroy(vdev, true);
		vrfm_item_forget_locked(vi);
	}
	return ret;
}

static int vrfm_item_disable_locked(struct vrfm_item *vi, bool even_if_open)
{
	int ret = 0;

	lockdep_assert_held(&vi->lock);
	if (vi->vdev)
		ret = vrfm_dev_destroy(vi->vdev, even_if_open);
	if (!ret)
		vrfm_item_forget_locked(vi);
	return ret;
}

static ssize_t vrfm_item_enable_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%d\n", !!READ_ONCE(to_vrfm_item(item)->vdev));
}

static ssize_t vrfm_item_enable_store(struct config_item *item,
				      const char *page, size_t len)
{
	struct vrfm_item *vi = to_vrfm_item(item);
	bool enable;
	int ret = kstrtobool(page, &enable);

	if (ret)
		return ret;
	mutex_lock(&vi->lock);
	if (enable)
		ret = vrfm_item_enable_locked(vi);
	else
		ret = vrfm_item_disable_locked(vi, false);
	mutex_unlock(&vi->lock);
	return ret ?: len;
}
CONFIGFS_ATTR(vrfm_item_, enable);

static struct configfs_attribute *vrfm_item_attrs[] = {
	&vrfm_item_attr_node_id,
	&vrfm_item_attr_network,
	&vrfm_item_attr_size,
	&vrfm_item_attr_listen,
	&vrfm_item_attr_port,
	&vrfm_item_attr_overload_us,
	&vrfm_item_attr_overload_ms,
	&vrfm_item_attr_keepalive_ms,
	&vrfm_item_attr_flush_us,
	&vrfm_item_attr_stage_ms,
	&vrfm_item_attr_unstage_ms,
	&vrfm_item_attr_quiet_us,
	&vrfm_item_attr_direct,
	&vrfm_item_attr_direct_min,
	&vrfm_item_attr_security,
	&vrfm_item_attr_key,
	&vrfm_item_attr_enable,
	NULL,
};

static struct vrfm_peer_item *to_vrfm_peer_item(struct config_item *item)
{
	return container_of(item, struct vrfm_peer_item, item);
}

static ssize_t vrfm_peer_item_addr_show(struct config_item *item, char *page)
{
	struct vrfm_peer_item *pi = to_vrfm_peer_item(item);
	ssize_t ret;

	mutex_lock(&pi->vi->lock);
	ret = sysfs_emit(page, "%s\n", pi->addr);
	mutex_unlock(&pi->vi->lock);
	return ret;
}

static ssize_t vrfm_peer_item_addr_store(struct config_item *item,
					 const char *page, size_t len)
{
	struct vrfm_peer_item *pi = to_vrfm_peer_item(item);
	struct sockaddr_storage addr;
	char text[VRFM_ADDR_TEXT];
	int ret;

	if (vrfm_addr_text(page, text))
		return -EINVAL;
	if (strcmp(text, "any") && krdma_parse_addr(NULL, text, NULL, &addr)) {
		pr_warn("%s%u: peer %u: %s: not an address\n", VRFM_NAME,
			pi->vi->unit, pi->node, text);
		return -EINVAL;
	}
	mutex_lock(&pi->vi->lock);
	if (pi->link) {
		ret = -EBUSY;
	} else {
		strscpy(pi->addr, text, sizeof(pi->addr));
		ret = vrfm_peer_item_start_locked(pi);
		if (ret)
			*pi->addr = '\0';
	}
	mutex_unlock(&pi->vi->lock);
	return ret ?: len;
}

/* The mode is 0600 instead of 0644, to hide the address from other users. */
static struct configfs_attribute vrfm_peer_item_attr_addr = {
	.ca_name = "addr",
	.ca_mode = 0600,
	.ca_owner = THIS_MODULE,
	.show = vrfm_peer_item_addr_show,
	.store = vrfm_peer_item_addr_store,
};

static ssize_t vrfm_peer_item_port_show(struct config_item *item, char *page)
{
	struct vrfm_peer_item *pi = to_vrfm_peer_item(item);

	return sysfs_emit(page, "%u\n",
			  READ_ONCE(pi->port) ?: pi->vi->params.port);
}

static ssize_t vrfm_peer_item_port_store(struct config_item *item,
					 const char *page, size_t len)
{
	struct vrfm_peer_item *pi = to_vrfm_peer_item(item);
	ssize_t ret = len;
	u16 port;
	int error = vrfm_parse_port(page, &port);

	if (vrfm_item_bad(pi->vi, "port of a peer", page, error))
		return error;
	mutex_lock(&pi->vi->lock);
	if (pi->link)
		ret = -EBUSY;
	else
		pi->port = port;
	mutex_unlock(&pi->vi->lock);
	return ret;
}
CONFIGFS_ATTR(vrfm_peer_item_, port);

static ssize_t vrfm_peer_item_overload_us_show(struct config_item *item,
					       char *page)
{
	u32 us = READ_ONCE(to_vrfm_peer_item(item)->overload_us);

	return us == VRFM_OVERLOAD_DEVICE ? sysfs_emit(page, "device\n") :
		sysfs_emit(page, "%u\n", us);
}

static ssize_t vrfm_peer_item_overload_us_store(struct config_item *item,
						const char *page, size_t len)
{
	struct vrfm_peer_item *pi = to_vrfm_peer_item(item);
	u32 us = VRFM_OVERLOAD_DEVICE;
	int ret = 0;

	if (!sysfs_streq(page, "device"))
		ret = vrfm_item_parse(page, 0, VRFM_OVERLOAD_US_MAX, &us);
	if (vrfm_item_bad(pi->vi, "overload_us of a peer", page, ret))
		return ret;
	mutex_lock(&pi->vi->lock);
	WRITE_ONCE(pi->overload_us, us);
	/* Pairs with READ_ONCE() of writers, which do not take vi->lock. */
	if (pi->link)
		WRITE_ONCE(pi->link->peer.overload_us, us);
	mutex_unlock(&pi->vi->lock);
	return len;
}
CONFIGFS_ATTR(vrfm_peer_item_, overload_us);

static ssize_t vrfm_peer_item_key_show(struct config_item *item, char *page)
{
	struct vrfm_peer_item *pi = to_vrfm_peer_item(item);

	return vrfm_keys_emit(pi->vi, &pi->keys, page);
}

static ssize_t vrfm_peer_item_key_store(struct config_item *item,
					const char *page, size_t len)
{
	struct vrfm_peer_item *pi = to_vrfm_peer_item(item);
	struct krdma_keys *keys;
	int ret = vrfm_keys_take(pi->vi, page, &keys);

	if (ret)
		return ret;
	mutex_lock(&pi->vi->lock);
	if (pi->link)
		ret = vrfm_peer_set_keys(pi->link, keys);
	if (!ret)
		swap(pi->keys, keys);
	mutex_unlock(&pi->vi->lock);
	krdma_keys_put(keys);
	return ret ?: len;
}

/* As vrfm_item_attr_key. */
static struct configfs_attribute vrfm_peer_item_attr_key = {
	.ca_name = "key",
	.ca_mode = 0600,
	.ca_owner = THIS_MODULE,
	.show = vrfm_peer_item_key_show,
	.store = vrfm_peer_item_key_store,
};

static struct configfs_attribute *vrfm_peer_item_attrs[] = {
	&vrfm_peer_item_attr_addr,
	&vrfm_peer_item_attr_port,
	&vrfm_peer_item_attr_overload_us,
	&vrfm_peer_item_attr_key,
	NULL,
};

static void vrfm_peer_item_release(struct config_item *item)
{
	struct vrfm_peer_item *pi = to_vrfm_peer_item(item);

	config_item_put(&pi->vi->group.cg_item);
	krdma_keys_put(pi->keys);
	kfree(pi);
}

static struct configfs_item_operations vrfm_peer_item_ops = {
	.release = vrfm_peer_item_release,
};

static const struct config_item_type vrfm_peer_item_type = {
	.ct_item_ops = &vrfm_peer_item_ops,
	.ct_attrs = vrfm_peer_item_attrs,
	.ct_owner = THIS_MODULE,
};

static struct config_item *vrfm_peers_make(struct config_group *group,
					   const char *name)
{
	struct vrfm_item *vi = container_of(group, struct vrfm_item,
					    peers_group);
	struct vrfm_peer_item *pi;
	u32 node;
	int ret = kstrtou32(name, 10, &node);

	if (ret)
		return ERR_PTR(ret);
	/*
	 * Accept only one spelling of each node id: decimal, without a sign or
	 * leading zeroes.
	 */
	if (node > RFM2G_NODE_MAX || (name[0] == '0' && name[1]) ||
	    name[0] == '+')
		return ERR_PTR(-EINVAL);
	pi = kzalloc(sizeof(*pi), GFP_KERNEL);
	if (!pi)
		return ERR_PTR(-ENOMEM);
	pi->vi = vi;
	pi->node = node;
	pi->overload_us = VRFM_OVERLOAD_DEVICE;
	config_item_get(&vi->group.cg_item);
	config_item_init_type_name(&pi->item, name, &vrfm_peer_item_type);
	mutex_lock(&vi->lock);
	list_add_tail(&pi->entry, &vi->peers);
	mutex_unlock(&vi->lock);
	return &pi->item;
}

static void vrfm_peers_drop(struct config_group *group,
			    struct config_item *item)
{
	struct vrfm_peer_item *pi = to_vrfm_peer_item(item);

	mutex_lock(&pi->vi->lock);
	list_del(&pi->entry);
	if (pi->link)
		vrfm_peer_remove(pi->link);
	pi->link = NULL;
	mutex_unlock(&pi->vi->lock);
	config_item_put(item);
}

static struct configfs_group_operations vrfm_peers_ops = {
	.make_item = vrfm_peers_make,
	.drop_item = vrfm_peers_drop,
};

static const struct config_item_type vrfm_peers_type = {
	.ct_group_ops = &vrfm_peers_ops,
	.ct_owner = THIS_MODULE,
};

static void vrfm_item_release(struct config_item *item)
{
	struct vrfm_item *vi = to_vrfm_item(item);

	krdma_keys_put(vi->params.keys);
	kfree(vi);
}

static struct configfs_item_operations vrfm_item_ops = {
	.release = vrfm_item_release,
};

static const struct config_item_type vrfm_item_type = {
	.ct_item_ops = &vrfm_item_ops,
	.ct_attrs = vrfm_item_attrs,
	.ct_owner = THIS_MODULE,
};

static struct config_group *vrfm_make_group(struct config_group *parent,
					    const char *name)
{
	struct vrfm_item *vi;
	unsigned int unit;
	int ret = vrfm_parse_unit(name, &unit);

	if (ret)
		return ERR_PTR(ret);
	if (!READ_ONCE(vrfm_configfs_allowed))
		return ERR_PTR(-EAGAIN);
	vi = kzalloc(sizeof(*vi), GFP_KERNEL);
	if (!vi)
		return ERR_PTR(-ENOMEM);
	mutex_init(&vi->lock);
	vi->unit = unit;
	vrfm_params_init(&vi->params);
	vi->params.node = VRFM_NODE_UNSET;
	INIT_LIST_HEAD(&vi->peers);
	config_group_init_type_name(&vi->group, name, &vrfm_item_type);
	config_group_init_type_name(&vi->peers_group, "peers", &vrfm_peers_type);
	configfs_add_default_group(&vi->peers_group, &vi->group);
	return &vi->group;
}

/*
 * Destroy the device on rmdir, even if it is open, because rmdir cannot fail.
 * Calls through open files return -ENODEV from then on.
 */
static void vrfm_drop_item(struct config_group *parent,
			   struct config_item *item)
{
	struct vrfm_item *vi = to_vrfm_item(item);

	mutex_lock(&vi->lock);
	vrfm_item_disable_locked(vi, true);
	mutex_unlock(&vi->lock);
	configfs_remove_default_groups(&vi->group);
	config_item_put(item);
}

static struct configfs_group_operations vrfm_group_ops = {
	.make_group = vrfm_make_group,
	.drop_item = vrfm_drop_item,
};

static const struct config_item_type vrfm_subsystem_type = {
	.ct_group_ops = &vrfm_group_ops,
	.ct_owner = THIS_MODULE,
};

static struct configfs_subsystem vrfm_subsystem = {
	.su_group.cg_item = {
		.ci_namebuf = "vrfm",
		.ci_type = &vrfm_subsystem_type,
	},
};

/**
 * vrfm_configfs_init - register /sys/kernel/config/vrfm
 *
 * Until vrfm_configfs_allow() is called, creating a directory fails with
 * -EAGAIN.
 *
 * Return: 0 or an error.
 */
int vrfm_configfs_init(void)
{
	config_group_init(&vrfm_subsystem.su_group);
	mutex_init(&vrfm_subsystem.su_mutex);
	return configfs_register_subsystem(&vrfm_subsystem);
}

/**
 * vrfm_configfs_allow - let admins create devices
 */
void vrfm_configfs_allow(void)
{
	WRITE_ONCE(vrfm_configfs_allowed, true);
}

/**
 * vrfm_configfs_exit - unregister /sys/kernel/config/vrfm
 *
 * Context: may sleep. No item exists any more, because items hold the module.
 */
void vrfm_configfs_exit(void)
{
	configfs_unregister_subsystem(&vrfm_subsystem);
}
