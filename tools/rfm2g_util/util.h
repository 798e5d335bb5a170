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
 * @over: true if the user has ended the session
 * @lines: reader of commands and of answers; NULL if the program cannot ask
 *	the user
 * @map: buffer that the command mapuser has mapped; NULL if there is none
 * @map_count: size of @map, as given to mapuser or mapuserbytes
 * @map_pages: true if @map_count is in pages, false if it is in bytes
 * @callback: for each event type, true if it has a callback
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
 * @run: function that runs the command; its argv begins with the first
 *	argument, not with the name of the command
 * @min: minimum number of arguments
 * @max: maximum number of arguments
 * @which: value that distinguishes commands with the same @run
 * @menu: menu that offers the command
 * @hidden: true if help does not list the command
 * @once: true if the command "repeat" rejects this one
 * @offline: true if the command needs no device
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

/*
 * Tables of commands: util_data_commands in data.c, and so on. An entry without
 * a name ends a table.
 */
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
