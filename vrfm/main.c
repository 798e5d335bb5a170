// SPDX-License-Identifier: GPL-2.0
/*
 * vrfm - a reflective memory that all nodes of a network share
 *
 * Module init and exit, and the parameters of the module, which create one
 * device, /dev/rfm2g0. Further devices are created in configfs, where they can
 * also be tuned.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <version.h>

#include "compat.h"
#include "device.h"
#include "link.h"
#include "ring.h"
#include "write.h"

/* Value of the parameter node if the module must not create a device. */
#define VRFM_NO_NODE (-1)

static int vrfm_param_node = VRFM_NO_NODE;
module_param_named(node, vrfm_param_node, int, 0444);
MODULE_PARM_DESC(node, "Node id of rfm2g0, 0 to 255; without it no device is created");

static unsigned int vrfm_param_network = VRFM_NETWORK_DEFAULT;
module_param_named(network, vrfm_param_network, uint, 0444);
MODULE_PARM_DESC(network, "Network id of rfm2g0; nodes of one network share a memory (1)");

static char *vrfm_param_size;
module_param_named(size, vrfm_param_size, charp, 0444);
MODULE_PARM_DESC(size, "Size of the memory of rfm2g0, 4K to 2G (64M)");

static char *vrfm_param_listen;
module_param_named(listen, vrfm_param_listen, charp, 0400);
MODULE_PARM_DESC(listen, "Own address of rfm2g0, by which its peers know this node");

static ushort vrfm_param_port = VRFM_PORT_DEFAULT;
module_param_named(port, vrfm_param_port, ushort, 0444);
MODULE_PARM_DESC(port, "Own port of rfm2g0, and default port of its peers (5565)");

static char *vrfm_param_peers;
module_param_named(peers, vrfm_param_peers, charp, 0400);
MODULE_PARM_DESC(peers, "Peers of rfm2g0: id@addr[:port],... (IPv6 in brackets; any for a peer that connects)");

static unsigned int vrfm_param_overload_us = VRFM_OVERLOAD_US_DEFAULT;
module_param_named(overload_us, vrfm_param_overload_us, uint, 0444);
MODULE_PARM_DESC(overload_us, "Longest wait of a write to rfm2g0 for a slow peer, in us; 0: none (100000)");

static char *vrfm_param_security;
module_param_named(security, vrfm_param_security, charp, 0444);
MODULE_PARM_DESC(security, "Level of security of rfm2g0: none, auth, integrity or encrypt (none)");

static char *vrfm_param_key;
module_param_named(key, vrfm_param_key, charp, 0400);
MODULE_PARM_DESC(key, "Description of the key of rfm2g0 in a keyring of the task that loads the module");

static ushort vrfm_param_mode = 0660;
module_param_named(mode, vrfm_param_mode, ushort, 0444);
MODULE_PARM_DESC(mode, "Permissions of all devices (0660)");

/* Device that the module's parameters have created; NULL: none. */
static struct vrfm_dev *vrfm_first;

/* Read the level of security, and find the key. */
static int vrfm_read_security(struct vrfm_params *params)
{
	int ret = 0;

	if (vrfm_param_security &&
	    vrfm_parse_security(vrfm_param_security, &params->security)) {
		pr_err("security %s: not none, auth, integrity or encrypt\n",
		       vrfm_param_security);
		return -EINVAL;
	}
	if (!vrfm_param_key)
		return 0;
	params->keys = krdma_keys_find(vrfm_param_key);
	if (IS_ERR(params->keys)) {
		ret = PTR_ERR(params->keys);
		params->keys = NULL;
		pr_err("key %s: error %d\n", vrfm_param_key, ret);
	}
	return ret;
}

static int vrfm_read_params(struct vrfm_params *params)
{
	vrfm_params_init(params);
	params->network = vrfm_param_network;
	params->node = vrfm_param_node;
	if (vrfm_param_node < 0 || vrfm_param_node > RFM2G_NODE_MAX) {
		pr_err("node %d: not in 0..%d\n", vrfm_param_node,
		       RFM2G_NODE_MAX);
		return -EINVAL;
	}
	if (vrfm_param_size && vrfm_parse_size(vrfm_param_size, &params->size)) {
		pr_err("size %s: not a multiple of the page size from 4K to 2G\n",
		       vrfm_param_size);
		return -EINVAL;
	}
	if (vrfm_param_overload_us > VRFM_OVERLOAD_US_MAX) {
		pr_err("overload_us %u: not in 0..%d\n", vrfm_param_overload_us,
		       VRFM_OVERLOAD_US_MAX);
		return -EINVAL;
	}
	params->overload_us = vrfm_param_overload_us;
	if (!vrfm_param_port) {
		pr_err("port 0: not a port\n");
		return -EINVAL;
	}
	params->port = vrfm_param_port;
	if (vrfm_param_listen && krdma_parse_addr(NULL, vrfm_param_listen, NULL,
						  &params->listen)) {
		pr_err("listen %s: not an address\n", vrfm_param_listen);
		return -EINVAL;
	}
	return vrfm_read_security(params);
}

