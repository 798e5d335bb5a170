// SPDX-License-Identifier: GPL-2.0
/*
 * Test hostile messages, through the function that krdma's receive callback
 * calls. A valid message must change the memory as it says, and an invalid
 * message must not change it. Bytes beside the memory must be unchanged.
 *
 *	insmod vrfm_receive_kunit.ko messages=1000000 seed=7
 *
 * The expected contents are computed here by code that shares nothing with
 * vrfm. The seed is printed; the same seed gives the same messages.
 */
#include "vrfm_fuzz.h"

#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/moduleparam.h>
#include <linux/random.h>
#include <linux/sched/rt.h>
#include <linux/sched/task.h>
#include <linux/seq_file.h>

static unsigned int fuzz_messages = 100000;
module_param_named(messages, fuzz_messages, uint, 0444);
static unsigned long fuzz_seed;
module_param_named(seed, fuzz_seed, ulong, 0444);

static u32 below(struct fuzz *f, u32 n)
{
	return prandom_u32_state(&f->random) % n;
}

static bool one_of(struct fuzz *f, u32 n)
{
	return !below(f, n);
}

/* ---- messages ---- */

static void fill_random(struct fuzz *f, void *at, u32 len)
{
	prandom_bytes_state(&f->random, at, len);
}

/*
 * Add random runs to a message: many short ones and some long ones, some up to
 * the end of the memory.
 */
static void make_runs(struct fuzz *f, struct vrfm_pack *pack, u32 align)
{
	u32 n = 1 + below(f, one_of(f, 8) ? 60 : 5);
	u32 offset, len;
	u8 bytes[512];

	while (n--) {
		len = ALIGN(1 + below(f, one_of(f, 4) ? 500 : 16), align);
		offset = one_of(f, 8) ? MEMORY - len : below(f, MEMORY - len);
		fill_random(f, bytes, len);
		vrfm_pack_run(pack, ALIGN_DOWN(offset, align), bytes, len);
	}
}

static void make_pull(struct fuzz *f, struct vrfm_pack *pack)
{
	u32 pages = MEMORY / VRFM_WIRE_PAGE;
	u32 first = below(f, pages);
	u32 count = 1 + below(f, pages - first);

	vrfm_pack_pull(pack, first, count);
	while (count--)
		vrfm_pack_digest(pack, prandom_u32_state(&f->random));
}

static void make_note(struct fuzz *f, struct vrfm_pack *pack)
{
	struct vrfm_note note;

	fill_random(f, &note, sizeof(note));
	note.kind = 1 + below(f, VRFM_NOTES - 1);
	vrfm_pack_note(pack, &note);
}

static void make_event(struct fuzz *f, struct vrfm_pack *pack)
{
	const struct vrfm_wired_event event = {
		.event = below(f, RFM2G_EVENT_INTR4 + 1),
		.data = prandom_u32_state(&f->random),
		.number = below(f, 1 << 20),
	};

	if (one_of(f, 2))
		make_runs(f, pack, 1);
	if (!vrfm_pack_has_room_for_event(pack))
		vrfm_pack_begin(pack, pack->msg, pack->room);
	vrfm_pack_event(pack, &event);
}

/*
 * Make a STAGE, which lists ranges that this node must not write directly. The
 * memory that it describes is not used here.
 */
static void make_stage(struct fuzz *f, struct vrfm_pack *pack)
{
	u32 desc_len = f->staged ? 0 : 16 + 16 * below(f, 4);
	unsigned long map[64 / BITS_PER_LONG];
	void *at;

	fill_random(f, map, sizeof(map));
	at = vrfm_pack_stage(pack, f->staged + 1 + below(f, 3), map, MEMORY,
			     desc_len);
	fill_random(f, at, desc_len);
}

static void make_body(struct fuzz *f, struct vrfm_pack *pack, u8 type)
{
	if (type == VRFM_WIRE_UPDATE)
		make_runs(f, pack, 1);
	else if (type == VRFM_WIRE_IMAGE)
		make_runs(f, pack, 4);
	else if (type == VRFM_WIRE_PULL)
		make_pull(f, pack);
	else if (type == VRFM_WIRE_NOTE)
		make_note(f, pack);
	else if (type == VRFM_WIRE_EVENT)
		make_event(f, pack);
	else if (type == VRFM_WIRE_STAGE)
		make_stage(f, pack);
}

/* Make a valid message of a random type. */
static void make(struct fuzz *f)
{
	struct vrfm_head head = {
		.type = one_of(f, 2) ? VRFM_WIRE_UPDATE :
				       1 + below(f, VRFM_WIRE_TYPES - 1),
		.flags = below(f, VRFM_WIRE_FLAGS + 1),
		.applied = f->applied,
		.serial = prandom_u32_state(&f->random),
		.staged = f->answered,
	};
	struct vrfm_pack pack;

	head.sequence = f->sequence + (head.type != VRFM_WIRE_ACK);
	if (f->applied < SENT && one_of(f, 4))
		head.applied++;
	if (f->answered < TOLD && one_of(f, 4))
		head.staged++;
	vrfm_pack_begin(&pack, f->msg, ROOM);
	make_body(f, &pack, head.type);
	f->len = vrfm_pack_end(&pack, &head);
}

static void put_number(u8 *at, u32 value)
{
	const __le32 wire = cpu_to_le32(value);

	memcpy(at, &wire, sizeof(wire));
}

static u32 edge(struct fuzz *f)
{
	const u32 edges[] = {
		0, 1, 3, 4, 7, 8, 255, 256, 4095, 4096, 65535, 65536,
		MEMORY - 8, MEMORY - 1, MEMORY, MEMORY + 1, 0x7fffffff,
		0x80000000, 0xfffffff8, 0xffffffff, f->len, f->len - HEAD,
		f->sequence, f->sequence + 1, SENT, SENT + 1,
	};

	return edges[below(f, ARRAY_SIZE(edges))];
}

/* Overwrite random bytes, mostly in the header and the first run. */
static void spoil_somewhere(struct fuzz *f)
{
	u32 most = one_of(f, 2) ? f->len : min_t(u32, f->len, HEAD + 8);
	u32 at = below(f, most);

	if (one_of(f, 2))
		f->msg[at] ^= 1 << below(f, 8);
	else if (most >= 4)
		put_number(f->msg + (at & ~3U), edge(f));
}

/* Change the length, sometimes also in the header. */
static void spoil_length(struct fuzz *f)
{
	u32 len = one_of(f, 2) ? below(f, ROOM) :
				 f->len + below(f, 17) - 8;

	len = min_t(u32, len, ROOM);
	if (len > f->len)
		fill_random(f, f->msg + f->len, len - f->len);
	f->len = len;
	if (one_of(f, 2) && len >= HEAD)
		put_number(f->msg + 4, len - HEAD);
}

static void spoil(struct fuzz *f)
{
	u32 n = 1 + below(f, 3);

	if (one_of(f, 16))
		fill_random(f, f->msg, f->len);
	while (n--) {
		if (one_of(f, 4))
			spoil_length(f);
		if (f->len)
			spoil_somewhere(f);
	}
}

/* ---- the expected result ---- */

static u64 number(const u8 *at, u32 bytes)
{
	u64 value = 0;

	while (bytes--)
		value = value << 8 | at[bytes];
	return value;
}

static bool right_runs(const u8 *at, const u8 *end, u32 count, u32 align)
{
	u64 offset, len;

	for (; count; count--, at += 8 + round_up(len, 8)) {
		if (end - at < 8)
			return false;
		offset = number(at, 4);
		len = number(at + 4, 4);
		if (!len || offset + len > MEMORY || offset % align ||
		    len % align || end - at < 8 + round_up(len, 8))
			return false;
	}
	return at == end;
}

static bool right_pull(const u8 *at, u32 len)
{
	u64 first, count;

	if (len < 8)
		return false;
	first = number(at, 4);
	count = number(at + 4, 4);
	return count && count <= 256 && first + count <= MEMORY / 4096 &&
	       len == 8 + 8 * count;
}

static bool right_stage(const struct fuzz *f, const u8 *at, u32 len)
{
	u64 map, desc;

	if (len < 16 || number(at, 8) <= f->staged)
		return false;
	map = number(at + 8, 4);
	desc = number(at + 12, 4);
	return map == 8 && (f->staged ? !desc : desc) && desc <= 16 + 16384 &&
	       len == 16 + map + desc;
}

static bool right_body(const struct fuzz *f, const u8 *msg, u32 len)
{
	u32 count = number(msg + 2, 2);
	const u8 *at = msg + HEAD;

	switch (msg[0]) {
	case 2:
		return count && right_runs(at, msg + len, count, 1);
	case 7:
		return count && right_runs(at, msg + len, count, 4);
	case 3:
		return len >= HEAD + 16 && number(msg + len - 16, 4) <= 4 &&
		       right_runs(at, msg + len - 16, count, 1);
	case 5:
		return !count && len == HEAD + 24 && at[0] >= 1 && at[0] <= 5;
	case 6:
		return !count && right_pull(at, len - HEAD);
	case 8:
		return !count && right_stage(f, at, len - HEAD);
	default:
		return !count && len == HEAD;
	}
}

static bool right(const struct fuzz *f, const u8 *msg, u32 len)
{
	bool counted = len && msg[0] != 1;
	u64 applied, answered;

	if (len < HEAD || msg[0] < 1 || msg[0] > 8 || msg[1] > 15 ||
	    number(msg + 4, 4) != len - HEAD)
		return false;
	if (number(msg + 8, 8) != f->sequence + counted)
		return false;
	applied = number(msg + 16, 8);
	answered = number(msg + 32, 8);
	return applied >= f->applied && applied <= SENT &&
	       answered >= f->answered && answered <= TOLD &&
	       right_body(f, msg, len);
}

static void expect_update(struct fuzz *f, u32 offset, const u8 *bytes, u32 len)
{
	u32 word;

	memcpy(f->wanted + FENCE + offset, bytes, len);
	for (word = offset / 4; word <= (offset + len - 1) / 4; word++) {
		f->own[word] = 0;
		f->live[word] = 1;
	}
}

/*
 * Expect the words of a page that the donor sends. A loading node takes only
 * words that are neither its own words nor live words.
 */
static void expect_image(struct fuzz *f, u32 offset, const u8 *bytes, u32 len)
{
	u32 i, word;

	for (i = 0; i < len; i += 4) {
		word = (offset + i) / 4;
		if (!f->own[word] && !f->live[word])
			memcpy(f->wanted + FENCE + offset + i, bytes + i, 4);
	}
}

