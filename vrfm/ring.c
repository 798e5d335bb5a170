// SPDX-License-Identifier: GPL-2.0
/*
 * Rings: the descriptor of a ring, its two areas, and the calls of readers.
 *
 * A ring belongs to its descriptor, and holds the open file of its device. A
 * program maps the two areas. It can write one of them, which the kernel does
 * not trust: a page with indices, and the submission entries. The other one has
 * the records, and can never be mapped to be written. sub.c puts records into
 * rings.
 */
#include <linux/anon_inodes.h>
#include <linux/compat.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/poll.h>
#include <linux/rculist.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "compat.h"
#include "ring.h"

/*
 * Offset of the area of the kernel for mmap(). It fits into the offsets of
 * 32-bit programs, and leaves room for a larger area of the program.
 */
#define VRFM_RING_KERNEL_AT 0x10000000UL
/* Offset of the first slot in the area of the kernel. */
#define VRFM_RING_RECORDS_AT PAGE_SIZE

/* ---- areas ---- */

static int vrfm_ring_alloc_areas(struct vrfm_ring_ctx *ring, u32 slots,
				 u32 submits)
{
	/* Fail instead of killing tasks: the program chooses the size. */
	const gfp_t gfp = GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN |
			  __GFP_RETRY_MAYFAIL;
	struct vrfm_ring_kernel *kernel;

	BUILD_BUG_ON(sizeof(struct vrfm_ring_user) != 128);
	BUILD_BUG_ON(sizeof(struct vrfm_ring_kernel) != 192);
	ring->nuser = PAGE_ALIGN(VRFM_RING_ENTRIES_AT +
				 submits * sizeof(struct vrfm_op)) >> PAGE_SHIFT;
	ring->npages = (VRFM_RING_RECORDS_AT + slots * VRFM_SLOT) >> PAGE_SHIFT;
	ring->user = __vmalloc(ring->nuser << PAGE_SHIFT, gfp);
	if (!ring->user)
		return -ENOMEM;
	kernel = __vmalloc(ring->npages << PAGE_SHIFT, gfp);
	if (!kernel) {
		vfree(ring->user);
		return -ENOMEM;
	}
	ring->kernel = kernel;
	kernel->slots = slots;
	kernel->records_at = VRFM_RING_RECORDS_AT;
	kernel->version = VRFM_RING_VERSION;
	vrfm_ringbuf_init(&ring->buf, (void *)kernel + VRFM_RING_RECORDS_AT,
			  &kernel->tail, slots);
	return 0;
}

static void vrfm_ring_free_areas(struct vrfm_ring_ctx *ring)
{
	vfree(ring->kernel);
	vfree(ring->user);
}

/* Return the page at an offset, in pages; NULL: there is none. */
static struct page *vrfm_ring_page(const struct vrfm_ring_ctx *ring,
				   unsigned long pgoff)
{
	const unsigned long first = VRFM_RING_KERNEL_AT >> PAGE_SHIFT;

	if (pgoff < ring->nuser)
		return vmalloc_to_page((void *)ring->user +
				       (pgoff << PAGE_SHIFT));
	if (pgoff < first || pgoff - first >= ring->npages)
		return NULL;
	return vmalloc_to_page((void *)ring->kernel +
			       ((pgoff - first) << PAGE_SHIFT));
}

/* Map a page again that the program has discarded. */
static vm_fault_t vrfm_ring_fault(struct vm_fault *vmf)
{
	vmf->page = vrfm_ring_page(vmf->vma->vm_file->private_data, vmf->pgoff);
	if (!vmf->page)
		return VM_FAULT_SIGBUS;
	get_page(vmf->page);
	return 0;
}

static const struct vm_operations_struct vrfm_ring_vm_ops = {
	.fault = vrfm_ring_fault,
};

/*
 * Map an area. The pages are inserted at once, so that a loop that reads records
 * does not fault. A child of the program gets no mapping, because it would be a
 * second reader.
 */
