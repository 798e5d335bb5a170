// SPDX-License-Identifier: GPL-2.0
/*
 * Connecting and accepting through the RDMA CM.
 *
 * CM events arrive in krdma_cm_handler(), one at a time for each cm_id. For a
 * connection, the handler mainly changes the state. The task that connects or
 * accepts waits for the new state and makes the next step itself. On siw it
 * matters which task does this, because siw creates its TCP sockets in the
 * network namespace of the calling task. An asynchronous connection has no such
 * task: step_work makes its steps, see handshake.c.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/export.h>
#include <linux/random.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "auth.h"
#include "cm.h"
#include "quirks.h"
#include "trace.h"

/*
 * Private data in REQ and REP: krdma's hello, then the user's data. With a level
 * a tag follows in REQ, and the first message of the handshake in REP.
 */
struct krdma_cm_private {
	struct krdma_wire_hello hello;
	u8 user[KRDMA_PRIVATE_DATA_MAX];
	u8 handshake[KRDMA_AUTH_REP_SIZE];
} __packed;
static_assert(offsetof(struct krdma_cm_private, handshake) ==
	      KRDMA_RAW_PRIVATE_DATA_MAX);
static_assert(sizeof(struct krdma_cm_private) <= IB_CM_REP_PRIVATE_DATA_SIZE);
static_assert(KRDMA_RAW_REPLY_DATA_MAX == IB_CM_REP_PRIVATE_DATA_SIZE);

struct krdma_cm_rej_private {
	struct krdma_wire_rej rej;
	u8 user[IB_CM_REJ_PRIVATE_DATA_SIZE - sizeof(struct krdma_wire_rej)];
} __packed;

/**
 * krdma_cm_keep_addrs - copy the local address and the peer's address
 * @conn: connection or listener
 * @id: cm_id of @conn, which may be destroyed after this call
 *
 * Context: any.
 */
void krdma_cm_keep_addrs(struct krdma_conn *conn, const struct rdma_cm_id *id)
{
	conn->cm.local = id->route.addr.src_addr;
	conn->cm.peer = id->route.addr.dst_addr;
}

/*
 * Copy the private data of the peer's REQ or REP, which is freed after the
 * event. @hello is the decoded hello in it, and unused in raw mode.
 */
static void krdma_cm_take_private(struct krdma_conn *conn,
				  const struct rdma_conn_param *param,
				  const struct krdma_hello *hello)
{
	const struct krdma_cm_private *priv = param->private_data;

	if (krdma_conn_is_raw(conn)) {
		conn->cm.peer_data_len = min_t(size_t, param->private_data_len,
					       sizeof(conn->cm.peer_data));
		memcpy(conn->cm.peer_data, param->private_data,
		       conn->cm.peer_data_len);
		return;
	}
	conn->hello = *hello;
	conn->cm.peer_data_len = hello->user_len;
	memcpy(conn->cm.peer_data, priv->user, conn->cm.peer_data_len);
}

/* Check whether the peer's hello has the mode of this side. */
static bool krdma_cm_mode_fits(const struct krdma_conn *conn)
{
	if (krdma_conn_is_raw(conn))
		return true;
	return conn->hello.mode == (krdma_conn_is_rw(conn) ?
				    KRDMA_WIRE_MODE_RW : KRDMA_WIRE_MODE_MSG);
}

/*
 * Check the hello of a request before an object is made for it. Without raw
 * mode, *hello is a result. With a level, *auth is a result, too, for
 * krdma_auth_free().
 */
static int krdma_cm_check_request(struct krdma_conn *listener,
				  const struct rdma_cm_id *id,
				  const struct rdma_conn_param *param,
				  struct krdma_hello *hello,
				  struct krdma_auth **auth)
{
	int ret;

	if (krdma_conn_is_raw(listener))
		return 0;
	ret = krdma_hello_decode(hello, param->private_data,
				 param->private_data_len);
	return ret ?: krdma_auth_check_req(listener, hello, id,
					   param->private_data,
					   param->private_data_len, auth);
}

/* Check the hello of a reply, and with a level the proof in it. */
static int krdma_cm_check_reply(struct krdma_conn *conn,
				const struct rdma_conn_param *param)
{
	struct krdma_hello hello = {};
	int ret = 0;

	if (!krdma_conn_is_raw(conn))
		ret = krdma_hello_decode(&hello, param->private_data,
					 param->private_data_len);
	if (ret)
		return ret;
	krdma_cm_take_private(conn, param, &hello);
	if (!krdma_cm_mode_fits(conn) || conn->hello.level != conn->p.security)
		return -EPROTO;
	if (!conn->auth)
		return 0;
	return krdma_auth_read_rep(conn, param->private_data,
				   param->private_data_len);
}

/*
 * Set the timers of the QP. A client calls this before it resolves the route,
 * because on RoCE the resolution uses the ack timeout. A QP on iWARP has no
 * such timers, and the CM ignores the values.
 */
static void krdma_cm_set_timers(struct krdma_conn *conn)
{
	struct rdma_cm_id *id = conn->cb.cm_id;
	u8 timeout;

	if (krdma_params_ack_timeout(&conn->p,
				     rdma_protocol_roce(id->device, id->port_num),
				     &timeout))
		rdma_set_ack_timeout(id, timeout);
	rdma_set_min_rnr_timer(id, conn->p.min_rnr_timer);
}

/*
 * Put the connection on the list of its device before the route is resolved. So
 * krdma closes the connection before the CM handles a removal of the device.
 *
 * Otherwise the CM may use a NULL pointer (Linux 6.1 to 7.3 at least) if the
 * device is removed while the route is being resolved. The CM reads the device
 * pointer of the cm_id after the CM has released its lock
 * (cma_send_device_removal_put(), cma_cancel_route()). By then
 * rdma_destroy_id() may have cleared the pointer.
 */
static void krdma_cm_addr_resolved(struct krdma_conn *conn)
{
	int ret;

	if (!krdma_conn_move(conn, KRDMA_RESOLVING_ROUTE))
		return;
	ret = krdma_device_join(conn);
	if (!ret) {
		krdma_cm_set_timers(conn);
		ret = rdma_resolve_route(conn->cb.cm_id,
					 conn->p.route_timeout_ms);
	}
	if (ret)
		krdma_conn_abort(conn, ret);
}

