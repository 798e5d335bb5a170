// SPDX-License-Identifier: GPL-2.0
/*
 * Parser for the commands of /proc/krping_blk, with a table of options, and the
 * filter of a disk.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bits.h>
#include <linux/ctype.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/stddef.h>
#include <linux/string.h>

#include "blk_opts.h"

/* Maximum number of characters that a log line shows of a command's text. */
#define KRPING_BLK_LOG_MAX 64

#define KRPING_BLK_DEPTH_DEFAULT 32
#define KRPING_BLK_SLOT_DEFAULT (128 * 1024)
#define KRPING_BLK_TIMEOUT_DEFAULT_MS 30000
#define KRPING_BLK_TIMEOUT_MAX_MS (10 * 60 * 1000)
#define KRPING_BLK_BLOCK_DEFAULT_MS 60000
#define KRPING_BLK_PROBE_DEFAULT_MS 30000
#define KRPING_BLK_CAP_DEFAULT BIT_ULL(30)
/* Memory of the peer that the predecessor of this module used. */
#define KRPING_BLK_RADDR_DEFAULT 0x61000000
#define KRPING_BLK_RKEY_DEFAULT 1
#define KRPING_BLK_OPS_DEFAULT						\
	(BIT(KRPING_BLK_WRITE) | BIT(KRPING_BLK_DISCARD) |		\
	 BIT(KRPING_BLK_FLUSH) | BIT(KRPING_BLK_ZEROES))

/**
 * enum krping_blk_opt_type - type of an option of a command
 * @KRPING_BLK_OPT_ROLE: "NAME" sets the role to .min
 * @KRPING_BLK_OPT_FLAG: "NAME" sets the bool at .offset
 * @KRPING_BLK_OPT_TEXT: "NAME=TEXT" copies a text, shorter than .max, to .offset
 * @KRPING_BLK_OPT_SIZE: "NAME=N" sets the u32 at .offset to N, from .min to .max
 * @KRPING_BLK_OPT_BIG: "NAME=N" sets the u64 at .offset, as KRPING_BLK_OPT_SIZE
 * @KRPING_BLK_OPT_STOP: "NAME=N" stops the object with number N, "NAME=all" all
 * @KRPING_BLK_OPT_DEV: "NAME=ram:SIZE" or "NAME=stack:PATH"
 * @KRPING_BLK_OPT_MODE: "NAME=sync", "NAME=async" or "NAME=tap"
 * @KRPING_BLK_OPT_FULL: "NAME=block" or "NAME=drop"
 * @KRPING_BLK_OPT_ONFAIL: "NAME=fail", "NAME=block" or
 *	"NAME=degrade"
 * @KRPING_BLK_OPT_OPS: "NAME=LETTERS", a letter for each operation
 * @KRPING_BLK_OPT_RANGE: "NAME=A-B" sets the range of the filter
 * @KRPING_BLK_OPT_MAP: "NAME=fixed" or "NAME=linear"
 * @KRPING_BLK_OPT_TARGET: "NAME=mem", "NAME=null" or "NAME=bdev:PATH"
 */
enum krping_blk_opt_type {
	KRPING_BLK_OPT_ROLE,
	KRPING_BLK_OPT_FLAG,
	KRPING_BLK_OPT_TEXT,
	KRPING_BLK_OPT_SIZE,
	KRPING_BLK_OPT_BIG,
	KRPING_BLK_OPT_STOP,
	KRPING_BLK_OPT_DEV,
	KRPING_BLK_OPT_MODE,
	KRPING_BLK_OPT_FULL,
	KRPING_BLK_OPT_ONFAIL,
	KRPING_BLK_OPT_OPS,
	KRPING_BLK_OPT_RANGE,
	KRPING_BLK_OPT_MAP,
	KRPING_BLK_OPT_TARGET,
};

struct krping_blk_opt {
	const char *name;
	enum krping_blk_opt_type type;
	size_t offset;
	u64 min;
	u64 max;
};

#define KRPING_BLK_AT(member) offsetof(struct krping_blk_opts, member)

