// SPDX-License-Identifier: GPL-2.0
/*
 * A run executes one command. Its connections are sessions.
 *
 * The task that wrote the command connects or listens, starts a thread that
 * runs the test, and waits until the run has ended. With bg, a work item
 * connects or listens and then runs the test. In a run with one session and
 * without cpu=, the thread or work item of the run executes the session. In all
 * other runs each session has a work item of its own, and the thread or work
 * item of the run waits until all sessions have ended.
 *
 * A run ends by itself or by krping_run_stop(). This function makes every wait
 * of the run fail, and is called after a signal, a timeout, or a stop command.
 * The last runs that have ended stay on the list, so that their results can be
 * read.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/printk.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include <uapi/linux/sched/types.h>

#include "priv.h"

/* Maximum number of runs that have ended and stay on the list. */
#define KRPING_RUNS_KEPT 64

static LIST_HEAD(krping_runs);
static unsigned int krping_last_id;
/* Protects krping_runs and krping_last_id. */
static DEFINE_MUTEX(krping_runs_lock);

/* Undo krping_run_alloc(). */
static void krping_run_dealloc(struct krping_run *run)
{
	krdma_domain_put(run->domain);
	krdma_keys_put(run->keys);
	krping_threads_free(run);
	kvfree(run->samples);
	kvfree(run->parts);
	mutex_destroy(&run->pools_lock);
	mutex_destroy(&run->lock);
	kfree(run);
}

/*
 * Release the network namespace when no session needs it any more. A run that
 * has ended is kept for its results. Its reference would keep a namespace, and
 * all interfaces in it, that the administrator has deleted.
 */
static void krping_run_put_net(struct krping_run *run)
{
	if (run->net)
		put_net(run->net);
	run->net = NULL;
}

static void krping_run_free(struct kref *ref)
{
	struct krping_run *run = container_of(ref, struct krping_run, ref);

	if (run->task)
		put_task_struct(run->task);
	krping_run_put_net(run);
	krping_run_dealloc(run);
}

/**
 * krping_run_get - take a reference to a run
 * @run: run
 */
void krping_run_get(struct krping_run *run)
{
	kref_get(&run->ref);
}

/**
 * krping_run_put - drop a reference to a run
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

static struct krping_run *krping_run_alloc(const struct krping_opts *opts)
{
	struct krping_run *run = kzalloc(sizeof(*run), GFP_KERNEL);

	if (!run)
		return NULL;
	kref_init(&run->ref);
	run->opts = *opts;
	INIT_DELAYED_WORK(&run->timer, krping_run_time_is_over);
	init_waitqueue_head(&run->wait);
	mutex_init(&run->lock);
	mutex_init(&run->pools_lock);
	INIT_LIST_HEAD(&run->pools);
	INIT_LIST_HEAD(&run->sessions);
	run->begin_ns = ktime_get_ns();
	run->nparts = krping_sizes_count(opts->from, opts->size);
	run->parts = kvcalloc(run->nparts, sizeof(*run->parts), GFP_KERNEL);
	if (opts->samples)
		run->samples = kvcalloc(opts->samples, sizeof(*run->samples),
					GFP_KERNEL_ACCOUNT);
	if (run->parts && (run->samples || !opts->samples))
		return run;
	krping_run_dealloc(run);
	return NULL;
}

/**
 * krping_run_create - create a run of a command
 * @opts: command
 * @error: set to -errno if the function returns NULL
 *
 * Return: the run, which is on the list and has a reference for the caller; or
 * NULL.
 */
struct krping_run *krping_run_create(const struct krping_opts *opts, int *error)
{
	struct krping_run *run = krping_run_alloc(opts);
	struct krdma_domain *domain;
	struct krdma_keys *keys;
	struct net *net;

