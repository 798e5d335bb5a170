// SPDX-License-Identifier: GPL-2.0
/*
 * Parser for the command line of one test, with a table of options. A new
 * option is a row of the table and a member of struct krping_opts.
 *
 * The parser continues after an error, so that one attempt logs all errors.
 * Each line in the log names its option.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/ctype.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/stddef.h>
#include <linux/string.h>

#include "opts.h"

/* Maximum number of characters that a log line shows of a command's text. */
#define KRPING_LOG_MAX 64

/**
 * enum krping_opt_type - type of an option of a command
 * @KRPING_OPT_ROLE: "NAME" sets the role to the option's .value
 * @KRPING_OPT_FLAG: "NAME" sets the bool at .offset
 * @KRPING_OPT_CHOICE: "NAME" sets the u32 at .offset to .value
 * @KRPING_OPT_TEST: "NAME" sets the test to .value
 * @KRPING_OPT_NUMBER: "NAME=N" sets the u32 at .offset to N, which must be from
 *	.value to .max
 * @KRPING_OPT_WORD: "NAME=WORD" sets the u32 at .offset to the value of a word
 *	in .words
 * @KRPING_OPT_RANGE: "NAME=A-B" sets from to A and size to B, both from .value
 *	to .max
 * @KRPING_OPT_FAULT: "NAME=WORD:N" sets the fault to a word in .words, and its
 *	number to N
 * @KRPING_OPT_STOP: "NAME=N" stops the run with number N, "NAME=all" all runs
 * @KRPING_OPT_TEXT: "NAME=TEXT" copies a text, shorter than .max, to .offset
 * @KRPING_OPT_ADDR: as KRPING_OPT_TEXT; also sets the address family to .value
 */
enum krping_opt_type {
	KRPING_OPT_ROLE,
	KRPING_OPT_FLAG,
	KRPING_OPT_CHOICE,
	KRPING_OPT_TEST,
	KRPING_OPT_NUMBER,
	KRPING_OPT_WORD,
	KRPING_OPT_RANGE,
	KRPING_OPT_FAULT,
	KRPING_OPT_STOP,
	KRPING_OPT_TEXT,
	KRPING_OPT_ADDR,
};

/**
 * struct krping_word - word that an option accepts as its value
 * @name: the word
 * @len: number of letters to compare; 0 compares all letters
 * @value: number that the word stands for
 */
struct krping_word {
	const char *name;
	size_t len;
	u32 value;
};

struct krping_opt {
	const char *name;
	enum krping_opt_type type;
	size_t offset;
	u32 value;
	u32 max;
	const struct krping_word *words;
};

/*
 * Flag in .value of a KRPING_OPT_NUMBER: the member gets the number plus 1. So
 * 0 means that the command does not contain the option.
 */
#define KRPING_PLUS_ONE BIT(31)

#define KRPING_OFFSET(member) offsetof(struct krping_opts, member)

/*
 * Values of mem_mode=. They are compared by prefix, because scripts abbreviate
 * or lengthen these values.
 */
static const struct krping_word krping_mem_modes[] = {
	{ "reg", 3, KRPING_MEM_REG },
	{ "fastreg", 7, KRPING_MEM_REG },
	{ "dma", 3, KRPING_MEM_DMA },
	{ "mr", 2, KRPING_MEM_ONCE },
	{ "mw", 2, KRPING_MEM_ONCE },
	{}
};

static const struct krping_word krping_verifies[] = {
	{ "none", 0, KRPING_VERIFY_NONE },
	{ "memcmp", 0, KRPING_VERIFY_MEMCMP },
	{ "crc", 0, KRPING_VERIFY_CRC },
	{}
};

static const struct krping_word krping_atomics[] = {
	{ "cas", 0, KRPING_ATOMIC_CAS },
	{ "fadd", 0, KRPING_ATOMIC_FADD },
	{}
};

static const struct krping_word krping_faults[] = {
	{ "drop", 0, KRPING_FAULT_DROP },
	{ "delay", 0, KRPING_FAULT_DELAY },
	{ "kill", 0, KRPING_FAULT_KILL },
	{}
};

static const struct krping_word krping_logfmts[] = {
	{ "usec", 0, 0 },
	{ "nsec", 0, 1 },
	{}
};

