// SPDX-License-Identifier: GPL-2.0
/*
 * submit DEVICE COMMAND ARGUMENT...: batches that are submitted through rings. Print a line for each case.
 * Author: The krdma developers.
 *
 *   local        submit batches whose effects are visible on this node
 *   hostile S    for S seconds, processes write any value into their entries while their threads submit and execute
 *                batches, and are killed; at the same time, submit batches through another ring
 *   acked        wait for the acknowledgments of the peer
 *   cut LINK     the peer is cut off: batches end when its connection ends, or when they time out. With the LINK siw
 *                the connection lasts longer than the batches
 *   gone FILE    the peer is cut off: submit a batch, create FILE, and wait until peer and device are removed
 */
#define _GNU_SOURCE
#include "ring.h"

#include <poll.h>
#include <sys/wait.h>

#define SUBMITS 8
#define AREA 8192
#define SIZE 1048576u

static struct ring open_ring(uint32_t slots)
{
	struct ring ring = { .args = { .size = 64, .slots = slots, .submits = SUBMITS, .clock = CLOCK_MONOTONIC } };

	ring.fd = ioctl(fd, RING, &ring.args);
	if (ring.fd < 0)
		err(2, "VRFM_RING");
	ring_map(&ring);
	return ring;
}

static uint32_t taken_up_to(const struct ring *ring)
{
	return __atomic_load_n(&ring->kernel->submit_head, __ATOMIC_ACQUIRE);
}

/* Add an entry. The flags of a batch are in its last operation. */
static void put(const struct ring *ring, struct op op, uint32_t flags, uint64_t cookie)
{
	struct op *entries = (void *)ring->user + 4096;
	uint32_t at = ring->user->submit_tail;

	op.flags = flags;
	op.cookie = cookie;
	entries[at % SUBMITS] = op;
	__atomic_store_n(&ring->user->submit_tail, at + 1, __ATOMIC_RELEASE);
}

/* Submit at most N entries. Return the number of entries taken; -1: an error, which is in errno. */
static int submit(const struct ring *ring, uint32_t n)
{
	struct enter args = { .submit = n };
	int ret = call(ring->fd, ENTER, &args);

	errno = ret;
	return ret ? -1 : (int)args.submit;
}

static uint32_t word(uint32_t offset)
{
	uint32_t value;

	if (pread(fd, &value, 4, offset) != 4)
		err(2, "pread");
	return value;
}

/* The content of a DONE: result, reached and behind, absent and first, ops, failed. */
static int is_done(const struct ring *ring, uint64_t cookie, int result, uint32_t ops)
{
	struct record record = { .type = REC_PAD };

	return next(ring, &record) && record.type == REC_DONE && record.cookie == cookie &&
	       (int)record.what[0] == -result && record.what[3] == ops && record.node == NO_NODE;
}

static void batches_are_executed(struct ring *ring)
{
	put(ring, word_of(AREA, 7), OP_DONE, 70);
	counts(1, submit(ring, 8), "local: entries taken of a batch");
	counts(7, word(AREA), "local: the word of the batch");
	is(is_done(ring, 70, 0, 1) && !unread(ring), "local: a record of the batch");
	counts(1, taken_up_to(ring), "local: the head of the entries");
	put(ring, word_of(AREA, 8), 0, 71);
	counts(1, submit(ring, 8), "local: a batch without DONE");
	is(!unread(ring) && word(AREA) == 8, "local: its word, and no record");
	counts(0, submit(ring, 8), "local: no entry is ready");
}

static void batches_are_taken_as_a_whole(struct ring *ring)
{
	put(ring, word_of(AREA, 1), OP_MORE, 1);
	put(ring, write_of(AREA + 4, "abcd", 4), OP_MORE, 2);
	put(ring, event_of(0xFFFF, INTR1, 5), OP_DONE, 3);
	put(ring, word_of(AREA, 2), OP_DONE, 4);
	counts(0, submit(ring, 2), "whole: a batch with more entries than the call takes");
	counts(8, word(AREA), "whole: it has no effect");
	counts(3, submit(ring, 3), "whole: a batch of three entries");
	is(word(AREA) == 1 && word(AREA + 4) == 0x64636261, "whole: its writes");
	is(is_done(ring, 3, 0, 3) && !unread(ring), "whole: its record");
	counts(1, submit(ring, 1), "whole: the next batch");
	is(is_done(ring, 4, 0, 1), "whole: the record of the next batch");
}

