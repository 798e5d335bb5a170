// SPDX-License-Identifier: GPL-2.0
// A blocking send or write overtakes queued requests.
//
// file: krdma/sq.c
// caught-by: post-uml
// rule: Documentation/krdma.rst#Requests
@@
expression kwr, conn;
@@
  if (!kwr->follows)
- 	return &conn->sq.pending;
+ 	return kwr->op ? conn->sq.pending.next : &conn->sq.pending;
