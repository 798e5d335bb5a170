// SPDX-License-Identifier: GPL-2.0
/*
 * Read lines from a terminal or any other file. With libedit, the user can edit
 * and complete a line at a terminal, and recall previous lines. Without
 * libedit, only the terminal's own editing is available.
 */
#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef UTIL_LIBEDIT
#include <histedit.h>
#endif

#include "util.h"

#define LINE_HISTORY 100
#define LINE_FOUND 64
#define LINE_MAX_LEN 1024

/**
 * struct line_reader - source of lines
 * @file: input
 * @terminal: @file is a terminal
 * @complete: function that finds the possible completions of a word
 * @arg: argument of @complete
 * @prompt: prompt of the current line
 * @editing: true while the thread @editor reads a line from the terminal
 * @editor: thread that reads lines from the terminal
 * @edit: libedit's editor of a terminal, or NULL
 * @history: previous lines
 */
struct line_reader {
	FILE *file;
	bool terminal;
	line_complete complete;
	void *arg;
	const char *prompt;
	volatile bool editing;
	pthread_t editor;
#ifdef UTIL_LIBEDIT
	EditLine *edit;
	History *history;
#endif
};

static volatile sig_atomic_t line_interrupted;

static void line_interrupt(int sig)
{
	line_interrupted = 1;
}

#ifdef UTIL_LIBEDIT

static char *line_prompt(EditLine *edit)
{
	struct line_reader *reader;

	el_get(edit, EL_CLIENTDATA, &reader);
	return (char *)reader->prompt;
}

static size_t line_common(const char **found, size_t n)
{
	size_t len = strlen(found[0]), i, k;

	for (i = 1; i < n; i++) {
		for (k = 0; k < len && found[i][k] == found[0][k]; k++)
			;
		len = k;
	}
	return len;
}

/*
 * Insert the letters that all candidates have in common after the first TYPED
 * letters. If there are no such letters, list the candidates.
 */
static unsigned char line_insert(EditLine *edit, const char **found, size_t n,
				 size_t typed)
{
	size_t len = line_common(found, n), i;
	char text[LINE_MAX_LEN];

	if (n == 1 || len > typed) {
		snprintf(text, sizeof(text), "%.*s%s", (int)(len - typed),
			 found[0] + typed, n == 1 ? " " : "");
		return el_insertstr(edit, text) ? CC_ERROR : CC_REFRESH;
	}
	putchar('\n');
	for (i = 0; i < n; i++)
		printf("%s%s", found[i], i + 1 < n ? "  " : "\n");
	fflush(stdout);
	return CC_REDISPLAY;
}

/* Complete the word before the cursor when the user presses Tab. */
static unsigned char line_tab(EditLine *edit, int key)
{
	const LineInfo *info = el_line(edit);
	size_t len = info->cursor - info->buffer, begin = len, n;
	const char *found[LINE_FOUND];
	struct line_reader *reader;
	char before[LINE_MAX_LEN];

	if (len >= sizeof(before))
		return CC_ERROR;
	memcpy(before, info->buffer, len);
	before[len] = 0;
	while (begin && before[begin - 1] != ' ')
		begin--;
	el_get(edit, EL_CLIENTDATA, &reader);
	n = reader->complete(reader->arg, before, begin, found, LINE_FOUND);
	if (!n)
		return CC_NORM;
	/* In a word like "-flag", only the part after "-" is completed. */
	return line_insert(edit, found, n, len - begin - (before[begin] == '-'));
}

/*
 * Bind keys to functions of libedit. A key may send different codes on
 * different terminals, so bind all of its codes. A code that is not bound would
 * insert letters into the line.
 */
static void line_bind(EditLine *edit)
{
	static const char * const keys[][2] = {
		{ "^I", "complete" }, { "^R", "em-inc-search-prev" },
		{ "^U", "vi-kill-line-prev" }, { "^W", "ed-delete-prev-word" },
		{ "\\e[1~", "ed-move-to-beg" }, { "\\e[7~", "ed-move-to-beg" },
		{ "\\e[H", "ed-move-to-beg" }, { "\\eOH", "ed-move-to-beg" },
		{ "\\e[4~", "ed-move-to-end" }, { "\\e[8~", "ed-move-to-end" },
		{ "\\e[F", "ed-move-to-end" }, { "\\eOF", "ed-move-to-end" },
		{ "\\e[3~", "ed-delete-next-char" },
		{ "\\e[2~", "ed-ignore" }, { "\\e[5~", "ed-ignore" },
		{ "\\e[6~", "ed-ignore" }, { "\\eOP", "ed-ignore" },
		{ "\\eOQ", "ed-ignore" }, { "\\eOR", "ed-ignore" },
		{ "\\eOS", "ed-ignore" },
	};
	char key[16];
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		el_set(edit, EL_BIND, keys[i][0], keys[i][1], NULL);
	for (i = 11; i <= 34; i++) {
		snprintf(key, sizeof(key), "\\e[%zu~", i);
		el_set(edit, EL_BIND, key, "ed-ignore", NULL);
	}
}

