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
