// SPDX-License-Identifier: GPL-2.0
/* Module init and exit. */
#include <linux/module.h>

#include <version.h>

#include "cm.h"
#include "msg.h"

static int __init krdma_init(void)
{
	int ret;

	ret = krdma_workqueues_create();
	if (ret)
		return ret;
	krdma_life_set_message_mode(&krdma_msg_mode);
	krdma_stats_init();
	ret = krdma_device_init();
	if (ret) {
		krdma_stats_exit();
		krdma_workqueues_destroy();
	}
	return ret;
}

static void __exit krdma_exit(void)
{
	krdma_device_exit();
	krdma_stats_exit();
	krdma_workqueues_destroy();
}

module_init(krdma_init);
module_exit(krdma_exit);

MODULE_AUTHOR("The krdma developers <krdma@example.org>");
MODULE_DESCRIPTION("RDMA connections for kernel modules");
MODULE_LICENSE("GPL");
MODULE_VERSION(KRDMA_VERSION);
