// SPDX-License-Identifier: GPL-2.0
/*
 * Completion queues.
 *
 * A QP adds its completions under ntrdma_qp.lock, and calls the consumer's
 * handler after it has released all locks. The QP belongs to the queue until it
 * is destroyed, so the queue exists during the call.
 *
 * With late_us=, a timer shows completions and calls the handler. A QP shows
 * them before it is destroyed, so consumers see the same guarantees.
 *
 * A program takes completions from a queue that it shares; late_us= does not
 * concern these queues.
 */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "emulate.h"
#include "verbs.h"

static enum hrtimer_restart ntrdma_cq_timer(struct hrtimer *timer);

/* The number of entries is a power of 2, so that the indexes may wrap. */
static int ntrdma_cq_init(struct ntrdma_cq *cq, u32 cqe)
{
	cq->size = roundup_pow_of_two(cqe);
	cq->wc = kvmalloc_node(array_size(cq->size, sizeof(*cq->wc)),
			       GFP_KERNEL, ibdev_to_node(cq->ib.device));
	if (!cq->wc)
		return -ENOMEM;
	cq->ib.cqe = cq->size;
	return 0;
}

static int ntrdma_cq_init_user(struct ntrdma_cq *cq, u32 cqe,
			       struct ib_udata *udata)
{
	struct rxe_create_cq_resp answer = {};
	int ret;

	cq->user = ntrdma_uqueue_create(udata, cqe, sizeof(struct ib_uverbs_wc),
					&answer.mi);
	if (IS_ERR(cq->user))
		return PTR_ERR(cq->user);
	ret = ntrdma_respond(udata, &answer, sizeof(answer));
	if (ret) {
		ntrdma_uqueue_free(cq->user);
		return ret;
	}
	cq->ib.cqe = cq->user->mask;
	return 0;
}

/**
 * ntrdma_create_cq - create a completion queue
 * @ib: queue, allocated by the core
 * @init: properties
 * @attrs: NULL, or the program
 *
 * Context: may sleep.
 * Return: 0 or an error code.
 */
int ntrdma_create_cq(struct ib_cq *ib, const struct ib_cq_init_attr *init,
		     KRDMA_CREATE_CQ_ATTRS attrs)
{
	struct ib_udata *udata = krdma_cq_udata(attrs);
	struct ntrdma_dev *dev = to_ntrdma_dev(ib->device);
	struct ntrdma_cq *cq = to_ntrdma_cq(ib);
	int ret;

	if (init->flags)
		return -EOPNOTSUPP;
	if (!init->cqe || init->cqe > NTRDMA_MAX_CQE ||
	    init->comp_vector >= ib->device->num_comp_vectors)
		return -EINVAL;

	spin_lock_init(&cq->lock);
	hrtimer_setup(&cq->timer, ntrdma_cq_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_SOFT);
	if (!atomic_add_unless(&dev->num_cqs, 1, NTRDMA_MAX_CQ))
		return -ENOSPC;
	ret = udata ? ntrdma_cq_init_user(cq, init->cqe, udata) :
		      ntrdma_cq_init(cq, init->cqe);
	if (ret)
		atomic_dec(&dev->num_cqs);
	return ret;
}

/**
 * ntrdma_destroy_cq - destroy a completion queue
 * @ib: queue; no QP uses it
 * @udata: ignored
 *
 * Context: may sleep.
 * Return: 0.
 */
int ntrdma_destroy_cq(struct ib_cq *ib, struct ib_udata *udata)
{
	struct ntrdma_cq *cq = to_ntrdma_cq(ib);
	struct ntrdma_uqueue *user;
	unsigned long flags;

	hrtimer_cancel(&cq->timer);
	/* ntrdma_fill_res_cq() may still look at the queue. */
	spin_lock_irqsave(&cq->lock, flags);
	user = cq->user;
	cq->user = NULL;
	spin_unlock_irqrestore(&cq->lock, flags);
	ntrdma_uqueue_free(user);
	kvfree(cq->wc);
	atomic_dec(&to_ntrdma_dev(ib->device)->num_cqs);
	return 0;
}

/* Return the number of completions that the consumer can poll. */
static u32 ntrdma_cq_count(const struct ntrdma_cq *cq)
{
	return cq->user ? ntrdma_uqueue_added(cq->user) : cq->shown - cq->tail;
}

/**
 * ntrdma_poll_cq - remove completions from the queue
 * @ib: queue
 * @num: maximum number of completions
 * @wc: where to store the completions
 *
 * Context: any.
 * Return: number of completions; -EINVAL: a program takes them from its queue.
 */
int ntrdma_poll_cq(struct ib_cq *ib, int num, struct ib_wc *wc)
{
	struct ntrdma_cq *cq = to_ntrdma_cq(ib);
	unsigned long flags;
	int done = 0;

	if (cq->user)
		return -EINVAL;
	spin_lock_irqsave(&cq->lock, flags);
	while (done < num && ntrdma_cq_count(cq))
		wc[done++] = cq->wc[cq->tail++ & (cq->size - 1)];
	spin_unlock_irqrestore(&cq->lock, flags);
	return done;
}

/**
 * ntrdma_req_notify_cq - arm the queue
 * @ib: queue
 * @flags: events to wait for, and %IB_CQ_REPORT_MISSED_EVENTS
 *
 * A queue that is armed for any completion stays so until its handler is
 * called, even if it is armed again for solicited ones.
 *
 * Context: any.
 * Return: 1 if @flags requests to report missed events and the queue is not
 * empty, otherwise 0.
 */
