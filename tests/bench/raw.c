// SPDX-License-Identifier: GPL-2.0
/*
 * The variants that use verbs without krdma. They use verbs like a driver that
 * needs only what these tests need.
 *
 * Both sides post receives before they are connected. If the connection is not
 * idle, the client then sends a hello. iWARP requires that the client sends
 * first. The server answers with address and key of its memory. It echoes all
 * later messages of the client. siw may lose an early hello, so the client
 * repeats it, and ignores a second answer.
 *
 * Three users have pointers to a connection of the server. The CM has one until
 * rdma_destroy_id(). kbench_raw_list has one until the work item removes the
 * connection. The work item has one, and frees the connection.
 */
#include <linux/crc32.h>
#include <linux/err.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/scatterlist.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <rdma/rdma_cm.h>

#include <compat.h>

#include "priv.h"

#define KBENCH_HELLO_TRIES 20
#define KBENCH_HELLO_MS 500
#define KBENCH_RESOLVE_MS 2000
/*
 * Parameters of the connections, equal to the defaults of krdma. They affect no
 * test, because no packet is lost.
 */
#define KBENCH_ACK_TIMEOUT 17
#define KBENCH_MIN_RNR_TIMER 12
#define KBENCH_RETRIES 6

enum kbench_raw_type {
	KBENCH_RAW_HELLO = 1,
	KBENCH_RAW_SHOWN,
	KBENCH_RAW_ECHO,
};

/* Header of a message. Both ends are this module, so its format may change. */
struct kbench_raw_wire {
	__le64 addr;
	__le32 rkey;
	u8 type;
} __packed;

/* A buffer for a received message or for a message to send. */
struct kbench_raw_buf {
	struct ib_cqe cqe;
	struct kbench_raw *raw;
	void *data;
	u64 dma;
	u32 len;
};

/* A chain of WRITEs, which are posted together. */
struct kbench_raw_slot {
	struct ib_cqe cqe;
	struct kbench_raw *raw;
	struct ib_rdma_wr wrs[KBENCH_DEPTH];
	struct ib_sge sges[KBENCH_DEPTH];
};

/**
 * struct kbench_raw - a connection
 * @conn: members that all variants share
 * @variant: variant of a client; NULL on the server
 * @port: listener that accepted the connection, only on the server
 * @id: CM id
 * @pd: protection domain of this connection
 * @cq: completion queue of both directions
 * @error: errno of the first failure of the connection, or 0
 * @event: completed when the CM reports an event
 * @send_cqe: completion handler of the work request that a task waits for
 * @sent: completed when that work request completes
 * @bufs: receive buffers, in the order in which they are posted
 * @out: buffer for messages to send
 * @received: completion that counts the received messages which
 *	kbench_raw_take() has not returned yet
 * @taken: number of messages that kbench_raw_take() has returned
 * @span: memory that WRITEs read on the client, and write on the server
 * @sg: scatterlist of @span
 * @mr: MR of @span, only on the server
 * @mapped: true if @sg is mapped for DMA
 * @addr: address of @span on the server
 * @rkey: key of @span on the server
 * @sum: checksums of all WRITEs, if the variant computes them
 * @slots: array of job->depth / job->chain chains
 * @link: entry in kbench_raw_list, only on the server
 * @work: work item that echoes messages and finally frees the connection, only
 *	on the server
 * @queued: 1 after @work was queued, only on the server
 */
struct kbench_raw {
	struct kbench_conn conn;
	const struct kbench_variant *variant;
	enum kbench_port port;
	struct rdma_cm_id *id;
	struct ib_pd *pd;
	struct ib_cq *cq;
	int error;
	struct completion event;
	struct ib_cqe send_cqe;
	struct completion sent;
	struct kbench_raw_buf bufs[KBENCH_DEPTH];
	struct kbench_raw_buf out;
	struct completion received;
	u32 taken;
	void *span;
	struct scatterlist sg;
	struct ib_mr *mr;
	bool mapped;
	u64 addr;
	u32 rkey;
	u32 sum;
	struct kbench_raw_slot *slots;
	struct list_head link;
	struct work_struct work;
	atomic_t queued;
};

