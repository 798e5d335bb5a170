// SPDX-License-Identifier: GPL-2.0
// A block is written directly before earlier messages are applied: it overtakes them.
//
// file: vrfm/direct_path.c
// caught-by: direct-writes-uml
// rule: Documentation/vrfm.rst#G2
@@
expression way, rest;
@@
- rest && way->update <= way->acked
+ rest
