// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A control loop at 10 kHz on mapped memory. Each cycle reads inputs, computes,
 * and writes outputs. The cycle ends with a poke of its counter, which sends
 * the outputs before the counter. The program prints how late the cycles began.
 *
 *   loop DEVICE SECONDS [HERTZ]
 *
 * A mapping is accessed by loads and stores, as ordinary memory is. To begin
 * its cycles in time, a loop needs
 *  - resident pages (mlockall),
 *  - a priority (SCHED_FIFO, which takes root or CAP_SYS_NICE),
 *  - a processor of its own (taskset, isolcpus),
 *  - times that do not accumulate errors (an absolute clock_nanosleep).
 */
#define _GNU_SOURCE
#include <err.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include <rfm2g_api.h>

/*
 * Layout of an area. This node reads the area at INPUTS, which another node
 * writes, and writes the area at OUTPUTS.
 */
struct area {
	RFM2G_UINT32 counter;
	RFM2G_UINT32 values[255];
};

#define INPUTS 0x0
#define OUTPUTS 0x1000

static void check(RFM2G_STATUS status, const char *what)
{
	if (status != RFM2G_SUCCESS)
		errx(1, "%s: %s", what, RFM2gErrorMsg(status));
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void sleep_until(int64_t ns)
{
	struct timespec t = { ns / 1000000000, ns % 1000000000 };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL))
		;
}

/*
 * Prepare for cycles that begin in time. If one of the calls fails, cycles
 * begin late more often.
 */
static void be_in_time(void)
{
	struct sched_param param = { .sched_priority = 50 };

	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		warn("mlockall");
	if (sched_setscheduler(0, SCHED_FIFO, &param))
		warn("SCHED_FIFO");
}

/*
 * Run one cycle. The counter is written last, and by a call, because the call
 * first sends the stores before it. If the counter were stored through the
 * mapping, it might reach a peer before the values.
 */
static void cycle(RFM2GHANDLE card, const volatile struct area *in,
		  volatile struct area *out)
{
	unsigned int i;

	for (i = 0; i < 255; i++)
		out->values[i] = in->values[i] + 1;
	check(RFM2gPoke32(card, OUTPUTS + offsetof(struct area, counter),
			  out->counter + 1), "poke");
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static void report(int64_t *late, long count)
{
	qsort(late, count, sizeof(*late), compare);
	printf("%ld cycles, late by us: p50 %.1f, p99 %.1f, p99.9 %.1f, max %.1f\n",
	       count, late[count / 2] / 1e3, late[count * 99 / 100] / 1e3,
	       late[count * 999 / 1000] / 1e3, late[count - 1] / 1e3);
}

static void run(RFM2GHANDLE card, volatile struct area *in,
		volatile struct area *out, double seconds, double hertz)
{
	int64_t period = 1e9 / hertz, next;
	long count = seconds * hertz, i;
	int64_t *late = calloc(count, sizeof(*late));

	if (!late || count < 1)
		errx(1, "%ld cycles are too few or too many", count);
	be_in_time();
	next = now_ns();
	for (i = 0; i < count; i++) {
		next += period;
		sleep_until(next);
		late[i] = now_ns() - next;
		cycle(card, in, out);
	}
	report(late, count);
	free(late);
}

int main(int argc, char **argv)
{
	volatile void *in, *out;
	RFM2GHANDLE h = NULL;

	if (argc != 3 && argc != 4)
		errx(2, "usage: loop DEVICE SECONDS [HERTZ]");
	check(RFM2gOpen(argv[1], &h), argv[1]);
	check(RFM2gUserMemory(h, &in, INPUTS, 1), "inputs");
	check(RFM2gUserMemory(h, &out, OUTPUTS, 1), "outputs");
	run(h, in, out, atof(argv[2]), argc == 4 ? atof(argv[3]) : 10000);
	check(RFM2gUnMapUserMemory(h, &out, 1), "unmap");
	check(RFM2gUnMapUserMemory(h, &in, 1), "unmap");
	check(RFM2gClose(&h), "close");
	return 0;
}
