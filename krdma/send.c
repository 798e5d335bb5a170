// SPDX-License-Identifier: GPL-2.0
/*
 * Calls that send a message and wait, from one buffer or from the entries of an
 * iterator. A message that is longer than the peer's receive buffers is sent in
 * parts. rendezvous.c lets the peer read long messages.
 *
 * The data are copied, so that a task that is killed can return while they are
 * in flight. Before the next part is copied, the task waits until the last one
 * is posted. Parts complete in order, so it waits for the end of the last one.
 */
#include <linux/export.h>
#include <linux/mm.h>
#include <linux/uio.h>

#include "msg.h"

/**
 * struct krdma_source - the bytes of a message that is sent
 * @buffer: memory with all bytes, or NULL
 * @iter: iterator over the bytes if @buffer is NULL; advances as they are
 *	copied
 */
struct krdma_source {
	const void *buffer;
	struct iov_iter *iter;
};

/*
 * Send a message, and wait for the end of its last part. The peer reads a long
 * message itself, if it can.
 */
static int krdma_send_source(struct krdma_conn *conn,
			     const struct krdma_source *src, size_t length,
			     u32 timeout_ms)
{
	struct krdma_hdr hdr = { .type = KRDMA_WIRE_DATA, .msg_len = length };
	struct krdma_noio noio;
	unsigned long until;
	struct krdma_op *op;
	u32 len, max = 0;
	int ret;

	ret = krdma_conn_check_open(conn);
	if (ret)
		return ret;
	if (length > conn->hello.max_msg)
		return -EMSGSIZE;
	until = krdma_deadline(timeout_ms ?: conn->p.op_timeout_ms);
	noio = krdma_noio_enter(&conn->p);
	krdma_conn_get(conn);
	if (src->buffer && length >= conn->p.pull_min)
		max = krdma_push_max(conn, src->buffer, length);
	if (max) {
		ret = krdma_push(conn, src->buffer, length, max, until);
		goto out;
	}
	do {
		len = min(hdr.msg_len - hdr.offset, conn->limits.part_max);
		op = krdma_op_message(conn, KRDMA_SEND, &hdr, len);
		if (!op)
			ret = -ENOMEM;
		else if (src->buffer)
			memcpy(op->data, src->buffer + hdr.offset, len);
		else if (copy_from_iter(op->data, len, src->iter) != len)
			ret = -EFAULT;
		if (!ret)
			ret = krdma_op_post(conn, op);
		if (!ret && hdr.offset + len < length)
			ret = krdma_op_wait_posted(conn, op, until);
		else if (!ret)
			ret = krdma_op_wait(conn, op, until);
		/*
		 * The peer has received the beginning of a message, and the
		 * rest will not follow.
		 */
		if (ret && hdr.offset)
			krdma_conn_abort(conn, ret);
		hdr.offset += len;
		krdma_op_put(op);
	} while (!ret && hdr.offset < length);
out:
	krdma_conn_put(conn);
	krdma_noio_leave(noio);
	return ret;
}

/**
 * krdma_send_timeout - send a message
 * @cb: established connection in message mode
 * @buffer: data to send; any kernel memory; may be reused on return
 * @length: length in bytes, up to the peer's &krdma_params.max_msg; 0 is
 *	allowed
 * @timeout_ms: time limit in ms; 0 means &krdma_params.op_timeout_ms
 *
 * Waits until the peer's adapter has acknowledged the whole message. If the
 * wait times out or the task is killed after a part was posted, the connection
 * ends. In this case it is unknown which parts the peer has. If nothing was
 * posted, for example because the peer does not receive and there is no credit,
 * the connection stays. Several tasks may send; messages do not mix. Requests
 * that krdma_post() took before this call are posted first, even if they have
 * to wait.
 *
 * The peer reads a message of &krdma_params.pull_min bytes or more from the
 * sender's memory. It does so as soon as all earlier messages were received,
 * and until then this call waits. On return the peer has the message.
 *
 * Return: 0; -EMSGSIZE: longer than the peer accepts; -ENOTCONN; -EINVAL: not
 * message mode; -ETIMEDOUT; -EINTR; -ENOMEM; or the reason for which the
 * connection ended.
 */
int krdma_send_timeout(struct krdma_cb *cb, const void *buffer, size_t length,
		       u32 timeout_ms)
{
	/* An empty message needs no buffer. */
	const struct krdma_source src = { .buffer = buffer ?: "" };

	if (!buffer && length)
		return -EINVAL;
	return krdma_send_source(krdma_conn(cb), &src, length, timeout_ms);
}
EXPORT_SYMBOL_NS_GPL(krdma_send_timeout, KRDMA_NS);

/**
 * krdma_send_iter - send a message out of several pieces of memory
 * @cb: established connection in message mode
 * @iter: data to send: an iterator over kvec or bio_vec entries, of any length
 *	and alignment, made with ITER_SOURCE (WRITE before Linux 6.2). On return
 *	@iter may have advanced, also after an error
 * @timeout_ms: time limit in ms; 0 means &krdma_params.op_timeout_ms
 *
 * The message is the rest of @iter: iov_iter_count() bytes. In other respects
 * this is like krdma_send_timeout(). The pieces are copied once, into the
 * memory that is sent. A message of &krdma_params.pull_min bytes or more is not
 * copied if it is one kvec entry. Other messages of that length are copied, and
 * the copy needs memory until this returns.
 *
 * krdma_post() sends bio_vec entries without waiting, see KRDMA_MEM_PAGES.
 *
 * Return: as krdma_send_timeout(); -EINVAL also for another kind of iterator,
 * or an iterator to be filled.
 */
int krdma_send_iter(struct krdma_cb *cb, struct iov_iter *iter, u32 timeout_ms)
{
	struct krdma_conn *conn = krdma_conn(cb);
	struct krdma_source src = { .iter = iter };
	size_t length = iov_iter_count(iter);
	struct krdma_noio noio;
	void *copy = NULL;
	int ret;

	ret = krdma_conn_check_open(conn);
	if (ret)
		return ret;
	if (iov_iter_rw(iter) != WRITE ||
	    (!iov_iter_is_kvec(iter) && !iov_iter_is_bvec(iter)))
		return -EINVAL;
	noio = krdma_noio_enter(&conn->p);
	if (iov_iter_is_kvec(iter) && length &&
	    iov_iter_single_seg_count(iter) == length) {
		/* One entry contains all bytes. */
		src.buffer = iter->kvec->iov_base + iter->iov_offset;
	} else if (conn->hello.features & KRDMA_WIRE_FEATURE_PULL &&
		   length >= conn->p.pull_min &&
		   length <= conn->hello.max_msg) {
		/*
		 * The peer must read the message by RDMA READs. Copy it into
		 * one piece of memory, because krdma_push() needs that. If
		 * there is no memory for the copy, the message is sent in
		 * parts.
		 */
		copy = kvmalloc(length, GFP_KERNEL | __GFP_NOWARN);
		if (copy && copy_from_iter(copy, length, iter) == length)
			src.buffer = copy;
	}
	ret = krdma_send_source(conn, &src, length, timeout_ms);
	kvfree(copy);
	krdma_noio_leave(noio);
	return ret;
}
EXPORT_SYMBOL_NS_GPL(krdma_send_iter, KRDMA_NS);
