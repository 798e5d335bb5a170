// SPDX-License-Identifier: GPL-2.0
/*
 * Regions: memory that the own adapter, and with its permission the peer, may
 * use. Registered by fast registration work requests (FRWR) in as many MRs as
 * the device's limit asks for (2 MiB each on rxe, 1 MiB on siw).
 *
 * The MRs come from the connection's pool, see frwr.c, and go back there if they
 * were invalidated before the region is given up.
 *
 * A region belongs to one connection, and is on its krdma_conn.regions. Its
 * keys are new for each connection and die with it: krdma_regions_unregister()
 * runs after the drain, before the PD goes. The region itself stays until its
 * owner puts it, and holds a reference to the connection.
 *
 * Addresses that the peer sees are offsets into the region, not kernel
 * pointers: the iova of an MR may be chosen freely as long as the offset in
 * the page is right (xprtrdma does the same in frwr_map()).
 */
#include <linux/dma-mapping.h>
#include <linux/export.h>
#include <linux/mm.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <linux/xarray.h>

#include "msg.h"
#include "region.h"
#include "trace.h"

/* As much as a description can say of MRs as small as siw's. */
#define KRDMA_REGION_MAX BIT(30)

#define KRDMA_REGION_ACCESS (KRDMA_REMOTE_READ | KRDMA_REMOTE_WRITE | \
			     KRDMA_REMOTE_ATOMIC | KRDMA_READ_SINK | \
			     KRDMA_REMOTE_INVALIDATE)

/**
 * struct krdma_region_mr - one MR of a region
 * @frwr: the MR; krdma_conn.setup, under which teardown takes it away
 * @sgt: its pages
 * @mapped: @sgt is DMA mapped
 * @invalid: it was registered, and its keys are dead again: that is known
 * @mr: a copy, for who looks while @frwr goes; only posted, which then fails
 * @rkey: of the peer, likewise
 * @lkey: of the own adapter, likewise
 * @len: bytes
 */
struct krdma_region_mr {
	struct krdma_frwr *frwr;
	struct sg_table sgt;
	bool mapped;
	bool invalid;
	struct ib_mr *mr;
	u32 rkey;
	u32 lkey;
	u32 len;
};

/**
 * struct krdma_region - memory that an adapter may use
 * @conn: whose it is; the user's regions hold a reference, and are put before
 *	it goes; the others go with it
 * @link: in krdma_conn.regions; krdma_conn.setup
 * @vaddr: the memory if it is linear, else NULL
 * @owned: @vaddr was allocated here
 * @size: bytes
 * @first: offset of the first byte in its page
 * @access: IB_ACCESS_* for the peer and the own adapter
 * @mr_size: bytes of each MR, the first counted from its page's beginning
 * @usable: registered, not revoked
 * @invalidatable: the peer may take its key back; in krdma_conn.invalidatable
 *	until it is put
 * @given_up: the peer has taken it back; krdma_conn.lock
 * @stats: what debugfs shows of it
 * @nmrs: how many MRs
 * @mrs: in the order of addresses
 */
struct krdma_region {
	struct krdma_conn *conn;
	struct list_head link;
	void *vaddr;
	bool owned;
	u64 size;
	u32 first;
	int access;
	u32 mr_size;
	bool usable;
	bool invalidatable;
	bool given_up;
	struct krdma_region_stats stats;
	u32 nmrs;
	struct krdma_region_mr mrs[];
};

/* ---- the memory ---- */

static int krdma_region_fill_sgt(struct krdma_region *region,
				 struct krdma_region_mr *mr,
				 struct page **pages, u32 first)
{
	u32 npages = DIV_ROUND_UP(first + mr->len, PAGE_SIZE);

	return sg_alloc_table_from_pages_segment(&mr->sgt, pages, npages, first,
						 mr->len, PAGE_SIZE, GFP_KERNEL);
}

static int krdma_region_fill(struct krdma_region *region, struct page **pages)
{
	u64 left = region->size;
	u32 first = region->first, i;
	int ret = 0;

	for (i = 0; i < region->nmrs && !ret; i++) {
		region->mrs[i].len = min_t(u64, region->mr_size - first, left);
		ret = krdma_region_fill_sgt(region, &region->mrs[i], pages,
					    first);
		left -= region->mrs[i].len;
		pages += region->mr_size >> PAGE_SHIFT;
		first = 0;
	}
	return ret;
}

static int krdma_region_ib_access(const struct krdma_conn *conn, u32 access)
{
	int ib = IB_ACCESS_LOCAL_WRITE;

	if (access & KRDMA_REMOTE_READ)
		ib |= IB_ACCESS_REMOTE_READ;
	if (access & KRDMA_REMOTE_WRITE)
		ib |= IB_ACCESS_REMOTE_WRITE;
	if (access & KRDMA_REMOTE_ATOMIC)
		ib |= IB_ACCESS_REMOTE_ATOMIC;
	/* RFC 5040 5.3: a READ's answer comes as a tagged write. */
	if (access & KRDMA_READ_SINK &&
	    rdma_protocol_iwarp(conn->cb.pd->device, 1))
		ib |= IB_ACCESS_REMOTE_WRITE;
	return ib;
}

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
	/* A message invalidates one key. */
	if (access & KRDMA_REMOTE_INVALIDATE &&
	    first + len > krdma_region_mr_size(conn))
		return -EINVAL;
	/* Without the first, max_fast_reg_page_list_len is 0. */
	if (!(attrs->device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS) ||
	    (access & KRDMA_REMOTE_ATOMIC &&
	     attrs->atomic_cap == IB_ATOMIC_NONE))
		return -EOPNOTSUPP;
	return 0;
}

