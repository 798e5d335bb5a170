// SPDX-License-Identifier: GPL-2.0
/*
 * krping_blk - disks that send the requests of programs to a server by RDMA
 *
 * /proc/krping_blk takes commands, and lists the disks and servers. write()
 * returns when the disk or server exists, or when it is removed.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/capability.h>
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include <version.h>

#include "blk.h"

/* Maximum length of a command. */
#define KRPING_BLK_COMMAND_MAX 1024

/* Maximum number of disks and servers. */
#define KRPING_BLK_ENTRIES_MAX 256

/**
 * struct krping_blk_entry - disk or server
 * @link: in krping_blk_entries
 * @id: number, from 1
 * @busy: the entry is being created or removed
 * @name: name of the disk, or ""
 * @opts: command
 * @disk: the disk, or NULL
 * @server: the server, or NULL
 */
struct krping_blk_entry {
	struct list_head link;
	u32 id;
	bool busy;
	char name[KRPING_BLK_NAME_MAX];
	struct krping_blk_opts opts;
	struct krping_blk_disk *disk;
	struct krping_blk_server *server;
};

struct workqueue_struct *krping_blk_wq;
struct workqueue_struct *krping_blk_server_wq;
struct dentry *krping_blk_debugfs;

static LIST_HEAD(krping_blk_entries);
static DEFINE_MUTEX(krping_blk_mutex); /* protects krping_blk_entries */
/* Number of the last entry; protected by krping_blk_mutex. */
static u32 krping_blk_last_id;

/* ---- list ---- */

static bool krping_blk_name_is_used(const char *name)
{
	struct krping_blk_entry *entry;

	lockdep_assert_held(&krping_blk_mutex);
	list_for_each_entry(entry, &krping_blk_entries, link) {
		if (!strcmp(entry->name, name))
			return true;
	}
	return false;
}

/* Choose the name of a disk. */
static int krping_blk_entry_set_name(struct krping_blk_entry *entry)
{
	unsigned int number = 0;

	if (*entry->opts.name) {
		strscpy(entry->name, entry->opts.name, sizeof(entry->name));
		return krping_blk_name_is_used(entry->name) ? -EEXIST : 0;
	}
	do {
		snprintf(entry->name, sizeof(entry->name), "krpblk%u", number++);
	} while (krping_blk_name_is_used(entry->name));
	return 0;
}

static int krping_blk_entry_add(struct krping_blk_entry *entry)
{
	int ret = 0;

	mutex_lock(&krping_blk_mutex);
	if (list_count_nodes(&krping_blk_entries) >= KRPING_BLK_ENTRIES_MAX)
		ret = -EMFILE;
	if (!ret && entry->opts.role == KRPING_BLK_CLIENT)
		ret = krping_blk_entry_set_name(entry);
	if (!ret) {
		entry->id = ++krping_blk_last_id;
		entry->busy = true;
		list_add_tail(&entry->link, &krping_blk_entries);
	}
	mutex_unlock(&krping_blk_mutex);
	return ret;
}

static void krping_blk_entry_free(struct krping_blk_entry *entry)
{
	mutex_lock(&krping_blk_mutex);
	list_del(&entry->link);
	mutex_unlock(&krping_blk_mutex);
	kfree(entry);
}

static void krping_blk_entry_ready(struct krping_blk_entry *entry)
{
	mutex_lock(&krping_blk_mutex);
	entry->busy = false;
	mutex_unlock(&krping_blk_mutex);
}

/* ---- commands ---- */

static int krping_blk_start(const struct krping_blk_opts *opts)
{
	struct krping_blk_entry *entry = kzalloc(sizeof(*entry), GFP_KERNEL);
	int ret;

	if (!entry)
		return -ENOMEM;
	entry->opts = *opts;
	ret = krping_blk_entry_add(entry);
	if (ret) {
		kfree(entry);
		return ret;
	}
	if (opts->role == KRPING_BLK_CLIENT)
		ret = krping_blk_disk_create(&entry->opts, entry->name,
					     &entry->disk);
	else
		ret = krping_blk_server_create(&entry->opts, entry->id,
					       &entry->server);
	if (ret)
		krping_blk_entry_free(entry);
	else
		krping_blk_entry_ready(entry);
	return ret;
}

/*
 * Find an entry to remove, and mark it as busy. @id 0: the first entry that is
 * not busy.
 */
static int krping_blk_entry_find(u32 id, bool force,
				 struct krping_blk_entry **found)
{
	struct krping_blk_entry *entry;
	int ret = -ENOENT;

	mutex_lock(&krping_blk_mutex);
	list_for_each_entry(entry, &krping_blk_entries, link) {
		if (id ? entry->id != id : entry->busy)
			continue;
		ret = 0;
		if (entry->busy ||
		    (entry->disk && !force &&
		     krping_blk_disk_is_open(entry->disk)))
			ret = -EBUSY;
		else
			entry->busy = true;
		*found = entry;
		break;
	}
	mutex_unlock(&krping_blk_mutex);
	return ret;
}

