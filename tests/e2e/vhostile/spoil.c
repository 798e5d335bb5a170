// SPDX-License-Identifier: GPL-2.0
/*
 * Create messages, each of which is invalid in one way. A message with runs
 * begins with a valid run, which the victim must not store.
 */
#include <linux/kernel.h>
#include <linux/string.h>

#include "priv.h"

#define VHOSTILE_BODY sizeof(struct vrfm_wire_head)

u32 vhostile_below(struct vhostile *vh, u32 end)
{
	return prandom_u32_state(&vh->random) % end;
}

static struct vrfm_wire_head *vhostile_head(struct vhostile *vh)
{
	return (struct vrfm_wire_head *)vh->msg;
}

static void vhostile_begin(struct vhostile *vh, u8 type)
{
	memset(vh->msg, 0, sizeof(vh->msg));
	*vhostile_head(vh) = (struct vrfm_wire_head){
		.type = type, .sequence = cpu_to_le64(vh->sequence),
	};
	vh->len = VHOSTILE_BODY;
}

/* Set count and length in the header; the length is that of the body. */
static void vhostile_end(struct vhostile *vh, u16 count)
{
	vhostile_head(vh)->count = cpu_to_le16(count);
	vhostile_head(vh)->len = cpu_to_le32(vh->len - VHOSTILE_BODY);
}

void vhostile_probe(struct vhostile *vh)
{
	vhostile_begin(vh, VRFM_WIRE_PROBE);
	vhostile_head(vh)->flags = VRFM_WIRE_ANSWER;
}

/*
 * Create an ACK. An ACK does not count as a message, so its sequence number is
 * that of the message before it.
 */
void vhostile_ack(struct vhostile *vh, u64 applied)
{
	vhostile_begin(vh, VRFM_WIRE_ACK);
	vhostile_head(vh)->sequence = cpu_to_le64(vh->sequence - 1);
	vhostile_head(vh)->applied = cpu_to_le64(applied);
}

void vhostile_say(struct vhostile *vh, const struct vrfm_wire_note *note,
		  u64 applied)
{
	vhostile_begin(vh, VRFM_WIRE_NOTE);
	vhostile_head(vh)->applied = cpu_to_le64(applied);
	memcpy(vh->msg + vh->len, note, sizeof(*note));
	vh->len += sizeof(*note);
	vhostile_end(vh, 0);
}

static void vhostile_run(struct vhostile *vh, u32 offset, u32 len, u32 room)
{
	const struct vrfm_wire_run run = {
		.offset = cpu_to_le32(offset), .len = cpu_to_le32(len),
	};

	memcpy(vh->msg + vh->len, &run, sizeof(run));
	memset(vh->msg + vh->len + sizeof(run), 0xEE, room);
	vh->len += sizeof(run) + room;
}

/* Append a valid run at a random offset of the memory. */
static void vhostile_good_run(struct vhostile *vh)
{
	vhostile_run(vh, 64 * vhostile_below(vh, vh->size / 64), 64, 64);
}

static void vhostile_update(struct vhostile *vh, u8 type)
{
	vhostile_begin(vh, type);
	vhostile_good_run(vh);
}

/* Return one of the types of messages with runs at random: UPDATE or IMAGE. */
static u8 vhostile_runs(struct vhostile *vh)
{
	return vhostile_below(vh, 2) ? VRFM_WIRE_UPDATE : VRFM_WIRE_IMAGE;
}

static void vhostile_short(struct vhostile *vh)
{
	vhostile_update(vh, vhostile_runs(vh));
	vhostile_end(vh, 1);
	vh->len = 1 + vhostile_below(vh, VHOSTILE_BODY - 1);
}

static void vhostile_type(struct vhostile *vh)
{
	u32 type = vhostile_below(vh, 256 - VRFM_WIRE_TYPES + 1);

	vhostile_update(vh, type ? VRFM_WIRE_TYPES - 1 + type : 0);
	vhostile_end(vh, 1);
}

static void vhostile_flags(struct vhostile *vh)
{
	vhostile_update(vh, vhostile_runs(vh));
	vhostile_end(vh, 1);
	vhostile_head(vh)->flags = (VRFM_WIRE_FLAGS + 1) <<
				   vhostile_below(vh, 4);
}

static void vhostile_length(struct vhostile *vh)
{
	vhostile_update(vh, vhostile_runs(vh));
	vhostile_end(vh, 1);
	le32_add_cpu(&vhostile_head(vh)->len, vhostile_below(vh, 2) ? -8 : 8);
}

static void vhostile_cut(struct vhostile *vh)
{
	vhostile_update(vh, vhostile_runs(vh));
	vhostile_end(vh, 1);
	vh->len -= 1 + vhostile_below(vh, vh->len - VHOSTILE_BODY);
}

