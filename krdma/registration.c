// SPDX-License-Identifier: GPL-2.0
/*
 * Regions: memory that the local adapter and, if permitted, the peer may use.
 * They are registered by fast registration work requests (FRWR), in as many MRs
 * as the device's limit requires (2 MiB each on rxe, 1 MiB on siw).
 *
 * The MRs come from the connection's pool, see frwr.c. They return to it if
 * they were invalidated before the region is freed.
 *
 * A region belongs to one connection, and is on its krdma_conn.mr.regions, or
 * to a domain, see domain_region.c. The keys of a connection's region become
 * invalid when the connection ends: krdma_regions_unregister() runs after the
 * drain, before the PD is freed. A region of a user stays until the user puts
 * it, and holds a reference to the connection.
 *
 * Addresses that the peer sees are offsets into the region, not kernel
 * pointers. The iova of an MR may be any address with the correct offset in the
 * page. An adapter finds the first byte by the DMA address of the page and the
 * offset in the iova. So the offset in the iova must equal the offset in the
 * DMA address. With bounce buffers (swiotlb), a short piece may have another
 * offset in the bounce buffer than in its own page.
 *
 * Therefore a region has one MR for each chunk of memory that is mapped as a
 * whole, see dma.c, and more only if the DMA addresses have a gap.
 */
#include <linux/dma-mapping.h>
#include <linux/export.h>
#include <linux/mm.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <linux/wait_bit.h>
#include <linux/xarray.h>

#include "cm.h"
#include "quirks.h"
#include "registration.h"
#include "trace.h"

/*
 * Maximum size of a region in bytes. A description of a region has at most
 * KRDMA_WIRE_SEGS_MAX (1024) segments, one for each MR. If an MR has 1 MiB
 * (siw), they cover 1 GiB.
 */
#define KRDMA_REGION_MAX BIT(30)

/*
 * Maximum number of connections of a domain that try in turn to register a
 * region.
 */
#define KRDMA_SHARE_TRIES 3

/* On iWARP the peer's adapter may write to a sink. */
#define KRDMA_REGION_REMOTE (KRDMA_REMOTE_READ | KRDMA_REMOTE_WRITE | \
			     KRDMA_REMOTE_ATOMIC | KRDMA_READ_SINK | \
			     KRDMA_REMOTE_INVALIDATE)
#define KRDMA_REGION_ACCESS (KRDMA_REGION_REMOTE | KRDMA_NO_SOURCE | \
			     KRDMA_COHERENT | KRDMA_DOMAIN)

/**
 * struct krdma_memory - memory of a region
 * @pages: pages of the memory
 * @first: offset of the first byte in the first page
 * @len: length in bytes
 * @is_ours: the rest of the last page also belongs to krdma
 */
struct krdma_memory {
	struct page **pages;
	u32 first;
	u64 len;
	bool is_ours;
};

/* ---- the memory ---- */

static u32 krdma_region_mr_size(const struct krdma_conn *conn)
{
	return krdma_region_mr_pages(conn->cb.pd->device) << PAGE_SHIFT;
}

static int krdma_region_check(const struct krdma_conn *conn, u32 access,
			      u32 first, u64 len)
{
	const struct ib_device_attr *attrs = &conn->cb.pd->device->attrs;

	if (access & ~(u32)KRDMA_REGION_ACCESS || !len)
		return -EINVAL;
	if (krdma_conn_is_sealed(conn) && access & KRDMA_REGION_REMOTE)
		return -EOPNOTSUPP;
	/*
	 * Keys of a domain serve several connections, so no peer may invalidate
	 * one.
	 */
	if (access & KRDMA_DOMAIN &&
	    (!conn->domain || access & KRDMA_REMOTE_INVALIDATE))
		return -EINVAL;
	/*
	 * A message can invalidate only one key, so the region must fit into
	 * one MR.
	 */
	if (access & KRDMA_REMOTE_INVALIDATE &&
	    first + len > krdma_region_mr_size(conn))
		return -EINVAL;
	if (!(attrs->device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS) ||
	    !krdma_region_mr_size(conn) ||
	    (access & KRDMA_REMOTE_ATOMIC &&
	     attrs->atomic_cap == IB_ATOMIC_NONE))
		return -EOPNOTSUPP;
	return 0;
}

/**
 * krdma_region_free - free a region and memory that it owns
 * @region: region that is neither registered nor mapped, without references
 */
void krdma_region_free(struct krdma_region *region)
{
	u32 i;

	krdma_stats_del_region(&region->stats);
	for (i = 0; i < region->nchunks; i++)
		krdma_chunk_free(&region->chunks[i]);
	if (region->owned)
		vfree(region->vaddr);
	kvfree(region->mrs);
	kvfree(region);
}

/**
 * krdma_region_mr_pages - return the maximum size of one MR
 * @ibdev: device
 *
 * Return: number of kernel pages; 0 if the device has no fast registration, or
 * an MR cannot hold a kernel page.
 */
u32 krdma_region_mr_pages(const struct ib_device *ibdev)
{
	return (u64)krdma_dma_mr_entries(ibdev) * krdma_mr_page_size(ibdev) >>
	       PAGE_SHIFT;
}

