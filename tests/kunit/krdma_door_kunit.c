// SPDX-License-Identifier: GPL-2.0
/*
 * Test the tags of connect requests, ids of keys, and the prologue of the
 * handshake. noise_vectors.py has calculated the expected results.
 */
#include <kunit/test.h>
#include <linux/inet.h>
#include <linux/prandom.h>

#include "../../krdma/noise.c"
#include "../../krdma/door.c"
#include "noise_vectors.h"

#define USER 24
#define REQ (sizeof(struct krdma_wire_hello) + USER)
#define KEYS 4
/* Index of vector_key in the keys of the tests. */
#define OURS 2

static struct sockaddr *v4(struct sockaddr_in *sin, u32 addr, u16 port)
{
	*sin = (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_addr.s_addr = cpu_to_be32(addr),
		.sin_port = cpu_to_be16(port),
	};
	return (struct sockaddr *)sin;
}

static struct sockaddr *v6(struct sockaddr_in6 *sin6, const char *addr,
			   u16 port)
{
	*sin6 = (struct sockaddr_in6){
		.sin6_family = AF_INET6,
		.sin6_port = cpu_to_be16(port),
		.sin6_scope_id = 3,
		.sin6_flowinfo = cpu_to_be32(4),
	};
	in6_pton(addr, -1, sin6->sin6_addr.s6_addr, -1, NULL);
	return (struct sockaddr *)sin6;
}

static void door_ipv4_ends_match_vector(struct kunit *test)
{
	struct krdma_door_ends ends;
	struct sockaddr_in client, server;

	KUNIT_ASSERT_EQ(test, sizeof(ends), sizeof(vector_ends));
	KUNIT_EXPECT_EQ(test, 0,
			krdma_door_fill(&ends, v4(&client, 0x0a000001, 40000),
					v4(&server, 0x0a000002, 5565)));
	KUNIT_EXPECT_EQ(test, memcmp(&ends, vector_ends, sizeof(ends)), 0);
}

static void door_ipv6_ends_match_vector(struct kunit *test)
{
	struct krdma_door_ends ends;
	struct sockaddr_in6 client, server;

	KUNIT_EXPECT_EQ(test, 0,
			krdma_door_fill(&ends,
					v6(&client, "2001:db8::1", 40000),
					v6(&server, "2001:db8::2", 5566)));
	KUNIT_EXPECT_EQ(test, memcmp(&ends, vector_ends6, sizeof(ends)), 0);
}

static void door_mapped_address_is_that_of_ipv4(struct kunit *test)
{
	struct krdma_door_ends ends;
	struct sockaddr_in client;
	struct sockaddr_in6 server;

	KUNIT_EXPECT_EQ(test, 0,
			krdma_door_fill(&ends, v4(&client, 0x0a000001, 1),
					v6(&server, "::ffff:10.0.0.2", 5565)));
	KUNIT_EXPECT_EQ(test, memcmp(&ends, vector_ends, sizeof(ends)), 0);
}

static void door_other_families_are_refused(struct kunit *test)
{
	struct sockaddr_storage storage = { .ss_family = AF_UNIX };
	struct sockaddr *other = (struct sockaddr *)&storage, *good;
	struct krdma_door_ends ends;
	struct sockaddr_in sin;

	good = v4(&sin, 0x0a000001, 1);
	KUNIT_EXPECT_EQ(test, -EAFNOSUPPORT,
			krdma_door_fill(&ends, other, good));
	KUNIT_EXPECT_EQ(test, -EAFNOSUPPORT,
			krdma_door_fill(&ends, good, other));
}

static void door_key_and_id_match_vector(struct kunit *test)
{
	u8 door[KRDMA_NOISE_KEY];

	krdma_door_key(door, vector_key);
	KUNIT_EXPECT_EQ(test, memcmp(door, vector_door, sizeof(door)), 0);
	KUNIT_EXPECT_EQ(test, krdma_door_id(vector_key), 0x60f0a2e5U);
}

