// SPDX-License-Identifier: GPL-2.0
/*
 * Catching up: a connected peer lacks some own words of this node, which are
 * the words that this node wrote last. This node sends the present values of
 * these words step by step, while its programs continue to write. New writes
 * are recorded as missed. When the remaining missed words fit into the window,
 * the last step sends them and the link becomes READY. From then on the peer
 * gets updates in the order of writing.
 *
 * If another node writes a missed word before it is sent, the word is no longer
 * an own word. This node does not send the word, because the other node does.
 */
#include <linux/bitmap.h>
#include <linux/minmax.h>
#include <linux/sched.h>

#include "copy.h"
#include "link.h"

/*
 * VRFM_SYNC_STEP and VRFM_SYNC_RUNS: maximum number of words, and of runs of
 * neighbouring words, that one step sends. These limits ensure that writers
 * never wait long for vrfm_dev.write_lock.
 *
 * VRFM_SYNC_LAST_RUNS: maximum number of runs in the last step, which makes the
 * link READY. With the lower limit, each last step could leave missed words if
 * a program keeps storing into scattered words.
 */
#define VRFM_SYNC_STEP (SZ_16K / VRFM_WORD)
#define VRFM_SYNC_RUNS 1024
#define VRFM_SYNC_LAST_RUNS 2048
/* Maximum number of table entries that one call of vrfm_map_trim() visits. */
#define VRFM_SYNC_TRIM 256
/*
 * Maximum number of bits in the map of own words that one step merges into the
 * set of missed words.
 */
#define VRFM_SYNC_OWN (SZ_2M / VRFM_WORD)
/*
 * Interval between attempts to allocate memory for the set of missed words, in
 * ms.
 */
#define VRFM_SYNC_RETRY_MS 100

/**
 * vrfm_catchup_kick - run the work of a link at once
 * @link: link
 *
 * Context: any.
 */
void vrfm_catchup_kick(struct vrfm_link *link)
{
	/* Run the work now, even if it is queued with a delay. */
	mod_delayed_work(vrfm_wq, &link->catchup.work, 0);
}

/*
 * Add the own words among the next VRFM_SYNC_OWN words to the set of missed
 * words. Each call continues at link->missed.lost_at. A word that is written
 * between two calls is added by vrfm_link_miss() or by a later call. Memory is
 * allocated with GFP_NOWAIT, because vrfm_dev.write_lock is held.
 *
 * Return: 0 or -ENOMEM.
 */
static int vrfm_catchup_miss_own(struct vrfm_link *link)
{
	const struct vrfm_dev *vdev = link->vdev;
	const u32 bits = PAGE_SIZE / VRFM_WORD;
	u32 end = min_t(u32, link->missed.lost_at + VRFM_SYNC_OWN,
			link->missed.map.nwords);
	int ret;

	for (; link->missed.lost_at < end; link->missed.lost_at += bits) {
		ret = vrfm_map_add(&link->missed.map, link->missed.lost_at,
				   vdev->own +
					   link->missed.lost_at / BITS_PER_LONG,
				   bits, GFP_NOWAIT | __GFP_NOWARN);
		if (ret)
			return ret;
	}
	WRITE_ONCE(link->missed.lost, end < link->missed.map.nwords);
	vrfm_status_lost(link);
	return 0;
}

/*
 * Of the @n words from word @first on, send those that are still own words. The
 * caller has removed all @n words from the set of missed words.
 *
 * Return: number of runs that were sent, plus 1, so that a call that sends
 * nothing also counts for the limit of runs.
 */
static u32 vrfm_catchup_send(struct vrfm_link *link, u32 first, u32 n)
{
	const struct vrfm_dev *vdev = link->vdev;
	u32 end = first + n, runs = 1;

	for (;; first += n, runs++) {
		/* Find the next run of own words. */
		first = find_next_bit(vdev->own, end, first);
		if (first >= end)
			return runs;
		n = find_next_zero_bit(vdev->own, end, first) - first;
		vrfm_copy_words(link->catchup.scratch,
				vdev->mem.vaddr + first * VRFM_WORD, n);
		spin_lock_bh(&link->lock);
		vrfm_link_append_locked(link, VRFM_WIRE_UPDATE,
					first * VRFM_WORD,
					link->catchup.scratch, n * VRFM_WORD);
		spin_unlock_bh(&link->lock);
	}
}

