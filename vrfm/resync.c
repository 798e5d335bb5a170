// SPDX-License-Identifier: GPL-2.0
/*
 * Images: how a node gets words of a writer that has departed. A node sends
 * only its own words, which are the words that it wrote last itself. Words of
 * the departed writer are in the memories of nodes that have received them, and
 * are own words of none of these nodes.
 *
 * An image has a lineage, which is a random id, and an age. A device begins
 * with an image of zeroes and a new lineage. When nodes with two lineages
 * connect, the node with the younger image loads the older image, and adopts
 * its lineage. When a node departs, its last writes may have reached only some
 * peers. The other peers then load from the peer that has received most of
 * these writes.
 *
 * A load has two steps. First this node stops sending GRANT, so that no peer
 * stays READY, and requests all own words of the linked peers (LOAD, SWEPT).
 * Words that arrive from their writers are live. In the second step this node
 * requests pages from one peer, the donor (PULL, PULLED). It merges the words
 * that are neither live nor own.
 *
 * vrfm_resync_work() does all steps of a load. It holds vrfm_dev.write_lock,
 * except while it allocates, frees, or calculates digests. resync_state.c has
 * the states of a load, and the allowed changes.
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
#include "ring.h"
#include "trace.h"
#include "twin.h"

/*
 * VRFM_RESYNC_RETRY_MS: interval of checks during a load, in ms.
 * VRFM_RESYNC_GIVE_UP_MS: time after which a load without a donor ends, in ms.
 */
#define VRFM_RESYNC_RETRY_MS 1000
#define VRFM_RESYNC_GIVE_UP_MS 2000
/* Timeout of peers' reports about a departed node, in ms. */
#define VRFM_RESYNC_REPORT_MS 1000
/*
 * Maximum time, in ms, from sending the INFO of this node to receiving the INFO
 * of the peer. After a longer time, this node sends its INFO again before it
 * compares the ages in the two INFOs.
 */
#define VRFM_RESYNC_INFO_MS 1000
/*
 * Time for a peer that lacks writes of departed nodes to load them from this
 * node, before this node loads words from the peer, in ms.
 */
#define VRFM_RESYNC_LAGGARD_MS 10000
/*
 * Time for peers to send their own words, in ms: a constant part, and a part
 * for each MiB of the memory.
 */
#define VRFM_RESYNC_SWEEP_MS 30000
#define VRFM_RESYNC_SWEEP_MIB_MS 1000
/*
 * Time without progress after which a donor (peer that sends its image) is
 * replaced, in ms.
 */
#define VRFM_RESYNC_PULL_MS 30000

/**
 * vrfm_resync_kick - check whether an image must be loaded, or a load can
 * continue
 * @vdev: device
 *
 * Context: any.
 */
void vrfm_resync_kick(struct vrfm_dev *vdev)
{
	/* Run the work at once, even if it is delayed. */
	mod_delayed_work(vrfm_wq, &vdev->resync.work, 0);
}

static void vrfm_resync_queue_in(struct vrfm_dev *vdev, u32 ms)
{
	queue_delayed_work(vrfm_wq, &vdev->resync.work, msecs_to_jiffies(ms));
}

/*
 * Return a copy of the peer's last INFO, because the receive path may change it
 * at any time.
 */
static struct vrfm_note vrfm_info(struct vrfm_link *link)
{
	struct vrfm_note info;

	spin_lock_bh(&link->lock);
	info = link->report.info;
	spin_unlock_bh(&link->lock);
	return info;
}

/*
 * Check whether a peer is connected, and has not failed to answer the last
 * request for pages (PULL) in time.
 */
static bool vrfm_answers(const struct vrfm_link *link)
{
	return link->state != VRFM_DOWN && !READ_ONCE(link->pull.not_serving);
}

/* ---- notes to a peer ---- */

static bool vrfm_note_send_info(struct vrfm_link *link)
{
	const struct vrfm_resync *resync = &link->vdev->resync;
	struct vrfm_note note = {
		.kind = VRFM_NOTE_INFO,
		.number = resync->number,
		.id = resync->lineage,
		.value = ktime_ms_delta(ktime_get(), resync->began),
	};

	if (!vrfm_is_loading(link->vdev))
		note.flags |= VRFM_INFO_COMPLETE;
	if (resync->merged)
		note.flags |= VRFM_INFO_MERGED;
	if (!vrfm_link_note(link, &note))
		return false;
	link->lineage.sent = note;
	link->lineage.sent_at = ktime_get();
	link->catchup.todo &= ~VRFM_TODO_INFO;
	/* Run the work: it can compare the two images after INFO was sent. */
	vrfm_resync_kick(link->vdev);
	return true;
}

/*
 * Notify the peer that this node has left it behind. Each message without the
 * flag SYNCED notifies the peer, so send a probe while the link is SYNCING.
 */
static bool vrfm_note_send_behind(struct vrfm_link *link)
{
	if (link->state == VRFM_SYNCING && !vrfm_link_probe(link))
		return false;
	link->catchup.todo &= ~VRFM_TODO_BEHIND;
	return true;
}

static bool vrfm_note_send_load(struct vrfm_link *link)
{
	const struct vrfm_note note = {
		.kind = VRFM_NOTE_LOAD,
		.number = link->vdev->resync.number,
	};

	if (!vrfm_link_note(link, &note))
		return false;
	link->catchup.todo &= ~VRFM_TODO_LOAD;
	return true;
}

static bool vrfm_note_send_swept(struct vrfm_link *link)
{
	const struct vrfm_note note = {
		.kind = VRFM_NOTE_SWEPT, .number = link->catchup.sweeping,
	};

	if (!vrfm_link_note(link, &note))
		return false;
	link->catchup.sweeping = 0;
	link->catchup.todo &= ~VRFM_TODO_SWEPT;
	return true;
}

