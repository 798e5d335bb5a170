// SPDX-License-Identifier: GPL-2.0
/*
 * Long messages: the receiver reads them (rendezvous).
 *
 * The sender registers its buffer, a CHUNK of it at a time, and describes that
 * in a message that stands in the sequence like a part with data. The receiver
 * reads it with RDMA READs into memory of the message's size and answers PULLED;
 * then the sender takes the keys back and goes on. So long data goes through no
 * receive buffer and takes one credit for each CHUNK, and the sender's memory is
 * not copied, but on siw. MRs are invalidated before a region goes, so that the
 * next one has them, if that is done soon; else they are destroyed.
 *
 * A message is pulled by krdma_conn.pull_work as soon as nothing unread stands
 * before it: who sends need not wait until somebody receives. The next one has
 * to wait until this one was received. Where messages go to a callback, the
 * worker that lends pulls.
 *
 * Who pulls has krdma_msg.pulling, and until he is done nobody else touches the
 * first CHUNK of the ready list, the sink, or krdma_msg.whole.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "msg.h"
#include "region.h"

/* So much is registered at a time. */
#define KRDMA_CHUNK_MAX (16U << 20)

/* ---- sending ---- */

/*
 * Three segments less than fit: a buffer need not begin where an MR does, and its
 * first and last page may have an MR each.
 */
static u32 krdma_push_max(const struct krdma_conn *conn)
{
	u32 segs = conn->msg->part_max / sizeof(struct krdma_wire_seg) - 3;
	u32 pages = krdma_region_mr_pages(conn->cb.pd->device);

	return min_t(u64, (u64)segs * pages << PAGE_SHIFT, KRDMA_CHUNK_MAX);
}

/**
 * krdma_push_is_wanted - shall the peer pull a message
 * @conn: connection in message mode whose hello is set
 * @buffer: the message
 * @length: its length
 *
 * Memory that is neither linear nor from vmalloc(), a module's own data for
 * example, is sent in parts.
 *
 * Return: true if so.
 */
bool krdma_push_is_wanted(const struct krdma_conn *conn, const void *buffer,
			  u32 length)
{
	return length >= conn->p.pull_min &&
	       conn->hello.features & KRDMA_WIRE_FEATURE_PULL &&
	       conn->p.responder_resources &&
	       krdma_pull_can(conn) &&
	       krdma_dma_virt_ok(buffer, length);
}

/*
 * While regions are made and put, which need krdma_conn.setup: teardown holds
 * that, and waits for those with KRDMA_BUSY_SEND.
 */
static void krdma_push_step_aside(struct krdma_conn *conn)
{
	unsigned long flags;

	spin_lock_irqsave(&conn->lock, flags);
	WRITE_ONCE(conn->msg->push_end, 0);
	WRITE_ONCE(conn->msg->busy, conn->msg->busy | KRDMA_BUSY_PUSH);
	krdma_conn_wake(conn);
	spin_unlock_irqrestore(&conn->lock, flags);
}

/* Undo that. From here on PULLED is expected; but teardown may have gone by. */
static int krdma_push_step_in(struct krdma_conn *conn, u32 end)
{
	unsigned long flags;
	int ret = 0;

	spin_lock_irqsave(&conn->lock, flags);
	if (conn->cb.state >= KRDMA_CLOSING) {
		ret = conn->error ?: -ECONNRESET;
	} else {
		conn->msg->push_end = end;
		WRITE_ONCE(conn->msg->busy,
			   conn->msg->busy & ~KRDMA_BUSY_PUSH);
	}
	spin_unlock_irqrestore(&conn->lock, flags);
	return ret;
}

static bool krdma_push_is_over(struct krdma_conn *conn, const void *arg)
{
	return !READ_ONCE(conn->msg->push_end);
}

/**
 * krdma_push_pulled_locked - the peer has read a CHUNK
 * @conn: connection in message mode
 * @hdr: of the PULLED that arrived
 *
 * Context: any, @conn->lock held.
 * Return: true if that CHUNK was there to be read.
 */
