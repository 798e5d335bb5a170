// SPDX-License-Identifier: GPL-2.0
/*
 * Record all writes to a device in files. A file begins with the content of the
 * memory, which is read while the tap is open already: later records have newer
 * values of the same bytes, so a replay ends with the right values. Pages with
 * only zeroes are omitted.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ctl.h"
#include "pcapng.h"

/* Number of slots of the ring: 16 MiB. */
#define CTL_RECORD_SLOTS 262144
#define CTL_PAGE 4096
#define CTL_NS 1000000000ULL
/* Types of records that a replay or an export uses. */
#define CTL_RECORD_KINDS \
	(VRFM_TAP_KIND(VRFM_REC_STORED) | VRFM_TAP_KIND(VRFM_REC_FOUND) | \
	 VRFM_TAP_KIND(VRFM_REC_APPLIED) | VRFM_TAP_KIND(VRFM_REC_RAISED) | \
	 VRFM_TAP_KIND(VRFM_REC_TOLD) | VRFM_TAP_KIND(VRFM_REC_HOLE))

/**
 * struct ctl_recorder - a recording
 * @options: options of the command line
 * @path: name of the file, without the number of rotated files
 * @unit: N of rfm2gN
 * @fd: descriptor of the device
 * @tap: tap of the device
 * @source: the device
 * @out: file that is being written
 * @name: name of @out
 * @number: number of files so far
 * @n: number of records in @out, without those that report dropped ones
 * @begin: size of @out with the content of the memory
 * @lost: number of records that were dropped before @out was begun
 * @holes: a peer may write directly
 */
struct ctl_recorder {
	const struct ctl_options *options;
	const char *path;
	unsigned int unit;
	int fd;
	struct ctl_tap tap;
	struct ctl_source source;
	FILE *out;
	char name[4096];
	unsigned int number;
	uint64_t n;
	off_t begin;
	uint64_t lost;
	bool holes;
};

static uint64_t ctl_clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * CTL_NS + t.tv_nsec;
}

static bool ctl_recorder_flush(struct ctl_recorder *recorder)
{
	if (!fflush(recorder->out) && !ferror(recorder->out))
		return true;
	warn("%s", recorder->name);
	return false;
}

static void ctl_recorder_put(struct ctl_recorder *recorder,
			     const struct vrfm_record *record, uint32_t len)
{
	recorder->n += record->type != VRFM_REC_LOST;
	ctl_pcapng_record(recorder->out, record, len,
			  recorder->tap.kernel->real_ns);
}

/* Write all records that the ring has. */
static bool ctl_recorder_drain(struct ctl_recorder *recorder)
{
	const struct vrfm_record *record;

	while ((record = ctl_tap_next(&recorder->tap))) {
		recorder->holes |= record->type == VRFM_REC_HOLE &&
				   record->length;
		ctl_recorder_put(recorder, record,
				 ctl_payload(record, VRFM_RING_SNAP_MAX));
	}
	return ctl_recorder_flush(recorder);
}

static bool ctl_is_zero(const uint8_t *bytes, size_t len)
{
	return !*bytes && !memcmp(bytes, bytes + 1, len - 1);
}

/* Write a page of the memory, unless it has only zeroes. */
static bool ctl_recorder_page(struct ctl_recorder *recorder, uint64_t at)
{
	static struct {
		struct vrfm_record record;
		uint8_t bytes[CTL_PAGE];
	} image;

	if (pread(recorder->fd, image.bytes, CTL_PAGE, at) != CTL_PAGE) {
		warn("rfm2g%u", recorder->unit);
		return false;
	}
	if (ctl_is_zero(image.bytes, CTL_PAGE))
		return true;
	image.record = (struct vrfm_record){
		.type = VRFM_REC_IMAGE_AT,
		.slots = 1 + CTL_PAGE / sizeof(image.record),
		.node = recorder->source.node,
		.offset = at,
		.length = CTL_PAGE,
		.time_ns = ctl_clock_ns(CLOCK_MONOTONIC),
	};
	ctl_recorder_put(recorder, &image.record, CTL_PAGE);
	return true;
}

/* Write the content of the memory, and the records that arrive in this time. */
static bool ctl_recorder_image(struct ctl_recorder *recorder)
{
	const struct ctl_choice *choice = &recorder->options->choice;
	uint64_t at = choice->offset / CTL_PAGE * CTL_PAGE;
	uint64_t end = choice->length ? (uint64_t)choice->offset +
		       choice->length : recorder->source.size;

	for (; at < end && !ctl_is_stopped(); at += CTL_PAGE)
		if (!ctl_recorder_page(recorder, at) ||
		    (at / CTL_PAGE % 16 == 0 && !ctl_recorder_drain(recorder)))
			return false;
	return ctl_recorder_flush(recorder);
}

static void ctl_recorder_name(const struct ctl_recorder *recorder,
			      unsigned int number, char *name, size_t room)
{
	if (recorder->options->files)
		snprintf(name, room, "%s.%u", recorder->path, number);
	else
		snprintf(name, room, "%s", recorder->path);
}

