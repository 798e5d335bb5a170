// SPDX-License-Identifier: GPL-2.0
/*
 * Receive queues of QPs, and shared receive queues.
 *
 * A receive is copied when it is posted. The responder copies it once more when
 * a message needs it, so its entry in the ring is free from then on. A program
 * posts receives to a queue that it shares, without a call. Such a receive is
 * copied only when a message needs it.
 */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "verbs.h"

/**
 * ntrdma_rq_init - allocate the ring of a receive queue
 * @rq: queue
 * @max_wr: number of receives, at most %NTRDMA_MAX_WR; may be 0
 * @max_sge: SGEs of each, at most %NTRDMA_MAX_SGE
 * @node: NUMA node of the memory
 *
 * The number of receives is rounded up to a power of 2.
 *
 * Context: may sleep.
 * Return: 0; -EINVAL if a number is too large; -ENOMEM.
 */
int ntrdma_rq_init(struct ntrdma_rq *rq, u32 max_wr, u32 max_sge, int node)
{
	if (max_wr > NTRDMA_MAX_WR || max_sge > NTRDMA_MAX_SGE)
		return -EINVAL;

	memset(rq, 0, sizeof(*rq));
	spin_lock_init(&rq->lock);
	if (!max_wr)
		return 0;

	rq->size = roundup_pow_of_two(max_wr);
	rq->max_sge = max_sge;
	rq->recv = kvmalloc_node(array_size(rq->size, sizeof(*rq->recv)),
				 GFP_KERNEL, node);
	rq->sge = kvmalloc_node(array3_size(rq->size, max(max_sge, 1U),
					    sizeof(*rq->sge)),
				GFP_KERNEL, node);
	if (rq->recv && rq->sge)
		return 0;

	ntrdma_rq_free(rq);
	return -ENOMEM;
}

/**
 * ntrdma_rq_init_user - create the receive queue of a program
 * @rq: queue
 * @udata: program
 * @max_wr: number of receives, at most %NTRDMA_MAX_WR; result: the number that
 *	the queue has room for
 * @max_sge: SGEs of each, at most %NTRDMA_MAX_SGE
 * @info: result: offset and length for mmap() of the program
 *
 * Context: may sleep.
 * Return: 0 or an error code.
 */
int ntrdma_rq_init_user(struct ntrdma_rq *rq, struct ib_udata *udata,
			u32 *max_wr, u32 max_sge, struct mminfo *info)
{
	struct ntrdma_uqueue *user;

	memset(rq, 0, sizeof(*rq));
	spin_lock_init(&rq->lock);
	user = ntrdma_uqueue_create(udata, *max_wr,
				    ntrdma_urecv_bytes(max_sge), info);
	if (IS_ERR(user))
		return PTR_ERR(user);
	rq->user = user;
	rq->max_sge = max_sge;
	*max_wr = user->mask;
	return 0;
}

/**
 * ntrdma_rq_free - free the ring of a receive queue
 * @rq: queue
 *
 * Context: may sleep.
 */
void ntrdma_rq_free(struct ntrdma_rq *rq)
{
	ntrdma_uqueue_free(rq->user);
	kvfree(rq->sge);
	kvfree(rq->recv);
	rq->user = NULL;
	rq->sge = NULL;
	rq->recv = NULL;
	rq->size = 0;
}

static u32 ntrdma_rq_count(const struct ntrdma_rq *rq)
{
	return rq->user ? ntrdma_uqueue_count(rq->user) : rq->head - rq->tail;
}

/**
 * ntrdma_rq_is_empty - check whether no receive is posted
 * @rq: queue
 *
 * Context: ntrdma_rq.lock is held.
 * Return: true if the queue is empty.
 */
bool ntrdma_rq_is_empty(const struct ntrdma_rq *rq)
{
	lockdep_assert_held(&rq->lock);
	return !ntrdma_rq_count(rq);
}

/**
 * ntrdma_rq_drop - remove all receives, without completions
 * @rq: queue that nothing else uses
 */
void ntrdma_rq_drop(struct ntrdma_rq *rq)
{
	rq->tail = rq->head;
	if (rq->user)
		ntrdma_uqueue_drop(rq->user);
}