static LIST_HEAD(kbench_raw_list);
static DEFINE_MUTEX(kbench_raw_mutex); /* protects kbench_raw_list */

static struct kbench_raw *kbench_raw(struct kbench_conn *conn)
{
	return container_of(conn, struct kbench_raw, conn);
}

/* Record an error of a connection, and wake all waiting tasks. Context: any. */
static void kbench_raw_fail(struct kbench_raw *raw, int error)
{
	cmpxchg(&raw->error, 0, error);
	complete_all(&raw->event);
	complete_all(&raw->sent);
	complete_all(&raw->received);
}

/* ---- waiting ---- */

static int kbench_raw_poll(struct kbench_raw *raw, struct completion *done,
			   unsigned long timeout)
{
	unsigned long until = jiffies + timeout;

	while (!try_wait_for_completion(done)) {
		if (fatal_signal_pending(current))
			return -EINTR;
		if (time_after(jiffies, until))
			return -ETIMEDOUT;
		ib_process_cq_direct(raw->cq, -1);
		/* Let rxe run, because it may need this processor. */
		cond_resched();
	}
	return READ_ONCE(raw->error);
}

static int kbench_raw_wait(struct kbench_raw *raw, struct completion *done,
			   unsigned long timeout)
{
	long left;

	if (raw->variant && raw->variant->poll == IB_POLL_DIRECT)
		return kbench_raw_poll(raw, done, timeout);
	left = wait_for_completion_killable_timeout(done, timeout);
	if (left <= 0)
		return left ? -EINTR : -ETIMEDOUT;
	return READ_ONCE(raw->error);
}

/* ---- posting ---- */

static int kbench_raw_post_send(struct kbench_raw *raw,
				const struct ib_send_wr *wr)
{
	bool bracket = !raw->variant || raw->variant->bracket;
	int ret;

	if (bracket)
		local_bh_disable();
	ret = ib_post_send(raw->id->qp, wr, NULL);
	if (bracket)
		local_bh_enable();
	return ret;
}

static void kbench_raw_send_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct kbench_raw *raw =
		container_of(wc->wr_cqe, struct kbench_raw, send_cqe);

	if (wc->status == IB_WC_SUCCESS)
		complete(&raw->sent);
	else
		kbench_raw_fail(raw, -ECONNRESET);
}

/* Post a work request and wait for its completion. */
static int kbench_raw_execute(struct kbench_raw *raw, struct ib_send_wr *wr)
{
	int ret;

	wr->wr_cqe = &raw->send_cqe;
	wr->send_flags = IB_SEND_SIGNALED;
	ret = kbench_raw_post_send(raw, wr);
	return ret ?: kbench_raw_wait(raw, &raw->sent,
				      msecs_to_jiffies(KBENCH_TIMEOUT_MS));
}

static void kbench_raw_recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct kbench_raw_buf *buf =
		container_of(wc->wr_cqe, struct kbench_raw_buf, cqe);

	if (wc->status != IB_WC_SUCCESS) {
		kbench_raw_fail(buf->raw, -ECONNRESET);
		return;
	}
	buf->len = wc->byte_len;
	complete(&buf->raw->received);
}

static int kbench_raw_post_recv(struct kbench_raw *raw,
				struct kbench_raw_buf *buf)
{
	struct ib_sge sge = {
		.addr = buf->dma,
		.length = KBENCH_BUF_SIZE,
		.lkey = raw->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = {
		.wr_cqe = &buf->cqe,
		.sg_list = &sge,
		.num_sge = 1,
	};

