// SPDX-License-Identifier: GPL-2.0
/*
 * Back end "ivshmem": virtual machines with a shared memory device of QEMU.
 *
 * The device tells neither who else uses the memory nor when another machine
 * ends. The first page of the memory is a directory (dir.c), in which each
 * machine claims a slot. The slot gives the machine its number. A timer moves
 * the beat of the slot, so that others see that it is in use. A machine with
 * doorbells (bells.c) also writes the number for its doorbells into the slot.
 *
 * A machine that was paused for long can lose its slot, and any machine can
 * overwrite the directory. The device checks before each use of its windows that
 * the slot has the number of this machine (ntrdma_config.lease). If nobody else
 * has the slot, the machine takes it again, and new sessions begin.
 * Otherwise the RDMA device is destroyed, and the machine claims another slot.
 * The interface stays, with its addresses.
 *
 * Firmware makes the memory of PCI devices uncached, and memremap() follows the
 * firmware. But this memory is the host's. So a guest on x86 maps the pages
 * itself, cached.
 *
 * Contexts: the work item joins and leaves. probe(), remove() and shutdown() do
 * so only after they have ended the work item. The timer reads and writes the
 * directory while ntrdma_shm.joined is set. So no locks are needed.
 *
 * There is no alias for the PCI device, because it also serves other software.
 * The module is loaded by name, and takes only devices whose memory is empty or
 * has a directory.
 */
#include <linux/dmi.h>
#include <linux/etherdevice.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/stringhash.h>
#include <linux/vmalloc.h>
#ifdef CONFIG_X86
#include <asm/cpufeature.h>
#endif

#include <compat.h>

#include "bells.h"
#include "dev.h"
#include "dir.h"
#include "eth.h"
#include "win.h"

#define NTRDMA_SHM_VENDOR	0x1af4
#define NTRDMA_SHM_DEVICE	0x1110
/* The memory is BAR 2. */
#define NTRDMA_SHM_BAR		2
/* Name of a device that had none yet. */
#define NTRDMA_SHM_NAME		"ntr%d"
/* Default number of members of a new directory. */
#define NTRDMA_SHM_MEMBERS	2
/* Time between two attempts to join, in ms. */
#define NTRDMA_SHM_JOIN_MS	100
/* Time between two looks at the directory, and between two beats, in ms. */
#define NTRDMA_SHM_BEAT_MS	250
/* Steps of one attempt to join. */
#define NTRDMA_SHM_STEPS	8
/* Bytes that are read to compare the memory with ordinary memory. */
#define NTRDMA_SHM_SPEED	SZ_256K
#define NTRDMA_SHM_TRIES	16
/* The memory is slow if ordinary memory is this number of times faster. */
#define NTRDMA_SHM_SLOW		8
/* Maximum number of addresses in the parameter ivshmem. */
#define NTRDMA_SHM_LIST		16
/* Begin of all MAC addresses of interfaces. */
#define NTRDMA_SHM_MAC		{ 0x02, 0x6e, 0x74 }

static char *ntrdma_shm_devices = "auto";
module_param_named(ivshmem, ntrdma_shm_devices, charp, 0444);
MODULE_PARM_DESC(ivshmem,
		 "Shared memory devices to use: auto, off, or PCI addresses with commas");

static unsigned int ntrdma_shm_members;
module_param_named(members, ntrdma_shm_members, uint, 0444);
MODULE_PARM_DESC(members,
		 "Number of machines that share a memory, 2 to 16; 0: as the first one has decided, which takes 2");

/* Place of a PCI device, as in the parameter. */
struct ntrdma_shm_place {
	unsigned int domain;
	unsigned int bus;
	unsigned int slot;
	unsigned int function;
};

static struct ntrdma_shm_place ntrdma_shm_list[NTRDMA_SHM_LIST];
static unsigned int ntrdma_shm_listed;
static bool ntrdma_shm_is_auto;

/*
 * The queue of the work items. They destroy devices, which waits for work items
 * of queues that do not help to free memory. They do not run while the machine
 * is suspended.
 */
static struct workqueue_struct *ntrdma_shm_wq;

