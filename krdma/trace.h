/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints. A trace shows connections by their number in debugfs, and other
 * data by value. The reason is that a trace may be read after its objects were
 * freed.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM krdma

#if !defined(KRDMA_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define KRDMA_TRACE_H

#include <linux/tracepoint.h>
#include <rdma/ib_cm.h>
#include <rdma/rdma_cm.h>
#include <trace/misc/rdma.h>

#include "stats.h"

TRACE_DEFINE_ENUM(KRDMA_CLIENT_CONN);
TRACE_DEFINE_ENUM(KRDMA_LISTEN_CONN);
TRACE_DEFINE_ENUM(KRDMA_ACCEPT_CONN);

#define krdma_show_role(role) __print_symbolic(role,	\
	{ KRDMA_CLIENT_CONN, "client" },		\
	{ KRDMA_LISTEN_CONN, "listener" },		\
	{ KRDMA_ACCEPT_CONN, "server" })

TRACE_DEFINE_ENUM(KRDMA_NEW);
TRACE_DEFINE_ENUM(KRDMA_RESOLVING_ADDR);
TRACE_DEFINE_ENUM(KRDMA_RESOLVING_ROUTE);
TRACE_DEFINE_ENUM(KRDMA_ROUTED);
TRACE_DEFINE_ENUM(KRDMA_REQUESTED);
TRACE_DEFINE_ENUM(KRDMA_READY);
TRACE_DEFINE_ENUM(KRDMA_CONNECTING);
TRACE_DEFINE_ENUM(KRDMA_ESTABLISHED);
TRACE_DEFINE_ENUM(KRDMA_LISTENING);
TRACE_DEFINE_ENUM(KRDMA_CLOSING);
TRACE_DEFINE_ENUM(KRDMA_CLOSED);

#define krdma_show_state(state) __print_symbolic(state,	\
	{ KRDMA_NEW, "NEW" },				\
	{ KRDMA_RESOLVING_ADDR, "RESOLVING_ADDR" },	\
	{ KRDMA_RESOLVING_ROUTE, "RESOLVING_ROUTE" },	\
	{ KRDMA_ROUTED, "ROUTED" },			\
	{ KRDMA_REQUESTED, "REQUESTED" },		\
	{ KRDMA_READY, "READY" },			\
	{ KRDMA_CONNECTING, "CONNECTING" },		\
	{ KRDMA_ESTABLISHED, "ESTABLISHED" },		\
	{ KRDMA_LISTENING, "LISTENING" },		\
	{ KRDMA_CLOSING, "CLOSING" },			\
	{ KRDMA_CLOSED, "CLOSED" })

TRACE_DEFINE_ENUM(KRDMA_SEND);
TRACE_DEFINE_ENUM(KRDMA_WRITE);
TRACE_DEFINE_ENUM(KRDMA_READ);
TRACE_DEFINE_ENUM(KRDMA_FETCH_ADD);
TRACE_DEFINE_ENUM(KRDMA_CMP_SWAP);
TRACE_DEFINE_ENUM(KRDMA_WRITE_IMM);
TRACE_DEFINE_ENUM(KRDMA_SEND_INV);
TRACE_DEFINE_ENUM(KRDMA_WR_CONTROL);
TRACE_DEFINE_ENUM(KRDMA_WR_REGISTER);
TRACE_DEFINE_ENUM(KRDMA_WR_INVALIDATE);

#define krdma_show_kind(kind) __print_symbolic(kind,	\
	{ KRDMA_SEND, "send" },				\
	{ KRDMA_WRITE, "write" },			\
	{ KRDMA_READ, "read" },				\
	{ KRDMA_FETCH_ADD, "fetch_add" },		\
	{ KRDMA_CMP_SWAP, "cmp_swap" },			\
	{ KRDMA_WRITE_IMM, "write_imm" },		\
	{ KRDMA_SEND_INV, "send_inv" },			\
	{ KRDMA_WR_CONTROL, "control" },		\
	{ KRDMA_WR_REGISTER, "register" },		\
	{ KRDMA_WR_INVALIDATE, "invalidate" })

TRACE_EVENT(krdma_state,
	TP_PROTO(u32 id, u32 role, u32 from, u32 to, int error),
	TP_ARGS(id, role, from, to, error),
	TP_STRUCT__entry(
		__field(u32, id)
		__field(u32, role)
		__field(u32, from)
		__field(u32, to)
		__field(int, error)
	),
	TP_fast_assign(
		__entry->id = id;
		__entry->role = role;
		__entry->from = from;
		__entry->to = to;
		__entry->error = error;
	),
	TP_printk("conn=%u %s %s > %s error=%d", __entry->id,
		  krdma_show_role(__entry->role),
		  krdma_show_state(__entry->from),
		  krdma_show_state(__entry->to), __entry->error)
);

TRACE_EVENT(krdma_cm_event,
	TP_PROTO(u32 id, u32 event, int status),
	TP_ARGS(id, event, status),
	TP_STRUCT__entry(
		__field(u32, id)
		__field(u32, event)
		__field(int, status)
	),
	TP_fast_assign(
		__entry->id = id;
		__entry->event = event;
		__entry->status = status;
	),
	TP_printk("conn=%u %s status=%d", __entry->id,
		  rdma_show_cm_event(__entry->event), __entry->status)
);

