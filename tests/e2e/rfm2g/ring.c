// SPDX-License-Identifier: GPL-2.0
/*
 * ring DEVICE COMMAND ARGUMENT...: rings of events and peers, for scenarios. Author: The krdma developers.
 *
 *   serve           on node 1: send the events that a program on node 2 requests, until it requests the end
 *   stop            on node 2: request the end of the server
 *   events          get events of the server by rings; print a line for each case
 *   waits           wait for records of a ring by all calls; print a line for each case
 *   links FILE      follow the link with node 1: create FILE when it is ready, and wait until it was down and is ready
 *                   again; print a line for each case
 *   gone FILE       create FILE, and wait until the device is removed; print a line for each case
 *   failing         use a ring and a batch repeatedly. The Nth repetition lets the Nth allocation fail. The exit
 *                   status is 0 if a ring works at the end. This needs a kernel with fault injection
 */
#define _GNU_SOURCE
#include "ring.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/wait.h>

#include "card.h"

#define WAIT_FOR_EVENT CARD_BITS(0xC018EB17, 0xC014EB17)
#define ENABLE_EVENT CARD_BITS(0x4018EB14, 0x4014EB14)
#define DISABLE_EVENT CARD_BITS(0x4018EB15, 0x4014EB15)
#define SEND_EVENT CARD_BITS(0x4018EB16, 0x4014EB16)
#define CANCEL_EVENT CARD_BITS(0x4018EB18, 0x4014EB18)
#define GET_EVENT_STATS 0xC018EB19
#define CLEAR_EVENT_STATS 0x4001EB1A
#define FLUSH_QUEUE 0x4001EB1D
#define DEPTH 127

static void *volatile bad_address = (void *)8;

struct stats { uint8_t event, overflowed, peak, zero; uint32_t count, queued, sizes[3]; };

static void switch_event(uint32_t type, int on)
{
	struct card_event event = { .event = type };

	if (call(fd, on ? ENABLE_EVENT : DISABLE_EVENT, &event))
		err(2, "enable or disable");
}

static int wait_event(uint32_t type, uint32_t ms, uint32_t *data)
{
	struct card_event event = { .event = type, .timeout = ms };
	int ret = call(fd, WAIT_FOR_EVENT, &event);

	*data = event.data;
	return ret;
}

static struct stats stats(uint32_t type)
{
	struct stats stats = { .event = type };

	if (call(fd, GET_EVENT_STATS, &stats))
		err(2, "statistics");
	return stats;
}

static void clear(uint32_t type)
{
	ioctl(fd, FLUSH_QUEUE, type);
	ioctl(fd, CLEAR_EVENT_STATS, type);
}

/* ---- the server on node 1 ---- */

static void serve(uint32_t type, uint32_t first, uint32_t count)
{
	struct card_event event = { .event = type, .node = 2 };
	uint32_t data;

	for (data = first; data != first + count; data++) {
		event.data = data;
		if (pwrite(fd, &data, 4, DATA) != 4 || call(fd, SEND_EVENT, &event))
			err(2, "event");
	}
}

static void write_bytes(uint32_t offset, uint32_t len)
{
	static char bytes[65536];
	uint32_t i;

	for (i = 0; i < len; i++)
		bytes[i] = (offset + i) % 26 + 'a';
	if (len > sizeof(bytes) || pwrite(fd, bytes, len, offset) != len)
		err(2, "write");
}

static int do_serve(char **arg)
{
	uint32_t done = memory[DONE / 4], type = 0;

	(void)arg;
	while (type != STOP) {
		if (memory[ASK / 4] == done) {
			pause_ms(2);
			continue;
		}
		done = memory[ASK / 4];
		type = memory[ASK / 4 + 1];
		if (type == WRITE)
			write_bytes(memory[ASK / 4 + 2], memory[ASK / 4 + 3]);
		else if (type != STOP)
			serve(type, memory[ASK / 4 + 2], memory[ASK / 4 + 3]);
		if (pwrite(fd, &done, 4, DONE) != 4 || fsync(fd))
			err(2, "answer");
	}
	return 0;
}

static int do_stop(char **arg)
{
	(void)arg;
	request(STOP, 0, 0);
	return 0;
}

/* ---- events ---- */

