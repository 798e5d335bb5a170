// SPDX-License-Identifier: GPL-2.0
/*
 * Queue pairs: create, modify, query, destroy, and their end by errors.
 *
 * A poll or a transmitter holds a QP while it uses it (ntrdma_qp_hold()), and
 * does not sleep before it puts the QP. To reset or destroy a QP,
 * ntrdma_qp_close() ends the reference of the creator, and waits for the others.
 * A post of the kernel does not hold the QP, because a consumer must not post to
 * a QP that it resets or destroys. A post of a program holds it, because another
 * thread may reset the QP. It may be preempted, but ends after a limited number of
 * requests.
 *
 * An RC QP is bound to the session of its peer when it moves to RTR, under
 * ntrdma_dev.mutex. So it either sees that the session has ended, or
 * ntrdma_qps_lost() finds it.
 */
#include <linux/random.h>
#include <linux/slab.h>
#include <rdma/ib_cache.h>

#include "emulate.h"
#include "trace.h"
#include "verbs.h"

/**
 * ntrdma_qp_hold - begin to use a QP
 * @qp: QP that cannot be freed now
 *
 * Return: false if the QP is being reset or destroyed.
 */
bool ntrdma_qp_hold(struct ntrdma_qp *qp)
{
	return refcount_inc_not_zero(&qp->users);
}

/**
 * ntrdma_qp_put - end the use of a QP
 * @qp: QP
 */
void ntrdma_qp_put(struct ntrdma_qp *qp)
{
	if (refcount_dec_and_test(&qp->users))
		complete(&qp->unused);
}

/**
 * ntrdma_qp_get - find a QP and begin to use it
 * @dev: device
 * @number: number of the QP
 *
 * The lock of the xarray keeps the QP from being freed before it is held.
 *
 * Context: bottom halves are disabled.
 * Return: QP, or NULL.
 */
struct ntrdma_qp *ntrdma_qp_get(struct ntrdma_dev *dev, u32 number)
{
	struct ntrdma_qp *qp;

	xa_lock(&dev->qps);
	qp = xa_load(&dev->qps, number);
	if (qp && !ntrdma_qp_hold(qp))
		qp = NULL;
	xa_unlock(&dev->qps);
	return qp;
}

/**
 * ntrdma_qp_event - raise an event of a QP
 * @qp: QP
 * @event: event
 *
 * Context: any; no spinlock of the module is held, because the handler may post.
 */
void ntrdma_qp_event(struct ntrdma_qp *qp, enum ib_event_type event)
{
	struct ib_event e = {
		.device = &qp->dev->ib,
		.element.qp = &qp->ib,
		.event = event,
	};

	if (qp->ib.event_handler)
		qp->ib.event_handler(&e, qp->ib.qp_context);
}

/*
 * Set the state after all members that depend on it, because polls read the
 * state without the lock.
 */
static void ntrdma_qp_set_state(struct ntrdma_qp *qp, enum ib_qp_state state)
{
	lockdep_assert_held(&qp->lock);
	trace_ntrdma_qp_state(qp->dev->ib.index, qp->number, qp->state, state);
	smp_store_release(&qp->state, state); /* ntrdma_take_rc() */
}

/**
 * ntrdma_qp_set_error - move a QP to the error state, without further steps
 * @qp: QP
 * @status: status of its oldest send request
 *
 * Context: ntrdma_qp.lock is held.
 * Return: false if the QP was in the error state or in RESET.
 */
bool ntrdma_qp_set_error(struct ntrdma_qp *qp, enum ib_wc_status status)
{
	lockdep_assert_held(&qp->lock);
	if (qp->state == IB_QPS_RESET || qp->state == IB_QPS_ERR)
		return false;
	ntrdma_qp_set_state(qp, IB_QPS_ERR);
	qp->first_error = status;
	qp->flushing = true;
	return true;
}

/**
 * ntrdma_qp_fail - move a QP to the error state
 * @qp: QP
 * @status: status of its oldest send request
 * @event: event to raise, or 0
 *
 * Context: as ntrdma_qp_event().
 */
