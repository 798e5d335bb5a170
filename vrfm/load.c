// SPDX-License-Identifier: GPL-2.0
/*
 * Images: how a node gets words whose writer has departed. Such words are in
 * the memories of nodes that have received them, and are own words of no node.
 *
 * An image has a lineage, which is a random id, and an age. A device begins
 * with an image of zeroes and a new lineage. When two images meet, the node of
 * the younger one loads the older one, and adopts its lineage. When a node
 * departs, its last writes may have reached only some peers. The others then
 * load from the peer that has received most of them.
 *
 * A load has two steps. First this node stops sending GRANT, so that no peer
 * stays READY, and requests all own words of the linked peers (LOAD, SWEPT).
 * Words that arrive from their writers are live. Then it requests pages from
 * one peer, the holder (PULL, PULLED), and merges words that are neither live
 * nor own.
 *
 * vrfm_load_work() does all steps of a load. It takes vrfm_dev.order for them,
 * but not to allocate, free, or calculate digests.
 */
#include <linux/atomic.h>
#include <linux/bitmap.h>
#include <linux/hash.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "link.h"
#include "priv.h"
#include "trace.h"
#include "twin.h"

/* Interval of checks of a load, and its longest time without a holder, in ms. */
#define VRFM_LOAD_RETRY_MS 1000
#define VRFM_LOAD_GIVE_UP_MS 2000
/* Timeout of peers' reports about a departed node, in ms. */
#define VRFM_LOAD_SAID_MS 1000
/* Time for a peer that has less of departed nodes to load first, in ms. */
#define VRFM_LOAD_LESS_MS 10000
/* Time for peers to send own words: in any case, and for each MiB, in ms. */
#define VRFM_LOAD_SWEEP_MS 30000
#define VRFM_LOAD_SWEEP_MIB_MS 1000
/* A holder is replaced if it makes no progress for this time, in ms. */
#define VRFM_LOAD_PULL_MS 30000

/**
 * vrfm_load_kick - check whether an image must be loaded, or a load can
 * continue
 * @vdev: device
 *
 * Context: any.
 */
void vrfm_load_kick(struct vrfm_dev *vdev)
{
	/* Run at once, also if the work waits for a timeout. */
	mod_delayed_work(vrfm_wq, &vdev->load.work, 0);
}

static void vrfm_load_later(struct vrfm_dev *vdev, u32 ms)
{
	queue_delayed_work(vrfm_wq, &vdev->load.work, msecs_to_jiffies(ms));
}

/* The receive path changes the note at any time, so take a copy. */
static struct vrfm_note vrfm_info(struct vrfm_link *link)
{
	struct vrfm_note info;

	spin_lock_bh(&link->lock);
	info = link->info;
	spin_unlock_bh(&link->lock);
	return info;
}

/* The peer is connected, and has answered the last PULL in time. */
static bool vrfm_answers(const struct vrfm_link *link)
{
	return link->state != VRFM_DOWN && !READ_ONCE(link->mute);
}

static u64 vrfm_image_age(const struct vrfm_dev *vdev)
{
	return ktime_to_ms(ktime_sub(ktime_get(), vdev->load.began));
}

/* ---- notes to a peer ---- */

static void vrfm_load_info(const struct vrfm_dev *vdev, struct vrfm_note *note)
{
	*note = (struct vrfm_note){
		.kind = VRFM_NOTE_INFO,
		.number = vdev->load.number,
		.id = vdev->load.lineage,
		.value = vrfm_image_age(vdev),
	};
	if (!vdev->live)
		note->flags |= VRFM_INFO_COMPLETE;
	if (vdev->load.merged)
		note->flags |= VRFM_INFO_MERGED;
}

static bool vrfm_tell_info(struct vrfm_link *link)
{
	struct vrfm_note note;

	vrfm_load_info(link->vdev, &note);
	if (!vrfm_link_note(link, &note))
		return false;
	link->told = note;
	link->todo &= ~VRFM_TODO_INFO;
	/* The two images can be compared only from here on. */
	vrfm_load_kick(link->vdev);
	return true;
}

/* Any message without SYNCED notifies the peer that it was left behind. */
static bool vrfm_tell_behind(struct vrfm_link *link)
{
	if (link->state == VRFM_SYNCING && !vrfm_link_probe(link))
		return false;
	link->todo &= ~VRFM_TODO_BEHIND;
	return true;
}

static bool vrfm_tell_load(struct vrfm_link *link)
{
	const struct vrfm_note note = {
		.kind = VRFM_NOTE_LOAD, .number = link->vdev->load.number,
	};

	if (!vrfm_link_note(link, &note))
		return false;
	link->todo &= ~VRFM_TODO_LOAD;
	return true;
}

