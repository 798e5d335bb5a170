// SPDX-License-Identifier: GPL-2.0
/* Test the messages of a batch to one peer: their number, order, and flags. */
#include "vrfm_fuzz.h"

#define WRITE_AT(at, len) {						\
	.op = VRFM_OP_WRITE, .offset = (at), .length = (len),		\
}

#define EVENT_TO(to, n) {						\
	.op = VRFM_OP_EVENT, .node = (to), .event = (n),		\
}

/* Send a batch as the write @serial. */
static void send(struct fuzz *f, const struct vrfm_op *op, u32 count,
		 u64 serial, bool answer)
{
	const struct vrfm_ops ops = {
		.op = op, .count = count, .bytes = 1,
		.data = f->room + FENCE,
	};

	f->vdev->serial = serial;
	locked(f, vrfm_link_ops(f->link, &ops, answer));
}

static const struct vrfm_slot *sent(struct fuzz *f, u64 n)
{
	return vrfm_slot(f->link, SENT + n);
}

/* Expect message @n after those that were sent before the test. */
static void expect(struct kunit *test, u64 n, u8 type, u64 serial, bool part)
{
	const struct vrfm_slot *slot = sent(test->priv, n);

	KUNIT_EXPECT_EQ(test, slot->type, type);
	KUNIT_EXPECT_EQ(test, slot->serial, serial);
	KUNIT_EXPECT_EQ(test, !!(slot->flags & VRFM_WIRE_DIRECT), part);
}

static void expect_opened(struct kunit *test, u64 n)
{
	struct fuzz *f = test->priv;

	KUNIT_ASSERT_EQ(test, f->link->window.opened, SENT + n);
}

static void writes_of_batch_share_message(struct kunit *test)
{
	static const struct vrfm_op ops[] = {
		WRITE_AT(0, 100), WRITE_AT(4096, 8), WRITE_AT(8192, 4),
	};
	struct fuzz *f = test->priv;

	send(f, ops, 3, 10, false);
	expect_opened(test, 1);
	expect(test, 1, VRFM_WIRE_UPDATE, 10, false);
	KUNIT_EXPECT_EQ(test, sent(f, 1)->pack.count, 3);
	KUNIT_EXPECT_EQ(test, f->link->window.posted, SENT + 1ULL);
	KUNIT_EXPECT_EQ(test, f->link->counts.messages, 1ULL);
}

static void event_shares_message_of_writes_before_it(struct kunit *test)
{
	static const struct vrfm_op ops[] = {
		WRITE_AT(0, 100), EVENT_TO(2, 3), EVENT_TO(3, 1),
		EVENT_TO(VRFM_OP_ALL_NODES, 4),
	};
	struct fuzz *f = test->priv;

	f->vdev->event_number = 70;
	send(f, ops, 4, 10, true);
	expect_opened(test, 2);
	expect(test, 1, VRFM_WIRE_EVENT, 10, false);
	expect(test, 2, VRFM_WIRE_EVENT, 10, false);
	KUNIT_EXPECT_EQ(test, sent(f, 1)->pack.count, 1);
	KUNIT_EXPECT_EQ(test, sent(f, 1)->event.number, 71ULL);
	KUNIT_EXPECT_EQ(test, sent(f, 2)->event.number, 73ULL);
	KUNIT_EXPECT_FALSE(test, sent(f, 1)->flags & VRFM_WIRE_ANSWER);
	KUNIT_EXPECT_TRUE(test, sent(f, 2)->flags & VRFM_WIRE_ANSWER);
	KUNIT_EXPECT_EQ(test, f->link->window.posted, SENT + 2ULL);
}

static void event_behind_full_message_has_its_own(struct kunit *test)
{
	const struct vrfm_op ops[] = {
		WRITE_AT(0, VRFM_SLOT_SIZE - sizeof(struct vrfm_wire_head) -
			    sizeof(struct vrfm_wire_run)),
		EVENT_TO(2, 3),
	};
	struct fuzz *f = test->priv;

	send(f, ops, 2, 10, false);
	expect_opened(test, 2);
	expect(test, 1, VRFM_WIRE_UPDATE, 10, false);
	expect(test, 2, VRFM_WIRE_EVENT, 10, false);
	KUNIT_EXPECT_EQ(test, sent(f, 2)->pack.count, 0);
}

/* The probe is in flight, so the message behind it stays open. */
static void append_behind_probe(struct vrfm_link *link)
{
	spin_lock_bh(&link->lock);
	vrfm_link_probe_locked(link);
	vrfm_link_append_locked(link, VRFM_WIRE_UPDATE, 0, "1234", 4);
	spin_unlock_bh(&link->lock);
}

/* A message without SYNCED would make the peer hold the event. */
static void event_of_ready_link_leaves_with_synced(struct kunit *test)
{
	static const struct vrfm_op event = EVENT_TO(2, 3);
	struct fuzz *f = test->priv;

	f->link->state = VRFM_SYNCING;
	locked(f, append_behind_probe(f->link));
	expect_opened(test, 2);
	f->link->state = VRFM_READY;
	send(f, &event, 1, 10, false);
	expect_opened(test, 3);
	expect(test, 2, VRFM_WIRE_UPDATE, sent(f, 2)->serial, false);
	KUNIT_EXPECT_FALSE(test, sent(f, 2)->flags & VRFM_WIRE_SYNCED);
	expect(test, 3, VRFM_WIRE_EVENT, 10, false);
	KUNIT_EXPECT_TRUE(test, sent(f, 3)->flags & VRFM_WIRE_SYNCED);
}

