// SPDX-License-Identifier: GPL-2.0
/* Test the submission entries of a ring. */
#include <kunit/test.h>

#include "../../vrfm/copy.c"
#include "../../vrfm/submits.c"

#define SLOTS 8U

struct fixture {
	struct vrfm_op entries[SLOTS];
	struct vrfm_op op[VRFM_BATCH_OPS];
	struct vrfm_submits submits;
	u32 shown;
};

static int fixture_init(struct kunit *test)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	f->submits.entries = f->entries;
	f->submits.shown = &f->shown;
	f->submits.slots = SLOTS;
	test->priv = f;
	return 0;
}

/* Make @n entries from index @at on a batch. */
static void batch_at(struct fixture *f, u32 at, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		f->entries[(at + i) % SLOTS] = (struct vrfm_op){
			.flags = i + 1 < n ? VRFM_OP_MORE : VRFM_OP_DONE,
			.cookie = at + i,
		};
}

static void tail_is_valid_up_to_all_slots(struct kunit *test)
{
	static const u32 heads[] = { 0, 5, U32_MAX - 3, U32_MAX };
	struct fixture *f = test->priv;
	u32 i, ahead, ready;

	for (i = 0; i < ARRAY_SIZE(heads); i++) {
		f->submits.head = heads[i];
		for (ahead = 0; ahead <= SLOTS; ahead++) {
			KUNIT_EXPECT_EQ(test, vrfm_submits_ready(&f->submits,
								 heads[i] + ahead,
								 &ready), 0);
			KUNIT_EXPECT_EQ(test, ready, ahead);
		}
		KUNIT_EXPECT_EQ(test, vrfm_submits_ready(&f->submits,
							 heads[i] + SLOTS + 1,
							 &ready), -EBADR);
		KUNIT_EXPECT_EQ(test, vrfm_submits_ready(&f->submits,
							 heads[i] - 1,
							 &ready), -EBADR);
	}
}

static void batch_ends_with_entry_without_more(struct kunit *test)
{
	struct fixture *f = test->priv;
	u32 at, n, i;

	for (at = 0; at < 2 * SLOTS; at++)
		for (n = 1; n < SLOTS; n++) {
			f->submits.head = at;
			batch_at(f, at + n, SLOTS - n);
			batch_at(f, at, n);
			KUNIT_ASSERT_EQ(test, vrfm_submits_copy(&f->submits,
								SLOTS, f->op),
					n);
			for (i = 0; i < n; i++)
				KUNIT_ASSERT_EQ(test, f->op[i].cookie,
						(u64)at + i);
		}
}

static void batch_ends_with_last_ready_entry(struct kunit *test)
{
	struct fixture *f = test->priv;

	batch_at(f, 0, SLOTS);
	KUNIT_EXPECT_EQ(test, vrfm_submits_copy(&f->submits, 3, f->op), 3U);
	KUNIT_EXPECT_EQ(test, f->op[2].flags, VRFM_OP_MORE);
	KUNIT_EXPECT_EQ(test, f->op[3].flags, 0);
}

/* The last operation has the flags and the cookie of the batch. */
static void long_batch_is_counted_whole(struct kunit *test)
{
	const u32 slots = 2 * VRFM_BATCH_OPS;
	struct fixture *f = test->priv;
	struct vrfm_op *entries = kunit_kcalloc(test, slots, sizeof(*entries),
						GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, entries);
	for (i = 0; i < slots; i++) {
		entries[i].flags = i < 99 ? VRFM_OP_MORE : VRFM_OP_ACKED;
		entries[i].cookie = i;
	}
	f->submits.entries = entries;
	f->submits.slots = slots;
	KUNIT_EXPECT_EQ(test, vrfm_submits_copy(&f->submits, slots, f->op),
			100U);
	KUNIT_EXPECT_EQ(test, f->op[VRFM_BATCH_OPS - 2].cookie,
			VRFM_BATCH_OPS - 2ULL);
	KUNIT_EXPECT_EQ(test, f->op[VRFM_BATCH_OPS - 1].cookie, 99ULL);
	KUNIT_EXPECT_EQ(test, f->op[VRFM_BATCH_OPS - 1].flags, VRFM_OP_ACKED);
}

static void head_is_shown_across_wrap(struct kunit *test)
{
	struct fixture *f = test->priv;
	u32 ready;

	f->submits.head = U32_MAX - 1;
	vrfm_submits_advance(&f->submits, 5);
	KUNIT_EXPECT_EQ(test, f->shown, 3U);
	f->shown = 77;
	KUNIT_EXPECT_EQ(test, vrfm_submits_ready(&f->submits, 4, &ready), 0);
	KUNIT_EXPECT_EQ(test, ready, 1U);
}

static struct kunit_case vrfm_submits_cases[] = {
	KUNIT_CASE(tail_is_valid_up_to_all_slots),
	KUNIT_CASE(batch_ends_with_entry_without_more),
	KUNIT_CASE(batch_ends_with_last_ready_entry),
	KUNIT_CASE(long_batch_is_counted_whole),
	KUNIT_CASE(head_is_shown_across_wrap),
	{ }
};

static struct kunit_suite vrfm_submits_suite = {
	.name = "vrfm_submits",
	.init = fixture_init,
	.test_cases = vrfm_submits_cases,
};

kunit_test_suite(vrfm_submits_suite);

MODULE_AUTHOR("The krdma developers <krdma@example.org>");
MODULE_DESCRIPTION("KUnit tests of vrfm/submits.c");
MODULE_LICENSE("GPL");