static bool line_edit_open(struct line_reader *reader)
{
	HistEvent event;

	setlocale(LC_CTYPE, "");
	reader->history = history_init();
	reader->edit = el_init("rfm2g_util", reader->file, stdout, stderr);
	if (!reader->history || !reader->edit)
		return false;
	history(reader->history, &event, H_SETSIZE, LINE_HISTORY);
	history(reader->history, &event, H_SETUNIQUE, 1);
	el_set(reader->edit, EL_CLIENTDATA, reader);
	el_set(reader->edit, EL_PROMPT, line_prompt);
	el_set(reader->edit, EL_EDITOR, "emacs");
	el_set(reader->edit, EL_HIST, history, reader->history);
	el_set(reader->edit, EL_ADDFN, "complete", "complete a word", line_tab);
	line_bind(reader->edit);
	/* Restore the terminal if a signal stops or ends the program. */
	el_set(reader->edit, EL_SIGNAL, 1);
	return true;
}

static void line_edit_close(struct line_reader *reader)
{
	if (reader->edit)
		el_end(reader->edit);
	if (reader->history)
		history_end(reader->history);
}

static char *line_edit(struct line_reader *reader)
{
	const char *text;
	HistEvent event;
	char *line;
	int len;

	text = el_gets(reader->edit, &len);
	if (!text || len <= 0)
		return NULL;
	line = strndup(text, strcspn(text, "\r\n"));
	if (line && *line)
		history(reader->history, &event, H_ENTER, line);
	return line;
}

#else

static bool line_edit_open(struct line_reader *reader)
{
	return true;
}

static void line_edit_close(struct line_reader *reader)
{
}

static char *line_edit(struct line_reader *reader)
{
	char *line = NULL;
	size_t room = 0;

	printf("%s", reader->prompt);
	fflush(stdout);
	if (getline(&line, &room, reader->file) >= 0) {
		line[strcspn(line, "\r\n")] = 0;
		return line;
	}
	clearerr(reader->file);
	free(line);
	return NULL;
}

#endif

/**
 * line_open - create a reader of lines
 * @fd: file descriptor of the input
 * @complete: function that finds the possible completions of a word
 * @arg: argument of @complete
 *
 * Return: the reader, which the caller frees with line_close(); NULL if it
 * cannot be created.
 */
struct line_reader *line_open(int fd, line_complete complete, void *arg)
{
	struct line_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return NULL;
	reader->terminal = isatty(fd);
	reader->complete = complete;
	reader->arg = arg;
	reader->file = fdopen(fd, "r");
	if (reader->file && (!reader->terminal || line_edit_open(reader)))
		return reader;
	line_close(reader);
	return NULL;
}

/**
 * line_close - free a reader
 * @reader: from line_open()
 */
void line_close(struct line_reader *reader)
{
	line_edit_close(reader);
	if (reader->file)
		fclose(reader->file);
	free(reader);
}

/**
 * line_is_terminal - check whether a reader reads from a terminal
 * @reader: reader
 *
 * Return: true if the input is a terminal.
 */
bool line_is_terminal(const struct line_reader *reader)
{
	return reader->terminal;
}

/**
 * line_again - show the prompt and the line again after other output
 * @reader: reader; if it is NULL, nothing is drawn
 */
void line_again(struct line_reader *reader)
{
	/* libedit's handler of this signal redraws the line. */
	if (reader && reader->editing)
		pthread_kill(reader->editor, SIGCONT);
}

/*
 * Read a line from the terminal. Ctrl-C discards the line that the user is
 * typing. While a command runs, Ctrl-C ends the program.
 */
static char *line_typed(struct line_reader *reader, const char *prompt)
{
	struct sigaction act = { .sa_handler = line_interrupt }, before;
	char *line;

	reader->prompt = prompt;
	reader->editor = pthread_self();
	sigaction(SIGINT, &act, &before);
	do {
		line_interrupted = 0;
		reader->editing = true;
		line = line_edit(reader);
		reader->editing = false;
		if (!line)
			putchar('\n');
	} while (!line && line_interrupted);
	sigaction(SIGINT, &before, NULL);
	return line;
}

/**
 * line_read - read a line
 * @reader: from line_open()
 * @prompt: prompt to print
 *
 * Return: the line without its newline, which the caller frees; NULL at the end
 * of the input.
 */
char *line_read(struct line_reader *reader, const char *prompt)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t len;

	if (reader->terminal)
		return line_typed(reader, prompt);
	printf("%s", prompt);
	len = getline(&line, &room, reader->file);
	putchar('\n');
	if (len < 0) {
		free(line);
		return NULL;
	}
	line[strcspn(line, "\r\n")] = 0;
	return line;
}
