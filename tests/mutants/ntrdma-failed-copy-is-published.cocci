// SPDX-License-Identifier: GPL-2.0
// The peer sees a frame whose payload the DMA engine has failed to copy.
//
// file: ntrdma/copy.c
// caught-by: nverbs-uml-ntr-ntb-dma
// rule: Documentation/ntrdma.rst#Hosts with a non-transparent bridge
@@
expression copy;
@@
- if (usable)
- 	ntrdma_win_write(copy->peer, copy->to, copy->from, copy->bytes);
