// SPDX-License-Identifier: GPL-2.0
/* Commands for memory: peek, poke, dump, read, write, memop. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util.h"

#define UTIL_BLOCK_MAX (2U << 20)
/* Number of bytes that the command dump reads before it prints them. */
#define UTIL_DUMP_STEP 4096

static bool util_width(const char *text, uint32_t *width)
{
	if (!util_number(text, width))
		return false;
	if (*width == 1 || *width == 2 || *width == 4 || *width == 8)
		return true;
	fprintf(stderr, "width %s: 1, 2, 4 or 8\n", text);
	return false;
}

static RFM2G_STATUS util_load(RFM2GHANDLE rh, uint32_t offset, uint32_t width,
			      uint64_t *value)
{
	RFM2G_UINT64 llword = 0;
	RFM2G_UINT32 lword = 0;
	RFM2G_UINT16 word = 0;
	RFM2G_UINT8 byte = 0;
	RFM2G_STATUS ret;

	if (width == 1)
		ret = RFM2gPeek8(rh, offset, &byte);
	else if (width == 2)
		ret = RFM2gPeek16(rh, offset, &word);
	else if (width == 4)
		ret = RFM2gPeek32(rh, offset, &lword);
	else
		ret = RFM2gPeek64(rh, offset, &llword);
	*value = llword | lword | word | byte;
	return ret;
}

static RFM2G_STATUS util_store(RFM2GHANDLE rh, uint32_t offset, uint32_t width,
			       uint64_t value)
{
	if (width == 1)
		return RFM2gPoke8(rh, offset, value);
	if (width == 2)
		return RFM2gPoke16(rh, offset, value);
	if (width == 4)
		return RFM2gPoke32(rh, offset, value);
	return RFM2gPoke64(rh, offset, value);
}

static void util_value(uint64_t value, uint32_t width, uint32_t offset)
{
	printf("0x%0*llx at 0x%08x\n", (int)width * 2,
	       (unsigned long long)value, offset);
}

static enum util_result util_peek(struct util *util,
				  const struct util_command *command, int argc,
				  char **argv)
{
	uint32_t offset;
	uint64_t value;
	RFM2G_STATUS ret;

	if (!util_number(argv[0], &offset))
		return UTIL_USAGE;
	ret = util_load(util->rh, offset, command->which, &value);
	if (!ret)
		util_value(value, command->which, offset);
	return util_status(ret);
}

/*
 * Parse the value to write. A value of 8 bytes is always hexadecimal; a shorter
 * one is parsed as in C.
 */
static bool util_poke_value(const char *text, uint32_t width, uint64_t *value)
{
	uint32_t narrow;

	if (width == 8)
		return util_hex64(text, value);
	if (!util_number(text, &narrow))
		return false;
	*value = narrow;
	if (width == 4 || !(narrow >> width * 8))
		return true;
	fprintf(stderr, "%s does not fit into %u bytes\n", text, width);
	return false;
}

static enum util_result util_poke(struct util *util,
				  const struct util_command *command, int argc,
				  char **argv)
{
	uint32_t offset;
	uint64_t value;
	RFM2G_STATUS ret;

	if (!util_poke_value(argv[0], command->which, &value) ||
	    !util_number(argv[1], &offset))
		return UTIL_USAGE;
	ret = util_store(util->rh, offset, command->which, value);
	if (!ret)
		util_value(value, command->which, offset);
	return util_status(ret);
}

static void util_dump_text(const uint8_t *bytes, uint32_t count)
{
	uint32_t i;

	printf("  |");
	for (i = 0; i < count; i++)
		putchar(isprint(bytes[i]) ? bytes[i] : '.');
	puts("|");
}

static void util_dump_head(uint32_t width)
{
	uint32_t i;

	printf("    offset");
	for (i = 0; i < 16; i += width)
		printf(" %*X", (int)width * 2, i);
	putchar('\n');
}

static void util_dump_lines(const uint8_t *bytes, uint32_t offset,
			    uint32_t width, uint32_t count)
{
	uint64_t end = (uint64_t)count * width, at, i;
	uint64_t value;

	for (at = 0; at < end; at += 16) {
		printf("0x%08llx", (unsigned long long)(offset + at));
		for (i = at; i < at + 16; i += width) {
			value = 0;
			if (i < end)
				memcpy(&value, bytes + i, width);
			if (i < end)
				printf(" %0*llx", (int)width * 2,
				       (unsigned long long)value);
			else
				printf(" %*s", (int)width * 2, "");
		}
		util_dump_text(bytes + at, end - at < 16 ? end - at : 16);
	}
}

/**
 * util_dump - print data as numbers and as text, 16 bytes on each line
 * @bytes: data
 * @offset: offset to print for the first byte
 * @width: size of a number in bytes
 * @count: number of numbers to print
 */
