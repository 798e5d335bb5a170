// SPDX-License-Identifier: GPL-2.0
/*
 * Direct updates: blocks that the adapter writes into the peer's memory, to the
 * same offset. No processor of the peer's has anything to do with them.
 *
 * Each side registers its memory, once for all peers (share.c), and describes it to
 * each of them in its first STAGE; from then on that one may write. A block goes
 * directly if nothing that was sent before it is still to be applied
 * (vrfm_way_is_direct()), because a WRITE that follows a message may arrive before
 * the message is applied. What is sent after a WRITE needs no such care: a message
 * arrives behind it.
 *
 * The adapter reads the block, not the memory: that may change meanwhile.
 *
 * Nobody at the peer notices a WRITE. So a message says first that there may be
 * some (DIRECT), for who must know, when this node is gone, whether he has seen
 * all of it; and another one when there are none any more.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bitmap.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "link.h"
#include "priv.h"
#include "trace.h"
#include "way.h"

/* So long after the last direct write the peer is told that there are none. */
#define VRFM_DIRECT_IDLE_MS 200

/**
 * vrfm_shown_name - for who looks
 * @shown: may the peer write directly?
 *
 * Return: "yes", or why not.
 */
const char *vrfm_shown_name(enum vrfm_shown shown)
{
	static const char * const names[VRFM_SHOWNS] = {
		[VRFM_SHOWN_NOT_YET] = "no",
		[VRFM_SHOWN] = "yes",
		[VRFM_SHOWN_OFF] = "off",
		[VRFM_SHOWN_IWARP] = "iwarp",
		[VRFM_SHOWN_ORDER] = "order",
		[VRFM_SHOWN_COPIED] = "copied",
		[VRFM_SHOWN_LARGE] = "large",
		[VRFM_SHOWN_NO_MEMORY] = "memory",
	};

	return names[shown];
}

/* ---- blocks ---- */

/**
 * vrfm_block_alloc - room for the bytes of a write
 * @len: how many
 *
 * Context: may sleep.
 * Return: a reference, NULL: no memory.
 */
struct vrfm_block *vrfm_block_alloc(u32 len)
{
	struct vrfm_block *block = kmalloc(sizeof(*block), GFP_KERNEL);

	if (!block)
		return NULL;
	block->bytes = kvmalloc(len, GFP_KERNEL);
	if (!block->bytes) {
		kfree(block);
		return NULL;
	}
	refcount_set(&block->refs, 1);
	block->placed = false;
	return block;
}

static void vrfm_block_free(struct rcu_head *rcu)
{
	struct vrfm_block *block = container_of(rcu, struct vrfm_block, rcu);

	kvfree(block->bytes);
	kfree(block);
}

/**
 * vrfm_block_put - give back a reference
 * @block: block; may be NULL
 *
 * Context: any but hard interrupts.
 */
void vrfm_block_put(struct vrfm_block *block)
{
	if (!block || !refcount_dec_and_test(&block->refs))
		return;
	if (block->placed)
		call_rcu(&block->rcu, vrfm_block_free);
	else
		vrfm_block_free(&block->rcu);
}

/* ---- this side writes ---- */

static bool vrfm_direct_may_locked(struct vrfm_link *link, u32 offset, u32 len)
{
	const struct vrfm_way way = {
		.min = READ_ONCE(link->vdev->params.direct_min),
		.update = link->direct.update,
		.acked = link->acked,
		.staged = link->direct.staged,
	};

	return link->direct.remote && vrfm_way_is_direct(&way, offset, len);
}

/**
 * vrfm_direct_has_room - can so many bytes be on their way at once?
 * @link: link that is READY; by who holds the device's order
 * @len: bytes
 *
 * Return: false: they would go directly, but too much does.
 */
