// SPDX-License-Identifier: GPL-2.0
/*
 * batch DEVICE COMMAND ARGUMENT...: batches of writes and events, for scenarios. Author: The krdma developers.
 *
 *   calls      make invalid calls, and exceed limits; print a line for each case
 *   local      execute batches whose effects are visible on this node; print a line for each case
 *   cycle N    execute N batches: eight ranges, a counter at COUNTER, and INTR1 for node 2 with the same value. Wait
 *              after each one until node 2 has it
 *   blocks N   as "cycle", without events
 *   follow N FILE
 *              on the other node: create FILE when ready, check each event against the memory until the event N
 *              arrives, and read the memory all the time; print a line for each case
 *   fight N    let three processes write N times each: batches of two words at FIGHT, and other calls. Check that the
 *              two words are equal at the end; print a line for each case
 *   equal      succeed if the two words at FIGHT are equal
 *   manual     store through a manual mapping, and publish; print a line for each case
 *   apart      on the other node: check what "manual" has published; print a line for each case
 *   pairs N FILE
 *              when FILE exists, publish a pair of equal words N times, and until FILE is removed, while a thread
 *              stores into it; then publish all
 *   whole FILE on the other node: create FILE when ready, and read the pair until the last one arrives; remove FILE
 *              when the pair has changed three times; print a line for each case
 *   refused    the peer is cut off: execute nonblocking batches until one is refused; print a line for each case
 *   acked REACHED BEHIND ABSENT RESULT
 *              execute a batch with ACKED, and compare its results; RESULT is 0 or an errno
 */
#define _GNU_SOURCE
#include "ring.h"

#include <sys/wait.h>

#include "card.h"

#define WAIT_FOR_EVENT CARD_BITS(0xC018EB17, 0xC014EB17)
#define ENABLE_EVENT CARD_BITS(0x4018EB14, 0x4014EB14)
#define FLUSH_QUEUE 0x4001EB1D
#define SET_TRANSMIT_DISABLE 0x4001EB39
#define SIZE 1048576u
/* A node that no scenario has, so events to it are valid on each node. */
#define OTHER 9
#define COUNTER 65536
#define RANGES 131072
#define FIGHT 200704
/* Number of events that "follow" has got. The other node waits when 64 events are ahead: a queue has room for 127. */
#define GOT 212992

/* Range of manual mappings, two pages: the second one has the pair. */
#define PUBLISHED 262144
#define PAIR (PUBLISHED + 4096)

#define ALL 0xFFFF

static void *volatile bad_address = (void *)8;

/* Execute COUNT operations. The last one ends the batch. */
static int run(struct batch *batch, struct op *ops, uint32_t count, uint32_t flags)
{
	*batch = (struct batch){ .ops = (uintptr_t)ops, .count = count, .flags = flags,
				 .timeout_ms = flags & OP_ACKED ? 60000 : 0 };
	ops[count - 1].flags &= ~OP_MORE;
	return call(fd, BATCH, batch);
}

static int run_one(struct op op)
{
	struct batch batch;

	return run(&batch, &op, 1, 0);
}

static void store(uint32_t offset, const void *bytes, size_t len)
{
	if (pwrite(fd, bytes, len, offset) != (ssize_t)len)
		err(2, "pwrite");
}

static uint32_t word(uint32_t offset)
{
	uint32_t value;

	if (pread(fd, &value, 4, offset) != 4)
		err(2, "pread");
	return value;
}

/* ---- invalid calls ---- */