void ntrdma_qp_fail(struct ntrdma_qp *qp, enum ib_wc_status status,
		    enum ib_event_type event)
{
	unsigned long flags;
	bool failed;

	spin_lock_irqsave(&qp->lock, flags);
	failed = ntrdma_qp_set_error(qp, status);
	spin_unlock_irqrestore(&qp->lock, flags);
	if (!failed)
		return;
	ntrdma_lane_finish(qp);
	if (event)
		ntrdma_qp_event(qp, event);
}

static void ntrdma_qp_unbind(struct ntrdma_qp *qp)
{
	unsigned long flags;

	spin_lock_irqsave(&qp->lock, flags);
	rcu_assign_pointer(qp->peer, NULL);
	spin_unlock_irqrestore(&qp->lock, flags);
}

/*
 * Call a function for each QP of a device. A QP that is created or destroyed
 * during this call may be omitted.
 */
static void ntrdma_qps_each(struct ntrdma_dev *dev,
			    void (*fn)(struct ntrdma_qp *qp, void *arg),
			    void *arg)
{
	unsigned long number = 0;
	struct ntrdma_qp *qp;

	for (;;) {
		local_bh_disable();
		xa_lock(&dev->qps);
		qp = xa_find(&dev->qps, &number, ULONG_MAX, XA_PRESENT);
		if (!qp) {
			xa_unlock(&dev->qps);
			local_bh_enable();
			return;
		}
		if (!ntrdma_qp_hold(qp)) {
			xa_unlock(&dev->qps);
			local_bh_enable();
			number++;
			continue;
		}
		xa_unlock(&dev->qps);
		fn(qp, arg);
		ntrdma_qp_put(qp);
		local_bh_enable();
		number++;
	}
}

static void ntrdma_qp_lost(struct ntrdma_qp *qp, void *peer)
{
	if (rcu_access_pointer(qp->peer) != peer)
		return;
	ntrdma_qp_unbind(qp);
	ntrdma_qp_fail(qp, IB_WC_RETRY_EXC_ERR, IB_EVENT_QP_FATAL);
}

/**
 * ntrdma_qps_lost - end the connections of a session
 * @peer: peer whose session has ended
 *
 * Context: ntrdma_dev.mutex is held, and no lane uses the session any more.
 */
void ntrdma_qps_lost(struct ntrdma_peer *peer)
{
	lockdep_assert_held(&peer->dev->mutex);
	ntrdma_qps_each(peer->dev, ntrdma_qp_lost, peer);
}

/* Time without an answer after which a QP with a request in flight ends. */
static unsigned long ntrdma_qp_patience(const struct ntrdma_qp *qp,
					u32 dead_ms)
{
	u64 ns = ntrdma_timeout_ns(qp->attr.timeout) * (qp->attr.retry_cnt + 1);

	/* A peer that stands still for less than dead_ms is not lost. */
	return nsecs_to_jiffies(max_t(u64, ns, (u64)dead_ms * NSEC_PER_MSEC)) +
	       msecs_to_jiffies(2 * qp->dev->beat_ms);
}

static bool ntrdma_qp_is_stalled(struct ntrdma_qp *qp, u32 dead_ms)
{
	struct ntrdma_sq *sq = &qp->sq;

	lockdep_assert_held(&qp->lock);
	if (qp->state != IB_QPS_RTS || !qp->attr.timeout || sq->waiting ||
	    sq->send_msn == sq->acked)
		return false;
	return time_after(jiffies,
			  sq->heard + ntrdma_qp_patience(qp, dead_ms));
}

static void ntrdma_qp_tick(struct ntrdma_qp *qp, void *arg)
{
	const u32 *dead_ms = arg;
	unsigned long flags;
	bool stalled;

	ntrdma_upost_tick(qp);
	if (qp->ib.qp_type != IB_QPT_RC)
		return;
	spin_lock_irqsave(&qp->lock, flags);
	stalled = ntrdma_qp_is_stalled(qp, *dead_ms);
	spin_unlock_irqrestore(&qp->lock, flags);
	if (stalled)
		ntrdma_qp_fail(qp, IB_WC_RETRY_EXC_ERR, IB_EVENT_QP_FATAL);
}

