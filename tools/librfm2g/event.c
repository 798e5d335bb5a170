// SPDX-License-Identifier: LGPL-2.1-or-later
/* Functions for events, except those for callbacks. */
#include <errno.h>
#include <sys/ioctl.h>

#include "priv.h"

#include "../../include/uapi/vrfm.h"

static const struct rfm2g_meaning rfm2g_enable_meanings[] = {
	{ ENOSYS, RFM2G_NOT_SUPPORTED },
	{ EINVAL, RFM2G_BAD_PARAMETER_2 },
	{ EACCES, RFM2G_EVENT_IN_USE },
	{ 0, RFM2G_DRIVER_ERROR },
};

static const struct rfm2g_meaning rfm2g_disable_meanings[] = {
	{ ENOSYS, RFM2G_NOT_SUPPORTED },
	{ EINVAL, RFM2G_BAD_PARAMETER_2 },
	{ EACCES, RFM2G_NOT_ENABLED },
	{ 0, RFM2G_DRIVER_ERROR },
};

static const struct rfm2g_meaning rfm2g_wait_meanings[] = {
	{ ETIMEDOUT, RFM2G_TIMED_OUT },
	{ EALREADY, RFM2G_EVENT_IN_USE },
	{ ENOSYS, RFM2G_NOT_ENABLED },
	{ EINTR, RFM2G_SIGNALED },
	{ EIDRM, RFM2G_WAIT_EVENT_CANCELED },
	{ 0, RFM2G_DRIVER_ERROR },
};

static const struct rfm2g_meaning rfm2g_cancel_meanings[] = {
	{ ENOSYS, RFM2G_EVENT_NOT_IN_USE },
	{ 0, RFM2G_OS_ERROR },
};

STDRFM2GCALL RFM2gEnableEvent(RFM2GHANDLE rh, RFM2GEVENTTYPE EventType)
{
	RFM2GEVENTINFO info = { .Event = EventType };

	return rfm2g_call(rh, IOCTL_RFM2G_ENABLE_EVENT, (unsigned long)&info,
			  rfm2g_enable_meanings);
}

STDRFM2GCALL RFM2gDisableEvent(RFM2GHANDLE rh, RFM2GEVENTTYPE EventType)
{
	RFM2GEVENTINFO info = { .Event = EventType };

	return rfm2g_call(rh, IOCTL_RFM2G_DISABLE_EVENT, (unsigned long)&info,
			  rfm2g_disable_meanings);
}

static RFM2G_STATUS rfm2g_send_check(const struct rfm2g_handle *h, RFM2G_NODE to,
				     RFM2GEVENTTYPE type)
{
	if ((unsigned int)type > RFM2GEVENT_INTR4)
		return RFM2G_BAD_PARAMETER_3;
	if (to == h->config.NodeId)
		return RFM2G_NODE_ID_SELF;
	if (to > RFM2G_NODE_MAX && to != RFM2G_NODE_ALL)
		return RFM2G_BAD_PARAMETER_2;
	return RFM2G_SUCCESS;
}

STDRFM2GCALL RFM2gSendEvent(RFM2GHANDLE rh, RFM2G_NODE ToNode,
			    RFM2GEVENTTYPE EventType, RFM2G_UINT32 ExtendedData)
{
	RFM2GEVENTINFO info = {
		.Event = EventType,
		.NodeId = ToNode,
		.ExtendedInfo = ExtendedData,
	};
	struct rfm2g_handle *h;
	RFM2G_STATUS ret = rfm2g_enter(rh, &h);

	if (ret)
		return ret;
	ret = rfm2g_send_check(h, ToNode, EventType);
	if (!ret)
		ret = rfm2g_command(h, IOCTL_RFM2G_SEND_EVENT,
				    (unsigned long)&info, rfm2g_driver_error);
	rfm2g_leave();
	return ret;
}

/**
 * rfm2g_wait - wait for an event
 * @h: handle that rfm2g_enter() returned
 * @info: event and timeout; gets the received event
 *
 * Return: 0 or an errno.
 */
int rfm2g_wait(struct rfm2g_handle *h, RFM2GEVENTINFO *info)
{
	RFM2GEVENTTYPE type = info->Event;
	int ret;

	atomic_fetch_add(&h->waits[type], 1);
	ret = ioctl(h->fd, IOCTL_RFM2G_WAIT_FOR_EVENT, info) ? errno : 0;
	atomic_fetch_sub(&h->waits[type], 1);
	return ret;
}

/**
 * rfm2g_wait_cancel - cancel the waits for an event through a handle
 * @h: handle
 * @type: event
 *
 * VRFM_UNWAIT cancels only the waits through this handle, but the driver of the
 * cards and earlier versions of vrfm do not have it. For these drivers, use
 * CANCEL_EVENT, which cancels the wait of any process.
 */
void rfm2g_wait_cancel(struct rfm2g_handle *h, RFM2GEVENTTYPE type)
{
	struct vrfm_unwait unwait = { .events = 1U << type };
	RFM2GEVENTINFO info = { .Event = type };

	if (ioctl(h->fd, VRFM_UNWAIT, &unwait))
		ioctl(h->fd, IOCTL_RFM2G_CANCEL_EVENT, &info);
}

/**
 * rfm2g_waits_cancel - cancel the waits through a handle that is being closed
 * @h: handle
 */