/* The values are those of enum krdma_security. */
static const struct krping_word krping_securities[] = {
	{ "none", 0, 0 },
	{ "auth", 0, 1 },
	{ "integrity", 0, 2 },
	{ "encrypt", 0, 3 },
	{}
};

static const struct krping_opt krping_opt_table[] = {
	{ "client", KRPING_OPT_ROLE, .value = KRPING_ROLE_CLIENT },
	{ "server", KRPING_OPT_ROLE, .value = KRPING_ROLE_SERVER },
	{ "addr", KRPING_OPT_ADDR, KRPING_OFFSET(addr), AF_INET,
	  KRPING_ADDR_MAX },
	{ "addr6", KRPING_OPT_ADDR, KRPING_OFFSET(addr), AF_INET6,
	  KRPING_ADDR_MAX },
	{ "src", KRPING_OPT_TEXT, KRPING_OFFSET(src), .max = KRPING_ADDR_MAX },
	{ "dev", KRPING_OPT_TEXT, KRPING_OFFSET(dev), .max = KRPING_DEV_MAX },
	{ "netns", KRPING_OPT_NUMBER, KRPING_OFFSET(netns), KRPING_PLUS_ONE,
	  S32_MAX - 1 },
	{ "port", KRPING_OPT_NUMBER, KRPING_OFFSET(port), 0, U16_MAX },
	{ "vector", KRPING_OPT_NUMBER, KRPING_OFFSET(vector), KRPING_PLUS_ONE,
	  U16_MAX },
	{ "tos", KRPING_OPT_NUMBER, KRPING_OFFSET(tos), 0, U8_MAX },
	/* numbers and sizes */
	{ "count", KRPING_OPT_NUMBER, KRPING_OFFSET(count), 0, U32_MAX },
	{ "iters", KRPING_OPT_NUMBER, KRPING_OFFSET(count), 0, U32_MAX },
	{ "duration", KRPING_OPT_NUMBER, KRPING_OFFSET(duration_s), 0,
	  KRPING_DAY_MS / 1000 },
	{ "warmup", KRPING_OPT_NUMBER, KRPING_OFFSET(warmup), 0, U32_MAX },
	{ "samples", KRPING_OPT_NUMBER, KRPING_OFFSET(samples), 0,
	  KRPING_SAMPLES_MAX },
	{ "size", KRPING_OPT_NUMBER, KRPING_OFFSET(size), 1, KRPING_SIZE_MAX },
	{ "from", KRPING_OPT_NUMBER, KRPING_OFFSET(from), 1, KRPING_SIZE_MAX },
	{ "sweep", KRPING_OPT_RANGE, .value = 1, .max = KRPING_SIZE_MAX },
	{ "txdepth", KRPING_OPT_NUMBER, KRPING_OFFSET(txdepth), 1,
	  KRPING_TXDEPTH_MAX },
	{ "tx-depth", KRPING_OPT_NUMBER, KRPING_OFFSET(txdepth), 1,
	  KRPING_TXDEPTH_MAX },
	{ "qps", KRPING_OPT_NUMBER, KRPING_OFFSET(qps), 1, KRPING_QPS_MAX },
	{ "threads", KRPING_OPT_NUMBER, KRPING_OFFSET(threads), 1,
	  KRPING_CONNS_MAX },
	{ "cpu", KRPING_OPT_NUMBER, KRPING_OFFSET(cpu), KRPING_PLUS_ONE,
	  U16_MAX },
	{ "accept", KRPING_OPT_NUMBER, KRPING_OFFSET(accept), 0, U32_MAX },
	{ "max_conns", KRPING_OPT_NUMBER, KRPING_OFFSET(max_conns), 1,
	  KRPING_CONNS_MAX },
	/* timeouts */
	{ "timeout", KRPING_OPT_NUMBER, KRPING_OFFSET(timeout_ms), 0,
	  KRPING_DAY_MS },
	{ "conn_timeout", KRPING_OPT_NUMBER, KRPING_OFFSET(conn_timeout_ms), 0,
	  KRPING_CONN_TIMEOUT_MAX },
	{ "idle_timeout", KRPING_OPT_NUMBER, KRPING_OFFSET(idle_timeout_ms), 0,
	  KRPING_DAY_MS },
	/* tests and methods */
	{ "fr", KRPING_OPT_TEST, .value = KRPING_TEST_FR },
	{ "frtest", KRPING_OPT_TEST, .value = KRPING_TEST_FR },
	{ "wlat", KRPING_OPT_TEST, .value = KRPING_TEST_WLAT },
	{ "rlat", KRPING_OPT_TEST, .value = KRPING_TEST_RLAT },
	{ "bw", KRPING_OPT_TEST, .value = KRPING_TEST_BW },
	{ "slat", KRPING_OPT_TEST, .value = KRPING_TEST_SLAT },
	{ "sbw", KRPING_OPT_TEST, .value = KRPING_TEST_SBW },
	{ "rbw", KRPING_OPT_TEST, .value = KRPING_TEST_RBW },
	{ "mlat", KRPING_OPT_TEST, .value = KRPING_TEST_MLAT },
	{ "mbw", KRPING_OPT_TEST, .value = KRPING_TEST_MBW },
	{ "atomic", KRPING_OPT_WORD, KRPING_OFFSET(atomic),
	  KRPING_TEST_ATOMIC, .words = krping_atomics },
	{ "duplex", KRPING_OPT_FLAG, KRPING_OFFSET(duplex) },
	{ "poll", KRPING_OPT_FLAG, KRPING_OFFSET(poll) },
	{ "imm", KRPING_OPT_FLAG, KRPING_OFFSET(imm) },
	{ "inline", KRPING_OPT_NUMBER, KRPING_OFFSET(inline_len), 0,
	  KRPING_INLINE_MAX },
	{ "cq_mod", KRPING_OPT_NUMBER, KRPING_OFFSET(cq_mod), 1,
	  KRPING_TXDEPTH_MAX },
	{ "server_inv", KRPING_OPT_FLAG, KRPING_OFFSET(server_inv) },
	{ "read_inv", KRPING_OPT_FLAG, KRPING_OFFSET(read_inv) },
	{ "local_dma_lkey", KRPING_OPT_FLAG, KRPING_OFFSET(local_dma_lkey) },
	{ "mem_mode", KRPING_OPT_WORD, KRPING_OFFSET(mem_mode),
	  .words = krping_mem_modes },
	{ "srq", KRPING_OPT_FLAG, KRPING_OFFSET(srq) },
	{ "compat", KRPING_OPT_FLAG, KRPING_OFFSET(compat) },
	{ "fault", KRPING_OPT_FAULT, KRPING_OFFSET(fault),
	  .words = krping_faults },
	{ "security", KRPING_OPT_WORD, KRPING_OFFSET(security),
	  .words = krping_securities },
	{ "key", KRPING_OPT_TEXT, KRPING_OFFSET(key), .max = KRPING_KEY_MAX },
	/* checks and output */
	{ "validate", KRPING_OPT_CHOICE, KRPING_OFFSET(verify),
	  KRPING_VERIFY_MEMCMP },
	{ "verify", KRPING_OPT_WORD, KRPING_OFFSET(verify),
	  .words = krping_verifies },
	{ "min_bw", KRPING_OPT_NUMBER, KRPING_OFFSET(min_bw), 0, U32_MAX },
	{ "max_lat", KRPING_OPT_NUMBER, KRPING_OFFSET(max_lat_us), 0, U32_MAX },
	{ "max_p99", KRPING_OPT_NUMBER, KRPING_OFFSET(max_p99_us), 0, U32_MAX },
	{ "verbose", KRPING_OPT_FLAG, KRPING_OFFSET(verbose) },
	{ "debug", KRPING_OPT_FLAG, KRPING_OFFSET(verbose) },
	{ "logfmt", KRPING_OPT_WORD, KRPING_OFFSET(nsec),
	  .words = krping_logfmts },
	/* control */
	{ "bg", KRPING_OPT_FLAG, KRPING_OFFSET(bg) },
	{ "stop", KRPING_OPT_STOP },
	{ "list", KRPING_OPT_CHOICE, KRPING_OFFSET(control),
	  KRPING_CONTROL_LIST },
};

