// SPDX-License-Identifier: GPL-2.0
/* Test the messages between nodes. */
#include <kunit/test.h>
#include <linux/prandom.h>
#include <linux/sizes.h>

#include "../../vrfm/proto.c"

#define MEMORY 65536
#define ROOM 1024
#define HEAD sizeof(struct vrfm_wire_head)

static const struct vrfm_hello me = {
	.node = 3, .to = 200, .network = 7, .size = MEMORY,
	.epoch = 0x1122334455667788,
};

static const struct vrfm_hello other = {
	.node = 200, .to = 3, .network = 7, .size = MEMORY, .epoch = 99,
};

static const struct vrfm_seen fresh = {
	.sequence = 41, .sent = 1000, .applied = 500, .size = MEMORY,
	.staged = 3, .told = 0x107, .answered = 5,
};

static void hello_round_trip_is_equal(struct kunit *test)
{
	struct vrfm_wire_hello wire;
	struct vrfm_hello got;
	u8 padded[56] = { };

	vrfm_hello_encode(&wire, &other);
	memcpy(padded, &wire, sizeof(wire));
	KUNIT_ASSERT_EQ(test, vrfm_hello_decode(padded, sizeof(padded), &me,
						&got), VRFM_REJECT_NONE);
	KUNIT_EXPECT_EQ(test, got.node, other.node);
	KUNIT_EXPECT_EQ(test, got.to, other.to);
	KUNIT_EXPECT_EQ(test, got.network, other.network);
	KUNIT_EXPECT_EQ(test, got.size, other.size);
	KUNIT_EXPECT_EQ(test, got.epoch, other.epoch);
}

static void hello_encodes_documented_bytes(struct kunit *test)
{
	static const u8 wanted[] = {
		'V', 'R', 'F', 'M', 4, 0, 3, 200, 7, 0, 0, 0, 16, 0, 0, 0,
		0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11,
	};
	struct vrfm_wire_hello wire;

	vrfm_hello_encode(&wire, &me);
	KUNIT_EXPECT_EQ(test, memcmp(&wire, wanted, sizeof(wanted)), 0);
}

static void hello_of_stranger_is_refused_with_reason(struct kunit *test)
{
	static const struct { u8 at; enum vrfm_reject why; } cases[] = {
		{ 0, VRFM_REJECT_MAGIC }, { 3, VRFM_REJECT_MAGIC },
		{ 4, VRFM_REJECT_VERSION }, { 5, VRFM_REJECT_VERSION },
		{ 7, VRFM_REJECT_UNKNOWN }, { 8, VRFM_REJECT_NETWORK },
		{ 11, VRFM_REJECT_NETWORK }, { 12, VRFM_REJECT_SIZE },
		{ 15, VRFM_REJECT_SIZE },
	};
	struct vrfm_wire_hello wire;
	struct vrfm_hello got;
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		vrfm_hello_encode(&wire, &other);
		((u8 *)&wire)[cases[i].at] ^= 0x40;
		KUNIT_EXPECT_EQ_MSG(test,
				    vrfm_hello_decode(&wire, sizeof(wire), &me,
						      &got),
				    cases[i].why, "byte %u", cases[i].at);
	}
	KUNIT_EXPECT_EQ(test, vrfm_hello_decode(&wire, sizeof(wire) - 1, &me,
						&got), VRFM_REJECT_MAGIC);
	vrfm_hello_encode(&wire, &me);
	KUNIT_EXPECT_EQ(test, vrfm_hello_decode(&wire, sizeof(wire), &me, &got),
			VRFM_REJECT_NODE);
}

static void reason_texts_are_complete(struct kunit *test)
{
	const char *unknown = vrfm_reject_text(1000);
	int why;

	for (why = VRFM_REJECT_NONE; why < VRFM_REJECTS; why++)
		KUNIT_EXPECT_STRNEQ(test, vrfm_reject_text(why), unknown);
	KUNIT_EXPECT_STREQ(test, vrfm_reject_text(VRFM_REJECTS), unknown);
}