/* Check that the next records are COUNT events in order. */
static int are_events(const struct ring *ring, uint32_t type, uint32_t first, uint32_t count, uint64_t cookie)
{
	struct record record;
	uint32_t data;

	for (data = first; data != first + count; data++)
		if (!next(ring, &record) || record.type != REC_EVENT || record.flags || record.slots != 1 ||
		    record.node != 1 || record.cookie != cookie || record.what[0] != type || record.what[1] != data)
			return 0;
	return 1;
}

static int is_empty(const struct ring *ring)
{
	return !unread(ring);
}

static void shows_the_head_of_the_ring(void)
{
	struct ring ring = ring_open(256);
	struct timespec real, mono;
	int64_t offset;

	clock_gettime(CLOCK_REALTIME, &real);
	clock_gettime(CLOCK_MONOTONIC, &mono);
	offset = (real.tv_sec - mono.tv_sec) * 1000000000ll + real.tv_nsec - mono.tv_nsec;
	is(ring.kernel->slots == 256 && ring.kernel->version == 1 && ring.kernel->size == 1048576 &&
	   ring.kernel->node == 2 && !ring.kernel->tail && !ring.kernel->flags,
	   "ring: slots, version, size and node in its head");
	is(llabs(offset - ring.kernel->real_ns) < 1000000000ll, "ring: distance of the clocks in its head");
	is(ring.args.kernel_len >= ring.kernel->records_at + 256 * 64u && ring.args.kernel_at == KERNEL_AT,
	   "ring: sizes of the areas");
	ring_close(&ring);
}

static void copies_events(void)
{
	struct ring ring = ring_open(64), other = ring_open(64);
	uint64_t begin = now_ms();
	struct record record;
	uint32_t data = 0;

	switch_event(INTR1, 0);
	clear(INTR1);
	gives(0, subscribe(&ring, SUB_EVENTS, 0, 77, 1 << INTR1), "copy: subscribed to a disabled type");
	gives(0, subscribe(&other, SUB_EVENTS, 0, 78, 1 << INTR1 | 1 << RESET), "copy: subscribed by a second ring");
	request(INTR1, 1000, 3);
	request(INTR2, 1, 1);
	record = ring.records[0];
	is(record.time_ns / 1000000 >= begin && record.time_ns / 1000000 <= now_ms() && !record.offset &&
	   !record.length && !record.serial, "copy: time of the event on the clock of the ring");
	is(are_events(&ring, INTR1, 1000, 3, 77) && is_empty(&ring), "copy: three events of a disabled type in order");
	is(are_events(&other, INTR1, 1000, 3, 78) && is_empty(&other), "copy: the same events in a second ring");
	counts(0, stats(INTR1).count, "copy: events of a disabled type are not counted");
	switch_event(INTR1, 1);
	gives(0, wait_event(INTR1, 0, &data), "copy: a copied event is still in the queue");
	counts(1000, data, "copy: data of the event in the queue");
	counts(3, stats(INTR1).count, "copy: the count of the queue is that without rings");
	request(RESET, 5, 1);
	is(next(&other, &record) && record.what[0] == RESET && record.node == NO_NODE && !record.what[1],
	   "copy: a RESET without sender and data");
	gives(0, subscribe(&other, 0, SUB_REMOVE, 78, 0), "copy: subscription removed");
	gives(ENOENT, subscribe(&other, 0, SUB_REMOVE, 78, 0), "copy: subscription removed twice");
	request(INTR1, 2000, 1);
	is(is_empty(&other) && are_events(&ring, INTR1, 2000, 1, 77), "copy: no records after removal");
	clear(INTR1);
	ring_close(&ring);
	ring_close(&other);
}

static int subscribe_nodes(const struct ring *ring, uint64_t cookie, int node)
{
	struct subscribe args = { .what = SUB_EVENTS, .cookie = cookie, .events = 1 << INTR1 };

	args.nodes[node / 64] = 1ull << node % 64;
	return call(ring->fd, SUBSCRIBE, &args);
}

static void filters_senders(void)
{
	struct ring ring = ring_open(64);

	gives(0, subscribe_nodes(&ring, 1, 1), "nodes: subscribed to events of node 1");
	gives(0, subscribe_nodes(&ring, 2, 65), "nodes: subscribed to events of node 65");
	gives(0, subscribe_nodes(&ring, 3, 255), "nodes: subscribed to events of node 255");
	request(INTR1, 7, 2);
	is(are_events(&ring, INTR1, 7, 2, 1) && is_empty(&ring), "nodes: events of node 1 once");
	clear(INTR1);
	ring_close(&ring);
}

