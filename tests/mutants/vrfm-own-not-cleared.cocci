// SPDX-License-Identifier: GPL-2.0
// A word that another node has written since stays an own word: the older value is sent again.
//
// file: vrfm/mem.c
// caught-by: kunit-uml
// rule: Documentation/vrfm.rst#G6
@@
expression vdev, first, n;
@@
- bitmap_clear(vdev->own, first, n);
