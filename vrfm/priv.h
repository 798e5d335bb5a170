/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of vrfm share.
 *
 * Lock order: vrfm_devices_lock, then vrfm_dev.order, then vrfm_dev.lock.
 */
#ifndef VRFM_PRIV_H
#define VRFM_PRIV_H

#include <linux/cdev.h>
#include <linux/device.h>
#include <linux/fs.h>
#include <linux/mm_types.h>
#include <linux/rtmutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <uapi/rfm2g.h>

#include "opts.h"
#include "queue.h"

/* What programs are told; at most 15 characters. */
#define VRFM_VERSION "krdma 1"

/**
 * struct vrfm_params - what a device is made of
 * @node: 0..255
 * @network: nodes with the same share a memory
 * @size: bytes of memory
 */
struct vrfm_params {
	u32 node;
	u32 network;
	u64 size;
};

/**
 * struct vrfm_region - a node's copy of the memory
 * @pages: normal pages, one by one
 * @npages: how many
 * @mem: all of them in the kernel's address space
 */
struct vrfm_region {
	struct page **pages;
	unsigned long npages;
	void *mem;
};

/**
 * struct vrfm_waiter - a task in vrfm_event_wait(), on its stack
 * @file: that it waits through
 * @owner: whose close() of @file ends it
 * @cancelled: it shall return
 */
struct vrfm_waiter {
	struct file *file;
	fl_owner_t owner;
	bool cancelled;
};

/**
 * struct vrfm_event - one type of event of a device
 * @queue: what happened
 * @wait: where @waiter sleeps, and who polls
 * @waiter: at most one
 */
struct vrfm_event {
	struct vrfm_queue queue;
	wait_queue_head_t wait;
	struct vrfm_waiter *waiter;
};

/**
 * struct vrfm_regs - registers that are more than a picture of something else
 * @lcsr: bits of LCSR1 that are kept
 * @ntd: data of the next event that is sent by register
 * @ntn: where to
 * @debug: debug flags, kept for who asks
 * @dma_swap: byte swap of DMA, kept for who asks
 * @pio_swap: of peek and poke, kept for who asks
 */
struct vrfm_regs {
	u32 lcsr;
	u32 ntd;
	u8 ntn;
	u32 debug;
	bool dma_swap;
	bool pio_swap;
};

/**
 * struct vrfm_dev - /dev/rfm2gN: this host's membership in a network
 * @dev: its place in sysfs; holds the memory until the last file is closed
 * @cdev: its device node
 * @params: what it was made of
 * @unit: N
 * @region: the memory
 * @bars: a page each for mappings of BAR0 and BAR2, pictures of the registers
 * @gone: no longer there, files that are open get -ENODEV
 * @order: stores of this node, one after the other
 * @lock: protects @events, @regs, @opens and the writing of @bars
 * @events: indexed by enum rfm2g_event
 * @regs: registers
 * @opens: open files
 */
struct vrfm_dev {
	struct device dev;
	struct cdev cdev;
	struct vrfm_params params;
	unsigned int unit;
	struct vrfm_region region;
	struct page *bars[2];
	bool gone;

	struct rt_mutex order;

	spinlock_t lock; /* events, regs, opens, bars */
	struct vrfm_event events[RFM2G_EVENTS];
	struct vrfm_regs regs;
	unsigned int opens;
};

/**
 * enum vrfm_special - what the next mmap() of a file maps
 * @VRFM_SPECIAL_NONE: the memory
 * @VRFM_SPECIAL_BAR0: registers
 * @VRFM_SPECIAL_BAR2: registers
 * @VRFM_SPECIAL_DMA: a buffer of its own
 * @VRFM_SPECIAL_DMA_NULL: a buffer at address 0, which the cards refuse
 */
enum vrfm_special {
	VRFM_SPECIAL_NONE,
	VRFM_SPECIAL_BAR0,
	VRFM_SPECIAL_BAR2,
	VRFM_SPECIAL_DMA,
	VRFM_SPECIAL_DMA_NULL,
};

/**
 * struct vrfm_file - an open device
 * @vdev: the device
 * @dma_threshold: kept for who asks
 * @special: enum vrfm_special, taken by the next mmap()
 */
struct vrfm_file {
	struct vrfm_dev *vdev;
	u32 dma_threshold;
	int special;
};

/* chardev.c */
extern const struct file_operations vrfm_fops;

/* configfs.c */
int vrfm_configfs_init(void);
void vrfm_configfs_allow(void);
void vrfm_configfs_exit(void);

/* device.c */
int vrfm_device_init(umode_t mode);
void vrfm_device_exit(void);
struct vrfm_dev *vrfm_dev_create(unsigned int unit,
				 const struct vrfm_params *params);
