// SPDX-License-Identifier: GPL-2.0
/*
 * Call random commands and system calls of a device and its rings with random
 * arguments, and sometimes map both between them.
 *
 *   fuzz DEVICE CALLS SEED [SHARE]
 *
 * SHARE of 16 calls use the last ring that was created: 2 by default, and at
 * most 12.
 *
 * The program must end, and the kernel must not log a warning. The program
 * counts results by errno. If one errno never occurs, the random numbers are
 * unsuitable.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "card.h"

/* Size of the device, and size of the buffer for transfers, in bytes. */
#define MEMORY 1048576u
#define BUFFER (4 * MEMORY)

static uint64_t state;
/* Descriptor of the last ring that was created, or -1. */
static int ring = -1;
/* Number of calls that create a ring or use one, or execute a batch. */
static long ring_calls;

/* Return a random number (xorshift64), which depends only on the seed. */
static uint64_t any(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* Return a random number, mostly near a limit. */
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

/* Numbers of commands that only vrfm has; 0x0000EA03 below is unwatch. */
#define OWN_FLUSH 0xC018EA01
#define OWN_WATCH 0xC020EA02
#define OWN_PEERS 0xC030EA04
#define OWN_CLAIM 0x4010EA05
#define OWN_UNCLAIM 0x4010EA06
#define OWN_POLL_EVENTS 0x4010EA07
#define OWN_UNWAIT 0x4008EA08
#define OWN_RING 0xC040EA09
#define OWN_SUBSCRIBE 0x4040EA0A
#define OWN_ENTER 0xC020EA0B
#define OWN_BATCH 0xC030EA0C
static const uint32_t own_commands[] = { OWN_FLUSH, OWN_WATCH, 0x0000EA03, OWN_PEERS, OWN_CLAIM, OWN_UNCLAIM,
					OWN_POLL_EVENTS, OWN_UNWAIT, OWN_RING, OWN_SUBSCRIBE, OWN_ENTER, OWN_BATCH };
#define OWN_COMMANDS (sizeof(own_commands) / sizeof(*own_commands))

static uint32_t command(void)
{
	uint32_t cmd = card_commands[any() % CARD_COMMANDS].cmd;

	if (any() % 8 == 0)
		cmd = own_commands[any() % OWN_COMMANDS];
	if (any() % 16)
		return cmd;
	return any() % 2 ? cmd ^ 1u << any() % 32 : (uint32_t)any();
}

/* Set a short timeout in the argument of a wait or watch, so that it ends, and leave LOOP out. */
static void tame(uint32_t cmd, uint8_t *bytes)
{
	uint32_t timeout = any() % 3;

	if (cmd == WAIT_FOR_EVENT)
		memcpy(bytes + 8, &timeout, sizeof(timeout));
	else if (cmd == OWN_WATCH || (cmd == OWN_BATCH && bytes[12] & 4))
		memcpy(bytes + 16, &timeout, sizeof(timeout));
	else if (cmd == OWN_ENTER)
		memcpy(bytes + 16, &(uint64_t){ timeout * 1000000 }, sizeof(uint64_t));
	/* LOOP has no timeout, and no other thread would end it. */
	if (cmd == OWN_ENTER)
		bytes[8] &= ~1;
}

/* Fill in the arguments of a ring: sometimes with one wrong word. */
static void ring_fill(uint8_t *bytes)
{
	const uint32_t words[6] = { 64, any() % 8 ? 0 : number(), any() % 8 ? 64u << any() % 6 : number(),
				    any() % 2 ? 0 : 8u << any() % 8, any() % 2 ? 0 : any() % 1100,
				    any() % 8 ? 1 : number() };

	memset(bytes, 0, 64);
	memcpy(bytes, words, sizeof(words));
	if (any() % 8 == 0)
		bytes[any() % 64] = any();
}

/* Fill in a subscription, or a removal: sometimes with one wrong word. */
static void subscribe_fill(uint8_t *bytes)
{
	const uint32_t flags = any() % 4 ? 0 : 1u << any() % 4, what = flags == 1 ? 0 : 1 + any() % 4;
	const uint32_t events = what == 1 ? 1 + any() % 0xFFF : 0, kinds = what == 4 ? 1 + any() % 0x1FF : 0;
	const uint32_t range[2] = { any() % MEMORY, 1 + any() % 8192 };

	memset(bytes, 0, 64);
	memcpy(bytes, &what, 4);
	memcpy(bytes + 4, &flags, 4);
	if (what == 2 || (what == 4 && any() % 2))
		memcpy(bytes + 8, range, 8);
	bytes[16] = any() % 8;
	memcpy(bytes + 24, &events, 4);
	memcpy(bytes + 28, &kinds, 4);
	if (any() % 8 == 0)
		bytes[any() % 64] = any();
}

/* Fill in a batch of one to four operations in the buffer: sometimes with one wrong byte. */
static void batch_fill(uint8_t *bytes, uint8_t *buffer)
{
	const uint32_t count = 1 + any() % 4, flags = any() % 4 ? 0 : any() % 16, timeout = flags & 4 ? any() % 3 : 0;
	const uint64_t ops = (uintptr_t)buffer;
	uint32_t i;

	memset(buffer, 0, 64 * count);
	for (i = 0; i < count; i++) {
		const uint32_t op = 1 + any() % 4, more = i + 1 < count;
		const uint32_t words[4] = { op | more << 8 | (op == 4 ? 2 << 16 : 0), op == 4 ? 0 : any() % MEMORY,
					    op == 4 ? 0 : 1 + any() % 32, op == 4 ? any() % 5 : 0 };

		memcpy(buffer + 64 * i, words, sizeof(words));
		if (op == 1)
			memcpy(buffer + 64 * i + 16, &ops, 8);
	}
	if (any() % 4 == 0)
		buffer[any() % (64 * count)] = any();
	memset(bytes, 0, 48);
	memcpy(bytes, &ops, 8);
	memcpy(bytes + 8, &count, 4);
	memcpy(bytes + 12, &flags, 4);
	memcpy(bytes + 16, &timeout, 4);
	if (any() % 8 == 0)
		bytes[any() % 48] = any();
}

/*
 * Fill in a random range of the memory, with flags and reserved words of zero.
 */
static void own_range(uint8_t *bytes)
{
	uint32_t words[4] = { any() % MEMORY, any() % (any() % 4 ? 8192 : MEMORY) };

	memcpy(bytes, words, sizeof(words));
}

/*
 * Fill in an argument, which is often nearly valid. Most random arguments would
 * already fail at the check of their flags.
 */
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
	} else if (cmd == OWN_FLUSH && any() % 2) {
		memset(bytes + 4, 0, 4);
		memset(bytes + 20, 0, 4);
	} else if ((cmd == OWN_CLAIM || cmd == OWN_UNCLAIM) && any() % 4) {
		own_range(bytes);
	} else if (cmd == OWN_POLL_EVENTS && any() % 4) {
		memset(bytes + 2, 0, 2);
		memset(bytes + 6, 0, 10);
	} else if (cmd == OWN_UNWAIT && any() % 4) {
		memset(bytes + 1, 0, 7);
	} else if (cmd == OWN_RING && any() % 4) {
		ring_fill(bytes);
	} else if (cmd == OWN_SUBSCRIBE && any() % 8) {
		subscribe_fill(bytes);
	} else if (cmd == OWN_ENTER && any() % 8) {
		memset(bytes, 0, 32);
		bytes[0] = any() % 2 ? any() % 16 : 0;
		bytes[4] = any();
		bytes[8] = any() % 2 ? any() & 6 : 0;
	} else if (cmd == OWN_BATCH && any() % 8) {
		batch_fill(bytes, buffer);
	}
}

