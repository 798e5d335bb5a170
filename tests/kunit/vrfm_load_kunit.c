// SPDX-License-Identifier: GPL-2.0
/*
 * Loading an image and catching up, one rule each: notes come from the peer, and
 * the works are called when the test wants it.
 */
#include "vrfm_fuzz.h"

static void say_note(struct kunit *test, u8 kind, u32 number, u8 flags)
{
	const struct vrfm_note note = {
		.kind = kind, .number = number, .flags = flags, .id = 4711,
	};
	struct fuzz *f = test->priv;
	struct vrfm_pack pack;

	vrfm_pack_begin(&pack, f->msg, ROOM);
	vrfm_pack_note(&pack, &note);
	say(test, f, &pack, VRFM_WIRE_NOTE, 0);
}

/* What the works do next; pages that were asked for are a message. */
static bool asks(struct fuzz *f)
{
	u64 opened = f->link->opened;

	vrfm_load_work(&f->vdev->load.work.work);
	return f->link->opened != opened;
}

/* What it needs is got before. */
static void begin(struct kunit *test)
{
	struct fuzz *f = test->priv;

	vrfm_load_begin(f->vdev, f->link, VRFM_LOAD_SAME);
	KUNIT_ASSERT_NULL(test, f->vdev->live);
	KUNIT_ASSERT_TRUE(test, f->vdev->load.wants);
	KUNIT_ASSERT_TRUE(test, vrfm_load_reserve(f->vdev));
	vrfm_load_begin(f->vdev, f->link, VRFM_LOAD_SAME);
	vrfm_load_unreserve(&f->vdev->load);
}

static void begin_to_load(struct kunit *test)
{
	struct fuzz *f = test->priv;

	kfree(f->vdev->live);
	f->vdev->live = NULL;
	say_note(test, VRFM_NOTE_INFO, 0, VRFM_INFO_COMPLETE);
	begin(test);
	KUNIT_ASSERT_NOT_NULL(test, f->vdev->live);
	KUNIT_EXPECT_FALSE(test, asks(f));
	say_note(test, VRFM_NOTE_SWEPT, f->vdev->load.number, 0);
	KUNIT_ASSERT_TRUE(test, asks(f));
	KUNIT_EXPECT_FALSE(test, asks(f));
}

/* What was live in the one before is not live in this one. */
static void each_load_looks_at_what_is_there(struct kunit *test)
{
	struct fuzz *f = test->priv;
	u8 *mem = f->vdev->region.mem;

	begin_to_load(test);
	vrfm_load_digest(f->vdev, 0);
	KUNIT_EXPECT_EQ(test, f->vdev->load.digests[0], vrfm_digest(mem));
	mem[5]++;
	kfree(f->vdev->live);
	f->vdev->live = NULL;
	begin(test);
	vrfm_load_digest(f->vdev, 0);
	KUNIT_EXPECT_EQ(test, f->vdev->load.digests[0], vrfm_digest(mem));
	KUNIT_EXPECT_EQ(test, f->vdev->load.ndigests,
			(u32)(MEMORY / VRFM_WIRE_PAGE));
	vrfm_load_exit(f->vdev);
}

/* Nobody has the image, but not for ever. */
static void goes_on_alone(struct kunit *test)
{
	struct fuzz *f = test->priv;

	KUNIT_EXPECT_NOT_NULL(test, f->vdev->live);
	f->vdev->load.since -= 3 * HZ;
	KUNIT_EXPECT_FALSE(test, asks(f));
	KUNIT_EXPECT_NULL(test, f->vdev->live);
}

/* Its image is another one, of which this one may be the older: nothing is compared. */
static void who_has_more_of_another_lineage(struct kunit *test)
{
	struct fuzz *f = test->priv;

	kfree(f->vdev->live);
	f->vdev->live = NULL;
	say_note(test, VRFM_NOTE_INFO, 0, VRFM_INFO_COMPLETE);
	say_note(test, VRFM_NOTE_GONE, 0, VRFM_GONE_SYNCED | VRFM_GONE_NEWEST);
	f->link->told.kind = VRFM_NOTE_INFO;
	f->link->told.id = 4712;
	f->vdev->load.lineage = 4712;
	KUNIT_EXPECT_TRUE(test, vrfm_has_more_than_mine(f->link));
	KUNIT_EXPECT_FALSE(test, vrfm_load_from_survivor(f->vdev));
	f->link->told.id = 4711;
	f->vdev->load.lineage = 4711;
	KUNIT_EXPECT_TRUE(test, vrfm_load_from_survivor(f->vdev));
	f->vdev->load.wants = false;
}

