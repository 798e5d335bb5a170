// SPDX-License-Identifier: GPL-2.0
/* Test the arithmetic of credits, alone and in a simulation of two ends. */
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

static void take_before_start_is_refused(struct kunit *test)
{
	struct krdma_credit c;

	krdma_credit_init(&c, DEPTH);
	KUNIT_EXPECT_FALSE(test, krdma_credit_may_send(&c, false));
	KUNIT_EXPECT_FALSE(test, krdma_credit_may_send(&c, true));
}

static void take_is_limited_by_peer_depth(struct kunit *test)
{
	struct krdma_credit c = started(DEPTH, 5);
	int n;

	for (n = 0; n < 2 * DEPTH && krdma_credit_may_send(&c, false); n++)
		krdma_credit_take(&c);
	KUNIT_EXPECT_EQ(test, n, 4);
}

static void last_credit_is_reserved_for_grants(struct kunit *test)
{
	struct krdma_credit c = started(DEPTH, 1);

	KUNIT_EXPECT_FALSE(test, krdma_credit_may_send(&c, false));
	KUNIT_EXPECT_TRUE(test, krdma_credit_may_send(&c, true));
	krdma_credit_take(&c);
	KUNIT_EXPECT_FALSE(test, krdma_credit_may_send(&c, true));
}

static void take_grants_all_owed_credits_once(struct kunit *test)
{
	struct krdma_credit c = started(DEPTH, DEPTH);
	int i;

	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_TRUE(test, krdma_credit_reposted(&c, false));
	KUNIT_EXPECT_EQ(test, krdma_credit_take(&c), 3);
	KUNIT_EXPECT_EQ(test, krdma_credit_take(&c), 0);
}

static void use_grants_no_credits(struct kunit *test)
{
	struct krdma_credit c = started(DEPTH, DEPTH);
	u16 avail = c.avail;

	krdma_credit_reposted(&c, false);
	krdma_credit_use(&c);
	KUNIT_EXPECT_EQ(test, c.avail, avail - 1);
	KUNIT_EXPECT_EQ(test, krdma_credit_take(&c), 1);
}

static void grant_allows_sending(struct kunit *test)
{
	struct krdma_credit c = started(DEPTH, 2);

	krdma_credit_take(&c);
	KUNIT_ASSERT_FALSE(test, krdma_credit_may_send(&c, false));
	KUNIT_EXPECT_EQ(test, krdma_credit_granted(&c, 1), 0);
	KUNIT_EXPECT_TRUE(test, krdma_credit_may_send(&c, false));
}

static void grant_beyond_peer_depth_is_refused(struct kunit *test)
{
	struct krdma_credit c = started(DEPTH, 4);

	krdma_credit_take(&c);
	KUNIT_EXPECT_EQ(test, krdma_credit_granted(&c, 2), -EPROTO);
	KUNIT_EXPECT_EQ(test, krdma_credit_granted(&c, U16_MAX), -EPROTO);
	KUNIT_EXPECT_EQ(test, c.avail, 3);
	KUNIT_EXPECT_EQ(test, krdma_credit_granted(&c, 1), 0);
	KUNIT_EXPECT_EQ(test, krdma_credit_granted(&c, 1), -EPROTO);
}

static void grant_of_zero_is_accepted(struct kunit *test)
{
	struct krdma_credit c = started(DEPTH, 4);

	KUNIT_EXPECT_EQ(test, krdma_credit_granted(&c, 0), 0);
	KUNIT_EXPECT_EQ(test, c.avail, 4);
}

static void message_beyond_own_grants_is_refused(struct kunit *test)
{
	struct krdma_credit c = started(DEPTH, DEPTH);
	int i;

	for (i = 0; i < DEPTH; i++) {
		KUNIT_EXPECT_EQ(test, krdma_credit_arrived(&c), 0);
		krdma_credit_reposted(&c, false);
	}
	/*
	 * The receives are posted again, but this end has not granted their
	 * credits to the peer yet.
	 */
	KUNIT_EXPECT_EQ(test, krdma_credit_arrived(&c), -EPROTO);
	krdma_credit_take(&c);
	KUNIT_EXPECT_EQ(test, krdma_credit_arrived(&c), 0);
}

