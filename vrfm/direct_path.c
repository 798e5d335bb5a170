// SPDX-License-Identifier: GPL-2.0
/*
 * Policy for updates: send the bytes in a message that the peer applies, or
 * write them directly into the peer's memory. Pure: numbers in, a decision out.
 */
#include <linux/bitmap.h>
#include <linux/math.h>
#include <linux/slab.h>

#include "direct_path.h"

/**
 * vrfm_ranges_alloc - allocate a bitmap of ranges, with all bits 0
 * @size: size of the memory, in bytes
 *
 * The size of the bitmap is a multiple of 64 bits, because vrfm_pack_stage()
 * reads it in words of 64 bits.
 *
 * Context: may sleep.
 * Return: a bitmap, which the caller frees with kvfree(); NULL if there is no
 * memory.
 */
unsigned long *vrfm_ranges_alloc(u64 size)
{
	return kvzalloc(vrfm_stage_map_len(size), GFP_KERNEL);
}

/**
 * vrfm_ranges_any - check whether some bytes touch a range that is set in a
 * bitmap
 * @map: bitmap with a bit for each range
 * @offset: offset of the first byte
 * @len: number of bytes, not 0
 *
 * Return: true if at least one byte is in such a range.
 */
bool vrfm_ranges_any(const unsigned long *map, u32 offset, u32 len)
{
	u32 end = vrfm_range(offset + len - 1) + 1;

	return find_next_bit(map, end, vrfm_range(offset)) < end;
}

/**
 * vrfm_direct_path_is_wanted - check whether a block may be written directly
 * @way: state of the link and parameters that decide
 * @offset: offset of the first byte
 * @len: number of bytes, not 0
 *
 * One condition keeps writes in order: the peer must have applied all messages
 * with updates. Without it, the peer might apply an older update over this
 * block, or its programs might see this block before an older update.
 *
 * Return: true if the block may be written directly; false if it must be sent
 * in messages.
 */
bool vrfm_direct_path_is_wanted(const struct vrfm_direct_path *way, u32 offset,
				u32 len)
{
	return len >= way->min && way->update <= way->acked &&
	       !vrfm_ranges_any(way->staged, offset, len);
}
