// SPDX-License-Identifier: GPL-2.0
// A tap of all writes does not stage its part: peers write blocks there directly, and the tap gets no records.
//
// file: vrfm/subscribe.c
// caught-by: tap-uml
// rule: Documentation/rings.rst#Taps
@@
identifier ret, tap;
expression vdev;
@@
- ret = vrfm_stage_pin_part(vdev, tap->from, tap->to - tap->from);
+ ret = 0;
@@
identifier sub;
@@
- if (sub->tap.all)
-	vrfm_stage_unpin(...);
