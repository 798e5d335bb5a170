/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Queues in memory that a program maps, in the layout of
 * <rdma/rdma_user_rxe.h>. All functions are pure: they use only their arguments.
 *
 * The program may write anything to this memory at any time. So this side has
 * its own index and size, reads each word of the program once, and validates
 * the copy.
 */
#ifndef NTRDMA_UQUEUE_H
#define NTRDMA_UQUEUE_H

#include <rdma/ib_verbs.h>
#include <rdma/rdma_user_rxe.h>

#include "wire.h"

/* Maximum SGEs of a work request, and bytes of inline data in their place. */
#define NTRDMA_UWR_SGES		32
#define NTRDMA_UWR_DATA		(NTRDMA_UWR_SGES * sizeof(struct ib_sge))

/**
 * struct ntrdma_uqueue - queue in memory that a program maps
 * @buf: header and elements
 * @mask: number of elements - 1; the queue is full with @mask elements
 * @shift: log2 of the size of an element
 * @index: position of the next element that this side adds or takes, at most
 *	@mask
 * @entry: key of the mapping; only for the owner
 */
struct ntrdma_uqueue {
	struct rxe_queue_buf *buf;
	u32 mask;
	u8 shift;
	u32 index;
	struct rdma_user_mmap_entry *entry;
};

/**
 * struct ntrdma_uwr - copy of a work request that a program has written
 * @wr: request
 * @num_sge: number of entries of @sge; 0 if the request has inline data
 * @bytes: bytes of @data, if the request has inline data
 * @sge: memory
 * @data: inline data
 */
struct ntrdma_uwr {
	struct rxe_send_wr wr;
	u32 num_sge;
	u32 bytes;
	union {
		struct ib_sge sge[NTRDMA_UWR_SGES];
		u8 data[NTRDMA_UWR_DATA];
	};
};

u8 ntrdma_uqueue_shift(size_t bytes);
size_t ntrdma_uqueue_bytes(u32 mask, u8 shift);
void ntrdma_uqueue_init(struct ntrdma_uqueue *queue, void *buf, u32 mask,
			u8 shift);
bool ntrdma_uqueue_add(struct ntrdma_uqueue *queue, const void *elem,
		       size_t bytes);
u32 ntrdma_uqueue_added(const struct ntrdma_uqueue *queue);
u32 ntrdma_uqueue_count(const struct ntrdma_uqueue *queue);
const void *ntrdma_uqueue_next(const struct ntrdma_uqueue *queue);
void ntrdma_uqueue_take(struct ntrdma_uqueue *queue);
void ntrdma_uqueue_release(struct ntrdma_uqueue *queue, u32 kept);
void ntrdma_uqueue_drop(struct ntrdma_uqueue *queue);

size_t ntrdma_uwr_bytes(u32 max_sge, u32 max_inline);
int ntrdma_uwr_read(struct ntrdma_uwr *to, const void *elem, u32 max_sge,
		    u32 max_inline);
size_t ntrdma_urecv_bytes(u32 max_sge);
u32 ntrdma_urecv_read(const void *elem, u32 max_sge, u64 *wr_id,
		      struct ib_sge *sge, u32 *bytes);
struct ib_uverbs_wc ntrdma_uwc(const struct ib_wc *wc);

#endif /* NTRDMA_UQUEUE_H */
