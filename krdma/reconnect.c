// SPDX-License-Identifier: GPL-2.0
/*
 * Persistent connections: krdma connects to a peer again whenever the
 * connection ends, and notifies the owner of each connection and of its end.
 *
 * A krdma_reconnect owns at most one krdma_cb at a time. Its state moves in a
 * circle, and only one context at a time makes a step:
 *
 *	WAITING		the work is queued for the next attempt
 *	CONNECTING	the work creates a cb and calls krdma_connect_async().
 *			If that fails at once, the work makes the next step.
 *			Otherwise a callback of the cb makes the next step
 *	CONNECTED	the owner's connected() is called. The cb's closing
 *			callback calls the owner's lost()
 *	WAITING		again, but only after the cb was released: the old
 *			connection is freed before a new one is started
 *
 * krdma_reconnect_stop() only ends the cb. The circle then ends in STOPPED
 * instead of WAITING.
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
#include "cm.h"

#define KRDMA_RECONNECT_MIN_MS 100
#define KRDMA_RECONNECT_MAX_MS 10000
/*
 * Maximum of both retry times: one hour, as for the timeouts of a connection.
 */
#define KRDMA_RECONNECT_LIMIT_MS (3600 * 1000)

/**
 * struct krdma_reconnect - a persistent connection
 * @p: parameters of each cb. Its pointers lead to @src and @private_data, and
 *	to the namespace, the domain and the keys, to which this struct holds
 *	references. @p.keys changes under @lock
 * @src: source address, if @p.src is set
 * @private_data: private data of the REQ, @p.private_data_len bytes
 * @dst: address of the peer
 * @ops: the owner's callbacks
 * @context: the owner's pointer
 * @min_ms: shortest wait before an attempt, in ms
 * @max_ms: longest wait before an attempt, in ms
 *
 * Except for @p.keys, the members above are constant.
 *
 * @link: entry in krdma_reconnects
 * @work: makes the next attempt
 * @watch: notification of new RDMA devices
 * @stopped: completed by the step to KRDMA_RECONNECT_STOPPED
 *
 * @lock: protects the members from @state to @since. Taken in any context
 * @state: see above
 * @stopping: krdma_reconnect_stop() was called
 * @failing: the failure to connect has been logged
 * @cb: present cb, or NULL. Set before krdma_connect_async(), and cleared
 *	before krdma_release_cb()
 * @epoch: number of connections so far
 * @failures: number of attempts in a row without a lasting connection
 * @error: errno of the last failed attempt or ended connection
 * @since: time of the move to KRDMA_RECONNECT_CONNECTED, in jiffies
 *
 * @peer_mtu: last known path MTU of the peer's interface, in bytes; 0: not
 *	known. Only the context that makes the present step uses it, without a
 *	lock
 */
struct krdma_reconnect {
	struct krdma_params p;
	struct sockaddr_storage src;
	u8 private_data[KRDMA_PRIVATE_DATA_MAX];
	struct sockaddr_storage dst;
	const struct krdma_reconnect_ops *ops;
	void *context;
	u32 min_ms;
	u32 max_ms;

	struct list_head link;
	struct delayed_work work;
	struct krdma_watch watch;
	struct completion stopped;

	spinlock_t lock; /* see @lock above */
	enum krdma_reconnect_state state;
	bool stopping;
	bool failing;
	struct krdma_cb *cb;
	u64 epoch;
	unsigned int failures;
	int error;
	unsigned long since;

	u16 peer_mtu;
};

static LIST_HEAD(krdma_reconnects);
static DEFINE_MUTEX(krdma_reconnects_lock); /* krdma_reconnects */

/* Queue the next attempt after @ms, plus or minus up to a quarter of @ms. */
static void krdma_reconnect_queue_locked(struct krdma_reconnect *reconn, u32 ms)
{
	lockdep_assert_held(&reconn->lock);
	ms = krdma_backoff_jitter(ms, get_random_u32());
	mod_delayed_work(krdma_owner_queue(&reconn->p), &reconn->work,
			 msecs_to_jiffies(ms));
}

/* Reset the back-off. If the next attempt is pending, make it after @ms. */
static void krdma_reconnect_hurry(struct krdma_reconnect *reconn, u32 ms)
{
	unsigned long flags;

	spin_lock_irqsave(&reconn->lock, flags);
	reconn->failures = 0;
	if (reconn->state == KRDMA_RECONNECT_WAITING && !reconn->stopping)
		krdma_reconnect_queue_locked(reconn, ms);
	spin_unlock_irqrestore(&reconn->lock, flags);
}