static void krdma_cm_established(struct krdma_conn *conn,
				 const struct rdma_cm_event *event)
{
	int ret;

	krdma_cm_keep_addrs(conn, conn->cb.cm_id);
	/*
	 * Only a client gets a hello here. The passive side got the hello of
	 * its peer earlier, with the connect request.
	 */
	if (conn->cb.role == KRDMA_CLIENT_CONN) {
		ret = krdma_cm_check_reply(conn, &event->param.conn);
		if (ret == -EKEYREJECTED) {
			krdma_conn_abort_for(conn, ret, KRDMA_CAUSE_AUTH, 0);
			return;
		}
		if (ret) {
			krdma_count(conn,
				    KRDMA_COUNT_BREACH + KRDMA_BREACH_HELLO);
			pr_info_ratelimited("%pISpc: peer answers with a bad hello\n",
					    &conn->cb.cm_id->route.addr.dst_addr);
		} else {
			ret = krdma_path_keep(conn, conn->cb.cm_id);
		}
		if (ret) {
			krdma_conn_abort(conn, ret);
			return;
		}
		if (conn->mode->peer_hello)
			conn->mode->peer_hello(conn);
	}
	/*
	 * The timer of an asynchronous connection continues, because it also
	 * limits the exchange of START messages.
	 */
	if (!READ_ONCE(conn->life.async))
		krdma_conn_in_time(conn);
	krdma_conn_move(conn, KRDMA_ESTABLISHED);
	krdma_step_queue(conn);
}

static void krdma_cm_rejected(struct krdma_conn *conn,
			      struct rdma_cm_event *event)
{
	struct krdma_reject *rej = &conn->cm.rej;
	int error = -ECONNREFUSED;
	u8 reason, len, user_len;
	const u8 *data;

	rej->reason = event->status;
	data = krdma_quirk_reject_data(conn->cb.cm_id, event, &len);
	if (data && !krdma_conn_is_raw(conn)) {
		/* Before the user's data there is krdma's reason. */
		if (krdma_rej_decode(&reason, &user_len, data, len)) {
			data = NULL;
		} else {
			error = krdma_rej_errno(reason);
			data += sizeof(struct krdma_wire_rej);
			len = user_len;
		}
	}
	if (error == -EPERM || error == -EKEYREJECTED)
		pr_info_ratelimited("%pISpc: refuses this host: it has another %s\n",
				    &conn->cb.cm_id->route.addr.dst_addr,
				    error == -EPERM ? "security level" : "key");
	if (data) {
		rej->private_data_len =
			min_t(size_t, len, sizeof(rej->private_data));
		memcpy(rej->private_data, data, rej->private_data_len);
	}
	/* Pairs with krdma_get_reject(). */
	smp_store_release(&conn->cm.rejected, true);
	krdma_conn_abort(conn, error);
}

/*
 * Send a reject with @reason, an enum krdma_wire_reason, and the user's data.
 * In raw mode the reject has only the user's data.
 */
static int krdma_cm_reject(const struct krdma_conn *conn, struct rdma_cm_id *id,
			   u8 reason, const void *user_data, u8 user_data_len)
{
	struct krdma_cm_rej_private priv;

	if (krdma_conn_is_raw(conn))
		return rdma_reject(id, user_data, user_data_len,
				   IB_CM_REJ_CONSUMER_DEFINED);
	krdma_rej_encode(&priv.rej, reason, user_data_len);
	memcpy(priv.user, user_data, user_data_len);
	return rdma_reject(id, &priv, sizeof(priv.rej) + user_data_len,
			   IB_CM_REJ_CONSUMER_DEFINED);
}

static u8 krdma_cm_reason(int error)
{
	switch (error) {
	case -EPROTO:
		return KRDMA_WIRE_REJ_PROTO;
	case -EPROTONOSUPPORT:
		return KRDMA_WIRE_REJ_VERSION;
	case -EPROTOTYPE:
		return KRDMA_WIRE_REJ_MODE;
	case -EBUSY:
	case -EUSERS:
		return KRDMA_WIRE_REJ_BUSY;
	case -EPERM:
		return KRDMA_WIRE_REJ_SECURITY;
	case -EKEYREJECTED:
		return KRDMA_WIRE_REJ_KEY;
	case -ETIMEDOUT:
		return KRDMA_WIRE_REJ_TIMEOUT;
	case -ESHUTDOWN:
		return KRDMA_WIRE_REJ_CLOSING;
	default:
		/* Memory or QPs are lacking, or creating the QP has failed. */
		return KRDMA_WIRE_REJ_NOMEM;
	}
}

/**
 * krdma_cm_reject_unanswered - reject a request that is torn down unanswered
 * @conn: connection that is being torn down
 *
 * Without the reject, the peer would wait until its own time limit. A peer
 * without a time limit would wait up to 16 minutes, because the CM of this host
 * acknowledges each request that the CM of the peer repeats.
 *
 * Context: process, @conn->setup held.
 */
void krdma_cm_reject_unanswered(struct krdma_conn *conn)
{
	lockdep_assert_held(&conn->setup);
	if (conn->cb.role != KRDMA_ACCEPT_CONN || conn->cm.answered)
		return;
	conn->cm.answered = true;
	krdma_cm_reject(conn, conn->cb.cm_id, krdma_cm_reason(conn->error),
			NULL, 0);
}

/*
 * Move requests that have ended, and accepted connections whose handshake has
 * failed, to the list @dead.
 */
static void krdma_cm_prune_locked(struct krdma_conn *listener,
				  struct list_head *dead)
{
	struct krdma_conn *conn, *next;

	lockdep_assert_held(&listener->lock);
	list_for_each_entry_safe(conn, next, &listener->listen.requests,
				 acc.link) {
		if (!krdma_conn_is_over(conn))
			continue;
		list_move(&conn->acc.link, dead);
		listener->listen.nrequests--;
	}
	list_for_each_entry_safe(conn, next, &listener->listen.accepted,
				 acc.link) {
		if (!conn->acc.error)
			continue;
		list_move(&conn->acc.link, dead);
		listener->listen.nrequests--;
	}
}

static void krdma_cm_put_all(struct list_head *conns)
{
	struct krdma_conn *conn, *next;

	list_for_each_entry_safe(conn, next, conns, acc.link) {
		list_del_init(&conn->acc.link);
		krdma_conn_put(conn);
	}
}

/*
 * Put a request on its listener's list. On success the list takes over the
 * reference of the creator.
 */
static int krdma_cm_queue_request(struct krdma_conn *listener,
				  struct krdma_conn *conn)
{
	LIST_HEAD(dead);
	unsigned long flags;
	int ret = 0;

	spin_lock_irqsave(&listener->lock, flags);
	krdma_cm_prune_locked(listener, &dead);
	if (listener->cb.state != KRDMA_LISTENING) {
		ret = -ESHUTDOWN;
	} else if (listener->listen.nrequests >= listener->p.backlog) {
		ret = -EBUSY;
	} else {
		list_add_tail(&conn->acc.link, &listener->listen.requests);
		listener->listen.nrequests++;
		wake_up_all(&listener->wait);
		krdma_step_queue(listener);
	}
	spin_unlock_irqrestore(&listener->lock, flags);
	krdma_cm_put_all(&dead);
	return ret;
}

