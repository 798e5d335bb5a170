// SPDX-License-Identifier: GPL-2.0
/*
 * The queue pair of a connection. One CQ serves both directions, see cq.c.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "device.h"
#include "quirks.h"

/* Number of slots in each queue for the work requests of ib_drain_qp(). */
#define KRDMA_QP_DRAIN_WRS 1

/*
 * Handle an event of the QP, in any context. The connection in @context exists
 * until its QP is destroyed.
 */
static void krdma_qp_event(struct ib_event *event, void *context)
{
	struct krdma_conn *conn = context;

	switch (event->event) {
	case IB_EVENT_COMM_EST:
		/*
		 * The first message arrived before the RTU of the CM, or the
		 * RTU was lost. Notify the CM that the connection is
		 * established.
		 */
		rdma_notify(conn->cb.cm_id, event->event);
		break;
	case IB_EVENT_QP_FATAL:
	case IB_EVENT_QP_REQ_ERR:
	case IB_EVENT_QP_ACCESS_ERR:
	case IB_EVENT_DEVICE_FATAL:
		krdma_conn_abort(conn, krdma_conn_fatal_errno(conn));
		break;
	default:
		break;
	}
}

/*
 * Sizes of inline data to try, in bytes. No attribute of a device gives its
 * limit, which is 512 on rxe and 80 on siw. krdma_dev.inline_try skips the
 * sizes that the device has refused as invalid, because some drivers print an
 * error for each refusal.
 */
static const u32 krdma_inline_tries[] = { 220, 80, 0 };

static int krdma_qp_try(struct krdma_conn *conn, u32 max_inline)
{
	const struct ib_device_attr *attrs = &conn->cb.cm_id->device->attrs;
	struct ib_qp_init_attr attr = {
		.event_handler = krdma_qp_event,
		.qp_context = conn,
		.send_cq = conn->hw.cq->cq,
		.recv_cq = conn->hw.cq->cq,
		.srq = conn->hw.srq,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
		.cap = {
			.max_send_wr = conn->limits.send_depth +
				       KRDMA_QP_DRAIN_WRS +
				       conn->mode->extra_sends,
			.max_recv_wr = conn->limits.recv_depth +
				       KRDMA_QP_DRAIN_WRS +
				       conn->mode->extra_recvs,
			.max_send_sge = min_t(u32, conn->p.max_send_sge,
					      attrs->max_send_sge),
			.max_recv_sge = min_t(u32, conn->p.max_recv_sge,
					      attrs->max_recv_sge),
			.max_inline_data = max_inline,
		},
	};
	int ret;

	/*
	 * Read attr.cap now: rdma_create_qp() overwrites it with the granted
	 * values.
	 */
	conn->sq.avail = conn->limits.send_depth;
	conn->limits.max_send_sge = attr.cap.max_send_sge;
	conn->limits.max_read_sge =
		min_t(u32, attr.cap.max_send_sge, attrs->max_sge_rd);
	ret = rdma_create_qp(conn->cb.cm_id, conn->hw.kpd->pd, &attr);
	if (!ret)
		conn->limits.max_inline = attr.cap.max_inline_data;
	return ret;
}

/*
 * Create the QP with the first inline size that the device accepts. -ENOMEM may
 * mean that inline data makes the entries of a deep send queue too large
 * (mlx5), or only that memory is short. The next QP may be smaller, or memory
 * may be free again, so -ENOMEM does not change krdma_dev.inline_try.
 */
static int krdma_qp_try_inline(struct krdma_conn *conn)
{
	unsigned int first = READ_ONCE(conn->hw.dev->inline_try);
	bool invalid = true;
	unsigned int i;
	int ret = -EINVAL;

	for (i = first; i < ARRAY_SIZE(krdma_inline_tries); i++) {
		ret = krdma_qp_try(conn, krdma_inline_tries[i]);
		if (ret != -EINVAL && ret != -ENOMEM)
			break;
		invalid &= ret == -EINVAL;
	}
	if (!ret && i > first && invalid)
		WRITE_ONCE(conn->hw.dev->inline_try, i);
	return ret;
}

/*
 * Check whether the SRQ belongs to the owner. The owner's SRQ may serve other
 * connections; an SRQ that krdma creates serves only this one.
 */
static bool krdma_qp_srq_is_owners(const struct krdma_conn *conn)
{
	return conn->ops && conn->ops->get_srq;
}

static int krdma_qp_get_srq(struct krdma_conn *conn)
{
	const struct ib_device_attr *attrs = &conn->cb.cm_id->device->attrs;
	struct ib_srq_init_attr init = {
		.srq_type = IB_SRQT_BASIC,
		.attr = {
			.max_wr = min_t(u32, conn->p.srq_depth,
					attrs->max_srq_wr),
			.max_sge = 1,
		},
	};
	struct ib_srq *srq;

	if (!conn->p.srq_depth)
		return 0;
	if (!attrs->max_srq)
		return -EOPNOTSUPP;
	if (krdma_qp_srq_is_owners(conn))
		srq = conn->ops->get_srq(&conn->cb);
	else
		srq = ib_create_srq(conn->hw.kpd->pd, &init);
	if (IS_ERR(srq))
		return PTR_ERR(srq);
	conn->hw.srq = srq;
	return 0;
}

