// SPDX-License-Identifier: GPL-2.0
/*
 * Serving an image: a peer that loads says what it has of some pages, and gets
 * those that differ. They are what this node's memory is, whoever wrote it.
 */
#include <linux/sched.h>

#include "copy.h"
#include "link.h"
#include "priv.h"

#define VRFM_SERVE_WORDS (VRFM_WIRE_PAGE / VRFM_WORD)

/* Return: false: no room, or another connection than the one that asked. */
static bool vrfm_serve_page(struct vrfm_link *link, u32 page)
{
	const u32 offset = page * VRFM_WIRE_PAGE;
	struct vrfm_dev *vdev = link->vdev;
	bool has;

	rt_mutex_lock(&vdev->order);
	vrfm_copy_words(link->scratch, vdev->region.mem + offset,
			VRFM_SERVE_WORDS);
	spin_lock_bh(&link->lock);
	/* A page may need the rest of one message and a part of the next. */
	has = link->cb && vrfm_link_free_locked(link) > VRFM_SLOTS_SPARE;
	link->wants_room = link->cb && !has;
	if (has) {
		vrfm_link_append_locked(link, VRFM_WIRE_IMAGE, offset,
					link->scratch, VRFM_WIRE_PAGE);
		vrfm_link_push_locked(link);
	}
	spin_unlock_bh(&link->lock);
	rt_mutex_unlock(&vdev->order);
	return has;
}

/*
 * The last word: all that differed is before it. The peer may ask for more as
 * soon as it has that, so it goes when this node has done with what was asked.
 */
static void vrfm_serve_end(struct vrfm_link *link)
{
	struct vrfm_pulled *pulled = &link->pulled;
	const struct vrfm_note note = {
		.kind = VRFM_NOTE_PULLED, .number = pulled->first,
	};
	bool has;

	rt_mutex_lock(&link->vdev->order);
	spin_lock_bh(&link->lock);
	has = link->cb && vrfm_link_free_locked(link);
	link->wants_room = link->cb && !has;
	spin_unlock_bh(&link->lock);
	if (has) {
		link->served = 0;
		/* Pairs with vrfm_rx_pull(): the next may come. */
		smp_store_release(&pulled->count, 0);
		vrfm_link_note(link, &note);
	}
	rt_mutex_unlock(&link->vdev->order);
}

/**
 * vrfm_serve - answer a PULL as far as there is room
 * @link: link
 *
 * It is called again when there is more. Those pages that were compared and
 * found different, but did not find room, are looked at again.
 *
 * Context: may sleep; @link's work.
 */
void vrfm_serve(struct vrfm_link *link)
{
	struct vrfm_pulled *pulled = &link->pulled;
	const void *mem = link->vdev->region.mem;
	u32 i, count, page;

	/* Pairs with vrfm_rx_pull(): all of it is there. */
	count = smp_load_acquire(&pulled->count);
	if (!count)
		return;
	vrfm_sync_fill(link, VRFM_WIRE_IMAGE);
	for (i = link->served; i < count; i++) {
		page = pulled->first + i;
		if (vrfm_digest(mem + page * VRFM_WIRE_PAGE) !=
		    pulled->digests[i] && !vrfm_serve_page(link, page))
			break;
		cond_resched();
	}
	vrfm_sync_fill(link, 0);
	link->served = i;
	if (i == count)
		vrfm_serve_end(link);
}
