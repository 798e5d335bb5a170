// SPDX-License-Identifier: GPL-2.0
/* Commands that map and unmap a DMA buffer. */
#include <inttypes.h>

#include "util.h"

enum { UTIL_PAGES, UTIL_BYTES };

/**
 * util_map_bytes - return the size of the mapped buffer
 * @util: session with a mapping
 *
 * Return: size in bytes, which may exceed 32 bits if it was given in pages.
 */
uint64_t util_map_bytes(const struct util *util)
{
	return util->map_count * (util->map_pages ? 4096ULL : 1);
}

static enum util_result util_mapuser(struct util *util,
				     const struct util_command *command,
				     int argc, char **argv)
{
	uint64_t offset;
	RFM2G_UINT32 count;
	RFM2G_STATUS ret;

	if (!util_hex64(argv[0], &offset) || !util_number(argv[1], &count))
		return UTIL_USAGE;
	if (util->map) {
		fprintf(stderr, "a buffer is mapped; unmapuser unmaps it\n");
		return UTIL_FAILED;
	}
	offset |= RFM2G_DMA_MMAP_OFFSET;
	if (command->which == UTIL_PAGES)
		ret = RFM2gUserMemory(util->rh, &util->map, offset, count);
	else
		ret = RFM2gUserMemoryBytes(util->rh, &util->map, offset, count);
	if (ret)
		return util_status(ret);
	util->map_pages = command->which == UTIL_PAGES;
	util->map_count = count;
	printf("mapped at %p\n", (void *)util->map);
	return UTIL_OK;
}

static enum util_result util_unmapuser(struct util *util,
				       const struct util_command *command,
				       int argc, char **argv)
{
	uint64_t bytes = util_map_bytes(util);
	void *map = (void *)util->map;
	RFM2G_STATUS ret;

	if (util->map_pages)
		ret = RFM2gUnMapUserMemory(util->rh, &util->map,
					   util->map_count);
	else
		ret = RFM2gUnMapUserMemoryBytes(util->rh, &util->map,
						util->map_count);
	if (!ret)
		printf("unmapped %" PRIu64 " bytes at %p\n", bytes, map);
	return util_status(ret);
}

const struct util_command util_map_commands[] = {
	{ .name = "mapuser", .args = "HEXOFFSET PAGES",
	  .text = "map PAGES of a DMA buffer", .run = util_mapuser, .min = 2,
	  .max = 2,
	  .which = UTIL_PAGES },
	{ .name = "mapuserbytes", .args = "HEXOFFSET BYTES",
	  .text = "map BYTES of a DMA buffer", .run = util_mapuser, .min = 2,
	  .max = 2,
	  .which = UTIL_BYTES },
	{ .name = "unmapuser", .text = "unmap the DMA buffer",
	  .run = util_unmapuser },
	{ .name = "unmapuserbytes", .text = "unmap the DMA buffer",
	  .run = util_unmapuser },
	{ }
};
