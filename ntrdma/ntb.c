// SPDX-License-Identifier: GPL-2.0
/*
 * Back end "ntb": two hosts that a PCIe non-transparent bridge joins.
 *
 * It is a client of <linux/ntb.h>, and uses one memory window for each
 * direction and the doorbells. It uses neither scratchpads nor messages, because
 * each kind of bridge has only some of them. The two sides exchange their sizes
 * in the page of the window, which the core repeats until it is answered.
 *
 * The inbox is memory of this host. The bridge translates writes of the peer to
 * it. The other window is on the bus: it is written, and never read, because a
 * read takes about a microsecond.
 *
 * If the link of the bridge goes down, writes may have been lost. So the peer is
 * dropped then, which ends the session, and is added again when the link is up.
 * The same is done when the driver of the bridge says that the link has changed,
 * because it may have been down for a moment.
 *
 * A doorbell that arrives is masked, and its lanes poll. A lane takes doorbells
 * again before it looks at its rings for the last time (ntrdma_lane_unmask()).
 * If doorbells come often and bring no work, the doorbell stays masked for a
 * while, and a timer notifies its lanes.
 *
 * Contexts: the bridge calls ntrdma_ntb_link_event() and ntrdma_ntb_db_event()
 * with a spinlock held, so they only queue the work item and the lanes. The work
 * item does all else. remove() does so only after it has ended the work item.
 * Doorbells use the RDMA device in RCU read-side sections. So no locks are
 * needed.
 */
#include <linux/dma-mapping.h>
#include <linux/jiffies.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/ntb.h>
#include <linux/pci.h>
#include <linux/slab.h>

#include <compat.h>

#include "dev.h"
#include "dma.h"
#include "eth.h"

/* The windows and the peer that are used, of those that the bridge has. */
#define NTRDMA_NTB_MW		0
#define NTRDMA_NTB_PEER		0
#define NTRDMA_NTB_NAME		"ntr%d"
/* Time between two looks at the link, in ms. Events usually come first. */
#define NTRDMA_NTB_LOOK_MS	250
/* Time until the next attempt to join without an event, in ms. */
#define NTRDMA_NTB_RETRY_MS	5000
/* Size of an inbox, if the bridge and the memory permit it. */
#define NTRDMA_NTB_INBOX	SZ_16M
/* Maximum size if the bridge prescribes it. */
#define NTRDMA_NTB_INBOX_MAX	SZ_64M
/* Time for which a doorbell is ignored after a storm, in ms. */
#define NTRDMA_NTB_STORM_MS	100

static char *ntrdma_ntb_devices = "auto";
module_param_named(ntb, ntrdma_ntb_devices, charp, 0444);
MODULE_PARM_DESC(ntb, "Use PCIe non-transparent bridges: auto or off");

static bool ntrdma_ntb_is_registered;

/* Work items destroy devices, see ntrdma_shm_wq in ivshmem.c. */
static struct workqueue_struct *ntrdma_ntb_wq;

/**
 * struct ntrdma_ntb - a bridge
 * @ntb: bridge
 * @member: number of this host, 0 or 1
 * @count: number of doorbells; 0: lanes are polled by a timer
 * @bit: bits of the doorbells in the registers of the bridge
 * @masked: doorbells that are masked, by their index in @bit
 * @stormy: doorbells that stay masked until @calm
 * @calm: notifies the lanes of @stormy
 * @mem: memory that contains the inbox, or NULL
 * @mem_bytes: bytes of @mem
 * @mem_dma: DMA address of @mem
 * @in: offset of the inbox in @mem
 * @out: window to the inbox of the peer
 * @dma: DMA engine that copies to @out, or NULL
 * @bytes: bytes of each window
 * @joined: the link is up, and the device has a peer
 * @event: the state of the link has changed; xchg()
 * @error: result of the last attempt to join
 * @retry: time in jiffies from which an attempt needs no event
 * @stopping: the bridge is being removed
 * @work: follows the link
 * @netdev: interface
 * @name: name for the next device: first that of the interface
 * @dev: RDMA device, or NULL
 * @notified: device that doorbells notify, while @dev has started
 */
