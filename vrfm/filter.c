// SPDX-License-Identifier: GPL-2.0
/*
 * Filters of taps, which decide before any byte is copied. Pure: no locks, no
 * device.
 */
#include <uapi/vrfm.h>

#include "filter.h"

/**
 * vrfm_nodes_have - check whether a mask selects a node
 * @nodes: mask of 256 nodes; all 0: every node
 * @node: id of the node, at most 255
 *
 * Return: true if so.
 */
bool vrfm_nodes_have(const u64 *nodes, u32 node)
{
	if (!(nodes[0] | nodes[1] | nodes[2] | nodes[3]))
		return true;
	return nodes[node / 64] >> node % 64 & 1;
}

/*
 * Return the node that the mask of a filter must select; VRFM_REC_NO_NODE: any
 * mask does.
 */
static u32 vrfm_record_about(const struct vrfm_record *record)
{
	switch (record->type) {
	case VRFM_REC_PLACED:
		return record->placed.peer;
	case VRFM_REC_SENT:
	case VRFM_REC_RECEIVED:
		return record->message.peer;
	case VRFM_REC_TOLD:
		return record->event.to;
	default:
		return record->node;
	}
}

/* Check whether a record is about written bytes outside the part. */
static bool vrfm_filter_misses(const struct vrfm_filter *filter,
			       const struct vrfm_record *record)
{
	switch (record->type) {
	case VRFM_REC_STORED:
	case VRFM_REC_FOUND:
	case VRFM_REC_APPLIED:
	case VRFM_REC_PLACED:
		return record->offset >= filter->to ||
		       record->offset + record->length <= filter->from;
	default:
		return false;
	}
}

/**
 * vrfm_filter_wants - check whether a tap wants a record
 * @filter: filter of the tap
 * @record: record of a type from %VRFM_REC_STORED to %VRFM_REC_HOLE
 *
 * Return: true if so.
 */
bool vrfm_filter_wants(const struct vrfm_filter *filter,
		       const struct vrfm_record *record)
{
	u32 about = vrfm_record_about(record);

	if (!(filter->kinds & VRFM_TAP_KIND(record->type)))
		return false;
	if (record->type == VRFM_REC_HOLE && filter->all)
		return false;
	if (about != VRFM_REC_NO_NODE && !vrfm_nodes_have(filter->nodes, about))
		return false;
	return !vrfm_filter_misses(filter, record);
}
