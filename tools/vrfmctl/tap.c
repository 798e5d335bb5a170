// SPDX-License-Identifier: GPL-2.0
/*
 * Show the writes, messages and events of a device, as lines, as JSON, or as a
 * file for Wireshark.
 */
#include <err.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ctl.h"
#include "stream.h"

/* Number of slots of the ring: 4 MiB. */
#define CTL_TAP_SLOTS 65536
/* Payload bytes that are enough for a line. */
#define CTL_TAP_LINE 64

/**
 * struct ctl_output - output of a tap
 * @json: print JSON instead of lines
 * @pcapng: file of packets, or NULL
 * @path: name of the file
 * @snap: largest number of payload bytes of the ring
 * @real_ns: CLOCK_REALTIME minus the clock of the records
 * @n: number of records so far, without those that report dropped ones
 */
struct ctl_output {
	bool json;
	FILE *pcapng;
	const char *path;
	uint32_t snap;
	int64_t real_ns;
	uint64_t n;
};

static void ctl_put(struct ctl_output *out, const struct vrfm_record *record)
{
	uint32_t len = ctl_payload(record, out->snap);

	out->n += record->type != VRFM_REC_LOST;
	if (out->pcapng)
		ctl_pcapng_record(out->pcapng, record, len, out->real_ns);
	else if (out->json)
		ctl_show_json(record, len, out->real_ns);
	else
		ctl_show_line(record, len, out->real_ns);
}

/* Let readers of a pipe see all records so far. Return false after an error message. */
static bool ctl_put_out(struct ctl_output *out)
{
	FILE *file = out->pcapng ? out->pcapng : stdout;

	if (!fflush(file) && !ferror(file))
		return true;
	if (out->pcapng)
		warn("%s", out->path);
	return false;
}

/*
 * Print records until COUNT are printed (0: no limit), or a signal comes. Return
 * false after an error.
 */
static bool ctl_tap_run(struct ctl_tap *tap, unsigned int unit,
			struct ctl_output *out, uint64_t count)
{
	const struct vrfm_record *record;

	while (!ctl_is_stopped()) {
		record = ctl_tap_next(tap);
		if (record) {
			ctl_put(out, record);
			if (count && out->n >= count)
				break;
			continue;
		}
		if (!ctl_put_out(out))
			return false;
		if (!ctl_tap_wait(tap, unit))
			return false;
	}
	return ctl_put_out(out);
}

static bool ctl_tap_begin(int fd, unsigned int unit, const struct ctl_tap *tap,
			  struct ctl_output *out)
{
	struct ctl_source source = { .node = tap->kernel->node,
				     .size = tap->kernel->size };

	out->real_ns = tap->kernel->real_ns;
	if (!out->path)
		return true;
	if (!ctl_source_read(fd, unit, &source))
		return false;
	out->pcapng = strcmp(out->path, "-") ? fopen(out->path, "we") : stdout;
	if (!out->pcapng) {
		warn("%s", out->path);
		return false;
	}
	ctl_pcapng_begin(out->pcapng, &source);
	return ctl_put_out(out);
}

/* Complete the output. Return false after an error message. */
static bool ctl_tap_end(const struct ctl_tap *tap, struct ctl_output *out)
{
	uint64_t lost = __atomic_load_n(&tap->kernel->lost, __ATOMIC_RELAXED);
	struct timespec now;
	bool good;

	if (lost)
		warnx("%llu records were dropped, because the output was too slow",
		      (unsigned long long)lost);
	if (!out->pcapng)
		return true;
	clock_gettime(CLOCK_REALTIME, &now);
	ctl_pcapng_end(out->pcapng, out->n + lost, lost,
		       now.tv_sec * 1000000000ULL + now.tv_nsec);
	good = ctl_put_out(out);
	if (out->pcapng != stdout && fclose(out->pcapng) && good) {
		warn("%s", out->path);
		good = false;
	}
	return good;
}

static bool ctl_tap_device(int fd, unsigned int unit,
			   const struct ctl_options *options)
{
	struct ctl_output out = { .json = options->json,
				  .path = options->pcapng };
	struct ctl_choice choice = options->choice;
	struct ctl_tap tap;
	bool good;

	if (!choice.has_snap)
		choice.snap = options->json || options->pcapng ?
				      VRFM_RING_SNAP_MAX :
				      CTL_TAP_LINE;
	out.snap = choice.snap;
	if (!ctl_tap_open(&tap, fd, unit, &choice, CTL_TAP_SLOTS,
			  options->all ? VRFM_SUB_ALL : 0))
		return false;
	good = ctl_tap_begin(fd, unit, &tap, &out);
	if (good) {
		good = ctl_tap_run(&tap, unit, &out, options->count);
		good &= ctl_tap_end(&tap, &out);
	}
	ctl_tap_close(&tap);
	return good;
}

/**
 * ctl_show_tap - show the records of a tap
 * @options: options of the command line
 * @only: name of the device; NULL if there is only one device
 *
 * Return: CTL_OK after @options->count records, or SIGINT or SIGTERM; CTL_FAILED
 * after an error message; CTL_USAGE.
 */
enum ctl_result ctl_show_tap(const struct ctl_options *options,
			     const char *only)
{
	unsigned int unit;
	bool good;
	int fd;

	if (options->json && options->pcapng) {
		warnx("tap has either --json or --pcapng");
		return CTL_USAGE;
	}
	if (!ctl_which(only, &unit))
		return CTL_FAILED;
	fd = ctl_open(unit, O_RDONLY);
	if (fd < 0)
		return CTL_FAILED;
	ctl_catch_signals();
	good = ctl_tap_device(fd, unit, options);
	close(fd);
	return good ? CTL_OK : CTL_FAILED;
}
