/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints. They record units of devices and ids of nodes instead of
 * pointers, because an object may have been freed when the trace is read.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM vrfm

#if !defined(VRFM_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define VRFM_TRACE_H

#include <linux/tracepoint.h>

#include "priv.h"

TRACE_DEFINE_ENUM(VRFM_DOWN);
TRACE_DEFINE_ENUM(VRFM_SYNCING);
TRACE_DEFINE_ENUM(VRFM_READY);

#define vrfm_show_state(state) __print_symbolic(state,	\
	{ VRFM_DOWN, "down" },				\
	{ VRFM_SYNCING, "syncing" },			\
	{ VRFM_READY, "ready" })

TRACE_DEFINE_ENUM(VRFM_RESYNC_IDLE);
TRACE_DEFINE_ENUM(VRFM_RESYNC_RESERVING);
TRACE_DEFINE_ENUM(VRFM_RESYNC_SWEEPING);
TRACE_DEFINE_ENUM(VRFM_RESYNC_CHOOSING);
TRACE_DEFINE_ENUM(VRFM_RESYNC_DESERTED);
TRACE_DEFINE_ENUM(VRFM_RESYNC_PULLING);

#define vrfm_show_resync(state) __print_symbolic(state,	\
	{ VRFM_RESYNC_IDLE, "idle" },			\
	{ VRFM_RESYNC_RESERVING, "reserving" },		\
	{ VRFM_RESYNC_SWEEPING, "sweeping" },		\
	{ VRFM_RESYNC_CHOOSING, "choosing" },		\
	{ VRFM_RESYNC_DESERTED, "deserted" },		\
	{ VRFM_RESYNC_PULLING, "pulling" })

/*
 * A call of a program stores into the memory. If DARK, the transmitter is off.
 */
TRACE_EVENT(vrfm_write,
	TP_PROTO(u32 unit, u32 offset, u32 len, bool dark),
	TP_ARGS(unit, offset, len, dark),
	TP_STRUCT__entry(
		__field(u32, unit)
		__field(u32, offset)
		__field(u32, len)
		__field(bool, dark)
	),
	TP_fast_assign(
		__entry->unit = unit;
		__entry->offset = offset;
		__entry->len = len;
		__entry->dark = dark;
	),
	TP_printk("rfm2g%u offset=%#x len=%u%s", __entry->unit,
		  __entry->offset, __entry->len, __entry->dark ? " dark" : "")
);

/* This node posts a direct write of a block into the memory of a peer. */
TRACE_EVENT(vrfm_direct,
	TP_PROTO(u32 unit, u32 peer, u32 offset, u32 len),
	TP_ARGS(unit, peer, offset, len),
	TP_STRUCT__entry(
		__field(u32, unit)
		__field(u32, peer)
		__field(u32, offset)
		__field(u32, len)
	),
	TP_fast_assign(
		__entry->unit = unit;
		__entry->peer = peer;
		__entry->offset = offset;
		__entry->len = len;
	),
	TP_printk("rfm2g%u peer=%u offset=%#x len=%u", __entry->unit,
		  __entry->peer, __entry->offset, __entry->len)
);

/* A STAGE is sent to peers; if ANSWERED, all peers have answered it. */
TRACE_EVENT(vrfm_stage,
	TP_PROTO(u32 unit, u64 number, u32 ranges, bool answered),
	TP_ARGS(unit, number, ranges, answered),
	TP_STRUCT__entry(
		__field(u64, number)
		__field(u32, unit)
		__field(u32, ranges)
		__field(bool, answered)
	),
	TP_fast_assign(
		__entry->number = number;
		__entry->unit = unit;
		__entry->ranges = ranges;
		__entry->answered = answered;
	),
	TP_printk("rfm2g%u number=%llu ranges=%u%s", __entry->unit,
		  __entry->number, __entry->ranges,
		  __entry->answered ? " answered" : "")
);

/*
 * A comparison found words that programs have stored into a mapping of a page.
 */
TRACE_EVENT(vrfm_scan, TP_PROTO(u32 unit, u32 offset, u32 words, bool dark),
	    TP_ARGS(unit, offset, words, dark),
	    TP_STRUCT__entry(__field(u32, unit) __field(u32, offset)
				     __field(u32, words) __field(bool, dark)),
	    TP_fast_assign(__entry->unit = unit; __entry->offset = offset;
			   __entry->words = words; __entry->dark = dark;),
	    TP_printk("rfm2g%u page=%#x words=%u%s", __entry->unit,
		      __entry->offset, __entry->words,
		      __entry->dark ? " dark" : ""));

