// SPDX-License-Identifier: GPL-2.0
/*
 * rfm DEVICE COMMAND ARGUMENT...: calls of a program for the cards, for scenarios. Author: The krdma developers.
 *
 *   poke OFFSET VALUE               write 4 bytes by write()
 *   peek OFFSET                     print 4 bytes, read through a mapping
 *   await OFFSET VALUE SECONDS      wait at most SECONDS until these 4 bytes are VALUE
 *   fill OFFSET LENGTH SEED         write that many pseudo-random bytes, 100000 at a time
 *   sum                             print a checksum of all of the memory
 *   store OFFSET VALUE              store 4 bytes through a mapping, and end at once
 *   blocks OFFSET LENGTH ROUNDS     in each round, write a block of words that are the round's number at OFFSET + 64,
 *                                   and then write the number at OFFSET
 *   watch OFFSET LENGTH ROUNDS S    wait S seconds for the last number; fail if a block is older than its number
 *   own OFFSET WORDS STEP ROUNDS    count up every STEPth word through a mapping
 *   twist OFFSET ROUNDS             write 8 bytes with equal halves repeatedly
 *   untwist OFFSET S                for S seconds, read these 8 bytes; fail if the halves differ
 *   whole OFFSET S                  for S seconds, read blocks around 8 bytes that a second process writes; fail if a
 *                                   write is torn
 *   scatter OFFSET LENGTH S SEED    for S seconds, write and store words at random offsets
 *   scrawl OFFSET LENGTH S SEED     for S seconds, write words and blocks of up to 64 KiB at random offsets
 *   event NODE TYPE DATA            send an event
 *   wait TYPE MS                    wait for an event; print its sender and data
 *   take TYPE                       take a queued event without enabling the type; print its sender and data
 *   burst NODE TYPE FIRST LAST      send events with the data FIRST to LAST, one after the other
 *   drain TYPE MS                   enable TYPE, and print the data of all events until none arrives for MS
 *   longest OFFSET S                write a word every 100 us for S seconds; print the time of the longest write, in us
 *   heavy OFFSET LENGTH S           write a block repeatedly for S seconds; print the time of the longest write, in us
 *   impatient OFFSET LENGTH S       write a block every 100 us for S seconds, without blocking; print the time of the
 *                                   longest write, the number of refusals, and the longest time in which all writes
 *                                   were refused, in us
 *   stain OFFSET LENGTH S           for S seconds, store into every word repeatedly
 *   steady OFFSET LENGTH S CLAIM    store a word every ms for S seconds, every 250 ms in another 64 KiB; with CLAIM 1
 *                                   claim the range first; print the time of the longest store, in us
 *   cycle OFFSET PAGES S CLAIM      store the cycle's number into each page every ms for S seconds; with CLAIM 1 claim
 *                                   the pages first; print the number of cycles
 *   dirty OFFSET PAGES S            store once into each page, print "dirty", and keep the mapping for S seconds
 *   slurp OFFSET LEN                let the kernel store LEN zeroes, by a read() of /dev/zero into the mapping
 *   pokes OFFSET N                  write 4 bytes N times by write()
 *   bounce OFFSET ROUNDS            store a number, and wait until the next page has it; print the median time, in us
 *   reflect OFFSET ROUNDS S         within S seconds, store each number that appears into the next page
 *   churn OFFSET WORDS STEP S FILE  for S seconds, write and store into every STEPth word; FILE records the words
 *   churned OFFSET WORDS STEP FILE  compare the words with FILE, except the last one, which a killed churn may not have
 *                                   written; print the counts
 *   fence OFFSET LENGTH ROUNDS      write a word, then write a block over it that has higher words; check the memory
 *   swell OFFSET LENGTH ROUNDS      the same as fence without the single word
 *   rising OFFSET LENGTH LAST S     wait S seconds for LAST in the first word; fail if a word decreases
 *   flood OFFSET LENGTH S FILE      write blocks of rising numbers for S seconds; store the last number in FILE
 *   sync                            fsync()
 *   reopen                          open and map the device once more
 *   dark 0|1                        1: disable the transmitter, 0: enable it
 *   eclipse OFFSET                  store 1; disable the transmitter, store 2 in the next word; enable it, store 3 in
 *                                   the word after that
 *   lcsr                            print control and status, in hexadecimal
 *   ring                            check whether the ring is closed
 *   status NODE                     print the fields of NODE in the status page: seq, state, flags, lag, ms since its
 *                                   last message, overloads, left
 *   stale NODE S                    wait S seconds until the status page shows that NODE left this one behind
 *   poll TYPE IN PRI                enable TYPE, let IN and PRI (in hexadecimal) select the events of poll(), and print
 *                                   the events that poll() reports; "-": do not select events
 *
 * "failing" before a command repeats the command. The Nth repetition lets the Nth allocation of the command fail, until
 * the command has fewer allocations and succeeds. This needs a kernel with fault injection.
 *
 * The exit status is 0 if the command succeeds. If it fails, the status is 1, and an error message is printed.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "card.h"

#define SEND_EVENT CARD_BITS(0x4018EB16, 0x4014EB16)
#define WAIT_FOR_EVENT CARD_BITS(0xC018EB17, 0xC014EB17)
#define ENABLE_EVENT CARD_BITS(0x4018EB14, 0x4014EB14)
#define CHECK_RING_CONT 0x8001EB34
#define READ_REG 0x8004EB41
#define SET_TRANSMIT_DISABLE 0x4001EB39
#define CLAIM 0x4010EA05
#define POLL_EVENTS 0x4010EA07
#define STATUS_OFFSET 0x100000000
#define STATUS_FIRST 64
#define STATUS_SIZE (STATUS_FIRST + 256 * 64)
#define STATUS_SYNCED 1
#define BAR2 2
#define LCSR1 8
#define STEP 100000

static const char *device;
static int fd;
static volatile uint32_t *memory;
static uint64_t size;

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000ull + t.tv_nsec / 1000;
}

static void pause_us(unsigned int us)
{
	const struct timespec t = { .tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000 };

	nanosleep(&t, NULL);
}

static int quiet;

static int complain(const char *what)
{
	if (quiet)
		return 1;
	fprintf(stderr, "rfm: %s: %s\n", what, strerror(errno));
	return 1;
}

static int put(uint64_t offset, const void *bytes, size_t length)
{
	ssize_t n = pwrite(fd, bytes, length, offset);

	return n == (ssize_t)length ? 0 : complain("write");
}

/* Return the next pseudo-random number. */
static uint32_t next(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8 | *seed << 24;
}

