// SPDX-License-Identifier: GPL-2.0
/*
 * Requests: operations that a user posts by krdma_post(), or that krdma posts
 * by krdma_op_post().
 *
 * A request is checked and mapped in the caller's context. Then it goes to the
 * send queue, see sq.c.
 */
#include <linux/bvec.h>
#include <linux/export.h>
#include <linux/mm.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "region.h"
#include "span.h"
#include "sq.h"

#define KRDMA_REQ_FLAGS (KRDMA_NOWAIT | KRDMA_FENCE)

static bool krdma_req_is_atomic(const struct krdma_req *req)
{
	return req->opcode == KRDMA_FETCH_ADD || req->opcode == KRDMA_CMP_SWAP;
}

/*
 * Check whether a message is longer than the peer's receive buffers. Internal
 * messages are not. They are prepared before the size of these buffers is known.
 */
static bool krdma_req_is_in_parts(const struct krdma_conn *conn,
				  const struct krdma_req *req)
{
	return krdma_req_is_message(req) && !req->wr.reserved &&
	       req->local.len > conn->limits.part_max;
}

static bool krdma_req_has_hdr(const struct krdma_conn *conn,
			      const struct krdma_req *req)
{
	return (krdma_req_is_message(req) && !krdma_req_is_sealed(conn, req) &&
		!krdma_req_is_in_parts(conn, req)) ||
	       krdma_req_tells_after(conn, req);
}

static enum dma_data_direction krdma_req_dir(const struct krdma_req *req)
{
	return krdma_is_fetch(req->opcode) ? DMA_FROM_DEVICE : DMA_TO_DEVICE;
}

/* ---- checking ---- */

static bool krdma_data_ok(const struct krdma_data *data)
{
	switch (data->mem) {
	case KRDMA_MEM_NONE:
		return !data->len;
	case KRDMA_MEM_VIRT:
		return data->virt && data->len &&
		       krdma_dma_virt_ok(data->virt, data->len);
	case KRDMA_MEM_PAGES:
	case KRDMA_MEM_SG:
		return data->nents && data->len;
	case KRDMA_MEM_REGION:
		return data->region && data->len;
	default:
		return false;
	}
}

static int krdma_req_check_remote(const struct krdma_conn *conn,
				  const struct krdma_req *req)
{
	const struct ib_device *ibdev = conn->cb.pd->device;

	if (!req->remote || !req->local.len)
		return -EINVAL;
	if (req->opcode == KRDMA_WRITE_IMM && !krdma_peer_takes_imm(conn))
		return -EOPNOTSUPP;
	if (!krdma_range_ok(krdma_remote_size(req->remote), req->remote_offset,
			    req->local.len))
		return -EMSGSIZE;
	if (krdma_req_is_atomic(req)) {
		if (ibdev->attrs.atomic_cap == IB_ATOMIC_NONE)
			return -EOPNOTSUPP;
		if (req->local.len != sizeof(u64) ||
		    !krdma_remote_is_aligned(req->remote, req->remote_offset))
			return -EINVAL;
		return 0;
	}
	/*
	 * On iWARP the target of a READ must be remotely writable (RFC 5040
	 * 5.3), and only a region can be.
	 */
	if (req->opcode == KRDMA_READ && rdma_protocol_iwarp(ibdev, 1) &&
	    req->local.mem != KRDMA_MEM_REGION)
		return -EOPNOTSUPP;
	return 0;
}