static void krdma_reconnect_device_added(struct krdma_watch *watch)
{
	struct krdma_reconnect *reconn =
		container_of(watch, struct krdma_reconnect, watch);

	krdma_reconnect_hurry(reconn, reconn->min_ms);
}

/*
 * Make the step that follows a failed attempt or an ended connection, after its
 * cb was released. krdma_reconnect_stop() may free @reconn as soon as its lock
 * is released here, so copy the address for the log first.
 */
static void krdma_reconnect_over(struct krdma_reconnect *reconn, int error)
{
	struct sockaddr_storage dst = reconn->dst;
	unsigned long flags, lasting;
	bool news = false;
	u32 ms;

	spin_lock_irqsave(&reconn->lock, flags);
	if (reconn->stopping) {
		reconn->state = KRDMA_RECONNECT_STOPPED;
		complete(&reconn->stopped);
	} else {
		/*
		 * Count a failure, which lengthens the wait before the next
		 * attempt. A connection that lasted for max_ms or longer first
		 * resets the back-off. A shorter connection does not reset it.
		 * Otherwise krdma would endlessly connect at the shortest wait
		 * to a peer that ends each connection.
		 */
		lasting = reconn->since + msecs_to_jiffies(reconn->max_ms);
		if (reconn->state == KRDMA_RECONNECT_CONNECTED &&
		    time_after_eq(jiffies, lasting))
			reconn->failures = 0;
		if (reconn->failures < UINT_MAX)
			reconn->failures++;
		reconn->error = error;
		/* Log only the first failure since the last connection. */
		news = !reconn->failing;
		reconn->failing = true;
		reconn->state = KRDMA_RECONNECT_WAITING;
		ms = krdma_backoff_base(reconn->min_ms, reconn->max_ms,
					reconn->failures);
		krdma_reconnect_queue_locked(reconn, ms);
	}
	spin_unlock_irqrestore(&reconn->lock, flags);
	if (news)
		pr_info_ratelimited("%pISpc: not connected: %d, will try again\n",
				    &dst, error);
}

/*
 * Release the cb. Clear krdma_reconnect.cb first, so that no other context can
 * use it.
 */
static void krdma_reconnect_release_cb(struct krdma_reconnect *reconn)
{
	struct krdma_cb *cb;
	unsigned long flags;

	spin_lock_irqsave(&reconn->lock, flags);
	cb = reconn->cb;
	reconn->cb = NULL;
	spin_unlock_irqrestore(&reconn->lock, flags);
	krdma_release_cb(cb);
}

/*
 * Notify the owner of a failed attempt, and release the cb. Then make the next
 * step.
 */
static void krdma_reconnect_failed(struct krdma_reconnect *reconn,
				   struct krdma_cb *cb, int error)
{
	struct module *owner = krdma_owner_hold(reconn->ops->owner);

	if (reconn->ops->failed)
		reconn->ops->failed(reconn, cb, error);
	module_put(owner);
	krdma_reconnect_release_cb(reconn);
	krdma_reconnect_over(reconn, error);
}

static void krdma_reconnect_connected(struct krdma_cb *cb, int error)
{
	struct krdma_reconnect *reconn = cb->context;
	u16 peer_mtu = krdma_conn(cb)->cm.path.peer_mtu;
	struct module *owner;
	unsigned long flags;
	bool news = false;
	u64 epoch = 0;

	/*
	 * Store the MTU of the peer's interface. If the peer has not answered,
	 * keep the last known MTU.
	 */
	if (peer_mtu)
		reconn->peer_mtu = peer_mtu;
	if (error) {
		krdma_reconnect_failed(reconn, cb, error);
		return;
	}
	spin_lock_irqsave(&reconn->lock, flags);
	if (!reconn->stopping) {
		reconn->state = KRDMA_RECONNECT_CONNECTED;
		reconn->since = jiffies;
		epoch = ++reconn->epoch;
		news = reconn->failing;
		reconn->failing = false;
	}
	spin_unlock_irqrestore(&reconn->lock, flags);
	/* If @reconn is being stopped, closing() will be called. */
	if (!epoch)
		return;
	if (news)
		pr_info_ratelimited("%pISpc: connected\n", &reconn->dst);
	owner = krdma_owner_hold(reconn->ops->owner);
	reconn->ops->connected(reconn, cb, epoch);
	module_put(owner);
}

