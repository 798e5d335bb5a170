// SPDX-License-Identifier: GPL-2.0
/*
 * Measure single operations of this node. Writes and events reach other nodes.
 * So writes are measured only if the user gives an offset, and events only if
 * the user gives a type.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../include/uapi/rfm2g.h"

#include "ctl.h"

#define CTL_ROUNDS 10000
/*
 * Time limit of a test in s, because slow peers make operations slow. It does
 * not apply if the user gives the number of operations.
 */
#define CTL_SPAN 5
/* Number of loads that are timed together: one is too short for the clock. */
#define CTL_LOADS 1024
#define CTL_FLUSH_MS 10000

/**
 * struct ctl_bench - state of the measurement
 * @fd: device
 * @unit: N of rfm2gN
 * @size: size of the memory in bytes
 * @mem: mapping of the memory
 * @options: options of the command line
 * @ns: time of one operation in each round, in ns
 * @rounds: number of rounds
 * @shown: number of results printed
 */
struct ctl_bench {
	int fd;
	unsigned int unit;
	uint64_t size;
	const volatile uint32_t *mem;
	const struct ctl_options *options;
	double *ns;
	unsigned int rounds;
	unsigned int shown;
};

/* Condition for a test: none, or an option of the command line. */
enum ctl_wish {
	CTL_ALWAYS,
	CTL_WRITES,
	CTL_EVENTS,
};

static bool ctl_bench_load(struct ctl_bench *bench, uint32_t round)
{
	uint32_t i, sum = 0;

	(void)round;
	for (i = 0; i < CTL_LOADS; i++)
		sum += bench->mem[i % (bench->size / 4)];
	/* Use the sum, so that the compiler does not remove the loads. */
	__asm__ volatile("" : : "r" (sum));
	return true;
}

static bool ctl_bench_read(struct ctl_bench *bench, uint32_t round)
{
	uint32_t word;

	return pread(bench->fd, &word, sizeof(word), round % 256 * 4) ==
	       sizeof(word);
}

static bool ctl_bench_flush(struct ctl_bench *bench, uint32_t round)
{
	struct vrfm_flush flush = { .timeout_ms = CTL_FLUSH_MS };

	(void)round;
	return ctl_command(bench->fd, bench->unit, VRFM_FLUSH, &flush);
}

static bool ctl_bench_write(struct ctl_bench *bench, uint32_t round)
{
	return pwrite(bench->fd, &round, sizeof(round),
		      bench->options->offset) == sizeof(round);
}

static bool ctl_bench_reach(struct ctl_bench *bench, uint32_t round)
{
	return ctl_bench_write(bench, round) && ctl_bench_flush(bench, round);
}

static bool ctl_bench_event(struct ctl_bench *bench, uint32_t round)
{
	struct rfm2g_event_info info = {
		.event = bench->options->event,
		.node_id = RFM2G_NODE_ALL,
		.extended_info = round,
	};

	return !ioctl(bench->fd, RFM2G_SEND_EVENT, &info);
}

static const struct ctl_test {
	const char *name;
	enum ctl_wish wish;
	unsigned int batch;
	unsigned int divide;
	bool (*run)(struct ctl_bench *bench, uint32_t round);
} ctl_tests[] = {
	{ "load", CTL_ALWAYS, CTL_LOADS, 1, ctl_bench_load },
	{ "read", CTL_ALWAYS, 1, 1, ctl_bench_read },
	{ "flush", CTL_ALWAYS, 1, 10, ctl_bench_flush },
	{ "write", CTL_WRITES, 1, 1, ctl_bench_write },
	{ "write+flush", CTL_WRITES, 1, 10, ctl_bench_reach },
	{ "event", CTL_EVENTS, 1, 10, ctl_bench_event },
};

