// SPDX-License-Identifier: GPL-2.0
/*
 * The target of a server, and the images in it. With bio_target=mem each disk
 * has an image of its own, which exists until the server stops, so that a disk
 * finds its image again when it connects again. debugfs shows the image. With
 * bio_target=bdev there is one image, the block device, which serves one disk at
 * a time.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "blk.h"

/* ---- images ---- */

static ssize_t krping_blk_image_read(struct file *file, char __user *ubuf,
				     size_t len, loff_t *pos)
{
	const struct krping_blk_image *image = file->private_data;
	size_t part;
	void *page;

	if (!len || *pos < 0 || *pos >= image->capacity)
		return 0;
	part = min_t(u64, min_t(size_t, len, PAGE_SIZE),
		     image->capacity - *pos);
	page = (void *)__get_free_page(GFP_KERNEL);
	if (!page)
		return -ENOMEM;
	krping_blk_store_read(image->store, *pos, page, part);
	len = part - copy_to_user(ubuf, page, part);
	free_page((unsigned long)page);
	*pos += len;
	return len ?: -EFAULT;
}

static const struct file_operations krping_blk_image_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.read = krping_blk_image_read,
	.llseek = generic_file_llseek,
};

static void krping_blk_image_free(struct krping_blk_image *image)
{
	debugfs_remove(image->dir);
	krping_blk_store_destroy(image->store);
	kfree(image);
}

static u64 krping_blk_images_bytes(struct krping_blk_server *server)
{
	struct krping_blk_image *image;
	u64 bytes = 0;

	list_for_each_entry(image, &server->images, link)
		bytes += image->capacity;
	return bytes;
}

static struct krping_blk_image *
krping_blk_image_find(struct krping_blk_server *server, const u8 *id)
{
	struct krping_blk_image *image;

	list_for_each_entry(image, &server->images, link) {
		if (server->opts->target == KRPING_BLK_BDEV ||
		    !memcmp(image->id, id, sizeof(image->id)))
			return image;
	}
	return NULL;
}

static int krping_blk_image_add_store(struct krping_blk_server *server,
				      struct krping_blk_image *image)
{
	struct krping_blk_store *store;
	char name[2 * KRPING_BLK_ID_LEN + 1];

	if (image->capacity > server->opts->cap ||
	    krping_blk_images_bytes(server) > server->opts->cap - image->capacity)
		return -ENOSPC;
	store = krping_blk_store_create();
	if (IS_ERR(store))
		return PTR_ERR(store);
	image->store = store;
	snprintf(name, sizeof(name), "%*phN", KRPING_BLK_ID_LEN, image->id);
	image->dir = debugfs_create_file(name, 0400, server->dir, image,
					 &krping_blk_image_fops);
	return 0;
}

static struct krping_blk_image *
krping_blk_image_create(struct krping_blk_server *server,
			const struct krping_blk_hello *hello)
{
	struct krping_blk_image *image = kzalloc(sizeof(*image), GFP_KERNEL);
	int ret = 0;

	if (!image)
		return ERR_PTR(-ENOMEM);
	image->capacity = hello->capacity;
	memcpy(image->id, hello->id, sizeof(image->id));
	if (server->opts->target == KRPING_BLK_MEM)
		ret = krping_blk_image_add_store(server, image);
	if (ret) {
		kfree(image);
		return ERR_PTR(ret);
	}
	list_add_tail(&image->link, &server->images);
	return image;
}

/**
 * krping_blk_image_get - find or create the image of a disk
 * @server: server
 * @hello: hello of the disk
 *
 * Return: image for krping_blk_image_put(), or an ERR_PTR: -EBUSY: another
 * connection uses the image; -EINVAL: the capacity of the disk has changed;
 * -ENOSPC: the disk is larger than the target; -ENOMEM.
 */
struct krping_blk_image *
krping_blk_image_get(struct krping_blk_server *server,
		     const struct krping_blk_hello *hello)
{
	struct krping_blk_image *image;

	lockdep_assert_held(&server->lock);
	if (server->opts->target == KRPING_BLK_BDEV &&
	    hello->capacity > bdev_nr_bytes(server->bdev.bdev))
		return ERR_PTR(-ENOSPC);
	image = krping_blk_image_find(server, hello->id) ?:
		krping_blk_image_create(server, hello);
	if (IS_ERR(image))
		return image;
	if (image->in_use)
		return ERR_PTR(-EBUSY);
	if (image->store && image->capacity != hello->capacity)
		return ERR_PTR(-EINVAL);
	image->in_use = true;
	return image;
}

/**
 * krping_blk_image_put - end the use of an image
 * @server: server
 * @image: image; only an image with storage stays
 */
void krping_blk_image_put(struct krping_blk_server *server,
			  struct krping_blk_image *image)
{
	lockdep_assert_held(&server->lock);
	image->in_use = false;
	if (image->store)
		return;
	list_del(&image->link);
	krping_blk_image_free(image);
}

/* ---- requests ---- */

