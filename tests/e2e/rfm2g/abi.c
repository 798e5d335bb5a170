// SPDX-License-Identifier: GPL-2.0
/*
 * Test the commands and mappings that programs for the cards use, on a device
 * without peers.
 *
 *   abi DEVICE NODE SIZE
 *
 * Print a line for each case: "0 CASE" if it succeeds, "1 CASE" if it fails.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "card.h"

#define INFINITE 0xFFFFFFFFU
#define PAGE 4096

static const char *path;
static uint32_t node, size;
static int fd;

static void is(bool good, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	printf("%d ", !good);
	vprintf(format, args);
	putchar('\n');
	va_end(args);
	fflush(stdout);
}

/* Run the command NAME of the table card_commands. Return 0 or its errno. */
static int card(int file, const char *name, void *arg)
{
	for (int i = 0; i < CARD_COMMANDS; i++)
		if (!strcmp(card_commands[i].name, name))
			return ioctl(file, card_commands[i].cmd, arg) ? errno : 0;
	errx(2, "no command %s", name);
}

static int value(const char *name, unsigned long arg)
{
	return card(fd, name, (void *)arg);
}

static void gives(int wanted, int got, const char *what)
{
	is(got == wanted, "%s: %d (%s)", what, got, got < 0 ? "still waiting" : strerrorname_np(got) ?: "?");
}

static int peek(uint32_t offset, int width, uint64_t *data)
{
	struct card_atomic atomic = { .data = ~0ULL, .offset = offset, .width = width };
	int ret = card(fd, "ATOMIC_PEEK", &atomic);

	*data = atomic.data;
	return ret;
}

static int poke(uint32_t offset, int width, uint64_t data)
{
	struct card_atomic atomic = { .data = data, .offset = offset, .width = width };

	return card(fd, "ATOMIC_POKE", &atomic);
}

static int transfer(const char *name, uint32_t offset, void *buffer, uint32_t length)
{
	struct card_transfer t = { offset, length, (uintptr_t)buffer };

	return card(fd, name, &t);
}

static int reg(const char *name, uint32_t set, uint32_t offset, uint32_t width, uint32_t *val)
{
	struct card_reg r = { set, offset, width, *val };
	int ret = card(fd, name, &r);

	*val = r.value;
	return ret;
}

static uint32_t reg_value(uint32_t set, uint32_t offset, uint32_t width)
{
	uint32_t val = 0;

	return reg("READ_REG", set, offset, width, &val) ? 0xDEADDEAD : val;
}

static int event(const char *name, uint32_t type, uint16_t to, uint32_t timeout)
{
	struct card_event e = { .event = type, .node = to, .timeout = timeout };

	return card(fd, name, &e);
}

/* Call every command with an argument of the valid kind and size. */
static void all_commands(void)
{
	uint8_t buffer[256 + 64];
	int wrong = 0, wide = 0;

	for (int i = 0; i < CARD_COMMANDS; i++) {
		const struct card_command *c = &card_commands[i];
		int ret;

		if (!strcmp(c->name, "WAIT_FOR_EVENT") || !strcmp(c->name, "CANCEL_EVENT"))
			continue;
		memset(buffer, 0, sizeof(buffer));
		if (!strncmp(c->name, "ATOMIC", 6))
			buffer[12] = 4;
		if (strstr(c->name, "_REG"))
			buffer[8] = 4;
		if (!strcmp(c->name, "SET_SPECIAL_MMAP_OFFSET"))
			buffer[0] = 2;
		if (!strcmp(c->name, "SEND_EVENT"))
			memset(buffer + 12, 0xFF, 2);
		memset(buffer + c->bytes, 0xA5, 64);
		ret = ioctl(fd, c->cmd, c->mode == CARD_VALUE ? (void *)0 : buffer);
		if (ret) {
			wrong++;
			printf("# %s: %s\n", c->name, strerror(errno));
		}
		for (int k = 0; k < 64; k++)
			wide += buffer[c->bytes + k] != 0xA5;
	}
	is(!wrong, "%d commands are answered", CARD_COMMANDS);
	is(!wide, "no command writes beyond its argument");
	/*
	 * SET_SPECIAL_MMAP_OFFSET has requested that the next mmap() maps
	 * registers. Call mmap(), so that later mappings are of the memory.
	 */
	munmap(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, PAGE), PAGE);
}

static void foreign_commands(void)
{
	uint8_t buffer[512] = { 0 };
	int unknown = 0, foreign = 0;

	for (uint32_t nr = 0; nr < 256; nr++)
		for (uint32_t dir = 0; dir < 4; dir++) {
			uint32_t cmd = dir << 30 | 3 << 16 | 0xEB << 8 | nr;

			unknown += ioctl(fd, cmd, buffer) == -1 && errno == EINVAL;
			cmd = dir << 30 | 3 << 16 | 0xEA << 8 | nr;
			foreign += ioctl(fd, cmd, buffer) == -1 && errno == ENOTTY;
		}
	is(unknown == 1024, "unknown commands: EINVAL for %d of 1024", unknown);
	is(foreign == 1024, "commands with another magic: ENOTTY for %d of 1024", foreign);
	is(ioctl(fd, 0x8004EB33, buffer) == -1 && errno == EINVAL, "a known command with another size: EINVAL");
	is(ioctl(fd, CARD_BITS(0x4014EB14, 0x4010EB14), buffer) == -1 && errno == EINVAL,
	   "a command of another word size: EINVAL");
	is(ioctl(fd, 0xC0F4EB1E, NULL) == -1 && errno == EFAULT, "a command with a NULL pointer: EFAULT");
}

