// SPDX-License-Identifier: GPL-2.0
/*
 * Listeners. This file creates them, life.c tears them down, and cm.c receives
 * their requests.
 *
 * A listener outlives its RDMA device. If the address of the listener is a
 * wildcard, the CM ensures this. A listener on a specific address has a cm_id
 * that is bound to the device and is destroyed with the device. After that the
 * listener has no usable cm_id (it is "unbound"), and stays in KRDMA_LISTENING.
 * Its timer creates new cm_ids until one of them listens. The timer runs when a
 * device has appeared, and every second, because a device may get its address
 * later.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/export.h>

#include "cm.h"
#include "quirks.h"

/* Interval in ms at which a listener without a usable cm_id tries to listen. */
#define KRDMA_LISTEN_RETRY_MS 1000

/*
 * Queue the timer, with a reference that krdma_listen_work() or
 * krdma_conn_stop_timer() puts.
 */
static void krdma_listen_queue(struct krdma_conn *conn, u32 ms)
{
	krdma_conn_get(conn);
	if (mod_delayed_work(krdma_wq, &conn->work.timer, msecs_to_jiffies(ms)))
		krdma_conn_put(conn);
}

/* Set whether a listener is unbound. */
static void krdma_listen_set_unbound(struct krdma_conn *conn, bool unbound)
{
	unsigned long flags;

	spin_lock_irqsave(&conn->lock, flags);
	conn->listen.unbound = unbound;
	spin_unlock_irqrestore(&conn->lock, flags);
}

/**
 * krdma_listen_lost - replace the cm_id of a listener
 * @conn: listener whose device is being removed, or whose address has moved to
 *	another port
 *
 * The removal of a device waits until the cm_id is destroyed. This function
 * runs in a callback of the cm_id, which cannot destroy it. So it queues the
 * timer's work, which does.
 *
 * Context: CM callback.
 */
void krdma_listen_lost(struct krdma_conn *conn)
{
	krdma_listen_set_unbound(conn, true);
	krdma_listen_queue(conn, 0);
}

/*
 * Queue the timer's work when a device has appeared. Queue it even if the work
 * is already running, because the running work may have searched for a device
 * before this device appeared.
 */
static void krdma_listen_device_added(struct krdma_watch *watch)
{
	krdma_listen_queue(container_of(watch, struct krdma_conn, listen.watch),
			   0);
}

static int krdma_listen_bind(struct krdma_conn *conn)
{
	int ret;

	lockdep_assert_held(&conn->setup);
	ret = krdma_cm_new_id(conn);
	if (ret)
		return ret;
	if (conn->p.tos)
		rdma_set_service_type(conn->cb.cm_id, conn->p.tos);
	if (conn->p.flags & KRDMA_LISTEN_V6ONLY)
		rdma_set_afonly(conn->cb.cm_id, 1);
	ret = rdma_bind_addr(conn->cb.cm_id, (struct sockaddr *)&conn->cm.src);
	if (ret)
		return ret;
	/*
	 * Change the state before the first request can arrive, because a
	 * request is refused in other states.
	 */
	if (krdma_get_state(&conn->cb) != KRDMA_LISTENING &&
	    !krdma_conn_move(conn, KRDMA_LISTENING))
		return krdma_last_error(&conn->cb);
	return rdma_listen(conn->cb.cm_id, krdma_quirk_backlog(conn->p.backlog));
}

static void krdma_listen_unbind(struct krdma_conn *conn)
{
	lockdep_assert_held(&conn->setup);
	if (conn->cb.cm_id)
		rdma_destroy_id(conn->cb.cm_id);
	conn->cb.cm_id = NULL;
}

/* Let the timer try to listen. */
static void krdma_listen_later(struct krdma_conn *conn)
{
	krdma_listen_unbind(conn);
	krdma_listen_set_unbound(conn, true);
	krdma_listen_queue(conn, KRDMA_LISTEN_RETRY_MS);
}

/*
 * Log that a listener does not listen, each change of the reason, and the
 * recovery.
 */
static void krdma_listen_say(struct krdma_conn *conn, int error)
{
	lockdep_assert_held(&conn->setup);
	if (error == conn->listen.error)
		return;
	conn->listen.error = error;
	if (error)
		pr_info_ratelimited("%pISpc: does not listen, waits: %d\n",
				    &conn->cm.src, error);
	else
		pr_info_ratelimited("%pISpc: listens again\n", &conn->cm.src);
}

/**
 * krdma_listen_work - bind a listener again if it is unbound
 * @work: krdma_conn.work.timer of a listener
 */
