// SPDX-License-Identifier: GPL-2.0
/* Test krping's messages and the data of its pings, byte by byte. */
#include "../../krping/wire.c"

#include <kunit/test.h>
#include <linux/limits.h>
#include <linux/module.h>

static const u8 sample_bytes[] = {
	0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef,
	0xfe, 0xdc, 0xba, 0x98,
	0x00, 0x02, 0x00, 0x00,
};

static const struct krping_adv sample = {
	.addr = 0x0123456789abcdefULL,
	.rkey = 0xfedcba98,
	.size = 131072,
};

static void krping_wire_encodes_big_endian(struct kunit *test)
{
	struct krping_wire wire;

	krping_wire_encode(&wire, &sample);
	KUNIT_EXPECT_EQ(test, memcmp(&wire, sample_bytes, sizeof(wire)), 0);
}

static void krping_wire_decodes_big_endian(struct kunit *test)
{
	struct krping_adv adv;

	KUNIT_ASSERT_EQ(test, krping_wire_decode(&adv, sample_bytes, 16), 0);
	KUNIT_EXPECT_EQ(test, adv.addr, sample.addr);
	KUNIT_EXPECT_EQ(test, adv.rkey, sample.rkey);
	KUNIT_EXPECT_EQ(test, adv.size, sample.size);
}

static void krping_wire_refuses_other_lengths(struct kunit *test)
{
	struct krping_adv adv = sample;
	u8 data[64] = {};
	u32 len;

	for (len = 0; len < sizeof(data); len++)
		KUNIT_EXPECT_EQ(test, krping_wire_decode(&adv, data, len),
				len == 16 ? 0 : -EPROTO);
}

static void krping_wire_refusal_leaves_result(struct kunit *test)
{
	struct krping_adv adv = sample;
	u8 data[24] = {};

	KUNIT_EXPECT_EQ(test, krping_wire_decode(&adv, data, sizeof(data)),
			-EPROTO);
	KUNIT_EXPECT_EQ(test, adv.addr, sample.addr);
	KUNIT_EXPECT_EQ(test, adv.rkey, sample.rkey);
	KUNIT_EXPECT_EQ(test, adv.size, sample.size);
}

struct payload_case {
	u64 ping;
	u32 size;
	const char *data;
};

static const struct payload_case payload_cases[] = {
	{ 0, 1, "" },
	{ 0, 2, "r" },
	{ 0, 13, "rdma-ping-0:" },
	{ 0, 14, "rdma-ping-0: " },
	{ 0, 15, "rdma-ping-0: A" },
	{ 0, 20, "rdma-ping-0: ABCDEF" },
	{ 1, 20, "rdma-ping-1: BCDEFG" },
	{ 10, 20, "rdma-ping-10: KLMNO" },
	/*
	 * The characters of a ping go from 'A' to 'z'. Ping 57 begins with 'z',
	 * so 'A' follows.
	 */
	{ 57, 17, "rdma-ping-57: zA" },
	{ 58, 17, "rdma-ping-58: AB" },
	{ 12345, 14, "rdma-ping-123" },
	{ U64_MAX, 34, "rdma-ping-18446744073709551615: X" },
};

static void payload_case_name(const struct payload_case *c, char *name)
{
	snprintf(name, KUNIT_PARAM_DESC_SIZE, "ping %llu size %u", c->ping,
		 c->size);
}

KUNIT_ARRAY_PARAM(payload, payload_cases, payload_case_name);

static void krping_payload_text_is_documented(struct kunit *test)
{
	const struct payload_case *c = test->param_value;
	char buf[64];

	krping_payload_fill(buf, c->size, c->ping);
	KUNIT_ASSERT_EQ(test, strnlen(buf, sizeof(buf)), (size_t)c->size - 1);
	KUNIT_EXPECT_STREQ(test, buf, c->data);
}

