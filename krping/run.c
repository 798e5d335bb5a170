// SPDX-License-Identifier: GPL-2.0
/*
 * A run: what became of a command. Its connections are sessions.
 *
 * The task that wrote the command runs it, or a work item does with bg. A client
 * with one connection, and a server for one, run their session themselves; others
 * have a work item for each. Whoever runs it waits until all are over.
 *
 * A run ends by itself, or because krping_run_stop() was called: by a signal, by
 * a timeout, by another command. That makes everything fail that the run waits
 * for. Some runs stay on the list when they are over, for those who want to know.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/printk.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <net/net_namespace.h>

#include "priv.h"

/* Runs that are over and still known. */
#define KRPING_RUNS_KEPT 64

static LIST_HEAD(krping_runs);
static unsigned int krping_last_id;
static DEFINE_MUTEX(krping_runs_lock); /* both above */

/* Undoes krping_run_alloc(). */
static void krping_run_dealloc(struct krping_run *run)
{
	krdma_domain_put(run->domain);
	krping_threads_free(run);
	kvfree(run->parts);
	mutex_destroy(&run->pools_lock);
	mutex_destroy(&run->lock);
	kfree(run);
}

static void krping_run_free(struct kref *ref)
{
	struct krping_run *run = container_of(ref, struct krping_run, ref);

	put_net(run->net);
	krping_run_dealloc(run);
}

/**
 * krping_run_get - take a reference
 * @run: run
 */
void krping_run_get(struct krping_run *run)
{
	kref_get(&run->ref);
}

/**
 * krping_run_put - give a reference back
 * @run: run, or NULL
 */
void krping_run_put(struct krping_run *run)
{
	if (run)
		kref_put(&run->ref, krping_run_free);
}

static void krping_run_time_is_over(struct work_struct *work)
{
	struct krping_run *run =
		container_of(work, struct krping_run, timer.work);

	krping_run_stop(run, -ETIMEDOUT);
}

/* A file descriptor of the caller's, or else a process. */
static struct net *krping_run_net(const struct krping_opts *opts)
{
	struct net *net;

	if (!opts->netns)
		return get_net(current->nsproxy->net_ns);
	net = get_net_ns_by_fd(opts->netns - 1);
	if (IS_ERR(net))
		net = get_net_ns_by_pid(opts->netns - 1);
	if (IS_ERR(net))
		pr_err_ratelimited("netns=%u is no network namespace\n",
				   opts->netns - 1);
	return net;
}

static struct krping_run *krping_run_alloc(const struct krping_opts *opts)
{
	struct krping_run *run = kzalloc(sizeof(*run), GFP_KERNEL);

	if (!run)
		return NULL;
	run->nparts = krping_sizes_count(opts->from, opts->size);
	run->parts = kvcalloc(run->nparts, sizeof(*run->parts), GFP_KERNEL);
	if (!run->parts) {
		kfree(run);
		return NULL;
	}
	kref_init(&run->ref);
	run->opts = *opts;
	INIT_DELAYED_WORK(&run->timer, krping_run_time_is_over);
	init_waitqueue_head(&run->wait);
	mutex_init(&run->lock);
	mutex_init(&run->pools_lock);
	INIT_LIST_HEAD(&run->pools);
	INIT_LIST_HEAD(&run->sessions);
	run->begin_ns = ktime_get_ns();
	return run;
}

/* Connections that share receives are of one domain, and so of one PD. */
static int krping_run_make_domain(struct krping_run *run)
{
	struct krdma_domain *domain;

	if (!run->opts.srq)
		return 0;
	domain = krdma_domain_create(KBUILD_MODNAME);
	if (IS_ERR(domain))
		return PTR_ERR(domain);
	run->domain = domain;
	return 0;
}

static void krping_run_list(struct krping_run *run)
{
	mutex_lock(&krping_runs_lock);
	run->id = ++krping_last_id;
	list_add_tail(&run->link, &krping_runs);
	krping_run_get(run);
	mutex_unlock(&krping_runs_lock);
}

/**
 * krping_run_create - make a run of a command
 * @opts: the command
 * @error: result, if there is none
 *
 * Return: the run, on the list, with a reference for the caller; or NULL.
 */