static struct krdma_region *krdma_region_make(struct krdma_conn *conn,
					      const struct krdma_memory *memory,
					      u32 access)
{
	u32 chunk_size = krdma_region_mr_size(conn);
	u32 nchunks = DIV_ROUND_UP_ULL(memory->first + memory->len, chunk_size);
	struct page **pages = memory->pages;
	u32 first = memory->first, i, len, pad;
	struct krdma_region *region;
	u64 left = memory->len;
	int ret = 0;

	region = kvzalloc(struct_size(region, chunks, nchunks), GFP_KERNEL);
	if (!region)
		return ERR_PTR(-ENOMEM);
	region->size = memory->len;
	region->first = memory->first;
	region->dir = krdma_dma_region_dir(access);
	if (region->dir != DMA_TO_DEVICE)
		region->access |= IB_ACCESS_LOCAL_WRITE;
	if (access & KRDMA_REMOTE_READ)
		region->access |= IB_ACCESS_REMOTE_READ;
	if (access & KRDMA_REMOTE_WRITE)
		region->access |= IB_ACCESS_REMOTE_WRITE;
	if (access & KRDMA_REMOTE_ATOMIC)
		region->access |= IB_ACCESS_REMOTE_ATOMIC;
	/*
	 * On iWARP the answer to a READ arrives as a tagged write (RFC 5040
	 * 5.3). So the peer needs the right to write to the target.
	 */
	if (access & KRDMA_READ_SINK &&
	    rdma_protocol_iwarp(conn->cb.pd->device, 1))
		region->access |= IB_ACCESS_REMOTE_WRITE;
	/*
	 * With KRDMA_COHERENT, memory that needs bounce buffers is refused.
	 * Only the mapped memory shows whether it needs them. Mapping and
	 * unmapping must not copy between the memory and the bounce buffers,
	 * because refused memory must stay unchanged.
	 */
	region->attrs = access & KRDMA_COHERENT ? DMA_ATTR_SKIP_CPU_SYNC : 0;
	region->ibdev = conn->cb.pd->device;
	region->is_soft = ib_uses_virt_dma(region->ibdev);
	region->page_size = krdma_mr_page_size(region->ibdev);
	region->chunk_size = chunk_size;
	region->nchunks = nchunks;
	INIT_LIST_HEAD(&region->link);
	INIT_LIST_HEAD(&region->stats.link);
	/* Divide the memory into chunks. */
	for (i = 0; i < nchunks && !ret; i++) {
		len = min_t(u64, chunk_size - first, left);
		left -= len;
		pad = 0;
		if (memory->is_ours && !left)
			pad = -(first + len) & ~PAGE_MASK;
		ret = krdma_chunk_fill(&region->chunks[i], pages, first, len,
				       pad);
		pages += chunk_size >> PAGE_SHIFT;
		first = 0;
	}
	if (ret) {
		krdma_region_free(region);
		return ERR_PTR(-ENOMEM);
	}
	return region;
}

/* ---- mapping ---- */

/*
 * Map as many elements of @sg as fit into one MR, from byte *@skip of the first
 * element on.
 * Return: number of elements that are mapped to their end, or an errno.
 */
static int krdma_region_map_mr(struct krdma_conn *conn,
			       struct krdma_region *region,
			       struct scatterlist *sg, u32 nents, u32 *skip)
{
	u32 max = krdma_dma_mr_entries(conn->cb.pd->device), entries;
	struct krdma_region_mr *mr = &region->mrs[region->nmrs];
	struct krdma_frwr *frwr;
	u64 offset = 0;
	int n;

	if (WARN_ON_ONCE(region->nmrs == region->room))
		return -EINVAL;
	/* The MR begins where the previous one ends. */
	if (region->nmrs)
		offset = mr[-1].offset + mr[-1].len;
	entries = krdma_dma_entries(sg, nents, region->page_size);
	frwr = krdma_frwr_get(conn, min(entries, max));
	if (IS_ERR(frwr))
		return PTR_ERR(frwr);
	region->nmrs++;
	mr->frwr = frwr;
	mr->mr = frwr->mr;
	n = ib_map_mr_sg(mr->mr, sg, nents, skip, region->page_size);
	if (n < 0)
		return n;
	if (!mr->mr->length)
		return -EINVAL;
	/*
	 * ib_map_mr_sg() has set the low bits of iova to the offset of the DMA
	 * address in its page. Keep these bits.
	 */
	mr->mr->iova = ALIGN_DOWN(region->first + offset, PAGE_SIZE) +
		       (mr->mr->iova & ~PAGE_MASK);
	mr->iova = mr->mr->iova;
	mr->offset = offset;
	mr->len = mr->mr->length;
	mr->rkey = mr->mr->rkey;
	mr->lkey = mr->mr->lkey;
	return n;
}

static int krdma_region_map_mrs(struct krdma_conn *conn,
				struct krdma_region *region,
				struct krdma_chunk *chunk)
{
	struct scatterlist *sg, *last = chunk->sgt.sgl;
	u32 nents = chunk->sgt.nents, skip = 0;
	int n = 0, i;

	/*
	 * Leave out the bytes behind the region, which are mapped for DMA but
	 * must not be registered.
	 */
	for_each_sgtable_dma_sg(&chunk->sgt, sg, i)
		last = sg;
	sg = chunk->sgt.sgl;
	sg_dma_len(last) -= chunk->pad;
	while (nents && n >= 0) {
		n = krdma_region_map_mr(conn, region, sg, nents, &skip);
		if (n < 0)
			break;
		for (nents -= n; n; n--)
			sg = sg_next(sg);
	}
	sg_dma_len(last) += chunk->pad;
	return min(n, 0);
}

/* Mark the first @n MRs as invalid. */
static void krdma_region_set_invalid(struct krdma_region *region, u32 n)
{
	u32 i;

	/* Teardown may read the flag at the same time; both values are safe. */
	for (i = 0; i < n; i++)
		WRITE_ONCE(region->mrs[i].invalid, true);
}

/**
 * krdma_region_execute - post a work request for each of the first MRs, and
 * wait for all
 * @conn: connection whose queue pair is used
 * @region: region of @conn or of its domain
 * @kind: KRDMA_WR_REGISTER; or KRDMA_WR_INVALIDATE: nothing is posted for an MR
 *	that is known to be invalid
 * @n: number of MRs
 * @until: time limit in jiffies, from krdma_deadline()
 *
 * After an error the connection ends. Exception: it stays if nothing was
 * posted, or if every posted work request has succeeded.
 *
 * Context: process, may sleep.
 * Return: 0 or an errno.
 */