static const struct krping_opt *krping_opt_find(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(krping_opt_table); i++)
		if (!strcmp(krping_opt_table[i].name, name))
			return &krping_opt_table[i];
	return NULL;
}

static bool krping_opt_is_keyword(const struct krping_opt *opt)
{
	return opt->type <= KRPING_OPT_TEST;
}

static void *krping_opt_member(const struct krping_opt *opt,
			       struct krping_opts *opts)
{
	return (void *)opts + opt->offset;
}

/*
 * Return the number of characters of a user's text to log. The caller logs the
 * text with this limit, and escapes it by %*pE.
 */
static int krping_log_len(const char *text)
{
	return strnlen(text, KRPING_LOG_MAX);
}

/*
 * Parse a number. Unlike kstrtou64(), reject a sign, and a leading 0, which
 * would mean octal. An empty value is 0.
 */
static int krping_number(const struct krping_opt *opt, const char *value,
			 u64 *number)
{
	*number = 0;
	if (!*value)
		return 0;
	if (isdigit(*value) && !(value[0] == '0' && isdigit(value[1])) &&
	    !kstrtou64(value, 0, number))
		return 0;
	pr_err_ratelimited("invalid numeric value in %s=%*pE\n", opt->name,
			   krping_log_len(value), value);
	return -EINVAL;
}

