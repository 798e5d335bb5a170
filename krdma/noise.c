// SPDX-License-Identifier: GPL-2.0
/*
 * Noise: hashes, derivation of keys, and the two messages of the handshake. The
 * names of the static functions are those of the Noise Protocol Framework.
 */
#include <crypto/blake2s.h>
#include <crypto/chacha20poly1305.h>
#include <crypto/curve25519.h>
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/string.h>

#include <compat.h>

#include "noise.h"

static_assert(KRDMA_NOISE_KEY == BLAKE2S_HASH_SIZE);
static_assert(KRDMA_NOISE_KEY == BLAKE2S_KEY_SIZE);
static_assert(KRDMA_NOISE_KEY == CHACHA20POLY1305_KEY_SIZE);
static_assert(KRDMA_NOISE_KEY == CURVE25519_KEY_SIZE);
static_assert(KRDMA_NOISE_TAG == CHACHA20POLY1305_AUTHTAG_SIZE);

static const char krdma_noise_name[] = "Noise_NNpsk0_25519_ChaChaPoly_BLAKE2s";
/* Noise hashes a name that is longer than a hash. It would pad a shorter one. */
static_assert(sizeof(krdma_noise_name) - 1 > KRDMA_NOISE_KEY);

/* Hash two pieces as one; @out may be one of them. */
static void krdma_noise_hash(u8 *out, const void *a, size_t a_len,
			     const void *b, size_t b_len)
{
	struct blake2s_ctx ctx;

	blake2s_init(&ctx, KRDMA_NOISE_KEY);
	blake2s_update(&ctx, a, a_len);
	blake2s_update(&ctx, b, b_len);
	blake2s_final(&ctx, out); /* also erases ctx */
}

static void krdma_noise_hmac(u8 *out, const u8 *key, const void *data,
			     size_t len)
{
	u8 inner[BLAKE2S_BLOCK_SIZE], outer[BLAKE2S_BLOCK_SIZE];
	u8 hash[KRDMA_NOISE_KEY];
	int i;

	for (i = 0; i < BLAKE2S_BLOCK_SIZE; i++) {
		inner[i] = 0x36 ^ (i < KRDMA_NOISE_KEY ? key[i] : 0);
		outer[i] = 0x5c ^ (i < KRDMA_NOISE_KEY ? key[i] : 0);
	}
	krdma_noise_hash(hash, inner, sizeof(inner), data, len);
	krdma_noise_hash(out, outer, sizeof(outer), hash, sizeof(hash));
	memzero_explicit(inner, sizeof(inner));
	memzero_explicit(outer, sizeof(outer));
	memzero_explicit(hash, sizeof(hash));
}

static void krdma_noise_hkdf(u8 (*out)[KRDMA_NOISE_KEY], unsigned int n,
			     const u8 *chain, const void *material, size_t len)
{
	u8 key[KRDMA_NOISE_KEY], data[KRDMA_NOISE_KEY + 1];
	size_t data_len = 0;
	unsigned int i;

	krdma_noise_hmac(key, chain, material, len);
	for (i = 0; i < n; i++) {
		data[data_len] = i + 1;
		krdma_noise_hmac(out[i], key, data, data_len + 1);
		memcpy(data, out[i], KRDMA_NOISE_KEY);
		data_len = KRDMA_NOISE_KEY;
	}
	memzero_explicit(key, sizeof(key));
	memzero_explicit(data, sizeof(data));
}

static void krdma_noise_mix_hash(struct krdma_noise *noise, const void *data,
				 size_t len)
{
	krdma_noise_hash(noise->hash, noise->hash, sizeof(noise->hash), data,
			 len);
}

static void krdma_noise_mix_key(struct krdma_noise *noise, const u8 *material)
{
	u8 out[2][KRDMA_NOISE_KEY];

	krdma_noise_hkdf(out, 2, noise->chain, material, KRDMA_NOISE_KEY);
	memcpy(noise->chain, out[0], KRDMA_NOISE_KEY);
	memcpy(noise->key, out[1], KRDMA_NOISE_KEY);
	memzero_explicit(out, sizeof(out));
}

static void krdma_noise_mix_psk(struct krdma_noise *noise)
{
	u8 out[3][KRDMA_NOISE_KEY];

	krdma_noise_hkdf(out, 3, noise->chain, noise->psk, KRDMA_NOISE_KEY);
	memcpy(noise->chain, out[0], KRDMA_NOISE_KEY);
	krdma_noise_mix_hash(noise, out[1], KRDMA_NOISE_KEY);
	memcpy(noise->key, out[2], KRDMA_NOISE_KEY);
	memzero_explicit(out, sizeof(out));
}