/**
 * ntrdma_qps_tick - end connections whose peer does not answer
 * @dev: device
 * @dead_ms: minimum time without an answer, in ms
 *
 * A session lives while the peer's kernel is alive, even if the QP at the other
 * end does not answer.
 *
 * Context: process.
 */
void ntrdma_qps_tick(struct ntrdma_dev *dev, u32 dead_ms)
{
	ntrdma_qps_each(dev, ntrdma_qp_tick, &dead_ms);
}

/**
 * struct ntrdma_choice - choice of one of the RC QPs at random
 * @seen: number of RC QPs so far
 * @number: QP that is chosen among them
 */
struct ntrdma_choice {
	u32 seen;
	u32 number;
};

static void ntrdma_qp_choose(struct ntrdma_qp *qp, void *arg)
{
	struct ntrdma_choice *choice = arg;

	if (qp->ib.qp_type == IB_QPT_RC && READ_ONCE(qp->state) == IB_QPS_RTS &&
	    !(get_random_u32() % ++choice->seen))
		choice->number = qp->number;
}

/**
 * ntrdma_qps_fail_one - let a connection fail, for fault_ms=
 * @dev: device
 *
 * Context: process.
 */
void ntrdma_qps_fail_one(struct ntrdma_dev *dev)
{
	struct ntrdma_choice choice = {};
	struct ntrdma_qp *qp = NULL;

	ntrdma_qps_each(dev, ntrdma_qp_choose, &choice);
	local_bh_disable();
	if (choice.seen)
		qp = ntrdma_qp_get(dev, choice.number);
	if (qp) {
		ntrdma_qp_fail(qp, IB_WC_WR_FLUSH_ERR, IB_EVENT_QP_FATAL);
		ntrdma_qp_put(qp);
	}
	local_bh_enable();
}

static enum hrtimer_restart ntrdma_qp_timer(struct hrtimer *timer)
{
	struct ntrdma_qp *qp = container_of(timer, struct ntrdma_qp, timer);
	unsigned long flags;

	spin_lock_irqsave(&qp->lock, flags);
	qp->sq.waiting = false;
	qp->sq.rnr_wait = false;
	qp->sq.heard = jiffies;
	spin_unlock_irqrestore(&qp->lock, flags);
	ntrdma_lane_kick(qp);
	return HRTIMER_NORESTART;
}

static int ntrdma_qp_check(const struct ntrdma_dev *dev,
			   const struct ib_qp_init_attr *init,
			   const struct ib_udata *udata)
{
	const struct ib_device_attr *limit = &dev->ib.attrs;
	const struct ib_qp_cap *cap = &init->cap;

	if (init->create_flags)
		return -EOPNOTSUPP;
	if (init->qp_type != IB_QPT_RC && init->qp_type != IB_QPT_UD &&
	    (udata || init->qp_type != IB_QPT_GSI))
		return -EOPNOTSUPP;
	if (!init->send_cq || !init->recv_cq)
		return -EINVAL;
	if (cap->max_send_wr > limit->max_qp_wr ||
	    cap->max_recv_wr > limit->max_qp_wr ||
	    cap->max_send_sge > limit->max_send_sge ||
	    cap->max_recv_sge > limit->max_recv_sge ||
	    cap->max_inline_data > ntrdma_emulate_inline())
		return -EINVAL;
	return 0;
}

