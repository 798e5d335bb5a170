// SPDX-License-Identifier: GPL-2.0
/*
 * Receives that the connections of a run share, with the srq option: one shared
 * receive queue (SRQ) for all connections of the run in one protection domain,
 * that is, on one device.
 *
 * krdma requests the SRQ before it creates a QP, and returns the SRQ when the
 * QP and its completion queue are destroyed (get_srq and put_srq of struct
 * krdma_ops). The first connection creates the pool, and the last one frees it.
 * Each connection that joins the pool adds as many receives as it would have in
 * a queue of its own.
 *
 * A receive belongs to the pool and not to a session: the completion handler
 * finds the session by the QP that took the message. Draining does not wait for
 * all of these completions. The handler does not find a session that has left
 * the pool, so a late completion touches neither the session nor its
 * connection. The receive is then posted again for the other sessions.
 */
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/slab.h>

#include "priv.h"

/*
 * Maximum number of receives of an SRQ. The CQ of each connection has room for
 * all of them.
 */
#define KRPING_POOL_MAX 4096

/**
 * krping_pool_conns - return the maximum number of connections of a pool
 * @opts: command of the run
 *
 * Return: the number, at least 1.
 */
u32 krping_pool_conns(const struct krping_opts *opts)
{
	if (opts->role == KRPING_ROLE_CLIENT)
		return opts->qps;
	return opts->accept ? min(opts->accept, opts->max_conns) :
			      opts->max_conns;
}

/**
 * krping_pool_share - return the share of each connection in a full SRQ
 * @opts: command of the run
 *
 * Return: maximum number of receives of a connection.
 */
u32 krping_pool_share(const struct krping_opts *opts)
{
	return KRPING_POOL_MAX / krping_pool_conns(opts);
}

/**
 * krping_pool_post - post a receive of the pool
 * @msg: receive that is not posted
 *
 * Context: any.
 * Return: 0 or -errno.
 */
int krping_pool_post(struct krping_msg *msg)
{
	struct krping_pool *pool = msg->pool;
	struct ib_sge sge = {
		.addr = msg->dma,
		.length = pool->len,
		.lkey = pool->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = {
		.wr_cqe = &msg->cqe,
		.sg_list = &sge,
		.num_sge = 1,
	};

	return ib_post_srq_recv(pool->srq, &wr, NULL);
}

/*
 * Handle the completion of a shared receive. The pool is still valid, because
 * its SRQ outlives every completion queue that its receives complete on.
 */
static void krping_pool_recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct krping_msg *msg =
		container_of(wc->wr_cqe, struct krping_msg, cqe);
	struct krping_pool *pool = msg->pool;
	struct krping_session *s;
	unsigned long flags;
	bool taken = false;

	spin_lock_irqsave(&pool->lock, flags);
	/*
	 * Find the session of the QP. Only compare wc->qp and do not
	 * dereference it, because the QP may be destroyed.
	 */
	list_for_each_entry(s, &pool->sessions, recv.link) {
		if (s->recv.qp != wc->qp || s->recv.qp->recv_cq != cq)
			continue;
		taken = krping_recv_take(s, msg, wc);
		break;
	}
	if (!taken)
		krping_pool_post(msg);
	spin_unlock_irqrestore(&pool->lock, flags);
}

static struct krping_pool *
krping_pool_create(const struct krping_session *s, struct ib_pd *pd)
{
	u32 max = min_t(u32, s->recv.n * krping_pool_conns(s->opts),
			pd->device->attrs.max_srq_wr);
	struct ib_srq_init_attr init = {
		.srq_type = IB_SRQT_BASIC,
		.attr = { .max_wr = max, .max_sge = 1 },
	};
	struct krping_pool *pool;
	struct ib_srq *srq;

	pool = kvzalloc(struct_size(pool, msgs, max), GFP_KERNEL);
	if (!pool)
		return ERR_PTR(-ENOMEM);
	srq = ib_create_srq(pd, &init);
	if (IS_ERR(srq)) {
		kvfree(pool);
		return ERR_CAST(srq);
	}
	pool->srq = srq;
	pool->pd = pd;
	pool->len = s->recv.len;
	pool->max = max;
	spin_lock_init(&pool->lock);
	INIT_LIST_HEAD(&pool->sessions);
	return pool;
}

/**
 * krping_pool_get_srq - find or create the SRQ of a connection
 * @cb: connection of a session, with its PD and without a QP
 *
 * Context: process.
 * Return: the SRQ, which exists until krping_pool_put_srq(); or an ERR_PTR.
 */