/**
 * struct ntrdma_shm - a PCI device
 * @pdev: PCI device
 * @mem: its memory
 * @bytes: bytes of @mem
 * @is_pfn: @mem was mapped by its page frame numbers
 * @bells: doorbells
 * @copy: copy of the directory; work item
 * @dir: knowledge about the directory
 * @geo: constant part of the directory when this machine joined
 * @member: number of this machine, while @joined
 * @joined: this machine has a slot
 * @beat: last beat of the slot; timer
 * @stopping: the device is being removed
 * @begun: probe() has succeeded
 * @error: result of the last attempt to join
 * @said_full: it was logged that all slots are in use
 * @work: joins, and looks for slots of dead machines
 * @timer: beats, and notices when the slot is lost
 * @netdev: interface
 * @name: name for the next device, with %d before the first one
 * @dev: RDMA device, while @joined
 */
struct ntrdma_shm {
	struct pci_dev *pdev;
	void *mem;
	u64 bytes;
	bool is_pfn;
	struct ntrdma_bells bells;
	struct ntrdma_wire_dir copy;
	struct ntrdma_dir dir;
	struct ntrdma_geometry geo;
	u8 member;
	bool joined;
	u32 beat;
	bool stopping;
	bool begun;
	int error;
	bool said_full;
	struct delayed_work work;
	struct timer_list timer;
	struct net_device *netdev;
	char name[IB_DEVICE_NAME_MAX];
	struct ntrdma_dev *dev;
};

static u64 ntrdma_shm_now(void)
{
	return ktime_to_ms(ktime_get()) + 1;
}

static struct ntrdma_wire_dir *ntrdma_shm_dir(const struct ntrdma_shm *shm)
{
	return shm->mem;
}

static struct ntrdma_wire_slot *ntrdma_shm_slot(const struct ntrdma_shm *shm,
						unsigned int slot)
{
	return &ntrdma_shm_dir(shm)->slots[slot];
}

/*
 * The directory.
 */

/* Return true if this machine still has its slot. */
static bool ntrdma_shm_has_slot(const struct ntrdma_shm *shm)
{
	const struct ntrdma_wire_slot *slot = ntrdma_shm_slot(shm, shm->member);
	struct ntrdma_wire_dir_head head;

	ntrdma_win_copy(&head, shm->mem, sizeof(head));
	return ntrdma_dir_is_same(&head, shm->bytes, &shm->geo) &&
	       le64_to_cpu(READ_ONCE(slot->owner)) == shm->dir.owner;
}

static void ntrdma_shm_beat(struct timer_list *timer)
{
	struct ntrdma_shm *shm = container_of(timer, struct ntrdma_shm, timer);
	struct ntrdma_wire_slot *slot = ntrdma_shm_slot(shm, shm->member);

	if (ntrdma_shm_has_slot(shm))
		WRITE_ONCE(slot->beat, cpu_to_le32(++shm->beat));
	else if (!READ_ONCE(shm->stopping))
		mod_delayed_work(ntrdma_shm_wq, &shm->work, 0);
	mod_timer(timer, jiffies + msecs_to_jiffies(NTRDMA_SHM_BEAT_MS));
}

/* Return true if a machine has claimed a slot since the last look. */
static bool ntrdma_shm_is_claimed(const struct ntrdma_shm *shm)
{
	unsigned int i;

	for (i = 0; i < NTRDMA_MEMBERS; i++)
		if (le64_to_cpu(READ_ONCE(ntrdma_shm_slot(shm, i)->owner)) !=
		    shm->dir.seen[i].owner)
			return true;
	return false;
}

