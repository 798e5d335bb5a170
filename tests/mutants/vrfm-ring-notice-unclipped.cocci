// SPDX-License-Identifier: GPL-2.0
// A notice covers bytes behind the range of its subscription.
//
// file: vrfm/notice.c
// caught-by: kunit-uml
// rule: Documentation/rings.rst#Notices of writes
@@
expression offset, len, notice;
identifier end;
@@
- u32 end = min(offset + len, notice->to);
+ u32 end = offset + len;
