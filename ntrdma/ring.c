// SPDX-License-Identifier: GPL-2.0
/*
 * Indexes of a ring.
 *
 * The producer owns prod, and the consumer owns cons. Each end reads the index
 * of the other end from memory that the peer can write at any time. So each
 * index from this memory is checked here before it is used. prod - cons, modulo
 * 2^32, must be at most the number of cells, and no index may move backwards.
 */
#include <linux/bug.h>
#include <linux/log2.h>

#include "ring.h"
#include "wire.h"

/**
 * ntrdma_ring_init - begin with an empty ring
 * @ring: ring
 * @bytes: bytes of its memory, a power of 2
 */
void ntrdma_ring_init(struct ntrdma_ring *ring, u32 bytes)
{
	WARN_ON_ONCE(!is_power_of_2(bytes));
	*ring = (struct ntrdma_ring){ .cells = bytes / NTRDMA_CELL };
}

/**
 * ntrdma_ring_slot - return the place of a cell in the memory of a ring
 * @ring: ring
 * @index: index of the cell
 *
 * Return: number of cells before it in the memory.
 */
u32 ntrdma_ring_slot(const struct ntrdma_ring *ring, u32 index)
{
	return index & (ring->cells - 1);
}

/**
 * ntrdma_ring_to_end - return the cells from an index to the end of the memory
 * @ring: ring
 * @index: index of a cell
 *
 * Return: number of cells, at least 1.
 */
u32 ntrdma_ring_to_end(const struct ntrdma_ring *ring, u32 index)
{
	return ring->cells - ntrdma_ring_slot(ring, index);
}

/**
 * ntrdma_ring_filled - return the number of cells to be consumed
 * @ring: ring
 *
 * Return: number of cells.
 */
u32 ntrdma_ring_filled(const struct ntrdma_ring *ring)
{
	return ring->prod - ring->cons;
}

/**
 * ntrdma_ring_room - return the number of cells that may be filled
 * @ring: ring
 *
 * Return: number of cells.
 */
u32 ntrdma_ring_room(const struct ntrdma_ring *ring)
{
	return ring->cells - ntrdma_ring_filled(ring);
}

/**
 * ntrdma_ring_set_prod - accept the index that the producer has written
 * @ring: ring of the consumer
 * @prod: index from the window
 *
 * Return: false if @prod is invalid; then @ring is unchanged.
 */
bool ntrdma_ring_set_prod(struct ntrdma_ring *ring, u32 prod)
{
	if (prod - ring->cons > ring->cells ||
	    prod - ring->cons < ntrdma_ring_filled(ring))
		return false;
	ring->prod = prod;
	return true;
}

/**
 * ntrdma_ring_set_cons - accept the index that the consumer has written
 * @ring: ring of the producer
 * @cons: index from the window
 *
 * Return: false if @cons is invalid; then @ring is unchanged.
 */
bool ntrdma_ring_set_cons(struct ntrdma_ring *ring, u32 cons)
{
	if (cons - ring->cons > ntrdma_ring_filled(ring))
		return false;
	ring->cons = cons;
	return true;
}

/**
 * ntrdma_ring_place - find room for a frame
 * @ring: ring of the producer
 * @cells: number of cells of the frame
 * @pad: result: number of cells of a PAD frame that must precede the frame,
 *	because a frame does not wrap; or 0
 *
 * Return: false if there is no room.
 */
bool ntrdma_ring_place(const struct ntrdma_ring *ring, u32 cells, u32 *pad)
{
	u32 end = ntrdma_ring_to_end(ring, ring->prod);

	*pad = cells > end ? end : 0;
	return *pad + cells <= ntrdma_ring_room(ring);
}

/**
 * ntrdma_ring_must_tell - check whether to write cons to the window now
 * @ring: ring of the consumer
 * @pausing: the consumer stops polling
 *
 * While it polls, the consumer writes cons once for each quarter of the ring. A
 * write to the window for each frame would cost more. With fewer writes, a
 * producer of large frames would run out of room.
 *
 * Return: true if cons must be written to the window.
 */
bool ntrdma_ring_must_tell(const struct ntrdma_ring *ring, bool pausing)
{
	u32 consumed = ring->cons - ring->told;

	return pausing ? consumed : consumed >= ring->cells / 4;
}

/**
 * ntrdma_ring_must_wake - check whether to ring because of room
 * @ring: ring of the consumer, in a window that is not coherent
 *
 * The consumer cannot see whether the producer waits for room. A frame and its
 * padding never need more than three quarters of a ring. So a producer that
 * waits has room again after the consumer has consumed more than a quarter of
 * the ring since the last doorbell (tests/model/ntbell.pml).
 *
 * Return: true if the doorbell of the producer must be rung.
 */
bool ntrdma_ring_must_wake(const struct ntrdma_ring *ring)
{
	return ring->cons - ring->rung > ring->cells / 4;
}

/**
 * ntrdma_ring_must_bell - check whether the consumer sleeps before new cells
 * @from: prod before the new cells
 * @to: prod after the new cells
 * @bell: index at which the consumer sleeps, from the window
 *
 * A consumer that sleeps has consumed all cells before @bell. The doorbell is
 * rung only when prod passes @bell. So a false value from the peer can only
 * cause or suppress doorbells of that peer.
 *
 * Return: true if the doorbell must be rung.
 */
bool ntrdma_ring_must_bell(u32 from, u32 to, u32 bell)
{
	return bell - from < to - from;
}
