// SPDX-License-Identifier: GPL-2.0
// A READ does not wait until an earlier one has its data: more are in flight than the peer agreed to.
//
// file: ntrdma/req.c
// caught-by: nverbs-uml-ntr
// rule: Documentation/ntrdma.rst#Verbs
@@
expression wqe, sq, qp;
@@
- if (wqe->op & (NTRDMA_OP_READ | NTRDMA_OP_ATOMIC) && !wqe->status && sq->reads >= qp->attr.max_rd_atomic)
- 	return NULL;
