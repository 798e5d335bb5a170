// SPDX-License-Identifier: GPL-2.0
// The headers of runs do not count for the room of a batch: a batch may find fewer free messages than it needs.
//
// file: vrfm/ops.c
// caught-by: kunit-uml
// rule: Documentation/batches.rst#Waiting
@@
expression len, align;
@@
- return sizeof(struct vrfm_wire_run) + ALIGN(len, align);
+ return len;
