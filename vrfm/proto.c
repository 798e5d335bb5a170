// SPDX-License-Identifier: GPL-2.0
/*
 * Messages between nodes: made, and judged. Pure: bytes in, numbers out.
 *
 * A message is judged as a whole before anything of it is believed:
 * vrfm_proto_check() has gone through every run when it says 0, so who applies
 * them has nothing left to check.
 */
#include <linux/align.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/siphash.h>
#include <linux/string.h>
#include <uapi/rfm2g.h>

#include "proto.h"

/**
 * vrfm_hello_encode - what a node says of itself
 * @wire: to fill
 * @hello: what
 */
void vrfm_hello_encode(struct vrfm_wire_hello *wire,
		       const struct vrfm_hello *hello)
{
	*wire = (struct vrfm_wire_hello){
		.magic = cpu_to_le32(VRFM_WIRE_MAGIC),
		.version = cpu_to_le16(VRFM_WIRE_VERSION),
		.node = hello->node,
		.to = hello->to,
		.network = cpu_to_le32(hello->network),
		.npages = cpu_to_le32(hello->size / VRFM_WIRE_PAGE),
		.epoch = cpu_to_le64(hello->epoch),
	};
}

static enum vrfm_reject vrfm_hello_judge(const struct vrfm_hello *own,
					 const struct vrfm_hello *peer)
{
	if (peer->network != own->network)
		return VRFM_REJECT_NETWORK;
	if (peer->size != own->size)
		return VRFM_REJECT_SIZE;
	if (peer->node == own->node)
		return VRFM_REJECT_NODE;
	return peer->to != own->node ? VRFM_REJECT_UNKNOWN : VRFM_REJECT_NONE;
}

/**
 * vrfm_hello_decode - may this one be a peer?
 * @data: what it said; a CM may have put zeroes behind it
 * @len: bytes
 * @own: what this node says of itself
 * @peer: gets what the peer said, if it speaks this version
 *
 * Return: %VRFM_REJECT_NONE, or why not.
 */
enum vrfm_reject vrfm_hello_decode(const void *data, size_t len,
				   const struct vrfm_hello *own,
				   struct vrfm_hello *peer)
{
	struct vrfm_wire_hello wire;

	if (len < sizeof(wire))
		return VRFM_REJECT_MAGIC;
	memcpy(&wire, data, sizeof(wire));
	if (le32_to_cpu(wire.magic) != VRFM_WIRE_MAGIC)
		return VRFM_REJECT_MAGIC;
	if (le16_to_cpu(wire.version) != VRFM_WIRE_VERSION)
		return VRFM_REJECT_VERSION;
	*peer = (struct vrfm_hello){
		.node = wire.node,
		.to = wire.to,
		.network = le32_to_cpu(wire.network),
		.size = (u64)le32_to_cpu(wire.npages) * VRFM_WIRE_PAGE,
		.epoch = le64_to_cpu(wire.epoch),
	};
	return vrfm_hello_judge(own, peer);
}

/**
 * vrfm_reject_encode - say why not
 * @wire: to fill
 * @why: why
 */
void vrfm_reject_encode(struct vrfm_wire_reject *wire, enum vrfm_reject why)
{
	wire->magic = cpu_to_le32(VRFM_WIRE_MAGIC);
	wire->why = cpu_to_le32(why);
}

/**
 * vrfm_reject_decode - why a peer said no
 * @data: what came with the rejection
 * @len: bytes
 *
 * Return: why; %VRFM_REJECT_NONE: it was not a vrfm that said no.
 */
enum vrfm_reject vrfm_reject_decode(const void *data, size_t len)
{
	struct vrfm_wire_reject wire;

	if (len < sizeof(wire))
		return VRFM_REJECT_NONE;
	memcpy(&wire, data, sizeof(wire));
	if (le32_to_cpu(wire.magic) != VRFM_WIRE_MAGIC)
		return VRFM_REJECT_NONE;
	return min_t(u32, le32_to_cpu(wire.why), VRFM_REJECTS);
}

/**
 * vrfm_reject_text - for the log
 * @why: enum vrfm_reject, also one that a peer has sent
 *
 * Return: text.
 */