int krdma_region_execute(struct krdma_conn *conn, struct krdma_region *region,
			 u8 kind, u32 n, unsigned long until)
{
	struct krdma_op *op = krdma_op_alloc(conn, n, 0);
	struct krdma_region_mr *mr;
	struct krdma_call *call;
	int ret = 0;

	if (!op)
		return -ENOMEM;
	for (mr = region->mrs; mr < region->mrs + n; mr++) {
		if (kind == KRDMA_WR_INVALIDATE && READ_ONCE(mr->invalid))
			continue;
		call = krdma_op_add(conn, op, kind);
		call->req.wr.urgent = true;
		call->mr = mr->mr;
		call->key = mr->rkey;
		call->access = region->access;
	}
	if (op->n)
		ret = krdma_op_post(conn, op) ?:
		      krdma_op_settle(conn, op, until);
	region->share.refused |= ret && READ_ONCE(op->refused);
	krdma_op_put(op);
	return ret;
}

static void krdma_region_assert_held(const struct krdma_conn *conn,
				     const struct krdma_region *region)
{
	if (conn)
		lockdep_assert_held(&conn->setup);
	else
		lockdep_assert_held(&region->share.dev->lock);
}

/**
 * krdma_region_unregister - free the MRs of a region, and unmap it
 * @conn: connection whose pool gets the MRs if they are known to be invalid;
 *	NULL: the region belongs to a domain
 * @region: region; no work request uses its MRs
 *
 * Context: process, krdma_conn.setup held or, for a domain, krdma_dev.lock.
 */
void krdma_region_unregister(struct krdma_conn *conn,
			     struct krdma_region *region)
{
	struct krdma_region_mr *mr;
	u32 i;

	krdma_region_assert_held(conn, region);
	if (conn)
		krdma_noio_check(conn);
	region->usable = false;
	if (region->stats.live)
		trace_krdma_region_unregister(&region->stats);
	WRITE_ONCE(region->stats.live, false);
	for (mr = region->mrs; mr < region->mrs + region->nmrs; mr++) {
		if (mr->frwr)
			krdma_frwr_put(conn, mr->frwr, READ_ONCE(mr->invalid));
		mr->frwr = NULL;
	}
	/* If syncs is 0, the region was never mapped, or has been unmapped. */
	if (!refcount_read(&region->syncs))
		return;
	if (!refcount_dec_and_test(&region->syncs))
		wait_var_event(&region->syncs, !refcount_read(&region->syncs));
	for (i = 0; i < region->nchunks; i++)
		krdma_chunk_unmap(region->ibdev, &region->chunks[i],
				  region->dir, region->attrs);
}

/**
 * krdma_regions_unregister - free the MRs of all regions, and unmap them
 * @conn: connection whose QP is drained
 *
 * Context: process, @conn->setup held.
 */
void krdma_regions_unregister(struct krdma_conn *conn)
{
	struct krdma_region *region;

	lockdep_assert_held(&conn->setup);
	list_for_each_entry(region, &conn->mr.regions, link)
		krdma_region_unregister(conn, region);
	krdma_frwrs_free(conn);
}

static int krdma_region_map(struct krdma_conn *conn,
			    struct krdma_region *region, u32 access)
{
	struct krdma_chunk *chunk = region->chunks;
	struct krdma_chunk *end = chunk + region->nchunks;
	bool coherent = true;
	u32 room = 0;
	int ret = 0;

	lockdep_assert_held(&conn->setup);
	for (; chunk < end && !ret; chunk++) {
		ret = krdma_chunk_map(region->ibdev, chunk, region->dir,
				      region->attrs);
		if (!ret)
			coherent &= krdma_chunk_is_coherent(region->ibdev,
							    chunk);
	}
	region->coherent = coherent && !ret;
	refcount_set(&region->syncs, 1);
	if (ret)
		return ret;
	if (access & KRDMA_COHERENT && !coherent)
		return -EOPNOTSUPP;
	for (chunk = region->chunks; chunk < end; chunk++)
		room += krdma_dma_runs(chunk, region->page_size);
	region->mrs = kvcalloc(room, sizeof(*region->mrs), GFP_KERNEL);
	if (!region->mrs)
		return -ENOMEM;
	region->room = room;
	for (chunk = region->chunks; chunk < end && !ret; chunk++)
		ret = krdma_region_map_mrs(conn, region, chunk);
	/*
	 * The DMA addresses of bounce buffers may have gaps, so the region may
	 * have several MRs. A message can invalidate only one.
	 */
	if (!ret && access & KRDMA_REMOTE_INVALIDATE && region->nmrs != 1)
		ret = -EOPNOTSUPP;
	return ret;
}

/*
 * Return the index of a region in krdma_conn.mr.invalidatable: the adapter's
 * part of the key. The other eight bits of the key change with each
 * registration of the MR.
 */
static unsigned long krdma_region_index(const struct krdma_region *region)
{
	return region->mrs[0].rkey >> 8;
}

/*
 * Create and map a region, but do not register it. Mapping needs the device,
 * which exists while setup is held.
 */
