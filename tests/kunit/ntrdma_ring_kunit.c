// SPDX-License-Identifier: GPL-2.0
/*
 * Test indexes of a ring: all states of a small ring, and a simulation of both
 * ends.
 */
#include <kunit/test.h>
#include <linux/prandom.h>

#include "../../ntrdma/ring.c"

#define CELLS 8

/*
 * First values of the indexes: 0, just before the wrap at 2^32, and just before
 * 2^31.
 */
static const u32 origins[] = { 0, U32_MAX - 3, U32_MAX, 0x7ffffffc };

static struct ntrdma_ring at(u32 cons, u32 filled)
{
	return (struct ntrdma_ring){ .cells = CELLS, .cons = cons,
				     .told = cons, .prod = cons + filled };
}

static void init_empty_ring_has_all_room(struct kunit *test)
{
	struct ntrdma_ring ring;

	ntrdma_ring_init(&ring, NTRDMA_RING_MIN);
	KUNIT_EXPECT_EQ(test, ring.cells, NTRDMA_RING_MIN / NTRDMA_CELL);
	KUNIT_EXPECT_EQ(test, ntrdma_ring_room(&ring), ring.cells);
	KUNIT_EXPECT_EQ(test, ntrdma_ring_filled(&ring), 0);
}

/*
 * Try each index that the peer may write, valid or not, in each state of the
 * ring.
 */
static void set_prod_accepts_only_filled_to_cells(struct kunit *test)
{
	u32 i, filled, to;

	for (i = 0; i < ARRAY_SIZE(origins); i++)
		for (filled = 0; filled <= CELLS; filled++)
			for (to = 0; to < 4 * CELLS; to++) {
				struct ntrdma_ring ring = at(origins[i], filled);
				u32 prod = origins[i] + to - CELLS;
				bool ok = to >= CELLS + filled && to <= 2 * CELLS;

				KUNIT_ASSERT_EQ(test, ntrdma_ring_set_prod(&ring, prod), ok);
				KUNIT_ASSERT_EQ(test, ring.prod,
						ok ? prod : origins[i] + filled);
			}
}

static void set_cons_accepts_only_up_to_prod(struct kunit *test)
{
	u32 i, filled, to;

	for (i = 0; i < ARRAY_SIZE(origins); i++)
		for (filled = 0; filled <= CELLS; filled++)
			for (to = 0; to < 4 * CELLS; to++) {
				struct ntrdma_ring ring = at(origins[i], filled);
				u32 cons = origins[i] + to - CELLS;
				bool ok = to >= CELLS && to <= CELLS + filled;

				KUNIT_ASSERT_EQ(test, ntrdma_ring_set_cons(&ring, cons), ok);
				KUNIT_ASSERT_EQ(test, ring.cons, ok ? cons : origins[i]);
			}
}

static void place_pads_frame_that_would_wrap(struct kunit *test)
{
	u32 i, filled, cells, pad, end;

	for (i = 0; i < ARRAY_SIZE(origins); i++)
		for (filled = 0; filled <= CELLS; filled++)
			for (cells = 1; cells <= CELLS; cells++) {
				struct ntrdma_ring ring = at(origins[i], filled);
				bool fits = ntrdma_ring_place(&ring, cells, &pad);

				end = CELLS - (ring.prod % CELLS);
				KUNIT_ASSERT_EQ(test, pad, cells > end ? end : 0);
				KUNIT_ASSERT_EQ(test, fits, filled + pad + cells <= CELLS);
			}
}

static void must_tell_while_polling_from_quarter_on(struct kunit *test)
{
	struct ntrdma_ring ring = at(U32_MAX, CELLS);
	u32 n;

	for (n = 0; n <= CELLS; n++) {
		ring.cons = ring.told + n;
		KUNIT_EXPECT_EQ(test, ntrdma_ring_must_tell(&ring, false), n >= 2);
		KUNIT_EXPECT_EQ(test, ntrdma_ring_must_tell(&ring, true), n > 0);
	}
}

static void must_wake_behind_a_quarter(struct kunit *test)
{
	struct ntrdma_ring ring = at(U32_MAX, CELLS);
	u32 n;

	ring.rung = ring.cons;
	for (n = 0; n <= CELLS; n++) {
		ring.cons = ring.rung + n;
		KUNIT_EXPECT_EQ(test, ntrdma_ring_must_wake(&ring), n > 2);
	}
}

/*
 * The consumer sleeps at index origins[i]. The producer moves from @from to
 * @to.
 */
static void must_bell_only_if_bell_is_passed(struct kunit *test)
{
	s32 from, to;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(origins); i++)
		for (from = -CELLS; from <= CELLS; from++)
			for (to = from; to <= from + CELLS; to++)
				KUNIT_ASSERT_EQ(test,
						ntrdma_ring_must_bell(origins[i] + from,
								      origins[i] + to,
								      origins[i]),
						from <= 0 && to > 0);
}

/*
 * Pass random frames through a ring. Each end sees only what the other
 * publishes.
 */
static void both_ends_agree_after_random_frames(struct kunit *test)
{
	struct ntrdma_ring tx = at(U32_MAX - 1000, 0), rx = tx;
	u32 sent = 0, taken = 0, pad, cells, i;
	struct rnd_state rnd;

	prandom_seed_state(&rnd, 20261126);
	for (i = 0; i < 100000; i++) {
		cells = 1 + prandom_u32_state(&rnd) % (CELLS / 2);
		if (ntrdma_ring_place(&tx, cells, &pad)) {
			KUNIT_ASSERT_LE(test, ntrdma_ring_slot(&tx, tx.prod + pad) + cells,
					CELLS);
			tx.prod += pad + cells;
			sent += pad + cells;
		}
		if (prandom_u32_state(&rnd) % 2) {
			KUNIT_ASSERT_TRUE(test, ntrdma_ring_set_prod(&rx, tx.prod));
			cells = prandom_u32_state(&rnd) % (ntrdma_ring_filled(&rx) + 1);
			rx.cons += cells;
			taken += cells;
		}
		if (prandom_u32_state(&rnd) % 2)
			KUNIT_ASSERT_TRUE(test, ntrdma_ring_set_cons(&tx, rx.cons));
		KUNIT_ASSERT_LE(test, sent - taken, CELLS);
	}
	KUNIT_EXPECT_GT(test, taken, 100000);
}

static struct kunit_case ntrdma_ring_cases[] = {
	KUNIT_CASE(init_empty_ring_has_all_room),
	KUNIT_CASE(set_prod_accepts_only_filled_to_cells),
	KUNIT_CASE(set_cons_accepts_only_up_to_prod),
	KUNIT_CASE(place_pads_frame_that_would_wrap),
	KUNIT_CASE(must_tell_while_polling_from_quarter_on),
	KUNIT_CASE(must_wake_behind_a_quarter),
	KUNIT_CASE(must_bell_only_if_bell_is_passed),
	KUNIT_CASE(both_ends_agree_after_random_frames),
	{}
};

static struct kunit_suite ntrdma_ring_suite = {
	.name = "ntrdma_ring",
	.test_cases = ntrdma_ring_cases,
};

kunit_test_suite(ntrdma_ring_suite);

MODULE_AUTHOR("The krdma developers");
MODULE_DESCRIPTION("KUnit tests of ntrdma's rings");
MODULE_LICENSE("GPL");
