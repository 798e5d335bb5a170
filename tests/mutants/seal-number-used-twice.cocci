// SPDX-License-Identifier: GPL-2.0
// A second message is sealed before the first one is counted: both have the same nonce, and show the difference of their data.
//
// file: krdma/seal.c
// caught-by: kunit-uml
// rule: krdma/seal.h#krdma_seal_posted
@@
expression pending;
@@
- if (*pending)
- 	return -EINVAL;
