// SPDX-License-Identifier: GPL-2.0
// The head of a program is accepted whatever its value is: unread records are overwritten.
//
// file: vrfm/ringbuf.c
// caught-by: kunit-uml
// rule: Documentation/rings.rst#Creating and mapping
@@
expression new, rb;
@@
- new - rb->head > rb->tail - rb->head
+ false
