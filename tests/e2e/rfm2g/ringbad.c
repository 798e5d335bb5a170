// SPDX-License-Identifier: GPL-2.0
/*
 * ringbad DEVICE COMMAND: rings for invalid and hostile programs. Print a line for each case.
 * Author: The krdma developers.
 *
 *   calls      make invalid calls, exceed limits, and kill a process that waits
 *   hostile S  fork and exec; then for S seconds, processes write any value into a ring at any time, fork, and are
 *              killed. "ring serve" must run on node 1
 */
#define _GNU_SOURCE
#include "ring.h"

#include <poll.h>
#include <sys/wait.h>

#define EVERY 0xFFF

static void *volatile bad_address = (void *)8;

static int makes(struct ring_args args)
{
	int ring = ioctl(fd, RING, &args);

	if (ring < 0)
		return errno;
	close(ring);
	return 0;
}

#define GOOD .size = 64, .slots = 64, .clock = CLOCK_MONOTONIC

static void bad_rings(void)
{
	struct longer { struct ring_args args; uint64_t more; } longer = {
		.args = { .size = 72, .slots = 64, .clock = CLOCK_TAI }
	};
	int writing = open(path, O_WRONLY), ring;
	struct ring_args args;

	gives(EFAULT, call(fd, RING, bad_address), "ring: an invalid address");
	gives(EINVAL, makes((struct ring_args){ .size = 63, .slots = 64, .clock = 1 }), "ring: too short");
	gives(E2BIG, makes((struct ring_args){ .size = 4097, .slots = 64 }), "ring: longer than a page");
	ring = ioctl(fd, RING, &longer);
	is(ring >= 0, "ring: a longer structure with zeroes");
	close(ring);
	longer.more = 1;
	gives(E2BIG, call(fd, RING, &longer), "ring: a longer structure with a value");
	gives(EINVAL, makes((struct ring_args){ GOOD, .flags = 2 }), "ring: an unknown flag");
	gives(EINVAL, makes((struct ring_args){ GOOD, .flags = 1U << 31 }), "ring: flag 31");
	gives(0, makes((struct ring_args){ GOOD, .snap = 1024 }), "ring: payloads of a quarter of the slots");
	gives(EINVAL, makes((struct ring_args){ GOOD, .snap = 1025 }), "ring: payloads of more than a quarter");
	gives(EINVAL, makes((struct ring_args){ .size = 64, .slots = 65536, .clock = 1, .snap = 65537 }),
	      "ring: payloads of 65537 bytes");
	gives(EINVAL, makes((struct ring_args){ GOOD, .submits = 4 }), "ring: 4 submission entries");
	gives(EINVAL, makes((struct ring_args){ GOOD, .submits = 24 }), "ring: 24 submission entries");
	gives(EINVAL, makes((struct ring_args){ GOOD, .submits = 2048 }), "ring: 2048 submission entries");
	gives(0, makes((struct ring_args){ GOOD, .submits = 1024 }), "ring: 1024 submission entries");
	gives(EINVAL, makes((struct ring_args){ GOOD, .zeroes[2] = 1 }), "ring: the last reserved word");
	gives(EINVAL, makes((struct ring_args){ .size = 64, .slots = 0, .clock = 1 }), "ring: no slots");
	gives(EINVAL, makes((struct ring_args){ .size = 64, .slots = 32, .clock = 1 }), "ring: 32 slots");
	gives(EINVAL, makes((struct ring_args){ .size = 64, .slots = 96, .clock = 1 }), "ring: 96 slots");
	gives(EINVAL, makes((struct ring_args){ .size = 64, .slots = 2 << 20, .clock = 1 }), "ring: 2097152 slots");
	gives(0, makes((struct ring_args){ .size = 64, .slots = 65536, .clock = CLOCK_BOOTTIME }), "ring: 65536 slots");
	gives(0, makes((struct ring_args){ .size = 64, .slots = 64, .clock = CLOCK_REALTIME }), "ring: CLOCK_REALTIME");
	gives(EINVAL, makes((struct ring_args){ .size = 64, .slots = 64, .clock = 2 }), "ring: the clock of a process");
	gives(EINVAL, makes((struct ring_args){ .size = 64, .slots = 64, .clock = -1 }), "ring: clock -1");
	gives(EBADF, ring_make(writing, 64, 0, &args) < 0 ? errno : 0, "ring: of a file that cannot be read");
	close(writing);
	gives(ENOTTY, call(fd, ENTER, &args), "enter: on the device");
	gives(ENOTTY, call(fd, SUBSCRIBE, &args), "subscribe: on the device");
}

