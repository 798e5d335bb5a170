// SPDX-License-Identifier: GPL-2.0
/*
 * Regions: memory of ours that the adapter may use, registered by fast
 * registration work requests (FRWR) in as many MRs as the device's limit asks
 * for (2 MiB each on rxe, 1 MiB on siw).
 *
 * A region belongs to one connection. Its keys are new for each connection and
 * die with it: krdma_region_unregister() runs after the drain, before the PD
 * goes. The memory itself stays until the connection's last reference.
 *
 * Addresses that the peer sees are offsets into the region, not kernel
 * pointers: the iova of an MR may be chosen freely as long as the offset in
 * the page is right (xprtrdma does the same in frwr_map()).
 */
#include <linux/mm.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "priv.h"

/**
 * struct krdma_region_mr - one MR of a region
 * @wr: completion of its registration
 * @mr: the MR
 * @sgt: its pages
 * @mapped: @sgt is DMA mapped
 * @len: bytes
 */
struct krdma_region_mr {
	struct krdma_wr wr;
	struct ib_mr *mr;
	struct sg_table sgt;
	bool mapped;
	u32 len;
};

/**
 * struct krdma_region - memory that an adapter may use
 * @vaddr: the memory, vmalloc()
 * @size: bytes, whole pages
 * @access: IB_ACCESS_* for the peer and the own adapter
 * @mr_size: bytes of each MR but the last
 * @nmrs: how many MRs
 * @mrs: in the order of addresses
 */
struct krdma_region {
	void *vaddr;
	u64 size;
	int access;
	u32 mr_size;
	u32 nmrs;
	struct krdma_region_mr mrs[];
};

static int krdma_region_fill_sgt(struct krdma_region *region,
				 struct krdma_region_mr *mr, u64 offset)
{
	unsigned int npages = mr->len >> PAGE_SHIFT, i;
	struct scatterlist *sg;
	int ret;

	ret = sg_alloc_table(&mr->sgt, npages, GFP_KERNEL);
	if (ret)
		return ret;
	for_each_sgtable_sg(&mr->sgt, sg, i)
		sg_set_page(sg, vmalloc_to_page(region->vaddr + offset +
						((u64)i << PAGE_SHIFT)),
			    PAGE_SIZE, 0);
	return 0;
}

static int krdma_region_fill(struct krdma_region *region)
{
	u64 offset;
	u32 i;
	int ret;

	for (i = 0; i < region->nmrs; i++) {
		offset = (u64)i * region->mr_size;
		region->mrs[i].len = min_t(u64, region->mr_size,
					   region->size - offset);
		ret = krdma_region_fill_sgt(region, &region->mrs[i], offset);
		if (ret)
			return ret;
	}
	return 0;
}

/**
 * krdma_region_create - allocate memory for a region
 * @conn: connection that is attached to its device
 * @size: bytes, rounded up to whole pages
 * @access: IB_ACCESS_*
 *
 * Return: zeroed memory that is not registered yet, for krdma_region_free(),
 * ERR_PTR(-ENOMEM), or ERR_PTR(-EOPNOTSUPP): a device without FRWR.
 */
struct krdma_region *krdma_region_create(struct krdma_conn *conn, size_t size,
					 int access)
{
	const struct ib_device_attr *attrs = &conn->cb.pd->device->attrs;
	struct krdma_region *region;
	u32 mr_size, nmrs;

	/* Without it the list length below is 0. */
	if (!(attrs->device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS))
		return ERR_PTR(-EOPNOTSUPP);
	mr_size = min(attrs->max_fast_reg_page_list_len, 512U) << PAGE_SHIFT;
	nmrs = DIV_ROUND_UP_ULL(PAGE_ALIGN(size), mr_size);
	region = kvzalloc(struct_size(region, mrs, nmrs), GFP_KERNEL);
	if (!region)
		return ERR_PTR(-ENOMEM);
	region->size = PAGE_ALIGN(size);
	region->access = access;
	region->mr_size = mr_size;
	region->nmrs = nmrs;
	region->vaddr = vzalloc(region->size);
	if (!region->vaddr || krdma_region_fill(region)) {
		krdma_region_free(region);
		return ERR_PTR(-ENOMEM);
	}
	return region;
}

/**
 * krdma_region_free - undo krdma_region_create()
 * @region: not registered (any more); may be NULL
 */
void krdma_region_free(struct krdma_region *region)
{
	u32 i;

	if (!region)
		return;
	for (i = 0; i < region->nmrs; i++)
		sg_free_table(&region->mrs[i].sgt);
	vfree(region->vaddr);
	kvfree(region);
}

static int krdma_region_map_mr(struct krdma_conn *conn,
			       struct krdma_region *region,
			       struct krdma_region_mr *mr)
{
	struct ib_pd *pd = conn->cb.pd;
	unsigned int npages = mr->len >> PAGE_SHIFT;
	struct ib_mr *ibmr;
	int nents;

	ibmr = ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG, npages);
	if (IS_ERR(ibmr))
		return PTR_ERR(ibmr);
	mr->mr = ibmr;
	nents = ib_dma_map_sg(pd->device, mr->sgt.sgl, npages,
			      DMA_BIDIRECTIONAL);
	if (!nents)
		return -ENOMEM;
	mr->sgt.nents = nents;
	mr->mapped = true;
	if (ib_map_mr_sg(ibmr, mr->sgt.sgl, nents, NULL, PAGE_SIZE) != nents)
		return -EINVAL;
	ib_update_fast_reg_key(ibmr, ib_inc_rkey(ibmr->rkey));
	ibmr->iova = (u64)(mr - region->mrs) * region->mr_size;
	return 0;
}

