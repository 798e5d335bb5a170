// SPDX-License-Identifier: GPL-2.0
/* Test headers of frames: decode reverses encode, and finds each fault. */
#include <kunit/test.h>
#include <linux/prandom.h>

#include "../../ntrdma/frame.c"

#define INDEX	0xfffffff0
#define SESSION	0x12345678

static const struct ntrdma_frame_place here = {
	.index = INDEX,
	.session = SESSION,
	.filled = 4096,
	.to_end = 2048,
	.chunk = NTRDMA_CHUNK_MAX,
};

/* Return a valid frame of a kind, with all fields that the kind can have. */
static struct ntrdma_frame example(u8 kind)
{
	struct ntrdma_frame frame = {
		.kind = kind,
		.dest_qp = 0x123456,
		.src_qp = 0x654321,
		.msn = 0xffffff,
	};

	switch (kind) {
	case NTRDMA_PAD:
		return (struct ntrdma_frame){ .kind = kind, .cells = here.to_end };
	case NTRDMA_WRITE:
		frame.addr = 0xfedcba9876543210;
		frame.rkey = 0x89abcdef;
		fallthrough;
	case NTRDMA_SEND:
		frame.flags = NTRDMA_LAST | NTRDMA_ACK_REQ | NTRDMA_SOLICITED |
			      NTRDMA_IMM;
		frame.imm = 0xdeadbeef;
		frame.offset = 1000;
		frame.bytes = 500;
		frame.total = 1500;
		break;
	case NTRDMA_READ:
		frame.addr = 1;
		frame.rkey = 2;
		frame.total = NTRDMA_MESSAGE_MAX;
		frame.flags = NTRDMA_ACK_REQ;
		break;
	case NTRDMA_DATA:
		frame.flags = NTRDMA_FIRST;
		frame.bytes = NTRDMA_CHUNK_MAX;
		frame.total = NTRDMA_CHUNK_MAX + 1;
		break;
	case NTRDMA_ATOMIC:
		frame.addr = 8;
		frame.rkey = 2;
		frame.bytes = 16;
		frame.flags = NTRDMA_CAS;
		break;
	case NTRDMA_RESULT:
		frame.bytes = 8;
		break;
	case NTRDMA_ACK:
		frame.flags = NTRDMA_READY;
		break;
	case NTRDMA_NAK:
		frame.imm = 31 << 8 | NTRDMA_NAK_RNR;
		break;
	case NTRDMA_UD:
		frame.msn = 0;
		frame.offset = NTRDMA_NO_VLAN;
		frame.rkey = 0x80010000;
		frame.bytes = NTRDMA_UD_GIDS + NTRDMA_UD_MAX;
		frame.flags = NTRDMA_IMM;
		frame.imm = 1;
		break;
	case NTRDMA_ETH:
		frame = (struct ntrdma_frame){ .kind = kind, .bytes = 1514 };
		break;
	}
	frame.cells = ntrdma_frame_cells(frame.bytes);
	return frame;
}

static struct ntrdma_frame_place place_of(u8 kind)
{
	struct ntrdma_frame_place at = here;

	at.is_eth = kind == NTRDMA_ETH;
	return at;
}

static enum ntrdma_frame_fault decode(const struct ntrdma_frame *frame,
				      struct ntrdma_frame *to)
{
	struct ntrdma_frame_place at = place_of(frame->kind);
	struct ntrdma_wire_hdr hdr = {};

	ntrdma_frame_encode(&hdr, frame, INDEX, SESSION);
	return ntrdma_frame_decode(to, &hdr, &at);
}

