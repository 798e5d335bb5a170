// SPDX-License-Identifier: GPL-2.0
/*
 * Commands that transfer data by single calls, or repeatedly for load.
 *
 * A message has a pattern that the receiver can check: byte i is a function of
 * i and of the length of the message.
 */
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include <linux/string.h>

#include <krdma_simple.h>

#include "priv.h"

/* Size of the buffer of a command, which is the maximum length of a message. */
#define KTEST_MAX_MSG SZ_1M
#define KTEST_HOLD_MAX 16

struct ktest_use {
	struct ktest_slot *slot;
	struct krdma_cb *cb;
	u8 *buf;
};

static u8 ktest_pattern(size_t i, size_t len)
{
	size_t far = len > SZ_1M ? (i >> 16) * 3 + (i >> 24) * 5 : 0;

	return i * 7 + (i >> 8) + far + len;
}

/*
 * Fill @buf with a pattern. Patterns with different seeds differ in every group
 * of four bytes.
 */
void ktest_fill_seed(u8 *buf, size_t len, u32 seed)
{
	size_t i;

	for (i = 0; i < len; i++)
		buf[i] = ktest_pattern(i, len) ^ (u8)(seed >> (i % 4 * 8));
}

int ktest_check_seed(const u8 *buf, size_t len, u32 seed)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (buf[i] != (u8)(ktest_pattern(i, len) ^ (seed >> (i % 4 * 8))))
			return -EBADMSG;
	return 0;
}

void ktest_fill(u8 *buf, size_t len)
{
	ktest_fill_seed(buf, len, 0);
}

int ktest_check(const u8 *buf, size_t len)
{
	return ktest_check_seed(buf, len, 0);
}

static void ktest_unuse(struct ktest_use *use)
{
	kvfree(use->buf);
	krdma_put(use->cb);
	ktest_slot_put(use->slot);
}

/*
 * Get the slot in the first argument, its connection or listener, and a buffer
 * of KTEST_MAX_MSG bytes. ktest_unuse() puts and frees them.
 */
static int ktest_use(struct ktest_use *use, const struct ktest_ctx *ctx,
		     const struct ktest_args *args)
{
	use->slot = ktest_slot_find(ctx, ktest_arg(args, 1));
	if (IS_ERR(use->slot))
		return PTR_ERR(use->slot);
	use->cb = ktest_slot_get_cb(use->slot);
	if (!use->cb) {
		ktest_slot_put(use->slot);
		return -ENOTCONN;
	}
	use->buf = kvzalloc(KTEST_MAX_MSG, GFP_KERNEL);
	if (!use->buf) {
		ktest_unuse(use);
		return -ENOMEM;
	}
	return 0;
}

static int ktest_do_longsend(struct ktest_ctx *ctx,
			     const struct ktest_args *args,
			     struct ktest_use *use, u32 len)
{
	return ktest_long_send(args, use->cb);
}

static int ktest_do_longsendv(struct ktest_ctx *ctx,
			      const struct ktest_args *args,
			      struct ktest_use *use, u32 len)
{
	return ktest_long_sendv(args, use->cb);
}

static int ktest_do_longreceive(struct ktest_ctx *ctx,
				const struct ktest_args *args,
				struct ktest_use *use, u32 len)
{
	return ktest_long_receive(args, use->cb);
}

static bool ktest_should_end(void)
{
	cond_resched();
	return fatal_signal_pending(current) ||
	       (current->flags & PF_KTHREAD && kthread_should_stop());
}

/*
 * A function that runs a command. @len is the number behind the name of the
 * slot: in most commands the length of a message.
 */
typedef int (*ktest_call)(struct ktest_ctx *ctx, const struct ktest_args *args,
			  struct ktest_use *use, u32 len);

static int ktest_do_send(struct ktest_ctx *ctx, const struct ktest_args *args,
			 struct ktest_use *use, u32 len)
{
	ktest_fill(use->buf, len);
	return krdma_send_timeout(use->cb, use->buf, len,
				  ktest_number(args, 3, KTEST_WAIT_MS));
}

static int ktest_do_receive(struct ktest_ctx *ctx, const struct ktest_args *args,
			    struct ktest_use *use, u32 len)
{
	int ret = krdma_receive_len(use->cb, use->buf, len,
				    ktest_number(args, 3, 0));

	return ret > 0 ? ktest_check(use->buf, ret) ?: ret : ret;
}

