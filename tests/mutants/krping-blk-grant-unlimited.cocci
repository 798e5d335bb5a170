// SPDX-License-Identifier: GPL-2.0
// A disk waits for the grant of a server without a time limit.
//
// file: krping/blk_link.c
// caught-by: krping-blk-uml
// rule: Documentation/krping.rst#bio_timeout=MS
@@
expression link;
@@
- if (link->state == KRPING_BLK_DOWN)
+ if (link->state != KRPING_BLK_READY)
  	return false;
