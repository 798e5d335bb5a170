// SPDX-License-Identifier: GPL-2.0
// A requester whose message found no receive waits for the whole RNR timer, although a receive was posted.
//
// file: ntrdma/post.c
// caught-by: nverbs-uml-ntr
// rule: Documentation/ntrdma.rst#Verbs
@@
identifier qp;
@@
- qp->resp.ready = true;