struct ntrdma_ntb {
	struct ntb_dev *ntb;
	u8 member;
	u8 count;
	u8 bit[NTRDMA_RINGS];
	unsigned long masked;
	unsigned long stormy;
	struct timer_list calm;
	void *mem;
	size_t mem_bytes;
	dma_addr_t mem_dma;
	size_t in;
	void __iomem *out;
	struct ntrdma_dma *dma;
	size_t bytes;
	bool joined;
	bool event;
	int error;
	unsigned long retry;
	bool stopping;
	struct delayed_work work;
	struct net_device *netdev;
	char name[IB_DEVICE_NAME_MAX];
	struct ntrdma_dev *dev;
	struct ntrdma_dev __rcu *notified;
};

static u8 ntrdma_ntb_peer(const struct ntrdma_ntb *x)
{
	return 1 - x->member;
}

/*
 * Doorbells.
 */

/* The doorbell of a lane. The last one is for Ethernet. */
static unsigned int ntrdma_ntb_bell_of(const struct ntrdma_ntb *x, u8 lane)
{
	if (lane == NTRDMA_ETH_RING || x->count == 1)
		return x->count - 1;
	return lane % (x->count - 1);
}

static bool ntrdma_ntb_has_lane(const struct ntrdma_dev *dev, u8 lane)
{
	return lane < dev->lanes || lane == NTRDMA_ETH_RING;
}

/*
 * Return false if the doorbell comes too often for each of its lanes. A doorbell
 * without lanes stays masked.
 */
static bool ntrdma_ntb_notify(struct ntrdma_ntb *x, struct ntrdma_dev *dev,
			      unsigned int bell)
{
	unsigned int lanes = 0, calm = 0;
	u8 lane;

	for (lane = 0; lane < NTRDMA_RINGS; lane++) {
		if (!ntrdma_ntb_has_lane(dev, lane) ||
		    ntrdma_ntb_bell_of(x, lane) != bell)
			continue;
		lanes++;
		calm += ntrdma_bell(dev, lane);
	}
	return calm || !lanes;
}

/*
 * The flag is set after the mask, and a lane clears it before the mask. So a
 * doorbell that is masked has the flag, or gets it before its lanes poll.
 */
static void ntrdma_ntb_take(struct ntrdma_ntb *x, unsigned int bell)
{
	struct ntrdma_dev *dev;

	ntb_db_set_mask(x->ntb, BIT_ULL(x->bit[bell]));
	smp_mb__before_atomic(); /* Pairs with ntrdma_ntb_unmask_bell(). */
	set_bit(bell, &x->masked);
	rcu_read_lock();
	dev = rcu_dereference(x->notified);
	if (dev && !ntrdma_ntb_notify(x, dev, bell) &&
	    !test_and_set_bit(bell, &x->stormy)) {
		mod_timer(&x->calm, jiffies +
			  msecs_to_jiffies(NTRDMA_NTB_STORM_MS));
		dev_warn_ratelimited(&x->ntb->dev,
				     "ntrdma: doorbell %u rings without work, so it is ignored for a while\n",
				     bell);
	}
	rcu_read_unlock();
}

static void ntrdma_ntb_db_event(void *data, int vector)
{
	struct ntrdma_ntb *x = data;
	u64 bits = ntb_db_vector_mask(x->ntb, vector) & ntb_db_read(x->ntb);
	unsigned int i;

	for (i = 0; i < x->count; i++)
		if (bits & BIT_ULL(x->bit[i]))
			ntrdma_ntb_take(x, i);
}

/* A doorbell that was ignored may have brought work. */
static void ntrdma_ntb_calm(struct timer_list *timer)
{
	struct ntrdma_ntb *x = container_of(timer, struct ntrdma_ntb, calm);
	struct ntrdma_dev *dev;
	unsigned int i;

	rcu_read_lock();
	dev = rcu_dereference(x->notified);
	for (i = 0; i < x->count; i++)
		if (test_and_clear_bit(i, &x->stormy) && dev)
			ntrdma_ntb_notify(x, dev, i);
	rcu_read_unlock();
}

