// SPDX-License-Identifier: GPL-2.0
/*
 * Memory regions.
 *
 * A key is the index of the region in ntrdma_dev.mrs, shifted left by 8, and a
 * byte that the consumer changes at each registration. Index 0 is never used,
 * because the local key 0 gives kernel users access to all memory. The local
 * and the remote key of a region are the same number.
 *
 * A region for fast registration has two lists of pages. The consumer fills one
 * by map_mr_sg() while the other may be in use; REG_MR exchanges them. After
 * LOCAL_INV, SEND_WITH_INV or dereg_mr() no copy accesses the region: they take
 * ntrdma_mr.lock for writing, and each copy holds it for reading.
 *
 * The memory of a program is pinned and has one list of pages. Its region is
 * valid until it is destroyed.
 */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <rdma/ib_umem.h>

#include "emulate.h"
#include "verbs.h"

#define NTRDMA_REMOTE_RIGHTS \
	(IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE | \
	 IB_ACCESS_REMOTE_ATOMIC)

static void ntrdma_mr_free(struct ntrdma_mr *mr)
{
	kvfree(mr->pages);
	kfree(mr->next);
	if (mr->umem)
		ib_umem_release(mr->umem);
	kfree_rcu(mr, rcu);
}

/* Give the region an index, so that its key can be found. It stays invalid. */
static int ntrdma_mr_insert(struct ntrdma_mr *mr)
{
	struct ntrdma_dev *dev = mr->dev;
	u32 index;
	int ret;

	ret = xa_alloc_cyclic_bh(&dev->mrs, &index, mr,
				 XA_LIMIT(1, NTRDMA_MAX_MR), &dev->next_mr,
				 GFP_KERNEL);
	if (ret < 0)
		return ret;

	write_lock_bh(&mr->lock);
	mr->key = index << 8 | (get_random_u32() & 0xff);
	write_unlock_bh(&mr->lock);
	mr->ib.lkey = mr->key;
	mr->ib.rkey = mr->key;
	return 0;
}

static struct ntrdma_mr *ntrdma_mr_create(struct ib_pd *pd, enum ib_mr_type type,
					  u32 max_pages)
{
	struct ntrdma_mr *mr;
	int ret = -ENOMEM;

	mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	if (!mr)
		return ERR_PTR(-ENOMEM);

	rwlock_init(&mr->lock);
	mr->dev = to_ntrdma_dev(pd->device);
	mr->ib.device = pd->device;
	mr->ib.pd = pd;
	mr->ib.type = type;
	mr->max_pages = max_pages;
	if (max_pages) {
		mr->pages = kcalloc(max_pages, sizeof(*mr->pages), GFP_KERNEL);
		mr->next = kcalloc(max_pages, sizeof(*mr->next), GFP_KERNEL);
		if (!mr->pages || !mr->next)
			goto err_free;
	}

	ret = ntrdma_mr_insert(mr);
	if (ret)
		goto err_free;
	return mr;

err_free:
	ntrdma_mr_free(mr);
	return ERR_PTR(ret);
}

static void ntrdma_mr_destroy(struct ntrdma_mr *mr)
{
	write_lock_bh(&mr->lock);
	mr->valid = false;
	write_unlock_bh(&mr->lock);

	xa_erase_bh(&mr->dev->mrs, mr->key >> 8);
	ntrdma_mr_free(mr);
}

/**
 * ntrdma_get_dma_mr - create a region that contains all kernel memory
 * @pd: protection domain
 * @access: &enum ib_access_flags; remote rights are refused, because they would
 *	give the peer access to all memory
 *
 * Context: may sleep.
 * Return: region, or an ERR_PTR.
 */
struct ib_mr *ntrdma_get_dma_mr(struct ib_pd *pd, int access)
{
	struct ntrdma_mr *mr;

	if (access & (NTRDMA_REMOTE_RIGHTS | IB_ACCESS_MW_BIND))
		return ERR_PTR(-EINVAL);

	mr = ntrdma_mr_create(pd, IB_MR_TYPE_DMA, 0);
	if (IS_ERR(mr))
		return ERR_CAST(mr);

	write_lock_bh(&mr->lock);
	mr->access = access;
	mr->length = U64_MAX;
	mr->valid = true;
	write_unlock_bh(&mr->lock);
	return &mr->ib;
}

