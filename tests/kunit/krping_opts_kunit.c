// SPDX-License-Identifier: GPL-2.0
/* krping's command line: grammar, ranges, defaults. */
#include "../../krping/opts.c"

#include <kunit/test.h>
#include <linux/module.h>

/* What a client and a server cannot do without. */
#define CLIENT "client,addr=10.0.0.1,port=9999"
#define SERVER "server"

static int parse(const char *command, struct krping_opts *opts)
{
	char text[512];

	if (strscpy(text, command, sizeof(text)) < 0)
		return -E2BIG;
	return krping_opts_parse(text, opts);
}

static void krping_opts_defaults(struct kunit *test)
{
	struct krping_opts opts;

	KUNIT_ASSERT_EQ(test, parse(SERVER, &opts), 0);
	KUNIT_EXPECT_EQ(test, opts.role, KRPING_ROLE_SERVER);
	KUNIT_EXPECT_EQ(test, opts.family, AF_UNSPEC);
	KUNIT_EXPECT_STREQ(test, opts.addr, "");
	KUNIT_EXPECT_EQ(test, opts.port, 0);
	KUNIT_EXPECT_EQ(test, opts.count, 0);
	KUNIT_EXPECT_EQ(test, opts.size, 64);
	KUNIT_EXPECT_FALSE(test, opts.validate);
	KUNIT_EXPECT_FALSE(test, opts.verbose);
}

static void krping_opts_every_option(struct kunit *test)
{
	const char *command =
		"verbose,size=4096,client,count=100,validate,port=7174,addr=10.1.2.3";
	struct krping_opts opts;

	KUNIT_ASSERT_EQ(test, parse(command, &opts), 0);
	KUNIT_EXPECT_EQ(test, opts.role, KRPING_ROLE_CLIENT);
	KUNIT_EXPECT_EQ(test, opts.family, AF_INET);
	KUNIT_EXPECT_STREQ(test, opts.addr, "10.1.2.3");
	KUNIT_EXPECT_EQ(test, opts.port, 7174);
	KUNIT_EXPECT_EQ(test, opts.count, 100);
	KUNIT_EXPECT_EQ(test, opts.size, 4096);
	KUNIT_EXPECT_TRUE(test, opts.validate);
	KUNIT_EXPECT_TRUE(test, opts.verbose);
}

static void krping_opts_flags_stand_alone(struct kunit *test)
{
	struct krping_opts opts;

	KUNIT_ASSERT_EQ(test, parse(SERVER ",validate", &opts), 0);
	KUNIT_EXPECT_TRUE(test, opts.validate);
	KUNIT_EXPECT_FALSE(test, opts.verbose);
	KUNIT_ASSERT_EQ(test, parse(SERVER ",verbose", &opts), 0);
	KUNIT_EXPECT_FALSE(test, opts.validate);
	KUNIT_EXPECT_TRUE(test, opts.verbose);
}

static void krping_opts_iters_is_count(struct kunit *test)
{
	struct krping_opts opts;

	KUNIT_ASSERT_EQ(test, parse(CLIENT ",iters=7", &opts), 0);
	KUNIT_EXPECT_EQ(test, opts.count, 7);
}

static void krping_opts_empty_tokens_are_skipped(struct kunit *test)
{
	struct krping_opts opts;

	KUNIT_ASSERT_EQ(test, parse(",," SERVER ",,size=65,", &opts), 0);
	KUNIT_EXPECT_EQ(test, opts.size, 65);
}

static void krping_opts_last_role_wins(struct kunit *test)
{
	struct krping_opts opts;

	KUNIT_ASSERT_EQ(test, parse(CLIENT ",server", &opts), 0);
	KUNIT_EXPECT_EQ(test, opts.role, KRPING_ROLE_SERVER);
}

static void krping_opts_last_number_wins(struct kunit *test)
{
	struct krping_opts opts;

	KUNIT_ASSERT_EQ(test, parse(SERVER ",size=1,size=2", &opts), 0);
	KUNIT_EXPECT_EQ(test, opts.size, 2);
}

