/* SPDX-License-Identifier: GPL-2.0 */
/* Processor time of a turn, for krdma_bench and ntrdma_bench. */
#ifndef KRDMA_BENCH_CPU_H
#define KRDMA_BENCH_CPU_H

#include <linux/cpumask.h>
#include <linux/minmax.h>
#include <linux/tick.h>
#include <linux/time64.h>

/* Return the sum of the idle times of all processors, in us. */
static inline u64 bench_idle_us(void)
{
	u64 us = 0;
	int cpu;

	for_each_online_cpu(cpu)
		us += get_cpu_idle_time_us(cpu, NULL) +
		      get_cpu_iowait_time_us(cpu, NULL);
	return us;
}

/*
 * Return the sum of the busy times of all processors in the last @ns, in ns.
 * @idle_us is the sum of their idle times. Return 0 on a kernel with a periodic
 * tick, which does not measure idle time.
 */
static inline u64 bench_busy_ns(u64 ns, u64 idle_us)
{
	if (get_cpu_idle_time_us(0, NULL) == U64_MAX)
		return 0;
	return ns * num_online_cpus() -
	       min(idle_us * NSEC_PER_USEC, ns * num_online_cpus());
}

#endif /* KRDMA_BENCH_CPU_H */