static void krdma_region_free(struct krdma_region *region)
{
	u32 i;

	krdma_stats_del_region(&region->stats);
	for (i = 0; i < region->nmrs; i++)
		sg_free_table(&region->mrs[i].sgt);
	if (region->owned)
		vfree(region->vaddr);
	kvfree(region);
}

/**
 * krdma_region_mr_pages - how much of a region is one MR
 * @ibdev: device
 *
 * Return: pages, 0 if the device has no fast registration.
 */
u32 krdma_region_mr_pages(const struct ib_device *ibdev)
{
	return min(ibdev->attrs.max_fast_reg_page_list_len, 512U);
}

static struct krdma_region *krdma_region_make(struct krdma_conn *conn,
					      struct page **pages, u32 first,
					      u64 len, u32 access)
{
	u32 mr_size = krdma_region_mr_size(conn);
	u32 nmrs = DIV_ROUND_UP_ULL(first + len, mr_size);
	struct krdma_region *region;

	region = kvzalloc(struct_size(region, mrs, nmrs), GFP_KERNEL);
	if (!region)
		return ERR_PTR(-ENOMEM);
	region->size = len;
	region->first = first;
	region->access = krdma_region_ib_access(conn, access);
	region->mr_size = mr_size;
	region->nmrs = nmrs;
	INIT_LIST_HEAD(&region->link);
	INIT_LIST_HEAD(&region->stats.link);
	if (krdma_region_fill(region, pages)) {
		krdma_region_free(region);
		return ERR_PTR(-ENOMEM);
	}
	return region;
}

/* ---- registration ---- */

static u64 krdma_region_iova(const struct krdma_region *region, u32 i)
{
	return i ? (u64)i * region->mr_size : region->first;
}

static int krdma_region_map_mr(struct krdma_conn *conn,
			       struct krdma_region *region, u32 i)
{
	struct krdma_region_mr *mr = &region->mrs[i];
	struct krdma_frwr *frwr;
	struct ib_mr *ibmr;
	int nents;

	frwr = krdma_frwr_get(conn, mr->sgt.orig_nents);
	if (IS_ERR(frwr))
		return PTR_ERR(frwr);
	mr->frwr = frwr;
	ibmr = frwr->mr;
	nents = ib_dma_map_sg(ibmr->device, mr->sgt.sgl, mr->sgt.orig_nents,
			      DMA_BIDIRECTIONAL);
	if (!nents)
		return -ENOMEM;
	mr->sgt.nents = nents;
	mr->mapped = true;
	if (ib_map_mr_sg(ibmr, mr->sgt.sgl, nents, NULL, PAGE_SIZE) != nents)
		return -EINVAL;
	ibmr->iova = krdma_region_iova(region, i);
	mr->mr = ibmr;
	mr->rkey = ibmr->rkey;
	mr->lkey = ibmr->lkey;
	return 0;
}

/* A part of its krdma_op. */
static void krdma_region_wr_done(struct krdma_wr *kwr, int status)
{
}

static int krdma_region_post_reg(struct krdma_conn *conn,
				 struct krdma_region *region, u32 i,
				 struct krdma_op *op, unsigned long until)
{
	struct krdma_region_mr *mr = &region->mrs[i];
	struct ib_reg_wr reg = {
		.wr.opcode = IB_WR_REG_MR,
		.mr = mr->mr,
		.key = mr->rkey,
		.access = region->access,
	};

	krdma_wr_init(&op->wrs[i], conn, op, KRDMA_WR_REGISTER,
		      krdma_region_wr_done);
	return krdma_qp_post(conn, &op->wrs[i], &reg.wr, until);
}

static int krdma_region_post_inv(struct krdma_conn *conn,
				 struct krdma_region *region, u32 i,
				 struct krdma_op *op, unsigned long until)
{
	struct krdma_region_mr *mr = &region->mrs[i];
	struct ib_send_wr inv = {
		.opcode = IB_WR_LOCAL_INV,
		.ex.invalidate_rkey = mr->rkey,
	};

	if (READ_ONCE(mr->invalid))
		return 0;
	krdma_wr_init(&op->wrs[i], conn, op, KRDMA_WR_INVALIDATE,
		      krdma_region_wr_done);
	return krdma_qp_post(conn, &op->wrs[i], &inv, until);
}

/* A time limit for who does not wait. */
static unsigned long krdma_now(void)
{
	return jiffies ?: 1;
}

/* The first @n of its MRs. */
static void krdma_region_set_invalid(struct krdma_region *region, u32 n)
{
	u32 i;

	/* Teardown may look, and finds no harm in either. */
	for (i = 0; i < n; i++)
		WRITE_ONCE(region->mrs[i].invalid, true);
}

