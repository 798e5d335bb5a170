// SPDX-License-Identifier: GPL-2.0
/*
 * Any command with any argument, and mappings between them.
 *
 *   fuzz DEVICE CALLS SEED
 *
 * It must come to its end, and the kernel must have nothing to say. What was
 * answered is counted by errno; a kind of answer that never came would mean
 * that the random numbers are no good.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "card.h"

static uint64_t state;

/* xorshift64: the same numbers everywhere for the same seed. */
static uint64_t any(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* Mostly near something that matters. */
static uint64_t number(void)
{
	static const uint64_t edges[] = {
		0, 1, 2, 4, 8, 11, 12, 255, 256, 512, 4096, 65535, 1 << 20, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE,
		0xFFFFFFFF, 1ULL << 63,
	};
	uint64_t edge = edges[any() % (sizeof(edges) / sizeof(*edges))];

	switch (any() % 4) {
	case 0:
		return any();
	case 1:
		return any() % (1 << 20);
	case 2:
		return edge - any() % 5;
	default:
		return edge;
	}
}

#define WAIT_FOR_EVENT CARD_BITS(0xC018EB17, 0xC014EB17)

/* vrfm's own: to flush, to watch, to watch no more, peers. */
#define OWN_WATCH 0xC020EA02
#define OWN_PEERS 0xC030EA04
static const uint32_t own_commands[] = { 0xC018EA01, OWN_WATCH, 0x0000EA03, OWN_PEERS };

static uint32_t command(void)
{
	uint32_t cmd = card_commands[any() % CARD_COMMANDS].cmd;

	if (any() % 16 == 0)
		cmd = own_commands[any() % 4];
	if (any() % 16)
		return cmd;
	return any() % 2 ? cmd ^ 1u << any() % 32 : (uint32_t)any();
}

/* Waits must end: no time to wait that is not short. */
static void tame(uint32_t cmd, uint8_t *bytes)
{
	uint32_t timeout = any() % 3;

	if (cmd == WAIT_FOR_EVENT)
		memcpy(bytes + 8, &timeout, sizeof(timeout));
	else if (cmd == OWN_WATCH)
		memcpy(bytes + 16, &timeout, sizeof(timeout));
}

/* Often enough what is nearly right is needed, or flags alone are ever refused. */
static void own_fill(uint32_t cmd, uint8_t *bytes, void *buffer)
{
	uint32_t length = any() % 8192;

	if (cmd == OWN_WATCH && any() % 2) {
		memcpy(bytes + 4, &length, sizeof(length));
		memset(bytes + 20, 0, 12);
	} else if (cmd == OWN_PEERS && any() % 2) {
		memcpy(bytes, &buffer, sizeof(buffer));
		memcpy(bytes + 8, &length, sizeof(length));
		memset(bytes + 16, 0, 4);
	}
}

static void fill(uint8_t *bytes, void *buffer)
{
	uint32_t words[64];

	for (int i = 0; i < 64; i++)
		words[i] = any() % 2 ? number() : any() % 16;
	memcpy(bytes, words, sizeof(words));
	/* An address, where those of READ and WRITE are. */
	if (any() % 2)
		memcpy(bytes + 8, &buffer, sizeof(buffer));
}

static void *argument(uint32_t cmd, uint8_t *bytes)
{
	if (any() % 8 || cmd == WAIT_FOR_EVENT || cmd == OWN_WATCH)
		return bytes;
	return (void *)(uintptr_t)number();
}

static void mapping(int fd)
{
	size_t len = (any() % 8 + 1) * 4096;
	off_t offset = any() % 260 * 4096;
	int flags = any() % 8 ? MAP_SHARED : MAP_PRIVATE;
	volatile uint8_t *mem = mmap(NULL, len, PROT_READ | PROT_WRITE, flags, fd, offset);

	if (mem == MAP_FAILED)
		return;
	mem[any() % 4096] = any();
	if (any() % 4 == 0)
		mprotect((void *)mem, len, PROT_READ);
	if (any() % 4 == 0)
		madvise((void *)mem, len, MADV_DONTNEED);
	munmap((void *)mem, len);
}

int main(int argc, char **argv)
{
	static uint8_t bytes[512], *buffer;
	long calls, answers[200] = { 0 };
	int fd;

	if (argc != 4)
		errx(2, "fuzz DEVICE CALLS SEED");
	calls = atol(argv[2]);
	state = strtoull(argv[3], NULL, 0) | 1;
	fd = open(argv[1], O_RDWR);
	if (fd < 0)
		err(2, "%s", argv[1]);
	/* As much as a transfer can be: what the kernel writes goes here and nowhere else. */
	buffer = mmap(NULL, 4 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	printf("# seed %s\n", argv[3]);
	for (long i = 0; i < calls; i++) {
		uint32_t cmd = command();

		fill(bytes, buffer);
		own_fill(cmd, bytes, buffer);
		tame(cmd, bytes);
		answers[ioctl(fd, cmd, argument(cmd, bytes)) ? errno : 0]++;
		if (any() % 64 == 0)
			mapping(fd);
	}
	for (int i = 0; i < 200; i++)
		if (answers[i])
			printf("# %s %ld\n", strerrorname_np(i), answers[i]);
	printf("%d %ld calls are answered\n", answers[0] < calls / 10, calls);
	printf("%d wrong ones are refused\n",
	       answers[EINVAL] < calls / 100 || answers[EFAULT] < calls / 100 || !answers[ENOTTY]);
	return 0;
}
