// SPDX-License-Identifier: GPL-2.0
/*
 * ntrdma_bench - measure a bare ring, to which tools/bench compares ntrdma
 *
 * The ring is that of two ntrdma devices of one kernel, with nothing around it:
 * one NAPI context copies chunks from a buffer into the ring, and another one
 * copies them into a second buffer. The contexts start each other as the back
 * end "local" does. There are no keys, QPs or completions.
 *
 * A command is written to the parameter "run", which then has the result.
 *
 *	stream MS RING CHUNK
 *		move messages of 64 KiB through a ring of RING bytes.
 *	memcpy MS
 *		copy a message between two buffers that stay in the cache.
 *	bell MS
 *		send a cache line there and back, while the task sleeps.
 *	line MS
 *		the same, while two tasks poll; it needs two processors.
 */
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/log2.h>
#include <linux/random.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include <linux/sort.h>

#include <compat.h>

#include "cpu.h"

#define BARE_CELL 64
#define BARE_RING_MAX SZ_16M
#define BARE_MESSAGE SZ_64K
/* Memory that messages are copied from and to, as in krdma_bench. */
#define BARE_SPAN SZ_1M
/* Bytes after which a poll lets the other context run, as in ntrdma. */
#define BARE_POLL_BYTES SZ_256K
#define BARE_PAD U32_MAX
#define BARE_SAMPLES 16384
/* Round trips of one sample of "line", because reading the clock takes long. */
#define BARE_LINE_TRIPS 16
#define BARE_MS_MAX 10000

/* Header of a frame; the payload is in the cells after it. */
struct bare_header {
	u32 bytes;
	u8 rest[BARE_CELL - sizeof(u32)];
};

static struct napi_struct bare_send, bare_take;
static struct net_device *bare_netdev;
static u8 *bare_mem, *bare_from, *bare_to;
static u64 *bare_samples; /* ns */
static DECLARE_COMPLETION(bare_done);
static char bare_text[128];

/* State of a command. The words that both sides use have lines of their own. */
static struct bare {
	u32 cells;
	u32 chunk;
	unsigned long until; /* jiffies */
	u64 sent;
	u64 taken;
	bool ended; /* the last frame is sent */
	bool echo; /* "bell" */
	u32 prod ____cacheline_aligned;
	u32 cons ____cacheline_aligned;
	u64 there ____cacheline_aligned;
	u64 back ____cacheline_aligned;
} bare;

/* ---- the ring ---- */

static u8 *bare_cell(u32 index)
{
	return bare_mem + (size_t)(index & (bare.cells - 1)) * BARE_CELL;
}

static void bare_put(u32 index, u32 bytes)
{
	struct bare_header header = { .bytes = bytes };

	memcpy(bare_cell(index), &header, sizeof(header));
}

/* Send a frame; return false if the ring has no room. A frame never wraps. */
static bool bare_send_frame(void)
{
	u32 cells = 1 + bare.chunk / BARE_CELL, prod = bare.prod;
	u32 pad = bare.cells - (prod & (bare.cells - 1));
	/* Pairs with bare_take_frame(). */
	u32 room = bare.cells - (prod - smp_load_acquire(&bare.cons));

	pad = pad < cells ? pad : 0;
	if (room < pad + cells)
		return false;
	if (pad)
		bare_put(prod, BARE_PAD);
	prod += pad;
	memcpy(bare_cell(prod) + BARE_CELL, bare_from + bare.sent % BARE_SPAN,
	       bare.chunk);
	bare_put(prod, bare.chunk);
	bare.sent += bare.chunk;
	smp_store_release(&bare.prod, prod + cells); /* bare_take_some() */
	return true;
}

static void bare_take_frame(void)
{
	struct bare_header header;
	u32 cons = bare.cons;

	memcpy(&header, bare_cell(cons), sizeof(header));
	if (header.bytes == BARE_PAD) {
		cons += bare.cells - (cons & (bare.cells - 1));
	} else {
		memcpy(bare_to + bare.taken % BARE_SPAN,
		       bare_cell(cons) + BARE_CELL, header.bytes);
		bare.taken += header.bytes;
		cons += 1 + header.bytes / BARE_CELL;
	}
	smp_store_release(&bare.cons, cons); /* bare_send_frame() */
}