/**
 * ntrdma_alloc_mr - create a region for fast registration
 * @pd: protection domain
 * @type: %IB_MR_TYPE_MEM_REG
 * @max_pages: maximum number of pages
 *
 * Context: may sleep.
 * Return: region, or an ERR_PTR.
 */
struct ib_mr *ntrdma_alloc_mr(struct ib_pd *pd, enum ib_mr_type type,
			      u32 max_pages)
{
	u32 limit = pd->device->attrs.max_fast_reg_page_list_len;
	struct ntrdma_mr *mr;

	if (type != IB_MR_TYPE_MEM_REG)
		return ERR_PTR(-EOPNOTSUPP);
	if (!max_pages || max_pages > limit)
		return ERR_PTR(-EINVAL);

	mr = ntrdma_mr_create(pd, type, max_pages);
	if (IS_ERR(mr))
		return ERR_CAST(mr);
	return &mr->ib;
}

static int ntrdma_mr_pin(struct ntrdma_mr *mr, u64 start, u64 length, int access)
{
	struct ib_block_iter iter;
	struct ib_umem *umem;
	size_t i = 0;

	umem = ib_umem_get_va(mr->ib.device, start, length, access);
	if (IS_ERR(umem))
		return PTR_ERR(umem);
	mr->umem = umem;
	mr->pages = kvcalloc(ib_umem_num_pages(umem), sizeof(*mr->pages),
			     GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!mr->pages)
		return -ENOMEM;
	rdma_umem_for_each_dma_block(umem, &iter, PAGE_SIZE)
		mr->pages[i++] = rdma_block_iter_dma_address(&iter);
	return 0;
}

/**
 * ntrdma_reg_user_mr - create a region of a program's memory
 * @pd: protection domain
 * @start: address of the memory in the program
 * @length: bytes
 * @iova: address by which work requests name the first byte
 * @access: &enum ib_access_flags
 * @udata: program
 *
 * Context: may sleep.
 * Return: region, or an ERR_PTR: -EOPNOTSUPP: access that the device does not
 * have; -EINVAL: addresses overflow; -ENOMEM: also if the program exceeds its
 * limit of locked memory.
 */
struct ib_mr *ntrdma_reg_user_mr(struct ib_pd *pd, u64 start, u64 length,
				 u64 iova, int access,
				 KRDMA_REG_USER_MR_DMAH
				 struct ib_udata *udata)
{
	struct ntrdma_mr *mr;
	int ret;

	if (access & (IB_ACCESS_ON_DEMAND | IB_ACCESS_MW_BIND |
		      IB_ZERO_BASED))
		return ERR_PTR(-EOPNOTSUPP);
	if (iova + length < iova)
		return ERR_PTR(-EINVAL);
	mr = ntrdma_mr_create(pd, IB_MR_TYPE_USER, 0);
	if (IS_ERR(mr))
		return ERR_CAST(mr);
	ret = ntrdma_mr_pin(mr, start, length, access);
	if (ret) {
		ntrdma_mr_destroy(mr);
		return ERR_PTR(ret);
	}

	write_lock_bh(&mr->lock);
	mr->access = access;
	mr->iova = iova;
	mr->length = length;
	mr->offset = offset_in_page(start);
	mr->page_shift = PAGE_SHIFT;
	mr->valid = true;
	write_unlock_bh(&mr->lock);
	return &mr->ib;
}

static int ntrdma_mr_add_page(struct ib_mr *ib, u64 addr)
{
	struct ntrdma_mr *mr = to_ntrdma_mr(ib);

	if (mr->num_next == mr->max_pages)
		return -ENOMEM;

	mr->next[mr->num_next++] = addr;
	return 0;
}

/**
 * ntrdma_map_mr_sg - set the pages that the next REG_MR makes valid
 * @ib: region
 * @sg: list, mapped for DMA
 * @nents: number of entries of @sg
 * @offset: offset in the first entry, in bytes; may be NULL
 *
 * Context: does not sleep. The consumer serializes this call with REG_MR.
 * Return: number of entries that are mapped, or an error code.
 */
int ntrdma_map_mr_sg(struct ib_mr *ib, struct scatterlist *sg, int nents,
		     unsigned int *offset)
{
	struct ntrdma_mr *mr = to_ntrdma_mr(ib);
	int ret;

	mr->num_next = 0;
	/* ib_sg_to_pages() changes the length, which must fit the pages. */
	mr->mapped = false;
	if (!is_power_of_2(ib->page_size) ||
	    !(ib->page_size & ib->device->attrs.page_size_cap))
		return -EINVAL;

	ret = ib_sg_to_pages(ib, sg, nents, offset, ntrdma_mr_add_page);
	if (ret <= 0)
		mr->num_next = 0;
	/* The consumer may change the address in @ib before it posts REG_MR. */
	mr->next_offset = ib->iova & (ib->page_size - 1);
	return ret;
}

