// SPDX-License-Identifier: GPL-2.0
/*
 * Test descriptions of the peer's memory. Valid ones are imported with their
 * segments, and invalid ones are refused. The memory of a description has
 * exactly its length, so that KASAN detects reads behind it.
 */
#include <kunit/test.h>

#include "../../krdma/wire.c"
#include "../../krdma/remote.c"

/* Allocate a description on the heap, which is freed with the test. */
static void *describe(struct kunit *test, const struct krdma_seg *segs,
		      u32 nsegs, size_t *len)
{
	struct krdma_wire_export *exported;
	struct krdma_wire_seg *wire;
	u64 total = 0;
	u32 i;

	*len = krdma_export_wire_size(nsegs);
	exported = kunit_kzalloc(test, *len, GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, exported);
	wire = (void *)(exported + 1);
	for (i = 0; i < nsegs; i++) {
		krdma_seg_encode(&wire[i], &segs[i]);
		total += segs[i].len;
	}
	krdma_export_encode(exported, total, nsegs);
	return exported;
}

static struct krdma_remote *import(struct kunit *test,
				   const struct krdma_seg *segs, u32 nsegs)
{
	struct krdma_remote *remote;
	size_t len;
	void *desc = describe(test, segs, nsegs, &len);

	remote = krdma_remote_import(desc, len);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, remote);
	/*
	 * Overwrite the description, because the imported object must not
	 * depend on its bytes.
	 */
	memset(desc, 0xee, len);
	return remote;
}

static void expect_nonsense(struct kunit *test, const void *desc, size_t len)
{
	struct krdma_remote *remote = krdma_remote_import(desc, len);

	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(remote), (long)-EPROTO);
	if (!IS_ERR(remote))
		krdma_remote_free(remote);
}

static const struct krdma_seg some_segs[] = {
	{ .addr = 0x100000, .rkey = 11, .len = 4096 },
	{ .addr = 0xfff8, .rkey = 12, .len = 1 },
	{ .addr = 0x300004, .rkey = 13, .len = 8192 },
};

static void import_returns_described_segments(struct kunit *test)
{
	struct krdma_remote *remote = import(test, some_segs,
					     ARRAY_SIZE(some_segs));

	KUNIT_EXPECT_EQ(test, krdma_remote_size(remote), 12289ULL);
	KUNIT_ASSERT_EQ(test, krdma_remote_nsegs(remote), 3U);
	KUNIT_EXPECT_EQ(test, memcmp(krdma_remote_segs(remote), some_segs,
				     sizeof(some_segs)), 0);
	krdma_remote_free(remote);
}

/* 1024 segments of nearly 4 GiB: the sum has more than 32 bits. */
static void import_accepts_max_segments(struct kunit *test)
{
	struct krdma_remote *remote;
	struct krdma_seg *segs;
	u32 i;

	segs = kunit_kzalloc(test, KRDMA_WIRE_SEGS_MAX * sizeof(*segs),
			     GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, segs);
	for (i = 0; i < KRDMA_WIRE_SEGS_MAX; i++)
		segs[i] = (struct krdma_seg){
			.addr = (u64)i << 32,
			.rkey = i,
			.len = U32_MAX,
		};
	remote = import(test, segs, KRDMA_WIRE_SEGS_MAX);
	KUNIT_EXPECT_EQ(test, krdma_remote_nsegs(remote),
			(u32)KRDMA_WIRE_SEGS_MAX);
	KUNIT_EXPECT_EQ(test, krdma_remote_size(remote),
			(u64)KRDMA_WIRE_SEGS_MAX * U32_MAX);
	KUNIT_EXPECT_EQ(test,
			krdma_remote_segs(remote)[KRDMA_WIRE_SEGS_MAX - 1].rkey,
			KRDMA_WIRE_SEGS_MAX - 1U);
	krdma_remote_free(remote);
}

static void import_accepts_segment_up_to_last_address(struct kunit *test)
{
	static const struct krdma_seg last = {
		.addr = U64_MAX - 4096, .rkey = 1, .len = 4096,
	};
	struct krdma_remote *remote = import(test, &last, 1);

	KUNIT_EXPECT_EQ(test, krdma_remote_size(remote), 4096ULL);
	krdma_remote_free(remote);
}

static void import_refuses_other_length(struct kunit *test)
{
	size_t len, short_of;
	u8 *desc = describe(test, some_segs, ARRAY_SIZE(some_segs), &len);
	u8 *part;

	for (short_of = 1; short_of <= len; short_of++) {
		part = kunit_kzalloc(test, len - short_of, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, part);
		memcpy(part, desc, len - short_of);
		expect_nonsense(test, part, len - short_of);
	}
	part = kunit_kzalloc(test, len + 1, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, part);
	memcpy(part, desc, len);
	expect_nonsense(test, part, len + 1);
}

