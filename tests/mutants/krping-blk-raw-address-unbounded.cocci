// SPDX-License-Identifier: GPL-2.0
// A disk with bio_map=linear writes beyond the memory of its raw peer.
//
// file: krping/blk_raw.c
// caught-by: krping-blk-uml
// rule: Documentation/krping.rst#bio_cap=N
@@
expression opts, disk;
@@
- (opts->linear ? disk->capacity : opts->slot) > opts->cap
+ false