/* Set up the memory of the send queue. Inline data shares that of the SGEs. */
static int ntrdma_sq_init(struct ntrdma_sq *sq,
			  const struct ib_qp_init_attr *init, int node)
{
	u32 per_wr = max_t(u32, init->cap.max_send_sge,
			   DIV_ROUND_UP(init->cap.max_inline_data,
					sizeof(struct ib_sge)));
	u32 i;

	sq->max_wr = max(init->cap.max_send_wr, 1U);
	sq->max_sge = init->cap.max_send_sge;
	sq->max_inline = init->cap.max_inline_data;
	sq->sig_all = init->sq_sig_type == IB_SIGNAL_ALL_WR;
	sq->size = roundup_pow_of_two(sq->max_wr);
	per_wr = max(per_wr, 1U);
	sq->wqe = kvzalloc_node(array_size(sq->size, sizeof(*sq->wqe)),
				GFP_KERNEL_ACCOUNT, node);
	sq->sge = kvzalloc_node(array3_size(sq->size, per_wr, sizeof(*sq->sge)),
				GFP_KERNEL_ACCOUNT, node);
	sq->by_msn = kvzalloc_node(array_size(sq->size, sizeof(*sq->by_msn)),
				   GFP_KERNEL_ACCOUNT, node);
	if (!sq->wqe || !sq->sge || !sq->by_msn)
		return -ENOMEM;
	for (i = 0; i < sq->size; i++) {
		sq->wqe[i].sge = sq->sge + (size_t)i * per_wr;
		sq->wqe[i].data = (u8 *)sq->wqe[i].sge;
	}
	return 0;
}

/*
 * Create the queues that a program shares. Its library puts the data of an inline
 * request in the place of the SGEs.
 */
static int ntrdma_qp_share(struct ntrdma_qp *qp, struct ib_qp_init_attr *init,
			   struct ib_udata *udata)
{
	struct rxe_create_qp_resp answer = {};
	struct ib_qp_cap *cap = &init->cap;
	struct ntrdma_sq *sq = &qp->sq;
	int err;

	sq->copy = kmalloc(sizeof(*sq->copy), GFP_KERNEL_ACCOUNT);
	if (!sq->copy)
		return -ENOMEM;
	cap->max_send_sge = max(cap->max_send_sge, 1U);
	sq->user = ntrdma_uqueue_create(udata, cap->max_send_wr,
					ntrdma_uwr_bytes(cap->max_send_sge,
							 cap->max_inline_data),
					&answer.sq_mi);
	if (IS_ERR(sq->user)) {
		err = PTR_ERR(sq->user);
		sq->user = NULL;
		return err;
	}
	cap->max_send_wr = sq->user->mask;
	if (!qp->srq) {
		err = ntrdma_rq_init_user(&qp->rq, udata, &cap->max_recv_wr,
					  cap->max_recv_sge, &answer.rq_mi);
		if (err)
			return err;
	}
	return ntrdma_respond(udata, &answer, sizeof(answer));
}

static int ntrdma_qp_queues(struct ntrdma_qp *qp, struct ib_qp_init_attr *init,
			    struct ib_udata *udata)
{
	int node = ibdev_to_node(&qp->dev->ib);
	u32 recv_sge;
	int err = 0;

	if (udata)
		err = ntrdma_qp_share(qp, init, udata);
	else if (!qp->srq)
		err = ntrdma_rq_init(&qp->rq, init->cap.max_recv_wr,
				     init->cap.max_recv_sge, node);
	if (err)
		return err;
	err = ntrdma_sq_init(&qp->sq, init, node);
	if (err)
		return err;
	recv_sge = max(qp->srq ? qp->srq->rq.max_sge : qp->rq.max_sge, 1U);
	qp->resp.sge = kcalloc_node(recv_sge, sizeof(*qp->resp.sge), GFP_KERNEL,
				    node);
	return qp->resp.sge ? 0 : -ENOMEM;
}

static void ntrdma_qp_free(struct ntrdma_qp *qp)
{
	ntrdma_uqueue_free(qp->sq.user);
	kfree(qp->sq.copy);
	kvfree(qp->sq.wqe);
	kvfree(qp->sq.sge);
	kvfree(qp->sq.by_msn);
	ntrdma_rq_free(&qp->rq);
	kfree(qp->resp.sge);
	kfree(qp->resp.answer);
}

