// SPDX-License-Identifier: GPL-2.0
// A message that is received has no record if it is an acknowledgment.
//
// file: vrfm/rx.c
// caught-by: tap-uml
// rule: Documentation/rings.rst#Taps
@@
expression tapped, link, head, body;
@@
- if (tapped)
+ if (tapped && head.type != VRFM_WIRE_ACK)
  vrfm_link_tap(link, VRFM_REC_RECEIVED, &head, body);