/*
 * Put the CQ before the owner's SRQ, because receives of that SRQ may complete
 * until the CQ is freed. See krdma_ops.put_srq.
 */
static void krdma_qp_put_srq_and_cq(struct krdma_conn *conn)
{
	struct ib_srq *srq = conn->hw.srq;

	conn->hw.srq = NULL;
	if (srq && !krdma_qp_srq_is_owners(conn))
		ib_destroy_srq(srq);
	krdma_cq_put(conn);
	if (srq && krdma_qp_srq_is_owners(conn))
		conn->ops->put_srq(&conn->cb, srq);
}

/**
 * krdma_qp_create - create a QP, with a CQ and an SRQ if needed
 * @conn: connection that is attached to its device
 *
 * Afterwards the QP is in INIT, and receives can be posted.
 *
 * Context: process, @conn->setup held.
 * Return: 0 or -errno; on error no QP, CQ or SRQ is left.
 */
int krdma_qp_create(struct krdma_conn *conn)
{
	struct ib_device *ibdev = conn->cb.cm_id->device;
	u32 max_wr = ibdev->attrs.max_qp_wr;
	u32 sends = KRDMA_QP_DRAIN_WRS + conn->mode->extra_sends;
	u32 recvs = KRDMA_QP_DRAIN_WRS + conn->mode->extra_recvs;
	u32 min_recvs = krdma_conn_is_raw(conn) ? 1 : KRDMA_CREDIT_MIN_DEPTH;
	u32 ncqes;
	int ret;

	lockdep_assert_held(&conn->setup);
	krdma_noio_check(conn);
	/*
	 * Set the depths of the queues. If the device supports fewer work
	 * requests than the parameters request, use all that it supports.
	 * Internal work requests get their slots first, and the user gets the
	 * rest.
	 */
	if (max_wr < sends + 1 || max_wr < recvs + min_recvs)
		return -EOPNOTSUPP;
	conn->limits.send_depth = min(conn->p.send_depth, max_wr - sends);
	conn->limits.recv_depth = min(conn->p.recv_depth, max_wr - recvs);
	/* With KRDMA_QUIRK_DOUBLE_FLUSH a READ may complete twice. */
	ncqes = conn->limits.send_depth + sends + conn->limits.recv_depth +
		recvs + conn->p.srq_depth;
	ncqes += !!(krdma_quirks_of(ibdev) & KRDMA_QUIRK_DOUBLE_FLUSH);
	ret = krdma_cq_get(conn, ncqes);
	if (ret)
		return ret;
	ret = krdma_qp_get_srq(conn);
	if (ret)
		goto err;
	if (krdma_conn_is_raw(conn))
		ret = krdma_qp_try(conn, conn->p.max_inline);
	else
		ret = krdma_qp_try_inline(conn);
	if (ret)
		goto err;
	conn->cb.qp = conn->cb.cm_id->qp;
	conn->hw.quirks = krdma_quirks_of(conn->cb.qp->device);
	conn->hw.is_iwarp = rdma_protocol_iwarp(ibdev,
						conn->cb.cm_id->port_num);
	return 0;
err:
	krdma_qp_put_srq_and_cq(conn);
	return ret;
}

/**
 * krdma_qp_drain - wait until the QP has completed all work requests
 * @conn: connection in KRDMA_CLOSING, so that no context posts any more
 *
 * Context: process, @conn->setup held.
 */
void krdma_qp_drain(struct krdma_conn *conn)
{
	lockdep_assert_held(&conn->setup);
	if (!conn->cb.qp || conn->hw.drained)
		return;
	krdma_noio_check(conn);
	krdma_quirk_enable_receive(conn);
	/*
	 * With an SRQ, drain only the send queue, because receives of an SRQ
	 * are not flushed. In newer kernels, ib_drain_qp() would also wait for
	 * IB_EVENT_QP_LAST_WQE_REACHED. siw does not have this event (7.3), so
	 * that wait would time out after a minute.
	 */
	if (conn->hw.srq)
		ib_drain_sq(conn->cb.qp);
	else
		ib_drain_qp(conn->cb.qp);
	/* Pairs with krdma_conn_wait_for(). */
	smp_store_release(&conn->hw.drained, true);
	if (conn->mode->drained)
		conn->mode->drained(conn);
	/* Wake tasks in krdma_conn_wait_late(). */
	krdma_conn_wake(conn);
}

/**
 * krdma_qp_destroy - undo krdma_qp_create()
 * @conn: connection whose QP is drained, or that has no QP
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
	krdma_qp_put_srq_and_cq(conn);
}

/**
 * krdma_qp_reads - return the number of READs that may be in flight
 * @conn: established connection on siw. The query is allowed under @conn->lock,
 *	because the driver of siw takes no lock for it
 *
 * Context: any, @conn->lock held.
 * Return: negotiated number, at least 1.
 */
u32 krdma_qp_reads(const struct krdma_conn *conn)
{
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr = {};

	lockdep_assert_held(&conn->lock);
	if (ib_query_qp(conn->cb.qp, &attr, IB_QP_MAX_QP_RD_ATOMIC, &init))
		return 1;
	krdma_quirk_swap_depths(conn, &attr);
	return max_t(u32, attr.max_rd_atomic, 1);
}