static void bad_batches(void)
{
	struct op ops[65];
	struct batch batch;
	int i, writing = open(path, O_RDONLY);

	gives(EFAULT, call(fd, BATCH, bad_address), "batch: an invalid address");
	ops[0] = word_of(0, 1);
	ops[0].flags = 0;
	batch = (struct batch){ .ops = (uintptr_t)ops, .count = 1 };
	gives(EBADF, call(writing, BATCH, &batch), "batch: a file that cannot be written");
	close(writing);
	gives(EINVAL, call(fd, BATCH, &(struct batch){ .ops = (uintptr_t)ops }), "batch: no operation");
	gives(EINVAL, call(fd, BATCH, &(struct batch){ .ops = (uintptr_t)ops, .count = 1, .zero = 1 }),
	      "batch: the reserved word");
	for (i = 0; i < 32; i++) {
		struct batch unknown = { .ops = (uintptr_t)ops, .count = 1, .flags = 1U << i };

		if (unknown.flags & (OP_ACKED | OP_NOFLUSH))
			continue;
		if (call(fd, BATCH, &unknown) != EINVAL)
			break;
	}
	counts(32, i, "batch: unknown flags");
	gives(EINVAL, call(fd, BATCH, &(struct batch){ .ops = (uintptr_t)ops, .count = 1, .timeout_ms = 1 }),
	      "batch: a timeout without ACKED");
	gives(EFAULT, call(fd, BATCH, &(struct batch){ .ops = 8, .count = 1 }),
	      "batch: operations at an invalid address");
	for (i = 0; i < 65; i++)
		ops[i] = word_of(4 * i, i);
	gives(E2BIG, run(&batch, ops, 65, 0), "batch: 65 operations");
	gives(0, run(&batch, ops, 64, 0), "batch: 64 operations");
	ops[64 - 1].flags = OP_MORE;
	gives(0, run(&batch, ops, 3, 0), "batch: three operations");
	gives(EINVAL, run(&batch, ops, 64, 0), "batch: an operation in between that ends the batch");
	counts(2, batch.failed, "batch: index of the operation that ends the batch");
	gives(ENOTTY, call(fd, BATCH ^ 1 << 16, &batch), "batch: another length");
}

static void bad_operations(void)
{
	static char block[65536];
	struct op ops[20], op;
	struct batch batch;
	int i;

	gives(EINVAL, run_one((struct op){ .op = 0, .length = 4 }), "operation: kind 0");
	op = publish_of(0, 4);
	op.source = (uintptr_t)block;
	gives(EINVAL, run_one(op), "operation: PUBLISH with a source");
	gives(EINVAL, run_one(publish_of(SIZE - 3, 4)), "operation: PUBLISH beyond the memory");
	gives(EINVAL, run_one((struct op){ .op = 5, .length = 4 }), "operation: kind 5");
	gives(EINVAL, run_one(word_of(SIZE - 3, 1)), "operation: a word beyond the memory");
	gives(EINVAL, run_one(write_of(SIZE, block, 1)), "operation: a byte behind the memory");
	gives(EINVAL, run_one(write_of(0, block, 0)), "operation: no byte");
	gives(EFAULT, run_one(write_of(0, (void *)8, 4)), "operation: bytes at an invalid address");
	op = word_of(0, 1);
	op.flags |= 2;
	gives(EINVAL, run_one(op), "operation: an unknown flag");
	gives(EINVAL, run_one(event_of(OTHER, 5, 1)), "operation: a fault as event");
	gives(EINVAL, run_one(event_of(256, INTR1, 1)), "operation: an event to node 256");
	for (i = 0; i < 20; i++)
		ops[i] = event_of(OTHER, INTR1, i);
	gives(0, run(&batch, ops, 8, 0), "operation: eight events");
	ops[7].flags = OP_MORE;
	gives(E2BIG, run(&batch, ops, 9, 0), "operation: nine events");
	counts(8, batch.failed, "operation: index of the ninth event");
	for (i = 0; i < 17; i++)
		ops[i] = i % 2 ? event_of(OTHER, INTR1, i) : word_of(i * 4, i);
	gives(0, run(&batch, ops, 17, 0), "operation: eight events between nine words");
	gives(0, run_one(write_of(4096, block, 65536)), "operation: 65536 bytes");
	ops[0] = write_of(4096, block, 65535);
	ops[1] = word_of(0, 1);
	gives(E2BIG, run(&batch, ops, 2, 0), "operation: 65539 bytes");
	store(0, "\1\0\0\0", 4);
	ops[0] = word_of(0, 77);
	ops[1] = write_of(64, (void *)8, 4);
	gives(EFAULT, run(&batch, ops, 2, 0), "operation: the second one has bytes at an invalid address");
	counts(1, batch.failed, "operation: its index");
	counts(1, word(0), "operation: a batch that fails has no effect");
}

