// SPDX-License-Identifier: GPL-2.0
/* Test the indices and records of a ring: exhaustively with 8 slots, and by random numbers. */
#include <kunit/test.h>
#include <linux/prandom.h>
#include <linux/string.h>

#include "../../vrfm/ringbuf.c"

#define SLOTS 8U
/* Value of an index that has never been shown. */
#define NEVER 0xDEADBEEF

static u32 shown;

static struct vrfm_ringbuf *ring_of(struct kunit *test, u32 slots)
{
	struct vrfm_ringbuf *rb = kunit_kzalloc(test, sizeof(*rb), GFP_KERNEL);
	struct vrfm_record *records =
		kunit_kcalloc(test, slots, sizeof(*records), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, rb);
	KUNIT_ASSERT_NOT_NULL(test, records);
	shown = NEVER;
	vrfm_ringbuf_init(rb, records, &shown, slots);
	return rb;
}

static struct vrfm_ringbuf *ring(struct kunit *test)
{
	return ring_of(test, SLOTS);
}

/* Begin the stream at @start, as if all earlier records were released. */
static void move_to(struct vrfm_ringbuf *rb, u32 start)
{
	rb->head = start;
	rb->tail = start;
	rb->next = start;
	rb->lost = 0;
}

static bool add(struct vrfm_ringbuf *rb, u32 slots, u16 type)
{
	struct vrfm_record *record =
		vrfm_ringbuf_add(rb, (slots - 1) * VRFM_SLOT, 7);

	if (record)
		record->type = type;
	return record;
}

/* Check every head against a tail that is @unread slots ahead of @start. */
static void check_heads(struct kunit *test, struct vrfm_ringbuf *rb, u32 start,
			u32 unread)
{
	u32 distance;

	for (distance = -3 * SLOTS; distance != 3 * SLOTS; distance++) {
		move_to(rb, start);
		rb->tail += unread;
		rb->next = rb->tail;
		KUNIT_EXPECT_EQ(test, vrfm_ringbuf_release(rb, start + distance),
				(s32)distance >= 0 && distance <= unread);
		KUNIT_EXPECT_LE(test, vrfm_ringbuf_unread(rb), SLOTS);
	}
}

static void head_is_accepted_between_last_head_and_tail(struct kunit *test)
{
	struct vrfm_ringbuf *rb = ring(test);
	u32 start, unread;

	for (start = -2 * SLOTS; start != 2 * SLOTS; start++)
		for (unread = 0; unread <= SLOTS; unread++)
			check_heads(test, rb, start, unread);
}

static void invalid_head_changes_nothing(struct kunit *test)
{
	struct vrfm_ringbuf *rb = ring(test);

	KUNIT_EXPECT_TRUE(test, add(rb, 1, 9));
	vrfm_ringbuf_publish(rb);
	KUNIT_EXPECT_FALSE(test, vrfm_ringbuf_release(rb, 2));
	KUNIT_EXPECT_FALSE(test, vrfm_ringbuf_release(rb, -1));
	KUNIT_EXPECT_EQ(test, rb->head, 0U);
	KUNIT_EXPECT_EQ(test, vrfm_ringbuf_unread(rb), 1U);
}

static void unpublished_record_cannot_be_released(struct kunit *test)
{
	struct vrfm_ringbuf *rb = ring(test);

	KUNIT_EXPECT_TRUE(test, add(rb, 1, 9));
	KUNIT_EXPECT_FALSE(test, vrfm_ringbuf_release(rb, 1));
	vrfm_ringbuf_publish(rb);
	KUNIT_EXPECT_TRUE(test, vrfm_ringbuf_release(rb, 1));
}

static void random_heads_around_wrap_match_64_bits(struct kunit *test)
{
	struct vrfm_ringbuf *rb = ring_of(test, 1024);
	struct rnd_state state;
	u64 tail, head, wanted;
	u32 i;

	prandom_seed_state(&state, 33);
	for (i = 0; i < 100000; i++) {
		head = (1ULL << 32) - 4096 + prandom_u32_state(&state) % 8192;
		tail = head + prandom_u32_state(&state) % 1025;
		wanted = head - 512 + prandom_u32_state(&state) % 2048;
		move_to(rb, head);
		rb->tail = tail;
		rb->next = tail;
		KUNIT_ASSERT_EQ(test, vrfm_ringbuf_release(rb, wanted),
				wanted >= head && wanted <= tail);
	}
}

