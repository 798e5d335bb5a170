/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What krdma_bench and vbench say of the times that a turn measured, besides
 * the shortest ("min") and the longest ("max"): points of the distribution
 * that tools/bench --report draws.
 */
#ifndef KRDMA_BENCH_QUANTILES_H
#define KRDMA_BENCH_QUANTILES_H

/**
 * struct bench_quantile - a point of a distribution
 * @name: p99 for the time that 99 of 100 do not exceed, p999 for 999 of 1000
 * @of_1000: so many of a thousand samples are shorter
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
