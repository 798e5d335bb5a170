// SPDX-License-Identifier: GPL-2.0
/*
 * The queue pair and completion queue of a connection.
 *
 * One CQ serves both directions. It is the connection's own: the core's shared
 * CQs (ib_cq_pool_get()) stay allocated until the device goes, and so would
 * show up in "rdma resource show" after krdma was unloaded.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/slab.h>

#include "priv.h"

/* siw flushes the QP before the CM's event comes through its workqueue. */
#define KRDMA_QP_REASON_MS 1000

/* A slot in each queue for the marker of ib_drain_qp(). */
#define KRDMA_QP_DRAIN_WRS 1

static const enum ib_poll_context krdma_poll_contexts[] = {
	[KRDMA_POLL_SOFTIRQ]	= IB_POLL_SOFTIRQ,
	[KRDMA_POLL_WORKQUEUE]	= IB_POLL_WORKQUEUE,
	[KRDMA_POLL_DIRECT]	= IB_POLL_DIRECT,
};

/*
 * On iWARP a lost TCP connection shows as a fatal error of the QP before the
 * CM says that the peer closed (siw: siw_qp_cm_drop()).
 */
static int krdma_qp_fatal_errno(const struct krdma_conn *conn)
{
	const struct rdma_cm_id *id = conn->cb.cm_id;

	return rdma_protocol_iwarp(id->device, id->port_num) ? -ECONNRESET :
							       -EIO;
}

/* Context: any; @context is alive until its QP is destroyed. */
static void krdma_qp_event(struct ib_event *event, void *context)
{
	struct krdma_conn *conn = context;

	switch (event->event) {
	case IB_EVENT_COMM_EST:
		/* The first message was faster than the RTU, or that is lost. */
		rdma_notify(conn->cb.cm_id, event->event);
		break;
	case IB_EVENT_QP_FATAL:
	case IB_EVENT_QP_REQ_ERR:
	case IB_EVENT_QP_ACCESS_ERR:
	case IB_EVENT_DEVICE_FATAL:
		krdma_conn_abort(conn, krdma_qp_fatal_errno(conn));
		break;
	default:
		break;
	}
}

static void krdma_qp_caps(struct krdma_conn *conn, struct ib_qp_cap *cap)
{
	const struct ib_device_attr *attrs = &conn->cb.cm_id->device->attrs;
	u32 max_wr = attrs->max_qp_wr;

	*cap = (struct ib_qp_cap){
		.max_send_wr = min(conn->p.send_depth + KRDMA_QP_DRAIN_WRS +
				   krdma_msg_extra_sends(conn), max_wr),
		.max_recv_wr = min(conn->p.recv_depth + KRDMA_QP_DRAIN_WRS +
				   krdma_msg_extra_recvs(conn), max_wr),
		.max_send_sge = min_t(u32, conn->p.max_send_sge,
				      attrs->max_send_sge),
		.max_recv_sge = min_t(u32, conn->p.max_recv_sge,
				      attrs->max_recv_sge),
		.max_inline_data = conn->p.max_inline,
	};
}

static int krdma_qp_make(struct krdma_conn *conn)
{
	struct ib_qp_init_attr attr = {
		.event_handler = krdma_qp_event,
		.qp_context = conn,
		.send_cq = conn->cq,
		.recv_cq = conn->cq,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
	};
	int ret;

	krdma_qp_caps(conn, &attr.cap);
	/* The driver writes what it gives into attr.cap, which may be more. */
	conn->sq_avail = attr.cap.max_send_wr - KRDMA_QP_DRAIN_WRS -
			 krdma_msg_extra_sends(conn);
	ret = rdma_create_qp(conn->cb.cm_id, conn->kpd->pd, &attr);
	if (ret)
		return ret;
	conn->cb.qp = conn->cb.cm_id->qp;
	conn->is_siw = conn->cb.qp->device->ops.driver_id == RDMA_DRIVER_SIW;
	return 0;
}

/**
 * krdma_qp_create - make CQ and QP
 * @conn: connection that is attached to its device
 *
 * The QP is in INIT afterwards: receives can be posted.
 *
 * Context: process, @conn->setup held.
 * Return: 0 or -errno; nothing is left behind on error.
 */
int krdma_qp_create(struct krdma_conn *conn)
{
	struct ib_device *ibdev = conn->cb.cm_id->device;
	struct ib_qp_cap cap;
	struct ib_cq *cq;
	int ret;

	lockdep_assert_held(&conn->setup);
	krdma_qp_caps(conn, &cap);
	/* A CQ that can overflow loses completions. */
	if (cap.max_send_wr + cap.max_recv_wr > ibdev->attrs.max_cqe)
		return -EINVAL;
	cq = ib_alloc_cq_any(ibdev, conn, cap.max_send_wr + cap.max_recv_wr,
			     krdma_poll_contexts[conn->p.poll]);
	if (IS_ERR(cq))
		return PTR_ERR(cq);
	conn->cq = cq;
	ret = krdma_qp_make(conn);
	if (ret) {
		ib_free_cq(cq);
		conn->cq = NULL;
	}
	return ret;
}

