// SPDX-License-Identifier: GPL-2.0
/* Connections: their life, their memory, and the calls that both sides execute. */
#include <linux/bottom_half.h>
#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <rdma/ib_cache.h>

#include "priv.h"

#define NV_REGION_ACCESS(rights) (IB_ACCESS_LOCAL_WRITE | (rights))

static const int nv_rights[NV_MRS] = {
	[NV_ALL] = NV_ALL_RIGHTS,
	[NV_READABLE] = IB_ACCESS_REMOTE_READ,
	[NV_WRITABLE] = NV_REGION_ACCESS(IB_ACCESS_REMOTE_WRITE),
	[NV_PLAIN] = 0,
	[NV_LOCAL] = IB_ACCESS_LOCAL_WRITE,
	[NV_TARGET] = NV_ALL_RIGHTS,
	[NV_INVALID] = NV_ALL_RIGHTS,
};

/* --- completions and events --- */

static void nv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct nv_tag *tag = container_of(wc->wr_cqe, struct nv_tag, cqe);
	struct nv_queue *q = tag->queue;
	struct nv_log *log = &q->log[q->done++ % NV_LOGS];

	*log = (struct nv_log){ .id = tag->id, .status = wc->status };
	if (wc->status)
		return;
	log->opcode = wc->opcode;
	log->flags = wc->wc_flags;
	log->len = wc->byte_len;
	log->src_qp = wc->src_qp;
	if (wc->wc_flags & IB_WC_WITH_IMM)
		log->ex = be32_to_cpu(wc->ex.imm_data);
	else if (wc->wc_flags & IB_WC_WITH_INVALIDATE)
		log->ex = wc->ex.invalidate_rkey;
}

static void nv_poll(struct nv_queue *q)
{
	struct ib_wc wc;

	mutex_lock(&q->lock);
	while (ib_poll_cq(q->cq, 1, &wc) > 0)
		wc.wr_cqe->done(q->cq, &wc);
	mutex_unlock(&q->lock);
}

static void nv_work(struct work_struct *work)
{
	struct nv_queue *q = container_of(work, struct nv_queue, work);

	do {
		nv_poll(q);
	} while (ib_req_notify_cq(q->cq, IB_CQ_NEXT_COMP |
				  IB_CQ_REPORT_MISSED_EVENTS) > 0);
	wake_up(&q->conn->wait);
}

/* rxe holds the lock of the CQ during this call, so the CQ is polled later. */
static void nv_cq_handler(struct ib_cq *cq, void *context)
{
	struct nv_queue *q = context;

	q->notified++;
	if (READ_ONCE(q->conn->poster) == current)
		q->conn->nested++;
	if (!q->held)
		schedule_work(&q->work);
}

static void nv_event(struct nv_conn *c, struct ib_event *event)
{
	set_bit(event->event, &c->events);
	wake_up(&c->wait);
}

static void nv_cq_event(struct ib_event *event, void *context)
{
	struct nv_queue *q = context;

	nv_event(q->conn, event);
}

static void nv_conn_event(struct ib_event *event, void *context)
{
	nv_event(context, event);
}

/* Wait until a queue has @done completions. */
bool nv_wait(struct nv_conn *c, enum nv_dir dir, u32 done, u32 ms)
{
	unsigned long end = jiffies + msecs_to_jiffies(ms);
	struct nv_queue *q = &c->queue[dir];

	while (READ_ONCE(q->done) < done && time_before(jiffies, end)) {
		if (q->held)
			nv_poll(q);
		wait_event_timeout(c->wait, READ_ONCE(q->done) >= done,
				   HZ / 50);
	}
	return READ_ONCE(q->done) >= done;
}

/* --- posts --- */

/* Return the offset and the length of piece @i. */
static u32 nv_piece(const struct nv_lay *lay, u32 i, u32 *len)
{
	u32 each = lay->n ? lay->len / lay->n : 0;

	*len = i == lay->n - 1 ? lay->len - i * each : each;
	return lay->off + i * (each + NV_GAP);
}

