// SPDX-License-Identifier: GPL-2.0
/*
 * Results of a run: statistics in /proc/krping, one line of key=value for the
 * writer of the command, and JSON, a histogram and samples in debugfs. All
 * except the samples are read under the run's lock. The statistics and the
 * samples include active sessions. The other results include only sessions that
 * have ended.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/printk.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include "priv.h"

static struct dentry *krping_report_dir;

static const char *krping_role_name(const struct krping_run *run)
{
	return run->opts.role == KRPING_ROLE_CLIENT ? "client" : "server";
}

/* ---- statistics ---- */

static void krping_counts_locked(struct krping_run *run,
				 struct krping_count *counts)
{
	struct krping_session *s;
	unsigned long flags;
	int i;

	lockdep_assert_held(&run->lock);
	memcpy(counts, run->counts, sizeof(run->counts));
	list_for_each_entry(s, &run->sessions, link) {
		spin_lock_irqsave(&s->lock, flags);
		for (i = 0; i < KRPING_COUNTERS; i++) {
			counts[i].bytes += s->counts[i].bytes;
			counts[i].msgs += s->counts[i].msgs;
		}
		spin_unlock_irqrestore(&s->lock, flags);
	}
}

/**
 * krping_report_counts - show a line of statistics, in krping's usual format
 * @m: output
 * @run: run; no line is shown if it has ended
 */
void krping_report_counts(struct seq_file *m, struct krping_run *run)
{
	struct krping_count counts[KRPING_COUNTERS];
	int i;

	mutex_lock(&run->lock);
	if (run->over)
		goto out;
	if (!*run->devname) {
		seq_printf(m, "%u listen\n", run->id);
		goto out;
	}
	krping_counts_locked(run, counts);
	seq_printf(m, "%u-%s", run->id, run->devname);
	for (i = 0; i < KRPING_COUNTERS; i++)
		seq_printf(m, " %llu %llu", counts[i].bytes, counts[i].msgs);
	seq_putc(m, '\n');
out:
	mutex_unlock(&run->lock);
}

/* ---- numbers ---- */

static u64 krping_part_bytes(const struct krping_part *part)
{
	return part->ops * part->size;
}

/* Return a rate in kbit/s: bytes * 8 / (ns / 10^9) / 10^3. */
static u64 krping_kbits(u64 bytes, u64 ns)
{
	if (!ns)
		return 0;
	if (bytes < U64_MAX / 8000000)
		return div64_u64(bytes * 8000000, ns);
	return div64_u64(bytes, max(div_u64(ns, 8000000), 1ULL));
}

static u64 krping_per_second(u64 ops, u64 ns)
{
	if (!ns)
		return 0;
	if (ops < U64_MAX / NSEC_PER_SEC)
		return div64_u64(ops * NSEC_PER_SEC, ns);
	return div64_u64(ops, max(div_u64(ns, NSEC_PER_SEC), 1ULL));
}

/* Add up the results of all sizes. */
static void krping_sum_locked(const struct krping_run *run, u64 *ops,
			      u64 *bytes, u64 *elapsed)
{
	unsigned int i;

	lockdep_assert_held(&run->lock);
	*ops = 0;
	*bytes = 0;
	*elapsed = 0;
	for (i = 0; i < run->nparts; i++) {
		*ops += run->parts[i].ops;
		*bytes += krping_part_bytes(&run->parts[i]);
		*elapsed += run->parts[i].elapsed;
	}
}

/*
 * Return the result of the last size that was tested. The files in debugfs show
 * the results of all sizes.
 */
static const struct krping_part *krping_last_locked(const struct krping_run *run)
{
	unsigned int i = run->nparts - 1;

	lockdep_assert_held(&run->lock);
	while (i && !run->parts[i].size)
		i--;
	return &run->parts[i];
}

/* ---- key=value ---- */

/**
 * krping_report_line - show the result of a run as one line, for programs
 * @m: output
 * @run: run
 */
void krping_report_line(struct seq_file *m, struct krping_run *run)
{
	struct krping_count counts[KRPING_COUNTERS];
	const struct krping_hist *hist;
	u64 ops, bytes, elapsed;

	mutex_lock(&run->lock);
	hist = &krping_last_locked(run)->hist;
	krping_counts_locked(run, counts);
	krping_sum_locked(run, &ops, &bytes, &elapsed);
	seq_printf(m, "run=%u state=%s role=%s test=%s error=%d size=%u count=%u",
		   run->id, run->over ? "over" : "running",
		   krping_role_name(run), krping_test_name(run->opts.test),
		   run->error, run->opts.size, run->opts.count);
	seq_printf(m, " clients=%llu failed=%llu ops=%llu bytes=%llu time_ns=%llu kbits=%llu ops_s=%llu",
		   run->clients, run->failed, ops, bytes, elapsed,
		   krping_kbits(bytes, elapsed),
		   krping_per_second(ops, elapsed));
	seq_printf(m, " sent=%llu received=%llu written=%llu read=%llu",
		   counts[KRPING_SEND].msgs, counts[KRPING_RECV].msgs,
		   counts[KRPING_WRITE].msgs, counts[KRPING_READ].msgs);
	if (run->listen.ss_family)
		seq_printf(m, " listen=%pISpc", &run->listen);
	if (hist->n) {
		seq_printf(m, " rtt_min_ns=%llu rtt_avg_ns=%llu rtt_max_ns=%llu",
			   hist->min, krping_hist_mean(hist), hist->max);
		seq_printf(m, " p50_ns=%llu p90_ns=%llu p99_ns=%llu p99_9_ns=%llu p99_99_ns=%llu jitter_ns=%llu",
			   krping_hist_percentile(hist, 5000),
			   krping_hist_percentile(hist, 9000),
			   krping_hist_percentile(hist, 9900),
			   krping_hist_percentile(hist, 9990),
			   krping_hist_percentile(hist, 9999),
			   krping_hist_jitter(hist));
	}
	seq_putc(m, '\n');
	mutex_unlock(&run->lock);
}

