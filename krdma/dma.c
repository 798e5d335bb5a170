// SPDX-License-Identifier: GPL-2.0
/*
 * Memory and the DMA API: checks whether memory can be mapped, sizes of pieces,
 * and the mappings of regions.
 *
 * A region is mapped in chunks. Each chunk is a scatterlist with one element
 * for each page. With bounce buffers (swiotlb) or cache flushes, the CPU and
 * the adapter see different bytes until a sync. A sync overwrites bytes, and
 * bytes that the caller does not sync may be in use. Therefore
 * krdma_chunk_sync() has an offset and a length, and leaves bytes outside of
 * that range unchanged.
 *
 * No function here takes a lock or sleeps, unless its description says so.
 */
#include <linux/dma-mapping.h>
#include <linux/export.h>
#include <linux/memremap.h>
#include <linux/mm.h>
#include <linux/scatterlist.h>

#include "region.h"

/*
 * Maximum number of page entries of one MR. It keeps MRs small on devices that
 * allow much more.
 */
#define KRDMA_MR_ENTRIES_MAX 512U

/**
 * krdma_dma_page_ok - check whether a page may be mapped
 * @page: page, or NULL
 *
 * Return: true if it may; false for NULL, and for memory of a PCI device,
 * because dma_map_page() maps such memory to an invalid address without an
 * error.
 */
bool krdma_dma_page_ok(const struct page *page)
{
	return page && !is_pci_p2pdma_page(page);
}

/**
 * krdma_dma_virt_ok - check whether kernel memory has pages that may be mapped
 * @addr: first byte
 * @len: bytes, not 0
 *
 * On most architectures, static data of a module is neither vmalloc() memory
 * nor linear memory. virt_to_page() would return an unrelated page for it.
 *
 * Context: any.
 * Return: true if all of the memory is from vmalloc(), or all of it is linear
 * memory.
 */
bool krdma_dma_virt_ok(const void *addr, size_t len)
{
	const void *last = addr + len - 1;

	if (last < addr)
		return false;
	if (is_vmalloc_addr(addr) || is_vmalloc_addr(last))
		return is_vmalloc_addr(addr) && is_vmalloc_addr(last);
	return virt_addr_valid(addr) && virt_addr_valid(last);
}

/**
 * krdma_dma_max - return the maximum length of a DMA mapping
 * @ibdev: device
 *
 * Return: bytes, at least a page.
 */
u32 krdma_dma_max(const struct ib_device *ibdev)
{
	struct ib_device *dev = (struct ib_device *)ibdev;

	if (ib_uses_virt_dma(dev))
		return U32_MAX;
	return clamp_t(size_t, dma_max_mapping_size(dev->dma_device), PAGE_SIZE,
		       U32_MAX);
}

/**
 * krdma_mr_page_size - return the page size for registrations
 * @ibdev: device
 *
 * The result is an argument of ib_map_mr_sg(). If a device does not support the
 * page size of a registration, its driver may silently use another size. The
 * adapter would then access other memory (for example irdma).
 *
 * Context: any.
 * Return: the largest supported size, in bytes, that divides the kernel's page
 * size.
 */
u32 krdma_mr_page_size(const struct ib_device *ibdev)
{
	u64 sizes = ibdev->attrs.page_size_cap & (PAGE_SIZE | (PAGE_SIZE - 1));

	/* siw reports no page sizes, so sizes may be 0. */
	return sizes ? 1U << (fls64(sizes) - 1) : PAGE_SIZE;
}
EXPORT_SYMBOL_NS_GPL(krdma_mr_page_size, KRDMA_NS);

/**
 * krdma_dma_mr_entries - return the maximum number of page entries of one MR
 * @ibdev: device
 *
 * Return: number of pages of krdma_mr_page_size() bytes; 0 if the device has
 * no fast registration.
 */
u32 krdma_dma_mr_entries(const struct ib_device *ibdev)
{
	return min(ibdev->attrs.max_fast_reg_page_list_len,
		   KRDMA_MR_ENTRIES_MAX);
}

/**
 * krdma_dma_is_coherent - check whether a newly allocated page needs no sync
 * @ibdev: device
 *
 * Allocates and maps a page for the test, so that no other memory is affected.
 *
 * Context: process, may sleep.
 * Return: true if the page needs no sync; false if it needs bounce buffers or
 * cache flushes, or if memory is short.
 */