static bool vrfm_tell_swept(struct vrfm_link *link)
{
	const struct vrfm_note note = {
		.kind = VRFM_NOTE_SWEPT, .number = link->sweeping,
	};

	if (!vrfm_link_note(link, &note))
		return false;
	link->sweeping = 0;
	link->todo &= ~VRFM_TODO_SWEPT;
	return true;
}

static bool vrfm_tell_life(struct vrfm_link *link, u32 node,
			   const struct vrfm_life *life, bool newest)
{
	const struct vrfm_note note = {
		.kind = VRFM_NOTE_GONE,
		.node = node,
		.id = life->epoch,
		.value = life->serial,
		.flags = (life->synced ? VRFM_GONE_SYNCED : 0) |
			 (life->direct ? VRFM_GONE_DIRECT : 0) |
			 (newest ? VRFM_GONE_NEWEST : 0),
		.number = life->whose,
	};

	return vrfm_link_note(link, &note);
}

static bool vrfm_tell_of(struct vrfm_link *link, u32 node)
{
	const struct vrfm_past *past = &link->vdev->load.past[node];
	u32 i;

	for (i = 0; i < VRFM_LIVES && (!i || past->lives[i].epoch); i++)
		if (!vrfm_tell_life(link, node, &past->lives[i], !i))
			return false;
	__clear_bit(node, link->tell_gone);
	return true;
}

static bool vrfm_tell_gone(struct vrfm_link *link)
{
	u32 node;

	for_each_set_bit(node, link->tell_gone, VRFM_NODES)
		if (!vrfm_tell_of(link, node))
			return false;
	link->todo &= ~VRFM_TODO_GONE;
	return true;
}

/**
 * vrfm_load_tell - send all notes and messages that are due (&vrfm_link.todo)
 * @link: link
 *
 * Context: vrfm_dev.order is held.
 * Return: false: there is no connection, or no room for all of them.
 */
bool vrfm_load_tell(struct vrfm_link *link)
{
	static const struct {
		u32 todo;
		bool (*tell)(struct vrfm_link *link);
	} all[] = {
		{ VRFM_TODO_BEHIND, vrfm_tell_behind },
		{ VRFM_TODO_LOAD, vrfm_tell_load },
		/* Before INFO: with INFO the peer begins to compare images. */
		{ VRFM_TODO_GONE, vrfm_tell_gone },
		{ VRFM_TODO_INFO, vrfm_tell_info },
		{ VRFM_TODO_SWEPT, vrfm_tell_swept },
		{ VRFM_TODO_STAGE, vrfm_direct_tell },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(all); i++)
		if (link->todo & all[i].todo && !all[i].tell(link))
			return false;
	return true;
}

static void vrfm_load_todo(struct vrfm_link *link, u32 todo)
{
	if (link->state == VRFM_DOWN)
		return;
	link->todo |= todo;
	vrfm_sync_kick(link);
}

static void vrfm_load_todo_all(struct vrfm_dev *vdev, u32 todo)
{
	struct vrfm_link *link;

	list_for_each_entry(link, &vdev->links, entry)
		vrfm_load_todo(link, todo);
}

/* ---- links ---- */

/* Send the history of NODE to all peers. */
static void vrfm_load_spread(struct vrfm_dev *vdev, u32 node)
{
	struct vrfm_link *link;

	list_for_each_entry(link, &vdev->links, entry) {
		__set_bit(node, link->tell_gone);
		vrfm_load_todo(link, VRFM_TODO_GONE);
	}
}

static void vrfm_load_spread_all(struct vrfm_dev *vdev)
{
	u32 node;

	for_each_set_bit(node, vdev->load.known, VRFM_NODES)
		vrfm_load_spread(vdev, node);
}

/*
 * Report all known nodes, and absent peers even if none of their writes was
 * seen.
 */
static void vrfm_load_is_due(struct vrfm_link *link)
{
	struct vrfm_dev *vdev = link->vdev;
	struct vrfm_link *other;

	bitmap_copy(link->tell_gone, vdev->load.known, VRFM_NODES);
	list_for_each_entry(other, &vdev->links, entry)
		if (other->state == VRFM_DOWN)
			__set_bit(other->peer.node, link->tell_gone);
}

/**
 * vrfm_load_link_up - prepare the notes to a peer that has connected
 * @link: link
 *
 * Context: vrfm_dev.order is held.
 */
