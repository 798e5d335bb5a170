// SPDX-License-Identifier: GPL-2.0
/* Commands for events. */
#include <stdatomic.h>
#include <string.h>

#include "util.h"

static const char * const util_events[RFM2GEVENT_LAST] = {
	[RFM2GEVENT_RESET] = "reset",
	[RFM2GEVENT_INTR1] = "interrupt 1",
	[RFM2GEVENT_INTR2] = "interrupt 2",
	[RFM2GEVENT_INTR3] = "interrupt 3",
	[RFM2GEVENT_INTR4] = "interrupt 4",
	[RFM2GEVENT_BAD_DATA] = "bad data",
	[RFM2GEVENT_RXFIFO_FULL] = "receive FIFO full",
	[RFM2GEVENT_ROGUE_PKT] = "rogue packet",
	[RFM2GEVENT_RXFIFO_AFULL] = "receive FIFO almost full",
	[RFM2GEVENT_SYNC_LOSS] = "sync loss",
	[RFM2GEVENT_MEM_WRITE_INHIBITED] = "memory write inhibited",
	[RFM2GEVENT_LOCAL_MEM_PARITY_ERR] = "memory parity error",
};

static atomic_uint util_called[RFM2GEVENT_LAST];

static bool util_has_data(RFM2GEVENTTYPE type)
{
	return type >= RFM2GEVENT_INTR1 && type <= RFM2GEVENT_INTR4;
}

/* Commands whose only argument is the event. */
static const struct util_simple {
	RFM2G_STATUS (*call)(RFM2GHANDLE rh, RFM2GEVENTTYPE type);
	const char *text;
	uint32_t end;
} util_simple[] = {
	{ RFM2gEnableEvent, "enabled", RFM2GEVENT_LAST },
	{ RFM2gDisableEvent, "disabled", RFM2GEVENT_LAST },
	{ RFM2gCancelWaitForEvent, "wait cancelled", RFM2GEVENT_LAST },
	{ RFM2gClearEvent, "cleared", RFM2GEVENT_LAST + 1 },
	{ RFM2gClearEventCount, "count cleared", RFM2GEVENT_LAST + 1 },
	{ RFM2gFlushEventQueue, "queue flushed", RFM2GEVENT_LAST + 1 },
};

static enum util_result util_event(struct util *util,
				   const struct util_command *command, int argc,
				   char **argv)
{
	const struct util_simple *simple = &util_simple[command->which];
	RFM2G_STATUS ret;
	uint32_t type;

	if (!util_below("event", argv[0], simple->end, &type))
		return UTIL_USAGE;
	ret = simple->call(util->rh, type);
	if (!ret)
		printf("%s: %s\n", type == RFM2GEVENT_LAST ? "all events" :
		       util_events[type], simple->text);
	return util_status(ret);
}

/*
 * Reader of the terminal on which the user may be typing a line, or NULL. It is
 * global because the library passes no such pointer to callbacks.
 */
static struct line_reader *util_typing;

/*
 * Print an event. This callback runs in a thread of librfm2g. It flushes stdout
 * so that the line appears at once.
 */
static void util_called_back(RFM2GHANDLE rh, RFM2GEVENTINFO *info)
{
	RFM2G_NODE node = RFM2G_NODE_UNKNOWN;

	RFM2gNodeID(rh, &node);
	printf("%scallback %u for %s: node %u got it from node %u, data 0x%08x\n",
	       util_typing ? "\r\033[K" : "", ++util_called[info->Event],
	       util_events[info->Event], node, info->NodeId, info->ExtendedInfo);
	fflush(stdout);
	line_again(util_typing);
}

static void util_callbacks(const struct util *util)
{
	unsigned int type;

	for (type = 0; type < RFM2GEVENT_LAST; type++)
		printf("%2u %-26s callback %-8s called %u times\n", type,
		       util_events[type],
		       util->callback[type] ? "enabled" : "disabled",
		       util_called[type]);
}

static enum util_result util_callback(struct util *util,
				      const struct util_command *command,
				      int argc, char **argv)
{
	bool enable = command->which;
	RFM2G_STATUS ret;
	uint32_t type;

	if (!argc) {
		util_callbacks(util);
		return UTIL_OK;
	}
	if (!util_below("event", argv[0], RFM2GEVENT_LAST, &type))
		return UTIL_USAGE;
	util_typing = util->lines && line_is_terminal(util->lines) ?
			      util->lines : NULL;
	if (enable)
		ret = RFM2gEnableEventCallback(util->rh, type,
					       util_called_back);
	else
		ret = RFM2gDisableEventCallback(util->rh, type);
	if (!enable && ret == RFM2G_NOT_ENABLED)
		util->callback[type] = false;
	if (ret)
		return util_status(ret);
	util->callback[type] = enable;
	printf("%s: callback %s\n", util_events[type],
	       enable ? "enabled" : "disabled");
	return UTIL_OK;
}

