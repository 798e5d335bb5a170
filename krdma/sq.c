// SPDX-License-Identifier: GPL-2.0
/*
 * The send queue: posting and completing requests. Only this file posts work
 * requests to it.
 *
 * A request waits in krdma_conn.sq.pending for its turn, which usually comes at
 * once. The request needs slots in the send queue. If it uses a receive of the
 * peer, it also needs a credit. Requests other than messages also wait until
 * the bytes in flight are below a limit: a PONG for the peer goes behind these
 * bytes, and must not come too late. krdma_req_kick_locked() takes requests
 * from the list in order, splits them into work requests, and rings the
 * doorbell once for many of them. It runs when a request is posted, when a
 * completion has freed slots, and when credits arrive.
 *
 * Two kinds of requests do not wait in that list. Requests in
 * krdma_conn.sq.urgent are posted before it: registrations, invalidations, and
 * READs of long messages. Internal messages have reserved slots, and are posted
 * at once.
 *
 * A blocking call is an operation whose end its caller waits for. The parts of
 * its message are operations that the caller posts one after the other. The
 * parts of a message of krdma_post() are requests that parts.c posts. From the
 * first part to the last one the message is open: no other message is posted,
 * and the next part goes to the head of the list, behind earlier parts.
 *
 * If a message of a blocking call lacks a credit, or another message is open,
 * later WRITEs and READs are posted before it. A message of krdma_post() holds
 * up all later requests instead, because requests of krdma_post() keep their
 * order.
 *
 * Only the last work request of a doorbell, and the last one of each request of
 * an operation, are signalled. A completion ends all requests before it. For
 * the exceptions see quirks.c.
 *
 * With a level that seals messages, only a holder of krdma_tx.lock takes requests
 * from the lists, by krdma_req_kick_sealed_locked().
 *
 * An entry (struct krdma_wr) stands for all work requests of a request. A
 * posted entry is on krdma_conn.sq.posted, in the order of the send queue. A
 * completion or the drain takes it off this list. The context that takes an
 * entry off calls the request's done(), so done() is called exactly once.
 */
#include <linux/export.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/wait.h>

#include "region.h"
#include "span.h"
#include "sq.h"
#include "trace.h"

/* Maximum number of work requests of one doorbell, and of their pieces. */
#define KRDMA_BATCH 16
#define KRDMA_BATCH_SGES 32

/**
 * struct krdma_batch - work requests for the next doorbell; krdma_conn.lock
 * @n: number of work requests
 * @nsges: number of pieces of all work requests
 * @wrs: the work requests
 * @reqs: for each work request, the request that it belongs to
 * @sges: the pieces
 */
struct krdma_batch {
	unsigned int n;
	unsigned int nsges;
	union {
		struct ib_rdma_wr rdma;
		struct ib_atomic_wr atomic;
		struct ib_reg_wr reg;
	} wrs[KRDMA_BATCH];
	struct krdma_req *reqs[KRDMA_BATCH];
	struct ib_sge sges[KRDMA_BATCH_SGES];
};

/*
 * Complete a work request that is not the last of its entry. Only failures have
 * a completion.
 */
static void krdma_wr_part_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct krdma_conn *conn =
		container_of(wc->wr_cqe, struct krdma_conn, sq.part_cqe);

	if (wc->status != IB_WC_SUCCESS)
		krdma_qp_failed(conn, wc->status);
}

/**
 * krdma_req_begin - allocate memory and set limits for requests
 * @conn: connection in message mode with a new QP
 *
 * The memory is freed with the connection.
 *
 * Context: process, @conn->setup held.
 * Return: 0; -ENOMEM; -EOPNOTSUPP: the device has too few scatter/gather
 * entries.
 */
int krdma_req_begin(struct krdma_conn *conn)
{
	lockdep_assert_held(&conn->setup);
	conn->sq.batch = kzalloc_node(sizeof(*conn->sq.batch), GFP_KERNEL,
				      conn->hw.node);
	if (!conn->sq.batch)
		return -ENOMEM;
	conn->sq.part_cqe.done = krdma_wr_part_done;
	atomic_set(&conn->sq.posters, 1);
	conn->sq.may_post = true;
	conn->limits.max_frwrs = krdma_frwr_max(conn);
	conn->sq.max_bulk = krdma_params_bulk_max(conn->p.keepalive_ms);
	conn->limits.max_send_sge =
		min_t(u32, conn->limits.max_send_sge, KRDMA_BATCH_SGES);
	conn->limits.max_read_sge =
		min_t(u32, conn->limits.max_read_sge, KRDMA_BATCH_SGES);
	/* The header of a message needs one scatter/gather entry. */
	if (conn->limits.max_send_sge < 2 || !conn->limits.max_read_sge)
		return -EOPNOTSUPP;
	conn->limits.max_map = krdma_dma_max(conn->cb.pd->device);
	return krdma_quirk_reads_alloc(conn) ?: krdma_tx_alloc(conn);
}

/**
 * krdma_req_free - free the memory for requests
 * @conn: connection whose QP is destroyed; also if it has no such memory
 */
void krdma_req_free(struct krdma_conn *conn)
{
	kfree(conn->sq.batch);
	krdma_quirk_reads_free(conn);
	krdma_tx_free(conn);
}

/**
 * krdma_req_leave_last - end the last section of krdma_req_enter()
 * @conn: connection
 *
 * krdma_req_leave() calls this if no other section is left. Since then another
 * section may have begun.
 *
 * Context: any.
 */
void krdma_req_leave_last(struct krdma_conn *conn)
{
	unsigned long flags;

	if (!atomic_dec_and_lock_irqsave(&conn->sq.posters, &conn->wait.lock,
					 flags))
		return;
	wake_up_all_locked(&conn->wait);
	spin_unlock_irqrestore(&conn->wait.lock, flags);
}

/**
 * krdma_req_stop - wait until no krdma_post() uses the device
 * @conn: connection in KRDMA_CLOSING. Nothing is done if krdma_req_begin() was
 *	not called, or this function was called before
 *
 * krdma_post() maps without krdma_conn.lock, so its calls are counted. RCU is
 * not used: a grace period takes long, and an expedited one interrupts all
 * processors each time a peer connects and disconnects.
 *
 * Context: process, @conn->setup held.
 */
