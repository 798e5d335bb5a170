// SPDX-License-Identifier: GPL-2.0
/*
 * How long a test goes on: for a number of operations or for some time, with one
 * size or with several.
 */
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/minmax.h>

#include "priv.h"

/**
 * krping_sizes_count - how many sizes there are
 * @from: the first one, 0: there is one
 * @size: the last one
 *
 * Return: the number.
 */
unsigned int krping_sizes_count(u32 from, u32 size)
{
	unsigned int n = 1;

	for (; from && from < size; from = min(2 * from, size))
		n++;
	return n;
}

/**
 * krping_more - is there another operation of this size to do?
 * @s: session
 *
 * Return: true if so.
 */
bool krping_more(const struct krping_session *s)
{
	return krping_is_timed(s) ? time_before(jiffies, s->until) :
				    s->ops < s->goal;
}

/**
 * krping_is_timed - check whether operations end after a time, not a number
 * @s: session
 *
 * Return: true if so.
 */
bool krping_is_timed(const struct krping_session *s)
{
	return s->duration_s && !s->warming;
}

/**
 * krping_measured - note how long an operation took
 * @s: session
 * @ns: time
 */
void krping_measured(struct krping_session *s, u64 ns)
{
	if (s->warming)
		return;
	krping_hist_add(&s->part->hist, ns);
	krping_run_sample(s->run, s->len, ns);
}

/*
 * A server whose client ends by time cannot tell the first operations from the
 * others; its own figures then include them.
 */
static int krping_warm_up(struct krping_session *s,
			  int (*test)(struct krping_session *s))
{
	int ret;

	if (!s->warmup || (s->opts->role == KRPING_ROLE_SERVER && s->duration_s))
		return 0;
	s->warming = true;
	s->goal = s->ops + s->warmup;
	ret = test(s);
	s->warming = false;
	return ret;
}

static void krping_part_begin(struct krping_session *s)
{
	s->part->size = s->len;
	s->goal = s->ops + s->count;
	/* A ping without a count has always gone on for ever. */
	if (!s->count && s->opts->test == KRPING_TEST_PING)
		s->goal = U64_MAX;
	s->until = jiffies + (unsigned long)s->duration_s * HZ;
}

static int krping_part(struct krping_session *s,
		       int (*test)(struct krping_session *s))
{
	u64 begin, ops;
	int ret;

	ret = krping_warm_up(s, test);
	if (ret)
		return ret;
	ops = s->ops;
	krping_part_begin(s);
	begin = ktime_get_ns();
	ret = test(s);
	s->part->elapsed = ktime_get_ns() - begin;
	s->part->ops = s->ops - ops;
	return ret;
}

/**
 * krping_each_size - test with one size after the other
 * @s: session
 * @test: operations of s->len bytes, as long as krping_more() says so; adds to
 *	s->ops and s->part
 *
 * Return: 0 or what @test said.
 */
int krping_each_size(struct krping_session *s,
		     int (*test)(struct krping_session *s))
{
	int ret;

	s->part = s->parts;
	s->len = s->opts->from ?: s->size;
	ret = krping_part(s, test);
	while (!ret && s->len < s->size) {
		s->part++;
		s->len = min(2 * s->len, s->size);
		ret = krping_part(s, test);
	}
	return ret;
}