static void krping_blk_entry_remove(struct krping_blk_entry *entry, bool force)
{
	if (entry->disk)
		krping_blk_disk_destroy(entry->disk, force);
	else
		krping_blk_server_destroy(entry->server);
	krping_blk_entry_free(entry);
}

static int krping_blk_stop(u32 id, bool force)
{
	struct krping_blk_entry *entry;
	int ret;

	do {
		ret = krping_blk_entry_find(id, force, &entry);
		if (!ret)
			krping_blk_entry_remove(entry, force);
	} while (!ret && !id);
	return ret == -ENOENT && !id ? 0 : ret;
}

static int krping_blk_command(char *text)
{
	struct krping_blk_opts *opts = kmalloc(sizeof(*opts), GFP_KERNEL);
	int ret;

	if (!opts)
		return -ENOMEM;
	ret = krping_blk_opts_parse(text, opts);
	if (!ret && opts->role == KRPING_BLK_STOP)
		ret = krping_blk_stop(opts->stop, opts->force);
	else if (!ret)
		ret = krping_blk_start(opts);
	kfree(opts);
	return ret;
}

/* ---- /proc file ---- */

static ssize_t krping_blk_proc_write(struct file *file,
				     const char __user *ubuf, size_t len,
				     loff_t *pos)
{
	char *text;
	int ret;

	if (len > KRPING_BLK_COMMAND_MAX)
		return -EINVAL;
	/* With this reference, rmmod fails while a command runs. */
	if (!try_module_get(THIS_MODULE))
		return -ENODEV;
	text = memdup_user_nul(ubuf, len);
	if (IS_ERR(text)) {
		ret = PTR_ERR(text);
	} else {
		ret = strlen(text) == len ? krping_blk_command(text) : -EINVAL;
		kfree(text);
	}
	module_put(THIS_MODULE);
	return ret ?: len;
}

static int krping_blk_proc_show(struct seq_file *m, void *unused)
{
	struct krping_blk_entry *entry;

	mutex_lock(&krping_blk_mutex);
	list_for_each_entry(entry, &krping_blk_entries, link) {
		seq_printf(m, "%u ", entry->id);
		if (entry->busy)
			seq_printf(m, "busy %s\n", entry->name);
		else if (entry->disk)
			krping_blk_disk_show(m, entry->disk);
		else
			krping_blk_server_show(m, entry->server);
	}
	mutex_unlock(&krping_blk_mutex);
	return 0;
}

static int krping_blk_proc_open(struct inode *inode, struct file *file)
{
	/* A command may open any block device. */
	if (file->f_mode & FMODE_WRITE && !capable(CAP_SYS_ADMIN))
		return -EPERM;
	/*
	 * A command waits. With FMODE_ATOMIC_POS, a task that shares the
	 * descriptor would wait unkillably for the file position.
	 */
	file->f_mode &= ~FMODE_ATOMIC_POS;
	return single_open(file, krping_blk_proc_show, NULL);
}

static const struct proc_ops krping_blk_proc_ops = {
	.proc_open = krping_blk_proc_open,
	.proc_read = seq_read,
	.proc_write = krping_blk_proc_write,
	.proc_lseek = seq_lseek,
	.proc_release = single_release,
};

static int krping_blk_create_queues(void)
{
	krping_blk_wq = alloc_workqueue("krping_blk",
					WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!krping_blk_wq)
		return -ENOMEM;
	krping_blk_server_wq = alloc_workqueue("krping_blk_server",
					       WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (krping_blk_server_wq)
		return 0;
	destroy_workqueue(krping_blk_wq);
	return -ENOMEM;
}

static void krping_blk_destroy_queues(void)
{
	destroy_workqueue(krping_blk_server_wq);
	destroy_workqueue(krping_blk_wq);
}

static int __init krping_blk_init(void)
{
	int ret = krping_blk_create_queues();

	if (ret)
		return ret;
	krping_blk_debugfs = debugfs_create_dir(KBUILD_MODNAME, NULL);
	if (proc_create(KBUILD_MODNAME, 0600, NULL, &krping_blk_proc_ops))
		return 0;
	debugfs_remove(krping_blk_debugfs);
	krping_blk_destroy_queues();
	return -ENOMEM;
}

static void __exit krping_blk_exit(void)
{
	remove_proc_entry(KBUILD_MODNAME, NULL);
	/* No disk is open, because an open disk has a reference to the module. */
	krping_blk_stop(0, true);
	debugfs_remove(krping_blk_debugfs);
	krping_blk_destroy_queues();
}

module_init(krping_blk_init);
module_exit(krping_blk_exit);

MODULE_AUTHOR("The krdma developers");
MODULE_DESCRIPTION("Block writes over RDMA");
MODULE_LICENSE("GPL");
MODULE_VERSION(KRDMA_VERSION);
MODULE_IMPORT_NS(KRDMA_NS);