	ib_dma_sync_single_for_device(raw->id->device, buf->dma,
				      KBENCH_BUF_SIZE, DMA_FROM_DEVICE);
	return ib_post_recv(raw->id->qp, &wr, NULL);
}

/* ---- messages ---- */

/*
 * Wait for a message and return the oldest one. The caller passes its buffer to
 * kbench_raw_post_recv() afterwards.
 */
static struct kbench_raw_buf *kbench_raw_take(struct kbench_raw *raw,
					      unsigned long timeout)
{
	int ret = kbench_raw_wait(raw, &raw->received, timeout);
	struct kbench_raw_buf *buf;

	if (ret)
		return ERR_PTR(ret);
	buf = &raw->bufs[raw->taken++ % KBENCH_DEPTH];
	ib_dma_sync_single_for_cpu(raw->id->device, buf->dma, buf->len,
				   DMA_FROM_DEVICE);
	return buf;
}

/* Send the first @len bytes of raw->out. */
static int kbench_raw_send(struct kbench_raw *raw, u32 len)
{
	struct ib_sge sge = {
		.addr = raw->out.dma,
		.length = len,
		.lkey = raw->pd->local_dma_lkey,
	};
	struct ib_send_wr wr = {
		.opcode = IB_WR_SEND,
		.sg_list = &sge,
		.num_sge = 1,
	};

	ib_dma_sync_single_for_device(raw->id->device, raw->out.dma, len,
				      DMA_TO_DEVICE);
	return kbench_raw_execute(raw, &wr);
}

static int kbench_raw_say(struct kbench_raw *raw, enum kbench_raw_type type,
			  u64 addr, u32 rkey)
{
	struct kbench_raw_wire *wire = raw->out.data;

	wire->type = type;
	wire->addr = cpu_to_le64(addr);
	wire->rkey = cpu_to_le32(rkey);
	return kbench_raw_send(raw, sizeof(*wire));
}

static int kbench_raw_learn(struct kbench_raw *raw, struct kbench_raw_buf *buf)
{
	const struct kbench_raw_wire *wire = buf->data;

	if (buf->len != sizeof(*wire) || wire->type != KBENCH_RAW_SHOWN)
		return -EPROTO;
	raw->addr = le64_to_cpu(wire->addr);
	raw->rkey = le32_to_cpu(wire->rkey);
	return kbench_raw_post_recv(raw, buf);
}

static int kbench_raw_greet(struct kbench_raw *raw)
{
	struct kbench_raw_buf *buf = ERR_PTR(-ETIMEDOUT);
	int i, ret = 0;

	for (i = 0; i < KBENCH_HELLO_TRIES && PTR_ERR(buf) == -ETIMEDOUT; i++) {
		ret = kbench_raw_say(raw, KBENCH_RAW_HELLO, 0, 0);
		if (ret)
			return ret;
		buf = kbench_raw_take(raw, msecs_to_jiffies(KBENCH_HELLO_MS));
	}
	return IS_ERR(buf) ? PTR_ERR(buf) : kbench_raw_learn(raw, buf);
}

/*
 * Send a message and wait for its echo. Both messages are copied between a
 * buffer and memory that is not registered, as krdma does.
 */
static int kbench_raw_echo(struct kbench_conn *conn, u32 size)
{
	struct kbench_raw *raw = kbench_raw(conn);
	u32 len = max_t(u32, size, sizeof(struct kbench_raw_wire));
	const struct kbench_raw_wire *wire;
	struct kbench_raw_buf *buf;
	bool again;
	int ret;

	memcpy(raw->out.data, conn->job->buf, size);
	((struct kbench_raw_wire *)raw->out.data)->type = KBENCH_RAW_ECHO;
	ret = kbench_raw_send(raw, len);
	do {
		buf = ret ? ERR_PTR(ret) :
		      kbench_raw_take(raw, msecs_to_jiffies(KBENCH_TIMEOUT_MS));
		if (IS_ERR(buf))
			return PTR_ERR(buf);
		wire = buf->data;
		again = wire->type == KBENCH_RAW_SHOWN;
		memcpy(conn->job->buf, buf->data, size);
		ret = kbench_raw_post_recv(raw, buf);
	} while (again);
	return ret;
}

/* ---- WRITEs ---- */

static int kbench_raw_write(struct kbench_conn *conn, u32 size)
{
	struct kbench_raw *raw = kbench_raw(conn);
	struct ib_sge sge = {
		.addr = sg_dma_address(&raw->sg),
		.length = size,
		.lkey = raw->pd->local_dma_lkey,
	};
	struct ib_rdma_wr wr = {
		.wr.opcode = IB_WR_RDMA_WRITE,
		.wr.sg_list = &sge,
		.wr.num_sge = 1,
		.remote_addr = raw->addr,
		.rkey = raw->rkey,
	};

	memcpy(raw->span, conn->job->buf, size);
	ib_dma_sync_single_for_device(raw->id->device, sge.addr, size,
				      DMA_BIDIRECTIONAL);
	return kbench_raw_execute(raw, &wr.wr);
}

static void kbench_raw_chain_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct kbench_raw_slot *slot =
		container_of(wc->wr_cqe, struct kbench_raw_slot, cqe);
	struct kbench_raw *raw = slot->raw;