/* Write an empty directory, unless another machine writes one. */
static int ntrdma_shm_format(struct ntrdma_shm *shm)
{
	u64 busy = NTRDMA_DIR_BUSY << 32 | get_random_u32();
	struct ntrdma_wire_dir *dir = ntrdma_shm_dir(shm);
	struct ntrdma_geometry geo;

	if (!ntrdma_dir_choose(shm->bytes,
			       ntrdma_shm_members ?: NTRDMA_SHM_MEMBERS, &geo)) {
		pci_err(shm->pdev,
			"ntrdma: %llu bytes are too few for %u members\n",
			shm->bytes, ntrdma_shm_members ?: NTRDMA_SHM_MEMBERS);
		return -ENOSPC;
	}
	geo.fabric = get_random_u64();
	if (!ntrdma_win_exchange(&dir->head.magic, shm->dir.magic, busy))
		return 0;
	if (ntrdma_shm_is_claimed(shm)) {
		ntrdma_win_exchange(&dir->head.magic, busy, shm->dir.magic);
		return 0;
	}
	ntrdma_dir_format(&shm->copy, &geo);
	memcpy((void *)dir + sizeof(dir->head.magic),
	       (void *)&shm->copy + sizeof(dir->head.magic),
	       sizeof(*dir) - sizeof(dir->head.magic));
	virt_wmb(); /* Pairs with virt_rmb() in ntrdma_shm_look(). */
	ntrdma_win_exchange(&dir->head.magic, busy, NTRDMA_DIR_MAGIC);
	return 0;
}

/* Tell the others the number for the doorbells of this machine. */
static void ntrdma_shm_set_bell(const struct ntrdma_shm *shm)
{
	WRITE_ONCE(ntrdma_shm_slot(shm, shm->member)->bell,
		   cpu_to_le32(shm->bells.count ? shm->bells.id + 1 : 0));
}

/* Take a slot. Return true if this machine is a member now. */
static bool ntrdma_shm_claim(struct ntrdma_shm *shm, u8 slot)
{
	ntrdma_dir_geometry(&shm->copy.head, shm->bytes, &shm->geo);
	if (!ntrdma_win_exchange(&ntrdma_shm_slot(shm, slot)->owner,
				 shm->dir.seen[slot].owner, shm->dir.owner))
		return false;
	shm->member = slot;
	shm->dir.prefer = slot;
	shm->dir.ours = true;
	ntrdma_shm_set_bell(shm);
	return ntrdma_shm_has_slot(shm);
}

/*
 * The word magic is written first and last, so it is read before and after all
 * other words.
 */
static enum ntrdma_dir_step ntrdma_shm_look(struct ntrdma_shm *shm, u8 *slot)
{
	const __le64 *magic = &ntrdma_shm_dir(shm)->head.magic;
	__le64 before = READ_ONCE(*magic);

	virt_rmb(); /* Pairs with virt_wmb() in ntrdma_shm_format(). */
	ntrdma_win_copy(&shm->copy, shm->mem, sizeof(shm->copy));
	virt_rmb(); /* Pairs with ntrdma_win_exchange() in that function. */
	if (READ_ONCE(*magic) != before)
		return NTRDMA_DIR_WAIT;
	shm->copy.head.magic = before;
	return ntrdma_dir_look(&shm->dir, &shm->copy, ntrdma_shm_now(), slot);
}

/* Return 0 if this machine has a slot, -EAGAIN to try later, or an error. */
static int ntrdma_shm_try_slot(struct ntrdma_shm *shm)
{
	unsigned int i;
	int ret;
	u8 slot;

	for (i = 0; i < NTRDMA_SHM_STEPS; i++) {
		switch (ntrdma_shm_look(shm, &slot)) {
		case NTRDMA_DIR_FOREIGN:
			return -EBUSY;
		case NTRDMA_DIR_FORMAT:
			ret = ntrdma_shm_format(shm);
			if (ret)
				return ret;
			break;
		case NTRDMA_DIR_CLAIM:
			if (ntrdma_shm_claim(shm, slot))
				return 0;
			break;
		case NTRDMA_DIR_FULL:
			if (!shm->said_full)
				pci_info(shm->pdev,
					 "ntrdma: all %u members are there, waiting\n",
					 le32_to_cpu(shm->copy.head.members));
			shm->said_full = true;
			return -EAGAIN;
		case NTRDMA_DIR_WAIT:
			return -EAGAIN;
		}
	}
	return -EAGAIN;
}

/*
 * Give the slots of dead machines back, so that a machine that comes later does
 * not have to wait.
 */
static void ntrdma_shm_bury(struct ntrdma_shm *shm)
{
	unsigned int i;
	u8 slot;

	ntrdma_shm_look(shm, &slot);
	for (i = 0; i < shm->geo.members; i++)
		if (i != shm->member && ntrdma_dir_is_dead(&shm->dir, i))
			ntrdma_win_exchange(&ntrdma_shm_slot(shm, i)->owner,
					    shm->dir.seen[i].owner, 0);
}

