// SPDX-License-Identifier: GPL-2.0
/*
 * The device of krdma_device_fake.h: DMA mappings, MRs, and QPs whose work
 * requests transfer bytes between the memory of two ends.
 *
 * One worker executes the work requests of all QPs in order. It reads and
 * writes memory by DMA addresses only, as adapters do. A local piece contains a
 * DMA address. For an address in an MR, the worker takes the DMA address of the
 * page from the MR's list of pages, and adds the offset in the page.
 */
#define KRDMA_DEVICE_FAKE_ITSELF
#include "krdma_device_fake.h"

#include <linux/bitmap.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#define FAKE_SLOT 2048U
#define FAKE_SLOTS 8192U
#define FAKE_SGES 32
#define FAKE_ENTRIES 512
#define FAKE_LKEY 0xfeed0000U

struct fake_mapping {
	struct list_head link;
	u64 dma;
	size_t size;
	void *cpu;
	enum dma_data_direction dir;
	unsigned long attrs;
};

struct fake_mr {
	struct ib_mr ibmr;
	struct list_head link;
	u32 index;
	u32 key;
	bool valid;
	int access;
	u64 iova;
	u64 len;
	u32 page_size;
	u32 max;
	u32 n;
	u64 pages[];
};

struct fake_cq {
	struct ib_cq ibcq;
	struct list_head done;
	bool armed;
};

struct fake_qp {
	struct ib_qp ibqp;
	struct list_head link;
	struct fake_qp *peer;
	bool ready;
	bool failed;
	bool signals_all;
	struct ib_qp_cap cap;
	struct list_head sq;
	struct list_head rq;
	u32 nsq;
	u32 nrq;
};

/* A work request. When it has completed, the same object is its completion. */
struct fake_wqe {
	struct list_head link;
	struct fake_qp *qp;
	struct ib_wc wc;
	enum ib_wr_opcode opcode;
	unsigned int flags;
	u32 ex;
	u64 raddr;
	u32 rkey;
	u64 compare_add;
	u64 swap;
	struct fake_mr *mr;
	u32 key;
	int access;
	u32 nsges;
	struct ib_sge sges[FAKE_SGES];
	u32 len;
	u8 data[];
};

struct fake *fake;
static struct workqueue_struct *fake_wq;

/* ---- DMA ---- */

static struct fake_mapping *fake_find(u64 dma, size_t size)
{
	struct fake_mapping *map;

	lockdep_assert_held(&fake->lock);
	list_for_each_entry(map, &fake->maps, link)
		if (dma >= map->dma && dma + size <= map->dma + map->size)
			return map;
	fake->faults++;
	return NULL;
}

/*
 * Allocate slots of the arena. Pieces of a page or more are page aligned, and
 * shorter pieces begin inside a page.
 */
static u64 fake_alloc_slots(size_t size)
{
	u32 n = DIV_ROUND_UP(size, FAKE_SLOT), pos = 0;
	bool odd = size < PAGE_SIZE;
	unsigned long at;

	for (;;) {
		at = bitmap_find_next_zero_area(fake->slots, FAKE_SLOTS, pos, n,
						0);
		if (at >= FAKE_SLOTS)
			return 0;
		if ((at * FAKE_SLOT & ~PAGE_MASK) == (odd ? FAKE_SLOT : 0))
			break;
		pos = at + 1;
	}
	bitmap_set(fake->slots, at, n);
	return (uintptr_t)fake->arena + at * FAKE_SLOT;
}

static void fake_free_slots(u64 dma, size_t size)
{
	u32 n = DIV_ROUND_UP(size, FAKE_SLOT);

	/*
	 * Overwrite the bytes of the freed slots, so that an access to them
	 * after the unmapping returns wrong data.
	 */
	memset((void *)(uintptr_t)dma, 0x5a, n * FAKE_SLOT);
	bitmap_clear(fake->slots, (dma - (uintptr_t)fake->arena) / FAKE_SLOT, n);
}

static u64 fake_map_locked(struct fake_mapping *map)
{
	if (map->size > fake->max_map)
		return 0;
	map->dma = fake->copies ? fake_alloc_slots(map->size) :
				  (uintptr_t)map->cpu;
	if (!map->dma)
		return 0;
	if (fake->copies)
		memcpy((void *)(uintptr_t)map->dma, map->cpu, map->size);
	fake->longest = max(fake->longest, map->size);
	fake->mapped++;
	list_add(&map->link, &fake->maps);
	return map->dma;
}

