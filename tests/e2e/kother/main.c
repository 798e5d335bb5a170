// SPDX-License-Identifier: GPL-2.0
/*
 * A module that calls krdma_config(). When it is loaded, it connects to HOST
 * and PORT, and receives one message. The parameter "received" is the result of
 * the receive call.
 */
#include <linux/mm.h>
#include <linux/module.h>

#include <krdma_simple.h>

#include "priv.h"

static char *host = "";
module_param(host, charp, 0444);

static char *port = "";
module_param(port, charp, 0444);

static unsigned int size;
module_param(size, uint, 0444);

static int received;
module_param(received, int, 0444);

static int __init kother_init(void)
{
	char *buffer = kvmalloc(size, GFP_KERNEL);
	struct krdma_cb *cb;
	int ret;

	if (!buffer)
		return -ENOMEM;
	krdma_config(size);
	ret = krdma_connect(host, port, &cb);
	if (!ret) {
		received = kother_receive(cb, buffer);
		krdma_release_cb(cb);
	}
	kvfree(buffer);
	return ret;
}

static void __exit kother_exit(void)
{
}

module_init(kother_init);
module_exit(kother_exit);

MODULE_AUTHOR("The krdma developers");
MODULE_DESCRIPTION("A second consumer of krdma's simple calls");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS(KRDMA_NS);