static void decode_returns_what_was_encoded(struct kunit *test)
{
	struct ntrdma_frame frame, got;
	u8 kind;

	for (kind = NTRDMA_PAD; kind < NTRDMA_KINDS; kind++) {
		frame = example(kind);
		memset(&got, 0xff, sizeof(got));
		KUNIT_ASSERT_EQ_MSG(test, decode(&frame, &got), NTRDMA_FRAME_GOOD,
				    "kind %u", kind);
		KUNIT_EXPECT_EQ(test, got.kind, frame.kind);
		KUNIT_EXPECT_EQ(test, got.flags, frame.flags);
		KUNIT_EXPECT_EQ(test, got.cells, frame.cells);
		KUNIT_EXPECT_EQ(test, got.bytes, frame.bytes);
		KUNIT_EXPECT_EQ(test, got.dest_qp, frame.dest_qp);
		KUNIT_EXPECT_EQ(test, got.src_qp, frame.src_qp);
		KUNIT_EXPECT_EQ(test, got.msn, frame.msn);
		KUNIT_EXPECT_EQ(test, got.offset, frame.offset);
		KUNIT_EXPECT_EQ(test, got.total, frame.total);
		KUNIT_EXPECT_EQ(test, got.addr, frame.addr);
		KUNIT_EXPECT_EQ(test, got.rkey, frame.rkey);
		KUNIT_EXPECT_EQ(test, got.imm, frame.imm);
	}
}

static void cells_of_16_bytes_are_1_of_17_are_2(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ntrdma_frame_cells(0), 1);
	KUNIT_EXPECT_EQ(test, ntrdma_frame_cells(16), 1);
	KUNIT_EXPECT_EQ(test, ntrdma_frame_cells(17), 2);
	KUNIT_EXPECT_EQ(test, ntrdma_frame_cells(64), 2);
	KUNIT_EXPECT_EQ(test, ntrdma_frame_cells(65), 3);
	KUNIT_EXPECT_EQ(test, ntrdma_frame_cells(NTRDMA_CHUNK_MAX), 1025);
}

static void seal_of_other_index_or_session_is_refused(struct kunit *test)
{
	struct ntrdma_frame frame = example(NTRDMA_SEND), got;
	struct ntrdma_frame_place at = here;
	struct ntrdma_wire_hdr hdr = {};

	ntrdma_frame_encode(&hdr, &frame, INDEX, SESSION);
	at.session++;
	KUNIT_EXPECT_EQ(test, ntrdma_frame_decode(&got, &hdr, &at),
			NTRDMA_FRAME_BAD_SEAL);
	at = here;
	at.index++;
	KUNIT_EXPECT_EQ(test, ntrdma_frame_decode(&got, &hdr, &at),
			NTRDMA_FRAME_BAD_SEAL);
}

static void kind_0_or_unknown_is_refused(struct kunit *test)
{
	struct ntrdma_frame frame = example(NTRDMA_ACK), got;
	unsigned int kind;

	for (kind = 0; kind < 256; kind++) {
		if (kind && kind < NTRDMA_KINDS)
			continue;
		frame.kind = kind;
		KUNIT_ASSERT_EQ(test, decode(&frame, &got), NTRDMA_FRAME_BAD);
	}
}

/* Add each flag that a kind must not have to a valid frame of this kind. */
static void unknown_flag_of_kind_is_refused(struct kunit *test)
{
	struct ntrdma_frame frame, got;
	u8 kind, bit;

	for (kind = NTRDMA_PAD; kind < NTRDMA_KINDS; kind++)
		for (bit = 0; bit < 8; bit++) {
			frame = example(kind);
			if (ntrdma_kind_rules[kind].flags & BIT(bit))
				continue;
			frame.flags |= BIT(bit);
			KUNIT_ASSERT_EQ_MSG(test, decode(&frame, &got),
					    NTRDMA_FRAME_BAD, "kind %u bit %u",
					    kind, bit);
		}
}

