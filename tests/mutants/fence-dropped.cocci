// SPDX-License-Identifier: GPL-2.0
// KRDMA_FENCE is not passed to the adapter: a request overtakes a READ.
//
// file: krdma/sq.c
// caught-by: post-uml
// rule: include/krdma.h#KRDMA_FENCE
@@
expression first;
@@
- first->wr.send_flags |= IB_SEND_FENCE
+ first->wr.send_flags |= 0
