// SPDX-License-Identifier: GPL-2.0
/*
 * A PCIe non-transparent bridge without hardware, for tests in User-mode Linux.
 *
 * Both ports are in one kernel, and look to clients like the two ends of a
 * bridge between two hosts. Each port has a BAR through which it writes into the
 * memory that the other port has named with ntb_mw_set_trans(). The BAR is
 * emulated (<linux/logic_iomem.h>): ioremap() returns addresses that no plain
 * pointer can use, and each access calls a function of this module. A read of
 * the BAR is reported, because it would take a microsecond on hardware.
 *
 * Writes are posted: with delay_us, those to the BAR, doorbells, and writes to
 * registers arrive later, in order. A read of a register waits for them. If the
 * link is down, writes to the BAR and doorbells are lost.
 *
 * The module cannot be unloaded, because emulated memory cannot be given back.
 *
 * Lock: twin_lock protects everything in struct twin_port except the work item.
 * Functions of the client are called without it.
 */
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/logic_iomem.h>
#include <linux/module.h>
#include <linux/ntb.h>
#include <linux/pci.h>
#include <linux/slab.h>

/* Each port has two windows, because ntb_perf uses the second one. */
#define TWIN_WINDOWS	2
#define TWIN_WINDOW	SZ_4M
#define TWIN_BAR_BYTES	(TWIN_WINDOWS * TWIN_WINDOW)
#define TWIN_BAR_START	0x4000000000ULL
#define TWIN_SPADS	64
#define TWIN_BELLS	16

static bool twin_cable = true;
static unsigned int twin_bells = 9;
module_param_named(bells, twin_bells, uint, 0644);
MODULE_PARM_DESC(bells, "Number of doorbells, 1 to 16");

static unsigned int twin_vectors;
module_param_named(vectors, twin_vectors, uint, 0644);
MODULE_PARM_DESC(vectors, "0: a vector for each doorbell; 1: one for all");

static unsigned int twin_unsafe;
module_param_named(unsafe, twin_unsafe, uint, 0644);
MODULE_PARM_DESC(unsafe,
		 "Clients are advised not to use doorbells: 1: the first end; 2: the second; 3: both");

static unsigned int twin_align = PAGE_SIZE;
module_param_named(align, twin_align, uint, 0644);
MODULE_PARM_DESC(align, "Alignment of the inbox in bytes, a power of 2");

static bool twin_edge;
module_param_named(edge, twin_edge, bool, 0644);
MODULE_PARM_DESC(edge, "No event for a doorbell that arrived while it was masked");

static unsigned int twin_max = TWIN_WINDOW;
module_param_named(max, twin_max, uint, 0644);
MODULE_PARM_DESC(max, "Maximum size of an inbox in bytes");

static unsigned int twin_delay_us;
module_param_named(delay_us, twin_delay_us, uint, 0644);
MODULE_PARM_DESC(delay_us, "Time until writes and doorbells arrive, in us");

static unsigned int twin_read;
module_param_named(reads, twin_read, uint, 0444);
MODULE_PARM_DESC(reads, "Number of times that a BAR was read");

enum twin_kind {
	TWIN_WRITE,	/* write to the BAR */
	TWIN_RING,	/* ring doorbells of the peer */
	TWIN_CLEAR,	/* clear doorbells that have arrived */
	TWIN_UNMASK,	/* unmask doorbells */
};

/**
 * struct twin_post - a write on its way
 * @entry: entry of twin_port.posts
 * @kind: kind of the write
 * @bits: doorbells; otherwise unused
 * @offset: place of the write in the BAR
 * @bytes: bytes of @data
 * @data: bytes to write
 */
struct twin_post {
	struct list_head entry;
	enum twin_kind kind;
	u64 bits;
	unsigned int offset;
	unsigned int bytes;
	u8 data[];
};