static void expect_right(struct fuzz *f, const u8 *msg)
{
	u32 count = number(msg + 2, 2), offset, len;
	const u8 *at = msg + HEAD;

	f->taken[msg[0]]++;
	f->sequence = number(msg + 8, 8);
	f->applied = number(msg + 16, 8);
	f->answered = number(msg + 32, 8);
	if (msg[0] == 8) {
		f->staged = number(at, 8);
		f->map = number(at + 16, 8);
	}
	for (; count; count--, at += 8 + round_up(len, 8)) {
		offset = number(at, 4);
		len = number(at + 4, 4);
		if (msg[0] == 2 || msg[0] == 3)
			expect_update(f, offset, at + 8, len);
		else if (f->vdev->resync.donor == f->link)
			expect_image(f, offset, at + 8, len);
	}
}

/* ---- the actual result ---- */

/*
 * Check the memory and its guard bytes. Compare words, because memcmp() of some
 * kernels compares bytes.
 */
static bool memory_is_right(const struct fuzz *f)
{
	const unsigned long *a = (const void *)f->room;
	const unsigned long *b = (const void *)f->wanted;
	u32 i, n = (FENCE + MEMORY + FENCE) / sizeof(*a);

	for (i = 0; i < n; i++)
		if (a[i] != b[i])
			return false;
	return true;
}

static bool twins_are_right(const struct fuzz *f)
{
	const struct vrfm_twin *twin;
	u32 i;

	for (i = 0; i < MEMORY / PAGE_SIZE; i++) {
		twin = f->vdev->twins[i];
		if (twin && memcmp(twin->words, f->room + FENCE + i * PAGE_SIZE,
				   PAGE_SIZE))
			return false;
	}
	return true;
}

static bool map_is(const unsigned long *map, const u8 *wanted)
{
	u32 i;

	for (i = 0; i < WORDS; i++)
		if (test_bit(i, map) != wanted[i])
			return false;
	return true;
}

static u64 staged_ranges(const struct fuzz *f)
{
	const unsigned long *map = f->link->direct.staged;
	u64 ranges = 0;
	u32 i;

	for (i = 0; i < 64; i += BITS_PER_LONG)
		ranges |= (u64)map[i / BITS_PER_LONG] << i;
	return ranges;
}

/*
 * Check the result of a message. Comparing the maps takes long, so do it for
 * some messages only.
 */
static void judge(struct kunit *test, struct fuzz *f, u32 n)
{
	KUNIT_ASSERT_TRUE_MSG(test, memory_is_right(f), "message %u", n);
	KUNIT_ASSERT_EQ_MSG(test, fuzz_returned, n + 1,
			    "message %u: returned once", n);
	KUNIT_ASSERT_EQ_MSG(test, staged_ranges(f), f->map, "message %u", n);
	KUNIT_ASSERT_EQ_MSG(test, f->link->direct.answered, f->answered,
			    "message %u", n);
	if (n % 64)
		return;
	KUNIT_ASSERT_TRUE_MSG(test, twins_are_right(f), "message %u", n);
	KUNIT_ASSERT_TRUE_MSG(test, map_is(f->vdev->own, f->own),
			      "message %u", n);
	KUNIT_ASSERT_TRUE_MSG(test, map_is(f->vdev->live, f->live),
			      "message %u", n);
}

/* Change the own words of this node, and whether it loads from the peer. */
static void change_maps(struct fuzz *f)
{
	u32 word = below(f, WORDS), n = below(f, WORDS - word);

	f->vdev->resync.kind = VRFM_RESYNC_SAME;
	f->vdev->resync.donor = one_of(f, 2) ? f->link : NULL;
	memset(f->live, 0, sizeof(f->live));
	bitmap_zero(f->vdev->live, WORDS);
	memset(f->own + word, 1, n);
	bitmap_set(f->vdev->own, word, n);
}

static void one(struct kunit *test, struct fuzz *f, u32 n)
{
	bool written = one_of(f, 500), good;

	make(f);
	if (below(f, 3))
		spoil(f);
	if (one_of(f, 100))
		change_maps(f);
	good = !written && right(f, f->msg, f->len);
	receive(test, f, written);
	KUNIT_ASSERT_EQ_MSG(test, f->link->rx.bad, !good,
			    "message %u of type %u and %u bytes is taken if valid",
			    n, f->msg[0], f->len);
	if (good)
		expect_right(f, f->msg);
	judge(test, f, n);
	if (good)
		return;
	f->refused++;
	/* The connection is closed; later messages are ignored. */
	receive(test, f, false);
	fuzz_returned--;
	judge(test, f, n);
	link_anew(f);
}

/*
 * Split the test into parts. If one task waited for the whole test, the kernel
 * would report it as hung.
 */
static const u32 fuzz_parts[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 };

static void describe_part(const u32 *part, char *text)
{
	snprintf(text, KUNIT_PARAM_DESC_SIZE, "part %u", *part);
}

KUNIT_ARRAY_PARAM(part, fuzz_parts, describe_part);

static void random_messages_change_memory_if_valid(struct kunit *test)
{
	const u32 *part = test->param_value;
	u32 messages = fuzz_messages / ARRAY_SIZE(fuzz_parts);
	struct fuzz *f = test->priv;
	u32 n, type;

	if (!fuzz_seed)
		fuzz_seed = get_random_u32();
	kunit_info(test, "seed %lu, %u messages\n", fuzz_seed, messages);
	prandom_seed_state(&f->random, fuzz_seed + *part);
	fuzz_returned = 0;
	fuzz_disconnects = 0;
	fuzz_faults = 0;
	fuzz_events = 0;
	for (n = 0; n < messages; n++) {
		one(test, f, n);
		if (n % 256 == 0)
			cond_resched();
	}
	KUNIT_EXPECT_EQ(test, fuzz_wrong_events, 0U);
	KUNIT_EXPECT_EQ(test, fuzz_disconnects, f->refused);
	KUNIT_EXPECT_EQ(test, f->link->counts.protocol, (u64)f->refused);
	KUNIT_EXPECT_EQ(test, fuzz_faults, f->refused);
	KUNIT_EXPECT_GT(test, fuzz_events, 0U);
	KUNIT_EXPECT_GT(test, f->refused, messages / 3);
	/* Check that there are valid messages of each type. */
	for (type = VRFM_WIRE_ACK; type < VRFM_WIRE_TYPES; type++)
		KUNIT_EXPECT_GT_MSG(test, f->taken[type], messages / 200,
				    "valid messages of type %u", type);
}

/* ---- one rule each ---- */

/*
 * Return the data of the events that were raised since the last call of this
 * function, one byte for each event.
 */
static u64 raised(void)
{
	u64 events = fuzz_last_events;

	fuzz_last_events = 0;
	return events;
}

static void say_event(struct kunit *test, u64 number, u8 flags)
{
	const struct vrfm_wired_event event = {
		.event = RFM2G_EVENT_INTR1, .data = number, .number = number,
	};
	struct fuzz *f = test->priv;
	struct vrfm_pack pack;

	vrfm_pack_begin(&pack, f->msg, ROOM);
	vrfm_pack_event(&pack, &event);
	say(test, f, &pack, VRFM_WIRE_EVENT, flags);
}

static void say_update(struct kunit *test, u32 offset, const char *text)
{
	struct fuzz *f = test->priv;
	struct vrfm_pack pack;

	vrfm_pack_begin(&pack, f->msg, ROOM);
	vrfm_pack_run(&pack, offset, text, strlen(text));
	say(test, f, &pack, VRFM_WIRE_UPDATE, 0);
}

static void event_is_raised_behind_runs_of_its_message(struct kunit *test)
{
	const struct vrfm_wired_event event = { .data = 2, .number = 2 };
	struct fuzz *f = test->priv;
	struct vrfm_pack pack;

	raised();
	say_event(test, 1, 0);
	KUNIT_EXPECT_EQ(test, raised(), 0ULL);
	vrfm_pack_begin(&pack, f->msg, ROOM);
	vrfm_pack_run(&pack, 8, "first", 5);
	vrfm_pack_run(&pack, 64, "second", 6);
	vrfm_pack_event(&pack, &event);
	say(test, f, &pack, VRFM_WIRE_EVENT, VRFM_WIRE_SYNCED);
	KUNIT_EXPECT_EQ(test, raised(), 0x0102ULL);
	KUNIT_EXPECT_EQ(test, memcmp(f->room + FENCE + 8, "first", 6), 0);
	KUNIT_EXPECT_EQ(test, memcmp(f->room + FENCE + 64, "second", 7), 0);
}

static void event_is_raised_once(struct kunit *test)
{
	raised();
	say_event(test, 1, VRFM_WIRE_SYNCED);
	say_event(test, 2, VRFM_WIRE_SYNCED);
	say_event(test, 2, VRFM_WIRE_SYNCED);
	say_event(test, 1, VRFM_WIRE_SYNCED);
	KUNIT_EXPECT_EQ(test, raised(), 0x0102ULL);
	/*
	 * An event that is not acknowledged is sent again on the next
	 * connection.
	 */
	link_anew(test->priv);
	say_event(test, 2, VRFM_WIRE_SYNCED);
	say_event(test, 3, VRFM_WIRE_SYNCED);
	KUNIT_EXPECT_EQ(test, raised(), 0x03ULL);
}

static void events_of_peer_behind_are_held_until_synced(struct kunit *test)
{
	raised();
	say_event(test, 1, 0);
	say_event(test, 2, 0);
	say_update(test, 0, "a write before the events");
	KUNIT_EXPECT_EQ(test, raised(), 0ULL);
	/*
	 * Held events are raised in order, before the event that ends the hold.
	 */
	say_event(test, 3, VRFM_WIRE_SYNCED);
	KUNIT_EXPECT_EQ(test, raised(), 0x010203ULL);
	say_event(test, 4, VRFM_WIRE_SYNCED);
	KUNIT_EXPECT_EQ(test, raised(), 0x04ULL);
	/* The peer falls behind again. */
	say_event(test, 5, 0);
	KUNIT_EXPECT_EQ(test, raised(), 0ULL);
}

static void held_events_are_bounded(struct kunit *test)
{
	struct fuzz *f = test->priv;
	u32 i;

	raised();
	for (i = 1; i <= VRFM_QUEUE_DEPTH + 3; i++)
		say_event(test, i, 0);
	KUNIT_EXPECT_EQ(test, f->link->rx.nheld, (u32)VRFM_QUEUE_DEPTH);
	KUNIT_EXPECT_EQ(test, f->link->counts.events_dropped, 3ULL);
	KUNIT_EXPECT_EQ(test, raised(), 0ULL);
}