void vrfm_load_link_up(struct vrfm_link *link)
{
	struct vrfm_load *load = &link->vdev->load;
	u32 node = link->peer.node;

	load->alive[node] = link->peer_epoch;
	if (vrfm_past_forget(&load->past[node], link->peer_epoch))
		vrfm_load_spread(link->vdev, node);
	link->told.kind = 0;
	link->was_other = false;
	link->waits_since = jiffies;
	link->sweeping = 0;
	link->served = 0;
	link->cursor = 0;
	link->todo = VRFM_TODO_INFO | VRFM_TODO_GONE;
	if (link->vdev->live)
		link->todo |= VRFM_TODO_LOAD;
	vrfm_load_is_due(link);
}

/* Return a new value for &vrfm_life.whose. */
static u32 vrfm_load_whose(struct vrfm_dev *vdev)
{
	return vdev->params.node << 24 | (vdev->load.doubts++ & 0xFFFFFF);
}

/**
 * vrfm_load_lose - stop loading from a link, if it is the holder
 * @link: link
 *
 * vrfm_load_work() chooses another holder. The pending PULL is not answered,
 * even if the peer reconnects at once.
 *
 * Context: vrfm_dev.order is held.
 */
void vrfm_load_lose(struct vrfm_link *link)
{
	struct vrfm_load *load = &link->vdev->load;

	if (load->holder != link)
		return;
	WRITE_ONCE(load->holder, NULL);
	load->since = jiffies;
}

/**
 * vrfm_load_link_down - record what was received from a peer that disconnected
 * @link: link
 *
 * Context: vrfm_dev.order is held.
 */
void vrfm_load_link_down(struct vrfm_link *link)
{
	struct vrfm_dev *vdev = link->vdev;
	struct vrfm_load *load = &vdev->load;
	const struct vrfm_life life = {
		.epoch = link->peer_epoch,
		.serial = link->rx_serial,
		.whose = vrfm_load_whose(vdev),
		.synced = link->rx.synced && !vdev->live,
		.direct = link->rx_direct,
		.fresh = true,
	};

	vrfm_load_lose(link);
	load->alive[link->peer.node] = 0;
	load->lost = jiffies;
	vrfm_past_add(&load->past[link->peer.node], &life);
	__set_bit(link->peer.node, load->known);
	memset(link->said, 0, VRFM_NODES * sizeof(*link->said));
	bitmap_zero(link->heard, VRFM_NODES);
	vrfm_load_spread(vdev, link->peer.node);
	vrfm_load_kick(vdev);
}

/* ---- merging ---- */

static bool vrfm_load_wants(const struct vrfm_dev *vdev, u32 index, u32 mine,
			    u32 word)
{
	const struct vrfm_twin *twin = vdev->twins[index / VRFM_PAGE_WORDS];

	if (test_bit(index, vdev->own) || test_bit(index, vdev->live))
		return false;
	/* A program has stored the word: the flusher will find it. */
	if (twin && twin->words[index % VRFM_PAGE_WORDS] != mine)
		return false;
	/* Of two lineages a zero may be a word that was never written. */
	if (vdev->load.kind == VRFM_LOAD_OLDER)
		return word;
	return vdev->load.kind == VRFM_LOAD_SAME || !mine;
}

static void vrfm_load_word(struct vrfm_dev *vdev, u32 index, u32 word)
{
	u32 *at = vdev->region.mem + index * VRFM_WORD;
	struct vrfm_twin *twin = vdev->twins[index / VRFM_PAGE_WORDS];
	u32 mine = READ_ONCE(*at);

	/* If a program stores at this moment, its value stays, and is found. */
	if (vrfm_load_wants(vdev, index, mine, word) &&
	    cmpxchg(at, mine, word) == mine && twin)
		twin->words[index % VRFM_PAGE_WORDS] = word;
}

static void vrfm_load_words(struct vrfm_dev *vdev, u32 index, const void *bytes,
			    u32 n)
{
	spinlock_t *lock = vrfm_page_lock(vdev, index * VRFM_WORD);
	u32 i, word;

	spin_lock_bh(lock);
	for (i = 0; i < n && vdev->live; i++) {
		memcpy(&word, bytes + i * VRFM_WORD, sizeof(word));
		vrfm_load_word(vdev, index + i, word);
	}
	vrfm_touched(vdev, index * VRFM_WORD, n * VRFM_WORD);
	spin_unlock_bh(lock);
}

/**
 * vrfm_load_merge - merge words of the holder's image
 * @link: link that they came from; ignored unless it is the holder
 * @run: the words
 *
 * Context: softirq or process.
 */