static void fill(uint8_t *bytes, void *buffer)
{
	uint32_t words[64];

	for (int i = 0; i < 64; i++)
		words[i] = any() % 2 ? number() : any() % 16;
	memcpy(bytes, words, sizeof(words));
	/*
	 * Put a valid address where the arguments of READ and WRITE have one.
	 */
	if (any() % 2)
		memcpy(bytes + 8, &buffer, sizeof(buffer));
}

static void *argument(uint32_t cmd, uint8_t *bytes)
{
	if (any() % 8 || cmd == WAIT_FOR_EVENT || cmd == OWN_WATCH || cmd == OWN_ENTER)
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

/*
 * Return an address for a call: valid, invalid, or in a mapping of the device.
 */
static void *address(uint8_t *buffer, uint8_t *memory)
{
	switch (any() % 8) {
	case 0:
		return (void *)(uintptr_t)number();
	case 1:
		return memory + any() % MEMORY;
	case 2:
		return buffer + BUFFER - any() % 4096;
	default:
		return buffer + any() % BUFFER;
	}
}

/* Return a length for a call, mostly a valid one, and rarely a huge one. */
static size_t length(void)
{
	switch (any() % 8) {
	case 0:
		return number();
	case 1:
		return any() % (2 * MEMORY);
	default:
		return any() % 9000;
	}
}

static off_t position(void)
{
	return any() % 4 ? (off_t)(any() % (MEMORY + 8)) : (off_t)number();
}

/*
 * Return a length for madvise(). The length is limited, because the range must
 * end inside the addresses that place() has reserved. The program needs the
 * pages behind them.
 */
static size_t pages(void)
{
	return any() % 16 * 4096 + any() % 4 / 3;
}

static int wait_for_it(int fd)
{
	struct pollfd polled = { .fd = fd, .events = any() };

	return poll(&polled, 1, any() % 3);
}

/* Make a random system call with the open device. */
static long call(int fd, uint8_t *buffer, uint8_t *memory)
{
	switch (any() % 16) {
	case 0:
		return lseek(fd, position(), any() % 6);
	case 1:
		return wait_for_it(fd);
	case 2:
		return fcntl(fd, F_SETFL, any() % 4 ? 0 : O_NONBLOCK);
	case 3:
		return fsync(fd);
	case 4:
		return madvise(memory + any() % 256 * 4096, pages(), any() % 32);
	case 5:
		return msync(memory + any() % 256 * 4096, length(), any() % 8);
	case 6:
	case 7:
	case 8:
		return read(fd, address(buffer, memory), length());
	case 9:
	case 10:
		return write(fd, address(buffer, memory), length());
	case 11:
	case 12:
		return pread(fd, address(buffer, memory), length(), position());
	default:
		return pwrite(fd, address(buffer, memory), length(), position());
	}
}

static long command_at_random(int fd, uint32_t cmd, uint8_t *buffer)
{
	static uint8_t bytes[512];
	int ret;

	fill(bytes, buffer);
	own_fill(cmd, bytes, buffer);
	tame(cmd, bytes);
	ring_calls += cmd == OWN_RING || cmd == OWN_BATCH;
	ret = ioctl(fd, cmd, argument(cmd, bytes));
	if (cmd != OWN_RING || ret < 0)
		return ret;
	/* A read() without O_NONBLOCK would wait for a record without a limit. */
	fcntl(ret, F_SETFL, O_NONBLOCK);
	close(ring);
	ring = ret;
	return 0;
}

/* Map an area of the ring, and write random indices if it can be written. */
static long ring_mapping(void)
{
	int prot = any() % 2 ? PROT_READ : PROT_READ | PROT_WRITE;
	off_t offset = any() % 2 * 0x10000000 + (any() % 8 ? 0 : any() % 40 * 4096);
	size_t len = (any() % 4 ? 1 : 1 + any() % 34) * 4096;
	volatile uint32_t *area = mmap(NULL, len, prot, any() % 8 ? MAP_SHARED : MAP_PRIVATE, ring, offset);

	if (area == MAP_FAILED)
		return -1;
	for (int i = 0; i < 3 && prot & PROT_WRITE; i++)
		area[any() % 4 ? i : 16] = any() % 2 ? area[0] + any() % 128 : number();
	if (any() % 4 == 0)
		madvise((void *)area, len, MADV_DONTNEED);
	return munmap((void *)area, len);
}

/* Make a random call with the ring. */
static long ring_call(uint8_t *buffer, uint8_t *memory)
{
	switch (any() % 8) {
	case 0:
		return wait_for_it(ring);
	case 1:
		return read(ring, address(buffer, memory), length());
	case 2:
	case 3:
		return ring_mapping();
	case 4:
		return command_at_random(ring, any() % 2 ? command() : OWN_ENTER, buffer);
	case 5:
		return command_at_random(ring, OWN_ENTER, buffer);
	default:
		return command_at_random(ring, OWN_SUBSCRIBE, buffer);
	}
}

static long any_call(int fd, uint8_t *buffer, uint8_t *memory, uint32_t share)
{
	const uint32_t kind = any() % 16;

	if (kind < share) {
		ring_calls++;
		return ring_call(buffer, memory);
	}
	switch (kind) {
	case 12:
	case 13:
	case 14:
		return call(fd, buffer, memory);
	case 15:
		return command_at_random(fd, OWN_RING, buffer);
	default:
		return command_at_random(fd, command(), buffer);
	}
}

/*
 * Reserve addresses for the buffer and the mapping of the device, each followed
 * by unused addresses. A write beyond one of them then does not overwrite other
 * memory of this program.
 */
static uint8_t *place(void)
{
	void *room = mmap(NULL, 4 * BUFFER, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (room == MAP_FAILED)
		err(2, "mmap");
	return room;
}

static void map(uint8_t *at, size_t len, int fd, int flags)
{
	void *memory = mmap(at, len, PROT_READ | PROT_WRITE, flags | MAP_FIXED, fd, 0);

	if (memory == MAP_FAILED)
		err(2, "mmap");
}

int main(int argc, char **argv)
{
	const uint32_t share = argc == 5 ? atoi(argv[4]) : 2;
	uint8_t *buffer, *memory;
	long calls, answers[200] = { 0 };
	int fd;

	if (argc != 4 && argc != 5)
		errx(2, "fuzz DEVICE CALLS SEED [SHARE]");
	calls = atol(argv[2]);
	state = strtoull(argv[3], NULL, 0) | 1;
	fd = open(argv[1], O_RDWR);
	if (fd < 0)
		err(2, "%s", argv[1]);
	/*
	 * The reserved addresses are enough for any transfer, so the kernel
	 * does not write to other memory of this program.
	 */
	buffer = place();
	memory = buffer + 2 * BUFFER;
	map(buffer, BUFFER, -1, MAP_PRIVATE | MAP_ANONYMOUS);
	map(memory, MEMORY, fd, MAP_SHARED);
	printf("# seed %s\n", argv[3]);
	for (long i = 0; i < calls; i++) {
		long ret = any_call(fd, buffer, memory, share);

		answers[ret < 0 ? errno : 0]++;
		if (any() % 64 == 0)
			mapping(fd);
	}
	for (int i = 0; i < 200; i++)
		if (answers[i])
			printf("# %s %ld\n", strerrorname_np(i), answers[i]);
	printf("# rings %ld\n", ring_calls);
	printf("%d at least 10 %% of %ld calls succeed\n", answers[0] < calls / 10, calls);
	printf("%d invalid calls are refused by EINVAL, EFAULT and ENOTTY\n",
	       answers[EINVAL] < calls / 100 || answers[EFAULT] < calls / 100 || !answers[ENOTTY]);
	return 0;
}
