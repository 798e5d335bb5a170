// SPDX-License-Identifier: GPL-2.0
// Writes, messages and events have records only if the newest ring of the device has a tap of their type.
//
// file: vrfm/tap.c
// caught-by: tap-uml
// rule: Documentation/rings.rst#Taps
@@
expression kinds, wanted;
@@
- kinds |= wanted
+ kinds = wanted
