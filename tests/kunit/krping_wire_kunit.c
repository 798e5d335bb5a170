// SPDX-License-Identifier: GPL-2.0
/* krping's message and the data of its pings, byte by byte. */
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

static void krping_wire_refusal_changes_nothing(struct kunit *test)
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
	/* 57 is the last start of the run, 'z'; then it begins again */
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

static void krping_payload_text(struct kunit *test)
{
	const struct payload_case *c = test->param_value;
	char buf[64];

	krping_payload_fill(buf, c->size, c->ping);
	KUNIT_ASSERT_EQ(test, strnlen(buf, sizeof(buf)), (size_t)c->size - 1);
	KUNIT_EXPECT_STREQ(test, buf, c->data);
}

static void krping_payload_stays_inside(struct kunit *test)
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

static struct kunit_case krping_wire_cases[] = {
	KUNIT_CASE(krping_wire_encodes_big_endian),
	KUNIT_CASE(krping_wire_decodes_big_endian),
	KUNIT_CASE(krping_wire_refuses_other_lengths),
	KUNIT_CASE(krping_wire_refusal_changes_nothing),
	KUNIT_CASE_PARAM(krping_payload_text, payload_gen_params),
	KUNIT_CASE(krping_payload_stays_inside),
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
