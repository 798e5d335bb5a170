// SPDX-License-Identifier: GPL-2.0
/*
 * Messages of krdma_post() that are longer than the peer's receive buffers:
 * they are sent in parts, each with a header.
 *
 * A few parts of a message are queued at a time. When one of them has ended, its
 * request sends a later part, so that a message of any length needs the same
 * memory, slots and credits. The memory of the user is mapped once, for all
 * parts, or not at all if the level seals messages. It is not registered, so the
 * peer cannot read it as in rendezvous.c.
 *
 * The context that ends the last part ends the message: it calls done() of the
 * user's request. Parts end in order, so messages do as well.
 */
#include <linux/minmax.h>
#include <linux/slab.h>

#include "sq.h"

/*
 * Maximum number of parts of a message that are queued at a time. While some
 * are on the way to the peer, others are on the way back as completions.
 */
#define KRDMA_PARTS_MAX 8

static void krdma_part_done(struct krdma_req *req, int status);

/*
 * Take up to @len bytes of the rest of a message. Return the number of bytes,
 * which is lower if their pieces are short.
 */
static u32 krdma_part_take(struct krdma_conn *conn, struct krdma_part *part,
			   u32 len)
{
	struct krdma_span *rest = &part->parts->rest;
	struct krdma_req *whole = part->parts->req;
	u32 later = rest->left - len;

	/* Memory that is sealed is not mapped, so it has no such pieces. */
	if (krdma_conn_is_sealed(conn)) {
		part->req.local = part->parts->memory;
		krdma_data_skip(&part->parts->memory, len);
		rest->left = later;
		return len;
	}
	part->req.local = whole->local;
	rest->left = len;
	krdma_span_next(rest, part->req.few,
			min_t(u32, KRDMA_REQ_SGES,
			      krdma_req_max_sges(conn, whole)));
	len -= rest->left;
	rest->left += later;
	return len;
}

/* Let a request send the next part of its message. */
static int krdma_part_prepare(struct krdma_conn *conn, struct krdma_part *part)
{
	const u32 left = part->parts->rest.left;
	struct krdma_req *whole = part->parts->req, *req = &part->req;
	struct krdma_hdr hdr = {
		.type = KRDMA_WIRE_DATA,
		.msg_len = whole->local.len,
		.offset = whole->local.len - left,
	};

	req->opcode = KRDMA_SEND;
	req->local.len = krdma_part_take(conn, part,
					 min(left, conn->limits.part_max));
	req->done = krdma_part_done;
	req->sges = req->few;
	krdma_wr_init(&req->wr, conn, NULL, KRDMA_SEND);
	req->wr.len = req->local.len;
	req->wr.follows = hdr.offset;
	krdma_hdr_encode(krdma_req_hdr(req), &hdr);
	return krdma_conn_is_sealed(conn) ? 0 : krdma_req_map_hdr(conn, req);
}

/* Send the next part of a message by the request of a part that has ended. */
static int krdma_part_post(struct krdma_conn *conn, struct krdma_part *part)
{
	int ret;

	/* The device exists until krdma_req_leave(). */
	if (!krdma_req_enter(conn))
		return krdma_last_error(&conn->cb) ?: -ENOTCONN;
	ret = krdma_part_prepare(conn, part);
	if (!ret) {
		ret = krdma_req_enqueue(conn, &part->req, NULL);
		if (ret)
			krdma_req_unmap(conn, &part->req);
	}
	krdma_req_leave(conn);
	return ret;
}

/* Handle the end of a part. */
static void krdma_part_done(struct krdma_req *req, int status)
{
	struct krdma_part *part = container_of(req, struct krdma_part, req);
	struct krdma_parts *parts = part->parts;
	struct krdma_conn *conn = req->wr.conn;

	if (!parts->error)
		parts->error = status;
	if (!parts->error && parts->rest.left) {
		parts->error = krdma_part_post(conn, part);
		if (!parts->error)
			return;
		/* The peer has the beginning, and the rest will not follow. */
		krdma_conn_abort(conn, parts->error);
	}
	if (--parts->left)
		return;
	parts->req->wr.status = parts->error;
	krdma_req_done(parts->req);
}

/**
 * krdma_parts_prepare - prepare the first parts of a message
 * @conn: connection with a QP
 * @req: request of krdma_post() whose memory is mapped, unless the level seals
 *	messages
 *
 * Context: any.
 * Return: 0, and krdma_parts_free() undoes this; -ENOMEM.
 */
int krdma_parts_prepare(struct krdma_conn *conn, struct krdma_req *req)
{
	/* KRDMA_NOWAIT needs credits for all parts that are queued here. */
	u32 max = clamp_t(u32, conn->hello.recv_depth - 1, 1, KRDMA_PARTS_MAX);
	struct krdma_parts *parts;
	struct krdma_part *part;
	int ret;

	parts = kzalloc(struct_size(parts, part, max),
			GFP_ATOMIC | __GFP_NOWARN);
	if (!parts)
		return -ENOMEM;
	parts->req = req;
	krdma_span_begin(&parts->rest, req->sges, NULL, 0, req->local.len);
	parts->memory = req->local;
	/* Only for a region, @offset is an argument of krdma_post(). */
	if (req->local.mem != KRDMA_MEM_REGION)
		parts->memory.offset = 0;
	req->parts = parts;
	while (parts->left < max && parts->rest.left) {
		part = &parts->part[parts->left];
		part->parts = parts;
		ret = krdma_part_prepare(conn, part);
		if (ret) {
			krdma_parts_free(conn, req);
			return ret;
		}
		parts->left++;
	}
	parts->part[0].req.flags = req->flags;
	req->wr.slots = parts->left;
	return 0;
}

/**
 * krdma_parts_free - free the parts of a message
 * @conn: connection with a QP
 * @req: request after krdma_parts_prepare(). Its parts are not queued, or have
 *	all ended
 *
 * Context: any.
 */
void krdma_parts_free(struct krdma_conn *conn, struct krdma_req *req)
{
	struct krdma_parts *parts = req->parts;

	while (parts->left)
		krdma_req_unmap(conn, &parts->part[--parts->left].req);
	req->parts = NULL;
	kfree_rcu(parts, rcu);
}
