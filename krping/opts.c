// SPDX-License-Identifier: GPL-2.0
/*
 * The command line of one test: a table of options and the parser that reads
 * it. A new option is a row of the table and a member of struct krping_opts.
 *
 * The parser goes on after an error, so that one attempt shows all of them in
 * the log; each line names its option.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ctype.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/stddef.h>
#include <linux/string.h>

#include "opts.h"

/* What of an unknown token the log shows. */
#define KRPING_LOG_MAX 64

enum krping_opt_type {
	KRPING_OPT_ROLE,	/* keyword, sets the role to .value */
	KRPING_OPT_FLAG,	/* keyword, sets a bool at .offset */
	KRPING_OPT_NUMBER,	/* sets a u32 at .offset, .value … .max */
	KRPING_OPT_ADDR,	/* sets the address, of family .value */
};

struct krping_opt {
	const char *name;
	enum krping_opt_type type;
	size_t offset;
	u32 value;
	u32 max;
};

#define KRPING_OFFSET(member) offsetof(struct krping_opts, member)

static const struct krping_opt krping_opt_table[] = {
	{ "client", KRPING_OPT_ROLE, .value = KRPING_ROLE_CLIENT },
	{ "server", KRPING_OPT_ROLE, .value = KRPING_ROLE_SERVER },
	{ "addr", KRPING_OPT_ADDR, .value = AF_INET },
	{ "addr6", KRPING_OPT_ADDR, .value = AF_INET6 },
	{ "port", KRPING_OPT_NUMBER, KRPING_OFFSET(port), 0, U16_MAX },
	{ "count", KRPING_OPT_NUMBER, KRPING_OFFSET(count), 0, U32_MAX },
	{ "iters", KRPING_OPT_NUMBER, KRPING_OFFSET(count), 0, U32_MAX },
	{ "size", KRPING_OPT_NUMBER, KRPING_OFFSET(size), 1, KRPING_SIZE_MAX },
	{ "validate", KRPING_OPT_FLAG, KRPING_OFFSET(validate) },
	{ "verbose", KRPING_OPT_FLAG, KRPING_OFFSET(verbose) },
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
	return opt->type == KRPING_OPT_ROLE || opt->type == KRPING_OPT_FLAG;
}

static void *krping_opt_member(const struct krping_opt *opt,
			       struct krping_opts *opts)
{
	return (void *)opts + opt->offset;
}

/* Text from user space goes to the log escaped and cut. */
static int krping_log_len(const char *text)
{
	return strnlen(text, KRPING_LOG_MAX);
}

static int krping_opt_set_number(const struct krping_opt *opt,
				 const char *value, struct krping_opts *opts)
{
	u64 number = 0;

	/* kstrtou64() would take a sign; nothing at all has always been 0. */
	if (*value && (!isdigit(*value) || kstrtou64(value, 0, &number))) {
		pr_err("invalid numeric value in %s=%*pE\n", opt->name,
		       krping_log_len(value), value);
		return -EINVAL;
	}
	if (number < opt->value || number > opt->max) {
		pr_err("Invalid %s %llu (valid range is %u to %u)\n", opt->name,
		       number, opt->value, opt->max);
		return -EINVAL;
	}
	*(u32 *)krping_opt_member(opt, opts) = number;
	return 0;
}

static int krping_opt_set_addr(const struct krping_opt *opt, const char *value,
			       struct krping_opts *opts)
{
	if (!*value || strlen(value) >= sizeof(opts->addr)) {
		pr_err("invalid address in %s=%*pE\n", opt->name,
		       krping_log_len(value), value);
		return -EINVAL;
	}
	strscpy(opts->addr, value, sizeof(opts->addr));
	opts->family = opt->value;
	return 0;
}

static int krping_opt_set(const struct krping_opt *opt, const char *value,
			  struct krping_opts *opts)
{
	switch (opt->type) {
	case KRPING_OPT_ROLE:
		opts->role = opt->value;
		return 0;
	case KRPING_OPT_FLAG:
		*(bool *)krping_opt_member(opt, opts) = true;
		return 0;
	case KRPING_OPT_NUMBER:
		return krping_opt_set_number(opt, value, opts);
	case KRPING_OPT_ADDR:
		return krping_opt_set_addr(opt, value, opts);
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
		pr_err("Unrecognized option %*pE\n", krping_log_len(name),
		       name);
		return -EINVAL;
	}
	if (value && krping_opt_is_keyword(opt)) {
		pr_err("unexpected argument %*pE to the %s option\n",
		       krping_log_len(value), value, opt->name);
		return -EINVAL;
	}
	if (!value && !krping_opt_is_keyword(opt)) {
		pr_err("the %s option requires an argument\n", opt->name);
		return -EINVAL;
	}
	return krping_opt_set(opt, value, opts);
}

/* What only the whole command shows. */
static int krping_opts_check(const struct krping_opts *opts)
{
	if (opts->role == KRPING_ROLE_NONE) {
		pr_err("one of the client and server options is required\n");
		return -EINVAL;
	}
	if (opts->role == KRPING_ROLE_SERVER)
		return 0;
	if (!opts->family) {
		pr_err("a client requires the addr or the addr6 option\n");
		return -EINVAL;
	}
	if (!opts->port) {
		pr_err("a client requires the port option\n");
		return -EINVAL;
	}
	return 0;
}

/**
 * krping_opts_parse - read a command
 * @command: text; taken to pieces
 * @opts: result, undefined on error
 *
 * Context: any.
 * Return: 0, or -EINVAL, with one line in the log for each error.
 */
int krping_opts_parse(char *command, struct krping_opts *opts)
{
	char *token;
	int ret = 0;

	*opts = (struct krping_opts){ .size = KRPING_SIZE_DEFAULT };
	while ((token = strsep(&command, ","))) {
		if (*token && krping_opts_token(token, opts))
			ret = -EINVAL;
	}
	return ret ?: krping_opts_check(opts);
}

/**
 * krping_opts_next_command - take the first command off a text
 * @text: commands, one a line; the last needs no newline. Moves on to the rest
 *
 * Context: any.
 * Return: the command, or NULL: none is left. Empty lines are passed over.
 */
char *krping_opts_next_command(char **text)
{
	char *line;

	do {
		line = strsep(text, "\n");
	} while (line && !*line);
	return line;
}
