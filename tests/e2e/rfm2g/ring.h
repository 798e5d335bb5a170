/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The interface of rings, and functions that several programs for scenarios use. This file defines the interface
 * itself, and does not include include/uapi/vrfm.h, to detect a mistake in that header. Author: The krdma developers.
 */
#ifndef RFM2G_RING_H
#define RFM2G_RING_H

#include <assert.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define RING 0xC040EA09
#define SUBSCRIBE 0x4040EA0A
#define ENTER 0xC020EA0B
#define BATCH 0xC030EA0C
#define KERNEL_AT 0x10000000
/* Offset of manual mappings of a device. */
#define MANUAL 0x10000000000ll

enum { REC_PAD, REC_LOST, REC_EVENT, REC_WRITTEN, REC_LINK, REC_IMAGE, REC_DONE };
enum { STORED = 16, FOUND, APPLIED, PLACED, SENT, RECEIVED, RAISED, TOLD, HOLE };
enum { SUB_EVENTS = 1, SUB_RANGE, SUB_LINKS, SUB_TAP, SUB_REMOVE = 1, SUB_TAKE = 2, SUB_OWN = 4, SUB_ALL = 8 };
enum { MERGED = 1, CUT = 2, OWN = 4, CANCELLED = 8, FROM_IMAGE = 16 };
enum { MORE = 1, LOST = 2, GONE = 4 };
enum { DO_LOOP = 1, DO_KICK = 2, DO_STOP = 4, SLEEPS = 1, LOOPS = 2 };
enum { OP_WRITE = 1, OP_INLINE, OP_PUBLISH, OP_EVENT, OP_MORE = 1, OP_DONE, OP_ACKED = 4, OP_NOFLUSH = 8 };
enum { RESET, INTR1, INTR2, INTR3, INTR4, EVENTS = 12 };
#define NO_NODE 0xFFFF
#define PRESENT 0x80000000
#define SYNCED 1
#define FOREVER 0xFFFFFFFFFFFFFFFFull
#define NONBLOCK 1

struct ring_args {
	uint32_t size, flags, slots, submits, snap;
	int32_t clock;
	uint32_t user_len, kernel_len;
	uint64_t kernel_at, zeroes[3];
};

struct user { uint32_t head, wake, wake_us, zero[13], submit_tail, zero1[15]; };

struct kernel {
	uint32_t tail, flags;
	uint64_t lost, merged;
	uint32_t zero[10], submit_head, submit_flags, zero1[14], slots, submits, records_at, version;
	uint64_t size;
	int64_t real_ns;
	uint32_t node, snap, zero2[6];
};

struct record {
	uint16_t type, flags, slots, node;
	uint32_t offset, length;
	uint64_t serial, time_ns, cookie;
	uint32_t what[6];
};

struct subscribe {
	uint32_t what, flags, offset, length;
	uint64_t cookie;
	uint32_t events, kinds;
	uint64_t nodes[4];
};

struct enter { uint32_t submit, records, flags, spin_us; uint64_t timeout_ns, zero; };

struct op {
	uint8_t op, flags;
	uint16_t node;
	uint32_t offset, length, event;
	uint64_t source, cookie;
	uint8_t data[32];
};

struct batch {
	uint64_t ops;
	uint32_t count, flags, timeout_ms, failed;
	uint64_t serial;
	uint32_t reached, behind, absent, zero;
};

static_assert(sizeof(struct batch) == 48, "layout");
static_assert(sizeof(struct op) == 64, "layout");
static_assert(sizeof(struct ring_args) == 64, "layout");
static_assert(sizeof(struct user) == 128, "layout");
static_assert(sizeof(struct kernel) == 192, "layout");
static_assert(sizeof(struct record) == 64, "layout");
static_assert(sizeof(struct subscribe) == 64, "layout");
static_assert(sizeof(struct enter) == 32, "layout");

struct ring {
	int fd;
	struct user *user;
	const struct kernel *kernel;
	const struct record *records;
	struct ring_args args;
};

static char *path;
static int fd;
static volatile uint32_t *memory;

static inline uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ull + t.tv_nsec / 1000000;
}

