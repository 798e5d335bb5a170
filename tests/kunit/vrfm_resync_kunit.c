// SPDX-License-Identifier: GPL-2.0
/*
 * Test loading an image and catching up. Each case checks one rule. The test
 * acts as the peer by passing notes (messages about images) to the link, and
 * calls the work functions itself.
 */
#include "vrfm_fuzz.h"

#include <linux/kthread.h>

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

/* End a load at once, without the steps of vrfm_resync_end(). */
static void stop_loading(struct fuzz *f)
{
	kfree(f->vdev->live);
	f->vdev->live = NULL;
	f->vdev->resync.donor = NULL;
	f->vdev->resync.state = VRFM_RESYNC_IDLE;
}

/* Let this node load from the peer. */
static void pull(struct fuzz *f, enum vrfm_resync_kind kind)
{
	f->vdev->resync.state = VRFM_RESYNC_PULLING;
	f->vdev->resync.donor = f->link;
	f->vdev->resync.kind = kind;
}

/*
 * Run the work that loads an image. Return whether it has sent a PULL, which
 * requests pages of the image.
 */
static bool asks(struct fuzz *f)
{
	u64 opened = f->link->window.opened;

	vrfm_resync_work(&f->vdev->resync.work.work);
	return f->link->window.opened != opened;
}

/*
 * Begin to load an image. The first call of vrfm_resync_begin() only requests
 * memory for the load. Reserve this memory, and call again.
 */
static void begin(struct kunit *test)
{
	struct fuzz *f = test->priv;

	locked(f, vrfm_resync_begin(f->vdev, f->link, VRFM_RESYNC_SAME));
	KUNIT_ASSERT_NULL(test, f->vdev->live);
	KUNIT_ASSERT_EQ(test, (int)f->vdev->resync.state,
			(int)VRFM_RESYNC_RESERVING);
	KUNIT_ASSERT_TRUE(test, vrfm_resync_reserve(f->vdev));
	locked(f, vrfm_resync_begin(f->vdev, f->link, VRFM_RESYNC_SAME));
	vrfm_resync_free_spare(&f->vdev->resync);
}

static void begin_to_load(struct kunit *test)
{
	struct fuzz *f = test->priv;

	stop_loading(f);
	say_note(test, VRFM_NOTE_INFO, 0, VRFM_INFO_COMPLETE);
	begin(test);
	KUNIT_ASSERT_NOT_NULL(test, f->vdev->live);
	KUNIT_EXPECT_TRUE(test,
			  test_bit(VRFM_SAY_LOADING, &f->link->log.lines));
	KUNIT_EXPECT_FALSE(test, asks(f));
	say_note(test, VRFM_NOTE_SWEPT, f->vdev->resync.number, 0);
	KUNIT_ASSERT_TRUE(test, asks(f));
	KUNIT_EXPECT_FALSE(test, asks(f));
}

/*
 * A peer that never sends its own words is disconnected, although nothing else
 * queues the work.
 */
static void load_looks_for_silent_peers(struct kunit *test)
{
	struct fuzz *f = test->priv;

	stop_loading(f);
	say_note(test, VRFM_NOTE_INFO, 0, VRFM_INFO_COMPLETE);
	locked(f, vrfm_resync_begin(f->vdev, f->link, VRFM_RESYNC_SAME));
	KUNIT_ASSERT_TRUE(test, vrfm_resync_reserve(f->vdev));
	fuzz_kicks = 0;
	locked(f, vrfm_resync_begin(f->vdev, f->link, VRFM_RESYNC_SAME));
	/* One is the work of the load, the other is that of the link. */
	KUNIT_EXPECT_EQ(test, fuzz_kicks, 2U);
	vrfm_resync_free_spare(&f->vdev->resync);
	vrfm_resync_exit(f->vdev);
}

/* Live words of the previous load are not live in this load. */
static void load_clears_live_words_of_previous_load(struct kunit *test)
{
	struct fuzz *f = test->priv;
	u8 *mem = f->vdev->mem.vaddr;

	begin_to_load(test);
	vrfm_resync_digest(f->vdev, 0);
	KUNIT_EXPECT_EQ(test, f->vdev->resync.digests[0], vrfm_digest(mem));
	mem[5]++;
	stop_loading(f);
	begin(test);
	vrfm_resync_digest(f->vdev, 0);
	KUNIT_EXPECT_EQ(test, f->vdev->resync.digests[0], vrfm_digest(mem));
	KUNIT_EXPECT_EQ(test, f->vdev->resync.ndigests,
			(u32)(MEMORY / VRFM_WIRE_PAGE));
	vrfm_resync_exit(f->vdev);
}

/* Check that the load ends after its time limit if no peer offers the image. */
static void goes_on_alone(struct kunit *test)
{
	struct fuzz *f = test->priv;

	KUNIT_EXPECT_NOT_NULL(test, f->vdev->live);
	f->vdev->resync.since -= 3 * HZ;
	KUNIT_EXPECT_FALSE(test, asks(f));
	KUNIT_EXPECT_NULL(test, f->vdev->live);
}

/*
 * The peer has an image of another lineage, which may be newer or older. So the
 * histories are not compared.
 */
static void load_ignores_past_of_another_lineage(struct kunit *test)
{
	struct fuzz *f = test->priv;

	stop_loading(f);
	say_note(test, VRFM_NOTE_INFO, 0, VRFM_INFO_COMPLETE);
	say_note(test, VRFM_NOTE_GONE, 0, VRFM_GONE_SYNCED | VRFM_GONE_NEWEST);
	f->link->lineage.sent.kind = VRFM_NOTE_INFO;
	f->link->lineage.sent.id = 4712;
	f->vdev->resync.lineage = 4712;
	KUNIT_EXPECT_TRUE(test, vrfm_has_more_than_mine(f->link));
	KUNIT_EXPECT_FALSE(test, locked(f, vrfm_resync_from_survivor(f->vdev)));
	f->link->lineage.sent.id = 4711;
	f->vdev->resync.lineage = 4711;
	KUNIT_EXPECT_TRUE(test, locked(f, vrfm_resync_from_survivor(f->vdev)));
	f->vdev->resync.state = VRFM_RESYNC_IDLE;
}

