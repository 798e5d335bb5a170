// SPDX-License-Identifier: GPL-2.0
/*
 * The client's side of a run: one connection or several.
 *
 * All connections are created before the first one starts its test.
 */
#include "priv.h"

static void krping_client_test(struct krping_session *s)
{
	int ret = krping_session_finish(s, krping_session_test(s));

	krping_run_session_over(s, ret);
}

static void krping_client_work(struct work_struct *work)
{
	krping_client_test(container_of(work, struct krping_session, work));
}

/**
 * krping_client_begin - create and connect the sessions of a client's run
 * @run: run
 *
 * Without bg, the task that wrote the command calls this function, because siw
 * creates its sockets in the network namespace of the calling task.
 *
 * Return: 0 or the error of a failed connection. The caller then calls
 * krping_client_go() in both cases.
 */
int krping_client_begin(struct krping_run *run)
{
	struct krping_session *s;
	u32 n;
	int ret = 0;

	for (n = 0; !ret && n < run->opts.qps; n++) {
		s = krping_session_alloc(run);
		if (!s) {
			ret = -ENOMEM;
			break;
		}
		if (!krping_run_add(run, s)) {
			krping_session_free(s);
			ret = run->stop;
			break;
		}
		ret = krping_session_dial(s);
		if (ret) {
			ret = krping_session_finish(s, ret);
			krping_run_session_over(s, ret);
		}
	}
	if (ret)
		krping_run_stop(run, ret);
	return ret;
}

/**
 * krping_client_go - test with all connections and release them
 * @run: run after krping_client_begin()
 *
 * The result is in @run->error.
 */
void krping_client_go(struct krping_run *run)
{
	struct krping_session *s, *sessions[KRPING_QPS_MAX];
	u32 i, n = 0;

	/* Copy the list. No session has left it yet. */
	mutex_lock(&run->lock);
	list_for_each_entry(s, &run->sessions, link)
		sessions[n++] = s;
	mutex_unlock(&run->lock);

	if (n == 1 && !run->opts.cpu) {
		krping_client_test(sessions[0]);
		return;
	}
	for (i = 0; i < n; i++)
		krping_thread_start(sessions[i], krping_client_work);
	krping_run_wait_sessions(run);
}
