// SPDX-License-Identifier: GPL-2.0
/*
 * krdma_sample - an example of a consumer of krdma, to copy
 *
 * Two module parameters choose one of four roles:
 *
 *	server=1 rw=0	accepts one connection and echoes its messages
 *	server=0 rw=0	sends messages to this server and compares the echoes
 *	server=1 rw=1	exports a buffer to one peer and checks the written data
 *	server=0 rw=1	writes to this buffer, reads it back, and compares
 *
 * Start a server on one host and then, on another:
 *
 *	insmod krdma_sample.ko server=0 rw=0 host=10.56.0.1 rounds=1000
 *	cat /sys/module/krdma_sample/parameters/result
 *
 * The result is "running", "ok" or a negative errno. It is also logged. rmmod
 * works at any time.
 *
 * The module shows that:
 *  - krdma's functions sleep, so a task must call them: this module starts a
 *    kernel thread. A work item or a system call can call them as well.
 *  - kthread_stop() ends every wait inside krdma with -EINTR, so nothing else
 *    is needed to stop a thread.
 *  - krdma_release_cb() frees a connection in any state.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <krdma_simple.h>

/*
 * krdma's default for the maximum length of a message, and for the size of
 * exported buffers.
 */
#define KRDMA_SAMPLE_SIZE_MAX (4096 * 1024)
/* Maximum time that a client waits for an answer. */
#define KRDMA_SAMPLE_TIMEOUT_MS 10000

/* Value of krdma_sample_result until the thread ends; not an errno. */
#define KRDMA_SAMPLE_RUNNING 1

static bool server = true;
module_param(server, bool, 0444);
MODULE_PARM_DESC(server, "1: listen on host and port (default), 0: connect to them");

static bool rw;
module_param(rw, bool, 0444);
MODULE_PARM_DESC(rw, "0: messages (default), 1: one-sided reads and writes");

static char *host = "";
module_param(host, charp, 0444);
MODULE_PARM_DESC(host, "IPv4 or IPv6 address; server: default 0.0.0.0, all IPv4 addresses");

static char *port = "22223";
module_param(port, charp, 0444);
MODULE_PARM_DESC(port, "port number (default 22223)");

static unsigned int rounds = 100;
module_param(rounds, uint, 0444);
MODULE_PARM_DESC(rounds, "client: number of rounds (default 100), 0: until rmmod");

static unsigned int size = 64;
module_param(size, uint, 0444);
MODULE_PARM_DESC(size, "client: bytes of a message or write (default 64, at most 4194304)");

/* Result of the thread. The thread writes it once, and sysfs reads it. */
static int krdma_sample_result = KRDMA_SAMPLE_RUNNING;

static struct task_struct *krdma_sample_task;

/**
 * struct krdma_sample - state of the thread; no other task uses it, so no locks
 * @cb: connection, or NULL before it is created
 * @out: KRDMA_SAMPLE_SIZE_MAX bytes to send or write
 * @in: KRDMA_SAMPLE_SIZE_MAX bytes to receive or read into
 * @rounds: number of completed rounds
 * @len: number of bytes in the last round
 */
struct krdma_sample {
	struct krdma_cb *cb;
	char *out;
	char *in;
	u32 rounds;
	u32 len;
};

/*
 * Fill a buffer with data that differ in each round, and that reveal bytes or
 * pages in the wrong order.
 */
static void krdma_sample_fill(char *buf, u32 len, u32 round)
{
	u32 i;

	for (i = 0; i < len; i++)
		buf[i] = round + i + (i >> 8) + (i >> 16);
}

/* ---- messages ---- */

static int krdma_sample_ping(struct krdma_sample *s)
{
	int ret;

	krdma_sample_fill(s->out, size, s->rounds);
	/* krdma_send() returns the length, or a negative errno. */
	ret = krdma_send(s->cb, s->out, size);
	if (ret < 0)
		return ret;
	/* The last two arguments are the size of the buffer and the timeout. */
	ret = krdma_receive_len(s->cb, s->in, size, KRDMA_SAMPLE_TIMEOUT_MS);
	if (ret < 0)
		return ret;
	if (ret != size || memcmp(s->in, s->out, size))
		return -EBADMSG;
	s->len = size;
	s->rounds++;
	return 0;
}