void vrfm_load_merge(struct vrfm_link *link, const struct vrfm_run *run)
{
	struct vrfm_dev *vdev = link->vdev;
	u32 index = run->offset / VRFM_WORD, n = run->len / VRFM_WORD;
	const void *bytes = run->bytes;
	u32 part;

	if (READ_ONCE(vdev->load.holder) != link)
		return;
	for (; n; index += part, bytes += part * VRFM_WORD, n -= part) {
		part = min_t(u32, n,
			     VRFM_PAGE_WORDS - index % VRFM_PAGE_WORDS);
		vrfm_load_words(vdev, index, bytes, part);
	}
}

/* ---- loading ---- */

/* Returns when no task that holds a page's lock uses the old map any more. */
static void vrfm_load_set_live(struct vrfm_dev *vdev, unsigned long *live)
{
	u32 i;

	WRITE_ONCE(vdev->live, live);
	for (i = 0; i < VRFM_PAGE_LOCKS; i++) {
		spin_lock_bh(&vdev->page_locks[i].lock);
		spin_unlock_bh(&vdev->page_locks[i].lock);
	}
}

static void vrfm_load_unreserve(struct vrfm_load *load)
{
	kvfree(load->spare_live);
	load->spare_live = NULL;
	kvfree(load->spare_seen);
	load->spare_seen = NULL;
}

/* Free maps of a load that has ended: megabytes, so without vrfm_dev.order. */
static void vrfm_load_tidy(struct vrfm_load *load)
{
	kvfree(load->spent_live);
	load->spent_live = NULL;
	kvfree(load->spent_seen);
	load->spent_seen = NULL;
}

/* Allocate memory for a load, without vrfm_dev.order. */
static bool vrfm_load_reserve(struct vrfm_dev *vdev)
{
	struct vrfm_load *load = &vdev->load;

	load->wants = false;
	load->spare_live = kvzalloc(vdev->params.size / VRFM_WORD /
				    BITS_PER_BYTE, GFP_KERNEL);
	load->spare_seen = kvcalloc(VRFM_NODES, sizeof(*load->spare_seen),
				    GFP_KERNEL);
	if (load->spare_live && load->spare_seen)
		return true;
	vrfm_load_unreserve(load);
	vrfm_load_later(vdev, VRFM_LOAD_RETRY_MS);
	return false;
}

/* The age of an image is that of the time when its INFO arrived. */
static void vrfm_load_want(struct vrfm_load *load, struct vrfm_link *from)
{
	spin_lock_bh(&from->lock);
	load->wanted = from->info.id;
	load->wanted_began = ktime_sub(from->info_at,
				       ms_to_ktime(from->info.value));
	spin_unlock_bh(&from->lock);
}

/* Begin a load, or request memory for it if none is allocated yet. */
static void vrfm_load_begin(struct vrfm_dev *vdev, struct vrfm_link *from,
			    enum vrfm_load_kind kind)
{
	struct vrfm_load *load = &vdev->load;
	struct vrfm_link *link;
	u32 node;

	if (!load->spare_live) {
		load->wants = true;
		return;
	}
	swap(load->seen, load->spare_seen);
	load->kind = kind;
	load->number++;
	load->page = 0;
	load->asked = 0;
	/* Stale: words that changed since then are not live in this load. */
	load->ndigests = 0;
	load->since = jiffies;
	load->deserted = false;
	load->from = from;
	vrfm_load_want(load, from);
	vrfm_load_set_live(vdev, load->spare_live);
	load->spare_live = NULL;
	for (node = 0; node < VRFM_NODES; node++)
		vrfm_past_settle(&load->past[node]);
	list_for_each_entry(link, &vdev->links, entry)
		link->swept = 0;
	vrfm_load_todo_all(vdev, VRFM_TODO_LOAD);
	trace_vrfm_load_begin(vdev->unit, from->peer.node, kind);
	vrfm_link_say(from, VRFM_SAY_LOADING);
}

static void vrfm_load_set_holder(struct vrfm_dev *vdev, struct vrfm_link *link)
{
	WRITE_ONCE(vdev->load.holder, link);
	vdev->load.page = 0;
	vdev->load.asked = 0;
	vdev->load.since = jiffies;
	vdev->load.deserted = false;
}

/*
 * End a load: this memory is as complete as possible. vrfm_load_tidy() frees
 * the maps, which are large, without vrfm_dev.order.
 */
