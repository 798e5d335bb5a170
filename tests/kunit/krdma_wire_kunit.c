// SPDX-License-Identifier: GPL-2.0
/*
 * Test the messages of krdma, byte by byte: the exact layout, encoding followed
 * by decoding, and an invalid value of each field.
 *
 * An invalid message is a valid one with some bytes overwritten, so that it is
 * invalid in one way only.
 */
#include <kunit/test.h>

#include "../../krdma/path.h"
#include "../../krdma/wire.c"

#define MAX_MSG 100000

/**
 * struct krdma_wire_case - a change of a valid message, and the expected result
 * @name: name of the change
 * @offset: offset of the first overwritten byte
 * @size: number of overwritten bytes, 0 … 8
 * @value: new value of these bytes, little endian
 * @len: length of the message in bytes; 0 means the length of the valid one
 * @expected: 0 or -errno
 */
struct krdma_wire_case {
	const char *name;
	unsigned int offset;
	unsigned int size;
	u64 value;
	size_t len;
	int expected;
};

static void krdma_wire_case_desc(const struct krdma_wire_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

static void krdma_wire_spoil(u8 *bytes, const struct krdma_wire_case *c)
{
	unsigned int i;

	for (i = 0; i < c->size; i++)
		bytes[c->offset + i] = c->value >> (8 * i);
}

/* ---- hello ---- */

static const struct krdma_hello good_hello = {
	.version = 1,
	.mode = KRDMA_WIRE_MODE_RW,
	.user_len = 7,
	.buf_size = 0x1234,
	.max_msg = 0x00567890,
	.recv_depth = 0x0102,
	.features = 0,
	.session = 0xcafef00d,
};

static const u8 good_hello_bytes[] = {
	'k', 'd', 'm', 'a', 1, 1, 1, 7, 0x34, 0x12, 0, 0,
	0x90, 0x78, 0x56, 0, 0x02, 0x01, 0, 0, 0x0d, 0xf0, 0xfe, 0xca,
};

static void hello_encodes_documented_bytes(struct kunit *test)
{
	struct krdma_wire_hello wire;

	krdma_hello_encode(&wire, &good_hello);
	KUNIT_ASSERT_EQ(test, sizeof(wire), sizeof(good_hello_bytes));
	KUNIT_EXPECT_EQ(test, memcmp(&wire, good_hello_bytes, sizeof(wire)), 0);
}

static void hello_round_trip_is_equal(struct kunit *test)
{
	u8 bytes[sizeof(good_hello_bytes) + KRDMA_WIRE_USER_MAX] = {};
	struct krdma_hello hello = {};

	krdma_hello_encode((void *)bytes, &good_hello);
	KUNIT_ASSERT_EQ(test, krdma_hello_decode(&hello, bytes, sizeof(bytes)), 0);
	KUNIT_EXPECT_EQ(test, hello.version, good_hello.version);
	KUNIT_EXPECT_EQ(test, hello.mode, good_hello.mode);
	KUNIT_EXPECT_EQ(test, hello.user_len, good_hello.user_len);
	KUNIT_EXPECT_EQ(test, hello.buf_size, good_hello.buf_size);
	KUNIT_EXPECT_EQ(test, hello.max_msg, good_hello.max_msg);
	KUNIT_EXPECT_EQ(test, hello.recv_depth, good_hello.recv_depth);
	KUNIT_EXPECT_EQ(test, hello.features, good_hello.features);
	KUNIT_EXPECT_EQ(test, hello.session, good_hello.session);
}

/*
 * Length of a valid HELLO (private data of a connect request) with 7 bytes of
 * the user's data.
 */
#define HELLO_LEN (sizeof(good_hello_bytes) + 7)

static const struct krdma_wire_case hello_cases[] = {
	{ "good", 0, 0, 0, 0, 0 },
	{ "padded by InfiniBand", 0, 0, 0, 56, 0 },
	{ "empty", 0, 0, 0, 1, -EPROTO },
	{ "one byte short of the hello", 7, 1, 0, 23, -EPROTO },
	{ "one byte short of the user's data", 0, 0, 0, HELLO_LEN - 1, -EPROTO },
	{ "magic, first byte", 0, 1, 'K', 0, -EPROTO },
	{ "magic, last byte", 3, 1, 'A', 0, -EPROTO },
	{ "magic in the other byte order", 0, 4, 0x6b646d61, 0, -EPROTO },
	{ "version too old", 4, 2, 0x0000, 0, -EPROTONOSUPPORT },
	{ "newer version, accepts ours", 4, 2, 0x0109, 0, 0 },
	{ "newer version, refuses ours", 4, 2, 0x0309, 0, -EPROTONOSUPPORT },
	{ "newer version, no level", 4, 2, 0x0209, 0, -EPROTO },
	{ "newest version, accepts ours", 4, 2, 0x0102, 0, 0 },
	{ "level in version 1", 6, 1, 0x11, 0, -EPROTO },
	{ "oldest version above the newest", 4, 2, 0x0201, 0, -EPROTO },
	{ "message mode", 6, 1, 0, 0, 0 },
	{ "unknown mode", 6, 1, 2, 0, -EPROTO },
	{ "no user's data", 7, 1, 0, 0, 0 },
	{ "more user's data than there is", 7, 1, 8, 0, -EPROTO },
	{ "as much user's data as may be", 7, 1, 32, 56, 0 },
	{ "more user's data than may be", 7, 1, 33, 57, -EPROTO },
	{ "smallest buffers", 8, 4, 256, 0, 0 },
	{ "buffers too small", 8, 4, 255, 0, -EPROTO },
	{ "no buffers", 8, 4, 0, 0, -EPROTO },
	{ "largest buffers", 8, 4, 65536, 0, 0 },
	{ "buffers too large", 8, 4, 65537, 0, -EPROTO },
	{ "no messages taken", 12, 4, 0, 0, 0 },
	{ "longest messages", 12, 4, 1U << 30, 0, 0 },
	{ "messages too long", 12, 4, (1U << 30) + 1, 0, -EPROTO },
	{ "shallowest queue", 16, 2, 4, 0, 0 },
	{ "queue too shallow", 16, 2, 3, 0, -EPROTO },
	{ "deepest queue", 16, 2, 4096, 0, 0 },
	{ "queue too deep", 16, 2, 4097, 0, -EPROTO },
	{ "features of the future", 18, 2, 0xffff, 0, 0 },
	{ "any session", 20, 4, 0, 0, 0 },
};

KUNIT_ARRAY_PARAM(hello, hello_cases, krdma_wire_case_desc);

static void hello_decode_checks_each_field(struct kunit *test)
{
	const struct krdma_wire_case *c = test->param_value;
	struct krdma_hello hello = { .session = 1 };
	u8 bytes[64] = {};
	int ret;

	memcpy(bytes, good_hello_bytes, sizeof(good_hello_bytes));
	krdma_wire_spoil(bytes, c);
	ret = krdma_hello_decode(&hello, bytes, c->len ?: HELLO_LEN);
	KUNIT_EXPECT_EQ(test, ret, c->expected);
	if (ret)
		KUNIT_EXPECT_EQ(test, hello.session, 1U);
}

/**
 * struct krdma_wire_port - properties of an interface in the feature bits
 * @bits: features on the wire
 * @features: decoded feature bits, without the properties of the interface
 * @gid: decoded GID type
 * @mtu: decoded MTU
 */
struct krdma_wire_port {
	u16 bits;
	u16 features;
	u8 gid;
	u8 mtu;
};

static const struct krdma_wire_port ports[] = {
	{ 0x0000, 0x0000, 0, 0 },
	{ 0x001f, 0x001f, 0, 0 },
	{ 0x07ff, 0x07ff, 0, 0 },
	{ 0x0800, 0x0000, 1, 0 },
	{ 0x1801, 0x0001, 3, 0 },
	{ 0x2000, 0x0000, 0, 1 },
	{ 0xb817, 0x0017, 3, 5 },
	{ 0xc000, 0x0000, 0, 0 },
	{ 0xffff, 0x07ff, 3, 0 },
};

static void hello_upper_features_encode_interface(struct kunit *test)
{
	u8 bytes[HELLO_LEN] = {};
	struct krdma_hello hello;
	unsigned int i;

	memcpy(bytes, good_hello_bytes, sizeof(good_hello_bytes));
	for (i = 0; i < ARRAY_SIZE(ports); i++) {
		bytes[18] = ports[i].bits;
		bytes[19] = ports[i].bits >> 8;
		KUNIT_ASSERT_EQ(test, krdma_hello_decode(&hello, bytes, HELLO_LEN), 0);
		KUNIT_EXPECT_EQ(test, hello.features, ports[i].features);
		KUNIT_EXPECT_EQ(test, hello.gid, ports[i].gid);
		KUNIT_EXPECT_EQ(test, hello.mtu, ports[i].mtu);
	}
}

static void hello_with_interface_round_trip_is_equal(struct kunit *test)
{
	struct krdma_hello good = good_hello, hello;
	u8 bytes[HELLO_LEN] = {};

	good.features = KRDMA_WIRE_FEATURES;
	good.gid = 3;
	good.mtu = 5;
	krdma_hello_encode((void *)bytes, &good);
	KUNIT_ASSERT_EQ(test, krdma_hello_decode(&hello, bytes, HELLO_LEN), 0);
	KUNIT_EXPECT_EQ(test, hello.features, KRDMA_WIRE_FEATURES);
	KUNIT_EXPECT_EQ(test, hello.gid, 3);
	KUNIT_EXPECT_EQ(test, hello.mtu, 5);
}

/* ---- MTU of the path ---- */

static const struct {
	struct krdma_path path;
	enum krdma_path_fit fit;
} paths[] = {
	{ { .mtu = 4096, .local_mtu = 4096, .peer_mtu = 4096 }, KRDMA_PATH_FITS },
	{ { .mtu = 1024, .local_mtu = 4096, .peer_mtu = 4096 }, KRDMA_PATH_FITS },
	{ { .mtu = 4096, .local_mtu = 4096 }, KRDMA_PATH_FITS },
	{ { .mtu = 4096, .peer_mtu = 4096 }, KRDMA_PATH_FITS },
	{ { .mtu = 4096 }, KRDMA_PATH_FITS },
	{ {}, KRDMA_PATH_FITS },
	{ { .mtu = 1024, .local_mtu = 4096, .peer_mtu = 1024 }, KRDMA_PATH_LOWERED },
	{ { .mtu = 1024, .local_mtu = 1024, .peer_mtu = 4096 }, KRDMA_PATH_LOWERED },
	{ { .mtu = 4096, .local_mtu = 4096, .peer_mtu = 1024 }, KRDMA_PATH_TOO_LONG },
	{ { .mtu = 4096, .local_mtu = 1024, .peer_mtu = 4096 }, KRDMA_PATH_TOO_LONG },
	{ { .mtu = 4096, .local_mtu = 1024 }, KRDMA_PATH_TOO_LONG },
	{ { .mtu = 4096, .peer_mtu = 1024 }, KRDMA_PATH_TOO_LONG },
	{ { .mtu = 4096, .local_mtu = 1024, .peer_mtu = 1024 }, KRDMA_PATH_TOO_LONG },
};

static void path_mtu_fits_both_interfaces(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(paths); i++)
		KUNIT_EXPECT_EQ_MSG(test, krdma_path_fit(&paths[i].path),
				    paths[i].fit, "path %u", i);
}

