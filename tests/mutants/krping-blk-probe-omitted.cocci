// SPDX-License-Identifier: GPL-2.0
// A disk without requests does not notice the end of its raw peer.
//
// file: krping/blk_raw.c
// caught-by: krping-blk-uml
// rule: Documentation/krping.rst#bio_probe=MS
@@
expression raw, left;
@@
- krping_blk_raw_queue(raw, &raw->probe, left);