static void krdma_reconnect_closing(struct krdma_cb *cb, int reason)
{
	struct krdma_reconnect *reconn = cb->context;

	struct module *owner = krdma_owner_hold(reconn->ops->owner);

	/*
	 * Now only callbacks of cb change the state, and this callback is the
	 * last one. So read the state without the lock.
	 */
	if (READ_ONCE(reconn->state) == KRDMA_RECONNECT_CONNECTED)
		reconn->ops->lost(reconn, cb, reason);
	module_put(owner);
	krdma_reconnect_release_cb(reconn);
	krdma_reconnect_over(reconn, reason);
}

/*
 * Deliver a message to the owner. If krdma_reconnect_stop() came before
 * connected(), the owner does not know @cb, so drop the message.
 */
static void krdma_reconnect_receive(struct krdma_cb *cb,
				    struct krdma_rx_msg *rx_msg)
{
	struct krdma_reconnect *reconn = cb->context;

	if (READ_ONCE(reconn->state) == KRDMA_RECONNECT_CONNECTED)
		reconn->ops->receive(reconn, cb, rx_msg);
	else
		krdma_rx_msg_release(rx_msg);
}

static void krdma_reconnect_space(struct krdma_cb *cb)
{
	struct krdma_reconnect *reconn = cb->context;

	if (READ_ONCE(reconn->state) == KRDMA_RECONNECT_CONNECTED &&
	    reconn->ops->write_space)
		reconn->ops->write_space(reconn, cb);
}

static const struct krdma_ops krdma_reconnect_wait_ops = {
	.connected = krdma_reconnect_connected,
	.write_space = krdma_reconnect_space,
	.closing = krdma_reconnect_closing,
};

static const struct krdma_ops krdma_reconnect_receive_ops = {
	.connected = krdma_reconnect_connected,
	.receive = krdma_reconnect_receive,
	.write_space = krdma_reconnect_space,
	.closing = krdma_reconnect_closing,
};

static void krdma_reconnect_work(struct work_struct *work)
{
	struct krdma_reconnect *reconn =
		container_of(work, struct krdma_reconnect, work.work);
	struct krdma_params p;
	struct krdma_cb *cb;
	unsigned long flags;
	bool may;
	int ret;

	spin_lock_irqsave(&reconn->lock, flags);
	p = reconn->p;
	may = reconn->state == KRDMA_RECONNECT_WAITING && !reconn->stopping;
	if (may) {
		reconn->state = KRDMA_RECONNECT_CONNECTING;
		krdma_keys_get(p.keys);
	}
	spin_unlock_irqrestore(&reconn->lock, flags);
	/* @reconn is being stopped, or the work was queued twice. */
	if (!may)
		return;
	/*
	 * Limit the path MTU to the last known MTU of the peer's interface. If
	 * that interface now has a smaller MTU, the attempt fails because of
	 * path_strict: the peer's long packets would be lost. The next attempt
	 * uses the smaller MTU. Each answer of the peer updates peer_mtu,
	 * because the MTU may also have grown.
	 */
	p.path_mtu = min_not_zero(p.path_mtu, (u32)reconn->peer_mtu);
	cb = krdma_create(&p);
	krdma_keys_put(p.keys);
	if (IS_ERR(cb)) {
		krdma_reconnect_over(reconn, PTR_ERR(cb));
		return;
	}
	krdma_conn(cb)->cm.path_strict = true;
	/* From here on krdma_reconnect_stop() can end the cb. */
	spin_lock_irqsave(&reconn->lock, flags);
	reconn->cb = cb;
	ret = reconn->stopping ? -ESHUTDOWN : 0;
	spin_unlock_irqrestore(&reconn->lock, flags);
	if (!ret)
		ret = krdma_connect_async(cb, (struct sockaddr *)&reconn->dst);
	/*
	 * After success, the callbacks of cb make all further steps. They may
	 * have made some already, so do not touch cb here.
	 */
	if (ret)
		krdma_reconnect_failed(reconn, cb, ret);
}

/*
 * Smallest valid sizes of the two structs: their sizes in the first version of
 * krdma that allowed them to grow.
 */
#define KRDMA_RECONNECT_PARAMS_SIZE_MIN \
	offsetofend(struct krdma_reconnect_params, max_ms)
#define KRDMA_RECONNECT_INFO_SIZE_MIN offsetofend(struct krdma_reconnect_info, error)