static int krping_check_range(const struct krping_opt *opt, u64 number,
			      u32 min, u32 max)
{
	if (number >= min && number <= max)
		return 0;
	pr_err_ratelimited("Invalid %s %llu (valid range is %u to %u)\n",
			   opt->name, number, min, max);
	return -EINVAL;
}

static int krping_opt_set_number(const struct krping_opt *opt,
				 const char *value, struct krping_opts *opts)
{
	u32 plus = !!(opt->value & KRPING_PLUS_ONE);
	u32 min = opt->value & ~KRPING_PLUS_ONE;
	u64 number;

	if (krping_number(opt, value, &number) ||
	    krping_check_range(opt, number, min, opt->max))
		return -EINVAL;
	*(u32 *)krping_opt_member(opt, opts) = number + plus;
	return 0;
}

/* Parse "A-B": test with sizes from A to B. */
static int krping_opt_set_range(const struct krping_opt *opt, char *value,
				struct krping_opts *opts)
{
	char *to = value, *from = strsep(&to, "-");
	u64 a, b;

	if (!to) {
		pr_err_ratelimited("%s needs two numbers, such as 64-4096\n",
				   opt->name);
		return -EINVAL;
	}
	if (krping_number(opt, from, &a) || krping_number(opt, to, &b) ||
	    krping_check_range(opt, a, opt->value, opt->max) ||
	    krping_check_range(opt, b, opt->value, opt->max))
		return -EINVAL;
	opts->from = a;
	opts->size = b;
	return 0;
}

static int krping_opt_set_stop(const struct krping_opt *opt, const char *value,
			       struct krping_opts *opts)
{
	u64 id;

	opts->control = KRPING_CONTROL_STOP;
	opts->stop_id = 0;
	if (!strcmp(value, "all"))
		return 0;
	if (krping_number(opt, value, &id) ||
	    krping_check_range(opt, id, 1, U32_MAX))
		return -EINVAL;
	opts->stop_id = id;
	return 0;
}

static int krping_opt_set_word(const struct krping_opt *opt, const char *value,
			       struct krping_opts *opts)
{
	const struct krping_word *word;

	for (word = opt->words; word->name; word++) {
		if (word->len ? strncmp(word->name, value, word->len) :
				strcmp(word->name, value))
			continue;
		*(u32 *)krping_opt_member(opt, opts) = word->value;
		/* An option with a .value also selects this test. */
		if (opt->value) {
			opts->test = opt->value;
			opts->ntests++;
		}
		return 0;
	}
	pr_err_ratelimited("unknown value in %s=%*pE\n", opt->name,
			   krping_log_len(value), value);
	return -EINVAL;
}

/* Parse "WORD:N": the fault and its number. */
static int krping_opt_set_fault(const struct krping_opt *opt, char *value,
				struct krping_opts *opts)
{
	char *n = value, *word = strsep(&n, ":");
	u64 number;

	if (!n) {
		pr_err_ratelimited("%s needs a number, such as kill:100\n",
				   opt->name);
		return -EINVAL;
	}
	if (krping_opt_set_word(opt, word, opts) ||
	    krping_number(opt, n, &number) ||
	    krping_check_range(opt, number, 0, S32_MAX))
		return -EINVAL;
	opts->fault_n = number;
	return 0;
}

static int krping_opt_set_text(const struct krping_opt *opt, const char *value,
			       struct krping_opts *opts)
{
	if (!*value || strlen(value) >= opt->max) {
		pr_err_ratelimited("invalid %s in %s=%*pE\n",
				   opt->type == KRPING_OPT_ADDR ? "address" :
								  "text",
				   opt->name, krping_log_len(value), value);
		return -EINVAL;
	}
	strscpy(krping_opt_member(opt, opts), value, opt->max);
	if (opt->type == KRPING_OPT_ADDR)
		opts->family = opt->value;
	return 0;
}

