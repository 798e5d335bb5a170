// SPDX-License-Identifier: GPL-2.0
// The end of a write is not checked: a batch writes beyond the memory.
//
// file: vrfm/ops.c
// caught-by: kunit-uml
// rule: Documentation/batches.rst#Operations
@@
expression op, size;
@@
- op->length <= size - op->offset
+ op->offset <= size