static bool vrfm_note_send_lives(struct vrfm_link *link, u32 node)
{
	const struct vrfm_life *lives = link->vdev->resync.history[node].lives;
	struct vrfm_note note = { .kind = VRFM_NOTE_GONE, .node = node };
	u32 i;

	/* Send an empty entry if the history has no life. */
	for (i = 0; i < VRFM_LIVES && (!i || lives[i].epoch); i++) {
		note.id = lives[i].epoch;
		note.value = lives[i].serial;
		note.flags = (lives[i].synced ? VRFM_GONE_SYNCED : 0) |
			     (lives[i].direct ? VRFM_GONE_DIRECT : 0) |
			     (i ? 0 : VRFM_GONE_NEWEST);
		note.number = lives[i].tie_breaker;
		if (!vrfm_link_note(link, &note))
			return false;
	}
	__clear_bit(node, link->catchup.gone_due);
	return true;
}

static bool vrfm_note_send_gone(struct vrfm_link *link)
{
	u32 node;

	for_each_set_bit(node, link->catchup.gone_due, VRFM_NODES)
		if (!vrfm_note_send_lives(link, node))
			return false;
	link->catchup.todo &= ~VRFM_TODO_GONE;
	return true;
}

/**
 * vrfm_resync_notify - send all notes and messages that are due
 * (&vrfm_catchup.todo)
 * @link: link
 *
 * Context: vrfm_dev.write_lock is held.
 * Return: true if all were sent; false if there is no connection or no room.
 */
bool vrfm_resync_notify(struct vrfm_link *link)
{
	static const struct {
		u32 todo;
		bool (*tell)(struct vrfm_link *link);
	} all[] = {
		{ VRFM_TODO_BEHIND, vrfm_note_send_behind },
		{ VRFM_TODO_LOAD, vrfm_note_send_load },
		/*
		 * Send GONE before INFO: when INFO arrives, the peer compares
		 * the images, and needs GONE for that.
		 */
		{ VRFM_TODO_GONE, vrfm_note_send_gone },
		{ VRFM_TODO_INFO, vrfm_note_send_info },
		{ VRFM_TODO_SWEPT, vrfm_note_send_swept },
		{ VRFM_TODO_STAGE, vrfm_direct_notify },
	};
	u32 i;

	lockdep_assert_held(&link->vdev->write_lock);
	for (i = 0; i < ARRAY_SIZE(all); i++)
		if (link->catchup.todo & all[i].todo && !all[i].tell(link))
			return false;
	return true;
}

static void vrfm_resync_todo(struct vrfm_link *link, u32 todo)
{
	if (link->state == VRFM_DOWN)
		return;
	link->catchup.todo |= todo;
	vrfm_catchup_kick(link);
}

static void vrfm_resync_todo_all(struct vrfm_dev *vdev, u32 todo)
{
	struct vrfm_link *link;

	list_for_each_entry(link, &vdev->links, entry)
		vrfm_resync_todo(link, todo);
}

/* ---- links ---- */

/* Send the history of NODE to all peers. */
static void vrfm_resync_spread(struct vrfm_dev *vdev, u32 node)
{
	struct vrfm_link *link;

	list_for_each_entry(link, &vdev->links, entry) {
		__set_bit(node, link->catchup.gone_due);
		vrfm_resync_todo(link, VRFM_TODO_GONE);
	}
}

/**
 * vrfm_resync_link_up - prepare the notes to a peer that has connected
 * @link: link
 *
 * Context: vrfm_dev.write_lock is held.
 */
void vrfm_resync_link_up(struct vrfm_link *link)
{
	struct vrfm_resync *resync = &link->vdev->resync;
	u32 node = link->peer.node;
	struct vrfm_link *other;

	lockdep_assert_held(&link->vdev->write_lock);
	resync->alive[node] = link->conn.peer_epoch;
	if (vrfm_history_forget(&resync->history[node], link->conn.peer_epoch))
		vrfm_resync_spread(link->vdev, node);
	link->lineage.sent.kind = 0;
	link->lineage.changed = false;
	link->lineage.waits_since = jiffies;
	link->catchup.sweeping = 0;
	link->request.served = 0;
	link->catchup.cursor = 0;
	link->catchup.todo = VRFM_TODO_INFO | VRFM_TODO_GONE;
	if (vrfm_is_loading(link->vdev))
		link->catchup.todo |= VRFM_TODO_LOAD;
	/*
	 * The peer must get a report (GONE) about all nodes with a history, and
	 * about all absent peers, whose history may be empty.
	 */
	bitmap_copy(link->catchup.gone_due, resync->known, VRFM_NODES);
	list_for_each_entry(other, &link->vdev->links, entry)
		if (other->state == VRFM_DOWN)
			__set_bit(other->peer.node, link->catchup.gone_due);
}

/*
 * Change the state of the load, and with it the donor: LINK, if the new state
 * is PULLING. Otherwise LINK is the peer that the change concerns, or NULL.
 */
static void vrfm_resync_become_locked(struct vrfm_dev *vdev,
				      enum vrfm_resync_state to,
				      struct vrfm_link *link)
{
	struct vrfm_resync *resync = &vdev->resync;
	enum vrfm_resync_state from = resync->state;
	bool loaded = vrfm_is_loading(vdev);

	lockdep_assert_held(&vdev->write_lock);
	if (from == to)
		return;
	WARN_ON_ONCE(!vrfm_resync_may_move(from, to));
	trace_vrfm_resync(vdev->unit, link ? link->peer.node : -1, from, to,
			  resync->kind);
	WRITE_ONCE(resync->state, to);
	if (vrfm_ranges_are_wanted() && vrfm_is_loading(vdev) != loaded)
		vrfm_rings_image(vdev, !loaded);
	if (from != VRFM_RESYNC_PULLING && to != VRFM_RESYNC_PULLING)
		return;
	WRITE_ONCE(resync->donor, to == VRFM_RESYNC_PULLING ? link : NULL);
	resync->since = jiffies;
	/* Only the work starts to pull. So it may read @page without the lock. */
	if (to == VRFM_RESYNC_PULLING) {
		WRITE_ONCE(resync->page, 0);
		resync->requested = 0;
	}
}

