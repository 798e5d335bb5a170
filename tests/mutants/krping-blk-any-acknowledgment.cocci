// SPDX-License-Identifier: GPL-2.0
// A disk accepts acknowledgments in any order.
//
// file: krping/blk_link.c
// caught-by: krping-blk-uml
// rule: Documentation/krping.rst#Protocol of block writes
@@
expression link, ack;
@@
- link->acked != link->head && ack->seq == link->acked
+ link->acked != link->head