u64 fake_map(void *cpu, size_t size, enum dma_data_direction dir,
	     unsigned long attrs)
{
	struct fake_mapping *map = kzalloc(sizeof(*map), GFP_ATOMIC);
	unsigned long flags;
	u64 dma;

	if (!map)
		return 0;
	map->cpu = cpu;
	map->size = size;
	map->dir = dir;
	map->attrs = attrs;
	spin_lock_irqsave(&fake->lock, flags);
	dma = fake_map_locked(map);
	spin_unlock_irqrestore(&fake->lock, flags);
	if (!dma)
		kfree(map);
	return dma;
}

static void fake_write_back(const struct fake_mapping *map, size_t at,
			    size_t size)
{
	fake->written_back++;
	memcpy(map->cpu + at, (void *)(uintptr_t)map->dma + at, size);
}

static void fake_unmap_locked(struct fake_mapping *map)
{
	list_del(&map->link);
	fake->mapped--;
	if (!fake->copies)
		return;
	if (map->dir != DMA_TO_DEVICE &&
	    !(map->attrs & DMA_ATTR_SKIP_CPU_SYNC))
		fake_write_back(map, 0, map->size);
	fake_free_slots(map->dma, map->size);
}

void fake_unmap(u64 dma, size_t size, enum dma_data_direction dir,
		unsigned long attrs)
{
	struct fake_mapping *map;
	unsigned long flags;

	spin_lock_irqsave(&fake->lock, flags);
	map = fake_find(dma, size);
	if (map && (map->dma != dma || map->size != size || map->dir != dir ||
		    map->attrs != attrs))
		fake->faults++;
	if (map)
		fake_unmap_locked(map);
	spin_unlock_irqrestore(&fake->lock, flags);
	kfree(map);
}

int fake_map_sg(struct scatterlist *sgl, int nents, enum dma_data_direction dir,
		unsigned long attrs)
{
	struct scatterlist *sg;
	int i;

	for_each_sg(sgl, sg, nents, i) {
		sg_dma_address(sg) = fake_map(sg_virt(sg), sg->length, dir,
					      attrs);
		sg_dma_len(sg) = sg->length;
		if (!sg_dma_address(sg)) {
			fake_unmap_sg(sgl, i, dir, attrs);
			return 0;
		}
	}
	return nents;
}

void fake_unmap_sg(struct scatterlist *sgl, int nents,
		   enum dma_data_direction dir, unsigned long attrs)
{
	struct scatterlist *sg;
	int i;

	for_each_sg(sgl, sg, nents, i)
		fake_unmap(sg_dma_address(sg), sg_dma_len(sg), dir, attrs);
}

void fake_sync(u64 dma, size_t size, enum dma_data_direction dir, bool for_cpu)
{
	struct fake_mapping *map;
	unsigned long flags;
	size_t at;

	spin_lock_irqsave(&fake->lock, flags);
	map = fake_find(dma, size);
	if (map && map->dir != dir)
		fake->faults++;
	if (map && fake->copies) {
		at = dma - map->dma;
		if (for_cpu && dir != DMA_TO_DEVICE)
			fake_write_back(map, at, size);
		else if (!for_cpu && dir != DMA_FROM_DEVICE)
			memcpy((void *)(uintptr_t)dma, map->cpu + at, size);
	}
	spin_unlock_irqrestore(&fake->lock, flags);
}

/* Let the device read or write mapped memory. */
static bool fake_access(u64 dma, void *buf, u32 len, bool write)
{
	struct fake_mapping *map = fake_find(dma, len);

	if (!map)
		return false;
	if (map->dir == (write ? DMA_TO_DEVICE : DMA_FROM_DEVICE)) {
		fake->faults++;
		return false;
	}
	if (write)
		memcpy((void *)(uintptr_t)dma, buf, len);
	else
		memcpy(buf, (void *)(uintptr_t)dma, len);
	return true;
}

/*
 * Count a fault if a completion handler takes a mutex, even if the mutex is
 * free.
 */
void fake_mutex_lock(struct mutex *mutex)
{
	if (in_interrupt() || irqs_disabled())
		fake->faults++;
	mutex_lock(mutex);
}

/* ---- keys ---- */

static struct fake_mr *fake_find_mr(u32 key)
{
	struct fake_mr *mr;

	list_for_each_entry(mr, &fake->mrs, link)
		if (mr->index == key >> 8 && mr->valid && mr->key == key)
			return mr;
	return NULL;
}

/*
 * Return the page size that the adapter uses for an MR if @asked was requested:
 * @asked if the adapter supports this size, or else the next smaller size that
 * it supports.
 */
static u32 fake_page_size(u32 asked)
{
	u64 sizes = fake->ibdev.attrs.page_size_cap;

	return sizes & asked ? asked : 1U << (fls64(sizes & (asked - 1)) - 1);
}