/*
 * The two writes are posted. The read returns after they have arrived, so a
 * doorbell that they discard was rung before the caller looks at its rings. The
 * peer's writes before that doorbell have arrived as well.
 *
 * Return true if this call has unmasked the doorbell.
 */
static bool ntrdma_ntb_unmask_bell(struct ntrdma_ntb *x, unsigned int bell)
{
	u64 bit = BIT_ULL(x->bit[bell]);

	if (test_bit(bell, &x->stormy) || !test_and_clear_bit(bell, &x->masked))
		return false;
	ntb_db_clear(x->ntb, bit);
	ntb_db_clear_mask(x->ntb, bit);
	ntb_db_read(x->ntb);
	return true;
}

/*
 * Another lane of the doorbell may have looked at its rings before the doorbell
 * was unmasked, so let it look again.
 */
static void ntrdma_ntb_unmask(struct ntrdma_dev *dev, u8 lane)
{
	struct ntrdma_ntb *x = ntrdma_dev_priv(dev);
	unsigned int bell = ntrdma_ntb_bell_of(x, lane);
	u8 other;

	if (!ntrdma_ntb_unmask_bell(x, bell))
		return;
	for (other = 0; other < NTRDMA_RINGS; other++)
		if (other != lane && ntrdma_ntb_has_lane(dev, other) &&
		    ntrdma_ntb_bell_of(x, other) == bell)
			ntrdma_lane_schedule(&dev->lane[other]);
}

static void ntrdma_ntb_ring(struct ntrdma_dev *dev, u8 member, u8 lane)
{
	struct ntrdma_ntb *x = ntrdma_dev_priv(dev);

	ntb_peer_db_set(x->ntb, BIT_ULL(x->bit[ntrdma_ntb_bell_of(x, lane)]));
}

static void ntrdma_ntb_mask_all(struct ntrdma_ntb *x)
{
	ntb_db_set_mask(x->ntb, ntb_db_valid_mask(x->ntb));
	x->masked = GENMASK(NTRDMA_RINGS - 1, 0);
	x->stormy = 0;
}

static void ntrdma_ntb_start_bells(struct ntrdma_ntb *x, struct ntrdma_dev *dev)
{
	unsigned int i;

	rcu_assign_pointer(x->notified, dev);
	for (i = 0; i < x->count; i++)
		ntrdma_ntb_unmask_bell(x, i);
}

/* After this, no doorbell and no timer uses the device. */
static void ntrdma_ntb_stop_bells(struct ntrdma_ntb *x)
{
	RCU_INIT_POINTER(x->notified, NULL);
	synchronize_rcu();
	timer_delete_sync(&x->calm);
	ntrdma_ntb_mask_all(x);
}

/* Bridges with errata say that their doorbells must not be used. */
static void ntrdma_ntb_find_bells(struct ntrdma_ntb *x)
{
	u64 valid = ntb_db_valid_mask(x->ntb);

	if (ntb_db_is_unsafe(x->ntb))
		return;
	while (valid && x->count < NTRDMA_RINGS) {
		x->bit[x->count++] = __ffs64(valid);
		valid &= valid - 1;
	}
}

/*
 * The functions of the back end.
 */

/* The number of lanes whose smallest rings fit, beside that for Ethernet. */
static unsigned int ntrdma_ntb_lanes(struct ntrdma_dev *dev)
{
	const struct ntrdma_ntb *x = ntrdma_dev_priv(dev);
	size_t rings = (x->bytes - NTRDMA_PAGE_BYTES) / NTRDMA_RING_MIN;

	if (x->count)
		rings = min_t(size_t, rings, max_t(u8, x->count, 2));
	return min_t(size_t, rings - 1, NTRDMA_LANES);
}

