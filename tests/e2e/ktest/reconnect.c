// SPDX-License-Identifier: GPL-2.0
/*
 * Persistent connections, and checks of their callbacks. connected() and lost()
 * must alternate, and both must get the same connection. The epoch grows by one
 * with each connected().
 */
#include <linux/delay.h>
#include <linux/random.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "priv.h"

#define KTEST_AGAIN_LEN 4096

/**
 * struct ktest_reconnect - a name for a krdma_reconnect
 * @link: in ktest_reconnects, under ktest_reconnects_lock
 * @ref: number of references: one for the list, and one for each command that
 *	uses this struct
 * @name: name of the persistent connection in commands
 * @linger_ms: duration of callbacks, in ms
 * @by_callback: messages arrive by callback
 * @lock: protects @reconn; the task that sets @reconn to NULL stops it
 * @reconn: persistent connection; NULL if it is stopped
 *
 * Written by callbacks, of which one runs at a time:
 * @up: connection between connected() and lost(); NULL if there is none
 * @epoch: epoch of the last connection
 * @connected: number of calls of connected()
 * @lost: number of calls of lost()
 * @wrong: number of unexpected calls
 * @reason: reason of the last lost()
 *
 * @received: number of messages that arrived by callback
 */
struct ktest_reconnect {
	struct list_head link;
	struct kref ref;
	char name[KTEST_NAME_LEN];
	u32 linger_ms;
	bool by_callback;
	struct mutex lock; /* protects @reconn */
	struct krdma_reconnect *reconn;

	struct krdma_cb *up;
	u64 epoch;
	u32 connected;
	u32 lost;
	u32 wrong;
	int reason;

	atomic_t received;
};

static LIST_HEAD(ktest_reconnects);
static DEFINE_MUTEX(ktest_reconnects_lock);

static void ktest_reconnect_connected(struct krdma_reconnect *reconn,
				      struct krdma_cb *cb, u64 epoch)
{
	struct ktest_reconnect *a = krdma_reconnect_context(reconn);

	if (a->up || epoch != a->epoch + 1 ||
	    krdma_reconnect_epoch(reconn) != epoch)
		a->wrong++;
	/* A receive call must be refused if messages arrive by callback. */
	if (a->by_callback && krdma_receive_len(cb, NULL, 0, 1) != -EINVAL)
		a->wrong++;
	a->up = cb;
	a->epoch = epoch;
	a->connected++;
	if (a->linger_ms)
		msleep(a->linger_ms);
}

/* Handle a lost connection, which must be closed, and is not freed yet. */
static void ktest_reconnect_lost(struct krdma_reconnect *reconn,
				 struct krdma_cb *cb, int reason)
{
	struct ktest_reconnect *a = krdma_reconnect_context(reconn);

	if (a->up != cb || !reason || krdma_is_established(cb))
		a->wrong++;
	if (a->linger_ms)
		msleep(a->linger_ms);
	a->up = NULL;
	a->reason = reason;
	a->lost++;
}

static void ktest_reconnect_receive(struct krdma_reconnect *reconn,
				    struct krdma_cb *cb,
				    struct krdma_rx_msg *rx_msg)
{
	struct ktest_reconnect *a = krdma_reconnect_context(reconn);

	if (READ_ONCE(a->up) == cb)
		atomic_inc(&a->received);
	krdma_rx_msg_release(rx_msg);
}

static const struct krdma_reconnect_ops ktest_reconnect_ops = {
	.owner = THIS_MODULE,
	.connected = ktest_reconnect_connected,
	.lost = ktest_reconnect_lost,
};

static const struct krdma_reconnect_ops ktest_reconnect_receive_ops = {
	.owner = THIS_MODULE,
	.connected = ktest_reconnect_connected,
	.lost = ktest_reconnect_lost,
	.receive = ktest_reconnect_receive,
};

static void ktest_reconnect_free(struct kref *ref)
{
	struct ktest_reconnect *a =
		container_of(ref, struct ktest_reconnect, ref);

	WARN_ON_ONCE(a->reconn);
	mutex_destroy(&a->lock);
	kfree(a);
}