static int subscribes(const struct ring *ring, struct subscribe args)
{
	return call(ring->fd, SUBSCRIBE, &args);
}

static void bad_subscriptions(void)
{
	struct ring ring = ring_open(64);
	int i, ret = 0;

	gives(EFAULT, call(ring.fd, SUBSCRIBE, bad_address), "subscribe: an invalid address");
	for (i = 0; i < 8; i++)
		if (i != SUB_EVENTS && i != SUB_LINKS && i != SUB_RANGE && i != SUB_TAP)
			ret |= subscribe(&ring, i, 0, 1, 1) != EINVAL;
	is(!ret, "subscribe: unknown kinds");
	for (i = 2; i < 32; i++)
		ret |= subscribe(&ring, SUB_EVENTS, 1U << i, 1, 1) != EINVAL;
	is(!ret, "subscribe: unknown flags");
	gives(EINVAL, subscribe(&ring, SUB_EVENTS, 0, 1, 0), "subscribe: no event");
	gives(EINVAL, subscribe(&ring, SUB_EVENTS, 0, 1, 1 << 12), "subscribe: event 12");
	gives(EINVAL, subscribe(&ring, SUB_LINKS, 0, 1, 1), "subscribe: links with events");
	gives(EINVAL, subscribe(&ring, SUB_LINKS, SUB_TAKE, 1, 0), "subscribe: links that are taken");
	gives(EINVAL, subscribe(&ring, SUB_EVENTS, SUB_REMOVE, 1, 0), "subscribe: removal with a kind");
	gives(EINVAL, subscribe(&ring, 0, SUB_REMOVE | SUB_TAKE, 1, 0), "subscribe: removal that takes");
	gives(EINVAL, subscribe(&ring, 0, SUB_REMOVE, 1, 1), "subscribe: removal with events");
	gives(EINVAL, subscribes(&ring, (struct subscribe){ .flags = SUB_REMOVE, .nodes[3] = 1 }),
	      "subscribe: removal with nodes");
	gives(EINVAL, subscribes(&ring, (struct subscribe){ .what = 1, .events = 1, .offset = 1 }),
	      "subscribe: events with an offset");
	gives(EINVAL, subscribes(&ring, (struct subscribe){ .what = 1, .events = 1, .length = 1 }),
	      "subscribe: events with a length");
	gives(EINVAL, subscribes(&ring, (struct subscribe){ .what = 1, .events = 1, .kinds = 1 }),
	      "subscribe: events with types of a tap");
	gives(EINVAL, subscribes(&ring, (struct subscribe){ .what = 1, .events = 1, .flags = SUB_TAKE, .nodes[0] = 2 }),
	      "subscribe: events of one node are taken");
	gives(ENOENT, subscribe(&ring, 0, SUB_REMOVE, 1, 0), "subscribe: removal of nothing");
	for (i = 0; i < 64; i++)
		ret |= subscribe(&ring, i % 2 ? SUB_EVENTS : SUB_LINKS, 0, i / 2, i % 2);
	is(!ret, "subscribe: 64 subscriptions");
	gives(ENOSPC, subscribe(&ring, SUB_EVENTS, 0, 1, 1), "subscribe: 65 subscriptions");
	gives(0, subscribe(&ring, 0, SUB_REMOVE, 31, 0), "subscribe: two subscriptions of one cookie are removed");
	gives(0, subscribe(&ring, SUB_EVENTS, 0, 1, 1) + subscribe(&ring, SUB_EVENTS, 0, 1, 1), "subscribe: two again");
	gives(ENOSPC, subscribe(&ring, SUB_EVENTS, 0, 1, 1), "subscribe: and not three");
	ring_close(&ring);
}

static int range(const struct ring *ring, uint32_t flags, uint32_t offset, uint32_t length, uint32_t events)
{
	return subscribes(ring, (struct subscribe){ .what = SUB_RANGE, .flags = flags, .offset = offset,
						    .length = length, .events = events, .cookie = length });
}