/*
 * Call commands with the structures of programs of 64 bits, even if this
 * program has 32 bits. Programs of 32 bits that are compiled with vrfm's header
 * pass these structures.
 */
static void wide_commands(void)
{
	struct { uint32_t offset, length; uint64_t buffer; } t = { .offset = 700, .length = 4 };
	struct { uint32_t data, event, timeout; uint16_t node, pad; uint64_t spare; } e = {
		.event = 1, .spare = ~0ULL
	};
	uint32_t word = 0xC0FFEE, back = 0;

	t.buffer = (uintptr_t)&word;
	gives(0, ioctl(fd, 0x4008EB4A, &t) ? errno : 0, "WRITE with an address of 64 bits");
	t.buffer = (uintptr_t)&back;
	gives(0, ioctl(fd, 0x4008EB49, &t) ? errno : 0, "READ with an address of 64 bits");
	is(back == 0xC0FFEE, "READ with an address of 64 bits returns the written word: 0x%x", back);
	t.buffer = ~0ULL;
	gives(EFAULT, ioctl(fd, 0x4008EB49, &t) ? errno : 0, "READ with an address that cannot exist: EFAULT");
	gives(0, ioctl(fd, 0x4018EB14, &e) ? errno : 0, "ENABLE_EVENT with 24 bytes");
	gives(ETIMEDOUT, ioctl(fd, 0xC018EB17, &e) ? errno : 0, "WAIT_FOR_EVENT with 24 bytes times out");
	is(e.spare == ~0ULL, "WAIT_FOR_EVENT with 24 bytes leaves the reserved word alone");
	gives(0, ioctl(fd, 0x4018EB15, &e) ? errno : 0, "DISABLE_EVENT with 24 bytes");
}

static uint32_t at(const uint8_t *bytes, int offset, int width)
{
	uint32_t val = 0;

	memcpy(&val, bytes + offset, width);
	return val;
}

static void config(void)
{
	static const struct { const char *name; int offset, width; uint32_t wanted; } fixed[] = {
		{ "BoardId", 2, 1, 0x65 }, { "PlxRevision", 4, 1, 0xAD }, { "RevisionId", 189, 1, 1 },
		{ "OrWindowSize", 196, 4, 0x200 }, { "OrRegSize", 200, 4, 0x200 }, { "CsWindowSize", 204, 4, 0x40 },
		{ "CsRegSize", 208, 4, 0x40 }, { "type", 220, 2, 0x5565 }, { "base", 228, 4, 0 },
		{ "CsBase", 232, 4, 0 }, { "OrBase", 236, 4, 0 }, { "gap at 5", 5, 3, 0 },
		{ "gap at 190", 190, 2, 0 }, { "gap at 226", 226, 2, 0 }, { "gap at 242", 242, 2, 0 },
	};
	uint8_t c[244];
	int wrong = 0;

	memset(c, 0xFF, sizeof(c));
	gives(0, card(fd, "GET_CONFIG", c), "configuration");
	for (unsigned int i = 0; i < sizeof(fixed) / sizeof(*fixed); i++)
		if (at(c, fixed[i].offset, fixed[i].width) != fixed[i].wanted) {
			wrong++;
			printf("# %s: 0x%x\n", fixed[i].name,
			       at(c, fixed[i].offset, fixed[i].width));
		}
	is(!wrong, "the configuration has the values of all devices");
	is(at(c, 0, 2) == node, "the configuration has node %u", node);
	is(at(c, 8, 4) == size && at(c, 212, 4) == size, "the configuration has a memory and window of %u", size);
	is(!strcmp((char *)c + 12, path), "the configuration has the name %s", path);
	is(at(c, 3, 1) == (uint32_t)(path[strlen(path) - 1] - '0'),
	   "the unit in the configuration is that of the name");
	for (int end = 140, k = strlen((char *)c + 12) + 12; k < end; k++)
		wrong += c[k] != 0;
	for (int end = 172, k = strlen((char *)c + 140) + 140; k < end; k++)
		wrong += c[k] != 0;
	for (int end = 188, k = strlen((char *)c + 172) + 172; k < end; k++)
		wrong += c[k] != 0;
	is(!wrong && c[172] && c[140], "texts in the configuration are followed by zeroes");
	is(at(c, 192, 4) == reg_value(2, 8, 4),
	   "LCSR1 in the configuration is that of the register: 0x%x", at(c, 192, 4));
	is(at(c, 188, 1) == reg_value(2, 0, 1),
	   "the revision in the configuration is that of the register: 0x%x", at(c, 188, 1));
	is(reg_value(2, 4, 1) == node && reg_value(2, 1, 1) == 0x65, "the registers have node and board");
}