static bool fake_mr_move(const struct fake_mr *mr, u64 addr, void *buf, u32 len,
			 bool write)
{
	u64 at = addr - mr->iova + (mr->iova & (mr->page_size - 1));
	u32 part, in;

	for (; len; len -= part, buf += part, at += part) {
		in = at & (mr->page_size - 1);
		part = min(len, mr->page_size - in);
		if (at / mr->page_size >= mr->n ||
		    !fake_access(mr->pages[at / mr->page_size] + in, buf, part,
				 write))
			return false;
	}
	return true;
}

static bool fake_key_move(const struct fake_qp *qp, u32 key, u64 addr, void *buf,
			  u32 len, bool write, int access)
{
	struct fake_mr *mr;

	if (key == FAKE_LKEY && !access)
		return fake_access(addr, buf, len, write);
	mr = fake_find_mr(key);
	if (!mr || mr->ibmr.pd != qp->ibqp.pd ||
	    (mr->access & access) != access || addr < mr->iova ||
	    addr + len > mr->iova + mr->len)
		return false;
	if (write && !(mr->access & IB_ACCESS_LOCAL_WRITE))
		return false;
	return fake_mr_move(mr, addr, buf, len, write);
}

/* Transfer @want bytes between @buf and the pieces of @wqe. */
static bool fake_sges_move(const struct fake_wqe *wqe, void *buf, u32 want,
			   bool write)
{
	u32 i, len;

	for (i = 0; i < wqe->nsges && want; i++) {
		len = min(want, wqe->sges[i].length);
		if (!fake_key_move(wqe->qp, wqe->sges[i].lkey,
				   wqe->sges[i].addr, buf, len, write, 0))
			return false;
		buf += len;
		want -= len;
	}
	return !want;
}

/* ---- execution ---- */

static void fake_complete(struct fake_wqe *wqe, struct ib_cq *ibcq,
			  enum ib_wc_status status)
{
	struct fake_cq *cq = container_of(ibcq, struct fake_cq, ibcq);

	wqe->wc.status = status;
	wqe->wc.qp = &wqe->qp->ibqp;
	list_add_tail(&wqe->link, &cq->done);
	if (!cq->armed)
		return;
	cq->armed = false;
	ibcq->comp_handler(ibcq, ibcq->cq_context);
}

static void fake_complete_recv(struct fake_wqe *wqe, enum ib_wc_status status)
{
	if (fake->holds_recvs && !status) {
		list_add_tail(&wqe->link, &fake->held);
		return;
	}
	fake_complete(wqe, wqe->qp->ibqp.recv_cq, status);
}

/*
 * Report the completion of a work request on a send queue, or hold it back
 * until fake_release_sends(). Failures are held back as well, because a queue
 * completes its work requests in order.
 */
static void fake_report_send(struct fake_wqe *wqe, enum ib_wc_status status)
{
	if (fake->holds_sends) {
		wqe->wc.status = status;
		list_add_tail(&wqe->link, &fake->held_sends);
		return;
	}
	fake_complete(wqe, wqe->qp->ibqp.send_cq, status);
}

static void fake_complete_send(struct fake_wqe *wqe, enum ib_wc_status status)
{
	struct fake_qp *qp = wqe->qp;

	qp->nsq--;
	if (status)
		qp->failed = true;
	if (status && fake->forgets_reads && wqe->opcode == IB_WR_RDMA_READ)
		kfree(wqe);
	else if (status || qp->signals_all || wqe->flags & IB_SEND_SIGNALED)
		fake_report_send(wqe, status);
	else
		kfree(wqe);
}

static bool fake_invalidate(u32 key, bool may_be_invalid)
{
	struct fake_mr *mr = fake_find_mr(key);

	if (!mr)
		return may_be_invalid;
	mr->valid = false;
	return true;
}

/* Complete the peer's receive for a message or immediate data. */
static enum ib_wc_status fake_deliver(struct fake_wqe *wqe, u32 len)
{
	struct fake_qp *peer = wqe->qp->peer;
	struct fake_wqe *recv;

	recv = list_first_entry_or_null(&peer->rq, struct fake_wqe, link);
	if (!recv)
		return IB_WC_RNR_RETRY_EXC_ERR;
	if (wqe->opcode == IB_WR_RDMA_WRITE_WITH_IMM) {
		recv->wc.opcode = IB_WC_RECV_RDMA_WITH_IMM;
		recv->wc.wc_flags = IB_WC_WITH_IMM;
		recv->wc.ex.imm_data = (__force __be32)wqe->ex;
	} else if (!fake_sges_move(recv, wqe->data, len, true)) {
		return IB_WC_REM_OP_ERR;
	}
	if (wqe->opcode == IB_WR_SEND_WITH_INV) {
		if (!fake_invalidate(wqe->ex, false))
			return IB_WC_REM_ACCESS_ERR;
		recv->wc.wc_flags = IB_WC_WITH_INVALIDATE;
		recv->wc.ex.invalidate_rkey = wqe->ex;
	}
	list_del(&recv->link);
	peer->nrq--;
	recv->wc.byte_len = len;
	fake_complete_recv(recv, IB_WC_SUCCESS);
	return IB_WC_SUCCESS;
}