/* ---- effects on this node ---- */

static void stores_all_operations(void)
{
	struct op ops[3] = { write_of(8195, "abcdefg", 7), word_of(8200, 0x64636261), write_of(16384, "zz", 2) };
	struct ring ring = ring_open(64);
	struct record record = { .type = REC_PAD };
	struct batch batch;
	char bytes[12];
	uint64_t before;
	struct subscribe own = { .what = SUB_RANGE, .flags = SUB_OWN, .offset = 8192, .length = 4096 };

	store(0, "x", 1);
	call(ring.fd, SUBSCRIBE, &own);
	gives(0, run(&batch, ops, 3, 0), "local: a batch of three writes");
	before = batch.serial;
	is(pread(fd, bytes, 12, 8192) == 12 && !memcmp(bytes + 3, "abcdeabcd", 9),
	   "local: a later operation overwrites an earlier one");
	is(next(&ring, &record) && record.type == REC_WRITTEN && record.flags == OWN && record.offset == 8195 &&
	   record.length == 9 && record.what[0] == 11 && record.what[1] == 1 && record.serial == before &&
	   !unread(&ring),
	   "local: a ring gets one notice of the batch");
	ops[2].flags = OP_MORE;
	gives(0, run(&batch, ops, 1, 0), "local: another batch");
	counts(before + 1, batch.serial, "local: a batch has one number");
	ring_close(&ring);
}

static void reads_from_a_mapping_of_the_memory(void)
{
	char *map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 8192);
	struct op ops[1] = { write_of(12288, map, 4096) };
	char bytes[4096];
	struct batch batch;

	if (map == MAP_FAILED)
		err(2, "mmap");
	memset(map, 'm', 4096);
	gives(0, run(&batch, ops, 1, 0), "local: bytes from a mapping of the memory");
	is(pread(fd, bytes, 4096, 12288) == 4096 && bytes[0] == 'm' && bytes[4095] == 'm',
	   "local: the memory has these bytes");
	gives(0, run(&batch, ops, 1, OP_NOFLUSH), "local: without sending stores into mappings");
	munmap(map, 4096);
}

static void stores_only_here_with_transmitter_off(void)
{
	struct op ops[2] = { word_of(4096, 99), event_of(ALL, INTR2, 1) };
	struct batch batch;
	uint64_t before;

	run(&batch, ops, 1, 0);
	ops[0] = word_of(4096, 100);
	before = batch.serial;
	if (ioctl(fd, SET_TRANSMIT_DISABLE, 1))
		err(2, "transmitter");
	gives(0, run(&batch, ops, 2, OP_ACKED), "off: a batch while the transmitter is off");
	is(batch.serial == before && !batch.reached && !batch.behind && batch.absent == 1,
	   "off: no number, and no peer has it");
	if (ioctl(fd, SET_TRANSMIT_DISABLE, 0))
		err(2, "transmitter");
	counts(100, word(4096), "off: the word is stored here");
}

static int do_calls(char **arg)
{
	(void)arg;
	bad_batches();
	bad_operations();
	return 0;
}

static int do_local(char **arg)
{
	(void)arg;
	stores_all_operations();
	reads_from_a_mapping_of_the_memory();
	stores_only_here_with_transmitter_off();
	return 0;
}

/* ---- cycles ---- */

static int cycles(uint32_t n, int events)
{
	uint32_t block[16], cycle, i, count;
	struct batch batch;
	struct op ops[10];

	for (cycle = 1; cycle <= n; cycle++) {
		for (i = 0; i < 16; i++)
			block[i] = cycle;
		for (i = 0; i < 8; i++)
			ops[i] = write_of(RANGES + i * 8192, block, sizeof(block));
		ops[8] = word_of(COUNTER, cycle);
		ops[9] = event_of(2, INTR1, cycle);
		count = events ? 10 : 9;
		if (run(&batch, ops, count, OP_ACKED) || batch.reached != 1) {
			warn("cycle %u, %u peers reached", cycle, batch.reached);
			return 1;
		}
		for (i = 0; events && cycle > word(GOT) + 64 && i < 30000; i++)
			pause_ms(1);
	}
	return 0;
}