static int krdma_cm_take_request(struct krdma_conn *listener,
				 struct rdma_cm_id *id,
				 const struct rdma_conn_param *param)
{
	struct krdma_auth *auth = NULL;
	struct krdma_hello hello = {};
	struct krdma_conn *conn;
	int ret;

	ret = krdma_cm_check_request(listener, id, param, &hello, &auth);
	if (ret)
		return ret;
	conn = krdma_conn_alloc_child(listener, auth);
	if (IS_ERR(conn)) {
		krdma_auth_free(auth);
		return PTR_ERR(conn);
	}
	krdma_cm_take_private(conn, param, &hello);
	if (!krdma_cm_mode_fits(conn)) {
		ret = -EPROTOTYPE;
		goto err_put;
	}
	krdma_cm_keep_addrs(conn, id);
	krdma_path_keep(conn, id);
	conn->cm.resources = param->responder_resources;
	conn->cm.depth = param->initiator_depth;
	conn->cb.cm_id = id;
	id->context = conn;
	krdma_conn_get(conn);
	ret = krdma_cm_queue_request(listener, conn);
	/*
	 * Another task may now take @conn off the list and release it. This
	 * handler holds a reference to @conn. Teardown stops the timer only
	 * after rdma_destroy_id(), which waits until this handler has returned.
	 */
	if (!ret)
		krdma_conn_start_timer(conn, conn->p.connect_timeout_ms);
	else
		conn->cb.cm_id = NULL;
	krdma_conn_put(conn);
	if (!ret)
		return 0;
err_put:
	id->context = listener;
	krdma_conn_put(conn);
	return ret;
}

/* Explain the errno of a request that was refused because of its level or key. */
static const char *krdma_cm_refusal(int error)
{
	switch (error) {
	case -EPERM:
		return ", other security level";
	case -EKEYREJECTED:
		return ", other key";
	default:
		return "";
	}
}

/*
 * Handle a connect request. On error no connection owns @id, and the CM
 * destroys it.
 */
static int krdma_cm_request(struct krdma_conn *listener, struct rdma_cm_id *id,
			    struct rdma_cm_event *event)
{
	int ret = krdma_cm_take_request(listener, id, &event->param.conn);

	if (!ret)
		return 0;
	krdma_count(listener, KRDMA_COUNT_REQUESTS_REFUSED);
	if (ret == -EPROTO)
		krdma_count(listener, KRDMA_COUNT_BREACH + KRDMA_BREACH_HELLO);
	pr_info_ratelimited("%pISpc: connect request refused: %d%s\n",
			    &id->route.addr.dst_addr, ret,
			    krdma_cm_refusal(ret));
	if (!krdma_conn_is_raw(listener))
		krdma_auth_refused(listener, id, event->param.conn.private_data,
				   event->param.conn.private_data_len, ret);
	krdma_cm_reject(listener, id, krdma_cm_reason(ret), NULL, 0);
	return ret;
}

/*
 * Handle a CM event. Return an error only for a connect request that was
 * refused: the CM then destroys @id.
 */
static int krdma_cm_handle(struct krdma_conn *conn, struct rdma_cm_id *id,
			   struct rdma_cm_event *event)
{
	int error = event->status;

	trace_krdma_cm_event(conn->stats.id, event->event, event->status);
	switch (event->event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		return krdma_cm_request(conn, id, event);
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		krdma_cm_addr_resolved(conn);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		krdma_conn_move(conn, KRDMA_ROUTED);
		krdma_step_queue(conn);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		krdma_cm_established(conn, event);
		break;
	case RDMA_CM_EVENT_REJECTED:
		krdma_cm_rejected(conn, event);
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
		/* Other values of status are reject reasons of the CM. */
		krdma_conn_abort(conn, error < 0 ? error : -EHOSTUNREACH);
		break;
	case RDMA_CM_EVENT_CONNECT_ERROR:
		if (error == -ENOMEM)
			WRITE_ONCE(conn->hw.modify_failed, true);
		if (error < 0)
			error = krdma_quirk_connect_errno(id, error);
		else
			error = -ECONNABORTED;
		krdma_conn_abort(conn, error);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		krdma_conn_hung_up(conn);
		break;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		if (conn->cb.role == KRDMA_LISTEN_CONN)
			krdma_listen_lost(conn);
		else
			krdma_conn_abort(conn, -ENODEV);
		break;
	case RDMA_CM_EVENT_ADDR_CHANGE:
		/*
		 * The address has moved to another port, possibly of another
		 * device, because a bonding interface has switched. Bind a
		 * listener to the new port. A connection needs no action: its
		 * QP fails when its retries are exhausted.
		 */
		if (conn->cb.role == KRDMA_LISTEN_CONN)
			krdma_listen_lost(conn);
		break;
	default:
		/* TIMEWAIT_EXIT: nothing to do. */
		break;
	}
	return 0;
}

static int krdma_cm_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct krdma_conn *conn = id->context;
	struct krdma_noio noio = krdma_noio_enter(&conn->p);
	int ret = krdma_cm_handle(conn, id, event);

	krdma_noio_leave(noio);
	return ret;
}

/**
 * krdma_cm_new_id - create a cm_id
 * @conn: connection or listener without a cm_id
 *
 * Context: process, @conn->setup held.
 * Return: 0 or -errno of rdma_create_id().
 */
int krdma_cm_new_id(struct krdma_conn *conn)
{
	struct rdma_cm_id *id;

	krdma_noio_check(conn);
	id = rdma_create_id(conn->net, krdma_cm_handler, conn, RDMA_PS_TCP,
			    IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);
	conn->cb.cm_id = id;
	return 0;
}

static int krdma_cm_fill_param(struct krdma_conn *conn,
			       struct rdma_conn_param *param,
			       struct krdma_cm_private *priv)
{
	const struct ib_device_attr *attrs = &conn->cb.cm_id->device->attrs;
	struct krdma_hello hello;