static int krdma_sample_echo(struct krdma_sample *s)
{
	int ret;

	/* A server waits without limit: the timeout is 0. */
	ret = krdma_receive_len(s->cb, s->in, KRDMA_SAMPLE_SIZE_MAX, 0);
	if (ret < 0)
		return ret;
	s->len = ret;
	s->rounds++;
	ret = krdma_send(s->cb, s->in, s->len);
	return ret < 0 ? ret : 0;
}

static int krdma_sample_accept(struct krdma_sample *s)
{
	struct krdma_cb *listener;
	int ret;

	ret = krdma_listen(host, port, &listener);
	if (ret)
		return ret;
	ret = krdma_accept(listener, &s->cb);
	/* An accepted connection does not need its listener. */
	krdma_release_cb(listener);
	return ret;
}

/* ---- one-sided reads and writes ---- */

/*
 * Message that follows a WRITE, because a WRITE does not notify the peer. The
 * peer checks the data when it receives the message. krdma keeps this order:
 * when the message arrives, all data of the WRITE are in the buffer.
 */
struct krdma_sample_bell {
	__le32 round;
	__le32 len;
};

static int krdma_sample_send_bell(struct krdma_sample *s, u32 round)
{
	const struct krdma_sample_bell bell = {
		.round = cpu_to_le32(round),
		.len = cpu_to_le32(s->len),
	};
	int ret;

	ret = krdma_send(s->cb, (const char *)&bell, sizeof(bell));
	return ret < 0 ? ret : 0;
}

static int krdma_sample_take_bell(struct krdma_sample *s, u32 timeout_ms)
{
	struct krdma_sample_bell bell;
	int ret;

	ret = krdma_receive_len(s->cb, &bell, sizeof(bell), timeout_ms);
	if (ret < 0)
		return ret;
	/* A peer may be broken or hostile: check everything it sends. */
	if (ret != sizeof(bell) || le32_to_cpu(bell.round) != s->rounds ||
	    le32_to_cpu(bell.len) > KRDMA_SAMPLE_SIZE_MAX)
		return -EPROTO;
	s->len = le32_to_cpu(bell.len);
	return 0;
}

static int krdma_sample_write_and_read(struct krdma_sample *s)
{
	int ret;

	krdma_sample_fill(s->out, size, s->rounds);
	ret = krdma_write(s->cb, s->out, size);
	if (ret)
		return ret;
	ret = krdma_read(s->cb, s->in, size);
	if (ret)
		return ret;
	return memcmp(s->in, s->out, size) ? -EBADMSG : 0;
}

static int krdma_sample_write(struct krdma_sample *s)
{
	int ret;

	ret = krdma_sample_write_and_read(s);
	if (ret)
		return ret;
	s->len = size;
	ret = krdma_sample_send_bell(s, s->rounds);
	if (ret)
		return ret;
	/*
	 * Wait until the peer has checked the data, because the next WRITE
	 * replaces them.
	 */
	ret = krdma_sample_take_bell(s, KRDMA_SAMPLE_TIMEOUT_MS);
	if (!ret)
		s->rounds++;
	return ret;
}

static int krdma_sample_look(struct krdma_sample *s)
{
	u32 round = s->rounds;
	int ret;

	ret = krdma_sample_take_bell(s, 0);
	if (ret)
		return ret;
	/*
	 * Copy the data out of the exported buffer. krdma_export_read() first
	 * does the sync that DMA may need.
	 */
	ret = krdma_export_read(s->cb, s->in, s->len, 0);
	if (ret)
		return ret;
	krdma_sample_fill(s->out, s->len, round);
	if (memcmp(s->in, s->out, s->len))
		return -EBADMSG;
	s->rounds++;
	return krdma_sample_send_bell(s, round);
}

/* ---- the thread ---- */

static int krdma_sample_connect(struct krdma_sample *s)
{
	if (rw && server)
		return krdma_rw_init_server(host, port, &s->cb);
	if (rw)
		return krdma_rw_init_client(host, port, &s->cb);
	if (server)
		return krdma_sample_accept(s);
	return krdma_connect(host, port, &s->cb);
}

static int krdma_sample_round(struct krdma_sample *s)
{
	if (rw)
		return server ? krdma_sample_look(s) : krdma_sample_write(s);
	return server ? krdma_sample_echo(s) : krdma_sample_ping(s);
}

static bool krdma_sample_wants_more(const struct krdma_sample *s)
{
	return server || !rounds || s->rounds < rounds;
}

