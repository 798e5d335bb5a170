/* SPDX-License-Identifier: GPL-2.0 */
/* The submission entries of a ring, which submits.c reads. */
#ifndef VRFM_SUBMITS_H
#define VRFM_SUBMITS_H

#include <linux/types.h>
#include <uapi/vrfm.h>

/**
 * struct vrfm_submits - operations that a program submits through a ring
 * @entries: the entries, which the program may write at any time
 * @shown: head that the program sees; never read
 * @slots: number of entries, a power of two
 * @head: index of the first entry that is not taken
 */
struct vrfm_submits {
	const struct vrfm_op *entries;
	u32 *shown;
	u32 slots;
	u32 head;
};

int vrfm_submits_ready(const struct vrfm_submits *submits, u32 tail,
		       u32 *ready);
u32 vrfm_submits_copy(const struct vrfm_submits *submits, u32 ready,
		      struct vrfm_op *op);
void vrfm_submits_advance(struct vrfm_submits *submits, u32 n);

#endif /* VRFM_SUBMITS_H */
