// SPDX-License-Identifier: GPL-2.0
/* Test krping's command line: grammar, ranges, defaults. */
#include "../../krping/opts.c"

#include <kunit/test.h>
#include <linux/module.h>

/* The mandatory options of a client and a server. */
#define CLIENT "client,addr=10.0.0.1,port=9999"
#define SERVER "server"

static int parse(const char *command, struct krping_opts *opts)
{
	char text[512];

	if (strscpy(text, command, sizeof(text)) < 0)
		return -E2BIG;
	return krping_opts_parse(text, opts);
}

static void krping_opts_defaults_are_documented(struct kunit *test)
{
	struct krping_opts opts;

	KUNIT_ASSERT_EQ(test, parse(SERVER, &opts), 0);
	KUNIT_EXPECT_EQ(test, opts.role, KRPING_ROLE_SERVER);
	KUNIT_EXPECT_EQ(test, opts.family, AF_UNSPEC);
	KUNIT_EXPECT_STREQ(test, opts.addr, "");
	KUNIT_EXPECT_EQ(test, opts.port, 0);
	KUNIT_EXPECT_EQ(test, opts.count, 0);
	KUNIT_EXPECT_EQ(test, opts.size, 64);
	KUNIT_EXPECT_EQ(test, opts.verify, KRPING_VERIFY_NONE);
	KUNIT_EXPECT_FALSE(test, opts.verbose);
}

static void krping_opts_every_option_is_parsed(struct kunit *test)
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
	KUNIT_EXPECT_EQ(test, opts.verify, KRPING_VERIFY_MEMCMP);
	KUNIT_EXPECT_TRUE(test, opts.verbose);
}

static void krping_opts_of_messages_are_parsed(struct kunit *test)
{
	static const char command[] =
		CLIENT ",mlat,security=auth,key=krping:a,validate,samples=5,max_p99=9";
	struct krping_opts opts;

	KUNIT_ASSERT_EQ(test, parse(command, &opts), 0);
	KUNIT_EXPECT_EQ(test, opts.test, KRPING_TEST_MLAT);
	KUNIT_EXPECT_EQ(test, opts.security, 1);
	KUNIT_EXPECT_STREQ(test, krping_security_name(opts.security), "auth");
	KUNIT_EXPECT_STREQ(test, opts.key, "krping:a");
	KUNIT_EXPECT_EQ(test, opts.verify, KRPING_VERIFY_CRC);
	KUNIT_ASSERT_EQ(test, parse(SERVER ",mbw,security=encrypt,key=krping:a",
				    &opts), 0);
	KUNIT_EXPECT_EQ(test, opts.test, KRPING_TEST_MBW);
	KUNIT_EXPECT_EQ(test, opts.security, 3);
	KUNIT_ASSERT_EQ(test, parse(SERVER ",mbw,security=none", &opts), 0);
	KUNIT_EXPECT_STREQ(test, krping_security_name(opts.security), "none");
	KUNIT_EXPECT_STREQ(test, krping_security_name(4), "unknown");
}

static void krping_opts_of_messages_are_checked(struct kunit *test)
{
	static const char *const commands[] = {
		SERVER ",security=auth,key=k:a", SERVER ",slat,key=k:a",
		SERVER ",mlat,security=auth", SERVER ",mlat,key=k:a",
		SERVER ",mlat,security=all,key=k:a", SERVER ",mlat,compat",
		SERVER ",mlat,security=auth,key=", SERVER ",mlat,mbw",
		CLIENT ",mbw,poll", CLIENT ",mbw,srq", CLIENT ",mbw,duplex",
		CLIENT ",mbw,imm", CLIENT ",mbw,inline=1", CLIENT ",mbw,cq_mod=2",
		CLIENT ",mbw,threads=1", CLIENT ",mbw,fault=kill:1",
		CLIENT ",mbw,max_lat=1", CLIENT ",mbw,samples=1",
		CLIENT ",mlat,validate,size=4", CLIENT ",mlat,validate,sweep=4-8",
	};
	struct krping_opts opts;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(commands); i++)
		KUNIT_EXPECT_EQ_MSG(test, parse(commands[i], &opts), -EINVAL,
				    "%s", commands[i]);
	KUNIT_EXPECT_EQ(test, parse(CLIENT ",mlat,validate,size=5", &opts), 0);
}