/* A message that is not acknowledged is lost with the connection. */
static void words_and_event_of_lost_message_remain(struct kunit *test)
{
	static const struct vrfm_op ops[] = {
		WRITE_AT(64, 8), EVENT_TO(2, 3),
	};
	struct fuzz *f = test->priv;

	f->vdev->event_number = 70;
	send(f, ops, 2, 10, false);
	expect_opened(test, 1);
	f->link->state = VRFM_DOWN;
	f->link->window.acked = SENT;
	rt_mutex_lock(&f->vdev->write_lock);
	vrfm_link_miss_slots(f->link);
	vrfm_link_events_again(f->link);
	rt_mutex_unlock(&f->vdev->write_lock);
	KUNIT_EXPECT_EQ(test, f->link->missed.map.set, 2U);
	KUNIT_ASSERT_EQ(test, f->link->backlog.n, 1U);
	KUNIT_EXPECT_EQ(test, f->link->backlog.events[0].number, 71ULL);
}

/* Two peers that have different parts of a batch must not count as equal. */
static void only_end_of_batch_has_its_serial(struct kunit *test)
{
	static const struct vrfm_op ops[] = {
		EVENT_TO(2, 1), WRITE_AT(0, 8), EVENT_TO(2, 2),
		WRITE_AT(64, 8), EVENT_TO(2, 3),
	};

	send(test->priv, ops, 5, 10, false);
	expect_opened(test, 3);
	expect(test, 1, VRFM_WIRE_EVENT, 9, false);
	expect(test, 2, VRFM_WIRE_EVENT, 9, true);
	expect(test, 3, VRFM_WIRE_EVENT, 10, false);
}

static void large_batch_has_serial_in_last_message(struct kunit *test)
{
	static const struct vrfm_op ops[] = {
		WRITE_AT(0, 10000), WRITE_AT(0, 20000), WRITE_AT(4096, 4),
	};

	send(test->priv, ops, 3, 10, false);
	expect_opened(test, 2);
	expect(test, 1, VRFM_WIRE_UPDATE, 9, true);
	expect(test, 2, VRFM_WIRE_UPDATE, 10, false);
}

static void batch_begins_in_open_message(struct kunit *test)
{
	static const struct vrfm_op ops[] = {
		WRITE_AT(0, 8), EVENT_TO(2, 2), WRITE_AT(64, 8),
	};
	struct fuzz *f = test->priv;

	/* The first message is in flight, so the second one stays open. */
	send(f, ops + 2, 1, 10, false);
	send(f, ops + 2, 1, 11, false);
	expect(test, 2, VRFM_WIRE_UPDATE, 11, false);
	send(f, ops, 3, 12, false);
	expect_opened(test, 3);
	expect(test, 1, VRFM_WIRE_UPDATE, 10, false);
	expect(test, 2, VRFM_WIRE_EVENT, 11, true);
	expect(test, 3, VRFM_WIRE_UPDATE, 12, false);
}

static void peer_behind_misses_words_of_batch(struct kunit *test)
{
	static const struct vrfm_op ops[] = {
		WRITE_AT(0, 8), WRITE_AT(64, 4), EVENT_TO(2, 2),
	};
	struct fuzz *f = test->priv;

	f->link->state = VRFM_SYNCING;
	send(f, ops, 3, 10, false);
	expect_opened(test, 1);
	KUNIT_EXPECT_EQ(test, sent(f, 1)->type, VRFM_WIRE_EVENT);
	KUNIT_EXPECT_EQ(test, f->link->missed.map.set, 3U);
}

static struct kunit_case vrfm_batch_cases[] = {
	KUNIT_CASE(writes_of_batch_share_message),
	KUNIT_CASE(event_shares_message_of_writes_before_it),
	KUNIT_CASE(event_behind_full_message_has_its_own),
	KUNIT_CASE(event_of_ready_link_leaves_with_synced),
	KUNIT_CASE(words_and_event_of_lost_message_remain),
	KUNIT_CASE(only_end_of_batch_has_its_serial),
	KUNIT_CASE(large_batch_has_serial_in_last_message),
	KUNIT_CASE(batch_begins_in_open_message),
	KUNIT_CASE(peer_behind_misses_words_of_batch),
	{ }
};

static struct kunit_suite vrfm_batch_suite = {
	.name = "vrfm_batch",
	.init = fuzz_init,
	.exit = fuzz_exit,
	.test_cases = vrfm_batch_cases,
};

kunit_test_suite(vrfm_batch_suite);

MODULE_AUTHOR("The krdma developers <krdma@example.org>");
MODULE_DESCRIPTION("KUnit tests of vrfm/link_ops.c");
MODULE_LICENSE("GPL");
