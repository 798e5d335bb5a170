// SPDX-License-Identifier: GPL-2.0
/* The queue of one type of event. */
#include <kunit/test.h>

#include "../../vrfm/queue.c"

static struct vrfm_queue *queue(struct kunit *test, u16 depth, bool enabled,
				bool once)
{
	struct vrfm_queue *q = kunit_kzalloc(test, sizeof(*q), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, q);
	vrfm_queue_init(q, depth, enabled, once);
	return q;
}

/* Takes one and says whether it carries DATA. */
static bool takes(struct vrfm_queue *q, u32 data)
{
	struct vrfm_entry entry;

	return vrfm_queue_take(q, &entry) && entry.data == data;
}

static void empty_queue_gives_nothing(struct kunit *test)
{
	struct vrfm_queue *q = queue(test, 4, true, false);

	KUNIT_EXPECT_FALSE(test, takes(q, 0));
	KUNIT_EXPECT_EQ(test, q->count, 0U);
}

static void first_comes_out_first(struct kunit *test)
{
	struct vrfm_queue *q = queue(test, VRFM_QUEUE_DEPTH, true, false);
	u32 i;

	for (i = 0; i < 1000; i++) {
		KUNIT_EXPECT_TRUE(test, vrfm_queue_put(q, 1, 2 * i));
		KUNIT_EXPECT_TRUE(test, vrfm_queue_put(q, 1, 2 * i + 1));
		KUNIT_EXPECT_TRUE(test, takes(q, 2 * i));
		KUNIT_EXPECT_TRUE(test, takes(q, 2 * i + 1));
	}
	KUNIT_EXPECT_EQ(test, q->count, 2000U);
	KUNIT_EXPECT_EQ(test, q->peak, 2);
}

static void entry_keeps_node_and_data(struct kunit *test)
{
	struct vrfm_queue *q = queue(test, 4, true, false);
	struct vrfm_entry entry;

	vrfm_queue_put(q, 255, 0xDEADBEEF);
	KUNIT_ASSERT_TRUE(test, vrfm_queue_take(q, &entry));
	KUNIT_EXPECT_EQ(test, entry.node, 255);
	KUNIT_EXPECT_EQ(test, entry.data, 0xDEADBEEFU);
}

static void disabled_queue_keeps_what_comes(struct kunit *test)
{
	struct vrfm_queue *q = queue(test, VRFM_QUEUE_DEPTH, false, false);
	u32 i;

	for (i = 0; i < VRFM_QUEUE_DEPTH; i++)
		KUNIT_EXPECT_FALSE(test, vrfm_queue_put(q, 1, i));
	KUNIT_EXPECT_FALSE(test, takes(q, 0));
	KUNIT_EXPECT_EQ(test, q->count, 0U);
	KUNIT_EXPECT_FALSE(test, q->overflowed);
	KUNIT_EXPECT_TRUE(test, vrfm_queue_enable(q));
	KUNIT_EXPECT_EQ(test, q->count, (u32)VRFM_QUEUE_DEPTH);
	for (i = 0; i < VRFM_QUEUE_DEPTH; i++)
		KUNIT_EXPECT_TRUE(test, takes(q, i));
}

static void one_too_many_is_lost(struct kunit *test)
{
	struct vrfm_queue *q = queue(test, 3, true, false);
	u32 i;

	for (i = 0; i < 3; i++)
		vrfm_queue_put(q, 1, i);
	KUNIT_EXPECT_FALSE(test, vrfm_queue_put(q, 1, 3));
	KUNIT_EXPECT_TRUE(test, q->overflowed);
	KUNIT_EXPECT_EQ(test, q->dropped, 1U);
	KUNIT_EXPECT_EQ(test, q->count, 3U);
	KUNIT_EXPECT_TRUE(test, takes(q, 0));
	KUNIT_EXPECT_TRUE(test, vrfm_queue_put(q, 1, 4));
	KUNIT_EXPECT_TRUE(test, takes(q, 1));
	KUNIT_EXPECT_TRUE(test, takes(q, 2));
	KUNIT_EXPECT_TRUE(test, takes(q, 4));
}

static void queue_of_one_keeps_the_newest(struct kunit *test)
{
	struct vrfm_queue *q = queue(test, 1, true, false);

	KUNIT_EXPECT_TRUE(test, vrfm_queue_put(q, 1, 1));
	KUNIT_EXPECT_TRUE(test, vrfm_queue_put(q, 1, 2));
	KUNIT_EXPECT_TRUE(test, q->overflowed);
	KUNIT_EXPECT_EQ(test, q->count, 2U);
	KUNIT_EXPECT_EQ(test, q->ready, 1);
	KUNIT_EXPECT_TRUE(test, takes(q, 2));
	KUNIT_EXPECT_FALSE(test, takes(q, 2));
}

static void disabling_leaves_what_is_ready(struct kunit *test)
{
	struct vrfm_queue *q = queue(test, 4, true, false);

	vrfm_queue_put(q, 1, 1);
	vrfm_queue_disable(q);
	vrfm_queue_put(q, 1, 2);
	KUNIT_EXPECT_TRUE(test, takes(q, 1));
	KUNIT_EXPECT_FALSE(test, takes(q, 2));
	KUNIT_EXPECT_TRUE(test, vrfm_queue_enable(q));
	KUNIT_EXPECT_TRUE(test, takes(q, 2));
}