static void hello_negotiates_newest_common_version(struct kunit *test)
{
	u8 bytes[HELLO_LEN] = {};
	struct krdma_hello hello;

	memcpy(bytes, good_hello_bytes, sizeof(good_hello_bytes));
	bytes[4] = KRDMA_WIRE_VERSION + 3;
	KUNIT_ASSERT_EQ(test, krdma_hello_decode(&hello, bytes, HELLO_LEN), 0);
	KUNIT_EXPECT_EQ(test, hello.version, KRDMA_WIRE_VERSION);
}

static const struct krdma_wire_case level_cases[] = {
	{ "good", 0, 0, 0, 0, 0 },
	{ "newer version, accepts ours", 4, 2, 0x0209, 0, 0 },
	{ "newer version, refuses ours", 4, 2, 0x0309, 0, -EPROTONOSUPPORT },
	{ "no level", 6, 1, 0x01, 0, -EPROTO },
	{ "highest level", 6, 1, 0x31, 0, 0 },
	{ "unknown level", 6, 1, 0x41, 0, -EPROTO },
	{ "unknown mode", 6, 1, 0x12, 0, -EPROTO },
	{ "as much user's data as may be", 7, 1, 24, 56, 0 },
	{ "more user's data than may be", 7, 1, 25, 56, -EPROTO },
};

