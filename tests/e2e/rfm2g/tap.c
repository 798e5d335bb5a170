// SPDX-License-Identifier: GPL-2.0
/*
 * tap DEVICE COMMAND ARGUMENT...: taps of a device. Print a line for each case. Author: The krdma developers.
 *
 *   taps          tap the device on node 2; "ring serve" must run on node 1
 *   image FILE    tap a device while it loads an image: create FILE when ready, and wait until the word at LOADED has
 *                 arrived
 */
#define _GNU_SOURCE
#include "ring.h"

#include <grp.h>
#include <sys/wait.h>

#include "card.h"

#define SEND_EVENT CARD_BITS(0x4018EB16, 0x4014EB16)
#define FLUSH_QUEUE 0x4001EB1D
#define SET_TRANSMIT_DISABLE 0x4001EB39
#define PEERS 0xC030EA04
#define TAP_GID "/sys/module/vrfm/parameters/tap_gid"
#define EVERY 0x1FF
#define KIND(type) (1u << ((type) - STORED))
/* A part of the memory outside of the words of the server, a large block, and the word that is loaded. */
#define PART 8192
#define BLOCK 65536
#define AT 262144
/* Offset for mmap() of a manual mapping. */
#define MANUAL_AT 0x10000000000ull
#define LOADED 524288
#define LOADED_VALUE 4711
/* Types of messages, and bytes of their header. */
enum { ACK = 1, UPDATE, STAGE = 8, HEAD = 40 };

struct peer {
	uint32_t node, state, flags, lag;
	uint64_t missed, since, links, messages, received, bytes_sent, bytes_received, rest[12];
};

struct peers { uint64_t peers; uint32_t size, count, flags, image; uint64_t loaded, memory, lineage; };

static uint8_t block[2 * BLOCK];

static int tap(const struct ring *ring, uint32_t flags, uint32_t kinds, uint32_t offset, uint32_t length)
{
	return call(ring->fd, SUBSCRIBE, &(struct subscribe){ .what = SUB_TAP, .flags = flags, .cookie = 7,
							      .offset = offset, .length = length, .kinds = kinds });
}

/* Wait for the next record, and point to it. It is valid until the next call. Return NULL if there is none. */
static const struct record *await(const struct ring *ring)
{
	static uint8_t copy[2 * BLOCK];
	const struct record *record;
	uint32_t head;

	while (!enter(ring, 1, 60000)) {
		head = ring->user->head;
		record = &ring->records[head % ring->args.slots];
		memcpy(copy, record, record->slots * 64);
		__atomic_store_n(&ring->user->head, head + record->slots, __ATOMIC_RELEASE);
		if (record->type != REC_PAD)
			return (void *)copy;
	}
	return NULL;
}

static int is_empty(const struct ring *ring)
{
	return !unread(ring);
}

static void store(uint32_t offset, const void *bytes, size_t len)
{
	if (pwrite(fd, bytes, len, offset) != (ssize_t)len)
		err(2, "pwrite");
}

/* One case: the next record is about these bytes, and has the first SNAP of them. */
static void expect_bytes(const struct ring *ring, uint32_t type, uint32_t node, uint32_t offset, const void *bytes,
			 uint32_t len, uint32_t snap, const char *text)
{
	const struct record *record = await(ring);
	uint32_t flags = (node == 2 ? OWN : 0) | (snap < len ? CUT : 0);

	is(record && record->type == type && record->flags == flags && record->node == node && record->serial &&
	   record->offset == offset && record->length == len && record->cookie == 7 && record->time_ns &&
	   record->slots == 1 + (snap + 63) / 64 && !memcmp(record + 1, bytes, snap), text);
	if (record && (record->type != type || record->offset != offset || record->length != len))
		printf("# type %u, flags %u, offset %u, length %u\n", record->type, record->flags, record->offset,
		       record->length);
}

