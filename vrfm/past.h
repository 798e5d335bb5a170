/* SPDX-License-Identifier: GPL-2.0 */
#ifndef VRFM_PAST_H
#define VRFM_PAST_H

#include <linux/types.h>

/* Ids of nodes are one byte. */
#define VRFM_NODES 256
/*
 * Lives of one node that are compared. One more is remembered: while a link is
 * down its peer's life is one of them, and must push out none that counts again
 * when it is up.
 */
#define VRFM_LIVES_COUNT 4
#define VRFM_LIVES (VRFM_LIVES_COUNT + 1)

/**
 * struct vrfm_life - what a memory has of one life of a node that is over
 * @epoch: which life, 0: none
 * @serial: of its last write that was seen
 * @whose: if it is not sure what the memory has of it: whose memory that is, so
 *	that two of them differ
 * @synced: all up to @serial is there
 * @direct: there may be something of a write after @serial: a part, or it was
 *	written directly
 * @fresh: it ended since the last image was begun to be loaded
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
 * struct vrfm_past - what a memory has of the lives of a node that are over
 * @lives: the newest first
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
