// SPDX-License-Identifier: GPL-2.0
/*
 * Policy of updates: sent in a message that the peer applies, or written
 * directly into the peer's memory. Pure: numbers in, a decision out.
 */
#include <linux/bitmap.h>
#include <linux/math.h>
#include <linux/slab.h>

#include "direct_path.h"

/**
 * vrfm_ranges_alloc - allocate a map of ranges, all 0
 * @size: size of the memory, in bytes
 *
 * It has whole words of 64 bits, as vrfm_pack_stage() reads it.
 *
 * Context: may sleep.
 * Return: a map for kvfree(); NULL: no memory.
 */
unsigned long *vrfm_ranges_alloc(u64 size)
{
	return kvzalloc(vrfm_stage_map_len(size), GFP_KERNEL);
}

/**
 * vrfm_ranges_any - check whether any of some bytes is in a range of the map
 * @map: a bit for each range
 * @offset: offset of the first byte
 * @len: number of bytes, not 0
 *
 * Return: true if one is.
 */
bool vrfm_ranges_any(const unsigned long *map, u32 offset, u32 len)
{
	u32 end = vrfm_range(offset + len - 1) + 1;

	return find_next_bit(map, end, vrfm_range(offset)) < end;
}

/**
 * vrfm_direct_path_is_wanted - check whether a block may be written directly
 * @way: conditions
 * @offset: offset of the first byte
 * @len: number of bytes, not 0
 *
 * The fence: the peer has applied all messages with updates. Otherwise it would
 * apply an older one over this block, or its programs would see this block
 * before an older update.
 *
 * Return: true; false: the block must be sent in messages.
 */
bool vrfm_direct_path_is_wanted(const struct vrfm_direct_path *way, u32 offset,
				u32 len)
{
	return len >= way->min && way->update <= way->acked &&
	       !vrfm_ranges_any(way->staged, offset, len);
}
