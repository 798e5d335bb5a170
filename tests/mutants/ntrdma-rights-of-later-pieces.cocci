// SPDX-License-Identifier: GPL-2.0
// Rights to the memory are checked for the first piece of a WRITE only.
//
// file: ntrdma/resp.c
// caught-by: kunit-uml
// rule: Documentation/ntrdma-protocol.rst#Faults
@@
@@
  ntrdma_mem_remote(...,
- 		    IB_ACCESS_REMOTE_WRITE,
+ 		    frame->offset ? 0 : IB_ACCESS_REMOTE_WRITE,
  		    NTRDMA_COPY_IN)