void krdma_req_stop(struct krdma_conn *conn)
{
	lockdep_assert_held(&conn->setup);
	if (!conn->sq.may_post)
		return;
	conn->sq.may_post = false;
	krdma_req_leave(conn);
	/* No time limit: krdma_post() does not wait for anything. */
	wait_event(conn->wait, !atomic_read(&conn->sq.posters));
	/* Wait until the last krdma_req_leave() has released the lock. */
	spin_lock_irq(&conn->wait.lock);
	spin_unlock_irq(&conn->wait.lock);
}

/* ---- work requests ---- */

/*
 * Handle a failed post: abort the connection, and move the entries that were
 * not posted back to the head of pending. krdma_req_end() fails them.
 */
static void krdma_batch_failed_locked(struct krdma_conn *conn,
				      const struct ib_send_wr *bad, int error)
{
	struct krdma_batch *batch = conn->sq.batch;
	struct krdma_wr *kwr, *first = NULL;
	struct list_head posted;
	unsigned int i;

	for (i = 0; i < batch->n && !first; i++)
		if (&batch->wrs[i].rdma.wr == bad)
			first = &batch->reqs[i]->wr;
	krdma_conn_abort_locked(conn, bad ? krdma_quirk_post_errno(error) :
					    krdma_quirk_kept_errno(error));
	if (!first)
		return;
	list_cut_before(&posted, &conn->sq.posted, &first->link);
	/* krdma_op_wait_posted() must not succeed. */
	list_for_each_entry(kwr, &conn->sq.posted, link)
		if (kwr->op && !kwr->op->error)
			WRITE_ONCE(kwr->op->error, conn->error);
	list_splice_init(&conn->sq.posted, &conn->sq.pending);
	list_splice(&posted, &conn->sq.posted);
}

static void krdma_batch_flush_locked(struct krdma_conn *conn)
{
	struct krdma_batch *batch = conn->sq.batch;
	const struct ib_send_wr *bad = NULL;
	struct ib_send_wr *last;
	struct list_head *link;
	int ret;

	if (!batch->n)
		return;
	if (conn->cb.state != KRDMA_ESTABLISHED) {
		/*
		 * The connection has ended, because an earlier doorbell failed
		 * before all work requests of a request were assembled. Drop
		 * them. Move the request to pending, if
		 * krdma_batch_failed_locked() has not done so, so that
		 * krdma_req_end() fails it.
		 */
		link = &batch->reqs[0]->wr.link;
		if (list_is_last(link, &conn->sq.posted))
			list_move(link, &conn->sq.pending);
		batch->n = 0;
		batch->nsges = 0;
		return;
	}
	last = &batch->wrs[batch->n - 1].rdma.wr;
	last->next = NULL;
	/*
	 * Signal the last work request. Exception: if the batch ends within a
	 * request, the rest of that request follows in the next batch, and is
	 * signalled.
	 */
	if (last->wr_cqe != &conn->sq.part_cqe) {
		last->send_flags |= IB_SEND_SIGNALED;
		batch->reqs[batch->n - 1]->wr.signalled = true;
	}
	ret = ib_post_send(conn->cb.qp, &batch->wrs[0].rdma.wr, &bad);
	if (ret)
		krdma_batch_failed_locked(conn, bad, ret);
	batch->n = 0;
	batch->nsges = 0;
}

static const enum ib_wr_opcode krdma_wr_opcodes[KRDMA_WR_KINDS] = {
	[KRDMA_SEND]		= IB_WR_SEND,
	[KRDMA_WRITE]		= IB_WR_RDMA_WRITE,
	[KRDMA_READ]		= IB_WR_RDMA_READ,
	[KRDMA_FETCH_ADD]	= IB_WR_ATOMIC_FETCH_AND_ADD,
	[KRDMA_CMP_SWAP]	= IB_WR_ATOMIC_CMP_AND_SWP,
	[KRDMA_WRITE_IMM]	= IB_WR_RDMA_WRITE,
	[KRDMA_SEND_INV]	= IB_WR_SEND_WITH_INV,
	[KRDMA_WR_REGISTER]	= IB_WR_REG_MR,
	[KRDMA_WR_INVALIDATE]	= IB_WR_LOCAL_INV,
};

/*
 * Add a work request to the batch, chained to the previous one, and return it.
 * If the batch is full, post it first.
 */
static struct ib_rdma_wr *krdma_batch_add_locked(struct krdma_conn *conn,
						 struct krdma_req *req)
{
	struct krdma_batch *batch = conn->sq.batch;
	struct ib_rdma_wr *wr;

	if (batch->n == KRDMA_BATCH ||
	    batch->nsges + krdma_req_max_sges(conn, req) + 1 > KRDMA_BATCH_SGES)
		krdma_batch_flush_locked(conn);
	if (batch->n)
		batch->wrs[batch->n - 1].rdma.wr.next =
			&batch->wrs[batch->n].rdma.wr;
	batch->reqs[batch->n] = req;
	wr = &batch->wrs[batch->n++].rdma;
	*wr = (struct ib_rdma_wr){
		.wr.wr_cqe = &conn->sq.part_cqe,
		.wr.opcode = krdma_wr_opcodes[req->opcode],
		.wr.send_flags = req->is_inline ? IB_SEND_INLINE : 0,
		.wr.sg_list = &batch->sges[batch->nsges],
	};
	if (krdma_has_quirk(conn, KRDMA_QUIRK_LATE_READS))
		wr->wr.send_flags |= IB_SEND_SIGNALED;
	return wr;
}

/*
 * Fill in the header of a message. A message is open until its last part is
 * posted. If the part is a CHUNK, the message stays open until the peer has
 * answered by PULLED, see krdma_push_pulled_locked().
 */
static void krdma_req_fill_hdr_locked(struct krdma_conn *conn,
				      struct krdma_req *req)
{
	struct krdma_wire_hdr *hdr = krdma_req_hdr(req);
	struct krdma_sendq *sq = &conn->sq;
	u16 credits;
	bool last;