/* A page gets a twin and becomes writable (THERE), or loses its twin. */
TRACE_EVENT(vrfm_twin,
	TP_PROTO(u32 unit, u32 offset, bool there),
	TP_ARGS(unit, offset, there),
	TP_STRUCT__entry(
		__field(u32, unit)
		__field(u32, offset)
		__field(bool, there)
	),
	TP_fast_assign(
		__entry->unit = unit;
		__entry->offset = offset;
		__entry->there = there;
	),
	TP_printk("rfm2g%u page=%#x %s", __entry->unit, __entry->offset,
		  __entry->there ? "made" : "gone")
);

/*
 * A run of an UPDATE (vrfm_apply) or of an IMAGE (vrfm_image) arrives from
 * NODE.
 */
DECLARE_EVENT_CLASS(vrfm_came_class,
	TP_PROTO(u32 unit, u32 node, u32 offset, u32 len),
	TP_ARGS(unit, node, offset, len),
	TP_STRUCT__entry(
		__field(u32, unit)
		__field(u32, node)
		__field(u32, offset)
		__field(u32, len)
	),
	TP_fast_assign(
		__entry->unit = unit;
		__entry->node = node;
		__entry->offset = offset;
		__entry->len = len;
	),
	TP_printk("rfm2g%u node=%u offset=%#x len=%u", __entry->unit,
		  __entry->node, __entry->offset, __entry->len)
);

DEFINE_EVENT(vrfm_came_class, vrfm_apply,
	     TP_PROTO(u32 unit, u32 node, u32 offset, u32 len),
	     TP_ARGS(unit, node, offset, len));
DEFINE_EVENT(vrfm_came_class, vrfm_image,
	     TP_PROTO(u32 unit, u32 node, u32 offset, u32 len),
	     TP_ARGS(unit, node, offset, len));

DECLARE_EVENT_CLASS(vrfm_event_class,
	TP_PROTO(u32 unit, u32 node, u32 event, u32 data),
	TP_ARGS(unit, node, event, data),
	TP_STRUCT__entry(
		__field(u32, unit)
		__field(u32, node)
		__field(u32, event)
		__field(u32, data)
	),
	TP_fast_assign(
		__entry->unit = unit;
		__entry->node = node;
		__entry->event = event;
		__entry->data = data;
	),
	TP_printk("rfm2g%u node=%u event=%u data=%#x", __entry->unit,
		  __entry->node, __entry->event, __entry->data)
);

/* This node sends an event to NODE; RFM2G_NODE_ALL means all other nodes. */
DEFINE_EVENT(vrfm_event_class, vrfm_event_sent,
	     TP_PROTO(u32 unit, u32 node, u32 event, u32 data),
	     TP_ARGS(unit, node, event, data));
/*
 * An event is raised on this node. NODE has sent the event; for a fault, NODE
 * is the peer that the fault concerns.
 */
DEFINE_EVENT(vrfm_event_class, vrfm_event_raised,
	     TP_PROTO(u32 unit, u32 node, u32 event, u32 data),
	     TP_ARGS(unit, node, event, data));

TRACE_EVENT(vrfm_link,
	TP_PROTO(u32 unit, u32 node, u32 from, u32 to, u32 missed),
	TP_ARGS(unit, node, from, to, missed),
	TP_STRUCT__entry(
		__field(u32, unit)
		__field(u32, node)
		__field(u32, from)
		__field(u32, to)
		__field(u32, missed)
	),
	TP_fast_assign(
		__entry->unit = unit;
		__entry->node = node;
		__entry->from = from;
		__entry->to = to;
		__entry->missed = missed;
	),
	TP_printk("rfm2g%u node=%u %s > %s missed=%u", __entry->unit,
		  __entry->node, vrfm_show_state(__entry->from),
		  vrfm_show_state(__entry->to), __entry->missed)
);

/*
 * The load of an image changes its state. NODE is the peer that the change
 * concerns, or -1. KIND is enum vrfm_resync_kind.
 */
TRACE_EVENT(vrfm_resync,
	TP_PROTO(u32 unit, int node, u32 from, u32 to, u32 kind),
	TP_ARGS(unit, node, from, to, kind),
	TP_STRUCT__entry(
		__field(u32, unit)
		__field(int, node)
		__field(u32, from)
		__field(u32, to)
		__field(u32, kind)
	),
	TP_fast_assign(
		__entry->unit = unit;
		__entry->node = node;
		__entry->from = from;
		__entry->to = to;
		__entry->kind = kind;
	),
	TP_printk("rfm2g%u node=%d %s > %s kind=%u", __entry->unit,
		  __entry->node, vrfm_show_resync(__entry->from),
		  vrfm_show_resync(__entry->to), __entry->kind)
);

#endif /* VRFM_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