	if (wc->status != IB_WC_SUCCESS)
		kbench_raw_fail(raw, -ECONNRESET);
	kbench_stream_done(&raw->conn, slot - raw->slots,
			   wc->status == IB_WC_SUCCESS ? 0 : -ECONNRESET);
}

/*
 * Handle the completion of a WR that is not the last of its chain. This is
 * called only after a failure, which also flushes the last WR.
 */
static void kbench_raw_part_done(struct ib_cq *cq, struct ib_wc *wc)
{
}

static struct ib_cqe kbench_raw_part = { .done = kbench_raw_part_done };

/*
 * Fill in a WR of a chain. Only the last WR is signalled. Its completion also
 * stands for the others.
 */
static void kbench_raw_set(struct kbench_raw *raw, u32 slot, u32 i)
{
	const struct kbench_job *job = raw->conn.job;
	struct kbench_raw_slot *chain = &raw->slots[slot];
	struct ib_rdma_wr *wr = &chain->wrs[i];
	bool is_last = i + 1 == job->chain;
	u32 offset = kbench_offset(job, slot, i);

	chain->sges[i] = (struct ib_sge){
		.addr = sg_dma_address(&raw->sg) + offset,
		.length = job->size,
		.lkey = raw->pd->local_dma_lkey,
	};
	*wr = (struct ib_rdma_wr){
		.wr.next = is_last ? NULL : &wr[1].wr,
		.wr.wr_cqe = is_last ? &chain->cqe : &kbench_raw_part,
		.wr.opcode = raw->variant->read ? IB_WR_RDMA_READ :
						  IB_WR_RDMA_WRITE,
		.wr.send_flags = is_last ? IB_SEND_SIGNALED : 0,
		.wr.sg_list = &chain->sges[i],
		.wr.num_sge = 1,
		.remote_addr = raw->addr + offset,
		.rkey = raw->rkey,
	};
}

/* Compute the checksums of a WRITE, and store their result so that they are used. */
static void kbench_raw_sum(struct kbench_raw *raw, u32 slot, u32 i)
{
	const struct kbench_job *job = raw->conn.job;
	const void *data = raw->span + kbench_offset(job, slot, i);
	u32 sum = READ_ONCE(raw->sum);
	u8 n;

	for (n = 0; n < raw->variant->sums; n++)
		sum = krdma_crc32c(sum, data, job->size);
	WRITE_ONCE(raw->sum, sum);
}

static int kbench_raw_post(struct kbench_conn *conn, u32 slot)
{
	struct kbench_raw *raw = kbench_raw(conn);
	u32 i;

	for (i = 0; i < conn->job->chain; i++) {
		kbench_raw_set(raw, slot, i);
		kbench_raw_sum(raw, slot, i);
	}
	return kbench_raw_post_send(raw, &raw->slots[slot].wrs[0].wr);
}

/* ---- creating and freeing connections, also those that are incomplete ---- */

static void kbench_raw_free_buf(struct kbench_raw *raw,
				struct kbench_raw_buf *buf,
				enum dma_data_direction dir)
{
	if (buf->raw)
		ib_dma_unmap_single(raw->id->device, buf->dma, KBENCH_BUF_SIZE,
				    dir);
	kfree(buf->data);
}

static int kbench_raw_make_buf(struct kbench_raw *raw,
			       struct kbench_raw_buf *buf,
			       enum dma_data_direction dir)
{
	buf->data = kzalloc(KBENCH_BUF_SIZE, GFP_KERNEL);
	if (!buf->data)
		return -ENOMEM;
	buf->dma = ib_dma_map_single(raw->id->device, buf->data,
				     KBENCH_BUF_SIZE, dir);
	if (ib_dma_mapping_error(raw->id->device, buf->dma))
		return -ENOMEM;
	buf->raw = raw;
	buf->cqe.done = kbench_raw_recv_done;
	return 0;
}