/*
 * One work request for each MR, and wait for all of them. Where that fails
 * before anything was posted, or what was posted has come to a good end, the
 * connection stays.
 */
static int krdma_region_execute(struct krdma_region *region,
				int (*post)(struct krdma_conn *conn,
					    struct krdma_region *region, u32 i,
					    struct krdma_op *op,
					    unsigned long until),
				unsigned long until)
{
	struct krdma_conn *conn = region->conn;
	struct krdma_op *op = krdma_op_alloc_wrs(region->nmrs);
	int ret = 0;
	u32 i;

	if (!op)
		return -ENOMEM;
	for (i = 0; i < region->nmrs && !ret; i++)
		ret = post(conn, region, i, op, until);
	if (!ret)
		ret = krdma_op_wait(conn, op, until);
	/* Some may be under way, and the MRs must stay until they are over. */
	if (ret && krdma_op_settle(conn, op, until))
		krdma_conn_abort(conn, ret);
	krdma_op_put(op);
	return ret;
}

static void krdma_region_unregister(struct krdma_conn *conn,
				    struct krdma_region *region)
{
	struct krdma_region_mr *mr;

	lockdep_assert_held(&conn->setup);
	region->usable = false;
	if (region->stats.live)
		trace_krdma_region_unregister(&region->stats);
	WRITE_ONCE(region->stats.live, false);
	for (mr = region->mrs; mr < region->mrs + region->nmrs; mr++) {
		if (mr->frwr)
			krdma_frwr_put(conn, mr->frwr, READ_ONCE(mr->invalid));
		if (mr->mapped)
			ib_dma_unmap_sg(conn->cb.pd->device, mr->sgt.sgl,
					mr->sgt.orig_nents, DMA_BIDIRECTIONAL);
		mr->frwr = NULL;
		mr->mapped = false;
	}
}

/**
 * krdma_regions_unregister - take all regions away from the adapter
 * @conn: connection whose QP is drained
 *
 * Context: process, @conn->setup held.
 */
void krdma_regions_unregister(struct krdma_conn *conn)
{
	struct krdma_region *region;

	lockdep_assert_held(&conn->setup);
	list_for_each_entry(region, &conn->regions, link)
		krdma_region_unregister(conn, region);
	krdma_frwrs_free(conn);
}

static int krdma_region_map(struct krdma_conn *conn,
			    struct krdma_region *region)
{
	int ret = 0;
	u32 i;

	lockdep_assert_held(&conn->setup);
	for (i = 0; i < region->nmrs && !ret; i++)
		ret = krdma_region_map_mr(conn, region, i);
	return ret;
}

static void krdma_region_show(struct krdma_conn *conn,
			      struct krdma_region *region)
{
	region->stats.conn_id = conn->stats.id;
	region->stats.size = region->size;
	region->stats.nmrs = region->nmrs;
	region->stats.access = region->access;
	region->stats.rkey = region->mrs[0].rkey;
	krdma_stats_add_region(&region->stats);
}

/*
 * Where krdma_conn.invalidatable has it: the adapter's part of the key. The other
 * eight bits change with each registration of the MR.
 */
static unsigned long krdma_region_index(const struct krdma_region *region)
{
	return region->mrs[0].rkey >> 8;
}

static int krdma_region_reserve(struct krdma_conn *conn,
				struct krdma_region *region, u32 access)
{
	int ret;

	if (!(access & KRDMA_REMOTE_INVALIDATE))
		return 0;
	ret = xa_reserve_irq(&conn->invalidatable, krdma_region_index(region),
			     GFP_KERNEL);
	region->invalidatable = !ret;
	return ret;
}

/* All that needs the device, which is there while setup is held. */
static struct krdma_region *
krdma_region_new_locked(struct krdma_conn *conn, struct page **pages, u32 first,
			u64 len, u32 access)
{
	struct krdma_region *region;
	int ret;

	lockdep_assert_held(&conn->setup);
	if (!conn->cb.pd || conn->drained)
		return ERR_PTR(krdma_last_error(&conn->cb) ?: -ENOTCONN);
	ret = krdma_region_check(conn, access, first, len);
	if (ret)
		return ERR_PTR(ret);
	region = krdma_region_make(conn, pages, first, len, access);
	if (IS_ERR(region))
		return region;
	ret = krdma_region_map(conn, region) ?:
	      krdma_region_reserve(conn, region, access);
	if (ret) {
		krdma_region_unregister(conn, region);
		krdma_region_free(region);
		return ERR_PTR(ret);
	}
	region->conn = conn;
	krdma_conn_get(conn); /* put in krdma_region_put() */
	list_add_tail(&region->link, &conn->regions);
	krdma_region_show(conn, region);
	return region;
}

/* From here on the peer may be told of it. */
static void krdma_region_open(struct krdma_conn *conn,
			      struct krdma_region *region)
{
	unsigned long flags;

