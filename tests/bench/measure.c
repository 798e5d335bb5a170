// SPDX-License-Identifier: GPL-2.0
/*
 * Run the tests, and print the results of their turns.
 *
 * Each turn prints one line "VARIANT ROUND NAME=NUMBER...":
 *	n	number of operations
 *	ns	duration of the turn, in ns
 *	cpu_ns	sum of the busy times of all processors, in ns; 0: unknown
 *	min, p1, ... p50, ... p99, p999, max
 *		time of an operation, in ns, see quantiles.h; only for tests
 *		that measure single operations
 *	middle	mean of the times between p25 and p75, in ns. It is finer than
 *		p50, because the clock of User-mode Linux has steps of 256 ns
 *	close	median time to release a connection of "connect", in ns
 *	bytes	memory that this kernel uses for a connection of "idle"
 */
#include <linux/delay.h>
#include <linux/inet.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>

#include <krdma.h>

#include "cpu.h"
#include "priv.h"
#include "quantiles.h"

#define KBENCH_SAMPLES 65536
#define KBENCH_VARIANTS_MAX 4
#define KBENCH_ROUNDS_MAX 100
#define KBENCH_TURN_MS_MAX 60000
#define KBENCH_IDLE_MAX 256
/* WRITEs in flight of the stream of the test "beside". */
#define KBENCH_BULK_DEPTH 2
/*
 * Pause in ms before the available memory is read, because RCU, work items and
 * the peer free memory with a delay.
 */
#define KBENCH_SETTLE_MS 400
#define KBENCH_SETTLE_TRIES 20
#define KBENCH_SETTLE_PAGES 32

struct kbench_result {
	u64 n;
	u64 ns;
	u64 cpu_ns;
	u64 min;
	u64 quantiles[BENCH_QUANTILES];
	u64 max;
	u64 middle;
	u64 close;
	s64 bytes;
};

/**
 * struct kbench_test - a test
 * @name: name in commands
 * @connected: true if all turns of a variant use the same connection
 * @cold: true if there is no warm-up round
 * @turn: function that runs a turn of a variant; its conn is NULL unless
 *	@connected
 */
struct kbench_test {
	const char *name;
	bool connected;
	bool cold;
	int (*turn)(const struct kbench_job *job,
		    const struct kbench_variant *variant,
		    struct kbench_conn *conn, struct kbench_result *res);
};

static const struct kbench_variant kbench_variants[] = {
	/*
	 * "raw" and "naive" have completion handlers in softirqs, like most
	 * drivers. Only "raw" disables softirqs while it posts WRs.
	 */
	{ "raw", &kbench_raw_calls, IB_POLL_SOFTIRQ, true },
	{ "naive", &kbench_raw_calls, IB_POLL_SOFTIRQ, false },
	/* In the variant "direct", the waiting task polls for completions. */
	{ "direct", &kbench_raw_calls, IB_POLL_DIRECT, false },
	{ "read", &kbench_raw_calls, IB_POLL_SOFTIRQ, true, .read = true },
	/* "summed" also computes the checksums of both sides of krping_blk. */
	{ "summed", &kbench_raw_calls, IB_POLL_SOFTIRQ, true, .sums = 2 },
	{ "krdma", &kbench_ours_calls },
	/* krdma with the level auth, and four multiplications of points. */
	{ "auth", &kbench_ours_calls, .keys = KBENCH_KEYS },
	{ "curve", &kbench_curve_calls },
	/* krdma with the level encrypt. */
	{ "sealed", &kbench_ours_calls, .keys = KBENCH_KEYS, .encrypt = true },
	/* A message of a level, sealed and opened by the library alone. */
	{ "integrity", &kbench_seal_calls },
	{ "encrypt", &kbench_seal_calls, .encrypt = true },
	/* The same among the messages of krdma; only the library's time counts. */
	{ "among", &kbench_among_calls, .encrypt = true },
	/* krdma with another level, and with another key than the listener. */
	{ "level", &kbench_ours_calls, .refused = -EPERM },
	{ "key", &kbench_ours_calls, .keys = KBENCH_OTHER_KEYS,
	  .refused = -EKEYREJECTED },
};

/**
 * kbench_peer - return the address of a listener of "serve"
 * @job: test with the address of the peer
 * @port: listener
 *
 * Return: the address to connect to.
 */
