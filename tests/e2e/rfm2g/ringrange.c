// SPDX-License-Identifier: GPL-2.0
/*
 * ringrange DEVICE COMMAND ARGUMENT...: notices of writes in rings. Print a line for each case.
 * Author: The krdma developers.
 *
 *   ranges         follow ranges of the memory; "ring serve" must run on node 1
 *   resync FILE    follow a range and the link with node 1: create FILE when ready, and wait until the link was down
 *                  and node 1 has sent the word at RESYNC, which changes while the link is down
 *   image FILE     follow a range while the device loads an image: create FILE when ready, and wait until the word at
 *                  RESYNC is loaded
 */
#define _GNU_SOURCE
#include "ring.h"

#include <sys/wait.h>

#define FLUSH_QUEUE 0x4001EB1D
#define SET_TRANSMIT_DISABLE 0x4001EB39
/* A range outside of the words of the server, and a word in another range. */
#define FROM 8192
#define LENGTH 16384
#define RESYNC 524288
#define RESYNC_VALUE 4711

static int follow(const struct ring *ring, uint32_t flags, uint64_t cookie, uint32_t offset, uint32_t length)
{
	return call(ring->fd, SUBSCRIBE, &(struct subscribe){ .what = SUB_RANGE, .flags = flags, .cookie = cookie,
							      .offset = offset, .length = length });
}

/* Wait for the next record. Return 0 if there is none. */
static int await(const struct ring *ring, struct record *record)
{
	return next(ring, record) || (!enter(ring, 1, 20000) && next(ring, record));
}

static int is_empty(const struct ring *ring)
{
	return !unread(ring);
}

/* One case: the next record is a notice of one message about these bytes. */
static void expect_notice(const struct ring *ring, uint32_t node, uint32_t offset, uint32_t length, const char *text)
{
	struct record record = { .type = REC_PAD };
	int got = await(ring, &record);

	is(got && record.type == REC_WRITTEN && record.node == node && record.offset == offset &&
	   record.length == length && record.what[0] == length && record.what[1] == 1 && record.serial &&
	   record.flags == (node == 2 ? OWN : 0) && is_empty(ring), text);
	if (got && (record.offset != offset || record.length != length))
		printf("# offset %u, length %u, bytes %u\n", record.offset, record.length, record.what[0]);
}

/* ---- writes of a peer ---- */

static void reports_writes_of_a_peer(void)
{
	struct ring ring = ring_open(64);
	struct record record;
	char bytes[5];

	gives(0, follow(&ring, 0, 5, FROM, 4096), "range: subscribed");
	request(WRITE, FROM + 100, 50);
	expect_notice(&ring, 1, FROM + 100, 50, "range: bytes inside the range");
	record = ring.records[0];
	is(record.cookie == 5 && record.slots == 1 && record.time_ns && !record.what[2] && !record.what[3],
	   "range: cookie, size and time of a notice");
	is(pread(fd, bytes, 5, FROM + 100) == 5 && !memcmp(bytes, "yzabc", 5),
	   "range: the memory has the bytes of a notice");
	request(WRITE, FROM + 100, 50);
	expect_notice(&ring, 1, FROM + 100, 50, "range: bytes that do not change");
	is(ring.records[1].serial > record.serial, "range: a later write has a higher number");
	request(WRITE, FROM - 92, 400);
	expect_notice(&ring, 1, FROM, 308, "range: bytes across the begin of the range");
	request(WRITE, FROM + 4000, 400);
	expect_notice(&ring, 1, FROM + 4000, 96, "range: bytes across the end of the range");
	request(WRITE, FROM + 4096, 100);
	request(WRITE, FROM - 100, 100);
	is(is_empty(&ring), "range: no notice of bytes beside the range");
	request(WRITE, FROM + 4095, 1);
	expect_notice(&ring, 1, FROM + 4095, 1, "range: the last byte of the range");
	gives(0, subscribe(&ring, 0, SUB_REMOVE, 5, 0), "range: removed");
	request(WRITE, FROM + 100, 50);
	is(is_empty(&ring), "range: no notice after the removal");
	ring_close(&ring);
}

/* Sum up notices until they have BYTES. Return whether they are about one hull. */
static int covers(const struct ring *ring, uint32_t bytes, uint32_t first, uint32_t end, int flags)
{
	uint32_t sum = 0, low = UINT32_MAX, high = 0;
	struct record record;

	while (sum < bytes && await(ring, &record)) {
		if (record.type != REC_WRITTEN || (record.flags & ~MERGED) != flags)
			return 0;
		sum += record.what[0];
		low = record.offset < low ? record.offset : low;
		high = record.offset + record.length > high ? record.offset + record.length : high;
	}
	if (sum != bytes || low != first || high != end)
		printf("# %u of %u bytes from %u to %u\n", sum, bytes, low, high);
	return sum == bytes && low == first && high == end;
}

