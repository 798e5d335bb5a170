// SPDX-License-Identifier: GPL-2.0
/* Split lines into words, parse numbers, and report statuses. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util.h"

/**
 * util_split - split a line into words
 * @line: line; modified
 * @words: result, the first @room words
 * @room: maximum number of words in @words
 *
 * Return: number of words in @line, which may exceed @room.
 */
int util_split(char *line, char **words, int room)
{
	char *save, *word;
	int n = 0;

	for (word = strtok_r(line, " \t\r\n", &save); word;
	     word = strtok_r(NULL, " \t\r\n", &save)) {
		if (n < room)
			words[n] = word;
		n++;
	}
	return n;
}

/* Check for a leading 0, which strtoull() reads as octal. */
static bool util_is_octal(const char *text)
{
	return text[0] == '0' && isdigit((unsigned char)text[1]);
}

static bool util_parse(const char *text, int base, uint64_t max,
		       uint64_t *value)
{
	char *end;

	if (!isxdigit((unsigned char)*text))
		return false;
	if (!base && util_is_octal(text))
		return false;
	errno = 0;
	*value = strtoull(text, &end, base);
	return !errno && !*end && *value <= max;
}

/**
 * util_number - parse a number of 32 bits, decimal or hexadecimal with 0x
 * @text: text
 * @value: result
 *
 * Return: true; or false after an error message if @text is not such a number.
 */
bool util_number(const char *text, uint32_t *value)
{
	uint64_t wide;

	if (!util_parse(text, 0, UINT32_MAX, &wide)) {
		fprintf(stderr, "%s is not a number of 32 bits%s\n", text,
			util_is_octal(text) ? ": it has a leading 0" : "");
		return false;
	}
	*value = wide;
	return true;
}

/**
 * util_hex64 - parse a hexadecimal number of 64 bits, with or without 0x
 * @text: text
 * @value: result
 *
 * Return: true; or false after an error message if @text is not such a number.
 */
bool util_hex64(const char *text, uint64_t *value)
{
	if (util_parse(text, 16, UINT64_MAX, value))
		return true;
	fprintf(stderr, "%s is not a hexadecimal number of 64 bits\n", text);
	return false;
}

/**
 * util_below - parse a number and check its range
 * @what: name of the number in the message to the user
 * @text: text
 * @end: smallest number that is too large
 * @value: result
 *
 * Return: true; or false after an error message if @text is invalid.
 */
bool util_below(const char *what, const char *text, uint32_t end,
		uint32_t *value)
{
	if (!util_number(text, value))
		return false;
	if (*value < end)
		return true;
	fprintf(stderr, "%s %s: 0 to %u\n", what, text, end - 1);
	return false;
}

/**
 * util_status - report an error of the library
 * @status: status that a function of the library returned
 *
 * Return: UTIL_OK; or UTIL_FAILED after an error message.
 */
enum util_result util_status(RFM2G_STATUS status)
{
	if (!status)
		return UTIL_OK;
	fflush(stdout);
	fprintf(stderr, "error %d: %s\n", status, RFM2gErrorMsg(status));
	return UTIL_FAILED;
}