struct sockaddr_storage kbench_peer(const struct kbench_job *job,
				    enum kbench_port port)
{
	struct sockaddr_storage addr = job->dst;
	/* struct sockaddr_in6 has its port at the same offset. */
	struct sockaddr_in *in = (struct sockaddr_in *)&addr;

	in->sin_port = htons(ntohs(in->sin_port) + port);
	return addr;
}

/**
 * kbench_conn_init - initialize the members that all variants share
 * @conn: new connection
 * @calls: operations of its variant
 * @job: its test, or NULL
 */
void kbench_conn_init(struct kbench_conn *conn,
		      const struct kbench_calls *calls,
		      const struct kbench_job *job)
{
	conn->calls = calls;
	conn->job = job;
	spin_lock_init(&conn->stream.lock);
	init_completion(&conn->stream.over);
}

/* ---- times ---- */

static int kbench_compare(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

static void kbench_sort(u64 *samples, u64 n)
{
	sort(samples, n, sizeof(*samples), kbench_compare, NULL);
	cond_resched();
}

/* Return the mean of sorted samples between the quartiles. */
static u64 kbench_middle(const u64 *samples, u64 n)
{
	u64 first = n / 4, end = n - n / 4, sum = 0, i;

	for (i = first; i < end; i++)
		sum += samples[i];
	return div64_u64(sum, end - first);
}

static void kbench_rank(const struct kbench_job *job, struct kbench_result *res)
{
	u32 i;

	kbench_sort(job->samples, res->n);
	res->min = job->samples[0];
	for (i = 0; i < BENCH_QUANTILES; i++)
		res->quantiles[i] = job->samples[res->n *
			bench_quantiles[i].of_1000 / 1000];
	res->max = job->samples[res->n - 1];
	res->middle = kbench_middle(job->samples, res->n);
}

static bool kbench_goes_on(const struct kbench_result *res, unsigned long until)
{
	return res->n < KBENCH_SAMPLES && time_before(jiffies, until);
}

static int kbench_latency(const struct kbench_job *job,
			  struct kbench_conn *conn,
			  int (*call)(struct kbench_conn *conn, u32 size),
			  struct kbench_result *res)
{
	unsigned long until = jiffies + msecs_to_jiffies(job->ms);
	u64 begin = ktime_get_ns(), start, end;
	int ret;

	do {
		start = ktime_get_ns();
		ret = call(conn, job->size);
		end = ktime_get_ns();
		if (ret)
			return ret;
		if (fatal_signal_pending(current))
			return -EINTR;
		job->samples[res->n++] = conn->took_ns ?: end - start;
	} while (kbench_goes_on(res, until));
	res->ns = end - begin;
	kbench_rank(job, res);
	return 0;
}

static int kbench_write(const struct kbench_job *job,
			const struct kbench_variant *variant,
			struct kbench_conn *conn, struct kbench_result *res)
{
	return kbench_latency(job, conn, variant->calls->write, res);
}

/* As kbench_write(), but read the clock after job->depth calls. */
static int kbench_repeat(const struct kbench_job *job,
			 const struct kbench_variant *variant,
			 struct kbench_conn *conn, struct kbench_result *res)
{
	u64 begin = ktime_get_ns(), end = begin + job->ms * NSEC_PER_MSEC;
	int ret = 0;
	u32 i;

	do {
		for (i = 0; i < job->depth && !ret; i++)
			ret = variant->calls->write(conn, job->size);
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
		res->n += job->depth;
		res->ns = ktime_get_ns() - begin;
	} while (!ret && begin + res->ns < end);
	return ret;
}

static int kbench_echo(const struct kbench_job *job,
		       const struct kbench_variant *variant,
		       struct kbench_conn *conn, struct kbench_result *res)
{
	return kbench_latency(job, conn, variant->calls->echo, res);
}

/* ---- streams ---- */

/**
 * kbench_stream_done - count a completed chain of WRITEs, and post it again
 * @conn: connection
 * @slot: number of the chain
 * @status: 0 or errno of the chain
 *
 * The chain is not posted again after the end of the turn or an error.
 *
 * Context: any but hard interrupts.
 */
void kbench_stream_done(struct kbench_conn *conn, u32 slot, int status)
{
	struct kbench_stream *stream = &conn->stream;
	bool again, over;
	unsigned long flags;

	spin_lock_irqsave(&stream->lock, flags);
	stream->chains += !status;
	stream->status = stream->status ?: status;
	again = !stream->status && time_before(jiffies, stream->until);
	over = !again && !--stream->flying;
	spin_unlock_irqrestore(&stream->lock, flags);
	if (over)
		complete(&stream->over);
	if (!again)
		return;
	status = conn->calls->post(conn, slot);
	if (status)
		kbench_stream_done(conn, slot, status);
}

static void kbench_stream_begin(struct kbench_stream *stream,
				const struct kbench_job *job)
{
	unsigned long flags;

	spin_lock_irqsave(&stream->lock, flags);
	stream->flying = job->depth / job->chain;
	stream->chains = 0;
	stream->status = 0;
	stream->until = jiffies + msecs_to_jiffies(job->ms);
	reinit_completion(&stream->over);
	spin_unlock_irqrestore(&stream->lock, flags);
}

/* Post the chains of a stream. Each is posted again until the turn ends. */
static void kbench_stream_start(const struct kbench_job *job,
				struct kbench_conn *conn)
{
	u32 slot;
	int ret;

	kbench_stream_begin(&conn->stream, job);
	for (slot = 0; slot < job->depth / job->chain; slot++) {
		ret = conn->calls->post(conn, slot);
		if (ret)
			kbench_stream_done(conn, slot, ret);
	}
}

/*
 * Wait for the end of a stream. After a timeout, the caller must close the
 * connection, which ends the WRITEs in flight.
 */
static int kbench_stream_wait(const struct kbench_job *job,
			      struct kbench_conn *conn)
{
	struct kbench_stream *stream = &conn->stream;
	long left;

	left = wait_for_completion_killable_timeout(&stream->over,
						    msecs_to_jiffies(job->ms + KBENCH_TIMEOUT_MS));
	if (left <= 0)
		return left ? -EINTR : -ETIMEDOUT;
	return stream->status;
}

static int kbench_stream(const struct kbench_job *job,
			 const struct kbench_variant *variant,
			 struct kbench_conn *conn, struct kbench_result *res)
{
	u64 idle = bench_idle_us(), begin = ktime_get_ns();
	int ret;

	kbench_stream_start(job, conn);
	ret = kbench_stream_wait(job, conn);
	res->ns = ktime_get_ns() - begin;
	res->cpu_ns = bench_busy_ns(res->ns, bench_idle_us() - idle);
	res->n = conn->stream.chains * job->chain;
	return ret;
}

/* ---- connections ---- */

static int kbench_connect(const struct kbench_job *job,
			  const struct kbench_variant *variant,
			  struct kbench_conn *none, struct kbench_result *res)
{
	unsigned long until = jiffies + msecs_to_jiffies(job->ms);
	u64 begin = ktime_get_ns(), start, made, end;
	struct kbench_conn *conn;

	do {
		start = ktime_get_ns();
		conn = variant->calls->connect(job, variant, true);
		made = ktime_get_ns();
		if (IS_ERR(conn))
			return PTR_ERR(conn);
		variant->calls->close(conn);
		end = ktime_get_ns();
		if (fatal_signal_pending(current))
			return -EINTR;
		job->samples[res->n] = made - start;
		job->closes[res->n++] = end - made;
	} while (kbench_goes_on(res, until));
	res->ns = end - begin;
	kbench_sort(job->closes, res->n);
	res->close = job->closes[res->n / 2];
	kbench_rank(job, res);
	return 0;
}

/* Measure connects that the peer refuses because of the level or the key. */
static int kbench_refused(const struct kbench_job *job,
			  const struct kbench_variant *variant,
			  struct kbench_conn *none, struct kbench_result *res)
{
	unsigned long until = jiffies + msecs_to_jiffies(job->ms);
	u64 idle = bench_idle_us(), begin = ktime_get_ns();
	struct kbench_conn *conn;

	do {
		conn = variant->calls->connect(job, variant, true);
		if (!IS_ERR(conn))
			variant->calls->close(conn);
		if (PTR_ERR_OR_ZERO(conn) != variant->refused ||
		    !variant->refused)
			return -EINVAL;
		if (fatal_signal_pending(current))
			return -EINTR;
		res->n++;
	} while (kbench_goes_on(res, until));
	res->ns = ktime_get_ns() - begin;
	res->cpu_ns = bench_busy_ns(res->ns, bench_idle_us() - idle);
	return 0;
}

/* Wait until the available memory is stable, and return its size in pages. */
static int kbench_available(long *pages)
{
	long last;
	int i;

	*pages = 0;
	for (i = 0; i < KBENCH_SETTLE_TRIES; i++) {
		last = *pages;
		if (msleep_interruptible(KBENCH_SETTLE_MS))
			return -EINTR;
		*pages = si_mem_available();
		if (abs(*pages - last) < KBENCH_SETTLE_PAGES)
			return 0;
	}
	return -EBUSY;
}

/* Connect until there are @end connections; @n is the number of connections. */
static int kbench_fill(const struct kbench_job *job,
		       const struct kbench_variant *variant, bool idle,
		       struct kbench_conn **conns, u64 *n, u64 end)
{
	struct kbench_conn *conn;

	for (; *n < end; conns[(*n)++] = conn) {
		conn = variant->calls->connect(job, variant, idle);
		if (IS_ERR(conn))
			return PTR_ERR(conn);
	}
	return 0;
}

/*
 * Measure the memory that idle connections use. Only the second half of the
 * connections is measured. The first half uses up the per-CPU lists of free
 * pages, which do not count as available, and may contain megabytes.
 */
static int kbench_idle(const struct kbench_job *job,
		       const struct kbench_variant *variant,
		       struct kbench_conn *none, struct kbench_result *res)
{
	struct kbench_conn **conns;
	long before, after;
	int ret;

	conns = kcalloc(2 * job->n, sizeof(*conns), GFP_KERNEL);
	if (!conns)
		return -ENOMEM;
	ret = kbench_fill(job, variant, true, conns, &res->n, job->n) ?:
	      kbench_available(&before) ?:
	      kbench_fill(job, variant, true, conns, &res->n, 2 * job->n) ?:
	      kbench_available(&after);
	if (!ret)
		res->bytes = (s64)(before - after) * (s64)PAGE_SIZE / job->n;
	while (res->n)
		variant->calls->close(conns[--res->n]);
	res->n = job->n;
	kfree(conns);
	return ret;
}

/*
 * Measure the time until a connect fails because the peer never answers. The
 * time limit of the connect is job->ms.
 */
static int kbench_stall(const struct kbench_job *job,
			const struct kbench_variant *variant,
			struct kbench_conn *none, struct kbench_result *res)
{
	u64 begin = ktime_get_ns();
	int ret;

	if (variant->calls != &kbench_ours_calls)
		return -EINVAL;
	ret = kbench_ours_stall(job);
	res->ns = ktime_get_ns() - begin;
	res->n = 1;
	job->samples[0] = res->ns;
	kbench_rank(job, res);
	return ret;
}

/* ---- several connections ---- */

static int kbench_crowd_run(const struct kbench_job *job,
			    struct kbench_conn **conns,
			    struct kbench_result *res)
{
	u64 idle = bench_idle_us(), begin = ktime_get_ns();
	int ret = 0;
	u32 i;

	for (i = 0; i < job->n; i++)
		kbench_stream_start(job, conns[i]);
	for (i = 0; i < job->n && !ret; i++) {
		ret = kbench_stream_wait(job, conns[i]);
		res->n += conns[i]->stream.chains * job->chain;
	}
	res->ns = ktime_get_ns() - begin;
	res->cpu_ns = bench_busy_ns(res->ns, bench_idle_us() - idle);
	return ret;
}

/* Measure streams on job->n connections at the same time. */
static int kbench_crowd(const struct kbench_job *job,
			const struct kbench_variant *variant,
			struct kbench_conn *none, struct kbench_result *res)
{
	struct kbench_conn **conns;
	u64 n = 0;
	int ret;

	conns = kcalloc(job->n, sizeof(*conns), GFP_KERNEL);
	if (!conns)
		return -ENOMEM;
	ret = kbench_fill(job, variant, false, conns, &n, job->n) ?:
	      kbench_crowd_run(job, conns, res);
	while (n)
		variant->calls->close(conns[--n]);
	kfree(conns);
	return ret;
}

/* Measure a WRITE while another connection streams large WRITEs. */
static int kbench_beside(const struct kbench_job *job,
			 const struct kbench_variant *variant,
			 struct kbench_conn *conn, struct kbench_result *res)
{
	struct kbench_job bulk = *job;
	struct kbench_conn *other;
	int ret;

	bulk.size = KBENCH_SPAN;
	bulk.depth = KBENCH_BULK_DEPTH;
	bulk.chain = 1;
	other = variant->calls->connect(&bulk, variant, false);
	if (IS_ERR(other))
		return PTR_ERR(other);
	kbench_stream_start(&bulk, other);
	ret = kbench_latency(job, conn, variant->calls->write, res) ?:
	      kbench_stream_wait(&bulk, other);
	variant->calls->close(other);
	return ret;
}

/* Measure the processor time of this kernel while no test runs. */
static int kbench_rest(const struct kbench_job *job,
		       const struct kbench_variant *variant,
		       struct kbench_conn *none, struct kbench_result *res)
{
	u64 idle = bench_idle_us(), begin = ktime_get_ns();

	if (msleep_interruptible(job->ms))
		return -EINTR;
	res->n = 1;
	res->ns = ktime_get_ns() - begin;
	res->cpu_ns = bench_busy_ns(res->ns, bench_idle_us() - idle);
	return 0;
}

static const struct kbench_test kbench_tests[] = {
	{ "beside", .turn = kbench_beside, .connected = true },
	{ "connect", .turn = kbench_connect },
	{ "crowd", .turn = kbench_crowd },
	{ "echo", .turn = kbench_echo, .connected = true },
	{ "idle", .turn = kbench_idle, .cold = true },
	{ "refused", .turn = kbench_refused },
	{ "repeat", .turn = kbench_repeat, .connected = true },
	{ "rest", .turn = kbench_rest, .cold = true },
	{ "stall", .turn = kbench_stall, .cold = true },
	{ "stream", .turn = kbench_stream, .connected = true },
	{ "write", .turn = kbench_write, .connected = true },
};

/* ---- rounds ---- */

struct kbench_run {
	struct kbench_job *job;
	const struct kbench_test *test;
	const struct kbench_variant *variants[KBENCH_VARIANTS_MAX];
	struct kbench_conn *conns[KBENCH_VARIANTS_MAX];
	u32 n;
};

static __printf(2, 3) void kbench_print(struct kbench_job *job,
					const char *format, ...)
{
	va_list args;

	va_start(args, format);
	job->len += vscnprintf(job->text + job->len, KBENCH_TEXT_MAX - job->len,
			       format, args);
	va_end(args);
}

static void kbench_say(struct kbench_job *job,
		       const struct kbench_variant *variant, u32 round,
		       const struct kbench_result *res)
{
	u32 i;

	kbench_print(job, "%s %u n=%llu ns=%llu cpu_ns=%llu close=%llu bytes=%lld",
		     variant->name, round, res->n, res->ns, res->cpu_ns,
		     res->close, res->bytes);
	if (res->max) {
		kbench_print(job, " min=%llu", res->min);
		for (i = 0; i < BENCH_QUANTILES; i++)
			kbench_print(job, " %s=%llu", bench_quantiles[i].name,
				     res->quantiles[i]);
		kbench_print(job, " max=%llu middle=%llu", res->max,
			     res->middle);
	}
	kbench_print(job, "\n");
}

/* Run a round, in which each variant has a turn. Round 0 is the warm-up. */
static int kbench_round(struct kbench_run *run, u32 round)
{
	struct kbench_result res;
	u32 i, at;
	int ret;

	for (i = 0; i < run->n; i++) {
		/* Reverse the order of the variants in every other round. */
		at = round & 1 ? run->n - 1 - i : i;
		memset(&res, 0, sizeof(res));
		ret = run->test->turn(run->job, run->variants[at],
				      run->conns[at], &res);
		if (ret)
			return ret;
		if (fatal_signal_pending(current))
			return -EINTR;
		if (round)
			kbench_say(run->job, run->variants[at], round, &res);
	}
	return 0;
}

static int kbench_run_open(struct kbench_run *run)
{
	struct kbench_conn *conn;
	u32 i;

	for (i = 0; i < run->n && run->test->connected; i++) {
		conn = run->variants[i]->calls->connect(run->job,
							run->variants[i], false);
		if (IS_ERR(conn))
			return PTR_ERR(conn);
		run->conns[i] = conn;
	}
	return 0;
}

static void kbench_run_close(struct kbench_run *run)
{
	u32 i;

	for (i = 0; i < run->n; i++)
		if (run->conns[i])
			run->variants[i]->calls->close(run->conns[i]);
}

static int kbench_run(struct kbench_run *run)
{
	u32 round = run->test->cold ? 1 : 0;
	int ret = kbench_run_open(run);

	for (; round <= run->job->rounds && !ret; round++)
		ret = kbench_round(run, round);
	kbench_run_close(run);
	return ret;
}

/* ---- command lines ---- */

static const struct kbench_number {
	const char *name;
	size_t offset;
	u32 value;
	u32 max;
} kbench_numbers[] = {
	{ "size", offsetof(struct kbench_job, size), 8, KBENCH_SPAN },
	{ "depth", offsetof(struct kbench_job, depth), 64, KBENCH_DEPTH },
	{ "chain", offsetof(struct kbench_job, chain), 1, KBENCH_DEPTH },
	{ "n", offsetof(struct kbench_job, n), 32, KBENCH_IDLE_MAX },
	{ "rounds", offsetof(struct kbench_job, rounds), 5, KBENCH_ROUNDS_MAX },
	{ "ms", offsetof(struct kbench_job, ms), 500, KBENCH_TURN_MS_MAX },
	{ "spin_us", offsetof(struct kbench_job, spin_us), 0, 1000 },
};

static u32 *kbench_number_of(struct kbench_job *job,
			     const struct kbench_number *number)
{
	return (u32 *)((void *)job + number->offset);
}

static int kbench_set_number(struct kbench_job *job, const char *word)
{
	const struct kbench_number *number;
	size_t len;
	u32 value;

	for (number = kbench_numbers;
	     number < kbench_numbers + ARRAY_SIZE(kbench_numbers); number++) {
		len = strlen(number->name);
		if (strncmp(word, number->name, len) || word[len] != '=')
			continue;
		if (kstrtou32(word + len + 1, 0, &value) || !value ||
		    value > number->max)
			return -EINVAL;
		*kbench_number_of(job, number) = value;
		return 0;
	}
	return -EINVAL;
}

static int kbench_set_numbers(struct kbench_job *job, char **words, int n)
{
	int i, ret = 0;

	for (i = 0; i < ARRAY_SIZE(kbench_numbers); i++)
		*kbench_number_of(job, &kbench_numbers[i]) =
			kbench_numbers[i].value;
	for (i = 0; i < n && !ret; i++)
		ret = kbench_set_number(job, words[i]);
	if (!ret && job->depth % job->chain)
		ret = -EINVAL;
	return ret;
}

static const struct kbench_test *kbench_find_test(const char *name)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(kbench_tests); i++)
		if (!strcmp(name, kbench_tests[i].name))
			return &kbench_tests[i];
	return NULL;
}

