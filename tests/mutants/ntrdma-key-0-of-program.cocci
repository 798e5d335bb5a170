// SPDX-License-Identifier: GPL-2.0
// A program may use the local key 0, which gives access to all memory of the kernel.
//
// file: ntrdma/mem.c
// caught-by: ntr-user-uml-ntr
// rule: Documentation/ntrdma.rst#Programs
@@
expression want, rest;
@@
- want->pd->uobject || rest
+ rest
