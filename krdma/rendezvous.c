// SPDX-License-Identifier: GPL-2.0
/*
 * Long messages: the receiver reads them (rendezvous).
 *
 * The sender registers its buffer in parts of up to 16 MiB, and describes each
 * part in a message, a CHUNK. A CHUNK has a place in the sequence like a part
 * with data. The receiver allocates memory for the whole message, reads the
 * described memory into it by RDMA READs, and answers PULLED. This is called
 * pulling. After PULLED the sender invalidates the keys and sends the next
 * CHUNK. A long message uses one credit for each CHUNK, and no receive buffers
 * for its data. The sender's memory is not copied, except with
 * KRDMA_QUIRK_SENDS_FREED. MRs are invalidated before a region is freed, so
 * that the next region can reuse them. If the invalidation takes too long, the
 * MRs are destroyed.
 *
 * A message is pulled as soon as all messages before it were received, even if
 * no task waits for it, so that the sender need not wait for the receiving
 * task. The pull of the next message waits until this message was received.
 *
 * A CHUNK is pulled in three phases. No task waits for the READs, because a
 * peer that does not answer them could occupy a worker without limit:
 *
 *	BEGIN	pull_work registers the memory and posts READs while there is
 *		room on the send queue
 *	READs	each completion of a READ posts more READs; the last one sends
 *		PULLED. pull_limit ends the connection if the READs take longer
 *		than op_timeout_ms
 *	END	if the message is complete, pull_work invalidates the keys of
 *		the sink and passes the message to the receiving tasks, or to
 *		the worker that delivers
 *
 * In all phases krdma_msg.pulling is set, and no other context touches the
 * first CHUNK of the ready list, the sink, or krdma_msg.whole.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "cm.h"
#include "msg.h"
#include "quirks.h"
#include "registration.h"

/*
 * Maximum number of bytes that one CHUNK describes. All of them are registered
 * at the same time.
 */
#define KRDMA_CHUNK_MAX (16U << 20)

/**
 * krdma_pull_can - check whether long messages can be read from the sender's
 * memory
 * @conn: connection with a device
 *
 * Return: true if the device supports fast registration.
 */
bool krdma_pull_can(const struct krdma_conn *conn)
{
	const struct ib_device *ibdev = conn->cb.cm_id->device;

	return ibdev->attrs.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS &&
	       krdma_region_mr_pages(ibdev);
}

/* ---- sending ---- */

/**
 * krdma_push_max - return the maximum number of bytes of a CHUNK
 * @conn: connection in message mode whose hello is set
 * @buffer: the message
 * @length: length of the message in bytes, at least &krdma_params.pull_min
 *
 * Memory that is neither linear nor from vmalloc(), for example static data of
 * a module, is sent in parts. Three segments are kept in reserve: a buffer need
 * not begin where an MR does, and its first and last page may need an MR each.
 *
 * Return: number of bytes; 0: the message must be sent in parts.
 */
u32 krdma_push_max(struct krdma_conn *conn, const void *buffer, u32 length)
{
	u32 segs = conn->limits.part_max / sizeof(struct krdma_wire_seg) - 3;
	u32 pages = 0;

	if (!conn->p.responder_resources ||
	    !(conn->hello.features & KRDMA_WIRE_FEATURE_PULL) ||
	    !krdma_dma_virt_ok(buffer, length))
		return 0;
	/* The device exists until krdma_req_leave(). */
	if (!krdma_req_enter(conn))
		return 0;
	if (krdma_pull_can(conn))
		pages = krdma_region_mr_pages(conn->cb.pd->device);
	krdma_req_leave(conn);
	return min_t(u64, (u64)segs * pages << PAGE_SHIFT, KRDMA_CHUNK_MAX);
}

/**
 * krdma_push_pulled_locked - handle PULLED: the peer has read a CHUNK
 * @conn: connection in message mode
 * @hdr: header of the PULLED
 *
 * Context: any, @conn->lock held.
 * Return: true; or false if no CHUNK waits for this PULLED.
 */
bool krdma_push_pulled_locked(struct krdma_conn *conn,
			      const struct krdma_hdr *hdr)
{
	struct krdma_op *op = conn->sq.chunk;
	struct krdma_wire_hdr *chunk;
	struct krdma_req *req;
	u32 end;

	lockdep_assert_held(&conn->lock);
	if (!op)
		return false;
	req = &op->calls[0].req;
	chunk = krdma_req_hdr(req);
	end = le32_to_cpu(chunk->offset) + req->wr.len;
	if (hdr->offset != end || hdr->msg_id != conn->sq.send_id)
		return false;
	conn->sq.chunk = NULL;
	if (end == le32_to_cpu(chunk->msg_len)) {
		conn->sq.open = false;
		conn->sq.send_id++;
	}
	WRITE_ONCE(op->answered, true);
	krdma_op_finish_locked(op, 0);
	return true;
}

