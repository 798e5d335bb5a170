// SPDX-License-Identifier: GPL-2.0
/*
 * Test sealed messages: the vectors, each bit changed, messages that are
 * repeated, swapped, dropped or passed off as others, and the change of keys.
 * noise_vectors.py has calculated the expected results.
 */
#include <kunit/test.h>
#include <linux/mm.h>
#include <linux/prandom.h>
#include <linux/sched.h>
#include <linux/vmalloc.h>

#include "../../krdma/noise.c"
#include "../../krdma/seal.c"
#include "noise_vectors.h"

#define HDR sizeof(struct krdma_wire_hdr)
#define ROOM 512
/* Longest message whose bits are all flipped. */
#define FLIPPED 200

/**
 * struct seal_level - protection of the data of a connection
 * @name: name of the level
 * @encrypt: data are encrypted
 */
struct seal_level {
	const char *name;
	bool encrypt;
};

static const struct seal_level seal_levels[] = {
	{ "integrity", false },
	{ "encrypt", true },
};

static void seal_level_desc(const struct seal_level *level, char *desc)
{
	strscpy(desc, level->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(levels, seal_levels, seal_level_desc);

/**
 * struct pair - both ends of a connection
 * @server: keys of the server
 * @client: keys of the client
 * @msg: message on its way
 */
struct pair {
	struct krdma_seal *server;
	struct krdma_seal *client;
	u8 msg[ROOM];
};

static void pair_free(struct kunit *test)
{
	struct pair *pair = test->priv;

	if (!pair)
		return;
	krdma_seal_free(pair->server);
	krdma_seal_free(pair->client);
	kfree(pair);
}

static int pair_alloc(struct kunit *test)
{
	struct pair *pair = kzalloc(sizeof(*pair), GFP_KERNEL);

	if (!pair)
		return -ENOMEM;
	test->priv = pair;
	pair->server = krdma_seal_alloc(GFP_KERNEL);
	pair->client = krdma_seal_alloc(GFP_KERNEL);
	return pair->server && pair->client ? 0 : -ENOMEM;
}

/* Do the handshake of the vector, so that both ends have its keys. */
static void connect(struct kunit *test, bool encrypt)
{
	struct pair *pair = test->priv;
	struct krdma_noise *server = &pair->server->noise;
	struct krdma_noise *client = &pair->client->noise;

	krdma_noise_init(server, vector_key, vector_prologue,
			 sizeof(vector_prologue));
	krdma_noise_init(client, vector_key, vector_prologue,
			 sizeof(vector_prologue));
	KUNIT_ASSERT_EQ(test, 0,
			krdma_noise_write_first(server, pair->msg,
						vector_server_secret, NULL, 0));
	KUNIT_ASSERT_EQ(test, 0, krdma_noise_read_first(client, NULL, pair->msg,
							KRDMA_NOISE_MSG));
	KUNIT_ASSERT_EQ(test, 0,
			krdma_noise_write_second(client, pair->msg,
						 vector_client_secret, NULL,
						 0));
	KUNIT_ASSERT_EQ(test, 0, krdma_noise_read_second(server, NULL,
							 pair->msg,
							 KRDMA_NOISE_MSG));
	krdma_seal_start(pair->server, true, encrypt);
	krdma_seal_start(pair->client, false, encrypt);
}

static bool encrypts(struct kunit *test)
{
	const struct seal_level *level = test->param_value;

	return level->encrypt;
}

/* Write a header, as the vectors have it. */
static void put_header(u8 *msg, u8 type, size_t len)
{
	const struct krdma_wire_hdr hdr = {
		.version = 2,
		.type = type,
		.msg_len = cpu_to_le32(type == KRDMA_WIRE_DATA ? len : 0),
	};

	memcpy(msg, &hdr, sizeof(hdr));
}

/* Seal and count a message of the client in @msg, and return its length. */
static int sealed(struct kunit *test, u8 *msg, u8 type, const void *data,
		  size_t len)
{
	struct pair *pair = test->priv;
	int ret;

	put_header(msg, type, len);
	ret = krdma_seal_message(pair->client, msg, data, len);
	KUNIT_ASSERT_EQ(test, ret, (int)(HDR + len + KRDMA_SEAL_TAG));
	krdma_seal_posted(pair->client, type);
	return ret;
}

/* Let an end open a copy of a message, which has exactly its length. */
static int opened_by(struct kunit *test, struct krdma_seal *seal, const u8 *msg,
		     size_t len, void *data)
{
	const struct krdma_seal before = *seal;
	u8 *copy = kmalloc(len ?: 1, GFP_KERNEL);
	int ret;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, copy);
	memcpy(copy, msg, len);
	ret = krdma_seal_open(seal, copy, len);
	if (ret < 0) {
		KUNIT_EXPECT_EQ(test, ret, -EBADMSG);
		KUNIT_EXPECT_EQ(test, memcmp(copy, msg, len), 0);
		KUNIT_EXPECT_EQ(test, memcmp(seal, &before, sizeof(before)), 0);
	} else {
		KUNIT_EXPECT_EQ(test, ret, (int)(len - HDR - KRDMA_SEAL_TAG));
		KUNIT_EXPECT_EQ(test, memcmp(copy, msg, HDR), 0);
		if (data)
			memcpy(data, copy + HDR, ret);
	}
	kfree(copy);
	return ret;
}

/* Let the server open a message of the client. */
static int opened(struct kunit *test, const u8 *msg, size_t len)
{
	struct pair *pair = test->priv;

	return opened_by(test, pair->server, msg, len, NULL);
}

/* Let both ends believe that the client has sent messages before. */
static void skip_to(struct kunit *test, u64 messages, u64 control)
{
	struct pair *pair = test->priv;
	struct krdma_seal_half *half;

	half = &pair->client->tx;
	half->messages = messages;
	half->control = control;
	half = &pair->server->rx;
	half->messages = messages;
	half->control = control;
}

/* ---- vectors ---- */

/**
 * struct seal_expected - messages of one direction at a level, in this order
 * @data: the first message, DATA
 * @ping: PING after one message
 * @credit: CREDIT after one message
 * @next: the second message, DATA
 * @pong: PONG after two messages
 * @bye: BYE after two messages
 * @last: last message of the first key, DATA
 * @rekeyed: first message of the second key, DATA
 * @rekeyed_ping: PING of the second key
 */
struct seal_expected {
	const u8 *data, *ping, *credit, *next, *pong, *bye;
	const u8 *last, *rekeyed, *rekeyed_ping;
};

static const struct seal_expected seal_expected[] = { {
	vector_clear_data, vector_clear_ping, vector_clear_credit,
	vector_clear_next, vector_clear_pong, vector_clear_bye,
	vector_clear_last, vector_clear_rekeyed, vector_clear_rekeyed_ping,
}, {
	vector_encrypted_data, vector_encrypted_ping, vector_encrypted_credit,
	vector_encrypted_next, vector_encrypted_pong, vector_encrypted_bye,
	vector_encrypted_last, vector_encrypted_rekeyed,
	vector_encrypted_rekeyed_ping,
} };

/* Seal a message of the client, compare it, and let the server open it. */
static void expect_message(struct kunit *test, u8 type, const u8 *expected)
{
	const size_t len = type == KRDMA_WIRE_DATA ? sizeof(vector_text) : 0;
	struct pair *pair = test->priv;
	u8 data[sizeof(vector_text)];
	int ret;

	ret = sealed(test, pair->msg, type, vector_text, len);
	KUNIT_EXPECT_EQ_MSG(test, memcmp(pair->msg, expected, ret), 0,
			    "type %u", type);
	ret = opened_by(test, pair->server, pair->msg, ret, data);
	KUNIT_EXPECT_EQ(test, ret, (int)len);
	KUNIT_EXPECT_EQ(test, memcmp(data, vector_text, len), 0);
}

static void seal_messages_match_vector(struct kunit *test)
{
	const struct seal_expected *e = &seal_expected[encrypts(test)];

	connect(test, encrypts(test));
	expect_message(test, KRDMA_WIRE_DATA, e->data);
	expect_message(test, KRDMA_WIRE_PING, e->ping);
	expect_message(test, KRDMA_WIRE_CREDIT, e->credit);
	expect_message(test, KRDMA_WIRE_DATA, e->next);
	expect_message(test, KRDMA_WIRE_PONG, e->pong);
	expect_message(test, KRDMA_WIRE_BYE, e->bye);
}

static void seal_messages_with_next_key_match_vector(struct kunit *test)
{
	const struct seal_expected *e = &seal_expected[encrypts(test)];

	connect(test, encrypts(test));
	/* In the vector, four messages without data come before. */
	skip_to(test, 65535, 4);
	expect_message(test, KRDMA_WIRE_DATA, e->last);
	expect_message(test, KRDMA_WIRE_DATA, e->rekeyed);
	expect_message(test, KRDMA_WIRE_PING, e->rekeyed_ping);
}

static void seal_server_start_matches_vector(struct kunit *test)
{
	struct pair *pair = test->priv;
	u8 start[HDR + KRDMA_SEAL_TAG];

	connect(test, encrypts(test));
	put_header(start, KRDMA_WIRE_START, 0);
	KUNIT_ASSERT_EQ(test, (int)sizeof(start),
			krdma_seal_message(pair->server, start, NULL, 0));
	KUNIT_EXPECT_EQ(test, 0,
			memcmp(start, vector_server_start, sizeof(start)));
	KUNIT_EXPECT_EQ(test, 0, opened_by(test, pair->client, start,
					   sizeof(start), NULL));
}

/* START describes a buffer that the end shows, so it is secret at any level. */
static void seal_start_is_always_encrypted(struct kunit *test)
{
	struct pair *pair = test->priv;
	u8 data[sizeof(vector_text)];
	int len;

	connect(test, encrypts(test));
	len = sealed(test, pair->msg, KRDMA_WIRE_START, vector_text,
		     sizeof(vector_text));
	KUNIT_EXPECT_NE(test, 0, memcmp(pair->msg + HDR, vector_text,
					sizeof(vector_text)));
	KUNIT_EXPECT_EQ(test, (int)sizeof(data),
			opened_by(test, pair->server, pair->msg, len, data));
	KUNIT_EXPECT_EQ(test, memcmp(data, vector_text, sizeof(data)), 0);
}

/* ---- changed messages ---- */

static void flip(u8 *msg, unsigned int bit)
{
	msg[bit / 8] ^= 1 << bit % 8;
}

/* Return the number of bits of a message that may be flipped unnoticed. */
static unsigned int unnoticed(struct krdma_seal *seal, u8 *msg, u8 *copy,
			      int len)
{
	const struct krdma_seal before = *seal;
	unsigned int bit, found = 0;

	for (bit = 0; bit < len * 8; bit++) {
		flip(msg, bit);
		memcpy(copy, msg, len);
		if (krdma_seal_open(seal, copy, len) != -EBADMSG ||
		    memcmp(copy, msg, len) ||
		    memcmp(seal, &before, sizeof(before)))
			found++;
		flip(msg, bit);
	}
	return found;
}

static void flip_all(struct kunit *test, u8 type, const u8 *data, size_t len)
{
	struct pair *pair = test->priv;
	u8 *copy = kunit_kzalloc(test, HDR + len + KRDMA_SEAL_TAG, GFP_KERNEL);
	u8 plain[FLIPPED];
	int bytes;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, copy);
	bytes = sealed(test, pair->msg, type, data, len);
	KUNIT_EXPECT_EQ_MSG(test, 0U, unnoticed(pair->server, pair->msg, copy,
						bytes),
			    "type %u, %zu bytes", type, len);
	KUNIT_EXPECT_EQ(test, (int)len, opened_by(test, pair->server, pair->msg,
						  bytes, plain));
	KUNIT_EXPECT_EQ(test, memcmp(plain, data, len), 0);
	cond_resched();
}

