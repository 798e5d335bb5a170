// SPDX-License-Identifier: GPL-2.0
/* Credit arithmetic, by itself and as two ends that play against each other. */
#include <kunit/test.h>

#include "../../krdma/credit.c"

#define DEPTH 8

static struct krdma_credit started(u16 depth, u16 peer_depth)
{
	struct krdma_credit c;

	krdma_credit_init(&c, depth);
	krdma_credit_start(&c, peer_depth);
	return c;
}

static void nothing_may_be_sent_before_the_peer_said_its_depth(struct kunit *test)
{
	struct krdma_credit c;

	krdma_credit_init(&c, DEPTH);
	KUNIT_EXPECT_FALSE(test, krdma_credit_may_send(&c, false));
	KUNIT_EXPECT_FALSE(test, krdma_credit_may_send(&c, true));
}

static void as_many_messages_as_the_peer_is_deep_less_the_reserved_one(struct kunit *test)
{
	struct krdma_credit c = started(DEPTH, 5);
	int n;

	for (n = 0; n < 2 * DEPTH && krdma_credit_may_send(&c, false); n++)
		krdma_credit_take(&c);
	KUNIT_EXPECT_EQ(test, n, 4);
}

static void last_credit_is_for_returning_credits(struct kunit *test)
{
	struct krdma_credit c = started(DEPTH, 1);

	KUNIT_EXPECT_FALSE(test, krdma_credit_may_send(&c, false));
	KUNIT_EXPECT_TRUE(test, krdma_credit_may_send(&c, true));
	krdma_credit_take(&c);
	KUNIT_EXPECT_FALSE(test, krdma_credit_may_send(&c, true));
}

static void message_gives_back_all_that_is_owed_once(struct kunit *test)
{
	struct krdma_credit c = started(DEPTH, DEPTH);
	int i;

	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_TRUE(test, krdma_credit_reposted(&c, false));
	KUNIT_EXPECT_EQ(test, krdma_credit_take(&c), 3);
	KUNIT_EXPECT_EQ(test, krdma_credit_take(&c), 0);
}

static void use_gives_nothing_back(struct kunit *test)
{
	struct krdma_credit c = started(DEPTH, DEPTH);
	u16 avail = c.avail;

	krdma_credit_reposted(&c, false);
	krdma_credit_use(&c);
	KUNIT_EXPECT_EQ(test, c.avail, avail - 1);
	KUNIT_EXPECT_EQ(test, krdma_credit_take(&c), 1);
}

static void undo_restores_what_take_took(struct kunit *test)
{
	struct krdma_credit c = started(DEPTH, DEPTH), before;
	u16 granted;

	krdma_credit_reposted(&c, false);
	before = c;
	granted = krdma_credit_take(&c);
	krdma_credit_undo(&c, granted);
	KUNIT_EXPECT_EQ(test, c.avail, before.avail);
	KUNIT_EXPECT_EQ(test, c.owed, before.owed);
}

static void undo_keeps_what_was_reposted_meanwhile(struct kunit *test)
{
	struct krdma_credit c = started(DEPTH, DEPTH);
	u16 granted;

	krdma_credit_reposted(&c, false);
	granted = krdma_credit_take(&c);
	krdma_credit_reposted(&c, false);
	krdma_credit_undo(&c, granted);
	KUNIT_EXPECT_EQ(test, c.owed, 2);
}

static void grant_makes_sending_possible_again(struct kunit *test)
{
	struct krdma_credit c = started(DEPTH, 2);

	krdma_credit_take(&c);
	KUNIT_ASSERT_FALSE(test, krdma_credit_may_send(&c, false));
	KUNIT_EXPECT_EQ(test, krdma_credit_granted(&c, 1), 0);
	KUNIT_EXPECT_TRUE(test, krdma_credit_may_send(&c, false));
}

static void grant_beyond_the_peers_depth_is_a_protocol_error(struct kunit *test)
{
	struct krdma_credit c = started(DEPTH, 4);

	krdma_credit_take(&c);
	KUNIT_EXPECT_EQ(test, krdma_credit_granted(&c, 2), -EPROTO);
	KUNIT_EXPECT_EQ(test, krdma_credit_granted(&c, U16_MAX), -EPROTO);
	KUNIT_EXPECT_EQ(test, c.avail, 3);
	KUNIT_EXPECT_EQ(test, krdma_credit_granted(&c, 1), 0);
	KUNIT_EXPECT_EQ(test, krdma_credit_granted(&c, 1), -EPROTO);
}

