// SPDX-License-Identifier: GPL-2.0
/*
 * Direct updates: the adapter writes a block into the peer's memory, at the
 * same offset as here, without the peer's processors.
 *
 * Each node registers its memory once for all peers (registration.c), and
 * describes it to each peer in its first STAGE. From then on that peer may
 * write directly. A block is written directly only if the peer has applied all
 * earlier messages with updates, see vrfm_direct_path_is_wanted(). Without this
 * rule, the peer might apply an earlier message after the adapter has placed
 * the WRITE. A message that is sent after a WRITE arrives after the WRITE, so
 * the peer applies it later in any case.
 *
 * The adapter reads a copy of the bytes, the block. The memory itself may
 * change before the adapter has read it.
 *
 * The peer does not notice a WRITE. So a message with the flag DIRECT announces
 * that direct writes may follow. A message without DIRECT withdraws the
 * announcement. If this node departs, the flag in its last message shows
 * whether the peer's memory may contain bytes of writes after that message.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bitmap.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "direct_path.h"
#include "link.h"
#include "ring.h"
#include "trace.h"

/*
 * Delay, in ms, from the completion of the last direct write until this node
 * withdraws the flag DIRECT, which announces direct writes.
 */
#define VRFM_DIRECT_IDLE_MS 200

/**
 * vrfm_shown_name - return the name of a value of enum vrfm_shown, for
 * statistics
 * @shown: enum vrfm_shown
 *
 * Return: "yes" if the peer may write directly; otherwise the reason why it
 * must not.
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
		[VRFM_SHOWN_SEALED] = "sealed",
	};

	return names[shown];
}

/* ---- blocks ---- */

/**
 * vrfm_block_alloc - allocate a block for the bytes of a write
 * @len: number of bytes
 *
 * Context: may sleep.
 * Return: a block with one reference; NULL if there is no memory.
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
 * vrfm_block_put - drop a reference to a block
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

/* ---- direct writes into the peer's memory ---- */

/**
 * vrfm_direct_has_room - check whether a write finds room, if its bytes are
 * written directly
 * @link: link that is READY; the caller holds vrfm_dev.write_lock
 * @len: number of bytes
 *
 * Return: false if the bytes would be written directly, but %VRFM_BLOCKS blocks
 * are in flight. True otherwise, also if the bytes would be sent in messages.
 */
bool vrfm_direct_has_room(struct vrfm_link *link, u32 len)
{
	struct vrfm_direct *direct = &link->direct;
	bool has;

	lockdep_assert_held(&link->vdev->write_lock);
	if (len < READ_ONCE(link->vdev->params.direct_min))
		return true;
	spin_lock_bh(&link->lock);
	has = !direct->remote || direct->update > link->window.acked ||
	      direct->under_way < VRFM_BLOCKS;
	spin_unlock_bh(&link->lock);
	return has;
}

/**
 * vrfm_direct_takes_all - check whether the peer can take large blocks by
 * direct writes
 * @link: link; the caller holds vrfm_dev.write_lock
 *
 * Return: true if the peer's memory is known, or if the link is not READY and
 * so takes no block at all.
 */
bool vrfm_direct_takes_all(struct vrfm_link *link)
{
	bool takes;

	lockdep_assert_held(&link->vdev->write_lock);
	spin_lock_bh(&link->lock);
	takes = link->state != VRFM_READY || link->direct.remote;
	spin_unlock_bh(&link->lock);
	return takes;
}

static void vrfm_direct_say_locked(struct vrfm_link *link, bool open,
				   u64 serial)
{
	struct vrfm_slot *slot;

	lockdep_assert_held(&link->lock);
	link->direct.open = open;
	slot = vrfm_link_open_locked(link, VRFM_WIRE_PROBE);
	slot->serial = serial;
	slot->closed = true;
	vrfm_link_push_locked(link);
}

/* Let taps record a direct write of this node. */
static void vrfm_placed_tap(const struct vrfm_placed *placed)
{
	struct vrfm_dev *vdev = placed->link->vdev;
	struct vrfm_record record = {
		.type = VRFM_REC_PLACED,
		.flags = VRFM_REC_OWN,
		.node = vdev->params.node,
		.serial = vdev->serial,
		.placed.peer = placed->link->peer.node,
	};

	vrfm_tap_run(vdev, &record, placed->offset, placed->block->bytes,
		     placed->len);
}

static bool vrfm_placed_post_locked(struct vrfm_placed *placed)
{
	struct vrfm_link *link = placed->link;

	lockdep_assert_held(&link->lock);
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
	/*
	 * Count the write before krdma_post(), because it may complete before
	 * krdma_post() returns.
	 */
	link->direct.under_way++;
	if (krdma_post(link->conn.cb, &placed->req)) {
		link->direct.under_way--;
		return false;
	}
	link->counts.directs++;
	link->counts.bytes_direct += placed->len;
	vrfm_rate_add(&link->meter.tx, jiffies, placed->len);
	if (vrfm_is_tapped(link->vdev, VRFM_TAP_KIND(VRFM_REC_PLACED)))
		vrfm_placed_tap(placed);
	return true;
}

