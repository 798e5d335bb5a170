/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Include all files of vrfm that handle a message, from the function that krdma
 * calls down to the memory. Fake functions replace the calls to krdma, the
 * queueing of works, and the calls to the registers, and count some of these
 * calls. This header includes the files, not the test itself. The reason is
 * that not all of the files are pure, and tools/check coverage-uml checks the
 * files that a test includes.
 */
#ifndef VRFM_RECEIVE_H
#define VRFM_RECEIVE_H

/* Define pr_fmt before other files do so. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

/* Replace the trace events by nothing. */
#define VRFM_TRACE_H
#define trace_vrfm_link(...) do { } while (0)
#define trace_vrfm_apply(...) do { } while (0)
#define trace_vrfm_image(...) do { } while (0)
#define trace_vrfm_direct(...) do { } while (0)
#define trace_vrfm_resync(...) do { } while (0)
#define trace_vrfm_stage(...) do { } while (0)
#define trace_vrfm_stage_enabled() false
#define trace_vrfm_scan(...) do { } while (0)
#define trace_vrfm_twin(...) do { } while (0)
#define trace_vrfm_write(...) do { } while (0)
#define trace_vrfm_event_sent(...) do { } while (0)

#define krdma_disconnect fuzz_disconnect
#define krdma_post fuzz_post
#define krdma_query fuzz_query
#define krdma_rx_msg_release fuzz_loan_return
/*
 * Do not register the memory of this node, and do not import descriptions of
 * the peer's memory.
 */
#define krdma_region_export fuzz_region_export
#define vrfm_share_get fuzz_share_get
#define vrfm_share_put fuzz_share_put
#define krdma_remote_import fuzz_remote_import
#define krdma_remote_size fuzz_remote_size
#define krdma_remote_free fuzz_remote_free
/* No peer connects, and no connection is accepted. */
#define krdma_peer_private_data fuzz_peer_private_data
#define krdma_peer_addr fuzz_peer_addr
#define krdma_get_reject fuzz_get_reject
#define krdma_reconnect_context fuzz_reconnect_context
#define krdma_reconnect_start fuzz_reconnect_start
#define krdma_reconnect_stop fuzz_reconnect_stop
#define krdma_reject_request fuzz_reject_request
#define krdma_release_cb fuzz_release_cb
#define krdma_accept_async fuzz_accept_async
#define krdma_get fuzz_get
#define krdma_put fuzz_put
#define krdma_listen_params fuzz_listen_params
/* A test sets the keys, and whether they contain the key of a connection. */
#define krdma_keys_get fuzz_keys_get
#define krdma_keys_put fuzz_keys_put
#define krdma_keys_have fuzz_keys_have
#define krdma_set_keys fuzz_set_keys
#define krdma_reconnect_set_keys fuzz_reconnect_set_keys

#include <linux/lockdep.h>
#include <linux/rtmutex.h>
#include <linux/workqueue.h>
/* Do not queue works, so that the same seed gives the same results. */
#undef queue_delayed_work
#define queue_delayed_work(wq, work, delay) ((void)(delay), fuzz_kicked())
#undef mod_delayed_work
#define mod_delayed_work(wq, work, delay) ((void)(delay), fuzz_kicked())
#define queue_work(wq, work) fuzz_queued(work)

static unsigned int fuzz_kicks;

static bool fuzz_kicked(void)
{
	fuzz_kicks++;
	return true;
}

static bool fuzz_queued(struct work_struct *work)
{
	return work;
}

/* Let a test set the number of page tables that map a page. */
#include "compat.h"
#define krdma_page_mapcount fuzz_page_mapcount

static int fuzz_tables;
/*
 * Function to call before each read of fuzz_tables, and when the page is
 * write-protected; or NULL.
 */
static void (*fuzz_on_tables)(struct page *page);

static int fuzz_page_mapcount(struct page *page)
{
	if (fuzz_on_tables)
		fuzz_on_tables(page);
	return fuzz_tables;
}

static bool fuzz_is_locked(const struct rt_mutex *lock)
{
	return READ_ONCE(lock->rtmutex.owner);
}

#ifndef CONFIG_LOCKDEP
/* Check at least that the lock of writers is held. */
#undef lockdep_assert_held
#define lockdep_assert_held(lock) ({					\
	__auto_type asserted = (lock);					\
									\
	WARN_ON_ONCE(__builtin_types_compatible_p(typeof(*asserted),	\
						  struct rt_mutex) &&	\
		     !fuzz_is_locked((const void *)asserted));		\
})
#endif