static int vrfm_ring_mmap(struct file *file, struct vm_area_struct *vma)
{
	const struct vrfm_ring_ctx *ring = file->private_data;
	unsigned long i, n = vma_pages(vma);
	bool user = vma->vm_pgoff < ring->nuser;
	int ret = 0;

	if (!(vma->vm_flags & VM_SHARED) ||
	    (user && n > ring->nuser - vma->vm_pgoff) ||
	    !vrfm_ring_page(ring, vma->vm_pgoff) ||
	    !vrfm_ring_page(ring, vma->vm_pgoff + n - 1))
		return -EINVAL;
	if (!user) {
		if (vma->vm_flags & VM_WRITE)
			return -EACCES;
		vm_flags_clear(vma, VM_MAYWRITE);
	}
	vm_flags_set(vma, VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP);
	vma->vm_ops = &vrfm_ring_vm_ops;
	for (i = 0; i < n && !ret; i++) {
		if (fatal_signal_pending(current))
			return -EINTR;
		ret = vm_insert_page(vma, vma->vm_start + (i << PAGE_SHIFT),
				     vrfm_ring_page(ring, vma->vm_pgoff + i));
		cond_resched();
	}
	return ret;
}

/* ---- readers ---- */

/* Read the head of the program, and fill slots that became free. */
static void vrfm_ring_refill(struct vrfm_ring_ctx *ring)
{
	if (!vrfm_ring_sync(ring))
		return;
	vrfm_events_feed(ring);
	vrfm_ring_flush(ring);
}

static bool vrfm_ring_reached(struct vrfm_ring_ctx *ring, u32 need)
{
	vrfm_ring_refill(ring);
	return vrfm_ring_ready(ring, need);
}

/*
 * Wait until @need slots are unread, or the wait ends for another reason.
 * Return: 0: records are unread, or @need is 0; -ENODEV; -EAGAIN; -ERESTARTSYS;
 * -ETIMEDOUT.
 */
static int vrfm_ring_wait(struct file *file, u32 need, ktime_t timeout)
{
	struct vrfm_ring_ctx *ring = file->private_data;
	int ret;

	if (vrfm_ring_reached(ring, need))
		goto reached;
	if (file->f_flags & O_NONBLOCK)
		return -EAGAIN;
	ret = wait_event_interruptible_hrtimeout(ring->wait,
						 vrfm_ring_reached(ring, need),
						 timeout);
	if (ret)
		return ret == -ETIME ? -ETIMEDOUT : ret;
reached:
	spin_lock_bh(&ring->lock);
	ret = vrfm_ring_is_over_locked(ring) &&
	      !vrfm_ringbuf_unread(&ring->buf) ? -ENODEV : 0;
	spin_unlock_bh(&ring->lock);
	return ret;
}

/*
 * Copy whole records without padding to a program. Set @at to the index behind
 * the last of them.
 */
static ssize_t vrfm_ring_copy(struct vrfm_ring_ctx *ring, char __user *to,
			      size_t room, u32 *at)
{
	const struct vrfm_record *record;
	struct vrfm_ringbuf buf;
	size_t len, done = 0;

	spin_lock_bh(&ring->lock);
	buf = ring->buf;
	spin_unlock_bh(&ring->lock);
	for (*at = buf.head; *at != buf.tail; *at += len / VRFM_SLOT) {
		record = vrfm_ringbuf_slot(&buf, *at);
		len = vrfm_ringbuf_length(&buf, *at) * VRFM_SLOT;
		if (READ_ONCE(record->type) == VRFM_REC_PAD)
			continue;
		if (len > room - done)
			return done ?: -EINVAL;
		if (copy_to_user(to + done, record, len))
			return done ?: -EFAULT;
		done += len;
		cond_resched();
	}
	return done;
}

/* Release records for a program that reads them by read(). */
static void vrfm_ring_release_to(struct vrfm_ring_ctx *ring, u32 head)
{
	WRITE_ONCE(ring->user->head, head);
	vrfm_ring_refill(ring);
}