static void own_word_moves_to_last_writer(struct kunit *test)
{
	struct fuzz *f = test->priv;

	bitmap_set(f->vdev->own, 0, 16);
	say_update(test, 4, "12345");
	KUNIT_EXPECT_TRUE(test, test_bit(0, f->vdev->own));
	KUNIT_EXPECT_FALSE(test, test_bit(1, f->vdev->own));
	KUNIT_EXPECT_FALSE(test, test_bit(2, f->vdev->own));
	KUNIT_EXPECT_TRUE(test, test_bit(3, f->vdev->own));
}

static void received_update_is_not_taken_for_store(struct kunit *test)
{
	struct fuzz *f = test->priv;

	say_update(test, 100, "an update of a page that programs store into");
	say_update(test, PAGE_SIZE - 8, "an update across the end of that page");
	KUNIT_EXPECT_TRUE(test, twins_are_right(f));
}

static u64 serial_of(struct fuzz *f, u64 sequence)
{
	return f->link->window.slots[sequence % VRFM_SLOTS].serial;
}

/*
 * Check whether the message has the flag DIRECT: it has a part of a write, and
 * a later message completes this write.
 */
static bool has_a_part(struct fuzz *f, u64 sequence)
{
	return f->link->window.slots[sequence % VRFM_SLOTS].flags &
	       VRFM_WIRE_DIRECT;
}

static void write_block(struct fuzz *f, u32 len)
{
	f->vdev->serial++;
	locked(f, vrfm_link_update(f->link, 0, f->room + FENCE, len, NULL));
}

/* Two peers that have different parts of a write must not count as equal. */
static void only_end_of_write_has_its_serial(struct kunit *test)
{
	struct fuzz *f = test->priv;

	f->vdev->serial = 9;
	write_block(f, MEMORY);
	KUNIT_ASSERT_EQ(test, f->link->window.opened, SENT + 3ULL);
	KUNIT_EXPECT_EQ(test, serial_of(f, SENT + 1), 9ULL);
	KUNIT_EXPECT_EQ(test, serial_of(f, SENT + 2), 9ULL);
	KUNIT_EXPECT_EQ(test, serial_of(f, SENT + 3), 10ULL);
	KUNIT_EXPECT_TRUE(test, has_a_part(f, SENT + 1));
	KUNIT_EXPECT_TRUE(test, has_a_part(f, SENT + 2));
	KUNIT_EXPECT_FALSE(test, has_a_part(f, SENT + 3));
	/*
	 * The third message ends with a complete write. It also has room for
	 * the beginning of the next write.
	 */
	write_block(f, 4);
	KUNIT_EXPECT_EQ(test, serial_of(f, SENT + 3), 11ULL);
	write_block(f, VRFM_SLOT_SIZE);
	KUNIT_ASSERT_EQ(test, f->link->window.opened, SENT + 4ULL);
	KUNIT_EXPECT_EQ(test, serial_of(f, SENT + 3), 11ULL);
	KUNIT_EXPECT_EQ(test, serial_of(f, SENT + 4), 12ULL);
	KUNIT_EXPECT_TRUE(test, has_a_part(f, SENT + 3));
	KUNIT_EXPECT_FALSE(test, has_a_part(f, SENT + 4));
}

static void say_pull(struct kunit *test, u32 first)
{
	const struct vrfm_head head = { .type = VRFM_WIRE_PULL };
	struct fuzz *f = test->priv;
	struct vrfm_pack pack;

	vrfm_pack_begin(&pack, f->msg, ROOM);
	vrfm_pack_pull(&pack, first, 1);
	vrfm_pack_digest(&pack, vrfm_digest(f->room + FENCE +
					    first * VRFM_WIRE_PAGE));
	vrfm_pack_end(&pack, &head);
	vrfm_rx_pull(f->link, f->msg);
}

static struct kunit *fuzz_asking;

static int complete_at_once(struct krdma_req *req)
{
	struct fuzz *f = fuzz_asking->priv;

	f->link->window.completed++;
	return 0;
}

/*
 * Each message of an answer to a PULL contains several pages, even if the
 * adapter completes each message as soon as it is posted.
 */
static void image_pages_share_messages(struct kunit *test)
{
	const u32 pages = 2 * (VRFM_SLOT_SIZE / VRFM_WIRE_PAGE - 1);
	struct fuzz *f = test->priv;
	u32 i;

	f->link->request.pulled.first = 1;
	for (i = 0; i < pages; i++)
		f->link->request.pulled.digests[i] = 1;
	f->link->request.pulled.count = pages;
	f->link->window.completed = f->link->window.posted;
	fuzz_asking = test;
	fuzz_on_post = complete_at_once;
	vrfm_serve(f->link);
	fuzz_on_post = NULL;
	KUNIT_EXPECT_EQ(test, f->link->request.pulled.count, 0U);
	/*
	 * Two messages contain the pages. The third one is PULLED, which ends
	 * the answer.
	 */
	KUNIT_EXPECT_EQ(test, f->link->window.opened, SENT + 3ULL);
	KUNIT_EXPECT_EQ(test, f->link->window.posted, f->link->window.opened);
}

/*
 * Act as a peer that sends a new PULL as soon as it has received PULLED, which
 * ends the previous answer, and before krdma_post() has returned here.
 */
static int ask_at_once(struct krdma_req *req)
{
	fuzz_on_post = NULL;
	say_pull(fuzz_asking, 3);
	return 0;
}

static void pull_after_answer_is_accepted(struct kunit *test)
{
	struct fuzz *f = test->priv;

	say_pull(test, 2);
	KUNIT_ASSERT_EQ(test, f->link->request.pulled.count, 1U);
	/* A second PULL is ignored while the first one is not answered. */
	say_pull(test, 5);
	KUNIT_ASSERT_EQ(test, f->link->request.pulled.first, 2U);
	fuzz_asking = test;
	fuzz_on_post = ask_at_once;
	vrfm_serve(f->link);
	KUNIT_ASSERT_EQ(test, f->link->window.opened, SENT + 1ULL);
	KUNIT_EXPECT_EQ(test, f->link->request.pulled.count, 1U);
	KUNIT_EXPECT_EQ(test, f->link->request.pulled.first, 3U);
}

/* A PULL is answered only when the window has room. */
static void pull_without_room_is_answered_later(struct kunit *test)
{
	struct fuzz *f = test->priv;

	say_pull(test, 2);
	f->link->window.opened = VRFM_SLOTS;
	vrfm_serve(f->link);
	KUNIT_EXPECT_EQ(test, f->link->request.pulled.count, 1U);
	KUNIT_EXPECT_TRUE(test, f->link->window.wants_room);
	f->link->window.opened = SENT;
	vrfm_serve(f->link);
	KUNIT_EXPECT_EQ(test, f->link->request.pulled.count, 0U);
	KUNIT_EXPECT_EQ(test, f->link->window.opened, SENT + 1ULL);
}

/* Fill the window while the peer catches up. */
static void fill_window(struct fuzz *f)
{
	f->link->state = VRFM_SYNCING;
	f->link->window.opened = f->link->window.acked + VRFM_SLOTS;
}

static void send_events(struct fuzz *f, u32 n)
{
	while (n--) {
		f->vdev->event_number++;
		locked(f, vrfm_link_event(f->link, RFM2G_EVENT_INTR1, f->vdev->event_number));
	}
}

static void events_to_peer_behind_wait_for_room(struct kunit *test)
{
	struct fuzz *f = test->priv;

	fill_window(f);
	send_events(f, 3);
	KUNIT_EXPECT_EQ(test, f->link->backlog.n, 3U);
	/*
	 * When the window has room again, a new event must not overtake the
	 * events that wait.
	 */
	f->link->window.opened = SENT;
	send_events(f, 1);
	KUNIT_EXPECT_EQ(test, f->link->window.opened, (u64)SENT);
	f->link->state = VRFM_READY;
	KUNIT_EXPECT_FALSE(test, locked(f, vrfm_link_has_room(f->link, 0)));
	locked(f, vrfm_link_events(f->link));
	KUNIT_EXPECT_EQ(test, f->link->window.opened, SENT + 4ULL);
	KUNIT_EXPECT_EQ(test, vrfm_slot(f->link, SENT + 4)->event.data, 4U);
	KUNIT_EXPECT_TRUE(test, locked(f, vrfm_link_has_room(f->link, 0)));
}

static void waiting_events_are_bounded(struct kunit *test)
{
	struct fuzz *f = test->priv;

	fill_window(f);
	send_events(f, VRFM_QUEUE_DEPTH + 5);
	KUNIT_EXPECT_EQ(test, f->link->backlog.n, (u32)VRFM_QUEUE_DEPTH);
	KUNIT_EXPECT_EQ(test, f->link->counts.events_dropped, 5ULL);
}

/*
 * Events that were in flight are sent again, before events that were waiting.
 */
static void unacknowledged_events_are_resent_in_order(struct kunit *test)
{
	struct fuzz *f = test->priv;
	u32 i, under_way;

	under_way = locked(f, vrfm_link_free_locked(f->link));
	send_events(f, under_way);
	f->link->state = VRFM_SYNCING;
	send_events(f, VRFM_QUEUE_DEPTH);
	f->link->state = VRFM_DOWN;
	locked(f, vrfm_link_events_again(f->link));
	KUNIT_ASSERT_EQ(test, f->link->backlog.n, under_way + VRFM_QUEUE_DEPTH);
	for (i = 0; i < f->link->backlog.n; i++)
		KUNIT_EXPECT_EQ(test, f->link->backlog.events[i].number,
				i + 1ULL);
}

static unsigned int fuzz_writes;

static int refuse_writes(struct krdma_req *req)
{
	if (req->opcode != KRDMA_WRITE)
		return 0;
	fuzz_writes++;
	return -ENOMEM;
}

/*
 * Write a block that needs two messages, with @free messages left in the
 * window.
 */
static void write_with(struct kunit *test, u32 free)
{
	struct fuzz *f = test->priv;
	struct vrfm_block *block = vrfm_block_alloc(VRFM_SLOT_SIZE);

	KUNIT_ASSERT_NOT_NULL(test, block);
	link_anew(f);
	f->link->window.acked = SENT;
	f->link->window.opened += VRFM_SLOTS - free;
	f->link->window.posted = f->link->window.opened;
	f->link->window.completed = f->link->window.opened;
	/*
	 * Any address that is not NULL will do, because the pointer is not
	 * dereferenced here.
	 */
	f->link->direct.remote = (struct krdma_remote *)f;
	KUNIT_EXPECT_TRUE(test, locked(f, vrfm_link_has_room(f->link, VRFM_SLOT_SIZE)));
	f->vdev->serial++;
	memset(block->bytes, 0, VRFM_SLOT_SIZE);
	locked(f, vrfm_link_update(f->link, 0, block->bytes, VRFM_SLOT_SIZE, block));
	f->link->direct.remote = NULL;
	/*
	 * The link must request an acknowledgment at once, because the next
	 * direct write waits until all updates are acknowledged.
	 */
	KUNIT_EXPECT_NE(test, f->link->direct.answers, 0U);
	KUNIT_EXPECT_EQ(test, refcount_read(&block->refs), 1U);
	vrfm_block_put(block);
}