static uint64_t number(const char *text)
{
	return strtoull(text, NULL, 0);
}

static int do_poke(char **arg)
{
	uint32_t value = number(arg[1]);

	return put(number(arg[0]), &value, sizeof(value));
}

static int do_peek(char **arg)
{
	printf("%u\n", memory[number(arg[0]) / 4]);
	return 0;
}

static int do_await(char **arg)
{
	uint64_t end = now_us() + number(arg[2]) * 1000000;
	uint64_t at = number(arg[0]) / 4, value = number(arg[1]);

	while (memory[at] != value) {
		if (now_us() > end) {
			fprintf(stderr, "rfm: the word is %u\n", memory[at]);
			return 1;
		}
		pause_us(200);
	}
	return 0;
}

static int do_fill(char **arg)
{
	static uint32_t block[STEP / 4];
	uint64_t offset = number(arg[0]), left = number(arg[1]);
	uint32_t seed = number(arg[2]);
	size_t step, i;

	for (; left; offset += step, left -= step) {
		for (i = 0; i < STEP / 4; i++)
			block[i] = next(&seed);
		step = left < STEP ? left : STEP;
		if (put(offset, block, step))
			return 1;
	}
	return 0;
}

static int do_sum(char **arg)
{
	uint64_t i, sum = 0xcbf29ce484222325ull;

	(void)arg;
	for (i = 0; i < size / 4; i++)
		sum = (sum ^ memory[i]) * 0x100000001b3ull;
	printf("%016llx\n", (unsigned long long)sum);
	return 0;
}

static int do_store(char **arg)
{
	memory[number(arg[0]) / 4] = number(arg[1]);
	return 0;
}