/*
 * Add the peer that TEXT describes: an entry of the module's parameter "peers".
 * Parsing changes TEXT, so the log line needs a copy.
 */
static int vrfm_make_peer(struct vrfm_dev *vdev, char *text)
{
	struct vrfm_peer peer = { .overload_us = VRFM_OVERLOAD_DEVICE };
	char *copy = kstrdup(text, GFP_KERNEL);
	struct vrfm_peer_text words;
	char port[8];
	int ret;

	if (!copy)
		return -ENOMEM;
	ret = vrfm_parse_peer(text, &words);
	if (!ret) {
		peer.node = words.node;
		peer.any = !strcmp(words.host, "any");
		snprintf(port, sizeof(port), "%u", vdev->params.port);
		if (!peer.any)
			ret = krdma_parse_addr(NULL, words.host,
					       words.port ?: port, &peer.addr);
	}
	if (ret)
		pr_err("peers: %s: not id@addr or id@addr:port\n", copy);
	else
		ret = PTR_ERR_OR_ZERO(vrfm_peer_add(vdev, &peer));
	kfree(copy);
	return ret;
}

static int vrfm_make_peers(struct vrfm_dev *vdev)
{
	char *text, *rest, *word;
	int ret = 0;

	if (!vrfm_param_peers)
		return 0;
	text = kstrdup(vrfm_param_peers, GFP_KERNEL);
	if (!text)
		return -ENOMEM;
	rest = strim(text);
	while (!ret && (word = strsep(&rest, ",")))
		if (*word)
			ret = vrfm_make_peer(vdev, word);
	kfree(text);
	return ret;
}

static int vrfm_make_first(void)
{
	struct vrfm_params params;
	struct vrfm_dev *vdev;
	int ret;

	if (vrfm_param_node == VRFM_NO_NODE)
		return 0;
	ret = vrfm_read_params(&params);
	if (ret)
		return ret;
	vdev = vrfm_dev_create(0, &params);
	krdma_keys_put(params.keys);
	if (IS_ERR(vdev))
		return PTR_ERR(vdev);
	ret = vrfm_make_peers(vdev) ?: vrfm_dev_publish(vdev);
	if (ret)
		vrfm_dev_destroy(vdev, true);
	else
		vrfm_first = vdev;
	return ret;
}

static int __init vrfm_init(void)
{
	int ret;

	if (vrfm_param_mode & ~0666) {
		pr_err("mode %#o: not permissions of a device\n",
		       vrfm_param_mode);
		return -EINVAL;
	}
	if (!krdma_can_wrprotect())
		pr_notice("no CONFIG_MAPPING_DIRTY_HELPERS: loads from mappings fault after stores\n");
	ret = vrfm_link_init();
	if (ret)
		return ret;
	ret = vrfm_twins_init();
	if (ret)
		goto err_exit_link;
	ret = vrfm_device_init(vrfm_param_mode);
	if (ret)
		goto err_exit_twins;
	ret = vrfm_proc_init();
	if (ret)
		goto err_exit_device;
	vrfm_debugfs_init();
	ret = vrfm_configfs_init();
	if (ret)
		goto err_exit_debugfs;
	/*
	 * Create the device in the last step that can fail. A program that
	 * opens the device holds the module, so the module could not be
	 * unloaded after a later failure.
	 */
	ret = vrfm_make_first();
	if (ret)
		goto err_exit_configfs;
	vrfm_configfs_allow();
	return 0;

err_exit_configfs:
	vrfm_configfs_exit();
err_exit_debugfs:
	vrfm_debugfs_exit();
	vrfm_proc_exit();
err_exit_device:
	vrfm_device_exit();
err_exit_twins:
	vrfm_twins_exit();
err_exit_link:
	vrfm_link_exit();
	return ret;
}

/*
 * Unload the module. Open files and items of configfs hold the module, so none
 * exist any more. Only the device of the module's parameters may be left.
 */
static void __exit vrfm_exit(void)
{
	vrfm_configfs_exit();
	if (vrfm_first)
		vrfm_dev_destroy(vrfm_first, true);
	vrfm_debugfs_exit();
	vrfm_proc_exit();
	vrfm_device_exit();
	vrfm_ranges_exit();
	vrfm_taps_exit();
	vrfm_twins_exit();
	vrfm_link_exit();
}

module_init(vrfm_init);
module_exit(vrfm_exit);

MODULE_AUTHOR("The krdma developers <krdma@example.org>");
MODULE_DESCRIPTION("Reflective memory over RDMA, with the interface of RFM2g cards");
MODULE_LICENSE("GPL");
MODULE_VERSION(KRDMA_VERSION);
MODULE_IMPORT_NS(KRDMA_NS);