static void reason_round_trip_is_equal(struct kunit *test)
{
	struct vrfm_wire_reject wire;
	u32 why;

	for (why = 0; why < VRFM_REJECTS + 2; why++) {
		vrfm_reject_encode(&wire, why);
		KUNIT_EXPECT_EQ(test, vrfm_reject_decode(&wire, sizeof(wire)),
				(enum vrfm_reject)min_t(u32, why, VRFM_REJECTS));
	}
	KUNIT_EXPECT_EQ(test, vrfm_reject_decode(&wire, sizeof(wire) - 1),
			VRFM_REJECT_NONE);
	wire.magic = 0;
	KUNIT_EXPECT_EQ(test, vrfm_reject_decode(&wire, sizeof(wire)),
			VRFM_REJECT_NONE);
}

static u32 end(struct vrfm_pack *pack, u8 type, u64 sequence, u64 applied)
{
	const struct vrfm_head head = {
		.type = type, .sequence = sequence, .applied = applied,
		.serial = 0x123456789abc, .flags = VRFM_WIRE_GRANT,
		.staged = 6,
	};

	return vrfm_pack_end(pack, &head);
}

/*
 * Make an update with runs of 3, 8 and 1 bytes. The last run is the last byte
 * of the memory.
 */
static u32 update(u8 *msg)
{
	struct vrfm_pack pack;

	vrfm_pack_begin(&pack, msg, ROOM);
	vrfm_pack_run(&pack, 5, "abc", 3);
	vrfm_pack_run(&pack, 8, "12345678", 8);
	vrfm_pack_run(&pack, MEMORY - 1, "z", 1);
	return end(&pack, VRFM_WIRE_UPDATE, 42, 600);
}

static u8 *room(struct kunit *test)
{
	u8 *msg = kunit_kzalloc(test, ROOM, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, msg);
	return msg;
}

static void update_round_trip_is_equal(struct kunit *test)
{
	static const struct { u32 offset; const char *bytes; } wanted[] = {
		{ 5, "abc" }, { 8, "12345678" }, { MEMORY - 1, "z" },
	};
	u8 *msg = room(test);
	u32 len = update(msg);
	const void *at = msg + HEAD;
	struct vrfm_head head;
	struct vrfm_run run;
	int i;

	KUNIT_ASSERT_EQ(test, vrfm_proto_check(msg, len, &fresh, &head), 0);
	KUNIT_EXPECT_EQ(test, head.type, VRFM_WIRE_UPDATE);
	KUNIT_EXPECT_EQ(test, head.flags, VRFM_WIRE_GRANT);
	KUNIT_EXPECT_EQ(test, head.count, 3);
	KUNIT_EXPECT_EQ(test, head.sequence, 42ULL);
	KUNIT_EXPECT_EQ(test, head.applied, 600ULL);
	KUNIT_EXPECT_EQ(test, head.serial, 0x123456789abcULL);
	KUNIT_EXPECT_EQ(test, head.staged, 6ULL);
	for (i = 0; i < 3; i++) {
		at = vrfm_proto_next_run(at, &run);
		KUNIT_EXPECT_EQ(test, run.offset, wanted[i].offset);
		KUNIT_ASSERT_EQ(test, run.len, (u32)strlen(wanted[i].bytes));
		KUNIT_EXPECT_EQ(test, memcmp(run.bytes, wanted[i].bytes,
					     run.len), 0);
	}
	KUNIT_EXPECT_PTR_EQ(test, at, (const void *)(msg + len));
}

static void update_with_other_length_is_refused(struct kunit *test)
{
	u8 *msg = room(test);
	u32 right = update(msg), len;
	struct vrfm_head head;

	for (len = 0; len < ROOM; len++)
		KUNIT_EXPECT_EQ(test, vrfm_proto_check(msg, len, &fresh, &head),
				len == right ? 0 : -EPROTO);
}

struct damage {
	const char *what;
	u16 at;
	u8 bytes[8];
	u8 len;
};