static void bad_ranges(void)
{
	const uint32_t size = 1048576;
	struct ring ring = ring_open(64);
	int i, ret = 0;

	gives(EINVAL, range(&ring, 0, 0, 0, 0), "range: no byte");
	gives(EINVAL, range(&ring, 0, 0, size + 1, 0), "range: more than the memory");
	gives(EINVAL, range(&ring, 0, size, 1, 0), "range: behind the memory");
	gives(EINVAL, range(&ring, 0, 4096, UINT32_MAX - 4000, 0), "range: an end beyond 32 bits");
	gives(EINVAL, range(&ring, 0, 0, 1, 1), "range: with events");
	gives(EINVAL, range(&ring, SUB_TAKE, 0, 1, 0), "range: taken");
	gives(EINVAL, range(&ring, 8, 0, 1, 0), "range: an unknown flag");
	gives(EINVAL, subscribes(&ring, (struct subscribe){ .flags = SUB_REMOVE, .length = 1 }),
	      "range: removal with a length");
	gives(EINVAL, subscribes(&ring, (struct subscribe){ .what = SUB_LINKS, .flags = SUB_OWN }),
	      "range: links with own writes");
	gives(0, range(&ring, SUB_OWN, size - 1, 1, 0), "range: the last byte");
	for (i = 0; i < 3; i++)
		ret |= range(&ring, 0, 0, size, 0);
	is(!ret, "range: 3145729 bytes");
	gives(E2BIG, range(&ring, 0, 0, size, 0), "range: more than 4 MiB");
	gives(0, range(&ring, 0, 0, size - 1, 0), "range: exactly 4 MiB");
	gives(E2BIG, range(&ring, 0, 0, 1, 0), "range: one byte more");
	gives(0, subscribe(&ring, 0, SUB_REMOVE, size, 0), "range: 3 MiB are removed");
	gives(0, range(&ring, 0, 0, size, 0), "range: a MiB after the removal");
	ring_close(&ring);
}

static int tap(const struct ring *ring, uint32_t flags, uint32_t offset, uint32_t length, uint32_t kinds)
{
	return subscribes(ring, (struct subscribe){ .what = SUB_TAP, .flags = flags, .offset = offset,
						    .length = length, .kinds = kinds });
}

static void bad_taps(void)
{
	const uint32_t size = 1048576;
	struct ring ring = ring_open(64);

	gives(EINVAL, tap(&ring, 0, 0, 0, 0), "tap: no type of record");
	gives(EINVAL, tap(&ring, 0, 0, 0, 512), "tap: an unknown type of record");
	gives(EINVAL, tap(&ring, SUB_OWN, 0, 0, 1), "tap: an unknown flag");
	gives(EINVAL, tap(&ring, 0, 4, 0, 1), "tap: an offset without length");
	gives(EINVAL, tap(&ring, 0, size, 1, 1), "tap: behind the memory");
	gives(EINVAL, tap(&ring, 0, 4096, UINT32_MAX - 4000, 1), "tap: an end beyond 32 bits");
	gives(EINVAL, subscribes(&ring, (struct subscribe){ .what = SUB_TAP, .kinds = 1, .events = 1 }),
	      "tap: with events");
	gives(EINVAL, subscribes(&ring, (struct subscribe){ .flags = SUB_REMOVE, .kinds = 1 }),
	      "tap: removal with types of records");
	gives(0, tap(&ring, SUB_ALL, size - 1, 1, 511), "tap: the last byte");
	ring_close(&ring);
}

static void bad_enters(void)
{
	struct ring ring = ring_open(64);

	gives(EFAULT, call(ring.fd, ENTER, bad_address), "enter: an invalid address");
	gives(EINVAL, call(ring.fd, ENTER, &(struct enter){ .submit = 1 }), "enter: submit without entries");
	gives(EINVAL, call(ring.fd, ENTER, &(struct enter){ .flags = 8 }), "enter: an unknown flag");
	gives(EINVAL, call(ring.fd, ENTER, &(struct enter){ .spin_us = 1 }), "enter: a time to spin without LOOP");
	gives(EINVAL, call(ring.fd, ENTER, &(struct enter){ .zero = 1 }), "enter: the last reserved word");
	gives(EINVAL, enter(&ring, 65, 0), "enter: more records than slots");
	gives(ETIMEDOUT, enter(&ring, 64, 0), "enter: as many records as slots");
	gives(ETIMEDOUT, call(ring.fd, ENTER, &(struct enter){ .records = 1, .timeout_ns = 1 }), "enter: for 1 ns");
	gives(ENOTTY, call(ring.fd, 0x4018EA0C, bad_address), "ring: an unknown command");
	gives(ENOTTY, call(ring.fd, RING, bad_address), "ring: a ring of a ring");
	ring_close(&ring);
}