static int do_blocks(char **arg)
{
	uint64_t offset = number(arg[0]), length = number(arg[1]), rounds = number(arg[2]), i;
	uint32_t *block = malloc(length);
	uint32_t n;

	for (n = 1; block && n <= rounds; n++) {
		for (i = 0; i < length / 4; i++)
			block[i] = n;
		if (put(offset + 64, block, length) || put(offset, &n, sizeof(n)))
			return 1;
	}
	free(block);
	return 0;
}

static int do_watch(char **arg)
{
	uint64_t at = number(arg[0]) / 4, words = number(arg[1]) / 4, rounds = number(arg[2]), i;
	uint64_t end = now_us() + number(arg[3]) * 1000000;
	uint32_t n = 0, seen = 0, looks = 0, worst = 0;

	do {
		n = memory[at];
		__sync_synchronize();
		for (i = 0; i < words; i++)
			if (memory[at + 16 + i] < n)
				worst++;
		looks += n != seen;
		seen = n;
	} while (n != rounds && now_us() < end);
	printf("%u reads, %u words older than their number, the last is %u\n", looks, worst, n);
	return worst || n != rounds;
}

static int do_own(char **arg)
{
	uint64_t at = number(arg[0]) / 4, words = number(arg[1]), step = number(arg[2]), i;
	uint32_t rounds = number(arg[3]), n;

	for (n = 1; n <= rounds; n++) {
		for (i = 0; i < words; i += step)
			memory[at + i] = n;
		if (n % 16 == 0)
			pause_us(100);
	}
	return 0;
}

static int do_twist(char **arg)
{
	uint64_t rounds = number(arg[1]), n, value;

	for (n = 1; n <= rounds; n++) {
		value = (n & 0xffffffff) * 0x100000001ull;
		if (put(number(arg[0]), &value, sizeof(value)))
			return 1;
	}
	return 0;
}

static int do_untwist(char **arg)
{
	volatile uint64_t *word = (volatile uint64_t *)&memory[number(arg[0]) / 4];
	uint64_t end = now_us() + number(arg[1]) * 1000000, value;
	uint32_t torn = 0, changes = 0;
	uint64_t last = 0;

	do {
		value = *word;
		torn += value >> 32 != (value & 0xffffffff);
		changes += value != last;
		last = value;
	} while (now_us() < end);
	printf("%u changes seen, %u torn\n", changes, torn);
	return torn || !changes;
}

static pid_t toggle(uint64_t offset)
{
	uint64_t value = 0;
	pid_t pid = fork();

	if (pid)
		return pid;
	for (;;) {
		value = ~value;
		if (put(offset, &value, sizeof(value)))
			_exit(1);
	}
}

/*
 * Read a block around the 8 bytes at OFFSET. N determines the start and the
 * length of the block, and the alignment of the buffer.
 */
static int read_around(uint64_t offset, uint32_t n, uint64_t *value)
{
	uint32_t before = n % 16, length = before + 8 + n / 16 % 32;
	uint8_t block[64];
	uint8_t *at = block + n / 512 % 8;

	if (pread(fd, at, length, offset - before) != (ssize_t)length)
		return complain("read");
	memcpy(value, at + before, sizeof(*value));
	return 0;
}

static int do_whole(char **arg)
{
	uint64_t offset = number(arg[0]) + 16, end = now_us() + number(arg[1]) * 1000000;
	uint64_t value = 0, last = 0;
	uint32_t n = 0, changes = 0, torn = 0;
	pid_t pid = toggle(offset);
	int ret = pid < 0 ? complain("fork") : 0;

	while (!ret && now_us() < end) {
		ret = read_around(offset, n++, &value);
		torn += value + 1 > 1;
		changes += value != last;
		last = value;
	}
	if (pid > 0 && (kill(pid, SIGKILL) || waitpid(pid, NULL, 0) != pid))
		ret = complain("kill");
	printf("%u reads, %u changes seen, %u torn\n", n, changes, torn);
	return ret || torn || !changes;
}