static int krdma_sample_rounds(struct krdma_sample *s)
{
	int ret = 0;

	while (!ret && krdma_sample_wants_more(s)) {
		/*
		 * Check here as well, because krdma checks
		 * kthread_should_stop() only when it waits.
		 */
		if (kthread_should_stop())
			return -EINTR;
		ret = krdma_sample_round(s);
	}
	/*
	 * -ECONNRESET is the normal end of a server, because a client
	 * disconnects when it has finished. The krdma_send() of the last answer
	 * may also fail with this error: a client that has the answer may
	 * disconnect before its adapter acknowledges the answer.
	 */
	return server && ret == -ECONNRESET ? 0 : ret;
}

static int krdma_sample_run(struct krdma_sample *s)
{
	int ret;

	s->out = kvmalloc(KRDMA_SAMPLE_SIZE_MAX, GFP_KERNEL);
	s->in = kvmalloc(KRDMA_SAMPLE_SIZE_MAX, GFP_KERNEL);
	ret = s->out && s->in ? krdma_sample_connect(s) : -ENOMEM;
	if (!ret) {
		ret = krdma_sample_rounds(s);
		/*
		 * Disconnect, wait until nothing is in flight, and free the
		 * connection.
		 */
		krdma_release_cb(s->cb);
	}
	kvfree(s->out);
	kvfree(s->in);
	return ret;
}

static int krdma_sample_thread(void *unused)
{
	const char *role = server ? "server" : "client";
	struct krdma_sample s = {};
	int ret = krdma_sample_run(&s);

	if (ret)
		pr_info("%s: %u rounds of %u bytes, then %pe\n", role, s.rounds,
			s.len, ERR_PTR(ret));
	else
		pr_info("%s: %u rounds of %u bytes, ok\n", role, s.rounds,
			s.len);
	WRITE_ONCE(krdma_sample_result, ret);
	return ret;
}

/* ---- module ---- */

static int krdma_sample_result_get(char *buffer,
				   const struct kernel_param *param)
{
	int ret = READ_ONCE(krdma_sample_result);

	if (ret == KRDMA_SAMPLE_RUNNING)
		return sysfs_emit(buffer, "running\n");
	if (!ret)
		return sysfs_emit(buffer, "ok\n");
	return sysfs_emit(buffer, "%d\n", ret);
}

/*
 * Refuse to set the result. Its file in sysfs is read-only, but insmod accepts
 * a value for every parameter.
 */
static int krdma_sample_result_set(const char *value,
				   const struct kernel_param *param)
{
	return -EPERM;
}

static const struct kernel_param_ops krdma_sample_result_ops = {
	.set = krdma_sample_result_set,
	.get = krdma_sample_result_get,
};

module_param_cb(result, &krdma_sample_result_ops, NULL, 0444);
MODULE_PARM_DESC(result, "read-only: running, ok, or a negative errno");

static int krdma_sample_check_params(void)
{
	if (!server && !*host) {
		pr_err("a client needs host=\n");
		return -EINVAL;
	}
	if (!size || size > KRDMA_SAMPLE_SIZE_MAX) {
		pr_err("size=%u is outside 1 to %u\n", size,
		       KRDMA_SAMPLE_SIZE_MAX);
		return -EINVAL;
	}
	return 0;
}

static int __init krdma_sample_init(void)
{
	int ret;

	ret = krdma_sample_check_params();
	if (ret)
		return ret;
	krdma_sample_task = kthread_create(krdma_sample_thread, NULL,
					   KBUILD_MODNAME);
	if (IS_ERR(krdma_sample_task))
		return PTR_ERR(krdma_sample_task);
	/*
	 * The thread exits when its role has ended. This reference keeps its
	 * task_struct valid until krdma_sample_exit() calls kthread_stop().
	 */
	get_task_struct(krdma_sample_task);
	wake_up_process(krdma_sample_task);
	return 0;
}

static void __exit krdma_sample_exit(void)
{
	/*
	 * Wait until the thread has exited, and no longer runs code of the
	 * module.
	 */
	kthread_stop(krdma_sample_task);
	put_task_struct(krdma_sample_task);
}

module_init(krdma_sample_init);
module_exit(krdma_sample_exit);

MODULE_AUTHOR("The krdma developers");
MODULE_DESCRIPTION("Example of a krdma consumer");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS(KRDMA_NS);
