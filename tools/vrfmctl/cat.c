// SPDX-License-Identifier: GPL-2.0
/* Print a file of records, as lines or JSON, or as a table of signals. */
#include <err.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"
#include "pcapng.h"

#define CTL_SIGNALS 256
#define CTL_NS 1000000000ULL

/**
 * struct ctl_signal - column of a table
 * @name: name of the column
 * @offset: offset of the value in the memory
 * @size: bytes of the value
 * @kind: u: unsigned, i: signed, f: floating point
 * @big: the value is big-endian
 */
struct ctl_signal {
	char name[64];
	uint64_t offset;
	unsigned int size;
	char kind;
	bool big;
};

/**
 * struct ctl_table - table of signals
 * @signals: the columns
 * @n: number of columns
 * @at: offset of the word whose writes print a row
 * @memory: content of the memory at the present record
 */
struct ctl_table {
	struct ctl_signal signals[CTL_SIGNALS];
	unsigned int n;
	uint64_t at;
	uint8_t *memory;
};

/* Warn if a file ends in the middle, and return the result of its reader. */
static enum ctl_result ctl_file_result(const struct ctl_file *file,
				       enum ctl_read ret)
{
	if (ret == CTL_INVALID)
		return CTL_FAILED;
	if (!file->ended)
		warnx("%s: was cut at byte %" PRIu64 ", and the records before are valid",
		      file->path, file->at);
	if (file->dropped)
		warnx("%s: %" PRIu64 " records were dropped when it was written",
		      file->path, file->dropped);
	return file->dropped ? CTL_WITHOUT : CTL_OK;
}

/**
 * ctl_cat - print a file of records as lines or JSON
 * @options: options of the command line
 * @path: name of the file
 *
 * Return: CTL_OK; CTL_WITHOUT if records are missing because they were dropped;
 * CTL_FAILED after an error message.
 */
enum ctl_result ctl_cat(const struct ctl_options *options, const char *path)
{
	static struct ctl_file file;
	enum ctl_result result;
	enum ctl_read ret;

	if (!ctl_file_open(&file, path))
		return CTL_FAILED;
	while (!(ret = ctl_file_next(&file)) && !ferror(stdout)) {
		if (options->json)
			ctl_show_json(file.record, file.len, file.real_ns);
		else
			ctl_show_line(file.record, file.len, file.real_ns);
	}
	result = ctl_file_result(&file, ret);
	ctl_file_close(&file);
	return result;
}

/* ---- signals ---- */