bool krdma_push_pulled_locked(struct krdma_conn *conn,
			      const struct krdma_hdr *hdr)
{
	struct krdma_msg *msg = conn->msg;

	lockdep_assert_held(&conn->lock);
	/* Who has KRDMA_BUSY_SEND waits, and does not change send_id. */
	if (!hdr->offset || hdr->offset != msg->push_end ||
	    hdr->msg_id != msg->send_id)
		return false;
	WRITE_ONCE(msg->push_end, 0);
	return true;
}

static int krdma_push_post(struct krdma_conn *conn, struct krdma_region *region,
			   struct krdma_hdr *hdr, u32 len, unsigned long until)
{
	u32 nsegs = krdma_region_pieces(region, 0, len);
	struct krdma_send *send;

	send = krdma_send_alloc(conn, NULL,
				nsegs * sizeof(struct krdma_wire_seg));
	if (!send)
		return -ENOMEM;
	krdma_region_describe(region, 0, len, (void *)send->data);
	send->wr.kind = KRDMA_SEND;
	/* What it stands for, for the counters. */
	send->wr.len = len;
	return krdma_send_post(conn, send, hdr, until);
}

/* On error after the post the connection is over, and so are the keys. */
static int krdma_push_region(struct krdma_conn *conn,
			     struct krdma_region *region, struct krdma_hdr *hdr,
			     u32 len, unsigned long until)
{
	int ret;

	ret = krdma_push_step_in(conn, hdr->offset + len);
	if (ret)
		return ret;
	ret = krdma_push_post(conn, region, hdr, len, until);
	if (!ret) {
		ret = krdma_conn_wait(conn, krdma_push_is_over, NULL, until);
		if (ret)
			krdma_conn_abort(conn, ret);
	}
	krdma_push_step_aside(conn);
	return ret;
}

/*
 * Who sends gets the memory back when he is killed, or has waited long enough.
 * Where TCP may have it still, the peer would get what becomes of it, and take
 * that for the message.
 */
static struct krdma_region *krdma_push_prepare(struct krdma_conn *conn,
					       const void *buffer, u32 len,
					       unsigned long until)
{
	if (krdma_sends_pages(conn))
		return krdma_region_copy(conn, buffer, len, KRDMA_REMOTE_READ,
					 until);
	return krdma_region_from_memory(conn, (void *)buffer, len,
					KRDMA_REMOTE_READ, until);
}

static int krdma_push_chunk(struct krdma_conn *conn, struct krdma_hdr *hdr,
			    const void *buffer, u32 max, unsigned long until)
{
	u32 len = min(hdr->msg_len - hdr->offset, max);
	struct krdma_region *region;
	int ret;

	region = krdma_push_prepare(conn, buffer + hdr->offset, len, until);
	if (IS_ERR(region))
		return PTR_ERR(region);
	ret = krdma_push_region(conn, region, hdr, len, until);
	/* The peer has this CHUNK, even if the connection ends right now. */
	if (!ret)
		krdma_region_recycle(region, until);
	krdma_region_put(region);
	if (!ret)
		hdr->offset += len;
	return ret;
}

/**
 * krdma_push - send a message that the peer pulls
 * @conn: connection for which krdma_push_is_wanted(); the caller holds
 *	KRDMA_BUSY_SEND
 * @buffer: the message
 * @length: its length
 * @until: time limit
 *
 * The caller has KRDMA_BUSY_PUSH, too, afterwards.
 *
 * Return: 0: the peer has all of it; or -errno: if something has left, the
 * connection is over. In any case @buffer is nobody's but the caller's.
 */
int krdma_push(struct krdma_conn *conn, const void *buffer, u32 length,
	       unsigned long until)
{
	struct krdma_hdr hdr = {
		.type = KRDMA_WIRE_CHUNK,
		.msg_len = length,
		.msg_id = conn->msg->send_id,
	};
	u32 max = krdma_push_max(conn);
	int ret;

	krdma_push_step_aside(conn);
	do {
		ret = krdma_push_chunk(conn, &hdr, buffer, max, until);
	} while (!ret && hdr.offset < length);
	if (!ret)
		conn->msg->send_id++;
	else if (hdr.offset)
		krdma_conn_abort(conn, ret);
	return ret;
}

