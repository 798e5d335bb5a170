// SPDX-License-Identifier: GPL-2.0
/*
 * Emulation of adapters, for tests of consumers. The parameters hold for all
 * devices, dma= only for those of the back end "local".
 *
 * dma=1: consumers map memory by the DMA API, as they do for an adapter. The
 * device reads and writes at the DMA addresses. So the mistakes of a consumer
 * have the same effects as on an adapter: with swiotlb=force, data without a
 * sync call is stale, and CONFIG_DMA_API_DEBUG reports wrong calls. A platform
 * device stands for the adapter. It has no IOMMU, so a DMA address is a physical
 * address, except for the offsets that dma_to_phys() knows.
 *
 * max_*, page_sizes: smaller limits, as adapters have them.
 *
 * order=reverse, order=random: the bytes of a frame become visible in another
 * order than that of their addresses. An adapter behind a PCIe bus with relaxed
 * ordering guarantees no order before the completion.
 *
 * strict_inv=1: LOCAL_INV of a key that is invalid fails.
 *
 * late_us: the consumer sees completions later, several at once, and those of
 * different QPs in another order. The queue has room for another request only
 * when a signalled request behind it has completed.
 *
 * fault_ms: now and then a QP fails with the event QP_FATAL, or a session ends.
 */
#include <linux/device.h>
#include <linux/dma-direct.h>
#include <linux/dma-map-ops.h>
#include <linux/dma-mapping.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/random.h>
#include <linux/string.h>

#include "dev.h"
#include "emulate.h"

/* ib_mad posts 512 receives, and sends from two SGEs. */
#define NTRDMA_EMULATE_WR_MIN	512
#define NTRDMA_EMULATE_SGE_MIN	2

/* Maximum number of completions that are reordered at once. */
#define NTRDMA_EMULATE_BATCH	64

/* Page sizes of a fast registration: 4 KiB and each larger power of 2. */
#define NTRDMA_PAGE_SIZES	(~(SZ_4K - 1U))

/* Longest segment that a consumer may map, as of adapters. */
#define NTRDMA_DMA_SEGMENT	SZ_2G

static bool ntrdma_dma;
module_param_named(dma, ntrdma_dma, bool, 0444);
MODULE_PARM_DESC(dma, "For tests: use the DMA API, as an adapter does");

static unsigned int ntrdma_max_wr = NTRDMA_MAX_WR;
module_param_named(max_wr, ntrdma_max_wr, uint, 0444);
MODULE_PARM_DESC(max_wr, "For tests: maximum length of queues");

static unsigned int ntrdma_max_sge = NTRDMA_MAX_SGE;
module_param_named(max_sge, ntrdma_max_sge, uint, 0444);
MODULE_PARM_DESC(max_sge, "For tests: maximum number of SGEs");

static unsigned int ntrdma_max_inline = NTRDMA_MAX_INLINE;
module_param_named(max_inline, ntrdma_max_inline, uint, 0444);
MODULE_PARM_DESC(max_inline, "For tests: maximum inline data, in bytes");

static unsigned int ntrdma_max_reads = NTRDMA_MAX_READS;
module_param_named(max_reads, ntrdma_max_reads, uint, 0444);
MODULE_PARM_DESC(max_reads, "For tests: maximum READs in flight of a QP");

static unsigned int ntrdma_max_pages = NTRDMA_MAX_PAGES;
module_param_named(max_pages, ntrdma_max_pages, uint, 0444);
MODULE_PARM_DESC(max_pages, "For tests: maximum pages of a fast registration");

static unsigned int ntrdma_page_sizes = NTRDMA_PAGE_SIZES;
module_param_named(page_sizes, ntrdma_page_sizes, uint, 0444);
MODULE_PARM_DESC(page_sizes,
		 "For tests: sum of the page sizes of fast registrations");

static char *ntrdma_order = "forward";
module_param_named(order, ntrdma_order, charp, 0444);
MODULE_PARM_DESC(order,
		 "For tests: forward, reverse or random order of stores");

bool ntrdma_strict_inv;
module_param_named(strict_inv, ntrdma_strict_inv, bool, 0444);
MODULE_PARM_DESC(strict_inv, "For tests: LOCAL_INV of an invalid key fails");

unsigned int ntrdma_late_us;
module_param_named(late_us, ntrdma_late_us, uint, 0444);
MODULE_PARM_DESC(late_us,
		 "For tests: maximum delay of completions, in us; 0: none");