static void update_with_one_wrong_field_is_refused(struct kunit *test)
{
	static const struct damage cases[] = {
		{ "no type", 0, { 0 }, 1 },
		{ "an unknown type", 0, { VRFM_WIRE_TYPES }, 1 },
		{ "an ACK with a body", 0, { VRFM_WIRE_ACK }, 1 },
		{ "a PROBE with a body", 0, { VRFM_WIRE_PROBE }, 1 },
		{ "an EVENT of runs only", 0, { VRFM_WIRE_EVENT }, 1 },
		{ "an unknown flag", 1, { VRFM_WIRE_FLAGS + 1 }, 1 },
		{ "no run", 2, { 0, 0 }, 2 },
		{ "a run less", 2, { 2, 0 }, 2 },
		{ "a run more", 2, { 4, 0 }, 2 },
		{ "too many runs", 2, { 0xFF, 0xFF }, 2 },
		{ "a shorter body", 4, { 47, 0, 0, 0 }, 4 },
		{ "a longer body", 4, { 49, 0, 0, 0 }, 4 },
		{ "a huge body", 4, { 0xFF, 0xFF, 0xFF, 0xFF }, 4 },
		{ "the message before", 8, { 41 }, 1 },
		{ "a message left out", 8, { 43 }, 1 },
		{ "a sequence of another epoch", 15, { 1 }, 1 },
		{ "an acknowledgment taken back", 16, { 0xF3, 1 }, 2 },
		{ "an acknowledgment of an unsent message", 16, { 0xE9, 3 }, 2 },
		{ "an acknowledgment far ahead", 23, { 0xFF }, 1 },
		{ "an image of parts of words", 0, { VRFM_WIRE_IMAGE }, 1 },
		{ "a NOTE with runs", 0, { VRFM_WIRE_NOTE }, 1 },
		{ "a PULL with runs", 0, { VRFM_WIRE_PULL }, 1 },
		{ "a STAGE with runs", 0, { VRFM_WIRE_STAGE }, 1 },
		{ "an answer taken back", 32, { 4, 0 }, 2 },
		{ "an answer to an unsent STAGE", 32, { 8, 1 }, 2 },
		{ "an answer far ahead", 39, { 0x80 }, 1 },
		{ "a run behind the memory", 40, { 0, 0, 1, 0 }, 4 },
		{ "a run across the end", 40, { 0xFE, 0xFF, 0, 0 }, 4 },
		{ "a run that wraps", 40, { 0xFF, 0xFF, 0xFF, 0xFF }, 4 },
		{ "a run of 0 bytes", 44, { 0, 0, 0, 0 }, 4 },
		{ "a run behind the message", 44, { 0, 1, 0, 0 }, 4 },
		{ "a huge run", 44, { 0xFF, 0xFF, 0xFF, 0xFF }, 4 },
		{ "a run over the next one", 44, { 9, 0, 0, 0 }, 4 },
	};
	u8 *msg = room(test);
	struct vrfm_head head;
	u32 len;
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		len = update(msg);
		memcpy(msg + cases[i].at, cases[i].bytes, cases[i].len);
		KUNIT_EXPECT_EQ_MSG(test,
				    vrfm_proto_check(msg, len, &fresh, &head),
				    -EPROTO, "%s", cases[i].what);
	}
}

static void ack_accepts_same_to_last_sent(struct kunit *test)
{
	static const u64 right[] = { 500, 501, 1000 };
	u8 *msg = room(test);
	struct vrfm_head head;
	struct vrfm_pack pack;
	u32 len;
	int i;

	for (i = 0; i < ARRAY_SIZE(right); i++) {
		vrfm_pack_begin(&pack, msg, ROOM);
		len = end(&pack, VRFM_WIRE_ACK, 41, right[i]);
		KUNIT_EXPECT_EQ(test, len, (u32)HEAD);
		KUNIT_EXPECT_EQ(test, vrfm_proto_check(msg, len, &fresh, &head),
				0);
		KUNIT_EXPECT_EQ(test, head.applied, right[i]);
	}
}