static struct krdma_region *
krdma_region_new_locked(struct krdma_conn *conn,
			const struct krdma_memory *memory, u32 access)
{
	struct krdma_region *region;
	int ret;

	lockdep_assert_held(&conn->setup);
	if (!conn->cb.pd || conn->hw.drained)
		return ERR_PTR(krdma_last_error(&conn->cb) ?: -ENOTCONN);
	ret = krdma_region_check(conn, access, memory->first, memory->len);
	if (ret)
		return ERR_PTR(ret);
	region = krdma_region_make(conn, memory, access);
	if (IS_ERR(region))
		return region;
	ret = krdma_region_map(conn, region, access);
	if (!ret && access & KRDMA_REMOTE_INVALIDATE) {
		/* Reserve memory for the entry of krdma_region_open(). */
		ret = xa_reserve_irq(&conn->mr.invalidatable,
				     krdma_region_index(region), GFP_KERNEL);
		region->invalidatable = !ret;
	}
	if (ret) {
		krdma_region_unregister(conn, region);
		krdma_region_free(region);
		return ERR_PTR(ret);
	}
	if (access & KRDMA_DOMAIN) {
		krdma_share_begin(conn, region);
	} else {
		region->conn = conn;
		/* krdma_region_put() puts this reference. */
		krdma_conn_get(conn);
		list_add_tail(&region->link, &conn->mr.regions);
		region->stats.conn_id = conn->stats.id;
	}
	region->stats.size = region->size;
	region->stats.nmrs = region->nmrs;
	region->stats.access = region->access;
	region->stats.rkey = region->mrs[0].rkey;
	krdma_stats_add_region(&region->stats);
	return region;
}

/* Allow use of the region: from here on it may be described to the peer. */
static void krdma_region_open(struct krdma_conn *conn,
			      struct krdma_region *region)
{
	unsigned long flags;

	trace_krdma_region_register(&region->stats);
	spin_lock_irqsave(&conn->lock, flags);
	krdma_count_locked(conn, KRDMA_COUNT_REGISTERED, 1);
	/*
	 * In the state KRDMA_CLOSING, teardown may already have freed the MRs.
	 * So the region stays unusable.
	 */
	if (conn->cb.state < KRDMA_CLOSING) {
		WRITE_ONCE(region->stats.live, true);
		/* Pairs with krdma_region_is_of(). */
		smp_store_release(&region->usable, true);
	}
	spin_unlock_irqrestore(&conn->lock, flags);
	/*
	 * krdma_region_new_locked() has reserved the entry, so this allocates
	 * no memory.
	 */
	if (region->invalidatable)
		xa_store_irq(&conn->mr.invalidatable,
			     krdma_region_index(region), region, GFP_KERNEL);
}

/* Create a region and register it with the queue pair of @conn. */
static struct krdma_region *krdma_region_new_by(struct krdma_conn *conn,
						const struct krdma_memory *memory,
						u32 access, unsigned long until,
						bool *refused)
{
	struct krdma_region *region;
	int ret;

	*refused = false;
	mutex_lock(&conn->setup);
	region = krdma_region_new_locked(conn, memory, access);
	mutex_unlock(&conn->setup);
	if (IS_ERR(region))
		return region;
	ret = krdma_region_execute(conn, region, KRDMA_WR_REGISTER,
				   region->nmrs, until);
	if (ret) {
		*refused = region->share.refused;
		if (krdma_region_is_shared(region))
			krdma_share_failed(conn, region);
		else
			krdma_region_put(region);
		return ERR_PTR(ret);
	}
	if (krdma_region_is_shared(region))
		krdma_share_open(conn, region);
	else
		krdma_region_open(conn, region);
	return region;
}

/*
 * Create a region of a domain, and register it. If the queue pair fails before
 * it has registered the region, another connection of the domain registers it.
 * That connection uses new MRs, because the adapter may have registered some
 * MRs of the first attempt. A registration that the adapter itself refuses is
 * not repeated, because it would end one connection after another.
 */
static struct krdma_region *
krdma_region_new_shared(struct krdma_conn *conn,
			const struct krdma_memory *memory, u32 access,
			unsigned long until)
{
	struct krdma_dev *dev = krdma_share_get_dev(conn);
	struct krdma_region *region;
	struct krdma_conn *next;
	u32 tries = KRDMA_SHARE_TRIES;
	bool refused;

	krdma_conn_get(conn);
	for (;;) {
		region = krdma_region_new_by(conn, memory, access, until,
					     &refused);
		if (!IS_ERR(region) || refused || !--tries)
			break;
		next = krdma_share_next_conn(dev, conn, PTR_ERR(region), until);
		if (!next)
			break;
		krdma_conn_put(conn);
		conn = next;
	}
	krdma_conn_put(conn);
	krdma_dev_put(dev);
	return region;
}

static struct krdma_region *krdma_region_new(struct krdma_conn *conn,
					     const struct krdma_memory *memory,
					     u32 access, unsigned long until)
{
	u32 n = DIV_ROUND_UP(memory->first + memory->len, PAGE_SIZE), i;
	int ret = krdma_conn_check_msg(conn);
	bool refused;

	for (i = 0; i < n && !ret; i++)
		if (!krdma_dma_page_ok(memory->pages[i]))
			ret = -EINVAL;
	if (ret)
		return ERR_PTR(ret);
	if (access & KRDMA_DOMAIN)
		return krdma_region_new_shared(conn, memory, access, until);
	return krdma_region_new_by(conn, memory, access, until, &refused);
}

static struct krdma_region *krdma_region_of(struct krdma_conn *conn, void *addr,
					    size_t len, bool is_ours,
					    u32 access, unsigned long until)
{
	struct krdma_memory memory = {
		.first = offset_in_page(addr),
		.len = len,
		.is_ours = is_ours,
	};
	u32 npages = DIV_ROUND_UP(memory.first + len, PAGE_SIZE), i;
	struct krdma_region *region;
	void *page = addr - memory.first;

	if (!krdma_dma_virt_ok(addr, len))
		return ERR_PTR(-EINVAL);
	memory.pages = kvmalloc_array(npages, sizeof(*memory.pages),
				      GFP_KERNEL);
	if (!memory.pages)
		return ERR_PTR(-ENOMEM);
	for (i = 0; i < npages; i++, page += PAGE_SIZE)
		memory.pages[i] = is_vmalloc_addr(addr) ?
				  vmalloc_to_page(page) : virt_to_page(page);
	region = krdma_region_new(conn, &memory, access, until);
	kvfree(memory.pages);
	if (!IS_ERR(region))
		region->vaddr = addr;
	return region;
}

