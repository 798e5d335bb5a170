// SPDX-License-Identifier: GPL-2.0
/*
 * Read files of records. Nothing in a file is trusted: each length is checked
 * before it is used, and each record has a checksum. The end of a file may be
 * missing. Then the records before the cut are valid.
 */
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "pcapng.h"

/* Version of the records that this program reads and writes. */
#define CTL_RECORDS 1
/* Bytes of the parts of a block: type and length; of a packet before its bytes. */
#define CTL_BLOCK_HEAD 8
#define CTL_PACKET_HEAD 28

static enum ctl_read ctl_file_invalid(const struct ctl_file *file,
				      const char *what)
{
	warnx("%s: %s at byte %" PRIu64, file->path, what, file->at);
	return CTL_INVALID;
}

static uint32_t ctl_file_word(const struct ctl_file *file, uint32_t at)
{
	uint32_t word;

	memcpy(&word, (const uint8_t *)file->words + at, sizeof(word));
	return word;
}

/* Read bytes of a block. Return CTL_END if the file ends before them. */
static enum ctl_read ctl_file_read(struct ctl_file *file, uint32_t at,
				   uint32_t len)
{
	if (fread((uint8_t *)file->words + at, 1, len, file->file) == len)
		return CTL_READ;
	if (!ferror(file->file))
		return CTL_END;
	warn("%s", file->path);
	return CTL_INVALID;
}

/* Read the next block. */
static enum ctl_read ctl_file_block(struct ctl_file *file, uint32_t *type,
				    uint32_t *size)
{
	enum ctl_read ret = ctl_file_read(file, 0, CTL_BLOCK_HEAD);

	if (ret)
		return ret;
	*type = ctl_file_word(file, 0);
	*size = ctl_file_word(file, 4);
	if (*size % 4 || *size < CTL_BLOCK_HEAD + 4 ||
	    *size > sizeof(file->words))
		return ctl_file_invalid(file, "invalid length of a block");
	ret = ctl_file_read(file, CTL_BLOCK_HEAD, *size - CTL_BLOCK_HEAD);
	if (!ret && ctl_file_word(file, *size - 4) != *size)
		return ctl_file_invalid(file, "two lengths of a block differ");
	return ret;
}

/* Return an option of a block, whose options begin at AT; NULL: none. */
static const void *ctl_file_option(const struct ctl_file *file, uint32_t at,
				   uint32_t size, uint16_t wanted,
				   uint16_t *len)
{
	const uint8_t *bytes = (const uint8_t *)file->words;
	uint16_t head[2];

	while (at + sizeof(head) <= size - 4) {
		memcpy(head, bytes + at, sizeof(head));
		at += sizeof(head);
		if (!head[0] || head[1] > size - 4 - at)
			return NULL;
		*len = head[1];
		if (head[0] == wanted)
			return bytes + at;
		at += (head[1] + 3) & ~3U;
	}
	return NULL;
}

/* Read the text that describes the device. */
static bool ctl_file_describe(struct ctl_file *file, const char *text)
{
	const char *end = strstr(text, " crc ");
	struct ctl_source *source = &file->source;
	unsigned int version;
	uint32_t crc;

	if (sscanf(text, "vrfm records %u ", &version) != 1 || !end) {
		warnx("%s: not written by vrfmctl", file->path);
		return false;
	}
	if (sscanf(end, " crc %x", &crc) != 1 ||
	    crc != ctl_crc32(text, end - text)) {
		warnx("%s: the description of the device is damaged",
		      file->path);
		return false;
	}
	if (version != CTL_RECORDS) {
		warnx("%s: has records of version %u, and this vrfmctl reads version %u",
		      file->path, version, CTL_RECORDS);
		return false;
	}
	if (sscanf(text, "vrfm records %*u network %u node %u size %" SCNu64
		   " lineage %" SCNx64, &source->network, &source->node,
		   &source->size, &source->lineage) == 4 &&
	    source->size && source->size <= 1ULL << 31)
		return true;
	warnx("%s: the description of the device is invalid", file->path);
	return false;
}

static bool ctl_file_interface(struct ctl_file *file)
{
	uint32_t type, size;
	const void *option;
	char text[256];
	uint16_t len;

	if (ctl_file_block(file, &type, &size) || type != CTL_IDB ||
	    size < 20 || (ctl_file_word(file, 8) & 0xFFFF) != CTL_LINKTYPE_USER0)
		return false;
	option = ctl_file_option(file, 16, size, CTL_IF_DESCRIPTION, &len);
	if (!option || len >= sizeof(text))
		return false;
	memcpy(text, option, len);
	text[len] = 0;
	file->at += size;
	return ctl_file_describe(file, text);
}

