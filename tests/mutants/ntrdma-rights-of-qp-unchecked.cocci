// SPDX-License-Identifier: GPL-2.0
// A peer may write although the QP gives it no right to.
//
// file: ntrdma/resp.c
// caught-by: nverbs-uml-ntr
// rule: Documentation/ntrdma-protocol.rst#Faults
@@
expression qp;
@@
- if (!(qp->attr.qp_access_flags & IB_ACCESS_REMOTE_WRITE))
- 	return NTRDMA_FAULT_ACCESS;