void krdma_listen_work(struct work_struct *work)
{
	struct krdma_conn *conn =
		container_of(work, struct krdma_conn, work.timer.work);
	struct krdma_noio noio = krdma_noio_enter_work();
	int ret;

	mutex_lock(&conn->setup);
	if (krdma_get_state(&conn->cb) == KRDMA_LISTENING &&
	    READ_ONCE(conn->listen.unbound)) {
		krdma_listen_unbind(conn);
		/*
		 * Clear unbound before the new cm_id exists. As soon as it
		 * exists, its device may be removed, and krdma_listen_lost()
		 * may set unbound again. That value must not be overwritten.
		 */
		krdma_listen_set_unbound(conn, false);
		ret = krdma_listen_bind(conn);
		if (ret)
			krdma_listen_later(conn);
		krdma_listen_say(conn, ret);
	}
	mutex_unlock(&conn->setup);
	krdma_conn_put(conn);
	krdma_noio_leave(noio);
}

/**
 * krdma_listen_end - stop the notification of new devices
 * @conn: listener that is being torn down; no effect on connections
 *
 * Context: process.
 */
void krdma_listen_end(struct krdma_conn *conn)
{
	if (conn->cb.role == KRDMA_LISTEN_CONN)
		krdma_device_unwatch(&conn->listen.watch);
}

static int krdma_listen_first(struct krdma_conn *conn)
{
	int ret;

	lockdep_assert_held(&conn->setup);
	ret = krdma_listen_bind(conn);
	if (!ret) {
		krdma_cm_keep_addrs(conn, conn->cb.cm_id);
		/*
		 * If the CM has chosen the port, use the same port when the
		 * listener is bound again.
		 */
		conn->cm.src = conn->cm.local;
	} else if (conn->p.flags & KRDMA_LISTEN_WAIT &&
		   (ret == -ENODEV || ret == -EADDRNOTAVAIL)) {
		/* Wait until a device has the address of the listener. */
		if (krdma_get_state(&conn->cb) != KRDMA_LISTENING &&
		    !krdma_conn_move(conn, KRDMA_LISTENING))
			return krdma_last_error(&conn->cb);
		conn->cm.local = conn->cm.src;
		krdma_listen_say(conn, ret);
		krdma_listen_later(conn);
		ret = 0;
	}
	if (!ret)
		krdma_device_watch(&conn->listen.watch,
				   krdma_listen_device_added);
	return ret;
}

/**
 * krdma_listen_params - listen for connect requests
 * @src: local address and port. If the port is 0 the CM chooses one, see
 *	krdma_local_addr(). The address 0.0.0.0 or :: means all RDMA devices,
 *	including future ones
 * @params: parameters for the listener and its connections; NULL for defaults
 * @listen_cb: result: listener; unchanged on error
 *
 * A listener on a specific address outlives its RDMA device. When the device is
 * removed, peers cannot connect, pending requests end, and tasks continue to
 * wait on the listener. When a device has the address again, the listener
 * listens again on the same port. With KRDMA_LISTEN_WAIT the listener is also
 * created if no device has the address yet. With this flag the port must not be
 * 0.
 *
 * Return: 0; -EINVAL; -EADDRINUSE; -EADDRNOTAVAIL or -ENODEV: no RDMA device
 * has that address; -ENOMEM.
 */
int krdma_listen_params(const struct sockaddr *src,
			const struct krdma_params *params,
			struct krdma_cb **listen_cb)
{
	struct krdma_conn *conn;
	struct krdma_noio noio;
	int ret;

	if (!krdma_cm_family_ok(src))
		return -EINVAL;
	conn = krdma_conn_alloc(KRDMA_LISTEN_CONN, params);
	if (IS_ERR(conn))
		return PTR_ERR(conn);
	/* IPv4 and IPv6 socket addresses have the port at the same offset. */
	if ((conn->p.flags & KRDMA_LISTEN_WAIT &&
	     !((const struct sockaddr_in *)src)->sin_port) ||
	    (conn->p.flags & KRDMA_LISTEN_V6ONLY && src->sa_family != AF_INET6)) {
		krdma_release_cb(&conn->cb);
		return -EINVAL;
	}
	conn->life.async = conn->ops && conn->ops->request;
	noio = krdma_noio_enter(&conn->p);
	mutex_lock(&conn->setup);
	memset(&conn->cm.src, 0, sizeof(conn->cm.src));
	memcpy(&conn->cm.src, src, rdma_addr_size((struct sockaddr *)src));
	ret = krdma_listen_first(conn);
	mutex_unlock(&conn->setup);
	krdma_noio_leave(noio);
	if (ret) {
		krdma_release_cb(&conn->cb);
		return ret;
	}
	*listen_cb = &conn->cb;
	return 0;
}
EXPORT_SYMBOL_NS_GPL(krdma_listen_params, KRDMA_NS);
