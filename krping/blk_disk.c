// SPDX-License-Identifier: GPL-2.0
/*
 * A disk: requests of the block layer, their local storage, and the decision
 * which of them go to the server. The block layer splits each request to at
 * most one slot of the ring.
 *
 * submit_bio() sends a request to the server first, then does it locally. The
 * request completes when it is done locally, and when the server has
 * acknowledged it if bio_mode says so. No memory is allocated except from
 * reserves (bio_set) and with GFP_NOIO, because a file system may write to the
 * disk in order to free memory.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/highmem.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "blk.h"

/* Number of requests for which memory is reserved. */
#define KRPING_BLK_IOS 64

/* ---- connection ---- */

static int krping_blk_peer_create(struct krping_blk_disk *disk)
{
	struct krping_blk_raw *raw;
	struct krping_blk_link *link;

	if (disk->opts->raw) {
		raw = krping_blk_raw_create(disk);
		if (IS_ERR(raw))
			return PTR_ERR(raw);
		disk->raw = raw;
		return 0;
	}
	link = krping_blk_link_create(disk);
	if (IS_ERR(link))
		return PTR_ERR(link);
	disk->link = link;
	return 0;
}

static int krping_blk_peer_start(struct krping_blk_disk *disk)
{
	return disk->raw ? krping_blk_raw_start(disk->raw) :
			   krping_blk_link_start(disk->link);
}

static int krping_blk_peer_send(struct krping_blk_disk *disk,
				struct krping_blk_io *io)
{
	return disk->raw ? krping_blk_raw_send(disk->raw, io) :
			   krping_blk_link_send(disk->link, io);
}

static void krping_blk_peer_stop(struct krping_blk_disk *disk)
{
	if (disk->raw)
		krping_blk_raw_stop(disk->raw);
	else
		krping_blk_link_stop(disk->link);
}

static void krping_blk_peer_destroy(struct krping_blk_disk *disk)
{
	if (disk->raw)
		krping_blk_raw_destroy(disk->raw);
	else
		krping_blk_link_destroy(disk->link);
}

/* ---- requests ---- */

static void krping_blk_disk_put(struct krping_blk_disk *disk)
{
	if (refcount_dec_and_test(&disk->refs))
		complete(&disk->idle);
}

/**
 * krping_blk_io_copy - copy the data of a request
 * @io: request with %KRPING_BLK_WRITE
 * @to: room for the bytes of @io
 */
void krping_blk_io_copy(const struct krping_blk_io *io, void *to)
{
	struct bvec_iter iter;
	struct bio_vec bv;

	bio_for_each_segment(bv, io->bio, iter) {
		memcpy_from_bvec(to, &bv);
		to += bv.bv_len;
	}
}

/**
 * krping_blk_io_request - describe a request for the server
 * @io: request
 *
 * Context: the task that has submitted the request.
 * Return: the description, without a sequence number and a checksum.
 */
struct krping_blk_request
krping_blk_io_request(const struct krping_blk_io *io)
{
	blk_opf_t opf = io->bio->bi_opf;

	return (struct krping_blk_request) {
		.op = io->op,
		.flags = (opf & REQ_FUA ? KRPING_BLK_FUA : 0) |
			 (opf & REQ_PREFLUSH ? KRPING_BLK_PREFLUSH : 0),
		.bytes = io->bytes,
		.offset = io->offset,
		.tgid = current->tgid,
	};
}

/**
 * krping_blk_io_put - end one part of a request
 * @io: request
 * @status: result of this part
 *
 * The request completes with its last part.
 *
 * Context: any.
 */
void krping_blk_io_put(struct krping_blk_io *io, blk_status_t status)
{
	struct krping_blk_disk *disk = io->disk;
	struct bio *bio = io->bio;

	if (status)
		WRITE_ONCE(io->status, status);
	if (!refcount_dec_and_test(&io->refs))
		return;
	if (io->number)
		krping_blk_link_end_io(disk->link, io);
	bio->bi_status = READ_ONCE(io->status);
	bio_end_io_acct(bio, io->start);
	bio_put(&io->clone);
	bio_endio(bio);
	if (disk->link)
		krping_blk_link_io_ended(disk->link);
	krping_blk_disk_put(disk);
}

