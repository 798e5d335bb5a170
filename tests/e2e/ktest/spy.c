// SPDX-License-Identifier: GPL-2.0
/*
 * Record calls of krdma to the driver of a device, and give the device another
 * driver id and a smaller max_qp_wr. krdma must obey this smaller limit. The
 * driver itself does not enforce it.
 */
#include <linux/atomic.h>
#include <linux/rcupdate.h>

#include "priv.h"

/*
 * State of the commands "spy" and "spied". No lock is needed, because a
 * scenario runs one of these commands at a time.
 */
static struct {
	struct ib_device *ibdev;
	int (*create_qp)(struct ib_qp *qp, struct ib_qp_init_attr *attr,
			 struct ib_udata *udata);
	int (*modify_qp)(struct ib_qp *qp, struct ib_qp_attr *attr, int mask,
			 struct ib_udata *udata);
	enum rdma_driver_id driver_id;
	u32 max_qp_wr;
	atomic_t created;
	atomic_t refused;
	/* First state of a QP after RTS, or 0 if no QP has left RTS. */
	atomic_t left;
} ktest_spy;

static int ktest_spy_create_qp(struct ib_qp *qp, struct ib_qp_init_attr *attr,
			       struct ib_udata *udata)
{
	int ret = ktest_spy.create_qp(qp, attr, udata);

	atomic_inc(ret ? &ktest_spy.refused : &ktest_spy.created);
	return ret;
}

static int ktest_spy_modify_qp(struct ib_qp *qp, struct ib_qp_attr *attr,
			       int mask, struct ib_udata *udata)
{
	if (mask & IB_QP_STATE && attr->qp_state > IB_QPS_RTS)
		atomic_cmpxchg(&ktest_spy.left, 0, attr->qp_state);
	return ktest_spy.modify_qp(qp, attr, mask, udata);
}

void ktest_spy_end(void)
{
	struct ib_device *ibdev = ktest_spy.ibdev;

	if (!ibdev)
		return;
	ibdev->ops.create_qp = ktest_spy.create_qp;
	ibdev->ops.modify_qp = ktest_spy.modify_qp;
	ibdev->ops.driver_id = ktest_spy.driver_id;
	ibdev->attrs.max_qp_wr = ktest_spy.max_qp_wr;
	ktest_spy.ibdev = NULL;
	synchronize_rcu();
}

static void ktest_spy_begin(struct ib_device *ibdev)
{
	ktest_spy.create_qp = ibdev->ops.create_qp;
	ktest_spy.modify_qp = ibdev->ops.modify_qp;
	ktest_spy.driver_id = ibdev->ops.driver_id;
	ktest_spy.max_qp_wr = ibdev->attrs.max_qp_wr;
	atomic_set(&ktest_spy.created, 0);
	atomic_set(&ktest_spy.refused, 0);
	atomic_set(&ktest_spy.left, 0);
	ktest_spy.ibdev = ibdev;
	/*
	 * Write the members of ktest_spy before the new functions, because a
	 * processor that calls a new function reads these members.
	 */
	smp_wmb();
	ibdev->ops.create_qp = ktest_spy_create_qp;
	ibdev->ops.modify_qp = ktest_spy_modify_qp;
}

/*
 * spy NAME [driver=ID] [max_qp_wr=N]: record calls to the driver of this
 * connection's device until "spied". Until then the device has the driver id ID
 * and the limit N.
 */
int ktest_do_spy(const struct ktest_args *args, struct krdma_cb *cb)
{
	struct ib_device *ibdev = cb->qp ? cb->qp->device : NULL;

	if (!ibdev)
		return -ENOTCONN;
	if (ktest_spy.ibdev)
		return -EBUSY;
	ktest_spy_begin(ibdev);
	ibdev->ops.driver_id = ktest_option(args, "driver",
					    ktest_spy.driver_id);
	ibdev->attrs.max_qp_wr = ktest_option(args, "max_qp_wr",
					      ktest_spy.max_qp_wr);
	return 0;
}

/*
 * spied: end the recording. Print the number of QPs that the driver has
 * created, the number of QPs that it has refused, and the first state of a QP
 * after RTS.
 */
int ktest_cmd_spied(struct ktest_ctx *ctx, struct ktest_args *args)
{
	static const char * const states[] = {
		[0] = "none",
		[IB_QPS_SQD] = "SQD",
		[IB_QPS_SQE] = "SQE",
		[IB_QPS_ERR] = "ERR",
	};

	ktest_spy_end();
	snprintf(ctx->text, sizeof(ctx->text), "created=%d refused=%d left=%s",
		 atomic_read(&ktest_spy.created),
		 atomic_read(&ktest_spy.refused),
		 states[atomic_read(&ktest_spy.left)]);
	return 0;
}
