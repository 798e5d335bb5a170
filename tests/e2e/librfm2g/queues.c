// SPDX-License-Identifier: GPL-2.0
/*
 * Test queues of librfm2g. This program runs on two nodes at the same time: one of them sends, and the other one has
 * two readers, of which one is slow.
 *
 *   queues DEVICE NODE OTHER
 *
 * Print a line for each case: "0 CASE" if it succeeds, "1 CASE" if it fails.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <rfm2g_extras.h>

#include "meet.h"
#include "wrap.h"

#define AT 0x80000
#define LOG 16384
#define READERS 3
#define MESSAGES 3000
#define LONGEST (LOG / 4)
#define SCRIBBLES 500

static uint8_t buffer[LONGEST];

/* Length and bytes of a message depend on its number only. */
static RFM2G_UINT32 fill(RFM2G_UINT32 number, uint8_t *bytes)
{
	RFM2G_UINT32 i, length = 4 + number * 7919 % (number % 16 ? 300 : LONGEST - 3);

	for (i = 0; i < length; i++)
		bytes[i] = number * 31 + i;
	memcpy(bytes, &number, sizeof(number));
	return length;
}

static bool is_message(RFM2G_UINT32 number, RFM2G_UINT32 length)
{
	static uint8_t wanted[LONGEST];

	return length == fill(number, wanted) && !memcmp(buffer, wanted, length);
}

static void creating(void)
{
	RFM2GXQUEUE queue = NULL, reader = NULL;
	RFM2G_UINT32 length;

	GIVES(NULL_DESCRIPTOR, RFM2gxQueueCreate(NULL, AT, LOG, 1, &queue));
	GIVES(UNALIGNED_OFFSET, RFM2gxQueueCreate(h, AT + 32, LOG, 1, &queue));
	GIVES(BAD_PARAMETER_3, RFM2gxQueueCreate(h, AT, LOG + 8, 1, &queue));
	GIVES(BAD_PARAMETER_3, RFM2gxQueueCreate(h, AT, 512, 1, &queue));
	GIVES(BAD_PARAMETER_3, RFM2gxQueueCreate(h, AT, LOG, 0, &queue));
	GIVES(BAD_PARAMETER_3, RFM2gxQueueCreate(h, AT, LOG, 65, &queue));
	GIVES(BAD_PARAMETER_5, RFM2gxQueueCreate(h, AT, LOG, 1, NULL));
	GIVES(OUT_OF_RANGE, RFM2gxQueueCreate(h, 0xFFFFFFC0, LOG, 1, &queue));
	GIVES(NOT_OPEN, RFM2gxQueueOpen(h, AT, 0, &reader));
	GIVES(SUCCESS, RFM2gxQueueCreate(h, AT, LOG, READERS, &queue));
	GIVES(BAD_PARAMETER_3, RFM2gxQueueOpen(h, AT, READERS, &reader));
	GIVES(BAD_PARAMETER_4, RFM2gxQueueOpen(h, AT, 0, NULL));
	GIVES(SUCCESS, RFM2gxQueueSend(queue, "early", 5, 0));
	GIVES(SUCCESS, RFM2gxQueueOpen(h, AT, 0, &reader));
	GIVES(TIMED_OUT, RFM2gxQueueReceive(reader, buffer, LONGEST, &length, 0));
	GIVES(TIMED_OUT, RFM2gxQueueReceive(reader, buffer, LONGEST, &length, 20));
	GIVES(SUCCESS, RFM2gxQueueSend(queue, "a message", 9, 0));
	GIVES(BAD_PARAMETER_3, RFM2gxQueueReceive(reader, buffer, 8, &length, 0));
	is(length == 9, "the length of a message that is too long");
	GIVES(SUCCESS, RFM2gxQueueReceive(reader, buffer, 9, &length, 0));
	is(length == 9 && !memcmp(buffer, "a message", 9), "the message");
	GIVES(BAD_PARAMETER_3, RFM2gxQueueSend(queue, buffer, 0, 0));
	GIVES(BAD_PARAMETER_3, RFM2gxQueueSend(queue, buffer, LONGEST + 1, 0));
	GIVES(BAD_PARAMETER_2, RFM2gxQueueSend(queue, NULL, 4, 0));
	GIVES(MEM_READ_ONLY, RFM2gxQueueSend(reader, buffer, 4, 0));
	GIVES(NOT_ENABLED, RFM2gxQueueReceive(queue, buffer, 4, &length, 0));
	GIVES(SUCCESS, RFM2gxQueueClose(&queue));
	GIVES(NULL_DESCRIPTOR, RFM2gxQueueClose(&queue));
	GIVES(BAD_PARAMETER_1, RFM2gxQueueClose(NULL));
	GIVES(SUCCESS, RFM2gxQueueCreate(h, AT, LOG, READERS, &queue));
	GIVES(NOT_OPEN, RFM2gxQueueReceive(reader, buffer, LONGEST, &length, 0));
	GIVES(SUCCESS, RFM2gxQueueClose(&reader));
	GIVES(SUCCESS, RFM2gxQueueClose(&queue));
}