static const struct krdma_door_ends *ends_of(const u8 *bytes)
{
	return (const struct krdma_door_ends *)bytes;
}

static void door_tag_matches_vector(struct kunit *test)
{
	u8 tag[KRDMA_DOOR_TAG];

	krdma_door_tag(tag, vector_door, vector_req, USER,
		       ends_of(vector_ends));
	KUNIT_EXPECT_EQ(test, memcmp(tag, vector_tag, sizeof(tag)), 0);
	krdma_door_tag(tag, vector_door, vector_req, USER,
		       ends_of(vector_ends6));
	KUNIT_EXPECT_EQ(test, memcmp(tag, vector_tag6, sizeof(tag)), 0);
}

/**
 * struct door_server - keys and addresses of a server, and a request
 * @doors: keys of tags; that of vector_key has the index OURS
 * @ends: addresses of both ends
 * @req: request with a valid tag
 */
struct door_server {
	u8 doors[KEYS][KRDMA_NOISE_KEY];
	u8 ends[sizeof(struct krdma_door_ends)];
	u8 req[REQ + KRDMA_DOOR_TAG];
};

static void make_server(struct door_server *server)
{
	u8 key[KRDMA_NOISE_KEY];
	int i;

	for (i = 0; i < KEYS; i++) {
		memcpy(key, vector_key, sizeof(key));
		key[0] += i - OURS;
		krdma_door_key(server->doors[i], key);
	}
	memcpy(server->ends, vector_ends, sizeof(server->ends));
	memcpy(server->req, vector_req, REQ);
	memcpy(server->req + REQ, vector_tag, KRDMA_DOOR_TAG);
}

/*
 * Look for the key of a request. The request has exactly @len bytes of memory,
 * so that KASAN detects reads behind it.
 */
static int find(struct kunit *test, const struct door_server *server,
		unsigned int n, size_t len, u8 user_len)
{
	u8 *req = kzalloc(len ?: 1, GFP_KERNEL);
	int ret;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, req);
	memcpy(req, server->req, min(len, sizeof(server->req)));
	ret = krdma_door_find(server->doors[0], n, req, len, user_len,
			      ends_of(server->ends));
	kfree(req);
	return ret;
}

static void door_key_is_found_among_several(struct kunit *test)
{
	struct door_server server;

	make_server(&server);
	KUNIT_EXPECT_EQ(test, OURS,
			find(test, &server, KEYS, sizeof(server.req), USER));
	KUNIT_EXPECT_EQ(test, OURS, find(test, &server, OURS + 1,
					 sizeof(server.req), USER));
}

static void door_unknown_key_is_refused(struct kunit *test)
{
	struct door_server server;

	make_server(&server);
	KUNIT_EXPECT_EQ(test, -EKEYREJECTED,
			find(test, &server, OURS, sizeof(server.req), USER));
	KUNIT_EXPECT_EQ(test, -EKEYREJECTED,
			find(test, &server, 0, sizeof(server.req), USER));
}

static void door_padded_request_is_accepted(struct kunit *test)
{
	struct door_server server;

	make_server(&server);
	KUNIT_EXPECT_EQ(test, OURS, find(test, &server, KEYS, 92, USER));
}

static void door_short_request_is_invalid(struct kunit *test)
{
	struct door_server server;
	size_t len;

	make_server(&server);
	for (len = 0; len < sizeof(server.req); len++)
		KUNIT_EXPECT_EQ(test, -EPROTO,
				find(test, &server, KEYS, len, USER));
	KUNIT_EXPECT_EQ(test, -EPROTO,
			find(test, &server, KEYS, sizeof(server.req), 255));
}

static void door_request_with_flipped_bit_is_refused(struct kunit *test)
{
	struct door_server server;
	unsigned int bit;

	make_server(&server);
	for (bit = 0; bit < 8 * sizeof(server.req); bit++) {
		server.req[bit / 8] ^= 1 << bit % 8;
		KUNIT_EXPECT_EQ_MSG(test, -EKEYREJECTED,
				    find(test, &server, KEYS,
					 sizeof(server.req), USER),
				    "bit %u", bit);
		server.req[bit / 8] ^= 1 << bit % 8;
	}
}

