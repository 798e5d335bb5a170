// SPDX-License-Identifier: GPL-2.0
/*
 * Persistent connections: krdma connects to a peer again whenever the
 * connection ends, and notifies the owner of each connection and of its end.
 *
 * A krdma_again owns at most one krdma_cb at a time. Its state moves in a
 * circle, and only one context at a time makes a step:
 *
 *	WAITING		the work is queued for the next attempt
 *	CONNECTING	the work creates a cb and calls krdma_connect_async();
 *			that fails at once, or the cb's callback makes the next
 *			step
 *	CONNECTED	the owner's connected() is called; its lost() is called
 *			in the cb's closing callback
 *	WAITING		only after the cb was released, so the old connection
 *			is freed before a new one is started
 *
 * krdma_again_stop() only ends the cb. The circle then ends in STOPPED instead
 * of WAITING.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/completion.h>
#include <linux/export.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <net/net_namespace.h>

#include "backoff.h"
#include "priv.h"

#define KRDMA_AGAIN_MIN_MS 100
#define KRDMA_AGAIN_MAX_MS 10000
/* An hour, as for the times of a connection. */
#define KRDMA_AGAIN_LIMIT_MS (3600 * 1000)

/**
 * struct krdma_again - a persistent connection
 * @p: parameters of each cb; @src, @private_data, namespace and domain are held
 *	by this struct
 * @src: source address, if @p.src is set
 * @private_data: private data of the REQ, if @p.private_data is set
 * @dst: address of the peer
 * @ops: the owner's callbacks
 * @context: the owner's pointer
 * @min_ms: shortest wait in ms
 * @max_ms: longest wait in ms
 *
 * All of these are constant.
 *
 * @link: in krdma_agains
 * @work: makes the next attempt
 * @watch: notification of new RDMA devices
 * @stopped: completed by the step to KRDMA_AGAIN_STOPPED
 *
 * @lock: protects the rest. Taken in any context
 * @state: see above
 * @stopping: krdma_again_stop() was called
 * @failing: the failure to connect has been logged
 * @cb: set from before krdma_connect_async() until before krdma_release_cb()
 * @epoch: number of connections so far
 * @failures: number of attempts in a row without a lasting connection
 * @error: errno of the last failed attempt or ended connection
 * @since: time of the move to KRDMA_AGAIN_CONNECTED, in jiffies
 *
 * @peer_mtu: last known path MTU of the peer's interface, in bytes; 0: not
 *	known. Only one step at a time uses it, without a lock
 */
struct krdma_again {
	struct krdma_params p;
	struct sockaddr_storage src;
	u8 private_data[KRDMA_PRIVATE_DATA_MAX];
	struct sockaddr_storage dst;
	const struct krdma_again_ops *ops;
	void *context;
	u32 min_ms;
	u32 max_ms;

	struct list_head link;
	struct delayed_work work;
	struct krdma_watch watch;
	struct completion stopped;

	spinlock_t lock; /* see @lock above */
	enum krdma_again_state state;
	bool stopping;
	bool failing;
	struct krdma_cb *cb;
	u64 epoch;
	unsigned int failures;
	int error;
	unsigned long since;

	u16 peer_mtu;
};

static LIST_HEAD(krdma_agains);
static DEFINE_MUTEX(krdma_agains_lock); /* krdma_agains */

/* Queue the next attempt, with jitter. */
static void krdma_again_queue_locked(struct krdma_again *again, u32 ms)
{
	lockdep_assert_held(&again->lock);
	ms = krdma_backoff_jitter(ms, get_random_u32());
	mod_delayed_work(krdma_owner_queue(&again->p), &again->work,
			 msecs_to_jiffies(ms));
}

/* Reset the back-off, and make the next attempt after @ms. */
static void krdma_again_hurry(struct krdma_again *again, u32 ms)
{
	unsigned long flags;

	spin_lock_irqsave(&again->lock, flags);
	again->failures = 0;
	if (again->state == KRDMA_AGAIN_WAITING && !again->stopping)
		krdma_again_queue_locked(again, ms);
	spin_unlock_irqrestore(&again->lock, flags);
}