	trace_krdma_region_register(&region->stats);
	spin_lock_irqsave(&conn->lock, flags);
	krdma_count_locked(conn, KRDMA_COUNT_REGISTERED, 1);
	/* Else teardown may have gone by, and have taken its keys. */
	if (conn->cb.state < KRDMA_CLOSING) {
		WRITE_ONCE(region->stats.live, true);
		/* Pairs with krdma_region_is_of(). */
		smp_store_release(&region->usable, true);
	}
	spin_unlock_irqrestore(&conn->lock, flags);
	/* Its place is reserved: this takes no memory. */
	if (region->invalidatable)
		xa_store_irq(&conn->invalidatable, krdma_region_index(region),
			     region, GFP_KERNEL);
}

static struct krdma_region *krdma_region_new(struct krdma_conn *conn,
					     struct page **pages, u32 first,
					     u64 len, u32 access,
					     unsigned long until)
{
	struct krdma_region *region;
	int ret;

	ret = krdma_msg_check(conn);
	if (ret)
		return ERR_PTR(ret);
	mutex_lock(&conn->setup);
	region = krdma_region_new_locked(conn, pages, first, len, access);
	mutex_unlock(&conn->setup);
	if (IS_ERR(region))
		return region;
	ret = krdma_region_execute(region, krdma_region_post_reg, until);
	if (ret) {
		krdma_region_put(region);
		return ERR_PTR(ret);
	}
	krdma_region_open(conn, region);
	return region;
}

/* Of vmalloc() memory, or of the kernel's linear map. */
static struct page **krdma_pages_of(const void *addr, u32 npages)
{
	struct page **pages = kvmalloc_array(npages, sizeof(*pages), GFP_KERNEL);
	bool is_vmalloc = is_vmalloc_addr(addr);
	u32 i;

	for (i = 0; pages && i < npages; i++, addr += PAGE_SIZE)
		pages[i] = is_vmalloc ? vmalloc_to_page(addr) :
					virt_to_page(addr);
	return pages;
}

/**
 * krdma_region_from_memory - a region of memory that is linear for the kernel
 * @conn: connection
 * @addr: vmalloc() memory, or such that virt_addr_valid() is true for
 * @len: bytes, not 0
 * @access: KRDMA_REMOTE_*, KRDMA_READ_SINK
 * @until: time limit
 *
 * Return: as krdma_region_alloc().
 */
struct krdma_region *krdma_region_from_memory(struct krdma_conn *conn,
					      void *addr, size_t len, u32 access,
					      unsigned long until)
{
	u32 first = offset_in_page(addr);
	struct krdma_region *region;
	struct page **pages;

	pages = krdma_pages_of(addr - first,
			       DIV_ROUND_UP(first + len, PAGE_SIZE));
	if (!pages)
		return ERR_PTR(-ENOMEM);
	region = krdma_region_new(conn, pages, first, len, access, until);
	kvfree(pages);
	if (!IS_ERR(region))
		region->vaddr = addr;
	return region;
}

/* Takes over @vaddr, also if it is NULL, or if that fails. */
static struct krdma_region *krdma_region_own(struct krdma_conn *conn,
					     void *vaddr, size_t size,
					     u32 access, unsigned long until)
{
	struct krdma_region *region;

	if (!vaddr)
		return ERR_PTR(-ENOMEM);
	region = krdma_region_from_memory(conn, vaddr, size, access, until);
	if (IS_ERR(region)) {
		vfree(vaddr);
		return region;
	}
	region->owned = true;
	krdma_conn_put(conn);
	return region;
}

/**
 * krdma_region_create - a region of krdma's own, with memory
 * @conn: connection; the region holds no reference to it
 * @size: bytes
 * @access: KRDMA_REMOTE_*, KRDMA_READ_SINK
 * @until: time limit
 *
 * Return: lives as long as @conn; errors as krdma_region_alloc().
 */
struct krdma_region *krdma_region_create(struct krdma_conn *conn, size_t size,
					 u32 access, unsigned long until)
{
	if (!size || size > KRDMA_REGION_MAX)
		return ERR_PTR(-EINVAL);
	return krdma_region_own(conn, vzalloc(size), size, access, until);
}

/**
 * krdma_region_sink - a region that will be filled by READs
 * @conn: connection; the region holds no reference to it
 * @size: bytes, up to 1 GiB
 * @until: time limit
 *
 * Return: as krdma_region_create(), but its memory is not zeroed.
 */
struct krdma_region *krdma_region_sink(struct krdma_conn *conn, size_t size,
				       unsigned long until)
{
	return krdma_region_own(conn, vmalloc(size), size, KRDMA_READ_SINK,
				until);
}

/**
 * krdma_region_copy - a region with a copy of some memory
 * @conn: connection
 * @from: the memory
 * @size: its bytes
 * @access: KRDMA_REMOTE_*, KRDMA_READ_SINK
 * @until: time limit
 *
 * Nobody writes to the copy any more. When the region is put its pages are freed
 * as far as nobody else has a reference to them, so they stay what they are for
 * who still sends them; see krdma_sends_pages().
 *
 * Return: for krdma_region_put(); errors as krdma_region_alloc().
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
		krdma_conn_get(conn); /* put in krdma_region_put() */
	return region;
}