/*
 * Send a CHUNK, and wait for PULLED, which reports that the peer has read the
 * memory. If the wait fails, the connection ends, which makes the keys invalid.
 */
static int krdma_push_chunk(struct krdma_conn *conn, struct krdma_hdr *hdr,
			    const void *buffer, u32 max, unsigned long until)
{
	u32 len = min(hdr->msg_len - hdr->offset, max), nsegs;
	void *from = (void *)buffer + hdr->offset;
	struct krdma_region *region;
	struct krdma_op *op;
	int ret = -ENOMEM;

	/*
	 * A sending task that is killed or times out may reuse its memory. With
	 * KRDMA_QUIRK_SENDS_FREED, TCP may still read that memory, and the peer
	 * would get the new contents as the message. So register a copy in this
	 * case.
	 */
	if (krdma_has_quirk(conn, KRDMA_QUIRK_SENDS_FREED))
		region = krdma_region_copy(conn, from, len, KRDMA_REMOTE_READ,
					   until);
	else
		region = krdma_region_from_memory(conn, from, len,
						  KRDMA_REMOTE_READ, until);
	if (IS_ERR(region))
		return PTR_ERR(region);
	nsegs = krdma_region_pieces(region, 0, len);
	op = krdma_op_message(conn, KRDMA_SEND, hdr,
			      nsegs * sizeof(struct krdma_wire_seg));
	if (op) {
		krdma_region_describe(region, 0, len, op->data);
		/* The counters count the bytes that the CHUNK describes. */
		op->calls[0].req.wr.len = len;
		ret = krdma_op_post(conn, op) ?:
		      krdma_op_wait_answered(conn, op, until);
		krdma_op_put(op);
	}
	/*
	 * The peer has read all data of this CHUNK. So this CHUNK has
	 * succeeded, even if krdma_region_recycle() ends the connection.
	 */
	if (!ret)
		krdma_region_recycle(region, until);
	krdma_region_put(region);
	if (!ret)
		hdr->offset += len;
	return ret;
}

/**
 * krdma_push - send a message that the peer reads from this side's memory
 * @conn: connection in message mode
 * @buffer: the message
 * @length: length of the message in bytes
 * @max: number of bytes of each CHUNK, from krdma_push_max()
 * @until: time limit in jiffies, from krdma_deadline()
 *
 * One task at a time registers memory, however many tasks send long messages.
 *
 * Return: 0: the peer has the whole message; or -errno: if a CHUNK was sent,
 * the connection has ended. In both cases only the caller uses @buffer.
 */
int krdma_push(struct krdma_conn *conn, const void *buffer, u32 length, u32 max,
	       unsigned long until)
{
	struct krdma_hdr hdr = {
		.type = KRDMA_WIRE_CHUNK,
		.msg_len = length,
	};
	int ret = krdma_msg_enter(conn, KRDMA_BUSY_PUSH, until);

	if (ret)
		return ret;
	do {
		ret = krdma_push_chunk(conn, &hdr, buffer, max, until);
	} while (!ret && hdr.offset < length);
	if (ret && hdr.offset)
		krdma_conn_abort(conn, ret);
	krdma_msg_leave(conn, KRDMA_BUSY_PUSH);
	return ret;
}

/* ---- receiving ---- */

/*
 * Queue pull_work for the next phase of a CHUNK, BEGIN or END. Only one of the
 * two is queued at a time.
 */
static void krdma_pull_queue_locked(struct krdma_conn *conn)
{
	lockdep_assert_held(&conn->lock);
	/* pull_work puts this reference. */
	krdma_conn_get(conn);
	queue_work(krdma_peer_wq, &conn->work.pull);
}

/**
 * krdma_pull_limit_work - end a connection whose READs take too long
 * @work: krdma_conn.work.pull_limit
 */
void krdma_pull_limit_work(struct work_struct *work)
{
	struct krdma_conn *conn =
		container_of(work, struct krdma_conn, work.pull_limit.work);
	struct krdma_pull *pull = &conn->msg->pull;
	unsigned long flags;
	bool late;

	spin_lock_irqsave(&conn->lock, flags);
	late = pull->op && !pull->ended && conn->cb.state < KRDMA_CLOSING &&
	       time_after_eq(jiffies, pull->until);
	if (late)
		krdma_conn_abort_locked(conn, -ETIMEDOUT);
	spin_unlock_irqrestore(&conn->lock, flags);
	if (late)
		pr_info_ratelimited("%pISpc: does not answer the READs of its long message, closing\n",
				    &conn->cm.peer);
	krdma_conn_put(conn);
}

/*
 * End the READs of a CHUNK: no READ is in flight, and none will be posted.
 * Called once for each CHUNK.
 */
