/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints. A trace shows devices by their index in "rdma dev", and other
 * data by value. The reason is that a trace may be read after its objects were
 * freed.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM ntrdma

#if !defined(NTRDMA_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define NTRDMA_TRACE_H

#include <linux/tracepoint.h>
#include <rdma/ib_verbs.h>

#include "frame.h"
#include "session.h"

TRACE_DEFINE_ENUM(NTRDMA_LINK_OFF);
TRACE_DEFINE_ENUM(NTRDMA_LINK_HELLO);
TRACE_DEFINE_ENUM(NTRDMA_LINK_UP);
TRACE_DEFINE_ENUM(NTRDMA_LINK_LOSS);

#define ntrdma_show_link(state) __print_symbolic(state,	\
	{ NTRDMA_LINK_OFF, "off" },			\
	{ NTRDMA_LINK_HELLO, "hello" },			\
	{ NTRDMA_LINK_UP, "up" },			\
	{ NTRDMA_LINK_LOSS, "loss" })

TRACE_DEFINE_ENUM(NTRDMA_REASON_NONE);
TRACE_DEFINE_ENUM(NTRDMA_REASON_DOWN);
TRACE_DEFINE_ENUM(NTRDMA_REASON_REMOVED);
TRACE_DEFINE_ENUM(NTRDMA_REASON_SUSPENDED);
TRACE_DEFINE_ENUM(NTRDMA_REASON_LEFT);
TRACE_DEFINE_ENUM(NTRDMA_REASON_SILENT);
TRACE_DEFINE_ENUM(NTRDMA_REASON_RESTARTED);
TRACE_DEFINE_ENUM(NTRDMA_REASON_BAD_INDEX);
TRACE_DEFINE_ENUM(NTRDMA_REASON_BAD_SEAL);
TRACE_DEFINE_ENUM(NTRDMA_REASON_BAD_FRAME);
TRACE_DEFINE_ENUM(NTRDMA_REASON_BAD_MAGIC);
TRACE_DEFINE_ENUM(NTRDMA_REASON_BAD_VERSION);
TRACE_DEFINE_ENUM(NTRDMA_REASON_BAD_MEMBER);
TRACE_DEFINE_ENUM(NTRDMA_REASON_BAD_SIZES);
TRACE_DEFINE_ENUM(NTRDMA_REASON_BAD_HELLO);
TRACE_DEFINE_ENUM(NTRDMA_REASON_BAD_BELLS);

#define ntrdma_show_reason(reason) __print_symbolic(reason, \
	{ NTRDMA_REASON_NONE, "none" },			\
	{ NTRDMA_REASON_DOWN, "down" },			\
	{ NTRDMA_REASON_REMOVED, "removed" },		\
	{ NTRDMA_REASON_SUSPENDED, "suspended" },	\
	{ NTRDMA_REASON_LEFT, "left" },			\
	{ NTRDMA_REASON_SILENT, "silent" },		\
	{ NTRDMA_REASON_RESTARTED, "restarted" },	\
	{ NTRDMA_REASON_BAD_INDEX, "bad_index" },	\
	{ NTRDMA_REASON_BAD_SEAL, "bad_seal" },		\
	{ NTRDMA_REASON_BAD_FRAME, "bad_frame" },	\
	{ NTRDMA_REASON_BAD_MAGIC, "bad_magic" },	\
	{ NTRDMA_REASON_BAD_VERSION, "bad_version" },	\
	{ NTRDMA_REASON_BAD_MEMBER, "bad_member" },	\
	{ NTRDMA_REASON_BAD_SIZES, "bad_sizes" },	\
	{ NTRDMA_REASON_BAD_HELLO, "bad_hello" },		\
	{ NTRDMA_REASON_BAD_BELLS, "bad_bells" })

TRACE_DEFINE_ENUM(NTRDMA_PAD);
TRACE_DEFINE_ENUM(NTRDMA_SEND);
TRACE_DEFINE_ENUM(NTRDMA_WRITE);
TRACE_DEFINE_ENUM(NTRDMA_READ);
TRACE_DEFINE_ENUM(NTRDMA_DATA);
TRACE_DEFINE_ENUM(NTRDMA_ATOMIC);
TRACE_DEFINE_ENUM(NTRDMA_RESULT);
TRACE_DEFINE_ENUM(NTRDMA_ACK);
TRACE_DEFINE_ENUM(NTRDMA_NAK);
TRACE_DEFINE_ENUM(NTRDMA_UD);
TRACE_DEFINE_ENUM(NTRDMA_ETH);