static void krping_payload_stays_within_buffer(struct kunit *test)
{
	char buf[256];
	u32 size;

	for (size = 1; size < sizeof(buf); size++) {
		memset(buf, 0xa5, sizeof(buf));
		krping_payload_fill(buf, size, 99);
		KUNIT_EXPECT_EQ(test, strnlen(buf, sizeof(buf)),
				(size_t)size - 1);
		KUNIT_EXPECT_PTR_EQ(test,
				    memchr_inv(buf + size, 0xa5,
					       sizeof(buf) - size),
				    NULL);
	}
}

static void krping_payload_run_wraps_at_122(struct kunit *test)
{
	const u32 size = 4096;
	char *buf = kunit_kzalloc(test, size, GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, buf);
	krping_payload_fill(buf, size, 0);
	for (i = 13; i < size - 1; i++)
		KUNIT_ASSERT_EQ(test, (int)buf[i], 65 + (int)(i - 13) % 58);
	KUNIT_EXPECT_EQ(test, (int)buf[size - 1], 0);
}

static const u8 hello_bytes[] = {
	0x6b, 0x72, 0x70, 0x67,
	1, KRPING_TEST_BW, 0x00, 0x05,
	0x00, 0x02, 0x00, 0x00,
	0x12, 0x34, 0x56, 0x78,
	0x00, 0x00, 0x00, 0x40,
	0x00, 0x01, 0x51, 0x80,
	0x00, 0x00, 0x04, 0x02,
	0x00, 0x00, 0x03, 0xe8,
	0x00, 0x00, 0x00, 0x02,
};

static const struct krping_hello hello_sample = {
	.test = KRPING_TEST_BW,
	.flags = KRPING_HELLO_DUPLEX | KRPING_HELLO_CRC,
	.size = 131072,
	.count = 0x12345678,
	.from = 64,
	.duration_s = 86400,
	.window = 1026,
	.warmup = 1000,
	.refused = KRPING_DIFFERENT_SIZE,
};

static void krping_hello_encodes_big_endian(struct kunit *test)
{
	struct krping_wire_hello wire;

	krping_hello_encode(&wire, &hello_sample);
	KUNIT_EXPECT_EQ(test, memcmp(&wire, hello_bytes, sizeof(wire)), 0);
}

static void krping_hello_decodes_big_endian(struct kunit *test)
{
	u8 padded[196] = {};
	struct krping_hello hello;

	memcpy(padded, hello_bytes, sizeof(hello_bytes));
	KUNIT_ASSERT_EQ(test, krping_hello_decode(&hello, padded,
						  sizeof(padded)), 0);
	KUNIT_EXPECT_EQ(test, hello.test, hello_sample.test);
	KUNIT_EXPECT_EQ(test, hello.flags, hello_sample.flags);
	KUNIT_EXPECT_EQ(test, hello.size, hello_sample.size);
	KUNIT_EXPECT_EQ(test, hello.count, hello_sample.count);
	KUNIT_EXPECT_EQ(test, hello.from, hello_sample.from);
	KUNIT_EXPECT_EQ(test, hello.duration_s, hello_sample.duration_s);
	KUNIT_EXPECT_EQ(test, hello.window, hello_sample.window);
	KUNIT_EXPECT_EQ(test, hello.warmup, hello_sample.warmup);
	KUNIT_EXPECT_EQ(test, hello.refused, hello_sample.refused);
}

static void krping_hello_refuses_foreign_data(struct kunit *test)
{
	u8 data[sizeof(hello_bytes)];
	struct krping_hello hello;
	u32 len;

	for (len = 0; len < sizeof(data); len++)
		KUNIT_EXPECT_EQ(test,
				krping_hello_decode(&hello, hello_bytes, len),
				-ENOMSG);
	memcpy(data, hello_bytes, sizeof(data));
	data[3]++;
	KUNIT_EXPECT_EQ(test, krping_hello_decode(&hello, data, sizeof(data)),
			-ENOMSG);
	memset(data, 0, sizeof(data));
	KUNIT_EXPECT_EQ(test, krping_hello_decode(&hello, data, sizeof(data)),
			-ENOMSG);
}