/* An ACK has the number of the last message. A PROBE has the next number. */
static void ack_has_sequence_of_last_message(struct kunit *test)
{
	static const struct { u8 type; u64 sequence; int ret; } cases[] = {
		{ VRFM_WIRE_ACK, 40, -EPROTO }, { VRFM_WIRE_ACK, 41, 0 },
		{ VRFM_WIRE_ACK, 42, -EPROTO }, { VRFM_WIRE_PROBE, 42, 0 },
		{ VRFM_WIRE_PROBE, 41, -EPROTO },
	};
	u8 *msg = room(test);
	struct vrfm_head head;
	struct vrfm_pack pack;
	u32 len;
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		vrfm_pack_begin(&pack, msg, ROOM);
		len = end(&pack, cases[i].type, cases[i].sequence, 500);
		KUNIT_EXPECT_EQ(test, vrfm_proto_check(msg, len, &fresh, &head),
				cases[i].ret);
	}
}

static void event_round_trip_is_equal(struct kunit *test)
{
	u8 *msg = room(test);
	struct vrfm_head head;
	struct vrfm_pack pack;
	struct vrfm_wired_event event, back;
	u32 type, len;

	for (type = 0; type < 300; type++) {
		event = (struct vrfm_wired_event){
			.event = type, .data = 0xDEAD0000 + type,
			.number = 0x100000000 + type,
		};
		vrfm_pack_begin(&pack, msg, ROOM);
		vrfm_pack_event(&pack, &event);
		len = end(&pack, VRFM_WIRE_EVENT, 42, 500);
		KUNIT_EXPECT_EQ(test, vrfm_proto_check(msg, len, &fresh, &head),
				type <= RFM2G_EVENT_INTR4 ? 0 : -EPROTO);
		vrfm_proto_event(msg + HEAD, &back);
		KUNIT_EXPECT_EQ(test, memcmp(&event, &back, sizeof(back)), 0);
	}
}

static void event_follows_runs(struct kunit *test)
{
	const struct vrfm_wired_event event = {
		.event = RFM2G_EVENT_INTR1, .data = 5, .number = 6,
	};
	struct vrfm_wired_event back;
	u8 *msg = room(test);
	struct vrfm_head head;
	struct vrfm_pack pack;
	struct vrfm_run run;
	const void *at;
	u32 len, full, count;

	vrfm_pack_begin(&pack, msg, ROOM);
	vrfm_pack_run(&pack, 16, "abcdefgh", 8);
	vrfm_pack_run(&pack, 64, "ijk", 3);
	vrfm_pack_event(&pack, &event);
	full = end(&pack, VRFM_WIRE_EVENT, 42, 500);
	KUNIT_ASSERT_EQ(test, vrfm_proto_check(msg, full, &fresh, &head), 0);
	KUNIT_EXPECT_EQ(test, head.count, 2);
	at = vrfm_proto_next_run(msg + HEAD, &run);
	at = vrfm_proto_next_run(at, &run);
	KUNIT_EXPECT_EQ(test, run.offset, 64U);
	vrfm_proto_event(at, &back);
	KUNIT_EXPECT_EQ(test, memcmp(&event, &back, sizeof(back)), 0);
	/* The runs must end where the event begins. */
	for (count = 0; count < 8; count++) {
		msg[2] = count;
		KUNIT_EXPECT_EQ(test, vrfm_proto_check(msg, full, &fresh, &head),
				count == 2 ? 0 : -EPROTO);
	}
	msg[2] = 2;
	for (len = HEAD; len < ROOM; len++) {
		msg[4] = len - HEAD;
		msg[5] = (len - HEAD) >> 8;
		KUNIT_EXPECT_EQ(test, vrfm_proto_check(msg, len, &fresh, &head),
				len == full ? 0 : -EPROTO);
	}
}

