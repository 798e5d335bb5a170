// SPDX-License-Identifier: GPL-2.0
/* The /proc file of krdma_hostile, and its commands. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/nsproxy.h>
#include <linux/proc_fs.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "priv.h"

#define HOSTILE_LINE_MAX 4096
#define HOSTILE_WORDS 32

/*
 * Remote key that a scenario writes to this parameter. Steps of step.c use this
 * key if their KEY is "told".
 */
unsigned int hostile_told;
module_param_named(told, hostile_told, uint, 0600);

static DEFINE_MUTEX(hostile_mutex); /* one command at a time */

/*
 * Words of a command line, what follows "/" in the fourth word, and the text that
 * the output of the command contains behind its result.
 */
struct hostile_command {
	int n;
	char *proof;
	char *words[HOSTILE_WORDS];
	char text[HOSTILE_TEXT_LEN];
};

static const char *hostile_word(const struct hostile_command *cmd, int i)
{
	return i < cmd->n ? cmd->words[i] : "";
}

static struct krdma_params hostile_params(struct hostile_session *s)
{
	return (struct krdma_params){
		.size = sizeof(struct krdma_params),
		.flags = KRDMA_RAW,
		.net = current->nsproxy->net_ns,
		.context = s,
		.ops = &hostile_ops,
		.send_depth = HOSTILE_SENDS,
		.recv_depth = HOSTILE_RECVS,
		.connect_timeout_ms = 60000,
	};
}

static int hostile_steps_run(struct hostile_session *s,
			     struct hostile_command *cmd)
{
	int i, ret = 0;

	for (i = 4; i < cmd->n && !ret; i++)
		ret = hostile_step(s, cmd->words[i]);
	return ret;
}

static int hostile_dial(struct hostile_session *s, struct sockaddr *dst,
			const u8 *hello, u8 len)
{
	struct krdma_params p = hostile_params(s);
	struct krdma_cb *cb;

	p.private_data = hello;
	p.private_data_len = len;
	cb = krdma_create(&p);
	if (IS_ERR(cb))
		return PTR_ERR(cb);
	s->cb = cb;
	memcpy(s->hello, hello, len);
	s->begun = ktime_get();
	s->connect = krdma_connect_cb(cb, dst);
	return s->connect;
}

/* attack HOST PORT HELLO STEP...: connect, do the steps, and disconnect */
static int hostile_attack(struct hostile_command *cmd, const u8 *hello, u8 len)
{
	struct hostile_session *s = hostile_session_alloc();
	struct sockaddr_storage dst;
	int ret;

	if (!s)
		return -ENOMEM;
	ret = krdma_parse_addr(current->nsproxy->net_ns, hostile_word(cmd, 1),
			       hostile_word(cmd, 2), &dst);
	ret = ret ?: hostile_dial(s, (struct sockaddr *)&dst, hello, len);
	ret = ret ?: hostile_steps_run(s, cmd);
	hostile_say(s, cmd->text);
	hostile_session_free(s);
	return ret;
}

static int hostile_answer(struct hostile_session *s,
			  struct hostile_command *cmd, const u8 *hello, u8 len)
{
	u8 rep[KRDMA_RAW_REPLY_DATA_MAX];
	int ret;

	if (!strcmp(hostile_word(cmd, 3), "mute"))
		return 0;
	memcpy(rep, hello, len);
	ret = hostile_prove(s, cmd->proof, rep, &len);
	if (ret)
		return ret;
	s->begun = ktime_get();
	s->connect = krdma_accept_request(s->cb, rep, len);
	return s->connect;
}

/*
 * serve PORT MS HELLO[/PROOF] STEP...: accept a client, do the steps, and
 * disconnect. Stop listening before the client gets the answer: later attempts of
 * the client are for the next command.
 */
static int hostile_serve(struct hostile_command *cmd, const u8 *hello, u8 len)
{
	struct hostile_session *s = hostile_session_alloc();
	struct krdma_params p = hostile_params(s);
	struct krdma_cb *listen_cb;
	struct sockaddr_storage src;
	u32 ms;
	int ret;

	if (!s)
		return -ENOMEM;
	ret = kstrtou32(hostile_word(cmd, 2), 0, &ms) ?:
	      krdma_parse_addr(p.net, "0.0.0.0", hostile_word(cmd, 1), &src) ?:
	      krdma_listen_params((struct sockaddr *)&src, &p, &listen_cb);
	if (ret)
		goto free;
	ret = krdma_wait_request(listen_cb, ms, &s->cb);
	krdma_release_cb(listen_cb);
	ret = ret ?: hostile_answer(s, cmd, hello, len);
	ret = ret ?: hostile_steps_run(s, cmd);
	hostile_say(s, cmd->text);
free:
	hostile_session_free(s);
	return ret;
}