/*
 * If krdma refuses the direct write of a block, the block is sent by messages.
 * They must fit into the room of the window that was reserved for the block.
 */
static void failed_direct_block_is_sent_in_reserved_room(struct kunit *test)
{
	struct fuzz *f = test->priv;

	fuzz_on_post = refuse_writes;
	fuzz_writes = 0;
	write_with(test, 2);
	KUNIT_EXPECT_EQ(test, f->link->window.opened,
			f->link->window.acked + VRFM_SLOTS);
	KUNIT_EXPECT_EQ(test, fuzz_writes, 0U);
	write_with(test, 3);
	KUNIT_EXPECT_EQ(test, f->link->window.opened,
			f->link->window.acked + VRFM_SLOTS);
	KUNIT_EXPECT_EQ(test, fuzz_writes, 1U);
}

/*
 * Let a program store into the first range. Return whether the range is staged:
 * whether no peer writes there directly any more.
 */
static bool stages(struct fuzz *f)
{
	bool ready = vrfm_stage_try(f->vdev, 0);

	if (ready)
		vrfm_stage_unpin(f->vdev, 0, 0);
	vrfm_stage_work(&f->vdev->stage.work.work);
	return ready;
}

/*
 * Set up the device as if it had registered its memory for the peer, so that
 * the peer may write directly.
 */
static struct vrfm_stage *stage_shown(struct kunit *test)
{
	struct fuzz *f = test->priv;

	vrfm_stage_init(f->vdev);
	KUNIT_ASSERT_EQ(test, vrfm_stage_alloc(f->vdev), 0);
	f->vdev->stage.nshown = 1;
	f->link->direct.shown = VRFM_SHOWN;
	return &f->vdev->stage;
}

static void store_waits_while_peer_may_write(struct kunit *test)
{
	struct vrfm_stage *stage = stage_shown(test);
	struct fuzz *f = test->priv;

	/*
	 * Any address that is not NULL will do, because the pointer is not
	 * dereferenced here.
	 */
	f->link->direct.region = (struct krdma_region *)f;
	KUNIT_EXPECT_FALSE(test, stages(f));
	KUNIT_EXPECT_EQ(test, f->link->direct.told, stage->number);
	KUNIT_EXPECT_FALSE(test, stages(f));
	/* The peer is removed while it is still connected. */
	list_del_init(&f->link->entry);
	KUNIT_EXPECT_FALSE(test, stages(f));
	KUNIT_EXPECT_FALSE(test, stages(f));
	locked(f, vrfm_direct_down(f->link));
	KUNIT_EXPECT_TRUE(test, stages(f));
	vrfm_stage_free(f->vdev);
}

static void store_continues_after_answer_of_peer(struct kunit *test)
{
	struct vrfm_stage *stage = stage_shown(test);
	struct fuzz *f = test->priv;

	KUNIT_EXPECT_FALSE(test, stages(f));
	f->link->direct.answered = stage->number;
	KUNIT_EXPECT_FALSE(test, stages(f));
	KUNIT_EXPECT_TRUE(test, stages(f));
	vrfm_stage_free(f->vdev);
}

static bool told(struct fuzz *f)
{
	vrfm_stage_work(&f->vdev->stage.work.work);
	return test_bit(0, f->vdev->stage.told);
}

/*
 * Simulate a range whose last use was half a second ago, with two values of
 * unstage_ms.
 */
static void range_without_user_is_unstaged_after_unstage_ms(struct kunit *test)
{
	struct vrfm_stage *stage = stage_shown(test);
	struct fuzz *f = test->priv;

	f->vdev->params.unstage_ms = 10000;
	KUNIT_EXPECT_FALSE(test, stages(f));
	f->link->direct.answered = stage->number;
	KUNIT_EXPECT_TRUE(test, told(f));
	stage->used[0] = (u32)jiffies - HZ / 2;
	KUNIT_EXPECT_TRUE(test, told(f));
	f->vdev->params.unstage_ms = 100;
	KUNIT_EXPECT_FALSE(test, told(f));
	vrfm_stage_free(f->vdev);
}

/* Tasks that wait for the peer are woken when it is left behind. */
static void leaving_peer_behind_wakes_waiters(struct kunit *test)
{
	struct fuzz *f = test->priv;
	int changes = atomic_read(&f->vdev->room_changes);

	locked(f, vrfm_link_overloaded(f->link));
	KUNIT_EXPECT_EQ(test, (int)f->link->state, (int)VRFM_SYNCING);
	KUNIT_EXPECT_NE(test, atomic_read(&f->vdev->room_changes), changes);
}

/*
 * The window is full, so the peer is notified only after it has acknowledged a
 * message.
 */
static void peer_left_behind_is_notified_at_free_slot(struct kunit *test)
{
	struct fuzz *f = test->priv;
	struct vrfm_link *link = f->link;
	u64 opened;

	link->window.opened = link->window.acked + VRFM_SLOTS;
	link->window.posted = link->window.opened;
	link->window.completed = link->window.opened;
	link->report.info.kind = VRFM_NOTE_INFO;
	locked(f, vrfm_link_overloaded(link));
	opened = link->window.opened;
	locked(f, vrfm_catchup_step_locked(link));
	KUNIT_EXPECT_EQ(test, link->window.opened, opened);
	link->window.acked = opened;
	locked(f, vrfm_catchup_step_locked(link));
	KUNIT_ASSERT_EQ(test, link->window.opened, opened + 1);
	KUNIT_EXPECT_EQ(test, (int)vrfm_slot(link, link->window.opened)->type,
			(int)VRFM_WIRE_PROBE);
	KUNIT_EXPECT_FALSE(test, vrfm_slot(link, link->window.opened)->flags &
				 VRFM_WIRE_SYNCED);
	locked(f, vrfm_catchup_step_locked(link));
	KUNIT_EXPECT_EQ(test, link->window.opened, opened + 1);
}

/* The log line is left to a work, because the write lock is held here. */
static void leaving_peer_behind_raises_event(struct kunit *test)
{
	struct fuzz *f = test->priv;

	fuzz_behind = 0;
	locked(f, vrfm_link_overloaded(f->link));
	KUNIT_EXPECT_EQ(test, fuzz_behind, 1U);
	KUNIT_EXPECT_EQ(test, f->link->log.lines, BIT(VRFM_SAY_BEHIND));
}

static void say_probe(struct kunit *test, struct fuzz *f, u8 flags)
{
	struct vrfm_pack pack;

	vrfm_pack_begin(&pack, f->msg, sizeof(f->msg));
	say(test, f, &pack, VRFM_WIRE_PROBE, flags);
}

static void status_page_has_fields_of_peer(struct kunit *test)
{
	struct fuzz *f = test->priv;
	struct vrfm_status_peer *peer = &f->vdev->status->peers[2];
	const u64 began = ktime_get_ns();

	f->vdev->resync.state = VRFM_RESYNC_IDLE;
	vrfm_status_add(f->link);
	KUNIT_EXPECT_EQ(test, peer->flags, VRFM_STATUS_PRESENT);
	KUNIT_EXPECT_EQ(test, peer->heard_ns, 0ULL);
	say_probe(test, f, VRFM_WIRE_SYNCED);
	KUNIT_EXPECT_EQ(test, peer->flags,
			VRFM_STATUS_PRESENT | VRFM_PEER_SYNCED);
	KUNIT_EXPECT_GE(test, peer->heard_ns, began);
	KUNIT_EXPECT_EQ(test, peer->lag, (u32)SENT);
	say_probe(test, f, 0);
	KUNIT_EXPECT_EQ(test, peer->flags, VRFM_STATUS_PRESENT);
	KUNIT_EXPECT_EQ(test, peer->left, 1ULL);
	locked(f, vrfm_link_overloaded(f->link));
	KUNIT_EXPECT_EQ(test, peer->state, (u32)VRFM_PEER_SYNCING);
	KUNIT_EXPECT_EQ(test, peer->overloads, 1ULL);
	KUNIT_EXPECT_EQ(test, peer->seq % 2, 0U);
	vrfm_status_remove(f->link);
	KUNIT_EXPECT_EQ(test, peer->flags, 0U);
	f->vdev->resync.state = VRFM_RESYNC_SWEEPING;
}

static void node_left_behind_raises_fault_once(struct kunit *test)
{
	struct fuzz *f = test->priv;

	f->vdev->resync.state = VRFM_RESYNC_IDLE;
	fuzz_left = 0;
	say_probe(test, f, 0);
	KUNIT_EXPECT_EQ(test, fuzz_left, 0U);
	say_probe(test, f, VRFM_WIRE_SYNCED);
	say_probe(test, f, 0);
	say_probe(test, f, 0);
	KUNIT_EXPECT_EQ(test, fuzz_left, 1U);
	KUNIT_EXPECT_EQ(test, f->link->log.lines, BIT(VRFM_SAY_LEFT));
	f->vdev->resync.state = VRFM_RESYNC_SWEEPING;
	/*
	 * While this node loads an image, peers leave it behind at its own
	 * request. So it raises no fault.
	 */
	say_probe(test, f, VRFM_WIRE_SYNCED);
	say_probe(test, f, 0);
	KUNIT_EXPECT_EQ(test, fuzz_left, 1U);
	KUNIT_EXPECT_FALSE(test, f->link->rx.synced);
}

static u8 flags_of_last_post(void)
{
	const struct vrfm_wire_head *head = fuzz_posted->local.virt;

	return head->flags;
}

/*
 * A block that was written directly is followed by updates. They must be
 * acknowledged at once, because the next block can be written directly only
 * after that.
 */
static void update_behind_block_is_acknowledged_at_once(struct kunit *test)
{
	struct fuzz *f = test->priv;
	const u32 word = 7;
	u32 i;

	f->link->window.acked = f->link->window.opened;
	locked(f, vrfm_link_update(f->link, 0, &word, sizeof(word), NULL));
	KUNIT_EXPECT_FALSE(test, flags_of_last_post() & VRFM_WIRE_ANSWER);
	f->link->direct.answers = 2;
	for (i = 0; i < 3; i++) {
		f->link->window.completed = f->link->window.opened;
		f->link->window.acked = f->link->window.opened;
		locked(f, vrfm_link_update(f->link, 0, &word, sizeof(word), NULL));
		KUNIT_EXPECT_EQ(test, !!(flags_of_last_post() & VRFM_WIRE_ANSWER),
				i < 2);
	}
}

