// SPDX-License-Identifier: GPL-2.0
/* How long to look before sleeping. */
#include <kunit/test.h>

#include "../../krdma/spin.c"

#define MAX_US 50

/* A wait that is over after so many microseconds; how long it looked. */
static u32 wait_of(struct krdma_spin *spin, u32 max_us, u32 us)
{
	u32 budget_us = krdma_spin_begin(spin, max_us);

	if (budget_us)
		krdma_spin_end(spin, max_us, budget_us, us <= budget_us);
	return min(budget_us, us);
}

static void nobody_looks_who_was_not_told_to(struct kunit *test)
{
	struct krdma_spin spin = {};

	KUNIT_EXPECT_EQ(test, krdma_spin_begin(&spin, 0), 0U);
	KUNIT_EXPECT_EQ(test, krdma_spin_begin(&spin, 0), 0U);
}

static void first_look_takes_the_whole_time(struct kunit *test)
{
	struct krdma_spin spin = {};

	KUNIT_EXPECT_EQ(test, krdma_spin_begin(&spin, MAX_US), 50U);
}

static void look_that_pays_is_never_cut(struct kunit *test)
{
	struct krdma_spin spin = {};
	int i;

	for (i = 0; i < 1000; i++)
		KUNIT_ASSERT_EQ(test, wait_of(&spin, MAX_US, 50), 50U);
}

static void each_look_in_vain_halves_the_next(struct kunit *test)
{
	static const u32 wanted[] = { 50, 25, 12, 6, 3, 1, 0 };
	struct krdma_spin spin = {};
	int i;

	for (i = 0; i < ARRAY_SIZE(wanted); i++)
		KUNIT_EXPECT_EQ(test, wait_of(&spin, MAX_US, 100), wanted[i]);
}

static void look_that_pays_doubles_the_next_up_to_the_limit(struct kunit *test)
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

static void what_is_slow_sleeps_at_once_for_a_while(struct kunit *test)
{
	struct krdma_spin spin = { .budget_us = 1 };
	int i;

	KUNIT_ASSERT_EQ(test, wait_of(&spin, MAX_US, 100), 1U);
	for (i = 0; i < KRDMA_SPIN_REST; i++)
		KUNIT_ASSERT_EQ(test, wait_of(&spin, MAX_US, 100), 0U);
	KUNIT_EXPECT_EQ(test, wait_of(&spin, MAX_US, 100), 50U);
}

static void what_becomes_fast_is_found_again(struct kunit *test)
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

static void looking_in_vain_costs_a_thirtieth_at_most(struct kunit *test)
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

static void shorter_limit_holds_at_once(struct kunit *test)
{
	struct krdma_spin spin = { .budget_us = 1000 };

	KUNIT_EXPECT_EQ(test, krdma_spin_begin(&spin, MAX_US), 50U);
}

static struct kunit_case krdma_spin_cases[] = {
	KUNIT_CASE(nobody_looks_who_was_not_told_to),
	KUNIT_CASE(first_look_takes_the_whole_time),
	KUNIT_CASE(look_that_pays_is_never_cut),
	KUNIT_CASE(each_look_in_vain_halves_the_next),
	KUNIT_CASE(look_that_pays_doubles_the_next_up_to_the_limit),
	KUNIT_CASE(what_is_slow_sleeps_at_once_for_a_while),
	KUNIT_CASE(what_becomes_fast_is_found_again),
	KUNIT_CASE(looking_in_vain_costs_a_thirtieth_at_most),
	KUNIT_CASE(shorter_limit_holds_at_once),
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
