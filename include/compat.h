/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The only file that knows kernel versions. The code is written for the newest
 * kernel. For older kernels this file defines the names that they lack. Each
 * entry names the release and the commit of the change.
 *
 * Distributions backport features, so the version alone is not enough. Kbuild
 * defines KRDMA_HAS_... as 0 or 1 according to the headers
 * (tools/kernel-features). The version decides only if the headers do not show
 * the feature.
 */
#ifndef KRDMA_COMPAT_H
#define KRDMA_COMPAT_H

#include <linux/hrtimer.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/rmap.h>
#include <linux/slab.h>
#include <linux/version.h>
#include <rdma/ib_umem.h>
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>

#if KERNEL_VERSION(6, 1, 0) > LINUX_VERSION_CODE
#error "krdma, vrfm and krping need Linux 6.1 or later"
#endif

/*
 * Symbol namespaces became string literals in v6.13, commit cdd30ebb1b9f
 * ("module: Convert symbol namespace to string literal"). Both
 * EXPORT_SYMBOL_NS_GPL() and MODULE_IMPORT_NS() take KRDMA_NS. The symbols of
 * ntrdma for back ends are in NTRDMA_NS.
 */
#ifndef KRDMA_HAS_STRING_NS
#define KRDMA_HAS_STRING_NS (KERNEL_VERSION(6, 13, 0) <= LINUX_VERSION_CODE)
#endif
#if KRDMA_HAS_STRING_NS
#define KRDMA_NS "KRDMA"
#define NTRDMA_NS "NTRDMA"
#else
#define KRDMA_NS KRDMA
#define NTRDMA_NS NTRDMA
#endif

/*
 * struct class.devnode() takes a const device since v6.2, commit ff62b8e6588f
 * ("driver core: make struct class.devnode() take a const *").
 */
#ifndef KRDMA_HAS_CONST_DEVNODE
#define KRDMA_HAS_CONST_DEVNODE (KERNEL_VERSION(6, 2, 0) <= LINUX_VERSION_CODE)
#endif
#if KRDMA_HAS_CONST_DEVNODE
#define KRDMA_CONST_DEVICE const
#else
#define KRDMA_CONST_DEVICE
#endif

/*
 * vm_flags_clear() and others change the flags of a mapping since v6.3, commit
 * bc292ab00f6c ("mm: introduce vma->vm_flags wrapper functions").
 */
#ifndef KRDMA_HAS_VM_FLAGS_CLEAR
#define KRDMA_HAS_VM_FLAGS_CLEAR (KERNEL_VERSION(6, 3, 0) <= LINUX_VERSION_CODE)
#endif
#if !KRDMA_HAS_VM_FLAGS_CLEAR
static inline void vm_flags_clear(struct vm_area_struct *vma,
				  unsigned long flags)
{
	vma->vm_flags &= ~flags;
}

static inline void vm_flags_set(struct vm_area_struct *vma,
				unsigned long flags)
{
	vma->vm_flags |= flags;
}
#endif

/*
 * crc32c() is in <linux/crc32.h> since v6.14, commit 8df36829045a ("lib/crc32:
 * standardize on crc32c() name for Castagnoli CRC32"). In older kernels
 * crc32c() is in a module of its own, libcrc32c, which uses the instructions of
 * the processor. The function in <linux/crc32.h>, __crc32c_le(), uses tables and
 * is several times slower, so it is used only if the kernel has no libcrc32c.
 */
#ifndef KRDMA_HAS_CRC32C
#define KRDMA_HAS_CRC32C (KERNEL_VERSION(6, 14, 0) <= LINUX_VERSION_CODE)
#endif
#if KRDMA_HAS_CRC32C
#define krdma_crc32c crc32c
#elif IS_ENABLED(CONFIG_LIBCRC32C)
#include <linux/crc32c.h>
#define krdma_crc32c crc32c
#else
#define krdma_crc32c __crc32c_le
#endif

/*
 * struct blake2s_ctx of <crypto/blake2s.h> has this name since v6.19
 * ("lib/crypto: blake2s: Rename blake2s_state to blake2s_ctx").
 */
