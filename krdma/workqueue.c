// SPDX-License-Identifier: GPL-2.0
/* The workqueues of all connections. */
#include <linux/workqueue.h>

#include "priv.h"

struct workqueue_struct *krdma_wq;
struct workqueue_struct *krdma_peer_wq;
struct workqueue_struct *krdma_connect_wq;
static struct workqueue_struct *krdma_owner_wq;
static struct workqueue_struct *krdma_owner_noio_wq;

/**
 * krdma_owner_queue - select the workqueue of owners' callbacks
 * @p: parameters of the connection or listener
 *
 * Callbacks have queues of their own, because they may sleep. Without
 * KRDMA_NOIO they may also wait for work on queues without WQ_MEM_RECLAIM. Work
 * on krdma_wq, which has this flag, must not wait for such work.
 *
 * Return: the workqueue for callbacks of this connection or listener.
 */
struct workqueue_struct *krdma_owner_queue(const struct krdma_params *p)
{
	return p->flags & KRDMA_NOIO ? krdma_owner_noio_wq : krdma_owner_wq;
}

/**
 * krdma_workqueues_destroy - destroy the workqueues
 *
 * Also works after a failure of krdma_workqueues_create(), which may have
 * created only some of them.
 */
void krdma_workqueues_destroy(void)
{
	/*
	 * A work item that has put the last reference to its connection may
	 * still run. Destroying its queue waits until the work item has
	 * returned.
	 */
	if (krdma_owner_noio_wq)
		destroy_workqueue(krdma_owner_noio_wq);
	if (krdma_owner_wq)
		destroy_workqueue(krdma_owner_wq);
	if (krdma_connect_wq)
		destroy_workqueue(krdma_connect_wq);
	if (krdma_peer_wq)
		destroy_workqueue(krdma_peer_wq);
	if (krdma_wq)
		destroy_workqueue(krdma_wq);
}

/**
 * krdma_workqueues_create - create the workqueues
 *
 * Return: 0 or -ENOMEM; on error no workqueue is left.
 */
int krdma_workqueues_create(void)
{
	krdma_wq = alloc_workqueue("krdma",
				   WQ_UNBOUND | WQ_SYSFS | WQ_MEM_RECLAIM, 0);
	krdma_peer_wq = alloc_workqueue("krdma-peer",
					WQ_UNBOUND | WQ_SYSFS | WQ_MEM_RECLAIM,
					0);
	krdma_connect_wq = alloc_workqueue("krdma-connect",
					   WQ_UNBOUND | WQ_SYSFS |
					   WQ_MEM_RECLAIM, 0);
	krdma_owner_wq = alloc_workqueue("krdma-owner", WQ_UNBOUND | WQ_SYSFS, 0);
	krdma_owner_noio_wq = alloc_workqueue("krdma-owner-noio",
					      WQ_UNBOUND | WQ_SYSFS |
					      WQ_MEM_RECLAIM, 0);
	if (krdma_wq && krdma_peer_wq && krdma_connect_wq && krdma_owner_wq &&
	    krdma_owner_noio_wq)
		return 0;
	krdma_workqueues_destroy();
	return -ENOMEM;
}