/**
 * struct nv_built - a work request
 * @send: request
 * @rdma: request for memory of the peer
 * @atomic: atomic request
 * @reg: REG_MR
 * @ud: datagram
 * @recv: receive
 * @sge: SGEs
 */
struct nv_built {
	union {
		struct ib_send_wr send;
		struct ib_rdma_wr rdma;
		struct ib_atomic_wr atomic;
		struct ib_reg_wr reg;
		struct ib_ud_wr ud;
		struct ib_recv_wr recv;
	};
	struct ib_sge sge[NV_SGES + 1];
};

static u32 nv_sges(const struct nv_conn *c, const struct nv_lay *lay, u32 lkey,
		   bool is_inline, struct ib_sge *sge)
{
	u32 i, off;

	for (i = 0; i < lay->n; i++) {
		off = nv_piece(lay, i, &sge[i].length);
		sge[i].addr = is_inline ? (uintptr_t)c->buf + off :
					  c->dma + off;
		sge[i].lkey = lkey ?: c->pd->local_dma_lkey;
	}
	return lay->n;
}

static struct ib_cqe *nv_tag(struct nv_queue *q)
{
	struct nv_tag *tag = &q->tag[q->posted % NV_TAGS];

	tag->cqe.done = nv_done;
	tag->queue = q;
	tag->id = q->posted++;
	return &tag->cqe;
}

static void nv_build(struct nv_conn *c, const struct nv_req *req,
		     struct nv_built *b)
{
	bool is_inline = req->flags & IB_SEND_INLINE;

	b->send.opcode = req->op;
	b->send.send_flags = req->flags;
	b->send.wr_cqe = nv_tag(&c->queue[NV_SENDS]);
	b->send.sg_list = b->sge;
	b->send.num_sge = nv_sges(c, &req->lay, req->lkey, is_inline, b->sge);
	if (req->at)
		b->sge[0].addr = req->at;
	if (req->op == IB_WR_SEND_WITH_INV || req->op == IB_WR_LOCAL_INV)
		b->send.ex.invalidate_rkey = req->rkey;
	else
		b->send.ex.imm_data = cpu_to_be32(req->imm);
	if (c->spec.ud) {
		b->ud.ah = c->ah;
		b->ud.remote_qpn = c->ud.qp_num;
		b->ud.remote_qkey = c->ud.qkey + req->rkey;
	} else if (req->op == IB_WR_REG_MR) {
		b->reg.mr = req->mr;
		b->reg.key = req->mr->rkey;
		b->reg.access = req->access;
	} else if (req->op == IB_WR_ATOMIC_CMP_AND_SWP ||
		   req->op == IB_WR_ATOMIC_FETCH_AND_ADD) {
		b->atomic.remote_addr = req->addr;
		b->atomic.rkey = req->rkey;
		b->atomic.compare_add = req->compare;
		b->atomic.swap = req->swap;
	} else if (req->op == IB_WR_RDMA_READ || req->op == IB_WR_RDMA_WRITE ||
		   req->op == IB_WR_RDMA_WRITE_WITH_IMM) {
		b->rdma.remote_addr = req->addr;
		b->rdma.rkey = req->rkey;
	}
}

/*
 * Post as under a lock of the consumer: no softirq runs in this task, and no
 * handler must be called.
 */
static int nv_post_locked(struct nv_conn *c, const struct ib_send_wr *wr,
			  const struct ib_send_wr **bad)
{
	int ret;

	local_bh_disable();
	WRITE_ONCE(c->poster, current);
	ret = ib_post_send(c->id->qp, wr, bad);
	WRITE_ONCE(c->poster, NULL);
	local_bh_enable();
	return ret;
}