/**
 * krdma_region_from_memory - create a region of contiguous kernel memory
 * @conn: connection
 * @addr: memory of the caller
 * @len: length in bytes, not 0
 * @access: KRDMA_REMOTE_*, KRDMA_READ_SINK
 * @until: time limit in jiffies, from krdma_deadline()
 *
 * Return: as krdma_region_alloc(); -EINVAL if krdma_dma_virt_ok() is false.
 */
struct krdma_region *krdma_region_from_memory(struct krdma_conn *conn,
					      void *addr, size_t len, u32 access,
					      unsigned long until)
{
	return krdma_region_of(conn, addr, len, false, access, until);
}

/*
 * Create a region that owns the memory at @vaddr. On error free the memory.
 * @vaddr is NULL if the caller could not allocate it.
 */
static struct krdma_region *krdma_region_own(struct krdma_conn *conn,
					     void *vaddr, size_t size,
					     u32 access, unsigned long until)
{
	struct krdma_region *region;

	if (!vaddr)
		return ERR_PTR(-ENOMEM);
	region = krdma_region_of(conn, vaddr, size, true, access, until);
	if (IS_ERR(region)) {
		vfree(vaddr);
		return region;
	}
	region->owned = true;
	/*
	 * Internal regions hold no reference to their connection, so put the
	 * reference that krdma_region_new_locked() has taken. A region of a
	 * domain has none.
	 */
	if (!krdma_region_is_shared(region))
		krdma_conn_put(conn);
	return region;
}

/**
 * krdma_region_create - create an internal region with memory
 * @conn: connection; the region holds no reference to it
 * @size: size in bytes
 * @access: KRDMA_REMOTE_*, KRDMA_READ_SINK
 * @until: time limit in jiffies, from krdma_deadline()
 *
 * Return: region that exists as long as @conn or, with KRDMA_DOMAIN, until
 * krdma_region_put(); errors as krdma_region_alloc().
 */
struct krdma_region *krdma_region_create(struct krdma_conn *conn, size_t size,
					 u32 access, unsigned long until)
{
	if (!size || size > KRDMA_REGION_MAX)
		return ERR_PTR(-EINVAL);
	return krdma_region_own(conn, vzalloc(size), size, access, until);
}

/**
 * krdma_region_sink - create a region as target of READs
 * @conn: connection; the region holds no reference to it
 * @size: size in bytes, up to 1 GiB
 * @until: time limit in jiffies, from krdma_deadline()
 *
 * On iWARP each READ request contains the key of the sink (RFC 5040), so the
 * peer knows the key. siw, 6.1 to 7.3 at least, lets the peer read by any key
 * of the PD, whatever the rights of the key. So on iWARP the memory is zeroed:
 * a peer that reads the sink sees zeroes or its own bytes. On other transports
 * the peer does not get the key, and has no right to use it, so zeroing would
 * only cost a pass over the memory.
 *
 * Return: as krdma_region_create(), but the memory is zeroed only on iWARP.
 */
struct krdma_region *krdma_region_sink(struct krdma_conn *conn, size_t size,
				       unsigned long until)
{
	void *vaddr = conn->hw.is_iwarp ? vzalloc(size) : vmalloc(size);

	return krdma_region_own(conn, vaddr, size,
				KRDMA_READ_SINK | KRDMA_NO_SOURCE, until);
}

/**
 * krdma_region_copy - create a region with a copy of some memory
 * @conn: connection
 * @from: the memory
 * @size: size of the memory in bytes
 * @access: KRDMA_REMOTE_*, KRDMA_READ_SINK
 * @until: time limit in jiffies, from krdma_deadline()
 *
 * The copy is never changed. When the region is put, pages to which TCP still
 * holds references are not freed. So TCP sends their original contents; see
 * KRDMA_QUIRK_SENDS_FREED.
 *
 * Return: region for krdma_region_put(); errors as krdma_region_alloc().
 */
struct krdma_region *krdma_region_copy(struct krdma_conn *conn,
				       const void *from, size_t size,
				       u32 access, unsigned long until)
{
	struct krdma_region *region;
	void *copy = vmalloc(size);

	if (copy)
		memcpy(copy, from, size);
	region = krdma_region_own(conn, copy, size, access, until);
	if (!IS_ERR(region))
		/* krdma_region_put() puts this reference. */
		krdma_conn_get(conn);
	return region;
}

/* Invalidate all keys of a region. On error the connection ends. */
static int krdma_region_invalidate(struct krdma_region *region,
				   unsigned long until)
{
	int ret = krdma_region_execute(region->conn, region,
				       KRDMA_WR_INVALIDATE, region->nmrs,
				       until);

	/*
	 * End the connection even if nothing was posted for lack of memory or
	 * time, because the keys would stay valid otherwise.
	 */
	if (ret)
		krdma_conn_abort(region->conn, ret);
	else
		krdma_region_set_invalid(region, region->nmrs);
	return ret;
}

/**
 * krdma_region_recycle - invalidate an internal region before it is put
 * @region: region that no request uses
 * @until: time limit in jiffies, from krdma_deadline()
 *
 * Only invalid MRs can return to the pool. This invalidates at most the number
 * of MRs that the pool may hold, and none if memory is lacking. The remaining
 * MRs are destroyed later. Exception: with KRDMA_QUIRK_LATE_ANSWERS, a region
 * that the peer may read is always invalidated.
 *
 * Errors are not returned. If the connection has ended before, nothing changes.
 * If the adapter does not complete the work requests, the connection ends.
 */
