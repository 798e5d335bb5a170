/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Format of the data that krping peers exchange: messages, the data of a ping,
 * and hellos. Old peers (earlier versions of krping, and rping in user space)
 * exchange no hellos. The functions are pure: no verbs, no sleeping, no
 * globals.
 */
#ifndef KRPING_WIRE_H
#define KRPING_WIRE_H

#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/types.h>

/**
 * struct krping_wire - a message
 * @addr: RDMA address of the sender's buffer
 * @rkey: key of the buffer
 * @size: length of the buffer in bytes
 *
 * A message advertises a buffer. In a ping, only the client's messages do so.
 * The server's message means "go ahead", and its content is ignored except in
 * extended mode.
 */
struct krping_wire {
	__be64 addr;
	__be32 rkey;
	__be32 size;
} __packed;
static_assert(sizeof(struct krping_wire) == 16);

/**
 * struct krping_adv - a message in host order
 * @addr: as in &struct krping_wire
 * @rkey: as in &struct krping_wire
 * @size: as in &struct krping_wire
 */
struct krping_adv {
	u64 addr;
	u32 rkey;
	u32 size;
};

/*
 * Extended mode, between new peers only. A client sends a hello in the private
 * data of its REQ, and the server answers with a hello in its REP. Old peers
 * ignore both hellos. In extended mode, a message whose member size is 0 is a
 * control message: it advertises no buffer, and carries a &struct krping_ctl in
 * its other members. Old peers never send the key of a control message.
 */
/* The text "krpg". It shows that the private data contain a hello. */
#define KRPING_HELLO_MAGIC 0x6b727067
#define KRPING_HELLO_VERSION 1
/*
 * Upper half of the key of a control message. The lower half is the type, see
 * &enum krping_ctl_type.
 */
#define KRPING_CTL_MAGIC 0x6b720000

/*
 * Flags of a hello:
 *  - KRPING_HELLO_DUPLEX: both sides WRITE in the bw test
 *  - KRPING_HELLO_SERVER_INV: the server's SENDs invalidate keys of the client
 *  - KRPING_HELLO_CRC: the sides exchange checksums
 *  - KRPING_HELLO_IMM: messages and WRITEs have immediate data
 */
#define KRPING_HELLO_DUPLEX	BIT(0)
#define KRPING_HELLO_SERVER_INV	BIT(1)
#define KRPING_HELLO_CRC	BIT(2)
#define KRPING_HELLO_IMM	BIT(3)

/**
 * struct krping_wire_hello - private data of REQ, REP and REJ
 * @magic: KRPING_HELLO_MAGIC
 * @version: KRPING_HELLO_VERSION; a higher version only adds members
 * @test: &enum krping_test
 * @flags: KRPING_HELLO_*; in an answer, those that the server accepts
 * @size: as in &struct krping_opts
 * @count: as in &struct krping_opts
 * @from: as in &struct krping_opts
 * @duration_s: as in &struct krping_opts
 * @window: number of receives that the server has for the client's stream
 * @warmup: client: operations of each size before the measured ones; server:
 *	the same number if it supports warmup
 * @refused: in a REJ: the option that differs, &enum krping_mismatch; otherwise
 *	0
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

/*
 * Tests of messages of krdma, see message.c. A connection with a level of
 * security has room for 24 bytes of private data.
 */
/* The text "krpm". */
#define KRPING_MSG_MAGIC 0x6b72706d

/**
 * struct krping_wire_msg_hello - private data of mlat and mbw
 * @magic: KRPING_MSG_MAGIC
 * @version: KRPING_HELLO_VERSION
 * @test: as in &struct krping_wire_hello
 * @flags: KRPING_HELLO_CRC, or 0
 * @refused: as in &struct krping_wire_hello
 * @size: as in &struct krping_wire_hello
 * @count: as in &struct krping_wire_hello
 * @from: as in &struct krping_wire_hello
 * @duration_s: as in &struct krping_wire_hello
 */
struct krping_wire_msg_hello {
	__be32 magic;
	u8 version;
	u8 test;
	u8 flags;
	u8 refused;
	__be32 size;
	__be32 count;
	__be32 from;
	__be32 duration_s;
} __packed;
static_assert(sizeof(struct krping_wire_msg_hello) == 24);

/**
 * union krping_wire_any_hello - a hello of one of the two kinds
 * @raw: hello of a test of adapters
 * @msg: hello of a test of messages
 */
