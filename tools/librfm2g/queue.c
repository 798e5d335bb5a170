// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Queues of messages in the reflective memory: one program writes, and several
 * programs on any nodes read.
 *
 * The memory of a queue has a header, a line for each reader, and a log. Each
 * word has one writer: the header and the log belong to the writing program,
 * and each line to its reader. Positions count the bytes of the log that were
 * written or read so far, modulo 2^64.
 *
 * A batch writes a message and the new position. Each node gets these writes in
 * order, so a reader that sees the position also sees the message. Before the
 * writer overwrites bytes of the log, it checks the positions of all readers.
 *
 * Other programs can write any value into the memory. So a reader checks each
 * number before it uses the number, and checks the position again after it has
 * copied a message.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "rfm2g_extras.h"

#include "priv.h"

/* The bytes are "RFM2GXQ1". */
#define RFM2G_QUEUE_MAGIC 0x3151584732464d52ULL
#define RFM2G_QUEUE_LINE 64
/* Length of a record that fills the log up to its end. */
#define RFM2G_QUEUE_PAD UINT32_MAX

/**
 * struct rfm2g_queue_head - header of a queue in the memory
 * @magic: %RFM2G_QUEUE_MAGIC
 * @epoch: number of the queue, which changes when it is created again
 * @size: bytes of the log, a power of two
 * @readers: number of lines
 * @position: number of bytes written so far
 */
struct rfm2g_queue_head {
	uint64_t magic;
	uint64_t epoch;
	uint32_t size;
	uint32_t readers;
	uint64_t position;
};

/**
 * struct rfm2g_queue_line - line of a reader in the memory
 * @epoch: number of the queue that it reads; any other value: it does not read
 * @position: number of bytes read so far
 */
struct rfm2g_queue_line {
	uint64_t epoch;
	uint64_t position;
};

/**
 * struct rfm2g_queue_record - header of a message in the log
 * @length: number of bytes that follow, or %RFM2G_QUEUE_PAD
 * @check: low bits of the position of the record, and of the epoch
 *
 * Zeroes pad the bytes to a multiple of 8.
 */
struct rfm2g_queue_record {
	uint32_t length;
	uint32_t check;
};

/**
 * struct rfm2gxQueue - an open queue
 * @rh: handle
 * @offset: offset of the header in the memory
 * @head: header, as this program knows it; @head.position is that of the writer,
 *	or that of this reader
 * @line: offset of the line of this reader; 0: this program writes
 * @reported: position in that line
 */
struct rfm2gxQueue {
	RFM2GHANDLE rh;
	uint32_t offset;
	struct rfm2g_queue_head head;
	uint32_t line;
	uint64_t reported;
};

static uint32_t rfm2g_queue_line_at(uint32_t offset, uint32_t reader)
{
	return offset + RFM2G_QUEUE_LINE * (1 + reader);
}

static uint32_t rfm2g_queue_at(const struct rfm2gxQueue *queue,
			       uint64_t position)
{
	return rfm2g_queue_line_at(queue->offset, queue->head.readers) +
	       (position & (queue->head.size - 1));
}

/* Return the number of bytes of the log that a message takes. */
static uint32_t rfm2g_queue_room(uint32_t length)
{
	return sizeof(struct rfm2g_queue_record) + ((length + 7) & ~7U);
}

static uint32_t rfm2g_queue_max(uint32_t size)
{
	return size / 4 < RFM2GX_QUEUE_MESSAGE_MAX ? size / 4 :
						     RFM2GX_QUEUE_MESSAGE_MAX;
}

static uint32_t rfm2g_queue_check(const struct rfm2gxQueue *queue,
				  uint64_t position)
{
	return (uint32_t)(position / 8 + queue->head.epoch);
}

static bool rfm2g_queue_is_valid(uint32_t size, uint32_t readers)
{
	return size >= RFM2GX_QUEUE_SIZE_MIN && size <= RFM2GX_QUEUE_SIZE_MAX &&
	       !(size & (size - 1)) && readers &&
	       readers <= RFM2GX_QUEUE_READERS_MAX;
}

