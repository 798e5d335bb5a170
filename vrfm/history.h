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
 * @tie_breaker: tag of this memory for the case that its content is uncertain,
 *	so that two uncertain memories never compare equal
 * @synced: all writes up to @serial are in the memory
 * @direct: some bytes of writes after @serial may be in the memory: a part of a
 *	write, or a direct write
 * @fresh: the life ended since the last load of an image began
 */
struct vrfm_life {
	u64 epoch;
	u64 serial;
	u32 tie_breaker;
	bool synced;
	bool direct;
	bool fresh;
};

/**
 * struct vrfm_history - history of a node: its ended lives
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

#endif /* VRFM_PAST_H */
