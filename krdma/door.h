/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Door: the check of a connect request before the server creates an object. The
 * tag of the request shows that its sender has a key of the server, or has
 * seen a request of a peer that has. So a valid tag proves nothing, and only
 * the handshake does (noise.h). The functions are pure.
 *
 *   REQ   hello | private data of the user | tag
 *   REP   hello | private data of the user | first message of the handshake
 */
#ifndef KRDMA_DOOR_H
#define KRDMA_DOOR_H

#include <linux/build_bug.h>
#include <linux/socket.h>
#include <linux/types.h>

#include "noise.h"
#include "wire.h"

#define KRDMA_DOOR_TAG	    8 /* bytes of a tag */
#define KRDMA_DOOR_LABEL    "krdma 2"
#define KRDMA_DOOR_PROLOGUE (sizeof(KRDMA_DOOR_LABEL) - 1 +		\
			     2 * sizeof(struct krdma_wire_hello) +	\
			     2 * KRDMA_WIRE_USER_MAX + KRDMA_DOOR_TAG +	\
			     sizeof(struct krdma_door_ends))

/**
 * struct krdma_door_ends - addresses of both ends, as they are hashed
 * @client: IPv6 address, or ::ffff:a.b.c.d for the IPv4 address a.b.c.d
 * @server: address of the server, like @client
 * @port: port of the server. That of the client is not known to siw
 */
struct krdma_door_ends {
	u8 client[16];
	u8 server[16];
	__be16 port;
} __packed;
static_assert(sizeof(struct krdma_door_ends) == 34);

int krdma_door_fill(struct krdma_door_ends *ends, const struct sockaddr *client,
		    const struct sockaddr *server);
void krdma_door_key(u8 *door, const u8 *key);
u32 krdma_door_id(const u8 *key);
void krdma_door_tag(u8 *tag, const u8 *door, const void *req, u8 user_len,
		    const struct krdma_door_ends *ends);
int krdma_door_find(const u8 *doors, unsigned int n, const void *req,
		    size_t len, u8 user_len,
		    const struct krdma_door_ends *ends);
size_t krdma_door_prologue(u8 *prologue, const void *req, u8 req_user_len,
			   const void *rep, u8 rep_user_len,
			   const struct krdma_door_ends *ends);

#endif /* KRDMA_DOOR_H */