/* Return a new value for &vrfm_life.tie_breaker. */
static u32 vrfm_resync_tie_breaker(struct vrfm_dev *vdev)
{
	return vdev->params.node << 24 |
	       (vdev->resync.tie_breakers++ & 0xFFFFFF);
}

/**
 * vrfm_resync_drop_donor - stop loading from a link, if it is the donor
 * @link: link
 *
 * vrfm_resync_work() chooses another donor. The pending request for pages
 * (PULL) is lost, even if the peer reconnects at once.
 *
 * Context: vrfm_dev.write_lock is held.
 */
void vrfm_resync_drop_donor(struct vrfm_link *link)
{
	struct vrfm_dev *vdev = link->vdev;

	lockdep_assert_held(&vdev->write_lock);
	if (vdev->resync.donor == link)
		vrfm_resync_become_locked(vdev, VRFM_RESYNC_SWEEPING, link);
}

/**
 * vrfm_resync_link_down - record the received writes of a disconnected peer
 * @link: link
 *
 * Context: vrfm_dev.write_lock is held.
 */
void vrfm_resync_link_down(struct vrfm_link *link)
{
	struct vrfm_dev *vdev = link->vdev;
	struct vrfm_resync *resync = &vdev->resync;
	const struct vrfm_life life = {
		.epoch = link->conn.peer_epoch,
		.serial = link->receipt.serial,
		.tie_breaker = vrfm_resync_tie_breaker(vdev),
		.synced = link->rx.synced && !vrfm_is_loading(vdev),
		.direct = link->receipt.direct,
		.after_checkpoint = true,
	};

	lockdep_assert_held(&link->vdev->write_lock);
	vrfm_resync_drop_donor(link);
	resync->alive[link->peer.node] = 0;
	resync->link_lost = jiffies;
	vrfm_history_add(&resync->history[link->peer.node], &life);
	__set_bit(link->peer.node, resync->known);
	memset(link->report.history, 0,
	       VRFM_NODES * sizeof(*link->report.history));
	bitmap_zero(link->report.known, VRFM_NODES);
	vrfm_resync_spread(vdev, link->peer.node);
	vrfm_resync_kick(vdev);
}

/* ---- merging ---- */

static bool vrfm_resync_wants(const struct vrfm_dev *vdev,
			      const unsigned long *live, u32 index, u32 mine,
			      u32 word)
{
	const struct vrfm_twin *twin = vdev->twins[index / VRFM_PAGE_WORDS];

	if (test_bit(index, vdev->own) || test_bit(index, live))
		return false;
	/*
	 * Keep a word that differs from its twin: a program has stored the
	 * word, and the scanner will send it.
	 */
	if (twin && twin->words[index % VRFM_PAGE_WORDS] != mine)
		return false;
	/*
	 * Do not merge a zero of another lineage: perhaps the word was never
	 * written.
	 */
	if (vdev->resync.kind == VRFM_RESYNC_OLDER)
		return word;
	return vdev->resync.kind == VRFM_RESYNC_SAME || !mine;
}

static void vrfm_resync_word(struct vrfm_dev *vdev, const unsigned long *live,
			     u32 index, u32 word)
{
	u32 *at = vdev->mem.vaddr + index * VRFM_WORD;
	struct vrfm_twin *twin = vdev->twins[index / VRFM_PAGE_WORDS];
	u32 mine = READ_ONCE(*at);

	/*
	 * If a program stores at this moment, keep its value, which the scanner
	 * will send.
	 */
	if (vrfm_resync_wants(vdev, live, index, mine, word) &&
	    cmpxchg(at, mine, word) == mine && twin)
		twin->words[index % VRFM_PAGE_WORDS] = word;
}

/*
 * Merge a pair: two words that together fill 8 aligned bytes. One store changes
 * both words, so that no reader sees half of a double.
 *
 * Return: false if this node does not take both words, or a program has stored
 * into the pair by now. In this case merge the words one by one.
 */
static bool vrfm_resync_pair(struct vrfm_dev *vdev, const unsigned long *live,
			     u32 index, const u32 *words)
{
	u64 *at = vdev->mem.vaddr + index * VRFM_WORD;
	struct vrfm_twin *twin = vdev->twins[index / VRFM_PAGE_WORDS];
	u32 i = index % VRFM_PAGE_WORDS, mine[2];
	u64 old = READ_ONCE(*at), new;

	memcpy(mine, &old, sizeof(mine));
	memcpy(&new, words, sizeof(new));
	if (!vrfm_resync_wants(vdev, live, index, mine[0], words[0]) ||
	    !vrfm_resync_wants(vdev, live, index + 1, mine[1], words[1]) ||
	    cmpxchg64(at, old, new) != old)
		return false;
	if (twin)
		memcpy(twin->words + i, words, sizeof(new));
	return true;
}

/*
 * Let taps record words of the memory, after words of an image were merged. The
 * record also has the words that were not merged. The lock of the page lets no
 * older value follow a newer one: a node that writes one of the words later gets
 * its record later.
 */
static void vrfm_resync_tap_locked(struct vrfm_link *link, u32 first, u32 n)
{
	struct vrfm_dev *vdev = link->vdev;
	struct vrfm_record record = {
		.type = VRFM_REC_APPLIED,
		.flags = VRFM_REC_FROM_IMAGE,
		.node = link->peer.node,
	};

	lockdep_assert_held(vrfm_page_lock(vdev, first * VRFM_WORD));
	vrfm_tap_run(vdev, &record, first * VRFM_WORD,
		     vdev->mem.vaddr + first * VRFM_WORD, n * VRFM_WORD);
}

