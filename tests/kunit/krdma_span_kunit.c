// SPDX-License-Identifier: GPL-2.0
/*
 * Test the splitting of a request into work requests. They must transfer each
 * byte once, and each must stay within one segment of the peer's memory.
 */
#include <kunit/test.h>

#include "../../krdma/span.c"

#define MAX_WRS 64
#define MAX_SGES 8

/* A work request that results from splitting a request. */
struct krdma_cut {
	struct ib_sge sges[MAX_SGES];
	u32 n;
	u32 len;
	u64 raddr;
	u32 rkey;
};

/*
 * Work requests that result from splitting a request. The array is static,
 * because it is too large for the stack. Tests run one after the other.
 */
static struct krdma_cut cuts[MAX_WRS];

static u32 cut_all(const struct ib_sge *sges,
		   const struct krdma_seg *segs, u64 offset, u32 len, u32 max)
{
	struct krdma_span span;
	u32 n = 0, i;

	krdma_span_begin(&span, sges, segs, offset, len);
	do {
		struct krdma_cut *c = &cuts[n++];

		memset(c, 0, sizeof(*c));
		if (span.seg) {
			c->raddr = span.seg->addr + span.seg_off;
			c->rkey = span.seg->rkey;
		}
		c->n = krdma_span_next(&span, c->sges, max);
		for (i = 0; i < c->n; i++)
			c->len += c->sges[i].length;
	} while (span.left && n < MAX_WRS);
	return n;
}

static const struct ib_sge one_piece[] = {
	{ .addr = 0x10000, .length = 10000, .lkey = 1 },
};

static const struct ib_sge pieces[] = {
	{ .addr = 0x10000, .length = 100, .lkey = 1 },
	{ .addr = 0x20000, .length = 4096, .lkey = 2 },
	{ .addr = 0x30000, .length = 4096, .lkey = 3 },
	{ .addr = 0x40000, .length = 1708, .lkey = 4 },
};

static const struct krdma_seg one_seg[] = {
	{ .addr = 0x5000, .rkey = 11, .len = 20000 },
};

static const struct krdma_seg segs[] = {
	{ .addr = 0, .rkey = 11, .len = 4096 },
	{ .addr = 0x100000, .rkey = 12, .len = 8192 },
	{ .addr = 0x200000, .rkey = 13, .len = 4096 },
};

static void span_of_linear_memory_is_one_wr(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, cut_all(one_piece, one_seg, 5, 10000, 1), 1U);
	KUNIT_EXPECT_EQ(test, cuts[0].n, 1U);
	KUNIT_EXPECT_EQ(test, cuts[0].len, 10000U);
	KUNIT_EXPECT_EQ(test, cuts[0].raddr, 0x5005ULL);
	KUNIT_EXPECT_EQ(test, cuts[0].rkey, 11U);
	KUNIT_EXPECT_EQ(test, cuts[0].sges[0].addr, 0x10000ULL);
	KUNIT_EXPECT_EQ(test, cuts[0].sges[0].lkey, 1U);
}

static void span_wr_stays_within_remote_segment(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, cut_all(one_piece, segs, 4000, 10000, 4), 3U);
	KUNIT_EXPECT_EQ(test, cuts[0].raddr, 4000ULL);
	KUNIT_EXPECT_EQ(test, cuts[0].len, 96U);
	KUNIT_EXPECT_EQ(test, cuts[1].raddr, 0x100000ULL);
	KUNIT_EXPECT_EQ(test, cuts[1].len, 8192U);
	KUNIT_EXPECT_EQ(test, cuts[1].sges[0].addr, 0x10000ULL + 96);
	KUNIT_EXPECT_EQ(test, cuts[2].raddr, 0x200000ULL);
	KUNIT_EXPECT_EQ(test, cuts[2].len, 10000U - 96 - 8192);
	KUNIT_EXPECT_EQ(test, cuts[2].rkey, 13U);
}

static void span_at_segment_end_begins_with_next(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, cut_all(one_piece, segs, 4096, 8192, 4), 1U);
	KUNIT_EXPECT_EQ(test, cuts[0].raddr, 0x100000ULL);
	KUNIT_EXPECT_EQ(test, cuts[0].rkey, 12U);
}

