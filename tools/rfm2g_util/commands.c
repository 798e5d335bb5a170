// SPDX-License-Identifier: GPL-2.0
/* The table of commands, and how the user's words select one. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "util.h"

#define UTIL_WORDS 32
#define UTIL_HELP_PAGE 16

static enum util_result util_help(struct util *util,
				  const struct util_command *command, int argc,
				  char **argv);
static enum util_result util_repeat(struct util *util,
				    const struct util_command *command,
				    int argc, char **argv);

static enum util_result util_exit(struct util *util,
				  const struct util_command *command, int argc,
				  char **argv)
{
	char *answer = NULL;

	if (util->lines)
		answer = line_read(util->lines, "exit? (y/n) ");
	/* If the input has ended, there is no answer. This counts as yes. */
	util->over = !answer || *answer == 'y' || *answer == 'Y';
	free(answer);
	return UTIL_OK;
}

static enum util_result util_menu_change(struct util *util,
					 const struct util_command *command,
					 int argc, char **argv)
{
	util->menu = command->which;
	return UTIL_OK;
}

static const struct util_command util_own_commands[] = {
	{ .name = "repeat", .args = "[-p] COUNT COMMAND...",
	  .text = "run COMMAND COUNT times or until it fails; -p: number them",
	  .run = util_repeat, .min = 2, .max = UTIL_WORDS, .menu = UTIL_BOTH,
	  .once = true },
	{ .name = "drvspecific", .text = "switch to the driver's commands",
	  .run = util_menu_change, .which = UTIL_DRIVER, .once = true },
	{ .name = "return", .text = "return to the main commands",
	  .run = util_menu_change, .which = UTIL_MAIN, .menu = UTIL_DRIVER,
	  .once = true },
	{ .name = "help", .args = "[COMMAND]", .text = "list commands",
	  .run = util_help, .max = 1, .menu = UTIL_BOTH, .once = true,
	  .offline = true },
	{ .name = "exit", .text = "end the session", .run = util_exit,
	  .once = true },
	{ .name = "quit", .text = "end the session", .run = util_exit,
	  .once = true },
	{ }
};

static const struct util_command * const util_tables[] = {
	util_info_commands, util_data_commands, util_perf_commands,
	util_event_commands, util_switch_commands, util_map_commands,
	util_reg_commands, util_own_commands,
};

#define UTIL_TABLES ((int)(sizeof(util_tables) / sizeof(*util_tables)))

/* Position in the tables; its command is NULL after the last command. */
struct util_cursor {
	int table;
	const struct util_command *command;
};

static struct util_cursor util_begin(void)
{
	return (struct util_cursor){ 0, util_tables[0] };
}

/*
 * Find the next command that a menu offers. The search begins at the current
 * command, or after it if MOVE is set.
 */
static const struct util_command *util_next(struct util_cursor *at,
					    enum util_menu menu, bool move)
{
	if (move)
		at->command++;
	for (;;) {
		while (!at->command->name) {
			if (++at->table == UTIL_TABLES)
				return NULL;
			at->command = util_tables[at->table];
		}
		if (at->command->menu == menu || at->command->menu == UTIL_BOTH)
			return at->command;
		at->command++;
	}
}

#define util_for_each(at, command, menu) \
	for (at = util_begin(), command = util_next(&(at), menu, false); \
	     command; command = util_next(&(at), menu, true))

static void util_ambiguous(enum util_menu menu, const char *word)
{
	const struct util_command *command;
	struct util_cursor at;

	fprintf(stderr, "%s may be", word);
	util_for_each(at, command, menu)
		if (!strncasecmp(command->name, word, strlen(word)))
			fprintf(stderr, " %s", command->name);
	fputc('\n', stderr);
}

/*
 * Find the command that has WORD as its name. If there is none, find the only
 * command with a name that begins with WORD.
 */
static const struct util_command *util_find(enum util_menu menu,
					    const char *word)
{
	const struct util_command *command, *found = NULL;
	struct util_cursor at;
	int n = 0;

	util_for_each(at, command, menu) {
		if (!strcasecmp(command->name, word))
			return command;
		if (strncasecmp(command->name, word, strlen(word)))
			continue;
		found = command;
		n++;
	}
	if (n == 1)
		return found;
	if (n)
		util_ambiguous(menu, word);
	else
		fprintf(stderr, "there is no command %s; help lists all\n",
			word);
	return NULL;
}

/**
 * util_is_offline - check whether a command needs no device
 * @word: full name of the command
 *
 * Return: true if it needs no device.
 */
bool util_is_offline(const char *word)
{
	const struct util_command *command;
	struct util_cursor at;

	util_for_each(at, command, UTIL_MAIN)
		if (!strcasecmp(command->name, word))
			return command->offline;
	return false;
}

static void util_usage(const struct util_command *command)
{
	fprintf(stderr, "usage: %s%s%s\n", command->name,
		command->args ? " " : "", command->args ? command->args : "");
}

static enum util_result util_run(struct util *util,
				 const struct util_command *command, int argc,
				 char **argv)
{
	enum util_result ret = UTIL_USAGE;

	if (argc >= command->min && argc <= command->max)
		ret = command->run(util, command, argc, argv);
	if (ret == UTIL_USAGE)
		util_usage(command);
	fflush(stdout);
	return ret;
}

