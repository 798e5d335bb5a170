// SPDX-License-Identifier: GPL-2.0
/* Run commands in kernel threads, which kthread_stop() can stop. */
#include <linux/kthread.h>
#include <linux/slab.h>
#include <net/net_namespace.h>

#include "priv.h"

/**
 * struct ktest_job - a command that a kernel thread runs
 * @link: in ktest_jobs, under ktest_jobs_mutex
 * @name: name of the job in the command stop
 * @line: command line
 * @ctx: context of the command; has a reference to the network namespace
 * @ret: result of the command; valid when the thread has ended
 * @task: the thread; the job holds a reference, because the thread may end
 *	before the command stop
 */
struct ktest_job {
	struct list_head link;
	char name[KTEST_NAME_LEN];
	char *line;
	struct ktest_ctx ctx;
	int ret;
	struct task_struct *task;
};

static LIST_HEAD(ktest_jobs);
static DEFINE_MUTEX(ktest_jobs_mutex);

static int ktest_job_thread(void *data)
{
	struct ktest_job *job = data;

	job->ret = ktest_run(&job->ctx, job->line);
	return 0;
}

static void ktest_job_free(struct ktest_job *job)
{
	put_net(job->ctx.net);
	kfree(job->line);
	kfree(job);
}

/*
 * Return a command line of all words behind "kthread JOB". The caller frees the
 * line by kfree().
 */
static char *ktest_job_line(const struct ktest_args *args)
{
	size_t size = 1, len = 0;
	char *line;
	int i;

	for (i = 2; i < args->n; i++)
		size += strlen(args->words[i]) + 1;
	line = kmalloc(size, GFP_KERNEL);
	if (!line)
		return NULL;
	*line = '\0';
	for (i = 2; i < args->n; i++)
		len += scnprintf(line + len, size - len, "%s ", args->words[i]);
	return line;
}

static int ktest_job_start(struct ktest_job *job)
{
	struct task_struct *task;

	task = kthread_create(ktest_job_thread, job, "ktest_%s", job->name);
	if (IS_ERR(task))
		return PTR_ERR(task);
	get_task_struct(task);
	job->task = task;
	mutex_lock(&ktest_jobs_mutex);
	list_add_tail(&job->link, &ktest_jobs);
	mutex_unlock(&ktest_jobs_mutex);
	wake_up_process(task);
	return 0;
}

int ktest_cmd_kthread(struct ktest_ctx *ctx, struct ktest_args *args)
{
	struct ktest_job *job = kzalloc(sizeof(*job), GFP_KERNEL);
	int ret;

	if (!job)
		return -ENOMEM;
	job->line = ktest_job_line(args);
	job->ctx.net = get_net(ctx->net);
	strscpy(job->name, ktest_arg(args, 1), sizeof(job->name));
	ret = job->line ? ktest_job_start(job) : -ENOMEM;
	if (ret)
		ktest_job_free(job);
	return ret;
}

static void ktest_job_end(struct ktest_job *job)
{
	kthread_stop(job->task);
	put_task_struct(job->task);
}

static struct ktest_job *ktest_job_take(const char *name)
{
	struct ktest_job *job, *found = NULL;

	mutex_lock(&ktest_jobs_mutex);
	list_for_each_entry(job, &ktest_jobs, link) {
		if (*name && strcmp(job->name, name))
			continue;
		list_del(&job->link);
		found = job;
		break;
	}
	mutex_unlock(&ktest_jobs_mutex);
	return found;
}

int ktest_cmd_stop(struct ktest_ctx *ctx, struct ktest_args *args)
{
	struct ktest_job *job;
	int ret;

	if (args->n < 2)
		return -EINVAL;
	job = ktest_job_take(ktest_arg(args, 1));
	if (!job)
		return -ENOENT;
	ktest_job_end(job);
	ret = job->ret;
	strscpy(ctx->text, job->ctx.text, sizeof(ctx->text));
	ktest_job_free(job);
	return ret;
}

void ktest_jobs_stop(void)
{
	struct ktest_job *job;

	while ((job = ktest_job_take(""))) {
		ktest_job_end(job);
		ktest_job_free(job);
	}
}