static void add_publishes_nothing(struct kunit *test)
{
	struct vrfm_ringbuf *rb = ring(test);

	KUNIT_EXPECT_TRUE(test, add(rb, 2, 9));
	KUNIT_EXPECT_EQ(test, shown, NEVER);
	KUNIT_EXPECT_EQ(test, vrfm_ringbuf_unread(rb), 0U);
	vrfm_ringbuf_publish(rb);
	KUNIT_EXPECT_EQ(test, shown, 2U);
	KUNIT_EXPECT_EQ(test, vrfm_ringbuf_unread(rb), 2U);
}

/*
 * Add a record of @slots slots at @at, with @unread unread slots before it.
 * Compare with the definition: the record lies behind @at, or behind the end of
 * the area if it would cross that end.
 */
static void check_place(struct kunit *test, struct vrfm_ringbuf *rb, u32 at,
			u32 unread, u32 slots)
{
	bool crosses = at % SLOTS + slots > SLOTS;
	u32 pad = crosses ? SLOTS - at % SLOTS : 0;
	const struct vrfm_record *record, *first;
	bool fits = unread + pad + slots <= SLOTS;

	memset(rb->records, 0xAA, SLOTS * VRFM_SLOT);
	move_to(rb, at - unread);
	rb->tail += unread;
	rb->next = rb->tail;
	record = vrfm_ringbuf_add(rb, (slots - 1) * VRFM_SLOT, 7);
	KUNIT_ASSERT_EQ(test, !!record, fits);
	KUNIT_ASSERT_EQ(test, rb->next, at + (fits ? pad + slots : 0));
	if (!record)
		return;
	KUNIT_ASSERT_PTR_EQ(test, record, &rb->records[(at + pad) % SLOTS]);
	KUNIT_ASSERT_EQ(test, (at + pad) % SLOTS + record->slots <= SLOTS, true);
	KUNIT_ASSERT_EQ(test, record->slots, slots);
	KUNIT_ASSERT_EQ(test, record->time_ns, 7ULL);
	KUNIT_ASSERT_EQ(test, record->cookie, 0ULL);
	first = &rb->records[at % SLOTS];
	if (pad) {
		KUNIT_ASSERT_EQ(test, first->type, VRFM_REC_PAD);
		KUNIT_ASSERT_EQ(test, first->slots, pad);
	}
}

static void record_of_each_size_at_each_place_is_contiguous(struct kunit *test)
{
	struct vrfm_ringbuf *rb = ring(test);
	u32 at, unread, slots;

	for (at = -SLOTS; at != SLOTS; at++)
		for (unread = 0; unread <= SLOTS; unread++)
			for (slots = 1; slots <= SLOTS; slots++)
				check_place(test, rb, at, unread, slots);
}

static void payload_takes_whole_slots(struct kunit *test)
{
	struct vrfm_ringbuf *rb = ring_of(test, 4096);
	const struct vrfm_record *record;
	u32 payload;

	for (payload = 0; payload <= 65536; payload++) {
		move_to(rb, 0);
		record = vrfm_ringbuf_add(rb, payload, 0);
		KUNIT_ASSERT_NOT_NULL(test, record);
		KUNIT_ASSERT_EQ(test, record->slots, 1 + (payload + 63) / 64);
	}
}

/* Read records as a program does. Return the number of those that are no PAD. */
static u32 consume(struct kunit *test, struct vrfm_ringbuf *rb, u32 *number)
{
	const struct vrfm_record *record;
	u32 at, n = 0;

	for (at = rb->head; at != shown; at += record->slots) {
		record = &rb->records[at % SLOTS];
		KUNIT_ASSERT_GT(test, record->slots, 0);
		KUNIT_ASSERT_EQ(test, vrfm_ringbuf_length(rb, at), record->slots);
		if (record->type == VRFM_REC_PAD)
			continue;
		KUNIT_ASSERT_EQ(test, record->type, 9);
		KUNIT_ASSERT_EQ(test, record->raw[0], (*number)++);
		n++;
	}
	KUNIT_ASSERT_TRUE(test, vrfm_ringbuf_release(rb, at));
	return n;
}