static void load_ignores_pulled_of_previous_pull(struct kunit *test)
{
	struct fuzz *f = test->priv;

	begin_to_load(test);
	/*
	 * Simulate a donor that begins to load an image itself. Later it has
	 * completed this load, and has a complete image again.
	 */
	say_note(test, VRFM_NOTE_LOAD, 1, 0);
	KUNIT_EXPECT_FALSE(test, asks(f));
	KUNIT_EXPECT_NULL(test, f->vdev->resync.donor);
	say_note(test, VRFM_NOTE_INFO, 1, VRFM_INFO_COMPLETE);
	KUNIT_EXPECT_FALSE(test, asks(f));
	f->vdev->resync.since = jiffies - 60 * HZ;
	KUNIT_EXPECT_FALSE(test, asks(f));
	KUNIT_EXPECT_NOT_NULL(test, f->vdev->live);
	say_note(test, VRFM_NOTE_PULLED, 0, 0);
	KUNIT_EXPECT_TRUE(test, asks(f));
	KUNIT_EXPECT_EQ(test, f->vdev->resync.page, 0U);
	say_note(test, VRFM_NOTE_PULLED, 0, 0);
	KUNIT_EXPECT_FALSE(test, asks(f));
	KUNIT_EXPECT_NULL(test, f->vdev->live);
	vrfm_resync_exit(f->vdev);
}

/*
 * The answer to the previous PULL does not arrive. The wait for this answer
 * must have a time limit.
 */
static void load_gives_up_missing_pulled_of_previous_pull(struct kunit *test)
{
	struct fuzz *f = test->priv;

	begin_to_load(test);
	say_note(test, VRFM_NOTE_LOAD, 1, 0);
	KUNIT_EXPECT_FALSE(test, asks(f));
	say_note(test, VRFM_NOTE_INFO, 1, VRFM_INFO_COMPLETE);
	KUNIT_EXPECT_FALSE(test, asks(f));
	KUNIT_EXPECT_FALSE(test, f->link->pull.not_serving);
	f->vdev->resync.since -= 31 * HZ;
	KUNIT_EXPECT_FALSE(test, asks(f));
	KUNIT_EXPECT_TRUE(test, f->link->pull.not_serving);
	KUNIT_EXPECT_FALSE(test, asks(f));
	goes_on_alone(test);
	vrfm_resync_exit(f->vdev);
}

/*
 * While the peer itself loads, no peer offers the image. The time limit for a
 * load that no peer serves begins after the peer's SWEPT note, which says that
 * the peer has sent its own words.
 */
static void load_waits_while_holder_loads(struct kunit *test)
{
	struct fuzz *f = test->priv;

	stop_loading(f);
	say_note(test, VRFM_NOTE_INFO, 0, VRFM_INFO_COMPLETE);
	begin(test);
	f->vdev->resync.since -= 10 * HZ;
	say_note(test, VRFM_NOTE_LOAD, 1, 0);
	say_note(test, VRFM_NOTE_SWEPT, f->vdev->resync.number, 0);
	KUNIT_EXPECT_FALSE(test, asks(f));
	goes_on_alone(test);
	vrfm_resync_exit(f->vdev);
}

/*
 * The node continues without the image, and loads it when the donor answers
 * later.
 */
static void load_gives_up_silent_holder(struct kunit *test)
{
	struct fuzz *f = test->priv;

	begin_to_load(test);
	f->vdev->resync.since -= 29 * HZ;
	KUNIT_EXPECT_FALSE(test, asks(f));
	KUNIT_EXPECT_PTR_EQ(test, f->vdev->resync.donor, f->link);
	f->vdev->resync.since -= 2 * HZ;
	KUNIT_EXPECT_FALSE(test, asks(f));
	KUNIT_EXPECT_NULL(test, f->vdev->resync.donor);
	goes_on_alone(test);
	begin(test);
	say_note(test, VRFM_NOTE_SWEPT, f->vdev->resync.number, 0);
	KUNIT_EXPECT_FALSE(test, asks(f));
	say_note(test, VRFM_NOTE_PULLED, 0, 0);
	KUNIT_EXPECT_TRUE(test, asks(f));
	vrfm_resync_exit(f->vdev);
}

/*
 * All pages of the last PULL have arrived, and the window has no room for the
 * next PULL.
 */
static void load_gives_up_holder_with_full_window(struct kunit *test)
{
	struct fuzz *f = test->priv;

	begin_to_load(test);
	f->vdev->resync.requested = 0;
	f->link->pull.pending = false;
	f->link->window.opened = f->link->window.acked + VRFM_SLOTS;
	f->vdev->resync.since -= 31 * HZ;
	KUNIT_EXPECT_FALSE(test, asks(f));
	KUNIT_EXPECT_NULL(test, f->vdev->resync.donor);
	KUNIT_EXPECT_TRUE(test, f->link->pull.not_serving);
	vrfm_resync_exit(f->vdev);
}

/*
 * The link goes down and comes up again before the work that loads the image
 * runs.
 */
