// SPDX-License-Identifier: GPL-2.0
// Words are copied byte by byte: a reader sees torn words.
//
// file: vrfm/copy.c
// caught-by: kunit-uml
// rule: Documentation/vrfm.rst#G7
@@
expression align, len;
@@
- rounddown_pow_of_two(min3(align ?: 8, len, (size_t)8))
+ align && len ? 1 : 1