static void event_needs_room(struct kunit *test)
{
	struct vrfm_pack pack;
	u8 *msg = room(test);

	vrfm_pack_begin(&pack, msg, HEAD + 8 + 8 + 16);
	KUNIT_EXPECT_TRUE(test, vrfm_pack_has_room_for_event(&pack));
	vrfm_pack_run(&pack, 0, "abcdefgh", 8);
	KUNIT_EXPECT_TRUE(test, vrfm_pack_has_room_for_event(&pack));
	vrfm_pack_begin(&pack, msg, HEAD + 8 + 8 + 15);
	vrfm_pack_run(&pack, 0, "abcdefgh", 8);
	KUNIT_EXPECT_FALSE(test, vrfm_pack_has_room_for_event(&pack));
}

static void note_round_trip_is_equal(struct kunit *test)
{
	const struct vrfm_note note = {
		.node = 200, .flags = 3, .number = 0xFEDCBA98,
		.id = 0x0123456789ABCDEF, .value = 0xFEDCBA9876543210,
	};
	struct vrfm_note sent = note, back;
	u8 *msg = room(test);
	struct vrfm_head head;
	struct vrfm_pack pack;
	u32 kind, len;

	for (kind = 0; kind < 256; kind++) {
		sent.kind = kind;
		vrfm_pack_begin(&pack, msg, ROOM);
		vrfm_pack_note(&pack, &sent);
		len = end(&pack, VRFM_WIRE_NOTE, 42, 500);
		KUNIT_EXPECT_EQ(test, vrfm_proto_check(msg, len, &fresh, &head),
				kind && kind < VRFM_NOTES ? 0 : -EPROTO);
		KUNIT_EXPECT_EQ(test, vrfm_proto_check(msg, len - 1, &fresh,
						       &head), -EPROTO);
		vrfm_proto_note(msg, &back);
		KUNIT_EXPECT_EQ(test, back.kind, (u8)kind);
		KUNIT_EXPECT_EQ(test, back.node, note.node);
		KUNIT_EXPECT_EQ(test, back.flags, note.flags);
		KUNIT_EXPECT_EQ(test, back.number, note.number);
		KUNIT_EXPECT_EQ(test, back.id, note.id);
		KUNIT_EXPECT_EQ(test, back.value, note.value);
	}
}

/* Only the pages 0 to 15 exist in the memory of this test. */
static void pull_outside_memory_is_refused(struct kunit *test)
{
	static const struct { u32 first, count; int ret; } cases[] = {
		{ 0, 1, 0 }, { 0, 16, 0 }, { 15, 1, 0 }, { 0, 0, -EPROTO },
		{ 16, 0, -EPROTO }, { 16, 1, -EPROTO }, { 15, 2, -EPROTO },
		{ 0xFFFFFFFF, 1, -EPROTO }, { 0xFFFFFFFF, 2, -EPROTO },
		{ 0, 17, -EPROTO },
	};
	u32 i, n, len, first, count;
	u8 *msg = room(test);
	const __le64 *digests;
	struct vrfm_head head;
	struct vrfm_pack pack;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		vrfm_pack_begin(&pack, msg, ROOM);
		vrfm_pack_pull(&pack, cases[i].first, cases[i].count);
		for (n = 0; n < cases[i].count; n++)
			vrfm_pack_digest(&pack, n + 0x1000000000000);
		len = end(&pack, VRFM_WIRE_PULL, 42, 500);
		KUNIT_EXPECT_EQ_MSG(test,
				    vrfm_proto_check(msg, len, &fresh, &head),
				    cases[i].ret, "%u pages from %u on",
				    cases[i].count, cases[i].first);
		KUNIT_EXPECT_EQ(test, vrfm_proto_check(msg, len - 8, &fresh,
						       &head), -EPROTO);
		digests = vrfm_proto_pull(msg, &first, &count);
		KUNIT_EXPECT_EQ(test, first, cases[i].first);
		KUNIT_EXPECT_EQ(test, count, cases[i].count);
		for (n = 0; n < count; n++)
			KUNIT_EXPECT_EQ(test, le64_to_cpu(digests[n]),
					n + 0x1000000000000);
	}
}