static const struct krping_blk_opt krping_blk_opt_table[] = {
	{ "client", KRPING_BLK_OPT_ROLE, .min = KRPING_BLK_CLIENT },
	{ "server", KRPING_BLK_OPT_ROLE, .min = KRPING_BLK_SERVER },
	{ "stop", KRPING_BLK_OPT_STOP },
	{ "force", KRPING_BLK_OPT_FLAG, KRPING_BLK_AT(force) },
	{ "bio", KRPING_BLK_OPT_FLAG, KRPING_BLK_AT(bio) },
	{ "addr", KRPING_BLK_OPT_TEXT, KRPING_BLK_AT(addr),
	  .max = KRPING_BLK_ADDR_MAX },
	{ "src", KRPING_BLK_OPT_TEXT, KRPING_BLK_AT(src),
	  .max = KRPING_BLK_ADDR_MAX },
	{ "port", KRPING_BLK_OPT_TEXT, KRPING_BLK_AT(port),
	  .max = KRPING_BLK_PORT_MAX },
	{ "bio_dev", KRPING_BLK_OPT_DEV },
	{ "bio_name", KRPING_BLK_OPT_TEXT, KRPING_BLK_AT(name),
	  .max = KRPING_BLK_NAME_MAX },
	{ "bio_raw", KRPING_BLK_OPT_FLAG, KRPING_BLK_AT(raw) },
	{ "bio_raddr", KRPING_BLK_OPT_BIG, KRPING_BLK_AT(raddr), 0, U64_MAX },
	{ "bio_rkey", KRPING_BLK_OPT_SIZE, KRPING_BLK_AT(rkey), 0, U32_MAX },
	{ "bio_map", KRPING_BLK_OPT_MAP },
	{ "bio_verify", KRPING_BLK_OPT_FLAG, KRPING_BLK_AT(verify) },
	{ "bio_probe", KRPING_BLK_OPT_SIZE, KRPING_BLK_AT(probe_ms), 0,
	  KRPING_BLK_TIMEOUT_MAX_MS },
	{ "bio_mode", KRPING_BLK_OPT_MODE },
	{ "bio_full", KRPING_BLK_OPT_FULL },
	{ "bio_onfail", KRPING_BLK_OPT_ONFAIL },
	{ "bio_block", KRPING_BLK_OPT_SIZE, KRPING_BLK_AT(block_ms), 100,
	  KRPING_BLK_TIMEOUT_MAX_MS },
	{ "bio_ops", KRPING_BLK_OPT_OPS },
	{ "bio_comm", KRPING_BLK_OPT_TEXT, KRPING_BLK_AT(filter.comm),
	  .max = KRPING_BLK_COMM_MAX },
	{ "bio_tgid", KRPING_BLK_OPT_SIZE, KRPING_BLK_AT(filter.tgid), 1,
	  S32_MAX },
	{ "bio_cgroup", KRPING_BLK_OPT_BIG, KRPING_BLK_AT(filter.cgroup), 1,
	  U64_MAX },
	{ "bio_min", KRPING_BLK_OPT_SIZE, KRPING_BLK_AT(filter.min), 0,
	  S32_MAX },
	{ "bio_range", KRPING_BLK_OPT_RANGE },
	{ "bio_depth", KRPING_BLK_OPT_SIZE, KRPING_BLK_AT(depth), 1,
	  KRPING_BLK_DEPTH_MAX },
	{ "bio_slot", KRPING_BLK_OPT_SIZE, KRPING_BLK_AT(slot),
	  KRPING_BLK_SLOT_MIN, KRPING_BLK_SLOT_MAX },
	{ "bio_timeout", KRPING_BLK_OPT_SIZE, KRPING_BLK_AT(timeout_ms), 100,
	  KRPING_BLK_TIMEOUT_MAX_MS },
	{ "bio_nocrc", KRPING_BLK_OPT_FLAG, KRPING_BLK_AT(no_crc) },
	{ "bio_badcrc", KRPING_BLK_OPT_SIZE, KRPING_BLK_AT(bad_crc), 1,
	  S32_MAX },
	{ "bio_badack", KRPING_BLK_OPT_SIZE, KRPING_BLK_AT(bad_ack), 1,
	  S32_MAX },
	{ "bio_target", KRPING_BLK_OPT_TARGET },
	{ "bio_cap", KRPING_BLK_OPT_BIG, KRPING_BLK_AT(cap), 4096,
	  KRPING_BLK_CAPACITY_MAX },
};