static int krping_opt_set(const struct krping_opt *opt, char *value,
			  struct krping_opts *opts)
{
	switch (opt->type) {
	case KRPING_OPT_ROLE:
		opts->role = opt->value;
		return 0;
	case KRPING_OPT_FLAG:
		*(bool *)krping_opt_member(opt, opts) = true;
		return 0;
	case KRPING_OPT_CHOICE:
		*(u32 *)krping_opt_member(opt, opts) = opt->value;
		return 0;
	case KRPING_OPT_TEST:
		opts->test = opt->value;
		opts->ntests++;
		return 0;
	case KRPING_OPT_NUMBER:
		return krping_opt_set_number(opt, value, opts);
	case KRPING_OPT_WORD:
		return krping_opt_set_word(opt, value, opts);
	case KRPING_OPT_RANGE:
		return krping_opt_set_range(opt, value, opts);
	case KRPING_OPT_FAULT:
		return krping_opt_set_fault(opt, value, opts);
	case KRPING_OPT_STOP:
		return krping_opt_set_stop(opt, value, opts);
	case KRPING_OPT_TEXT:
	case KRPING_OPT_ADDR:
		return krping_opt_set_text(opt, value, opts);
	}
	return -EINVAL;
}

static int krping_opts_token(char *token, struct krping_opts *opts)
{
	const struct krping_opt *opt;
	char *name, *value = token;

	name = strsep(&value, "=");
	opt = krping_opt_find(name);
	if (!opt) {
		pr_err_ratelimited("Unrecognized option %*pE\n",
				   krping_log_len(name), name);
		return -EINVAL;
	}
	if (value && krping_opt_is_keyword(opt)) {
		pr_err_ratelimited("unexpected argument %*pE to the %s option\n",
				   krping_log_len(value), value, opt->name);
		return -EINVAL;
	}
	if (!value && !krping_opt_is_keyword(opt)) {
		pr_err_ratelimited("the %s option requires an argument\n",
				   opt->name);
		return -EINVAL;
	}
	return krping_opt_set(opt, value, opts);
}

/*
 * Rule for a combination of options, and the line to log if the command breaks
 * the rule.
 */
struct krping_rule {
	bool broken;
	const char *text;
};

static int krping_opts_judge(const struct krping_rule *rules, size_t n)
{
	int ret = 0;

	for (; n; n--, rules++) {
		if (!rules->broken)
			continue;
		pr_err_ratelimited("%s\n", rules->text);
		ret = -EINVAL;
	}
	return ret;
}

/**
 * krping_is_lockstep - check whether both sides count the same operations
 * @opts: command
 *
 * Context: any.
 * Return: true for wlat and slat, in which each side waits for the other one.
 */
bool krping_is_lockstep(const struct krping_opts *opts)
{
	return opts->test == KRPING_TEST_WLAT || opts->test == KRPING_TEST_SLAT;
}

/**
 * krping_is_message - check for a test of krdma's message mode
 * @opts: command
 *
 * Context: any.
 * Return: true for mlat and mbw, see message.c.
 */
bool krping_is_message(const struct krping_opts *opts)
{
	return opts->test == KRPING_TEST_MLAT || opts->test == KRPING_TEST_MBW;
}

/* Check for a test that measures the time of each operation. */
static bool krping_has_latency(const struct krping_opts *opts)
{
	return opts->test == KRPING_TEST_PING ||
	       opts->test == KRPING_TEST_RLAT ||
	       opts->test == KRPING_TEST_MLAT ||
	       opts->test == KRPING_TEST_ATOMIC || krping_is_lockstep(opts);
}

