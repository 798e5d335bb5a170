/* SPDX-License-Identifier: GPL-2.0 */
/* Requests, and the send queue of a connection in message mode. */
#ifndef KRDMA_SQ_H
#define KRDMA_SQ_H

#include "quirks.h"
#include "region.h"
#include "span.h"

/*
 * Maximum number of requests that wait for a slot or a credit. Without a limit
 * a peer that never receives would let the queue grow without end.
 */
#define KRDMA_PENDING_MAX 4096

/**
 * struct krdma_call - request that krdma itself posts
 * @req: the request. Its done() is called only if it is not NULL
 * @seg: READ of a long message: memory of the peer
 * @mr: registration: the MR
 * @key: registration or invalidation: key of the MR
 * @access: registration: IB_ACCESS_*
 */
struct krdma_call {
	struct krdma_req req;
	union {
		struct krdma_seg seg;
		struct {
			struct ib_mr *mr;
			u32 key;
			int access;
		};
	};
};

/**
 * struct krdma_op - operation: requests of krdma that end together
 * @ref: references of the creator and of each request that has not ended
 * @n: number of requests
 * @pending: number of requests that have not ended, plus 1 while the peer must
 *	answer a CHUNK; krdma_conn.lock
 * @queued: number of requests that are not posted yet; krdma_conn.lock
 * @error: errno of the first request that failed; krdma_conn.lock
 * @answered: the peer has answered the CHUNK by PULLED; krdma_conn.lock
 * @refused: a work request completed with an error other than a flush;
 *	krdma_conn.lock
 * @is_read_on: see KRDMA_QUIRK_READS_FREED
 * @rcu: frees the operation if @is_read_on is set
 * @data: bytes of a message behind its header
 * @calls: the requests
 *
 * The object must not be on the task's stack, because the task may be killed
 * and return while requests are in flight. Also, the task is woken before the
 * completion handlers have returned, and they still use @calls.
 */
struct krdma_op {
	refcount_t ref;
	u32 n;
	unsigned int pending;
	unsigned int queued;
	int error;
	bool answered;
	bool refused;
	bool is_read_on;
	struct rcu_head rcu;
	void *data;
	struct krdma_call calls[];
};

/**
 * struct krdma_part - request that sends a part of a message of krdma_post()
 * @req: the request
 * @parts: the message
 */
struct krdma_part {
	struct krdma_req req;
	struct krdma_parts *parts;
};

/**
 * struct krdma_parts - parts of a message of krdma_post()
 * @req: request of the user, whose memory is mapped, unless the level seals
 *	messages
 * @rest: bytes of which no part was made yet
 * @memory: memory of these bytes, if the level seals messages
 * @left: number of parts that have not ended
 * @error: errno of the first part that failed
 * @rcu: frees the object, see KRDMA_QUIRK_READS_FREED
 * @part: requests; when one has ended, it sends a later part
 *
 * krdma_post() uses the object until the parts are queued, and afterwards the
 * contexts that call krdma_part_done(). These are the completion handler, which
 * runs in one context at a time, and krdma_req_end() after the drain.
 */
struct krdma_parts {
	struct krdma_req *req;
	struct krdma_span rest;
	struct krdma_data memory;
	u32 left;
	int error;
	struct rcu_head rcu;
	struct krdma_part part[];
};

static inline struct krdma_req *krdma_req(struct krdma_wr *kwr)
{
	return container_of(kwr, struct krdma_req, wr);
}

static inline struct krdma_wire_hdr *krdma_req_hdr(struct krdma_req *req)
{
	return (struct krdma_wire_hdr *)req->hdr;
}

static inline bool krdma_req_is_message(const struct krdma_req *req)
{
	return req->opcode == KRDMA_SEND || req->opcode == KRDMA_SEND_INV;
}

/* Check whether a request uses a receive of the peer. */
static inline bool krdma_req_takes_credit(const struct krdma_req *req)
{
	return krdma_req_is_message(req) || req->opcode == KRDMA_WRITE_IMM;
}

/* Return the number of entries with which a request is queued. */
static inline u32 krdma_req_entries(const struct krdma_req *req)
{
	return req->parts ? req->wr.slots : 1;
}

static inline struct krdma_wr *krdma_req_entry(struct krdma_req *req, u32 i)
{
	return req->parts ? &req->parts->part[i].req.wr : &req->wr;
}

