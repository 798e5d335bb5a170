// SPDX-License-Identifier: GPL-2.0
/*
 * The directory: the first page of a memory that several machines share. It
 * gives each machine a number, and divides the memory into inboxes.
 *
 * A machine that finds no directory formats the memory. It writes the word
 * magic last. A machine becomes a member when it writes its random number to a
 * free slot. Both words are changed by compare-and-exchange, so of several
 * machines one succeeds. A slot is free if it has no owner, or if its owner
 * gives no sign of life.
 *
 * The other machines can write any bytes at any time. All functions work on a
 * copy. A decision on a copy stays valid for the member that has made it: its
 * inboxes lie inside the memory, whatever the directory says later.
 */
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "dir.h"

static bool ntrdma_dir_fits(u64 bytes, u32 members, u64 inbox)
{
	if (members < 2 || members > NTRDMA_MEMBERS)
		return false;
	if (inbox < NTRDMA_INBOX_MIN || inbox > NTRDMA_INBOX_MAX ||
	    !IS_ALIGNED(inbox, NTRDMA_PAGE_BYTES))
		return false;
	return bytes >= NTRDMA_PAGE_BYTES &&
	       inbox <= (bytes - NTRDMA_PAGE_BYTES) / (members * (members - 1));
}

/**
 * ntrdma_dir_geometry - read the constant part of a directory
 * @head: copy of it
 * @bytes: bytes of the memory
 * @geo: result
 *
 * Return: false if the directory is invalid.
 */
bool ntrdma_dir_geometry(const struct ntrdma_wire_dir_head *head, u64 bytes,
			 struct ntrdma_geometry *geo)
{
	*geo = (struct ntrdma_geometry){
		.members = le32_to_cpu(head->members),
		.inbox = le64_to_cpu(head->inbox),
		.fabric = le64_to_cpu(head->fabric),
	};
	return le64_to_cpu(head->magic) == NTRDMA_DIR_MAGIC &&
	       le32_to_cpu(head->version) == NTRDMA_DIR_VERSION &&
	       ntrdma_dir_fits(bytes, geo->members, geo->inbox);
}

/**
 * ntrdma_dir_choose - choose the sizes of the inboxes in a memory
 * @bytes: bytes of the memory
 * @members: number of members, 2 to %NTRDMA_MEMBERS
 * @geo: result, except fabric
 *
 * Return: false if the memory is too small.
 */
bool ntrdma_dir_choose(u64 bytes, u32 members, struct ntrdma_geometry *geo)
{
	u64 inbox;

	if (bytes < NTRDMA_PAGE_BYTES)
		return false;
	inbox = (bytes - NTRDMA_PAGE_BYTES) / (members * (members - 1));
	inbox = min_t(u64, inbox, NTRDMA_INBOX_MAX);
	geo->members = members;
	geo->inbox = rounddown(inbox, NTRDMA_PAGE_BYTES);
	return ntrdma_dir_fits(bytes, members, geo->inbox);
}

/**
 * ntrdma_dir_format - write an empty directory
 * @wire: result; magic is not set
 * @geo: constant part
 */
void ntrdma_dir_format(struct ntrdma_wire_dir *wire,
		       const struct ntrdma_geometry *geo)
{
	*wire = (struct ntrdma_wire_dir){};
	wire->head = (struct ntrdma_wire_dir_head){
		.version = cpu_to_le32(NTRDMA_DIR_VERSION),
		.members = cpu_to_le32(geo->members),
		.inbox = cpu_to_le64(geo->inbox),
		.fabric = cpu_to_le64(geo->fabric),
	};
}

/**
 * ntrdma_dir_inbox - return the place of an inbox in the memory
 * @geo: constant part of the directory
 * @to: member that reads the inbox
 * @from: member that writes it; not @to
 *
 * Return: offset in bytes.
 */
