// SPDX-License-Identifier: GPL-2.0
/*
 * Parse command lines of krdma_test, and run commands that create and release
 * connections and listeners.
 */
#include <linux/delay.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <rdma/rdma_cm.h>

#include <krdma_simple.h>

#include "priv.h"

#define KTEST_WORDS 24

/* Return word @i of the command, or "" if the command has fewer words. */
const char *ktest_arg(const struct ktest_args *args, int i)
{
	return i < args->n ? args->words[i] : "";
}

u32 ktest_number(const struct ktest_args *args, int i, u32 def)
{
	u32 value;

	return kstrtou32(ktest_arg(args, i), 0, &value) ? def : value;
}

const char *ktest_text_option(const struct ktest_args *args, const char *name)
{
	size_t len = strlen(name);
	int i;

	for (i = 1; i < args->n; i++)
		if (!strncmp(args->words[i], name, len) &&
		    args->words[i][len] == '=')
			return args->words[i] + len + 1;
	return NULL;
}

/* Return the number in the word name=NUMBER, or @def without such a word. */
u32 ktest_option(const struct ktest_args *args, const char *name, u32 def)
{
	const char *text = ktest_text_option(args, name);
	u32 value;

	return !text || kstrtou32(text, 0, &value) ? def : value;
}

static const struct {
	const char *name;
	size_t offset;
} ktest_u32_options[] = {
	{ "addr_ms", offsetof(struct krdma_params, addr_timeout_ms) },
	{ "route_ms", offsetof(struct krdma_params, route_timeout_ms) },
	{ "connect_ms", offsetof(struct krdma_params, connect_timeout_ms) },
	{ "op_ms", offsetof(struct krdma_params, op_timeout_ms) },
	{ "keepalive_ms", offsetof(struct krdma_params, keepalive_ms) },
	{ "pull_min", offsetof(struct krdma_params, pull_min) },
	{ "mr_pool", offsetof(struct krdma_params, mr_pool) },
	{ "session", offsetof(struct krdma_params, session) },
	{ "comp_vector", offsetof(struct krdma_params, comp_vector) },
	{ "spin_us", offsetof(struct krdma_params, spin_us) },
	{ "poll", offsetof(struct krdma_params, poll) },
	{ "backlog", offsetof(struct krdma_params, backlog) },
	{ "send_depth", offsetof(struct krdma_params, send_depth) },
	{ "recv_depth", offsetof(struct krdma_params, recv_depth) },
	{ "buf_size", offsetof(struct krdma_params, buf_size) },
	{ "numa_node", offsetof(struct krdma_params, numa_node) },
	{ "path_mtu", offsetof(struct krdma_params, path_mtu) },
	{ "max_msg", offsetof(struct krdma_params, max_msg) },
	{ "max_conns", offsetof(struct krdma_params, max_conns) },
	{ "security", offsetof(struct krdma_params, security) },
};

static int ktest_fill_source(const struct ktest_args *args, struct net *net,
			     struct krdma_params *p,
			     struct sockaddr_storage *src)
{
	const char *host = ktest_text_option(args, "src");

	if (!host)
		return 0;
	p->src = (struct sockaddr *)src;
	return krdma_parse_addr(net, host, NULL, src);
}

/* Convert hexadecimal digits to bytes in place. Return the number of bytes. */
static u32 ktest_unhex(char *hex)
{
	u32 n = 0;

	while (sscanf(hex + 2 * n, "%2hhx", (u8 *)hex + n) == 1)
		n++;
	return n;
}

static int ktest_fill_private(const struct ktest_args *args,
			      struct krdma_params *p)
{
	char *hex = (char *)ktest_text_option(args, "private_hex");

	if (hex) {
		p->private_data = hex;
		p->private_data_len = ktest_unhex(hex);
		return p->private_data_len ? 0 : -EINVAL;
	}
	p->private_data = ktest_text_option(args, "private");
	if (p->private_data)
		p->private_data_len = strlen(p->private_data);
	return 0;
}

int ktest_fill_params(struct ktest_ctx *ctx, const struct ktest_args *args,
		      struct ktest_slot *slot, struct krdma_params *p,
		      struct sockaddr_storage *src)
{
	int i;

