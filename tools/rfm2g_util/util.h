/* SPDX-License-Identifier: GPL-2.0 */
/* Declarations that the files of rfm2g_util share. */
#ifndef RFM2G_UTIL_H
#define RFM2G_UTIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <rfm2g_extras.h>

/* Result of a command, and exit status of the program. */
enum util_result {
	UTIL_OK,
	UTIL_FAILED,
	UTIL_USAGE,
};

/**
 * enum util_menu - menu that offers a command
 * @UTIL_MAIN: main menu
 * @UTIL_DRIVER: menu of drvspecific
 * @UTIL_BOTH: both menus
 */
enum util_menu {
	UTIL_MAIN,
	UTIL_DRIVER,
	UTIL_BOTH,
};

/**
 * struct util - state of the program
 * @rh: device
 * @name: name of the device in the prompt
 * @menu: current menu
 * @over: the session ends
 * @lines: source of lines, also for questions; NULL: no user to ask
 * @map: mapping of mapuser, NULL: none
 * @map_count: size of @map, as given to mapuser or mapuserbytes
 * @map_pages: @map_count is in pages, not in bytes
 * @callback: event types that have a callback
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
 * @name: name, in lower case
 * @args: arguments in help and usage lines; those in [] are optional
 * @text: description in help
 * @run: function that runs it; @argv begins with the first argument
 * @min: minimum number of arguments
 * @max: maximum number of arguments
 * @which: distinguishes commands that share @run
 * @menu: menu that offers it
 * @hidden: help does not list it
 * @once: repeat rejects it
 * @offline: it needs no device
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

/* Tables of commands, each in the file of its name; a NULL name ends them. */
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
