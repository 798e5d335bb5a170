// SPDX-License-Identifier: GPL-2.0
/*
 * MRs for fast registration (FRWR), and those that a connection keeps for its
 * next regions.
 *
 * Regions come and go: a long message has one for each CHUNK at the sender, and
 * one at the receiver. So what a region leaves behind is kept, up to
 * krdma_params.mr_pool MRs, and goes with the connection. The core's own pool
 * (rdma/mr_pool.h) makes all its MRs in advance and in the largest size, which
 * is memory that each idle connection would hold; and it does not ask what
 * became of an MR that is given back.
 *
 * An MR may be mapped anew only when it is known to be invalid, for until then
 * the adapter uses what was mapped before: rxe of 6.1 looks at the page list
 * itself. Known means that invalidating it was a success. After a flush or an
 * error nobody knows, and the MR is destroyed.
 *
 * Each registration has another key: the lowest eight bits count. An MR that
 * has had them all is destroyed, or what a peer was told long ago would fit
 * again.
 */
#include <linux/random.h>
#include <linux/slab.h>

#include "region.h"

/* As many as an MR has in its life. */
#define KRDMA_FRWR_KEYS 256

/* How many a connection keeps on adapters that are hardware. */
#define KRDMA_FRWR_DEFAULT 16

/**
 * krdma_frwr_max - how many MRs a connection keeps
 * @conn: connection with a device
 *
 * Software devices are asked for none by default. There an MR costs no more than
 * its memory; and they look at a key before they copy the bytes of a packet, so
 * that a copy may go on while the key becomes invalid. rxe waits for that when an
 * MR is destroyed, and nowhere else (rxe_mr_cleanup(); Linux 6.1 to 7.3).
 *
 * Return: the number, maybe 0.
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
	/* More than asked for: the next region will not be just as large. */
	frwr->room = min_t(u32, roundup_pow_of_two(entries),
			   krdma_dma_mr_entries(ibdev));
	mr = ib_alloc_mr(conn->cb.pd, IB_MR_TYPE_MEM_REG,
			 krdma_mr_room(ibdev, frwr->room));
	if (IS_ERR(mr)) {
		kfree(frwr);
		return ERR_CAST(mr);
	}
	frwr->mr = mr;
	/* Drivers begin with the same key each time: a peer must not know it. */
	ib_update_fast_reg_key(mr, get_random_u32());
	krdma_count(conn, KRDMA_COUNT_MRS_ALLOCATED);
	return frwr;
}

/* The one that is kept longest: so it takes long until a key comes again. */
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
 * krdma_frwr_get - an MR that is invalid, with a key of its own
 * @conn: connection
 * @entries: page entries that will be mapped, not 0 and no more than
 *	krdma_dma_mr_entries()
 *
 * Context: process, @conn->setup held.
 * Return: for krdma_frwr_put(), or an ERR_PTR.
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
 * krdma_frwr_put - give back an MR
 * @conn: its connection; NULL: it belongs to a region of a domain, and is destroyed
 * @frwr: the MR; no work request uses it
 * @invalid: that is known
 *
 * If there are as many as may be kept, the one that is kept longest goes: sizes
 * that nobody wants any more must not stay for ever.
 *
 * Context: process, @conn->setup held or, of a domain, krdma_dev.lock.
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
 * krdma_frwrs_free - free what is kept
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