/*
 * While the penalty of a peer that was left behind lasts, a write must not
 * queue the work that sends missed words. Otherwise this work would take the
 * write lock for each write.
 */
static void peer_left_behind_is_not_scheduled_by_writes(struct kunit *test)
{
	struct fuzz *f = test->priv;
	const u32 word = 7;

	locked(f, vrfm_link_overloaded(f->link));
	fuzz_kicks = 0;
	locked(f, vrfm_link_update(f->link, 64, &word, sizeof(word), NULL));
	KUNIT_EXPECT_EQ(test, fuzz_kicks, 0U);
	KUNIT_EXPECT_EQ(test, f->link->missed.map.set, 1U);
	f->link->overload.hold_until = jiffies;
	locked(f, vrfm_link_update(f->link, 68, &word, sizeof(word), NULL));
	KUNIT_EXPECT_EQ(test, fuzz_kicks, 1U);
}

static int barrier_at_once(struct fuzz *f)
{
	struct vrfm_wait wait = { .nowait = true };

	return vrfm_scan_own(f->vdev, &wait);
}

/*
 * While another call waits for room, a non-blocking call gets no room. So it
 * fails if the page has changed, because sending the change needs room.
 */
static void flush_needs_room_for_changed_page_only(struct kunit *test)
{
	struct fuzz *f = test->priv;
	struct vrfm_twin *twin = f->vdev->twins[0];
	u32 *word = f->vdev->mem.vaddr;

	f->vdev->params.overload_us = 60000000;
	twin->family = &f->vdev->common;
	list_add(&twin->kin, &f->vdev->common.twins);
	memcpy(twin->words, word, PAGE_SIZE);
	atomic_set(&f->vdev->ntwins, 1);
	atomic_inc(&f->vdev->waiting);
	KUNIT_EXPECT_EQ(test, barrier_at_once(f), 0);
	KUNIT_EXPECT_EQ(test, twin->compared, 1ULL);
	++*word;
	KUNIT_EXPECT_EQ(test, barrier_at_once(f), -EAGAIN);
	KUNIT_EXPECT_EQ(test, twin->compared, 1ULL);
	atomic_dec(&f->vdev->waiting);
	KUNIT_EXPECT_EQ(test, barrier_at_once(f), 0);
	KUNIT_EXPECT_EQ(test, twin->words[0], *word);
}

/* ---- priorities and locks of writers ---- */

/* Fill the window of a peer that acknowledges no message. */
static void window_full(struct fuzz *f, u32 overload_us)
{
	f->vdev->params.overload_us = overload_us;
	f->vdev->params.direct_min = SZ_1M;
	f->link->window.opened = f->link->window.acked + VRFM_SLOTS;
	f->link->window.posted = f->link->window.opened;
	f->link->window.completed = f->link->window.opened;
}

/**
 * struct writer - a task that writes
 * @vdev: device
 * @ret: result of the write
 * @over: completed when the task has written
 */
struct writer {
	struct vrfm_dev *vdev;
	int ret;
	struct completion over;
};

static int write_once(void *arg)
{
	struct vrfm_wait wait = vrfm_wait_begin(false);
	struct writer *writer = arg;

	writer->ret = vrfm_write_lock(writer->vdev, 4, &wait);
	if (!writer->ret)
		rt_mutex_unlock(&writer->vdev->write_lock);
	kthread_complete_and_exit(&writer->over, 0);
}

/* Start a writer, and wait until N writers wait for room. */
static struct task_struct *writer_start(struct kunit *test,
					struct writer *writer, bool fifo, int n)
{
	struct fuzz *f = test->priv;
	struct task_struct *task;
	unsigned int i;

	writer->vdev = f->vdev;
	init_completion(&writer->over);
	task = kthread_create(write_once, writer, "vrfm_writer");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	get_task_struct(task);
	if (fifo)
		sched_set_fifo(task);
	wake_up_process(task);
	for (i = 0; i < 2000 && atomic_read(&f->vdev->waiting) < n; i++)
		usleep_range(1000, 2000);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->vdev->waiting), n);
	/* The writer that has its turn holds the lock a moment later. */
	for (i = 0; i < 2000 && !fuzz_is_locked(&f->vdev->waiter_lock); i++)
		usleep_range(1000, 2000);
	return task;
}

static void writer_end(struct kunit *test, struct writer *writer,
		       struct task_struct *task)
{
	wait_for_completion(&writer->over);
	put_task_struct(task);
	KUNIT_EXPECT_EQ(test, writer->ret, 0);
}

/*
 * Wait some seconds until a task gets a real-time priority. Return whether it
 * has.
 */
static bool gets_fifo(struct task_struct *task)
{
	unsigned int i;

	for (i = 0; i < 2000 && !rt_prio(READ_ONCE(task->prio)); i++)
		usleep_range(1000, 2000);
	return rt_prio(READ_ONCE(task->prio));
}

/*
 * A writer of normal priority waits for room. A writer of a real-time priority
 * waits until the first one has its room.
 */
static void writer_in_turn_inherits_priority(struct kunit *test)
{
	struct writer low = { }, high = { };
	struct task_struct *first, *second;
	struct fuzz *f = test->priv;

	window_full(f, 60000000);
	first = writer_start(test, &low, false, 1);
	second = writer_start(test, &high, true, 2);
	KUNIT_EXPECT_TRUE(test, gets_fifo(first));
	rt_mutex_lock(&f->vdev->write_lock);
	vrfm_link_overloaded(f->link);
	rt_mutex_unlock(&f->vdev->write_lock);
	writer_end(test, &low, first);
	writer_end(test, &high, second);
}

/**
 * struct look - a task that takes vrfm_dev.write_lock once
 * @link: link
 * @missed: number of missed words while the task holds the lock
 * @over: completed when the task has released the lock
 */
struct look {
	struct vrfm_link *link;
	u32 missed;
	struct completion over;
};

static int look_once(void *arg)
{
	struct look *look = arg;

	rt_mutex_lock(&look->link->vdev->write_lock);
	look->missed = look->link->missed.map.set;
	rt_mutex_unlock(&look->link->vdev->write_lock);
	kthread_complete_and_exit(&look->over, 0);
}

/* Put four updates of a word each into four messages. */
static void four_messages(struct fuzz *f)
{
	u32 i;

	for (i = 0; i < 4; i++) {
		f->vdev->serial++;
		locked(f, vrfm_link_update(f->link, 64 * i, &i, sizeof(i), NULL));
		vrfm_slot(f->link, f->link->window.opened)->closed = true;
	}
}

/*
 * The link goes down, and records the words of each message as missed in a step
 * of its own. A writer that waits for the lock gets it after the first message.
 */
static void link_down_lets_writers_in_between(struct kunit *test)
{
	struct look look = { };
	struct fuzz *f = test->priv;
	struct task_struct **owner = &f->vdev->write_lock.rtmutex.owner;
	struct task_struct *task;
	unsigned int i;

	look.link = f->link;
	init_completion(&look.over);
	f->link->window.acked = f->link->window.opened;
	four_messages(f);
	KUNIT_ASSERT_EQ(test, f->link->window.opened,
			f->link->window.acked + 4);
	f->link->missed.lost = false;
	f->link->state = VRFM_DOWN;
	rt_mutex_lock(&f->vdev->write_lock);
	task = kthread_create(look_once, &look, "vrfm_look");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	get_task_struct(task);
	wake_up_process(task);
	/* Bit 0 of the owner is set if a task waits for the lock. */
	for (i = 0; i < 2000 && !((long)READ_ONCE(*owner) & 1); i++)
		usleep_range(1000, 2000);
	vrfm_link_miss_slots(f->link);
	rt_mutex_unlock(&f->vdev->write_lock);
	wait_for_completion(&look.over);
	put_task_struct(task);
	KUNIT_EXPECT_EQ(test, f->link->missed.map.set, 4U);
	KUNIT_EXPECT_LT(test, look.missed, 4U);
}

/* ---- lines of the log ---- */

static bool says(struct fuzz *f, enum vrfm_say what)
{
	return test_and_clear_bit(what, &f->link->log.lines);
}

/*
 * A slow console would stop the receive path, or all writers. So these paths
 * only mark the line, and a work prints it.
 */
static void receive_path_only_marks_lines_of_log(struct kunit *test)
{
	struct fuzz *f = test->priv;
	struct vrfm_stage *stage = stage_shown(test);

	stages(f);
	stage->deadline = jiffies - 1;
	KUNIT_EXPECT_FALSE(test, says(f, VRFM_SAY_UNANSWERED));
	vrfm_stage_work(&stage->work.work);
	KUNIT_EXPECT_TRUE(test, says(f, VRFM_SAY_UNANSWERED));
	vrfm_resync_mark_late(f->vdev, f->link, true);
	KUNIT_EXPECT_TRUE(test, says(f, VRFM_SAY_NO_IMAGE));
	KUNIT_EXPECT_FALSE(test, says(f, VRFM_SAY_BAD));
	f->len = 3;
	receive(test, f, false);
	KUNIT_EXPECT_TRUE(test, says(f, VRFM_SAY_BAD));
	vrfm_stage_free(f->vdev);
}

/* ---- held pages ---- */

/*
 * The step of the check, counted from 1, before which another program maps or
 * unmaps the page.
 */
static int race_at, race_steps;
static bool race_maps;

static void race(struct page *page)
{
	if (++race_steps != race_at)
		return;
	fuzz_tables += race_maps ? 1 : -1;
	page_ref_add(page, race_maps ? 1 : -1);
}

/*
 * Check if a page with two programs and HOLDERS other references counts as
 * held.
 */
static bool is_held(struct fuzz *f, struct page *page, int holders, int at,
		    bool maps)
{
	bool held;

	race_at = at;
	race_steps = 0;
	race_maps = maps;
	fuzz_tables = 2;
	page_ref_add(page, fuzz_tables + holders);
	fuzz_on_tables = race;
	held = vrfm_page_protect(f->vdev, 0);
	fuzz_on_tables = NULL;
	page_ref_sub(page, fuzz_tables + holders);
	return held;
}

/*
 * Only references other than those of the device and page tables are holders.
 */
