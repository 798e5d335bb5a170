// SPDX-License-Identifier: GPL-2.0
/*
 * Lines from a terminal, with editing, history and completion, or from anything
 * else. Keys: arrows, Home, End, Backspace, Delete, Tab; Ctrl-A, C, D, E, K, U.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "util.h"

#define LINE_MAX_LEN 1024
#define LINE_HISTORY 100
#define LINE_FOUND 64

#define LINE_CTRL(c) ((c) & 0x1F)

/* Keys that are more than a byte. */
enum line_key {
	LINE_EOF = -1,
	LINE_UP = 256,
	LINE_DOWN,
	LINE_LEFT,
	LINE_RIGHT,
	LINE_HOME,
	LINE_END,
	LINE_DELETE,
	LINE_UNKNOWN,
};

/**
 * struct line_reader - where lines come from
 * @fd: of it
 * @terminal: somebody types
 * @file: of @fd, if nobody does
 * @complete: knows what words may become
 * @arg: for @complete
 * @prompt: of this line
 * @line: as it is now
 * @len: of it
 * @at: where the cursor is
 * @history: lines before, the oldest first
 * @lines: how many
 */
struct line_reader {
	int fd;
	bool terminal;
	FILE *file;
	line_complete complete;
	void *arg;
	const char *prompt;
	char line[LINE_MAX_LEN];
	size_t len;
	size_t at;
	char *history[LINE_HISTORY];
	int lines;
};

/**
 * line_open - read lines
 * @fd: from there
 * @complete: knows what words may become
 * @arg: for it
 *
 * Return: the reader, which line_close() ends; NULL: no memory.
 */
struct line_reader *line_open(int fd, line_complete complete, void *arg)
{
	struct line_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return NULL;
	reader->fd = fd;
	reader->terminal = isatty(fd);
	reader->complete = complete;
	reader->arg = arg;
	if (!reader->terminal)
		reader->file = fdopen(fd, "r");
	if (!reader->terminal && !reader->file) {
		free(reader);
		return NULL;
	}
	return reader;
}

/**
 * line_close - the end of a reader
 * @reader: from line_open()
 */
void line_close(struct line_reader *reader)
{
	while (reader->lines)
		free(reader->history[--reader->lines]);
	if (reader->file)
		fclose(reader->file);
	free(reader);
}

/**
 * line_is_terminal - does somebody type?
 * @reader: reader
 *
 * Return: true if somebody does.
 */
bool line_is_terminal(const struct line_reader *reader)
{
	return reader->terminal;
}

static void line_show(const struct line_reader *reader)
{
	size_t back = reader->len - reader->at;

	printf("\r%s%.*s\033[K", reader->prompt, (int)reader->len,
	       reader->line);
	if (back)
		printf("\033[%zuD", back);
	fflush(stdout);
}

static int line_byte(const struct line_reader *reader)
{
	unsigned char byte;

	return read(reader->fd, &byte, 1) == 1 ? byte : LINE_EOF;
}

/* What follows an escape: [ or O, perhaps a number, and what it is. */
static int line_escape(const struct line_reader *reader)
{
	int byte = line_byte(reader), number = 0;

	if (byte != '[' && byte != 'O')
		return byte == LINE_EOF ? LINE_EOF : LINE_UNKNOWN;
	for (byte = line_byte(reader); isdigit(byte) || byte == ';';
	     byte = line_byte(reader))
		number = isdigit(byte) ? byte - '0' : 0;
	switch (byte) {
	case LINE_EOF:
		return LINE_EOF;
	case 'A':
		return LINE_UP;
	case 'B':
		return LINE_DOWN;
	case 'C':
		return LINE_RIGHT;
	case 'D':
		return LINE_LEFT;
	case 'H':
		return LINE_HOME;
	case 'F':
		return LINE_END;
	default:
		return byte == '~' && number == 3 ? LINE_DELETE : LINE_UNKNOWN;
	}
}

static int line_key(const struct line_reader *reader)
{
	int byte = line_byte(reader);

	return byte == '\033' ? line_escape(reader) : byte;
}

static void line_insert(struct line_reader *reader, const char *text,
			size_t len)
{
	if (len > LINE_MAX_LEN - 1 - reader->len)
		return;
	memmove(reader->line + reader->at + len, reader->line + reader->at,
		reader->len - reader->at);
	memcpy(reader->line + reader->at, text, len);
	reader->len += len;
	reader->at += len;
}

/* LEN bytes behind the cursor. */
static void line_delete(struct line_reader *reader, size_t len)
{
	if (len > reader->len - reader->at)
		return;
	reader->len -= len;
	memmove(reader->line + reader->at, reader->line + reader->at + len,
		reader->len - reader->at);
}