static void unused_field_must_be_0(struct kunit *test)
{
	struct ntrdma_frame frame, got;
	u8 kind, fields;

#define EXPECT_REFUSED(field, bit) do {					\
	frame = example(kind);						\
	frame.field = 1;						\
	if (!(fields & (bit)))						\
		KUNIT_EXPECT_EQ_MSG(test, decode(&frame, &got),		\
				    NTRDMA_FRAME_BAD, "kind %u " #field, kind); \
} while (0)
	for (kind = NTRDMA_PAD; kind < NTRDMA_KINDS; kind++) {
		fields = ntrdma_kind_rules[kind].fields;
		EXPECT_REFUSED(dest_qp, NTRDMA_F_QPS);
		EXPECT_REFUSED(src_qp, NTRDMA_F_QPS);
		EXPECT_REFUSED(msn, NTRDMA_F_MSN);
		EXPECT_REFUSED(offset, NTRDMA_F_OFFSET);
		EXPECT_REFUSED(total, NTRDMA_F_TOTAL);
		EXPECT_REFUSED(addr, NTRDMA_F_ADDR);
		EXPECT_REFUSED(rkey, NTRDMA_F_RKEY);
		EXPECT_REFUSED(imm, NTRDMA_F_IMM);
	}
#undef EXPECT_REFUSED
}

static void numbers_of_25_bits_are_refused(struct kunit *test)
{
	struct ntrdma_frame frame = example(NTRDMA_SEND), got;

	frame.dest_qp |= BIT(24);
	KUNIT_EXPECT_EQ(test, decode(&frame, &got), NTRDMA_FRAME_BAD);
	frame = example(NTRDMA_SEND);
	frame.src_qp |= BIT(24);
	KUNIT_EXPECT_EQ(test, decode(&frame, &got), NTRDMA_FRAME_BAD);
	frame = example(NTRDMA_SEND);
	frame.msn |= BIT(24);
	KUNIT_EXPECT_EQ(test, decode(&frame, &got), NTRDMA_FRAME_BAD);
}

static void cells_must_match_bytes_filled_and_end(struct kunit *test)
{
	struct ntrdma_frame frame = example(NTRDMA_SEND), got;
	struct ntrdma_frame_place at = here;
	struct ntrdma_wire_hdr hdr = {};
	u16 right = frame.cells;

	for (frame.cells = 0; frame.cells < 2 * right; frame.cells++)
		KUNIT_ASSERT_EQ(test, decode(&frame, &got),
				frame.cells == right ? NTRDMA_FRAME_GOOD :
						       NTRDMA_FRAME_BAD);
	frame.cells = right;
	ntrdma_frame_encode(&hdr, &frame, INDEX, SESSION);
	at.filled = right - 1;
	KUNIT_EXPECT_EQ(test, ntrdma_frame_decode(&got, &hdr, &at), NTRDMA_FRAME_BAD);
	at.filled = right;
	KUNIT_EXPECT_EQ(test, ntrdma_frame_decode(&got, &hdr, &at), NTRDMA_FRAME_GOOD);
	at.to_end = right - 1;
	KUNIT_EXPECT_EQ(test, ntrdma_frame_decode(&got, &hdr, &at), NTRDMA_FRAME_BAD);
}

static void payload_beyond_chunk_is_refused(struct kunit *test)
{
	struct ntrdma_frame frame = example(NTRDMA_DATA), got;
	struct ntrdma_frame_place at = here;
	struct ntrdma_wire_hdr hdr = {};

	ntrdma_frame_encode(&hdr, &frame, INDEX, SESSION);
	at.chunk = frame.bytes - 1;
	KUNIT_EXPECT_EQ(test, ntrdma_frame_decode(&got, &hdr, &at), NTRDMA_FRAME_BAD);
	at.chunk = frame.bytes;
	KUNIT_EXPECT_EQ(test, ntrdma_frame_decode(&got, &hdr, &at), NTRDMA_FRAME_GOOD);
}