static int map_errno(const struct ring *ring, size_t length, int prot, int flags, off_t offset)
{
	void *map = mmap(NULL, length, prot, flags, ring->fd, offset);

	if (map == MAP_FAILED)
		return errno;
	munmap(map, length);
	return 0;
}

static void bad_mappings(void)
{
	struct ring ring = ring_open(64);
	const size_t page = sysconf(_SC_PAGESIZE);
	void *kernel = (void *)ring.kernel;

	gives(EACCES, map_errno(&ring, page, PROT_READ | PROT_WRITE, MAP_SHARED, KERNEL_AT),
	      "mmap: records to be written");
	gives(EINVAL, map_errno(&ring, page, PROT_READ | PROT_WRITE, MAP_PRIVATE, KERNEL_AT),
	      "mmap: a copy of records");
	gives(EINVAL, map_errno(&ring, page, PROT_READ | PROT_WRITE, MAP_PRIVATE, 0), "mmap: a copy of the indices");
	gives(EINVAL, map_errno(&ring, 2 * page, PROT_READ, MAP_SHARED, 0), "mmap: two pages of indices");
	gives(EINVAL, map_errno(&ring, KERNEL_AT + page, PROT_READ | PROT_WRITE, MAP_SHARED, 0),
	      "mmap: both areas at once");
	gives(EINVAL, map_errno(&ring, page, PROT_READ, MAP_SHARED, page), "mmap: behind the indices");
	gives(EINVAL, map_errno(&ring, page, PROT_READ, MAP_SHARED, KERNEL_AT - page), "mmap: in front of the records");
	gives(EINVAL, map_errno(&ring, ring.args.kernel_len + page, PROT_READ, MAP_SHARED, KERNEL_AT),
	      "mmap: more than all records");
	gives(0, map_errno(&ring, page, PROT_READ, MAP_SHARED, KERNEL_AT + ring.args.kernel_len - page),
	      "mmap: the last page");
	gives(EACCES, mprotect(kernel, page, PROT_READ | PROT_WRITE) ? errno : 0, "mprotect: records to be written");
	gives(EFAULT, mremap(kernel, ring.args.kernel_len, ring.args.kernel_len + page, MREMAP_MAYMOVE) == MAP_FAILED ?
	      errno : 0, "mremap: more than all records");
	ring.user->wake_us = 77;
	gives(0, madvise(ring.user, page, MADV_DONTNEED) || madvise(kernel, ring.args.kernel_len, MADV_DONTNEED) ?
	      errno : 0, "madvise: discarded pages");
	is(ring.user->wake_us == 77 && ring.kernel->slots == 64 && !ring.records[63].type,
	   "madvise: discarded pages have their content again");
	ring_close(&ring);
}

static void too_many(void)
{
	int files[5], rings[80], n = 0, file, i, ret = 0;
	struct ring_args args;

	for (file = 0; file < 4; file++) {
		files[file] = open(path, O_RDONLY);
		for (i = 0; i < 16; i++)
			rings[n++] = ring_make(files[file], 64, 0, &args);
		ret |= file < 3 && (ring_make(files[file], 64, 0, &args) >= 0 || errno != ENOSPC);
	}
	is(!ret, "limits: 16 rings of a file, and no more");
	files[4] = open(path, O_RDONLY);
	gives(ENOSPC, ring_make(files[4], 64, 0, &args) < 0 ? errno : 0, "limits: 65 rings of a device");
	for (i = 0; i < n; i++)
		ret |= rings[i] < 0;
	is(!ret, "limits: 64 rings of a device");
	/* A ring holds the file, so that its descriptor may be closed first. */
	for (file = 0; file < 5; file++)
		close(files[file]);
	for (i = 0; i < n; i++)
		close(rings[i]);
	i = ring_make(fd, 64, 0, &args);
	is(i >= 0, "limits: a ring after 64 rings were closed");
	close(i);
}