void krdma_region_recycle(struct krdma_region *region, unsigned long until)
{
	struct krdma_conn *conn = region->conn;
	u32 n = min(region->nmrs, conn->limits.max_frwrs);

	/*
	 * An answer to a READ of the peer may still use the region, see
	 * KRDMA_QUIRK_LATE_ANSWERS.
	 */
	if (krdma_has_quirk(conn, KRDMA_QUIRK_LATE_ANSWERS) &&
	    region->access & IB_ACCESS_REMOTE_READ)
		krdma_region_invalidate(region, until);
	else if (n && !krdma_region_execute(conn, region, KRDMA_WR_INVALIDATE,
					    n, until))
		krdma_region_set_invalid(region, n);
}

/**
 * krdma_region_detach - put an internal region, but keep its memory
 * @region: region from krdma_region_sink() with no request in flight
 *
 * Return: the memory, which the caller frees with vfree().
 */
void *krdma_region_detach(struct krdma_region *region)
{
	void *vaddr = region->vaddr;

	region->owned = false;
	/* krdma_region_put() puts this reference. */
	krdma_conn_get(region->conn);
	krdma_region_put(region);
	return vaddr;
}

/**
 * krdma_regions_free - free the internal regions of a connection
 * @conn: connection without references
 */
void krdma_regions_free(struct krdma_conn *conn)
{
	struct krdma_region *region, *next;

	list_for_each_entry_safe(region, next, &conn->mr.regions, link)
		krdma_region_free(region);
}

static unsigned long krdma_region_until(const struct krdma_conn *conn)
{
	return krdma_deadline(conn->p.op_timeout_ms);
}

/**
 * krdma_region_alloc - create a region with memory of its own
 * @cb: established connection in message mode
 * @size: size in bytes, up to 1 GiB; the memory is zeroed
 * @access: access of the peer: KRDMA_REMOTE_*, or 0 for none.
 *	KRDMA_REMOTE_INVALIDATE requires a region of one MR, see
 *	&krdma_caps.mr_bytes. Also: KRDMA_READ_SINK if local READs put their
 *	data there; KRDMA_NO_SOURCE if no local request takes data from there;
 *	KRDMA_COHERENT if the memory must not need a sync. KRDMA_DOMAIN creates
 *	a region of &krdma_params.domain of @cb, on the device of @cb; not
 *	together with KRDMA_REMOTE_INVALIDATE
 *
 * Waits until the region is registered, up to &krdma_params.op_timeout_ms. If
 * the adapter has begun to register it and does not finish soon after that
 * time, the connection ends. If the send queue has no free slot in that time,
 * the connection stays.
 *
 * A region of a domain is usable with the same keys on each connection of the
 * domain on the device, present and future. That ends when the region is
 * revoked or put, or the device is removed. The region does not refer to @cb,
 * which may end and be released. If @cb ends before its adapter has registered
 * the region, up to two other connections of the domain register it in turn.
 *
 * Context: process, may sleep. Not in callbacks that must not wait for @cb.
 * Return: region for krdma_region_put(), or an ERR_PTR: -EINVAL, also with
 * KRDMA_DOMAIN if @cb has no domain; -EOPNOTSUPP: the device has no fast
 * registration or no atomics, the level of @cb forbids @access, or @access
 * forbids the sync or the several MRs that the memory needs; -ENOMEM; -ENOTCONN;
 * -ETIMEDOUT; -EINTR; or the reason for which the connection ended.
 */
struct krdma_region *krdma_region_alloc(struct krdma_cb *cb, size_t size,
					u32 access)
{
	struct krdma_conn *conn = krdma_conn(cb);
	struct krdma_noio noio = krdma_noio_enter(&conn->p);
	struct krdma_region *region;

	region = krdma_region_create(conn, size, access,
				     krdma_region_until(conn));
	if (!IS_ERR(region) && !krdma_region_is_shared(region))
		/* krdma_region_put() puts this reference. */
		krdma_conn_get(conn);
	krdma_noio_leave(noio);
	return region;
}
EXPORT_SYMBOL_NS_GPL(krdma_region_alloc, KRDMA_NS);

/**
 * krdma_region_from_vmalloc - create a region of vmalloc() memory
 * @cb: established connection in message mode
 * @addr: memory of the caller, which keeps it until krdma_region_put()
 * @len: length in bytes, up to 1 GiB
 * @access: as for krdma_region_alloc()
 *
 * Return: as krdma_region_alloc().
 */
struct krdma_region *krdma_region_from_vmalloc(struct krdma_cb *cb, void *addr,
					       size_t len, u32 access)
{
	struct krdma_conn *conn = krdma_conn(cb);
	struct krdma_region *region;
	struct krdma_noio noio;

	if (!is_vmalloc_addr(addr) || !len || len > KRDMA_REGION_MAX)
		return ERR_PTR(-EINVAL);
	noio = krdma_noio_enter(&conn->p);
	region = krdma_region_from_memory(conn, addr, len, access,
					  krdma_region_until(conn));
	krdma_noio_leave(noio);
	return region;
}
EXPORT_SYMBOL_NS_GPL(krdma_region_from_vmalloc, KRDMA_NS);

/**
 * krdma_region_from_pages - create a region of pages
 * @cb: established connection in message mode
 * @pages: the pages, which the caller keeps until krdma_region_put(). The array
 *	may be freed after this call
 * @npages: number of pages
 * @offset: offset of the first byte in the first page
 * @len: length in bytes, up to 1 GiB
 * @access: as for krdma_region_alloc()
 *
 * Return: as krdma_region_alloc().
 */