/*
 * End a round over the set of missed words: all words that were missed when the
 * round began are in flight. If the peer is loading an image, and has requested
 * these words by LOAD, the answer SWEPT is due.
 */
static void vrfm_catchup_went_round(struct vrfm_link *link)
{
	link->catchup.cursor = 0;
	if (link->catchup.sweeping)
		link->catchup.todo |= VRFM_TODO_SWEPT;
}

/*
 * If the peer has begun to load an image, and this node has not begun to answer
 * that load, mark all own words as missed. The image may have brought older
 * values of own words into the peer's memory, even of words that the peer had
 * acknowledged.
 */
static void vrfm_catchup_begin_sweep(struct vrfm_link *link)
{
	u32 number;

	spin_lock_bh(&link->lock);
	number = link->request.load;
	link->request.load = 0;
	if (number)
		link->request.begun = number;
	spin_unlock_bh(&link->lock);
	if (!number)
		return;
	vrfm_link_miss_own(link);
	vrfm_status_lost(link);
	link->catchup.cursor = 0;
	link->catchup.sweeping = number;
	/*
	 * Do not wait for the end of the peer's penalty for being slow: the
	 * peer waits for these words, because it is loading an image.
	 */
	link->overload.hold_until = jiffies;
	link->catchup.todo &= ~VRFM_TODO_SWEPT;
	if (link->state == VRFM_READY)
		vrfm_link_fall_back(link);
}

/*
 * Return the number of bytes that fit into the free messages even if all words
 * are scattered. SPARE of the free messages do not count.
 */
static u32 vrfm_catchup_room(struct vrfm_link *link, u32 spare)
{
	u32 free;

	spin_lock_bh(&link->lock);
	free = vrfm_link_free_locked(link);
	spin_unlock_bh(&link->lock);
	/* A run may leave room unused at the end of a message. */
	return free > spare ? (free - spare) * (link->conn.max_msg / 2) : 0;
}

/*
 * Find the next run of missed words, of up to *N words. Two words that fill 8
 * aligned bytes may be a double, so a run is never cut between them.
 *
 * Return: the first word; *N is the number of words.
 */
static u32 vrfm_catchup_next(const struct vrfm_map *map, u32 from, u32 *n)
{
	const u32 most = max_t(u32, *n, 2);
	u32 first = vrfm_map_next(map, from, most + 1, n);

	if (first < map->nwords && *n > most)
		*n = round_down(first + most, 2) - first;
	return first;
}

/*
 * Send up to WORDS missed words, in up to RUNS runs. A run of a single word
 * takes up to 16 bytes of ROOM, and so does a run of two words. The next step
 * continues behind the last word that was sent. So words at the end of the
 * memory are sent even if words at the beginning are written again and again.
 * The next step begins at an even word: at an odd word it could find only the
 * second half of a double that is written between the two steps.
 */
static u32 vrfm_catchup_take(struct vrfm_link *link, u32 room, u32 words,
			     u32 runs)
{
	const u32 most = PAGE_SIZE / VRFM_WORD;
	u32 first, taken = 0, took, n;

	words = min(words, link->missed.map.set);
	while (room >= 16 && taken < words && runs) {
		n = min3(most, room / 16, words - taken);
		first = vrfm_catchup_next(&link->missed.map,
					  link->catchup.cursor, &n);
		if (first >= link->missed.map.nwords) {
			vrfm_catchup_went_round(link);
			continue;
		}
		vrfm_map_clear(&link->missed.map, first, n);
		took = vrfm_catchup_send(link, first, n);
		runs -= min(runs, took);
		room -= min(room, 16 * n);
		taken += n;
		link->catchup.cursor = round_up(first + n, 2);
	}
	if (!link->missed.map.set)
		vrfm_catchup_went_round(link);
	return taken;
}

/**
 * vrfm_catchup_fill - let a step post only full messages of one type
 * @link: link
 * @type: enum vrfm_wire_type of the messages that must be full; 0: the step
 *	ends, so post the open message even if it is not full
 *
 * A message of another type closes the open message, and is posted at once.
 *
 * Context: called by @link's work.
 */
void vrfm_catchup_fill(struct vrfm_link *link, u8 type)
{
	spin_lock_bh(&link->lock);
	link->window.filling = type;
	if (!type)
		vrfm_link_push_locked(link);
	spin_unlock_bh(&link->lock);
}

