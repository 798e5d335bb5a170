/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Credits: number of messages that each side may send. Pure arithmetic; the
 * caller holds the connection's lock.
 *
 * One credit is one receive that is posted at the peer. Initially each side has
 * one credit for each receive in the peer's receive queue. Every message uses
 * one credit. The peer returns credits in the header of every message that it
 * sends. If it owes half of its queue and has nothing to send, it returns them
 * in a CREDIT message. The last credit is reserved for CREDIT messages. So two
 * ends that have used all their other credits can still return some.
 *
 * Receives that the owner holds are subtracted first: CREDIT is sent when half
 * of the other receives are owed. This does not count credits that CREDIT
 * messages have used ("quiet" credits). Otherwise two ends whose owners hold
 * nearly all buffers would answer each other endlessly. Quiet credits do count
 *  - if half of the whole queue is owed,
 *  - if the peer has no credit left,
 *  - if the peer has only the reserved credit, and two or more are owed.
 *    So the peer can send as long as the owner leaves KRDMA_CREDIT_KEEP
 *    receives to the peer.
 */
#ifndef KRDMA_CREDIT_H
#define KRDMA_CREDIT_H

#include <linux/types.h>

/*
 * Minimum depth of a receive queue. A message that only returns credits must
 * not make its receiver owe half of the queue. Otherwise both sides would
 * answer each other endlessly.
 */
#define KRDMA_CREDIT_MIN_DEPTH 4

/*
 * Number of receives that the owner must leave to the peer. One is the reserved
 * credit. If the two others are owed, a CREDIT message is sent, see
 * krdma_credit_should_return().
 */
#define KRDMA_CREDIT_KEEP 3

/**
 * struct krdma_credit - credits of both directions of one connection
 * @avail: number of messages that this side may still send
 * @avail_max: depth of the peer's receive queue, the limit of @avail
 * @unadvertised: number of reposted receives that have not been advertised to
 *	the peer
 * @advertised: number of receives that the peer knows of and has not used:
 *	number of messages that the peer may still send
 * @quiet: number of @unadvertised receives that were used by a message that
 *	only returned credits
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
bool krdma_credit_may_send_n(const struct krdma_credit *c, u32 n);
bool krdma_credit_may_send(const struct krdma_credit *c, bool reserved);
u16 krdma_credit_take(struct krdma_credit *c);
void krdma_credit_use(struct krdma_credit *c);
void krdma_credit_undo(struct krdma_credit *c, u16 granted);
int krdma_credit_granted(struct krdma_credit *c, u16 granted);
int krdma_credit_arrived(struct krdma_credit *c);
bool krdma_credit_reposted(struct krdma_credit *c, bool quiet);
void krdma_credit_hold(struct krdma_credit *c);
void krdma_credit_unhold(struct krdma_credit *c);
bool krdma_credit_should_return(const struct krdma_credit *c);

#endif /* KRDMA_CREDIT_H */
