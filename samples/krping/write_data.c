// SPDX-License-Identifier: GPL-2.0
/*
 * write_data: write a file to a block device, in pieces of 4096 bytes.
 *
 *	write_data FILE [DEVICE]
 *
 * With a disk of krping_blk that selects the requests of this program
 * (bio_comm=write_data), a server receives what this program writes:
 *
 *	echo client,addr=10.56.0.1,port=9998,bio_dev=ram:16M,bio_name=blockdev,bio_comm=write_data \
 *		>/proc/krping_blk
 *	write_data a.txt /dev/blockdev
 *
 * The writes go to the page cache. fsync() sends them to the disk in this
 * program. Without it, a task of the kernel would send them later, and the disk
 * would not know which program wrote them.
 *
 * The exit status is 0 if the disk has the whole file, 1 after an error, and 2
 * if the arguments are invalid.
 */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PIECE = 4096 };

/* Read until the piece is full or the file ends. */
static ssize_t read_piece(int file, char *piece)
{
	size_t have = 0;

	while (have < PIECE) {
		ssize_t got = read(file, piece + have, PIECE - have);

		if (got < 0)
			return -1;
		if (!got)
			break;
		have += got;
	}
	return have;
}

static void write_piece(int device, const char *piece, size_t len,
			const char *name)
{
	while (len) {
		ssize_t put = write(device, piece, len);

		if (put < 0)
			err(1, "%s", name);
		piece += put;
		len -= put;
	}
}

int main(int argc, char **argv)
{
	const char *name = argc > 2 ? argv[2] : "/dev/blockdev";
	static char piece[PIECE];
	int file, device;
	ssize_t len;

	if (argc < 2 || argc > 3) {
		fprintf(stderr, "usage: write_data FILE [DEVICE]\n");
		return 2;
	}
	file = open(argv[1], O_RDONLY);
	if (file < 0)
		err(1, "%s", argv[1]);
	device = open(name, O_WRONLY);
	if (device < 0)
		err(1, "%s", name);
	while ((len = read_piece(file, piece)) > 0) {
		write_piece(device, piece, len, name);
		printf("wrote %zd bytes\n", len);
	}
	if (len < 0)
		err(1, "%s", argv[1]);
	if (fsync(device))
		err(1, "%s", name);
	return 0;
}
