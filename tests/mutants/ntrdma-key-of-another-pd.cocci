// SPDX-License-Identifier: GPL-2.0
// A key gives access to QPs of all protection domains.
//
// file: ntrdma/mem.c
// caught-by: nverbs-uml-ntr
// rule: Documentation/ntrdma-protocol.rst#Faults
@@
expression mr, want, rest;
@@
- rest && mr->ib.pd == want->pd
+ rest