static enum ib_wc_status fake_atomic(struct fake_wqe *wqe)
{
	struct fake_qp *peer = wqe->qp->peer;
	u64 old, new;

	if (!fake_key_move(peer, wqe->rkey, wqe->raddr, &old, sizeof(old), false,
			   IB_ACCESS_REMOTE_ATOMIC))
		return IB_WC_REM_ACCESS_ERR;
	new = old + wqe->compare_add;
	if (wqe->opcode == IB_WR_ATOMIC_CMP_AND_SWP)
		new = old == wqe->compare_add ? wqe->swap : old;
	if (!fake_key_move(peer, wqe->rkey, wqe->raddr, &new, sizeof(new), true,
			   IB_ACCESS_REMOTE_ATOMIC))
		return IB_WC_REM_ACCESS_ERR;
	return fake_sges_move(wqe, &old, sizeof(old), true) ?
	       IB_WC_SUCCESS : IB_WC_LOC_PROT_ERR;
}

static enum ib_wc_status fake_read(struct fake_wqe *wqe)
{
	if (!fake_key_move(wqe->qp->peer, wqe->rkey, wqe->raddr, wqe->data,
			   wqe->len, false, IB_ACCESS_REMOTE_READ))
		return IB_WC_REM_ACCESS_ERR;
	return fake_sges_move(wqe, wqe->data, wqe->len, true) ?
	       IB_WC_SUCCESS : IB_WC_LOC_PROT_ERR;
}

static enum ib_wc_status fake_send(struct fake_wqe *wqe)
{
	if (!(wqe->flags & IB_SEND_INLINE) &&
	    !fake_sges_move(wqe, wqe->data, wqe->len, false))
		return IB_WC_LOC_PROT_ERR;
	if (wqe->opcode == IB_WR_SEND || wqe->opcode == IB_WR_SEND_WITH_INV)
		return fake_deliver(wqe, wqe->len);
	if (wqe->len &&
	    !fake_key_move(wqe->qp->peer, wqe->rkey, wqe->raddr, wqe->data,
			   wqe->len, true, IB_ACCESS_REMOTE_WRITE))
		return IB_WC_REM_ACCESS_ERR;
	return wqe->opcode == IB_WR_RDMA_WRITE ? IB_WC_SUCCESS :
						 fake_deliver(wqe, wqe->len);
}

static enum ib_wc_status fake_register(struct fake_wqe *wqe)
{
	struct fake_mr *mr = wqe->mr;

	if (fake->fails_regs) {
		fake->fails_regs--;
		return IB_WC_WR_FLUSH_ERR;
	}
	if (fake->refuses_regs || mr->valid || mr->index != wqe->key >> 8)
		return IB_WC_MW_BIND_ERR;
	mr->key = wqe->key;
	mr->access = wqe->access;
	mr->iova = mr->ibmr.iova;
	mr->len = mr->ibmr.length;
	mr->page_size = fake_page_size(mr->ibmr.page_size);
	mr->valid = true;
	fake->registered++;
	return IB_WC_SUCCESS;
}

static enum ib_wc_status fake_execute(struct fake_wqe *wqe)
{
	if (wqe->qp->failed)
		return IB_WC_WR_FLUSH_ERR;
	switch (wqe->opcode) {
	case IB_WR_REG_MR:
		return fake_register(wqe);
	case IB_WR_LOCAL_INV:
		return fake_invalidate(wqe->ex, !fake->refuses_inv) ?
		       IB_WC_SUCCESS : IB_WC_MW_BIND_ERR;
	default:
		break;
	}
	if (!wqe->qp->peer)
		return IB_WC_RETRY_EXC_ERR;
	switch (wqe->opcode) {
	case IB_WR_RDMA_READ:
		return fake_read(wqe);
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		return fake_atomic(wqe);
	default:
		return fake_send(wqe);
	}
}

