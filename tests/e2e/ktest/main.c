// SPDX-License-Identifier: GPL-2.0
/* The /proc file of krdma_test, and slots: names for connections. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/fs.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/proc_fs.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <net/net_namespace.h>

#include "priv.h"

#define KTEST_LINE_MAX 512
#define KTEST_LIST_MAX 16384

static LIST_HEAD(ktest_slots);
static DEFINE_MUTEX(ktest_mutex);

static const char * const ktest_roles[] = { "client", "listener", "accepted" };

/**
 * struct ktest_file - an open /proc/krdma_test
 * @text: text for read(); if it is NULL, the first read() creates the list of
 *	slots
 * @pos: number of bytes of @text that were read
 */
struct ktest_file {
	char *text;
	size_t pos;
};

static void ktest_slot_free(struct kref *ref)
{
	struct ktest_slot *slot = container_of(ref, struct ktest_slot, ref);

	WARN_ON_ONCE(slot->cb || slot->raw.mr);
	kfree(slot);
}

void ktest_slot_put(struct ktest_slot *slot)
{
	kref_put(&slot->ref, ktest_slot_free);
}

static struct ktest_slot *ktest_slot_find_locked(const struct ktest_ctx *ctx,
						 const char *name)
{
	struct ktest_slot *slot;

	lockdep_assert_held(&ktest_mutex);
	list_for_each_entry(slot, &ktest_slots, link)
		if (slot->net == ctx->net && !strcmp(slot->name, name))
			return slot;
	return NULL;
}

/*
 * Return the slot with this name, or an error pointer if no slot has this name.
 * The caller puts the reference to the slot.
 */
struct ktest_slot *ktest_slot_find(const struct ktest_ctx *ctx,
				   const char *name)
{
	struct ktest_slot *slot;

	mutex_lock(&ktest_mutex);
	slot = ktest_slot_find_locked(ctx, name);
	if (slot)
		kref_get(&slot->ref);
	mutex_unlock(&ktest_mutex);
	return slot ?: ERR_PTR(-ENOENT);
}

static struct ktest_slot *ktest_slot_alloc(const struct ktest_ctx *ctx,
					   const char *name)
{
	struct ktest_slot *slot = kzalloc(sizeof(*slot), GFP_KERNEL);

	if (!slot)
		return NULL;
	kref_init(&slot->ref);
	slot->net = ctx->net;
	spin_lock_init(&slot->lock);
	init_completion(&slot->raw.sent);
	mutex_init(&slot->raw.lock);
	strscpy(slot->name, name, sizeof(slot->name));
	list_add_tail(&slot->link, &ktest_slots);
	return slot;
}

/*
 * Return the slot with this name, which is created if there is none. The caller
 * puts the reference to the slot.
 */
struct ktest_slot *ktest_slot_make(const struct ktest_ctx *ctx,
				   const char *name)
{
	struct ktest_slot *slot;

	if (!*name || strlen(name) >= KTEST_NAME_LEN)
		return ERR_PTR(-EINVAL);
	mutex_lock(&ktest_mutex);
	slot = ktest_slot_find_locked(ctx, name) ?: ktest_slot_alloc(ctx, name);
	if (slot)
		kref_get(&slot->ref);
	mutex_unlock(&ktest_mutex);
	return slot ?: ERR_PTR(-ENOMEM);
}

/*
 * Remove the slot from the list. Running commands may still use it, because
 * they hold references.
 */
void ktest_slot_forget(struct ktest_slot *slot)
{
	bool listed;

	mutex_lock(&ktest_mutex);
	listed = !list_empty(&slot->link);
	list_del_init(&slot->link);
	mutex_unlock(&ktest_mutex);
	if (listed)
		ktest_slot_put(slot);
}

/*
 * Put @cb into the slot. Return -EEXIST if the slot already has a connection or
 * listener. @cb holds a reference to the slot, until the task that releases @cb
 * puts this reference.
 */
int ktest_slot_set(struct ktest_slot *slot, struct krdma_cb *cb)
{
	unsigned long flags;
	int ret = 0;

	spin_lock_irqsave(&slot->lock, flags);
	if (slot->cb) {
		ret = -EEXIST;
	} else {
		slot->cb = cb;
		kref_get(&slot->ref);
	}
	spin_unlock_irqrestore(&slot->lock, flags);
	return ret;
}

/*
 * Return the connection or listener of the slot, or NULL if the slot is empty.
 * The caller puts the reference to the object.
 */
struct krdma_cb *ktest_slot_get_cb(struct ktest_slot *slot)
{
	struct krdma_cb *cb;
	unsigned long flags;

	spin_lock_irqsave(&slot->lock, flags);
	cb = slot->cb;
	if (cb)
		krdma_get(cb);
	spin_unlock_irqrestore(&slot->lock, flags);
	return cb;
}

/*
 * Remove the connection or listener from the slot, and return it, or NULL if
 * the slot is empty. Only one of several callers gets the object, and releases
 * it.
 */
struct krdma_cb *ktest_slot_take_cb(struct ktest_slot *slot)
{
	struct krdma_cb *cb;
	unsigned long flags;