	if (hdr->version == KRDMA_WIRE_VERSION_LEVEL) {
		/* AUTH or START: a tag covers the header, which must not change. */
		krdma_credit_use(&sq->credit);
		if (sq->tx && hdr->type == KRDMA_WIRE_START)
			krdma_tx_posted_locked(conn, hdr->type, 0);
	} else if (!krdma_wire_is_free(hdr->type)) {
		credits = krdma_credit_take(&sq->credit);
		hdr->credits = cpu_to_le16(credits);
		trace_krdma_credit_sent(conn->stats.id, credits,
					sq->credit.unadvertised,
					sq->credit.avail);
	}
	if (krdma_wire_is_part(hdr->type)) {
		last = le32_to_cpu(hdr->offset) + req->wr.len ==
		       le32_to_cpu(hdr->msg_len);
		if (last)
			krdma_count_locked(conn, KRDMA_COUNT_MSGS_SENT, 1);
		hdr->msg_id = cpu_to_le32(sq->send_id);
		sq->open = !last || hdr->type == KRDMA_WIRE_CHUNK;
		sq->open_posted = sq->open && !req->wr.op;
		sq->send_id += !sq->open;
	}
	if (hdr->type == KRDMA_WIRE_CHUNK) {
		sq->chunk = req->wr.op;
		sq->chunk->pending++;
	} else if (hdr->type == KRDMA_WIRE_START ||
		   hdr->type == KRDMA_WIRE_AUTH) {
		WRITE_ONCE(sq->greeted, true);
	}
	if (sq->tx)
		hdr->version = KRDMA_WIRE_VERSION_LEVEL;
}

/* Fill in the header of a message, and add it to a work request. */
static void krdma_batch_add_hdr_locked(struct krdma_conn *conn,
				       struct krdma_req *req,
				       struct ib_send_wr *wr)
{
	krdma_req_fill_hdr_locked(conn, req);
	if (conn->sq.tx && req->wr.reserved)
		krdma_tx_seal_control_locked(conn, req);
	wr->sg_list[wr->num_sge++] = (struct ib_sge){
		.addr = req->is_inline ? (uintptr_t)req->hdr : req->hdr_dma,
		.length = sizeof(req->hdr),
		.lkey = conn->cb.pd->local_dma_lkey,
	};
	if (!req->is_inline)
		ib_dma_sync_single_for_device(conn->cb.pd->device, req->hdr_dma,
					      sizeof(req->hdr), DMA_TO_DEVICE);
}

/* Fill in the members of a work request that only some kinds have. */
static void krdma_batch_set_kind(struct ib_rdma_wr *rdma,
				 struct krdma_req *req)
{
	struct krdma_call *call = container_of(req, struct krdma_call, req);
	struct ib_atomic_wr *atomic =
		container_of(&rdma->wr, struct ib_atomic_wr, wr);
	struct ib_reg_wr *reg = container_of(&rdma->wr, struct ib_reg_wr, wr);
	u64 addr = rdma->remote_addr;
	u32 rkey = rdma->rkey;

	switch ((u8)req->opcode) {
	case KRDMA_SEND_INV:
		rdma->wr.ex.invalidate_rkey =
			krdma_remote_segs(req->remote)->rkey;
		break;
	case KRDMA_FETCH_ADD:
	case KRDMA_CMP_SWAP:
		atomic->remote_addr = addr;
		atomic->rkey = rkey;
		atomic->compare_add = req->opcode == KRDMA_FETCH_ADD ?
				      req->operand : req->compare;
		atomic->swap = req->operand;
		atomic->compare_add_mask = 0;
		atomic->swap_mask = 0;
		break;
	case KRDMA_WR_REGISTER:
		reg->mr = call->mr;
		reg->key = call->key;
		reg->access = call->access;
		break;
	case KRDMA_WR_INVALIDATE:
		rdma->wr.ex.invalidate_rkey = call->key;
		break;
	default:
		break;
	}
}

/*
 * Check whether a request waits in krdma_sendq.pending for the READs and
 * atomics that krdma_post() has put on the send queue.
 *
 * With KRDMA_QUIRK_BLOCKED_READS a later message or write would overtake the
 * answer to an earlier READ. So all requests except READs wait, with
 * KRDMA_FENCE or without. A READ waits only with KRDMA_FENCE.
 *
 * With KRDMA_QUIRK_FENCED_READS only READs and atomics with KRDMA_FENCE wait.
 * The adapter delays other requests with KRDMA_FENCE.
 */
static bool krdma_req_waits_here(const struct krdma_conn *conn,
				 const struct krdma_req *req)
{
	if (krdma_has_quirk(conn, KRDMA_QUIRK_BLOCKED_READS))
		return req->opcode != KRDMA_READ || req->flags & KRDMA_FENCE;
	return krdma_has_quirk(conn, KRDMA_QUIRK_FENCED_READS) &&
	       krdma_is_fetch(req->opcode) && req->flags & KRDMA_FENCE;
}

/* Assemble all work requests of one request. */
static void krdma_req_build_locked(struct krdma_conn *conn,
				   struct krdma_req *req)
{
	u32 max = krdma_req_max_sges(conn, req);
	struct krdma_span span;
	struct ib_rdma_wr *wr;