static void grant_of_nothing_is_always_fine(struct kunit *test)
{
	struct krdma_credit c = started(DEPTH, 4);

	KUNIT_EXPECT_EQ(test, krdma_credit_granted(&c, 0), 0);
	KUNIT_EXPECT_EQ(test, c.avail, 4);
}

static void peer_that_sends_without_a_credit_breaks_the_protocol(struct kunit *test)
{
	struct krdma_credit c = started(DEPTH, DEPTH);
	int i;

	for (i = 0; i < DEPTH; i++) {
		KUNIT_EXPECT_EQ(test, krdma_credit_arrived(&c), 0);
		krdma_credit_reposted(&c, false);
	}
	/* There are receives again, but nobody has told the peer. */
	KUNIT_EXPECT_EQ(test, krdma_credit_arrived(&c), -EPROTO);
	krdma_credit_take(&c);
	KUNIT_EXPECT_EQ(test, krdma_credit_arrived(&c), 0);
}

static void credits_of_an_unsent_message_are_not_the_peers(struct kunit *test)
{
	struct krdma_credit c = started(1, DEPTH);
	u16 granted;

	krdma_credit_arrived(&c);
	krdma_credit_reposted(&c, false);
	granted = krdma_credit_take(&c);
	krdma_credit_undo(&c, granted);
	KUNIT_EXPECT_EQ(test, krdma_credit_arrived(&c), -EPROTO);
}

static void half_a_queue_is_worth_a_message_of_its_own(struct kunit *test)
{
	struct krdma_credit c = started(DEPTH, DEPTH);
	int i;

	for (i = 0; i < DEPTH / 2; i++) {
		KUNIT_EXPECT_FALSE(test, krdma_credit_should_return(&c));
		krdma_credit_reposted(&c, false);
	}
	KUNIT_EXPECT_TRUE(test, krdma_credit_should_return(&c));
}

static void whole_queue_can_be_owed(struct kunit *test)
{
	struct krdma_credit c = started(DEPTH, DEPTH);
	int i;

	for (i = 0; i < DEPTH; i++)
		KUNIT_EXPECT_TRUE(test, krdma_credit_reposted(&c, false));
	KUNIT_EXPECT_EQ(test, c.owed, DEPTH);
}

static void deepest_queue_does_not_overflow(struct kunit *test)
{
	struct krdma_credit c = started(U16_MAX, U16_MAX);
	u32 i;

	for (i = 0; i < U16_MAX; i++)
		KUNIT_ASSERT_TRUE(test, krdma_credit_reposted(&c, false));
	KUNIT_EXPECT_EQ(test, krdma_credit_take(&c), U16_MAX);
	KUNIT_EXPECT_EQ(test, krdma_credit_granted(&c, 1), 0);
	KUNIT_EXPECT_EQ(test, krdma_credit_granted(&c, 1), -EPROTO);
}

/* One end: its credits, and messages on their way to it. */
struct krdma_credit_end {
	struct krdma_credit credit;
	u16 grants[64];
	unsigned int in_flight;
};

/* Send one message if that is allowed. A receive must be posted for it. */
static bool krdma_credit_play_send(struct kunit *test,
				   struct krdma_credit_end *from,
				   struct krdma_credit_end *to, bool reserved)
{
	if (!krdma_credit_may_send(&from->credit, reserved))
		return false;
	KUNIT_EXPECT_LT(test, to->in_flight, (unsigned int)to->credit.depth);
	if (to->in_flight == ARRAY_SIZE(to->grants))
		return false;
	to->grants[to->in_flight++] = krdma_credit_take(&from->credit);
	return true;
}

/* Take all that has arrived, give buffers back, return credits if due. */
static void krdma_credit_play_receive(struct kunit *test,
				      struct krdma_credit_end *end,
				      struct krdma_credit_end *peer)
{
	unsigned int i;

	for (i = 0; i < end->in_flight; i++) {
		KUNIT_EXPECT_EQ(test, krdma_credit_arrived(&end->credit), 0);
		KUNIT_EXPECT_EQ(test, krdma_credit_granted(&end->credit,
							   end->grants[i]), 0);
		KUNIT_EXPECT_TRUE(test, krdma_credit_reposted(&end->credit, false));
	}
	end->in_flight = 0;
	if (krdma_credit_should_return(&end->credit))
		krdma_credit_play_send(test, end, peer, true);
}