static void krping_opts_of_verbs_are_parsed(struct kunit *test)
{
	const char *command =
		CLIENT ",server_inv,read_inv,local_dma_lkey,srq,poll,duplex";
	struct krping_opts opts;

	KUNIT_ASSERT_EQ(test, parse(command, &opts), 0);
	KUNIT_EXPECT_TRUE(test, opts.server_inv);
	KUNIT_EXPECT_TRUE(test, opts.read_inv);
	KUNIT_EXPECT_TRUE(test, opts.local_dma_lkey);
	KUNIT_EXPECT_TRUE(test, opts.srq);
	KUNIT_EXPECT_TRUE(test, opts.poll);
	KUNIT_EXPECT_TRUE(test, opts.duplex);
	KUNIT_ASSERT_EQ(test, parse(CLIENT ",txdepth=7,tos=255,from=32",
				    &opts), 0);
	KUNIT_EXPECT_EQ(test, opts.txdepth, 7);
	KUNIT_EXPECT_EQ(test, opts.tos, 255);
	KUNIT_EXPECT_EQ(test, opts.from, 32);
}

static void krping_opts_of_verbs_are_off(struct kunit *test)
{
	struct krping_opts opts;

	KUNIT_ASSERT_EQ(test, parse(SERVER, &opts), 0);
	KUNIT_EXPECT_EQ(test, opts.test, KRPING_TEST_PING);
	KUNIT_EXPECT_EQ(test, opts.mem_mode, KRPING_MEM_REG);
	KUNIT_EXPECT_FALSE(test, opts.server_inv);
	KUNIT_EXPECT_FALSE(test, opts.read_inv);
	KUNIT_EXPECT_FALSE(test, opts.local_dma_lkey);
	KUNIT_EXPECT_FALSE(test, opts.srq);
	KUNIT_EXPECT_FALSE(test, opts.poll);
	KUNIT_EXPECT_FALSE(test, opts.duplex);
	KUNIT_EXPECT_EQ(test, opts.txdepth, 64);
	KUNIT_EXPECT_EQ(test, opts.tos, 0);
	KUNIT_EXPECT_EQ(test, opts.from, 0);
	KUNIT_EXPECT_EQ(test, opts.nsec, 0);
}

struct word_case {
	const char *text;
	u32 test;
	u32 mem_mode;
};

static const struct word_case word_cases[] = {
	{ "fr", KRPING_TEST_FR },
	{ "frtest", KRPING_TEST_FR },
	{ "wlat", KRPING_TEST_WLAT },
	{ "rlat", KRPING_TEST_RLAT },
	{ "bw", KRPING_TEST_BW },
	{ "slat", KRPING_TEST_SLAT },
	{ "sbw", KRPING_TEST_SBW },
	{ "rbw", KRPING_TEST_RBW },
	{ "atomic=cas", KRPING_TEST_ATOMIC },
	{ "atomic=fadd", KRPING_TEST_ATOMIC },
	{ "mem_mode=reg", 0, KRPING_MEM_REG },
	{ "mem_mode=fastreg", 0, KRPING_MEM_REG },
	{ "mem_mode=dma", 0, KRPING_MEM_DMA },
	{ "mem_mode=mr", 0, KRPING_MEM_ONCE },
	{ "mem_mode=mw", 0, KRPING_MEM_ONCE },
	{ "mem_mode=mrs", 0, KRPING_MEM_ONCE },
};

