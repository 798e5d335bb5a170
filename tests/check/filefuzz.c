// SPDX-License-Identifier: GPL-2.0
/*
 * filefuzz FILE FIRST COUNT: change FILE at random places, and let the functions of vrfmctl read the result and print
 * its records. Do this COUNT times. The number of a changed file is its seed, and FIRST is the first number: so a
 * failure is repeated alone. Most files get valid lengths and checksums after the change, so that all later checks are
 * reached. Each file is read twice, with different bytes behind the block in memory: both readings must be the same.
 * Compiled with sanitizers, which end the program at the first error. Author: The krdma developers.
 */
#include <err.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <sanitizer/common_interface_defs.h>

#include "../../tools/vrfmctl/pcapng.h"

#define ROOM 262144
#define PACKET_HEAD 28
/* Bytes of memory that are overwritten before a block is read: more than all of FILE. */
#define STALE 8192

static uint8_t original[ROOM], changed[ROOM];
static size_t original_len, len;
static unsigned long number;
static uint64_t state;
static unsigned long complete, cut, refused, records;

static uint32_t any(void)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return state >> 33;
}

static uint32_t word(size_t at)
{
	uint32_t value;

	memcpy(&value, changed + at, 4);
	return value;
}

static void set_word(size_t at, uint32_t value)
{
	memcpy(changed + at, &value, 4);
}

/* ---- changes ---- */

static void change_word(void)
{
	static const uint32_t values[] = { 0, 1, 4, 8, 12, 16, 28, 64, 0xFFFF, 1u << 31, ~(1u << 31), ~3u, ~0u };
	const size_t at = any() % (len / 4) * 4;

	set_word(at, any() % 2 ? values[any() % (sizeof(values) / 4)] : word(at) + any() % 257 - 128);
}

static void copy_some(void)
{
	const size_t n = 4 * (1 + any() % 64), words = len / 4;
	const size_t from = 4 * (any() % words), to = 4 * (any() % words);

	memmove(changed + to, changed + from, from + n <= len && to + n <= len ? n : 4);
}

/* Append copies of the file, so that a block can be too large for the reader. */
static void grow(void)
{
	size_t n;

	for (; len < ROOM / 2; len += n) {
		n = len;
		memcpy(changed + len, changed, n);
	}
	set_word(any() % (original_len / 4) * 4, any() % ROOM & ~3);
}

/* Return the offset of a random block. */
static size_t any_block(void)
{
	size_t at = 0, wanted = any() % len;

	while (at + 12 <= len && word(at + 4) >= 12 && at + word(at + 4) <= wanted)
		at += word(at + 4);
	return at;
}

/* Insert bytes into a block, and count them in its lengths. Rarely, this makes a record longer than a record can be. */
static void stretch(void)
{
	const size_t n = any() % 32 ? 4 * (1 + any() % 128) : 65024 + 4 * (any() % 128);
	const size_t at = any_block(), inside = at + 96;
	uint8_t *text = NULL;

	if (at + 28 > len || inside > len || len + n > ROOM)
		return;
	memmove(changed + inside + n, changed + inside, len - inside);
	memset(changed + inside, 'x', n);
	len += n;
	set_word(at + 4, word(at + 4) + n);
	if (word(at) == CTL_EPB)
		set_word(at + 20, word(at + 20) + n);
	if (word(at) == CTL_IDB)
		text = memmem(changed + at, 96, "vrfm records ", 13);
	/* The length of an option is in the two bytes before it. */
	if (text)
		memcpy(text - 2, &(uint16_t){ n + 96 }, 2);
}

static void change(void)
{
	switch (any() % 8) {
	case 0:
		stretch();
		break;
	case 1:
		changed[any() % len] ^= 1 << any() % 8;
		break;
	case 2:
		changed[any() % len] = any();
		break;
	case 3:
		copy_some();
		break;
	case 4:
		if (any() % 4 == 0 && len > 256)
			len = 128 + any() % (len - 128);
		else if (any() % 64 == 0)
			grow();
		break;
	default:
		change_word();
	}
}

/* Give the block at AT the checksum of its record. */
static void repair_record(size_t at, uint32_t size)
{
	const uint32_t caplen = word(at + 20), option = PACKET_HEAD + ((caplen + 3) & ~3u);

	if (caplen > size || option + 16 > size)
		return;
	set_word(at + option, CTL_EPB_HASH | 5 << 16);
	changed[at + option + 4] = CTL_HASH_CRC32;
	set_word(at + option + 5, ctl_crc32(changed + at + PACKET_HEAD, caplen));
}