static bool fake_qp_step(struct fake_qp *qp)
{
	struct fake_wqe *wqe;

	if (!qp->ready && !qp->failed)
		return false;
	wqe = list_first_entry_or_null(&qp->sq, struct fake_wqe, link);
	if (wqe) {
		list_del(&wqe->link);
		fake_complete_send(wqe, fake_execute(wqe));
		return true;
	}
	if (!qp->failed)
		return false;
	wqe = list_first_entry_or_null(&qp->rq, struct fake_wqe, link);
	if (!wqe)
		return false;
	list_del(&wqe->link);
	qp->nrq--;
	fake_complete_recv(wqe, IB_WC_WR_FLUSH_ERR);
	return true;
}

static bool fake_step(void)
{
	unsigned long flags;
	struct fake_qp *qp;
	bool did = false;

	spin_lock_irqsave(&fake->lock, flags);
	list_for_each_entry(qp, &fake->qps, link)
		did |= fake_qp_step(qp);
	spin_unlock_irqrestore(&fake->lock, flags);
	return did;
}

static void fake_work(struct work_struct *work)
{
	while (fake_step())
		cond_resched();
}

/*
 * Deliver the completions of receives that were held back, and hold back no
 * more.
 */
void fake_release_recvs(void)
{
	struct fake_wqe *wqe, *next;
	unsigned long flags;

	spin_lock_irqsave(&fake->lock, flags);
	fake->holds_recvs = false;
	list_for_each_entry_safe(wqe, next, &fake->held, link) {
		list_del(&wqe->link);
		fake_complete_recv(wqe, IB_WC_SUCCESS);
	}
	spin_unlock_irqrestore(&fake->lock, flags);
}

/*
 * Deliver the completions of send queues that were held back, and hold back no
 * more.
 */
void fake_release_sends(void)
{
	struct fake_wqe *wqe, *next;
	unsigned long flags;

	spin_lock_irqsave(&fake->lock, flags);
	fake->holds_sends = false;
	list_for_each_entry_safe(wqe, next, &fake->held_sends, link) {
		list_del(&wqe->link);
		fake_report_send(wqe, wqe->wc.status);
	}
	spin_unlock_irqrestore(&fake->lock, flags);
}

/* ---- verbs ---- */

static int fake_alloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return 0;
}

static int fake_dealloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return 0;
}

static int fake_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
			  void *data)
{
	struct fake_cq *cq = container_of(ibcq, struct fake_cq, ibcq);

	INIT_LIST_HEAD(&cq->done);
	ibcq->cqe = attr->cqe;
	return 0;
}

static int fake_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata)
{
	struct fake_cq *cq = container_of(ibcq, struct fake_cq, ibcq);
	struct fake_wqe *wqe, *next;

	list_for_each_entry_safe(wqe, next, &cq->done, link)
		kfree(wqe);
	return 0;
}

static int fake_poll_cq(struct ib_cq *ibcq, int n, struct ib_wc *wc)
{
	struct fake_cq *cq = container_of(ibcq, struct fake_cq, ibcq);
	struct fake_wqe *wqe;
	unsigned long flags;
	int i;

	spin_lock_irqsave(&fake->lock, flags);
	for (i = 0; i < n && !list_empty(&cq->done); i++) {
		wqe = list_first_entry(&cq->done, struct fake_wqe, link);
		wc[i] = wqe->wc;
		list_del(&wqe->link);
		kfree(wqe);
	}
	spin_unlock_irqrestore(&fake->lock, flags);
	return i;
}

static int fake_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags how)
{
	struct fake_cq *cq = container_of(ibcq, struct fake_cq, ibcq);
	unsigned long flags;
	int missed;

	spin_lock_irqsave(&fake->lock, flags);
	missed = !list_empty(&cq->done);
	cq->armed = true;
	spin_unlock_irqrestore(&fake->lock, flags);
	return how & IB_CQ_REPORT_MISSED_EVENTS ? missed : 0;
}

static int fake_qp_create(struct ib_qp *ibqp, struct ib_qp_init_attr *attr,
			  struct ib_udata *udata)
{
	struct fake_qp *qp = container_of(ibqp, struct fake_qp, ibqp);
	const struct ib_device_attr *attrs = &fake->ibdev.attrs;
	unsigned long flags;

	if (attr->cap.max_inline_data > fake->max_inline ||
	    attr->cap.max_send_wr > attrs->max_qp_wr ||
	    attr->cap.max_recv_wr > attrs->max_qp_wr ||
	    attr->cap.max_send_sge > attrs->max_send_sge)
		return -EINVAL;
	if (fake->lacks_inline_memory && attr->cap.max_inline_data)
		return -ENOMEM;
	qp->cap = attr->cap;
	qp->signals_all = attr->sq_sig_type == IB_SIGNAL_ALL_WR;
	INIT_LIST_HEAD(&qp->sq);
	INIT_LIST_HEAD(&qp->rq);
	spin_lock_irqsave(&fake->lock, flags);
	ibqp->qp_num = ++fake->next_qp;
	list_add_tail(&qp->link, &fake->qps);
	spin_unlock_irqrestore(&fake->lock, flags);
	return 0;
}