	krdma_span_begin(&span, req->sges, krdma_req_segs(req),
			 req->remote_offset, req->local.len);
	do {
		wr = krdma_batch_add_locked(conn, req);
		if (span.left == req->local.len && req->flags & KRDMA_FENCE &&
		    !krdma_req_waits_here(conn, req))
			wr->wr.send_flags |= IB_SEND_FENCE;
		if (krdma_req_is_message(req))
			krdma_batch_add_hdr_locked(conn, req, &wr->wr);
		if (span.seg) {
			wr->remote_addr = span.seg->addr + span.seg_off;
			wr->rkey = span.seg->rkey;
		}
		wr->wr.num_sge += krdma_span_next(&span, wr->wr.sg_list +
						  wr->wr.num_sge, max);
		conn->sq.batch->nsges += wr->wr.num_sge;
		if (req->opcode > KRDMA_READ)
			krdma_batch_set_kind(wr, req);
	} while (span.left);
	if (krdma_req_tells_after(conn, req)) {
		/*
		 * When this message is delivered, all earlier writes are in
		 * memory (RFC 5040 5.5).
		 */
		wr = krdma_batch_add_locked(conn, req);
		wr->wr.opcode = IB_WR_SEND;
		krdma_batch_add_hdr_locked(conn, req, &wr->wr);
		conn->sq.batch->nsges += wr->wr.num_sge;
	} else if (req->opcode == KRDMA_WRITE_IMM) {
		wr->wr.opcode = IB_WR_RDMA_WRITE_WITH_IMM;
		wr->wr.ex.imm_data = cpu_to_be32(req->imm);
		krdma_credit_use(&conn->sq.credit);
	}
	wr->wr.wr_cqe = &req->wr.cqe;
	if (req->opcode == KRDMA_READ && conn->sq.quirk_reads)
		wr->wr.wr_cqe = krdma_quirk_read_cqe_locked(conn, &req->wr);
	/*
	 * A task waits for the operation. Also, a completion shows that the
	 * operation has succeeded, even if the connection ends.
	 */
	if (req->wr.op)
		wr->wr.send_flags |= IB_SEND_SIGNALED;
	req->wr.signalled = wr->wr.send_flags & IB_SEND_SIGNALED;
}

/* ---- posting ---- */

/*
 * Check whether an entry with READs may be posted. With
 * KRDMA_QUIRK_BLOCKED_READS the number of READs in flight is limited here, and
 * requests that must not overtake READs wait, see krdma_req_turn_locked().
 *
 * A blocking call and a long message may use the last READ slot, so that a
 * steady stream of READs of krdma_post() cannot starve them. An entry that
 * needs more slots than exist is posted when no other READ is in flight.
 */
static bool krdma_reads_fit_locked(struct krdma_conn *conn,
				   const struct krdma_wr *kwr)
{
	u32 max;

	lockdep_assert_held(&conn->lock);
	if (!krdma_has_quirk(conn, KRDMA_QUIRK_BLOCKED_READS) ||
	    !conn->sq.reads)
		return true;
	if (!conn->sq.max_reads)
		conn->sq.max_reads = krdma_qp_reads(conn);
	max = conn->sq.max_reads;
	if (!kwr->op && max > 1)
		max--;
	return conn->sq.reads + kwr->slots <= max;
}

/**
 * enum krdma_turn - decision about a request that waits
 * @KRDMA_TURN_POST: post it
 * @KRDMA_TURN_SKIP: later requests may be posted before it
 * @KRDMA_TURN_NEXT: requests of the next list may be posted before it
 * @KRDMA_TURN_STOP: all later requests wait
 */
enum krdma_turn {
	KRDMA_TURN_POST = 0,
	KRDMA_TURN_SKIP,
	KRDMA_TURN_NEXT,
	KRDMA_TURN_STOP,
};

/**
 * struct krdma_kick - progress of krdma_req_kick_locked()
 * @n: number of work requests so far
 * @unsaid: number of bytes since the last doorbell
 * @held: no message may be posted, except a part of the open one
 */
struct krdma_kick {
	unsigned int n;
	u64 unsaid;
	bool held;
};

/* Decide about the next request that waits. */
static enum krdma_turn krdma_req_turn_locked(struct krdma_conn *conn,
					     const struct krdma_req *req,
					     struct krdma_kick *kick)
{
	bool read = req->opcode == KRDMA_READ;

	lockdep_assert_held(&conn->lock);
	/*
	 * A single request may exceed the limit of bytes in flight, so it may
	 * cross the limit.
	 */
	if (conn->sq.avail < req->wr.slots ||
	    (req->wr.bulk && conn->sq.bulk >= conn->sq.max_bulk) ||
	    !krdma_tx_has_room_locked(conn, krdma_req_is_sealed(conn, req)))
		return KRDMA_TURN_STOP;
	if (read && !krdma_reads_fit_locked(conn, &req->wr))
		return req->wr.urgent ? KRDMA_TURN_NEXT : KRDMA_TURN_STOP;
	if (req->wr.urgent)
		return KRDMA_TURN_POST;
	/* The next part of the message may not be queued yet. */
	if (conn->sq.open_posted && !req->wr.follows)
		return KRDMA_TURN_STOP;
	if (krdma_req_takes_credit(req) &&
	    ((kick->held && !req->wr.follows) ||
	     !krdma_credit_may_send(&conn->sq.credit, false))) {
		kick->held = true;
		return req->wr.op ? KRDMA_TURN_SKIP : KRDMA_TURN_STOP;
	}
	if (conn->sq.fetches && krdma_req_waits_here(conn, req))
		return KRDMA_TURN_STOP;
	return KRDMA_TURN_POST;
}

/*
 * Note that a request is no longer in urgent or pending. A task that finds
 * krdma_op.queued to be 0 reads krdma_op.error.
 */
static void krdma_req_leave_locked(struct krdma_conn *conn,
				   const struct krdma_wr *kwr)
{
	if (!kwr->urgent)
		WRITE_ONCE(conn->sq.npending, conn->sq.npending - 1);
	if (kwr->op)
		/* Pairs with krdma_op_is_posted(). */
		smp_store_release(&kwr->op->queued, kwr->op->queued - 1);
}

/* Take what a message needs before tx.c seals it. It stays in pending. */
static void krdma_req_begin_sealed_locked(struct krdma_conn *conn,
					  struct krdma_req *req)
{
	WRITE_ONCE(conn->sq.avail, conn->sq.avail - req->wr.slots);
	krdma_req_fill_hdr_locked(conn, req);
	krdma_tx_take_locked(conn, req);
}

/*
 * Post the requests of a list that there is room for. Ring the doorbell after
 * each quarter of the bytes that may be in flight. The last work request of a
 * doorbell is signalled, so that the next post comes while the adapter still
 * has work.
 * Return: true if requests of the next list may be posted.
 */
static bool krdma_req_kick_list_locked(struct krdma_conn *conn,
				       struct list_head *list,
				       struct krdma_kick *kick)
{
	struct krdma_sendq *sq = &conn->sq;
	struct krdma_wr *kwr, *next;
	struct krdma_req *req;
	enum krdma_turn turn;