/*
 * Functions of the back end.
 */

/*
 * The number of lanes whose smallest rings fit, beside that for Ethernet, and
 * that have a doorbell of their own.
 */
static unsigned int ntrdma_shm_lanes(struct ntrdma_dev *dev)
{
	const struct ntrdma_shm *shm = ntrdma_dev_priv(dev);
	u64 rings = div_u64(shm->geo.inbox - NTRDMA_PAGE_BYTES,
			    NTRDMA_RING_MIN);

	if (shm->bells.count)
		rings = min_t(u64, rings, max(shm->bells.count, 2U));
	return min_t(u64, rings - 1, NTRDMA_LANES);
}

static int ntrdma_shm_add(struct ntrdma_shm *shm, struct ntrdma_dev *dev,
			  u8 peer)
{
	u64 in = ntrdma_dir_inbox(&shm->geo, shm->member, peer);
	u64 out = ntrdma_dir_inbox(&shm->geo, peer, shm->member);
	struct ntrdma_window window = {
		.in = shm->mem + in,
		.out = ntrdma_win_out(shm->mem + out),
		.size = shm->geo.inbox,
	};

	return ntrdma_peer_add(dev, peer, &window);
}

static int ntrdma_shm_start(struct ntrdma_dev *dev)
{
	struct ntrdma_shm *shm = ntrdma_dev_priv(dev);
	unsigned int i;
	int ret;

	for (i = 0; i < shm->geo.members; i++) {
		if (i == shm->member)
			continue;
		ret = ntrdma_shm_add(shm, dev, i);
		if (ret)
			return ret;
	}
	ntrdma_eth_attach(shm->netdev, dev, shm->geo.inbox);
	ntrdma_bells_start(&shm->bells, dev);
	return 0;
}

static void ntrdma_shm_stop(struct ntrdma_dev *dev)
{
	struct ntrdma_shm *shm = ntrdma_dev_priv(dev);

	ntrdma_bells_stop(&shm->bells);
	ntrdma_eth_detach(shm->netdev);
}

static void ntrdma_shm_ring(struct ntrdma_dev *dev, u8 member, u8 lane)
{
	const struct ntrdma_shm *shm = ntrdma_dev_priv(dev);
	u32 bell = le32_to_cpu(READ_ONCE(ntrdma_shm_slot(shm, member)->bell));

	if (bell && bell - 1 <= U16_MAX)
		ntrdma_bells_ring(&shm->bells, bell - 1, lane);
}

/*
 * The windows stay until the PCI device is removed, so nothing is released
 * before.
 */
static const struct ntrdma_backend_ops ntrdma_shm_bell_ops = {
	.name = "ivshmem-doorbell",
	.flags = NTRDMA_COHERENT | NTRDMA_BELLS,
	.lanes = ntrdma_shm_lanes,
	.start = ntrdma_shm_start,
	.stop = ntrdma_shm_stop,
	.ring = ntrdma_shm_ring,
};

static const struct ntrdma_backend_ops ntrdma_shm_ops = {
	.name = "ivshmem",
	.flags = NTRDMA_COHERENT,
	.lanes = ntrdma_shm_lanes,
	.start = ntrdma_shm_start,
	.stop = ntrdma_shm_stop,
};

/*
 * Joining and leaving.
 */

/* The address of an interface tells the group and the member. */
static void ntrdma_shm_mac(const struct ntrdma_shm *shm, u8 *mac)
{
	static const u8 begin[] = NTRDMA_SHM_MAC;

	memcpy(mac, begin, sizeof(begin));
	mac[3] = shm->geo.fabric >> 8;
	mac[4] = shm->geo.fabric;
	mac[5] = shm->member + 1;
}