DECLARE_EVENT_CLASS(krdma_wr_class,
	TP_PROTO(u32 id, const struct krdma_wr *wr, int status),
	TP_ARGS(id, wr, status),
	TP_STRUCT__entry(
		__field(u32, id)
		__field(u32, kind)
		__field(u32, len)
		__field(u32, slots)
		__field(int, status)
	),
	TP_fast_assign(
		__entry->id = id;
		__entry->kind = wr->kind;
		__entry->len = wr->len;
		__entry->slots = wr->slots;
		__entry->status = status;
	),
	TP_printk("conn=%u %s len=%u slots=%u status=%d", __entry->id,
		  krdma_show_kind(__entry->kind), __entry->len, __entry->slots,
		  __entry->status)
);

DEFINE_EVENT(krdma_wr_class, krdma_post,
	     TP_PROTO(u32 id, const struct krdma_wr *wr, int status),
	     TP_ARGS(id, wr, status));
DEFINE_EVENT(krdma_wr_class, krdma_complete,
	     TP_PROTO(u32 id, const struct krdma_wr *wr, int status),
	     TP_ARGS(id, wr, status));

TRACE_DEFINE_ENUM(KRDMA_AUTH_REQ);
TRACE_DEFINE_ENUM(KRDMA_AUTH_REP);
TRACE_DEFINE_ENUM(KRDMA_AUTH_AUTH);
TRACE_DEFINE_ENUM(KRDMA_AUTH_START);

#define krdma_show_auth_step(step) __print_symbolic(step, \
	{ KRDMA_AUTH_REQ, "REQ" },			\
	{ KRDMA_AUTH_REP, "REP" },			\
	{ KRDMA_AUTH_AUTH, "AUTH" },			\
	{ KRDMA_AUTH_START, "START" })

TRACE_EVENT(krdma_auth,
	TP_PROTO(u32 id, u32 step, int result, u32 key),
	TP_ARGS(id, step, result, key),
	TP_STRUCT__entry(
		__field(u32, id)
		__field(u32, step)
		__field(int, result)
		__field(u32, key)
	),
	TP_fast_assign(
		__entry->id = id;
		__entry->step = step;
		__entry->result = result;
		__entry->key = key;
	),
	TP_printk("conn=%u %s result=%d key=%08x", __entry->id,
		  krdma_show_auth_step(__entry->step), __entry->result,
		  __entry->key)
);

TRACE_EVENT(krdma_rekey,
	TP_PROTO(u32 id, bool sent, u64 messages),
	TP_ARGS(id, sent, messages),
	TP_STRUCT__entry(
		__field(u32, id)
		__field(bool, sent)
		__field(u64, messages)
	),
	TP_fast_assign(
		__entry->id = id;
		__entry->sent = sent;
		__entry->messages = messages;
	),
	TP_printk("conn=%u %s after=%llu", __entry->id,
		  __entry->sent ? "send" : "receive", __entry->messages)
);

TRACE_EVENT(krdma_wc_failed,
	TP_PROTO(u32 id, u32 status),
	TP_ARGS(id, status),
	TP_STRUCT__entry(
		__field(u32, id)
		__field(u32, status)
	),
	TP_fast_assign(
		__entry->id = id;
		__entry->status = status;
	),
	TP_printk("conn=%u %s", __entry->id,
		  rdma_show_wc_status(__entry->status))
);

DECLARE_EVENT_CLASS(krdma_credit_class,
	TP_PROTO(u32 id, u32 granted, u32 owed, u32 avail),
	TP_ARGS(id, granted, owed, avail),
	TP_STRUCT__entry(
		__field(u32, id)
		__field(u32, granted)
		__field(u32, owed)
		__field(u32, avail)
	),
	TP_fast_assign(
		__entry->id = id;
		__entry->granted = granted;
		__entry->owed = owed;
		__entry->avail = avail;
	),
	TP_printk("conn=%u granted=%u owed=%u avail=%u", __entry->id,
		  __entry->granted, __entry->owed, __entry->avail)
);

DEFINE_EVENT(krdma_credit_class, krdma_credit_sent,
	     TP_PROTO(u32 id, u32 granted, u32 owed, u32 avail),
	     TP_ARGS(id, granted, owed, avail));
DEFINE_EVENT(krdma_credit_class, krdma_credit_received,
	     TP_PROTO(u32 id, u32 granted, u32 owed, u32 avail),
	     TP_ARGS(id, granted, owed, avail));

DECLARE_EVENT_CLASS(krdma_region_class,
	TP_PROTO(const struct krdma_region_stats *region),
	TP_ARGS(region),
	TP_STRUCT__entry(
		__field(u32, id)
		__field(u64, size)
		__field(u32, nmrs)
		__field(u32, access)
		__field(u32, rkey)
	),
	TP_fast_assign(
		__entry->id = region->conn_id;
		__entry->size = region->size;
		__entry->nmrs = region->nmrs;
		__entry->access = region->access;
		__entry->rkey = region->rkey;
	),
	TP_printk("conn=%u size=%llu mrs=%u access=%#x rkey=%#x", __entry->id,
		  __entry->size, __entry->nmrs, __entry->access, __entry->rkey)
);

DEFINE_EVENT(krdma_region_class, krdma_region_register,
	     TP_PROTO(const struct krdma_region_stats *region),
	     TP_ARGS(region));
DEFINE_EVENT(krdma_region_class, krdma_region_revoke,
	     TP_PROTO(const struct krdma_region_stats *region),
	     TP_ARGS(region));
DEFINE_EVENT(krdma_region_class, krdma_region_unregister,
	     TP_PROTO(const struct krdma_region_stats *region),
	     TP_ARGS(region));

#endif /* KRDMA_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