/*
 * rxe, 7.3 at least: when a QP that is to move to RTR finds no memory, its
 * receive task stays disabled (rxe_qp_from_attr()). Such a QP flushes no
 * receives in ERROR, and the drain would never end. RESET enables the task; it
 * also drops the receives that were posted, without completions, which nobody
 * misses of a QP that never was connected. From RESET there is no way to ERROR
 * but by INIT.
 */
static void krdma_qp_enable_rxe(struct krdma_conn *conn)
{
	struct ib_qp_attr reset = { .qp_state = IB_QPS_RESET };
	struct ib_qp_attr init = {
		.qp_state = IB_QPS_INIT,
		.port_num = conn->cb.cm_id->port_num,
	};

	if (!READ_ONCE(conn->modify_failed) ||
	    conn->cb.qp->device->ops.driver_id != RDMA_DRIVER_RXE)
		return;
	ib_modify_qp(conn->cb.qp, &reset, IB_QP_STATE);
	ib_modify_qp(conn->cb.qp, &init, IB_QP_STATE | IB_QP_PKEY_INDEX |
		     IB_QP_PORT | IB_QP_ACCESS_FLAGS);
}

/**
 * krdma_qp_drain - wait until the QP has completed everything
 * @conn: connection in KRDMA_CLOSING, so nobody posts any more
 *
 * Context: process, @conn->setup held.
 */
void krdma_qp_drain(struct krdma_conn *conn)
{
	lockdep_assert_held(&conn->setup);
	if (!conn->cb.qp || conn->drained)
		return;
	krdma_qp_enable_rxe(conn);
	ib_drain_qp(conn->cb.qp);
	conn->drained = true;
}

/**
 * krdma_qp_destroy - undo krdma_qp_create()
 * @conn: connection whose QP is drained; may have none
 *
 * Context: process, @conn->setup held.
 */
void krdma_qp_destroy(struct krdma_conn *conn)
{
	lockdep_assert_held(&conn->setup);
	if (!conn->cb.qp)
		return;
	rdma_destroy_qp(conn->cb.cm_id);
	conn->cb.qp = NULL;
	ib_free_cq(conn->cq);
	conn->cq = NULL;
}

/**
 * krdma_op_alloc - something to wait for
 *
 * Return: with the waiting task's reference, or NULL.
 */
struct krdma_op *krdma_op_alloc(void)
{
	struct krdma_op *op = kzalloc(sizeof(*op), GFP_KERNEL);

	if (op)
		refcount_set(&op->ref, 1);
	return op;
}

/**
 * krdma_op_put - drop a reference
 * @op: may be NULL
 *
 * Context: any.
 */
void krdma_op_put(struct krdma_op *op)
{
	if (op && refcount_dec_and_test(&op->ref))
		kfree(op);
}

static bool krdma_op_is_done(struct krdma_conn *conn, const void *arg)
{
	const struct krdma_op *op = arg;

	/* Pairs with krdma_op_finish_locked(): then error can be read. */
	return !smp_load_acquire(&op->pending);
}

/* For waits that only the end of the connection ends. */
static bool krdma_never(struct krdma_conn *conn, const void *arg)
{
	return false;
}

/**
 * krdma_op_wait - wait until all work requests of an operation have completed
 * @conn: connection
 * @op: operation; the caller keeps its reference
 * @until: time limit
 *
 * Return: 0 all succeeded; else an errno, and if work requests may still be in
 * flight it is the caller's business to abort the connection.
 */
int krdma_op_wait(struct krdma_conn *conn, struct krdma_op *op,
		  unsigned long until)
{
	int ret = krdma_conn_wait(conn, krdma_op_is_done, op, until);

	if (ret || !op->error)
		return ret;
	/* A flushed request says nothing; why the connection ended does. */
	krdma_conn_wait(conn, krdma_never, NULL,
			krdma_deadline(KRDMA_QP_REASON_MS));
	return krdma_last_error(&conn->cb) ?: -ECONNRESET;
}

/* What ends a connection. A flush does not: something else did. */
static int krdma_wc_errno(enum ib_wc_status status)
{
	switch (status) {
	case IB_WC_SUCCESS:
		return 0;
	case IB_WC_RETRY_EXC_ERR:
		return -ETIMEDOUT;
	case IB_WC_RNR_RETRY_EXC_ERR:
		return -ENOBUFS;
	case IB_WC_REM_ACCESS_ERR:
		return -EACCES;
	case IB_WC_WR_FLUSH_ERR:
		return -ECONNABORTED;
	default:
		return -EIO;
	}
}

/**
 * krdma_qp_failed - a work request completed with an error
 * @conn: connection; ends, unless it is closing already
 * @status: of the completion
 *
 * Context: any.
 */