static void image_of_parts_of_words_is_refused(struct kunit *test)
{
	static const struct { u32 offset, len; int ret; } cases[] = {
		{ 0, 4, 0 }, { 4, 64, 0 }, { MEMORY - 4, 4, 0 },
		{ 2, 4, -EPROTO }, { 0, 5, -EPROTO }, { 0, 2, -EPROTO },
		{ MEMORY - 4, 8, -EPROTO },
	};
	u8 *msg = room(test);
	struct vrfm_head head;
	struct vrfm_pack pack;
	u8 bytes[64] = { };
	u32 i, len;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		vrfm_pack_begin(&pack, msg, ROOM);
		vrfm_pack_run(&pack, 8, bytes, 8);
		vrfm_pack_run(&pack, cases[i].offset, bytes, cases[i].len);
		len = end(&pack, VRFM_WIRE_IMAGE, 42, 500);
		KUNIT_EXPECT_EQ(test, vrfm_proto_check(msg, len, &fresh, &head),
				cases[i].ret);
	}
}

static void digest_depends_on_each_byte(struct kunit *test)
{
	u8 *page = kunit_kzalloc(test, VRFM_WIRE_PAGE, GFP_KERNEL);
	u64 zero, digest;
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, page);
	zero = vrfm_digest(page);
	for (i = 0; i < VRFM_WIRE_PAGE; i++) {
		page[i] = 1;
		digest = vrfm_digest(page);
		page[i] = 0;
		/* Both halves of the digest depend on every byte. */
		KUNIT_EXPECT_NE(test, (u32)digest, (u32)zero);
		KUNIT_EXPECT_NE(test, digest >> 32, zero >> 32);
	}
	KUNIT_EXPECT_EQ(test, vrfm_digest(page), zero);
}

/*
 * Check that a block is split into several messages. They have all its bytes,
 * and no word of the memory is in two of them.
 */
static void block_is_split(struct kunit *test, u32 offset)
{
	static u8 block[5000], back[MEMORY];
	u8 *msg = room(test);
	struct vrfm_seen seen = fresh;
	struct vrfm_head head;
	struct vrfm_pack pack;
	struct vrfm_run run;
	u32 done = 0, len, n = 0;

	get_random_bytes(block, sizeof(block));
	while (done < sizeof(block)) {
		vrfm_pack_begin(&pack, msg, ROOM);
		done += vrfm_pack_run(&pack, offset + done, block + done,
				      sizeof(block) - done);
		KUNIT_EXPECT_TRUE(test, done == sizeof(block) ||
				  (offset + done) % 8 == 0);
		len = end(&pack, VRFM_WIRE_UPDATE, seen.sequence + 1, 500);
		KUNIT_ASSERT_LE(test, len, (u32)ROOM);
		KUNIT_ASSERT_EQ(test, vrfm_proto_check(msg, len, &seen, &head),
				0);
		seen.sequence++;
		vrfm_proto_next_run(msg + HEAD, &run);
		memcpy(back + run.offset, run.bytes, run.len);
		n++;
	}
	KUNIT_EXPECT_EQ(test, n,
			(u32)DIV_ROUND_UP(sizeof(block), ROOM - HEAD - 8));
	KUNIT_EXPECT_EQ(test, memcmp(back + offset, block, sizeof(block)), 0);
}

static void block_is_split_without_loss(struct kunit *test)
{
	u32 offset;

	for (offset = 96; offset <= 104; offset++)
		block_is_split(test, offset);
}

static void full_message_refuses_run(struct kunit *test)
{
	u8 *msg = room(test);
	struct vrfm_pack pack;
	u32 size, taken;

	for (size = HEAD; size < HEAD + 64; size++) {
		memset(msg, 0xEE, ROOM);
		vrfm_pack_begin(&pack, msg, size);
		do {
			taken = vrfm_pack_run(&pack, 0, "abcde", 5);
		} while (taken);
		KUNIT_EXPECT_EQ(test, vrfm_pack_room(&pack), 0U);
		KUNIT_EXPECT_LE(test, pack.len, size);
		KUNIT_EXPECT_EQ(test, msg[size], 0xEE);
	}
}