/* Node 1 writes large blocks directly, unless the range is followed. */
static void reports_large_blocks(void)
{
	struct ring ring = ring_open(64);

	request(WRITE, RESYNC, 65536);
	gives(0, follow(&ring, 0, 5, RESYNC, 65536), "block: subscribed");
	request(WRITE, RESYNC, 65536);
	is(covers(&ring, 65536, RESYNC, RESYNC + 65536, 0), "block: notices of a large block cover it");
	ring_close(&ring);
}

static void filters_writers(void)
{
	struct subscribe args = { .what = SUB_RANGE, .cookie = 1, .offset = FROM, .length = LENGTH, .nodes[1] = 2 };
	struct ring ring = ring_open(64);

	gives(0, call(ring.fd, SUBSCRIBE, &args), "writers: subscribed to node 65");
	args.nodes[1] = 0;
	args.nodes[0] = 2;
	args.cookie = 2;
	args.flags = SUB_OWN;
	gives(0, call(ring.fd, SUBSCRIBE, &args), "writers: subscribed to nodes 1 and 2");
	request(WRITE, FROM, 8);
	expect_notice(&ring, 1, FROM, 8, "writers: bytes of node 1 once");
	counts(2, ring.records[0].cookie, "writers: cookie of the subscription that matches");
	ring_close(&ring);
}

/* ---- writes of this node ---- */

static void store(uint32_t offset, const void *bytes, size_t len)
{
	if (pwrite(fd, bytes, len, offset) != (ssize_t)len)
		err(2, "pwrite");
}

static void reports_own_writes(void)
{
	volatile uint32_t *map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, FROM);
	struct ring ring = ring_open(64), other = ring_open(64);
	uint64_t serial;

	if (map == MAP_FAILED)
		err(2, "mmap");
	gives(0, follow(&ring, SUB_OWN, 1, FROM, LENGTH), "own: subscribed");
	gives(0, follow(&other, 0, 2, FROM, LENGTH), "own: another ring without own writes");
	store(FROM + 8, "12345678901", 11);
	expect_notice(&ring, 2, FROM + 8, 11, "own: a call");
	serial = ring.records[0].serial;
	map[100]++;
	map[500]++;
	if (fsync(fd))
		err(2, "fsync");
	is(covers(&ring, 8, FROM + 400, FROM + 2004, OWN), "own: stores into a mapping");
	if (ioctl(fd, SET_TRANSMIT_DISABLE, 1))
		err(2, "transmitter");
	store(FROM, "x", 1);
	if (ioctl(fd, SET_TRANSMIT_DISABLE, 0))
		err(2, "transmitter");
	is(ring.records[(tail(&ring) - 1) % 64].serial > serial, "own: a later write has a higher number");
	expect_notice(&ring, 2, FROM, 1, "own: a call while the transmitter is off");
	is(is_empty(&other) && !flags(&other), "own: no notice in the other ring");
	munmap((void *)map, 4096);
	ring_close(&ring);
	ring_close(&other);
}

/* A notice that merged while the ring was full comes before a later event. */
static void merges_notices_that_do_not_fit(void)
{
	struct ring ring = ring_open(64);
	struct record record;
	int i, good = 1;

	follow(&ring, SUB_OWN, 1, FROM, LENGTH);
	subscribe(&ring, SUB_EVENTS, 0, 2, 1 << INTR1);
	for (i = 0; i < 200; i++)
		store(FROM + i * 64, "01234567", 8);
	counts(64, unread(&ring), "merge: slots of a full ring");
	counts(MORE, flags(&ring), "merge: flag of a full ring");
	counts(135, ring.kernel->merged, "merge: writes that merged with another one");
	for (i = 0; i < 64; i++)
		good = good && next(&ring, &record) && record.offset == FROM + i * 64u && record.length == 8 &&
		       record.flags == OWN;
	is(good && is_empty(&ring), "merge: the oldest notices are kept");
	request(INTR1, 3, 1);
	is(await(&ring, &record) && record.type == REC_WRITTEN && record.flags == (MERGED | OWN) && record.node == 2 &&
	   record.offset == FROM + 64 * 64 && record.length == 135 * 64 + 8 && record.what[0] == 136 * 8 &&
	   record.what[1] == 136 && record.cookie == 1, "merge: one notice of 136 writes");
	is(await(&ring, &record) && record.type == REC_EVENT && record.what[1] == 3,
	   "merge: the event after these writes comes after their notice");
	is(is_empty(&ring) && !flags(&ring) && !ring.kernel->lost, "merge: nothing is lost or held back");
	store(FROM, "y", 1);
	expect_notice(&ring, 2, FROM, 1, "merge: a notice after the overflow");
	ioctl(fd, FLUSH_QUEUE, INTR1);
	ring_close(&ring);
}

