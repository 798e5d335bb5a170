// SPDX-License-Identifier: GPL-2.0
/*
 * A DMA engine without hardware, for tests in User-mode Linux.
 *
 * Work items copy, late, in any order, and one copy in some fails. The engine
 * writes to the BAR of the bridge (main.c) by the same functions as a processor,
 * so that its writes are posted behind those that were made before.
 *
 * Lock: soft_chan.lock protects everything in struct soft_chan, in any context.
 * Functions of the client are called without it, with bottom halves disabled.
 */
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/dmaengine.h>
#include <linux/io.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/random.h>
#include <linux/slab.h>

#define SOFT_CHANNELS	2

static unsigned int soft_delay_us;
module_param_named(delay_us, soft_delay_us, uint, 0644);
MODULE_PARM_DESC(delay_us,
		 "Maximum time until the copies begin that the client has issued, in us");

static bool soft_shuffle;
module_param_named(shuffle, soft_shuffle, bool, 0644);
MODULE_PARM_DESC(shuffle, "Copies are made in any order");

static unsigned int soft_fail;
module_param_named(fail, soft_fail, uint, 0644);
MODULE_PARM_DESC(fail, "One copy in this number fails; 0: none");

static unsigned int soft_depth = 64;
module_param_named(depth, soft_depth, uint, 0644);
MODULE_PARM_DESC(depth, "Maximum number of copies of a channel");

static bool soft_stuck;
module_param_named(stuck, soft_stuck, bool, 0644);
MODULE_PARM_DESC(stuck, "Copies do not end");

static bool soft_stoppable = true;
module_param_named(stoppable, soft_stoppable, bool, 0444);
MODULE_PARM_DESC(stoppable, "The driver can stop a channel");

/**
 * struct soft_copy - a copy
 * @tx: the client's view
 * @entry: entry of soft_chan.submitted or soft_chan.issued, or no entry
 * @to: destination on the bus
 * @from: source
 * @bytes: number of bytes
 */
struct soft_copy {
	struct dma_async_tx_descriptor tx;
	struct list_head entry;
	phys_addr_t to;
	const void *from;
	size_t bytes;
};

/**
 * struct soft_chan - channel
 * @chan: the client's view
 * @lock: see above
 * @submitted: copies that the client has submitted
 * @issued: copies that may begin
 * @count: number of copies that exist
 * @made: number of copies that were made
 * @work: makes copies
 */
struct soft_chan {
	struct dma_chan chan;
	spinlock_t lock; /* see @lock above */
	struct list_head submitted;
	struct list_head issued;
	unsigned int count;
	unsigned int made;
	struct work_struct work;
};

static struct soft_chan soft_chan[SOFT_CHANNELS];
static struct dma_device soft_dma;
static struct workqueue_struct *soft_wq;
static struct platform_device *soft_device;

static struct soft_chan *to_chan(struct dma_chan *chan)
{
	return container_of(chan, struct soft_chan, chan);
}

static dma_cookie_t soft_submit(struct dma_async_tx_descriptor *tx)
{
	struct soft_copy *copy = container_of(tx, struct soft_copy, tx);
	struct soft_chan *c = to_chan(tx->chan);
	unsigned long flags;

	spin_lock_irqsave(&c->lock, flags);
	if (++c->chan.cookie < DMA_MIN_COOKIE)
		c->chan.cookie = DMA_MIN_COOKIE;
	tx->cookie = c->chan.cookie;
	list_add_tail(&copy->entry, &c->submitted);
	spin_unlock_irqrestore(&c->lock, flags);
	return tx->cookie;
}

static struct dma_async_tx_descriptor *
soft_prep(struct dma_chan *chan, dma_addr_t to, dma_addr_t from, size_t bytes,
	  unsigned long flags)
{
	struct soft_chan *c = to_chan(chan);
	struct soft_copy *copy = NULL;
	unsigned long irq;

	spin_lock_irqsave(&c->lock, irq);
	if (c->count < READ_ONCE(soft_depth))
		copy = kzalloc(sizeof(*copy), GFP_ATOMIC | __GFP_NOWARN);
	if (copy)
		c->count++;
	spin_unlock_irqrestore(&c->lock, irq);
	if (!copy)
		return NULL;
	dma_async_tx_descriptor_init(&copy->tx, chan);
	copy->tx.tx_submit = soft_submit;
	copy->tx.flags = flags;
	copy->to = to;
	copy->from = phys_to_virt(from);
	copy->bytes = bytes;
	return &copy->tx;
}

static void soft_issue(struct dma_chan *chan)
{
	struct soft_chan *c = to_chan(chan);
	unsigned long flags;

	spin_lock_irqsave(&c->lock, flags);
	list_splice_tail_init(&c->submitted, &c->issued);
	spin_unlock_irqrestore(&c->lock, flags);
	queue_work(soft_wq, &c->work);
}

/* Take a copy, the first one or any one. */
static struct soft_copy *soft_take(struct soft_chan *c)
{
	struct soft_copy *copy = NULL;
	struct list_head *entry;
	unsigned int skip;

	spin_lock_irq(&c->lock);
	if (!list_empty(&c->issued) && !READ_ONCE(soft_stuck)) {
		skip = soft_shuffle ? get_random_u32_below(8) : 0;
		for (entry = c->issued.next; skip && !list_is_last(entry, &c->issued);
		     skip--)
			entry = entry->next;
		copy = list_entry(entry, struct soft_copy, entry);
		list_del(entry);
		c->made++;
	}
	spin_unlock_irq(&c->lock);
	return copy;
}