static void krping_blk_lower_end(struct bio *clone)
{
	krping_blk_io_put(container_of(clone, struct krping_blk_io, clone),
			  clone->bi_status);
}

/* Return the operation of a request, or a negative errno. */
static int krping_blk_bio_op(const struct bio *bio)
{
	switch (bio_op(bio)) {
	case REQ_OP_READ:
		return KRPING_BLK_READ;
	case REQ_OP_WRITE:
		return bio_sectors(bio) ? KRPING_BLK_WRITE : KRPING_BLK_FLUSH;
	case REQ_OP_DISCARD:
		return KRPING_BLK_DISCARD;
	case REQ_OP_WRITE_ZEROES:
		return KRPING_BLK_ZEROES;
	default:
		return -EOPNOTSUPP;
	}
}

static bool krping_blk_disk_sends(const struct krping_blk_disk *disk,
				  struct bio *bio, enum krping_blk_op op)
{
	const struct krping_blk_subject subject = {
		.op = op,
		.bytes = bio->bi_iter.bi_size,
		.offset = (u64)bio->bi_iter.bi_sector << SECTOR_SHIFT,
		.tgid = current->tgid,
		.in_cgroup = disk->cgroup &&
			     krping_blk_cgroup_has(disk->cgroup, bio),
		.comm = current->comm,
	};

	return krping_blk_filter_matches(&disk->opts->filter, &subject);
}

/* ---- local storage ---- */

static int krping_blk_ram_copy(struct krping_blk_store *store, struct bio *bio,
			       bool write)
{
	u64 offset = (u64)bio->bi_iter.bi_sector << SECTOR_SHIFT;
	struct bvec_iter iter;
	struct bio_vec bv;
	int ret = 0;

	bio_for_each_segment(bv, bio, iter) {
		void *data = bvec_kmap_local(&bv);

		if (write)
			ret = krping_blk_store_write(store, offset, data,
						     bv.bv_len);
		else
			krping_blk_store_read(store, offset, data, bv.bv_len);
		kunmap_local(data);
		if (ret)
			return ret;
		if (!write)
			flush_dcache_page(bv.bv_page);
		offset += bv.bv_len;
	}
	return 0;
}

static blk_status_t krping_blk_ram_do(struct krping_blk_store *store,
				      struct bio *bio, enum krping_blk_op op)
{
	switch (op) {
	case KRPING_BLK_READ:
	case KRPING_BLK_WRITE:
		return errno_to_blk_status(krping_blk_ram_copy(store, bio,
							       op == KRPING_BLK_WRITE));
	case KRPING_BLK_DISCARD:
	case KRPING_BLK_ZEROES:
		krping_blk_store_zero(store,
				      (u64)bio->bi_iter.bi_sector << SECTOR_SHIFT,
				      bio->bi_iter.bi_size);
		return BLK_STS_OK;
	case KRPING_BLK_FLUSH:
		return BLK_STS_OK;
	}
	return BLK_STS_NOTSUPP;
}

/* ---- submission ---- */

static struct krping_blk_io *krping_blk_io_alloc(struct krping_blk_disk *disk,
						 struct bio *bio,
						 enum krping_blk_op op)
{
	struct krping_blk_io *io;
	struct bio *clone;

	if (disk->store)
		clone = bio_alloc_bioset(NULL, 0, 0, GFP_NOIO, &disk->ios);
	else
		clone = bio_alloc_clone(disk->lower.bdev, bio, GFP_NOIO,
					&disk->ios);
	if (!clone)
		return NULL;
	io = container_of(clone, struct krping_blk_io, clone);
	io->disk = disk;
	io->bio = bio;
	refcount_set(&io->refs, 1);
	io->op = op;
	io->offset = op == KRPING_BLK_FLUSH ? 0 :
		     (u64)bio->bi_iter.bi_sector << SECTOR_SHIFT;
	io->bytes = bio->bi_iter.bi_size;
	io->number = 0;
	io->status = BLK_STS_OK;
	refcount_inc(&disk->refs);
	io->start = bio_start_io_acct(bio);
	return io;
}