	*error = -ENOMEM;
	if (!run)
		return NULL;
	*error = krping_threads_alloc(run);
	if (*error)
		goto err_dealloc;
	if (opts->srq) {
		/* Connections that share receives need the PD of a domain. */
		domain = krdma_domain_create(KBUILD_MODNAME);
		if (IS_ERR(domain)) {
			*error = PTR_ERR(domain);
			goto err_dealloc;
		}
		run->domain = domain;
	}
	if (*opts->key) {
		keys = krdma_keys_find(opts->key);
		if (IS_ERR(keys)) {
			*error = PTR_ERR(keys);
			goto err_dealloc;
		}
		run->keys = keys;
	}
	/*
	 * netns= is tried as a file descriptor of the caller first, and then as
	 * a process ID.
	 */
	if (!opts->netns) {
		net = get_net(current->nsproxy->net_ns);
	} else {
		net = get_net_ns_by_fd(opts->netns - 1);
		if (IS_ERR(net))
			net = get_net_ns_by_pid(opts->netns - 1);
	}
	if (IS_ERR(net)) {
		pr_err_ratelimited("netns=%u is no network namespace\n",
				   opts->netns - 1);
		*error = PTR_ERR(net);
		goto err_dealloc;
	}
	run->net = net;
	mutex_lock(&krping_runs_lock);
	run->id = ++krping_last_id;
	list_add_tail(&run->link, &krping_runs);
	krping_run_get(run);
	mutex_unlock(&krping_runs_lock);
	krping_report_publish(run);
	return run;

err_dealloc:
	krping_run_dealloc(run);
	return NULL;
}

static void krping_run_forget(struct krping_run *run)
{
	krping_report_withdraw(run);
	krping_run_put(run);
}

/* Forget the oldest run that has ended, if too many of them are kept. */
static void krping_runs_trim(void)
{
	struct krping_run *run, *first = NULL;
	unsigned int n = 0;

	mutex_lock(&krping_runs_lock);
	list_for_each_entry(run, &krping_runs, link) {
		if (!READ_ONCE(run->over))
			continue;
		first = first ?: run;
		n++;
	}
	if (n > KRPING_RUNS_KEPT)
		list_del(&first->link);
	mutex_unlock(&krping_runs_lock);
	if (n > KRPING_RUNS_KEPT)
		krping_run_forget(first);
}

/**
 * krping_run_stop - end a run
 * @run: run
 * @error: result of the run, unless an earlier call has set the result
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
			if (s->conn.cb)
				krdma_disconnect(s->conn.cb);
		}
	}
	mutex_unlock(&run->lock);
}

/**
 * krping_run_add - add a session to a run
 * @run: run
 * @s: session; it stays on @run's list until krping_run_session_over()
 *
 * Return: true if @s was added; false, with nothing changed, if the run is
 * being stopped.
 */
bool krping_run_add(struct krping_run *run, struct krping_session *s)
{
	bool stopped;

	mutex_lock(&run->lock);
	stopped = run->stop;
	if (!stopped) {
		list_add_tail(&s->link, &run->sessions);
		WRITE_ONCE(run->nsessions, run->nsessions + 1);
		/* krping_run_session_over() drops this reference. */
		krping_run_get(run);
		s->number = run->clients++;
		krping_thread_join(s);
	}
	mutex_unlock(&run->lock);
	return !stopped;
}

/**
 * krping_run_sample - keep the time of one operation, if samples= is given
 * @run: run
 * @size: length of the operation in bytes
 * @ns: time in ns; more than U32_MAX (4.29 s) is kept as U32_MAX
 *
 * Context: any; several sessions may call it at the same time.
 */
void krping_run_sample(struct krping_run *run, u32 size, u64 ns)
{
	int i;

	if (!run->samples || atomic_read(&run->nsamples) >= run->opts.samples)
		return;
	i = atomic_inc_return(&run->nsamples) - 1;
	/* A single store, because krping_samples_show() may be reading. */
	if (i < run->opts.samples)
		WRITE_ONCE(run->samples[i],
			   (u64)size << 32 | min_t(u64, ns, U32_MAX));
}

/*
 * Check whether an error is a failure. A stop command is the normal end of a
 * server.
 */
static bool krping_run_is_failure(const struct krping_run *run, int error)
{
	return error && !(error == -ECANCELED &&
			  run->opts.role == KRPING_ROLE_SERVER);
}

/**
 * krping_run_session_over - remove a session from its run and free it
 * @s: session without a connection
 * @error: result of the session: 0 or -errno
 */