	*p = (struct krdma_params){
		.size = sizeof(*p),
		.net = ctx->net,
		.context = slot,
		.tos = ktest_option(args, "tos", 0),
		.retry_count = ktest_option(args, "retry", 0),
		.rnr_retry_count = ktest_option(args, "rnr_retry", 0),
		.responder_resources = ktest_option(args, "resources", 0),
		.initiator_depth = ktest_option(args, "depth", 0),
		.ack_timeout = ktest_option(args, "ack_timeout", 0),
		.msg_memory = ktest_option(args, "msg_memory", 0),
	};
	if (ktest_option(args, "domain", 0)) {
		p->domain = ktest_domain(ktest_option(args, "domain", 0));
		if (IS_ERR(p->domain))
			return PTR_ERR(p->domain);
	}
	for (i = 0; i < ARRAY_SIZE(ktest_u32_options); i++)
		*(u32 *)((void *)p + ktest_u32_options[i].offset) =
			ktest_option(args, ktest_u32_options[i].name, 0);
	if (ktest_option(args, "wait", 0))
		p->flags |= KRDMA_LISTEN_WAIT;
	if (ktest_option(args, "v6only", 0))
		p->flags |= KRDMA_LISTEN_V6ONLY;
	if (ktest_option(args, "rw", 0))
		p->flags |= KRDMA_RW;
	if (ktest_option(args, "shared_cq", 0))
		p->flags |= KRDMA_SHARED_CQ;
	if (ktest_option(args, "noio", 0))
		p->flags |= KRDMA_NOIO;
	/*
	 * With raw=1 the connection is in raw mode with the callbacks of raw.c,
	 * with raw=2 in raw mode without callbacks.
	 */
	slot->is_raw = ktest_option(args, "raw", 0) == 1;
	if (ktest_option(args, "raw", 0))
		p->flags |= KRDMA_RAW;
	if (slot->is_raw)
		p->ops = &ktest_raw_ops;
	if (ktest_option(args, "space", 0))
		p->ops = &ktest_space_ops;
	slot->pause_us = ktest_option(args, "pause_us", 0);
	slot->closing = 0;
	return ktest_fill_keys(args, p) ?: ktest_fill_private(args, p) ?:
	       ktest_fill_source(args, ctx->net, p, src);
}

static void ktest_say_peer(struct ktest_ctx *ctx, struct krdma_cb *cb)
{
	struct sockaddr_storage addr;
	char data[33] = "";

	krdma_peer_private_data(cb, data, sizeof(data) - 1);
	if (krdma_peer_addr(cb, &addr))
		return;
	snprintf(ctx->text, sizeof(ctx->text), "peer=%pISpc private=%s",
		 &addr, data);
}

static void ktest_say_reject(struct ktest_ctx *ctx, struct krdma_cb *cb)
{
	struct krdma_reject rej;

	if (krdma_get_reject(cb, &rej))
		snprintf(ctx->text, sizeof(ctx->text), "reject=%d private=%.*s",
			 rej.reason, rej.private_data_len, rej.private_data);
}

/*
 * Connect @cb. If connecting fails, the same task releases @cb, as consumers of
 * krdma do.
 */
static int ktest_connect(struct ktest_ctx *ctx, struct ktest_slot *slot,
			 struct krdma_cb *cb, const struct sockaddr *dst)
{
	int ret;

	if (slot->pause_us)
		fsleep(slot->pause_us);
	ret = krdma_connect_cb(cb, dst);
	if (ret)
		ktest_say_reject(ctx, cb);
	else
		ktest_say_peer(ctx, cb);
	slot->ret = ret;
	return ret;
}

static int ktest_connect_slot(struct ktest_ctx *ctx,
			      const struct ktest_args *args,
			      struct ktest_slot *slot)
{
	struct sockaddr_storage dst, src;
	struct krdma_params p;
	struct krdma_cb *cb;
	int ret;

	ret = krdma_parse_addr(ctx->net, ktest_arg(args, 2), ktest_arg(args, 3),
			       &dst);
	ret = ret ?: ktest_fill_params(ctx, args, slot, &p, &src);
	if (ret)
		return ret;
	cb = krdma_create(&p);
	if (IS_ERR(cb))
		return PTR_ERR(cb);
	krdma_get(cb);
	ret = ktest_slot_set(slot, cb);
	if (ret) {
		krdma_release_cb(cb);
	} else {
		ret = ktest_connect(ctx, slot, cb, (struct sockaddr *)&dst);
		if (ret && !ktest_option(args, "keep", 0))
			ktest_slot_release(slot);
	}
	krdma_put(cb);
	return ret;
}

