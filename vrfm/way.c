// SPDX-License-Identifier: GPL-2.0
/*
 * Which way an update takes: sent, and applied by the peer, or written directly
 * into the peer's memory. Pure: numbers in, a decision out.
 */
#include <linux/bitmap.h>
#include <linux/math.h>
#include <linux/slab.h>

#include "way.h"

/**
 * vrfm_ranges_alloc - a map of ranges, all 0
 * @size: bytes of the memory
 *
 * In whole words of 64 bits, as vrfm_pack_stage() reads it.
 *
 * Context: may sleep.
 * Return: for kvfree(), NULL: no memory.
 */
unsigned long *vrfm_ranges_alloc(u64 size)
{
	return kvzalloc(vrfm_stage_map_len(size), GFP_KERNEL);
}

/**
 * vrfm_ranges_any - is any of these bytes in a range of the map?
 * @map: a bit for each range
 * @offset: of the first byte
 * @len: how many, not 0
 *
 * Return: true if one is.
 */
bool vrfm_ranges_any(const unsigned long *map, u32 offset, u32 len)
{
	u32 end = vrfm_range(offset + len - 1) + 1;

	return find_next_bit(map, end, vrfm_range(offset)) < end;
}

/**
 * vrfm_way_is_direct - may it be written directly?
 * @way: what is known
 * @offset: where
 * @len: how many bytes, not 0
 *
 * The fence: what was sent before is applied. Else the peer would apply it over
 * what is written now, or somebody there would see this without that.
 *
 * Return: true; false: it is sent.
 */
bool vrfm_way_is_direct(const struct vrfm_way *way, u32 offset, u32 len)
{
	return len >= way->min && way->update <= way->acked &&
	       !vrfm_ranges_any(way->staged, offset, len);
}
