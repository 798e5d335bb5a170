// SPDX-License-Identifier: GPL-2.0
/* Faults that a command injects on one side, to test the other side. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/minmax.h>
#include <linux/printk.h>

#include "priv.h"

/* Stay silent until the peer disconnects. */
static int krping_fault_drop(struct krping_session *s)
{
	pr_info("%u: fault=drop: sends nothing from here on\n", s->id);
	s->step = NULL;
	return krping_pause_until_over(s);
}

/* Disconnect without an end message. */
static int krping_fault_kill(struct krping_session *s)
{
	pr_info("%u: fault=kill: disconnects\n", s->id);
	s->step = NULL;
	krdma_disconnect(s->conn.cb);
	return -ESHUTDOWN;
}

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