/* Return the sum of the lengths of all SGEs. It may be more than 32 bits. */
static u64 ntrdma_recv_bytes(const struct ib_recv_wr *wr)
{
	u64 bytes = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++)
		bytes += wr->sg_list[i].length;
	return bytes;
}

/* Copy a receive to the head of the ring. Caller holds @rq->lock. */
static void ntrdma_rq_push(struct ntrdma_rq *rq, const struct ib_recv_wr *wr,
			   u32 bytes)
{
	u32 slot = rq->head++ & (rq->size - 1);
	struct ntrdma_recv *recv = &rq->recv[slot];

	recv->wr_id = wr->wr_id;
	recv->num_sge = wr->num_sge;
	recv->bytes = bytes;
	recv->sge = &rq->sge[(size_t)slot * rq->max_sge];
	memcpy(recv->sge, wr->sg_list, wr->num_sge * sizeof(*recv->sge));
}

/**
 * ntrdma_rq_post - post one receive
 * @rq: queue
 * @wr: receive; its successor in the list is ignored
 *
 * Context: any.
 * Return: 0; -EINVAL if the receive has too many SGEs or bytes; -ENOMEM if the
 * queue has no room.
 */
int ntrdma_rq_post(struct ntrdma_rq *rq, const struct ib_recv_wr *wr)
{
	unsigned long flags;
	int ret = -ENOMEM;
	u64 bytes;

	if (rq->user || wr->num_sge < 0 || wr->num_sge > rq->max_sge)
		return -EINVAL;
	bytes = ntrdma_recv_bytes(wr);
	if (bytes > U32_MAX)
		return -EINVAL;

	spin_lock_irqsave(&rq->lock, flags);
	if (ntrdma_rq_count(rq) < rq->size) {
		ntrdma_rq_push(rq, wr, bytes);
		ret = 0;
	}
	spin_unlock_irqrestore(&rq->lock, flags);
	return ret;
}

/* As ntrdma_rq_pop(), for the queue of a program. */
static bool ntrdma_rq_pop_user(struct ntrdma_rq *rq, struct ntrdma_recv *recv,
			       struct ib_sge *sge)
{
	const void *elem = ntrdma_uqueue_next(rq->user);

	if (!elem)
		return false;
	recv->num_sge = ntrdma_urecv_read(elem, rq->max_sge, &recv->wr_id, sge,
					  &recv->bytes);
	recv->sge = sge;
	ntrdma_uqueue_take(rq->user);
	ntrdma_uqueue_release(rq->user, 0);
	return true;
}

/* Remove the oldest receive. Caller holds @rq->lock. */
static bool ntrdma_rq_pop(struct ntrdma_rq *rq, struct ntrdma_recv *recv,
			  struct ib_sge *sge)
{
	if (rq->user)
		return ntrdma_rq_pop_user(rq, recv, sge);
	if (!ntrdma_rq_count(rq))
		return false;

	*recv = rq->recv[rq->tail++ & (rq->size - 1)];
	memcpy(sge, recv->sge, recv->num_sge * sizeof(*sge));
	recv->sge = sge;
	return true;
}

/**
 * ntrdma_rq_take - remove the oldest receive from a queue
 * @rq: queue
 * @recv: where to store the receive
 * @sge: where to store its SGEs, room for ntrdma_rq.max_sge; @recv refers to it
 *
 * Context: any.
 * Return: true; false if the queue is empty.
 */
bool ntrdma_rq_take(struct ntrdma_rq *rq, struct ntrdma_recv *recv,
		    struct ib_sge *sge)
{
	unsigned long flags;
	bool taken;

	spin_lock_irqsave(&rq->lock, flags);
	taken = ntrdma_rq_pop(rq, recv, sge);
	spin_unlock_irqrestore(&rq->lock, flags);
	return taken;
}

static int ntrdma_srq_init(struct ntrdma_srq *srq, struct ib_srq_attr *attr)
{
	int ret = ntrdma_rq_init(&srq->rq, attr->max_wr, attr->max_sge,
				 ibdev_to_node(srq->ib.device));

	srq->max_wr = srq->rq.size;
	attr->max_wr = srq->max_wr;
	return ret;
}

static int ntrdma_srq_init_user(struct ntrdma_srq *srq,
				struct ib_srq_attr *attr,
				struct ib_udata *udata)
{
	struct rxe_create_srq_resp answer = {};
	int ret;

