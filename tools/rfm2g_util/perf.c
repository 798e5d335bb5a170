// SPDX-License-Identifier: GPL-2.0
/*
 * Measure operations per second, and the time of single operations.
 *
 * Each of the two is measured in its own pass, because reading the clock takes
 * longer than reading a word. A histogram counts the times. Each of its boxes
 * counts the times of a range. The longest time of a range exceeds the shortest
 * by at most 1/64.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "util.h"

#define UTIL_SUB 64
#define UTIL_BOXES (60 * UTIL_SUB)
#define UTIL_SIZES 64

/* Time limit for the answer to a ping, in ns. */
#define UTIL_ANSWER_NS 2000000000ULL

struct util_times {
	uint64_t boxes[UTIL_BOXES];
	uint64_t count;
	uint64_t max;
};

/* Result of one measurement. */
struct util_turn {
	const char *what;
	uint32_t bytes;
	double iops;
	double mbps;
	struct util_times times;
};

static uint64_t util_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static unsigned int util_box(uint64_t ns)
{
	unsigned int shift;

	if (ns < 2 * UTIL_SUB)
		return ns;
	shift = 63 - __builtin_clzll(ns) - 6;
	return shift * UTIL_SUB + (ns >> shift);
}

/* Return the longest time that a box of the histogram counts, in ns. */
static uint64_t util_box_end(unsigned int box)
{
	unsigned int shift;

	if (box < 2 * UTIL_SUB)
		return box;
	shift = box / UTIL_SUB - 1;
	return ((box - shift * UTIL_SUB + 1ULL) << shift) - 1;
}

static void util_time(struct util_times *times, uint64_t ns)
{
	unsigned int box = util_box(ns);

	times->boxes[box < UTIL_BOXES ? box : UTIL_BOXES - 1]++;
	times->count++;
	if (ns > times->max)
		times->max = ns;
}

/* Return the time in ns that PERMILLE/1000 of the operations did not exceed. */
static uint64_t util_percentile(const struct util_times *times,
				unsigned int permille)
{
	uint64_t rank = (times->count * permille + 999) / 1000, seen = 0;
	unsigned int box;

	for (box = 0; box < UTIL_BOXES; box++) {
		seen += times->boxes[box];
		if (seen >= rank)
			break;
	}
	return util_box_end(box) < times->max ? util_box_end(box) : times->max;
}

/* Operation to measure, which reads or writes a block. */
struct util_work {
	RFM2GHANDLE rh;
	bool write;
	uint32_t bytes;
	uint8_t *blocks[2];
	unsigned int turn;
};

/*
 * Read or write a block. Alternate between two blocks, because writing
 * unchanged data may take less time.
 */
static RFM2G_STATUS util_work_once(struct util_work *work)
{
	uint8_t *block = work->blocks[work->turn++ & 1];

	if (work->write)
		return RFM2gWrite(work->rh, 0, block, work->bytes);
	return RFM2gRead(work->rh, 0, block, work->bytes);
}

/*
 * Measure operations per second. Read the clock only about once per ms, so that
 * reading it takes little of the time.
 */
static RFM2G_STATUS util_throughput(struct util_work *work, uint64_t ns,
				    struct util_turn *turn)
{
	uint64_t begin = util_now(), last = begin, now, calls = 0, batch = 1, i;
	RFM2G_STATUS ret = RFM2G_SUCCESS;

	do {
		for (i = 0; i < batch && !ret; i++)
			ret = util_work_once(work);
		calls += batch;
		now = util_now();
		if (now - last < 500000)
			batch *= 2;
		last = now;
	} while (!ret && now - begin < ns);
	turn->iops = calls * 1e9 / (now - begin);
	turn->mbps = turn->iops * work->bytes / 1048576;
	return ret;
}

static RFM2G_STATUS util_latency(struct util_work *work, uint64_t ns,
				 struct util_turn *turn)
{
	uint64_t begin = util_now(), before = begin, after;
	RFM2G_STATUS ret;

	do {
		ret = util_work_once(work);
		after = util_now();
		util_time(&turn->times, after - before);
		before = after;
	} while (!ret && after - begin < ns);
	return ret;
}

static RFM2G_STATUS util_measure(struct util_work *work, double seconds,
				 struct util_turn *turn)
{
	uint64_t ns = seconds * 1e9;
	RFM2G_STATUS ret;

	memset(turn, 0, sizeof(*turn));
	turn->what = work->write ? "write" : "read";
	turn->bytes = work->bytes;
	ret = util_throughput(work, ns, turn);
	if (!ret)
		ret = util_latency(work, ns / 4, turn);
	return ret;
}

static void util_percentiles(const struct util_times *times, bool json)
{
	printf(json ? "\"p50_ns\":%llu,\"p99_ns\":%llu,\"p999_ns\":%llu," :
	       "%8llu %8llu %8llu ", (unsigned long long)util_percentile(times, 500),
	       (unsigned long long)util_percentile(times, 990),
	       (unsigned long long)util_percentile(times, 999));
	printf(json ? "\"max_ns\":%llu,\"samples\":%llu" :
	       "%10llu ns of %llu", (unsigned long long)times->max,
	       (unsigned long long)times->count);
}

