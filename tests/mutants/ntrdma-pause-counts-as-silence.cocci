// SPDX-License-Identifier: GPL-2.0
// A machine that did not look for a minute takes the slots of all others.
//
// file: ntrdma/dir.c
// caught-by: kunit-uml
// rule: Documentation/ntrdma-protocol.rst#Directory
@@
typedef u64;
expression now;
@@
- min_t(u64, now - dir->looked_ms, NTRDMA_DIR_LOOK_MS)
+ now - dir->looked_ms