static bool ctl_file_begin(struct ctl_file *file)
{
	uint32_t type, size;

	file->at = 0;
	file->ended = false;
	if (ctl_file_block(file, &type, &size) || type != CTL_SHB ||
	    size < 28 || ctl_file_word(file, 8) != CTL_MAGIC) {
		warnx("%s: not a file of records", file->path);
		return false;
	}
	if (ctl_file_word(file, 12) != 1) {
		warnx("%s: a version of pcapng other than 1.0", file->path);
		return false;
	}
	file->at += size;
	if (ctl_file_interface(file))
		return true;
	warnx("%s: no device at byte %" PRIu64, file->path, file->at);
	return false;
}

/**
 * ctl_file_open - open a file of records, and read its begin
 * @file: result
 * @path: name of the file; -: stdin
 *
 * Return: false after an error message.
 */
bool ctl_file_open(struct ctl_file *file, const char *path)
{
	file->path = path;
	file->file = strcmp(path, "-") ? fopen(path, "re") : stdin;
	if (!file->file) {
		warn("%s", path);
		return false;
	}
	if (ctl_file_begin(file))
		return true;
	ctl_file_close(file);
	return false;
}

/**
 * ctl_file_close - undo ctl_file_open()
 * @file: file
 */
void ctl_file_close(struct ctl_file *file)
{
	if (file->file != stdin)
		fclose(file->file);
}

/**
 * ctl_file_rewind - read a file again from its first record
 * @file: file
 *
 * Return: false after an error message.
 */
bool ctl_file_rewind(struct ctl_file *file)
{
	if (!fseek(file->file, 0, SEEK_SET))
		return ctl_file_begin(file);
	warn("%s", file->path);
	return false;
}

/* Check a record whose checksum is valid: a program may have written it. */
static bool ctl_file_is_valid(const struct ctl_file *file)
{
	const struct vrfm_record *record = file->record;
	uint64_t end = (uint64_t)record->offset + record->length;

	if (!ctl_is_write(record))
		return true;
	return end <= file->source.size &&
	       (file->len == record->length ||
		(file->len < record->length && record->flags & VRFM_REC_CUT));
}

static enum ctl_read ctl_file_packet(struct ctl_file *file, uint32_t size)
{
	const uint8_t *bytes = (const uint8_t *)file->words;
	uint32_t len, crc;
	const uint8_t *hash;
	uint16_t hash_len;
	uint64_t ns;

	if (size < CTL_PACKET_HEAD + 4)
		return ctl_file_invalid(file, "a packet without content");
	len = ctl_file_word(file, 20);
	if (len < sizeof(*file->record) || len > CTL_RECORD_MAX ||
	    len > size - CTL_PACKET_HEAD - 4)
		return ctl_file_invalid(file, "invalid length of a record");
	hash = ctl_file_option(file, CTL_PACKET_HEAD + ((len + 3) & ~3U), size,
			       CTL_EPB_HASH, &hash_len);
	if (!hash || hash_len != 5 || hash[0] != CTL_HASH_CRC32)
		return ctl_file_invalid(file, "a record without checksum");
	memcpy(&crc, hash + 1, sizeof(crc));
	if (crc != ctl_crc32(bytes + CTL_PACKET_HEAD, len))
		return ctl_file_invalid(file, "a damaged record");
	/* Align the record, which begins in the middle of a word of 64 bits. */
	ns = (uint64_t)ctl_file_word(file, 12) << 32 | ctl_file_word(file, 16);
	memmove(file->words, bytes + CTL_PACKET_HEAD, len);
	file->record = (const void *)file->words;
	file->len = len - sizeof(*file->record);
	file->real_ns = ns - file->record->time_ns;
	return ctl_file_is_valid(file) ? CTL_READ :
		ctl_file_invalid(file, "a record outside of the memory");
}

static void ctl_file_statistics(struct ctl_file *file, uint32_t size)
{
	const void *option;
	uint16_t len;

	option = ctl_file_option(file, 20, size, CTL_ISB_IFDROP, &len);
	if (option && len == sizeof(file->dropped))
		memcpy(&file->dropped, option, len);
	file->ended = true;
}

/**
 * ctl_file_next - read the next record of a file
 * @file: file
 *
 * Return: CTL_READ: &ctl_file.record is valid until the next call; CTL_END: there
 * is none, and &ctl_file.ended shows whether the file is complete; CTL_INVALID
 * after an error message.
 */
enum ctl_read ctl_file_next(struct ctl_file *file)
{
	uint32_t type, size;
	enum ctl_read ret;

	for (;;) {
		ret = ctl_file_block(file, &type, &size);
		if (ret)
			return ret;
		if (type == CTL_EPB)
			ret = ctl_file_packet(file, size);
		else if (type == CTL_ISB && size >= 24)
			ctl_file_statistics(file, size);
		else
			ret = ctl_file_invalid(file, "an unknown block");
		file->at += size;
		if (ret || type == CTL_EPB)
			return ret;
	}
}
