// SPDX-License-Identifier: GPL-2.0
/* Test the directory of a shared memory: sizes, slots, and invalid contents. */
#include <kunit/test.h>
#include <linux/prandom.h>

#include "../../ntrdma/dir.c"

#define BYTES	SZ_16M
#define DEAD_MS	2000

/* A machine, the memory that it shares with others, and the time. */
struct world {
	struct ntrdma_dir dir;
	struct ntrdma_wire_dir wire;
	u64 now;
	u8 slot;
};

static struct world *begin(struct kunit *test)
{
	struct world *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, w);
	w->dir = (struct ntrdma_dir){
		.bytes = BYTES,
		.owner = 0x1111,
		.dead_ms = DEAD_MS,
		.prefer = -1,
	};
	w->now = 1000;
	w->slot = 0xff;
	return w;
}

static enum ntrdma_dir_step look(struct world *w)
{
	return ntrdma_dir_look(&w->dir, &w->wire, w->now, &w->slot);
}

/* Look often for a time, and return the result of the last look. */
static enum ntrdma_dir_step look_for(struct world *w, u64 ms)
{
	enum ntrdma_dir_step step = NTRDMA_DIR_WAIT;
	u64 some;

	while (ms) {
		some = min_t(u64, ms, 100);
		w->now += some;
		ms -= some;
		step = look(w);
	}
	return step;
}

static void format(struct world *w, u32 members)
{
	struct ntrdma_geometry geo = { .fabric = 0xfab };

	ntrdma_dir_choose(BYTES, members, &geo);
	ntrdma_dir_format(&w->wire, &geo);
	w->wire.head.magic = cpu_to_le64(NTRDMA_DIR_MAGIC);
}

static void own(struct world *w, u8 slot, u64 owner)
{
	w->wire.slots[slot].owner = cpu_to_le64(owner);
}

static void beat(struct world *w, u8 slot)
{
	le32_add_cpu(&w->wire.slots[slot].beat, 1);
}

static void empty_memory_is_formatted(struct kunit *test)
{
	struct world *w = begin(test);

	KUNIT_EXPECT_EQ(test, look(w), NTRDMA_DIR_FORMAT);
	KUNIT_EXPECT_EQ(test, w->dir.magic, 0);
}

static void other_software_is_left_alone(struct kunit *test)
{
	struct world *w = begin(test);

	w->wire.rest[100] = 1;
	KUNIT_EXPECT_EQ(test, look(w), NTRDMA_DIR_FOREIGN);
	w->wire.rest[100] = 0;
	w->wire.head.magic = cpu_to_le64(0x4c4f4f4b);
	KUNIT_EXPECT_EQ(test, look_for(w, 10 * DEAD_MS), NTRDMA_DIR_FOREIGN);
	w->dir.ours = true;
	KUNIT_EXPECT_EQ(test, look(w), NTRDMA_DIR_FORMAT);
	w->wire.head.magic = cpu_to_le64(0x4c4f4f4c);
	KUNIT_EXPECT_EQ(test, look(w), NTRDMA_DIR_WAIT);
	KUNIT_EXPECT_EQ(test, look_for(w, DEAD_MS), NTRDMA_DIR_FORMAT);
}

static void format_returns_what_was_chosen(struct kunit *test)
{
	struct world *w = begin(test);
	struct ntrdma_geometry geo;

	format(w, 3);
	KUNIT_ASSERT_TRUE(test, ntrdma_dir_geometry(&w->wire.head, BYTES, &geo));
	KUNIT_EXPECT_EQ(test, geo.members, 3);
	KUNIT_EXPECT_EQ(test, geo.fabric, 0xfab);
	KUNIT_EXPECT_EQ(test, geo.inbox,
			rounddown((BYTES - NTRDMA_PAGE_BYTES) / 6,
				  NTRDMA_PAGE_BYTES));
}

/* No two inboxes overlap, and all lie behind the directory in the memory. */
static void inboxes_do_not_overlap(struct kunit *test)
{
	struct ntrdma_geometry geo;
	u32 members, to, from, n;
	u64 place;

	for (members = 2; members <= NTRDMA_MEMBERS; members++) {
		KUNIT_ASSERT_TRUE(test, ntrdma_dir_choose(SZ_32M, members, &geo));
		n = 0;
		for (to = 0; to < members; to++) {
			for (from = 0; from < members; from++) {
				if (from == to)
					continue;
				place = ntrdma_dir_inbox(&geo, to, from);
				KUNIT_EXPECT_EQ(test, place, NTRDMA_PAGE_BYTES +
						n * geo.inbox);
				n++;
			}
		}
		KUNIT_EXPECT_LE(test, NTRDMA_PAGE_BYTES + n * geo.inbox,
				SZ_32M);
	}
}