static inline void pause_ms(unsigned int ms)
{
	const struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

static inline void is(int good, const char *text)
{
	printf("%d %s\n", !good, text);
	fflush(stdout);
}

static inline void gives(int wanted, int got, const char *text)
{
	if (got == wanted)
		printf("0 %s: %s\n", text, got ? strerrorname_np(got) : "0");
	else
		printf("1 %s: %s instead of %s\n", text, got < 0 ? "none" : strerrorname_np(got),
		       strerrorname_np(wanted));
	fflush(stdout);
}

/* One case: a number has a value. The text is in front of the number. */
static inline void counts(uint64_t wanted, uint64_t got, const char *text)
{
	printf("%d %s: %llu of %llu\n", wanted != got, text, (unsigned long long)got, (unsigned long long)wanted);
	fflush(stdout);
}

static inline int call(int file, unsigned long cmd, void *arg)
{
	return ioctl(file, cmd, arg) < 0 ? errno : 0;
}

/* Create a ring without mappings. Return its descriptor; -1: errno is set. */
static inline int ring_make(int file, uint32_t slots, uint32_t flags, struct ring_args *args)
{
	*args = (struct ring_args){ .size = sizeof(*args), .slots = slots, .flags = flags, .clock = CLOCK_MONOTONIC };
	return ioctl(file, RING, args);
}

static inline struct op write_of(uint32_t offset, const void *bytes, uint32_t length)
{
	return (struct op){ .op = OP_WRITE, .flags = OP_MORE, .offset = offset, .length = length,
			    .source = (uintptr_t)bytes };
}

static inline struct op word_of(uint32_t offset, uint32_t value)
{
	struct op op = { .op = OP_INLINE, .flags = OP_MORE, .offset = offset, .length = 4 };

	memcpy(op.data, &value, 4);
	return op;
}

static inline struct op publish_of(uint32_t offset, uint32_t length)
{
	return (struct op){ .op = OP_PUBLISH, .flags = OP_MORE, .offset = offset, .length = length };
}

static inline struct op event_of(uint32_t node, uint32_t type, uint32_t data)
{
	struct op op = { .op = OP_EVENT, .flags = OP_MORE, .node = node, .event = type };

	memcpy(op.data, &data, 4);
	return op;
}

static inline void ring_map(struct ring *ring)
{
	void *kernel;

	ring->user = mmap(NULL, ring->args.user_len, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
	kernel = mmap(NULL, ring->args.kernel_len, PROT_READ, MAP_SHARED, ring->fd, ring->args.kernel_at);
	if (ring->user == MAP_FAILED || kernel == MAP_FAILED)
		err(2, "mmap of a ring");
	ring->kernel = kernel;
	ring->records = kernel + ring->kernel->records_at;
}

/* Create and map a ring with payloads of up to SNAP bytes. */
static inline struct ring ring_open_snap(uint32_t slots, uint32_t snap)
{
	struct ring ring = { .args = { .size = sizeof(ring.args), .slots = slots, .snap = snap,
				       .clock = CLOCK_MONOTONIC } };

	ring.fd = ioctl(fd, RING, &ring.args);
	if (ring.fd < 0)
		err(2, "VRFM_RING");
	ring_map(&ring);
	return ring;
}

static inline struct ring ring_open(uint32_t slots)
{
	return ring_open_snap(slots, 0);
}

static inline void ring_close(struct ring *ring)
{
	munmap(ring->user, ring->args.user_len);
	munmap((void *)ring->kernel, ring->args.kernel_len);
	close(ring->fd);
}

static inline int subscribe(const struct ring *ring, uint32_t what, uint32_t flags, uint64_t cookie, uint32_t events)
{
	return call(ring->fd, SUBSCRIBE,
		    &(struct subscribe){ .what = what, .flags = flags, .cookie = cookie, .events = events });
}

static inline int enter(const struct ring *ring, uint32_t records, uint64_t ms)
{
	return call(ring->fd, ENTER, &(struct enter){ .records = records, .timeout_ns =
						      ms == FOREVER ? FOREVER : ms * 1000000 });
}

static inline uint32_t tail(const struct ring *ring)
{
	return __atomic_load_n(&ring->kernel->tail, __ATOMIC_ACQUIRE);
}

static inline uint32_t flags(const struct ring *ring)
{
	return __atomic_load_n(&ring->kernel->flags, __ATOMIC_RELAXED);
}

static inline uint32_t unread(const struct ring *ring)
{
	return tail(ring) - ring->user->head;
}

/* Copy the next record, and release it. Return 0 if there is none. */
static inline int next(const struct ring *ring, struct record *record)
{
	uint32_t head = ring->user->head;

	while (head != tail(ring)) {
		*record = ring->records[head % ring->args.slots];
		head += record->slots;
		__atomic_store_n(&ring->user->head, head, __ATOMIC_RELEASE);
		if (record->type != REC_PAD)
			return 1;
	}
	return 0;
}

/* Release all records. */
static inline void drain(const struct ring *ring)
{
	__atomic_store_n(&ring->user->head, tail(ring), __ATOMIC_RELEASE);
}

/*
 * Words of the memory: the program on node 2 writes a request of four words at ASK: its number, the type of events, the
 * data of the first event, and the number of events. The server on node 1 writes each event's data at DATA before it
 * sends the event, and the number of the request at DONE afterwards. The type WRITE requests a write instead: its
 * offset, and its length of at most 64 KiB. Byte n of the memory becomes n % 26 + 'a'.
 */
enum { ASK = 0, DONE = 64, DATA = 128 };
#define STOP 255
#define WRITE 254

/* Let the server send events, and wait until they have arrived. */
static inline void request(uint32_t type, uint32_t first, uint32_t count)
{
	uint32_t rest[3] = { type, first, count }, number = memory[ASK / 4] + 1;
	uint64_t end = now_ms() + 60000;

	if (pwrite(fd, rest, 12, ASK + 4) != 12 || pwrite(fd, &number, 4, ASK) != 4)
		err(2, "request");
	while (memory[DONE / 4] != number) {
		if (now_ms() > end)
			errx(2, "the server does not answer");
		pause_ms(2);
	}
}

static inline void device_open(char *name)
{
	path = name;
	fd = open(path, O_RDWR);
	if (fd < 0)
		err(2, "%s", path);
	memory = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		err(2, "mmap");
}

#endif /* RFM2G_RING_H */
