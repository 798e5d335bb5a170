// SPDX-License-Identifier: GPL-2.0
/*
 * Show /proc/rfm2g. It has one line for each device: the name of the device,
 * followed by pairs of names and values. Below the line of a device are
 * indented lines for its events. Newer drivers may have further indented lines.
 */
#include <ctype.h>
#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"

#define CTL_PAGE "/proc/rfm2g"
#define CTL_WORDS 64

static int ctl_split(char *line, char **words)
{
	char *save, *word;
	int n = 0;

	for (word = strtok_r(line, " \t\n", &save); word && n < CTL_WORDS;
	     word = strtok_r(NULL, " \t\n", &save))
		words[n++] = word;
	return n;
}

/*
 * Maximum number of digits of a JSON number. Not every parser reads longer
 * numbers exactly, so they are printed as text.
 */
#define CTL_DIGITS 15

static bool ctl_is_number(const char *text)
{
	size_t len = strlen(text);

	return len && len <= CTL_DIGITS &&
	       strspn(text, "0123456789") == len && (*text != '0' || len == 1);
}

/*
 * Print a word as a JSON number or string. A string needs no escapes, because
 * the kernel prints no quotes and no control characters.
 */
static void ctl_json_value(const char *text)
{
	if (ctl_is_number(text))
		printf("%s", text);
	else
		printf("\"%s\"", text);
}

/* Print pairs of names and values. A last name without a value gets "true". */
static void ctl_json_pairs(char **words, int n)
{
	int i;

	for (i = 0; i + 1 < n; i += 2) {
		printf(",\"%s\":", words[i]);
		/* The digits of an id could look like a number. */
		if (!strcmp(words[i], "key"))
			printf("\"%s\"", words[i + 1]);
		else
			ctl_json_value(words[i + 1]);
	}
	if (i < n)
		printf(",\"%s\":true", words[i]);
}

/*
 * Print an indented line as JSON, such as "event intr1 enabled queued 0". The
 * line has a kind, a name, an optional state, and pairs of names and values.
 */
static void ctl_json_detail(char **words, int n)
{
	int first = n > 2 && !(n & 1) ? 2 : 3;

	printf("{\"kind\":\"%s\"", words[0]);
	if (n > 1) {
		printf(",\"name\":");
		ctl_json_value(words[1]);
	}
	if (first == 3 && n > 2)
		printf(",\"state\":\"%s\"", words[2]);
	ctl_json_pairs(words + first, n > first ? n - first : 0);
	printf("}");
}

/* Options and state of the output. */
struct ctl_print {
	bool json;
	const char *only;
	bool shown;
	int devices;
	int details;
};

static void ctl_device(struct ctl_print *print, char *line)
{
	char *words[CTL_WORDS];
	char copy[1024];
	int n;

	snprintf(copy, sizeof(copy), "%s", line);
	n = ctl_split(copy, words);
	print->shown = n && (!print->only || !strcmp(print->only, words[0]));
	if (!print->shown)
		return;
	if (!print->json) {
		fputs(line, stdout);
	} else {
		printf("%s{\"device\":\"%s\"",
		       print->devices ? "]},\n" : "", words[0]);
		ctl_json_pairs(words + 1, n - 1);
		printf(",\"details\":[");
	}
	print->devices++;
	print->details = 0;
}

/* Print an indented line. Without JSON, skip events that never arrived. */
static void ctl_detail(struct ctl_print *print, char *line)
{
	char *words[CTL_WORDS];
	int n;

	if (!print->shown)
		return;
	if (!print->json) {
		if (!strstr(line, " queued 0 waiting 0 count 0 lost 0"))
			fputs(line, stdout);
		return;
	}
	n = ctl_split(line, words);
	if (!n)
		return;
	printf("%s\n", print->details++ ? "," : "");
	ctl_json_detail(words, n);
}

static void ctl_line(struct ctl_print *print, char *line)
{
	if (!strncmp(line, "RFM2G_DEVICE_COUNT", 18))
		return;
	if (isspace((unsigned char)*line))
		ctl_detail(print, line);
	else
		ctl_device(print, line);
}

/**
 * ctl_status - show the status of one device, or of all devices
 * @options: options of the command line
 * @only: name of the device; NULL means all devices
 *
 * Return: CTL_OK; CTL_FAILED if there is no such device or no driver.
 */
enum ctl_result ctl_status(const struct ctl_options *options, const char *only)
{
	struct ctl_print print = { .json = options->json, .only = only };
	FILE *file = fopen(CTL_PAGE, "r");
	size_t room = 0;
	char *line = NULL;

	if (!file) {
		if (errno == ENOENT)
			warnx("the driver is not loaded");
		else
			warn(CTL_PAGE);
		return CTL_FAILED;
	}
	if (print.json)
		printf("[");
	while (getline(&line, &room, file) >= 0)
		ctl_line(&print, line);
	if (print.json)
		printf("%s]\n", print.devices ? "]}" : "");
	free(line);
	fclose(file);
	if (print.devices)
		return CTL_OK;
	if (only)
		warnx("there is no %s", only);
	else
		ctl_no_device();
	return CTL_FAILED;
}
