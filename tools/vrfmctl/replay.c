// SPDX-License-Identifier: GPL-2.0
/*
 * Replay the writes of a file of records on a device, as batches of this node, at
 * the times at which they were recorded.
 *
 * The whole file is read twice: first to check it, and to find its writers. So an
 * invalid file has no effect. The records before the cut of a file that was cut
 * are replayed.
 *
 * A batch is complete before the command sleeps until its time: its last record
 * is known when the next one was read. So only the system call follows the
 * sleep.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "ctl.h"
#include "pcapng.h"

#define CTL_NS 1000000000ULL
/* A batch of several writes has at most this many bytes. */
#define CTL_REPLAY_BYTES 32768
/* Latenesses are counted for each us up to this one. */
#define CTL_LATE_MAX 1000000
#define CTL_RT_PRIORITY 50
/* Longest wait, in ns: 30 years. */
#define CTL_WAIT_MAX 1e18

/**
 * struct ctl_replay - a replay
 * @options: options of the command line
 * @fd: descriptor of the device
 * @unit: N of rfm2gN
 * @size: bytes of its memory
 * @writers: a bit for each node that wrote in the file
 * @first_ns: time of the first record that is no part of the image
 * @start_ns: time of this replay that stands for @first_ns, plus --from; 0: only
 *	the image was written so far
 * @ops: operations of the batch that is being filled
 * @n: number of operations
 * @bytes: the bytes of all operations
 * @used: number of bytes in @bytes
 * @due_ns: time when the batch is due
 * @late: number of batches by their lateness in us
 * @batches: number of batches
 * @worst: largest lateness in us
 */
struct ctl_replay {
	const struct ctl_options *options;
	int fd;
	unsigned int unit;
	uint64_t size;
	uint64_t writers[4];
	uint64_t first_ns;
	uint64_t start_ns;
	struct vrfm_op ops[VRFM_BATCH_OPS];
	unsigned int n;
	uint8_t bytes[VRFM_BATCH_BYTES];
	uint32_t used;
	uint64_t due_ns;
	uint32_t late[CTL_LATE_MAX + 1];
	uint64_t batches;
	uint64_t worst;
};

static uint64_t ctl_replay_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * CTL_NS + t.tv_nsec;
}

/* ---- records ---- */

/* Check whether a record has the bytes of a write that must be replayed. */
static bool ctl_replay_writes(const struct ctl_replay *replay,
			      const struct vrfm_record *record)
{
	const struct ctl_choice *choice = &replay->options->choice;
	const uint64_t *nodes = choice->nodes;
	uint64_t end = (uint64_t)choice->offset + choice->length;

	if (!ctl_is_write(record) || record->type == VRFM_REC_PLACED)
		return false;
	if (record->type == VRFM_REC_IMAGE_AT && replay->options->no_image)
		return false;
	if ((nodes[0] | nodes[1] | nodes[2] | nodes[3]) &&
	    record->type != VRFM_REC_IMAGE_AT &&
	    !(nodes[record->node / 64 % 4] >> record->node % 64 & 1))
		return false;
	return !choice->length ||
	       (record->offset < end &&
		choice->offset < (uint64_t)record->offset + record->length);
}

/* Check whether a record is an event that must be sent again. */
static bool ctl_replay_sends(const struct ctl_replay *replay,
			     const struct vrfm_record *record)
{
	return replay->options->events &&
	       (record->type == VRFM_REC_RAISED ||
		record->type == VRFM_REC_TOLD) &&
	       record->event.event >= 1 && record->event.event <= 4;
}

/* Check a record of the first pass. Return false after an error message. */
static bool ctl_replay_check(struct ctl_replay *replay,
			     const struct ctl_file *file)
{
	const struct vrfm_record *record = file->record;
	int64_t at = (int64_t)record->offset + replay->options->shift;

	if (record->type != VRFM_REC_IMAGE_AT && !replay->first_ns)
		replay->first_ns = record->time_ns;
	if (!ctl_replay_writes(replay, record))
		return true;
	if (record->flags & VRFM_REC_CUT) {
		warnx("%s: a record lacks bytes: record without --snap",
		      file->path);
		return false;
	}
	if (at < 0 || at + record->length > (int64_t)replay->size) {
		warnx("%s: a write is outside of the memory of rfm2g%u",
		      file->path, replay->unit);
		return false;
	}
	if (record->type != VRFM_REC_IMAGE_AT)
		replay->writers[record->node / 64 % 4] |=
			1ULL << record->node % 64;
	return true;
}

static bool ctl_replay_read(struct ctl_replay *replay, struct ctl_file *file)
{
	enum ctl_read ret;

	while (!(ret = ctl_file_next(file)))
		if (!ctl_replay_check(replay, file))
			return false;
	if (ret == CTL_INVALID)
		return false;
	if (!file->ended)
		warnx("%s: was cut at byte %" PRIu64 ", and is replayed up to there",
		      file->path, file->at);
	if (file->dropped)
		warnx("%s: %" PRIu64 " records were dropped when it was written",
		      file->path, file->dropped);
	return true;
}

