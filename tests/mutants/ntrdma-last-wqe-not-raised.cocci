// SPDX-License-Identifier: GPL-2.0
// The event that no receive of an SRQ is used any more is not raised: the owner of the SRQ waits for it.
//
// file: ntrdma/comp.c
// caught-by: nverbs-uml-ntr
// rule: Documentation/ntrdma.rst#Verbs
@@
expression last, qp;
@@
- last = qp->srq && !qp->last_wqe;
+ last = false;