/* ---- receiving ---- */

static void krdma_pull_read_done(struct krdma_wr *kwr, int status)
{
	kfree(kwr);
}

/**
 * krdma_pull_can - can long messages be pulled
 * @conn: connection with a device
 *
 * Return: false if the device has no fast registration.
 */
bool krdma_pull_can(const struct krdma_conn *conn)
{
	const struct ib_device *ibdev = conn->cb.cm_id->device;

	return ibdev->attrs.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS &&
	       krdma_region_mr_pages(ibdev);
}

/* One READ: @rdma says where from, @at where to in the sink. */
static int krdma_pull_post(struct krdma_conn *conn, struct krdma_op *op,
			   struct ib_rdma_wr *rdma, u32 at, u32 len,
			   unsigned long until)
{
	struct krdma_wr *read = kmalloc(sizeof(*read), GFP_KERNEL);
	struct ib_sge sge;
	int ret;

	if (!read)
		return -ENOMEM;
	krdma_wr_init(read, conn, op, KRDMA_READ, krdma_pull_read_done);
	read->len = len;
	rdma->wr.opcode = IB_WR_RDMA_READ;
	rdma->wr.sg_list = &sge;
	rdma->wr.num_sge = krdma_region_sges(conn->msg->sink, at, len, &sge);
	ret = krdma_qp_post(conn, read, &rdma->wr, until);
	if (ret)
		kfree(read);
	return ret;
}

/* A segment may lie across two MRs of the sink. */
static int krdma_pull_seg(struct krdma_conn *conn, struct krdma_op *op,
			  struct krdma_seg *seg, u32 at, unsigned long until)
{
	struct ib_rdma_wr rdma = { .rkey = seg->rkey };
	int ret = 0;
	u32 len;

	while (seg->len && !ret) {
		len = min(seg->len, krdma_region_run(conn->msg->sink, at));
		rdma.remote_addr = seg->addr;
		ret = krdma_pull_post(conn, op, &rdma, at, len, until);
		seg->addr += len;
		seg->len -= len;
		at += len;
		rdma.wr = (struct ib_send_wr){};
	}
	return ret;
}

static int krdma_pull_segs(struct krdma_conn *conn, struct krdma_recv *recv,
			   struct krdma_op *op, unsigned long until)
{
	const struct krdma_wire_seg *wire =
		recv->buf + sizeof(struct krdma_wire_hdr);
	u32 at = recv->hdr.offset, end = at + recv->len, len;
	struct krdma_seg seg;
	int ret = 0;

	while (at < end && !ret) {
		krdma_seg_decode(&seg, wire++);
		len = seg.len;
		ret = krdma_pull_seg(conn, op, &seg, at, until);
		at += len;
	}
	return ret;
}

static int krdma_pull_read(struct krdma_conn *conn, struct krdma_recv *recv,
			   unsigned long until)
{
	struct krdma_op *op = krdma_op_alloc();
	int ret;

	if (!op)
		return -ENOMEM;
	ret = krdma_pull_segs(conn, recv, op, until) ?:
	      krdma_op_wait(conn, op, until);
	krdma_op_put(op);
	return ret;
}

/* Memory for all of the message, with its first CHUNK. */
static int krdma_pull_begin(struct krdma_conn *conn, struct krdma_recv *recv,
			    unsigned long until)
{
	struct krdma_msg *msg = conn->msg;
	struct krdma_region *sink;

	if (msg->sink)
		return 0;
	sink = krdma_region_sink(conn, recv->hdr.msg_len, until);
	if (IS_ERR(sink))
		return PTR_ERR(sink);
	msg->sink = sink;
	return 0;
}