struct krdma_region *krdma_region_from_pages(struct krdma_cb *cb,
					     struct page **pages, u32 npages,
					     u32 offset, size_t len, u32 access)
{
	const struct krdma_memory memory = {
		.pages = pages,
		.first = offset,
		.len = len,
	};
	struct krdma_conn *conn = krdma_conn(cb);
	struct krdma_region *region;
	struct krdma_noio noio;

	if (offset >= PAGE_SIZE || !len || len > KRDMA_REGION_MAX ||
	    npages != DIV_ROUND_UP(offset + len, PAGE_SIZE))
		return ERR_PTR(-EINVAL);
	noio = krdma_noio_enter(&conn->p);
	region = krdma_region_new(conn, &memory, access,
				  krdma_region_until(conn));
	krdma_noio_leave(noio);
	return region;
}
EXPORT_SYMBOL_NS_GPL(krdma_region_from_pages, KRDMA_NS);

/*
 * Return an array of the pages of a scatterlist, and set *@npages and *@len. A
 * list whose entries leave gaps within pages is refused.
 */
static struct page **krdma_sg_pages(struct scatterlist *sgl, u32 nents,
				    u32 *npages, u64 *len)
{
	struct sg_page_iter iter;
	struct scatterlist *sg;
	struct page **pages;
	u32 i, n = 0;

	*len = 0;
	for_each_sg(sgl, sg, nents, i) {
		if ((i && sg->offset) ||
		    (i < nents - 1 &&
		     !PAGE_ALIGNED(sg->offset + sg->length)))
			return ERR_PTR(-EINVAL);
		*len += sg->length;
	}
	if (!*len || *len > KRDMA_REGION_MAX)
		return ERR_PTR(-EINVAL);
	*npages = DIV_ROUND_UP(sgl->offset + *len, PAGE_SIZE);
	pages = kvmalloc_array(*npages, sizeof(*pages), GFP_KERNEL);
	if (!pages)
		return ERR_PTR(-ENOMEM);
	for_each_sg_page(sgl, &iter, nents, 0)
		if (n < *npages)
			pages[n++] = sg_page_iter_page(&iter);
	return pages;
}

/**
 * krdma_region_from_sg - create a region of a scatterlist
 * @cb: established connection in message mode
 * @sgl: list that is not DMA mapped. Only the first entry may begin within a
 *	page, and only the last one may end within a page. The caller keeps the
 *	pages until krdma_region_put()
 * @nents: number of entries
 * @access: as for krdma_region_alloc()
 *
 * Return: as krdma_region_alloc().
 */
struct krdma_region *krdma_region_from_sg(struct krdma_cb *cb,
					  struct scatterlist *sgl, u32 nents,
					  u32 access)
{
	struct krdma_conn *conn = krdma_conn(cb);
	struct krdma_memory memory = {};
	struct krdma_region *region;
	struct krdma_noio noio;
	u32 npages;

	if (!nents || sgl->offset >= PAGE_SIZE)
		return ERR_PTR(-EINVAL);
	noio = krdma_noio_enter(&conn->p);
	memory.first = sgl->offset;
	memory.pages = krdma_sg_pages(sgl, nents, &npages, &memory.len);
	region = IS_ERR(memory.pages) ? ERR_CAST(memory.pages) :
		 krdma_region_new(conn, &memory, access,
				  krdma_region_until(conn));
	if (!IS_ERR(memory.pages))
		kvfree(memory.pages);
	krdma_noio_leave(noio);
	return region;
}
EXPORT_SYMBOL_NS_GPL(krdma_region_from_sg, KRDMA_NS);

/**
 * krdma_region_free_mrs - destroy the MRs of a region
 * @conn: connection of the region; NULL if the region belongs to a domain
 * @region: region; no work request uses its MRs
 *
 * On return the keys of the region are invalid.
 *
 * Context: process, krdma_conn.setup held or, for a domain, krdma_dev.lock.
 */
void krdma_region_free_mrs(struct krdma_conn *conn, struct krdma_region *region)
{
	struct krdma_region_mr *mr;

	krdma_region_assert_held(conn, region);
	for (mr = region->mrs; mr < region->mrs + region->nmrs; mr++) {
		if (mr->frwr)
			krdma_frwr_put(conn, mr->frwr, false);
		mr->frwr = NULL;
	}
}

/**
 * krdma_region_revoke - revoke the peer's access to a region
 * @region: region that no local request uses
 * @timeout_ms: time limit in ms, 0: &krdma_params.op_timeout_ms
 *
 * On return the region's keys are invalid: if a peer still uses them, its
 * connection ends. It is no error if the peer has just invalidated the key. The
 * owner still calls krdma_region_put(). That call is then cheaper, because it
 * keeps the MRs for later regions of the connection, see &krdma_params.mr_pool.
 *
 * A region of a domain is revoked for the peers of all its connections. Its MRs
 * are destroyed. On siw, if the peers may read the region, each connection
 * first completes the answers to READs that it has begun. A connection that
 * does not complete them in time ends.
 *
 * Context: process, may sleep.
 * Return: 0; -EALREADY: the keys were invalid before, because the region was
 * revoked, the peer has invalidated it, its connection has ended, or its
 * domain's device was removed; or another errno: the connection has ended, and
 * with it the keys. A region of a domain gives only 0 or -EALREADY.
 */
int krdma_region_revoke(struct krdma_region *region, u32 timeout_ms)
{
	struct krdma_conn *conn = region->conn;
	struct krdma_noio noio;
	int ret = 0;

	if (!xchg(&region->usable, false))
		return -EALREADY;
	trace_krdma_region_revoke(&region->stats);
	WRITE_ONCE(region->stats.live, false);
	if (krdma_region_is_shared(region)) {
		krdma_share_revoke(region, timeout_ms);
		return 0;
	}
	noio = krdma_noio_enter(&conn->p);
	if (region->invalidatable && !region->is_soft) {
		/*
		 * Destroy the MR. The peer's KRDMA_SEND_INV may have
		 * invalidated the key already, while the completion of that
		 * message is still pending. Some adapters treat the
		 * invalidation of an invalid key as an error, which ends the
		 * connection. rxe and siw, the software devices, accept it.
		 * They also accept the peer's message after the local
		 * invalidation.
		 */
		mutex_lock(&conn->setup);
		krdma_region_free_mrs(conn, region);
		mutex_unlock(&conn->setup);
	} else {
		timeout_ms = timeout_ms ?: conn->p.op_timeout_ms;
		ret = krdma_region_invalidate(region,
					      krdma_deadline(timeout_ms));
	}
	krdma_noio_leave(noio);
	if (!ret)
		krdma_count(conn, KRDMA_COUNT_REVOKED);
	return ret;
}
EXPORT_SYMBOL_NS_GPL(krdma_region_revoke, KRDMA_NS);