/* Post requests as one list. */
int nv_post(struct nv_conn *c, const struct nv_req *req, int n)
{
	struct nv_built *built = kcalloc(n, sizeof(*built), GFP_KERNEL);
	u32 posted = c->queue[NV_SENDS].posted;
	const struct ib_send_wr *bad = NULL;
	int i, ret;

	if (!built)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		nv_build(c, &req[i], &built[i]);
		if (i)
			built[i - 1].send.next = &built[i].send;
	}
	ret = c->locked ? nv_post_locked(c, &built[0].send, &bad) :
			  ib_post_send(c->id->qp, &built[0].send, &bad);
	/* Requests that were not posted have no numbers. */
	for (i = 0; ret && i < n; i++)
		if (bad == &built[i].send)
			c->queue[NV_SENDS].posted = posted + i;
	kfree(built);
	return ret;
}

static int nv_recv(struct nv_conn *c, const struct nv_lay *lay, u32 lkey)
{
	struct nv_built *b = kzalloc(sizeof(*b), GFP_KERNEL);
	const struct ib_recv_wr *bad;
	int ret;

	if (!b)
		return -ENOMEM;
	b->recv.wr_cqe = nv_tag(&c->queue[NV_RECVS]);
	b->recv.sg_list = b->sge;
	b->recv.num_sge = nv_sges(c, lay, lkey, false, b->sge);
	if (c->srq)
		ret = ib_post_srq_recv(c->srq, &b->recv, &bad);
	else
		ret = ib_post_recv(c->id->qp, &b->recv, &bad);
	if (ret)
		c->queue[NV_RECVS].posted--;
	kfree(b);
	return ret;
}

/* Post a request that is signalled, and wait for it. */
static int nv_post_wait(struct nv_conn *c, struct nv_req *req)
{
	struct nv_queue *q = &c->queue[NV_SENDS];
	u32 done = q->done;
	int ret;

	req->flags = IB_SEND_SIGNALED;
	ret = nv_post(c, req, 1);
	if (ret)
		return ret;
	if (!nv_wait(c, NV_SENDS, done + 1, NV_WAIT_MS))
		return -ETIMEDOUT;
	return q->log[done % NV_LOGS].status ? -EIO : 0;
}

/* --- regions --- */

static int nv_reg(struct nv_conn *c, struct ib_mr **slot,
		  struct scatterlist *sg, int rights)
{
	struct nv_req req = { .op = IB_WR_REG_MR, .access = rights };
	u32 max = c->pd->device->attrs.max_fast_reg_page_list_len;
	struct ib_mr *mr = *slot;

	if (!mr) {
		mr = ib_alloc_mr(c->pd, IB_MR_TYPE_MEM_REG,
				 min_t(u32, max, sg->length / SZ_4K + 1));
		if (IS_ERR(mr))
			return PTR_ERR(mr);
		*slot = mr;
	}
	if (ib_map_mr_sg(mr, sg, 1, NULL, SZ_4K) != 1)
		return -EINVAL;
	ib_update_fast_reg_key(mr, ib_inc_rkey(mr->rkey));
	req.mr = mr;
	return nv_post_wait(c, &req);
}

static int nv_invalidate(struct nv_conn *c, u32 key)
{
	struct nv_req req = { .op = IB_WR_LOCAL_INV, .rkey = key };

	return nv_post_wait(c, &req);
}

/* A device without atomics refuses the right to them. */
static int nv_reg_key(struct nv_conn *c, enum nv_key key)
{
	int rights = nv_rights[key];

	if (c->pd->device->attrs.atomic_cap == IB_ATOMIC_NONE)
		rights &= ~IB_ACCESS_REMOTE_ATOMIC;
	return nv_reg(c, &c->mr[key], &c->sg, rights);
}

static int nv_reg_all(struct nv_conn *c)
{
	int key, ret = 0;

	for (key = 0; key < NV_MRS && !ret; key++)
		ret = nv_reg_key(c, key);
	return ret ?: nv_invalidate(c, c->mr[NV_INVALID]->rkey);
}

/* --- memory --- */

/*
 * Allocate memory, and map it for the device. Memory for the DMA API is coherent,
 * so no case needs a sync call.
 */