static int ntrdma_shm_add_dev(struct ntrdma_shm *shm)
{
	struct ntrdma_config config = {
		.ops = shm->bells.count ? &ntrdma_shm_bell_ops :
					  &ntrdma_shm_ops,
		.priv = shm,
		.name = shm->name,
		.member = shm->member,
		.members = shm->geo.members,
		.bells = shm->bells.count,
		.netdev = shm->netdev,
		.eth = true,
		.lease = &ntrdma_shm_slot(shm, shm->member)->owner,
		.lease_value = cpu_to_le64(shm->dir.owner),
	};
	struct ntrdma_dev *dev;
	u8 mac[ETH_ALEN];

	ntrdma_shm_mac(shm, mac);
	ntrdma_eth_set_mac(shm->netdev, mac);
	dev = ntrdma_dev_create(&config);
	if (IS_ERR(dev)) {
		/* Another device may have the name now. */
		strscpy(shm->name, NTRDMA_SHM_NAME, sizeof(shm->name));
		return PTR_ERR(dev);
	}
	shm->dev = dev;
	return 0;
}

/*
 * Give the slot back, if this machine still has it. It beats until then, because
 * others must not take the slot while the windows are in use.
 */
static void ntrdma_shm_leave_slot(struct ntrdma_shm *shm)
{
	if (!shm->joined)
		return;
	shm->joined = false;
	timer_delete_sync(&shm->timer);
	if (ntrdma_shm_has_slot(shm))
		ntrdma_win_exchange(&ntrdma_shm_slot(shm, shm->member)->owner,
				    shm->dir.owner, 0);
}

static void ntrdma_shm_leave(struct ntrdma_shm *shm)
{
	if (shm->dev)
		ntrdma_dev_destroy(shm->dev, shm->name);
	shm->dev = NULL;
	ntrdma_shm_leave_slot(shm);
}

/* Return 0 if this machine has joined, -EAGAIN to try later, or an error. */
static int ntrdma_shm_join(struct ntrdma_shm *shm)
{
	int ret = ntrdma_shm_try_slot(shm);

	if (ret)
		return ret;
	shm->joined = true;
	shm->said_full = false;
	mod_timer(&shm->timer, jiffies);
	ret = ntrdma_shm_add_dev(shm);
	if (ret) {
		ntrdma_shm_leave_slot(shm);
		return ret;
	}
	pci_info(shm->pdev,
		 "ntrdma: member %u of %u, %llu KiB for each pair, %s\n",
		 shm->member, shm->geo.members, shm->geo.inbox / SZ_1K,
		 netdev_name(shm->netdev));
	return 0;
}

/*
 * Take the slot again that others have given back because this machine was
 * paused, unless the directory has been formatted again.
 */
static bool ntrdma_shm_retake(struct ntrdma_shm *shm)
{
	if (!ntrdma_win_exchange(&ntrdma_shm_slot(shm, shm->member)->owner, 0,
				 shm->dir.owner))
		return false;
	ntrdma_shm_set_bell(shm);
	return ntrdma_shm_has_slot(shm);
}

static void ntrdma_shm_stay(struct ntrdma_shm *shm)
{
	/* rxe was unloaded, see uverbs.c. */
	if (ntrdma_dev_has_ended(shm->dev)) {
		pci_info(shm->pdev,
			 "ntrdma: another driver has unregistered the device, joining again\n");
		ntrdma_shm_leave(shm);
		return;
	}
	if (ntrdma_shm_has_slot(shm) || ntrdma_shm_retake(shm)) {
		ntrdma_shm_bury(shm);
		return;
	}
	dev_warn_ratelimited(&shm->pdev->dev,
			     "ntrdma: another machine has changed the directory, joining again\n");
	ntrdma_shm_leave(shm);
	strscpy(shm->name, NTRDMA_SHM_NAME, sizeof(shm->name));
}

static void ntrdma_shm_work(struct work_struct *work)
{
	struct ntrdma_shm *shm = container_of(to_delayed_work(work),
					      struct ntrdma_shm, work);

	if (READ_ONCE(shm->stopping))
		return;
	if (shm->joined) {
		ntrdma_shm_stay(shm);
	} else {
		shm->error = ntrdma_shm_join(shm);
		if (shm->error && shm->error != -EAGAIN && shm->begun)
			dev_err_ratelimited(&shm->pdev->dev,
					    "ntrdma: cannot join: %d\n",
					    shm->error);
	}
	queue_delayed_work(ntrdma_shm_wq, &shm->work,
			   msecs_to_jiffies(shm->joined ? NTRDMA_SHM_BEAT_MS :
					    NTRDMA_SHM_JOIN_MS));
}