bool vrfm_direct_has_room(struct vrfm_link *link, u32 len)
{
	struct vrfm_direct *direct = &link->direct;
	bool has;

	if (len < READ_ONCE(link->vdev->params.direct_min))
		return true;
	spin_lock_bh(&link->lock);
	has = !direct->remote || direct->update > link->acked ||
	      direct->under_way < VRFM_BLOCKS;
	spin_unlock_bh(&link->lock);
	return has;
}

/**
 * vrfm_direct_takes_all - do large blocks go directly, as a rule?
 * @link: link; by who holds the device's order
 *
 * Return: true, also for a link that is not READY.
 */
bool vrfm_direct_takes_all(struct vrfm_link *link)
{
	bool takes;

	spin_lock_bh(&link->lock);
	takes = link->state != VRFM_READY || link->direct.remote;
	spin_unlock_bh(&link->lock);
	return takes;
}

static void vrfm_direct_say_locked(struct vrfm_link *link, bool open,
				   u64 serial)
{
	struct vrfm_slot *slot;

	link->direct.open = open;
	slot = vrfm_link_open_locked(link, VRFM_WIRE_PROBE);
	slot->serial = serial;
	slot->closed = true;
	vrfm_link_push_locked(link);
}

static struct vrfm_placed *vrfm_placed_find(struct vrfm_direct *direct)
{
	u32 i;

	for (i = 0; i < VRFM_BLOCKS; i++)
		if (!direct->placed[i].block)
			return &direct->placed[i];
	return NULL;
}

static bool vrfm_placed_post_locked(struct vrfm_placed *placed)
{
	struct vrfm_link *link = placed->link;

	placed->req.opcode = KRDMA_WRITE;
	placed->req.local = (struct krdma_data){
		.mem = KRDMA_MEM_VIRT,
		.virt = placed->block->bytes,
		.len = placed->len,
	};
	placed->req.remote = link->direct.remote;
	placed->req.remote_offset = placed->offset;
	trace_vrfm_direct(link->vdev->unit, link->peer.node, placed->offset,
			  placed->len);
	/* Before: it may be over before krdma_post() returns. */
	link->direct.under_way++;
	if (krdma_post(link->cb, &placed->req)) {
		link->direct.under_way--;
		return false;
	}
	link->counts.directs++;
	link->counts.bytes_direct += placed->len;
	vrfm_rate_add(&link->tx_rate, jiffies, placed->len);
	return true;
}

/*
 * The first one needs a message before it. Should it not be posted then, there
 * must still be those that were asked for.
 */
static bool vrfm_direct_can_say(const struct vrfm_link *link, u32 len)
{
	return link->direct.open ||
	       vrfm_link_free_locked(link) > vrfm_link_need(link, len);
}

/**
 * vrfm_direct_update_locked - write a block into the peer's memory, if it may be
 * @link: link that is READY, with its lock held; by who holds the device's order
 * @offset: where
 * @len: how many bytes
 * @block: the bytes, from their beginning
 *
 * Return: false: it is to be sent.
 */
bool vrfm_direct_update_locked(struct vrfm_link *link, u32 offset, u32 len,
			       struct vrfm_block *block)
{
	struct vrfm_direct *direct = &link->direct;
	struct vrfm_placed *placed = vrfm_placed_find(direct);

	/* The next block goes directly if what is sent until then is applied. */
	if (direct->remote && len >= READ_ONCE(link->vdev->params.direct_min))
		direct->answers = VRFM_ACK_EVERY;
	if (!placed || !link->cb ||
	    !vrfm_direct_may_locked(link, offset, len) ||
	    !vrfm_direct_can_say(link, len))
		return false;
	/* What follows is this write, which is not in the message. */
	if (!direct->open)
		vrfm_direct_say_locked(link, true, link->vdev->serial - 1);
	placed->offset = offset;
	placed->len = len;
	placed->block = block;
	block->placed |= link->reads_on;
	refcount_inc(&block->refs);
	if (vrfm_placed_post_locked(placed))
		return true;
	placed->block = NULL;
	vrfm_block_put(block);
	return false;
}