KUNIT_ARRAY_PARAM(level, level_cases, krdma_wire_case_desc);

static void hello_with_level_decode_checks_each_field(struct kunit *test)
{
	const struct krdma_wire_case *c = test->param_value;
	struct krdma_hello good = good_hello, hello = { .session = 1 };
	u8 bytes[64] = {};
	int ret;

	good.level = 1;
	krdma_hello_encode((void *)bytes, &good);
	KUNIT_EXPECT_EQ(test, bytes[4], 2);
	KUNIT_EXPECT_EQ(test, bytes[5], 2);
	KUNIT_EXPECT_EQ(test, bytes[6], 0x11);
	krdma_wire_spoil(bytes, c);
	ret = krdma_hello_decode(&hello, bytes, c->len ?: HELLO_LEN);
	KUNIT_EXPECT_EQ(test, ret, c->expected);
	KUNIT_EXPECT_EQ(test, hello.session, ret ? 1 : good.session);
	KUNIT_EXPECT_EQ(test, hello.version, ret ? 0 : 2);
	KUNIT_EXPECT_EQ(test, hello.level, ret ? 0 : bytes[6] >> 4);
	KUNIT_EXPECT_EQ(test, hello.mode, ret ? 0 : KRDMA_WIRE_MODE_RW);
}

static void hello_decode_refuses_missing_data(struct kunit *test)
{
	struct krdma_hello hello;

	KUNIT_EXPECT_EQ(test, krdma_hello_decode(&hello, NULL, 0), -EPROTO);
	KUNIT_EXPECT_EQ(test, krdma_hello_decode(&hello, NULL, 56), -EPROTO);
}

/* ---- reject ---- */

static const u8 good_rej_bytes[] = { 'k', 'd', 'm', 'a', 1, 5, 3, 0 };

static void reject_encodes_documented_bytes(struct kunit *test)
{
	struct krdma_wire_rej wire;

	krdma_rej_encode(&wire, KRDMA_WIRE_REJ_BUSY, 3);
	KUNIT_ASSERT_EQ(test, sizeof(wire), sizeof(good_rej_bytes));
	KUNIT_EXPECT_EQ(test, memcmp(&wire, good_rej_bytes, sizeof(wire)), 0);
}

static const struct krdma_wire_case rej_cases[] = {
	{ "good", 0, 0, 0, 0, 0 },
	{ "padded by InfiniBand", 0, 0, 0, 148, 0 },
	{ "empty", 0, 0, 0, 1, -EPROTO },
	{ "one byte short", 6, 1, 0, 7, -EPROTO },
	{ "magic", 1, 1, 'D', 0, -EPROTO },
	{ "version of the future", 4, 1, 99, 0, 0 },
	{ "reason of the future", 5, 1, 99, 0, 0 },
	{ "more user's data than there is", 6, 1, 4, 0, -EPROTO },
	{ "user's data cut off", 0, 0, 0, 10, -EPROTO },
	{ "reserved byte of the future", 7, 1, 0xff, 0, 0 },
};