/* All of its keys, for sure: if that fails the connection is over. */
static int krdma_region_invalidate(struct krdma_region *region,
				   unsigned long until)
{
	int ret = krdma_region_execute(region, krdma_region_post_inv, until);

	/* Also if nothing was posted, for want of memory or time. */
	if (ret)
		krdma_conn_abort(region->conn, ret);
	else
		krdma_region_set_invalid(region, region->nmrs);
	return ret;
}

/*
 * siw, 6.1 to 7.3 at least, looks at a key when it begins with the answer to a
 * READ, and not again until all of that is sent: a MiB to a peer who takes a byte
 * at a time, and who may have said long ago that he has it. The MR may be
 * destroyed meanwhile, and what siw sends is in pages that were freed
 * (siw_qp_sq_proc_tx()). But it sends one thing at a time, so what is to be
 * invalidated waits until the answer is through.
 */
static bool krdma_region_is_read_on(const struct krdma_region *region)
{
	return region->conn->is_siw && region->access & IB_ACCESS_REMOTE_READ;
}

/**
 * krdma_region_recycle - invalidate a region of krdma's own that is put next
 * @region: region that no request uses
 * @until: time limit
 *
 * For its MRs' sake, which are kept then. Who cannot do it at once does without:
 * no more than may be kept, and not if there is no memory or no slot for it. But
 * on siw for the memory's sake, if the peer may read it.
 *
 * Nothing that the caller has to know of can fail here. If the connection is over
 * it stays so, and if the adapter does not come to an end with this it is.
 */
void krdma_region_recycle(struct krdma_region *region, unsigned long until)
{
	struct krdma_conn *conn = region->conn;
	u32 n = min(region->nmrs, conn->max_frwrs), posted = 0;
	struct krdma_op *op;

	if (krdma_region_is_read_on(region)) {
		krdma_region_invalidate(region, until);
		return;
	}
	op = n ? krdma_op_alloc_wrs(n) : NULL;
	if (!op)
		return;
	while (posted < n && !krdma_region_post_inv(conn, region, posted, op,
						    krdma_now()))
		posted++;
	if (!krdma_op_settle(conn, op, until))
		krdma_region_set_invalid(region, posted);
	krdma_op_put(op);
}

/**
 * krdma_region_detach - give up a region of krdma's own, but not its memory
 * @region: from krdma_region_sink(), with no request in flight
 *
 * Return: the memory, for vfree().
 */
void *krdma_region_detach(struct krdma_region *region)
{
	void *vaddr = region->vaddr;

	region->owned = false;
	krdma_conn_get(region->conn); /* put by krdma_region_put() */
	krdma_region_put(region);
	return vaddr;
}

/**
 * krdma_regions_free - free what nobody puts: regions of krdma's own
 * @conn: connection to which nobody refers any more
 */
void krdma_regions_free(struct krdma_conn *conn)
{
	struct krdma_region *region, *next;

	list_for_each_entry_safe(region, next, &conn->regions, link)
		krdma_region_free(region);
}

static unsigned long krdma_region_until(const struct krdma_conn *conn)
{
	return krdma_deadline(conn->p.op_timeout_ms);
}

/**
 * krdma_region_alloc - make a region with memory of its own
 * @cb: established connection in message mode
 * @size: bytes, up to 1 GiB; the memory is zeroed
 * @access: what the peer may do: KRDMA_REMOTE_*, and KRDMA_READ_SINK if own
 *	READs are to put their data there; 0: nothing. KRDMA_REMOTE_INVALIDATE
 *	asks for a region of one MR, see &krdma_caps.mr_bytes
 *
 * Registers it, which takes &krdma_params.op_timeout_ms at most. If the adapter
 * has begun with that and does not come to an end soon after, the connection
 * ends; if there was no slot for it on the send queue in that time, it stays.
 *
 * Return: for krdma_region_put(); ERR_PTR: -EINVAL; -EOPNOTSUPP the device has
 * no fast registration, or no atomics; -ENOMEM; -ENOTCONN; -ETIMEDOUT; -EINTR; or
 * why the connection ended.
 */
struct krdma_region *krdma_region_alloc(struct krdma_cb *cb, size_t size,
					u32 access)
{
	struct krdma_conn *conn = krdma_conn(cb);
	struct krdma_region *region;

	region = krdma_region_create(conn, size, access,
				     krdma_region_until(conn));
	if (!IS_ERR(region))
		krdma_conn_get(conn); /* put in krdma_region_put() */
	return region;
}
EXPORT_SYMBOL_NS_GPL(krdma_region_alloc, KRDMA_NS);

/**
 * krdma_region_from_vmalloc - make a region of vmalloc() memory
 * @cb: established connection in message mode
 * @addr: the memory; stays the caller's, who keeps it until krdma_region_put()
 * @len: bytes, up to 1 GiB
 * @access: as for krdma_region_alloc()
 *
 * Return: as krdma_region_alloc().
 */
struct krdma_region *krdma_region_from_vmalloc(struct krdma_cb *cb, void *addr,
					       size_t len, u32 access)
{
	struct krdma_conn *conn = krdma_conn(cb);

	if (!is_vmalloc_addr(addr) || !len || len > KRDMA_REGION_MAX)
		return ERR_PTR(-EINVAL);
	return krdma_region_from_memory(conn, addr, len, access,
					krdma_region_until(conn));
}
EXPORT_SYMBOL_NS_GPL(krdma_region_from_vmalloc, KRDMA_NS);