/* What has not arrived stays, and is missed when the link is down. */
static void vrfm_placed_done(struct krdma_req *req, int status)
{
	struct vrfm_placed *placed =
		container_of(req, struct vrfm_placed, req);
	struct vrfm_link *link = placed->link;
	struct vrfm_block *block = NULL;
	bool idle;

	spin_lock_bh(&link->lock);
	if (!status)
		swap(block, placed->block);
	link->direct.last = jiffies;
	idle = !--link->direct.under_way;
	spin_unlock_bh(&link->lock);
	vrfm_block_put(block);
	vrfm_link_woken(link);
	if (idle)
		queue_delayed_work(vrfm_wq, &link->sync,
				   msecs_to_jiffies(VRFM_DIRECT_IDLE_MS));
}

static void vrfm_direct_settle_locked(struct vrfm_link *link)
{
	struct vrfm_direct *direct = &link->direct;
	unsigned long end = direct->last +
			    msecs_to_jiffies(VRFM_DIRECT_IDLE_MS);

	if (!link->cb || !direct->open || direct->under_way)
		return;
	if (time_before(jiffies, end))
		queue_delayed_work(vrfm_wq, &link->sync, end - jiffies);
	else if (vrfm_link_free_locked(link))
		vrfm_direct_say_locked(link, false, link->vdev->serial);
	else
		link->wants_room = true;
}

/**
 * vrfm_direct_settle - nothing was written directly for some time: say so
 * @link: link
 *
 * Context: the device's order is held; @link's work.
 */
void vrfm_direct_settle(struct vrfm_link *link)
{
	spin_lock_bh(&link->lock);
	vrfm_direct_settle_locked(link);
	spin_unlock_bh(&link->lock);
}

/* ---- this side is written to ---- */

static enum vrfm_shown vrfm_direct_judge(const struct vrfm_link *link,
					 struct krdma_cb *cb)
{
	const struct vrfm_params *params = &link->vdev->params;
	struct krdma_caps caps = { .size = sizeof(caps) };

	if (params->direct == VRFM_DIRECT_OFF)
		return VRFM_SHOWN_OFF;
	if (krdma_query(cb, &caps))
		return VRFM_SHOWN_NOT_YET;
	if (caps.transport == KRDMA_TRANSPORT_IWARP)
		return VRFM_SHOWN_IWARP;
	/* Before anything is mapped: a copy would come back over live memory. */
	if (!caps.coherent)
		return VRFM_SHOWN_COPIED;
	if (caps.relaxed_ordering && params->direct != VRFM_DIRECT_ON)
		return VRFM_SHOWN_ORDER;
	return VRFM_SHOWN;
}

/* Can the peer be told where it is, in one message? */
static enum vrfm_shown vrfm_direct_fits(struct vrfm_link *link,
					struct krdma_region *region)
{
	u64 size = link->vdev->params.size;
	ssize_t len = krdma_region_export(region, 0, size, NULL, 0);

	if (len < 0)
		return VRFM_SHOWN_NO_MEMORY;
	len += sizeof(struct vrfm_wire_head) + sizeof(struct vrfm_wire_stage) +
	       vrfm_stage_map_len(size);
	return len <= link->room ? VRFM_SHOWN : VRFM_SHOWN_LARGE;
}

static enum vrfm_shown vrfm_direct_refused(int error)
{
	switch (error) {
	case -EINVAL:
		return VRFM_SHOWN_LARGE;
	case -EOPNOTSUPP:
		return VRFM_SHOWN_COPIED;
	default:
		return VRFM_SHOWN_NO_MEMORY;
	}
}

static enum vrfm_shown vrfm_direct_register(struct vrfm_link *link,
					    struct krdma_cb *cb,
					    struct krdma_region **region)
{
	struct vrfm_dev *vdev = link->vdev;
	enum vrfm_shown shown;

	*region = vrfm_share_get(vdev, cb);
	if (IS_ERR(*region))
		return vrfm_direct_refused(PTR_ERR(*region));
	shown = vrfm_direct_fits(link, *region);
	if (shown != VRFM_SHOWN)
		vrfm_share_put(vdev, *region);
	return shown;
}

