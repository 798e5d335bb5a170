// SPDX-License-Identifier: GPL-2.0
/*
 * Completion queues of one connection or of several.
 *
 * A CQ serves both directions of a connection. With KRDMA_SHARED_CQ it also
 * serves other connections of the same device, poll context and completion
 * vector. The last connection of a CQ frees the CQ. krdma does not use the pool
 * of shared CQs in the RDMA core, ib_cq_pool_get(). CQs of that pool stay
 * allocated until the device is removed, and would appear in "rdma resource
 * show" even after krdma was unloaded.
 *
 * A CQ that overflows may lose completions of all its connections. So a
 * connection reserves an entry for each work request that its queues hold, and
 * the sum never exceeds the size of the CQ.
 *
 * The cq_context of a CQ is NULL, because a CQ may serve several connections.
 * When ib_drain_qp() has returned, no handler runs for that connection any
 * more. ib_drain_qp() waits for marker work requests behind the connection's
 * last work requests, and the handlers of a CQ run one after the other.
 *
 * krdma_dev.lock protects the list of shared CQs and the number of reserved
 * entries of each. The lock is also held while a shared CQ is created.
 * Otherwise many connections that start at the same time would each create a
 * CQ. An unused CQ is taken off the list under the lock. It is freed without
 * the lock, after its handlers have returned: see krdma_cq_destroy().
 */
#include <linux/slab.h>
#include <linux/topology.h>
#include <linux/workqueue.h>

#include "device.h"

/*
 * A new shared CQ has room for this number of connections that each need as
 * many entries as its first connection.
 */
#define KRDMA_CQ_CONNS 16
/* Result of krdma_cq_wanted(): the owner has chosen no completion vector. */
#define KRDMA_CQ_ANY U32_MAX

static const enum ib_poll_context krdma_poll_contexts[] = {
	[KRDMA_POLL_SOFTIRQ]	= IB_POLL_SOFTIRQ,
	[KRDMA_POLL_WORKQUEUE]	= IB_POLL_WORKQUEUE,
	[KRDMA_POLL_DIRECT]	= IB_POLL_DIRECT,
};

/**
 * krdma_cq_vectors - return the number of completion vectors of a device
 * @ibdev: device
 *
 * Return: number of vectors, at least 1.
 */
u32 krdma_cq_vectors(const struct ib_device *ibdev)
{
	return max(ibdev->num_comp_vectors, 1);
}

/* Create a CQ. It is not yet on a list, and no entries are reserved. */
static struct krdma_cq *krdma_cq_create(const struct krdma_conn *conn, u32 size,
					u32 vector)
{
	enum ib_poll_context context = krdma_poll_contexts[conn->p.poll];
	struct krdma_cq *kcq =
		kzalloc_node(sizeof(*kcq), GFP_KERNEL, conn->hw.node);
	struct ib_device *ibdev = conn->hw.dev->ibdev;
	struct ib_cq *cq;

	if (!kcq)
		return ERR_PTR(-ENOMEM);
	cq = ib_alloc_cq(ibdev, NULL, size, vector, context);
	if (IS_ERR(cq)) {
		kfree(kcq);
		return ERR_CAST(cq);
	}
	INIT_LIST_HEAD(&kcq->link);
	kcq->dev = conn->hw.dev;
	kcq->cq = cq;
	kcq->size = size;
	return kcq;
}

static void krdma_cq_free(struct krdma_cq *kcq)
{
	struct krdma_dev *dev = kcq->dev;

	ib_free_cq(kcq->cq);
	kfree(kcq);
	krdma_device_cq_freed(dev);
}

static void krdma_cq_free_work(struct work_struct *work)
{
	struct krdma_cq *kcq = container_of(to_rcu_work(work), struct krdma_cq,
					    free_work);
	struct krdma_noio noio = krdma_noio_enter_work();

	/*
	 * krdma_cq_destroy() has already called irq_poll_disable(). A second
	 * call would wait forever. ib_free_cq() makes no such call with
	 * IB_POLL_DIRECT.
	 */
	kcq->cq->poll_ctx = IB_POLL_DIRECT;
	krdma_cq_free(kcq);
	krdma_noio_leave(noio);
}

/*
 * Free a CQ. If its handler is a softirq, free it after an RCU grace period,
 * which waits for running softirqs. irq_poll_disable(), which ib_free_cq() also
 * calls, only waits until the handler has marked its poll as complete. After
 * that, ib_poll_handler() still calls ib_req_notify_cq() on the CQ, which may
 * be freed by then (Linux 6.1 to 7.3). Do not wait for the grace period here:
 * that would delay the next connection. An expedited grace period would
 * interrupt all processors each time a peer connects and disconnects.
 *
 * During the grace period no handler of the CQ begins, even if the device has
 * an event for the CQ. The reason is that irq_poll_disable() leaves the bit
 * IRQ_POLL_F_SCHED set, as if a handler was running.
 */
static void krdma_cq_destroy(struct krdma_cq *kcq)
{
	if (kcq->cq->poll_ctx != IB_POLL_SOFTIRQ) {
		krdma_cq_free(kcq);
		return;
	}
	irq_poll_disable(&kcq->cq->iop);
	INIT_RCU_WORK(&kcq->free_work, krdma_cq_free_work);
	queue_rcu_work(krdma_wq, &kcq->free_work);
}

/*
 * Return the number of vectors to choose from. Drivers assign the first vectors
 * to the processors of the adapter's node (cpumask_local_spread()), so use as
 * many vectors as that node has processors. If the connection has no node, or
 * another node than the adapter, use one vector for each online processor, like
 * ib_alloc_cq_any().
 */