static void records_own_writes(void)
{
	volatile uint64_t *map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, PART);
	struct ring ring = ring_open_snap(8192, BLOCK), little = ring_open_snap(64, 100);
	const uint64_t words = 4711 | 4712ull << 32;

	if (map == MAP_FAILED)
		err(2, "mmap");
	gives(0, tap(&ring, 0, KIND(STORED) | KIND(FOUND), 0, 0), "own: a tap of the whole memory");
	gives(0, tap(&little, 0, KIND(STORED), PART, 4096), "own: a tap of a part");
	store(PART + 5, "twelve bytes", 12);
	expect_bytes(&ring, STORED, 2, PART + 5, "twelve bytes", 12, 12, "own: bytes of a call");
	expect_bytes(&little, STORED, 2, PART + 5, "twelve bytes", 12, 12, "own: bytes of a call into the part");
	store(PART + 4096, "x", 1);
	expect_bytes(&ring, STORED, 2, PART + 4096, "x", 1, 1, "own: a byte beside the part");
	store(PART, block, 101);
	expect_bytes(&little, STORED, 2, PART, block, 101, 100,
		     "own: a payload that is cut, and no record of the byte beside the part");
	expect_bytes(&ring, STORED, 2, PART, block, 101, 101, "own: a payload that is not cut");
	/* The scanner may find each store alone, but not a part of one. */
	map[10] = words;
	map[45] = words;
	if (fsync(fd))
		err(2, "fsync");
	expect_bytes(&ring, FOUND, 2, PART + 80, &words, 8, 8, "own: stores into a mapping");
	expect_bytes(&ring, FOUND, 2, PART + 360, &words, 8, 8, "own: another run of the same page");
	ioctl(fd, SET_TRANSMIT_DISABLE, 1);
	store(PART, "dark", 4);
	ioctl(fd, SET_TRANSMIT_DISABLE, 0);
	expect_bytes(&ring, STORED, 2, PART, "dark", 4, 4, "own: bytes of a call while the transmitter is off");
	gives(0, subscribe(&ring, 0, SUB_REMOVE, 7, 0), "own: the tap is removed");
	store(PART, "y", 1);
	is(is_empty(&ring) && !ring.kernel->lost, "own: no record after the removal");
	munmap((void *)map, 4096);
	ring_close(&ring);
	ring_close(&little);
}

/* Taps of several rings select types independently of each other. */
static void records_beside_other_taps(void)
{
	struct ring ring = ring_open_snap(64, 64), other = ring_open(64);

	gives(0, tap(&ring, 0, KIND(STORED), 0, 0), "beside: a tap of stores");
	gives(0, tap(&other, 0, KIND(RAISED), 0, 0), "beside: a later tap of events");
	store(PART, "a", 1);
	expect_bytes(&ring, STORED, 2, PART, "a", 1, 1, "beside: a store while a later tap wants events");
	is(is_empty(&other), "beside: no record for the tap of events");
	gives(0, tap(&other, 0, KIND(STORED), 0, 0), "beside: the later ring also taps stores");
	store(PART, "b", 1);
	expect_bytes(&other, STORED, 2, PART, "b", 1, 0, "beside: a store after the change, in the later ring");
	expect_bytes(&ring, STORED, 2, PART, "b", 1, 1, "beside: a store after the change, in the first ring");
	gives(0, subscribe(&ring, 0, SUB_REMOVE, 7, 0), "beside: the first tap is removed");
	store(PART, "c", 1);
	is(is_empty(&ring), "beside: no record for the removed tap");
	expect_bytes(&other, STORED, 2, PART, "c", 1, 0, "beside: a store after the removal, in the later ring");
	ring_close(&ring);
	ring_close(&other);
}

/* Each record has 64 KiB at most, so no byte of a long write is missing. */
static void records_long_writes(void)
{
	struct ring ring = ring_open_snap(8192, BLOCK);
	const struct record *record = NULL;
	uint32_t at = AT, good = 1;

	tap(&ring, 0, KIND(STORED), 0, 0);
	store(AT, block, sizeof(block));
	while (at < AT + sizeof(block) && good && (record = await(&ring))) {
		good = record->type == STORED && record->offset == at && record->length <= BLOCK &&
		       record->flags == OWN && !memcmp(record + 1, block + at - AT, record->length);
		at += record->length;
	}
	is(good && at == AT + sizeof(block) && is_empty(&ring), "long: all bytes of a write of 128 KiB");
	ring_close(&ring);
}