static void an_old_answer_is_none_to_a_new_question(struct kunit *test)
{
	struct fuzz *f = test->priv;

	begin_to_load(test);
	/* The holder loads itself, and then is complete again. */
	say_note(test, VRFM_NOTE_LOAD, 1, 0);
	KUNIT_EXPECT_FALSE(test, asks(f));
	KUNIT_EXPECT_NULL(test, f->vdev->load.holder);
	say_note(test, VRFM_NOTE_INFO, 1, VRFM_INFO_COMPLETE);
	KUNIT_EXPECT_FALSE(test, asks(f));
	f->vdev->load.since = jiffies - 60 * HZ;
	KUNIT_EXPECT_FALSE(test, asks(f));
	KUNIT_EXPECT_NOT_NULL(test, f->vdev->live);
	say_note(test, VRFM_NOTE_PULLED, 0, 0);
	KUNIT_EXPECT_TRUE(test, asks(f));
	KUNIT_EXPECT_EQ(test, f->vdev->load.page, 0U);
	say_note(test, VRFM_NOTE_PULLED, 0, 0);
	KUNIT_EXPECT_FALSE(test, asks(f));
	KUNIT_EXPECT_NULL(test, f->vdev->live);
	vrfm_load_exit(f->vdev);
}

/* Nor is it waited for without an end. */
static void an_old_answer_that_never_comes(struct kunit *test)
{
	struct fuzz *f = test->priv;

	begin_to_load(test);
	say_note(test, VRFM_NOTE_LOAD, 1, 0);
	KUNIT_EXPECT_FALSE(test, asks(f));
	say_note(test, VRFM_NOTE_INFO, 1, VRFM_INFO_COMPLETE);
	KUNIT_EXPECT_FALSE(test, asks(f));
	KUNIT_EXPECT_FALSE(test, f->link->mute);
	f->vdev->load.since -= 31 * HZ;
	KUNIT_EXPECT_FALSE(test, asks(f));
	KUNIT_EXPECT_TRUE(test, f->link->mute);
	KUNIT_EXPECT_FALSE(test, asks(f));
	goes_on_alone(test);
	vrfm_load_exit(f->vdev);
}

/* The time counts from when nobody has it, however long peers took to sweep. */
static void whose_holder_loads_waits_for_it(struct kunit *test)
{
	struct fuzz *f = test->priv;

	kfree(f->vdev->live);
	f->vdev->live = NULL;
	say_note(test, VRFM_NOTE_INFO, 0, VRFM_INFO_COMPLETE);
	begin(test);
	f->vdev->load.since -= 10 * HZ;
	say_note(test, VRFM_NOTE_LOAD, 1, 0);
	say_note(test, VRFM_NOTE_SWEPT, f->vdev->load.number, 0);
	KUNIT_EXPECT_FALSE(test, asks(f));
	goes_on_alone(test);
	vrfm_load_exit(f->vdev);
}

/* It goes on without the image, and takes it when it comes after all. */
static void who_does_not_answer_is_no_holder(struct kunit *test)
{
	struct fuzz *f = test->priv;

	begin_to_load(test);
	f->vdev->load.since -= 29 * HZ;
	KUNIT_EXPECT_FALSE(test, asks(f));
	KUNIT_EXPECT_PTR_EQ(test, f->vdev->load.holder, f->link);
	f->vdev->load.since -= 2 * HZ;
	KUNIT_EXPECT_FALSE(test, asks(f));
	KUNIT_EXPECT_NULL(test, f->vdev->load.holder);
	goes_on_alone(test);
	begin(test);
	say_note(test, VRFM_NOTE_SWEPT, f->vdev->load.number, 0);
	KUNIT_EXPECT_FALSE(test, asks(f));
	say_note(test, VRFM_NOTE_PULLED, 0, 0);
	KUNIT_EXPECT_TRUE(test, asks(f));
	vrfm_load_exit(f->vdev);
}

/* Pages have come, but the next question finds no room. */
static void who_takes_no_question_is_no_holder(struct kunit *test)
{
	struct fuzz *f = test->priv;

	begin_to_load(test);
	f->vdev->load.asked = 0;
	f->link->pulling = false;
	f->link->opened = f->link->acked + VRFM_SLOTS;
	f->vdev->load.since -= 31 * HZ;
	KUNIT_EXPECT_FALSE(test, asks(f));
	KUNIT_EXPECT_NULL(test, f->vdev->load.holder);
	KUNIT_EXPECT_TRUE(test, f->link->mute);
	vrfm_load_exit(f->vdev);
}