/* Embedded in the region, which outlives the drain. */
static void krdma_region_reg_done(struct krdma_wr *kwr)
{
}

static int krdma_region_register_mr(struct krdma_conn *conn,
				    struct krdma_region *region, u32 i,
				    struct krdma_op *op, unsigned long until)
{
	struct krdma_region_mr *mr = &region->mrs[i];
	struct ib_reg_wr reg = {
		.wr.opcode = IB_WR_REG_MR,
		.access = region->access,
	};
	int ret;

	ret = krdma_region_map_mr(conn, region, mr);
	if (ret)
		return ret;
	reg.mr = mr->mr;
	reg.key = mr->mr->rkey;
	krdma_wr_init(&mr->wr, conn, op, krdma_region_reg_done);
	return krdma_qp_post(conn, &mr->wr, &reg.wr, until);
}

/**
 * krdma_region_register - let the adapter use a region
 * @conn: established connection
 * @region: from krdma_region_create(); already where krdma_msg_stop() finds it
 * @until: time limit
 *
 * Return: 0 or -errno. On error some MRs may be registered, or about to be:
 * the caller aborts the connection, and krdma_region_unregister() runs after
 * the drain.
 */
int krdma_region_register(struct krdma_conn *conn, struct krdma_region *region,
			  unsigned long until)
{
	struct krdma_op *op = krdma_op_alloc();
	int ret = 0;
	u32 i;

	if (!op)
		return -ENOMEM;
	for (i = 0; i < region->nmrs && !ret; i++)
		ret = krdma_region_register_mr(conn, region, i, op, until);
	if (!ret)
		ret = krdma_op_wait(conn, op, until);
	krdma_op_put(op);
	return ret;
}

/**
 * krdma_region_unregister - take a region away from the adapter
 * @conn: connection whose QP is drained
 * @region: in whatever state krdma_region_register() left it
 *
 * Context: process.
 */
void krdma_region_unregister(struct krdma_conn *conn,
			     struct krdma_region *region)
{
	struct krdma_region_mr *mr;

	for (mr = region->mrs; mr < region->mrs + region->nmrs; mr++) {
		if (mr->mr)
			ib_dereg_mr(mr->mr);
		if (mr->mapped)
			ib_dma_unmap_sg(conn->cb.pd->device, mr->sgt.sgl,
					mr->len >> PAGE_SHIFT,
					DMA_BIDIRECTIONAL);
		mr->mr = NULL;
		mr->mapped = false;
	}
}

/**
 * krdma_region_segs - how many MRs a region has
 * @region: the region
 *
 * Return: the number.
 */
u32 krdma_region_segs(const struct krdma_region *region)
{
	return region->nmrs;
}

/**
 * krdma_region_seg - how a peer addresses one MR of a region
 * @region: registered region
 * @i: which
 * @seg: result
 */
void krdma_region_seg(const struct krdma_region *region, u32 i,
		      struct krdma_seg *seg)
{
	const struct krdma_region_mr *mr = &region->mrs[i];

	*seg = (struct krdma_seg){
		.addr = mr->mr->iova,
		.rkey = mr->mr->rkey,
		.len = mr->len,
	};
}

/**
 * krdma_region_lkey - the own adapter's key for one MR of a region
 * @region: registered region
 * @i: which
 *
 * Return: the key.
 */
u32 krdma_region_lkey(const struct krdma_region *region, u32 i)
{
	return region->mrs[i].mr->lkey;
}

/**
 * krdma_region_vaddr - the memory of a region
 * @region: the region
 *
 * Return: its kernel address.
 */
void *krdma_region_vaddr(const struct krdma_region *region)
{
	return region->vaddr;
}

/**
 * krdma_region_size - the size of a region
 * @region: the region
 *
 * Return: bytes, whole pages.
 */
u64 krdma_region_size(const struct krdma_region *region)
{
	return region->size;
}

static void krdma_region_sync(struct krdma_conn *conn,
			      struct krdma_region *region, bool for_cpu)
{
	struct ib_device *ibdev = conn->cb.pd->device;
	struct krdma_region_mr *mr;
	struct scatterlist *sg;
	int i;

	/* Software devices use the CPU's view. */
	if (ib_uses_virt_dma(ibdev))
		return;
	for (mr = region->mrs; mr < region->mrs + region->nmrs; mr++) {
		for_each_sgtable_dma_sg(&mr->sgt, sg, i) {
			if (for_cpu)
				ib_dma_sync_single_for_cpu(ibdev,
							   sg_dma_address(sg),
							   sg_dma_len(sg),
							   DMA_BIDIRECTIONAL);
			else
				ib_dma_sync_single_for_device(ibdev,
							      sg_dma_address(sg),
							      sg_dma_len(sg),
							      DMA_BIDIRECTIONAL);
		}
	}
}

/**
 * krdma_region_sync_for_cpu - before the CPU looks
 * @conn: connection
 * @region: registered region
 */
void krdma_region_sync_for_cpu(struct krdma_conn *conn,
			       struct krdma_region *region)
{
	krdma_region_sync(conn, region, true);
}

/**
 * krdma_region_sync_for_device - after the CPU wrote
 * @conn: connection
 * @region: registered region
 */
void krdma_region_sync_for_device(struct krdma_conn *conn,
				  struct krdma_region *region)
{
	krdma_region_sync(conn, region, false);
}