static void ktest_reconnect_put(struct ktest_reconnect *a)
{
	kref_put(&a->ref, ktest_reconnect_free);
}

static struct ktest_reconnect *ktest_reconnect_alloc(const char *name,
						     u32 linger_ms)
{
	struct ktest_reconnect *a = kzalloc(sizeof(*a), GFP_KERNEL);

	if (!a)
		return NULL;
	kref_init(&a->ref);
	mutex_init(&a->lock);
	strscpy(a->name, name, sizeof(a->name));
	a->linger_ms = linger_ms;
	return a;
}

/*
 * Return the persistent connection with this name, or NULL. The caller puts the
 * reference.
 */
static struct ktest_reconnect *ktest_reconnect_find(const char *name)
{
	struct ktest_reconnect *a, *found = NULL;

	mutex_lock(&ktest_reconnects_lock);
	list_for_each_entry(a, &ktest_reconnects, link)
		if (!strcmp(a->name, name))
			found = a;
	if (found)
		kref_get(&found->ref);
	mutex_unlock(&ktest_reconnects_lock);
	return found;
}

static int ktest_reconnect_start(struct ktest_ctx *ctx,
				 const struct ktest_args *args, int host,
				 struct ktest_reconnect *a)
{
	const struct krdma_reconnect_params owner = {
		.size = sizeof(owner),
		.ops = a->by_callback ? &ktest_reconnect_receive_ops :
				  &ktest_reconnect_ops,
		.context = a,
		.min_ms = ktest_option(args, "min", 0),
		.max_ms = ktest_option(args, "max", 0),
	};
	struct ktest_slot dummy = {};
	struct sockaddr_storage dst, src;
	struct krdma_reconnect *reconn;
	struct krdma_params p;
	int ret;

	ret = krdma_parse_addr(ctx->net, ktest_arg(args, host),
			       ktest_arg(args, host + 1), &dst) ?:
	      ktest_fill_params(ctx, args, &dummy, &p, &src);
	if (ret)
		return ret;
	reconn = krdma_reconnect_start((struct sockaddr *)&dst, &p, &owner);
	/* krdma must not use the addresses after the call. */
	memset(&dst, 0xee, sizeof(dst));
	memset(&src, 0xee, sizeof(src));
	if (IS_ERR(reconn))
		return PTR_ERR(reconn);
	mutex_lock(&a->lock);
	a->reconn = reconn;
	mutex_unlock(&a->lock);
	return 0;
}

static int ktest_reconnect_stop(struct ktest_reconnect *a)
{
	struct krdma_reconnect *reconn;

	mutex_lock(&a->lock);
	reconn = a->reconn;
	a->reconn = NULL;
	mutex_unlock(&a->lock);
	krdma_reconnect_stop(reconn);
	return a->up || a->wrong || a->connected != a->lost ? -EPROTO : 0;
}

/*
 * reconnect NAME HOST PORT [min=MS] [max=MS] [linger=MS] [receive=1]
 * [option=value]...: start a persistent connection
 */
int ktest_cmd_reconnect(struct ktest_ctx *ctx, struct ktest_args *args)
{
	struct ktest_reconnect *a;
	int ret;

	a = ktest_reconnect_alloc(ktest_arg(args, 1),
				  ktest_option(args, "linger", 0));
	if (!a)
		return -ENOMEM;
	a->by_callback = ktest_option(args, "receive", 0);
	ret = ktest_reconnect_start(ctx, args, 2, a);
	if (ret) {
		ktest_reconnect_put(a);
		return ret;
	}
	mutex_lock(&ktest_reconnects_lock);
	list_add_tail(&a->link, &ktest_reconnects);
	mutex_unlock(&ktest_reconnects_lock);
	return 0;
}

static struct krdma_cb *ktest_reconnect_get_cb(struct ktest_reconnect *a,
					       bool *stopped)
{
	struct krdma_cb *cb = NULL;

	mutex_lock(&a->lock);
	*stopped = !a->reconn;
	if (a->reconn)
		cb = krdma_reconnect_get_cb(a->reconn);
	mutex_unlock(&a->lock);
	return cb;
}

