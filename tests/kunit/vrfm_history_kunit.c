// SPDX-License-Identifier: GPL-2.0
/*
 * Test the comparison of histories. A history lists the ended lives of a node,
 * and the last write of each life that the memory contains.
 */
#include <kunit/test.h>
#include <linux/prandom.h>

#include "../../vrfm/history.c"

static struct vrfm_history past_of(u64 a, u64 b, u64 c)
{
	const u64 epochs[] = { a, b, c };
	struct vrfm_life life = { .serial = 7, .synced = true };
	struct vrfm_history history = { };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(epochs) && epochs[i]; i++) {
		life.epoch = epochs[i];
		vrfm_history_add(&history, &life);
	}
	return history;
}

static void life_cmp_is_a_total_order(struct kunit *test)
{
	/* The order of lives: each compares as less than the next one. */
	static const struct vrfm_life lives[] = {
		{},
		{ .epoch = 5, .serial = 2, .tie_breaker = 9 },
		{ .epoch = 5, .serial = 2, .tie_breaker = 8 },
		{ .epoch = 5, .serial = 3, .tie_breaker = 9 },
		{ .epoch = 5, .serial = 1, .synced = true },
		{ .epoch = 5, .serial = 2, .synced = true },
		{ .epoch = 5,
		  .serial = 2,
		  .synced = true,
		  .direct = true,
		  .tie_breaker = 3 },
		{ .epoch = 5,
		  .serial = 2,
		  .synced = true,
		  .direct = true,
		  .tie_breaker = 2 },
		{ .epoch = 5, .serial = 3, .synced = true },
		{ .epoch = 6, .serial = 0, .tie_breaker = 9 },
	};
	u32 i, j;
	int more;

	for (i = 0; i < ARRAY_SIZE(lives); i++)
		for (j = 0; j < ARRAY_SIZE(lives); j++) {
			more = vrfm_life_cmp(&lives[i], &lives[j]);
			KUNIT_EXPECT_EQ_MSG(test, more, (i > j) - (i < j),
					    "%u and %u", i, j);
		}
}

/* The tie breaker has no effect on lives that are synced and not direct. */
static void life_cmp_ignores_whose_if_synced(struct kunit *test)
{
	struct vrfm_life a = {
		.epoch = 5, .serial = 2, .synced = true, .tie_breaker = 1
	};
	struct vrfm_life b = {
		.epoch = 5, .serial = 2, .synced = true, .tie_breaker = 2
	};

	KUNIT_EXPECT_EQ(test, vrfm_life_cmp(&a, &b), 0);
	a.synced = false;
	b.synced = false;
	KUNIT_EXPECT_GT(test, vrfm_life_cmp(&a, &b), 0);
}

static void add(struct vrfm_history *history, u64 epoch)
{
	const struct vrfm_life life = {
		.epoch = epoch, .serial = 7, .synced = true,
	};

	vrfm_history_add(history, &life);
}

static void past_add_keeps_order_and_limit(struct kunit *test)
{
	struct vrfm_history history = past_of(20, 40, 10), was;
	struct vrfm_life life = { .epoch = 30, .serial = 1 };

	KUNIT_EXPECT_EQ(test, history.lives[0].epoch, 40ULL);
	KUNIT_EXPECT_EQ(test, history.lives[1].epoch, 20ULL);
	KUNIT_EXPECT_EQ(test, history.lives[2].epoch, 10ULL);
	KUNIT_EXPECT_EQ(test, history.lives[3].epoch, 0ULL);
	vrfm_history_add(&history, &life);
	KUNIT_EXPECT_EQ(test, history.lives[1].epoch, 30ULL);
	KUNIT_EXPECT_EQ(test, history.lives[3].epoch, 10ULL);
	/* Adding a known life updates it. */
	life.serial = 2;
	vrfm_history_add(&history, &life);
	KUNIT_EXPECT_EQ(test, history.lives[1].serial, 2ULL);
	KUNIT_EXPECT_EQ(test, history.lives[3].epoch, 10ULL);
	/*
	 * If a history is full, adding a life drops the oldest one, which may
	 * be the added life.
	 */
	add(&history, 7);
	was = history;
	add(&history, 5);
	add(&history, 0);
	KUNIT_EXPECT_EQ(test, memcmp(&history, &was, sizeof(history)), 0);
	add(&history, 50);
	KUNIT_EXPECT_EQ(test, history.lives[0].epoch, 50ULL);
	KUNIT_EXPECT_EQ(test, history.lives[VRFM_LIVES - 1].epoch, 10ULL);
}

