/* SPDX-License-Identifier: GPL-2.0 */
/*
 * State of the tests that include vrfm_receive.h: a device without a node in
 * /dev, its link without a connection, and messages of the peer.
 */
#ifndef VRFM_FUZZ_H
#define VRFM_FUZZ_H

#include "vrfm_receive.h"

#include <kunit/test.h>
#include <linux/prandom.h>

#define MEMORY (8 * PAGE_SIZE)
#define WORDS (MEMORY / 4)
/* Guard bytes on both sides of the memory. */
#define FENCE PAGE_SIZE
#define FENCE_BYTE 0x5a
#define ROOM 8192
#define HEAD 40
/* Number of messages of this node that the peer may acknowledge. */
#define SENT 8
/*
 * Number of STAGEs of this node that the peer may answer. A STAGE lists ranges
 * that the peer must not write directly.
 */
#define TOLD 4

/**
 * struct fuzz - state of a test
 * @random: state of the random number generator
 * @vdev: device without a node in /dev
 * @link: link of the device
 * @cb: empty connection of @link
 * @room: the memory and its guard bytes
 * @wanted: expected contents of @room
 * @own: expected own words of this node, one byte each
 * @live: expected words that have arrived during the load
 * @msg: next message of the peer
 * @len: length of @msg, in bytes
 * @sequence: sequence number of the last valid message
 * @applied: acknowledgment in the last valid message
 * @answered: number of the STAGE of this node that the last valid message
 *	answers
 * @staged: number of the last valid STAGE of the peer
 * @map: a bit for each range that the last valid STAGE of the peer lists
 * @taken: number of valid messages, by type
 * @refused: number of invalid messages
 */
struct fuzz {
	struct rnd_state random;
	struct vrfm_dev *vdev;
	struct vrfm_link *link;
	struct krdma_cb cb;
	u8 *room;
	u8 *wanted;
	u8 own[WORDS];
	u8 live[WORDS];
	u8 msg[ROOM];
	u32 len;
	u64 sequence;
	u64 applied;
	u64 answered;
	u64 staged;
	u64 map;
	u32 taken[VRFM_WIRE_TYPES];
	u32 refused;
};

/* ---- the device ---- */

static void twin_free(struct vrfm_twin *twin)
{
	if (twin)
		free_page((unsigned long)twin->words);
	kfree(twin);
}

static struct vrfm_twin *twin_make(u32 index)
{
	struct vrfm_twin *twin = kzalloc(sizeof(*twin), GFP_KERNEL);

	if (!twin)
		return NULL;
	twin->index = index;
	twin->words = (void *)get_zeroed_page(GFP_KERNEL);
	if (twin->words)
		return twin;
	kfree(twin);
	return NULL;
}

static void dev_free(struct vrfm_dev *vdev)
{
	u32 i;

	for (i = 0; vdev->twins && i < MEMORY / PAGE_SIZE; i++)
		twin_free(vdev->twins[i]);
	kfree(vdev->twins);
	kfree(vdev->diff);
	kfree(vdev->own);
	kfree(vdev->live);
	kfree(vdev->status);
	kfree(vdev);
}

static int dev_fill(struct vrfm_dev *vdev)
{
	const u32 pages = MEMORY / PAGE_SIZE;
	u32 i;

	vdev->own = kzalloc(WORDS / BITS_PER_BYTE, GFP_KERNEL);
	vdev->live = kzalloc(WORDS / BITS_PER_BYTE, GFP_KERNEL);
	vdev->twins = kcalloc(pages, sizeof(*vdev->twins), GFP_KERNEL);
	vdev->diff = kzalloc(sizeof(*vdev->diff), GFP_KERNEL);
	vdev->status = kzalloc(sizeof(*vdev->status), GFP_KERNEL);
	vdev->resync.state = VRFM_RESYNC_SWEEPING;
	if (!vdev->own || !vdev->live || !vdev->twins || !vdev->diff ||
	    !vdev->status)
		return -ENOMEM;
	/* Programs can store into every third page. */
	for (i = 0; i < pages; i += 3) {
		vdev->twins[i] = twin_make(i);
		if (!vdev->twins[i])
			return -ENOMEM;
	}
	return 0;
}

static struct vrfm_dev *dev_make(u8 *memory)
{
	struct vrfm_dev *vdev = kzalloc(sizeof(*vdev), GFP_KERNEL);
	u32 i;

	if (!vdev)
		return NULL;
	vdev->params = (struct vrfm_params){ .node = 1, .size = MEMORY };
	vdev->dev.init_name = "rfm2g-fuzz";
	vdev->mem.vaddr = memory;
	rt_mutex_init(&vdev->write_lock);
	rt_mutex_init(&vdev->waiter_lock);
	vrfm_mappers_init(vdev);
	for (i = 0; i < VRFM_PAGE_LOCKS; i++)
		spin_lock_init(&vdev->page_locks[i].lock);
	spin_lock_init(&vdev->lock);
	INIT_LIST_HEAD(&vdev->links);
	INIT_LIST_HEAD(&vdev->rings);
	init_waitqueue_head(&vdev->room);
	init_waitqueue_head(&vdev->twin_wait);
	vrfm_watch_init(vdev);
	vrfm_resync_init(vdev);
	if (!dev_fill(vdev))
		return vdev;
	dev_free(vdev);
	return NULL;
}