static void krping_blk_submit_bio(struct bio *bio)
{
	struct krping_blk_disk *disk = bio->bi_bdev->bd_disk->private_data;
	struct krping_blk_io *io;
	int op, ret = 0;

	bio = bio_split_to_limits(bio);
	if (!bio)
		return;
	op = krping_blk_bio_op(bio);
	io = op < 0 ? NULL : krping_blk_io_alloc(disk, bio, op);
	if (!io) {
		bio->bi_status = op < 0 ? BLK_STS_NOTSUPP : BLK_STS_RESOURCE;
		bio_endio(bio);
		return;
	}
	if (krping_blk_disk_sends(disk, bio, op))
		ret = krping_blk_peer_send(disk, io);
	if (ret) {
		krping_blk_io_put(io, errno_to_blk_status(ret));
	} else if (disk->store) {
		krping_blk_io_put(io, krping_blk_ram_do(disk->store, bio, op));
	} else {
		/* The lower device gets the reference of this function. */
		io->clone.bi_end_io = krping_blk_lower_end;
		submit_bio_noacct(&io->clone);
	}
}

/**
 * krping_blk_disk_read - read from the local storage of a disk
 * @disk: disk
 * @offset: first byte of a range within the disk
 * @data: vmalloc() memory that begins at a page
 * @len: number of bytes
 *
 * Context: process, waits for the lower device.
 * Return: 0 or a negative errno.
 */
int krping_blk_disk_read(struct krping_blk_disk *disk, u64 offset, void *data,
			 u32 len)
{
	if (!disk->store)
		return krping_blk_bdev_move(disk->lower.bdev, REQ_OP_READ,
					    offset, data, len);
	krping_blk_store_read(disk->store, offset, data, len);
	return 0;
}

static const struct block_device_operations krping_blk_fops = {
	.owner = THIS_MODULE,
	.submit_bio = krping_blk_submit_bio,
};

/* ---- creation and removal ---- */

static int krping_blk_lower_open(struct krping_blk_disk *disk)
{
	int ret = krdma_bdev_open(&disk->lower, disk->opts->path, disk);

	if (ret)
		return ret;
	if (bdev_is_zoned(disk->lower.bdev)) {
		krdma_bdev_close(&disk->lower, disk);
		return -EOPNOTSUPP;
	}
	disk->capacity = bdev_nr_bytes(disk->lower.bdev);
	return 0;
}

static int krping_blk_backing_open(struct krping_blk_disk *disk)
{
	struct krping_blk_store *store;

	if (disk->opts->backing == KRPING_BLK_STACK)
		return krping_blk_lower_open(disk);
	store = krping_blk_store_create();
	if (IS_ERR(store))
		return PTR_ERR(store);
	disk->store = store;
	disk->capacity = disk->opts->ram;
	return 0;
}

static void krping_blk_backing_close(struct krping_blk_disk *disk)
{
	if (disk->store)
		krping_blk_store_destroy(disk->store);
	else
		krdma_bdev_close(&disk->lower, disk);
}

static int krping_blk_gendisk_add(struct krping_blk_disk *disk)
{
	const struct krdma_disk_limits limits = {
		.lower = disk->store ? NULL : disk->lower.bdev,
		.max_bytes = disk->opts->slot,
	};
	struct gendisk *gd = krdma_disk_alloc(&limits);
	int ret;

	if (IS_ERR(gd))
		return PTR_ERR(gd);
	gd->flags |= GENHD_FL_NO_PART;
	gd->fops = &krping_blk_fops;
	gd->private_data = disk;
	strscpy(gd->disk_name, disk->name, sizeof(gd->disk_name));
	set_capacity(gd, disk->capacity >> SECTOR_SHIFT);
	disk->gd = gd;
	ret = add_disk(gd);
	if (ret)
		put_disk(gd);
	return ret;
}