static int krdma_req_check(const struct krdma_conn *conn,
			   const struct krdma_req *req)
{
	const struct krdma_data *local = &req->local;

	if (req->opcode >= KRDMA_OPCODES || !req->done ||
	    req->flags & ~(u32)KRDMA_REQ_FLAGS || !krdma_data_ok(local))
		return -EINVAL;
	if (krdma_conn_is_sealed(conn) && req->opcode != KRDMA_SEND)
		return -EOPNOTSUPP;
	/*
	 * The header of a message is a member of the request, and is mapped by
	 * its linear address.
	 */
	if (krdma_req_takes_credit(req) &&
	    (is_vmalloc_addr(req) || !krdma_dma_virt_ok(req, sizeof(*req))))
		return -EINVAL;
	if (local->mem == KRDMA_MEM_REGION &&
	    (!krdma_region_is_of(local->region, conn) ||
	     !krdma_region_may_move(local->region, krdma_req_dir(req)) ||
	     !krdma_range_ok(krdma_region_size(local->region), local->offset,
			     local->len)))
		return -EINVAL;
	if (!krdma_req_is_message(req))
		return krdma_req_check_remote(conn, req);
	if (req->opcode == KRDMA_SEND)
		return local->len <= conn->hello.max_msg ? 0 : -EMSGSIZE;
	if (local->len > conn->limits.part_max)
		return -EMSGSIZE;
	/*
	 * A message can invalidate only one key, so there must be one segment.
	 */
	if (!req->remote || krdma_remote_nsegs(req->remote) != 1)
		return -EINVAL;
	return krdma_peer_takes_inv(conn) ? 0 : -EOPNOTSUPP;
}

/* ---- mapping ---- */

/*
 * Count the pieces of memory. vmalloc() memory is split at page boundaries. All
 * memory is split into pieces of at most krdma_conn.limits.max_map bytes, the
 * longest mapping: 256 KiB with bounce buffers.
 */
static u64 krdma_data_pieces(const struct krdma_conn *conn,
			     const struct krdma_data *data)
{
	u32 max = conn->limits.max_map, i;
	struct scatterlist *sg;
	u64 n = 0;

	switch (data->mem) {
	case KRDMA_MEM_VIRT:
		if (!is_vmalloc_addr(data->virt))
			return DIV_ROUND_UP_ULL(data->len, max);
		n = (u64)offset_in_page(data->virt) + data->len;
		return DIV_ROUND_UP_ULL(n, PAGE_SIZE);
	case KRDMA_MEM_PAGES:
		for (i = 0; i < data->nents; i++)
			n += DIV_ROUND_UP_ULL(data->pages[i].bv_len, max);
		return n;
	case KRDMA_MEM_SG:
		for_each_sg(data->sg, sg, data->nents, i)
			n += DIV_ROUND_UP_ULL(sg->length, max);
		return n;
	case KRDMA_MEM_REGION:
		return krdma_region_pieces(data->region, data->offset,
					   data->len);
	default:
		return 0;
	}
}

/*
 * Map memory that begins in @page. The memory is contiguous, and may extend
 * beyond the page.
 */
static int krdma_req_add_page(struct krdma_conn *conn, struct krdma_req *req,
			      struct page *page, u32 offset, u32 len)
{
	struct ib_device *ibdev = conn->cb.pd->device;
	u32 part;
	u64 dma;

	if (!len || !krdma_dma_page_ok(page))
		return -EINVAL;
	for (; len; len -= part) {
		part = min(len, conn->limits.max_map);
		page += offset >> PAGE_SHIFT;
		offset = offset_in_page(offset);
		dma = ib_dma_map_page(ibdev, page, offset, part,
				      krdma_req_dir(req));
		if (ib_dma_mapping_error(ibdev, dma))
			return -ENOMEM;
		req->sges[req->nsges++] = (struct ib_sge){
			.addr = dma,
			.length = part,
			.lkey = conn->cb.pd->local_dma_lkey,
		};
		offset += part;
	}
	return 0;
}

static int krdma_req_map_virt(struct krdma_conn *conn, struct krdma_req *req)
{
	void *virt = req->local.virt;
	u32 left = req->local.len, len;
	int ret = 0;

	if (!is_vmalloc_addr(virt))
		return krdma_req_add_page(conn, req, virt_to_page(virt),
					  offset_in_page(virt), left);
	while (left && !ret) {
		len = min_t(u32, left, PAGE_SIZE - offset_in_page(virt));
		ret = krdma_req_add_page(conn, req, vmalloc_to_page(virt),
					 offset_in_page(virt), len);
		virt += len;
		left -= len;
	}
	return ret;
}