static void word_case_name(const struct word_case *c, char *name)
{
	strscpy(name, c->text, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(word, word_cases, word_case_name);

static void krping_opts_words_are_parsed(struct kunit *test)
{
	const struct word_case *c = test->param_value;
	struct krping_opts opts;
	char text[64];

	snprintf(text, sizeof(text), CLIENT ",%s", c->text);
	KUNIT_ASSERT_EQ(test, parse(text, &opts), 0);
	KUNIT_EXPECT_EQ(test, opts.test, c->test);
	KUNIT_EXPECT_EQ(test, opts.mem_mode, c->mem_mode);
}

static void krping_opts_verify_is_parsed(struct kunit *test)
{
	struct krping_opts opts;

	KUNIT_ASSERT_EQ(test, parse(CLIENT ",verify=crc", &opts), 0);
	KUNIT_EXPECT_EQ(test, opts.verify, KRPING_VERIFY_CRC);
	KUNIT_EXPECT_FALSE(test, opts.compat);
	KUNIT_ASSERT_EQ(test, parse(CLIENT ",verify=memcmp,compat", &opts), 0);
	KUNIT_EXPECT_EQ(test, opts.verify, KRPING_VERIFY_MEMCMP);
	KUNIT_EXPECT_TRUE(test, opts.compat);
	KUNIT_ASSERT_EQ(test, parse(SERVER ",verify=crc", &opts), 0);
	KUNIT_EXPECT_EQ(test, opts.verify, KRPING_VERIFY_CRC);

	KUNIT_ASSERT_EQ(test, parse(CLIENT ",validate,verify=none", &opts), 0);
	KUNIT_EXPECT_EQ(test, opts.verify, KRPING_VERIFY_NONE);
}

static void krping_opts_validate_is_crc_except_for_pings(struct kunit *test)
{
	static const char * const tests[] = { "wlat", "rlat", "bw", "rbw" };
	struct krping_opts opts;
	char text[64];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tests); i++) {
		snprintf(text, sizeof(text), CLIENT ",%s,validate", tests[i]);
		KUNIT_ASSERT_EQ(test, parse(text, &opts), 0);
		KUNIT_EXPECT_EQ(test, opts.verify, KRPING_VERIFY_CRC);
	}
	KUNIT_ASSERT_EQ(test, parse(CLIENT ",validate", &opts), 0);
	KUNIT_EXPECT_EQ(test, opts.verify, KRPING_VERIFY_MEMCMP);
}

static void krping_opts_of_runs_are_parsed(struct kunit *test)
{
	struct krping_opts opts;

	KUNIT_ASSERT_EQ(test, parse(SERVER ",bg,accept=0,max_conns=9", &opts),
			0);
	KUNIT_EXPECT_TRUE(test, opts.bg);
	KUNIT_EXPECT_EQ(test, opts.accept, 0);
	KUNIT_EXPECT_EQ(test, opts.max_conns, 9);
	KUNIT_ASSERT_EQ(test,
			parse(CLIENT ",timeout=1,conn_timeout=2,idle_timeout=3",
			      &opts), 0);
	KUNIT_EXPECT_EQ(test, opts.timeout_ms, 1);
	KUNIT_EXPECT_EQ(test, opts.conn_timeout_ms, 2);
	KUNIT_EXPECT_EQ(test, opts.idle_timeout_ms, 3);
	KUNIT_ASSERT_EQ(test, parse(CLIENT ",src=10.0.0.2,dev=rxe0,netns=0",
				    &opts), 0);
	KUNIT_EXPECT_STREQ(test, opts.src, "10.0.0.2");
	KUNIT_EXPECT_STREQ(test, opts.dev, "rxe0");
	KUNIT_EXPECT_EQ(test, opts.netns, 1);
	KUNIT_EXPECT_EQ(test, opts.vector, 0);
	KUNIT_ASSERT_EQ(test, parse(CLIENT ",vector=0,qps=64", &opts), 0);
	KUNIT_EXPECT_EQ(test, opts.netns, 0);
	KUNIT_EXPECT_EQ(test, opts.vector, 1);
	KUNIT_EXPECT_EQ(test, opts.qps, 64);
	KUNIT_ASSERT_EQ(test, parse(CLIENT ",cpu=0,qps=3,threads=3", &opts), 0);
	KUNIT_EXPECT_EQ(test, opts.cpu, 1);
	KUNIT_EXPECT_EQ(test, opts.threads, 3);
	KUNIT_ASSERT_EQ(test, parse(SERVER ",max_conns=2,threads=2", &opts), 0);
	KUNIT_EXPECT_EQ(test, opts.threads, 2);
}

