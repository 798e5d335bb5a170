// SPDX-License-Identifier: GPL-2.0
// A tap shows the body of a STAGE, which has keys.
//
// file: vrfm/window.c
// caught-by: tap-uml
// rule: Documentation/rings.rst#Taps
@@
identifier secret, head;
@@
- bool secret = head->type == VRFM_WIRE_STAGE;
+ bool secret = false;