u64 ntrdma_dir_inbox(const struct ntrdma_geometry *geo, u8 to, u8 from)
{
	return NTRDMA_PAGE_BYTES +
	       (to * (geo->members - 1) + from - (from > to)) * geo->inbox;
}

static void ntrdma_dir_note_slot(struct ntrdma_dir_seen *seen,
				 const struct ntrdma_wire_slot *slot,
				 u64 elapsed, bool first)
{
	u64 owner = le64_to_cpu(slot->owner);
	u32 beat = le32_to_cpu(slot->beat);

	if (!first && owner == seen->owner && beat == seen->beat) {
		seen->same_ms += elapsed;
		return;
	}
	*seen = (struct ntrdma_dir_seen){
		.owner = owner,
		.beat = beat,
		.alive = !first,
	};
}

/* Note which words have changed since the last look. */
static void ntrdma_dir_note(struct ntrdma_dir *dir,
			    const struct ntrdma_wire_dir *wire, u64 now_ms)
{
	u64 magic = le64_to_cpu(wire->head.magic);
	bool first = !dir->looked_ms;
	unsigned int i;
	u64 elapsed;

	elapsed = min_t(u64, now_ms - dir->looked_ms, NTRDMA_DIR_LOOK_MS);
	dir->looked_ms = now_ms;
	if (!first && magic == dir->magic)
		dir->magic_ms += elapsed;
	else
		dir->magic_ms = 0;
	dir->magic = magic;
	for (i = 0; i < NTRDMA_MEMBERS; i++)
		ntrdma_dir_note_slot(&dir->seen[i], &wire->slots[i], elapsed,
				     first);
}

/* Check whether a slot is that of a former life of the same machine. */
static bool ntrdma_dir_is_former(const struct ntrdma_dir *dir, u64 owner)
{
	return owner >> 32 && owner >> 32 == dir->owner >> 32;
}

/**
 * ntrdma_dir_is_dead - check whether the owner of a slot gives no sign of life
 * @dir: knowledge
 * @slot: number of the slot
 *
 * Return: true if there is an owner, and nothing of the slot has changed for
 * ntrdma_dir.dead_ms.
 */
bool ntrdma_dir_is_dead(const struct ntrdma_dir *dir, u8 slot)
{
	const struct ntrdma_dir_seen *seen = &dir->seen[slot];

	return seen->owner && seen->same_ms >= dir->dead_ms;
}

static bool ntrdma_dir_is_free(const struct ntrdma_dir *dir, u8 slot)
{
	const struct ntrdma_dir_seen *seen = &dir->seen[slot];

	return !seen->owner || seen->owner == dir->owner ||
	       ntrdma_dir_is_dead(dir, slot) ||
	       (ntrdma_dir_is_former(dir, seen->owner) &&
		seen->same_ms >= NTRDMA_DIR_REBORN_MS);
}

/* Check whether all slots are free. */
static bool ntrdma_dir_is_empty(const struct ntrdma_dir *dir)
{
	unsigned int i;

	for (i = 0; i < NTRDMA_MEMBERS; i++)
		if (!ntrdma_dir_is_free(dir, i))
			return false;
	return true;
}

/* Check whether a slot has an owner that has been seen to beat. */
static bool ntrdma_dir_is_alive(const struct ntrdma_dir *dir)
{
	unsigned int i;

	for (i = 0; i < NTRDMA_MEMBERS; i++)
		if (dir->seen[i].alive && !ntrdma_dir_is_free(dir, i))
			return true;
	return false;
}

static bool ntrdma_dir_is_zero(const struct ntrdma_wire_dir *wire)
{
	return !memchr_inv(wire, 0, sizeof(*wire));
}

/*
 * Decide about a directory without valid constant part. It may be one of another
 * version, or for a memory of another size, and then members may use it.
 */