static void vhostile_sequence(struct vhostile *vh)
{
	static const s64 wrong[] = { -1, 1, 2, 1LL << 32, 1LL << 62 };

	vhostile_update(vh, vhostile_runs(vh));
	vhostile_end(vh, 1);
	vhostile_head(vh)->sequence =
		cpu_to_le64(vh->sequence +
			    wrong[vhostile_below(vh, ARRAY_SIZE(wrong))]);
}

static void vhostile_applied(struct vhostile *vh)
{
	vhostile_update(vh, vhostile_runs(vh));
	vhostile_end(vh, 1);
	vhostile_head(vh)->applied =
		cpu_to_le64(1ULL << (20 + vhostile_below(vh, 44)));
}

static void vhostile_count(struct vhostile *vh)
{
	static const u16 wrong[] = { 0, 2, 3, 255, 65535 };

	vhostile_update(vh, vhostile_runs(vh));
	vhostile_end(vh, wrong[vhostile_below(vh, ARRAY_SIZE(wrong))]);
}

/* Create a message in which the second run is outside the memory. */
static void vhostile_outside(struct vhostile *vh)
{
	const u32 wrong[] = {
		vh->size, vh->size - 4, vh->size + 4, U32_MAX - 3, U32_MAX - 7,
		1U << 31,
	};

	vhostile_update(vh, vhostile_runs(vh));
	vhostile_run(vh, wrong[vhostile_below(vh, ARRAY_SIZE(wrong))], 8, 8);
	vhostile_end(vh, 2);
}

static void vhostile_run_length(struct vhostile *vh)
{
	static const u32 wrong[] = { 0, 9, 16, 1 << 20, U32_MAX, U32_MAX - 7 };

	vhostile_update(vh, vhostile_runs(vh));
	vhostile_run(vh, 0, wrong[vhostile_below(vh, ARRAY_SIZE(wrong))], 8);
	vhostile_end(vh, 2);
}

static void vhostile_more(struct vhostile *vh)
{
	vhostile_update(vh, vhostile_runs(vh));
	vh->len += 8 * (1 + vhostile_below(vh, 4));
	vhostile_end(vh, 1);
}

/*
 * Create an IMAGE with a run that begins or ends inside a word. The runs of an
 * IMAGE must consist of whole words.
 */
static void vhostile_part(struct vhostile *vh)
{
	bool where = vhostile_below(vh, 2);

	vhostile_update(vh, VRFM_WIRE_IMAGE);
	vhostile_run(vh, where ? 2 : 0, where ? 4 : 3, 8);
	vhostile_end(vh, 2);
}

/* Create an EVENT that lacks the event behind its run, or a run before it. */
static void vhostile_event_with_run(struct vhostile *vh)
{
	const struct vrfm_wire_event event = { .number = cpu_to_le64(1) };
	u32 event_len = vhostile_below(vh, 2) ? 0 : sizeof(event);

	vhostile_update(vh, VRFM_WIRE_EVENT);
	memcpy(vh->msg + vh->len, &event, event_len);
	vh->len += event_len;
	vhostile_end(vh, event_len ? 2 * vhostile_below(vh, 2) : 1);
}

static void vhostile_event(struct vhostile *vh)
{
	struct vrfm_wire_event event = {
		.event = cpu_to_le32(5 + vhostile_below(vh, U32_MAX - 5)),
		.number = cpu_to_le64(1),
	};
	bool longer = vhostile_below(vh, 2);

	if (longer)
		event.event = cpu_to_le32(1);
	vhostile_begin(vh, VRFM_WIRE_EVENT);
	memcpy(vh->msg + vh->len, &event, sizeof(event));
	vh->len += sizeof(event) + (longer ? 8 : 0);
	vhostile_end(vh, 0);
}

static void vhostile_note(struct vhostile *vh)
{
	u32 kind = vhostile_below(vh, 256 - VRFM_NOTES + 2);
	struct vrfm_wire_note note = { };

	vhostile_begin(vh, VRFM_WIRE_NOTE);
	vh->len += sizeof(note);
	if (kind <= 1)
		note.kind = 0;
	else
		note.kind = VRFM_NOTES - 2 + kind;
	if (kind == 1) {
		note.kind = VRFM_NOTE_SWEPT;
		vh->len -= 4;
	}
	memcpy(vh->msg + VHOSTILE_BODY, &note, sizeof(note));
	vhostile_end(vh, 0);
}

