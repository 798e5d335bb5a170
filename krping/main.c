// SPDX-License-Identifier: GPL-2.0
/*
 * krping - ping a peer with RDMA READs and WRITEs, from inside the kernel
 *
 * /proc/krping takes commands and shows the statistics of active runs. write()
 * returns when its commands have ended, with their result. A read from the same
 * descriptor then returns the result of the last run.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include <version.h>

#include "priv.h"

/* Maximum length of the text of one write(). */
#define KRPING_COMMAND_MAX 4096

/* Maximum number of active runs in the background. */
#define KRPING_RUNS_ACTIVE 512

/**
 * struct krping_wait - a write() that was interrupted during a wait
 * @link: in krping_file.waits
 * @task: task that called write(); compared, and never dereferenced
 * @text: text that the task wrote, @len bytes
 * @len: length of @text
 * @done: number of commands of @text that have ended
 * @run: run that the interrupted command waits for, with a reference
 *
 * A task that is frozen or stopped leaves the kernel. When the task is
 * continued, the kernel restarts write() with the same arguments, and that call
 * resumes the wait.
 */
struct krping_wait {
	struct list_head link;
	const struct task_struct *task;
	char *text;
	size_t len;
	unsigned int done;
	struct krping_run *run;
};

/**
 * struct krping_file - an open /proc/krping
 * @lock: protects the members below
 * @run: run of the last command of the last write(), a reference; or NULL
 * @list: the last command was "list"
 * @waits: interrupted writes, by krping_wait.link
 */
struct krping_file {
	struct mutex lock; /* protects run, list and waits of krping_file */
	struct krping_run *run;
	bool list;
	struct list_head waits;
};

struct workqueue_struct *krping_run_wq;

static void krping_file_set(struct krping_file *kf, struct krping_run *run,
			    bool list)
{
	struct krping_run *old;

	mutex_lock(&kf->lock);
	old = kf->run;
	kf->run = run;
	kf->list = list;
	mutex_unlock(&kf->lock);
	krping_run_put(old);
}

/* ---- interrupted writes ---- */

static void krping_wait_free(struct krping_wait *wait)
{
	krping_run_put(wait->run);
	kfree(wait->text);
	kfree(wait);
}

/*
 * Stop the run of an interrupted write() that will not be restarted, for
 * example because a signal handler ran. There is no run if write() was
 * interrupted while it connected.
 */
static void krping_wait_abandon(struct krping_wait *wait)
{
	if (wait->run)
		krping_run_stop(wait->run, -EINTR);
	krping_wait_free(wait);
}

/*
 * Find the interrupted write() of this task. If the present write() has the
 * same text, it is the restart of that call: return its state. If the text
 * differs, stop the run of the interrupted write() and return NULL.
 */
static struct krping_wait *krping_wait_resume(struct krping_file *kf,
					      const char *text, size_t len)
{
	struct krping_wait *wait, *found = NULL;

	mutex_lock(&kf->lock);
	list_for_each_entry(wait, &kf->waits, link) {
		if (wait->task != current)
			continue;
		list_del(&wait->link);
		found = wait;
		break;
	}
	mutex_unlock(&kf->lock);
	if (!found || (found->len == len && !memcmp(found->text, text, len)))
		return found;
	krping_wait_abandon(found);
	return NULL;
}

static struct krping_wait *krping_wait_alloc(const char *text, size_t len)
{
	struct krping_wait *wait = kzalloc(sizeof(*wait), GFP_KERNEL);

	if (!wait)
		return NULL;
	wait->text = kmemdup(text, len, GFP_KERNEL);
	if (!wait->text) {
		kfree(wait);
		return NULL;
	}
	wait->len = len;
	wait->task = current;
	return wait;
}

/* ---- commands ---- */

/*
 * Wait for a run. On -ERESTARTNOHAND, store the run in @wait for the restarted
 * write().
 */
static int krping_wait_for(struct krping_wait *wait, struct krping_run *run)
{
	int ret = krping_run_wait(run);

	if (ret != -ERESTARTNOHAND)
		return ret;
	krping_run_get(run);
	wait->run = run;
	return ret;
}

static int krping_stop(struct krping_wait *wait, u32 id)
{
	struct krping_run *run;
	int ret = id ? -ENOENT : 0;

	do {
		run = krping_runs_get(id);
		if (!run)
			return ret;
		krping_run_stop(run, -ECANCELED);
		ret = krping_wait_for(wait, run);
		krping_run_put(run);
	} while (!ret && !id);
	return ret;
}

