// SPDX-License-Identifier: GPL-2.0
/*
 * corners DEVICE CASE OFFSET: corner cases of stores into mappings, for scenarios. Author: The krdma developers.
 *
 * Each case stores into the 16 pages at OFFSET, and prints a line for each result on this node. At the end, the first
 * word of page n is 1000 + n, and other nodes must receive it.
 *
 *   unmap       unmap pages in the middle of a dirty mapping, and store into the other pages
 *   populate    call madvise() with MADV_POPULATE_WRITE, and store
 *   kernel      let the kernel store through get_user_pages(), into writable and write-protected pages
 *   held        store while a pipe holds references to pages, and again after it has put them; the second word of page
 *               n is 2000 + n at the end
 *   mapped      let the kernel store while a pipe holds references to pages, and while other processes map, unmap and
 *               inherit these pages; the second word of page n is 2000 + n at the end
 *   msync       store, and call msync(), which returns when the peers have all stores
 *   private     check that a writable MAP_PRIVATE mapping is refused, and that a read-only one shows stores of other
 *               mappings
 *   fork        store into the same pages in parent and child; the child stores the second words, 2000 + n at the end
 *   mremap      move a dirty mapping and store into it, shrink it, and grow it beyond the end of the memory
 *   mprotect    make a dirty mapping read-only and writable again, and do the same with a clean mapping
 *   event       store, and send an event of type 1 with data 77 to all nodes
 *   exit        store, and end the program
 *   pound S     store into all pages repeatedly, for S seconds
 *
 * The exit status is 0 if all lines are printed.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "card.h"

#define SEND_EVENT 0x4018EB16
#define PAGES 16
#define PAGE 4096u
#define SIZE (PAGES * PAGE)
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

static int fd;
static off_t base;

static void is(int good, const char *text)
{
	printf("%d %s\n", !good, text);
	fflush(stdout);
}

static volatile uint32_t *map_as(int prot, int flags)
{
	void *memory = mmap(NULL, SIZE, prot, flags, fd, base);

	if (memory == MAP_FAILED)
		err(2, "mmap");
	return memory;
}

static volatile uint32_t *map(void)
{
	return map_as(PROT_READ | PROT_WRITE, MAP_SHARED);
}

static volatile uint32_t *word(volatile uint32_t *memory, unsigned int page)
{
	return memory + page * PAGE / sizeof(*memory);
}

static void store(volatile uint32_t *memory, unsigned int from, unsigned int to)
{
	for (; from < to; from++)
		*word(memory, from) = 1000 + from;
}

/* ---- signals ---- */

static sigjmp_buf back;

static void caught(int number)
{
	siglongjmp(back, number);
}

/* Store to AT, or load from it. Return the signal that this causes, or 0. */
static int signal_of(volatile uint32_t *at, int storing)
{
	struct sigaction act = { .sa_handler = caught };
	int number;

	sigaction(SIGSEGV, &act, NULL);
	sigaction(SIGBUS, &act, NULL);
	number = sigsetjmp(back, 1);
	if (number)
		return number;
	if (storing)
		*at = 0xdead;
	else
		(void)*at;
	return 0;
}

/* ---- cases ---- */

static void do_unmap(void)
{
	volatile uint32_t *memory = map();

	store(memory, 0, PAGES);
	is(!munmap((void *)word(memory, 4), 4 * PAGE), "pages in the middle of a dirty mapping are unmapped");
	is(signal_of(word(memory, 5), 0) == SIGSEGV, "unmapped pages cannot be accessed");
	*word(memory, 3) = 7;
	*word(memory, 8) = 7;
	store(memory, 3, 4);
	store(memory, 8, 9);
	is(*word(memory, 3) == 1003, "pages beside unmapped ones can be stored into");
}

static void do_populate(void)
{
	volatile uint32_t *memory = map();
	int ret = madvise((void *)memory, SIZE, MADV_POPULATE_WRITE);

	is(!ret || errno == EINVAL, "MADV_POPULATE_WRITE succeeds or is unknown");
	store(memory, 0, PAGES);
	is(!madvise((void *)word(memory, 1), 2 * PAGE, MADV_DONTNEED), "MADV_DONTNEED of dirty pages succeeds");
	is(*word(memory, 1) == 1001, "dirty pages keep their words after MADV_DONTNEED");
}