static int kbench_raw_make_bufs(struct kbench_raw *raw)
{
	int i, ret;

	ret = kbench_raw_make_buf(raw, &raw->out, DMA_TO_DEVICE);
	for (i = 0; i < KBENCH_DEPTH && !ret; i++)
		ret = kbench_raw_make_buf(raw, &raw->bufs[i],
					  DMA_FROM_DEVICE) ?:
		      kbench_raw_post_recv(raw, &raw->bufs[i]);
	return ret;
}

static int kbench_raw_make_qp(struct kbench_raw *raw)
{
	struct ib_device *ibdev = raw->id->device;
	/* Add a slot to each queue for the marker that ib_drain_qp() posts. */
	struct ib_qp_init_attr attr = {
		.cap.max_send_wr = KBENCH_DEPTH + 1,
		.cap.max_recv_wr = KBENCH_DEPTH + 1,
		.cap.max_send_sge = 1,
		.cap.max_recv_sge = 1,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
	};
	struct ib_cq *cq;
	struct ib_pd *pd;

	pd = ib_alloc_pd(ibdev, 0);
	if (IS_ERR(pd))
		return PTR_ERR(pd);
	raw->pd = pd;
	cq = ib_alloc_cq_any(ibdev, raw, 2 * (KBENCH_DEPTH + 1),
			     raw->variant ? raw->variant->poll : IB_POLL_SOFTIRQ);
	if (IS_ERR(cq))
		return PTR_ERR(cq);
	raw->cq = cq;
	attr.send_cq = cq;
	attr.recv_cq = cq;
	return rdma_create_qp(raw->id, pd, &attr);
}

static int kbench_raw_make_span(struct kbench_raw *raw)
{
	raw->span = kzalloc(KBENCH_SPAN, GFP_KERNEL);
	if (!raw->span)
		return -ENOMEM;
	sg_init_one(&raw->sg, raw->span, KBENCH_SPAN);
	raw->mapped = ib_dma_map_sg(raw->id->device, &raw->sg, 1,
				    DMA_BIDIRECTIONAL) == 1;
	return raw->mapped ? 0 : -ENOMEM;
}

static int kbench_raw_make_slots(struct kbench_raw *raw)
{
	const struct kbench_job *job = raw->conn.job;
	u32 i, n = job->depth / job->chain;

	raw->slots = kvcalloc(n, sizeof(*raw->slots), GFP_KERNEL);
	for (i = 0; i < n && raw->slots; i++) {
		raw->slots[i].cqe.done = kbench_raw_chain_done;
		raw->slots[i].raw = raw;
	}
	return raw->slots ? 0 : -ENOMEM;
}

static struct kbench_raw *kbench_raw_alloc(const struct kbench_job *job)
{
	struct kbench_raw *raw = kzalloc(sizeof(*raw), GFP_KERNEL);

	if (!raw)
		return NULL;
	kbench_conn_init(&raw->conn, &kbench_raw_calls, job);
	init_completion(&raw->event);
	init_completion(&raw->sent);
	init_completion(&raw->received);
	raw->send_cqe.done = kbench_raw_send_done;
	INIT_LIST_HEAD(&raw->link);
	return raw;
}

/*
 * Free a completion queue. First wait until its softirq handler has ended,
 * because ib_free_cq() may return before, see krdma_cq_destroy().
 */
static void kbench_raw_free_cq(struct ib_cq *cq)
{
	if (cq->poll_ctx == IB_POLL_SOFTIRQ) {
		irq_poll_disable(&cq->iop);
		synchronize_rcu_expedited();
		cq->poll_ctx = IB_POLL_DIRECT;
	}
	ib_free_cq(cq);
}