static void krdma_credit_play_start(struct krdma_credit_end *a,
				    struct krdma_credit_end *b, u16 depth_a,
				    u16 depth_b)
{
	*a = (struct krdma_credit_end){ .credit = started(depth_a, depth_b) };
	*b = (struct krdma_credit_end){ .credit = started(depth_b, depth_a) };
}

static void both_ends_flood_and_never_lock_up(struct kunit *test)
{
	struct krdma_credit_end a, b;
	int depth_a, depth_b, round, sent;

	for (depth_a = KRDMA_CREDIT_MIN_DEPTH; depth_a < 20; depth_a++) {
		for (depth_b = KRDMA_CREDIT_MIN_DEPTH; depth_b < 20; depth_b++) {
			krdma_credit_play_start(&a, &b, depth_a, depth_b);
			for (round = 0; round < 50; round++) {
				sent = 0;
				while (krdma_credit_play_send(test, &a, &b, false))
					sent++;
				while (krdma_credit_play_send(test, &b, &a, false))
					sent++;
				KUNIT_ASSERT_GT_MSG(test, sent, 0,
						    "depths %d and %d, round %d",
						    depth_a, depth_b, round);
				krdma_credit_play_receive(test, &a, &b);
				krdma_credit_play_receive(test, &b, &a);
			}
		}
	}
}

static void one_way_traffic_goes_on_for_ever(struct kunit *test)
{
	struct krdma_credit_end a, b;
	int round, sent = 0;

	krdma_credit_play_start(&a, &b, KRDMA_CREDIT_MIN_DEPTH,
				KRDMA_CREDIT_MIN_DEPTH);
	for (round = 0; round < 1000; round++) {
		sent += krdma_credit_play_send(test, &a, &b, false);
		krdma_credit_play_receive(test, &b, &a);
		krdma_credit_play_receive(test, &a, &b);
	}
	KUNIT_EXPECT_EQ(test, sent, 1000);
}

static void idle_ends_do_not_answer_each_other_for_ever(struct kunit *test)
{
	struct krdma_credit_end a, b;
	int round;

	krdma_credit_play_start(&a, &b, KRDMA_CREDIT_MIN_DEPTH,
				KRDMA_CREDIT_MIN_DEPTH);
	while (krdma_credit_play_send(test, &a, &b, false))
		;
	for (round = 0; round < 20; round++) {
		krdma_credit_play_receive(test, &b, &a);
		krdma_credit_play_receive(test, &a, &b);
	}
	KUNIT_EXPECT_EQ(test, a.in_flight + b.in_flight, 0U);
}

/* An end whose owner keeps what he is lent for a while. */
struct krdma_credit_lender {
	struct krdma_credit credit;
	unsigned int lent;
	/* On their way to it: what each grants, and does it only grant. */
	struct {
		u16 granted;
		bool quiet;
	} queue[64];
	unsigned int queued;
};

static bool krdma_credit_lender_send(struct krdma_credit_lender *from,
				     struct krdma_credit_lender *to, bool quiet)
{
	if (!krdma_credit_may_send(&from->credit, quiet))
		return false;
	to->queue[to->queued].granted = krdma_credit_take(&from->credit);
	to->queue[to->queued++].quiet = quiet;
	return true;
}

static void krdma_credit_lender_return(struct krdma_credit_lender *end,
				       struct krdma_credit_lender *peer)
{
	if (krdma_credit_should_return(&end->credit))
		krdma_credit_lender_send(end, peer, true);
}

/* Take the first that has arrived; a message is kept. */
static void krdma_credit_lender_take(struct kunit *test,
				     struct krdma_credit_lender *end,
				     struct krdma_credit_lender *peer)
{
	bool quiet = end->queue[0].quiet;

	KUNIT_ASSERT_EQ(test, krdma_credit_arrived(&end->credit), 0);
	KUNIT_ASSERT_EQ(test, krdma_credit_granted(&end->credit,
						   end->queue[0].granted), 0);
	memmove(&end->queue[0], &end->queue[1],
		--end->queued * sizeof(end->queue[0]));
	if (quiet) {
		krdma_credit_reposted(&end->credit, true);
		krdma_credit_lender_return(end, peer);
	} else {
		krdma_credit_lend(&end->credit);
		end->lent++;
		krdma_credit_lender_return(end, peer);
	}
}

static void krdma_credit_lender_give_back(struct krdma_credit_lender *end,
					  struct krdma_credit_lender *peer)
{
	end->lent--;
	krdma_credit_unlend(&end->credit);
	krdma_credit_reposted(&end->credit, false);
	krdma_credit_lender_return(end, peer);
}