/* A word has one writer: refuse if a recorded writer is linked with the device. */
static bool ctl_replay_is_alone(const struct ctl_replay *replay)
{
	static struct ctl_view view;
	uint32_t i, node;

	if (replay->options->force)
		return true;
	if (!ctl_look(replay->fd, replay->unit, &view))
		return false;
	for (i = 0; i < view.all.count; i++) {
		node = view.peers[i].node;
		if (view.peers[i].state == VRFM_PEER_DOWN ||
		    !(replay->writers[node / 64 % 4] >> node % 64 & 1))
			continue;
		warnx("rfm2g%u: node %u is linked, and is a writer of the file; see --force",
		      replay->unit, node);
		return false;
	}
	return true;
}

/* ---- batches ---- */

static void ctl_replay_note(struct ctl_replay *replay)
{
	uint64_t now = ctl_replay_now();
	uint64_t us = now > replay->due_ns ? (now - replay->due_ns) / 1000 : 0;

	replay->late[us < CTL_LATE_MAX ? us : CTL_LATE_MAX]++;
	replay->batches++;
	if (us > replay->worst)
		replay->worst = us;
}

/* Wait until the batch is due. */
static void ctl_replay_sleep(const struct ctl_replay *replay)
{
	const struct timespec until = {
		.tv_sec = replay->due_ns / CTL_NS,
		.tv_nsec = replay->due_ns % CTL_NS,
	};

	while (!ctl_is_stopped() &&
	       clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until,
			       NULL) == EINTR)
		;
}

/* Execute the batch. Return false after an error message. */
static bool ctl_replay_execute(struct ctl_replay *replay)
{
	struct vrfm_batch batch = {
		.ops = (uintptr_t)replay->ops,
		.count = replay->n,
	};

	if (!replay->n)
		return true;
	replay->ops[replay->n - 1].flags = 0;
	replay->n = 0;
	replay->used = 0;
	if (replay->due_ns) {
		ctl_replay_sleep(replay);
		if (ctl_is_stopped())
			return true;
		ctl_replay_note(replay);
	}
	return ctl_command(replay->fd, replay->unit, VRFM_BATCH, &batch);
}

/* Add an operation to the batch, and execute the batch first if it is full. */
static struct vrfm_op *ctl_replay_op(struct ctl_replay *replay, uint32_t len,
				     uint64_t due_ns)
{
	if (replay->n && (due_ns != replay->due_ns ||
			  replay->n == VRFM_BATCH_OPS ||
			  replay->used + len > CTL_REPLAY_BYTES) &&
	    !ctl_replay_execute(replay))
		return NULL;
	replay->due_ns = due_ns;
	replay->ops[replay->n] = (struct vrfm_op){ .flags = VRFM_OP_MORE };
	return &replay->ops[replay->n++];
}

static bool ctl_replay_write(struct ctl_replay *replay,
			     const struct ctl_file *file, uint64_t due_ns)
{
	struct vrfm_op *op;

	if (!file->len)
		return true;
	op = ctl_replay_op(replay, file->len, due_ns);
	if (!op)
		return false;
	memcpy(replay->bytes + replay->used, file->record + 1, file->len);
	op->op = VRFM_OP_WRITE;
	op->offset = file->record->offset + replay->options->shift;
	op->length = file->len;
	op->source = (uintptr_t)(replay->bytes + replay->used);
	replay->used += file->len;
	return true;
}

/* An event ends its batch, so that it takes one message to each peer. */
static bool ctl_replay_event(struct ctl_replay *replay,
			     const struct vrfm_record *record, uint64_t due_ns)
{
	struct vrfm_op *op = ctl_replay_op(replay, 0, due_ns);

	if (!op)
		return false;
	op->op = VRFM_OP_EVENT;
	op->node = VRFM_OP_ALL_NODES;
	op->event = record->event.event;
	memcpy(op->data, &record->event.data, sizeof(record->event.data));
	return ctl_replay_execute(replay);
}

/*
 * Set *DUE_NS to the time when a record is due; 0: at once. The time of the
 * replay begins when the image is written. Otherwise a large image would delay
 * the first records, and shorten the pauses between them. Return false after an
 * error message.
 */
static bool ctl_replay_due(struct ctl_replay *replay,
			   const struct vrfm_record *record, uint64_t *due_ns)
{
	double from = replay->options->from * CTL_NS;
	double since = record->time_ns > replay->first_ns ?
		       record->time_ns - replay->first_ns : 0;

	*due_ns = 0;
	if (record->type == VRFM_REC_IMAGE_AT || !replay->options->speed ||
	    since <= from)
		return true;
	if (!replay->start_ns) {
		/* Write the rest of the image, which is due at once. */
		if (!ctl_replay_execute(replay))
			return false;
		replay->start_ns = ctl_replay_now();
	}
	since = (since - from) / replay->options->speed;
	*due_ns = replay->start_ns +
		  (since < CTL_WAIT_MAX ? since : CTL_WAIT_MAX);
	return true;
}