/* Check whether a queue lies in the memory. */
static bool rfm2g_queue_fits(RFM2GHANDLE rh, uint64_t offset, uint32_t size,
			     uint32_t readers, RFM2G_STATUS *ret)
{
	RFM2G_UINT32 memory = 0;

	*ret = RFM2gSize(rh, &memory);
	return !*ret && offset + RFM2G_QUEUE_LINE * (1 + readers) + size <=
			memory;
}

static RFM2G_STATUS rfm2g_queue_write(RFM2GHANDLE rh, uint32_t offset,
				      const void *bytes, uint32_t length,
				      RFM2G_UINT32 flags)
{
	const RFM2GXOP op = {
		.Op = RFM2GX_OP_WRITE,
		.Offset = offset,
		.Length = length,
		.Source = bytes,
	};

	return RFM2gxBatch(rh, &op, 1, flags, RFM2GX_QUEUE_OPEN_MS, NULL);
}

static RFM2GXQUEUE rfm2g_queue_alloc(RFM2GHANDLE rh, uint32_t offset)
{
	struct rfm2gxQueue *queue = calloc(1, sizeof(*queue));

	if (queue) {
		queue->rh = rh;
		queue->offset = offset;
	}
	return queue;
}

STDRFM2GCALL RFM2gxQueueCreate(RFM2GHANDLE rh, RFM2G_UINT32 Offset,
			       RFM2G_UINT32 Size, RFM2G_UINT32 Readers,
			       RFM2GXQUEUE *Queue)
{
	struct rfm2gxQueue *queue;
	RFM2G_UINT64 epoch;
	RFM2G_STATUS ret;

	if (Offset % RFM2G_QUEUE_LINE)
		return RFM2G_UNALIGNED_OFFSET;
	if (!rfm2g_queue_is_valid(Size, Readers))
		return RFM2G_BAD_PARAMETER_3;
	if (!Queue)
		return RFM2G_BAD_PARAMETER_5;
	*Queue = NULL;
	if (!rfm2g_queue_fits(rh, Offset, Size, Readers, &ret))
		return ret ? ret : RFM2G_OUT_OF_RANGE;
	ret = RFM2gPeek64(rh, Offset + offsetof(struct rfm2g_queue_head, epoch),
			  &epoch);
	if (ret)
		return ret;
	queue = rfm2g_queue_alloc(rh, Offset);
	if (!queue)
		return RFM2G_LOW_MEMORY;
	queue->head = (struct rfm2g_queue_head){
		.magic = RFM2G_QUEUE_MAGIC,
		.epoch = epoch + 1 ? epoch + 1 : 1,
		.size = Size,
		.readers = Readers,
	};
	ret = rfm2g_queue_write(rh, Offset, &queue->head, sizeof(queue->head),
				0);
	if (ret)
		free(queue);
	else
		*Queue = queue;
	return ret;
}

/* Enter the position of this reader into its line. */
static RFM2G_STATUS rfm2g_queue_report(struct rfm2gxQueue *queue,
				       RFM2G_UINT32 flags)
{
	const struct rfm2g_queue_line line = {
		.epoch = queue->head.epoch,
		.position = queue->head.position,
	};

	queue->reported = queue->head.position;
	return rfm2g_queue_write(queue->rh, queue->line, &line, sizeof(line),
				 flags);
}

/* Read the position of the writer, and check that the queue is the same. */
static RFM2G_STATUS rfm2g_queue_look(const struct rfm2gxQueue *queue,
				     uint64_t *position)
{
	struct rfm2g_queue_head head;
	RFM2G_STATUS ret;

	ret = RFM2gPeek64(queue->rh, queue->offset +
			  offsetof(struct rfm2g_queue_head, position),
			  (RFM2G_UINT64 *)position);
	/* The message was written before the position. */
	atomic_thread_fence(memory_order_acquire);
	if (!ret)
		ret = RFM2gRead(queue->rh, queue->offset, &head,
				offsetof(struct rfm2g_queue_head, position));
	if (!ret && memcmp(&head, &queue->head,
			   offsetof(struct rfm2g_queue_head, position)))
		ret = RFM2G_NOT_OPEN;
	return ret;
}

