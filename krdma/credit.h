/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Credits: how many messages each side may send. Pure arithmetic; the caller
 * holds the connection's lock.
 *
 * One credit stands for one receive that is posted at the peer. The peer starts
 * us with as many as its receive queue is deep. Every message takes one. The
 * peer gives credits back in the header of whatever it sends, and when it owes
 * half of its queue and has nothing to send, in a message of its own. The last
 * credit is kept for such messages, so that two ends that both have used up
 * theirs can still give some back.
 *
 * Receives that are lent to the owner make the queue shorter: half of what is
 * left counts. Credits that were used by messages which only return credits
 * (quiet) do not count there, or two ends that have lent nearly everything would
 * answer each other endlessly. They do count if the peer has no credit at all,
 * or if it has only the reserved one and two or more are owed. So the peer can
 * send as long as the owner keeps KRDMA_CREDIT_KEEP fewer than the queue has.
 */
#ifndef KRDMA_CREDIT_H
#define KRDMA_CREDIT_H

#include <linux/types.h>

/*
 * Fewest receives a side may have: a message that only returns credits must
 * not itself make the other side owe half of its queue, or the two would answer
 * each other for ever.
 */
#define KRDMA_CREDIT_MIN_DEPTH 4

/*
 * Receives that the owner must leave to the peer: the reserved credit, and the
 * two that are worth a message, see krdma_credit_should_return().
 */
#define KRDMA_CREDIT_KEEP 3

/**
 * struct krdma_credit - both directions of one connection
 * @avail: messages we may still send
 * @avail_max: depth of the peer's receive queue, the most @avail can be
 * @owed: receives posted again that the peer has not been told about
 * @told: receives the peer knows of and has not used: what it may still send
 * @quiet: of @owed, receives that took messages which only returned credits
 * @lent: receives that the owner keeps
 * @depth: depth of our own receive queue
 */
struct krdma_credit {
	u16 avail;
	u16 avail_max;
	u16 owed;
	u16 told;
	u16 quiet;
	u16 lent;
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
void krdma_credit_lend(struct krdma_credit *c);
void krdma_credit_unlend(struct krdma_credit *c);
bool krdma_credit_should_return(const struct krdma_credit *c);

#endif /* KRDMA_CREDIT_H */