static void page_with_holder_is_held(struct kunit *test)
{
	struct page *page = alloc_page(GFP_KERNEL);
	struct fuzz *f = test->priv;
	int at;

	KUNIT_ASSERT_NOT_NULL(test, page);
	f->vdev->mem.pages = &page;
	KUNIT_EXPECT_FALSE(test, is_held(f, page, 0, 0, false));
	KUNIT_EXPECT_TRUE(test, is_held(f, page, 1, 0, false));
	/* Another program maps or unmaps the page during the check. */
	for (at = 1; at <= 4; at++) {
		KUNIT_EXPECT_TRUE(test, is_held(f, page, 1, at, true));
		KUNIT_EXPECT_TRUE(test, is_held(f, page, 1, at, false));
	}
	KUNIT_EXPECT_EQ(test, page_count(page), 1);
	f->vdev->mem.pages = NULL;
	__free_page(page);
}

/*
 * A page that is held all the time is write-protected less and less often. It
 * does not count for the limit of writable pages, because it would always use
 * up a part of this limit.
 */
static void held_page_backs_off_and_does_not_count(struct kunit *test)
{
	struct fuzz *f = test->priv;
	struct vrfm_twin *twin = f->vdev->twins[0];
	u64 expected = NSEC_PER_MSEC;
	u32 i;

	twin->counted = true;
	atomic_set(&f->vdev->ncounted, 1);
	for (i = 0; i < 10; i++) {
		vrfm_twin_back_off(f->vdev, twin);
		KUNIT_EXPECT_EQ(test, twin->held_ns, expected);
		KUNIT_EXPECT_GT(test, twin->end_at, ktime_get_ns() - NSEC_PER_SEC);
		expected = min_t(u64, 2 * expected, 100 * NSEC_PER_MSEC);
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&f->vdev->ncounted), 0);
	KUNIT_EXPECT_FALSE(test, twin->counted);
}

/**
 * struct ender - a work that ends a twin, as the scanner does
 * @work: the work
 * @vdev: device
 * @over: completed when the work has ended
 */
struct ender {
	struct work_struct work;
	struct vrfm_dev *vdev;
	struct completion over;
};

static void ender_work(struct work_struct *work)
{
	struct ender *ender = container_of(work, struct ender, work);

	vrfm_twin_end(ender->vdev, ender->vdev->twins[0]);
	complete(&ender->over);
}

/*
 * A fault of a program of low priority holds the lock of the page, and may be
 * preempted. The page has another reference, so its twin stays in any case.
 */
static void scanner_does_not_wait_for_fault(struct kunit *test)
{
	struct page *page = alloc_page(GFP_KERNEL);
	struct fuzz *f = test->priv;
	struct ender ender = { .vdev = f->vdev };

	KUNIT_ASSERT_NOT_NULL(test, page);
	get_page(page);
	fuzz_tables = 0;
	f->vdev->mem.pages = &page;
	INIT_WORK_ONSTACK(&ender.work, ender_work);
	init_completion(&ender.over);
	lock_page(page);
	schedule_work(&ender.work);
	KUNIT_EXPECT_NE(test, wait_for_completion_timeout(&ender.over, 2 * HZ),
			0UL);
	unlock_page(page);
	flush_work(&ender.work);
	destroy_work_on_stack(&ender.work);
	KUNIT_EXPECT_EQ(test, f->vdev->scan_counts.protected, 0ULL);
	vrfm_twin_end(f->vdev, f->vdev->twins[0]);
	KUNIT_EXPECT_EQ(test, f->vdev->scan_counts.protected, 1ULL);
	KUNIT_EXPECT_EQ(test, f->vdev->scan_counts.held, 1ULL);
	KUNIT_EXPECT_FALSE(test, fuzz_protected_locked);
	f->vdev->mem.pages = NULL;
	put_page(page);
	__free_page(page);
}

/**
 * struct proc_reader - a program that reads /proc/rfm2g, sysfs, and VRFM_PEERS
 * @work: work that reads
 * @vdev: device
 * @m: output of /proc/rfm2g
 * @line: output of a file in sysfs, one page
 * @peers: output of VRFM_PEERS about the device
 * @state: output of VRFM_PEERS about the peer
 * @over: completed when the work has read
 */
struct proc_reader {
	struct work_struct work;
	struct vrfm_dev *vdev;
	struct seq_file m;
	char *line;
	struct vrfm_peers peers;
	struct vrfm_peer_state state;
	struct completion over;
};

static void proc_reader_work(struct work_struct *work)
{
	struct proc_reader *reader =
		container_of(work, struct proc_reader, work);

	vrfm_proc_dev(&reader->m, reader->vdev);
	state_show(&reader->vdev->dev, NULL, reader->line);
	peers_show(&reader->vdev->dev, NULL, reader->line);
	peers_lag_show(&reader->vdev->dev, NULL, reader->line);
	vrfm_states_take(reader->vdev, &reader->peers, &reader->state, 1);
	complete(&reader->over);
}

static void proc_reader_does_not_wait_for_writers(struct kunit *test)
{
	struct fuzz *f = test->priv;
	struct proc_reader reader = { .vdev = f->vdev };

	reader.m.buf = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, reader.m.buf);
	reader.m.size = PAGE_SIZE;
	reader.line = (char *)get_zeroed_page(GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, reader.line);
	INIT_WORK_ONSTACK(&reader.work, proc_reader_work);
	init_completion(&reader.over);
	rt_mutex_lock(&f->vdev->write_lock);
	schedule_work(&reader.work);
	KUNIT_EXPECT_NE(test, wait_for_completion_timeout(&reader.over, 2 * HZ),
			0UL);
	rt_mutex_unlock(&f->vdev->write_lock);
	flush_work(&reader.work);
	destroy_work_on_stack(&reader.work);
	KUNIT_EXPECT_NOT_NULL(test, strstr(reader.m.buf, "peer 2 ready"));
	KUNIT_EXPECT_STREQ(test, reader.line, "2 8\n");
	KUNIT_EXPECT_EQ(test, reader.state.node, 2U);
	free_page((unsigned long)reader.line);
}

static int at_once(struct fuzz *f, u32 len)
{
	struct vrfm_wait wait = { .nowait = true };
	int ret = vrfm_write_lock(f->vdev, len, &wait);

	if (!ret)
		rt_mutex_unlock(&f->vdev->write_lock);
	return ret;
}

/*
 * Fill the window of the link except for one message, which is enough for a
 * small block only.
 */
static void link_nearly_full(struct kunit *test)
{
	struct fuzz *f = test->priv;

	f->vdev->params.overload_us = 60000000;
	f->vdev->params.direct_min = SZ_1M;
	f->link->window.opened = f->link->window.acked + VRFM_SLOTS - 1;
	KUNIT_ASSERT_EQ(test, at_once(f, 4), 0);
	KUNIT_ASSERT_EQ(test, at_once(f, SZ_64K), -EAGAIN);
}

static void later(struct fuzz *f, unsigned int ms)
{
	f->vdev->refused_at = ktime_sub_ms(f->vdev->refused_at, ms);
	f->vdev->refused_last = ktime_sub_ms(f->vdev->refused_last, ms);
	f->link->overload.full_since =
		ktime_sub_ms(f->link->overload.full_since, ms);
}

static void large_block_gets_room_beside_small_ones(struct kunit *test)
{
	struct fuzz *f = test->priv;

	link_nearly_full(test);
	later(f, 31000);
	KUNIT_EXPECT_EQ(test, at_once(f, 4), 0);
	KUNIT_EXPECT_EQ(test, at_once(f, SZ_64K), -EAGAIN);
	later(f, 31000);
	/* The block gets room even if other calls wait all the time. */
	atomic_inc(&f->vdev->waiting);
	KUNIT_EXPECT_EQ(test, at_once(f, SZ_64K), 0);
	KUNIT_EXPECT_EQ(test, (int)f->link->state, (int)VRFM_SYNCING);
}

static void refused_writer_that_gave_up_is_forgotten(struct kunit *test)
{
	struct fuzz *f = test->priv;

	link_nearly_full(test);
	later(f, 61000);
	KUNIT_EXPECT_EQ(test, at_once(f, SZ_64K), -EAGAIN);
	KUNIT_EXPECT_EQ(test, at_once(f, 4), 0);
	KUNIT_EXPECT_EQ(test, (int)f->link->state, (int)VRFM_READY);
}

/*
 * Wait for room in the window of a READY link, until the peer is left behind.
 * Return the time of the wait, in us.
 */
static s64 wait_for_room(struct kunit *test)
{
	struct fuzz *f = test->priv;
	struct vrfm_wait wait = vrfm_wait_begin(false);
	ktime_t began = ktime_get();

	f->link->state = VRFM_READY;
	KUNIT_ASSERT_EQ(test, vrfm_write_lock(f->vdev, 4, &wait), 0);
	rt_mutex_unlock(&f->vdev->write_lock);
	KUNIT_EXPECT_EQ(test, (int)f->link->state, (int)VRFM_SYNCING);
	return ktime_us_delta(ktime_get(), began);
}

/* A tick is 4 or 10 ms, so a wait in ticks would be too short or too long. */
static void wait_for_room_is_overload_us_exactly(struct kunit *test)
{
	struct fuzz *f = test->priv;
	unsigned int i, quick = 0;
	s64 us;

	for (i = 0; i < 20; i++) {
		window_full(f, 500);
		us = wait_for_room(test);
		KUNIT_EXPECT_GE(test, us, 500LL);
		quick += us < 3000;
	}
	/*
	 * One quick wait is enough, because other waits may be longer on a busy
	 * machine.
	 */
	KUNIT_EXPECT_GT(test, quick, 0U);
}

/*
 * Wait for a peer that does not acknowledge, as VRFM_FLUSH does. Return the time
 * of the wait, in us.
 */
static s64 flush_us(struct kunit *test, u32 timeout_ms)
{
	struct fuzz *f = test->priv;
	const struct vrfm_mark mark = {
		.link = f->link, .ups = f->link->counts.ups,
		.sequence = f->link->window.acked + 1,
	};
	struct vrfm_flush flush = { .timeout_ms = timeout_ms };
	ktime_t began = ktime_get();

	KUNIT_EXPECT_EQ(test, vrfm_marks_wait(f->vdev, &mark, 1, &flush),
			-ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, flush.behind, 1U);
	return ktime_us_delta(ktime_get(), began);
}

/* A wait in ticks takes 4 ms or more if a tick has 4 ms. */
static void flush_timeout_is_exact(struct kunit *test)
{
	unsigned int i, quick = 0;
	s64 us;

	for (i = 0; i < 20; i++) {
		us = flush_us(test, 1);
		KUNIT_EXPECT_GE(test, us, 1000LL);
		quick += us < 3000;
	}
	KUNIT_EXPECT_GT(test, quick, 0U);
	KUNIT_EXPECT_LT(test, flush_us(test, 0), 1000000LL);
}

