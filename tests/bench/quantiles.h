/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Percentiles of the times of a turn. krdma_bench and vbench print them, in
 * addition to the shortest ("min") and the longest time ("max"). tools/bench
 * --report draws them.
 */
#ifndef KRDMA_BENCH_QUANTILES_H
#define KRDMA_BENCH_QUANTILES_H

/**
 * struct bench_quantile - a point of a distribution
 * @name: name in the output: p99 is percentile 99, p999 is percentile 99.9
 * @of_1000: number of samples in a thousand that are shorter than this point
 */
struct bench_quantile {
	const char *name;
	unsigned int of_1000;
};

static const struct bench_quantile bench_quantiles[] = {
	{ "p1", 10 },   { "p5", 50 },	{ "p10", 100 }, { "p25", 250 },
	{ "p50", 500 }, { "p75", 750 }, { "p90", 900 }, { "p95", 950 },
	{ "p99", 990 }, { "p999", 999 },
};

#define BENCH_QUANTILES (sizeof(bench_quantiles) / sizeof(*bench_quantiles))

#endif /* KRDMA_BENCH_QUANTILES_H */