bool krdma_dma_is_coherent(struct ib_device *ibdev)
{
	bool coherent = false;
	void *page;
	u64 dma;

	if (ib_uses_virt_dma(ibdev))
		return true;
	page = (void *)get_zeroed_page(GFP_KERNEL);
	if (!page)
		return false;
	dma = ib_dma_map_single(ibdev, page, PAGE_SIZE, DMA_BIDIRECTIONAL);
	if (!ib_dma_mapping_error(ibdev, dma)) {
		coherent = !dma_need_sync(ibdev->dma_device, dma);
		ib_dma_unmap_single(ibdev, dma, PAGE_SIZE, DMA_BIDIRECTIONAL);
	}
	free_page((unsigned long)page);
	return coherent;
}

/**
 * krdma_dma_region_dir - return the DMA direction of a region
 * @access: access rights and properties, KRDMA_REMOTE_* and others
 *
 * Return: DMA_TO_DEVICE if no adapter writes to the region, DMA_FROM_DEVICE if
 * no adapter reads it, otherwise DMA_BIDIRECTIONAL.
 */
enum dma_data_direction krdma_dma_region_dir(u32 access)
{
	bool written = access & (KRDMA_REMOTE_WRITE | KRDMA_READ_SINK);
	bool read = access & KRDMA_REMOTE_READ;

	if (access & KRDMA_REMOTE_ATOMIC)
		return DMA_BIDIRECTIONAL;
	if (read && !written)
		return DMA_TO_DEVICE;
	if (written && !read && access & KRDMA_NO_SOURCE)
		return DMA_FROM_DEVICE;
	return DMA_BIDIRECTIONAL;
}

/* ---- chunks of regions ---- */

/**
 * krdma_chunk_fill - set the memory of a chunk
 * @chunk: zeroed chunk
 * @pages: pages of the chunk
 * @first: offset of the first byte in the first page
 * @len: number of bytes of the region in the chunk
 * @pad: number of bytes after the @len bytes that belong to the same owner.
 *	They are mapped but not registered, so that the mapping has whole pages
 *
 * Context: process, may sleep.
 * Return: 0 or -ENOMEM; the caller must call krdma_chunk_free() in both cases.
 */
int krdma_chunk_fill(struct krdma_chunk *chunk, struct page **pages, u32 first,
		     u32 len, u32 pad)
{
	u32 npages = DIV_ROUND_UP(first + len, PAGE_SIZE);

	chunk->len = len;
	chunk->pad = pad;
	return sg_alloc_table_from_pages_segment(&chunk->sgt, pages, npages,
						 first, len + pad, PAGE_SIZE,
						 GFP_KERNEL);
}

/**
 * krdma_chunk_free - undo krdma_chunk_fill()
 * @chunk: chunk that is not mapped
 */
void krdma_chunk_free(struct krdma_chunk *chunk)
{
	sg_free_table(&chunk->sgt);
}

/**
 * krdma_chunk_map - map a chunk for DMA
 * @ibdev: device
 * @chunk: chunk that is not mapped
 * @dir: direction
 * @attrs: DMA_ATTR_*
 *
 * Return: 0 or -ENOMEM.
 */
int krdma_chunk_map(struct ib_device *ibdev, struct krdma_chunk *chunk,
		    enum dma_data_direction dir, unsigned long attrs)
{
	int nents = ib_dma_map_sg_attrs(ibdev, chunk->sgt.sgl,
					chunk->sgt.orig_nents, dir, attrs);

	if (nents <= 0)
		return -ENOMEM;
	chunk->sgt.nents = nents;
	chunk->mapped = true;
	return 0;
}

/**
 * krdma_chunk_unmap - undo krdma_chunk_map()
 * @ibdev: device
 * @chunk: chunk; no effect if it is not mapped
 * @dir: direction that the chunk was mapped with
 * @attrs: attributes that the chunk was mapped with
 */
void krdma_chunk_unmap(struct ib_device *ibdev, struct krdma_chunk *chunk,
		       enum dma_data_direction dir, unsigned long attrs)
{
	if (chunk->mapped)
		ib_dma_unmap_sg_attrs(ibdev, chunk->sgt.sgl,
				      chunk->sgt.orig_nents, dir, attrs);
	chunk->mapped = false;
}

