// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Publish fifty variables, by default 10000 times a second. Each cycle is one
 * batch: the variables that change in this cycle, and then the number of the
 * cycle. So it takes one system call, and a node that has the number also has
 * the variables. "display" on another node follows them.
 *
 *   publish DEVICE SECONDS [HERTZ]
 */
#define _GNU_SOURCE
#include <err.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <rfm2g_extras.h>

/* Layout of the area, which display.c also has. */
#define AREA 0x2000
#define VARIABLES 50
struct area {
	RFM2G_UINT64 cycle;
	double values[VARIABLES];
};

/* Number of variables that change in a cycle. */
#define CHANGES 8

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

static RFM2GXOP write_of(size_t offset, size_t length, const void *source)
{
	return (RFM2GXOP){ .Op = RFM2GX_OP_WRITE, .Offset = AREA + offset,
			   .Length = length, .Source = source };
}

static void publish(RFM2GHANDLE card, struct area *area)
{
	RFM2GXOP ops[CHANGES + 1];
	unsigned int i, at;

	for (i = 0; i < CHANGES; i++) {
		at = (area->cycle * CHANGES + i) % VARIABLES;
		area->values[at] += 1;
		ops[i] = write_of(offsetof(struct area, values[at]),
				  sizeof(double), &area->values[at]);
	}
	area->cycle++;
	ops[CHANGES] = write_of(offsetof(struct area, cycle),
				sizeof(area->cycle), &area->cycle);
	check(RFM2gxBatch(card, ops, CHANGES + 1, 0, 0, NULL), "batch");
}

int main(int argc, char **argv)
{
	struct area area = { 0 };
	double hertz = argc == 4 ? atof(argv[3]) : 10000;
	int64_t begin, late = 0, next;
	RFM2GHANDLE h = NULL;

	if (argc != 3 && argc != 4)
		errx(2, "usage: publish DEVICE SECONDS [HERTZ]");
	check(RFM2gOpen(argv[1], &h), argv[1]);
	check(RFM2gWrite(h, AREA, &area, sizeof(area)), "write");
	begin = now_ns();
	next = begin;
	while (next < begin + atof(argv[2]) * 1e9) {
		next += 1e9 / hertz;
		sleep_until(next);
		late += now_ns() > next + 1e9 / hertz;
		publish(h, &area);
	}
	check(RFM2gClose(&h), "close");
	printf("%llu cycles, %lld began a cycle late\n",
	       (unsigned long long)area.cycle, (long long)late);
	return 0;
}
