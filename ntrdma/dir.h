/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Decisions about the directory of a memory that several machines share. All
 * functions are pure: they use only their arguments.
 */
#ifndef NTRDMA_DIR_H
#define NTRDMA_DIR_H

#include "wire.h"

/* Time after which another member may format a directory instead, in ms. */
#define NTRDMA_DIR_BUSY_MS	2000
/* Minimum time without a beat after which a slot is free, in ms. */
#define NTRDMA_DIR_DEAD_MIN	1000
/* The same for the slot of a former life of the same machine. */
#define NTRDMA_DIR_REBORN_MS	600
/*
 * Maximum time that counts between two looks, in ms. A machine that did not look
 * for longer was paused, perhaps together with all others.
 */
#define NTRDMA_DIR_LOOK_MS	500

/**
 * struct ntrdma_geometry - the constant part of a directory
 * @members: number of slots
 * @inbox: bytes of an inbox
 * @fabric: random number of the group of members
 */
struct ntrdma_geometry {
	u32 members;
	u64 inbox;
	u64 fabric;
};

/**
 * struct ntrdma_dir_seen - knowledge of a member about a slot
 * @owner: owner
 * @beat: beat
 * @same_ms: time for which @owner and @beat have not changed, in ms
 * @alive: the owner has been seen to beat
 */
struct ntrdma_dir_seen {
	u64 owner;
	u32 beat;
	u64 same_ms;
	bool alive;
};

/**
 * struct ntrdma_dir - knowledge of a member about the directory
 * @bytes: bytes of the memory
 * @members: number of slots that the member wants, or 0 for any
 * @owner: number of the member: lower half random, upper half the same for all
 *	lives of a machine, or 0. A slot with this number is free for the member
 * @dead_ms: time without a beat after which a slot is free, in ms
 * @prefer: number of the slot that the member wants, or -1
 * @ours: the member has used this memory, so it may format invalid contents
 * @looked_ms: time of the last look, or 0
 * @magic: last value of the word magic
 * @magic_ms: time for which it has not changed, in ms
 * @seen: slots
 */
struct ntrdma_dir {
	u64 bytes;
	u32 members;
	u64 owner;
	u32 dead_ms;
	int prefer;
	bool ours;
	u64 looked_ms;
	u64 magic;
	u64 magic_ms;
	struct ntrdma_dir_seen seen[NTRDMA_MEMBERS];
};

/* Steps of the caller after a look at the directory. */
enum ntrdma_dir_step {
	NTRDMA_DIR_WAIT,	/* look again later */
	NTRDMA_DIR_FULL,	/* as NTRDMA_DIR_WAIT: all slots are in use */
	NTRDMA_DIR_FORMAT,	/* format, if magic is still ntrdma_dir.magic */
	NTRDMA_DIR_CLAIM,	/* take a slot, if its owner is still the same */
	NTRDMA_DIR_FOREIGN,	/* other software uses the memory */
};

bool ntrdma_dir_geometry(const struct ntrdma_wire_dir_head *head, u64 bytes,
			 struct ntrdma_geometry *geo);
bool ntrdma_dir_choose(u64 bytes, u32 members, struct ntrdma_geometry *geo);
void ntrdma_dir_format(struct ntrdma_wire_dir *wire,
		       const struct ntrdma_geometry *geo);
u64 ntrdma_dir_inbox(const struct ntrdma_geometry *geo, u8 to, u8 from);
enum ntrdma_dir_step ntrdma_dir_look(struct ntrdma_dir *dir,
				     const struct ntrdma_wire_dir *wire,
				     u64 now_ms, u8 *slot);
bool ntrdma_dir_is_dead(const struct ntrdma_dir *dir, u8 slot);
bool ntrdma_dir_is_same(const struct ntrdma_wire_dir_head *head, u64 bytes,
			const struct ntrdma_geometry *geo);

#endif /* NTRDMA_DIR_H */