struct ib_srq *krping_pool_get_srq(struct krdma_cb *cb)
{
	struct krping_session *s = cb->context;
	struct krping_run *run = s->run;
	struct ib_srq *srq;
	struct krping_pool *pool;

	mutex_lock(&run->pools_lock);
	list_for_each_entry(pool, &run->pools, link)
		if (pool->pd == cb->pd)
			goto found;
	pool = krping_pool_create(s, cb->pd);
	if (IS_ERR(pool)) {
		srq = ERR_CAST(pool);
		goto out;
	}
	list_add(&pool->link, &run->pools);
found:
	pool->users++;
	s->recv.pool = pool;
	srq = pool->srq;
out:
	mutex_unlock(&run->pools_lock);
	return srq;
}

/**
 * krping_pool_put_srq - undo krping_pool_get_srq()
 * @cb: connection whose QP and completion queue are destroyed
 * @srq: SRQ of the connection
 *
 * Context: process.
 */
void krping_pool_put_srq(struct krdma_cb *cb, struct ib_srq *srq)
{
	struct krping_session *s = cb->context;
	struct krping_pool *pool = s->recv.pool;
	u32 i;

	s->recv.pool = NULL;
	mutex_lock(&s->run->pools_lock);
	if (!--pool->users) {
		list_del(&pool->link);
		ib_destroy_srq(pool->srq);
		for (i = 0; i < pool->n; i++)
			krping_msg_free(&pool->msgs[i], pool->pd->device,
					pool->len, DMA_FROM_DEVICE);
		kvfree(pool);
	}
	mutex_unlock(&s->run->pools_lock);
}

/*
 * Post receives until the pool has @wanted receives, or the SRQ cannot hold
 * more.
 */
static int krping_pool_fill_locked(struct krping_run *run,
				   struct krping_pool *pool, u32 wanted)
{
	struct krping_msg *msg;
	int ret = 0;

	lockdep_assert_held(&run->pools_lock);
	wanted = min(wanted, pool->max);
	while (!ret && pool->n < wanted) {
		msg = &pool->msgs[pool->n];
		ret = krping_msg_alloc(msg, pool->pd->device, pool->len,
				       DMA_FROM_DEVICE);
		if (ret)
			return ret;
		msg->pool = pool;
		msg->cqe.done = krping_pool_recv_done;
		ret = krping_pool_post(msg);
		if (ret)
			krping_msg_free(msg, pool->pd->device, pool->len,
					DMA_FROM_DEVICE);
		else
			pool->n++;
	}
	return ret;
}

/**
 * krping_pool_join - let a session take messages from its pool
 * @s: session whose connection has a QP and is not connected
 *
 * Context: process.
 * Return: 0; or -errno if the session has not joined.
 */
int krping_pool_join(struct krping_session *s)
{
	struct krping_pool *pool = s->recv.pool;
	unsigned long flags;
	int ret;

	mutex_lock(&s->run->pools_lock);
	ret = krping_pool_fill_locked(s->run, pool,
				      (pool->nsessions + 1) * s->recv.n);
	if (!ret) {
		spin_lock_irqsave(&pool->lock, flags);
		s->recv.qp = s->conn.cb->qp;
		list_add_tail(&s->recv.link, &pool->sessions);
		pool->nsessions++;
		spin_unlock_irqrestore(&pool->lock, flags);
	}
	mutex_unlock(&s->run->pools_lock);
	return ret;
}

/**
 * krping_pool_leave - undo krping_pool_join()
 * @s: session whose connection is drained, or that has not joined
 *
 * Context: process.
 */
void krping_pool_leave(struct krping_session *s)
{
	struct krping_pool *pool = s->recv.pool;
	unsigned long flags;

	if (!s->recv.qp)
		return;
	/*
	 * Only this task polls this CQ. Poll it once more, so that completed
	 * receives of the pool are posted again for other sessions.
	 */
	if (s->conn.direct)
		ib_process_cq_direct(s->conn.cb->qp->recv_cq, -1);
	mutex_lock(&s->run->pools_lock);
	spin_lock_irqsave(&pool->lock, flags);
	list_del(&s->recv.link);
	pool->nsessions--;
	s->recv.qp = NULL;
	spin_unlock_irqrestore(&pool->lock, flags);
	mutex_unlock(&s->run->pools_lock);
}
