// SPDX-License-Identifier: GPL-2.0
// The tag of a BYE does not cover the number of messages before it: all data before it may be missing.
//
// file: krdma/seal.c
// caught-by: kunit-uml
// rule: krdma/seal.h#number
@@
expression form, half;
@@
- form->bound.messages = cpu_to_le64(half->messages);
+ form->bound.messages = 0;