static int krdma_reconnect_set_owner(struct krdma_reconnect *reconn,
				     const struct krdma_reconnect_params *user)
{
	struct krdma_reconnect_params params;
	int ret;

	if (!user)
		return -EINVAL;
	ret = krdma_struct_in(&params, sizeof(params),
			      KRDMA_RECONNECT_PARAMS_SIZE_MIN, user);
	if (ret)
		return ret;
	if (!params.ops || !params.ops->connected || !params.ops->lost)
		return -EINVAL;
	reconn->ops = params.ops;
	reconn->context = params.context;
	reconn->min_ms = params.min_ms ?: KRDMA_RECONNECT_MIN_MS;
	reconn->max_ms = params.max_ms ?: max_t(u32, KRDMA_RECONNECT_MAX_MS,
						reconn->min_ms);
	if (reconn->min_ms > reconn->max_ms ||
	    reconn->max_ms > KRDMA_RECONNECT_LIMIT_MS)
		return -EINVAL;
	return 0;
}

/*
 * Copy the parameters, and the memory that they point to, because @reconn may
 * outlive that memory.
 */
static int krdma_reconnect_set_params(struct krdma_reconnect *reconn,
				      const struct krdma_params *params)
{
	struct krdma_params checked;
	struct sockaddr *src;
	int ret;

	ret = krdma_params_set(&checked, params);
	if (ret)
		return ret;
	/* Keep zeroes that mean defaults: each connection fills them in. */
	ret = krdma_params_take(&reconn->p, params);
	if (ret)
		return ret;
	if (reconn->p.ops || reconn->p.flags & (KRDMA_RAW | KRDMA_LISTEN_FLAGS))
		return -EINVAL;
	memcpy(reconn->private_data, reconn->p.private_data,
	       reconn->p.private_data_len);
	reconn->p.private_data = reconn->private_data;
	reconn->p.ops = reconn->ops->receive ? &krdma_reconnect_receive_ops :
					       &krdma_reconnect_wait_ops;
	reconn->p.context = reconn;
	/*
	 * Use one session number for all connections. If the peer has not
	 * noticed the end of the previous connection, it recognizes that
	 * connection by the number, and ends it.
	 */
	while (!reconn->p.session)
		reconn->p.session = get_random_u32();
	reconn->p.net = reconn->p.net ?: krdma_callers_net();
	src = (struct sockaddr *)reconn->p.src;
	if (!src)
		return 0;
	if (!krdma_cm_family_ok(src))
		return -EINVAL;
	memcpy(&reconn->src, src, rdma_addr_size(src));
	reconn->p.src = (struct sockaddr *)&reconn->src;
	return 0;
}

/**
 * krdma_reconnect_start - start a persistent connection to a peer
 * @dst: IPv4 or IPv6 address and port of a listener
 * @params: parameters of each connection, in message mode; NULL means the
 *	defaults. ops must be NULL, and context is not used. Memory that the
 *	parameters point to is copied
 * @owner: callbacks and retry times; its ops must outlive
 *	krdma_reconnect_stop()
 *
 * The first attempt begins at once. Whenever an attempt fails or the connection
 * ends, also by krdma_disconnect() on this side, another attempt follows,
 * without limit.
 *
 * Callbacks may run before this returns.
 *
 * Return: object for krdma_reconnect_stop(); ERR_PTR(-EINVAL) or
 * ERR_PTR(-ENOMEM). An unreachable peer is no error.
 */
struct krdma_reconnect *
krdma_reconnect_start(const struct sockaddr *dst,
		      const struct krdma_params *params,
		      const struct krdma_reconnect_params *owner)
{
	struct krdma_reconnect *reconn;
	int ret;

	if (!krdma_cm_family_ok(dst))
		return ERR_PTR(-EINVAL);
	reconn = kzalloc(sizeof(*reconn), GFP_KERNEL);
	if (!reconn)
		return ERR_PTR(-ENOMEM);
	ret = krdma_reconnect_set_owner(reconn, owner) ?:
	      krdma_reconnect_set_params(reconn, params);
	if (ret) {
		kfree(reconn);
		return ERR_PTR(ret);
	}
	memcpy(&reconn->dst, dst, rdma_addr_size((struct sockaddr *)dst));
	spin_lock_init(&reconn->lock);
	init_completion(&reconn->stopped);
	INIT_DELAYED_WORK(&reconn->work, krdma_reconnect_work);
	get_net(reconn->p.net);
	krdma_domain_get(reconn->p.domain);
	krdma_keys_get(reconn->p.keys);
	__module_get(THIS_MODULE);
	mutex_lock(&krdma_reconnects_lock);
	list_add_tail(&reconn->link, &krdma_reconnects);
	mutex_unlock(&krdma_reconnects_lock);
	krdma_device_watch(&reconn->watch, krdma_reconnect_device_added);
	krdma_reconnect_kick(reconn);
	return reconn;
}
EXPORT_SYMBOL_NS_GPL(krdma_reconnect_start, KRDMA_NS);

