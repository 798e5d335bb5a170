/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The bytes that krping peers, old and new and in user space, exchange: the one
 * message, and the data that it is about. Pure.
 */
#ifndef KRPING_WIRE_H
#define KRPING_WIRE_H

#include <linux/build_bug.h>
#include <linux/types.h>

/**
 * struct krping_wire - a message
 * @addr: where the sender's buffer begins, as RDMA addresses it
 * @rkey: key of the buffer
 * @size: bytes
 *
 * From a client it shows a buffer. From a server it means "go ahead" and its
 * content none.
 */
struct krping_wire {
	__be64 addr;
	__be32 rkey;
	__be32 size;
} __packed;
static_assert(sizeof(struct krping_wire) == 16);

/**
 * struct krping_adv - a message in host order
 * @addr: see &struct krping_wire
 * @rkey: dto.
 * @size: dto.
 */
struct krping_adv {
	u64 addr;
	u32 rkey;
	u32 size;
};

void krping_wire_encode(struct krping_wire *wire, const struct krping_adv *adv);
int krping_wire_decode(struct krping_adv *adv, const void *data, u32 len);
void krping_payload_fill(void *buf, u32 size, u64 ping);

#endif /* KRPING_WIRE_H */
