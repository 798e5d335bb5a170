/* SPDX-License-Identifier: GPL-2.0 */
#ifndef VRFM_WATCH_H
#define VRFM_WATCH_H

#include "direct_path.h"
#include "priv.h"

/* Largest number of ranges that a watched part touches. */
#define VRFM_WATCH_RANGES (VRFM_WATCH_MAX / VRFM_RANGE + 1)

/**
 * struct vrfm_watcher - a task in vrfm_watch(), on its stack
 * @entry: place in vrfm_dev.watchers; under vrfm_dev.watch_lock, as are
 *	@touched, @cancelled and @staged
 * @wait: wait queue of the task
 * @first: offset of the first byte
 * @end: offset behind the last byte
 * @until: time when the wait times out; KTIME_MAX: never
 * @file: file that the task waits through
 * @owner: owner of @file in the task: a close() by this owner ends the wait
 * @touched: the watched part may have changed since it was compared, or more of
 *	its ranges may be staged
 * @cancelled: the wait was cancelled
 * @pinned: a flag for each range that the watcher has pinned
 * @staged: all ranges of the watched part are pinned
 */
struct vrfm_watcher {
	struct list_head entry;
	wait_queue_head_t wait;
	u32 first;
	u32 end;
	ktime_t until;
	struct file *file;
	fl_owner_t owner;
	bool touched;
	bool cancelled;
	bool pinned[VRFM_WATCH_RANGES];
	bool staged;
};

#endif /* VRFM_WATCH_H */
