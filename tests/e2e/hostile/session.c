// SPDX-License-Identifier: GPL-2.0
/*
 * A connection to a victim: its receives, work requests of any kind, and
 * results of work requests.
 *
 * Only the task that runs the command ends the session. This task drains the
 * QP, and no completion follows the drain. Completions and the closing callback
 * only record results under the session's lock, and wake the task.
 */
#include <linux/slab.h>

#include "priv.h"
#include "../../../krdma/wire.h"

#define HOSTILE_SENT_MS 5000

/*
 * The buffer that the victim of the previous session has described. The key of
 * this buffer is invalid, because that session has ended.
 */
static struct hostile_shown hostile_old;

/* A work request, and its data. */
struct hostile_wr {
	struct ib_cqe cqe;
	struct hostile_session *session;
	bool is_read;
	u64 dma;
	u32 len;
	u8 data[];
};

struct hostile_session *hostile_session_alloc(void)
{
	struct hostile_session *s = kzalloc(sizeof(*s), GFP_KERNEL);

	if (!s)
		return NULL;
	spin_lock_init(&s->lock);
	init_waitqueue_head(&s->wait);
	return s;
}

/* ---- receiving ---- */

/*
 * Copy the first segment that a START contains from @buf to s->shown, without
 * checking the segment.
 */
static void hostile_take_start_locked(struct hostile_session *s, const u8 *buf,
				      u32 len)
{
	size_t where = sizeof(struct krdma_wire_hdr) +
		       sizeof(struct krdma_wire_export);
	const struct krdma_wire_seg *seg = (const void *)(buf + where);

	lockdep_assert_held(&s->lock);
	if (len < where + sizeof(*seg))
		return;
	s->shown.addr = le64_to_cpu(seg->addr);
	s->shown.rkey = le32_to_cpu(seg->rkey);
	s->shown.len = le32_to_cpu(seg->len);
}

static int hostile_post_recv(struct hostile_session *s,
			     struct hostile_recv *recv)
{
	struct ib_sge sge = {
		.addr = recv->dma,
		.length = HOSTILE_RECV_LEN,
		.lkey = s->cb->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = {
		.wr_cqe = &recv->cqe,
		.sg_list = &sge,
		.num_sge = 1,
	};

	return ib_post_recv(s->cb->qp, &wr, NULL);
}

static void hostile_recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct hostile_recv *recv =
		container_of(wc->wr_cqe, struct hostile_recv, cqe);
	struct hostile_session *s = recv->session;
	unsigned long flags;

	if (wc->status != IB_WC_SUCCESS)
		return;
	ib_dma_sync_single_for_cpu(s->dev, recv->dma, HOSTILE_RECV_LEN,
				   DMA_FROM_DEVICE);
	spin_lock_irqsave(&s->lock, flags);
	if (!s->received++) {
		s->first_len = min_t(u32, wc->byte_len, sizeof(s->first));
		memcpy(s->first, recv->buf, s->first_len);
		hostile_take_start_locked(s, recv->buf, wc->byte_len);
	}
	wake_up_all(&s->wait);
	spin_unlock_irqrestore(&s->lock, flags);
	/*
	 * Ignore a failure: posting fails only after the connection was closed,
	 * when no further message arrives.
	 */
	hostile_post_recv(s, recv);
}

static int hostile_recv_make(struct hostile_session *s,
			     struct hostile_recv *recv)
{
	u8 *buf = kmalloc(HOSTILE_RECV_LEN, GFP_KERNEL);

	if (!buf)
		return -ENOMEM;
	recv->dma = ib_dma_map_single(s->dev, buf, HOSTILE_RECV_LEN,
				      DMA_FROM_DEVICE);
	if (ib_dma_mapping_error(s->dev, recv->dma)) {
		kfree(buf);
		return -ENOMEM;
	}
	recv->buf = buf;
	recv->session = s;
	recv->cqe.done = hostile_recv_done;
	return hostile_post_recv(s, recv);
}

/* Free the receive buffers. The QP is drained before this call. */
static void hostile_recvs_free(struct hostile_session *s)
{
	struct hostile_recv *recv;

	if (!s->recvs)
		return;
	for (recv = s->recvs; recv < s->recvs + HOSTILE_RECVS; recv++) {
		if (!recv->buf)
			continue;
		ib_dma_unmap_single(s->dev, recv->dma, HOSTILE_RECV_LEN,
				    DMA_FROM_DEVICE);
		kfree(recv->buf);
	}
	kfree(s->recvs);
	s->recvs = NULL;
}