/*
 * Run @call on the slot whose name is the first argument. If no slot has this
 * name, create one.
 */
int ktest_on_slot(struct ktest_ctx *ctx, const struct ktest_args *args,
		  ktest_slot_call call)
{
	struct ktest_slot *slot = ktest_slot_make(ctx, ktest_arg(args, 1));
	int ret;

	if (IS_ERR(slot))
		return PTR_ERR(slot);
	ret = call(ctx, args, slot);
	slot->ret = ret;
	ktest_slot_put(slot);
	return ret;
}

static int ktest_cmd_connect(struct ktest_ctx *ctx, struct ktest_args *args)
{
	return ktest_on_slot(ctx, args, ktest_connect_slot);
}

static int ktest_nothing(struct ktest_ctx *ctx, const struct ktest_args *args,
			 struct ktest_slot *slot)
{
	return 0;
}

/*
 * nothing: call functions of krdma with NULL for the address or the connection,
 * which they must refuse. The result is the number of calls that were not
 * refused.
 */
static int ktest_cmd_nothing(struct ktest_ctx *ctx, struct ktest_args *args)
{
	struct krdma_reconnect_params owner = { .size = sizeof(owner) };
	struct krdma_params p = { .size = sizeof(p), .net = ctx->net };
	struct krdma_cb *cb, *made = krdma_create(&p);
	int taken;

	if (IS_ERR(made))
		return PTR_ERR(made);
	taken = krdma_listen_params(NULL, &p, &cb) != -EINVAL;
	taken += krdma_connect_params(NULL, &p, &cb) != -EINVAL;
	taken += krdma_connect_cb(made, NULL) != -EINVAL;
	taken += krdma_connect_async(made, NULL) != -EINVAL;
	taken += krdma_reconnect_start(NULL, &p, &owner) != ERR_PTR(-EINVAL);
	taken += krdma_release_cb(NULL) != -EINVAL;
	krdma_release_cb(made);
	return taken;
}

/*
 * config BYTES: call krdma_config(BYTES). It applies to later "plain" commands,
 * and to later commands with option simple=1.
 */
static int ktest_cmd_config(struct ktest_ctx *ctx, struct ktest_args *args)
{
	krdma_config(ktest_number(args, 1, 0));
	return 0;
}

static int ktest_cmd_slot(struct ktest_ctx *ctx, struct ktest_args *args)
{
	return ktest_on_slot(ctx, args, ktest_nothing);
}

static int ktest_listen_slot(struct ktest_ctx *ctx,
			     const struct ktest_args *args,
			     struct ktest_slot *slot)
{
	struct sockaddr_storage addr, src;
	struct krdma_params p;
	struct krdma_cb *cb;
	int ret;

	ret = krdma_parse_addr(ctx->net, ktest_arg(args, 2), ktest_arg(args, 3),
			       &addr);
	ret = ret ?: ktest_fill_params(ctx, args, slot, &p, &src);
	if (!ret && ktest_option(args, "simple", 0))
		ret = krdma_listen(ktest_arg(args, 2), ktest_arg(args, 3), &cb);
	else if (!ret)
		ret = krdma_listen_params((struct sockaddr *)&addr, &p, &cb);
	if (ret)
		return ret;
	ret = krdma_local_addr(cb, &addr);
	if (!ret)
		snprintf(ctx->text, sizeof(ctx->text), "local=%pISpc", &addr);
	ret = ktest_slot_set(slot, cb);
	if (ret)
		krdma_release_cb(cb);
	return ret;
}

/*
 * listen NAME HOST PORT [simple=1] [option=value]...: create a listener.
 * simple=1: call krdma_listen(), not krdma_listen_params().
 */
static int ktest_cmd_listen(struct ktest_ctx *ctx, struct ktest_args *args)
{
	return ktest_on_slot(ctx, args, ktest_listen_slot);
}