static unsigned int ntrdma_fault_ms;
module_param_named(fault_ms, ntrdma_fault_ms, uint, 0644);
MODULE_PARM_DESC(fault_ms,
		 "For tests: mean time between faults of a device, in ms; 0: none");

static const char * const ntrdma_orders[] = {
	[NTRDMA_FORWARD] = "forward",
	[NTRDMA_REVERSE] = "reverse",
	[NTRDMA_RANDOM] = "random",
};

enum ntrdma_order ntrdma_copy_order;

/**
 * ntrdma_emulate_init - check the parameters of this file
 *
 * Return: NULL, or the range of a parameter that is out of range.
 */
const char *ntrdma_emulate_init(void)
{
	int order = match_string(ntrdma_orders, ARRAY_SIZE(ntrdma_orders),
				 ntrdma_order);

	if (ntrdma_max_wr < NTRDMA_EMULATE_WR_MIN ||
	    ntrdma_max_wr > NTRDMA_MAX_WR)
		return "max_wr must be 512 to 16384";
	if (ntrdma_max_sge < NTRDMA_EMULATE_SGE_MIN ||
	    ntrdma_max_sge > NTRDMA_MAX_SGE)
		return "max_sge must be 2 to 32";
	if (ntrdma_max_inline > NTRDMA_MAX_INLINE)
		return "max_inline must be 0 to 256";
	if (!ntrdma_max_reads || ntrdma_max_reads > NTRDMA_MAX_READS)
		return "max_reads must be 1 to 64";
	if (!ntrdma_max_pages || ntrdma_max_pages > NTRDMA_MAX_PAGES)
		return "max_pages must be 1 to 512";
	if (!ntrdma_page_sizes || ntrdma_page_sizes & ~NTRDMA_PAGE_SIZES)
		return "page_sizes must be a sum of powers of 2 from 4096";
	if (ntrdma_late_us > USEC_PER_SEC)
		return "late_us must be 0 to 1000000";
	if (order < 0)
		return "order must be forward, reverse or random";
	ntrdma_copy_order = order;
	return NULL;
}

/**
 * ntrdma_emulate_limits - set the limits that parameters can make smaller
 * @attr: attributes of the device
 */
void ntrdma_emulate_limits(struct ib_device_attr *attr)
{
	attr->max_qp_wr = ntrdma_max_wr;
	attr->max_srq_wr = ntrdma_max_wr;
	attr->max_send_sge = ntrdma_max_sge;
	attr->max_recv_sge = ntrdma_max_sge;
	attr->max_sge_rd = ntrdma_max_sge;
	attr->max_srq_sge = ntrdma_max_sge;
	attr->max_qp_rd_atom = ntrdma_max_reads;
	attr->max_qp_init_rd_atom = ntrdma_max_reads;
	attr->max_res_rd_atom = NTRDMA_MAX_QP * ntrdma_max_reads;
	attr->max_fast_reg_page_list_len = ntrdma_max_pages;
	attr->page_size_cap = ntrdma_page_sizes;
}

/**
 * ntrdma_emulate_inline - return the maximum inline data of a request
 *
 * Return: bytes.
 */
u32 ntrdma_emulate_inline(void)
{
	return ntrdma_max_inline;
}

/**
 * ntrdma_emulate_delay - return the delay of completions
 *
 * Return: random time of at most late_us, in ns.
 */
u64 ntrdma_emulate_delay(void)
{
	u64 max = (u64)ntrdma_late_us * NSEC_PER_USEC;

	return (max * get_random_u32()) >> 32;
}

/**
 * ntrdma_emulate_fault - decide whether a device has a fault now
 * @ms: time since the last call for the device, in ms
 *
 * Return: true with the probability @ms / fault_ms.
 */
bool ntrdma_emulate_fault(u32 ms)
{
	u32 mean = READ_ONCE(ntrdma_fault_ms);

	return mean && get_random_u32() % mean < ms;
}

/**
 * ntrdma_emulate_reorder - change the order of completions of different QPs
 * @wc: ring of completions
 * @size: number of entries of @wc, a power of 2
 * @from: free-running index of the first completion
 * @to: free-running index behind the last one
 *
 * The completions of each QP stay in their order.
 *
 * Context: any.
 */