/**
 * util_run_words - run a command
 * @util: session
 * @argc: number of words
 * @argv: words, beginning with the name of the command
 *
 * Return: result of the command; UTIL_USAGE after an error message if there is
 * no such command.
 */
enum util_result util_run_words(struct util *util, int argc, char **argv)
{
	const struct util_command *command = util_find(util->menu, argv[0]);

	if (!command)
		return UTIL_USAGE;
	return util_run(util, command, argc - 1, argv + 1);
}

/**
 * util_run_line - run the command of a line
 * @util: session
 * @line: line, which may be empty
 *
 * Return: result of the command; UTIL_OK for an empty line; UTIL_USAGE after an
 * error message if the line contains no valid command.
 */
enum util_result util_run_line(struct util *util, const char *line)
{
	enum util_result ret = UTIL_USAGE;
	char *words[UTIL_WORDS];
	char *copy = strdup(line);
	int n;

	if (!copy)
		return UTIL_FAILED;
	n = util_split(copy, words, UTIL_WORDS);
	if (!n)
		ret = UTIL_OK;
	else if (n > UTIL_WORDS)
		fprintf(stderr, "a line has at most %d words\n", UTIL_WORDS);
	else
		ret = util_run_words(util, n, words);
	free(copy);
	return ret;
}

static void util_help_line(const struct util_command *command)
{
	char left[80];

	snprintf(left, sizeof(left), "%s %s", command->name,
		 command->args ? command->args : "");
	printf("%-45s %s\n", left, command->text);
}

/*
 * At a terminal, wait for the user after each page of help. Return false if the
 * user wants no further page.
 */
static bool util_help_more(struct util *util, int shown)
{
	char *answer;

	if (!util->lines || !line_is_terminal(util->lines) ||
	    shown % UTIL_HELP_PAGE)
		return true;
	fflush(stdout);
	answer = line_read(util->lines, "ENTER for more, q to stop > ");
	if (!answer || *answer == 'q') {
		free(answer);
		return false;
	}
	free(answer);
	return true;
}

static enum util_result util_help(struct util *util,
				  const struct util_command *command, int argc,
				  char **argv)
{
	struct util_cursor at;
	int shown = 0;

	if (argc) {
		command = util_find(util->menu, argv[0]);
		if (!command)
			return UTIL_FAILED;
		util_help_line(command);
		return UTIL_OK;
	}
	util_for_each(at, command, util->menu) {
		if (command->hidden)
			continue;
		if (shown && !util_help_more(util, shown))
			break;
		util_help_line(command);
		shown++;
	}
	return UTIL_OK;
}

static enum util_result util_repeat(struct util *util,
				    const struct util_command *command,
				    int argc, char **argv)
{
	bool number = !strcmp(argv[0], "-p");
	enum util_result ret = UTIL_OK;
	uint32_t count, i;

	if (argc < 2 + number || !util_number(argv[number], &count))
		return UTIL_USAGE;
	argc -= 1 + number;
	argv += 1 + number;
	command = util_find(util->menu, argv[0]);
	if (!command)
		return UTIL_FAILED;
	if (command->once) {
		fprintf(stderr, "%s cannot be repeated\n", command->name);
		return UTIL_FAILED;
	}
	for (i = 1; i <= count && !ret; i++) {
		if (number)
			printf("%u: ", i);
		ret = util_run(util, command, argc - 1, argv + 1);
	}
	return ret ? UTIL_FAILED : UTIL_OK;
}

/* Find debug flags that begin with a word. */
static size_t util_complete_flags(const char *word, size_t len,
				  const char **found, size_t room)
{
	size_t n = 0;
	int i;

	if (len && *word == '-') {
		word++;
		len--;
	}
	for (i = 0; util_debug_names[i] && n < room; i++)
		if (!strncasecmp(util_debug_names[i], word, len))
			found[n++] = util_debug_names[i];
	return n;
}

static bool util_is_command_place(const char *line, size_t at)
{
	char copy[256];
	char *words[3];
	int n;

	if (at >= sizeof(copy))
		return false;
	memcpy(copy, line, at);
	copy[at] = 0;
	n = util_split(copy, words, 3);
	if (!n || n > 3)
		return !n;
	/* The command is the word after "help" or "repeat [-p] COUNT". */
	if (strncasecmp("repeat", words[0], strlen(words[0])) &&
	    strcasecmp("help", words[0]))
		return false;
	return !strcasecmp("help", words[0]) ? n == 1 :
	       n == 2 + (n > 1 && !strcmp(words[1], "-p"));
}

/**
 * util_complete - find the commands or flags that begin with a word
 * @arg: session
 * @line: line up to the cursor
 * @at: offset of the word in @line
 * @found: result
 * @room: size of @found
 *
 * Return: number of names in @found.
 */
size_t util_complete(void *arg, const char *line, size_t at, const char **found,
		     size_t room)
{
	const struct util_command *command;
	struct util *util = arg;
	struct util_cursor cursor;
	const char *word = line + at;
	size_t len = strlen(word), n = 0;

	if (!strncasecmp(line, "setdebug ", 9))
		return util_complete_flags(word, len, found, room);
	if (!util_is_command_place(line, at))
		return 0;
	util_for_each(cursor, command, util->menu)
		if (n < room && (!command->hidden || len > 3) &&
		    !strncasecmp(command->name, word, len))
			found[n++] = command->name;
	return n;
}
