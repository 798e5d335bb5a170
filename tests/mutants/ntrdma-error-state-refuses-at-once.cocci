// SPDX-License-Identifier: GPL-2.0
// A QP in the error state refuses the next request before it has sent its own NAK: the requester learns of the wrong
// fault.
//
// file: ntrdma/take.c
// caught-by: nverbs-uml-ntr
// rule: Documentation/ntrdma-protocol.rst#NAK
@@
expression state, qp, peer, frame;
statement refuse;
@@
- if (state == IB_QPS_ERR && ntrdma_is_for(qp, peer, frame))
- 	ntrdma_refuse_in_order(qp);
- else
  	refuse