void krdma_qp_failed(struct krdma_conn *conn, enum ib_wc_status status)
{
	if (status == IB_WC_WR_FLUSH_ERR || krdma_conn_is_over(conn)) {
		/* The cause comes with the CM's event, or is known. */
		return;
	}
	pr_info_ratelimited("%pISpc: work request failed: %s\n", &conn->peer,
			    ib_wc_status_msg(status));
	if (status == IB_WC_LOC_QP_OP_ERR)
		krdma_conn_abort(conn, krdma_qp_fatal_errno(conn));
	else
		krdma_conn_abort(conn, krdma_wc_errno(status));
}

static void krdma_op_finish_locked(struct krdma_op *op, int error)
{
	if (error && !op->error)
		op->error = error;
	/* Pairs with krdma_op_is_done(). */
	smp_store_release(&op->pending, op->pending - 1);
}

static void krdma_wr_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct krdma_wr *kwr = container_of(wc->wr_cqe, struct krdma_wr, cqe);
	struct krdma_conn *conn = kwr->conn;
	struct krdma_op *op = kwr->op;
	unsigned long flags;

	if (wc->status != IB_WC_SUCCESS)
		krdma_qp_failed(conn, wc->status);
	spin_lock_irqsave(&conn->lock, flags);
	if (!kwr->reserved)
		conn->sq_avail++;
	if (op)
		krdma_op_finish_locked(op, krdma_wc_errno(wc->status));
	wake_up_all(&conn->wait);
	spin_unlock_irqrestore(&conn->lock, flags);
	kwr->done(kwr);
	krdma_op_put(op);
}

/**
 * krdma_wr_init - prepare a work request
 * @kwr: inside of what the caller allocated
 * @conn: where it will be posted
 * @op: who waits, NULL: nobody
 * @done: frees what @kwr is in, after completion; any context
 */
void krdma_wr_init(struct krdma_wr *kwr, struct krdma_conn *conn,
		   struct krdma_op *op, void (*done)(struct krdma_wr *kwr))
{
	*kwr = (struct krdma_wr){
		.cqe.done = krdma_wr_done,
		.conn = conn,
		.op = op,
		.done = done,
	};
}

/* Is there room on the send queue? For krdma_conn_wait(). */
static bool krdma_qp_has_slot(struct krdma_conn *conn, const void *arg)
{
	return READ_ONCE(conn->sq_avail);
}

/**
 * krdma_qp_post_locked - post a work request
 * @conn: connection
 * @kwr: its completion, from krdma_wr_init()
 * @wr: the request; wr_cqe and the signal flag are set here
 *
 * The state is checked under the same lock with which it moves to CLOSING:
 * nothing is posted once the drain may have begun.
 *
 * Context: any, @conn->lock held.
 * Return: 0; -EAGAIN no slot; the reason why the connection is over;
 * -ENOTCONN; or what the driver said. On error @kwr was not posted.
 */
int krdma_qp_post_locked(struct krdma_conn *conn, struct krdma_wr *kwr,
			 struct ib_send_wr *wr)
{
	int ret;

	lockdep_assert_held(&conn->lock);
	if (conn->cb.state != KRDMA_ESTABLISHED)
		return conn->error ?: -ENOTCONN;
	if (!kwr->reserved && !conn->sq_avail)
		return -EAGAIN;
	wr->wr_cqe = &kwr->cqe;
	wr->send_flags |= IB_SEND_SIGNALED;
	ret = ib_post_send(conn->cb.qp, wr, NULL);
	/* siw: the peer has closed, and the CM's event is on its way. */
	if (ret == -ENOTCONN)
		return -ECONNRESET;
	if (ret)
		return ret;
	if (!kwr->reserved)
		conn->sq_avail--;
	if (kwr->op) {
		kwr->op->pending++;
		refcount_inc(&kwr->op->ref);
	}
	return 0;
}

/**
 * krdma_qp_post - wait for a slot and post a work request
 * @conn: connection
 * @kwr: its completion
 * @wr: the request
 * @until: time limit
 *
 * Bottom halves are off around the post: rxe up to 6.x then runs its tasklet
 * at once when they are enabled again, instead of waking ksoftirqd, which
 * takes the best part of 100 µs away.
 *
 * Context: process.
 * Return: 0 or -errno; on error @kwr was not posted.
 */
int krdma_qp_post(struct krdma_conn *conn, struct krdma_wr *kwr,
		  struct ib_send_wr *wr, unsigned long until)
{
	unsigned long flags;
	int ret;

	do {
		ret = krdma_conn_wait(conn, krdma_qp_has_slot, NULL, until);
		if (ret)
			return ret;
		local_bh_disable();
		spin_lock_irqsave(&conn->lock, flags);
		ret = krdma_qp_post_locked(conn, kwr, wr);
		spin_unlock_irqrestore(&conn->lock, flags);
		local_bh_enable();
	} while (ret == -EAGAIN);
	return ret;
}