const char *vrfm_reject_text(enum vrfm_reject why)
{
	static const char * const texts[] = {
		[VRFM_REJECT_NONE] = "no reason",
		[VRFM_REJECT_MAGIC] = "it does not speak vrfm's protocol",
		[VRFM_REJECT_VERSION] = "it speaks another version",
		[VRFM_REJECT_NETWORK] = "it belongs to another network",
		[VRFM_REJECT_SIZE] = "its memory has another size",
		[VRFM_REJECT_NODE] = "it has the same node id",
		[VRFM_REJECT_UNKNOWN] = "no such node at that address is a peer",
		[VRFM_REJECT_TWICE] = "another node with that id is linked",
		[VRFM_REJECT_BUSY] = "the last link is about to end",
	};

	return why < ARRAY_SIZE(texts) ? texts[why] : "an unknown reason";
}

static u32 vrfm_run_room(u32 len)
{
	return sizeof(struct vrfm_wire_run) + ALIGN(len, VRFM_WIRE_ALIGN);
}

/* One run of LEFT bytes that are left. Returns how many it takes, 0: wrong. */
static u32 vrfm_run_check(const void *at, u32 left, u64 size)
{
	struct vrfm_wire_run wire;
	u32 offset, len;

	if (left < sizeof(wire))
		return 0;
	memcpy(&wire, at, sizeof(wire));
	offset = le32_to_cpu(wire.offset);
	len = le32_to_cpu(wire.len);
	if (!len || len > left - sizeof(wire) || vrfm_run_room(len) > left)
		return 0;
	if (offset > size || len > size - offset)
		return 0;
	return vrfm_run_room(len);
}

static int vrfm_runs_check(const void *at, const struct vrfm_head *head,
			   u64 size)
{
	u32 left = head->len;
	u32 taken;
	u16 i;

	if (!head->count)
		return -EPROTO;
	for (i = 0; i < head->count; i++) {
		taken = vrfm_run_check(at, left, size);
		if (!taken)
			return -EPROTO;
		at += taken;
		left -= taken;
	}
	return left ? -EPROTO : 0;
}

static int vrfm_event_check(const void *at, const struct vrfm_head *head)
{
	struct vrfm_wire_event wire;

	if (head->len != sizeof(wire))
		return -EPROTO;
	memcpy(&wire, at, sizeof(wire));
	return le32_to_cpu(wire.event) > RFM2G_EVENT_INTR4 ? -EPROTO : 0;
}

/* Merging is by words, and says nothing of the parts of one. */
static int vrfm_image_check(const void *at, const struct vrfm_head *head,
			    u64 size)
{
	int ret = vrfm_runs_check(at, head, size);
	struct vrfm_run run;
	u16 i;

	for (i = 0; i < head->count && !ret; i++) {
		at = vrfm_proto_next_run(at, &run);
		if (run.offset % sizeof(u32) || run.len % sizeof(u32))
			ret = -EPROTO;
	}
	return ret;
}

static int vrfm_note_check(const void *at, const struct vrfm_head *head)
{
	struct vrfm_wire_note wire;

	if (head->len != sizeof(wire))
		return -EPROTO;
	memcpy(&wire, at, sizeof(wire));
	return !wire.kind || wire.kind >= VRFM_NOTES ? -EPROTO : 0;
}

static int vrfm_pull_check(const void *at, const struct vrfm_head *head,
			   u64 size)
{
	struct vrfm_wire_pull wire;
	u32 first, count;

	if (head->len < sizeof(wire))
		return -EPROTO;
	memcpy(&wire, at, sizeof(wire));
	first = le32_to_cpu(wire.first);
	count = le32_to_cpu(wire.count);
	if (head->len - sizeof(wire) != (u64)count * sizeof(__le64))
		return -EPROTO;
	size /= VRFM_WIRE_PAGE;
	if (!count || count > VRFM_PULL_MAX)
		return -EPROTO;
	return first > size || count > size - first ? -EPROTO : 0;
}

/* The memory is described once, by the first. */
static int vrfm_stage_check(const void *at, const struct vrfm_head *head,
			    const struct vrfm_seen *seen)
{
	struct vrfm_wire_stage wire;
	u32 map_len, desc_len;

	if (head->len < sizeof(wire))
		return -EPROTO;
	memcpy(&wire, at, sizeof(wire));
	map_len = le32_to_cpu(wire.map_len);
	desc_len = le32_to_cpu(wire.desc_len);
	if (le64_to_cpu(wire.number) <= seen->staged ||
	    map_len != vrfm_stage_map_len(seen->size) ||
	    !desc_len != !!seen->staged || desc_len > VRFM_DESC_MAX)
		return -EPROTO;
	return head->len == sizeof(wire) + map_len + desc_len ? 0 : -EPROTO;
}

