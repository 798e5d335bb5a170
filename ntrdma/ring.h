/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Indexes of a ring: they count cells, and wrap at 2^32. All functions are
 * pure.
 */
#ifndef NTRDMA_RING_H
#define NTRDMA_RING_H

#include <linux/types.h>

/**
 * struct ntrdma_ring - one direction of a ring, as one of its two ends knows it
 * @cells: number of cells, a power of 2
 * @prod: index behind the last filled cell. The consumer's copy is the last
 *	valid one that it has read
 * @cons: index of the first cell that is not consumed. The producer's copy is
 *	the last valid one that it has read
 * @told: consumer: last value of @cons that the producer was given
 * @rung: consumer: value of @cons at the last doorbell for room, if the window is
 *	not coherent
 */
struct ntrdma_ring {
	u32 cells;
	u32 prod;
	u32 cons;
	u32 told;
	u32 rung;
};

void ntrdma_ring_init(struct ntrdma_ring *ring, u32 bytes);
u32 ntrdma_ring_slot(const struct ntrdma_ring *ring, u32 index);
u32 ntrdma_ring_to_end(const struct ntrdma_ring *ring, u32 index);
u32 ntrdma_ring_filled(const struct ntrdma_ring *ring);
u32 ntrdma_ring_room(const struct ntrdma_ring *ring);
bool ntrdma_ring_set_prod(struct ntrdma_ring *ring, u32 prod);
bool ntrdma_ring_set_cons(struct ntrdma_ring *ring, u32 cons);
bool ntrdma_ring_place(const struct ntrdma_ring *ring, u32 cells, u32 *pad);
bool ntrdma_ring_must_tell(const struct ntrdma_ring *ring, bool pausing);
bool ntrdma_ring_must_wake(const struct ntrdma_ring *ring);
bool ntrdma_ring_must_bell(u32 from, u32 to, u32 bell);

#endif /* NTRDMA_RING_H */