KUNIT_ARRAY_PARAM(rej, rej_cases, krdma_wire_case_desc);

static void reject_decode_checks_each_field(struct kunit *test)
{
	const struct krdma_wire_case *c = test->param_value;
	u8 bytes[148] = {}, reason = 0, user_len = 0;
	int ret;

	memcpy(bytes, good_rej_bytes, sizeof(good_rej_bytes));
	krdma_wire_spoil(bytes, c);
	ret = krdma_rej_decode(&reason, &user_len, bytes,
			       c->len ?: sizeof(good_rej_bytes) + 3);
	KUNIT_EXPECT_EQ(test, ret, c->expected);
	KUNIT_EXPECT_EQ(test, reason, ret ? 0 : bytes[5]);
	KUNIT_EXPECT_EQ(test, user_len, ret ? 0 : bytes[6]);
}

static void reject_decode_refuses_missing_data(struct kunit *test)
{
	u8 reason, user_len;

	KUNIT_EXPECT_EQ(test, krdma_rej_decode(&reason, &user_len, NULL, 148),
			-EPROTO);
}

static void reject_reason_maps_to_errno(struct kunit *test)
{
	int reason;

	KUNIT_EXPECT_EQ(test, krdma_rej_errno(KRDMA_WIRE_REJ_USER), -ECONNREFUSED);
	KUNIT_EXPECT_EQ(test, krdma_rej_errno(KRDMA_WIRE_REJ_PROTO), -EPROTO);
	KUNIT_EXPECT_EQ(test, krdma_rej_errno(KRDMA_WIRE_REJ_VERSION), -EPROTONOSUPPORT);
	KUNIT_EXPECT_EQ(test, krdma_rej_errno(KRDMA_WIRE_REJ_MODE), -EPROTO);
	KUNIT_EXPECT_EQ(test, krdma_rej_errno(KRDMA_WIRE_REJ_BUSY), -EBUSY);
	KUNIT_EXPECT_EQ(test, krdma_rej_errno(KRDMA_WIRE_REJ_NOMEM), -EREMOTEIO);
	KUNIT_EXPECT_EQ(test, krdma_rej_errno(KRDMA_WIRE_REJ_TIMEOUT), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, krdma_rej_errno(KRDMA_WIRE_REJ_CLOSING), -ECONNREFUSED);
	KUNIT_EXPECT_EQ(test, krdma_rej_errno(KRDMA_WIRE_REJ_SECURITY), -EPERM);
	KUNIT_EXPECT_EQ(test, krdma_rej_errno(KRDMA_WIRE_REJ_KEY), -EKEYREJECTED);
	for (reason = 0; reason <= U8_MAX; reason++)
		KUNIT_EXPECT_LT(test, krdma_rej_errno(reason), 0);
}

/* ---- header of a message ---- */

static const u8 good_hdr_bytes[] = {
	1, KRDMA_WIRE_DATA, 0x02, 0x01, 0x10, 0x27, 0, 0,
	0x44, 0x33, 0x22, 0x11, 0xe8, 0x03, 0, 0,
};

static void header_with_tag_decodes_only_itself(struct kunit *test)
{
	const struct krdma_hdr auth = { .type = KRDMA_WIRE_AUTH, .tagged = true };
	u8 bytes[sizeof(struct krdma_wire_hdr) + 48] = {};
	struct krdma_hdr hdr;
	unsigned int i;

	krdma_hdr_encode((void *)bytes, &auth);
	KUNIT_EXPECT_EQ(test, bytes[0], 2);
	KUNIT_EXPECT_EQ(test, bytes[1], 10);
	KUNIT_ASSERT_EQ(test, 0, krdma_hdr_decode_tagged(&hdr, bytes, sizeof(bytes),
							 KRDMA_WIRE_AUTH));
	KUNIT_EXPECT_EQ(test, hdr.type, KRDMA_WIRE_AUTH);
	KUNIT_EXPECT_TRUE(test, hdr.tagged);
	KUNIT_EXPECT_EQ(test, hdr.part_len, 48U);
	KUNIT_EXPECT_EQ(test, -EPROTO,
			krdma_hdr_decode_tagged(&hdr, bytes, sizeof(bytes),
						KRDMA_WIRE_START));
	KUNIT_EXPECT_EQ(test, -EPROTO,
			krdma_hdr_decode_tagged(&hdr, bytes, 15, KRDMA_WIRE_AUTH));
	KUNIT_EXPECT_EQ(test, -EPROTO,
			krdma_hdr_decode(&hdr, bytes, sizeof(bytes), MAX_MSG));
	for (i = 0; i < sizeof(struct krdma_wire_hdr) * 8; i++) {
		bytes[i / 8] ^= 1 << i % 8;
		KUNIT_EXPECT_EQ(test, -EPROTO,
				krdma_hdr_decode_tagged(&hdr, bytes, sizeof(bytes),
							KRDMA_WIRE_AUTH));
		bytes[i / 8] ^= 1 << i % 8;
	}
}

static const struct krdma_hdr good_hdr = {
	.type = KRDMA_WIRE_DATA,
	.credits = 0x0102,
	.msg_len = 10000,
	.msg_id = 0x11223344,
	.offset = 1000,
};

/* Length of a valid header with 200 bytes of the message. */
#define HDR_LEN (sizeof(good_hdr_bytes) + 200)