static void line_backspace(struct line_reader *reader, size_t len)
{
	if (len > reader->at)
		return;
	reader->at -= len;
	line_delete(reader, len);
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

/* As far as it is clear; if it is not, what it may be. */
static void line_tab(struct line_reader *reader)
{
	const char *found[LINE_FOUND];
	char before[LINE_MAX_LEN];
	size_t begin = reader->at, n, i, len, typed;

	while (begin && reader->line[begin - 1] != ' ')
		begin--;
	memcpy(before, reader->line, reader->at);
	before[reader->at] = 0;
	n = reader->complete(reader->arg, before, begin, found, LINE_FOUND);
	if (!n)
		return;
	/* -flag: what is found has no sign. */
	typed = reader->at - begin - (before[begin] == '-');
	len = line_common(found, n);
	if (len > typed)
		line_insert(reader, found[0] + typed, len - typed);
	if (n == 1) {
		line_insert(reader, " ", 1);
	} else if (len <= typed) {
		putchar('\n');
		for (i = 0; i < n; i++)
			printf("%s%s", found[i], i + 1 < n ? "  " : "\n");
	}
}

static void line_recall(struct line_reader *reader, int *which, int step)
{
	const char *text;

	if (*which + step < 0 || *which + step > reader->lines)
		return;
	*which += step;
	text = *which == reader->lines ? "" : reader->history[*which];
	reader->at = 0;
	reader->len = 0;
	line_insert(reader, text, strlen(text));
}

static void line_move(struct line_reader *reader, int key)
{
	switch (key) {
	case LINE_LEFT:
		reader->at -= reader->at > 0;
		break;
	case LINE_RIGHT:
		reader->at += reader->at < reader->len;
		break;
	case LINE_HOME:
	case LINE_CTRL('A'):
		reader->at = 0;
		break;
	case LINE_END:
	case LINE_CTRL('E'):
		reader->at = reader->len;
		break;
	}
}

static void line_edit(struct line_reader *reader, int key, int *which)
{
	char byte = key;

	switch (key) {
	case LINE_UP:
		line_recall(reader, which, -1);
		break;
	case LINE_DOWN:
		line_recall(reader, which, 1);
		break;
	case LINE_CTRL('H'):
	case 0x7F:
		line_backspace(reader, 1);
		break;
	case LINE_CTRL('D'):
	case LINE_DELETE:
		line_delete(reader, 1);
		break;
	case LINE_CTRL('K'):
		reader->len = reader->at;
		break;
	case LINE_CTRL('U'):
		line_backspace(reader, reader->at);
		break;
	case '\t':
		line_tab(reader);
		break;
	default:
		if (key < 256 && isprint(key))
			line_insert(reader, &byte, 1);
		else
			line_move(reader, key);
	}
}

/* Until ENTER; false: nobody types any more. */
static bool line_type(struct line_reader *reader)
{
	int which = reader->lines, key;

	for (;;) {
		line_show(reader);
		key = line_key(reader);
		if (key == '\r' || key == '\n')
			return true;
		if (key == LINE_EOF || (key == LINE_CTRL('D') && !reader->len))
			return false;
		if (key == LINE_CTRL('C')) {
			puts("^C");
			reader->len = 0;
			reader->at = 0;
		} else {
			line_edit(reader, key, &which);
		}
	}
}

static void line_remember(struct line_reader *reader, const char *line)
{
	if (!*line || (reader->lines &&
		       !strcmp(reader->history[reader->lines - 1], line)))
		return;
	if (reader->lines == LINE_HISTORY) {
		free(reader->history[0]);
		memmove(reader->history, reader->history + 1,
			sizeof(*reader->history) * --reader->lines);
	}
	reader->history[reader->lines] = strdup(line);
	if (reader->history[reader->lines])
		reader->lines++;
}

static char *line_typed(struct line_reader *reader, const char *prompt)
{
	struct termios before, raw;
	char *line = NULL;

	if (tcgetattr(reader->fd, &before))
		return NULL;
	raw = before;
	raw.c_lflag &= ~(ICANON | ECHO | ISIG);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	tcsetattr(reader->fd, TCSADRAIN, &raw);
	reader->prompt = prompt;
	reader->len = 0;
	reader->at = 0;
	if (line_type(reader))
		line = strndup(reader->line, reader->len);
	tcsetattr(reader->fd, TCSADRAIN, &before);
	putchar('\n');
	if (line)
		line_remember(reader, line);
	return line;
}

/**
 * line_read - the next line
 * @reader: from line_open()
 * @prompt: shown before
 *
 * Return: it, without its end, for free(); NULL: there is none.
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
