// SPDX-License-Identifier: GPL-2.0
// The next record after an overflow does not follow a record about the loss: a program does not notice the gap.
//
// file: vrfm/ringbuf.c
// caught-by: kunit-uml
// rule: Documentation/rings.rst#Overflow
@@
expression rb;
identifier lost;
@@
- u32 lost = rb->lost ? 1 : 0;
+ u32 lost = 0;