	spin_lock_irqsave(&slot->lock, flags);
	cb = slot->cb;
	slot->cb = NULL;
	spin_unlock_irqrestore(&slot->lock, flags);
	return cb;
}

int ktest_slot_release(struct ktest_slot *slot)
{
	struct krdma_cb *cb = ktest_slot_take_cb(slot);

	if (!cb)
		return -ENOTCONN;
	if (slot->is_raw)
		ktest_raw_end(slot, cb);
	krdma_release_cb(cb);
	ktest_slot_put(slot);
	return 0;
}

static int ktest_show_slot(char *buf, size_t size, struct ktest_slot *slot)
{
	struct krdma_cb *cb = ktest_slot_get_cb(slot);
	int len;

	if (!cb)
		return scnprintf(buf, size, "%s - - ret=%d closing=%d\n",
				 slot->name, slot->ret, slot->closing);
	len = scnprintf(buf, size, "%s %s %s ret=%d closing=%d error=%d\n",
			slot->name, ktest_roles[cb->role],
			krdma_state_name(krdma_get_state(cb)), slot->ret,
			slot->closing, krdma_last_error(cb));
	krdma_put(cb);
	return len;
}

static char *ktest_list(void)
{
	char *text = kmalloc(KTEST_LIST_MAX, GFP_KERNEL);
	struct ktest_slot *slot;
	int len = 0;

	if (!text)
		return NULL;
	*text = '\0';
	mutex_lock(&ktest_mutex);
	list_for_each_entry(slot, &ktest_slots, link)
		if (slot->net == current->nsproxy->net_ns)
			len += ktest_show_slot(text + len, KTEST_LIST_MAX - len,
					       slot);
	mutex_unlock(&ktest_mutex);
	return text;
}

static int ktest_open(struct inode *inode, struct file *file)
{
	struct ktest_file *kfile = kzalloc(sizeof(*kfile), GFP_KERNEL);

	if (!kfile)
		return -ENOMEM;
	file->private_data = kfile;
	return stream_open(inode, file);
}

static int ktest_release(struct inode *inode, struct file *file)
{
	struct ktest_file *kfile = file->private_data;

	kfree(kfile->text);
	kfree(kfile);
	return 0;
}

static ssize_t ktest_read(struct file *file, char __user *buf, size_t size,
			  loff_t *ppos)
{
	struct ktest_file *kfile = file->private_data;
	size_t len;

	if (!kfile->text)
		kfile->text = ktest_list();
	if (!kfile->text)
		return -ENOMEM;
	len = min(size, strlen(kfile->text + kfile->pos));
	if (copy_to_user(buf, kfile->text + kfile->pos, len))
		return -EFAULT;
	kfile->pos += len;
	return len;
}

static int ktest_execute(struct ktest_file *kfile, char *line)
{
	struct ktest_ctx ctx = { .net = current->nsproxy->net_ns };
	ktime_t start = ktime_get();
	int ret = ktest_run(&ctx, line);

	kfree(kfile->text);
	kfile->pos = 0;
	if (ctx.help)
		kfile->text = ktest_help_text("0 0 ");
	else
		kfile->text = kasprintf(GFP_KERNEL, "%d %lld %s\n", ret,
					ktime_ms_delta(ktime_get(), start),
					ctx.text);
	return ret;
}

static ssize_t ktest_write(struct file *file, const char __user *buf,
			   size_t size, loff_t *ppos)
{
	char *line;
	int ret;

	if (!size || size > KTEST_LINE_MAX)
		return -EINVAL;
	line = memdup_user_nul(buf, size);
	if (IS_ERR(line))
		return PTR_ERR(line);
	ret = ktest_execute(file->private_data, line);
	kfree(line);
	return ret < 0 ? ret : size;
}

static const struct proc_ops ktest_proc_ops = {
	.proc_open = ktest_open,
	.proc_read = ktest_read,
	.proc_write = ktest_write,
	.proc_release = ktest_release,
};

static int __init ktest_init(void)
{
	if (!proc_create("krdma_test", 0600, NULL, &ktest_proc_ops))
		return -ENOMEM;
	return 0;
}

static void __exit ktest_exit(void)
{
	struct ktest_slot *slot, *next;

	/* This call waits until running commands have ended. */
	remove_proc_entry("krdma_test", NULL);
	ktest_jobs_stop();
	ktest_late_end();
	ktest_spy_end();
	ktest_hold_end();
	ktest_reconnect_end();
	ktest_regions_end();
	ktest_server_end();
	ktest_tell_end();
	ktest_rxcb_give_back(0);
	ktest_domains_end();
	ktest_keys_end();
	list_for_each_entry_safe(slot, next, &ktest_slots, link) {
		ktest_slot_release(slot);
		ktest_slot_forget(slot);
	}
}

module_init(ktest_init);
module_exit(ktest_exit);

MODULE_AUTHOR("The krdma developers");
MODULE_DESCRIPTION("krdma's calls for shell scripts");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS(KRDMA_NS);
