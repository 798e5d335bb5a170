// SPDX-License-Identifier: GPL-2.0
/* Test the messages, the commands and the filter of krping_blk. */
#include "../../krping/blk_opts.c"
#include "../../krping/blk_dirty.c"
#include "../../krping/blk_wire.c"

#include <kunit/test.h>
#include <linux/module.h>

static const u8 request_bytes[KRPING_BLK_REQUEST_LEN] = {
	'K', 'R', 'P', 'B', 3, 1, 0, 0,
	0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef,
	0, 0, 0, 0x01, 0, 0, 0x10, 0,
	0, 0x02, 0, 0,
	0xfe, 0xdc, 0xba, 0x98,
	0, 0, 0x12, 0x34,
	1, 0, 0, 3,
};

static const struct krping_blk_request request = {
	.op = KRPING_BLK_WRITE,
	.flags = KRPING_BLK_FUA | KRPING_BLK_PREFLUSH,
	.bytes = 131072,
	.seq = 0x0123456789abcdefULL,
	.offset = 0x100001000ULL,
	.crc = 0xfedcba98,
	.tgid = 0x1234,
};

static const struct krping_blk_hello hello = {
	.depth = 32,
	.slot = 131072,
	.capacity = 1 << 20,
	.seq = 7,
};

static void krping_blk_request_is_big_endian(struct kunit *test)
{
	struct krping_blk_request got;
	u8 buf[KRPING_BLK_REQUEST_LEN];

	krping_blk_request_encode(buf, &request);
	KUNIT_EXPECT_EQ(test, memcmp(buf, request_bytes, sizeof(buf)), 0);
	KUNIT_ASSERT_EQ(test, krping_blk_request_decode(&got, buf, sizeof(buf)),
			0);
	KUNIT_EXPECT_EQ(test, got.seq, request.seq);
	KUNIT_EXPECT_EQ(test, got.offset, request.offset);
	KUNIT_EXPECT_EQ(test, got.bytes, request.bytes);
	KUNIT_EXPECT_EQ(test, got.crc, request.crc);
	KUNIT_EXPECT_EQ(test, got.tgid, request.tgid);
	KUNIT_EXPECT_EQ(test, got.op, request.op);
	KUNIT_EXPECT_EQ(test, got.flags, request.flags);
}

/* Decode a request after one of its bytes was changed. */
static int krping_blk_request_with(size_t at, u8 value)
{
	struct krping_blk_request got;
	u8 buf[KRPING_BLK_REQUEST_LEN];

	memcpy(buf, request_bytes, sizeof(buf));
	buf[at] = value;
	return krping_blk_request_decode(&got, buf, sizeof(buf));
}

static void krping_blk_invalid_requests_are_refused(struct kunit *test)
{
	struct krping_blk_request got;
	u8 buf[KRPING_BLK_REQUEST_LEN + 1] = {};

	memcpy(buf, request_bytes, sizeof(request_bytes));
	KUNIT_EXPECT_EQ(test, krping_blk_request_decode(&got, buf, sizeof(buf)),
			-EPROTO);
	KUNIT_EXPECT_EQ(test, krping_blk_request_decode(&got, buf, 39), -EPROTO);
	KUNIT_EXPECT_EQ(test, krping_blk_request_decode(&got, buf, 0), -EPROTO);
	KUNIT_EXPECT_EQ(test, krping_blk_request_with(3, 'C'), -EPROTO);
	KUNIT_EXPECT_EQ(test, krping_blk_request_with(4, 1), -EPROTO);
	KUNIT_EXPECT_EQ(test, krping_blk_request_with(5, 2), -EPROTO);
	KUNIT_EXPECT_EQ(test, krping_blk_request_with(36, 5), -EPROTO);
	KUNIT_EXPECT_EQ(test, krping_blk_request_with(38, 1), -EPROTO);
	KUNIT_EXPECT_EQ(test, krping_blk_request_with(39, 8), -EPROTO);
	KUNIT_EXPECT_EQ(test, krping_blk_request_with(39, 4), 0);
	KUNIT_EXPECT_EQ(test, krping_blk_request_with(36, 4), 0);
}