static void header_encodes_documented_bytes(struct kunit *test)
{
	struct krdma_wire_hdr wire;

	krdma_hdr_encode(&wire, &good_hdr);
	KUNIT_ASSERT_EQ(test, sizeof(wire), sizeof(good_hdr_bytes));
	KUNIT_EXPECT_EQ(test, memcmp(&wire, good_hdr_bytes, sizeof(wire)), 0);
}

static void header_round_trip_is_equal(struct kunit *test)
{
	u8 bytes[HDR_LEN] = {};
	struct krdma_hdr hdr;

	krdma_hdr_encode((void *)bytes, &good_hdr);
	KUNIT_ASSERT_EQ(test, krdma_hdr_decode(&hdr, bytes, HDR_LEN, MAX_MSG), 0);
	KUNIT_EXPECT_EQ(test, hdr.type, good_hdr.type);
	KUNIT_EXPECT_EQ(test, hdr.credits, good_hdr.credits);
	KUNIT_EXPECT_EQ(test, hdr.msg_len, good_hdr.msg_len);
	KUNIT_EXPECT_EQ(test, hdr.msg_id, good_hdr.msg_id);
	KUNIT_EXPECT_EQ(test, hdr.offset, good_hdr.offset);
}

/* A sealed message has version 2, and the same fields. */
static void header_of_sealed_message_has_version_2(struct kunit *test)
{
	u8 bytes[HDR_LEN] = {};
	struct krdma_hdr hdr;

	krdma_hdr_encode((void *)bytes, &good_hdr);
	KUNIT_EXPECT_EQ(test, -EPROTO, krdma_hdr_decode_sealed(&hdr, bytes,
							       HDR_LEN, MAX_MSG));
	bytes[0] = 2;
	KUNIT_EXPECT_EQ(test, -EPROTO,
			krdma_hdr_decode(&hdr, bytes, HDR_LEN, MAX_MSG));
	KUNIT_ASSERT_EQ(test, 0, krdma_hdr_decode_sealed(&hdr, bytes, HDR_LEN,
							 MAX_MSG));
	KUNIT_EXPECT_EQ(test, hdr.type, good_hdr.type);
	KUNIT_EXPECT_EQ(test, hdr.part_len, 200U);
	KUNIT_EXPECT_FALSE(test, hdr.tagged);
	KUNIT_EXPECT_EQ(test, -EPROTO,
			krdma_hdr_decode_sealed(&hdr, bytes, 15, MAX_MSG));
	KUNIT_EXPECT_EQ(test, -EPROTO, krdma_hdr_decode_sealed(&hdr, bytes,
							       HDR_LEN, 100));
}

static const struct krdma_wire_case hdr_cases[] = {
	{ "good", 0, 0, 0, 0, 0 },
	{ "empty", 0, 0, 0, 1, -EPROTO },
	{ "one byte short of the header", 0, 0, 0, 15, -EPROTO },
	{ "version 0", 0, 1, 0, 0, -EPROTO },
	{ "version of the future", 0, 1, 2, 0, -EPROTO },
	{ "type 0", 1, 1, 0, 0, -EPROTO },
	{ "unknown type", 1, 1, 10, 0, -EPROTO },
	{ "type with the top bit", 1, 1, 0x82, 0, -EPROTO },
	{ "any number of credits", 2, 2, 0xffff, 0, 0 },
	{ "longest message", 4, 4, MAX_MSG, 0, 0 },
	{ "message too long", 4, 4, MAX_MSG + 1, 0, -EPROTO },
	{ "message of four gigabytes", 4, 4, U32_MAX, 0, -EPROTO },
	{ "message shorter than the part", 4, 4, 1199, 0, -EPROTO },
	{ "part that ends the message", 4, 4, 1200, 0, 0 },
	{ "any message id", 8, 4, U32_MAX, 0, 0 },
	{ "first part", 12, 4, 0, 0, 0 },
	{ "last part", 12, 4, 9800, 0, 0 },
	{ "part beyond the end", 12, 4, 9801, 0, -EPROTO },
	{ "offset beyond the message", 12, 4, 10001, 0, -EPROTO },
	{ "offset that wraps", 12, 4, U32_MAX - 100, 0, -EPROTO },
	{ "part without bytes", 0, 0, 0, 16, -EPROTO },
	{ "part without bytes at the end", 12, 4, 10000, 16, -EPROTO },
};

KUNIT_ARRAY_PARAM(hdr, hdr_cases, krdma_wire_case_desc);

static void data_decode_checks_each_field(struct kunit *test)
{
	const struct krdma_wire_case *c = test->param_value;
	struct krdma_hdr hdr = { .credits = 77 };
	u8 bytes[HDR_LEN] = {};
	int ret;

	memcpy(bytes, good_hdr_bytes, sizeof(good_hdr_bytes));
	krdma_wire_spoil(bytes, c);
	ret = krdma_hdr_decode(&hdr, bytes, c->len ?: HDR_LEN, MAX_MSG);
	KUNIT_EXPECT_EQ(test, ret, c->expected);
	if (ret)
		KUNIT_EXPECT_EQ(test, hdr.credits, 77);
}