static u32 krdma_cq_near(const struct krdma_conn *conn)
{
	u32 n = min(krdma_cq_vectors(conn->hw.dev->ibdev), num_online_cpus());
	u32 cpus;

	if (conn->hw.node == NUMA_NO_NODE ||
	    conn->hw.node != ibdev_to_node(conn->hw.dev->ibdev))
		return n;
	cpus = cpumask_weight(cpumask_of_node(conn->hw.node));
	return cpus ? min(n, cpus) : n;
}

static u32 krdma_cq_idlest_locked(const struct krdma_conn *conn)
{
	const struct krdma_dev *dev = conn->hw.dev;
	u32 n = krdma_cq_near(conn);
	u32 least = U32_MAX, idlest = 0, vector, load;
	const struct krdma_cq *kcq;

	lockdep_assert_held(&dev->lock);
	for (vector = 0; vector < n; vector++) {
		load = 0;
		list_for_each_entry(kcq, &dev->cqs, link)
			if (kcq->cq->comp_vector == vector)
				load += kcq->used;
		if (load >= least)
			continue;
		least = load;
		idlest = vector;
	}
	return idlest;
}

/* Return the completion vector that the owner chose, or KRDMA_CQ_ANY. */
static u32 krdma_cq_wanted(const struct krdma_conn *conn)
{
	if (!conn->p.comp_vector)
		return KRDMA_CQ_ANY;
	return (conn->p.comp_vector - 1) %
	       krdma_cq_vectors(conn->hw.dev->ibdev);
}

static struct krdma_cq *krdma_cq_share_locked(struct krdma_conn *conn)
{
	struct krdma_dev *dev = conn->hw.dev;
	u32 vector = krdma_cq_wanted(conn);
	struct krdma_cq *kcq;
	u32 size;

	lockdep_assert_held(&dev->lock);
	if (vector == KRDMA_CQ_ANY)
		vector = krdma_cq_idlest_locked(conn);
	list_for_each_entry(kcq, &dev->cqs, link)
		if (kcq->cq->poll_ctx == krdma_poll_contexts[conn->p.poll] &&
		    kcq->cq->comp_vector == vector &&
		    kcq->size - kcq->used >= conn->hw.ncqes)
			goto found;
	size = min_t(u32, conn->hw.ncqes * KRDMA_CQ_CONNS,
		     dev->ibdev->attrs.max_cqe);
	kcq = krdma_cq_create(conn, size, vector);
	if (IS_ERR(kcq))
		return kcq;
	list_add_tail(&kcq->link, &dev->cqs);
found:
	kcq->used += conn->hw.ncqes;
	return kcq;
}

static struct krdma_cq *krdma_cq_own(const struct krdma_conn *conn)
{
	u32 vector = krdma_cq_wanted(conn);
	struct krdma_cq *kcq;

	if (vector == KRDMA_CQ_ANY) {
		/* Take the next completion vector, round robin. */
		mutex_lock(&conn->hw.dev->lock);
		vector = conn->hw.dev->next_vector++ % krdma_cq_near(conn);
		mutex_unlock(&conn->hw.dev->lock);
	}
	kcq = krdma_cq_create(conn, conn->hw.ncqes, vector);
	if (!IS_ERR(kcq))
		kcq->used = conn->hw.ncqes;
	return kcq;
}

/**
 * krdma_cq_get - assign a completion queue to a connection
 * @conn: connection that is attached to its device
 * @ncqes: number of work requests that the queues of @conn hold
 *
 * Context: process, @conn->setup held.
 * Return: 0: &krdma_conn.hw.cq is set, and krdma_cq_put() undoes this call;
 * -EINVAL: the device supports no CQ of that size; or an errno of the driver.
 */
int krdma_cq_get(struct krdma_conn *conn, u32 ncqes)
{
	struct krdma_cq *kcq;

	lockdep_assert_held(&conn->setup);
	if (ncqes > conn->hw.dev->ibdev->attrs.max_cqe)
		return -EINVAL;
	conn->hw.ncqes = ncqes;
	if (conn->p.flags & KRDMA_SHARED_CQ) {
		mutex_lock(&conn->hw.dev->lock);
		kcq = krdma_cq_share_locked(conn);
		mutex_unlock(&conn->hw.dev->lock);
	} else {
		kcq = krdma_cq_own(conn);
	}
	if (IS_ERR(kcq))
		return PTR_ERR(kcq);
	conn->hw.cq = kcq;
	return 0;
}

/**
 * krdma_cq_put - undo krdma_cq_get()
 * @conn: connection whose QP is destroyed, and which is still attached to its
 *	device
 *
 * If @conn is the last connection of its CQ, the CQ is freed, possibly after
 * this returns.
 *
 * Context: process, @conn->setup held.
 */
void krdma_cq_put(struct krdma_conn *conn)
{
	struct krdma_cq *kcq = conn->hw.cq;
	bool last;

	lockdep_assert_held(&conn->setup);
	conn->hw.cq = NULL;
	mutex_lock(&conn->hw.dev->lock);
	kcq->used -= conn->hw.ncqes;
	last = !kcq->used;
	if (last) {
		list_del(&kcq->link);
		/* krdma_device_cq_freed() undoes the next two lines. */
		kref_get(&kcq->dev->ref);
		kcq->dev->nfreed++;
	}
	mutex_unlock(&conn->hw.dev->lock);
	if (last)
		krdma_cq_destroy(kcq);
}