static int krdma_req_map_data(struct krdma_conn *conn, struct krdma_req *req)
{
	const struct krdma_data *local = &req->local;
	const struct bio_vec *bv;
	struct scatterlist *sg;
	u32 total = 0, i;
	int ret = 0;

	switch (local->mem) {
	case KRDMA_MEM_VIRT:
		return krdma_req_map_virt(conn, req);
	case KRDMA_MEM_PAGES:
		for (i = 0; i < local->nents && !ret; i++) {
			bv = &local->pages[i];
			total += bv->bv_len;
			ret = krdma_req_add_page(conn, req, bv->bv_page,
						 bv->bv_offset, bv->bv_len);
		}
		break;
	case KRDMA_MEM_SG:
		for_each_sg(local->sg, sg, local->nents, i) {
			total += sg->length;
			ret = krdma_req_add_page(conn, req, sg_page(sg),
						 sg->offset, sg->length);
			if (ret)
				break;
		}
		break;
	case KRDMA_MEM_REGION:
		req->nsges = krdma_region_sges(local->region, local->offset,
					       local->len, req->sges);
		return 0;
	default:
		return 0;
	}
	if (!ret && total != local->len)
		ret = -EINVAL;
	return ret;
}

/* Check whether a piece of memory can be read, and count its bytes. */
static bool krdma_piece_ok(const struct page *page, u32 len, u64 *total)
{
	*total += len;
	return len && krdma_dma_page_ok(page);
}

/* Check whether the pieces of memory add up to its length. */
static bool krdma_data_adds_up(const struct krdma_data *data)
{
	struct scatterlist *sg;
	bool ok = true;
	u64 total = 0;
	u32 i;

	switch (data->mem) {
	case KRDMA_MEM_PAGES:
		for (i = 0; i < data->nents && ok; i++)
			ok = krdma_piece_ok(data->pages[i].bv_page,
					    data->pages[i].bv_len, &total);
		break;
	case KRDMA_MEM_SG:
		for_each_sg(data->sg, sg, data->nents, i)
			ok &= krdma_piece_ok(sg_page(sg), sg->length, &total);
		break;
	default:
		return true;
	}
	return ok && total == data->len;
}

/**
 * krdma_req_unmap - undo krdma_req_prepare()
 * @conn: connection with a QP
 * @req: request that is prepared and not on the send queue. A region stays
 *	mapped
 *
 * Context: any.
 */
void krdma_req_unmap(struct krdma_conn *conn, struct krdma_req *req)
{
	struct ib_device *ibdev = conn->cb.pd->device;
	u32 i;

	if (req->parts)
		krdma_parts_free(conn, req);
	if (krdma_req_has_hdr(conn, req) && !req->is_inline)
		ib_dma_unmap_single(ibdev, req->hdr_dma, sizeof(req->hdr),
				    DMA_TO_DEVICE);
	if (!req->is_inline && req->local.mem != KRDMA_MEM_REGION)
		for (i = 0; i < req->nsges; i++)
			ib_dma_unmap_page(ibdev, req->sges[i].addr,
					  req->sges[i].length,
					  krdma_req_dir(req));
	if (req->sges != req->few)
		kfree(req->sges);
}

/**
 * krdma_req_map_hdr - map the header of a message
 * @conn: connection with a QP
 * @req: request that sends the message, or a part of one
 *
 * Context: any.
 * Return: 0, and krdma_req_unmap() undoes this; -ENOMEM.
 */
int krdma_req_map_hdr(struct krdma_conn *conn, struct krdma_req *req)
{
	struct ib_device *ibdev = conn->cb.pd->device;

	req->hdr_dma = ib_dma_map_single(ibdev, req->hdr, sizeof(req->hdr),
					 DMA_TO_DEVICE);
	return ib_dma_mapping_error(ibdev, req->hdr_dma) ? -ENOMEM : 0;
}

static int krdma_req_map(struct krdma_conn *conn, struct krdma_req *req)
{
	u64 pieces = krdma_data_pieces(conn, &req->local);
	int ret;

	if (pieces > U16_MAX)
		return -E2BIG;
	if (pieces > KRDMA_REQ_SGES) {
		req->sges = kmalloc_array(pieces, sizeof(*req->sges),
					  GFP_ATOMIC | __GFP_NOWARN);
		if (!req->sges)
			return -ENOMEM;
	}
	if (krdma_req_has_hdr(conn, req)) {
		ret = krdma_req_map_hdr(conn, req);
		if (ret) {
			if (req->sges != req->few)
				kfree(req->sges);
			return ret;
		}
	}
	ret = krdma_req_map_data(conn, req);
	if (ret)
		krdma_req_unmap(conn, req);
	return ret;
}