static void small_memory_is_refused(struct kunit *test)
{
	struct ntrdma_geometry geo;

	KUNIT_EXPECT_FALSE(test, ntrdma_dir_choose(0, 2, &geo));
	KUNIT_EXPECT_FALSE(test, ntrdma_dir_choose(SZ_128K, 2, &geo));
	KUNIT_EXPECT_TRUE(test, ntrdma_dir_choose(SZ_128K + SZ_4K, 2, &geo));
	KUNIT_EXPECT_FALSE(test, ntrdma_dir_choose(SZ_8M, 16, &geo));
	KUNIT_EXPECT_TRUE(test, ntrdma_dir_choose(SZ_16M, 16, &geo));
}

/* Each field, one at a time. */
static void invalid_geometry_is_refused(struct kunit *test)
{
	struct world *w = begin(test);
	struct ntrdma_wire_dir_head good, *head = &w->wire.head;
	struct ntrdma_geometry geo;

	format(w, 2);
	good = *head;
	head->version = cpu_to_le32(2);
	KUNIT_EXPECT_FALSE(test, ntrdma_dir_geometry(head, BYTES, &geo));
	*head = good;
	head->members = cpu_to_le32(1);
	KUNIT_EXPECT_FALSE(test, ntrdma_dir_geometry(head, BYTES, &geo));
	head->members = cpu_to_le32(17);
	KUNIT_EXPECT_FALSE(test, ntrdma_dir_geometry(head, BYTES, &geo));
	head->members = cpu_to_le32(3);
	KUNIT_EXPECT_FALSE(test, ntrdma_dir_geometry(head, BYTES, &geo));
	*head = good;
	head->inbox = cpu_to_le64(SZ_64K - SZ_4K);
	KUNIT_EXPECT_FALSE(test, ntrdma_dir_geometry(head, BYTES, &geo));
	head->inbox = cpu_to_le64(SZ_64K + 1);
	KUNIT_EXPECT_FALSE(test, ntrdma_dir_geometry(head, BYTES, &geo));
	head->inbox = cpu_to_le64(1ULL << 63);
	KUNIT_EXPECT_FALSE(test, ntrdma_dir_geometry(head, BYTES, &geo));
	head->inbox = cpu_to_le64(SZ_8M);
	KUNIT_EXPECT_FALSE(test, ntrdma_dir_geometry(head, BYTES, &geo));
	*head = good;
	KUNIT_EXPECT_FALSE(test, ntrdma_dir_geometry(head, BYTES / 2, &geo));
	KUNIT_EXPECT_TRUE(test, ntrdma_dir_geometry(head, BYTES, &geo));
}

static void first_free_slot_is_claimed(struct kunit *test)
{
	struct world *w = begin(test);

	format(w, 4);
	own(w, 0, 0x2222);
	own(w, 2, 0x3333);
	KUNIT_EXPECT_EQ(test, look(w), NTRDMA_DIR_CLAIM);
	KUNIT_EXPECT_EQ(test, w->slot, 1);
	w->dir.prefer = 3;
	KUNIT_EXPECT_EQ(test, look(w), NTRDMA_DIR_CLAIM);
	KUNIT_EXPECT_EQ(test, w->slot, 3);
	w->dir.prefer = 2;
	KUNIT_EXPECT_EQ(test, look(w), NTRDMA_DIR_CLAIM);
	KUNIT_EXPECT_EQ(test, w->slot, 1);
	own(w, 2, w->dir.owner);
	KUNIT_EXPECT_EQ(test, look(w), NTRDMA_DIR_CLAIM);
	KUNIT_EXPECT_EQ(test, w->slot, 2);
}