static void payload_shorter_than_kind_needs_is_refused(struct kunit *test)
{
	static const struct { u8 kind; u32 bytes; } rows[] = {
		{ NTRDMA_ATOMIC, 16 },
		{ NTRDMA_RESULT, 8 },
		{ NTRDMA_UD, NTRDMA_UD_GIDS },
		{ NTRDMA_ETH, NTRDMA_ETH_HDR + ETH_HLEN },
	};
	struct ntrdma_frame frame, got;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		frame = example(rows[i].kind);
		frame.bytes = rows[i].bytes;
		frame.cells = ntrdma_frame_cells(frame.bytes);
		KUNIT_EXPECT_EQ(test, decode(&frame, &got), NTRDMA_FRAME_GOOD);
		frame.bytes--;
		frame.cells = ntrdma_frame_cells(frame.bytes);
		KUNIT_EXPECT_EQ(test, decode(&frame, &got), NTRDMA_FRAME_BAD);
	}
}

static void longest_datagram_fits_smallest_ring_and_chunk(struct kunit *test)
{
	struct ntrdma_frame frame = example(NTRDMA_UD), got;
	struct ntrdma_frame_place at = here;
	struct ntrdma_wire_hdr hdr = {};

	at.chunk = NTRDMA_CHUNK_MIN;
	at.filled = NTRDMA_RING_MIN / NTRDMA_CELL;
	at.to_end = frame.cells;
	ntrdma_frame_encode(&hdr, &frame, INDEX, SESSION);
	KUNIT_EXPECT_EQ(test, ntrdma_frame_decode(&got, &hdr, &at), NTRDMA_FRAME_GOOD);
	frame.bytes++;
	KUNIT_EXPECT_EQ(test, ntrdma_frame_cells(frame.bytes), frame.cells);
	ntrdma_frame_encode(&hdr, &frame, INDEX, SESSION);
	KUNIT_EXPECT_EQ(test, ntrdma_frame_decode(&got, &hdr, &at), NTRDMA_FRAME_BAD);
}

static void pad_ends_at_the_end_of_the_ring(struct kunit *test)
{
	struct ntrdma_frame frame = example(NTRDMA_PAD), got;

	frame.cells = here.to_end - 1;
	KUNIT_EXPECT_EQ(test, decode(&frame, &got), NTRDMA_FRAME_BAD);
	frame.cells = here.to_end + 1;
	KUNIT_EXPECT_EQ(test, decode(&frame, &got), NTRDMA_FRAME_BAD);
}

static void eth_only_on_its_ring_and_nothing_else_there(struct kunit *test)
{
	struct ntrdma_frame_place at = here;
	struct ntrdma_wire_hdr hdr = {};
	struct ntrdma_frame frame, got;
	u8 kind;

	for (kind = NTRDMA_PAD; kind < NTRDMA_KINDS; kind++) {
		frame = example(kind);
		ntrdma_frame_encode(&hdr, &frame, INDEX, SESSION);
		at.is_eth = kind != NTRDMA_ETH;
		KUNIT_EXPECT_EQ(test, ntrdma_frame_decode(&got, &hdr, &at),
				kind == NTRDMA_PAD ? NTRDMA_FRAME_GOOD :
						     NTRDMA_FRAME_BAD);
	}
}

