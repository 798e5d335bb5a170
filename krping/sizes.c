// SPDX-License-Identifier: GPL-2.0
/*
 * Run a test with each of its sizes, and end each size after a number of
 * operations or a duration.
 */
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/minmax.h>

#include "priv.h"

/**
 * krping_sizes_count - return the number of sizes of a command
 * @from: first size; 0 if @size is the only one
 * @size: last size
 *
 * Return: number of sizes.
 */
unsigned int krping_sizes_count(u32 from, u32 size)
{
	unsigned int n = 1;

	for (; from && from < size; from = min(2 * from, size))
		n++;
	return n;
}

/**
 * krping_more - check whether the current size needs another operation
 * @s: session
 *
 * Return: true if the duration or the number of operations is not reached.
 */
bool krping_more(const struct krping_session *s)
{
	return krping_is_timed(s) ? time_before(jiffies, s->progress.until) :
				    s->progress.ops < s->progress.goal;
}

/**
 * krping_is_timed - check whether a duration limits the current operations
 * @s: session
 *
 * Return: true if a duration is the limit, false if a number of operations is.
 */
bool krping_is_timed(const struct krping_session *s)
{
	return s->plan.duration_s && !s->progress.warming;
}

/**
 * krping_measured - record the time of an operation
 * @s: session
 * @ns: time in ns
 */
void krping_measured(struct krping_session *s, u64 ns)
{
	if (s->progress.warming)
		return;
	krping_hist_add(&s->progress.part->hist, ns);
	krping_run_sample(s->run, s->progress.len, ns);
}

static int krping_part(struct krping_session *s,
		       int (*test)(struct krping_session *s))
{
	struct krping_progress *progress = &s->progress;
	u64 begin, ops;
	int ret;

	/*
	 * Run the warm-up operations. A server with a duration continues until
	 * the client's end message, so it cannot warm up separately. Its
	 * results then include the warm-up operations.
	 */
	if (s->plan.warmup &&
	    !(s->opts->role == KRPING_ROLE_SERVER && s->plan.duration_s)) {
		progress->warming = true;
		progress->goal = progress->ops + s->plan.warmup;
		ret = test(s);
		progress->warming = false;
		if (ret)
			return ret;
	}
	ops = progress->ops;
	progress->part->size = progress->len;
	progress->goal = ops + s->plan.count;
	/* Without count=, the number of pings has always been unlimited. */
	if (!s->plan.count && s->opts->test == KRPING_TEST_PING)
		progress->goal = U64_MAX;
	progress->until = jiffies + (unsigned long)s->plan.duration_s * HZ;
	begin = ktime_get_ns();
	ret = test(s);
	progress->part->elapsed = ktime_get_ns() - begin;
	progress->part->ops = progress->ops - ops;
	return ret;
}

/**
 * krping_each_size - run a test with each size
 * @s: session
 * @test: function that does operations of s->progress.len bytes while
 *	krping_more() is true, and adds to s->progress.ops and s->progress.part
 *
 * Return: 0 or the error of @test.
 */
int krping_each_size(struct krping_session *s,
		     int (*test)(struct krping_session *s))
{
	int ret;

	s->progress.part = s->progress.parts;
	s->progress.len = s->opts->from ?: s->plan.size;
	ret = krping_part(s, test);
	while (!ret && s->progress.len < s->plan.size) {
		s->progress.part++;
		s->progress.len = min(2 * s->progress.len, s->plan.size);
		ret = krping_part(s, test);
	}
	return ret;
}
