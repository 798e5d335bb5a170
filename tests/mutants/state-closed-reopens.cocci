// SPDX-License-Identifier: GPL-2.0
// A closed connection may become established again.
//
// file: krdma/state.c
// caught-by: kunit-uml
// rule: Documentation/krdma.rst#States
@@
expression from, to;
@@
- next[from] & BIT(to)
+ (next[from] & BIT(to)) || (from == KRDMA_CLOSED && to == KRDMA_ESTABLISHED)