/* ---- fork and exec ---- */

static int child_status(pid_t pid)
{
	int status;

	return waitpid(pid, &status, 0) == pid ? status : -1;
}

static void forks(void)
{
	struct ring ring = ring_open(64);
	char name[32];
	int status;
	pid_t pid;

	subscribe(&ring, SUB_EVENTS, 0, 1, EVERY);
	request(INTR1, 0, 2);
	pid = fork();
	if (!pid)
		_exit(ring.user->head);
	status = child_status(pid);
	is(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV, "fork: a child does not have the mapping");
	pid = fork();
	if (!pid) {
		ring_map(&ring);
		ring.user->head = 1;
		_exit(unread(&ring) != 1);
	}
	is(!child_status(pid) && unread(&ring) == 1, "fork: a child maps the ring again");
	pid = fork();
	if (!pid) {
		snprintf(name, sizeof(name), "/proc/self/fd/%d", ring.fd);
		execlp("test", "test", "!", "-e", name, NULL);
		_exit(2);
	}
	is(!child_status(pid), "exec: the ring is closed");
	ioctl(fd, 0x4001EB1D, INTR1);
	ring_close(&ring);
}

static void killed(uint32_t wake_us)
{
	struct ring ring = ring_open(64);
	uint64_t begin;
	int status;
	pid_t pid;

	pid = fork();
	if (!pid) {
		ring_map(&ring);
		ring.user->wake_us = wake_us;
		_exit(enter(&ring, 64, FOREVER));
	}
	pause_ms(300);
	begin = now_ms();
	kill(pid, SIGKILL);
	status = child_status(pid);
	is(WIFSIGNALED(status) && now_ms() - begin < 5000, "kill: a process that waits in ENTER");
	ring_close(&ring);
}

/* ---- any value at any time ---- */

struct chaos {
	struct ring ring;
	volatile int stop;
};