/* Give the QP a number. QP 1 is found by ntrdma_dev.gsi. */
static int ntrdma_qp_publish(struct ntrdma_qp *qp)
{
	struct ntrdma_dev *dev = qp->dev;
	int err;

	if (qp->ib.qp_type == IB_QPT_GSI) {
		qp->number = 1;
		err = xa_insert_bh(&dev->qps, qp->number, qp, GFP_KERNEL);
	} else {
		err = xa_alloc_cyclic_bh(&dev->qps, &qp->number, qp,
					 XA_LIMIT(2, NTRDMA_NUMBER_MASK),
					 &dev->next_qp, GFP_KERNEL);
	}
	if (err < 0)
		return err;
	qp->ib.qp_num = qp->number;
	return 0;
}

static void ntrdma_qp_prepare(struct ntrdma_qp *qp,
			      const struct ib_qp_init_attr *init)
{
	qp->dev = to_ntrdma_dev(qp->ib.device);
	qp->lane = &qp->dev->lane[0];
	qp->state = IB_QPS_RESET;
	qp->srq = init->srq ? to_ntrdma_srq(init->srq) : NULL;
	mutex_init(&qp->modify);
	spin_lock_init(&qp->lock);
	refcount_set(&qp->users, 1);
	init_completion(&qp->unused);
	INIT_LIST_HEAD(&qp->tx_entry);
	INIT_LIST_HEAD(&qp->fin_entry);
	INIT_LIST_HEAD(&qp->srq_entry);
	hrtimer_setup(&qp->timer, ntrdma_qp_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_SOFT);
}

/**
 * ntrdma_create_qp - create a QP
 * @ib: the core's QP
 * @init: attributes
 * @udata: NULL, or the program
 *
 * Context: may sleep.
 * Return: 0; -EOPNOTSUPP: type or flag that the device does not have; -EINVAL:
 * a limit is exceeded; -ENOSPC: too many QPs; -ENOMEM; -EFAULT.
 */
int ntrdma_create_qp(struct ib_qp *ib, struct ib_qp_init_attr *init,
		     struct ib_udata *udata)
{
	struct ntrdma_qp *qp = to_ntrdma_qp(ib);
	struct ntrdma_dev *dev = to_ntrdma_dev(ib->device);
	int err;

	err = ntrdma_qp_check(dev, init, udata);
	if (err)
		return err;
	if (!atomic_add_unless(&dev->num_qps, 1, NTRDMA_MAX_QP))
		return -ENOSPC;
	ntrdma_qp_prepare(qp, init);
	err = ntrdma_qp_queues(qp, init, udata);
	qp->attr.cap = init->cap;
	if (!err)
		err = ntrdma_qp_publish(qp);
	if (err) {
		ntrdma_qp_free(qp);
		atomic_dec(&dev->num_qps);
	}
	return err;
}

/*
 * End all use of a QP by polls and transmitters. When no user is left, only a
 * list of the lane may still refer to the QP, because the lane forgets a QP
 * only when it finds that it cannot hold it.
 */
static void ntrdma_qp_close(struct ntrdma_qp *qp)
{
	unsigned long flags;

	spin_lock_irqsave(&qp->lock, flags);
	qp->closed = true;
	ntrdma_qp_set_state(qp, IB_QPS_RESET);
	rcu_assign_pointer(qp->peer, NULL);
	spin_unlock_irqrestore(&qp->lock, flags);
	hrtimer_cancel(&qp->timer);
	ntrdma_qp_put(qp);
	wait_for_completion(&qp->unused);
	ntrdma_lane_forget(qp);
	if (qp->srq)
		ntrdma_srq_forget(qp);
	ntrdma_cq_settle(to_ntrdma_cq(qp->ib.send_cq));
	ntrdma_cq_settle(to_ntrdma_cq(qp->ib.recv_cq));
}

