/* SPDX-License-Identifier: GPL-2.0 */
/* Blocks and options of the format pcapng, and reading of files. */
#ifndef VRFMCTL_PCAPNG_H
#define VRFMCTL_PCAPNG_H

#include "stream.h"

#define CTL_SHB 0x0A0D0D0A
#define CTL_IDB 1
#define CTL_ISB 5
#define CTL_EPB 6
#define CTL_MAGIC 0x1A2B3C4D
#define CTL_LINKTYPE_USER0 147
/* Options of an interface, of a packet, and of statistics. */
#define CTL_IF_NAME 2
#define CTL_IF_DESCRIPTION 3
#define CTL_IF_TSRESOL 9
#define CTL_EPB_HASH 3
#define CTL_ISB_IFRECV 4
#define CTL_ISB_IFDROP 5
/* Algorithm of a hash: CRC-32. */
#define CTL_HASH_CRC32 2
/* Largest number of bytes of a block. */
#define CTL_BLOCK_MAX (CTL_RECORD_MAX + 512)

/**
 * struct ctl_file - file of records that is being read
 * @file: the file
 * @path: its name
 * @source: the device that the records are from
 * @at: offset of the block in @words
 * @dropped: number of records that were dropped, as the end of the file counts
 * @ended: the file has its end; otherwise it was cut
 * @real_ns: CLOCK_REALTIME minus the clock of the records
 * @record: the last record
 * @len: number of its payload bytes
 * @words: the last block
 */
struct ctl_file {
	FILE *file;
	const char *path;
	struct ctl_source source;
	uint64_t at;
	uint64_t dropped;
	bool ended;
	int64_t real_ns;
	const struct vrfm_record *record;
	uint32_t len;
	uint64_t words[CTL_BLOCK_MAX / 8];
};

/* Result of reading a record. */
enum ctl_read { CTL_READ, CTL_END, CTL_INVALID };

uint32_t ctl_crc32(const void *from, size_t len);

/* file.c */
bool ctl_file_open(struct ctl_file *file, const char *path);
bool ctl_file_rewind(struct ctl_file *file);
enum ctl_read ctl_file_next(struct ctl_file *file);
void ctl_file_close(struct ctl_file *file);

#endif /* VRFMCTL_PCAPNG_H */
