/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Credits: number of messages that each side may send. Pure arithmetic; the
 * caller holds the connection's lock.
 *
 * One credit is one receive that is posted at the peer. Initially each side has
 * one credit for each receive in the peer's receive queue. Every message uses
 * one credit. The peer returns credits in the header of every message that it
 * sends. If the peer owes credits for half of its queue and has nothing to
 * send, it returns them in a CREDIT message. The last credit is reserved for
 * CREDIT messages. So two ends that have used all their other credits can still
 * return credits to each other.
 *
 * While the owner holds receives, their credits cannot be returned. So CREDIT
 * is sent when half of the other receives are owed. A receive that a CREDIT
 * message has used is "quiet", and does not count for this rule. Otherwise two
 * ends whose owners hold nearly all receives would answer each other's CREDIT
 * messages endlessly. CREDIT is also sent, and quiet receives count,
 *  - if half of the whole queue is owed,
 *  - if the peer has no credit left,
 *  - if the peer has at most the reserved credit, two or more are owed, and the
 *    owner holds all other receives. So the peer can always send again if the
 *    owner leaves KRDMA_CREDIT_KEEP receives to the peer.
 */
#ifndef KRDMA_CREDIT_H
#define KRDMA_CREDIT_H

#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/types.h>

/*
 * Minimum depth of a receive queue. Half of a smaller queue is at most one
 * receive. So a single CREDIT would make its receiver owe half of the queue,
 * and two sides would answer each other's CREDIT messages endlessly.
 */
#define KRDMA_CREDIT_MIN_DEPTH 4

/*
 * Number of receives that the owner must leave to the peer. One of them is for
 * the reserved credit. When the two others are owed, a CREDIT message is sent,
 * see krdma_credit_should_return().
 */
#define KRDMA_CREDIT_KEEP 3

/**
 * struct krdma_credit - credits of both directions of one connection
 * @avail: number of messages that this side may still send
 * @avail_max: depth of the peer's receive queue, the limit of @avail
 * @unadvertised: number of reposted receives that have not been advertised to
 *	the peer
 * @advertised: number of receives that the peer knows of and has not used,
 *	which is the number of messages that the peer may still send
 * @quiet: number of those @unadvertised receives that were last used by a
 *	message that only returned credits
 * @held: number of receives that the owner keeps
 * @depth: depth of this side's receive queue
 */
struct krdma_credit {
	u16 avail;
	u16 avail_max;
	u16 unadvertised;
	u16 advertised;
	u16 quiet;
	u16 held;
	u16 depth;
};

void krdma_credit_init(struct krdma_credit *c, u16 depth);
void krdma_credit_start(struct krdma_credit *c, u16 peer_depth);
bool krdma_credit_reposted(struct krdma_credit *c, bool quiet);
bool krdma_credit_should_return(const struct krdma_credit *c);

/**
 * krdma_credit_may_send - check whether there is a credit for a message
 * @c: the credits
 * @reserved: the message only returns credits and may use the reserved credit
 *
 * Return: true if krdma_credit_take() may be called.
 */
static inline bool krdma_credit_may_send(const struct krdma_credit *c,
					 bool reserved)
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
static inline bool krdma_credit_may_send_n(const struct krdma_credit *c, u32 n)
{
	return c->avail > n;
}

/**
 * krdma_credit_take - use one credit, and return the owed credits to the peer
 * @c: the credits
 *
 * Return: number of credits to return, for the header of the message.
 */
static inline u16 krdma_credit_take(struct krdma_credit *c)
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
static inline void krdma_credit_use(struct krdma_credit *c)
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
static inline int krdma_credit_granted(struct krdma_credit *c, u16 granted)
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
static inline int krdma_credit_arrived(struct krdma_credit *c)
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
static inline void krdma_credit_hold(struct krdma_credit *c)
{
	c->held++;
}

/**
 * krdma_credit_unhold - account for a receive that the owner returns
 * @c: the credits
 */
static inline void krdma_credit_unhold(struct krdma_credit *c)
{
	c->held--;
}

#endif /* KRDMA_CREDIT_H */
