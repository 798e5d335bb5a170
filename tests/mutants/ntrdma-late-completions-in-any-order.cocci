// SPDX-License-Identifier: GPL-2.0
// Completions of one QP that are shown late lose their order.
//
// file: ntrdma/emulate.c
// caught-by: nverbs-uml-ntr-order
// rule: Documentation/ntrdma.rst#Emulation of an adapter
@@
expression before, one;
@@
- before->qp >= one->qp
+ before->qp > one->qp
