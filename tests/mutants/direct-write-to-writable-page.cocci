// SPDX-License-Identifier: GPL-2.0
// A page becomes writable before peers have stopped direct writes to it: words are damaged.
//
// file: vrfm/stage.c
// caught-by: direct-writes-uml
// rule: Documentation/vrfm.rst#Direct updates
@@
expression range, map;
identifier ready;
@@
- ready = test_bit(range, map->ready);
+ ready = true;