/*
 * The line of a reader is in the memory of the writer when the batch of the line
 * is acknowledged. Messages that the writer sends later wait for this reader. So
 * the reader begins with the position that it reads after that.
 */
static RFM2G_STATUS rfm2g_queue_join(struct rfm2gxQueue *queue)
{
	RFM2G_STATUS ret = rfm2g_queue_report(queue, RFM2GX_BATCH_ACKED);

	ret = ret ? ret : rfm2g_queue_look(queue, &queue->head.position);
	queue->head.position &= ~7ULL;
	return ret;
}

STDRFM2GCALL RFM2gxQueueOpen(RFM2GHANDLE rh, RFM2G_UINT32 Offset,
			     RFM2G_UINT32 Reader, RFM2GXQUEUE *Queue)
{
	struct rfm2g_queue_head head;
	struct rfm2gxQueue *queue;
	RFM2G_STATUS ret;

	if (Offset % RFM2G_QUEUE_LINE)
		return RFM2G_UNALIGNED_OFFSET;
	if (!Queue)
		return RFM2G_BAD_PARAMETER_4;
	*Queue = NULL;
	ret = RFM2gRead(rh, Offset, &head, sizeof(head));
	if (ret)
		return ret;
	if (head.magic != RFM2G_QUEUE_MAGIC ||
	    !rfm2g_queue_is_valid(head.size, head.readers) ||
	    !rfm2g_queue_fits(rh, Offset, head.size, head.readers, &ret))
		return ret ? ret : RFM2G_NOT_OPEN;
	if (Reader >= head.readers)
		return RFM2G_BAD_PARAMETER_3;
	queue = rfm2g_queue_alloc(rh, Offset);
	if (!queue)
		return RFM2G_LOW_MEMORY;
	queue->head = head;
	queue->line = rfm2g_queue_line_at(Offset, Reader);
	ret = rfm2g_queue_join(queue);
	if (ret)
		RFM2gxQueueClose(&queue);
	*Queue = queue;
	return ret;
}

STDRFM2GCALL RFM2gxQueueClose(RFM2GXQUEUE *Queue)
{
	const struct rfm2g_queue_line closed = { 0 };

	if (!Queue)
		return RFM2G_BAD_PARAMETER_1;
	if (!*Queue)
		return RFM2G_NULL_DESCRIPTOR;
	/* Without this line, the writer would wait for the reader. */
	if ((*Queue)->line)
		rfm2g_queue_write((*Queue)->rh, (*Queue)->line, &closed,
				  sizeof(closed), 0);
	free(*Queue);
	*Queue = NULL;
	return RFM2G_SUCCESS;
}

/* ---- sending ---- */

/* Check whether all readers leave @need bytes of the log free. */
static bool rfm2g_queue_has_room(const struct rfm2gxQueue *queue,
				 const uint8_t *lines, uint32_t need)
{
	struct rfm2g_queue_line line;
	uint64_t unread;
	uint32_t i;

	for (i = 0; i < queue->head.readers; i++) {
		memcpy(&line, lines + i * RFM2G_QUEUE_LINE, sizeof(line));
		unread = queue->head.position - line.position;
		if (line.epoch == queue->head.epoch &&
		    unread <= queue->head.size &&
		    queue->head.size - unread < need)
			return false;
	}
	return true;
}

static uint64_t rfm2g_queue_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000ULL + now.tv_nsec / 1000000;
}

/* Return the rest of a timeout, in ms. */
static RFM2G_UINT32 rfm2g_queue_rest(RFM2G_UINT32 timeout, uint64_t begin)
{
	uint64_t passed = rfm2g_queue_now_ms() - begin;

	if (timeout == RFM2GX_FOREVER)
		return timeout;
	return passed < timeout ? timeout - passed : 0;
}

