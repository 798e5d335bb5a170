// SPDX-License-Identifier: GPL-2.0
/* Map of the chunks of a disk that differ between the disk and its server. */
#include <linux/bitmap.h>
#include <linux/bitops.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "blk_dirty.h"

static u64 krping_blk_dirty_chunk(const struct krping_blk_dirty *dirty,
				  u64 offset)
{
	return div_u64(offset, dirty->chunk);
}

/**
 * krping_blk_dirty_mark - mark the chunks of a range as dirty
 * @dirty: map
 * @offset: first byte of a range within the disk
 * @len: number of bytes; 0: nothing is marked
 */
void krping_blk_dirty_mark(struct krping_blk_dirty *dirty, u64 offset, u64 len)
{
	u64 chunk, last;

	if (!len)
		return;
	last = krping_blk_dirty_chunk(dirty, offset + len - 1);
	for (chunk = krping_blk_dirty_chunk(dirty, offset); chunk <= last;
	     chunk++)
		dirty->ndirty += !__test_and_set_bit(chunk, dirty->map);
}

/**
 * krping_blk_dirty_touches - check whether a range has a dirty chunk
 * @dirty: map
 * @current_chunk: chunk that also counts as dirty, or KRPING_BLK_NO_CHUNK
 * @offset: first byte of a range within the disk
 * @len: number of bytes; 0: no chunk
 *
 * Return: true if a chunk of the range is dirty.
 */
bool krping_blk_dirty_touches(const struct krping_blk_dirty *dirty,
			      u64 current_chunk, u64 offset, u64 len)
{
	u64 first, last;

	if (!len)
		return false;
	first = krping_blk_dirty_chunk(dirty, offset);
	last = krping_blk_dirty_chunk(dirty, offset + len - 1);
	if (current_chunk >= first && current_chunk <= last)
		return true;
	return find_next_bit(dirty->map, last + 1, first) <= last;
}

/**
 * krping_blk_dirty_next - take a dirty chunk
 * @dirty: map
 *
 * Return: the chunk, which is no longer dirty, or KRPING_BLK_NO_CHUNK.
 */
u64 krping_blk_dirty_next(struct krping_blk_dirty *dirty)
{
	u64 chunk;

	if (!dirty->ndirty)
		return KRPING_BLK_NO_CHUNK;
	chunk = find_next_bit(dirty->map, dirty->nchunks, dirty->next);
	if (chunk >= dirty->nchunks)
		chunk = find_first_bit(dirty->map, dirty->nchunks);
	dirty->next = chunk + 1;
	__clear_bit(chunk, dirty->map);
	dirty->ndirty--;
	return chunk;
}

/**
 * krping_blk_dirty_len - return the length of a chunk
 * @dirty: map
 * @chunk: number of the chunk
 *
 * Return: number of bytes; the last chunk may be shorter.
 */
u32 krping_blk_dirty_len(const struct krping_blk_dirty *dirty, u64 chunk)
{
	return min_t(u64, dirty->chunk,
		     dirty->capacity - chunk * dirty->chunk);
}
