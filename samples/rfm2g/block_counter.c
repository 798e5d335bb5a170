// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * One node writes a block of data, and all others read it consistently.
 *
 *   block_counter DEVICE write SECONDS     on one node
 *   block_counter DEVICE read SECONDS      on any node, also the same one
 *
 * Each location has one writer. All nodes receive the writes of a node in the
 * order of its calls. So a counter that is written after the block shows that
 * the block is complete. However, the writer may already be writing the next
 * block. A second counter, which is written before the block, shows this.
 *
 *   writer: BEGIN = n     block     END = n
 *   reader: END           block     BEGIN      complete if both are equal
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rfm2g_api.h>

/*
 * Offsets and size of the area that the writer writes. All nodes must agree on
 * the writer of each location.
 */
#define BEGIN 0x0
#define END 0x4
#define BLOCK 0x1000
#define WORDS 1024

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void check(RFM2G_STATUS status, const char *what)
{
	if (status != RFM2G_SUCCESS)
		errx(1, "%s: %s", what, RFM2gErrorMsg(status));
}

static void write_blocks(RFM2GHANDLE h, double end)
{
	RFM2G_UINT32 block[WORDS], n, i;

	/* Continue with the number after the last block of an earlier run. */
	check(RFM2gPeek32(h, END, &n), "peek");
	while (now() < end) {
		n++;
		for (i = 0; i < WORDS; i++)
			block[i] = n;
		check(RFM2gPoke32(h, BEGIN, n), "begin");
		check(RFM2gWrite(h, BLOCK, block, sizeof(block)), "block");
		check(RFM2gPoke32(h, END, n), "end");
	}
	printf("wrote up to block %u\n", n);
}

/* Check a complete block: every word must have the value of the counter. */
static int damaged(const RFM2G_UINT32 *block, RFM2G_UINT32 n)
{
	int i;

	for (i = 0; i < WORDS; i++)
		if (block[i] != n)
			return 1;
	return 0;
}

static int read_blocks(RFM2GHANDLE h, double end)
{
	RFM2G_UINT32 block[WORDS], begin, last, n;
	long whole = 0, again = 0, wrong = 0;

	check(RFM2gPeek32(h, END, &last), "peek");
	while (now() < end) {
		/* Polling is cheap, because reading makes no system call. */
		check(RFM2gPeek32(h, END, &n), "end");
		if (n == last)
			continue;
		check(RFM2gRead(h, BLOCK, block, sizeof(block)), "block");
		check(RFM2gPeek32(h, BEGIN, &begin), "begin");
		if (begin != n) {
			again++;
			continue;
		}
		whole++;
		wrong += damaged(block, n);
		last = n;
	}
	printf("%ld whole blocks, %ld that were being written, %ld damaged\n",
	       whole, again, wrong);
	return wrong || !whole;
}

int main(int argc, char **argv)
{
	RFM2GHANDLE h = NULL;
	int status = 0;
	double end;

	if (argc != 4 || (strcmp(argv[2], "write") && strcmp(argv[2], "read")))
		errx(2, "usage: block_counter DEVICE write|read SECONDS");
	check(RFM2gOpen(argv[1], &h), argv[1]);
	end = now() + atof(argv[3]);
	if (!strcmp(argv[2], "write"))
		write_blocks(h, end);
	else
		status = read_blocks(h, end);
	check(RFM2gClose(&h), "close");
	return status;
}
