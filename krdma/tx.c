// SPDX-License-Identifier: GPL-2.0
/*
 * Sealing of messages: the part of the send queue for the levels integrity and
 * encrypt. A message is sealed out of place, from the memory of the user into a
 * transmit buffer, because an adapter may read memory that is mapped at any
 * time, and must not find plaintext there. The user's memory is not mapped.
 *
 * krdma_tx.lock makes one step of the following: taking slot, credit, buffer
 * and number for a message, sealing it, and posting it. It is held for one
 * message at a time. krdma_conn.lock, which disables interrupts, is only held
 * before and after the sealing, which takes long. Until the message is posted,
 * it stays in krdma_sendq.pending. A lock is used and not a flag: with
 * PREEMPT_RT a waiter lends its priority to the holder of a lock.
 *
 * Internal messages have no data, so krdma_tx_seal_control_locked() seals them
 * under krdma_conn.lock where they are posted. They may overtake a message that
 * is being sealed, so they have numbers of their own, see seal.h.
 *
 * A context that makes room on the send queue calls krdma_tx_kick() after it has
 * released krdma_conn.lock. krdma_tx_enqueue() queues a request and takes what
 * its message needs without releasing krdma_conn.lock in between, which saves
 * time for short messages.
 */
#include <linux/hardirq.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/uio.h>

#include "auth.h"
#include "sq.h"
#include "trace.h"

/* Number of transmit buffers, if the send queue has as many slots. */
#define KRDMA_TX_BUFS 16

/**
 * struct krdma_tx_buf - transmit buffer: a sealed message
 * @next: next buffer in krdma_tx.free
 * @dma: address of @msg for the device
 * @msg: memory of krdma_params.buf_size bytes
 */
struct krdma_tx_buf {
	struct krdma_tx_buf *next;
	u64 dma;
	u8 *msg;
};

/**
 * struct krdma_tx - state of sealing on a connection
 * @lock: held while a message is sealed and posted. Taken before
 *	krdma_conn.lock, and under locks of users
 * @conn: connection
 * @work: calls krdma_tx_kick() for a krdma_post() that must not seal, with a
 *	reference of the connection
 * @taken: message that is sealed next; @lock
 * @gather: memory of krdma_params.buf_size bytes, in which the pieces of a
 *	message are put together; never mapped; @lock
 * @free: transmit buffers that are not in use; krdma_conn.lock
 * @nfree: number of buffers in @free; krdma_conn.lock
 * @mapped: number of entries of @bufs that are mapped; krdma_conn.setup
 * @n: number of entries of @bufs; constant
 * @bufs: all transmit buffers; constant
 */
struct krdma_tx {
	spinlock_t lock; /* see @lock above */
	struct krdma_conn *conn;
	struct work_struct work;
	struct krdma_req *taken;
	void *gather;
	struct krdma_tx_buf *free;
	u32 nfree;
	u32 mapped;
	u32 n;
	struct krdma_tx_buf bufs[];
};

static void krdma_tx_work(struct work_struct *work)
{
	struct krdma_conn *conn =
		container_of(work, struct krdma_tx, work)->conn;

	krdma_tx_kick(conn);
	krdma_conn_put(conn);
}

/**
 * krdma_tx_alloc - allocate and map transmit buffers
 * @conn: connection with a new QP; no effect without a level that seals
 *
 * Context: process, @conn->setup held.
 * Return: 0; -ENOMEM. krdma_tx_unmap() and krdma_tx_free() undo the call, also
 * after an error.
 */
int krdma_tx_alloc(struct krdma_conn *conn)
{
	struct ib_device *ibdev = conn->cb.pd->device;
	const u32 size = conn->p.buf_size, node = conn->hw.node;
	struct krdma_tx_buf *buf;
	struct krdma_tx *tx;
	u32 n;

	lockdep_assert_held(&conn->setup);
	if (!krdma_conn_is_sealed(conn))
		return 0;
	n = min_t(u32, KRDMA_TX_BUFS, conn->limits.send_depth);
	tx = kzalloc_node(struct_size(tx, bufs, n), GFP_KERNEL, node);
	if (!tx)
		return -ENOMEM;
	spin_lock_init(&tx->lock);
	tx->conn = conn;
	INIT_WORK(&tx->work, krdma_tx_work);
	conn->sq.tx = tx;
	tx->gather = kmalloc_node(size, GFP_KERNEL, node);
	if (!tx->gather)
		return -ENOMEM;
	for (; tx->n < n; tx->n++) {
		buf = &tx->bufs[tx->n];
		buf->msg = kmalloc_node(size, GFP_KERNEL, node);
		if (!buf->msg)
			return -ENOMEM;
	}
	for (; tx->mapped < n; tx->mapped++) {
		buf = &tx->bufs[tx->mapped];
		buf->dma = ib_dma_map_single(ibdev, buf->msg, size,
					     DMA_TO_DEVICE);
		if (ib_dma_mapping_error(ibdev, buf->dma))
			return -ENOMEM;
		buf->next = tx->free;
		tx->free = buf;
	}
	tx->nfree = n;
	return 0;
}

