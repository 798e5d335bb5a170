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

static int krping_client_add(struct krping_run *run, struct krping_session **s)
{
	struct krping_session *new = krping_session_alloc(run);

	if (!new)
		return -ENOMEM;
	if (!krping_run_add(run, new)) {
		krping_session_free(new);
		return run->stop;
	}
	*s = new;
	return 0;
}

/*
 * Create a session and connect it. Return 0 if *s is connected, or -errno if *s
 * was not created or has already ended.
 */
static int krping_client_dial(struct krping_run *run,
			      struct krping_session **s)
{
	int ret = krping_client_add(run, s);

	if (ret)
		return ret;
	ret = krping_session_dial(*s);
	if (!ret)
		return 0;
	ret = krping_session_finish(*s, ret);
	krping_run_session_over(*s, ret);
	return ret;
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

	for (n = 0; !ret && n < run->opts.qps; n++)
		ret = krping_client_dial(run, &s);
	if (ret)
		krping_run_stop(run, ret);
	return ret;
}

/*
 * Copy the list of sessions to an array, and return their number. No session
 * has left the run's list yet.
 */
static u32 krping_client_sessions(struct krping_run *run,
				  struct krping_session **sessions)
{
	struct krping_session *s;
	u32 n = 0;

	mutex_lock(&run->lock);
	list_for_each_entry(s, &run->sessions, link)
		sessions[n++] = s;
	mutex_unlock(&run->lock);
	return n;
}

/**
 * krping_client_go - test with all connections and release them
 * @run: run after krping_client_begin()
 *
 * The result is in @run->error.
 */
void krping_client_go(struct krping_run *run)
{
	struct krping_session *sessions[KRPING_QPS_MAX];
	u32 i, n = krping_client_sessions(run, sessions);

	if (n == 1 && !run->opts.cpu) {
		krping_client_test(sessions[0]);
		return;
	}
	for (i = 0; i < n; i++)
		krping_thread_start(sessions[i], krping_client_work);
	krping_run_wait_sessions(run);
}