static void vrfm_direct_show(struct vrfm_link *link, struct krdma_cb *cb)
{
	struct vrfm_dev *vdev = link->vdev;
	struct krdma_region *region = NULL;
	enum vrfm_shown shown;

	shown = vrfm_direct_judge(link, cb);
	if (shown == VRFM_SHOWN)
		shown = vrfm_direct_register(link, cb, &region);
	rt_mutex_lock(&vdev->order);
	if (shown == VRFM_SHOWN) {
		link->direct.region = region;
		link->todo |= VRFM_TODO_STAGE;
	} else {
		link->direct.shown = shown;
	}
	rt_mutex_unlock(&vdev->order);
}

/* What the peer has said of its memory. */
static void vrfm_direct_import(struct vrfm_link *link, const void *desc,
			       u32 len)
{
	struct krdma_remote *remote = krdma_remote_import(desc, len);

	if (IS_ERR(remote)) {
		if (PTR_ERR(remote) != -ENOMEM)
			vrfm_link_bad(link);
		return;
	}
	if (krdma_remote_size(remote) != link->vdev->params.size) {
		krdma_remote_free(remote);
		vrfm_link_bad(link);
		return;
	}
	spin_lock_bh(&link->lock);
	link->direct.remote = remote;
	spin_unlock_bh(&link->lock);
}

/**
 * vrfm_direct_setup - register memory, and look at what the peer has registered
 * @link: link
 *
 * Its connection stays as long as this has the mutex, for vrfm_link_down() takes
 * it, too.
 *
 * Context: may sleep; @link's work.
 */
void vrfm_direct_setup(struct vrfm_link *link)
{
	struct vrfm_direct *direct = &link->direct;
	struct krdma_cb *cb;
	void *desc = NULL;

	mutex_lock(&direct->setup);
	spin_lock_bh(&link->lock);
	cb = link->cb;
	if (cb)
		swap(desc, direct->desc);
	spin_unlock_bh(&link->lock);
	if (cb && !direct->region && direct->shown == VRFM_SHOWN_NOT_YET)
		vrfm_direct_show(link, cb);
	if (desc)
		vrfm_direct_import(link, desc, direct->desc_len);
	kfree(desc);
	mutex_unlock(&direct->setup);
}

static void vrfm_direct_stage_locked(struct vrfm_link *link, u32 desc_len)
{
	struct vrfm_direct *direct = &link->direct;
	struct vrfm_slot *slot = vrfm_link_open_locked(link, VRFM_WIRE_STAGE);
	u64 number;
	void *at;

	slot->flags |= VRFM_WIRE_ANSWER;
	at = vrfm_stage_pack(link->vdev, &slot->pack, desc_len, &number);
	if (desc_len) {
		krdma_region_export(direct->region, 0, link->vdev->params.size,
				    at, desc_len);
		direct->shown = VRFM_SHOWN;
	}
	/* Before it is answered. */
	WRITE_ONCE(direct->told, number);
	slot->closed = true;
	vrfm_link_push_locked(link);
}

/**
 * vrfm_direct_tell - tell the peer where it must not write directly
 * @link: link
 *
 * Context: the device's order is held.
 * Return: false: there is no room, the link is kicked when there is.
 */
bool vrfm_direct_tell(struct vrfm_link *link)
{
	struct vrfm_direct *direct = &link->direct;
	ssize_t desc_len = 0;
	bool has = true;

	if (direct->region && direct->shown != VRFM_SHOWN)
		desc_len = krdma_region_export(direct->region, 0,
					       link->vdev->params.size, NULL, 0);
	spin_lock_bh(&link->lock);
	if (link->cb && direct->region && desc_len >= 0) {
		has = vrfm_link_free_locked(link);
		link->wants_room |= !has;
		if (has)
			vrfm_direct_stage_locked(link, desc_len);
	}
	spin_unlock_bh(&link->lock);
	if (has)
		link->todo &= ~VRFM_TODO_STAGE;
	return has;
}

