// SPDX-License-Identifier: GPL-2.0
/* Read the records of a tap from its ring. */
#include <err.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "ctl.h"
#include "stream.h"

/* Longest wait for records, in ns. After it, the program checks whether it must end. */
#define CTL_WAIT_NS 200000000

static volatile sig_atomic_t ctl_stopped;

static void ctl_stop(int signal)
{
	(void)signal;
	ctl_stopped = 1;
}

/**
 * ctl_catch_signals - let SIGINT and SIGTERM end the program after it has
 * completed its output
 */
void ctl_catch_signals(void)
{
	const struct sigaction action = { .sa_handler = ctl_stop };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

/**
 * ctl_is_stopped - check whether the program must end
 *
 * Return: true after SIGINT or SIGTERM.
 */
bool ctl_is_stopped(void)
{
	return ctl_stopped;
}

static bool ctl_tap_map(struct ctl_tap *tap)
{
	void *user, *kernel;

	user = mmap(NULL, tap->args.user_len, PROT_READ | PROT_WRITE,
		    MAP_SHARED, tap->fd, 0);
	if (user == MAP_FAILED)
		return false;
	kernel = mmap(NULL, tap->args.kernel_len, PROT_READ, MAP_SHARED,
		      tap->fd, tap->args.kernel_at);
	if (kernel == MAP_FAILED) {
		munmap(user, tap->args.user_len);
		return false;
	}
	tap->user = user;
	tap->kernel = kernel;
	return true;
}

static bool ctl_tap_subscribe(const struct ctl_tap *tap, unsigned int unit,
			      const struct ctl_choice *choice, uint32_t flags)
{
	struct vrfm_subscribe args = {
		.what = VRFM_SUB_TAP,
		.flags = flags,
		.offset = choice->offset,
		.length = choice->length,
		.kinds = choice->kinds ? choice->kinds : VRFM_TAP_KINDS,
	};

	memcpy(args.nodes, choice->nodes, sizeof(args.nodes));
	if (!ioctl(tap->fd, VRFM_RING_SUBSCRIBE, &args))
		return true;
	if (errno == EPERM)
		warnx("rfm2g%u: a tap needs root, or the group of the module parameter tap_gid",
		      unit);
	else if (errno == EINVAL)
		warnx("rfm2g%u: not inside its memory, or its driver has no taps",
		      unit);
	else
		warn("rfm2g%u: tap", unit);
	return false;
}

/**
 * ctl_tap_open - begin a tap of a device
 * @tap: result
 * @fd: descriptor of the device
 * @unit: N of rfm2gN
 * @choice: records that the tap wants
 * @slots: number of slots of the ring
 * @flags: 0, or VRFM_SUB_ALL
 *
 * Return: false after an error message.
 */
bool ctl_tap_open(struct ctl_tap *tap, int fd, unsigned int unit,
		  const struct ctl_choice *choice, uint32_t slots,
		  uint32_t flags)
{
	*tap = (struct ctl_tap){
		.args = { .size = sizeof(tap->args),
			  .slots = slots,
			  .snap = choice->snap,
			  .clock = CLOCK_MONOTONIC },
	};
	tap->fd = ioctl(fd, VRFM_RING, &tap->args);
	if (tap->fd < 0) {
		warn("rfm2g%u: ring", unit);
		return false;
	}
	if (ctl_tap_map(tap)) {
		if (ctl_tap_subscribe(tap, unit, choice, flags))
			return true;
		ctl_tap_close(tap);
		return false;
	}
	warn("rfm2g%u: ring cannot be mapped", unit);
	close(tap->fd);
	return false;
}

/**
 * ctl_tap_close - undo ctl_tap_open()
 * @tap: tap
 */
void ctl_tap_close(struct ctl_tap *tap)
{
	munmap(tap->user, tap->args.user_len);
	munmap((void *)tap->kernel, tap->args.kernel_len);
	close(tap->fd);
}

/**
 * ctl_tap_next - return the next record, and release the one before
 * @tap: tap
 *
 * Return: record, which is valid until the next call; NULL if none is unread.
 */
const struct vrfm_record *ctl_tap_next(struct ctl_tap *tap)
{
	const struct vrfm_record *records =
		(const void *)((const char *)tap->kernel +
			       tap->kernel->records_at);
	const struct vrfm_record *record;

	for (;;) {
		__atomic_store_n(&tap->user->head, tap->head, __ATOMIC_RELEASE);
		if (tap->head ==
		    __atomic_load_n(&tap->kernel->tail, __ATOMIC_ACQUIRE))
			return NULL;
		record = &records[tap->head % tap->args.slots];
		tap->head += record->slots;
		if (record->type != VRFM_REC_PAD)
			return record;
	}
}

/**
 * ctl_tap_wait - wait for records
 * @tap: tap without unread records
 * @unit: N of rfm2gN
 *
 * Return: true if records may be unread, or the program must end; false after an
 * error message: the device was removed.
 */
bool ctl_tap_wait(struct ctl_tap *tap, unsigned int unit)
{
	struct vrfm_enter enter = { .records = 1, .timeout_ns = CTL_WAIT_NS };

	if (!ioctl(tap->fd, VRFM_RING_ENTER, &enter) || errno == ETIMEDOUT ||
	    errno == EINTR)
		return true;
	if (errno == ENODEV)
		warnx("rfm2g%u was removed", unit);
	else
		warn("rfm2g%u: wait for records", unit);
	return false;
}

static uint32_t ctl_network(unsigned int unit)
{
	char path[64];
	uint32_t network = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/class/rfm2g/rfm2g%u/network", unit);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%u", &network) != 1)
		network = 0;
	if (file)
		fclose(file);
	return network;
}

/**
 * ctl_source_read - describe a device for a file
 * @fd: descriptor of the device
 * @unit: N of rfm2gN
 * @source: result; &ctl_source.node and &ctl_source.size are set by the caller,
 *	which has a ring
 *
 * Return: false after an error message.
 */
bool ctl_source_read(int fd, unsigned int unit, struct ctl_source *source)
{
	static struct ctl_view view;

	if (!ctl_look(fd, unit, &view))
		return false;
	snprintf(source->name, sizeof(source->name), "rfm2g%u", unit);
	source->network = ctl_network(unit);
	source->lineage = view.all.lineage;
	return true;
}
