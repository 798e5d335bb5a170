// SPDX-License-Identifier: GPL-2.0
// Messages in flight at the end of a link are not sent again: the peer lacks words.
//
// file: vrfm/missed.c
// caught-by: storm-uml
// rule: Documentation/vrfm.rst#G8
@@
expression link;
@@
- vrfm_link_miss(link, run.offset, run.len);
