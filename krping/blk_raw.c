// SPDX-License-Identifier: GPL-2.0
/*
 * The connection of a disk with bio_raw. The peer is no server of krping_blk,
 * but any RDMA target that accepts a connection and lets others write to its
 * memory at an address and with a key that both sides know. No message is sent.
 *
 * A task that submits a request holds krping_blk_raw.post until the adapter of
 * the peer has acknowledged the WRITE of the data, and until they were read back
 * if bio_verify is set. So one request is in flight at a time.
 *
 * krping_blk_raw.work connects, and connects again after a connection has ended.
 * krping_blk_raw.probe notices the end of a peer while no request is sent: the
 * kernel of a process that dies sends one message about it, which may be lost.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bottom_half.h>
#include <linux/dma-mapping.h>
#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/highmem.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include <rdma/ib_verbs.h>

#include <compat.h>

#include "blk.h"

/* Shortest and longest time between two attempts to connect, in ms. */
#define KRPING_BLK_RAW_DELAY_MIN_MS 1000
#define KRPING_BLK_RAW_DELAY_MAX_MS 30000

/**
 * struct krping_blk_raw_stats - counters of a raw connection
 * @requests: requests whose data were sent
 * @bytes: bytes that were written to the peer
 * @verified: bytes that were read back and were equal
 * @mismatches: requests whose data differed when they were read back
 * @failed: requests that failed because the connection was lost or missing
 * @probes: probes that the adapter of the peer has acknowledged
 * @timeouts: connections that ended because a WRITE or READ was late
 */
struct krping_blk_raw_stats {
	atomic64_t requests;
	atomic64_t bytes;
	atomic64_t verified;
	atomic64_t mismatches;
	atomic64_t failed;
	atomic64_t probes;
	atomic64_t timeouts;
};

/**
 * struct krping_blk_raw - raw connection of a disk
 * @disk: the disk
 * @opts: command that created the disk
 * @net: network namespace of the command
 * @addr: address of the peer
 * @src: source address, if the command has one
 * @work: connects
 * @probe: probes the peer after bio_probe without a request
 * @delay_ms: time until the next attempt to connect; used by @work only
 * @wait: woken when @ready or @error changes
 * @post: held during a request; protects @ready and the members up to @reads
 * @ready: requests can be sent
 * @heard: time at which the adapter of the peer last acknowledged, in jiffies
 * @data: data of a request, KRPING_BLK_SLOT_MAX bytes at most
 * @back: data that were read back, or NULL
 * @ibdev: device that has mapped @data and @back, or NULL
 * @data_dma: DMA address of @data
 * @back_dma: DMA address of @back
 * @cqe: completion of the WRITE or READ in flight
 * @done: completed by @cqe
 * @status: result of the WRITE or READ
 * @reads: number of ranges that were read back
 * @lock: protects the members below
 * @cb: connection, or NULL
 * @stopping: the connection is being removed
 * @error: errno of the last connection or attempt to connect, or 0
 * @stats: counters
 */
struct krping_blk_raw {
	struct krping_blk_disk *disk;
	const struct krping_blk_opts *opts;
	struct net *net;
	struct sockaddr_storage addr;
	struct sockaddr_storage src;
	struct delayed_work work;
	struct delayed_work probe;
	u32 delay_ms;
	wait_queue_head_t wait;
	struct mutex post; /* ready, and buffers */
	bool ready;
	unsigned long heard;
	void *data;
	void *back;
	struct ib_device *ibdev;
	u64 data_dma;
	u64 back_dma;
	struct ib_cqe cqe;
	struct completion done;
	int status;
	u64 reads;
	spinlock_t lock; /* protects the members below */
	struct krdma_cb *cb;
	bool stopping;
	int error;
	struct krping_blk_raw_stats stats;
};

/* ---- requests ---- */

static void krping_blk_raw_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct krping_blk_raw *raw =
		container_of(wc->wr_cqe, struct krping_blk_raw, cqe);

	raw->status = wc->status == IB_WC_SUCCESS ? 0 : -EIO;
	/* The task that waits for @done keeps the connection. */
	if (raw->status)
		krdma_wc_failed(raw->cb, wc->status);
	complete(&raw->done);
}

/*
 * Wait for the WRITE or READ in flight. If it is late, end the connection, which
 * completes it.
 */
