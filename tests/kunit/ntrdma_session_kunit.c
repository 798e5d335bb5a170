// SPDX-License-Identifier: GPL-2.0
/*
 * Test sessions: each answer of the state machine, and two sides that crash at
 * random.
 */
#include <kunit/test.h>
#include <linux/prandom.h>

#include "../../ntrdma/page.c"
#include "../../ntrdma/session.c"

#define DEAD_MS 1000

/* One side: its page as the peer sees it, and its session. */
struct side {
	struct ntrdma_session s;
	struct ntrdma_hello offer;
	struct {
		struct ntrdma_wire_hello hello;
		__le32 yours;
		__le32 state;
		__le32 beat;
	} page;
};

static void side_begin(struct side *side, u32 my)
{
	memset(&side->page, 0, sizeof(side->page));
	ntrdma_hello_encode(&side->page.hello, &side->offer);
	side->page.state = cpu_to_le32(NTRDMA_WIRE_HELLO);
	ntrdma_session_begin(&side->s, my);
	side->page.hello.my = cpu_to_le32(my);
}

static void side_init(struct side *side, u8 member, u32 my)
{
	*side = (struct side){ .offer = {
		.member = member,
		.lanes = 1,
		.ring_bytes = SZ_64K,
		.chunk = SZ_8K,
		.mac = { 0x02, 0, 0, 0, 0, member },
		.dead_ms = DEAD_MS,
	} };
	ntrdma_session_init(&side->s);
	side_begin(side, my);
}

static struct ntrdma_look side_shows(const struct side *side)
{
	return (struct ntrdma_look){
		.before = le32_to_cpu(side->page.hello.my),
		.hello = side->page.hello,
		.again = le32_to_cpu(side->page.hello.my),
		.yours = le32_to_cpu(side->page.yours),
		.state = le32_to_cpu(side->page.state),
		.beat = le32_to_cpu(side->page.beat),
	};
}

/*
 * Look at the peer's page and do the step that ntrdma_session_look() returns.
 */
static enum ntrdma_step side_tick(struct side *side, const struct side *peer,
				  u64 now_ms)
{
	struct ntrdma_look look = side_shows(peer);
	enum ntrdma_step step = ntrdma_session_look(&side->s, &side->offer,
						    peer->offer.member, &look,
						    now_ms);

	if (step == NTRDMA_STEP_ACCEPT || step == NTRDMA_STEP_UP)
		side->page.yours = cpu_to_le32(side->s.yours);
	if (step == NTRDMA_STEP_UP)
		side->page.state = cpu_to_le32(NTRDMA_WIRE_UP);
	return step;
}

static void both_up(struct kunit *test, struct side *a, struct side *b)
{
	side_init(a, 1, 11);
	side_init(b, 2, 22);
	KUNIT_ASSERT_EQ(test, side_tick(a, b, 0), NTRDMA_STEP_ACCEPT);
	KUNIT_ASSERT_EQ(test, side_tick(b, a, 0), NTRDMA_STEP_UP);
	KUNIT_ASSERT_EQ(test, side_tick(a, b, 0), NTRDMA_STEP_UP);
}

static void two_sides_come_up_in_three_looks(struct kunit *test)
{
	struct side a, b;

	both_up(test, &a, &b);
	KUNIT_EXPECT_EQ(test, a.s.state, NTRDMA_LINK_UP);
	KUNIT_EXPECT_EQ(test, b.s.state, NTRDMA_LINK_UP);
	KUNIT_EXPECT_EQ(test, a.s.terms.ring_bytes, SZ_64K);
	KUNIT_EXPECT_EQ(test, side_tick(&a, &b, 0), NTRDMA_STEP_WAIT);
}

static void hello_that_changes_while_read_is_not_accepted(struct kunit *test)
{
	struct ntrdma_look look;
	struct side a, b;

	side_init(&a, 1, 11);
	side_init(&b, 2, 22);
	look = side_shows(&b);
	look.again = 23;
	KUNIT_EXPECT_EQ(test, ntrdma_session_look(&a.s, &a.offer, 2, &look, 0),
			NTRDMA_STEP_WAIT);
	look.before = 0;
	look.hello.my = 0;
	look.again = 0;
	KUNIT_EXPECT_EQ(test, ntrdma_session_look(&a.s, &a.offer, 2, &look, 0),
			NTRDMA_STEP_WAIT);
	KUNIT_EXPECT_EQ(test, a.s.yours, 0);
	KUNIT_EXPECT_EQ(test, a.s.reason, NTRDMA_REASON_NONE);
}