int vrfm_dev_destroy(struct vrfm_dev *vdev, bool even_if_open);
void vrfm_devices_lock(void);
void vrfm_devices_unlock(void);
struct vrfm_dev *vrfm_device(unsigned int unit);

/* event.c */
void vrfm_events_init(struct vrfm_dev *vdev);
int vrfm_event_enable(struct vrfm_dev *vdev, u32 type);
int vrfm_event_disable(struct vrfm_dev *vdev, u32 type);
void vrfm_event_enable_locked(struct vrfm_dev *vdev, u32 type, bool enable);
int vrfm_event_send(struct vrfm_dev *vdev, u32 node, u32 type, u32 data);
void vrfm_event_raise(struct vrfm_dev *vdev, u32 type, u16 node, u32 data);
int vrfm_event_wait(struct vrfm_dev *vdev, struct file *file, u32 type,
		    u32 timeout_ms, struct vrfm_entry *entry);
int vrfm_event_cancel(struct vrfm_dev *vdev, u32 type);
void vrfm_events_cancel(struct vrfm_dev *vdev, struct file *file,
			fl_owner_t owner);
int vrfm_event_clear(struct vrfm_dev *vdev, u32 type);
int vrfm_event_clear_count(struct vrfm_dev *vdev, u32 type);
int vrfm_event_info(struct vrfm_dev *vdev, struct rfm2g_queue_info *info);
bool vrfm_events_ready(struct vrfm_dev *vdev);

/* ioctl.c */
long vrfm_ioctl(struct file *file, unsigned int cmd, unsigned long arg);

/* mmap.c */
int vrfm_mmap(struct file *file, struct vm_area_struct *vma);

/* proc.c */
int vrfm_proc_init(void);
void vrfm_proc_exit(void);

/* region.c */
int vrfm_region_alloc(struct vrfm_region *region, u64 size);
void vrfm_region_free(struct vrfm_region *region);
int vrfm_read(struct vrfm_dev *vdev, u32 offset, void __user *buf, size_t len);
int vrfm_write(struct vrfm_dev *vdev, u32 offset, const void __user *buf,
	       size_t len);
void vrfm_load(struct vrfm_dev *vdev, u32 offset, void *buf, u32 width);
void vrfm_store(struct vrfm_dev *vdev, u32 offset, const void *buf, u32 width);
void vrfm_store_bits(struct vrfm_dev *vdev, u32 offset, u32 width, u32 clear,
		     u32 set);

/**
 * vrfm_inside - are these bytes in the memory?
 * @vdev: device
 * @offset: of the first
 * @len: how many
 *
 * Return: true if all of them are.
 */
static inline bool vrfm_inside(const struct vrfm_dev *vdev, u64 offset, u64 len)
{
	u64 size = vdev->params.size;

	return offset <= size && len <= size - offset;
}

/* regs.c */
#define VRFM_LCSR_LED BIT(31)
#define VRFM_LCSR_TX_OFF BIT(30)
#define VRFM_LCSR_DARK_ON_DARK BIT(29)
#define VRFM_LCSR_LOOPBACK BIT(28)
#define VRFM_LCSR_PARITY BIT(27)
#define VRFM_LCSR_TX_EMPTY BIT(7)
#define VRFM_LCSR_SYNC_LOSS BIT(3)
#define VRFM_LCSR_SIGNAL BIT(2)
#define VRFM_LCSR_BAD_DATA BIT(1)
#define VRFM_LCSR_OWN_DATA BIT(0)

void vrfm_regs_init(struct vrfm_dev *vdev);
void vrfm_regs_publish_locked(struct vrfm_dev *vdev);
void vrfm_regs_publish_bus_locked(struct vrfm_dev *vdev);
u32 vrfm_lcsr(struct vrfm_dev *vdev);
bool vrfm_lcsr_update(struct vrfm_dev *vdev, u32 bit, bool on);
u8 vrfm_board_revision(const struct vrfm_dev *vdev);
int vrfm_reg_read(struct vrfm_dev *vdev, struct rfm2g_reg_info *reg);
int vrfm_reg_write(struct vrfm_dev *vdev, const struct rfm2g_reg_info *reg);
int vrfm_reg_set(struct vrfm_dev *vdev, const struct rfm2g_reg_info *reg);
int vrfm_reg_clear(struct vrfm_dev *vdev, const struct rfm2g_reg_info *reg);

#define VRFM_PLX_REVISION 0xAD
#define VRFM_BOARD_ID 0x65

#endif /* VRFM_PRIV_H */