/* One random thing that can happen to @end. */
static void krdma_credit_lender_step(struct kunit *test,
				     struct krdma_credit_lender *end,
				     struct krdma_credit_lender *peer,
				     u32 what)
{
	if (what % 3 == 0)
		krdma_credit_lender_send(end, peer, false);
	else if (what % 3 == 1 && end->queued)
		krdma_credit_lender_take(test, end, peer);
	else if (what % 3 == 2 && end->lent)
		krdma_credit_lender_give_back(end, peer);
}

/* Nobody sends or gives back any more: the two become quiet, and soon. */
static void krdma_credit_lender_settle(struct kunit *test,
				       struct krdma_credit_lender *a,
				       struct krdma_credit_lender *b)
{
	int rounds = 0;

	while (a->queued || b->queued) {
		KUNIT_ASSERT_LT(test, rounds++, 200);
		if (a->queued)
			krdma_credit_lender_take(test, a, b);
		if (b->queued)
			krdma_credit_lender_take(test, b, a);
	}
}

/* Whatever happened, who gives back everything lets the other one send. */
static void krdma_credit_lender_empty(struct kunit *test,
				      struct krdma_credit_lender *a,
				      struct krdma_credit_lender *b)
{
	while (a->lent || b->lent) {
		if (a->lent)
			krdma_credit_lender_give_back(a, b);
		if (b->lent)
			krdma_credit_lender_give_back(b, a);
		krdma_credit_lender_settle(test, a, b);
	}
	KUNIT_EXPECT_TRUE(test, krdma_credit_may_send(&a->credit, false));
	KUNIT_EXPECT_TRUE(test, krdma_credit_may_send(&b->credit, false));
}

static void lenders_neither_stop_nor_answer_for_ever(struct kunit *test)
{
	struct krdma_credit_lender *ends = kunit_kcalloc(test, 2, sizeof(*ends),
							 GFP_KERNEL);
	u32 dice = 1, run, step;

	KUNIT_ASSERT_NOT_NULL(test, ends);
	for (run = 0; run < 3000; run++) {
		u16 depth_a = 4 + run % 9, depth_b = 4 + run / 9 % 9;

		memset(ends, 0, 2 * sizeof(*ends));
		ends[0].credit = started(depth_a, depth_b);
		ends[1].credit = started(depth_b, depth_a);
		for (step = 0; step < 60; step++) {
			dice = dice * 1664525 + 1013904223;
			krdma_credit_lender_step(test, &ends[dice >> 31],
						 &ends[!(dice >> 31)],
						 dice >> 8);
		}
		krdma_credit_lender_settle(test, &ends[0], &ends[1]);
		krdma_credit_lender_empty(test, &ends[0], &ends[1]);
	}
}

/* @quiet writes of @from, each of which a message of @to may answer. */
static void krdma_credit_lender_write(struct kunit *test,
				      struct krdma_credit_lender *from,
				      struct krdma_credit_lender *to,
				      unsigned int writes)
{
	for (; writes; writes--) {
		if (!krdma_credit_may_send(&from->credit, false))
			return;
		krdma_credit_use(&from->credit);
		KUNIT_ASSERT_EQ(test, krdma_credit_arrived(&to->credit), 0);
		krdma_credit_reposted(&to->credit, false);
		krdma_credit_lender_return(to, from);
		krdma_credit_lender_settle(test, from, to);
	}
}

/* @to keeps each message. Return: the number of messages that it could get. */
static unsigned int krdma_credit_lender_fill(struct kunit *test,
					     struct krdma_credit_lender *from,
					     struct krdma_credit_lender *to)
{
	while (to->lent < 64 && krdma_credit_lender_send(from, to, false))
		krdma_credit_lender_settle(test, from, to);
	return to->lent;
}

static void owner_that_leaves_three_receives_gets_every_message(struct kunit *test)
{
	struct krdma_credit_lender *ends = kunit_kcalloc(test, 2, sizeof(*ends),
							 GFP_KERNEL);
	u16 depth, peer;
	u32 writes;

	KUNIT_ASSERT_NOT_NULL(test, ends);
	for (depth = KRDMA_CREDIT_MIN_DEPTH; depth <= 20; depth++) {
		for (peer = KRDMA_CREDIT_MIN_DEPTH; peer <= 20; peer++) {
			for (writes = 0; writes < 4U * peer; writes++) {
				memset(ends, 0, 2 * sizeof(*ends));
				ends[0].credit = started(depth, peer);
				ends[1].credit = started(peer, depth);
				krdma_credit_lender_write(test, &ends[0],
							  &ends[1], writes);
				KUNIT_ASSERT_GT_MSG(test,
						    krdma_credit_lender_fill(test,
									     &ends[1],
									     &ends[0]),
						    depth - KRDMA_CREDIT_KEEP,
						    "depths %u and %u, %u writes",
						    depth, peer, writes);
			}
		}
	}
}

