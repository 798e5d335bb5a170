// SPDX-License-Identifier: GPL-2.0
/*
 * poke FILE OFFSET VALUE: store a 64-bit word into the memory of a PCI device. Author: The krdma developers.
 *
 * FILE is its file resource2 in sysfs. The exit status is 0 if the word is stored.
 */
#include <err.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

int main(int argc, char **argv)
{
	volatile uint64_t *memory;
	int fd;

	if (argc != 4)
		errx(2, "usage: poke FILE OFFSET VALUE");
	fd = open(argv[1], O_RDWR);
	if (fd < 0)
		err(1, "%s", argv[1]);
	memory = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		err(1, "mmap");
	memory[strtoull(argv[2], NULL, 0) / 8] = strtoull(argv[3], NULL, 0);
	return 0;
}