/**
 * vrfm_direct_update_locked - write a block into the peer's memory if possible
 * @link: link that is READY, with its lock held; vrfm_dev.write_lock is held
 * @offset: offset in the memory
 * @len: number of bytes
 * @block: block; its first @len bytes are written
 *
 * Return: true if the write was posted; false if the bytes must be sent in
 * messages.
 */
bool vrfm_direct_update_locked(struct vrfm_link *link, u32 offset, u32 len,
			       struct vrfm_block *block)
{
	struct vrfm_direct *direct = &link->direct;
	const struct vrfm_direct_path way = {
		.min = READ_ONCE(link->vdev->params.direct_min),
		.update = direct->update,
		.acked = link->window.acked,
		.staged = direct->staged,
	};
	struct vrfm_placed *placed = direct->placed;
	const struct vrfm_placed *end = placed + VRFM_BLOCKS;

	lockdep_assert_held(&link->vdev->write_lock);
	lockdep_assert_held(&link->lock);
	/*
	 * Let the next messages request acknowledgments at once: another block
	 * can be written directly only when all messages with updates are
	 * acknowledged.
	 */
	if (direct->remote && len >= way.min)
		direct->answers = VRFM_ACK_EVERY;
	while (placed < end && placed->block)
		placed++;
	if (placed == end || !link->conn.cb || !direct->remote ||
	    !vrfm_direct_path_is_wanted(&way, offset, len))
		return false;
	/*
	 * The announcement by DIRECT takes a free message. If the direct write
	 * cannot be posted after the announcement, its bytes must still fit
	 * into the remaining free messages.
	 */
	if (!direct->open &&
	    vrfm_link_free_locked(link) <= vrfm_link_need(link, len))
		return false;
	/*
	 * The announcement is sent before the present write, so it has the
	 * serial of the previous write.
	 */
	if (!direct->open)
		vrfm_direct_say_locked(link, true, link->vdev->serial - 1);
	placed->offset = offset;
	placed->len = len;
	placed->block = block;
	block->placed |= link->conn.reads_on;
	refcount_inc(&block->refs);
	if (vrfm_placed_post_locked(placed))
		return true;
	placed->block = NULL;
	vrfm_block_put(block);
	return false;
}

/*
 * Complete a direct write. After an error the block stays in the entry until
 * the link is DOWN; vrfm_direct_down() then records its words as missed.
 */
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
	vrfm_link_wake_writers(link);
	if (idle)
		queue_delayed_work(vrfm_wq, &link->catchup.work,
				   msecs_to_jiffies(VRFM_DIRECT_IDLE_MS));
}

/**
 * vrfm_direct_settle - withdraw the announcement of direct writes (flag DIRECT)
 * some time after the last direct write
 * @link: link
 *
 * Context: vrfm_dev.write_lock is held; called by @link's work.
 */
void vrfm_direct_settle(struct vrfm_link *link)
{
	struct vrfm_direct *direct = &link->direct;
	unsigned long end;

	lockdep_assert_held(&link->vdev->write_lock);
	spin_lock_bh(&link->lock);
	end = direct->last + msecs_to_jiffies(VRFM_DIRECT_IDLE_MS);
	if (!link->conn.cb || !direct->open || direct->under_way)
		goto out;
	if (time_before(jiffies, end))
		queue_delayed_work(vrfm_wq, &link->catchup.work, end - jiffies);
	else if (vrfm_link_free_locked(link))
		vrfm_direct_say_locked(link, false, link->vdev->serial);
	else
		link->window.wants_room = true;
out:
	spin_unlock_bh(&link->lock);
}

/* ---- direct writes of the peer into this node's memory ---- */

static enum vrfm_shown vrfm_direct_judge(const struct vrfm_link *link,
					 struct krdma_cb *cb)
{
	const struct vrfm_params *params = &link->vdev->params;
	struct krdma_caps caps = { .size = sizeof(caps) };

	if (params->direct == VRFM_DIRECT_OFF)
		return VRFM_SHOWN_OFF;
	if (krdma_query(cb, &caps))
		return VRFM_SHOWN_NOT_YET;
	if (!caps.one_sided)
		return VRFM_SHOWN_SEALED;
	if (caps.transport == KRDMA_TRANSPORT_IWARP)
		return VRFM_SHOWN_IWARP;
	/*
	 * Check for coherent DMA before the memory is mapped for the adapter.
	 * Without coherent DMA, the CPU would have to copy what the adapter
	 * places, and the copy would overwrite newer words of the memory.
	 */
	if (!caps.coherent)
		return VRFM_SHOWN_COPIED;
	if (caps.relaxed_ordering && params->direct != VRFM_DIRECT_ON)
		return VRFM_SHOWN_ORDER;
	return VRFM_SHOWN;
}

