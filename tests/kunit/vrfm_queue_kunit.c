// SPDX-License-Identifier: GPL-2.0
/* Test the queue of one type of event. */
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

/* Take an entry, and return whether it has @data. */
static bool takes(struct vrfm_queue *q, u32 data)
{
	struct vrfm_entry entry;

	return vrfm_queue_take(q, &entry) && entry.data == data;
}

static void take_from_empty_queue_fails(struct kunit *test)
{
	struct vrfm_queue *q = queue(test, 4, true, false);

	KUNIT_EXPECT_FALSE(test, takes(q, 0));
	KUNIT_EXPECT_EQ(test, q->count, 0U);
}

static void queue_is_fifo(struct kunit *test)
{
	struct vrfm_queue *q = queue(test, VRFM_QUEUE_DEPTH, true, false);
	u32 i;

	for (i = 0; i < 1000; i++) {
		KUNIT_EXPECT_TRUE(test, vrfm_queue_push(q, 1, 2 * i));
		KUNIT_EXPECT_TRUE(test, vrfm_queue_push(q, 1, 2 * i + 1));
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

	vrfm_queue_push(q, 255, 0xDEADBEEF);
	KUNIT_ASSERT_TRUE(test, vrfm_queue_take(q, &entry));
	KUNIT_EXPECT_EQ(test, entry.node, 255);
	KUNIT_EXPECT_EQ(test, entry.data, 0xDEADBEEFU);
}

static void disabled_queue_keeps_new_entries(struct kunit *test)
{
	struct vrfm_queue *q = queue(test, VRFM_QUEUE_DEPTH, false, false);
	u32 i;

	for (i = 0; i < VRFM_QUEUE_DEPTH; i++)
		KUNIT_EXPECT_FALSE(test, vrfm_queue_push(q, 1, i));
	KUNIT_EXPECT_FALSE(test, takes(q, 0));
	KUNIT_EXPECT_EQ(test, q->count, 0U);
	KUNIT_EXPECT_FALSE(test, q->overflowed);
	KUNIT_EXPECT_TRUE(test, vrfm_queue_enable(q));
	KUNIT_EXPECT_EQ(test, q->count, (u32)VRFM_QUEUE_DEPTH);
	for (i = 0; i < VRFM_QUEUE_DEPTH; i++)
		KUNIT_EXPECT_TRUE(test, takes(q, i));
}

static void entry_beyond_limit_is_lost(struct kunit *test)
{
	struct vrfm_queue *q = queue(test, 3, true, false);
	u32 i;

	for (i = 0; i < 3; i++)
		vrfm_queue_push(q, 1, i);
	KUNIT_EXPECT_FALSE(test, vrfm_queue_push(q, 1, 3));
	KUNIT_EXPECT_TRUE(test, q->overflowed);
	KUNIT_EXPECT_EQ(test, q->dropped, 1U);
	KUNIT_EXPECT_EQ(test, q->count, 3U);
	KUNIT_EXPECT_TRUE(test, takes(q, 0));
	KUNIT_EXPECT_TRUE(test, vrfm_queue_push(q, 1, 4));
	KUNIT_EXPECT_TRUE(test, takes(q, 1));
	KUNIT_EXPECT_TRUE(test, takes(q, 2));
	KUNIT_EXPECT_TRUE(test, takes(q, 4));
}

static void queue_of_one_keeps_newest(struct kunit *test)
{
	struct vrfm_queue *q = queue(test, 1, true, false);

	KUNIT_EXPECT_TRUE(test, vrfm_queue_push(q, 1, 1));
	KUNIT_EXPECT_TRUE(test, vrfm_queue_push(q, 1, 2));
	KUNIT_EXPECT_TRUE(test, q->overflowed);
	KUNIT_EXPECT_EQ(test, q->count, 2U);
	KUNIT_EXPECT_EQ(test, q->ready, 1);
	KUNIT_EXPECT_TRUE(test, takes(q, 2));
	KUNIT_EXPECT_FALSE(test, takes(q, 2));
}

static void disable_keeps_ready_entries(struct kunit *test)
{
	struct vrfm_queue *q = queue(test, 4, true, false);

	vrfm_queue_push(q, 1, 1);
	vrfm_queue_disable(q);
	vrfm_queue_push(q, 1, 2);
	KUNIT_EXPECT_TRUE(test, takes(q, 1));
	KUNIT_EXPECT_FALSE(test, takes(q, 2));
	KUNIT_EXPECT_TRUE(test, vrfm_queue_enable(q));
	KUNIT_EXPECT_TRUE(test, takes(q, 2));
}

static void fault_disables_its_queue(struct kunit *test)
{
	struct vrfm_queue *q = queue(test, 1, true, true);

	KUNIT_EXPECT_TRUE(test, vrfm_queue_push(q, 0, 0));
	KUNIT_EXPECT_FALSE(test, q->enabled);
	KUNIT_EXPECT_FALSE(test, vrfm_queue_push(q, 0, 0));
	KUNIT_EXPECT_EQ(test, q->count, 1U);
	KUNIT_EXPECT_TRUE(test, takes(q, 0));
	KUNIT_EXPECT_FALSE(test, vrfm_queue_push(q, 0, 0));
	KUNIT_EXPECT_FALSE(test, takes(q, 0));
	KUNIT_EXPECT_TRUE(test, vrfm_queue_enable(q));
	KUNIT_EXPECT_FALSE(test, q->enabled);
	KUNIT_EXPECT_EQ(test, q->count, 2U);
}

static void second_fault_replaces_untaken_first(struct kunit *test)
{
	struct vrfm_queue *q = queue(test, 1, true, true);

	vrfm_queue_push(q, 2, 1);
	vrfm_queue_push(q, 3, 2);
	KUNIT_EXPECT_TRUE(test, q->overflowed);
	KUNIT_EXPECT_EQ(test, q->ready, 1);
	KUNIT_EXPECT_EQ(test, q->fill, 1);
	KUNIT_EXPECT_EQ(test, q->count, 1U);
	KUNIT_EXPECT_TRUE(test, takes(q, 2));
	KUNIT_EXPECT_FALSE(test, takes(q, 2));
}

/*
 * A fault is queued, and not taken yet. When the event is enabled again, the
 * next fault must be delivered as well.
 */
static void reenabled_fault_is_delivered_again(struct kunit *test)
{
	struct vrfm_queue *q = queue(test, 1, true, true);

	vrfm_queue_push(q, 2, 1);
	KUNIT_EXPECT_FALSE(test, vrfm_queue_enable(q));
	KUNIT_EXPECT_TRUE(test, q->enabled);
	KUNIT_EXPECT_TRUE(test, vrfm_queue_push(q, 3, 2));
	KUNIT_EXPECT_FALSE(test, q->enabled);
	KUNIT_EXPECT_EQ(test, q->count, 2U);
	KUNIT_EXPECT_TRUE(test, takes(q, 2));
	KUNIT_EXPECT_FALSE(test, takes(q, 2));
}

static void clear_keeps_count(struct kunit *test)
{
	struct vrfm_queue *q = queue(test, 2, true, false);
	u32 i;

	for (i = 0; i < 3; i++)
		vrfm_queue_push(q, 1, i);
	vrfm_queue_clear(q);
	KUNIT_EXPECT_FALSE(test, takes(q, 0));
	KUNIT_EXPECT_FALSE(test, q->overflowed);
	KUNIT_EXPECT_EQ(test, q->peak, 0);
	KUNIT_EXPECT_EQ(test, q->count, 2U);
	KUNIT_EXPECT_TRUE(test, vrfm_queue_push(q, 1, 9));
	KUNIT_EXPECT_TRUE(test, takes(q, 9));
}

static void clear_count_keeps_entries(struct kunit *test)
{
	struct vrfm_queue *q = queue(test, 4, true, false);
	u32 i;

	for (i = 0; i < 5; i++)
		vrfm_queue_push(q, 1, i);
	KUNIT_EXPECT_TRUE(test, takes(q, 0));
	vrfm_queue_clear_count(q);
	KUNIT_EXPECT_EQ(test, q->count, 0U);
	KUNIT_EXPECT_EQ(test, q->peak, 3);
	KUNIT_EXPECT_TRUE(test, q->overflowed);
	KUNIT_EXPECT_TRUE(test, takes(q, 1));
}

static void enable_twice_delivers_once(struct kunit *test)
{
	struct vrfm_queue *q = queue(test, 4, false, false);

	vrfm_queue_push(q, 1, 1);
	KUNIT_EXPECT_TRUE(test, vrfm_queue_enable(q));
	KUNIT_EXPECT_FALSE(test, vrfm_queue_enable(q));
	KUNIT_EXPECT_EQ(test, q->count, 1U);
}

static struct kunit_case vrfm_queue_cases[] = {
	KUNIT_CASE(take_from_empty_queue_fails),
	KUNIT_CASE(queue_is_fifo),
	KUNIT_CASE(entry_keeps_node_and_data),
	KUNIT_CASE(disabled_queue_keeps_new_entries),
	KUNIT_CASE(entry_beyond_limit_is_lost),
	KUNIT_CASE(queue_of_one_keeps_newest),
	KUNIT_CASE(disable_keeps_ready_entries),
	KUNIT_CASE(fault_disables_its_queue),
	KUNIT_CASE(second_fault_replaces_untaken_first),
	KUNIT_CASE(reenabled_fault_is_delivered_again),
	KUNIT_CASE(clear_keeps_count),
	KUNIT_CASE(clear_count_keeps_entries),
	KUNIT_CASE(enable_twice_delivers_once),
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