/* A link that goes down and up must not make other nodes load an image. */
static void past_cmp_ignores_life_of_linked_node(struct kunit *test)
{
	struct vrfm_history a = past_of(10, 20, 30), b;
	u64 epoch;

	for (epoch = 40; epoch < 100; epoch += 10) {
		b = a;
		add(&b, epoch);
		KUNIT_EXPECT_GT(test, vrfm_history_cmp(&b, &a, 0), 0);
		KUNIT_EXPECT_EQ(test, vrfm_history_cmp(&b, &a, epoch), 0);
		vrfm_history_forget(&b, epoch);
		KUNIT_EXPECT_EQ(test, vrfm_history_cmp(&b, &a, epoch), 0);
		add(&a, epoch);
	}
}

static void past_forget_removes_one_life(struct kunit *test)
{
	struct vrfm_history history = past_of(10, 20, 30), was = history;

	KUNIT_EXPECT_FALSE(test, vrfm_history_forget(&history, 25));
	KUNIT_EXPECT_FALSE(test, vrfm_history_forget(&history, 0));
	KUNIT_EXPECT_EQ(test, vrfm_history_cmp(&history, &was, 0), 0);
	KUNIT_EXPECT_TRUE(test, vrfm_history_forget(&history, 20));
	was = past_of(10, 30, 0);
	KUNIT_EXPECT_EQ(test, vrfm_history_cmp(&history, &was, 0), 0);
	KUNIT_EXPECT_TRUE(test, vrfm_history_forget(&history, 30));
	KUNIT_EXPECT_TRUE(test, vrfm_history_forget(&history, 10));
	KUNIT_EXPECT_TRUE(test, vrfm_history_is_empty(&history));
}

/*
 * A node whose link was down may lack writes of two ended lives of another
 * node, or of one ended life and the life that continues.
 */
static void past_cmp_compares_all_lives(struct kunit *test)
{
	struct vrfm_history a = past_of(10, 20, 0), b = past_of(10, 20, 0);

	KUNIT_EXPECT_EQ(test, vrfm_history_cmp(&a, &b, 0), 0);
	b.lives[1].serial++;
	KUNIT_EXPECT_LT(test, vrfm_history_cmp(&a, &b, 0), 0);
	/* The later life takes precedence. */
	a.lives[0].serial++;
	KUNIT_EXPECT_GT(test, vrfm_history_cmp(&a, &b, 0), 0);
	/* Life 20 continues, so the comparison ignores it. */
	KUNIT_EXPECT_LT(test, vrfm_history_cmp(&a, &b, 20), 0);
	a = past_of(10, 0, 0);
	b = past_of(10, 20, 0);
	KUNIT_EXPECT_LT(test, vrfm_history_cmp(&a, &b, 0), 0);
	KUNIT_EXPECT_EQ(test, vrfm_history_cmp(&a, &b, 20), 0);
	b = past_of(10, 20, 30);
	vrfm_history_add(&b,
			 &(struct vrfm_life){ .epoch = 40, .synced = true });
	KUNIT_EXPECT_LT(test, vrfm_history_cmp(&a, &b, 40), 0);
	KUNIT_EXPECT_EQ(test, vrfm_history_cmp(&b, &b, 10), 0);
}

static struct vrfm_history any_past(struct rnd_state *random)
{
	struct vrfm_history history = { };
	struct vrfm_life life;
	u32 n, bits;

	for (n = prandom_u32_state(random) % 6; n; n--) {
		bits = prandom_u32_state(random);
		life = (struct vrfm_life){
			.epoch = 1 + bits % 6,
			.serial = bits >> 8 & 1,
			.tie_breaker = bits >> 9 & 3,
			.synced = bits >> 11 & 1,
			.direct = bits >> 12 & 1,
		};
		vrfm_history_add(&history, &life);
	}
	return history;
}

static int sign(int n)
{
	return (n > 0) - (n < 0);
}

