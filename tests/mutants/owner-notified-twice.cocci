// SPDX-License-Identifier: GPL-2.0
// An owner that was notified of the end may be notified again: closing() is called twice.
//
// file: krdma/state.c
// caught-by: kunit-uml
// rule: Documentation/krdma.rst#NOTIFIED
@@
expression from, to;
@@
- krdma_owner_next[from] & BIT(to)
+ (krdma_owner_next[from] & BIT(to)) || (from == KRDMA_OWNER_NOTIFIED && to == KRDMA_OWNER_NOTIFIED)
