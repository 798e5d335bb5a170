// SPDX-License-Identifier: GPL-2.0
/*
 * The client's side of a run: one connection or several.
 *
 * All of them are made before the first one begins to test, and by the task that
 * runs the command: siw makes its sockets in the network namespace of that.
 */
#include <linux/slab.h>

#include "priv.h"

static int krping_client_one(struct krping_session *s)
{
	int ret = krping_session_dial(s) ?: krping_session_test(s);

	ret = krping_session_finish(s, ret);
	krping_run_session_over(s, ret);
	return ret;
}

static void krping_client_work(struct work_struct *work)
{
	struct krping_session *s =
		container_of(work, struct krping_session, work);
	int ret = krping_session_finish(s, krping_session_test(s));

	krping_run_session_over(s, ret);
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

/* Return: 0: it is connected. */
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

static int krping_client_many(struct krping_run *run)
{
	struct krping_session *sessions[KRPING_QPS_MAX];
	u32 i, n;
	int ret = 0;

	for (n = 0; n < run->opts.qps; n++) {
		ret = krping_client_dial(run, &sessions[n]);
		if (ret)
			break;
	}
	if (ret)
		krping_run_stop(run, ret);
	for (i = 0; i < n; i++)
		krping_thread_start(sessions[i], krping_client_work);
	return krping_run_wait_sessions(run) ?: ret;
}

/**
 * krping_client_run - connect and test
 * @run: run
 *
 * Return: 0 or why it failed.
 */
int krping_client_run(struct krping_run *run)
{
	struct krping_session *s;
	int ret;

	if (run->opts.qps > 1 || run->opts.cpu)
		return krping_client_many(run);
	ret = krping_client_add(run, &s);
	return ret ?: krping_client_one(s);
}