static void merges_different_writers(void)
{
	struct ring ring = ring_open(64);
	struct record record;
	int i;

	follow(&ring, SUB_OWN, 1, FROM, LENGTH);
	for (i = 0; i < 65; i++)
		store(FROM, &i, 4);
	request(WRITE, FROM + 64, 8);
	/* The word DONE may have come in the same message, before its notice. */
	pause_ms(50);
	drain(&ring);
	gives(0, enter(&ring, 1, 20000), "writers: ENTER puts a merged notice into the ring");
	is(next(&ring, &record) && record.flags == MERGED && record.node == NO_NODE && !record.serial &&
	   record.offset == FROM && record.length == 72 && record.what[0] == 12 && record.what[1] == 2,
	   "writers: a merged notice of two nodes");
	ring_close(&ring);
}

/*
 * The server writes DATA before each event. Each event has its notice before it, also if the ring is full repeatedly:
 * the reader pauses.
 */
static void notices_come_before_events(void)
{
	struct ring ring = ring_open(64);
	uint32_t notices = 0, merged = 0, n = 0, bad = 0;
	struct record record;
	pid_t pid;

	follow(&ring, 0, 1, DATA, 4);
	subscribe(&ring, SUB_EVENTS, 0, 2, 1 << INTR2);
	pid = fork();
	if (!pid) {
		request(INTR2, 1, 1000);
		_exit(0);
	}
	while (notices < 1000 && await(&ring, &record)) {
		if (record.type == REC_WRITTEN) {
			notices += record.what[1];
			merged += record.what[1] > 1;
			bad += record.offset != DATA || record.length != 4;
		} else if (record.type == REC_EVENT) {
			bad += record.what[1] > notices;
			if (++n % 20 == 0)
				pause_ms(20);
		}
	}
	waitpid(pid, NULL, 0);
	counts(1000, notices, "order: messages that notices cover");
	counts(0, bad, "order: events before the notice of an earlier write");
	is(n >= 30, "order: events between the notices");
	printf("# %u events, %u merged notices\n", n, merged);
	ioctl(fd, FLUSH_QUEUE, INTR2);
	ring_close(&ring);
}

static int do_ranges(char **arg)
{
	(void)arg;
	reports_writes_of_a_peer();
	reports_large_blocks();
	filters_writers();
	reports_own_writes();
	merges_notices_that_do_not_fit();
	merges_different_writers();
	notices_come_before_events();
	return 0;
}

/* ---- resync and images ---- */

static int do_resync(char **arg)
{
	struct ring ring = ring_open(1024);
	struct record record = { .type = REC_PAD };
	int down = 0, written = 0, early = 0;

	follow(&ring, 0, 1, RESYNC, 4096);
	subscribe(&ring, SUB_LINKS, 0, 2, 0);
	drain(&ring);
	close(open(arg[0], O_CREAT | O_WRONLY, 0600));
	while (!enter(&ring, 1, 60000) && next(&ring, &record)) {
		if (record.type == REC_WRITTEN)
			written |= down && record.offset <= RESYNC && record.offset + record.length >= RESYNC + 4;
		if (record.type != REC_LINK)
			continue;
		down |= !record.what[0];
		if (!down || !(record.what[1] & SYNCED))
			continue;
		early = !written;
		break;
	}
	is(down, "resync: the link was down");
	is(written, "resync: a notice covers the word that changed");
	is(!early, "resync: the notice comes before the record that the peer is synced");
	ring_close(&ring);
	return 0;
}

static int do_image(char **arg)
{
	const volatile uint32_t *word = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, RESYNC);
	struct ring ring = ring_open(1024);
	struct record record = { .type = REC_PAD };
	int begun = 0;

	follow(&ring, 0, 1, RESYNC, 4096);
	is(is_empty(&ring) && !*word, "image: no record before a load");
	close(open(arg[0], O_CREAT | O_WRONLY, 0600));
	while (!enter(&ring, 1, 60000) && next(&ring, &record)) {
		if (record.type != REC_IMAGE)
			continue;
		if (!record.what[0])
			break;
		begun++;
	}
	counts(1, begun, "image: a record when the load begins");
	is(record.type == REC_IMAGE && !record.what[0] && record.node == NO_NODE && record.cookie == 1,
	   "image: a record when the load has ended");
	counts(RESYNC_VALUE, *word, "image: the loaded word");
	ring_close(&ring);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		errx(2, "ringrange DEVICE COMMAND ARGUMENT...");
	device_open(argv[1]);
	if (!strcmp(argv[2], "ranges"))
		return do_ranges(argv + 3);
	if (argc == 4 && !strcmp(argv[2], "resync"))
		return do_resync(argv + 3);
	if (argc == 4 && !strcmp(argv[2], "image"))
		return do_image(argv + 3);
	errx(2, "%s: no such command, or not its arguments", argv[2]);
}