static void seal_message_with_flipped_bit_is_refused(struct kunit *test)
{
	struct rnd_state random;
	u8 data[FLIPPED];
	size_t len;
	u8 type;

	prandom_seed_state(&random, 34);
	prandom_bytes_state(&random, data, sizeof(data));
	connect(test, encrypts(test));
	for (len = 0; len <= FLIPPED; len++)
		flip_all(test, KRDMA_WIRE_DATA, data, len);
	for (type = KRDMA_WIRE_CREDIT; type <= KRDMA_WIRE_BYE; type++)
		flip_all(test, type, data, 0);
	flip_all(test, KRDMA_WIRE_START, data, 32);
}

static void seal_message_of_other_length_is_refused(struct kunit *test)
{
	struct pair *pair = test->priv;
	int bytes, len;

	connect(test, encrypts(test));
	bytes = sealed(test, pair->msg, KRDMA_WIRE_DATA, vector_text,
		       sizeof(vector_text));
	for (len = 0; len < ROOM; len++)
		if (len != bytes)
			KUNIT_EXPECT_EQ(test, -EBADMSG,
					opened(test, pair->msg, len));
	KUNIT_EXPECT_EQ(test, (int)sizeof(vector_text),
			opened(test, pair->msg, bytes));
}

static void seal_random_bytes_are_refused(struct kunit *test)
{
	struct pair *pair = test->priv;
	struct rnd_state random;
	int i;

	connect(test, encrypts(test));
	prandom_seed_state(&random, 34);
	for (i = 0; i < 10000; i++) {
		prandom_bytes_state(&random, pair->msg, sizeof(pair->msg));
		/* Most of the types are valid. */
		if (i % 4)
			pair->msg[1] %= KRDMA_WIRE_WRITTEN + 1;
		KUNIT_EXPECT_EQ(test, -EBADMSG,
				opened(test, pair->msg,
				       prandom_u32_state(&random) % 300));
	}
}