/**
 * vrfm_resync_merge - merge words of the donor's image
 * @link: link from which the words came; if it is not the donor, ignore them
 * @run: the words
 *
 * Context: softirq or process.
 */
void vrfm_resync_merge(struct vrfm_link *link, const struct vrfm_run *run)
{
	struct vrfm_dev *vdev = link->vdev;
	u32 index = run->offset / VRFM_WORD, end = index + run->len / VRFM_WORD;
	const void *bytes = run->bytes;
	u32 first, words[2], step;
	const unsigned long *live;

	if (READ_ONCE(vdev->resync.donor) != link)
		return;
	while (index < end) {
		spinlock_t *lock = vrfm_page_lock(vdev, index * VRFM_WORD);

		first = index;
		spin_lock_bh(lock);
		/*
		 * Read the map of live words once for each page, because
		 * another task may end the load at any time: see
		 * vrfm_resync_set_live().
		 */
		live = READ_ONCE(vdev->live);
		do {
			step = min_t(u32, end - index, 2 - index % 2);
			memcpy(words, bytes, step * VRFM_WORD);
			if (live && (step == 1 ||
				     !vrfm_resync_pair(vdev, live, index,
						       words))) {
				vrfm_resync_word(vdev, live, index, words[0]);
				if (step == 2)
					vrfm_resync_word(vdev, live, index + 1,
							 words[1]);
			}
			bytes += step * VRFM_WORD;
			index += step;
		} while (index < end && index % VRFM_PAGE_WORDS);
		vrfm_touched(vdev, first * VRFM_WORD,
			     (index - first) * VRFM_WORD);
		if (live &&
		    vrfm_is_tapped(vdev, VRFM_TAP_KIND(VRFM_REC_APPLIED)))
			vrfm_resync_tap_locked(link, first, index - first);
		spin_unlock_bh(lock);
	}
}

/* ---- loading ---- */

/*
 * Set the map of live words. Users of the map hold the lock of a page, and read
 * the pointer once under it. So take each lock once: after that, no task uses
 * the old map.
 */
static void vrfm_resync_set_live(struct vrfm_dev *vdev, unsigned long *live)
{
	u32 i;

	WRITE_ONCE(vdev->live, live);
	for (i = 0; i < VRFM_PAGE_LOCKS; i++) {
		spin_lock_bh(&vdev->page_locks[i].lock);
		spin_unlock_bh(&vdev->page_locks[i].lock);
	}
}

static void vrfm_resync_free_spare(struct vrfm_resync *resync)
{
	kvfree(resync->spare_live);
	resync->spare_live = NULL;
	kvfree(resync->spare_seen);
	resync->spare_seen = NULL;
}

/*
 * Free the maps of a load that has ended. The maps may have megabytes, so
 * vrfm_dev.write_lock must not be held.
 */
static void vrfm_resync_free_spent(struct vrfm_resync *resync)
{
	kvfree(resync->spent_live);
	resync->spent_live = NULL;
	kvfree(resync->spent_seen);
	resync->spent_seen = NULL;
}

/* Allocate memory for a load. vrfm_dev.write_lock must not be held. */
static bool vrfm_resync_reserve(struct vrfm_dev *vdev)
{
	struct vrfm_resync *resync = &vdev->resync;

	resync->spare_live = kvzalloc(vdev->params.size / VRFM_WORD /
				      BITS_PER_BYTE, GFP_KERNEL);
	resync->spare_seen =
		kvcalloc(VRFM_NODES, sizeof(*resync->spare_seen), GFP_KERNEL);
	if (resync->spare_live && resync->spare_seen)
		return true;
	vrfm_resync_free_spare(resync);
	vrfm_resync_queue_in(vdev, VRFM_RESYNC_RETRY_MS);
	return false;
}

/*
 * Record the lineage of the wanted image, and the time when that lineage began.
 * The peer's INFO has the lineage and its age.
 */
static void vrfm_resync_want(struct vrfm_resync *resync, struct vrfm_link *from)
{
	spin_lock_bh(&from->lock);
	resync->wanted = from->report.info.id;
	resync->wanted_began = ktime_sub(from->report.info_at,
					 ms_to_ktime(from->report.info.value));
	spin_unlock_bh(&from->lock);
}

/*
 * Begin a load. If its memory is not allocated yet, only let the work allocate
 * it.
 */
static void vrfm_resync_begin(struct vrfm_dev *vdev, struct vrfm_link *from,
			      enum vrfm_resync_kind kind)
{
	struct vrfm_resync *resync = &vdev->resync;
	struct vrfm_link *link;
	u32 node;

	resync->kind = kind;
	if (!resync->spare_live) {
		vrfm_resync_become_locked(vdev, VRFM_RESYNC_RESERVING, from);
		return;
	}
	swap(resync->seen, resync->spare_seen);
	resync->number++;
	/*
	 * Drop digests from before this load. A word that has changed since
	 * then is not live in this load, so its page needs a new digest.
	 */
	resync->ndigests = 0;
	resync->since = jiffies;
	resync->from = from;
	vrfm_resync_want(resync, from);
	vrfm_resync_become_locked(vdev, VRFM_RESYNC_SWEEPING, from);
	vrfm_resync_set_live(vdev, resync->spare_live);
	resync->spare_live = NULL;
	for (node = 0; node < VRFM_NODES; node++)
		vrfm_history_checkpoint(&resync->history[node]);
	list_for_each_entry(link, &vdev->links, entry)
		link->pull.swept = 0;
	vrfm_resync_todo_all(vdev, VRFM_TODO_LOAD);
	vrfm_link_say(from, VRFM_SAY_LOADING);
	/* A peer may never send its own words: check that it is not late. */
	vrfm_resync_queue_in(vdev, VRFM_RESYNC_RETRY_MS);
}

/*
 * End a load, also if it could not be completed. vrfm_resync_free_spent() frees
 * the large maps later, without vrfm_dev.write_lock.
 */