static void load_pulls_again_after_reconnect(struct kunit *test)
{
	struct fuzz *f = test->priv;

	begin_to_load(test);
	f->link->state = VRFM_DOWN;
	locked(f, vrfm_resync_link_down(f->link));
	link_anew(f);
	say_note(test, VRFM_NOTE_INFO, 0, VRFM_INFO_COMPLETE);
	/*
	 * Before the load continues, the peer must send the words that it wrote
	 * while the link was down. The peer's SWEPT note says that it has sent
	 * them.
	 */
	KUNIT_EXPECT_FALSE(test, asks(f));
	say_note(test, VRFM_NOTE_SWEPT, f->vdev->resync.number, 0);
	KUNIT_EXPECT_TRUE(test, asks(f));
	vrfm_resync_exit(f->vdev);
}

/* ---- a peer that takes over this node's image ---- */

/*
 * Act as a peer that has given up its own image, and has taken over the image
 * of this node.
 */
static void peer_has_merged(struct kunit *test)
{
	struct fuzz *f = test->priv;

	stop_loading(f);
	say_note(test, VRFM_NOTE_INFO, 0,
		 VRFM_INFO_COMPLETE | VRFM_INFO_MERGED);
	f->link->lineage.sent.kind = VRFM_NOTE_INFO;
	f->link->lineage.sent.id = 4711;
	f->vdev->resync.lineage = 4711;
}

/*
 * Return whether this node decides to load words of the image that the peer has
 * given up.
 */
static bool looks(struct fuzz *f)
{
	bool wants;

	locked(f, vrfm_resync_from_older(f->vdev));
	wants = f->vdev->resync.state == VRFM_RESYNC_RESERVING;
	f->vdev->resync.state = VRFM_RESYNC_IDLE;
	return wants;
}

static void load_from_older_merges_each_image_once(struct kunit *test)
{
	struct fuzz *f = test->priv;

	peer_has_merged(test);
	KUNIT_EXPECT_TRUE(test, looks(f));
	f->link->lineage.filled = 4711;
	KUNIT_EXPECT_FALSE(test, looks(f));
	/*
	 * When the link comes up again, the words of the image that the peer
	 * gave up still count as loaded.
	 */
	f->link->state = VRFM_DOWN;
	locked(f, vrfm_resync_link_down(f->link));
	link_anew(f);
	locked(f, vrfm_resync_link_up(f->link));
	peer_has_merged(test);
	KUNIT_EXPECT_FALSE(test, looks(f));
	/*
	 * If the peer has given up another image, or has another epoch, its
	 * words must be loaded again.
	 */
	f->link->lineage.filled = 4710;
	KUNIT_EXPECT_TRUE(test, looks(f));
	f->link->lineage.filled = 4711;
	locked(f, vrfm_link_set_epoch(f->link, 99));
	KUNIT_EXPECT_TRUE(test, looks(f));
}

/*
 * The peer lacks the last writes of a departed node (a node that has no
 * connection any more). Loading from this peer would restore older values.
 */