/* ---- JSON ---- */

static void krping_json_part(struct seq_file *m, const struct krping_part *part)
{
	const struct krping_hist *hist = &part->hist;
	u64 n, bytes = krping_part_bytes(part);
	const char *comma = "";
	u32 bits;

	seq_printf(m, "    {\"size\": %u, \"ops\": %llu, \"bytes\": %llu, \"time_ns\": %llu, \"kbits\": %llu, \"ops_s\": %llu",
		   part->size, part->ops, bytes, part->elapsed,
		   krping_kbits(bytes, part->elapsed),
		   krping_per_second(part->ops, part->elapsed));
	if (!hist->n)
		goto out;
	seq_printf(m, ", \"min_ns\": %llu, \"mean_ns\": %llu, \"max_ns\": %llu, \"jitter_ns\": %llu",
		   hist->min, krping_hist_mean(hist), hist->max,
		   krping_hist_jitter(hist));
	seq_printf(m, ", \"p50_ns\": %llu, \"p90_ns\": %llu, \"p99_ns\": %llu, \"p99.9_ns\": %llu, \"p99.99_ns\": %llu",
		   krping_hist_percentile(hist, 5000),
		   krping_hist_percentile(hist, 9000),
		   krping_hist_percentile(hist, 9900),
		   krping_hist_percentile(hist, 9990),
		   krping_hist_percentile(hist, 9999));
	seq_puts(m, ", \"log2_ns\": {");
	for (bits = 0; bits < KRPING_HIST_MAX_BITS; bits++) {
		n = krping_hist_log2(hist, bits);
		if (!n)
			continue;
		seq_printf(m, "%s\"%u\": %llu", comma, bits, n);
		comma = ", ";
	}
	seq_puts(m, "}");
out:
	seq_puts(m, "}");
}