static void krdma_again_device_added(struct krdma_watch *watch)
{
	struct krdma_again *again =
		container_of(watch, struct krdma_again, watch);

	krdma_again_hurry(again, again->min_ms);
}

/*
 * A connection that lasted for the longest wait resets the back-off. A shorter
 * one does not: if a peer accepts and ends each connection, it would get an
 * attempt at the shortest wait endlessly.
 */
static void krdma_again_failed_locked(struct krdma_again *again, int error)
{
	unsigned long lasting = again->since + msecs_to_jiffies(again->max_ms);

	lockdep_assert_held(&again->lock);
	if (again->state == KRDMA_AGAIN_CONNECTED &&
	    time_after_eq(jiffies, lasting))
		again->failures = 0;
	if (again->failures < UINT_MAX)
		again->failures++;
	again->error = error;
}

/* Return: true if the failure has not been logged yet. */
static bool krdma_again_wait_locked(struct krdma_again *again, int error)
{
	bool news = !again->failing;

	lockdep_assert_held(&again->lock);
	krdma_again_failed_locked(again, error);
	again->failing = true;
	again->state = KRDMA_AGAIN_WAITING;
	krdma_again_queue_locked(again,
				 krdma_backoff_base(again->min_ms, again->max_ms,
						    again->failures));
	return news;
}

/*
 * Make the step after an attempt or a connection, whose cb is released. If
 * @again is being stopped it may be freed here, so copy the address for the log
 * first.
 */
static void krdma_again_over(struct krdma_again *again, int error)
{
	struct sockaddr_storage dst = again->dst;
	unsigned long flags;
	bool news = false;

	spin_lock_irqsave(&again->lock, flags);
	if (again->stopping) {
		again->state = KRDMA_AGAIN_STOPPED;
		complete(&again->stopped);
	} else {
		news = krdma_again_wait_locked(again, error);
	}
	spin_unlock_irqrestore(&again->lock, flags);
	if (news)
		pr_info_ratelimited("%pISpc: not connected: %d, will try again\n",
				    &dst, error);
}

/* Clear @cb first, so that no other context can use it; then release it. */
static void krdma_again_release_cb(struct krdma_again *again)
{
	struct krdma_cb *cb;
	unsigned long flags;

	spin_lock_irqsave(&again->lock, flags);
	cb = again->cb;
	again->cb = NULL;
	spin_unlock_irqrestore(&again->lock, flags);
	krdma_release_cb(cb);
}

/*
 * Return: the epoch, or 0: it is being stopped, and closing() will be called.
 */
static u64 krdma_again_up(struct krdma_again *again, bool *news)
{
	unsigned long flags;
	u64 epoch = 0;

	spin_lock_irqsave(&again->lock, flags);
	if (!again->stopping) {
		again->state = KRDMA_AGAIN_CONNECTED;
		again->since = jiffies;
		epoch = ++again->epoch;
		*news = again->failing;
		again->failing = false;
	}
	spin_unlock_irqrestore(&again->lock, flags);
	return epoch;
}

static void krdma_again_tell_failed(struct krdma_again *again,
				    struct krdma_cb *cb, int error)
{
	struct module *owner = krdma_owner_hold(again->ops->owner);

	if (again->ops->failed)
		again->ops->failed(again, cb, error);
	module_put(owner);
}

/* Keep the last known MTU if the peer has not answered. */
static void krdma_again_learn(struct krdma_again *again,
			      const struct krdma_cb *cb)
{
	again->peer_mtu = krdma_conn(cb)->path.peer_mtu ?: again->peer_mtu;
}

static void krdma_again_connected(struct krdma_cb *cb, int error)
{
	struct krdma_again *again = cb->context;
	struct module *owner;
	bool news = false;
	u64 epoch;

	krdma_again_learn(again, cb);
	if (error) {
		krdma_again_tell_failed(again, cb, error);
		krdma_again_release_cb(again);
		krdma_again_over(again, error);
		return;
	}
	epoch = krdma_again_up(again, &news);
	if (!epoch)
		return;
	if (news)
		pr_info_ratelimited("%pISpc: connected\n", &again->dst);
	owner = krdma_owner_hold(again->ops->owner);
	again->ops->connected(again, cb, epoch);
	module_put(owner);
}

