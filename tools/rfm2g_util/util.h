/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of rfm2g_util share. */
#ifndef RFM2G_UTIL_H
#define RFM2G_UTIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <rfm2g_extras.h>

/* What a command returns, and the program with it. */
enum util_result {
	UTIL_OK,
	UTIL_FAILED,
	UTIL_USAGE,
};

/**
 * enum util_menu - where a command is offered
 * @UTIL_MAIN: at the start
 * @UTIL_DRIVER: after drvspecific
 * @UTIL_BOTH: in both
 */
enum util_menu {
	UTIL_MAIN,
	UTIL_DRIVER,
	UTIL_BOTH,
};

/**
 * struct util - a session
 * @rh: device
 * @name: of the device, for the prompt
 * @menu: which commands there are now
 * @over: it ends
 * @lines: where lines come from, for questions; NULL: nobody can be asked
 * @map: what mapuser mapped, NULL: nothing
 * @map_count: its size, as mapuser or mapuserbytes was told
 * @map_pages: in pages, not in bytes
 * @callback: which events have one
 */
struct util {
	RFM2GHANDLE rh;
	char name[64];
	enum util_menu menu;
	bool over;
	struct line_reader *lines;
	volatile void *map;
	uint32_t map_count;
	bool map_pages;
	bool callback[RFM2GEVENT_LAST];
};

/**
 * struct util_command - a command
 * @name: of it, in small letters
 * @args: as the user is told; those in [] may be left out
 * @text: what it does
 * @run: does it; @argv begins with the first argument
 * @min: arguments
 * @max: arguments
 * @which: tells commands that share @run from each other
 * @menu: where it is offered
 * @hidden: help does not list it
 * @once: repeat does not take it
 * @offline: needs no device
 */
struct util_command {
	const char *name;
	const char *args;
	const char *text;
	enum util_result (*run)(struct util *util,
				const struct util_command *command,
				int argc, char **argv);
	int min;
	int max;
	int which;
	enum util_menu menu;
	bool hidden;
	bool once;
	bool offline;
};

/* commands.c */
bool util_is_offline(const char *word);
enum util_result util_run_words(struct util *util, int argc, char **argv);
enum util_result util_run_line(struct util *util, const char *line);
size_t util_complete(void *arg, const char *line, size_t at, const char **found,
		     size_t room);

/* data.c, events.c, info.c, maps.c, perf.c, regs.c, switches.c: ends at name NULL */
extern const struct util_command util_data_commands[];
extern const struct util_command util_event_commands[];
extern const struct util_command util_info_commands[];
extern const struct util_command util_map_commands[];
extern const struct util_command util_perf_commands[];
extern const struct util_command util_reg_commands[];
extern const struct util_command util_switch_commands[];

/* data.c */
void util_dump(const uint8_t *bytes, uint32_t offset, uint32_t width,
	       uint32_t count);

/* line.c */
struct line_reader;
typedef size_t (*line_complete)(void *arg, const char *line, size_t at,
				const char **found, size_t room);
struct line_reader *line_open(int fd, line_complete complete, void *arg);
void line_close(struct line_reader *reader);
char *line_read(struct line_reader *reader, const char *prompt);
bool line_is_terminal(const struct line_reader *reader);
void line_again(struct line_reader *reader);

/* maps.c */
uint64_t util_map_bytes(const struct util *util);

/* switches.c */
extern const char * const util_debug_names[];

/* words.c */
int util_split(char *line, char **words, int room);
bool util_number(const char *text, uint32_t *value);
bool util_hex64(const char *text, uint64_t *value);
bool util_below(const char *what, const char *text, uint32_t end,
		uint32_t *value);
enum util_result util_status(RFM2G_STATUS status);

#endif /* RFM2G_UTIL_H */