static void message_gaps_are_zero(struct kunit *test)
{
	u8 *msg = room(test);
	u32 len, i, wrong = 0;

	memset(msg, 0xEE, ROOM);
	len = update(msg);
	for (i = 0; i < len; i++)
		wrong += msg[i] == 0xEE;
	KUNIT_EXPECT_EQ(test, wrong, 0U);
}

/*
 * Change random bytes of messages. All runs of accepted messages must lie
 * inside the message and the memory.
 */
static void accepted_update_stays_within_memory(struct kunit *test)
{
	u8 *msg = room(test);
	struct rnd_state rnd;
	u32 i, k, len, right = 0, wrong = 0;

	prandom_seed_state(&rnd, 20261122);
	for (i = 0; i < 200000; i++) {
		const void *at = msg + HEAD;
		struct vrfm_head head;
		struct vrfm_run run;

		len = update(msg);
		for (k = prandom_u32_state(&rnd) % 4; k; k--)
			msg[prandom_u32_state(&rnd) % len] =
				prandom_u32_state(&rnd);
		if (vrfm_proto_check(msg, len, &fresh, &head))
			continue;
		right++;
		for (k = 0; k < head.count; k++) {
			at = vrfm_proto_next_run(at, &run);
			wrong += (u64)run.offset + run.len > MEMORY ||
				 run.bytes + run.len > (void *)msg + len;
		}
	}
	KUNIT_EXPECT_EQ(test, wrong, 0U);
	/* A quarter of the messages stay unchanged, and are valid. */
	KUNIT_EXPECT_GT(test, right, 50000U - 5000);
	KUNIT_EXPECT_LT(test, right, 180000U);
}

/* Bitmap of the 16 ranges of a MiB, in a multiple of 64 bits. */
static const unsigned long some_ranges[64 / BITS_PER_LONG] = { 0x8005 };

static u32 stage(u8 *msg, u64 number, u32 desc_len)
{
	struct vrfm_pack pack;
	void *at;

	vrfm_pack_begin(&pack, msg, ROOM);
	at = vrfm_pack_stage(&pack, number, some_ranges, SZ_1M, desc_len);
	memset(at, 'd', desc_len);
	return end(&pack, VRFM_WIRE_STAGE, 42, 600);
}

static void stage_round_trip_is_equal(struct kunit *test)
{
	unsigned long map[64 / BITS_PER_LONG] = { };
	struct vrfm_stage_msg got;
	struct vrfm_seen seen = fresh;
	struct vrfm_head head;
	u8 *msg = room(test);
	u32 len;

	seen.size = SZ_1M;
	len = stage(msg, 0x1122334455667788, 0);
	KUNIT_ASSERT_EQ(test, vrfm_proto_check(msg, len, &seen, &head), 0);
	vrfm_proto_stage(msg, &got);
	vrfm_stage_map(&got, map);
	KUNIT_EXPECT_EQ(test, got.number, 0x1122334455667788ULL);
	KUNIT_EXPECT_EQ(test, got.desc_len, 0U);
	KUNIT_EXPECT_EQ(test, memcmp(map, some_ranges, sizeof(map)), 0);
	/* The map on the wire is little endian on any CPU. */
	KUNIT_EXPECT_EQ(test, msg[HEAD + 16], 5);
	KUNIT_EXPECT_EQ(test, msg[HEAD + 17], 0x80);
	seen.staged = 0;
	len = stage(msg, 1, 48);
	KUNIT_ASSERT_EQ(test, vrfm_proto_check(msg, len, &seen, &head), 0);
	vrfm_proto_stage(msg, &got);
	KUNIT_EXPECT_EQ(test, got.desc_len, 48U);
	KUNIT_EXPECT_EQ(test, ((const char *)got.desc)[47], 'd');
	KUNIT_EXPECT_PTR_EQ(test, got.desc + 48, (const void *)msg + len);
}

static void stage_map_length_matches_memory(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, vrfm_stage_map_len(SZ_4K), 8U);
	KUNIT_EXPECT_EQ(test, vrfm_stage_map_len(SZ_4M), 8U);
	KUNIT_EXPECT_EQ(test, vrfm_stage_map_len(SZ_4M + SZ_4K), 16U);
	KUNIT_EXPECT_EQ(test, vrfm_stage_map_len(SZ_2G), 4096U);
}

