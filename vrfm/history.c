// SPDX-License-Identifier: GPL-2.0
/*
 * History: which writes of departed nodes a memory contains. Pure: no locks, no
 * device.
 *
 * A life of a node is the time from creation to destruction of its device. Here
 * it has ended if the link to it is down. Of each ended life a memory contains
 * some of the writes. All nodes compare memories by the same rule. A node that
 * has less loads the memory of a node that has more, and then has the same. So
 * all memories become equal, whatever the rule is. This rule prefers later
 * words.
 *
 * More than the last life is compared, because a node may have missed several
 * lives while it was absent.
 */
#include <linux/kernel.h>
#include <linux/string.h>

#include "history.h"

static int vrfm_cmp(u64 a, u64 b)
{
	return (a > b) - (a < b);
}

/**
 * vrfm_life_cmp - compare how much two memories have of an ended life
 * @a: state of one memory
 * @b: state of the other memory
 *
 * The life that began later decides: a memory that has seen it was linked after
 * the earlier life. Two uncertain memories are never equal, so that one of them
 * is loaded. A memory is uncertain if it may lack writes up to the serial, or
 * may have some bytes of later writes.
 *
 * Return: >0: @a has more; <0: @b has more; 0: both have the same.
 */
int vrfm_life_cmp(const struct vrfm_life *a, const struct vrfm_life *b)
{
	int more = vrfm_cmp(a->epoch, b->epoch) ?:
		   vrfm_cmp(a->synced, b->synced) ?:
		   vrfm_cmp(a->serial, b->serial) ?:
		   vrfm_cmp(a->direct, b->direct);

	if (more || !a->epoch || (a->synced && !a->direct))
		return more;
	return vrfm_cmp(b->tie_breaker, a->tie_breaker);
}

/**
 * vrfm_history_is_empty - check whether a node has no ended life
 * @history: history of the node
 *
 * Return: true if it has none.
 */
bool vrfm_history_is_empty(const struct vrfm_history *history)
{
	return !history->lives[0].epoch;
}

static bool vrfm_history_has(const struct vrfm_history *history, u64 epoch)
{
	u32 i;

	for (i = 0; i < VRFM_LIVES; i++)
		if (history->lives[i].epoch == epoch)
			return true;
	return false;
}

/**
 * vrfm_history_forget - remove a life that is not over
 * @history: history of its node
 * @epoch: id of the life
 *
 * Return: true if it was in the history.
 */
bool vrfm_history_forget(struct vrfm_history *history, u64 epoch)
{
	struct vrfm_life *lives = history->lives;
	u32 i = 0;

	if (!epoch || !vrfm_history_has(history, epoch))
		return false;
	while (lives[i].epoch != epoch)
		i++;
	memmove(&lives[i], &lives[i + 1],
		(VRFM_LIVES - i - 1) * sizeof(*lives));
	lives[VRFM_LIVES - 1] = (struct vrfm_life){ };
	return true;
}

/**
 * vrfm_history_add - add a life that has ended
 * @history: history of its node
 * @life: writes that the memory has of it; epoch 0: none
 *
 * It replaces an entry of the same life. If there are too many, the oldest is
 * removed.
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

/* Return the next ended life from *I on, and advance *I; epoch 0: none. */
static struct vrfm_life vrfm_history_next(const struct vrfm_history *history,
					  u32 *i, u64 alive)
{
	if (*i < VRFM_LIVES && alive && history->lives[*i].epoch == alive)
		++*i;
	return *i < VRFM_LIVES ? history->lives[(*i)++] : (struct vrfm_life){ };
}

/**
 * vrfm_history_cmp - compare how much two memories have of a node's ended lives
 * @a: history in one memory
 * @b: history in the other memory
 * @alive: epoch of the current life, which is skipped; 0: none
 *
 * Return: >0: @a has more; <0: @b has more; 0: both have the same.
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
 * vrfm_history_checkpoint - begin a load: no life has ended since then
 * @history: history of a node
 */
void vrfm_history_checkpoint(struct vrfm_history *history)
{
	u32 i;

	for (i = 0; i < VRFM_LIVES; i++)
		history->lives[i].fresh = false;
}

/**
 * vrfm_history_invalidate - make a history uncertain while another memory is
 * merged
 * @history: history of a node
 * @tie_breaker: unique tag of the mixed memory
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
 * vrfm_history_copy_from_donor - take over the history of the memory that was
 * loaded
 * @history: history of a node
 * @donor: history in the donor's memory, from before its first page
 * @alive: epoch of the current life, as far as this node knows; 0: none
 *
 * Lives that ended since vrfm_history_checkpoint() are kept: this node received
 * their writes until then, in addition to the donor's memory, and perhaps
 * alone.
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
		if (life.fresh)
			vrfm_history_add(history, &life);
	}
}