static void vrfm_resync_end(struct vrfm_dev *vdev)
{
	struct vrfm_resync *resync = &vdev->resync;
	unsigned long *live = vdev->live;
	struct vrfm_link *link;

	vrfm_resync_set_live(vdev, NULL);
	vrfm_resync_become_locked(vdev, VRFM_RESYNC_IDLE, resync->donor);
	resync->spent_live = live;
	swap(resync->seen, resync->spent_seen);
	/*
	 * Send the histories of all nodes, and this node's INFO, to all peers.
	 * Queue the work of each link only once, and not once for each history:
	 * writers wait for vrfm_dev.write_lock, which is held here.
	 */
	list_for_each_entry(link, &vdev->links, entry)
		bitmap_or(link->catchup.gone_due, link->catchup.gone_due,
			  resync->known, VRFM_NODES);
	vrfm_resync_todo_all(vdev, VRFM_TODO_GONE | VRFM_TODO_INFO);
	vrfm_resync_kick(vdev);
}

static void vrfm_resync_done(struct vrfm_dev *vdev)
{
	struct vrfm_resync *resync = &vdev->resync;
	struct vrfm_history *history;
	struct vrfm_link *link;
	u32 node;

	if (resync->kind != VRFM_RESYNC_FILL) {
		/* Adopt the donor's history: this memory has its writes now. */
		for (node = 0; node < VRFM_NODES; node++) {
			history = &resync->history[node];
			vrfm_history_copy_from_donor(history,
						     &resync->seen[node],
						     resync->alive[node]);
			if (!vrfm_history_is_empty(history))
				__set_bit(node, resync->known);
		}
		/*
		 * Let this node load words again from images that peers have
		 * given up (VRFM_RESYNC_FILL), because the donor's words have
		 * replaced these words here. Set waits_since, so that peers
		 * first get time to load what this node has just loaded.
		 */
		list_for_each_entry(link, &vdev->links, entry) {
			link->lineage.filled = 0;
			link->lineage.changed = false;
			link->lineage.waits_since = jiffies;
		}
	}
	if (resync->kind == VRFM_RESYNC_OLDER) {
		resync->merged = resync->shared;
		/*
		 * Adopt the wanted lineage, because the lineage of the donor
		 * may have changed by now.
		 */
		resync->lineage = resync->wanted;
		resync->began = resync->wanted_began;
	}
	if (resync->kind == VRFM_RESYNC_FILL)
		resync->donor->lineage.filled = resync->lineage;
	resync->shared = true;
	vrfm_link_say(resync->donor, VRFM_SAY_LOADED);
	vrfm_resync_end(vdev);
}

/*
 * Check whether a peer can be the donor of the wanted image. An older image can
 * come from every peer of its lineage. Words of a departed node, or of an image
 * that was given up, can come only from the peer that caused the load.
 */
static bool vrfm_may_donate(const struct vrfm_dev *vdev, struct vrfm_link *link)
{
	const struct vrfm_resync *resync = &vdev->resync;
	const struct vrfm_note info = vrfm_info(link);

	return vrfm_answers(link) && info.kind &&
	       info.flags & VRFM_INFO_COMPLETE && info.id == resync->wanted &&
	       (resync->kind == VRFM_RESYNC_OLDER || link == resync->from);
}

/*
 * Record that a connected peer does not send its image in time: it has not
 * answered a request for pages (PULL). If @unheard is set, the link had no room
 * for the request.
 */
static void vrfm_resync_mark_late(struct vrfm_dev *vdev, struct vrfm_link *link,
				  bool unheard)
{
	bool not_serving;

	spin_lock_bh(&link->lock);
	not_serving = unheard || link->pull.pending;
	WRITE_ONCE(link->pull.not_serving, not_serving);
	spin_unlock_bh(&link->lock);
	if (not_serving)
		vrfm_link_say(link, VRFM_SAY_NO_IMAGE);
}

static bool vrfm_resync_is_late(const struct vrfm_resync *resync)
{
	return time_after(jiffies, resync->since +
			  msecs_to_jiffies(VRFM_RESYNC_PULL_MS));
}

/*
 * Rank a peer as donor: the lowest number is best. Nodes that load at the same
 * time prefer different donors.
 */
static u32 vrfm_resync_distance(const struct vrfm_dev *vdev,
				const struct vrfm_link *link)
{
	u32 spread = hash_32(vdev->params.node, 8);

	return (link->peer.node - spread) % VRFM_NODES;
}

/*
 * Choose the donor, and begin to pull. If no peer can serve now, wait. End the
 * load if no peer has offered the image for VRFM_RESYNC_GIVE_UP_MS; until then
 * wait, because all peers may be loading at present.
 */
static void vrfm_resync_choose(struct vrfm_dev *vdev)
{
	struct vrfm_link *link, *best = NULL, *busy = NULL;
	struct vrfm_resync *resync = &vdev->resync;

	if (resync->state == VRFM_RESYNC_SWEEPING)
		vrfm_resync_become_locked(vdev, VRFM_RESYNC_CHOOSING, NULL);
	list_for_each_entry(link, &vdev->links, entry) {
		if (!vrfm_may_donate(vdev, link))
			continue;
		if (READ_ONCE(link->pull.pending))
			busy = link;
		else if (!best || vrfm_resync_distance(vdev, link) <
					  vrfm_resync_distance(vdev, best))
			best = link;
	}
	if (best) {
		vrfm_resync_become_locked(vdev, VRFM_RESYNC_PULLING, best);
		return;
	}
	if (busy) {
		/*
		 * Wait for a former donor that has not answered an old request
		 * for pages (PULL), because it loaded an image itself. The peer
		 * would ignore a new request, and its late answer would not
		 * belong to the new request.
		 */
		vrfm_resync_become_locked(vdev, VRFM_RESYNC_CHOOSING, busy);
		if (vrfm_resync_is_late(resync))
			vrfm_resync_mark_late(vdev, busy, false);
		vrfm_resync_queue_in(vdev, VRFM_RESYNC_RETRY_MS);
		return;
	}
	if (resync->state != VRFM_RESYNC_DESERTED)
		resync->since = jiffies;
	vrfm_resync_become_locked(vdev, VRFM_RESYNC_DESERTED, NULL);
	if (time_after(jiffies, resync->since +
				msecs_to_jiffies(VRFM_RESYNC_GIVE_UP_MS)))
		vrfm_resync_end(vdev);
	else
		vrfm_resync_queue_in(vdev, VRFM_RESYNC_GIVE_UP_MS / 10);
}

