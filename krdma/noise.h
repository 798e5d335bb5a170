/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Noise: the handshake of two ends that share a key. The handshake is
 * Noise_NNpsk0_25519_ChaChaPoly_BLAKE2s of revision 34 of the Noise Protocol
 * Framework, without changes. The RDMA server is the initiator of Noise,
 * because a REQ has no room for a public key:
 *
 *   server                               client
 *     krdma_noise_init()                   krdma_noise_init()
 *     krdma_noise_write_first()   REP  ->  krdma_noise_read_first()
 *     krdma_noise_read_second()  <- AUTH   krdma_noise_write_second()
 *     krdma_noise_split()                  krdma_noise_split()
 *
 * Each end calls the functions in this order, and calls none after an error. The
 * functions are pure: the caller supplies the random numbers, allocates the
 * state, and serializes the calls with the same state. Copies of keys on the
 * stack are erased before a function returns.
 */
#ifndef KRDMA_NOISE_H
#define KRDMA_NOISE_H

#include <linux/types.h>

#define KRDMA_NOISE_KEY	32 /* bytes of a key, public key or hash */
#define KRDMA_NOISE_TAG	16 /* bytes that encryption adds */
#define KRDMA_NOISE_MSG	(KRDMA_NOISE_KEY + KRDMA_NOISE_TAG)

/**
 * struct krdma_noise - state of a handshake
 * @hash: h of Noise, the hash of all that both ends have sent
 * @chain: ck of Noise, from which all later keys are derived
 * @key: k of Noise, the key of the next payload. Its nonce is always 0, because
 *	each payload has a new key
 * @psk: shared key
 * @secret: own ephemeral secret
 * @remote: ephemeral public key of the peer
 */
struct krdma_noise {
	u8 hash[KRDMA_NOISE_KEY];
	u8 chain[KRDMA_NOISE_KEY];
	u8 key[KRDMA_NOISE_KEY];
	u8 psk[KRDMA_NOISE_KEY];
	u8 secret[KRDMA_NOISE_KEY];
	u8 remote[KRDMA_NOISE_KEY];
};

void krdma_noise_init(struct krdma_noise *noise, const u8 *psk,
		      const void *prologue, size_t len);
int krdma_noise_write_first(struct krdma_noise *noise, u8 *msg,
			    const u8 *secret, const void *payload, size_t len);
int krdma_noise_read_first(struct krdma_noise *noise, void *payload,
			   const u8 *msg, size_t len);
int krdma_noise_write_second(struct krdma_noise *noise, u8 *msg,
			     const u8 *secret, const void *payload, size_t len);
int krdma_noise_read_second(struct krdma_noise *noise, void *payload,
			    const u8 *msg, size_t len);
void krdma_noise_split(struct krdma_noise *noise, u8 *first, u8 *second);
void krdma_noise_rekey(u8 *key);
void krdma_noise_derive(u8 *out, size_t len, const u8 *key, const char *label);

#endif /* KRDMA_NOISE_H */