/* The word that node 1 wrote before each event is in the memory when the ring has the event. */
static void follows_the_memory(void)
{
	struct ring ring = ring_open(1024);
	struct record record;
	int bad = 0, n = 0;
	pid_t pid;

	subscribe(&ring, SUB_EVENTS, 0, 1, 1 << INTR2);
	memory[DATA / 4];
	pid = fork();
	if (!pid) {
		request(INTR2, 100000, 1000);
		_exit(0);
	}
	while (n < 1000 && !enter(&ring, 1, 20000))
		while (next(&ring, &record)) {
			bad += record.what[1] - memory[DATA / 4] < 1u << 31 && record.what[1] != memory[DATA / 4];
			bad += record.what[1] != 100000u + n++;
		}
	waitpid(pid, NULL, 0);
	counts(1000, n, "order: events that a reader got while they arrived");
	counts(0, bad, "order: events out of order, or ahead of the word that was written before them");
	clear(INTR2);
	ring_close(&ring);
}

static void takes_events(void)
{
	struct ring ring = ring_open(64), other = ring_open(64);
	uint32_t data = 0;

	clear(INTR3);
	request(INTR3, 10, 2);
	gives(0, subscribe(&ring, SUB_EVENTS, SUB_TAKE, 5, 1 << INTR3 | 1 << INTR4), "take: subscribed");
	is(is_empty(&ring), "take: events of a disabled type stay in the queue");
	switch_event(INTR3, 1);
	is(are_events(&ring, INTR3, 10, 2, 5) && is_empty(&ring), "take: events are taken when the type is enabled");
	gives(EALREADY, wait_event(INTR3, 0, &data), "take: a wait for a taken type");
	gives(EALREADY, subscribe(&other, SUB_EVENTS, SUB_TAKE, 5, 1 << INTR3), "take: taken by a second ring");
	gives(EALREADY, subscribe(&other, SUB_EVENTS, SUB_TAKE, 5, 1 << INTR1 | 1 << INTR4),
	      "take: one of two types is taken");
	gives(0, subscribe(&other, SUB_EVENTS, SUB_TAKE, 6, 1 << INTR1), "take: the other of the two types is free");
	gives(0, subscribe(&other, SUB_EVENTS, 0, 7, 1 << INTR3), "take: copied by a second ring");
	request(INTR3, 12, 3);
	is(are_events(&ring, INTR3, 12, 3, 5), "take: later events are taken at once");
	is(are_events(&other, INTR3, 12, 3, 7), "take: a copy of taken events");
	counts(5, stats(INTR3).count, "take: taken events are counted as by a wait");
	counts(0, stats(INTR3).queued, "take: taken events leave the queue");
	gives(0, subscribe(&ring, 0, SUB_REMOVE, 5, 0), "take: removed");
	gives(ETIMEDOUT, wait_event(INTR3, 0, &data), "take: a wait after removal");
	gives(0, subscribe(&ring, SUB_EVENTS, SUB_TAKE, 8, 1 << INTR3), "take: subscribed again");
	ring_close(&ring);
	request(INTR3, 15, 1);
	gives(0, wait_event(INTR3, 0, &data), "take: a wait after the ring was closed");
	counts(15, data, "take: data of an event after the ring was closed");
	ring_close(&other);
}

static void *wait_intr3(void *arg)
{
	uint32_t data;

	*(int *)arg = wait_event(INTR3, 20000, &data);
	return NULL;
}

static void cancels_taking(void)
{
	struct ring ring = ring_open(64);
	struct card_event event = { .event = INTR3 };
	struct record record;
	pthread_t thread;
	uint32_t data;
	int got = -1;

	pthread_create(&thread, NULL, wait_intr3, &got);
	pause_ms(200);
	gives(EALREADY, subscribe(&ring, SUB_EVENTS, SUB_TAKE, 5, 1 << INTR3), "cancel: taken while a task waits");
	call(fd, CANCEL_EVENT, &event);
	pthread_join(thread, NULL);
	gives(0, subscribe(&ring, SUB_EVENTS, SUB_TAKE, 5, 1 << INTR3 | 1 << INTR2), "cancel: taken after the wait");
	gives(0, call(fd, CANCEL_EVENT, &event), "cancel: of a taken type");
	is(next(&ring, &record) && record.type == REC_EVENT && record.flags == CANCELLED && record.cookie == 5 &&
	   record.what[0] == INTR3 && record.node == NO_NODE && is_empty(&ring), "cancel: a record about the end");
	gives(ENOSYS, call(fd, CANCEL_EVENT, &event), "cancel: twice");
	request(INTR3, 20, 1);
	gives(0, wait_event(INTR3, 0, &data), "cancel: a wait for a type that is not taken any more");
	switch_event(INTR2, 1);
	request(INTR2, 30, 1);
	is(are_events(&ring, INTR2, 30, 1, 5), "cancel: another type is still taken");
	ring_close(&ring);
}