typedef int (*ktest_wait_fn)(struct krdma_cb *listen_cb, u32 timeout_ms,
			     struct krdma_cb **cb);

static int ktest_wait_on(struct ktest_slot *listener, u32 timeout_ms,
			 ktest_wait_fn wait, struct krdma_cb **cb)
{
	struct krdma_cb *listen_cb = ktest_slot_get_cb(listener);
	int ret;

	if (!listen_cb)
		return -ENOTCONN;
	ret = wait(listen_cb, timeout_ms, cb);
	krdma_put(listen_cb);
	return ret;
}

static int ktest_wait(struct ktest_ctx *ctx, const struct ktest_args *args,
		      struct ktest_slot *slot, ktest_wait_fn wait)
{
	struct ktest_slot *listener = ktest_slot_find(ctx, ktest_arg(args, 2));
	struct krdma_cb *cb;
	int ret;

	if (IS_ERR(listener))
		return PTR_ERR(listener);
	ret = ktest_wait_on(listener, ktest_number(args, 3, 0), wait, &cb);
	ktest_slot_put(listener);
	if (ret)
		return ret;
	ktest_say_peer(ctx, cb);
	ret = ktest_slot_set(slot, cb);
	if (ret)
		krdma_release_cb(cb);
	return ret;
}

static int ktest_accept_slot(struct ktest_ctx *ctx,
			     const struct ktest_args *args,
			     struct ktest_slot *slot)
{
	return ktest_wait(ctx, args, slot, krdma_accept_timeout);
}

static int ktest_request_slot(struct ktest_ctx *ctx,
			      const struct ktest_args *args,
			      struct ktest_slot *slot)
{
	return ktest_wait(ctx, args, slot, krdma_wait_request);
}

static int ktest_cmd_accept(struct ktest_ctx *ctx, struct ktest_args *args)
{
	return ktest_on_slot(ctx, args, ktest_accept_slot);
}

static int ktest_cmd_request(struct ktest_ctx *ctx, struct ktest_args *args)
{
	return ktest_on_slot(ctx, args, ktest_request_slot);
}

static int ktest_answer(struct ktest_slot *slot, const struct ktest_args *args,
			struct krdma_cb *cb)
{
	struct krdma_params p = {
		.size = sizeof(p),
		.context = slot,
		.flags = KRDMA_RAW,
		.ops = &ktest_raw_ops,
		.send_depth = ktest_option(args, "send_depth", 0),
		.recv_depth = ktest_option(args, "recv_depth", 0),
		.comp_vector = ktest_option(args, "comp_vector", 0),
	};

	slot->is_raw = ktest_option(args, "raw", 0);
	if (!slot->is_raw)
		return 0;
	slot->pause_us = ktest_option(args, "pause_us", 0);
	if (ktest_option(args, "shared_cq", 0))
		p.flags |= KRDMA_SHARED_CQ;
	return krdma_set_request_params(cb, &p);
}

/*
 * answer NAME [private=TEXT] [raw=1 [shared_cq=1] [comp_vector=V]
 * [send_depth=N] [recv_depth=N] [pause_us=N]]: accept the request in the slot
 */
static int ktest_answer_slot(struct ktest_slot *slot,
			     const struct ktest_args *args)
{
	struct krdma_cb *cb = ktest_slot_get_cb(slot);
	const char *text = ktest_text_option(args, "private") ?: "";
	int ret;

	if (!cb)
		return -ENOTCONN;
	ret = ktest_answer(slot, args, cb);
	ret = ret ?: krdma_accept_request(cb, text, strlen(text));
	krdma_put(cb);
	if (ret)
		ktest_slot_release(slot);
	return ret;
}

static int ktest_reject_slot(struct ktest_slot *slot,
			     const struct ktest_args *args)
{
	struct krdma_cb *cb = ktest_slot_get_cb(slot);
	const char *text = ktest_text_option(args, "private") ?: "";
	int ret;

	if (!cb)
		return -ENOTCONN;
	ret = krdma_reject_request(cb, text, strlen(text));
	krdma_put(cb);
	ktest_slot_release(slot);
	return ret;
}

static int ktest_disconnect_slot(struct ktest_slot *slot,
				 const struct ktest_args *args)
{
	struct krdma_cb *cb = ktest_slot_get_cb(slot);

	if (!cb)
		return -ENOTCONN;
	krdma_disconnect(cb);
	krdma_put(cb);
	return 0;
}