/*
 * Check whether all linked peers have sent their own words, and disconnect
 * peers that have not done so in time.
 */
static bool vrfm_resync_is_swept(struct vrfm_dev *vdev)
{
	u32 mib = vdev->params.size / SZ_1M;
	unsigned long end = vdev->resync.since +
			    msecs_to_jiffies(VRFM_RESYNC_SWEEP_MS +
					     mib * VRFM_RESYNC_SWEEP_MIB_MS);
	struct vrfm_link *link, *missing = NULL;

	list_for_each_entry(link, &vdev->links, entry) {
		if (link->state == VRFM_DOWN ||
		    READ_ONCE(link->pull.swept) == vdev->resync.number)
			continue;
		missing = link;
		if (time_after(jiffies, end) && link->conn.cb)
			krdma_disconnect(link->conn.cb);
	}
	if (!missing)
		return true;
	if (vdev->resync.state == VRFM_RESYNC_CHOOSING)
		vrfm_resync_become_locked(vdev, VRFM_RESYNC_SWEEPING,
					  missing);
	vrfm_resync_queue_in(vdev, VRFM_RESYNC_RETRY_MS);
	return false;
}

/* Continue a load. Return true if the next pages must be requested. */
static bool vrfm_resync_continue(struct vrfm_dev *vdev)
{
	struct vrfm_resync *resync = &vdev->resync;

	/*
	 * Give up a donor that cannot serve any more. Keep the map of live
	 * words for the next donor.
	 */
	if (resync->state == VRFM_RESYNC_PULLING) {
		if (vrfm_resync_is_late(resync))
			vrfm_resync_mark_late(vdev, resync->donor,
					      !resync->requested);
		if (!vrfm_may_donate(vdev, resync->donor))
			vrfm_resync_drop_donor(resync->donor);
	}
	if (resync->state != VRFM_RESYNC_PULLING && vrfm_resync_is_swept(vdev))
		vrfm_resync_choose(vdev);
	if (resync->state != VRFM_RESYNC_PULLING)
		return false;
	if (resync->requested &&
	    resync->donor->pull.arrived == resync->page + 1) {
		WRITE_ONCE(resync->page, resync->page + resync->requested);
		resync->requested = 0;
		resync->since = jiffies;
	}
	if (resync->page == vdev->params.size / VRFM_WIRE_PAGE) {
		vrfm_resync_done(vdev);
		return false;
	}
	if (resync->requested)
		vrfm_resync_queue_in(vdev, VRFM_RESYNC_RETRY_MS);
	return !resync->requested;
}

/*
 * Calculate digests of the pages from PAGE on. This takes long, so
 * vrfm_dev.write_lock is not held, and earlier pages may be in flight. Words
 * that change after their digest was calculated are live or own. So they are
 * not merged.
 */
static void vrfm_resync_digest(struct vrfm_dev *vdev, u32 page)
{
	struct vrfm_resync *resync = &vdev->resync;
	u32 i, left = vdev->params.size / VRFM_WIRE_PAGE - page;

	if (resync->ndigests && resync->digested == page)
		return;
	resync->digested = page;
	resync->ndigests = min_t(u32, left, VRFM_PULL_MAX);
	for (i = 0; i < resync->ndigests; i++)
		resync->digests[i] = vrfm_digest(vdev->mem.vaddr +
						 (page + i) * VRFM_WIRE_PAGE);
}

/*
 * Request the next pages, if there still is a donor.
 *
 * Return: number of the first page to request after this call.
 */
static u32 vrfm_resync_pull(struct vrfm_dev *vdev)
{
	struct vrfm_resync *resync = &vdev->resync;
	struct vrfm_link *donor = resync->donor;
	u32 node, tie_breaker;

	if (!donor)
		return resync->page;
	if (!resync->page) {
		/*
		 * Copy the donor's history before the first page is requested,
		 * because the pages may lack writes that the donor receives
		 * later. Until the last page has arrived, the content of this
		 * memory is uncertain.
		 */
		tie_breaker = vrfm_resync_tie_breaker(vdev);
		spin_lock_bh(&donor->lock);
		memcpy(resync->seen, donor->report.history,
		       VRFM_NODES * sizeof(*resync->seen));
		spin_unlock_bh(&donor->lock);
		for (node = 0; node < VRFM_NODES &&
		     resync->kind != VRFM_RESYNC_FILL; node++)
			vrfm_history_invalidate(&resync->history[node],
						tie_breaker);
	}
	if (!vrfm_link_pull(donor, resync->page, resync->digests,
			    resync->ndigests)) {
		vrfm_resync_queue_in(vdev, 1);
		return resync->page;
	}
	resync->requested = resync->ndigests;
	vrfm_resync_queue_in(vdev, VRFM_RESYNC_RETRY_MS);
	return resync->page + resync->requested;
}

/* ---- choosing what to load ---- */

/*
 * Check whether this node must send its INFO again before it compares the ages.
 * That is so if this node sent INFO more than VRFM_RESYNC_INFO_MS before the
 * peer's INFO arrived, and perhaps only that delay makes the peer's image the
 * older one. In other cases do not repeat INFO: on a slow link, two nodes could
 * send INFOs to each other endlessly.
 */