static void fake_free_wqes(struct list_head *wqes)
{
	struct fake_wqe *wqe, *next;

	list_for_each_entry_safe(wqe, next, wqes, link)
		kfree(wqe);
}

static int fake_qp_destroy(struct ib_qp *ibqp, struct ib_udata *udata)
{
	struct fake_qp *qp = container_of(ibqp, struct fake_qp, ibqp), *other;
	unsigned long flags;

	spin_lock_irqsave(&fake->lock, flags);
	list_del(&qp->link);
	list_for_each_entry(other, &fake->qps, link)
		if (other->peer == qp)
			other->peer = NULL;
	fake_free_wqes(&qp->sq);
	fake_free_wqes(&qp->rq);
	spin_unlock_irqrestore(&fake->lock, flags);
	return 0;
}

void fake_fail_qp(struct ib_qp *ibqp)
{
	struct fake_qp *qp = container_of(ibqp, struct fake_qp, ibqp);
	unsigned long flags;

	spin_lock_irqsave(&fake->lock, flags);
	qp->failed = true;
	spin_unlock_irqrestore(&fake->lock, flags);
	queue_work(fake_wq, &fake->work);
}

static void fake_count_error(void)
{
	unsigned long flags;

	spin_lock_irqsave(&fake->lock, flags);
	if (!fake->errors++) {
		fake->disconnects_at_error = fake->disconnects;
		fake->error_at = jiffies;
	}
	spin_unlock_irqrestore(&fake->lock, flags);
}

static int fake_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
			  struct ib_udata *udata)
{
	if (mask & IB_QP_STATE && attr->qp_state == IB_QPS_ERR) {
		fake_count_error();
		fake_fail_qp(ibqp);
	}
	return 0;
}

static int fake_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
			 struct ib_qp_init_attr *init)
{
	attr->max_rd_atomic = 16;
	attr->max_dest_rd_atomic = 16;
	return 0;
}

void fake_link_qps(struct ib_qp *a, struct ib_qp *b)
{
	struct fake_qp *x = container_of(a, struct fake_qp, ibqp);
	struct fake_qp *y = container_of(b, struct fake_qp, ibqp);
	unsigned long flags;

	spin_lock_irqsave(&fake->lock, flags);
	x->peer = y;
	y->peer = x;
	x->ready = true;
	y->ready = true;
	spin_unlock_irqrestore(&fake->lock, flags);
	queue_work(fake_wq, &fake->work);
}

static u32 fake_sges_len(const struct ib_sge *sges, u32 n)
{
	u32 len = 0;

	while (n--)
		len += sges++->length;
	return len;
}

static struct fake_wqe *fake_wqe_alloc(struct fake_qp *qp,
				       const struct ib_sge *sges, u32 n)
{
	u32 len = fake_sges_len(sges, n);
	struct fake_wqe *wqe;

	wqe = kzalloc(struct_size(wqe, data, len), GFP_ATOMIC);
	if (!wqe)
		return NULL;
	wqe->qp = qp;
	wqe->nsges = n;
	memcpy(wqe->sges, sges, n * sizeof(*sges));
	wqe->len = len;
	return wqe;
}

static void fake_copy_inline(struct fake_wqe *wqe)
{
	u32 at = 0, i;

	for (i = 0; i < wqe->nsges; i++) {
		memcpy(wqe->data + at, (void *)(uintptr_t)wqe->sges[i].addr,
		       wqe->sges[i].length);
		at += wqe->sges[i].length;
	}
}

static void fake_fill_wqe(struct fake_wqe *wqe, const struct ib_send_wr *wr)
{
	wqe->wc.wr_cqe = wr->wr_cqe;
	wqe->opcode = wr->opcode;
	wqe->flags = wr->send_flags;
	wqe->ex = wr->ex.invalidate_rkey;
	if (wr->send_flags & IB_SEND_INLINE)
		fake_copy_inline(wqe);
	switch (wr->opcode) {
	case IB_WR_REG_MR:
		wqe->mr = container_of(reg_wr(wr)->mr, struct fake_mr, ibmr);
		wqe->key = reg_wr(wr)->key;
		wqe->access = reg_wr(wr)->access;
		break;
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		wqe->raddr = atomic_wr(wr)->remote_addr;
		wqe->rkey = atomic_wr(wr)->rkey;
		wqe->compare_add = atomic_wr(wr)->compare_add;
		wqe->swap = atomic_wr(wr)->swap;
		break;
	case IB_WR_RDMA_READ:
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
		wqe->raddr = rdma_wr(wr)->remote_addr;
		wqe->rkey = rdma_wr(wr)->rkey;
		break;
	default:
		break;
	}
}