/* Fill a ring of 64 slots that takes a type, then the queue of the device, and lose 5 events. */
static void keeps_taken_events_that_do_not_fit(void)
{
	struct ring ring = ring_open(64);
	struct card_event cancel = { .event = INTR3 };
	struct record record;

	clear(INTR4);
	switch_event(INTR4, 1);
	subscribe(&ring, SUB_EVENTS, SUB_TAKE, 9, 1 << INTR4 | 1 << INTR3);
	request(INTR4, 0, 64);
	is(unread(&ring) == 64 && !flags(&ring), "take: a ring that is just full");
	request(INTR4, 64, DEPTH + 5);
	counts(64, unread(&ring), "take: slots of a full ring");
	counts(MORE, flags(&ring), "take: flag of a full ring");
	counts(DEPTH, stats(INTR4).queued, "take: events in the queue behind a full ring");
	is(stats(INTR4).overflowed, "take: the queue behind a full ring overflows");
	gives(0, call(fd, CANCEL_EVENT, &cancel), "take: another type is cancelled while the ring is full");
	is(are_events(&ring, INTR4, 0, 64, 9) && is_empty(&ring), "take: the events of a full ring");
	gives(0, enter(&ring, 0, 0), "take: refilled by ENTER");
	is(are_events(&ring, INTR4, 64, 64, 9), "take: events that did not fit");
	gives(0, enter(&ring, 0, 0), "take: refilled twice");
	is(are_events(&ring, INTR4, 128, 63, 9), "take: the last events of the queue");
	is(next(&ring, &record) && record.flags == CANCELLED && record.what[0] == INTR3,
	   "take: the end of the other type");
	is(!flags(&ring) && is_empty(&ring) && !ring.kernel->lost, "take: nothing is lost or held back");
	request(INTR4, 500, 1);
	is(are_events(&ring, INTR4, 500, 1, 9), "take: an event after the overflow");
	ring_close(&ring);
}

static void counts_copies_that_do_not_fit(void)
{
	struct ring ring = ring_open(64);
	struct record record;

	subscribe(&ring, SUB_EVENTS, 0, 9, 1 << INTR1);
	request(INTR1, 0, 100);
	counts(64, unread(&ring), "overflow: slots of a full ring");
	counts(LOST, flags(&ring), "overflow: flag of a full ring");
	counts(36, ring.kernel->lost, "overflow: lost copies in the head of the ring");
	is(are_events(&ring, INTR1, 0, 63, 9), "overflow: the oldest copies are kept");
	gives(0, enter(&ring, 0, 0), "overflow: ENTER");
	is(are_events(&ring, INTR1, 63, 1, 9), "overflow: the last copy that fitted");
	is(next(&ring, &record) && record.type == REC_LOST && record.what[0] == 36 && !record.what[1] &&
	   record.node == NO_NODE && is_empty(&ring) && !flags(&ring),
	   "overflow: a record with the number of lost copies");
	request(INTR1, 200, 66);
	ring.user->head += 2;
	request(INTR1, 300, 1);
	is(are_events(&ring, INTR1, 202, 62, 9) && next(&ring, &record) && record.type == REC_LOST &&
	   record.what[0] == 2 && are_events(&ring, INTR1, 300, 1, 9), "overflow: reported before the next event");
	counts(38, ring.kernel->lost, "overflow: all lost copies");
	clear(INTR1);
	ring_close(&ring);
}

static int do_events(char **arg)
{
	(void)arg;
	shows_the_head_of_the_ring();
	copies_events();
	filters_senders();
	follows_the_memory();
	takes_events();
	cancels_taking();
	keeps_taken_events_that_do_not_fit();
	counts_copies_that_do_not_fit();
	return 0;
}