void util_dump(const uint8_t *bytes, uint32_t offset, uint32_t width,
	       uint32_t count)
{
	util_dump_head(width);
	util_dump_lines(bytes, offset, width, count);
}

/* Block of memory that the arguments of a command describe. */
struct util_range {
	uint32_t offset;
	uint32_t width;
	uint32_t count;
	uint32_t bytes;
};

static bool util_range(char **argv, struct util_range *range, uint32_t most)
{
	if (!util_number(argv[0], &range->offset) ||
	    !util_width(argv[1], &range->width) ||
	    !util_number(argv[2], &range->count))
		return false;
	if (range->count > most / range->width) {
		fprintf(stderr, "at most %u bytes at once\n", most);
		return false;
	}
	range->bytes = range->count * range->width;
	return true;
}

static uint8_t *util_block(uint32_t bytes)
{
	uint8_t *block = calloc(1, bytes ? bytes : 1);

	if (!block)
		fprintf(stderr, "no memory for %u bytes\n", bytes);
	return block;
}

/*
 * Return an error if the device has a sliding window with an offset or size
 * that cannot be read. Offsets in commands count from the start of this window.
 */
static RFM2G_STATUS util_window(RFM2GHANDLE rh)
{
	RFM2G_UINT32 offset, size;
	RFM2G_STATUS ret = RFM2gGetSlidingWindow(rh, &offset, &size);

	return ret == RFM2G_NOT_SUPPORTED ? RFM2G_SUCCESS : ret;
}

static RFM2G_STATUS util_dump_some(RFM2GHANDLE rh, uint32_t offset,
				   uint32_t width, uint32_t count, bool first)
{
	uint8_t block[UTIL_DUMP_STEP];
	RFM2G_STATUS ret = RFM2G_SUCCESS;
	uint64_t value;
	uint32_t i;

	for (i = 0; i < count && !ret; i++) {
		ret = util_load(rh, offset + i * width, width, &value);
		memcpy(block + i * width, &value, width);
	}
	if (ret)
		return ret;
	if (first)
		util_dump_head(width);
	util_dump_lines(block, offset, width, count);
	return RFM2G_SUCCESS;
}

static enum util_result util_dump_command(struct util *util,
					  const struct util_command *command,
					  int argc, char **argv)
{
	uint32_t i, n, step;
	struct util_range range;
	RFM2G_STATUS ret;

	if (!util_range(argv, &range, UINT32_MAX))
		return UTIL_USAGE;
	ret = util_window(util->rh);
	step = UTIL_DUMP_STEP / range.width;
	for (i = 0; i < range.count && !ret; i += n) {
		n = range.count - i < step ? range.count - i : step;
		ret = util_dump_some(util->rh, range.offset + i * range.width,
				     range.width, n, !i);
	}
	return util_status(ret);
}

/* Print whether the driver of a card would use DMA to transfer BYTES bytes. */
static void util_note_dma(struct util *util, uint32_t bytes)
{
	RFM2G_UINT32 threshold;

	if (RFM2gGetDMAThreshold(util->rh, &threshold))
		return;
	printf("%u bytes, DMA %s\n", bytes,
	       util->map && bytes >= threshold && bytes <= util_map_bytes(util) ?
	       "is used" : "is not used");
}

static enum util_result util_read(struct util *util,
				  const struct util_command *command, int argc,
				  char **argv)
{
	uint32_t display = 1;
	struct util_range range;
	RFM2G_STATUS ret;
	uint8_t *block;

	if (!util_range(argv, &range, UTIL_BLOCK_MAX) ||
	    (argc == 4 && !util_below("display", argv[3], 2, &display)))
		return UTIL_USAGE;
	block = util_block(range.bytes);
	if (!block)
		return UTIL_FAILED;
	util_note_dma(util, range.bytes);
	ret = util_window(util->rh);
	if (!ret)
		ret = RFM2gRead(util->rh, range.offset, block, range.bytes);
	if (!ret && display)
		util_dump(block, range.offset, range.width, range.count);
	free(block);
	return util_status(ret);
}

static enum util_result util_write(struct util *util,
				   const struct util_command *command, int argc,
				   char **argv)
{
	struct util_range range;
	RFM2G_STATUS ret;
	uint64_t value;
	uint8_t *block;
	uint32_t i;

	if (!util_range(argv + 1, &range, UTIL_BLOCK_MAX) ||
	    !util_poke_value(argv[0], range.width, &value))
		return UTIL_USAGE;
	block = util_block(range.bytes);
	if (!block)
		return UTIL_FAILED;
	for (i = 0; i < range.bytes; i += range.width)
		memcpy(block + i, &value, range.width);
	util_note_dma(util, range.bytes);
	ret = util_window(util->rh);
	if (!ret)
		ret = RFM2gWrite(util->rh, range.offset, block, range.bytes);
	if (!ret)
		printf("%u elements written\n", range.count);
	free(block);
	return util_status(ret);
}