static int krping_result_show(struct seq_file *m, void *unused)
{
	static const char * const names[] = { "send", "recv", "write", "read" };
	struct krping_count counts[KRPING_COUNTERS];
	struct krping_run *run = m->private;
	const struct krping_opts *opts = &run->opts;
	const char *comma = "";
	unsigned int i;

	static_assert(ARRAY_SIZE(names) == KRPING_COUNTERS);
	mutex_lock(&run->lock);
	seq_printf(m, "{\n  \"run\": %u, \"state\": \"%s\", \"role\": \"%s\", \"test\": \"%s\", \"error\": %d,\n",
		   run->id, run->over ? "over" : "running",
		   krping_role_name(run), krping_test_name(opts->test),
		   run->error);
	seq_printf(m, "  \"device\": \"%s\", \"size\": %u, \"count\": %u, \"qps\": %u, \"clients\": %llu, \"failed\": %llu,\n",
		   run->devname, opts->size, opts->count, opts->qps,
		   run->clients, run->failed);
	if (run->listen.ss_family)
		seq_printf(m, "  \"listen\": \"%pISpc\",\n", &run->listen);
	if (krping_is_message(opts))
		seq_printf(m, "  \"security\": \"%s\",\n",
			   krping_security_name(opts->security));
	/* The fr test has no times. */
	if (opts->test != KRPING_TEST_FR && opts->test != KRPING_TEST_BW &&
	    opts->test != KRPING_TEST_SBW && opts->test != KRPING_TEST_RBW &&
	    opts->test != KRPING_TEST_MBW)
		seq_puts(m, "  \"times\": \"round trip\",\n");
	krping_counts_locked(run, counts);
	for (i = 0; i < KRPING_COUNTERS; i++)
		seq_printf(m, "  \"%s_bytes\": %llu, \"%s_msgs\": %llu,\n",
			   names[i], counts[i].bytes, names[i],
			   counts[i].msgs);
	seq_puts(m, "  \"sizes\": [\n");
	for (i = 0; i < run->nparts; i++) {
		if (!run->parts[i].size)
			continue;
		seq_puts(m, comma);
		krping_json_part(m, &run->parts[i]);
		comma = ",\n";
	}
	seq_puts(m, "\n  ]\n}\n");
	mutex_unlock(&run->lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(krping_result);

/* ---- histogram ---- */

/*
 * Show the histogram. Columns: size, lower bound in ns (the upper bound is
 * twice this value), number of operations.
 */
static int krping_hist_show(struct seq_file *m, void *unused)
{
	struct krping_run *run = m->private;
	const struct krping_part *part;
	u32 bits;
	u64 n;

	mutex_lock(&run->lock);
	for (part = run->parts; part < run->parts + run->nparts; part++) {
		for (bits = 0; bits < KRPING_HIST_MAX_BITS; bits++) {
			n = krping_hist_log2(&part->hist, bits);
			if (n)
				seq_printf(m, "%u %llu %llu\n", part->size,
					   bits ? 1ULL << bits : 0, n);
		}
	}
	mutex_unlock(&run->lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(krping_hist);

/* ---- samples ---- */

static void *krping_samples_at(const struct krping_run *run, loff_t pos)
{
	if (pos >= run->opts.samples || !READ_ONCE(run->samples[pos]))
		return NULL;
	return &run->samples[pos];
}

static void *krping_samples_start(struct seq_file *m, loff_t *pos)
{
	return krping_samples_at(m->private, *pos);
}

static void *krping_samples_next(struct seq_file *m, void *sample, loff_t *pos)
{
	return krping_samples_at(m->private, ++*pos);
}

static void krping_samples_stop(struct seq_file *m, void *sample)
{
}

/*
 * Show one sample. Columns: size in bytes, time in ns. Samples are in the order
 * in which the operations ended.
 */
static int krping_samples_show(struct seq_file *m, void *sample)
{
	u64 word = READ_ONCE(*(u64 *)sample);

	seq_printf(m, "%u %u\n", upper_32_bits(word), lower_32_bits(word));
	return 0;
}

static const struct seq_operations krping_samples_sops = {
	.start = krping_samples_start,
	.next = krping_samples_next,
	.stop = krping_samples_stop,
	.show = krping_samples_show,
};
DEFINE_SEQ_ATTRIBUTE(krping_samples);

/**
 * krping_report_publish - show a run in debugfs
 * @run: run on the list of runs
 */
void krping_report_publish(struct krping_run *run)
{
	char name[sizeof("4294967295")];

	snprintf(name, sizeof(name), "%u", run->id);
	run->dir = debugfs_create_dir(name, krping_report_dir);
	debugfs_create_file("result", 0400, run->dir, run,
			    &krping_result_fops);
	debugfs_create_file("hist", 0400, run->dir, run, &krping_hist_fops);
	if (run->samples)
		debugfs_create_file("samples", 0400, run->dir, run,
				    &krping_samples_fops);
}

/**
 * krping_report_withdraw - undo krping_report_publish()
 * @run: run to which the caller has a reference
 *
 * This function waits for readers of the files.
 */
void krping_report_withdraw(struct krping_run *run)
{
	debugfs_remove(run->dir);
}

/* ---- limits ---- */

static int krping_judge(const struct krping_run *run, const char *option,
			u32 size, u64 is, u64 limit, bool good)
{
	if (!limit || good)
		return 0;
	pr_err("%u: %s=%llu is not met: it is %llu with size %u\n", run->id,
	       option, limit, is, size);
	return -ERANGE;
}

static int krping_judge_part(const struct krping_run *run,
			     const struct krping_part *part)
{
	const struct krping_opts *opts = &run->opts;
	u64 mbits = div_u64(krping_kbits(krping_part_bytes(part),
					 part->elapsed), 1000);
	u64 mean = krping_hist_mean(&part->hist);
	u64 p99 = krping_hist_percentile(&part->hist, 9900);
	int ret;

	ret = krping_judge(run, "min_bw", part->size, mbits, opts->min_bw,
			   mbits >= opts->min_bw);
	if (!part->hist.n) {
		if (!opts->max_lat_us && !opts->max_p99_us)
			return ret;
		pr_err("%u: max_lat, max_p99: no times were measured\n",
		       run->id);
		return -ERANGE;
	}
	ret = krping_judge(run, "max_lat", part->size, mean / 1000,
			   opts->max_lat_us,
			   mean <= opts->max_lat_us * 1000ULL) ?: ret;
	return krping_judge(run, "max_p99", part->size, p99 / 1000,
			    opts->max_p99_us,
			    p99 <= opts->max_p99_us * 1000ULL) ?: ret;
}

/**
 * krping_report_judge - check min_bw, max_lat and max_p99 of a run's command
 * @run: run without an error; @run->lock is held
 *
 * Return: 0, or -ERANGE after a line in the log for each limit that is not met.
 */
int krping_report_judge(struct krping_run *run)
{
	unsigned int i;
	int ret = 0;

	lockdep_assert_held(&run->lock);
	if (run->opts.role != KRPING_ROLE_CLIENT)
		return 0;
	for (i = 0; i < run->nparts; i++)
		ret = krping_judge_part(run, &run->parts[i]) ?: ret;
	return ret;
}

/**
 * krping_report_init - create the directory in debugfs
 */
void krping_report_init(void)
{
	krping_report_dir = debugfs_create_dir(KBUILD_MODNAME, NULL);
}

/**
 * krping_report_exit - undo krping_report_init()
 */
void krping_report_exit(void)
{
	debugfs_remove(krping_report_dir);
}
