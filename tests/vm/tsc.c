// SPDX-License-Identifier: GPL-2.0
/*
 * Author: The krdma developers
 *
 * Print the frequency of this processor's time stamp counter in kHz, for the command line of a
 * guest.
 *
 * A guest on an emulated processor reads the counter of the host. On a busy host the frequency that
 * the guest itself measures may be wrong by a factor of five, and all clocks of the guest with it.
 */
#include <limits.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

#define SPAN_NS		50000000
#define TRIES		100

struct sample {
	long long ns;
	unsigned long long ticks;
};

static long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/*
 * Read both clocks many times, and return the pair of readings with the
 * shortest time in between.
 */
static struct sample read_both(void)
{
	struct sample sample, best = { 0 };
	long long gap, best_gap = LLONG_MAX;
	int i;

	for (i = 0; i < TRIES; i++) {
		sample.ns = now_ns();
		sample.ticks = __rdtsc();
		gap = now_ns() - sample.ns;
		if (gap < best_gap) {
			best_gap = gap;
			best = sample;
		}
	}
	return best;
}

int main(void)
{
	struct timespec span = { .tv_nsec = SPAN_NS };
	struct sample first, last;

	first = read_both();
	nanosleep(&span, NULL);
	last = read_both();
	printf("%.0f\n", (double)(last.ticks - first.ticks) * 1e6 / (double)(last.ns - first.ns));
	return 0;
}
