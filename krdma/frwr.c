// SPDX-License-Identifier: GPL-2.0
/*
 * MRs for fast registration (FRWR), and the pool of unused MRs of a connection.
 *
 * Most regions are short-lived: for each long message, the sender has a region
 * for each CHUNK (up to 16 MiB of the message), and the receiver has one. So
 * MRs of freed regions are kept in the pool for later regions, up to
 * krdma_params.mr_pool. The pool is freed with the connection.
 *
 * krdma does not use the pool of the RDMA core (rdma/mr_pool.h). That pool
 * allocates all its MRs in advance and in the largest size, so each idle
 * connection would hold this memory. Also, it does not check the state of an MR
 * that is returned.
 *
 * An MR may be mapped again only when it is known to be invalid. Until then the
 * adapter may use the old mapping: rxe of Linux 6.1 reads the page list of the
 * MR itself, which mapping overwrites. An MR is known to be invalid if
 * invalidating it has succeeded. After a flush or an error its state is
 * unknown, and the MR is destroyed.
 *
 * Each registration of an MR has another key: the lowest eight bits of the key
 * change. An MR that has used all its keys is destroyed. Otherwise its first
 * key, which some peer may still know, would become valid again.
 */
#include <linux/random.h>
#include <linux/slab.h>

#include "region.h"

/* Number of different keys of an MR: the lowest eight bits differ. */
#define KRDMA_FRWR_KEYS 256

/*
 * Default size of the pool of a connection, on adapters that need DMA mapping.
 */
#define KRDMA_FRWR_DEFAULT 16

/**
 * krdma_frwr_max - return the maximum size of the pool of a connection
 * @conn: connection with a device
 *
 * Software devices have no pool by default, for two reasons. On such a device
 * an MR costs only its memory. Also, destroying an MR is safer than keeping it.
 * Such a device checks a key before it copies the bytes of a packet, so the
 * copy may continue after the key has become invalid. rxe waits for the copy
 * only when an MR is destroyed (rxe_mr_cleanup(); Linux 6.1 to 7.3).
 *
 * Return: maximum number of MRs; 0 means no pool.
 */
u32 krdma_frwr_max(const struct krdma_conn *conn)
{
	if (conn->p.mr_pool == KRDMA_NEVER)
		return 0;
	if (conn->p.mr_pool)
		return conn->p.mr_pool;
	return ib_uses_virt_dma(conn->cb.pd->device) ? 0 : KRDMA_FRWR_DEFAULT;
}

static void krdma_frwr_free(struct krdma_frwr *frwr)
{
	ib_dereg_mr(frwr->mr);
	kfree(frwr);
}

static void krdma_frwr_take(struct krdma_conn *conn, struct krdma_frwr *frwr)
{
	list_del(&frwr->link);
	conn->mr.nfrwrs--;
}

/**
 * krdma_frwr_get - take an MR from the pool, or allocate one, and give it a new
 * key
 * @conn: connection
 * @entries: page entries that will be mapped, not 0 and no more than
 *	krdma_dma_mr_entries()
 *
 * Context: process, @conn->setup held.
 * Return: an invalid MR, for krdma_frwr_put(), or an ERR_PTR.
 */
struct krdma_frwr *krdma_frwr_get(struct krdma_conn *conn, u32 entries)
{
	struct ib_device *ibdev = conn->cb.pd->device;
	struct krdma_frwr *frwr;
	struct ib_mr *mr;

	lockdep_assert_held(&conn->setup);
	/*
	 * Use an unused MR with enough page entries. Take the oldest, so that
	 * an invalid key stays out of use as long as possible.
	 */
	list_for_each_entry(frwr, &conn->mr.frwrs, link) {
		if (frwr->room < entries)
			continue;
		krdma_frwr_take(conn, frwr);
		krdma_count(conn, KRDMA_COUNT_MRS_REUSED);
		goto found;
	}
	frwr = kzalloc(sizeof(*frwr), GFP_KERNEL);
	krdma_noio_check(conn);
	if (!frwr)
		return ERR_PTR(-ENOMEM);
	/* Round up, so that the MR can be reused for regions of other sizes. */
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
	 * Drivers begin with the same key each time. Use a random one, so that
	 * a peer cannot guess the key.
	 */
	ib_update_fast_reg_key(mr, get_random_u32());
	krdma_count(conn, KRDMA_COUNT_MRS_ALLOCATED);
found:
	frwr->nkeys++;
	ib_update_fast_reg_key(frwr->mr, ib_inc_rkey(frwr->mr->rkey));
	return frwr;
}

/**
 * krdma_frwr_put - return an MR to the pool, or destroy it
 * @conn: connection of the MR; NULL: the MR belongs to a region of a domain,
 *	and is destroyed
 * @frwr: the MR; no work request uses it
 * @invalid: true if the MR is known to be invalid; otherwise the MR is
 *	destroyed
 *
 * If the pool is full, its oldest MR is freed. So MRs of sizes that are no
 * longer needed do not stay in the pool.
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
	    !conn->limits.max_frwrs) {
		krdma_frwr_free(frwr);
		return;
	}
	if (conn->mr.nfrwrs >= conn->limits.max_frwrs) {
		oldest = list_first_entry(&conn->mr.frwrs, struct krdma_frwr,
					  link);
		krdma_frwr_take(conn, oldest);
		krdma_frwr_free(oldest);
	}
	list_add_tail(&frwr->link, &conn->mr.frwrs);
	conn->mr.nfrwrs++;
}

/**
 * krdma_frwrs_free - free all MRs of the pool
 * @conn: connection whose regions are unregistered, and which creates no more
 *	regions
 *
 * Context: process, @conn->setup held.
 */
void krdma_frwrs_free(struct krdma_conn *conn)
{
	struct krdma_frwr *frwr, *next;

	lockdep_assert_held(&conn->setup);
	list_for_each_entry_safe(frwr, next, &conn->mr.frwrs, link) {
		krdma_frwr_take(conn, frwr);
		krdma_frwr_free(frwr);
	}
}