/* Check whether the peer's adapter answers an operation with data. */
static inline bool krdma_is_fetch(enum krdma_opcode opcode)
{
	return opcode == KRDMA_READ || opcode == KRDMA_FETCH_ADD ||
	       opcode == KRDMA_CMP_SWAP;
}

/*
 * Check whether a message must follow a WRITE to notify the peer, because iWARP
 * has no immediate data (RFC 5040).
 */
static inline bool krdma_req_tells_after(const struct krdma_conn *conn,
					 const struct krdma_req *req)
{
	return req->opcode == KRDMA_WRITE_IMM &&
	       rdma_protocol_iwarp(conn->cb.pd->device, 1);
}

/*
 * Check whether a message must be sealed when it is posted. AUTH and START are
 * not, because they have got their tags before, and internal messages have
 * tags of their own, see krdma_tx_seal_control_locked().
 */
static inline bool krdma_req_is_sealed(const struct krdma_conn *conn,
				       const struct krdma_req *req)
{
	const struct krdma_wire_hdr *hdr = (const void *)req->hdr;

	return krdma_conn_is_sealed(conn) && krdma_req_is_message(req) &&
	       hdr->type == KRDMA_WIRE_DATA;
}

/* op.c */
struct krdma_op *krdma_op_alloc(struct krdma_conn *conn, u32 n, u32 len);
struct krdma_call *krdma_op_add(struct krdma_conn *conn, struct krdma_op *op,
				u8 kind);
struct krdma_op *krdma_op_message(struct krdma_conn *conn, u8 kind,
				  const struct krdma_hdr *hdr, u32 len);
void krdma_op_free(struct krdma_op *op);
bool krdma_op_is_done(struct krdma_conn *conn, const void *arg);
int krdma_op_wait(struct krdma_conn *conn, struct krdma_op *op,
		  unsigned long until);
int krdma_op_wait_posted(struct krdma_conn *conn, struct krdma_op *op,
			 unsigned long until);
int krdma_op_wait_answered(struct krdma_conn *conn, struct krdma_op *op,
			   unsigned long until);
int krdma_op_settle(struct krdma_conn *conn, struct krdma_op *op,
		    unsigned long until);
void krdma_op_finish_locked(struct krdma_op *op, int error);

/* parts.c */
int krdma_parts_prepare(struct krdma_conn *conn, struct krdma_req *req);
void krdma_parts_free(struct krdma_conn *conn, struct krdma_req *req);

/* req.c */
void krdma_req_done(struct krdma_req *req);
int krdma_req_map_hdr(struct krdma_conn *conn, struct krdma_req *req);
int krdma_req_prepare(struct krdma_conn *conn, struct krdma_req *req);
void krdma_req_unmap(struct krdma_conn *conn, struct krdma_req *req);
int krdma_req_take(struct krdma_conn *conn, struct krdma_req *first,
		   struct krdma_op *op);

/* sq.c */
int krdma_req_begin(struct krdma_conn *conn);
void krdma_req_free(struct krdma_conn *conn);
void krdma_req_leave_last(struct krdma_conn *conn);
void krdma_req_stop(struct krdma_conn *conn);
void krdma_req_end(struct krdma_conn *conn);
void krdma_req_kick_locked(struct krdma_conn *conn);
bool krdma_req_have_need_locked(struct krdma_conn *conn,
				const struct krdma_need *need);
void krdma_req_kick_sealed_locked(struct krdma_conn *conn);
void krdma_req_post_sealed_locked(struct krdma_conn *conn,
				  struct krdma_req *req,
				  const struct ib_sge *sge);
int krdma_req_add(struct krdma_conn *conn, struct krdma_req *first,
		  struct krdma_op *op, bool take, bool *space);
int krdma_req_enqueue(struct krdma_conn *conn, struct krdma_req *first,
		      struct krdma_op *op);
bool krdma_op_cancel(struct krdma_conn *conn, struct krdma_op *op, int error);
int krdma_req_post_reserved_locked(struct krdma_conn *conn,
				   struct krdma_req *req);
void krdma_wr_init(struct krdma_wr *kwr, struct krdma_conn *conn,
		   struct krdma_op *op, u8 kind);
void krdma_qp_failed(struct krdma_conn *conn, enum ib_wc_status status);