#define ntrdma_show_kind(kind) __print_symbolic(kind,	\
	{ NTRDMA_PAD, "pad" },				\
	{ NTRDMA_SEND, "send" },			\
	{ NTRDMA_WRITE, "write" },			\
	{ NTRDMA_READ, "read" },			\
	{ NTRDMA_DATA, "data" },			\
	{ NTRDMA_ATOMIC, "atomic" },			\
	{ NTRDMA_RESULT, "result" },			\
	{ NTRDMA_ACK, "ack" },				\
	{ NTRDMA_NAK, "nak" },				\
	{ NTRDMA_UD, "ud" },				\
	{ NTRDMA_ETH, "eth" })

TRACE_DEFINE_ENUM(IB_QPS_RESET);
TRACE_DEFINE_ENUM(IB_QPS_INIT);
TRACE_DEFINE_ENUM(IB_QPS_RTR);
TRACE_DEFINE_ENUM(IB_QPS_RTS);
TRACE_DEFINE_ENUM(IB_QPS_SQD);
TRACE_DEFINE_ENUM(IB_QPS_SQE);
TRACE_DEFINE_ENUM(IB_QPS_ERR);

#define ntrdma_show_qp_state(state) __print_symbolic(state, \
	{ IB_QPS_RESET, "RESET" },			\
	{ IB_QPS_INIT, "INIT" },			\
	{ IB_QPS_RTR, "RTR" },				\
	{ IB_QPS_RTS, "RTS" },				\
	{ IB_QPS_SQD, "SQD" },				\
	{ IB_QPS_SQE, "SQE" },				\
	{ IB_QPS_ERR, "ERR" })

/* A link has come up or is lost, or a hello of the peer is refused. */
TRACE_EVENT(ntrdma_link,
	TP_PROTO(u32 dev, u32 peer, const struct ntrdma_session *session),
	TP_ARGS(dev, peer, session),
	TP_STRUCT__entry(
		__field(u32, dev)
		__field(u32, peer)
		__field(u32, state)
		__field(u32, my)
		__field(u32, yours)
		__field(u32, reason)
	),
	TP_fast_assign(
		__entry->dev = dev;
		__entry->peer = peer;
		__entry->state = session->state;
		__entry->my = session->my;
		__entry->yours = session->yours;
		__entry->reason = session->reason;
	),
	TP_printk("dev=%u peer=%u %s session=%08x/%08x reason=%s", __entry->dev,
		  __entry->peer, ntrdma_show_link(__entry->state), __entry->my,
		  __entry->yours, ntrdma_show_reason(__entry->reason))
);

DECLARE_EVENT_CLASS(ntrdma_frame_class,
	TP_PROTO(u32 dev, u32 peer, u32 lane, const struct ntrdma_frame *frame),
	TP_ARGS(dev, peer, lane, frame),
	TP_STRUCT__entry(
		__field(u32, dev)
		__field(u32, peer)
		__field(u32, lane)
		__field(u32, kind)
		__field(u32, flags)
		__field(u32, dest_qp)
		__field(u32, msn)
		__field(u32, offset)
		__field(u32, bytes)
		__field(u32, imm)
	),
	TP_fast_assign(
		__entry->dev = dev;
		__entry->peer = peer;
		__entry->lane = lane;
		__entry->kind = frame->kind;
		__entry->flags = frame->flags;
		__entry->dest_qp = frame->dest_qp;
		__entry->msn = frame->msn;
		__entry->offset = frame->offset;
		__entry->bytes = frame->bytes;
		__entry->imm = frame->imm;
	),
	TP_printk("dev=%u peer=%u lane=%u %s flags=%#x qp=%u msn=%u offset=%u bytes=%u imm=%#x",
		  __entry->dev, __entry->peer, __entry->lane,
		  ntrdma_show_kind(__entry->kind), __entry->flags,
		  __entry->dest_qp, __entry->msn, __entry->offset,
		  __entry->bytes, __entry->imm)
);

DEFINE_EVENT(ntrdma_frame_class, ntrdma_frame_sent,
	     TP_PROTO(u32 dev, u32 peer, u32 lane,
		      const struct ntrdma_frame *frame),
	     TP_ARGS(dev, peer, lane, frame));
DEFINE_EVENT(ntrdma_frame_class, ntrdma_frame_taken,
	     TP_PROTO(u32 dev, u32 peer, u32 lane,
		      const struct ntrdma_frame *frame),
	     TP_ARGS(dev, peer, lane, frame));

TRACE_EVENT(ntrdma_qp_state,
	TP_PROTO(u32 dev, u32 qp, u32 from, u32 to),
	TP_ARGS(dev, qp, from, to),
	TP_STRUCT__entry(
		__field(u32, dev)
		__field(u32, qp)
		__field(u32, from)
		__field(u32, to)
	),
	TP_fast_assign(
		__entry->dev = dev;
		__entry->qp = qp;
		__entry->from = from;
		__entry->to = to;
	),
	TP_printk("dev=%u qp=%u %s > %s", __entry->dev, __entry->qp,
		  ntrdma_show_qp_state(__entry->from),
		  ntrdma_show_qp_state(__entry->to))
);

#endif /* NTRDMA_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