static void failures_are_reported(struct ring *ring)
{
	struct record record = { .type = REC_PAD };

	put(ring, word_of(AREA, 1), OP_MORE, 1);
	put(ring, word_of(SIZE, 1), OP_NOFLUSH, 2);
	put(ring, write_of(AREA, (void *)8, 4), 0, 3);
	put(ring, word_of(AREA, 3), 16, 4);
	put(ring, word_of(AREA, 4), 0, 5);
	put(ring, word_of(AREA + 4, 5), OP_MORE, 6);
	counts(6, submit(ring, 8), "failures: all entries are taken");
	is(next(ring, &record) && record.type == REC_DONE && (int)record.what[0] == -EINVAL && record.cookie == 2 &&
	   record.what[3] == 2 && record.what[4] == 1, "failures: a word behind the memory, and the index of it");
	is(is_done(ring, 3, EFAULT, 1), "failures: bytes that cannot be read");
	is(is_done(ring, 4, EINVAL, 1), "failures: an unknown flag");
	is(is_done(ring, 6, EINVAL, 1) && !unread(ring), "failures: the last ready entry with MORE");
	counts(4, word(AREA), "failures: the valid batch in between");
	ring->user->submit_tail += SUBMITS + 1;
	is(submit(ring, 8) < 0 && errno == EBADR, "failures: an index beyond the entries");
	ring->user->submit_tail -= SUBMITS + 2;
	is(submit(ring, 8) < 0 && errno == EBADR, "failures: an index before the entries");
	ring->user->submit_tail++;
	counts(0, submit(ring, 8), "failures: the valid index");
}

static void record_follows_notice(struct ring *ring)
{
	struct subscribe own = { .what = SUB_RANGE, .flags = SUB_OWN, .offset = AREA, .length = 64 };
	struct record record = { .type = REC_PAD };
	uint64_t serial;

	call(ring->fd, SUBSCRIBE, &own);
	put(ring, word_of(AREA, 1), OP_DONE, 7);
	submit(ring, 8);
	is(next(ring, &record) && record.type == REC_WRITTEN, "order: the notice of the write is first");
	serial = record.serial;
	is(next(ring, &record) && record.type == REC_DONE && record.serial == serial,
	   "order: the record of the batch has the same number");
	call(ring->fd, SUBSCRIBE, &(struct subscribe){ .flags = SUB_REMOVE });
}

/* A program that does not read its records: 64 records fit, and 8 wait. */
static void unread_records_stop_submissions(void)
{
	struct pollfd polled = { .events = POLLOUT };
	struct ring ring = open_ring(64);
	uint32_t i, wrong = 0;

	polled.fd = ring.fd;
	for (i = 0; i < 64 + SUBMITS; i++) {
		put(&ring, word_of(AREA, i), OP_DONE, i);
		wrong += submit(&ring, 1) != 1;
	}
	counts(0, wrong, "unread: batches that are not taken");
	is(flags(&ring) & MORE, "unread: the flag MORE");
	for (; i < 64 + 2 * SUBMITS; i++)
		put(&ring, word_of(AREA, i), OP_DONE, i);
	is(submit(&ring, 8) < 0 && errno == EAGAIN, "unread: no further batch is taken");
	counts(64 + SUBMITS - 1, word(AREA), "unread: it has no effect");
	counts(0, poll(&polled, 1, 0), "unread: poll() reports no free entry");
	for (i = 0; i < 64; i++)
		wrong += !is_done(&ring, i, 0, 1);
	/* The records that waited come first. */
	gives(0, enter(&ring, SUBMITS, 0), "unread: the records that waited");
	counts(SUBMITS, submit(&ring, 8), "unread: the entries that stayed are taken");
	is(poll(&polled, 1, 0) == 1 && polled.revents == POLLOUT, "unread: poll() reports a free entry");
	for (; i < 64 + 2 * SUBMITS; i++)
		wrong += !is_done(&ring, i, 0, 1);
	counts(0, wrong, "unread: records that are missing or out of order");
	ring_close(&ring);
}

static void entries_need_permission_to_write(void)
{
	struct ring_args args = { .size = 64, .slots = 64, .submits = SUBMITS };
	int reading = open(path, O_RDONLY);

	gives(EBADF, call(reading, RING, &args), "submit: entries of a file that cannot be written");
	close(reading);
}

static int do_local(char **arg)
{
	struct ring ring = open_ring(64);

	(void)arg;
	batches_are_executed(&ring);
	batches_are_taken_as_a_whole(&ring);
	failures_are_reported(&ring);
	record_follows_notice(&ring);
	ring_close(&ring);
	unread_records_stop_submissions();
	entries_need_permission_to_write();
	return 0;
}

/* ---- hostile programs ---- */

static struct ring spoiled;

static uint32_t any(uint64_t *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return *state >> 33;
}

