// SPDX-License-Identifier: GPL-2.0
/* vrfmctl: control the devices that /etc/vrfm.conf describes. */
#include <ctype.h>
#include <err.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "../../include/version.h"
#include "ctl.h"

static const char ctl_help_text[] =
"vrfmctl [-f FILE] up|down [DEVICE]...\n"
"vrfmctl down --all\n"
"vrfmctl [-f FILE] conf\n"
"vrfmctl [--json] status|peers [DEVICE]\n"
"vrfmctl [--json] [-i SECONDS] [-n COUNT] top [DEVICE]\n"
"vrfmctl [--json] [-t SECONDS] join [DEVICE]\n"
"vrfmctl [--json] [-b BLOCK] [-c FILE] check [DEVICE]\n"
"vrfmctl [--json] [-n COUNT] [-w OFFSET] [-e EVENT] bench [DEVICE]\n"
"vrfmctl [--json | -p FILE] [-N NODES] [-r OFFSET:LENGTH] [-k KINDS] [-s BYTES]\n"
"        [-n COUNT] [--all] tap [DEVICE]\n"
"vrfmctl [-r OFFSET:LENGTH] [-N NODES] [--size=BYTES] [--seconds=S]\n"
"        [--files=COUNT] [--all] record FILE [DEVICE]\n"
"vrfmctl [--json] [--speed=X] [--from=SECONDS] [--to=SECONDS] [--loop]\n"
"        [--shift=BYTES] [--no-image] [--events] [--rt] [--late=US] [--force]\n"
"        [-N NODES] [-r OFFSET:LENGTH] replay FILE [DEVICE]\n"
"vrfmctl [--json] cat FILE\n"
"vrfmctl --signals=FILE [--at=OFFSET] export FILE\n"
"vrfmctl genkey [FILE]\n"
"vrfmctl --nodes=NODES genkey FOLDER\n"
"vrfmctl [-f FILE] [--json] key next FILE [DEVICE]\n"
"vrfmctl [-f FILE] [--json] key switch [DEVICE]\n"
"vrfmctl [-f FILE] [--json] [--now] [-t SECONDS] key drop [DEVICE]\n"
"vrfmctl [-f FILE] [--json] [--links] [-t SECONDS] rekey [DEVICE]\n"
"vrfmctl [--json] keys [DEVICE]\n"
"\n"
"up: create the devices in " CTL_CONF " (or only those named), and update\n"
"the peers of existing ones. down: remove the devices in the file, those named,\n"
"or all with --all; a device that is open stays. conf: check the file. status:\n"
"show the devices. peers: show the peers of each device. top: show the peers\n"
"repeatedly, with rates. join: wait until a device has all data of its peers.\n"
"check: print checksums of its blocks, or compare them with another node's.\n"
"bench: measure single operations on this node. tap: show its writes, messages\n"
"and events, as lines, JSON or a file for Wireshark. record: write them to a\n"
"file. replay: repeat the writes in a file. cat: print a file. export: print a\n"
"table of values in a file. genkey: make a key, or one for each pair of nodes.\n"
"key: replace the key of a device, in three steps. rekey: read its file of keys\n"
"again. keys: show the ids of keys, and of those in use.\n"
"\n"
"  -f, --file=FILE         read FILE instead of " CTL_CONF "\n"
"  -a, --all               down: all devices, also those not in the file;\n"
"                          tap: no peer writes directly, so no write is missing\n"
"  -j, --json              print JSON, for programs\n"
"  -i, --interval=SECONDS  top: time between two rounds (1)\n"
"  -n, --count=COUNT       rounds of top, operations of bench (10000), or records\n"
"                          of tap\n"
"  -t, --timeout=SECONDS   join: stop waiting after SECONDS\n"
"  -b, --block=BYTES       check: size of a block; K or M may follow (64K)\n"
"  -c, --compare=FILE      check: compare with the output of check on another\n"
"                          node; -: stdin\n"
"  -w, --write=OFFSET      bench: also write; overwrites the word at OFFSET\n"
"  -e, --event=TYPE        bench: also send events to all nodes, TYPE 1 to 4\n"
"  -p, --pcapng=FILE       tap: write packets for Wireshark; -: stdout\n"
"  -N, --nodes=NODES       tap: only records about these nodes, as 1,5-7\n"
"  -r, --range=OFFSET:LENGTH  tap: only writes into these bytes\n"
"  -k, --kinds=KINDS       tap: only these types of records: stored, found,\n"
"                          applied, placed, sent, received, raised, told, hole\n"
"  -s, --snap=BYTES        tap: at most this many bytes of each write or message\n"
"      --size=BYTES        record: size of the records in a file; K or M may follow\n"
"      --seconds=SECONDS   record: stop after SECONDS\n"
"      --files=COUNT       record: begin a new file when one has its size, and\n"
"                          keep the last COUNT of FILE.1, FILE.2 ...\n"
"      --speed=X           replay: X times as fast; max: without waiting (1)\n"
"      --from=SECONDS      replay: do not wait before this time of the file\n"
"      --to=SECONDS        replay: stop at this time of the file\n"
"      --loop              replay: repeat the file\n"
"      --shift=BYTES       replay: add BYTES, perhaps negative, to each offset\n"
"      --no-image          replay: only writes, not the content at the begin\n"
"      --events            replay: also send the events INTR1 to INTR4\n"
"      --rt                replay: in the real-time class\n"
"      --late=US           replay: exit status 3 if a batch is later than US\n"
"      --force             replay: although a writer of the file is linked\n"
"      --signals=FILE      export: columns, a line \"name offset type\" for each\n"
"      --at=OFFSET         export: print a row for each write to this byte (0)\n"
"      --now               key drop: make links again that use the old key\n"
"      --links             rekey: make all links again, one by one\n"
"  -h, --help              print this text\n"
"  -V, --version           print the version\n"
"\n"
"Exit status: 0 success, 1 failure or difference, 2 usage, 3 join: the device\n"
"has all data of the linked peers, and other peers are not linked.\n";

