// SPDX-License-Identifier: GPL-2.0
/* Test notices of writes: hulls and counts against a bitmap. */
#include <kunit/test.h>
#include <linux/bitmap.h>
#include <linux/prandom.h>

#include "../../vrfm/notice.c"

#define BYTES 64U

/* The bytes that were written, one bit each, and their number. */
struct model {
	DECLARE_BITMAP(written, BYTES);
	u32 bytes;
};

static void model_write(struct model *model, u32 from, u32 to, u32 offset,
			u32 len)
{
	for (; len; offset++, len--) {
		if (offset < from || offset >= to)
			continue;
		__set_bit(offset, model->written);
		model->bytes++;
	}
}

static void expect_equal(struct kunit *test, const struct vrfm_notice *notice,
			 const struct model *model)
{
	KUNIT_ASSERT_EQ(test, notice->bytes, model->bytes);
	if (!model->bytes)
		return;
	KUNIT_ASSERT_EQ(test, notice->first,
			find_first_bit(model->written, BYTES));
	KUNIT_ASSERT_EQ(test, notice->end,
			find_last_bit(model->written, BYTES) + 1);
}

static void every_run_is_clipped_to_every_part(struct kunit *test)
{
	u32 from, to, offset, len;

	for (from = 0; from < 12; from++)
		for (to = from + 1; to <= 12; to++)
			for (offset = 0; offset < 14; offset++)
				for (len = 0; len < 14; len++) {
					struct vrfm_notice notice = {
						.from = from, .to = to,
					};
					struct model model = { };

					vrfm_notice_add(&notice, offset, len);
					model_write(&model, from, to, offset,
						    len);
					expect_equal(test, &notice, &model);
				}
}

static void run_at_the_end_of_the_largest_memory_is_counted(struct kunit *test)
{
	struct vrfm_notice notice = { .from = 0, .to = 1U << 31 };

	vrfm_notice_add(&notice, (1U << 31) - 8, 8);
	KUNIT_EXPECT_EQ(test, notice.first, (1U << 31) - 8);
	KUNIT_EXPECT_EQ(test, notice.end, 1U << 31);
	KUNIT_EXPECT_EQ(test, notice.bytes, 8U);
}

/* Merge random notices of one part, and compare the result with a bitmap. */
static void merged_hulls_equal_bitmap(struct kunit *test)
{
	struct rnd_state state;
	u32 round, message, run;

	prandom_seed_state(&state, 33);
	for (round = 0; round < 2000; round++) {
		u32 from = prandom_u32_state(&state) % (BYTES - 1);
		u32 to = from + 1 + prandom_u32_state(&state) % (BYTES - from);
		struct vrfm_notice sum = { .from = from, .to = to };
		struct model model = { };
		u32 messages = 0;

		for (message = 0; message < 5; message++) {
			struct vrfm_notice newer = {
				.from = from, .to = to, .messages = 1,
			};

			for (run = 0; run < 3; run++) {
				u32 at = prandom_u32_state(&state) % BYTES;
				u32 len = prandom_u32_state(&state) %
					  (BYTES - at + 1);

				vrfm_notice_add(&newer, at, len);
				model_write(&model, from, to, at, len);
			}
			if (!newer.bytes)
				continue;
			vrfm_notice_merge(&sum, &newer);
			messages++;
		}
		expect_equal(test, &sum, &model);
		if (messages)
			KUNIT_ASSERT_EQ(test, sum.messages, messages);
	}
}

static struct vrfm_notice notice_of(u16 node, u64 serial)
{
	return (struct vrfm_notice){
		.to = BYTES, .first = 8, .end = 16, .bytes = 8, .messages = 1,
		.node = node, .serial = serial,
	};
}

static void last_serial_of_one_writer_is_kept(struct kunit *test)
{
	struct vrfm_notice sum = { .to = BYTES }, newer = notice_of(3, 7);

	vrfm_notice_merge(&sum, &newer);
	newer.serial = 9;
	vrfm_notice_merge(&sum, &newer);
	KUNIT_EXPECT_EQ(test, sum.node, 3);
	KUNIT_EXPECT_EQ(test, sum.serial, 9ULL);
}

static void several_writers_have_no_id_and_no_serial(struct kunit *test)
{
	struct vrfm_notice sum = notice_of(3, 7), newer = notice_of(4, 100);

	vrfm_notice_merge(&sum, &newer);
	KUNIT_EXPECT_EQ(test, sum.node, VRFM_REC_NO_NODE);
	KUNIT_EXPECT_EQ(test, sum.serial, 0ULL);
	vrfm_notice_merge(&sum, &newer);
	KUNIT_EXPECT_EQ(test, sum.node, VRFM_REC_NO_NODE);
	KUNIT_EXPECT_EQ(test, sum.serial, 0ULL);
	KUNIT_EXPECT_EQ(test, sum.messages, 3U);
}

static void counts_stop_at_their_maximum(struct kunit *test)
{
	struct vrfm_notice sum = notice_of(3, 7), newer = notice_of(3, 8);

	sum.bytes = U32_MAX - 7;
	sum.messages = U32_MAX;
	vrfm_notice_merge(&sum, &newer);
	KUNIT_EXPECT_EQ(test, sum.bytes, U32_MAX);
	KUNIT_EXPECT_EQ(test, sum.messages, U32_MAX);
	vrfm_notice_add(&sum, 0, 8);
	KUNIT_EXPECT_EQ(test, sum.bytes, U32_MAX);
}

static struct kunit_case vrfm_notice_cases[] = {
	KUNIT_CASE(every_run_is_clipped_to_every_part),
	KUNIT_CASE(run_at_the_end_of_the_largest_memory_is_counted),
	KUNIT_CASE(merged_hulls_equal_bitmap),
	KUNIT_CASE(last_serial_of_one_writer_is_kept),
	KUNIT_CASE(several_writers_have_no_id_and_no_serial),
	KUNIT_CASE(counts_stop_at_their_maximum),
	{ }
};

static struct kunit_suite vrfm_notice_suite = {
	.name = "vrfm_notice",
	.test_cases = vrfm_notice_cases,
};

kunit_test_suite(vrfm_notice_suite);

MODULE_AUTHOR("The krdma developers <krdma@example.org>");
MODULE_DESCRIPTION("KUnit tests of vrfm/notice.c");
MODULE_LICENSE("GPL");