static void reader_gets_all_records_in_order(struct kunit *test)
{
	struct vrfm_ringbuf *rb = ring(test);
	u32 sent = 0, received = 0, i;
	struct vrfm_record *record;
	struct rnd_state state;

	prandom_seed_state(&state, 34);
	move_to(rb, -1000);
	for (i = 0; i < 10000; i++) {
		record = vrfm_ringbuf_add(rb, prandom_u32_state(&state) % 129, i);
		if (record) {
			record->type = 9;
			record->raw[0] = sent++;
		}
		vrfm_ringbuf_publish(rb);
		if (!record || prandom_u32_state(&state) % 2)
			consume(test, rb, &received);
	}
	consume(test, rb, &received);
	KUNIT_EXPECT_EQ(test, received, sent);
	KUNIT_EXPECT_GT(test, sent, 5000U);
}

static void fill_ring(struct kunit *test, struct vrfm_ringbuf *rb)
{
	u32 i;

	for (i = 0; i < SLOTS; i++)
		KUNIT_EXPECT_TRUE(test, add(rb, 1, 9));
	KUNIT_EXPECT_FALSE(test, add(rb, 1, 9));
	vrfm_ringbuf_publish(rb);
}

static void dropped_records_are_reported_before_next_record(struct kunit *test)
{
	struct vrfm_ringbuf *rb = ring(test);

	fill_ring(test, rb);
	rb->lost = 3;
	KUNIT_EXPECT_TRUE(test, vrfm_ringbuf_release(rb, 1));
	KUNIT_EXPECT_FALSE(test, add(rb, 1, 9));
	KUNIT_EXPECT_EQ(test, rb->lost, 3ULL);
	KUNIT_EXPECT_TRUE(test, vrfm_ringbuf_release(rb, 2));
	KUNIT_EXPECT_TRUE(test, add(rb, 1, 9));
	KUNIT_EXPECT_EQ(test, rb->lost, 0ULL);
	KUNIT_EXPECT_EQ(test, rb->records[0].type, VRFM_REC_LOST);
	KUNIT_EXPECT_EQ(test, rb->records[0].slots, 1);
	KUNIT_EXPECT_EQ(test, rb->records[0].lost.count, 3ULL);
	KUNIT_EXPECT_EQ(test, rb->records[1].type, 9);
}

static void dropped_records_are_reported_without_next_record(struct kunit *test)
{
	struct vrfm_ringbuf *rb = ring(test);

	KUNIT_EXPECT_TRUE(test, vrfm_ringbuf_report(rb, 0));
	KUNIT_EXPECT_EQ(test, rb->next, 0U);
	fill_ring(test, rb);
	rb->lost = 1ULL << 40;
	KUNIT_EXPECT_FALSE(test, vrfm_ringbuf_report(rb, 0));
	KUNIT_EXPECT_TRUE(test, vrfm_ringbuf_release(rb, 1));
	KUNIT_EXPECT_TRUE(test, vrfm_ringbuf_report(rb, 0));
	KUNIT_EXPECT_EQ(test, rb->records[0].type, VRFM_REC_LOST);
	KUNIT_EXPECT_EQ(test, rb->records[0].lost.count, 1ULL << 40);
	KUNIT_EXPECT_EQ(test, rb->lost, 0ULL);
}

static void report_and_padding_are_placed_together(struct kunit *test)
{
	struct vrfm_ringbuf *rb = ring(test);

	/* The report is in slot 6, the padding in slot 7, the record in slot 0. */
	move_to(rb, 6);
	rb->lost = 2;
	KUNIT_EXPECT_TRUE(test, add(rb, 4, 9));
	KUNIT_EXPECT_EQ(test, rb->next, 12U);
	KUNIT_EXPECT_EQ(test, rb->records[6].type, VRFM_REC_LOST);
	KUNIT_EXPECT_EQ(test, rb->records[7].type, VRFM_REC_PAD);
	KUNIT_EXPECT_EQ(test, rb->records[7].slots, 1);
	KUNIT_EXPECT_EQ(test, rb->records[0].type, 9);
	/* Without the report, the record fits before the end. */
	move_to(rb, 4);
	KUNIT_EXPECT_TRUE(test, add(rb, 4, 9));
	KUNIT_EXPECT_EQ(test, rb->next, 8U);
	/* The report, the padding and the record need more than 8 slots. */
	move_to(rb, 4);
	rb->lost = 2;
	KUNIT_EXPECT_TRUE(test, add(rb, 4, 9));
	KUNIT_EXPECT_EQ(test, rb->next, 12U);
	move_to(rb, 4);
	rb->lost = 2;
	KUNIT_EXPECT_FALSE(test, add(rb, 5, 9));
	KUNIT_EXPECT_EQ(test, rb->next, 4U);
	KUNIT_EXPECT_EQ(test, rb->lost, 2ULL);
}