/* Write operations, most of which are valid, and any byte and index at any time. */
static void *spoil(void *arg)
{
	static char source[64];
	struct op *entries = (void *)spoiled.user + 4096;
	volatile uint32_t *tail = &spoiled.user->submit_tail;
	uint64_t state = (uintptr_t)arg;
	uint32_t kind;

	for (;;) {
		kind = 1 + any(&state) % 4;
		entries[any(&state) % SUBMITS] = (struct op){
			.op = kind, .flags = any(&state) % 16, .node = kind == 4 ? 2 : 0,
			.offset = kind == 4 ? 0 : any(&state) % (SIZE - 64),
			.length = kind == 4 ? 0 : 1 + any(&state) % 32,
			.event = kind == 4 ? 1 + any(&state) % 4 : 0, .source = kind == 1 ? (uintptr_t)source : 0,
		};
		((volatile uint8_t *)entries)[any(&state) % (SUBMITS * 64)] = any(&state);
		*tail = any(&state) % 8 ? taken_up_to(&spoiled) + any(&state) % (SUBMITS + 1) : any(&state);
		spoiled.user->head = any(&state) % 4 ? spoiled.kernel->tail : any(&state);
		if (any(&state) % 64 == 0)
			pause_ms(1);
	}
	return NULL;
}