/* Wait until all readers leave @need bytes of the log free. */
static RFM2G_STATUS rfm2g_queue_wait_room(const struct rfm2gxQueue *queue,
					  uint32_t need, RFM2G_UINT32 timeout)
{
	uint8_t lines[RFM2G_QUEUE_LINE * RFM2GX_QUEUE_READERS_MAX];
	const uint32_t at = rfm2g_queue_line_at(queue->offset, 0);
	const uint32_t length = RFM2G_QUEUE_LINE * queue->head.readers;
	uint64_t begin = 0;
	RFM2G_STATUS ret;

	for (;;) {
		ret = RFM2gRead(queue->rh, at, lines, length);
		if (ret || rfm2g_queue_has_room(queue, lines, need))
			return ret;
		if (!timeout)
			return RFM2G_TIMED_OUT;
		if (!begin)
			begin = rfm2g_queue_now_ms();
		ret = RFM2gxWatch(queue->rh, at, length, lines,
				  rfm2g_queue_rest(timeout, begin), NULL);
		if (ret)
			return ret;
	}
}

/* Write a message behind @pad bytes that it does not use. */
static RFM2G_STATUS rfm2g_queue_put(struct rfm2gxQueue *queue, uint32_t pad,
				    const void *bytes, uint32_t length)
{
	const uint64_t from = queue->head.position, at = from + pad;
	const uint64_t end = at + rfm2g_queue_room(length);
	const struct rfm2g_queue_record skip = {
		.length = RFM2G_QUEUE_PAD,
		.check = rfm2g_queue_check(queue, from),
	}, record = {
		.length = length,
		.check = rfm2g_queue_check(queue, at),
	};
	RFM2GXOP ops[4];
	uint32_t n = 0;
	RFM2G_STATUS ret;

	if (pad)
		ops[n++] = (RFM2GXOP){ .Op = RFM2GX_OP_WRITE,
				       .Offset = rfm2g_queue_at(queue, from),
				       .Length = sizeof(skip),
				       .Source = &skip };
	ops[n++] = (RFM2GXOP){ .Op = RFM2GX_OP_WRITE,
			       .Offset = rfm2g_queue_at(queue, at),
			       .Length = sizeof(record), .Source = &record };
	ops[n++] = (RFM2GXOP){ .Op = RFM2GX_OP_WRITE,
			       .Offset = rfm2g_queue_at(queue, at) +
					 sizeof(record),
			       .Length = length, .Source = bytes };
	ops[n++] = (RFM2GXOP){ .Op = RFM2GX_OP_WRITE,
			       .Offset = queue->offset +
					 offsetof(struct rfm2g_queue_head,
						  position),
			       .Length = sizeof(end), .Source = &end };
	ret = RFM2gxBatch(queue->rh, ops, n, RFM2GX_BATCH_NOFLUSH, 0, NULL);
	if (!ret)
		queue->head.position = end;
	return ret;
}

STDRFM2GCALL RFM2gxQueueSend(RFM2GXQUEUE Queue, const void *Buffer,
			     RFM2G_UINT32 Length, RFM2G_UINT32 TimeoutMs)
{
	uint32_t need, left;
	RFM2G_STATUS ret;

	if (!Queue)
		return RFM2G_NULL_DESCRIPTOR;
	if (Queue->line)
		return RFM2G_MEM_READ_ONLY;
	if (!Buffer)
		return RFM2G_BAD_PARAMETER_2;
	if (!Length || Length > rfm2g_queue_max(Queue->head.size))
		return RFM2G_BAD_PARAMETER_3;
	need = rfm2g_queue_room(Length);
	left = Queue->head.size -
	       (Queue->head.position & (Queue->head.size - 1));
	left = left < need ? left : 0;
	ret = rfm2g_queue_wait_room(Queue, left + need, TimeoutMs);
	return ret ? ret : rfm2g_queue_put(Queue, left, Buffer, Length);
}

/* ---- receiving ---- */

/*
 * Give up messages that the memory does not have any more, or that are invalid,
 * and continue with the next one that will be sent.
 */
static RFM2G_STATUS rfm2g_queue_lose(struct rfm2gxQueue *queue,
				     uint64_t position)
{
	queue->head.position = position;
	rfm2g_queue_report(queue, 0);
	return RFM2G_READ_ERROR;
}

