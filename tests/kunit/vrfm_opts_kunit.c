// SPDX-License-Identifier: GPL-2.0
/* What an admin writes. */
#include <kunit/test.h>

#include "../../vrfm/opts.c"

struct size_case {
	const char *text;
	u64 size;
};

static void sizes_take_suffixes(struct kunit *test)
{
	static const struct size_case cases[] = {
		{ "4096", 4096 }, { "4K", 4096 }, { "4k", 4096 },
		{ "0x10000", 65536 }, { "64M", SZ_64M }, { "1G", SZ_1G },
		{ "2G", SZ_2G }, { "64M\n", SZ_64M }, { "68K", 68 * 1024 },
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

static void what_is_no_number_is_no_size(struct kunit *test)
{
	static const char * const texts[] = {
		"", "M", "-4K", "+4K", " 4K", "4Q", "4K x", "4KK", "4.5M",
		"64M\n\n",
	};
	u64 size = 77;
	int i;

	for (i = 0; i < ARRAY_SIZE(texts); i++)
		KUNIT_EXPECT_EQ_MSG(test, vrfm_parse_size(texts[i], &size),
				    -EINVAL, "%s", texts[i]);
	KUNIT_EXPECT_EQ(test, size, 77ULL);
}

static void sizes_have_limits(struct kunit *test)
{
	static const char * const texts[] = {
		"0", "1", "4095", "4097", "6K", "2097153K", "2147483649", "3G",
		"4G", "0xFFFFFFFFFFFFFFFF", "17179869184G",
	};
	u64 size = 77;
	int i;

	for (i = 0; i < ARRAY_SIZE(texts); i++)
		KUNIT_EXPECT_EQ_MSG(test, vrfm_parse_size(texts[i], &size),
				    -ERANGE, "%s", texts[i]);
	KUNIT_EXPECT_EQ(test, size, 77ULL);
}

static void units_are_those_of_the_names(struct kunit *test)
{
	unsigned int unit = 9;

	KUNIT_EXPECT_EQ(test, vrfm_parse_unit("rfm2g0", &unit), 0);
	KUNIT_EXPECT_EQ(test, unit, 0U);
	KUNIT_EXPECT_EQ(test, vrfm_parse_unit("rfm2g7", &unit), 0);
	KUNIT_EXPECT_EQ(test, unit, 7U);
}

static void other_names_are_no_device(struct kunit *test)
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

static struct kunit_case vrfm_opts_cases[] = {
	KUNIT_CASE(sizes_take_suffixes),
	KUNIT_CASE(what_is_no_number_is_no_size),
	KUNIT_CASE(sizes_have_limits),
	KUNIT_CASE(units_are_those_of_the_names),
	KUNIT_CASE(other_names_are_no_device),
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