	*param = (struct rdma_conn_param){
		.private_data = conn->cm.user_data,
		.private_data_len = conn->cm.user_data_len,
		.responder_resources = min_t(int, conn->p.responder_resources,
					     attrs->max_qp_rd_atom),
		.initiator_depth = min_t(int, conn->p.initiator_depth,
					 attrs->max_qp_init_rd_atom),
		.retry_count = conn->p.retry_count,
		.rnr_retry_count = conn->p.rnr_retry_count,
	};
	if (krdma_conn_is_raw(conn))
		return 0;
	conn->mode->hello(conn, &hello);
	krdma_path_hello(conn, &hello);
	hello.user_len = conn->cm.user_data_len;
	krdma_hello_encode(&priv->hello, &hello);
	memcpy(priv->user, conn->cm.user_data, conn->cm.user_data_len);
	param->private_data = priv;
	param->private_data_len = sizeof(priv->hello) + hello.user_len;
	if (!conn->auth)
		return 0;
	if (conn->cb.role == KRDMA_CLIENT_CONN)
		return krdma_auth_fill_req(conn, priv, hello.user_len,
					   &param->private_data_len);
	return krdma_auth_fill_rep(conn, priv, hello.user_len,
				   &param->private_data_len);
}

/*
 * Create the QP. Then post receives (message mode), or call qp_ready (raw
 * mode). A client does this before it calls rdma_connect(), and the passive
 * side before it calls rdma_accept().
 */
static int krdma_cm_make_ready(struct krdma_conn *conn)
{
	int ret;

	lockdep_assert_held(&conn->setup);
	ret = krdma_device_attach(conn);
	if (ret)
		return ret;
	ret = krdma_qp_create(conn);
	if (ret)
		return ret;
	if (!krdma_conn_move(conn, KRDMA_READY))
		return krdma_last_error(&conn->cb);
	return conn->mode->begin(conn);
}

static int krdma_cm_dial_locked(struct krdma_conn *conn)
{
	struct krdma_cm_private priv;
	struct rdma_conn_param param;
	int ret;

	lockdep_assert_held(&conn->setup);
	ret = krdma_cm_make_ready(conn);
	if (ret)
		return ret;
	krdma_path_limit(conn);
	ret = krdma_cm_fill_param(conn, &param, &priv);
	if (ret)
		return ret;
	if (!krdma_conn_move(conn, KRDMA_CONNECTING))
		return krdma_last_error(&conn->cb);
	conn->cm.connect_called = true;
	return krdma_quirk_connect(conn, &param);
}

static bool krdma_conn_is_routed(struct krdma_conn *conn, const void *arg)
{
	return krdma_get_state(&conn->cb) == KRDMA_ROUTED;
}

/*
 * Check whether the connection has been established. The result stays true
 * after the peer has closed the connection, because messages of the peer can
 * still be received.
 */
static bool krdma_cm_is_connected(struct krdma_conn *conn, const void *arg)
{
	return krdma_conn_was_established(conn);
}

/**
 * krdma_cm_start - begin to connect
 * @conn: client in KRDMA_RESOLVING_ADDR
 * @dst: address of the listener
 *
 * This function holds @conn->setup, so that a concurrent teardown waits for
 * this function.
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int krdma_cm_start(struct krdma_conn *conn, const struct sockaddr *dst)
{
	struct sockaddr *src = NULL;
	int ret;

	krdma_conn_begin_step(conn);
	ret = krdma_last_error(&conn->cb) ?: krdma_cm_new_id(conn);
	if (!ret) {
		if (conn->p.tos)
			rdma_set_service_type(conn->cb.cm_id, conn->p.tos);
		if (conn->cm.src.ss_family)
			src = (struct sockaddr *)&conn->cm.src;
		krdma_conn_start_timer(conn, conn->p.connect_timeout_ms);
		ret = rdma_resolve_addr(conn->cb.cm_id, src,
					(struct sockaddr *)dst,
					conn->p.addr_timeout_ms);
	}
	krdma_conn_end_step(conn);
	return ret;
}

/**
 * krdma_cm_dial - create the QP and connect to the peer
 * @conn: client in KRDMA_ROUTED
 *
 * Context: process; on siw this waits for the TCP connection.
 * Return: 0 or -errno.
 */
int krdma_cm_dial(struct krdma_conn *conn)
{
	int ret;

	krdma_conn_begin_step(conn);
	ret = krdma_last_error(&conn->cb) ?: krdma_cm_dial_locked(conn);
	krdma_conn_end_step(conn);
	return ret;
}

/**
 * krdma_cm_count - count a connect or accept that has ended
 * @conn: connection
 * @ret: 0 or errno of the failure
 *
 * Context: any.
 */
void krdma_cm_count(struct krdma_conn *conn, int ret)
{
	if (ret)
		krdma_count(conn, KRDMA_COUNT_FAILED + krdma_stats_why(ret));
	else if (conn->cb.role == KRDMA_CLIENT_CONN)
		krdma_count(conn, KRDMA_COUNT_CONNECTED);
	else
		krdma_count(conn, KRDMA_COUNT_ACCEPTED);
}

/*
 * Wait until a connection is established, and exchange the first messages.
 * @until limits only the exchange: a timer of the connection limits the wait.
 */
static int krdma_cm_wait_connected(struct krdma_conn *conn, unsigned long until)
{
	int ret = krdma_conn_wait(conn, krdma_cm_is_connected, NULL, 0);

	if (!ret && conn->mode->exchange)
		ret = conn->mode->exchange(conn, until);
	return ret;
}

/* Convert the result of a connect or accept to the caller's return value. */
static int krdma_cm_finish(struct krdma_conn *conn, int ret)
{
	if (!ret) {
		krdma_cm_count(conn, 0);
		krdma_conn_hand_over(conn);
		return 0;
	}
	/*
	 * @ret may be only a consequence of the end of the connection. Return
	 * the first reason for which the connection ended instead.
	 */
	krdma_conn_abort(conn, ret);
	ret = krdma_last_error(&conn->cb);
	krdma_cm_count(conn, ret);
	return ret;
}

/**
 * krdma_cm_family_ok - check whether krdma can connect to an address
 * @addr: address, or NULL
 *
 * Return: true for IPv4 and IPv6.
 */
bool krdma_cm_family_ok(const struct sockaddr *addr)
{
	return addr && (addr->sa_family == AF_INET ||
			addr->sa_family == AF_INET6);
}