/**
 * ctl_conf - read the configuration
 * @path: path of the file
 * @conf: result
 *
 * Return: CTL_OK; or CTL_FAILED after an error message.
 */
enum ctl_result ctl_conf(const char *path, struct conf *conf)
{
	FILE *file = fopen(path, "r");
	bool good;

	if (!file) {
		warn("%s", path);
		return CTL_FAILED;
	}
	good = conf_read(file, path, conf);
	fclose(file);
	if (good && conf->n)
		return CTL_OK;
	if (good)
		warnx("%s has no device", path);
	return CTL_FAILED;
}

static enum ctl_result ctl_up_named(struct conf *conf, const char *path,
				    const char *name)
{
	struct conf_device *device;
	unsigned int unit;

	if (!conf_unit(name, &unit)) {
		warnx("%s: devices are rfm2g0 to rfm2g7", name);
		return CTL_USAGE;
	}
	device = conf_find(conf, unit);
	if (device)
		return ctl_up(device);
	warnx("%s is not in %s", name, path);
	return CTL_FAILED;
}

/*
 * List the devices that are up, but not in the configuration. A user may expect
 * that "up" removes them, which it does not.
 */
static void ctl_tell_others(struct conf *conf, const char *path)
{
	unsigned int unit;

	for (unit = 0; unit < CONF_DEVICES; unit++)
		if (!conf_find(conf, unit) && ctl_is_enabled(unit))
			warnx("rfm2g%u is up, but not in %s: vrfmctl down rfm2g%u takes it away",
			      unit, path, unit);
}

/* Bring devices up. If one fails, continue with the others. */
static enum ctl_result ctl_run_up(const struct ctl_options *options, int argc,
				  char **argv)
{
	static struct conf conf;
	const char *path = options->path;
	enum ctl_result ret = ctl_conf(path, &conf), one;
	int i;

	if (ret)
		return ret;
	for (i = 0; !argc && i < conf.n; i++)
		if (ctl_up(&conf.devices[i]))
			ret = CTL_FAILED;
	for (i = 0; i < argc; i++) {
		one = ctl_up_named(&conf, path, argv[i]);
		ret = ret ? ret : one;
	}
	if (!argc)
		ctl_tell_others(&conf, path);
	return ret;
}

/* Remove all devices, even if the configuration has changed or is missing. */
static enum ctl_result ctl_down_all(void)
{
	enum ctl_result ret = CTL_OK;
	unsigned int unit;

	for (unit = 0; unit < CONF_DEVICES; unit++)
		if (ctl_exists(unit) && ctl_down(unit))
			ret = CTL_FAILED;
	return ret;
}

static enum ctl_result ctl_down_file(const char *path)
{
	static struct conf conf;
	enum ctl_result ret = ctl_conf(path, &conf);
	int i;

