/* SPDX-License-Identifier: GPL-2.0 */
#ifndef VRFM_DIRECT_PATH_H
#define VRFM_DIRECT_PATH_H

#include <linux/types.h>

#include "proto.h"

/**
 * struct vrfm_direct_path - conditions for writing a block directly into a
 * peer's memory
 * @min: size of the smallest block that is written directly, in bytes
 * @update: sequence of the last message to the peer that contains updates
 * @acked: sequence of the last message that the peer has applied
 * @staged: a bit for each range of the memory: updates to a range with the bit
 *	set must be sent as messages
 */
struct vrfm_direct_path {
	u32 min;
	u64 update;
	u64 acked;
	const unsigned long *staged;
};

/**
 * vrfm_range - return the number of the range that contains a byte
 * @offset: offset of the byte in the memory
 */
static inline u32 vrfm_range(u32 offset)
{
	return offset / VRFM_RANGE;
}

/**
 * vrfm_ranges - return the number of ranges of a memory
 * @size: size of the memory, in bytes
 */
static inline u32 vrfm_ranges(u64 size)
{
	return DIV_ROUND_UP(size, VRFM_RANGE);
}

unsigned long *vrfm_ranges_alloc(u64 size);
bool vrfm_ranges_any(const unsigned long *map, u32 offset, u32 len);
bool vrfm_direct_path_is_wanted(const struct vrfm_direct_path *way, u32 offset,
				u32 len);

#endif /* VRFM_DIRECT_PATH_H */
