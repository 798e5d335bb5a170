// SPDX-License-Identifier: GPL-2.0
/* Test the parsing of values that an administrator writes. */
#include <kunit/test.h>

#include "../../vrfm/opts.c"

struct size_case {
	const char *text;
	u64 size;
};

static void size_accepts_suffixes(struct kunit *test)
{
	static const struct size_case cases[] = {
		{ "4096", 4096 }, { "4K", 4096 }, { "4k", 4096 },
		{ "0x10000", 65536 }, { "64M", SZ_64M }, { "1G", SZ_1G },
		{ "2G", SZ_2G }, { "64M\n", SZ_64M }, { "68K", 68 * 1024 },
		{ "0x1000K", SZ_4M }, { "0x40m", SZ_64M }, { "1g\n", SZ_1G },
	};
	int i;
	u64 size;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		size = 0;
		KUNIT_EXPECT_EQ_MSG(test, vrfm_parse_size(cases[i].text, &size),
				    0, "%s", cases[i].text);
		KUNIT_EXPECT_EQ(test, size, cases[i].size);
	}
}

static void size_refuses_invalid_number(struct kunit *test)
{
	static const char * const texts[] = {
		"", "M", "-4K", "+4K", " 4K", "4Q", "4K x", "4KK", "4.5M",
		"64M\n\n", "4096\n\n", "4096\nK", "K\n", "\n", "0x", "4096 ",
		"010000", "064M", "00x1000",
	};
	u64 size = 77;
	int i;

	for (i = 0; i < ARRAY_SIZE(texts); i++)
		KUNIT_EXPECT_EQ_MSG(test, vrfm_parse_size(texts[i], &size),
				    -EINVAL, "%s", texts[i]);
	KUNIT_EXPECT_EQ(test, size, 77ULL);
}

static void leading_zero_is_octal(struct kunit *test)
{
	static const char * const octal[] = { "010", "00", "09", "+07\n" };
	static const char * const others[] = {
		"", "0", "0\n", "+0", "0x10", "10", "100", "0K",
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(octal); i++)
		KUNIT_EXPECT_TRUE_MSG(test, vrfm_is_octal(octal[i]), "%s",
				      octal[i]);
	for (i = 0; i < ARRAY_SIZE(others); i++)
		KUNIT_EXPECT_FALSE_MSG(test, vrfm_is_octal(others[i]), "%s",
				       others[i]);
}

static void size_refuses_out_of_range(struct kunit *test)
{
	static const char * const texts[] = {
		"0", "1", "4095", "4097", "6K", "2097153K", "2147483649", "3G",
		"4G", "0xFFFFFFFFFFFFFFFF", "17179869184G", "17179869185G",
		"18446744073709617152", "18014398509482048K",
		"0x10000000000010000",
	};
	u64 size = 77;
	int i;

	for (i = 0; i < ARRAY_SIZE(texts); i++)
		KUNIT_EXPECT_EQ_MSG(test, vrfm_parse_size(texts[i], &size),
				    -ERANGE, "%s", texts[i]);
	KUNIT_EXPECT_EQ(test, size, 77ULL);
}

static void unit_is_parsed_from_name(struct kunit *test)
{
	unsigned int unit = 9;

	KUNIT_EXPECT_EQ(test, vrfm_parse_unit("rfm2g0", &unit), 0);
	KUNIT_EXPECT_EQ(test, unit, 0U);
	KUNIT_EXPECT_EQ(test, vrfm_parse_unit("rfm2g7", &unit), 0);
	KUNIT_EXPECT_EQ(test, unit, 7U);
}

static void unit_refuses_other_names(struct kunit *test)
{
	static const char * const names[] = {
		"", "rfm2g", "rfm2g8", "rfm2g9", "rfm2g10", "rfm2g01",
		"rfm2gx", "rfm2g/", "rfm2g:", "card0", "Rfm2g0", "xrfm2g0",
		"rfm2g0 ",
	};
	unsigned int unit = 9;
	int i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		KUNIT_EXPECT_EQ_MSG(test, vrfm_parse_unit(names[i], &unit),
				    -EINVAL, "%s", names[i]);
	KUNIT_EXPECT_EQ(test, unit, 9U);
}

struct peer_case {
	const char *text;
	u32 node;
	const char *host;
	const char *port;
};

static void peer_accepts_id_address_port(struct kunit *test)
{
	static const struct peer_case cases[] = {
		{ "2@10.0.0.2", 2, "10.0.0.2", NULL },
		{ "0@10.0.0.2:5565", 0, "10.0.0.2", "5565" },
		{ "255@[fd56::3]", 255, "fd56::3", NULL },
		{ "7@[fe80::1%eth0]:65535", 7, "fe80::1%eth0", "65535" },
		{ "3@any:1", 3, "any", "1" },
	};
	struct vrfm_peer_text peer;
	char text[64];
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		strscpy(text, cases[i].text, sizeof(text));
		KUNIT_ASSERT_EQ_MSG(test, vrfm_parse_peer(text, &peer), 0, "%s",
				    cases[i].text);
		KUNIT_EXPECT_EQ(test, peer.node, cases[i].node);
		KUNIT_EXPECT_STREQ(test, peer.host, cases[i].host);
		KUNIT_ASSERT_EQ(test, !peer.port, !cases[i].port);
		if (peer.port)
			KUNIT_EXPECT_STREQ(test, peer.port, cases[i].port);
	}
}