static int ktest_do_plain(struct ktest_ctx *ctx, const struct ktest_args *args,
			  struct ktest_use *use, u32 len)
{
	int ret = krdma_receive(use->cb, use->buf);

	return ret > 0 ? ktest_check(use->buf, ret) ?: ret : ret;
}

static int ktest_do_peek(struct ktest_ctx *ctx, const struct ktest_args *args,
			 struct ktest_use *use, u32 len)
{
	return krdma_receive_peek(use->cb, ktest_number(args, 2, 0));
}

static int ktest_do_write(struct ktest_ctx *ctx, const struct ktest_args *args,
			  struct ktest_use *use, u32 len)
{
	ktest_fill(use->buf, len);
	return krdma_write_at(use->cb, use->buf, len, ktest_number(args, 3, 0),
			      ktest_number(args, 4, KTEST_WAIT_MS));
}

static int ktest_do_read(struct ktest_ctx *ctx, const struct ktest_args *args,
			 struct ktest_use *use, u32 len)
{
	int ret = krdma_read_at(use->cb, use->buf, len,
				ktest_number(args, 3, 0),
				ktest_number(args, 4, KTEST_WAIT_MS));

	return ret ?: ktest_check(use->buf, len);
}

static int ktest_do_zero(struct ktest_ctx *ctx, const struct ktest_args *args,
			 struct ktest_use *use, u32 len)
{
	memset(use->buf, 0, sizeof(u64));
	return krdma_write_at(use->cb, use->buf, sizeof(u64),
			      ktest_number(args, 2, 0), KTEST_WAIT_MS);
}

static int ktest_do_take(struct ktest_ctx *ctx, const struct ktest_args *args,
			 struct ktest_use *use, u32 n)
{
	u32 len = ktest_number(args, 3, 0), i;
	int ret;

	for (i = 0; i < n; i++) {
		ret = krdma_receive_len(use->cb, use->buf, KTEST_MAX_MSG,
					KTEST_WAIT_MS);
		if (ret < 0)
			return ret;
		if (ret != len || ktest_check(use->buf, len))
			return -EBADMSG;
	}
	return 0;
}

static int ktest_do_exported(struct ktest_ctx *ctx,
			     const struct ktest_args *args,
			     struct ktest_use *use, u32 len)
{
	int ret;

	snprintf(ctx->text, sizeof(ctx->text), "own=%llu peer=%llu",
		 krdma_export_size(use->cb), krdma_peer_export_size(use->cb));
	ret = krdma_export_read(use->cb, use->buf, len,
				ktest_number(args, 3, 0));
	return ret ?: ktest_check(use->buf, len);
}

static int ktest_do_show(struct ktest_ctx *ctx, const struct ktest_args *args,
			 struct ktest_use *use, u32 len)
{
	ktest_fill(use->buf, len);
	return krdma_export_write(use->cb, use->buf, len,
				  ktest_number(args, 3, 0));
}

static int ktest_do_pump(struct ktest_ctx *ctx, const struct ktest_args *args,
			 struct ktest_use *use, u32 len)
{
	ktime_t end = ktime_add_ms(ktime_get(), ktest_number(args, 3, 1000));
	u32 count = 0;
	int ret = 0;

	ktest_fill(use->buf, len);
	while (ktime_before(ktime_get(), end) && !ktest_should_end()) {
		ret = krdma_send_timeout(use->cb, use->buf, len,
					 KTEST_WAIT_MS);
		if (ret)
			break;
		count++;
	}
	snprintf(ctx->text, sizeof(ctx->text), "count=%u", count);
	return ret;
}

static int ktest_rw_until(struct ktest_load *load, struct krdma_cb *cb, u32 ms,
			  u32 *count)
{
	ktime_t end = ktime_add_ms(ktime_get(), ms);
	int ret = ktest_load_on(load, cb, true);

	while (!ret && ktime_before(ktime_get(), end) && !ktest_should_end()) {
		ret = ktest_load_round(load, KTEST_WAIT_MS);
		*count += !ret;
	}
	return ret;
}

static int ktest_do_rwpump(struct ktest_ctx *ctx, const struct ktest_args *args,
			   struct ktest_use *use, u32 len)
{
	struct ktest_load *load = ktest_load_begin(len, false);
	u32 count = 0;
	int ret;

	if (!load)
		return -ENOMEM;
	ret = ktest_rw_until(load, use->cb, ktest_number(args, 3, 1000), &count);
	ret = ktest_load_end(load, NULL) ?: ret;
	snprintf(ctx->text, sizeof(ctx->text), "count=%u", count);
	return ret;
}