/* Check a record of which @unread bytes were sent. */
static bool rfm2g_queue_record_is_valid(const struct rfm2gxQueue *queue,
					const struct rfm2g_queue_record *record,
					uint64_t unread)
{
	const uint64_t position = queue->head.position;
	const uint32_t left = queue->head.size -
			      (position & (queue->head.size - 1));

	if (record->check != rfm2g_queue_check(queue, position))
		return false;
	if (record->length == RFM2G_QUEUE_PAD)
		return left <= unread;
	return record->length &&
	       record->length <= rfm2g_queue_max(queue->head.size) &&
	       rfm2g_queue_room(record->length) <= left &&
	       rfm2g_queue_room(record->length) <= unread;
}

/*
 * Find the next record. Skip a record that only fills the log.
 *
 * Return SUCCESS with a length; TIMED_OUT: there is no message; or an error.
 */
static RFM2G_STATUS rfm2g_queue_find(struct rfm2gxQueue *queue,
				     uint32_t *length, uint64_t *end)
{
	struct rfm2g_queue_record record;
	RFM2G_STATUS ret;
	uint64_t unread;

	for (;;) {
		ret = rfm2g_queue_look(queue, end);
		if (ret)
			return ret;
		unread = *end - queue->head.position;
		if (!unread)
			return RFM2G_TIMED_OUT;
		if (unread > queue->head.size)
			return rfm2g_queue_lose(queue, *end & ~7ULL);
		ret = RFM2gRead(queue->rh,
				rfm2g_queue_at(queue, queue->head.position),
				&record, sizeof(record));
		if (ret)
			return ret;
		if (!rfm2g_queue_record_is_valid(queue, &record, unread))
			return rfm2g_queue_lose(queue, *end & ~7ULL);
		*length = record.length;
		if (record.length != RFM2G_QUEUE_PAD)
			return RFM2G_SUCCESS;
		queue->head.position += queue->head.size -
					(queue->head.position &
					 (queue->head.size - 1));
	}
}

/* Copy the message that was found, and go on behind it. */
static RFM2G_STATUS rfm2g_queue_take(struct rfm2gxQueue *queue, void *to,
				     uint32_t length)
{
	const uint32_t at = rfm2g_queue_at(queue, queue->head.position);
	uint64_t end;
	RFM2G_STATUS ret;

	ret = RFM2gRead(queue->rh, at + sizeof(struct rfm2g_queue_record), to,
			length);
	/* The position is read after the message. */
	atomic_thread_fence(memory_order_acquire);
	if (!ret)
		ret = rfm2g_queue_look(queue, &end);
	if (ret)
		return ret;
	if (end - queue->head.position > queue->head.size)
		return rfm2g_queue_lose(queue, end & ~7ULL);
	queue->head.position += rfm2g_queue_room(length);
	/* Report rarely while messages follow each other. */
	if (queue->head.position != end && queue->head.position -
	    queue->reported < queue->head.size / 4)
		return RFM2G_SUCCESS;
	return rfm2g_queue_report(queue, 0);
}

STDRFM2GCALL RFM2gxQueueReceive(RFM2GXQUEUE Queue, void *Buffer,
				RFM2G_UINT32 Size, RFM2G_UINT32 *Length,
				RFM2G_UINT32 TimeoutMs)
{
	uint64_t begin = 0, end;
	uint32_t length;
	RFM2G_STATUS ret;

	if (!Queue)
		return RFM2G_NULL_DESCRIPTOR;
	if (!Queue->line)
		return RFM2G_NOT_ENABLED;
	if (!Buffer)
		return RFM2G_BAD_PARAMETER_2;
	if (!Length)
		return RFM2G_BAD_PARAMETER_4;
	*Length = 0;
	while ((ret = rfm2g_queue_find(Queue, &length, &end)) ==
	       RFM2G_TIMED_OUT && TimeoutMs) {
		if (!begin)
			begin = rfm2g_queue_now_ms();
		ret = RFM2gxWatch(Queue->rh, Queue->offset, sizeof(Queue->head),
				  &Queue->head,
				  rfm2g_queue_rest(TimeoutMs, begin), NULL);
		if (ret)
			return ret;
	}
	if (ret)
		return ret;
	*Length = length;
	if (length > Size)
		return RFM2G_BAD_PARAMETER_3;
	return rfm2g_queue_take(Queue, Buffer, length);
}