#ifndef KRDMA_HAS_BLAKE2S_CTX
#define KRDMA_HAS_BLAKE2S_CTX (KERNEL_VERSION(6, 19, 0) <= LINUX_VERSION_CODE)
#endif
#if !KRDMA_HAS_BLAKE2S_CTX
#define blake2s_ctx blake2s_state
#endif

/*
 * WQ_PERCPU exists since v6.17, commit 930c2ea566af ("workqueue: Add new
 * WQ_PERCPU flag"). Before, every queue without WQ_UNBOUND was per CPU.
 */
#ifndef KRDMA_HAS_WQ_PERCPU
#define KRDMA_HAS_WQ_PERCPU (KERNEL_VERSION(6, 17, 0) <= LINUX_VERSION_CODE)
#endif
#if !KRDMA_HAS_WQ_PERCPU
#define WQ_PERCPU 0
#endif

/*
 * hrtimer_setup() exists since v6.13, commit 908a1d775422 ("hrtimers: Introduce
 * hrtimer_setup() to replace hrtimer_init()").
 */
#ifndef KRDMA_HAS_HRTIMER_SETUP
#define KRDMA_HAS_HRTIMER_SETUP (KERNEL_VERSION(6, 13, 0) <= LINUX_VERSION_CODE)
#endif
#if !KRDMA_HAS_HRTIMER_SETUP
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock_id, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock_id, mode);
	timer->function = function;
}
#endif

/*
 * alloc_netdev_dummy() exists since v6.10, commit b209bd6d0bff ("net: create a
 * dummy net_device allocator"). It replaces init_dummy_netdev().
 */
#ifndef KRDMA_HAS_ALLOC_DUMMY
#define KRDMA_HAS_ALLOC_DUMMY (KERNEL_VERSION(6, 10, 0) <= LINUX_VERSION_CODE)
#endif

/**
 * krdma_alloc_dummy - allocate an interface that has only NAPI contexts
 *
 * Return: interface to free with krdma_free_dummy(), or NULL.
 */
static inline struct net_device *krdma_alloc_dummy(void)
{
#if KRDMA_HAS_ALLOC_DUMMY
	return alloc_netdev_dummy(0);
#else
	struct net_device *netdev = kzalloc(sizeof(*netdev), GFP_KERNEL);

	if (netdev)
		init_dummy_netdev(netdev);
	return netdev;
#endif
}

/**
 * krdma_free_dummy - free an interface of krdma_alloc_dummy()
 * @netdev: interface without NAPI contexts, or NULL
 */
static inline void krdma_free_dummy(struct net_device *netdev)
{
#if KRDMA_HAS_ALLOC_DUMMY
	if (netdev)
		free_netdev(netdev);
#else
	kfree(netdev);
#endif
}

/*
 * The last parameter of ib_device_ops.create_cq() is struct uverbs_attr_bundle
 * since v6.11, commit dd6d7f8574d7 ("RDMA: Pass entire uverbs attr bundle to
 * create cq function"). Before, it was struct ib_udata. The compiler compares
 * the types, because no single line of the header shows the difference.
 */
#define KRDMA_CREATE_CQ_ATTRS						\
	typeof(__builtin_choose_expr(					\
		__builtin_types_compatible_p(				\
			typeof(((const struct ib_device_ops *)0)->create_cq), \
			int (*)(struct ib_cq *,				\
				const struct ib_cq_init_attr *,		\
				struct ib_udata *)),			\
		(struct ib_udata *)0, (struct uverbs_attr_bundle *)0))

/**
 * krdma_cq_udata - return the program that creates a CQ
 * @attrs: last parameter of ib_device_ops.create_cq()
 *
 * Return: struct ib_udata, or NULL if the kernel creates the CQ.
 */
#define krdma_cq_udata(attrs)						\
	(__builtin_types_compatible_p(typeof(attrs), struct ib_udata *) ? \
		(struct ib_udata *)(void *)(attrs) :			\
	 (attrs) ?							\
		&((struct uverbs_attr_bundle *)(void *)(attrs))->driver_udata : \
	 NULL)

/*
 * rdma_umem_for_each_dma_block() has moved from <rdma/ib_umem.h> to
 * <rdma/iter.h>, which stable kernels have as well.
 */