/*
 * Check whether the last step is possible: the link may become READY, and all
 * missed words fit into *ROOM.
 *
 * The link may become READY if the peer's last message had the flag GRANT, an
 * INFO of the peer has arrived, and this node has begun to answer the peer's
 * last load of an image. INFO contains the number of that load. Before the
 * answer, the peer may have older values of this node's words.
 */
static bool vrfm_catchup_is_last(struct vrfm_link *link, u32 *room)
{
	bool wanted;

	*room = vrfm_catchup_room(link, 1);
	spin_lock_bh(&link->lock);
	wanted = link->window.granted && link->report.info.kind &&
		 !link->request.load;
	spin_unlock_bh(&link->lock);
	return wanted && *room && (u64)link->missed.map.set * 16 <= *room;
}

/*
 * Free some pages of the set of missed words if it is empty. Freeing all pages
 * at once would take milliseconds if the memory is large.
 *
 * Return: true if some pages are left.
 */
static bool vrfm_catchup_trim(struct vrfm_link *link)
{
	return !link->missed.map.set && !link->missed.lost &&
	       vrfm_map_trim(&link->missed.map, VRFM_SYNC_TRIM);
}

/*
 * Do the last step, and make the link READY if no missed word is left. Words
 * are left if they were too scattered for one step.
 *
 * Return: true if the caller must do another step at once.
 */
static bool vrfm_catchup_finish(struct vrfm_link *link, u32 room)
{
	vrfm_catchup_fill(link, VRFM_WIRE_UPDATE);
	vrfm_catchup_take(link, room, link->missed.map.set,
			  VRFM_SYNC_LAST_RUNS);
	vrfm_catchup_fill(link, 0);
	if (link->missed.map.set)
		return true;
	vrfm_link_ready(link);
	return vrfm_catchup_trim(link);
}

/*
 * Do one step: send the notes and other messages that are due
 * (link->catchup.todo), and then missed words.
 *
 * Return: true if the caller must do another step at once.
 */
static bool vrfm_catchup_step_locked(struct vrfm_link *link)
{
	u32 taken, room;

	lockdep_assert_held(&link->vdev->write_lock);
	vrfm_direct_settle(link);
	vrfm_catchup_begin_sweep(link);
	if (!vrfm_resync_notify(link))
		return false;
	if (link->state == VRFM_READY) {
		vrfm_link_events(link);
		return vrfm_catchup_trim(link);
	}
	if (link->state != VRFM_SYNCING)
		return false;
	if (time_before(jiffies, link->overload.hold_until)) {
		queue_delayed_work(vrfm_wq, &link->catchup.work,
				   link->overload.hold_until - jiffies);
		return false;
	}
	if (link->missed.lost && vrfm_catchup_miss_own(link)) {
		queue_delayed_work(vrfm_wq, &link->catchup.work,
				   msecs_to_jiffies(VRFM_SYNC_RETRY_MS));
		return false;
	}
	if (link->missed.lost)
		return true;
	if (vrfm_catchup_is_last(link, &room))
		return vrfm_catchup_finish(link, room);
	vrfm_catchup_fill(link, VRFM_WIRE_UPDATE);
	taken = vrfm_catchup_take(link,
				  vrfm_catchup_room(link, VRFM_SLOTS_SPARE),
				  VRFM_SYNC_STEP, VRFM_SYNC_RUNS);
	vrfm_catchup_fill(link, 0);
	return taken || (link->catchup.todo && vrfm_resync_notify(link));
}

/**
 * vrfm_catchup_work - send notes, requested pages and missed words to the peer
 * while there is room in the window
 * @work: &vrfm_catchup.work of a link
 *
 * When messages are acknowledged, vrfm_link_wake_writers() queues the work
 * again.
 */
void vrfm_catchup_work(struct work_struct *work)
{
	struct vrfm_link *link =
		container_of(work, struct vrfm_link, catchup.work.work);
	struct vrfm_dev *vdev = link->vdev;
	bool more;

	vrfm_direct_setup(link);
	do {
		vrfm_serve(link);
		rt_mutex_lock(&vdev->write_lock);
		more = vrfm_catchup_step_locked(link);
		rt_mutex_unlock(&vdev->write_lock);
		cond_resched();
	} while (more);
}