/* Check the options of tests of messages, in which krdma posts all requests. */
static int krping_opts_check_message(const struct krping_opts *opts)
{
	bool is_message = krping_is_message(opts);
	bool is_raw = opts->poll || opts->srq || opts->duplex ||
		      opts->inline_len || opts->cq_mod > 1 ||
		      opts->server_inv || opts->read_inv ||
		      opts->local_dma_lkey || opts->mem_mode || opts->threads ||
		      opts->fault;
	const struct krping_rule rules[] = {
		{ !is_message && (opts->security || *opts->key),
		  "security and key are for mlat and mbw" },
		{ is_message && !opts->security != !*opts->key,
		  "security and key belong together" },
		{ is_message && is_raw,
		  "mlat and mbw take no options of adapters, memory, threads and faults" },
		{ is_message && opts->verify &&
		  (opts->from ?: opts->size) < KRPING_MSG_CRC_MIN,
		  "validate and verify of mlat and mbw need at least 5 bytes" },
	};

	return krping_opts_judge(rules, ARRAY_SIZE(rules));
}

/* Check for options that exclude each other. */
static int krping_opts_check_test(const struct krping_opts *opts)
{
	bool takes_imm = opts->test == KRPING_TEST_BW ||
			 opts->test == KRPING_TEST_SBW ||
			 opts->test == KRPING_TEST_SLAT;
	bool has_crc = opts->test != KRPING_TEST_FR &&
		       opts->test != KRPING_TEST_SBW &&
		       opts->test != KRPING_TEST_SLAT &&
		       opts->test != KRPING_TEST_ATOMIC;
	const struct krping_rule rules[] = {
		{ opts->ntests > 1,
		  "only one test, once: fr, wlat, rlat, bw, slat, sbw, rbw, atomic, mlat, mbw" },
		{ opts->test == KRPING_TEST_FR &&
		  opts->role == KRPING_ROLE_SERVER,
		  "the fr option is for clients" },
		{ opts->mem_mode == KRPING_MEM_ONCE &&
		  (opts->server_inv || opts->read_inv),
		  "mem_mode=mr and mw invalidate no keys: server_inv and read_inv do not apply" },
		{ opts->from > opts->size, "from is larger than size" },
		{ opts->from && opts->test == KRPING_TEST_FR,
		  "fr uses random sizes: from and sweep do not apply" },
		{ opts->imm && !takes_imm,
		  "the imm option is for bw, sbw and slat" },
		{ opts->imm && opts->duplex, "imm and duplex exclude each other" },
		{ opts->compat && (opts->test >= KRPING_TEST_SLAT || opts->imm),
		  "compat: old peers do not support slat, sbw, rbw, atomic, mlat, mbw and imm" },
		{ opts->duration_s && opts->from && krping_is_lockstep(opts),
		  "wlat and slat take a duration or several sizes, not both" },
		{ opts->test == KRPING_TEST_ATOMIC &&
		  (opts->from || opts->size < 8),
		  "atomic operates on 8 bytes: no sweep, no smaller size" },
		{ opts->verify && !has_crc,
		  "validate and verify are for ping, wlat, rlat, bw, rbw, mlat and mbw" },
		{ opts->verify && opts->compat &&
		  opts->test != KRPING_TEST_PING,
		  "with compat, validate and verify are for pings" },
		/*
		 * A server of pings compares no data. It can only send
		 * checksums, which compat excludes.
		 */
		{ opts->role == KRPING_ROLE_SERVER &&
		  opts->test == KRPING_TEST_PING &&
		  (opts->verify == KRPING_VERIFY_MEMCMP ||
		   (opts->verify && opts->compat)),
		  "a server of pings takes verify=crc without compat; validate is for clients" },
	};

	return krping_opts_judge(rules, ARRAY_SIZE(rules));
}

/*
 * Check the options that limit or record measured values. They are for clients,
 * and for tests that measure the value.
 */
static int krping_opts_check_measure(const struct krping_opts *opts)
{
	bool is_client = opts->role == KRPING_ROLE_CLIENT;
	const struct krping_rule rules[] = {
		{ !is_client && (opts->min_bw || opts->max_lat_us ||
				 opts->max_p99_us),
		  "min_bw, max_lat and max_p99 are for clients" },
		{ (opts->max_lat_us || opts->max_p99_us) &&
		  !krping_has_latency(opts),
		  "max_lat and max_p99 are for ping, wlat, rlat, slat, atomic and mlat" },
		{ opts->min_bw && opts->test == KRPING_TEST_FR,
		  "fr moves no data: no min_bw" },
		{ !is_client && (opts->warmup || opts->samples),
		  "warmup and samples are for clients" },
		{ opts->samples && !krping_has_latency(opts),
		  "samples is for ping, wlat, rlat, slat, atomic and mlat" },
		{ opts->warmup && opts->test == KRPING_TEST_FR,
		  "fr has no warmup" },
		{ opts->warmup && opts->compat && krping_is_lockstep(opts),
		  "compat: old peers do not support warmup of wlat" },
	};

	return krping_opts_judge(rules, ARRAY_SIZE(rules));
}