#ifndef KRDMA_HAS_UMEM_BLOCKS
#define KRDMA_HAS_UMEM_BLOCKS (KERNEL_VERSION(7, 2, 0) > LINUX_VERSION_CODE)
#endif
#if !KRDMA_HAS_UMEM_BLOCKS
#include <rdma/iter.h>
#endif

/*
 * ib_umem_get() has the name ib_umem_get_va() since v7.2 ("RDMA/umem: Rename
 * ib_umem_get() to ib_umem_get_va()").
 */
#ifndef KRDMA_HAS_UMEM_GET_VA
#define KRDMA_HAS_UMEM_GET_VA (KERNEL_VERSION(7, 2, 0) <= LINUX_VERSION_CODE)
#endif
#if !KRDMA_HAS_UMEM_GET_VA
#define ib_umem_get_va ib_umem_get
#endif

/*
 * ib_device_ops.reg_user_mr() has a parameter for a DMA handle since v6.17
 * ("IB: Extend UVERBS_METHOD_REG_MR to get DMAH").
 */
#ifndef KRDMA_HAS_DMAH
#define KRDMA_HAS_DMAH (KERNEL_VERSION(6, 17, 0) <= LINUX_VERSION_CODE)
#endif
#if KRDMA_HAS_DMAH
#define KRDMA_REG_USER_MR_DMAH struct ib_dmah *dmah,
#else
#define KRDMA_REG_USER_MR_DMAH
#endif

/*
 * ntb_get_dma_dev() is in v7.3, and has been backported to 6.1 (6.1.192 has it,
 * 6.12.95 has not). Before, the PCI device of each bridge did DMA.
 */
#ifndef KRDMA_HAS_NTB_DMA_DEV
#define KRDMA_HAS_NTB_DMA_DEV (KERNEL_VERSION(7, 3, 0) <= LINUX_VERSION_CODE)
#endif
#if KRDMA_HAS_NTB_DMA_DEV
#define krdma_ntb_dma_dev(ntb) ntb_get_dma_dev(ntb)
#else
#define krdma_ntb_dma_dev(ntb) (&(ntb)->pdev->dev)
#endif

/*
 * Wait until a condition is true, a fatal signal arrives, or the time is over.
 * The kernel has such a macro only for uninterruptible and interruptible waits;
 * __wait_event_hrtimeout() is the body of both. A negative timeout counts as 0.
 * hrtimer_start() would add it to the clock as an unsigned number, and the
 * timer would never expire.
 */
#define krdma_wait_event_hrtimeout(wq, condition, timeout, state)	\
({									\
	const ktime_t __left = max_t(ktime_t, timeout, 0);		\
	int __killed = 0;						\
									\
	might_sleep();							\
	if (!(condition))						\
		__killed = __wait_event_hrtimeout(wq, condition, __left, \
						  state);		\
	__killed;							\
})

#ifndef wait_event_killable_hrtimeout
#define wait_event_killable_hrtimeout(wq, condition, timeout)		\
	krdma_wait_event_hrtimeout(wq, condition, timeout, TASK_KILLABLE)
#endif

/*
 * Like wait_event_killable_hrtimeout(), and also freezable. TASK_FREEZABLE
 * exists since v6.1, commit f5d39b020809 ("freezer,sched: Rewrite core freezer
 * logic"). The caller must hold no lock: another task that waits for the lock
 * would refuse to be frozen.
 */
#ifndef wait_event_killable_freezable_hrtimeout
#define wait_event_killable_freezable_hrtimeout(wq, condition, timeout)	\
	krdma_wait_event_hrtimeout(wq, condition, timeout,		\
				   (TASK_KILLABLE | TASK_FREEZABLE))
#endif

/**
 * krdma_is_rxe - check whether rxe is the driver of a device
 * @ibdev: device
 *
 * Other drivers may have the driver_id of rxe, so that its library opens their
 * devices, like ntrdma. A built-in driver has no owner.
 *
 * Return: true if rxe is the driver.
 */
static inline bool krdma_is_rxe(const struct ib_device *ibdev)
{
	struct module *owner = ibdev->ops.owner;

	return ibdev->ops.driver_id == RDMA_DRIVER_RXE &&
	       (!owner || !strcmp(module_name(owner), "rdma_rxe"));
}

