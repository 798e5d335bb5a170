// SPDX-License-Identifier: GPL-2.0
// The tail is shown when a slot is reserved: a program reads a record that is not complete.
//
// file: vrfm/ringbuf.c
// caught-by: kunit-uml
// rule: Documentation/rings.rst#Creating and mapping
@@
expression rb, slots;
@@
  rb->next += slots;
+ WRITE_ONCE(*rb->shown, rb->next);
