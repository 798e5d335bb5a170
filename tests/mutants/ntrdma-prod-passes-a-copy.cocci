// SPDX-License-Identifier: GPL-2.0
// The peer sees a frame whose payload the DMA engine still copies.
//
// file: ntrdma/lane.c
// caught-by: nverbs-uml-ntr-ntb-dma
// rule: Documentation/ntrdma.rst#Design
@@
expression peer, lane;
@@
- ntrdma_win_coherent(peer) || !ntrdma_copies_any(lane)
+ true
