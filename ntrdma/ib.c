// SPDX-License-Identifier: GPL-2.0
/*
 * The device of the RDMA core: its functions, its properties and its port.
 *
 * The core finds the interface by the function get_netdev. ib_device_set_netdev()
 * is never called: it enters the device in a table in which rxe looks for its
 * own devices, and rxe would take this device for one of them.
 */
#include <linux/netdevice.h>
#include <rdma/ib_mad.h>

#include "emulate.h"
#include "verbs.h"

/* Set the limits of objects and queues. */
static void ntrdma_set_limits(struct ib_device_attr *attr)
{
	attr->max_mr_size = U64_MAX;
	attr->max_qp = NTRDMA_MAX_QP;
	attr->max_cq = NTRDMA_MAX_CQ;
	attr->max_cqe = NTRDMA_MAX_CQE;
	attr->max_mr = NTRDMA_MAX_MR;
	attr->max_pd = NTRDMA_MAX_PD;
	attr->max_ah = NTRDMA_MAX_AH;
	attr->max_srq = NTRDMA_MAX_SRQ;
	attr->max_pkeys = 1;
	ntrdma_emulate_limits(attr);
}

static int ntrdma_query_device(struct ib_device *ib,
			       struct ib_device_attr *attr,
			       struct ib_udata *udata)
{
	if (udata && (udata->inlen || udata->outlen))
		return -EINVAL;

	attr->sys_image_guid = ib->node_guid;
	attr->device_cap_flags = IB_DEVICE_MEM_MGT_EXTENSIONS |
				 IB_DEVICE_PORT_ACTIVE_EVENT |
				 IB_DEVICE_RC_RNR_NAK_GEN |
				 IB_DEVICE_SYS_IMAGE_GUID;
	attr->kernel_cap_flags = IBK_LOCAL_DMA_LKEY;
	if (!to_ntrdma_dev(ib)->config.eth)
		attr->kernel_cap_flags |= IBK_ALLOW_USER_UNREG;
	attr->atomic_cap = IB_ATOMIC_GLOB;
	ntrdma_set_limits(attr);
	return 0;
}

/* The carrier of the interface shows whether a peer can be reached. */
static int ntrdma_query_port(struct ib_device *ib, u32 port,
			     struct ib_port_attr *attr)
{
	struct net_device *netdev = to_ntrdma_dev(ib)->config.netdev;
	bool active = netif_running(netdev) && netif_carrier_ok(netdev);

	attr->state = active ? IB_PORT_ACTIVE : IB_PORT_DOWN;
	attr->phys_state = active ? IB_PORT_PHYS_STATE_LINK_UP :
				    IB_PORT_PHYS_STATE_DISABLED;
	attr->max_mtu = IB_MTU_4096;
	attr->active_mtu = IB_MTU_4096;
	attr->phys_mtu = NTRDMA_UD_MAX;
	attr->gid_tbl_len = NTRDMA_GIDS;
	attr->pkey_tbl_len = 1;
	attr->port_cap_flags = IB_PORT_CM_SUP;
	attr->max_msg_sz = NTRDMA_MESSAGE_MAX;
	attr->max_vl_num = 1;
	attr->active_width = IB_WIDTH_4X;
	attr->active_speed = IB_SPEED_EDR;
	return 0;
}

static int ntrdma_get_port_immutable(struct ib_device *ib, u32 port,
				     struct ib_port_immutable *immutable)
{
	immutable->core_cap_flags = RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP;
	immutable->pkey_tbl_len = 1;
	immutable->gid_tbl_len = NTRDMA_GIDS;
	immutable->max_mad_size = IB_MGMT_MAD_SIZE;
	return 0;
}

static enum rdma_link_layer ntrdma_get_link_layer(struct ib_device *ib,
						  u32 port)
{
	return IB_LINK_LAYER_ETHERNET;
}

static int ntrdma_query_pkey(struct ib_device *ib, u32 port, u16 index,
			     u16 *pkey)
{
	if (index)
		return -EINVAL;

	*pkey = 0xffff;
	return 0;
}

/*
 * The core keeps the GID table, if these two functions exist. Frames have both
 * GIDs in them, so the device needs no table of its own.
 */
static int ntrdma_add_gid(const struct ib_gid_attr *attr, void **context)
{
	return 0;
}