static int fake_post_one(struct fake_qp *qp, const struct ib_send_wr *wr)
{
	u32 max = wr->opcode == IB_WR_RDMA_READ ?
		  min_t(u32, qp->cap.max_send_sge,
			fake->ibdev.attrs.max_sge_rd) : qp->cap.max_send_sge;
	struct fake_wqe *wqe;
	unsigned long flags;

	if (wr->num_sge > max || qp->nsq >= qp->cap.max_send_wr)
		return -EINVAL;
	wqe = fake_wqe_alloc(qp, wr->sg_list, wr->num_sge);
	if (!wqe)
		return -ENOMEM;
	fake_fill_wqe(wqe, wr);
	spin_lock_irqsave(&fake->lock, flags);
	if (wr->send_flags & IB_SEND_INLINE &&
	    wqe->len > fake->longest_inline)
		fake->longest_inline = wqe->len;
	qp->nsq++;
	list_add_tail(&wqe->link, &qp->sq);
	spin_unlock_irqrestore(&fake->lock, flags);
	return 0;
}

static int fake_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
			  const struct ib_send_wr **bad)
{
	struct fake_qp *qp = container_of(ibqp, struct fake_qp, ibqp);
	int ret = 0;

	for (; wr && !ret; wr = wr->next) {
		ret = fake_post_one(qp, wr);
		if (ret)
			*bad = wr;
	}
	queue_work(fake_wq, &fake->work);
	return ret;
}

static int fake_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
			  const struct ib_recv_wr **bad)
{
	struct fake_qp *qp = container_of(ibqp, struct fake_qp, ibqp);
	struct fake_wqe *wqe;
	unsigned long flags;

	for (; wr; wr = wr->next) {
		wqe = qp->nrq < qp->cap.max_recv_wr ?
		      fake_wqe_alloc(qp, wr->sg_list, wr->num_sge) : NULL;
		if (!wqe) {
			*bad = wr;
			return -ENOMEM;
		}
		wqe->wc.wr_cqe = wr->wr_cqe;
		wqe->wc.opcode = IB_WC_RECV;
		spin_lock_irqsave(&fake->lock, flags);
		qp->nrq++;
		list_add_tail(&wqe->link, &qp->rq);
		spin_unlock_irqrestore(&fake->lock, flags);
	}
	queue_work(fake_wq, &fake->work);
	return 0;
}

static struct ib_mr *fake_alloc_mr(struct ib_pd *pd, enum ib_mr_type type,
				   u32 max)
{
	struct fake_mr *mr;
	unsigned long flags;

	if (max > fake->ibdev.attrs.max_fast_reg_page_list_len)
		return ERR_PTR(-EINVAL);
	mr = kzalloc(struct_size(mr, pages, max), GFP_KERNEL);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->max = max;
	spin_lock_irqsave(&fake->lock, flags);
	mr->index = fake->free_index ?: ++fake->next_index;
	fake->free_index = 0;
	if (mr->index == fake->grows_after)
		fake->ibdev.attrs.max_fast_reg_page_list_len = 64;
	list_add_tail(&mr->link, &fake->mrs);
	fake->allocated++;
	spin_unlock_irqrestore(&fake->lock, flags);
	mr->ibmr.lkey = mr->index << 8;
	mr->ibmr.rkey = mr->index << 8;
	return &mr->ibmr;
}

static int fake_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct fake_mr *mr = container_of(ibmr, struct fake_mr, ibmr);
	unsigned long flags;

	spin_lock_irqsave(&fake->lock, flags);
	list_del(&mr->link);
	fake->allocated--;
	if (fake->reuses_indices)
		fake->free_index = mr->index;
	spin_unlock_irqrestore(&fake->lock, flags);
	kfree(mr);
	return 0;
}

static int fake_set_page(struct ib_mr *ibmr, u64 addr)
{
	struct fake_mr *mr = container_of(ibmr, struct fake_mr, ibmr);

	if (mr->n == mr->max)
		return -ENOMEM;
	mr->pages[mr->n++] = addr;
	return 0;
}

static int fake_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int nents,
			  unsigned int *offset)
{
	struct fake_mr *mr = container_of(ibmr, struct fake_mr, ibmr);

	/*
	 * The adapter uses the list of pages while the key of the MR is valid.
	 * Changing the list during this time is a fault of krdma.
	 */
	if (mr->valid)
		fake->faults++;
	mr->n = 0;
	return ib_sg_to_pages(ibmr, sg, nents, offset, fake_set_page);
}