/* Connect the link again, as vrfm_link_up() does. */
static void link_anew(struct fuzz *f)
{
	struct vrfm_link *link = f->link;

	spin_lock_bh(&link->lock);
	vrfm_link_reset_locked(link);
	link->window.opened = SENT;
	link->window.posted = SENT;
	link->window.completed = SENT;
	link->conn.cb = &f->cb;
	link->conn.max_msg = VRFM_SLOT_SIZE;
	link->state = VRFM_READY;
	link->direct.told = TOLD;
	/*
	 * Free the description of the peer's memory, as vrfm_link_down() does.
	 */
	kfree(link->direct.desc);
	link->direct.desc = NULL;
	spin_unlock_bh(&link->lock);
	f->sequence = 0;
	f->applied = 0;
	f->answered = 0;
	f->staged = 0;
	f->map = 0;
}

static int fuzz_init(struct kunit *test)
{
	static const struct vrfm_peer peer = {
		.node = 2, .overload_us = VRFM_OVERLOAD_DEVICE,
	};
	struct fuzz *f = kvzalloc(sizeof(*f), GFP_KERNEL);

	if (!f)
		return -ENOMEM;
	test->priv = f;
	f->room = kvmalloc(FENCE + MEMORY + FENCE, GFP_KERNEL);
	f->wanted = kvmalloc(FENCE + MEMORY + FENCE, GFP_KERNEL);
	if (!f->room || !f->wanted)
		return -ENOMEM;
	memset(f->room, FENCE_BYTE, FENCE + MEMORY + FENCE);
	memset(f->room + FENCE, 0, MEMORY);
	memcpy(f->wanted, f->room, FENCE + MEMORY + FENCE);
	f->vdev = dev_make(f->room + FENCE);
	if (!f->vdev)
		return -ENOMEM;
	f->link = vrfm_link_alloc(f->vdev, &peer);
	if (!f->link)
		return -ENOMEM;
	list_add_tail(&f->link->entry, &f->vdev->links);
	link_anew(f);
	/*
	 * fuzz_posted may be a request of a link that an earlier test has
	 * freed.
	 */
	fuzz_posted = NULL;
	fuzz_on_post = NULL;
	return 0;
}

static void fuzz_exit(struct kunit *test)
{
	struct fuzz *f = test->priv;

	if (!f)
		return;
	if (f->link)
		kfree(f->link->direct.desc);
	if (f->link)
		vrfm_link_put(f->link);
	if (f->vdev)
		dev_free(f->vdev);
	kvfree(f->wanted);
	kvfree(f->room);
	kvfree(f);
}

/* Add another link, which is READY. Return NULL if there is no memory. */
static __maybe_unused struct vrfm_link *add_link(struct fuzz *f, u32 node)
{
	const struct vrfm_peer peer = {
		.node = node, .overload_us = VRFM_OVERLOAD_DEVICE,
	};
	struct vrfm_link *link = vrfm_link_alloc(f->vdev, &peer);

	if (!link)
		return NULL;
	spin_lock_bh(&link->lock);
	vrfm_link_reset_locked(link);
	link->conn.cb = &f->cb;
	link->conn.max_msg = VRFM_SLOT_SIZE;
	link->state = VRFM_READY;
	spin_unlock_bh(&link->lock);
	list_add_tail(&link->entry, &f->vdev->links);
	return link;
}

static __maybe_unused void free_link(struct vrfm_link *link)
{
	list_del(&link->entry);
	vrfm_link_put(link);
}

static struct rt_mutex *writers_lock(struct fuzz *f)
{
	rt_mutex_lock(&f->vdev->write_lock);
	return &f->vdev->write_lock;
}

static void writers_unlock(struct rt_mutex **lock)
{
	rt_mutex_unlock(*lock);
}

/* Call a function with the lock of writers held. */
#define locked(f, call) ({						\
	struct rt_mutex *held __attribute__((cleanup(writers_unlock))) = \
		writers_lock(f);					\
									\
	call;								\
})

/* ---- messages of the peer ---- */

/*
 * Let the link receive @f->msg. Copy the message into memory of its length, so
 * that KASAN detects reads beyond the message.
 */
static void receive(struct kunit *test, struct fuzz *f, bool written)
{
	u8 *msg = kmalloc(f->len ?: 1, GFP_KERNEL);
	struct krdma_rx_msg rx_msg = {
		.data = msg, .len = f->len, .written = written,
	};

	KUNIT_ASSERT_NOT_NULL(test, msg);
	memcpy(msg, f->msg, f->len);
	vrfm_link_receive(f->link, &rx_msg);
	kfree(msg);
	/*
	 * Complete the request that the link has posted. Do this now, when the
	 * link is not handling a message.
	 */
	if (fuzz_posted)
		fuzz_posted->done(fuzz_posted, 0);
	fuzz_posted = NULL;
	f->link->request.pulled.count = 0;
}

static __maybe_unused void say(struct kunit *test, struct fuzz *f,
			       struct vrfm_pack *pack, u8 type, u8 flags)
{
	const struct vrfm_head head = {
		.type = type, .flags = flags, .sequence = ++f->sequence,
	};

	f->len = vrfm_pack_end(pack, &head);
	receive(test, f, false);
	KUNIT_ASSERT_FALSE(test, f->link->rx.bad);
}

#endif /* VRFM_FUZZ_H */