static int do_scatter(char **arg)
{
	uint64_t base = number(arg[0]), words = number(arg[1]) / 4;
	uint64_t end = now_us() + number(arg[2]) * 1000000;
	uint32_t seed = number(arg[3]), value, n = 0, block[64], at, i;

	while (now_us() < end) {
		value = next(&seed);
		at = next(&seed) % words;
		if (value % 4 == 0) {
			memory[base / 4 + at] = value;
		} else if (value % 4 == 1 && at + 64 <= words) {
			for (i = 0; i < 64; i++)
				block[i] = value + i;
			if (put(base + at * 4, block, sizeof(block)))
				return 1;
		} else if (put(base + at * 4, &value, sizeof(value))) {
			return 1;
		}
		if (++n % 64 == 0)
			pause_us(500);
	}
	printf("%u writes\n", n);
	return 0;
}

static int do_scrawl(char **arg)
{
	static uint32_t block[65536 / 4];
	uint64_t base = number(arg[0]), words = number(arg[1]) / 4;
	uint64_t end = now_us() + number(arg[2]) * 1000000;
	uint32_t seed = number(arg[3]), at, n, i;

	while (now_us() < end) {
		at = next(&seed) % words;
		n = next(&seed) % 4 ? 1 : 1 + next(&seed) % (sizeof(block) / 4);
		n = n > words - at ? words - at : n;
		for (i = 0; i < n; i++)
			block[i] = seed + i;
		if (put(base + at * 4, block, 4 * n))
			return 1;
		pause_us(1000);
	}
	return 0;
}

static int do_event(char **arg)
{
	struct card_event event = { .node = number(arg[0]), .event = number(arg[1]), .data = number(arg[2]) };

	return ioctl(fd, SEND_EVENT, &event) ? complain("send event") : 0;
}

static int do_burst(char **arg)
{
	struct card_event event = { .node = number(arg[0]), .event = number(arg[1]), .data = number(arg[2]) };
	uint32_t last = number(arg[3]);

	for (; event.data <= last; event.data++)
		if (ioctl(fd, SEND_EVENT, &event))
			return complain("send event");
	return 0;
}

static int do_drain(char **arg)
{
	struct card_event event = { .event = number(arg[0]) };

	if (ioctl(fd, ENABLE_EVENT, &event))
		return complain("enable event");
	for (;;) {
		event.timeout = number(arg[1]);
		if (ioctl(fd, WAIT_FOR_EVENT, &event))
			break;
		printf("%u ", event.data);
	}
	printf("\n");
	return errno == ETIMEDOUT ? 0 : complain("wait for event");
}

static int do_wait(char **arg)
{
	struct card_event event = { .event = number(arg[0]), .timeout = number(arg[1]) };

	if (ioctl(fd, ENABLE_EVENT, &event) || ioctl(fd, WAIT_FOR_EVENT, &event))
		return complain("wait for event");
	printf("%u %u\n", event.node, event.data);
	return 0;
}

static int do_take(char **arg)
{
	struct card_event event = { .event = number(arg[0]) };

	if (ioctl(fd, WAIT_FOR_EVENT, &event))
		return complain("take an event");
	printf("%u %u\n", event.node, event.data);
	return 0;
}

static int do_longest(char **arg)
{
	uint64_t end = now_us() + number(arg[1]) * 1000000, begin, took, longest = 0;
	uint32_t n;

	for (n = 1; now_us() < end; n++) {
		begin = now_us();
		if (put(number(arg[0]), &n, sizeof(n)))
			return 1;
		took = now_us() - begin;
		longest = took > longest ? took : longest;
		pause_us(100);
	}
	printf("%llu\n", (unsigned long long)longest);
	return 0;
}

static int do_heavy(char **arg)
{
	uint64_t length = number(arg[1]), end = now_us() + number(arg[2]) * 1000000, begin, took, longest = 0;
	uint32_t *block = malloc(length);
	uint32_t n, i;

	for (n = 1; block && now_us() < end; n++) {
		for (i = 0; i < length / 4; i++)
			block[i] = n;
		begin = now_us();
		if (put(number(arg[0]), block, length))
			return 1;
		took = now_us() - begin;
		longest = took > longest ? took : longest;
	}
	free(block);
	printf("%llu\n", (unsigned long long)longest);
	return 0;
}