/**
 * struct twin_port - one end of the bridge
 * @ntb: device of the NTB interface
 * @pdev: PCI device, of which only @pdev.dev is used
 * @peer: other end
 * @bar: address of the windows to the peer
 * @inbox: for each window, the memory to which writes of the peer go, or NULL
 * @inbox_bytes: bytes of each @inbox
 * @bells: doorbells that have arrived
 * @mask: doorbells that cause no event
 * @spad: scratchpads
 * @enabled: the client has enabled the link
 * @raised: doorbells for which the client is to be interrupted
 * @irq: interrupts the client
 * @posts: writes of this end that are on their way
 * @timer: lets them arrive
 * @work: notifies the client of the state of the link
 */
struct twin_port {
	struct ntb_dev ntb;
	struct pci_dev pdev;
	struct twin_port *peer;
	phys_addr_t bar;
	void *inbox[TWIN_WINDOWS];
	size_t inbox_bytes[TWIN_WINDOWS];
	u64 bells;
	u64 mask;
	u32 spad[TWIN_SPADS];
	bool enabled;
	u64 raised;
	struct hrtimer irq;
	struct list_head posts;
	struct hrtimer timer;
	struct work_struct work;
};

static struct twin_port twin_port[2];
static DEFINE_SPINLOCK(twin_lock);

static struct twin_port *to_port(struct ntb_dev *ntb)
{
	return container_of(ntb, struct twin_port, ntb);
}

static bool twin_link(void)
{
	return twin_cable && twin_port[0].enabled && twin_port[1].enabled;
}

/*
 * Writes and doorbells.
 */

static void twin_arrive_write(struct twin_port *port, unsigned int offset,
			      const void *data, unsigned int bytes)
{
	struct twin_port *peer = port->peer;
	unsigned int i = offset / TWIN_WINDOW;
	unsigned int end = offset % TWIN_WINDOW + bytes;

	lockdep_assert_held(&twin_lock);
	if (twin_link() && peer->inbox[i] && end <= peer->inbox_bytes[i])
		memcpy(peer->inbox[i] + end - bytes, data, bytes);
}

/*
 * Interrupt the client for doorbells that are not masked. A timer does so, in
 * hard interrupt context like a bridge, because the caller may be the client.
 */
static void twin_raise(struct twin_port *port, u64 bits)
{
	lockdep_assert_held(&twin_lock);
	bits &= ~port->mask;
	if (!bits)
		return;
	port->raised |= bits;
	hrtimer_start(&port->irq, 0, HRTIMER_MODE_REL_HARD);
}

static enum hrtimer_restart twin_irq(struct hrtimer *timer)
{
	struct twin_port *port = container_of(timer, struct twin_port, irq);
	unsigned long flags;
	unsigned int i;
	u64 bits;

	spin_lock_irqsave(&twin_lock, flags);
	bits = port->raised;
	port->raised = 0;
	spin_unlock_irqrestore(&twin_lock, flags);
	if (twin_vectors && bits)
		ntb_db_event(&port->ntb, 0);
	for (i = 0; i < TWIN_BELLS && !twin_vectors; i++)
		if (bits & BIT_ULL(i))
			ntb_db_event(&port->ntb, i);
	return HRTIMER_NORESTART;
}

static void twin_arrive(struct twin_port *port, const struct twin_post *post,
			const void *data)
{
	lockdep_assert_held(&twin_lock);
	switch (post->kind) {
	case TWIN_WRITE:
		twin_arrive_write(port, post->offset, data, post->bytes);
		break;
	case TWIN_RING:
		if (!twin_link())
			break;
		port->peer->bells |= post->bits;
		twin_raise(port->peer, post->bits);
		break;
	case TWIN_CLEAR:
		port->bells &= ~post->bits;
		break;
	case TWIN_UNMASK:
		port->mask &= ~post->bits;
		if (!twin_edge)
			twin_raise(port, port->bells & post->bits);
	}
}

static void twin_arrive_posts(struct twin_port *port)
{
	struct twin_post *post, *next;

	lockdep_assert_held(&twin_lock);
	list_for_each_entry_safe(post, next, &port->posts, entry) {
		list_del(&post->entry);
		twin_arrive(port, post, post->data);
		kfree(post);
	}
}

