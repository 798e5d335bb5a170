// SPDX-License-Identifier: GPL-2.0
/*
 * Tap: send copies of requests to the server, without delaying the programs.
 *
 * A program only copies the data of its request into a free copy. A work
 * computes the checksum, waits for a slot of the link, and posts the request.
 * If no copy is free, the request does not go to the server.
 *
 * The work would take processor time from the request while the local storage
 * does it, and from the program that waits for the request. So the work begins
 * a jiffy after a request has ended, or earlier if half of the copies wait. The
 * program also needs no time to wake a worker for each request.
 *
 * The copies are allocated when the disk is created. krping_blk_tap.lock
 * protects the two lists. A copy that is in neither list belongs to the task
 * that fills it, or to the work.
 */
#include <linux/bvec.h>
#include <linux/overflow.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "blk.h"

/**
 * struct krping_blk_copy - copy of a request
 * @entry: in krping_blk_tap.idle or krping_blk_tap.filled
 * @req: the request, without a sequence number and a checksum
 * @data: room for the data, bio_slot bytes
 */
struct krping_blk_copy {
	struct list_head entry;
	struct krping_blk_request req;
	void *data;
};

/**
 * struct krping_blk_tap - tap of a disk
 * @link: link that sends the requests
 * @work: sends the copies in @filled
 * @data: memory of all copies
 * @lock: protects the lists
 * @idle: free copies; the first one was used last, so that its data are probably
 *	in the cache
 * @filled: copies to send, the oldest first
 * @nfilled: number of copies in @filled
 * @depth: number of copies
 * @copies: the copies, bio_depth of them
 */
struct krping_blk_tap {
	struct krping_blk_link *link;
	struct delayed_work work;
	void *data;
	spinlock_t lock; /* protects the lists */
	struct list_head idle;
	struct list_head filled;
	u32 nfilled;
	u32 depth;
	struct krping_blk_copy copies[];
};

/* Take the first copy off a list. Return NULL if there is none. */
static struct krping_blk_copy *krping_blk_copy_get(struct krping_blk_tap *tap,
						   struct list_head *list)
{
	struct krping_blk_copy *copy;

	spin_lock(&tap->lock);
	copy = list_first_entry_or_null(list, struct krping_blk_copy, entry);
	if (copy)
		list_del(&copy->entry);
	if (copy && list == &tap->filled)
		WRITE_ONCE(tap->nfilled, tap->nfilled - 1);
	spin_unlock(&tap->lock);
	return copy;
}

static void krping_blk_copy_put(struct krping_blk_tap *tap,
				struct krping_blk_copy *copy)
{
	spin_lock(&tap->lock);
	list_add(&copy->entry, &tap->idle);
	spin_unlock(&tap->lock);
}

/* Let a copy wait for the work. Return the number of copies that wait. */
static u32 krping_blk_copy_queue(struct krping_blk_tap *tap,
				 struct krping_blk_copy *copy)
{
	u32 n;

	spin_lock(&tap->lock);
	list_add_tail(&copy->entry, &tap->filled);
	n = tap->nfilled + 1;
	WRITE_ONCE(tap->nfilled, n);
	spin_unlock(&tap->lock);
	return n;
}

static void krping_blk_tap_work(struct work_struct *work)
{
	struct krping_blk_tap *tap =
		container_of(work, struct krping_blk_tap, work.work);
	unsigned int noio = memalloc_noio_save();
	struct krping_blk_copy *copy;

	for (;;) {
		copy = krping_blk_copy_get(tap, &tap->filled);
		if (!copy)
			break;
		krping_blk_link_send_copy(tap->link, &copy->req, copy->data);
		krping_blk_copy_put(tap, copy);
		cond_resched();
	}
	memalloc_noio_restore(noio);
}

/**
 * krping_blk_tap_send - copy a request, and send the copy later
 * @tap: tap
 * @io: request
 *
 * Context: process; does not wait.
 * Return: true; false if no copy is free.
 */
bool krping_blk_tap_send(struct krping_blk_tap *tap,
			 const struct krping_blk_io *io)
{
	struct krping_blk_copy *copy = krping_blk_copy_get(tap, &tap->idle);

	if (!copy)
		return false;
	copy->req = krping_blk_io_request(io);
	if (io->op == KRPING_BLK_WRITE)
		krping_blk_io_copy(io, copy->data);
	if (krping_blk_copy_queue(tap, copy) == tap->depth / 2 + 1)
		mod_delayed_work(krping_blk_wq, &tap->work, 0);
	return true;
}

/**
 * krping_blk_tap_kick - send the copies that wait, after a jiffy
 * @tap: tap; a request of the disk has ended
 *
 * Context: any.
 */
void krping_blk_tap_kick(struct krping_blk_tap *tap)
{
	if (READ_ONCE(tap->nfilled))
		queue_delayed_work(krping_blk_wq, &tap->work, 1);
}

/**
 * krping_blk_tap_create - allocate a tap
 * @link: link that sends the requests
 * @opts: command that creates the disk
 *
 * Return: tap for krping_blk_tap_destroy(), or NULL.
 */
struct krping_blk_tap *krping_blk_tap_create(struct krping_blk_link *link,
					     const struct krping_blk_opts *opts)
{
	struct krping_blk_tap *tap;
	u32 i;

	tap = kvzalloc(struct_size(tap, copies, opts->depth), GFP_KERNEL);
	if (!tap)
		return NULL;
	tap->data = vzalloc(array_size(opts->depth, opts->slot));
	if (!tap->data) {
		kvfree(tap);
		return NULL;
	}
	tap->link = link;
	tap->depth = opts->depth;
	INIT_DELAYED_WORK(&tap->work, krping_blk_tap_work);
	spin_lock_init(&tap->lock);
	INIT_LIST_HEAD(&tap->idle);
	INIT_LIST_HEAD(&tap->filled);
	for (i = 0; i < opts->depth; i++) {
		tap->copies[i].data = tap->data + (u64)i * opts->slot;
		list_add_tail(&tap->copies[i].entry, &tap->idle);
	}
	return tap;
}

/**
 * krping_blk_tap_stop - send or drop all copies
 * @tap: tap of a link that is being stopped, or NULL
 *
 * Context: process; waits for the work, which does not wait for the server any
 * more.
 */
void krping_blk_tap_stop(struct krping_blk_tap *tap)
{
	if (!tap)
		return;
	krping_blk_tap_kick(tap);
	flush_delayed_work(&tap->work);
}

/**
 * krping_blk_tap_destroy - free a tap
 * @tap: tap that no task uses, or NULL
 *
 * Context: process; as for krping_blk_tap_stop().
 */
void krping_blk_tap_destroy(struct krping_blk_tap *tap)
{
	if (!tap)
		return;
	krping_blk_tap_stop(tap);
	vfree(tap->data);
	kvfree(tap);
}