/* ---- messages at the wrong place ---- */

static void seal_repeated_messages_are_refused(struct kunit *test)
{
	struct pair *pair = test->priv;
	int bytes, type;

	connect(test, encrypts(test));
	for (type = KRDMA_WIRE_START; type <= KRDMA_WIRE_BYE; type++) {
		bytes = sealed(test, pair->msg, type, NULL, 0);
		KUNIT_EXPECT_EQ(test, opened(test, pair->msg, bytes), 0);
		KUNIT_EXPECT_EQ(test, -EBADMSG, opened(test, pair->msg, bytes));
	}
}

static void seal_swapped_messages_are_refused(struct kunit *test)
{
	u8 first[64], second[64];
	int bytes, type;

	connect(test, encrypts(test));
	for (type = KRDMA_WIRE_START; type <= KRDMA_WIRE_BYE; type++) {
		bytes = sealed(test, first, type, NULL, 0);
		sealed(test, second, type, NULL, 0);
		KUNIT_EXPECT_EQ(test, -EBADMSG, opened(test, second, bytes));
		KUNIT_EXPECT_EQ(test, opened(test, first, bytes), 0);
		KUNIT_EXPECT_EQ(test, opened(test, second, bytes), 0);
	}
}

/*
 * A message without data has no place among those with data, except for the
 * number of messages that its tag covers. So the end notices even if all
 * messages before a BYE are missing.
 */
