// SPDX-License-Identifier: GPL-2.0
/*
 * paths DEVICE NODE SECONDS: write to the quarter NODE of a memory of 1 MiB by all paths, in random order: by calls,
 * through a mapping, through a manual mapping with PUBLISH, and by batches. Send events. At the end, print the last
 * value of the counter, which is the first word of the quarter. Author: The krdma developers.
 */
#define _GNU_SOURCE
#include "ring.h"

#include "card.h"

#define QUARTER 262144u
#define POKE 0x4010EB0B
#define SEND_EVENT 0x4018EB16
#define TRANSFER 0x4008EB4A
/* Longest write, except for that of by_large(). */
#define LONGEST 4096
/* Parts of the quarter, each of this size, and the counter at its begin. */
#define PART 65536u
enum { BY_CALLS, BY_MAPPING, BY_PUBLISH, BY_BATCH };

static uint32_t node, quarter, counter;
static volatile uint32_t *mapping, *manual;
static uint32_t words[PART / 4];
static uint64_t state;

static uint32_t any(void)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return state >> 33;
}

/* Return a random offset in PART of the quarter, behind the counter, with room for LEN bytes. */
static uint32_t place(uint32_t part, uint32_t len)
{
	return quarter + part * PART + 64 + any() % (PART - 64 - len);
}

static uint32_t any_bytes(void)
{
	const uint32_t len = 1 + any() % LONGEST;
	uint32_t i;

	for (i = 0; i <= len / 4; i++)
		words[i] = any();
	return len;
}

static void must(int error, const char *what)
{
	errno = error;
	if (error)
		err(2, "%s", what);
}

static void execute(struct op *ops, uint32_t count)
{
	struct batch batch = { .ops = (uintptr_t)ops, .count = count };

	ops[count - 1].flags &= ~OP_MORE;
	must(call(fd, BATCH, &batch), "VRFM_BATCH");
}

/* ---- paths ---- */

static void by_write(void)
{
	const uint32_t len = any_bytes();

	if (pwrite(fd, words, len, place(BY_CALLS, len)) != len || pwrite(fd, &counter, 4, quarter) != 4)
		err(2, "write");
}

/* Some of these are longer than a message. */
static void by_large(void)
{
	uint32_t len = any_bytes();

	if (any() % 16 == 0)
		len += PART / 2;
	if (pwrite(fd, words, len, place(BY_CALLS, len)) != len || pwrite(fd, &counter, 4, quarter) != 4)
		err(2, "write");
}

static void by_command(void)
{
	const uint32_t len = any_bytes();
	struct card_transfer transfer = { .offset = place(BY_CALLS, len), .length = len, .buffer = (uintptr_t)words };
	struct card_atomic poke = { .data = counter, .offset = quarter, .width = 4 };

	must(call(fd, TRANSFER, &transfer), "WRITE");
	must(call(fd, POKE, &poke), "ATOMIC_POKE");
}

/* The counter comes behind the stores, because a call sends earlier stores first. */
static void by_mapping(void)
{
	uint32_t i;

	for (i = 0; i < 1 + counter % 16; i++)
		mapping[place(BY_MAPPING, 4) / 4] = any();
	if (pwrite(fd, &counter, 4, quarter) != 4)
		err(2, "write");
}

static void by_publish(void)
{
	const uint32_t n = 1 + any() % 256, at = place(BY_PUBLISH, 4 * n) & ~3;
	struct op ops[] = { publish_of(at, 4 * n), word_of(quarter, counter) };
	uint32_t i;

	for (i = 0; i < n; i++)
		manual[at / 4 + i] = any();
	execute(ops, 2);
}

static void by_batch(void)
{
	const uint32_t len = any_bytes();
	struct op ops[] = {
		write_of(place(BY_BATCH, len), words, len), write_of(place(BY_BATCH, 64), words, 64),
		word_of(quarter, counter), event_of(NO_NODE, INTR1, counter),
	};

	execute(ops, any() % 4 ? 3 : 4);
}

/* Send an event to node 3, or from node 3 to node 1. */
static void by_event(void)
{
	struct card_event event = { .node = node == 3 ? 1 : 3, .event = INTR2, .data = counter };

	must(call(fd, SEND_EVENT, &event), "SEND_EVENT");
	by_write();
}

static void (*const paths[])(void) = {
	by_write, by_large, by_command, by_mapping, by_mapping, by_publish, by_publish, by_batch, by_batch, by_event,
};

static volatile uint32_t *map(int64_t at)
{
	void *area = mmap(NULL, 4 * QUARTER, PROT_READ | PROT_WRITE, MAP_SHARED, fd, at);

	if (area == MAP_FAILED)
		err(2, "mmap");
	return area;
}

int main(int argc, char **argv)
{
	uint64_t end;

	if (argc != 4)
		errx(2, "paths DEVICE NODE SECONDS");
	device_open(argv[1]);
	node = atoi(argv[2]);
	quarter = node * QUARTER;
	state = node;
	mapping = map(0);
	manual = map(MANUAL);
	for (end = now_ms() + 1000 * atoi(argv[3]); now_ms() < end; pause_ms(4)) {
		counter++;
		paths[any() % (sizeof(paths) / sizeof(*paths))]();
	}
	printf("%u\n", counter);
	return 0;
}