/* A watch times out after its timeout, in ms, and not a tick earlier. */
static void watch_timeout_is_exact(struct kunit *test)
{
	struct fuzz *f = test->priv;
	struct vrfm_watch watch = { .length = 4, .timeout_ms = 1 };
	unsigned int i, quick = 0;
	ktime_t began;
	s64 us;

	vrfm_stage_init(f->vdev);
	KUNIT_ASSERT_EQ(test, vrfm_stage_alloc(f->vdev), 0);
	for (i = 0; i < 20; i++) {
		began = ktime_get();
		KUNIT_EXPECT_EQ(test, vrfm_watch(f->vdev, NULL, &watch),
				-ETIMEDOUT);
		us = ktime_us_delta(ktime_get(), began);
		KUNIT_EXPECT_GE(test, us, 1000LL);
		quick += us < 3000;
	}
	KUNIT_EXPECT_GT(test, quick, 0U);
	vrfm_stage_free(f->vdev);
}

/*
 * Simulate a writer that waits for room. It began this step of its wait @ms
 * ago, after earlier steps of @waited_ns. Return whether it leaves the peer
 * behind now.
 */
static bool step_leaves_behind(struct fuzz *f, unsigned int ms, u64 waited_ns)
{
	const struct vrfm_need all = { .len = 4, .node = RFM2G_NODE_ALL };
	struct vrfm_pause pause = {
		.began = ktime_sub_ms(ktime_get(), ms), .waited_ns = waited_ns,
	};
	ktime_t until;

	window_full(f, 60000000);
	f->link->state = VRFM_READY;
	if (!vrfm_write_trylock(f->vdev, &all, &pause, &until))
		return false;
	rt_mutex_unlock(&f->vdev->write_lock);
	return f->link->state == VRFM_SYNCING;
}

static void wait_restarts_for_link_that_fills_up(struct kunit *test)
{
	struct fuzz *f = test->priv;

	KUNIT_EXPECT_FALSE(test, step_leaves_behind(f, 61000, 0));
	f->link->overload.full_since = 0;
	KUNIT_EXPECT_FALSE(test, step_leaves_behind(f, 119000, 0));
	f->link->overload.full_since = 0;
	KUNIT_EXPECT_TRUE(test, step_leaves_behind(f, 120000, 0));
}

static void wait_is_limited_for_full_link(struct kunit *test)
{
	struct fuzz *f = test->priv;

	KUNIT_EXPECT_FALSE(test, step_leaves_behind(f, 59000, 0));
	f->link->overload.full_since = ktime_sub_ms(ktime_get(), 60000);
	KUNIT_EXPECT_TRUE(test, step_leaves_behind(f, 60000, 0));
}

static void wait_includes_earlier_steps(struct kunit *test)
{
	struct fuzz *f = test->priv;

	KUNIT_EXPECT_FALSE(test, step_leaves_behind(f, 0, 59 * NSEC_PER_SEC));
	f->link->overload.full_since = 0;
	KUNIT_EXPECT_TRUE(test, step_leaves_behind(f, 0, 60 * NSEC_PER_SEC));
}

struct waker {
	struct delayed_work work;
	wait_queue_head_t wait;
	bool woken;
};

static void wake_late(struct work_struct *work)
{
	struct waker *waker = container_of(to_delayed_work(work), struct waker,
					   work);

	WRITE_ONCE(waker->woken, true);
	wake_up_all(&waker->wait);
}

/* hrtimer_start() treats a negative time as one that never expires. */
static void wait_until_past_time_returns(struct kunit *test)
{
	struct waker *waker = kunit_kzalloc(test, sizeof(*waker), GFP_KERNEL);
	int ret;

	KUNIT_ASSERT_NOT_NULL(test, waker);
	init_waitqueue_head(&waker->wait);
	INIT_DELAYED_WORK(&waker->work, wake_late);
	schedule_delayed_work(&waker->work, 5 * HZ);
	ret = wait_event_killable_hrtimeout(waker->wait,
					    READ_ONCE(waker->woken), -1000);
	KUNIT_EXPECT_EQ(test, ret, -ETIME);
	cancel_delayed_work_sync(&waker->work);
}

static void overload_us_zero_leaves_behind_at_once(struct kunit *test)
{
	struct fuzz *f = test->priv;
	struct vrfm_wait never = { .nowait = true };

	window_full(f, 0);
	/* The write does not wait for writers that wait for room, either. */
	atomic_inc(&f->vdev->waiting);
	rt_mutex_lock(&f->vdev->waiter_lock);
	f->link->state = VRFM_READY;
	KUNIT_EXPECT_EQ(test, vrfm_write_lock(f->vdev, 4, &never), 0);
	rt_mutex_unlock(&f->vdev->write_lock);
	KUNIT_EXPECT_EQ(test, (int)f->link->state, (int)VRFM_SYNCING);
	rt_mutex_unlock(&f->vdev->waiter_lock);
	atomic_dec(&f->vdev->waiting);
	wait_for_room(test);
}

static void overload_us_of_peer_overrides_device(struct kunit *test)
{
	struct fuzz *f = test->priv;

	window_full(f, 60000000);
	f->link->peer.overload_us = 0;
	KUNIT_EXPECT_LT(test, wait_for_room(test), 1000000LL);
	f->link->peer.overload_us = VRFM_OVERLOAD_DEVICE;
	f->link->state = VRFM_READY;
	KUNIT_EXPECT_EQ(test, at_once(f, 4), -EAGAIN);
	KUNIT_EXPECT_EQ(test, (int)f->link->state, (int)VRFM_READY);
}

static void suspend_ends_waits_for_room(struct kunit *test)
{
	window_full(test->priv, 3000000);
	vrfm_writers_suspend(true);
	KUNIT_EXPECT_LT(test, wait_for_room(test), 1000000LL);
	vrfm_writers_suspend(false);
}

/* Another writer waits for room on the link of node 2. */
static void event_waits_for_target_node_only(struct kunit *test)
{
	struct fuzz *f = test->priv;
	const struct vrfm_need all = { .len = 4, .node = RFM2G_NODE_ALL };
	struct vrfm_wait wait = vrfm_wait_begin(false);
	struct vrfm_pause pause;
	ktime_t until;

	window_full(f, 100000);
	atomic_inc(&f->vdev->waiting);
	pause = vrfm_pause_begin(&wait);
	KUNIT_EXPECT_FALSE(test,
			   vrfm_write_trylock(f->vdev, &all, &pause, &until));
	KUNIT_EXPECT_TRUE(test, f->link->overload.awaited);
	KUNIT_EXPECT_EQ(test, vrfm_event_send(f->vdev, 3, RFM2G_EVENT_INTR1,
					      1), 0);
	KUNIT_EXPECT_EQ(test, (int)f->link->state, (int)VRFM_READY);
	atomic_dec(&f->vdev->waiting);
}

static void transmitter_off_waits_for_no_peer(struct kunit *test)
{
	struct fuzz *f = test->priv;
	const u32 word = 7;

	window_full(f, 100000);
	f->vdev->regs.lcsr = VRFM_LCSR_TX_OFF;
	/* The store does not wait for a writer that waits for room. */
	atomic_inc(&f->vdev->waiting);
	KUNIT_EXPECT_EQ(test, vrfm_store(f->vdev, 0, &word, sizeof(word), true), 0);
	atomic_dec(&f->vdev->waiting);
	KUNIT_EXPECT_EQ(test, vrfm_store(f->vdev, 0, &word, sizeof(word), false), 0);
	KUNIT_EXPECT_EQ(test,
			vrfm_event_send(f->vdev, RFM2G_NODE_ALL,
					RFM2G_EVENT_INTR1, 1),
			0);
	KUNIT_EXPECT_EQ(test, f->link->backlog.n, 0U);
	KUNIT_EXPECT_EQ(test, f->link->missed.map.set, 0U);
	KUNIT_EXPECT_EQ(test, (int)f->link->state, (int)VRFM_READY);
}

static void transmitter_off(struct fuzz *f, bool off)
{
	WRITE_ONCE(f->vdev->regs.lcsr, off ? VRFM_LCSR_TX_OFF : 0);
}

/* Take the lock of writers, then switch the transmitter, and write a word. */
static bool sends_word(struct kunit *test, bool off)
{
	struct fuzz *f = test->priv;
	struct vrfm_wait wait = vrfm_wait_begin(false);
	u64 serial = f->vdev->serial;
	const u32 word = 7;

	transmitter_off(f, !off);
	KUNIT_ASSERT_EQ(test, vrfm_write_lock(f->vdev, sizeof(word), &wait), 0);
	transmitter_off(f, off);
	vrfm_accept_locked(f->vdev, 0, &word, sizeof(word), NULL);
	rt_mutex_unlock(&f->vdev->write_lock);
	transmitter_off(f, false);
	return f->vdev->serial != serial;
}

static void switch_of_transmitter_amid_step_has_no_effect(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, sends_word(test, true));
	KUNIT_EXPECT_FALSE(test, sends_word(test, false));
}

/* Device whose transmitter is switched off when it posts a message. */
static struct vrfm_dev *goes_dark;

static int go_dark(struct krdma_req *req)
{
	WRITE_ONCE(goes_dark->regs.lcsr, VRFM_LCSR_TX_OFF);
	return 0;
}

/* A broadcast reaches all nodes or none. */
static void switch_of_transmitter_amid_broadcast_has_no_effect(struct kunit *test)
{
	struct fuzz *f = test->priv;
	struct vrfm_link *other = add_link(f, 3);
	u64 opened = f->link->window.opened;

	KUNIT_ASSERT_NOT_NULL(test, other);
	goes_dark = f->vdev;
	fuzz_on_post = go_dark;
	KUNIT_EXPECT_EQ(test, vrfm_event_send(f->vdev, RFM2G_NODE_ALL,
					      RFM2G_EVENT_INTR1, 1), 0);
	KUNIT_EXPECT_TRUE(test, vrfm_is_dark(f->vdev));
	KUNIT_EXPECT_EQ(test, f->link->window.opened, opened + 1);
	KUNIT_EXPECT_EQ(test, other->window.opened, 1ULL);
	fuzz_on_post = NULL;
	transmitter_off(f, false);
	free_link(other);
}

/* ---- removal of peers ---- */