static int ntrdma_ntb_add_peer(struct ntrdma_ntb *x, struct ntrdma_dev *dev)
{
	struct ntrdma_window window = {
		.in = x->mem + x->in,
		.out = x->out,
		.size = x->bytes,
	};

	return ntrdma_peer_add(dev, ntrdma_ntb_peer(x), &window);
}

static int ntrdma_ntb_start(struct ntrdma_dev *dev)
{
	struct ntrdma_ntb *x = ntrdma_dev_priv(dev);
	int ret = ntrdma_ntb_add_peer(x, dev);

	if (ret)
		return ret;
	ntrdma_eth_attach(x->netdev, dev, x->bytes);
	ntrdma_ntb_start_bells(x, dev);
	return 0;
}

static void ntrdma_ntb_stop(struct ntrdma_dev *dev)
{
	struct ntrdma_ntb *x = ntrdma_dev_priv(dev);

	ntrdma_ntb_stop_bells(x);
	ntrdma_eth_detach(x->netdev);
}

static const struct ntrdma_backend_ops ntrdma_ntb_ops = {
	.name = "ntb",
	.flags = NTRDMA_BELLS,
	.lanes = ntrdma_ntb_lanes,
	.start = ntrdma_ntb_start,
	.stop = ntrdma_ntb_stop,
	.ring = ntrdma_ntb_ring,
	.unmask = ntrdma_ntb_unmask,
};

static const struct ntrdma_backend_ops ntrdma_ntb_polled_ops = {
	.name = "ntb-polled",
	.lanes = ntrdma_ntb_lanes,
	.start = ntrdma_ntb_start,
	.stop = ntrdma_ntb_stop,
};

/*
 * The windows.
 */

static void ntrdma_ntb_free_inbox(struct ntrdma_ntb *x)
{
	if (x->mem)
		dma_free_coherent(krdma_ntb_dma_dev(x->ntb), x->mem_bytes,
				  x->mem, x->mem_dma);
	x->mem = NULL;
}

/* Allocate memory, and place an aligned inbox in it. */
static int ntrdma_ntb_alloc(struct ntrdma_ntb *x, size_t mem_bytes,
			    size_t bytes, resource_size_t align)
{
	x->mem = dma_alloc_coherent(krdma_ntb_dma_dev(x->ntb), mem_bytes,
				    &x->mem_dma, GFP_KERNEL | __GFP_NOWARN);
	if (!x->mem)
		return -ENOMEM;
	x->mem_bytes = mem_bytes;
	x->in = ALIGN(x->mem_dma, align) - x->mem_dma;
	x->bytes = bytes;
	if (x->in + bytes <= mem_bytes)
		return 0;
	ntrdma_ntb_free_inbox(x);
	return -ENOMEM;
}

/* The memory is usually aligned on its size. If not, it must be larger. */
static int ntrdma_ntb_alloc_aligned(struct ntrdma_ntb *x, size_t bytes,
				    resource_size_t align)
{
	size_t mem_bytes = max_t(size_t, bytes, align);
	int ret;

	if (mem_bytes > NTRDMA_NTB_INBOX_MAX)
		return -E2BIG;
	ret = ntrdma_ntb_alloc(x, mem_bytes, bytes, align);
	if (ret && align > PAGE_SIZE)
		ret = ntrdma_ntb_alloc(x, bytes + align, bytes, align);
	return ret;
}

/* Allocate the largest inbox for which there is memory. */
static int ntrdma_ntb_alloc_inbox(struct ntrdma_ntb *x, resource_size_t out)
{
	resource_size_t align, unit, max, bytes;
	int ret = ntb_mw_get_align(x->ntb, NTRDMA_NTB_PEER, NTRDMA_NTB_MW,
				   &align, &unit, &max);

	if (ret)
		return ret;
	align = max_t(resource_size_t, align, PAGE_SIZE);
	unit = max_t(resource_size_t, unit, PAGE_SIZE);
	bytes = min3(max, out, (resource_size_t)NTRDMA_NTB_INBOX);
	if (!is_power_of_2(align) || bytes < unit || bytes < NTRDMA_INBOX_MIN)
		return -EINVAL;
	/* A smaller inbox than the alignment needs no less memory. */
	do {
		bytes -= bytes % unit;
		ret = ntrdma_ntb_alloc_aligned(x, bytes, align);
		bytes /= 2;
	} while (ret == -ENOMEM && bytes >= max(unit, align) &&
		 bytes >= NTRDMA_INBOX_MIN);
	return ret;
}