static enum vrfm_shown vrfm_direct_register(struct vrfm_link *link,
					    struct krdma_cb *cb,
					    struct krdma_region **region)
{
	struct vrfm_dev *vdev = link->vdev;
	u64 size = vdev->params.size;
	enum vrfm_shown shown;
	ssize_t len;

	*region = vrfm_share_get(vdev, cb);
	if (IS_ERR(*region)) {
		if (PTR_ERR(*region) == -EINVAL)
			return VRFM_SHOWN_LARGE;
		if (PTR_ERR(*region) == -EOPNOTSUPP)
			return VRFM_SHOWN_COPIED;
		return VRFM_SHOWN_NO_MEMORY;
	}
	/* The description of the memory must fit into one message. */
	len = krdma_region_export(*region, 0, size, NULL, 0);
	if (len >= 0)
		len += sizeof(struct vrfm_wire_head) +
		       sizeof(struct vrfm_wire_stage) +
		       vrfm_stage_map_len(size);
	if (len < 0)
		shown = VRFM_SHOWN_NO_MEMORY;
	else if (len > link->conn.max_msg)
		shown = VRFM_SHOWN_LARGE;
	else
		return VRFM_SHOWN;
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
	rt_mutex_lock(&vdev->write_lock);
	if (shown == VRFM_SHOWN) {
		link->direct.region = region;
		link->catchup.todo |= VRFM_TODO_STAGE;
	} else {
		link->direct.shown = shown;
	}
	rt_mutex_unlock(&vdev->write_lock);
}

/*
 * Import the peer's description of its memory: from then on this node may write
 * directly into it.
 */
static void vrfm_direct_import(struct vrfm_link *link, const void *desc,
			       u32 len)
{
	struct krdma_remote *remote = krdma_remote_import(desc, len);

	if (IS_ERR(remote)) {
		if (PTR_ERR(remote) != -ENOMEM)
			vrfm_link_protocol_error(link);
		return;
	}
	if (krdma_remote_size(remote) != link->vdev->params.size) {
		krdma_remote_free(remote);
		vrfm_link_protocol_error(link);
		return;
	}
	spin_lock_bh(&link->lock);
	link->direct.remote = remote;
	spin_unlock_bh(&link->lock);
}

/**
 * vrfm_direct_setup - register this node's memory, and import the description
 * of the peer's memory
 * @link: link
 *
 * This function holds @link's direct.setup, which vrfm_link_down() takes as
 * well. So the connection stays until this function releases the mutex.
 *
 * Context: may sleep; called by @link's work.
 */
