/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Map of the chunks of a disk that differ between the disk and its server. The
 * functions are pure: no verbs, no sleeping, no globals. The caller serializes
 * them.
 */
#ifndef KRPING_BLK_DIRTY_H
#define KRPING_BLK_DIRTY_H

#include <linux/types.h>

/**
 * struct krping_blk_dirty - map of chunks
 * @chunk: number of bytes of a chunk
 * @capacity: capacity of the disk in bytes
 * @nchunks: number of chunks
 * @ndirty: number of dirty chunks
 * @next: chunk at which the next search begins
 * @map: a bit for each chunk; set: dirty
 */
struct krping_blk_dirty {
	u32 chunk;
	u64 capacity;
	u64 nchunks;
	u64 ndirty;
	u64 next;
	unsigned long *map;
};

/* No chunk; the result of krping_blk_dirty_next(). */
#define KRPING_BLK_NO_CHUNK U64_MAX

void krping_blk_dirty_mark(struct krping_blk_dirty *dirty, u64 offset, u64 len);
bool krping_blk_dirty_touches(const struct krping_blk_dirty *dirty,
			      u64 current_chunk, u64 offset, u64 len);
u64 krping_blk_dirty_next(struct krping_blk_dirty *dirty);
u32 krping_blk_dirty_len(const struct krping_blk_dirty *dirty, u64 chunk);

#endif /* KRPING_BLK_DIRTY_H */