/*
 * The work item starts the timer, and the timer queues the work item. The flag
 * ends this circle: a work item that the timer queues last does nothing. The
 * timer goes on.
 */
static void ntrdma_shm_end_work(struct ntrdma_shm *shm)
{
	WRITE_ONCE(shm->stopping, true);
	cancel_delayed_work_sync(&shm->work);
}

static void ntrdma_shm_end(struct ntrdma_shm *shm)
{
	ntrdma_shm_end_work(shm);
	ntrdma_shm_leave(shm);
	cancel_delayed_work_sync(&shm->work);
	ntrdma_eth_destroy(shm->netdev);
}

/*
 * The memory.
 */

#if defined(CONFIG_X86) && defined(CONFIG_VMAP_PFN)
/*
 * Map the memory cached, whatever the firmware says. The memory is shared with
 * the host, so it is not encrypted.
 */
static void *ntrdma_shm_map_pfns(phys_addr_t start, u64 bytes)
{
	unsigned long count = bytes >> PAGE_SHIFT;
	unsigned long *pfns, i;
	void *mem;

	/* vmap_pfn() takes no pages for which there could be a struct page. */
	if (pfn_valid(PHYS_PFN(start)) ||
	    pfn_valid(PHYS_PFN(start + bytes - 1)))
		return NULL;
	pfns = kvmalloc_array(count, sizeof(*pfns), GFP_KERNEL);
	if (!pfns)
		return NULL;
	for (i = 0; i < count; i++)
		pfns[i] = PHYS_PFN(start) + i;
	mem = vmap_pfn(pfns, count, pgprot_decrypted(PAGE_KERNEL));
	kvfree(pfns);
	return mem;
}

static bool ntrdma_shm_is_guest(void)
{
	return boot_cpu_has(X86_FEATURE_HYPERVISOR);
}
#else
static void *ntrdma_shm_map_pfns(phys_addr_t start, u64 bytes)
{
	return NULL;
}

static bool ntrdma_shm_is_guest(void)
{
	return false;
}
#endif

static int ntrdma_shm_map(struct ntrdma_shm *shm)
{
	phys_addr_t start = pci_resource_start(shm->pdev, NTRDMA_SHM_BAR);

	shm->bytes = pci_resource_len(shm->pdev, NTRDMA_SHM_BAR);
	if (ntrdma_shm_is_guest())
		shm->mem = ntrdma_shm_map_pfns(start, shm->bytes);
	shm->is_pfn = shm->mem;
	if (!shm->mem)
		shm->mem = memremap(start, shm->bytes, MEMREMAP_WB);
	return shm->mem ? 0 : -ENOMEM;
}

static void ntrdma_shm_unmap(struct ntrdma_shm *shm)
{
	if (shm->is_pfn)
		vunmap(shm->mem);
	else
		memunmap(shm->mem);
}

/* Return the time of reading memory in ns, or BEST if that is shorter. */
static u64 ntrdma_shm_time(void *to, const void *from, u64 best)
{
	u64 start = ktime_get_ns();

	memcpy(to, from, NTRDMA_SHM_SPEED);
	return min(best, ktime_get_ns() - start);
}

/*
 * Say if the processor does not cache the memory. The two memories are read in
 * turn, because a host that is busy for a while must not slow down only one.
 */
static void ntrdma_shm_check_speed(struct ntrdma_shm *shm)
{
	void *from = kvzalloc(NTRDMA_SHM_SPEED, GFP_KERNEL);
	void *to = kvzalloc(NTRDMA_SHM_SPEED, GFP_KERNEL);
	u64 ours = U64_MAX, theirs = U64_MAX;
	unsigned int i;

	if (!from || !to || shm->bytes < NTRDMA_SHM_SPEED)
		goto out;
	for (i = 0; i < NTRDMA_SHM_TRIES; i++) {
		ours = ntrdma_shm_time(to, from, ours);
		theirs = ntrdma_shm_time(to, shm->mem, theirs);
	}
	if (theirs / NTRDMA_SHM_SLOW > ours)
		pci_warn(shm->pdev,
			 "ntrdma: the memory is not cached: reading takes %llu ns instead of %llu ns\n",
			 theirs, ours);
out:
	kvfree(from);
	kvfree(to);
}

