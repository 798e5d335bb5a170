// SPDX-License-Identifier: LGPL-2.1-or-later
/* Functions that call commands of vrfm alone, see include/uapi/vrfm.h. */
#include <errno.h>
#include <stddef.h>
#include <sys/ioctl.h>

#include "rfm2g_extras.h"

#include "priv.h"

#include "../../include/uapi/vrfm.h"

_Static_assert(sizeof(RFM2GXPEER) == sizeof(struct vrfm_peer_state), "peer");
_Static_assert(offsetof(RFM2GXPEER, Missed) ==
	       offsetof(struct vrfm_peer_state, missed), "missed");
_Static_assert(offsetof(RFM2GXPEER, EventsDropped) ==
	       offsetof(struct vrfm_peer_state, events_dropped), "dropped");
_Static_assert(offsetof(RFM2GXPEER, Address) ==
	       offsetof(struct vrfm_peer_state, address), "address");
_Static_assert(offsetof(RFM2GXPEER, Refusal) ==
	       offsetof(struct vrfm_peer_state, refusal), "refusal");
_Static_assert((int)RFM2GX_REFUSED_SECURITY == (int)VRFM_REFUSAL_SECURITY,
	       "refused");
_Static_assert(offsetof(RFM2GXPEER, KeyId) ==
	       offsetof(struct vrfm_peer_state, key_id), "key");
_Static_assert(RFM2GX_FOREVER == VRFM_FOREVER, "forever");
_Static_assert(RFM2GX_WATCH_MAX == VRFM_WATCH_MAX, "watch");
_Static_assert((int)RFM2GX_READY == (int)VRFM_PEER_READY, "ready");
_Static_assert((int)RFM2GX_SYNCING == (int)VRFM_PEER_SYNCING, "syncing");
_Static_assert(RFM2GX_SYNCED == VRFM_PEER_SYNCED, "synced");
_Static_assert(RFM2GX_MISSES_ALL == VRFM_PEER_MISSES_ALL, "misses all");
_Static_assert(RFM2GX_SAME_IMAGE == VRFM_PEER_SAME_IMAGE, "same image");

/*
 * Statuses for the errnos of vrfm's own commands. The driver of the cards and
 * older versions of vrfm do not have these commands, and return ENOTTY.
 */
static const struct rfm2g_meaning rfm2g_own_meanings[] = {
	{ ENOTTY, RFM2G_NOT_SUPPORTED },
	{ ETIMEDOUT, RFM2G_TIMED_OUT },
	{ EINTR, RFM2G_SIGNALED },
	{ EIDRM, RFM2G_WAIT_EVENT_CANCELED },
	{ ENOMEM, RFM2G_LOW_MEMORY },
	{ 0, RFM2G_OS_ERROR },
};

STDRFM2GCALL RFM2gxFlushTimeout(RFM2GHANDLE rh, RFM2G_UINT32 TimeoutMs,
				RFM2GXFLUSHED *Flushed)
{
	struct vrfm_flush flush = { .timeout_ms = TimeoutMs };
	RFM2G_STATUS ret = rfm2g_call(rh, VRFM_FLUSH, (unsigned long)&flush,
				      rfm2g_own_meanings);

	if (Flushed && (!ret || ret == RFM2G_TIMED_OUT)) {
		Flushed->Reached = flush.reached;
		Flushed->Behind = flush.behind;
		Flushed->Absent = flush.absent;
	}
	return ret;
}

static RFM2G_STATUS rfm2g_watch(struct rfm2g_handle *h,
				struct vrfm_watch *watch)
{
	RFM2G_STATUS ret;

	if (!watch->length || watch->length > RFM2GX_WATCH_MAX)
		return RFM2G_BAD_PARAMETER_3;
	if (watch->length > h->size || watch->offset > h->size - watch->length)
		return RFM2G_OUT_OF_RANGE;
	/* RFM2gClose() cancels watches only if this counter is not 0. */
	atomic_fetch_add(&h->watches, 1);
	ret = rfm2g_command(h, VRFM_WATCH, (unsigned long)watch,
			    rfm2g_own_meanings);
	atomic_fetch_sub(&h->watches, 1);
	return ret;
}