static void window(void)
{
	uint32_t range = reg_value(0, 0xF0, 4), base = reg_value(0, 0xF4, 4);
	bool real = size == 64 << 20 || size == 128 << 20 || size == 256 << 20;

	is(reg_value(2, 0, 1) == (real ? 0x8C : 0x8B),
	   "the revision shows a window if cards of that size have one: %s", real ? "yes" : "no");
	is(range == -size && base == 1, "the window is the whole memory: range 0x%x", range);
	is((reg_value(2, 8, 4) >> 20 & 3) ==
	   (size == 64 << 20 ? 0u : size == 128 << 20 ? 1u : size == 256 << 20 ? 2u : 3u), "LCSR1 shows the size");
	gives(0, value("SET_SLIDING_WINDOW_OFFSET", 0), "the window is set to offset 0");
	gives(EINVAL, value("SET_SLIDING_WINDOW_OFFSET", 2 << 20), "setting the window to another offset: EINVAL");
}

static void *map(off_t offset, size_t len, int prot, int flags)
{
	void *mem = mmap(NULL, len, prot, flags, fd, offset);

	return mem == MAP_FAILED ? NULL : mem;
}

/*
 * Check that a mapping, the commands for single values, blocks and registers,
 * and read() and write() access the same memory.
 */
static void coherence(void)
{
	volatile uint8_t *mem = map(0, size, PROT_READ | PROT_WRITE, MAP_SHARED);
	uint8_t block[64], back[64];
	uint64_t data;
	int wrong = 0;

	is(mem, "the whole memory can be mapped");
	if (!mem)
		return;
	for (int i = 0; i < 64; i++)
		block[i] = i * 7 + 1;
	for (uint32_t offset = 1000; offset < 1008; offset++)
		for (int width = 1; width <= 4; width *= 2) {
			wrong += poke(offset, width, 0x1122334455667788) != 0;
			wrong += peek(offset, width, &data) != 0;
			wrong += data != (0x55667788 & (0xFFFFFFFFULL >> (32 - 8 * width)));
			wrong += memcmp((void *)(mem + offset), &data, width) != 0;
		}
	is(!wrong, "peek and a mapping see each poke, of its width only");
	is(!transfer("WRITE", 5001, block, 63) && !memcmp((void *)(mem + 5001), block, 63),
	   "a mapping sees WRITE");
	is(!transfer("READ", 5001, back, 63) && !memcmp(back, block, 63), "READ returns the data of WRITE");
	is(pwrite(fd, block, 64, 9000) == 64 && !memcmp((void *)(mem + 9000), block, 64), "a mapping sees pwrite()");
	memset((void *)(mem + 9000), 0x5A, 64);
	is(pread(fd, back, 64, 9000) == 64 && back[0] == 0x5A && back[63] == 0x5A,
	   "pread() returns stored bytes");
	is(!peek(9000, 4, &data) && data == 0x5A5A5A5A, "peek returns stored bytes");
	is(reg_value(3, 9000, 2) == 0x5A5A, "READ_REG of the memory returns stored bytes");
	is(!munmap((void *)mem, size), "the whole memory is unmapped");
}

/*
 * Check that two mappings and a child see each other's stores, and that parts
 * of a mapping can be unmapped.
 */
static void mappings(void)
{
	volatile uint32_t *one = map(0, 8 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED);
	volatile uint32_t *two = map(2 * PAGE, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED);
	int status;

	is(one && two, "a place is mapped twice");
	if (!one || !two)
		return;
	one[2 * PAGE / 4] = 0x12345678;
	is(two[0] == 0x12345678, "two mappings of a place see each other's stores");
	if (!fork()) {
		two[1] = 0x9ABCDEF0;
		_exit(one[2 * PAGE / 4] != 0x12345678);
	}
	wait(&status);
	is(!status && one[2 * PAGE / 4 + 1] == 0x9ABCDEF0, "a mapping sees a store of a child");
	is(!munmap((void *)(one + 2 * PAGE / 4), PAGE), "a page in the middle of a mapping is unmapped");
	is(one[0] + 1 && one[3 * PAGE / 4] + 1 && two[0] == 0x12345678,
	   "other pages stay mapped when a page is unmapped");
	munmap((void *)one, 8 * PAGE);
	gives(0, card(fd, "CLEAR_DMA_MMAP_OFFSET", (void *)(uintptr_t)two),
	      "CLEAR_DMA_MMAP_OFFSET of a mapping of the memory");
	munmap((void *)two, 2 * PAGE);
	is(!map(size - PAGE, 2 * PAGE, PROT_READ, MAP_SHARED) && errno == EAGAIN, "mapping across the end: EAGAIN");
	is(!map(size, PAGE, PROT_READ, MAP_SHARED) && errno == EAGAIN, "mapping behind the end: EAGAIN");
	is(!map(0, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE) && errno == EINVAL,
	   "a private, writable mapping: EINVAL");
	one = map(0, PAGE, PROT_READ, MAP_PRIVATE);
	is(one && mprotect((void *)one, PAGE, PROT_READ | PROT_WRITE) && errno == EACCES,
	   "making a private mapping writable: EACCES");
	munmap((void *)one, PAGE);
}