/* Let the kernel store through get_user_pages(), as reads with O_DIRECT do. */
static void do_kernel(void)
{
	volatile uint32_t *memory = map();
	int mem = open("/proc/self/mem", O_RDWR);
	uint32_t value;
	int good = mem >= 0;
	unsigned int i;

	*word(memory, 3) = 7;
	*word(memory, 4) = 7;
	for (i = 0; i < PAGES; i++) {
		value = 1000 + i;
		good &= pwrite(mem, &value, sizeof(value), (uintptr_t)word(memory, i)) == sizeof(value);
	}
	is(good, "the kernel stores into a mapping");
	is(*word(memory, 0) == 1000 && *word(memory, 3) == 1003, "the program sees the stores of the kernel");
}

static void do_held(void)
{
	volatile uint32_t *memory = map();
	struct iovec part = { .iov_base = (void *)memory, .iov_len = 4 * PAGE };
	static uint8_t bytes[4 * PAGE];
	int ends[2];
	unsigned int i;

	store(memory, 0, PAGES);
	if (pipe(ends))
		err(2, "pipe");
	is(vmsplice(ends[1], &part, 1, 0) == 4 * PAGE, "a pipe references the pages");
	/*
	 * vrfm makes a page read-only soon after a store, unless there are
	 * other references to the page. Wait much longer than that.
	 */
	usleep(300000);
	for (i = 0; i < PAGES; i++)
		word(memory, i)[1] = 1;
	usleep(300000);
	is(read(ends[0], bytes, sizeof(bytes)) == sizeof(bytes), "the pipe is emptied");
	is(!memcmp(bytes, (void *)memory, sizeof(bytes)), "the pipe had the words of the memory");
	usleep(300000);
	for (i = 0; i < PAGES; i++)
		word(memory, i)[1] = 2000 + i;
}

/* Map the pages, unmap them, and exit, so that references and page tables of the pages change all the time. */
static void map_and_exit(void)
{
	munmap((void *)map(), SIZE);
	_exit(0);
}

static void do_mapped(void)
{
	volatile uint32_t *memory = map();
	struct iovec part = { .iov_base = (void *)memory, .iov_len = 4 * PAGE };
	int ends[2], mem = open("/proc/self/mem", O_RDWR), good = mem >= 0, forks = 0;
	uint32_t value = 0, i;
	time_t end;

	store(memory, 0, PAGES);
	if (pipe(ends))
		err(2, "pipe");
	is(vmsplice(ends[1], &part, 1, 0) == 4 * PAGE, "a pipe references pages that other processes map");
	for (end = time(NULL) + 3; time(NULL) <= end; forks++) {
		pid_t pid = fork();

		if (!pid)
			map_and_exit();
		good &= pid > 0;
		for (i = 0; i < PAGES; i++) {
			value++;
			good &= pwrite(mem, &value, sizeof(value), (uintptr_t)(word(memory, i) + 1)) == sizeof(value);
		}
		good &= waitpid(pid, NULL, 0) == pid;
	}
	for (i = 0; i < PAGES; i++) {
		value = 2000 + i;
		good &= pwrite(mem, &value, sizeof(value), (uintptr_t)(word(memory, i) + 1)) == sizeof(value);
	}
	is(good && forks > 10, "the kernel stores into pages that other processes map");
	is(word(memory, 3)[1] == 2003, "the program sees the last stores of the kernel into held pages");
}

static void do_msync(void)
{
	volatile uint32_t *memory = map();

	store(memory, 0, PAGES);
	is(!msync((void *)memory, SIZE, MS_SYNC), "msync(MS_SYNC)");
}

static void do_private(void)
{
	volatile uint32_t *memory, *shared = map();

	is(mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, base) == MAP_FAILED && errno == EINVAL,
	   "a private, writable mapping is refused");
	memory = map_as(PROT_READ, MAP_PRIVATE);
	is(1, "a private, read-only mapping succeeds");
	store(shared, 0, PAGES);
	is(*word(memory, 5) == 1005, "a private mapping shows stores through another mapping");
	is(mprotect((void *)memory, SIZE, PROT_READ | PROT_WRITE) && errno == EACCES,
	   "a private mapping does not become writable");
	is(signal_of(word(memory, 5), 1) == SIGSEGV, "a store into a private mapping: SIGSEGV");
}

static void child(volatile uint32_t *memory)
{
	unsigned int i, n;

	for (n = 0; n < 200; n++) {
		for (i = 0; i < PAGES; i++)
			word(memory, i)[1] = n < 199 ? n : 2000 + i;
		if (n % 8 == 0)
			usleep(500);
	}
	_exit(0);
}