/**
 * krdma_tx_unmap - unmap transmit buffers
 * @conn: connection whose QP is drained
 *
 * Context: process, @conn->setup held.
 */
void krdma_tx_unmap(struct krdma_conn *conn)
{
	struct krdma_tx *tx = conn->sq.tx;

	lockdep_assert_held(&conn->setup);
	while (tx && tx->mapped)
		ib_dma_unmap_single(conn->cb.pd->device,
				    tx->bufs[--tx->mapped].dma,
				    conn->p.buf_size, DMA_TO_DEVICE);
}

/**
 * krdma_tx_free - free transmit buffers
 * @conn: connection without references, whose QP is destroyed
 *
 * Context: any.
 */
void krdma_tx_free(struct krdma_conn *conn)
{
	struct krdma_tx *tx = conn->sq.tx;

	if (!tx)
		return;
	while (tx->n)
		kfree(tx->bufs[--tx->n].msg);
	kfree_sensitive(tx->gather);
	kfree(tx);
}

/**
 * krdma_tx_wait - wait until no message is being sealed
 * @conn: connection in KRDMA_CLOSING, so no other message is taken
 *
 * The wait is short: sealing does not sleep.
 *
 * Context: process.
 */
void krdma_tx_wait(struct krdma_conn *conn)
{
	struct krdma_tx *tx = conn->sq.tx;

	if (!tx)
		return;
	spin_lock_bh(&tx->lock);
	spin_unlock_bh(&tx->lock);
}

/**
 * krdma_tx_has_room_locked - check whether transmit buffers are free
 * @conn: connection in message mode
 * @messages: number of messages
 *
 * Context: any, @conn->lock held.
 * Return: true if each message can get a buffer, or needs none.
 */
bool krdma_tx_has_room_locked(const struct krdma_conn *conn, u32 messages)
{
	return !conn->sq.tx || messages <= conn->sq.tx->nfree;
}

/**
 * krdma_tx_fits - check whether the transmit buffers are ever enough
 * @conn: connection in message mode
 * @messages: number of messages that must be posted at once
 *
 * Context: any.
 * Return: true if each message can get a buffer when all buffers are free.
 */
bool krdma_tx_fits(const struct krdma_conn *conn, u32 messages)
{
	return !conn->sq.tx || messages <= conn->sq.tx->n;
}

/**
 * krdma_tx_take_locked - take a transmit buffer for the message that is sealed
 * next
 * @conn: connection; krdma_tx_has_room_locked() has returned true
 * @req: request whose message is sealed, with its final header
 *
 * Context: any, krdma_tx.lock and @conn->lock held.
 */
void krdma_tx_take_locked(struct krdma_conn *conn, struct krdma_req *req)
{
	struct krdma_tx *tx = conn->sq.tx;

	lockdep_assert_held(&tx->lock);
	lockdep_assert_held(&conn->lock);
	req->wr.tx = tx->free;
	tx->free = tx->free->next;
	tx->nfree--;
	tx->taken = req;
}

/**
 * krdma_tx_release_locked - return the transmit buffer of a message
 * @conn: connection
 * @kwr: entry whose work request has completed
 *
 * Context: any, @conn->lock held.
 */
void krdma_tx_release_locked(struct krdma_conn *conn, struct krdma_wr *kwr)
{
	struct krdma_tx *tx = conn->sq.tx;

	lockdep_assert_held(&conn->lock);
	if (!kwr->tx)
		return;
	kwr->tx->next = tx->free;
	tx->free = kwr->tx;
	tx->nfree++;
	kwr->tx = NULL;
}

