// SPDX-License-Identifier: GPL-2.0
/*
 * Tasks and processors that do the work of the connections.
 *
 * Each session that has a work item is a task of its own, on any processor.
 * With threads=N the sessions are divided into N teams. Only one session of a
 * team works at a time: the one that holds the turn (a semaphore). A session
 * releases the turn whenever it waits, so that a team behaves like one thread
 * that proceeds to its next connection. Sessions get the turn in the order in
 * which they requested it. The wait functions release and take the turn, so a
 * test is written as if its session were alone.
 *
 * With cpu=N the first team is bound to processor N, and the other teams to the
 * following online processors, round robin. Without teams, the connections are
 * bound in the same way.
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

/*
 * Maximum number of sessions that krping_session_wq runs at a time. Further
 * sessions wait in the queue.
 */
#define KRPING_SESSIONS_ACTIVE 512

static struct workqueue_struct *krping_session_wq;
/*
 * Queue of work items bound to a processor. They run long, hence
 * WQ_CPU_INTENSIVE.
 */
static struct workqueue_struct *krping_cpu_wq;

/**
 * krping_threads_init - create the workqueues of sessions
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
 * krping_threads_exit - flush and destroy the workqueues of sessions
 */
void krping_threads_exit(void)
{
	destroy_workqueue(krping_cpu_wq);
	destroy_workqueue(krping_session_wq);
}

/**
 * krping_threads_alloc - allocate the teams of a run and check cpu=
 * @run: new run
 *
 * Return: 0; -EINVAL if the processor of cpu= is not online; or -ENOMEM.
 */
int krping_threads_alloc(struct krping_run *run)
{
	u32 i, n = run->opts.threads;
	u32 cpu = run->opts.cpu - 1;

	if (run->opts.cpu && (cpu >= nr_cpu_ids || !cpu_online(cpu))) {
		pr_err_ratelimited("cpu=%u: there is no such processor\n", cpu);
		return -EINVAL;
	}
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

/*
 * Return the number of the session's team. Without teams, return the number of
 * the session, modulo KRPING_CONNS_MAX.
 */
static u32 krping_thread_of(const struct krping_session *s)
{
	u32 threads = s->opts->threads ?: KRPING_CONNS_MAX;
	u32 team;

	div_u64_rem(s->number, threads, &team);
	return team;
}

/**
 * krping_thread_join - assign a session to a team
 * @s: session whose number is set
 */
void krping_thread_join(struct krping_session *s)
{
	if (s->run->turns)
		s->turn = &s->run->turns[krping_thread_of(s)];
}

/*
 * Choose an online processor. If it goes offline later, the work runs
 * elsewhere.
 */
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
 * krping_thread_start - run a session in a work item
 * @s: session, after krping_thread_join()
 * @work: function of the work item
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
 * krping_turn_take - wait for the turn of the session's team, see thread.c
 * @s: session that does not hold the turn
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
 * krping_turn_give - release the turn of the team, if the session holds it
 * @s: session
 */
void krping_turn_give(struct krping_session *s)
{
	if (!s->has_turn)
		return;
	s->has_turn = false;
	up(s->turn);
}

/**
 * krping_turn_pass - let other sessions of the team and other tasks run
 * @s: session that holds the turn, if it has a team
 *
 * Return: 0, or -EINTR after a signal.
 */
int krping_turn_pass(struct krping_session *s)
{
	if (signal_pending(current))
		return -EINTR;
	krping_turn_give(s);
	cond_resched();
	return krping_turn_take(s);
}
