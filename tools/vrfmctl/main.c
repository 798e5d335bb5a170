// SPDX-License-Identifier: GPL-2.0
/* vrfmctl: the devices of this host, as /etc/vrfm.conf describes them. */
#include <err.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"

#define CTL_CONF "/etc/vrfm.conf"

static const char ctl_help_text[] =
"vrfmctl [-f FILE] up [DEVICE]...\n"
"vrfmctl [-f FILE] down [DEVICE]...\n"
"vrfmctl [-f FILE] conf\n"
"vrfmctl [--json] status [DEVICE]\n"
"\n"
"up: have the devices that " CTL_CONF " describes, or those that are named;\n"
"peers of one that is up are brought up to date. down: have them no more, unless\n"
"they are open; without a name, those of the file. conf: is the file right?\n"
"status: what is there.\n"
"\n"
"  -f, --file=FILE   instead of " CTL_CONF "\n"
"  -j, --json        status for programs\n"
"\n"
"Exit status: 0 all was well, 1 something failed, 2 usage.\n";

static enum ctl_result ctl_conf(const char *path, struct conf *conf)
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

/* One that fails does not keep the others from coming up. */
static enum ctl_result ctl_run_up(const char *path, int argc, char **argv)
{
	static struct conf conf;
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
	return ret;
}

/* Those that are named need not be in the file. */
static enum ctl_result ctl_run_down(const char *path, int argc, char **argv)
{
	static struct conf conf;
	enum ctl_result ret = CTL_OK;
	unsigned int unit;
	int i;

	if (!argc)
		ret = ctl_conf(path, &conf);
	for (i = 0; i < conf.n; i++)
		if (ctl_down(conf.devices[i].unit))
			ret = CTL_FAILED;
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

static enum ctl_result ctl_run_conf(const char *path)
{
	static struct conf conf;
	enum ctl_result ret = ctl_conf(path, &conf);

	if (!ret)
		printf("%s: %d devices\n", path, conf.n);
	return ret;
}

static enum ctl_result ctl_usage(void)
{
	fputs(ctl_help_text, stderr);
	return CTL_USAGE;
}

static enum ctl_result ctl_run(const char *path, bool json, int argc,
			       char **argv)
{
	if (!strcmp(argv[0], "up"))
		return ctl_run_up(path, argc - 1, argv + 1);
	if (!strcmp(argv[0], "down"))
		return ctl_run_down(path, argc - 1, argv + 1);
	if (!strcmp(argv[0], "conf") && argc == 1)
		return ctl_run_conf(path);
	if (!strcmp(argv[0], "status") && argc <= 2)
		return ctl_status(json, argc == 2 ? argv[1] : NULL);
	return ctl_usage();
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "file", required_argument, NULL, 'f' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	const char *path = CTL_CONF;
	bool json = false;
	int option;

	while ((option = getopt_long(argc, argv, "f:jh", options, NULL)) != -1) {
		if (option == 'f') {
			path = optarg;
		} else if (option == 'j') {
			json = true;
		} else if (option == 'h') {
			fputs(ctl_help_text, stdout);
			return CTL_OK;
		} else {
			return ctl_usage();
		}
	}
	if (optind == argc)
		return ctl_usage();
	return ctl_run(path, json, argc - optind, argv + optind);
}