/**
 * krdma_mr_room - return the number of pages to request from ib_alloc_mr()
 * @ibdev: device
 * @npages: pages that will be registered
 *
 * Before v6.3 rxe keeps the pages of an MR in an array of lists of 256 pages.
 * When rxe_mr_copy() of 6.1 has copied the last page of a full list, it reads
 * the next entry of the array. After the last list, this entry is beyond the
 * end of the array (reported by KASAN). Room for one more page ensures that the
 * entry exists. v6.3 uses an xarray instead. No header shows the lists, so the
 * version decides. If a distribution has backported the xarray, the extra page
 * does no harm.
 *
 * Return: number of pages.
 */
static inline u32 krdma_mr_room(const struct ib_device *ibdev, u32 npages)
{
#if KERNEL_VERSION(6, 3, 0) <= LINUX_VERSION_CODE
	return npages;
#else
	return npages + krdma_is_rxe(ibdev);
#endif
}

/**
 * krdma_may_read_on - check whether rxe of this kernel reads completed requests
 *
 * rxe before v6.10 ("RDMA/rxe: Merge request and complete tasks") sends in one
 * tasklet and completes requests in another, without synchronization. If an
 * answer is late, the sending tasklet copies the data of the request into a
 * packet again. During this copy the other tasklet may complete the request,
 * and the sender may free the data. The receiver drops the packet as a
 * duplicate, but the copy has read freed memory (rxe_requester() and
 * do_complete() of 6.1; reported by KASAN on a host that preempts the virtual
 * CPUs).
 *
 * The copy runs in a softirq, so memory that is freed by RCU stays until the
 * copy ends. From v6.4 on, the copy runs in a work item. RCU does not wait for
 * a work item that is preempted, so there the fault is only less likely. The
 * fault concerns SEND and WRITE. No header shows the tasklets, so the version
 * decides. If a distribution has backported the single task, memory is freed by
 * RCU unnecessarily.
 *
 * Return: true if the memory of a completed SEND or WRITE must be freed by RCU.
 */
static inline bool krdma_may_read_on(void)
{
	return KERNEL_VERSION(6, 10, 0) > LINUX_VERSION_CODE;
}

/*
 * page_mapcount() was removed in v6.12, after its last user. Use
 * page_mapcount() where it exists, because folio_mapcount() of kernels before
 * v6.9 needs a function that is not exported.
 */
#ifndef KRDMA_HAS_PAGE_MAPCOUNT
#define KRDMA_HAS_PAGE_MAPCOUNT (KERNEL_VERSION(6, 12, 0) > LINUX_VERSION_CODE)
#endif

/**
 * krdma_page_mapcount - return the number of page tables that map a page
 * @page: an order-0 page
 *
 * Return: number of page tables.
 */
static inline int krdma_page_mapcount(struct page *page)
{
#if KRDMA_HAS_PAGE_MAPCOUNT
	return page_mapcount(page);
#else
	return folio_mapcount(page_folio(page));
#endif
}

/*
 * mapping_wrprotect_range() is in <linux/rmap.h> since v6.15 ("mm: provide
 * mapping_wrprotect_range() function").
 */
#ifndef KRDMA_HAS_MAPPING_WRPROTECT
#define KRDMA_HAS_MAPPING_WRPROTECT \
	(KERNEL_VERSION(6, 15, 0) <= LINUX_VERSION_CODE)
#endif

/**
 * krdma_mapping_wrprotect - write-protect a page in all page tables
 * @mapping: address space of @page; its reverse mapping lists the page tables
 * @index: offset of @page in @mapping, in pages
 * @page: the page
 *
 * mapping_wrprotect_range() also marks the entries of the page tables as clean.
 *
 * Context: may sleep.
 * Return: true if the page was write-protected; false if this kernel has no
 * mapping_wrprotect_range().
 */
static inline bool krdma_mapping_wrprotect(struct address_space *mapping,
					   pgoff_t index, struct page *page)
{
#if KRDMA_HAS_MAPPING_WRPROTECT
	mapping_wrprotect_range(mapping, index, page_to_pfn(page), 1);
	return true;
#else
	return false;
#endif
}