/* ---- waits ---- */

struct waiter {
	pthread_t thread;
	struct ring *ring;
	uint32_t records;
	int how, ret, ended;
	uint64_t ms;
};

enum { BY_ENTER, BY_POLL, BY_EPOLL, BY_READ };

static int wait_by_epoll(int file)
{
	struct epoll_event event = { .events = EPOLLIN };
	int epoll = epoll_create1(0), ret;

	epoll_ctl(epoll, EPOLL_CTL_ADD, file, &event);
	ret = epoll_wait(epoll, &event, 1, 20000);
	close(epoll);
	return ret == 1 && event.events == EPOLLIN ? 0 : EIO;
}

static void *waiter_run(void *arg)
{
	struct waiter *waiter = arg;
	struct pollfd polled = { .fd = waiter->ring->fd, .events = POLLIN };
	struct record record;

	if (waiter->how == BY_ENTER)
		waiter->ret = enter(waiter->ring, waiter->records, 20000);
	else if (waiter->how == BY_POLL)
		waiter->ret = poll(&polled, 1, 20000) == 1 && polled.revents == POLLIN ? 0 : EIO;
	else if (waiter->how == BY_EPOLL)
		waiter->ret = wait_by_epoll(waiter->ring->fd);
	else
		waiter->ret = read(waiter->ring->fd, &record, sizeof(record)) == sizeof(record) ? 0 : EIO;
	waiter->ms = now_ms();
	__atomic_store_n(&waiter->ended, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

static void waiter_start(struct waiter *waiter, struct ring *ring, int how, uint32_t records)
{
	*waiter = (struct waiter){ .ring = ring, .how = how, .records = records };
	pthread_create(&waiter->thread, NULL, waiter_run, waiter);
	pause_ms(200);
}

/* Wait for four slots by HOW: three events do not end the wait, the fourth one does. */
static void wakes_by_count(int how, const char *name)
{
	struct ring ring = ring_open(64);
	struct waiter waiter;
	char text[80];
	int early;

	subscribe(&ring, SUB_EVENTS, 0, 1, 1 << INTR1);
	ring.user->wake = 3;
	waiter_start(&waiter, &ring, how, 4);
	request(INTR1, 0, 3);
	pause_ms(300);
	early = __atomic_load_n(&waiter.ended, __ATOMIC_SEQ_CST);
	request(INTR1, 3, 1);
	pthread_join(waiter.thread, NULL);
	snprintf(text, sizeof(text), "%s: not woken by three of four records", name);
	is(!early, text);
	snprintf(text, sizeof(text), "%s: woken by the fourth record", name);
	gives(0, waiter.ret, text);
	clear(INTR1);
	ring_close(&ring);
}

/* Wait for 60 slots or 400 ms by HOW: one event ends the wait after that time. */
static void wakes_by_time(int how, const char *name)
{
	struct ring ring = ring_open(64);
	struct waiter waiter;
	uint64_t begin;
	char text[80];

	subscribe(&ring, SUB_EVENTS, 0, 1, 1 << INTR1);
	ring.user->wake = 59;
	ring.user->wake_us = 400000;
	waiter_start(&waiter, &ring, how, 60);
	begin = now_ms();
	request(INTR1, 0, 1);
	pthread_join(waiter.thread, NULL);
	snprintf(text, sizeof(text), "%s: woken by time: after %d ms", name, (int)(waiter.ms - begin));
	is(!waiter.ret && waiter.ms - begin >= 390 && waiter.ms - begin < 15000, text);
	clear(INTR1);
	ring_close(&ring);
}

static void polls(void)
{
	struct ring ring = ring_open(64);
	struct pollfd polled = { .fd = ring.fd, .events = POLLIN | POLLOUT };

	subscribe(&ring, SUB_EVENTS, 0, 1, 1 << INTR1);
	counts(0, poll(&polled, 1, 0), "poll: an empty ring");
	request(INTR1, 0, 66);
	ring.user->wake = 1000;
	is(poll(&polled, 1, 0) == 1 && polled.revents == POLLIN, "poll: a full ring");
	drain(&ring);
	ring.user->wake = ring.user->head - 1;
	is(poll(&polled, 1, 0) == 1 && unread(&ring) == 1, "poll: puts the report of lost records into the ring");
	clear(INTR1);
	ring_close(&ring);
}

static void reads(void)
{
	struct ring ring = ring_open(64);
	struct record records[8];
	struct ring_args args;
	struct waiter waiter;
	int i, good, nonblock;

	subscribe(&ring, SUB_EVENTS, 0, 1, 1 << INTR1);
	request(INTR1, 0, 5);
	gives(EINVAL, read(ring.fd, records, 63) < 0 ? errno : 0, "read: less than a record");
	gives(EFAULT, read(ring.fd, bad_address, 64) < 0 ? errno : 0, "read: an invalid address");
	counts(192, read(ring.fd, records, 255), "read: as many whole records as fit");
	for (i = 0, good = 1; i < 3; i++)
		good = good && records[i].type == REC_EVENT && records[i].what[1] == (uint32_t)i;
	is(good && ring.user->head == 3, "read: records in order, which are released");
	counts(128, read(ring.fd, records, sizeof(records)), "read: the rest");
	waiter_start(&waiter, &ring, BY_READ, 0);
	good = !waiter.ended;
	request(INTR1, 5, 1);
	pthread_join(waiter.thread, NULL);
	is(good && !waiter.ret, "read: waits for a record");
	nonblock = ring_make(fd, 64, NONBLOCK, &args);
	gives(EAGAIN, read(nonblock, records, sizeof(records)) < 0 ? errno : 0, "read: an empty ring without blocking");
	gives(EAGAIN, call(nonblock, ENTER, &(struct enter){ .records = 1, .timeout_ns = FOREVER }),
	      "enter: an empty ring without blocking");
	gives(EINVAL, write(nonblock, records, 64) < 0 ? errno : 0, "write: to a ring");
	close(nonblock);
	clear(INTR1);
	ring_close(&ring);
}

/* Parent and child read one ring. Return the number of records that the child got. */
static void shared_by_two_processes(void)
{
	struct ring ring = ring_open(2048);
	struct record record;
	int status, n = 0, pipes[2];
	uint32_t child = 0;
	pid_t pid;

	subscribe(&ring, SUB_EVENTS, 0, 1, 1 << INTR1);
	fcntl(ring.fd, F_SETFL, O_NONBLOCK);
	if (pipe(pipes))
		err(2, "pipe");
	request(INTR1, 0, 1000);
	pid = fork();
	if (!pid) {
		while (read(ring.fd, &record, sizeof(record)) == sizeof(record))
			child++;
		_exit(write(pipes[1], &child, 4) != 4);
	}
	while (read(ring.fd, &record, sizeof(record)) == sizeof(record))
		n++;
	if (waitpid(pid, &status, 0) != pid || status || read(pipes[0], &child, 4) != 4)
		errx(2, "child");
	counts(1000, n + child, "fork: parent and child get each record once");
	clear(INTR1);
	ring_close(&ring);
}

static void ends_waits_early(void)
{
	struct ring ring = ring_open(64);
	uint64_t begin = now_ms();
	struct waiter waiter;

	gives(ETIMEDOUT, enter(&ring, 1, 0), "enter: an empty ring without time");
	gives(ETIMEDOUT, enter(&ring, 1, 300), "enter: an empty ring for 300 ms");
	is(now_ms() - begin >= 300 && now_ms() - begin < 15000, "enter: in time");
	gives(0, enter(&ring, 0, FOREVER), "enter: without a wait");
	waiter_start(&waiter, &ring, BY_ENTER, 1);
	pthread_kill(waiter.thread, SIGUSR1);
	pthread_join(waiter.thread, NULL);
	gives(EINTR, waiter.ret, "enter: a signal");
	ring_close(&ring);
}

static void handler(int number)
{
	(void)number;
}

static int do_waits(char **arg)
{
	static const char * const names[] = { "enter", "poll", "epoll" };
	const struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };
	int how;

	(void)arg;
	sigaction(SIGUSR1, &action, NULL);
	for (how = BY_ENTER; how <= BY_EPOLL; how++) {
		wakes_by_count(how, names[how]);
		wakes_by_time(how, names[how]);
	}
	polls();
	reads();
	shared_by_two_processes();
	ends_waits_early();
	return 0;
}

/* ---- peers ---- */

static int next_link(const struct ring *ring, struct record *record)
{
	do {
		if (!next(ring, record) && (enter(ring, 1, 60000) || !next(ring, record)))
			return 0;
	} while (record->type != REC_LINK);
	return 1;
}

static int is_ready(const struct record *record)
{
	return record->what[0] == 2 && record->what[1] == (PRESENT | SYNCED) && !record->what[2];
}

static int do_links(char **arg)
{
	struct ring ring = ring_open(64), full = ring_open(64);
	struct record record = { .type = REC_PAD };
	int down = 0, synced = 1, bad = 0;

	/* A ring that is full keeps only the newest state of the peer. */
	subscribe(&full, SUB_EVENTS, 0, 1, 1 << INTR1);
	gives(0, subscribe(&ring, SUB_LINKS, 0, 4, 0), "links: subscribed");
	is(next(&ring, &record) && record.type == REC_LINK && record.node == 1 && record.cookie == 4 &&
	   !record.flags && is_ready(&record) && is_empty(&ring), "links: the present state of the only peer");
	request(INTR1, 0, 64);
	gives(0, subscribe(&full, SUB_LINKS, 0, 5, 0), "links: subscribed by a full ring");
	counts(MORE, flags(&full), "links: flag of a full ring");
	close(open(arg[0], O_CREAT | O_WRONLY, 0600));
	while (next_link(&ring, &record) && !(down && is_ready(&record))) {
		down |= record.what[0] == 0;
		if (record.what[0] == 0)
			synced = record.what[1] & SYNCED;
		bad += record.node != 1 || !(record.what[1] & PRESENT) || record.flags;
	}
	counts(0, bad, "links: records about another peer, or with other flags");
	is(down && !synced, "links: the peer was down");
	is(is_ready(&record), "links: the peer is ready again");
	drain(&full);
	gives(0, enter(&full, 1, 1000), "links: the full ring gets a record when it has room");
	is(next(&full, &record) && record.type == REC_LINK && record.flags == MERGED && record.cookie == 5 &&
	   is_ready(&record) && is_empty(&full) && !flags(&full), "links: the newest state in the full ring");
	is(full.kernel->merged >= 2 && !full.kernel->lost, "links: merged changes are counted");
	clear(INTR1);
	ring_close(&ring);
	ring_close(&full);
	return 0;
}

/* ---- removal of the device ---- */

static int do_gone(char **arg)
{
	struct ring ring = ring_open(64), other = ring_open(64);
	struct pollfd polled = { .fd = other.fd, .events = POLLIN };
	struct waiter waiter;
	struct record record;
	struct ring_args args;

	subscribe(&ring, SUB_EVENTS, SUB_TAKE, 3, 1 << INTR1);
	subscribe(&other, SUB_LINKS, 0, 4, 0);
	call(other.fd, SUBSCRIBE, &(struct subscribe){ .what = SUB_RANGE, .length = 8192 });
	waiter_start(&waiter, &ring, BY_ENTER, 2);
	close(open(arg[0], O_CREAT | O_WRONLY, 0600));
	pthread_join(waiter.thread, NULL);
	gives(0, waiter.ret, "gone: a wait ends, because a record is unread");
	is(next(&ring, &record) && record.flags == CANCELLED && record.what[0] == INTR1,
	   "gone: a taken type is cancelled");
	is(flags(&ring) & GONE, "gone: flag of the ring");
	gives(ENODEV, enter(&ring, 1, FOREVER), "gone: a wait when all records are released");
	gives(ENODEV, read(ring.fd, &record, 64) < 0 ? errno : 0, "gone: read() when all records are released");
	is(poll(&polled, 1, 0) == 1 && polled.revents == (POLLIN | POLLERR | POLLHUP), "gone: poll()");
	while (!access(path, F_OK))
		pause_ms(20);
	gives(ENODEV, subscribe(&ring, SUB_EVENTS, 0, 3, 1), "gone: subscribed");
	gives(ENODEV, ring_make(fd, 64, 0, &args) < 0 ? errno : 0, "gone: a new ring");
	counts(64, read(other.fd, &record, 64), "gone: a record that was unread can be read");
	is(record.type == REC_LINK, "gone: a record about a peer");
	ring_close(&ring);
	ring_close(&other);
	return 0;
}

/* ---- failing allocations ---- */

/* Execute a batch that writes four bytes at 4096, and wait until the peer has it. Return whether it succeeds. */
static int use_batch(void)
{
	uint64_t op[8] = { OP_INLINE | 4096ull << 32, 4 };
	uint64_t batch[6] = { (uintptr_t)op, 1 | (uint64_t)OP_ACKED << 32, 1000 };

	return !call(fd, BATCH, batch);
}

/* Submit a batch, and wait for its record. Return whether the peer has applied it. */
static int use_entry(const struct ring *ring)
{
	struct enter args = { .submit = 1 };
	const struct record *record;
	uint32_t at, tries;

	*(struct op *)((char *)ring->user + 4096) = word_of(4096, 2);
	((struct op *)((char *)ring->user + 4096))->flags = OP_ACKED;
	__atomic_store_n(&ring->user->submit_tail, 1, __ATOMIC_RELEASE);
	if (call(ring->fd, ENTER, &args) || args.submit != 1)
		return 0;
	for (tries = 0; tries < 10000; tries++) {
		for (at = 0; at < __atomic_load_n(&ring->kernel->tail, __ATOMIC_ACQUIRE); at += record->slots) {
			record = &ring->records[at];
			if (record->type == REC_DONE)
				return !record->what[0];
		}
		pause_ms(1);
	}
	return 0;
}

/* Create, map, subscribe and close a ring, and execute batches. Return whether every call succeeds. */
static int use_ring(void)
{
	struct ring ring = { .args = { .size = 64, .slots = 1024, .submits = 8 } };
	void *kernel, *user;
	int good;

	ring.fd = ioctl(fd, RING, &ring.args);
	if (ring.fd < 0)
		return 0;
	kernel = mmap(NULL, ring.args.kernel_len, PROT_READ, MAP_SHARED, ring.fd, KERNEL_AT);
	user = mmap(NULL, ring.args.user_len, PROT_READ | PROT_WRITE, MAP_SHARED, ring.fd, 0);
	ring.kernel = kernel;
	ring.user = user;
	if (kernel != MAP_FAILED)
		ring.records = (void *)((char *)kernel + ring.kernel->records_at);
	good = kernel != MAP_FAILED && user != MAP_FAILED && use_entry(&ring) &&
	       !subscribe(&ring, SUB_LINKS, 0, 1, 0) &&
	       !subscribe(&ring, SUB_EVENTS, SUB_TAKE, 2, 1 << INTR1) &&
	       !subscribe(&ring, SUB_EVENTS, 0, 3, 1 << INTR1) &&
	       !call(ring.fd, SUBSCRIBE, &(struct subscribe){ .what = SUB_RANGE, .length = 131072 }) &&
	       !call(ring.fd, SUBSCRIBE, &(struct subscribe){ .what = SUB_TAP, .flags = SUB_ALL, .kinds = 0x1FF }) &&
	       !enter(&ring, 1, 1000);
	if (kernel != MAP_FAILED)
		munmap(kernel, ring.args.kernel_len);
	if (user != MAP_FAILED)
		munmap(user, ring.args.user_len);
	close(ring.fd);
	return good && use_batch();
}

static int do_failing(char **arg)
{
	int nth = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC), n, good, left = 0, failures = 0;
	char text[16];
	ssize_t got;

	(void)arg;
	for (n = 1; n < 1000 && !left; n++) {
		got = snprintf(text, sizeof(text), "%d", n);
		if (pwrite(nth, text, got, 0) != got)
			err(2, "fail-nth");
		good = use_ring();
		got = pread(nth, text, sizeof(text) - 1, 0);
		if (pwrite(nth, "0", 1, 0) != 1 || got <= 0)
			err(2, "fail-nth");
		text[got] = 0;
		left = atoi(text);
		failures += !left && !good;
	}
	printf("%d allocations, %d of them needed; success without failures: %d\n", n - 2, failures, good);
	return !good || !left || failures < 5;
}

static const struct {
	const char *name;
	int args;
	int (*run)(char **arg);
} commands[] = {
	{ "serve", 0, do_serve }, { "stop", 0, do_stop }, { "events", 0, do_events }, { "waits", 0, do_waits },
	{ "links", 1, do_links }, { "gone", 1, do_gone }, { "failing", 0, do_failing },
};

int main(int argc, char **argv)
{
	size_t i;

	if (argc < 3)
		errx(2, "ring DEVICE COMMAND ARGUMENT...");
	device_open(argv[1]);
	for (i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		if (!strcmp(argv[2], commands[i].name) && argc - 3 == commands[i].args)
			return commands[i].run(argv + 3);
	errx(2, "%s: no such command, or not its arguments", argv[2]);
}
