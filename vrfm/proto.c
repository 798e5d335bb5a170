// SPDX-License-Identifier: GPL-2.0
/*
 * Messages between nodes: encoding, decoding and checks. These functions use no
 * locks and no device.
 *
 * A message is checked as a whole before any part of it is used. When
 * vrfm_proto_check() returns 0, all runs are valid. So functions that apply the
 * runs need no checks.
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
 * vrfm_hello_encode - encode a hello
 * @wire: hello to fill
 * @hello: content
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

/**
 * vrfm_hello_decode - decode a hello, and check whether its sender may be a
 * peer
 * @data: private data of the sender; a CM may have added zeroes
 * @len: number of bytes
 * @own: hello of this node
 * @peer: set to the hello of the sender, if the sender speaks this version
 *
 * Return: %VRFM_REJECT_NONE if the sender may be a peer, or the reason why not.
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
	if (peer->network != own->network)
		return VRFM_REJECT_NETWORK;
	if (peer->size != own->size)
		return VRFM_REJECT_SIZE;
	if (peer->node == own->node)
		return VRFM_REJECT_NODE;
	return peer->to != own->node ? VRFM_REJECT_UNKNOWN : VRFM_REJECT_NONE;
}

/**
 * vrfm_reject_encode - encode a rejection
 * @wire: rejection to fill
 * @why: reason
 */
void vrfm_reject_encode(struct vrfm_wire_reject *wire, enum vrfm_reject why)
{
	wire->magic = cpu_to_le32(VRFM_WIRE_MAGIC);
	wire->why = cpu_to_le32(why);
}

/**
 * vrfm_reject_decode - decode a rejection
 * @data: private data of the rejection
 * @len: number of bytes
 *
 * Return: the reason; %VRFM_REJECT_NONE if the rejection does not come from
 * vrfm.
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
 * vrfm_reject_text - return the text of a reason, for the log
 * @why: enum vrfm_reject, or an unknown value that a peer has sent
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
		[VRFM_REJECT_KEY] = "it has another key",
		[VRFM_REJECT_SECURITY] = "it has another security level",
	};

	return why < ARRAY_SIZE(texts) ? texts[why] : "an unknown reason";
}

static u32 vrfm_run_room(u32 len)
{
	return sizeof(struct vrfm_wire_run) + ALIGN(len, VRFM_WIRE_ALIGN);
}

/* Check runs, which must end @tail bytes before the end of the message. */
static int vrfm_runs_check(const void *at, const struct vrfm_head *head,
			   u32 tail, u64 size)
{
	struct vrfm_wire_run wire;
	u32 left = head->len;
	u32 offset, len;
	u16 i;

	for (i = 0; i < head->count; i++) {
		if (left < sizeof(wire))
			return -EPROTO;
		memcpy(&wire, at, sizeof(wire));
		offset = le32_to_cpu(wire.offset);
		len = le32_to_cpu(wire.len);
		if (!len || len > left - sizeof(wire) ||
		    vrfm_run_room(len) > left)
			return -EPROTO;
		if (offset > size || len > size - offset)
			return -EPROTO;
		at += vrfm_run_room(len);
		left -= vrfm_run_room(len);
	}
	return left == tail ? 0 : -EPROTO;
}

static int vrfm_update_check(const void *at, const struct vrfm_head *head,
			     u64 size)
{
	return head->count ? vrfm_runs_check(at, head, 0, size) : -EPROTO;
}

static int vrfm_event_check(const void *at, const struct vrfm_head *head,
			    u64 size)
{
	struct vrfm_wire_event event;
	int ret = vrfm_runs_check(at, head, sizeof(event), size);

	if (ret)
		return ret;
	memcpy(&event, at + head->len - sizeof(event), sizeof(event));
	return le32_to_cpu(event.event) > RFM2G_EVENT_INTR4 ? -EPROTO : 0;
}