int ntrdma_req_notify_cq(struct ib_cq *ib, enum ib_cq_notify_flags flags)
{
	enum ib_cq_notify_flags events = flags & IB_CQ_SOLICITED_MASK;
	struct ntrdma_cq *cq = to_ntrdma_cq(ib);
	unsigned long irq;
	int missed;

	spin_lock_irqsave(&cq->lock, irq);
	if (cq->armed != IB_CQ_NEXT_COMP)
		cq->armed = events;
	missed = (flags & IB_CQ_REPORT_MISSED_EVENTS) && ntrdma_cq_count(cq);
	spin_unlock_irqrestore(&cq->lock, irq);
	return missed;
}

/*
 * Return true and disarm the queue if it waits for a completion; @event: it is an
 * event for %IB_CQ_SOLICITED. Caller holds @cq->lock.
 */
static bool ntrdma_cq_disarm(struct ntrdma_cq *cq, bool event)
{
	if (!cq->armed || (cq->armed == IB_CQ_SOLICITED && !event))
		return false;

	cq->armed = 0;
	return true;
}

/* Show all completions. Otherwise as ntrdma_cq_disarm(). */
static bool ntrdma_cq_show_all(struct ntrdma_cq *cq, bool event)
{
	cq->shown = cq->head;
	return ntrdma_cq_disarm(cq, event);
}

/**
 * ntrdma_cq_show_late - show the completions that late_us= has delayed
 * @cq: queue
 *
 * Context: no lock is held, and bottom halves are disabled. It calls the
 * consumer's handler.
 */
void ntrdma_cq_show_late(struct ntrdma_cq *cq)
{
	bool notify = false;
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	if (cq->late) {
		ntrdma_emulate_reorder(cq->wc, cq->size, cq->shown, cq->head);
		notify = ntrdma_cq_show_all(cq, cq->late_event);
		cq->late_event = false;
		cq->late = false;
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	if (notify)
		ntrdma_cq_notify(cq);
}

/**
 * ntrdma_cq_settle - show delayed completions before a QP ends
 * @cq: queue
 *
 * When it returns, the handler is not called any more for completions so far.
 *
 * Context: process.
 */
void ntrdma_cq_settle(struct ntrdma_cq *cq)
{
	hrtimer_cancel(&cq->timer);
	local_bh_disable();
	ntrdma_cq_show_late(cq);
	local_bh_enable();
}

static enum hrtimer_restart ntrdma_cq_timer(struct hrtimer *timer)
{
	ntrdma_cq_show_late(container_of(timer, struct ntrdma_cq, timer));
	return HRTIMER_NORESTART;
}

/* Show a new completion later. Caller holds @cq->lock. */
static void ntrdma_cq_hide(struct ntrdma_cq *cq, bool event)
{
	cq->late_event |= event;
	if (cq->late)
		return;
	cq->late = true;
	hrtimer_start(&cq->timer, ns_to_ktime(ntrdma_emulate_delay()),
		      HRTIMER_MODE_REL_SOFT);
}

/* Add a completion to the ring. Caller holds @cq->lock. */
static bool ntrdma_cq_add_kernel(struct ntrdma_cq *cq, const struct ib_wc *wc,
				 bool event, bool *notify)
{
	if (cq->head - cq->tail >= cq->size)
		return false;
	cq->wc[cq->head++ & (cq->size - 1)] = *wc;
	if (ntrdma_late_us)
		ntrdma_cq_hide(cq, event);
	else if (ntrdma_cq_show_all(cq, event))
		*notify = true;
	return true;
}

/* Add a completion to the queue of a program. Caller holds @cq->lock. */
static bool ntrdma_cq_add_user(struct ntrdma_cq *cq, const struct ib_wc *wc,
			       bool event, bool *notify)
{
	struct ib_uverbs_wc uwc = ntrdma_uwc(wc);

	if (!ntrdma_uqueue_add(cq->user, &uwc, sizeof(uwc)))
		return false;
	if (ntrdma_cq_disarm(cq, event))
		*notify = true;
	return true;
}

/**
 * ntrdma_cq_add - add a completion to the queue
 * @cq: queue
 * @wc: completion
 * @solicited: the peer has requested a solicited event
 * @notify: set to true if the caller must call ntrdma_cq_notify() when it has
 *	released its locks; otherwise unchanged
 *
 * Context: any.
 * Return: true; false if the queue has no room. The completion is lost then,
 * and ntrdma_cq.full is set.
 */
bool ntrdma_cq_add(struct ntrdma_cq *cq, const struct ib_wc *wc, bool solicited,
		   bool *notify)
{
	bool event = solicited || wc->status != IB_WC_SUCCESS;
	unsigned long flags;
	bool room;

	spin_lock_irqsave(&cq->lock, flags);
	room = cq->user ? ntrdma_cq_add_user(cq, wc, event, notify) :
			  ntrdma_cq_add_kernel(cq, wc, event, notify);
	cq->full |= !room;
	spin_unlock_irqrestore(&cq->lock, flags);
	return room;
}

/**
 * ntrdma_cq_notify - call the consumer's completion handler
 * @cq: queue
 *
 * Context: the caller holds no lock. The handler does not sleep.
 */
void ntrdma_cq_notify(struct ntrdma_cq *cq)
{
	if (cq->ib.comp_handler)
		cq->ib.comp_handler(&cq->ib, cq->ib.cq_context);
}
