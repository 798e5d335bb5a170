// SPDX-License-Identifier: GPL-2.0
/*
 * Barriers: fsync(), msync(), the flush ioctl and the ring check wait until the
 * peers have applied what this node has written.
 *
 * A barrier sends a PROBE to each peer that is READY, and marks its sequence.
 * When the peer acknowledges the PROBE, it has applied all earlier messages.
 */
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/refcount.h>

#include "compat.h"
#include "link.h"
#include "write.h"

/**
 * vrfm_marks_alloc - allocate marks for all peers of a device
 *
 * Context: may sleep.
 * Return: the marks; NULL if there is no memory.
 */
struct vrfm_mark *vrfm_marks_alloc(void)
{
	return kvcalloc(RFM2G_NODE_MAX, sizeof(struct vrfm_mark),
			GFP_KERNEL_ACCOUNT);
}

/**
 * vrfm_mark_set - mark a message to a peer that is READY
 * @mark: mark, which gets a reference to @link
 * @link: link of the peer
 * @sequence: sequence of the message
 *
 * Context: vrfm_dev.write_lock is held.
 */
void vrfm_mark_set(struct vrfm_mark *mark, struct vrfm_link *link, u64 sequence)
{
	lockdep_assert_held(&link->vdev->write_lock);
	mark->sequence = sequence;
	mark->ups = link->counts.ups;
	mark->link = link;
	refcount_inc(&link->refs);
}

/**
 * vrfm_marks_put - drop the references of marks
 * @marks: marks
 * @n: number of marks that are set
 *
 * Context: may sleep.
 */
void vrfm_marks_put(struct vrfm_mark *marks, int n)
{
	int i;

	for (i = 0; i < n; i++)
		vrfm_link_put(marks[i].link);
}

/**
 * vrfm_marks_free - free marks, and drop their references
 * @marks: marks, or NULL
 * @n: number of marks that are set
 *
 * Context: may sleep.
 */
void vrfm_marks_free(struct vrfm_mark *marks, int n)
{
	vrfm_marks_put(marks, n);
	kvfree(marks);
}

static int vrfm_mark_all(struct vrfm_dev *vdev, struct vrfm_mark *marks,
			 u32 *absent)
{
	const struct vrfm_need need = {
		.node = RFM2G_NODE_ALL, .even_dark = true,
	};
	struct vrfm_wait wait = vrfm_wait_begin(false);
	int n, ret = vrfm_scan_all(vdev, &wait) ?:
			     vrfm_write_lock_for(vdev, &need, &wait);
	struct vrfm_link *link;

	if (ret)
		return ret;
	n = 0;
	list_for_each_entry(link, &vdev->links, entry) {
		if (n == RFM2G_NODE_MAX || link->state != VRFM_READY) {
			++*absent;
			continue;
		}
		vrfm_mark_set(&marks[n++], link, vrfm_link_probe(link));
	}
	rt_mutex_unlock(&vdev->write_lock);
	return n;
}

static bool vrfm_mark_is_there(const struct vrfm_mark *mark)
{
	const struct vrfm_link *link = mark->link;

	return READ_ONCE(link->state) == VRFM_READY &&
	       READ_ONCE(link->counts.ups) == mark->ups;
}

static bool vrfm_mark_has_all(const struct vrfm_mark *mark)
{
	struct vrfm_link *link = mark->link;
	bool has;

	/*
	 * Read ups and acked under the lock, because they must be of one
	 * connection.
	 */
	spin_lock_bh(&link->lock);
	has = link->counts.ups == mark->ups &&
	      link->window.acked >= mark->sequence;
	spin_unlock_bh(&link->lock);
	return has;
}

/**
 * vrfm_marks_count - count the peers that have applied marked messages
 * @marks: marks
 * @n: number of marks
 * @flush: the numbers of peers are added to those in it
 *
 * Context: any but hard interrupts.
 * Return: id of a peer that is READY, and has not applied its message;
 * %VRFM_REC_NO_NODE if there is none.
 */
u16 vrfm_marks_count(const struct vrfm_mark *marks, int n,
		     struct vrfm_flush *flush)
{
	const struct vrfm_mark *mark;
	u16 first = VRFM_REC_NO_NODE;

	for (mark = marks; mark < marks + n; mark++) {
		if (vrfm_mark_has_all(mark)) {
			flush->reached++;
		} else if (!vrfm_mark_is_there(mark)) {
			flush->absent++;
		} else {
			flush->behind++;
			first = mark->link->peer.node;
		}
	}
	return first;
}

/**
 * vrfm_marks_wait - wait until peers have applied marked messages
 * @vdev: device
 * @marks: marks
 * @n: number of marks
 * @flush: has the timeout; the numbers of peers are added to those in it
 *
 * All peers have a common deadline. The timer has a high resolution, because a
 * wait in ticks could end a whole tick early, and a millisecond may be less than
 * a tick.
 *
 * Context: may sleep.
 * Return: 0; -ETIMEDOUT: a peer is READY but does not answer; -EINTR: killed;
 * -ENODEV: the device was destroyed.
 */
int vrfm_marks_wait(struct vrfm_dev *vdev, const struct vrfm_mark *marks, int n,
		    struct vrfm_flush *flush)
{
	bool forever = flush->timeout_ms == VRFM_FOREVER;
	ktime_t end = ktime_add_ms(ktime_get(), flush->timeout_ms);
	const struct vrfm_mark *mark;
	ktime_t left = KTIME_MAX;
	int ret = 0;

	/* Wait until each peer has applied its message, or is not READY. */
	for (mark = marks; mark < marks + n && ret != -EINTR; mark++) {
		if (!forever)
			left = ktime_sub(end, ktime_get());
		ret = wait_event_killable_freezable_hrtimeout(vdev->room,
							      vrfm_mark_has_all(mark) ||
							      !vrfm_mark_is_there(mark),
							      left);
		if (ret && ret != -ETIME)
			ret = -EINTR;
	}
	vrfm_marks_count(marks, n, flush);
	if (ret != -EINTR)
		ret = flush->behind ? -ETIMEDOUT : 0;
	return READ_ONCE(vdev->gone) ? -ENODEV : ret;
}

/**
 * vrfm_await_peers - wait until the peers have applied what was written
 * @vdev: device
 * @flush: has the timeout; the numbers of peers in it are set
 *
 * When this returns 0, each peer that was READY has applied what this node had
 * written before the call, or is no longer READY.
 *
 * Context: may sleep.
 * Return: 0; -ETIMEDOUT: a peer is READY but does not answer; -ENOMEM; -EINTR:
 * killed; -ENODEV: the device was destroyed.
 */
int vrfm_await_peers(struct vrfm_dev *vdev, struct vrfm_flush *flush)
{
	struct vrfm_mark *marks;
	int n, ret;

	flush->reached = 0;
	flush->behind = 0;
	flush->absent = 0;
	if (list_empty(&vdev->links))
		return 0;
	marks = vrfm_marks_alloc();
	if (!marks)
		return -ENOMEM;
	n = vrfm_mark_all(vdev, marks, &flush->absent);
	ret = n < 0 ? n : vrfm_marks_wait(vdev, marks, n, flush);
	vrfm_marks_free(marks, max(n, 0));
	return ret;
}
