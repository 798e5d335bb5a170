// SPDX-License-Identifier: GPL-2.0
/*
 * The memory that READ and WRITE move, and its registration.
 *
 * A buffer is the CPU's, or it is mapped for the adapter:
 *
 *   krping_buf_map() > REG_MR > … > LOCAL_INV, completed > krping_buf_unmap()
 *
 * The order matters. rxe looks pages up in what ib_map_mr_sg() wrote for as
 * long as the key is valid, so that is called for dead keys only; and a bounce
 * buffer's data is here only after unmapping.
 */
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include "priv.h"

static int krping_buf_alloc_sgl(struct krping_buf *buf)
{
	u32 left = buf->size;
	unsigned int i;

	buf->sgl = kcalloc(buf->npages, sizeof(*buf->sgl), GFP_KERNEL);
	if (!buf->sgl)
		return -ENOMEM;
	sg_init_table(buf->sgl, buf->npages);
	for (i = 0; i < buf->npages; i++) {
		u32 len = min_t(u32, left, PAGE_SIZE);

		sg_set_page(&buf->sgl[i],
			    virt_to_page(buf->addr + i * PAGE_SIZE), len, 0);
		left -= len;
	}
	return 0;
}

/**
 * krping_buf_alloc - make a buffer
 * @buf: result, zeroed
 * @pd: of the connection
 * @size: bytes
 *
 * Return: 0 or -errno; then nothing is left behind.
 */
int krping_buf_alloc(struct krping_buf *buf, struct ib_pd *pd, u32 size)
{
	struct ib_mr *mr;
	int ret = -ENOMEM;

	buf->size = size;
	buf->npages = DIV_ROUND_UP(size, PAGE_SIZE);
	/* Whole pages: an MR's page list knows no other. */
	buf->addr = alloc_pages_exact(size, GFP_KERNEL | __GFP_ZERO |
					    __GFP_NOWARN | __GFP_RETRY_MAYFAIL);
	if (!buf->addr)
		return ret;
	ret = krping_buf_alloc_sgl(buf);
	if (ret)
		goto err_free_pages;
	mr = ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG,
			 krdma_mr_room(pd->device, buf->npages));
	if (IS_ERR(mr)) {
		ret = PTR_ERR(mr);
		goto err_free_sgl;
	}
	buf->mr = mr;
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
 * @buf: buffer that no work request uses any more; mapped or not; or zeroed
 */
void krping_buf_free(struct krping_buf *buf)
{
	struct ib_device *ibdev;

	if (!buf->addr)
		return;
	ibdev = buf->mr->device;
	/* Still mapped if the run failed half way; then the key may be alive. */
	ib_dereg_mr(buf->mr);
	if (buf->mapped)
		ib_dma_unmap_sg(ibdev, buf->sgl, buf->npages, buf->dir);
	kfree(buf->sgl);
	free_pages_exact(buf->addr, buf->size);
	*buf = (struct krping_buf){};
}

/**
 * krping_buf_map - hand a buffer to the adapter, under a new key
 * @buf: buffer whose key is dead
 * @dir: what the adapter will do with it
 *
 * The key is valid once a REG_MR has been posted.
 *
 * Return: 0 or -errno; then it is still the CPU's.
 */
int krping_buf_map(struct krping_buf *buf, enum dma_data_direction dir)
{
	struct ib_mr *mr = buf->mr;
	int nents, ret;

	nents = ib_dma_map_sg(mr->device, buf->sgl, buf->npages, dir);
	if (nents <= 0)
		return -EIO;
	ret = ib_map_mr_sg(mr, buf->sgl, nents, NULL, PAGE_SIZE);
	if (ret != nents) {
		ib_dma_unmap_sg(mr->device, buf->sgl, buf->npages, dir);
		return ret < 0 ? ret : -EINVAL;
	}
	ib_update_fast_reg_key(mr, ib_inc_rkey(mr->rkey));
	buf->dir = dir;
	buf->mapped = true;
	return 0;
}

/**
 * krping_buf_unmap - take a buffer back from the adapter
 * @buf: mapped buffer whose LOCAL_INV has completed
 */
void krping_buf_unmap(struct krping_buf *buf)
{
	ib_dma_unmap_sg(buf->mr->device, buf->sgl, buf->npages, buf->dir);
	buf->mapped = false;
}
