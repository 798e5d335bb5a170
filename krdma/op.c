// SPDX-License-Identifier: GPL-2.0
/*
 * Operations: requests that krdma itself posts, and that end together. A
 * blocking call posts an operation by krdma_op_post(), and waits for its end.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/wait.h>

#include "sq.h"

/*
 * Time in ms that krdma_op_settle() waits for the local adapter, which normally
 * needs much less.
 */
#define KRDMA_OP_SETTLE_MS 500

/**
 * krdma_op_alloc - allocate an operation
 * @conn: connection with a QP
 * @n: maximum number of its requests, see krdma_op_add()
 * @len: number of bytes of krdma_op.data. The bytes are not initialized
 *
 * If @len is not 0, or @n is small, the memory is linear, so the adapter can
 * read the header of a message in it.
 *
 * Return: operation with one reference, which the caller holds, or NULL.
 */
struct krdma_op *krdma_op_alloc(struct krdma_conn *conn, u32 n, u32 len)
{
	struct krdma_op *op;
	size_t size = struct_size(op, calls, n);

	krdma_noio_check(conn);
	op = len ? kmalloc_node(size + len, GFP_KERNEL, conn->hw.node) :
		   kvmalloc_node(size, GFP_KERNEL, conn->hw.node);
	if (!op)
		return NULL;
	memset(op, 0, size);
	refcount_set(&op->ref, 1);
	op->is_read_on = krdma_has_quirk(conn, KRDMA_QUIRK_READS_FREED);
	op->data = (void *)op + size;
	return op;
}

/**
 * krdma_op_add - add a request to an operation
 * @conn: connection on which the operation will be posted
 * @op: operation that is not posted yet
 * @kind: &enum krdma_opcode or &enum krdma_wr_kind
 *
 * Return: the request, without the members that @kind needs.
 */
struct krdma_call *krdma_op_add(struct krdma_conn *conn, struct krdma_op *op,
				u8 kind)
{
	struct krdma_call *call = &op->calls[op->n];

	if (op->n++)
		call[-1].req.next = &call->req;
	call->req.opcode = kind == KRDMA_WR_CONTROL ? KRDMA_SEND : kind;
	krdma_wr_init(&call->req.wr, conn, op, kind);
	return call;
}

/**
 * krdma_op_message - allocate an operation that sends a message, or a part of
 * one
 * @conn: connection with a QP
 * @kind: KRDMA_SEND or KRDMA_WR_CONTROL
 * @hdr: header; the credits and the message id are filled in on posting
 * @len: number of bytes behind the header, which the caller copies to
 *	krdma_op.data
 *
 * Return: operation as of krdma_op_alloc(), or NULL.
 */
struct krdma_op *krdma_op_message(struct krdma_conn *conn, u8 kind,
				  const struct krdma_hdr *hdr, u32 len)
{
	struct krdma_op *op = krdma_op_alloc(conn, 1, len);
	struct krdma_req *req;

	if (!op)
		return NULL;
	req = &krdma_op_add(conn, op, kind)->req;
	if (len)
		req->local = (struct krdma_data){
			.mem = KRDMA_MEM_VIRT,
			.len = len,
			.virt = op->data,
		};
	req->wr.len = len;
	req->wr.late = !hdr->offset;
	req->wr.follows = hdr->offset;
	krdma_hdr_encode(krdma_req_hdr(req), hdr);
	return op;
}

/**
 * krdma_op_free - free an operation
 * @op: operation without references
 *
 * Context: any.
 */
void krdma_op_free(struct krdma_op *op)
{
	if (op->is_read_on)
		kvfree_rcu(op, rcu);
	else
		kvfree(op);
}

/**
 * krdma_op_is_done - check whether all requests of an operation have ended
 * @conn: connection of the operation
 * @arg: the operation; for krdma_conn_wait()
 *
 * Context: any.
 * Return: true if krdma_op.error is final.
 */
bool krdma_op_is_done(struct krdma_conn *conn, const void *arg)
{
	const struct krdma_op *op = arg;

	/*
	 * Pairs with krdma_op_finish_locked(): if pending is 0, error can be
	 * read.
	 */
	return !smp_load_acquire(&op->pending);
}

static bool krdma_op_is_posted(struct krdma_conn *conn, const void *arg)
{
	const struct krdma_op *op = arg;

	/* Pairs with krdma_req_leave_locked(): if queued is 0, read error. */
	return !smp_load_acquire(&op->queued);
}

/* Condition for waits that end only with the connection or the time limit. */
static bool krdma_never(struct krdma_conn *conn, const void *arg)
{
	return false;
}

static int krdma_op_result(struct krdma_conn *conn, const struct krdma_op *op)
{
	int error = READ_ONCE(op->error);

	if (error != -ECONNRESET)
		return error;
	/*
	 * A flush does not give the reason for which the connection ends, so
	 * wait until the connection has the reason. If it gets none,
	 * krdma_works.timer ends it after KRDMA_QP_REASON_MS. Wait twice that
	 * time, so that the connection has ended when this returns, even if a
	 * busy machine runs the work late.
	 */
	krdma_conn_wait(conn, krdma_never, NULL,
			krdma_deadline(2 * KRDMA_QP_REASON_MS));
	return krdma_last_error(&conn->cb) ?: error;
}