/* Wait for all writes of a port, as a read of a register does. */
static void twin_flush(struct twin_port *port)
{
	unsigned long flags;

	spin_lock_irqsave(&twin_lock, flags);
	twin_arrive_posts(port);
	spin_unlock_irqrestore(&twin_lock, flags);
}

static enum hrtimer_restart twin_timer(struct hrtimer *timer)
{
	twin_flush(container_of(timer, struct twin_port, timer));
	return HRTIMER_NORESTART;
}

/* Return a copy of a write, or NULL if there is no delay or no memory. */
static struct twin_post *twin_delayed(const struct twin_post *post,
				      const void *data)
{
	struct twin_post *copy;

	if (!READ_ONCE(twin_delay_us))
		return NULL;
	copy = kmalloc(struct_size(copy, data, post->bytes), GFP_ATOMIC);
	if (!copy)
		return NULL;
	memcpy(copy, post, sizeof(*post));
	memcpy(copy->data, data, post->bytes);
	return copy;
}

/* Send a write. Without a delay it arrives now, behind all earlier ones. */
static void twin_post(struct twin_port *port, const struct twin_post *post,
		      const void *data)
{
	struct twin_post *copy = twin_delayed(post, data);
	unsigned long flags;
	bool first;

	spin_lock_irqsave(&twin_lock, flags);
	first = list_empty(&port->posts);
	if (copy) {
		list_add_tail(&copy->entry, &port->posts);
	} else {
		twin_arrive_posts(port);
		twin_arrive(port, post, data);
	}
	spin_unlock_irqrestore(&twin_lock, flags);
	if (copy && first)
		hrtimer_start(&port->timer, us_to_ktime(twin_delay_us),
			      HRTIMER_MODE_REL_SOFT);
}

static void twin_post_bits(struct ntb_dev *ntb, enum twin_kind kind, u64 bits)
{
	const struct twin_post post = { .kind = kind, .bits = bits };

	twin_post(to_port(ntb), &post, NULL);
}

static void twin_copy_to(void *priv, unsigned int offset, const void *data,
			 int bytes)
{
	const struct twin_post post = {
		.kind = TWIN_WRITE,
		.offset = offset,
		.bytes = bytes,
	};

	twin_post(priv, &post, data);
}

static void twin_write(void *priv, unsigned int offset, int bytes,
		       unsigned long value)
{
	twin_copy_to(priv, offset, &value, bytes);
}

static unsigned long twin_read_bar(void *priv, unsigned int offset, int bytes)
{
	twin_read++;
	pr_err_ratelimited("ntr_twin: a client reads offset %#x of the BAR\n",
			   offset);
	return ~0UL;
}

static void twin_copy_from(void *priv, void *buffer, unsigned int offset,
			   int bytes)
{
	memset(buffer, twin_read_bar(priv, offset, bytes), bytes);
}

static const struct logic_iomem_ops twin_bar_ops = {
	.read = twin_read_bar,
	.write = twin_write,
	.copy_from = twin_copy_from,
	.copy_to = twin_copy_to,
};

/* The BARs of both ports are one region. */
static long twin_map(unsigned long offset, size_t bytes,
		     const struct logic_iomem_ops **ops, void **priv)
{
	*ops = &twin_bar_ops;
	*priv = &twin_port[offset / TWIN_BAR_BYTES];
	return offset % TWIN_BAR_BYTES;
}

static const struct logic_iomem_region_ops twin_region_ops = {
	.map = twin_map,
};

/*
 * Functions of the NTB interface, see <linux/ntb.h>.
 */

static u64 twin_link_is_up(struct ntb_dev *ntb, enum ntb_speed *speed,
			   enum ntb_width *width)
{
	unsigned long flags;
	bool up;

	spin_lock_irqsave(&twin_lock, flags);
	up = twin_link();
	spin_unlock_irqrestore(&twin_lock, flags);
	if (speed)
		*speed = up ? NTB_SPEED_GEN3 : NTB_SPEED_NONE;
	if (width)
		*width = up ? 8 : NTB_WIDTH_NONE;
	return up;
}