/* Nobody has looked in between. */
static void who_was_away_is_asked_again(struct kunit *test)
{
	struct fuzz *f = test->priv;

	begin_to_load(test);
	f->link->state = VRFM_DOWN;
	vrfm_load_link_down(f->link);
	link_anew(f);
	say_note(test, VRFM_NOTE_INFO, 0, VRFM_INFO_COMPLETE);
	/* What it wrote meanwhile comes first. */
	KUNIT_EXPECT_FALSE(test, asks(f));
	say_note(test, VRFM_NOTE_SWEPT, f->vdev->load.number, 0);
	KUNIT_EXPECT_TRUE(test, asks(f));
	vrfm_load_exit(f->vdev);
}

/* ---- who gives up an image ---- */

/* The peer and this node are of one lineage, to which the peer came later. */
static void peer_has_merged(struct kunit *test)
{
	struct fuzz *f = test->priv;

	kfree(f->vdev->live);
	f->vdev->live = NULL;
	say_note(test, VRFM_NOTE_INFO, 0,
		 VRFM_INFO_COMPLETE | VRFM_INFO_MERGED);
	f->link->told.kind = VRFM_NOTE_INFO;
	f->link->told.id = 4711;
	f->vdev->load.lineage = 4711;
}

/* Return: it would load, if it had the memory for it. */
static bool looks(struct fuzz *f)
{
	bool wants;

	vrfm_load_from_older(f->vdev);
	wants = f->vdev->load.wants;
	f->vdev->load.wants = false;
	return wants;
}

static void what_the_peer_gave_up_is_looked_at_once(struct kunit *test)
{
	struct fuzz *f = test->priv;

	peer_has_merged(test);
	KUNIT_EXPECT_TRUE(test, looks(f));
	f->link->filled = 4711;
	KUNIT_EXPECT_FALSE(test, looks(f));
	/* What was read of it stays read when the link comes up again. */
	f->link->state = VRFM_DOWN;
	vrfm_load_link_down(f->link);
	link_anew(f);
	vrfm_load_link_up(f->link);
	peer_has_merged(test);
	KUNIT_EXPECT_FALSE(test, looks(f));
	/* It is another image, or another life, that it has given up now. */
	f->link->filled = 4710;
	KUNIT_EXPECT_TRUE(test, looks(f));
	f->link->filled = 4711;
	vrfm_link_meet(f->link, 99);
	KUNIT_EXPECT_TRUE(test, looks(f));
}

/* It lacks the last words of who is gone: those of before would come back. */
static void who_has_less_loads_first(struct kunit *test)
{
	const struct vrfm_life life = { .epoch = 5, .serial = 9, .synced = true };
	struct fuzz *f = test->priv;

	vrfm_past_add(&f->vdev->load.past[3], &life);
	__set_bit(3, f->vdev->load.known);
	peer_has_merged(test);
	f->link->waits_since = jiffies;
	KUNIT_EXPECT_FALSE(test, looks(f));
	/* If it came to this lineage while it was linked it has what is here. */
	f->link->was_other = true;
	KUNIT_EXPECT_TRUE(test, looks(f));
	f->link->was_other = false;
	/* It may be that it is linked with that one: then it has no reason to load. */
	f->link->waits_since -= 9 * HZ;
	KUNIT_EXPECT_FALSE(test, looks(f));
	f->link->waits_since -= 2 * HZ;
	KUNIT_EXPECT_TRUE(test, looks(f));
	f->link->waits_since = jiffies;
	f->link->said[3] = f->vdev->load.past[3];
	KUNIT_EXPECT_TRUE(test, looks(f));
}

static int note_of(struct fuzz *f, u64 sequence)
{
	struct vrfm_slot *slot = vrfm_slot(f->link, sequence);
	struct vrfm_note note;

	if (slot->type != VRFM_WIRE_NOTE)
		return 0;
	vrfm_proto_note(slot->pack.msg, &note);
	return note.kind;
}