static void ntrdma_ntb_find_dma(struct ntrdma_ntb *x, phys_addr_t window)
{
	struct device *dev = &x->ntb->dev;

	if (!ntrdma_dma_min)
		return;
	x->dma = ntrdma_dma_open(&x->ntb->pdev->dev, window, x->bytes);
	if (x->dma)
		dev_info(dev, "ntrdma: %s copies %u bytes and more\n",
			 ntrdma_dma_name(x->dma), ntrdma_dma_min);
	else
		dev_warn(dev,
			 "ntrdma: no DMA engine can copy, so processors copy\n");
}

/* The windows stay until the bridge is removed. */
static int ntrdma_ntb_map(struct ntrdma_ntb *x)
{
	resource_size_t bytes;
	phys_addr_t base;
	int ret;

	if (x->out)
		return 0;
	ret = ntb_peer_mw_get_addr(x->ntb, NTRDMA_NTB_MW, &base, &bytes);
	if (ret)
		return ret;
	ret = ntrdma_ntb_alloc_inbox(x, bytes);
	if (ret)
		return ret;
	x->out = ioremap_wc(base, x->bytes);
	if (!x->out) {
		ntrdma_ntb_free_inbox(x);
		return -ENOMEM;
	}
	ntrdma_ntb_find_dma(x, base);
	return 0;
}

static void ntrdma_ntb_unmap(struct ntrdma_ntb *x)
{
	ntrdma_dma_close(x->dma);
	if (x->out)
		iounmap(x->out);
	ntrdma_ntb_free_inbox(x);
}

/*
 * The link.
 */

static int ntrdma_ntb_add_dev(struct ntrdma_ntb *x)
{
	struct ntrdma_config config = {
		.ops = x->count ? &ntrdma_ntb_ops : &ntrdma_ntb_polled_ops,
		.priv = x,
		.name = x->name,
		.member = x->member,
		.members = 2,
		.bells = x->count,
		.netdev = x->netdev,
		.eth = true,
		.copy_ops = x->dma ? &ntrdma_dma_ops : NULL,
		.copy_priv = x->dma,
		.copy_min = ntrdma_dma_min,
	};
	struct ntrdma_dev *dev = ntrdma_dev_create(&config);

	if (dev == ERR_PTR(-ENFILE)) {
		/* Another device has the name. */
		strscpy(x->name, NTRDMA_NTB_NAME, sizeof(x->name));
		dev = ntrdma_dev_create(&config);
	}
	if (IS_ERR(dev))
		return PTR_ERR(dev);
	x->dev = dev;
	dev_info(&x->ntb->dev,
		 "ntrdma: member %u of 2, %zu KiB for each direction, %u doorbells, %s\n",
		 x->member, x->bytes / SZ_1K, x->count,
		 netdev_name(x->netdev));
	return 0;
}

static int ntrdma_ntb_join(struct ntrdma_ntb *x)
{
	int ret = ntrdma_ntb_map(x);

	if (ret)
		return ret;
	ret = ntb_mw_set_trans(x->ntb, NTRDMA_NTB_PEER, NTRDMA_NTB_MW,
			       x->mem_dma + x->in, x->bytes);
	if (ret)
		return ret;
	ret = x->dev ? ntrdma_ntb_add_peer(x, x->dev) : ntrdma_ntb_add_dev(x);
	if (ret) {
		ntb_mw_clear_trans(x->ntb, NTRDMA_NTB_PEER, NTRDMA_NTB_MW);
		return ret;
	}
	x->joined = true;
	return 0;
}

