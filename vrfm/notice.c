// SPDX-License-Identifier: GPL-2.0
/*
 * Notices of writes: the hull of all bytes that were written inside a part of
 * the memory, and their number. Pure: no locks, no device.
 */
#include <linux/limits.h>
#include <linux/minmax.h>
#include <uapi/vrfm.h>

#include "notice.h"

static u32 vrfm_notice_sum(u32 a, u32 b)
{
	return min_t(u64, (u64)a + b, U32_MAX);
}

static void vrfm_notice_extend(struct vrfm_notice *notice, u32 first, u32 end,
			       u32 bytes)
{
	if (!notice->bytes) {
		notice->first = first;
		notice->end = end;
	}
	notice->first = min(notice->first, first);
	notice->end = max(notice->end, end);
	notice->bytes = vrfm_notice_sum(notice->bytes, bytes);
}

/**
 * vrfm_notice_add - add written bytes, as far as they are inside the part
 * @notice: notice
 * @offset: offset of the first byte
 * @len: number of bytes; @offset + @len is less than 2^32
 */
void vrfm_notice_add(struct vrfm_notice *notice, u32 offset, u32 len)
{
	u32 first = max(offset, notice->from);
	u32 end = min(offset + len, notice->to);

	if (first < end)
		vrfm_notice_extend(notice, first, end, end - first);
}

/**
 * vrfm_notice_merge - add a later notice about the same part
 * @notice: notice; with &vrfm_notice.bytes 0 it becomes a copy of @newer
 * @newer: later notice, in which &vrfm_notice.bytes is not 0
 */
void vrfm_notice_merge(struct vrfm_notice *notice,
		       const struct vrfm_notice *newer)
{
	if (!notice->bytes) {
		*notice = *newer;
		return;
	}
	vrfm_notice_extend(notice, newer->first, newer->end, newer->bytes);
	notice->messages = vrfm_notice_sum(notice->messages, newer->messages);
	notice->serial = newer->serial;
	if (notice->node == newer->node)
		return;
	notice->node = VRFM_REC_NO_NODE;
	notice->serial = 0;
}
