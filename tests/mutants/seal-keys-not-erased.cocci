// SPDX-License-Identifier: GPL-2.0
// The keys of a connection stay in memory that was freed.
//
// file: krdma/seal.c
// caught-by: kunit-uml
// rule: krdma/seal.c#krdma_seal_free
@@
expression seal;
@@
- kfree_sensitive(seal)
+ kfree(seal)