/**
 * krdma_connect_cb - connect to a listener
 * @cb: from krdma_create(), in KRDMA_NEW
 * @dst: IPv4 or IPv6 address and port of a listener
 *
 * Waits until the connection is established, for at most
 * &krdma_params.connect_timeout_ms. In raw mode the qp_ready callback runs
 * inside this call.
 *
 * Whatever this call returns, the caller must release @cb. In raw mode the
 * caller first calls krdma_drain(), and frees what qp_ready created.
 *
 * siw makes its TCP connection inside this call, and krdma's time limit does
 * not apply to that. If the host of @dst drops packets, the TCP connect fails
 * after about two minutes, see net.ipv4.tcp_syn_retries. Only SIGKILL ends the
 * call earlier; with KRDMA_INTERRUPTIBLE any signal does.
 *
 * Return: 0; -EINVAL: @cb is not a new connection, or a bad address; -EISCONN:
 * @cb was connected before; -ETIMEDOUT: no answer; -EHOSTUNREACH, -ENETUNREACH,
 * -ENODEV: no route or no RDMA device to the address; -ECONNREFUSED: no
 * listener, or rejected by the peer's user, see krdma_get_reject(); -EBUSY,
 * -EREMOTEIO (out of memory), -EPROTO, -EPROTONOSUPPORT: reported by the peer's
 * krdma; -EMSGSIZE: the exported buffer has more segments than a message of
 * &krdma_params.buf_size can describe; -EPERM: the peer has another level of
 * security; -EKEYREJECTED: the peer has another key, or the handshake was
 * changed; -EAGAIN: there are no random numbers yet; -EOPNOTSUPP: KRDMA_RW on a device
 * without FRWR, or a device whose queues hold too few work requests; -ENOMEM;
 * -EINTR; -ESHUTDOWN.
 */
int krdma_connect_cb(struct krdma_cb *cb, const struct sockaddr *dst)
{
	struct krdma_conn *conn = krdma_conn(cb);
	struct krdma_noio noio;
	unsigned long until;
	int ret;

	if (cb->role != KRDMA_CLIENT_CONN || !krdma_cm_family_ok(dst))
		return -EINVAL;
	if (!krdma_conn_move(conn, KRDMA_RESOLVING_ADDR))
		return krdma_last_error(cb) ?: -EISCONN;
	krdma_conn_get(conn);
	noio = krdma_noio_enter(&conn->p);
	until = krdma_deadline(conn->p.connect_timeout_ms);
	ret = krdma_cm_start(conn, dst);
	if (!ret)
		ret = krdma_conn_wait(conn, krdma_conn_is_routed, NULL, 0);
	if (!ret)
		ret = krdma_cm_dial(conn);
	if (!ret)
		ret = krdma_cm_wait_connected(conn, until);
	ret = krdma_cm_finish(conn, ret);
	krdma_noio_leave(noio);
	krdma_conn_put(conn);
	return ret;
}
EXPORT_SYMBOL_NS_GPL(krdma_connect_cb, KRDMA_NS);

/*
 * Check whether the owner has a qp_ready callback. If connecting fails, only
 * the owner can free what the callback created. So calls that release a failed
 * connection themselves must refuse such an owner.
 */
static bool krdma_cm_is_owned(const struct krdma_params *params)
{
	return params && params->ops && params->ops->qp_ready;
}

/**
 * krdma_connect_params - create a connection and connect it
 * @dst: as for krdma_connect_cb()
 * @params: parameters, or NULL for defaults
 * @cb: result, unchanged on error
 *
 * Must not be used in raw mode with a qp_ready callback.
 *
 * Return: 0 or an errno of krdma_create() or krdma_connect_cb(); on error
 * nothing is left to release.
 */
int krdma_connect_params(const struct sockaddr *dst,
			 const struct krdma_params *params,
			 struct krdma_cb **cb)
{
	struct krdma_cb *new;
	int ret;

	if (krdma_cm_is_owned(params))
		return -EINVAL;
	new = krdma_create(params);
	if (IS_ERR(new))
		return PTR_ERR(new);
	ret = krdma_connect_cb(new, dst);
	if (ret) {
		krdma_release_cb(new);
		return ret;
	}
	*cb = new;
	return 0;
}
EXPORT_SYMBOL_NS_GPL(krdma_connect_params, KRDMA_NS);

/*
 * Time in ms to wait on iWARP until the peer has also disconnected, before
 * ib_drain_qp() moves the QP to ERROR. irdma (Linux 6.1 to 7.3 at least) resets
 * the TCP connection if the QP moves to ERROR before both ends have closed the
 * TCP connection (irdma_modify_qp()). After a reset the peer loses messages
 * that it has not received yet.
 */
#define KRDMA_HANG_UP_MS 1000

/**
 * krdma_cm_hang_up_left - return the time to wait before the drain
 * @conn: connection for which krdma_cm_disconnect() was called
 *
 * Context: process, @conn->setup held.
 * Return: time in jiffies until the time limit for the peer's close; 0: the
 * drain may begin.
 */
long krdma_cm_hang_up_left(const struct krdma_conn *conn)
{
	lockdep_assert_held(&conn->setup);
	if (!conn->cm.hang_up_until || READ_ONCE(conn->life.hung_up))
		return 0;
	return max_t(long, conn->cm.hang_up_until - jiffies, 0);
}

/**
 * krdma_cm_wait_hung_up - wait for the peer's close before the drain
 * @conn: connection for which krdma_cm_disconnect() was called
 *
 * Only the task of an owner waits here, for at most KRDMA_HANG_UP_MS.
 * close_work lets a timer queue it again, see krdma_conn_close_in().
 *
 * Context: process, @conn->setup held.
 */
void krdma_cm_wait_hung_up(struct krdma_conn *conn)
{
	long left = krdma_cm_hang_up_left(conn);

	if (left)
		wait_event_timeout(conn->wait, READ_ONCE(conn->life.hung_up),
				   left);
	conn->cm.hang_up_until = 0;
}

/**
 * krdma_cm_disconnect - make the QP flush and notify the peer
 * @conn: connection in KRDMA_CLOSING or later
 *
 * Context: process, @conn->setup held.
 */
void krdma_cm_disconnect(struct krdma_conn *conn)
{
	lockdep_assert_held(&conn->setup);
	if (!conn->cm.connect_called)
		return;
	krdma_noio_check(conn);
	conn->cm.connect_called = false;
	krdma_quirk_flush_all(conn);
	/*
	 * rdma_disconnect() fails if the peer has disconnected first. That does
	 * no harm, because krdma_qp_drain() flushes the QP in both cases.
	 */
	if (rdma_disconnect(conn->cb.cm_id))
		return;
	/*
	 * Check whether the drain must wait for the peer's close. Until
	 * krdma_accept_timeout() returns a connection, no user has sent
	 * messages on it. So a listener that drops many such connections waits
	 * for none of them.
	 */
	if (krdma_conn_was_established(conn) && !conn->acc.acceptor &&
	    !krdma_has_quirk(conn, KRDMA_QUIRK_LOST_READS) &&
	    conn->hw.is_iwarp)
		conn->cm.hang_up_until = krdma_deadline(KRDMA_HANG_UP_MS);
}

static bool krdma_cm_has_request(struct krdma_conn *listener, const void *arg)
{
	return !list_empty(&listener->listen.requests);
}