static uint64_t any(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void *scribble(void *arg)
{
	struct chaos *chaos = arg;
	volatile uint32_t *words = (void *)chaos->ring.user;
	uint64_t state = 77;

	while (!chaos->stop) {
		words[any(&state) % 3] = any(&state) % 2 ? any(&state) : tail(&chaos->ring) - 32 + any(&state) % 64;
		if (any(&state) % 64 == 0)
			words[any(&state) % 1024] = any(&state);
		if (any(&state) % 256 == 0)
			pause_ms(1);
	}
	return NULL;
}

/* Let a child use the descriptor of the ring, which it inherits, and its own mapping. */
static int inherit(const struct ring *ring)
{
	struct ring inherited = { .fd = ring->fd, .args = ring->args };
	pid_t pid = fork();
	int status;

	if (pid < 0)
		return errno;
	if (!pid) {
		ring_map(&inherited);
		inherited.user->head = tail(&inherited);
		_exit(enter(&inherited, 1, 1));
	}
	status = child_status(pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Make a random call with the ring. Return whether its answer is possible. */
static int call_ring(struct chaos *chaos, uint64_t *state)
{
	static const int answers[] = { 0, EAGAIN, ETIMEDOUT, EINVAL, ENOENT, EALREADY, ENOSPC };
	struct pollfd polled = { .fd = chaos->ring.fd, .events = POLLIN };
	const struct ring *ring = &chaos->ring;
	static struct record records[64];
	size_t i;
	int ret;

	switch (any(state) % 10) {
	case 9:
		ret = any(state) % 16 ? 0 : inherit(ring);
		break;
	case 8:
		ret = range(ring, any(state) % 2 * SUB_OWN, any(state) % 4096, any(state) % 8, 0);
		break;
	case 0:
		ret = read(ring->fd, records, any(state) % sizeof(records)) < 0 ? errno : 0;
		break;
	case 1:
		ret = poll(&polled, 1, any(state) % 3) < 0 ? errno : 0;
		break;
	case 2:
		ret = subscribe(ring, any(state) % 2 ? SUB_EVENTS : SUB_LINKS, 0, any(state) % 8, any(state) % EVERY);
		break;
	case 3:
		ret = subscribe(ring, SUB_EVENTS, SUB_TAKE, any(state) % 8, 1 << INTR3 | 1 << INTR4);
		break;
	case 4:
		ret = subscribe(ring, 0, SUB_REMOVE, any(state) % 8, 0);
		break;
	case 5:
		ret = map_errno(ring, 4096 * (any(state) % 3 + 1), PROT_READ, MAP_SHARED,
				KERNEL_AT * (any(state) % 2) + 4096 * (any(state) % 3));
		break;
	default:
		ret = enter(ring, any(state) % 80, any(state) % 3);
	}
	for (i = 0; i < sizeof(answers) / sizeof(*answers); i++)
		if (ret == answers[i])
			return 1;
	return 0;
}

/* A process that scribbles over its ring while it calls it, until it is killed. */
static void chaos_run(uint64_t seed, int answers)
{
	struct chaos chaos = { .ring = ring_open(64) };
	pthread_t thread;

	fcntl(chaos.ring.fd, F_SETFL, O_NONBLOCK);
	pthread_create(&thread, NULL, scribble, &chaos);
	for (;;)
		if (!call_ring(&chaos, &seed) && write(answers, "x", 1) != 1)
			_exit(1);
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* While four such processes run and are replaced, another ring gets all events in order. */
static void scribbled_rings_harm_no_other_ring(int seconds)
{
	const uint64_t end = now_ms() + 1000 * seconds;
	struct ring ring = ring_open(1024);
	uint32_t sent = 0, got = 0, bad = 0;
	struct record record;
	pid_t pids[4] = { 0 };
	int i, n = 0, pipes[2];
	char answer;

	if (pipe2(pipes, O_NONBLOCK))
		err(2, "pipe");
	subscribe(&ring, SUB_EVENTS, 0, 1, 1 << INTR1);
	while (now_ms() < end) {
		i = n++ % 4;
		if (pids[i])
			end_child(pids[i]);
		pids[i] = fork();
		if (!pids[i])
			chaos_run(n * 7919 + 1, pipes[1]);
		request(INTR3, sent, 20);
		request(INTR1, sent, 50);
		sent += 50;
		while (next(&ring, &record))
			bad += record.type != REC_EVENT || record.what[1] != got++;
	}
	for (i = 0; i < 4; i++)
		end_child(pids[i]);
	counts(sent, got, "scribble: events of a ring beside scribbled ones");
	is(!bad && !ring.kernel->lost, "scribble: events in order, and none is lost");
	is(read(pipes[0], &answer, 1) < 0, "scribble: each call has a possible answer");
	ioctl(fd, 0x4001EB1D, INTR1);
	ioctl(fd, 0x4001EB1D, INTR3);
	ring_close(&ring);
}

/* A wrong head stops a ring, a correct one continues it. */
static void wrong_heads_are_ignored(void)
{
	struct ring ring = ring_open(64);
	struct record record;
	uint32_t i, good;

	subscribe(&ring, SUB_EVENTS, 0, 1, 1 << INTR1);
	request(INTR1, 0, 64);
	ring.user->head = 65;
	enter(&ring, 0, 0);
	request(INTR1, 100, 1);
	is(tail(&ring) == 64 && ring.kernel->lost == 1, "head: a value beyond the tail releases nothing");
	ring.user->head = -1;
	enter(&ring, 0, 0);
	is(tail(&ring) == 64 && flags(&ring) == LOST, "head: a value before the last one releases nothing");
	for (i = 0, good = 1; i < 64; i++)
		good = good && ring.records[i].what[1] == i;
	is(good, "head: unread records are unchanged");
	ring.user->head = 64;
	enter(&ring, 0, 0);
	is(next(&ring, &record) && record.type == REC_LOST && record.what[0] == 1,
	   "head: the tail releases all records");
	ioctl(fd, 0x4001EB1D, INTR1);
	ring_close(&ring);
}

int main(int argc, char **argv)
{
	const int hostile = argc == 4 && !strcmp(argv[2], "hostile");

	if (!hostile && (argc != 3 || strcmp(argv[2], "calls")))
		errx(2, "ringbad DEVICE COMMAND");
	device_open(argv[1]);
	if (!hostile) {
		bad_rings();
		bad_subscriptions();
		bad_ranges();
		bad_taps();
		bad_enters();
		bad_mappings();
		too_many();
		killed(0);
		killed(10);
	} else {
		forks();
		wrong_heads_are_ignored();
		scribbled_rings_harm_no_other_ring(atoi(argv[3]));
	}
	return 0;
}
