// SPDX-License-Identifier: GPL-2.0
// Revoking a region does not invalidate its keys: peers keep access.
//
// file: krdma/registration.c
// caught-by: regions-uml
// rule: Documentation/krdma.rst#Regions
@@
expression mr;
@@
  kind == KRDMA_WR_INVALIDATE &&
- READ_ONCE(mr->invalid)
+ !READ_ONCE(mr->invalid)