/**
 * krdma_tx_posted_locked - count a sealed message that is posted now
 * @conn: connection with a level that seals
 * @type: type of the message
 * @len: number of bytes between its header and its tag
 *
 * Context: any, @conn->lock held until the message is posted.
 */
void krdma_tx_posted_locked(struct krdma_conn *conn, u8 type, u32 len)
{
	lockdep_assert_held(&conn->lock);
	krdma_count_locked(conn, KRDMA_COUNT_SEALED, 1);
	krdma_count_locked(conn, KRDMA_COUNT_SEALED + 1, len);
	if (!krdma_seal_posted(conn->auth->seal, type))
		return;
	krdma_count_locked(conn, KRDMA_COUNT_REKEYS, 1);
	trace_krdma_rekey(conn->stats.id, true,
			  conn->auth->seal->tx.messages);
}

/**
 * krdma_tx_seal_control_locked - seal an internal message that is posted now
 * @conn: connection with a level that seals
 * @req: reserved request with its final header; its tag is @req->local.virt
 *
 * Context: any, @conn->lock held until the message is posted.
 */
void krdma_tx_seal_control_locked(struct krdma_conn *conn,
				  struct krdma_req *req)
{
	struct {
		struct krdma_wire_hdr hdr;
		u8 tag[KRDMA_SEAL_TAG];
	} __packed msg = { .hdr = *krdma_req_hdr(req) };
	int ret;

	lockdep_assert_held(&conn->lock);
	ret = krdma_seal_message(conn->auth->seal, &msg, NULL, 0);
	if (WARN_ON_ONCE(ret < 0)) {
		krdma_conn_abort_locked(conn, ret);
		return;
	}
	memcpy(req->local.virt, msg.tag, sizeof(msg.tag));
	if (!req->is_inline)
		ib_dma_sync_single_for_device(conn->cb.pd->device,
					      req->sges[0].addr,
					      sizeof(msg.tag), DMA_TO_DEVICE);
	krdma_tx_posted_locked(conn, msg.hdr.type, 0);
}

static u32 krdma_tx_gather_pages(const struct krdma_data *data, u32 skip,
				 void *to)
{
	struct iov_iter iter;

	iov_iter_bvec(&iter, WRITE, data->pages, data->nents, skip + data->len);
	iov_iter_advance(&iter, skip);
	return copy_from_iter(to, data->len, &iter);
}

/*
 * Return the bytes of a message, or of a part of one. Bytes that are in several
 * pieces are copied to krdma_tx.gather. Return NULL if the pieces have become
 * shorter since krdma_post().
 */
static const void *krdma_tx_data(struct krdma_conn *conn,
				 const struct krdma_req *req)
{
	const struct krdma_wire_hdr *hdr = (const void *)req->hdr;
	const struct krdma_data *data = &req->local;
	void *gather = conn->sq.tx->gather;
	u32 copied = data->len, skip;

	/* Only a later part can begin within an entry, see krdma_parts.memory. */
	skip = hdr->offset ? data->offset : 0;
	switch (data->mem) {
	case KRDMA_MEM_VIRT:
		return data->virt;
	case KRDMA_MEM_PAGES:
		copied = krdma_tx_gather_pages(data, skip, gather);
		break;
	case KRDMA_MEM_SG:
		copied = sg_pcopy_to_buffer(data->sg, data->nents, gather,
					    data->len, skip);
		break;
	case KRDMA_MEM_REGION:
		krdma_region_read(data->region, data->offset, gather, data->len);
		break;
	default:
		break;
	}
	return copied == data->len ? gather : NULL;
}

/* Seal a message into its transmit buffer, and describe it for the adapter. */
static int krdma_tx_seal(struct krdma_conn *conn, struct krdma_req *req,
			 struct ib_sge *sge)
{
	const void *data = krdma_tx_data(conn, req);
	struct krdma_tx_buf *buf = req->wr.tx;
	int len;

	if (!data)
		return -EFAULT;
	memcpy(buf->msg, req->hdr, sizeof(req->hdr));
	len = krdma_seal_message(conn->auth->seal, buf->msg, data,
				 req->local.len);
	if (WARN_ON_ONCE(len < 0))
		return len;
	/* The driver copies inline data when they are posted. */
	req->is_inline = len <= conn->limits.max_inline;
	if (!req->is_inline)
		ib_dma_sync_single_for_device(conn->cb.pd->device, buf->dma,
					      len, DMA_TO_DEVICE);
	*sge = (struct ib_sge){
		.addr = req->is_inline ? (uintptr_t)buf->msg : buf->dma,
		.length = len,
		.lkey = conn->cb.pd->local_dma_lkey,
	};
	return 0;
}