static void vrfm_load_end(struct vrfm_dev *vdev)
{
	struct vrfm_load *load = &vdev->load;
	unsigned long *live = vdev->live;

	vrfm_load_set_holder(vdev, NULL);
	vrfm_load_set_live(vdev, NULL);
	load->spent_live = live;
	swap(load->seen, load->spent_seen);
	vrfm_load_spread_all(vdev);
	vrfm_load_todo_all(vdev, VRFM_TODO_INFO);
	vrfm_load_kick(vdev);
}

/* This memory now has what the holder's memory had. */
static void vrfm_load_adopt(struct vrfm_dev *vdev)
{
	struct vrfm_load *load = &vdev->load;
	u32 node;

	for (node = 0; node < VRFM_NODES; node++) {
		vrfm_past_adopt(&load->past[node], &load->seen[node],
				load->alive[node]);
		if (!vrfm_past_is_empty(&load->past[node]))
			__set_bit(node, load->known);
	}
}

/*
 * The holder's words have replaced those that were loaded from images that
 * peers had given up, so those are loaded again. Peers that still have to load
 * what this node has just loaded get time for that.
 */
static void vrfm_load_fill_again(struct vrfm_dev *vdev)
{
	struct vrfm_link *link;

	list_for_each_entry(link, &vdev->links, entry) {
		link->filled = 0;
		link->was_other = false;
		link->waits_since = jiffies;
	}
}

static void vrfm_load_done(struct vrfm_dev *vdev)
{
	struct vrfm_load *load = &vdev->load;

	if (load->kind != VRFM_LOAD_FILL) {
		vrfm_load_adopt(vdev);
		vrfm_load_fill_again(vdev);
	}
	if (load->kind == VRFM_LOAD_OLDER) {
		load->merged = load->shared;
		/* The holder may have another lineage by now. */
		load->lineage = load->wanted;
		load->began = load->wanted_began;
	}
	if (load->kind == VRFM_LOAD_FILL)
		load->holder->filled = load->lineage;
	load->shared = true;
	trace_vrfm_load_done(vdev->unit, load->holder->peer.node, load->kind);
	vrfm_link_say(load->holder, VRFM_SAY_LOADED);
	vrfm_load_end(vdev);
}

/*
 * Check whether a peer can serve the wanted image. Every node of the older
 * lineage can. But only the peer that caused the load has words of a departed
 * node, or of an image that was given up.
 */
static bool vrfm_is_holder(const struct vrfm_dev *vdev, struct vrfm_link *link)
{
	const struct vrfm_load *load = &vdev->load;
	const struct vrfm_note info = vrfm_info(link);

	return vrfm_answers(link) && info.kind &&
	       info.flags & VRFM_INFO_COMPLETE && info.id == load->wanted &&
	       (load->kind == VRFM_LOAD_OLDER || link == load->from);
}

/*
 * No peer offers the image, perhaps because all are loading: end after some
 * time.
 */
static void vrfm_load_nobody(struct vrfm_dev *vdev)
{
	struct vrfm_load *load = &vdev->load;

	if (!load->deserted)
		load->since = jiffies;
	load->deserted = true;
	if (time_after(jiffies, load->since +
				msecs_to_jiffies(VRFM_LOAD_GIVE_UP_MS)))
		vrfm_load_end(vdev);
	else
		vrfm_load_later(vdev, VRFM_LOAD_GIVE_UP_MS / 10);
}

/*
 * The peer is connected but does not send its image. It did not answer the
 * PULL, or (@unheard) had no room for it.
 */
static void vrfm_load_late(struct vrfm_dev *vdev, struct vrfm_link *link,
			   bool unheard)
{
	bool mute;

	spin_lock_bh(&link->lock);
	mute = unheard || link->pulling;
	WRITE_ONCE(link->mute, mute);
	spin_unlock_bh(&link->lock);
	if (mute)
		vrfm_link_say(link, VRFM_SAY_NO_IMAGE);
}

static bool vrfm_load_is_late(const struct vrfm_load *load)
{
	return time_after(jiffies, load->since +
				   msecs_to_jiffies(VRFM_LOAD_PULL_MS));
}

/*
 * A former holder that loaded an image itself may still have an old PULL to
 * answer. It would ignore another PULL, and its answer would not belong to
 * that. So wait.
 */
static void vrfm_load_await(struct vrfm_dev *vdev, struct vrfm_link *busy)
{
	vdev->load.deserted = false;
	if (vrfm_load_is_late(&vdev->load))
		vrfm_load_late(vdev, busy, false);
	vrfm_load_later(vdev, VRFM_LOAD_RETRY_MS);
}