static const struct ib_device_ops fake_ops = {
	.owner = THIS_MODULE,
	.driver_id = RDMA_DRIVER_UNKNOWN,
	.alloc_pd = fake_alloc_pd,
	.dealloc_pd = fake_dealloc_pd,
	/*
	 * Cast the function, because Linux 6.11 has changed the type of its
	 * last parameter.
	 */
	.create_cq = (void *)fake_create_cq,
	.destroy_cq = fake_destroy_cq,
	.poll_cq = fake_poll_cq,
	.req_notify_cq = fake_req_notify_cq,
	.create_qp = fake_qp_create,
	.modify_qp = fake_modify_qp,
	.query_qp = fake_query_qp,
	.destroy_qp = fake_qp_destroy,
	.post_send = fake_post_send,
	.post_recv = fake_post_recv,
	.alloc_mr = fake_alloc_mr,
	.dereg_mr = fake_dereg_mr,
	.map_mr_sg = fake_map_mr_sg,
	INIT_RDMA_OBJ_SIZE(ib_cq, fake_cq, ibcq),
	INIT_RDMA_OBJ_SIZE(ib_qp, fake_qp, ibqp),
	.size_ib_pd = sizeof(struct ib_pd),
};

/* ---- life ---- */

static void fake_set_attrs(struct fake *f)
{
	struct ib_device_attr *attrs = &f->ibdev.attrs;

	attrs->max_qp_wr = 1024;
	attrs->max_cqe = 8192;
	attrs->max_send_sge = 8;
	attrs->max_recv_sge = 8;
	attrs->max_sge_rd = 4;
	attrs->max_fast_reg_page_list_len = 64;
	attrs->page_size_cap = PAGE_SIZE;
	attrs->max_qp_rd_atom = 16;
	attrs->max_qp_init_rd_atom = 16;
	attrs->atomic_cap = IB_ATOMIC_HCA;
	attrs->device_cap_flags = IB_DEVICE_MEM_MGT_EXTENSIONS;
	attrs->kernel_cap_flags = IBK_LOCAL_DMA_LKEY;
	f->ibdev.local_dma_lkey = FAKE_LKEY;
	f->ibdev.num_comp_vectors = 1;
	f->ibdev.phys_port_cnt = 1;
	f->copies = true;
	f->max_map = SZ_256K;
	f->max_inline = 64;
}

static int fake_alloc_memory(struct fake *f)
{
	f->arena = vzalloc(FAKE_SLOTS * FAKE_SLOT);
	f->slots = bitmap_zalloc(FAKE_SLOTS, GFP_KERNEL);
	f->ibdev.port_data = kcalloc(2, sizeof(*f->ibdev.port_data), GFP_KERNEL);
	fake_wq = alloc_ordered_workqueue("fake", 0);
	return f->arena && f->slots && f->ibdev.port_data && fake_wq ?
	       0 : -ENOMEM;
}

static void fake_free(struct fake *f)
{
	if (fake_wq)
		destroy_workqueue(fake_wq);
	fake_wq = NULL;
	kfree(f->ibdev.port_data);
	f->ibdev.port_data = NULL;
	bitmap_free(f->slots);
	vfree(f->arena);
	ib_dealloc_device(&f->ibdev);
}

/**
 * fake_create - create the device
 *
 * The global variable fake points to the device until fake_destroy() frees it.
 *
 * Return: the device, or NULL if memory is short.
 */
struct fake *fake_create(void)
{
	struct fake *f = ib_alloc_device(fake, ibdev);

	if (!f)
		return NULL;
	spin_lock_init(&f->lock);
	INIT_LIST_HEAD(&f->maps);
	INIT_LIST_HEAD(&f->mrs);
	INIT_LIST_HEAD(&f->qps);
	INIT_LIST_HEAD(&f->held);
	INIT_LIST_HEAD(&f->held_sends);
	INIT_WORK(&f->work, fake_work);
	dev_set_name(&f->ibdev.dev, "fake");
	ib_set_device_ops(&f->ibdev, &fake_ops);
	fake_set_attrs(f);
	if (fake_alloc_memory(f)) {
		fake_free(f);
		return NULL;
	}
	f->ibdev.port_data[1].immutable.core_cap_flags =
		RDMA_CORE_CAP_PROT_ROCE_UDP_ENCAP;
	fake = f;
	return f;
}

/**
 * fake_destroy - free the device
 */
void fake_destroy(void)
{
	fake_free(fake);
	fake = NULL;
}