/*
 * Return whether a request on @cb may fail with @error. A request may fail only
 * if the connection is closed. Wrong data (-EBADMSG) and a wrong number of
 * completions (-EPROTO) are never allowed.
 */
static bool ktest_reconnect_may_fail(struct krdma_cb *cb, int error)
{
	return error != -EBADMSG && error != -EPROTO && !krdma_is_established(cb);
}

/*
 * Write and read in rounds, until the persistent connection is stopped. Count
 * successful rounds in @good, and rounds that failed because a connection was
 * closed in @bad. If a round fails for another reason, return its errno at
 * once.
 */
static int ktest_reconnect_pump(struct ktest_reconnect *a,
				struct ktest_load *load, u32 *good, u32 *bad)
{
	struct krdma_cb *cb;
	bool stopped;
	int ret;

	while (!fatal_signal_pending(current)) {
		cb = ktest_reconnect_get_cb(a, &stopped);
		if (stopped)
			return 0;
		if (!cb) {
			usleep_range(2000, 4000);
			continue;
		}
		ret = ktest_load_on(load, cb, false) ?:
		      ktest_load_round(load, 5000);
		if (ret && !ktest_reconnect_may_fail(cb, ret)) {
			krdma_put(cb);
			return ret;
		}
		++*(ret ? bad : good);
		krdma_put(cb);
	}
	return -EINTR;
}

static int ktest_do_pump(struct ktest_ctx *ctx, const struct ktest_args *args,
			 struct ktest_reconnect *a)
{
	struct ktest_load *load = ktest_load_begin(KTEST_AGAIN_LEN, true);
	u32 good = 0, bad = 0, requests;
	int ret;

	if (!load)
		return -ENOMEM;
	ret = ktest_reconnect_pump(a, load, &good, &bad);
	ret = ktest_load_end(load, &requests) ?: ret;
	snprintf(ctx->text, sizeof(ctx->text), "good=%u bad=%u requests=%u",
		 good, bad, requests);
	return ret;
}

static int ktest_do_show(struct ktest_ctx *ctx, const struct ktest_args *args,
			 struct ktest_reconnect *a)
{
	static const char *const states[] = {
		[KRDMA_RECONNECT_WAITING] = "waiting",
		[KRDMA_RECONNECT_CONNECTING] = "connecting",
		[KRDMA_RECONNECT_CONNECTED] = "connected",
		[KRDMA_RECONNECT_STOPPED] = "stopped",
	};
	struct krdma_reconnect_info info = { .size = sizeof(info) };
	int ret = -ENOTCONN;

	mutex_lock(&a->lock);
	if (a->reconn)
		ret = krdma_reconnect_query(a->reconn, &info);
	mutex_unlock(&a->lock);
	snprintf(ctx->text, sizeof(ctx->text),
		 "%s epoch=%llu failures=%u error=%d received=%d connected=%u lost=%u reason=%d",
		 states[info.state], info.epoch, info.failures, info.error,
		 atomic_read(&a->received),
		 a->connected, a->lost, a->reason);
	return ret;
}

static int ktest_do_kick(struct ktest_ctx *ctx, const struct ktest_args *args,
			 struct ktest_reconnect *a)
{
	mutex_lock(&a->lock);
	if (a->reconn)
		krdma_reconnect_kick(a->reconn);
	mutex_unlock(&a->lock);
	return 0;
}

static int ktest_do_drop(struct ktest_ctx *ctx, const struct ktest_args *args,
			 struct ktest_reconnect *a)
{
	bool stopped;
	struct krdma_cb *cb = ktest_reconnect_get_cb(a, &stopped);

	if (!cb)
		return -ENOTCONN;
	krdma_disconnect(cb);
	krdma_put(cb);
	return 0;
}