	list_for_each_entry_safe(kwr, next, list, link) {
		req = krdma_req(kwr);
		if (conn->cb.state != KRDMA_ESTABLISHED)
			return false;
		if (!kick->held || !krdma_req_takes_credit(req))
			kwr->late = false;
		turn = krdma_req_turn_locked(conn, req, kick);
		if (turn == KRDMA_TURN_NEXT)
			break;
		if (turn == KRDMA_TURN_SKIP)
			continue;
		if (turn == KRDMA_TURN_STOP)
			return false;
		if (kick->n >= KRDMA_KICK_MAX) {
			krdma_count_locked(conn, KRDMA_COUNT_POST_PAUSES, 1);
			return false;
		}
		if (krdma_req_is_sealed(conn, req)) {
			krdma_req_begin_sealed_locked(conn, req);
			return false;
		}
		/* Move the request to the send queue. */
		kick->n += kwr->slots;
		list_move_tail(&kwr->link, &sq->posted);
		krdma_req_leave_locked(conn, kwr);
		WRITE_ONCE(sq->avail, sq->avail - kwr->slots);
		if (kwr->kind == KRDMA_READ)
			sq->reads += kwr->slots;
		if (krdma_is_fetch(kwr->kind))
			sq->fetches += !kwr->op;
		krdma_req_build_locked(conn, req);
		if (krdma_req_takes_credit(req))
			kick->held = sq->open;
		if (!kwr->bulk)
			continue;
		sq->bulk += kwr->len;
		kick->unsaid += kwr->len;
		if (kick->unsaid >= sq->max_bulk / 4) {
			krdma_batch_flush_locked(conn);
			kick->unsaid = 0;
		}
	}
	return true;
}

/**
 * krdma_req_kick_sealed_locked - post the requests up to the next message that
 * is sealed, and take what this message needs
 * @conn: connection
 *
 * The caller seals the message that krdma_tx_take_locked() has got. Without such
 * a call there is no message, or no room for it.
 *
 * Context: any, @conn->lock held; also krdma_tx.lock if the level seals messages.
 */
void krdma_req_kick_sealed_locked(struct krdma_conn *conn)
{
	struct krdma_kick kick = { .held = conn->sq.open };

	lockdep_assert_held(&conn->lock);
	if (list_empty(&conn->sq.urgent) ||
	    krdma_req_kick_list_locked(conn, &conn->sq.urgent, &kick))
		krdma_req_kick_list_locked(conn, &conn->sq.pending, &kick);
	krdma_batch_flush_locked(conn);
}

/**
 * krdma_req_kick_locked - post the requests that there is room for
 * @conn: connection. With a level that seals messages, nothing is posted, and
 *	the caller must call krdma_tx_kick() after it has released the lock
 *
 * Stops after the request with which the number of work requests reaches
 * KRDMA_KICK_MAX. The last work request is signalled, so its completion posts
 * the next requests.
 *
 * Context: any, @conn->lock held.
 */
void krdma_req_kick_locked(struct krdma_conn *conn)
{
	if (!conn->sq.tx)
		krdma_req_kick_sealed_locked(conn);
}

/**
 * krdma_req_post_sealed_locked - post a message that is sealed now
 * @conn: connection with a level that seals messages
 * @req: request that krdma_tx_take_locked() has got
 * @sge: the sealed message
 *
 * After the end of the connection, the request stays in pending, and
 * krdma_req_end() ends it.
 *
 * Context: any, krdma_tx.lock and @conn->lock held.
 */
void krdma_req_post_sealed_locked(struct krdma_conn *conn,
				  struct krdma_req *req,
				  const struct ib_sge *sge)
{
	struct ib_rdma_wr *wr;

	lockdep_assert_held(&conn->lock);
	if (conn->cb.state != KRDMA_ESTABLISHED)
		return;
	krdma_tx_posted_locked(conn, krdma_req_hdr(req)->type, req->local.len);
	list_move_tail(&req->wr.link, &conn->sq.posted);
	krdma_req_leave_locked(conn, &req->wr);
	wr = krdma_batch_add_locked(conn, req);
	wr->wr.sg_list[wr->wr.num_sge++] = *sge;
	conn->sq.batch->nsges++;
	wr->wr.wr_cqe = &req->wr.cqe;
	krdma_batch_flush_locked(conn);
	/* A task may wait until its part is posted, see krdma_op_wait_posted(). */
	if (req->wr.op)
		krdma_conn_wake(conn);
}

/**
 * krdma_req_have_need_locked - check whether there is room for all requests of
 * a krdma_post()
 * @conn: connection in message mode
 * @need: resources that the requests need
 *
 * The limit of bytes in flight counts only for the first request, because there
 * may never be room for the bytes of all requests.
 *
 * Context: any, @conn->lock held.
 * Return: true if there is room at this moment.
 */
bool krdma_req_have_need_locked(struct krdma_conn *conn,
				const struct krdma_need *need)
{
	struct krdma_wr *kwr;

	lockdep_assert_held(&conn->lock);
	if (conn->sq.open_posted || need->slots > conn->sq.avail ||
	    (need->bulk && conn->sq.bulk >= conn->sq.max_bulk))
		return false;
	/* Requests in urgent are posted before those in pending. */
	kwr = list_first_entry_or_null(&conn->sq.urgent, struct krdma_wr, link);
	if (kwr && (kwr->kind != KRDMA_READ ||
		    krdma_reads_fit_locked(conn, kwr)))
		return false;
	/* WRITEs and READs may overtake messages of blocking calls. */
	list_for_each_entry(kwr, &conn->sq.pending, link)
		if (need->sends || !kwr->op ||
		    !krdma_req_takes_credit(krdma_req(kwr)))
			return false;
	return !need->sends ||
	       (!conn->sq.open && krdma_tx_has_room_locked(conn, need->sends) &&
		krdma_credit_may_send_n(&conn->sq.credit, need->sends));
}

/*
 * Check whether krdma_post() can take all requests of a chain. Return: 0;
 * -EAGAIN: not now, and write_space() is called when there is room; -E2BIG:
 * never.
 */
