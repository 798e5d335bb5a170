// SPDX-License-Identifier: GPL-2.0
// validate compares nothing: wrong data are not found.
//
// file: krping/pingpong.c
// caught-by: krping-uml
// rule: Documentation/krping.rst#Protocol
@@
expression s, n;
@@
- memcmp(s->start.addr, s->sink.addr, n)
+ memcmp(s->start.addr, s->start.addr, n)