/*
 * Simulate a copy of the hello that has read the number last, after the peer
 * has changed it from 21 to 22.
 */
static void hello_that_is_copied_before_its_number_is_not_accepted(struct kunit *test)
{
	struct ntrdma_look look;
	struct side a, b;

	side_init(&a, 1, 11);
	side_init(&b, 2, 22);
	look = side_shows(&b);
	look.before = 21;
	KUNIT_EXPECT_EQ(test, ntrdma_session_look(&a.s, &a.offer, 2, &look, 0),
			NTRDMA_STEP_WAIT);
	KUNIT_EXPECT_EQ(test, a.s.yours, 0);
}

static void sizes_are_those_of_the_look_that_comes_up(struct kunit *test)
{
	struct side a, b;

	side_init(&a, 1, 11);
	side_init(&b, 2, 22);
	KUNIT_EXPECT_EQ(test, side_tick(&a, &b, 0), NTRDMA_STEP_ACCEPT);
	b.page.hello.ring_bytes = cpu_to_le32(SZ_32K);
	b.page.hello.chunk = cpu_to_le32(SZ_4K);
	b.page.yours = cpu_to_le32(11);
	KUNIT_EXPECT_EQ(test, side_tick(&a, &b, 0), NTRDMA_STEP_UP);
	KUNIT_EXPECT_EQ(test, a.s.terms.ring_bytes, SZ_32K);
	KUNIT_EXPECT_EQ(test, a.s.terms.chunk, SZ_4K);
}

static void invalid_hello_is_refused_with_reason(struct kunit *test)
{
	struct side a, b;

	side_init(&a, 1, 11);
	side_init(&b, 2, 22);
	b.page.hello.lanes = 0;
	KUNIT_EXPECT_EQ(test, side_tick(&a, &b, 0), NTRDMA_STEP_WAIT);
	KUNIT_EXPECT_EQ(test, a.s.yours, 0);
	KUNIT_EXPECT_EQ(test, a.s.reason, NTRDMA_REASON_BAD_SIZES);
}

static void other_number_of_doorbells_is_refused(struct kunit *test)
{
	struct side a, b;

	side_init(&a, 1, 11);
	side_init(&b, 2, 22);
	b.page.hello.bells = cpu_to_le16(3);
	KUNIT_EXPECT_EQ(test, side_tick(&a, &b, 0), NTRDMA_STEP_WAIT);
	KUNIT_EXPECT_EQ(test, a.s.reason, NTRDMA_REASON_BAD_BELLS);
}

static void refused_hello_withdraws_an_acceptance(struct kunit *test)
{
	struct side a, b;

	side_init(&a, 1, 11);
	side_init(&b, 2, 22);
	KUNIT_EXPECT_EQ(test, side_tick(&a, &b, 0), NTRDMA_STEP_ACCEPT);
	KUNIT_EXPECT_EQ(test, a.s.yours, 22);
	KUNIT_EXPECT_EQ(test, a.s.theirs.session, 22);
	b.page.hello.lanes = 0;
	KUNIT_EXPECT_EQ(test, side_tick(&a, &b, 0), NTRDMA_STEP_ACCEPT);
	KUNIT_EXPECT_EQ(test, a.s.yours, 0);
	KUNIT_EXPECT_EQ(test, side_tick(&a, &b, 0), NTRDMA_STEP_WAIT);
}

static void side_is_not_up_before_peer_has_accepted(struct kunit *test)
{
	struct side a, b;

	side_init(&a, 1, 11);
	side_init(&b, 2, 22);
	KUNIT_EXPECT_EQ(test, side_tick(&a, &b, 0), NTRDMA_STEP_ACCEPT);
	KUNIT_EXPECT_EQ(test, side_tick(&a, &b, 0), NTRDMA_STEP_WAIT);
	b.page.yours = cpu_to_le32(12);
	KUNIT_EXPECT_EQ(test, side_tick(&a, &b, 0), NTRDMA_STEP_WAIT);
	b.page.yours = cpu_to_le32(11);
	KUNIT_EXPECT_EQ(test, side_tick(&a, &b, 0), NTRDMA_STEP_UP);
}