struct krping_run *krping_run_create(const struct krping_opts *opts, int *error)
{
	struct krping_run *run = krping_run_alloc(opts);
	struct net *net;

	*error = -ENOMEM;
	if (!run)
		return NULL;
	*error = krping_threads_alloc(run) ?: krping_run_make_domain(run);
	if (*error)
		goto err_dealloc;
	net = krping_run_net(opts);
	if (IS_ERR(net)) {
		*error = PTR_ERR(net);
		goto err_dealloc;
	}
	run->net = net;
	krping_run_list(run);
	krping_report_publish(run);
	return run;

err_dealloc:
	krping_run_dealloc(run);
	return NULL;
}

/* The one that has been over for longest, if there are too many. */
static struct krping_run *krping_runs_surplus_locked(void)
{
	struct krping_run *run, *first = NULL;
	unsigned int n = 0;

	lockdep_assert_held(&krping_runs_lock);
	list_for_each_entry(run, &krping_runs, link) {
		if (!READ_ONCE(run->over))
			continue;
		first = first ?: run;
		n++;
	}
	return n > KRPING_RUNS_KEPT ? first : NULL;
}

static void krping_run_forget(struct krping_run *run)
{
	krping_report_withdraw(run);
	krping_run_put(run);
}

static void krping_runs_trim(void)
{
	struct krping_run *run;

	mutex_lock(&krping_runs_lock);
	run = krping_runs_surplus_locked();
	if (run)
		list_del(&run->link);
	mutex_unlock(&krping_runs_lock);
	if (run)
		krping_run_forget(run);
}

/**
 * krping_run_stop - make a run end
 * @run: run
 * @error: why; the first one counts
 *
 * Context: process; does not wait for the end.
 */
void krping_run_stop(struct krping_run *run, int error)
{
	struct krping_session *s;

	mutex_lock(&run->lock);
	if (!run->stop && !run->over) {
		WRITE_ONCE(run->stop, error);
		if (run->listener)
			krdma_disconnect(run->listener);
		list_for_each_entry(s, &run->sessions, link) {
			krping_fail(s, error);
			if (s->cb)
				krdma_disconnect(s->cb);
		}
	}
	mutex_unlock(&run->lock);
}

/**
 * krping_run_add - a session begins
 * @run: run
 * @s: session; @run's list has it until krping_run_session_over()
 *
 * Return: false: the run is being stopped, nothing is done.
 */
bool krping_run_add(struct krping_run *run, struct krping_session *s)
{
	bool stopped;

	mutex_lock(&run->lock);
	stopped = run->stop;
	if (!stopped) {
		list_add_tail(&s->link, &run->sessions);
		WRITE_ONCE(run->nsessions, run->nsessions + 1);
		/* Put in krping_run_session_over(). */
		krping_run_get(run);
		s->number = run->clients++;
		krping_thread_join(s);
	}
	mutex_unlock(&run->lock);
	return !stopped;
}

static void krping_part_merge(struct krping_part *to,
			      const struct krping_part *from)
{
	if (!from->size)
		return;
	to->size = from->size;
	to->ops += from->ops;
	/* They ran at the same time. */
	to->elapsed = max(to->elapsed, from->elapsed);
	krping_hist_merge(&to->hist, &from->hist);
}

static void krping_run_merge_locked(struct krping_run *run,
				    const struct krping_session *s)
{
	unsigned int i;

	lockdep_assert_held(&run->lock);
	for (i = 0; i < run->nparts; i++)
		krping_part_merge(&run->parts[i], &s->parts[i]);
	for (i = 0; i < KRPING_COUNTERS; i++) {
		run->counts[i].bytes += s->counts[i].bytes;
		run->counts[i].msgs += s->counts[i].msgs;
	}
}

/**
 * krping_run_session_over - a session has ended
 * @s: session without a connection; it is freed
 * @error: 0 or why
 */
void krping_run_session_over(struct krping_session *s, int error)
{
	struct krping_run *run = s->run;

	mutex_lock(&run->lock);
	krping_run_merge_locked(run, s);
	list_del(&s->link);
	WRITE_ONCE(run->nsessions, run->nsessions - 1);
	if (error) {
		run->failed++;
		run->error = run->error ?: error;
	}
	wake_up_all(&run->wait);
	mutex_unlock(&run->lock);
	krping_session_free(s);
	krping_run_put(run);
}