void rfm2g_waits_cancel(struct rfm2g_handle *h)
{
	unsigned int type;

	for (type = 0; type < RFM2GEVENT_LAST; type++)
		if (atomic_load(&h->waits[type]))
			rfm2g_wait_cancel(h, type);
}

static RFM2G_STATUS rfm2g_wait_status(int error)
{
	const struct rfm2g_meaning *meaning = rfm2g_wait_meanings;

	if (!error)
		return RFM2G_SUCCESS;
	while (meaning->error && meaning->error != error)
		meaning++;
	return meaning->status;
}

STDRFM2GCALL RFM2gWaitForEvent(RFM2GHANDLE rh, RFM2GEVENTINFO *EventInfo)
{
	struct rfm2g_handle *h;
	RFM2G_STATUS ret = rfm2g_enter(rh, &h);

	if (ret)
		return ret;
	if (!EventInfo || (unsigned int)EventInfo->Event >= RFM2GEVENT_LAST)
		ret = RFM2G_BAD_PARAMETER_2;
	else
		ret = rfm2g_wait_status(rfm2g_wait(h, EventInfo));
	rfm2g_leave();
	return ret;
}

STDRFM2GCALL RFM2gCancelWaitForEvent(RFM2GHANDLE rh, RFM2GEVENTTYPE EventType)
{
	RFM2GEVENTINFO info = { .Event = EventType };
	struct rfm2g_handle *h;
	RFM2G_STATUS ret = rfm2g_enter(rh, &h);

	if (ret)
		return ret;
	if ((unsigned int)EventType >= RFM2GEVENT_LAST)
		ret = RFM2G_BAD_PARAMETER_2;
	else
		ret = rfm2g_command(h, IOCTL_RFM2G_CANCEL_EVENT,
				    (unsigned long)&info,
				    rfm2g_cancel_meanings);
	rfm2g_leave();
	return ret;
}

/*
 * Call a command for one event type. If WHICH is RFM2GEVENT_LAST, call it for
 * all event types, and stop at the first error.
 */
static RFM2G_STATUS rfm2g_each(RFM2GHANDLE rh, unsigned long cmd,
			       RFM2GEVENTTYPE which)
{
	unsigned long first = which == RFM2GEVENT_LAST ? 0 : which;
	unsigned long last = which == RFM2GEVENT_LAST ? which - 1 : which;
	struct rfm2g_handle *h;
	RFM2G_STATUS ret = rfm2g_enter(rh, &h);

	if (ret)
		return ret;
	if ((unsigned int)which > RFM2GEVENT_LAST)
		ret = RFM2G_BAD_PARAMETER_2;
	for (; !ret && first <= last; first++)
		ret = rfm2g_command(h, cmd, first, rfm2g_driver_error);
	rfm2g_leave();
	return ret;
}

STDRFM2GCALL RFM2gClearEvent(RFM2GHANDLE rh, RFM2GEVENTTYPE EventType)
{
	return rfm2g_each(rh, IOCTL_RFM2G_CLEAR_EVENT, EventType);
}

STDRFM2GCALL RFM2gFlushEventQueue(RFM2GHANDLE rh, RFM2GEVENTTYPE EventType)
{
	return rfm2g_each(rh, IOCTL_RFM2G_CLEAR_EVENT, EventType);
}

STDRFM2GCALL RFM2gClearEventCount(RFM2GHANDLE rh, RFM2GEVENTTYPE EventType)
{
	return rfm2g_each(rh, IOCTL_RFM2G_CLEAR_EVENT_COUNT, EventType);
}

STDRFM2GCALL RFM2gClearEventStats(RFM2GHANDLE rh, RFM2GEVENTTYPE EventType)
{
	return rfm2g_each(rh, IOCTL_RFM2G_CLEAR_EVENT_STATS, EventType);
}

STDRFM2GCALL RFM2gGetEventStats(RFM2GHANDLE rh, RFM2GQINFO *QueueInfo)
{
	struct rfm2g_handle *h;
	RFM2G_STATUS ret = rfm2g_enter(rh, &h);

	if (ret)
		return ret;
	if (!QueueInfo || QueueInfo->Event >= RFM2GEVENT_LAST)
		ret = RFM2G_BAD_PARAMETER_2;
	else
		ret = rfm2g_command(h, IOCTL_RFM2G_GET_EVENT_STATS,
				    (unsigned long)QueueInfo,
				    rfm2g_driver_error);
	rfm2g_leave();
	return ret;
}

STDRFM2GCALL RFM2gGetEventCount(RFM2GHANDLE rh, RFM2GEVENTTYPE EventType,
				RFM2G_UINT32 *Count)
{
	RFM2GQINFO info = { .Event = EventType };
	struct rfm2g_handle *h;
	RFM2G_STATUS ret = rfm2g_enter(rh, &h);

	if (ret)
		return ret;
	if ((unsigned int)EventType >= RFM2GEVENT_LAST)
		ret = RFM2G_BAD_PARAMETER_2;
	else if (!Count)
		ret = RFM2G_BAD_PARAMETER_3;
	else
		ret = rfm2g_command(h, IOCTL_RFM2G_GET_EVENT_STATS,
				    (unsigned long)&info, rfm2g_driver_error);
	if (!ret)
		*Count = info.EventCount;
	rfm2g_leave();
	return ret;
}
