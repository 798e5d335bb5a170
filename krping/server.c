// SPDX-License-Identifier: GPL-2.0
/*
 * The server's side of a run: one client, which is the default, or many.
 *
 * A server for one client stops listening when that client has requested its
 * connection, so that other clients are rejected. A server for many clients
 * runs each of them in a work item. So no client waits for another one, and a
 * failure ends only its own session.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/printk.h>
#include <linux/slab.h>

#include "priv.h"

static void krping_server_set_listener(struct krping_run *run,
				       struct krdma_cb *listener)
{
	mutex_lock(&run->lock);
	run->listener = listener;
	/*
	 * If the run is already stopped, krping_run_stop() did not see this
	 * listener, so disconnect the listener here.
	 */
	if (listener && run->stop)
		krdma_disconnect(listener);
	mutex_unlock(&run->lock);
}

/**
 * krping_server_begin - start to listen for the clients of a run
 * @run: run
 *
 * Return: 0 if the run listens, and the caller then calls krping_server_go().
 * Otherwise -errno.
 */
int krping_server_begin(struct krping_run *run)
{
	struct sockaddr_storage addr;
	struct krdma_params params;
	struct krdma_cb *listener;
	int ret;

	krping_session_params(run, &params);
	ret = krping_session_parse(run, run->opts.addr, run->opts.port, &addr);
	if (ret)
		return ret;
	ret = krdma_listen_params((const struct sockaddr *)&addr, &params,
				  &listener);
	if (ret) {
		pr_err_ratelimited("%u: bind: error %d\n", run->id, ret);
		return ret;
	}
	/* The kernel has chosen the port if the command says port=0. */
	if (!krdma_local_addr(listener, &addr)) {
		mutex_lock(&run->lock);
		run->listen = addr;
		mutex_unlock(&run->lock);
		pr_info("%u: listening on %pISpc\n", run->id, &addr);
	}
	krping_server_set_listener(run, listener);
	return 0;
}

static void krping_server_unlisten(struct krping_run *run,
				   struct krdma_cb *listener)
{
	krping_server_set_listener(run, NULL);
	krdma_release_cb(listener);
}

static void krping_server_serve(struct krping_session *s)
{
	int ret = krping_session_accept(s) ?: krping_session_test(s);

	ret = krping_session_finish(s, ret);
	krping_run_session_over(s, ret);
}

static void krping_server_work(struct work_struct *work)
{
	krping_server_serve(container_of(work, struct krping_session, work));
}

/*
 * Create a session for a connection and add it to the run's list. Return NULL
 * if memory is short or the run is being stopped.
 */
static struct krping_session *krping_server_take(struct krping_run *run,
						 struct krdma_cb *cb)
{
	struct krping_session *s = krping_session_alloc(run);

	if (!s)
		return NULL;
	s->conn.cb = cb;
	if (krping_run_add(run, s))
		return s;
	krping_session_free(s);
	return NULL;
}

static void krping_server_refuse(struct krping_run *run, struct krdma_cb *cb)
{
	pr_info_ratelimited("%u: rejects a client: no room for its connection\n",
			    run->id);
	krdma_reject_request(cb, NULL, 0);
	krdma_release_cb(cb);
}

static int krping_server_many(struct krping_run *run, struct krdma_cb *listener)
{
	u32 left = run->opts.accept;
	struct krping_session *s;
	struct krdma_cb *cb;
	bool full;
	int ret;

	for (;;) {
		ret = krdma_wait_request(listener, 0, &cb);
		if (ret)
			break;
		/* Serve the client in a work item if there is room. */
		mutex_lock(&run->lock);
		full = run->nsessions >= run->opts.max_conns;
		mutex_unlock(&run->lock);
		s = full ? NULL : krping_server_take(run, cb);
		if (!s) {
			krping_server_refuse(run, cb);
			continue;
		}
		krping_thread_start(s, krping_server_work);
		if (left && !--left)
			break;
	}
	krping_server_unlisten(run, listener);
	if (ret)
		krping_run_stop(run, ret);
	krping_run_wait_sessions(run);
	return ret;
}

static int krping_server_one(struct krping_run *run, struct krdma_cb *listener)
{
	struct krping_session *s;
	struct krdma_cb *cb;
	int ret = krdma_wait_request(listener, 0, &cb);

	krping_server_unlisten(run, listener);
	if (ret)
		return ret;
	s = krping_server_take(run, cb);
	if (!s) {
		krping_server_refuse(run, cb);
		return -ENOMEM;
	}
	krping_server_serve(s);
	return 0;
}

/**
 * krping_server_go - serve clients
 * @run: run that listens
 *
 * Return: 0 or -errno; @run->error has the result of the clients.
 */
int krping_server_go(struct krping_run *run)
{
	/*
	 * krping_run_stop() only disconnects the listener. Only this task
	 * releases it, and therefore reads run->listener without the lock.
	 */
	struct krdma_cb *listener = run->listener;

	if (run->opts.accept == 1 && !run->opts.cpu)
		return krping_server_one(run, listener);
	return krping_server_many(run, listener);
}