static void krping_opts_last_address_wins(struct kunit *test)
{
	struct krping_opts opts;

	KUNIT_ASSERT_EQ(test, parse("server,addr=10.0.0.1,addr6=fd56::1",
				    &opts), 0);
	KUNIT_EXPECT_EQ(test, opts.family, AF_INET6);
	KUNIT_EXPECT_STREQ(test, opts.addr, "fd56::1");
	KUNIT_ASSERT_EQ(test, parse("server,addr6=fd56::1,addr=10.0.0.1",
				    &opts), 0);
	KUNIT_EXPECT_EQ(test, opts.family, AF_INET);
	KUNIT_EXPECT_STREQ(test, opts.addr, "10.0.0.1");
}

static void krping_opts_scope_is_kept(struct kunit *test)
{
	struct krping_opts opts;

	KUNIT_ASSERT_EQ(test, parse("server,addr6=fe80::1%eth0", &opts), 0);
	KUNIT_EXPECT_STREQ(test, opts.addr, "fe80::1%eth0");
}

static void krping_opts_first_equals_sign_splits(struct kunit *test)
{
	struct krping_opts opts;

	KUNIT_ASSERT_EQ(test, parse("server,addr=a=b", &opts), 0);
	KUNIT_EXPECT_STREQ(test, opts.addr, "a=b");
}

static void krping_opts_longest_address(struct kunit *test)
{
	char text[16 + KRPING_ADDR_MAX + 1] = "server,addr=";
	struct krping_opts opts;
	size_t len = strlen(text);

	memset(text + len, '1', KRPING_ADDR_MAX - 1);
	KUNIT_ASSERT_EQ(test, parse(text, &opts), 0);
	KUNIT_EXPECT_EQ(test, strlen(opts.addr), (size_t)KRPING_ADDR_MAX - 1);

	text[len + KRPING_ADDR_MAX - 1] = '1';
	KUNIT_EXPECT_EQ(test, parse(text, &opts), -EINVAL);
}

struct number_case {
	const char *text;
	u32 value;
};

static const struct number_case number_cases[] = {
	{ "count=0", 0 },
	{ "count=", 0 },
	{ "count=12", 12 },
	{ "count=0x10", 16 },
	{ "count=0X1f", 31 },
	{ "count=0100", 64 },
	{ "count=4294967295", U32_MAX },
};