static int vrfm_body_check(const void *at, const struct vrfm_head *head,
			   const struct vrfm_seen *seen)
{
	u64 size = seen->size;

	if (head->type == VRFM_WIRE_UPDATE)
		return vrfm_runs_check(at, head, size);
	if (head->type == VRFM_WIRE_IMAGE)
		return vrfm_image_check(at, head, size);
	if (head->count)
		return -EPROTO;
	if (head->type == VRFM_WIRE_EVENT)
		return vrfm_event_check(at, head);
	if (head->type == VRFM_WIRE_NOTE)
		return vrfm_note_check(at, head);
	if (head->type == VRFM_WIRE_PULL)
		return vrfm_pull_check(at, head, size);
	if (head->type == VRFM_WIRE_STAGE)
		return vrfm_stage_check(at, head, seen);
	return head->len ? -EPROTO : 0;
}

/* Nothing comes twice, nothing is missing, nothing is taken back or made up. */
static int vrfm_numbers_check(const struct vrfm_head *head,
			      const struct vrfm_seen *seen)
{
	u64 number = seen->sequence;

	if (head->type != VRFM_WIRE_ACK)
		number++;
	if (head->sequence != number)
		return -EPROTO;
	if (head->applied < seen->applied || head->applied > seen->sent)
		return -EPROTO;
	if (head->staged < seen->answered || head->staged > seen->told)
		return -EPROTO;
	return 0;
}

/**
 * vrfm_proto_check - is this message right, as a whole?
 * @msg: message
 * @len: its bytes
 * @seen: what is known of the link
 * @head: gets its header
 *
 * Return: 0; -EPROTO: nothing of it may be believed.
 */
int vrfm_proto_check(const void *msg, size_t len, const struct vrfm_seen *seen,
		     struct vrfm_head *head)
{
	struct vrfm_wire_head wire;
	int ret;

	if (len < sizeof(wire) || len > VRFM_WIRE_MAX)
		return -EPROTO;
	memcpy(&wire, msg, sizeof(wire));
	*head = (struct vrfm_head){
		.type = wire.type,
		.flags = wire.flags,
		.count = le16_to_cpu(wire.count),
		.len = le32_to_cpu(wire.len),
		.sequence = le64_to_cpu(wire.sequence),
		.applied = le64_to_cpu(wire.applied),
		.serial = le64_to_cpu(wire.serial),
		.staged = le64_to_cpu(wire.staged),
	};
	if (!wire.type || wire.type >= VRFM_WIRE_TYPES ||
	    wire.flags & ~VRFM_WIRE_FLAGS ||
	    head->len != len - sizeof(wire))
		return -EPROTO;
	ret = vrfm_numbers_check(head, seen);
	return ret ?: vrfm_body_check(msg + sizeof(wire), head, seen);
}

/**
 * vrfm_proto_next_run - take a run
 * @at: behind the header, or what this returned for the run before; of a
 *      message that vrfm_proto_check() found right
 * @run: gets it
 *
 * Return: where the next one begins.
 */
const void *vrfm_proto_next_run(const void *at, struct vrfm_run *run)
{
	struct vrfm_wire_run wire;

	memcpy(&wire, at, sizeof(wire));
	run->offset = le32_to_cpu(wire.offset);
	run->len = le32_to_cpu(wire.len);
	run->bytes = at + sizeof(wire);
	return at + vrfm_run_room(run->len);
}

/**
 * vrfm_proto_event - take the event
 * @msg: an EVENT that vrfm_proto_check() found right
 * @event: gets it
 */
void vrfm_proto_event(const void *msg, struct vrfm_wired_event *event)
{
	struct vrfm_wire_event wire;

	memcpy(&wire, msg + sizeof(struct vrfm_wire_head), sizeof(wire));
	*event = (struct vrfm_wired_event){
		.event = le32_to_cpu(wire.event),
		.data = le32_to_cpu(wire.data),
		.number = le64_to_cpu(wire.number),
	};
}

/**
 * vrfm_proto_note - take the note
 * @msg: a NOTE that vrfm_proto_check() found right
 * @note: gets it
 */
void vrfm_proto_note(const void *msg, struct vrfm_note *note)
{
	struct vrfm_wire_note wire;

	memcpy(&wire, msg + sizeof(struct vrfm_wire_head), sizeof(wire));
	*note = (struct vrfm_note){
		.kind = wire.kind,
		.node = wire.node,
		.flags = le16_to_cpu(wire.flags),
		.number = le32_to_cpu(wire.number),
		.id = le64_to_cpu(wire.id),
		.value = le64_to_cpu(wire.value),
	};
}

/**
 * vrfm_proto_pull - take what is asked for
 * @msg: a PULL that vrfm_proto_check() found right
 * @first: gets the first page
 * @count: gets how many
 *
 * Return: their digests.
 */