void vrfm_direct_setup(struct vrfm_link *link)
{
	struct vrfm_direct *direct = &link->direct;
	struct krdma_cb *cb;
	void *desc = NULL;

	mutex_lock(&direct->setup);
	spin_lock_bh(&link->lock);
	cb = link->conn.cb;
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

static struct vrfm_record vrfm_direct_hole(const struct vrfm_link *link,
					   bool open)
{
	return (struct vrfm_record){
		.type = VRFM_REC_HOLE,
		.node = link->peer.node,
		.length = open ? link->vdev->params.size : 0,
	};
}

/**
 * vrfm_direct_report - notify a new tap if the peer may write directly
 * @link: link
 * @sub: tap, in the list of its ring
 *
 * Context: any but hard interrupts.
 */
void vrfm_direct_report(struct vrfm_link *link, struct vrfm_sub *sub)
{
	const struct vrfm_record hole = vrfm_direct_hole(link, true);

	spin_lock_bh(&link->lock);
	if (link->direct.shown == VRFM_SHOWN)
		vrfm_sub_tap(sub, &hole);
	spin_unlock_bh(&link->lock);
}

/* Notify taps when the peer may write directly, or may not any more. */
static void vrfm_direct_tap_locked(struct vrfm_link *link, bool open)
{
	const struct vrfm_record hole = vrfm_direct_hole(link, open);

	lockdep_assert_held(&link->lock);
	if (vrfm_is_tapped(link->vdev, VRFM_TAP_KIND(VRFM_REC_HOLE)))
		vrfm_tap(link->vdev, &hole, NULL, 0);
}

/**
 * vrfm_direct_notify - send a STAGE to the peer: the ranges where it must not
 * write directly
 * @link: link
 *
 * Context: vrfm_dev.write_lock is held.
 * Return: false if there is no room; the link's work sends the STAGE when there
 * is room. True otherwise, also if the peer needs no STAGE.
 */
bool vrfm_direct_notify(struct vrfm_link *link)
{
	struct vrfm_direct *direct = &link->direct;
	u64 number, size = link->vdev->params.size;
	struct vrfm_slot *slot;
	ssize_t desc_len = 0;
	bool has = true;
	void *at;

	lockdep_assert_held(&link->vdev->write_lock);
	if (direct->region && direct->shown != VRFM_SHOWN)
		desc_len = krdma_region_export(direct->region, 0, size, NULL,
					       0);
	spin_lock_bh(&link->lock);
	if (!link->conn.cb || !direct->region || desc_len < 0)
		goto out;
	has = vrfm_link_free_locked(link);
	link->window.wants_room |= !has;
	if (!has)
		goto out;
	slot = vrfm_link_open_locked(link, VRFM_WIRE_STAGE);
	slot->flags |= VRFM_WIRE_ANSWER;
	at = vrfm_stage_pack(link->vdev, &slot->pack, desc_len, &number);
	if (desc_len) {
		krdma_region_export(direct->region, 0, size, at, desc_len);
		direct->shown = VRFM_SHOWN;
		vrfm_direct_tap_locked(link, true);
	}
	/*
	 * Record the number before the STAGE is posted: an answer with a higher
	 * number than the recorded one is a protocol error.
	 */
	WRITE_ONCE(direct->told, number);
	slot->closed = true;
	vrfm_link_push_locked(link);
out:
	spin_unlock_bh(&link->lock);
	if (has)
		link->catchup.todo &= ~VRFM_TODO_STAGE;
	return has;
}

/**
 * vrfm_direct_rx_stage - apply a STAGE of the peer
 * @link: link
 * @msg: STAGE that has passed vrfm_proto_check()
 *
 * From now on this node sends updates in staged ranges as messages. This
 * function need not wait for earlier direct writes of this node, because they
 * arrive at the peer before the acknowledgment of the STAGE.
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
		/*
		 * If there is no memory for this copy, this node does not write
		 * directly, and sends all updates as messages.
		 */
		direct->desc = kmemdup(stage.desc, stage.desc_len,
				       GFP_ATOMIC | __GFP_NOWARN);
		direct->desc_len = stage.desc_len;
	}
	spin_unlock_bh(&link->lock);
	if (stage.desc_len && wanted)
		vrfm_catchup_kick(link);
}

/* ---- setup and teardown ---- */

/**
 * vrfm_direct_init - prepare a link for direct writes
 * @link: link that is DOWN
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
 * vrfm_direct_free - free what vrfm_direct_init() allocated
 * @link: link that is DOWN
 */
void vrfm_direct_free(struct vrfm_link *link)
{
	kvfree(link->direct.staged);
}

/**
 * vrfm_direct_reset_locked - reset the state of direct writes for a new
 * connection
 * @link: link, with its lock held
 */
void vrfm_direct_reset_locked(struct vrfm_link *link)
{
	struct vrfm_direct *direct = &link->direct;

	lockdep_assert_held(&link->lock);
	direct->shown = VRFM_SHOWN_NOT_YET;
	direct->told = 0;
	direct->answered = 0;
	direct->seen = 0;
	direct->update = 0;
	direct->answers = 0;
	direct->open = false;
	bitmap_zero(direct->staged, vrfm_ranges(link->vdev->params.size));
}

/**
 * vrfm_direct_down - end direct writes after a connection has ended
 * @link: link that is DOWN, without a request in flight
 *
 * Context: may sleep; vrfm_dev.write_lock and @link's direct.setup are held.
 * Return: region, which the caller passes to vrfm_share_put(); NULL if the
 * memory was not registered.
 */
struct krdma_region *vrfm_direct_down(struct vrfm_link *link)
{
	struct vrfm_direct *direct = &link->direct;
	struct krdma_region *region = direct->region;
	struct vrfm_placed *placed = direct->placed;

	lockdep_assert_held(&link->vdev->write_lock);
	/* Record the words of failed direct writes as missed. */
	for (; placed < direct->placed + VRFM_BLOCKS; placed++) {
		if (!placed->block)
			continue;
		vrfm_link_miss(link, placed->offset, placed->len);
		vrfm_block_put(placed->block);
		placed->block = NULL;
	}
	if (direct->shown == VRFM_SHOWN)
		vrfm_stage_hide(link->vdev);
	direct->region = NULL;
	spin_lock_bh(&link->lock);
	if (direct->shown == VRFM_SHOWN)
		vrfm_direct_tap_locked(link, false);
	direct->shown = VRFM_SHOWN_NOT_YET;
	krdma_remote_free(direct->remote);
	direct->remote = NULL;
	kfree(direct->desc);
	direct->desc = NULL;
	spin_unlock_bh(&link->lock);
	return region;
}