static bool krping_blk_fits(enum krping_blk_op op, u64 offset, u32 bytes)
{
	const struct krping_blk_request req = {
		.op = op,
		.offset = offset,
		.bytes = bytes,
	};

	return krping_blk_request_fits(&req, 65536, 1 << 20);
}

static void krping_blk_ranges_stay_within_disk(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, krping_blk_fits(KRPING_BLK_WRITE, 0, 65536));
	KUNIT_EXPECT_FALSE(test, krping_blk_fits(KRPING_BLK_WRITE, 0, 66048));
	KUNIT_EXPECT_TRUE(test, krping_blk_fits(KRPING_BLK_ZEROES, 0, 1 << 20));
	KUNIT_EXPECT_FALSE(test, krping_blk_fits(KRPING_BLK_ZEROES, 512, 1 << 20));
	KUNIT_EXPECT_FALSE(test, krping_blk_fits(KRPING_BLK_WRITE, 1 << 20, 512));
	KUNIT_EXPECT_FALSE(test, krping_blk_fits(KRPING_BLK_DISCARD,
						 U64_MAX - 511, 1024));
	KUNIT_EXPECT_FALSE(test, krping_blk_fits(KRPING_BLK_WRITE, 1, 512));
	KUNIT_EXPECT_FALSE(test, krping_blk_fits(KRPING_BLK_WRITE, 0, 511));
	KUNIT_EXPECT_FALSE(test, krping_blk_fits(KRPING_BLK_WRITE, 0, 0));
	KUNIT_EXPECT_TRUE(test, krping_blk_fits(KRPING_BLK_FLUSH, 0, 0));
	KUNIT_EXPECT_FALSE(test, krping_blk_fits(KRPING_BLK_FLUSH, 0, 512));
}

static int krping_blk_hello_with(u32 depth, u32 slot, u64 capacity)
{
	struct krping_blk_hello changed = hello, got;
	u8 buf[KRPING_BLK_HELLO_LEN];

	changed.depth = depth;
	changed.slot = slot;
	changed.capacity = capacity;
	krping_blk_hello_encode(buf, &changed);
	return krping_blk_hello_decode(&got, buf, sizeof(buf));
}

static void krping_blk_hello_limits(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, krping_blk_hello_with(32, 131072, 1 << 20), 0);
	KUNIT_EXPECT_EQ(test, krping_blk_hello_with(0, 131072, 512), -EPROTO);
	KUNIT_EXPECT_EQ(test, krping_blk_hello_with(1025, 4096, 512), -EPROTO);
	KUNIT_EXPECT_EQ(test, krping_blk_hello_with(1024, 4096, 512), 0);
	KUNIT_EXPECT_EQ(test, krping_blk_hello_with(65, 1 << 20, 512), -EPROTO);
	KUNIT_EXPECT_EQ(test, krping_blk_hello_with(64, 1 << 20, 512), 0);
	KUNIT_EXPECT_EQ(test, krping_blk_hello_with(1, 512, 512), -EPROTO);
	KUNIT_EXPECT_EQ(test, krping_blk_hello_with(1, 4096, 0), -EPROTO);
	KUNIT_EXPECT_EQ(test, krping_blk_hello_with(1, 4096, 513), -EPROTO);
	KUNIT_EXPECT_EQ(test, krping_blk_hello_with(1, 4096, U64_MAX - 511),
			-EPROTO);
}

/* RFC 3720, B.4: the CRC32C of 32 bytes of zeroes, and of 0 to 31. */
static void krping_blk_crc_is_crc32c(struct kunit *test)
{
	u8 buf[32] = {};
	u8 i;

	KUNIT_EXPECT_EQ(test, krping_blk_crc(buf, sizeof(buf)), 0x8a9136aaU);
	for (i = 0; i < sizeof(buf); i++)
		buf[i] = i;
	KUNIT_EXPECT_EQ(test, krping_blk_crc(buf, sizeof(buf)), 0x46dd794eU);
}