/**
 * vrfm_direct_rx_stage - the peer says where this node must not write directly
 * @link: link
 * @msg: a STAGE, right
 *
 * From here on what is written there is sent. The answer follows what was
 * written before: nobody needs to wait.
 *
 * Context: softirq or process.
 */
void vrfm_direct_rx_stage(struct vrfm_link *link, const void *msg)
{
	bool wanted = link->vdev->params.direct != VRFM_DIRECT_OFF;
	struct vrfm_direct *direct = &link->direct;
	struct vrfm_stage_msg stage;

	vrfm_proto_stage(msg, &stage);
	spin_lock_bh(&link->lock);
	vrfm_stage_map(&stage, direct->staged);
	direct->seen = stage.number;
	if (stage.desc_len && wanted) {
		/* Without memory for it all is sent. */
		direct->desc = kmemdup(stage.desc, stage.desc_len,
				       GFP_ATOMIC | __GFP_NOWARN);
		direct->desc_len = stage.desc_len;
	}
	spin_unlock_bh(&link->lock);
	if (stage.desc_len && wanted)
		vrfm_sync_kick(link);
}

/* ---- life ---- */

/**
 * vrfm_direct_init - of a link that is DOWN
 * @link: link
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int vrfm_direct_init(struct vrfm_link *link)
{
	struct vrfm_direct *direct = &link->direct;
	u32 i;

	mutex_init(&direct->setup);
	for (i = 0; i < VRFM_BLOCKS; i++) {
		direct->placed[i].link = link;
		direct->placed[i].req.done = vrfm_placed_done;
	}
	direct->staged = vrfm_ranges_alloc(link->vdev->params.size);
	return direct->staged ? 0 : -ENOMEM;
}

/**
 * vrfm_direct_free - the link goes
 * @link: link that is DOWN
 */
void vrfm_direct_free(struct vrfm_link *link)
{
	kvfree(link->direct.staged);
}

/**
 * vrfm_direct_reset_locked - there is another connection
 * @link: link, with its lock held
 */
void vrfm_direct_reset_locked(struct vrfm_link *link)
{
	struct vrfm_direct *direct = &link->direct;

	direct->shown = VRFM_SHOWN_NOT_YET;
	direct->told = 0;
	direct->answered = 0;
	direct->seen = 0;
	direct->update = 0;
	direct->answers = 0;
	direct->open = false;
	bitmap_zero(direct->staged, vrfm_ranges(link->vdev->params.size));
}

static void vrfm_direct_miss(struct vrfm_link *link)
{
	struct vrfm_placed *placed;
	u32 i;

	for (i = 0; i < VRFM_BLOCKS; i++) {
		placed = &link->direct.placed[i];
		if (!placed->block)
			continue;
		vrfm_link_miss(link, placed->offset, placed->len);
		vrfm_block_put(placed->block);
		placed->block = NULL;
	}
}

/**
 * vrfm_direct_down - the connection is over
 * @link: link that is DOWN; nothing is under way
 *
 * Context: may sleep; the device's order, and the mutex for the setup are held.
 * Return: what it had from vrfm_share_get(), for vrfm_share_put(); NULL: nothing.
 */
struct krdma_region *vrfm_direct_down(struct vrfm_link *link)
{
	struct vrfm_direct *direct = &link->direct;
	struct krdma_region *region = direct->region;

	vrfm_direct_miss(link);
	if (direct->shown == VRFM_SHOWN)
		vrfm_stage_hide(link->vdev);
	direct->region = NULL;
	spin_lock_bh(&link->lock);
	direct->shown = VRFM_SHOWN_NOT_YET;
	krdma_remote_free(direct->remote);
	direct->remote = NULL;
	kfree(direct->desc);
	direct->desc = NULL;
	spin_unlock_bh(&link->lock);
	return region;
}