static const struct kbench_variant *kbench_find_variant(const char *name)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(kbench_variants); i++)
		if (!strcmp(name, kbench_variants[i].name))
			return &kbench_variants[i];
	return NULL;
}

static int kbench_set_variants(struct kbench_run *run, char *names)
{
	char *name;

	while ((name = strsep(&names, ","))) {
		if (run->n == KBENCH_VARIANTS_MAX)
			return -EINVAL;
		run->variants[run->n] = kbench_find_variant(name);
		if (!run->variants[run->n++])
			return -EINVAL;
	}
	return 0;
}

static int kbench_alloc(struct kbench_job *job)
{
	job->buf = kzalloc(job->size, GFP_KERNEL);
	job->samples = kvcalloc(KBENCH_SAMPLES, sizeof(u64), GFP_KERNEL);
	job->closes = kvcalloc(KBENCH_SAMPLES, sizeof(u64), GFP_KERNEL);
	return job->buf && job->samples && job->closes ? 0 : -ENOMEM;
}

static void kbench_free(struct kbench_job *job)
{
	kfree(job->buf);
	kvfree(job->samples);
	kvfree(job->closes);
}

/**
 * kbench_measure - run a test
 * @job: job with its namespace and a buffer for text
 * @words: TEST VARIANTS HOST PORT [NAME=NUMBER]...; changed by parsing
 * @n: number of words
 *
 * Return: 0; -EINVAL: invalid command; -EINTR: killed; or another errno.
 */
int kbench_measure(struct kbench_job *job, char **words, int n)
{
	struct kbench_run run = { .job = job };
	int ret;

	if (n < 4)
		return -EINVAL;
	run.test = kbench_find_test(words[0]);
	if (!run.test)
		return -EINVAL;
	ret = kbench_set_variants(&run, words[1]) ?:
	      krdma_parse_addr(job->net, words[2], words[3], &job->dst) ?:
	      kbench_set_numbers(job, words + 4, n - 4);
	if (!ret && run.test->turn == kbench_echo && job->size > KBENCH_MSG_MAX)
		ret = -EINVAL;
	if (!ret)
		ret = kbench_alloc(job) ?: kbench_run(&run);
	kbench_free(job);
	return ret;
}
