// SPDX-License-Identifier: GPL-2.0
/*
 * Missed words: send local writes to a peer, or record their words as missed
 * until the peer catches up.
 *
 * &struct vrfm_missed has the set of words that the peer lacks. If memory for
 * the set is short, or the set of an absent peer becomes large, the map of own
 * words replaces it. The words of messages that the peer has not acknowledged
 * are added when the connection ends.
 */
#include <linux/gfp.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>

#include "link.h"
#include "twin.h"

/*
 * Number of pages that the set of missed words of an absent peer may always
 * have, see vrfm_link_miss().
 */
#define VRFM_MISSED_MIN 64

/**
 * vrfm_link_miss_own - mark all own words as missed by the peer
 * @link: link
 *
 * Context: vrfm_dev.write_lock is held.
 */
void vrfm_link_miss_own(struct vrfm_link *link)
{
	lockdep_assert_held(&link->vdev->write_lock);
	WRITE_ONCE(link->missed.lost, true);
	link->missed.lost_at = 0;
}

/**
 * vrfm_link_miss - mark bytes as missed by the peer
 * @link: link
 * @offset: offset of the first byte
 * @len: number of bytes
 *
 * While &vrfm_missed.lost is set, the peer misses all own words from
 * &vrfm_missed.lost_at on. These words are not recorded again.
 *
 * Context: vrfm_dev.write_lock is held.
 */
void vrfm_link_miss(struct vrfm_link *link, u32 offset, u32 len)
{
	const gfp_t gfp = GFP_NOWAIT | __GFP_NOWARN;
	const struct vrfm_map *map = &link->missed.map;
	u32 first = vrfm_word_first(offset), n = vrfm_word_count(offset, len);

	lockdep_assert_held(&link->vdev->write_lock);
	if (link->missed.lost && first >= link->missed.lost_at)
		return;
	if (link->missed.lost)
		n = min(n, link->missed.lost_at - first);
	/*
	 * The map of own words replaces the set if memory is short, or if an
	 * absent peer's set has become large: more than VRFM_MISSED_MIN pages,
	 * and more than a quarter of the possible pages.
	 */
	if (vrfm_map_set(&link->missed.map, first, n, gfp) ||
	    (link->state == VRFM_DOWN && map->used > VRFM_MISSED_MIN &&
	     map->used > map->nchunks / 4))
		vrfm_link_miss_own(link);
}

/**
 * vrfm_link_missed - update the status page after words were missed, and let the
 * peer catch up
 * @link: link
 *
 * A peer that was left behind catches up only after its penalty.
 *
 * Context: vrfm_dev.write_lock is held.
 */
void vrfm_link_missed(struct vrfm_link *link)
{
	vrfm_status_lost(link);
	if (link->state == VRFM_SYNCING &&
	    !time_before(jiffies, link->overload.hold_until))
		vrfm_catchup_kick(link);
}

/**
 * vrfm_link_update - send a local write to the peer, or record it as missed
 * @link: link, which must have room if it is READY
 * @offset: offset of the first byte
 * @bytes: bytes that were written
 * @len: number of bytes
 * @block: block that has the same bytes, so that an adapter can read them
 *	later; NULL if they can be sent only in messages
 *
 * Context: vrfm_dev.write_lock is held.
 */
void vrfm_link_update(struct vrfm_link *link, u32 offset, const void *bytes,
		      u32 len, struct vrfm_block *block)
{
	lockdep_assert_held(&link->vdev->write_lock);
	if (link->state != VRFM_READY) {
		vrfm_link_miss(link, offset, len);
		vrfm_link_missed(link);
		return;
	}
	spin_lock_bh(&link->lock);
	if (!block || !vrfm_direct_update_locked(link, offset, len, block)) {
		vrfm_link_append_locked(link, VRFM_WIRE_UPDATE, offset, bytes,
					len);
		vrfm_link_push_locked(link);
	}
	spin_unlock_bh(&link->lock);
}

/**
 * vrfm_link_diff - send words that programs have stored into a page
 * @link: link, which must have room for a page if it is READY
 * @offset: offset of the page
 * @diff: the words
 *
 * The lock of the link is held until all runs are appended. If the lock were
 * released between two runs, the open message could be posted, and the second
 * run would need another message.
 *
 * Context: vrfm_dev.write_lock is held.
 */
void vrfm_link_diff(struct vrfm_link *link, u32 offset,
		    const struct vrfm_diff *diff)
{
	bool ready = link->state == VRFM_READY;
	u32 first, n;

	lockdep_assert_held(&link->vdev->write_lock);
	spin_lock_bh(&link->lock);
	for (first = vrfm_diff_next(diff, 0, &n); first < VRFM_PAGE_WORDS;
	     first = vrfm_diff_next(diff, first + n, &n)) {
		if (ready)
			vrfm_link_append_locked(link, VRFM_WIRE_UPDATE,
						offset + first * VRFM_WORD,
						&diff->words[first],
						n * VRFM_WORD);
		else
			vrfm_link_miss(link, offset + first * VRFM_WORD,
				       n * VRFM_WORD);
	}
	vrfm_link_push_locked(link);
	spin_unlock_bh(&link->lock);
	vrfm_link_missed(link);
}

/**
 * vrfm_link_miss_slots - record the words of all unacknowledged messages as
 * missed
 * @link: link that is DOWN
 *
 * A message may have a thousand runs, so let writers take vrfm_dev.write_lock
 * after each message. The slots do not change: writers do not use them while
 * the link is DOWN, and vrfm_link_up() is not called before vrfm_link_down()
 * has returned.
 *
 * Context: may sleep; vrfm_dev.write_lock is held, and released between two
 * messages.
 */
void vrfm_link_miss_slots(struct vrfm_link *link)
{
	const struct vrfm_slot *slot;
	struct vrfm_run run;
	const void *at;
	u64 sequence;
	u16 i, count;

	lockdep_assert_held(&link->vdev->write_lock);
	for (sequence = link->window.acked + 1; sequence <= link->window.opened;
	     sequence++) {
		slot = vrfm_slot(link, sequence);
		at = slot->pack.msg + sizeof(struct vrfm_wire_head);
		count = vrfm_slot_has_updates(slot) ? slot->pack.count : 0;
		for (i = 0; i < count; i++) {
			at = vrfm_proto_next_run(at, &run);
			vrfm_link_miss(link, run.offset, run.len);
		}
		rt_mutex_unlock(&link->vdev->write_lock);
		rt_mutex_lock(&link->vdev->write_lock);
	}
}