/**
 * krping_blk_disk_create - connect to a server, and create a disk
 * @opts: command, which exists as long as the disk
 * @name: name of the disk, which no other disk has
 * @result: the disk, for krping_blk_disk_destroy()
 *
 * Context: process; waits up to bio_timeout for the server; killable.
 * Return: 0 or a negative errno.
 */
int krping_blk_disk_create(const struct krping_blk_opts *opts,
			   const char *name, struct krping_blk_disk **result)
{
	struct krping_blk_disk *disk = kzalloc(sizeof(*disk), GFP_KERNEL);
	int ret;

	if (!disk)
		return -ENOMEM;
	disk->opts = opts;
	strscpy(disk->name, name, sizeof(disk->name));
	refcount_set(&disk->refs, 1);
	init_completion(&disk->idle);
	ret = krping_blk_cgroup_get(opts->filter.cgroup, &disk->cgroup);
	if (ret)
		goto err_free;
	ret = bioset_init(&disk->ios, KRPING_BLK_IOS,
			  offsetof(struct krping_blk_io, clone), 0);
	if (ret)
		goto err_put_cgroup;
	ret = krping_blk_backing_open(disk);
	if (ret)
		goto err_exit_ios;
	ret = krping_blk_peer_create(disk);
	if (ret)
		goto err_close_backing;
	ret = krping_blk_peer_start(disk) ?: krping_blk_gendisk_add(disk);
	if (ret)
		goto err_destroy_peer;
	*result = disk;
	return 0;

err_destroy_peer:
	krping_blk_peer_destroy(disk);
err_close_backing:
	krping_blk_backing_close(disk);
err_exit_ios:
	bioset_exit(&disk->ios);
err_put_cgroup:
	krping_blk_cgroup_put(disk->cgroup);
err_free:
	kfree(disk);
	return ret;
}

/**
 * krping_blk_disk_is_open - check whether a program or file system uses a disk
 * @disk: disk
 *
 * Return: true if the disk is open.
 */
bool krping_blk_disk_is_open(struct krping_blk_disk *disk)
{
	return disk_openers(disk->gd);
}

/**
 * krping_blk_disk_destroy - remove a disk
 * @disk: disk
 * @force: the disk may be open: fail its requests at once
 *
 * Without @force, dirty pages of the page cache are written first. Requests in
 * flight end with bio_timeout at the latest, and those of a lower device when
 * this device completes them.
 *
 * Context: process.
 */
void krping_blk_disk_destroy(struct krping_blk_disk *disk, bool force)
{
	if (force) {
		blk_mark_disk_dead(disk->gd);
		krping_blk_peer_stop(disk);
	}
	del_gendisk(disk->gd);
	krping_blk_peer_stop(disk);
	krping_blk_disk_put(disk);
	/* Requests of the lower device use the link when they end. */
	wait_for_completion(&disk->idle);
	krping_blk_peer_destroy(disk);
	put_disk(disk->gd);
	krping_blk_backing_close(disk);
	bioset_exit(&disk->ios);
	krping_blk_cgroup_put(disk->cgroup);
	kfree(disk);
}

/**
 * krping_blk_disk_show - print the line of a disk
 * @m: output
 * @disk: disk
 */
void krping_blk_disk_show(struct seq_file *m, struct krping_blk_disk *disk)
{
	static const char *const modes[] = {
		[KRPING_BLK_SYNC] = "sync",
		[KRPING_BLK_ASYNC] = "async",
		[KRPING_BLK_TAP] = "tap",
	};

	seq_printf(m, "client %s mode=%s", disk->name,
		   disk->raw ? "raw" : modes[disk->opts->mode]);
	if (disk->raw)
		krping_blk_raw_show(m, disk->raw);
	else
		krping_blk_link_show(m, disk->link);
}