void ntrdma_emulate_reorder(struct ib_wc *wc, u32 size, u32 from, u32 to)
{
	u32 i, j;

	to = from + min_t(u32, to - from, NTRDMA_EMULATE_BATCH);
	for (i = from; i != to; i++) {
		for (j = i; j != from; j--) {
			struct ib_wc *one = &wc[j & (size - 1)];
			struct ib_wc *before = &wc[(j - 1) & (size - 1)];

			if (before->qp >= one->qp)
				break;
			swap(*before, *one);
		}
	}
}

/* Return a permutation of the numbers below @n, which is a power of 2. */
static u32 ntrdma_permute(u32 i, u32 n, u32 seed)
{
	if (ntrdma_copy_order == NTRDMA_REVERSE)
		return n - 1 - i;
	/* An odd factor has an inverse modulo a power of 2. */
	return (i * (seed | 1) + (seed >> 16)) & (n - 1);
}

/**
 * ntrdma_copy_disordered - copy as an adapter that guarantees no order
 * @to: memory of a consumer
 * @from: data
 * @bytes: length, not 0
 *
 * At most 8 bytes are stored at a time.
 *
 * Context: any.
 */
void ntrdma_copy_disordered(void *to, const void *from, u32 bytes)
{
	u32 words = DIV_ROUND_UP(bytes, sizeof(u64));
	u32 n = roundup_pow_of_two(words);
	u32 seed = get_random_u32();
	u32 i, at;

	for (i = 0; i < n; i++) {
		at = ntrdma_permute(i, n, seed) * sizeof(u64);
		if (at < bytes)
			memcpy(to + at, from + at,
			       min_t(u32, bytes - at, sizeof(u64)));
		barrier();
	}
}

/*
 * Check whether a DMA address is that of cached memory which the kernel can
 * always access.
 */
static bool ntrdma_dma_is_direct(struct device *dev)
{
	return !IS_ENABLED(CONFIG_HIGHMEM) && !device_iommu_mapped(dev) &&
	       !get_dma_ops(dev) && dev_is_dma_coherent(dev);
}

static struct device *ntrdma_dma_device_alloc(void)
{
	struct platform_device *pdev;
	int ret;

	pdev = platform_device_register_simple("ntrdma-dma",
					       PLATFORM_DEVID_AUTO, NULL, 0);
	if (IS_ERR(pdev))
		return ERR_CAST(pdev);
	ret = !ntrdma_dma_is_direct(&pdev->dev) ? -EOPNOTSUPP :
	      dma_coerce_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64));
	if (ret) {
		platform_device_unregister(pdev);
		return ERR_PTR(ret);
	}
	dma_set_max_seg_size(&pdev->dev, NTRDMA_DMA_SEGMENT);
	return &pdev->dev;
}

static void *ntrdma_dma_to_virt(struct device *dma_device, u64 addr, u32 bytes)
{
	phys_addr_t first = dma_to_phys(dma_device, addr);

	if (addr + bytes - 1 < addr || !pfn_valid(PHYS_PFN(first)) ||
	    !pfn_valid(PHYS_PFN(first + bytes - 1)))
		return NULL;
	return phys_to_virt(first);
}

/**
 * ntrdma_dma_device_get - create the device for the DMA API
 *
 * Context: may sleep.
 * Return: device for ntrdma_dma_device_put(); NULL without dma=1; or an error
 * pointer: -EOPNOTSUPP if DMA addresses are not those of cached memory, for
 * example because of an IOMMU.
 */
struct device *ntrdma_dma_device_get(void)
{
	return ntrdma_dma ? ntrdma_dma_device_alloc() : NULL;
}

/**
 * ntrdma_dma_device_put - remove a device of ntrdma_dma_device_get()
 * @dma_device: device, or NULL. Nothing is mapped for it.
 *
 * Context: may sleep.
 */
void ntrdma_dma_device_put(struct device *dma_device)
{
	if (dma_device)
		platform_device_unregister(to_platform_device(dma_device));
}

/**
 * ntrdma_dma_ptr - return the pointer to memory that is mapped for a device
 * @dma_device: device for the DMA API; NULL: addresses are kernel addresses
 * @addr: address of a work request or of a region
 * @bytes: length, not 0
 *
 * The device does not know which addresses are mapped. Like an adapter without
 * an IOMMU, it accepts each address.
 *
 * Context: any.
 * Return: pointer, or NULL if the address is outside of all memory. There may be
 * holes between memory, which are not noticed.
 */
void *ntrdma_dma_ptr(struct device *dma_device, u64 addr, u32 bytes)
{
	if (!dma_device)
		return (void *)(uintptr_t)addr;
	return ntrdma_dma_to_virt(dma_device, addr, bytes);
}