static void load_from_older_waits_until_peer_has_past(struct kunit *test)
{
	const struct vrfm_life life = { .epoch = 5, .serial = 9, .synced = true };
	struct fuzz *f = test->priv;

	vrfm_history_add(&f->vdev->resync.history[3], &life);
	__set_bit(3, f->vdev->resync.known);
	peer_has_merged(test);
	f->link->lineage.waits_since = jiffies;
	KUNIT_EXPECT_FALSE(test, looks(f));
	/*
	 * A peer that took over the image while its link was up has all words
	 * of this node, so there is no need to wait.
	 */
	f->link->lineage.changed = true;
	KUNIT_EXPECT_TRUE(test, looks(f));
	f->link->lineage.changed = false;
	/*
	 * The wait for the peer is limited, because the peer does not load the
	 * missing writes while its own link to the departed node is still up.
	 */
	f->link->lineage.waits_since -= 9 * HZ;
	KUNIT_EXPECT_FALSE(test, looks(f));
	f->link->lineage.waits_since -= 2 * HZ;
	KUNIT_EXPECT_TRUE(test, looks(f));
	f->link->lineage.waits_since = jiffies;
	f->link->report.history[3] = f->vdev->resync.history[3];
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

/* A peer must know the history of an image before it may load the image. */
static void gone_note_is_sent_before_info_note(struct kunit *test)
{
	struct fuzz *f = test->priv;
	u64 first;

	stop_loading(f);
	__set_bit(3, f->link->catchup.gone_due);
	f->link->catchup.todo = VRFM_TODO_INFO | VRFM_TODO_GONE;
	first = f->link->window.opened + 1;
	KUNIT_ASSERT_TRUE(test, locked(f, vrfm_resync_notify(f->link)));
	KUNIT_ASSERT_EQ(test, f->link->window.opened, first + 1);
	KUNIT_EXPECT_EQ(test, note_of(f, first), (int)VRFM_NOTE_GONE);
	KUNIT_EXPECT_EQ(test, note_of(f, first + 1), (int)VRFM_NOTE_INFO);
}

/*
 * Earlier, peers gave up their image for that of this node, and this node loaded
 * their words. The image that this node loads now lacks these words, so they
 * must be loaded again.
 */
static void load_resets_merged_image_of_peers(struct kunit *test)
{
	struct fuzz *f = test->priv;

	begin_to_load(test);
	f->link->lineage.filled = 4711;
	f->link->lineage.waits_since = jiffies - 60 * HZ;
	say_note(test, VRFM_NOTE_PULLED, 0, 0);
	KUNIT_EXPECT_FALSE(test, asks(f));
	KUNIT_ASSERT_NULL(test, f->vdev->live);
	KUNIT_EXPECT_EQ(test, f->link->lineage.filled, 0ULL);
	/* Peers get time again to load the writes of departed nodes. */
	KUNIT_EXPECT_LT(test, jiffies - f->link->lineage.waits_since,
			10UL * HZ);
	vrfm_resync_exit(f->vdev);
}

/* ---- catching up ---- */

static void catch_up(struct fuzz *f)
{
	f->link->state = VRFM_SYNCING;
	f->link->window.granted = true;
	f->link->overload.hold_until = jiffies;
	rt_mutex_lock(&f->vdev->write_lock);
	while (vrfm_catchup_step_locked(f->link))
		;
	rt_mutex_unlock(&f->vdev->write_lock);
}

/*
 * Until the peer has sent its INFO note, it may be loading older values of
 * words that it has acknowledged. So the link must not become READY before this
 * note.
 */
static void peer_without_info_note_is_not_ready(struct kunit *test)
{
	struct fuzz *f = test->priv;
	u32 room;

	catch_up(f);
	KUNIT_EXPECT_EQ(test, (int)f->link->state, (int)VRFM_SYNCING);
	say_note(test, VRFM_NOTE_INFO, 0, VRFM_INFO_COMPLETE);
	catch_up(f);
	KUNIT_EXPECT_EQ(test, (int)f->link->state, (int)VRFM_READY);
	/*
	 * Simulate a LOAD note (7 is its number) that arrives just before the
	 * link becomes READY. The link must not become READY before the note is
	 * answered.
	 */
	f->link->state = VRFM_SYNCING;
	f->link->request.load = 7;
	KUNIT_EXPECT_FALSE(test, vrfm_catchup_is_last(f->link, &room));
	f->link->request.load = 0;
	KUNIT_EXPECT_TRUE(test, vrfm_catchup_is_last(f->link, &room));
}

/* Return the number of runs in updates since the link came up. */
static u32 sent_runs(struct fuzz *f)
{
	u32 n = 0;
	u64 i;

	for (i = SENT + 1; i <= f->link->window.opened; i++)
		if (vrfm_slot(f->link, i)->type == VRFM_WIRE_UPDATE)
			n += vrfm_slot(f->link, i)->pack.count;
	return n;
}

static void peer_that_has_loaded_gets_own_words_again(struct kunit *test)
{
	struct fuzz *f = test->priv;

	bitmap_set(f->vdev->own, 40, 3);
	say_note(test, VRFM_NOTE_INFO, 7, VRFM_INFO_COMPLETE);
	catch_up(f);
	KUNIT_EXPECT_EQ(test, (int)f->link->state, (int)VRFM_READY);
	KUNIT_EXPECT_EQ(test, f->link->request.begun, 7U);
	KUNIT_EXPECT_EQ(test, sent_runs(f), 1U);
}

/*
 * Let the peer lack every second word, so that each missed word is a run of its
 * own.
 */
static void sync_step_is_limited_by_runs(struct kunit *test)
{
	struct fuzz *f = test->priv;
	u32 i, before;

	for (i = 0; i < WORDS; i += 2)
		__set_bit(i, f->vdev->own);
	f->link->state = VRFM_SYNCING;
	f->link->overload.hold_until = jiffies;
	f->link->missed.lost = false;
	for (i = 0; i < WORDS; i += 2)
		locked(f, vrfm_link_miss(f->link, i * VRFM_WORD, VRFM_WORD));
	do {
		before = f->link->missed.map.set;
		/* The peer has applied everything. */
		f->link->window.completed = f->link->window.opened;
		f->link->window.acked = f->link->window.opened;
		locked(f, vrfm_catchup_step_locked(f->link));
		/* The search for each run counts like a run. */
		KUNIT_ASSERT_LE(test, before - f->link->missed.map.set,
				(u32)VRFM_SYNC_RUNS / 2);
	} while (f->link->missed.map.set != before);
	KUNIT_EXPECT_EQ(test, f->link->missed.map.set, 0U);
}

/*
 * Return the number of runs in a message that begin or end between the two words
 * of a pair (8 aligned bytes). Count only pairs of which both words are among
 * the words from @first on, before @end.
 */
static u32 cut_pairs(struct vrfm_slot *slot, u32 first, u32 end)
{
	const u8 *at = slot->pack.msg + sizeof(struct vrfm_wire_head);
	struct vrfm_wire_run run;
	u32 i, n = 0, from, to;

	for (i = 0; i < slot->pack.count; i++) {
		memcpy(&run, at, sizeof(run));
		from = le32_to_cpu(run.offset) / VRFM_WORD;
		to = from + le32_to_cpu(run.len) / VRFM_WORD;
		n += from % 2 && from > first;
		n += to % 2 && to < end;
		at += sizeof(run) + ALIGN(le32_to_cpu(run.len), VRFM_WIRE_ALIGN);
	}
	return n;
}

static u32 all_cut_pairs(struct fuzz *f, u32 first, u32 end)
{
	u32 n = 0;
	u64 i;

	for (i = SENT + 1; i <= f->link->window.opened; i++)
		if (vrfm_slot(f->link, i)->type == VRFM_WIRE_UPDATE)
			n += cut_pairs(vrfm_slot(f->link, i), first, end);
	return n;
}

/* Let the peer lack N words from word FIRST on, and begin to catch up. */
static void lacks(struct fuzz *f, u32 first, u32 n)
{
	bitmap_set(f->vdev->own, first, n);
	f->link->state = VRFM_SYNCING;
	f->link->overload.hold_until = jiffies;
	f->link->missed.lost = false;
	locked(f, vrfm_link_miss(f->link, first * VRFM_WORD, n * VRFM_WORD));
}

/* A run has up to 1024 words, so a run from word 1 would end inside a pair. */
static void sync_step_cuts_no_double(struct kunit *test)
{
	struct fuzz *f = test->priv;

	lacks(f, 1, 1500);
	KUNIT_EXPECT_TRUE(test, locked(f, vrfm_catchup_step_locked(f->link)));
	KUNIT_EXPECT_EQ(test, f->link->missed.map.set, 0U);
	KUNIT_EXPECT_GE(test, sent_runs(f), 2U);
	KUNIT_EXPECT_EQ(test, all_cut_pairs(f, 1, 1501), 0U);
}

/*
 * A step ends behind word 8. Then a program writes words 8 and 9, as a double.
 * The next step must not begin with word 9.
 */
static void sync_step_begins_with_whole_double(struct kunit *test)
{
	struct fuzz *f = test->priv;

	lacks(f, 8, 1);
	lacks(f, 100, 2);
	KUNIT_EXPECT_EQ(test, locked(f, vrfm_catchup_take(f->link, 16, 1, 8)), 1U);
	lacks(f, 8, 2);
	KUNIT_EXPECT_TRUE(test, locked(f, vrfm_catchup_step_locked(f->link)));
	KUNIT_EXPECT_EQ(test, f->link->missed.map.set, 0U);
	KUNIT_EXPECT_EQ(test, sent_runs(f), 3U);
	/* Only the first run ends inside a pair: word 9 was not missed then. */
	KUNIT_EXPECT_EQ(test, all_cut_pairs(f, 0, WORDS), 1U);
}

/* The last step may send more runs than other steps, up to another limit. */
static void last_sync_step_is_limited_by_runs(struct kunit *test)
{
	struct fuzz *f = test->priv;
	u32 i;

	say_note(test, VRFM_NOTE_INFO, 0, VRFM_INFO_COMPLETE);
	for (i = 0; i < 3000; i++)
		lacks(f, 2 * i, 1);
	f->link->window.granted = true;
	KUNIT_EXPECT_TRUE(test, locked(f, vrfm_catchup_step_locked(f->link)));
	KUNIT_EXPECT_EQ(test, (int)f->link->state, (int)VRFM_SYNCING);
	KUNIT_EXPECT_GT(test, sent_runs(f), 0U);
	KUNIT_EXPECT_LE(test, sent_runs(f), (u32)VRFM_SYNC_LAST_RUNS);
}

/*
 * The pages of the set of missed words are freed, a few at a time, after the
 * words were sent.
 */
static void missed_map_is_freed_when_peer_is_ready(struct kunit *test)
{
	struct fuzz *f = test->priv;

	__set_bit(7, f->vdev->own);
	f->link->missed.lost = false;
	f->link->state = VRFM_SYNCING;
	locked(f, vrfm_link_miss(f->link, 7 * VRFM_WORD, VRFM_WORD));
	KUNIT_EXPECT_EQ(test, f->link->missed.map.used, 1U);
	say_note(test, VRFM_NOTE_INFO, 0, VRFM_INFO_COMPLETE);
	catch_up(f);
	KUNIT_EXPECT_EQ(test, (int)f->link->state, (int)VRFM_READY);
	KUNIT_EXPECT_EQ(test, f->link->missed.map.used, 0U);
}

/*
 * If the peer lacks all own words, catching up sends all of them. So single
 * missed words are not recorded.
 */
static void missed_map_is_unused_if_peer_lacks_everything(struct kunit *test)
{
	struct fuzz *f = test->priv;
	const u32 word = 7;

	f->link->state = VRFM_DOWN;
	locked(f, vrfm_link_miss_own(f->link));
	locked(f, vrfm_link_update(f->link, 64, &word, sizeof(word), NULL));
	KUNIT_EXPECT_EQ(test, f->link->missed.map.used, 0U);
	/*
	 * For words below lost_at, the own words are already in the set of
	 * missed words. So further missed words below lost_at must be recorded
	 * in the set.
	 */
	f->link->missed.lost_at = 20;
	locked(f, vrfm_link_miss(f->link, 72, 4 * VRFM_WORD));
	KUNIT_EXPECT_EQ(test, f->link->missed.map.set, 2U);
}

/*
 * If more than a quarter of the set's pages is used, the own words replace the
 * set.
 */
static void large_missed_map_is_replaced_by_own_words(struct kunit *test)
{
	const u32 chunk = VRFM_MAP_CHUNK * VRFM_WORD;
	struct fuzz *f = test->priv;
	u32 i;

	vrfm_map_free(&f->link->missed.map);
	KUNIT_ASSERT_EQ(test,
			vrfm_map_init(&f->link->missed.map, 512ULL * chunk), 0);
	f->link->missed.lost = false;
	f->link->state = VRFM_DOWN;
	for (i = 0; i < 128; i++)
		locked(f, vrfm_link_miss(f->link, i * chunk, VRFM_WORD));
	KUNIT_EXPECT_FALSE(test, f->link->missed.lost);
	KUNIT_EXPECT_EQ(test, f->link->missed.map.used, 128U);
	locked(f, vrfm_link_miss(f->link, 300 * chunk, VRFM_WORD));
	KUNIT_EXPECT_TRUE(test, f->link->missed.lost);
	vrfm_map_clear(&f->link->missed.map, 0, f->link->missed.map.nwords);
}

/* ---- ages of images ---- */

/* Receive the INFO of a peer whose image is AGE_MS old, of another lineage. */
static void say_age(struct kunit *test, u64 age_ms)
{
	const struct vrfm_note note = {
		.kind = VRFM_NOTE_INFO, .flags = VRFM_INFO_COMPLETE,
		.id = 4711, .value = age_ms,
	};
	struct fuzz *f = test->priv;
	struct vrfm_pack pack;

	vrfm_pack_begin(&pack, f->msg, ROOM);
	vrfm_pack_note(&pack, &note);
	say(test, f, &pack, VRFM_WIRE_NOTE, 0);
}

/* The image has aged since its INFO arrived. */
static void wanted_image_ages_since_info_note(struct kunit *test)
{
	struct fuzz *f = test->priv;
	struct vrfm_resync *resync = &f->vdev->resync;
	s64 age;

	say_age(test, 5000);
	f->link->report.info_at = ktime_sub_ms(f->link->report.info_at, 2000);
	vrfm_resync_want(resync, f->link);
	age = ktime_ms_delta(ktime_get(), resync->wanted_began);
	KUNIT_EXPECT_EQ(test, resync->wanted, 4711ULL);
	KUNIT_EXPECT_GE(test, age, 7000LL);
	KUNIT_EXPECT_LT(test, age, 8000LL);
}

/*
 * Let this node have sent its INFO 30 s ago, when its image was 60 s old. So its
 * image is 90 s old by now.
 */
static void sent_info_before(struct fuzz *f)
{
	stop_loading(f);
	f->vdev->resync.began = ktime_sub_ms(ktime_get(), 90000);
	f->link->lineage.sent = (struct vrfm_note){
		.kind = VRFM_NOTE_INFO, .value = 60000,
		.id = f->vdev->resync.lineage,
	};
	f->link->lineage.sent_at = ktime_sub_ms(ktime_get(), 30000);
	f->link->catchup.todo = 0;
}

/*
 * The INFO of this node is 30 s older than the INFO of the peer. By now the
 * image of this node is older than the image of the peer.
 */
static void ages_of_different_moments_are_not_compared(struct kunit *test)
{
	struct fuzz *f = test->priv;

	sent_info_before(f);
	say_age(test, 85000);
	KUNIT_EXPECT_FALSE(test, looks(f));
	KUNIT_EXPECT_TRUE(test, f->link->catchup.todo & VRFM_TODO_INFO);
	KUNIT_ASSERT_TRUE(test, locked(f, vrfm_resync_notify(f->link)));
	KUNIT_EXPECT_GE(test, f->link->lineage.sent.value, 90000ULL);
	KUNIT_EXPECT_FALSE(test, looks(f));
	KUNIT_EXPECT_FALSE(test, f->link->catchup.todo & VRFM_TODO_INFO);
	/* The image of the peer is older than this one. */
	say_age(test, 95000);
	KUNIT_EXPECT_TRUE(test, looks(f));
}

/* The INFO of this node is old, but the result of the comparison is certain. */
static void certain_age_sends_no_info_note(struct kunit *test)
{
	struct fuzz *f = test->priv;

	sent_info_before(f);
	say_age(test, 59000);
	KUNIT_EXPECT_FALSE(test, looks(f));
	KUNIT_EXPECT_FALSE(test, f->link->catchup.todo & VRFM_TODO_INFO);
	say_age(test, 95000);
	KUNIT_EXPECT_TRUE(test, looks(f));
	KUNIT_EXPECT_FALSE(test, f->link->catchup.todo & VRFM_TODO_INFO);
}

/* ---- loads that are due ---- */

/* Run the work. Return whether programs see a complete image after it. */
static bool completes(struct fuzz *f)
{
	vrfm_resync_work(&f->vdev->resync.work.work);
	return !vrfm_is_incomplete(f->vdev);
}

/* Act as a peer of the same lineage that has a write of the departed node 3. */
static void peer_has_more(struct kunit *test)
{
	const struct vrfm_life life = { .epoch = 5, .serial = 9, .synced = true };
	struct fuzz *f = test->priv;

	peer_has_merged(test);
	say_note(test, VRFM_NOTE_INFO, 0, VRFM_INFO_COMPLETE);
	vrfm_history_add(&f->link->report.history[3], &life);
	__set_bit(3, f->link->report.known);
}

/*
 * This node lacks a write that a peer has, and the peer loads an image itself.
 * So this node loads later.
 */
static void image_is_incomplete_while_better_peer_loads(struct kunit *test)
{
	struct fuzz *f = test->priv;

	peer_has_more(test);
	say_note(test, VRFM_NOTE_LOAD, 1, 0);
	KUNIT_EXPECT_FALSE(test, completes(f));
	KUNIT_EXPECT_FALSE(test, vrfm_is_loading(f->vdev));
	say_note(test, VRFM_NOTE_INFO, 0, VRFM_INFO_COMPLETE);
	KUNIT_EXPECT_FALSE(test, completes(f));
	KUNIT_EXPECT_TRUE(test, vrfm_is_loading(f->vdev));
	vrfm_resync_exit(f->vdev);
}

/* When a load ends, the next check decides whether another load is due. */
static void image_is_incomplete_until_check_after_load(struct kunit *test)
{
	struct fuzz *f = test->priv;

	peer_has_more(test);
	KUNIT_EXPECT_FALSE(test, completes(f));
	pull(f, VRFM_RESYNC_SAME);
	locked(f, vrfm_resync_end(f->vdev));
	KUNIT_EXPECT_FALSE(test, vrfm_is_loading(f->vdev));
	KUNIT_EXPECT_TRUE(test, vrfm_is_incomplete(f->vdev));
	f->vdev->resync.history[3] = f->link->report.history[3];
	KUNIT_EXPECT_TRUE(test, completes(f));
	vrfm_resync_exit(f->vdev);
}

/*
 * A peer of another lineage loads an image itself. This node loads from the
 * peer later only if the image of the peer is older.
 */
static void image_is_incomplete_while_older_peer_loads(struct kunit *test)
{
	struct fuzz *f = test->priv;

	sent_info_before(f);
	say_age(test, 95000);
	say_note(test, VRFM_NOTE_LOAD, 1, 0);
	KUNIT_EXPECT_FALSE(test, completes(f));
	say_age(test, 1000);
	say_note(test, VRFM_NOTE_LOAD, 1, 0);
	KUNIT_EXPECT_TRUE(test, completes(f));
	vrfm_resync_exit(f->vdev);
}

/* The ages cannot be compared before this node has sent its INFO again. */
static void image_is_incomplete_until_ages_are_compared(struct kunit *test)
{
	struct fuzz *f = test->priv;

	sent_info_before(f);
	say_age(test, 85000);
	KUNIT_EXPECT_FALSE(test, completes(f));
	KUNIT_ASSERT_TRUE(test, locked(f, vrfm_resync_notify(f->link)));
	KUNIT_EXPECT_TRUE(test, completes(f));
	vrfm_resync_exit(f->vdev);
}

/*
 * The peer has given up an image, and may first load from this node. After
 * that, this node loads words of the image that was given up.
 */
static void image_is_incomplete_until_given_up_image_is_merged(struct kunit *test)
{
	const struct vrfm_life life = { .epoch = 5, .serial = 9, .synced = true };
	struct fuzz *f = test->priv;

	vrfm_history_add(&f->vdev->resync.history[3], &life);
	__set_bit(3, f->vdev->resync.known);
	peer_has_merged(test);
	f->link->lineage.waits_since = jiffies;
	KUNIT_EXPECT_FALSE(test, completes(f));
	KUNIT_EXPECT_FALSE(test, vrfm_is_loading(f->vdev));
	f->link->lineage.filled = 4711;
	KUNIT_EXPECT_TRUE(test, completes(f));
	vrfm_resync_exit(f->vdev);
}

/* ---- the end of a load ---- */

/*
 * There are more departed nodes than links. Queueing the work of each link for
 * each of these nodes would take milliseconds under vrfm_dev.write_lock.
 */
static void end_of_load_queues_work_of_link_once(struct kunit *test)
{
	struct fuzz *f = test->priv;

	bitmap_set(f->vdev->resync.known, 10, 100);
	f->link->catchup.todo = 0;
	pull(f, VRFM_RESYNC_SAME);
	fuzz_kicks = 0;
	locked(f, vrfm_resync_end(f->vdev));
	/*
	 * One of the two is the work that chooses the next load, the other is
	 * that of the link.
	 */
	KUNIT_EXPECT_EQ(test, fuzz_kicks, 2U);
	KUNIT_EXPECT_EQ(test,
			bitmap_weight(f->link->catchup.gone_due, VRFM_NODES),
			100U);
	KUNIT_EXPECT_EQ(test, f->link->catchup.todo,
			(u32)(VRFM_TODO_GONE | VRFM_TODO_INFO));
	vrfm_resync_exit(f->vdev);
}

/* The map of a large memory has megabytes: it is freed without the lock. */
static void end_of_load_leaves_map_to_work(struct kunit *test)
{
	struct fuzz *f = test->priv;
	unsigned long *live = f->vdev->live;

	pull(f, VRFM_RESYNC_SAME);
	locked(f, vrfm_resync_end(f->vdev));
	KUNIT_EXPECT_NULL(test, f->vdev->live);
	KUNIT_EXPECT_PTR_EQ(test, f->vdev->resync.spent_live, live);
	vrfm_resync_work(&f->vdev->resync.work.work);
	KUNIT_EXPECT_NULL(test, f->vdev->resync.spent_live);
	vrfm_resync_exit(f->vdev);
}

/* ---- donors ---- */

/* Let node NODE choose a donor of an older image. */
static const struct vrfm_link *chosen(struct fuzz *f, u32 node)
{
	f->vdev->params.node = node;
	f->vdev->resync.state = VRFM_RESYNC_CHOOSING;
	locked(f, vrfm_resync_choose(f->vdev));
	return f->vdev->resync.donor;
}

/* Nodes that load at the same time do not all load from the first peer. */
static void nodes_choose_different_donors(struct kunit *test)
{
	struct fuzz *f = test->priv;
	struct vrfm_link *other = add_link(f, 130);
	u32 node, picks[2] = { };

	KUNIT_ASSERT_NOT_NULL(test, other);
	say_note(test, VRFM_NOTE_INFO, 0, VRFM_INFO_COMPLETE);
	other->report.info = f->link->report.info;
	f->vdev->resync.kind = VRFM_RESYNC_OLDER;
	f->vdev->resync.wanted = f->link->report.info.id;
	for (node = 10; node < 42; node++)
		picks[chosen(f, node) == other]++;
	KUNIT_EXPECT_GE(test, picks[0], 8U);
	KUNIT_EXPECT_GE(test, picks[1], 8U);
	f->vdev->resync.donor = NULL;
	free_link(other);
}

/* ---- merging ---- */

/**
 * struct double_reader - a task that reads a double while it is merged
 * @at: the double
 * @torn: number of times that the two halves of @at differed
 */
struct double_reader {
	const u64 *at;
	u32 torn;
};

static int read_doubles(void *arg)
{
	struct double_reader *reader = arg;
	u64 n = 0, value;

	while (!kthread_should_stop()) {
		value = READ_ONCE(*reader->at);
		reader->torn += (u32)value != value >> 32;
		if (++n % 1024 == 0)
			cond_resched();
	}
	return 0;
}

/*
 * The reader finds a torn double only if it runs on another processor than the
 * merge. A machine may have a single processor, so this also checks the number
 * of doubles that are merged by one store each.
 */
static void merge_does_not_tear_doubles(struct kunit *test)
{
	struct fuzz *f = test->priv;
	struct double_reader reader = { .at = f->vdev->mem.vaddr + PAGE_SIZE };
	struct vrfm_run run = { .offset = PAGE_SIZE, .len = 8 };
	struct task_struct *task;
	u64 n, value;

	pull(f, VRFM_RESYNC_SAME);
	run.bytes = &value;
	task = kthread_run(read_doubles, &reader, "vrfm_resync_kunit");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	fuzz_pairs = 0;
	for (n = 1; n <= 300000; n++) {
		value = n << 32 | n;
		vrfm_resync_merge(f->link, &run);
		if (n % 64 == 0)
			cond_resched();
	}
	kthread_stop(task);
	KUNIT_EXPECT_EQ(test, *reader.at, value);
	KUNIT_EXPECT_EQ(test, reader.torn, 0U);
	KUNIT_EXPECT_EQ(test, fuzz_pairs, 300000U);
}

/*
 * The donor sends the words 1 to 5 of a page. Words 0 and 1 are a pair (8
 * aligned bytes), as are 2 and 3, and 4 and 5. The donor sends only one word of
 * the first pair. Word 4 is an own word of this node, so it must not change.
 * The four other words that the donor sends must be merged.
 */
static void merge_takes_wanted_half_of_pair(struct kunit *test)
{
	struct fuzz *f = test->priv;
	const u32 words[] = { 1, 2, 3, 4, 5 };
	const struct vrfm_run run = {
		.offset = PAGE_SIZE + 4, .len = sizeof(words), .bytes = words,
	};
	const u32 *mem = f->vdev->mem.vaddr + PAGE_SIZE;

	pull(f, VRFM_RESYNC_SAME);
	__set_bit(VRFM_PAGE_WORDS + 4, f->vdev->own);
	vrfm_resync_merge(f->link, &run);
	KUNIT_EXPECT_EQ(test, mem[0], 0U);
	KUNIT_EXPECT_EQ(test, mem[1], 1U);
	KUNIT_EXPECT_EQ(test, mem[2], 2U);
	KUNIT_EXPECT_EQ(test, mem[3], 3U);
	KUNIT_EXPECT_EQ(test, mem[4], 0U);
	KUNIT_EXPECT_EQ(test, mem[5], 5U);
}

static void load_done_adopts_wanted_image(struct kunit *test)
{
	struct fuzz *f = test->priv;
	struct vrfm_resync *resync = &f->vdev->resync;
	const ktime_t began = ktime_sub_ms(ktime_get(), 5000);

	pull(f, VRFM_RESYNC_OLDER);
	resync->wanted = 4711;
	resync->wanted_began = began;
	f->link->report.info.id = 4712;
	resync->seen = kvcalloc(VRFM_NODES, sizeof(*resync->seen), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, resync->seen);
	locked(f, vrfm_resync_done(f->vdev));
	KUNIT_EXPECT_EQ(test, resync->lineage, 4711ULL);
	KUNIT_EXPECT_EQ(test, resync->began, began);
	KUNIT_EXPECT_TRUE(test, test_bit(VRFM_SAY_LOADED, &f->link->log.lines));
	vrfm_resync_exit(f->vdev);
}

static struct kunit_case vrfm_resync_cases[] = {
	KUNIT_CASE(sync_step_is_limited_by_runs),
	KUNIT_CASE(last_sync_step_is_limited_by_runs),
	KUNIT_CASE(sync_step_cuts_no_double),
	KUNIT_CASE(sync_step_begins_with_whole_double),
	KUNIT_CASE(missed_map_is_freed_when_peer_is_ready),
	KUNIT_CASE(missed_map_is_unused_if_peer_lacks_everything),
	KUNIT_CASE(large_missed_map_is_replaced_by_own_words),
	KUNIT_CASE(load_done_adopts_wanted_image),
	KUNIT_CASE(wanted_image_ages_since_info_note),
	KUNIT_CASE(ages_of_different_moments_are_not_compared),
	KUNIT_CASE(certain_age_sends_no_info_note),
	KUNIT_CASE(image_is_incomplete_while_better_peer_loads),
	KUNIT_CASE(image_is_incomplete_until_check_after_load),
	KUNIT_CASE(image_is_incomplete_while_older_peer_loads),
	KUNIT_CASE(image_is_incomplete_until_ages_are_compared),
	KUNIT_CASE(image_is_incomplete_until_given_up_image_is_merged),
	KUNIT_CASE(end_of_load_queues_work_of_link_once),
	KUNIT_CASE(end_of_load_leaves_map_to_work),
	KUNIT_CASE(nodes_choose_different_donors),
	KUNIT_CASE(merge_does_not_tear_doubles),
	KUNIT_CASE(merge_takes_wanted_half_of_pair),
	KUNIT_CASE(load_pulls_again_after_reconnect),
	KUNIT_CASE(load_looks_for_silent_peers),
	KUNIT_CASE(load_clears_live_words_of_previous_load),
	KUNIT_CASE(load_waits_while_holder_loads),
	KUNIT_CASE(load_gives_up_silent_holder),
	KUNIT_CASE(load_gives_up_holder_with_full_window),
	KUNIT_CASE(load_ignores_past_of_another_lineage),
	KUNIT_CASE(load_ignores_pulled_of_previous_pull),
	KUNIT_CASE(load_gives_up_missing_pulled_of_previous_pull),
	KUNIT_CASE(load_from_older_merges_each_image_once),
	KUNIT_CASE(load_from_older_waits_until_peer_has_past),
	KUNIT_CASE(gone_note_is_sent_before_info_note),
	KUNIT_CASE(load_resets_merged_image_of_peers),
	KUNIT_CASE(peer_without_info_note_is_not_ready),
	KUNIT_CASE(peer_that_has_loaded_gets_own_words_again),
	{ }
};

static struct kunit_suite vrfm_resync_suite = {
	.name = "vrfm_resync",
	.init = fuzz_init,
	.exit = fuzz_exit,
	.test_cases = vrfm_resync_cases,
};

kunit_test_suite(vrfm_resync_suite);

MODULE_AUTHOR("The krdma developers <krdma@example.org>");
MODULE_DESCRIPTION("KUnit tests of vrfm's images");
MODULE_LICENSE("GPL");
