// SPDX-License-Identifier: GPL-2.0
// Each user who may open the device may tap it.
//
// file: vrfm/subscribe.c
// caught-by: tap-uml
// rule: Documentation/rings.rst#Taps
@@
@@
- !vrfm_may_tap()
+ false