static int do_impatient(char **arg)
{
	uint64_t length = number(arg[1]), end = now_us() + number(arg[2]) * 1000000, begin, after, since = now_us();
	uint64_t longest = 0, on_end = 0;
	uint32_t *block = calloc(1, length), refused = 0;

	if (!block || fcntl(fd, F_SETFL, O_NONBLOCK))
		return complain("O_NONBLOCK");
	while (now_us() < end) {
		block[0]++;
		begin = now_us();
		if (pwrite(fd, block, length, number(arg[0])) == (ssize_t)length)
			since = now_us();
		else if (errno == EAGAIN)
			refused++;
		else
			return complain("write");
		after = now_us();
		longest = after - begin > longest ? after - begin : longest;
		on_end = after - since > on_end ? after - since : on_end;
		pause_us(100);
	}
	printf("%llu %u %llu\n", (unsigned long long)longest, refused, (unsigned long long)on_end);
	free(block);
	return 0;
}

static int do_stain(char **arg)
{
	uint64_t at = number(arg[0]) / 4, words = number(arg[1]) / 4, end = now_us() + number(arg[2]) * 1000000, i;
	uint32_t n;

	for (n = 1; now_us() < end; n++)
		for (i = 0; i < words; i++)
			memory[at + i] = n;
	return 0;
}

/*
 * The last value that "churn" has written to each word, 0 if none. The struct is in
 * a mapped file, which is still valid after churn is killed.
 */
struct diary {
	uint32_t turn, last, words[];
};

static struct diary *diary_open(const char *path, uint64_t words, size_t *length)
{
	int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	struct diary *diary = MAP_FAILED;