/*
 * Check an IMAGE. Images are merged by words, so the runs must have whole
 * words.
 */
static int vrfm_image_check(const void *at, const struct vrfm_head *head,
			    u64 size)
{
	int ret = vrfm_update_check(at, head, size);
	struct vrfm_run run;
	u16 i;

	for (i = 0; i < head->count && !ret; i++) {
		at = vrfm_proto_next_run(at, &run);
		if (run.offset % sizeof(u32) || run.len % sizeof(u32))
			ret = -EPROTO;
	}
	return ret;
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

/*
 * Check a STAGE. The first one must describe the memory, and later ones must
 * not.
 */
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
	struct vrfm_wire_note note;

	if (head->type == VRFM_WIRE_UPDATE)
		return vrfm_update_check(at, head, seen->size);
	if (head->type == VRFM_WIRE_IMAGE)
		return vrfm_image_check(at, head, seen->size);
	if (head->type == VRFM_WIRE_EVENT)
		return vrfm_event_check(at, head, seen->size);
	if (head->count)
		return -EPROTO;
	switch (head->type) {
	case VRFM_WIRE_NOTE:
		if (head->len != sizeof(note))
			return -EPROTO;
		memcpy(&note, at, sizeof(note));
		return !note.kind || note.kind >= VRFM_NOTES ? -EPROTO : 0;
	case VRFM_WIRE_PULL:
		return vrfm_pull_check(at, head, seen->size);
	case VRFM_WIRE_STAGE:
		return vrfm_stage_check(at, head, seen);
	default:
		return head->len ? -EPROTO : 0;
	}
}

/**
 * vrfm_proto_check - check a message as a whole
 * @msg: message
 * @len: number of bytes
 * @seen: state of the link
 * @head: set to the header
 *
 * Return: 0 if the message is valid; -EPROTO if no part of it may be used.
 */
int vrfm_proto_check(const void *msg, size_t len, const struct vrfm_seen *seen,
		     struct vrfm_head *head)
{
	u64 sequence = seen->sequence;
	struct vrfm_wire_head wire;

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
	/* The sequence must have no gap. */
	if (head->type != VRFM_WIRE_ACK)
		sequence++;
	if (head->sequence != sequence)
		return -EPROTO;
	/*
	 * The numbers of the last applied message and of the last answered
	 * STAGE must not decrease, and must not exceed the numbers that this
	 * node has sent.
	 */
	if (head->applied < seen->applied || head->applied > seen->sent)
		return -EPROTO;
	if (head->staged < seen->answered || head->staged > seen->told)
		return -EPROTO;
	return vrfm_body_check(msg + sizeof(wire), head, seen);
}

/**
 * vrfm_proto_next_run - decode a run
 * @at: first byte behind the header, or the result of the last call; the
 *	message has passed vrfm_proto_check()
 * @run: set to the run
 *
 * Return: address of the next run.
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
 * vrfm_proto_event - decode an event
 * @at: first byte behind the runs of an EVENT that has passed
 *	vrfm_proto_check()
 * @event: set to the event
 */
void vrfm_proto_event(const void *at, struct vrfm_wired_event *event)
{
	struct vrfm_wire_event wire;

	memcpy(&wire, at, sizeof(wire));
	*event = (struct vrfm_wired_event){
		.event = le32_to_cpu(wire.event),
		.data = le32_to_cpu(wire.data),
		.number = le64_to_cpu(wire.number),
	};
}

/**
 * vrfm_proto_note - decode a note
 * @msg: NOTE that has passed vrfm_proto_check()
 * @note: set to the note
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
 * vrfm_proto_pull - decode a request for pages
 * @msg: PULL that has passed vrfm_proto_check()
 * @first: set to the first page
 * @count: set to the number of pages
 *
 * Return: digests of the pages.
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
 * vrfm_stage_map_len - return the length of the map in a STAGE, in bytes
 * @size: size of the memory, in bytes
 */
