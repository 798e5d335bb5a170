// SPDX-License-Identifier: GPL-2.0
/*
 * Test state transitions: compare the result for each pair of states with the
 * tables in this file.
 */
#include <kunit/test.h>

#include "../../krdma/state.c"

struct krdma_state_move {
	enum krdma_state from;
	enum krdma_state to;
};

static const struct krdma_state_move krdma_conn_moves[] = {
	/* the client */
	{ KRDMA_NEW, KRDMA_RESOLVING_ADDR },
	{ KRDMA_RESOLVING_ADDR, KRDMA_RESOLVING_ROUTE },
	{ KRDMA_RESOLVING_ROUTE, KRDMA_ROUTED },
	{ KRDMA_ROUTED, KRDMA_READY },
	/* the server */
	{ KRDMA_REQUESTED, KRDMA_READY },
	/* both */
	{ KRDMA_READY, KRDMA_CONNECTING },
	{ KRDMA_CONNECTING, KRDMA_ESTABLISHED },
	/* closing, from any state */
	{ KRDMA_NEW, KRDMA_CLOSING },
	{ KRDMA_RESOLVING_ADDR, KRDMA_CLOSING },
	{ KRDMA_RESOLVING_ROUTE, KRDMA_CLOSING },
	{ KRDMA_ROUTED, KRDMA_CLOSING },
	{ KRDMA_REQUESTED, KRDMA_CLOSING },
	{ KRDMA_READY, KRDMA_CLOSING },
	{ KRDMA_CONNECTING, KRDMA_CLOSING },
	{ KRDMA_ESTABLISHED, KRDMA_CLOSING },
	{ KRDMA_CLOSING, KRDMA_CLOSED },
};

static const struct krdma_state_move krdma_listener_moves[] = {
	{ KRDMA_NEW, KRDMA_LISTENING },
	{ KRDMA_NEW, KRDMA_CLOSING },
	{ KRDMA_LISTENING, KRDMA_CLOSING },
	{ KRDMA_CLOSING, KRDMA_CLOSED },
};

static bool krdma_state_expected(const struct krdma_state_move *moves, size_t n,
				 enum krdma_state from, enum krdma_state to)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (moves[i].from == from && moves[i].to == to)
			return true;
	return false;
}

static void krdma_state_check_role(struct kunit *test, enum krdma_role role,
				   const struct krdma_state_move *moves,
				   size_t n)
{
	int from, to;

	for (from = 0; from < KRDMA_STATES; from++)
		for (to = 0; to < KRDMA_STATES; to++)
			KUNIT_EXPECT_EQ_MSG(test,
					    krdma_state_may_move(role, from, to),
					    krdma_state_expected(moves, n, from, to),
					    "%s > %s", krdma_state_name(from),
					    krdma_state_name(to));
}

static void client_transitions_match_table(struct kunit *test)
{
	krdma_state_check_role(test, KRDMA_CLIENT_CONN, krdma_conn_moves,
			       ARRAY_SIZE(krdma_conn_moves));
}

static void acceptor_transitions_match_table(struct kunit *test)
{
	krdma_state_check_role(test, KRDMA_ACCEPT_CONN, krdma_conn_moves,
			       ARRAY_SIZE(krdma_conn_moves));
}

static void listener_transitions_match_table(struct kunit *test)
{
	krdma_state_check_role(test, KRDMA_LISTEN_CONN, krdma_listener_moves,
			       ARRAY_SIZE(krdma_listener_moves));
}

static void closed_has_no_transition(struct kunit *test)
{
	int role, to;

	for (role = KRDMA_CLIENT_CONN; role <= KRDMA_ACCEPT_CONN; role++)
		for (to = 0; to < KRDMA_STATES; to++)
			KUNIT_EXPECT_FALSE(test,
					   krdma_state_may_move(role, KRDMA_CLOSED, to));
}

static void invalid_state_has_no_transition(struct kunit *test)
{
	int state;

	for (state = 0; state < KRDMA_STATES; state++) {
		KUNIT_EXPECT_FALSE(test, krdma_state_may_move(KRDMA_CLIENT_CONN,
							      state, KRDMA_STATES));
		KUNIT_EXPECT_FALSE(test, krdma_state_may_move(KRDMA_CLIENT_CONN,
							      KRDMA_STATES, state));
		KUNIT_EXPECT_FALSE(test, krdma_state_may_move(KRDMA_CLIENT_CONN,
							      state, -1));
	}
}

/*
 * The table has a row for each value before the change, and a column for each
 * value after it, in the order of enum krdma_owner.
 */
static void owner_transitions_match_table(struct kunit *test)
{
	static const bool allowed[KRDMA_OWNERS][KRDMA_OWNERS] = {
		[KRDMA_OWNER_WAITS]    = { 0, 1, 0, 0, 1 },
		[KRDMA_OWNER_HAS]      = { 0, 0, 1, 1, 0 },
		[KRDMA_OWNER_NOTIFIED] = { 0, 0, 0, 1, 0 },
		[KRDMA_OWNER_DROPS]    = { 0, 0, 0, 1, 0 },
	};
	int from, to;

	for (from = 0; from < KRDMA_OWNERS; from++)
		for (to = 0; to < KRDMA_OWNERS; to++)
			KUNIT_EXPECT_EQ_MSG(test, krdma_owner_may_move(from, to),
					    allowed[from][to], "%d to %d", from,
					    to);
	KUNIT_EXPECT_FALSE(test, krdma_owner_may_move(KRDMA_OWNER_WAITS,
						      KRDMA_OWNERS));
	KUNIT_EXPECT_FALSE(test, krdma_owner_may_move(KRDMA_OWNERS,
						      KRDMA_OWNER_HAS));
}

static void state_names_differ(struct kunit *test)
{
	int a, b;

	for (a = 0; a < KRDMA_STATES; a++) {
		KUNIT_ASSERT_NOT_NULL(test, krdma_state_name(a));
		KUNIT_EXPECT_STRNEQ(test, krdma_state_name(a), "?");
		for (b = 0; b < a; b++)
			KUNIT_EXPECT_STRNEQ(test, krdma_state_name(a),
					    krdma_state_name(b));
	}
}

static void invalid_state_has_fallback_name(struct kunit *test)
{
	KUNIT_EXPECT_STREQ(test, krdma_state_name(KRDMA_STATES), "?");
	KUNIT_EXPECT_STREQ(test, krdma_state_name(-1), "?");
}

static struct kunit_case krdma_state_cases[] = {
	KUNIT_CASE(client_transitions_match_table),
	KUNIT_CASE(acceptor_transitions_match_table),
	KUNIT_CASE(listener_transitions_match_table),
	KUNIT_CASE(closed_has_no_transition),
	KUNIT_CASE(invalid_state_has_no_transition),
	KUNIT_CASE(owner_transitions_match_table),
	KUNIT_CASE(state_names_differ),
	KUNIT_CASE(invalid_state_has_fallback_name),
	{}
};

static struct kunit_suite krdma_state_suite = {
	.name = "krdma_state",
	.test_cases = krdma_state_cases,
};

kunit_test_suite(krdma_state_suite);

MODULE_AUTHOR("The krdma developers");
MODULE_DESCRIPTION("KUnit tests of krdma's state tables");
MODULE_LICENSE("GPL");
