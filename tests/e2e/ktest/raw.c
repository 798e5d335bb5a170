// SPDX-License-Identifier: GPL-2.0
/*
 * An owner of connections in raw mode. In qp_ready the owner posts receives,
 * and allocates an MR. It frees both in the closing callback or when it
 * releases the connection, whichever comes first.
 */
#include <linux/delay.h>
#include <linux/slab.h>

#include "priv.h"

static void ktest_raw_recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct ktest_raw *raw =
		container_of(wc->wr_cqe, struct ktest_raw, recv_cqe);

	if (wc->status == IB_WC_SUCCESS)
		atomic_inc(&raw->received);
}

static void ktest_raw_send_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct ktest_raw *raw =
		container_of(wc->wr_cqe, struct ktest_raw, send_cqe);

	raw->status = wc->status;
	complete(&raw->sent);
}

static int ktest_raw_map(struct ktest_raw *raw, struct krdma_cb *cb)
{
	raw->buf = kzalloc(2 * KTEST_RAW_LEN, GFP_KERNEL);
	if (!raw->buf)
		return -ENOMEM;
	raw->dma = ib_dma_map_single(cb->qp->device, raw->buf,
				     2 * KTEST_RAW_LEN, DMA_BIDIRECTIONAL);
	if (ib_dma_mapping_error(cb->qp->device, raw->dma)) {
		kfree(raw->buf);
		raw->buf = NULL;
		return -ENOMEM;
	}
	raw->dev = cb->qp->device;
	return 0;
}

static int ktest_raw_alloc(struct ktest_raw *raw, struct krdma_cb *cb)
{
	struct ib_mr *mr;
	int ret;

	ret = ktest_raw_map(raw, cb);
	if (ret)
		return ret;
	mr = ib_alloc_mr(cb->pd, IB_MR_TYPE_MEM_REG, 1);
	if (IS_ERR(mr))
		return PTR_ERR(mr);
	raw->mr = mr;
	return 0;
}

static void ktest_raw_free(struct ktest_raw *raw)
{
	if (raw->mr)
		ib_dereg_mr(raw->mr);
	raw->mr = NULL;
	if (raw->dev)
		ib_dma_unmap_single(raw->dev, raw->dma, 2 * KTEST_RAW_LEN,
				    DMA_BIDIRECTIONAL);
	raw->dev = NULL;
	kfree(raw->buf);
	raw->buf = NULL;
}

static int ktest_raw_post_recv(struct ktest_raw *raw, struct krdma_cb *cb)
{
	struct ib_sge sge = {
		.addr = raw->dma + KTEST_RAW_LEN,
		.length = KTEST_RAW_LEN,
		.lkey = cb->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = {
		.wr_cqe = &raw->recv_cqe,
		.sg_list = &sge,
		.num_sge = 1,
	};

	return ib_post_recv(cb->qp, &wr, NULL);
}

static int ktest_raw_ready(struct krdma_cb *cb)
{
	struct ktest_slot *slot = cb->context;
	struct ktest_raw *raw = &slot->raw;
	int i, ret;

	raw->over = false;
	raw->send_cqe.done = ktest_raw_send_done;
	raw->recv_cqe.done = ktest_raw_recv_done;
	atomic_set(&raw->received, 0);
	if (slot->pause_us)
		usleep_range(slot->pause_us, slot->pause_us + 100);
	ret = ktest_raw_alloc(raw, cb);
	for (i = 0; i < KTEST_RAW_RECVS && !ret; i++)
		ret = ktest_raw_post_recv(raw, cb);
	if (ret) {
		/*
		 * If qp_ready fails, krdma calls no other callback. So drain
		 * and free the posted receives here.
		 */
		ib_drain_rq(cb->qp);
		ktest_raw_free(raw);
	}
	return ret;
}

/*
 * Disconnect, wait until the last send has completed, and free the resources.
 * Disconnecting flushes the QP, so a send in flight completes. After the member
 * over is set, no other send is posted.
 */
void ktest_raw_end(struct ktest_slot *slot, struct krdma_cb *cb)
{
	struct ktest_raw *raw = &slot->raw;

	krdma_disconnect(cb);
	mutex_lock(&raw->lock);
	raw->over = true;
	mutex_unlock(&raw->lock);
	krdma_drain(cb);
	ktest_raw_free(raw);
}

/*
 * Release the connection when krdma reports its end. A command may release the
 * connection at the same time. Either this callback or the command takes the
 * connection from the slot, and releases it.
 */
static void ktest_raw_closing(struct krdma_cb *cb, int reason)
{
	struct ktest_slot *slot = cb->context;

	slot->closing = reason;
	if (ktest_slot_take_cb(slot) != cb)
		return;
	ktest_raw_end(slot, cb);
	krdma_release_cb(cb);
	ktest_slot_put(slot);
}

const struct krdma_ops ktest_raw_ops = {
	.owner = THIS_MODULE,
	.qp_ready = ktest_raw_ready,
	.closing = ktest_raw_closing,
};

static int ktest_raw_send_locked(struct ktest_raw *raw, struct krdma_cb *cb,
				 u32 len)
{
	struct ib_sge sge = {
		.addr = raw->dma,
		.length = len,
		.lkey = cb->pd->local_dma_lkey,
	};
	struct ib_send_wr wr = {
		.wr_cqe = &raw->send_cqe,
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED,
		.sg_list = &sge,
		.num_sge = 1,
	};
	int ret;

	lockdep_assert_held(&raw->lock);
	if (raw->over || !krdma_is_established(cb))
		return -ENOTCONN;
	reinit_completion(&raw->sent);
	ret = ib_post_send(cb->qp, &wr, NULL);
	if (ret)
		return ret;
	/*
	 * A send always completes, because the QP is drained before it is
	 * destroyed.
	 */
	wait_for_completion(&raw->sent);
	return raw->status == IB_WC_SUCCESS ? 0 : -EIO;
}

static int ktest_raw_send(struct ktest_raw *raw, struct krdma_cb *cb, u32 len,
			  u8 fill)
{
	int ret;

	mutex_lock(&raw->lock);
	/* The buffer is NULL after the connection has been released. */
	if (raw->buf)
		memset(raw->buf, fill, KTEST_RAW_LEN);
	ret = ktest_raw_send_locked(raw, cb, len);
	mutex_unlock(&raw->lock);
	return ret;
}

/*
 * rawping NAME N [LEN [FILL]]: send N messages of LEN bytes, each byte FILL. N
 * must not exceed the number of receives that a raw peer has posted. Print the
 * number of received messages.
 */
int ktest_cmd_rawping(struct ktest_ctx *ctx, struct ktest_args *args)
{
	struct ktest_slot *slot = ktest_slot_find(ctx, ktest_arg(args, 1));
	u32 n = min_t(u32, ktest_number(args, 2, 1), KTEST_RAW_RECVS);
	u32 len = min_t(u32, ktest_number(args, 3, KTEST_RAW_LEN), KTEST_RAW_LEN);
	u8 fill = ktest_number(args, 4, 0);
	struct krdma_cb *cb;
	int ret = -ENOTCONN;

	if (IS_ERR(slot))
		return PTR_ERR(slot);
	cb = ktest_slot_get_cb(slot);
	if (cb && slot->is_raw) {
		for (ret = 0; n && !ret; n--)
			ret = ktest_raw_send(&slot->raw, cb, len, fill);
		snprintf(ctx->text, sizeof(ctx->text), "received=%d",
			 atomic_read(&slot->raw.received));
	}
	if (cb)
		krdma_put(cb);
	ktest_slot_put(slot);
	return ret;
}
