// SPDX-License-Identifier: GPL-2.0
// A batch ends with its first entry, whether or not it has the flag MORE.
//
// file: vrfm/submits.c
// caught-by: kunit-uml
// rule: Documentation/batches.rst#Submitting through a ring
@@
expression n, ready, op;
@@
- ++n < ready && op->flags & VRFM_OP_MORE
+ ++n < min(ready, 1U) && op->flags & VRFM_OP_MORE