/*
 * Receive messages until a call fails, and return its errno. Return -EBADMSG
 * after a message without its pattern. If @answer, send each message back.
 */
static int ktest_drink(struct krdma_cb *cb, u8 *buf, bool answer, u32 *count)
{
	int ret;

	for (*count = 0;; ++*count) {
		ret = krdma_receive_len(cb, buf, KTEST_MAX_MSG, 0);
		if (ret < 0)
			return ret;
		if (ktest_check(buf, ret))
			return -EBADMSG;
		if (answer)
			ret = krdma_send_timeout(cb, buf, ret, KTEST_WAIT_MS);
		if (ret < 0)
			return ret;
		cond_resched();
	}
}

static int ktest_drink_all(struct ktest_ctx *ctx, struct ktest_use *use,
			   bool answer)
{
	u32 count;
	int ret = ktest_drink(use->cb, use->buf, answer, &count);

	snprintf(ctx->text, sizeof(ctx->text), "count=%u", count);
	return ret;
}

static int ktest_do_sink(struct ktest_ctx *ctx, const struct ktest_args *args,
			 struct ktest_use *use, u32 len)
{
	return ktest_drink_all(ctx, use, false);
}

static int ktest_do_echo(struct ktest_ctx *ctx, const struct ktest_args *args,
			 struct ktest_use *use, u32 len)
{
	return ktest_drink_all(ctx, use, true);
}

static bool ktest_listener_is_over(struct krdma_cb *listen_cb, int error)
{
	return error == -EINTR || krdma_get_state(listen_cb) != KRDMA_LISTENING;
}

static int ktest_serve(struct ktest_use *listener, u32 *served, u32 *failed)
{
	struct krdma_cb *cb;
	u32 count;
	int ret;

	for (;;) {
		ret = krdma_accept_timeout(listener->cb, 0, &cb);
		if (ret && ktest_listener_is_over(listener->cb, ret))
			return ret;
		if (ret) {
			/*
			 * Accepting may fail, for example if memory is short.
			 * In this case wait for the next connection.
			 */
			++*failed;
			continue;
		}
		ret = ktest_drink(cb, listener->buf, true, &count);
		/* krdma has found the wrong message, and not ktest_check(). */
		if (ret == -EBADMSG && krdma_last_error(cb) == ret)
			ret = -ECONNRESET;
		krdma_release_cb(cb);
		++*served;
		if (ret == -EBADMSG || ret == -EINTR)
			return ret;
	}
}

static int ktest_do_serve(struct ktest_ctx *ctx, const struct ktest_args *args,
			  struct ktest_use *use, u32 len)
{
	u32 served = 0, failed = 0;
	int ret;

	ret = ktest_serve(use, &served, &failed);
	snprintf(ctx->text, sizeof(ctx->text), "served=%u failed=%u", served,
		 failed);
	return ret;
}

/* Release all connections that are closed, or all connections if @all. */
static void ktest_hold_prune(struct krdma_cb **cbs, bool all)
{
	int i;

	for (i = 0; i < KTEST_HOLD_MAX; i++) {
		if (!cbs[i] || (!all && krdma_is_established(cbs[i])))
			continue;
		krdma_release_cb(cbs[i]);
		cbs[i] = NULL;
	}
}

static void ktest_hold_keep(struct krdma_cb **cbs, struct krdma_cb *cb)
{
	int i;

	for (i = 0; i < KTEST_HOLD_MAX; i++) {
		if (!cbs[i]) {
			cbs[i] = cb;
			return;
		}
	}
	krdma_release_cb(cb);
}

static int ktest_do_hold(struct ktest_ctx *ctx, const struct ktest_args *args,
			 struct ktest_use *use, u32 len)
{
	struct krdma_cb *cbs[KTEST_HOLD_MAX] = {}, *cb;
	u32 held = 0;
	int ret;

	do {
		ret = krdma_accept_timeout(use->cb, 200, &cb);
		if (!ret) {
			ktest_hold_keep(cbs, cb);
			held++;
		}
		ktest_hold_prune(cbs, false);
	} while (!ret || !ktest_listener_is_over(use->cb, ret));
	ktest_hold_prune(cbs, true);
	snprintf(ctx->text, sizeof(ctx->text), "held=%u", held);
	return ret;
}