static void do_fork(void)
{
	volatile uint32_t *memory = map();
	unsigned int i, n;
	pid_t pid;
	int status = -1;

	/*
	 * Store into two pages, so that they are writable when fork() copies
	 * the page tables.
	 */
	*word(memory, 0) = 1;
	*word(memory, 1) = 1;
	pid = fork();
	if (!pid)
		child(memory);
	for (n = 0; n < 200; n++) {
		for (i = 0; i < PAGES; i++)
			*word(memory, i) = n;
		if (n % 8 == 0)
			usleep(500);
	}
	is(waitpid(pid, &status, 0) == pid && !status, "the child exits with 0");
	is(word(memory, 3)[1] == 2003, "the parent sees the stores of the child");
	store(memory, 0, PAGES);
}

static void do_mremap(void)
{
	volatile uint32_t *memory = map(), *moved;
	off_t end = lseek(fd, 0, SEEK_END);
	void *room = mmap(NULL, SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	store(memory, 0, 8);
	*word(memory, 9) = 7;
	moved = mremap((void *)memory, SIZE, SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, room);
	is(moved == room, "mremap() moves a dirty mapping");
	is(signal_of(word(memory, 1), 0) == SIGSEGV, "the old place of a moved mapping cannot be accessed");
	is(*word(moved, 7) == 1007, "a moved mapping keeps its words");
	store(moved, 8, PAGES);
	is(mremap((void *)moved, SIZE, 4 * PAGE, 0) == moved, "mremap() shrinks a moved mapping");
	memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, end - PAGE);
	if (memory == MAP_FAILED)
		err(2, "mmap");
	memory = mremap((void *)memory, PAGE, 2 * PAGE, MREMAP_MAYMOVE);
	is(memory == MAP_FAILED || signal_of(word(memory, 1), 0) == SIGBUS,
	   "a load behind the end of a grown mapping: SIGBUS");
	is(memory == MAP_FAILED || signal_of(word(memory, 1), 1) == SIGBUS,
	   "a store behind the end of a grown mapping: SIGBUS");
}

/*
 * Make the mapping read-only, and writable again. mprotect() makes dirty entries of
 * the page table writable without a fault, which vrfm must handle.
 */
static void turn(volatile uint32_t *memory, const char *text)
{
	int good = !mprotect((void *)memory, SIZE, PROT_READ) && signal_of(word(memory, 9), 1) == SIGSEGV &&
		   !mprotect((void *)memory, SIZE, PROT_READ | PROT_WRITE);

	is(good, text);
}

static void do_mprotect(void)
{
	volatile uint32_t *memory = map();
	unsigned int i;

	for (i = 0; i < PAGES; i++)
		*word(memory, i) = 7;
	turn(memory, "mprotect() makes a dirty mapping read-only, and writable again");
	for (i = 0; i < PAGES; i++)
		*word(memory, i) = 8;
	/*
	 * Wait until vrfm has freed the copies with which it compares the
	 * pages. The pages are then clean.
	 */
	usleep(300000);
	turn(memory, "mprotect() makes a clean mapping read-only, and writable again");
	store(memory, 0, PAGES);
}

static void do_event(void)
{
	struct card_event event = { .node = 65535, .event = 1, .data = 77 };

	store(map(), 0, PAGES);
	is(!ioctl(fd, SEND_EVENT, &event), "an event is sent behind the stores");
}

static void do_exit(void)
{
	store(map(), 0, PAGES);
	is(1, "all words are stored before the exit");
	_exit(0);
}

static void pound(unsigned int seconds)
{
	volatile uint32_t *memory = map();
	time_t end = time(NULL) + seconds;
	uint32_t n, i;

	for (n = 0; time(NULL) <= end; n++)
		for (i = 0; i < SIZE / sizeof(*memory); i++)
			memory[i] = n;
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "unmap", do_unmap }, { "populate", do_populate }, { "kernel", do_kernel }, { "held", do_held },
	{ "mapped", do_mapped },
	{ "msync", do_msync }, { "private", do_private }, { "fork", do_fork }, { "mremap", do_mremap },
	{ "mprotect", do_mprotect }, { "event", do_event }, { "exit", do_exit },
};

int main(int argc, char **argv)
{
	size_t i;

	if (argc < 4)
		errx(2, "corners DEVICE CASE OFFSET");
	fd = open(argv[1], O_RDWR);
	if (fd < 0)
		err(2, "%s", argv[1]);
	base = strtoull(argv[3], NULL, 0);
	if (argc == 5 && !strcmp(argv[2], "pound")) {
		pound(atoi(argv[4]));
		return 0;
	}
	for (i = 0; i < sizeof(cases) / sizeof(*cases) && strcmp(cases[i].name, argv[2]); i++)
		;
	if (i == sizeof(cases) / sizeof(*cases))
		errx(2, "%s: no such case", argv[2]);
	cases[i].run();
	return 0;
}