	if (ret)
		return ret;
	for (i = 0; i < conf.n; i++)
		if (ctl_down(conf.devices[i].unit))
			ret = CTL_FAILED;
	return ret;
}

/* Remove the named devices, which need not be in the configuration. */
static enum ctl_result ctl_down_named(int argc, char **argv)
{
	enum ctl_result ret = CTL_OK;
	unsigned int unit;
	int i;

	for (i = 0; i < argc; i++) {
		if (!conf_unit(argv[i], &unit)) {
			warnx("%s: devices are rfm2g0 to rfm2g7", argv[i]);
			return CTL_USAGE;
		}
		if (ctl_down(unit))
			ret = CTL_FAILED;
	}
	return ret;
}

static enum ctl_result ctl_run_down(const struct ctl_options *options, int argc,
				    char **argv)
{
	/*
	 * If the driver is loaded, ctl_load() only mounts configfs, whose
	 * directories show the devices.
	 */
	if (ctl_is_loaded() && !ctl_load())
		return CTL_FAILED;
	if (argc)
		return ctl_down_named(argc, argv);
	return options->all ? ctl_down_all() : ctl_down_file(options->path);
}

/*
 * Print a device of the configuration, with its size, because the size must be
 * the same on all nodes.
 */
static void ctl_print_conf(const struct conf_device *device)
{
	const char *size = device->values[CONF_SIZE];
	const char *level = device->values[CONF_SECURITY];

	printf("rfm2g%u: node %s, size %s, %d peer%s%s%s\n", device->unit,
	       device->values[CONF_NODE], *size ? size : "64M (default)",
	       device->npeers, device->npeers == 1 ? "" : "s",
	       *level ? ", security " : "", level);
}

static enum ctl_result ctl_run_conf(const char *path)
{
	static struct conf conf;
	enum ctl_result ret = ctl_conf(path, &conf);
	int i;

	if (ret)
		return ret;
	printf("%s: %d device%s\n", path, conf.n, conf.n == 1 ? "" : "s");
	for (i = 0; i < conf.n; i++)
		ctl_print_conf(&conf.devices[i]);
	return CTL_OK;
}

static enum ctl_result ctl_usage(void)
{
	fputs(ctl_help_text, stderr);
	return CTL_USAGE;
}

/* Check that a command accepts all options that the user has given. */
static bool ctl_takes(const char *command, const char *given)
{
	static const char * const options[][2] = {
		{ "up", "f" }, { "down", "fa" }, { "conf", "f" },
		{ "status", "j" }, { "peers", "j" }, { "top", "jin" },
		{ "join", "jt" }, { "check", "jbc" }, { "bench", "jnwe" },
		{ "tap", "jpNrksna" }, { "record", "rNbtaF" },
		{ "replay", "jxABlHIERLONr" }, { "cat", "j" },
		{ "export", "go" }, { "genkey", "N" }, { "key", "fjWt" },
		{ "rekey", "fjKt" }, { "keys", "j" },
	};
	size_t i;

	for (i = 0; i < sizeof(options) / sizeof(*options); i++) {
		const char *taken = options[i][1];

		if (strcmp(options[i][0], command) ||
		    !given[strspn(given, taken)])
			continue;
		warnx("%s has no option -%c", command,
		      given[strspn(given, taken)]);
		return false;
	}
	return true;
}

static bool ctl_is_about_file(const char *command)
{
	return !strcmp(command, "record") || !strcmp(command, "replay") ||
	       !strcmp(command, "cat") || !strcmp(command, "export");
}

/* Run a command with a file of records, and perhaps a device. */
static enum ctl_result ctl_run_file(const struct ctl_options *options, int argc,
				    char **argv)
{
	const char *only = argc == 3 ? argv[2] : NULL;

	if (!strcmp(argv[0], "record") && argc <= 3)
		return ctl_record(options, argv[1], only);
	if (!strcmp(argv[0], "replay") && argc <= 3)
		return ctl_replay(options, argv[1], only);
	if (!strcmp(argv[0], "cat") && argc == 2)
		return ctl_cat(options, argv[1]);
	if (!strcmp(argv[0], "export") && argc == 2)
		return ctl_export(options, argv[1]);
	return ctl_usage();
}