static int ktest_do_query(struct ktest_ctx *ctx, const struct ktest_args *args,
			  struct ktest_use *use, u32 len)
{
	static const char * const transports[] = { "ib", "roce", "iwarp" };
	struct krdma_caps caps = { .size = sizeof(caps) };
	size_t size = ktest_option(args, "size", sizeof(caps));
	void *buf = use->buf;
	int ret;

	memset(buf, 0xff, size);
	*(size_t *)buf = size;
	ret = krdma_query(use->cb, buf);
	if (ret)
		return ret;
	if (size > sizeof(caps) &&
	    memchr_inv(buf + sizeof(caps), 0, size - sizeof(caps)))
		return -EBADMSG;
	memcpy(&caps, buf, min(size, sizeof(caps)));
	snprintf(ctx->text, sizeof(ctx->text),
		 "transport=%s device=%s part=%u send=%u receive=%u inline=%u sges=%u/%u depth=%u/%u mr=%u/%llu atomics=%d/%d imm=%d inv=%d/%d sink=%d virt=%d relaxed=%d alive=%d reads=%u/%u version=%u features=%#x takes=%d/%d vectors=%u mtu=%u/%u/%u gid=%u/%u class=%u node=%d vector=%u security=%u key=%08x",
		 transports[caps.transport], caps.device, caps.max_part,
		 caps.max_send, caps.max_receive, caps.max_inline,
		 caps.max_send_sge, caps.max_read_sge, caps.send_depth,
		 caps.recv_depth, caps.mr_pages, caps.mr_bytes, caps.atomics,
		 caps.atomics_global, caps.write_imm, caps.send_inv,
		 caps.read_inv, caps.read_needs_region, caps.virt_dma,
		 caps.relaxed_ordering, caps.keepalive, caps.initiator_depth,
		 caps.responder_resources, caps.peer_version,
		 caps.peer_features, caps.peer_takes_imm,
		 caps.peer_takes_inv, caps.comp_vectors, caps.path_mtu,
		 caps.local_mtu, caps.peer_mtu, caps.gid_type,
		 caps.peer_gid_type, caps.traffic_class, caps.numa_node,
		 caps.comp_vector, caps.security, caps.key_id);
	return 0;
}

static int ktest_call_async(struct ktest_ctx *ctx,
			    const struct ktest_args *args,
			    struct ktest_use *use, u32 len)
{
	return ktest_do_async(ctx, args, use->cb);
}

static int ktest_call_ask(struct ktest_ctx *ctx, const struct ktest_args *args,
			  struct ktest_use *use, u32 len)
{
	return ktest_do_ask(ctx, args, use->cb);
}

static int ktest_call_talk(struct ktest_ctx *ctx, const struct ktest_args *args,
			   struct ktest_use *use, u32 len)
{
	return ktest_do_talk(ctx, args, use->cb, use->buf);
}

static int ktest_call_expose(struct ktest_ctx *ctx,
			     const struct ktest_args *args,
			     struct ktest_use *use, u32 len)
{
	return ktest_do_expose(ctx, args, use->cb, use->buf);
}

static int ktest_call_learn(struct ktest_ctx *ctx,
			    const struct ktest_args *args,
			    struct ktest_use *use, u32 len)
{
	return ktest_do_learn(args, use->cb, use->buf);
}

static int ktest_call_fetch(struct ktest_ctx *ctx,
			    const struct ktest_args *args,
			    struct ktest_use *use, u32 len)
{
	return ktest_do_fetch(args, use->cb);
}

static int ktest_call_store(struct ktest_ctx *ctx,
			    const struct ktest_args *args,
			    struct ktest_use *use, u32 len)
{
	return ktest_do_store(args, use->cb);
}

static int ktest_call_wrong(struct ktest_ctx *ctx,
			    const struct ktest_args *args,
			    struct ktest_use *use, u32 len)
{
	return ktest_do_wrong(args, use->cb);
}

static int ktest_call_regions(struct ktest_ctx *ctx,
			      const struct ktest_args *args,
			      struct ktest_use *use, u32 len)
{
	return ktest_do_regions(ctx, args, use->cb);
}

static int ktest_call_late(struct ktest_ctx *ctx, const struct ktest_args *args,
			   struct ktest_use *use, u32 len)
{
	return ktest_do_late(args, use->cb);
}

static int ktest_call_wrap(struct ktest_ctx *ctx, const struct ktest_args *args,
			   struct ktest_use *use, u32 len)
{
	return ktest_do_wrap(args, use->cb);
}