void krping_run_session_over(struct krping_session *s, int error)
{
	const struct krping_part *from = s->progress.parts;
	struct krping_run *run = s->run;
	struct krping_part *to;
	unsigned int i;

	mutex_lock(&run->lock);
	for (to = run->parts; to < run->parts + run->nparts; to++, from++) {
		if (!from->size)
			continue;
		to->size = from->size;
		to->ops += from->ops;
		/*
		 * All sessions ran at the same time, so the run took as long as
		 * its longest session.
		 */
		to->elapsed = max(to->elapsed, from->elapsed);
		krping_hist_merge(&to->hist, &from->hist);
	}
	for (i = 0; i < KRPING_COUNTERS; i++) {
		run->counts[i].bytes += s->counts[i].bytes;
		run->counts[i].msgs += s->counts[i].msgs;
	}
	list_del(&s->link);
	WRITE_ONCE(run->nsessions, run->nsessions - 1);
	if (krping_run_is_failure(run, error)) {
		run->failed++;
		run->error = run->error ?: error;
	}
	wake_up_all(&run->wait);
	mutex_unlock(&run->lock);
	krping_session_free(s);
	krping_run_put(run);
}

/**
 * krping_run_wait_sessions - wait until a run has no sessions
 * @run: run; krping_run_stop() ends its sessions
 */
void krping_run_wait_sessions(struct krping_run *run)
{
	/*
	 * Read nsessions without run->lock: the condition of a wait must not
	 * sleep.
	 */
	wait_event_idle(run->wait, !READ_ONCE(run->nsessions));
}

/*
 * Start the timer of timeout=, and then connect or listen. A signal to the
 * caller ends the attempt to connect.
 */
static int krping_run_begin(struct krping_run *run)
{
	u32 ms = run->opts.timeout_ms;

	if (ms)
		schedule_delayed_work(&run->timer, msecs_to_jiffies(ms));
	return run->opts.role == KRPING_ROLE_CLIENT ? krping_client_begin(run) :
						      krping_server_begin(run);
}

/*
 * Run the test with all connections, and end the run. @ret is the result of
 * krping_run_begin().
 */
static void krping_run_go(struct krping_run *run, int ret)
{
	if (run->opts.role == KRPING_ROLE_CLIENT)
		krping_client_go(run);
	else if (!ret)
		ret = krping_server_go(run);
	cancel_delayed_work_sync(&run->timer);
	mutex_lock(&run->lock);
	if (run->stop)
		ret = run->stop;
	else if (!ret)
		ret = run->error;
	if (krping_run_is_failure(run, ret))
		run->error = ret;
	if (!run->error)
		run->error = krping_report_judge(run);
	WRITE_ONCE(run->over, true);
	wake_up_all(&run->wait);
	mutex_unlock(&run->lock);
	krping_run_put_net(run);
	krping_runs_trim();
}

/*
 * Execute a run in the background. krping_run_start() has taken the references
 * to the run and to the module. krping_exit() waits for this work item.
 */
static void krping_run_work(struct work_struct *work)
{
	struct krping_run *run = container_of(work, struct krping_run, work);

	krping_run_go(run, krping_run_begin(run));
	krping_run_put(run);
	module_put(THIS_MODULE);
}

static int krping_run_thread(void *arg)
{
	struct krping_run *run = arg;

	krping_run_go(run, 0);
	krping_run_put(run);
	module_put_and_kthread_exit(0);
	return 0;
}

/*
 * Give the thread of a run the scheduling policy, priority and processors of
 * its writer, which chrt(1), nice(1) and taskset(1) set.
 */
static void krping_run_schedule_as(struct task_struct *task,
				   const struct task_struct *writer)
{
	struct sched_attr attr = {
		.size = sizeof(attr),
		.sched_policy = writer->policy,
		.sched_nice = task_nice(writer),
		.sched_priority = writer->rt_priority,
	};

	/* A SCHED_DEADLINE reservation is for one task and is not inherited. */
	if (writer->policy != SCHED_DEADLINE)
		sched_setattr_nocheck(task, &attr);
	set_cpus_allowed_ptr(task, &writer->cpus_mask);
}

/*
 * Start the thread of a run. The run has a thread of its own because its writer
 * may be frozen or stopped at any time, see krping_run_wait().
 */
static int krping_run_start_thread(struct krping_run *run)
{
	struct task_struct *task;

	task = kthread_create(krping_run_thread, run, "krping/%u", run->id);
	if (IS_ERR(task))
		return PTR_ERR(task);
	/* krping_run_free() drops this reference. */
	run->task = get_task_struct(task);
	/* krping_run_thread() drops both references. */
	__module_get(THIS_MODULE);
	krping_run_get(run);
	krping_run_schedule_as(task, current);
	wake_up_process(task);
	return 0;
}

static bool krping_signal_ends(const struct sighand_struct *sighand, int sig)
{
	const struct k_sigaction *action = &sighand->action[sig - 1];

	if (action->sa.sa_handler != SIG_DFL)
		return action->sa.sa_handler != SIG_IGN;
	return !sig_kernel_ignore(sig) && !sig_kernel_stop(sig);
}