/* Nodes that load at the same time prefer different holders. */
static u32 vrfm_load_distance(const struct vrfm_dev *vdev,
			      const struct vrfm_link *link)
{
	u32 spread = hash_32(vdev->params.node, 8);

	return (link->peer.node - spread) % VRFM_NODES;
}

static void vrfm_load_choose(struct vrfm_dev *vdev)
{
	struct vrfm_link *link, *best = NULL, *busy = NULL;

	list_for_each_entry(link, &vdev->links, entry) {
		if (!vrfm_is_holder(vdev, link))
			continue;
		if (READ_ONCE(link->pulling))
			busy = link;
		else if (!best || vrfm_load_distance(vdev, link) <
				  vrfm_load_distance(vdev, best))
			best = link;
	}
	if (best)
		vrfm_load_set_holder(vdev, best);
	else if (busy)
		vrfm_load_await(vdev, busy);
	else
		vrfm_load_nobody(vdev);
}

/* A connected peer makes progress, but a large memory takes longer. */
static unsigned long vrfm_load_sweep_end(const struct vrfm_dev *vdev)
{
	u32 mib = vdev->params.size / SZ_1M;

	return vdev->load.since +
	       msecs_to_jiffies(VRFM_LOAD_SWEEP_MS + mib * VRFM_LOAD_SWEEP_MIB_MS);
}

/* Have all linked peers sent their own words? */
static bool vrfm_load_is_swept(struct vrfm_dev *vdev)
{
	unsigned long end = vrfm_load_sweep_end(vdev);
	struct vrfm_link *link;
	bool all = true;

	list_for_each_entry(link, &vdev->links, entry) {
		if (link->state == VRFM_DOWN ||
		    READ_ONCE(link->swept) == vdev->load.number)
			continue;
		all = false;
		if (time_after(jiffies, end) && link->cb)
			krdma_disconnect(link->cb);
	}
	if (!all)
		vrfm_load_later(vdev, VRFM_LOAD_RETRY_MS);
	return all;
}

static u32 vrfm_load_left(const struct vrfm_dev *vdev)
{
	return vdev->params.size / VRFM_WIRE_PAGE - vdev->load.page;
}

/* Give up a holder that cannot serve any more. Live words stay live. */
static void vrfm_load_check_holder(struct vrfm_dev *vdev)
{
	struct vrfm_load *load = &vdev->load;

	if (!load->holder)
		return;
	if (vrfm_load_is_late(load))
		vrfm_load_late(vdev, load->holder, !load->asked);
	if (!vrfm_is_holder(vdev, load->holder))
		vrfm_load_set_holder(vdev, NULL);
}

/* Return: true if the next pages must be requested. */
static bool vrfm_load_go_on(struct vrfm_dev *vdev)
{
	struct vrfm_load *load = &vdev->load;

	vrfm_load_check_holder(vdev);
	if (!load->holder && vrfm_load_is_swept(vdev))
		vrfm_load_choose(vdev);
	if (!load->holder)
		return false;
	if (load->asked && load->holder->arrived == load->page + 1) {
		load->page += load->asked;
		load->asked = 0;
		load->since = jiffies;
	}
	if (!vrfm_load_left(vdev)) {
		vrfm_load_done(vdev);
		return false;
	}
	if (load->asked)
		vrfm_load_later(vdev, VRFM_LOAD_RETRY_MS);
	return !load->asked;
}

/*
 * Calculate digests of the pages from PAGE on. This takes long, so it is done
 * without vrfm_dev.order, and while earlier pages are in flight. Words that are
 * written during that time are live or own, and are not merged.
 */
static void vrfm_load_digest(struct vrfm_dev *vdev, u32 page)
{
	struct vrfm_load *load = &vdev->load;
	u32 i, left = vdev->params.size / VRFM_WIRE_PAGE - page;

	if (load->ndigests && load->digested == page)
		return;
	load->digested = page;
	load->ndigests = min_t(u32, left, VRFM_PULL_MAX);
	for (i = 0; i < load->ndigests; i++)
		load->digests[i] = vrfm_digest(vdev->region.mem +
					       (page + i) * VRFM_WIRE_PAGE);
}

/*
 * Before the first page: copy the holder's history, because pages that are in
 * flight may lack what the holder receives later. Until the last page has
 * arrived, the content of this memory is uncertain.
 */
static void vrfm_load_first(struct vrfm_dev *vdev)
{
	struct vrfm_load *load = &vdev->load;
	u32 node, whose = vrfm_load_whose(vdev);

	spin_lock_bh(&load->holder->lock);
	memcpy(load->seen, load->holder->said,
	       VRFM_NODES * sizeof(*load->seen));
	spin_unlock_bh(&load->holder->lock);
	for (node = 0; node < VRFM_NODES && load->kind != VRFM_LOAD_FILL; node++)
		vrfm_past_doubt(&load->past[node], whose);
}