static void number_case_name(const struct number_case *c, char *name)
{
	strscpy(name, c->text, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(number, number_cases, number_case_name);

static void krping_opts_numbers(struct kunit *test)
{
	const struct number_case *c = test->param_value;
	struct krping_opts opts;
	char text[64];

	snprintf(text, sizeof(text), CLIENT ",%s", c->text);
	KUNIT_ASSERT_EQ(test, parse(text, &opts), 0);
	KUNIT_EXPECT_EQ(test, opts.count, c->value);
}

static void krping_opts_range_ends(struct kunit *test)
{
	struct krping_opts opts;

	KUNIT_ASSERT_EQ(test, parse(SERVER ",size=1,port=0", &opts), 0);
	KUNIT_EXPECT_EQ(test, opts.size, 1);
	KUNIT_ASSERT_EQ(test, parse(SERVER ",size=131072,port=65535", &opts),
			0);
	KUNIT_EXPECT_EQ(test, opts.size, 131072);
	KUNIT_EXPECT_EQ(test, opts.port, 65535);
}

static const char * const bad_commands[] = {
	/* neither side, or not enough of one */
	"",
	",",
	"size=64",
	"client",
	"client,port=9999",
	"client,addr=10.0.0.1",
	"client,addr=10.0.0.1,port=0",
	/* names */
	"server,nonsense",
	"server,nonsense=1",
	"server, verbose",
	"server,verbose ",
	"Server",
	"server,siz=64",
	"server,sizes=64",
	"server,=64",
	"server,=",
	/* keywords take no value, all others need one */
	"server=",
	"server=1",
	"server,validate=1",
	"server,verbose=",
	"server,size",
	"server,addr",
	"server,addr6",
	CLIENT ",count",
	/* numbers */
	"server,size=-1",
	"server,size=+1",
	"server,size= 1",
	"server,size=1 ",
	"server,size=0x",
	"server,size=08",
	"server,size=64k",
	"server,size=one",
	CLIENT ",count=-1",
	CLIENT ",count=+1",
	/* ranges */
	"server,size=0",
	"server,size=",
	"server,size=131073",
	"server,size=18446744073709551616",
	"server,port=65536",
	"server,port=70000",
	"server,port=4294967296",
	CLIENT ",count=4294967296",
	CLIENT ",count=99999999999999999999",
	/* addresses */
	"server,addr=",
	"server,addr6=",
	/* an error stays one, whatever follows */
	"nonsense," SERVER,
	"size=0,size=64," SERVER,
	/* options of other tests, which must not be taken for pings */
	SERVER ",wlat",
	SERVER ",rlat",
	SERVER ",bw",
	CLIENT ",fr",
	SERVER ",txdepth=64",
	SERVER ",mem_mode=dma",
};

static void bad_command_name(const char * const *command, char *name)
{
	snprintf(name, KUNIT_PARAM_DESC_SIZE, "\"%s\"", *command);
}

KUNIT_ARRAY_PARAM(bad_command, bad_commands, bad_command_name);

static void krping_opts_refused(struct kunit *test)
{
	const char * const *command = test->param_value;
	struct krping_opts opts;

	KUNIT_EXPECT_EQ(test, parse(*command, &opts), -EINVAL);
}

static void krping_opts_commands_are_lines(struct kunit *test)
{
	char buf[] = "one\ntwo\n\n\nthree", *text = buf;

	KUNIT_EXPECT_STREQ(test, krping_opts_next_command(&text), "one");
	KUNIT_EXPECT_STREQ(test, krping_opts_next_command(&text), "two");
	KUNIT_EXPECT_STREQ(test, krping_opts_next_command(&text), "three");
	KUNIT_EXPECT_NULL(test, krping_opts_next_command(&text));
	KUNIT_EXPECT_NULL(test, krping_opts_next_command(&text));
}

static void krping_opts_final_newline_is_optional(struct kunit *test)
{
	char with[] = "count=12\n", without[] = "count=12";
	char *text = with;

	KUNIT_EXPECT_STREQ(test, krping_opts_next_command(&text), "count=12");
	KUNIT_EXPECT_NULL(test, krping_opts_next_command(&text));
	text = without;
	KUNIT_EXPECT_STREQ(test, krping_opts_next_command(&text), "count=12");
	KUNIT_EXPECT_NULL(test, krping_opts_next_command(&text));
}

static void krping_opts_empty_text_has_no_command(struct kunit *test)
{
	char empty[] = "", newlines[] = "\n\n", *text = empty;

	KUNIT_EXPECT_NULL(test, krping_opts_next_command(&text));
	text = newlines;
	KUNIT_EXPECT_NULL(test, krping_opts_next_command(&text));
}

static struct kunit_case krping_opts_cases[] = {
	KUNIT_CASE(krping_opts_defaults),
	KUNIT_CASE(krping_opts_every_option),
	KUNIT_CASE(krping_opts_flags_stand_alone),
	KUNIT_CASE(krping_opts_iters_is_count),
	KUNIT_CASE(krping_opts_empty_tokens_are_skipped),
	KUNIT_CASE(krping_opts_last_role_wins),
	KUNIT_CASE(krping_opts_last_number_wins),
	KUNIT_CASE(krping_opts_last_address_wins),
	KUNIT_CASE(krping_opts_scope_is_kept),
	KUNIT_CASE(krping_opts_first_equals_sign_splits),
	KUNIT_CASE(krping_opts_longest_address),
	KUNIT_CASE_PARAM(krping_opts_numbers, number_gen_params),
	KUNIT_CASE(krping_opts_range_ends),
	KUNIT_CASE_PARAM(krping_opts_refused, bad_command_gen_params),
	KUNIT_CASE(krping_opts_commands_are_lines),
	KUNIT_CASE(krping_opts_final_newline_is_optional),
	KUNIT_CASE(krping_opts_empty_text_has_no_command),
	{}
};

static struct kunit_suite krping_opts_suite = {
	.name = "krping_opts",
	.test_cases = krping_opts_cases,
};

kunit_test_suite(krping_opts_suite);

MODULE_AUTHOR("The krdma developers");
MODULE_DESCRIPTION("Tests of krping's command line");
MODULE_LICENSE("GPL");