/**
 * krdma_can_wrprotect - check whether pages can be write-protected in place
 *
 * Return: true if the kernel can write-protect a page in all page tables.
 */
static inline bool krdma_can_wrprotect(void)
{
	return KRDMA_HAS_MAPPING_WRPROTECT ||
	       IS_ENABLED(CONFIG_MAPPING_DIRTY_HELPERS);
}

#ifdef CONFIG_BLOCK
#include <linux/blkdev.h>

/*
 * list_count_nodes() exists since v6.3, commit 4d70c74659d9 ("i915: Move
 * list_count() to list.h as list_count_nodes() for broader use").
 */
#ifndef KRDMA_HAS_LIST_COUNT
#define KRDMA_HAS_LIST_COUNT (KERNEL_VERSION(6, 3, 0) <= LINUX_VERSION_CODE)
#endif
#if !KRDMA_HAS_LIST_COUNT
static inline size_t list_count_nodes(struct list_head *head)
{
	struct list_head *pos;
	size_t count = 0;

	list_for_each(pos, head)
		count++;
	return count;
}
#endif

/*
 * bdev_file_open_by_path() exists since v6.9, commit f3a608827d1f ("bdev: open
 * block device as files"). v6.7 and v6.8 have bdev_open_by_path(). Before, it
 * was blkdev_get_by_path(), with blk_mode_t since v6.5.
 */
#ifndef KRDMA_HAS_BDEV_FILE
#define KRDMA_HAS_BDEV_FILE (KERNEL_VERSION(6, 9, 0) <= LINUX_VERSION_CODE)
#endif
#ifndef KRDMA_HAS_BDEV_HANDLE
#define KRDMA_HAS_BDEV_HANDLE \
	(!KRDMA_HAS_BDEV_FILE && KERNEL_VERSION(6, 7, 0) <= LINUX_VERSION_CODE)
#endif
#ifndef KRDMA_HAS_BLK_MODE
#define KRDMA_HAS_BLK_MODE (KERNEL_VERSION(6, 5, 0) <= LINUX_VERSION_CODE)
#endif

/**
 * struct krdma_bdev - open block device
 * @bdev: the block device
 * @handle: handle of krdma_bdev_close()
 */
struct krdma_bdev {
	struct block_device *bdev;
	void *handle;
};

/**
 * krdma_bdev_open - open a block device exclusively for reading and writing
 * @result: the block device, for krdma_bdev_close()
 * @path: path of its file
 * @holder: owner, which krdma_bdev_close() gets as well
 *
 * Context: process, may sleep.
 * Return: 0 or a negative errno: -EBUSY: another owner has the device.
 */
static inline int krdma_bdev_open(struct krdma_bdev *result, const char *path,
				  void *holder)
{
#if KRDMA_HAS_BDEV_FILE
	struct file *handle =
		bdev_file_open_by_path(path, BLK_OPEN_READ | BLK_OPEN_WRITE,
				       holder, NULL);
#elif KRDMA_HAS_BDEV_HANDLE
	struct bdev_handle *handle =
		bdev_open_by_path(path, BLK_OPEN_READ | BLK_OPEN_WRITE, holder,
				  NULL);
#elif KRDMA_HAS_BLK_MODE
	struct block_device *handle =
		blkdev_get_by_path(path, BLK_OPEN_READ | BLK_OPEN_WRITE, holder,
				   NULL);
#else
	struct block_device *handle =
		blkdev_get_by_path(path, FMODE_READ | FMODE_WRITE | FMODE_EXCL,
				   holder);
#endif

	if (IS_ERR(handle))
		return PTR_ERR(handle);
	result->handle = handle;
#if KRDMA_HAS_BDEV_FILE
	result->bdev = file_bdev(handle);
#elif KRDMA_HAS_BDEV_HANDLE
	result->bdev = handle->bdev;
#else
	result->bdev = handle;
#endif
	return 0;
}

/**
 * krdma_bdev_close - close a block device
 * @bdev: block device of krdma_bdev_open()
 * @holder: owner
 */