/* Free a connection in any state. Callbacks of the CM must not call this. */
static void kbench_raw_free(struct kbench_raw *raw)
{
	int i;

	if (raw->id->qp) {
		rdma_disconnect(raw->id);
		ib_drain_qp(raw->id->qp);
		rdma_destroy_qp(raw->id);
	}
	if (raw->mr)
		ib_dereg_mr(raw->mr);
	if (raw->mapped)
		ib_dma_unmap_sg(raw->id->device, &raw->sg, 1,
				DMA_BIDIRECTIONAL);
	for (i = 0; i < KBENCH_DEPTH; i++)
		kbench_raw_free_buf(raw, &raw->bufs[i], DMA_FROM_DEVICE);
	kbench_raw_free_buf(raw, &raw->out, DMA_TO_DEVICE);
	if (raw->cq)
		kbench_raw_free_cq(raw->cq);
	if (raw->pd)
		ib_dealloc_pd(raw->pd);
	rdma_destroy_id(raw->id);
	kvfree(raw->slots);
	kfree(raw->span);
	kfree(raw);
}

static void kbench_raw_close(struct kbench_conn *conn)
{
	kbench_raw_free(kbench_raw(conn));
}

/* ---- client ---- */

static int kbench_raw_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct kbench_raw *raw = id->context;

	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
	case RDMA_CM_EVENT_ESTABLISHED:
		complete(&raw->event);
		break;
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		break;
	default:
		kbench_raw_fail(raw, event->status < 0 ? event->status :
				     -ECONNREFUSED);
		rdma_disconnect(id);
		break;
	}
	return 0;
}

static void kbench_raw_fill_param(struct rdma_cm_id *id,
				  struct rdma_conn_param *param)
{
	const struct ib_device_attr *attrs = &id->device->attrs;

	*param = (struct rdma_conn_param){
		.responder_resources = min(16, attrs->max_qp_rd_atom),
		.initiator_depth = min(16, attrs->max_qp_init_rd_atom),
		.retry_count = KBENCH_RETRIES,
		.rnr_retry_count = KBENCH_RETRIES,
	};
}

static int kbench_raw_step(struct kbench_raw *raw, int ret)
{
	long left;

	if (ret)
		return ret;
	left = wait_for_completion_killable_timeout(&raw->event,
						    msecs_to_jiffies(KBENCH_TIMEOUT_MS));
	if (left <= 0)
		return left ? -EINTR : -ETIMEDOUT;
	return READ_ONCE(raw->error);
}

static int kbench_raw_dial(struct kbench_raw *raw, bool idle)
{
	struct sockaddr_storage dst =
		kbench_peer(raw->conn.job,
			    idle ? KBENCH_PORT_RAW_IDLE : KBENCH_PORT_RAW);
	struct rdma_conn_param param;
	int ret;

	ret = kbench_raw_step(raw, rdma_resolve_addr(raw->id, NULL,
						     (struct sockaddr *)&dst,
						     KBENCH_RESOLVE_MS));
	if (ret)
		return ret;
	ret = kbench_raw_step(raw, rdma_resolve_route(raw->id,
						      KBENCH_RESOLVE_MS));
	ret = ret ?: kbench_raw_make_qp(raw);
	ret = ret ?: kbench_raw_make_bufs(raw);
	if (ret)
		return ret;
	rdma_set_ack_timeout(raw->id, KBENCH_ACK_TIMEOUT);
	rdma_set_min_rnr_timer(raw->id, KBENCH_MIN_RNR_TIMER);
	kbench_raw_fill_param(raw->id, &param);
	return kbench_raw_step(raw, rdma_connect(raw->id, &param));
}

static struct kbench_conn *
kbench_raw_connect(const struct kbench_job *job,
		   const struct kbench_variant *variant, bool idle)
{
	struct kbench_raw *raw = kbench_raw_alloc(job);
	struct rdma_cm_id *id;
	int ret;

	if (!raw)
		return ERR_PTR(-ENOMEM);
	raw->variant = variant;
	id = rdma_create_id(job->net, kbench_raw_event, raw, RDMA_PS_TCP,
			    IB_QPT_RC);
	if (IS_ERR(id)) {
		kfree(raw);
		return ERR_CAST(id);
	}
	raw->id = id;
	ret = kbench_raw_dial(raw, idle);
	if (!idle)
		ret = ret ?: kbench_raw_make_span(raw) ?:
		      kbench_raw_make_slots(raw) ?: kbench_raw_greet(raw);
	if (ret) {
		kbench_raw_free(raw);
		return ERR_PTR(ret);
	}
	return &raw->conn;
}

