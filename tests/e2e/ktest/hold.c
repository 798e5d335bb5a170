// SPDX-License-Identifier: GPL-2.0
/*
 * Delay the RDMA CM, to stretch states that usually last microseconds.
 *
 * The CM resolves the routes of RoCE and iWARP in one ordered workqueue
 * (cma_resolve_iboe_route(), cma_resolve_iw_route()). The work of this queue
 * calls the handlers of CM users. A handler that sleeps makes all other users
 * wait.
 */
#include <linux/delay.h>
#include <rdma/rdma_cm.h>

#include "priv.h"

static struct {
	/* The mutex protects the other members. */
	struct mutex lock;
	struct rdma_cm_id *id;
	struct completion begun;
	u32 ms;
	int ret;
} ktest_held = {
	.lock = __MUTEX_INITIALIZER(ktest_held.lock),
};

/*
 * Handle an event of the CM: sleep when the route is resolved. This function
 * may use ktest_held, because the task that waits for begun holds the lock.
 */
static int ktest_hold_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		ktest_held.ret = rdma_resolve_route(id, 2000);
		if (ktest_held.ret)
			complete(&ktest_held.begun);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		complete(&ktest_held.begun);
		msleep(ktest_held.ms);
		break;
	default:
		ktest_held.ret = event->status ?: -EIO;
		complete(&ktest_held.begun);
		break;
	}
	return 0;
}

static int ktest_hold_locked(struct net *net, struct sockaddr_storage *dst)
{
	struct rdma_cm_id *id;
	int ret;

	lockdep_assert_held(&ktest_held.lock);
	init_completion(&ktest_held.begun);
	ktest_held.ret = 0;
	id = rdma_create_id(net, ktest_hold_event, NULL, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);
	ktest_held.id = id;
	ret = rdma_resolve_addr(id, NULL, (struct sockaddr *)dst, 2000);
	if (ret)
		return ret;
	wait_for_completion(&ktest_held.begun);
	return ktest_held.ret;
}

/* End the delay. rdma_destroy_id() waits until the handler has slept. */
static void ktest_hold_end_locked(void)
{
	lockdep_assert_held(&ktest_held.lock);
	if (ktest_held.id)
		rdma_destroy_id(ktest_held.id);
	ktest_held.id = NULL;
}

void ktest_hold_end(void)
{
	mutex_lock(&ktest_held.lock);
	ktest_hold_end_locked();
	mutex_unlock(&ktest_held.lock);
}

/*
 * holdup MS HOST PORT: prevent the CM from resolving routes for the next MS.
 * The address of HOST must be resolvable. holdup 0: wait for the end of this
 * delay.
 */
int ktest_cmd_hold(struct ktest_ctx *ctx, struct ktest_args *args)
{
	struct sockaddr_storage dst;
	u32 ms = ktest_number(args, 1, 0);
	int ret = 0;

	mutex_lock(&ktest_held.lock);
	ktest_hold_end_locked();
	ktest_held.ms = ms;
	if (ms)
		ret = krdma_parse_addr(ctx->net, ktest_arg(args, 2),
				       ktest_arg(args, 3), &dst) ?:
		      ktest_hold_locked(ctx->net, &dst);
	if (ret)
		ktest_hold_end_locked();
	mutex_unlock(&ktest_held.lock);
	return ret;
}
