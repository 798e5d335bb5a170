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

/**
 * struct vrfm_peer_text - another node, as an admin wrote it
 * @node: its id
 * @host: its address, for krdma_parse_addr()
 * @port: its port, NULL: the default
 */
struct vrfm_peer_text {
	u32 node;
	char *host;
	char *port;
};

int vrfm_parse_peer(char *text, struct vrfm_peer_text *peer);
int vrfm_parse_size(const char *text, u64 *size);
int vrfm_parse_unit(const char *name, unsigned int *unit);

#endif /* VRFM_OPTS_H */