/**
 * krdma_reconnect_stop - end a persistent connection
 * @reconn: object from krdma_reconnect_start(), or NULL
 *
 * If @reconn is connected, lost() is called once more, with -ESHUTDOWN. On
 * return no callback runs, the connection is released and @reconn is freed.
 * This takes as long as krdma_release_cb(): on siw possibly TCP's time limit.
 *
 * Context: process, may sleep; not from a callback of krdma, and without locks
 * that connected() or lost() take.
 */
void krdma_reconnect_stop(struct krdma_reconnect *reconn)
{
	struct krdma_cb *cb;
	unsigned long flags;

	might_sleep();
	if (!reconn)
		return;
	krdma_device_unwatch(&reconn->watch);
	/* End the connection. */
	spin_lock_irqsave(&reconn->lock, flags);
	reconn->stopping = true;
	cb = reconn->cb;
	if (cb)
		krdma_get(cb);
	spin_unlock_irqrestore(&reconn->lock, flags);
	if (cb) {
		krdma_disconnect(cb);
		krdma_put(cb);
	}
	/*
	 * Make the step to KRDMA_RECONNECT_STOPPED if no attempt was in flight
	 * and no connection exists, because in this case no other context makes
	 * that step.
	 */
	cancel_delayed_work_sync(&reconn->work);
	spin_lock_irqsave(&reconn->lock, flags);
	if (reconn->state == KRDMA_RECONNECT_WAITING) {
		reconn->state = KRDMA_RECONNECT_STOPPED;
		complete(&reconn->stopped);
	}
	spin_unlock_irqrestore(&reconn->lock, flags);
	/*
	 * The step after the end of the connection completes reconn->stopped.
	 * Until then that step uses @reconn.
	 */
	wait_for_completion(&reconn->stopped);
	/*
	 * Wait until the context that completed reconn->stopped has released
	 * the lock.
	 */
	spin_lock_irqsave(&reconn->lock, flags);
	spin_unlock_irqrestore(&reconn->lock, flags);
	mutex_lock(&krdma_reconnects_lock);
	list_del(&reconn->link);
	mutex_unlock(&krdma_reconnects_lock);
	krdma_domain_put(reconn->p.domain);
	krdma_keys_put(reconn->p.keys);
	put_net(reconn->p.net);
	kfree(reconn);
	module_put(THIS_MODULE);
}
EXPORT_SYMBOL_NS_GPL(krdma_reconnect_stop, KRDMA_NS);

/**
 * krdma_reconnect_set_keys - replace the keys of a persistent connection
 * @reconn: object from krdma_reconnect_start(); no effect without a level
 * @keys: keys for later attempts; krdma takes its own reference
 *
 * The present connection, or an attempt in flight, keeps its key, see
 * krdma_keys_have().
 *
 * Context: any.
 */
void krdma_reconnect_set_keys(struct krdma_reconnect *reconn,
			      struct krdma_keys *keys)
{
	struct krdma_keys *old;
	unsigned long flags;

	if (!reconn->p.security)
		return;
	krdma_keys_get(keys);
	spin_lock_irqsave(&reconn->lock, flags);
	old = reconn->p.keys;
	reconn->p.keys = keys;
	spin_unlock_irqrestore(&reconn->lock, flags);
	krdma_keys_put(old);
}
EXPORT_SYMBOL_NS_GPL(krdma_reconnect_set_keys, KRDMA_NS);

/**
 * krdma_reconnect_kick - connect now
 * @reconn: object from krdma_reconnect_start()
 *
 * An owner calls this when it knows that the peer is back. If @reconn is
 * connected or an attempt is in flight, this only resets the back-off.
 *
 * Context: any.
 */
void krdma_reconnect_kick(struct krdma_reconnect *reconn)
{
	krdma_reconnect_hurry(reconn, 0);
}
EXPORT_SYMBOL_NS_GPL(krdma_reconnect_kick, KRDMA_NS);

