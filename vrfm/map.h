/* SPDX-License-Identifier: GPL-2.0 */
#ifndef VRFM_MAP_H
#define VRFM_MAP_H

#include <linux/bits.h>
#include <linux/gfp.h>
#include <linux/types.h>

/* Size of a word, in bytes: each bit of a map stands for one word. */
#define VRFM_WORD 4
/* Number of bits in one page of a map. */
#define VRFM_MAP_CHUNK (PAGE_SIZE * BITS_PER_BYTE)

/**
 * struct vrfm_map - a set of words of the memory
 * @chunks: table of pages with the bits; a page is allocated when its first bit
 *	is set
 * @nchunks: number of entries in @chunks
 * @nwords: number of words of the memory
 * @set: number of words in the set
 * @used: number of pages that are allocated
 * @trimmed: index in @chunks where vrfm_map_trim() continues; it goes downwards
 */
struct vrfm_map {
	unsigned long **chunks;
	u32 nchunks;
	u32 nwords;
	u32 set;
	u32 used;
	u32 trimmed;
};

/**
 * vrfm_word_first - return the word that contains a byte
 * @offset: offset of the byte
 */
static inline u32 vrfm_word_first(u32 offset)
{
	return offset / VRFM_WORD;
}

/**
 * vrfm_word_count - count the words that contain at least one of these bytes
 * @offset: offset of the first byte
 * @len: number of bytes, not 0
 */
static inline u32 vrfm_word_count(u32 offset, u32 len)
{
	return (offset + len - 1) / VRFM_WORD - offset / VRFM_WORD + 1;
}

int vrfm_map_init(struct vrfm_map *map, u64 size);
void vrfm_map_free(struct vrfm_map *map);
bool vrfm_map_trim(struct vrfm_map *map, u32 max);
int vrfm_map_set(struct vrfm_map *map, u32 first, u32 n, gfp_t gfp);
int vrfm_map_add(struct vrfm_map *map, u32 first, const unsigned long *bits,
		 u32 n, gfp_t gfp);
void vrfm_map_clear(struct vrfm_map *map, u32 first, u32 n);
u32 vrfm_map_next(const struct vrfm_map *map, u32 from, u32 max, u32 *n);

#endif /* VRFM_MAP_H */
