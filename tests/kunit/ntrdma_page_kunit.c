// SPDX-License-Identifier: GPL-2.0
/* Test the first page of an inbox: sizes, hello, agreement. */
#include <kunit/test.h>
#include <linux/prandom.h>

#include "../../ntrdma/page.c"

#define MEMBER 5

static struct ntrdma_hello example(void)
{
	return (struct ntrdma_hello){
		.member = MEMBER,
		.lanes = 4,
		.ring_bytes = SZ_1M,
		.chunk = SZ_64K,
		.mac = { 0x02, 0x6e, 0x74, 0x12, 0x34, MEMBER },
		.guid = 0x026e74fffe123405,
		.name = "sixteen-letters.",
		.dead_ms = 5000,
		.session = 0xcafe0001,
	};
}

static struct ntrdma_wire_hello encoded(const struct ntrdma_hello *hello)
{
	struct ntrdma_wire_hello wire;

	ntrdma_hello_encode(&wire, hello);
	wire.my = cpu_to_le32(hello->session);
	return wire;
}

static enum ntrdma_reason decode(const struct ntrdma_hello *hello)
{
	struct ntrdma_wire_hello wire = encoded(hello);
	struct ntrdma_hello got;

	return ntrdma_hello_decode(&got, &wire, MEMBER);
}

static void decode_returns_what_was_encoded(struct kunit *test)
{
	struct ntrdma_hello hello = example(), got;
	struct ntrdma_wire_hello wire = encoded(&hello);

	KUNIT_ASSERT_EQ(test, ntrdma_hello_decode(&got, &wire, MEMBER),
			NTRDMA_REASON_NONE);
	KUNIT_EXPECT_EQ(test, got.member, hello.member);
	KUNIT_EXPECT_EQ(test, got.lanes, hello.lanes);
	KUNIT_EXPECT_EQ(test, got.ring_bytes, hello.ring_bytes);
	KUNIT_EXPECT_EQ(test, got.chunk, hello.chunk);
	KUNIT_EXPECT_EQ(test, memcmp(got.mac, hello.mac, ETH_ALEN), 0);
	KUNIT_EXPECT_EQ(test, got.guid, hello.guid);
	KUNIT_EXPECT_STREQ(test, got.name, hello.name);
	KUNIT_EXPECT_EQ(test, got.dead_ms, hello.dead_ms);
	KUNIT_EXPECT_EQ(test, got.session, hello.session);
}

static void encode_leaves_session_to_the_caller(struct kunit *test)
{
	struct ntrdma_hello hello = example();
	struct ntrdma_wire_hello wire;

	ntrdma_hello_encode(&wire, &hello);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(wire.my), 0);
}

static void name_shows_no_control_characters(struct kunit *test)
{
	struct ntrdma_hello hello = example(), got;
	struct ntrdma_wire_hello wire;

	strscpy(hello.name, "a\n\x1b[1m\x80 b", sizeof(hello.name));
	wire = encoded(&hello);
	KUNIT_ASSERT_EQ(test, ntrdma_hello_decode(&got, &wire, MEMBER),
			NTRDMA_REASON_NONE);
	KUNIT_EXPECT_STREQ(test, got.name, "a??[1m??b");
}

static void each_invalid_field_is_refused_with_its_reason(struct kunit *test)
{
	struct ntrdma_hello hello, got;
	struct ntrdma_wire_hello wire;

#define EXPECT_REFUSED(change, why) do {				\
	hello = example();						\
	change;								\
	KUNIT_EXPECT_EQ_MSG(test, decode(&hello), NTRDMA_REASON_ ## why, #change); \
} while (0)
	EXPECT_REFUSED(hello.member = MEMBER + 1, BAD_MEMBER);
	EXPECT_REFUSED(hello.lanes = 0, BAD_SIZES);
	EXPECT_REFUSED(hello.lanes = NTRDMA_LANES + 1, BAD_SIZES);
	EXPECT_REFUSED(hello.ring_bytes = SZ_1M + NTRDMA_CELL, BAD_SIZES);
	EXPECT_REFUSED(hello.ring_bytes = SZ_8K, BAD_SIZES);
	EXPECT_REFUSED(hello.ring_bytes = SZ_32M, BAD_SIZES);
	EXPECT_REFUSED(hello.chunk = 0, BAD_SIZES);
	EXPECT_REFUSED(hello.chunk = SZ_4K + 1, BAD_SIZES);
	EXPECT_REFUSED(hello.chunk = SZ_64K + SZ_4K, BAD_SIZES);
	EXPECT_REFUSED(hello.ring_bytes = SZ_256K, BAD_SIZES);
	EXPECT_REFUSED(hello.dead_ms = NTRDMA_DEAD_MS_MIN - 1, BAD_HELLO);
	EXPECT_REFUSED(hello.dead_ms = NTRDMA_DEAD_MS_MAX + 1, BAD_HELLO);
	EXPECT_REFUSED(hello.mac[0] = 1, BAD_HELLO);
	EXPECT_REFUSED(memset(hello.mac, 0, ETH_ALEN), BAD_HELLO);
	EXPECT_REFUSED(hello.session = 0, BAD_HELLO);
#undef EXPECT_REFUSED
#define EXPECT_REFUSED(change, why) do {				\
	hello = example();						\
	wire = encoded(&hello);						\
	change;								\
	KUNIT_EXPECT_EQ_MSG(test, ntrdma_hello_decode(&got, &wire, MEMBER), \
			    NTRDMA_REASON_ ## why, #change);		\
} while (0)
	EXPECT_REFUSED(wire.magic = 0, BAD_MAGIC);
	EXPECT_REFUSED(wire.version = cpu_to_le16(2), BAD_VERSION);
	EXPECT_REFUSED(wire.reserved[0] = cpu_to_le32(1), BAD_HELLO);
	EXPECT_REFUSED(wire.reserved[1] = cpu_to_le32(1), BAD_HELLO);
#undef EXPECT_REFUSED
}