static void records_batches(void)
{
	struct { uint8_t op, flags; uint16_t node; uint32_t offset, length, event; uint64_t source, cookie;
		 uint8_t data[32]; } ops[4] = {
		{ .op = OP_INLINE, .flags = OP_MORE, .offset = PART, .length = 3, .data = "abc" },
		{ .op = OP_EVENT, .flags = OP_MORE, .node = 1, .event = INTR4, .data = { 9 } },
		{ .op = OP_INLINE, .flags = OP_MORE, .offset = PART + 8, .length = 4, .data = "defg" },
		{ .op = OP_PUBLISH, .offset = PART + 17, .length = 5 },
	};
	struct { uint64_t ops; uint32_t count, flags, rest[8]; } batch = { (uintptr_t)ops, 4, 0, { 0 } };
	char *manual = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, MANUAL_AT + PART);
	struct ring ring = ring_open_snap(1024, 64);
	const struct record *record;

	if (manual == MAP_FAILED)
		err(2, "mmap");
	memcpy(manual + 17, "stores", 6);

	tap(&ring, 0, KIND(STORED) | KIND(TOLD), 0, 0);
	gives(0, call(fd, BATCH, &batch), "batch: executed");
	expect_bytes(&ring, STORED, 2, PART, "abc", 3, 3, "batch: the first write");
	record = await(&ring);
	is(record && record->type == TOLD && record->node == 2 && record->what[0] == INTR4 && record->what[1] == 9 &&
	   record->what[2] == 1 && record->serial, "batch: the event in its place");
	expect_bytes(&ring, STORED, 2, PART + 8, "defg", 4, 4, "batch: the second write");
	expect_bytes(&ring, STORED, 2, PART + 17, "store", 5, 5, "batch: published bytes");
	munmap(manual, 4096);
	ring_close(&ring);
}

static void records_writes_of_a_peer(void)
{
	struct subscribe other = { .what = SUB_TAP, .kinds = EVERY & ~KIND(RAISED), .nodes[1] = 2 };
	struct ring ring = ring_open_snap(8192, BLOCK), none = ring_open(64);
	char bytes[300];
	uint32_t i;

	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = (PART + 3 + i) % 26 + 'a';
	gives(0, tap(&ring, SUB_ALL, KIND(APPLIED), PART, BLOCK), "peer: a tap of writes that peers send");
	gives(0, call(none.fd, SUBSCRIBE, &other), "peer: a tap of another node");
	request(WRITE, PART + 3, sizeof(bytes));
	expect_bytes(&ring, APPLIED, 1, PART + 3, bytes, sizeof(bytes), sizeof(bytes), "peer: bytes of its write");
	is(is_empty(&none) && !none.kernel->lost, "peer: no record of a node that is not selected");
	ring_close(&ring);
	ring_close(&none);
}

/* Node 1 writes a large block directly, unless the tap wants all writes. */
static void records_large_blocks(void)
{
	struct ring ring = ring_open_snap(8192, BLOCK);
	const struct record *record = NULL;
	uint32_t at, good = 1;

	request(WRITE, LOADED, BLOCK);
	gives(0, tap(&ring, SUB_ALL, KIND(APPLIED), LOADED, BLOCK), "block: a tap of all writes");
	request(WRITE, LOADED, BLOCK);
	for (at = LOADED; at < LOADED + BLOCK && good && (record = await(&ring)); at += record->length)
		good = record->type == APPLIED && record->offset == at && record->node == 1 &&
		       *(char *)(record + 1) == (char)(at % 26 + 'a');
	is(good && at == LOADED + BLOCK, "block: all bytes of a large block");
	ring_close(&ring);
}

static void records_events(void)
{
	struct card_event event = { .event = INTR2, .node = 1, .data = 77 };
	struct ring ring = ring_open(64);
	const struct record *record;

	tap(&ring, 0, KIND(RAISED) | KIND(TOLD), 0, 0);
	request(INTR1, 30, 1);
	record = await(&ring);
	is(record && record->type == RAISED && record->node == 1 && record->what[0] == INTR1 && record->what[1] == 30 &&
	   record->slots == 1, "events: one of a peer");
	if (call(fd, SEND_EVENT, &event))
		err(2, "event");
	record = await(&ring);
	is(record && record->type == TOLD && record->node == 2 && record->what[0] == INTR2 && record->what[1] == 77 &&
	   record->what[2] == 1 && record->serial, "events: one that this node sends");
	ioctl(fd, FLUSH_QUEUE, INTR1);
	ring_close(&ring);
}

/* ---- messages ---- */

static struct peer counters(void)
{
	struct peer peer = { 0 };
	struct peers args = { .peers = (uintptr_t)&peer, .size = sizeof(peer), .count = 1 };

	if (call(fd, PEERS, &args))
		err(2, "VRFM_PEERS");
	return peer;
}