static void krping_msg_hello_is_24_bytes(struct kunit *test)
{
	static const u8 bytes[24] = {
		0x6b, 0x72, 0x70, 0x6d, 1, 9, 4, 3, 0, 1, 2, 3,
		0, 0, 0, 7, 0, 0, 0, 5, 0, 0, 0, 6,
	};
	const struct krping_hello hello = {
		.test = 9, .flags = KRPING_HELLO_CRC | KRPING_HELLO_IMM,
		.size = 0x10203, .count = 7, .from = 5, .duration_s = 6,
		.refused = 3,
	};
	struct krping_wire_msg_hello wire;
	struct krping_hello back;
	u8 other[sizeof(bytes)];

	krping_msg_hello_encode(&wire, &hello);
	KUNIT_EXPECT_EQ(test, memcmp(&wire, bytes, sizeof(bytes)), 0);
	KUNIT_ASSERT_EQ(test, krping_msg_hello_decode(&back, bytes, sizeof(bytes)), 0);
	KUNIT_EXPECT_EQ(test, back.test, 9);
	KUNIT_EXPECT_EQ(test, back.flags, KRPING_HELLO_CRC);
	KUNIT_EXPECT_EQ(test, back.size, 0x10203);
	KUNIT_EXPECT_EQ(test, back.count, 7);
	KUNIT_EXPECT_EQ(test, back.from, 5);
	KUNIT_EXPECT_EQ(test, back.duration_s, 6);
	KUNIT_EXPECT_EQ(test, back.refused, 3);
	KUNIT_EXPECT_EQ(test, krping_msg_hello_decode(&back, bytes, 23), -ENOMSG);
	memcpy(other, bytes, sizeof(other));
	other[3] = 0x67;
	KUNIT_EXPECT_EQ(test, krping_msg_hello_decode(&back, other, sizeof(other)),
			-ENOMSG);
	memcpy(other, bytes, sizeof(other));
	other[4] = 0;
	KUNIT_EXPECT_EQ(test, krping_msg_hello_decode(&back, other, sizeof(other)),
			-ENOMSG);
}

static void krping_msg_end_is_16_bytes(struct kunit *test)
{
	static const u8 bytes[16] = {
		2, 0, 0, 0, 0, 0, 0, 74, 0, 0, 0, 1, 0, 0, 0, 2,
	};
	struct krping_wire_msg_end wire;
	u32 status;
	u64 count;

	krping_msg_end_encode(&wire, 74, 0x100000002);
	KUNIT_EXPECT_EQ(test, memcmp(&wire, bytes, sizeof(bytes)), 0);
	KUNIT_ASSERT_EQ(test, krping_msg_end_decode(&status, &count, bytes, 16), 0);
	KUNIT_EXPECT_EQ(test, status, 74);
	KUNIT_EXPECT_EQ(test, count, 0x100000002);
	KUNIT_EXPECT_EQ(test, krping_msg_end_decode(&status, &count, bytes, 15),
			-EPROTO);
	wire.type = KRPING_MSG_DATA;
	KUNIT_EXPECT_EQ(test, krping_msg_end_decode(&status, &count, &wire, 16),
			-EPROTO);
}

static void krping_hello_version_is_checked(struct kunit *test)
{
	u8 data[sizeof(hello_bytes)];
	struct krping_hello hello;

	memcpy(data, hello_bytes, sizeof(data));
	data[4] = 0;
	KUNIT_EXPECT_EQ(test, krping_hello_decode(&hello, data, sizeof(data)),
			-ENOMSG);
	data[4] = 255;
	KUNIT_EXPECT_EQ(test, krping_hello_decode(&hello, data, sizeof(data)),
			0);
}

struct check_case {
	const char *name;
	struct krping_hello server;
	struct krping_hello client;
	enum krping_mismatch wanted;
};

#define PING(...) { .test = KRPING_TEST_PING, __VA_ARGS__ }
#define WLAT(...) { .test = KRPING_TEST_WLAT, __VA_ARGS__ }
#define BW(...) { .test = KRPING_TEST_BW, __VA_ARGS__ }

