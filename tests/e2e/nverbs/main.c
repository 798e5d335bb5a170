// SPDX-License-Identifier: GPL-2.0
/* The /proc file of nverbs, and the results of its cases. */
#include <linux/completion.h>
#include <linux/fs.h>
#include <linux/inet.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/prandom.h>
#include <linux/proc_fs.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "priv.h"

#define NV_LINE_MAX	256
#define NV_TEXT_SIZE	SZ_256K

/* Contents of all messages. It is the same on all machines. */
u8 *nv_pattern;

static const struct {
	const char *name;
	void (*run)(struct nv_test *t);
} nv_groups[] = {
	{ "data", nv_data },
	{ "big", nv_big },
	{ "errors", nv_errors },
	{ "states", nv_states },
	{ "srq", nv_srq },
	{ "query", nv_query },
	{ "datagrams", nv_datagrams },
	{ "idle", nv_idle },
};

static DECLARE_COMPLETION(nv_go);

/* Wait for the command "go". */
int nv_wait_go(void)
{
	return wait_for_completion_timeout(&nv_go, 3 * HZ * NV_WAIT_MS /
					   MSEC_PER_SEC) ? 0 : -ETIMEDOUT;
}

/* Set the reason of a failure. Return false. */
bool nv_bad(struct nv_test *t, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vscnprintf(t->why, sizeof(t->why), fmt, args);
	va_end(args);
	return false;
}

/* Add the result of a case. If it fails, nv_bad() has set the reason. */
void nv_case(struct nv_test *t, bool good, const char *fmt, ...)
{
	va_list args;

	t->len += scnprintf(t->text + t->len, t->size - t->len, "%d ", !good);
	va_start(args, fmt);
	t->len += vscnprintf(t->text + t->len, t->size - t->len, fmt, args);
	va_end(args);
	t->len += scnprintf(t->text + t->len, t->size - t->len, "%s%s\n",
			    good ? "" : " | ", good ? "" : t->why);
	t->why[0] = '\0';
}

static int nv_run(struct file *file, const char *host, u16 port,
		  const char *group)
{
	struct nv_test *t = kvzalloc(sizeof(*t), GFP_KERNEL);
	int i, ret = -EINVAL;

	if (!t)
		return -ENOMEM;
	t->side.net = current->nsproxy->net_ns;
	t->dst.sin_family = AF_INET;
	t->dst.sin_port = htons(port);
	t->dst.sin_addr.s_addr = in_aton(host);
	t->text = file->private_data;
	t->size = NV_TEXT_SIZE;
	for (i = 0; i < ARRAY_SIZE(nv_groups); i++)
		if (!strcmp(nv_groups[i].name, group))
			break;
	if (i < ARRAY_SIZE(nv_groups))
		ret = nv_hello(t);
	if (!ret) {
		nv_groups[i].run(t);
		nv_side_end(&t->side);
		nv_peer(t, .op = NV_BYE);
		sock_release(t->sock);
	}
	kvfree(t);
	return ret;
}

static int nv_command(struct file *file, char *line)
{
	char host[32], group[32];
	u16 port;

	if (!strcmp(line, "go\n")) {
		complete(&nv_go);
		return 0;
	}
	if (sscanf(line, "serve %hu", &port) == 1)
		return nv_serve(port);
	if (sscanf(line, "run %31s %hu %31s", host, &port, group) == 3)
		return nv_run(file, host, port, group);
	return -EINVAL;
}

static int nv_file_open(struct inode *inode, struct file *file)
{
	file->private_data = kvzalloc(NV_TEXT_SIZE, GFP_KERNEL);
	return file->private_data ? 0 : -ENOMEM;
}

static ssize_t nv_file_write(struct file *file, const char __user *buf,
			     size_t size, loff_t *ppos)
{
	char *line;
	int ret;

	if (!size || size > NV_LINE_MAX)
		return -EINVAL;
	line = memdup_user_nul(buf, size);
	if (IS_ERR(line))
		return PTR_ERR(line);
	ret = nv_command(file, line);
	kfree(line);
	*ppos = 0;
	return ret < 0 ? ret : size;
}

static ssize_t nv_file_read(struct file *file, char __user *buf, size_t size,
			    loff_t *ppos)
{
	const char *text = file->private_data;

	return simple_read_from_buffer(buf, size, ppos, text, strlen(text));
}

static int nv_file_release(struct inode *inode, struct file *file)
{
	kvfree(file->private_data);
	return 0;
}

static const struct proc_ops nv_proc_ops = {
	.proc_open = nv_file_open,
	.proc_read = nv_file_read,
	.proc_write = nv_file_write,
	.proc_release = nv_file_release,
	.proc_lseek = default_llseek,
};

static int __init nv_init(void)
{
	struct rnd_state rnd;

	nv_pattern = vmalloc(NV_PATTERN);
	if (!nv_pattern)
		return -ENOMEM;
	prandom_seed_state(&rnd, 1);
	prandom_bytes_state(&rnd, nv_pattern, NV_PATTERN);
	if (proc_create("nverbs", 0600, NULL, &nv_proc_ops))
		return 0;
	vfree(nv_pattern);
	return -ENOMEM;
}

static void __exit nv_exit(void)
{
	/* This call waits until running commands have ended. */
	remove_proc_entry("nverbs", NULL);
	vfree(nv_pattern);
}

module_init(nv_init);
module_exit(nv_exit);

MODULE_AUTHOR("The krdma developers");
MODULE_DESCRIPTION("Tests of an RDMA device by an ordinary consumer");
MODULE_LICENSE("GPL");