/* Check all rules for combinations of options of a command. */
static int krping_opts_check(const struct krping_opts *opts)
{
	bool is_client = opts->role == KRPING_ROLE_CLIENT;
	const struct krping_rule rules[] = {
		{ opts->role == KRPING_ROLE_NONE,
		  "one of the client and server options is required" },
		{ is_client && !opts->family,
		  "a client requires the addr or the addr6 option" },
		{ is_client && !opts->port,
		  "a client requires the port option" },
		{ !is_client && *opts->src, "the src option is for clients" },
		{ opts->threads > (is_client ? opts->qps : opts->max_conns),
		  "more threads than connections: see qps, and max_conns of a server" },
	};
	int ret;

	if (opts->control)
		return 0;
	ret = krping_opts_check_test(opts) ?: krping_opts_check_message(opts) ?:
	      krping_opts_check_measure(opts);
	return ret ?: krping_opts_judge(rules, ARRAY_SIZE(rules));
}

/**
 * krping_opts_parse - parse a command
 * @command: text; modified
 * @opts: result, undefined on error
 *
 * Context: any.
 * Return: 0, or -EINVAL, with one line in the log for each error.
 */
int krping_opts_parse(char *command, struct krping_opts *opts)
{
	char *token;
	int ret = 0;

	*opts = (struct krping_opts){
		.size = KRPING_SIZE_DEFAULT,
		.txdepth = KRPING_TXDEPTH_DEFAULT,
		.conn_timeout_ms = 10000,
		.idle_timeout_ms = 30000,
		.accept = 1,
		.max_conns = 64,
		.qps = 1,
		.cq_mod = 1,
	};
	while ((token = strsep(&command, ","))) {
		if (*token && krping_opts_token(token, opts))
			ret = -EINVAL;
	}
	ret = ret ?: krping_opts_check(opts);
	if (ret)
		return ret;
	/*
	 * Only in a ping does the client get its own data back. All other tests
	 * must compare checksums.
	 */
	if (opts->verify == KRPING_VERIFY_MEMCMP &&
	    opts->test != KRPING_TEST_PING)
		opts->verify = KRPING_VERIFY_CRC;
	if (opts->mem_mode == KRPING_MEM_DMA)
		pr_notice_ratelimited("mem_mode=dma is treated as reg: kernels no longer have a key for all memory\n");
	return 0;
}

/**
 * krping_opts_next_command - take the first command off a text
 * @text: commands, one per line; the last one needs no newline. On return, the
 *	text after the first command
 *
 * Context: any.
 * Return: the command, or NULL if none is left. Empty lines are skipped.
 */
char *krping_opts_next_command(char **text)
{
	char *line;

	do {
		line = strsep(text, "\n");
	} while (line && !*line);
	return line;
}

/**
 * krping_test_name - return the name of a test
 * @test: &enum krping_test
 *
 * Context: any.
 * Return: name of the test.
 */
const char *krping_test_name(u32 test)
{
	static const char * const names[] = {
		[KRPING_TEST_PING]	= "ping",
		[KRPING_TEST_FR]	= "fr",
		[KRPING_TEST_WLAT]	= "wlat",
		[KRPING_TEST_RLAT]	= "rlat",
		[KRPING_TEST_BW]	= "bw",
		[KRPING_TEST_SLAT]	= "slat",
		[KRPING_TEST_SBW]	= "sbw",
		[KRPING_TEST_RBW]	= "rbw",
		[KRPING_TEST_ATOMIC]	= "atomic",
		[KRPING_TEST_MLAT]	= "mlat",
		[KRPING_TEST_MBW]	= "mbw",
	};
	static_assert(ARRAY_SIZE(names) == KRPING_TESTS);

	return test < ARRAY_SIZE(names) ? names[test] : "unknown";
}

/**
 * krping_security_name - return the name of a level of security
 * @security: &enum krdma_security
 *
 * Context: any.
 * Return: value of the option security.
 */
const char *krping_security_name(u32 security)
{
	if (security >= ARRAY_SIZE(krping_securities) - 1)
		return "unknown";
	return krping_securities[security].name;
}
