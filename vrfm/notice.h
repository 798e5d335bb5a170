/* SPDX-License-Identifier: GPL-2.0 */
/* Notices of writes into a part of the memory, for records of rings. */
#ifndef VRFM_NOTICE_H
#define VRFM_NOTICE_H

#include <linux/types.h>

/**
 * struct vrfm_notice - hull and counts of the bytes that were written inside a
 * part of the memory
 * @from: offset of the first byte of the part
 * @to: offset behind the last byte of the part
 * @first: offset of the first byte that was written
 * @end: offset behind the last byte that was written
 * @bytes: number of bytes that were written, %U32_MAX if there are more; 0:
 *	none, and @first and @end are not valid
 * @messages: number of messages, calls and pages that wrote them, %U32_MAX if
 *	there are more
 * @node: node that wrote them; %VRFM_REC_NO_NODE: several nodes
 * @serial: number of the last of these writes; 0 if several nodes wrote
 */
struct vrfm_notice {
	u32 from;
	u32 to;
	u32 first;
	u32 end;
	u32 bytes;
	u32 messages;
	u16 node;
	u64 serial;
};

void vrfm_notice_add(struct vrfm_notice *notice, u32 offset, u32 len);
void vrfm_notice_merge(struct vrfm_notice *notice,
		       const struct vrfm_notice *newer);

#endif /* VRFM_NOTICE_H */
