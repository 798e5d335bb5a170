// SPDX-License-Identifier: GPL-2.0
// A session ends while the DMA engine still writes to the window.
//
// file: ntrdma/link.c
// caught-by: ntr-ntb-uml-ntr-ntb
// rule: Documentation/ntrdma.rst#Hosts with a non-transparent bridge
@@
expression peer;
@@
- ntrdma_copies_end(peer);