static int do_cycle(char **arg)
{
	return cycles(atoi(arg[0]), 1);
}

static int do_blocks(char **arg)
{
	return cycles(atoi(arg[0]), 0);
}

static const volatile uint32_t *map;
static volatile int stop;

/* Count the words of the ranges that are older than a counter. */
static uint32_t older_than(uint32_t counter)
{
	uint32_t i, older = 0;

	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	for (i = 0; i < 8 * 16; i++)
		older += map[(RANGES + i / 16 * 8192) / 4 + i % 16] < counter;
	return older;
}

static void *read_all_the_time(void *arg)
{
	uint32_t *results = arg;

	while (!stop) {
		results[0] += older_than(map[COUNTER / 4]);
		results[1]++;
		if (results[1] % 64 == 0)
			pause_ms(1);
	}
	return NULL;
}

static int do_follow(char **arg)
{
	uint32_t results[2] = { 0 }, n = atoi(arg[0]), got = 0, older = 0, disorder = 0;
	struct card_event event = { .event = INTR1 };
	pthread_t thread;

	map = mmap(NULL, SIZE, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED || call(fd, ENABLE_EVENT, &event))
		err(2, "mmap or enable");
	ioctl(fd, FLUSH_QUEUE, INTR1);
	close(open(arg[1], O_CREAT | O_WRONLY, 0600));
	pthread_create(&thread, NULL, read_all_the_time, results);
	while (got < n) {
		event = (struct card_event){ .event = INTR1, .timeout = 60000 };
		if (call(fd, WAIT_FOR_EVENT, &event))
			break;
		disorder += event.data != ++got;
		older += (map[COUNTER / 4] < event.data) + older_than(event.data);
		if (got % 16 == 0)
			store(GOT, &got, 4);
	}
	stop = 1;
	pthread_join(thread, NULL);
	counts(n, got, "follow: events of cycles");
	counts(0, disorder, "follow: events out of order");
	counts(0, older, "follow: words that are older than the event of their batch");
	is(results[1] > 10, "follow: the memory is read all the time");
	counts(0, results[0], "follow: words that are older than the counter behind them");
	return 0;
}

/* ---- several writers ---- */

static int fights(uint32_t seed, uint32_t n)
{
	struct batch batch;
	struct op ops[3];
	uint32_t i;

	for (i = 0; i < n; i++) {
		ops[0] = word_of(FIGHT, seed + i);
		ops[1] = write_of(FIGHT + 8192, &(uint32_t){ seed + i }, 4);
		ops[2] = event_of(2, INTR2, i);
		if (run(&batch, ops, 2 + (i % 16 == 0), 0))
			return 1;
	}
	return 0;
}

static int do_fight(char **arg)
{
	uint32_t i, round, n = atoi(arg[0]), different = 0, failed = 0;
	int status;

	for (round = 0; round < n; round++) {
		for (i = 0; i < 3; i++)
			if (!fork())
				_exit(i < 2 ? fights(i << 24 | round << 8, 20) :
				      pwrite(fd, &i, 4, FIGHT + 64) != 4);
		for (i = 0; i < 3; i++)
			failed |= wait(&status) < 0 || status;
		different += word(FIGHT) != word(FIGHT + 8192);
	}
	is(!failed, "fight: all calls succeed");
	counts(0, different, "fight: rounds after which the words of the last batch differ");
	return 0;
}

static int do_equal(char **arg)
{
	(void)arg;
	return word(FIGHT) != word(FIGHT + 8192);
}

/* ---- manual mappings ---- */

static void *manual_map(void)
{
	void *area = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, MANUAL + PUBLISHED);

	if (area == MAP_FAILED)
		err(2, "mmap: manual");
	return area;
}

static int map_fails(int file, int flags, off_t offset)
{
	return mmap(NULL, 8192, PROT_READ, flags, file, MANUAL + offset) == MAP_FAILED ? errno : 0;
}