static void krdma_pull_ended_locked(struct krdma_conn *conn)
{
	struct krdma_msg *msg = conn->msg;
	struct krdma_recv *recv = msg->pull.recv;
	int ret = msg->pull.error;

	lockdep_assert_held(&conn->lock);
	msg->pull.ended = true;
	if (!ret) {
		/*
		 * Send PULLED, so that the peer may reuse its memory. If the
		 * previous PULLED has not completed, its completion sends this
		 * one.
		 */
		list_del_init(&recv->link);
		msg->pulled_id = recv->hdr.msg_id;
		msg->pulled_end = msg->pull.end;
		msg->pulled_due =
			krdma_control_send_locked(conn, KRDMA_CONTROL_PULLED) ==
			-EBUSY;
		/* Post the receive of the CHUNK again. */
		ret = krdma_msg_repost_locked(conn, recv);
	}
	if (ret)
		krdma_conn_abort_locked(conn, ret);
	krdma_pull_queue_locked(conn);
}

static void krdma_pull_read_done(struct krdma_req *req, int status)
{
	struct krdma_conn *conn = req->wr.conn;
	struct krdma_pull *pull = &conn->msg->pull;
	unsigned long flags;

	spin_lock_irqsave(&conn->lock, flags);
	if (status && !pull->error)
		pull->error = status;
	if (!--pull->left)
		krdma_pull_ended_locked(conn);
	spin_unlock_irqrestore(&conn->lock, flags);
}

/*
 * Add the READs of a CHUNK. A READ stays within one segment of the peer's
 * memory, and within one MR of the sink, into which the message is read. Only
 * count the READs if @op is NULL.
 * Return: number of READs.
 */
static u32 krdma_pull_add(struct krdma_conn *conn, struct krdma_op *op,
			  const struct krdma_recv *recv)
{
	const struct krdma_wire_seg *wire =
		recv->buf + sizeof(struct krdma_wire_hdr);
	u32 at = recv->hdr.offset, end = at + recv->len, n = 0, len;
	struct krdma_region *sink = conn->msg->sink;
	struct krdma_seg seg = {};
	struct krdma_call *call;

	for (; at < end; n++) {
		if (!seg.len)
			krdma_seg_decode(&seg, wire++);
		len = min(seg.len, krdma_region_run(sink, at));
		if (op) {
			call = krdma_op_add(conn, op, KRDMA_READ);
			call->seg = seg;
			call->req.local.mem = KRDMA_MEM_REGION;
			call->req.local.region = sink;
			call->req.local.offset = at;
			call->req.local.len = len;
			call->req.done = krdma_pull_read_done;
			call->req.wr.len = len;
			call->req.wr.urgent = true;
		}
		at += len;
		seg.addr += len;
		seg.len -= len;
	}
	return n;
}

static void krdma_pull_over(struct krdma_conn *conn, int error)
{
	struct krdma_msg *msg = conn->msg;
	unsigned long flags;

	spin_lock_irqsave(&conn->lock, flags);
	msg->pull = (struct krdma_pull){};
	/*
	 * After -ENOMEM the connection stays, and the CHUNK can be read later.
	 */
	if (error && error != -ENOMEM)
		krdma_conn_abort_locked(conn, error);
	msg->pull_error = error;
	/* Pairs with krdma_msg_is_settled(). */
	smp_store_release(&msg->pulling, false);
	if (msg->delivering) {
		/* Let deliver_work continue, see deliver.c. */
		krdma_deliver_go_on_locked(conn, error);
	} else {
		/* The next CHUNK may have arrived already. */
		if (!error)
			krdma_pull_start_locked(conn);
		krdma_call_settled_locked(conn);
	}
	krdma_conn_wake(conn);
	spin_unlock_irqrestore(&conn->lock, flags);
}

/*
 * Post the READs of the first CHUNK on the ready list. No other context takes
 * it off the list, because krdma_msg.pulling is set.
 */