static void krdma_again_closing(struct krdma_cb *cb, int reason)
{
	struct krdma_again *again = cb->context;

	struct module *owner = krdma_owner_hold(again->ops->owner);

	/* Only callbacks of cb change state now, and this is the last one. */
	if (READ_ONCE(again->state) == KRDMA_AGAIN_CONNECTED)
		again->ops->lost(again, cb, reason);
	module_put(owner);
	krdma_again_release_cb(again);
	krdma_again_over(again, reason);
}

/* Not if krdma_again_stop() was first: then the owner does not know @cb. */
static void krdma_again_receive(struct krdma_cb *cb, struct krdma_loan *loan)
{
	struct krdma_again *again = cb->context;

	if (READ_ONCE(again->state) == KRDMA_AGAIN_CONNECTED)
		again->ops->receive(again, cb, loan);
	else
		krdma_loan_return(loan);
}

static void krdma_again_space(struct krdma_cb *cb)
{
	struct krdma_again *again = cb->context;

	if (READ_ONCE(again->state) == KRDMA_AGAIN_CONNECTED &&
	    again->ops->write_space)
		again->ops->write_space(again, cb);
}

static const struct krdma_ops krdma_again_wait_ops = {
	.connected = krdma_again_connected,
	.write_space = krdma_again_space,
	.closing = krdma_again_closing,
};

static const struct krdma_ops krdma_again_receive_ops = {
	.connected = krdma_again_connected,
	.receive = krdma_again_receive,
	.write_space = krdma_again_space,
	.closing = krdma_again_closing,
};

/* Return: false: it is being stopped, or the work was queued twice. */
static bool krdma_again_begin(struct krdma_again *again)
{
	unsigned long flags;
	bool may;

	spin_lock_irqsave(&again->lock, flags);
	may = again->state == KRDMA_AGAIN_WAITING && !again->stopping;
	if (may)
		again->state = KRDMA_AGAIN_CONNECTING;
	spin_unlock_irqrestore(&again->lock, flags);
	return may;
}

/* Set @cb, so that krdma_again_stop() can end it from here on. */
static int krdma_again_set_cb(struct krdma_again *again, struct krdma_cb *cb)
{
	unsigned long flags;
	int ret = 0;

	spin_lock_irqsave(&again->lock, flags);
	again->cb = cb;
	if (again->stopping)
		ret = -ESHUTDOWN;
	spin_unlock_irqrestore(&again->lock, flags);
	return ret;
}

/*
 * If the peer's interface has a smaller MTU, the path MTU of this side would
 * lose its long packets. Such a connection fails, and the next attempt uses the
 * peer's MTU. That is read again with each answer, because it may have grown.
 */
static struct krdma_cb *krdma_again_create(struct krdma_again *again)
{
	struct krdma_params p = again->p;
	struct krdma_cb *cb;

	p.path_mtu = min_not_zero(p.path_mtu, (u32)again->peer_mtu);
	cb = krdma_create(&p);
	if (!IS_ERR(cb))
		krdma_conn(cb)->path_strict = true;
	return cb;
}

static void krdma_again_work(struct work_struct *work)
{
	struct krdma_again *again =
		container_of(work, struct krdma_again, work.work);
	struct krdma_cb *cb;
	int ret;

	if (!krdma_again_begin(again))
		return;
	cb = krdma_again_create(again);
	if (IS_ERR(cb)) {
		krdma_again_over(again, PTR_ERR(cb));
		return;
	}
	ret = krdma_again_set_cb(again, cb) ?:
	      krdma_connect_async(cb, (struct sockaddr *)&again->dst);
	/* If that worked, cb's callbacks may have made any number of steps. */
	if (!ret)
		return;
	krdma_again_tell_failed(again, cb, ret);
	krdma_again_release_cb(again);
	krdma_again_over(again, ret);
}