static void bad_manual_mappings(void)
{
	int reading = open(path, O_RDONLY);

	gives(EACCES, map_fails(reading, MAP_SHARED, 0), "manual: a file that cannot be written");
	close(reading);
	gives(EINVAL, map_fails(fd, MAP_PRIVATE, 0), "manual: a private mapping");
	gives(EAGAIN, map_fails(fd, MAP_SHARED, SIZE - 4096), "manual: a mapping beyond the memory");
	gives(EAGAIN, map_fails(fd, MAP_SHARED, SIZE), "manual: a mapping behind the memory");
}

/* Each PUBLISH is a write, whether or not it changes a value. */
static void publishes_are_noticed(void)
{
	struct subscribe own = { .what = SUB_RANGE, .flags = SUB_OWN, .offset = PUBLISHED, .length = 4096 };
	struct record record = { .type = REC_PAD };
	struct ring ring = ring_open(64);
	struct op op = publish_of(PUBLISHED, 4);
	struct batch batch;
	uint32_t i, wrong = 0;

	call(ring.fd, SUBSCRIBE, &own);
	for (i = 0; i < 3; i++)
		wrong += run(&batch, &op, 1, 0) || !next(&ring, &record) || record.type != REC_WRITTEN ||
			 record.offset != PUBLISHED || record.length != 4 || record.serial != batch.serial;
	counts(0, wrong, "manual: writes by PUBLISH without their notice");
	is(!unread(&ring), "manual: only bytes that are published are noticed");
	ring_close(&ring);
}

/*
 * A page that is also mapped as usual has a twin. PUBLISH updates the twin, so the driver does not send the stores once
 * more: the next batch has the next number.
 */
static void published_bytes_are_sent_once(volatile uint32_t *manual)
{
	volatile uint32_t *usual = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, PAIR);
	struct op published = publish_of(PAIR + 64, 4), other = word_of(4096, 2);
	struct batch batch;
	uint32_t i, twice = 0;
	uint64_t serial;

	if (usual == MAP_FAILED)
		err(2, "mmap");
	for (i = 1; i <= 200; i++) {
		usual[32] = i;
		run(&batch, &other, 1, 0);
		manual[16] = i;
		run(&batch, &published, 1, OP_NOFLUSH);
		serial = batch.serial;
		run(&batch, &other, 1, 0);
		twice += batch.serial != serial + 1;
	}
	counts(0, twice, "manual: rounds in which published bytes are sent twice");
	munmap((void *)usual, 4096);
}

static int do_manual(char **arg)
{
	volatile uint32_t *manual = manual_map();
	struct op op = word_of(4096, 1);
	struct batch batch;

	(void)arg;
	bad_manual_mappings();
	manual[0] = 11;
	publishes_are_noticed();
	published_bytes_are_sent_once(manual + 1024);
	manual[0] = 12;
	manual[1] = 13;
	counts(12, word(PUBLISHED), "manual: a store is in the memory of this node");
	gives(0, run(&batch, &op, 1, OP_ACKED), "manual: a later batch");
	madvise((void *)manual, 8192, MADV_DONTNEED);
	counts(13, manual[1], "manual: a page that was discarded is mapped again");
	manual[2] = 14;
	counts(14, word(PUBLISHED + 8), "manual: a store into this page");
	return 0;
}

static int do_apart(char **arg)
{
	(void)arg;
	counts(11, word(PUBLISHED), "apart: a word as it was published");
	counts(0, word(PUBLISHED + 4), "apart: a word that was not published");
	counts(200, word(PAIR + 64), "apart: a word that was published many times");
	return 0;
}

static void *store_pairs(void *arg)
{
	volatile uint64_t *pair = arg;
	uint64_t i;

	for (i = 1; !stop; i = i % 1000000 + 1)
		*pair = i << 32 | i;
	return NULL;
}

static int do_pairs(char **arg)
{
	volatile uint32_t *manual = manual_map();
	struct op pair = publish_of(PAIR, 8), all = publish_of(PUBLISHED, 8192);
	uint32_t i, n = atoi(arg[0]);
	struct batch batch;
	pthread_t thread;
	uint64_t end;
	int ret = 0;

	for (i = 0; access(arg[1], F_OK) && i < 6000; i++)
		pause_ms(10);
	pthread_create(&thread, NULL, store_pairs, (void *)(manual + 1024));
	/* The reader may be late. */
	end = now_ms() + 60000;
	for (i = 0; !ret && (i < n || (!access(arg[1], F_OK) && now_ms() < end)); i++)
		ret = run(&batch, &pair, 1, i % 16 ? 0 : OP_ACKED);
	stop = 1;
	pthread_join(thread, NULL);
	*(volatile uint64_t *)(manual + 1024) = ~0ull;
	return ret ?: run(&batch, &all, 1, OP_ACKED);
}