static bool vrfm_info_is_stale(struct vrfm_link *link,
			       const struct vrfm_note *its)
{
	u64 mine = link->lineage.sent.value;
	s64 ms;
	ktime_t at;

	spin_lock_bh(&link->lock);
	at = link->report.info_at;
	spin_unlock_bh(&link->lock);
	ms = ktime_ms_delta(at, link->lineage.sent_at);
	return ms > VRFM_RESYNC_INFO_MS && its->value >= mine &&
	       its->value - mine <= (u64)ms;
}

/*
 * Check whether the peer's image is older. Both nodes compare the same two
 * INFOs, one of each node, so their results agree. If the INFO of this node is
 * too old for that, this node first sends a new INFO (vrfm_info_is_stale()).
 * Until it arrives, the peer takes its own image for the older one, and waits.
 */
static bool vrfm_is_older(const struct vrfm_link *link,
			  const struct vrfm_note *its)
{
	const struct vrfm_note *mine = &link->lineage.sent;

	if (its->value != mine->value)
		return its->value > mine->value;
	return its->id < mine->id;
}

/* Check whether the images of both nodes can be compared by their INFOs. */
static bool vrfm_info_is_comparable(const struct vrfm_link *link,
				    const struct vrfm_note *info)
{
	return vrfm_answers(link) && info->kind && link->lineage.sent.kind &&
	       link->lineage.sent.id == link->vdev->resync.lineage;
}

/*
 * Check whether memory A has more writes of departed nodes than memory B. A_OF
 * has a bit for each node with a history in A, and B_OF for each in B.
 */
static bool vrfm_has_more(const struct vrfm_dev *vdev,
			  const struct vrfm_history *a,
			  const unsigned long *a_of,
			  const struct vrfm_history *b,
			  const unsigned long *b_of)
{
	DECLARE_BITMAP(of, VRFM_NODES);
	int more = 0;
	u32 node;

	bitmap_or(of, a_of, b_of, VRFM_NODES);
	for_each_set_bit(node, of, VRFM_NODES) {
		more = vrfm_history_cmp(&a[node], &b[node],
					vdev->resync.alive[node]);
		if (more)
			break;
	}
	return more > 0;
}

/*
 * Check whether this node may load words from an image that the peer has given
 * up. Such a load replaces words that are zero in this node's memory. This node
 * does so only once for each such image, because later a zero may be a value
 * that a program has written.
 *
 * If the peer gave up the image while it was not linked with this node, the
 * peer may lack such zeroes. If the writer of a zero has not departed, the peer
 * is linked with the writer, and gets the zero from it. If the writer has
 * departed, the peer has fewer writes of the writer, and first gets time to
 * load from this node.
 */
static bool vrfm_resync_may_fill(struct vrfm_link *link)
{
	struct vrfm_resync *resync = &link->vdev->resync;
	bool less;

	if (link->lineage.changed ||
	    time_after(jiffies,
		       link->lineage.waits_since +
			       msecs_to_jiffies(VRFM_RESYNC_LAGGARD_MS)))
		return true;
	spin_lock_bh(&link->lock);
	less = vrfm_has_more(link->vdev, resync->history, resync->known,
			     link->report.history, link->report.known);
	spin_unlock_bh(&link->lock);
	if (less)
		vrfm_resync_queue_in(link->vdev, VRFM_RESYNC_RETRY_MS);
	return !less;
}

/* Result of the check whether an image must be loaded. */
enum vrfm_resync_need {
	VRFM_RESYNC_NEEDLESS,		/* no load is necessary */
	VRFM_RESYNC_DUE,		/* a load must wait for a peer */
	VRFM_RESYNC_BEGUN,
};

/* Check the image of a peer that has another lineage. */
static enum vrfm_resync_need vrfm_resync_other(struct vrfm_link *link,
					       const struct vrfm_note *info)
{
	if (!(info->flags & VRFM_INFO_COMPLETE))
		return vrfm_is_older(link, info) ? VRFM_RESYNC_DUE :
						   VRFM_RESYNC_NEEDLESS;
	link->lineage.changed = true;
	if (vrfm_info_is_stale(link, info)) {
		vrfm_resync_todo(link, VRFM_TODO_INFO);
		return VRFM_RESYNC_DUE;
	}
	if (!vrfm_is_older(link, info))
		return VRFM_RESYNC_NEEDLESS;
	vrfm_resync_begin(link->vdev, link, VRFM_RESYNC_OLDER);
	return VRFM_RESYNC_BEGUN;
}

/* Check an image that a peer of the same lineage has given up. */
static enum vrfm_resync_need vrfm_resync_given_up(struct vrfm_link *link,
						  const struct vrfm_note *info)
{
	struct vrfm_resync *resync = &link->vdev->resync;
	bool complete = info->flags & VRFM_INFO_COMPLETE;

	if (complete)
		resync->shared = true;
	if (!(info->flags & VRFM_INFO_MERGED) ||
	    link->lineage.filled == resync->lineage)
		return VRFM_RESYNC_NEEDLESS;
	if (!complete || !vrfm_resync_may_fill(link))
		return VRFM_RESYNC_DUE;
	vrfm_resync_begin(link->vdev, link, VRFM_RESYNC_FILL);
	return VRFM_RESYNC_BEGUN;
}

/* Load an older image of a peer, or an image that a peer has given up. */
static enum vrfm_resync_need vrfm_resync_from_older(struct vrfm_dev *vdev)
{
	enum vrfm_resync_need need = VRFM_RESYNC_NEEDLESS;
	struct vrfm_link *link;
	struct vrfm_note info;

	list_for_each_entry(link, &vdev->links, entry) {
		info = vrfm_info(link);
		if (!vrfm_info_is_comparable(link, &info))
			continue;
		need = max(need, info.id == vdev->resync.lineage ?
				 vrfm_resync_given_up(link, &info) :
				 vrfm_resync_other(link, &info));
		if (need == VRFM_RESYNC_BEGUN)
			break;
	}
	return need;
}

