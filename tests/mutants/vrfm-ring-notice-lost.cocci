// SPDX-License-Identifier: GPL-2.0
// A notice of a write replaces the one that waits for a free slot: no notice covers the earlier write.
//
// file: vrfm/notice.c
// caught-by: kunit-uml
// rule: Documentation/rings.rst#Overflow
@@
identifier notice, newer;
@@
- vrfm_notice_extend(notice, newer->first, newer->end, newer->bytes);
+ notice->first = newer->first;
+ notice->end = newer->end;
+ notice->bytes = newer->bytes;
