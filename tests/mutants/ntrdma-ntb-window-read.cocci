// SPDX-License-Identifier: GPL-2.0
// The word of a window that is written is read back.
//
// file: ntrdma/win.h
// caught-by: ntr-ntb-uml-ntr-ntb
// rule: Documentation/ntrdma-protocol.rst#Terms
@@
expression value, to;
@@
- iowrite32(value, to);
+ iowrite32(value, to), ioread32(to);