static bool krdma_cm_has_any(struct krdma_conn *listener, const void *arg)
{
	return !list_empty(&listener->listen.requests) ||
	       !list_empty(&listener->listen.accepted);
}

/*
 * Take the oldest connection off a list.
 * Return: the connection, with the reference that the list held; or NULL.
 */
static struct krdma_conn *krdma_cm_pop_locked(struct krdma_conn *listener,
					      struct list_head *list)
{
	struct krdma_conn *conn;

	lockdep_assert_held(&listener->lock);
	conn = list_first_entry_or_null(list, struct krdma_conn, acc.link);
	if (conn) {
		list_del_init(&conn->acc.link);
		listener->listen.nrequests--;
	}
	return conn;
}

/**
 * krdma_cm_next_request - take a request off a listener's list
 * @listener: listener
 *
 * Return: the oldest request, with the reference that the list held; or NULL.
 */
struct krdma_conn *krdma_cm_next_request(struct krdma_conn *listener)
{
	struct krdma_conn *conn;
	LIST_HEAD(dead);
	unsigned long flags;

	spin_lock_irqsave(&listener->lock, flags);
	krdma_cm_prune_locked(listener, &dead);
	conn = krdma_cm_pop_locked(listener, &listener->listen.requests);
	spin_unlock_irqrestore(&listener->lock, flags);
	krdma_cm_put_all(&dead);
	return conn;
}

/**
 * krdma_cm_drop_requests - close the connections on a listener's lists
 * @listener: listener that is being torn down; no effect on connections
 *
 * Context: process.
 */
void krdma_cm_drop_requests(struct krdma_conn *listener)
{
	struct krdma_listener *l = &listener->listen;
	struct krdma_conn *conn;
	unsigned long flags;

	for (;;) {
		/*
		 * The connection may have ended, and its close_work may not
		 * have run yet.
		 */
		spin_lock_irqsave(&listener->lock, flags);
		conn = krdma_cm_pop_locked(listener, &l->requests);
		if (!conn)
			conn = krdma_cm_pop_locked(listener, &l->accepting);
		if (!conn)
			conn = krdma_cm_pop_locked(listener, &l->accepted);
		spin_unlock_irqrestore(&listener->lock, flags);
		if (!conn)
			return;
		krdma_conn_abort(conn, -ESHUTDOWN);
		/*
		 * Close @conn here, and do not wait for its close_work. The
		 * caller may be the listener's close_work on the only worker of
		 * the queue. In that case close_work of @conn could not run.
		 */
		krdma_conn_close(conn);
		krdma_conn_put(conn);
	}
}

/**
 * krdma_wait_request - wait for a connect request
 * @listen_cb: listener
 * @timeout_ms: time limit in ms; 0 means no limit
 * @cb: result: connection in KRDMA_REQUESTED. The caller identifies the peer,
 *	calls krdma_accept_request() or krdma_reject_request(), and releases the
 *	connection
 *
 * A request that is not accepted within &krdma_params.connect_timeout_ms is
 * rejected.
 *
 * Return: 0; -EINVAL: not a listener, or a listener with a request callback;
 * -ETIMEDOUT; -EINTR; -ESHUTDOWN: the listener is being released.
 */
int krdma_wait_request(struct krdma_cb *listen_cb, u32 timeout_ms,
		       struct krdma_cb **cb)
{
	struct krdma_conn *listener = krdma_conn(listen_cb), *conn = NULL;
	unsigned long until = krdma_deadline(timeout_ms);
	int ret;

	if (listen_cb->role != KRDMA_LISTEN_CONN || listener->life.async)
		return -EINVAL;
	krdma_conn_get(listener);
	do {
		ret = krdma_conn_wait(listener, krdma_cm_has_request, NULL,
				      until) ?: krdma_last_error(listen_cb);
		/*
		 * NULL: another task has taken the request, or the request has
		 * ended.
		 */
		if (!ret)
			conn = krdma_cm_next_request(listener);
	} while (!ret && !conn);
	if (!ret)
		*cb = &conn->cb;
	krdma_conn_put(listener);
	return ret;
}
EXPORT_SYMBOL_NS_GPL(krdma_wait_request, KRDMA_NS);

/**
 * krdma_set_request_params - set the parameters of one accepted connection
 * @cb: from krdma_wait_request(), not yet accepted
 * @params: parameters that replace those of the listener. The flags must be the
 *	same, except those for listeners only, and so must be the level of
 *	security. net, domain, src, private_data and keys are ignored
 *
 * Return: 0, -EINVAL, or an errno of krdma_create() for the parameters.
 */
int krdma_set_request_params(struct krdma_cb *cb,
			     const struct krdma_params *params)
{
	struct krdma_conn *conn = krdma_conn(cb);
	struct krdma_params p;
	int ret;

	ret = krdma_params_set(&p, params);
	if (ret)
		return ret;
	krdma_params_forget(&p);
	/*
	 * The owner may pass the parameters of its listener, so ignore the
	 * flags that only listeners have.
	 */
	p.flags &= ~KRDMA_LISTEN_FLAGS;
	mutex_lock(&conn->setup);
	if (krdma_get_state(cb) == KRDMA_REQUESTED &&
	    p.flags == conn->p.flags && p.security == conn->p.security) {
		conn->p = p;
		conn->ops = p.ops;
		cb->context = p.context;
	} else {
		ret = -EINVAL;
	}
	mutex_unlock(&conn->setup);
	return ret;
}
EXPORT_SYMBOL_NS_GPL(krdma_set_request_params, KRDMA_NS);

