// SPDX-License-Identifier: GPL-2.0
/*
 * Test the splitting of a request into work requests. They must transfer each
 * byte once, and each must stay within one segment of the peer's memory. Also
 * test the splitting of memory that is not mapped.
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

/* Entries of local memory, as bio_vecs and as scatterlist. */
static const u32 entry_lens[] = { 100, 4096, 1, 4096, 1708 };
static struct bio_vec entry_pages[ARRAY_SIZE(entry_lens)];
static struct scatterlist entry_sg[ARRAY_SIZE(entry_lens)];

static struct krdma_data data_of(enum krdma_mem mem)
{
	struct krdma_data data = {
		.mem = mem,
		.nents = ARRAY_SIZE(entry_lens),
	};
	u32 i;

	sg_init_table(entry_sg, ARRAY_SIZE(entry_lens));
	for (i = 0; i < ARRAY_SIZE(entry_lens); i++) {
		entry_pages[i].bv_len = entry_lens[i];
		entry_sg[i].length = entry_lens[i];
		data.len += entry_lens[i];
	}
	if (mem == KRDMA_MEM_PAGES)
		data.pages = entry_pages;
	else
		data.sg = entry_sg;
	return data;
}

/* Check that the memory begins with byte @at of all entries. */
static void check_position(struct kunit *test, const struct krdma_data *data,
			   u32 at)
{
	u32 i = 0;

	while (i < ARRAY_SIZE(entry_lens) && at >= entry_lens[i])
		at -= entry_lens[i++];
	KUNIT_EXPECT_EQ(test, data->nents, ARRAY_SIZE(entry_lens) - i);
	KUNIT_EXPECT_EQ(test, data->offset, (u64)at);
	if (!data->nents)
		return;
	if (data->mem == KRDMA_MEM_PAGES)
		KUNIT_EXPECT_PTR_EQ(test, data->pages, &entry_pages[i]);
	else
		KUNIT_EXPECT_PTR_EQ(test, data->sg, &entry_sg[i]);
}

static void check_steps(struct kunit *test, enum krdma_mem mem, u32 step)
{
	struct krdma_data data = data_of(mem);
	u32 len = data.len, at = 0;

	while (at < len) {
		u32 part = min(step, len - at);

		krdma_data_skip(&data, part);
		at += part;
		KUNIT_EXPECT_EQ(test, data.len, len - at);
		check_position(test, &data, at);
	}
}

static void data_skip_finds_entry_of_every_byte(struct kunit *test)
{
	static const u32 steps[] = { 1, 7, 99, 100, 101, 4096, 4197, 10001 };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		check_steps(test, KRDMA_MEM_PAGES, steps[i]);
		check_steps(test, KRDMA_MEM_SG, steps[i]);
	}
}

/* Memory that is sent in parts must not be walked from its start for each. */
static void data_skip_does_not_visit_earlier_entries(struct kunit *test)
{
	struct krdma_data data = data_of(KRDMA_MEM_PAGES);

	krdma_data_skip(&data, 150);
	check_position(test, &data, 150);
	entry_pages[0].bv_len = 0;
	krdma_data_skip(&data, 4046);
	check_position(test, &data, 4196);
	entry_pages[1].bv_len = 0;
	krdma_data_skip(&data, 2);
	check_position(test, &data, 4198);
}

static void data_skip_moves_address_of_linear_memory(struct kunit *test)
{
	u8 bytes[16];
	struct krdma_data data = {
		.mem = KRDMA_MEM_VIRT,
		.len = sizeof(bytes),
		.virt = bytes,
	};

	krdma_data_skip(&data, 5);
	KUNIT_EXPECT_PTR_EQ(test, data.virt, (void *)&bytes[5]);
	KUNIT_EXPECT_EQ(test, data.len, 11U);
	KUNIT_EXPECT_EQ(test, data.offset, 0ULL);
}

static void data_skip_moves_offset_in_region(struct kunit *test)
{
	struct krdma_data data = {
		.mem = KRDMA_MEM_REGION,
		.len = 100,
		.offset = U32_MAX,
	};

	krdma_data_skip(&data, 60);
	KUNIT_EXPECT_EQ(test, data.offset, (u64)U32_MAX + 60);
	KUNIT_EXPECT_EQ(test, data.len, 40U);
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
	KUNIT_CASE(data_skip_finds_entry_of_every_byte),
	KUNIT_CASE(data_skip_does_not_visit_earlier_entries),
	KUNIT_CASE(data_skip_moves_address_of_linear_memory),
	KUNIT_CASE(data_skip_moves_offset_in_region),
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
