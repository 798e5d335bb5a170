// SPDX-License-Identifier: GPL-2.0
/*
 * MRs for fast registration (FRWR), and the pool of a connection.
 *
 * Regions are short-lived: a long message has one for each CHUNK at the sender,
 * and one at the receiver. So MRs of freed regions are kept for the next ones,
 * up to krdma_params.mr_pool, and freed with the connection. The core's own
 * pool (rdma/mr_pool.h) allocates all its MRs in advance and in the largest
 * size. Each idle connection would hold that memory. Also, it does not check
 * the state of an MR that is returned.
 *
 * An MR may be mapped again only when it is known to be invalid. Until then the
 * adapter uses the old mapping: rxe of 6.1 reads the page list itself. An MR is
 * known to be invalid if invalidating it has succeeded. After a flush or an
 * error its state is unknown, and the MR is destroyed.
 *
 * Each registration has another key, of which the lowest eight bits change. An
 * MR that has used all keys is destroyed. Otherwise a key that a peer got long
 * ago would be valid again.
 */
#include <linux/random.h>
#include <linux/slab.h>

#include "region.h"

/* Number of keys of an MR. */
#define KRDMA_FRWR_KEYS 256

/* Default number of MRs that a connection keeps on hardware adapters. */
#define KRDMA_FRWR_DEFAULT 16

/**
 * krdma_frwr_max - return the size of the pool of MRs
 * @conn: connection with a device
 *
 * Software devices have no pool by default. There an MR costs only its memory.
 * Also, they check a key before they copy the bytes of a packet, so that a copy
 * may continue while the key becomes invalid. rxe waits for that copy only when
 * an MR is destroyed (rxe_mr_cleanup(); Linux 6.1 to 7.3).
 *
 * Return: number of MRs, possibly 0.
 */
u32 krdma_frwr_max(const struct krdma_conn *conn)
{
	if (conn->p.mr_pool)
		return conn->p.mr_pool == KRDMA_NEVER ? 0 : conn->p.mr_pool;
	return ib_uses_virt_dma(conn->cb.pd->device) ? 0 : KRDMA_FRWR_DEFAULT;
}

static void krdma_frwr_free(struct krdma_frwr *frwr)
{
	ib_dereg_mr(frwr->mr);
	kfree(frwr);
}

static struct krdma_frwr *krdma_frwr_alloc(struct krdma_conn *conn,
					   u32 entries)
{
	struct ib_device *ibdev = conn->cb.pd->device;
	struct krdma_frwr *frwr = kzalloc(sizeof(*frwr), GFP_KERNEL);
	struct ib_mr *mr;

	krdma_noio_check(conn);
	if (!frwr)
		return ERR_PTR(-ENOMEM);
	/* Round up, because the size of the next region will differ. */
	frwr->room = min_t(u32, roundup_pow_of_two(entries),
			   krdma_dma_mr_entries(ibdev));
	mr = ib_alloc_mr(conn->cb.pd, IB_MR_TYPE_MEM_REG,
			 krdma_mr_room(ibdev, frwr->room));
	if (IS_ERR(mr)) {
		kfree(frwr);
		return ERR_CAST(mr);
	}
	frwr->mr = mr;
	/*
	 * Drivers begin with the same key each time; a peer must not guess it.
	 */
	ib_update_fast_reg_key(mr, get_random_u32());
	krdma_count(conn, KRDMA_COUNT_MRS_ALLOCATED);
	return frwr;
}

/* Take the oldest entry, so that a key is reused as late as possible. */
static struct krdma_frwr *krdma_frwr_find(struct krdma_conn *conn,
					  u32 entries)
{
	struct krdma_frwr *frwr;

	list_for_each_entry(frwr, &conn->frwrs, link)
		if (frwr->room >= entries)
			return frwr;
	return NULL;
}

static void krdma_frwr_take(struct krdma_conn *conn, struct krdma_frwr *frwr)
{
	list_del(&frwr->link);
	conn->nfrwrs--;
}

/**
 * krdma_frwr_get - get an invalid MR with a new key
 * @conn: connection
 * @entries: page entries that will be mapped, not 0 and no more than
 *	krdma_dma_mr_entries()
 *
 * Context: process, @conn->setup held.
 * Return: MR, for krdma_frwr_put(), or an ERR_PTR.
 */
struct krdma_frwr *krdma_frwr_get(struct krdma_conn *conn, u32 entries)
{
	struct krdma_frwr *frwr;

	lockdep_assert_held(&conn->setup);
	frwr = krdma_frwr_find(conn, entries);
	if (frwr) {
		krdma_frwr_take(conn, frwr);
		krdma_count(conn, KRDMA_COUNT_MRS_REUSED);
	} else {
		frwr = krdma_frwr_alloc(conn, entries);
		if (IS_ERR(frwr))
			return frwr;
	}
	frwr->nkeys++;
	ib_update_fast_reg_key(frwr->mr, ib_inc_rkey(frwr->mr->rkey));
	return frwr;
}

/**
 * krdma_frwr_put - return an MR
 * @conn: its connection; NULL: it belongs to a region of a domain, and is
 *	destroyed
 * @frwr: the MR; no work request uses it
 * @invalid: the MR is known to be invalid
 *
 * If the pool is full, its oldest entry is freed, so that unused sizes do not
 * stay.
 *
 * Context: process, @conn->setup held or, for a domain, krdma_dev.lock.
 */
void krdma_frwr_put(struct krdma_conn *conn, struct krdma_frwr *frwr,
		    bool invalid)
{
	struct krdma_frwr *oldest;

	if (!conn) {
		krdma_frwr_free(frwr);
		return;
	}
	lockdep_assert_held(&conn->setup);
	if (!invalid || frwr->nkeys >= KRDMA_FRWR_KEYS ||
	    !conn->max_frwrs) {
		krdma_frwr_free(frwr);
		return;
	}
	if (conn->nfrwrs >= conn->max_frwrs) {
		oldest = list_first_entry(&conn->frwrs, struct krdma_frwr, link);
		krdma_frwr_take(conn, oldest);
		krdma_frwr_free(oldest);
	}
	list_add_tail(&frwr->link, &conn->frwrs);
	conn->nfrwrs++;
}

/**
 * krdma_frwrs_free - free the pool
 * @conn: connection whose regions are unregistered, and which gets no more
 *
 * Context: process, @conn->setup held.
 */
void krdma_frwrs_free(struct krdma_conn *conn)
{
	struct krdma_frwr *frwr, *next;

	lockdep_assert_held(&conn->setup);
	list_for_each_entry_safe(frwr, next, &conn->frwrs, link) {
		krdma_frwr_take(conn, frwr);
		krdma_frwr_free(frwr);
	}
}