static int krping_blk_raw_wait(struct krping_blk_raw *raw)
{
	unsigned long limit = msecs_to_jiffies(raw->opts->timeout_ms);

	if (wait_for_completion_timeout(&raw->done, limit)) {
		if (!raw->status)
			raw->heard = jiffies;
		return raw->status;
	}
	atomic64_inc(&raw->stats.timeouts);
	pr_warn_ratelimited("%s: no acknowledgment for %u ms, connects again\n",
			    raw->disk->name, raw->opts->timeout_ms);
	krdma_disconnect(raw->cb);
	wait_for_completion(&raw->done);
	return -ETIMEDOUT;
}

/*
 * Write @len bytes of a buffer to the memory of the peer at @offset of the disk,
 * or read them back. If @len is 0, only the adapter of the peer acknowledges:
 * that needs no key, and changes no memory.
 */
static int krping_blk_raw_move(struct krping_blk_raw *raw,
			       enum ib_wr_opcode opcode, u64 dma, u64 offset,
			       u32 len)
{
	struct ib_sge sge = {
		.addr = dma,
		.length = len,
		.lkey = raw->cb->pd->local_dma_lkey,
	};
	const struct ib_rdma_wr wr = {
		.wr = {
			.wr_cqe = &raw->cqe,
			.sg_list = &sge,
			.num_sge = len ? 1 : 0,
			.opcode = opcode,
			.send_flags = IB_SEND_SIGNALED,
		},
		.remote_addr = krping_blk_raw_address(raw->opts, offset),
		.rkey = raw->opts->rkey,
	};
	int ret;

	reinit_completion(&raw->done);
	/*
	 * Before Linux 6.4 rxe sends from a tasklet. local_bh_enable() runs it
	 * at once, instead of leaving it to ksoftirqd.
	 */
	local_bh_disable();
	ret = ib_post_send(raw->cb->qp, &wr.wr, NULL);
	local_bh_enable();
	return ret ?: krping_blk_raw_wait(raw);
}

/* Read a range back from the peer, and compare it with the data sent. */
static int krping_blk_raw_verify(struct krping_blk_raw *raw, u64 offset,
				 u32 len)
{
	int ret;

	ib_dma_sync_single_for_device(raw->ibdev, raw->back_dma, len,
				      DMA_FROM_DEVICE);
	ret = krping_blk_raw_move(raw, IB_WR_RDMA_READ, raw->back_dma, offset,
				  len);
	if (ret)
		return ret;
	ib_dma_sync_single_for_cpu(raw->ibdev, raw->back_dma, len,
				   DMA_FROM_DEVICE);
	if (++raw->reads == raw->opts->bad_crc)
		*(u8 *)raw->data ^= 1;
	if (memcmp(raw->data, raw->back, len)) {
		atomic64_inc(&raw->stats.mismatches);
		return -EILSEQ;
	}
	atomic64_add(len, &raw->stats.verified);
	return 0;
}

/* Send the first @len bytes of the buffer. */
static int krping_blk_raw_put(struct krping_blk_raw *raw, u64 offset, u32 len)
{
	int ret;

	ib_dma_sync_single_for_device(raw->ibdev, raw->data_dma, len,
				      DMA_TO_DEVICE);
	ret = krping_blk_raw_move(raw, IB_WR_RDMA_WRITE, raw->data_dma, offset,
				  len);
	if (ret)
		return ret;
	atomic64_add(len, &raw->stats.bytes);
	return raw->back ? krping_blk_raw_verify(raw, offset, len) : 0;
}

static int krping_blk_raw_write(struct krping_blk_raw *raw,
				struct krping_blk_io *io)
{
	void *to = raw->data;
	struct bvec_iter iter;
	struct bio_vec bv;

	ib_dma_sync_single_for_cpu(raw->ibdev, raw->data_dma, io->bytes,
				   DMA_TO_DEVICE);
	bio_for_each_segment(bv, io->bio, iter) {
		memcpy_from_bvec(to, &bv);
		to += bv.bv_len;
	}
	return krping_blk_raw_put(raw, io->offset, io->bytes);
}

/* The block layer does not split a write of zeroes to the size of the buffer. */
static int krping_blk_raw_zero(struct krping_blk_raw *raw,
			       struct krping_blk_io *io)
{
	u32 at, part;
	int ret = 0;

	ib_dma_sync_single_for_cpu(raw->ibdev, raw->data_dma, raw->opts->slot,
				   DMA_TO_DEVICE);
	memset(raw->data, 0, raw->opts->slot);
	for (at = 0; at < io->bytes && !ret; at += part) {
		part = min(io->bytes - at, raw->opts->slot);
		ret = krping_blk_raw_put(raw, io->offset + at, part);
	}
	return ret;
}

