// SPDX-License-Identifier: GPL-2.0
/*
 * Regions of a domain: registered once, with one key for all connections of the
 * domain on a device.
 *
 * An rkey is valid on every QP of its PD, and the connections of a domain share
 * a PD on each device. A REG_MR work request needs a QP, so the QP of the
 * connection that creates the region registers it. When the REG_MR has
 * completed, the MRs belong to the PD and do not depend on that QP any more.
 *
 * The region holds references to the PD, the krdma_dev and the domain, but to
 * no connection. It is on the list krdma_pd.regions, which krdma_dev.lock
 * protects. Two contexts use the list:
 *
 *  - the owner of the region, which revokes it and puts it
 *  - the removal of the device, when no connection is attached any more and
 *    before the PD is freed. It unregisters and unmaps the region, and takes
 *    the region off the list. When the owner puts the region later, only the
 *    memory of the region is freed
 *
 * When a connection ends, its QP is drained and destroyed, so its peer cannot
 * use the key any more. The region stays valid for the other peers. Revoking
 * the region makes it invalid for all peers.
 *
 * To make a key invalid, its MR is destroyed with ib_dereg_mr(), which needs no
 * QP. Invalidating the MR would need one.
 */
#include "cm.h"
#include "quirks.h"
#include "registration.h"
#include "trace.h"

/**
 * krdma_share_get_dev - take a reference to the device of a connection
 * @conn: connection
 *
 * Context: process.
 * Return: the device, for krdma_dev_put(); NULL: the connection is not
 * attached.
 */
struct krdma_dev *krdma_share_get_dev(struct krdma_conn *conn)
{
	struct krdma_dev *dev;

	mutex_lock(&conn->setup);
	dev = conn->hw.dev;
	krdma_dev_get(dev);
	mutex_unlock(&conn->setup);
	return dev;
}

/**
 * krdma_share_next_conn - find another connection to register a region
 * @dev: device of the connections, or NULL
 * @failed: connection that has failed to register the region
 * @error: errno with which the registration failed
 * @until: time limit from krdma_deadline()
 *
 * If @failed has not ended, its queue pair is not the cause of the failure.
 * Another connection would fail in the same way, so this returns NULL.
 *
 * Context: process.
 * Return: connection with a reference, or NULL.
 */
struct krdma_conn *krdma_share_next_conn(struct krdma_dev *dev,
					 struct krdma_conn *failed, int error,
					 unsigned long until)
{
	struct krdma_conn *conn, *found = NULL;

	if (!dev || !krdma_conn_is_over(failed) || error == -EINTR ||
	    (until && time_after_eq(jiffies, until)))
		return NULL;
	mutex_lock(&dev->lock);
	list_for_each_entry(conn, &dev->conns, hw.link) {
		/*
		 * The caller allocates memory with the flags of @failed. So a
		 * connection with KRDMA_NOIO can register the region only if
		 * @failed also has KRDMA_NOIO.
		 */
		if (conn->domain != failed->domain || krdma_conn_is_raw(conn) ||
		    conn->p.flags & ~failed->p.flags & KRDMA_NOIO ||
		    !krdma_is_established(&conn->cb))
			continue;
		/*
		 * A connection on this list is not freed while dev->lock is
		 * held, so take a reference now.
		 */
		krdma_conn_get(conn);
		found = conn;
		break;
	}
	mutex_unlock(&dev->lock);
	return found;
}

/*
 * Unregister a region, and take it off its list. Only the first call has an
 * effect.
 */
static void krdma_share_end_locked(struct krdma_region *region)
{
	struct krdma_share *share = &region->share;

	lockdep_assert_held(&share->dev->lock);
	if (list_empty(&region->link))
		return;
	krdma_region_unregister(NULL, region);
	list_del_init(&region->link);
	krdma_pd_put_locked(share->dev, share->kpd);
}

/* See krdma_pd.end_regions_locked. The owners must still put their regions. */
static void krdma_share_end_all_locked(struct krdma_pd *kpd)
{
	struct krdma_region *region, *next;

	list_for_each_entry_safe(region, next, &kpd->regions, link)
		krdma_share_end_locked(region);
}

/**
 * krdma_share_begin - add a region to the domain of a connection
 * @conn: connection that is attached to its device, with a domain
 * @region: region whose MRs are mapped. krdma_share_put() or
 *	krdma_share_failed() undoes this call
 *
 * Context: process, @conn->setup held.
 */
void krdma_share_begin(struct krdma_conn *conn, struct krdma_region *region)
{
	struct krdma_share *share = &region->share;

	lockdep_assert_held(&conn->setup);
	krdma_dev_get(conn->hw.dev);
	krdma_domain_get(conn->domain);
	*share = (struct krdma_share){
		.dev = conn->hw.dev,
		.kpd = conn->hw.kpd,
		.domain = conn->domain,
		.op_timeout_ms = conn->p.op_timeout_ms,
		.flags = conn->p.flags & KRDMA_NOIO,
	};
	mutex_lock(&share->dev->lock);
	share->kpd->users++;
	list_add_tail(&region->link, &share->kpd->regions);
	share->kpd->end_regions_locked = krdma_share_end_all_locked;
	mutex_unlock(&share->dev->lock);
}