/*
 * Return as many whole records as fit, and release them. One task at a time
 * reads, so that several readers share the records.
 */
static ssize_t vrfm_ring_read(struct file *file, char __user *to, size_t room,
			      loff_t *pos)
{
	struct vrfm_ring_ctx *ring = file->private_data;
	ssize_t done;
	u32 head;
	int ret;

	if (room < VRFM_SLOT)
		return -EINVAL;
	do {
		ret = vrfm_ring_wait(file, 1, KTIME_MAX);
		if (ret)
			return ret;
		if (mutex_lock_interruptible(&ring->reading))
			return -ERESTARTSYS;
		vrfm_ring_refill(ring);
		done = vrfm_ring_copy(ring, to, room, &head);
		if (done >= 0)
			vrfm_ring_release_to(ring, head);
		mutex_unlock(&ring->reading);
		/* Another reader may have taken the records. */
	} while (!done);
	return done;
}

static __poll_t vrfm_ring_poll(struct file *file, poll_table *wait)
{
	struct vrfm_ring_ctx *ring = file->private_data;

	poll_wait(file, &ring->pollers, wait);
	vrfm_ring_refill(ring);
	return vrfm_ring_polled(ring) | vrfm_submit_polled(ring);
}

/*
 * Submit batches, and then wait for records. The number of entries that were
 * taken is valid even after an error.
 */
static int vrfm_ring_enter(struct file *file, struct vrfm_enter *enter)
{
	struct vrfm_ring_ctx *ring = file->private_data;
	int ret = 0;

	if (enter->flags & VRFM_ENTER_LOOP)
		return vrfm_loop(ring, current->files, enter->spin_us,
				 file->f_flags & O_NONBLOCK);
	if (enter->flags & VRFM_ENTER_STOP)
		vrfm_loop_stop(ring);
	if (enter->flags & VRFM_ENTER_KICK)
		vrfm_loop_kick(ring);
	if (enter->submit)
		ret = vrfm_submit_batches(ring, enter->submit,
					  file->f_flags & O_NONBLOCK,
					  &enter->submit);
	return ret ?: vrfm_ring_wait(file, enter->records,
				     min_t(u64, enter->timeout_ns, KTIME_MAX));
}

static bool vrfm_ring_enter_is_valid(const struct vrfm_ring_ctx *ring,
				     const struct vrfm_enter *enter)
{
	if (enter->flags & ~(VRFM_ENTER_LOOP | VRFM_ENTER_KICK |
			     VRFM_ENTER_STOP) ||
	    enter->reserved || enter->records > ring->buf.slots ||
	    enter->spin_us > VRFM_ENTER_SPIN_US_MAX)
		return false;
	if ((enter->flags || enter->submit) && !ring->submit)
		return false;
	if (enter->flags & VRFM_ENTER_LOOP)
		return enter->flags == VRFM_ENTER_LOOP && !enter->submit &&
		       !enter->records && !enter->timeout_ns;
	return !enter->spin_us;
}

static int vrfm_ring_ioctl_enter(struct file *file,
				 struct vrfm_enter __user *user)
{
	const struct vrfm_ring_ctx *ring = file->private_data;
	struct vrfm_enter enter;
	bool submits;
	int ret;

	BUILD_BUG_ON(sizeof(enter) != 32);
	if (copy_from_user(&enter, user, sizeof(enter)))
		return -EFAULT;
	if (!vrfm_ring_enter_is_valid(ring, &enter))
		return -EINVAL;
	submits = enter.submit;
	ret = vrfm_ring_enter(file, &enter);
	if (submits && put_user(enter.submit, &user->submit))
		return -EFAULT;
	/* A restarted call would wait for the whole timeout again. */
	return ret == -ERESTARTSYS ? -EINTR : ret;
}