static void span_wr_is_limited_by_max_sge(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, cut_all(pieces, one_seg, 0, 10000, 3), 2U);
	KUNIT_EXPECT_EQ(test, cuts[0].n, 3U);
	KUNIT_EXPECT_EQ(test, cuts[0].len, 8292U);
	KUNIT_EXPECT_EQ(test, cuts[1].n, 1U);
	KUNIT_EXPECT_EQ(test, cuts[1].raddr, 0x5000ULL + 8292);
	KUNIT_EXPECT_EQ(test, cuts[1].sges[0].lkey, 4U);
}

static void span_of_message_has_no_remote_segment(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, cut_all(pieces, NULL, 0, 10000, 4), 1U);
	KUNIT_EXPECT_EQ(test, cuts[0].n, 4U);
	KUNIT_EXPECT_EQ(test, cuts[0].len, 10000U);
	KUNIT_EXPECT_EQ(test, cuts[0].rkey, 0U);
}

static void span_of_zero_bytes_is_one_empty_wr(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, cut_all(pieces, NULL, 0, 0, 4), 1U);
	KUNIT_EXPECT_EQ(test, cuts[0].n, 0U);
	KUNIT_EXPECT_EQ(test, krdma_span_count(pieces, NULL, 0, 0, 4), 1U);
}

static void span_may_use_part_of_pieces(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, cut_all(pieces, NULL, 0, 150, 4), 1U);
	KUNIT_EXPECT_EQ(test, cuts[0].n, 2U);
	KUNIT_EXPECT_EQ(test, cuts[0].sges[1].length, 50U);
}

/* Check the local and remote address of each byte. */
static void check_every_byte(struct kunit *test, u64 offset, u32 len, u32 max)
{
	u32 n = cut_all(pieces, segs, offset, len, max), i, k, at = 0;

	KUNIT_EXPECT_EQ(test, n, krdma_span_count(pieces, segs, offset, len, max));
	for (i = 0; i < n; i++) {
		const struct krdma_seg *seg = segs;
		u64 off = offset + at;

		while (off >= seg->len)
			off -= seg++->len;
		KUNIT_EXPECT_EQ(test, cuts[i].raddr, seg->addr + off);
		KUNIT_EXPECT_EQ(test, cuts[i].rkey, seg->rkey);
		KUNIT_EXPECT_LE(test, off + cuts[i].len, (u64)seg->len);
		KUNIT_EXPECT_LE(test, cuts[i].n, max);
		for (k = 0; k < cuts[i].n; k++) {
			const struct ib_sge *piece = pieces;
			u32 local = at;

			while (local >= piece->length)
				local -= piece++->length;
			KUNIT_EXPECT_EQ(test, cuts[i].sges[k].addr,
					piece->addr + local);
			KUNIT_EXPECT_EQ(test, cuts[i].sges[k].lkey, piece->lkey);
			at += cuts[i].sges[k].length;
		}
	}
	KUNIT_EXPECT_EQ(test, at, len);
}

static void span_maps_every_byte_once(struct kunit *test)
{
	static const u64 offsets[] = { 0, 1, 4000, 4095, 4096, 4097, 6384 };
	static const u32 lens[] = { 1, 96, 100, 101, 4096, 4196, 8292, 10000 };
	u32 o, l, max;

	for (o = 0; o < ARRAY_SIZE(offsets); o++)
		for (l = 0; l < ARRAY_SIZE(lens); l++)
			for (max = 1; max <= 4; max++)
				check_every_byte(test, offsets[o], lens[l], max);
}

static struct kunit_case krdma_span_cases[] = {
	KUNIT_CASE(span_of_linear_memory_is_one_wr),
	KUNIT_CASE(span_wr_stays_within_remote_segment),
	KUNIT_CASE(span_at_segment_end_begins_with_next),
	KUNIT_CASE(span_wr_is_limited_by_max_sge),
	KUNIT_CASE(span_of_message_has_no_remote_segment),
	KUNIT_CASE(span_of_zero_bytes_is_one_empty_wr),
	KUNIT_CASE(span_may_use_part_of_pieces),
	KUNIT_CASE(span_maps_every_byte_once),
	{}
};

static struct kunit_suite krdma_span_suite = {
	.name = "krdma_span",
	.test_cases = krdma_span_cases,
};

kunit_test_suite(krdma_span_suite);

MODULE_AUTHOR("The krdma developers");
MODULE_DESCRIPTION("KUnit tests of cutting requests");
MODULE_LICENSE("GPL");