static int ktest_flushed_slot(struct ktest_slot *slot,
			      const struct ktest_args *args)
{
	struct krdma_cb *cb = ktest_slot_get_cb(slot);

	if (!cb)
		return -ENOTCONN;
	krdma_wc_failed(cb, IB_WC_WR_FLUSH_ERR);
	krdma_put(cb);
	return 0;
}

static int ktest_reset_slot(struct ktest_slot *slot,
			    const struct ktest_args *args)
{
	struct ib_qp_attr reset = { .qp_state = IB_QPS_RESET };
	struct ib_qp_attr init = { .qp_state = IB_QPS_INIT, .port_num = 1 };
	struct krdma_cb *cb = ktest_slot_get_cb(slot);
	int ret;

	if (!cb)
		return -ENOTCONN;
	/*
	 * Move the QP from RESET to INIT, because a QP in RESET cannot be
	 * drained.
	 */
	ret = ib_modify_qp(cb->qp, &reset, IB_QP_STATE) ?:
	      ib_modify_qp(cb->qp, &init, IB_QP_STATE | IB_QP_PKEY_INDEX |
			   IB_QP_PORT | IB_QP_ACCESS_FLAGS);
	krdma_put(cb);
	return ret;
}

/*
 * moved NAME: act as if the bonding interface with this listener's address had
 * switched to another port
 */
static int ktest_moved_slot(struct ktest_slot *slot,
			    const struct ktest_args *args)
{
	struct rdma_cm_event event = { .event = RDMA_CM_EVENT_ADDR_CHANGE };
	struct krdma_cb *cb = ktest_slot_get_cb(slot);
	struct rdma_cm_id *id;
	int ret;

	if (!cb)
		return -ENOTCONN;
	id = cb->cm_id;
	rdma_lock_handler(id);
	ret = id->event_handler(id, &event);
	rdma_unlock_handler(id);
	krdma_put(cb);
	return ret;
}

static int ktest_close_slot(struct ktest_slot *slot,
			    const struct ktest_args *args)
{
	struct krdma_cb *cb = ktest_slot_get_cb(slot);
	int ret;

	if (!cb)
		return -ENOTCONN;
	ret = krdma_close(cb, ktest_number(args, 2, 0),
			  ktest_number(args, 3, 10000));
	krdma_put(cb);
	return ret;
}

static int ktest_reason_slot(struct ktest_slot *slot,
			     const struct ktest_args *args)
{
	struct krdma_cb *cb = ktest_slot_get_cb(slot);
	u32 reason = 0;
	bool said;

	if (!cb)
		return -ENOTCONN;
	said = krdma_peer_reason(cb, &reason);
	krdma_put(cb);
	return said ? reason : -ENOENT;
}

static int ktest_release_slot(struct ktest_slot *slot,
			      const struct ktest_args *args)
{
	int ret;

	fsleep(ktest_option(args, "pause_us", 0));
	ret = ktest_slot_release(slot);
	ktest_slot_forget(slot);
	/*
	 * The slot is empty if the call that should have filled it failed.
	 * Releasing an empty slot is no error.
	 */
	return ret == -ENOTCONN ? 0 : ret;
}

/* The reader of the file gets the list, see ktest_help_text(). */
static int ktest_cmd_help(struct ktest_ctx *ctx, struct ktest_args *args)
{
	ctx->help = true;
	return 0;
}

/*
 * In the tables of commands, the first word of the usage is the name of the
 * command. So no command can be without a usage.
 */