static int ntrdma_del_gid(const struct ib_gid_attr *attr, void **context)
{
	return 0;
}

/* The caller puts the reference. */
static struct net_device *ntrdma_get_netdev(struct ib_device *ib, u32 port)
{
	struct net_device *netdev = to_ntrdma_dev(ib)->config.netdev;

	if (netdev->reg_state != NETREG_REGISTERED)
		return NULL;

	dev_hold(netdev);
	return netdev;
}

static const struct ib_device_ops ntrdma_ops = {
	.owner = THIS_MODULE,
	.driver_id = RDMA_DRIVER_UNKNOWN,

	.add_gid = ntrdma_add_gid,
	.alloc_hw_port_stats = ntrdma_alloc_hw_stats,
	.alloc_mr = ntrdma_alloc_mr,
	.alloc_pd = ntrdma_alloc_pd,
	.create_ah = ntrdma_create_ah,
	.create_cq = ntrdma_create_cq,
	.create_qp = ntrdma_create_qp,
	.create_srq = ntrdma_create_srq,
	.dealloc_driver = ntrdma_dealloc_driver,
	.dealloc_pd = ntrdma_dealloc_pd,
	.del_gid = ntrdma_del_gid,
	.dereg_mr = ntrdma_dereg_mr,
	.destroy_ah = ntrdma_destroy_ah,
	.destroy_cq = ntrdma_destroy_cq,
	.destroy_qp = ntrdma_destroy_qp,
	.destroy_srq = ntrdma_destroy_srq,
	.enable_driver = ntrdma_enable_driver,
	.fill_res_cq_entry = ntrdma_fill_res_cq,
	.fill_res_mr_entry = ntrdma_fill_res_mr,
	.fill_res_qp_entry = ntrdma_fill_res_qp,
	.get_dma_mr = ntrdma_get_dma_mr,
	.get_hw_stats = ntrdma_get_hw_stats,
	.get_link_layer = ntrdma_get_link_layer,
	.get_netdev = ntrdma_get_netdev,
	.get_port_immutable = ntrdma_get_port_immutable,
	.map_mr_sg = ntrdma_map_mr_sg,
	.modify_qp = ntrdma_modify_qp,
	.modify_srq = ntrdma_modify_srq,
	.poll_cq = ntrdma_poll_cq,
	.post_recv = ntrdma_post_recv,
	.post_send = ntrdma_post_send,
	.post_srq_recv = ntrdma_post_srq_recv,
	.query_ah = ntrdma_query_ah,
	.query_device = ntrdma_query_device,
	.query_pkey = ntrdma_query_pkey,
	.query_port = ntrdma_query_port,
	.query_qp = ntrdma_query_qp,
	.query_srq = ntrdma_query_srq,
	.reg_user_mr = ntrdma_reg_user_mr,
	.req_notify_cq = ntrdma_req_notify_cq,

	INIT_RDMA_OBJ_SIZE(ib_ah, ntrdma_ah, ib),
	INIT_RDMA_OBJ_SIZE(ib_cq, ntrdma_cq, ib),
	INIT_RDMA_OBJ_SIZE(ib_pd, ntrdma_pd, ib),
	INIT_RDMA_OBJ_SIZE(ib_qp, ntrdma_qp, ib),
	INIT_RDMA_OBJ_SIZE(ib_srq, ntrdma_srq, ib),
};

/**
 * ntrdma_ib_register - register the device with the RDMA core
 * @dev: device
 *
 * Context: may sleep; takes rtnl.
 * Return: 0 or an error code.
 */
int ntrdma_ib_register(struct ntrdma_dev *dev)
{
	struct ib_device *ib = &dev->ib;

	ib_set_device_ops(ib, &ntrdma_ops);
	ntrdma_uverbs_init(dev);
	ib->dev.parent = dev->config.dma_device;
	ib->node_type = RDMA_NODE_IB_CA;
	ib->node_guid = cpu_to_be64(dev->guid);
	ib->phys_port_cnt = 1;
	ib->num_comp_vectors = dev->lanes;
	ib->local_dma_lkey = 0;
	strscpy(ib->node_desc, "ntrdma", sizeof(ib->node_desc));
	return ib_register_device(ib, dev->config.name, dev->config.dma_device);
}
