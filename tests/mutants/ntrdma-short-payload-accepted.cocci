// SPDX-License-Identifier: GPL-2.0
// A frame may be shorter than its kind needs: the receiver reads an operand or an address that the peer did not send.
//
// file: ntrdma/frame.c
// caught-by: kunit-uml
// rule: Documentation/ntrdma-protocol.rst#Checks
@@
expression frame, rule, rest;
@@
- rest && frame->bytes >= rule->min
+ rest