const struct kbench_calls kbench_raw_calls = {
	.connect = kbench_raw_connect,
	.close = kbench_raw_close,
	.write = kbench_raw_write,
	.echo = kbench_raw_echo,
	.post = kbench_raw_post,
};

/* ---- server ---- */

static int kbench_raw_register(struct kbench_raw *raw)
{
	struct ib_reg_wr reg = {
		.wr.opcode = IB_WR_REG_MR,
		.access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |
			  IB_ACCESS_REMOTE_READ,
	};
	struct ib_mr *mr;
	int ret;

	ret = kbench_raw_make_span(raw);
	if (ret)
		return ret;
	mr = ib_alloc_mr(raw->pd, IB_MR_TYPE_MEM_REG, KBENCH_SPAN / PAGE_SIZE);
	if (IS_ERR(mr))
		return PTR_ERR(mr);
	raw->mr = mr;
	ret = ib_map_mr_sg(mr, &raw->sg, 1, NULL, PAGE_SIZE);
	if (ret != 1)
		return ret < 0 ? ret : -EINVAL;
	ib_update_fast_reg_key(mr, ib_inc_rkey(mr->rkey));
	reg.mr = mr;
	reg.key = mr->rkey;
	return kbench_raw_execute(raw, &reg.wr);
}

static int kbench_raw_answer(struct kbench_raw *raw, struct kbench_raw_buf *buf)
{
	const struct kbench_raw_wire *wire = buf->data;
	u32 len = buf->len;
	int ret;

	if (len < sizeof(*wire) || len > KBENCH_MSG_MAX)
		return -EPROTO;
	if (wire->type == KBENCH_RAW_HELLO) {
		ret = kbench_raw_post_recv(raw, buf);
		return ret ?: kbench_raw_say(raw, KBENCH_RAW_SHOWN,
					     raw->mr->iova, raw->mr->rkey);
	}
	memcpy(raw->out.data, wire, len);
	ret = kbench_raw_post_recv(raw, buf);
	return ret ?: kbench_raw_send(raw, len);
}

static void kbench_raw_serve_conn(struct kbench_raw *raw)
{
	int ret = kbench_raw_register(raw);
	struct kbench_raw_buf *buf;

	while (!ret) {
		buf = kbench_raw_take(raw, MAX_SCHEDULE_TIMEOUT);
		ret = IS_ERR(buf) ? PTR_ERR(buf) : kbench_raw_answer(raw, buf);
	}
}

static void kbench_raw_work(struct work_struct *work)
{
	struct kbench_raw *raw = container_of(work, struct kbench_raw, work);

	if (raw->port == KBENCH_PORT_RAW && !READ_ONCE(raw->error))
		kbench_raw_serve_conn(raw);
	mutex_lock(&kbench_raw_mutex);
	list_del(&raw->link);
	mutex_unlock(&kbench_raw_mutex);
	kbench_raw_free(raw);
}

/*
 * Queue the work item of a connection, unless it was queued before. The work
 * item runs until the first error of the connection.
 */
static void kbench_raw_queue(struct kbench_raw *raw)
{
	if (!atomic_xchg(&raw->queued, 1))
		queue_work(kbench_wq, &raw->work);
}

static void kbench_raw_end(struct kbench_raw *raw, int error)
{
	kbench_raw_fail(raw, error);
	kbench_raw_queue(raw);
}

static int kbench_raw_child_event(struct rdma_cm_id *id,
				  struct rdma_cm_event *event)
{
	struct kbench_raw *raw = id->context;

	switch (event->event) {
	case RDMA_CM_EVENT_ESTABLISHED:
		if (raw->port == KBENCH_PORT_RAW)
			kbench_raw_queue(raw);
		break;
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		break;
	default:
		kbench_raw_end(raw, -ECONNRESET);
		break;
	}
	return 0;
}