/* For a task that is about to sleep: no lock. */
static bool krping_run_is_idle(const struct krping_run *run)
{
	return !READ_ONCE(run->nsessions);
}

/**
 * krping_run_wait_sessions - wait until no session is left
 * @run: run
 *
 * A signal ends them.
 *
 * Return: 0 or -EINTR.
 */
int krping_run_wait_sessions(struct krping_run *run)
{
	if (!wait_event_interruptible(run->wait, krping_run_is_idle(run)))
		return 0;
	krping_run_stop(run, -EINTR);
	/* Whatever they wait for fails now. */
	wait_event(run->wait, krping_run_is_idle(run));
	return -EINTR;
}

static void krping_run_end(struct krping_run *run, int ret)
{
	mutex_lock(&run->lock);
	run->error = run->stop ?: ret ?: run->error;
	if (!run->error)
		run->error = krping_report_judge(run);
	WRITE_ONCE(run->over, true);
	wake_up_all(&run->wait);
	mutex_unlock(&run->lock);
}

static int krping_run_do(struct krping_run *run)
{
	u32 ms = run->opts.timeout_ms;
	int ret;

	if (ms)
		schedule_delayed_work(&run->timer, msecs_to_jiffies(ms));
	ret = run->opts.role == KRPING_ROLE_CLIENT ? krping_client_run(run) :
						     krping_server_run(run);
	cancel_delayed_work_sync(&run->timer);
	krping_run_end(run, ret);
	krping_runs_trim();
	return run->error;
}

/* The module stays until this is over; krping_exit() waits for the work. */
static void krping_run_work(struct work_struct *work)
{
	struct krping_run *run = container_of(work, struct krping_run, work);

	krping_run_do(run);
	krping_run_put(run);
	module_put(THIS_MODULE);
}

/**
 * krping_run_start - do it
 * @run: new run
 *
 * Return: in the background 0; else when it is over: 0 or why it failed.
 */
int krping_run_start(struct krping_run *run)
{
	if (!run->opts.bg)
		return krping_run_do(run);
	__module_get(THIS_MODULE);
	krping_run_get(run);
	INIT_WORK(&run->work, krping_run_work);
	queue_work(krping_run_wq, &run->work);
	return 0;
}

static struct krping_run *krping_runs_find_locked(u32 id)
{
	struct krping_run *run;

	lockdep_assert_held(&krping_runs_lock);
	list_for_each_entry(run, &krping_runs, link)
		if (!READ_ONCE(run->over) && (!id || run->id == id))
			return run;
	return NULL;
}

/**
 * krping_runs_stop - end a run, or all of them, and wait for that
 * @id: which, 0: all
 *
 * Return: 0; -ENOENT there is none; -EINTR a signal ended the wait.
 */
int krping_runs_stop(u32 id)
{
	struct krping_run *run;
	int ret = id ? -ENOENT : 0;

	do {
		mutex_lock(&krping_runs_lock);
		run = krping_runs_find_locked(id);
		if (run)
			krping_run_get(run);
		mutex_unlock(&krping_runs_lock);
		if (!run)
			return ret;
		krping_run_stop(run, -ECANCELED);
		ret = wait_event_interruptible(run->wait,
					       READ_ONCE(run->over));
		krping_run_put(run);
	} while (!ret && !id);
	return ret ? -EINTR : 0;
}

/**
 * krping_runs_show - show runs
 * @m: where
 * @show: for each
 */
void krping_runs_show(struct seq_file *m,
		      void (*show)(struct seq_file *m, struct krping_run *run))
{
	struct krping_run *run;

	mutex_lock(&krping_runs_lock);
	list_for_each_entry(run, &krping_runs, link)
		show(m, run);
	mutex_unlock(&krping_runs_lock);
}

/**
 * krping_runs_exit - forget all runs
 *
 * The module goes: none is running, nobody has a file open.
 */
void krping_runs_exit(void)
{
	struct krping_run *run, *next;

	list_for_each_entry_safe(run, next, &krping_runs, link) {
		list_del(&run->link);
		krping_run_forget(run);
	}
}