#include "../../vrfm/link.c"
#include "../../vrfm/window.c"
#include "../../vrfm/backlog.c"
#include "../../vrfm/missed.c"
#include "../../vrfm/rx.c"

/* Count the pairs of words that are merged by one store. */
static unsigned int fuzz_pairs;

static u64 fuzz_cmpxchg64(u64 *at, u64 old, u64 new)
{
	fuzz_pairs++;
	return cmpxchg64(at, old, new);
}

#pragma push_macro("cmpxchg64")
#undef cmpxchg64
#define cmpxchg64 fuzz_cmpxchg64
#include "../../vrfm/resync.c"
#pragma pop_macro("cmpxchg64")

#include "../../vrfm/copy.c"
#include "../../vrfm/diff.c"
#include "../../vrfm/direct.c"
#include "../../vrfm/scan.c"
#include "../../vrfm/map.c"
#include "../../vrfm/mapper.c"
#include "../../vrfm/write.c"
#include "../../vrfm/barrier.c"
#include "../../vrfm/ops.c"
#include "../../vrfm/link_ops.c"
#include "../../vrfm/history.c"
#include "../../vrfm/resync_state.c"
#include "../../vrfm/proc.c"
#include "../../vrfm/proto.c"
#include "../../vrfm/rate.c"
#include "../../vrfm/mem.c"
#include "../../vrfm/link_log.c"
#include "../../vrfm/donor.c"
#include "../../vrfm/opts.c"
#include "../../vrfm/security.c"
#include "../../vrfm/stage.c"
#include "../../vrfm/status.c"
#include "../../vrfm/queue.c"
#include "../../vrfm/ringbuf.c"
#include "../../vrfm/done.c"
#include "../../vrfm/sub.c"
#include "../../vrfm/notice.c"
#include "../../vrfm/range.c"
#include "../../vrfm/filter.c"
#include "../../vrfm/tap.c"
#include "../../vrfm/catchup.c"
#include "../../vrfm/direct_path.c"
#include "../../vrfm/peers_ioctl.c"
#include "../../vrfm/sysfs.c"
#include "../../vrfm/watch.c"
#include "../../vrfm/watchers.c"

/* Count grace periods, and do not wait for them: no other task reads links. */
static unsigned int fuzz_graces;

static void fuzz_synchronize_rcu(void)
{
	fuzz_graces++;
}

#include <net/ipv6.h>
#define synchronize_rcu fuzz_synchronize_rcu
#include "../../vrfm/peer.c"
#undef synchronize_rcu

/* Last posted request, which has not completed yet. */
static struct krdma_req *fuzz_posted;
/*
 * Function to call for each posted request, or NULL. It acts as the peer, or
 * returns an error.
 */
static int (*fuzz_on_post)(struct krdma_req *req);
static unsigned int fuzz_disconnects;
static unsigned int fuzz_returned;
static unsigned int fuzz_events;
/*
 * Data of the last raised events, one byte each, the newest in the lowest byte.
 */
static u64 fuzz_last_events;
static unsigned int fuzz_faults;
/*
 * fuzz_behind is the number of events that report a peer as left behind.
 * fuzz_left is the number of events that report this node as left behind by a
 * peer.
 */
static unsigned int fuzz_behind;
static unsigned int fuzz_left;
/* A page was write-protected while vrfm_dev.write_lock was held. */
static bool fuzz_protected_locked;
/* Number of events of an invalid type. */
static unsigned int fuzz_wrong_events;

void fuzz_disconnect(struct krdma_cb *cb)
{
	fuzz_disconnects++;
}

int fuzz_post(struct krdma_cb *cb, struct krdma_req *req)
{
	fuzz_posted = req;
	return fuzz_on_post ? fuzz_on_post(req) : 0;
}

struct krdma_region *fuzz_share_get(struct vrfm_dev *vdev, struct krdma_cb *cb)
{
	return ERR_PTR(-EINVAL);
}

ssize_t fuzz_region_export(const struct krdma_region *region, u64 offset,
			   u64 len, void *buf, size_t size)
{
	return -EINVAL;
}

void fuzz_share_put(struct vrfm_dev *vdev, struct krdma_region *region)
{
}