static int krdma_again_set_times(struct krdma_again *again,
				 const struct krdma_again_params *params)
{
	again->min_ms = params->min_ms ?: KRDMA_AGAIN_MIN_MS;
	again->max_ms = params->max_ms ?:
			max_t(u32, KRDMA_AGAIN_MAX_MS, again->min_ms);
	if (again->min_ms > again->max_ms ||
	    again->max_ms > KRDMA_AGAIN_LIMIT_MS)
		return -EINVAL;
	return 0;
}

/* Sizes of the structs in the first version that allowed them to grow. */
#define KRDMA_AGAIN_PARAMS_SIZE_MIN \
	offsetofend(struct krdma_again_params, max_ms)
#define KRDMA_AGAIN_INFO_SIZE_MIN offsetofend(struct krdma_again_info, error)

static int krdma_again_set_owner(struct krdma_again *again,
				 const struct krdma_again_params *user)
{
	struct krdma_again_params params;
	int ret;

	if (!user)
		return -EINVAL;
	ret = krdma_struct_in(&params, sizeof(params),
			      KRDMA_AGAIN_PARAMS_SIZE_MIN, user);
	if (ret)
		return ret;
	if (!params.ops || !params.ops->connected || !params.ops->lost)
		return -EINVAL;
	again->ops = params.ops;
	again->context = params.context;
	return krdma_again_set_times(again, &params);
}

static int krdma_again_set_src(struct krdma_again *again)
{
	struct sockaddr *src = (struct sockaddr *)again->p.src;

	if (!src)
		return 0;
	if (!krdma_cm_family_ok(src))
		return -EINVAL;
	memcpy(&again->src, src, rdma_addr_size(src));
	again->p.src = (struct sockaddr *)&again->src;
	return 0;
}

/* Copy what the user's parameters point to, because @again may live longer. */
static int krdma_again_set_params(struct krdma_again *again,
				  const struct krdma_params *params)
{
	struct krdma_params checked;
	int ret;

	ret = krdma_params_set(&checked, params);
	if (ret)
		return ret;
	/* Keep zeroes that mean defaults: each connection fills them in. */
	ret = krdma_params_take(&again->p, params);
	if (ret)
		return ret;
	if (again->p.ops || again->p.flags & (KRDMA_RAW | KRDMA_LISTEN_FLAGS))
		return -EINVAL;
	memcpy(again->private_data, again->p.private_data,
	       again->p.private_data_len);
	again->p.private_data = again->private_data;
	again->p.ops = again->ops->receive ? &krdma_again_receive_ops :
					     &krdma_again_wait_ops;
	again->p.context = again;
	/* The peer may not have noticed the end of the previous connection. */
	while (!again->p.session)
		again->p.session = get_random_u32();
	again->p.net = again->p.net ?: krdma_callers_net();
	return krdma_again_set_src(again);
}

static int krdma_again_init(struct krdma_again *again,
			    const struct sockaddr *dst,
			    const struct krdma_params *params,
			    const struct krdma_again_params *owner)
{
	int ret;

	if (!krdma_cm_family_ok(dst))
		return -EINVAL;
	ret = krdma_again_set_owner(again, owner) ?:
	      krdma_again_set_params(again, params);
	if (ret)
		return ret;
	memcpy(&again->dst, dst, rdma_addr_size((struct sockaddr *)dst));
	spin_lock_init(&again->lock);
	init_completion(&again->stopped);
	INIT_DELAYED_WORK(&again->work, krdma_again_work);
	get_net(again->p.net);
	krdma_domain_get(again->p.domain);
	__module_get(THIS_MODULE);
	return 0;
}

static void krdma_again_free(struct krdma_again *again)
{
	krdma_domain_put(again->p.domain);
	put_net(again->p.net);
	kfree(again);
	module_put(THIS_MODULE);
}

