// SPDX-License-Identifier: GPL-2.0
/*
 * Who is gone, and who has seen more of it. Pure: no locks, nothing of the
 * device.
 *
 * A memory has so much of each life of each node that is over. These are
 * ordered, and all nodes know the same order: who has less loads the memory of
 * one that has more, and has what that has then. So all come to be the same,
 * whatever the order is; it is made so that the later words win.
 *
 * More than the last life must be known: while somebody was away there may have
 * been several.
 */
#include <linux/kernel.h>
#include <linux/string.h>

#include "past.h"

static int vrfm_cmp(u64 a, u64 b)
{
	return (a > b) - (a < b);
}

/**
 * vrfm_life_cmp - which memory has more of a node?
 * @a: what one has
 * @b: what the other one has
 *
 * Of two lives that one that began later counts: who has seen that was there
 * after the other one, too. Memories that are not sure to be the same, for not all
 * up to the serial had arrived, or something of the next one may be there, in
 * part or written directly, are never equal: one of them is taken.
 *
 * Return: >0: @a has more; 0: both have the same.
 */
int vrfm_life_cmp(const struct vrfm_life *a, const struct vrfm_life *b)
{
	int more = vrfm_cmp(a->epoch, b->epoch) ?:
		   vrfm_cmp(a->synced, b->synced) ?:
		   vrfm_cmp(a->serial, b->serial) ?:
		   vrfm_cmp(a->direct, b->direct);

	if (more || !a->epoch || (a->synced && !a->direct))
		return more;
	return vrfm_cmp(b->whose, a->whose);
}

/**
 * vrfm_past_is_empty - is no life of that node known to be over?
 * @past: lives of the node
 *
 * Return: true if none is.
 */
bool vrfm_past_is_empty(const struct vrfm_past *past)
{
	return !past->lives[0].epoch;
}

static bool vrfm_past_has(const struct vrfm_past *past, u64 epoch)
{
	u32 i;

	for (i = 0; i < VRFM_LIVES; i++)
		if (past->lives[i].epoch == epoch)
			return true;
	return false;
}

/**
 * vrfm_past_forget - that life goes on
 * @past: lives of its node
 * @epoch: which
 *
 * Return: it was among them.
 */
bool vrfm_past_forget(struct vrfm_past *past, u64 epoch)
{
	struct vrfm_life *lives = past->lives;
	u32 i = 0;

	if (!epoch || !vrfm_past_has(past, epoch))
		return false;
	while (lives[i].epoch != epoch)
		i++;
	memmove(&lives[i], &lives[i + 1],
		(VRFM_LIVES - i - 1) * sizeof(*lives));
	lives[VRFM_LIVES - 1] = (struct vrfm_life){ };
	return true;
}

/**
 * vrfm_past_add - that life is over
 * @past: lives of its node
 * @life: what the memory has of it; not even that if its epoch is 0
 *
 * If there are too many the oldest is forgotten.
 */
void vrfm_past_add(struct vrfm_past *past, const struct vrfm_life *life)
{
	struct vrfm_life *lives = past->lives;
	u32 i = 0;

	vrfm_past_forget(past, life->epoch);
	while (i < VRFM_LIVES && lives[i].epoch > life->epoch)
		i++;
	if (i == VRFM_LIVES || !life->epoch)
		return;
	memmove(&lives[i + 1], &lives[i],
		(VRFM_LIVES - i - 1) * sizeof(*lives));
	lives[i] = *life;
}

/* The next life from *I on that is over; its epoch is 0 if there is none. */
static struct vrfm_life vrfm_past_next(const struct vrfm_past *past, u32 *i,
				       u64 alive)
{
	if (*i < VRFM_LIVES && alive && past->lives[*i].epoch == alive)
		++*i;
	return *i < VRFM_LIVES ? past->lives[(*i)++] : (struct vrfm_life){ };
}

/**
 * vrfm_past_cmp - which memory has more of the former lives of a node?
 * @a: what one has
 * @b: what the other one has
 * @alive: the life that goes on, is left out; 0: none
 *
 * Return: >0: @a has more; 0: both have the same.
 */
int vrfm_past_cmp(const struct vrfm_past *a, const struct vrfm_past *b,
		  u64 alive)
{
	struct vrfm_life one, other;
	u32 i = 0, j = 0, n = 0;
	int more;

	do {
		one = vrfm_past_next(a, &i, alive);
		other = vrfm_past_next(b, &j, alive);
		more = vrfm_life_cmp(&one, &other);
	} while (!more && one.epoch && ++n < VRFM_LIVES_COUNT);
	return more;
}

/**
 * vrfm_past_settle - an image is about to be loaded
 * @past: lives of a node
 */
void vrfm_past_settle(struct vrfm_past *past)
{
	u32 i;

	for (i = 0; i < VRFM_LIVES; i++)
		past->lives[i].fresh = false;
}

/**
 * vrfm_past_doubt - what another memory has is mixed in
 * @past: lives of a node
 * @whose: what becomes of it, never the same twice
 */
void vrfm_past_doubt(struct vrfm_past *past, u32 whose)
{
	u32 i;

	for (i = 0; i < VRFM_LIVES; i++) {
		past->lives[i].synced = false;
		past->lives[i].whose = whose;
	}
}

/**
 * vrfm_past_adopt - the memory is what another one is
 * @past: lives of a node
 * @holder: what that one has of them
 * @alive: the life that goes on, as far as this node knows; 0: none
 *
 * What ended since vrfm_past_settle() was heard of until then: that is there beside
 * what the holder has, and so is what nobody else has.
 */
void vrfm_past_adopt(struct vrfm_past *past, const struct vrfm_past *holder,
		     u64 alive)
{
	const struct vrfm_past mine = *past;
	struct vrfm_life life;
	u32 i;

	*past = *holder;
	vrfm_past_forget(past, alive);
	for (i = 0; i < VRFM_LIVES; i++) {
		life = mine.lives[i];
		life.synced = false;
		if (life.fresh)
			vrfm_past_add(past, &life);
	}
}