static void seal_missing_data_are_noticed(struct kunit *test)
{
	struct pair *pair = test->priv;
	u8 data[64], control[64];
	int bytes, type;

	connect(test, encrypts(test));
	for (type = KRDMA_WIRE_CREDIT; type <= KRDMA_WIRE_BYE; type++) {
		bytes = sealed(test, data, KRDMA_WIRE_DATA, vector_text, 8);
		sealed(test, control, type, NULL, 0);
		KUNIT_EXPECT_EQ(test, -EBADMSG,
				opened(test, control, HDR + KRDMA_SEAL_TAG));
		KUNIT_EXPECT_EQ(test, opened(test, data, bytes), 8);
		KUNIT_EXPECT_EQ(test, 0,
				opened(test, control, HDR + KRDMA_SEAL_TAG));
	}
	/* A later message with data does not replace the missing one. */
	sealed(test, data, KRDMA_WIRE_DATA, vector_text, 8);
	bytes = sealed(test, pair->msg, KRDMA_WIRE_DATA, vector_text, 8);
	KUNIT_EXPECT_EQ(test, -EBADMSG, opened(test, pair->msg, bytes));
}

static void seal_missing_control_message_is_noticed(struct kunit *test)
{
	struct pair *pair = test->priv;
	int bytes;

	connect(test, encrypts(test));
	sealed(test, pair->msg, KRDMA_WIRE_PING, NULL, 0);
	bytes = sealed(test, pair->msg, KRDMA_WIRE_BYE, NULL, 0);
	KUNIT_EXPECT_EQ(test, -EBADMSG, opened(test, pair->msg, bytes));
}