/**
 * krdma_region_find_rkey_locked - find the region that the peer invalidated
 * @conn: connection
 * @rkey: key that the adapter reports as invalidated
 *
 * Context: any, @conn->lock held.
 * Return: the region; NULL: the peer had no right to invalidate this key.
 */
struct krdma_region *krdma_region_find_rkey_locked(struct krdma_conn *conn,
						   u32 rkey)
{
	struct krdma_region *region =
		xa_load(&conn->mr.invalidatable, rkey >> 8);

	lockdep_assert_held(&conn->lock);
	return region && region->mrs[0].rkey == rkey ? region : NULL;
}

/**
 * krdma_region_invalidated_locked - handle the peer's invalidation of a region
 * @region: region that krdma_region_find_rkey_locked() returned
 * @rx_msg: message that invalidated it
 *
 * The region may have been revoked here at the same time. But the peer must
 * invalidate the region only once, because an owner that is notified twice
 * would put the region twice. This function checks it, because some adapters
 * accept a second invalidation (rxe, siw).
 *
 * Context: any, krdma_conn.lock held.
 * Return: true; or false if the peer has invalidated the region before.
 */
bool krdma_region_invalidated_locked(struct krdma_region *region,
				     struct krdma_rx_msg *rx_msg)
{
	lockdep_assert_held(&region->conn->lock);
	if (region->given_up)
		return false;
	region->given_up = true;
	region->told = rx_msg;
	rx_msg->invalidated = region;
	krdma_region_set_invalid(region, 1);
	if (xchg(&region->usable, false)) {
		trace_krdma_region_revoke(&region->stats);
		WRITE_ONCE(region->stats.live, false);
		krdma_count_locked(region->conn, KRDMA_COUNT_INVALIDATED, 1);
	}
	return true;
}

/**
 * krdma_region_put - free a region
 * @region: region that no local request uses; NULL is allowed
 *
 * On return the region's keys are invalid. If krdma_region_alloc() allocated
 * the memory, it is freed; otherwise only the caller uses it. The connection
 * may have ended, or even been released, and the device removed. This posts no
 * work request: the MRs of a region that was not revoked are destroyed. For the
 * effect on siw, and on memory that the peer reads, see
 * Documentation/krdma.rst.
 *
 * Context: process, may sleep.
 */
void krdma_region_put(struct krdma_region *region)
{
	struct krdma_conn *conn;
	struct krdma_noio noio;
	unsigned long index, flags;

	if (!region)
		return;
	if (krdma_region_is_shared(region)) {
		krdma_share_put(region);
		return;
	}
	conn = region->conn;
	noio = krdma_noio_enter(&conn->p);
	if (region->invalidatable) {
		/*
		 * Remove the entry of the region, so that no receive handler
		 * finds the region. But leave the entry if another region has
		 * taken it: when the MRs of a revoked region are destroyed, the
		 * adapter's part of the key becomes free. Some adapters reuse
		 * it at once (hns, qedr).
		 */
		index = krdma_region_index(region);
		if (xa_cmpxchg_irq(&conn->mr.invalidatable, index, region, NULL,
				   0) != region)
			xa_cmpxchg_irq(&conn->mr.invalidatable, index,
				       XA_ZERO_ENTRY, NULL, 0);
		/*
		 * A handler that has found the region holds krdma_conn.lock
		 * until it has finished. The receive buffer of told may hold
		 * another message by now.
		 */
		spin_lock_irqsave(&conn->lock, flags);
		if (region->told && region->told->invalidated == region)
			region->told->invalidated = NULL;
		spin_unlock_irqrestore(&conn->lock, flags);
	}
	mutex_lock(&conn->setup);
	/*
	 * If registering or revoking failed, the connection has ended, but work
	 * requests that use the MRs may be in flight.
	 */
	if (krdma_conn_is_over(conn)) {
		krdma_cm_disconnect(conn);
		krdma_qp_drain(conn);
	}
	if (conn->cb.pd)
		krdma_region_unregister(conn, region);
	list_del(&region->link);
	mutex_unlock(&conn->setup);
	krdma_region_free(region);
	krdma_conn_put(conn);
	krdma_noio_leave(noio);
}
EXPORT_SYMBOL_NS_GPL(krdma_region_put, KRDMA_NS);

/**
 * krdma_region_vaddr - return the memory of a region
 * @region: the region
 *
 * Context: any.
 * Return: kernel address; NULL for a region of pages or of a scatterlist.
 */
void *krdma_region_vaddr(const struct krdma_region *region)
{
	return region->vaddr;
}
EXPORT_SYMBOL_NS_GPL(krdma_region_vaddr, KRDMA_NS);

/**
 * krdma_region_is_live - check whether a region's keys are valid
 * @region: the region
 *
 * Context: any.
 * Return: true; or false if the region was revoked, the peer has invalidated it
 * (KRDMA_SEND_INV), or the connection has ended. For a region of a domain,
 * false if it was revoked or the device was removed.
 */
bool krdma_region_is_live(const struct krdma_region *region)
{
	return READ_ONCE(region->usable);
}
EXPORT_SYMBOL_NS_GPL(krdma_region_is_live, KRDMA_NS);