/* Let a child use the descriptor of the ring, which it inherits, and close it. */
static void inherit(struct enter *args)
{
	pid_t pid = fork();

	if (!pid) {
		call(spoiled.fd, ENTER, args);
		_exit(0);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

static void *enter_spoiled(void *arg)
{
	uint64_t state = (uintptr_t)arg;
	char bytes[4096];
	int ret;

	for (;;) {
		struct enter args = { .submit = 1 + any(&state) % 16, .records = any(&state) % 3,
				      .flags = any(&state) % 8 ? 0 : any(&state) & (DO_KICK | DO_STOP),
				      .timeout_ns = 100000 };
		struct pollfd polled = { .fd = spoiled.fd, .events = POLLIN | POLLOUT };

		ret = call(spoiled.fd, ENTER, &args);
		if ((ret && ret != EBADR && ret != EAGAIN && ret != ETIMEDOUT && ret != EBUSY) || args.submit > SUBMITS)
			_exit(ret ? ret : 255);
		poll(&polled, 1, 0);
		if (any(&state) % 4 == 0 && read(spoiled.fd, bytes, sizeof(bytes)) < 0 && errno != EAGAIN)
			_exit(254);
		if (any(&state) % 256 == 0)
			inherit(&args);
		if (any(&state) % 16 == 0)
			munmap(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, spoiled.fd, 0), 4096);
	}
	return NULL;
}

/* Execute batches until the index is invalid, or another thread says STOP. */
static void *loop_spoiled(void *arg)
{
	struct enter args = { .flags = DO_LOOP, .spin_us = 100 };
	int ret;

	(void)arg;
	for (;;) {
		ret = call(spoiled.fd, ENTER, &args);
		if (ret && ret != EBADR && ret != EBUSY)
			_exit(ret);
	}
	return NULL;
}

static void spoil_ring(uint64_t seed)
{
	pthread_t thread;
	uint64_t i;

	spoiled = open_ring(64);
	fcntl(spoiled.fd, F_SETFL, O_NONBLOCK);
	for (i = 1; i < 5; i++)
		pthread_create(&thread, NULL, i % 2 ? spoil : enter_spoiled, (void *)(seed * 8 + i));
	/* Every second process also has threads that execute batches. */
	for (i = 0; i < 2 && seed / 50 % 2; i++)
		pthread_create(&thread, NULL, loop_spoiled, NULL);
	for (;;)
		pause();
}

static int do_hostile(char **arg)
{
	const uint64_t end = now_ms() + 1000 * atoi(arg[0]);
	struct ring ring = open_ring(64);
	uint32_t i = 0, j, wrong = 0, ended = 0;
	int status;
	pid_t pid;

	while (now_ms() < end) {
		pid = fork();
		if (!pid)
			spoil_ring(i + 1);
		for (j = 0; j < 50; j++, i++) {
			put(&ring, word_of(AREA, i), OP_DONE, i);
			wrong += submit(&ring, 1) != 1 || !is_done(&ring, i, 0, 1);
			pause_ms(2);
		}
		kill(pid, SIGKILL);
		if (waitpid(pid, &status, 0) == pid && WIFEXITED(status)) {
			printf("# exit status %d\n", WEXITSTATUS(status));
			ended++;
		}
	}
	counts(0, ended, "hostile: processes that get an impossible answer");
	counts(0, wrong, "hostile: batches of another ring that are lost or out of order");
	ring_close(&ring);
	return 0;
}

/* ---- acknowledgments ---- */

static int do_acked(char **arg)
{
	struct enter args = { .submit = 1, .records = 1, .timeout_ns = 60000000000 };
	struct ring ring = open_ring(1024), closed;
	uint32_t i, j, wrong = 0;
	struct record record;

	(void)arg;
	for (i = 0; i < 200; i++) {
		put(&ring, word_of(AREA, i), OP_ACKED, i);
		args.submit = 1;
		wrong += call(ring.fd, ENTER, &args) || !next(&ring, &record) || record.type != REC_DONE ||
			 record.cookie != i || record.what[0] || record.what[1] != 1 || record.what[2] != 0xFFFF0000;
	}
	counts(0, wrong, "acked: batches that the peer has not applied");
	for (i = 0; i < 200; i += SUBMITS) {
		for (j = 0; j < SUBMITS; j++)
			put(&ring, word_of(AREA, i + j), OP_ACKED, i + j);
		wrong += submit(&ring, 8) != 8 || enter(&ring, SUBMITS, 60000);
		for (j = 0; j < SUBMITS; j++)
			wrong += !is_done(&ring, i + j, 0, 1);
	}
	counts(0, wrong, "acked: batches of eight at once, in their order");
	for (i = 0; i < 20; i++) {
		closed = open_ring(64);
		put(&closed, word_of(AREA, i), OP_ACKED, i);
		wrong += submit(&closed, 1) != 1;
		ring_close(&closed);
	}
	counts(0, wrong, "acked: rings that are closed while a batch waits");
	ring_close(&ring);
	return 0;
}

/* A batch that no peer has applied: the connection has ended, or ten seconds have passed. Count the latter. */
static int is_unanswered(const struct ring *ring, uint64_t cookie, uint32_t *timeouts)
{
	struct record record = { .type = REC_PAD };
	int ended, late;

	if (!next(ring, &record) || record.type != REC_DONE || record.cookie != cookie)
		return 0;
	ended = !record.what[0] && !record.what[1] && record.what[2] == (0xFFFF0000 | 1);
	late = (int)record.what[0] == -ETIMEDOUT && record.what[1] == 1 << 16 && record.what[2] == 2 << 16;
	*timeouts += late;
	return ended || late;
}

static int do_cut(char **arg)
{
	struct ring ring = open_ring(64);
	uint32_t i, wrong = 0, timeouts = 0;

	put(&ring, word_of(AREA, 0), OP_ACKED, 0);
	put(&ring, word_of(AREA, 1), OP_DONE, 77);
	counts(2, submit(&ring, 8), "cut: batches are taken");
	is(is_done(&ring, 77, 0, 1), "cut: a batch without ACKED is done first");
	for (i = 1; i < SUBMITS; i++)
		put(&ring, word_of(AREA, i), OP_ACKED, i);
	counts(SUBMITS - 1, submit(&ring, 8), "cut: as many batches as entries are taken");
	put(&ring, word_of(AREA, 9), 0, 9);
	is((submit(&ring, 8) < 0 && errno == EAGAIN) || unread(&ring), "cut: no further one is taken while all wait");
	gives(0, enter(&ring, SUBMITS, 60000), "cut: all batches end");
	for (i = 0; i < SUBMITS; i++)
		wrong += !is_unanswered(&ring, i, &timeouts);
	counts(0, wrong, "cut: records that count the peer as reached, or are out of order");
	is(timeouts || strcmp(arg[0], "siw"), "cut: batches time out while the peer is READY");
	ring_close(&ring);
	return 0;
}

static int do_gone(char **arg)
{
	struct ring ring = open_ring(64);
	struct record record = { .type = REC_PAD };

	put(&ring, word_of(AREA, 1), OP_ACKED, 5);
	counts(1, submit(&ring, 1), "gone: a batch is taken");
	close(open(arg[0], O_CREAT | O_WRONLY, 0600));
	gives(0, enter(&ring, 1, 60000), "gone: the batch ends when the peer is removed");
	is(next(&ring, &record) && record.type == REC_DONE && !record.what[0] && !record.what[1] &&
	   record.what[2] == (0xFFFF0000 | 1), "gone: its record counts an absent peer");
	gives(ENODEV, enter(&ring, 1, 60000), "gone: the device is removed");
	is(flags(&ring) & GONE, "gone: flag of the ring");
	put(&ring, word_of(AREA, 1), OP_DONE, 6);
	is(submit(&ring, 1) < 0 && errno == ENODEV, "gone: no batch is taken");
	ring_close(&ring);
	return 0;
}

static const struct {
	const char *name;
	int args;
	int (*run)(char **arg);
} commands[] = {
	{ "local", 0, do_local }, { "hostile", 1, do_hostile }, { "acked", 0, do_acked }, { "cut", 1, do_cut },
	{ "gone", 1, do_gone },
};

int main(int argc, char **argv)
{
	size_t i;

	if (argc < 3)
		errx(2, "submit DEVICE COMMAND ARGUMENT...");
	device_open(argv[1]);
	for (i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		if (!strcmp(argv[2], commands[i].name) && argc - 3 == commands[i].args)
			return commands[i].run(argv + 3);
	errx(2, "%s: no such command, or not its arguments", argv[2]);
}