static void krping_opts_of_runs_have_defaults(struct kunit *test)
{
	struct krping_opts opts;

	KUNIT_ASSERT_EQ(test, parse(SERVER, &opts), 0);
	KUNIT_EXPECT_FALSE(test, opts.bg);
	KUNIT_EXPECT_EQ(test, opts.accept, 1);
	KUNIT_EXPECT_EQ(test, opts.max_conns, 64);
	KUNIT_EXPECT_EQ(test, opts.qps, 1);
	KUNIT_EXPECT_EQ(test, opts.threads, 0);
	KUNIT_EXPECT_EQ(test, opts.cpu, 0);
	KUNIT_EXPECT_EQ(test, opts.timeout_ms, 0);
	KUNIT_EXPECT_EQ(test, opts.conn_timeout_ms, 10000);
	KUNIT_EXPECT_EQ(test, opts.idle_timeout_ms, 30000);
	KUNIT_EXPECT_EQ(test, opts.cq_mod, 1);
	KUNIT_EXPECT_EQ(test, opts.inline_len, 0);
	KUNIT_EXPECT_EQ(test, opts.control, KRPING_CONTROL_NONE);
	KUNIT_EXPECT_EQ(test, opts.fault, KRPING_FAULT_NONE);
}

static void krping_opts_of_measurements_are_parsed(struct kunit *test)
{
	struct krping_opts opts;

	KUNIT_ASSERT_EQ(test, parse(CLIENT ",sweep=64-4096,duration=7", &opts),
			0);
	KUNIT_EXPECT_EQ(test, opts.from, 64);
	KUNIT_EXPECT_EQ(test, opts.size, 4096);
	KUNIT_EXPECT_EQ(test, opts.duration_s, 7);
	KUNIT_ASSERT_EQ(test, parse(CLIENT ",min_bw=1,max_lat=2,max_p99=3",
				    &opts), 0);
	KUNIT_EXPECT_EQ(test, opts.min_bw, 1);
	KUNIT_EXPECT_EQ(test, opts.max_lat_us, 2);
	KUNIT_EXPECT_EQ(test, opts.max_p99_us, 3);
	KUNIT_ASSERT_EQ(test, parse(CLIENT ",rlat,warmup=4,samples=1000000",
				    &opts), 0);
	KUNIT_EXPECT_EQ(test, opts.warmup, 4);
	KUNIT_EXPECT_EQ(test, opts.samples, 1000000);
	KUNIT_ASSERT_EQ(test, parse(CLIENT ",bw,imm,inline=8,cq_mod=9", &opts),
			0);
	KUNIT_EXPECT_TRUE(test, opts.imm);
	KUNIT_EXPECT_EQ(test, opts.inline_len, 8);
	KUNIT_EXPECT_EQ(test, opts.cq_mod, 9);
	KUNIT_ASSERT_EQ(test, parse(CLIENT ",atomic=fadd,fault=delay:5", &opts),
			0);
	KUNIT_EXPECT_EQ(test, opts.test, KRPING_TEST_ATOMIC);
	KUNIT_EXPECT_EQ(test, opts.atomic, KRPING_ATOMIC_FADD);
	KUNIT_EXPECT_EQ(test, opts.fault, KRPING_FAULT_DELAY);
	KUNIT_EXPECT_EQ(test, opts.fault_n, 5);
}