static void fault_disables_itself(struct kunit *test)
{
	struct vrfm_queue *q = queue(test, 1, true, true);

	KUNIT_EXPECT_TRUE(test, vrfm_queue_put(q, 0, 0));
	KUNIT_EXPECT_FALSE(test, q->enabled);
	KUNIT_EXPECT_FALSE(test, vrfm_queue_put(q, 0, 0));
	KUNIT_EXPECT_EQ(test, q->count, 1U);
	KUNIT_EXPECT_TRUE(test, takes(q, 0));
	KUNIT_EXPECT_FALSE(test, vrfm_queue_put(q, 0, 0));
	KUNIT_EXPECT_FALSE(test, takes(q, 0));
	KUNIT_EXPECT_TRUE(test, vrfm_queue_enable(q));
	KUNIT_EXPECT_FALSE(test, q->enabled);
	KUNIT_EXPECT_EQ(test, q->count, 2U);
}

static void second_fault_can_be_taken_for_the_first(struct kunit *test)
{
	struct vrfm_queue *q = queue(test, 1, true, true);

	vrfm_queue_put(q, 2, 1);
	vrfm_queue_put(q, 3, 2);
	KUNIT_EXPECT_TRUE(test, q->overflowed);
	KUNIT_EXPECT_EQ(test, q->ready, 1);
	KUNIT_EXPECT_EQ(test, q->fill, 1);
	KUNIT_EXPECT_EQ(test, q->count, 1U);
	KUNIT_EXPECT_TRUE(test, takes(q, 2));
	KUNIT_EXPECT_FALSE(test, takes(q, 2));
}

/* Nobody has taken the first one. */
static void fault_that_is_enabled_again_comes_again(struct kunit *test)
{
	struct vrfm_queue *q = queue(test, 1, true, true);

	vrfm_queue_put(q, 2, 1);
	KUNIT_EXPECT_FALSE(test, vrfm_queue_enable(q));
	KUNIT_EXPECT_TRUE(test, q->enabled);
	KUNIT_EXPECT_TRUE(test, vrfm_queue_put(q, 3, 2));
	KUNIT_EXPECT_FALSE(test, q->enabled);
	KUNIT_EXPECT_EQ(test, q->count, 2U);
	KUNIT_EXPECT_TRUE(test, takes(q, 2));
	KUNIT_EXPECT_FALSE(test, takes(q, 2));
}

static void clearing_forgets_all_but_the_count(struct kunit *test)
{
	struct vrfm_queue *q = queue(test, 2, true, false);
	u32 i;

	for (i = 0; i < 3; i++)
		vrfm_queue_put(q, 1, i);
	vrfm_queue_clear(q);
	KUNIT_EXPECT_FALSE(test, takes(q, 0));
	KUNIT_EXPECT_FALSE(test, q->overflowed);
	KUNIT_EXPECT_EQ(test, q->peak, 0);
	KUNIT_EXPECT_EQ(test, q->count, 2U);
	KUNIT_EXPECT_TRUE(test, vrfm_queue_put(q, 1, 9));
	KUNIT_EXPECT_TRUE(test, takes(q, 9));
}

static void clearing_the_count_keeps_what_is_queued(struct kunit *test)
{
	struct vrfm_queue *q = queue(test, 4, true, false);
	u32 i;

	for (i = 0; i < 5; i++)
		vrfm_queue_put(q, 1, i);
	KUNIT_EXPECT_TRUE(test, takes(q, 0));
	vrfm_queue_clear_count(q);
	KUNIT_EXPECT_EQ(test, q->count, 0U);
	KUNIT_EXPECT_EQ(test, q->peak, 3);
	KUNIT_EXPECT_TRUE(test, q->overflowed);
	KUNIT_EXPECT_TRUE(test, takes(q, 1));
}

static void enabling_twice_hands_over_once(struct kunit *test)
{
	struct vrfm_queue *q = queue(test, 4, false, false);

	vrfm_queue_put(q, 1, 1);
	KUNIT_EXPECT_TRUE(test, vrfm_queue_enable(q));
	KUNIT_EXPECT_FALSE(test, vrfm_queue_enable(q));
	KUNIT_EXPECT_EQ(test, q->count, 1U);
}

static struct kunit_case vrfm_queue_cases[] = {
	KUNIT_CASE(empty_queue_gives_nothing),
	KUNIT_CASE(first_comes_out_first),
	KUNIT_CASE(entry_keeps_node_and_data),
	KUNIT_CASE(disabled_queue_keeps_what_comes),
	KUNIT_CASE(one_too_many_is_lost),
	KUNIT_CASE(queue_of_one_keeps_the_newest),
	KUNIT_CASE(disabling_leaves_what_is_ready),
	KUNIT_CASE(fault_disables_itself),
	KUNIT_CASE(second_fault_can_be_taken_for_the_first),
	KUNIT_CASE(fault_that_is_enabled_again_comes_again),
	KUNIT_CASE(clearing_forgets_all_but_the_count),
	KUNIT_CASE(clearing_the_count_keeps_what_is_queued),
	KUNIT_CASE(enabling_twice_hands_over_once),
	{ }
};

static struct kunit_suite vrfm_queue_suite = {
	.name = "vrfm_queue",
	.test_cases = vrfm_queue_cases,
};

kunit_test_suite(vrfm_queue_suite);

MODULE_AUTHOR("The krdma developers <krdma@example.org>");
MODULE_DESCRIPTION("KUnit tests of vrfm/queue.c");
MODULE_LICENSE("GPL");