static void grant_message_is_due_at_half_a_queue(struct kunit *test)
{
	struct krdma_credit c = started(DEPTH, DEPTH);
	int i;

	for (i = 0; i < DEPTH / 2; i++) {
		KUNIT_EXPECT_FALSE(test, krdma_credit_should_return(&c));
		krdma_credit_reposted(&c, false);
	}
	KUNIT_EXPECT_TRUE(test, krdma_credit_should_return(&c));
}

static void owed_credits_may_be_a_whole_queue(struct kunit *test)
{
	struct krdma_credit c = started(DEPTH, DEPTH);
	int i;

	for (i = 0; i < DEPTH; i++)
		KUNIT_EXPECT_TRUE(test, krdma_credit_reposted(&c, false));
	KUNIT_EXPECT_EQ(test, c.unadvertised, DEPTH);
}

static void max_depth_does_not_overflow(struct kunit *test)
{
	struct krdma_credit c = started(U16_MAX, U16_MAX);
	u32 i;

	for (i = 0; i < U16_MAX; i++)
		KUNIT_ASSERT_TRUE(test, krdma_credit_reposted(&c, false));
	KUNIT_EXPECT_EQ(test, krdma_credit_take(&c), U16_MAX);
	KUNIT_EXPECT_EQ(test, krdma_credit_granted(&c, 1), 0);
	KUNIT_EXPECT_EQ(test, krdma_credit_granted(&c, 1), -EPROTO);
}

/* One end of a connection: its credits, and the messages in flight to it. */
struct krdma_credit_end {
	struct krdma_credit credit;
	u16 grants[64];
	unsigned int in_flight;
};

/*
 * Send one message if the credits allow it. The peer must have a posted
 * receive. A fault ends the case, because thousands of failures would take all
 * memory.
 */
static bool krdma_credit_play_send(struct kunit *test,
				   struct krdma_credit_end *from,
				   struct krdma_credit_end *to, bool reserved)
{
	if (!krdma_credit_may_send(&from->credit, reserved))
		return false;
	KUNIT_ASSERT_LT(test, to->in_flight, (unsigned int)to->credit.depth);
	if (to->in_flight == ARRAY_SIZE(to->grants))
		return false;
	to->grants[to->in_flight++] = krdma_credit_take(&from->credit);
	return true;
}

/*
 * Take all messages that have arrived, repost their buffers, and grant credits
 * if this is due.
 */
static void krdma_credit_play_receive(struct kunit *test,
				      struct krdma_credit_end *end,
				      struct krdma_credit_end *peer)
{
	unsigned int i;

