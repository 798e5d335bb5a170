// SPDX-License-Identifier: GPL-2.0
/*
 * Delay a completion handler after its last completion.
 *
 * In softirq the handler (ib_poll_handler()) completes its irq_poll, and then
 * rearms the CQ. Freeing the CQ waits only for the irq_poll, so the handler may
 * use a freed CQ. This race needs a virtual processor that is descheduled
 * between both steps of the handler. This file widens the race: it replaces
 * req_notify_cq of the device by a slow function. It also replaces destroy_qp
 * of the device: before the QP is destroyed, another processor runs the
 * completion handler of the QP's CQ once more, although all completions have
 * been handled.
 */
#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/smp.h>

#include "priv.h"

/**
 * struct ktest_late_cpu - delayed handler on a processor
 * @held: CQ of the delayed handler; NULL if no handler is delayed, or if the CQ
 *	was destroyed during the delay
 * @last: CQ of the last handler that continued after its delay; the CQ may be
 *	freed, so only the address is compared
 * @done: time when the handler of @last continued, in jiffies
 */
struct ktest_late_cpu {
	const struct ib_cq *held;
	const struct ib_cq *last;
	unsigned long done;
};

static DEFINE_PER_CPU(struct ktest_late_cpu, ktest_late_cpus);

/*
 * State of the commands "late" and "intime". No lock is needed, because a
 * scenario runs one of these commands at a time.
 */
static struct {
	struct ib_device *ibdev;
	int (*req_notify_cq)(struct ib_cq *cq, enum ib_cq_notify_flags flags);
	int (*destroy_cq)(struct ib_cq *cq, struct ib_udata *udata);
	int (*destroy_qp)(struct ib_qp *qp, struct ib_udata *udata);
	u32 ms;
	atomic_t early;
	atomic_t near;
} ktest_late;

static int ktest_late_notify(struct ib_cq *cq, enum ib_cq_notify_flags flags)
{
	struct ktest_late_cpu *cpu;

	if (!in_serving_softirq())
		return ktest_late.req_notify_cq(cq, flags);
	cpu = this_cpu_ptr(&ktest_late_cpus);
	WRITE_ONCE(cpu->held, cq);
	mdelay(ktest_late.ms);
	/* Do not call the driver if the CQ has been destroyed. */
	if (cmpxchg(&cpu->held, cq, NULL) != cq)
		return 0;
	WRITE_ONCE(cpu->done, jiffies);
	WRITE_ONCE(cpu->last, cq);
	return ktest_late.req_notify_cq(cq, flags);
}

static void ktest_late_look(struct ktest_late_cpu *cpu, const struct ib_cq *cq)
{
	unsigned long soon = msecs_to_jiffies(ktest_late.ms);

	if (cmpxchg(&cpu->held, cq, NULL) == cq)
		atomic_inc(&ktest_late.early);
	else if (READ_ONCE(cpu->last) == cq &&
		 time_before(jiffies, READ_ONCE(cpu->done) + soon))
		atomic_inc(&ktest_late.near);
}

static int ktest_late_destroy_cq(struct ib_cq *cq, struct ib_udata *udata)
{
	int i;

	for_each_possible_cpu(i)
		ktest_late_look(per_cpu_ptr(&ktest_late_cpus, i), cq);
	return ktest_late.destroy_cq(cq, udata);
}

static void ktest_late_tell(void *cq)
{
	struct ib_cq *told = cq;

	told->comp_handler(told, told->cq_context);
}

static int ktest_late_destroy_qp(struct ib_qp *qp, struct ib_udata *udata)
{
	u32 other = cpumask_any_but(cpu_online_mask, raw_smp_processor_id());

	if (other < nr_cpu_ids && qp->send_cq->poll_ctx == IB_POLL_SOFTIRQ)
		smp_call_function_single(other, ktest_late_tell, qp->send_cq, 1);
	return ktest_late.destroy_qp(qp, udata);
}

void ktest_late_end(void)
{
	if (!ktest_late.ibdev)
		return;
	ktest_late.ibdev->ops.req_notify_cq = ktest_late.req_notify_cq;
	ktest_late.ibdev->ops.destroy_cq = ktest_late.destroy_cq;
	ktest_late.ibdev->ops.destroy_qp = ktest_late.destroy_qp;
	ktest_late.ibdev = NULL;
	synchronize_rcu();
}

static int ktest_late_begin(struct ib_device *ibdev, u32 ms)
{
	if (ktest_late.ibdev)
		return -EBUSY;
	ktest_late.req_notify_cq = ibdev->ops.req_notify_cq;
	ktest_late.destroy_cq = ibdev->ops.destroy_cq;
	ktest_late.destroy_qp = ibdev->ops.destroy_qp;
	ktest_late.ms = ms;
	atomic_set(&ktest_late.early, 0);
	atomic_set(&ktest_late.near, 0);
	ktest_late.ibdev = ibdev;
	/*
	 * Write the members of ktest_late before the new functions, because a
	 * processor that calls a new function reads these members.
	 */
	smp_wmb();
	ibdev->ops.req_notify_cq = ktest_late_notify;
	ibdev->ops.destroy_cq = ktest_late_destroy_cq;
	ibdev->ops.destroy_qp = ktest_late_destroy_qp;
	return 0;
}

int ktest_do_late(const struct ktest_args *args, struct krdma_cb *cb)
{
	return ktest_late_begin(cb->qp->device, ktest_number(args, 2, 1));
}

/*
 * intime: end the delay of handlers. Print the number of CQs that were
 * destroyed while their handler was delayed (early), and the number of CQs that
 * were destroyed soon after their handler had continued (near).
 */
int ktest_cmd_intime(struct ktest_ctx *ctx, struct ktest_args *args)
{
	ktest_late_end();
	snprintf(ctx->text, sizeof(ctx->text), "early=%d near=%d",
		 atomic_read(&ktest_late.early), atomic_read(&ktest_late.near));
	return 0;
}