static int vrfm_ring_ioctl_subscribe(struct file *file, const void __user *user)
{
	struct vrfm_subscribe args;

	BUILD_BUG_ON(sizeof(args) != 64);
	if (copy_from_user(&args, user, sizeof(args)))
		return -EFAULT;
	return vrfm_ring_subscribe(file->private_data, &args);
}

static long vrfm_ring_ioctl(struct file *file, unsigned int cmd,
			    unsigned long arg)
{
	void __user *user = (void __user *)arg;

	switch (cmd) {
	case VRFM_RING_ENTER:
		return vrfm_ring_ioctl_enter(file, user);
	case VRFM_RING_SUBSCRIBE:
		return vrfm_ring_ioctl_subscribe(file, user);
	default:
		return -ENOTTY;
	}
}

/* ---- life ---- */

/* Add the ring to its device, unless there are too many. */
static int vrfm_ring_enlist(struct vrfm_ring_ctx *ring)
{
	struct vrfm_file *vf = ring->file->private_data;
	struct vrfm_dev *vdev = ring->vdev;
	int ret = 0;

	spin_lock_bh(&vdev->lock);
	if (vdev->gone) {
		ret = -ENODEV;
	} else if (vdev->nrings == VRFM_RINGS_PER_DEVICE ||
		   vf->nrings == VRFM_RINGS_PER_FILE) {
		ret = -ENOSPC;
	} else {
		vdev->nrings++;
		vf->nrings++;
		list_add_tail_rcu(&ring->entry, &vdev->rings);
	}
	spin_unlock_bh(&vdev->lock);
	return ret;
}

/*
 * Remove the ring from its device, and wait for producers that still have it.
 */
static void vrfm_ring_unlist(struct vrfm_ring_ctx *ring)
{
	struct vrfm_file *vf = ring->file->private_data;
	struct vrfm_dev *vdev = ring->vdev;

	spin_lock_bh(&vdev->lock);
	vdev->nrings--;
	vf->nrings--;
	list_del_rcu(&ring->entry);
	spin_unlock_bh(&vdev->lock);
	synchronize_rcu();
}

static struct vrfm_ring_ctx *vrfm_ring_alloc(struct file *file,
					     const struct vrfm_ring *args)
{
	struct vrfm_file *vf = file->private_data;
	struct vrfm_ring_ctx *ring;

	ring = kzalloc(sizeof(*ring), GFP_KERNEL_ACCOUNT);
	if (!ring)
		return NULL;
	if (vrfm_ring_alloc_areas(ring, args->slots, args->submits))
		goto err_free;
	INIT_LIST_HEAD(&ring->dones.idle);
	INIT_LIST_HEAD(&ring->dones.tracked);
	INIT_LIST_HEAD(&ring->dones.ready);
	if (vrfm_submit_alloc(ring, args->submits,
			      (void *)ring->user + VRFM_RING_ENTRIES_AT))
		goto err_free_areas;
	ring->vdev = vf->vdev;
	ring->file = get_file(file);
	ring->clock = args->clock;
	ring->snap = args->snap;
	ring->need = U32_MAX;
	ring->kernel->size = vf->vdev->params.size;
	ring->kernel->node = vf->vdev->params.node;
	ring->kernel->snap = args->snap;
	mutex_init(&ring->reading);
	mutex_init(&ring->control);
	spin_lock_init(&ring->lock);
	INIT_LIST_HEAD(&ring->subs);
	init_waitqueue_head(&ring->submits_wait);
	init_waitqueue_head(&ring->wait);
	init_waitqueue_head(&ring->pollers);
	hrtimer_setup(&ring->timer, vrfm_ring_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_SOFT);
	ring->kernel->real_ns = ktime_get_real_ns() - vrfm_ring_time(ring);
	return ring;

err_free_areas:
	vrfm_ring_free_areas(ring);
err_free:
	kfree(ring);
	return NULL;
}