static void *nv_mem_alloc(struct ib_device *dev, size_t size, u64 *dma)
{
	dma_addr_t addr;
	void *mem;

	if (dev->dma_device) {
		mem = dma_alloc_coherent(dev->dma_device, size, &addr,
					 GFP_KERNEL);
		*dma = addr;
		return mem;
	}
	mem = alloc_pages_exact(size, GFP_KERNEL | __GFP_ZERO);
	*dma = (uintptr_t)mem;
	return mem;
}

static void nv_mem_free(struct ib_device *dev, size_t size, void *mem, u64 dma)
{
	if (!mem)
		return;
	if (dev->dma_device)
		dma_free_coherent(dev->dma_device, size, mem, dma);
	else
		free_pages_exact(mem, size);
}

/* Set up a list with one entry that is mapped. Devices do not use the pages. */
static void nv_mem_list(struct scatterlist *sg, u64 dma, u32 len)
{
	sg_init_table(sg, 1);
	sg->length = len;
	sg_dma_address(sg) = dma;
	sg_dma_len(sg) = len;
}

/* --- life of a connection --- */

static void nv_free_chunks(struct nv_conn *c)
{
	int i;

	if (!c->pd)
		return;
	for (i = 0; i < NV_CHUNKS; i++) {
		if (c->chunk_mr[i])
			ib_dereg_mr(c->chunk_mr[i]);
		nv_mem_free(c->pd->device, SZ_1M, c->chunk[i], c->chunk_dma[i]);
	}
}

static void nv_conn_free(struct nv_conn *c)
{
	struct ib_device *dev = c->pd ? c->pd->device : NULL;
	int i;

	if (c->id && c->up == 1 && !c->spec.ud)
		rdma_disconnect(c->id);
	if (c->ah)
		rdma_destroy_ah(c->ah, RDMA_DESTROY_AH_SLEEPABLE);
	if (c->id && c->id->qp)
		rdma_destroy_qp(c->id);
	for (i = 0; i < NV_DIRS; i++) {
		if (c->queue[i].cq) {
			cancel_work_sync(&c->queue[i].work);
			ib_destroy_cq(c->queue[i].cq);
		}
	}
	if (c->srq)
		ib_destroy_srq(c->srq);
	for (i = 0; i < NV_MRS; i++)
		if (c->mr[i])
			ib_dereg_mr(c->mr[i]);
	nv_free_chunks(c);
	nv_mem_free(dev, NV_BUF, c->buf, c->dma);
	if (c->pd)
		ib_dealloc_pd(c->pd);
	if (c->id)
		rdma_destroy_id(c->id);
	kvfree(c);
}

static struct nv_conn *nv_conn_alloc(const struct nv_spec *spec)
{
	struct nv_conn *c = kvzalloc(sizeof(*c), GFP_KERNEL);
	int i;

	if (!c)
		return NULL;
	c->spec = *spec;
	init_waitqueue_head(&c->wait);
	for (i = 0; i < NV_DIRS; i++) {
		c->queue[i].conn = c;
		mutex_init(&c->queue[i].lock);
		INIT_WORK(&c->queue[i].work, nv_work);
	}
	return c;
}

static int nv_make_memory(struct nv_conn *c, struct ib_device *dev)
{
	c->buf = nv_mem_alloc(dev, NV_BUF, &c->dma);
	if (!c->buf)
		return -ENOMEM;
	nv_mem_list(&c->sg, c->dma + NV_REGION, NV_REGION_LEN);
	return 0;
}

static int nv_make_cqs(struct nv_conn *c, struct ib_device *dev)
{
	struct ib_cq_init_attr attr = { .cqe = NV_TAGS };
	struct ib_cq *cq;
	int i;

	for (i = 0; i < NV_DIRS; i++) {
		attr.cqe = i == NV_SENDS && c->spec.cqe ? c->spec.cqe : NV_TAGS;
		cq = ib_create_cq(dev, nv_cq_handler, nv_cq_event, &c->queue[i],
				  &attr);
		if (IS_ERR(cq))
			return PTR_ERR(cq);
		c->queue[i].cq = cq;
		ib_req_notify_cq(cq, IB_CQ_NEXT_COMP);
	}
	return 0;
}