static enum ntrdma_dir_step
ntrdma_dir_look_invalid(const struct ntrdma_dir *dir,
			const struct ntrdma_wire_dir *wire)
{
	bool format;

	if (dir->magic >> 32 == NTRDMA_DIR_BUSY)
		format = dir->magic_ms >= NTRDMA_DIR_BUSY_MS;
	else if (!dir->magic && (dir->ours || ntrdma_dir_is_zero(wire)))
		format = true;
	else if (dir->magic == NTRDMA_DIR_MAGIC)
		format = dir->ours || ntrdma_dir_is_empty(dir);
	else if (dir->ours)
		format = dir->magic_ms >= dir->dead_ms;
	else
		return NTRDMA_DIR_FOREIGN;
	return format ? NTRDMA_DIR_FORMAT : NTRDMA_DIR_WAIT;
}

/*
 * Choose a slot. One of a former life of this machine is free soon, and gives
 * the machine its former address, so the machine waits for it.
 */
static enum ntrdma_dir_step
ntrdma_dir_choose_slot(const struct ntrdma_dir *dir, u32 members, u8 *slot)
{
	int prefer = dir->prefer, found = -1;
	unsigned int i;

	for (i = members; i-- > 0;) {
		if (ntrdma_dir_is_free(dir, i))
			found = i;
		if (ntrdma_dir_is_former(dir, dir->seen[i].owner))
			prefer = i;
	}
	if (prefer >= 0 && prefer < members && ntrdma_dir_is_free(dir, prefer))
		found = prefer;
	else if (prefer >= 0 && prefer < members && !dir->seen[prefer].alive &&
		 ntrdma_dir_is_former(dir, dir->seen[prefer].owner))
		return NTRDMA_DIR_WAIT;
	if (found < 0)
		return NTRDMA_DIR_FULL;
	*slot = found;
	return NTRDMA_DIR_CLAIM;
}

/*
 * A member that wants another number of slots decides if nobody is alive. It
 * waits until it knows that.
 */
static enum ntrdma_dir_step
ntrdma_dir_look_valid(const struct ntrdma_dir *dir, u32 members, u8 *slot)
{
	if (dir->members && dir->members != members) {
		if (ntrdma_dir_is_empty(dir))
			return NTRDMA_DIR_FORMAT;
		if (!ntrdma_dir_is_alive(dir))
			return NTRDMA_DIR_WAIT;
	}
	return ntrdma_dir_choose_slot(dir, members, slot);
}

/**
 * ntrdma_dir_look - decide how to become a member
 * @dir: knowledge; for the first look all members but the settings are 0
 * @wire: copy of the directory
 * @now_ms: time in ms, not 0
 * @slot: result of %NTRDMA_DIR_CLAIM: number of the slot
 *
 * A member of the directory may also call this, to note which slots are dead.
 *
 * Return: next step.
 */
enum ntrdma_dir_step ntrdma_dir_look(struct ntrdma_dir *dir,
				     const struct ntrdma_wire_dir *wire,
				     u64 now_ms, u8 *slot)
{
	struct ntrdma_geometry geo;

	ntrdma_dir_note(dir, wire, now_ms);
	if (!ntrdma_dir_geometry(&wire->head, dir->bytes, &geo))
		return ntrdma_dir_look_invalid(dir, wire);
	return ntrdma_dir_look_valid(dir, geo.members, slot);
}

/**
 * ntrdma_dir_is_same - check whether a directory has not been formatted again
 * @head: copy of its constant part
 * @bytes: bytes of the memory
 * @geo: constant part when a member took its slot
 *
 * Return: true if the constant part is the same.
 */
bool ntrdma_dir_is_same(const struct ntrdma_wire_dir_head *head, u64 bytes,
			const struct ntrdma_geometry *geo)
{
	struct ntrdma_geometry now;

	return ntrdma_dir_geometry(head, bytes, &now) &&
	       now.members == geo->members && now.inbox == geo->inbox &&
	       now.fabric == geo->fabric;
}
