// SPDX-License-Identifier: GPL-2.0
/* Credit arithmetic of message mode, see credit.h for the rules. */
#include <linux/bug.h>
#include <linux/errno.h>

#include "credit.h"

/**
 * krdma_credit_init - before the connection exists
 * @c: the credits
 * @depth: receives this side posts
 */
void krdma_credit_init(struct krdma_credit *c, u16 depth)
{
	*c = (struct krdma_credit){ .depth = depth, .told = depth };
}

/**
 * krdma_credit_start - the peer's hello said how many receives it has posted
 * @c: the credits
 * @peer_depth: receives at the peer
 */
void krdma_credit_start(struct krdma_credit *c, u16 peer_depth)
{
	c->avail_max = peer_depth;
	c->avail = peer_depth;
}

/**
 * krdma_credit_may_send - is there a credit for one more message
 * @c: the credits
 * @reserved: for a message that only returns credits
 *
 * Return: true if krdma_credit_take() may be called.
 */
bool krdma_credit_may_send(const struct krdma_credit *c, bool reserved)
{
	return c->avail > (reserved ? 0 : 1);
}

/**
 * krdma_credit_may_send_n - are there credits for some messages
 * @c: the credits
 * @n: how many
 *
 * Return: true if krdma_credit_take() may be called so often.
 */
bool krdma_credit_may_send_n(const struct krdma_credit *c, u32 n)
{
	return c->avail > n;
}

/**
 * krdma_credit_take - use one credit, give back what is owed
 * @c: the credits
 *
 * Return: what goes into the message's header.
 */
u16 krdma_credit_take(struct krdma_credit *c)
{
	u16 granted = c->owed;

	c->avail--;
	c->owed = 0;
	c->quiet = 0;
	c->told += granted;
	return granted;
}

/**
 * krdma_credit_use - something is sent that cannot give credits back
 * @c: credits; krdma_credit_may_send() is true
 */
void krdma_credit_use(struct krdma_credit *c)
{
	c->avail--;
}

/**
 * krdma_credit_undo - the message that took the credit could not be posted
 * @c: the credits
 * @granted: what krdma_credit_take() returned
 */
void krdma_credit_undo(struct krdma_credit *c, u16 granted)
{
	c->avail++;
	c->told -= granted;
	c->owed += granted;
}

/**
 * krdma_credit_granted - the peer gave credits back
 * @c: the credits
 * @granted: from a message's header, not to be trusted
 *
 * Return: 0, or -EPROTO if the peer gave more than it can have receives.
 */
int krdma_credit_granted(struct krdma_credit *c, u16 granted)
{
	if (granted > c->avail_max - c->avail)
		return -EPROTO;
	c->avail += granted;
	return 0;
}

/**
 * krdma_credit_arrived - the peer has sent a message
 * @c: the credits
 *
 * There was a receive for it, or it would not have arrived; but that may be one
 * that the peer has not been told about.
 *
 * Return: 0, or -EPROTO if the peer had no credit left.
 */
int krdma_credit_arrived(struct krdma_credit *c)
{
	if (!c->told)
		return -EPROTO;
	c->told--;
	return 0;
}

/**
 * krdma_credit_lend - the owner keeps a receive
 * @c: the credits
 */
void krdma_credit_lend(struct krdma_credit *c)
{
	c->lent++;
}

/**
 * krdma_credit_unlend - the owner gives back a receive
 * @c: the credits
 */
void krdma_credit_unlend(struct krdma_credit *c)
{
	c->lent--;
}

/**
 * krdma_credit_reposted - a receive is posted again
 * @c: the credits
 * @quiet: what it had taken only returned credits
 *
 * Return: false if that is more than the queue is deep, which is a bug of
 * ours; nothing is counted then.
 */
bool krdma_credit_reposted(struct krdma_credit *c, bool quiet)
{
	if (WARN_ON_ONCE(c->owed >= c->depth))
		return false;
	c->owed++;
	c->quiet += quiet;
	return true;
}

/*
 * The peer has the reserved credit at most, and nothing waits to be received:
 * only the owner could change that, and it may wait for the peer. With one
 * credit owed there is no message: two ends in that state would answer each
 * other endlessly. With two, each message answers two of the other end.
 */
static bool krdma_credit_is_stuck(const struct krdma_credit *c)
{
	return c->told <= 1 && c->owed >= 2 &&
	       c->told + c->owed + c->lent == c->depth;
}

/**
 * krdma_credit_should_return - check whether credits need a message of their own
 * @c: the credits
 *
 * Half of the queue: earlier would cost messages, later would let a sender
 * stop that has nothing left but the reserved credit. See credit.h for what is
 * lent.
 *
 * Return: true if so much is owed.
 */
bool krdma_credit_should_return(const struct krdma_credit *c)
{
	u16 loud = c->owed - c->quiet;

	if (c->owed >= c->depth / 2 || (c->owed && !c->told))
		return true;
	return (loud && loud >= (c->depth - c->lent) / 2) ||
	       krdma_credit_is_stuck(c);
}