static int nv_make_srq(struct nv_conn *c)
{
	struct ib_srq_init_attr attr = {
		.event_handler = nv_conn_event,
		.srq_context = c,
		.attr = { .max_wr = NV_DEPTH, .max_sge = 1 },
		.srq_type = IB_SRQT_BASIC,
	};
	struct ib_srq *srq = ib_create_srq(c->pd, &attr);

	if (IS_ERR(srq))
		return PTR_ERR(srq);
	c->srq = srq;
	return 0;
}

static int nv_make_qp(struct nv_conn *c, struct ib_device *dev)
{
	struct ib_qp_init_attr attr = {
		.event_handler = nv_conn_event,
		.qp_context = c,
		.send_cq = c->queue[NV_SENDS].cq,
		.recv_cq = c->queue[NV_RECVS].cq,
		.srq = c->srq,
		.cap = {
			.max_send_wr = NV_DEPTH,
			.max_recv_wr = c->srq ? 0 : NV_DEPTH,
			.max_send_sge = min(dev->attrs.max_send_sge, NV_SGES),
			.max_recv_sge = c->srq ? 0 :
					min(dev->attrs.max_recv_sge, NV_SGES),
			.max_inline_data = 64,
		},
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = c->spec.ud ? IB_QPT_UD : IB_QPT_RC,
	};
	int ret = rdma_create_qp(c->id, c->pd, &attr);

	c->cap = attr.cap;
	return ret;
}

/* Create everything that a connection needs, on the device of its id. */
static int nv_make(struct nv_conn *c)
{
	struct ib_device *dev = c->id->device;
	struct ib_pd *pd = ib_alloc_pd(dev, 0);
	int ret;

	if (IS_ERR(pd))
		return PTR_ERR(pd);
	c->pd = pd;
	ret = nv_make_memory(c, dev) ?: nv_make_cqs(c, dev);
	if (!ret && c->spec.srq)
		ret = nv_make_srq(c);
	return ret ?: nv_make_qp(c, dev);
}

static void nv_set_up(struct nv_conn *c, int up)
{
	WRITE_ONCE(c->up, up);
	wake_up(&c->wait);
}

static int nv_wait_up(struct nv_conn *c)
{
	if (!wait_event_timeout(c->wait, READ_ONCE(c->up),
				msecs_to_jiffies(NV_WAIT_MS)))
		return -ETIMEDOUT;
	return c->up < 0 ? c->up : 0;
}

static struct rdma_conn_param nv_param(const struct nv_conn *c, bool client)
{
	return (struct rdma_conn_param){
		.responder_resources = client ? c->spec.rd : c->spec.dest,
		.initiator_depth = client ? c->spec.rd : c->spec.dest,
		.retry_count = c->spec.retry,
		.rnr_retry_count = c->spec.rnr_retry,
		.srq = c->spec.srq,
		.qp_num = c->id->qp->qp_num,
	};
}

/* A client has requested a connection, for which NV_OPEN has prepared. */
static int nv_request(struct nv_side *side, struct rdma_cm_id *id)
{
	struct nv_conn *c = xchg(&side->opening, NULL);
	struct rdma_conn_param param;
	int ret;

	if (!c)
		return -ECONNREFUSED;
	c->id = id;
	id->context = c;
	ret = nv_make(c);
	if (!ret) {
		param = nv_param(c, false);
		ret = rdma_accept(id, &param);
	}
	if (!ret) {
		/* A datagram socket has no further event. */
		if (c->spec.ud)
			nv_set_up(c, 1);
		return 0;
	}
	/* The CM destroys the id when the handler fails. */
	if (id->qp)
		rdma_destroy_qp(id);
	c->id = NULL;
	nv_set_up(c, ret);
	return ret;
}

static int nv_established(struct nv_conn *c, const struct rdma_ud_param *ud)
{
	if (!c->spec.ud)
		return 1;
	c->ud = *ud;
	c->ah = rdma_create_ah(c->pd, &c->ud.ah_attr, RDMA_CREATE_AH_SLEEPABLE);
	if (!IS_ERR(c->ah))
		return 1;
	c->ah = NULL;
	return -EIO;
}