/* Who reads that an image counts knows what is in it. */
static void what_is_in_an_image_is_told_before_it(struct kunit *test)
{
	struct fuzz *f = test->priv;
	u64 first;

	kfree(f->vdev->live);
	f->vdev->live = NULL;
	__set_bit(3, f->link->tell_gone);
	f->link->todo = VRFM_TODO_INFO | VRFM_TODO_GONE;
	first = f->link->opened + 1;
	KUNIT_ASSERT_TRUE(test, vrfm_load_tell(f->link));
	KUNIT_ASSERT_EQ(test, f->link->opened, first + 1);
	KUNIT_EXPECT_EQ(test, note_of(f, first), (int)VRFM_NOTE_GONE);
	KUNIT_EXPECT_EQ(test, note_of(f, first + 1), (int)VRFM_NOTE_INFO);
}

/* The image that it had then has zero where words of the other one were. */
static void what_was_looked_at_is_loaded_over(struct kunit *test)
{
	struct fuzz *f = test->priv;

	begin_to_load(test);
	f->link->filled = 4711;
	f->link->waits_since = jiffies - 60 * HZ;
	say_note(test, VRFM_NOTE_PULLED, 0, 0);
	KUNIT_EXPECT_FALSE(test, asks(f));
	KUNIT_ASSERT_NULL(test, f->vdev->live);
	KUNIT_EXPECT_EQ(test, f->link->filled, 0ULL);
	/* Who has not loaded the same yet is waited for once more. */
	KUNIT_EXPECT_LT(test, jiffies - f->link->waits_since, 10UL * HZ);
	vrfm_load_exit(f->vdev);
}

/* ---- catching up ---- */

static void catch_up(struct fuzz *f)
{
	f->link->state = VRFM_SYNCING;
	f->link->granted = true;
	f->link->hold_until = jiffies;
	rt_mutex_lock(&f->vdev->order);
	while (vrfm_sync_step_locked(f->link))
		;
	rt_mutex_unlock(&f->vdev->order);
}

/* It may have loaded older values of words that it had acknowledged. */
static void who_has_not_said_what_he_loaded_is_not_ready(struct kunit *test)
{
	struct fuzz *f = test->priv;
	u32 room;

	catch_up(f);
	KUNIT_EXPECT_EQ(test, (int)f->link->state, (int)VRFM_SYNCING);
	say_note(test, VRFM_NOTE_INFO, 0, VRFM_INFO_COMPLETE);
	catch_up(f);
	KUNIT_EXPECT_EQ(test, (int)f->link->state, (int)VRFM_READY);
	/* What comes while the step is on its way. */
	f->link->state = VRFM_SYNCING;
	f->link->load = 7;
	KUNIT_EXPECT_FALSE(test, vrfm_sync_is_last(f->link, &room));
	f->link->load = 0;
	KUNIT_EXPECT_TRUE(test, vrfm_sync_is_last(f->link, &room));
}

/* Updates since the link came up. */
static u32 sent_runs(struct fuzz *f)
{
	u32 n = 0;
	u64 i;

	for (i = SENT + 1; i <= f->link->opened; i++)
		if (vrfm_slot(f->link, i)->type == VRFM_WIRE_UPDATE)
			n += vrfm_slot(f->link, i)->pack.count;
	return n;
}

static void who_has_loaded_gets_all_again(struct kunit *test)
{
	struct fuzz *f = test->priv;

	bitmap_set(f->vdev->own, 40, 3);
	say_note(test, VRFM_NOTE_INFO, 7, VRFM_INFO_COMPLETE);
	catch_up(f);
	KUNIT_EXPECT_EQ(test, (int)f->link->state, (int)VRFM_READY);
	KUNIT_EXPECT_EQ(test, f->link->peer_loads, 7U);
	KUNIT_EXPECT_EQ(test, sent_runs(f), 1U);
}

/* Every second word: each is a run of its own. */
static void steps_of_catching_up_are_bounded_by_runs(struct kunit *test)
{
	struct fuzz *f = test->priv;
	u32 i, before;

	for (i = 0; i < WORDS; i += 2)
		__set_bit(i, f->vdev->own);
	f->link->state = VRFM_SYNCING;
	f->link->hold_until = jiffies;
	f->link->lost = false;
	for (i = 0; i < WORDS; i += 2)
		vrfm_link_miss(f->link, i * VRFM_WORD, VRFM_WORD);
	do {
		before = sent_runs(f);
		/* The peer has applied everything. */
		f->link->completed = f->link->opened;
		f->link->acked = f->link->opened;
		vrfm_sync_step_locked(f->link);
		KUNIT_ASSERT_LE(test, sent_runs(f) - before,
				(u32)VRFM_SYNC_LAST_RUNS);
	} while (sent_runs(f) != before);
	KUNIT_EXPECT_EQ(test, f->link->missed.set, 0U);
}