static void peer_that_leaves_ends_the_session(struct kunit *test)
{
	struct side a, b;

	both_up(test, &a, &b);
	b.page.state = cpu_to_le32(NTRDMA_WIRE_LEAVING);
	KUNIT_EXPECT_EQ(test, side_tick(&a, &b, 0), NTRDMA_STEP_LOSS);
	KUNIT_EXPECT_EQ(test, a.s.reason, NTRDMA_REASON_LEFT);
	side_begin(&a, 12);
	KUNIT_EXPECT_EQ(test, side_tick(&a, &b, 0), NTRDMA_STEP_ACCEPT);
	b.page.yours = cpu_to_le32(12);
	KUNIT_EXPECT_EQ(test, side_tick(&a, &b, 0), NTRDMA_STEP_WAIT);
}

static void peer_that_restarts_ends_the_session(struct kunit *test)
{
	struct side a, b;

	both_up(test, &a, &b);
	side_init(&b, 2, 23);
	KUNIT_EXPECT_EQ(test, side_tick(&a, &b, 0), NTRDMA_STEP_LOSS);
	KUNIT_EXPECT_EQ(test, a.s.reason, NTRDMA_REASON_RESTARTED);
}

static void peer_that_accepts_another_session_ends_ours(struct kunit *test)
{
	struct side a, b;

	both_up(test, &a, &b);
	b.page.yours = cpu_to_le32(12);
	KUNIT_EXPECT_EQ(test, side_tick(&a, &b, 0), NTRDMA_STEP_LOSS);
	KUNIT_EXPECT_EQ(test, a.s.reason, NTRDMA_REASON_RESTARTED);
}

static void silent_peer_ends_after_dead_ms_and_not_before(struct kunit *test)
{
	struct side a, b;

	both_up(test, &a, &b);
	KUNIT_EXPECT_EQ(test, side_tick(&a, &b, DEAD_MS), NTRDMA_STEP_WAIT);
	b.page.beat = cpu_to_le32(1);
	KUNIT_EXPECT_EQ(test, side_tick(&a, &b, DEAD_MS + 1), NTRDMA_STEP_WAIT);
	KUNIT_EXPECT_EQ(test, side_tick(&a, &b, 2 * DEAD_MS + 1), NTRDMA_STEP_WAIT);
	KUNIT_EXPECT_EQ(test, side_tick(&a, &b, 2 * DEAD_MS + 2), NTRDMA_STEP_LOSS);
	KUNIT_EXPECT_EQ(test, a.s.reason, NTRDMA_REASON_SILENT);
}

static void traffic_without_beat_is_a_sign_of_life(struct kunit *test)
{
	struct ntrdma_look look;
	struct side a, b;

	both_up(test, &a, &b);
	look = side_shows(&b);
	look.traffic = 1;
	KUNIT_EXPECT_EQ(test, ntrdma_session_look(&a.s, &a.offer, 2, &look,
						  DEAD_MS + 1), NTRDMA_STEP_WAIT);
}

static void fail_has_an_effect_only_when_up(struct kunit *test)
{
	struct side a, b;

	side_init(&a, 1, 11);
	KUNIT_EXPECT_FALSE(test, ntrdma_session_fail(&a.s, NTRDMA_REASON_BAD_INDEX));
	both_up(test, &a, &b);
	KUNIT_EXPECT_TRUE(test, ntrdma_session_fail(&a.s, NTRDMA_REASON_BAD_INDEX));
	KUNIT_EXPECT_FALSE(test, ntrdma_session_fail(&a.s, NTRDMA_REASON_BAD_SEAL));
	KUNIT_EXPECT_EQ(test, a.s.reason, NTRDMA_REASON_BAD_INDEX);
	KUNIT_EXPECT_EQ(test, side_tick(&a, &b, 0), NTRDMA_STEP_WAIT);
}

static void stop_turns_each_state_but_up_off(struct kunit *test)
{
	struct side a, b;

	side_init(&a, 1, 11);
	ntrdma_session_stop(&a.s);
	KUNIT_EXPECT_EQ(test, a.s.state, NTRDMA_LINK_OFF);
	ntrdma_session_stop(&a.s);
	KUNIT_EXPECT_EQ(test, a.s.state, NTRDMA_LINK_OFF);
	both_up(test, &a, &b);
	ntrdma_session_fail(&a.s, NTRDMA_REASON_DOWN);
	ntrdma_session_stop(&a.s);
	KUNIT_EXPECT_EQ(test, a.s.state, NTRDMA_LINK_OFF);
}