static int hostile_ready(struct krdma_cb *cb)
{
	struct hostile_session *s = cb->context;
	int i, ret = 0;

	s->cb = cb;
	s->dev = cb->qp->device;
	s->recvs = kcalloc(HOSTILE_RECVS, sizeof(*s->recvs), GFP_KERNEL);
	if (!s->recvs)
		return -ENOMEM;
	for (i = 0; i < HOSTILE_RECVS && !ret; i++)
		ret = hostile_recv_make(s, &s->recvs[i]);
	if (ret) {
		ib_drain_rq(cb->qp);
		hostile_recvs_free(s);
	}
	return ret;
}

static void hostile_closing(struct krdma_cb *cb, int reason)
{
	struct hostile_session *s = cb->context;
	unsigned long flags;

	spin_lock_irqsave(&s->lock, flags);
	s->closed = reason;
	s->closed_ms = ktime_ms_delta(ktime_get(), s->begun);
	wake_up_all(&s->wait);
	spin_unlock_irqrestore(&s->lock, flags);
}

const struct krdma_ops hostile_ops = {
	.qp_ready = hostile_ready,
	.closing = hostile_closing,
};

/* ---- sending ---- */

static void hostile_note_locked(struct hostile_session *s,
				enum ib_wc_status status)
{
	lockdep_assert_held(&s->lock);
	switch (status) {
	case IB_WC_SUCCESS:
		s->acked++;
		return;
	case IB_WC_WR_FLUSH_ERR:
		s->flushed++;
		return;
	case IB_WC_REM_ACCESS_ERR:
	case IB_WC_REM_INV_REQ_ERR:
	case IB_WC_REM_OP_ERR:
	case IB_WC_RNR_RETRY_EXC_ERR:
		s->refused++;
		break;
	default:
		s->failed++;
		break;
	}
	if (!s->status)
		s->status = status;
}

static unsigned int hostile_nonzero(const struct hostile_wr *wr)
{
	unsigned int n = 0;
	u32 i;

	for (i = 0; i < wr->len; i++)
		n += !!wr->data[i];
	return n;
}

static void hostile_sent(struct ib_cq *cq, struct ib_wc *wc)
{
	struct hostile_wr *wr = container_of(wc->wr_cqe, struct hostile_wr, cqe);
	struct hostile_session *s = wr->session;
	unsigned int nonzero = 0;
	unsigned long flags;

	ib_dma_unmap_single(s->dev, wr->dma, wr->len, DMA_BIDIRECTIONAL);
	if (wr->is_read && wc->status == IB_WC_SUCCESS)
		nonzero = hostile_nonzero(wr);
	kfree(wr);
	spin_lock_irqsave(&s->lock, flags);
	s->nonzero += nonzero;
	hostile_note_locked(s, wc->status);
	wake_up_all(&s->wait);
	spin_unlock_irqrestore(&s->lock, flags);
}

/*
 * Allocate a work request with @len bytes of @data, or of zeroes if @data is
 * NULL. @len may be 0; the mapping has at least one byte.
 */
static struct hostile_wr *hostile_wr_alloc(struct hostile_session *s,
					   const void *data, u32 len)
{
	struct hostile_wr *wr = kzalloc(struct_size(wr, data, len + 1),
					GFP_KERNEL);

	if (!wr)
		return NULL;
	if (data)
		memcpy(wr->data, data, len);
	wr->cqe.done = hostile_sent;
	wr->session = s;
	wr->len = len + 1;
	wr->dma = ib_dma_map_single(s->dev, wr->data, wr->len,
				    DMA_BIDIRECTIONAL);
	if (ib_dma_mapping_error(s->dev, wr->dma)) {
		kfree(wr);
		return NULL;
	}
	return wr;
}

static int hostile_post_wr(struct hostile_session *s, struct hostile_wr *wr,
			   struct ib_send_wr *send)
{
	unsigned long flags;
	int ret;

	spin_lock_irqsave(&s->lock, flags);
	s->posted++;
	spin_unlock_irqrestore(&s->lock, flags);
	ret = ib_post_send(s->cb->qp, send, NULL);
	if (!ret)
		return 0;
	spin_lock_irqsave(&s->lock, flags);
	s->posted--;
	spin_unlock_irqrestore(&s->lock, flags);
	ib_dma_unmap_single(s->dev, wr->dma, wr->len, DMA_BIDIRECTIONAL);
	kfree(wr);
	return ret;
}

/*
 * Post the work request @send, with one buffer of @len bytes. The buffer has
 * the bytes of @data, or zeroes if @data is NULL. A READ overwrites the buffer.
 */
int hostile_post(struct hostile_session *s, struct ib_send_wr *send,
		 const void *data, u32 len)
{
	struct hostile_wr *wr = hostile_wr_alloc(s, data, len);
	struct ib_sge sge;

	if (!wr)
		return -ENOMEM;
	sge = (struct ib_sge){
		.addr = wr->dma,
		.length = len,
		.lkey = s->cb->pd->local_dma_lkey,
	};
	wr->is_read = send->opcode == IB_WR_RDMA_READ;
	send->wr_cqe = &wr->cqe;
	send->send_flags = IB_SEND_SIGNALED;
	send->sg_list = &sge;
	send->num_sge = len ? 1 : 0;
	return hostile_post_wr(s, wr, send);
}