static void ntrdma_ntb_leave(struct ntrdma_ntb *x)
{
	if (!x->joined)
		return;
	x->joined = false;
	if (x->dev)
		ntrdma_peer_drop(x->dev, ntrdma_ntb_peer(x),
				 NTRDMA_REASON_DOWN);
	ntb_mw_clear_trans(x->ntb, NTRDMA_NTB_PEER, NTRDMA_NTB_MW);
}

/* A last poll may have taken doorbells again, so mask them once more. */
static void ntrdma_ntb_del_dev(struct ntrdma_ntb *x)
{
	if (x->dev)
		ntrdma_dev_destroy(x->dev, x->name);
	x->dev = NULL;
	ntrdma_ntb_mask_all(x);
	ntrdma_ntb_leave(x);
}

static void ntrdma_ntb_try_join(struct ntrdma_ntb *x)
{
	int ret = ntrdma_ntb_join(x);

	if (ret == -E2BIG && x->error != ret)
		dev_err(&x->ntb->dev,
			"ntrdma: the bridge requires an inbox of more than %u MiB, so make its BAR smaller\n",
			NTRDMA_NTB_INBOX_MAX / SZ_1M);
	else if (ret && x->error != ret)
		dev_err(&x->ntb->dev, "ntrdma: cannot join: %d\n", ret);
	x->error = ret;
	x->retry = jiffies + msecs_to_jiffies(NTRDMA_NTB_RETRY_MS);
}

static void ntrdma_ntb_work(struct work_struct *work)
{
	struct ntrdma_ntb *x = container_of(to_delayed_work(work),
					    struct ntrdma_ntb, work);
	bool event, up;

	if (READ_ONCE(x->stopping))
		return;
	event = xchg(&x->event, false);
	up = ntb_link_is_up(x->ntb, NULL, NULL) & BIT_ULL(NTRDMA_NTB_PEER);
	/* rxe was unloaded, see uverbs.c. */
	if (x->dev && ntrdma_dev_has_ended(x->dev))
		ntrdma_ntb_del_dev(x);
	if (!up || event)
		ntrdma_ntb_leave(x);
	if (up && !x->joined && (event || time_after(jiffies, x->retry)))
		ntrdma_ntb_try_join(x);
	queue_delayed_work(ntrdma_ntb_wq, &x->work,
			   msecs_to_jiffies(NTRDMA_NTB_LOOK_MS));
}

static void ntrdma_ntb_link_event(void *data)
{
	struct ntrdma_ntb *x = data;

	xchg(&x->event, true);
	if (!READ_ONCE(x->stopping))
		mod_delayed_work(ntrdma_ntb_wq, &x->work, 0);
}

static const struct ntb_ctx_ops ntrdma_ntb_ctx_ops = {
	.link_event = ntrdma_ntb_link_event,
	.db_event = ntrdma_ntb_db_event,
};

/*
 * The client.
 */

/* Return the reason why a bridge cannot be used, or NULL. */
static const char *ntrdma_ntb_unfit(struct ntb_dev *ntb)
{
	if (ntb_peer_port_count(ntb) != 1)
		return "it does not have exactly one peer";
	if (!ntb->ops->mw_set_trans)
		return "only the peer can translate its windows";
	if (ntb_mw_count(ntb, NTRDMA_NTB_PEER) <= NTRDMA_NTB_MW ||
	    ntb_peer_mw_count(ntb) <= NTRDMA_NTB_MW)
		return "it has no memory window";
	if (ntb_port_number(ntb) ==
	    ntb_peer_port_number(ntb, NTRDMA_NTB_PEER))
		return "both sides have the same number";
	return NULL;
}

