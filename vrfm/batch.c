// SPDX-License-Identifier: GPL-2.0
/*
 * Batches: several writes and events of one call, which other writes of this
 * node do not interrupt (VRFM_BATCH).
 *
 * All operations are copied from the program and checked, and all bytes are
 * copied, before vrfm_dev.write_lock is taken with room for the whole batch on
 * every link that is READY. So a batch that fails has no effect, and its
 * execution neither waits nor allocates.
 */
#include <linux/align.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "link.h"
#include "ops.h"
#include "ring.h"
#include "trace.h"
#include "write.h"

/**
 * vrfm_batch_check - check all operations of a batch
 * @vdev: device
 * @ops: operations and their number; the function sets the other members, except
 *	the data
 * @failed: set to the index of the invalid operation
 *
 * Context: any.
 * Return: as for vrfm_ops_check().
 */
int vrfm_batch_check(struct vrfm_dev *vdev, struct vrfm_ops *ops, u32 *failed)
{
	const struct vrfm_ops_limits limits = {
		.size = vdev->params.size,
		.node = vdev->params.node,
		.message = VRFM_MESSAGE_MIN,
	};

	/* The window of a link has room for every batch. */
	static_assert(VRFM_OPS_MESSAGES(VRFM_MESSAGE_MIN) <= VRFM_SLOTS);

	return vrfm_ops_check(ops, &limits, failed);
}

/**
 * vrfm_batch_copy - copy the bytes of all writes from the program
 * @ops: valid operations with room for the data
 * @failed: set to the index of the operation whose bytes cannot be read
 *
 * Bytes that are published are not copied yet: they are in the memory.
 *
 * Context: may sleep.
 * Return: 0 or -EFAULT.
 */
int vrfm_batch_copy(const struct vrfm_ops *ops, u32 *failed)
{
	const struct vrfm_op *op = ops->op;
	void *to = ops->data;
	u32 i;

	for (i = 0; i < ops->count; i++, op++) {
		if (op->op == VRFM_OP_INLINE) {
			memcpy(to, op->data, op->length);
		} else if (op->op == VRFM_OP_WRITE &&
			   copy_from_user(to, u64_to_user_ptr(op->source),
					  op->length)) {
			*failed = i;
			return -EFAULT;
		}
		to += ALIGN(op->length, VRFM_WIRE_ALIGN);
	}
	return 0;
}

static void vrfm_written_ops(const struct vrfm_written *written,
			     struct vrfm_notice *notice)
{
	const struct vrfm_ops *ops = written->source;
	u32 i;

	for (i = 0; i < ops->count; i++)
		vrfm_notice_add(notice, ops->op[i].offset, ops->op[i].length);
}

static void vrfm_batch_report(struct vrfm_dev *vdev, const struct vrfm_ops *ops)
{
	const struct vrfm_written written = {
		.node = vdev->params.node,
		.serial = vdev->serial,
		.each = vrfm_written_ops,
		.source = ops,
	};

	vrfm_rings_written(vdev, &written);
}

/*
 * Store the bytes of all writes. Bytes that are published come from the memory
 * instead: vrfm_link_ops() sends the copy that is made here.
 */
static void vrfm_batch_store(struct vrfm_dev *vdev, const struct vrfm_ops *ops)
{
	enum vrfm_own own = vdev->dark ? VRFM_OWN_KEEP : VRFM_OWN_SET;
	const struct vrfm_op *op, *end = ops->op + ops->count;
	void *bytes = ops->data;

	for (op = ops->op; op < end; op++) {
		if (op->op == VRFM_OP_EVENT) {
			trace_vrfm_event_sent(vdev->unit, op->node, op->event,
					      vrfm_op_event_data(op));
			continue;
		}
		if (op->op == VRFM_OP_PUBLISH)
			vrfm_mem_publish(vdev, op->offset, bytes, op->length,
					 own);
		else
			vrfm_mem_store(vdev, op->offset, bytes, op->length,
				       own);
		trace_vrfm_write(vdev->unit, op->offset, op->length,
				 vdev->dark);
		bytes += ALIGN(op->length, VRFM_WIRE_ALIGN);
	}
}

static void vrfm_batch_tap(struct vrfm_dev *vdev, const struct vrfm_ops *ops)
{
	const struct vrfm_op *op, *end = ops->op + ops->count;
	u64 number = vdev->event_number;
	const void *bytes = ops->data;

	for (op = ops->op; op < end; op++) {
		if (op->op != VRFM_OP_EVENT)
			vrfm_tap_own(vdev, VRFM_REC_STORED, op->offset, bytes,
				     op->length);
		else if (!vdev->dark)
			vrfm_tap_told(vdev, op->node, op->event,
				      vrfm_op_event_data(op), ++number);
		bytes += ALIGN(op->length, VRFM_WIRE_ALIGN);
	}
}

/*
 * Accept a batch: store its bytes, and send them and its events. With the
 * transmitter off, only the memory changes. If @marks is set, mark the last
 * message to each peer.
 *
 * Return: number of marks.
 */
static int vrfm_batch_accept_locked(struct vrfm_dev *vdev,
				    const struct vrfm_ops *ops,
				    struct vrfm_mark *marks, u32 *absent)
{
	bool dark = vdev->dark;
	struct vrfm_link *link;
	int n = 0;