/* A peer that has lent all but three of eight gets its credits back. */
static void lent_receives_do_not_stop_the_sender(struct kunit *test)
{
	struct krdma_credit c = started(8, 8);
	int i;

	for (i = 0; i < 7; i++)
		KUNIT_EXPECT_EQ(test, krdma_credit_arrived(&c), 0);
	for (i = 0; i < 5; i++)
		krdma_credit_lend(&c);
	KUNIT_EXPECT_FALSE(test, krdma_credit_should_return(&c));
	krdma_credit_reposted(&c, false);
	KUNIT_EXPECT_TRUE(test, krdma_credit_should_return(&c));
}

static void message_without_a_credit_is_a_protocol_error(struct kunit *test)
{
	struct krdma_credit c = started(DEPTH, DEPTH);
	int i;

	for (i = 0; i < DEPTH; i++) {
		KUNIT_EXPECT_EQ(test, krdma_credit_arrived(&c), 0);
		KUNIT_EXPECT_TRUE(test, krdma_credit_reposted(&c, false));
	}
	KUNIT_EXPECT_EQ(test, krdma_credit_arrived(&c), -EPROTO);
	KUNIT_EXPECT_EQ(test, krdma_credit_take(&c), DEPTH);
	KUNIT_EXPECT_EQ(test, krdma_credit_arrived(&c), 0);
}

static void credits_that_were_not_sent_do_not_count(struct kunit *test)
{
	struct krdma_credit c = started(DEPTH, DEPTH);
	int i;

	for (i = 0; i < DEPTH; i++) {
		krdma_credit_arrived(&c);
		krdma_credit_reposted(&c, false);
	}
	krdma_credit_undo(&c, krdma_credit_take(&c));
	KUNIT_EXPECT_EQ(test, krdma_credit_arrived(&c), -EPROTO);
}

static struct kunit_case krdma_credit_cases[] = {
	KUNIT_CASE(nothing_may_be_sent_before_the_peer_said_its_depth),
	KUNIT_CASE(as_many_messages_as_the_peer_is_deep_less_the_reserved_one),
	KUNIT_CASE(last_credit_is_for_returning_credits),
	KUNIT_CASE(message_gives_back_all_that_is_owed_once),
	KUNIT_CASE(use_gives_nothing_back),
	KUNIT_CASE(undo_restores_what_take_took),
	KUNIT_CASE(undo_keeps_what_was_reposted_meanwhile),
	KUNIT_CASE(grant_makes_sending_possible_again),
	KUNIT_CASE(grant_beyond_the_peers_depth_is_a_protocol_error),
	KUNIT_CASE(grant_of_nothing_is_always_fine),
	KUNIT_CASE(peer_that_sends_without_a_credit_breaks_the_protocol),
	KUNIT_CASE(credits_of_an_unsent_message_are_not_the_peers),
	KUNIT_CASE(half_a_queue_is_worth_a_message_of_its_own),
	KUNIT_CASE(whole_queue_can_be_owed),
	KUNIT_CASE(deepest_queue_does_not_overflow),
	KUNIT_CASE(message_without_a_credit_is_a_protocol_error),
	KUNIT_CASE(lenders_neither_stop_nor_answer_for_ever),
	KUNIT_CASE(owner_that_leaves_three_receives_gets_every_message),
	KUNIT_CASE(lent_receives_do_not_stop_the_sender),
	KUNIT_CASE(credits_that_were_not_sent_do_not_count),
	KUNIT_CASE(both_ends_flood_and_never_lock_up),
	KUNIT_CASE(one_way_traffic_goes_on_for_ever),
	KUNIT_CASE(idle_ends_do_not_answer_each_other_for_ever),
	{}
};

static struct kunit_suite krdma_credit_suite = {
	.name = "krdma_credit",
	.test_cases = krdma_credit_cases,
};

kunit_test_suite(krdma_credit_suite);

MODULE_AUTHOR("The krdma developers");
MODULE_DESCRIPTION("KUnit tests of krdma's credits");
MODULE_LICENSE("GPL");
