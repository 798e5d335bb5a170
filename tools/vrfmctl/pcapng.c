// SPDX-License-Identifier: GPL-2.0
/*
 * Files of records in the format pcapng, which Wireshark and its tools read.
 * Documentation/tap.rst describes the blocks and options. All numbers are in the
 * byte order of the host, which is little-endian.
 */
#include <inttypes.h>
#include <string.h>

#include "pcapng.h"
#include "stream.h"

/**
 * struct ctl_block - a block that is being filled
 * @len: number of bytes so far
 * @bytes: type, length, content and options of the block
 */
struct ctl_block {
	uint32_t len;
	uint8_t bytes[CTL_BLOCK_MAX];
};

static void ctl_block_add(struct ctl_block *block, const void *bytes,
			  uint32_t len)
{
	memcpy(block->bytes + block->len, bytes, len);
	block->len += len;
	/* Each part of a block is padded to a word. */
	memset(block->bytes + block->len, 0, -len & 3);
	block->len += -len & 3;
}

static void ctl_block_word(struct ctl_block *block, uint32_t word)
{
	ctl_block_add(block, &word, sizeof(word));
}

static void ctl_block_begin(struct ctl_block *block, uint32_t type)
{
	block->len = 0;
	ctl_block_word(block, type);
	ctl_block_word(block, 0);
}

static void ctl_block_option(struct ctl_block *block, uint16_t code,
			     const void *value, uint16_t len)
{
	const uint16_t head[2] = { code, len };

	ctl_block_add(block, head, sizeof(head));
	ctl_block_add(block, value, len);
}

/*
 * End the options and the block, and write the block. An error stays in FILE until
 * the caller checks it.
 */
static void ctl_block_write(struct ctl_block *block, FILE *file)
{
	const uint32_t len = block->len + 2 * sizeof(uint32_t);

	ctl_block_word(block, 0);
	ctl_block_word(block, len);
	memcpy(block->bytes + sizeof(uint32_t), &len, sizeof(len));
	fwrite(block->bytes, block->len, 1, file);
}

/**
 * ctl_crc32 - return the CRC-32 of bytes, as in Ethernet
 * @from: the bytes
 * @len: number of bytes
 *
 * Return: checksum.
 */
uint32_t ctl_crc32(const void *from, size_t len)
{
	static uint32_t table[256];
	const uint8_t *bytes = from;
	uint32_t i, bit, crc;

	for (i = 0; i < 256 && !table[1]; i++) {
		crc = 255 - i;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320 : 0);
		table[255 - i] = crc;
	}
	for (crc = ~0U; len; len--, bytes++)
		crc = table[(crc ^ *bytes) & 255] ^ crc >> 8;
	return ~crc;
}

static void ctl_pcapng_head(FILE *file)
{
	static struct ctl_block block;

	ctl_block_begin(&block, CTL_SHB);
	ctl_block_word(&block, CTL_MAGIC);
	ctl_block_word(&block, 1); /* version 1.0 */
	ctl_block_word(&block, ~0U); /* the length of the section is unknown */
	ctl_block_word(&block, ~0U);
	ctl_block_option(&block, 4, "vrfmctl", 7);
	ctl_block_write(&block, file);
}

/**
 * ctl_pcapng_begin - write the begin of a file: the section, and the device as
 * its interface
 * @file: file; errors are recorded in it
 * @source: the device
 */
void ctl_pcapng_begin(FILE *file, const struct ctl_source *source)
{
	static struct ctl_block block;
	const uint8_t nanoseconds = 9;
	char text[128];
	int len;

	ctl_pcapng_head(file);
	len = snprintf(text, sizeof(text),
		       "vrfm records 1 network %u node %u size %" PRIu64
		       " lineage %016" PRIx64,
		       source->network, source->node, source->size,
		       source->lineage);
	len += snprintf(text + len, sizeof(text) - len, " crc %08x",
			ctl_crc32(text, len));
	ctl_block_begin(&block, CTL_IDB);
	ctl_block_word(&block, CTL_LINKTYPE_USER0);
	ctl_block_word(&block, 0);
	ctl_block_option(&block, CTL_IF_NAME, source->name,
			 strlen(source->name));
	ctl_block_option(&block, CTL_IF_DESCRIPTION, text, len);
	ctl_block_option(&block, CTL_IF_TSRESOL, &nanoseconds, 1);
	ctl_block_write(&block, file);
}

/* Return the number of bytes of a record with the payload that was not cut. */
static uint32_t ctl_original(const struct vrfm_record *record, uint32_t len)
{
	return sizeof(*record) +
	       (record->flags & VRFM_REC_CUT ? record->length : len);
}

/**
 * ctl_pcapng_record - write a record as a packet
 * @file: file; errors are recorded in it
 * @record: record with its payload
 * @len: number of payload bytes
 * @real_ns: CLOCK_REALTIME minus the clock of the record, in ns
 */
void ctl_pcapng_record(FILE *file, const struct vrfm_record *record,
		       uint32_t len, int64_t real_ns)
{
	static struct ctl_block block;
	uint64_t ns = record->time_ns + real_ns;
	uint8_t hash[5] = { CTL_HASH_CRC32 };
	uint32_t size = sizeof(*record) + len, crc = ctl_crc32(record, size);

	memcpy(hash + 1, &crc, sizeof(crc));
	ctl_block_begin(&block, CTL_EPB);
	ctl_block_word(&block, 0); /* the only interface */
	ctl_block_word(&block, ns >> 32);
	ctl_block_word(&block, ns);
	ctl_block_word(&block, size);
	ctl_block_word(&block, ctl_original(record, len));
	ctl_block_add(&block, record, size);
	ctl_block_option(&block, CTL_EPB_HASH, hash, sizeof(hash));
	ctl_block_write(&block, file);
}

/**
 * ctl_pcapng_end - write the statistics at the end of a file
 * @file: file; errors are recorded in it
 * @received: number of records, with those that were dropped
 * @dropped: number of records that were dropped
 * @now_ns: CLOCK_REALTIME, in ns
 */
void ctl_pcapng_end(FILE *file, uint64_t received, uint64_t dropped,
		    uint64_t now_ns)
{
	static struct ctl_block block;

	ctl_block_begin(&block, CTL_ISB);
	ctl_block_word(&block, 0);
	ctl_block_word(&block, now_ns >> 32);
	ctl_block_word(&block, now_ns);
	ctl_block_option(&block, CTL_ISB_IFRECV, &received, sizeof(received));
	ctl_block_option(&block, CTL_ISB_IFDROP, &dropped, sizeof(dropped));
	ctl_block_write(&block, file);
}