/*
 * Check for a pending signal that has a handler or kills the caller. Without
 * such a signal, the caller is only frozen, stopped or traced, and resumes the
 * wait when it is continued.
 */
static bool krping_is_signalled(void)
{
	struct sighand_struct *sighand =
		rcu_dereference_protected(current->sighand, true);
	bool ends = false;
	sigset_t pending;
	int sig;

	spin_lock_irq(&sighand->siglock);
	sigorsets(&pending, &current->pending.signal,
		  &current->signal->shared_pending.signal);
	sigandnsets(&pending, &pending, &current->blocked);
	for (sig = 1; sig <= _NSIG && !ends; sig++)
		ends = sigismember(&pending, sig) &&
		       krping_signal_ends(sighand, sig);
	spin_unlock_irq(&sighand->siglock);
	return ends;
}

/**
 * krping_run_start - start a run
 * @run: new run
 *
 * Return: 0: the run continues by itself; the caller of a run that is not in
 * the background calls krping_run_wait(). -ERESTARTNOHAND: the caller was
 * frozen or stopped while it connected; it returns this value from its system
 * call, so that the kernel restarts the call. Another -errno: the run has ended
 * with this error.
 */
int krping_run_start(struct krping_run *run)
{
	int ret;

	if (run->opts.bg) {
		__module_get(THIS_MODULE);
		krping_run_get(run);
		INIT_WORK(&run->work, krping_run_work);
		queue_work(krping_run_wq, &run->work);
		return 0;
	}
	ret = krping_run_begin(run);
	if (!ret && !krping_run_start_thread(run))
		return 0;
	if (!ret)
		krping_run_stop(run, -ENOMEM);
	krping_run_go(run, ret);
	if (run->error == -EINTR && !krping_is_signalled())
		return -ERESTARTNOHAND;
	return run->error;
}

/**
 * krping_run_wait - wait for the end of a run
 * @run: started run
 *
 * A signal of the caller ends the wait. A caller that is frozen, stopped or
 * traced must leave the kernel, and calls this function again when it is
 * continued.
 *
 * Return: 0: the run has ended. -ERESTARTNOHAND: the run goes on, and the
 * caller must return this value from its system call. -EINTR: the run goes on,
 * and a signal is pending.
 */
int krping_run_wait(struct krping_run *run)
{
	if (wait_event_interruptible(run->wait, READ_ONCE(run->over)))
		return krping_is_signalled() ? -EINTR : -ERESTARTNOHAND;
	return 0;
}

/**
 * krping_run_reap - wait until a run's thread has exited
 * @run: run that has ended
 *
 * The task that started the run calls this function once. Because no thread is
 * left, the module can be unloaded as soon as write() has returned.
 */
void krping_run_reap(struct krping_run *run)
{
	if (run->task)
		kthread_stop(run->task);
}

/**
 * krping_run_finish - end a run and wait for its end
 * @run: started run
 * @error: result of the run, unless an earlier one is set
 */
void krping_run_finish(struct krping_run *run, int error)
{
	krping_run_stop(run, error);
	/*
	 * Wait uninterruptibly: the run ends soon, because krping_run_stop()
	 * has made every wait of the run fail.
	 */
	wait_event(run->wait, READ_ONCE(run->over));
}

/**
 * krping_runs_get - find a run that has not ended
 * @id: number of the run, 0 means any run
 *
 * Return: the run with a reference for the caller, or NULL.
 */
struct krping_run *krping_runs_get(u32 id)
{
	struct krping_run *run, *found = NULL;

	mutex_lock(&krping_runs_lock);
	list_for_each_entry(run, &krping_runs, link) {
		if (READ_ONCE(run->over) || (id && run->id != id))
			continue;
		krping_run_get(run);
		found = run;
		break;
	}
	mutex_unlock(&krping_runs_lock);
	return found;
}

/**
 * krping_runs_show - call a function for each run
 * @m: output
 * @show: function that shows a run
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
 * krping_runs_exit - free all runs
 *
 * Called when the module is unloaded: no run is active and no file is open.
 */
void krping_runs_exit(void)
{
	struct krping_run *run, *next;

	list_for_each_entry_safe(run, next, &krping_runs, link) {
		list_del(&run->link);
		krping_run_forget(run);
	}
}
