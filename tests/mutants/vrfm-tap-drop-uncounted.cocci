// SPDX-License-Identifier: GPL-2.0
// A record of a tap that does not fit is dropped, and not counted.
//
// file: vrfm/tap.c
// caught-by: tap-uml
// rule: Documentation/rings.rst#Taps
@@
identifier ring;
@@
- vrfm_ring_drop_locked(ring);
