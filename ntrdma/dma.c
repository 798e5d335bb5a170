// SPDX-License-Identifier: GPL-2.0
/*
 * Copies by a DMA engine of the host (<linux/dmaengine.h>), for the back end
 * "ntb". copy.c decides what is copied, and when the peer sees it.
 *
 * A device uses one channel, from the NUMA node of the bridge. A write of the
 * engine may pass one of the processor. So a frame becomes visible only after
 * the engine has notified this module of the end of the copy, which is after its
 * writes on the bus.
 */
#include <linux/dma-mapping.h>
#include <linux/dmaengine.h>
#include <linux/slab.h>

#include "dev.h"
#include "dma.h"

/**
 * struct ntrdma_dma - channel of a DMA engine
 * @chan: channel
 * @window: DMA address of the window to the peer
 * @bytes: bytes of the window
 */
struct ntrdma_dma {
	struct dma_chan *chan;
	dma_addr_t window;
	size_t bytes;
};

static struct device *ntrdma_dma_device(const struct ntrdma_dma *dma)
{
	return dma->chan->device->dev;
}

static int ntrdma_dma_alloc(struct ntrdma_dev *dev,
			    struct ntrdma_copy_buf *copy)
{
	struct ntrdma_dma *dma = dev->config.copy_priv;
	void *from = kzalloc(NTRDMA_CHUNK_MAX, GFP_KERNEL);

	if (!from)
		return -ENOMEM;
	copy->dma = dma_map_single(ntrdma_dma_device(dma), from,
				   NTRDMA_CHUNK_MAX, DMA_TO_DEVICE);
	if (dma_mapping_error(ntrdma_dma_device(dma), copy->dma)) {
		kfree(from);
		return -ENOMEM;
	}
	copy->from = from;
	return 0;
}

static void ntrdma_dma_free(struct ntrdma_dev *dev,
			    struct ntrdma_copy_buf *copy)
{
	struct ntrdma_dma *dma = dev->config.copy_priv;

	dma_unmap_single(ntrdma_dma_device(dma), copy->dma, NTRDMA_CHUNK_MAX,
			 DMA_TO_DEVICE);
	kfree(copy->from);
	copy->from = NULL;
}

static void ntrdma_dma_done(void *param, const struct dmaengine_result *result)
{
	ntrdma_copy_done(param, !result || result->result == DMA_TRANS_NOERROR);
}

static int ntrdma_dma_start(struct ntrdma_dev *dev,
			    struct ntrdma_copy_buf *copy)
{
	struct ntrdma_dma *dma = dev->config.copy_priv;
	struct dma_async_tx_descriptor *tx;

	if (!is_dma_copy_aligned(dma->chan->device, copy->dma,
				 dma->window + copy->offset, copy->bytes))
		return -EINVAL;
	dma_sync_single_for_device(ntrdma_dma_device(dma), copy->dma,
				   copy->bytes, DMA_TO_DEVICE);
	tx = dmaengine_prep_dma_memcpy(dma->chan, dma->window + copy->offset,
				       copy->dma, copy->bytes,
				       DMA_PREP_INTERRUPT);
	if (!tx)
		return -EBUSY;
	tx->callback_result = ntrdma_dma_done;
	tx->callback_param = copy;
	if (dma_submit_error(dmaengine_submit(tx)))
		return -EIO;
	dma_async_issue_pending(dma->chan);
	return 0;
}

static void ntrdma_dma_stop(struct ntrdma_dev *dev)
{
	struct ntrdma_dma *dma = dev->config.copy_priv;

	WARN_ON_ONCE(dmaengine_terminate_sync(dma->chan));
}

const struct ntrdma_copy_ops ntrdma_dma_ops = {
	.alloc = ntrdma_dma_alloc,
	.free = ntrdma_dma_free,
	.start = ntrdma_dma_start,
	.stop = ntrdma_dma_stop,
};

/*
 * An engine of another node would read and write through two processors. One
 * whose driver cannot stop it, such as ioatdma (6.1, 7.3), could write to the
 * window of the next session, and to memory that is free by then.
 */
static bool ntrdma_dma_filter(struct dma_chan *chan, void *param)
{
	int node = dev_to_node(param);

	return chan->device->device_terminate_all &&
	       (node == NUMA_NO_NODE ||
		node == dev_to_node(chan->device->dev));
}

/**
 * ntrdma_dma_open - get a channel for copies to a window
 * @near: device whose NUMA node the channel must have
 * @window: address of the window on the bus
 * @bytes: bytes of the window
 *
 * Context: may sleep.
 * Return: channel, or NULL if there is none or it cannot reach the window.
 */
struct ntrdma_dma *ntrdma_dma_open(struct device *near, phys_addr_t window,
				   size_t bytes)
{
	struct ntrdma_dma *dma = kzalloc(sizeof(*dma), GFP_KERNEL);
	dma_cap_mask_t mask;

	if (!dma)
		return NULL;
	dma_cap_zero(mask);
	dma_cap_set(DMA_MEMCPY, mask);
	dma->chan = dma_request_channel(mask, ntrdma_dma_filter, near);
	if (!dma->chan)
		goto free;
	dma->bytes = bytes;
	dma->window = dma_map_resource(ntrdma_dma_device(dma), window, bytes,
				       DMA_FROM_DEVICE, 0);
	if (!dma_mapping_error(ntrdma_dma_device(dma), dma->window))
		return dma;
	dma_release_channel(dma->chan);
free:
	kfree(dma);
	return NULL;
}

/**
 * ntrdma_dma_name - return the name of a channel
 * @dma: channel
 *
 * Return: name, for the log.
 */
const char *ntrdma_dma_name(const struct ntrdma_dma *dma)
{
	return dma_chan_name(dma->chan);
}

/**
 * ntrdma_dma_close - release a channel
 * @dma: channel without copies, or NULL
 *
 * Context: may sleep.
 */
void ntrdma_dma_close(struct ntrdma_dma *dma)
{
	if (!dma)
		return;
	dma_unmap_resource(ntrdma_dma_device(dma), dma->window, dma->bytes,
			   DMA_FROM_DEVICE, 0);
	dma_release_channel(dma->chan);
	kfree(dma);
}