/* Send frames until the turn ends; return true if there is room for more. */
static bool bare_send_some(void)
{
	u64 end = bare.sent + BARE_POLL_BYTES;

	while (time_before(jiffies, bare.until) || bare.sent % BARE_MESSAGE) {
		if (bare.sent >= end)
			return true;
		if (!bare_send_frame())
			return false;
	}
	WRITE_ONCE(bare.ended, true);
	return false;
}

/* Return true if frames are left. */
static bool bare_take_some(void)
{
	u64 end = bare.taken + BARE_POLL_BYTES;

	/* Pairs with bare_send_frame(). */
	while (bare.cons != smp_load_acquire(&bare.prod)) {
		if (bare.taken >= end)
			return true;
		bare_take_frame();
	}
	return false;
}

static int bare_send_poll(struct napi_struct *napi, int budget)
{
	bool more = false;

	if (bare.echo) {
		if (READ_ONCE(bare.back) == bare.there)
			complete(&bare_done);
	} else if (!bare.ended) {
		more = bare_send_some();
		napi_schedule(&bare_take);
	}
	if (more)
		return budget;
	napi_complete_done(napi, 0);
	return 0;
}

static int bare_take_poll(struct napi_struct *napi, int budget)
{
	bool more = false;

	if (bare.echo)
		WRITE_ONCE(bare.back, READ_ONCE(bare.there));
	else
		more = bare_take_some();
	napi_schedule(&bare_send);
	if (more)
		return budget;
	if (READ_ONCE(bare.ended) && bare.taken == bare.sent)
		complete(&bare_done);
	napi_complete_done(napi, 0);
	return 0;
}

/* Start a context, and wait until the turn or the round trip has ended. */
static int bare_run(struct napi_struct *napi)
{
	long left;

	reinit_completion(&bare_done);
	local_bh_disable();
	napi_schedule(napi);
	local_bh_enable();
	left = wait_for_completion_killable_timeout(&bare_done,
						    2 * msecs_to_jiffies(BARE_MS_MAX));
	return left > 0 ? 0 : left ? -EINTR : -ETIMEDOUT;
}

/* ---- commands ---- */

static int bare_stream(void)
{
	u64 idle = bench_idle_us(), begin = ktime_get_ns(), ns;
	int ret = bare_run(&bare_send);

	ns = ktime_get_ns() - begin;
	scnprintf(bare_text, sizeof(bare_text), "n=%llu ns=%llu cpu_ns=%llu",
		  bare.taken / BARE_MESSAGE, ns,
		  bench_busy_ns(ns, bench_idle_us() - idle));
	if (!ret && memcmp(bare_from, bare_to, min_t(u64, bare.taken, BARE_SPAN)))
		ret = -EIO;
	return ret;
}