static void krdma_pull_tell(struct krdma_conn *conn, struct krdma_recv *recv)
{
	struct krdma_msg *msg = conn->msg;
	unsigned long flags;

	/* See krdma_qp_post() for why bottom halves are off. */
	local_bh_disable();
	spin_lock_irqsave(&conn->lock, flags);
	list_del_init(&recv->link);
	msg->pulled_id = recv->hdr.msg_id;
	msg->pulled_end = recv->hdr.offset + recv->len;
	/* The completion of the last one may be late; it sends this one then. */
	msg->pulled_due =
		krdma_control_send_locked(conn, KRDMA_CONTROL_PULLED) == -EBUSY;
	spin_unlock_irqrestore(&conn->lock, flags);
	local_bh_enable();
}

/* The keys of the sink go before anybody sees the message. */
static void krdma_pull_end(struct krdma_conn *conn, u32 len,
			   unsigned long until)
{
	struct krdma_msg *msg = conn->msg;
	unsigned long flags;
	void *whole;

	krdma_region_recycle(msg->sink, until);
	whole = krdma_region_detach(msg->sink);
	spin_lock_irqsave(&conn->lock, flags);
	msg->sink = NULL;
	msg->whole = whole;
	msg->whole_len = len;
	msg->whole_have = len;
	spin_unlock_irqrestore(&conn->lock, flags);
}

/**
 * krdma_pull - pull a CHUNK
 * @conn: connection; the caller has krdma_msg.pulling, or lends
 * @recv: the first one on the ready list
 *
 * If it was the last CHUNK of its message, krdma_msg.whole is complete.
 *
 * Context: process.
 * Return: 0; -ENOMEM: nothing has changed; or another errno, and the connection
 * is over.
 */
int krdma_pull(struct krdma_conn *conn, struct krdma_recv *recv)
{
	unsigned long until = krdma_deadline(conn->p.op_timeout_ms);
	u32 end = recv->hdr.offset + recv->len, len = recv->hdr.msg_len;
	int ret;

	ret = krdma_pull_begin(conn, recv, until);
	if (ret == -ENOMEM)
		return ret;
	ret = ret ?: krdma_pull_read(conn, recv, until);
	if (ret) {
		krdma_conn_abort(conn, ret);
		return ret == -ENOMEM ? -ECONNABORTED : ret;
	}
	krdma_pull_tell(conn, recv);
	krdma_msg_repost(conn, recv, false);
	if (end == len)
		krdma_pull_end(conn, len, until);
	return 0;
}

/**
 * krdma_pull_work - pull the CHUNK that is next
 * @work: krdma_conn.pull_work
 */
void krdma_pull_work(struct work_struct *work)
{
	struct krdma_conn *conn =
		container_of(work, struct krdma_conn, pull_work);
	unsigned long flags;
	int ret;

	ret = krdma_pull(conn, krdma_msg_first(conn));

	spin_lock_irqsave(&conn->lock, flags);
	conn->msg->pulling = false;
	conn->msg->pull_error = ret;
	/* The next CHUNK may have been faster. */
	if (!ret)
		krdma_pull_start_locked(conn);
	krdma_conn_wake(conn);
	spin_unlock_irqrestore(&conn->lock, flags);
	krdma_conn_put(conn);
}

/**
 * krdma_pull_start_locked - pull what is next, if that is a CHUNK
 * @conn: connection in message mode
 *
 * Context: any, @conn->lock held.
 */
void krdma_pull_start_locked(struct krdma_conn *conn)
{
	struct krdma_msg *msg = conn->msg;
	struct krdma_recv *recv;

	lockdep_assert_held(&conn->lock);
	/* Later the ops may be gone with an owner who has released it. */
	if (conn->cb.state >= KRDMA_CLOSING || krdma_loan_is_wanted(conn))
		return;
	recv = list_first_entry_or_null(&msg->ready, struct krdma_recv, link);
	if (!recv || recv->hdr.type != KRDMA_WIRE_CHUNK || msg->pulling ||
	    msg->whole)
		return;
	msg->pulling = true;
	msg->pull_error = 0;
	krdma_conn_get(conn); /* put by pull_work */
	queue_work(krdma_wq, &conn->pull_work);
}