/*
 * The PCI driver.
 */

/* Return true if the parameter names this device. */
static bool ntrdma_shm_is_listed(const struct pci_dev *pdev)
{
	const struct ntrdma_shm_place *place;
	unsigned int i;

	for (i = 0; i < ntrdma_shm_listed; i++) {
		place = &ntrdma_shm_list[i];
		if (place->domain == pci_domain_nr(pdev->bus) &&
		    place->bus == pdev->bus->number &&
		    place->slot == PCI_SLOT(pdev->devfn) &&
		    place->function == PCI_FUNC(pdev->devfn))
			return true;
	}
	return false;
}

/*
 * The upper half of the number is the same for all lives of the machine, if its
 * firmware has a UUID. The lower half is random.
 */
static u64 ntrdma_shm_owner(const struct pci_dev *pdev)
{
	const char *uuid = dmi_get_system_info(DMI_PRODUCT_UUID);
	u32 machine = 0, life;

	if (uuid && strpbrk(uuid, "123456789abcdefABCDEF"))
		machine = full_name_hash(NULL, uuid, strlen(uuid)) ^
			  pci_dev_id((struct pci_dev *)pdev);
	do {
		life = get_random_u32();
	} while (!life);
	return (u64)machine << 32 | life;
}

static void ntrdma_shm_dir_init(struct ntrdma_shm *shm)
{
	shm->dir.owner = ntrdma_shm_owner(shm->pdev);
	shm->dir.bytes = shm->bytes;
	shm->dir.members = ntrdma_shm_members;
	shm->dir.dead_ms = max_t(u32, 2 * ntrdma_dead_ms, NTRDMA_DIR_DEAD_MIN);
	shm->dir.prefer = -1;
	shm->dir.ours = ntrdma_shm_is_listed(shm->pdev);
}

/*
 * Join at once if that is possible. Otherwise the interface waits without
 * carrier.
 */
static int ntrdma_shm_begin(struct ntrdma_shm *shm)
{
	struct net_device *netdev = ntrdma_eth_create(pci_name(shm->pdev));

	if (IS_ERR(netdev))
		return PTR_ERR(netdev);
	shm->netdev = netdev;
	strscpy(shm->name, NTRDMA_SHM_NAME, sizeof(shm->name));
	ntrdma_shm_dir_init(shm);
	queue_delayed_work(ntrdma_shm_wq, &shm->work, 0);
	flush_delayed_work(&shm->work);
	if (!shm->error || shm->error == -EAGAIN) {
		shm->begun = true;
		return 0;
	}
	if (shm->error == -EBUSY)
		pci_info(shm->pdev,
			 "ntrdma: other software uses the memory, so it is not used; ivshmem=%s overrules this\n",
			 pci_name(shm->pdev));
	ntrdma_shm_end(shm);
	return shm->error;
}

static int ntrdma_shm_open(struct ntrdma_shm *shm)
{
	struct pci_dev *pdev = shm->pdev;
	int ret = pci_enable_device_mem(pdev);

	if (ret)
		return ret;
	ret = pci_request_region(pdev, NTRDMA_SHM_BAR, "ntrdma");
	if (ret)
		goto disable;
	ret = ntrdma_shm_map(shm);
	if (ret)
		goto region;
	ret = ntrdma_bells_open(&shm->bells, pdev);
	if (ret)
		goto unmap;
	ntrdma_shm_check_speed(shm);
	ret = ntrdma_shm_begin(shm);
	if (!ret)
		return 0;

	ntrdma_bells_close(&shm->bells);
unmap:
	ntrdma_shm_unmap(shm);
region:
	pci_release_region(pdev, NTRDMA_SHM_BAR);
disable:
	pci_disable_device(pdev);
	return ret;
}