/**
 * krping_blk_raw_send - write the data of a request to the peer
 * @raw: connection of the disk
 * @io: request; only KRPING_BLK_WRITE and KRPING_BLK_ZEROES have data
 *
 * Context: process; waits for the adapter of the peer, up to bio_timeout for
 * each slot.
 * Return: 0 if the data are in the memory of the peer, and with bio_verify were
 * read back; -EIO if there is no connection or the peer refuses the access;
 * -EILSEQ if other data were read back; -ETIMEDOUT; or another errno.
 */
int krping_blk_raw_send(struct krping_blk_raw *raw, struct krping_blk_io *io)
{
	int ret = -EIO;

	if (io->op != KRPING_BLK_WRITE && io->op != KRPING_BLK_ZEROES)
		return 0;
	mutex_lock(&raw->post);
	if (raw->ready) {
		atomic64_inc(&raw->stats.requests);
		ret = io->op == KRPING_BLK_WRITE ?
			      krping_blk_raw_write(raw, io) :
			      krping_blk_raw_zero(raw, io);
	}
	mutex_unlock(&raw->post);
	if (ret && ret != -EILSEQ)
		atomic64_inc(&raw->stats.failed);
	return ret;
}

/* ---- connection ---- */

static void krping_blk_raw_unmap(struct krping_blk_raw *raw)
{
	if (!raw->ibdev)
		return;
	if (raw->back)
		ib_dma_unmap_single(raw->ibdev, raw->back_dma, raw->opts->slot,
				    DMA_FROM_DEVICE);
	ib_dma_unmap_single(raw->ibdev, raw->data_dma, raw->opts->slot,
			    DMA_TO_DEVICE);
	raw->ibdev = NULL;
}

/* Map the buffers. No task sends requests before the connection is ready. */
static int krping_blk_raw_map(struct krdma_cb *cb)
{
	struct krping_blk_raw *raw = cb->context;
	struct ib_device *ibdev = cb->qp->device;
	u32 len = raw->opts->slot;

	raw->data_dma = ib_dma_map_single(ibdev, raw->data, len, DMA_TO_DEVICE);
	if (ib_dma_mapping_error(ibdev, raw->data_dma))
		return -ENOMEM;
	if (raw->back)
		raw->back_dma = ib_dma_map_single(ibdev, raw->back, len,
						  DMA_FROM_DEVICE);
	if (raw->back && ib_dma_mapping_error(ibdev, raw->back_dma)) {
		ib_dma_unmap_single(ibdev, raw->data_dma, len, DMA_TO_DEVICE);
		return -ENOMEM;
	}
	raw->ibdev = ibdev;
	return 0;
}

/* Queue a work after a time, unless the connection is being removed. */
static void krping_blk_raw_queue(struct krping_blk_raw *raw,
				 struct delayed_work *work,
				 unsigned long delay)
{
	unsigned long flags;

	spin_lock_irqsave(&raw->lock, flags);
	if (!raw->stopping)
		mod_delayed_work(krping_blk_wq, work, delay);
	spin_unlock_irqrestore(&raw->lock, flags);
}

static void krping_blk_raw_set_error(struct krping_blk_raw *raw, int error)
{
	unsigned long flags;

	spin_lock_irqsave(&raw->lock, flags);
	WRITE_ONCE(raw->error, error);
	spin_unlock_irqrestore(&raw->lock, flags);
	wake_up_all(&raw->wait);
}

static void krping_blk_raw_closing(struct krdma_cb *cb, int reason)
{
	struct krping_blk_raw *raw = cb->context;

	krping_blk_raw_set_error(raw, reason);
	krping_blk_raw_queue(raw, &raw->work, 0);
}

static const struct krdma_ops krping_blk_raw_ops = {
	.owner = THIS_MODULE,
	.qp_ready = krping_blk_raw_map,
	.closing = krping_blk_raw_closing,
};

static void krping_blk_raw_set_ready(struct krping_blk_raw *raw, bool ready)
{
	mutex_lock(&raw->post);
	raw->heard = jiffies;
	WRITE_ONCE(raw->ready, ready);
	mutex_unlock(&raw->post);
}

/* Free the connection, if there is one. */
static void krping_blk_raw_close(struct krping_blk_raw *raw)
{
	struct krdma_cb *cb = raw->cb;

	/* A task that holds @post waits for a completion, which must come. */
	if (cb)
		krdma_disconnect(cb);
	krping_blk_raw_set_ready(raw, false);
	if (!cb)
		return;
	krdma_drain(cb);
	krping_blk_raw_unmap(raw);
	spin_lock_irq(&raw->lock);
	raw->cb = NULL;
	spin_unlock_irq(&raw->lock);
	krdma_release_cb(cb);
}