static void door_tag_of_other_addresses_is_refused(struct kunit *test)
{
	struct door_server server;
	unsigned int bit;

	make_server(&server);
	for (bit = 0; bit < 8 * sizeof(server.ends); bit++) {
		server.ends[bit / 8] ^= 1 << bit % 8;
		KUNIT_EXPECT_EQ_MSG(test, -EKEYREJECTED,
				    find(test, &server, KEYS,
					 sizeof(server.req), USER),
				    "bit %u", bit);
		server.ends[bit / 8] ^= 1 << bit % 8;
	}
}

static void door_random_bytes_are_refused(struct kunit *test)
{
	struct door_server server;
	struct rnd_state random;
	int i, ret;

	make_server(&server);
	prandom_seed_state(&random, 34);
	for (i = 0; i < 10000; i++) {
		prandom_bytes_state(&random, server.req, sizeof(server.req));
		ret = find(test, &server, KEYS, prandom_u32_state(&random) % 97,
			   prandom_u32_state(&random));
		KUNIT_EXPECT_TRUE(test, ret == -EPROTO || ret == -EKEYREJECTED);
	}
}

static void door_prologue_matches_vector(struct kunit *test)
{
	struct door_server server;
	u8 prologue[KRDMA_DOOR_PROLOGUE];
	size_t len;

	make_server(&server);
	len = krdma_door_prologue(prologue, server.req, USER, vector_rep, USER,
				  ends_of(server.ends));
	KUNIT_ASSERT_EQ(test, len, sizeof(vector_prologue));
	KUNIT_EXPECT_EQ(test, memcmp(prologue, vector_prologue, len), 0);
}

static void door_longest_prologue_fits(struct kunit *test)
{
	u8 *prologue = kunit_kzalloc(test, KRDMA_DOOR_PROLOGUE, GFP_KERNEL);
	u8 bytes[sizeof(struct krdma_wire_hello) + KRDMA_WIRE_USER_MAX +
		 KRDMA_DOOR_TAG] = {};
	size_t len;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, prologue);
	len = krdma_door_prologue(prologue, bytes, KRDMA_WIRE_USER_MAX, bytes,
				  KRDMA_WIRE_USER_MAX, ends_of(vector_ends));
	KUNIT_EXPECT_EQ(test, len, KRDMA_DOOR_PROLOGUE);
}

static struct kunit_case krdma_door_cases[] = {
	KUNIT_CASE(door_ipv4_ends_match_vector),
	KUNIT_CASE(door_ipv6_ends_match_vector),
	KUNIT_CASE(door_mapped_address_is_that_of_ipv4),
	KUNIT_CASE(door_other_families_are_refused),
	KUNIT_CASE(door_key_and_id_match_vector),
	KUNIT_CASE(door_tag_matches_vector),
	KUNIT_CASE(door_key_is_found_among_several),
	KUNIT_CASE(door_unknown_key_is_refused),
	KUNIT_CASE(door_padded_request_is_accepted),
	KUNIT_CASE(door_short_request_is_invalid),
	KUNIT_CASE(door_request_with_flipped_bit_is_refused),
	KUNIT_CASE(door_tag_of_other_addresses_is_refused),
	KUNIT_CASE(door_random_bytes_are_refused),
	KUNIT_CASE(door_prologue_matches_vector),
	KUNIT_CASE(door_longest_prologue_fits),
	{}
};

static struct kunit_suite krdma_door_suite = {
	.name = "krdma_door",
	.test_cases = krdma_door_cases,
};

kunit_test_suite(krdma_door_suite);

MODULE_AUTHOR("The krdma developers");
MODULE_DESCRIPTION("KUnit tests of krdma's tags of connect requests");
MODULE_LICENSE("GPL");
