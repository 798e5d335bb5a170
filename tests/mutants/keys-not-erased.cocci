// SPDX-License-Identifier: GPL-2.0
// The memory of shared keys is freed without an erasure: later owners of the memory can read the keys.
//
// file: krdma/keys.c
// caught-by: kunit-uml
// rule: krdma/keys.c#krdma_keys_put
@@
expression keys;
@@
- kfree_sensitive(keys)
+ kfree(keys)