/**
 * krdma_again_start - start a persistent connection to a peer
 * @dst: IPv4 or IPv6 address and port of a listener
 * @params: parameters of each connection, NULL: defaults. Message mode only,
 *	without ops; context is not used. Memory that they point to is copied
 * @owner: callbacks and retry times; its ops must outlive krdma_again_stop()
 *
 * The first attempt begins at once. Whenever an attempt fails or the connection
 * ends, also by krdma_disconnect() on this side, another attempt follows,
 * without limit.
 *
 * Callbacks may come before this returns.
 *
 * Return: argument for krdma_again_stop(), ERR_PTR(-EINVAL) or
 * ERR_PTR(-ENOMEM). An unreachable peer is no error.
 */
struct krdma_again *krdma_again_start(const struct sockaddr *dst,
				      const struct krdma_params *params,
				      const struct krdma_again_params *owner)
{
	struct krdma_again *again = kzalloc(sizeof(*again), GFP_KERNEL);
	int ret;

	if (!again)
		return ERR_PTR(-ENOMEM);
	ret = krdma_again_init(again, dst, params, owner);
	if (ret) {
		kfree(again);
		return ERR_PTR(ret);
	}
	mutex_lock(&krdma_agains_lock);
	list_add_tail(&again->link, &krdma_agains);
	mutex_unlock(&krdma_agains_lock);
	krdma_device_watch(&again->watch, krdma_again_device_added);
	krdma_again_kick(again);
	return again;
}
EXPORT_SYMBOL_NS_GPL(krdma_again_start, KRDMA_NS);

static void krdma_again_end_cb(struct krdma_again *again)
{
	struct krdma_cb *cb;
	unsigned long flags;

	spin_lock_irqsave(&again->lock, flags);
	again->stopping = true;
	cb = again->cb;
	if (cb)
		krdma_get(cb);
	spin_unlock_irqrestore(&again->lock, flags);
	if (!cb)
		return;
	krdma_disconnect(cb);
	krdma_put(cb);
}

/* If no attempt was in flight, no other context makes the last step. */
static void krdma_again_end_wait(struct krdma_again *again)
{
	unsigned long flags;

	cancel_delayed_work_sync(&again->work);
	spin_lock_irqsave(&again->lock, flags);
	if (again->state == KRDMA_AGAIN_WAITING) {
		again->state = KRDMA_AGAIN_STOPPED;
		complete(&again->stopped);
	}
	spin_unlock_irqrestore(&again->lock, flags);
}

/**
 * krdma_again_stop - end a persistent connection
 * @again: from krdma_again_start(), or NULL
 *
 * If it is connected, lost() is called once more, with -ESHUTDOWN. On return no
 * callback runs, the connection is released and @again is freed. This takes as
 * long as krdma_release_cb(): on siw possibly TCP's time limit.
 *
 * Context: process, may sleep; not from a callback of krdma, and without locks
 * that connected() or lost() take.
 */
void krdma_again_stop(struct krdma_again *again)
{
	unsigned long flags;

	might_sleep();
	if (!again)
		return;
	krdma_device_unwatch(&again->watch);
	krdma_again_end_cb(again);
	krdma_again_end_wait(again);
	/*
	 * The end of the connection completes this; until then @again is used.
	 */
	wait_for_completion(&again->stopped);
	/* Wait until the context that completed it has released the lock. */
	spin_lock_irqsave(&again->lock, flags);
	spin_unlock_irqrestore(&again->lock, flags);
	mutex_lock(&krdma_agains_lock);
	list_del(&again->link);
	mutex_unlock(&krdma_agains_lock);
	krdma_again_free(again);
}
EXPORT_SYMBOL_NS_GPL(krdma_again_stop, KRDMA_NS);

/**
 * krdma_again_kick - connect now
 * @again: from krdma_again_start()
 *
 * For owners that know that the peer is back. If it is connected or an attempt
 * is in flight, this only resets the back-off.
 *
 * Context: any.
 */
void krdma_again_kick(struct krdma_again *again)
{
	krdma_again_hurry(again, 0);
}
EXPORT_SYMBOL_NS_GPL(krdma_again_kick, KRDMA_NS);