static void krping_blk_status_is_an_errno(struct kunit *test)
{
	struct krping_blk_ack ack = { .seq = 5, .status = -EIO }, got;
	u8 buf[KRPING_BLK_ACK_LEN];
	int status;

	krping_blk_ack_encode(buf, &ack);
	KUNIT_ASSERT_EQ(test, krping_blk_ack_decode(&got, buf, sizeof(buf)), 0);
	KUNIT_EXPECT_EQ(test, got.seq, 5);
	KUNIT_EXPECT_EQ(test, got.status, -EIO);
	ack.status = 1;
	krping_blk_ack_encode(buf, &ack);
	KUNIT_EXPECT_EQ(test, krping_blk_ack_decode(&got, buf, sizeof(buf)),
			-EPROTO);
	krping_blk_grant_encode(buf, -ENOSPC);
	KUNIT_ASSERT_EQ(test, krping_blk_grant_decode(&status, buf,
						      KRPING_BLK_GRANT_LEN), 0);
	KUNIT_EXPECT_EQ(test, status, -ENOSPC);
	krping_blk_grant_encode(buf, INT_MIN);
	KUNIT_EXPECT_EQ(test, krping_blk_grant_decode(&status, buf,
						      KRPING_BLK_GRANT_LEN),
			-EPROTO);
}

/* ---- commands ---- */

static int krping_blk_parse(const char *command, struct krping_blk_opts *opts)
{
	char text[512];

	strscpy(text, command, sizeof(text));
	return krping_blk_opts_parse(text, opts);
}

static void krping_blk_commands_are_parsed(struct kunit *test)
{
	static const char client[] =
		"client,bio,addr=a,port=7,bio_dev=ram:2M,bio_mode=tap,bio_ops=wr,bio_range=4K-1G\n";
	static const char group[] =
		"client,addr=a,port=7,bio_dev=ram:2M,bio_cgroup=18446744073709551615";
	struct krping_blk_opts opts;

	KUNIT_ASSERT_EQ(test, krping_blk_parse(client, &opts), 0);
	KUNIT_EXPECT_EQ(test, opts.role, (u32)KRPING_BLK_CLIENT);
	KUNIT_EXPECT_STREQ(test, opts.addr, "a");
	KUNIT_EXPECT_STREQ(test, opts.port, "7");
	KUNIT_EXPECT_EQ(test, opts.ram, 2 << 20);
	KUNIT_EXPECT_EQ(test, opts.mode, (u32)KRPING_BLK_TAP);
	KUNIT_EXPECT_EQ(test, opts.filter.ops, 3);
	KUNIT_EXPECT_EQ(test, opts.filter.from, 4096);
	KUNIT_EXPECT_EQ(test, opts.filter.to, 1 << 30);
	KUNIT_EXPECT_EQ(test, opts.filter.cgroup, 0);
	KUNIT_EXPECT_EQ(test, opts.depth, 32);
	KUNIT_EXPECT_EQ(test, opts.slot, 131072);
	KUNIT_EXPECT_FALSE(test, opts.no_crc);
	KUNIT_ASSERT_EQ(test, krping_blk_parse(group, &opts), 0);
	KUNIT_EXPECT_EQ(test, opts.filter.cgroup, U64_MAX);
	KUNIT_ASSERT_EQ(test, krping_blk_parse("server,port=7,bio_target=bdev:/dev/x",
					       &opts), 0);
	KUNIT_EXPECT_EQ(test, opts.target, (u32)KRPING_BLK_BDEV);
	KUNIT_EXPECT_STREQ(test, opts.path, "/dev/x");
	KUNIT_ASSERT_EQ(test, krping_blk_parse("stop=12,force", &opts), 0);
	KUNIT_EXPECT_EQ(test, opts.stop, 12);
	KUNIT_EXPECT_TRUE(test, opts.force);
}

