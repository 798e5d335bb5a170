// SPDX-License-Identifier: GPL-2.0
/* Rings and batches of vrfm in vbench, and the tests that compare them with other calls. */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <rfm2g.h>

#include "vbench.h"

/* Slots of the ring of a tap: 16 MiB. */
#define TAP_SLOTS 262144
#define EVENT_SLOTS 256
#define NOTICE_SLOTS 4096
/* Number of events in a burst, which the queue of a device holds. */
#define BURST 100
/* Blocks of a control cycle, in the second MiB of the memory. The counter follows the blocks. */
#define BLOCKS 8
#define BLOCK 64u
#define BLOCKS_AT 1048576u
#define COUNTER_AT (BLOCKS_AT + BLOCKS * PAGE)
#define OPS (BLOCKS + 2)
/* Words of 4 bytes that a batch updates, one in each cache line of the first page behind the counter. */
#define UPDATES 64
#define UPDATES_AT (COUNTER_AT + PAGE)
#define UPDATE_STEP 64
/* Number of control cycles between two reads of the clock. */
#define CYCLES 16
/* Entries of a ring whose batches a thread executes. */
#define ENTRIES 1024u
/* Maximum number of peers of a device. */
#define PEERS 16
/* Node ids of the devices rfm2g0 and rfm2g1. */
#define NODE_0 1
#define NODE_1 2

/* ---- rings ---- */