static int ktest_call_spy(struct ktest_ctx *ctx, const struct ktest_args *args,
			  struct ktest_use *use, u32 len)
{
	return ktest_do_spy(args, use->cb);
}

static const struct {
	ktest_call call;
	const char *usage;
	const char *help;
} ktest_calls[] = {
	{ ktest_call_ask,
	  "ask NAME invite|foreign|twice|heir|back|stale|report [N]",
	  "let the server of \"tell\" invalidate keys, or report its counts" },
	{ ktest_call_async,
	  "async NAME OP MEM N LEN [chain=C] [offset=O] [nowait|fence|...=1]",
	  "post N requests of LEN bytes" },
	{ ktest_do_echo, "echo NAME",
	  "receive and send back until the connection ends" },
	{ ktest_do_exported, "exported NAME LEN OFFSET",
	  "check the pattern in the exported buffer of this side" },
	{ ktest_call_expose,
	  "expose NAME I LEN [access=A] [of=alloc|vmalloc|sg|...] [skip=BYTES]",
	  "create region I, and describe it to the peer" },
	{ ktest_call_fetch, "fetch NAME I LEN [SEED] [dry=1]",
	  "read the described region I, and check its pattern" },
	{ ktest_do_hold, "hold LISTENER",
	  "accept connections, and do not use them" },
	{ ktest_call_late, "late NAME MS",
	  "delay completion handlers of the device by MS, until \"intime\"" },
	{ ktest_call_learn, "learn NAME I",
	  "receive the description that \"expose\" of the peer sends" },
	{ ktest_do_longreceive,
	  "longreceive NAME SIZE [TIMEOUT_MS] [mem=vmalloc|...] [at=OFFSET]",
	  "receive a message into SIZE bytes" },
	{ ktest_do_longsend,
	  "longsend NAME LEN [TIMEOUT_MS] [mem=vmalloc|kmalloc|own] [at=O]",
	  "send a message of LEN bytes" },
	{ ktest_do_longsendv,
	  "longsendv NAME LEN [TIMEOUT_MS] [piece=MAX] [bvec=1] [skip=N]",
	  "send a message from pieces of up to MAX bytes" },
	{ ktest_do_peek, "peek NAME [TIMEOUT_MS]",
	  "wait for a message, and return its length" },
	{ ktest_do_plain, "plain NAME",
	  "receive by krdma_receive(), which has no argument for the size" },
	{ ktest_do_pump, "pump NAME LEN MS",
	  "send messages repeatedly for MS" },
	{ ktest_do_query, "query NAME",
	  "print the properties of the connection, as name=value" },
	{ ktest_do_read, "read NAME LEN OFFSET [TIMEOUT_MS]",
	  "read from the peer's exported buffer, and check the pattern" },
	{ ktest_do_receive, "receive NAME SIZE [TIMEOUT_MS]",
	  "receive a message, and check its pattern" },
	{ ktest_call_regions, "regions NAME N LEN [live=L] [revoke=0]",
	  "create and put N regions of LEN bytes, of which L exist at a time" },
	{ ktest_do_rwpump, "rwpump NAME LEN MS",
	  "write, read and compare data repeatedly for MS" },
	{ ktest_do_send, "send NAME LEN [TIMEOUT_MS]",
	  "send a message with a pattern" },
	{ ktest_do_serve, "serve LISTENER",
	  "accept one connection after the other, and echo its messages" },
	{ ktest_do_show, "show NAME LEN OFFSET",
	  "write a pattern to the exported buffer of this side" },
	{ ktest_do_sink, "sink NAME",
	  "receive until the connection ends" },
	{ ktest_call_spy, "spy NAME [driver=ID] [max_qp_wr=N]",
	  "record calls to the driver of the device until \"spied\"" },
	{ ktest_call_store, "store NAME I LEN [SEED] [of=KIND] [skip=BYTES]",
	  "write a pattern to the described region I" },
	{ ktest_do_take, "take NAME N LEN",
	  "receive N messages of LEN bytes each" },
	{ ktest_call_talk, "talk NAME N MAX WINDOW",
	  "send N messages of up to MAX bytes, and check their answers" },
	{ ktest_call_wrap, "wrap NAME START",
	  "let the ids of messages and of the connection continue at START" },
	{ ktest_do_write, "write NAME LEN OFFSET [TIMEOUT_MS]",
	  "write a pattern to the peer's exported buffer" },
	{ ktest_call_wrong, "wrong NAME CALL",
	  "call function CALL in the current state of the object" },
	{ ktest_do_zero, "zero NAME OFFSET",
	  "write 8 zero bytes to the peer's exported buffer" },
};