/*
 * Request the next pages, if there still is a holder.
 *
 * Return: the page to request after these.
 */
static u32 vrfm_load_ask(struct vrfm_dev *vdev)
{
	struct vrfm_load *load = &vdev->load;

	if (!load->holder)
		return load->page;
	if (!load->page)
		vrfm_load_first(vdev);
	if (!vrfm_link_ask(load->holder, load->page, load->digests,
			   load->ndigests)) {
		vrfm_load_later(vdev, 1);
		return load->page;
	}
	load->asked = load->ndigests;
	vrfm_load_later(vdev, VRFM_LOAD_RETRY_MS);
	return load->page + load->asked;
}

/* ---- choosing what to load ---- */

/* Both nodes compare the same two notes, so they agree. */
static bool vrfm_is_older(const struct vrfm_link *link,
			  const struct vrfm_note *its)
{
	const struct vrfm_note *mine = &link->told;

	if (its->value != mine->value)
		return its->value > mine->value;
	return its->id < mine->id;
}

static bool vrfm_info_is_good(const struct vrfm_link *link,
			      const struct vrfm_note *info)
{
	return vrfm_answers(link) && info->kind &&
	       info->flags & VRFM_INFO_COMPLETE && link->told.kind &&
	       link->told.id == link->vdev->load.lineage;
}

/*
 * Does memory A have more of the writes of departed nodes than memory B? A_OF
 * and B_OF have a bit for each node with a history; of others both have
 * nothing.
 */
static bool vrfm_has_more(const struct vrfm_dev *vdev,
			  const struct vrfm_past *a, const unsigned long *a_of,
			  const struct vrfm_past *b, const unsigned long *b_of)
{
	DECLARE_BITMAP(of, VRFM_NODES);
	int more = 0;
	u32 node;

	bitmap_or(of, a_of, b_of, VRFM_NODES);
	for_each_set_bit(node, of, VRFM_NODES) {
		more = vrfm_past_cmp(&a[node], &b[node],
				     vdev->load.alive[node]);
		if (more)
			break;
	}
	return more > 0;
}

/*
 * May words be loaded from an image that the peer has given up? This is done
 * once for each such image, because words may be zero here later for good
 * reason: a program wrote the zero. If the peer gave up the image while it was
 * not linked with this node, it may lack such zeroes. If their writer has
 * departed, the peer has less, and gets time to load from this node first.
 * Otherwise it is linked with the writer.
 */
static bool vrfm_load_may_fill(struct vrfm_link *link)
{
	struct vrfm_load *load = &link->vdev->load;
	bool less;

	if (link->filled == load->lineage)
		return false;
	if (link->was_other ||
	    time_after(jiffies, link->waits_since +
				msecs_to_jiffies(VRFM_LOAD_LESS_MS)))
		return true;
	spin_lock_bh(&link->lock);
	less = vrfm_has_more(link->vdev, load->past, load->known, link->said,
			     link->heard);
	spin_unlock_bh(&link->lock);
	if (less)
		vrfm_load_later(link->vdev, VRFM_LOAD_RETRY_MS);
	return !less;
}

static bool vrfm_load_from_older(struct vrfm_dev *vdev)
{
	struct vrfm_link *link;
	struct vrfm_note info;

	list_for_each_entry(link, &vdev->links, entry) {
		info = vrfm_info(link);
		if (!vrfm_info_is_good(link, &info))
			continue;
		if (info.id != vdev->load.lineage) {
			link->was_other = true;
			if (!vrfm_is_older(link, &info))
				continue;
			vrfm_load_begin(vdev, link, VRFM_LOAD_OLDER);
			return true;
		}
		vdev->load.shared = true;
		if (info.flags & VRFM_INFO_MERGED && vrfm_load_may_fill(link)) {
			vrfm_load_begin(vdev, link, VRFM_LOAD_FILL);
			return true;
		}
	}
	return false;
}

static bool vrfm_has_more_than_mine(struct vrfm_link *link)
{
	const struct vrfm_load *load = &link->vdev->load;
	bool more;

	spin_lock_bh(&link->lock);
	more = vrfm_has_more(link->vdev, link->said, link->heard, load->past,
			     load->known);
	spin_unlock_bh(&link->lock);
	return more;
}

