// SPDX-License-Identifier: GPL-2.0
/*
 * Catching up: a peer that is linked but lacks some of this node's words gets
 * what they are now, step by step, while this node goes on writing. What it
 * writes meanwhile becomes missed, too. When what is left fits into the window
 * it goes in one step, and the peer is READY: from there on it gets updates in
 * the order of writing.
 *
 * A word that another node has written since is not this node's any more, and
 * is not sent: its writer does that.
 */
#include <linux/bitmap.h>
#include <linux/sched.h>

#include "copy.h"
#include "link.h"
#include "priv.h"

/*
 * A step takes this many words, in this many runs of neighbours, so that writers
 * never wait long for the order. The last step may take more, or it would never
 * come where a program stores into whole pages of scattered words.
 */
#define VRFM_SYNC_STEP (SZ_16K / VRFM_WORD)
#define VRFM_SYNC_RUNS 1024
#define VRFM_SYNC_LAST_RUNS 2048
/* Entries of the map's table that are visited to free its pages. */
#define VRFM_SYNC_TRIM 256
/* Own words that a step takes for missed. */
#define VRFM_SYNC_OWN (SZ_2M / VRFM_WORD)
/* When memory for the map is short. */
#define VRFM_SYNC_RETRY_MS 100

/**
 * vrfm_sync_kick - there may be something to catch up with
 * @link: link
 *
 * Context: any.
 */
void vrfm_sync_kick(struct vrfm_link *link)
{
	/* Also if it waits for the end of a penalty: it looks again. */
	mod_delayed_work(vrfm_wq, &link->sync, 0);
}

/*
 * All that this node wrote, a part at a time: what it writes meanwhile is missed
 * in any case. Nobody waits for memory while he holds the order.
 *
 * Return: 0; -ENOMEM.
 */
static int vrfm_sync_miss_own(struct vrfm_link *link)
{
	const struct vrfm_dev *vdev = link->vdev;
	const u32 bits = PAGE_SIZE / VRFM_WORD;
	u32 end = min_t(u32, link->lost_at + VRFM_SYNC_OWN,
			link->missed.nwords);
	int ret;

	for (; link->lost_at < end; link->lost_at += bits) {
		ret = vrfm_map_add(&link->missed, link->lost_at,
				   vdev->own + link->lost_at / BITS_PER_LONG,
				   bits, GFP_NOWAIT | __GFP_NOWARN);
		if (ret)
			return ret;
	}
	WRITE_ONCE(link->lost, end < link->missed.nwords);
	vrfm_status_lost(link);
	return 0;
}

/* How many of N words from FIRST on are this node's; they begin with such. */
static u32 vrfm_sync_own_run(const struct vrfm_dev *vdev, u32 *first, u32 n)
{
	u32 end = *first + n;
	u32 at = find_next_bit(vdev->own, end, *first);

	if (at >= end)
		return 0;
	*first = at;
	return find_next_zero_bit(vdev->own, end, at) - at;
}

/*
 * Words of this node's among those that are taken out of the map.
 *
 * Return: number of runs, at least 1.
 */
static u32 vrfm_sync_send(struct vrfm_link *link, u32 first, u32 n)
{
	u32 end = first + n, runs = 1;

	for (; first < end; runs++) {
		n = vrfm_sync_own_run(link->vdev, &first, end - first);
		if (!n)
			break;
		vrfm_copy_words(link->scratch,
				link->vdev->region.mem + first * VRFM_WORD, n);
		spin_lock_bh(&link->lock);
		vrfm_link_append_locked(link, VRFM_WIRE_UPDATE,
					first * VRFM_WORD, link->scratch,
					n * VRFM_WORD);
		spin_unlock_bh(&link->lock);
		first += n;
	}
	return runs;
}

/* All that was missed when it began is on its way. */
static void vrfm_sync_went_round(struct vrfm_link *link)
{
	link->cursor = 0;
	if (link->sweeping)
		link->todo |= VRFM_TODO_SWEPT;
}

/*
 * The peer loads an image, and wants all that this node wrote. Or it has loaded
 * one since this node was linked with it: then it may have got older values of
 * words that it had acknowledged.
 */
static void vrfm_sync_begin_sweep(struct vrfm_link *link)
{
	u32 number;

	spin_lock_bh(&link->lock);
	number = link->load;
	link->load = 0;
	if (number)
		link->peer_loads = number;
	spin_unlock_bh(&link->lock);
	if (!number)
		return;
	vrfm_link_miss_own(link);
	vrfm_status_lost(link);
	link->cursor = 0;
	link->sweeping = number;
	/* It is not too slow, it waits for this. */
	link->hold_until = jiffies;
	link->todo &= ~VRFM_TODO_SWEPT;
	if (link->state == VRFM_READY)
		vrfm_link_fall_back(link);
}

/* Bytes that are sure to find room, however they are scattered. */
static u32 vrfm_sync_room(struct vrfm_link *link, u32 spare)
{
	u32 free;

	spin_lock_bh(&link->lock);
	free = vrfm_link_free_locked(link);
	spin_unlock_bh(&link->lock);
	/* Of each message a run may leave some room at the end. */
	return free > spare ? (free - spare) * (link->room / 2) : 0;
}