static ktest_call ktest_call_find(const char *name)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(ktest_calls); i++)
		if (ktest_is_named(ktest_calls[i].usage, name))
			return ktest_calls[i].call;
	return NULL;
}

/* Set @usage and @help to those of call @i. Return false behind the last one. */
bool ktest_call_help(int i, const char **usage, const char **help)
{
	if (i >= ARRAY_SIZE(ktest_calls))
		return false;
	*usage = ktest_calls[i].usage;
	*help = ktest_calls[i].help;
	return true;
}

bool ktest_is_call(const char *name)
{
	return ktest_call_find(name);
}

/* Run a command on the connection or listener of a slot. */
int ktest_dispatch_call(struct ktest_ctx *ctx, const struct ktest_args *args)
{
	ktest_call call = ktest_call_find(args->words[0]);
	u32 len = ktest_number(args, 2, 64);
	struct ktest_use use;
	int ret;

	/*
	 * The buffer has KTEST_MAX_MSG bytes. The commands "wrap", "longsend",
	 * "longsendv" and "longreceive" do not use the buffer.
	 */
	if (len > KTEST_MAX_MSG && call != ktest_call_wrap &&
	    strncmp(args->words[0], "long", 4))
		return -EINVAL;
	ret = ktest_use(&use, ctx, args);
	if (ret)
		return ret;
	ret = call(ctx, args, &use, len);
	ktest_unuse(&use);
	return ret;
}

static int ktest_ping(struct krdma_cb *cb, u8 *buf, u32 len)
{
	int ret;

	ktest_fill(buf, len);
	ret = krdma_send_timeout(cb, buf, len, KTEST_WAIT_MS);
	if (ret < 0)
		return ret;
	memset(buf, 0, len);
	ret = krdma_receive_len(cb, buf, KTEST_MAX_MSG, KTEST_WAIT_MS);
	if (ret < 0)
		return ret;
	return ret == len ? ktest_check(buf, len) : -EBADMSG;
}

/*
 * Connect. On siw the CM may choose a local port for which TCP still has a
 * connection to the same peer in TIME_WAIT. If so, try again, with another
 * port.
 */
static int ktest_dial(const struct sockaddr *dst, const struct krdma_params *p,
		      struct krdma_cb **cb)
{
	u32 left = 8;
	int ret;

	do {
		ret = krdma_connect_params(dst, p, cb);
	} while (ret == -EADDRNOTAVAIL && --left);
	return ret;
}

static int ktest_round(const struct sockaddr *dst,
		       const struct krdma_params *p, u8 *buf)
{
	struct krdma_cb *cb;
	int ret;

	ret = ktest_dial(dst, p, &cb);
	if (ret)
		return ret;
	ret = ktest_ping(cb, buf, 64);
	krdma_release_cb(cb);
	return ret;
}

static int ktest_rounds(struct ktest_ctx *ctx, const struct ktest_args *args,
			struct ktest_slot *slot, u8 *buf)
{
	u32 rounds = ktest_number(args, 4, 1), i;
	struct sockaddr_storage dst, src;
	struct krdma_params p;
	int ret;

	ret = krdma_parse_addr(ctx->net, ktest_arg(args, 2), ktest_arg(args, 3),
			       &dst);
	ret = ret ?: ktest_fill_params(ctx, args, slot, &p, &src);
	if (ret)
		return ret;
	for (i = 0; i < rounds && !ret && !ktest_should_end(); i++)
		ret = ktest_round((struct sockaddr *)&dst, &p, buf);
	snprintf(ctx->text, sizeof(ctx->text), "rounds=%u", i);
	return ret;
}

static int ktest_rounds_slot(struct ktest_ctx *ctx,
			     const struct ktest_args *args,
			     struct ktest_slot *slot)
{
	u8 *buf = kvmalloc(KTEST_MAX_MSG, GFP_KERNEL);
	int ret;

	if (!buf)
		return -ENOMEM;
	ret = ktest_rounds(ctx, args, slot, buf);
	kvfree(buf);
	return ret;
}

int ktest_cmd_rounds(struct ktest_ctx *ctx, struct ktest_args *args)
{
	return ktest_on_slot(ctx, args, ktest_rounds_slot);
}