/* Its pages are freed later, a part at a time. */
static void pages_of_the_map_are_freed_when_the_peer_is_ready(struct kunit *test)
{
	struct fuzz *f = test->priv;

	__set_bit(7, f->vdev->own);
	f->link->lost = false;
	f->link->state = VRFM_SYNCING;
	vrfm_link_miss(f->link, 7 * VRFM_WORD, VRFM_WORD);
	KUNIT_EXPECT_EQ(test, f->link->missed.used, 1U);
	say_note(test, VRFM_NOTE_INFO, 0, VRFM_INFO_COMPLETE);
	catch_up(f);
	KUNIT_EXPECT_EQ(test, (int)f->link->state, (int)VRFM_READY);
	KUNIT_EXPECT_EQ(test, f->link->missed.used, 0U);
}

/* Catching up takes all own words anyway. */
static void nothing_is_recorded_for_a_peer_that_lacks_everything(struct kunit *test)
{
	struct fuzz *f = test->priv;
	const u32 word = 7;

	f->link->state = VRFM_DOWN;
	vrfm_link_miss_own(f->link);
	vrfm_link_update(f->link, 64, &word, sizeof(word), NULL);
	KUNIT_EXPECT_EQ(test, f->link->missed.used, 0U);
	/* Own words before this one have been taken already. */
	f->link->lost_at = 20;
	vrfm_link_miss(f->link, 72, 4 * VRFM_WORD);
	KUNIT_EXPECT_EQ(test, f->link->missed.set, 2U);
}

static void the_image_that_is_wanted_is_adopted(struct kunit *test)
{
	struct fuzz *f = test->priv;
	struct vrfm_load *load = &f->vdev->load;
	const ktime_t began = ktime_sub_ms(ktime_get(), 5000);

	load->kind = VRFM_LOAD_OLDER;
	load->wanted = 4711;
	load->wanted_began = began;
	load->holder = f->link;
	f->link->info.id = 4712;
	load->seen = kvcalloc(VRFM_NODES, sizeof(*load->seen), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, load->seen);
	vrfm_load_done(f->vdev);
	KUNIT_EXPECT_EQ(test, load->lineage, 4711ULL);
	KUNIT_EXPECT_EQ(test, load->began, began);
	vrfm_load_exit(f->vdev);
}

static struct kunit_case vrfm_load_cases[] = {
	KUNIT_CASE(steps_of_catching_up_are_bounded_by_runs),
	KUNIT_CASE(pages_of_the_map_are_freed_when_the_peer_is_ready),
	KUNIT_CASE(nothing_is_recorded_for_a_peer_that_lacks_everything),
	KUNIT_CASE(the_image_that_is_wanted_is_adopted),
	KUNIT_CASE(who_was_away_is_asked_again),
	KUNIT_CASE(each_load_looks_at_what_is_there),
	KUNIT_CASE(whose_holder_loads_waits_for_it),
	KUNIT_CASE(who_does_not_answer_is_no_holder),
	KUNIT_CASE(who_takes_no_question_is_no_holder),
	KUNIT_CASE(who_has_more_of_another_lineage),
	KUNIT_CASE(an_old_answer_is_none_to_a_new_question),
	KUNIT_CASE(an_old_answer_that_never_comes),
	KUNIT_CASE(what_the_peer_gave_up_is_looked_at_once),
	KUNIT_CASE(who_has_less_loads_first),
	KUNIT_CASE(what_is_in_an_image_is_told_before_it),
	KUNIT_CASE(what_was_looked_at_is_loaded_over),
	KUNIT_CASE(who_has_not_said_what_he_loaded_is_not_ready),
	KUNIT_CASE(who_has_loaded_gets_all_again),
	{ }
};

static struct kunit_suite vrfm_load_suite = {
	.name = "vrfm_load",
	.init = fuzz_init,
	.exit = fuzz_exit,
	.test_cases = vrfm_load_cases,
};

kunit_test_suite(vrfm_load_suite);

MODULE_AUTHOR("The krdma developers <krdma@example.org>");
MODULE_DESCRIPTION("KUnit tests of vrfm's images");
MODULE_LICENSE("GPL");