/* Wait for the caller's own run. A signal ends the run. */
static int krping_await(struct krping_run *run, struct krping_wait *wait)
{
	int ret = krping_wait_for(wait, run);

	if (ret == -ERESTARTNOHAND)
		return ret;
	if (ret)
		krping_run_finish(run, ret);
	krping_run_reap(run);
	return run->error;
}

static int krping_command(struct krping_file *kf, char *command,
			  struct krping_wait *wait)
{
	struct krping_run *run;
	struct krping_opts opts;
	int ret;

	ret = krping_opts_parse(command, &opts);
	if (ret)
		return ret;
	if (opts.control) {
		krping_file_set(kf, NULL, opts.control == KRPING_CONTROL_LIST);
		if (opts.control == KRPING_CONTROL_LIST)
			return 0;
		return krping_stop(wait, opts.stop_id);
	}
	run = krping_run_create(&opts, &ret);
	if (!run)
		return ret;
	/*
	 * Store the run in @kf before it starts, so that another task that
	 * shares the descriptor can read the progress of the run.
	 */
	krping_run_get(run);
	krping_file_set(kf, run, false);
	ret = krping_run_start(run);
	if (!ret && !opts.bg)
		ret = krping_await(run, wait);
	krping_run_put(run);
	return ret;
}

/* Resume the command during which write() was interrupted. */
static int krping_resume(char *command, struct krping_wait *wait)
{
	struct krping_run *run = wait->run;
	struct krping_opts opts;
	int ret;

	wait->run = NULL;
	ret = krping_opts_parse(command, &opts);
	if (!ret && opts.control) {
		ret = krping_wait_for(wait, run);
		if (!ret && !opts.stop_id)
			ret = krping_stop(wait, 0);
	} else if (!ret) {
		ret = krping_await(run, wait);
	}
	krping_run_put(run);
	return ret;
}

/* Execute the commands one after the other, up to the first that fails. */
static int krping_commands(struct krping_file *kf, char *text,
			   struct krping_wait *wait)
{
	char *command = krping_opts_next_command(&text);
	unsigned int skip = wait->done;
	int ret = 0;

	if (!command) {
		pr_err_ratelimited("no command\n");
		return -EINVAL;
	}
	while (skip-- && command)
		command = krping_opts_next_command(&text);
	while (command && !ret) {
		ret = wait->run ? krping_resume(command, wait) :
				  krping_command(kf, command, wait);
		if (!ret)
			wait->done++;
		command = krping_opts_next_command(&text);
	}
	return ret;
}

/*
 * Execute the commands in @text, or resume an interrupted write(). @text is
 * modified.
 */
static int krping_run_commands(struct krping_file *kf, char *text, size_t len)
{
	struct krping_wait *wait = krping_wait_resume(kf, text, len);
	int ret;

	if (!wait) {
		krping_file_set(kf, NULL, false);
		wait = krping_wait_alloc(text, len);
	}
	if (!wait)
		return -ENOMEM;
	ret = krping_commands(kf, text, wait);
	if (ret != -ERESTARTNOHAND) {
		krping_wait_free(wait);
		return ret;
	}
	mutex_lock(&kf->lock);
	list_add(&wait->link, &kf->waits);
	mutex_unlock(&kf->lock);
	return ret;
}

static int krping_run_text(struct krping_file *kf, const char __user *ubuf,
			   size_t len)
{
	size_t used = len;
	char *text;
	int ret;

	if (len > KRPING_COMMAND_MAX) {
		pr_err_ratelimited("a command is longer than %d bytes\n",
				   KRPING_COMMAND_MAX);
		return -EINVAL;
	}
	text = memdup_user_nul(ubuf, len);
	if (IS_ERR(text))
		return PTR_ERR(text);
	/*
	 * Reject a text with a NUL, which would hide the text behind it. NULs
	 * at the end are allowed.
	 */
	while (used && !text[used - 1])
		used--;
	if (memchr(text, '\0', used)) {
		pr_err_ratelimited("a command contains a NUL byte\n");
		ret = -EINVAL;
	} else {
		ret = krping_run_commands(kf, text, len);
	}
	kfree(text);
	return ret;
}

static struct krping_file *krping_file(struct file *file)
{
	struct seq_file *m = file->private_data;

