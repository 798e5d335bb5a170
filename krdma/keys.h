/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Keys: the keys that a host shares with its peers. The object is immutable
 * while it has references, so readers need no lock. krdma_keys_put() erases
 * the object before it frees the memory.
 */
#ifndef KRDMA_KEYS_H
#define KRDMA_KEYS_H

#include <linux/refcount.h>
#include <linux/types.h>

#include <krdma.h>

#include "noise.h"

/**
 * struct krdma_keys - one to KRDMA_KEYS_MAX shared keys
 * @ref: references of the creator, and of each listener and connection
 * @n: number of keys
 * @ids: ids of the keys, see krdma_door_id()
 * @keys: keys, in the order of their use: a client uses the first one
 * @doors: keys of the tags, see krdma_door_key()
 */
struct krdma_keys {
	refcount_t ref;
	unsigned int n;
	u32 ids[KRDMA_KEYS_MAX];
	u8 keys[KRDMA_KEYS_MAX][KRDMA_NOISE_KEY];
	u8 doors[KRDMA_KEYS_MAX][KRDMA_NOISE_KEY];
};

#endif /* KRDMA_KEYS_H */