static void krdma_noise_mix_public(struct krdma_noise *noise, const u8 *public)
{
	krdma_noise_mix_hash(noise, public, KRDMA_NOISE_KEY);
	krdma_noise_mix_key(noise, public);
}

static void krdma_noise_encrypt_and_hash(struct krdma_noise *noise, u8 *dst,
					 const void *payload, size_t len)
{
	chacha20poly1305_encrypt(dst, payload, len, noise->hash,
				 sizeof(noise->hash), 0, noise->key);
	krdma_noise_mix_hash(noise, dst, len + KRDMA_NOISE_TAG);
}

/* @payload may be @src. So hash the ciphertext before it is overwritten. */
static bool krdma_noise_decrypt_and_hash(struct krdma_noise *noise,
					 void *payload, const u8 *src,
					 size_t len)
{
	u8 hash[KRDMA_NOISE_KEY];

	krdma_noise_hash(hash, noise->hash, sizeof(noise->hash), src, len);
	if (!chacha20poly1305_decrypt(payload, src, len, noise->hash,
				      sizeof(noise->hash), 0, noise->key))
		return false;
	memcpy(noise->hash, hash, sizeof(hash));
	return true;
}

/**
 * krdma_noise_init - start a handshake
 * @noise: state to fill in
 * @psk: shared key of KRDMA_NOISE_KEY bytes
 * @prologue: bytes that both ends must agree on
 * @len: number of bytes of @prologue
 *
 * Context: any.
 */
void krdma_noise_init(struct krdma_noise *noise, const u8 *psk,
		      const void *prologue, size_t len)
{
	memset(noise, 0, sizeof(*noise));
	krdma_noise_hash(noise->hash, krdma_noise_name,
			 sizeof(krdma_noise_name) - 1, NULL, 0);
	memcpy(noise->chain, noise->hash, sizeof(noise->chain));
	krdma_noise_mix_hash(noise, prologue, len);
	memcpy(noise->psk, psk, sizeof(noise->psk));
}

/**
 * krdma_noise_write_first - write the initiator's message: psk, e
 * @noise: state of krdma_noise_init()
 * @msg: room for KRDMA_NOISE_MSG + @len bytes
 * @secret: new random secret of curve25519_generate_secret(), used only once
 * @payload: bytes that the message contains
 * @len: number of bytes of @payload
 *
 * Context: process, because the call multiplies a point of the curve.
 * Return: 0 or -EINVAL: @secret is 0.
 */
int krdma_noise_write_first(struct krdma_noise *noise, u8 *msg,
			    const u8 *secret, const void *payload, size_t len)
{
	u8 public[KRDMA_NOISE_KEY];

	memcpy(noise->secret, secret, sizeof(noise->secret));
	if (!curve25519_generate_public(public, noise->secret))
		return -EINVAL;
	krdma_noise_mix_psk(noise);
	krdma_noise_mix_public(noise, public);
	memcpy(msg, public, sizeof(public));
	krdma_noise_encrypt_and_hash(noise, msg + sizeof(public), payload, len);
	return 0;
}

/**
 * krdma_noise_read_first - check the initiator's message
 * @noise: state of krdma_noise_init(); an error does not change it
 * @payload: room for @len - KRDMA_NOISE_MSG bytes; an error does not change it.
 *	May be the place of the payload in @msg
 * @msg: message of the peer
 * @len: number of bytes of @msg
 *
 * The call does no multiplication. So a peer with another key costs little.
 *
 * Context: any.
 * Return: 0 or -EKEYREJECTED: the peer has another key or prologue, or the
 * message was changed or is too short.
 */
int krdma_noise_read_first(struct krdma_noise *noise, void *payload,
			   const u8 *msg, size_t len)
{
	struct krdma_noise next = *noise;
	int ret = -EKEYREJECTED;

	if (len < KRDMA_NOISE_MSG)
		goto erase;
	memcpy(next.remote, msg, sizeof(next.remote));
	krdma_noise_mix_psk(&next);
	krdma_noise_mix_public(&next, next.remote);
	if (!krdma_noise_decrypt_and_hash(&next, payload,
					  msg + sizeof(next.remote),
					  len - sizeof(next.remote)))
		goto erase;
	*noise = next;
	ret = 0;
erase:
	memzero_explicit(&next, sizeof(next));
	return ret;
}

