/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The bytes that krping peers, old and new and in user space, exchange: the one
 * message, the data that it is about, and how new peers know each other. Pure.
 */
#ifndef KRPING_WIRE_H
#define KRPING_WIRE_H

#include <linux/bits.h>
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

/*
 * Extended mode, between new peers only. A client says hello in the private data
 * of its REQ, and the server says so in its REP; old peers look at neither. Then
 * messages of size 0, which old peers never send, say more than "go ahead".
 */
#define KRPING_HELLO_MAGIC 0x6b727067 /* "krpg" */
#define KRPING_HELLO_VERSION 1
/* First half of the key of a message of size 0; the other half is the type. */
#define KRPING_CTL_MAGIC 0x6b720000

#define KRPING_HELLO_DUPLEX	BIT(0) /* both sides WRITE */
#define KRPING_HELLO_SERVER_INV	BIT(1) /* answers invalidate keys */
#define KRPING_HELLO_CRC	BIT(2) /* checksums are exchanged */
#define KRPING_HELLO_IMM	BIT(3) /* messages and WRITEs with immediate data */

/**
 * struct krping_wire_hello - private data of REQ, REP and REJ
 * @magic: KRPING_HELLO_MAGIC
 * @version: KRPING_HELLO_VERSION; a higher one means the same and more
 * @test: &enum krping_test
 * @flags: KRPING_HELLO_*; a server's has those that it agrees to
 * @size: of &struct krping_opts
 * @count: likewise
 * @from: likewise
 * @duration_s: likewise
 * @window: messages of the client's stream that the server has receives for
 * @warmup: client: operations of each size before those that are measured;
 *	server: the same number, if it does its part of them
 * @refused: REJ: &enum krping_mismatch, else 0
 */
struct krping_wire_hello {
	__be32 magic;
	u8 version;
	u8 test;
	__be16 flags;
	__be32 size;
	__be32 count;
	__be32 from;
	__be32 duration_s;
	__be32 window;
	__be32 warmup;
	__be32 refused;
} __packed;
static_assert(sizeof(struct krping_wire_hello) == 36);

/**
 * enum krping_mismatch - which option the two sides do not agree about
 * @KRPING_AGREED: none
 * @KRPING_DIFFERENT_TEST: the test
 * @KRPING_DIFFERENT_SIZE: size
 * @KRPING_DIFFERENT_COUNT: count
 * @KRPING_DIFFERENT_DUPLEX: duplex
 * @KRPING_DIFFERENT_INV: server_inv
 * @KRPING_DIFFERENT_FROM: from
 * @KRPING_DIFFERENT_IMM: imm
 * @KRPING_DIFFERENT_VERIFY: verify
 * @KRPING_MISMATCHES: how many there are
 */
enum krping_mismatch {
	KRPING_AGREED = 0,
	KRPING_DIFFERENT_TEST,
	KRPING_DIFFERENT_SIZE,
	KRPING_DIFFERENT_COUNT,
	KRPING_DIFFERENT_DUPLEX,
	KRPING_DIFFERENT_INV,
	KRPING_DIFFERENT_FROM,
	KRPING_DIFFERENT_IMM,
	KRPING_DIFFERENT_VERIFY,
	KRPING_MISMATCHES,
};

/**
 * struct krping_hello - a hello in host order
 * @test: see &struct krping_wire_hello
 * @flags: dto.
 * @size: dto.
 * @count: dto.
 * @from: dto.
 * @duration_s: dto.
 * @window: see &struct krping_wire_hello
 * @warmup: see &struct krping_wire_hello
 * @refused: see &struct krping_wire_hello
 */
struct krping_hello {
	u8 test;
	u16 flags;
	u32 size;
	u32 count;
	u32 from;
	u32 duration_s;
	u32 window;
	u32 warmup;
	u32 refused;
};

/* What a message of size 0 is. */
enum krping_ctl_type {
	KRPING_CTL_NONE = 0,	/* it is not one, or says "go ahead" only */
	KRPING_CTL_GO,		/* go ahead; value: checksum of what was READ */
	KRPING_CTL_END,		/* it is over; value: checksum of what is shown */
	KRPING_CTL_CREDIT,	/* value: so many of the stream may have been sent */
};

/**
 * struct krping_ctl - a message of size 0
 * @type: what it is
 * @status: of the test on that side: 0 or a positive errno
 * @value: what else it says
 */
struct krping_ctl {
	enum krping_ctl_type type;
	u32 status;
	u32 value;
};

void krping_hello_encode(struct krping_wire_hello *wire,
			 const struct krping_hello *hello);
int krping_hello_decode(struct krping_hello *hello, const void *data, u32 len);
enum krping_mismatch krping_hello_check(const struct krping_hello *server,
					const struct krping_hello *client);
const char *krping_mismatch_name(u32 mismatch);
void krping_ctl_encode(struct krping_adv *adv, const struct krping_ctl *ctl);
void krping_ctl_decode(struct krping_ctl *ctl, const struct krping_adv *adv);
void krping_wire_encode(struct krping_wire *wire, const struct krping_adv *adv);
int krping_wire_decode(struct krping_adv *adv, const void *data, u32 len);
void krping_payload_fill(void *buf, u32 size, u64 ping);

#endif /* KRPING_WIRE_H */
