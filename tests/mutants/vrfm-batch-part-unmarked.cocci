// SPDX-License-Identifier: GPL-2.0
// All messages of a batch have its number: peers with different parts of a batch count as equal.
//
// file: vrfm/link_ops.c
// caught-by: kunit-uml
// rule: Documentation/protocol.rst#UPDATE and IMAGE
@@
expression link, opened, span;
@@
- vrfm_link_number_locked(link, opened, span);
+ if (0)
+ 	vrfm_link_number_locked(link, opened, span);