/**
 * krdma_chunk_is_coherent - check whether a mapped chunk needs no sync
 * @ibdev: device
 * @chunk: mapped chunk
 *
 * Return: true if the CPU and the adapter always see the same bytes.
 */
bool krdma_chunk_is_coherent(struct ib_device *ibdev,
			     const struct krdma_chunk *chunk)
{
	struct scatterlist *sg;
	int i;

	if (ib_uses_virt_dma(ibdev))
		return true;
	for_each_sgtable_dma_sg(&chunk->sgt, sg, i)
		if (dma_need_sync(ibdev->dma_device, sg_dma_address(sg)))
			return false;
	return true;
}

/*
 * Sync a DMA range page by page. An IOMMU may have merged pages into one range,
 * but dma_sync_single_for_cpu() treats the memory of a range as contiguous.
 */
static void krdma_dma_sync_pages(struct ib_device *ibdev, u64 dma, u32 len,
				 enum dma_data_direction dir, bool for_cpu)
{
	u32 part;

	for (; len; dma += part, len -= part) {
		part = min_t(u32, len, PAGE_SIZE - (dma & (PAGE_SIZE - 1)));
		if (for_cpu)
			ib_dma_sync_single_for_cpu(ibdev, dma, part, dir);
		else
			ib_dma_sync_single_for_device(ibdev, dma, part, dir);
	}
}

/**
 * krdma_chunk_sync - synchronize a part of a mapped chunk
 * @ibdev: device
 * @chunk: mapped chunk
 * @offset: offset in the chunk
 * @len: number of bytes; @offset + @len is within the chunk
 * @dir: direction that the chunk was mapped with
 * @for_cpu: true: the CPU uses the memory next; false: the adapter does
 *
 * Context: any.
 */
void krdma_chunk_sync(struct ib_device *ibdev, const struct krdma_chunk *chunk,
		      u32 offset, u32 len, enum dma_data_direction dir,
		      bool for_cpu)
{
	struct scatterlist *sg;
	u32 part;
	int i;

	for_each_sgtable_dma_sg(&chunk->sgt, sg, i) {
		if (!len)
			return;
		if (offset >= sg_dma_len(sg)) {
			offset -= sg_dma_len(sg);
			continue;
		}
		part = min(len, sg_dma_len(sg) - offset);
		krdma_dma_sync_pages(ibdev, sg_dma_address(sg) + offset, part,
				     dir, for_cpu);
		offset = 0;
		len -= part;
	}
}

/**
 * krdma_dma_entries - count the page entries that an MR needs
 * @sg: first element of a DMA mapped list
 * @nents: number of elements
 * @page_size: number of bytes of a page entry
 *
 * Return: number of entries. If it is more than krdma_dma_mr_entries(), several
 * MRs are needed.
 */
u32 krdma_dma_entries(struct scatterlist *sg, u32 nents, u32 page_size)
{
	u32 n = 0;

	for (; nents; nents--, sg = sg_next(sg))
		n += DIV_ROUND_UP((sg_dma_address(sg) & (page_size - 1)) +
				  sg_dma_len(sg), page_size);
	return n;
}

/**
 * krdma_dma_runs - return the maximum number of MRs for a chunk
 * @chunk: mapped chunk
 * @page_size: number of bytes of a page entry
 *
 * A piece is one element of the mapped scatterlist. Two consecutive pieces fit
 * into one MR if the second begins at the address where the first ends. They
 * also fit if both addresses are multiples of @page_size. A short piece often
 * meets neither condition, because it may lie anywhere in a page of a bounce
 * buffer.
 *
 * Return: number of MRs.
 */
u32 krdma_dma_runs(const struct krdma_chunk *chunk, u32 page_size)
{
	struct scatterlist *sg;
	u32 runs = 0;
	u64 end = 0;
	int i;

	for_each_sgtable_dma_sg(&chunk->sgt, sg, i) {
		if (!i || ((end | sg_dma_address(sg)) & (page_size - 1) &&
			   end != sg_dma_address(sg)))
			runs++;
		end = sg_dma_address(sg) + sg_dma_len(sg);
	}
	/*
	 * If a run of pieces that fit together does not begin at a multiple of
	 * page_size, it may need one entry more, and so one MR more.
	 */
	return 2 * runs;
}
