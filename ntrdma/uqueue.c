// SPDX-License-Identifier: GPL-2.0
/*
 * Queues in memory that a program maps; see uqueue.h.
 *
 * The library of the program keeps each index at most at the mask. It adds an
 * element, then stores the index with release semantics, and expects the same
 * of the kernel. An index of the program beyond the mask is never followed: the
 * queue is empty for the side that takes, and full for the side that adds.
 */
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/string.h>

#include "uqueue.h"

/* Smallest element, as the library expects it: a cache line. */
#define NTRDMA_UQUEUE_ELEM_MIN	64

#define NTRDMA_UWR_FLAGS \
	(IB_SEND_FENCE | IB_SEND_SIGNALED | IB_SEND_SOLICITED | IB_SEND_INLINE)

static_assert(sizeof(struct ib_sge) == sizeof(struct rxe_sge));
static_assert(offsetof(struct ib_sge, length) ==
	      offsetof(struct rxe_sge, length));
static_assert(offsetof(struct ib_sge, lkey) == offsetof(struct rxe_sge, lkey));

/**
 * ntrdma_uqueue_shift - return the size of the elements of a queue
 * @bytes: bytes of an element that are used
 *
 * Return: log2 of the size.
 */
u8 ntrdma_uqueue_shift(size_t bytes)
{
	return order_base_2(max_t(size_t, bytes, NTRDMA_UQUEUE_ELEM_MIN));
}

/**
 * ntrdma_uqueue_bytes - return the size of the memory of a queue
 * @mask: number of elements - 1
 * @shift: log2 of the size of an element
 *
 * Return: bytes; %SIZE_MAX if they do not fit a size_t.
 */
size_t ntrdma_uqueue_bytes(u32 mask, u8 shift)
{
	return size_add(sizeof(struct rxe_queue_buf),
			size_mul((size_t)mask + 1, BIT(shift)));
}

/**
 * ntrdma_uqueue_init - begin to use memory as a queue
 * @queue: queue
 * @buf: memory, filled with zeros
 * @mask: number of elements - 1; the number is a power of 2
 * @shift: log2 of the size of an element
 */
void ntrdma_uqueue_init(struct ntrdma_uqueue *queue, void *buf, u32 mask,
			u8 shift)
{
	queue->buf = buf;
	queue->mask = mask;
	queue->shift = shift;
	queue->index = 0;
	queue->buf->log2_elem_size = shift;
	queue->buf->index_mask = mask;
}

static void *ntrdma_uqueue_elem(const struct ntrdma_uqueue *queue)
{
	return queue->buf->data + ((size_t)queue->index << queue->shift);
}

static u32 ntrdma_uqueue_after(const struct ntrdma_uqueue *queue)
{
	return (queue->index + 1) & queue->mask;
}

/**
 * ntrdma_uqueue_add - add an element for the program
 * @queue: queue that the program takes from
 * @elem: element
 * @bytes: size of @elem
 *
 * Return: false if the queue is full, or the index of the program is invalid.
 */
bool ntrdma_uqueue_add(struct ntrdma_uqueue *queue, const void *elem,
		       size_t bytes)
{
	/* The program has read an element before it stores the index. */
	u32 cons = smp_load_acquire(&queue->buf->consumer_index);
	u32 after = ntrdma_uqueue_after(queue);

	if (cons > queue->mask || after == cons)
		return false;
	memcpy(ntrdma_uqueue_elem(queue), elem, bytes);
	queue->index = after;
	smp_store_release(&queue->buf->producer_index, after); /* the library */
	return true;
}

/**
 * ntrdma_uqueue_added - return how many elements the program has not taken
 * @queue: queue that the program takes from
 *
 * Return: number of elements.
 */
u32 ntrdma_uqueue_added(const struct ntrdma_uqueue *queue)
{
	u32 cons = READ_ONCE(queue->buf->consumer_index);

	return (queue->index - cons) & queue->mask;
}

/**
 * ntrdma_uqueue_count - return how many elements the program has added
 * @queue: queue that the program adds to
 *
 * Return: number of elements that are not taken; 0 if the index of the program
 * is invalid.
 */
u32 ntrdma_uqueue_count(const struct ntrdma_uqueue *queue)
{
	/* The program has written the elements before it stores the index. */
	u32 prod = smp_load_acquire(&queue->buf->producer_index);

	if (prod > queue->mask)
		return 0;
	return (prod - queue->index) & queue->mask;
}

/**
 * ntrdma_uqueue_next - return the next element that the program has added
 * @queue: queue that the program adds to
 *
 * Return: element, which the program may change at any time; NULL if there is
 * none.
 */
const void *ntrdma_uqueue_next(const struct ntrdma_uqueue *queue)
{
	return ntrdma_uqueue_count(queue) ? ntrdma_uqueue_elem(queue) : NULL;
}

/**
 * ntrdma_uqueue_take - continue behind the element of ntrdma_uqueue_next()
 * @queue: queue that the program adds to
 */
void ntrdma_uqueue_take(struct ntrdma_uqueue *queue)
{
	queue->index = ntrdma_uqueue_after(queue);
}

/**
 * ntrdma_uqueue_release - let the program use elements again
 * @queue: queue that the program adds to
 * @kept: number of elements, of those that were taken last, which the program
 *	must not use again yet
 */