static const struct check_case check_cases[] = {
	{ "ping", PING(.size = 64), PING(.size = 64, .count = 7) },
	{ "smaller ping", PING(.size = 64), PING(.size = 1) },
	{ "larger ping", PING(.size = 64), PING(.size = 65),
	  KRPING_DIFFERENT_SIZE },
	{ "fr", PING(.size = 64), { .test = KRPING_TEST_FR, .size = 65 } },
	{ "fr of bw", BW(.size = 64), { .test = KRPING_TEST_FR },
	  KRPING_DIFFERENT_TEST },
	{ "bw of ping", PING(.size = 64), BW(.size = 64),
	  KRPING_DIFFERENT_TEST },
	{ "ping of bw", BW(.size = 64), PING(.size = 64),
	  KRPING_DIFFERENT_TEST },
	{ "ping of nothing", PING(.size = 64), PING(), KRPING_DIFFERENT_SIZE },
	{ "inv of the client", PING(.size = 64),
	  PING(.size = 64, .flags = KRPING_HELLO_SERVER_INV),
	  KRPING_DIFFERENT_INV },
	{ "inv of the server",
	  PING(.size = 64, .flags = KRPING_HELLO_SERVER_INV),
	  PING(.size = 64) },
	{ "inv", PING(.size = 64, .flags = KRPING_HELLO_SERVER_INV),
	  PING(.size = 64, .flags = KRPING_HELLO_SERVER_INV) },
	{ "bw", BW(.size = 64), BW(.size = 63, .count = 9) },
	{ "larger bw", BW(.size = 64), BW(.size = 65), KRPING_DIFFERENT_SIZE },
	{ "bw of nothing", BW(.size = 64), BW(), KRPING_DIFFERENT_SIZE },
	{ "wlat of nothing", WLAT(.size = 64), WLAT(), KRPING_DIFFERENT_SIZE },
	{ "duplex", BW(.size = 64, .flags = KRPING_HELLO_DUPLEX),
	  BW(.size = 64), KRPING_DIFFERENT_DUPLEX },
	{ "crc of the client", BW(.size = 64),
	  BW(.size = 64, .flags = KRPING_HELLO_CRC) },
	{ "crc of the server", BW(.size = 64, .flags = KRPING_HELLO_CRC),
	  BW(.size = 64), KRPING_DIFFERENT_VERIFY },
	{ "crc of both", BW(.size = 64, .flags = KRPING_HELLO_CRC),
	  BW(.size = 64, .flags = KRPING_HELLO_CRC) },
	{ "crc of a server of pings",
	  PING(.size = 64, .flags = KRPING_HELLO_CRC), PING(.size = 64),
	  KRPING_DIFFERENT_VERIFY },
	{ "crc of both sides of pings",
	  PING(.size = 64, .flags = KRPING_HELLO_CRC),
	  PING(.size = 64, .flags = KRPING_HELLO_CRC) },
	{ "crc of a client of pings", PING(.size = 64),
	  PING(.size = 64, .flags = KRPING_HELLO_CRC) },
	{ "fr of a server with crc",
	  PING(.size = 64, .flags = KRPING_HELLO_CRC),
	  { .test = KRPING_TEST_FR }, KRPING_DIFFERENT_VERIFY },
	{ "wlat", WLAT(.size = 64, .count = 9), WLAT(.size = 64, .count = 9) },
	{ "wlat size", WLAT(.size = 64), WLAT(.size = 63),
	  KRPING_DIFFERENT_SIZE },
	{ "wlat count", WLAT(.size = 64, .count = 9),
	  WLAT(.size = 64, .count = 8), KRPING_DIFFERENT_COUNT },
	{ "imm", BW(.size = 64, .flags = KRPING_HELLO_IMM), BW(.size = 64),
	  KRPING_DIFFERENT_IMM },
	{ "duplex from",
	  BW(.size = 64, .flags = KRPING_HELLO_DUPLEX, .from = 1),
	  BW(.size = 64, .flags = KRPING_HELLO_DUPLEX), KRPING_DIFFERENT_FROM },
	{ "wlat for some time", WLAT(.size = 64, .count = 9),
	  WLAT(.size = 64, .duration_s = 1) },
	{ "wlat from", WLAT(.size = 64, .from = 9), WLAT(.size = 64),
	  KRPING_DIFFERENT_FROM },
};