/* Without a transitive order nodes could load from each other endlessly. */
static void past_cmp_is_transitive(struct kunit *test)
{
	struct rnd_state random;
	struct vrfm_history a, b, c;
	u32 i, alive, wrong = 0;

	prandom_seed_state(&random, 1);
	for (i = 0; i < 200000; i++) {
		a = any_past(&random);
		b = any_past(&random);
		c = any_past(&random);
		alive = prandom_u32_state(&random) % 7;
		wrong += sign(vrfm_history_cmp(&a, &b, alive)) !=
			 -sign(vrfm_history_cmp(&b, &a, alive));
		wrong += vrfm_history_cmp(&a, &b, alive) >= 0 &&
			 vrfm_history_cmp(&b, &c, alive) >= 0 &&
			 vrfm_history_cmp(&a, &c, alive) < 0;
	}
	KUNIT_EXPECT_EQ(test, wrong, 0U);
}

static void past_doubt_is_less_and_unique(struct kunit *test)
{
	struct vrfm_history a = past_of(10, 20, 0), b = a, c = a;

	vrfm_history_invalidate(&b, 77);
	KUNIT_EXPECT_GT(test, vrfm_history_cmp(&a, &b, 0), 0);
	vrfm_history_invalidate(&c, 78);
	KUNIT_EXPECT_NE(test, vrfm_history_cmp(&b, &c, 0), 0);
	vrfm_history_forget(&b, 20);
	vrfm_history_forget(&b, 10);
	KUNIT_EXPECT_TRUE(test, vrfm_history_is_empty(&b));
}

static void past_adopt_equals_past_of_holder(struct kunit *test)
{
	struct vrfm_history mine = past_of(10, 20, 40),
			    its = past_of(10, 30, 50);
	const struct vrfm_life meanwhile = { .epoch = 60, .after_checkpoint = true };

	its.lives[2].serial = 3;
	vrfm_history_add(&mine, &meanwhile);
	vrfm_history_copy_from_donor(&mine, &its, 50);
	/*
	 * The donor lacks the lives 20 and 40, so they are dropped. Life 50
	 * continues, so it is not copied. Life 60 ended during the load, so it
	 * is kept.
	 */
	KUNIT_EXPECT_EQ(test, mine.lives[0].epoch, 60ULL);
	KUNIT_EXPECT_EQ(test, mine.lives[1].epoch, 30ULL);
	KUNIT_EXPECT_EQ(test, mine.lives[2].epoch, 10ULL);
	KUNIT_EXPECT_EQ(test, mine.lives[2].serial, 3ULL);
	KUNIT_EXPECT_EQ(test, mine.lives[3].epoch, 0ULL);
	/*
	 * After a checkpoint, life 60 is treated like the other lives when the
	 * next image is loaded.
	 */
	vrfm_history_checkpoint(&mine);
	vrfm_history_copy_from_donor(&mine, &its, 0);
	KUNIT_EXPECT_EQ(test, vrfm_history_cmp(&mine, &its, 0), 0);
	/*
	 * If the donor has life 60 as well, this node and the donor have
	 * different writes of life 60.
	 */
	vrfm_history_add(&mine, &meanwhile);
	vrfm_history_add(&its,
			 &(struct vrfm_life){ .epoch = 60, .synced = true });
	vrfm_history_copy_from_donor(&mine, &its, 0);
	KUNIT_EXPECT_LT(test, vrfm_history_cmp(&mine, &its, 0), 0);
}

static struct kunit_case vrfm_history_cases[] = {
	KUNIT_CASE(life_cmp_is_a_total_order),
	KUNIT_CASE(life_cmp_ignores_whose_if_synced),
	KUNIT_CASE(past_add_keeps_order_and_limit),
	KUNIT_CASE(past_cmp_ignores_life_of_linked_node),
	KUNIT_CASE(past_forget_removes_one_life),
	KUNIT_CASE(past_cmp_compares_all_lives),
	KUNIT_CASE(past_cmp_is_transitive),
	KUNIT_CASE(past_doubt_is_less_and_unique),
	KUNIT_CASE(past_adopt_equals_past_of_holder),
	{ }
};

static struct kunit_suite vrfm_history_suite = {
	.name = "vrfm_history",
	.test_cases = vrfm_history_cases,
};

kunit_test_suite(vrfm_history_suite);

MODULE_AUTHOR("The krdma developers <krdma@example.org>");
MODULE_DESCRIPTION("KUnit tests of vrfm/history.c");
MODULE_LICENSE("GPL");
