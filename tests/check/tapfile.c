// SPDX-License-Identifier: GPL-2.0
/*
 * tapfile [N [SEED]]: write a file with a record of each type, and a message of each type, by the functions of vrfmctl.
 * Write all records N times, once by default. With SEED, the records have random content. Author: The krdma developers.
 */
#include <stdlib.h>
#include <string.h>

#include "../../tools/vrfmctl/stream.h"

#define NODE 2
#define PEER 1
#define REAL_NS 1700000000000000000LL

static uint64_t seed;

struct packet { struct vrfm_record record; uint8_t payload[256]; };

static struct packet packet_of(uint16_t type, uint16_t flags, uint32_t length)
{
	static uint64_t time_ns;

	return (struct packet){ .record = { .type = type, .flags = flags, .slots = 1 + (length + 63) / 64,
					    .node = NODE, .length = length, .serial = 7, .time_ns = ++time_ns } };
}

static uint32_t any(void)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return seed >> 33;
}

/* Change half of the content. The type and the number of payload bytes stay. */
static void spoil(struct packet *packet)
{
	const size_t from = offsetof(struct vrfm_record, raw);
	uint8_t *bytes = (uint8_t *)packet;
	size_t i;

	for (i = from; i < sizeof(*packet); i++)
		if (any() % 2)
			bytes[i] = any() % 4 ? any() % 16 : any();
	packet->record.flags ^= any() % 32;
	packet->record.offset = any();
}

static void put(struct packet *packet)
{
	if (seed)
		spoil(packet);
	ctl_pcapng_record(stdout, &packet->record, ctl_payload(&packet->record, VRFM_RING_SNAP_MAX), REAL_NS);
}

static void put_write(uint16_t type)
{
	struct packet packet = packet_of(type, VRFM_REC_OWN, 5);

	packet.record.offset = 0x1234;
	packet.record.placed.peer = type == VRFM_REC_PLACED ? PEER : 0;
	memcpy(packet.payload, "bytes", 5);
	put(&packet);
}

static void put_event(uint16_t type, uint32_t to)
{
	struct packet packet = packet_of(type, 0, 0);

	packet.record.event.event = 3;
	packet.record.event.data = 4711;
	packet.record.event.to = to;
	put(&packet);
}

/* A message with a body of words. A STAGE has no payload, because vrfm does not show it. */
static void put_message(uint16_t type, uint8_t kind, uint16_t runs, const uint32_t *words, uint32_t n)
{
	struct packet packet = packet_of(type, kind == 8 ? VRFM_REC_CUT : 0, n * 4);

	if (kind == 8)
		packet.record.slots = 1;
	packet.record.message.type = kind;
	packet.record.message.flags = 3;
	packet.record.message.count = runs;
	packet.record.message.peer = PEER;
	packet.record.message.sequence = 100 + kind;
	packet.record.message.applied = 50;
	memcpy(packet.payload, words, n * 4);
	put(&packet);
}

static void put_messages(void)
{
	static const uint32_t runs[] = { 0x40, 8, 1, 2, 0x80, 3, 5, 0 }, event[] = { 2, 77, 9, 0 };
	static const uint32_t both[] = { 0x40, 3, 5, 0, 1, 78, 10, 0 };
	static const uint32_t note[] = { 5 | 9 << 8, 3, 4, 0, 6, 0 }, pull[] = { 16, 2, 1, 2, 3, 4 };
	static const uint32_t stage[] = { 1, 0, 8, 0, 0xFFFFFFFF, 0 };

	put_message(VRFM_REC_SENT, 1, 0, runs, 0);
	put_message(VRFM_REC_RECEIVED, 2, 2, runs, 8);
	put_message(VRFM_REC_SENT, 3, 0, event, 4);
	put_message(VRFM_REC_SENT, 3, 1, both, 8);
	put_message(VRFM_REC_RECEIVED, 4, 0, runs, 0);
	put_message(VRFM_REC_SENT, 5, 0, note, 6);
	put_message(VRFM_REC_RECEIVED, 6, 0, pull, 6);
	put_message(VRFM_REC_SENT, 7, 1, runs, 4);
	put_message(VRFM_REC_RECEIVED, 8, 0, stage, 6);
}

static void put_all(void)
{
	struct packet packet;
	uint16_t type;

	for (type = VRFM_REC_STORED; type <= VRFM_REC_PLACED; type++)
		put_write(type);
	put_messages();
	put_event(VRFM_REC_RAISED, 0);
	put_event(VRFM_REC_TOLD, VRFM_REC_NO_NODE);
	packet = packet_of(VRFM_REC_HOLE, 0, 0);
	packet.record.length = 1 << 20;
	put(&packet);
	packet = packet_of(VRFM_REC_LOST, 0, 0);
	packet.record.lost.count = 12;
	put(&packet);
}

int main(int argc, char **argv)
{
	const struct ctl_source source = { .name = "rfm2g0", .network = 1, .node = NODE, .size = 1 << 20,
					   .lineage = 0x123456789ABCDEFULL };
	const unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 0) : 1;
	unsigned long i;

	seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 0;
	ctl_pcapng_begin(stdout, &source);
	for (i = 0; i < rounds; i++)
		put_all();
	ctl_pcapng_end(stdout, 27 * rounds, 12 * rounds, REAL_NS + 1000);
	return fflush(stdout) ? 1 : 0;
}
