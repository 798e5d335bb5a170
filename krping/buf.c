// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that READs and WRITEs move, and its registration.
 *
 * A buffer belongs to the CPU, or is mapped for the adapter:
 *
 *   krping_buf_map() > REG_MR > … > LOCAL_INV, completed > krping_buf_unmap()
 *
 * The order matters. While a key is valid, rxe looks up pages in the list that
 * ib_map_mr_sg() wrote, so ib_map_mr_sg() is called only while the key is
 * invalid. With a bounce buffer, received data reach the buffer only when it is
 * unmapped.
 *
 * With mem_mode=mr, and in most tests, a buffer stays mapped and registered for
 * the whole run, and the CPU gets access with krping_buf_for_cpu().
 */
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include "priv.h"

/*
 * List the pages of a buffer. The last page is mapped as a whole, because a
 * bounce buffer for a part of a page may begin inside a page, and the pages of
 * an MR must follow each other without a gap.
 */
static int krping_buf_alloc_sgl(struct krping_buf *buf)
{
	unsigned int i;

	buf->sgl = kcalloc(buf->npages, sizeof(*buf->sgl), GFP_KERNEL);
	if (!buf->sgl)
		return -ENOMEM;
	sg_init_table(buf->sgl, buf->npages);
	for (i = 0; i < buf->npages; i++)
		sg_set_page(&buf->sgl[i],
			    virt_to_page(buf->addr + i * PAGE_SIZE), PAGE_SIZE,
			    0);
	return 0;
}

/**
 * krping_buf_entries - return the number of page entries for a buffer in an MR
 * @buf: buffer whose length is set
 * @pd: protection domain of the connection
 *
 * Return: number of pages of krdma_mr_page_size() bytes.
 */
u32 krping_buf_entries(const struct krping_buf *buf, const struct ib_pd *pd)
{
	return buf->npages * (PAGE_SIZE / krdma_mr_page_size(pd->device));
}

/**
 * krping_buf_alloc - allocate a buffer and its MR
 * @buf: result, zeroed
 * @pd: protection domain of the connection
 * @size: length in bytes
 *
 * Return: 0; or -errno, with nothing left allocated.
 */
int krping_buf_alloc(struct krping_buf *buf, struct ib_pd *pd, u32 size)
{
	struct ib_mr *mr;
	int ret = -ENOMEM;

	buf->size = size;
	buf->npages = DIV_ROUND_UP(size, PAGE_SIZE);
	/*
	 * Allocate whole pages, because the page list of an MR has no smaller
	 * unit.
	 */
	buf->addr = alloc_pages_exact(size, GFP_KERNEL | __GFP_ZERO |
					    __GFP_NOWARN | __GFP_RETRY_MAYFAIL);
	if (!buf->addr)
		return ret;
	ret = krping_buf_alloc_sgl(buf);
	if (ret)
		goto err_free_pages;
	mr = ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG,
			 krdma_mr_room(pd->device,
				       krping_buf_entries(buf, pd)));
	if (IS_ERR(mr)) {
		ret = PTR_ERR(mr);
		goto err_free_sgl;
	}
	buf->mr = mr;
	buf->ibdev = pd->device;
	return 0;

err_free_sgl:
	kfree(buf->sgl);
err_free_pages:
	free_pages_exact(buf->addr, size);
	buf->addr = NULL;
	return ret;
}

/**
 * krping_buf_free - undo krping_buf_alloc()
 * @buf: buffer that no work request uses, mapped or not; or zeroes
 */
void krping_buf_free(struct krping_buf *buf)
{
	if (!buf->addr)
		return;
	/*
	 * The buffer is still mapped if the run failed, or if the buffer was
	 * mapped for the whole run. In these cases its key may be valid, so
	 * deregister the MR before unmapping the buffer.
	 */
	ib_dereg_mr(buf->mr);
	if (buf->mapped)
		krping_buf_unmap(buf);
	kfree(buf->sgl);
	free_pages_exact(buf->addr, buf->size);
	*buf = (struct krping_buf){};
}

/**
 * krping_buf_map - hand a buffer to the adapter, under a new key
 * @buf: buffer whose key is invalid
 * @dir: direction of the mapping
 *
 * The key becomes valid when a REG_MR is posted.
 *
 * Return: 0; or -errno, and the buffer still belongs to the CPU.
 */