static void member_beyond_fabric_is_refused(struct kunit *test)
{
	struct ntrdma_hello hello = example(), got;
	struct ntrdma_wire_hello wire;

	hello.member = NTRDMA_MEMBERS;
	wire = encoded(&hello);
	KUNIT_EXPECT_EQ(test, ntrdma_hello_decode(&got, &wire, NTRDMA_MEMBERS),
			NTRDMA_REASON_BAD_MEMBER);
}

static void fit_offers_largest_valid_sizes(struct kunit *test)
{
	u32 ring_bytes, chunk, next;
	size_t inbox;
	u8 lanes;

	for (lanes = 1; lanes <= NTRDMA_LANES; lanes++)
		for (inbox = NTRDMA_INBOX_MIN; inbox <= NTRDMA_INBOX_MAX;
		     inbox += inbox / 3) {
			if (!ntrdma_sizes_fit(inbox, lanes, true, SZ_4M, &ring_bytes,
					      &chunk)) {
				next = ntrdma_inbox_bytes(lanes, true, NTRDMA_RING_MIN);
				KUNIT_ASSERT_GT(test, next, inbox);
				continue;
			}
			next = 2 * ring_bytes;
			KUNIT_ASSERT_TRUE(test, ntrdma_sizes_ok(lanes, ring_bytes, chunk));
			KUNIT_ASSERT_LE(test, ntrdma_inbox_bytes(lanes, true, ring_bytes),
					inbox);
			KUNIT_ASSERT_TRUE(test, next > SZ_4M ||
					  ntrdma_inbox_bytes(lanes, true, next) > inbox);
		}
}

static void rings_are_behind_the_page_and_do_not_overlap(struct kunit *test)
{
	u8 ring;

	for (ring = 0; ring < NTRDMA_RINGS; ring++)
		KUNIT_EXPECT_EQ(test, ntrdma_ring_offset(ring, SZ_64K),
				NTRDMA_PAGE_BYTES + ring * SZ_64K);
	KUNIT_EXPECT_EQ(test, ntrdma_inbox_bytes(8, true, SZ_16M),
			NTRDMA_PAGE_BYTES + 9 * (size_t)SZ_16M);
}

/* Agree on random offers on both sides: the two results are equal and valid. */
static void agreement_is_the_same_on_both_sides(struct kunit *test)
{
	struct ntrdma_hello a = example(), b = example();
	struct ntrdma_terms ab, ba;
	struct rnd_state rnd;
	u32 i;

	prandom_seed_state(&rnd, 20261126);
	for (i = 0; i < 10000; i++) {
		a.lanes = 1 + prandom_u32_state(&rnd) % NTRDMA_LANES;
		b.lanes = 1 + prandom_u32_state(&rnd) % NTRDMA_LANES;
		ntrdma_sizes_fit(NTRDMA_INBOX_MAX, a.lanes, true,
				 prandom_u32_state(&rnd) % SZ_16M, &a.ring_bytes, &a.chunk);
		ntrdma_sizes_fit(NTRDMA_INBOX_MAX, b.lanes, true,
				 prandom_u32_state(&rnd) % SZ_16M, &b.ring_bytes, &b.chunk);
		a.dead_ms = 100 + prandom_u32_state(&rnd) % 1000;
		ntrdma_terms_agree(&ab, &a, &b);
		ntrdma_terms_agree(&ba, &b, &a);
		KUNIT_ASSERT_EQ(test, ab.lanes, ba.lanes);
		KUNIT_ASSERT_EQ(test, ab.ring_bytes, ba.ring_bytes);
		KUNIT_ASSERT_EQ(test, ab.chunk, ba.chunk);
		KUNIT_ASSERT_EQ(test, ab.dead_ms, ba.dead_ms);
		KUNIT_ASSERT_TRUE(test, ntrdma_sizes_ok(ab.lanes, ab.ring_bytes, ab.chunk));
		KUNIT_ASSERT_LE(test, ab.dead_ms, a.dead_ms);
		KUNIT_ASSERT_LE(test, ab.dead_ms, b.dead_ms);
	}
}

static struct kunit_case ntrdma_page_cases[] = {
	KUNIT_CASE(decode_returns_what_was_encoded),
	KUNIT_CASE(encode_leaves_session_to_the_caller),
	KUNIT_CASE(name_shows_no_control_characters),
	KUNIT_CASE(each_invalid_field_is_refused_with_its_reason),
	KUNIT_CASE(member_beyond_fabric_is_refused),
	KUNIT_CASE(fit_offers_largest_valid_sizes),
	KUNIT_CASE(rings_are_behind_the_page_and_do_not_overlap),
	KUNIT_CASE(agreement_is_the_same_on_both_sides),
	{}
};

static struct kunit_suite ntrdma_page_suite = {
	.name = "ntrdma_page",
	.test_cases = ntrdma_page_cases,
};

kunit_test_suite(ntrdma_page_suite);

MODULE_AUTHOR("The krdma developers");
MODULE_DESCRIPTION("KUnit tests of ntrdma's pages");
MODULE_LICENSE("GPL");
