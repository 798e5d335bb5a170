/* SPDX-License-Identifier: GPL-2.0 */
#ifndef VHOSTILE_PRIV_H
#define VHOSTILE_PRIV_H

#include <linux/prandom.h>
#include <linux/types.h>

#include "../../../vrfm/proto.h"

/* What a message can be spoiled to, and what krdma takes. */
#define VHOSTILE_ROOM 8192

/**
 * struct vhostile - a message that is about to be spoiled
 * @random: numbers that the seed determines
 * @size: bytes of the victim's memory
 * @sequence: that the message must have to be right
 * @len: bytes of it
 * @msg: it
 */
struct vhostile {
	struct rnd_state random;
	u32 size;
	u64 sequence;
	u32 len;
	u8 msg[VHOSTILE_ROOM] __aligned(8);
};

u32 vhostile_below(struct vhostile *vh, u32 end);
void vhostile_probe(struct vhostile *vh);
const char *vhostile_spoil(struct vhostile *vh, u32 round);

#endif /* VHOSTILE_PRIV_H */