	*length = sizeof(*diary) + words * sizeof(diary->words[0]);
	if (file >= 0 && !ftruncate(file, *length))
		diary = mmap(NULL, *length, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (file >= 0)
		close(file);
	return diary == MAP_FAILED ? NULL : diary;
}

static int do_steady(char **arg)
{
	uint32_t claim[4] = { number(arg[0]), number(arg[1]) }, n;
	uint64_t start = now_us(), begin, took, longest = 0, ranges = claim[1] / 65536;

	if (number(arg[3]) && ioctl(fd, CLAIM, claim))
		return complain("claim");
	for (n = 1; (begin = now_us()) < start + number(arg[2]) * 1000000; n++) {
		memory[(claim[0] + (begin - start) / 250000 % ranges * 65536) / 4] = n;
		took = now_us() - begin;
		longest = took > longest ? took : longest;
		pause_us(1000);
	}
	printf("%llu\n", (unsigned long long)longest);
	return 0;
}

static void store_pages(uint64_t offset, uint64_t pages, uint32_t value)
{
	uint64_t page;

	for (page = 0; page < pages; page++)
		memory[(offset + page * 4096) / 4] = value;
}

static int do_cycle(char **arg)
{
	uint64_t pages = number(arg[1]), end = now_us() + number(arg[2]) * 1000000;
	uint32_t claim[4] = { number(arg[0]), pages * 4096 }, n;

	if (number(arg[3]) && ioctl(fd, CLAIM, claim))
		return complain("claim");
	for (n = 1; now_us() < end; n++) {
		store_pages(claim[0], pages, n);
		pause_us(1000);
	}
	printf("%u\n", n - 1);
	return 0;
}

static int do_dirty(char **arg)
{
	store_pages(number(arg[0]), number(arg[1]), getpid());
	puts("dirty");
	fflush(stdout);
	pause_us(number(arg[2]) * 1000000);
	return 0;
}

static int do_slurp(char **arg)
{
	uint64_t offset = number(arg[0]), len = number(arg[1]);
	int zero = open("/dev/zero", O_RDONLY);

	if (zero < 0)
		return complain("/dev/zero");
	if (read(zero, (char *)memory + offset, len) != (ssize_t)len)
		return complain("read");
	return 0;
}

static int do_pokes(char **arg)
{
	uint32_t n, count = number(arg[1]);

	for (n = 1; n <= count; n++)
		if (put(number(arg[0]), &n, sizeof(n)))
			return 1;
	return 0;
}

static int later(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static int do_bounce(char **arg)
{
	uint64_t at = number(arg[0]) / 4, rounds = number(arg[1]), begin, *took = calloc(rounds + 1, sizeof(*took)), n;

	for (n = 1; took && n <= rounds; n++) {
		begin = now_us();
		memory[at] = n;
		while (memory[at + 1024] != n && now_us() < begin + 10000000)
			pause_us(100);
		took[n - 1] = now_us() - begin;
		pause_us(20000);
	}
	qsort(took, rounds, sizeof(*took), later);
	printf("%llu\n", (unsigned long long)took[rounds / 2]);
	return 0;
}

static int do_reflect(char **arg)
{
	uint64_t at = number(arg[0]) / 4, rounds = number(arg[1]), end = now_us() + number(arg[2]) * 1000000;
	uint32_t n;

	while ((n = memory[at]) != rounds && now_us() < end) {
		if (memory[at + 1024] != n)
			memory[at + 1024] = n;
		pause_us(100);
	}
	memory[at + 1024] = n;
	return n != rounds;
}

static int do_churn(char **arg)
{
	uint64_t at = number(arg[0]) / 4, step = number(arg[2]), words = number(arg[1]) / step;
	uint64_t end = now_us() + number(arg[3]) * 1000000;
	size_t length;
	struct diary *diary = diary_open(arg[4], words, &length);
	uint32_t seed = getpid(), i;
	int ret = 0;

	if (!diary)
		return complain(arg[4]);
	/*
	 * Begin with the last word of the diary, which a killed process may not
	 * have stored.
	 */
	for (i = diary->turn ? diary->last : 0; !ret && now_us() < end; i = next(&seed) % words) {
		diary->last = i;
		diary->words[i] = ++diary->turn;
		if (next(&seed) % 2)
			memory[at + i * step] = diary->turn;
		else
			ret = put((at + i * step) * 4, &diary->turn, sizeof(diary->turn));
		if (diary->turn % 32 == 0)
			pause_us(1000);
	}
	munmap(diary, length);
	return ret;
}

static int do_churned(char **arg)
{
	uint64_t at = number(arg[0]) / 4, step = number(arg[2]), words = number(arg[1]) / step, i;
	uint32_t written = 0, wrong = 0;
	size_t length;
	struct diary *diary = diary_open(arg[3], words, &length);

	if (!diary)
		return complain(arg[3]);
	for (i = 0; i < words; i++) {
		if (!diary->words[i] || i == diary->last)
			continue;
		written++;
		if (memory[at + i * step] == diary->words[i])
			continue;
		if (!wrong++)
			fprintf(stderr, "rfm: word %llu is %u, not %u\n", (unsigned long long)(at + i * step),
				memory[at + i * step], diary->words[i]);
	}
	printf("%u words written in %u turns, %u are wrong\n", written, diary->turn, wrong);
	munmap(diary, length);
	return wrong || !written;
}

/*
 * Write words and blocks, and check that the memory keeps them. No other node
 * writes here. If this node receives an older value of its own word, a peer has
 * mistaken a received word for a store of its own program, and has sent it
 * back.
 */
static int fence(char **arg, int with_word)
{
	uint64_t offset = number(arg[0]), length = number(arg[1]), rounds = number(arg[2]), i;
	uint32_t *block = malloc(length);
	uint32_t n, word;

	for (n = 1; block && n <= rounds; n++) {
		word = 2 * n;
		for (i = 0; i < length / 4; i++)
			block[i] = word + 1;
		if ((with_word && put(offset, &word, sizeof(word))) || put(offset, block, length))
			return 1;
		for (i = 0; i < length / 4; i++) {
			if (memory[offset / 4 + i] == word + 1)
				continue;
			fprintf(stderr, "rfm: written word %llu is %u, not %u\n", (unsigned long long)i,
				memory[offset / 4 + i], word + 1);
			return 1;
		}
	}
	free(block);
	return 0;
}

static int do_fence(char **arg)
{
	return fence(arg, 1);
}

static int do_swell(char **arg)
{
	return fence(arg, 0);
}

static int do_rising(char **arg)
{
	uint64_t at = number(arg[0]) / 4, words = number(arg[1]) / 4, end = now_us() + number(arg[3]) * 1000000, i;
	uint32_t *seen = calloc(words, sizeof(*seen)), last = number(arg[2]), value, changes = 0;

	while (seen && seen[0] != last && now_us() < end) {
		for (i = 0; i < words; i += i ? 255 : 1) {
			value = memory[at + i];
			changes += value != seen[i];
			if (value < seen[i]) {
				fprintf(stderr, "rfm: word %llu fell from %u to %u\n", (unsigned long long)i, seen[i],
					value);
				return 1;
			}
			seen[i] = value;
		}
	}
	printf("%u changes seen, the last is %u\n", changes, seen ? seen[0] : 0);
	return !seen || seen[0] != last;
}

static int do_flood(char **arg)
{
	uint64_t offset = number(arg[0]), length = number(arg[1]), end = now_us() + number(arg[2]) * 1000000, i;
	uint32_t *block = malloc(length), n;
	FILE *file = fopen(arg[3], "w");

	if (!block || !file)
		return complain(arg[3]);
	for (n = 1; now_us() < end; n++) {
		for (i = 0; i < length / 4; i++)
			block[i] = n;
		if (put(offset, block, length))
			return 1;
	}
	fprintf(file, "%u\n", n - 1);
	free(block);
	return fclose(file);
}

static int do_sync(char **arg)
{
	(void)arg;
	return fsync(fd) ? complain("fsync") : 0;
}

static int do_dark(char **arg)
{
	return ioctl(fd, SET_TRANSMIT_DISABLE, number(arg[0])) ? complain("transmitter") : 0;
}

/* Store just before the transmitter is disabled, and just before it is enabled. */
static int do_eclipse(char **arg)
{
	volatile uint32_t *at = &memory[number(arg[0]) / 4];
	unsigned long off = 1, on = 0;
	int ret;

	at[0] = 1;
	ret = ioctl(fd, SET_TRANSMIT_DISABLE, off);
	at[1] = 2;
	ret = ret ?: ioctl(fd, SET_TRANSMIT_DISABLE, on);
	at[2] = 3;
	return ret || fsync(fd) ? complain("transmitter") : 0;
}

static int do_lcsr(char **arg)
{
	struct card_reg reg = { .regset = BAR2, .offset = LCSR1, .width = 4 };

	(void)arg;
	if (ioctl(fd, READ_REG, &reg))
		return complain("read register");
	printf("%x\n", reg.value);
	return 0;
}

static int do_ring(char **arg)
{
	(void)arg;
	return ioctl(fd, CHECK_RING_CONT, NULL) ? complain("ring") : 0;
}

struct status_peer {
	uint32_t seq, state, flags, lag;
	uint64_t heard_ns, since_ns, overloads, left, reserved[2];
};

static const volatile struct status_peer *status_of(const char *node)
{
	char *page = mmap(NULL, STATUS_SIZE, PROT_READ, MAP_SHARED, fd, STATUS_OFFSET);

	if (page == MAP_FAILED)
		return NULL;
	return (const volatile struct status_peer *)(page + STATUS_FIRST) + number(node) % 256;
}

static uint64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static int do_status(char **arg)
{
	const volatile struct status_peer *peer = status_of(arg[0]);
	uint64_t heard;

	if (!peer)
		return complain("map the status page");
	heard = peer->heard_ns;
	printf("%u %u %x %u %lld %llu %llu\n", peer->seq, peer->state, peer->flags, peer->lag,
	       heard ? (long long)(clock_ns() - heard) / 1000000 : -1, (unsigned long long)peer->overloads,
	       (unsigned long long)peer->left);
	return 0;
}

static int do_stale(char **arg)
{
	const volatile struct status_peer *peer = status_of(arg[0]);
	uint64_t end = now_us() + number(arg[1]) * 1000000;

	if (!peer)
		return complain("map the status page");
	while (!peer->left || peer->flags & STATUS_SYNCED) {
		if (now_us() > end)
			return 1;
		pause_us(100);
	}
	return 0;
}

static int do_poll(char **arg)
{
	uint32_t events[4] = { 0 };
	struct card_event event = { .event = number(arg[0]) };
	struct pollfd polled = { .fd = fd, .events = POLLIN | POLLPRI };

	if (ioctl(fd, ENABLE_EVENT, &event))
		return complain("enable an event");
	if (*arg[1] != '-') {
		events[0] = strtoul(arg[1], NULL, 16);
		events[1] = strtoul(arg[2], NULL, 16);
		if (ioctl(fd, POLL_EVENTS, events))
			return complain("events of poll");
	}
	if (poll(&polled, 1, 0) < 0)
		return complain("poll");
	printf("%s%s\n", polled.revents & POLLIN ? "in" : "", polled.revents & POLLPRI ? "pri" : "");
	return 0;
}

static int do_reopen(char **arg)
{
	int again = open(device, O_RDWR | O_CLOEXEC);
	void *map = MAP_FAILED;

	(void)arg;
	if (again >= 0)
		map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, again, 0);
	if (map != MAP_FAILED)
		munmap(map, size);
	if (again >= 0)
		close(again);
	return map == MAP_FAILED ? complain("reopen") : 0;
}

static const struct {
	const char *name;
	int args;
	int (*run)(char **arg);
} commands[] = {
	{ "poke", 2, do_poke }, { "peek", 1, do_peek }, { "await", 3, do_await }, { "fill", 3, do_fill },
	{ "sum", 0, do_sum }, { "store", 2, do_store }, { "blocks", 3, do_blocks }, { "watch", 4, do_watch },
	{ "own", 4, do_own }, { "twist", 2, do_twist }, { "untwist", 2, do_untwist }, { "scatter", 4, do_scatter },
	{ "whole", 2, do_whole }, { "burst", 4, do_burst }, { "drain", 2, do_drain },
	{ "event", 3, do_event }, { "wait", 2, do_wait }, { "take", 1, do_take }, { "longest", 2, do_longest },
	{ "sync", 0, do_sync },
	{ "ring", 0, do_ring }, { "heavy", 3, do_heavy }, { "impatient", 3, do_impatient }, { "stain", 3, do_stain },
	{ "lcsr", 0, do_lcsr },
	{ "dark", 1, do_dark }, { "eclipse", 1, do_eclipse }, { "reopen", 0, do_reopen }, { "churn", 5, do_churn },
	{ "churned", 4, do_churned }, { "fence", 3, do_fence }, { "swell", 3, do_swell }, { "rising", 4, do_rising },
	{ "steady", 4, do_steady }, { "cycle", 4, do_cycle }, { "dirty", 3, do_dirty },
	{ "slurp", 2, do_slurp },
	{ "pokes", 2, do_pokes }, { "bounce", 2, do_bounce }, { "reflect", 3, do_reflect },
	{ "flood", 4, do_flood }, { "scrawl", 4, do_scrawl },
	{ "status", 1, do_status }, { "stale", 2, do_stale }, { "poll", 3, do_poll },
};

static int failing(int (*command)(char **arg), char **arg)
{
	int nth = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	unsigned int n, failures = 0;
	char text[16];
	ssize_t got;
	int ret;

	if (nth < 0)
		return complain("fail-nth");
	for (n = 1; n < 1000; n++) {
		quiet = 1;
		got = snprintf(text, sizeof(text), "%u", n);
		if (pwrite(nth, text, got, 0) != got)
			return complain("fail-nth");
		ret = command(arg);
		got = pread(nth, text, sizeof(text) - 1, 0);
		if (pwrite(nth, "0", 1, 0) != 1 || got <= 0)
			return complain("fail-nth");
		quiet = 0;
		text[got] = 0;
		if (atoi(text))
			break;
		failures += !!ret;
	}
	printf("%u allocations, %u of them needed; the last result is %d\n", n - 1, failures, ret);
	return ret || n == 1000;
}

static int run(int argc, char **argv)
{
	int fail = argc > 3 && !strcmp(argv[2], "failing");
	struct stat st;
	size_t i;

	device = argv[1];
	fd = open(device, O_RDWR);
	if (fd < 0 || fstat(fd, &st))
		return complain(device);
	size = lseek(fd, 0, SEEK_END);
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		return complain("mmap");
	argc -= fail;
	argv += fail;
	for (i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		if (strcmp(argv[2], commands[i].name) || argc != 3 + commands[i].args)
			continue;
		return fail ? failing(commands[i].run, argv + 3) : commands[i].run(argv + 3);
	}
	fprintf(stderr, "rfm: %s: no such command, or not its arguments\n", argv[2]);
	return 1;
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "usage: rfm DEVICE COMMAND ARGUMENT...\n");
		return 1;
	}
	return run(argc, argv);
}