union krping_wire_any_hello {
	struct krping_wire_hello raw;
	struct krping_wire_msg_hello msg;
};

/**
 * enum krping_msg_type - first byte of a message of mlat or mbw
 * @KRPING_MSG_DATA: data of the test. With KRPING_HELLO_CRC, the last 4 bytes
 *	are the CRC32C of the others
 * @KRPING_MSG_END: &struct krping_wire_msg_end
 */
enum krping_msg_type {
	KRPING_MSG_DATA = 1,
	KRPING_MSG_END = 2,
};

/**
 * struct krping_wire_msg_end - last message of each side of mlat or mbw
 * @type: KRPING_MSG_END
 * @reserved: 0
 * @status: result of the test on the sender's side: 0 or a positive errno
 * @count: client: number of data messages that it has sent; server: number that
 *	it has received
 */
struct krping_wire_msg_end {
	u8 type;
	u8 reserved[3];
	__be32 status;
	__be64 count;
} __packed;
static_assert(sizeof(struct krping_wire_msg_end) == 16);

/**
 * enum krping_mismatch - option that differs between the two sides
 * @KRPING_AGREED: no option differs
 * @KRPING_DIFFERENT_TEST: the test
 * @KRPING_DIFFERENT_SIZE: size
 * @KRPING_DIFFERENT_COUNT: count
 * @KRPING_DIFFERENT_DUPLEX: duplex
 * @KRPING_DIFFERENT_INV: server_inv
 * @KRPING_DIFFERENT_FROM: from
 * @KRPING_DIFFERENT_IMM: imm
 * @KRPING_DIFFERENT_VERIFY: verify
 * @KRPING_MISMATCHES: number of values of this enum
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
 * @test: as in &struct krping_wire_hello
 * @flags: as in &struct krping_wire_hello
 * @size: as in &struct krping_wire_hello
 * @count: as in &struct krping_wire_hello
 * @from: as in &struct krping_wire_hello
 * @duration_s: as in &struct krping_wire_hello
 * @window: as in &struct krping_wire_hello
 * @warmup: as in &struct krping_wire_hello
 * @refused: as in &struct krping_wire_hello
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

/**
 * enum krping_ctl_type - type of a control message
 * @KRPING_CTL_NONE: the message is not a control message
 * @KRPING_CTL_GO: "go ahead" of the server in a ping; its value is the checksum
 *	of the data that the server READ
 * @KRPING_CTL_END: end of the test; its value is the checksum of the sender's
 *	data
 * @KRPING_CTL_CREDIT: grant of operations; its value is the number of all
 *	operations granted so far
 */
enum krping_ctl_type {
	KRPING_CTL_NONE = 0,
	KRPING_CTL_GO,
	KRPING_CTL_END,
	KRPING_CTL_CREDIT,
};

/**
 * struct krping_ctl - content of a control message
 * @type: see &enum krping_ctl_type
 * @status: result of the test on the sender's side: 0 or a positive errno
 * @value: number whose meaning depends on @type
 */
struct krping_ctl {
	enum krping_ctl_type type;
	u32 status;
	u32 value;
};

void krping_hello_encode(struct krping_wire_hello *wire,
			 const struct krping_hello *hello);
int krping_hello_decode(struct krping_hello *hello, const void *data, u32 len);
void krping_msg_hello_encode(struct krping_wire_msg_hello *wire,
			     const struct krping_hello *hello);
int krping_msg_hello_decode(struct krping_hello *hello, const void *data,
			    u32 len);
void krping_msg_end_encode(struct krping_wire_msg_end *wire, u32 status,
			   u64 count);
int krping_msg_end_decode(u32 *status, u64 *count, const void *data, u32 len);
enum krping_mismatch krping_hello_check(const struct krping_hello *server,
					const struct krping_hello *client);
const char *krping_mismatch_name(u32 mismatch);
void krping_ctl_encode(struct krping_adv *adv, const struct krping_ctl *ctl);
void krping_ctl_decode(struct krping_ctl *ctl, const struct krping_adv *adv);
void krping_wire_encode(struct krping_wire *wire, const struct krping_adv *adv);
int krping_wire_decode(struct krping_adv *adv, const void *data, u32 len);
void krping_payload_fill(void *buf, u32 size, u64 ping);

#endif /* KRPING_WIRE_H */