static int kbench_raw_accept(struct kbench_raw *raw)
{
	struct rdma_conn_param param;
	int ret;

	ret = kbench_raw_make_qp(raw) ?: kbench_raw_make_bufs(raw);
	if (ret)
		return ret;
	rdma_set_ack_timeout(raw->id, KBENCH_ACK_TIMEOUT);
	rdma_set_min_rnr_timer(raw->id, KBENCH_MIN_RNR_TIMER);
	kbench_raw_fill_param(raw->id, &param);
	return rdma_accept(raw->id, &param);
}

/*
 * Accept a connection. Once the structure of the connection is allocated, it
 * owns the id. The work item destroys the id, even after an error, because this
 * callback must not do so.
 */
static int kbench_raw_request(struct rdma_cm_id *id, enum kbench_port port)
{
	struct kbench_raw *raw = kbench_raw_alloc(NULL);
	int ret = 0;

	if (!raw)
		return -ENOMEM;	/* the CM destroys the id */
	INIT_WORK(&raw->work, kbench_raw_work);
	raw->id = id;
	raw->port = port;
	id->context = raw;
	id->event_handler = kbench_raw_child_event;
	mutex_lock(&kbench_raw_mutex);
	list_add_tail(&raw->link, &kbench_raw_list);
	mutex_unlock(&kbench_raw_mutex);
	if (port != KBENCH_PORT_STALL)
		ret = kbench_raw_accept(raw);
	if (ret)
		kbench_raw_end(raw, ret);
	return 0;
}

static int kbench_raw_listen_event(struct rdma_cm_id *id,
				   struct rdma_cm_event *event)
{
	if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST)
		return kbench_raw_request(id, (uintptr_t)id->context);
	return 0;
}

/* Ports of the listeners of this file, in the order of kbench_raw_ids. */
static const enum kbench_port kbench_raw_ports[] = {
	KBENCH_PORT_RAW_IDLE, KBENCH_PORT_RAW, KBENCH_PORT_STALL,
};

static struct rdma_cm_id *kbench_raw_ids[ARRAY_SIZE(kbench_raw_ports)];

static struct rdma_cm_id *kbench_raw_listen(struct net *net, u16 port,
					    enum kbench_port what)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_port = htons(port + what),
	};
	struct rdma_cm_id *id;
	int ret;

	id = rdma_create_id(net, kbench_raw_listen_event,
			    (void *)(uintptr_t)what, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return id;
	ret = rdma_bind_addr(id, (struct sockaddr *)&addr) ?:
	      rdma_listen(id, KBENCH_DEPTH);
	if (ret) {
		rdma_destroy_id(id);
		return ERR_PTR(ret);
	}
	return id;
}

/**
 * kbench_raw_serve - listen for the raw variants and for the test "stall"
 * @net: network namespace
 * @port: the first of KBENCH_PORTS ports
 *
 * Return: 0 or -errno. In both cases, the caller must call
 * kbench_raw_serve_end() later.
 */
int kbench_raw_serve(struct net *net, u16 port)
{
	struct rdma_cm_id *id;
	int i;

	for (i = 0; i < ARRAY_SIZE(kbench_raw_ports); i++) {
		id = kbench_raw_listen(net, port, kbench_raw_ports[i]);
		if (IS_ERR(id))
			return PTR_ERR(id);
		kbench_raw_ids[i] = id;
	}
	return 0;
}

/**
 * kbench_raw_serve_end - undo kbench_raw_serve()
 *
 * The caller must flush kbench_wq afterwards, because work items in it release
 * the connections.
 */
void kbench_raw_serve_end(void)
{
	struct kbench_raw *raw;
	int i;

	/* Destroy the listeners first, so that no new connections arrive. */
	for (i = 0; i < ARRAY_SIZE(kbench_raw_ids); i++)
		if (kbench_raw_ids[i])
			rdma_destroy_id(kbench_raw_ids[i]);
	memset(kbench_raw_ids, 0, sizeof(kbench_raw_ids));
	mutex_lock(&kbench_raw_mutex);
	list_for_each_entry(raw, &kbench_raw_list, link)
		kbench_raw_end(raw, -ESHUTDOWN);
	mutex_unlock(&kbench_raw_mutex);
}