static void ring_open_with(struct ring *ring, const struct rfm *rfm, uint32_t slots, uint32_t snap, uint32_t submits)
{
	void *user, *kernel;

	*ring = (struct ring){ .args = { .size = sizeof(ring->args), .slots = slots, .snap = snap, .submits = submits,
					 .clock = CLOCK_MONOTONIC } };
	ring->fd = ioctl(rfm->fd, VRFM_RING, &ring->args);
	if (ring->fd < 0)
		err(1, "VRFM_RING");
	user = mmap(NULL, ring->args.user_len, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
	kernel = mmap(NULL, ring->args.kernel_len, PROT_READ, MAP_SHARED, ring->fd, ring->args.kernel_at);
	if (user == MAP_FAILED || kernel == MAP_FAILED)
		err(1, "ring: mmap");
	ring->user = user;
	ring->kernel = kernel;
	ring->records = (const void *)((const char *)kernel + ring->kernel->records_at);
}

static void ring_open(struct ring *ring, const struct rfm *rfm, uint32_t slots, uint32_t snap)
{
	ring_open_with(ring, rfm, slots, snap, 0);
}

static void ring_subscribe(const struct ring *ring, struct vrfm_subscribe *args)
{
	if (ioctl(ring->fd, VRFM_RING_SUBSCRIBE, args))
		err(1, "VRFM_RING_SUBSCRIBE");
}

/* Open a ring that takes the events INTR1. */
void ring_open_events(struct ring *ring, const struct rfm *rfm)
{
	struct vrfm_subscribe args = { .what = VRFM_SUB_EVENTS, .flags = VRFM_SUB_TAKE,
				       .events = 1 << RFM2G_EVENT_INTR1 };

	ring_open(ring, rfm, EVENT_SLOTS, 0);
	ring_subscribe(ring, &args);
}

/* Open a ring with a tap of records of the types KINDS, a bit mask. */
void ring_open_tap(struct ring *ring, const struct rfm *rfm, uint32_t kinds, uint32_t snap)
{
	struct vrfm_subscribe args = { .what = VRFM_SUB_TAP, .kinds = kinds };

	ring_open(ring, rfm, TAP_SLOTS, snap);
	ring_subscribe(ring, &args);
}

static uint32_t ring_tail(const struct ring *ring)
{
	return __atomic_load_n(&ring->kernel->tail, __ATOMIC_ACQUIRE);
}

/* Return the next record, or NULL. */
static const struct vrfm_record *ring_next(struct ring *ring)
{
	const struct vrfm_record *record;

	do {
		if (ring->head == ring_tail(ring))
			return NULL;
		record = &ring->records[ring->head & (ring->args.slots - 1)];
		ring->head += record->slots;
	} while (record->type == VRFM_REC_PAD);
	return record;
}

/* Release the records that the program has read. */
static void ring_release(struct ring *ring)
{
	__atomic_store_n(&ring->user->head, ring->head, __ATOMIC_RELEASE);
}

void ring_release_all(struct ring *ring)
{
	ring->head = ring_tail(ring);
	ring_release(ring);
}

/* Sleep until COUNT slots are unread, or a record has been unread for wake_us. */
static void ring_enter(const struct ring *ring, uint32_t count)
{
	struct vrfm_enter args = { .records = count, .timeout_ns = PATIENCE_NS };

	if (ioctl(ring->fd, VRFM_RING_ENTER, &args))
		err(1, "VRFM_RING_ENTER");
}

/* Sleep until an event is in the ring, and return its data. */
uint32_t ring_wait_event(struct ring *ring)
{
	const struct vrfm_record *record;
	uint32_t data;

	while (!(record = ring_next(ring)) || record->type != VRFM_REC_EVENT)
		if (!record)
			ring_enter(ring, 1);
	data = record->event.data;
	ring_release(ring);
	return data;
}

void ring_close(struct ring *ring)
{
	if (ring->kernel->lost)
		errx(1, "the ring has lost records");
	munmap(ring->user, ring->args.user_len);
	munmap((void *)ring->kernel, ring->args.kernel_len);
	close(ring->fd);
}

/* ---- bursts of events ---- */

static uint32_t take_by_calls(const struct rfm *rfm)
{
	uint32_t n;

	for (n = 0; n < BURST; n++)
		rfm_wait(rfm);
	return n;
}

static uint32_t take_by_ring(struct ring *ring)
{
	const struct vrfm_record *record;
	uint32_t n = 0, calls = 0;

	while (n < BURST) {
		ring_enter(ring, 1);
		calls++;
		while ((record = ring_next(ring)))
			n += record->type == VRFM_REC_EVENT;
		ring_release(ring);
	}
	return calls;
}

/*
 * Let rfm2g1 send bursts, and measure how rfm2g0 takes them when they have arrived. The reader does not sleep then, so
 * the duration is the processor time, which User-mode Linux measures in ticks only.
 */
void burst(const struct job *job, char letter, const struct rfm *rfm, struct result *result)
{
	static struct rfm sender;
	const struct timespec pause = { .tv_nsec = 20000000 };
	uint64_t begin = now_ns(), start;
	struct ring ring;
	int i;

	if (!sender.memory)
		sender = open_rfm("/dev/rfm2g1");
	if (letter == 'e')
		ring_open_events(&ring, rfm);
	do {
		for (i = 0; i < BURST; i++)
			rfm_send(&sender, RFM2G_EVENT_INTR1, NODE_0, i);
		nanosleep(&pause, NULL);
		start = now_ns();
		result->calls += letter == 'e' ? take_by_ring(&ring) : take_by_calls(rfm);
		result->ns += now_ns() - start;
		result->n += BURST;
	} while (now_ns() - begin < job->ms * 1000000ull);
	if (letter == 'e')
		ring_close(&ring);
}

/* ---- notices of writes ---- */

/* Start a process that writes 4 bytes at offset 0 as fast as it can. */
static pid_t start_writer(const struct rfm *rfm)
{
	pid_t parent = getpid(), pid = fork();
	uint32_t n;

	if (pid < 0)
		err(1, "fork");
	if (pid)
		return pid;
	for (n = 0; n % 1024 || getppid() == parent; n++)
		if (pwrite(rfm->fd, &n, sizeof(n), 0) != sizeof(n))
			_exit(1);
	_exit(0);
}

static void end_writer(pid_t pid)
{
	int status;

	kill(pid, SIGKILL);
	if (waitpid(pid, &status, 0) != pid || !WIFSIGNALED(status))
		errx(1, "the writer has failed");
}

static void watch_writes(const struct rfm *rfm, struct result *result)
{
	uint32_t old = *(volatile uint32_t *)rfm->memory;
	struct vrfm_watch args = { .length = sizeof(old), .old = (uintptr_t)&old, .timeout_ms = 1000 };

	if (ioctl(rfm->fd, VRFM_WATCH, &args))
		err(1, "VRFM_WATCH");
	result->n++;
}

static void count_writes(struct ring *ring, struct result *result)
{
	const struct vrfm_record *record;

	ring_enter(ring, NOTICE_SLOTS / 4);
	while ((record = ring_next(ring)))
		if (record->type == VRFM_REC_WRITTEN)
			result->n += record->written.messages;
	ring_release(ring);
}

/* Count the writes of another process that this one learns of, by VRFM_WATCH, or by notices in a ring. */
void cover(const struct job *job, char letter, const struct rfm *rfm, struct result *result)
{
	struct vrfm_subscribe args = { .what = VRFM_SUB_RANGE, .flags = VRFM_SUB_OWN, .length = sizeof(uint32_t) };
	struct ring ring;
	uint64_t begin;
	pid_t writer;

	if (letter == 'e') {
		ring_open(&ring, rfm, NOTICE_SLOTS, 0);
		ring_subscribe(&ring, &args);
	}
	writer = start_writer(rfm);
	begin = now_ns();
	do {
		if (letter == 'e')
			count_writes(&ring, result);
		else
			watch_writes(rfm, result);
		result->calls++;
	} while (now_ns() - begin < job->ms * 1000000ull);
	result->ns = now_ns() - begin;
	end_writer(writer);
	if (letter == 'e')
		ring_close(&ring);
}

/* ---- batches ---- */

static void post(const struct rfm *rfm, struct vrfm_op *ops, uint32_t count, uint32_t flags)
{
	struct vrfm_batch args = { .ops = (uintptr_t)ops, .count = count, .flags = flags };

	if (ioctl(rfm->fd, VRFM_BATCH, &args))
		err(1, "VRFM_BATCH");
}

/* Store into a manual mapping, and publish the stored word. The program stores into no other mapping. */
void publish(const struct rfm *rfm, uint32_t offset, uint32_t value)
{
	struct vrfm_op op = { .op = VRFM_OP_PUBLISH, .offset = offset, .length = sizeof(uint64_t) };

	*(volatile uint64_t *)(rfm->manual + offset) = value;
	post(rfm, &op, 1, VRFM_OP_NOFLUSH);
}

static void cycle_by_batch(const struct rfm *rfm, uint32_t number)
{
	struct vrfm_op ops[OPS] = { };
	uint32_t i;

	for (i = 0; i < BLOCKS; i++)
		ops[i] = (struct vrfm_op){ .op = VRFM_OP_WRITE, .flags = VRFM_OP_MORE, .offset = BLOCKS_AT + i * PAGE,
					   .length = BLOCK, .source = (uintptr_t)block + i * BLOCK };
	ops[i] = (struct vrfm_op){ .op = VRFM_OP_WRITE, .flags = VRFM_OP_MORE, .offset = COUNTER_AT,
				   .length = sizeof(number), .source = (uintptr_t)&number };
	ops[i + 1] = (struct vrfm_op){ .op = VRFM_OP_EVENT, .node = NODE_1, .event = RFM2G_EVENT_INTR2 };
	post(rfm, ops, OPS, 0);
}

static void cycle_by_calls(const struct rfm *rfm, uint32_t number)
{
	uint32_t i;

	for (i = 0; i < BLOCKS; i++)
		if (pwrite(rfm->fd, block + i * BLOCK, BLOCK, BLOCKS_AT + i * PAGE) != BLOCK)
			err(1, "write");
	if (pwrite(rfm->fd, &number, sizeof(number), COUNTER_AT) != sizeof(number))
		err(1, "write");
	rfm_send(rfm, RFM2G_EVENT_INTR2, NODE_1, number);
}

/* Return the number of messages that a device has sent to its peers. */
uint64_t messages_sent(const struct rfm *rfm)
{
	struct vrfm_peer_state peers[PEERS];
	struct vrfm_peers args = { .peers = (uintptr_t)peers, .peer_size = sizeof(*peers), .count = PEERS };
	uint64_t sum = 0;
	uint32_t i;

	if (ioctl(rfm->fd, VRFM_PEERS, &args) || args.count > PEERS)
		errx(1, "VRFM_PEERS");
	for (i = 0; i < args.count; i++)
		sum += peers[i].messages;
	return sum;
}

/* Write eight blocks and a counter, and send an event, in each cycle. No program waits for the events. */
void control(const struct job *job, char letter, const struct rfm *rfm, struct result *result)
{
	uint64_t begin = now_ns(), messages = messages_sent(rfm);
	uint32_t i;

	do {
		for (i = 0; i < CYCLES; i++, result->n++) {
			if (letter == 'b')
				cycle_by_batch(rfm, result->n);
			else
				cycle_by_calls(rfm, result->n);
		}
	} while (now_ns() - begin < job->ms * 1000000ull);
	if (fsync(rfm->fd))
		err(1, "fsync");
	result->ns = now_ns() - begin;
	result->messages = messages_sent(rfm) - messages;
}

static void update_by_batch(const struct rfm *rfm, uint32_t number)
{
	struct vrfm_op ops[UPDATES] = { };
	uint32_t i;

	for (i = 0; i < UPDATES; i++) {
		ops[i] = (struct vrfm_op){ .op = VRFM_OP_INLINE, .flags = i < UPDATES - 1 ? VRFM_OP_MORE : 0,
					   .offset = UPDATES_AT + i * UPDATE_STEP, .length = sizeof(number) };
		memcpy(ops[i].data, &number, sizeof(number));
	}
	post(rfm, ops, UPDATES, 0);
}

static void update_by_calls(const struct rfm *rfm, uint32_t number)
{
	uint32_t i;

	for (i = 0; i < UPDATES; i++)
		if (pwrite(rfm->fd, &number, sizeof(number), UPDATES_AT + i * UPDATE_STEP) != sizeof(number))
			err(1, "write");
}

/* Update 64 words of 4 bytes repeatedly. Count the updates and the system calls. */
void update(const struct job *job, char letter, const struct rfm *rfm, struct result *result)
{
	uint64_t begin = now_ns();

	do {
		if (letter == 'b')
			update_by_batch(rfm, result->n);
		else
			update_by_calls(rfm, result->n);
		result->calls += letter == 'b' ? 1 : UPDATES;
		result->n += UPDATES;
	} while (now_ns() - begin < job->ms * 1000000ull);
	if (fsync(rfm->fd))
		err(1, "fsync");
	result->ns = now_ns() - begin;
}

/* ---- a thread that executes batches ---- */

static struct ring feed;

static void *execute(void *arg)
{
	struct vrfm_enter args = { .flags = VRFM_ENTER_LOOP, .spin_us = VRFM_ENTER_SPIN_US_MAX };

	(void)arg;
	ioctl(feed.fd, VRFM_RING_ENTER, &args);
	return NULL;
}

/* Open a ring, and start a thread that executes its batches. */
void feed_begin(const struct rfm *rfm)
{
	pthread_t thread;

	ring_open_with(&feed, rfm, EVENT_SLOTS, 0, ENTRIES);
	if (pthread_create(&thread, NULL, execute, NULL))
		errx(1, "no thread");
	while (!(__atomic_load_n(&feed.kernel->submit_flags, __ATOMIC_ACQUIRE) & VRFM_SUBMIT_LOOP))
		sched_yield();
}

/* Let the thread write 4 bytes. Return the number of system calls. */
uint32_t feed_word(uint32_t offset, uint32_t value)
{
	struct vrfm_op *entries = (void *)((char *)feed.user + VRFM_RING_ENTRIES_AT);
	struct vrfm_enter kick = { .flags = VRFM_ENTER_KICK };
	uint32_t tail = feed.user->submit_tail;

	if (tail - __atomic_load_n(&feed.kernel->submit_head, __ATOMIC_ACQUIRE) == ENTRIES)
		errx(1, "the thread does not keep up");
	entries[tail % ENTRIES] = (struct vrfm_op){ .op = VRFM_OP_INLINE, .offset = offset, .length = sizeof(value) };
	memcpy(entries[tail % ENTRIES].data, &value, sizeof(value));
	__atomic_store_n(&feed.user->submit_tail, tail + 1, __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (!(__atomic_load_n(&feed.kernel->submit_flags, __ATOMIC_RELAXED) & VRFM_SUBMIT_SLEEPS))
		return 0;
	if (ioctl(feed.fd, VRFM_RING_ENTER, &kick))
		err(1, "VRFM_ENTER_KICK");
	return 1;
}
