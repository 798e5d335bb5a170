// SPDX-License-Identifier: GPL-2.0
/*
 * Sets of words of the memory, for the words that a peer may lack. Pure: no
 * locks, no device. Most of a memory is never written. So a set allocates pages
 * of bits only for those parts of the memory where it contains words.
 */
#include <linux/bitmap.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "map.h"

/**
 * vrfm_map_init - initialize an empty set
 * @map: set
 * @size: size of the memory, in bytes
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int vrfm_map_init(struct vrfm_map *map, u64 size)
{
	map->nwords = size / VRFM_WORD;
	map->nchunks = DIV_ROUND_UP(map->nwords, VRFM_MAP_CHUNK);
	map->set = 0;
	map->used = 0;
	map->trimmed = 0;
	map->chunks = kvcalloc(map->nchunks, sizeof(*map->chunks), GFP_KERNEL);
	return map->chunks ? 0 : -ENOMEM;
}

/**
 * vrfm_map_trim - free some of the pages of an empty set
 * @map: set that contains no word
 * @max: maximum number of entries of the table to visit
 *
 * Return: true if some pages are left.
 */
bool vrfm_map_trim(struct vrfm_map *map, u32 max)
{
	for (; map->used && max; max--) {
		map->trimmed = map->trimmed ?: map->nchunks;
		map->trimmed--;
		if (!map->chunks[map->trimmed])
			continue;
		free_page((unsigned long)map->chunks[map->trimmed]);
		map->chunks[map->trimmed] = NULL;
		map->used--;
	}
	return map->used;
}

/**
 * vrfm_map_free - free a set
 * @map: set from vrfm_map_init(), which may have failed
 *
 * Context: may sleep.
 */
void vrfm_map_free(struct vrfm_map *map)
{
	if (!map->chunks)
		return;
	vrfm_map_trim(map, U32_MAX);
	kvfree(map->chunks);
	map->chunks = NULL;
}

static unsigned long *vrfm_map_chunk(struct vrfm_map *map, u32 word, gfp_t gfp)
{
	unsigned long **chunk = &map->chunks[word / VRFM_MAP_CHUNK];

	if (!*chunk) {
		*chunk = (unsigned long *)get_zeroed_page(gfp);
		map->used += !!*chunk;
	}
	return *chunk;
}

/*
 * Count the words from WORD on that are in the same page of the map, up to N.
 */
static u32 vrfm_map_part(u32 word, u32 n)
{
	return min_t(u32, n, VRFM_MAP_CHUNK - word % VRFM_MAP_CHUNK);
}

/*
 * Count the bits that are set among N bits from BIT on, a long at a time. N is
 * not 0.
 */
static u32 vrfm_map_weight(const unsigned long *chunk, u32 bit, u32 n)
{
	const u32 first = BIT_WORD(bit), last = BIT_WORD(bit + n - 1);
	const unsigned long head = BITMAP_FIRST_WORD_MASK(bit);
	const unsigned long tail = BITMAP_LAST_WORD_MASK(bit + n);
	u32 i, weight;

	if (first == last)
		return hweight_long(chunk[first] & head & tail);
	weight = hweight_long(chunk[first] & head);
	for (i = first + 1; i < last; i++)
		weight += hweight_long(chunk[i]);
	return weight + hweight_long(chunk[last] & tail);
}

/**
 * vrfm_map_set - add words to the set
 * @map: set
 * @first: first word
 * @n: number of words; all of them are inside the memory
 * @gfp: flags for allocating pages of the map
 *
 * Return: 0; -ENOMEM if some of the words could not be added.
 */
int vrfm_map_set(struct vrfm_map *map, u32 first, u32 n, gfp_t gfp)
{
	unsigned long *chunk;
	u32 part, bit;

	for (; n; first += part, n -= part) {
		part = vrfm_map_part(first, n);
		chunk = vrfm_map_chunk(map, first, gfp);
		if (!chunk)
			return -ENOMEM;
		bit = first % VRFM_MAP_CHUNK;
		map->set += part - vrfm_map_weight(chunk, bit, part);
		bitmap_set(chunk, bit, part);
	}
	return 0;
}

/**
 * vrfm_map_add - add the words whose bits are set in a bitmap to the set
 * @map: set
 * @first: word of the first bit in @bits, a multiple of BITS_PER_LONG
 * @bits: bitmap with a bit for each word from @first on
 * @n: number of bits; all their words are in one page of the map
 * @gfp: flags for allocating pages of the map
 *
 * Return: 0 or -ENOMEM.
 */
int vrfm_map_add(struct vrfm_map *map, u32 first, const unsigned long *bits,
		 u32 n, gfp_t gfp)
{
	unsigned long *at;
	u32 i;

	if (bitmap_empty(bits, n))
		return 0;
	at = vrfm_map_chunk(map, first, gfp);
	if (!at)
		return -ENOMEM;
	at += first % VRFM_MAP_CHUNK / BITS_PER_LONG;
	for (i = 0; i < BITS_TO_LONGS(n); i++) {
		map->set += hweight_long(bits[i] & ~at[i]);
		at[i] |= bits[i];
	}
	return 0;
}

/**
 * vrfm_map_clear - remove words from the set
 * @map: set
 * @first: first word
 * @n: number of words; all of them are inside the memory
 */
void vrfm_map_clear(struct vrfm_map *map, u32 first, u32 n)
{
	unsigned long *chunk;
	u32 part, bit;

	for (; n; first += part, n -= part) {
		part = vrfm_map_part(first, n);
		chunk = map->chunks[first / VRFM_MAP_CHUNK];
		if (!chunk)
			continue;
		bit = first % VRFM_MAP_CHUNK;
		map->set -= vrfm_map_weight(chunk, bit, part);
		bitmap_clear(chunk, bit, part);
	}
}

/**
 * vrfm_map_next - find the next run of words in the set
 * @map: set
 * @from: word where the search begins
 * @max: maximum length of the run; a run also ends at the end of a page of the
 *	map
 * @n: set to the number of words in the run
 *
 * Return: the first word of the run; @map->nwords if no word is left.
 */
u32 vrfm_map_next(const struct vrfm_map *map, u32 from, u32 max, u32 *n)
{
	const unsigned long *chunk;
	u32 base, bit, end;

	for (; from < map->nwords; from = base + VRFM_MAP_CHUNK) {
		base = rounddown(from, VRFM_MAP_CHUNK);
		chunk = map->chunks[from / VRFM_MAP_CHUNK];
		if (!chunk)
			continue;
		bit = find_next_bit(chunk, VRFM_MAP_CHUNK, from - base);
		if (bit >= VRFM_MAP_CHUNK)
			continue;
		end = find_next_zero_bit(chunk, VRFM_MAP_CHUNK, bit);
		*n = min(end - bit, max);
		return base + bit;
	}
	return map->nwords;
}