/* End an operation whose wait has failed with @error. */
static int krdma_op_give_up(struct krdma_conn *conn, struct krdma_op *op,
			    int error)
{
	if (krdma_op_cancel(conn, op, error))
		return krdma_op_result(conn, op);
	krdma_conn_abort(conn, error);
	return error;
}

/**
 * krdma_op_wait - wait until all requests of an operation have ended
 * @conn: connection in message mode
 * @op: operation from krdma_op_post(); the caller keeps its reference
 * @until: time limit in jiffies, from krdma_deadline()
 *
 * If the wait times out, or the task is killed, requests that are not posted
 * yet are cancelled. If a request is posted, the connection ends.
 *
 * If the connection ends before all requests are posted, the function returns at
 * once. If it ends later, the function waits until the drain has handled the
 * completions: the CM may report the end of the connection before the completion
 * of a successful work request is handled.
 *
 * Context: process, may sleep. The caller must not hold @conn->setup, which the
 * drain needs.
 * Return: 0 if all requests succeeded; otherwise an errno.
 */
int krdma_op_wait(struct krdma_conn *conn, struct krdma_op *op,
		  unsigned long until)
{
	int ret = 0;

	/* Usually the requests were posted at once. */
	if (!krdma_op_is_posted(conn, op))
		ret = krdma_conn_wait(conn, krdma_op_is_posted, op, until);
	if (!ret)
		ret = krdma_conn_wait_op(conn, krdma_op_is_done, op, until);
	if (ret)
		return krdma_op_give_up(conn, op, ret);
	return krdma_op_result(conn, op);
}

/**
 * krdma_op_wait_posted - wait until all requests of an operation are posted
 * @conn: connection in message mode
 * @op: operation from krdma_op_post(); the caller keeps its reference
 * @until: time limit in jiffies, from krdma_deadline()
 *
 * Works like krdma_op_wait(), but does not wait for completions.
 *
 * Context: process, may sleep.
 * Return: as krdma_op_wait(). 0 if the connection has ended afterwards: messages
 * that have arrived can still be received.
 */
int krdma_op_wait_posted(struct krdma_conn *conn, struct krdma_op *op,
			 unsigned long until)
{
	int ret = krdma_conn_wait(conn, krdma_op_is_posted, op, until);

	if (ret)
		return krdma_op_give_up(conn, op, ret);
	return krdma_op_result(conn, op);
}

static bool krdma_op_is_answered(struct krdma_conn *conn, const void *arg)
{
	const struct krdma_op *op = arg;

	return READ_ONCE(op->answered) || krdma_op_is_done(conn, op);
}

/**
 * krdma_op_wait_answered - wait until the peer has answered a CHUNK
 * @conn: connection in message mode
 * @op: operation from krdma_op_post() that sends the CHUNK; the caller keeps its
 *	reference
 * @until: time limit in jiffies, from krdma_deadline()
 *
 * The completion of the CHUNK may come later. If the connection ends before the
 * answer, the function returns at once, because no answer is accepted any more.
 *
 * Context: process, may sleep.
 * Return: as krdma_op_wait().
 */
int krdma_op_wait_answered(struct krdma_conn *conn, struct krdma_op *op,
			   unsigned long until)
{
	int ret = krdma_conn_wait(conn, krdma_op_is_answered, op, until);

	if (ret)
		return krdma_op_give_up(conn, op, ret);
	return krdma_op_wait(conn, op, until);
}

/**
 * krdma_op_settle - wait for an operation, even if the task is killed
 * @conn: connection; this ends it if posted work requests do not complete in
 *	time
 * @op: operation from krdma_op_post(); the caller keeps its reference
 * @until: time limit. After it, or after a kill, this waits KRDMA_OP_SETTLE_MS
 *	longer for posted work requests, because they cannot be cancelled
 *
 * Does not wait for the drain, so the caller may hold a lock that the drain
 * needs.
 *
 * Return: 0 if all requests succeeded; otherwise an errno. After an errno the
 * connection has ended, or no request is posted any more.
 */
int krdma_op_settle(struct krdma_conn *conn, struct krdma_op *op,
		    unsigned long until)
{
	int ret = krdma_conn_wait(conn, krdma_op_is_done, op, until);

	if (!ret)
		return krdma_op_result(conn, op);
	if (krdma_op_cancel(conn, op, ret))
		return krdma_op_result(conn, op);
	wait_event_timeout(conn->wait, krdma_op_is_done(conn, op) ||
			   krdma_conn_is_over(conn),
			   msecs_to_jiffies(KRDMA_OP_SETTLE_MS));
	if (krdma_op_is_done(conn, op))
		return krdma_op_result(conn, op);
	krdma_conn_abort(conn, ret);
	return ret;
}

/**
 * krdma_op_finish_locked - end one of the events that an operation waits for
 * @op: operation
 * @error: 0 or errno
 *
 * Context: any, krdma_conn.lock held.
 */
void krdma_op_finish_locked(struct krdma_op *op, int error)
{
	if (error && !op->error)
		WRITE_ONCE(op->error, error);
	/* Pairs with krdma_op_is_done(). */
	smp_store_release(&op->pending, op->pending - 1);
}