/* tx.c */
int krdma_tx_alloc(struct krdma_conn *conn);
void krdma_tx_unmap(struct krdma_conn *conn);
void krdma_tx_free(struct krdma_conn *conn);
void krdma_tx_wait(struct krdma_conn *conn);
bool krdma_tx_has_room_locked(const struct krdma_conn *conn, u32 messages);
bool krdma_tx_fits(const struct krdma_conn *conn, u32 messages);
void krdma_tx_take_locked(struct krdma_conn *conn, struct krdma_req *req);
void krdma_tx_release_locked(struct krdma_conn *conn, struct krdma_wr *kwr);
void krdma_tx_seal_control_locked(struct krdma_conn *conn,
				  struct krdma_req *req);
void krdma_tx_posted_locked(struct krdma_conn *conn, u8 type, u32 len);
void krdma_tx_kick(struct krdma_conn *conn);
int krdma_tx_enqueue(struct krdma_conn *conn, struct krdma_req *first,
		     struct krdma_op *op, bool *space);

/* write_space.c */
void krdma_space_refused_locked(struct krdma_conn *conn,
				const struct krdma_need *need);
bool krdma_space_begin_locked(struct krdma_conn *conn);
void krdma_space_tell(struct krdma_conn *conn);

/**
 * krdma_req_enter - begin a section that maps or unmaps memory of requests
 * @conn: connection in message mode
 *
 * krdma_req_leave() ends the section, and krdma_req_stop() waits for its end.
 *
 * Context: any.
 * Return: true; or false if nothing may be mapped any more, because
 * krdma_req_stop() was called.
 */
static inline bool krdma_req_enter(struct krdma_conn *conn)
{
	return atomic_inc_not_zero(&conn->sq.posters);
}

/**
 * krdma_req_leave - end a section of krdma_req_enter()
 * @conn: connection. It may be freed as soon as conn->wait.lock is released, so
 *	krdma_req_leave_last() wakes krdma_req_stop() under that lock
 *
 * Context: any.
 */
static inline void krdma_req_leave(struct krdma_conn *conn)
{
	if (!atomic_add_unless(&conn->sq.posters, -1, 1))
		krdma_req_leave_last(conn);
}

/**
 * krdma_req_max_sges - return the maximum number of pieces of a work request
 * @conn: connection with a QP
 * @req: request of the work request
 *
 * With KRDMA_QUIRK_ONE_MR a work request has only one piece of a region.
 *
 * Return: number of pieces, not counting the header of a message.
 */
static inline u32 krdma_req_max_sges(const struct krdma_conn *conn,
				     const struct krdma_req *req)
{
	if (krdma_has_quirk(conn, KRDMA_QUIRK_ONE_MR) &&
	    req->local.mem == KRDMA_MEM_REGION)
		return 1;
	if (req->opcode == KRDMA_READ)
		return conn->limits.max_read_sge;
	/* One scatter/gather entry is for the header of a message. */
	return conn->limits.max_send_sge - krdma_req_is_message(req);
}

/**
 * krdma_req_segs - return the segments of the peer's memory
 * @req: request
 *
 * Return: segments; NULL: the request uses no memory of the peer.
 */
static inline const struct krdma_seg *
krdma_req_segs(const struct krdma_req *req)
{
	if (krdma_req_is_message(req) || !req->local.len)
		return NULL;
	return req->remote ? krdma_remote_segs(req->remote) :
			     &container_of(req, struct krdma_call, req)->seg;
}

/**
 * krdma_op_post - post the requests of an operation
 * @conn: connection in message mode
 * @op: operation with at least one request, which krdma_op_add() has added
 *
 * Does not wait. Requests for which there is no room are queued.
 *
 * Context: process.
 * Return: 0; -ESHUTDOWN: krdma_close() has begun; -E2BIG: a request has too
 * many pieces; -ENOMEM; -ENOTCONN; or the reason for which the connection
 * ended. On error nothing was posted.
 */
static inline int krdma_op_post(struct krdma_conn *conn, struct krdma_op *op)
{
	return krdma_req_take(conn, &op->calls[0].req, op);
}

/**
 * krdma_op_put - drop a reference
 * @op: object to put, or NULL
 *
 * Context: any.
 */
static inline void krdma_op_put(struct krdma_op *op)
{
	if (op && refcount_dec_and_test(&op->ref))
		krdma_op_free(op);
}

#endif /* KRDMA_SQ_H */
