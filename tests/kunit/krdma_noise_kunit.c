// SPDX-License-Identifier: GPL-2.0
/*
 * Test the handshake: the published vector and that of krdma, and each message
 * changed in every bit. noise_vectors.py has calculated the expected results.
 */
#include <kunit/test.h>
#include <linux/prandom.h>

#include "../../krdma/noise.c"
#include "noise_vectors.h"

/* Bytes of the payload in the tests that need one. */
#define PAYLOAD 5
#define MSG (KRDMA_NOISE_MSG + PAYLOAD)

/**
 * struct noise_vector - a handshake with known results
 * @name: name of the vector
 * @psk: shared key
 * @prologue: prologue
 * @prologue_len: number of bytes of @prologue
 * @secret: ephemeral secrets of the initiator and of the responder
 * @payload: payloads of both messages
 * @payload_len: numbers of bytes of @payload
 * @msg: expected messages
 * @hash: expected hash of the handshake
 * @key: expected keys of the initiator's and of the responder's messages
 */
struct noise_vector {
	const char *name;
	const u8 *psk;
	const u8 *prologue;
	size_t prologue_len;
	const u8 *secret[2];
	const u8 *payload[2];
	size_t payload_len[2];
	const u8 *msg[2];
	const u8 *hash;
	const u8 *key[2];
};

static const struct noise_vector noise_vectors[] = { {
	.name = "published by cacophony",
	.psk = published_psk,
	.prologue = published_prologue,
	.prologue_len = sizeof(published_prologue),
	.secret = { published_first, published_second },
	.payload = { published_first_payload, published_second_payload },
	.payload_len = { sizeof(published_first_payload),
			 sizeof(published_second_payload) },
	.msg = { published_first_msg, published_second_msg },
	.hash = published_hash,
	.key = { published_first_key, published_second_key },
}, {
	.name = "REP and AUTH of krdma",
	.psk = vector_key,
	.prologue = vector_prologue,
	.prologue_len = sizeof(vector_prologue),
	.secret = { vector_server_secret, vector_client_secret },
	.msg = { vector_rep_msg, vector_auth_msg },
	.hash = vector_hash,
	.key = { vector_server_key, vector_client_key },
} };

