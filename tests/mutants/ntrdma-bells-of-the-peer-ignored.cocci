// SPDX-License-Identifier: GPL-2.0
// A hello with another number of doorbells is accepted.
//
// file: ntrdma/session.c
// caught-by: kunit-uml
// rule: Documentation/ntrdma-protocol.rst#Page
@@
expression refused, theirs, ours;
@@
- if (!refused && theirs.bells != ours->bells)
- 	refused = NTRDMA_REASON_BAD_BELLS;