static int ctl_bench_order(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double ctl_percentile(const double *ns, unsigned int n, double part)
{
	unsigned int at = n * part;

	return ns[at < n ? at : n - 1];
}

static void ctl_bench_print(struct ctl_bench *bench, const char *name,
			    unsigned int n)
{
	static const double parts[] = { 0.5, 0.9, 0.99, 0.999, 1 };
	static const char * const names[] = {
		"p50", "p90", "p99", "p99.9", "max",
	};
	bool json = bench->options->json;
	unsigned int i;

	qsort(bench->ns, n, sizeof(*bench->ns), ctl_bench_order);
	if (json)
		printf("%s{\"name\":\"%s\",\"count\":%u",
		       bench->shown ? ",\n" : "", name, n);
	else
		printf("%-12s %8u", name, n);
	for (i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (json)
			printf(",\"%s_ns\":%.1f", names[i],
			       ctl_percentile(bench->ns, n, parts[i]));
		else
			printf(" %10.3f", ctl_percentile(bench->ns, n,
							 parts[i]) / 1e3);
	printf("%s", json ? "}" : "\n");
	fflush(stdout);
	bench->shown++;
}

/* Report a failed operation. After a timeout, list the peers that are late. */
static void ctl_bench_blame(const struct ctl_bench *bench, const char *name)
{
	bool late = errno == ETIMEDOUT;
	struct ctl_view view;
	uint32_t i;

	warn("rfm2g%u: %s", bench->unit, name);
	if (!late || !ctl_look(bench->fd, bench->unit, &view))
		return;
	for (i = 0; i < view.all.count; i++)
		if (view.peers[i].late_ms)
			warnx("rfm2g%u: node %u is %u ms late", bench->unit,
			      view.peers[i].node, view.peers[i].late_ms);
}

static bool ctl_bench_over(const struct ctl_bench *bench, double since)
{
	return !bench->options->count && ctl_now() - since > CTL_SPAN;
}

static bool ctl_bench_test(struct ctl_bench *bench, const struct ctl_test *test)
{
	unsigned int i, n = bench->rounds / test->divide;
	double begin, first = ctl_now();

	n = n ? n : 1;
	for (i = 0; i < n && !(i && ctl_bench_over(bench, first)); i++) {
		begin = ctl_now();
		if (!test->run(bench, i)) {
			ctl_bench_blame(bench, test->name);
			return false;
		}
		bench->ns[i] = (ctl_now() - begin) * 1e9 / test->batch;
	}
	ctl_bench_print(bench, test->name, i);
	return true;
}

static bool ctl_bench_wants(const struct ctl_bench *bench, enum ctl_wish wish)
{
	return wish == CTL_ALWAYS ||
	       (wish == CTL_WRITES && bench->options->writes) ||
	       (wish == CTL_EVENTS && bench->options->event);
}

static bool ctl_bench_all(struct ctl_bench *bench)
{
	const struct ctl_test *test = ctl_tests;
	const struct ctl_test *end =
		test + sizeof(ctl_tests) / sizeof(*ctl_tests);
	bool good = true;

	if (bench->options->json)
		printf("{\"device\":\"rfm2g%u\",\"tests\":[", bench->unit);
	else
		printf("%-12s %8s %10s %10s %10s %10s %10s\n", "us", "count",
		       "p50", "p90", "p99", "p99.9", "max");
	for (; good && test < end; test++)
		if (ctl_bench_wants(bench, test->wish))
			good = ctl_bench_test(bench, test);
	if (bench->options->json)
		printf("]}\n");
	return good;
}

static bool ctl_bench_begin(struct ctl_bench *bench)
{
	const struct ctl_options *options = bench->options;
	void *mem;

	bench->size = lseek(bench->fd, 0, SEEK_END);
	if (options->writes && (options->offset % 4 ||
				options->offset > bench->size - 4)) {
		warnx("rfm2g%u: there is no word at that offset", bench->unit);
		return false;
	}
	mem = mmap(NULL, bench->size, PROT_READ, MAP_SHARED, bench->fd, 0);
	if (mem == MAP_FAILED) {
		warn("rfm2g%u", bench->unit);
		return false;
	}
	bench->mem = mem;
	bench->ns = calloc(bench->rounds, sizeof(*bench->ns));
	if (!bench->ns)
		warn("rfm2g%u", bench->unit);
	return bench->ns;
}

/**
 * ctl_bench - measure operations of a device
 * @options: options of the command line
 * @only: name of the device; NULL if there is only one device
 *
 * Return: CTL_OK; or CTL_FAILED after an error message.
 */
enum ctl_result ctl_bench(const struct ctl_options *options, const char *only)
{
	bool alters = options->writes || options->event;
	struct ctl_bench bench = {
		.options = options,
		.rounds = options->count ? options->count : CTL_ROUNDS,
	};
	bool good;

	if (!ctl_which(only, &bench.unit))
		return CTL_FAILED;
	bench.fd = ctl_open(bench.unit, alters ? O_RDWR : O_RDONLY);
	if (bench.fd < 0)
		return CTL_FAILED;
	good = ctl_bench_begin(&bench) && ctl_bench_all(&bench);
	free(bench.ns);
	close(bench.fd);
	return good ? CTL_OK : CTL_FAILED;
}
