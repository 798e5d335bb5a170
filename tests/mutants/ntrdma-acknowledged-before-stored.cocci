// SPDX-License-Identifier: GPL-2.0
// A message is acknowledged, and its receive completes, before its data is stored.
//
// file: ntrdma/resp.c
// caught-by: kunit-uml
// rule: Documentation/ntrdma-protocol.rst#Frames
@@
expression fault, qp, frame, data;
@@
+ if (!fault && ntrdma_is_last(frame))
+ 	ntrdma_done(qp, frame);
  if (!fault)
  	fault = ntrdma_do(qp, frame, data);
  if (fault)
  	ntrdma_fault(qp, fault);
- else if (ntrdma_is_last(frame))
- 	ntrdma_done(qp, frame);
- else
+ else if (!ntrdma_is_last(frame))
  	qp->resp.offset += frame->bytes;