static int do_whole(char **arg)
{
	uint32_t torn = 0, seen = 0, i;
	uint64_t pair = 0, last = 0;

	map = mmap(NULL, SIZE, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		err(2, "mmap");
	close(open(arg[0], O_CREAT | O_WRONLY, 0600));
	for (i = 0; pair != ~0ull && i < 60000; i += pair == last) {
		last = pair;
		pair = *(const volatile uint64_t *)(map + PAIR / 4);
		torn += pair >> 32 != (uint32_t)pair;
		seen += pair != last;
		if (seen == 3)
			unlink(arg[0]);
		if (pair == last)
			pause_ms(1);
	}
	is(pair == ~0ull, "whole: the last pair arrives");
	is(seen > 2, "whole: pairs are published while they change");
	counts(0, torn, "whole: pairs of which only one half has arrived");
	return 0;
}

/* ---- a peer that is cut off ---- */

static int do_refused(char **arg)
{
	struct op ops[2] = { word_of(4096, 0), event_of(2, INTR3, 0) };
	struct batch batch = { 0 };
	uint64_t serial = 0;
	uint32_t i;
	int ret = 0;

	(void)arg;
	fcntl(fd, F_SETFL, O_NONBLOCK);
	for (i = 1; i < 1000 && !ret; i++) {
		serial = batch.serial;
		ops[0] = word_of(4096, i);
		ret = run(&batch, ops, 2, 0);
	}
	gives(EAGAIN, ret, "refused: a batch without room");
	is(i > 2 && serial, "refused: batches before it found room");
	counts(i - 2, word(4096), "refused: the refused batch has no effect");
	fcntl(fd, F_SETFL, 0);
	if (ioctl(fd, SET_TRANSMIT_DISABLE, 1))
		err(2, "transmitter");
	gives(0, run(&batch, ops, 2, 0), "refused: no room is needed while the transmitter is off");
	if (ioctl(fd, SET_TRANSMIT_DISABLE, 0))
		err(2, "transmitter");
	counts(serial, batch.serial, "refused: the refused batch has no number");
	return 0;
}

static int do_acked(char **arg)
{
	struct op ops[1] = { word_of(4096, 5) };
	struct batch batch = { .ops = (uintptr_t)ops, .count = 1, .flags = OP_ACKED, .timeout_ms = 1000 };
	int ret;

	ops[0].flags = 0;
	ret = call(fd, BATCH, &batch);
	printf("# %s: %u %u %u\n", strerrorname_np(ret), batch.reached, batch.behind, batch.absent);
	return ret != atoi(arg[3]) || batch.reached != (uint32_t)atoi(arg[0]) ||
	       batch.behind != (uint32_t)atoi(arg[1]) || batch.absent != (uint32_t)atoi(arg[2]);
}

static const struct {
	const char *name;
	int args;
	int (*run)(char **arg);
} commands[] = {
	{ "calls", 0, do_calls }, { "local", 0, do_local }, { "cycle", 1, do_cycle }, { "blocks", 1, do_blocks },
	{ "follow", 2, do_follow }, { "fight", 1, do_fight }, { "equal", 0, do_equal }, { "refused", 0, do_refused },
	{ "acked", 4, do_acked }, { "manual", 0, do_manual }, { "apart", 0, do_apart }, { "pairs", 2, do_pairs },
	{ "whole", 1, do_whole },
};

int main(int argc, char **argv)
{
	size_t i;

	if (argc < 3)
		errx(2, "batch DEVICE COMMAND ARGUMENT...");
	device_open(argv[1]);
	for (i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		if (!strcmp(argv[2], commands[i].name) && argc - 3 == commands[i].args)
			return commands[i].run(argv + 3);
	errx(2, "%s: no such command, or not its arguments", argv[2]);
}
