// SPDX-License-Identifier: GPL-2.0
// Unknown members of a later struct are ignored although they are set.
//
// file: krdma/params.c
// caught-by: kunit-uml
// rule: Documentation/krdma.rst#Results
@@
expression theirs, size, from;
@@
- if (theirs > size && memchr_inv(from + size, 0, theirs - size))
- 	return -E2BIG;
