// SPDX-License-Identifier: GPL-2.0
/*
 * Which task does the work of a connection, and on which processor.
 *
 * Sessions with a work item each are tasks of their own, on any processor. With
 * threads=N they are dealt out to N teams. Of a team only the one works that has
 * the turn, and it gives that away whenever it has to wait: as one task would go
 * on with the next of its connections. Who waits for the turn gets it in the order
 * in which they came. So a test is written as if it were alone.
 *
 * With cpu=N the first team, or connection, is bound to that processor, and the
 * others to those that follow, from the last one on to the first again.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpumask.h>
#include <linux/math64.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/semaphore.h>
#include <linux/slab.h>

#include <compat.h>

#include "priv.h"

/* Connections that are tested at a time; others wait for one of them. */
#define KRPING_SESSIONS_ACTIVE 512

static struct workqueue_struct *krping_session_wq;
/* Those that have a processor. They may be at it for long, hence the flag. */
static struct workqueue_struct *krping_cpu_wq;

/**
 * krping_threads_init - make what sessions are run by
 *
 * Return: 0 or -ENOMEM.
 */
int krping_threads_init(void)
{
	krping_session_wq = alloc_workqueue("krping", WQ_UNBOUND,
					    KRPING_SESSIONS_ACTIVE);
	if (!krping_session_wq)
		return -ENOMEM;
	krping_cpu_wq = alloc_workqueue("krping_cpu",
					WQ_PERCPU | WQ_CPU_INTENSIVE,
					KRPING_SESSIONS_ACTIVE);
	if (krping_cpu_wq)
		return 0;
	destroy_workqueue(krping_session_wq);
	return -ENOMEM;
}

/**
 * krping_threads_exit - undo krping_threads_init(), and wait for all of them
 */
void krping_threads_exit(void)
{
	destroy_workqueue(krping_cpu_wq);
	destroy_workqueue(krping_session_wq);
}

static bool krping_cpu_is_there(const struct krping_opts *opts)
{
	u32 cpu = opts->cpu - 1;

	if (!opts->cpu || (cpu < nr_cpu_ids && cpu_online(cpu)))
		return true;
	pr_err_ratelimited("cpu=%u: there is no such processor\n", cpu);
	return false;
}

/**
 * krping_threads_alloc - prepare what a run's command says about tasks
 * @run: new run
 *
 * Return: 0; -EINVAL there is no such processor; -ENOMEM.
 */
int krping_threads_alloc(struct krping_run *run)
{
	u32 i, n = run->opts.threads;

	if (!krping_cpu_is_there(&run->opts))
		return -EINVAL;
	if (!n)
		return 0;
	run->turns = kcalloc(n, sizeof(*run->turns), GFP_KERNEL);
	if (!run->turns)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		sema_init(&run->turns[i], 1);
	return 0;
}

/**
 * krping_threads_free - undo krping_threads_alloc()
 * @run: run without sessions
 */
void krping_threads_free(struct krping_run *run)
{
	kfree(run->turns);
}

/* Which of the run's teams it is in; without teams each is one. */
static u32 krping_thread_of(const struct krping_session *s)
{
	u32 threads = s->opts->threads ?: KRPING_CONNS_MAX;
	u32 team;

	div_u64_rem(s->number, threads, &team);
	return team;
}

/**
 * krping_thread_join - make a session one of a team
 * @s: session with its number
 */
void krping_thread_join(struct krping_session *s)
{
	if (s->run->turns)
		s->turn = &s->run->turns[krping_thread_of(s)];
}

/* One may go offline at any time: then its work is done elsewhere. */
static unsigned int krping_thread_cpu(const struct krping_session *s)
{
	unsigned int cpu = s->opts->cpu - 1;
	u32 n;

	for (n = krping_thread_of(s); n; n--) {
		cpu = cpumask_next(cpu, cpu_online_mask);
		if (cpu >= nr_cpu_ids)
			cpu = cpumask_first(cpu_online_mask);
	}
	return cpu;
}

/**
 * krping_thread_start - have a session run by a work item
 * @s: session that is one of a team
 * @work: runs it
 */
void krping_thread_start(struct krping_session *s, work_func_t work)
{
	INIT_WORK(&s->work, work);
	if (s->opts->cpu)
		queue_work_on(krping_thread_cpu(s), krping_cpu_wq, &s->work);
	else
		queue_work(krping_session_wq, &s->work);
}

/**
 * krping_turn_take - wait until the session may work
 * @s: session that does not
 *
 * Return: 0 or -EINTR.
 */
int krping_turn_take(struct krping_session *s)
{
	int ret = s->turn ? down_interruptible(s->turn) : 0;

	s->has_turn = s->turn && !ret;
	return ret;
}

/**
 * krping_turn_give - let others of the team work
 * @s: session, which works or does not
 */
void krping_turn_give(struct krping_session *s)
{
	if (!s->has_turn)
		return;
	s->has_turn = false;
	up(s->turn);
}

/**
 * krping_turn_pass - let others work that wait for it, and whoever else
 * @s: session that works
 *
 * Return: 0; -EINTR there is a signal, or was one.
 */
int krping_turn_pass(struct krping_session *s)
{
	if (signal_pending(current))
		return -EINTR;
	krping_turn_give(s);
	cond_resched();
	return krping_turn_take(s);
}