/**
 * krdma_region_from_pages - make a region of pages
 * @cb: established connection in message mode
 * @pages: the pages, which the caller keeps until krdma_region_put(); the array
 *	is not needed after this
 * @npages: how many
 * @offset: of the first byte in the first page
 * @len: bytes, up to 1 GiB
 * @access: as for krdma_region_alloc()
 *
 * Return: as krdma_region_alloc().
 */
struct krdma_region *krdma_region_from_pages(struct krdma_cb *cb,
					     struct page **pages, u32 npages,
					     u32 offset, size_t len, u32 access)
{
	struct krdma_conn *conn = krdma_conn(cb);

	if (offset >= PAGE_SIZE || !len || len > KRDMA_REGION_MAX ||
	    npages != DIV_ROUND_UP(offset + len, PAGE_SIZE))
		return ERR_PTR(-EINVAL);
	return krdma_region_new(conn, pages, offset, len, access,
				krdma_region_until(conn));
}
EXPORT_SYMBOL_NS_GPL(krdma_region_from_pages, KRDMA_NS);

/* Pages of a scatterlist without gaps inside; their number in @npages. */
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
 * krdma_region_from_sg - make a region of a scatterlist
 * @cb: established connection in message mode
 * @sgl: list that is not DMA mapped; only the first entry may begin, and only
 *	the last may end, within a page. Its pages stay until krdma_region_put()
 * @nents: entries
 * @access: as for krdma_region_alloc()
 *
 * Return: as krdma_region_alloc().
 */
struct krdma_region *krdma_region_from_sg(struct krdma_cb *cb,
					  struct scatterlist *sgl, u32 nents,
					  u32 access)
{
	struct krdma_conn *conn = krdma_conn(cb);
	struct krdma_region *region;
	struct page **pages;
	u32 npages;
	u64 len;

	if (!nents || sgl->offset >= PAGE_SIZE)
		return ERR_PTR(-EINVAL);
	pages = krdma_sg_pages(sgl, nents, &npages, &len);
	if (IS_ERR(pages))
		return ERR_CAST(pages);
	region = krdma_region_new(conn, pages, sgl->offset, len, access,
				  krdma_region_until(conn));
	kvfree(pages);
	return region;
}
EXPORT_SYMBOL_NS_GPL(krdma_region_from_sg, KRDMA_NS);

/**
 * krdma_region_revoke - take a region back from the peer
 * @region: region that no request of ours uses
 * @timeout_ms: time limit, 0: &krdma_params.op_timeout_ms
 *
 * On return its keys are dead: what the peer still tries ends its connection.
 * Only krdma_region_put() is left to do with it, which is cheaper then: it keeps
 * the MRs for the connection's next regions, see &krdma_params.mr_pool.
 *
 * Return: 0; -EALREADY it is revoked, or the peer has invalidated it; or why
 * that failed, and then the connection has ended, and the keys with it.
 */
int krdma_region_revoke(struct krdma_region *region, u32 timeout_ms)
{
	u32 ms = timeout_ms ?: region->conn->p.op_timeout_ms;
	int ret;

	if (!xchg(&region->usable, false))
		return -EALREADY;
	trace_krdma_region_revoke(&region->stats);
	WRITE_ONCE(region->stats.live, false);
	ret = krdma_region_invalidate(region, krdma_deadline(ms));
	if (!ret)
		krdma_count(region->conn, KRDMA_COUNT_REVOKED);
	return ret;
}
EXPORT_SYMBOL_NS_GPL(krdma_region_revoke, KRDMA_NS);

/**
 * krdma_region_find_rkey_locked - which region may the peer invalidate by a key
 * @conn: connection
 * @rkey: key that the adapter says is invalid now
 *
 * Context: any, @conn->lock held.
 * Return: NULL: none; the peer had no right to.
 */
struct krdma_region *krdma_region_find_rkey_locked(struct krdma_conn *conn,
						   u32 rkey)
{
	struct krdma_region *region = xa_load(&conn->invalidatable, rkey >> 8);

	lockdep_assert_held(&conn->lock);
	return region && region->mrs[0].rkey == rkey ? region : NULL;
}

/**
 * krdma_region_invalidated_locked - the peer has given up a region
 * @region: from krdma_region_find_rkey_locked()
 *
 * It may have been revoked here at the same time. But the peer does it once: who
 * is told twice would put it twice. Adapters do not mind, rxe and siw at least.
 *
 * Context: any, krdma_conn.lock held.
 * Return: false: it has done so before.
 */
bool krdma_region_invalidated_locked(struct krdma_region *region)
{
	lockdep_assert_held(&region->conn->lock);
	if (region->given_up)
		return false;
	region->given_up = true;
	krdma_region_set_invalid(region, 1);
	if (xchg(&region->usable, false)) {
		trace_krdma_region_revoke(&region->stats);
		WRITE_ONCE(region->stats.live, false);
		krdma_count_locked(region->conn, KRDMA_COUNT_INVALIDATED, 1);
	}
	return true;
}

