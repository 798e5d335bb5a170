// SPDX-License-Identifier: GPL-2.0
// An address before a region passes the check of the range.
//
// file: ntrdma/mem.c
// caught-by: kunit-uml
// rule: Documentation/ntrdma-protocol.rst#Faults
@@
expression mr, rest;
identifier off;
@@
- rest && off <= mr->length
+ rest
