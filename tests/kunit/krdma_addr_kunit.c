// SPDX-License-Identifier: GPL-2.0
/* Test the conversion of host and port, as text, to socket addresses. */
#include <kunit/test.h>
#include <linux/in.h>
#include <linux/in6.h>

#include "../../krdma/addr.c"

struct krdma_addr_good {
	const char *host;
	const char *port;
	const char *printed;
};

static const struct krdma_addr_good krdma_addr_good[] = {
	{ "10.56.0.1", "7174", "10.56.0.1:7174" },
	{ "255.255.255.255", "65535", "255.255.255.255:65535" },
	{ "0.0.0.0", "0", "0.0.0.0:0" },
	{ NULL, "1", "0.0.0.0:1" },
	{ "", "1", "0.0.0.0:1" },
	{ "10.56.0.1", NULL, "10.56.0.1:0" },
	{ "10.56.0.1", "", "10.56.0.1:0" },
	{ NULL, NULL, "0.0.0.0:0" },
	{ "fd56::1", "7174", "[fd56::1]:7174" },
	{ "::", "0", "[::]:0" },
	{ "::1", "65535", "[::1]:65535" },
	{ "fd56:0:0:0:0:0:0:1", "1", "[fd56::1]:1" },
	{ "::ffff:10.56.0.1", "1", "[::ffff:10.56.0.1]:1" },
};

static void krdma_addr_good_desc(const struct krdma_addr_good *good, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s port %s",
		 good->host ?: "NULL", good->port ?: "NULL");
}

KUNIT_ARRAY_PARAM(krdma_addr_good, krdma_addr_good, krdma_addr_good_desc);

static void parse_addr_accepts_valid(struct kunit *test)
{
	const struct krdma_addr_good *good = test->param_value;
	struct sockaddr_storage addr;
	char printed[64];

	KUNIT_ASSERT_EQ(test, krdma_parse_addr(NULL, good->host, good->port,
					       &addr), 0);
	snprintf(printed, sizeof(printed), "%pISpc", &addr);
	KUNIT_EXPECT_STREQ(test, printed, good->printed);
}

struct krdma_addr_bad {
	const char *host;
	const char *port;
};

static const struct krdma_addr_bad krdma_addr_bad[] = {
	{ "10.56.0", "1" },
	{ "10.56.0.256", "1" },
	{ "10.56.0.1.1", "1" },
	{ "10.56.0.1 ", "1" },
	{ " 10.56.0.1", "1" },
	{ "10.56.0.1:7174", "1" },
	{ "host.example.org", "1" },
	{ "fd56::1::2", "1" },
	{ "fd56:1", "1" },
	{ "[fd56::1]", "1" },
	{ "fe80::1%", "1" },
	{ "fe80::1%nosuchdev", "1" },
	{ "10.56.0.1%lo", "1" },
	{ "10.56.0.1", "65536" },
	{ "10.56.0.1", "-1" },
	{ "10.56.0.1", "0x10" },
	{ "10.56.0.1", "80 " },
	{ "10.56.0.1", "http" },
	{ "10.56.0.1", "99999999999999999999" },
};

static void krdma_addr_bad_desc(const struct krdma_addr_bad *bad, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s port %s", bad->host,
		 bad->port);
}

KUNIT_ARRAY_PARAM(krdma_addr_bad, krdma_addr_bad, krdma_addr_bad_desc);

static void parse_addr_invalid_leaves_result(struct kunit *test)
{
	const struct krdma_addr_bad *bad = test->param_value;
	struct sockaddr_storage addr, before;

	memset(&addr, 0x5a, sizeof(addr));
	before = addr;
	KUNIT_EXPECT_EQ(test, krdma_parse_addr(NULL, bad->host, bad->port,
					       &addr), -EINVAL);
	KUNIT_EXPECT_EQ(test, memcmp(&addr, &before, sizeof(addr)), 0);
}

static void parse_addr_accepts_numeric_scope(struct kunit *test)
{
	struct sockaddr_storage addr;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&addr;

	/*
	 * Interface number 1 is the loopback device of every network namespace.
	 */
	KUNIT_ASSERT_EQ(test, krdma_parse_addr(NULL, "fe80::1%1", "5", &addr),
			0);
	KUNIT_EXPECT_EQ(test, in6->sin6_scope_id, 1U);
	KUNIT_EXPECT_EQ(test, ntohs(in6->sin6_port), 5);
}

static void parse_addr_accepts_interface_scope(struct kunit *test)
{
	struct sockaddr_storage addr;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&addr;

	KUNIT_ASSERT_EQ(test, krdma_parse_addr(&init_net, "fe80::1%lo", "5",
					       &addr), 0);
	KUNIT_EXPECT_EQ(test, in6->sin6_scope_id, 1U);
}

struct krdma_addr_pair {
	const char *a;
	const char *b;
	bool same;
};

static const struct krdma_addr_pair krdma_addr_pairs[] = {
	{ "10.56.0.1", "10.56.0.1", true },
	{ "10.56.0.1", "10.56.0.2", false },
	{ "fd56::1", "fd56::1", true },
	{ "fd56::1", "fd57::1", false },
	{ "fd56::1", "fd56::2", false },
	{ "fe80::1%1", "fe80::1%1", true },
	{ "fe80::1%1", "fe80::1%2", false },
	{ "10.56.0.1", "::ffff:10.56.0.1", false },
	{ "0.0.0.0", "::", false },
};

static void krdma_addr_pair_desc(const struct krdma_addr_pair *pair, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s and %s", pair->a, pair->b);
}

KUNIT_ARRAY_PARAM(krdma_addr_pair, krdma_addr_pairs, krdma_addr_pair_desc);

static void same_host_ignores_ports(struct kunit *test)
{
	const struct krdma_addr_pair *pair = test->param_value;
	struct sockaddr_storage a, b;

	KUNIT_ASSERT_EQ(test, krdma_parse_addr(NULL, pair->a, "1", &a), 0);
	KUNIT_ASSERT_EQ(test, krdma_parse_addr(NULL, pair->b, "2", &b), 0);
	KUNIT_EXPECT_EQ(test, krdma_addr_same_host(&a, &b), pair->same);
	KUNIT_EXPECT_EQ(test, krdma_addr_same_host(&b, &a), pair->same);
	KUNIT_EXPECT_EQ(test, ntohs(krdma_addr_port(&a)), 1);
	KUNIT_EXPECT_EQ(test, ntohs(krdma_addr_port(&b)), 2);
}

static struct kunit_case krdma_addr_cases[] = {
	KUNIT_CASE_PARAM(parse_addr_accepts_valid,
			 krdma_addr_good_gen_params),
	KUNIT_CASE_PARAM(parse_addr_invalid_leaves_result,
			 krdma_addr_bad_gen_params),
	KUNIT_CASE(parse_addr_accepts_numeric_scope),
	KUNIT_CASE(parse_addr_accepts_interface_scope),
	KUNIT_CASE_PARAM(same_host_ignores_ports,
			 krdma_addr_pair_gen_params),
	{}
};

static struct kunit_suite krdma_addr_suite = {
	.name = "krdma_addr",
	.test_cases = krdma_addr_cases,
};

kunit_test_suite(krdma_addr_suite);

MODULE_AUTHOR("The krdma developers");
MODULE_DESCRIPTION("KUnit tests of krdma's address parser");
MODULE_LICENSE("GPL");
