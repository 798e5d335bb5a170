/* SPDX-License-Identifier: GPL-2.0 */
#ifndef VRFM_OPTS_H
#define VRFM_OPTS_H

#include <linux/sizes.h>
#include <linux/types.h>

#define VRFM_NAME "rfm2g"
#define VRFM_DEVICES 8

#define VRFM_SIZE_MIN SZ_4K
#define VRFM_SIZE_MAX SZ_2G
#define VRFM_SIZE_DEFAULT SZ_64M
#define VRFM_NETWORK_DEFAULT 1
#define VRFM_PORT_DEFAULT 5565
#define VRFM_OVERLOAD_US_DEFAULT 100000
#define VRFM_OVERLOAD_US_MAX 60000000
#define VRFM_FLUSH_US_DEFAULT 50
#define VRFM_FLUSH_US_MAX 1000000
#define VRFM_STAGE_MS_DEFAULT 1000
#define VRFM_STAGE_MS_MAX 60000
#define VRFM_QUIET_US_DEFAULT 1000
#define VRFM_QUIET_US_MAX 10000000
#define VRFM_KEEPALIVE_MS_DEFAULT 1000
#define VRFM_KEEPALIVE_MS_MAX 60000
/*
 * Default size of the smallest block that is written directly. Smaller blocks
 * are sent in messages, which is faster, because a message contains many of
 * them.
 */
#define VRFM_DIRECT_MIN_DEFAULT SZ_16K
#define VRFM_DIRECT_MIN_MAX SZ_64K
/* Number of levels of security, which are enum krdma_security. */
#define VRFM_SECURITY_LEVELS 4

/**
 * enum vrfm_direct_mode - policy for direct writes into the memory of peers
 * @VRFM_DIRECT_AUTO: use direct writes if the adapter places blocks in order
 * @VRFM_DIRECT_ON: use direct writes even if the adapter may place blocks out
 *	of order
 * @VRFM_DIRECT_OFF: neither write directly into peers, nor let peers write
 *	directly here
 * @VRFM_DIRECT_MODES: number of policies
 */
enum vrfm_direct_mode {
	VRFM_DIRECT_AUTO,
	VRFM_DIRECT_ON,
	VRFM_DIRECT_OFF,
	VRFM_DIRECT_MODES,
};

/**
 * struct vrfm_peer_text - parts of a peer's text, as an admin wrote it
 * @node: node id
 * @host: address of the peer, for krdma_parse_addr()
 * @port: port of the peer; NULL: the default port
 */
struct vrfm_peer_text {
	u32 node;
	char *host;
	char *port;
};

int vrfm_parse_peer(char *text, struct vrfm_peer_text *peer);
bool vrfm_is_octal(const char *text);
int vrfm_parse_size(const char *text, u64 *size);
int vrfm_parse_unit(const char *name, unsigned int *unit);
int vrfm_parse_direct(const char *text, u32 *mode);
const char *vrfm_direct_mode_name(u32 mode);
int vrfm_parse_security(const char *text, u32 *level);
const char *vrfm_security_name(u32 level);

#endif /* VRFM_OPTS_H */