static void length_of_garbage_stays_inside(struct kunit *test)
{
	struct vrfm_ringbuf *rb = ring(test);
	u32 at, unread, slots, len;

	for (at = -SLOTS; at != SLOTS; at++)
		for (unread = 1; unread <= SLOTS; unread++)
			for (slots = 0; slots <= U16_MAX; slots += 1 + slots / 16) {
				move_to(rb, at);
				rb->tail += unread;
				rb->records[at % SLOTS].slots = slots;
				len = vrfm_ringbuf_length(rb, at);
				KUNIT_ASSERT_GE(test, len, 1U);
				KUNIT_ASSERT_LE(test, len, unread);
				KUNIT_ASSERT_LE(test, at % SLOTS + len, SLOTS);
			}
}

/*
 * Count the records that a program gets before it is woken, if it asks to be
 * woken when the tail has passed @wake.
 */
static u32 slots_before_wake(struct vrfm_ringbuf *rb, u32 wake)
{
	u32 n = 0;

	while (!vrfm_ringbuf_passed(rb, wake) && n <= SLOTS) {
		add(rb, 1, 9);
		vrfm_ringbuf_publish(rb);
		n++;
	}
	return n;
}

static void reader_is_woken_when_tail_passes_index(struct kunit *test)
{
	struct vrfm_ringbuf *rb = ring(test);
	u32 start, ahead;

	for (start = -SLOTS; start != SLOTS; start++)
		for (ahead = 0; ahead < SLOTS; ahead++) {
			move_to(rb, start);
			KUNIT_EXPECT_EQ(test,
					slots_before_wake(rb, start + ahead),
					ahead + 1);
		}
}

static void index_out_of_reach_wakes_at_first_or_last_slot(struct kunit *test)
{
	static const u32 far[] = { SLOTS, SLOTS + 1, 1000, S32_MAX };
	struct vrfm_ringbuf *rb = ring(test);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(far); i++) {
		move_to(rb, 5);
		KUNIT_EXPECT_EQ(test, slots_before_wake(rb, 5 + far[i]), SLOTS);
		move_to(rb, 5);
		KUNIT_EXPECT_EQ(test, slots_before_wake(rb, 5 - far[i]), 1U);
	}
}

static struct kunit_case vrfm_ringbuf_cases[] = {
	KUNIT_CASE(head_is_accepted_between_last_head_and_tail),
	KUNIT_CASE(invalid_head_changes_nothing),
	KUNIT_CASE(unpublished_record_cannot_be_released),
	KUNIT_CASE(random_heads_around_wrap_match_64_bits),
	KUNIT_CASE(add_publishes_nothing),
	KUNIT_CASE(record_of_each_size_at_each_place_is_contiguous),
	KUNIT_CASE(payload_takes_whole_slots),
	KUNIT_CASE(reader_gets_all_records_in_order),
	KUNIT_CASE(dropped_records_are_reported_before_next_record),
	KUNIT_CASE(dropped_records_are_reported_without_next_record),
	KUNIT_CASE(report_and_padding_are_placed_together),
	KUNIT_CASE(length_of_garbage_stays_inside),
	KUNIT_CASE(reader_is_woken_when_tail_passes_index),
	KUNIT_CASE(index_out_of_reach_wakes_at_first_or_last_slot),
	{ }
};

static struct kunit_suite vrfm_ringbuf_suite = {
	.name = "vrfm_ringbuf",
	.test_cases = vrfm_ringbuf_cases,
};

kunit_test_suite(vrfm_ringbuf_suite);

MODULE_AUTHOR("The krdma developers <krdma@example.org>");
MODULE_DESCRIPTION("KUnit tests of vrfm/ringbuf.c");
MODULE_LICENSE("GPL");