static void ntrdma_qp_clear(struct ntrdma_qp *qp)
{
	struct ntrdma_sq *sq = &qp->sq;
	struct ntrdma_resp *resp = &qp->resp;

	sq->head = 0;
	sq->next = 0;
	sq->tail = 0;
	sq->kept = 0;
	sq->read = 0;
	sq->sent = 0;
	sq->reads = 0;
	sq->data_offset = 0;
	sq->post_msn = 0;
	sq->send_msn = 0;
	sq->acked = 0;
	sq->stuck = false;
	sq->failed = false;
	sq->waiting = false;
	sq->rnr_wait = false;
	if (sq->user)
		ntrdma_uqueue_drop(sq->user);
	ntrdma_rq_drop(&qp->rq);
	kfree(resp->answer);
	*resp = (struct ntrdma_resp){ .sge = resp->sge };
	qp->flushing = false;
	qp->flushed = 0;
	qp->last_wqe = false;
	qp->has_event = false;
	qp->first_error = IB_WC_SUCCESS;
}

/* Drop all requests of a QP without completions. The caller is its only user. */
static void ntrdma_qp_reset(struct ntrdma_qp *qp)
{
	unsigned long flags;

	ntrdma_qp_close(qp);
	spin_lock_irqsave(&qp->lock, flags);
	ntrdma_qp_clear(qp);
	reinit_completion(&qp->unused);
	qp->lane = &qp->dev->lane[0];
	qp->closed = false;
	refcount_set(&qp->users, 1);
	spin_unlock_irqrestore(&qp->lock, flags);
}

static int ntrdma_modify_check(const struct ntrdma_dev *dev,
			       const struct ib_qp_attr *attr, int mask)
{
	u32 reads = dev->ib.attrs.max_qp_rd_atom;

	if (mask & IB_QP_MAX_QP_RD_ATOMIC && attr->max_rd_atomic > reads)
		return -EINVAL;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC && attr->max_dest_rd_atomic > reads)
		return -EINVAL;
	if (mask & IB_QP_PORT && attr->port_num != 1)
		return -EINVAL;
	if (mask & IB_QP_PKEY_INDEX && attr->pkey_index)
		return -EINVAL;
	if (mask & IB_QP_TIMEOUT && attr->timeout > 31)
		return -EINVAL;
	if (mask & IB_QP_MIN_RNR_TIMER && attr->min_rnr_timer > 31)
		return -EINVAL;
	if (mask & IB_QP_RETRY_CNT && attr->retry_cnt > 7)
		return -EINVAL;
	if (mask & IB_QP_RNR_RETRY && attr->rnr_retry > 7)
		return -EINVAL;
	if (mask & IB_QP_PATH_MTU && ib_mtu_enum_to_int(attr->path_mtu) < 0)
		return -EINVAL;
	if (mask & (IB_QP_ALT_PATH | IB_QP_PATH_MIG_STATE | IB_QP_CAP))
		return -EOPNOTSUPP;
	return 0;
}

/* Copy the attributes that the mask names. */
static void ntrdma_qp_attr(struct ntrdma_qp *qp, const struct ib_qp_attr *attr,
			   int mask)
{
	struct ib_qp_attr *to = &qp->attr;

	if (mask & IB_QP_PORT)
		to->port_num = attr->port_num;
	if (mask & IB_QP_QKEY)
		to->qkey = attr->qkey;
	if (mask & IB_QP_ACCESS_FLAGS)
		to->qp_access_flags = attr->qp_access_flags;
	if (mask & IB_QP_PATH_MTU)
		to->path_mtu = attr->path_mtu;
	if (mask & IB_QP_TIMEOUT)
		to->timeout = attr->timeout;
	if (mask & IB_QP_RETRY_CNT)
		to->retry_cnt = attr->retry_cnt;
	if (mask & IB_QP_RNR_RETRY)
		to->rnr_retry = attr->rnr_retry;
	if (mask & IB_QP_MIN_RNR_TIMER)
		to->min_rnr_timer = attr->min_rnr_timer;
	if (mask & IB_QP_MAX_QP_RD_ATOMIC)
		to->max_rd_atomic = attr->max_rd_atomic;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC)
		to->max_dest_rd_atomic = attr->max_dest_rd_atomic;
	if (mask & IB_QP_DEST_QPN)
		to->dest_qp_num = attr->dest_qp_num & NTRDMA_NUMBER_MASK;
	if (mask & IB_QP_RQ_PSN)
		to->rq_psn = attr->rq_psn & NTRDMA_NUMBER_MASK;
	if (mask & IB_QP_SQ_PSN)
		to->sq_psn = attr->sq_psn & NTRDMA_NUMBER_MASK;
}