static bool ctl_replay_is_past(const struct ctl_replay *replay,
			       const struct vrfm_record *record)
{
	return replay->options->to && record->time_ns > replay->first_ns &&
	       record->time_ns - replay->first_ns > replay->options->to * CTL_NS;
}

/* Replay the file once. */
static bool ctl_replay_run(struct ctl_replay *replay, struct ctl_file *file)
{
	const struct vrfm_record *record;
	uint64_t due_ns;
	bool good = true;

	replay->start_ns = 0;
	while (good && !ctl_is_stopped() && !ctl_file_next(file)) {
		record = file->record;
		if (ctl_replay_is_past(replay, record))
			break;
		if (!ctl_replay_due(replay, record, &due_ns))
			return false;
		if (ctl_replay_writes(replay, record))
			good = ctl_replay_write(replay, file, due_ns);
		else if (ctl_replay_sends(replay, record))
			good = ctl_replay_event(replay, record, due_ns);
	}
	return good && ctl_replay_execute(replay);
}

/* ---- the command ---- */

static uint64_t ctl_replay_percentile(const struct ctl_replay *replay,
				      unsigned int percent)
{
	uint64_t us, n = 0;

	for (us = 0; us < CTL_LATE_MAX; us++) {
		n += replay->late[us];
		if (n * 100 >= replay->batches * percent)
			break;
	}
	return us;
}

static void ctl_replay_print(const struct ctl_replay *replay)
{
	uint64_t p50 = ctl_replay_percentile(replay, 50);
	uint64_t p99 = ctl_replay_percentile(replay, 99);

	if (replay->options->json)
		printf("{\"batches\":%" PRIu64 ",\"p50_us\":%" PRIu64
		       ",\"p99_us\":%" PRIu64 ",\"max_us\":%" PRIu64 "}\n",
		       replay->batches, p50, p99, replay->worst);
	else if (replay->batches)
		printf("%" PRIu64 " batches, lateness in us: p50 %" PRIu64
		       " p99 %" PRIu64 " max %" PRIu64 "\n",
		       replay->batches, p50, p99, replay->worst);
}

static enum ctl_result ctl_replay_result(const struct ctl_replay *replay)
{
	ctl_replay_print(replay);
	return replay->options->late && replay->worst > replay->options->late ?
	       CTL_WITHOUT : CTL_OK;
}

/*
 * Enter the real-time class, and keep all pages in memory, so that no page
 * fault delays a batch. A limit of locked memory only prevents the latter.
 */
static bool ctl_replay_real_time(void)
{
	const struct sched_param param = { .sched_priority = CTL_RT_PRIORITY };

	if (sched_setscheduler(0, SCHED_FIFO, &param)) {
		warn("real-time class");
		return false;
	}
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		warn("locked memory");
	return true;
}

static bool ctl_replay_file(struct ctl_replay *replay, struct ctl_file *file)
{
	bool good;

	if (!ctl_replay_read(replay, file) || !ctl_replay_is_alone(replay) ||
	    (replay->options->rt && !ctl_replay_real_time()))
		return false;
	/* By default, the kernel lets a program sleep up to 50 us longer. */
	prctl(PR_SET_TIMERSLACK, 1UL);
	do {
		good = ctl_file_rewind(file) && ctl_replay_run(replay, file);
	} while (good && replay->options->loop && !ctl_is_stopped());
	return good;
}

/**
 * ctl_replay - repeat the writes of a file on a device
 * @options: options of the command line
 * @path: name of the file
 * @only: name of the device; NULL if there is only one device
 *
 * Return: CTL_OK; CTL_WITHOUT if a batch was later than @options->late; CTL_FAILED
 * after an error message.
 */
enum ctl_result ctl_replay(const struct ctl_options *options, const char *path,
			   const char *only)
{
	static struct ctl_replay replay;
	static struct ctl_file file;
	off_t size;
	bool good;

	replay.options = options;
	if (!ctl_which(only, &replay.unit))
		return CTL_FAILED;
	replay.fd = ctl_open(replay.unit, O_RDWR);
	if (replay.fd < 0)
		return CTL_FAILED;
	size = lseek(replay.fd, 0, SEEK_END);
	replay.size = size > 0 ? size : 0;
	ctl_catch_signals();
	good = ctl_file_open(&file, path);
	if (good) {
		good = ctl_replay_file(&replay, &file);
		ctl_file_close(&file);
	}
	close(replay.fd);
	return good ? ctl_replay_result(&replay) : CTL_FAILED;
}