/*
 * Takes as many words as ROOM bytes are sure to hold, one alone takes 16, and
 * stops after RUNS runs. Goes
 * round, so that those at the end are not forgotten for those that are written
 * again and again at the beginning.
 */
static u32 vrfm_sync_take(struct vrfm_link *link, u32 room, u32 words,
			  u32 runs)
{
	const u32 most = PAGE_SIZE / VRFM_WORD;
	u32 first, taken = 0, took, n;

	words = min(words, link->missed.set);
	while (room >= 16 && taken < words && runs) {
		n = min3(most, room / 16, words - taken);
		first = vrfm_map_next(&link->missed, link->cursor, n, &n);
		if (first >= link->missed.nwords) {
			vrfm_sync_went_round(link);
			continue;
		}
		vrfm_map_clear(&link->missed, first, n);
		took = vrfm_sync_send(link, first, n);
		runs -= min(runs, took);
		room -= 16 * n;
		taken += n;
		link->cursor = first + n;
	}
	if (!link->missed.set)
		vrfm_sync_went_round(link);
	return taken;
}

/**
 * vrfm_sync_fill - between the runs of a step messages are sent only when full
 * @link: link
 * @type: of those messages, enum vrfm_wire_type; 0: the step is over
 *
 * What others send meanwhile closes them, and does not wait.
 *
 * Context: @link's work.
 */
void vrfm_sync_fill(struct vrfm_link *link, u8 type)
{
	spin_lock_bh(&link->lock);
	link->filling = type;
	if (!type)
		vrfm_link_push_locked(link);
	spin_unlock_bh(&link->lock);
}

/*
 * The peer wants it, and has said which image it has loaded last: of one that is
 * not known here it may have got older words.
 */
static bool vrfm_sync_is_wanted(struct vrfm_link *link)
{
	bool wanted;

	spin_lock_bh(&link->lock);
	wanted = link->granted && link->info.kind && !link->load;
	spin_unlock_bh(&link->lock);
	return wanted;
}

/* Everything that is missed fits into ROOM bytes, and the peer waits for it. */
static bool vrfm_sync_is_last(struct vrfm_link *link, u32 *room)
{
	*room = vrfm_sync_room(link, 1);
	return vrfm_sync_is_wanted(link) && *room &&
	       (u64)link->missed.set * 16 <= *room;
}

/*
 * Some pages of the map that nothing needs any more. All at once would take
 * milliseconds for a large memory.
 *
 * Return: true: some are left.
 */
static bool vrfm_sync_trim(struct vrfm_link *link)
{
	return !link->missed.set && !link->lost &&
	       vrfm_map_trim(&link->missed, VRFM_SYNC_TRIM);
}

/*
 * The last step, unless it is too scattered.
 *
 * Return: is there more to be done now?
 */
static bool vrfm_sync_finish(struct vrfm_link *link, u32 room)
{
	vrfm_sync_fill(link, VRFM_WIRE_UPDATE);
	vrfm_sync_take(link, room, link->missed.set, VRFM_SYNC_LAST_RUNS);
	vrfm_sync_fill(link, 0);
	if (link->missed.set)
		return true;
	vrfm_link_ready(link);
	return vrfm_sync_trim(link);
}

/* Return: is there more to be done now? */
static bool vrfm_sync_step_locked(struct vrfm_link *link)
{
	u32 taken, room;

	vrfm_direct_settle(link);
	vrfm_sync_begin_sweep(link);
	if (!vrfm_load_tell(link))
		return false;
	if (link->state == VRFM_READY) {
		vrfm_link_events(link);
		return vrfm_sync_trim(link);
	}
	if (link->state != VRFM_SYNCING)
		return false;
	if (time_before(jiffies, link->hold_until)) {
		queue_delayed_work(vrfm_wq, &link->sync,
				   link->hold_until - jiffies);
		return false;
	}
	if (link->lost && vrfm_sync_miss_own(link)) {
		queue_delayed_work(vrfm_wq, &link->sync,
				   msecs_to_jiffies(VRFM_SYNC_RETRY_MS));
		return false;
	}
	if (link->lost)
		return true;
	if (vrfm_sync_is_last(link, &room))
		return vrfm_sync_finish(link, room);
	vrfm_sync_fill(link, VRFM_WIRE_UPDATE);
	taken = vrfm_sync_take(link, vrfm_sync_room(link, VRFM_SLOTS_SPARE),
			       VRFM_SYNC_STEP, VRFM_SYNC_RUNS);
	vrfm_sync_fill(link, 0);
	return taken || (link->todo && vrfm_load_tell(link));
}

/**
 * vrfm_sync_work - catch up as far as the window lets it
 * @work: of a link
 *
 * It is kicked again when messages are acknowledged.
 */
void vrfm_sync_work(struct work_struct *work)
{
	struct vrfm_link *link =
		container_of(work, struct vrfm_link, sync.work);
	struct vrfm_dev *vdev = link->vdev;
	bool more;

	vrfm_direct_setup(link);
	do {
		vrfm_serve(link);
		rt_mutex_lock(&vdev->order);
		more = vrfm_sync_step_locked(link);
		rt_mutex_unlock(&vdev->order);
		cond_resched();
	} while (more);
}
