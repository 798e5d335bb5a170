// SPDX-License-Identifier: GPL-2.0
// The next part of a message of krdma_post() waits behind messages that were posted later.
//
// file: krdma/sq.c
// caught-by: post-uml
// rule: Documentation/krdma.rst#How it works inside
@@
expression kwr;
@@
- if (!kwr->follows) return &conn->sq.pending;
+ if (kwr) return &conn->sq.pending;