	ret = ntrdma_rq_init_user(&srq->rq, udata, &attr->max_wr, attr->max_sge,
				  &answer.mi);
	if (ret)
		return ret;
	ret = ntrdma_respond(udata, &answer, sizeof(answer));
	if (ret)
		ntrdma_rq_free(&srq->rq);
	srq->max_wr = attr->max_wr;
	return ret;
}

/**
 * ntrdma_create_srq - create a shared receive queue
 * @ib: queue, allocated by the core
 * @init: properties; the numbers of the queue are stored there
 * @udata: NULL, or the program
 *
 * Context: may sleep.
 * Return: 0 or an error code.
 */
int ntrdma_create_srq(struct ib_srq *ib, struct ib_srq_init_attr *init,
		      struct ib_udata *udata)
{
	struct ntrdma_srq *srq = to_ntrdma_srq(ib);
	struct ntrdma_dev *dev = to_ntrdma_dev(ib->device);
	struct ib_srq_attr *attr = &init->attr;
	int ret;

	if (init->srq_type != IB_SRQT_BASIC)
		return -EOPNOTSUPP;
	if (!attr->max_wr || attr->max_wr > ib->device->attrs.max_srq_wr ||
	    attr->max_sge > ib->device->attrs.max_srq_sge)
		return -EINVAL;

	srq->limit = 0;
	INIT_LIST_HEAD(&srq->starved);
	srq->next_feed = jiffies;
	if (!atomic_add_unless(&dev->num_srqs, 1, NTRDMA_MAX_SRQ))
		return -ENOSPC;
	ret = udata ? ntrdma_srq_init_user(srq, attr, udata) :
		      ntrdma_srq_init(srq, attr);
	if (ret)
		atomic_dec(&dev->num_srqs);
	return ret;
}

/**
 * ntrdma_modify_srq - set the limit of a shared receive queue
 * @ib: queue
 * @attr: new limit; 0: no event
 * @mask: %IB_SRQ_LIMIT
 * @udata: NULL
 *
 * Context: does not sleep.
 * Return: 0; -EOPNOTSUPP if @mask requests another size; -EINVAL if the limit
 * exceeds the size.
 */
int ntrdma_modify_srq(struct ib_srq *ib, struct ib_srq_attr *attr,
		      enum ib_srq_attr_mask mask, struct ib_udata *udata)
{
	struct ntrdma_srq *srq = to_ntrdma_srq(ib);
	unsigned long flags;

	if (mask & ~IB_SRQ_LIMIT)
		return -EOPNOTSUPP;
	if (!(mask & IB_SRQ_LIMIT))
		return 0;
	if (attr->srq_limit > srq->max_wr)
		return -EINVAL;

	spin_lock_irqsave(&srq->rq.lock, flags);
	srq->limit = attr->srq_limit;
	spin_unlock_irqrestore(&srq->rq.lock, flags);
	return 0;
}

/**
 * ntrdma_query_srq - return the properties of a shared receive queue
 * @ib: queue
 * @attr: where to store them
 *
 * Context: does not sleep.
 * Return: 0.
 */
int ntrdma_query_srq(struct ib_srq *ib, struct ib_srq_attr *attr)
{
	struct ntrdma_srq *srq = to_ntrdma_srq(ib);
	unsigned long flags;

	spin_lock_irqsave(&srq->rq.lock, flags);
	attr->max_wr = srq->max_wr;
	attr->max_sge = srq->rq.max_sge;
	attr->srq_limit = srq->limit;
	spin_unlock_irqrestore(&srq->rq.lock, flags);
	return 0;
}

/**
 * ntrdma_destroy_srq - destroy a shared receive queue
 * @ib: queue; no QP uses it
 * @udata: NULL
 *
 * Context: may sleep.
 * Return: 0.
 */
int ntrdma_destroy_srq(struct ib_srq *ib, struct ib_udata *udata)
{
	ntrdma_rq_free(&to_ntrdma_srq(ib)->rq);
	atomic_dec(&to_ntrdma_dev(ib->device)->num_srqs);
	return 0;
}