static bool vrfm_has_more_than_mine(struct vrfm_link *link)
{
	const struct vrfm_resync *resync = &link->vdev->resync;
	bool more;

	spin_lock_bh(&link->lock);
	more = vrfm_has_more(link->vdev, link->report.history,
			     link->report.known, resync->history,
			     resync->known);
	spin_unlock_bh(&link->lock);
	return more;
}

static bool vrfm_has_more_than(struct vrfm_link *link, struct vrfm_link *other)
{
	bool more;

	spin_lock_bh(&link->lock);
	/*
	 * Only this function takes the locks of two links, and
	 * vrfm_dev.write_lock is held. So two tasks cannot wait for each
	 * other's lock.
	 */
	spin_lock_nested(&other->lock, SINGLE_DEPTH_NESTING);
	more = vrfm_has_more(link->vdev, link->report.history,
			     link->report.known, other->report.history,
			     other->report.known);
	spin_unlock(&other->lock);
	spin_unlock_bh(&link->lock);
	return more;
}

/*
 * Check whether all peers have reported about departed nodes, or the timeout of
 * their reports has passed.
 */
static bool vrfm_resync_all_reported(struct vrfm_dev *vdev)
{
	unsigned long end = vdev->resync.link_lost +
			    msecs_to_jiffies(VRFM_RESYNC_REPORT_MS);
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
		    !bitmap_subset(gone, link->report.known, VRFM_NODES))
			return false;
	return true;
}

/*
 * Load from the peer with the longest history, if that is longer than the
 * history of this node. Images of other lineages are compared by age instead.
 */
static enum vrfm_resync_need vrfm_resync_from_survivor(struct vrfm_dev *vdev)
{
	struct vrfm_link *link, *best = NULL;
	struct vrfm_note info;

	if (!vrfm_resync_all_reported(vdev)) {
		vrfm_resync_queue_in(vdev, VRFM_RESYNC_REPORT_MS);
		return VRFM_RESYNC_NEEDLESS;
	}
	list_for_each_entry(link, &vdev->links, entry) {
		info = vrfm_info(link);
		if (vrfm_answers(link) && info.kind &&
		    info.id == vdev->resync.lineage &&
		    vrfm_has_more_than_mine(link) &&
		    (!best || vrfm_has_more_than(link, best)))
			best = link;
	}
	if (!best)
		return VRFM_RESYNC_NEEDLESS;
	info = vrfm_info(best);
	if (!vrfm_info_is_comparable(best, &info) ||
	    !(info.flags & VRFM_INFO_COMPLETE))
		return VRFM_RESYNC_DUE;
	vrfm_resync_begin(vdev, best, VRFM_RESYNC_SAME);
	return VRFM_RESYNC_BEGUN;
}

/*
 * Begin a load if one is necessary. Between two loads, the image stays
 * incomplete until this function has found that no further load is due.
 */
static void vrfm_resync_check(struct vrfm_dev *vdev)
{
	enum vrfm_resync_need need = vrfm_resync_from_older(vdev);

	if (need != VRFM_RESYNC_BEGUN)
		need = max(need, vrfm_resync_from_survivor(vdev));
	if (need != VRFM_RESYNC_BEGUN)
		vrfm_resync_become_locked(vdev, VRFM_RESYNC_IDLE, NULL);
	WRITE_ONCE(vdev->resync.incomplete, need != VRFM_RESYNC_NEEDLESS);
}

/* Do the next step of a load. Return true if pages must be requested next. */
static bool vrfm_resync_step(struct vrfm_dev *vdev)
{
	bool pull = false;

	rt_mutex_lock(&vdev->write_lock);
	if (vrfm_is_loading(vdev))
		pull = vrfm_resync_continue(vdev);
	else
		vrfm_resync_check(vdev);
	rt_mutex_unlock(&vdev->write_lock);
	return pull;
}

static void vrfm_resync_work(struct work_struct *work)
{
	struct vrfm_dev *vdev =
		container_of(work, struct vrfm_dev, resync.work.work);
	bool pull = vrfm_resync_step(vdev);
	u32 next;

	vrfm_resync_free_spent(&vdev->resync);
	if (READ_ONCE(vdev->resync.state) == VRFM_RESYNC_RESERVING &&
	    vrfm_resync_reserve(vdev)) {
		pull = vrfm_resync_step(vdev);
		/* Free the reserved memory if no load was begun. */
		vrfm_resync_free_spare(&vdev->resync);
		vrfm_resync_free_spent(&vdev->resync);
	}
	if (!pull)
		return;
	vrfm_resync_digest(vdev, vdev->resync.page);
	rt_mutex_lock(&vdev->write_lock);
	next = vrfm_resync_pull(vdev);
	rt_mutex_unlock(&vdev->write_lock);
	vrfm_resync_digest(vdev, next);
}

/**
 * vrfm_resync_init - begin with an image of zeroes and a new lineage
 * @vdev: device
 */
void vrfm_resync_init(struct vrfm_dev *vdev)
{
	INIT_DELAYED_WORK(&vdev->resync.work, vrfm_resync_work);
	vdev->resync.lineage = get_random_u64();
	vdev->resync.began = ktime_get();
	vdev->resync.alive[vdev->params.node] = vdev->epoch;
	vdev->resync.tie_breakers = get_random_u32();
	vdev->resync.link_lost = jiffies;
}

/**
 * vrfm_resync_exit - cancel a load
 * @vdev: device that has no peers any more
 *
 * Context: may sleep.
 */
void vrfm_resync_exit(struct vrfm_dev *vdev)
{
	cancel_delayed_work_sync(&vdev->resync.work);
	vrfm_resync_free_spent(&vdev->resync);
	kvfree(vdev->live);
	vdev->live = NULL;
	kvfree(vdev->resync.seen);
	vdev->resync.seen = NULL;
}
