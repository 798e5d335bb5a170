// SPDX-License-Identifier: GPL-2.0
// A key that was invalidated still gives access.
//
// file: ntrdma/mr.c
// caught-by: nverbs-uml-ntr
// rule: Documentation/ntrdma.rst#Design
@@
expression may, mr;
@@
- if (may)
- 	mr->valid = false;