static bool vrfm_has_more_than(struct vrfm_link *link, struct vrfm_link *other)
{
	bool more;

	spin_lock_bh(&link->lock);
	/* Under vrfm_dev.order, and nothing else takes two of these locks. */
	spin_lock_nested(&other->lock, SINGLE_DEPTH_NESTING);
	more = vrfm_has_more(link->vdev, link->said, link->heard, other->said,
			     other->heard);
	spin_unlock(&other->lock);
	spin_unlock_bh(&link->lock);
	return more;
}

/* Have all peers reported about departed nodes, or had the time for it? */
static bool vrfm_load_all_said(struct vrfm_dev *vdev)
{
	unsigned long end = vdev->load.lost +
			    msecs_to_jiffies(VRFM_LOAD_SAID_MS);
	DECLARE_BITMAP(gone, VRFM_NODES);
	struct vrfm_link *link;

	if (time_after(jiffies, end))
		return true;
	bitmap_zero(gone, VRFM_NODES);
	list_for_each_entry(link, &vdev->links, entry)
		if (link->state == VRFM_DOWN)
			__set_bit(link->peer.node, gone);
	list_for_each_entry(link, &vdev->links, entry)
		if (link->state != VRFM_DOWN &&
		    !bitmap_subset(gone, link->heard, VRFM_NODES))
			return false;
	return true;
}

/* Only images of one lineage are compared by history; else by age. */
static bool vrfm_load_is_kin(const struct vrfm_dev *vdev,
			     struct vrfm_link *link)
{
	const struct vrfm_note info = vrfm_info(link);

	return info.kind && info.id == vdev->load.lineage;
}

static bool vrfm_load_from_survivor(struct vrfm_dev *vdev)
{
	struct vrfm_link *link, *best = NULL;
	struct vrfm_note info;

	if (!vrfm_load_all_said(vdev)) {
		vrfm_load_later(vdev, VRFM_LOAD_SAID_MS);
		return false;
	}
	list_for_each_entry(link, &vdev->links, entry)
		if (vrfm_answers(link) && vrfm_load_is_kin(vdev, link) &&
		    vrfm_has_more_than_mine(link) &&
		    (!best || vrfm_has_more_than(link, best)))
			best = link;
	if (!best)
		return false;
	info = vrfm_info(best);
	if (!vrfm_info_is_good(best, &info))
		return false;
	vrfm_load_begin(vdev, best, VRFM_LOAD_SAME);
	return true;
}

/* Return: true if the next pages must be requested. */
static bool vrfm_load_step(struct vrfm_dev *vdev)
{
	bool ask = false;

	rt_mutex_lock(&vdev->order);
	if (vdev->live)
		ask = vrfm_load_go_on(vdev);
	else if (!vrfm_load_from_older(vdev))
		vrfm_load_from_survivor(vdev);
	rt_mutex_unlock(&vdev->order);
	return ask;
}

static void vrfm_load_work(struct work_struct *work)
{
	struct vrfm_dev *vdev = container_of(work, struct vrfm_dev,
					     load.work.work);
	bool ask = vrfm_load_step(vdev);
	u32 next;

	vrfm_load_tidy(&vdev->load);
	if (vdev->load.wants && vrfm_load_reserve(vdev)) {
		ask = vrfm_load_step(vdev);
		/* The reason for the load may have disappeared. */
		vrfm_load_unreserve(&vdev->load);
		vrfm_load_tidy(&vdev->load);
	}
	if (!ask)
		return;
	vrfm_load_digest(vdev, vdev->load.page);
	rt_mutex_lock(&vdev->order);
	next = vrfm_load_ask(vdev);
	rt_mutex_unlock(&vdev->order);
	vrfm_load_digest(vdev, next);
}

/**
 * vrfm_load_init - begin with an image of zeroes, of a new lineage
 * @vdev: device
 */
void vrfm_load_init(struct vrfm_dev *vdev)
{
	INIT_DELAYED_WORK(&vdev->load.work, vrfm_load_work);
	vdev->load.lineage = get_random_u64();
	vdev->load.began = ktime_get();
	vdev->load.alive[vdev->params.node] = vdev->epoch;
	vdev->load.doubts = get_random_u32();
	vdev->load.lost = jiffies;
}

/**
 * vrfm_load_exit - cancel a load
 * @vdev: device that has no peers any more
 *
 * Context: may sleep.
 */
void vrfm_load_exit(struct vrfm_dev *vdev)
{
	cancel_delayed_work_sync(&vdev->load.work);
	vrfm_load_tidy(&vdev->load);
	kvfree(vdev->live);
	vdev->live = NULL;
	kvfree(vdev->load.seen);
	vdev->load.seen = NULL;
}
