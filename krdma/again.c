// SPDX-License-Identifier: GPL-2.0
/*
 * A connection that is kept: whoever wants to be connected to a peer for good
 * says so once, and is told when it is and when it is not.
 *
 * A krdma_again has at most one krdma_cb at a time, which belongs to it. Its
 * life is a circle, and whoever makes a step is alone in it:
 *
 *	WAITING		the work is queued for the next attempt
 *	CONNECTING	the work makes a cb and calls krdma_connect_async();
 *			that fails at once, or the cb's callback goes on
 *	CONNECTED	the owner's connected() is called; when the cb's closing
 *			callback comes, so is its lost()
 *	WAITING		after the cb was released, and never before: so the old
 *			connection is gone when a new one is dialled
 *
 * krdma_again_stop() does not break into the circle: it ends the cb, and the
 * circle ends in STOPPED instead of WAITING.
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
/* As for times of a connection: an hour. */
#define KRDMA_AGAIN_LIMIT_MS (3600 * 1000)

/**
 * struct krdma_again - a connection that is kept
 * @p: of each cb; @src, @private_data, a namespace and a domain of our own
 * @src: source address, if @p.src is set
 * @private_data: of the REQ, if @p.private_data is set
 * @dst: the peer
 * @ops: the owner's callbacks
 * @context: the owner's
 * @min_ms: shortest wait
 * @max_ms: longest wait
 *
 * All of these are constant.
 *
 * @link: in krdma_agains
 * @work: makes an attempt, when its time has come
 * @watch: tells of new RDMA devices
 * @stopped: completed by the step to KRDMA_AGAIN_STOPPED
 *
 * @lock: protects the rest. Taken in any context
 * @state: see above
 * @stopping: krdma_again_stop() was called
 * @failing: the log says that it is not connected
 * @cb: from before krdma_connect_async() until before krdma_release_cb()
 * @epoch: connections so far
 * @failures: attempts in a row that did not lead to a lasting connection
 * @error: of the last one
 * @since: KRDMA_AGAIN_CONNECTED: jiffies
 *
 * @peer_mtu: path MTU that the peer's interface had last time, 0: not known;
 *	used by one step after the other, without a lock
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

/* Soon, but not all at the same moment. */
static void krdma_again_queue_locked(struct krdma_again *again, u32 ms)
{
	lockdep_assert_held(&again->lock);
	ms = krdma_backoff_jitter(ms, get_random_u32());
	mod_delayed_work(krdma_owner_queue(&again->p), &again->work,
			 msecs_to_jiffies(ms));
}

/* Forget how often it has failed, and do not wait as long as that was worth. */
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
 * A connection that lasted as long as the longest wait clears the record. One
 * that ends sooner does not: a peer that takes connections and ends them would
 * be called for ever at the shortest wait.
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

/* Return: is it news that it is not connected? */
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
 * The step after an attempt or a connection; its cb is released. The last use of
 * @again if it is being stopped: the address for the log is taken before.
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

/* Nobody can get at it any more, then it goes. */
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

/* Return: the epoch, or 0: it is being stopped, and closing() will come. */
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

/* If it has not answered, its last answer counts. */
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

	/* Only callbacks of cb change it now, and this is the last one. */
	if (READ_ONCE(again->state) == KRDMA_AGAIN_CONNECTED)
		again->ops->lost(again, cb, reason);
	module_put(owner);
	krdma_again_release_cb(again);
	krdma_again_over(again, reason);
}

/* Not if its owner does not know it: krdma_again_stop() was faster then. */
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

/* False: it is being stopped, or the work was queued once too often. */
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

/* From here on krdma_again_stop() can end it. */
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
 * The peer's interface may have a smaller MTU: with the path MTU of this side its
 * long packets would be lost. Such a connection fails, and the next attempt has
 * the peer's MTU, which may have grown when it has connected.
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
	/* If that worked, cb's callbacks may have gone round the circle. */
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

/* The structs of the first version that let them grow. */
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

/* What the user's parameters point to need not live as long as this. */
static int krdma_again_set_params(struct krdma_again *again,
				  const struct krdma_params *params)
{
	struct krdma_params checked;
	int ret;

	ret = krdma_params_set(&checked, params);
	if (ret)
		return ret;
	/* With the zeroes that mean defaults: each connection fills them in. */
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
	/* The peer may not have noticed the end of the last one. */
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
 * krdma_again_start - be connected to a peer from now on
 * @dst: IPv4 or IPv6 address and port of a listener
 * @params: of each connection, NULL: defaults. Message mode only, without ops;
 *	context is not used. Whatever it points to is copied
 * @owner: whom to tell, and how often to try; its ops must outlive
 *	krdma_again_stop()
 *
 * The first attempt begins at once. When one fails, or the connection ends for
 * whatever reason, krdma_disconnect() on this side included, another one
 * follows, for ever.
 *
 * Callbacks may come before this returns.
 *
 * Return: what krdma_again_stop() ends, ERR_PTR(-EINVAL), ERR_PTR(-ENOMEM). That
 * the peer cannot be reached is no error.
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

/* If nothing was under way, nobody else makes the last step. */
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
 * krdma_again_stop - end the connection, and try no more
 * @again: from krdma_again_start(), or NULL
 *
 * If it is connected, lost() comes once more, with -ESHUTDOWN. On return no
 * callback runs, the connection is released and @again is gone. It takes as
 * long as krdma_release_cb(): on siw that may be TCP's time limit.
 *
 * Context: process, may sleep; not from a callback of krdma's, and without locks
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
	/* Ends, for the connection does; until then the memory is in use. */
	wait_for_completion(&again->stopped);
	/* Until who has completed it has left the lock. */
	spin_lock_irqsave(&again->lock, flags);
	spin_unlock_irqrestore(&again->lock, flags);
	mutex_lock(&krdma_agains_lock);
	list_del(&again->link);
	mutex_unlock(&krdma_agains_lock);
	krdma_again_free(again);
}
EXPORT_SYMBOL_NS_GPL(krdma_again_stop, KRDMA_NS);

/**
 * krdma_again_kick - try now
 * @again: from krdma_again_start()
 *
 * For who knows that the peer is back. If it is connected or an attempt is under
 * way, it only begins the back-off anew.
 *
 * Context: any.
 */
void krdma_again_kick(struct krdma_again *again)
{
	krdma_again_hurry(again, 0);
}
EXPORT_SYMBOL_NS_GPL(krdma_again_kick, KRDMA_NS);

/**
 * krdma_again_get_cb - the present connection
 * @again: from krdma_again_start()
 *
 * For tasks of the owner's that want to use it between connected() and lost(). It
 * may end, and be released, at any moment: then what they find is a closed one.
 *
 * Context: any.
 * Return: a cb to krdma_put(), and not to release; NULL: not connected.
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
 * krdma_again_context - the owner's pointer
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
 * krdma_again_query - how it goes
 * @again: from krdma_again_start()
 * @info: result; its size is set by the caller
 *
 * Context: any.
 * Return: 0, or -EINVAL: &krdma_again_info.size is not set.
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
 * krdma_again_epoch - which connection it is
 * @again: from krdma_again_start()
 *
 * Context: any.
 * Return: how many there were with the present one, 0: none yet.
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

/* Until the next attempt. */
static unsigned int krdma_again_wait_ms(const struct krdma_again *again)
{
	long left = READ_ONCE(again->work.timer.expires) - jiffies;

	return timer_pending(&again->work.timer) && left > 0 ?
		jiffies_to_msecs(left) : 0;
}

/**
 * krdma_again_show - the file "kept" in debugfs
 * @seq: where to
 * @unused: nothing
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