static int krdma_req_find_room_locked(struct krdma_conn *conn,
				      const struct krdma_req *req)
{
	struct krdma_need need = {
		.nowait = req->flags & KRDMA_NOWAIT,
		.bulk = req->wr.bulk,
	};

	for (; req; req = req->next) {
		need.slots += req->wr.slots;
		if (krdma_req_takes_credit(req))
			need.sends += krdma_req_entries(req);
		need.requests += krdma_req_entries(req);
	}
	if (need.requests > KRDMA_PENDING_MAX ||
	    (need.nowait && (need.slots > conn->limits.send_depth ||
			     need.sends >= conn->hello.recv_depth ||
			     !krdma_tx_fits(conn, need.sends))))
		return -E2BIG;
	if (conn->sq.npending + need.requests <= KRDMA_PENDING_MAX &&
	    (!need.nowait || krdma_req_have_need_locked(conn, &need)))
		return 0;
	krdma_space_refused_locked(conn, &need);
	return -EAGAIN;
}

/* Return the entry before which a new entry goes; tail of the list: its head. */
static struct list_head *krdma_req_place_locked(struct krdma_conn *conn,
						const struct krdma_wr *kwr)
{
	struct krdma_wr *later;

	lockdep_assert_held(&conn->lock);
	if (!kwr->urgent) {
		if (!kwr->follows)
			return &conn->sq.pending;
		/* Earlier parts of the open message are at the head. */
		list_for_each_entry(later, &conn->sq.pending, link)
			if (!later->follows)
				break;
		return &later->link;
	}
	/* In urgent, READs come last, because they may wait long. */
	if (kwr->kind != KRDMA_READ)
		list_for_each_entry(later, &conn->sq.urgent, link)
			if (later->kind == KRDMA_READ)
				return &later->link;
	return &conn->sq.urgent;
}

static int krdma_req_enqueue_locked(struct krdma_conn *conn,
				    struct krdma_req *first,
				    struct krdma_op *op)
{
	bool sends = krdma_req_takes_credit(first);
	struct list_head *place;
	struct krdma_req *req;
	struct krdma_wr *kwr;
	int ret = 0;
	u32 i;

	lockdep_assert_held(&conn->lock);
	if (conn->cb.state != KRDMA_ESTABLISHED)
		return conn->error ?: -ENOTCONN;
	/* krdma_close() waits until the open message is complete. */
	if (conn->life.bye && !first->wr.follows && (!op || first->wr.late))
		return -ESHUTDOWN;
	if (!op && !first->wr.follows)
		ret = krdma_req_find_room_locked(conn, first);
	if (ret)
		return ret;
	place = krdma_req_place_locked(conn, &first->wr);
	for (req = first; req; req = req->next) {
		for (i = 0; i < krdma_req_entries(req); i++) {
			kwr = krdma_req_entry(req, i);
			krdma_stats_posted_locked(conn, kwr);
			list_add_tail(&kwr->link, place);
			if (!kwr->urgent)
				WRITE_ONCE(conn->sq.npending,
					   conn->sq.npending + 1);
			if (!op)
				continue;
			op->pending++;
			op->queued++;
			/* krdma_req_done() puts this reference. */
			refcount_inc(&op->ref);
		}
	}
	krdma_req_kick_locked(conn);
	/* Check whether the first pending request waits only for a credit. */
	kwr = list_first_entry_or_null(&conn->sq.pending, struct krdma_wr,
				       link);
	if (sends && kwr && krdma_req_takes_credit(krdma_req(kwr)) &&
	    conn->sq.avail >= kwr->slots &&
	    !krdma_credit_may_send(&conn->sq.credit, false))
		krdma_count_locked(conn, KRDMA_COUNT_CREDIT_STALLS, 1);
	return 0;
}

/**
 * krdma_req_add - queue requests that are prepared
 * @conn: connection in message mode; the caller has called krdma_req_enter()
 * @first: first request of a chain
 * @op: operation of the requests; NULL: requests of krdma_post()
 * @take: the caller holds krdma_tx.lock; as krdma_req_kick_sealed_locked()
 * @space: set to true if the caller must call krdma_space_tell()
 *
 * Without a level that seals messages, post the requests if there is room.
 *
 * Context: any.
 * Return: 0 or an errno as krdma_post() and krdma_op_post().
 */
int krdma_req_add(struct krdma_conn *conn, struct krdma_req *first,
		  struct krdma_op *op, bool take, bool *space)
{
	unsigned long flags;
	int ret;

	spin_lock_irqsave(&conn->lock, flags);
	ret = krdma_req_enqueue_locked(conn, first, op);
	if (take && !ret)
		krdma_req_kick_sealed_locked(conn);
	/* The last part of a message lets other messages be posted. */
	*space = (op || first->wr.follows) && conn->sq.space.wanted &&
		 krdma_space_begin_locked(conn);
	spin_unlock_irqrestore(&conn->lock, flags);
	return ret;
}

/**
 * krdma_req_enqueue - take requests that are prepared, and post them if there
 * is room
 * @conn: connection in message mode; the caller has called krdma_req_enter()
 * @first: first request of a chain
 * @op: operation of the requests; NULL: requests of krdma_post()
 *
 * Bottom halves are off around the post. When they are enabled again, rxe up to
 * 6.x runs its tasklet at once, instead of waking ksoftirqd. That saves nearly
 * 100 us.
 *
 * Context: any.
 * Return: 0 or an errno as krdma_post() and krdma_op_post().
 */
int krdma_req_enqueue(struct krdma_conn *conn, struct krdma_req *first,
		      struct krdma_op *op)
{
	bool bh = !irqs_disabled(), space;
	int ret;

	if (bh)
		local_bh_disable();
	if (conn->sq.tx)
		ret = krdma_tx_enqueue(conn, first, op, &space);
	else
		ret = krdma_req_add(conn, first, op, false, &space);
	if (bh)
		local_bh_enable();
	if (space)
		krdma_space_tell(conn);
	return ret;
}

/* ---- ending ---- */

/*
 * Account for an entry that has ended, and that has its status. The caller
 * calls krdma_wr_finish() after it has released the lock.
 */