STDRFM2GCALL RFM2gxWatch(RFM2GHANDLE rh, RFM2G_UINT32 Offset,
			 RFM2G_UINT32 Length, const void *Old,
			 RFM2G_UINT32 TimeoutMs, RFM2G_UINT32 *Changed)
{
	struct vrfm_watch watch = {
		.offset = Offset,
		.length = Length,
		.old = (uintptr_t)Old,
		.timeout_ms = TimeoutMs,
	};
	struct rfm2g_handle *h;
	RFM2G_STATUS ret = rfm2g_enter(rh, &h);

	if (ret)
		return ret;
	ret = rfm2g_watch(h, &watch);
	rfm2g_leave();
	if (!ret && Changed)
		*Changed = watch.changed;
	return ret;
}

STDRFM2GCALL RFM2gxUnwatch(RFM2GHANDLE rh)
{
	return rfm2g_call(rh, VRFM_UNWATCH, 0, rfm2g_own_meanings);
}

static RFM2G_STATUS rfm2g_claim(RFM2GHANDLE rh, unsigned long cmd,
				struct vrfm_claim *claim)
{
	struct rfm2g_handle *h;
	RFM2G_STATUS ret = rfm2g_enter(rh, &h);

	if (ret)
		return ret;
	if (!claim->length)
		ret = RFM2G_BAD_PARAMETER_3;
	else if (claim->length > h->size ||
		 claim->offset > h->size - claim->length)
		ret = RFM2G_OUT_OF_RANGE;
	else
		ret = rfm2g_command(h, cmd, (unsigned long)claim,
				    rfm2g_own_meanings);
	rfm2g_leave();
	return ret;
}

STDRFM2GCALL RFM2gxClaim(RFM2GHANDLE rh, RFM2G_UINT32 Offset,
			 RFM2G_UINT32 Length)
{
	struct vrfm_claim claim = { .offset = Offset, .length = Length };

	return rfm2g_claim(rh, VRFM_CLAIM, &claim);
}

STDRFM2GCALL RFM2gxUnclaim(RFM2GHANDLE rh, RFM2G_UINT32 Offset,
			   RFM2G_UINT32 Length)
{
	struct vrfm_claim claim = { .offset = Offset, .length = Length };

	return rfm2g_claim(rh, VRFM_UNCLAIM, &claim);
}

/**
 * rfm2g_watches_cancel - cancel all watches through a handle
 * @h: handle
 */
void rfm2g_watches_cancel(struct rfm2g_handle *h)
{
	if (atomic_load(&h->watches))
		ioctl(h->fd, VRFM_UNWATCH, NULL);
}

static RFM2G_STATUS rfm2g_peers(const struct rfm2g_handle *h,
				struct vrfm_peers *peers, RFM2G_UINT32 *count,
				RFM2GXIMAGE *image)
{
	RFM2G_STATUS ret;

	if (!peers->peers && peers->count)
		return RFM2G_BAD_PARAMETER_2;
	if (peers->peer_size < VRFM_PEER_SIZE || peers->peer_size > RFM2G_PAGE)
		return RFM2G_BAD_PARAMETER_3;
	if (!count)
		return RFM2G_BAD_PARAMETER_5;
	ret = rfm2g_command(h, VRFM_PEERS, (unsigned long)peers,
			    rfm2g_own_meanings);
	if (ret)
		return ret;
	*count = peers->count;
	if (image) {
		image->Lineage = peers->lineage;
		image->Size = peers->size;
		image->Loaded = peers->loaded;
		image->Loading = peers->image & VRFM_IMAGE_LOADING;
	}
	return RFM2G_SUCCESS;
}

STDRFM2GCALL RFM2gxPeers(RFM2GHANDLE rh, RFM2GXPEER *Peers, RFM2G_UINT32 Size,
			 RFM2G_UINT32 Room, RFM2G_UINT32 *Count,
			 RFM2GXIMAGE *Image)
{
	struct vrfm_peers peers = {
		.peers = (uintptr_t)Peers,
		.peer_size = Size,
		.count = Room,
	};
	struct rfm2g_handle *h;
	RFM2G_STATUS ret = rfm2g_enter(rh, &h);

	if (ret)
		return ret;
	ret = rfm2g_peers(h, &peers, Count, Image);
	rfm2g_leave();
	return ret;
}