/**
 * krdma_share_open - allow the peers to use a region
 * @conn: connection that has registered the region
 * @region: region
 *
 * If the device was removed after the registration, the region stays unusable.
 *
 * Context: process.
 */
void krdma_share_open(struct krdma_conn *conn, struct krdma_region *region)
{
	trace_krdma_region_register(&region->stats);
	krdma_count(conn, KRDMA_COUNT_REGISTERED);
	mutex_lock(&region->share.dev->lock);
	if (!list_empty(&region->link)) {
		WRITE_ONCE(region->stats.live, true);
		/* Pairs with krdma_region_is_of(). */
		smp_store_release(&region->usable, true);
	}
	mutex_unlock(&region->share.dev->lock);
}

/* If a connection has ended, drain it, so that no work request is in flight. */
static void krdma_share_drain(struct krdma_conn *conn)
{
	mutex_lock(&conn->setup);
	if (krdma_conn_is_over(conn)) {
		krdma_cm_disconnect(conn);
		krdma_qp_drain(conn);
	}
	mutex_unlock(&conn->setup);
}

/**
 * krdma_share_failed - free a region that was not registered
 * @conn: connection that has failed to register the region
 * @region: region; freed by this call
 *
 * If @conn has ended, work requests that use the MRs may still be in flight, so
 * this drains @conn first. Otherwise none may be in flight.
 *
 * Context: process, may sleep.
 */
void krdma_share_failed(struct krdma_conn *conn, struct krdma_region *region)
{
	krdma_share_drain(conn);
	krdma_share_put(region);
}

/*
 * Find the next connection of the domain: the one with the lowest stats.id
 * above @id.
 * Return: the connection, with a reference, or NULL.
 */
static struct krdma_conn *krdma_share_conn_after(const struct krdma_share *share,
						 u32 id)
{
	struct krdma_conn *conn, *found = NULL;

	mutex_lock(&share->dev->lock);
	list_for_each_entry(conn, &share->dev->conns, hw.link)
		if (conn->hw.kpd == share->kpd && conn->stats.id > id &&
		    (!found || conn->stats.id < found->stats.id))
			found = conn;
	/* A connection on dev->conns is not freed while dev->lock is held. */
	if (found)
		krdma_conn_get(found);
	mutex_unlock(&share->dev->lock);
	return found;
}

/*
 * Wait until no connection is sending an answer to a READ of the region, see
 * KRDMA_QUIRK_LATE_ANSWERS. Each connection sends answers in the order of its
 * own send queue, so wait for each connection.
 */
static void krdma_share_await_answers(struct krdma_region *region,
				      unsigned long until)
{
	struct krdma_conn *conn;
	struct krdma_noio noio;
	u32 id = 0;
	bool late;
	int ret;

	if (!(region->access & IB_ACCESS_REMOTE_READ))
		return;
	while ((conn = krdma_share_conn_after(&region->share, id))) {
		id = conn->stats.id;
		late = krdma_has_quirk(conn, KRDMA_QUIRK_LATE_ANSWERS);
		/*
		 * A LOCAL_INV completes only after the answers are sent. Only
		 * the owner of a raw connection may post, so a raw connection
		 * ends.
		 */
		if (late && krdma_get_state(&conn->cb) == KRDMA_ESTABLISHED) {
			noio = krdma_noio_enter(&conn->p);
			ret = krdma_region_execute(conn, region,
						   KRDMA_WR_INVALIDATE,
						   region->nmrs, until);
			krdma_noio_leave(noio);
			if (ret)
				krdma_conn_abort(conn, ret);
		}
		if (late)
			krdma_share_drain(conn);
		krdma_conn_put(conn);
	}
}

/**
 * krdma_share_revoke - make the keys of a region invalid on all connections
 * @region: region of a domain that is already unusable for new requests
 * @timeout_ms: time limit in ms for all waits together, which happen only on
 *	siw (KRDMA_QUIRK_LATE_ANSWERS); 0 means &krdma_params.op_timeout_ms of
 *	the connection that created the region
 *
 * Context: process, may sleep.
 */
void krdma_share_revoke(struct krdma_region *region, u32 timeout_ms)
{
	const struct krdma_share *share = &region->share;
	const struct krdma_params p = { .flags = share->flags };
	struct krdma_noio noio = krdma_noio_enter(&p);
	u32 ms = timeout_ms ?: share->op_timeout_ms;

	krdma_share_await_answers(region, krdma_deadline(ms));
	mutex_lock(&share->dev->lock);
	krdma_region_free_mrs(NULL, region);
	mutex_unlock(&share->dev->lock);
	krdma_noio_leave(noio);
	krdma_count_module(KRDMA_COUNT_REVOKED);
}

/**
 * krdma_share_put - unregister and free a region of a domain
 * @region: region that no request uses
 *
 * Context: process, may sleep.
 */
void krdma_share_put(struct krdma_region *region)
{
	const struct krdma_share share = region->share;
	const struct krdma_params p = { .flags = share.flags };
	struct krdma_noio noio = krdma_noio_enter(&p);

	mutex_lock(&share.dev->lock);
	krdma_share_end_locked(region);
	mutex_unlock(&share.dev->lock);
	krdma_region_free(region);
	krdma_domain_put(share.domain);
	krdma_dev_put(share.dev);
	krdma_noio_leave(noio);
}
