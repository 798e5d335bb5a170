// SPDX-License-Identifier: GPL-2.0
/* Which state may follow which: all pairs, against the moves written down here. */
#include <kunit/test.h>

#include "../../krdma/state.c"

struct krdma_state_move {
	enum krdma_state from;
	enum krdma_state to;
};

static const struct krdma_state_move krdma_conn_moves[] = {
	/* the client's way */
	{ KRDMA_NEW, KRDMA_RESOLVING_ADDR },
	{ KRDMA_RESOLVING_ADDR, KRDMA_RESOLVING_ROUTE },
	{ KRDMA_RESOLVING_ROUTE, KRDMA_ROUTED },
	{ KRDMA_ROUTED, KRDMA_READY },
	/* the server's way */
	{ KRDMA_REQUESTED, KRDMA_READY },
	/* both */
	{ KRDMA_READY, KRDMA_CONNECTING },
	{ KRDMA_CONNECTING, KRDMA_ESTABLISHED },
	/* the end, from anywhere */
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

static void client_moves_as_documented_and_no_other_way(struct kunit *test)
{
	krdma_state_check_role(test, KRDMA_CLIENT_CONN, krdma_conn_moves,
			       ARRAY_SIZE(krdma_conn_moves));
}

static void accepted_moves_as_documented_and_no_other_way(struct kunit *test)
{
	krdma_state_check_role(test, KRDMA_ACCEPT_CONN, krdma_conn_moves,
			       ARRAY_SIZE(krdma_conn_moves));
}

static void listener_moves_as_documented_and_no_other_way(struct kunit *test)
{
	krdma_state_check_role(test, KRDMA_LISTEN_CONN, krdma_listener_moves,
			       ARRAY_SIZE(krdma_listener_moves));
}

static void nothing_follows_closed(struct kunit *test)
{
	int role, to;

	for (role = KRDMA_CLIENT_CONN; role <= KRDMA_ACCEPT_CONN; role++)
		for (to = 0; to < KRDMA_STATES; to++)
			KUNIT_EXPECT_FALSE(test,
					   krdma_state_may_move(role, KRDMA_CLOSED, to));
}

static void number_that_is_no_state_never_moves(struct kunit *test)
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

static void every_state_has_a_name_of_its_own(struct kunit *test)
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

static void number_that_is_no_state_is_named_so(struct kunit *test)
{
	KUNIT_EXPECT_STREQ(test, krdma_state_name(KRDMA_STATES), "?");
	KUNIT_EXPECT_STREQ(test, krdma_state_name(-1), "?");
}

static struct kunit_case krdma_state_cases[] = {
	KUNIT_CASE(client_moves_as_documented_and_no_other_way),
	KUNIT_CASE(accepted_moves_as_documented_and_no_other_way),
	KUNIT_CASE(listener_moves_as_documented_and_no_other_way),
	KUNIT_CASE(nothing_follows_closed),
	KUNIT_CASE(number_that_is_no_state_never_moves),
	KUNIT_CASE(every_state_has_a_name_of_its_own),
	KUNIT_CASE(number_that_is_no_state_is_named_so),
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
