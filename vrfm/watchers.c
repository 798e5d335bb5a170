// SPDX-License-Identifier: GPL-2.0
/* List of the tasks that watch a part of the memory, see watch.c. */
#include <linux/list.h>
#include <linux/wait.h>

#include "watch.h"

/**
 * vrfm_watch_init - prepare a device that nothing watches yet
 * @vdev: device
 */
void vrfm_watch_init(struct vrfm_dev *vdev)
{
	spin_lock_init(&vdev->watch_lock);
	INIT_LIST_HEAD(&vdev->watchers);
}

static void vrfm_watcher_wake(struct vrfm_watcher *watcher)
{
	WRITE_ONCE(watcher->touched, true);
	wake_up(&watcher->wait);
}

/**
 * vrfm_watchers_touch - wake watchers of bytes that were stored
 * @vdev: device
 * @offset: offset of the first byte
 * @len: number of bytes
 *
 * Context: any but hard interrupts; bottom halves are off.
 */
void vrfm_watchers_touch(struct vrfm_dev *vdev, u32 offset, u32 len)
{
	struct vrfm_watcher *watcher;

	spin_lock(&vdev->watch_lock);
	list_for_each_entry(watcher, &vdev->watchers, entry) {
		if (offset >= watcher->end || watcher->first >= offset + len)
			continue;
		vrfm_watcher_wake(watcher);
	}
	spin_unlock(&vdev->watch_lock);
}

/**
 * vrfm_watchers_staged - wake watchers that wait for a staged range
 * @vdev: device
 *
 * Context: any but hard interrupts.
 */
void vrfm_watchers_staged(struct vrfm_dev *vdev)
{
	struct vrfm_watcher *watcher;

	spin_lock_bh(&vdev->watch_lock);
	list_for_each_entry(watcher, &vdev->watchers, entry)
		if (!watcher->staged)
			vrfm_watcher_wake(watcher);
	spin_unlock_bh(&vdev->watch_lock);
}
