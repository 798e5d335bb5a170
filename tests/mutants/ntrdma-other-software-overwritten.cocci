// SPDX-License-Identifier: GPL-2.0
// Memory of other software is formatted.
//
// file: ntrdma/dir.c
// caught-by: kunit-uml
// rule: Documentation/ntrdma.rst#Virtual machines
@@
@@
- return NTRDMA_DIR_FOREIGN;
+ format = true;
