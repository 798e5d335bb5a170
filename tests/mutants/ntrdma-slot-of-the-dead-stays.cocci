// SPDX-License-Identifier: GPL-2.0
// The slots of machines that ended without leaving stay in use.
//
// file: ntrdma/dir.c
// caught-by: kunit-uml
// rule: Documentation/ntrdma-protocol.rst#Directory
@@
expression seen, dir;
@@
- seen->owner && seen->same_ms >= dir->dead_ms
+ seen->owner && seen->same_ms == U64_MAX