static int krdma_wire_decode_bare(u8 type, const struct krdma_wire_case *c,
				  size_t len)
{
	u8 bytes[64] = { KRDMA_WIRE_VERSION, type };
	struct krdma_hdr hdr;

	krdma_wire_spoil(bytes, c);
	return krdma_hdr_decode(&hdr, bytes, len, MAX_MSG);
}

static const struct krdma_wire_case bare_cases[] = {
	{ "good", 0, 0, 0, 0, 0 },
	{ "credits", 2, 2, 5, 0, 0 },
	{ "length", 4, 4, 1, 0, -EPROTO },
	{ "message id", 8, 4, 1, 0, -EPROTO },
	{ "offset", 12, 4, 1, 0, -EPROTO },
};

KUNIT_ARRAY_PARAM(bare, bare_cases, krdma_wire_case_desc);

static void credit_decode_accepts_credits_only(struct kunit *test)
{
	const struct krdma_wire_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, krdma_wire_decode_bare(KRDMA_WIRE_CREDIT, c, 16),
			c->expected);
	KUNIT_EXPECT_EQ(test, krdma_wire_decode_bare(KRDMA_WIRE_CREDIT, c, 17),
			-EPROTO);
}

static const struct krdma_wire_case empty_cases[] = {
	{ "good", 0, 0, 0, 0, 0 },
	{ "credits", 2, 2, 5, 0, -EPROTO },
	{ "length", 4, 4, 1, 0, -EPROTO },
	{ "message id", 8, 4, 1, 0, -EPROTO },
	{ "offset", 12, 4, 1, 0, -EPROTO },
};

KUNIT_ARRAY_PARAM(empty, empty_cases, krdma_wire_case_desc);

static void ping_and_pong_accept_no_fields(struct kunit *test)
{
	const struct krdma_wire_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, krdma_wire_decode_bare(KRDMA_WIRE_PING, c, 16),
			c->expected);
	KUNIT_EXPECT_EQ(test, krdma_wire_decode_bare(KRDMA_WIRE_PONG, c, 16),
			c->expected);
	KUNIT_EXPECT_EQ(test, krdma_wire_decode_bare(KRDMA_WIRE_PING, c, 17),
			-EPROTO);
	KUNIT_EXPECT_EQ(test, krdma_wire_decode_bare(KRDMA_WIRE_PONG, c, 17),
			-EPROTO);
}

static const struct krdma_wire_case bye_cases[] = {
	{ "good", 0, 0, 0, 0, 0 },
	{ "credits", 2, 2, 5, 0, -EPROTO },
	{ "length", 4, 4, 1, 0, -EPROTO },
	{ "reason", 8, 4, 0xffffffff, 0, 0 },
	{ "offset", 12, 4, 1, 0, -EPROTO },
};

KUNIT_ARRAY_PARAM(bye, bye_cases, krdma_wire_case_desc);

static void bye_decode_accepts_reason_only(struct kunit *test)
{
	const struct krdma_wire_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, krdma_wire_decode_bare(KRDMA_WIRE_BYE, c, 16),
			c->expected);
	KUNIT_EXPECT_EQ(test, krdma_wire_decode_bare(KRDMA_WIRE_BYE, c, 17),
			-EPROTO);
}

static const struct krdma_wire_case written_cases[] = {
	{ "good", 0, 0, 0, 0, 0 },
	{ "credits", 2, 2, 5, 0, 0 },
	{ "length", 4, 4, 1, 0, -EPROTO },
	{ "immediate data", 8, 4, 0xffffffff, 0, 0 },
	{ "offset", 12, 4, 1, 0, -EPROTO },
};

KUNIT_ARRAY_PARAM(written, written_cases, krdma_wire_case_desc);

static void written_accepts_immediate_data(struct kunit *test)
{
	const struct krdma_wire_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, krdma_wire_decode_bare(KRDMA_WIRE_WRITTEN, c, 16),
			c->expected);
	KUNIT_EXPECT_EQ(test, krdma_wire_decode_bare(KRDMA_WIRE_WRITTEN, c, 17),
			-EPROTO);
}

static const struct krdma_wire_case pulled_cases[] = {
	{ "good", 0, 0, 0, 0, 0 },
	{ "credits", 2, 2, 5, 0, -EPROTO },
	{ "length", 4, 4, 1, 0, -EPROTO },
	{ "message id", 8, 4, 0xffffffff, 0, 0 },
	{ "end", 12, 4, 0xffffffff, 0, 0 },
};

KUNIT_ARRAY_PARAM(pulled, pulled_cases, krdma_wire_case_desc);

static void pulled_decode_accepts_chunk_end(struct kunit *test)
{
	const struct krdma_wire_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, krdma_wire_decode_bare(KRDMA_WIRE_PULLED, c, 16),
			c->expected);
	KUNIT_EXPECT_EQ(test, krdma_wire_decode_bare(KRDMA_WIRE_PULLED, c, 17),
			-EPROTO);
}

/*
 * A CHUNK, which describes a part of a long message: here 6000 of 10000 bytes.
 * Its two segments have 4096 and 1904 bytes.
 */
static const u8 good_chunk_bytes[] = {
	1, KRDMA_WIRE_CHUNK, 0x02, 0x01, 0x10, 0x27, 0, 0,
	0x44, 0x33, 0x22, 0x11, 0xa0, 0x0f, 0, 0,
	0, 0x10, 0, 0, 0, 0, 0, 0x80, 0x78, 0x56, 0x34, 0x12, 0, 0x10, 0, 0,
	0, 0x20, 0, 0, 0, 0, 0, 0x80, 0x79, 0x56, 0x34, 0x12, 0x70, 0x07, 0, 0,
};