	lockdep_assert_held(&vdev->write_lock);
	vrfm_batch_store(vdev, ops);
	vdev->serial += !dark && ops->bytes;
	if (ops->bytes && vrfm_ranges_are_wanted())
		vrfm_batch_report(vdev, ops);
	if (vrfm_is_tapped(vdev, VRFM_TAP_KIND(VRFM_REC_STORED) |
				 VRFM_TAP_KIND(VRFM_REC_TOLD)))
		vrfm_batch_tap(vdev, ops);
	list_for_each_entry(link, &vdev->links, entry) {
		if (!dark)
			vrfm_link_ops(link, ops, marks);
		if (!marks)
			continue;
		if (dark || link->state != VRFM_READY || n == RFM2G_NODE_MAX)
			++*absent;
		else
			vrfm_mark_set(&marks[n++], link, link->window.opened);
	}
	vdev->event_number += ops->events;
	return n;
}

static int vrfm_batch_lock(struct vrfm_dev *vdev, const struct vrfm_ops *ops,
			   const struct vrfm_execution *execution)
{
	const struct vrfm_need need = {
		.len = ops->bytes,
		.messages = ops->messages,
		.node = RFM2G_NODE_ALL,
	};
	struct vrfm_wait wait = vrfm_wait_begin(execution->nowait);
	int ret = 0;

	if (!(execution->flags & VRFM_OP_NOFLUSH))
		ret = vrfm_scan_own(vdev, &wait);
	return ret ?: vrfm_write_lock_for(vdev, &need, &wait);
}

/**
 * vrfm_batch_execute - execute a batch
 * @vdev: device
 * @ops: valid operations with their bytes
 * @execution: how to execute it; the function sets the results in it
 *
 * Context: may sleep.
 * Return: 0; -EAGAIN: the call would wait; -EINTR: killed. After an error the
 * batch has no effect.
 */
int vrfm_batch_execute(struct vrfm_dev *vdev, const struct vrfm_ops *ops,
		       struct vrfm_execution *execution)
{
	int ret = vrfm_batch_lock(vdev, ops, execution);

	if (ret)
		return ret;
	execution->nmarks = vrfm_batch_accept_locked(vdev, ops,
						     execution->marks,
						     &execution->absent);
	execution->serial = vdev->serial;
	rt_mutex_unlock(&vdev->write_lock);
	if (ops->bytes)
		vrfm_accepted(vdev);
	return 0;
}

/* Execute a batch, and wait for the peers if the program wants it. */
static int vrfm_batch_wait(struct vrfm_dev *vdev, const struct vrfm_ops *ops,
			   struct vrfm_batch *args, bool nowait)
{
	struct vrfm_execution execution = {
		.flags = args->flags,
		.nowait = nowait,
	};
	struct vrfm_flush flush = { .timeout_ms = args->timeout_ms };
	int ret;

	if (args->flags & VRFM_OP_ACKED) {
		execution.marks = vrfm_marks_alloc();
		if (!execution.marks)
			return -ENOMEM;
	}
	ret = vrfm_batch_execute(vdev, ops, &execution);
	if (!ret) {
		args->serial = execution.serial;
		flush.absent = execution.absent;
		if (execution.marks)
			ret = vrfm_marks_wait(vdev, execution.marks,
					      execution.nmarks, &flush);
	}
	vrfm_marks_free(execution.marks, execution.nmarks);
	args->reached = flush.reached;
	args->behind = flush.behind;
	args->absent = flush.absent;
	return ret;
}

/* Check and execute the operations that were copied from the program. */
static int vrfm_batch_run(struct vrfm_dev *vdev, struct vrfm_op *op,
			  struct vrfm_batch *args, bool nowait)
{
	struct vrfm_ops ops = { .op = op, .count = args->count };
	int ret = vrfm_batch_check(vdev, &ops, &args->failed);

	if (ret)
		return ret;
	if (ops.room) {
		ops.data = kvmalloc(ops.room, GFP_KERNEL);
		if (!ops.data)
			return -ENOMEM;
	}
	ret = vrfm_batch_copy(&ops, &args->failed) ?:
	      vrfm_batch_wait(vdev, &ops, args, nowait);
	kvfree(ops.data);
	return ret;
}

/**
 * vrfm_batch - execute a batch
 * @vdev: device
 * @args: arguments of the program; the function sets the results in them
 * @nowait: fail instead of waiting for a peer
 *
 * Context: may sleep.
 * Return: 0; -ETIMEDOUT: done, and a peer has not applied it yet; -ENODEV: done,
 * and the device was destroyed; -EINTR: killed. After other errors the batch has
 * no effect: -EINVAL: an invalid member or operation; -E2BIG: too many
 * operations, bytes or events; -EFAULT; -EAGAIN: the call would wait;
 * -ENOMEM.
 */
int vrfm_batch(struct vrfm_dev *vdev, struct vrfm_batch *args, bool nowait)
{
	struct vrfm_op *op;
	int ret;

	args->failed = 0;
	args->serial = 0;
	args->reached = 0;
	args->behind = 0;
	args->absent = 0;
	if (args->flags & ~(VRFM_OP_ACKED | VRFM_OP_NOFLUSH) ||
	    args->reserved || !args->count ||
	    (args->timeout_ms && !(args->flags & VRFM_OP_ACKED)))
		return -EINVAL;
	if (args->count > VRFM_BATCH_OPS)
		return -E2BIG;
	op = memdup_user(u64_to_user_ptr(args->ops),
			 array_size(args->count, sizeof(*op)));
	if (IS_ERR(op))
		return PTR_ERR(op);
	ret = vrfm_batch_run(vdev, op, args, nowait);
	kfree(op);
	return ret;
}