/*
 * Notify both clients if the link has come up or gone down. Another event would
 * be a fault of the bridge: ntb_transport clears its scratchpads if the link is
 * down, although the peer may have written them by then.
 */
static void twin_link_changed(void)
{
	static bool was_up;
	unsigned long flags;
	bool changed;

	spin_lock_irqsave(&twin_lock, flags);
	changed = twin_link() != was_up;
	was_up = twin_link();
	spin_unlock_irqrestore(&twin_lock, flags);
	if (!changed)
		return;
	schedule_work(&twin_port[0].work);
	schedule_work(&twin_port[1].work);
}

static void twin_work(struct work_struct *work)
{
	ntb_link_event(&container_of(work, struct twin_port, work)->ntb);
}

/* Clear the scratchpads: ntb_transport takes those of another client for its own. */
static int twin_set_enabled(struct ntb_dev *ntb, bool enabled)
{
	struct twin_port *port = to_port(ntb);
	unsigned long flags;

	spin_lock_irqsave(&twin_lock, flags);
	port->enabled = enabled;
	if (!enabled)
		memset(port->spad, 0, sizeof(port->spad));
	spin_unlock_irqrestore(&twin_lock, flags);
	twin_link_changed();
	return 0;
}

/* As on bridges of AMD, only one side can enable the link. */
static int twin_link_enable(struct ntb_dev *ntb, enum ntb_speed speed,
			    enum ntb_width width)
{
	twin_set_enabled(ntb, true);
	return to_port(ntb) == &twin_port[0] ? 0 : -EINVAL;
}

static int twin_link_disable(struct ntb_dev *ntb)
{
	return twin_set_enabled(ntb, false);
}

static int twin_mw_count(struct ntb_dev *ntb, int pidx)
{
	return TWIN_WINDOWS;
}

static int twin_peer_mw_count(struct ntb_dev *ntb)
{
	return TWIN_WINDOWS;
}

static int twin_mw_get_align(struct ntb_dev *ntb, int pidx, int widx,
			     resource_size_t *addr_align,
			     resource_size_t *size_align,
			     resource_size_t *size_max)
{
	if (pidx || widx < 0 || widx >= TWIN_WINDOWS)
		return -EINVAL;
	if (addr_align)
		*addr_align = twin_align;
	if (size_align)
		*size_align = 1;
	if (size_max)
		*size_max = twin_max;
	return 0;
}

static int twin_mw_set_trans(struct ntb_dev *ntb, int pidx, int widx,
			     dma_addr_t addr, resource_size_t bytes)
{
	struct twin_port *port = to_port(ntb);
	unsigned long flags;

	if (pidx || widx < 0 || widx >= TWIN_WINDOWS ||
	    !IS_ALIGNED(addr, twin_align) || bytes > TWIN_WINDOW)
		return -EINVAL;
	spin_lock_irqsave(&twin_lock, flags);
	port->inbox[widx] = bytes ? phys_to_virt(addr) : NULL;
	port->inbox_bytes[widx] = bytes;
	spin_unlock_irqrestore(&twin_lock, flags);
	return 0;
}

static int twin_mw_clear_trans(struct ntb_dev *ntb, int pidx, int widx)
{
	return twin_mw_set_trans(ntb, pidx, widx, 0, 0);
}

static int twin_peer_mw_get_addr(struct ntb_dev *ntb, int widx,
				 phys_addr_t *base, resource_size_t *bytes)
{
	if (widx < 0 || widx >= TWIN_WINDOWS)
		return -EINVAL;
	if (base)
		*base = to_port(ntb)->bar + widx * TWIN_WINDOW;
	if (bytes)
		*bytes = TWIN_WINDOW;
	return 0;
}

static int twin_db_is_unsafe(struct ntb_dev *ntb)
{
	return twin_unsafe & BIT(to_port(ntb) - twin_port);
}