static void seal_message_passed_off_as_other_type_is_refused(struct kunit *test)
{
	struct pair *pair = test->priv;
	int bytes, type, other;

	connect(test, encrypts(test));
	for (type = KRDMA_WIRE_START; type <= KRDMA_WIRE_BYE; type++) {
		bytes = sealed(test, pair->msg, type, NULL, 0);
		for (other = 0; other < 256; other++) {
			pair->msg[1] = other;
			if (other != type)
				KUNIT_EXPECT_EQ(test, -EBADMSG,
						opened(test, pair->msg, bytes));
		}
		pair->msg[1] = type;
		KUNIT_EXPECT_EQ(test, opened(test, pair->msg, bytes), 0);
	}
}

static void seal_reflected_message_is_refused(struct kunit *test)
{
	struct pair *pair = test->priv;
	int bytes;

	connect(test, encrypts(test));
	bytes = sealed(test, pair->msg, KRDMA_WIRE_DATA, vector_text, 8);
	KUNIT_EXPECT_EQ(test, -EBADMSG, opened_by(test, pair->client, pair->msg,
						  bytes, NULL));
	bytes = sealed(test, pair->msg, KRDMA_WIRE_PING, NULL, 0);
	KUNIT_EXPECT_EQ(test, -EBADMSG, opened_by(test, pair->client, pair->msg,
						  bytes, NULL));
}

static void seal_message_of_other_level_is_refused(struct kunit *test)
{
	struct pair *pair = test->priv;
	int bytes;

	connect(test, encrypts(test));
	pair->client->encrypt = !encrypts(test);
	bytes = sealed(test, pair->msg, KRDMA_WIRE_DATA, vector_text, 8);
	KUNIT_EXPECT_EQ(test, -EBADMSG, opened(test, pair->msg, bytes));
}

static void seal_unsealed_types_are_invalid(struct kunit *test)
{
	static const u8 types[] = { 0, KRDMA_WIRE_CHUNK, KRDMA_WIRE_PULLED,
				    KRDMA_WIRE_WRITTEN, 10, 255 };
	struct pair *pair = test->priv;
	int i;

	connect(test, encrypts(test));
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		put_header(pair->msg, types[i], 0);
		KUNIT_EXPECT_EQ(test, -EINVAL,
				krdma_seal_message(pair->client, pair->msg,
						   NULL, 0));
	}
	put_header(pair->msg, KRDMA_WIRE_PING, 0);
	KUNIT_EXPECT_EQ(test, -EINVAL,
			krdma_seal_message(pair->client, pair->msg, vector_text,
					   8));
	/* The refused calls have used no number. */
	KUNIT_EXPECT_EQ(test, 0,
			opened(test, pair->msg,
			       sealed(test, pair->msg, KRDMA_WIRE_PING, NULL,
				      0)));
}

