// SPDX-License-Identifier: GPL-2.0
/* Test the time for which a wait polls before it sleeps. */
#include <kunit/test.h>

#include "../../krdma/spin.c"

#define MAX_US 50

/* Simulate a wait that ends after @us. Return the time of polling, in us. */
static u32 wait_of(struct krdma_spin *spin, u32 max_us, u32 us)
{
	u32 budget_us = krdma_spin_begin(spin, max_us);

	if (budget_us)
		krdma_spin_end(spin, max_us, budget_us, us <= budget_us);
	return min(budget_us, us);
}

static void spin_without_limit_does_not_poll(struct kunit *test)
{
	struct krdma_spin spin = {};

	KUNIT_EXPECT_EQ(test, krdma_spin_begin(&spin, 0), 0U);
	KUNIT_EXPECT_EQ(test, krdma_spin_begin(&spin, 0), 0U);
}

static void spin_first_poll_uses_full_limit(struct kunit *test)
{
	struct krdma_spin spin = {};

	KUNIT_EXPECT_EQ(test, krdma_spin_begin(&spin, MAX_US), 50U);
}

static void spin_success_is_not_cut(struct kunit *test)
{
	struct krdma_spin spin = {};
	int i;

	for (i = 0; i < 1000; i++)
		KUNIT_ASSERT_EQ(test, wait_of(&spin, MAX_US, 50), 50U);
}

static void spin_failure_halves_next_poll(struct kunit *test)
{
	static const u32 wanted[] = { 50, 25, 12, 6, 3, 1, 0 };
	struct krdma_spin spin = {};
	int i;

	for (i = 0; i < ARRAY_SIZE(wanted); i++)
		KUNIT_EXPECT_EQ(test, wait_of(&spin, MAX_US, 100), wanted[i]);
}

static void spin_success_doubles_next_poll_up_to_limit(struct kunit *test)
{
	static const u32 wanted[] = { 6, 12, 24, 48, 50, 50 };
	struct krdma_spin spin = { .budget_us = 6 };
	int i;

	for (i = 0; i < ARRAY_SIZE(wanted); i++) {
		u32 budget_us = krdma_spin_begin(&spin, MAX_US);

		KUNIT_EXPECT_EQ(test, budget_us, wanted[i]);
		krdma_spin_end(&spin, MAX_US, budget_us, true);
	}
}

static void spin_slow_waits_skip_polls(struct kunit *test)
{
	struct krdma_spin spin = { .budget_us = 1 };
	int i;

	KUNIT_ASSERT_EQ(test, wait_of(&spin, MAX_US, 100), 1U);
	for (i = 0; i < KRDMA_SPIN_REST; i++)
		KUNIT_ASSERT_EQ(test, wait_of(&spin, MAX_US, 100), 0U);
	KUNIT_EXPECT_EQ(test, wait_of(&spin, MAX_US, 100), 50U);
}

static void spin_fast_waits_resume_polls(struct kunit *test)
{
	struct krdma_spin spin = {};
	int i;

	for (i = 0; i < 1000; i++)
		wait_of(&spin, MAX_US, 100);
	for (i = 0; i <= KRDMA_SPIN_REST + 6; i++)
		wait_of(&spin, MAX_US, 40);
	KUNIT_EXPECT_EQ(test, wait_of(&spin, MAX_US, 40), 40U);
	KUNIT_EXPECT_EQ(test, wait_of(&spin, MAX_US, 40), 40U);
}

static void spin_failures_cost_at_most_a_thirtieth(struct kunit *test)
{
	struct krdma_spin spin = {};
	u32 i, max_us, sum;

	for (max_us = 1; max_us <= 1000; max_us++) {
		spin = (struct krdma_spin){};
		sum = 0;
		for (i = 0; i < 7500; i++)
			sum += wait_of(&spin, max_us, U32_MAX);
		KUNIT_EXPECT_LE(test, sum, 7500 / 30 * max_us);
	}
}

static void spin_lower_limit_applies_at_once(struct kunit *test)
{
	struct krdma_spin spin = { .budget_us = 1000 };

	KUNIT_EXPECT_EQ(test, krdma_spin_begin(&spin, MAX_US), 50U);
}

static struct kunit_case krdma_spin_cases[] = {
	KUNIT_CASE(spin_without_limit_does_not_poll),
	KUNIT_CASE(spin_first_poll_uses_full_limit),
	KUNIT_CASE(spin_success_is_not_cut),
	KUNIT_CASE(spin_failure_halves_next_poll),
	KUNIT_CASE(spin_success_doubles_next_poll_up_to_limit),
	KUNIT_CASE(spin_slow_waits_skip_polls),
	KUNIT_CASE(spin_fast_waits_resume_polls),
	KUNIT_CASE(spin_failures_cost_at_most_a_thirtieth),
	KUNIT_CASE(spin_lower_limit_applies_at_once),
	{}
};

static struct kunit_suite krdma_spin_suite = {
	.name = "krdma_spin",
	.test_cases = krdma_spin_cases,
};

kunit_test_suite(krdma_spin_suite);

MODULE_AUTHOR("The krdma developers");
MODULE_DESCRIPTION("KUnit tests of krdma's spinning");
MODULE_LICENSE("GPL");