static void piece_first_and_last_match_its_position(struct kunit *test)
{
	static const struct { u32 offset, bytes, total; u8 flags; bool ok; } rows[] = {
		{ 0, 0, 0, NTRDMA_FIRST | NTRDMA_LAST, true },
		{ 0, 0, 0, NTRDMA_FIRST, false },
		{ 0, 0, 0, NTRDMA_LAST, false },
		{ 0, 0, 1, NTRDMA_FIRST, false },
		{ 0, 1, 1, NTRDMA_FIRST | NTRDMA_LAST, true },
		{ 0, 1, 1, NTRDMA_FIRST, false },
		{ 0, 1, 2, NTRDMA_FIRST, true },
		{ 0, 1, 2, 0, false },
		{ 1, 1, 2, NTRDMA_LAST, true },
		{ 1, 1, 2, NTRDMA_FIRST | NTRDMA_LAST, false },
		{ 1, 1, 2, 0, false },
		{ 1, 1, 3, 0, true },
		{ 1, 0, 3, 0, false },
		{ 3, 0, 3, NTRDMA_LAST, false },
		{ 2, 2, 3, NTRDMA_LAST, false },
		{ 4, 0, 3, 0, false },
		{ U32_MAX, 2, 3, 0, false },
		{ NTRDMA_MESSAGE_MAX - 4, 4, NTRDMA_MESSAGE_MAX, NTRDMA_LAST, true },
		{ NTRDMA_MESSAGE_MAX - 4, 4, NTRDMA_MESSAGE_MAX + 1, 0, false },
	};
	static const u8 kinds[] = { NTRDMA_SEND, NTRDMA_WRITE, NTRDMA_DATA };
	struct ntrdma_frame frame, got;
	u32 i, k;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		for (k = 0; k < ARRAY_SIZE(kinds); k++) {
			frame = example(kinds[k]);
			frame.flags = rows[i].flags;
			frame.imm = 0;
			frame.offset = rows[i].offset;
			frame.bytes = rows[i].bytes;
			frame.total = rows[i].total;
			frame.cells = ntrdma_frame_cells(frame.bytes);
			KUNIT_EXPECT_EQ_MSG(test, decode(&frame, &got) == NTRDMA_FRAME_GOOD,
					    rows[i].ok, "row %u kind %u", i, kinds[k]);
		}
}

static void immediate_data_only_at_the_end(struct kunit *test)
{
	struct ntrdma_frame frame = example(NTRDMA_SEND), got;

	frame.offset = 0;
	frame.flags = NTRDMA_FIRST | NTRDMA_IMM;
	KUNIT_EXPECT_EQ(test, decode(&frame, &got), NTRDMA_FRAME_BAD);
	frame.flags = NTRDMA_FIRST | NTRDMA_SOLICITED;
	frame.imm = 0;
	KUNIT_EXPECT_EQ(test, decode(&frame, &got), NTRDMA_FRAME_BAD);
	frame = example(NTRDMA_SEND);
	frame.flags = NTRDMA_LAST | NTRDMA_IMM | NTRDMA_INV;
	KUNIT_EXPECT_EQ(test, decode(&frame, &got), NTRDMA_FRAME_BAD);
	frame.flags = NTRDMA_LAST | NTRDMA_INV;
	KUNIT_EXPECT_EQ(test, decode(&frame, &got), NTRDMA_FRAME_GOOD);
	frame.flags = NTRDMA_LAST;
	KUNIT_EXPECT_EQ(test, decode(&frame, &got), NTRDMA_FRAME_BAD);
}

static void wrong_values_of_other_kinds_are_refused(struct kunit *test)
{
	struct ntrdma_frame frame = example(NTRDMA_ATOMIC), got;

	frame.addr = 4;
	KUNIT_EXPECT_EQ(test, decode(&frame, &got), NTRDMA_FRAME_BAD);
	frame = example(NTRDMA_READ);
	frame.total++;
	KUNIT_EXPECT_EQ(test, decode(&frame, &got), NTRDMA_FRAME_BAD);
	frame = example(NTRDMA_NAK);
	frame.imm = 0;
	KUNIT_EXPECT_EQ(test, decode(&frame, &got), NTRDMA_FRAME_BAD);
	frame.imm = NTRDMA_NAKS;
	KUNIT_EXPECT_EQ(test, decode(&frame, &got), NTRDMA_FRAME_BAD);
	frame.imm = 32 << 8 | NTRDMA_NAK_RNR;
	KUNIT_EXPECT_EQ(test, decode(&frame, &got), NTRDMA_FRAME_BAD);
	frame.imm = BIT(16) | NTRDMA_NAK_RNR;
	KUNIT_EXPECT_EQ(test, decode(&frame, &got), NTRDMA_FRAME_BAD);
	frame = example(NTRDMA_UD);
	frame.offset = BIT(16);
	KUNIT_EXPECT_EQ(test, decode(&frame, &got), NTRDMA_FRAME_BAD);
	frame = example(NTRDMA_UD);
	frame.flags = 0;
	KUNIT_EXPECT_EQ(test, decode(&frame, &got), NTRDMA_FRAME_BAD);
	frame = example(NTRDMA_RESULT);
	frame.bytes = 9;
	KUNIT_EXPECT_EQ(test, decode(&frame, &got), NTRDMA_FRAME_BAD);
}