static void import_refuses_invalid_segment_count(struct kunit *test)
{
	static const u32 counts[] = {
		0, 2, 4, KRDMA_WIRE_SEGS_MAX + 1, 0x10000003, U32_MAX,
	};
	size_t len;
	struct krdma_wire_export *exported = describe(test, some_segs, 3, &len);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		exported->nsegs = cpu_to_le32(counts[i]);
		expect_nonsense(test, exported, len);
	}
}

/*
 * The description is valid except for the number of segments, which is one
 * above the limit.
 */
static void import_refuses_one_segment_above_max(struct kunit *test)
{
	struct krdma_seg *segs;
	void *desc;
	size_t len;
	u32 i;

	segs = kunit_kzalloc(test, (KRDMA_WIRE_SEGS_MAX + 1) * sizeof(*segs),
			     GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, segs);
	for (i = 0; i <= KRDMA_WIRE_SEGS_MAX; i++)
		segs[i].len = 1;
	desc = describe(test, segs, KRDMA_WIRE_SEGS_MAX + 1, &len);
	expect_nonsense(test, desc, len);
}

static void import_refuses_invalid_segment(struct kunit *test)
{
	static const struct krdma_seg wrong[] = {
		{ .addr = 0x1000, .rkey = 1, .len = 0 },
		{ .addr = U64_MAX, .rkey = 1, .len = 1 },
		{ .addr = U64_MAX - 4094, .rkey = 1, .len = 4096 },
		{ .addr = U64_MAX - 2, .rkey = 1, .len = U32_MAX },
	};
	struct krdma_seg segs[3];
	void *desc;
	size_t len;
	u32 i, at;

	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		for (at = 0; at < ARRAY_SIZE(segs); at++) {
			memcpy(segs, some_segs, sizeof(segs));
			segs[at] = wrong[i];
			desc = describe(test, segs, 3, &len);
			expect_nonsense(test, desc, len);
		}
	}
}

static void import_refuses_wrong_total_length(struct kunit *test)
{
	static const u64 sums[] = { 0, 12288, 12290, 12289 + BIT_ULL(32), U64_MAX };
	size_t len;
	struct krdma_wire_export *exported = describe(test, some_segs, 3, &len);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(sums); i++) {
		exported->len = cpu_to_le64(sums[i]);
		expect_nonsense(test, exported, len);
	}
}

/* For an atomic, the remote address must be aligned, not the offset. */
static void atomic_alignment_is_of_remote_address(struct kunit *test)
{
	struct krdma_remote *remote = import(test, some_segs,
					     ARRAY_SIZE(some_segs));

	KUNIT_EXPECT_TRUE(test, krdma_remote_is_aligned(remote, 0));
	KUNIT_EXPECT_FALSE(test, krdma_remote_is_aligned(remote, 4));
	KUNIT_EXPECT_TRUE(test, krdma_remote_is_aligned(remote, 4088));
	KUNIT_EXPECT_FALSE(test, krdma_remote_is_aligned(remote, 4095));
	/* The second segment is one byte at an aligned address. */
	KUNIT_EXPECT_TRUE(test, krdma_remote_is_aligned(remote, 4096));
	KUNIT_EXPECT_FALSE(test, krdma_remote_is_aligned(remote, 4097));
	KUNIT_EXPECT_TRUE(test, krdma_remote_is_aligned(remote, 4101));
	KUNIT_EXPECT_FALSE(test, krdma_remote_is_aligned(remote, 4104));
	KUNIT_EXPECT_FALSE(test, krdma_remote_is_aligned(remote, 12288));
	krdma_remote_free(remote);
}

static void remote_free_accepts_null(struct kunit *test)
{
	krdma_remote_free(NULL);
}

static struct kunit_case krdma_remote_cases[] = {
	KUNIT_CASE(import_returns_described_segments),
	KUNIT_CASE(import_accepts_max_segments),
	KUNIT_CASE(import_accepts_segment_up_to_last_address),
	KUNIT_CASE(import_refuses_other_length),
	KUNIT_CASE(import_refuses_invalid_segment_count),
	KUNIT_CASE(import_refuses_one_segment_above_max),
	KUNIT_CASE(import_refuses_invalid_segment),
	KUNIT_CASE(import_refuses_wrong_total_length),
	KUNIT_CASE(atomic_alignment_is_of_remote_address),
	KUNIT_CASE(remote_free_accepts_null),
	{}
};

static struct kunit_suite krdma_remote_suite = {
	.name = "krdma_remote",
	.test_cases = krdma_remote_cases,
};

kunit_test_suite(krdma_remote_suite);

MODULE_AUTHOR("The krdma developers");
MODULE_DESCRIPTION("KUnit tests of the peer's memory");
MODULE_LICENSE("GPL");