static void peers_are_removed_in_one_grace_period(struct kunit *test)
{
	struct fuzz *f = test->priv;
	u32 node;

	for (node = 3; node < 8; node++)
		KUNIT_ASSERT_NOT_NULL(test, add_link(f, node));
	fuzz_graces = 0;
	kfree(f->link->direct.desc);
	f->link->direct.desc = NULL;
	/* This frees all links. */
	f->link = NULL;
	vrfm_peers_remove(f->vdev);
	KUNIT_EXPECT_EQ(test, fuzz_graces, 1U);
	KUNIT_EXPECT_TRUE(test, list_empty(&f->vdev->links));
}

/* Let a request of EPOCH arrive while the link has a connection. */
static enum vrfm_reject doubt(struct fuzz *f, u64 epoch)
{
	const struct vrfm_hello hello = { .node = 2, .epoch = epoch };
	enum vrfm_reject why;

	fuzz_disconnects = 0;
	spin_lock_bh(&f->link->lock);
	why = vrfm_peer_doubt_locked(f->link, &hello);
	spin_unlock_bh(&f->link->lock);
	return why;
}

static void unproved_request_ends_no_connection(struct kunit *test)
{
	struct fuzz *f = test->priv;
	struct vrfm_conn *conn = &f->link->conn;

	conn->peer_epoch = 7;
	conn->heard = jiffies;
	/* Without a level, the peer has lost its connection. */
	KUNIT_EXPECT_EQ(test, doubt(f, 7), VRFM_REJECT_BUSY);
	KUNIT_EXPECT_EQ(test, fuzz_disconnects, 1U);
	f->vdev->params.security = KRDMA_SECURITY_AUTH;
	KUNIT_EXPECT_EQ(test, doubt(f, 7), VRFM_REJECT_BUSY);
	KUNIT_EXPECT_EQ(test, fuzz_disconnects, 0U);
	/* The peer has not answered for a second. */
	conn->probed = jiffies - 2 * HZ;
	conn->heard = conn->probed - 1;
	KUNIT_EXPECT_EQ(test, doubt(f, 7), VRFM_REJECT_BUSY);
	KUNIT_EXPECT_EQ(test, fuzz_disconnects, 1U);
	/* A connection that is not established yet keeps its place. */
	conn->cb = NULL;
	KUNIT_EXPECT_EQ(test, doubt(f, 8), VRFM_REJECT_BUSY);
	KUNIT_EXPECT_EQ(test, fuzz_disconnects, 0U);
	f->vdev->params.security = KRDMA_SECURITY_NONE;
	KUNIT_EXPECT_EQ(test, doubt(f, 8), VRFM_REJECT_BUSY);
	KUNIT_EXPECT_EQ(test, fuzz_disconnects, 1U);
}

static void connection_with_invalid_key_ends(struct kunit *test)
{
	/* Only the address of the keys matters. */
	struct krdma_keys *keys = (struct krdma_keys *)test;
	struct fuzz *f = test->priv;

	fuzz_disconnects = 0;
	vrfm_keys_check(f->link);
	KUNIT_EXPECT_EQ(test, fuzz_disconnects, 0U);
	fuzz_keys_fit = false;
	KUNIT_EXPECT_EQ(test, vrfm_dev_set_keys(f->vdev, keys), 0);
	KUNIT_EXPECT_EQ(test, fuzz_disconnects, 1U);
	KUNIT_EXPECT_EQ(test, vrfm_peer_set_keys(f->link, keys), 0);
	KUNIT_EXPECT_EQ(test, fuzz_disconnects, 2U);
	fuzz_keys_fit = true;
	KUNIT_EXPECT_EQ(test, fuzz_keys_refs, 2);
	f->vdev->params.security = KRDMA_SECURITY_AUTH;
	/* The peer keeps at least one key. */
	KUNIT_EXPECT_EQ(test, vrfm_dev_set_keys(f->vdev, NULL), 0);
	KUNIT_EXPECT_EQ(test, vrfm_peer_set_keys(f->link, NULL), -ENOKEY);
	KUNIT_EXPECT_EQ(test, vrfm_dev_set_keys(f->vdev, keys), 0);
	KUNIT_EXPECT_EQ(test, vrfm_peer_set_keys(f->link, NULL), 0);
	KUNIT_EXPECT_EQ(test, vrfm_dev_set_keys(f->vdev, NULL), -ENOKEY);
	KUNIT_EXPECT_EQ(test, fuzz_keys_refs, 1);
	f->vdev->params.security = KRDMA_SECURITY_NONE;
	KUNIT_EXPECT_EQ(test, vrfm_dev_set_keys(f->vdev, NULL), 0);
	KUNIT_EXPECT_EQ(test, fuzz_keys_refs, 0);
}

/* The keys are those of the node that the request names. */
static void keys_of_peer_come_before_keys_of_device(struct kunit *test)
{
	struct krdma_keys *device = (struct krdma_keys *)test;
	struct krdma_keys *own = (struct krdma_keys *)test->priv;
	struct vrfm_hello hello = { .network = 1 };
	struct fuzz *f = test->priv;
	struct vrfm_wire_hello wire;

	f->vdev->params.keys = device;
	f->link->peer.keys = own;
	hello.node = f->link->peer.node;
	vrfm_hello_encode(&wire, &hello);
	KUNIT_EXPECT_PTR_EQ(test, own,
			    vrfm_keys_choose(f->vdev, &wire, sizeof(wire)));
	hello.node++;
	vrfm_hello_encode(&wire, &hello);
	KUNIT_EXPECT_PTR_EQ(test, device,
			    vrfm_keys_choose(f->vdev, &wire, sizeof(wire)));
	KUNIT_EXPECT_PTR_EQ(test, device, vrfm_keys_choose(f->vdev, NULL, 0));
	f->vdev->params.keys = NULL;
	KUNIT_EXPECT_PTR_EQ(test, NULL,
			    (void *)vrfm_keys_choose(f->vdev, NULL, 0));
	f->link->peer.keys = NULL;
	fuzz_keys_refs = 0;
}

static void changed_message_raises_bad_data(struct kunit *test)
{
	struct fuzz *f = test->priv;

	fuzz_faults = 0;
	vrfm_link_down(f->link, -ECONNRESET);
	KUNIT_EXPECT_EQ(test, fuzz_faults, 0U);
	f->link->conn.cb = &f->cb;
	vrfm_link_down(f->link, -EBADMSG);
	KUNIT_EXPECT_EQ(test, fuzz_faults, 1U);
	/* SYNC_LOSS is not an event that a message can raise. */
	fuzz_wrong_events = 0;
}

static struct kunit_case vrfm_receive_cases[] = {
	KUNIT_CASE(unproved_request_ends_no_connection),
	KUNIT_CASE(connection_with_invalid_key_ends),
	KUNIT_CASE(keys_of_peer_come_before_keys_of_device),
	KUNIT_CASE(changed_message_raises_bad_data),
	KUNIT_CASE(wait_for_room_is_overload_us_exactly),
	KUNIT_CASE(flush_timeout_is_exact),
	KUNIT_CASE(wait_restarts_for_link_that_fills_up),
	KUNIT_CASE(wait_is_limited_for_full_link),
	KUNIT_CASE(wait_includes_earlier_steps),
	KUNIT_CASE(wait_until_past_time_returns),
	KUNIT_CASE(overload_us_zero_leaves_behind_at_once),
	KUNIT_CASE(overload_us_of_peer_overrides_device),
	KUNIT_CASE(suspend_ends_waits_for_room),
	KUNIT_CASE(event_waits_for_target_node_only),
	KUNIT_CASE(transmitter_off_waits_for_no_peer),
	KUNIT_CASE(large_block_gets_room_beside_small_ones),
	KUNIT_CASE(refused_writer_that_gave_up_is_forgotten),
	KUNIT_CASE(flush_needs_room_for_changed_page_only),
	KUNIT_CASE(page_with_holder_is_held),
	KUNIT_CASE(held_page_backs_off_and_does_not_count),
	KUNIT_CASE(scanner_does_not_wait_for_fault),
	KUNIT_CASE(writer_in_turn_inherits_priority),
	KUNIT_CASE(link_down_lets_writers_in_between),
	KUNIT_CASE(receive_path_only_marks_lines_of_log),
	KUNIT_CASE(range_without_user_is_unstaged_after_unstage_ms),
	KUNIT_CASE(switch_of_transmitter_amid_step_has_no_effect),
	KUNIT_CASE(switch_of_transmitter_amid_broadcast_has_no_effect),
	KUNIT_CASE(watch_timeout_is_exact),
	KUNIT_CASE(peers_are_removed_in_one_grace_period),
	KUNIT_CASE(proc_reader_does_not_wait_for_writers),
	KUNIT_CASE(leaving_peer_behind_wakes_waiters),
	KUNIT_CASE(peer_left_behind_is_not_scheduled_by_writes),
	KUNIT_CASE(peer_left_behind_is_notified_at_free_slot),
	KUNIT_CASE(leaving_peer_behind_raises_event),
	KUNIT_CASE(node_left_behind_raises_fault_once),
	KUNIT_CASE(status_page_has_fields_of_peer),
	KUNIT_CASE(update_behind_block_is_acknowledged_at_once),
	KUNIT_CASE(store_waits_while_peer_may_write),
	KUNIT_CASE(store_continues_after_answer_of_peer),
	KUNIT_CASE(failed_direct_block_is_sent_in_reserved_room),
	KUNIT_CASE(pull_after_answer_is_accepted),
	KUNIT_CASE(image_pages_share_messages),
	KUNIT_CASE(pull_without_room_is_answered_later),
	KUNIT_CASE(only_end_of_write_has_its_serial),
	KUNIT_CASE(event_is_raised_behind_runs_of_its_message),
	KUNIT_CASE(event_is_raised_once),
	KUNIT_CASE(events_to_peer_behind_wait_for_room),
	KUNIT_CASE(waiting_events_are_bounded),
	KUNIT_CASE(unacknowledged_events_are_resent_in_order),
	KUNIT_CASE(events_of_peer_behind_are_held_until_synced),
	KUNIT_CASE(held_events_are_bounded),
	KUNIT_CASE(own_word_moves_to_last_writer),
	KUNIT_CASE(received_update_is_not_taken_for_store),
	KUNIT_CASE_PARAM(random_messages_change_memory_if_valid,
			 part_gen_params),
	{ }
};

static struct kunit_suite vrfm_receive_suite = {
	.name = "vrfm_receive",
	.init = fuzz_init,
	.exit = fuzz_exit,
	.test_cases = vrfm_receive_cases,
};

kunit_test_suite(vrfm_receive_suite);

MODULE_AUTHOR("The krdma developers <krdma@example.org>");
MODULE_DESCRIPTION("Hostile messages for vrfm");
MODULE_LICENSE("GPL");