static void noise_vector_desc(const struct noise_vector *v, char *desc)
{
	strscpy(desc, v->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(vectors, noise_vectors, noise_vector_desc);

static void expect_keys(struct kunit *test, struct krdma_noise *noise,
			const struct noise_vector *v)
{
	u8 key[2][KRDMA_NOISE_KEY];

	KUNIT_EXPECT_EQ(test, memcmp(noise->hash, v->hash, 32), 0);
	krdma_noise_split(noise, key[0], key[1]);
	KUNIT_EXPECT_EQ(test, memcmp(key[0], v->key[0], 32), 0);
	KUNIT_EXPECT_EQ(test, memcmp(key[1], v->key[1], 32), 0);
}

static void noise_both_ends_match_vector(struct kunit *test)
{
	const struct noise_vector *v = test->param_value;
	struct krdma_noise first, second;
	u8 msg[128], payload[64];

	krdma_noise_init(&first, v->psk, v->prologue, v->prologue_len);
	krdma_noise_init(&second, v->psk, v->prologue, v->prologue_len);

	KUNIT_ASSERT_EQ(test, 0,
			krdma_noise_write_first(&first, msg, v->secret[0],
						v->payload[0],
						v->payload_len[0]));
	KUNIT_EXPECT_EQ(test, memcmp(msg, v->msg[0], 48 + v->payload_len[0]),
			0);
	KUNIT_ASSERT_EQ(test, 0,
			krdma_noise_read_first(&second, payload, msg,
					       48 + v->payload_len[0]));
	KUNIT_EXPECT_EQ(test, 0,
			memcmp(payload, v->payload[0], v->payload_len[0]));

	KUNIT_ASSERT_EQ(test, 0,
			krdma_noise_write_second(&second, msg, v->secret[1],
						 v->payload[1],
						 v->payload_len[1]));
	KUNIT_EXPECT_EQ(test, memcmp(msg, v->msg[1], 48 + v->payload_len[1]),
			0);
	KUNIT_ASSERT_EQ(test, 0,
			krdma_noise_read_second(&first, payload, msg,
						48 + v->payload_len[1]));
	KUNIT_EXPECT_EQ(test, 0,
			memcmp(payload, v->payload[1], v->payload_len[1]));

	expect_keys(test, &first, v);
	expect_keys(test, &second, v);
}

/*
 * The ends of a handshake whose messages have PAYLOAD bytes of payload, and the
 * message that is to be read.
 */
struct ends {
	struct krdma_noise server;
	struct krdma_noise client;
	u8 msg[MSG];
};

static const u8 payload_bytes[PAYLOAD] = { 1, 2, 3, 4, 5 };

/* The client must read ends->msg next. */
static struct ends *rep_sent(struct kunit *test)
{
	struct ends *ends = kunit_kzalloc(test, sizeof(*ends), GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ends);
	krdma_noise_init(&ends->server, vector_key, "prologue", 8);
	krdma_noise_init(&ends->client, vector_key, "prologue", 8);
	KUNIT_ASSERT_EQ(test, 0,
			krdma_noise_write_first(&ends->server, ends->msg,
						vector_server_secret,
						payload_bytes, PAYLOAD));
	return ends;
}

/* The server must read ends->msg next. */
static struct ends *auth_sent(struct kunit *test)
{
	struct ends *ends = rep_sent(test);
	u8 payload[PAYLOAD];

	KUNIT_ASSERT_EQ(test, 0,
			krdma_noise_read_first(&ends->client, payload,
					       ends->msg, MSG));
	KUNIT_ASSERT_EQ(test, 0,
			krdma_noise_write_second(&ends->client, ends->msg,
						 vector_client_secret,
						 payload_bytes, PAYLOAD));
	return ends;
}

typedef int (*reader)(struct krdma_noise *noise, void *payload, const u8 *msg,
		      size_t len);

/*
 * Check that a message is refused, and that the refusal changes nothing. The
 * message and the payload have exactly their lengths, so that KASAN detects
 * accesses behind them.
 */
static bool refuses(struct kunit *test, reader read, struct krdma_noise *noise,
		    const u8 *bytes, size_t len)
{
	const struct krdma_noise before = *noise;
	u8 *msg = kmalloc(len ?: 1, GFP_KERNEL);
	u8 *payload = kzalloc(PAYLOAD, GFP_KERNEL);
	bool good = false;

	if (msg && payload) {
		memcpy(msg, bytes, len);
		good = read(noise, payload, msg, len) == -EKEYREJECTED &&
		       !memcmp(noise, &before, sizeof(before)) &&
		       !memcmp(msg, bytes, len) &&
		       !memchr_inv(payload, 0, PAYLOAD);
	}
	kfree(payload);
	kfree(msg);
	return good;
}

static void expect_accepted(struct kunit *test, reader read,
			    struct krdma_noise *noise, const u8 *msg)
{
	u8 payload[PAYLOAD] = {};

	KUNIT_EXPECT_EQ(test, read(noise, payload, msg, MSG), 0);
	KUNIT_EXPECT_EQ(test, memcmp(payload, payload_bytes, PAYLOAD), 0);
}

static void flip_every_bit(struct kunit *test, reader read,
			   struct krdma_noise *noise, u8 *msg)
{
	unsigned int bit;

	for (bit = 0; bit < MSG * 8; bit++) {
		msg[bit / 8] ^= 1 << bit % 8;
		KUNIT_EXPECT_TRUE_MSG(test,
				      refuses(test, read, noise, msg, MSG),
				      "bit %u", bit);
		msg[bit / 8] ^= 1 << bit % 8;
	}
	expect_accepted(test, read, noise, msg);
}

static void noise_first_message_with_flipped_bit_is_refused(struct kunit *test)
{
	struct ends *ends = rep_sent(test);

	flip_every_bit(test, krdma_noise_read_first, &ends->client, ends->msg);
}

static void noise_second_message_with_flipped_bit_is_refused(struct kunit *test)
{
	struct ends *ends = auth_sent(test);

	flip_every_bit(test, krdma_noise_read_second, &ends->server, ends->msg);
}

static void noise_truncated_messages_are_refused(struct kunit *test)
{
	struct ends *rep = rep_sent(test), *auth = auth_sent(test);
	size_t len;

	for (len = 0; len < MSG; len++) {
		KUNIT_EXPECT_TRUE(test, refuses(test, krdma_noise_read_first,
						&rep->client, rep->msg, len));
		KUNIT_EXPECT_TRUE(test, refuses(test, krdma_noise_read_second,
						&auth->server, auth->msg, len));
	}
}

static void noise_payload_is_read_in_place(struct kunit *test)
{
	struct ends *ends = rep_sent(test);
	u8 *payload = ends->msg + KRDMA_NOISE_KEY;

	KUNIT_ASSERT_EQ(test, 0,
			krdma_noise_read_first(&ends->client, payload,
					       ends->msg, MSG));
	KUNIT_EXPECT_EQ(test, memcmp(payload, payload_bytes, PAYLOAD), 0);
	KUNIT_EXPECT_EQ(test, 0, memcmp(ends->client.hash, ends->server.hash,
					sizeof(ends->client.hash)));
}

static void noise_other_key_is_refused(struct kunit *test)
{
	struct ends *ends = rep_sent(test);
	u8 key[KRDMA_NOISE_KEY];

	memcpy(key, vector_key, sizeof(key));
	key[31] ^= 0x80;
	krdma_noise_init(&ends->client, key, "prologue", 8);
	KUNIT_EXPECT_TRUE(test, refuses(test, krdma_noise_read_first,
					&ends->client, ends->msg, MSG));
}

static void noise_other_prologue_is_refused(struct kunit *test)
{
	struct ends *ends = rep_sent(test);

	krdma_noise_init(&ends->client, vector_key, "prologuf", 8);
	KUNIT_EXPECT_TRUE(test, refuses(test, krdma_noise_read_first,
					&ends->client, ends->msg, MSG));
	krdma_noise_init(&ends->client, vector_key, "prologue", 7);
	KUNIT_EXPECT_TRUE(test, refuses(test, krdma_noise_read_first,
					&ends->client, ends->msg, MSG));
}

/* Both ends read their own message, and that of another handshake. */
static void noise_messages_of_others_are_refused(struct kunit *test)
{
	struct ends *rep = rep_sent(test), *auth = auth_sent(test);
	u8 other[KRDMA_NOISE_KEY];

	KUNIT_EXPECT_TRUE(test, refuses(test, krdma_noise_read_second,
					&rep->server, rep->msg, MSG));
	KUNIT_EXPECT_TRUE(test, refuses(test, krdma_noise_read_first,
					&rep->client, auth->msg, MSG));

	memcpy(other, vector_server_secret, sizeof(other));
	other[1] ^= 1;
	krdma_noise_init(&rep->server, vector_key, "prologue", 8);
	KUNIT_ASSERT_EQ(test, 0,
			krdma_noise_write_first(&rep->server, rep->msg, other,
						NULL, 0));
	KUNIT_EXPECT_TRUE(test, refuses(test, krdma_noise_read_second,
					&rep->server, auth->msg, MSG));
}

/*
 * Points of small order (RFC 7748, section 6.1). The product with each of them
 * is the null point, whatever the secret is.
 */
static const u8 small_points[][KRDMA_NOISE_KEY] = {
	{ 0 },
	{ 1 },
	{ 0xe0, 0xeb, 0x7a, 0x7c, 0x3b, 0x41, 0xb8, 0xae, 0x16, 0x56, 0xe3,
	  0xfa, 0xf1, 0x9f, 0xc4, 0x6a, 0xda, 0x09, 0x8d, 0xeb, 0x9c, 0x32,
	  0xb1, 0xfd, 0x86, 0x62, 0x05, 0x16, 0x5f, 0x49, 0xb8, 0x00 },
	{ 0x5f, 0x9c, 0x95, 0xbc, 0xa3, 0x50, 0x8c, 0x24, 0xb1, 0xd0, 0xb1,
	  0x55, 0x9c, 0x83, 0xef, 0x5b, 0x04, 0x44, 0x5c, 0xc4, 0x58, 0x1c,
	  0x8e, 0x86, 0xd8, 0x22, 0x4e, 0xdd, 0xd0, 0x9f, 0x11, 0x57 },
	{ 0xec, [1 ... 30] = 0xff, 0x7f },
	{ 0xed, [1 ... 30] = 0xff, 0x7f },
	{ 0xee, [1 ... 30] = 0xff, 0x7f },
};

static void noise_server_refuses_null_point(struct kunit *test)
{
	static const u8 zero[KRDMA_NOISE_KEY];
	struct krdma_noise evil;
	struct ends *ends;
	u8 msg[MSG];
	int i;

	/* The peer has the key, so the product is all that is wrong. */
	for (i = 0; i < ARRAY_SIZE(small_points); i++) {
		ends = rep_sent(test);
		evil = ends->server;
		krdma_noise_mix_public(&evil, small_points[i]);
		krdma_noise_mix_key(&evil, zero);
		memcpy(msg, small_points[i], KRDMA_NOISE_KEY);
		krdma_noise_encrypt_and_hash(&evil, msg + KRDMA_NOISE_KEY,
					     payload_bytes, PAYLOAD);
		KUNIT_EXPECT_TRUE_MSG(test,
				      refuses(test, krdma_noise_read_second,
					      &ends->server, msg, MSG),
				      "point %d", i);
	}
}

static void noise_client_refuses_null_point(struct kunit *test)
{
	struct krdma_noise evil, client;
	u8 msg[KRDMA_NOISE_MSG];
	int i;

	for (i = 0; i < ARRAY_SIZE(small_points); i++) {
		krdma_noise_init(&evil, vector_key, NULL, 0);
		krdma_noise_init(&client, vector_key, NULL, 0);
		krdma_noise_mix_psk(&evil);
		krdma_noise_mix_public(&evil, small_points[i]);
		memcpy(msg, small_points[i], KRDMA_NOISE_KEY);
		krdma_noise_encrypt_and_hash(&evil, msg + KRDMA_NOISE_KEY, NULL,
					     0);
		KUNIT_ASSERT_EQ(test, 0, krdma_noise_read_first(&client, NULL,
								msg,
								sizeof(msg)));
		KUNIT_EXPECT_EQ(test, -EKEYREJECTED,
				krdma_noise_write_second(&client, msg,
							 vector_client_secret,
							 NULL, 0));
	}
}

static void noise_secret_of_zeroes_is_invalid(struct kunit *test)
{
	static const u8 zero[KRDMA_NOISE_KEY];
	struct ends *ends = rep_sent(test);
	u8 msg[KRDMA_NOISE_MSG];

	KUNIT_EXPECT_EQ(test, -EINVAL,
			krdma_noise_write_first(&ends->server, msg, zero, NULL,
						0));
	KUNIT_EXPECT_EQ(test, -EINVAL,
			krdma_noise_write_second(&ends->client, msg, zero, NULL,
						 0));
}

static void noise_random_bytes_are_refused(struct kunit *test)
{
	struct ends *rep = rep_sent(test), *auth = auth_sent(test);
	struct rnd_state random;
	u8 msg[MSG];
	int i;

	prandom_seed_state(&random, 34);
	for (i = 0; i < 1000; i++) {
		prandom_bytes_state(&random, msg, sizeof(msg));
		KUNIT_EXPECT_TRUE(test,
				  refuses(test, krdma_noise_read_first,
					  &rep->client, msg,
					  prandom_u32_state(&random) % MSG));
		KUNIT_EXPECT_TRUE(test, refuses(test, krdma_noise_read_second,
						&auth->server, msg, MSG));
	}
}

static void noise_split_erases_handshake(struct kunit *test)
{
	struct ends *ends = auth_sent(test);
	u8 key[2][KRDMA_NOISE_KEY];

	krdma_noise_split(&ends->client, key[0], key[1]);
	KUNIT_EXPECT_NULL(test, memchr_inv(&ends->client, 0,
					   sizeof(ends->client)));
}

static void noise_rekey_matches_vector(struct kunit *test)
{
	u8 key[KRDMA_NOISE_KEY];

	memcpy(key, vector_client_key, sizeof(key));
	krdma_noise_rekey(key);
	KUNIT_EXPECT_EQ(test, 0,
			memcmp(key, vector_client_rekeyed, sizeof(key)));
}

static void noise_derived_key_matches_vector(struct kunit *test)
{
	u8 key[KRDMA_NOISE_KEY];

	krdma_noise_derive(key, sizeof(key), vector_key, "krdma 2 door");
	KUNIT_EXPECT_EQ(test, memcmp(key, vector_door, sizeof(key)), 0);
}

static struct kunit_case krdma_noise_cases[] = {
	KUNIT_CASE_PARAM(noise_both_ends_match_vector, vectors_gen_params),
	KUNIT_CASE(noise_first_message_with_flipped_bit_is_refused),
	KUNIT_CASE(noise_second_message_with_flipped_bit_is_refused),
	KUNIT_CASE(noise_truncated_messages_are_refused),
	KUNIT_CASE(noise_payload_is_read_in_place),
	KUNIT_CASE(noise_other_key_is_refused),
	KUNIT_CASE(noise_other_prologue_is_refused),
	KUNIT_CASE(noise_messages_of_others_are_refused),
	KUNIT_CASE(noise_server_refuses_null_point),
	KUNIT_CASE(noise_client_refuses_null_point),
	KUNIT_CASE(noise_secret_of_zeroes_is_invalid),
	KUNIT_CASE(noise_random_bytes_are_refused),
	KUNIT_CASE(noise_split_erases_handshake),
	KUNIT_CASE(noise_rekey_matches_vector),
	KUNIT_CASE(noise_derived_key_matches_vector),
	{}
};

static struct kunit_suite krdma_noise_suite = {
	.name = "krdma_noise",
	.test_cases = krdma_noise_cases,
};

kunit_test_suite(krdma_noise_suite);

MODULE_AUTHOR("The krdma developers");
MODULE_DESCRIPTION("KUnit tests of krdma's handshake");
MODULE_LICENSE("GPL");