/* ---- preparing ---- */

/**
 * krdma_req_done - unmap a request that has ended, and call its done()
 * @req: request after krdma_wr_end_locked(). It may be freed
 *
 * Context: any.
 */
void krdma_req_done(struct krdma_req *req)
{
	struct krdma_op *op = req->wr.op;

	if (!req->wr.reserved)
		krdma_req_unmap(req->wr.conn, req);
	if (req->done)
		req->done(req, req->wr.status);
	krdma_op_put(op);
}

/*
 * Prepare a message that is sealed. Nothing is mapped: tx.c copies the message
 * to a buffer when it seals it.
 */
static int krdma_req_prepare_sealed(struct krdma_conn *conn,
				    struct krdma_req *req)
{
	if (!krdma_data_adds_up(&req->local))
		return -EINVAL;
	/* Each part of a message walks over the pieces before it. */
	if (req->local.nents > U16_MAX)
		return -E2BIG;
	req->wr.slots = 1;
	return krdma_req_is_in_parts(conn, req) ?
	       krdma_parts_prepare(conn, req) : 0;
}

/**
 * krdma_req_prepare - map the memory of a request, and count its slots
 * @conn: connection with a QP
 * @req: request. Its krdma_req.wr and its header are initialized
 *
 * A message or an atomic must be one work request, and all work requests must
 * fit into the send queue at once. A message of krdma_post() that is longer than
 * the peer's receive buffers is split, see parts.c.
 *
 * Context: any.
 * Return: 0, and krdma_req_unmap() undoes this; -E2BIG: too many pieces or work
 * requests; -EINVAL: a piece is empty, cannot be mapped, or the lengths of the
 * pieces do not add up; -ENOMEM.
 */
int krdma_req_prepare(struct krdma_conn *conn, struct krdma_req *req)
{
	bool in_parts = krdma_req_is_in_parts(conn, req);
	u32 len = req->local.len, n;
	int ret;

	req->parts = NULL;
	req->sges = req->few;
	req->nsges = 0;
	req->is_inline = false;
	if (req->opcode >= KRDMA_OPCODES)
		return 0;
	if (krdma_req_is_sealed(conn, req))
		return krdma_req_prepare_sealed(conn, req);
	/* The driver copies inline data when they are posted. */
	if (krdma_req_is_message(req))
		len += sizeof(req->hdr);
	else if (krdma_req_tells_after(conn, req))
		len = max_t(u32, len, sizeof(req->hdr));
	if (len <= conn->limits.max_inline && !krdma_is_fetch(req->opcode) &&
	    !in_parts && req->local.mem <= KRDMA_MEM_VIRT) {
		req->is_inline = true;
		req->nsges = !!req->local.len;
		req->few[0] = (struct ib_sge){
			.addr = (uintptr_t)req->local.virt,
			.length = req->local.len,
		};
	} else {
		ret = krdma_req_map(conn, req);
		if (ret)
			return ret;
	}
	if (in_parts) {
		ret = krdma_parts_prepare(conn, req);
		if (ret)
			krdma_req_unmap(conn, req);
		return ret;
	}
	n = 1;
	if (req->nsges > krdma_req_max_sges(conn, req) || krdma_req_segs(req))
		n = krdma_span_count(req->sges, krdma_req_segs(req),
				     req->remote_offset, req->local.len,
				     krdma_req_max_sges(conn, req));
	n += krdma_req_tells_after(conn, req);
	if (n > conn->limits.send_depth ||
	    (n > 1 && (krdma_req_is_message(req) || krdma_req_is_atomic(req)))) {
		krdma_req_unmap(conn, req);
		return -E2BIG;
	}
	req->wr.slots = n;
	return 0;
}

/* Prepare a request of krdma_post(). */
static int krdma_req_prepare_users(struct krdma_conn *conn,
				   struct krdma_req *req)
{
	struct krdma_hdr hdr = { .type = KRDMA_WIRE_DATA };
	int ret = krdma_req_check(conn, req);