/* Values of the argument TYPE of the command memop. */
enum util_pattern {
	UTIL_FIXED,
	UTIL_PLUS_4,
	UTIL_PLUS_1,
	UTIL_INVERTED,
	UTIL_PATTERNS,
};

struct util_memop {
	struct util_range range;
	uint64_t pattern;
	uint32_t verify;
	uint32_t is_float;
	uint32_t kind;
};

static bool util_memop_pattern(const char *text, struct util_memop *op)
{
	double wide;
	float narrow;
	char *end;

	if (!op->is_float)
		return util_hex64(text, &op->pattern);
	errno = 0;
	wide = strtod(text, &end);
	narrow = wide;
	op->pattern = 0;
	if (op->range.width == 4)
		memcpy(&op->pattern, &narrow, sizeof(narrow));
	else
		memcpy(&op->pattern, &wide, sizeof(wide));
	if (!errno && end != text && !*end && op->range.width >= 4)
		return true;
	fprintf(stderr, "%s is not a floating-point number of %u bytes\n", text,
		op->range.width);
	return false;
}

static bool util_memop_parse(char **argv, struct util_memop *op)
{
	if (!util_range(argv + 1, &op->range, UINT32_MAX) ||
	    !util_below("verify", argv[4], 2, &op->verify) ||
	    !util_below("float", argv[5], 2, &op->is_float) ||
	    !util_below("type", argv[6], UTIL_PATTERNS, &op->kind) ||
	    !util_memop_pattern(argv[0], op))
		return false;
	if (op->kind == UTIL_FIXED || op->range.width == 4)
		return true;
	fprintf(stderr, "type %u is for a width of 4\n", op->kind);
	return false;
}

static uint64_t util_memop_value(const struct util_memop *op, uint32_t i)
{
	uint64_t value = op->pattern;

	if (op->kind == UTIL_PLUS_4)
		value += 4ULL * i;
	if (op->kind == UTIL_PLUS_1)
		value += i;
	if (op->kind == UTIL_INVERTED)
		value = ~(value + 4ULL * i);
	return op->range.width == 8 ? value :
	       value & ((1ULL << op->range.width * 8) - 1);
}

/* Write a pattern, or compare the memory with it up to the first difference. */
static enum util_result util_memop(struct util *util,
				   const struct util_command *command, int argc,
				   char **argv)
{
	struct util_memop op;
	uint64_t value, found;
	uint32_t i, offset;
	RFM2G_STATUS ret;

	if (!util_memop_parse(argv, &op))
		return UTIL_USAGE;
	for (i = 0; i < op.range.count; i++) {
		offset = op.range.offset + i * op.range.width;
		value = util_memop_value(&op, i);
		if (op.verify)
			ret = util_load(util->rh, offset, op.range.width,
					&found);
		else
			ret = util_store(util->rh, offset, op.range.width,
					 value);
		if (ret)
			return util_status(ret);
		if (op.verify && found != value) {
			printf("failed at 0x%08x: 0x%llx, not 0x%llx\n", offset,
			       (unsigned long long)found,
			       (unsigned long long)value);
			return UTIL_FAILED;
		}
	}
	printf("%u elements %s\n", op.range.count,
	       op.verify ? "passed" : "written");
	return UTIL_OK;
}

#define PEEK(bits) \
	{ .name = "peek" #bits, .args = "OFFSET", \
	  .text = "read " #bits " bits", .run = util_peek, .min = 1, \
	  .max = 1, .which = (bits) / 8 }, \
	{ .name = "poke" #bits, .args = "VALUE OFFSET", \
	  .text = "write " #bits " bits", .run = util_poke, .min = 2, \
	  .max = 2, .which = (bits) / 8 }

const struct util_command util_data_commands[] = {
	PEEK(8),
	PEEK(16),
	PEEK(32),
	PEEK(64),
	{ .name = "dump", .args = "OFFSET WIDTH COUNT",
	  .text = "show memory, read word by word", .run = util_dump_command,
	  .min = 3, .max = 3 },
	{ .name = "read", .args = "OFFSET WIDTH COUNT [DISPLAY]",
	  .text = "read a block; DISPLAY 0: do not show it", .run = util_read,
	  .min = 3, .max = 4 },
	{ .name = "write", .args = "VALUE OFFSET WIDTH COUNT",
	  .text = "write a block of one value", .run = util_write, .min = 4,
	  .max = 4 },
	{ .name = "memop",
	  .args = "HEXPATTERN OFFSET WIDTH COUNT VERIFY FLOAT TYPE",
	  .text = "write or (VERIFY 1) compare; TYPE 0 fixed, 1 +4, 2 +1, 3 inverted +4",
	  .run = util_memop, .min = 7, .max = 7 },
	{ }
};