static void vhostile_pull(struct vhostile *vh)
{
	const u32 pages = vh->size / VRFM_WIRE_PAGE;
	const struct {
		u32 first, count, sent;
	} wrong[] = {
		{ 0, 0, 0 }, { 0, VRFM_PULL_MAX + 1, VRFM_PULL_MAX + 1 },
		{ pages, 1, 1 }, { pages - 1, 2, 2 }, { U32_MAX, 2, 2 },
		{ 0, 2, 1 }, { 0, 1, 2 }, { 0, U32_MAX, 1 },
		{ U32_MAX - 1, 1, 1 },
	};
	u32 i = vhostile_below(vh, ARRAY_SIZE(wrong));
	const struct vrfm_wire_pull pull = {
		.first = cpu_to_le32(wrong[i].first),
		.count = cpu_to_le32(wrong[i].count),
	};

	vhostile_begin(vh, VRFM_WIRE_PULL);
	memcpy(vh->msg + vh->len, &pull, sizeof(pull));
	vh->len += sizeof(pull) + wrong[i].sent * sizeof(__le64);
	vhostile_end(vh, 0);
}

static void vhostile_body(struct vhostile *vh)
{
	vhostile_begin(vh, vhostile_below(vh, 2) ? VRFM_WIRE_PROBE :
						   VRFM_WIRE_ACK);
	/* An ACK has the sequence number of the message before it. */
	if (vhostile_head(vh)->type == VRFM_WIRE_ACK)
		vhostile_head(vh)->sequence = cpu_to_le64(vh->sequence - 1);
	vh->len += 8;
	vhostile_end(vh, 0);
}

/*
 * Create a message that confirms a STAGE which the victim has not sent. A STAGE
 * lists ranges that the receiver must not write directly.
 */
static void vhostile_answer(struct vhostile *vh)
{
	vhostile_update(vh, vhostile_runs(vh));
	vhostile_end(vh, 1);
	vhostile_head(vh)->staged =
		cpu_to_le64(1ULL << (20 + vhostile_below(vh, 44)));
}

/*
 * Create an invalid STAGE, which lists ranges that the victim must not write
 * directly. The first STAGE of a connection must describe the sender's memory,
 * so a desc_len of 0 is invalid. In the last row of the table, only the bytes
 * of the description are invalid. The victim detects this when it parses them.
 */
static void vhostile_stage(struct vhostile *vh)
{
	const u32 map = DIV_ROUND_UP(vh->size, 64 * VRFM_RANGE) * 8;
	const struct {
		u64 number;
		u32 map_len, desc_len, sent;
	} wrong[] = {
		{ 0, map, 48, map + 48 }, { 1, map, 0, map },
		{ 1, map + 8, 48, map + 56 }, { 1, 0, 48, 48 },
		{ 1, map, 48, map + 40 }, { 1, map, 40, map + 48 },
		{ 1, map, U32_MAX, map }, { 1, U32_MAX, 48, 48 },
		{ 1, map, VRFM_DESC_MAX + 16, map }, { 1, map, 48, map + 48 },
	};
	u32 i = vhostile_below(vh, ARRAY_SIZE(wrong));
	const struct vrfm_wire_stage stage = {
		.number = cpu_to_le64(wrong[i].number),
		.map_len = cpu_to_le32(wrong[i].map_len),
		.desc_len = cpu_to_le32(wrong[i].desc_len),
	};

	vhostile_begin(vh, VRFM_WIRE_STAGE);
	memcpy(vh->msg + vh->len, &stage, sizeof(stage));
	memset(vh->msg + vh->len + sizeof(stage), 0xEE, wrong[i].sent);
	vh->len += sizeof(stage) + wrong[i].sent;
	vhostile_end(vh, 0);
}

static void vhostile_noise(struct vhostile *vh)
{
	u32 i;

	vhostile_begin(vh, 1 + vhostile_below(vh, VRFM_WIRE_TYPES - 1));
	vh->len += vhostile_below(vh, 4096);
	for (i = 1; i < vh->len; i++)
		vh->msg[i] = prandom_u32_state(&vh->random);
}

static const struct {
	const char *name;
	void (*make)(struct vhostile *vh);
} vhostile_kinds[] = {
	{ "header cut", vhostile_short },
	{ "type", vhostile_type },
	{ "flags", vhostile_flags },
	{ "length", vhostile_length },
	{ "body cut", vhostile_cut },
	{ "sequence", vhostile_sequence },
	{ "applied", vhostile_applied },
	{ "runs", vhostile_count },
	{ "run outside", vhostile_outside },
	{ "length of a run", vhostile_run_length },
	{ "more than its runs", vhostile_more },
	{ "part of a word", vhostile_part },
	{ "event", vhostile_event },
	{ "event with run", vhostile_event_with_run },
	{ "note", vhostile_note },
	{ "pull", vhostile_pull },
	{ "body of a probe", vhostile_body },
	{ "answer", vhostile_answer },
	{ "stage", vhostile_stage },
	{ "noise", vhostile_noise },
};

/* Create an invalid message. Each round uses the next kind. Return its name. */
const char *vhostile_spoil(struct vhostile *vh, u32 round)
{
	u32 kind = round % ARRAY_SIZE(vhostile_kinds);

	vhostile_kinds[kind].make(vh);
	return vhostile_kinds[kind].name;
}