static int bare_memcpy(void)
{
	u64 begin = ktime_get_ns(), n = 0;

	while (time_before(jiffies, bare.until)) {
		memcpy(bare_to, bare_from, BARE_MESSAGE);
		barrier_data(bare_to);
		n++;
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	scnprintf(bare_text, sizeof(bare_text), "n=%llu ns=%llu", n,
		  ktime_get_ns() - begin);
	return 0;
}

static int bare_compare(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/* Measure @trip, which makes @trips round trips, until the turn ends. */
static int bare_trips(u32 trips, int (*trip)(void))
{
	u64 begin = ktime_get_ns(), start;
	int ret = 0;
	u32 n = 0;

	while (n < BARE_SAMPLES && !ret && time_before(jiffies, bare.until)) {
		start = ktime_get_ns();
		ret = trip();
		bare_samples[n++] = div_u64(ktime_get_ns() - start, trips);
	}
	if (ret || !n)
		return ret ?: -ETIMEDOUT;
	start = ktime_get_ns() - begin;
	sort(bare_samples, n, sizeof(u64), bare_compare, NULL);
	scnprintf(bare_text, sizeof(bare_text),
		  "n=%u ns=%llu p50=%llu p99=%llu", n * trips, start,
		  bare_samples[n / 2], bare_samples[n * 99ull / 100]);
	return 0;
}

static int bare_ring_bell(void)
{
	WRITE_ONCE(bare.there, bare.there + 1);
	return bare_run(&bare_take);
}

static int bare_bell(void)
{
	bare.echo = true;
	return bare_trips(1, bare_ring_bell);
}

static int bare_answer(void *unused)
{
	while (!kthread_should_stop()) {
		WRITE_ONCE(bare.back, READ_ONCE(bare.there));
		cpu_relax();
		cond_resched();
	}
	return 0;
}

static int bare_poll_line(void)
{
	u64 end = bare.there + BARE_LINE_TRIPS;

	while (bare.there != end) {
		WRITE_ONCE(bare.there, bare.there + 1);
		while (READ_ONCE(bare.back) != bare.there) {
			if (fatal_signal_pending(current))
				return -EINTR;
			cpu_relax();
		}
	}
	cond_resched();
	return 0;
}

static int bare_line(void)
{
	struct task_struct *task;
	unsigned int cpu;
	int ret;

	if (num_online_cpus() < 2) {
		strscpy(bare_text, "skip polling needs two processors",
			sizeof(bare_text));
		return 0;
	}
	task = kthread_create(bare_answer, NULL, "ntrdma_bench");
	if (IS_ERR(task))
		return PTR_ERR(task);
	migrate_disable();
	cpu = cpumask_first(cpu_online_mask);
	if (cpu == smp_processor_id())
		cpu = cpumask_next(cpu, cpu_online_mask);
	kthread_bind(task, cpu);
	wake_up_process(task);
	ret = bare_trips(BARE_LINE_TRIPS, bare_poll_line);
	migrate_enable();
	kthread_stop(task);
	return ret;
}

static const struct {
	const char *name;
	int (*run)(void);
} bare_tests[] = {
	{ "bell", bare_bell },
	{ "line", bare_line },
	{ "memcpy", bare_memcpy },
	{ "stream", bare_stream },
};

/* The lock of parameters keeps other commands out. */
static int bare_set(const char *line, const struct kernel_param *param)
{
	u32 i, ms, bytes = SZ_128K, chunk = SZ_16K;
	char name[8];
	int ret;

	if (sscanf(line, "%7s %u %u %u", name, &ms, &bytes, &chunk) < 2 ||
	    !bare_netdev || !ms || ms > BARE_MS_MAX || !is_power_of_2(bytes) ||
	    bytes > BARE_RING_MAX || !is_power_of_2(chunk) ||
	    chunk < BARE_CELL || chunk > BARE_MESSAGE || chunk > bytes / 4)
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(bare_tests); i++) {
		if (strcmp(bare_tests[i].name, name))
			continue;
		memset(&bare, 0, sizeof(bare));
		bare.cells = bytes / BARE_CELL;
		bare.chunk = chunk;
		bare.until = jiffies + msecs_to_jiffies(ms);
		napi_enable(&bare_send);
		napi_enable(&bare_take);
		ret = bare_tests[i].run();
		/* No context runs after this. */
		napi_disable(&bare_send);
		napi_disable(&bare_take);
		return ret;
	}
	return -EINVAL;
}

static int bare_get(char *text, const struct kernel_param *param)
{
	return sysfs_emit(text, "%s\n", bare_text);
}

static const struct kernel_param_ops bare_ops = {
	.set = bare_set,
	.get = bare_get,
};

module_param_cb(run, &bare_ops, NULL, 0600);
MODULE_PARM_DESC(run, "Command to run; then its result");

static void bare_free(void)
{
	kvfree(bare_samples);
	kvfree(bare_to);
	kvfree(bare_from);
	kvfree(bare_mem);
	krdma_free_dummy(bare_netdev);
}

static int __init bare_init(void)
{
	bare_mem = kvzalloc(BARE_RING_MAX, GFP_KERNEL);
	bare_from = kvmalloc(BARE_SPAN, GFP_KERNEL);
	bare_to = kvzalloc(BARE_SPAN, GFP_KERNEL);
	bare_samples = kvcalloc(BARE_SAMPLES, sizeof(u64), GFP_KERNEL);
	bare_netdev = krdma_alloc_dummy();
	if (!bare_mem || !bare_from || !bare_to || !bare_samples ||
	    !bare_netdev) {
		bare_free();
		return -ENOMEM;
	}
	get_random_bytes(bare_from, BARE_SPAN);
	netif_napi_add(bare_netdev, &bare_send, bare_send_poll);
	netif_napi_add(bare_netdev, &bare_take, bare_take_poll);
	return 0;
}

static void __exit bare_exit(void)
{
	netif_napi_del(&bare_send);
	netif_napi_del(&bare_take);
	bare_free();
}

module_init(bare_init);
module_exit(bare_exit);

MODULE_AUTHOR("The krdma developers");
MODULE_DESCRIPTION("Bare ring to which ntrdma is compared");
MODULE_LICENSE("GPL");