struct krdma_remote *fuzz_remote_import(const void *desc, size_t len)
{
	return ERR_PTR(-ENOMEM);
}

u64 fuzz_remote_size(const struct krdma_remote *remote)
{
	return 0;
}

void fuzz_remote_free(struct krdma_remote *remote)
{
}

int fuzz_peer_private_data(const struct krdma_cb *cb, void *buf, u8 size)
{
	return -EINVAL;
}

int fuzz_peer_addr(const struct krdma_cb *cb, struct sockaddr_storage *addr)
{
	return -EINVAL;
}

bool fuzz_get_reject(const struct krdma_cb *cb, struct krdma_reject *rej)
{
	return false;
}

void *fuzz_reconnect_context(const struct krdma_reconnect *reconn)
{
	return NULL;
}

struct krdma_reconnect *
fuzz_reconnect_start(const struct sockaddr *dst,
		     const struct krdma_params *params,
		     const struct krdma_reconnect_params *owner)
{
	return ERR_PTR(-EINVAL);
}

void fuzz_reconnect_stop(struct krdma_reconnect *reconn)
{
}

/* References to keys that the files have taken and not put. */
static int fuzz_keys_refs;
/* Result of krdma_keys_have(). */
static bool fuzz_keys_fit = true;

struct krdma_keys *fuzz_keys_get(struct krdma_keys *keys)
{
	fuzz_keys_refs += !!keys;
	return keys;
}

void fuzz_keys_put(struct krdma_keys *keys)
{
	fuzz_keys_refs -= !!keys;
}

bool fuzz_keys_have(const struct krdma_keys *keys, const struct krdma_cb *cb)
{
	return fuzz_keys_fit;
}

void fuzz_set_keys(struct krdma_cb *listen_cb, struct krdma_keys *keys)
{
}

void fuzz_reconnect_set_keys(struct krdma_reconnect *reconn,
			     struct krdma_keys *keys)
{
}

int fuzz_reject_request(struct krdma_cb *cb, const void *private_data,
			u8 private_data_len)
{
	return 0;
}

int fuzz_release_cb(struct krdma_cb *cb)
{
	return 0;
}

int fuzz_accept_async(struct krdma_cb *cb, const void *private_data,
		      u8 private_data_len)
{
	return -EINVAL;
}

struct krdma_cb *fuzz_get(struct krdma_cb *cb)
{
	return cb;
}

void fuzz_put(struct krdma_cb *cb)
{
}

int fuzz_listen_params(const struct sockaddr *src,
		       const struct krdma_params *params,
		       struct krdma_cb **listen_cb)
{
	return -EINVAL;
}

int fuzz_query(struct krdma_cb *cb, struct krdma_caps *caps)
{
	return -EINVAL;
}

void fuzz_loan_return(struct krdma_rx_msg *rx_msg)
{
	fuzz_returned++;
}

void vrfm_regs_peers(struct vrfm_dev *vdev, int peers, int linked)
{
}

bool vrfm_lcsr_update(struct vrfm_dev *vdev, u32 bit, bool on)
{
	return true;
}

void vrfm_event_raise(struct vrfm_dev *vdev, u32 type, u16 node, u32 data)
{
	if (type == RFM2G_EVENT_BAD_DATA)
		fuzz_faults++;
	else if (type == RFM2G_EVENT_RXFIFO_AFULL)
		fuzz_behind++;
	else if (type == RFM2G_EVENT_RXFIFO_FULL)
		fuzz_left++;
	else if (type > RFM2G_EVENT_INTR4)
		fuzz_wrong_events++;
	else
		fuzz_events++;
	if (type <= RFM2G_EVENT_INTR4)
		fuzz_last_events = fuzz_last_events << 8 | (u8)data;
}

void vrfm_devices_lock(void)
{
}

void vrfm_devices_unlock(void)
{
}

struct vrfm_dev *vrfm_device(unsigned int unit)
{
	return NULL;
}

bool vrfm_wrprotect(struct vrfm_dev *vdev, unsigned long index)
{
	fuzz_protected_locked |= fuzz_is_locked(&vdev->write_lock);
	if (fuzz_on_tables)
		fuzz_on_tables(vdev->mem.pages[index]);
	return true;
}

u64 vrfm_latency_begin(void)
{
	return 0;
}

void vrfm_latency_end_locked(struct vrfm_link *link, u64 applied)
{
}

#endif /* VRFM_RECEIVE_H */