/* Commands whose first argument is the name of an existing slot. */
static const struct {
	int (*run)(struct ktest_slot *slot, const struct ktest_args *args);
	const char *usage;
	const char *help;
} ktest_slot_commands[] = {
	{ ktest_answer_slot,
	  "answer NAME [private=TEXT] [raw=1 [option=value]...]",
	  "accept the request in the slot" },
	{ ktest_close_slot, "close NAME [REASON] [TIMEOUT_MS]",
	  "call krdma_close()" },
	{ ktest_disconnect_slot, "disconnect NAME",
	  "call krdma_disconnect()" },
	{ ktest_flushed_slot, "flushed NAME",
	  "report a flushed work request to krdma, as raw owners do" },
	{ ktest_moved_slot, "moved NAME",
	  "act as if the listener's bonding interface had switched its port" },
	{ ktest_reason_slot, "reason NAME",
	  "return the reason that the peer gave to krdma_close(), or -ENOENT" },
	{ ktest_reject_slot, "reject NAME [private=TEXT]",
	  "reject the request in the slot" },
	{ ktest_release_slot, "release NAME [pause_us=N]",
	  "release the object of the slot, and forget the slot" },
	{ ktest_reset_slot, "reset NAME",
	  "let the queue pair of the connection refuse all later work requests" },
};

static const struct {
	int (*run)(struct ktest_ctx *ctx, struct ktest_args *args);
	const char *usage;
	const char *help;
} ktest_commands[] = {
	{ ktest_cmd_accept, "accept NAME LISTENER [TIMEOUT_MS]",
	  "accept a connection on LISTENER into slot NAME" },
	{ ktest_cmd_brief, "brief HOST PORT N [us=U] [option=value]...",
	  "start and stop N persistent connections, one after the other" },
	{ ktest_cmd_clients, "clients HOST PORT N [after=MS] [option=value]...",
	  "connect N clients at once, and release them" },
	{ ktest_cmd_config, "config BYTES",
	  "call krdma_config(BYTES)" },
	{ ktest_cmd_connect,
	  "connect NAME HOST PORT [keep=1] [option=value]...",
	  "connect, and put the connection into slot NAME" },
	{ ktest_cmd_early,
	  "early accept LISTENER N, or early connect HOST PORT N [option=value]",
	  "send on N connections before they are ready" },
	{ ktest_cmd_failnth, "failnth N COMMAND...",
	  "let the Nth allocation of COMMAND in this task fail" },
	{ ktest_cmd_forget, "forget I",
	  "free the description I that \"learn\" has received" },
	{ ktest_cmd_help, "help",
	  "list all commands" },
	{ ktest_cmd_holds, "holds I [SEED]",
	  "check that region I has the pattern of \"expose\" or \"store\"" },
	{ ktest_cmd_hold, "holdup MS HOST PORT",
	  "let no route be resolved for MS; MS is 0: wait for the end" },
	{ ktest_cmd_intime, "intime",
	  "end \"late\", and count the CQs that were destroyed too early" },
	{ ktest_cmd_kept, "kept drop|kick|pump|show|stop NAME",
	  "disconnect, wake, use, print or stop a persistent connection" },
	{ ktest_cmd_kill, "kill NAME PID [STATE [TIMEOUT_MS [DELAY_US]]]",
	  "kill a process as soon as the object of the slot is in STATE" },
	{ ktest_cmd_kthread, "kthread JOB COMMAND...",
	  "run COMMAND in a new kernel thread" },
	{ ktest_cmd_listen,
	  "listen NAME HOST PORT [simple=1] [option=value]...",
	  "create a listener in slot NAME" },
	{ ktest_cmd_nothing, "nothing",
	  "pass NULL to functions of krdma, and count those that accept it" },
	{ ktest_cmd_rawping, "rawping NAME N [LEN [FILL]]",
	  "send N messages of LEN bytes on a raw connection, each byte FILL" },
	{ ktest_cmd_reconnect,
	  "reconnect NAME HOST PORT [min=MS] [max=MS] [option=value]...",
	  "start a persistent connection" },
	{ ktest_cmd_request, "request NAME LISTENER [TIMEOUT_MS]",
	  "wait for a connect request, and do not answer it" },
	{ ktest_cmd_rounds, "rounds NAME HOST PORT N",
	  "N times, connect to \"serve\", send a message, and receive its echo" },
	{ ktest_cmd_rxcb, "rxcb [KEEP]",
	  "print the counts of \"server\"; with KEEP: reset them" },
	{ ktest_cmd_server,
	  "server [end], or server HOST PORT [rxcb=1] [option=value]...",
	  "accept clients by callbacks; without HOST: print counts, and end" },
	{ ktest_cmd_slot, "slot NAME",
	  "create a slot, so that later commands need not allocate it" },
	{ ktest_cmd_spied, "spied",
	  "end \"spy\", and print numbers of QPs, and their state after RTS" },
	{ ktest_cmd_stop, "stop JOB",
	  "stop the kernel thread, and return the result of its command" },
	{ ktest_cmd_stuck, "stuck HOST PORT N WRITES [option=value]...",
	  "post WRITES notifying writes, and keep N messages until the last" },
	{ ktest_cmd_tell, "tell end, or tell HOST PORT [option=value]...",
	  "start or end a server that gets notifying writes" },
	{ ktest_cmd_unkey, "unkey",
	  "put the objects of all options keys= and keyring=" },
	{ ktest_cmd_undomain, "undomain",
	  "put all domains; connections in these domains continue" },
	{ ktest_cmd_until, "until NAME STATE [TIMEOUT_MS]",
	  "wait until the object of the slot is in STATE" },
	{ ktest_cmd_withdraw, "withdraw I [revoke=0] [keep=1]",
	  "revoke the keys of region I, and put the region" },
};

