// SPDX-License-Identifier: GPL-2.0
// A region grants all rights to the peer, whatever its access flags are.
//
// file: krdma/registration.c
// caught-by: regions-uml
// rule: Documentation/krdma.rst#Regions
@@
expression access, dir, rights;
@@
(
- if (dir != DMA_TO_DEVICE)
  	rights |= IB_ACCESS_LOCAL_WRITE;
|
- if (access & KRDMA_REMOTE_READ)
  	rights |= IB_ACCESS_REMOTE_READ;
|
- if (access & KRDMA_REMOTE_WRITE)
  	rights |= IB_ACCESS_REMOTE_WRITE;
)