static void krping_blk_raw_addresses(struct kunit *test)
{
	static const char linear[] =
		"client,addr=a,port=7,bio_dev=ram:2M,bio_raw,bio_verify,bio_map=linear\n";
	static const char high[] =
		"client,addr=a,port=7,bio_dev=ram:2M,bio_raw,bio_rkey=0xfffffffe,bio_raddr=64G";
	static const char quiet[] =
		"client,addr=a,port=7,bio_dev=ram:2M,bio_raw,bio_probe=0";
	struct krping_blk_opts opts;

	KUNIT_ASSERT_EQ(test, krping_blk_parse("client,addr=a,port=7,bio_dev=ram:2M,bio_raw",
					       &opts), 0);
	KUNIT_EXPECT_TRUE(test, opts.raw);
	KUNIT_EXPECT_EQ(test, opts.rkey, 1);
	KUNIT_EXPECT_FALSE(test, opts.verify);
	KUNIT_EXPECT_EQ(test, opts.probe_ms, 30000);
	KUNIT_EXPECT_EQ(test, krping_blk_raw_address(&opts, 0), 0x61000000);
	KUNIT_EXPECT_EQ(test, krping_blk_raw_address(&opts, 4096), 0x61000000);
	KUNIT_ASSERT_EQ(test, krping_blk_parse(linear, &opts), 0);
	KUNIT_EXPECT_TRUE(test, opts.verify);
	KUNIT_EXPECT_EQ(test, krping_blk_raw_address(&opts, 4096), 0x61001000);
	KUNIT_ASSERT_EQ(test, krping_blk_parse(high, &opts), 0);
	KUNIT_EXPECT_EQ(test, opts.rkey, 0xfffffffe);
	KUNIT_EXPECT_EQ(test, krping_blk_raw_address(&opts, 0),
			64ULL << 30);
	KUNIT_ASSERT_EQ(test, krping_blk_parse(quiet, &opts), 0);
	KUNIT_EXPECT_EQ(test, opts.probe_ms, 0);
}