static void *special(uint64_t what, size_t len)
{
	return card(fd, "SET_SPECIAL_MMAP_OFFSET", &what) ? NULL : map(PAGE, len, PROT_READ | PROT_WRITE, MAP_SHARED);
}

static volatile bool toggled;

static void *toggle(void *arg)
{
	(void)arg;
	for (int i = 0; i < 20000; i++)
		value("SET_LED", i & 1);
	toggled = true;
	return NULL;
}

/*
 * Check that a mapped page of registers always shows the board id while another
 * thread changes other bits of the page.
 */
static void whole_pictures(const volatile uint8_t *bar2)
{
	pthread_t thread;
	long looks = 0, missing = 0;

	if (pthread_create(&thread, NULL, toggle, NULL))
		err(2, "thread");
	for (; !toggled; looks++)
		missing += bar2[1] != 0x65;
	pthread_join(thread, NULL);
	toggled = false;
	is(!missing, "polling a mapped register sees the board id: %ld of %ld times not", missing, looks);
	value("SET_LED", 0);
}

/* Check that a second open file has its own copy of the mapped registers. */
static void own_pictures(volatile uint32_t *bar0)
{
	int mine = fd, other = open(path, O_RDWR);
	volatile uint32_t *others;

	fd = other;
	others = special(2, PAGE);
	fd = mine;
	bar0[0xF0 / 4] = 0x12345678;
	is(others && others[0xF0 / 4] == reg_value(0, 0xF0, 4), "a store into BAR0 is not seen by another open file");
	if (others)
		munmap((void *)others, PAGE);
	close(other);
}

static void special_maps(void)
{
	volatile uint32_t *bar0 = special(2, PAGE), *bar2 = special(4, PAGE);
	uint8_t *dma = special(0x40000001, 64 * PAGE);
	uint64_t what = 0x40000801;
	uint32_t wrong = 0, mask = 1u << 31;

	is(bar0 && bar2 && dma, "registers and a DMA buffer can be mapped");
	if (!bar0 || !bar2 || !dma)
		return;
	is(bar2[2] == reg_value(2, 8, 4) && ((volatile uint8_t *)bar2)[4] == node, "BAR2 shows LCSR1 and the node");
	is(bar0[0xF0 / 4] == reg_value(0, 0xF0, 4), "BAR0 shows the window");
	own_pictures(bar0);
	whole_pictures((volatile uint8_t *)bar2);
	reg("SET_REG", 2, 8, 4, &mask);
	is(bar2[2] & 1u << 31, "mapped BAR2 shows a changed bit");
	reg("CLEAR_REG", 2, 8, 4, &mask);
	bar2[2] = 0xFFFFFFFF;
	is(!(reg_value(2, 8, 4) & 1u << 31), "a store into mapped BAR2 does not change the register");
	for (int i = 0; i < 64 * PAGE; i++)
		wrong += dma[i];
	is(!wrong, "a new DMA buffer is zero");
	memset(dma, 0x77, 64 * PAGE);
	is(!transfer("WRITE", 0, dma, PAGE) && !transfer("READ", 0, dma + PAGE, PAGE),
	   "READ and WRITE use the DMA buffer");
	munmap(dma, 64 * PAGE);
	munmap((void *)bar0, PAGE);
	munmap((void *)bar2, PAGE);
	gives(EFAULT, card(fd, "SET_SPECIAL_MMAP_OFFSET", &what), "a DMA buffer at an unaligned address: EFAULT");
	what = 8;
	gives(EFAULT, card(fd, "SET_SPECIAL_MMAP_OFFSET", &what), "a special mapping of an unknown kind: EFAULT");
	is(!special(1, PAGE) && errno == EAGAIN, "a DMA buffer at 0: EAGAIN");
	bar2 = special(6, PAGE);
	is(bar2 && bar2[0xF4 / 4] == 1, "a special mapping with two flags is that of the lower one");
	munmap((void *)bar2, PAGE);
	poke(PAGE, 4, 0xFEEDBEEF);
	bar2 = map(PAGE, PAGE, PROT_READ, MAP_SHARED);
	is(bar2 && bar2[0] == 0xFEEDBEEF, "the mapping after a special one is of the memory");
	munmap((void *)bar2, PAGE);
}