/* Letters of bio_ops, in the order of &enum krping_blk_op. */
static const char krping_blk_op_letters[] = "rwdfz";

/* Parse a number with an optional suffix K, M, G or T. */
static int krping_blk_opt_number(const char *text, u64 min, u64 max, u64 *value)
{
	char *end;

	if (!isdigit(*text))
		return -EINVAL;
	*value = memparse(text, &end);
	return *end || *value < min || *value > max ? -EINVAL : 0;
}

static int krping_blk_opt_text(char *to, const char *text, size_t max)
{
	if (!*text || strlen(text) >= max)
		return -EINVAL;
	strscpy(to, text, max);
	return 0;
}

static int krping_blk_opt_stop(struct krping_blk_opts *opts, const char *text)
{
	u64 number = 0;

	opts->role = KRPING_BLK_STOP;
	if (strcmp(text, "all") &&
	    krping_blk_opt_number(text, 1, U32_MAX, &number))
		return -EINVAL;
	opts->stop = number;
	return 0;
}

static int krping_blk_opt_dev(struct krping_blk_opts *opts, const char *text)
{
	if (!strncmp(text, "stack:", 6)) {
		opts->backing = KRPING_BLK_STACK;
		return krping_blk_opt_text(opts->path, text + 6,
					   sizeof(opts->path));
	}
	opts->backing = KRPING_BLK_RAM;
	if (strncmp(text, "ram:", 4) ||
	    krping_blk_opt_number(text + 4, 4096, KRPING_BLK_CAPACITY_MAX,
				  &opts->ram) ||
	    opts->ram % 512)
		return -EINVAL;
	return 0;
}

static int krping_blk_opt_target(struct krping_blk_opts *opts,
				 const char *text)
{
	if (!strncmp(text, "bdev:", 5)) {
		opts->target = KRPING_BLK_BDEV;
		return krping_blk_opt_text(opts->path, text + 5,
					   sizeof(opts->path));
	}
	if (!strcmp(text, "mem"))
		opts->target = KRPING_BLK_MEM;
	else if (!strcmp(text, "null"))
		opts->target = KRPING_BLK_NULL;
	else
		return -EINVAL;
	return 0;
}

static int krping_blk_opt_mode(struct krping_blk_opts *opts, const char *text)
{
	if (!strcmp(text, "sync"))
		opts->mode = KRPING_BLK_SYNC;
	else if (!strcmp(text, "async"))
		opts->mode = KRPING_BLK_ASYNC;
	else if (!strcmp(text, "tap"))
		opts->mode = KRPING_BLK_TAP;
	else
		return -EINVAL;
	return 0;
}

static int krping_blk_opt_full(struct krping_blk_opts *opts, const char *text)
{
	opts->drop = !strcmp(text, "drop");
	return opts->drop || !strcmp(text, "block") ? 0 : -EINVAL;
}

static int krping_blk_opt_onfail(struct krping_blk_opts *opts,
				 const char *text)
{
	if (!strcmp(text, "fail"))
		opts->policy = KRPING_BLK_FAIL;
	else if (!strcmp(text, "block"))
		opts->policy = KRPING_BLK_BLOCK;
	else if (!strcmp(text, "degrade"))
		opts->policy = KRPING_BLK_DEGRADE;
	else
		return -EINVAL;
	return 0;
}

static int krping_blk_opt_map(struct krping_blk_opts *opts, const char *text)
{
	opts->linear = !strcmp(text, "linear");
	return opts->linear || !strcmp(text, "fixed") ? 0 : -EINVAL;
}

static int krping_blk_opt_ops(struct krping_blk_opts *opts, const char *text)
{
	opts->filter.ops = 0;
	for (; *text; text++) {
		const char *found = strchr(krping_blk_op_letters, *text);

		if (!found)
			return -EINVAL;
		opts->filter.ops |= BIT(found - krping_blk_op_letters);
	}
	return opts->filter.ops ? 0 : -EINVAL;
}