static void krping_blk_invalid_commands_are_refused(struct kunit *test)
{
	static const char *const commands[] = {
		"", ",", "client", "server", "stop", "stop=0", "stop=-1",
		"client=1,addr=a,port=1,bio_dev=ram:1M",
		"client,server,addr=a,port=1,bio_dev=ram:1M",
		"client,addr=a,port=1", "client,port=1,bio_dev=ram:1M",
		"client,addr=a,port=1,bio_dev=ram:1M,bio_depth=0",
		"client,addr=a,port=1,bio_dev=ram:1M,bio_depth=1025",
		"client,addr=a,port=1,bio_dev=ram:1M,bio_slot=5000",
		"client,addr=a,port=1,bio_dev=ram:1M,bio_slot=1M,bio_depth=65",
		"client,addr=a,port=1,bio_dev=ram:1M,bio_ops=",
		"client,addr=a,port=1,bio_dev=ram:1M,bio_ops=x",
		"client,addr=a,port=1,bio_dev=ram:1M,bio_range=2-1",
		"client,addr=a,port=1,bio_dev=ram:1M,bio_range=2",
		"client,addr=a,port=1,bio_dev=ram:1M,bio_comm=0123456789abcdef",
		"client,addr=a,port=1,bio_dev=ram:1M,bio_cgroup",
		"client,addr=a,port=1,bio_dev=ram:1M,bio_cgroup=",
		"client,addr=a,port=1,bio_dev=ram:1M,bio_cgroup=0",
		"client,addr=a,port=1,bio_dev=ram:1M,bio_cgroup=-1",
		"client,addr=a,port=1,bio_dev=ram:1M,bio_cgroup=/user.slice",
		"client,addr=a,port=1,bio_dev=ram:1M,bio_name=sda",
		"client,addr=a,port=1,bio_dev=ram:1M,bio_name=krpblk",
		"client,addr=a,port=1,bio_dev=ram:1M,bio_name=krpblk/x",
		"client,addr=a,port=1,bio_dev=ram:1M,bio_mode=later",
		"client,addr=a,port=1,bio_dev=ram:1M,bio_full=drop",
		"client,addr=a,port=1,bio_dev=ram:1M,bio_full=wait",
		"client,addr=a,port=1,bio_dev=ram:1M,bio_onfail=wait",
		"client,addr=a,port=1,bio_dev=ram:1M,bio_onfail=degrade,bio_mode=async",
		"client,addr=a,port=1,bio_dev=ram:1M,bio_onfail=block,bio_mode=tap",
		"client,addr=a,port=1,bio_dev=ram:1000",
		"client,addr=a,port=1,bio_dev=ram:2048T",
		"client,addr=a,port=1,bio_dev=stack:",
		"client,addr=a,port=1,bio_dev=disk:x",
		"client,addr=a,port=1,bio_dev=ram:1M,bio_map=linear",
		"client,addr=a,port=1,bio_dev=ram:1M,bio_verify",
		"client,addr=a,port=1,bio_dev=ram:1M,bio_raw,bio_map=3",
		"client,addr=a,port=1,bio_dev=ram:1M,bio_raw,bio_probe=600001",
		"client,addr=a,port=1,bio_dev=ram:1M,bio_raw,bio_mode=async",
		"client,addr=a,port=1,bio_dev=ram:1M,bio_raw,bio_onfail=block",
		"client,addr=a,port=1,bio_dev=ram:1M,bio_raw,bio_rkey=0x100000000",
		"client,addr=a,port=1,bio_dev=ram:1M,bio_raw,bio_raddr=0xffffffffffffffff",
		"server,port=1,bio_target=tape", "server,port=1,bio_cap=1",
	};
	struct krping_blk_opts opts;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(commands); i++)
		KUNIT_EXPECT_EQ_MSG(test, krping_blk_parse(commands[i], &opts),
				    -EINVAL, "%s", commands[i]);
}

static void krping_blk_filter_selects(struct kunit *test)
{
	const struct krping_blk_filter filter = {
		.ops = BIT(KRPING_BLK_WRITE) | BIT(KRPING_BLK_FLUSH),
		.min = 1024,
		.tgid = 5,
		.from = 4096,
		.to = 8192,
		.cgroup = 7,
		.comm = "dd",
	};
	struct krping_blk_subject subject = {
		.op = KRPING_BLK_WRITE,
		.bytes = 1024,
		.offset = 4096,
		.tgid = 5,
		.in_cgroup = true,
		.comm = "dd",
	};

	KUNIT_EXPECT_TRUE(test, krping_blk_filter_matches(&filter, &subject));
	subject.offset = 3584;
	KUNIT_EXPECT_TRUE(test, krping_blk_filter_matches(&filter, &subject));
	subject.offset = 3072;
	KUNIT_EXPECT_FALSE(test, krping_blk_filter_matches(&filter, &subject));
	subject.offset = 7680;
	KUNIT_EXPECT_TRUE(test, krping_blk_filter_matches(&filter, &subject));
	subject.offset = 8192;
	KUNIT_EXPECT_FALSE(test, krping_blk_filter_matches(&filter, &subject));
	subject.offset = 4096;
	subject.bytes = 512;
	KUNIT_EXPECT_FALSE(test, krping_blk_filter_matches(&filter, &subject));
	subject.bytes = 1024;
	subject.tgid = 6;
	KUNIT_EXPECT_FALSE(test, krping_blk_filter_matches(&filter, &subject));
	subject.tgid = 5;
	subject.in_cgroup = false;
	KUNIT_EXPECT_FALSE(test, krping_blk_filter_matches(&filter, &subject));
	subject.in_cgroup = true;
	subject.comm = "ddd";
	KUNIT_EXPECT_FALSE(test, krping_blk_filter_matches(&filter, &subject));
	subject.comm = "dd";
	subject.op = KRPING_BLK_DISCARD;
	KUNIT_EXPECT_FALSE(test, krping_blk_filter_matches(&filter, &subject));
	subject.op = KRPING_BLK_FLUSH;
	subject.bytes = 0;
	subject.offset = 0;
	KUNIT_EXPECT_TRUE(test, krping_blk_filter_matches(&filter, &subject));
}