static const struct krdma_wire_case chunk_cases[] = {
	{ "good", 0, 0, 0, 0, 0 },
	{ "any number of credits", 2, 2, 0xffff, 0, 0 },
	{ "message too long", 4, 4, MAX_MSG + 1, 0, -EPROTO },
	{ "message shorter than the chunk", 4, 4, 9999, 0, -EPROTO },
	{ "message shorter than the offset", 4, 4, 3999, 0, -EPROTO },
	{ "longer message", 4, 4, 10001, 0, 0 },
	{ "offset beyond the message", 12, 4, 10001, 0, -EPROTO },
	{ "offset that wraps", 12, 4, U32_MAX - 100, 0, -EPROTO },
	{ "no segment", 0, 0, 0, 16, -EPROTO },
	{ "half a segment", 0, 0, 0, 40, -EPROTO },
	{ "a byte too few", 0, 0, 0, 47, -EPROTO },
	{ "segment without bytes", 28, 4, 0, 0, -EPROTO },
	{ "segment of four gigabytes", 28, 4, U32_MAX, 0, -EPROTO },
	{ "address that wraps", 16, 8, U64_MAX, 0, -EPROTO },
	{ "address up to the end", 32, 8, U64_MAX - 1904, 0, 0 },
	{ "any key", 24, 4, 0, 0, 0 },
};

KUNIT_ARRAY_PARAM(chunk, chunk_cases, krdma_wire_case_desc);

static void chunk_decode_checks_each_field(struct kunit *test)
{
	const struct krdma_wire_case *c = test->param_value;
	u8 bytes[sizeof(good_chunk_bytes)];
	struct krdma_hdr hdr = {};
	int ret;

	memcpy(bytes, good_chunk_bytes, sizeof(bytes));
	krdma_wire_spoil(bytes, c);
	ret = krdma_hdr_decode(&hdr, bytes, c->len ?: sizeof(bytes), MAX_MSG);
	KUNIT_EXPECT_EQ(test, ret, c->expected);
	KUNIT_EXPECT_EQ(test, hdr.part_len, ret ? 0 : 6000);
}

static void start_decode_refuses_message_fields(struct kunit *test)
{
	const struct krdma_wire_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, krdma_wire_decode_bare(KRDMA_WIRE_START, c, 16),
			c->expected);
	KUNIT_EXPECT_EQ(test, krdma_wire_decode_bare(KRDMA_WIRE_START, c, 48),
			c->expected);
}

static void decode_refuses_short_header(struct kunit *test)
{
	static const struct krdma_wire_case nothing = { "good" };
	int type;
	size_t len;

	for (type = 0; type <= U8_MAX; type++)
		for (len = 0; len < sizeof(struct krdma_wire_hdr); len++)
			KUNIT_EXPECT_EQ(test, krdma_wire_decode_bare(type, &nothing, len),
					-EPROTO);
}

static void decode_accepts_empty_message(struct kunit *test)
{
	static const struct krdma_wire_case nothing = { "good" };

	KUNIT_EXPECT_EQ(test, krdma_wire_decode_bare(KRDMA_WIRE_DATA, &nothing,
						     16), 0);
	KUNIT_EXPECT_EQ(test, krdma_wire_decode_bare(KRDMA_WIRE_DATA, &nothing,
						     17), -EPROTO);
}

/* ---- description of the exported buffer ---- */

static const struct krdma_seg good_segs[] = {
	{ .addr = 0x1122334455667788, .rkey = 0xa1a2a3a4, .len = 0x1000 },
	{ .addr = 0, .rkey = 0, .len = 1 },
};

static const u8 good_exported_bytes[] = {
	0x01, 0x10, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0,
	0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11,
	0xa4, 0xa3, 0xa2, 0xa1, 0x00, 0x10, 0, 0,
	0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0,
};

static void exported_encodes_documented_bytes(struct kunit *test)
{
	u8 bytes[sizeof(good_exported_bytes)];
	struct krdma_wire_export *exported = (void *)bytes;
	struct krdma_wire_seg *segs = (void *)(exported + 1);

	KUNIT_ASSERT_EQ(test, krdma_export_wire_size(2), sizeof(bytes));
	krdma_export_encode(exported, 0x1001, 2);
	krdma_seg_encode(&segs[0], &good_segs[0]);
	krdma_seg_encode(&segs[1], &good_segs[1]);
	KUNIT_EXPECT_EQ(test, memcmp(bytes, good_exported_bytes, sizeof(bytes)), 0);
}

static void exported_round_trip_is_equal(struct kunit *test)
{
	struct krdma_seg segs[2];

	KUNIT_ASSERT_EQ(test,
			krdma_export_decode(segs, 2, good_exported_bytes,
					    sizeof(good_exported_bytes)),
			0);
	KUNIT_EXPECT_EQ(test, segs[0].addr, good_segs[0].addr);
	KUNIT_EXPECT_EQ(test, segs[0].rkey, good_segs[0].rkey);
	KUNIT_EXPECT_EQ(test, segs[0].len, good_segs[0].len);
	KUNIT_EXPECT_EQ(test, segs[1].len, good_segs[1].len);
}