static int nv_cm_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct nv_conn *c = id->context;

	switch (event->event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		return nv_request(id->context, id);
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		nv_set_up(c, rdma_resolve_route(id, NV_WAIT_MS));
		return 0;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		nv_set_up(c, 1);
		return 0;
	case RDMA_CM_EVENT_ESTABLISHED:
		nv_set_up(c, nv_established(c, &event->param.ud));
		return 0;
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		return 0;
	default:
		nv_set_up(c, -ECONNREFUSED);
		return 0;
	}
}

/* Connect to the server, which expects connection @conn. */
int nv_dial(struct nv_side *side, u32 conn, const struct nv_spec *spec,
	    const struct sockaddr_in *dst)
{
	struct nv_conn *c = nv_conn_alloc(spec);
	struct rdma_conn_param param;
	struct rdma_cm_id *id;
	int ret;

	if (!c)
		return -ENOMEM;
	side->conn[conn] = c;
	id = rdma_create_id(side->net, nv_cm_event, c,
			    spec->ud ? RDMA_PS_UDP : RDMA_PS_TCP,
			    spec->ud ? IB_QPT_UD : IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);
	c->id = id;
	if (spec->timeout)
		rdma_set_ack_timeout(id, spec->timeout);
	ret = rdma_resolve_addr(id, NULL, (struct sockaddr *)dst, NV_WAIT_MS) ?:
	      nv_wait_up(c) ?: nv_make(c);
	if (ret)
		return ret;
	c->up = 0;
	param = nv_param(c, true);
	return rdma_connect(id, &param) ?: nv_wait_up(c);
}

static int nv_listen_one(struct nv_side *side, int i, u16 port)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
	};
	struct rdma_cm_id *id;

	id = rdma_create_id(side->net, nv_cm_event, side,
			    i ? RDMA_PS_UDP : RDMA_PS_TCP,
			    i ? IB_QPT_UD : IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);
	side->listen[i] = id;
	return rdma_bind_addr(id, (struct sockaddr *)&addr) ?:
	       rdma_listen(id, 8);
}

int nv_listen(struct nv_side *side, u16 port)
{
	int ret = nv_listen_one(side, 0, port);

	/* A device without datagrams refuses the second listener. */
	if (!ret)
		nv_listen_one(side, 1, port);
	return ret;
}

void nv_side_end(struct nv_side *side)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(side->listen); i++)
		if (side->listen[i])
			rdma_destroy_id(side->listen[i]);
	for (i = 0; i < NV_CONNS; i++)
		if (side->conn[i])
			nv_conn_free(side->conn[i]);
}

/* --- states --- */

static int nv_move(struct nv_conn *c, enum ib_qp_state state)
{
	struct ib_qp_attr attr = { .qp_state = state };
	int mask = IB_QP_STATE;
	int ret;

	if (state != IB_QPS_RESET && state != IB_QPS_ERR) {
		ret = rdma_init_qp_attr(c->id, &attr, &mask);
		if (ret)
			return ret;
		attr.max_rd_atomic = c->spec.rd;
		attr.max_dest_rd_atomic = c->spec.dest;
	}
	return ib_modify_qp(c->id->qp, &attr, mask);
}

/* Reset the QP, and move it up to a state, with the values of its connection. */
int nv_again(struct nv_conn *c, enum ib_qp_state last)
{
	int state, ret = 0;

	for (state = IB_QPS_RESET; state <= last && !ret; state++)
		ret = nv_move(c, state);
	return ret;
}

/* --- calls --- */

static void *nv_place(const struct nv_conn *c, const struct nv_lay *lay, u32 i,
		      u32 *len)
{
	return c->buf + nv_piece(lay, i, len);
}

/* Fill the place of a message, or only set it and its surroundings back. */
static void nv_fill(struct nv_conn *c, const struct nv_lay *lay, u32 seed)
{
	const u8 *data = nv_pattern + seed % SZ_4K;
	u32 i, len;
	void *p;

	memset(c->buf + lay->off - NV_GAP, 0x5a,
	       lay->len + (lay->n + 1) * NV_GAP);
	for (i = 0; seed && i < lay->n; i++) {
		p = nv_place(c, lay, i, &len);
		memcpy(p, data, len);
		data += len;
	}
}