static int same(const struct peer *a, const struct peer *b)
{
	return a->messages == b->messages && a->received == b->received && a->bytes_sent == b->bytes_sent &&
	       a->bytes_received == b->bytes_received;
}

/* Begin or end a tap of messages while there is no message. Return the counters at this time. */
static struct peer quietly(const struct ring *ring, int begin)
{
	struct peer before, after;
	int i;

	for (i = 0; i < 100; i++) {
		pause_ms(100);
		before = counters();
		if (begin ? tap(ring, 0, KIND(SENT) | KIND(RECEIVED), 0, 0) : subscribe(ring, 0, SUB_REMOVE, 7, 0))
			errx(2, "subscription");
		after = counters();
		if (!begin || same(&before, &after))
			return after;
		subscribe(ring, 0, SUB_REMOVE, 7, 0);
		drain(ring);
	}
	errx(2, "the link is never quiet");
}

/* Add a record of a message to counters. Return false if it is invalid. */
static int add_message(struct peer *sum, const struct record *record)
{
	uint32_t type = record->what[0] & 0xFF;

	if (record->what[1] != 1 || record->node != (record->type == SENT ? 2 : 1) || type < ACK || type > STAGE)
		return 0;
	if (record->type == SENT) {
		sum->messages += type != ACK;
		sum->bytes_sent += HEAD + record->length;
	} else {
		sum->received += type != ACK;
		sum->bytes_received += HEAD + record->length;
	}
	return record->type == SENT || record->type == RECEIVED;
}

static void counts_messages(void)
{
	struct ring ring = ring_open(65536);
	const struct record *record;
	struct peer sum = quietly(&ring, 1), end;
	int i, good = 1;

	for (i = 0; i < 200; i++)
		store(PART + i * 8, block, 1000);
	request(INTR3, 0, 20);
	request(WRITE, PART, 50000);
	end = quietly(&ring, 0);
	while (!is_empty(&ring) && (record = await(&ring)))
		good = good && add_message(&sum, record);
	is(good, "messages: each record has a type, its sender and the peer");
	is(!ring.kernel->lost, "messages: no record is lost");
	counts(end.messages, sum.messages, "messages: records of sent messages as the device counts them");
	counts(end.received, sum.received, "messages: records of received messages as the device counts them");
	counts(end.bytes_sent, sum.bytes_sent, "messages: bytes in records of sent messages");
	counts(end.bytes_received, sum.bytes_received, "messages: bytes in records of received messages");
	ioctl(fd, FLUSH_QUEUE, INTR3);
	ring_close(&ring);
}

static void shows_bodies(void)
{
	struct ring ring = ring_open_snap(4096, 4096);
	const struct record *record;
	uint32_t run[2], found = 0;

	if (fsync(fd))
		err(2, "fsync");
	tap(&ring, 0, KIND(SENT), 0, 0);
	store(PART, "shown in a message", 18);
	while (!found && (record = await(&ring))) {
		memcpy(run, record + 1, 8);
		found = (record->what[0] & 0xFF) == UPDATE && run[0] == PART && run[1] == 18 &&
			!memcmp((char *)(record + 1) + 8, "shown in a message", 18);
	}
	is(found, "bodies: the run of a write in a sent message");
	ring_close(&ring);
}

/* A STAGE has keys. Another tap of all writes causes one. */
static void hides_keys(void)
{
	struct ring ring = ring_open_snap(4096, 4096), other = ring_open(64);
	const struct record *record;
	uint32_t found = 0;

	tap(&ring, 0, KIND(SENT), 0, 0);
	gives(0, tap(&other, SUB_ALL, KIND(HOLE), 0, 0), "keys: a tap of all writes");
	while (!found && (record = await(&ring)))
		found = (record->what[0] & 0xFF) == STAGE;
	is(found && record->slots == 1 && record->flags == CUT && record->length > 16,
	   "keys: the body of a STAGE is not shown");
	is(is_empty(&other), "keys: a tap of all writes has no peer that writes directly");
	ring_close(&ring);
	ring_close(&other);
}

