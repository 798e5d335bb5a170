// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/kernel/config/vrfm: mkdir rfm2gN, say what it shall be, write 1 to
 * enable. What is there when it is enabled stays until it is disabled.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/configfs.h>
#include <linux/kstrtox.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>

#include "priv.h"

/* Nobody said which. */
#define VRFM_NODE_UNSET U32_MAX

/**
 * struct vrfm_item - a device as its admin describes it
 * @group: its directory
 * @lock: protects what follows
 * @unit: N of rfm2gN
 * @params: what to make
 * @vdev: what was made, NULL: not enabled
 */
struct vrfm_item {
	struct config_group group;
	struct mutex lock; /* params, vdev */
	unsigned int unit;
	struct vrfm_params params;
	struct vrfm_dev *vdev;
};

/* A module that may still fail to load must not get users. */
static bool vrfm_configfs_allowed;

static struct vrfm_item *to_vrfm_item(struct config_item *item)
{
	return container_of(to_config_group(item), struct vrfm_item, group);
}

/* Stores VALUE unless the device is there. Returns the length or an error. */
static ssize_t vrfm_item_set(struct vrfm_item *vi, u32 *to, u32 value,
			     size_t len)
{
	ssize_t ret = len;

	mutex_lock(&vi->lock);
	if (vi->vdev)
		ret = -EBUSY;
	else
		*to = value;
	mutex_unlock(&vi->lock);
	return ret;
}

static ssize_t vrfm_item_node_id_show(struct config_item *item, char *page)
{
	u32 node = READ_ONCE(to_vrfm_item(item)->params.node);

	return node == VRFM_NODE_UNSET ? sysfs_emit(page, "\n") :
		sysfs_emit(page, "%u\n", node);
}

static ssize_t vrfm_item_node_id_store(struct config_item *item,
				       const char *page, size_t len)
{
	struct vrfm_item *vi = to_vrfm_item(item);
	u32 node;
	int ret = kstrtou32(page, 0, &node);

	if (ret)
		return ret;
	if (node > RFM2G_NODE_MAX)
		return -ERANGE;
	return vrfm_item_set(vi, &vi->params.node, node, len);
}
CONFIGFS_ATTR(vrfm_item_, node_id);

static ssize_t vrfm_item_network_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%u\n",
			  READ_ONCE(to_vrfm_item(item)->params.network));
}

static ssize_t vrfm_item_network_store(struct config_item *item,
				       const char *page, size_t len)
{
	struct vrfm_item *vi = to_vrfm_item(item);
	u32 network;
	int ret = kstrtou32(page, 0, &network);

	return ret ?: vrfm_item_set(vi, &vi->params.network, network, len);
}
CONFIGFS_ATTR(vrfm_item_, network);

static ssize_t vrfm_item_size_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%llu\n", to_vrfm_item(item)->params.size);
}

static ssize_t vrfm_item_size_store(struct config_item *item, const char *page,
				    size_t len)
{
	struct vrfm_item *vi = to_vrfm_item(item);
	ssize_t ret = len;
	u64 size;
	int error = vrfm_parse_size(page, &size);

	if (error)
		return error;
	mutex_lock(&vi->lock);
	if (vi->vdev)
		ret = -EBUSY;
	else
		vi->params.size = size;
	mutex_unlock(&vi->lock);
	return ret;
}
CONFIGFS_ATTR(vrfm_item_, size);

static int vrfm_item_enable_locked(struct vrfm_item *vi)
{
	struct vrfm_dev *vdev;

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
	return 0;
}

static int vrfm_item_disable_locked(struct vrfm_item *vi, bool even_if_open)
{
	int ret = 0;

	if (vi->vdev)
		ret = vrfm_dev_destroy(vi->vdev, even_if_open);
	if (!ret)
		vi->vdev = NULL;
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
	&vrfm_item_attr_enable,
	NULL,
};

static void vrfm_item_release(struct config_item *item)
{
	kfree(to_vrfm_item(item));
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
	vi->params.node = VRFM_NODE_UNSET;
	vi->params.network = VRFM_NETWORK_DEFAULT;
	vi->params.size = VRFM_SIZE_DEFAULT;
	config_group_init_type_name(&vi->group, name, &vrfm_item_type);
	return &vi->group;
}

/* rmdir cannot be refused: who has the device open is told -ENODEV. */
static void vrfm_drop_item(struct config_group *parent,
			   struct config_item *item)
{
	struct vrfm_item *vi = to_vrfm_item(item);

	mutex_lock(&vi->lock);
	vrfm_item_disable_locked(vi, true);
	mutex_unlock(&vi->lock);
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
 * vrfm_configfs_init - make /sys/kernel/config/vrfm
 *
 * Nobody can use it before vrfm_configfs_allow().
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
 * vrfm_configfs_allow - from now on devices can be made
 */
void vrfm_configfs_allow(void)
{
	WRITE_ONCE(vrfm_configfs_allowed, true);
}

/**
 * vrfm_configfs_exit - remove it; no item is left, they hold the module
 */
void vrfm_configfs_exit(void)
{
	configfs_unregister_subsystem(&vrfm_subsystem);
}