void ntrdma_uqueue_release(struct ntrdma_uqueue *queue, u32 kept)
{
	/* The elements were read before; pairs with the library. */
	smp_store_release(&queue->buf->consumer_index,
			  (queue->index - kept) & queue->mask);
}

/**
 * ntrdma_uqueue_drop - drop all elements that the program has added
 * @queue: queue that the program adds to
 */
void ntrdma_uqueue_drop(struct ntrdma_uqueue *queue)
{
	queue->index = (queue->index + ntrdma_uqueue_count(queue)) &
		       queue->mask;
	ntrdma_uqueue_release(queue, 0);
}

/*
 * Copy memory that the program may change. The barrier keeps the compiler from
 * reading the memory of the program again instead of the copy.
 */
static void ntrdma_ucopy(void *to, const void *from, size_t bytes)
{
	memcpy(to, from, bytes);
	barrier();
}

/**
 * ntrdma_uwr_bytes - return the size of a work request of a program
 * @max_sge: maximum number of SGEs
 * @max_inline: maximum inline data, in bytes
 *
 * Return: bytes.
 */
size_t ntrdma_uwr_bytes(u32 max_sge, u32 max_inline)
{
	return sizeof(struct rxe_send_wqe) +
	       max_t(size_t, max_sge * sizeof(struct rxe_sge), max_inline);
}

/**
 * ntrdma_uwr_read - copy and validate a work request of a program
 * @to: where to store the copy; the member wr is valid even after an error
 * @elem: element of the queue, at least ntrdma_uwr_bytes() long
 * @max_sge: maximum number of SGEs, at most %NTRDMA_UWR_SGES
 * @max_inline: maximum inline data, at most %NTRDMA_UWR_DATA
 *
 * Opcode and keys are not validated. Flags that the device does not know are
 * removed.
 *
 * Return: 0, or -EINVAL if the request has too much of anything.
 */
int ntrdma_uwr_read(struct ntrdma_uwr *to, const void *elem, u32 max_sge,
		    u32 max_inline)
{
	const struct rxe_send_wqe *wqe = elem;
	struct rxe_dma_info dma;

	ntrdma_ucopy(&to->wr, &wqe->wr, sizeof(to->wr));
	ntrdma_ucopy(&dma, &wqe->dma, sizeof(dma));
	to->wr.send_flags &= NTRDMA_UWR_FLAGS;
	to->num_sge = 0;
	to->bytes = 0;
	/* ibv_wr_set_inline_data() of the library sets no flag. */
	if (!dma.num_sge && dma.length)
		to->wr.send_flags |= IB_SEND_INLINE;
	if (to->wr.send_flags & IB_SEND_INLINE) {
		if (dma.length > max_inline)
			return -EINVAL;
		to->bytes = dma.length;
		ntrdma_ucopy(to->data, wqe->dma.inline_data, dma.length);
		return 0;
	}
	if (dma.num_sge > max_sge)
		return -EINVAL;
	to->num_sge = dma.num_sge;
	ntrdma_ucopy(to->sge, wqe->dma.sge, dma.num_sge * sizeof(*to->sge));
	return 0;
}

/**
 * ntrdma_urecv_bytes - return the size of a receive of a program
 * @max_sge: maximum number of SGEs
 *
 * Return: bytes.
 */
size_t ntrdma_urecv_bytes(u32 max_sge)
{
	return sizeof(struct rxe_recv_wqe) + max_sge * sizeof(struct rxe_sge);
}

/**
 * ntrdma_urecv_read - copy and validate a receive of a program
 * @elem: element of the queue, at least ntrdma_urecv_bytes() long
 * @max_sge: maximum number of SGEs
 * @wr_id: where to store the number of the request
 * @sge: where to store the SGEs, room for @max_sge
 * @bytes: where to store the sum of their lengths
 *
 * A receive that has too much of anything has no memory.
 *
 * Return: number of SGEs.
 */
u32 ntrdma_urecv_read(const void *elem, u32 max_sge, u64 *wr_id,
		      struct ib_sge *sge, u32 *bytes)
{
	const struct rxe_recv_wqe *wqe = elem;
	u32 num_sge = READ_ONCE(wqe->dma.num_sge);
	u64 sum = 0;
	u32 i;

	*wr_id = READ_ONCE(wqe->wr_id);
	*bytes = 0;
	if (num_sge > max_sge)
		return 0;
	ntrdma_ucopy(sge, wqe->dma.sge, num_sge * sizeof(*sge));
	for (i = 0; i < num_sge; i++)
		sum += sge[i].length;
	if (sum > U32_MAX)
		return 0;
	*bytes = sum;
	return num_sge;
}

/**
 * ntrdma_uwc - return a completion as programs see it
 * @wc: completion
 *
 * Return: completion without pointers of the kernel.
 */
struct ib_uverbs_wc ntrdma_uwc(const struct ib_wc *wc)
{
	return (struct ib_uverbs_wc){
		.wr_id = wc->wr_id,
		.status = wc->status,
		.opcode = wc->opcode,
		.vendor_err = wc->vendor_err,
		.byte_len = wc->byte_len,
		.ex.invalidate_rkey = wc->ex.invalidate_rkey,
		.qp_num = wc->qp->qp_num,
		.src_qp = wc->src_qp,
		.wc_flags = wc->wc_flags & (IB_WC_GRH | IB_WC_WITH_IMM),
		.pkey_index = wc->pkey_index,
		.port_num = wc->port_num,
	};
}
