// SPDX-License-Identifier: GPL-2.0
/*
 * krping - ping a peer with RDMA READs and WRITEs, from inside the kernel
 *
 * /proc/krping takes commands and shows the statistics of those that run. Who
 * writes a command runs it: write() returns when it is over, with what became
 * of it. Who then reads from the same descriptor gets the result of the run.
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

#include "priv.h"

/* Longest text that one write() may bring. */
#define KRPING_COMMAND_MAX 4096

/* One line, see krping_session_result(). */
#define KRPING_RESULT_MAX 256

/**
 * struct krping_file - an open /proc/krping
 * @lock: protects @result
 * @result: of the last command that the last write() ran, "": none
 */
struct krping_file {
	struct mutex lock; /* result */
	char result[KRPING_RESULT_MAX];
};

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

static void krping_clear_result(struct krping_file *kf)
{
	mutex_lock(&kf->lock);
	*kf->result = '\0';
	mutex_unlock(&kf->lock);
}

static void krping_set_result(struct krping_file *kf,
			      const struct krping_session *s, int error)
{
	mutex_lock(&kf->lock);
	krping_session_result(s, error, kf->result, sizeof(kf->result));
	mutex_unlock(&kf->lock);
}

static int krping_command(struct krping_file *kf, char *command)
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
		krping_set_result(kf, s, ret);
	}
	krping_session_free(s);
	return ret;
}

/* One after the other, up to the first that fails. */
static int krping_commands(struct krping_file *kf, char *text)
{
	char *command = krping_opts_next_command(&text);
	int ret = 0;

	if (!command) {
		pr_err("no command\n");
		return -EINVAL;
	}
	while (command && !ret) {
		ret = krping_command(kf, command);
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

static int krping_run_text(struct krping_file *kf, const char __user *ubuf,
			   size_t len)
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
	ret = krping_check_text(text, len) ?: krping_commands(kf, text);
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
	 * Without this rmmod would not fail but wait, in a way that cannot be
	 * interrupted, for a command that may be meant to run for ever.
	 */
	if (!try_module_get(THIS_MODULE))
		return -ENODEV;
	krping_clear_result(krping_file(file));
	ret = krping_run_text(krping_file(file), ubuf, len);
	module_put(THIS_MODULE);
	/* The next read() is for the result; *pos counts if we succeed only. */
	*pos = vfs_setpos(file, 0, 0);
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

static bool krping_show_result(struct seq_file *m, struct krping_file *kf)
{
	bool shown;

	mutex_lock(&kf->lock);
	shown = *kf->result;
	seq_puts(m, kf->result);
	mutex_unlock(&kf->lock);
	return shown;
}

static int krping_proc_show(struct seq_file *m, void *unused)
{
	struct krping_session *s;

	if (krping_show_result(m, m->private))
		return 0;
	mutex_lock(&krping_sessions_lock);
	list_for_each_entry(s, &krping_sessions, link)
		krping_show_counts(m, s);
	mutex_unlock(&krping_sessions_lock);
	return 0;
}

static int krping_proc_open(struct inode *inode, struct file *file)
{
	struct krping_file *kf;
	int ret;

	if (file->f_mode & FMODE_WRITE && !capable(CAP_NET_ADMIN))
		return -EPERM;
	/*
	 * A write() lasts as long as the test. With this flag, whoever shares
	 * the descriptor would wait for it unkillably, for the file's position.
	 */
	file->f_mode &= ~FMODE_ATOMIC_POS;
	kf = kzalloc(sizeof(*kf), GFP_KERNEL);
	if (!kf)
		return -ENOMEM;
	mutex_init(&kf->lock);
	ret = single_open(file, krping_proc_show, kf);
	if (ret)
		kfree(kf);
	return ret;
}

static int krping_proc_release(struct inode *inode, struct file *file)
{
	struct krping_file *kf = krping_file(file);

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
MODULE_ALIAS("rdma_krping"); /* what the module was called elsewhere */
MODULE_IMPORT_NS(KRDMA_NS);