/* Nobody finds it any more; then, who has found it is through with it. */
static void krdma_region_forget(struct krdma_conn *conn,
				struct krdma_region *region)
{
	unsigned long flags;

	if (!region->invalidatable)
		return;
	xa_erase_irq(&conn->invalidatable, krdma_region_index(region));
	spin_lock_irqsave(&conn->lock, flags);
	krdma_msg_forget_region_locked(conn, region);
	spin_unlock_irqrestore(&conn->lock, flags);
}

/**
 * krdma_region_put - give up a region
 * @region: region that no request of ours uses; NULL is allowed
 *
 * On return its keys are dead and its memory is nobody's but the caller's, or
 * freed if krdma_region_alloc() had allocated it. The connection may be over,
 * even released. It sends nothing to the adapter: the MRs of a region that was
 * not revoked are destroyed. For what siw makes of that, and of memory that the
 * peer reads, see Documentation/krdma.rst.
 */
void krdma_region_put(struct krdma_region *region)
{
	struct krdma_conn *conn;

	if (!region)
		return;
	conn = region->conn;
	krdma_region_forget(conn, region);
	mutex_lock(&conn->setup);
	/*
	 * If registering or revoking failed, work requests that use the MRs
	 * may be in flight; then the connection has ended.
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
}
EXPORT_SYMBOL_NS_GPL(krdma_region_put, KRDMA_NS);

/**
 * krdma_region_vaddr - the memory of a region
 * @region: the region
 *
 * Context: any.
 * Return: its kernel address; NULL if it was made of pages or a scatterlist.
 */
void *krdma_region_vaddr(const struct krdma_region *region)
{
	return region->vaddr;
}
EXPORT_SYMBOL_NS_GPL(krdma_region_vaddr, KRDMA_NS);

/**
 * krdma_region_size - the size of a region
 * @region: the region
 *
 * Context: any.
 * Return: bytes.
 */
u64 krdma_region_size(const struct krdma_region *region)
{
	return region->size;
}
EXPORT_SYMBOL_NS_GPL(krdma_region_size, KRDMA_NS);

/**
 * krdma_region_is_live - are a region's keys valid
 * @region: the region
 *
 * Context: any.
 * Return: false: revoked here or, by KRDMA_SEND_INV, by the peer, or the
 * connection is over.
 */
bool krdma_region_is_live(const struct krdma_region *region)
{
	return READ_ONCE(region->usable);
}
EXPORT_SYMBOL_NS_GPL(krdma_region_is_live, KRDMA_NS);

/* ---- use ---- */

/**
 * krdma_region_is_of - may a request on a connection use a region
 * @region: region
 * @conn: connection
 *
 * Return: true if it is that connection's, and not revoked.
 */
bool krdma_region_is_of(const struct krdma_region *region,
			const struct krdma_conn *conn)
{
	/* Pairs with krdma_region_new(). */
	return smp_load_acquire(&region->usable) && region->conn == conn;
}

/**
 * krdma_region_pieces - how many pieces a range of a region has
 * @region: region
 * @offset: where
 * @len: bytes, not 0; within the region
 *
 * Return: the number.
 */
u32 krdma_region_pieces(const struct krdma_region *region, u64 offset, u32 len)
{
	u64 begin = region->first + offset;

	return div_u64(begin + len - 1, region->mr_size) -
	       div_u64(begin, region->mr_size) + 1;
}

/**
 * krdma_region_sges - a range of a region, for the own adapter
 * @region: region
 * @offset: where
 * @len: bytes; within the region
 * @sges: result, krdma_region_pieces() of them
 *
 * Return: how many.
 */
u32 krdma_region_sges(const struct krdma_region *region, u64 offset, u32 len,
		      struct ib_sge *sges)
{
	u64 at = region->first + offset;
	u32 n = 0, part, i, in;

	while (len) {
		i = div_u64_rem(at, region->mr_size, &in);
		part = min(len, region->mr_size - in);
		sges[n++] = (struct ib_sge){
			.addr = at,
			.length = part,
			.lkey = region->mrs[i].lkey,
		};
		at += part;
		len -= part;
	}
	return n;
}

/**
 * krdma_region_run - how far a region goes on in one MR
 * @region: region
 * @offset: where; within the region
 *
 * Return: bytes, maybe more than the region has.
 */
u32 krdma_region_run(const struct krdma_region *region, u64 offset)
{
	u32 in;

	div_u64_rem(region->first + offset, region->mr_size, &in);
	return region->mr_size - in;
}

/* One MR's share of a range, for the peer. */
static void krdma_region_seg(const struct krdma_region *region, u64 at, u64 len,
			     struct krdma_seg *seg)
{
	u32 in, i = div_u64_rem(at, region->mr_size, &in);

	*seg = (struct krdma_seg){
		.addr = at,
		.rkey = region->mrs[i].rkey,
		.len = min_t(u64, len, region->mr_size - in),
	};
}

/**
 * krdma_region_describe - the segments of a part of a region, for the peer
 * @region: region that is not revoked
 * @offset: where
 * @len: bytes; within the region
 * @wire: result, krdma_region_pieces() of them
 */
void krdma_region_describe(const struct krdma_region *region, u64 offset,
			   u64 len, struct krdma_wire_seg *wire)
{
	u64 at = region->first + offset;
	struct krdma_seg seg;

	for (; len; len -= seg.len) {
		krdma_region_seg(region, at, len, &seg);
		krdma_seg_encode(wire++, &seg);
		at += seg.len;
	}
}

/**
 * krdma_region_export - describe a part of a region for the peer
 * @region: region that is not revoked
 * @offset: where
 * @len: bytes
 * @buf: result, to be sent to the peer, who gives it to krdma_remote_import()
 * @size: of @buf; NULL and 0 to ask
 *
 * 16 bytes, and 16 more for each MR that the part touches: 2 MiB on rxe, 1 MiB
 * on siw.
 *
 * Context: any.
 * Return: bytes of the description, of which nothing is written if it is more
 * than @size; -EINVAL not within the region, or more MRs than a description can
 * have; -ENOTCONN revoked, or the connection is over.
 */
ssize_t krdma_region_export(const struct krdma_region *region, u64 offset,
			    u64 len, void *buf, size_t size)
{
	u64 at = region->first + offset;
	u32 nsegs;

	if (offset > region->size || !len || len > region->size - offset)
		return -EINVAL;
	if (!READ_ONCE(region->usable))
		return -ENOTCONN;
	nsegs = div_u64(at + len - 1, region->mr_size) -
		div_u64(at, region->mr_size) + 1;
	if (nsegs > KRDMA_WIRE_SEGS_MAX)
		return -EINVAL;
	if (krdma_shown_wire_size(nsegs) > size)
		return krdma_shown_wire_size(nsegs);
	krdma_shown_encode(buf, len, nsegs);
	krdma_region_describe(region, offset, len,
			      buf + sizeof(struct krdma_wire_shown));
	return krdma_shown_wire_size(nsegs);
}
EXPORT_SYMBOL_NS_GPL(krdma_region_export, KRDMA_NS);

/**
 * krdma_region_sync - between the CPU's use of a region and the adapter's
 * @region: region of a connection that is not torn down meanwhile
 * @for_cpu: the CPU is next
 */
void krdma_region_sync(struct krdma_region *region, bool for_cpu)
{
	struct ib_device *ibdev = region->conn->cb.pd->device;
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

static bool krdma_region_mr_is_coherent(struct device *dma,
					const struct krdma_region_mr *mr)
{
	struct scatterlist *sg;
	int i;

	for_each_sgtable_dma_sg(&mr->sgt, sg, i)
		if (dma_need_sync(dma, sg_dma_address(sg)))
			return false;
	return true;
}

static bool krdma_region_is_coherent_locked(const struct krdma_region *region)
{
	struct ib_device *ibdev = region->conn->cb.pd->device;
	u32 i;

	lockdep_assert_held(&region->conn->setup);
	/* Software devices use the CPU's view. */
	for (i = 0; i < region->nmrs && !ib_uses_virt_dma(ibdev); i++)
		if (!krdma_region_mr_is_coherent(ibdev->dma_device,
						 &region->mrs[i]))
			return false;
	return true;
}

/**
 * krdma_region_is_coherent - is memory what the adapter sees, all the time?
 * @region: region
 *
 * Not if its pages are copied (swiotlb, encrypted guests) or if caches must be
 * flushed: then krdma_region_sync_for_cpu() is needed before the CPU sees what
 * the peer has written.
 *
 * Context: process; not in a callback that is told of the region's end.
 * Return: true if nothing needs to be synced; false, too, if it is revoked or the
 * connection is over.
 */
bool krdma_region_is_coherent(struct krdma_region *region)
{
	bool coherent;

	mutex_lock(&region->conn->setup);
	coherent = region->mrs[0].mapped &&
		   krdma_region_is_coherent_locked(region);
	mutex_unlock(&region->conn->setup);
	return coherent;
}
EXPORT_SYMBOL_NS_GPL(krdma_region_is_coherent, KRDMA_NS);

static void krdma_region_sync_safe(struct krdma_region *region, bool for_cpu)
{
	mutex_lock(&region->conn->setup);
	if (region->mrs[0].mapped)
		krdma_region_sync(region, for_cpu);
	mutex_unlock(&region->conn->setup);
}

/**
 * krdma_region_sync_for_cpu - before the CPU looks at what an adapter wrote
 * @region: region
 *
 * Does nothing where memory is coherent.
 */
void krdma_region_sync_for_cpu(struct krdma_region *region)
{
	krdma_region_sync_safe(region, true);
}
EXPORT_SYMBOL_NS_GPL(krdma_region_sync_for_cpu, KRDMA_NS);

/**
 * krdma_region_sync_for_device - after the CPU wrote what an adapter will read
 * @region: region
 *
 * Does nothing where memory is coherent.
 */
void krdma_region_sync_for_device(struct krdma_region *region)
{
	krdma_region_sync_safe(region, false);
}
EXPORT_SYMBOL_NS_GPL(krdma_region_sync_for_device, KRDMA_NS);