static enum ctl_result ctl_run(const struct ctl_options *options, int argc,
			       char **argv)
{
	static const struct {
		const char *name;
		enum ctl_result (*run)(const struct ctl_options *options,
				       const char *only);
	} commands[] = {
		{ "status", ctl_status }, { "peers", ctl_show_peers },
		{ "top", ctl_top }, { "join", ctl_join },
		{ "check", ctl_check }, { "bench", ctl_bench },
		{ "tap", ctl_show_tap }, { "genkey", ctl_genkey },
		{ "keys", ctl_keys }, { "rekey", ctl_rekey },
	};
	bool known = !strcmp(argv[0], "conf") || !strcmp(argv[0], "down") ||
		     ctl_is_about_file(argv[0]);
	enum ctl_result ret;
	size_t i;

	if (!strcmp(argv[0], "up"))
		return ctl_run_up(options, argc - 1, argv + 1);
	if (!strcmp(argv[0], "down") && !(options->all && argc > 1))
		return ctl_run_down(options, argc - 1, argv + 1);
	if (!strcmp(argv[0], "conf") && argc == 1)
		return ctl_run_conf(options->path);
	if (!strcmp(argv[0], "key")) {
		ret = ctl_key(options, argc - 1, argv + 1);
		return ret == CTL_USAGE ? ctl_usage() : ret;
	}
	if (ctl_is_about_file(argv[0]) && argc >= 2)
		return ctl_run_file(options, argc, argv);
	for (i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		if (strcmp(argv[0], commands[i].name))
			continue;
		if (argc <= 2)
			return commands[i].run(options,
					       argc == 2 ? argv[1] : NULL);
		known = true;
	}
	if (!known)
		warnx("%s: no such command", argv[0]);
	return ctl_usage();
}

/* Parse a number, and check that it is at least LEAST and at most MOST. */
static bool ctl_parse_number(const char *text, double least, double most,
			     double *value)
{
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	*value = strtod(text, &end);
	return !*end && *value >= least && *value <= most;
}

/*
 * Parse a number of bytes with an optional suffix K or M. It must be a multiple
 * of 4, which is the size of a word.
 */
static bool ctl_parse_size(const char *text, uint64_t least, uint64_t *value)
{
	char *end;

	if (!conf_is_plain(text))
		return false;
	*value = strtoull(text, &end, 0);
	if (*value > 1ULL << 31)
		return false;
	if (*end == 'K' || *end == 'M')
		*value <<= *end++ == 'K' ? 10 : 20;
	return !*end && *value >= least && *value <= 1ULL << 31 &&
	       *value % 4 == 0;
}

static bool ctl_choose(int option, const char *text, struct ctl_choice *choice)
{
	switch (option) {
	case 'N':
		return ctl_choose_nodes(text, choice);
	case 'r':
		return ctl_choose_range(text, choice);
	case 'k':
		return ctl_choose_kinds(text, choice);
	case 's':
		return ctl_choose_snap(text, choice);
	default:
		return false;
	}
}

static bool ctl_parse_shift(const char *text, int64_t *shift)
{
	uint64_t value;

	if (!ctl_parse_size(text + (*text == '-'), 0, &value))
		return false;
	*shift = *text == '-' ? -(int64_t)value : (int64_t)value;
	return true;
}

static bool ctl_replay_number(int option, const char *text,
			      struct ctl_options *options)
{
	double value = 0;
	bool good;

	switch (option) {
	case 'F':
		good = ctl_parse_number(text, 1, 1e6, &value);
		options->files = value;
		return good && value == options->files;
	case 'x':
		options->speed = 0;
		return !strcmp(text, "max") ||
		       ctl_parse_number(text, 0.001, 1e6, &options->speed);
	case 'A':
		return ctl_parse_number(text, 0, 1e9, &options->from);
	case 'B':
		return ctl_parse_number(text, 0.001, 1e9, &options->to);
	case 'L':
		good = ctl_parse_number(text, 1, 1e9, &value);
		options->late = value;
		return good;
	case 'H':
		return ctl_parse_shift(text, &options->shift);
	case 'o':
		return ctl_parse_size(text, 0, &options->offset);
	default:
		return false;
	}
}