static int ktest_do_stop(struct ktest_ctx *ctx, const struct ktest_args *args,
			 struct ktest_reconnect *a)
{
	int ret = ktest_reconnect_stop(a);

	snprintf(ctx->text, sizeof(ctx->text),
		 "connected=%u lost=%u wrong=%u reason=%d", a->connected,
		 a->lost, a->wrong, a->reason);
	mutex_lock(&ktest_reconnects_lock);
	list_del(&a->link);
	mutex_unlock(&ktest_reconnects_lock);
	ktest_reconnect_put(a);
	return ret;
}

static const struct {
	const char *name;
	int (*run)(struct ktest_ctx *ctx, const struct ktest_args *args,
		   struct ktest_reconnect *a);
} ktest_kept_commands[] = {
	{ "drop", ktest_do_drop },
	{ "kick", ktest_do_kick },
	{ "pump", ktest_do_pump },
	{ "show", ktest_do_show },
	{ "stop", ktest_do_stop },
};

/*
 * kept drop NAME: disconnect the persistent connection, so that it reconnects.
 * kept kick NAME: call krdma_reconnect_kick(). kept pump NAME: write and read
 * until the persistent connection is stopped. kept show NAME: print the state
 * of the persistent connection. kept stop NAME: stop the persistent connection.
 */
int ktest_cmd_kept(struct ktest_ctx *ctx, struct ktest_args *args)
{
	struct ktest_reconnect *a = ktest_reconnect_find(ktest_arg(args, 2));
	int i, ret = -EINVAL;

	if (!a)
		return -ENOENT;
	for (i = 0; i < ARRAY_SIZE(ktest_kept_commands); i++)
		if (!strcmp(ktest_arg(args, 1), ktest_kept_commands[i].name))
			ret = ktest_kept_commands[i].run(ctx, args, a);
	ktest_reconnect_put(a);
	return ret;
}

/*
 * Start a persistent connection, and stop it after a random time of at most
 * @max_us. Before the stop, call krdma_reconnect_kick() in a quarter of the
 * cases, and disconnect in another quarter.
 */
static int ktest_brief_life(struct ktest_ctx *ctx,
			    const struct ktest_args *args,
			    struct ktest_reconnect *a, u32 max_us)
{
	u32 random = get_random_u32();
	int ret;

	ret = ktest_reconnect_start(ctx, args, 1, a);
	if (ret)
		return ret;
	fsleep((random >> 2) % (max_us + 1) / 2);
	if ((random & 3) == 0)
		ktest_do_kick(ctx, args, a);
	if ((random & 3) == 1)
		ktest_do_drop(ctx, args, a);
	fsleep((random >> 2) % (max_us + 1) / 2);
	return ktest_reconnect_stop(a);
}

/*
 * brief HOST PORT N [us=U] [option=value]...: start and stop N persistent
 * connections, one after the other, each within U microseconds. Print the
 * number of persistent connections that were connected before they were
 * stopped.
 */
int ktest_cmd_brief(struct ktest_ctx *ctx, struct ktest_args *args)
{
	u32 i, n = ktest_number(args, 3, 1), connected = 0, several = 0;
	struct ktest_reconnect *a;
	int ret = 0;

	for (i = 0; i < n && !ret && !fatal_signal_pending(current); i++) {
		a = ktest_reconnect_alloc("", ktest_option(args, "linger", 0));
		if (!a)
			return -ENOMEM;
		ret = ktest_brief_life(ctx, args, a,
				       ktest_option(args, "us", 10000));
		connected += !!a->connected;
		several += a->connected > 1;
		ktest_reconnect_put(a);
	}
	snprintf(ctx->text, sizeof(ctx->text), "lives=%u connected=%u several=%u",
		 i, connected, several);
	return ret;
}

/* Stop all persistent connections when the module is unloaded. */
void ktest_reconnect_end(void)
{
	struct ktest_reconnect *a, *next;

	list_for_each_entry_safe(a, next, &ktest_reconnects, link) {
		ktest_reconnect_stop(a);
		list_del(&a->link);
		ktest_reconnect_put(a);
	}
}
