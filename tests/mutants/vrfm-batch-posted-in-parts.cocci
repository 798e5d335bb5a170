// SPDX-License-Identifier: GPL-2.0
// Each write of a batch is posted at once: the writes do not share a message.
//
// file: vrfm/link_ops.c
// caught-by: kunit-uml
// rule: Documentation/batches.rst#Messages
@@
expression link, op, bytes, span;
@@
- vrfm_link_append_op_locked(link, op, bytes, span);
+ vrfm_link_append_op_locked(link, op, bytes, span), vrfm_link_push_locked(link);