static void util_print_turn(const struct util_turn *turn, bool json,
			    bool first)
{
	if (json)
		printf("%s{\"what\":\"%s\",\"bytes\":%u,\"iops\":%.1f,\"mbps\":%.3f,",
		       first ? "" : ",\n", turn->what, turn->bytes, turn->iops,
		       turn->mbps);
	else
		printf("%-5s %8u %12.0f %10.2f ", turn->what, turn->bytes,
		       turn->iops, turn->mbps);
	util_percentiles(&turn->times, json);
	if (json)
		printf("}");
	else
		putchar('\n');
	fflush(stdout);
}

/* Options of performancetest. */
struct util_plan {
	bool json;
	double seconds;
	uint32_t sizes[UTIL_SIZES];
	int n;
};

static int util_add_sizes(struct util_plan *plan, uint32_t from, uint32_t to,
			  uint32_t step)
{
	for (; from <= to; from += step)
		plan->sizes[plan->n++] = from;
	return plan->n;
}

/* Add the sizes that the cards' tool measures. */
static void util_usual_sizes(struct util_plan *plan)
{
	util_add_sizes(plan, 4, 32, 4);
	util_add_sizes(plan, 64, 128, 32);
	util_add_sizes(plan, 256, 2048, 128);
	util_add_sizes(plan, 2560, 4096, 512);
	util_add_sizes(plan, 8192, 16384, 4096);
	util_add_sizes(plan, 32768, 131072, 16384);
	util_add_sizes(plan, 196608, 262144, 65536);
	util_add_sizes(plan, 524288, 2097152, 262144);
}

/*
 * Parse the list of sizes. Split a copy of the text, because the command
 * "repeat" passes the same text again.
 */
static bool util_parse_sizes(struct util_plan *plan, const char *text)
{
	char *copy = strdup(text), *save, *word;
	bool good = copy;

	for (word = good ? strtok_r(copy, ",", &save) : NULL; word && good;
	     word = strtok_r(NULL, ",", &save))
		good = plan->n < UTIL_SIZES &&
		       util_number(word, &plan->sizes[plan->n++]);
	free(copy);
	return good && plan->n;
}

static bool util_parse_seconds(const char *text, double *seconds)
{
	char *end;

	*seconds = strtod(text, &end);
	if (end != text && !*end && *seconds > 0 && *seconds <= 3600)
		return true;
	fprintf(stderr, "%s is not a time in seconds\n", text);
	return false;
}

static bool util_parse_plan(struct util_plan *plan, int argc, char **argv)
{
	int i;

	for (i = 0; i < argc; i++) {
		if (!strcmp(argv[i], "-j"))
			plan->json = true;
		else if (!strcmp(argv[i], "-s") && i + 1 < argc &&
			 util_parse_seconds(argv[i + 1], &plan->seconds))
			i++;
		else if (!strcmp(argv[i], "-n") && i + 1 < argc &&
			 util_parse_sizes(plan, argv[i + 1]))
			i++;
		else
			return false;
	}
	return true;
}

/* If -n gives no sizes, plan all usual sizes that fit into the memory. */
static RFM2G_STATUS util_fit_sizes(RFM2GHANDLE rh, struct util_plan *plan)
{
	RFM2G_UINT32 size;
	RFM2G_STATUS ret = RFM2gSize(rh, &size);
	int i, n = 0;

	if (ret || plan->n)
		return ret;
	util_usual_sizes(plan);
	for (i = 0; i < plan->n; i++)
		if (plan->sizes[i] <= size)
			plan->sizes[n++] = plan->sizes[i];
	plan->n = n;
	return RFM2G_SUCCESS;
}

static uint32_t util_largest(const struct util_plan *plan)
{
	uint32_t largest = 0;
	int i;

	for (i = 0; i < plan->n; i++)
		largest = plan->sizes[i] > largest ? plan->sizes[i] : largest;
	return largest;
}

static void util_print_head(const struct util_plan *plan,
			    RFM2G_UINT32 threshold)
{
	if (plan->json)
		printf("{\"threshold\":%u,\"seconds\":%g,\"rows\":[\n",
		       threshold, plan->seconds);
	else
		printf("DMA threshold %u\n%-5s %8s %12s %10s %8s %8s %8s %10s\n",
		       threshold, "", "bytes", "IOps", "MBps", "p50", "p99",
		       "p99.9", "max");
}

static RFM2G_STATUS util_run_plan(const struct util_plan *plan,
				  struct util_work *work)
{
	static struct util_turn turn;
	RFM2G_STATUS ret;
	bool first = true;
	int i, write;

	for (i = 0; i < plan->n; i++)
		for (write = 0; write < 2; write++) {
			work->bytes = plan->sizes[i];
			work->write = write;
			ret = util_measure(work, plan->seconds, &turn);
			if (ret)
				return ret;
			util_print_turn(&turn, plan->json, first);
			first = false;
		}
	return RFM2G_SUCCESS;
}