static void soft_end(struct soft_chan *c, struct soft_copy *copy)
{
	spin_lock_irq(&c->lock);
	c->count--;
	c->chan.completed_cookie = copy->tx.cookie;
	spin_unlock_irq(&c->lock);
	kfree(copy);
}

/* A copy that fails leaves other bytes behind. */
static void soft_copy(struct soft_chan *c, struct soft_copy *copy)
{
	bool fails = soft_fail && c->made % soft_fail == 0;
	struct dmaengine_result result = {
		.result = fails ? DMA_TRANS_WRITE_FAILED : DMA_TRANS_NOERROR,
	};
	void __iomem *to = ioremap(copy->to, copy->bytes);

	if (!to || fails)
		result.result = DMA_TRANS_WRITE_FAILED;
	if (to && fails)
		memset_io(to, 0x5a, copy->bytes);
	else if (to)
		memcpy_toio(to, copy->from, copy->bytes);
	if (to)
		iounmap(to);
	local_bh_disable();
	copy->tx.callback_result(copy->tx.callback_param, &result);
	local_bh_enable();
}

static void soft_work(struct work_struct *work)
{
	struct soft_chan *c = container_of(work, struct soft_chan, work);
	struct soft_copy *copy;

	if (soft_delay_us)
		usleep_range(1, soft_delay_us + 1);
	while ((copy = soft_take(c))) {
		soft_copy(c, copy);
		soft_end(c, copy);
	}
}

static enum dma_status soft_status(struct dma_chan *chan, dma_cookie_t cookie,
				   struct dma_tx_state *state)
{
	return dma_async_is_complete(cookie, chan->completed_cookie,
				     chan->cookie);
}

/* Free the copies that have not begun. */
static int soft_terminate(struct dma_chan *chan)
{
	struct soft_chan *c = to_chan(chan);
	struct soft_copy *copy, *next;
	unsigned long flags;
	LIST_HEAD(ended);

	spin_lock_irqsave(&c->lock, flags);
	list_splice_init(&c->submitted, &ended);
	list_splice_init(&c->issued, &ended);
	list_for_each_entry_safe(copy, next, &ended, entry) {
		c->count--;
		kfree(copy);
	}
	spin_unlock_irqrestore(&c->lock, flags);
	return 0;
}

static void soft_synchronize(struct dma_chan *chan)
{
	flush_work(&to_chan(chan)->work);
}

static int soft_alloc(struct dma_chan *chan)
{
	chan->cookie = DMA_MIN_COOKIE;
	chan->completed_cookie = DMA_MIN_COOKIE;
	return 1;
}

static void soft_free(struct dma_chan *chan)
{
	soft_synchronize(chan);
	WARN_ON(to_chan(chan)->count);
}

static void soft_add_channel(struct soft_chan *c)
{
	spin_lock_init(&c->lock);
	INIT_LIST_HEAD(&c->submitted);
	INIT_LIST_HEAD(&c->issued);
	INIT_WORK(&c->work, soft_work);
	c->chan.device = &soft_dma;
	list_add_tail(&c->chan.device_node, &soft_dma.channels);
}

static int soft_probe(struct platform_device *pdev)
{
	unsigned int i;
	int ret = dma_coerce_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64));

	if (ret)
		return ret;
	INIT_LIST_HEAD(&soft_dma.channels);
	for (i = 0; i < SOFT_CHANNELS; i++)
		soft_add_channel(&soft_chan[i]);
	soft_dma.dev = &pdev->dev;
	dma_cap_set(DMA_MEMCPY, soft_dma.cap_mask);
	soft_dma.copy_align = DMAENGINE_ALIGN_64_BYTES;
	soft_dma.device_alloc_chan_resources = soft_alloc;
	soft_dma.device_free_chan_resources = soft_free;
	soft_dma.device_prep_dma_memcpy = soft_prep;
	soft_dma.device_issue_pending = soft_issue;
	soft_dma.device_tx_status = soft_status;
	soft_dma.device_terminate_all = soft_stoppable ? soft_terminate : NULL;
	soft_dma.device_synchronize = soft_synchronize;
	return dma_async_device_register(&soft_dma);
}

static void soft_remove(struct platform_device *pdev)
{
	dma_async_device_unregister(&soft_dma);
}

static struct platform_driver soft_driver = {
	.probe = soft_probe,
	.remove = soft_remove,
	.driver.name = "ntr_softdma",
};

static int __init soft_init(void)
{
	int ret;

	soft_wq = alloc_workqueue("ntr_softdma", WQ_UNBOUND, 0);
	if (!soft_wq)
		return -ENOMEM;
	ret = platform_driver_register(&soft_driver);
	if (ret)
		goto wq;
	soft_device = platform_device_register_simple("ntr_softdma", -1, NULL,
						      0);
	ret = PTR_ERR_OR_ZERO(soft_device);
	if (!ret)
		return 0;
	platform_driver_unregister(&soft_driver);
wq:
	destroy_workqueue(soft_wq);
	return ret;
}

static void __exit soft_exit(void)
{
	platform_device_unregister(soft_device);
	platform_driver_unregister(&soft_driver);
	destroy_workqueue(soft_wq);
}

module_init(soft_init);
module_exit(soft_exit);

MODULE_AUTHOR("The krdma developers");
MODULE_DESCRIPTION("DMA engine without hardware, for tests");
MODULE_LICENSE("GPL");
