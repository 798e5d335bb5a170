// SPDX-License-Identifier: GPL-2.0
/*
 * The handshake of krdma, made by a hostile peer, and its sealed messages. The peer
 * may have the right key or another one, and may change its messages. It uses the
 * sources of krdma that KUnit compares with published results. server.c has the
 * part of a server.
 */
#include <crypto/curve25519.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "priv.h"
#include "../../../krdma/noise.c"
#include "../../../krdma/door.c"
#include "../../../krdma/seal.c"

/* The last AUTH that hostile_step_auth() has made. */
static u8 hostile_last_auth[sizeof(struct krdma_wire_hdr) + KRDMA_NOISE_MSG];

int hostile_change_parse(struct hostile_change *change, char *args)
{
	char *word;

	*change = (struct hostile_change){};
	while ((word = strsep(&args, ":"))) {
		if (!strcmp(word, "again"))
			change->again = true;
		else if (!strcmp(word, "drop"))
			change->drops = true;
		else if (!strncmp(word, "ahead=", 6) &&
			 !kstrtou64(word + 6, 0, &change->ahead))
			continue;
		else if (!strncmp(word, "flip=", 5))
			change->flips = !kstrtou32(word + 5, 0, &change->flip);
		else if (!strncmp(word, "point=", 6))
			change->point = word + 6;
		else if (strncmp(word, "cut=", 4) ||
			 kstrtou32(word + 4, 0, &change->cut))
			return -EINVAL;
	}
	return 0;
}

int hostile_post_changed(struct hostile_session *s, u8 *msg, u32 len,
			 const struct hostile_change *change)
{
	struct ib_rdma_wr rdma = { .wr.opcode = IB_WR_SEND };

	if (change->cut > len || change->flip >= len)
		return -EINVAL;
	if (change->flips)
		msg[change->flip] ^= 1;
	return hostile_post(s, &rdma.wr, msg, len - change->cut) ?:
	       hostile_wait_sent(s);
}

/* Start the handshake of a connection whose reply is @rep. */
int hostile_begin(struct hostile_session *s, struct krdma_noise *noise,
		  char letter, const struct krdma_wire_hello *rep)
{
	const struct krdma_wire_hello *req = (void *)s->hello;
	struct sockaddr_storage client, server;
	u8 prologue[KRDMA_DOOR_PROLOGUE], key[KRDMA_NOISE_KEY];
	struct krdma_door_ends ends;
	size_t len;
	int ret;

	if (rep->user_len > KRDMA_WIRE_LEVEL_USER_MAX ||
	    req->user_len > KRDMA_WIRE_LEVEL_USER_MAX)
		return -EPROTO;
	ret = krdma_local_addr(s->cb, &client) ?:
	      krdma_peer_addr(s->cb, &server);
	if (ret)
		return ret;
	if (s->cb->role == KRDMA_ACCEPT_CONN)
		swap(client, server);
	ret = krdma_door_fill(&ends, (struct sockaddr *)&client,
			      (struct sockaddr *)&server);
	if (ret)
		return ret;
	len = krdma_door_prologue(prologue, req, req->user_len, rep,
				  rep->user_len, &ends);
	memset(key, letter, sizeof(key));
	krdma_noise_init(noise, key, prologue, len);
	return 0;
}

/*
 * Write the first message with the public key @point, whose secret this host does
 * not know. The tag is valid.
 */
int hostile_write_point(struct krdma_noise *noise, u8 *msg, const char *point)
{
	if (strlen(point) != 2 * KRDMA_NOISE_KEY ||
	    !hostile_hex(msg, point, KRDMA_NOISE_KEY))
		return -EINVAL;
	krdma_noise_mix_psk(noise);
	krdma_noise_mix_public(noise, msg);
	krdma_noise_encrypt_and_hash(noise, msg + KRDMA_NOISE_KEY, NULL, 0);
	return 0;
}

static int hostile_make_auth(struct hostile_session *s, char letter)
{
	struct krdma_wire_hdr hdr = {
		.version = KRDMA_WIRE_VERSION_LEVEL,
		.type = KRDMA_WIRE_AUTH,
	};
	u8 rep[KRDMA_RAW_REPLY_DATA_MAX] = {}, secret[KRDMA_NOISE_KEY];
	const struct krdma_wire_hello *hello = (void *)rep;
	struct krdma_noise *noise;
	const u8 *msg;
	int ret;

	if (!s->seal)
		s->seal = krdma_seal_alloc(GFP_KERNEL);
	if (!s->seal)
		return -ENOMEM;
	noise = &s->seal->noise;
	krdma_peer_private_data(s->cb, rep, sizeof(rep));
	ret = hostile_begin(s, noise, letter, hello);
	if (ret)
		return ret;
	msg = rep + sizeof(*hello) + hello->user_len;
	/* With another key the tag is wrong, and AUTH is made nevertheless. */
	if (krdma_noise_read_first(noise, NULL, msg, KRDMA_NOISE_MSG))
		memcpy(noise->remote, msg, KRDMA_NOISE_KEY);
	curve25519_generate_secret(secret);
	memcpy(hostile_last_auth, &hdr, sizeof(hdr));
	ret = krdma_noise_write_second(noise, hostile_last_auth + sizeof(hdr),
				       secret, NULL, 0);
	/* The server has repeated the level of the request. */
	if (!ret)
		krdma_seal_start(s->seal, false,
				 hello->mode >> KRDMA_WIRE_LEVEL_SHIFT == 3);
	return ret;
}

int hostile_step_auth(struct hostile_session *s, char *args)
{
	u8 msg[sizeof(hostile_last_auth)];
	struct hostile_change change;
	char *letter = strsep(&args, ":");
	int ret;

	if (!letter || hostile_change_parse(&change, args))
		return -EINVAL;
	ret = change.again ? 0 : hostile_make_auth(s, *letter);
	if (ret)
		return ret;
	memcpy(msg, hostile_last_auth, sizeof(msg));
	return hostile_post_changed(s, msg, sizeof(msg), &change);
}

/* Seal the message @plain, and send it with a change. */
static int hostile_seal(struct hostile_session *s, const u8 *plain, u32 len,
			const struct hostile_change *change)
{
	const u32 hdr_len = sizeof(struct krdma_wire_hdr);
	struct krdma_seal_half *tx = &s->seal->tx;
	int ret;

	if (len < hdr_len || len + KRDMA_SEAL_TAG > sizeof(s->sealed))
		return -EINVAL;
	tx->messages += change->ahead;
	tx->control += change->ahead;
	memcpy(s->sealed, plain, hdr_len);
	ret = krdma_seal_message(s->seal, s->sealed, plain + hdr_len,
				 len - hdr_len);
	if (ret < 0)
		return ret;
	krdma_seal_posted(s->seal, s->sealed[1]);
	s->sealed_len = ret;
	return 0;
}

int hostile_step_seal(struct hostile_session *s, char *args)
{
	struct hostile_change change;
	char *hex = strsep(&args, ":");
	u8 msg[sizeof(s->sealed)], *plain;
	ssize_t len;
	int ret = 0;

	if (!s->seal || !hex || hostile_change_parse(&change, args))
		return -EINVAL;
	len = hostile_bytes(hex, &plain);
	if (len < 0)
		return len;
	if (!change.again)
		ret = hostile_seal(s, plain, len, &change);
	kfree(plain);
	if (ret || change.drops)
		return ret;
	memcpy(msg, s->sealed, s->sealed_len);
	return hostile_post_changed(s, msg, s->sealed_len, &change);
}

void hostile_seal_free(struct hostile_session *s)
{
	krdma_seal_free(s->seal);
}
