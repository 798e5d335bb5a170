// SPDX-License-Identifier: GPL-2.0
/*
 * rfm2g_util: inspect and try a device, interactively or in scripts.
 *
 * The commands are those of the cards' tool. Unlike that tool, rfm2g_util has a
 * reliable exit status: 0 success, 1 failure, 2 wrong usage.
 */
#include <ctype.h>
#include <err.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../include/version.h"
#include "util.h"

#define UTIL_DEVICES 8
#define UTIL_LINES 64

static const char util_help_text[] =
"rfm2g_util [-d DEVICE] [COMMAND [ARGUMENT]...]\n"
"rfm2g_util [-d DEVICE] -c LINE [-c LINE]...\n"
"rfm2g_util -h|-V, --help|--version\n"
"\n"
"Inspects and tries an RFM2g device. DEVICE is N of /dev/rfm2gN, or a path. It is\n"
"0 by default if a command is given; otherwise the program asks for it. Without\n"
"COMMAND or LINE, commands are read from stdin; help lists them. Lines are run\n"
"up to the first that fails.\n"
"\n"
"Exit status: 0 success, 1 failure, 2 usage.\n";

/* Options of the command line. */
struct util_start {
	const char *device;
	const char *lines[UTIL_LINES];
	int n;
};

/* Return the number of devices, or -1 if the driver is not loaded. */
static int util_count_devices(void)
{
	FILE *file = fopen("/proc/rfm2g", "r");
	char line[80];
	int n = -1;

	if (!file)
		return -1;
	while (n < 0 && fgets(line, sizeof(line), file))
		if (sscanf(line, "RFM2G_DEVICE_COUNT %d", &n) != 1)
			n = -1;
	fclose(file);
	return n;
}

static void util_path(const char *device, char *path, size_t room)
{
	if (isdigit((unsigned char)*device) && !device[1])
		snprintf(path, room, "/dev/rfm2g%s", device);
	else
		snprintf(path, room, "%s", device);
}

static void util_list_device(unsigned int unit)
{
	char path[MAX_PATH], text[400];
	RFM2GHANDLE rh;
	RFM2G_NODE node = 0;

	snprintf(path, sizeof(path), "/dev/rfm2g%u", unit);
	if (access(path, F_OK))
		return;
	if (RFM2gOpen(path, &rh)) {
		RFM2gxExplain(path, text, sizeof(text));
		printf("  %u  %s\n", unit, text);
		return;
	}
	RFM2gNodeID(rh, &node);
	printf("  %u  %s  board 0x%02x  node 0x%02x\n", unit, path,
	       rh->Config.BoardId, node);
	RFM2gClose(&rh);
}

/*
 * List the devices and ask the user for one. Return the answer, which the
 * caller frees, or NULL if there is no driver or the input has ended.
 */
static char *util_ask(struct line_reader *lines)
{
	unsigned int unit;
	char *answer;
	int n = util_count_devices();

	if (n < 0) {
		warnx("there is no /proc/rfm2g, the driver is not loaded: modprobe vrfm node=N");
		return NULL;
	}
	puts("rfm2g_util: diagnosis of RFM2g devices; help lists the commands");
	printf("%d devices:\n", n);
	for (unit = 0; unit < UTIL_DEVICES; unit++)
		util_list_device(unit);
	for (;;) {
		answer = line_read(lines, "device number: ");
		if (!answer || *answer)
			return answer;
		free(answer);
	}
}

static bool util_open(struct util *util, const char *device)
{
	char path[MAX_PATH], text[400];
	RFM2G_STATUS ret;

	util_path(device, path, sizeof(path));
	ret = RFM2gOpen(path, &util->rh);
	if (!ret) {
		snprintf(util->name, sizeof(util->name), "%.60s", device);
		return true;
	}
	RFM2gxExplain(path, text, sizeof(text));
	warnx("%s", *text ? text : RFM2gErrorMsg(ret));
	return false;
}

/* Run the commands from stdin, and continue after a command that fails. */
static int util_session(struct util *util)
{
	int status = UTIL_OK;
	char prompt[80];
	char *line;

	while (!util->over) {
		snprintf(prompt, sizeof(prompt), "%s%s > ", util->name,
			 util->menu == UTIL_DRIVER ? " drvspecific" : "");
		line = line_read(util->lines, prompt);
		if (!line)
			break;
		if (util_run_line(util, line))
			status = UTIL_FAILED;
		free(line);
	}
	return line_is_terminal(util->lines) ? UTIL_OK : status;
}

static int util_interactive(struct util *util, const char *device)
{
	int status = UTIL_FAILED;
	char *asked = NULL;

	util->lines = line_open(STDIN_FILENO, util_complete, util);
	if (!util->lines)
		err(1, "stdin");
	if (!device) {
		asked = util_ask(util->lines);
		device = asked;
	}
	if (device && util_open(util, device)) {
		status = util_session(util);
		RFM2gClose(&util->rh);
	}
	free(asked);
	line_close(util->lines);
	return status;
}

static int util_batch(struct util *util, const struct util_start *start,
		      int argc, char **argv)
{
	int status = UTIL_OK, i;

	if (!start->n && util_is_offline(argv[0]))
		return util_run_words(util, argc, argv);
	if (!util_open(util, start->device ? start->device : "0"))
		return UTIL_FAILED;
	for (i = 0; i < start->n && !status && !util->over; i++)
		status = util_run_line(util, start->lines[i]);
	if (argc && !status)
		status = util_run_words(util, argc, argv);
	RFM2gClose(&util->rh);
	return status;
}

/*
 * Return the exit status. The program has failed if its output could not be
 * written, as on a full disk.
 */
static int util_said(int status)
{
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	perror("output");
	return status == UTIL_OK ? UTIL_FAILED : status;
}

static void util_options(int argc, char **argv, struct util_start *start)
{
	static const struct option options[] = {
		{ "device", required_argument, NULL, 'd' },
		{ "command", required_argument, NULL, 'c' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ }
	};
	int option;

	/*
	 * "+" ends the options of this program at the command. All words after
	 * the command are its arguments, even if they begin with "-".
	 */
	while ((option = getopt_long(argc, argv, "+d:c:hV", options,
				     NULL)) != -1) {
		if (option == 'd') {
			start->device = optarg;
		} else if (option == 'c' && start->n < UTIL_LINES) {
			start->lines[start->n++] = optarg;
		} else if (option == 'V') {
			puts("rfm2g_util " KRDMA_VERSION);
			exit(util_said(UTIL_OK));
		} else {
			fputs(util_help_text, option == 'h' ? stdout : stderr);
			exit(option == 'h' ? util_said(UTIL_OK) : UTIL_USAGE);
		}
	}
}

int main(int argc, char **argv)
{
	struct util_start start = { };
	struct util util = { };

	util_options(argc, argv, &start);
	if (start.n || optind < argc)
		return util_said(util_batch(&util, &start, argc - optind,
					    argv + optind));
	return util_said(util_interactive(&util, start.device));
}
