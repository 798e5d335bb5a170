/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Seal: the keys and counters of a connection, and its sealed messages. A tag
 * behind a message proves that the peer has sent exactly this message at this
 * place of the stream. Each end counts the messages of both directions. The
 * numbers are not sent, so a message that is repeated or moved does not open, and
 * none opens behind a missing message of its kind. A control message (CREDIT,
 * PING, PONG, BYE) also does not open if data before it are missing.
 *
 *   message            number           covered by the tag       encrypted
 *   START              messages         header                   the rest
 *   DATA               messages         header                   the rest
 *     without encrypt  messages         header and the rest      nothing
 *   CREDIT, PING,      2^63 + control   header, and the number   nothing
 *   PONG, BYE                           of messages before it
 *
 * The other messages are about memory that one end shows to the other. They are
 * not sealed, because the levels that seal do not have them.
 *
 * The algorithm is ChaCha20-Poly1305, and the number is its nonce. After
 * KRDMA_SEAL_REKEY messages a key is replaced by its successor.
 *
 * A message is sealed by krdma_seal_message(), posted, and counted by
 * krdma_seal_posted(). A control message may be sealed, posted and counted while
 * another message is being sealed. The peer gets the control message first. So
 * numbers and keys move when a message is posted, not when it is sealed. No
 * number is used twice: until a message is counted, no other one of its kind can
 * be sealed, even if the message is never posted.
 *
 * The functions are pure, except that krdma_seal_alloc() allocates. The caller
 * serializes
 * - krdma_seal_message() for START and DATA;
 * - krdma_seal_message() for control messages, and krdma_seal_posted();
 * - krdma_seal_open().
 */
#ifndef KRDMA_SEAL_H
#define KRDMA_SEAL_H

#include <linux/types.h>

#include "noise.h"
#include "wire.h"

#define KRDMA_SEAL_TAG	 KRDMA_NOISE_TAG
#define KRDMA_SEAL_EXTRA (sizeof(struct krdma_wire_hdr) + KRDMA_SEAL_TAG)
#define KRDMA_SEAL_REKEY 65536 /* number of uses of a key */

/**
 * struct krdma_seal_half - keys and counters of one direction
 * @key: key of the messages
 * @messages: number of START and DATA messages
 * @control: number of control messages
 */
struct krdma_seal_half {
	u8 key[KRDMA_NOISE_KEY];
	u64 messages;
	u64 control;
};

/**
 * struct krdma_seal - keys of a connection
 * @noise: state of the handshake, until krdma_seal_start()
 * @tx: direction to the peer
 * @rx: direction from the peer
 * @encrypt: DATA is encrypted, not only covered by a tag
 * @sealed: a START or DATA is sealed, and not counted yet
 * @sealed_control: a control message is sealed, and not counted yet
 */
struct krdma_seal {
	struct krdma_noise noise;
	struct krdma_seal_half tx;
	struct krdma_seal_half rx;
	bool encrypt;
	bool sealed;
	bool sealed_control;
};

/* Check whether the last START or DATA of a direction has changed its key. */
static inline bool krdma_seal_is_rekeyed(const struct krdma_seal_half *half)
{
	return half->messages && !(half->messages % KRDMA_SEAL_REKEY);
}

struct krdma_seal *krdma_seal_alloc(gfp_t gfp);
void krdma_seal_free(struct krdma_seal *seal);
void krdma_seal_start(struct krdma_seal *seal, bool server, bool encrypt);
int krdma_seal_message(struct krdma_seal *seal, void *msg, const void *data,
		       size_t len);
bool krdma_seal_posted(struct krdma_seal *seal, u8 type);
int krdma_seal_open(struct krdma_seal *seal, void *msg, size_t len);

#endif /* KRDMA_SEAL_H */
