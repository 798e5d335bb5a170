/* SPDX-License-Identifier: GPL-2.0 */
#ifndef VRFM_PAST_H
#define VRFM_PAST_H

#include <linux/types.h>

/* Node ids are one byte. */
#define VRFM_NODES 256
/*
 * Number of lives of a node that are compared. One more is stored: while a link
 * is down, the peer's current life occupies an entry. It must not push out an
 * entry that counts again when the link is up.
 */
#define VRFM_LIVES_COUNT 4
#define VRFM_LIVES (VRFM_LIVES_COUNT + 1)

/**
 * struct vrfm_life - writes that a memory contains of an ended life of a node
 * @epoch: id of the life, 0: the entry is free
 * @serial: number of the last write of that life that was seen
 * @whose: tag of this memory for the case that its content is uncertain, so
 *	that two uncertain memories never compare equal
 * @synced: all writes up to @serial are in the memory
 * @direct: some bytes of writes after @serial may be in the memory: a part of a
 *	write, or a direct write
 * @fresh: the life ended since the last load of an image began
 */
struct vrfm_life {
	u64 epoch;
	u64 serial;
	u32 whose;
	bool synced;
	bool direct;
	bool fresh;
};

/**
 * struct vrfm_past - history of a node: its ended lives
 * @lives: ended lives, the newest first
 */
struct vrfm_past {
	struct vrfm_life lives[VRFM_LIVES];
};

int vrfm_life_cmp(const struct vrfm_life *a, const struct vrfm_life *b);
bool vrfm_past_is_empty(const struct vrfm_past *past);
void vrfm_past_add(struct vrfm_past *past, const struct vrfm_life *life);
bool vrfm_past_forget(struct vrfm_past *past, u64 epoch);
int vrfm_past_cmp(const struct vrfm_past *a, const struct vrfm_past *b,
		  u64 alive);
void vrfm_past_settle(struct vrfm_past *past);
void vrfm_past_doubt(struct vrfm_past *past, u32 whose);
void vrfm_past_adopt(struct vrfm_past *past, const struct vrfm_past *holder,
		     u64 alive);

#endif /* VRFM_PAST_H */