static enum util_result util_wait(struct util *util,
				  const struct util_command *command, int argc,
				  char **argv)
{
	RFM2GEVENTINFO info = { 0 };
	RFM2G_STATUS ret;
	uint32_t type;

	if (!util_below("event", argv[0], RFM2GEVENT_LAST, &type) ||
	    !util_number(argv[1], &info.Timeout))
		return UTIL_USAGE;
	info.Event = type;
	printf("waiting for %s ...\n", util_events[type]);
	fflush(stdout);
	ret = RFM2gWaitForEvent(util->rh, &info);
	if (ret)
		return util_status(ret);
	printf("%s from node %u", util_events[type], info.NodeId);
	if (util_has_data(type))
		printf(", data 0x%08x", info.ExtendedInfo);
	putchar('\n');
	return UTIL_OK;
}

static enum util_result util_send(struct util *util,
				  const struct util_command *command, int argc,
				  char **argv)
{
	uint32_t type, node, data = 0;
	RFM2G_STATUS ret;

	if (!util_number(argv[0], &type) ||
	    !util_below("node", argv[1], RFM2G_NODE_ALL + 1, &node) ||
	    (argc == 3 && !util_number(argv[2], &data)))
		return UTIL_USAGE;
	ret = RFM2gSendEvent(util->rh, node, type, data);
	if (ret)
		return util_status(ret);
	if (node == RFM2G_NODE_ALL)
		printf("%s sent to all nodes\n", util_events[type]);
	else
		printf("%s sent to node %u (0x%02x)\n", util_events[type], node,
		       node);
	return UTIL_OK;
}

static enum util_result util_count(struct util *util,
				   const struct util_command *command, int argc,
				   char **argv)
{
	uint32_t type, last, count;
	RFM2G_STATUS ret;

	if (!util_below("event", argv[0], RFM2GEVENT_LAST + 1, &type))
		return UTIL_USAGE;
	last = type == RFM2GEVENT_LAST ? type - 1 : type;
	for (type = type == RFM2GEVENT_LAST ? 0 : type; type <= last; type++) {
		ret = RFM2gGetEventCount(util->rh, type, &count);
		if (ret)
			return util_status(ret);
		printf("%2u %-26s %u\n", type, util_events[type], count);
	}
	return UTIL_OK;
}

static enum util_result util_stat(struct util *util,
				  const struct util_command *command, int argc,
				  char **argv)
{
	RFM2GQINFO info = { 0 };
	RFM2G_STATUS ret;
	unsigned int type;

	puts("     count event                      queued  size overflowed");
	for (type = 0; type < RFM2GEVENT_LAST; type++) {
		info.Event = type;
		ret = RFM2gGetEventStats(util->rh, &info);
		if (ret)
			return util_status(ret);
		printf("%10u %-26s %6u %5u %s\n", info.EventCount,
		       util_events[type], info.EventsQueued, info.QueueSize,
		       info.Overflowed ? "yes" : "no");
	}
	return UTIL_OK;
}

const struct util_command util_event_commands[] = {
	{ .name = "enableevent", .args = "EVENT",
	  .text = "deliver events of this type", .run = util_event,
	  .which = 0, .min = 1, .max = 1 },
	{ .name = "disableevent", .args = "EVENT",
	  .text = "queue events of this type",
	  .run = util_event, .which = 1, .min = 1, .max = 1 },
	{ .name = "enablecallback", .args = "[EVENT]",
	  .text = "print a line for each event; without EVENT: list callbacks",
	  .run = util_callback, .which = 1, .max = 1 },
	{ .name = "disablecallback", .args = "[EVENT]",
	  .text = "remove the callback",
	  .run = util_callback, .which = 0, .max = 1 },
	{ .name = "wait", .args = "EVENT MILLISECONDS",
	  .text = "wait for an event; 0xffffffff: no timeout", .run = util_wait,
	  .min = 2, .max = 2 },
	{ .name = "cancelwait", .args = "EVENT",
	  .text = "end a wait, also of another program", .run = util_event,
	  .which = 2, .min = 1, .max = 1 },
	{ .name = "send", .args = "EVENT NODE [DATA]",
	  .text = "send an event; NODE 0xffff: to all nodes", .run = util_send,
	  .min = 2,
	  .max = 3 },
	{ .name = "clearevent", .args = "EVENT",
	  .text = "discard queued events; 12: of all types",
	  .run = util_event, .which = 3, .min = 1, .max = 1 },
	{ .name = "cleareventcount", .args = "EVENT",
	  .text = "reset the counter; 12: of all types", .run = util_event,
	  .which = 4, .min = 1, .max = 1 },
	{ .name = "geteventcount", .args = "EVENT",
	  .text = "show the number of events; 12: of all types",
	  .run = util_count,
	  .min = 1, .max = 1 },
	{ .name = "stat", .text = "show the queues of all events",
	  .run = util_stat,
	  .menu = UTIL_DRIVER },
	{ .name = "flushqueue", .args = "EVENT",
	  .text = "discard queued events; 12: of all types",
	  .run = util_event, .which = 5, .min = 1, .max = 1,
	  .menu = UTIL_DRIVER },
	{ }
};