static const struct krdma_wire_case exported_cases[] = {
	{ "good", 0, 0, 0, 0, 0 },
	{ "empty", 0, 0, 0, 1, -EPROTO },
	{ "one byte short of the first part", 0, 0, 0, 15, -EPROTO },
	{ "one byte short", 0, 0, 0, 47, -EPROTO },
	{ "one byte more", 0, 0, 0, 49, -EPROTO },
	{ "length does not add up", 0, 8, 0x1002, 0, -EPROTO },
	{ "length of 0", 0, 8, 0, 0, -EPROTO },
	{ "length that wraps", 0, 8, U64_MAX, 0, -EPROTO },
	{ "no segments", 8, 4, 0, 0, -EPROTO },
	{ "fewer segments than bytes", 8, 4, 1, 0, -EPROTO },
	{ "more segments than bytes", 8, 4, 3, 0, -EPROTO },
	{ "too many segments", 8, 4, 1025, 0, -EPROTO },
	{ "number of segments that wraps", 8, 4, 0x10000002, 0, -EPROTO },
	{ "any address", 16, 8, 4096, 0, 0 },
	{ "segment that ends at the last byte", 16, 8, -0x1001ULL, 0, 0 },
	{ "segment that wraps", 16, 8, -0xfffULL, 0, -EPROTO },
	{ "any key", 24, 4, U32_MAX, 0, 0 },
	{ "first segment empty", 28, 4, 0, 0, -EPROTO },
	{ "last segment empty", 44, 4, 0, 0, -EPROTO },
};

KUNIT_ARRAY_PARAM(exported, exported_cases, krdma_wire_case_desc);

static int krdma_wire_decode_exported(const u8 *bytes, size_t len)
{
	struct krdma_seg segs[2];
	int nsegs = krdma_export_count(bytes, len);

	if (nsegs < 0)
		return nsegs;
	if (nsegs > 2)
		return -E2BIG;
	return krdma_export_decode(segs, nsegs, bytes, len);
}

static void exported_decode_checks_each_field(struct kunit *test)
{
	const struct krdma_wire_case *c = test->param_value;
	u8 bytes[64] = {};

	memcpy(bytes, good_exported_bytes, sizeof(good_exported_bytes));
	krdma_wire_spoil(bytes, c);
	KUNIT_EXPECT_EQ(test,
			krdma_wire_decode_exported(bytes, c->len ?: sizeof(good_exported_bytes)),
			c->expected);
}

static struct kunit_case krdma_wire_cases[] = {
	KUNIT_CASE(hello_encodes_documented_bytes),
	KUNIT_CASE(hello_round_trip_is_equal),
	KUNIT_CASE_PARAM(hello_decode_checks_each_field, hello_gen_params),
	KUNIT_CASE(hello_upper_features_encode_interface),
	KUNIT_CASE(hello_with_interface_round_trip_is_equal),
	KUNIT_CASE(path_mtu_fits_both_interfaces),
	KUNIT_CASE(hello_negotiates_newest_common_version),
	KUNIT_CASE_PARAM(hello_with_level_decode_checks_each_field,
			 level_gen_params),
	KUNIT_CASE(hello_decode_refuses_missing_data),
	KUNIT_CASE(reject_encodes_documented_bytes),
	KUNIT_CASE_PARAM(reject_decode_checks_each_field, rej_gen_params),
	KUNIT_CASE(reject_decode_refuses_missing_data),
	KUNIT_CASE(reject_reason_maps_to_errno),
	KUNIT_CASE(header_with_tag_decodes_only_itself),
	KUNIT_CASE(header_encodes_documented_bytes),
	KUNIT_CASE(header_round_trip_is_equal),
	KUNIT_CASE(header_of_sealed_message_has_version_2),
	KUNIT_CASE_PARAM(data_decode_checks_each_field, hdr_gen_params),
	KUNIT_CASE_PARAM(credit_decode_accepts_credits_only, bare_gen_params),
	KUNIT_CASE_PARAM(ping_and_pong_accept_no_fields, empty_gen_params),
	KUNIT_CASE_PARAM(bye_decode_accepts_reason_only, bye_gen_params),
	KUNIT_CASE_PARAM(pulled_decode_accepts_chunk_end, pulled_gen_params),
	KUNIT_CASE_PARAM(written_accepts_immediate_data, written_gen_params),
	KUNIT_CASE_PARAM(chunk_decode_checks_each_field, chunk_gen_params),
	KUNIT_CASE_PARAM(start_decode_refuses_message_fields, bare_gen_params),
	KUNIT_CASE(decode_refuses_short_header),
	KUNIT_CASE(decode_accepts_empty_message),
	KUNIT_CASE(exported_encodes_documented_bytes),
	KUNIT_CASE(exported_round_trip_is_equal),
	KUNIT_CASE_PARAM(exported_decode_checks_each_field, exported_gen_params),
	{}
};

static struct kunit_suite krdma_wire_suite = {
	.name = "krdma_wire",
	.test_cases = krdma_wire_cases,
};

kunit_test_suite(krdma_wire_suite);

MODULE_AUTHOR("The krdma developers");
MODULE_DESCRIPTION("KUnit tests of krdma's wire codecs");
MODULE_LICENSE("GPL");