const __le64 *vrfm_proto_pull(const void *msg, u32 *first, u32 *count)
{
	const void *at = msg + sizeof(struct vrfm_wire_head);
	struct vrfm_wire_pull wire;

	memcpy(&wire, at, sizeof(wire));
	*first = le32_to_cpu(wire.first);
	*count = le32_to_cpu(wire.count);
	return at + sizeof(wire);
}

/**
 * vrfm_stage_map_len - bytes of a map of ranges, as it is sent
 * @size: bytes of the memory
 */
u32 vrfm_stage_map_len(u64 size)
{
	return DIV_ROUND_UP(DIV_ROUND_UP(size, VRFM_RANGE), 64) * sizeof(__le64);
}

/**
 * vrfm_proto_stage - take what a STAGE says
 * @msg: a STAGE that vrfm_proto_check() found right
 * @stage: gets it
 */
void vrfm_proto_stage(const void *msg, struct vrfm_stage_msg *stage)
{
	const void *at = msg + sizeof(struct vrfm_wire_head);
	struct vrfm_wire_stage wire;

	memcpy(&wire, at, sizeof(wire));
	stage->number = le64_to_cpu(wire.number);
	stage->map = at + sizeof(wire);
	stage->map_len = le32_to_cpu(wire.map_len);
	stage->desc = stage->map + stage->map_len;
	stage->desc_len = le32_to_cpu(wire.desc_len);
}

/**
 * vrfm_stage_map - take the map of a STAGE
 * @stage: from vrfm_proto_stage()
 * @map: gets it: a bit for each range, in room of a multiple of 64 bits
 */
void vrfm_stage_map(const struct vrfm_stage_msg *stage, unsigned long *map)
{
	u32 i, bit, n = stage->map_len / sizeof(__le64);
	__le64 wire;

	for (i = 0; i < n; i++) {
		memcpy(&wire, stage->map + i * sizeof(wire), sizeof(wire));
		for (bit = 0; bit < 64; bit += BITS_PER_LONG)
			map[(64 * i + bit) / BITS_PER_LONG] =
				le64_to_cpu(wire) >> bit;
	}
}

/**
 * vrfm_digest - a number that pages of the same bytes share, and no others
 * @page: %VRFM_WIRE_PAGE bytes, aligned to 8; may change meanwhile
 *
 * Two pages that differ by chance are taken for the same once in 2^64.
 *
 * Return: the number.
 */
u64 vrfm_digest(const void *page)
{
	static const siphash_key_t key = { { VRFM_WIRE_MAGIC } };

	/* Most pages of most memories, and it is seen in less time. */
	if (!memchr_inv(page, 0, VRFM_WIRE_PAGE))
		return 0;
	return siphash(page, VRFM_WIRE_PAGE, &key);
}

/**
 * vrfm_pack_begin - begin a message
 * @pack: the message
 * @msg: room for it, aligned to 8
 * @room: bytes, at least a header's
 */
void vrfm_pack_begin(struct vrfm_pack *pack, void *msg, u32 room)
{
	*pack = (struct vrfm_pack){
		.msg = msg,
		.room = min_t(u32, room, VRFM_WIRE_MAX),
		.len = sizeof(struct vrfm_wire_head),
	};
}

/**
 * vrfm_pack_room - how many bytes of one run still fit
 * @pack: the message
 *
 * Return: bytes, 0: the message is full.
 */
u32 vrfm_pack_room(const struct vrfm_pack *pack)
{
	u32 left = pack->room - pack->len;

	if (left <= sizeof(struct vrfm_wire_run) || pack->count == U16_MAX)
		return 0;
	return ALIGN_DOWN(left - sizeof(struct vrfm_wire_run), VRFM_WIRE_ALIGN);
}

/**
 * vrfm_pack_run - append bytes, as many as fit
 * @pack: the message
 * @offset: in the memory
 * @bytes: what is there
 * @len: how many
 *
 * It is cut between two words of the memory, so that each is whole for who looks
 * at the receiver's when only one of the messages is there.
 *
 * Return: how many were taken; the rest goes into another message.
 */
u32 vrfm_pack_run(struct vrfm_pack *pack, u32 offset, const void *bytes,
		  u32 len)
{
	struct vrfm_wire_run wire = { .offset = cpu_to_le32(offset) };
	u8 *at = pack->msg + pack->len;
	u32 room = vrfm_pack_room(pack);

	if (len > room)
		len = room - (offset + room) % VRFM_WIRE_ALIGN;
	if (!len || !room)
		return 0;
	wire.len = cpu_to_le32(len);
	memcpy(at, &wire, sizeof(wire));
	memcpy(at + sizeof(wire), bytes, len);
	memset(at + sizeof(wire) + len, 0, ALIGN(len, VRFM_WIRE_ALIGN) - len);
	pack->len += vrfm_run_room(len);
	pack->count++;
	return len;
}

