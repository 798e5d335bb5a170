// SPDX-License-Identifier: GPL-2.0
// A disk with bio_verify does not compare the data that it reads back from a raw peer.
//
// file: krping/blk_raw.c
// caught-by: krping-blk-uml
// rule: Documentation/krping.rst#bio_verify
@@
expression raw, len;
@@
- memcmp(raw->data, raw->back, len)
+ false