/* A slot without beats becomes free. Slots behind the last one do not count. */
static void slot_of_dead_machine_is_claimed(struct kunit *test)
{
	struct world *w = begin(test);

	format(w, 2);
	own(w, 0, 0x2222);
	own(w, 1, 0x3333);
	KUNIT_EXPECT_EQ(test, look(w), NTRDMA_DIR_FULL);
	KUNIT_EXPECT_EQ(test, look_for(w, DEAD_MS - 1), NTRDMA_DIR_FULL);
	KUNIT_EXPECT_FALSE(test, ntrdma_dir_is_dead(&w->dir, 1));
	beat(w, 0);
	KUNIT_EXPECT_EQ(test, look_for(w, 1), NTRDMA_DIR_CLAIM);
	KUNIT_EXPECT_EQ(test, w->slot, 1);
	KUNIT_EXPECT_EQ(test, w->dir.seen[1].owner, 0x3333);
	KUNIT_EXPECT_TRUE(test, ntrdma_dir_is_dead(&w->dir, 1));
	KUNIT_EXPECT_FALSE(test, ntrdma_dir_is_dead(&w->dir, 0));
	own(w, 1, 0x4444);
	KUNIT_EXPECT_EQ(test, look(w), NTRDMA_DIR_FULL);
}

/* All machines of a host can be paused for long. None of them is dead. */
static void pause_of_all_is_survived(struct kunit *test)
{
	struct world *w = begin(test);

	format(w, 2);
	own(w, 0, 0x2222);
	own(w, 1, 0x3333);
	KUNIT_EXPECT_EQ(test, look(w), NTRDMA_DIR_FULL);
	w->now += 100 * DEAD_MS;
	KUNIT_EXPECT_EQ(test, look(w), NTRDMA_DIR_FULL);
	KUNIT_EXPECT_FALSE(test, ntrdma_dir_is_dead(&w->dir, 0));
}

/*
 * A machine that boots again takes the slot of its former life, and waits for it
 * although there are other free slots. If the slot beats, it is that of another
 * machine with the same UUID.
 */
static void former_life_is_replaced(struct kunit *test)
{
	struct world *w = begin(test);

	format(w, 3);
	w->dir.owner = 0x7700001111;
	own(w, 1, 0x7700002222);
	KUNIT_EXPECT_EQ(test, look(w), NTRDMA_DIR_WAIT);
	KUNIT_EXPECT_EQ(test, look_for(w, NTRDMA_DIR_REBORN_MS - 1),
			NTRDMA_DIR_WAIT);
	KUNIT_EXPECT_EQ(test, look_for(w, 1), NTRDMA_DIR_CLAIM);
	KUNIT_EXPECT_EQ(test, w->slot, 1);
	beat(w, 1);
	KUNIT_EXPECT_EQ(test, look(w), NTRDMA_DIR_CLAIM);
	KUNIT_EXPECT_EQ(test, w->slot, 0);
}

static void unfinished_format_is_taken_over(struct kunit *test)
{
	struct world *w = begin(test);
	u64 busy = NTRDMA_DIR_BUSY << 32 | 77;

	w->wire.head.magic = cpu_to_le64(busy);
	KUNIT_EXPECT_EQ(test, look(w), NTRDMA_DIR_WAIT);
	KUNIT_EXPECT_EQ(test, look_for(w, NTRDMA_DIR_BUSY_MS - 1),
			NTRDMA_DIR_WAIT);
	KUNIT_EXPECT_EQ(test, look_for(w, 1), NTRDMA_DIR_FORMAT);
	KUNIT_EXPECT_EQ(test, w->dir.magic, busy);
	w->wire.head.magic = cpu_to_le64(busy + 1);
	KUNIT_EXPECT_EQ(test, look(w), NTRDMA_DIR_WAIT);
}

/* Another number of members counts only while nobody uses the directory. */
static void empty_directory_is_formatted_for_other_members(struct kunit *test)
{
	struct world *w = begin(test);

	format(w, 2);
	w->dir.members = 3;
	own(w, 1, 0x2222);
	KUNIT_EXPECT_EQ(test, look(w), NTRDMA_DIR_WAIT);
	beat(w, 1);
	KUNIT_EXPECT_EQ(test, look(w), NTRDMA_DIR_CLAIM);
	KUNIT_EXPECT_EQ(test, w->slot, 0);
	own(w, 1, 0);
	KUNIT_EXPECT_EQ(test, look(w), NTRDMA_DIR_FORMAT);
	own(w, 1, 0x3333);
	KUNIT_EXPECT_EQ(test, look(w), NTRDMA_DIR_CLAIM);
	KUNIT_EXPECT_EQ(test, look_for(w, DEAD_MS), NTRDMA_DIR_FORMAT);
	w->dir.members = 2;
	KUNIT_EXPECT_EQ(test, look(w), NTRDMA_DIR_CLAIM);
}