/*
 * A header that is accepted stays within the ring, and is encoded to the same
 * bytes.
 */
static void random_headers_are_refused_or_sound(struct kunit *test)
{
	struct ntrdma_wire_hdr hdr, back;
	struct ntrdma_frame_place at;
	struct ntrdma_frame frame;
	struct rnd_state rnd;
	u32 i, good = 0, byte;

	prandom_seed_state(&rnd, 20261126);
	for (i = 0; i < 1000000; i++) {
		frame = example(1 + prandom_u32_state(&rnd) % (NTRDMA_KINDS - 1));
		at = place_of(frame.kind);
		memset(&hdr, 0, sizeof(hdr));
		ntrdma_frame_encode(&hdr, &frame, INDEX, SESSION);
		for (byte = prandom_u32_state(&rnd) % 3; byte; byte--)
			((u8 *)&hdr)[prandom_u32_state(&rnd) % 48] =
				prandom_u32_state(&rnd);
		if (ntrdma_frame_decode(&frame, &hdr, &at))
			continue;
		good++;
		KUNIT_ASSERT_GT(test, frame.cells, 0);
		KUNIT_ASSERT_LE(test, frame.cells, at.to_end);
		KUNIT_ASSERT_LE(test, frame.cells, at.filled);
		KUNIT_ASSERT_LE(test, frame.bytes, at.chunk);
		if (frame.bytes > NTRDMA_SHORT)
			KUNIT_ASSERT_LE(test, frame.bytes,
					(frame.cells - 1) * NTRDMA_CELL);
		memset(&back, 0, sizeof(back));
		ntrdma_frame_encode(&back, &frame, INDEX, SESSION);
		KUNIT_ASSERT_EQ(test, memcmp(&back, &hdr, sizeof(hdr)), 0);
	}
	KUNIT_EXPECT_GT(test, good, 100000);
	KUNIT_EXPECT_LT(test, good, 900000);
}

static struct kunit_case ntrdma_frame_cases[] = {
	KUNIT_CASE(decode_returns_what_was_encoded),
	KUNIT_CASE(cells_of_16_bytes_are_1_of_17_are_2),
	KUNIT_CASE(seal_of_other_index_or_session_is_refused),
	KUNIT_CASE(kind_0_or_unknown_is_refused),
	KUNIT_CASE(unknown_flag_of_kind_is_refused),
	KUNIT_CASE(unused_field_must_be_0),
	KUNIT_CASE(numbers_of_25_bits_are_refused),
	KUNIT_CASE(cells_must_match_bytes_filled_and_end),
	KUNIT_CASE(payload_beyond_chunk_is_refused),
	KUNIT_CASE(payload_shorter_than_kind_needs_is_refused),
	KUNIT_CASE(longest_datagram_fits_smallest_ring_and_chunk),
	KUNIT_CASE(pad_ends_at_the_end_of_the_ring),
	KUNIT_CASE(eth_only_on_its_ring_and_nothing_else_there),
	KUNIT_CASE(piece_first_and_last_match_its_position),
	KUNIT_CASE(immediate_data_only_at_the_end),
	KUNIT_CASE(wrong_values_of_other_kinds_are_refused),
	KUNIT_CASE(random_headers_are_refused_or_sound),
	{}
};

static struct kunit_suite ntrdma_frame_suite = {
	.name = "ntrdma_frame",
	.test_cases = ntrdma_frame_cases,
};

kunit_test_suite(ntrdma_frame_suite);

MODULE_AUTHOR("The krdma developers");
MODULE_DESCRIPTION("KUnit tests of ntrdma's frames");
MODULE_LICENSE("GPL");