/**
 * ntrdma_dereg_mr - destroy a region
 * @ib: region
 * @udata: ignored
 *
 * Context: may sleep.
 * Return: 0.
 */
int ntrdma_dereg_mr(struct ib_mr *ib, struct ib_udata *udata)
{
	ntrdma_mr_destroy(to_ntrdma_mr(ib));
	return 0;
}

/*
 * Make the pages of map_mr_sg() those in use. If map_mr_sg() was not called since
 * the last REG_MR, the region has the same pages again, with another key. Caller
 * holds ntrdma_mr.lock.
 */
static void ntrdma_mr_exchange(struct ntrdma_mr *mr, u32 key, int access)
{
	lockdep_assert_held_write(&mr->lock);
	if (mr->num_next) {
		swap(mr->pages, mr->next);
		mr->num_next = 0;
		mr->mapped = true;
		mr->offset = mr->next_offset;
	}
	mr->page_shift = ilog2(mr->ib.page_size);
	mr->iova = mr->ib.iova;
	mr->length = mr->ib.length;
	mr->access = access;
	mr->key = key;
	mr->valid = true;
}

/**
 * ntrdma_mr_register - execute REG_MR
 * @mr: region
 * @pd: protection domain of the QP
 * @key: new key; the index is that of the region
 * @access: &enum ib_access_flags
 *
 * Context: does not sleep. Interrupts are enabled, and no lock of a region is
 * held.
 * Return: %IB_WC_SUCCESS; %IB_WC_LOC_PROT_ERR if the QP has another protection
 * domain; %IB_WC_MW_BIND_ERR if the key does not fit, the region is valid, or
 * map_mr_sg() was never called.
 */
enum ib_wc_status ntrdma_mr_register(struct ntrdma_mr *mr, struct ib_pd *pd,
				     u32 key, int access)
{
	enum ib_wc_status status = IB_WC_SUCCESS;

	write_lock_bh(&mr->lock);
	if (mr->ib.pd != pd)
		status = IB_WC_LOC_PROT_ERR;
	else if (mr->valid || !(mr->num_next || mr->mapped) ||
		 (mr->key ^ key) >> 8)
		status = IB_WC_MW_BIND_ERR;
	else
		ntrdma_mr_exchange(mr, key, access);
	write_unlock_bh(&mr->lock);
	return status;
}

/*
 * Check whether a key may be invalidated. The caller holds ntrdma_mr.lock for
 * writing, so no copy is running.
 */
static bool ntrdma_mr_may_invalidate(const struct ntrdma_mr *mr,
				     const struct ib_pd *pd, u32 key,
				     bool remote)
{
	lockdep_assert_held_write(&mr->lock);
	if (mr->ib.type != IB_MR_TYPE_MEM_REG || mr->ib.pd != pd ||
	    mr->key != key)
		return false;
	if (!remote)
		return mr->valid || !ntrdma_strict_inv;
	return mr->valid && mr->access & NTRDMA_REMOTE_RIGHTS;
}

/**
 * ntrdma_mr_invalidate - execute LOCAL_INV, or the invalidation of SEND_WITH_INV
 * @dev: device
 * @pd: protection domain of the QP
 * @key: key
 * @remote: the peer has requested it; the region must be valid, and the peer
 *	must have rights to it. A local request may name an invalid region
 *
 * When this function returns, no copy accesses the region.
 *
 * Context: does not sleep. Interrupts are enabled, and no lock of a region is
 * held.
 * Return: true if the region is invalid now; false if the key may not be
 * invalidated.
 */
bool ntrdma_mr_invalidate(struct ntrdma_dev *dev, struct ib_pd *pd, u32 key,
			  bool remote)
{
	struct ntrdma_mr *mr;
	bool may = false;

	rcu_read_lock();
	mr = xa_load(&dev->mrs, key >> 8);
	if (mr) {
		write_lock_bh(&mr->lock);
		may = ntrdma_mr_may_invalidate(mr, pd, key, remote);
		if (may)
			mr->valid = false;
		write_unlock_bh(&mr->lock);
	}
	rcu_read_unlock();
	return may;
}
