// SPDX-License-Identifier: GPL-2.0
/*
 * Serving an image: a peer that loads an image sends digests of its pages, and
 * this node answers with the pages that differ. A page is sent as it is in this
 * node's memory, whichever node wrote its words.
 */
#include <linux/sched.h>

#include "copy.h"
#include "link.h"

#define VRFM_SERVE_WORDS (VRFM_WIRE_PAGE / VRFM_WORD)

/*
 * Send a page of the image. Return: false if there is no room or no connection.
 */
static bool vrfm_serve_page(struct vrfm_link *link, u32 page)
{
	const u32 offset = page * VRFM_WIRE_PAGE;
	struct vrfm_dev *vdev = link->vdev;
	bool has;

	rt_mutex_lock(&vdev->write_lock);
	vrfm_copy_words(link->catchup.scratch, vdev->mem.vaddr + offset,
			VRFM_SERVE_WORDS);
	spin_lock_bh(&link->lock);
	/*
	 * A page may need one free message in addition to the open one, or two
	 * if messages have only 4 KiB. Because more than VRFM_SLOTS_SPARE
	 * messages must be free, at least one stays free for events.
	 */
	has = link->conn.cb && vrfm_link_free_locked(link) > VRFM_SLOTS_SPARE;
	link->window.wants_room = link->conn.cb && !has;
	if (has) {
		vrfm_link_append_locked(link, VRFM_WIRE_IMAGE, offset,
					link->catchup.scratch, VRFM_WIRE_PAGE);
		vrfm_link_push_locked(link);
	}
	spin_unlock_bh(&link->lock);
	rt_mutex_unlock(&vdev->write_lock);
	return has;
}

/**
 * vrfm_serve - send the pages that the peer has requested (PULL), while there
 * is room
 * @link: link
 *
 * If there is not enough room, @link's work calls this function again later.
 * The page that found no room is compared again.
 *
 * Context: may sleep; called by @link's work.
 */
void vrfm_serve(struct vrfm_link *link)
{
	struct vrfm_pulled *pulled = &link->request.pulled;
	struct vrfm_note note = { .kind = VRFM_NOTE_PULLED };
	const void *mem = link->vdev->mem.vaddr;
	u32 i, count, page;
	bool has;

	/*
	 * Pairs with the release in vrfm_rx_pull(), which comes after storing
	 * the request.
	 */
	count = smp_load_acquire(&pulled->count);
	if (!count)
		return;
	vrfm_catchup_fill(link, VRFM_WIRE_IMAGE);
	for (i = link->request.served; i < count; i++) {
		page = pulled->first + i;
		if (vrfm_digest(mem + page * VRFM_WIRE_PAGE) !=
		    pulled->digests[i] && !vrfm_serve_page(link, page))
			break;
		cond_resched();
	}
	vrfm_catchup_fill(link, 0);
	link->request.served = i;
	if (i < count)
		return;
	/*
	 * Send PULLED after all pages that differ. Mark the request as answered
	 * first, because the peer may send another PULL as soon as PULLED
	 * arrives.
	 */
	rt_mutex_lock(&link->vdev->write_lock);
	spin_lock_bh(&link->lock);
	has = link->conn.cb && vrfm_link_free_locked(link);
	link->window.wants_room = link->conn.cb && !has;
	spin_unlock_bh(&link->lock);
	if (has) {
		link->request.served = 0;
		note.number = pulled->first;
		/*
		 * Pairs with the acquire in vrfm_rx_pull(), which may store the
		 * next request.
		 */
		smp_store_release(&pulled->count, 0);
		vrfm_link_note(link, &note);
	}
	rt_mutex_unlock(&link->vdev->write_lock);
}