/*
 * Two sides look at each other in random order, and crash: a crashed side
 * begins a new session.
 * Two sides that are UP with each other have accepted each other's present
 * session, and after the last crash both come up.
 */
static void random_crashes_end_in_a_common_session(struct kunit *test)
{
	struct side sides[2], *side, *peer;
	struct rnd_state rnd;
	u32 round, step, lives = 100;
	u64 now = 0;

	prandom_seed_state(&rnd, 20261126);
	for (round = 0; round < 1000; round++) {
		side_init(&sides[0], 0, ++lives);
		side_init(&sides[1], 1, ++lives);
		for (step = 0; step < 100; step++) {
			side = &sides[prandom_u32_state(&rnd) % 2];
			peer = &sides[side == sides];
			le32_add_cpu(&side->page.beat, 1);
			if (step < 80 && prandom_u32_state(&rnd) % 8 == 0)
				side_init(side, side->offer.member, ++lives);
			if (side_tick(side, peer, ++now) == NTRDMA_STEP_LOSS)
				side_begin(side, ++lives);
			if (sides[0].s.state != NTRDMA_LINK_UP ||
			    sides[1].s.state != NTRDMA_LINK_UP)
				continue;
			/* A crash of the peer is only seen at the next look. */
			if (side->s.state == NTRDMA_LINK_UP && side->s.yours == peer->s.my)
				KUNIT_ASSERT_EQ(test, peer->s.yours, side->s.my);
		}
		KUNIT_ASSERT_EQ(test, sides[0].s.state, NTRDMA_LINK_UP);
		KUNIT_ASSERT_EQ(test, sides[1].s.state, NTRDMA_LINK_UP);
		KUNIT_ASSERT_EQ(test, sides[0].s.yours, sides[1].s.my);
		KUNIT_ASSERT_EQ(test, sides[1].s.yours, sides[0].s.my);
	}
}

static void each_reason_and_state_has_a_name(struct kunit *test)
{
	u32 i;

	for (i = 0; i < NTRDMA_REASONS; i++)
		KUNIT_EXPECT_NOT_NULL(test, ntrdma_reason_name(i));
	KUNIT_EXPECT_STREQ(test, ntrdma_reason_name(U32_MAX), "unknown");
	for (i = 0; i < NTRDMA_LINK_STATES; i++)
		KUNIT_EXPECT_NOT_NULL(test, ntrdma_link_state_name(i));
}

static struct kunit_case ntrdma_session_cases[] = {
	KUNIT_CASE(two_sides_come_up_in_three_looks),
	KUNIT_CASE(hello_that_changes_while_read_is_not_accepted),
	KUNIT_CASE(hello_that_is_copied_before_its_number_is_not_accepted),
	KUNIT_CASE(sizes_are_those_of_the_look_that_comes_up),
	KUNIT_CASE(invalid_hello_is_refused_with_reason),
	KUNIT_CASE(other_number_of_doorbells_is_refused),
	KUNIT_CASE(refused_hello_withdraws_an_acceptance),
	KUNIT_CASE(side_is_not_up_before_peer_has_accepted),
	KUNIT_CASE(peer_that_leaves_ends_the_session),
	KUNIT_CASE(peer_that_restarts_ends_the_session),
	KUNIT_CASE(peer_that_accepts_another_session_ends_ours),
	KUNIT_CASE(silent_peer_ends_after_dead_ms_and_not_before),
	KUNIT_CASE(traffic_without_beat_is_a_sign_of_life),
	KUNIT_CASE(fail_has_an_effect_only_when_up),
	KUNIT_CASE(stop_turns_each_state_but_up_off),
	KUNIT_CASE(random_crashes_end_in_a_common_session),
	KUNIT_CASE(each_reason_and_state_has_a_name),
	{}
};

static struct kunit_suite ntrdma_session_suite = {
	.name = "ntrdma_session",
	.test_cases = ntrdma_session_cases,
};

kunit_test_suite(ntrdma_session_suite);

MODULE_AUTHOR("The krdma developers");
MODULE_DESCRIPTION("KUnit tests of ntrdma's sessions");
MODULE_LICENSE("GPL");