/* Check whether @name is the first word of @usage. */
bool ktest_is_named(const char *usage, const char *name)
{
	size_t len = strcspn(usage, " ");

	return strlen(name) == len && !strncmp(usage, name, len);
}

/*
 * Set @usage and @help to those of command @i of all tables. Return false
 * behind the last command.
 */
static bool ktest_help_of(int i, const char **usage, const char **help)
{
	if (i < ARRAY_SIZE(ktest_commands)) {
		*usage = ktest_commands[i].usage;
		*help = ktest_commands[i].help;
		return true;
	}
	i -= ARRAY_SIZE(ktest_commands);
	if (i < ARRAY_SIZE(ktest_slot_commands)) {
		*usage = ktest_slot_commands[i].usage;
		*help = ktest_slot_commands[i].help;
		return true;
	}
	return ktest_call_help(i - ARRAY_SIZE(ktest_slot_commands), usage,
			       help);
}

/*
 * Return a line with the number of commands behind @head, and a line for each
 * command. The caller frees the text.
 */
char *ktest_help_text(const char *head)
{
	size_t size = strlen(head) + 32, len;
	const char *usage, *help;
	char *text;
	int i, n;

	for (n = 0; ktest_help_of(n, &usage, &help); n++)
		size += strlen(usage) + strlen(help) + 3;
	text = kmalloc(size, GFP_KERNEL);
	if (!text)
		return NULL;
	len = scnprintf(text, size, "%s%d commands\n", head, n);
	for (i = 0; ktest_help_of(i, &usage, &help); i++)
		len += scnprintf(text + len, size - len, "%s: %s\n", usage,
				 help);
	return text;
}

static int ktest_dispatch_slot(const struct ktest_ctx *ctx,
			       struct ktest_args *args)
{
	struct ktest_slot *slot;
	int i, ret;

	for (i = 0; i < ARRAY_SIZE(ktest_slot_commands); i++)
		if (ktest_is_named(ktest_slot_commands[i].usage, args->words[0]))
			break;
	if (i == ARRAY_SIZE(ktest_slot_commands))
		return -EINVAL;
	slot = ktest_slot_find(ctx, ktest_arg(args, 1));
	if (IS_ERR(slot))
		return PTR_ERR(slot);
	ret = ktest_slot_commands[i].run(slot, args);
	ktest_slot_put(slot);
	return ret;
}

int ktest_dispatch(struct ktest_ctx *ctx, struct ktest_args *args)
{
	int i;

	if (!args->n)
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(ktest_commands); i++)
		if (ktest_is_named(ktest_commands[i].usage, args->words[0]))
			return ktest_commands[i].run(ctx, args);
	if (ktest_is_call(args->words[0]))
		return ktest_dispatch_call(ctx, args);
	return ktest_dispatch_slot(ctx, args);
}

/* Split @line into words, and run them as a command. */
int ktest_run(struct ktest_ctx *ctx, char *line)
{
	char *words[KTEST_WORDS], *word;
	struct ktest_args args = { .words = words };

	while ((word = strsep(&line, "\n "))) {
		if (!*word)
			continue;
		if (args.n == KTEST_WORDS)
			return -E2BIG;
		words[args.n++] = word;
	}
	return ktest_dispatch(ctx, &args);
}
