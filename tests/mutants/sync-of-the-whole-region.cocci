// SPDX-License-Identifier: GPL-2.0
// A sync covers the whole region: bytes beside the range are overwritten.
//
// file: krdma/region.c
// caught-by: kunit-uml
// rule: Documentation/krdma.rst#Syncing a region
@@
expression region;
@@
  if (!refcount_inc_not_zero(&region->syncs))
  	return;
+ offset = 0;
+ len = region->size;
