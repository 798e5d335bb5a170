// SPDX-License-Identifier: GPL-2.0
/*
 * Door: tags of connect requests, ids of keys, and the prologue of the
 * handshake, which contains all that both ends have said before it.
 */
#include <crypto/algapi.h>
#include <crypto/blake2s.h>
#include <linux/errno.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/string.h>

#include <compat.h>

#include "door.h"

static int krdma_door_addr(u8 *addr, const struct sockaddr *sa)
{
	switch (sa->sa_family) {
	case AF_INET:
		memset(addr, 0, 10);
		memset(addr + 10, 0xff, 2);
		memcpy(addr + 12, &((const struct sockaddr_in *)sa)->sin_addr,
		       4);
		return 0;
	case AF_INET6:
		memcpy(addr, &((const struct sockaddr_in6 *)sa)->sin6_addr, 16);
		return 0;
	default:
		return -EAFNOSUPPORT;
	}
}

/**
 * krdma_door_fill - convert the addresses of both ends
 * @ends: result
 * @client: address of the client
 * @server: address and port of the server
 *
 * A scope is left out, because it is a number of one host.
 *
 * Context: any.
 * Return: 0 or -EAFNOSUPPORT: an address is neither IPv4 nor IPv6.
 */
int krdma_door_fill(struct krdma_door_ends *ends, const struct sockaddr *client,
		    const struct sockaddr *server)
{
	int ret = krdma_door_addr(ends->client, client);

	if (!ret)
		ret = krdma_door_addr(ends->server, server);
	if (ret)
		return ret;
	/* The port has the same place in both families. */
	ends->port = ((const struct sockaddr_in *)server)->sin_port;
	return 0;
}

/**
 * krdma_door_key - derive the key of tags from a shared key
 * @door: room for KRDMA_NOISE_KEY bytes
 * @key: shared key of KRDMA_NOISE_KEY bytes
 *
 * Context: any.
 */
void krdma_door_key(u8 *door, const u8 *key)
{
	krdma_noise_derive(door, KRDMA_NOISE_KEY, key, "krdma 2 door");
}

/**
 * krdma_door_id - return the id of a shared key
 * @key: shared key of KRDMA_NOISE_KEY random bytes
 *
 * The id tells people which key a host has. It tells nothing about the key,
 * because keys are random, and no key is made from a password.
 *
 * Context: any.
 * Return: id, to be shown as 8 hexadecimal digits.
 */
u32 krdma_door_id(const u8 *key)
{
	__be32 id;

	krdma_noise_derive((u8 *)&id, sizeof(id), key, "krdma 2 id");
	return be32_to_cpu(id);
}

/**
 * krdma_door_tag - calculate the tag of a connect request
 * @tag: room for KRDMA_DOOR_TAG bytes
 * @door: key of krdma_door_key()
 * @req: hello, and @user_len bytes of the user behind it
 * @user_len: number of bytes of the user
 * @ends: addresses of both ends
 *
 * Context: any.
 */
void krdma_door_tag(u8 *tag, const u8 *door, const void *req, u8 user_len,
		    const struct krdma_door_ends *ends)
{
	struct blake2s_ctx ctx;

	blake2s_init_key(&ctx, KRDMA_DOOR_TAG, door, KRDMA_NOISE_KEY);
	blake2s_update(&ctx, req, sizeof(struct krdma_wire_hello) + user_len);
	blake2s_update(&ctx, (const u8 *)ends, sizeof(*ends));
	blake2s_final(&ctx, tag);
}

/**
 * krdma_door_find - find the key with which a connect request was tagged
 * @doors: keys of krdma_door_key(), one behind the other
 * @n: number of keys
 * @req: private data of the request, which InfiniBand may have padded
 * @len: number of bytes of @req
 * @user_len: number of bytes of the user, from the decoded hello
 * @ends: addresses of both ends, as the server knows them
 *
 * Context: any; the time grows with @n.
 * Return: index of the key, -EPROTO: the request is too short for a tag, or
 * -EKEYREJECTED: the request was tagged with another key, or for other
 * addresses.
 */
int krdma_door_find(const u8 *doors, unsigned int n, const void *req,
		    size_t len, u8 user_len,
		    const struct krdma_door_ends *ends)
{
	const size_t at = sizeof(struct krdma_wire_hello) + user_len;
	u8 tag[KRDMA_DOOR_TAG];
	unsigned int i;

	if (len < at + KRDMA_DOOR_TAG)
		return -EPROTO;
	for (i = 0; i < n; i++, doors += KRDMA_NOISE_KEY) {
		krdma_door_tag(tag, doors, req, user_len, ends);
		if (!crypto_memneq(tag, req + at, sizeof(tag)))
			return i;
	}
	return -EKEYREJECTED;
}

/* Append bytes, and return the place behind them. */
static u8 *krdma_door_add(u8 *to, const void *data, size_t len)
{
	memcpy(to, data, len);
	return to + len;
}

/**
 * krdma_door_prologue - build the prologue of the handshake
 * @prologue: room for KRDMA_DOOR_PROLOGUE bytes
 * @req: hello of the request as it was sent, with the bytes of the user and the
 *	tag behind it
 * @req_user_len: number of bytes of the user, at most KRDMA_WIRE_USER_MAX
 * @rep: hello of the reply as it was sent, with the bytes of the user behind it
 * @rep_user_len: number of bytes of the user, at most KRDMA_WIRE_USER_MAX
 * @ends: addresses of both ends
 *
 * The handshake fails unless both ends have the same prologue. So they agree on
 * all that @req and @rep say, and on their addresses.
 *
 * Context: any.
 * Return: number of bytes of the prologue.
 */
size_t krdma_door_prologue(u8 *prologue, const void *req, u8 req_user_len,
			   const void *rep, u8 rep_user_len,
			   const struct krdma_door_ends *ends)
{
	const size_t hello = sizeof(struct krdma_wire_hello);
	u8 *to = prologue;

	to = krdma_door_add(to, KRDMA_DOOR_LABEL, sizeof(KRDMA_DOOR_LABEL) - 1);
	to = krdma_door_add(to, req, hello + req_user_len + KRDMA_DOOR_TAG);
	to = krdma_door_add(to, rep, hello + rep_user_len);
	to = krdma_door_add(to, ends, sizeof(*ends));
	return to - prologue;
}