/* Check whether requests wait. Without @conn->lock, the answer may be outdated. */
static bool krdma_tx_is_needed(const struct krdma_conn *conn)
{
	return READ_ONCE(conn->sq.npending) ||
	       !list_empty_careful(&conn->sq.urgent);
}

/*
 * Seal and post the message that krdma_tx_take_locked() has got, if there is
 * one. Return: false: there was none, or no request waits.
 */
static bool krdma_tx_finish(struct krdma_conn *conn)
{
	struct krdma_req *req = conn->sq.tx->taken;
	unsigned long flags;
	struct ib_sge sge;
	bool more;
	int ret;

	lockdep_assert_held(&conn->sq.tx->lock);
	if (!req)
		return false;
	ret = krdma_tx_seal(conn, req, &sge);
	spin_lock_irqsave(&conn->lock, flags);
	if (ret)
		krdma_conn_abort_locked(conn, ret);
	else
		krdma_req_post_sealed_locked(conn, req, &sge);
	more = krdma_tx_is_needed(conn);
	spin_unlock_irqrestore(&conn->lock, flags);
	return more;
}

/* Post the requests up to the next message. Return as krdma_tx_finish(). */
static bool krdma_tx_step(struct krdma_conn *conn)
{
	struct krdma_tx *tx = conn->sq.tx;
	unsigned long flags;

	lockdep_assert_held(&tx->lock);
	tx->taken = NULL;
	spin_lock_irqsave(&conn->lock, flags);
	krdma_req_kick_sealed_locked(conn);
	spin_unlock_irqrestore(&conn->lock, flags);
	return krdma_tx_finish(conn);
}

/*
 * Check whether this context may seal. Sealing with interrupts off would take too
 * long.
 */
static bool krdma_tx_may_seal(void)
{
	return !in_hardirq() && !irqs_disabled();
}

/**
 * krdma_tx_kick - seal and post the messages that there is room for
 * @conn: connection in message mode; no effect without a level that seals
 *
 * If interrupts are off, a work item does it.
 *
 * Context: any, without krdma_conn.lock.
 */
void krdma_tx_kick(struct krdma_conn *conn)
{
	struct krdma_tx *tx = conn->sq.tx;
	unsigned int n = 0;
	bool more;

	/* A context that adds a request later also looks for room later. */
	if (!tx || !krdma_tx_is_needed(conn))
		return;
	if (!krdma_tx_may_seal()) {
		/* krdma_tx_work() puts the reference. */
		krdma_conn_get(conn);
		if (!queue_work(krdma_wq, &tx->work))
			krdma_conn_put(conn);
		return;
	}
	/* Each completion posts more, so the rest need not wait for this call. */
	do {
		spin_lock_bh(&tx->lock);
		more = krdma_tx_step(conn);
		spin_unlock_bh(&tx->lock);
	} while (more && ++n < KRDMA_TX_BUFS);
}

/**
 * krdma_tx_enqueue - queue requests that are prepared, and seal and post the
 * messages that there is room for
 * @conn: connection with a level that seals messages; the caller has called
 *	krdma_req_enter()
 * @first: first request of a chain
 * @op: operation of the requests; NULL: requests of krdma_post()
 * @space: set to true if the caller must call krdma_space_tell()
 *
 * If no message is being sealed, krdma_conn.lock is taken once to queue the
 * requests and to take what the first message needs.
 *
 * Context: any, with bottom halves or interrupts disabled.
 * Return: 0 or an errno as krdma_post() and krdma_op_post().
 */
int krdma_tx_enqueue(struct krdma_conn *conn, struct krdma_req *first,
		     struct krdma_op *op, bool *space)
{
	struct krdma_tx *tx = conn->sq.tx;
	bool more;
	int ret;

	if (krdma_tx_may_seal() && spin_trylock(&tx->lock)) {
		tx->taken = NULL;
		ret = krdma_req_add(conn, first, op, true, space);
		more = krdma_tx_finish(conn);
		spin_unlock(&tx->lock);
	} else {
		ret = krdma_req_add(conn, first, op, false, space);
		more = !ret;
	}
	if (more)
		krdma_tx_kick(conn);
	return ret;
}
