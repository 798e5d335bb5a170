// SPDX-License-Identifier: GPL-2.0
/* Faults that a command injects on one side, to test the other side. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/minmax.h>
#include <linux/printk.h>

#include "priv.h"

/**
 * krping_fault - inject the fault of the command, if it is due
 * @s: session before its next operation
 *
 * Return: 0 if the session continues, otherwise the error that ends it.
 */
int krping_fault(struct krping_session *s)
{
	/*
	 * Include the operations in flight, which s->progress.ops does not
	 * count.
	 */
	u64 ops = max(s->progress.ops, s->progress.posted + s->stream.posted);

	if (s->opts->fault == KRPING_FAULT_DELAY)
		return krping_pause(s, s->opts->fault_n);
	if (s->opts->fault == KRPING_FAULT_NONE || ops < s->opts->fault_n)
		return 0;
	s->step = NULL;
	if (s->opts->fault == KRPING_FAULT_DROP) {
		/* Stay silent until the peer disconnects. */
		pr_info("%u: fault=drop: sends nothing from here on\n", s->id);
		return krping_pause_until_over(s);
	}
	/* Disconnect without an end message. */
	pr_info("%u: fault=kill: disconnects\n", s->id);
	krdma_disconnect(s->conn.cb);
	return -ESHUTDOWN;
}
