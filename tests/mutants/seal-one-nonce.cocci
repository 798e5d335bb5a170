// SPDX-License-Identifier: GPL-2.0
// All messages with data have the same nonce: a message that is repeated opens again, and two show the difference of their data.
//
// file: krdma/seal.c
// caught-by: kunit-uml
// rule: krdma/seal.h#numbers
@@
expression form, half;
@@
- form->nonce = half->messages;
+ form->nonce = 0;