static bool ctl_replay_option(int option, const char *text,
			      struct ctl_options *options)
{
	switch (option) {
	case 'l':
		options->loop = true;
		return true;
	case 'I':
		options->no_image = true;
		return true;
	case 'E':
		options->events = true;
		return true;
	case 'R':
		options->rt = true;
		return true;
	case 'O':
		options->force = true;
		return true;
	case 'g':
		options->signals = text;
		return true;
	case 'W':
		options->now = true;
		return true;
	case 'K':
		options->links = true;
		return true;
	default:
		return ctl_replay_number(option, text, options);
	}
}

static bool ctl_option(int option, const char *text,
		       struct ctl_options *options)
{
	double value = 0;
	bool good;

	switch (option) {
	case 'f':
		options->path = text;
		return true;
	case 'a':
		options->all = true;
		return true;
	case 'j':
		options->json = true;
		return true;
	case 'i':
		return ctl_parse_number(text, 0.01, 86400, &options->interval);
	case 'n':
		good = ctl_parse_number(text, 1, 1e7, &value);
		options->count = value;
		return good && value == options->count;
	case 't':
		return ctl_parse_number(text, 0.1, 1e6, &options->timeout);
	case 'b':
		return ctl_parse_size(text, 4, &options->block);
	case 'c':
		options->compare = text;
		return true;
	case 'w':
		options->writes = true;
		return ctl_parse_size(text, 0, &options->offset);
	case 'e':
		good = ctl_parse_number(text, 1, 4, &value);
		options->event = value;
		return good && value == options->event;
	case 'p':
		options->pcapng = text;
		return true;
	default:
		return ctl_choose(option, text, &options->choice) ||
		       ctl_replay_option(option, text, options);
	}
}

/*
 * Return the exit status. The program has failed if its output could not be
 * written, as on a full disk.
 */
static int ctl_said(int status)
{
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	warn("output");
	return status == CTL_OK ? CTL_FAILED : status;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "file", required_argument, NULL, 'f' },
		{ "all", no_argument, NULL, 'a' },
		{ "json", no_argument, NULL, 'j' },
		{ "interval", required_argument, NULL, 'i' },
		{ "count", required_argument, NULL, 'n' },
		{ "timeout", required_argument, NULL, 't' },
		{ "block", required_argument, NULL, 'b' },
		{ "compare", required_argument, NULL, 'c' },
		{ "write", required_argument, NULL, 'w' },
		{ "event", required_argument, NULL, 'e' },
		{ "pcapng", required_argument, NULL, 'p' },
		{ "nodes", required_argument, NULL, 'N' },
		{ "now", no_argument, NULL, 'W' },
		{ "links", no_argument, NULL, 'K' },
		{ "range", required_argument, NULL, 'r' },
		{ "kinds", required_argument, NULL, 'k' },
		{ "snap", required_argument, NULL, 's' },
		{ "size", required_argument, NULL, 'b' },
		{ "seconds", required_argument, NULL, 't' },
		{ "files", required_argument, NULL, 'F' },
		{ "speed", required_argument, NULL, 'x' },
		{ "from", required_argument, NULL, 'A' },
		{ "to", required_argument, NULL, 'B' },
		{ "loop", no_argument, NULL, 'l' },
		{ "shift", required_argument, NULL, 'H' },
		{ "no-image", no_argument, NULL, 'I' },
		{ "events", no_argument, NULL, 'E' },
		{ "rt", no_argument, NULL, 'R' },
		{ "late", required_argument, NULL, 'L' },
		{ "force", no_argument, NULL, 'O' },
		{ "signals", required_argument, NULL, 'g' },
		{ "at", required_argument, NULL, 'o' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ }
	};
	struct ctl_options wanted = { .path = CTL_CONF, .interval = 1, .speed = 1 };
	char given[32] = "";
	int option;

	while ((option = getopt_long(argc, argv, "f:aji:n:t:b:c:w:e:p:N:r:k:s:hV", options,
				     NULL)) != -1) {
		if (option == 'h') {
			fputs(ctl_help_text, stdout);
			return ctl_said(CTL_OK);
		}
		if (option == 'V') {
			puts("vrfmctl " KRDMA_VERSION);
			return ctl_said(CTL_OK);
		}
		if (!ctl_option(option, optarg, &wanted)) {
			if (option != '?')
				warnx("-%c %s: invalid value", option, optarg);
			return ctl_usage();
		}
		if (!strchr(given, option))
			given[strlen(given)] = option;
	}
	if (optind == argc || !ctl_takes(argv[optind], given))
		return ctl_usage();
	return ctl_said(ctl_run(&wanted, argc - optind, argv + optind));
}
