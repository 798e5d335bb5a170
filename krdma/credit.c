// SPDX-License-Identifier: GPL-2.0
/* Credit arithmetic of message mode, see credit.h for the rules. */
#include <linux/bug.h>
#include <linux/errno.h>

#include "credit.h"

/**
 * krdma_credit_init - initialize the credits of a new connection
 * @c: the credits
 * @depth: number of receives that this side posts
 */
void krdma_credit_init(struct krdma_credit *c, u16 depth)
{
	*c = (struct krdma_credit){ .depth = depth, .advertised = depth };
}

/**
 * krdma_credit_start - set the credits that the peer's hello grants
 * @c: the credits
 * @peer_depth: number of receives that the peer has posted
 */
void krdma_credit_start(struct krdma_credit *c, u16 peer_depth)
{
	c->avail_max = peer_depth;
	WRITE_ONCE(c->avail, peer_depth);
}

/**
 * krdma_credit_may_send - check whether there is a credit for a message
 * @c: the credits
 * @reserved: the message only returns credits and may use the reserved credit
 *
 * Return: true if krdma_credit_take() may be called.
 */
bool krdma_credit_may_send(const struct krdma_credit *c, bool reserved)
{
	return READ_ONCE(c->avail) > (reserved ? 0 : 1);
}

/**
 * krdma_credit_may_send_n - check whether there are credits for several
 * messages
 * @c: the credits
 * @n: number of messages
 *
 * Return: true if krdma_credit_take() may be called @n times.
 */
bool krdma_credit_may_send_n(const struct krdma_credit *c, u32 n)
{
	return c->avail > n;
}

/**
 * krdma_credit_take - use one credit, and return the owed credits to the peer
 * @c: the credits
 *
 * Return: number of credits to return, for the header of the message.
 */
u16 krdma_credit_take(struct krdma_credit *c)
{
	u16 granted = c->unadvertised;

	WRITE_ONCE(c->avail, c->avail - 1);
	c->unadvertised = 0;
	c->quiet = 0;
	c->advertised += granted;
	return granted;
}

/**
 * krdma_credit_use - use one credit for a WR that cannot return credits
 * @c: the credits; krdma_credit_may_send() must have returned true
 */
void krdma_credit_use(struct krdma_credit *c)
{
	WRITE_ONCE(c->avail, c->avail - 1);
}

/**
 * krdma_credit_granted - add credits that the peer returned
 * @c: the credits
 * @granted: number from a message's header, not yet checked
 *
 * Return: 0, or -EPROTO if the sum exceeds the depth of the peer's receive
 * queue.
 */
int krdma_credit_granted(struct krdma_credit *c, u16 granted)
{
	if (granted > c->avail_max - c->avail)
		return -EPROTO;
	WRITE_ONCE(c->avail, c->avail + granted);
	return 0;
}

/**
 * krdma_credit_arrived - account for a message of the peer
 * @c: the credits
 *
 * The message has used a receive. That alone does not prove that the peer had a
 * credit, because this side may have posted receives that it has not advertised
 * yet.
 *
 * Return: 0, or -EPROTO if the peer had no credit left.
 */
int krdma_credit_arrived(struct krdma_credit *c)
{
	if (!c->advertised)
		return -EPROTO;
	c->advertised--;
	return 0;
}

/**
 * krdma_credit_hold - account for a receive that the owner keeps
 * @c: the credits
 */
void krdma_credit_hold(struct krdma_credit *c)
{
	c->held++;
}

/**
 * krdma_credit_unhold - account for a receive that the owner returns
 * @c: the credits
 */
void krdma_credit_unhold(struct krdma_credit *c)
{
	c->held--;
}

/**
 * krdma_credit_reposted - account for a receive that is posted again
 * @c: the credits
 * @quiet: the last message in this receive only returned credits
 *
 * Return: true; or false, without any effect, if more receives would be owed
 * than the queue has, which is a bug in krdma.
 */
bool krdma_credit_reposted(struct krdma_credit *c, bool quiet)
{
	if (WARN_ON_ONCE(c->unadvertised >= c->depth))
		return false;
	c->unadvertised++;
	c->quiet += quiet;
	return true;
}

/**
 * krdma_credit_should_return - check whether credits must be returned in a
 * CREDIT message
 * @c: the credits
 *
 * Credits are returned when half of the queue is owed. Returning them earlier
 * would need more messages. Returning them later could stop a sender that has
 * only the reserved credit left. credit.h describes how receives that the owner
 * holds count.
 *
 * Return: true if enough credits are owed.
 */
bool krdma_credit_should_return(const struct krdma_credit *c)
{
	u16 loud = c->unadvertised - c->quiet;

	if (c->unadvertised >= c->depth / 2 ||
	    (c->unadvertised && !c->advertised) ||
	    (loud && loud >= (c->depth - c->held) / 2))
		return true;
	/*
	 * Check whether the peer cannot send until this side returns credits.
	 * That is so if the peer has at most the reserved credit, and the owner
	 * holds all receives except those that are already posted again and
	 * owed to the peer. In this state no message waits for the owner. Only
	 * the owner could free more receives, and the owner may itself wait for
	 * the peer. If only one credit is owed, the result is false: otherwise
	 * two ends in this state would answer each other's CREDIT messages
	 * endlessly.
	 */
	return c->advertised <= 1 && c->unadvertised >= 2 &&
	       c->advertised + c->unadvertised + c->held == c->depth;
}