static void stage_with_wrong_field_is_refused(struct kunit *test)
{
	static const struct { u64 staged, number; u32 desc; u64 size; } cases[] = {
		{ 3, 3, 0, SZ_1M }, /* the last number again */
		{ 3, 2, 0, SZ_1M }, /* the number before it */
		{ 3, 0, 0, SZ_1M },
		{ 0, 0, 48, SZ_1M },
		/* The first STAGE must have a description of the memory. */
		{ 0, 1, 0, SZ_1M },
		{ 3, 4, 48, SZ_1M }, /* a second description */
		{ 3, 4, 0, SZ_4M + SZ_4K }, /* a map of another size */
	};
	u8 *msg = room(test);
	struct vrfm_head head;
	u32 i, len;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct vrfm_seen seen = fresh;

		seen.staged = cases[i].staged;
		seen.size = cases[i].size;
		len = stage(msg, cases[i].number, cases[i].desc);
		KUNIT_EXPECT_EQ_MSG(test,
				    vrfm_proto_check(msg, len, &seen, &head),
				    -EPROTO, "case %u", i);
	}
}

static void stage_with_other_length_is_refused(struct kunit *test)
{
	u8 *msg = room(test);
	u32 right = stage(msg, 4, 0), len;
	struct vrfm_seen seen = fresh;
	struct vrfm_head head;

	seen.size = SZ_1M;
	for (len = 0; len < ROOM; len++) {
		/*
		 * Set the length in the header to match the length of the
		 * message.
		 */
		if (len >= HEAD)
			((struct vrfm_wire_head *)msg)->len =
				cpu_to_le32(len - HEAD);
		KUNIT_EXPECT_EQ(test, vrfm_proto_check(msg, len, &seen, &head),
				len == right ? 0 : -EPROTO);
	}
}

static struct kunit_case vrfm_proto_cases[] = {
	KUNIT_CASE(hello_round_trip_is_equal),
	KUNIT_CASE(hello_encodes_documented_bytes),
	KUNIT_CASE(hello_of_stranger_is_refused_with_reason),
	KUNIT_CASE(reason_texts_are_complete),
	KUNIT_CASE(reason_round_trip_is_equal),
	KUNIT_CASE(update_round_trip_is_equal),
	KUNIT_CASE(update_with_other_length_is_refused),
	KUNIT_CASE(update_with_one_wrong_field_is_refused),
	KUNIT_CASE(ack_accepts_same_to_last_sent),
	KUNIT_CASE(ack_has_sequence_of_last_message),
	KUNIT_CASE(event_round_trip_is_equal),
	KUNIT_CASE(event_follows_runs),
	KUNIT_CASE(event_needs_room),
	KUNIT_CASE(note_round_trip_is_equal),
	KUNIT_CASE(pull_outside_memory_is_refused),
	KUNIT_CASE(image_of_parts_of_words_is_refused),
	KUNIT_CASE(digest_depends_on_each_byte),
	KUNIT_CASE(block_is_split_without_loss),
	KUNIT_CASE(full_message_refuses_run),
	KUNIT_CASE(message_gaps_are_zero),
	KUNIT_CASE(accepted_update_stays_within_memory),
	KUNIT_CASE(stage_round_trip_is_equal),
	KUNIT_CASE(stage_map_length_matches_memory),
	KUNIT_CASE(stage_with_wrong_field_is_refused),
	KUNIT_CASE(stage_with_other_length_is_refused),
	{ }
};

static struct kunit_suite vrfm_proto_suite = {
	.name = "vrfm_proto",
	.test_cases = vrfm_proto_cases,
};

kunit_test_suite(vrfm_proto_suite);

MODULE_AUTHOR("The krdma developers <krdma@example.org>");
MODULE_DESCRIPTION("KUnit tests of vrfm/proto.c");
MODULE_LICENSE("GPL");