/* Begin the next file, and remove the oldest one if there are too many. */
static bool ctl_recorder_begin(struct ctl_recorder *recorder)
{
	unsigned int files = recorder->options->files;
	char old[4096];

	recorder->number++;
	ctl_recorder_name(recorder, recorder->number, recorder->name,
			  sizeof(recorder->name));
	recorder->out = fopen(recorder->name, "we");
	if (!recorder->out) {
		warn("%s", recorder->name);
		return false;
	}
	if (files && recorder->number > files) {
		ctl_recorder_name(recorder, recorder->number - files, old,
				  sizeof(old));
		unlink(old);
	}
	recorder->n = 0;
	ctl_pcapng_begin(recorder->out, &recorder->source);
	if (!ctl_recorder_flush(recorder) || !ctl_recorder_image(recorder))
		return false;
	recorder->begin = ftello(recorder->out);
	return true;
}

static uint64_t ctl_recorder_lost(const struct ctl_recorder *recorder)
{
	return __atomic_load_n(&recorder->tap.kernel->lost, __ATOMIC_RELAXED);
}

/* Complete a file. */
static bool ctl_recorder_end(struct ctl_recorder *recorder)
{
	uint64_t lost = ctl_recorder_lost(recorder) - recorder->lost;
	bool good;

	if (ferror(recorder->out)) {
		fclose(recorder->out);
		return false;
	}
	recorder->lost += lost;
	ctl_pcapng_end(recorder->out, recorder->n + lost, lost,
		       ctl_clock_ns(CLOCK_REALTIME));
	good = ctl_recorder_flush(recorder);
	if (fclose(recorder->out) && good) {
		warn("%s", recorder->name);
		good = false;
	}
	recorder->out = NULL;
	return good;
}

/*
 * Check whether the present file has its largest size. The content of the memory
 * at its begin does not count, because the next file would have it as well.
 */
static bool ctl_recorder_is_full(const struct ctl_recorder *recorder)
{
	const uint64_t most = recorder->options->block;
	off_t size = ftello(recorder->out) - recorder->begin;

	return most && size >= 0 && (uint64_t)size >= most;
}

/* Record until a signal, the end of the time, or a full file that is the last. */
static bool ctl_recorder_run(struct ctl_recorder *recorder)
{
	double end = ctl_now() + recorder->options->timeout;

	while (!ctl_is_stopped() &&
	       (!recorder->options->timeout || ctl_now() < end)) {
		if (!ctl_recorder_drain(recorder))
			return false;
		if (ctl_recorder_is_full(recorder)) {
			if (!recorder->options->files)
				return true;
			if (!ctl_recorder_end(recorder) ||
			    !ctl_recorder_begin(recorder))
				return false;
		}
		if (!ctl_tap_wait(&recorder->tap, recorder->unit))
			return false;
	}
	return ctl_recorder_drain(recorder);
}

static bool ctl_recorder_open(struct ctl_recorder *recorder)
{
	struct ctl_choice choice = recorder->options->choice;

	choice.kinds = CTL_RECORD_KINDS;
	choice.snap = VRFM_RING_SNAP_MAX;
	if (!ctl_source_read(recorder->fd, recorder->unit, &recorder->source) ||
	    !ctl_tap_open(&recorder->tap, recorder->fd, recorder->unit, &choice,
			  CTL_RECORD_SLOTS,
			  recorder->options->all ? VRFM_SUB_ALL : 0))
		return false;
	recorder->source.node = recorder->tap.kernel->node;
	recorder->source.size = recorder->tap.kernel->size;
	return true;
}

static enum ctl_result ctl_recorder_result(const struct ctl_recorder *recorder)
{
	if (recorder->holes)
		warnx("rfm2g%u: peers may have written directly, which no record shows; see --all",
		      recorder->unit);
	if (!recorder->lost)
		return CTL_OK;
	warnx("rfm2g%u: %" PRIu64 " records were dropped", recorder->unit,
	      recorder->lost);
	return CTL_WITHOUT;
}

/**
 * ctl_record - record all writes to a device in a file
 * @options: options of the command line
 * @path: name of the file
 * @only: name of the device; NULL if there is only one device
 *
 * Return: CTL_OK; CTL_WITHOUT if records were dropped; CTL_FAILED after an error
 * message.
 */
enum ctl_result ctl_record(const struct ctl_options *options, const char *path,
			   const char *only)
{
	static struct ctl_recorder recorder;
	bool good;

	recorder.options = options;
	recorder.path = path;
	if (!ctl_which(only, &recorder.unit))
		return CTL_FAILED;
	recorder.fd = ctl_open(recorder.unit, O_RDONLY);
	if (recorder.fd < 0)
		return CTL_FAILED;
	ctl_catch_signals();
	if (!ctl_recorder_open(&recorder)) {
		close(recorder.fd);
		return CTL_FAILED;
	}
	good = ctl_recorder_begin(&recorder) && ctl_recorder_run(&recorder);
	if (recorder.out)
		good &= ctl_recorder_end(&recorder);
	ctl_tap_close(&recorder.tap);
	close(recorder.fd);
	return good ? ctl_recorder_result(&recorder) : CTL_FAILED;
}