static u64 twin_db_valid_mask(struct ntb_dev *ntb)
{
	return GENMASK_ULL(clamp(twin_bells, 1U, TWIN_BELLS) - 1, 0);
}

static int twin_db_vector_count(struct ntb_dev *ntb)
{
	return twin_vectors ? 1 : TWIN_BELLS;
}

static u64 twin_db_vector_mask(struct ntb_dev *ntb, int vector)
{
	u64 valid = twin_db_valid_mask(ntb);

	return twin_vectors ? valid : valid & BIT_ULL(vector);
}

static u64 twin_db_read(struct ntb_dev *ntb)
{
	struct twin_port *port = to_port(ntb);

	twin_flush(port);
	return READ_ONCE(port->bells);
}

static int twin_db_clear(struct ntb_dev *ntb, u64 bits)
{
	twin_post_bits(ntb, TWIN_CLEAR, bits);
	return 0;
}

/* It does not overtake what was posted before. */
static int twin_db_set_mask(struct ntb_dev *ntb, u64 bits)
{
	struct twin_port *port = to_port(ntb);
	unsigned long flags;

	spin_lock_irqsave(&twin_lock, flags);
	twin_arrive_posts(port);
	port->mask |= bits;
	spin_unlock_irqrestore(&twin_lock, flags);
	return 0;
}

static int twin_db_clear_mask(struct ntb_dev *ntb, u64 bits)
{
	twin_post_bits(ntb, TWIN_UNMASK, bits);
	return 0;
}

static int twin_peer_db_set(struct ntb_dev *ntb, u64 bits)
{
	if (bits & ~twin_db_valid_mask(ntb))
		return -EINVAL;
	twin_post_bits(ntb, TWIN_RING, bits);
	return 0;
}

static int twin_spad_count(struct ntb_dev *ntb)
{
	return TWIN_SPADS;
}

static u32 twin_spad_read(struct ntb_dev *ntb, int sidx)
{
	return READ_ONCE(to_port(ntb)->spad[sidx]);
}

static int twin_spad_write(struct ntb_dev *ntb, int sidx, u32 value)
{
	WRITE_ONCE(to_port(ntb)->spad[sidx], value);
	return 0;
}

static u32 twin_peer_spad_read(struct ntb_dev *ntb, int pidx, int sidx)
{
	return twin_spad_read(&to_port(ntb)->peer->ntb, sidx);
}

static int twin_peer_spad_write(struct ntb_dev *ntb, int pidx, int sidx,
				u32 value)
{
	return twin_spad_write(&to_port(ntb)->peer->ntb, sidx, value);
}

static struct ntb_dev_ops twin_ops = {
	.link_is_up = twin_link_is_up,
	.link_enable = twin_link_enable,
	.link_disable = twin_link_disable,
	.mw_count = twin_mw_count,
	.mw_get_align = twin_mw_get_align,
	.mw_set_trans = twin_mw_set_trans,
	.mw_clear_trans = twin_mw_clear_trans,
	.peer_mw_count = twin_peer_mw_count,
	.peer_mw_get_addr = twin_peer_mw_get_addr,
	.db_is_unsafe = twin_db_is_unsafe,
	.db_valid_mask = twin_db_valid_mask,
	.db_vector_count = twin_db_vector_count,
	.db_vector_mask = twin_db_vector_mask,
	.db_read = twin_db_read,
	.db_clear = twin_db_clear,
	.db_set_mask = twin_db_set_mask,
	.db_clear_mask = twin_db_clear_mask,
	.peer_db_set = twin_peer_db_set,
	.spad_count = twin_spad_count,
	.spad_read = twin_spad_read,
	.spad_write = twin_spad_write,
	.peer_spad_read = twin_peer_spad_read,
	.peer_spad_write = twin_peer_spad_write,
};

/*
 * Parameters that call functions.
 */

