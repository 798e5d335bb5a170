// SPDX-License-Identifier: GPL-2.0
// A record that does not fit before the end of the area is not moved behind it: it runs beyond the area.
//
// file: vrfm/ringbuf.c
// caught-by: kunit-uml
// rule: Documentation/rings.rst#Creating and mapping
@@
identifier pad, rest, slots;
@@
- u32 pad = rest < slots ? rest : 0;
+ u32 pad = rest < slots ? 0 : 0;