/* Prepare the requester and the responder for the first message. */
static void ntrdma_qp_start(struct ntrdma_qp *qp, enum ib_qp_state state)
{
	struct ntrdma_sq *sq = &qp->sq;

	lockdep_assert_held(&qp->lock);
	if (state == IB_QPS_RTR) {
		qp->resp.msn = qp->attr.rq_psn;
		qp->resp.done = ntrdma_msn_add(qp->attr.rq_psn, -1);
		qp->resp.dropping = true;
	} else if (state == IB_QPS_RTS && qp->state == IB_QPS_RTR) {
		sq->post_msn = qp->attr.sq_psn;
		sq->send_msn = qp->attr.sq_psn;
		sq->acked = qp->attr.sq_psn;
		sq->rnr_left = qp->attr.rnr_retry;
		sq->retry_left = qp->attr.retry_cnt;
	}
}

/* Bind an RC QP to the session of the peer that its address names. */
static int ntrdma_qp_bind(struct ntrdma_qp *qp, const struct ib_qp_attr *attr,
			  int mask)
{
	struct ntrdma_dev *dev = qp->dev;
	u32 dest = attr->dest_qp_num & NTRDMA_NUMBER_MASK;
	struct ntrdma_answer *answer;
	struct ntrdma_peer *peer;
	unsigned long flags;

	answer = kcalloc(NTRDMA_MAX_READS, sizeof(*answer), GFP_KERNEL);
	if (!answer)
		return -ENOMEM;
	mutex_lock(&dev->mutex);
	rcu_read_lock();
	peer = ntrdma_peer_by_mac(dev, attr->ah_attr.roce.dmac);
	rcu_read_unlock();
	if (!peer) {
		mutex_unlock(&dev->mutex);
		kfree(answer);
		return -EHOSTUNREACH;
	}
	spin_lock_irqsave(&qp->lock, flags);
	/* The QP may have failed since its state was checked. */
	if (qp->state != IB_QPS_INIT) {
		spin_unlock_irqrestore(&qp->lock, flags);
		mutex_unlock(&dev->mutex);
		kfree(answer);
		return -EINVAL;
	}
	kfree(qp->resp.answer);
	qp->resp.answer = answer;
	qp->resp.max_answers = attr->max_dest_rd_atomic;
	qp->lane = &dev->lane[(qp->number ^ dest) % peer->session.terms.lanes];
	rcu_assign_pointer(qp->peer, peer);
	ntrdma_qp_attr(qp, attr, mask);
	ntrdma_qp_start(qp, IB_QPS_RTR);
	ntrdma_qp_set_state(qp, IB_QPS_RTR);
	spin_unlock_irqrestore(&qp->lock, flags);
	mutex_unlock(&dev->mutex);
	return 0;
}

/* Keep the address for ib_query_qp(). */
static void ntrdma_qp_set_av(struct ntrdma_qp *qp,
			     const struct ib_qp_attr *attr, int mask)
{
	unsigned long flags;

	if (!(mask & IB_QP_AV))
		return;
	spin_lock_irqsave(&qp->lock, flags);
	rdma_replace_ah_attr(&qp->attr.ah_attr, &attr->ah_attr);
	spin_unlock_irqrestore(&qp->lock, flags);
}