static int twin_set_cable(const char *text, const struct kernel_param *param)
{
	unsigned long flags;
	bool cable;
	int ret = kstrtobool(text, &cable);

	if (ret)
		return ret;
	spin_lock_irqsave(&twin_lock, flags);
	twin_cable = cable;
	spin_unlock_irqrestore(&twin_lock, flags);
	if (twin_port[0].peer)
		twin_link_changed();
	return 0;
}

static const struct kernel_param_ops twin_cable_ops = {
	.set = twin_set_cable,
	.get = param_get_bool,
};

module_param_cb(cable, &twin_cable_ops, &twin_cable, 0644);
MODULE_PARM_DESC(cable, "The two ends are connected");

/* Another kind of bridge: only the peer translates. For clients that come later. */
static int twin_set_untranslated(const char *text,
				 const struct kernel_param *param)
{
	bool untranslated;
	int ret = kstrtobool(text, &untranslated);

	if (!ret)
		twin_ops.mw_set_trans = untranslated ? NULL : twin_mw_set_trans;
	return ret;
}

static const struct kernel_param_ops twin_untranslated_ops = {
	.set = twin_set_untranslated,
};

module_param_cb(untranslated, &twin_untranslated_ops, NULL, 0200);
MODULE_PARM_DESC(untranslated, "Only the peer can translate a window");

/* Ring a doorbell of the first end, as often as the client takes it. */
static int twin_set_storm(const char *text, const struct kernel_param *param)
{
	unsigned int count;
	int ret = kstrtouint(text, 0, &count);

	while (!ret && count--) {
		twin_peer_db_set(&twin_port[1].ntb, 1);
		usleep_range(50, 100);
	}
	return ret;
}

static const struct kernel_param_ops twin_storm_ops = {
	.set = twin_set_storm,
};

module_param_cb(storm, &twin_storm_ops, NULL, 0200);
MODULE_PARM_DESC(storm, "Number of times to ring the first doorbell");

/*
 * Creation.
 */

/* The devices are static, and stay until the machine ends. */
static void twin_release(struct device *dev)
{
}

static int twin_add_port(unsigned int number)
{
	struct twin_port *port = &twin_port[number];
	struct device *dev = &port->pdev.dev;
	int ret;

	port->bar = TWIN_BAR_START + number * TWIN_BAR_BYTES;
	port->mask = ~0ULL;
	INIT_LIST_HEAD(&port->posts);
	INIT_WORK(&port->work, twin_work);
	hrtimer_setup(&port->timer, twin_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_SOFT);
	hrtimer_setup(&port->irq, twin_irq, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_HARD);
	port->pdev.dma_mask = DMA_BIT_MASK(64);
	dev->dma_mask = &port->pdev.dma_mask;
	dev->coherent_dma_mask = DMA_BIT_MASK(64);
	dev->release = twin_release;
	dev_set_name(dev, "twin%u", number);
	ret = device_register(dev);
	if (ret)
		put_device(dev);
	return ret;
}

static int __init twin_init(void)
{
	static struct resource region = {
		.name = "ntr_twin",
		.start = TWIN_BAR_START,
		.end = TWIN_BAR_START + 2 * TWIN_BAR_BYTES - 1,
		.flags = IORESOURCE_MEM,
	};
	unsigned int i;
	int ret = 0;

	for (i = 0; i < 2 && !ret; i++)
		ret = twin_add_port(i);
	if (!ret)
		ret = logic_iomem_add_region(&region, &twin_region_ops);
	for (i = 0; i < 2 && !ret; i++) {
		twin_port[i].peer = &twin_port[1 - i];
		twin_port[i].ntb.pdev = &twin_port[i].pdev;
		twin_port[i].ntb.topo = i ? NTB_TOPO_B2B_DSD : NTB_TOPO_B2B_USD;
		twin_port[i].ntb.ops = &twin_ops;
	}
	for (i = 0; i < 2 && !ret; i++)
		ret = ntb_register_device(&twin_port[i].ntb);
	return ret;
}

module_init(twin_init);

MODULE_AUTHOR("The krdma developers");
MODULE_DESCRIPTION("Non-transparent bridge without hardware, for tests");
MODULE_LICENSE("GPL");