	for (i = 0; i < end->in_flight; i++) {
		KUNIT_ASSERT_EQ(test, krdma_credit_arrived(&end->credit), 0);
		KUNIT_ASSERT_EQ(test, krdma_credit_granted(&end->credit,
							   end->grants[i]), 0);
		KUNIT_ASSERT_TRUE(test, krdma_credit_reposted(&end->credit, false));
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

static void flood_of_both_ends_does_not_deadlock(struct kunit *test)
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

static void one_way_traffic_does_not_stall(struct kunit *test)
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

static void idle_ends_stop_granting(struct kunit *test)
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

/* One end of a connection. Its owner keeps received messages for a while. */
struct krdma_credit_holder {
	struct krdma_credit credit;
	unsigned int held;
	/*
	 * Messages in flight to this end. If quiet is true, the message only
	 * grants credits.
	 */
	struct {
		u16 granted;
		bool quiet;
	} queue[64];
	unsigned int queued;
};

static bool krdma_credit_holder_send(struct krdma_credit_holder *from,
				     struct krdma_credit_holder *to, bool quiet)
{
	if (!krdma_credit_may_send(&from->credit, quiet))
		return false;
	to->queue[to->queued].granted = krdma_credit_take(&from->credit);
	to->queue[to->queued++].quiet = quiet;
	return true;
}

static void krdma_credit_holder_return(struct krdma_credit_holder *end,
				       struct krdma_credit_holder *peer)
{
	if (krdma_credit_should_return(&end->credit))
		krdma_credit_holder_send(end, peer, true);
}

/* Receive the first message in flight to @end, and keep it if it has data. */
static void krdma_credit_holder_take(struct kunit *test,
				     struct krdma_credit_holder *end,
				     struct krdma_credit_holder *peer)
{
	bool quiet = end->queue[0].quiet;

	KUNIT_ASSERT_EQ(test, krdma_credit_arrived(&end->credit), 0);
	KUNIT_ASSERT_EQ(test, krdma_credit_granted(&end->credit,
						   end->queue[0].granted), 0);
	memmove(&end->queue[0], &end->queue[1],
		--end->queued * sizeof(end->queue[0]));
	if (quiet) {
		krdma_credit_reposted(&end->credit, true);
		krdma_credit_holder_return(end, peer);
	} else {
		krdma_credit_hold(&end->credit);
		end->held++;
		krdma_credit_holder_return(end, peer);
	}
}

static void krdma_credit_holder_give_back(struct krdma_credit_holder *end,
					  struct krdma_credit_holder *peer)
{
	end->held--;
	krdma_credit_unhold(&end->credit);
	krdma_credit_reposted(&end->credit, false);
	krdma_credit_holder_return(end, peer);
}

/* Let @end do one random action. */
static void krdma_credit_holder_step(struct kunit *test,
				     struct krdma_credit_holder *end,
				     struct krdma_credit_holder *peer, u32 what)
{
	if (what % 3 == 0)
		krdma_credit_holder_send(end, peer, false);
	else if (what % 3 == 1 && end->queued)
		krdma_credit_holder_take(test, end, peer);
	else if (what % 3 == 2 && end->held)
		krdma_credit_holder_give_back(end, peer);
}

/*
 * Receive all messages in flight at both ends. No new messages are sent, and no
 * kept messages are released. So both ends must soon stop granting credits.
 */
static void krdma_credit_holder_settle(struct kunit *test,
				       struct krdma_credit_holder *a,
				       struct krdma_credit_holder *b)
{
	int rounds = 0;

	while (a->queued || b->queued) {
		KUNIT_ASSERT_LT(test, rounds++, 200);
		if (a->queued)
			krdma_credit_holder_take(test, a, b);
		if (b->queued)
			krdma_credit_holder_take(test, b, a);
	}
}

/*
 * Let both ends release all kept messages. Afterwards each end must be able to
 * send again.
 */
static void krdma_credit_holder_empty(struct kunit *test,
				      struct krdma_credit_holder *a,
				      struct krdma_credit_holder *b)
{
	while (a->held || b->held) {
		if (a->held)
			krdma_credit_holder_give_back(a, b);
		if (b->held)
			krdma_credit_holder_give_back(b, a);
		krdma_credit_holder_settle(test, a, b);
	}
	KUNIT_EXPECT_TRUE(test, krdma_credit_may_send(&a->credit, false));
	KUNIT_EXPECT_TRUE(test, krdma_credit_may_send(&b->credit, false));
}

static void lenders_reach_idle_and_can_send(struct kunit *test)
{
	struct krdma_credit_holder *ends =
		kunit_kcalloc(test, 2, sizeof(*ends), GFP_KERNEL);
	u32 dice = 1, run, step;

	KUNIT_ASSERT_NOT_NULL(test, ends);
	for (run = 0; run < 3000; run++) {
		u16 depth_a = 4 + run % 9, depth_b = 4 + run / 9 % 9;

		memset(ends, 0, 2 * sizeof(*ends));
		ends[0].credit = started(depth_a, depth_b);
		ends[1].credit = started(depth_b, depth_a);
		for (step = 0; step < 60; step++) {
			dice = dice * 1664525 + 1013904223;
			krdma_credit_holder_step(test, &ends[dice >> 31],
						 &ends[!(dice >> 31)],
						 dice >> 8);
		}
		krdma_credit_holder_settle(test, &ends[0], &ends[1]);
		krdma_credit_holder_empty(test, &ends[0], &ends[1]);
	}
}

/*
 * Let @from do @writes writes. Each one uses a receive of @to, and may cause a
 * message of @to that grants credits.
 */
static void krdma_credit_holder_write(struct kunit *test,
				      struct krdma_credit_holder *from,
				      struct krdma_credit_holder *to,
				      unsigned int writes)
{
	for (; writes; writes--) {
		if (!krdma_credit_may_send(&from->credit, false))
			return;
		krdma_credit_use(&from->credit);
		KUNIT_ASSERT_EQ(test, krdma_credit_arrived(&to->credit), 0);
		krdma_credit_reposted(&to->credit, false);
		krdma_credit_holder_return(to, from);
		krdma_credit_holder_settle(test, from, to);
	}
}

/*
 * Send until @from has no credits, while @to keeps all messages. Return the
 * number of messages that @to has got.
 */
static unsigned int krdma_credit_holder_fill(struct kunit *test,
					     struct krdma_credit_holder *from,
					     struct krdma_credit_holder *to)
{
	while (to->held < 64 && krdma_credit_holder_send(from, to, false))
		krdma_credit_holder_settle(test, from, to);
	return to->held;
}

static void three_free_receives_do_not_block_sender(struct kunit *test)
{
	struct krdma_credit_holder *ends =
		kunit_kcalloc(test, 2, sizeof(*ends), GFP_KERNEL);
	u16 depth, peer;
	u32 writes;

	KUNIT_ASSERT_NOT_NULL(test, ends);
	for (depth = KRDMA_CREDIT_MIN_DEPTH; depth <= 20; depth++) {
		for (peer = KRDMA_CREDIT_MIN_DEPTH; peer <= 20; peer++) {
			for (writes = 0; writes < 4U * peer; writes++) {
				memset(ends, 0, 2 * sizeof(*ends));
				ends[0].credit = started(depth, peer);
				ends[1].credit = started(peer, depth);
				krdma_credit_holder_write(test, &ends[0],
							  &ends[1], writes);
				KUNIT_ASSERT_GT_MSG(test,
						    krdma_credit_holder_fill(test,
									     &ends[1],
									     &ends[0]),
						    depth - KRDMA_CREDIT_KEEP,
						    "depths %u and %u, %u writes",
						    depth, peer, writes);
			}
		}
	}
}

/*
 * While the owner keeps five of eight receives, one reposted receive is enough
 * to grant credits to the peer.
 */
static void held_receives_return_credits(struct kunit *test)
{
	struct krdma_credit c = started(8, 8);
	int i;

	for (i = 0; i < 7; i++)
		KUNIT_EXPECT_EQ(test, krdma_credit_arrived(&c), 0);
	for (i = 0; i < 5; i++)
		krdma_credit_hold(&c);
	KUNIT_EXPECT_FALSE(test, krdma_credit_should_return(&c));
	krdma_credit_reposted(&c, false);
	KUNIT_EXPECT_TRUE(test, krdma_credit_should_return(&c));
}

static void message_without_credit_is_refused(struct kunit *test)
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

static void unsent_grants_are_not_counted(struct kunit *test)
{
	struct krdma_credit c = started(DEPTH, DEPTH);
	int i;

	for (i = 0; i < DEPTH; i++) {
		krdma_credit_arrived(&c);
		krdma_credit_reposted(&c, false);
	}
	KUNIT_EXPECT_EQ(test, krdma_credit_arrived(&c), -EPROTO);
}

static struct kunit_case krdma_credit_cases[] = {
	KUNIT_CASE(take_before_start_is_refused),
	KUNIT_CASE(take_is_limited_by_peer_depth),
	KUNIT_CASE(last_credit_is_reserved_for_grants),
	KUNIT_CASE(take_grants_all_owed_credits_once),
	KUNIT_CASE(use_grants_no_credits),
	KUNIT_CASE(grant_allows_sending),
	KUNIT_CASE(grant_beyond_peer_depth_is_refused),
	KUNIT_CASE(grant_of_zero_is_accepted),
	KUNIT_CASE(message_beyond_own_grants_is_refused),
	KUNIT_CASE(grant_message_is_due_at_half_a_queue),
	KUNIT_CASE(owed_credits_may_be_a_whole_queue),
	KUNIT_CASE(max_depth_does_not_overflow),
	KUNIT_CASE(message_without_credit_is_refused),
	KUNIT_CASE(lenders_reach_idle_and_can_send),
	KUNIT_CASE(three_free_receives_do_not_block_sender),
	KUNIT_CASE(held_receives_return_credits),
	KUNIT_CASE(unsent_grants_are_not_counted),
	KUNIT_CASE(flood_of_both_ends_does_not_deadlock),
	KUNIT_CASE(one_way_traffic_does_not_stall),
	KUNIT_CASE(idle_ends_stop_granting),
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