static int ntrdma_ntb_open(struct ntrdma_ntb *x)
{
	struct ntb_dev *ntb = x->ntb;
	int ret;

	x->member = ntb_port_number(ntb) >
		    ntb_peer_port_number(ntb, NTRDMA_NTB_PEER);
	ntrdma_ntb_find_bells(x);
	ntrdma_ntb_mask_all(x);
	x->netdev = ntrdma_eth_create(dev_name(&ntb->dev));
	if (IS_ERR(x->netdev))
		return PTR_ERR(x->netdev);
	strscpy(x->name, netdev_name(x->netdev), sizeof(x->name));
	ret = ntb_set_ctx(ntb, x, &ntrdma_ntb_ctx_ops);
	if (ret)
		goto netdev;
	/*
	 * On some bridges only one side can enable the link, and the driver of
	 * the other side returns an error.
	 */
	ntb_link_enable(ntb, NTB_SPEED_AUTO, NTB_WIDTH_AUTO);
	ntrdma_ntb_link_event(x);
	return 0;

netdev:
	ntrdma_eth_destroy(x->netdev);
	return ret;
}

static int ntrdma_ntb_probe(struct ntb_client *client, struct ntb_dev *ntb)
{
	const char *why = ntrdma_ntb_unfit(ntb);
	struct ntrdma_ntb *x;
	int ret;

	if (why) {
		dev_info(&ntb->dev, "ntrdma: not used, because %s\n", why);
		return -EOPNOTSUPP;
	}
	x = kzalloc(sizeof(*x), GFP_KERNEL);
	if (!x)
		return -ENOMEM;
	x->ntb = ntb;
	INIT_DELAYED_WORK(&x->work, ntrdma_ntb_work);
	timer_setup(&x->calm, ntrdma_ntb_calm, 0);
	x->retry = jiffies;
	ret = ntrdma_ntb_open(x);
	if (ret)
		kfree(x);
	return ret;
}

/*
 * The device says that it leaves while the link is still up. A link event may
 * queue the work item until the context is cleared.
 */
static void ntrdma_ntb_remove(struct ntb_client *client, struct ntb_dev *ntb)
{
	struct ntrdma_ntb *x = ntb->ctx;

	WRITE_ONCE(x->stopping, true);
	cancel_delayed_work_sync(&x->work);
	ntrdma_ntb_del_dev(x);
	ntb_clear_ctx(ntb);
	cancel_delayed_work_sync(&x->work);
	ntb_link_disable(ntb);
	ntrdma_eth_destroy(x->netdev);
	ntrdma_ntb_unmap(x);
	kfree(x);
}

static struct ntb_client ntrdma_ntb_client = {
	.ops = {
		.probe = ntrdma_ntb_probe,
		.remove = ntrdma_ntb_remove,
	},
};

/**
 * ntrdma_ntb_bad_param - check the parameters of this back end
 *
 * Return: text for the log, or NULL if they are valid.
 */
const char *ntrdma_ntb_bad_param(void)
{
	if (strcmp(ntrdma_ntb_devices, "auto") &&
	    strcmp(ntrdma_ntb_devices, "off"))
		return "ntb must be auto or off";
	return NULL;
}

/**
 * ntrdma_ntb_init - look for bridges
 *
 * Context: may sleep.
 * Return: 0 or an error code.
 */
int ntrdma_ntb_init(void)
{
	int ret;

	if (!strcmp(ntrdma_ntb_devices, "off"))
		return 0;
	ntrdma_ntb_wq = alloc_workqueue("ntrdma_ntb",
					WQ_UNBOUND | WQ_FREEZABLE, 0);
	if (!ntrdma_ntb_wq)
		return -ENOMEM;
	ret = ntb_register_client(&ntrdma_ntb_client);
	if (ret)
		destroy_workqueue(ntrdma_ntb_wq);
	ntrdma_ntb_is_registered = !ret;
	return ret;
}

/**
 * ntrdma_ntb_exit - destroy all devices of this back end
 *
 * Context: may sleep.
 */
void ntrdma_ntb_exit(void)
{
	if (!ntrdma_ntb_is_registered)
		return;
	ntb_unregister_client(&ntrdma_ntb_client);
	destroy_workqueue(ntrdma_ntb_wq);
}
