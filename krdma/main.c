// SPDX-License-Identifier: GPL-2.0
/* Module init and exit, and what all connections share. */
#include <linux/module.h>
#include <linux/workqueue.h>

#include <version.h>

#include "priv.h"

struct workqueue_struct *krdma_wq;

static int __init krdma_init(void)
{
	int ret;

	/* Unbound: closing a connection may wait for its peer's adapter. */
	krdma_wq = alloc_workqueue("krdma", WQ_UNBOUND | WQ_SYSFS, 0);
	if (!krdma_wq)
		return -ENOMEM;
	krdma_stats_init();
	ret = krdma_device_init();
	if (ret) {
		krdma_stats_exit();
		destroy_workqueue(krdma_wq);
	}
	return ret;
}

static void __exit krdma_exit(void)
{
	krdma_device_exit();
	krdma_stats_exit();
	/* Runs what is queued: the last put of a connection may be there. */
	destroy_workqueue(krdma_wq);
}

module_init(krdma_init);
module_exit(krdma_exit);

MODULE_AUTHOR("The krdma developers <krdma@example.org>");
MODULE_DESCRIPTION("RDMA connections for kernel modules");
MODULE_LICENSE("GPL");
MODULE_VERSION(KRDMA_VERSION);
