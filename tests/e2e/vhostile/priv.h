/* SPDX-License-Identifier: GPL-2.0 */
#ifndef VHOSTILE_PRIV_H
#define VHOSTILE_PRIV_H

#include <linux/prandom.h>
#include <linux/types.h>

#include "../../../vrfm/proto.h"

#define VHOSTILE_TIMEOUT_MS 10000
#define VHOSTILE_MESSAGE 16384
/* Maximum length of an invalid message, in bytes. */
#define VHOSTILE_ROOM 8192

struct krdma_cb;

/**
 * struct vhostile - a message to be made invalid
 * @random: state of the pseudo-random numbers, which the seed determines
 * @size: size of the victim's memory, in bytes
 * @sequence: sequence number that the victim expects in the message
 * @len: length of @msg, in bytes
 * @msg: the message
 */
struct vhostile {
	struct rnd_state random;
	u32 size;
	u64 sequence;
	u32 len;
	u8 msg[VHOSTILE_ROOM] __aligned(8);
};

u32 vhostile_below(struct vhostile *vh, u32 end);
int vhostile_send(struct krdma_cb *cb, const struct vhostile *vh);
int vhostile_mute(struct krdma_cb *cb, struct vhostile *vh, void *buf, u32 ms);
void vhostile_probe(struct vhostile *vh);
void vhostile_ack(struct vhostile *vh, u64 applied);
void vhostile_say(struct vhostile *vh, const struct vrfm_wire_note *note,
		  u64 applied);
const char *vhostile_spoil(struct vhostile *vh, u32 round);

#endif /* VHOSTILE_PRIV_H */