/*
 * Return 0 if a message and its surroundings are as expected, except the @before
 * bytes in front of it.
 */
static int nv_check(struct nv_conn *c, const struct nv_lay *lay, u32 seed,
		    u32 before)
{
	const u8 *data = nv_pattern + seed % SZ_4K;
	u32 i, len;
	void *p;

	if (memchr_inv(c->buf + lay->off - NV_GAP, 0x5a, NV_GAP - before))
		return -EOVERFLOW;
	for (i = 0; i < lay->n; i++) {
		p = nv_place(c, lay, i, &len);
		if (seed ? memcmp(p, data, len) : !!memchr_inv(p, 0x5a, len))
			return -EBADMSG;
		if (memchr_inv(p + len, 0x5a, NV_GAP))
			return -EOVERFLOW;
		data += len;
	}
	return 0;
}

static int nv_recvs(struct nv_conn *c, const struct nv_call *call)
{
	u32 i;
	int ret = 0;

	nv_fill(c, &call->lay, 0);
	for (i = 0; i < call->n && !ret; i++)
		ret = nv_recv(c, &call->lay, call->arg);
	return ret;
}

/*
 * Wait for the completions of a queue, and for an event. Some devices raise no
 * event, so this wait is short.
 */
static int nv_report(struct nv_conn *c, const struct nv_call *call,
		     struct nv_reply *reply)
{
	bool done = nv_wait(c, call->arg, call->n, call->ms ?: NV_WAIT_MS);
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr = {};
	int i;

	if (call->events)
		wait_event_timeout(c->wait,
				   READ_ONCE(c->events) & call->events, HZ / 2);
	reply->events = xchg(&c->events, 0);
	for (i = 0; i < NV_DIRS; i++) {
		reply->done[i] = c->queue[i].done;
		reply->notified[i] = c->queue[i].notified;
	}
	memcpy(reply->log, c->queue[call->arg].log, sizeof(reply->log));
	if (c->id->qp) {
		ib_query_qp(c->id->qp, &attr, IB_QP_STATE, &init);
		reply->state = attr.qp_state;
		reply->qpn = c->id->qp->qp_num;
	}
	return done ? 0 : -ETIMEDOUT;
}

static int nv_show_keys(struct nv_conn *c, struct nv_reply *reply)
{
	int i;

	for (i = 0; i < NV_MRS; i++)
		reply->rkey[i] = c->mr[i] ? c->mr[i]->rkey : 0;
	reply->addr[0] = c->mr[0] ? c->mr[0]->iova : 0;
	return 0;
}

static int nv_ready(struct nv_conn *c, struct nv_reply *reply)
{
	int ret = nv_wait_up(c);

	if (!ret && !c->spec.ud)
		ret = nv_reg_all(c);
	return ret ?: nv_show_keys(c, reply);
}

static int nv_access(struct nv_conn *c, int flags)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTS,
		.qp_access_flags = flags,
	};

	return ib_modify_qp(c->id->qp, &attr, IB_QP_STATE | IB_QP_ACCESS_FLAGS);
}

static int nv_set_state(struct nv_conn *c, enum ib_qp_state state)
{
	return state == IB_QPS_ERR ? nv_move(c, state) : nv_again(c, state);
}

/* Let the handler of the receives not poll and arm the CQ; then arm it once. */
static int nv_hold(struct nv_conn *c, enum ib_cq_notify_flags flags)
{
	struct nv_queue *q = &c->queue[NV_RECVS];

	q->held = true;
	nv_poll(q);
	return flags ? ib_req_notify_cq(q->cq, flags) : 0;
}

static int nv_limit(struct nv_conn *c, u32 limit)
{
	struct ib_srq_attr attr = { .srq_limit = limit };

	return ib_modify_srq(c->srq, &attr, IB_SRQ_LIMIT);
}