static void records_direct_writes(void)
{
	struct ring ring = ring_open_snap(8192, BLOCK);
	const struct record *record;
	int i;

	tap(&ring, 0, KIND(PLACED) | KIND(HOLE), 0, 0);
	record = await(&ring);
	is(record && record->type == HOLE && record->node == 1 && !record->offset && record->length == 1048576 &&
	   record->slots == 1, "direct: a peer that may write directly");
	for (i = 0; i < 100 && is_empty(&ring); i++) {
		if (fsync(fd))
			err(2, "fsync");
		store(AT, block, BLOCK);
	}
	expect_bytes(&ring, PLACED, 2, AT, block, BLOCK, BLOCK, "direct: a block that this node writes directly");
	ring_close(&ring);
}

/* ---- overflow, permission ---- */

/* A tap that nobody reads does not stop the writer. Each record is delivered or counted. */
static void drops_what_does_not_fit(void)
{
	struct ring ring = ring_open_snap(64, 1024);
	uint32_t i, delivered = 0, good = 1;
	const struct record *record = NULL;
	uint64_t lost;

	tap(&ring, 0, KIND(STORED), 0, 0);
	for (i = 0; i < 1000; i++) {
		block[0] = i;
		store(PART, block, 1 + i % 700);
	}
	lost = ring.kernel->lost;
	is(lost > 900 && flags(&ring) == LOST, "overflow: records are dropped and counted");
	for (; tail(&ring) != ring.user->head; delivered++) {
		record = await(&ring);
		if (!record || record->type == REC_LOST)
			break;
		good = good && record->type == STORED && record->length == 1 + delivered % 700 &&
		       *(uint8_t *)(record + 1) == (uint8_t)delivered;
	}
	is(good, "overflow: the oldest records are kept");
	counts(1000, delivered + lost, "overflow: delivered and dropped records");
	is(record && record->type == REC_LOST && record->what[0] == lost,
	   "overflow: a record in the place of the dropped ones");
	store(PART, "z", 1);
	expect_bytes(&ring, STORED, 2, PART, "z", 1, 1, "overflow: a record after it");
	ring_close(&ring);
}

/* Tap as a user without capabilities, perhaps in a group. */
static int taps_as_user(gid_t group)
{
	struct ring ring = ring_open(64);
	pid_t pid = fork();
	int status;

	if (!pid) {
		if (setgroups(1, &group) || setgid(65534) || setuid(65534))
			_exit(255);
		_exit(tap(&ring, 0, EVERY, 0, 0));
	}
	waitpid(pid, &status, 0);
	ring_close(&ring);
	return WEXITSTATUS(status);
}

static void set_group(const char *group)
{
	FILE *file = fopen(TAP_GID, "w");

	if (!file || fputs(group, file) < 0 || fclose(file))
		err(2, TAP_GID);
}

static void checks_permission(void)
{
	gives(EPERM, taps_as_user(4711), "permission: a user without capability");
	set_group("4711");
	gives(0, taps_as_user(4711), "permission: a user in the group");
	gives(EPERM, taps_as_user(4712), "permission: a user outside the group");
	set_group("-1");
	gives(EPERM, taps_as_user(4711), "permission: a user in the former group");
}

static int do_taps(void)
{
	uint32_t i;

	for (i = 0; i < sizeof(block); i++)
		block[i] = i * 7 + i / 256;
	records_own_writes();
	records_beside_other_taps();
	records_long_writes();
	records_batches();
	records_writes_of_a_peer();
	records_large_blocks();
	records_events();
	counts_messages();
	shows_bodies();
	hides_keys();
	records_direct_writes();
	drops_what_does_not_fit();
	checks_permission();
	return 0;
}

static int do_image(const char *file)
{
	struct ring ring = ring_open_snap(65536, 4096);
	const struct record *record;
	uint32_t value = 0;

	tap(&ring, 0, KIND(APPLIED), 0, 0);
	close(open(file, O_CREAT, 0600));
	while (value != LOADED_VALUE && (record = await(&ring)))
		if (record->type == APPLIED && record->offset <= LOADED &&
		    LOADED + 4 <= record->offset + record->length && record->flags == FROM_IMAGE && record->node == 2)
			memcpy(&value, (char *)(record + 1) + LOADED - record->offset, 4);
	counts(LOADED_VALUE, value, "image: a word of an image that is loaded");
	is(!ring.kernel->lost, "image: no record is lost");
	ring_close(&ring);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		errx(2, "tap DEVICE COMMAND");
	device_open(argv[1]);
	if (!strcmp(argv[2], "taps"))
		return do_taps();
	if (!strcmp(argv[2], "image") && argc == 4)
		return do_image(argv[3]);
	errx(2, "unknown command %s", argv[2]);
}