static void krdma_pull_begin(struct krdma_conn *conn)
{
	unsigned long until = krdma_deadline(conn->p.op_timeout_ms);
	struct krdma_msg *msg = conn->msg;
	struct krdma_region *sink;
	struct krdma_recv *recv;
	struct krdma_op *op;
	unsigned long flags;
	int ret;

	spin_lock_irqsave(&conn->lock, flags);
	recv = list_first_entry_or_null(&msg->ready, struct krdma_recv, link);
	spin_unlock_irqrestore(&conn->lock, flags);
	/* At the first CHUNK, allocate memory for the whole message. */
	if (!msg->sink) {
		ret = krdma_budget_charge(conn, recv->hdr.msg_len);
		if (ret)
			goto err;
		sink = krdma_region_sink(conn, recv->hdr.msg_len, until);
		if (IS_ERR(sink)) {
			krdma_budget_uncharge(conn);
			ret = PTR_ERR(sink);
			goto err;
		}
		msg->sink = sink;
	}
	ret = -ENOMEM;
	op = krdma_op_alloc(conn, krdma_pull_add(conn, NULL, recv), 0);
	if (!op)
		goto err;
	krdma_pull_add(conn, op, recv);
	spin_lock_irqsave(&conn->lock, flags);
	msg->pull = (struct krdma_pull){
		.op = op,
		.recv = recv,
		.end = recv->hdr.offset + recv->len,
		.left = op->n,
		.until = krdma_deadline(conn->p.op_timeout_ms),
	};
	/* pull_limit or krdma_pull_end() puts this reference. */
	krdma_conn_get(conn);
	if (mod_delayed_work(krdma_wq, &conn->work.pull_limit,
			     msecs_to_jiffies(conn->p.op_timeout_ms)))
		krdma_conn_put_anywhere(conn);
	spin_unlock_irqrestore(&conn->lock, flags);
	ret = krdma_op_post(conn, op);
	if (!ret)
		return;
	spin_lock_irqsave(&conn->lock, flags);
	msg->pull.error = ret;
	krdma_pull_ended_locked(conn);
	spin_unlock_irqrestore(&conn->lock, flags);
	return;
err:
	krdma_pull_over(conn, ret);
}

static void krdma_pull_end(struct krdma_conn *conn)
{
	unsigned long until = krdma_deadline(conn->p.op_timeout_ms), flags;
	struct krdma_msg *msg = conn->msg;
	/*
	 * pull.recv was posted again and may hold another message already, so
	 * take the length from the sink.
	 */
	u32 len = krdma_region_size(msg->sink);
	int error = msg->pull.error;
	void *whole;

	if (cancel_delayed_work(&conn->work.pull_limit))
		krdma_conn_put_anywhere(conn);
	krdma_op_put(msg->pull.op);
	if (!error && msg->pull.end == len) {
		/*
		 * The message is complete. Invalidate the keys of the sink, and
		 * pass the message to the receiving tasks.
		 */
		krdma_region_recycle(msg->sink, until);
		whole = krdma_region_detach(msg->sink);
		spin_lock_irqsave(&conn->lock, flags);
		msg->sink = NULL;
		WRITE_ONCE(msg->whole, whole);
		msg->whole_len = len;
		msg->whole_have = len;
		spin_unlock_irqrestore(&conn->lock, flags);
	}
	krdma_pull_over(conn, error == -ENOMEM ? -ECONNABORTED : error);
}

/**
 * krdma_pull_work - do the first or the last phase of reading a CHUNK
 * @work: krdma_conn.work.pull
 *
 * Between the two phases the completions of READs post further READs, and no
 * task waits for them.
 */
void krdma_pull_work(struct work_struct *work)
{
	struct krdma_conn *conn =
		container_of(work, struct krdma_conn, work.pull);
	struct krdma_noio noio = krdma_noio_enter_work();

	if (conn->msg->pull.op)
		krdma_pull_end(conn);
	else
		krdma_pull_begin(conn);
	krdma_conn_put(conn);
	krdma_noio_leave(noio);
}

/**
 * krdma_pull_deliver_locked - start to read the next CHUNK for deliver_work
 * @conn: connection in message mode; the caller has set krdma_msg.delivering
 *
 * Context: any, @conn->lock held.
 * Return: 0: krdma_deliver_go_on_locked() will be called after the READs; or an
 * errno: the reason for which the connection ended.
 */
int krdma_pull_deliver_locked(struct krdma_conn *conn)
{
	lockdep_assert_held(&conn->lock);
	if (conn->cb.state >= KRDMA_CLOSING)
		return conn->error ?: -ECONNRESET;
	WRITE_ONCE(conn->msg->pulling, true);
	krdma_pull_queue_locked(conn);
	return 0;
}

/**
 * krdma_pull_start_locked - start to read if the next part of a message is a
 * CHUNK
 * @conn: connection in message mode
 *
 * Context: any, @conn->lock held.
 */
void krdma_pull_start_locked(struct krdma_conn *conn)
{
	struct krdma_msg *msg = conn->msg;
	struct krdma_recv *recv;

	lockdep_assert_held(&conn->lock);
	/*
	 * After the move to KRDMA_CLOSING, do not access conn->ops: the owner
	 * may have released the connection and freed its ops.
	 */
	if (conn->cb.state >= KRDMA_CLOSING || krdma_deliver_is_wanted(conn))
		return;
	recv = list_first_entry_or_null(&msg->ready, struct krdma_recv, link);
	if (!recv || recv->hdr.type != KRDMA_WIRE_CHUNK || msg->pulling ||
	    msg->whole)
		return;
	WRITE_ONCE(msg->pulling, true);
	msg->pull_error = 0;
	krdma_pull_queue_locked(conn);
}