static void bounds(void)
{
	static uint8_t block[2 * PAGE];
	uint64_t data;

	gives(0, poke(size - 1, 1, 0x42), "poke of the last byte");
	is(!peek(size - 1, 1, &data) && data == 0x42, "peek of the last byte");
	gives(EINVAL, peek(size, 1, &data), "peek behind the end");
	gives(EINVAL, peek(size - 3, 4, &data), "peek across the end");
	gives(EINVAL, peek(0xFFFFFFFF, 2, &data), "peek around 32 bits");
	gives(EINVAL, peek(0, 8, &data), "peek with a width of 8");
	gives(EINVAL, poke(0, 3, 0), "poke with a width of 3");
	gives(0, transfer("READ", size - 16, block, 16), "READ of the last bytes");
	gives(EFAULT, transfer("READ", size - 15, block, 16), "READ across the end");
	gives(EFAULT, transfer("WRITE", 0xFFFFFFFF, block, 2), "WRITE around 32 bits");
	gives(EFAULT, transfer("WRITE", 16, block, 0xFFFFFFF8), "WRITE with a length around 32 bits");
	gives(0, transfer("READ", 0xFFFFFFFF, NULL, 0), "READ of 0 bytes at any offset");
	gives(EFAULT, transfer("WRITE", 0, (void *)8, 64), "WRITE of 64 bytes from a bad address");
	gives(EFAULT, transfer("WRITE", 0, (void *)8, PAGE), "WRITE of a page from a bad address");
	gives(EFAULT, transfer("READ", 0, (void *)8, 4), "READ to a bad address");
	is(pread(fd, block, sizeof(block), size - 100) == 100, "pread() across the end is short");
	is(pread(fd, block, 1, size) == 0, "pread() behind the end returns 0");
	is(pwrite(fd, block, 200, size - 100) == 100, "pwrite() across the end is short");
	is(pwrite(fd, block, 1, size) == -1 && errno == ENOSPC, "pwrite() behind the end: ENOSPC");
}

/* Call write() with readable pages, followed by pages that cannot be read. */
static void partial_write(void)
{
	const size_t good = 3 * 131072, all = 4 * 131072;
	uint8_t *bytes = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ssize_t done;

	pread(fd, bytes, good, 0);
	mprotect(bytes + good, all - good, PROT_NONE);
	lseek(fd, 0, SEEK_SET);
	is(write(fd, bytes, all) == (ssize_t)good && lseek(fd, 0, SEEK_CUR) == (off_t)good,
	   "write() returns the bytes stored before an unreadable page");
	is(write(fd, bytes + good, all - good) == -1 && errno == EFAULT && lseek(fd, 0, SEEK_CUR) == (off_t)good,
	   "the next write() from an unreadable page: EFAULT");
	lseek(fd, 3, SEEK_SET);
	done = write(fd, bytes, all);
	is(done > 0 && done < (ssize_t)good && (done + 3) % 8 == 0,
	   "write() to an unaligned offset stores whole words before an unreadable page");
	pwrite(fd, bytes, good, 0);
	is(pwrite(fd, bytes + good - 100, 101, 3) == -1 && errno == EFAULT,
	   "a small pwrite() across an unreadable page stores nothing");
	munmap(bytes, all);
}

static void file_position(void)
{
	uint8_t block[100];

	is(lseek(fd, 300, SEEK_SET) == 300 && read(fd, block, 100) == 100 && lseek(fd, 0, SEEK_CUR) == 400,
	   "read() moves the position");
	is(write(fd, block, 50) == 50 && lseek(fd, 0, SEEK_CUR) == 450, "write() moves the position");
	partial_write();
	is(lseek(fd, -10, SEEK_END) == (off_t)size - 10, "SEEK_END is the size of the memory");
	is(lseek(fd, (off_t)size + 1, SEEK_SET) == -1 && errno == EINVAL, "lseek() behind the end: EINVAL");
	is(!fsync(fd), "fsync() succeeds");
}

static uint32_t lcsr(void)
{
	return reg_value(2, 8, 4);
}

/* Check each switch of a card by its commands, and by its bit in LCSR1. */
static void switches(void)
{
	static const struct { const char *set, *get; uint32_t bit; } all[] = {
		{ "SET_LED", "GET_LED", 31 }, { "SET_TRANSMIT_DISABLE", "GET_TRANSMIT_DISABLE", 30 },
		{ "SET_DARK_ON_DARK", "GET_DARK_ON_DARK", 29 }, { "SET_LOOPBACK", "GET_LOOPBACK", 28 },
		{ "SET_PARITY_ENABLE", "GET_PARITY_ENABLE", 27 },
	};
	uint8_t on = 9;

	for (int i = 0; i < 5; i++) {
		uint32_t mask = 1u << all[i].bit;
		bool good = !value(all[i].set, 0x100) && !card(fd, all[i].get, &on) && on == 1;

		good = good && (lcsr() & mask);
		good = good && !value(all[i].set, 0) && !card(fd, all[i].get, &on) && on == 0 && !(lcsr() & mask);
		good = good && !reg("SET_REG", 2, 8, 4, &mask) && !card(fd, all[i].get, &on) && on == 1;
		good = good && !reg("CLEAR_REG", 2, 8, 4, &mask) && !card(fd, all[i].get, &on) && on == 0;
		is(good, "%s sets and clears bit %u of LCSR1, and vice versa", all[i].set, all[i].bit);
	}
	is(!value("SET_DMA_BYTE_SWAP", 1) && !card(fd, "GET_DMA_BYTESWAP", &on) && on == 1 &&
	   reg_value(0, 12, 4) & 1 << 7, "SET_DMA_BYTE_SWAP is kept");
	value("SET_DMA_BYTE_SWAP", 0);
	is(!value("SET_PIO_BYTE_SWAP", 1) && !card(fd, "GET_PIO_BYTESWAP", &on) && on == 1 &&
	   reg_value(0, 12, 4) & 1 << 5, "SET_PIO_BYTE_SWAP is kept");
	gives(EINVAL, poke(2, 4, 0), "poke to an unaligned offset with byte swap: EINVAL");
	gives(0, poke(4, 4, 0x01020304), "poke to an aligned offset with byte swap");
	value("SET_PIO_BYTE_SWAP", 0);
	is(reg_value(3, 4, 4) == 0x01020304, "poke with byte swap does not swap");
}

