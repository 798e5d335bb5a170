// SPDX-License-Identifier: GPL-2.0
// A post to a QP in the error state delivers completions itself, perhaps under locks of the consumer.
//
// file: ntrdma/post.c
// caught-by: nverbs-uml-ntr
// rule: Documentation/ntrdma.rst#Design
@@
identifier qp, state;
@@
  if (state == IB_QPS_ERR)
- 	ntrdma_lane_finish(qp);
+ 	ntrdma_qp_finish(qp);
  else if (...)
  	ntrdma_lane_kick(qp);