/* Parse a type: u8 to u64, i8 to i64, f32 or f64, with be- in front. */
static bool ctl_signal_type(struct ctl_signal *signal, const char *text)
{
	static const char * const types[] = { "u8", "u16", "u32", "u64", "i8",
					      "i16", "i32", "i64", "f32", "f64" };
	size_t i;

	signal->big = !strncmp(text, "be-", 3);
	text += signal->big ? 3 : 0;
	for (i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (!strcmp(text, types[i])) {
			signal->kind = *text;
			signal->size = strtoul(text + 1, NULL, 10) / 8;
			return true;
		}
	return false;
}

static bool ctl_signal_parse(struct ctl_signal *signal, const char *line,
			     uint64_t size)
{
	char offset[32], type[16], rest;
	char *end;

	if (sscanf(line, "%63s %31s %15s %c", signal->name, offset, type,
		   &rest) != 3 || !conf_is_plain(offset) ||
	    strpbrk(signal->name, ",\"") || !ctl_signal_type(signal, type))
		return false;
	signal->offset = strtoull(offset, &end, 0);
	return !*end && signal->offset <= size &&
	       signal->size <= size - signal->offset;
}

/* Read the columns of a table: a line "name offset type" for each. */
static bool ctl_table_read(struct ctl_table *table, const char *path,
			   uint64_t size)
{
	FILE *file = fopen(path, "re");
	unsigned int number = 0;
	char line[256];
	bool good = true;

	if (!file) {
		warn("%s", path);
		return false;
	}
	while (good && fgets(line, sizeof(line), file)) {
		number++;
		if (line[strspn(line, " \t\n")] == 0 || *line == '#')
			continue;
		good = table->n < CTL_SIGNALS &&
		       ctl_signal_parse(&table->signals[table->n++], line, size);
	}
	if (!good)
		warnx("%s:%u: not a name, an offset in the memory and a type, or too many lines",
		      path, number);
	else if (!table->n)
		warnx("%s has no signal", path);
	fclose(file);
	return good && table->n;
}

static uint64_t ctl_signal_raw(const struct ctl_signal *signal,
			       const uint8_t *memory)
{
	uint64_t raw = 0;
	unsigned int i, at;

	for (i = 0; i < signal->size; i++) {
		at = signal->big ? i : signal->size - 1 - i;
		raw = raw << 8 | memory[signal->offset + at];
	}
	return raw;
}

static void ctl_signal_print(const struct ctl_signal *signal,
			     const uint8_t *memory)
{
	uint64_t raw = ctl_signal_raw(signal, memory);
	unsigned int unused = 64 - 8 * signal->size;
	uint32_t word = raw;
	double wide;
	float narrow;

	if (signal->kind == 'u') {
		printf(",%" PRIu64, raw);
	} else if (signal->kind == 'i') {
		printf(",%" PRId64, (int64_t)(raw << unused) >> unused);
	} else if (signal->size == 4) {
		memcpy(&narrow, &word, sizeof(narrow));
		printf(",%.9g", narrow);
	} else {
		memcpy(&wide, &raw, sizeof(wide));
		printf(",%.17g", wide);
	}
}

static void ctl_table_row(const struct ctl_table *table, uint64_t ns)
{
	unsigned int i;

	printf("%" PRIu64 ".%09" PRIu64, ns / (uint64_t)CTL_NS,
	       ns % (uint64_t)CTL_NS);
	for (i = 0; i < table->n; i++)
		ctl_signal_print(&table->signals[i], table->memory);
	printf("\n");
}

/* Apply a record to the memory, and print a row if it wrote the word. */
static void ctl_table_apply(struct ctl_table *table,
			    const struct ctl_file *file)
{
	const struct vrfm_record *record = file->record;

	if (!ctl_is_write(record) || record->type == VRFM_REC_PLACED)
		return;
	memcpy(table->memory + record->offset, record + 1, file->len);
	if (record->type != VRFM_REC_IMAGE_AT && record->offset <= table->at &&
	    table->at < (uint64_t)record->offset + record->length)
		ctl_table_row(table, record->time_ns + file->real_ns);
}

static enum ctl_result ctl_export_rows(struct ctl_table *table,
				       struct ctl_file *file)
{
	enum ctl_read ret;
	unsigned int i;

	printf("time");
	for (i = 0; i < table->n; i++)
		printf(",%s", table->signals[i].name);
	printf("\n");
	while (!(ret = ctl_file_next(file)) && !ferror(stdout))
		ctl_table_apply(table, file);
	return ctl_file_result(file, ret);
}

/**
 * ctl_export - print a table of signals: a row for each write to a word
 * @options: options of the command line
 * @path: name of the file of records
 *
 * Return: CTL_OK; CTL_WITHOUT if records are missing because they were dropped;
 * CTL_FAILED after an error message; CTL_USAGE.
 */
enum ctl_result ctl_export(const struct ctl_options *options, const char *path)
{
	static struct ctl_table table;
	static struct ctl_file file;
	enum ctl_result result = CTL_FAILED;

	if (!options->signals) {
		warnx("export needs --signals");
		return CTL_USAGE;
	}
	if (!ctl_file_open(&file, path))
		return CTL_FAILED;
	table.at = options->offset;
	table.memory = calloc(1, file.source.size);
	if (!table.memory)
		warn("%s", path);
	else if (table.at >= file.source.size)
		warnx("%s: no word at %" PRIu64, path, table.at);
	else if (ctl_table_read(&table, options->signals, file.source.size))
		result = ctl_export_rows(&table, &file);
	free(table.memory);
	ctl_file_close(&file);
	return result;
}