/* A second message with the same number would tell the difference of both. */
static void seal_number_is_used_once(struct kunit *test)
{
	struct pair *pair = test->priv;
	u8 data[64], ping[64];

	connect(test, encrypts(test));
	put_header(data, KRDMA_WIRE_DATA, 8);
	put_header(ping, KRDMA_WIRE_PING, 0);
	KUNIT_EXPECT_EQ(test, 40, krdma_seal_message(pair->client, data,
						     vector_text, 8));
	KUNIT_EXPECT_EQ(test, -EINVAL, krdma_seal_message(pair->client, data,
							  vector_text, 8));
	KUNIT_EXPECT_EQ(test, 32, krdma_seal_message(pair->client, ping, NULL,
						     0));
	KUNIT_EXPECT_EQ(test, -EINVAL, krdma_seal_message(pair->client, ping,
							  NULL, 0));
	krdma_seal_posted(pair->client, KRDMA_WIRE_PING);
	KUNIT_EXPECT_EQ(test, -EINVAL, krdma_seal_message(pair->client, data,
							  vector_text, 8));
	krdma_seal_posted(pair->client, KRDMA_WIRE_DATA);
	KUNIT_EXPECT_EQ(test, opened(test, ping, 32), 0);
	KUNIT_EXPECT_EQ(test, opened(test, data, 40), 8);
}

/* A PING overtakes DATA that were sealed before, and that move the key on. */
static void seal_control_message_overtakes_sealed_data(struct kunit *test)
{
	struct pair *pair = test->priv;
	u8 data[64], ping[64];

	connect(test, encrypts(test));
	skip_to(test, 65535, 0);
	put_header(data, KRDMA_WIRE_DATA, 8);
	KUNIT_ASSERT_EQ(test, 40, krdma_seal_message(pair->client, data,
						     vector_text, 8));
	sealed(test, ping, KRDMA_WIRE_PING, NULL, 0);
	krdma_seal_posted(pair->client, KRDMA_WIRE_DATA);
	KUNIT_EXPECT_EQ(test, opened(test, ping, 32), 0);
	KUNIT_EXPECT_EQ(test, opened(test, data, 40), 8);
	KUNIT_EXPECT_EQ(test, 0, memcmp(pair->server->rx.key,
					vector_client_rekeyed, 32));
}

/* ---- keys ---- */

static void seal_key_is_replaced_after_65536_messages(struct kunit *test)
{
	struct pair *pair = test->priv;
	u32 i, failed = 0;
	int bytes;

	connect(test, encrypts(test));
	for (i = 0; i < 65536; i++) {
		KUNIT_EXPECT_EQ(test, 0, memcmp(pair->client->tx.key,
						vector_client_key, 32));
		bytes = sealed(test, pair->msg, KRDMA_WIRE_DATA, &i, sizeof(i));
		if (krdma_seal_open(pair->server, pair->msg, bytes) != 4 ||
		    memcmp(pair->msg + HDR, &i, sizeof(i)))
			failed++;
		if (i % 1024 == 0)
			cond_resched();
	}
	KUNIT_EXPECT_EQ(test, failed, 0U);
	KUNIT_EXPECT_EQ(test, 0, memcmp(pair->client->tx.key,
					vector_client_rekeyed, 32));
	KUNIT_EXPECT_EQ(test, 0, memcmp(pair->server->rx.key,
					vector_client_rekeyed, 32));
	/* The key of the other direction is still the first one. */
	KUNIT_EXPECT_EQ(test, 0, memcmp(pair->client->rx.key, vector_server_key,
					32));
}

/* A message without data may be the first one with the next key. */
static void seal_control_messages_follow_the_key(struct kunit *test)
{
	u8 data[64], ping[64];
	int bytes;

	connect(test, encrypts(test));
	skip_to(test, 2 * 65536 - 1, 0);
	bytes = sealed(test, data, KRDMA_WIRE_DATA, vector_text, 8);
	sealed(test, ping, KRDMA_WIRE_PING, NULL, 0);
	KUNIT_EXPECT_EQ(test, -EBADMSG,
			opened(test, ping, HDR + KRDMA_SEAL_TAG));
	KUNIT_EXPECT_EQ(test, opened(test, data, bytes), 8);
	KUNIT_EXPECT_EQ(test, opened(test, ping, HDR + KRDMA_SEAL_TAG), 0);
}

/*
 * Check the memory of freed keys. KASAN refuses accesses by the address of the
 * object, so a second mapping of its pages is used. The allocator may overwrite
 * a few bytes, or another task all of them, but not with the old bytes.
 */