static inline void krdma_bdev_close(struct krdma_bdev *bdev, void *holder)
{
#if KRDMA_HAS_BDEV_FILE
	bdev_fput(bdev->handle);
#elif KRDMA_HAS_BDEV_HANDLE
	bdev_release(bdev->handle);
#elif KRDMA_HAS_BLK_MODE
	blkdev_put(bdev->bdev, holder);
#else
	blkdev_put(bdev->bdev, FMODE_READ | FMODE_WRITE | FMODE_EXCL);
#endif
}

/*
 * blk_alloc_disk() takes struct queue_limits since v6.9, commit 74fa8f9c553f
 * ("block: pass a queue_limits argument to blk_alloc_disk"). The limits have
 * features since v6.11, commit 1122c0c1cc71 ("block: move cache control
 * settings out of queue->flags").
 */
#ifndef KRDMA_HAS_DISK_LIMITS
#define KRDMA_HAS_DISK_LIMITS (KERNEL_VERSION(6, 9, 0) <= LINUX_VERSION_CODE)
#endif
#ifndef KRDMA_HAS_DISK_FEATURES
#define KRDMA_HAS_DISK_FEATURES (KERNEL_VERSION(6, 11, 0) <= LINUX_VERSION_CODE)
#endif

/**
 * struct krdma_disk_limits - limits of a disk
 * @lower: block device whose block sizes and operations the disk has; NULL: 512
 *	bytes and all operations
 * @max_bytes: maximum length of a read or write in bytes
 */
struct krdma_disk_limits {
	struct block_device *lower;
	u32 max_bytes;
};

/**
 * krdma_disk_alloc - allocate a disk with a volatile cache and stable pages
 * @limits: limits of the disk
 *
 * Context: process, may sleep.
 * Return: disk for add_disk() and put_disk(), or an ERR_PTR.
 */
static inline struct gendisk *
krdma_disk_alloc(const struct krdma_disk_limits *limits)
{
	struct block_device *lower = limits->lower;
	const u32 all = UINT_MAX >> SECTOR_SHIFT;
	const struct queue_limits lim = {
		.max_hw_sectors = limits->max_bytes >> SECTOR_SHIFT,
		.logical_block_size =
			lower ? bdev_logical_block_size(lower) : SECTOR_SIZE,
		.physical_block_size =
			lower ? bdev_physical_block_size(lower) : PAGE_SIZE,
		.max_hw_discard_sectors =
			lower ? min(bdev_max_discard_sectors(lower), all) : all,
		.discard_granularity =
			lower ? bdev_discard_granularity(lower) : PAGE_SIZE,
		.max_write_zeroes_sectors =
			lower ? min(bdev_write_zeroes_sectors(lower), all) : all,
#if KRDMA_HAS_DISK_FEATURES
		.features = BLK_FEAT_WRITE_CACHE | BLK_FEAT_FUA |
			    BLK_FEAT_STABLE_WRITES | BLK_FEAT_IO_STAT,
#endif
	};
#if KRDMA_HAS_DISK_LIMITS
	struct queue_limits copy = lim;
	struct gendisk *disk = blk_alloc_disk(&copy, NUMA_NO_NODE);

	if (IS_ERR(disk))
		return disk;
#else
	struct gendisk *disk = blk_alloc_disk(NUMA_NO_NODE);

	if (!disk)
		return ERR_PTR(-ENOMEM);
	blk_queue_max_hw_sectors(disk->queue, lim.max_hw_sectors);
	blk_queue_logical_block_size(disk->queue, lim.logical_block_size);
	blk_queue_physical_block_size(disk->queue, lim.physical_block_size);
	blk_queue_max_discard_sectors(disk->queue, lim.max_hw_discard_sectors);
	disk->queue->limits.discard_granularity = lim.discard_granularity;
	blk_queue_max_write_zeroes_sectors(disk->queue,
					   lim.max_write_zeroes_sectors);
#endif
#if !KRDMA_HAS_DISK_FEATURES
	blk_queue_write_cache(disk->queue, true, true);
	blk_queue_flag_set(QUEUE_FLAG_STABLE_WRITES, disk->queue);
	blk_queue_flag_set(QUEUE_FLAG_IO_STAT, disk->queue);
#endif
	return disk;
}
#endif /* CONFIG_BLOCK */

#endif /* KRDMA_COMPAT_H */