static void peer_refuses_invalid_text(struct kunit *test)
{
	static const char * const texts[] = {
		"", "2", "@10.0.0.2", "2@", "x@10.0.0.2", "-1@10.0.0.2",
		"+2@10.0.0.2", " 2@10.0.0.2", "2 @10.0.0.2", "2@:5565",
		"2@10.0.0.2:", "2@10.0.0.2:0", "2@10.0.0.2:65536",
		"2@10.0.0.2:+1", "2@10.0.0.2:http", "2@fd56::3", "2@[fd56::3",
		"2@[fd56::3]5565", "2@[fd56::3]:", "2@[]", "2@[]:5565",
		"0x2@10.0.0.2",
	};
	struct vrfm_peer_text peer;
	char text[64];
	int i;

	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		strscpy(text, texts[i], sizeof(text));
		KUNIT_EXPECT_EQ_MSG(test, vrfm_parse_peer(text, &peer), -EINVAL,
				    "%s", texts[i]);
	}
}

static void peer_id_refuses_out_of_range(struct kunit *test)
{
	static const char * const texts[] = {
		"256@10.0.0.2", "4294967296@10.0.0.2",
	};
	struct vrfm_peer_text peer;
	char text[64];
	int i;

	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		strscpy(text, texts[i], sizeof(text));
		KUNIT_EXPECT_EQ(test, vrfm_parse_peer(text, &peer), -ERANGE);
	}
}

static void direct_accepts_auto_on_off_only(struct kunit *test)
{
	static const char * const others[] = {
		"", "\n", "aut", "auto on", "AUTO", "0", "1", "yes", "offf",
	};
	u32 i, mode;

	for (i = 0; i < VRFM_DIRECT_MODES; i++) {
		mode = ~i;
		KUNIT_EXPECT_EQ(test,
				vrfm_parse_direct(vrfm_direct_mode_name(i),
						  &mode), 0);
		KUNIT_EXPECT_EQ(test, mode, i);
	}
	KUNIT_EXPECT_EQ(test, vrfm_parse_direct("off\n", &mode), 0);
	KUNIT_EXPECT_EQ(test, mode, (u32)VRFM_DIRECT_OFF);
	for (i = 0; i < ARRAY_SIZE(others); i++)
		KUNIT_EXPECT_EQ_MSG(test, vrfm_parse_direct(others[i], &mode),
				    -EINVAL, "%s", others[i]);
}

static void security_accepts_names_of_levels_only(struct kunit *test)
{
	static const char * const others[] = {
		"", "\n", "non", "auth encrypt", "AUTH", "0", "1", "yes", "authh",
	};
	u32 i, level;

	for (i = 0; i < VRFM_SECURITY_LEVELS; i++) {
		level = ~i;
		KUNIT_EXPECT_EQ(test,
				vrfm_parse_security(vrfm_security_name(i),
						    &level), 0);
		KUNIT_EXPECT_EQ(test, level, i);
	}
	KUNIT_EXPECT_EQ(test, vrfm_parse_security("encrypt\n", &level), 0);
	KUNIT_EXPECT_EQ(test, level, 3U);
	for (i = 0; i < ARRAY_SIZE(others); i++)
		KUNIT_EXPECT_EQ_MSG(test,
				    vrfm_parse_security(others[i], &level),
				    -EINVAL, "%s", others[i]);
}

static struct kunit_case vrfm_opts_cases[] = {
	KUNIT_CASE(size_accepts_suffixes),
	KUNIT_CASE(size_refuses_invalid_number),
	KUNIT_CASE(leading_zero_is_octal),
	KUNIT_CASE(size_refuses_out_of_range),
	KUNIT_CASE(unit_is_parsed_from_name),
	KUNIT_CASE(unit_refuses_other_names),
	KUNIT_CASE(peer_accepts_id_address_port),
	KUNIT_CASE(peer_refuses_invalid_text),
	KUNIT_CASE(peer_id_refuses_out_of_range),
	KUNIT_CASE(direct_accepts_auto_on_off_only),
	KUNIT_CASE(security_accepts_names_of_levels_only),
	{ }
};

static struct kunit_suite vrfm_opts_suite = {
	.name = "vrfm_opts",
	.test_cases = vrfm_opts_cases,
};

kunit_test_suite(vrfm_opts_suite);

MODULE_AUTHOR("The krdma developers <krdma@example.org>");
MODULE_DESCRIPTION("KUnit tests of vrfm/opts.c");
MODULE_LICENSE("GPL");