	if (ret)
		return ret;
	krdma_wr_init(&req->wr, conn, NULL, req->opcode);
	req->wr.len = req->local.len;
	req->wr.bulk = !krdma_req_is_message(req);
	if (req->opcode == KRDMA_WRITE_IMM) {
		hdr.type = KRDMA_WIRE_WRITTEN;
		hdr.msg_id = req->imm;
	} else {
		hdr.msg_len = req->local.len;
	}
	krdma_hdr_encode(krdma_req_hdr(req), &hdr);
	return krdma_req_prepare(conn, req);
}

/**
 * krdma_req_take - prepare the requests of a chain, and post or queue them
 * @conn: connection in message mode
 * @first: first request
 * @op: operation of the requests; NULL: requests of krdma_post()
 *
 * Context: any.
 * Return: as krdma_post() and krdma_op_post(). On error nothing was posted.
 */
int krdma_req_take(struct krdma_conn *conn, struct krdma_req *first,
		   struct krdma_op *op)
{
	struct krdma_req *req, *end;
	int ret = 0;

	/* The device exists until krdma_req_leave(). */
	if (!krdma_req_enter(conn))
		return krdma_last_error(&conn->cb) ?: -ENOTCONN;
	for (end = first; end; end = end->next) {
		ret = op ? krdma_req_prepare(conn, end) :
			   krdma_req_prepare_users(conn, end);
		if (ret)
			break;
	}
	if (!ret)
		ret = krdma_req_enqueue(conn, first, op);
	/* After an error, only the requests before @end are prepared. */
	for (req = first; ret && req != end; req = req->next)
		krdma_req_unmap(conn, req);
	krdma_req_leave(conn);
	return ret;
}

/**
 * krdma_post - post a request, or a chain of them
 * @cb: established connection in message mode
 * @req: first request of a chain, which continues in &krdma_req.next. Either
 *	all requests of the chain are taken or none
 *
 * Does not wait. Requests are queued, up to 4096 of them, while there is no
 * room, and are posted in order when there is. There is no room if the send
 * queue is full, or a message lacks a credit. There is also no room if the
 * bytes of the READs and WRITEs in flight reach their limit, which follows from
 * &krdma_params.keepalive_ms.
 *
 * With KRDMA_NOWAIT the call fails if there is no room. A chain with
 * KRDMA_NOWAIT needs room for the bytes of its first request, and slots and
 * credits for all its requests. A message that is sent in parts counts as up to
 * 8 requests. With a level that seals messages, such a chain has at most 16 of
 * them, or &krdma_params.send_depth, and the call also fails while another
 * message is being sealed. On siw requests are also queued while they wait
 * for earlier READs, whatever flag is set.
 *
 * For each request that was taken @done is called, exactly once. It may run
 * before this returns.
 *
 * Context: any.
 * Return: 0; -EINVAL: a request is invalid, or @cb is not in message mode;
 * -EMSGSIZE: a request exceeds the peer's memory, or a message is longer than
 * the peer accepts; -E2BIG: a request's memory has too many pieces, a message continues
 * in a second MR (on siw, 1 MiB each), or there is never room for the chain;
 * -EOPNOTSUPP: the device, the peer or the level of security does not support the
 * request; -EAGAIN: there is no room, and &krdma_ops.write_space is called when
 * there is;
 * -ENOMEM; -ENOTCONN; or the reason for which the connection ended. On error no
 * @done is called.
 */
int krdma_post(struct krdma_cb *cb, struct krdma_req *req)
{
	struct krdma_conn *conn = krdma_conn(cb);
	int ret;

	ret = krdma_conn_check_open(conn);
	if (ret)
		return ret;
	/* The checks of a request would refuse it for a less helpful reason. */
	if (READ_ONCE(cb->state) != KRDMA_ESTABLISHED)
		return krdma_last_error(cb) ?: -ENOTCONN;
	return krdma_req_take(conn, req, NULL);
}
EXPORT_SYMBOL_NS_GPL(krdma_post, KRDMA_NS);