static int hostile_register(struct hostile_session *s)
{
	struct ib_reg_wr reg = {
		.wr.opcode = IB_WR_REG_MR,
		.mr = s->mr,
		.key = s->mr->rkey,
		.access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ,
	};
	struct scatterlist sg;

	sg_init_table(&sg, 1);
	sg_set_page(&sg, s->page, PAGE_SIZE, 0);
	if (!ib_dma_map_sg(s->dev, &sg, 1, DMA_BIDIRECTIONAL) ||
	    ib_map_mr_sg(s->mr, &sg, 1, NULL, PAGE_SIZE) != 1)
		return -EIO;
	return hostile_post(s, &reg.wr, NULL, 0) ?: hostile_wait_sent(s);
}

/*
 * Register a page of zeroes, which the victim may read until the session ends.
 */
int hostile_expose(struct hostile_session *s)
{
	struct ib_mr *mr;

	if (s->mr)
		return -EEXIST;
	s->page = alloc_page(GFP_KERNEL | __GFP_ZERO);
	if (!s->page)
		return -ENOMEM;
	mr = ib_alloc_mr(s->cb->pd, IB_MR_TYPE_MEM_REG, 1);
	if (IS_ERR(mr))
		return PTR_ERR(mr);
	s->mr = mr;
	return hostile_register(s);
}

/*
 * Free the page of hostile_expose() and its MR. The QP is drained before this
 * call. The page need not be unmapped, because the adapters are software.
 */
static void hostile_conceal(struct hostile_session *s)
{
	if (s->mr)
		ib_dereg_mr(s->mr);
	if (s->page)
		__free_page(s->page);
}

/* ---- waiting ---- */

static bool hostile_is_sent(struct hostile_session *s)
{
	unsigned long flags;
	bool sent;

	spin_lock_irqsave(&s->lock, flags);
	sent = s->acked + s->refused + s->flushed + s->failed == s->posted;
	spin_unlock_irqrestore(&s->lock, flags);
	return sent;
}

static int hostile_wait_ret(long left)
{
	if (left < 0)
		return -EINTR;
	return left ? 0 : -ETIMEDOUT;
}

/* Wait until all posted work requests have completed. */
int hostile_wait_sent(struct hostile_session *s)
{
	return hostile_wait_ret(wait_event_killable_timeout(s->wait,
				hostile_is_sent(s),
				msecs_to_jiffies(HOSTILE_SENT_MS)));
}

/* Wait at most @ms for the first message of the victim. */
int hostile_wait_start(struct hostile_session *s, u32 ms)
{
	return hostile_wait_ret(wait_event_killable_timeout(s->wait,
				READ_ONCE(s->received),
				msecs_to_jiffies(ms)));
}

/*
 * Wait at most @ms until the victim closes. Return 0 after a timeout as well:
 * hostile_say() prints whether the victim has closed.
 */
int hostile_wait_closed(struct hostile_session *s, u32 ms)
{
	long left = wait_event_killable_timeout(s->wait, READ_ONCE(s->closed),
						msecs_to_jiffies(ms));

	return left < 0 ? -EINTR : 0;
}

/*
 * Copy the first message of the victim to @first, which has room for
 * HOSTILE_FIRST_LEN bytes. Return the number of bytes; 0 if none has arrived.
 */
u32 hostile_first(struct hostile_session *s, u8 *first)
{
	unsigned long flags;
	u32 len;

	spin_lock_irqsave(&s->lock, flags);
	len = s->first_len;
	memcpy(first, s->first, len);
	spin_unlock_irqrestore(&s->lock, flags);
	return len;
}

/* ---- the end ---- */

struct hostile_shown hostile_last_shown(void)
{
	return hostile_old;
}

/* Print the results of a session to @text. */
void hostile_say(struct hostile_session *s, char *text)
{
	snprintf(text, HOSTILE_TEXT_LEN,
		 "connect=%d posted=%u acked=%u refused=%u flushed=%u failed=%u status=%d nonzero=%u received=%u closed=%d closed_ms=%lld",
		 s->connect, s->posted, s->acked, s->refused, s->flushed,
		 s->failed, s->status, s->nonzero, s->received, s->closed,
		 s->closed_ms);
}

/* Disconnect the session, and free it. */
void hostile_session_free(struct hostile_session *s)
{
	if (s->shown.len)
		hostile_old = s->shown;
	if (s->cb) {
		krdma_disconnect(s->cb);
		krdma_drain(s->cb);
		hostile_recvs_free(s);
		hostile_conceal(s);
		krdma_release_cb(s->cb);
	}
	hostile_seal_free(s);
	kfree(s);
}