static int krdma_cm_accept_locked(struct krdma_conn *conn)
{
	struct krdma_cm_private priv;
	struct rdma_conn_param param;
	int ret = 0;

	lockdep_assert_held(&conn->setup);
	if (krdma_get_state(&conn->cb) != KRDMA_REQUESTED)
		return krdma_last_error(&conn->cb) ?: -EISCONN;
	/*
	 * The request no longer waits for the owner. The handshake has a time
	 * limit of its own.
	 */
	krdma_conn_stop_timer(conn);
	krdma_conn_start_timer(conn, conn->p.connect_timeout_ms);
	krdma_cm_set_timers(conn);
	/* With a level, older connections end when the client is proved. */
	if (!krdma_conn_is_raw(conn) && !conn->auth)
		ret = krdma_device_end_older(conn);
	if (!ret)
		ret = krdma_cm_make_ready(conn);
	if (!ret)
		ret = krdma_cm_fill_param(conn, &param, &priv);
	if (ret) {
		conn->cm.local_failure = ret != -ENODEV &&
					 !krdma_conn_is_over(conn);
		return ret;
	}
	/*
	 * Limit the READs in flight, in both directions, to the numbers in the
	 * peer's request. The peer has set up its QP for these two numbers.
	 * iWARP negotiates both numbers itself. Also, an iWARP request has each
	 * number under the name of the other number.
	 */
	if (!rdma_protocol_iwarp(conn->cb.cm_id->device,
				 conn->cb.cm_id->port_num)) {
		param.responder_resources =
			min(param.responder_resources, conn->cm.resources);
		param.initiator_depth =
			min(param.initiator_depth, conn->cm.depth);
	}
	if (!krdma_conn_move(conn, KRDMA_CONNECTING))
		return krdma_last_error(&conn->cb);
	conn->cm.answered = true;
	conn->cm.connect_called = true;
	rdma_lock_handler(conn->cb.cm_id);
	ret = rdma_accept(conn->cb.cm_id, &param);
	rdma_unlock_handler(conn->cb.cm_id);
	if (ret == -ENOMEM)
		WRITE_ONCE(conn->hw.modify_failed, true);
	return ret;
}

/**
 * krdma_cm_answer - create the QP and accept a request
 * @conn: passive side in KRDMA_REQUESTED
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int krdma_cm_answer(struct krdma_conn *conn)
{
	int ret;

	krdma_conn_begin_step(conn);
	ret = krdma_cm_accept_locked(conn);
	krdma_conn_end_step(conn);
	return ret;
}

/**
 * krdma_cm_set_answer - set the user's private data for the REP
 * @conn: passive side
 * @private_data: data of the user; may be NULL
 * @private_data_len: number of bytes
 *
 * Return: 0, or -EINVAL: not a passive side, or too many bytes.
 */
int krdma_cm_set_answer(struct krdma_conn *conn, const void *private_data,
			u8 private_data_len)
{
	u8 max = KRDMA_PRIVATE_DATA_MAX;

	if (krdma_conn_is_raw(conn))
		max = KRDMA_RAW_REPLY_DATA_MAX;
	else if (conn->auth)
		max = KRDMA_SECURE_PRIVATE_DATA_MAX;
	if (conn->cb.role != KRDMA_ACCEPT_CONN || private_data_len > max)
		return -EINVAL;
	memcpy(conn->cm.user_data, private_data, private_data_len);
	conn->cm.user_data_len = private_data_len;
	return 0;
}

/**
 * krdma_accept_request - accept a connect request
 * @cb: from krdma_wait_request()
 * @private_data: data for the peer, in the REP; NULL if none
 * @private_data_len: number of bytes, at most KRDMA_PRIVATE_DATA_MAX, with a
 *	level KRDMA_SECURE_PRIVATE_DATA_MAX, in raw mode
 *	KRDMA_RAW_REPLY_DATA_MAX
 *
 * Waits until the connection is established. In raw mode the qp_ready callback
 * runs inside this call. If creating the QP fails, the peer gets a reject at
 * once.
 *
 * Whatever this call returns, the caller must release @cb. In raw mode the
 * caller first calls krdma_drain(), and frees what qp_ready created.
 *
 * Return: 0; -EINVAL; -EISCONN: the request was accepted before; -ENOMEM;
 * -ENODEV; -ETIMEDOUT, -ECONNRESET or -ECONNREFUSED: the peer has not answered
 * or has closed the connection; -EKEYREJECTED: the peer does not have the key,
 * or the handshake was changed; -EAGAIN: there are no random numbers yet; -EINTR;
 * -ESHUTDOWN.
 */
int krdma_accept_request(struct krdma_cb *cb, const void *private_data,
			 u8 private_data_len)
{
	struct krdma_conn *conn = krdma_conn(cb);
	struct krdma_noio noio;
	unsigned long until;
	int ret;

	ret = krdma_cm_set_answer(conn, private_data, private_data_len);
	if (ret)
		return ret;
	krdma_conn_get(conn);
	noio = krdma_noio_enter(&conn->p);
	until = krdma_deadline(conn->p.connect_timeout_ms);
	ret = krdma_cm_answer(conn) ?: krdma_cm_wait_connected(conn, until);
	if (ret != -EISCONN)
		ret = krdma_cm_finish(conn, ret);
	krdma_noio_leave(noio);
	krdma_conn_put(conn);
	return ret;
}
EXPORT_SYMBOL_NS_GPL(krdma_accept_request, KRDMA_NS);

/**
 * krdma_reject_request - reject a connect request
 * @cb: from krdma_wait_request(), not accepted
 * @private_data: data for the peer, in the REJ; NULL if none
 * @private_data_len: number of bytes, at most 140; at most 148 in raw mode,
 *	where the REJ has no reason of krdma
 *
 * The users of both ends agree on the meaning of the data, for example a number
 * or a text. krdma_get_reject() returns the data to the peer's user. Except in
 * raw mode, the REJ also has a reason of krdma. It only says that the user, not
 * krdma, has rejected the request.
 *
 * The caller releases @cb.
 *
 * Return: 0; -EINVAL; -EISCONN: the request was accepted or rejected before; or
 * the reason for which the request has ended.
 */
int krdma_reject_request(struct krdma_cb *cb, const void *private_data,
			 u8 private_data_len)
{
	struct krdma_conn *conn = krdma_conn(cb);
	size_t max = IB_CM_REJ_PRIVATE_DATA_SIZE;
	struct krdma_noio noio;
	int ret;

	if (!krdma_conn_is_raw(conn))
		max -= sizeof(struct krdma_wire_rej);
	if (cb->role != KRDMA_ACCEPT_CONN || private_data_len > max)
		return -EINVAL;
	noio = krdma_noio_enter(&conn->p);
	mutex_lock(&conn->setup);
	krdma_noio_check(conn);
	if (conn->cm.answered || krdma_conn_is_over(conn)) {
		ret = krdma_last_error(cb) ?: -EISCONN;
	} else {
		conn->cm.answered = true;
		ret = krdma_cm_reject(conn, cb->cm_id, KRDMA_WIRE_REJ_USER,
				      private_data, private_data_len);
	}
	mutex_unlock(&conn->setup);
	krdma_noio_leave(noio);
	if (ret != -EISCONN)
		krdma_conn_abort(conn, -ECONNABORTED);
	return ret;
}
EXPORT_SYMBOL_NS_GPL(krdma_reject_request, KRDMA_NS);

/*
 * Check whether accepting @conn failed because of the peer, or because its
 * device was removed. In this case krdma_accept_timeout() continues with other
 * requests.
 */