/**
 * krdma_again_get_cb - get the present connection
 * @again: from krdma_again_start()
 *
 * For tasks of the owner that use the connection between connected() and
 * lost(). It may end and be released at any moment; the task then has a closed
 * cb.
 *
 * Context: any.
 * Return: a cb for krdma_put(), not for krdma_release_cb(); NULL: not
 * connected.
 */
struct krdma_cb *krdma_again_get_cb(struct krdma_again *again)
{
	struct krdma_cb *cb = NULL;
	unsigned long flags;

	spin_lock_irqsave(&again->lock, flags);
	if (again->state == KRDMA_AGAIN_CONNECTED && again->cb &&
	    krdma_is_established(again->cb)) {
		cb = again->cb;
		krdma_get(cb);
	}
	spin_unlock_irqrestore(&again->lock, flags);
	return cb;
}
EXPORT_SYMBOL_NS_GPL(krdma_again_get_cb, KRDMA_NS);

/**
 * krdma_again_context - return the owner's pointer
 * @again: from krdma_again_start()
 *
 * Context: any.
 * Return: &krdma_again_params.context.
 */
void *krdma_again_context(const struct krdma_again *again)
{
	return again->context;
}
EXPORT_SYMBOL_NS_GPL(krdma_again_context, KRDMA_NS);

/**
 * krdma_again_query - return the status of a persistent connection
 * @again: from krdma_again_start()
 * @info: result; the caller sets its size
 *
 * Context: any.
 * Return: 0, or -EINVAL if &krdma_again_info.size is not set.
 */
int krdma_again_query(struct krdma_again *again, struct krdma_again_info *info)
{
	struct krdma_again_info found = { .size = sizeof(found) };
	unsigned long flags;

	spin_lock_irqsave(&again->lock, flags);
	found.state = again->state;
	found.epoch = again->epoch;
	found.failures = again->failures;
	found.error = again->error;
	spin_unlock_irqrestore(&again->lock, flags);
	return krdma_struct_out(info, KRDMA_AGAIN_INFO_SIZE_MIN, &found);
}
EXPORT_SYMBOL_NS_GPL(krdma_again_query, KRDMA_NS);

/**
 * krdma_again_epoch - return the number of connections so far
 * @again: from krdma_again_start()
 *
 * Context: any.
 * Return: number of connections with the present one, 0: none yet.
 */
u64 krdma_again_epoch(struct krdma_again *again)
{
	struct krdma_again_info info = { .size = sizeof(info) };

	krdma_again_query(again, &info);
	return info.epoch;
}
EXPORT_SYMBOL_NS_GPL(krdma_again_epoch, KRDMA_NS);

static const char * const krdma_again_names[] = {
	[KRDMA_AGAIN_WAITING]	 = "waiting",
	[KRDMA_AGAIN_CONNECTING] = "connecting",
	[KRDMA_AGAIN_CONNECTED]	 = "connected",
	[KRDMA_AGAIN_STOPPED]	 = "stopped",
};

/* Return the time to the next attempt, in ms. */
static unsigned int krdma_again_wait_ms(const struct krdma_again *again)
{
	long left = READ_ONCE(again->work.timer.expires) - jiffies;

	return timer_pending(&again->work.timer) && left > 0 ?
		jiffies_to_msecs(left) : 0;
}

/**
 * krdma_again_show - print the file "kept" in debugfs
 * @seq: output
 * @unused: unused
 *
 * Return: 0.
 */
int krdma_again_show(struct seq_file *seq, void *unused)
{
	struct krdma_again_info info = { .size = sizeof(info) };
	struct krdma_again *again;

	seq_puts(seq, "peer state epoch failures error next_ms\n");
	mutex_lock(&krdma_agains_lock);
	list_for_each_entry(again, &krdma_agains, link) {
		krdma_again_query(again, &info);
		seq_printf(seq, "%pISpc %s %llu %u %d %u\n", &again->dst,
			   krdma_again_names[info.state], info.epoch,
			   info.failures, info.error,
			   krdma_again_wait_ms(again));
	}
	mutex_unlock(&krdma_agains_lock);
	return 0;
}
