// SPDX-License-Identifier: GPL-2.0
/*
 * hello DEVICE COMMAND ARGUMENT...: use a reflective memory from a program; an example to copy.
 *
 *   write OFFSET TEXT        write a block by RFM2G_WRITE, a command of the cards' driver
 *   store OFFSET TEXT        store the bytes into a mapping of the memory, without any call
 *   read OFFSET              print the text at OFFSET of this node's copy
 *   send NODE DATA           send network event 1 with a number; NODE 65535: to all others
 *   wait MS                  wait for network event 1; print its number and its sender
 *   ping OFFSET ROUNDS       write a word by write() and wait until the other node repeats it; print the times
 *   pong OFFSET ROUNDS       on the other node: watch that word in a mapping and repeat it at OFFSET + 64
 *   ask NODE ROUNDS          as ping, but with events instead of words
 *   answer NODE ROUNDS       as pong, but with events instead of words
 *
 * The program also works with the driver of the cards, because it uses no feature that only vrfm has. The library of
 * the cards (RFM2gOpen(), RFM2gWrite(), ...) makes the same calls.
 */
#include <err.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "rfm2g.h"

#define TEXT_MAX 256
/*
 * Distance in bytes from the word of ping to the word of pong. Each node writes its own word and watches the other one.
 */
#define OTHER 64

static int fd;
static volatile uint8_t *memory;
static struct rfm2g_config config;

static unsigned long number(const char *text)
{
	return strtoul(text, NULL, 0);
}

/* Parse the offset in TEXT. Exit unless the LENGTH bytes from this offset are inside the memory. */
static unsigned long place(const char *text, size_t length)
{
	unsigned long offset = number(text);

	if (offset > config.memory_size || length > config.memory_size - offset)
		errx(1, "%s: outside of the memory", text);
	return offset;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void do_write(char **arg)
{
	struct rfm2g_transfer transfer = {
		.length = strlen(arg[1]) + 1,
		.buffer = (uintptr_t)arg[1],
	};

	transfer.offset = place(arg[0], transfer.length);
	if (ioctl(fd, RFM2G_WRITE, &transfer))
		err(1, "RFM2G_WRITE");
}

static void do_store(char **arg)
{
	size_t i, length = strlen(arg[1]) + 1;
	unsigned long offset = place(arg[0], length);

	for (i = 0; i < length; i++)
		memory[offset + i] = arg[1][i];
}

static void do_read(char **arg)
{
	unsigned long offset = place(arg[0], TEXT_MAX);
	char text[TEXT_MAX];
	size_t i;

	for (i = 0; i < TEXT_MAX; i++)
		text[i] = memory[offset + i];
	text[TEXT_MAX - 1] = '\0';
	printf("%s\n", *text ? text : "(nothing)");
}

static void send_event(unsigned long node, uint32_t data)
{
	struct rfm2g_event_info info = {
		.event = RFM2G_EVENT_INTR1, .node_id = node, .extended_info = data,
	};

	if (ioctl(fd, RFM2G_SEND_EVENT, &info))
		err(1, "RFM2G_SEND_EVENT");
}

/* Enable event 1 and wait for it. Enabling also delivers events that were received before. */
static struct rfm2g_event_info wait_event(uint32_t ms)
{
	struct rfm2g_event_info info = { .event = RFM2G_EVENT_INTR1, .timeout = ms };

	if (ioctl(fd, RFM2G_ENABLE_EVENT, &info) || ioctl(fd, RFM2G_WAIT_FOR_EVENT, &info))
		err(1, "RFM2G_WAIT_FOR_EVENT");
	return info;
}

static void do_send(char **arg)
{
	send_event(number(arg[0]), number(arg[1]));
}

static void do_wait(char **arg)
{
	struct rfm2g_event_info info = wait_event(number(arg[0]));

	printf("event 1 from node %u with %u\n", info.node_id, info.extended_info);
}

static void put_word(unsigned long offset, uint32_t value)
{
	if (pwrite(fd, &value, sizeof(value), offset) != sizeof(value))
		err(1, "write");
}

/* Wait until a word has a value. Yield in each round, because other tasks need the processor if it is the only one. */
static void await_word(unsigned long offset, uint32_t value)
{
	volatile uint32_t *word = (volatile uint32_t *)(memory + offset);
	uint64_t end = now_ns() + 10000000000ull;

	while (*word != value) {
		sched_yield();
		if (now_ns() > end)
			errx(1, "no answer");
	}
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void print_times(uint64_t *times, unsigned long n)
{
	qsort(times, n, sizeof(*times), compare);
	printf("%lu round trips, median %llu us, fastest %llu us\n", n, (unsigned long long)times[n / 2] / 1000,
	       (unsigned long long)times[0] / 1000);
}

/* Make ROUNDS round trips by calling TURN, and print how long they took. */
static void measure(unsigned long rounds, unsigned long where, void (*turn)(unsigned long where, uint32_t i))
{
	uint64_t *times = calloc(rounds, sizeof(*times));
	uint64_t begin;
	uint32_t i;

	if (!times)
		err(1, "memory");
	for (i = 1; i <= rounds; i++) {
		begin = now_ns();
		turn(where, i);
		times[i - 1] = now_ns() - begin;
	}
	print_times(times, rounds);
	free(times);
}

static void ping_turn(unsigned long offset, uint32_t i)
{
	put_word(offset, i);
	await_word(offset + OTHER, i);
}

static void do_ping(char **arg)
{
	measure(number(arg[1]), place(arg[0], 2 * OTHER), ping_turn);
}

static void do_pong(char **arg)
{
	unsigned long offset = place(arg[0], 2 * OTHER), rounds = number(arg[1]);
	uint32_t i;

	for (i = 1; i <= rounds; i++) {
		await_word(offset, i);
		put_word(offset + OTHER, i);
	}
}

static void ask_turn(unsigned long node, uint32_t i)
{
	send_event(node, i);
	wait_event(10000);
}

static void do_ask(char **arg)
{
	measure(number(arg[1]), number(arg[0]), ask_turn);
}

static void do_answer(char **arg)
{
	unsigned long i, rounds = number(arg[1]);

	for (i = 1; i <= rounds; i++) {
		wait_event(10000);
		send_event(number(arg[0]), i);
	}
}

static const struct {
	const char *name;
	int args;
	void (*run)(char **arg);
} commands[] = {
	{ "write", 2, do_write }, { "store", 2, do_store }, { "read", 1, do_read }, { "send", 2, do_send },
	{ "wait", 1, do_wait }, { "ping", 2, do_ping }, { "pong", 2, do_pong }, { "ask", 2, do_ask },
	{ "answer", 2, do_answer },
};

static void open_device(const char *path)
{
	void *mapping;

	fd = open(path, O_RDWR);
	if (fd < 0)
		err(1, "%s", path);
	if (ioctl(fd, RFM2G_GET_CONFIG, &config))
		err(1, "%s: RFM2G_GET_CONFIG", path);
	mapping = mmap(NULL, config.memory_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (mapping == MAP_FAILED)
		err(1, "%s: mmap", path);
	memory = mapping;
}

int main(int argc, char **argv)
{
	size_t i;

	for (i = 0; argc > 2 && i < sizeof(commands) / sizeof(*commands); i++) {
		if (strcmp(argv[2], commands[i].name) || argc != 3 + commands[i].args)
			continue;
		open_device(argv[1]);
		commands[i].run(argv + 3);
		return 0;
	}
	fprintf(stderr, "usage: hello DEVICE COMMAND ARGUMENT..., see hello.c\n");
	return 2;
}
