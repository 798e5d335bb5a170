// SPDX-License-Identifier: GPL-2.0
/* What a side does wrong when it is told to, so that the other can be tested. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/minmax.h>
#include <linux/printk.h>

#include "priv.h"

/* Silent, until the peer has had enough. */
static int krping_fault_drop(struct krping_session *s)
{
	pr_info("%u: fault=drop: says nothing from here on\n", s->id);
	s->step = NULL;
	return krping_pause_until_over(s);
}

/* Gone, without a word. */
static int krping_fault_kill(struct krping_session *s)
{
	pr_info("%u: fault=kill: gone\n", s->id);
	s->step = NULL;
	krdma_disconnect(s->cb);
	return -ESHUTDOWN;
}

/**
 * krping_fault - do wrong, if it is time for that
 * @s: session before its next operation
 *
 * Return: 0: go on; or why the session ends.
 */
int krping_fault(struct krping_session *s)
{
	/* Those in flight are not among the operations that were done. */
	u64 ops = max(s->ops, s->stream_posted + s->stream.posted);

	switch (s->opts->fault) {
	case KRPING_FAULT_DROP:
		return ops >= s->opts->fault_n ? krping_fault_drop(s) : 0;
	case KRPING_FAULT_DELAY:
		return krping_pause(s, s->opts->fault_n);
	case KRPING_FAULT_KILL:
		return ops >= s->opts->fault_n ? krping_fault_kill(s) : 0;
	default:
		return 0;
	}
}
