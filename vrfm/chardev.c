// SPDX-License-Identifier: GPL-2.0
/* File operations of /dev/rfm2gN: open, read, write, seek, poll and close. */
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/slab.h>

#include "device.h"
#include "write.h"

/*
 * Timeout of fsync(), in ms. fsync() waits until all READY peers have
 * acknowledged.
 */
#define VRFM_FLUSH_MS 10000

static int vrfm_open(struct inode *inode, struct file *file)
{
	struct vrfm_dev *vdev = container_of(inode->i_cdev, struct vrfm_dev,
					     cdev);
	struct vrfm_file *vf = kzalloc(sizeof(*vf), GFP_KERNEL);
	int ret;

	if (!vf)
		return -ENOMEM;
	vf->vdev = vdev;
	vf->dma_threshold = RFM2G_NEVER_DMA;
	mutex_init(&vf->claims);
	INIT_LIST_HEAD(&vf->bar_entry);
	vf->poll_in = VRFM_NETWORK_EVENTS;
	vf->poll_pri = VRFM_FAULT_EVENTS;
	spin_lock_bh(&vdev->lock);
	ret = vdev->gone ? -ENODEV : 0;
	vdev->opens += !ret;
	spin_unlock_bh(&vdev->lock);
	if (ret) {
		kfree(vf);
		return ret;
	}
	file->private_data = vf;
	file->f_mapping = vdev->inode->i_mapping;
	return 0;
}

static int vrfm_release(struct inode *inode, struct file *file)
{
	struct vrfm_file *vf = file->private_data;
	struct vrfm_dev *vdev = vf->vdev;
	u32 type;

	spin_lock_bh(&vdev->lock);
	if (!--vdev->opens)
		for (type = 0; type <= RFM2G_EVENT_INTR4; type++)
			vrfm_event_enable_locked(vdev, type, false);
	spin_unlock_bh(&vdev->lock);
	vrfm_claims_free(vf);
	vrfm_regs_unmap(vf);
	kfree(vf);
	return 0;
}

/*
 * When a thread calls close(), end all waits of its process through this file.
 * vrfm_release() cannot do so: a waiting thread holds the file, so the kernel
 * calls vrfm_release() only after the last wait has ended.
 */
static int vrfm_file_flush(struct file *file, fl_owner_t owner)
{
	struct vrfm_file *vf = file->private_data;

	vrfm_events_cancel(vf->vdev, file, owner, VRFM_ALL_EVENTS);
	vrfm_watches_cancel(vf->vdev, file, owner);
	return 0;
}

static loff_t vrfm_llseek(struct file *file, loff_t offset, int whence)
{
	struct vrfm_file *vf = file->private_data;

	return fixed_size_llseek(file, offset, whence, vf->vdev->params.size);
}

static ssize_t vrfm_file_read(struct file *file, char __user *buf, size_t count,
			      loff_t *pos)
{
	struct vrfm_file *vf = file->private_data;
	struct vrfm_dev *vdev = vf->vdev;
	u64 size = vdev->params.size;
	size_t len;
	int ret;

	if (READ_ONCE(vdev->gone))
		return -ENODEV;
	if (*pos >= size)
		return 0;
	len = min_t(u64, count, size - *pos);
	ret = vrfm_read(vdev, *pos, buf, len);
	if (ret)
		return ret;
	*pos += len;
	return len;
}

static ssize_t vrfm_file_write(struct file *file, const char __user *buf,
			       size_t count, loff_t *pos)
{
	struct vrfm_file *vf = file->private_data;
	struct vrfm_dev *vdev = vf->vdev;
	u64 size = vdev->params.size;
	size_t len, done;
	int ret;

	if (READ_ONCE(vdev->gone))
		return -ENODEV;
	if (!count)
		return 0;
	if (*pos >= size)
		return -ENOSPC;
	/* Write the bytes that are inside the memory. */
	len = min_t(u64, count, size - *pos);
	ret = vrfm_write(vdev, *pos, buf, len, file->f_flags & O_NONBLOCK,
			 &done);
	/*
	 * Report the number of bytes that were stored, even after an error. If
	 * the error persists, the next call returns it.
	 */
	if (!done)
		return ret;
	*pos += done;
	return done;
}

/*
 * The memory can always be read and written. POLLIN and POLLPRI report events:
 * the program has chosen which events each of the two flags reports. Wait on
 * the queues of all events: epoll() calls this function only once with a wait
 * table, and the program may choose other events later.
 */
static __poll_t vrfm_poll(struct file *file, poll_table *wait)
{
	struct vrfm_file *vf = file->private_data;
	struct vrfm_dev *vdev = vf->vdev;
	__poll_t mask = EPOLLOUT | EPOLLWRNORM;
	u32 type, ready;

	for (type = 0; type < RFM2G_EVENTS; type++)
		poll_wait(file, &vdev->events[type].wait, wait);
	if (READ_ONCE(vdev->gone))
		mask |= EPOLLERR | EPOLLHUP;
	ready = vrfm_events_ready(vdev);
	if (ready & READ_ONCE(vf->poll_in))
		mask |= EPOLLIN | EPOLLRDNORM;
	if (ready & READ_ONCE(vf->poll_pri))
		mask |= EPOLLPRI;
	return mask;
}

static int vrfm_fsync(struct file *file, loff_t start, loff_t end, int datasync)
{
	struct vrfm_file *vf = file->private_data;
	struct vrfm_flush flush = { .timeout_ms = VRFM_FLUSH_MS };

	if (READ_ONCE(vf->vdev->gone))
		return -ENODEV;
	return vrfm_await_peers(vf->vdev, &flush);
}

const struct file_operations vrfm_fops = {
	.owner = THIS_MODULE,
	.open = vrfm_open,
	.flush = vrfm_file_flush,
	.release = vrfm_release,
	.llseek = vrfm_llseek,
	.read = vrfm_file_read,
	.write = vrfm_file_write,
	.poll = vrfm_poll,
	.fsync = vrfm_fsync,
	.mmap = vrfm_mmap,
	.unlocked_ioctl = vrfm_ioctl,
	.compat_ioctl = vrfm_compat_ioctl,
};