static int krping_blk_opt_range(struct krping_blk_opts *opts, char *text)
{
	char *to = strchr(text, '-');

	if (!to)
		return -EINVAL;
	*to++ = '\0';
	if (krping_blk_opt_number(text, 0, S64_MAX, &opts->filter.from) ||
	    krping_blk_opt_number(to, 1, S64_MAX, &opts->filter.to))
		return -EINVAL;
	return opts->filter.from < opts->filter.to ? 0 : -EINVAL;
}

static int krping_blk_opt_set(struct krping_blk_opts *opts,
			      const struct krping_blk_opt *opt, char *value)
{
	void *at = (char *)opts + opt->offset;
	u64 number;

	switch (opt->type) {
	case KRPING_BLK_OPT_ROLE:
		if (value || opts->role)
			return -EINVAL;
		opts->role = opt->min;
		return 0;
	case KRPING_BLK_OPT_FLAG:
		*(bool *)at = true;
		return value ? -EINVAL : 0;
	default:
		break;
	}
	if (!value)
		return -EINVAL;
	switch (opt->type) {
	case KRPING_BLK_OPT_TEXT:
		return krping_blk_opt_text(at, value, opt->max);
	case KRPING_BLK_OPT_SIZE:
		if (krping_blk_opt_number(value, opt->min, opt->max, &number))
			return -EINVAL;
		*(u32 *)at = number;
		return 0;
	case KRPING_BLK_OPT_BIG:
		return krping_blk_opt_number(value, opt->min, opt->max, at);
	case KRPING_BLK_OPT_STOP:
		return opts->role ? -EINVAL : krping_blk_opt_stop(opts, value);
	case KRPING_BLK_OPT_DEV:
		return krping_blk_opt_dev(opts, value);
	case KRPING_BLK_OPT_MODE:
		return krping_blk_opt_mode(opts, value);
	case KRPING_BLK_OPT_FULL:
		return krping_blk_opt_full(opts, value);
	case KRPING_BLK_OPT_ONFAIL:
		return krping_blk_opt_onfail(opts, value);
	case KRPING_BLK_OPT_OPS:
		return krping_blk_opt_ops(opts, value);
	case KRPING_BLK_OPT_RANGE:
		return krping_blk_opt_range(opts, value);
	case KRPING_BLK_OPT_MAP:
		return krping_blk_opt_map(opts, value);
	case KRPING_BLK_OPT_TARGET:
		return krping_blk_opt_target(opts, value);
	default:
		return -EINVAL;
	}
}

static int krping_blk_opt_parse(struct krping_blk_opts *opts, char *word)
{
	char *value = strchr(word, '=');
	int ret = -EINVAL;
	size_t i;

	if (value)
		*value++ = '\0';
	for (i = 0; i < ARRAY_SIZE(krping_blk_opt_table); i++) {
		if (strcmp(word, krping_blk_opt_table[i].name))
			continue;
		ret = krping_blk_opt_set(opts, &krping_blk_opt_table[i], value);
		break;
	}
	if (ret)
		pr_err_ratelimited("option \"%.*s\" is unknown, or its value is invalid\n",
				   KRPING_BLK_LOG_MAX, word);
	return ret;
}

/*
 * Names of disks are krpblk with a suffix, so that no name is one of another
 * driver, and blockdev, which old scripts use.
 */
static bool krping_blk_name_is_valid(const char *name)
{
	const char *c;

	if (!*name || !strcmp(name, "blockdev"))
		return true;
	if (strncmp(name, "krpblk", 6) || !name[6])
		return false;
	for (c = name; *c; c++) {
		if (!isalnum(*c))
			return false;
	}
	return true;
}