static void vrfm_ring_free(struct vrfm_ring_ctx *ring)
{
	vrfm_submit_free(ring);
	hrtimer_cancel(&ring->timer);
	fput(ring->file);
	vrfm_ring_free_areas(ring);
	kfree(ring);
}

/* As vrfm_file_flush(). */
static int vrfm_ring_flush_file(struct file *file, fl_owner_t owner)
{
	vrfm_loop_close(file->private_data, owner);
	return 0;
}

static int vrfm_ring_close(struct inode *inode, struct file *file)
{
	struct vrfm_ring_ctx *ring = file->private_data;

	vrfm_subs_free(ring);
	vrfm_ring_unlist(ring);
	vrfm_ring_free(ring);
	return 0;
}

static const struct file_operations vrfm_ring_fops = {
	.owner = THIS_MODULE,
	.flush = vrfm_ring_flush_file,
	.release = vrfm_ring_close,
	.llseek = noop_llseek,
	.read = vrfm_ring_read,
	.poll = vrfm_ring_poll,
	.mmap = vrfm_ring_mmap,
	.unlocked_ioctl = vrfm_ring_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

static int vrfm_ring_check(const struct vrfm_ring *args)
{
	if (args->flags & ~VRFM_RING_NONBLOCK ||
	    args->reserved1[0] || args->reserved1[1] || args->reserved1[2])
		return -EINVAL;
	if (args->slots < VRFM_RING_SLOTS_MIN ||
	    args->slots > VRFM_RING_SLOTS_MAX || !is_power_of_2(args->slots))
		return -EINVAL;
	if (args->submits && (args->submits < VRFM_RING_SUBMITS_MIN ||
			      args->submits > VRFM_RING_SUBMITS_MAX ||
			      !is_power_of_2(args->submits)))
		return -EINVAL;
	/* With larger payloads, a ring would be full after one or two records. */
	if (args->snap > VRFM_RING_SNAP_MAX ||
	    args->snap > args->slots * VRFM_SLOT / 4)
		return -EINVAL;
	switch (args->clock) {
	case CLOCK_MONOTONIC:
	case CLOCK_REALTIME:
	case CLOCK_TAI:
	case CLOCK_BOOTTIME:
		return 0;
	default:
		return -EINVAL;
	}
}

/**
 * vrfm_ring_create - create a ring
 * @file: open device, which the ring holds
 * @args: arguments of the program; the function sets the results in it
 *
 * Context: may sleep.
 * Return: file of the ring, which has no descriptor yet; or an ERR_PTR:
 * -EINVAL: invalid arguments; -EBADF: @file is not open for writing, and the ring
 * has submission entries; -ENOSPC: too many rings; -ENODEV: the device was
 * removed; -ENOMEM; or an error of anon_inode_getfile().
 */
struct file *vrfm_ring_create(struct file *file, struct vrfm_ring *args)
{
	struct vrfm_ring_ctx *ring;
	struct file *made;
	int ret = vrfm_ring_check(args);

	if (ret)
		return ERR_PTR(ret);
	if (args->submits && !(file->f_mode & FMODE_WRITE))
		return ERR_PTR(-EBADF);
	ring = vrfm_ring_alloc(file, args);
	if (!ring)
		return ERR_PTR(-ENOMEM);
	ret = vrfm_ring_enlist(ring);
	if (ret)
		goto err_free;
	made = anon_inode_getfile("[vrfm-ring]", &vrfm_ring_fops, ring, O_RDWR |
				  (args->flags & VRFM_RING_NONBLOCK ?
				   O_NONBLOCK : 0));
	if (IS_ERR(made)) {
		ret = PTR_ERR(made);
		goto err_unlist;
	}
	args->user_len = ring->nuser << PAGE_SHIFT;
	args->kernel_len = ring->npages << PAGE_SHIFT;
	args->kernel_at = VRFM_RING_KERNEL_AT;
	return made;

err_unlist:
	vrfm_ring_unlist(ring);
err_free:
	vrfm_ring_free(ring);
	return ERR_PTR(ret);
}
