// SPDX-License-Identifier: GPL-2.0
// A tap of a part of the memory gets the records of bytes behind the part.
//
// file: vrfm/filter.c
// caught-by: kunit-uml
// rule: Documentation/rings.rst#Taps
@@
identifier record, filter;
@@
- record->offset >= filter->to ||
  record->offset + record->length <= filter->from
