/* SPDX-License-Identifier: GPL-2.0 */
/* The records that a tap wants. */
#ifndef VRFM_FILTER_H
#define VRFM_FILTER_H

#include <linux/types.h>

struct vrfm_record;

/**
 * struct vrfm_filter - records that a tap wants
 * @kinds: types of records: bit mask of VRFM_TAP_KIND()
 * @from: offset of the first byte of the tapped part of the memory
 * @to: offset behind the last byte of the part
 * @nodes: mask of nodes; all 0: every node
 * @all: peers do not write directly into the part, so the tap needs no record of
 *	the type HOLE
 */
struct vrfm_filter {
	u32 kinds;
	u32 from;
	u32 to;
	u64 nodes[4];
	bool all;
};

bool vrfm_nodes_have(const u64 *nodes, u32 node);
bool vrfm_filter_wants(const struct vrfm_filter *filter,
		       const struct vrfm_record *record);

#endif /* VRFM_FILTER_H */