static void check_case_name(const struct check_case *c, char *name)
{
	strscpy(name, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(check, check_cases, check_case_name);

static void krping_hello_mismatch_is_found(struct kunit *test)
{
	const struct check_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, krping_hello_check(&c->server, &c->client),
			c->wanted);
}

static void krping_mismatch_has_a_name(struct kunit *test)
{
	u32 i;

	for (i = 0; i < KRPING_MISMATCHES; i++)
		KUNIT_EXPECT_NOT_NULL(test, krping_mismatch_name(i));
	KUNIT_EXPECT_STREQ(test, krping_mismatch_name(KRPING_DIFFERENT_SIZE),
			   "size");
	KUNIT_EXPECT_STREQ(test, krping_mismatch_name(KRPING_MISMATCHES),
			   krping_mismatch_name(U32_MAX));
}

static void krping_ctl_round_trip_is_equal(struct kunit *test)
{
	const struct krping_ctl sent = {
		.type = KRPING_CTL_END,
		.status = 0xfedcba98,
		.value = 0x89abcdef,
	};
	struct krping_ctl ctl;
	struct krping_adv adv;

	krping_ctl_encode(&adv, &sent);
	KUNIT_EXPECT_EQ(test, adv.size, 0U);
	krping_ctl_decode(&ctl, &adv);
	KUNIT_EXPECT_EQ(test, ctl.type, sent.type);
	KUNIT_EXPECT_EQ(test, ctl.status, sent.status);
	KUNIT_EXPECT_EQ(test, ctl.value, sent.value);
}

static void krping_ctl_decode_ignores_buffers(struct kunit *test)
{
	struct krping_adv adv = { .rkey = KRPING_CTL_MAGIC | KRPING_CTL_END,
				  .size = 1 };
	struct krping_ctl ctl;

	krping_ctl_decode(&ctl, &adv);
	KUNIT_EXPECT_EQ(test, ctl.type, KRPING_CTL_NONE);
	adv = (struct krping_adv){ .rkey = KRPING_CTL_END };
	krping_ctl_decode(&ctl, &adv);
	KUNIT_EXPECT_EQ(test, ctl.type, KRPING_CTL_NONE);
}

static struct kunit_case krping_wire_cases[] = {
	KUNIT_CASE(krping_wire_encodes_big_endian),
	KUNIT_CASE(krping_wire_decodes_big_endian),
	KUNIT_CASE(krping_wire_refuses_other_lengths),
	KUNIT_CASE(krping_wire_refusal_leaves_result),
	KUNIT_CASE(krping_hello_encodes_big_endian),
	KUNIT_CASE(krping_msg_hello_is_24_bytes),
	KUNIT_CASE(krping_msg_end_is_16_bytes),
	KUNIT_CASE(krping_hello_decodes_big_endian),
	KUNIT_CASE(krping_hello_refuses_foreign_data),
	KUNIT_CASE(krping_hello_version_is_checked),
	KUNIT_CASE_PARAM(krping_hello_mismatch_is_found, check_gen_params),
	KUNIT_CASE(krping_mismatch_has_a_name),
	KUNIT_CASE(krping_ctl_round_trip_is_equal),
	KUNIT_CASE(krping_ctl_decode_ignores_buffers),
	KUNIT_CASE_PARAM(krping_payload_text_is_documented, payload_gen_params),
	KUNIT_CASE(krping_payload_stays_within_buffer),
	KUNIT_CASE(krping_payload_run_wraps_at_122),
	{}
};

static struct kunit_suite krping_wire_suite = {
	.name = "krping_wire",
	.test_cases = krping_wire_cases,
};

kunit_test_suite(krping_wire_suite);

MODULE_AUTHOR("The krdma developers");
MODULE_DESCRIPTION("Tests of krping's message and data");
MODULE_LICENSE("GPL");