/* A reader that does not read stops the sender, and one that is closed does not. */
static void stopping(void)
{
	RFM2GXQUEUE queue = NULL, reader = NULL;
	RFM2G_UINT32 length, n = 0, m = 0;
	RFM2G_STATUS ret;

	RFM2gxQueueCreate(h, AT, LOG, READERS, &queue);
	RFM2gxQueueOpen(h, AT, 2, &reader);
	while (!(ret = RFM2gxQueueSend(queue, buffer, fill(n, buffer), 0)) && n < 10000)
		n++;
	GIVES(TIMED_OUT, ret);
	is(n > 16 && n < 1000, "the messages fill the log");
	GIVES(TIMED_OUT, RFM2gxQueueSend(queue, buffer, LONGEST, 20));
	while (!RFM2gxQueueReceive(reader, buffer, LONGEST, &length, 0) && is_message(m, length))
		m++;
	is(n == m, "a slow reader gets all messages");
	GIVES(SUCCESS, RFM2gxQueueSend(queue, buffer, LONGEST, 0));
	RFM2gxQueueClose(&reader);
	for (n = 0; n < 100 && !ret; n++)
		ret = RFM2gxQueueSend(queue, buffer, LONGEST, 0);
	for (n = 0; n < 100 && !RFM2gxQueueSend(queue, buffer, LONGEST, 0); n++)
		;
	is(n == 100, "every message has room when the queue has no reader");
	RFM2gxQueueClose(&queue);
}

static void sending(void)
{
	RFM2GXQUEUE queue = NULL;
	RFM2G_UINT32 n;
	RFM2G_STATUS ret = RFM2gxQueueCreate(h, AT, LOG, READERS, &queue);

	meet();
	meet();
	for (n = 0; n < MESSAGES && !ret; n++)
		ret = RFM2gxQueueSend(queue, buffer, fill(n, buffer), PATIENCE_MS);
	GIVES(SUCCESS, ret);
	meet();
	RFM2gxQueueClose(&queue);
}

/* Receive all messages. Return the number of messages that are missing, wrong or out of order. */
static RFM2G_UINT32 receive_all(RFM2GXQUEUE queue, bool slow)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	RFM2G_UINT32 n, length, wrong = 0;

	for (n = 0; n < MESSAGES && !wrong; n++) {
		if (RFM2gxQueueReceive(queue, buffer, LONGEST, &length, PATIENCE_MS) || !is_message(n, length))
			wrong = MESSAGES - n;
		if (slow && n % 16 == 0)
			nanosleep(&pause, NULL);
	}
	return wrong;
}

/* A second program that reads, slowly. It writes a byte when it has opened the queue. */
static void receive_slowly(char *device, int opened)
{
	RFM2GXQUEUE queue = NULL;
	RFM2GHANDLE own = NULL;

	if (RFM2gOpen(device, &own) || RFM2gxQueueOpen(own, AT, 1, &queue) || write(opened, "", 1) != 1)
		_exit(2);
	_exit(!!receive_all(queue, true));
}

static void receiving(char *device)
{
	RFM2GXQUEUE queue = NULL;
	int status = -1, ends[2];
	char byte;
	pid_t pid;

	meet();
	if (pipe(ends))
		err(2, "pipe");
	pid = fork();
	if (!pid)
		receive_slowly(device, ends[1]);
	close(ends[1]);
	is(read(ends[0], &byte, 1) == 1, "a second program opens the queue");
	GIVES(SUCCESS, RFM2gxQueueOpen(h, AT, 0, &queue));
	meet();
	is(!receive_all(queue, false), "a reader gets all messages of another node in order");
	is(waitpid(pid, &status, 0) == pid && !status, "a slow reader gets the same messages");
	meet();
	RFM2gxQueueClose(&queue);
}

/* Change any word of the queue while messages are sent and received. All calls return documented statuses. */
static void scribbling(void)
{
	RFM2G_UINT32 n, i, length, state = 1, wrong = 0, lost = 0;
	RFM2GXQUEUE queue = NULL, reader = NULL;
	RFM2G_STATUS ret;

	for (n = 0; n < SCRIBBLES; n++) {
		if (!queue)
			RFM2gxQueueCreate(h, AT, 1024, 2, &queue);
		if (!reader && RFM2gxQueueOpen(h, AT, 1, &reader))
			RFM2gxQueueClose(&queue);
		for (i = 0; i < 5 && queue; i++) {
			ret = RFM2gxQueueSend(queue, buffer, 1 + n % 256, 0);
			wrong += ret && ret != RFM2G_TIMED_OUT;
		}
		state = state * 1664525 + 1013904223;
		RFM2gPoke32(h, AT + (state >> 8) % (n % 2 ? 64 : 1216) / 4 * 4, state);
		for (i = 0; i < 20 && reader; i++) {
			ret = RFM2gxQueueReceive(reader, buffer, LONGEST, &length, 0);
			wrong += ret && ret != RFM2G_TIMED_OUT && ret != RFM2G_READ_ERROR && ret != RFM2G_NOT_OPEN;
			lost += ret == RFM2G_READ_ERROR;
			if (ret == RFM2G_NOT_OPEN) {
				RFM2gxQueueClose(&reader);
				RFM2gxQueueClose(&queue);
			}
		}
	}
	is(!wrong, "a queue whose memory is changed gives documented statuses only");
	is(lost, "lost messages are reported");
	RFM2gxQueueClose(&reader);
	RFM2gxQueueClose(&queue);
}

int main(int argc, char **argv)
{
	if (argc != 4)
		errx(2, "queues DEVICE NODE OTHER");
	node = atoi(argv[2]);
	other = atoi(argv[3]);
	/* Meetings of earlier programs have smaller numbers. */
	step = 200000;
	if (RFM2gOpen(argv[1], &h))
		errx(2, "%s", argv[1]);
	if (node < other) {
		creating();
		stopping();
		sending();
		scribbling();
	} else {
		receiving(argv[1]);
	}
	meet();
	RFM2gClose(&h);
	return 0;
}