/**
 * krdma_reconnect_get_cb - get the present connection
 * @reconn: object from krdma_reconnect_start()
 *
 * Tasks of the owner call this to use the connection between connected() and
 * lost(). The connection may end and be released at any moment. In this case
 * the task has a closed cb.
 *
 * Context: any.
 * Return: a cb for krdma_put(), not for krdma_release_cb(); NULL if @reconn is
 * not connected.
 */
struct krdma_cb *krdma_reconnect_get_cb(struct krdma_reconnect *reconn)
{
	struct krdma_cb *cb = NULL;
	unsigned long flags;

	spin_lock_irqsave(&reconn->lock, flags);
	if (reconn->state == KRDMA_RECONNECT_CONNECTED && reconn->cb &&
	    krdma_is_established(reconn->cb)) {
		cb = reconn->cb;
		krdma_get(cb);
	}
	spin_unlock_irqrestore(&reconn->lock, flags);
	return cb;
}
EXPORT_SYMBOL_NS_GPL(krdma_reconnect_get_cb, KRDMA_NS);

/**
 * krdma_reconnect_context - return the owner's pointer
 * @reconn: object from krdma_reconnect_start()
 *
 * Context: any.
 * Return: &krdma_reconnect_params.context.
 */
void *krdma_reconnect_context(const struct krdma_reconnect *reconn)
{
	return reconn->context;
}
EXPORT_SYMBOL_NS_GPL(krdma_reconnect_context, KRDMA_NS);

/**
 * krdma_reconnect_query - return the status of a persistent connection
 * @reconn: object from krdma_reconnect_start()
 * @info: result; the caller sets its size
 *
 * Context: any.
 * Return: 0, or -EINVAL if &krdma_reconnect_info.size is not set.
 */
int krdma_reconnect_query(struct krdma_reconnect *reconn,
			  struct krdma_reconnect_info *info)
{
	struct krdma_reconnect_info found = { .size = sizeof(found) };
	unsigned long flags;

	spin_lock_irqsave(&reconn->lock, flags);
	found.state = reconn->state;
	found.epoch = reconn->epoch;
	found.failures = reconn->failures;
	found.error = reconn->error;
	spin_unlock_irqrestore(&reconn->lock, flags);
	return krdma_struct_out(info, KRDMA_RECONNECT_INFO_SIZE_MIN, &found);
}
EXPORT_SYMBOL_NS_GPL(krdma_reconnect_query, KRDMA_NS);

/**
 * krdma_reconnect_epoch - return the number of connections so far
 * @reconn: object from krdma_reconnect_start()
 *
 * Context: any.
 * Return: number of connections, including the present one; 0 if there was none
 * yet.
 */
u64 krdma_reconnect_epoch(struct krdma_reconnect *reconn)
{
	struct krdma_reconnect_info info = { .size = sizeof(info) };

	krdma_reconnect_query(reconn, &info);
	return info.epoch;
}
EXPORT_SYMBOL_NS_GPL(krdma_reconnect_epoch, KRDMA_NS);

static const char *const krdma_reconnect_names[] = {
	[KRDMA_RECONNECT_WAITING] = "waiting",
	[KRDMA_RECONNECT_CONNECTING] = "connecting",
	[KRDMA_RECONNECT_CONNECTED] = "connected",
	[KRDMA_RECONNECT_STOPPED] = "stopped",
};

/**
 * krdma_reconnect_show - print the file "kept" in debugfs
 * @seq: output
 * @unused: unused
 *
 * Return: 0.
 */
int krdma_reconnect_show(struct seq_file *seq, void *unused)
{
	struct krdma_reconnect_info info = { .size = sizeof(info) };
	struct krdma_reconnect *reconn;
	long left;

	seq_puts(seq, "peer state epoch failures error next_ms\n");
	mutex_lock(&krdma_reconnects_lock);
	list_for_each_entry(reconn, &krdma_reconnects, link) {
		krdma_reconnect_query(reconn, &info);
		/* Time to the next attempt. */
		left = READ_ONCE(reconn->work.timer.expires) - jiffies;
		if (!timer_pending(&reconn->work.timer))
			left = 0;
		seq_printf(seq, "%pISpc %s %llu %u %d %u\n", &reconn->dst,
			   krdma_reconnect_names[info.state], info.epoch,
			   info.failures, info.error,
			   jiffies_to_msecs(max(left, 0L)));
	}
	mutex_unlock(&krdma_reconnects_lock);
	return 0;
}