/**
 * vrfm_pack_event - make it an event
 * @pack: the message, nothing else is in it
 * @event: what
 */
void vrfm_pack_event(struct vrfm_pack *pack,
		     const struct vrfm_wired_event *event)
{
	struct vrfm_wire_event wire = {
		.event = cpu_to_le32(event->event),
		.data = cpu_to_le32(event->data),
		.number = cpu_to_le64(event->number),
	};

	memcpy(pack->msg + pack->len, &wire, sizeof(wire));
	pack->len += sizeof(wire);
}

/**
 * vrfm_pack_note - make it a note
 * @pack: the message, nothing else is in it
 * @note: what
 */
void vrfm_pack_note(struct vrfm_pack *pack, const struct vrfm_note *note)
{
	struct vrfm_wire_note wire = {
		.kind = note->kind,
		.node = note->node,
		.flags = cpu_to_le16(note->flags),
		.number = cpu_to_le32(note->number),
		.id = cpu_to_le64(note->id),
		.value = cpu_to_le64(note->value),
	};

	memcpy(pack->msg + pack->len, &wire, sizeof(wire));
	pack->len += sizeof(wire);
}

/**
 * vrfm_pack_pull - make it a PULL
 * @pack: the message, nothing else is in it
 * @first: the first page
 * @count: how many, and so many times vrfm_pack_digest() follows
 */
void vrfm_pack_pull(struct vrfm_pack *pack, u32 first, u32 count)
{
	struct vrfm_wire_pull wire = {
		.first = cpu_to_le32(first),
		.count = cpu_to_le32(count),
	};

	memcpy(pack->msg + pack->len, &wire, sizeof(wire));
	pack->len += sizeof(wire);
}

/**
 * vrfm_pack_digest - the next digest of a PULL
 * @pack: the message
 * @digest: of the page
 */
void vrfm_pack_digest(struct vrfm_pack *pack, u64 digest)
{
	__le64 wire = cpu_to_le64(digest);

	memcpy(pack->msg + pack->len, &wire, sizeof(wire));
	pack->len += sizeof(wire);
}

/**
 * vrfm_pack_stage - make it a STAGE
 * @pack: the message, nothing else is in it, with room for all
 * @number: of it
 * @map: a bit for each range, in room of a multiple of 64 bits
 * @size: bytes of the memory
 * @desc_len: bytes of the description, 0: none
 *
 * Return: where the description is to be put.
 */
void *vrfm_pack_stage(struct vrfm_pack *pack, u64 number,
		      const unsigned long *map, u64 size, u32 desc_len)
{
	u32 i, bit, map_len = vrfm_stage_map_len(size);
	struct vrfm_wire_stage wire = {
		.number = cpu_to_le64(number),
		.map_len = cpu_to_le32(map_len),
		.desc_len = cpu_to_le32(desc_len),
	};
	void *at = pack->msg + pack->len;
	__le64 word;
	u64 bits;

	memcpy(at, &wire, sizeof(wire));
	at += sizeof(wire);
	for (i = 0; i < map_len / sizeof(word); i++, at += sizeof(word)) {
		for (bits = 0, bit = 0; bit < 64; bit += BITS_PER_LONG)
			bits |= (u64)map[(64 * i + bit) / BITS_PER_LONG] << bit;
		word = cpu_to_le64(bits);
		memcpy(at, &word, sizeof(word));
	}
	pack->len += sizeof(wire) + map_len + desc_len;
	return at;
}

/**
 * vrfm_pack_end - write the header
 * @pack: the message
 * @head: its type, flags and numbers; count and length are known
 *
 * Return: bytes of the message.
 */
u32 vrfm_pack_end(struct vrfm_pack *pack, const struct vrfm_head *head)
{
	struct vrfm_wire_head wire = {
		.type = head->type,
		.flags = head->flags,
		.count = cpu_to_le16(pack->count),
		.len = cpu_to_le32(pack->len - sizeof(wire)),
		.sequence = cpu_to_le64(head->sequence),
		.applied = cpu_to_le64(head->applied),
		.serial = cpu_to_le64(head->serial),
		.staged = cpu_to_le64(head->staged),
	};

	memcpy(pack->msg, &wire, sizeof(wire));
	return pack->len;
}
