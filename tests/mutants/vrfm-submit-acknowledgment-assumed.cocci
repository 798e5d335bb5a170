// SPDX-License-Identifier: GPL-2.0
// A batch with ACKED has its record at once, although no peer has applied it.
//
// file: vrfm/submit.c
// caught-by: submit-uml
// rule: Documentation/batches.rst#Submitting through a ring
@@
identifier flush;
@@
- !flush.behind
+ flush.behind + 1
