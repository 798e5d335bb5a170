// SPDX-License-Identifier: GPL-2.0
/*
 * History: the writes of departed nodes that a memory contains. Pure: no locks,
 * no device.
 *
 * A life of a node is the time from creation to destruction of its device. For
 * this node, the life of a peer has ended if the link is down. A memory may
 * contain only a part of the writes of an ended life. All nodes compare
 * memories by the same rule. A node with fewer of these writes loads the memory
 * of a node with more of them, and then has the same writes. Any common rule
 * makes all memories equal. This rule prefers memories with later writes.
 *
 * Several lives are compared, not only the last one, because a node may have
 * missed several lives while it was absent.
 */
#include <linux/kernel.h>
#include <linux/string.h>

#include "history.h"

static int vrfm_cmp(u64 a, u64 b)
{
	return (a > b) - (a < b);
}

/**
 * vrfm_life_cmp - compare how many writes of an ended life two memories contain
 * @a: entry of one memory; epoch 0: none
 * @b: entry of the other memory; epoch 0: none
 *
 * If the entries are of different lives, the memory with the later life has
 * more: it was still receiving writes after the earlier life had ended.
 * Memories that are uncertain never compare equal, so one of them is loaded. A
 * memory is uncertain if it may lack some of the writes up to
 * &vrfm_life.serial, or may contain some bytes of later writes.
 *
 * Return: above 0 if @a has more; below 0 if @b has more; 0 if both have the
 * same.
 */
int vrfm_life_cmp(const struct vrfm_life *a, const struct vrfm_life *b)
{
	int more = vrfm_cmp(a->epoch, b->epoch) ?:
		   vrfm_cmp(a->synced, b->synced);

	if (!more)
		more = vrfm_cmp(a->serial, b->serial) ?:
		       vrfm_cmp(a->direct, b->direct);
	if (more || !a->epoch || (a->synced && !a->direct))
		return more;
	return vrfm_cmp(b->tie_breaker, a->tie_breaker);
}

/**
 * vrfm_history_is_empty - check whether the history of a node has no ended life
 * @history: history of the node
 *
 * Return: true if there is none.
 */
bool vrfm_history_is_empty(const struct vrfm_history *history)
{
	return !history->lives[0].epoch;
}

/**
 * vrfm_history_forget - remove a life that has not ended after all
 * @history: history of the node
 * @epoch: id of the life
 *
 * Return: true if the life was in the history.
 */
bool vrfm_history_forget(struct vrfm_history *history, u64 epoch)
{
	struct vrfm_life *lives = history->lives;
	u32 i = 0;

	while (i < VRFM_LIVES && lives[i].epoch != epoch)
		i++;
	if (!epoch || i == VRFM_LIVES)
		return false;
	memmove(&lives[i], &lives[i + 1],
		(VRFM_LIVES - i - 1) * sizeof(*lives));
	lives[VRFM_LIVES - 1] = (struct vrfm_life){ };
	return true;
}

/**
 * vrfm_history_add - add a life that has ended
 * @history: history of the node
 * @life: a life, and which of its writes the memory contains. If its epoch is
 *	0, nothing is added
 *
 * An entry of the same life is replaced. If the history is full, the oldest
 * life is dropped.
 */
void vrfm_history_add(struct vrfm_history *history,
		      const struct vrfm_life *life)
{
	struct vrfm_life *lives = history->lives;
	u32 i = 0;

	vrfm_history_forget(history, life->epoch);
	while (i < VRFM_LIVES && lives[i].epoch > life->epoch)
		i++;
	if (i == VRFM_LIVES || !life->epoch)
		return;
	memmove(&lives[i + 1], &lives[i],
		(VRFM_LIVES - i - 1) * sizeof(*lives));
	lives[i] = *life;
}

/*
 * Return entry *I of the history. If this is the entry of the present life
 * (ALIVE), return the next entry. Set *I to the index behind the returned
 * entry. A returned entry with epoch 0 means that no entry is left.
 */
static struct vrfm_life vrfm_history_next(const struct vrfm_history *history,
					  u32 *i, u64 alive)
{
	if (*i < VRFM_LIVES && alive && history->lives[*i].epoch == alive)
		++*i;
	return *i < VRFM_LIVES ? history->lives[(*i)++] : (struct vrfm_life){ };
}

/**
 * vrfm_history_cmp - compare how many writes of a node's ended lives two
 * memories contain
 * @a: history of the node in one memory
 * @b: history of the node in the other memory
 * @alive: epoch of the node's present life, which is skipped; 0: none
 *
 * Return: above 0 if @a has more; below 0 if @b has more; 0 if both have the
 * same.
 */
int vrfm_history_cmp(const struct vrfm_history *a, const struct vrfm_history *b,
		     u64 alive)
{
	struct vrfm_life one, other;
	u32 i = 0, j = 0, n = 0;
	int more;

	do {
		one = vrfm_history_next(a, &i, alive);
		other = vrfm_history_next(b, &j, alive);
		more = vrfm_life_cmp(&one, &other);
	} while (!more && one.epoch && ++n < VRFM_LIVES_COUNT);
	return more;
}

/**
 * vrfm_history_checkpoint - clear the flag after_checkpoint of all lives when a
 * load begins
 * @history: history of a node
 */
void vrfm_history_checkpoint(struct vrfm_history *history)
{
	u32 i;

	for (i = 0; i < VRFM_LIVES; i++)
		history->lives[i].after_checkpoint = false;
}

/**
 * vrfm_history_invalidate - mark a memory as uncertain while another memory is
 * merged into it
 * @history: history of a node in this memory
 * @tie_breaker: new tag of the memory, which no other memory has
 */
void vrfm_history_invalidate(struct vrfm_history *history, u32 tie_breaker)
{
	u32 i;

	for (i = 0; i < VRFM_LIVES; i++) {
		history->lives[i].synced = false;
		history->lives[i].tie_breaker = tie_breaker;
	}
}

/**
 * vrfm_history_copy_from_donor - adopt the donor's history after its memory was
 * loaded
 * @history: history of a node in this memory
 * @donor: history of the node in the donor's memory, copied before the first
 *	page was requested
 * @alive: epoch of the node's present life; 0: this node knows of none
 *
 * Lives that ended after vrfm_history_checkpoint() are kept. This node received
 * their writes during the load, in addition to the donor's memory. Perhaps no
 * other node received them.
 */
void vrfm_history_copy_from_donor(struct vrfm_history *history,
				  const struct vrfm_history *donor, u64 alive)
{
	const struct vrfm_history mine = *history;
	struct vrfm_life life;
	u32 i;

	*history = *donor;
	vrfm_history_forget(history, alive);
	for (i = 0; i < VRFM_LIVES; i++) {
		life = mine.lives[i];
		life.synced = false;
		if (life.after_checkpoint)
			vrfm_history_add(history, &life);
	}
}