/**
 * krdma_noise_write_second - write the responder's message: e, ee
 * @noise: state of krdma_noise_read_first()
 * @msg: room for KRDMA_NOISE_MSG + @len bytes
 * @secret: new random secret of curve25519_generate_secret(), used only once
 * @payload: bytes that the message contains
 * @len: number of bytes of @payload
 *
 * Context: process, because the call multiplies two points of the curve.
 * Return: 0, -EINVAL: @secret is 0, or -EKEYREJECTED: the product with the
 * peer's public key is the null point, which does not depend on @secret.
 */
int krdma_noise_write_second(struct krdma_noise *noise, u8 *msg,
			     const u8 *secret, const void *payload, size_t len)
{
	u8 public[KRDMA_NOISE_KEY], shared[KRDMA_NOISE_KEY];

	memcpy(noise->secret, secret, sizeof(noise->secret));
	if (!curve25519_generate_public(public, noise->secret))
		return -EINVAL;
	if (!curve25519(shared, noise->secret, noise->remote))
		return -EKEYREJECTED;
	krdma_noise_mix_public(noise, public);
	krdma_noise_mix_key(noise, shared);
	memzero_explicit(shared, sizeof(shared));
	memcpy(msg, public, sizeof(public));
	krdma_noise_encrypt_and_hash(noise, msg + sizeof(public), payload, len);
	return 0;
}

/**
 * krdma_noise_read_second - check the responder's message
 * @noise: state of krdma_noise_write_first(); an error does not change it
 * @payload: room for @len - KRDMA_NOISE_MSG bytes; an error does not change it.
 *	May be the place of the payload in @msg
 * @msg: message of the peer
 * @len: number of bytes of @msg
 *
 * Context: process, because the call multiplies a point of the curve.
 * Return: 0 or -EKEYREJECTED: the peer has another key or prologue, the message
 * was changed or is too short, or the product of the keys is the null point.
 */
int krdma_noise_read_second(struct krdma_noise *noise, void *payload,
			    const u8 *msg, size_t len)
{
	struct krdma_noise next = *noise;
	u8 shared[KRDMA_NOISE_KEY];
	int ret = -EKEYREJECTED;

	if (len < KRDMA_NOISE_MSG)
		goto erase;
	memcpy(next.remote, msg, sizeof(next.remote));
	if (!curve25519(shared, next.secret, next.remote))
		goto erase;
	krdma_noise_mix_public(&next, next.remote);
	krdma_noise_mix_key(&next, shared);
	if (!krdma_noise_decrypt_and_hash(&next, payload,
					  msg + sizeof(next.remote),
					  len - sizeof(next.remote)))
		goto erase;
	*noise = next;
	ret = 0;
erase:
	memzero_explicit(&next, sizeof(next));
	memzero_explicit(shared, sizeof(shared));
	return ret;
}

/**
 * krdma_noise_split - end a handshake
 * @noise: state after both messages; the call erases it
 * @first: room for the key of the initiator's messages
 * @second: room for the key of the responder's messages
 *
 * Context: any.
 */
void krdma_noise_split(struct krdma_noise *noise, u8 *first, u8 *second)
{
	u8 out[2][KRDMA_NOISE_KEY];

	krdma_noise_hkdf(out, 2, noise->chain, NULL, 0);
	memcpy(first, out[0], KRDMA_NOISE_KEY);
	memcpy(second, out[1], KRDMA_NOISE_KEY);
	memzero_explicit(out, sizeof(out));
	memzero_explicit(noise, sizeof(*noise));
}

/**
 * krdma_noise_rekey - replace a key by its successor
 * @key: key of KRDMA_NOISE_KEY bytes
 *
 * The old key cannot be computed from the new one.
 *
 * Context: any.
 */
void krdma_noise_rekey(u8 *key)
{
	static const u8 zero[KRDMA_NOISE_KEY];
	u8 out[KRDMA_NOISE_KEY + KRDMA_NOISE_TAG];

	chacha20poly1305_encrypt(out, zero, sizeof(zero), NULL, 0, U64_MAX,
				 key);
	memcpy(key, out, KRDMA_NOISE_KEY);
	memzero_explicit(out, sizeof(out));
}

/**
 * krdma_noise_derive - derive bytes for one purpose from a key
 * @out: room for @len bytes
 * @len: number of bytes, 1 to KRDMA_NOISE_KEY; the result depends on all its
 *	bits, so a shorter result is no part of a longer one
 * @key: key of KRDMA_NOISE_KEY bytes
 * @label: name of the purpose
 *
 * Context: any.
 */
void krdma_noise_derive(u8 *out, size_t len, const u8 *key, const char *label)
{
	struct blake2s_ctx ctx;

	blake2s_init_key(&ctx, len, key, KRDMA_NOISE_KEY);
	blake2s_update(&ctx, (const u8 *)label, strlen(label));
	blake2s_final(&ctx, out);
}
