// SPDX-License-Identifier: GPL-2.0
// The scanner sleeps for a second too long: stores through mappings are late.
//
// file: vrfm/scan.c
// caught-by: mmap-uml
// rule: Documentation/vrfm.rst#G4
@@
expression us;
@@
- ktime_add_us(ktime_get(), us)
+ ktime_add_us(ktime_get(), us + USEC_PER_SEC)