/* A directory of another version waits for its members to end. */
static void other_version_is_respected(struct kunit *test)
{
	struct world *w = begin(test);

	format(w, 2);
	w->wire.head.version = cpu_to_le32(9);
	own(w, 0, 0x2222);
	KUNIT_EXPECT_EQ(test, look(w), NTRDMA_DIR_WAIT);
	beat(w, 0);
	KUNIT_EXPECT_EQ(test, look_for(w, DEAD_MS), NTRDMA_DIR_WAIT);
	KUNIT_EXPECT_EQ(test, look_for(w, DEAD_MS), NTRDMA_DIR_FORMAT);
}

static void changed_directory_is_noticed(struct kunit *test)
{
	struct world *w = begin(test);
	struct ntrdma_geometry geo;

	format(w, 2);
	ntrdma_dir_geometry(&w->wire.head, BYTES, &geo);
	KUNIT_EXPECT_TRUE(test, ntrdma_dir_is_same(&w->wire.head, BYTES, &geo));
	w->wire.head.fabric = cpu_to_le64(0xfac);
	KUNIT_EXPECT_FALSE(test,
			   ntrdma_dir_is_same(&w->wire.head, BYTES, &geo));
	format(w, 3);
	KUNIT_EXPECT_FALSE(test,
			   ntrdma_dir_is_same(&w->wire.head, BYTES, &geo));
}

/* Whatever the memory contains, a step names a slot of the directory. */
static void random_directories_are_survived(struct kunit *test)
{
	struct world *w = begin(test);
	struct ntrdma_geometry geo;
	struct rnd_state rnd;
	u32 i, place;

	prandom_seed_state(&rnd, 29);
	for (i = 0; i < 200000; i++) {
		if (!(prandom_u32_state(&rnd) % 8))
			format(w, 2 + prandom_u32_state(&rnd) % 15);
		place = prandom_u32_state(&rnd) % offsetof(struct ntrdma_wire_dir,
							   rest);
		((u8 *)&w->wire)[place] = prandom_u32_state(&rnd);
		w->dir.ours = prandom_u32_state(&rnd) & 1;
		w->now += prandom_u32_state(&rnd) % DEAD_MS;
		if (look(w) != NTRDMA_DIR_CLAIM)
			continue;
		KUNIT_ASSERT_TRUE(test, ntrdma_dir_geometry(&w->wire.head, BYTES,
							    &geo));
		KUNIT_ASSERT_LT(test, w->slot, geo.members);
		KUNIT_ASSERT_LE(test, ntrdma_dir_inbox(&geo, geo.members - 1,
						       geo.members - 2) +
				geo.inbox, BYTES);
	}
}

static struct kunit_case ntrdma_dir_cases[] = {
	KUNIT_CASE(empty_memory_is_formatted),
	KUNIT_CASE(other_software_is_left_alone),
	KUNIT_CASE(format_returns_what_was_chosen),
	KUNIT_CASE(inboxes_do_not_overlap),
	KUNIT_CASE(small_memory_is_refused),
	KUNIT_CASE(invalid_geometry_is_refused),
	KUNIT_CASE(first_free_slot_is_claimed),
	KUNIT_CASE(slot_of_dead_machine_is_claimed),
	KUNIT_CASE(pause_of_all_is_survived),
	KUNIT_CASE(former_life_is_replaced),
	KUNIT_CASE(unfinished_format_is_taken_over),
	KUNIT_CASE(empty_directory_is_formatted_for_other_members),
	KUNIT_CASE(other_version_is_respected),
	KUNIT_CASE(changed_directory_is_noticed),
	KUNIT_CASE(random_directories_are_survived),
	{}
};

static struct kunit_suite ntrdma_dir_suite = {
	.name = "ntrdma_dir",
	.test_cases = ntrdma_dir_cases,
};

kunit_test_suite(ntrdma_dir_suite);

MODULE_AUTHOR("The krdma developers");
MODULE_DESCRIPTION("KUnit tests of the directory of ntrdma");
MODULE_LICENSE("GPL");
