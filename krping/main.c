// SPDX-License-Identifier: GPL-2.0
/*
 * krping - ping a peer with RDMA READs and WRITEs, from inside the kernel
 *
 * /proc/krping takes commands and shows the statistics of those that run. Who
 * writes a command runs it: write() returns when it is over, with what became
 * of it.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/capability.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "priv.h"

/* Longest text that one write() may bring. */
#define KRPING_COMMAND_MAX 4096

static LIST_HEAD(krping_sessions);
static unsigned int krping_last_id;
static DEFINE_MUTEX(krping_sessions_lock); /* both above */

static void krping_session_add(struct krping_session *s)
{
	mutex_lock(&krping_sessions_lock);
	s->id = ++krping_last_id;
	list_add_tail(&s->link, &krping_sessions);
	mutex_unlock(&krping_sessions_lock);
}

static void krping_session_del(struct krping_session *s)
{
	mutex_lock(&krping_sessions_lock);
	list_del(&s->link);
	mutex_unlock(&krping_sessions_lock);
}

static int krping_command(char *command)
{
	struct krping_session *s = krping_session_alloc();
	int ret;

	if (!s)
		return -ENOMEM;
	ret = krping_opts_parse(command, &s->opts);
	if (!ret) {
		krping_session_add(s);
		ret = krping_session_run(s);
		krping_session_del(s);
	}
	krping_session_free(s);
	return ret;
}

/* One after the other, up to the first that fails. */
static int krping_commands(char *text)
{
	char *command = krping_opts_next_command(&text);
	int ret = 0;

	if (!command) {
		pr_err("no command\n");
		return -EINVAL;
	}
	while (command && !ret) {
		ret = krping_command(command);
		command = krping_opts_next_command(&text);
	}
	return ret;
}

/* A text from user space may end in NULs. Those inside would hide the rest. */
static int krping_check_text(const char *text, size_t len)
{
	while (len && !text[len - 1])
		len--;
	if (!memchr(text, '\0', len))
		return 0;
	pr_err("a command has a zero byte inside\n");
	return -EINVAL;
}

static int krping_run_text(const char __user *ubuf, size_t len)
{
	char *text;
	int ret;

	if (len > KRPING_COMMAND_MAX) {
		pr_err("a command is longer than %d bytes\n",
		       KRPING_COMMAND_MAX);
		return -EINVAL;
	}
	text = memdup_user_nul(ubuf, len);
	if (IS_ERR(text))
		return PTR_ERR(text);
	ret = krping_check_text(text, len) ?: krping_commands(text);
	kfree(text);
	return ret;
}

static ssize_t krping_proc_write(struct file *file, const char __user *ubuf,
				 size_t len, loff_t *pos)
{
	int ret;

	/*
	 * Without this rmmod would not fail but wait, in a way that cannot be
	 * interrupted, for a command that may be meant to run for ever.
	 */
	if (!try_module_get(THIS_MODULE))
		return -ENODEV;
	ret = krping_run_text(ubuf, len);
	module_put(THIS_MODULE);
	return ret ?: len;
}

static void krping_show_counts(struct seq_file *m, struct krping_session *s)
{
	struct krping_count counts[KRPING_COUNTERS];
	char devname[IB_DEVICE_NAME_MAX];
	unsigned long flags;
	int i;

	spin_lock_irqsave(&s->lock, flags);
	memcpy(counts, s->counts, sizeof(counts));
	strscpy(devname, s->devname, sizeof(devname));
	spin_unlock_irqrestore(&s->lock, flags);

	if (!*devname) {
		seq_printf(m, "%u listen\n", s->id);
		return;
	}
	seq_printf(m, "%u-%s", s->id, devname);
	for (i = 0; i < KRPING_COUNTERS; i++)
		seq_printf(m, " %llu %llu", counts[i].bytes, counts[i].msgs);
	seq_putc(m, '\n');
}

static int krping_proc_show(struct seq_file *m, void *unused)
{
	struct krping_session *s;

	mutex_lock(&krping_sessions_lock);
	list_for_each_entry(s, &krping_sessions, link)
		krping_show_counts(m, s);
	mutex_unlock(&krping_sessions_lock);
	return 0;
}

static int krping_proc_open(struct inode *inode, struct file *file)
{
	if (file->f_mode & FMODE_WRITE && !capable(CAP_NET_ADMIN))
		return -EPERM;
	/*
	 * A write() lasts as long as the test. With this flag, whoever shares
	 * the descriptor would wait for it unkillably, for the file's position.
	 */
	file->f_mode &= ~FMODE_ATOMIC_POS;
	return single_open(file, krping_proc_show, NULL);
}

static const struct proc_ops krping_proc_ops = {
	.proc_open = krping_proc_open,
	.proc_read = seq_read,
	.proc_write = krping_proc_write,
	.proc_lseek = seq_lseek,
	.proc_release = single_release,
};

static int __init krping_init(void)
{
	if (!proc_create(KBUILD_MODNAME, 0600, NULL, &krping_proc_ops))
		return -ENOMEM;
	return 0;
}

static void __exit krping_exit(void)
{
	remove_proc_entry(KBUILD_MODNAME, NULL);
}

module_init(krping_init);
module_exit(krping_exit);

MODULE_AUTHOR("The krdma developers");
MODULE_DESCRIPTION("RDMA ping/pong self-test");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS(KRDMA_NS);