/* On iWARP, READs go only to memory that is registered for them. */
static int krping_blk_raw_check(struct krping_blk_raw *raw)
{
	struct krdma_caps caps = { .size = sizeof(caps) };
	int ret = krdma_query(raw->cb, &caps);

	if (ret)
		return ret;
	return raw->back && caps.read_needs_region ? -EOPNOTSUPP : 0;
}

static int krping_blk_raw_open(struct krping_blk_raw *raw)
{
	const struct krdma_params params = {
		.size = sizeof(params),
		.flags = KRDMA_RAW | KRDMA_NOIO,
		.net = raw->net,
		.context = raw,
		.ops = &krping_blk_raw_ops,
		.src = raw->src.ss_family ?
			       (const struct sockaddr *)&raw->src : NULL,
		.initiator_depth = 1,
		.responder_resources = 1,
	};
	struct krdma_cb *cb = krdma_create(&params);
	bool stopping;

	if (IS_ERR(cb))
		return PTR_ERR(cb);
	spin_lock_irq(&raw->lock);
	raw->cb = cb;
	stopping = raw->stopping;
	spin_unlock_irq(&raw->lock);
	if (stopping)
		return -ESHUTDOWN;
	return krdma_connect_cb(cb, (const struct sockaddr *)&raw->addr) ?:
	       krping_blk_raw_check(raw);
}

static void krping_blk_raw_work(struct work_struct *work)
{
	struct krping_blk_raw *raw =
		container_of(work, struct krping_blk_raw, work.work);
	unsigned int noio = memalloc_noio_save();
	int ret;

	krping_blk_raw_close(raw);
	ret = krping_blk_raw_open(raw);
	if (ret) {
		krping_blk_raw_close(raw);
		krping_blk_raw_set_error(raw, ret);
		krping_blk_raw_queue(raw, &raw->work,
				     msecs_to_jiffies(raw->delay_ms));
		raw->delay_ms = min_t(u32, 2 * raw->delay_ms,
				      KRPING_BLK_RAW_DELAY_MAX_MS);
	} else {
		raw->delay_ms = KRPING_BLK_RAW_DELAY_MIN_MS;
		krping_blk_raw_set_ready(raw, true);
		krping_blk_raw_set_error(raw, 0);
		krping_blk_raw_queue(raw, &raw->probe, 0);
	}
	memalloc_noio_restore(noio);
}

/*
 * Probe the peer if nothing was sent for bio_probe. If its adapter does not
 * acknowledge, the connection ends. The next connection queues this work again.
 */
static void krping_blk_raw_probe_work(struct work_struct *work)
{
	struct krping_blk_raw *raw =
		container_of(work, struct krping_blk_raw, probe.work);
	long idle = msecs_to_jiffies(raw->opts->probe_ms), left;
	unsigned int noio = memalloc_noio_save();

	mutex_lock(&raw->post);
	if (raw->ready && idle) {
		left = raw->heard + idle - jiffies;
		if (left <= 0) {
			left = idle;
			if (!krping_blk_raw_move(raw, IB_WR_RDMA_WRITE, 0, 0, 0))
				atomic64_inc(&raw->stats.probes);
		}
		krping_blk_raw_queue(raw, &raw->probe, left);
	}
	mutex_unlock(&raw->post);
	memalloc_noio_restore(noio);
}

/* ---- creation and removal ---- */

/*
 * rxe before Linux 6.10 may still read data that have been sent, so they are
 * freed after a grace period.
 */
static void krping_blk_raw_free(struct krping_blk_raw *raw)
{
	if (krdma_may_read_on())
		synchronize_rcu();
	if (raw->back)
		free_pages_exact(raw->back, raw->opts->slot);
	if (raw->data)
		free_pages_exact(raw->data, raw->opts->slot);
	put_net(raw->net);
	mutex_destroy(&raw->post);
	kfree(raw);
}

static int krping_blk_raw_alloc_buffers(struct krping_blk_raw *raw)
{
	const gfp_t gfp = GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN;

	raw->data = alloc_pages_exact(raw->opts->slot, gfp);
	if (raw->opts->verify)
		raw->back = alloc_pages_exact(raw->opts->slot, gfp);
	return raw->data && (raw->back || !raw->opts->verify) ? 0 : -ENOMEM;
}

static int krping_blk_raw_addrs(struct krping_blk_raw *raw)
{
	const struct krping_blk_opts *opts = raw->opts;
	int ret;

	ret = krdma_parse_addr(raw->net, opts->addr, opts->port, &raw->addr);
	if (ret || !*opts->src)
		return ret;
	return krdma_parse_addr(raw->net, opts->src, NULL, &raw->src);
}

