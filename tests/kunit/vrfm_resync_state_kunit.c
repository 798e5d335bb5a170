// SPDX-License-Identifier: GPL-2.0
/*
 * Test the states of loading an image: compare the result for each pair of
 * states with the table in this file.
 */
#include <kunit/test.h>

#include "../../vrfm/resync_state.c"

/*
 * The table has a row for each state before the change, and a column for each
 * state after it, in the order of enum vrfm_resync_state.
 */
static void transitions_match_table(struct kunit *test)
{
	static const bool allowed[VRFM_RESYNC_STATES][VRFM_RESYNC_STATES] = {
		[VRFM_RESYNC_IDLE]	= { 0, 1, 0, 0, 0, 0 },
		[VRFM_RESYNC_RESERVING]	= { 1, 0, 1, 0, 0, 0 },
		[VRFM_RESYNC_SWEEPING]	= { 0, 0, 0, 1, 0, 0 },
		[VRFM_RESYNC_CHOOSING]	= { 0, 0, 1, 0, 1, 1 },
		[VRFM_RESYNC_DESERTED]	= { 1, 0, 0, 1, 0, 1 },
		[VRFM_RESYNC_PULLING]	= { 1, 0, 1, 0, 0, 0 },
	};
	int from, to;

	for (from = 0; from < VRFM_RESYNC_STATES; from++)
		for (to = 0; to < VRFM_RESYNC_STATES; to++)
			KUNIT_EXPECT_EQ_MSG(test, vrfm_resync_may_move(from, to),
					    allowed[from][to], "%s > %s",
					    vrfm_resync_state_name(from),
					    vrfm_resync_state_name(to));
}

static void invalid_state_has_no_transition(struct kunit *test)
{
	int state;

	for (state = 0; state < VRFM_RESYNC_STATES; state++) {
		KUNIT_EXPECT_FALSE(test, vrfm_resync_may_move(state,
							      VRFM_RESYNC_STATES));
		KUNIT_EXPECT_FALSE(test, vrfm_resync_may_move(VRFM_RESYNC_STATES,
							      state));
	}
}

static void state_names_differ(struct kunit *test)
{
	int a, b;

	for (a = 0; a < VRFM_RESYNC_STATES; a++) {
		KUNIT_ASSERT_NOT_NULL(test, vrfm_resync_state_name(a));
		for (b = 0; b < a; b++)
			KUNIT_EXPECT_STRNEQ(test, vrfm_resync_state_name(a),
					    vrfm_resync_state_name(b));
	}
}

static struct kunit_case vrfm_resync_state_cases[] = {
	KUNIT_CASE(transitions_match_table),
	KUNIT_CASE(invalid_state_has_no_transition),
	KUNIT_CASE(state_names_differ),
	{ }
};

static struct kunit_suite vrfm_resync_state_suite = {
	.name = "vrfm_resync_state",
	.test_cases = vrfm_resync_state_cases,
};

kunit_test_suite(vrfm_resync_state_suite);

MODULE_AUTHOR("The krdma developers <krdma@example.org>");
MODULE_DESCRIPTION("KUnit tests of the states of loading an image");
MODULE_LICENSE("GPL");
