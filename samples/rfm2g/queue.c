// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Send lines of text to programs on any nodes, through a queue in the memory.
 *
 *   queue DEVICE OFFSET send
 *   queue DEVICE OFFSET receive READER COUNT
 *
 * The first command creates the queue, and sends each line of its input. The
 * second command prints as many lines as COUNT, from those that are sent after
 * it has begun. READER is 0 or 1, and differs between programs.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rfm2g_extras.h>

#define LOG 65536
#define READERS 2
#define LINE 1000

static void check(RFM2G_STATUS status, const char *what)
{
	if (status != RFM2G_SUCCESS)
		errx(1, "%s: %s", what, RFM2gErrorMsg(status));
}

static void send_lines(RFM2GHANDLE card, RFM2G_UINT32 offset)
{
	RFM2GXQUEUE queue;
	char line[LINE];

	check(RFM2gxQueueCreate(card, offset, LOG, READERS, &queue), "create");
	while (fgets(line, sizeof(line), stdin))
		check(RFM2gxQueueSend(queue, line, strlen(line), 1000), "send");
	check(RFM2gxQueueClose(&queue), "close");
}

static void print_lines(RFM2GHANDLE card, RFM2G_UINT32 offset,
			RFM2G_UINT32 reader, unsigned long count)
{
	RFM2G_UINT32 length;
	RFM2GXQUEUE queue;
	char line[LINE];

	check(RFM2gxQueueOpen(card, offset, reader, &queue), "open");
	while (count--) {
		check(RFM2gxQueueReceive(queue, line, sizeof(line), &length,
					 RFM2GX_FOREVER), "receive");
		fwrite(line, 1, length, stdout);
		fflush(stdout);
	}
	check(RFM2gxQueueClose(&queue), "close");
}

int main(int argc, char **argv)
{
	RFM2GHANDLE h = NULL;
	RFM2G_UINT32 offset;

	if (!(argc == 4 && !strcmp(argv[3], "send")) &&
	    !(argc == 6 && !strcmp(argv[3], "receive")))
		errx(2, "usage: queue DEVICE OFFSET send | receive READER COUNT");
	check(RFM2gOpen(argv[1], &h), argv[1]);
	offset = strtoul(argv[2], NULL, 0);
	if (argc == 4)
		send_lines(h, offset);
	else
		print_lines(h, offset, atoi(argv[4]), strtoul(argv[5], NULL, 0));
	check(RFM2gClose(&h), "close");
	return 0;
}
