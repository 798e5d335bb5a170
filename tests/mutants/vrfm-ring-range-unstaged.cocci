// SPDX-License-Identifier: GPL-2.0
// A subscription does not stage its range: peers write blocks there directly, and the ring gets no notices of them.
//
// file: vrfm/subscribe.c
// caught-by: rings-uml
// rule: Documentation/rings.rst#Notices of writes
@@
expression vdev, offset, len;
identifier ret;
@@
- ret = vrfm_stage_pin_part(vdev, offset, len);
+ ret = 0;
@@
expression vdev, first, last;
@@
- vrfm_stage_unpin(vdev, first, last);