static struct page *krping_blk_page(void *data)
{
	return is_vmalloc_addr(data) ? vmalloc_to_page(data) :
				       virt_to_page(data);
}

/**
 * krping_blk_bdev_move - read from a block device, or write to it
 * @bdev: block device
 * @opf: operation and its flags
 * @offset: first byte on the device
 * @data: memory that begins at a page
 * @len: number of bytes, a multiple of the logical block size
 *
 * Context: process, waits for the block device.
 * Return: 0 or a negative errno.
 */
int krping_blk_bdev_move(struct block_device *bdev, blk_opf_t opf, u64 offset,
			 void *data, u32 len)
{
	struct bio *bio = bio_alloc(bdev, DIV_ROUND_UP(len, PAGE_SIZE), opf,
				    GFP_NOIO);
	u32 part;
	int ret;

	if (!bio)
		return -ENOMEM;
	bio->bi_iter.bi_sector = offset >> SECTOR_SHIFT;
	for (; len; len -= part, data += part) {
		part = min_t(u32, len, PAGE_SIZE);
		if (bio_add_page(bio, krping_blk_page(data), part, 0) != part) {
			bio_put(bio);
			return -EIO;
		}
	}
	ret = submit_bio_wait(bio);
	bio_put(bio);
	return ret;
}

static int krping_blk_bdev_write(struct block_device *bdev,
				 const struct krping_blk_request *req,
				 void *data)
{
	blk_opf_t opf = REQ_OP_WRITE |
			(req->flags & KRPING_BLK_FUA ? REQ_FUA : 0) |
			(req->flags & KRPING_BLK_PREFLUSH ? REQ_PREFLUSH : 0);

	return krping_blk_bdev_move(bdev, opf, req->offset, data, req->bytes);
}

static int krping_blk_bdev_do(struct block_device *bdev,
			      const struct krping_blk_request *req, void *data)
{
	sector_t sector = req->offset >> SECTOR_SHIFT;
	sector_t count = req->bytes >> SECTOR_SHIFT;
	int ret;

	if ((req->offset | req->bytes) % bdev_logical_block_size(bdev))
		return -EINVAL;
	switch (req->op) {
	case KRPING_BLK_WRITE:
		return krping_blk_bdev_write(bdev, req, data);
	case KRPING_BLK_DISCARD:
		/* A device that cannot discard keeps the data. */
		ret = blkdev_issue_discard(bdev, sector, count, GFP_NOIO);
		return ret == -EOPNOTSUPP ? 0 : ret;
	case KRPING_BLK_ZEROES:
		ret = blkdev_issue_zeroout(bdev, sector, count, GFP_NOIO, 0);
		break;
	case KRPING_BLK_FLUSH:
		return blkdev_issue_flush(bdev);
	default:
		return 0;
	}
	if (!ret && req->flags & KRPING_BLK_FUA)
		ret = blkdev_issue_flush(bdev);
	return ret;
}

static int krping_blk_store_do(struct krping_blk_store *store,
			       const struct krping_blk_request *req,
			       const void *data)
{
	switch (req->op) {
	case KRPING_BLK_WRITE:
		return krping_blk_store_write(store, req->offset, data,
					      req->bytes);
	case KRPING_BLK_DISCARD:
	case KRPING_BLK_ZEROES:
		krping_blk_store_zero(store, req->offset, req->bytes);
		return 0;
	default:
		return 0;
	}
}

/**
 * krping_blk_target_do - do a request
 * @server: server
 * @image: image
 * @req: request whose range is within the image
 * @data: KRPING_BLK_WRITE: data, which begin at a page
 *
 * Context: process, waits for the block device.
 * Return: 0 when the request is done, with KRPING_BLK_FUA also on the medium;
 * or a negative errno.
 */
int krping_blk_target_do(struct krping_blk_server *server,
			 struct krping_blk_image *image,
			 const struct krping_blk_request *req, void *data)
{
	switch (server->opts->target) {
	case KRPING_BLK_MEM:
		return krping_blk_store_do(image->store, req, data);
	case KRPING_BLK_BDEV:
		return krping_blk_bdev_do(server->bdev.bdev, req, data);
	default:
		return 0;
	}
}

/**
 * krping_blk_target_open - open the target of a server
 * @server: server
 *
 * Return: 0 or a negative errno.
 */
int krping_blk_target_open(struct krping_blk_server *server)
{
	if (server->opts->target != KRPING_BLK_BDEV)
		return 0;
	return krdma_bdev_open(&server->bdev, server->opts->path, server);
}

/**
 * krping_blk_target_close - close the target of a server, and free all images
 * @server: server without connections
 */
void krping_blk_target_close(struct krping_blk_server *server)
{
	struct krping_blk_image *image, *next;

	list_for_each_entry_safe(image, next, &server->images, link) {
		list_del(&image->link);
		krping_blk_image_free(image);
	}
	if (server->opts->target == KRPING_BLK_BDEV)
		krdma_bdev_close(&server->bdev, server);
}