static void krdma_wr_end_locked(struct krdma_conn *conn,
				struct krdma_wr *kwr)
{
	lockdep_assert_held(&conn->lock);
	krdma_stats_done_locked(conn, kwr, kwr->status);
	if (kwr->op)
		krdma_op_finish_locked(kwr->op, kwr->status);
}

/* Call done() of entries that have ended, in order, without a lock. */
static void krdma_wr_finish(struct list_head *over)
{
	struct krdma_wr *kwr, *next;

	list_for_each_entry_safe(kwr, next, over, link)
		krdma_req_done(krdma_req(kwr));
}

/* Take the entries of @op off a list, or all late entries if @op is NULL. */
static void krdma_req_take_back_locked(struct krdma_conn *conn,
				       struct list_head *list,
				       const struct krdma_op *op, int error,
				       struct list_head *over)
{
	struct krdma_wr *kwr, *next;

	lockdep_assert_held(&conn->lock);
	list_for_each_entry_safe(kwr, next, list, link) {
		if (op ? kwr->op != op : !kwr->late)
			continue;
		/* The message is being sealed, and is posted next. */
		if (kwr->tx)
			continue;
		list_move_tail(&kwr->link, over);
		kwr->status = error;
		krdma_wr_end_locked(conn, kwr);
		krdma_req_leave_locked(conn, kwr);
	}
}

/**
 * krdma_op_cancel - end requests that are not posted yet
 * @conn: connection in message mode
 * @op: operation on the connection whose requests end; the caller keeps its
 *	reference. NULL: end all blocking calls whose turn has not come yet
 * @error: errno for these requests
 *
 * If the connection has ended, the requests stay, and krdma_req_end() ends
 * them.
 *
 * Context: process.
 * Return: true if the operation has ended; false if a request is in flight, or
 * the connection has ended, or @op is NULL.
 */
bool krdma_op_cancel(struct krdma_conn *conn, struct krdma_op *op, int error)
{
	unsigned long flags;
	LIST_HEAD(over);
	bool space;

	/* krdma_req_done() needs the device until krdma_req_leave(). */
	if (!krdma_req_enter(conn))
		return op && krdma_op_is_done(conn, op);
	spin_lock_irqsave(&conn->lock, flags);
	if (conn->cb.state == KRDMA_ESTABLISHED) {
		krdma_req_take_back_locked(conn, &conn->sq.urgent, op, error,
					   &over);
		krdma_req_take_back_locked(conn, &conn->sq.pending, op, error,
					   &over);
	}
	krdma_req_kick_locked(conn);
	space = krdma_space_begin_locked(conn);
	krdma_conn_wake(conn);
	spin_unlock_irqrestore(&conn->lock, flags);
	krdma_tx_kick(conn);
	krdma_wr_finish(&over);
	if (space)
		krdma_space_tell(conn);
	krdma_req_leave(conn);
	return op && krdma_op_is_done(conn, op);
}

/**
 * krdma_req_post_reserved_locked - post an internal message at once
 * @conn: established connection in message mode
 * @req: reserved request after krdma_req_prepare(), not in flight
 *
 * Context: any, @conn->lock held.
 * Return: 0, or an errno: the reason for which the connection ends. In both
 * cases done() of @req is called later.
 */
int krdma_req_post_reserved_locked(struct krdma_conn *conn,
				   struct krdma_req *req)
{
	lockdep_assert_held(&conn->lock);
	req->wr.over = false;
	req->wr.status = 0;
	krdma_stats_posted_locked(conn, &req->wr);
	list_add_tail(&req->wr.link, &conn->sq.posted);
	krdma_req_build_locked(conn, req);
	krdma_batch_flush_locked(conn);
	return conn->error;
}

static void krdma_req_end_list_locked(struct krdma_conn *conn,
				      struct list_head *list, int status,
				      struct list_head *over)
{
	struct krdma_wr *kwr;

	list_for_each_entry(kwr, list, link) {
		if (!kwr->over)
			kwr->status = status;
		krdma_wr_end_locked(conn, kwr);
	}
	list_splice_tail_init(list, over);
}

/**
 * krdma_req_end - end entries that will not complete any more
 * @conn: connection in KRDMA_CLOSING whose QP is drained
 *
 * Entries that are still on the send queue were not signalled and have
 * succeeded, because a failure has a completion. KRDMA_QUIRK_LOST_READS is
 * an exception. Other entries were never posted.
 *
 * Context: process, @conn->setup held.
 */
void krdma_req_end(struct krdma_conn *conn)
{
	struct krdma_wr *kwr;
	unsigned long flags;
	LIST_HEAD(over);
	int unsaid = 0;

	lockdep_assert_held(&conn->setup);
	krdma_tx_wait(conn);
	spin_lock_irqsave(&conn->lock, flags);
	conn->sq.chunk = NULL;
	/*
	 * Every signalled work request completes before the drain ends, with
	 * success or error, except for KRDMA_QUIRK_LOST_READS. With this fault,
	 * none of the posted entries without a completion is known to have
	 * succeeded. Without it, all of them have.
	 */
	list_for_each_entry(kwr, &conn->sq.posted, link) {
		if (!kwr->signalled || kwr->over)
			continue;
		WARN_ON_ONCE(!krdma_has_quirk(conn, KRDMA_QUIRK_LOST_READS));
		unsaid = conn->error ?: -ECONNRESET;
		break;
	}
	krdma_req_end_list_locked(conn, &conn->sq.posted, unsaid, &over);
	krdma_req_end_list_locked(conn, &conn->sq.urgent, conn->error, &over);
	krdma_req_end_list_locked(conn, &conn->sq.pending, conn->error, &over);
	WRITE_ONCE(conn->sq.npending, 0);
	krdma_conn_wake(conn);
	spin_unlock_irqrestore(&conn->lock, flags);
	krdma_wr_finish(&over);
}

/* ---- completing ---- */

/*
 * Return the errno with which a failed work request ends the connection. A
 * flush only follows another failure, which has the reason.
 */
