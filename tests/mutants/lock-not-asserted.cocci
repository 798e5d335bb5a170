// SPDX-License-Identifier: GPL-2.0
// A function of a link does not assert the lock that its caller must hold.
//
// file: vrfm/window.c
// caught-by: locks
// rule: Documentation/vrfm.rst#Locks and lifetime
@@
expression link;
identifier oldest;
@@
  u64 oldest = link->window.acked + 1;
- lockdep_assert_held(&link->lock);