static int krping_blk_opts_check(const struct krping_blk_opts *opts)
{
	const char *wrong = NULL;

	if (!opts->role)
		wrong = "client, server or stop is missing";
	else if (opts->role == KRPING_BLK_STOP)
		return 0;
	else if (!*opts->port)
		wrong = "port is missing";
	else if (opts->role == KRPING_BLK_SERVER)
		return 0;
	else if (!*opts->addr)
		wrong = "addr is missing";
	else if (!opts->ram && !*opts->path)
		wrong = "bio_dev is missing";
	else if (!krping_blk_name_is_valid(opts->name))
		wrong = "bio_name must be blockdev, or krpblk and a suffix";
	else if (opts->raw && (opts->mode != KRPING_BLK_SYNC ||
			       opts->policy != KRPING_BLK_FAIL))
		wrong = "bio_raw needs bio_mode=sync and bio_onfail=fail";
	else if (!opts->raw && (opts->linear || opts->verify))
		wrong = "bio_map and bio_verify need bio_raw";
	else if (opts->raw && opts->cap > U64_MAX - opts->raddr)
		wrong = "bio_raddr plus bio_cap exceeds 64 bits";
	else if (opts->drop && opts->mode != KRPING_BLK_ASYNC)
		wrong = "bio_full=drop needs bio_mode=async";
	else if (opts->policy == KRPING_BLK_BLOCK &&
		 (opts->drop || opts->mode == KRPING_BLK_TAP))
		wrong = "bio_onfail=block needs requests that wait";
	else if (opts->policy == KRPING_BLK_DEGRADE &&
		 opts->mode != KRPING_BLK_SYNC)
		wrong = "bio_onfail=degrade needs bio_mode=sync";
	else if (opts->slot % 4096)
		wrong = "bio_slot must be a multiple of 4096";
	else if ((u64)opts->depth * opts->slot > KRPING_BLK_RING_MAX)
		wrong = "bio_depth times bio_slot exceeds 64 MiB";
	if (wrong)
		pr_err_ratelimited("%s\n", wrong);
	return wrong ? -EINVAL : 0;
}

/**
 * krping_blk_opts_parse - parse a command
 * @text: options with commas between them; modified
 * @opts: result; invalid after an error
 *
 * Logs each error.
 *
 * Return: 0 or -EINVAL.
 */
int krping_blk_opts_parse(char *text, struct krping_blk_opts *opts)
{
	char *word;
	int ret = 0;

	*opts = (struct krping_blk_opts) {
		.depth = KRPING_BLK_DEPTH_DEFAULT,
		.slot = KRPING_BLK_SLOT_DEFAULT,
		.timeout_ms = KRPING_BLK_TIMEOUT_DEFAULT_MS,
		.block_ms = KRPING_BLK_BLOCK_DEFAULT_MS,
		.probe_ms = KRPING_BLK_PROBE_DEFAULT_MS,
		.filter.ops = KRPING_BLK_OPS_DEFAULT,
		.cap = KRPING_BLK_CAP_DEFAULT,
		.raddr = KRPING_BLK_RADDR_DEFAULT,
		.rkey = KRPING_BLK_RKEY_DEFAULT,
	};
	text = strim(text);
	while ((word = strsep(&text, ","))) {
		int error = krping_blk_opt_parse(opts, word);

		ret = ret ?: error;
	}
	return ret ?: krping_blk_opts_check(opts);
}

/**
 * krping_blk_raw_address - return the address in the peer's memory
 * @opts: command with bio_raw
 * @offset: first byte of a request, within the disk
 *
 * Return: the address for the data of the request.
 */
u64 krping_blk_raw_address(const struct krping_blk_opts *opts, u64 offset)
{
	return opts->linear ? opts->raddr + offset : opts->raddr;
}

/**
 * krping_blk_filter_matches - check whether a request goes to the server
 * @filter: filter of the disk
 * @subject: the request
 *
 * A flush has no range, so @min, @from and @to of the filter do not apply to it.
 *
 * Return: true if the request goes to the server.
 */
bool krping_blk_filter_matches(const struct krping_blk_filter *filter,
			       const struct krping_blk_subject *subject)
{
	if (!(filter->ops & BIT(subject->op)))
		return false;
	if (filter->tgid && filter->tgid != subject->tgid)
		return false;
	if (filter->cgroup && !subject->in_cgroup)
		return false;
	if (*filter->comm && strcmp(filter->comm, subject->comm))
		return false;
	if (!subject->bytes)
		return true;
	if (subject->bytes < filter->min)
		return false;
	return subject->offset + subject->bytes > filter->from &&
	       (!filter->to || subject->offset < filter->to);
}