static int nv_srq_query(struct nv_conn *c, struct nv_reply *reply)
{
	struct ib_srq_attr attr = {};
	int ret = ib_query_srq(c->srq, &attr);

	reply->value = attr.srq_limit;
	reply->addr[0] = attr.max_wr;
	return ret;
}

static int nv_chunk(struct nv_conn *c, int i, u32 seed)
{
	struct scatterlist sg;

	c->chunk[i] = nv_mem_alloc(c->pd->device, SZ_1M, &c->chunk_dma[i]);
	if (!c->chunk[i])
		return -ENOMEM;
	if (seed)
		memcpy(c->chunk[i], nv_pattern + seed + i, SZ_1M);
	nv_mem_list(&sg, c->chunk_dma[i], SZ_1M);
	return nv_reg(c, &c->chunk_mr[i], &sg,
		      NV_REGION_ACCESS(IB_ACCESS_REMOTE_READ |
				       IB_ACCESS_REMOTE_WRITE));
}

/* Create 64 MiB of memory in regions of 1 MiB, or check their contents. */
static int nv_chunks(struct nv_conn *c, const struct nv_call *call,
		     struct nv_reply *reply)
{
	int i, ret = 0;

	for (i = 0; i < NV_CHUNKS && !ret; i++) {
		if (call->n) {
			ret = memcmp(c->chunk[i], nv_pattern + call->arg + i,
				     SZ_1M) ? -EBADMSG : 0;
			continue;
		}
		ret = nv_chunk(c, i, call->arg);
		if (!ret) {
			reply->addr[i] = c->chunk_mr[i]->iova;
			reply->rkey[i] = c->chunk_mr[i]->rkey;
		}
	}
	return ret;
}

static int nv_on_conn(struct nv_conn *c, const struct nv_call *call,
		      struct nv_reply *reply)
{
	switch (call->op) {
	case NV_READY:
		return nv_ready(c, reply);
	case NV_FILL:
		nv_fill(c, &call->lay, call->arg);
		return 0;
	case NV_CHECK:
		return nv_check(c, &call->lay, call->arg, call->n);
	case NV_PEEK:
		memcpy(&reply->value, c->buf + call->lay.off, sizeof(u64));
		return 0;
	case NV_RECV:
		return nv_recvs(c, call);
	case NV_WAIT:
		return nv_report(c, call, reply);
	case NV_STATE:
		return nv_set_state(c, call->arg);
	case NV_ACCESS:
		return nv_access(c, call->arg);
	case NV_REG:
		return nv_reg_key(c, call->arg) ?: nv_show_keys(c, reply);
	case NV_HOLD:
		return nv_hold(c, call->arg);
	case NV_GRH:
		reply->value = ib_get_rdma_header_version(c->buf +
							  call->lay.off);
		return 0;
	case NV_LIMIT:
		return nv_limit(c, call->arg);
	case NV_BIG:
		return nv_chunks(c, call, reply);
	case NV_SRQ:
		return nv_srq_query(c, reply);
	case NV_DEST:
		c->spec.dest = call->arg;
		return nv_again(c, IB_QPS_RTS) ?:
		       nv_access(c, NV_ALL_RIGHTS);
	case NV_DESTROY:
		rdma_destroy_qp(c->id);
		return 0;
	default:
		return -EINVAL;
	}
}

/* Execute a call on this side. */
void nv_exec(struct nv_side *side, const struct nv_call *call,
	     struct nv_reply *reply)
{
	struct nv_conn **c = &side->conn[call->conn % NV_CONNS];

	if (call->op == NV_OPEN) {
		*c = nv_conn_alloc(&call->spec);
		side->opening = *c;
		reply->ret = *c ? 0 : -ENOMEM;
	} else if (call->op == NV_CLOSE) {
		if (*c)
			nv_conn_free(*c);
		*c = NULL;
		side->opening = NULL;
	} else if (call->op != NV_BYE) {
		reply->ret = *c ? nv_on_conn(*c, call, reply) : -ENOTCONN;
	}
}
