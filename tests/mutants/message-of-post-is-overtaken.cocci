// SPDX-License-Identifier: GPL-2.0
// Requests of krdma_post() overtake one of its messages that lacks a credit.
//
// file: krdma/sq.c
// caught-by: post-uml
// rule: Documentation/krdma.rst#How it works inside
@@
expression req;
@@
- req->wr.op ? KRDMA_TURN_SKIP : KRDMA_TURN_STOP
+ KRDMA_TURN_SKIP