static void seal_keys_are_erased_when_freed(struct kunit *test)
{
	struct pair *pair = test->priv;
	struct krdma_seal *seal = pair->client;
	const size_t at = offset_in_page(seal);
	struct page *pages[2] = { virt_to_page(seal), virt_to_page(seal) + 1 };
	const size_t blocks = sizeof(*seal) / sizeof(u64);
	unsigned int i, kept = 0;
	u64 *before, *after;
	void *place;

	connect(test, encrypts(test));
	/* Also leave the state of a handshake. */
	krdma_noise_init(&seal->noise, vector_key, NULL, 0);
	before = kunit_kzalloc(test, sizeof(*seal), GFP_KERNEL);
	after = kunit_kzalloc(test, sizeof(*seal), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, before);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, after);
	place = vmap(pages, 1 + (at + sizeof(*seal) > PAGE_SIZE), VM_MAP,
		     PAGE_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, place);

	memcpy(before, seal, sizeof(*seal));
	KUNIT_EXPECT_EQ(test, memcmp(place + at, before, sizeof(*seal)), 0);
	pair->client = NULL;
	krdma_seal_free(seal);
	memcpy(after, place + at, sizeof(*seal));
	vunmap(place);
	for (i = 0; i < blocks; i++)
		kept += before[i] && before[i] == after[i];
	KUNIT_EXPECT_EQ(test, kept, 0U);
}

static struct kunit_case krdma_seal_cases[] = {
	KUNIT_CASE_PARAM(seal_messages_match_vector, levels_gen_params),
	KUNIT_CASE_PARAM(seal_messages_with_next_key_match_vector,
			 levels_gen_params),
	KUNIT_CASE_PARAM(seal_server_start_matches_vector, levels_gen_params),
	KUNIT_CASE_PARAM(seal_start_is_always_encrypted, levels_gen_params),
	KUNIT_CASE_PARAM(seal_message_with_flipped_bit_is_refused,
			 levels_gen_params),
	KUNIT_CASE_PARAM(seal_message_of_other_length_is_refused,
			 levels_gen_params),
	KUNIT_CASE_PARAM(seal_random_bytes_are_refused, levels_gen_params),
	KUNIT_CASE_PARAM(seal_repeated_messages_are_refused, levels_gen_params),
	KUNIT_CASE_PARAM(seal_swapped_messages_are_refused, levels_gen_params),
	KUNIT_CASE_PARAM(seal_missing_data_are_noticed, levels_gen_params),
	KUNIT_CASE_PARAM(seal_missing_control_message_is_noticed,
			 levels_gen_params),
	KUNIT_CASE_PARAM(seal_message_passed_off_as_other_type_is_refused,
			 levels_gen_params),
	KUNIT_CASE_PARAM(seal_reflected_message_is_refused, levels_gen_params),
	KUNIT_CASE_PARAM(seal_message_of_other_level_is_refused,
			 levels_gen_params),
	KUNIT_CASE_PARAM(seal_unsealed_types_are_invalid, levels_gen_params),
	KUNIT_CASE_PARAM(seal_number_is_used_once, levels_gen_params),
	KUNIT_CASE_PARAM(seal_control_message_overtakes_sealed_data,
			 levels_gen_params),
	KUNIT_CASE_PARAM(seal_key_is_replaced_after_65536_messages,
			 levels_gen_params),
	KUNIT_CASE_PARAM(seal_control_messages_follow_the_key,
			 levels_gen_params),
	KUNIT_CASE_PARAM(seal_keys_are_erased_when_freed, levels_gen_params),
	{}
};

static struct kunit_suite krdma_seal_suite = {
	.name = "krdma_seal",
	.init = pair_alloc,
	.exit = pair_free,
	.test_cases = krdma_seal_cases,
};

kunit_test_suite(krdma_seal_suite);

MODULE_AUTHOR("The krdma developers");
MODULE_DESCRIPTION("KUnit tests of krdma's sealed messages");
MODULE_LICENSE("GPL");
