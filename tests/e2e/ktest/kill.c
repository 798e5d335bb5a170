// SPDX-License-Identifier: GPL-2.0
/*
 * Kill tasks while a connection is in a chosen state, and let allocations fail.
 */
#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/pid.h>
#include <linux/sched/signal.h>

#include "priv.h"

static bool ktest_state_is(struct krdma_cb *cb, const char *wanted)
{
	return !*wanted ||
	       !strcmp(krdma_state_name(krdma_get_state(cb)), wanted);
}

/*
 * Wait until the connection in @slot is in the state @wanted. Return the
 * connection with a reference, or NULL after @timeout_ms. This function polls
 * without sleeping, because some states last microseconds. It continues to poll
 * a connection that a release has removed from the slot.
 */
static struct krdma_cb *ktest_await(struct ktest_slot *slot, const char *wanted,
				    u32 timeout_ms)
{
	ktime_t end = ktime_add_ms(ktime_get(), timeout_ms);
	struct krdma_cb *cb = NULL;

	do {
		cb = cb ?: ktest_slot_get_cb(slot);
		if (cb && ktest_state_is(cb, wanted))
			return cb;
		cond_resched();
	} while (ktime_before(ktime_get(), end) &&
		 !fatal_signal_pending(current));
	if (cb)
		krdma_put(cb);
	return NULL;
}

static int ktest_kill_pid(u32 number)
{
	struct pid *pid = find_get_pid(number);
	int ret;

	if (!pid)
		return -ESRCH;
	ret = kill_pid(pid, SIGKILL, 1);
	put_pid(pid);
	return ret;
}

/*
 * kill NAME PID [STATE [TIMEOUT_MS [DELAY_US]]]: kill a process as soon as the
 * connection or listener in the slot is in STATE. With STATE "any", kill it as
 * soon as the slot has an object. Print the state.
 */
int ktest_cmd_kill(struct ktest_ctx *ctx, struct ktest_args *args)
{
	struct ktest_slot *slot = ktest_slot_make(ctx, ktest_arg(args, 1));
	const char *wanted = ktest_arg(args, 3);
	const char *state = "none";
	struct krdma_cb *cb;
	int ret;

	if (IS_ERR(slot))
		return PTR_ERR(slot);
	if (!strcmp(wanted, "any"))
		wanted = "";
	cb = ktest_await(slot, wanted, ktest_number(args, 4, 1000));
	if (cb) {
		fsleep(ktest_number(args, 5, 0));
		state = krdma_state_name(krdma_get_state(cb));
	}
	ret = ktest_kill_pid(ktest_number(args, 2, 0));
	snprintf(ctx->text, sizeof(ctx->text), "%s", state);
	if (cb)
		krdma_put(cb);
	ktest_slot_put(slot);
	return ret;
}

int ktest_cmd_until(struct ktest_ctx *ctx, struct ktest_args *args)
{
	struct ktest_slot *slot = ktest_slot_make(ctx, ktest_arg(args, 1));
	struct krdma_cb *cb;

	if (IS_ERR(slot))
		return PTR_ERR(slot);
	cb = ktest_await(slot, ktest_arg(args, 2), ktest_number(args, 3, 5000));
	ktest_slot_put(slot);
	if (!cb)
		return -ETIMEDOUT;
	krdma_put(cb);
	return 0;
}

#ifdef CONFIG_FAULT_INJECTION
static void ktest_fail_nth_set(u32 nth)
{
	WRITE_ONCE(current->fail_nth, nth);
}

static u32 ktest_fail_nth_left(void)
{
	return READ_ONCE(current->fail_nth);
}
#else
static void ktest_fail_nth_set(u32 nth)
{
}

static u32 ktest_fail_nth_left(void)
{
	return 1;
}
#endif

/*
 * failnth N COMMAND...: let the Nth allocation of COMMAND in this task fail.
 * Print "injected=1" if COMMAND has made N allocations. This is a command of
 * the module, because /proc/self/fail-nth would count the allocations of the
 * shell as well.
 */
int ktest_cmd_failnth(struct ktest_ctx *ctx, struct ktest_args *args)
{
	struct ktest_args command = { args->n - 2, args->words + 2 };
	u32 nth = ktest_number(args, 1, 0), left;
	size_t len;
	int ret;

	if (!nth || command.n < 1)
		return -EINVAL;
	ktest_fail_nth_set(nth);
	ret = ktest_dispatch(ctx, &command);
	left = ktest_fail_nth_left();
	ktest_fail_nth_set(0);
	len = strlen(ctx->text);
	snprintf(ctx->text + len, sizeof(ctx->text) - len, " injected=%d",
		 !left);
	return ret;
}
