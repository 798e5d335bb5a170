// SPDX-License-Identifier: GPL-2.0
// Links that fill up one after the other prolong the wait of a step without a limit.
//
// file: vrfm/write.c
// caught-by: kunit-uml
// rule: Documentation/vrfm.rst#G9
@@
expression from, pause, us;
@@
- from = min(from, ktime_add_us(pause->began, us));
