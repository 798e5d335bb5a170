// SPDX-License-Identifier: GPL-2.0
/*
 * scribble FILE SECONDS SEED WAY: overwrite the memory that machines share. Author: The krdma developers.
 *
 * FILE is the file resource2 of the PCI device in sysfs. WAY is one of
 *
 *   directory  words of the directory
 *   page       words of the pages: sessions, states, indexes
 *   header     headers with a valid seal, but other random fields, at the index where the receiver expects the next one
 *   payload    bytes in the rings
 *   any        any byte
 *   all        each of the above in turn
 *
 * The directory is read once, at the begin. The exit status is 0 if it is valid.
 */
#include <err.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096

static volatile uint8_t *memory;
static uint64_t size, inbox, state;
static uint32_t members;

static uint64_t rnd(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static uint32_t word(uint64_t at)
{
	return *(volatile uint32_t *)(memory + at);
}

static void set(uint64_t at, uint32_t value)
{
	*(volatile uint32_t *)(memory + at) = value;
}

/* A random inbox, of "to" from "from". */
static uint64_t some_inbox(uint32_t *to, uint32_t *from)
{
	*to = rnd() % members;
	*from = (*to + 1 + rnd() % (members - 1)) % members;
	return PAGE + (*to * (members - 1) + *from - (*from > *to)) * inbox;
}

static uint64_t inbox_of(uint32_t to, uint32_t from)
{
	return PAGE + (to * (members - 1) + from - (from > to)) * inbox;
}

static void directory(void)
{
	static const uint32_t fields[] = { 0, 4, 8, 12, 16, 20, 24, 28 };
	uint64_t slot = 64 + 64 * (rnd() % 16);

	if (rnd() % 4)
		set(rnd() % 2 ? slot + 4 * (rnd() % 3) : slot, rnd());
	else
		set(fields[rnd() % 8], rnd() % 3 ? rnd() : 0);
}

static void page(void)
{
	uint32_t to, from;
	uint64_t at = some_inbox(&to, &from);

	switch (rnd() % 4) {
	case 0:
		set(at + 4 * (rnd() % 20), rnd());
		break;
	case 1:
		set(at + 68, rnd() % 5);
		break;
	default:
		at += 256 + 64 * (rnd() % 9) + 4 * (rnd() % 4);
		set(at, rnd() % 2 ? rnd() : word(at) + rnd() % 64);
	}
}

static void header(void)
{
	uint32_t to, from, ring = rnd() % 9, cells, at_index, kind;
	uint64_t at = some_inbox(&to, &from), words, cell;
	uint32_t ring_bytes = word(at + 8), lanes = word(at + 4) >> 24;
	uint32_t receiver = word(inbox_of(from, to) + 60);

	if (ring_bytes < 16384 || ring_bytes > inbox || !lanes || lanes > 8)
		return;
	words = at + 256 + 64 * ring;
	at_index = word(words);
	cells = ring_bytes / 64;
	cell = at + PAGE + (uint64_t)(ring == 8 ? lanes : ring) * ring_bytes + 64ULL * (at_index & (cells - 1));
	if (cell + 64 > at + inbox)
		return;
	kind = rnd() % 13;
	set(cell, at_index ^ receiver);
	set(cell + 4, kind | (rnd() % 256) << 8 | (1 + rnd() % 4) << 16);
	for (int i = 8; i < 64; i += 4)
		set(cell + i, rnd() % 3 ? rnd() % 64 : rnd());
	set(words, at_index + 1 + rnd() % 4);
}

static void payload(void)
{
	uint32_t to, from;
	uint64_t at = some_inbox(&to, &from);

	set(at + PAGE + rnd() % (inbox - PAGE - 4) / 4 * 4, rnd());
}

static void any(void)
{
	memory[rnd() % size] = rnd();
}

static void one(const char *way)
{
	static void (*const ways[])(void) = { directory, page, header, payload, any };
	static const char *const names[] = { "directory", "page", "header", "payload", "any" };

	if (!strcmp(way, "all")) {
		ways[rnd() % 5]();
		return;
	}
	for (int i = 0; i < 5; i++)
		if (!strcmp(way, names[i]))
			ways[i]();
}

int main(int argc, char **argv)
{
	struct stat info;
	time_t end;
	int fd;

	if (argc != 5)
		errx(2, "usage: scribble FILE SECONDS SEED WAY");
	fd = open(argv[1], O_RDWR);
	if (fd < 0 || fstat(fd, &info))
		err(1, "%s", argv[1]);
	size = info.st_size;
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		err(1, "mmap");
	state = strtoull(argv[3], NULL, 0) * 2654435761u + 1;
	members = word(12);
	inbox = word(16);
	if (members < 2 || members > 16 || inbox < 65536 || inbox > size)
		errx(1, "the directory is invalid");
	end = time(NULL) + atoi(argv[2]);
	for (unsigned long n = 0; time(NULL) < end; n++) {
		one(argv[4]);
		/* Bursts, so that sessions can come up between them. */
		if (!(n % 64))
			usleep(rnd() % 20000);
	}
	return 0;
}