int krping_buf_map(struct krping_buf *buf, enum dma_data_direction dir)
{
	struct ib_mr *mr = buf->mr;
	u32 rest = buf->npages * PAGE_SIZE - buf->size;
	struct scatterlist *last;
	int nents, ret;

	nents = ib_dma_map_sg(mr->device, buf->sgl, buf->npages, dir);
	if (nents <= 0)
		return -EIO;
	/* The key is only for the buffer, not for the rest of the last page. */
	last = &buf->sgl[nents - 1];
	sg_dma_len(last) -= rest;
	ret = ib_map_mr_sg(mr, buf->sgl, nents, NULL,
			   krdma_mr_page_size(mr->device));
	sg_dma_len(last) += rest;
	if (ret != nents) {
		ib_dma_unmap_sg(mr->device, buf->sgl, buf->npages, dir);
		return ret < 0 ? ret : -EINVAL;
	}
	ib_update_fast_reg_key(mr, ib_inc_rkey(mr->rkey));
	buf->dma = mr->iova;
	buf->nents = nents;
	buf->dir = dir;
	buf->mapped = true;
	return 0;
}

/**
 * krping_buf_map_local - hand a buffer to the adapter, without a key of its own
 * @buf: buffer whose key is invalid
 * @dir: direction of the mapping
 *
 * Work requests access the buffer at @buf->dma, with the PD's local_dma_lkey.
 *
 * Return: 0; or -errno, and the buffer still belongs to the CPU.
 */
int krping_buf_map_local(struct krping_buf *buf, enum dma_data_direction dir)
{
	u64 dma = ib_dma_map_single(buf->ibdev, buf->addr, buf->size, dir);

	if (ib_dma_mapping_error(buf->ibdev, dma))
		return -EIO;
	buf->dma = dma;
	buf->nents = 0;
	buf->dir = dir;
	buf->mapped = true;
	return 0;
}

/**
 * krping_buf_unmap - take a buffer back from the adapter
 * @buf: mapped buffer whose key is invalid: its LOCAL_INV has completed, or it
 *	was never registered
 */
void krping_buf_unmap(struct krping_buf *buf)
{
	if (buf->nents)
		ib_dma_unmap_sg(buf->ibdev, buf->sgl, buf->npages, buf->dir);
	else
		ib_dma_unmap_single(buf->ibdev, buf->dma, buf->size, buf->dir);
	buf->mapped = false;
}

/**
 * krping_buf_for_cpu - make the adapter's data visible to the CPU
 * @buf: mapped buffer; the adapter no longer writes to the part that the CPU is
 *	going to read
 *
 * Context: any.
 */
void krping_buf_for_cpu(struct krping_buf *buf)
{
	struct scatterlist *sg;
	int i;

	for_each_sg(buf->sgl, sg, buf->nents, i)
		ib_dma_sync_single_for_cpu(buf->ibdev,
					   sg_dma_address(sg), sg_dma_len(sg),
					   buf->dir);
}

/**
 * krping_buf_for_device - make the CPU's data visible to the adapter
 * @buf: mapped buffer that the CPU has read or written
 *
 * Context: any.
 */
void krping_buf_for_device(struct krping_buf *buf)
{
	struct scatterlist *sg;
	int i;

	for_each_sg(buf->sgl, sg, buf->nents, i)
		ib_dma_sync_single_for_device(buf->ibdev,
					      sg_dma_address(sg),
					      sg_dma_len(sg), buf->dir);
}

/**
 * krping_buf_peek - read one byte that the adapter may be writing
 * @buf: mapped buffer
 * @offset: offset of the byte
 *
 * Context: any.
 * Return: the current value of the byte.
 */
u8 krping_buf_peek(struct krping_buf *buf, u32 offset)
{
	struct scatterlist *sg;
	u32 left = offset;
	int i;

	for_each_sg(buf->sgl, sg, buf->nents, i) {
		if (left < sg_dma_len(sg)) {
			ib_dma_sync_single_for_cpu(buf->ibdev,
						   sg_dma_address(sg) + left,
						   1, buf->dir);
			break;
		}
		left -= sg_dma_len(sg);
	}
	return READ_ONCE(*((u8 *)buf->addr + offset));
}