static enum util_result util_performance(struct util *util,
					 const struct util_command *command,
					 int argc, char **argv)
{
	struct util_plan plan = { .seconds = 2 };
	struct util_work work = { .rh = util->rh };
	RFM2G_UINT32 threshold;
	RFM2G_STATUS ret;
	uint32_t largest;

	if (!util_parse_plan(&plan, argc, argv))
		return UTIL_USAGE;
	ret = RFM2gGetDMAThreshold(util->rh, &threshold);
	if (!ret)
		ret = util_fit_sizes(util->rh, &plan);
	if (ret)
		return util_status(ret);
	largest = util_largest(&plan);
	work.blocks[0] = calloc(2, largest + 1ULL);
	if (!work.blocks[0]) {
		fprintf(stderr, "no memory for %u bytes\n", largest);
		return UTIL_FAILED;
	}
	work.blocks[1] = work.blocks[0] + largest;
	memset(work.blocks[1], 0xFF, largest);
	util_print_head(&plan, threshold);
	ret = util_run_plan(&plan, &work);
	if (plan.json)
		puts("]}");
	free(work.blocks[0]);
	return util_status(ret);
}

/*
 * Return the offset at which pong answers a word. The answer is in another
 * cache line than the word.
 */
static uint32_t util_answer(uint32_t offset)
{
	return offset + 64;
}

static enum util_result util_ping_once(RFM2GHANDLE rh, uint32_t offset,
				       uint32_t value, struct util_times *times)
{
	uint64_t begin = util_now(), now;
	RFM2G_UINT32 answer = ~value;
	RFM2G_STATUS ret = RFM2gPoke32(rh, offset, value);

	do {
		if (!ret)
			ret = RFM2gPeek32(rh, util_answer(offset), &answer);
		now = util_now();
	} while (!ret && answer != value && now - begin < UTIL_ANSWER_NS);
	if (ret)
		return util_status(ret);
	if (answer != value) {
		fprintf(stderr, "nobody answers: \"pong 0x%x\" there?\n",
			offset);
		return UTIL_FAILED;
	}
	util_time(times, now - begin);
	return UTIL_OK;
}

static enum util_result util_ping(struct util *util,
				  const struct util_command *command, int argc,
				  char **argv)
{
	static struct util_times times;
	enum util_result result = UTIL_OK;
	uint32_t offset, count, i;
	RFM2G_UINT32 value, answer;
	RFM2G_STATUS ret;

	if (!util_number(argv[0], &offset) || !util_number(argv[1], &count))
		return UTIL_USAGE;
	ret = RFM2gPeek32(util->rh, offset, &value);
	if (!ret)
		ret = RFM2gPeek32(util->rh, util_answer(offset), &answer);
	if (ret)
		return util_status(ret);
	/*
	 * Pong answers only a changed word. If the first value equals the
	 * answer of an earlier ping, skip this value, because ping would
	 * take the old answer for the new one.
	 */
	value += value + 1 == answer;
	memset(&times, 0, sizeof(times));
	for (i = 0; i < count && !result; i++)
		result = util_ping_once(util->rh, offset, ++value, &times);
	if (result)
		return result;
	printf("%u round trips: p50, p99, p99.9, max", count);
	util_percentiles(&times, false);
	putchar('\n');
	return UTIL_OK;
}

static enum util_result util_pong(struct util *util,
				  const struct util_command *command, int argc,
				  char **argv)
{
	RFM2G_UINT32 last, value;
	double seconds = 10;
	uint64_t heard = util_now();
	unsigned int count = 0;
	RFM2G_STATUS ret;
	uint32_t offset;

	if (!util_number(argv[0], &offset) ||
	    (argc == 2 && !util_parse_seconds(argv[1], &seconds)))
		return UTIL_USAGE;
	ret = RFM2gPeek32(util->rh, offset, &last);
	while (!ret && util_now() - heard < seconds * 1e9) {
		ret = RFM2gPeek32(util->rh, offset, &value);
		if (ret || value == last)
			continue;
		last = value;
		ret = RFM2gPoke32(util->rh, util_answer(offset), value);
		heard = util_now();
		count++;
	}
	if (ret)
		return util_status(ret);
	printf("answered %u times\n", count);
	return count ? UTIL_OK : UTIL_FAILED;
}

const struct util_command util_perf_commands[] = {
	{ .name = "performancetest",
	  .args = "[-s SECONDS] [-n SIZE,SIZE,...] [-j]",
	  .text = "measure reads and writes of many sizes; -j: JSON",
	  .run = util_performance, .max = 5 },
	{ .name = "ping", .args = "OFFSET COUNT",
	  .text = "measure round trips of a word to a node that runs pong",
	  .run = util_ping, .min = 2, .max = 2 },
	{ .name = "pong", .args = "OFFSET [SECONDS]",
	  .text = "answer pings until none arrives for SECONDS (10)",
	  .run = util_pong, .min = 1, .max = 2 },
	{ }
};