static void krping_blk_dirty_chunks(struct kunit *test)
{
	unsigned long map[2] = {};
	struct krping_blk_dirty dirty = {
		.chunk = 4096,
		.capacity = 70 * 4096 + 512,
		.nchunks = 71,
		.map = map,
	};

	KUNIT_EXPECT_EQ(test, krping_blk_dirty_next(&dirty),
			KRPING_BLK_NO_CHUNK);
	krping_blk_dirty_mark(&dirty, 4095, 2);
	krping_blk_dirty_mark(&dirty, 4096, 0);
	krping_blk_dirty_mark(&dirty, 70 * 4096, 512);
	KUNIT_EXPECT_EQ(test, dirty.ndirty, 3);
	krping_blk_dirty_mark(&dirty, 0, 8192);
	KUNIT_EXPECT_EQ(test, dirty.ndirty, 3);
	KUNIT_EXPECT_TRUE(test, krping_blk_dirty_touches(&dirty,
							 KRPING_BLK_NO_CHUNK,
							 8191, 1));
	KUNIT_EXPECT_FALSE(test, krping_blk_dirty_touches(&dirty,
							  KRPING_BLK_NO_CHUNK,
							  8192, 68 * 4096));
	KUNIT_EXPECT_TRUE(test, krping_blk_dirty_touches(&dirty, 5, 8192,
							 68 * 4096));
	KUNIT_EXPECT_FALSE(test, krping_blk_dirty_touches(&dirty, 5, 0, 0));
	KUNIT_EXPECT_EQ(test, krping_blk_dirty_next(&dirty), 0);
	krping_blk_dirty_mark(&dirty, 0, 1);
	KUNIT_EXPECT_EQ(test, krping_blk_dirty_next(&dirty), 1);
	KUNIT_EXPECT_EQ(test, krping_blk_dirty_next(&dirty), 70);
	KUNIT_EXPECT_EQ(test, krping_blk_dirty_next(&dirty), 0);
	KUNIT_EXPECT_EQ(test, krping_blk_dirty_next(&dirty),
			KRPING_BLK_NO_CHUNK);
	KUNIT_EXPECT_EQ(test, krping_blk_dirty_len(&dirty, 69), 4096);
	KUNIT_EXPECT_EQ(test, krping_blk_dirty_len(&dirty, 70), 512);
}

static struct kunit_case krping_blk_cases[] = {
	KUNIT_CASE(krping_blk_request_is_big_endian),
	KUNIT_CASE(krping_blk_invalid_requests_are_refused),
	KUNIT_CASE(krping_blk_ranges_stay_within_disk),
	KUNIT_CASE(krping_blk_hello_limits),
	KUNIT_CASE(krping_blk_crc_is_crc32c),
	KUNIT_CASE(krping_blk_status_is_an_errno),
	KUNIT_CASE(krping_blk_commands_are_parsed),
	KUNIT_CASE(krping_blk_raw_addresses),
	KUNIT_CASE(krping_blk_invalid_commands_are_refused),
	KUNIT_CASE(krping_blk_filter_selects),
	KUNIT_CASE(krping_blk_dirty_chunks),
	{}
};

static struct kunit_suite krping_blk_suite = {
	.name = "krping_blk",
	.test_cases = krping_blk_cases,
};

kunit_test_suite(krping_blk_suite);

MODULE_DESCRIPTION("Tests of krping's block writes");
MODULE_LICENSE("GPL");
