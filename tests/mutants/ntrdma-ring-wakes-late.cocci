// SPDX-License-Identifier: GPL-2.0
// Room in a window that is not coherent is announced behind the whole ring.
//
// file: ntrdma/ring.c
// caught-by: kunit-uml
// rule: Documentation/ntrdma-protocol.rst#Doorbells
@@
expression ring;
@@
- ring->cons - ring->rung > ring->cells / 4
+ ring->cons - ring->rung > ring->cells
