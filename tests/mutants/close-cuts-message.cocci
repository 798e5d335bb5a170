// SPDX-License-Identifier: GPL-2.0
// After krdma_close() has begun, the next part of an open message is refused.
//
// file: krdma/sq.c
// caught-by: post-uml
// rule: Documentation/krdma.rst#How it works inside
@@
expression first, op;
@@
- conn->life.bye && !first->wr.follows && (!op || first->wr.late)
+ conn->life.bye && (!op || first->wr.late)
