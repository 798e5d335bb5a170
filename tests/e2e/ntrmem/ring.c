// SPDX-License-Identifier: GPL-2.0
/*
 * ring FILE [ID VECTOR SECONDS]: ring a doorbell of the machine ID without a pause. Author: The krdma developers.
 *
 * FILE is the file resource0 of the PCI device in sysfs. Print the number of rings; without ID, print the own number.
 */
#include <err.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#define IV_POSITION 8
#define DOORBELL 12

int main(int argc, char **argv)
{
	volatile uint32_t *regs;
	long count = 0;
	time_t end;
	int fd;

	if (argc != 2 && argc != 5)
		errx(2, "usage: ring FILE [ID VECTOR SECONDS]");
	fd = open(argv[1], O_RDWR);
	if (fd < 0)
		err(1, "%s", argv[1]);
	regs = mmap(NULL, 256, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (regs == MAP_FAILED)
		err(1, "mmap");
	if (argc == 2) {
		printf("%u\n", regs[IV_POSITION / 4]);
		return 0;
	}
	end = time(NULL) + atoi(argv[4]);
	while (time(NULL) < end) {
		regs[DOORBELL / 4] = atoi(argv[2]) << 16 | atoi(argv[3]);
		count++;
	}
	printf("%ld\n", count);
	return 0;
}