static int krdma_wc_errno(enum ib_wc_status status)
{
	switch (status) {
	case IB_WC_SUCCESS:
		return 0;
	case IB_WC_RETRY_EXC_ERR:
		return -ETIMEDOUT;
	case IB_WC_RNR_RETRY_EXC_ERR:
		return -ENOBUFS;
	case IB_WC_REM_ACCESS_ERR:
		return -EACCES;
	case IB_WC_WR_FLUSH_ERR:
		return -ECONNABORTED;
	default:
		return -EIO;
	}
}

/**
 * krdma_qp_failed - handle a work request that completed with an error
 * @conn: connection, which ends unless it is closing already
 * @status: status of the completion
 *
 * Context: any.
 */
void krdma_qp_failed(struct krdma_conn *conn, enum ib_wc_status status)
{
	int error = krdma_wc_errno(status);

	trace_krdma_wc_failed(conn->stats.id, status);
	if (status < KRDMA_WC_STATUSES)
		krdma_count(conn, KRDMA_COUNT_WC + status);
	if (krdma_conn_is_over(conn))
		return;
	if (status == IB_WC_WR_FLUSH_ERR) {
		krdma_conn_flushed(conn);
		return;
	}
	if (status == IB_WC_LOC_QP_OP_ERR)
		error = krdma_conn_fatal_errno(conn);
	krdma_conn_abort_for(conn, error, KRDMA_CAUSE_WR, status);
}

/**
 * krdma_wc_failed - report a failed work request in raw mode
 * @cb: raw-mode connection
 * @status: status of the completion
 *
 * Without this call, an owner that only waits for its completions might wait
 * forever when the queue pair has failed. An rxe that cannot pass a packet to
 * its interface flushes all work requests without an event (seen on 6.12 and
 * 7.3). No completion shows the reason either.
 *
 * With this call the connection ends at once. The reason is -ETIMEDOUT if the
 * peer did not answer, -ENOBUFS if it had no receive, and -EACCES if it refused
 * the access. Otherwise the reason is -EIO, or -ECONNRESET on iWARP for
 * IB_WC_LOC_QP_OP_ERR, which a closed TCP connection causes there. After
 * IB_WC_WR_FLUSH_ERR the connection ends a second later, if it has not ended by
 * then. The closing callback follows. A connection that has already ended is
 * not changed.
 *
 * Context: any; normally the completion handler.
 */
void krdma_wc_failed(struct krdma_cb *cb, enum ib_wc_status status)
{
	krdma_qp_failed(krdma_conn(cb), status);
}
EXPORT_SYMBOL_NS_GPL(krdma_wc_failed, KRDMA_NS);

/* Account for posted entries that have ended. */
static void krdma_wr_retire_locked(struct krdma_conn *conn,
				   struct list_head *over)
{
	struct krdma_wr *kwr;

	lockdep_assert_held(&conn->lock);
	list_for_each_entry(kwr, over, link) {
		krdma_wr_end_locked(conn, kwr);
		/*
		 * An answer of the peer's adapter has arrived: the peer is
		 * alive, and a PONG may have to wait behind the answer.
		 */
		if (krdma_is_fetch(kwr->kind)) {
			conn->sq.heard |= !kwr->status;
			conn->sq.fetches -= !kwr->op;
		}
		if (kwr->kind == KRDMA_READ)
			conn->sq.reads -= kwr->slots;
		if (!kwr->reserved)
			WRITE_ONCE(conn->sq.avail,
				   conn->sq.avail + kwr->slots);
		krdma_tx_release_locked(conn, kwr);
		if (kwr->bulk)
			conn->sq.bulk -= kwr->len;
	}
}

/*
 * Handle a completion. A failure ends the connection, and the entry gets the
 * reason for which the connection ends: this failure, if it was the first one.
 * If a flush comes before the reason is known, the entry gets -ECONNRESET.
 */
static void krdma_wr_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct krdma_wr *kwr = container_of(wc->wr_cqe, struct krdma_wr, cqe);
	struct krdma_conn *conn = kwr->conn;
	struct krdma_wr *next;
	unsigned long flags;
	LIST_HEAD(over);
	bool space;

	if (wc->status != IB_WC_SUCCESS)
		krdma_qp_failed(conn, wc->status);
	spin_lock_irqsave(&conn->lock, flags);
	if (wc->status != IB_WC_SUCCESS)
		kwr->status = conn->error ?: -ECONNRESET;
	if (kwr->op && kwr->status && wc->status != IB_WC_WR_FLUSH_ERR)
		kwr->op->refused = true;
	kwr->over = true;
	if (krdma_has_quirk(conn, KRDMA_QUIRK_LATE_READS)) {
		/*
		 * An entry is ended only by its own completion, so move only
		 * completed entries at the head of the list. A READ without a
		 * completion ends in krdma_req_end().
		 */
		list_for_each_entry_safe(kwr, next, &conn->sq.posted, link) {
			if (!kwr->over)
				break;
			list_move_tail(&kwr->link, &over);
		}
	} else {
		/*
		 * Work requests complete in order. Unsignalled ones have no
		 * completion if they succeed, so a completion ends all entries
		 * up to its own. A work request that fails or is flushed has a
		 * completion in any case.
		 */
		list_cut_position(&over, &conn->sq.posted, &kwr->link);
	}
	krdma_wr_retire_locked(conn, &over);
	krdma_req_kick_locked(conn);
	space = krdma_space_begin_locked(conn);
	krdma_conn_wake(conn);
	spin_unlock_irqrestore(&conn->lock, flags);
	krdma_tx_kick(conn);
	krdma_wr_finish(&over);
	if (space)
		krdma_space_tell(conn);
}

/**
 * krdma_wr_init - prepare an entry of the send queue
 * @kwr: entry in a request
 * @conn: connection on which it will be posted
 * @op: operation to which the entry belongs; NULL: request of krdma_post(), or
 *	internal message
 * @kind: &enum krdma_opcode or &enum krdma_wr_kind, for the counters
 */
void krdma_wr_init(struct krdma_wr *kwr, struct krdma_conn *conn,
		   struct krdma_op *op, u8 kind)
{
	*kwr = (struct krdma_wr){
		.cqe.done = krdma_wr_done,
		.conn = conn,
		.op = op,
		.slots = 1,
		.kind = kind,
	};
}