static int ntrdma_qp_modify(struct ntrdma_qp *qp, struct ib_qp_attr *attr,
			    int mask)
{
	enum ib_qp_state from = mask & IB_QP_CUR_STATE ? attr->cur_qp_state :
							 READ_ONCE(qp->state);
	enum ib_qp_state to = mask & IB_QP_STATE ? attr->qp_state : from;
	unsigned long flags;
	int err;

	lockdep_assert_held(&qp->modify);
	if (mask & ~IB_QP_ATTR_STANDARD_BITS ||
	    to == IB_QPS_SQD || to == IB_QPS_SQE)
		return -EOPNOTSUPP;
	if (!ib_modify_qp_is_ok(from, to, qp->ib.qp_type, mask))
		return -EINVAL;
	err = ntrdma_modify_check(qp->dev, attr, mask);
	if (err)
		return err;
	if (to == IB_QPS_RESET) {
		ntrdma_qp_reset(qp);
		return 0;
	}
	if (to == IB_QPS_ERR) {
		ntrdma_qp_fail(qp, IB_WC_WR_FLUSH_ERR, 0);
		return 0;
	}
	if (to == IB_QPS_RTR && from == IB_QPS_INIT &&
	    qp->ib.qp_type == IB_QPT_RC) {
		err = ntrdma_qp_bind(qp, attr, mask);
		if (!err)
			ntrdma_qp_set_av(qp, attr, mask);
		return err;
	}
	spin_lock_irqsave(&qp->lock, flags);
	/* The QP may have failed since its state was checked. */
	if (qp->state == from) {
		ntrdma_qp_attr(qp, attr, mask);
		ntrdma_qp_start(qp, to);
		ntrdma_qp_set_state(qp, to);
	} else {
		err = -EINVAL;
	}
	spin_unlock_irqrestore(&qp->lock, flags);
	if (!err)
		ntrdma_qp_set_av(qp, attr, mask);
	return err;
}

/**
 * ntrdma_modify_qp - change attributes of a QP
 * @ib: the core's QP
 * @attr: attributes
 * @mask: which of them count
 * @udata: ignored
 *
 * Context: may sleep. Threads of a program may call it for the same QP at once.
 * Return: 0; -EINVAL: invalid transition or attribute; -EOPNOTSUPP: state or
 * attribute that the device does not have; -EHOSTUNREACH: no link to the peer;
 * -ENOMEM.
 */
int ntrdma_modify_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask,
		     struct ib_udata *udata)
{
	struct ntrdma_qp *qp = to_ntrdma_qp(ib);
	int err;

	mutex_lock(&qp->modify);
	err = ntrdma_qp_modify(qp, attr, mask);
	mutex_unlock(&qp->modify);
	return err;
}

/**
 * ntrdma_query_qp - return the attributes of a QP
 * @ib: the core's QP
 * @attr: result
 * @mask: ignored; all attributes are returned
 * @init: result
 *
 * Context: may sleep.
 * Return: 0.
 */
int ntrdma_query_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask,
		    struct ib_qp_init_attr *init)
{
	struct ntrdma_qp *qp = to_ntrdma_qp(ib);
	unsigned long flags;

	spin_lock_irqsave(&qp->lock, flags);
	*attr = qp->attr;
	attr->qp_state = qp->state;
	attr->cur_qp_state = qp->state;
	/* The caller gets no reference. */
	attr->ah_attr.grh.sgid_attr = NULL;
	spin_unlock_irqrestore(&qp->lock, flags);
	*init = (struct ib_qp_init_attr){
		.qp_context = ib->qp_context,
		.send_cq = ib->send_cq,
		.recv_cq = ib->recv_cq,
		.srq = ib->srq,
		.cap = attr->cap,
		.sq_sig_type = qp->sq.sig_all ? IB_SIGNAL_ALL_WR :
						IB_SIGNAL_REQ_WR,
		.qp_type = ib->qp_type,
		.event_handler = ib->event_handler,
	};
	return 0;
}

/**
 * ntrdma_destroy_qp - destroy a QP
 * @ib: the core's QP
 * @udata: ignored
 *
 * Context: may sleep, until polls and transmitters have released the QP.
 * Return: 0.
 */
int ntrdma_destroy_qp(struct ib_qp *ib, struct ib_udata *udata)
{
	struct ntrdma_qp *qp = to_ntrdma_qp(ib);

	xa_erase_bh(&qp->dev->qps, qp->number);
	ntrdma_qp_close(qp);
	rdma_destroy_ah_attr(&qp->attr.ah_attr);
	ntrdma_qp_free(qp);
	atomic_dec(&qp->dev->num_qps);
	return 0;
}