/* Let one QP that waits for a receive notify its requester. */
static void ntrdma_srq_feed(struct ntrdma_srq *srq)
{
	struct ntrdma_qp *qp;
	unsigned long flags;

	spin_lock_irqsave(&srq->rq.lock, flags);
	while ((qp = list_first_entry_or_null(&srq->starved, struct ntrdma_qp,
					      srq_entry))) {
		list_del_init(&qp->srq_entry);
		if (ntrdma_qp_hold(qp))
			break;
	}
	spin_unlock_irqrestore(&srq->rq.lock, flags);
	if (!qp)
		return;
	ntrdma_qp_end_rnr(qp);
	ntrdma_qp_put(qp);
}

/**
 * ntrdma_srq_tick - look for receives that a program has posted
 * @srq: queue
 *
 * At most one QP is notified in each beat, because there may be fewer receives
 * than QPs that wait, and a requester repeats its message only a limited number
 * of times.
 *
 * Context: any; no lock is held.
 */
void ntrdma_srq_tick(struct ntrdma_srq *srq)
{
	u32 beat_ms = to_ntrdma_dev(srq->ib.device)->beat_ms;
	unsigned long flags;
	bool feed;

	if (!srq->rq.user)
		return;
	spin_lock_irqsave(&srq->rq.lock, flags);
	feed = time_after_eq(jiffies, srq->next_feed) &&
	       !list_empty(&srq->starved) && !ntrdma_rq_is_empty(&srq->rq);
	if (feed)
		srq->next_feed = jiffies + msecs_to_jiffies(beat_ms);
	spin_unlock_irqrestore(&srq->rq.lock, flags);
	if (feed)
		ntrdma_srq_feed(srq);
}

/**
 * ntrdma_post_srq_recv - post receives to a shared receive queue
 * @ib: queue
 * @wr: list of receives
 * @bad: where to store the first receive that is not posted
 *
 * Context: any.
 * Return: 0 or an error code; -EINVAL: a program posts to its queue.
 */
int ntrdma_post_srq_recv(struct ib_srq *ib, const struct ib_recv_wr *wr,
			 const struct ib_recv_wr **bad)
{
	struct ntrdma_srq *srq = to_ntrdma_srq(ib);
	int ret;

	for (; wr; wr = wr->next) {
		ret = ntrdma_rq_post(&srq->rq, wr);
		if (ret) {
			*bad = wr;
			return ret;
		}
		ntrdma_srq_feed(srq);
	}
	return 0;
}

/**
 * ntrdma_srq_forget - take a QP off the list of those that wait for a receive
 * @qp: QP with an SRQ, without users
 *
 * Context: process.
 */
void ntrdma_srq_forget(struct ntrdma_qp *qp)
{
	unsigned long flags;

	spin_lock_irqsave(&qp->srq->rq.lock, flags);
	list_del_init(&qp->srq_entry);
	spin_unlock_irqrestore(&qp->srq->rq.lock, flags);
}

static void ntrdma_srq_event(struct ntrdma_srq *srq)
{
	struct ib_event event = {
		.device = srq->ib.device,
		.element.srq = &srq->ib,
		.event = IB_EVENT_SRQ_LIMIT_REACHED,
	};

	if (srq->ib.event_handler)
		srq->ib.event_handler(&event, srq->ib.srq_context);
}

/**
 * ntrdma_srq_take - remove the oldest receive from a shared receive queue
 * @srq: queue
 * @recv: where to store the receive
 * @sge: where to store its SGEs, room for ntrdma_rq.max_sge; @recv refers to it
 *
 * If fewer receives than the limit are left, the event is raised once, and the
 * limit is 0 from then on.
 *
 * Context: does not sleep. The caller holds no lock, because the consumer's
 * event handler may be called.
 * Return: true; false if the queue is empty.
 */
bool ntrdma_srq_take(struct ntrdma_srq *srq, struct ntrdma_recv *recv,
		     struct ib_sge *sge)
{
	struct ntrdma_rq *rq = &srq->rq;
	unsigned long flags;
	bool taken, reached;

	spin_lock_irqsave(&rq->lock, flags);
	taken = ntrdma_rq_pop(rq, recv, sge);
	reached = taken && ntrdma_rq_count(rq) < srq->limit;
	if (reached)
		srq->limit = 0;
	spin_unlock_irqrestore(&rq->lock, flags);

	if (reached)
		ntrdma_srq_event(srq);
	return taken;
}
