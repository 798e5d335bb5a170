// SPDX-License-Identifier: GPL-2.0
// A received update does not change the twin: it is taken for a store of a program and sent back.
//
// file: vrfm/mem.c
// caught-by: mmap-uml
// rule: Documentation/vrfm.rst#G5
@@
expression twin, at, buf, len;
@@
- memcpy((void *)twin->words + at, buf, len);
+ (void)twin;
