// SPDX-License-Identifier: GPL-2.0
// An invalidation does not wait until running copies to the region have ended.
//
// file: ntrdma/mr.c
// caught-by: nverbs-uml-debug-ntr
// rule: Documentation/ntrdma.rst#ntrdma_mr.lock
@@
identifier mr, may;
@@
- write_lock_bh(&mr->lock);
+ read_lock_bh(&mr->lock);
  may = ntrdma_mr_may_invalidate(...);
  ...
- write_unlock_bh(&mr->lock);
+ read_unlock_bh(&mr->lock);
