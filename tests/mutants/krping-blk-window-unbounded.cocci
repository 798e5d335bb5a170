// SPDX-License-Identifier: GPL-2.0
// A disk sends requests to slots that are in use.
//
// file: krping/blk_link.c
// caught-by: krping-blk-uml
// rule: Documentation/krping.rst#Block writes
@@
expression link;
@@
- link->head - link->tail < link->opts->depth
+ true