static void krping_opts_control_commands_are_parsed(struct kunit *test)
{
	struct krping_opts opts;

	KUNIT_ASSERT_EQ(test, parse("list", &opts), 0);
	KUNIT_EXPECT_EQ(test, opts.control, KRPING_CONTROL_LIST);
	KUNIT_ASSERT_EQ(test, parse("stop=7", &opts), 0);
	KUNIT_EXPECT_EQ(test, opts.control, KRPING_CONTROL_STOP);
	KUNIT_EXPECT_EQ(test, opts.stop_id, 7);
	KUNIT_ASSERT_EQ(test, parse("stop=all", &opts), 0);
	KUNIT_EXPECT_EQ(test, opts.control, KRPING_CONTROL_STOP);
	KUNIT_EXPECT_EQ(test, opts.stop_id, 0);
}

static void krping_test_has_a_name(struct kunit *test)
{
	u32 i;

	for (i = 0; i < KRPING_TESTS; i++)
		KUNIT_EXPECT_NOT_NULL(test, krping_test_name(i));
	KUNIT_EXPECT_STREQ(test, krping_test_name(KRPING_TEST_PING), "ping");
	KUNIT_EXPECT_STREQ(test, krping_test_name(KRPING_TESTS), "unknown");
}

static void krping_opts_flags_take_no_value(struct kunit *test)
{
	struct krping_opts opts;

	KUNIT_ASSERT_EQ(test, parse(CLIENT ",validate", &opts), 0);
	KUNIT_EXPECT_EQ(test, opts.verify, KRPING_VERIFY_MEMCMP);
	KUNIT_EXPECT_FALSE(test, opts.verbose);
	KUNIT_ASSERT_EQ(test, parse(SERVER ",verbose", &opts), 0);
	KUNIT_EXPECT_EQ(test, opts.verify, KRPING_VERIFY_NONE);
	KUNIT_EXPECT_TRUE(test, opts.verbose);
}

static void krping_opts_iters_is_count(struct kunit *test)
{
	struct krping_opts opts;

	KUNIT_ASSERT_EQ(test, parse(CLIENT ",iters=7", &opts), 0);
	KUNIT_EXPECT_EQ(test, opts.count, 7);
}

static void krping_opts_aliases_are_parsed(struct kunit *test)
{
	struct krping_opts opts;

	KUNIT_ASSERT_EQ(test, parse(CLIENT ",tx-depth=9,debug,logfmt=nsec",
				    &opts), 0);
	KUNIT_EXPECT_EQ(test, opts.txdepth, 9);
	KUNIT_EXPECT_TRUE(test, opts.verbose);
	KUNIT_EXPECT_EQ(test, opts.nsec, 1);
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

static void krping_opts_longest_address_is_accepted(struct kunit *test)
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
	{ "count=0", 0 },
	{ "count=4294967295", U32_MAX },
};

