// SPDX-License-Identifier: GPL-2.0
/*
 * The submission entries of a ring. A program writes entries, and the kernel
 * takes them. Pure: no locks, no device.
 *
 * Indices wrap at 2^32, as those of records do. The program can write the
 * entries and its index "tail" at any time. So each entry is copied once, and
 * the caller checks and executes the copy. The kernel keeps its own head, and
 * never reads back the one that it has shown.
 */
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <asm/barrier.h>

#include "copy.h"
#include "submits.h"

/**
 * vrfm_submits_ready - count the entries that are ready
 * @submits: entries
 * @tail: any value: index behind the last ready entry, from the program
 * @ready: set to the number of entries
 *
 * Return: 0; -EBADR: @tail is no valid index.
 */
int vrfm_submits_ready(const struct vrfm_submits *submits, u32 tail, u32 *ready)
{
	*ready = tail - submits->head;
	return *ready > submits->slots ? -EBADR : 0;
}

/**
 * vrfm_submits_copy - copy the operations of the next batch
 * @submits: entries
 * @ready: number of entries that are ready, at least 1
 * @op: room for %VRFM_BATCH_OPS operations, which no other task reads. If the
 *	batch is longer, the last one of them is the last operation of the batch
 *
 * The batch ends with the first entry without %VRFM_OP_MORE, or with the last
 * ready one.
 *
 * Return: number of entries of the batch, at most @ready.
 */
u32 vrfm_submits_copy(const struct vrfm_submits *submits, u32 ready,
		      struct vrfm_op *op)
{
	u32 n = 0, at;

	BUILD_BUG_ON(sizeof(*op) != 64);
	do {
		at = (submits->head + n) & (submits->slots - 1);
		op += n && n < VRFM_BATCH_OPS;
		vrfm_copy_out(op, &submits->entries[at], sizeof(*op));
	} while (++n < ready && op->flags & VRFM_OP_MORE);
	return n;
}

/**
 * vrfm_submits_advance - take entries, and let the program use them again
 * @submits: entries
 * @n: number of entries that were copied
 */
void vrfm_submits_advance(struct vrfm_submits *submits, u32 n)
{
	submits->head += n;
	/* The entries were read before. */
	smp_store_release(submits->shown, submits->head);
}
