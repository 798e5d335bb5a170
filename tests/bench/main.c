// SPDX-License-Identifier: GPL-2.0
/* The /proc file of krdma_bench. */
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/nsproxy.h>
#include <linux/proc_fs.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <krdma.h>

#include "priv.h"

#define KBENCH_LINE_MAX 512
#define KBENCH_WORDS 16
/* Maximum number of work items that run at once: one for each connection. */
#define KBENCH_WORKS 256

struct workqueue_struct *kbench_wq;

/* Held by a running command, because a second one would disturb it. */
static DEFINE_MUTEX(kbench_mutex);

static int kbench_open(struct inode *inode, struct file *file)
{
	char *text = kvzalloc(KBENCH_TEXT_MAX, GFP_KERNEL);

	if (!text)
		return -ENOMEM;
	file->private_data = text;
	return nonseekable_open(inode, file);
}

static int kbench_release(struct inode *inode, struct file *file)
{
	kvfree(file->private_data);
	return 0;
}

static ssize_t kbench_read(struct file *file, char __user *buf, size_t size,
			   loff_t *ppos)
{
	const char *text = file->private_data;
	ssize_t ret;

	if (mutex_lock_killable(&kbench_mutex))
		return -EINTR;
	ret = simple_read_from_buffer(buf, size, ppos, text, strlen(text));
	mutex_unlock(&kbench_mutex);
	return ret;
}

static int kbench_do_serve(struct net *net, char **words, int n)
{
	u16 port;

	if (n != 2 || kstrtou16(words[1], 10, &port) || !port ||
	    port > U16_MAX - KBENCH_PORTS)
		return -EINVAL;
	return kbench_serve(net, port);
}

static int kbench_dispatch(char *text, char **words, int n)
{
	struct kbench_job job = {
		.net = current->nsproxy->net_ns,
		.text = text,
	};

	if (!n)
		return -EINVAL;
	if (!strcmp(words[0], "serve"))
		return kbench_do_serve(job.net, words, n);
	if (!strcmp(words[0], "stop")) {
		kbench_serve_end();
		return 0;
	}
	job.len = scnprintf(text, KBENCH_TEXT_MAX, "kernel 0 hz=%u cpus=%u\n",
			    HZ, num_online_cpus());
	return kbench_measure(&job, words, n);
}

/* Run the command of a line. The line is split into words in place. */
static int kbench_execute(char *text, char *line)
{
	char *words[KBENCH_WORDS], *word;
	int n = 0, ret;

	while ((word = strsep(&line, "\n "))) {
		if (!*word)
			continue;
		if (n == KBENCH_WORDS)
			return -E2BIG;
		words[n++] = word;
	}
	if (mutex_lock_killable(&kbench_mutex))
		return -EINTR;
	*text = '\0';
	ret = kbench_dispatch(text, words, n);
	mutex_unlock(&kbench_mutex);
	return ret;
}

static ssize_t kbench_write(struct file *file, const char __user *buf,
			    size_t size, loff_t *ppos)
{
	char *line;
	int ret;

	if (!size || size > KBENCH_LINE_MAX)
		return -EINVAL;
	line = memdup_user_nul(buf, size);
	if (IS_ERR(line))
		return PTR_ERR(line);
	ret = kbench_execute(file->private_data, line);
	kfree(line);
	/* The next read() must begin at the start of the command's output. */
	*ppos = 0;
	return ret ?: size;
}

static const struct proc_ops kbench_proc_ops = {
	.proc_open = kbench_open,
	.proc_read = kbench_read,
	.proc_write = kbench_write,
	.proc_release = kbench_release,
};

static int __init kbench_init(void)
{
	int ret = kbench_keys_init();

	if (ret)
		return ret;
	kbench_wq = alloc_workqueue(KBUILD_MODNAME, WQ_UNBOUND, KBENCH_WORKS);
	if (!kbench_wq)
		goto err_put_keys;
	if (!proc_create(KBUILD_MODNAME, 0600, NULL, &kbench_proc_ops))
		goto err_destroy_wq;
	return 0;

err_destroy_wq:
	destroy_workqueue(kbench_wq);
err_put_keys:
	kbench_keys_exit();
	return -ENOMEM;
}

static void __exit kbench_exit(void)
{
	/* Removing the file waits until a running command has ended. */
	remove_proc_entry(KBUILD_MODNAME, NULL);
	kbench_serve_end();
	destroy_workqueue(kbench_wq);
	kbench_keys_exit();
}

module_init(kbench_init);
module_exit(kbench_exit);

MODULE_AUTHOR("The krdma developers");
MODULE_DESCRIPTION("Benchmark of krdma against RDMA verbs");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS(KRDMA_NS);