static void numbers(void)
{
	uint32_t val = 77;
	int other = open(path, O_RDWR);

	is(!card(fd, "GET_DMA_THRESHOLD", &val) && val == 0xFFFFFFFF, "DMA threshold: never");
	val = 4096;
	is(!card(fd, "SET_DMA_THRESHOLD", &val) && !card(fd, "GET_DMA_THRESHOLD", &val) && val == 4096,
	   "SET_DMA_THRESHOLD is kept");
	is(!card(other, "GET_DMA_THRESHOLD", &val) && val == 0xFFFFFFFF,
	   "SET_DMA_THRESHOLD does not change other files");
	is(!card(fd, "GET_DEBUG_FLAGS", &val) && val == 1, "the default of the debug flags is errors");
	is(!value("SET_DEBUG_FLAGS", 0x40001) && !card(other, "GET_DEBUG_FLAGS", &val) && val == 0x40001,
	   "SET_DEBUG_FLAGS is kept, for all files");
	value("SET_DEBUG_FLAGS", 1);
	is(!card(fd, "GET_MEMORY_OFFSET", &val) && val == 0, "the memory offset is 0");
	gives(EINVAL, value("SET_MEMORY_OFFSET", 1), "setting another memory offset");
	gives(EINVAL, value("SET_MEMORY_OFFSET", 4), "setting an invalid memory offset");
	close(other);
}

static void registers(void)
{
	uint32_t val = 0xABCD1234, wrong = 0;

	is(!reg("WRITE_REG", 2, 0x18, 4, &val) && reg_value(2, 0x18, 4) == val,
	   "WRITE_REG sets the data of the next event");
	val = 0x77;
	is(!reg("WRITE_REG", 2, 0x1C, 1, &val) && reg_value(2, 0x1C, 1) == 0x77,
	   "WRITE_REG sets the target of the next event");
	is(reg_value(2, 0x18, 4) == 0xABCD1234, "WRITE_REG of one byte does not change other registers");
	val = 0x55;
	is(!reg("WRITE_REG", 2, 4, 1, &val) && reg_value(2, 4, 1) == node, "WRITE_REG does not change the node");
	is(!reg("WRITE_REG", 0, 0xF0, 4, &val) && reg_value(0, 0xF0, 4) == -size,
	   "WRITE_REG does not change the window");
	for (uint32_t offset = 0; offset < 64; offset++)
		wrong += reg("READ_REG", 2, offset, 1, &val) != 0;
	for (uint32_t offset = 0; offset < 512; offset++)
		wrong += reg("READ_REG", 0, offset, 1, &val) != 0;
	is(!wrong, "each byte of both register spaces can be read");
	gives(EINVAL, reg("READ_REG", 2, 61, 4, &val), "READ_REG across the end of BAR2");
	gives(EINVAL, reg("READ_REG", 0, 509, 4, &val), "READ_REG across the end of BAR0");
	gives(EINVAL, reg("READ_REG", 3, size - 3, 4, &val), "READ_REG across the end of the memory");
	gives(EINVAL, reg("WRITE_REG", 2, 0xFFFFFFFF, 4, &val), "WRITE_REG around 32 bits");
	gives(EINVAL, reg("READ_REG", 1, 0, 4, &val), "READ_REG of a space that does not exist");
	gives(EINVAL, reg("READ_REG", 2, 0, 8, &val), "READ_REG with a width of 8");
	val = 0xF0;
	poke(2000, 4, 0x0F);
	is(!reg("SET_REG", 3, 2000, 4, &val) && reg_value(3, 2000, 4) == 0xFF, "SET_REG sets bits of the memory");
	val = 0x3C;
	is(!reg("CLEAR_REG", 3, 2000, 4, &val) && reg_value(3, 2000, 4) == 0xC3, "CLEAR_REG clears bits of the memory");
}

