// SPDX-License-Identifier: GPL-2.0
/*
 * Protection domains and address handles.
 *
 * A protection domain is only the identity of the core's object. An address
 * handle is a copy of the addresses that a datagram needs. The CM creates
 * handles in atomic context, so nothing here sleeps or allocates memory, except
 * for programs: a request of a program names a handle by its number.
 */
#include <linux/etherdevice.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>

#include "verbs.h"

/**
 * ntrdma_alloc_pd - create a protection domain
 * @ib: domain, allocated by the core
 * @udata: ignored
 *
 * Return: 0, or -ENOSPC if there are too many.
 */
int ntrdma_alloc_pd(struct ib_pd *ib, struct ib_udata *udata)
{
	struct ntrdma_dev *dev = to_ntrdma_dev(ib->device);

	return atomic_add_unless(&dev->num_pds, 1, NTRDMA_MAX_PD) ? 0 : -ENOSPC;
}

/**
 * ntrdma_dealloc_pd - destroy a protection domain
 * @ib: domain
 * @udata: ignored
 *
 * Return: 0.
 */
int ntrdma_dealloc_pd(struct ib_pd *ib, struct ib_udata *udata)
{
	atomic_dec(&to_ntrdma_dev(ib->device)->num_pds);
	return 0;
}

/* Check whether an address is that of one member, with a source GID. */
static bool ntrdma_ah_attr_is_valid(const struct rdma_ah_attr *attr)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(attr);

	return attr->type == RDMA_AH_ATTR_TYPE_ROCE &&
	       rdma_ah_get_ah_flags(attr) & IB_AH_GRH && grh->sgid_attr &&
	       is_valid_ether_addr(attr->roce.dmac) &&
	       !rdma_is_multicast_addr((struct in6_addr *)grh->dgid.raw);
}

/**
 * ntrdma_create_ah - create an address handle
 * @ib: handle, allocated by the core
 * @init: addresses
 * @udata: NULL
 *
 * Context: any.
 * Return: 0; -EINVAL if the address is not that of one member; -ENODEV if the
 * interface of the source GID is not present.
 */
int ntrdma_create_ah(struct ib_ah *ib, struct rdma_ah_init_attr *init,
		     struct ib_udata *udata)
{
	const struct rdma_ah_attr *attr = init->ah_attr;
	const struct ib_global_route *grh;
	struct ntrdma_ah *ah = to_ntrdma_ah(ib);

	if (!ntrdma_ah_attr_is_valid(attr))
		return -EINVAL;

	grh = rdma_ah_read_grh(attr);
	ether_addr_copy(ah->mac, attr->roce.dmac);
	ah->sgid = grh->sgid_attr->gid;
	ah->dgid = grh->dgid;
	return rdma_read_gid_l2_fields(grh->sgid_attr, &ah->vlan, NULL);
}

/* Give a handle a number, and pass the number to the program. */
static int ntrdma_ah_publish(struct ntrdma_ah *ah, struct ib_udata *udata)
{
	struct ntrdma_dev *dev = to_ntrdma_dev(ah->ib.device);
	struct rxe_create_ah_resp answer = {};
	int ret;

	ret = xa_alloc_irq(&dev->ahs, &ah->number, ah,
			   XA_LIMIT(1, NTRDMA_MAX_AH), GFP_KERNEL);
	if (ret)
		return ret;
	answer.ah_num = ah->number;
	ret = ntrdma_respond(udata, &answer, sizeof(answer));
	if (ret)
		xa_erase_irq(&dev->ahs, ah->number);
	return ret;
}

/**
 * ntrdma_create_user_ah - create an address handle of a program
 * @ib: handle, allocated by the core
 * @init: addresses
 * @udata: program
 *
 * Context: may sleep.
 * Return: as ntrdma_create_ah(); -EINVAL: the library is so old that its
 * requests have addresses instead of numbers; -EBUSY: too many handles;
 * -ENOMEM; -EFAULT.
 */
int ntrdma_create_user_ah(struct ib_ah *ib, struct rdma_ah_init_attr *init,
			  struct ib_udata *udata)
{
	int ret = ntrdma_create_ah(ib, init, udata);

	return ret ?: ntrdma_ah_publish(to_ntrdma_ah(ib), udata);
}

/**
 * ntrdma_ah_get - copy an address handle of a program
 * @pd: protection domain of the QP
 * @number: number of the handle; a program may have written any number
 * @copy: where to store the handle
 *
 * The lock of the xarray keeps the handle from being freed while it is copied.
 *
 * Context: interrupts are disabled.
 * Return: false if the protection domain has no such handle.
 */
bool ntrdma_ah_get(struct ib_pd *pd, u32 number, struct ntrdma_ah *copy)
{
	struct ntrdma_dev *dev = to_ntrdma_dev(pd->device);
	struct ntrdma_ah *ah;
	bool found;

	xa_lock(&dev->ahs);
	ah = xa_load(&dev->ahs, number);
	found = ah && ah->ib.pd == pd;
	if (found)
		*copy = *ah;
	xa_unlock(&dev->ahs);
	return found;
}

/**
 * ntrdma_query_ah - return the addresses of a handle
 * @ib: handle
 * @attr: where to store them
 *
 * Traffic class, flow label and hop limit are not kept, because no datagram
 * uses them.
 *
 * Context: any.
 * Return: 0.
 */
int ntrdma_query_ah(struct ib_ah *ib, struct rdma_ah_attr *attr)
{
	struct ntrdma_ah *ah = to_ntrdma_ah(ib);

	memset(attr, 0, sizeof(*attr));
	attr->type = RDMA_AH_ATTR_TYPE_ROCE;
	rdma_ah_set_port_num(attr, 1);
	rdma_ah_set_grh(attr, &ah->dgid, 0, ib->sgid_attr->index, 0, 0);
	ether_addr_copy(attr->roce.dmac, ah->mac);
	return 0;
}

/**
 * ntrdma_destroy_ah - destroy an address handle
 * @ib: handle
 * @flags: &enum rdma_destroy_ah_flags
 *
 * Context: any; for a handle of a program: process.
 * Return: 0.
 */
int ntrdma_destroy_ah(struct ib_ah *ib, u32 flags)
{
	struct ntrdma_ah *ah = to_ntrdma_ah(ib);

	if (ah->number)
		xa_erase_irq(&to_ntrdma_dev(ib->device)->ahs, ah->number);
	return 0;
}
