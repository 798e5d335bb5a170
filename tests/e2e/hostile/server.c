// SPDX-License-Identifier: GPL-2.0
/*
 * The handshake of krdma, made by a hostile server. Behind the hello of its reply,
 * PROOF is one of these:
 *
 *	LETTER[:CHANGE]	the first message, made with a key that the letter fills.
 *			CHANGE is that of the step auth (step.c), and counts
 *			bytes from the start of the reply; or point=HEX: the
 *			message has this public key, and a valid tag
 *	again		in place of all, the last reply that was made
 *	mirror		in place of all, the private data of the request
 */
#include <crypto/chacha20poly1305.h>
#include <crypto/curve25519.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "priv.h"
#include "../../../krdma/wire.h"

#define HOSTILE_START_LEN (sizeof(struct krdma_wire_hdr) + KRDMA_NOISE_TAG)

/* The last reply that was made, and its number of bytes. */
static u8 hostile_last_rep[KRDMA_RAW_REPLY_DATA_MAX];
static u8 hostile_last_rep_len;

/* The last START that hostile_step_welcome() has made. */
static u8 hostile_last_start[HOSTILE_START_LEN];

static int hostile_make_first(struct hostile_session *s, char letter,
			      const char *point)
{
	const struct krdma_wire_hello *hello = (void *)hostile_last_rep;
	u8 *msg = hostile_last_rep + hostile_last_rep_len - KRDMA_NOISE_MSG;
	u8 secret[KRDMA_NOISE_KEY];
	int ret = hostile_begin(s, &s->noise, letter, hello);

	if (ret)
		return ret;
	if (point)
		return hostile_write_point(&s->noise, msg, point);
	curve25519_generate_secret(secret);
	ret = krdma_noise_write_first(&s->noise, msg, secret, NULL, 0);
	/*
	 * The CM fills the private data of a reply with zeroes. So the last byte
	 * must not be zero, or the reply is the same without it.
	 */
	if (!ret && !msg[KRDMA_NOISE_MSG - 1])
		return -EAGAIN;
	return ret;
}

static int hostile_make_rep(struct hostile_session *s, char letter,
			    const u8 *hello, u32 len, const char *point)
{
	int ret;

	if (len < sizeof(struct krdma_wire_hello) ||
	    len + KRDMA_NOISE_MSG > sizeof(hostile_last_rep))
		return -EINVAL;
	memcpy(hostile_last_rep, hello, len);
	hostile_last_rep_len = len + KRDMA_NOISE_MSG;
	do {
		ret = hostile_make_first(s, letter, point);
	} while (ret == -EAGAIN);
	return ret;
}

/*
 * Append PROOF to a reply @rep of *len bytes, which has room for
 * KRDMA_RAW_REPLY_DATA_MAX bytes. No effect if @proof is NULL.
 */
int hostile_prove(struct hostile_session *s, char *proof, u8 *rep, u8 *len)
{
	struct hostile_change change = {};
	char *letter;
	int ret;

	if (!proof)
		return 0;
	krdma_peer_private_data(s->cb, s->hello, sizeof(s->hello));
	if (!strcmp(proof, "mirror")) {
		memcpy(rep, s->hello, sizeof(s->hello));
		*len = sizeof(s->hello);
		return 0;
	}
	if (strcmp(proof, "again")) {
		letter = strsep(&proof, ":");
		ret = hostile_change_parse(&change, proof) ?:
		      hostile_make_rep(s, *letter, rep, *len, change.point);
		if (ret)
			return ret;
	}
	if (change.cut > hostile_last_rep_len ||
	    change.flip >= hostile_last_rep_len)
		return -EINVAL;
	memcpy(rep, hostile_last_rep, hostile_last_rep_len);
	if (change.flips)
		rep[change.flip] ^= 1;
	*len = hostile_last_rep_len - change.cut;
	return 0;
}

static int hostile_make_start(struct hostile_session *s)
{
	struct krdma_wire_hdr hdr = {
		.version = KRDMA_WIRE_VERSION_LEVEL,
		.type = KRDMA_WIRE_START,
	};
	u8 auth[HOSTILE_FIRST_LEN], keys[2][KRDMA_NOISE_KEY];
	int ret;

	if (hostile_first(s, auth) != sizeof(hdr) + KRDMA_NOISE_MSG)
		return -EPROTO;
	ret = krdma_noise_read_second(&s->noise, NULL, auth + sizeof(hdr),
				      KRDMA_NOISE_MSG);
	if (ret)
		return ret;
	krdma_noise_split(&s->noise, keys[0], keys[1]);
	memcpy(hostile_last_start, &hdr, sizeof(hdr));
	chacha20poly1305_encrypt(hostile_last_start + sizeof(hdr), NULL, 0,
				 hostile_last_start, sizeof(hdr), 0, keys[0]);
	return 0;
}

int hostile_step_welcome(struct hostile_session *s, char *args)
{
	u8 msg[sizeof(hostile_last_start)];
	struct hostile_change change;
	int ret = hostile_change_parse(&change, args);

	if (!ret && !change.again)
		ret = hostile_make_start(s);
	if (ret)
		return ret;
	memcpy(msg, hostile_last_start, sizeof(msg));
	return hostile_post_changed(s, msg, sizeof(msg), &change);
}

int hostile_step_reflect(struct hostile_session *s, char *args)
{
	struct hostile_change change = {};
	u8 first[HOSTILE_FIRST_LEN];
	struct krdma_wire_hdr *hdr = (void *)first;
	u32 len = hostile_first(s, first);

	if (!len)
		return -ENODATA;
	if (args && kstrtou8(args, 0, &hdr->type))
		return -EINVAL;
	return hostile_post_changed(s, first, len, &change);
}