static void ring(void)
{
	uint32_t probe = 4;
	uint8_t own = 9;

	gives(0, value("CHECK_RING_CONT", 0), "the ring of one node is closed");
	is(lcsr() & 1, "own data is set after the check of the ring");
	is(!card(fd, "CLEAR_OWN_DATA", &own) && own == 1 && !(lcsr() & 1), "CLEAR_OWN_DATA clears own data");
	is(!card(fd, "CLEAR_OWN_DATA", &own) && own == 0, "own data stays clear without a store");
	is(!reg("WRITE_REG", 2, 0x1D, 1, &probe) && lcsr() & 1, "a probe sets own data");
	card(fd, "CLEAR_OWN_DATA", &own);
	poke(0, 4, 1);
	is(lcsr() & 1, "a store sets own data");
	card(fd, "CLEAR_OWN_DATA", &own);
	value("SET_TRANSMIT_DISABLE", 1);
	poke(0, 4, 2);
	is(!(lcsr() & 1), "a store does not set own data while the transmitter is off");
	gives(EFAULT, value("CHECK_RING_CONT", 0), "the ring is open while the transmitter is off");
	is(!reg("WRITE_REG", 2, 0x1D, 1, &probe) && !(lcsr() & 1),
	   "a probe does not set own data while the transmitter is off");
	value("SET_TRANSMIT_DISABLE", 0);
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void events(void)
{
	uint8_t stats[24];
	int wrong = 0, self = 0;
	uint64_t start;

	is((reg_value(2, 0x14, 4) & 0x3FFF) == 0x3F40, "events of faults are enabled, those of the network are not");
	for (uint32_t type = 0; type < 12; type++) {
		wrong += event("ENABLE_EVENT", type, 0, 0) || event("ENABLE_EVENT", type, 0, 0);
		wrong += event("DISABLE_EVENT", type, 0, 0) || event("DISABLE_EVENT", type, 0, 0);
		wrong += event("WAIT_FOR_EVENT", type, 0, 0) != ETIMEDOUT;
		wrong += event("CANCEL_EVENT", type, 0, 0) != ENOSYS;
		wrong += value("CLEAR_EVENT", type) || value("FLUSH_QUEUE", type);
		wrong += value("CLEAR_EVENT_COUNT", type) || value("CLEAR_EVENT_STATS", type);
		memset(stats, 0xFF, sizeof(stats));
		stats[0] = type;
		wrong += card(fd, "GET_EVENT_STATS", stats) != 0 || stats[0] != type || stats[1] || at(stats, 4, 4);
		wrong += at(stats, 12, 4) != (type >= 1 && type <= 4 ? 127u : 1u);
	}
	is(!wrong, "all commands on events accept each type");
	for (uint32_t type = 12; type < 300; type += 41) {
		wrong += event("ENABLE_EVENT", type, 0, 0) != EINVAL || event("DISABLE_EVENT", type, 0, 0) != EINVAL;
		wrong += event("WAIT_FOR_EVENT", type, 0, 0) != EINVAL || event("CANCEL_EVENT", type, 0, 0) != EINVAL;
		wrong += value("CLEAR_EVENT", type) != EINVAL || value("FLUSH_QUEUE", type) != EINVAL;
		wrong += value("CLEAR_EVENT_COUNT", type) != EINVAL || value("CLEAR_EVENT_STATS", type) != EINVAL;
		stats[0] = type;
		wrong += type < 256 && card(fd, "GET_EVENT_STATS", stats) != EINVAL;
	}
	is(!wrong, "all commands on events refuse types from 12 on");
	for (uint32_t type = 0; type < 5; type++)
		self += event("SEND_EVENT", type, node, 0) == EINVAL;
	is(self == 5, "sending an event to the own node: EINVAL");
	gives(0, event("SEND_EVENT", 1, node ^ 1, 0), "sending an event to an absent node");
	gives(0, event("SEND_EVENT", 1, 0xFFFF, 0), "sending an event to all");
	gives(EINVAL, event("SEND_EVENT", 5, 0xFFFF, 0), "sending a fault");
	gives(EINVAL, event("SEND_EVENT", 1, 256, 0), "sending an event to an invalid node");
	gives(EINVAL, event("SEND_EVENT", 1, 0xFFFE, 0), "sending an event to the unknown node");
	start = now_ms();
	gives(ETIMEDOUT, event("WAIT_FOR_EVENT", 2, 0, 200), "waiting 200 ms for an event");
	is(now_ms() - start >= 190, "waiting 200 ms for an event takes that time: %d ms", (int)(now_ms() - start));
}

/* A thread that waits for an event, and its result. */
struct waiter {
	pthread_t thread;
	uint32_t type, timeout;
	int file, ret;
	volatile bool over;
};

static void *wait_for(void *arg)
{
	struct waiter *w = arg;
	struct card_event e = { .event = w->type, .timeout = w->timeout };

	w->ret = card(w->file, "WAIT_FOR_EVENT", &e);
	w->over = true;
	return NULL;
}

static void ignore(int number)
{
	(void)number;
}

/*
 * Start a thread that waits for an event of TYPE. Return when the wait has
 * begun, because cancelling a wait that has not begun fails.
 */
static struct waiter *start(int file, uint32_t type)
{
	struct waiter *w = calloc(1, sizeof(*w));

	*w = (struct waiter){ .type = type, .timeout = INFINITE, .file = file };
	if (pthread_create(&w->thread, NULL, wait_for, w))
		err(2, "thread");
	for (int i = 0; event("WAIT_FOR_EVENT", type, 0, 0) != EALREADY; i++) {
		if (i > 20000)
			errx(2, "no task waits for event %u", type);
		usleep(1000);
	}
	return w;
}

/* Return the result of the wait, or -1 if the thread still waits after 20 s. */
static int end(struct waiter *w)
{
	struct timespec deadline;
	int ret;

	clock_gettime(CLOCK_REALTIME, &deadline);
	deadline.tv_sec += 20;
	if (pthread_timedjoin_np(w->thread, NULL, &deadline))
		return -1;
	ret = w->ret;
	free(w);
	return ret;
}

static void waiting(void)
{
	struct sigaction action = { .sa_handler = ignore, .sa_flags = SA_RESTART };
	struct waiter *w = start(fd, 1), *other;

	gives(EALREADY, event("WAIT_FOR_EVENT", 1, 0, 100), "a second wait for an event");
	other = start(fd, 2);
	gives(0, event("CANCEL_EVENT", 1, 0, 0), "cancelling the wait for an event");
	gives(EIDRM, end(w), "a cancelled wait for an event");
	is(!other->over, "cancelling a wait does not end that for another event");
	sigaction(SIGUSR1, &action, NULL);
	pthread_kill(other->thread, SIGUSR1);
	gives(EINTR, end(other), "a signal with SA_RESTART ends a wait");
	w = start(fd, 3);
	event("DISABLE_EVENT", 3, 0, 0);
	value("CLEAR_EVENT", 3);
	usleep(20000);
	is(!w->over, "disabling and clearing an event do not end a wait");
	event("CANCEL_EVENT", 3, 0, 0);
	gives(EIDRM, end(w), "cancelling ends a wait after disabling and clearing");
}

/*
 * Check that closing a file ends the waits through this file. Closing it in
 * another process must not end them.
 */
static void closing(void)
{
	int file = open(path, O_RDWR), status;
	struct waiter *w = start(file, 4);

	if (!fork()) {
		close(file);
		_exit(0);
	}
	wait(&status);
	usleep(20000);
	is(!w->over, "a close in a child does not end a wait of the parent");
	close(file);
	gives(EIDRM, end(w), "closing the file ends a wait");
	file = open(path, O_RDWR);
	w = start(file, 4);
	close(open(path, O_RDWR));
	usleep(20000);
	is(!w->over, "closing another file does not end a wait");
	close(file);
	gives(EIDRM, end(w), "closing the file ends a wait after another file was closed");
}

static void last_close(void)
{
	uint32_t lier;

	for (uint32_t type = 0; type < 12; type++)
		event("ENABLE_EVENT", type, 0, 0);
	close(open(path, O_RDWR));
	lier = reg_value(2, 0x14, 4);
	is((lier & 0x3FFF) == 0x3FCF, "closing one of two files keeps events enabled: 0x%x", lier);
	close(fd);
	fd = open(path, O_RDWR);
	lier = reg_value(2, 0x14, 4);
	is((lier & 0x3FFF) == 0x3F40, "the last close disables the events of the network only: 0x%x", lier);
	lier = 0x008F;
	is(!reg("WRITE_REG", 2, 0x14, 4, &lier) && (reg_value(2, 0x14, 4) & 0x3FFF) == 0x008F, "WRITE_REG sets LIER");
	lier = 0x3F40;
	reg("WRITE_REG", 2, 0x14, 4, &lier);
}

static void read_only(void)
{
	int file = open(path, O_RDONLY);
	struct card_atomic atomic = { .offset = 0, .width = 4 };
	struct card_event e = { .event = 1, .node = 0xFFFF };
	void *mem = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, file, 0);

	is(mem != MAP_FAILED, "a read-only file can be mapped for reading");
	is(mprotect(mem, PAGE, PROT_READ | PROT_WRITE) && errno == EACCES,
	   "a mapping of a read-only file does not become writable");
	munmap(mem, PAGE);
	gives(0, card(file, "ATOMIC_PEEK", &atomic), "peek through a read-only file");
	gives(EBADF, card(file, "ATOMIC_POKE", &atomic), "poke through a read-only file");
	gives(EBADF, card(file, "SEND_EVENT", &e), "sending an event through a read-only file");
	close(file);
}

static void polling(void)
{
	struct pollfd p = { .fd = fd, .events = POLLIN | POLLOUT };

	is(poll(&p, 1, 0) == 1 && p.revents == POLLOUT,
	   "poll() without an event reports POLLOUT only: 0x%x", p.revents);
}

int main(int argc, char **argv)
{
	static void (*const steps[])(void) = {
		numbers, all_commands, foreign_commands, wide_commands, config, window, coherence, mappings,
		special_maps, bounds, file_position, switches, registers, ring, events, waiting, closing, last_close,
		read_only, polling,
	};

	if (argc != 4)
		errx(2, "abi DEVICE NODE SIZE");
	path = argv[1];
	node = strtoul(argv[2], NULL, 0);
	size = strtoul(argv[3], NULL, 0);
	fd = open(path, O_RDWR);
	if (fd < 0)
		err(2, "%s", path);
	for (unsigned int i = 0; i < sizeof(steps) / sizeof(*steps); i++)
		steps[i]();
	return 0;
}