/*
 * flood HOST PORT HELLO N MS: send N connect requests, and no RTU if the victim
 * accepts them
 */
static int hostile_flood_cmd(struct hostile_command *cmd, const u8 *hello,
			     u8 len)
{
	struct net *net = current->nsproxy->net_ns;
	struct sockaddr_storage dst;
	u32 n, ms;
	int ret;

	ret = krdma_parse_addr(net, hostile_word(cmd, 1), hostile_word(cmd, 2),
			       &dst) ?:
	      kstrtou32(hostile_word(cmd, 4), 0, &n) ?:
	      kstrtou32(hostile_word(cmd, 5), 0, &ms);
	return ret ?: hostile_flood(net, (struct sockaddr *)&dst, hello, len, n,
				    ms, cmd->text);
}

static const struct {
	const char *name;
	int (*run)(struct hostile_command *cmd, const u8 *hello, u8 len);
} hostile_commands[] = {
	{ "attack", hostile_attack },
	{ "flood", hostile_flood_cmd },
	{ "serve", hostile_serve },
};

/* Run a command. The fourth word of each command is a HELLO, or HELLO/PROOF. */
static int hostile_run(struct hostile_command *cmd)
{
	const char *hex;
	u8 *hello;
	ssize_t len;
	int i, ret = -EINVAL;

	cmd->proof = cmd->n > 3 ? cmd->words[3] : NULL;
	hex = strsep(&cmd->proof, "/") ?: "";
	len = hostile_bytes(strcmp(hex, "mute") ? hex : "-", &hello);
	if (len < 0)
		return len;
	for (i = 0; i < ARRAY_SIZE(hostile_commands); i++)
		if (!strcmp(hostile_word(cmd, 0), hostile_commands[i].name))
			break;
	if (i < ARRAY_SIZE(hostile_commands) &&
	    len <= KRDMA_RAW_REPLY_DATA_MAX)
		ret = hostile_commands[i].run(cmd, hello, len);
	kfree(hello);
	return ret;
}

/* Split @line into words, and run them as a command. */
static int hostile_line(struct hostile_command *cmd, char *line)
{
	char *word;
	int ret;

	while ((word = strsep(&line, "\n "))) {
		if (!*word)
			continue;
		if (cmd->n == HOSTILE_WORDS)
			return -E2BIG;
		cmd->words[cmd->n++] = word;
	}
	if (mutex_lock_killable(&hostile_mutex))
		return -EINTR;
	ret = hostile_run(cmd);
	mutex_unlock(&hostile_mutex);
	return ret;
}

/*
 * Run the command @line, and store its result in the file's private_data, which
 * is NULL before the first command.
 */
static int hostile_execute(struct file *file, char *line)
{
	struct hostile_command *cmd = kzalloc(sizeof(*cmd), GFP_KERNEL);
	ktime_t start = ktime_get();
	int ret;

	if (!cmd)
		return -ENOMEM;
	ret = hostile_line(cmd, line);
	kfree(file->private_data);
	file->private_data = kasprintf(GFP_KERNEL, "%d %lld %s\n", ret,
				       ktime_ms_delta(ktime_get(), start),
				       cmd->text);
	kfree(cmd);
	return ret;
}

static ssize_t hostile_write(struct file *file, const char __user *buf,
			     size_t size, loff_t *ppos)
{
	char *line;
	int ret;

	if (!size || size > HOSTILE_LINE_MAX)
		return -EINVAL;
	line = memdup_user_nul(buf, size);
	if (IS_ERR(line))
		return PTR_ERR(line);
	ret = hostile_execute(file, line);
	kfree(line);
	*ppos = 0;
	return ret < 0 ? ret : size;
}

static ssize_t hostile_read(struct file *file, char __user *buf, size_t size,
			    loff_t *ppos)
{
	const char *text = file->private_data ?: "";

	return simple_read_from_buffer(buf, size, ppos, text, strlen(text));
}

static int hostile_release(struct inode *inode, struct file *file)
{
	kfree(file->private_data);
	return 0;
}

static const struct proc_ops hostile_proc_ops = {
	.proc_read = hostile_read,
	.proc_write = hostile_write,
	.proc_release = hostile_release,
	.proc_lseek = noop_llseek,
};

static int __init hostile_init(void)
{
	if (!proc_create("krdma_hostile", 0600, NULL, &hostile_proc_ops))
		return -ENOMEM;
	return 0;
}

static void __exit hostile_exit(void)
{
	/* This call waits until a running command has ended. */
	remove_proc_entry("krdma_hostile", NULL);
}

module_init(hostile_init);
module_exit(hostile_exit);

MODULE_AUTHOR("The krdma developers");
MODULE_DESCRIPTION("A peer of krdma that breaks the protocol");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS(KRDMA_NS);
