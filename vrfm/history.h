/* SPDX-License-Identifier: GPL-2.0 */
#ifndef VRFM_HISTORY_H
#define VRFM_HISTORY_H

#include <linux/types.h>

/* Number of possible node ids: an id is one byte. */
#define VRFM_NODES 256
/*
 * A life of a node lasts from the creation to the destruction of its device.
 * VRFM_LIVES_COUNT is the number of ended lives of a node that two nodes
 * compare.
 *
 * Each node stores one life more. While a link is down, the present life of the
 * peer seems to have ended, and takes an entry. Without the additional entry,
 * that life would replace the oldest one, which must be compared again when the
 * link is up.
 */
#define VRFM_LIVES_COUNT 4
#define VRFM_LIVES (VRFM_LIVES_COUNT + 1)

/**
 * struct vrfm_life - the writes of one ended life of a node, as far as a memory
 * contains them
 * @epoch: id of the life; 0: the entry is free
 * @serial: number of the last write of that life that this memory received
 * @tie_breaker: tag of this memory: two memories with uncertain content never
 *	compare equal, because their tags differ
 * @synced: all writes up to @serial are in the memory
 * @direct: the memory may contain some bytes of writes after @serial: a part of
 *	a write, or a direct write
 * @after_checkpoint: the life ended after the last load of an image began
 */
struct vrfm_life {
	u64 epoch;
	u64 serial;
	u32 tie_breaker;
	bool synced;
	bool direct;
	bool after_checkpoint;
};

/**
 * struct vrfm_history - ended lives of a node
 * @lives: ended lives, the newest first
 */
struct vrfm_history {
	struct vrfm_life lives[VRFM_LIVES];
};

int vrfm_life_cmp(const struct vrfm_life *a, const struct vrfm_life *b);
bool vrfm_history_is_empty(const struct vrfm_history *history);
void vrfm_history_add(struct vrfm_history *history,
		      const struct vrfm_life *life);
bool vrfm_history_forget(struct vrfm_history *history, u64 epoch);
int vrfm_history_cmp(const struct vrfm_history *a, const struct vrfm_history *b,
		     u64 alive);
void vrfm_history_checkpoint(struct vrfm_history *history);
void vrfm_history_invalidate(struct vrfm_history *history, u32 tie_breaker);
void vrfm_history_copy_from_donor(struct vrfm_history *history,
				  const struct vrfm_history *donor, u64 alive);

#endif /* VRFM_HISTORY_H */