static int ntrdma_shm_probe(struct pci_dev *pdev,
			    const struct pci_device_id *id)
{
	struct ntrdma_shm *shm;
	int ret;

	if (!ntrdma_shm_is_auto && !ntrdma_shm_is_listed(pdev))
		return -ENODEV;
	shm = kzalloc(sizeof(*shm), GFP_KERNEL);
	if (!shm)
		return -ENOMEM;
	shm->pdev = pdev;
	INIT_DELAYED_WORK(&shm->work, ntrdma_shm_work);
	timer_setup(&shm->timer, ntrdma_shm_beat, 0);
	ret = ntrdma_shm_open(shm);
	if (ret) {
		kfree(shm);
		return ret;
	}
	pci_set_drvdata(pdev, shm);
	return 0;
}

static void ntrdma_shm_remove(struct pci_dev *pdev)
{
	struct ntrdma_shm *shm = pci_get_drvdata(pdev);

	ntrdma_shm_end(shm);
	ntrdma_bells_close(&shm->bells);
	ntrdma_shm_unmap(shm);
	pci_release_region(pdev, NTRDMA_SHM_BAR);
	pci_disable_device(pdev);
	kfree(shm);
}

/*
 * The reboot notifier has ended the sessions. The slot is free for this machine
 * when it has booted again.
 */
static void ntrdma_shm_shutdown(struct pci_dev *pdev)
{
	struct ntrdma_shm *shm = pci_get_drvdata(pdev);

	ntrdma_shm_end_work(shm);
	ntrdma_shm_leave_slot(shm);
	cancel_delayed_work_sync(&shm->work);
}

static const struct pci_device_id ntrdma_shm_ids[] = {
	{ PCI_DEVICE(NTRDMA_SHM_VENDOR, NTRDMA_SHM_DEVICE) },
	{}
};

static struct pci_driver ntrdma_shm_driver = {
	.name = "ntrdma",
	.id_table = ntrdma_shm_ids,
	.probe = ntrdma_shm_probe,
	.remove = ntrdma_shm_remove,
	.shutdown = ntrdma_shm_shutdown,
};

static bool ntrdma_shm_parse(const char *text)
{
	struct ntrdma_shm_place *place;
	int length;

	while (ntrdma_shm_listed < NTRDMA_SHM_LIST) {
		place = &ntrdma_shm_list[ntrdma_shm_listed];
		length = 0;
		if (sscanf(text, "%x:%x:%x.%x%n", &place->domain, &place->bus,
			   &place->slot, &place->function, &length) != 4 ||
		    !length)
			return false;
		ntrdma_shm_listed++;
		text += length;
		if (!*text)
			return true;
		if (*text++ != ',')
			return false;
	}
	return false;
}

/**
 * ntrdma_shm_bad_param - read and check the parameters of this back end
 *
 * Return: text for the log, or NULL if they are valid.
 */
const char *ntrdma_shm_bad_param(void)
{
	if (ntrdma_shm_members == 1 || ntrdma_shm_members > NTRDMA_MEMBERS)
		return "members must be 0, or 2 to 16";
	ntrdma_shm_is_auto = !strcmp(ntrdma_shm_devices, "auto");
	if (!ntrdma_shm_is_auto && strcmp(ntrdma_shm_devices, "off") &&
	    !ntrdma_shm_parse(ntrdma_shm_devices))
		return "ivshmem must be auto, off, or up to 16 PCI addresses such as 0000:00:04.0";
	return NULL;
}

/**
 * ntrdma_shm_init - look for shared memory devices
 *
 * Context: may sleep.
 * Return: 0 or an error code.
 */
int ntrdma_shm_init(void)
{
	int ret;

	ntrdma_shm_wq = alloc_workqueue("ntrdma_shm",
					WQ_UNBOUND | WQ_FREEZABLE, 0);
	if (!ntrdma_shm_wq)
		return -ENOMEM;
	ret = pci_register_driver(&ntrdma_shm_driver);
	if (ret)
		destroy_workqueue(ntrdma_shm_wq);
	return ret;
}

/**
 * ntrdma_shm_exit - destroy all devices of this back end
 *
 * Context: may sleep.
 */
void ntrdma_shm_exit(void)
{
	pci_unregister_driver(&ntrdma_shm_driver);
	destroy_workqueue(ntrdma_shm_wq);
}
