// SPDX-License-Identifier: GPL-2.0
// A link that was down for a moment is not noticed.
//
// file: ntrdma/ntb.c
// caught-by: ntr-ntb-uml-ntr-ntb
// rule: Documentation/ntrdma.rst#Hosts with a non-transparent bridge
@@
expression up, event;
@@
- if (!up || event)
+ if (!up)
  	ntrdma_ntb_leave(...);