/* Give the text that describes the device its checksum. */
static void repair_text(size_t at, uint32_t size)
{
	uint8_t *text = memmem(changed + at, size, "vrfm records ", 13);
	uint8_t *end = text ? memmem(text, changed + at + size - text, " crc ", 5) : NULL;
	char crc[9];

	if (!end || end + 13 > changed + at + size)
		return;
	snprintf(crc, sizeof(crc), "%08x", ctl_crc32(text, end - text));
	memcpy(end + 5, crc, 8);
}

static void repair(void)
{
	uint32_t size;
	size_t at;

	for (at = 0; at + 12 <= len; at += size) {
		size = word(at + 4);
		if (size % 4 || size < 12 || size > len - at)
			return;
		set_word(at + size - 4, size);
		if (word(at) == CTL_EPB && size >= PACKET_HEAD + 4)
			repair_record(at, size);
		else if (word(at) == CTL_IDB)
			repair_text(at, size);
	}
}

/* ---- reading ---- */

static void fail(const char *why)
{
	dprintf(STDERR_FILENO, "filefuzz: file %lu: %s\n", number, why);
	exit(1);
}

/* Check what the readers of records rely on. */
static void is_valid(const struct ctl_file *file)
{
	const struct vrfm_record *record = file->record;

	if ((const void *)record != file->words || file->len > VRFM_RING_SNAP_MAX ||
	    (ctl_is_write(record) && ((uint64_t)record->offset + record->length > file->source.size ||
				      file->len > record->length)))
		fail("an invalid record");
}

static void add(uint32_t *sum, const void *bytes, size_t n)
{
	*sum = *sum * 31 + ctl_crc32(bytes, n);
}

/* Read a file. Return a checksum of what was read. FILL: byte in the memory where no block is. */
static uint32_t read_file(const char *path, int fill)
{
	static struct ctl_file file;
	enum ctl_read ret = CTL_INVALID;
	uint32_t sum = 0;

	memset(&file, 0, sizeof(file));
	memset(file.words, fill, STALE);
	if (ctl_file_open(&file, path)) {
		for (memset(file.words, fill, STALE); !(ret = ctl_file_next(&file)); memset(file.words, fill, STALE)) {
			is_valid(&file);
			add(&sum, file.record, sizeof(*file.record) + file.len);
			ctl_show_line(file.record, file.len, file.real_ns);
			ctl_show_json(file.record, file.len, file.real_ns);
			records++;
		}
		add(&sum, &file.source, sizeof(file.source));
		ctl_file_close(&file);
	}
	complete += ret == CTL_END && file.ended;
	cut += ret == CTL_END && !file.ended;
	refused += ret == CTL_INVALID;
	add(&sum, &file.at, sizeof(file.at));
	add(&sum, &file.dropped, sizeof(file.dropped));
	return sum * 4 + ret;
}

static void one_file(int fd, const char *path)
{
	uint32_t n;

	state = number * 2654435761u + 1;
	memcpy(changed, original, original_len);
	len = original_len;
	for (n = 1 + any() % 4; n; n--)
		change();
	if (any() % 4)
		repair();
	if (ftruncate(fd, 0) || pwrite(fd, changed, len, 0) != (ssize_t)len)
		err(2, "memfd");
	if (read_file(path, 0) != read_file(path, 3))
		fail("bytes behind a block were used");
}

static void tell_number(void)
{
	dprintf(STDERR_FILENO, "filefuzz: file %lu\n", number);
}

int main(int argc, char **argv)
{
	unsigned long end;
	char path[32];
	FILE *in;
	int fd;

	if (argc != 4)
		errx(2, "filefuzz FILE FIRST COUNT");
	in = fopen(argv[1], "r");
	original_len = in ? fread(original, 1, ROOM, in) : 0;
	fd = memfd_create("records", 0);
	if (original_len < 256 || original_len == ROOM || fd < 0)
		err(2, "%s", argv[1]);
	fclose(in);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	__sanitizer_set_death_callback(tell_number);
	/* Records and messages go nowhere. Sanitizers write to the descriptor of stderr. */
	stdout = fopen("/dev/null", "w");
	stderr = fopen("/dev/null", "w");
	number = strtoul(argv[2], NULL, 0);
	for (end = number + strtoul(argv[3], NULL, 0); number < end; number++)
		one_file(fd, path);
	dprintf(STDOUT_FILENO, "%lu complete, %lu cut, %lu refused, %lu records\n", complete, cut, refused, records);
	return 0;
}