static void number_case_name(const struct number_case *c, char *name)
{
	strscpy(name, c->text, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(number, number_cases, number_case_name);

static void krping_opts_numbers_are_parsed(struct kunit *test)
{
	const struct number_case *c = test->param_value;
	struct krping_opts opts;
	char text[64];

	snprintf(text, sizeof(text), CLIENT ",%s", c->text);
	KUNIT_ASSERT_EQ(test, parse(text, &opts), 0);
	KUNIT_EXPECT_EQ(test, opts.count, c->value);
}

static void krping_opts_limits_of_ranges_are_accepted(struct kunit *test)
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
	/* refused: no role, or an option that the role needs is missing */
	"",
	",",
	"size=64",
	"client",
	"client,port=9999",
	"client,addr=10.0.0.1",
	"client,addr=10.0.0.1,port=0",
	/* refused: unknown names */
	"server,nonsense",
	"server,nonsense=1",
	"server, verbose",
	"server,verbose ",
	"Server",
	"server,siz=64",
	"server,sizes=64",
	"server,=64",
	"server,=",
	/* refused: a keyword with a value, or another option without a value */
	"server=",
	"server=1",
	"server,validate=1",
	"server,verbose=",
	"server,size",
	"server,addr",
	"server,addr6",
	CLIENT ",count",
	/* refused: invalid numbers */
	"server,size=-1",
	"server,size=+1",
	"server,size= 1",
	"server,size=1 ",
	"server,size=0x",
	"server,size=0100",
	"server,port=09",
	"server,count=00",
	"server,sweep=1-010",
	"stop=01",
	"server,size=08",
	"server,size=64k",
	"server,size=one",
	CLIENT ",count=-1",
	CLIENT ",count=+1",
	/* refused: numbers out of range */
	"server,size=0",
	"server,size=",
	"server,size=131073",
	"server,size=18446744073709551616",
	"server,port=65536",
	"server,port=70000",
	"server,port=4294967296",
	CLIENT ",count=4294967296",
	CLIENT ",count=99999999999999999999",
	/* refused: empty addresses */
	"server,addr=",
	"server,addr6=",
	/* refused: an invalid option, although valid options follow */
	"nonsense," SERVER,
	"size=0,size=64," SERVER,
	/* refused: invalid words as values */
	SERVER ",mem_mode=",
	SERVER ",mem_mode=r",
	SERVER ",mem_mode=fast",
	SERVER ",mem_mode=DMA",
	SERVER ",verify=",
	SERVER ",verify=crc32",
	SERVER ",compat=1",
	SERVER ",logfmt=sec",
	SERVER ",logfmt=nsecs",
	/* refused: several tests, or a test that the role does not have */
	SERVER ",fr",
	CLIENT ",fr,bw",
	CLIENT ",fr,frtest",
	SERVER ",bw,bw",
	SERVER ",wlat,rlat",
	/* refused: invalid values of options for tests */
	SERVER ",txdepth=0",
	SERVER ",txdepth=16385",
	SERVER ",tx-depth=",
	CLIENT ",tos=256",
	CLIENT ",tos=-1",
	CLIENT ",from=0",
	CLIENT ",from=65,size=64",
	CLIENT ",sweep=64",
	CLIENT ",sweep=",
	CLIENT ",sweep=0-64",
	CLIENT ",sweep=64-131073",
	CLIENT ",sweep=65-64",
	CLIENT ",sweep=1-2-3",
	CLIENT ",sweep=-1-2",
	CLIENT ",duration=86401",
	CLIENT ",qps=0",
	CLIENT ",qps=65",
	SERVER ",max_conns=0",
	SERVER ",max_conns=257",
	SERVER ",timeout=86400001",
	SERVER ",conn_timeout=3600001",
	CLIENT ",cq_mod=0",
	CLIENT ",inline=4097",
	CLIENT ",threads=0",
	CLIENT ",threads=2",
	CLIENT ",qps=4,threads=5",
	SERVER ",max_conns=4,threads=5",
	SERVER ",max_conns=256,threads=257",
	CLIENT ",cpu=65536",
	CLIENT ",cpu=-1",
	CLIENT ",vector=65536",
	CLIENT ",netns=2147483647",
	CLIENT ",netns=-1",
	CLIENT ",src=",
	CLIENT ",dev=",
	SERVER ",src=10.0.0.1",
	/* refused: invalid faults, and invalid stop and list */
	CLIENT ",fault=kill",
	CLIENT ",fault=:1",
	CLIENT ",fault=die:1",
	CLIENT ",fault=drop:2147483648",
	"stop=0",
	"stop=-1",
	"stop=some",
	"stop",
	"list=1",
	/* refused: options that exclude each other */
	CLIENT ",atomic=add",
	CLIENT ",atomic=cas,rlat",
	CLIENT ",atomic=cas,size=7",
	CLIENT ",atomic=cas,sweep=8-16",
	CLIENT ",imm",
	CLIENT ",imm,rlat",
	CLIENT ",imm,bw,duplex",
	CLIENT ",compat,slat",
	CLIENT ",compat,bw,imm",
	CLIENT ",slat,duration=1,sweep=1-2",
	CLIENT ",fr,sweep=1-2",
	/* refused: a limit for a value that the test does not measure */
	CLIENT ",bw,max_p99=1",
	CLIENT ",bw,max_lat=1",
	CLIENT ",sbw,max_lat=1",
	CLIENT ",rbw,max_p99=1",
	CLIENT ",fr,max_lat=1",
	CLIENT ",fr,min_bw=1",
	SERVER ",rlat,max_p99=1",
	SERVER ",max_lat=1",
	SERVER ",bw,min_bw=1",
	/*
	 * refused: an option to check data, although the test sends no data to
	 * check
	 */
	CLIENT ",fr,validate",
	CLIENT ",sbw,validate",
	CLIENT ",slat,verify=crc",
	CLIENT ",atomic=cas,verify=memcmp",
	SERVER ",sbw,validate",
	SERVER ",validate",
	SERVER ",verify=memcmp",
	SERVER ",compat,verify=crc",
	CLIENT ",compat,bw,validate",
	/*
	 * refused: samples or warmup for a role or test that does not have
	 * them, or too many samples
	 */
	SERVER ",warmup=1",
	SERVER ",samples=1",
	CLIENT ",bw,samples=1",
	CLIENT ",samples=1000001",
	CLIENT ",fr,warmup=1",
	CLIENT ",compat,wlat,warmup=1",
	/*
	 * refused: server_inv or read_inv in a mem_mode that invalidates no
	 * keys
	 */
	CLIENT ",mem_mode=mr,server_inv",
	SERVER ",read_inv,mem_mode=mw",
};

static void bad_command_name(const char * const *command, char *name)
{
	snprintf(name, KUNIT_PARAM_DESC_SIZE, "\"%s\"", *command);
}

KUNIT_ARRAY_PARAM(bad_command, bad_commands, bad_command_name);

static void krping_opts_invalid_is_refused(struct kunit *test)
{
	const char * const *command = test->param_value;
	struct krping_opts opts;

	KUNIT_EXPECT_EQ(test, parse(*command, &opts), -EINVAL);
}

static void krping_opts_each_line_is_a_command(struct kunit *test)
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
	KUNIT_CASE(krping_opts_defaults_are_documented),
	KUNIT_CASE(krping_opts_every_option_is_parsed),
	KUNIT_CASE(krping_opts_of_messages_are_parsed),
	KUNIT_CASE(krping_opts_of_messages_are_checked),
	KUNIT_CASE(krping_opts_of_verbs_are_parsed),
	KUNIT_CASE(krping_opts_of_runs_are_parsed),
	KUNIT_CASE(krping_opts_of_runs_have_defaults),
	KUNIT_CASE(krping_opts_of_measurements_are_parsed),
	KUNIT_CASE(krping_opts_control_commands_are_parsed),
	KUNIT_CASE(krping_test_has_a_name),
	KUNIT_CASE(krping_opts_verify_is_parsed),
	KUNIT_CASE(krping_opts_validate_is_crc_except_for_pings),
	KUNIT_CASE(krping_opts_of_verbs_are_off),
	KUNIT_CASE_PARAM(krping_opts_words_are_parsed, word_gen_params),
	KUNIT_CASE(krping_opts_flags_take_no_value),
	KUNIT_CASE(krping_opts_iters_is_count),
	KUNIT_CASE(krping_opts_aliases_are_parsed),
	KUNIT_CASE(krping_opts_empty_tokens_are_skipped),
	KUNIT_CASE(krping_opts_last_role_wins),
	KUNIT_CASE(krping_opts_last_number_wins),
	KUNIT_CASE(krping_opts_last_address_wins),
	KUNIT_CASE(krping_opts_scope_is_kept),
	KUNIT_CASE(krping_opts_first_equals_sign_splits),
	KUNIT_CASE(krping_opts_longest_address_is_accepted),
	KUNIT_CASE_PARAM(krping_opts_numbers_are_parsed, number_gen_params),
	KUNIT_CASE(krping_opts_limits_of_ranges_are_accepted),
	KUNIT_CASE_PARAM(krping_opts_invalid_is_refused, bad_command_gen_params),
	KUNIT_CASE(krping_opts_each_line_is_a_command),
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