static bool krdma_cm_may_pass_over(const struct krdma_conn *listener,
				   const struct krdma_conn *conn, int error)
{
	return error != -EINTR && error != -ENOMEM && !conn->cm.local_failure &&
	       !krdma_last_error(&listener->cb);
}

/**
 * krdma_cm_accepted - record the result of a handshake for
 * krdma_accept_timeout()
 * @conn: connection whose krdma_acc.acceptor is set
 * @error: 0 or errno of the failure
 *
 * Context: process, no locks. Called once for each connection.
 */
void krdma_cm_accepted(struct krdma_conn *conn, int error)
{
	struct krdma_conn *listener = conn->acc.acceptor;
	unsigned long flags;

	if (error)
		krdma_cm_count(conn, error);
	spin_lock_irqsave(&listener->lock, flags);
	conn->acc.error = error;
	/* The link is empty if the listener is ending and has dropped @conn. */
	if (!list_empty(&conn->acc.link))
		list_move_tail(&conn->acc.link, &listener->listen.accepted);
	wake_up_all(&listener->wait);
	spin_unlock_irqrestore(&listener->lock, flags);
}

/*
 * Begin to accept a request. The calling task creates the QP and calls
 * rdma_accept(); step_work makes the later steps.
 * Return: 0: krdma_cm_accepted() will be called; -EAGAIN: the request is
 * skipped; or an errno for the caller of krdma_accept_timeout().
 */
static int krdma_cm_accept_request(struct krdma_conn *listener,
				   struct krdma_conn *conn)
{
	bool listens, listed = true;
	unsigned long flags;
	int ret;

	/*
	 * The listener may drop @conn as soon as @conn is on the list, so take
	 * a reference.
	 */
	krdma_conn_get(conn);
	spin_lock_irqsave(&listener->lock, flags);
	listens = listener->cb.state == KRDMA_LISTENING;
	if (listens) {
		/*
		 * The list takes over the reference that the list of requests
		 * held. krdma_cm_hand_out() or krdma_conn_free() puts the
		 * reference to the listener.
		 */
		krdma_conn_get(listener);
		conn->acc.acceptor = listener;
		list_add_tail(&conn->acc.link, &listener->listen.accepting);
		listener->listen.nrequests++;
	}
	spin_unlock_irqrestore(&listener->lock, flags);
	if (listens) {
		ret = krdma_step_accept(conn);
		if (krdma_cm_may_pass_over(listener, conn, ret))
			ret = ret ? -EAGAIN : 0;
	} else {
		ret = krdma_last_error(&listener->cb) ?: -ESHUTDOWN;
	}
	if (ret && listens) {
		/* Take it off the list, unless the listener has dropped it. */
		spin_lock_irqsave(&listener->lock, flags);
		listed = !list_empty(&conn->acc.link);
		if (listed) {
			list_del_init(&conn->acc.link);
			listener->listen.nrequests--;
		}
		spin_unlock_irqrestore(&listener->lock, flags);
	}
	if (ret && listed)
		krdma_release_cb(&conn->cb);
	krdma_conn_put(conn);
	return ret;
}

/*
 * Hand an accepted connection to the caller of krdma_accept_timeout(), or
 * release it after a failure.
 * Return: 0: the caller owns @conn; -EAGAIN: @conn is skipped; or an errno for
 * the caller of krdma_accept_timeout().
 */
static int krdma_cm_hand_out(struct krdma_conn *listener,
			     struct krdma_conn *conn)
{
	int ret = conn->acc.error;

	if (!ret) {
		/*
		 * From now on the owner of a raw connection may have work
		 * requests and MRs (raw_live), so close_work must not destroy
		 * the QP. Fail if a raw connection has ended before, because
		 * close_work has destroyed its QP or will do so soon.
		 */
		mutex_lock(&conn->setup);
		if (krdma_conn_is_raw(conn) && krdma_conn_is_over(conn)) {
			ret = krdma_last_error(&conn->cb);
		} else {
			conn->hw.raw_live = krdma_conn_is_raw(conn);
			conn->acc.acceptor = NULL;
		}
		mutex_unlock(&conn->setup);
		krdma_cm_count(conn, ret);
	}
	if (ret) {
		if (krdma_cm_may_pass_over(listener, conn, ret))
			ret = -EAGAIN;
		krdma_release_cb(&conn->cb);
		return ret;
	}
	krdma_conn_put(listener);
	krdma_conn_hand_over(conn);
	return 0;
}

/**
 * krdma_accept_timeout - wait for a peer and accept it
 * @listen_cb: listener
 * @timeout_ms: time limit in ms; 0 means no limit
 * @cb: result: established connection; unchanged on error
 *
 * Begins to accept every pending request, and returns the first connection that
 * is established. So a peer that is silent during the handshake does not delay
 * other peers. Later calls return the connections that are established later.
 * Until then, these connections count towards &krdma_params.backlog. A request
 * is skipped if its peer disconnects or violates the protocol before the
 * connection is established. A raw connection that ends before it is returned
 * is also skipped. Must not be used in raw mode with a qp_ready callback.
 *
 * Context: process, may sleep.
 * Return: 0 or an errno of krdma_wait_request() or krdma_accept_request().
 */
int krdma_accept_timeout(struct krdma_cb *listen_cb, u32 timeout_ms,
			 struct krdma_cb **cb)
{
	struct krdma_conn *listener = krdma_conn(listen_cb), *conn;
	unsigned long until = krdma_deadline(timeout_ms), flags;
	struct krdma_noio noio;
	int ret;

	if (krdma_cm_is_owned(&listener->p) || listener->life.async ||
	    listen_cb->role != KRDMA_LISTEN_CONN)
		return -EINVAL;
	krdma_conn_get(listener);
	noio = krdma_noio_enter(&listener->p);
	do {
		ret = krdma_conn_wait(listener, krdma_cm_has_any, NULL, until);
		if (!ret)
			ret = krdma_last_error(listen_cb);
		if (ret)
			break;
		spin_lock_irqsave(&listener->lock, flags);
		conn = krdma_cm_pop_locked(listener,
					   &listener->listen.accepted);
		spin_unlock_irqrestore(&listener->lock, flags);
		if (conn) {
			ret = krdma_cm_hand_out(listener, conn);
			continue;
		}
		/* Another task may have taken the request: check for NULL. */
		conn = krdma_cm_next_request(listener);
		if (conn)
			ret = krdma_cm_accept_request(listener, conn);
		ret = ret ?: -EAGAIN;
	} while (ret == -EAGAIN);
	krdma_noio_leave(noio);
	if (!ret)
		*cb = &conn->cb;
	krdma_conn_put(listener);
	return ret;
}
EXPORT_SYMBOL_NS_GPL(krdma_accept_timeout, KRDMA_NS);