u32 vrfm_stage_map_len(u64 size)
{
	return DIV_ROUND_UP(DIV_ROUND_UP(size, VRFM_RANGE), 64) * sizeof(__le64);
}

/**
 * vrfm_proto_stage - decode a STAGE
 * @msg: STAGE that has passed vrfm_proto_check()
 * @stage: set to its content
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
 * vrfm_stage_map - decode the map of a STAGE
 * @stage: STAGE from vrfm_proto_stage()
 * @map: filled with a bit for each range; has room for a multiple of 64 bits
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
 * vrfm_digest - calculate the digest of a page
 * @page: %VRFM_WIRE_PAGE bytes, aligned to 8; other tasks may be storing there
 *
 * Different pages have the same digest by chance with a probability of 2^-64.
 *
 * Return: digest.
 */
u64 vrfm_digest(const void *page)
{
	static const siphash_key_t key = { { VRFM_WIRE_MAGIC } };

	/* Most pages are zero, and this check is faster than siphash(). */
	if (!memchr_inv(page, 0, VRFM_WIRE_PAGE))
		return 0;
	return siphash(page, VRFM_WIRE_PAGE, &key);
}

/**
 * vrfm_pack_begin - begin a message
 * @pack: message
 * @msg: buffer, aligned to 8
 * @room: size of the buffer, in bytes, at least that of a header
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
 * vrfm_pack_room - return the room for one more run
 * @pack: message
 *
 * Return: length of the longest run that fits, in bytes; 0 if the message is
 * full.
 */
u32 vrfm_pack_room(const struct vrfm_pack *pack)
{
	u32 left = pack->room - pack->len;

	if (left <= sizeof(struct vrfm_wire_run) || pack->count == U16_MAX)
		return 0;
	return ALIGN_DOWN(left - sizeof(struct vrfm_wire_run), VRFM_WIRE_ALIGN);
}

/**
 * vrfm_pack_run - append as much of a run as fits
 * @pack: message
 * @offset: offset in the memory
 * @bytes: bytes of the run
 * @len: number of bytes
 *
 * A run is cut only where its offset in the memory is a multiple of 8. So no
 * aligned word is divided between two messages, and the receiver never applies
 * only a part of a word.
 *
 * Return: number of bytes that were appended; the rest needs another message.
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
 * vrfm_pack_has_room_for_event - check whether an event can be appended
 * @pack: message
 *
 * Return: true if it can.
 */
bool vrfm_pack_has_room_for_event(const struct vrfm_pack *pack)
{
	return pack->room - pack->len >= sizeof(struct vrfm_wire_event);
}

/**
 * vrfm_pack_event - append an event, which ends the message
 * @pack: message with runs only, or without content, and with room
 * @event: event
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
 * vrfm_pack_note - append a note
 * @pack: message without content
 * @note: note
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
 * vrfm_pack_pull - append a request for pages
 * @pack: message without content
 * @first: first page
 * @count: number of pages; for each page a call of vrfm_pack_digest() must
 *	follow
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
 * vrfm_pack_digest - append a digest to a request for pages
 * @pack: message
 * @digest: digest of the next page
 */
void vrfm_pack_digest(struct vrfm_pack *pack, u64 digest)
{
	__le64 wire = cpu_to_le64(digest);

	memcpy(pack->msg + pack->len, &wire, sizeof(wire));
	pack->len += sizeof(wire);
}

/**
 * vrfm_pack_stage - append a STAGE
 * @pack: message without content, with room for the whole STAGE
 * @number: number of the STAGE
 * @map: a bit for each range, in a multiple of 64 bits
 * @size: size of the memory, in bytes
 * @desc_len: length of the description, in bytes; 0: no description
 *
 * Return: address where the caller must store the description.
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
 * vrfm_pack_end - write the header of a message
 * @pack: message
 * @head: type, flags and numbers; count and length are taken from @pack
 *
 * Return: length of the message, in bytes.
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