	return m->private;
}

static ssize_t krping_proc_write(struct file *file, const char __user *ubuf,
				 size_t len, loff_t *pos)
{
	int ret;

	/*
	 * With this reference, rmmod fails while a command runs. Without it,
	 * rmmod would wait uninterruptibly, possibly without end.
	 */
	if (!try_module_get(THIS_MODULE))
		return -ENODEV;
	ret = krping_run_text(krping_file(file), ubuf, len);
	module_put(THIS_MODULE);
	/*
	 * The next read() must start at offset 0. After an error, the caller
	 * ignores *pos, so also set the position in @file.
	 */
	*pos = vfs_setpos(file, 0, 0);
	return ret ?: len;
}

/*
 * Show the result of the last write(), or the statistics of all runs if this
 * file has no result of its own.
 */
static int krping_proc_show(struct seq_file *m, void *unused)
{
	struct krping_file *kf = m->private;
	bool shown;

	mutex_lock(&kf->lock);
	shown = kf->run || kf->list;
	if (kf->run)
		krping_report_line(m, kf->run);
	else if (kf->list)
		krping_runs_show(m, krping_report_line);
	mutex_unlock(&kf->lock);
	if (!shown)
		krping_runs_show(m, krping_report_counts);
	return 0;
}

static int krping_proc_open(struct inode *inode, struct file *file)
{
	struct krping_file *kf;
	int ret;

	if (file->f_mode & FMODE_WRITE && !capable(CAP_NET_ADMIN))
		return -EPERM;
	/*
	 * A write() lasts as long as the test. With FMODE_ATOMIC_POS, a task
	 * that shares the descriptor would wait unkillably for the file
	 * position.
	 */
	file->f_mode &= ~FMODE_ATOMIC_POS;
	kf = kzalloc(sizeof(*kf), GFP_KERNEL);
	if (!kf)
		return -ENOMEM;
	mutex_init(&kf->lock);
	INIT_LIST_HEAD(&kf->waits);
	ret = single_open(file, krping_proc_show, kf);
	if (ret)
		kfree(kf);
	return ret;
}

static int krping_proc_release(struct inode *inode, struct file *file)
{
	struct krping_file *kf = krping_file(file);
	struct krping_wait *wait, *next;

	list_for_each_entry_safe(wait, next, &kf->waits, link)
		krping_wait_abandon(wait);
	krping_run_put(kf->run);
	mutex_destroy(&kf->lock);
	kfree(kf);
	return single_release(inode, file);
}

static const struct proc_ops krping_proc_ops = {
	.proc_open = krping_proc_open,
	.proc_read = seq_read,
	.proc_write = krping_proc_write,
	.proc_lseek = seq_lseek,
	.proc_release = krping_proc_release,
};

static void krping_destroy_queues(void)
{
	/*
	 * Destroy this queue first, because its work items wait for sessions of
	 * the other queues.
	 */
	destroy_workqueue(krping_run_wq);
	krping_threads_exit();
}

static int __init krping_init(void)
{
	int ret;

	krping_run_wq = alloc_workqueue("krping_run", WQ_UNBOUND,
					KRPING_RUNS_ACTIVE);
	if (!krping_run_wq)
		return -ENOMEM;
	ret = krping_threads_init();
	if (ret) {
		destroy_workqueue(krping_run_wq);
		return ret;
	}
	ret = krping_device_init();
	if (ret)
		goto err_destroy_queues;
	krping_report_init();
	if (proc_create(KBUILD_MODNAME, 0600, NULL, &krping_proc_ops))
		return 0;
	ret = -ENOMEM;
	krping_report_exit();
	krping_device_exit();
err_destroy_queues:
	krping_destroy_queues();
	return ret;
}

static void __exit krping_exit(void)
{
	remove_proc_entry(KBUILD_MODNAME, NULL);
	krping_destroy_queues();
	krping_runs_exit();
	krping_report_exit();
	krping_device_exit();
}

module_init(krping_init);
module_exit(krping_exit);

MODULE_AUTHOR("The krdma developers");
MODULE_DESCRIPTION("RDMA ping/pong self-test");
MODULE_LICENSE("GPL");
MODULE_VERSION(KRDMA_VERSION);
/* The module of upstream krping is named rdma_krping. */
MODULE_ALIAS("rdma_krping");
MODULE_IMPORT_NS(KRDMA_NS);
