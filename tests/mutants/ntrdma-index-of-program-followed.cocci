// SPDX-License-Identifier: GPL-2.0
// An index of a program beyond the queue is followed.
//
// file: ntrdma/uqueue.c
// caught-by: kunit-uml
// rule: Documentation/ntrdma.rst#Programs
@@
expression prod, queue;
@@
- if (prod > queue->mask)
- 	return 0;