/**
 * krping_blk_raw_create - allocate a raw connection
 * @disk: disk with its capacity
 *
 * Return: connection for krping_blk_raw_destroy(), or an ERR_PTR: -ENOMEM;
 * -ENOSPC: the disk does not fit into bio_cap bytes of the peer's memory;
 * -EINVAL: an address is invalid.
 */
struct krping_blk_raw *krping_blk_raw_create(struct krping_blk_disk *disk)
{
	const struct krping_blk_opts *opts = disk->opts;
	struct krping_blk_raw *raw;
	int ret;

	if ((opts->linear ? disk->capacity : opts->slot) > opts->cap)
		return ERR_PTR(-ENOSPC);
	raw = kzalloc(sizeof(*raw), GFP_KERNEL);
	if (!raw)
		return ERR_PTR(-ENOMEM);
	raw->disk = disk;
	raw->opts = opts;
	raw->net = get_net(current->nsproxy->net_ns);
	raw->delay_ms = KRPING_BLK_RAW_DELAY_MIN_MS;
	raw->cqe.done = krping_blk_raw_done;
	INIT_DELAYED_WORK(&raw->work, krping_blk_raw_work);
	INIT_DELAYED_WORK(&raw->probe, krping_blk_raw_probe_work);
	init_waitqueue_head(&raw->wait);
	mutex_init(&raw->post);
	init_completion(&raw->done);
	spin_lock_init(&raw->lock);
	ret = krping_blk_raw_addrs(raw) ?: krping_blk_raw_alloc_buffers(raw);
	if (!ret)
		return raw;
	krping_blk_raw_free(raw);
	return ERR_PTR(ret);
}

/**
 * krping_blk_raw_start - connect to the peer
 * @raw: connection
 *
 * Context: process; waits up to bio_timeout; killable.
 * Return: 0; the errno with which the first attempt failed; -EOPNOTSUPP if the
 * adapter cannot read back; -ETIMEDOUT; -EINTR.
 */
int krping_blk_raw_start(struct krping_blk_raw *raw)
{
	long left;

	krping_blk_raw_queue(raw, &raw->work, 0);
	left = wait_event_killable_timeout(raw->wait,
					   READ_ONCE(raw->ready) ||
					   READ_ONCE(raw->error),
					   msecs_to_jiffies(raw->opts->timeout_ms));
	if (READ_ONCE(raw->ready))
		return 0;
	if (left < 0)
		return -EINTR;
	return READ_ONCE(raw->error) ?: -ETIMEDOUT;
}

/**
 * krping_blk_raw_stop - end the connection
 * @raw: connection; may already be stopped
 *
 * Context: process; waits for krdma.
 */
void krping_blk_raw_stop(struct krping_blk_raw *raw)
{
	struct krdma_cb *cb = NULL;

	spin_lock_irq(&raw->lock);
	raw->stopping = true;
	if (raw->cb)
		cb = krdma_get(raw->cb);
	spin_unlock_irq(&raw->lock);
	/* An attempt to connect ends at once. */
	if (cb) {
		krdma_disconnect(cb);
		krdma_put(cb);
	}
	cancel_delayed_work_sync(&raw->work);
	cancel_delayed_work_sync(&raw->probe);
	krping_blk_raw_close(raw);
}

/**
 * krping_blk_raw_destroy - end the connection, and free it
 * @raw: connection that no task uses
 *
 * Context: process; waits for krdma.
 */
void krping_blk_raw_destroy(struct krping_blk_raw *raw)
{
	krping_blk_raw_stop(raw);
	krping_blk_raw_free(raw);
}

/**
 * krping_blk_raw_show - print the state and the counters of a raw connection
 * @m: output
 * @raw: connection
 */
void krping_blk_raw_show(struct seq_file *m, struct krping_blk_raw *raw)
{
	const struct krping_blk_raw_stats *stats = &raw->stats;

	seq_printf(m, " state=%s error=%d requests=%lld bytes=%lld verified=%lld mismatches=%lld failed=%lld probes=%lld timeouts=%lld\n",
		   READ_ONCE(raw->ready) ? "ready" : "down",
		   READ_ONCE(raw->error), atomic64_read(&stats->requests),
		   atomic64_read(&stats->bytes),
		   atomic64_read(&stats->verified),
		   atomic64_read(&stats->mismatches),
		   atomic64_read(&stats->failed),
		   atomic64_read(&stats->probes),
		   atomic64_read(&stats->timeouts));
}
