// SPDX-License-Identifier: GPL-2.0
// On siw requests behind READs wait in the adapter, which then answers no READs of the peer: both hang.
//
// file: krdma/sq.c
// caught-by: post-uml-siw
// rule: Documentation/krdma.rst#Order and visibility
@@
identifier wr;
@@
  if (krdma_has_quirk(conn, KRDMA_QUIRK_LATE_READS))
  	wr->wr.send_flags |= IB_SEND_SIGNALED;
+ if (req->opcode != KRDMA_READ)
+ 	wr->wr.send_flags |= IB_SEND_FENCE;

@@
expression req;
@@
- req->opcode != KRDMA_READ || req->flags & KRDMA_FENCE
+ false
